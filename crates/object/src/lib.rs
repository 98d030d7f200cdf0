//! Wavetank's S3 and Swift client: what a load engine measures with and a mount is built on.
//!
//! [`ObjectClient`] is one connection with one request in flight; as many as are wanted stand side
//! by side ([`Pool`]). [`s3`] and [`swift`] are its real forms, [`Memory`] holds everything in this
//! process, [`Failing`] breaks another on purpose; [`Retrying`] repeats what is safe to repeat.
//! All of them pass one conformance suite (`tests/conformance`).
//!
//! What always holds: every wait has a deadline; every answer carries its timing (connect, first
//! byte, last byte) and how often it was repeated; every error is one sentence; no credential is in
//! any `Debug`, error or record; nothing that a server sends can make this crate panic.

mod body;
mod client;
mod connecting;
pub mod credentials;
pub mod encoding;
mod error;
mod failing;
mod memory;
mod pool;
mod retrying;
pub mod s3;
mod secret;
pub mod swift;
pub mod time;
pub mod wire;

pub use body::{Body, Pieces, Sink};
pub use bytes::Bytes;
pub use client::{
    Answer, ByteRange, Found, ListRequest, Listed, ObjectClient, Outcome, Page, Part, Stored,
    Timing, Upload,
};
pub use connecting::{
    connect, connect_with, AuthName, LargeName, Protocol, Settings, Store, StyleName,
};
pub use error::{Error, ErrorKind, Performed};
pub use failing::{Failing, Fault, Operation};
pub use memory::{Memory, MemoryStore};
pub use pool::{Pool, Taken};
pub use retrying::{RetryPolicy, Retrying};
pub use secret::Secret;
