//! The job file, schema 1: what the user of the engine writes, exactly as it is written.
//!
//! Owns names, defaults and JSON form; `plan` owns what the values mean together. Unknown fields
//! are refused, so that a misspelt setting never passes for its default. A worked example, which
//! writes 1000 files of 4 KiB and reads them back, comparing every byte:
//!
//! ```json
//! {"schema": 1, "backend": "posix", "root": "/mnt/a", "seed": 7,
//!  "set": {"files": 1000, "file_size_bytes": 4096, "files_per_directory": 4096},
//!  "phases": [
//!    {"name": "fill", "action": "write", "create": true, "fsync": true},
//!    {"name": "measure", "action": "read", "item": "file", "access": "direct",
//!     "unit_bytes": 4096, "order": "random", "threads": 8, "duration_ns": 90000000000,
//!     "verify": true, "timing": "call"}]}
//! ```
//!
//! A job whose `backend` is `object` works on S3 or Swift and has a form of its own:
//! `object::job` documents it, with an example.

use serde::Deserialize;

/// The schema version this engine reads and writes.
pub const SCHEMA_VERSION: u32 = 1;

/// A job: phases over one set of files, done one after the other.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Must be [`SCHEMA_VERSION`].
    pub schema: u32,
    /// Where the operations go.
    pub backend: BackendName,
    /// Directory the set lives in; not used by the null backend.
    #[serde(default)]
    pub root: String,
    /// Decides content and random order.
    pub seed: u64,
    /// The files.
    pub set: Set,
    /// What to do with them, in order.
    pub phases: Vec<Phase>,
}

/// The backends a job can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BackendName {
    /// Files of a mounted file system.
    Posix,
    /// Nothing at all: the engine's own ceiling.
    Null,
}

/// File i is `root/dDDDDD/fFFFFFF`, D = i / `files_per_directory`, F = i (both zero-padded).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// How many files.
    pub files: u64,
    /// Size of each.
    pub file_size_bytes: u64,
    /// At most this many in one directory.
    #[serde(default = "default_files_per_directory")]
    pub files_per_directory: u64,
}

/// One phase as written.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Name in the record.
    pub name: String,
    /// What is done to each item.
    pub action: Action,
    /// What one item is.
    #[serde(default)]
    pub item: Item,
    /// How files are opened.
    #[serde(default)]
    pub access: Access,
    /// Bytes per read or write call; none means the whole file at once.
    #[serde(default)]
    pub unit_bytes: Option<u64>,
    /// In which order items are taken.
    #[serde(default)]
    pub order: Order,
    /// Workers sharing the set.
    #[serde(default = "default_threads")]
    pub threads: u64,
    /// No item starts later than this after the start.
    #[serde(default)]
    pub duration_ns: Option<u64>,
    /// At most this many items.
    #[serde(default)]
    pub max_items: Option<u64>,
    /// Create or truncate files instead of overwriting them in place.
    #[serde(default)]
    pub create: bool,
    /// fsync each file before it is closed.
    #[serde(default)]
    pub fsync: bool,
    /// Open loop: item k is due k / rate after the start, whatever the others do.
    #[serde(default)]
    pub rate_per_s: Option<f64>,
    /// Compare what was read with the seeded content.
    #[serde(default)]
    pub verify: bool,
    /// Latency of items only, or of each call too.
    #[serde(default)]
    pub timing: Timing,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Write seeded content.
    Write,
    /// Read.
    Read,
    /// Unlink (items are files).
    Delete,
}

/// What one item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Item {
    /// Open, all units, fsync if asked, close.
    #[default]
    File,
    /// One read or write of one unit in a file that is open before the clock starts.
    Access,
}

/// Form of access (Hwang 2014, table 4.1: one flag each, never both).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// No flag.
    #[default]
    Default,
    /// `O_DIRECT`.
    Direct,
    /// `O_SYNC`.
    Sync,
}

/// Order of items: files for item `file`, units of all files for item `access`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// By index.
    #[default]
    Sequential,
    /// A seeded permutation: each item once.
    Random,
}

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Timing {
    /// One clock reading per item.
    #[default]
    Item,
    /// One clock reading per call as well.
    Call,
}

fn default_files_per_directory() -> u64 {
    4096
}

fn default_threads() -> u64 {
    1
}
