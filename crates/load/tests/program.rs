//! The program as its users run it: arguments, exit codes, the output file, Python's reading of it.

#![allow(missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank-load");

fn run(arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).output().unwrap()
}

/// Writes `job` with `ROOT` replaced and runs it, output to `records` in the same directory.
fn run_job(directory: &Path, job: &str) -> (Output, PathBuf) {
    let path = directory.join("job.json");
    fs::write(&path, job.replace("ROOT", directory.join("set").to_str().unwrap())).unwrap();
    let records = directory.join("records");
    let output = run(&[path.to_str().unwrap(), "--output", records.to_str().unwrap()]);
    (output, records)
}

const JOB: &str = r#"{"schema":1,"backend":"posix","root":"ROOT","seed":7,
    "set":{"files":50,"file_size_bytes":10000,"files_per_directory":16},
    "phases":[
      {"name":"fill","action":"write","create":true,"unit_bytes":4096},
      {"name":"measure","action":"read","threads":4,"order":"random","verify":true,"timing":"call"},
      {"name":"absent","action":"read","item":"access","unit_bytes":512,"access":"sync"},
      {"name":"clean","action":"delete"}]}"#;

fn assert_fails(output: &Output, code: i32, why: &str) {
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{message}");
    assert!(message.contains(why), "{message}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_job_appends_one_line_per_phase() {
    let directory = tempfile::tempdir().unwrap();
    for lines in [4, 8] {
        let (output, records) = run_job(directory.path(), JOB);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = fs::read_to_string(records).unwrap();
        assert_eq!(text.lines().count(), lines);
        for (line, name) in text.lines().zip(["fill", "measure", "absent", "clean"]) {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(record["phase"], name);
            assert_eq!(record["operations"][0]["failed"], 0);
        }
    }
}

#[test]
fn a_bad_job_is_one_sentence_and_exit_code_2() {
    let directory = tempfile::tempdir().unwrap();
    for (from, to, why) in [
        ("\"threads\":4", "\"thread\":4", "unknown field `thread`"),
        ("\"threads\":4", "\"threads\":0", "phase \"measure\": threads must be 1 to 1024"),
        ("\"access\":\"sync\"", "\"access\":\"direct\"", "multiple of 4096 bytes, not 10000"),
        ("\"schema\":1", "\"schema\":9", "job schema 9"),
    ] {
        let (output, records) = run_job(directory.path(), &JOB.replace(from, to));
        assert_fails(&output, 2, why);
        assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1);
        assert!(!records.exists());
    }
    assert_fails(&run(&["/nonexistent.json", "--output", "-"]), 2, "cannot read job");
    assert_fails(&run(&["--what"]), 2, "usage");
}

#[test]
fn a_root_that_cannot_be_used_is_exit_code_3() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("set"), b"a file").unwrap();
    let (output, _) = run_job(directory.path(), JOB);
    assert_fails(&output, 3, "the root");
}

#[test]
fn the_ceiling_is_a_number_in_json() {
    let output = run(&["ceiling"]);
    let ceiling: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(ceiling["operations_per_s"].as_f64().unwrap() > 1000.0);
}

#[test]
fn the_version_is_told() {
    let output = run(&["--version"]);
    let version = format!("wavetank-load {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(String::from_utf8_lossy(&output.stdout), version);
}

/// Reads the records with the project's own decoder and Python's `hdrh`. Set `WAVETANK_PYTHON` to
/// a Python that has both (the tests' environment has), else the test says that it did nothing.
#[test]
fn python_reads_the_records_and_their_histograms() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = std::env::var_os("WAVETANK_PYTHON")
        .map_or_else(|| repository.join(".venv/bin/python"), PathBuf::from);
    let has_both = Command::new(&python).args(["-c", "import hdrh, msgspec"]).output();
    if !has_both.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: {} has no hdrhistogram and msgspec", python.display());
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let (_, records) = run_job(directory.path(), JOB);
    let output = Command::new(&python)
        .arg(repository.join("crates/load/tests/read_records.py"))
        .arg(&records)
        .env("PYTHONPATH", repository.join("src"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "4 records");
}
