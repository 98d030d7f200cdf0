//! Wavetank's load engine: one job in, operations on a storage system, one record per phase out.
//!
//! `job` is what the user wrote, `plan` what is to be done, `run` does a phase with `worker`s on a
//! `backend`, `record` is what comes out. Clock and backend come in as parameters, so that every
//! rule (duration, pace, failures) is tested without a disk and without waiting.
//!
//! The loop of `worker` makes no system call but the operation's own and one clock reading per
//! item, and allocates nothing: inside the guest each system call costs 26 µs of wall time.

pub mod backend;
pub mod buffer;
pub mod ceiling;
pub mod clock;
pub mod content;
pub mod failure;
pub mod fileset;
pub mod gate;
pub mod job;
pub mod latency;
pub mod object;
pub mod output;
pub mod pace;
pub mod permutation;
pub mod plan;
pub mod record;
pub mod run;
pub mod series;
pub mod tally;
pub mod usage;
pub mod worker;
