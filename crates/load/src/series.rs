//! Completions over time in a bounded number of bins.
//!
//! Bins start at 1 ms; whenever more than 2048 would be needed, neighbours are merged and the
//! width doubles. The width depends on the latest time alone, so merging the series of several
//! workers gives the same result in every order. Bin i holds what ended in (i w, (i + 1) w].

/// The narrowest bin.
pub const FIRST_BIN_NS: u64 = 1_000_000;
/// The most bins.
pub const MAX_BINS: usize = 2048;

/// Operations and bytes per bin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    bin_ns: u64,
    operations: Vec<u64>,
    bytes: Vec<u64>,
}

impl Default for Series {
    fn default() -> Self {
        Self { bin_ns: FIRST_BIN_NS, operations: vec![0; MAX_BINS], bytes: vec![0; MAX_BINS] }
    }
}

impl Series {
    /// Counts one operation of `bytes` that ended `at_ns` after the start.
    pub fn add(&mut self, at_ns: u64, bytes: u64) {
        self.widen_to_hold(at_ns);
        let bin = (at_ns.saturating_sub(1) / self.bin_ns) as usize;
        self.operations[bin] += 1;
        self.bytes[bin] += bytes;
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        while self.bin_ns < other.bin_ns {
            self.double();
        }
        while other.bin_ns < self.bin_ns {
            other.double();
        }
        for bin in 0..MAX_BINS {
            self.operations[bin] += other.operations[bin];
            self.bytes[bin] += other.bytes[bin];
        }
    }

    /// Bin width, operations and bytes from the start to `elapsed_ns`, which no entry is beyond.
    pub fn finish(mut self, elapsed_ns: u64) -> (u64, Vec<u64>, Vec<u64>) {
        self.widen_to_hold(elapsed_ns);
        let bins = elapsed_ns.div_ceil(self.bin_ns).max(1) as usize;
        debug_assert!(self.operations[bins..].iter().all(|&n| n == 0));
        self.operations.truncate(bins);
        self.bytes.truncate(bins);
        (self.bin_ns, self.operations, self.bytes)
    }

    fn widen_to_hold(&mut self, at_ns: u64) {
        while at_ns.saturating_sub(1) / self.bin_ns >= MAX_BINS as u64 {
            self.double();
        }
    }

    fn double(&mut self) {
        for values in [&mut self.operations, &mut self.bytes] {
            for bin in 0..MAX_BINS / 2 {
                values[bin] = values[2 * bin] + values[2 * bin + 1];
            }
            values[MAX_BINS / 2..].fill(0);
        }
        self.bin_ns *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(events: &[(u64, u64)]) -> Series {
        let mut series = Series::default();
        for &(at_ns, bytes) in events {
            series.add(at_ns, bytes);
        }
        series
    }

    proptest! {
        #[test]
        fn merging_gives_the_same_in_every_order(
            events in prop::collection::vec((0u64..90_000_000_000, 0u64..1 << 30), 0..200),
            cut in 0usize..200,
        ) {
            let (first, second) = events.split_at(cut.min(events.len()));
            let whole = of(&events);
            let mut forward = of(first);
            forward.merge(&of(second));
            let mut backward = of(second);
            backward.merge(&of(first));
            prop_assert_eq!(&forward, &whole);
            prop_assert_eq!(&backward, &whole);
        }

        #[test]
        fn nothing_is_lost_and_bins_cover_the_time(
            events in prop::collection::vec((1u64..90_000_000_000, 0u64..1 << 30), 1..100),
        ) {
            let elapsed_ns = events.iter().map(|e| e.0).max().unwrap();
            let (bin_ns, operations, bytes) = of(&events).finish(elapsed_ns);
            prop_assert!(operations.len() <= MAX_BINS);
            prop_assert_eq!(operations.iter().sum::<u64>(), events.len() as u64);
            prop_assert_eq!(bytes.iter().sum::<u64>(), events.iter().map(|e| e.1).sum::<u64>());
            prop_assert!(operations.len() as u64 * bin_ns >= elapsed_ns);
            prop_assert!((operations.len() as u64 - 1) * bin_ns < elapsed_ns);
        }
    }

    #[test]
    fn a_stall_at_the_end_shows_as_empty_bins() {
        let (bin_ns, operations, _) = of(&[(500_000, 1)]).finish(5_000_000);
        assert_eq!((bin_ns, operations), (1_000_000, vec![1, 0, 0, 0, 0]));
    }

    #[test]
    fn ninety_seconds_fit_in_64_ms_bins() {
        let (bin_ns, operations, _) = of(&[(1, 1)]).finish(90_000_000_000);
        assert_eq!((bin_ns, operations.len()), (64_000_000, 1407));
    }
}
