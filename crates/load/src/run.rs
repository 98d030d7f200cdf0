//! One phase from start to record: prepare, open, start the workers together, merge, judge its end.
//!
//! The duration rule. No item starts after the duration. An item in flight then is completed but
//! counted as `cut_off` only, and `elapsed_ns` is the duration itself, so a system that stalls at
//! the end is not flattered. If nothing at all ended in time, what was in flight counts after all
//! and `elapsed_ns` is its end: a slow cell still yields a number.
//!
//! With item `access`, files are opened before the clock starts; `fsync` then means one fsync of
//! every file after the last access. `elapsed_ns` includes it, and for a write the closes too: a
//! close may have to flush (NFS, RFC 1813 4.11), and what it flushes was not written before.

use std::thread;

use crate::backend::{Backend, Opening};
use crate::buffer::AlignedBuffer;
use crate::clock::{forbid_timer_slack, Clock};
use crate::failure::{Failure, SetupError};
use crate::gate::Gate;
use crate::job::{Action, Item, SCHEMA_VERSION};
use crate::plan::PhasePlan;
use crate::record::{EndedBy, OperationRecord, PhaseRecord, SeriesRecord, Verification};
use crate::tally::{Call, Operation, Tally, CALLS};
use crate::usage::CpuTime;
use crate::worker::{Shared, Worker};

const STACK_BYTES: usize = 256 * 1024;

/// Runs `phase` on `backend` by `clock`.
pub fn run_phase<B: Backend, C: Clock>(
    phase: &PhasePlan,
    backend: &B,
    clock: &C,
) -> Result<PhaseRecord, SetupError> {
    backend.prepare(phase)?;
    let buffers = make_buffers(phase)?;
    let mut around = AroundAccess::default();
    let files = around.open_all(phase, backend, clock);
    let shared = Shared::new(phase, backend, clock, &files);

    let cpu_before = CpuTime::now();
    let (start_ns, mut tally) = work(&shared, buffers, clock, phase.rate_per_s.is_some())?;
    let end = End::of(phase.duration_ns, &mut tally);
    let synced_ns = around.sync_all(phase, backend, clock, &files);
    let closed_ns = around.close_all(backend, clock, files);
    let cpu = CpuTime::now().since(cpu_before);
    let done_ns = if phase.action == Action::Write { closed_ns } else { synced_ns };
    let elapsed_ns = done_ns.map_or(end.elapsed_ns, |at| (at - start_ns).max(end.elapsed_ns));

    let operations = operation_records(phase, &tally, &around);
    let (bin_ns, series_operations, series_bytes) = tally.series.finish(elapsed_ns);
    Ok(PhaseRecord {
        schema: SCHEMA_VERSION,
        phase: phase.name.clone(),
        backend: backend.name(),
        threads: phase.threads,
        elapsed_ns,
        busy_until_ns: end.busy_until_ns,
        ended_by: end.ended_by,
        cut_off: end.cut_off,
        cut_off_bytes: end.cut_off_bytes,
        rate_per_s: phase.rate_per_s,
        operations,
        series: SeriesRecord { bin_ns, operations: series_operations, bytes: series_bytes },
        verification: phase.verify.then_some(Verification {
            checked_bytes: tally.checked_bytes,
            mismatched_operations: tally.mismatched,
        }),
        user_cpu_ns: cpu.user_ns,
        system_cpu_ns: cpu.system_ns,
        retries: None,
    })
}

fn make_buffers(phase: &PhasePlan) -> Result<Vec<AlignedBuffer>, SetupError> {
    let bytes = if phase.action == Action::Delete { 0 } else { phase.unit_bytes };
    (0..phase.threads).map(|_| AlignedBuffer::new(bytes)).collect()
}

/// Starts one worker per buffer, together, and returns the start and what they counted.
fn work<B: Backend, C: Clock>(
    shared: &Shared<'_, B, C>,
    mut buffers: Vec<AlignedBuffer>,
    clock: &C,
    paced: bool,
) -> Result<(u64, Tally), SetupError> {
    if buffers.len() == 1 {
        if paced {
            forbid_timer_slack();
        }
        let worker = Worker::new(shared, buffers.remove(0));
        let start_ns = clock.now_ns();
        return Ok((start_ns, worker.work(start_ns)));
    }
    let gate = Gate::default();
    let workers = buffers.len();
    thread::scope(|scope| {
        let mut handles = Vec::with_capacity(workers);
        for buffer in buffers {
            let gate = &gate;
            let spawned =
                thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || {
                    if paced {
                        forbid_timer_slack();
                    }
                    let worker = Worker::new(shared, buffer);
                    gate.wait().map(|start_ns| worker.work(start_ns))
                });
            match spawned {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    gate.cancel();
                    return Err(SetupError(format!("cannot start {workers} threads: {error}")));
                }
            }
        }
        gate.until_ready(workers);
        let start_ns = clock.now_ns();
        gate.open(start_ns);
        let mut whole = handles.into_iter().filter_map(|handle| {
            handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        let mut first = whole.next().expect("there are at least two workers");
        whole.for_each(|tally| first.merge(tally));
        Ok((start_ns, first))
    })
}

