//! Loss and order: many small packets, paced well below the rate so that no queue fills.

use std::time::Duration;

use crate::endpoint::{Arrival, Pair};
use crate::{Direction, Job};

const PAYLOAD_BYTES: usize = 16;
/// Packets handed over at once; `loss_burst_spacing_ns` is the time from one burst to the next.
const BURST: usize = 64;
const SEQUENCE_BASE: u64 = 1 << 41;

pub fn measure(pair: &Pair, job: &Job, direction: &mut Direction) -> Result<(), String> {
    pair.receiver.drain()?;
    let pause = Duration::from_nanos(job.loss_burst_spacing_ns);
    let mut sent = 0;
    while sent < job.loss_packets {
        let count = BURST.min(job.loss_packets - sent);
        pair.sender.send(SEQUENCE_BASE + sent as u64, count, PAYLOAD_BYTES)?;
        sent += count;
        std::thread::sleep(pause);
    }
    std::thread::sleep(Duration::from_nanos(job.settle_ns));
    let arrivals = pair.receiver.drain()?;
    direction.packets_sent = sent as u64;
    direction.lost_packets = (sent - arrivals.len().min(sent)) as u64;
    direction.loss_probability = direction.lost_packets as f64 / sent.max(1) as f64;
    direction.reorder_probability = overtaken(&arrivals) as f64 / arrivals.len().max(1) as f64;
    Ok(())
}

/// Packets that arrived before one of a smaller number (RFC 4737's view, from the overtaker's
/// side: netem's reordering sends a packet ahead at once).
fn overtaken(arrivals: &[Arrival]) -> usize {
    let mut least_to_come = u64::MAX;
    let mut count = 0;
    for arrival in arrivals.iter().rev() {
        if arrival.sequence > least_to_come {
            count += 1;
        }
        least_to_come = least_to_come.min(arrival.sequence);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::{overtaken, Arrival};

    fn in_order(sequences: &[u64]) -> Vec<Arrival> {
        sequences.iter().map(|sequence| Arrival { sequence: *sequence, at_ns: 0 }).collect()
    }

    #[test]
    fn one_packet_sent_ahead_is_counted_once() {
        assert_eq!(overtaken(&in_order(&[0, 1, 2, 3])), 0);
        assert_eq!(overtaken(&in_order(&[5, 0, 1, 2, 3, 4])), 1);
        assert_eq!(overtaken(&in_order(&[0, 3, 1, 2])), 1);
    }
}
