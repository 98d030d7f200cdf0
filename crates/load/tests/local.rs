//! The client's own storage: what is put is read from it, what is got is written there.

#![allow(missing_docs)]

#[allow(dead_code)]
#[path = "../../object/tests/support/fake.rs"]
mod fake;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use fake::{reply, Fake, Say, Seen};
use serde_json::{json, Value};

type Objects = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

const SIZE: usize = 5000;

fn answer(objects: &Objects, seen: &Seen) -> Say {
    let mut objects = objects.lock().unwrap();
    let mut words = seen.line.split(' ');
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    match (method, target.strip_prefix("/bucket/run/")) {
        ("PUT", Some(key)) => {
            objects.insert(key.to_owned(), seen.body.clone());
            reply(200, &[], "")
        }
        ("GET", Some(key)) if objects.contains_key(key) => {
            let len = objects[key].len();
            let mut raw = format!("HTTP/1.1 200 X\r\ncontent-length: {len}\r\n\r\n").into_bytes();
            raw.extend_from_slice(&objects[key]);
            Say::Raw(raw)
        }
        ("GET", None) => reply(200, &[], "<ListBucketResult></ListBucketResult>"),
        _ => reply(404, &[], "<Error><Code>NoSuchKey</Code></Error>"),
    }
}

struct Bench {
    objects: Objects,
    server: Fake,
    directory: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let objects = Objects::default();
        let shared = Arc::clone(&objects);
        let server = Fake::start(move |seen, _| answer(&shared, seen));
        let bench = Self { objects, server, directory: tempfile::tempdir().unwrap() };
        fs::create_dir(bench.client()).unwrap();
        bench
    }

    fn client(&self) -> PathBuf {
        self.directory.path().join("client")
    }

    fn run(&self, phase: &Value) -> Output {
        let job = json!({
            "schema": 1, "backend": "object", "seed": 7,
            "object": {
                "protocol": "s3", "endpoint": format!("http://127.0.0.1:{}", self.server.port),
                "container": "bucket", "prefix": "run/", "retries": 0,
            },
            "set": {"objects": 6, "object_size_bytes": SIZE},
            "phases": [phase],
        });
        let path = self.directory.path().join("job.json");
        fs::write(&path, job.to_string()).unwrap();
        Command::new(env!("CARGO_BIN_EXE_wavetank-load"))
            .args([path.to_str().unwrap(), "--output", "-"])
            .env("AWS_ACCESS_KEY_ID", "anaccesskey")
            .env("AWS_SECRET_ACCESS_KEY", "averysecretkey")
            .output()
            .unwrap()
    }

    fn operations(&self, phase: &Value) -> BTreeMap<String, Value> {
        let output = self.run(phase);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let record: Value = serde_json::from_slice(&output.stdout).unwrap();
        let all = record["operations"].as_array().unwrap();
        all.iter().map(|one| (one["operation"].as_str().unwrap().into(), one.clone())).collect()
    }

    fn local(&self, files: u64) -> Value {
        json!({"directory": self.client(), "files": files})
    }
}

fn file(index: u8) -> Vec<u8> {
    vec![index; SIZE]
}

#[test]
fn what_is_put_is_what_the_clients_file_holds() {
    let bench = Bench::new();
    for index in 0..6 {
        fs::write(bench.client().join(format!("{index:08}")), file(index)).unwrap();
    }
    let phase = json!({"name": "p", "action": "put", "threads": 2, "local": bench.local(6)});
    let found = bench.operations(&phase);
    assert_eq!((&found["put"]["count"], &found["put"]["failed"]), (&json!(6), &json!(0)));
    assert_eq!(found["local"]["bytes"], 6 * SIZE);
    let objects = bench.objects.lock().unwrap();
    assert_eq!(objects["00000004"], file(4));
}

#[test]
fn what_is_got_is_written_to_the_clients_files_in_turn() {
    let bench = Bench::new();
    for index in 0..6 {
        bench.objects.lock().unwrap().insert(format!("{index:08}"), file(index));
    }
    let phase = json!({"name": "g", "action": "get", "local": bench.local(4)});
    let found = bench.operations(&phase);
    assert_eq!((&found["get"]["count"], &found["local"]["count"]), (&json!(6), &json!(6)));
    let mut names: Vec<_> = fs::read_dir(bench.client())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["00000000", "00000001", "00000002", "00000003"]);
    // Items 4 and 5 took the first two names again.
    let read = |index: u8| fs::read(bench.client().join(format!("{index:08}"))).unwrap();
    assert_eq!([read(0), read(1), read(2)], [file(4), file(5), file(2)]);
}

#[test]
fn a_file_that_is_not_there_or_too_short_is_counted_by_name_and_nothing_is_put() {
    let bench = Bench::new();
    fs::write(bench.client().join("00000000"), b"short").unwrap();
    let phase = json!({"name": "p", "action": "put", "max_items": 2, "local": bench.local(6)});
    let found = bench.operations(&phase);
    assert_eq!(found["put"]["errors"], json!({"ENOENT": 1, "SHORT_READ": 1}));
    assert_eq!(found["last_byte"]["count"], 0);
    assert!(bench.objects.lock().unwrap().is_empty());
}

#[test]
fn storage_that_is_not_there_and_requests_without_content_are_refused() {
    let bench = Bench::new();
    for (phase, why) in [
        (json!({"name": "h", "action": "head", "local": bench.local(1)}), "put and get only"),
        (json!({"name": "g", "action": "get", "local": bench.local(0)}), "at least 1"),
        (
            json!({"name": "g", "action": "get", "local": {"directory": "/no/such", "files": 1}}),
            "is no directory",
        ),
    ] {
        let output = bench.run(&phase);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(why), "{output:?}");
    }
}