/// How a phase ended.
pub(crate) struct End {
    pub(crate) elapsed_ns: u64,
    pub(crate) busy_until_ns: u64,
    pub(crate) ended_by: EndedBy,
    pub(crate) cut_off: u64,
    pub(crate) cut_off_bytes: u64,
}

impl End {
    /// Applies the duration rule.
    pub(crate) fn of(duration_ns: Option<u64>, tally: &mut Tally) -> Self {
        let mut cut_off = tally.cut_off.len() as u64;
        let mut cut_off_bytes = tally.cut_off_bytes();
        let (elapsed_ns, ended_by) = match (tally.stopped_by_duration, duration_ns) {
            (true, Some(duration_ns)) if tally.primary.count() > 0 || cut_off == 0 => {
                (duration_ns, EndedBy::Duration)
            }
            (true, _) => {
                tally.count_cut_off();
                (cut_off, cut_off_bytes) = (0, 0);
                (tally.last_end_ns, EndedBy::Duration)
            }
            (false, _) => (tally.last_end_ns, EndedBy::Set),
        };
        let busy_until_ns = tally.idle_at_ns.map_or(elapsed_ns, |idle| idle.min(elapsed_ns));
        Self { elapsed_ns, busy_until_ns, ended_by, cut_off, cut_off_bytes }
    }
}

/// Open, fsync and close around a phase of accesses: outside its latencies, in its record.
#[derive(Default)]
struct AroundAccess {
    open: Operation,
    sync: Operation,
    close: Operation,
}

type OpenFiles<B> = Vec<Result<<B as Backend>::File, Failure>>;

impl AroundAccess {
    fn open_all<B: Backend>(
        &mut self,
        phase: &PhasePlan,
        backend: &B,
        clock: &impl Clock,
    ) -> OpenFiles<B> {
        if phase.item == Item::File {
            return Vec::new();
        }
        let opening = Opening::from(phase);
        let mut last_ns = clock.now_ns();
        let open_one = |index| {
            let file = backend.open(index, opening);
            let now_ns = clock.now_ns();
            self.open.add(now_ns - last_ns, file.as_ref().map(|_| 0).map_err(|&f| f));
            last_ns = now_ns;
            file
        };
        (0..phase.set.files).map(open_one).collect()
    }

    /// Returns when the last file was durable, if that was asked.
    fn sync_all<B: Backend>(
        &mut self,
        phase: &PhasePlan,
        backend: &B,
        clock: &impl Clock,
        files: &OpenFiles<B>,
    ) -> Option<u64> {
        if phase.item == Item::File || !phase.fsync {
            return None;
        }
        let mut last_ns = clock.now_ns();
        for file in files.iter().flatten() {
            let synced = backend.sync(file);
            let now_ns = clock.now_ns();
            self.sync.add(now_ns - last_ns, synced.map(|()| 0));
            last_ns = now_ns;
        }
        Some(last_ns)
    }

    /// Returns when the last file was closed, if any had been opened.
    fn close_all<B: Backend>(
        &mut self,
        backend: &B,
        clock: &impl Clock,
        files: OpenFiles<B>,
    ) -> Option<u64> {
        let mut last_ns = clock.now_ns();
        let mut closed_ns = None;
        for file in files.into_iter().flatten() {
            let closed = backend.close(file);
            let now_ns = clock.now_ns();
            self.close.add(now_ns - last_ns, closed.map(|()| 0));
            last_ns = now_ns;
            closed_ns = Some(now_ns);
        }
        closed_ns
    }
}

fn operation_records(
    phase: &PhasePlan,
    tally: &Tally,
    around: &AroundAccess,
) -> Vec<OperationRecord> {
    let primary = match phase.action {
        Action::Write => "write",
        Action::Read => "read",
        Action::Delete => "delete",
    };
    let mut records = vec![tally.primary.record(primary)];
    for call in CALLS {
        let timed = tally.calls.as_ref().map(|calls| &calls[call as usize]);
        let (name, operation) = match (call, phase.item) {
            (Call::Open, Item::Access) => (opening_name(phase), Some(&around.open)),
            (Call::Open, Item::File) => (opening_name(phase), timed),
            (Call::Transfer, _) => ("transfer", timed),
            (Call::Sync, Item::Access) => ("fsync", phase.fsync.then_some(&around.sync)),
            (Call::Sync, Item::File) => ("fsync", timed.filter(|_| phase.fsync)),
            (Call::Close, Item::Access) => ("close", Some(&around.close)),
            (Call::Close, Item::File) => ("close", timed),
        };
        records.extend(operation.map(|operation| operation.record(name)));
    }
    records
}

fn opening_name(phase: &PhasePlan) -> &'static str {
    if phase.create {
        "create"
    } else {
        "open"
    }
}
