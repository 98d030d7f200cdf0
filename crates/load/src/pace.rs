//! The schedule of an open loop: item k is due k / rate after the start, for the whole pool of
//! workers. Latency counts from that moment and not from when a worker was free to begin, so a
//! stall is felt by every item it delays (Tene's "coordinated omission").

/// Due times for one rate.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    rate_per_s: f64,
}

impl Pace {
    /// A schedule of `rate_per_s` items, finite and above 0 (`plan` checks).
    pub fn new(rate_per_s: f64) -> Self {
        Self { rate_per_s }
    }

    /// When item `index` is due, in ns after the start. One rounding only: no drift.
    pub fn due_ns(&self, index: u64) -> u64 {
        (index as f64 * 1e9 / self.rate_per_s) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schedule_does_not_drift() {
        let pace = Pace::new(3.0);
        assert_eq!(pace.due_ns(0), 0);
        assert_eq!(pace.due_ns(1), 333_333_333);
        assert_eq!(pace.due_ns(3_000_000), 1_000_000_000_000_000);
    }
}
