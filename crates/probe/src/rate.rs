//! Rate: a train of full-sized packets handed over at once leaves the bottleneck at its rate.
//!
//! The median gap of arrivals is one packet's time on the wire. Jitter lengthens a few
//! gaps (a late packet holds back those behind it) and leaves the median alone. Gaps are counted by
//! arrivals, not by sequence: netem drops a packet, or sends it ahead, before it takes its time
//! on the wire (net/sched/sch_netem.c, `netem_enqueue`).
//!
//! Where interrupts are coalesced packets arrive by deliveries, many at one moment. A delivery
//! holds what came over the wire since the one before, so that gaps are taken between deliveries.

use std::time::Duration;

use crate::endpoint::{Arrival, Pair};
use crate::Job;

/// Ethernet, IPv4 and UDP headers: netem counts frames without preamble and FCS.
const HEADERS_BYTES: usize = 14 + 20 + 8;
const SEQUENCE_BASE: u64 = 1 << 40;

/// What a train tells.
pub struct Train {
    /// Of Ethernet frames; None for a path without a declared rate.
    pub rate_bit_per_s: Option<f64>,
    /// Median time between deliveries; None where they are not declared to be apart.
    pub delivery_spacing_ns: Option<f64>,
}

pub fn measure(pair: &Pair, job: &Job) -> Result<Train, String> {
    if job.rate_bit_per_s.is_none() && job.coalesce_ns == 0 {
        return Ok(Train { rate_bit_per_s: None, delivery_spacing_ns: None });
    }
    let frame_bits = 8 * (job.train_payload_bytes + HEADERS_BYTES);
    pair.receiver.drain()?;
    pair.sender.send(SEQUENCE_BASE, job.train_packets, job.train_payload_bytes)?;
    let wire_ns = |rate: u64| frame_bits as u64 * job.train_packets as u64 * 1_000_000_000 / rate;
    let drain_ns = job.rate_bit_per_s.map_or(0, |declared| wire_ns(declared.max(1)));
    std::thread::sleep(Duration::from_nanos(2 * drain_ns + job.settle_ns));
    let deliveries = deliveries(&pair.receiver.drain()?, job.coalesce_ns);
    let packet_ns = job.rate_bit_per_s.and_then(|_| packet_ns(&deliveries));
    Ok(Train {
        rate_bit_per_s: packet_ns.map(|packet_ns| frame_bits as f64 * 1e9 / packet_ns),
        delivery_spacing_ns: (job.coalesce_ns > 0).then(|| spacing_ns(&deliveries)).flatten(),
    })
}

/// Packets an average is taken over: clocks of some 100 ns must not round 25 Gbit/s away.
const WINDOW: usize = 64;

/// Packets that arrived at one moment.
struct Delivery {
    at_ns: u64,
    packets: usize,
}

/// Arrivals by deliveries, half of `coalesce_ns` apart at least; each its own where that is 0.
fn deliveries(arrivals: &[Arrival], coalesce_ns: u64) -> Vec<Delivery> {
    let mut found: Vec<Delivery> = Vec::new();
    for arrival in arrivals {
        match found.last_mut() {
            Some(last) if arrival.at_ns.saturating_sub(last.at_ns) < coalesce_ns / 2 => {
                last.packets += 1;
            }
            _ => found.push(Delivery { at_ns: arrival.at_ns, packets: 1 }),
        }
    }
    found
}

/// Median time per packet over windows of at least `WINDOW` packets, or of all there are; None for
/// fewer than two deliveries.
fn packet_ns(deliveries: &[Delivery]) -> Option<f64> {
    let after_first: usize = deliveries.iter().skip(1).map(|delivery| delivery.packets).sum();
    let window = WINDOW.min(after_first);
    let mut gaps = Vec::new();
    let mut packets = 0;
    let mut end = 0;
    for (start, first) in deliveries.iter().enumerate() {
        if start > 0 {
            packets -= first.packets;
        }
        while packets < window && end + 1 < deliveries.len() {
            end += 1;
            packets += deliveries[end].packets;
        }
        if packets < window || packets == 0 {
            break;
        }
        gaps.push(deliveries[end].at_ns.saturating_sub(first.at_ns) as f64 / packets as f64);
    }
    median(gaps).filter(|gap| *gap > 0.0)
}

/// Median time between deliveries; None for fewer than two.
fn spacing_ns(deliveries: &[Delivery]) -> Option<f64> {
    median(
        deliveries
            .windows(2)
            .map(|pair| pair[1].at_ns.saturating_sub(pair[0].at_ns) as f64)
            .collect(),
    )
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::{deliveries, packet_ns, spacing_ns, Arrival};

    fn at(times: impl Iterator<Item = (u64, u64)>) -> Vec<Arrival> {
        times.map(|(sequence, at_ns)| Arrival { sequence, at_ns }).collect()
    }

    fn median_gap_ns(arrivals: &[Arrival]) -> Option<f64> {
        packet_ns(&deliveries(arrivals, 0))
    }

    #[test]
    fn packets_that_wait_for_an_interrupt_tell_the_same_rate() {
        // On the wire every 12 us, told of every 50: four or five at a time.
        let told = |index: u64| (index * 12_112).div_ceil(50_000) * 50_000 + index % 4 * 256;
        let found = deliveries(&at((0..400).map(|index| (index, told(index)))), 50_000);
        let gap = packet_ns(&found).unwrap();
        assert!((gap / 12_112.0 - 1.0).abs() < 0.02, "{gap}");
        let spacing = spacing_ns(&found).unwrap();
        assert!((spacing - 50_000.0).abs() < 1000.0, "{spacing}");
    }

    #[test]
    fn packets_told_of_one_by_one_are_no_deliveries_apart() {
        let found = deliveries(&at((0..400).map(|index| (index, index * 12_112))), 50_000);
        assert_ne!(spacing_ns(&found), Some(50_000.0));
    }

    #[test]
    fn a_late_packet_does_not_move_the_median_gap() {
        let late = |index| if index < 20 { index * 120 } else { 50_000 + index * 120 };
        assert_eq!(median_gap_ns(&at((0..400).map(|index| (index, late(index))))), Some(120.0));
    }

    #[test]
    fn a_packet_lost_before_the_wire_takes_no_time_on_it() {
        let kept = (0..300).filter(|sequence| sequence % 20 != 7);
        let arrivals = kept.zip(0_u64..).map(|(sequence, place)| (sequence, place * 100));
        assert_eq!(median_gap_ns(&at(arrivals)), Some(100.0));
    }

    #[test]
    fn packets_sent_ahead_do_not_move_the_median_gap() {
        let ahead = (0..400).filter(|sequence| sequence % 5 == 0).map(|sequence| (sequence, 10));
        let behind = (0..400).filter(|sequence| sequence % 5 != 0).zip(0_u64..);
        let arrivals = ahead.chain(behind.map(|(sequence, place)| (sequence, 5000 + place * 100)));
        assert_eq!(median_gap_ns(&at(arrivals)), Some(100.0));
    }

    #[test]
    fn a_coarse_clock_does_not_round_the_rate_away() {
        let coarse = |index: u64| index * 484 / 256 * 256;
        let gap = median_gap_ns(&at((0..400).map(|index| (index, coarse(index))))).unwrap();
        assert!((gap - 484.0).abs() < 5.0, "{gap}");
    }

    #[test]
    fn one_packet_alone_tells_no_rate() {
        assert_eq!(median_gap_ns(&at([(0, 0)].into_iter())), None);
        assert_eq!(median_gap_ns(&[]), None);
    }
}
