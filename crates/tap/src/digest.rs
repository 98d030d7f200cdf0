//! What was seen, added up: counts by interface and one digest over all packets in order.
//!
//! The digest is SHA-256 over, for each packet: its interface's place on the command line (u32),
//! ns since the first packet (u64), its length on the link (u32), how many bytes were kept (u32),
//! all little-endian, and those bytes.

use std::collections::BTreeMap;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::ring::Packet;

/// Schema version of [`Summary`].
const SCHEMA_VERSION: u32 = 1;

/// Packets and bytes on the link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Their lengths on the link (Ethernet frames without checksum).
    pub bytes: u64,
}

/// The program's output.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    schema: u32,
    packets: u64,
    bytes: u64,
    dropped: u64,
    /// False if a packet was missed: then the digest proves nothing.
    complete: bool,
    sha256: Option<String>,
    by_interface: BTreeMap<String, Count>,
}

/// Adds up packets.
pub struct Totals {
    interfaces: Vec<(u32, Count)>,
    hash: Option<Sha256>,
    first_ns: Option<u64>,
    all: Count,
}

impl Totals {
    /// Totals for interfaces by kernel number, in the order of the command line.
    pub fn new(interface_indices: &[u32], digest: bool) -> Self {
        Self {
            interfaces: interface_indices.iter().map(|&i| (i, Count::default())).collect(),
            hash: digest.then(Sha256::new),
            first_ns: None,
            all: Count::default(),
        }
    }

    /// Packets added.
    pub fn packets(&self) -> u64 {
        self.all.packets
    }

    /// Adds one packet.
    pub fn add(&mut self, packet: &Packet<'_>) {
        let place = self.interfaces.iter().position(|(index, _)| *index == packet.interface_index);
        let place = place.expect("the filter lets only these interfaces through");
        for count in [&mut self.interfaces[place].1, &mut self.all] {
            count.packets += 1;
            count.bytes += u64::from(packet.length);
        }
        let first_ns = *self.first_ns.get_or_insert(packet.time_ns);
        if let Some(hash) = &mut self.hash {
            let mut header = [0; 20];
            header[..4].copy_from_slice(&(place as u32).to_le_bytes());
            header[4..12].copy_from_slice(&packet.time_ns.wrapping_sub(first_ns).to_le_bytes());
            header[12..16].copy_from_slice(&packet.length.to_le_bytes());
            header[16..].copy_from_slice(&(packet.bytes.len() as u32).to_le_bytes());
            hash.update(header);
            hash.update(packet.bytes);
        }
    }

    /// What to say in the end; `names` in the order of the command line.
    pub fn summary(self, names: &[String], dropped: u64, drained: bool) -> Summary {
        let hex = |hash: Sha256| hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
        let counts = self.interfaces.into_iter().map(|(_, count)| count);
        Summary {
            schema: SCHEMA_VERSION,
            packets: self.all.packets,
            bytes: self.all.bytes,
            dropped,
            complete: dropped == 0 && drained,
            sha256: self.hash.map(hex),
            by_interface: names.iter().cloned().zip(counts).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sha256(packets: &[(u32, u64, &[u8])]) -> String {
        let mut totals = Totals::new(&[7, 9], true);
        for &(interface_index, time_ns, bytes) in packets {
            totals.add(&Packet { interface_index, time_ns, length: bytes.len() as u32, bytes });
        }
        totals.summary(&["a".into(), "b".into()], 0, true).sha256.unwrap()
    }

    #[test]
    fn the_digest_knows_interface_time_order_and_bytes_and_not_the_day() {
        let base = sha256(&[(7, 100, b"one"), (9, 150, b"two")]);
        assert_eq!(sha256(&[(7, 900, b"one"), (9, 950, b"two")]), base);
        for other in [
            sha256(&[(7, 100, b"one"), (7, 150, b"two")]),
            sha256(&[(7, 100, b"one"), (9, 151, b"two")]),
            sha256(&[(9, 100, b"two"), (7, 150, b"one")]),
            sha256(&[(7, 100, b"one"), (9, 150, b"twO")]),
            sha256(&[(7, 100, b"one")]),
        ] {
            assert_ne!(other, base);
        }
    }

    #[test]
    fn the_digest_is_what_its_description_says() {
        let mut described = Vec::new();
        for (place, since_first, bytes) in [(0u32, 0u64, b"one"), (1, 50, b"two")] {
            described.extend(place.to_le_bytes());
            described.extend(since_first.to_le_bytes());
            described.extend([3u32.to_le_bytes(), 3u32.to_le_bytes()].concat());
            described.extend(bytes);
        }
        let expected: String =
            Sha256::digest(described).iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(sha256(&[(7, 100, b"one"), (9, 150, b"two")]), expected);
    }

    #[test]
    fn a_drop_makes_the_summary_incomplete() {
        let names = ["a".to_owned()];
        assert!(!Totals::new(&[1], true).summary(&names, 1, true).complete);
        assert!(!Totals::new(&[1], true).summary(&names, 0, false).complete);
        assert!(Totals::new(&[1], true).summary(&names, 0, true).complete);
    }
}
