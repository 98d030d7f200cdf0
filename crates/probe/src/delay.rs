//! Delay and jitter: single packets far enough apart that none waits for another.

use std::time::Duration;

use crate::endpoint::{now_ns, Pair};
use crate::Job;

const PAYLOAD_BYTES: usize = 16;

/// One-way delays of each direction and their sums per probe, in ns. Lost probes are absent.
pub struct Delays {
    pub there: Vec<f64>,
    pub back: Vec<f64>,
    pub round_trips: Vec<f64>,
}

pub fn measure(there: &Pair, back: &Pair, job: &Job) -> Result<Delays, String> {
    let mut sent_there = Vec::with_capacity(job.delay_probes);
    let mut sent_back = Vec::with_capacity(job.delay_probes);
    for index in 0..job.delay_probes {
        sent_there.push(now_ns());
        there.sender.send(index as u64, 1, PAYLOAD_BYTES)?;
        sent_back.push(now_ns());
        back.sender.send(index as u64, 1, PAYLOAD_BYTES)?;
        std::thread::sleep(Duration::from_nanos(job.delay_spacing_ns));
    }
    std::thread::sleep(Duration::from_nanos(job.settle_ns));
    let there = one_way(there, &sent_there)?;
    let back = one_way(back, &sent_back)?;
    let round_trips =
        there.iter().zip(&back).filter_map(|(out, home)| Some(out.as_ref()? + home.as_ref()?));
    Ok(Delays {
        round_trips: round_trips.collect(),
        there: there.iter().flatten().copied().collect(),
        back: back.iter().flatten().copied().collect(),
    })
}

/// Delay of each probe by its number, None where it was lost.
fn one_way(pair: &Pair, sent: &[u64]) -> Result<Vec<Option<f64>>, String> {
    let mut delays = vec![None; sent.len()];
    for arrival in pair.receiver.drain()? {
        if let Some(delay) = delays.get_mut(arrival.sequence as usize) {
            *delay = Some(arrival.at_ns as f64 - sent[arrival.sequence as usize] as f64);
        }
    }
    Ok(delays)
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Sample standard deviation; 0 for fewer than two values.
pub fn stddev(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::{mean, stddev};

    #[test]
    fn deviation_of_known_values_is_that_of_the_textbook() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&values), 5.0);
        assert!((stddev(&values) - 2.138).abs() < 0.001);
        assert_eq!(stddev(&[1.0]), 0.0);
    }
}
