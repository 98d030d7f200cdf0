//! The object job, schema 1: a job whose `backend` is `object`. Credentials never stand in it
//! (`wavetank_object::credentials` says where they come from).
//!
//! ```json
//! {"schema": 1, "backend": "object", "seed": 7,
//!  "object": {"protocol": "s3", "endpoint": "http://10.0.2.2:9050", "container": "bench",
//!             "region": "us-east-1", "style": "path", "prefix": "run-1/",
//!             "create_container": true, "fresh": true},
//!  "set": {"objects": 1000, "object_size_bytes": 4096},
//!  "phases": [
//!    {"name": "fill", "action": "put", "threads": 8},
//!    {"name": "measure", "action": "get", "order": "random", "threads": 8, "repeat": true,
//!     "duration_ns": 10000000000, "verify": true},
//!    {"name": "mixed", "action": "mix", "mix": {"get": 70, "put": 20, "delete": 10},
//!     "threads": 8, "rate_per_s": 100.0, "max_items": 500},
//!    {"name": "list", "action": "list", "page_limit": 100, "max_items": 10},
//!    {"name": "parts", "action": "put", "part_bytes": 8388608, "part_threads": 4},
//!    {"name": "clean", "action": "delete"}]}
//! ```
//!
//! `"local": {"directory": "/mnt/client", "files": 64}` in a phase that puts or gets: each object is
//! read from a file of the client's before it is put, or written to one after it was got
//! ([`super::local`]).
//!
//! `part_bytes` moves each object in parts, `part_threads` at once: multipart uploads (Swift:
//! segments) for put, ranges for get; for delete it says that segments are to go too.

use std::collections::BTreeMap;

use serde::Deserialize;
use wavetank_object::Settings;

use super::local::Local;
use crate::job::Order;

/// A job on objects.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectJob {
    /// Must be [`crate::job::SCHEMA_VERSION`].
    pub schema: u32,
    /// `object`.
    pub backend: String,
    /// Decides content and random order.
    pub seed: u64,
    /// The store.
    pub object: serde_json::Map<String, serde_json::Value>,
    /// The objects.
    pub set: ObjectSet,
    /// What to do with them, in order.
    pub phases: Vec<ObjectPhase>,
}

/// Where in the store; the job's `object` is these fields and those of [`Settings`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// All keys begin with this; ends with `/`.
    pub prefix: String,
    /// Make the bucket or container first.
    #[serde(default)]
    pub create_container: bool,
    /// Refuse to begin where anything is under the prefix.
    #[serde(default)]
    pub fresh: bool,
    /// Before that, remove what killed runs of `wavetank bench` left there ([`super::leftovers`]).
    #[serde(default)]
    pub clear: bool,
}

const PLACE_FIELDS: [&str; 4] = ["prefix", "create_container", "fresh", "clear"];

impl ObjectJob {
    /// Splits the job's `object`.
    pub fn store(&self) -> Result<(Settings, Place), serde_json::Error> {
        let (place, settings) = self
            .object
            .clone()
            .into_iter()
            .partition::<serde_json::Map<_, _>, _>(|(name, _)| PLACE_FIELDS.contains(&&**name));
        Ok((serde_json::from_value(settings.into())?, serde_json::from_value(place.into())?))
    }
}

/// How many objects, of what size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectSet {
    /// How many.
    pub objects: u64,
    /// Size of each.
    pub object_size_bytes: u64,
}

/// What is done to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Request {
    /// Write it.
    Put,
    /// Read it.
    Get,
    /// Ask for its size.
    Head,
    /// Remove it.
    Delete,
    /// One page of the prefix.
    List,
}

/// All requests, in the record's order.
pub const REQUESTS: [Request; 5] =
    [Request::Put, Request::Get, Request::Head, Request::Delete, Request::List];

impl Request {
    /// Name in the record.
    pub fn name(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Get => "get",
            Self::Head => "head",
            Self::Delete => "delete",
            Self::List => "list",
        }
    }
}

/// What a phase does: one request, or a mix of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum ObjectAction {
    Put,
    Get,
    Head,
    Delete,
    List,
    /// By the weights of `mix`.
    Mix,
}

/// One phase as written.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectPhase {
    /// Name in the record.
    pub name: String,
    /// What is done to each object.
    pub action: ObjectAction,
    /// Weights of a mix.
    #[serde(default)]
    pub mix: BTreeMap<Request, u64>,
    /// In which order objects are taken.
    #[serde(default)]
    pub order: Order,
    /// Workers, each with a connection.
    #[serde(default = "one")]
    pub threads: u64,
    /// No item starts later than this after the start.
    #[serde(default)]
    pub duration_ns: Option<u64>,
    /// At most this many items.
    #[serde(default)]
    pub max_items: Option<u64>,
    /// Begin the set again when it is through; needs `duration_ns` or `max_items`.
    #[serde(default)]
    pub repeat: bool,
    /// Open loop: item k is due k / rate after the start.
    #[serde(default)]
    pub rate_per_s: Option<f64>,
    /// Compare what was read with the seeded content.
    #[serde(default)]
    pub verify: bool,
    /// Move objects in parts of this size.
    #[serde(default)]
    pub part_bytes: Option<u64>,
    /// Parts of one object at once.
    #[serde(default = "one")]
    pub part_threads: u64,
    /// Entries of a page.
    #[serde(default)]
    pub page_limit: Option<u32>,
    /// Where the client keeps what it puts or gets; without it, in memory.
    #[serde(default)]
    pub local: Option<Local>,
    /// Begin with connections that are not open yet.
    #[serde(default)]
    pub new_connections: bool,
}

fn one() -> u64 {
    1
}
