//! The engine's rules of time and counting, by a clock that moves only when told.

#![allow(missing_docs)]

mod support;

use std::collections::BTreeMap;

use support::{accesses, histogram, operation, phase, ManualClock, Scripted, Step};
use wavetank_load::backend::Null;
use wavetank_load::clock::Monotonic;
use wavetank_load::failure::Failure;
use wavetank_load::job::{Action, Order, Timing};
use wavetank_load::plan::PhasePlan;
use wavetank_load::record::{EndedBy, PhaseRecord};
use wavetank_load::run::run_phase;

const MS: u64 = 1_000_000;
const EIO: Failure = Failure::Errno(libc::EIO);

/// Runs `phase` on a backend whose calls cost what `script` says.
fn run(
    phase: &PhasePlan,
    script: impl Fn(&'static str, u64, u64) -> Step + Sync,
) -> (PhaseRecord, ManualClock) {
    let clock = ManualClock::default();
    let record = run_phase(phase, &Scripted::new(&clock, script), &clock).unwrap();
    (record, clock)
}

/// Deleting is one call per item: the simplest item of 10 ms.
fn ten_ms(_call: &'static str, _file: u64, _before: u64) -> Step {
    (10 * MS, Ok(()))
}

fn timed_deletes(duration_ns: u64) -> PhasePlan {
    PhasePlan { duration_ns: Some(duration_ns), ..phase(Action::Delete, 100, 0) }
}

#[test]
fn an_item_in_flight_at_the_end_is_cut_off_and_the_duration_is_the_elapsed_time() {
    let (record, _) = run(&timed_deletes(35 * MS), ten_ms);
    assert_eq!((record.operations[0].count, record.cut_off), (3, 1));
    assert_eq!((record.elapsed_ns, record.busy_until_ns), (35 * MS, 35 * MS));
    assert_eq!(record.ended_by, EndedBy::Duration);
    assert_eq!(record.series.operations.iter().sum::<u64>(), 3);
    assert_eq!(histogram(&record.operations[0]).len(), 3);
}

#[test]
fn an_item_that_ends_with_the_duration_counts() {
    let (record, _) = run(&timed_deletes(30 * MS), ten_ms);
    assert_eq!((record.operations[0].count, record.cut_off), (3, 0));
    assert_eq!((record.elapsed_ns, record.ended_by), (30 * MS, EndedBy::Duration));
}

#[test]
fn a_first_item_longer_than_the_duration_still_yields_a_number() {
    let (record, _) = run(&timed_deletes(4 * MS), ten_ms);
    assert_eq!((record.operations[0].count, record.cut_off), (1, 0));
    assert_eq!((record.elapsed_ns, record.ended_by), (10 * MS, EndedBy::Duration));
    assert_eq!(record.series.operations.iter().sum::<u64>(), 1);
}

#[test]
fn the_end_of_the_set_ends_the_phase_with_its_last_item() {
    let plan = PhasePlan { items: 4, ..timed_deletes(1000 * MS) };
    let (record, _) = run(&plan, ten_ms);
    assert_eq!((record.operations[0].count, record.ended_by), (4, EndedBy::Set));
    assert_eq!((record.elapsed_ns, record.busy_until_ns), (40 * MS, 40 * MS));
    assert_eq!(record.series.operations.len(), 40);
}

#[test]
fn an_item_costs_one_clock_reading() {
    let readings = |items| {
        let plan = PhasePlan { create: true, fsync: true, ..phase(Action::Write, items, 8192) };
        run(&plan, ten_ms).1.readings()
    };
    assert_eq!(readings(60) - readings(10), 50);
}

#[test]
fn in_open_loop_a_stall_is_felt_by_every_item_it_delays() {
    // 100 items a second of 1 ms each; the third takes 95 ms, so nine more begin late.
    let stall = |_, _, before| (if before == 2 { 95 * MS } else { MS }, Ok(()));
    let plan = PhasePlan { rate_per_s: Some(100.0), items: 20, ..timed_deletes(1000 * MS) };
    let (record, _) = run(&plan, stall);
    let open_loop = histogram(&record.operations[0]);
    // Item 2 + j is due 10 j ms after item 2, ends 95 + j ms after it: 95 - 9 j ms late, until
    // on time again.
    for j in 0..=10 {
        let expected_ns = if 95 > 9 * j { (95 - 9 * j) * MS } else { MS };
        assert!(open_loop.count_at(expected_ns) >= 1, "no latency of {expected_ns} ns");
    }
    assert_eq!(record.operations[0].latency_ns_max, 95 * MS);
    assert_eq!(record.elapsed_ns, 191 * MS);

    let (record, _) = run(&PhasePlan { rate_per_s: None, ..plan }, stall);
    assert_eq!(histogram(&record.operations[0]).count_at(MS), 19);
}

#[test]
fn in_open_loop_nothing_that_is_due_after_the_duration_begins() {
    let plan = PhasePlan { rate_per_s: Some(100.0), ..timed_deletes(55 * MS) };
    let (record, _) = run(&plan, |_, _, _| (MS, Ok(())));
    assert_eq!((record.operations[0].count, record.cut_off), (6, 0));
    assert_eq!((record.elapsed_ns, record.ended_by), (55 * MS, EndedBy::Duration));
}

#[test]
fn failed_items_do_not_end_a_phase_and_are_counted_apart() {
    let every_third = |_, _, before| (MS, if before % 3 == 2 { Err(EIO) } else { Ok(()) });
    let (record, _) = run(&phase(Action::Delete, 9, 0), every_third);
    let deletes = &record.operations[0];
    assert_eq!((deletes.count, deletes.failed), (6, 3));
    assert_eq!(deletes.errors, BTreeMap::from([("EIO".into(), 3)]));
    assert_eq!(record.series.operations.iter().sum::<u64>(), 6);
    assert_eq!(record.elapsed_ns, 9 * MS);
}

#[test]
fn a_file_that_fails_midway_is_closed_and_not_synced() {
    let clock = ManualClock::default();
    let backend = Scripted::new(&clock, |call, file, _| {
        (MS, if call == "write" && file == 1 { Err(EIO) } else { Ok(()) })
    });
    let plan = PhasePlan { fsync: true, ..phase(Action::Write, 3, 4096) };
    let record = run_phase(&plan, &backend, &clock).unwrap();
    assert_eq!(backend.seen("close").len(), 3);
    assert_eq!(backend.seen("fsync"), [(0, 0), (2, 0)]);
    assert_eq!(record.operations[0].bytes, 2 * 4096);
}

#[test]
fn a_failed_close_fails_the_item() {
    let script = |call, _, _| (MS, if call == "close" { Err(EIO) } else { Ok(()) });
    let (record, _) = run(&phase(Action::Write, 2, 4096), script);
    assert_eq!((record.operations[0].count, record.operations[0].failed), (0, 2));
}

#[test]
fn with_timing_call_each_call_has_its_own_latency() {
    let script = |call, _, _| {
        let cost = match call {
            "open" => 1,
            "write" => 2,
            "fsync" => 4,
            _ => 8,
        };
        (cost * MS, Ok(()))
    };
    let plan = PhasePlan {
        create: true,
        fsync: true,
        timing: Timing::Call,
        unit_bytes: 4096,
        ..phase(Action::Write, 5, 10_000)
    };
    let (record, _) = run(&plan, script);
    let names: Vec<_> = record.operations.iter().map(|o| o.operation).collect();
    assert_eq!(names, ["write", "create", "transfer", "fsync", "close"]);
    for (name, count, cost) in
        [("write", 5, 19), ("create", 5, 1), ("transfer", 15, 2), ("fsync", 5, 4), ("close", 5, 8)]
    {
        let calls = operation(&record, name);
        assert_eq!((calls.count, calls.latency_ns_max), (count, cost * MS), "{name}");
    }
    assert_eq!(operation(&record, "transfer").bytes, 50_000);
}

#[test]
fn read_accesses_exclude_open_and_close_and_record_them() {
    let plan = accesses(Action::Read, 2, 16_384, 4096);
    let (record, _) = run(&plan, |call, _, _| (if call == "read" { MS } else { 50 * MS }, Ok(())));
    assert_eq!(record.operations[0].count, 8);
    assert_eq!((record.elapsed_ns, record.operations[0].latency_ns_max), (8 * MS, MS));
    assert_eq!(operation(&record, "open").count, 2);
    assert_eq!(operation(&record, "close").latency_ns_max, 50 * MS);
}

#[test]
fn the_elapsed_time_of_synced_accesses_includes_the_final_fsync() {
    let plan = PhasePlan { fsync: true, ..accesses(Action::Write, 2, 8192, 4096) };
    let (record, _) = run(&plan, |call, _, _| (if call == "fsync" { 30 * MS } else { MS }, Ok(())));
    assert_eq!((record.elapsed_ns, record.busy_until_ns), (66 * MS, 4 * MS));
    assert_eq!(operation(&record, "fsync").count, 2);
}

#[test]
fn what_a_close_flushes_is_part_of_the_time_of_written_accesses() {
    let plan = accesses(Action::Write, 2, 8192, 4096);
    let (record, _) = run(&plan, |call, _, _| (if call == "close" { 30 * MS } else { MS }, Ok(())));
    assert_eq!((record.elapsed_ns, record.busy_until_ns), (64 * MS, 4 * MS));
    assert_eq!(record.operations[0].latency_ns_max, MS);
}

#[test]
fn accesses_to_a_file_that_could_not_be_opened_fail_as_its_opening_did() {
    let script = |call, file, _| {
        let missing = call == "open" && file == 1;
        (MS, if missing { Err(Failure::Errno(libc::ENOENT)) } else { Ok(()) })
    };
    let (record, _) = run(&accesses(Action::Read, 3, 8192, 4096), script);
    assert_eq!((record.operations[0].count, record.operations[0].failed), (4, 2));
    assert_eq!(record.operations[0].errors, BTreeMap::from([("ENOENT".into(), 2)]));
    assert_eq!(operation(&record, "open").failed, 1);
    assert_eq!(operation(&record, "close").count, 2);
}

#[test]
fn a_random_order_touches_each_unit_once_and_not_in_order() {
    let clock = ManualClock::default();
    let backend = Scripted::new(&clock, ten_ms);
    let plan = PhasePlan { order: Order::Random, ..accesses(Action::Read, 4, 64 * 4096, 4096) };
    run_phase(&plan, &backend, &clock).unwrap();
    let seen = backend.seen("read");
    let mut sorted = seen.clone();
    sorted.sort_unstable();
    let all: Vec<_> = (0..4).flat_map(|f| (0..64).map(move |u| (f, u * 4096))).collect();
    assert_eq!(sorted, all);
    assert_ne!(seen, all);
}

#[test]
fn a_pool_of_workers_does_each_item_once() {
    let plan = PhasePlan { threads: 8, timing: Timing::Call, ..phase(Action::Write, 20_000, 4096) };
    let record = run_phase(&plan, &Null, &Monotonic).unwrap();
    assert_eq!((record.threads, record.ended_by), (8, EndedBy::Set));
    for o in &record.operations {
        let expected = if o.operation == "fsync" { 0 } else { 20_000 };
        assert_eq!((o.count, histogram(o).len()), (expected, expected), "{}", o.operation);
    }
    assert_eq!(record.series.bytes.iter().sum::<u64>(), 20_000 * 4096);
}
