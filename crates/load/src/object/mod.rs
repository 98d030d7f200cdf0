//! Native load on S3 and Swift: the same rules of phases, pace and records as for files, on a
//! cut of its own, because an object is one request and not an open, some units and a close.
//!
//! Each worker has one connection (with parts: one for each part in flight), kept from phase to
//! phase. Names are `PREFIX` and the object's index; a mix writes under `PREFIX` and `m`, and what
//! it left there is removed when its phase is over. Nothing else is ever removed.

pub mod job;
pub mod leftovers;
pub mod local;
pub mod plan;
pub mod run;
mod transfer;
mod worker;
