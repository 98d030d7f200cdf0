//! The engine's own ceiling: whole files of 4 KiB written to the null backend by one worker, with
//! content generated and latency recorded, as in a real phase.

use serde::Serialize;

use crate::backend::Null;
use crate::clock::Clock;
use crate::failure::SetupError;
use crate::job::{Access, Action, Item, Order, Timing};
use crate::plan::PhasePlan;
use crate::run::run_phase;

const DURATION_NS: u64 = 500_000_000;
/// Ends the loop where time moves by clock readings alone (the guest's virtual clock).
const MOST_ITEMS: u64 = 10_000_000;
const FILE: crate::fileset::FileSet =
    crate::fileset::FileSet { files: MOST_ITEMS, file_size_bytes: 4096, files_per_directory: 4096 };

/// The ceiling as printed.
#[derive(Debug, Serialize)]
pub struct Ceiling {
    /// Items per second when the system under test costs nothing.
    pub operations_per_s: f64,
}

/// Measures it by `clock`.
pub fn measure(clock: &impl Clock) -> Result<Ceiling, SetupError> {
    let phase = PhasePlan {
        name: "ceiling".into(),
        action: Action::Write,
        item: Item::File,
        access: Access::Default,
        unit_bytes: FILE.file_size_bytes,
        order: Order::Sequential,
        threads: 1,
        duration_ns: Some(DURATION_NS),
        items: MOST_ITEMS,
        items_in_set: MOST_ITEMS,
        create: true,
        fsync: false,
        rate_per_s: None,
        verify: false,
        timing: Timing::Item,
        set: FILE,
        content_seed: 1,
        order_seed: 1,
    };
    let record = run_phase(&phase, &Null, clock)?;
    let operations_per_s = record.operations[0].count as f64 * 1e9 / record.elapsed_ns as f64;
    Ok(Ceiling { operations_per_s })
}
