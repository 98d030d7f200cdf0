//! What one worker counts, and how the workers' counts become one.
//!
//! An item is either done within the phase (success or failure) or cut off by the duration: held
//! back, and counted only when otherwise the phase would have no result at all.

use std::collections::BTreeMap;

use crate::failure::Failure;
use crate::latency::Latency;
use crate::record::OperationRecord;
use crate::series::Series;

/// The calls an item is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// `create` or `open`.
    Open,
    /// One unit.
    Transfer,
    /// fsync.
    Sync,
    /// close.
    Close,
}

/// All calls, in the record's order.
pub const CALLS: [Call; 4] = [Call::Open, Call::Transfer, Call::Sync, Call::Close];

/// One call of an item.
#[derive(Debug, Clone, Copy)]
pub struct TimedCall {
    /// Which.
    pub call: Call,
    /// How long it took.
    pub latency_ns: u64,
    /// Bytes moved, or how it failed.
    pub outcome: Result<u64, Failure>,
}

/// One item, finished.
#[derive(Debug, Clone, Copy)]
pub struct FinishedItem {
    /// End, from the phase's start.
    pub ended_ns: u64,
    /// From its begin (open loop: from when it was due).
    pub latency_ns: u64,
    /// Bytes moved, or how it failed.
    pub outcome: Result<u64, Failure>,
}

/// Counts of one kind of operation.
#[derive(Debug, Clone, Default)]
pub struct Operation {
    count: u64,
    failed: u64,
    bytes: u64,
    errors: BTreeMap<Failure, u64>,
    latency: Latency,
}

impl Operation {
    /// Counts one.
    pub fn add(&mut self, latency_ns: u64, outcome: Result<u64, Failure>) {
        match outcome {
            Ok(bytes) => {
                self.count += 1;
                self.bytes += bytes;
                self.latency.record(latency_ns);
            }
            Err(failure) => self.add_failure(failure),
        }
    }

    fn add_failure(&mut self, failure: Failure) {
        self.failed += 1;
        *self.errors.entry(failure).or_default() += 1;
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.failed += other.failed;
        self.bytes += other.bytes;
        for (&failure, count) in &other.errors {
            *self.errors.entry(failure).or_default() += count;
        }
        if other.count > 0 {
            self.latency.merge(&other.latency);
        }
    }

    /// How many succeeded.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Its record under `name`.
    pub fn record(&self, name: &'static str) -> OperationRecord {
        let mut errors = BTreeMap::new();
        for (failure, count) in &self.errors {
            *errors.entry(failure.name().into_owned()).or_default() += count;
        }
        OperationRecord {
            operation: name,
            count: self.count,
            failed: self.failed,
            bytes: self.bytes,
            errors,
            latency_histogram: self.latency.encode(),
            latency_ns_max: self.latency.max_ns(),
        }
    }
}

/// The counts of one worker or, merged, of all.
#[derive(Debug, Default)]
pub struct Tally {
    /// Items.
    pub primary: Operation,
    /// Calls, by [`Call`]; none where calls are not timed.
    pub calls: Option<Box<[Operation; 4]>>,
    /// Items over time.
    pub series: Series,
    /// Bytes compared.
    pub checked_bytes: u64,
    /// Items with wrong content.
    pub mismatched: u64,
    /// End of the last item counted.
    pub last_end_ns: u64,
    /// When a worker first found no more work.
    pub idle_at_ns: Option<u64>,
    /// True once a worker stopped because time was up.
    pub stopped_by_duration: bool,
    /// Items in flight when time was up, with their calls.
    pub cut_off: Vec<(FinishedItem, Vec<TimedCall>)>,
}

impl Tally {
    /// An empty tally; with `time_calls`, one that counts calls too.
    pub fn new(time_calls: bool) -> Self {
        Self { calls: time_calls.then(Box::default), ..Self::default() }
    }

    /// Counts an item and its calls. The calls of a failed item count only where they failed.
    pub fn add(&mut self, item: FinishedItem, calls: &[TimedCall]) {
        self.primary.add(item.latency_ns, item.outcome);
        self.last_end_ns = self.last_end_ns.max(item.ended_ns);
        match item.outcome {
            Ok(bytes) => self.series.add(item.ended_ns, bytes),
            Err(Failure::Mismatch) => self.mismatched += 1,
            Err(_) => {}
        }
        if let Some(operations) = &mut self.calls {
            for call in calls {
                if item.outcome.is_ok() || call.outcome.is_err() {
                    operations[call.call as usize].add(call.latency_ns, call.outcome);
                }
            }
        }
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: Self) {
        self.primary.merge(&other.primary);
        if let (Some(mine), Some(others)) = (&mut self.calls, &other.calls) {
            mine.iter_mut().zip(others.iter()).for_each(|(a, b)| a.merge(b));
        }
        self.series.merge(&other.series);
        self.checked_bytes += other.checked_bytes;
        self.mismatched += other.mismatched;
        self.last_end_ns = self.last_end_ns.max(other.last_end_ns);
        self.idle_at_ns = [self.idle_at_ns, other.idle_at_ns].into_iter().flatten().min();
        self.stopped_by_duration |= other.stopped_by_duration;
        self.cut_off.extend(other.cut_off);
    }

    /// Bytes that the cut-off items moved.
    pub fn cut_off_bytes(&self) -> u64 {
        self.cut_off.iter().filter_map(|(item, _)| item.outcome.as_ref().ok()).sum()
    }

    /// Counts what was cut off after all; returns how many there were.
    pub fn count_cut_off(&mut self) -> u64 {
        let cut_off = std::mem::take(&mut self.cut_off);
        for (item, calls) in &cut_off {
            self.add(*item, calls);
        }
        cut_off.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(ended_ns: u64, outcome: Result<u64, Failure>) -> FinishedItem {
        FinishedItem { ended_ns, latency_ns: 10, outcome }
    }

    #[test]
    fn failed_items_are_left_out_of_count_bytes_latency_and_series() {
        let mut tally = Tally::new(true);
        let open = TimedCall { call: Call::Open, latency_ns: 4, outcome: Ok(0) };
        let broken =
            TimedCall { call: Call::Transfer, latency_ns: 6, outcome: Err(Failure::Errno(5)) };
        tally.add(item(10, Err(Failure::Errno(5))), &[open, broken]);
        tally.add(item(20, Ok(100)), &[open]);
        let record = tally.primary.record("read");
        assert_eq!((record.count, record.failed, record.bytes), (1, 1, 100));
        assert_eq!(record.errors, BTreeMap::from([("EIO".to_owned(), 1)]));
        assert_eq!(tally.primary.latency.count(), 1);
        let calls = tally.calls.unwrap();
        assert_eq!((calls[0].count, calls[0].failed), (1, 0));
        assert_eq!((calls[1].count, calls[1].failed), (0, 1));
        assert_eq!(tally.series.finish(20).1, vec![1]);
    }

    #[test]
    fn the_first_worker_to_run_out_decides_when_the_pool_was_busy() {
        let mut whole = Tally::new(false);
        for idle_at_ns in [None, Some(30), Some(20)] {
            whole.merge(Tally { idle_at_ns, ..Tally::new(false) });
        }
        assert_eq!(whole.idle_at_ns, Some(20));
    }
}
