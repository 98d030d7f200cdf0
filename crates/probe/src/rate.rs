//! Rate: a train of full-sized packets handed over at once leaves the bottleneck at its rate.
//!
//! The median gap of arrivals is one packet's time on the wire. Jitter lengthens a few
//! gaps (a late packet holds back those behind it) and leaves the median alone. Gaps are counted by
//! arrivals, not by sequence: netem drops a packet, or sends it ahead, before it takes its time
//! on the wire (net/sched/sch_netem.c, `netem_enqueue`).

use std::time::Duration;

use crate::endpoint::{Arrival, Pair};
use crate::Job;

/// Ethernet, IPv4 and UDP headers: netem counts frames without preamble and FCS.
const HEADERS_BYTES: usize = 14 + 20 + 8;
const SEQUENCE_BASE: u64 = 1 << 40;

/// Bits per second of Ethernet frames; None for a path without a declared rate.
pub fn measure(pair: &Pair, job: &Job) -> Result<Option<f64>, String> {
    let Some(declared) = job.rate_bit_per_s else {
        return Ok(None);
    };
    let frame_bits = 8 * (job.train_payload_bytes + HEADERS_BYTES);
    pair.receiver.drain()?;
    pair.sender.send(SEQUENCE_BASE, job.train_packets, job.train_payload_bytes)?;
    let drain_ns = frame_bits as u64 * job.train_packets as u64 * 1_000_000_000 / declared.max(1);
    std::thread::sleep(Duration::from_nanos(2 * drain_ns + job.settle_ns));
    let arrivals = pair.receiver.drain()?;
    Ok(median_gap_ns(&arrivals).map(|gap| frame_bits as f64 * 1e9 / gap))
}

/// Arrivals a gap is averaged over: clocks of some 100 ns must not round 25 Gbit/s away.
const WINDOW: usize = 64;

/// Median time per packet over windows of arrivals; None for fewer than two arrivals.
fn median_gap_ns(arrivals: &[Arrival]) -> Option<f64> {
    let window = WINDOW.min(arrivals.len().checked_sub(1)?).max(1);
    let mut gaps: Vec<f64> = arrivals
        .windows(window + 1)
        .map(|part| part[window].at_ns.saturating_sub(part[0].at_ns) as f64 / window as f64)
        .collect();
    gaps.sort_by(f64::total_cmp);
    gaps.get(gaps.len() / 2).copied().filter(|gap| *gap > 0.0)
}

#[cfg(test)]
mod tests {
    use super::{median_gap_ns, Arrival};

    fn at(times: impl Iterator<Item = (u64, u64)>) -> Vec<Arrival> {
        times.map(|(sequence, at_ns)| Arrival { sequence, at_ns }).collect()
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
