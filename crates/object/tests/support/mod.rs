//! The conformance suite and the servers it runs against.

#![allow(dead_code, missing_docs)]

pub mod conformance;
pub mod fake;
pub mod servers;
