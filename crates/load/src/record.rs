//! What comes out: one JSON line per phase, schema 1, read by `wavetank.runs.records.PhaseRecord`.
//!
//! `operations[0]` is the primary operation (write, read or delete; an item each). The others are
//! `create` or `open`, `transfer`, `fsync`, `close`, where they were timed. On objects the primary
//! one is `put`, `get`, `head`, `delete`, `list` or `mix`; a mix is followed by its kinds, parts by
//! `part`, and all by `connect`, `first_byte` and `last_byte` of each HTTP request (of a repeated
//! one, its last attempt); `retries` counts repeats. A worked example:
//!
//! ```json
//! {"schema":1,"phase":"measure","backend":"posix","threads":1,"elapsed_ns":2000000,
//!  "busy_until_ns":2000000,"ended_by":"set","cut_off":0,"cut_off_bytes":0,"rate_per_s":null,"operations":[
//!  {"operation":"read","count":2,"failed":1,"bytes":8192,"errors":{"EIO":1},
//!   "latency_histogram":"HISTFAAA...","latency_ns_max":900000}],
//!  "series":{"bin_ns":1000000,"operations":[1,1],"bytes":[4096,4096]},
//!  "verification":null,"user_cpu_ns":120000,"system_cpu_ns":400000}
//! ```

use std::collections::BTreeMap;

use serde::Serialize;

/// One phase.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PhaseRecord {
    /// Schema version.
    pub schema: u32,
    /// Name from the job.
    pub phase: String,
    /// Backend's name.
    pub backend: &'static str,
    /// Workers.
    pub threads: usize,
    /// From the start to the duration's end, or to the end of the last item.
    pub elapsed_ns: u64,
    /// When the first worker found no more work; `elapsed_ns` when the duration ended the phase.
    pub busy_until_ns: u64,
    /// What ended it.
    pub ended_by: EndedBy,
    /// Items in flight when the duration ended: completed, but counted nowhere else.
    pub cut_off: u64,
    /// What they moved all the same: it crossed the link, and belongs to no rate.
    pub cut_off_bytes: u64,
    /// The open loop's rate, if it was one.
    pub rate_per_s: Option<f64>,
    /// By kind, the primary one first.
    pub operations: Vec<OperationRecord>,
    /// The primary operation over time.
    pub series: SeriesRecord,
    /// Content compared, if asked.
    pub verification: Option<Verification>,
    /// CPU in user mode, all threads.
    pub user_cpu_ns: u64,
    /// CPU in the kernel, all threads.
    pub system_cpu_ns: u64,
    /// Requests to an object store that were repeated; other backends repeat nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<u64>,
}

/// What ended a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EndedBy {
    /// No items were left.
    Set,
    /// Time was up.
    Duration,
}

/// One kind of operation. Failed ones are in `failed` and `errors` only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OperationRecord {
    /// Its name.
    pub operation: &'static str,
    /// How many succeeded.
    pub count: u64,
    /// How many failed.
    pub failed: u64,
    /// Bytes moved by those that succeeded.
    pub bytes: u64,
    /// Failures by errno name.
    pub errors: BTreeMap<String, u64>,
    /// HdrHistogram V2 + DEFLATE, base64, in ns.
    pub latency_histogram: String,
    /// The longest, exact.
    pub latency_ns_max: u64,
}

/// Completions per bin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SeriesRecord {
    /// Width of a bin.
    pub bin_ns: u64,
    /// Operations per bin.
    pub operations: Vec<u64>,
    /// Bytes per bin.
    pub bytes: Vec<u64>,
}

/// What reading back found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Bytes compared.
    pub checked_bytes: u64,
    /// Items whose content was wrong.
    pub mismatched_operations: u64,
}
