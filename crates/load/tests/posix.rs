//! The posix backend on real files.

#![allow(missing_docs)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::AsRawFd;

use proptest::prelude::*;
use support::{accesses, operation, phase};
use wavetank_load::backend::{Backend, Opening, Posix};
use wavetank_load::clock::Monotonic;
use wavetank_load::job::{Access, Action, Item, Order};
use wavetank_load::plan::PhasePlan;
use wavetank_load::record::{PhaseRecord, Verification};
use wavetank_load::run::run_phase;

struct Fixture {
    directory: tempfile::TempDir,
    backend: Posix,
}

impl Fixture {
    fn new(plan: &PhasePlan) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let backend = Posix::new(directory.path(), plan.set, true).unwrap();
        Self { directory, backend }
    }

    fn run(&self, plan: &PhasePlan) -> PhaseRecord {
        run_phase(plan, &self.backend, &Monotonic).unwrap()
    }

    fn path(&self, plan: &PhasePlan, index: u64) -> std::path::PathBuf {
        self.directory.path().join(plan.set.file_name(index).as_c_str().to_str().unwrap())
    }
}

fn create(plan: &PhasePlan) -> PhasePlan {
    PhasePlan { create: true, ..plan.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_written_is_what_is_read(
        files in 1u64..40, size in 0u64..30_000, write_unit in 1u64..20_000,
        read_unit in 1u64..20_000, threads in 1usize..5, random: bool, by_access: bool,
    ) {
        let write = PhasePlan {
            unit_bytes: write_unit.min(size.max(1)),
            threads,
            ..create(&phase(Action::Write, files, size))
        };
        let fixture = Fixture::new(&write);
        prop_assert_eq!(fixture.run(&write).operations[0].bytes, files * size);
        let order = if random { Order::Random } else { Order::Sequential };
        let read_unit = read_unit.min(size.max(1));
        let read = if by_access && size > 0 {
            accesses(Action::Read, files, size, read_unit)
        } else {
            PhasePlan { unit_bytes: read_unit, ..phase(Action::Read, files, size) }
        };
        let record = fixture.run(&PhasePlan { threads, order, verify: true, ..read });
        prop_assert_eq!(record.operations[0].bytes, files * size);
        prop_assert_eq!(record.operations[0].failed, 0);
        prop_assert_eq!(
            record.verification,
            Some(Verification { checked_bytes: files * size, mismatched_operations: 0 })
        );
    }
}

#[test]
fn one_flipped_byte_is_one_failed_operation() {
    let write = create(&phase(Action::Write, 10, 8192));
    let fixture = Fixture::new(&write);
    fixture.run(&write);
    let path = fixture.path(&write, 7);
    let mut bytes = fs::read(&path).unwrap();
    bytes[5000] ^= 1;
    fs::write(&path, bytes).unwrap();

    let record = fixture.run(&PhasePlan { verify: true, ..phase(Action::Read, 10, 8192) });
    assert_eq!((record.operations[0].count, record.operations[0].failed), (9, 1));
    assert_eq!(record.operations[0].errors, BTreeMap::from([("MISMATCH".into(), 1)]));
    assert_eq!(record.verification.unwrap().mismatched_operations, 1);
}

#[test]
fn another_seed_reads_as_all_wrong() {
    let write = create(&phase(Action::Write, 4, 4096));
    let fixture = Fixture::new(&write);
    fixture.run(&write);
    let read = PhasePlan { verify: true, content_seed: 99, ..phase(Action::Read, 4, 4096) };
    assert_eq!(fixture.run(&read).verification.unwrap().mismatched_operations, 4);
}

#[test]
fn a_missing_and_a_short_file_fail_by_name_and_the_others_go_on() {
    let write = create(&phase(Action::Write, 40, 4096));
    let fixture = Fixture::new(&write);
    fixture.run(&write);
    fs::remove_file(fixture.path(&write, 3)).unwrap();
    fs::write(fixture.path(&write, 20), b"short").unwrap();
    let record = fixture.run(&phase(Action::Read, 40, 4096));
    assert_eq!(record.operations[0].count, 38);
    let expected = BTreeMap::from([("ENOENT".into(), 1), ("SHORT_READ".into(), 1)]);
    assert_eq!(record.operations[0].errors, expected);
}

#[test]
fn overwriting_keeps_the_rest_of_the_file_and_creating_truncates_it() {
    let write = create(&phase(Action::Write, 1, 4096));
    let fixture = Fixture::new(&write);
    fixture.run(&write);
    let path = fixture.path(&write, 0);
    fs::write(&path, vec![0; 6000]).unwrap();
    fixture.run(&phase(Action::Write, 1, 4096));
    assert_eq!(fs::metadata(&path).unwrap().len(), 6000);
    fixture.run(&write);
    assert_eq!(fs::metadata(&path).unwrap().len(), 4096);
}

#[test]
fn deleting_leaves_no_file() {
    let write = create(&phase(Action::Write, 33, 10));
    let fixture = Fixture::new(&write);
    fixture.run(&write);
    let record = fixture.run(&PhasePlan { threads: 3, ..phase(Action::Delete, 33, 10) });
    assert_eq!((record.operations[0].operation, record.operations[0].count), ("delete", 33));
    assert!((0..33).all(|index| !fixture.path(&write, index).exists()));
}

#[test]
fn each_form_of_access_opens_with_its_one_flag() {
    let write = create(&phase(Action::Write, 1, 4096));
    let fixture = Fixture::new(&write);
    fixture.run(&write);
    // O_SYNC holds O_DSYNC's bit too (open(2)).
    let forms =
        [(Access::Default, 0), (Access::Direct, libc::O_DIRECT), (Access::Sync, libc::O_SYNC)];
    for (access, flag) in forms {
        let opening = Opening { write: true, create: false, access };
        let Ok(file) = fixture.backend.open(0, opening) else {
            assert_eq!(access, Access::Direct, "only O_DIRECT may be missing (old tmpfs)");
            eprintln!("SKIPPED for {access:?}: the temporary directory has no O_DIRECT");
            continue;
        };
        // SAFETY: the descriptor is open.
        let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
        assert_eq!(flags & (libc::O_DIRECT | libc::O_SYNC), flag, "{access:?}");
    }
}

#[test]
fn accesses_of_more_files_than_the_soft_limit_are_opened_all_the_same() {
    let write = create(&phase(Action::Write, 1500, 64));
    let fixture = Fixture::new(&write);
    fixture.run(&write);
    let record = fixture.run(&PhasePlan { item: Item::Access, ..phase(Action::Read, 1500, 64) });
    assert_eq!((record.operations[0].count, operation(&record, "open").failed), (1500, 0));
}
