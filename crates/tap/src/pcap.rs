//! Packets in a file: pcap with nanoseconds (magic 0xa1b23c4d), link type Ethernet, little-endian
//! (IETF draft-ietf-opsawg-pcap). Written in large pieces.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::ring::Packet;

const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
const LINK_ETHERNET: u32 = 1;
const BUFFER_BYTES: usize = 1 << 20;

/// An open packet file. The first error is kept and told at the end.
pub struct PcapFile<W: Write> {
    writer: W,
    result: io::Result<()>,
}

impl PcapFile<BufWriter<File>> {
    /// Creates `path`, for packets of which at most `snap_bytes` are kept.
    pub fn create(path: &Path, snap_bytes: u32) -> io::Result<Self> {
        let writer = BufWriter::with_capacity(BUFFER_BYTES, File::create(path)?);
        Ok(Self::new(writer, snap_bytes))
    }
}

impl<W: Write> PcapFile<W> {
    fn new(mut writer: W, snap_bytes: u32) -> Self {
        let mut header = Vec::with_capacity(24);
        header.extend(MAGIC_NANOSECONDS.to_le_bytes());
        header.extend([2u16.to_le_bytes(), 4u16.to_le_bytes()].concat()); // version 2.4
        header.extend([0; 8]); // time zone and accuracy: always 0
        header.extend(snap_bytes.to_le_bytes());
        header.extend(LINK_ETHERNET.to_le_bytes());
        let result = writer.write_all(&header);
        Self { writer, result }
    }

    /// Appends one packet.
    pub fn add(&mut self, packet: &Packet<'_>) {
        if self.result.is_ok() {
            self.result = self.write(packet);
        }
    }

    fn write(&mut self, packet: &Packet<'_>) -> io::Result<()> {
        let mut header = [0; 16];
        let seconds = (packet.time_ns / 1_000_000_000) as u32;
        let nanoseconds = (packet.time_ns % 1_000_000_000) as u32;
        header[..4].copy_from_slice(&seconds.to_le_bytes());
        header[4..8].copy_from_slice(&nanoseconds.to_le_bytes());
        header[8..12].copy_from_slice(&(packet.bytes.len() as u32).to_le_bytes());
        header[12..].copy_from_slice(&packet.length.to_le_bytes());
        self.writer.write_all(&header)?;
        self.writer.write_all(packet.bytes)
    }

    /// Writes what is left and tells the first error.
    pub fn finish(mut self) -> io::Result<()> {
        self.result.and_then(|()| self.writer.flush())
    }
}
