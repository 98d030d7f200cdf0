//! A clock that moves only when told, a backend that does what a script says, and plans to vary.

#![allow(dead_code, missing_docs)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

use hdrhistogram::{serialization::Deserializer, Histogram};
use wavetank_load::backend::{Backend, Opening};
use wavetank_load::clock::Clock;
use wavetank_load::failure::{Failure, SetupError};
use wavetank_load::fileset::FileSet;
use wavetank_load::job::{Access, Action, Item, Order, Timing};
use wavetank_load::plan::PhasePlan;
use wavetank_load::record::{OperationRecord, PhaseRecord};

/// Time that only sleeping and the scripted backend move.
#[derive(Default)]
pub struct ManualClock {
    now_ns: AtomicU64,
    readings: AtomicU64,
}

impl ManualClock {
    pub fn advance(&self, ns: u64) {
        self.now_ns.fetch_add(ns, Ordering::Relaxed);
    }

    pub fn readings(&self) -> u64 {
        self.readings.load(Ordering::Relaxed)
    }
}

impl Clock for ManualClock {
    fn now_ns(&self) -> u64 {
        self.readings.fetch_add(1, Ordering::Relaxed);
        self.now_ns.load(Ordering::Relaxed)
    }

    fn sleep_until_ns(&self, at_ns: u64) {
        self.now_ns.fetch_max(at_ns, Ordering::Relaxed);
    }
}

/// What one call costs and returns.
pub type Step = (u64, Result<(), Failure>);

/// Each call moves the clock and ends as `script(call name, file, how many calls before)` says.
pub struct Scripted<'a, F> {
    pub clock: &'a ManualClock,
    pub script: F,
    pub calls: Mutex<Vec<(&'static str, u64, u64)>>,
}

impl<'a, F: Fn(&'static str, u64, u64) -> Step + Sync> Scripted<'a, F> {
    pub fn new(clock: &'a ManualClock, script: F) -> Self {
        Self { clock, script, calls: Mutex::default() }
    }

    pub fn seen(&self, call: &str) -> Vec<(u64, u64)> {
        let calls = self.calls.lock().unwrap();
        calls.iter().filter(|c| c.0 == call).map(|c| (c.1, c.2)).collect()
    }

    fn step(&self, call: &'static str, file: u64, offset: u64) -> Result<(), Failure> {
        let mut calls = self.calls.lock().unwrap();
        let before = calls.iter().filter(|c| c.0 == call).count() as u64;
        calls.push((call, file, offset));
        let (cost_ns, result) = (self.script)(call, file, before);
        self.clock.advance(cost_ns);
        result
    }
}

impl<F: Fn(&'static str, u64, u64) -> Step + Sync> Backend for Scripted<'_, F> {
    type File = u64;

    fn name(&self) -> &'static str {
        "scripted"
    }

    fn prepare(&self, _phase: &PhasePlan) -> Result<(), SetupError> {
        Ok(())
    }

    fn open(&self, index: u64, _opening: Opening) -> Result<u64, Failure> {
        self.step("open", index, 0).map(|()| index)
    }

    fn write_at(&self, file: &u64, _bytes: &[u8], offset: u64) -> Result<(), Failure> {
        self.step("write", *file, offset)
    }

    fn read_at(&self, file: &u64, _bytes: &mut [u8], offset: u64) -> Result<(), Failure> {
        self.step("read", *file, offset)
    }

    fn sync(&self, file: &u64) -> Result<(), Failure> {
        self.step("fsync", *file, 0)
    }

    fn close(&self, file: u64) -> Result<(), Failure> {
        self.step("close", file, 0)
    }

    fn delete(&self, index: u64) -> Result<(), Failure> {
        self.step("delete", index, 0)
    }
}

/// `files` files of `file_size_bytes`, one phase of whole files, one thread, no limits.
pub fn phase(action: Action, files: u64, file_size_bytes: u64) -> PhasePlan {
    PhasePlan {
        name: "test".into(),
        action,
        item: Item::File,
        access: Access::Default,
        unit_bytes: file_size_bytes.max(1),
        order: Order::Sequential,
        threads: 1,
        duration_ns: None,
        items: files,
        items_in_set: files,
        create: false,
        fsync: false,
        rate_per_s: None,
        verify: false,
        timing: Timing::Item,
        set: FileSet { files, file_size_bytes, files_per_directory: 16 },
        content_seed: 11,
        order_seed: 12,
    }
}

/// The same as accesses of `unit_bytes`.
pub fn accesses(action: Action, files: u64, file_size_bytes: u64, unit_bytes: u64) -> PhasePlan {
    let items = files * file_size_bytes.div_ceil(unit_bytes);
    PhasePlan {
        item: Item::Access,
        unit_bytes,
        items,
        items_in_set: items,
        ..phase(action, files, file_size_bytes)
    }
}

pub fn operation<'a>(record: &'a PhaseRecord, name: &str) -> &'a OperationRecord {
    record.operations.iter().find(|o| o.operation == name).unwrap_or_else(|| panic!("no {name}"))
}

pub fn histogram(operation: &OperationRecord) -> Histogram<u64> {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(&operation.latency_histogram)
        .expect("base64");
    Deserializer::new().deserialize(&mut &bytes[..]).expect("HdrHistogram V2 + DEFLATE")
}
