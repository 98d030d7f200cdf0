//! Native load against an S3 server of a few lines: counts, names, verification, what is removed.

#![allow(missing_docs)]

#[allow(dead_code)]
#[path = "../../object/tests/support/fake.rs"]
mod fake;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use fake::{reply, Fake, Say, Seen};
use serde_json::{json, Value};

const SECRET: &str = "averysecretkey";

type Objects = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

fn answer(objects: &Objects, seen: &Seen) -> Say {
    let mut objects = objects.lock().unwrap();
    let mut words = seen.line.split(' ');
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let key = target.strip_prefix("/bucket/").unwrap_or("");
    match method {
        "GET" if target.starts_with("/bucket?") => {
            let entry = |(key, body): (&String, &Vec<u8>)| {
                let size = body.len();
                format!("<Contents><Key>{key}</Key><Size>{size}</Size></Contents>")
            };
            let all: String = objects.iter().map(entry).collect();
            reply(200, &[], &format!("<ListBucketResult>{all}</ListBucketResult>"))
        }
        "PUT" => {
            objects.insert(key.to_owned(), seen.body.clone());
            reply(200, &[], "")
        }
        "DELETE" => {
            objects.remove(key);
            reply(204, &[], "")
        }
        _ => match objects.get(key) {
            None => reply(404, &[], "<Error><Code>NoSuchKey</Code></Error>"),
            Some(body) => {
                let (status, body) = match seen.header("range") {
                    None => (200, &body[..]),
                    Some(range) => {
                        let (from, to) = range[6..].split_once('-').unwrap();
                        (206, &body[from.parse().unwrap()..=to.parse::<usize>().unwrap()])
                    }
                };
                let len = body.len();
                let mut raw =
                    format!("HTTP/1.1 {status} X\r\ncontent-length: {len}\r\n\r\n").into_bytes();
                if method == "GET" {
                    raw.extend_from_slice(body);
                }
                Say::Raw(raw)
            }
        },
    }
}

struct Bench {
    objects: Objects,
    server: Fake,
    directory: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self::meeting(1)
    }

    /// The first PUTs wait for each other, so that every one of `threads` must send one of them: a
    /// thread that starts late would else find nothing left to do.
    fn meeting(threads: usize) -> Self {
        let objects = Objects::default();
        let shared = Arc::clone(&objects);
        let (came, all_there) = (AtomicUsize::new(0), Barrier::new(threads));
        let server = Fake::start(move |seen, _| {
            if seen.line.starts_with("PUT ") && came.fetch_add(1, Ordering::Relaxed) < threads {
                all_there.wait();
            }
            answer(&shared, seen)
        });
        Self { objects, server, directory: tempfile::tempdir().unwrap() }
    }

    fn job(&self, phases: &Value) -> Value {
        json!({
            "schema": 1, "backend": "object", "seed": 7,
            "object": {
                "protocol": "s3", "endpoint": format!("http://127.0.0.1:{}", self.server.port),
                "container": "bucket", "prefix": "run/", "retries": 0,
            },
            "set": {"objects": 20, "object_size_bytes": 10000},
            "phases": phases,
        })
    }

    fn run(&self, job: &Value) -> (Output, Vec<Value>) {
        let path = self.directory.path().join("job.json");
        fs::write(&path, job.to_string()).unwrap();
        let output = program(&path);
        let text = String::from_utf8_lossy(&output.stdout);
        let records = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (output, records)
    }

    fn records(&self, phases: &Value) -> Vec<Value> {
        let (output, records) = self.run(&self.job(phases));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        records
    }
}

fn program(job: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wavetank-load"))
        .args([job.to_str().unwrap(), "--output", "-"])
        .env("AWS_ACCESS_KEY_ID", "anaccesskey")
        .env("AWS_SECRET_ACCESS_KEY", SECRET)
        .output()
        .unwrap()
}

fn count(record: &Value, name: &str) -> u64 {
    let all = record["operations"].as_array().unwrap();
    let one = all.iter().find(|one| one["operation"] == name);
    one.unwrap_or_else(|| panic!("no {name}"))["count"].as_u64().unwrap()
}

#[test]
fn objects_are_written_read_back_byte_by_byte_listed_and_removed() {
    let bench = Bench::meeting(4);
    bench.objects.lock().unwrap().insert("other".into(), vec![1]);
    let records = bench.records(&json!([
        {"name": "fill", "action": "put", "threads": 4},
        {"name": "read", "action": "get", "threads": 4, "order": "random", "verify": true},
        {"name": "parts", "action": "get", "part_bytes": 3000, "part_threads": 3, "verify": true},
        {"name": "ask", "action": "head", "max_items": 5},
        {"name": "list", "action": "list", "max_items": 2},
        {"name": "again", "action": "get", "repeat": true, "max_items": 50},
        {"name": "clean", "action": "delete"},
    ]));
    let primary: Vec<u64> =
        records.iter().map(|r| r["operations"][0]["count"].as_u64().unwrap()).collect();
    assert_eq!(primary, [20, 20, 20, 5, 2, 50, 20]);
    for record in &records {
        assert_eq!(record["operations"][0]["failed"], 0);
        assert_eq!(record["retries"], 0);
    }
    assert_eq!(count(&records[0], "connect"), 4);
    assert_eq!(count(&records[1], "connect"), 0);
    assert_eq!(records[1]["verification"]["checked_bytes"], 200_000);
    assert_eq!(count(&records[2], "part"), 80);
    assert_eq!(records[2]["operations"][0]["bytes"], 200_000);
    assert_eq!(bench.objects.lock().unwrap().keys().collect::<Vec<_>>(), ["other"]);
}

#[test]
fn wrong_content_and_absent_objects_are_counted_by_name() {
    let bench = Bench::new();
    bench.records(&json!([{"name": "fill", "action": "put"}]));
    {
        let mut objects = bench.objects.lock().unwrap();
        objects.get_mut("run/00000003").unwrap()[9999] ^= 1;
        objects.get_mut("run/00000004").unwrap().pop();
        objects.remove("run/00000005");
    }
    let read = bench.records(&json!([{"name": "read", "action": "get", "verify": true}]));
    let primary = &read[0]["operations"][0];
    assert_eq!((&primary["count"], &primary["failed"]), (&json!(17), &json!(3)));
    assert_eq!(primary["errors"], json!({"MISMATCH": 1, "SHORT_READ": 1, "NOT_FOUND": 1}));
    assert_eq!(read[0]["verification"]["mismatched_operations"], 1);
}

#[test]
fn a_mix_does_what_its_weights_say_and_leaves_the_set_as_it_was() {
    let bench = Bench::new();
    let records = bench.records(&json!([
        {"name": "fill", "action": "put"},
        {"name": "mix", "action": "mix", "mix": {"get": 60, "put": 30, "delete": 10},
         "threads": 3, "repeat": true, "max_items": 1000, "rate_per_s": 2000.0},
    ]));
    let (got, put, deleted) =
        (count(&records[1], "get"), count(&records[1], "put"), count(&records[1], "delete"));
    assert_eq!(got + put + deleted, 1000);
    assert!((540..660).contains(&got) && (240..370).contains(&put), "{got} {put} {deleted}");
    assert_eq!(bench.objects.lock().unwrap().len(), 20);
    assert!(records[1]["elapsed_ns"].as_u64().unwrap() >= 499_500_000);
}

#[test]
fn jobs_that_make_no_sense_are_one_sentence_and_exit_code_2() {
    let bench = Bench::new();
    let good = bench.job(&json!([{"name": "p", "action": "put"}]));
    for (pointer, value, why) in [
        ("/object/prefix", json!(""), "prefix must name a place"),
        ("/object/secret_key", json!("x"), "unknown field `secret_key`"),
        ("/set/objects", json!(0), "set.objects"),
        ("/phases/0/threads", json!(2000), "1 to 1024"),
        ("/phases/0/repeat", json!(true), "never end"),
        ("/phases/0/verify", json!(true), "verify goes with get"),
        ("/phases/0/mix", json!({"get": 1}), "mix goes with action mix"),
        ("/phases/0/part_bytes", json!(5000), "at least 5242880"),
        ("/phases/0/part_threads", json!(2), "part_threads goes with"),
        ("/object/endpoint", json!("http://a:b@c"), "no password"),
    ] {
        let mut job = good.clone();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        job.pointer_mut(parent).unwrap()[name] = value;
        let (output, _) = bench.run(&job);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{pointer}: {message}");
        assert!(message.contains(why) && message.lines().count() == 1, "{pointer}: {message}");
    }
}

#[test]
fn what_the_engine_prints_holds_no_credential_and_a_used_prefix_is_refused() {
    let bench = Bench::new();
    bench.objects.lock().unwrap().insert("run/1".into(), vec![1]);
    let mut job = bench.job(&json!([{"name": "read", "action": "get"}]));
    let (output, _) = bench.run(&job);
    for bytes in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains(SECRET) && !text.contains("anaccesskey"), "{text}");
    }
    job["object"]["fresh"] = json!(true);
    let (output, _) = bench.run(&job);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("Try: another prefix"));
}
