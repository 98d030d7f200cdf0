//! What the engine can work on. A backend does single operations and knows nothing of threads,
//! time or counting; a new one is a file here and an arm in `main`.

mod null;
mod posix;

pub use null::Null;
pub use posix::Posix;

use crate::failure::{Failure, SetupError};
use crate::job::{Access, Action};
use crate::plan::PhasePlan;

/// How a phase opens files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    /// For writing; else for reading.
    pub write: bool,
    /// Create or truncate.
    pub create: bool,
    /// Form of access.
    pub access: Access,
}

impl From<&PhasePlan> for Opening {
    fn from(phase: &PhasePlan) -> Self {
        Self { write: phase.action == Action::Write, create: phase.create, access: phase.access }
    }
}

/// Operations on files named by index. All are called from several threads at once.
pub trait Backend: Sync {
    /// An open file.
    type File: Send + Sync;

    /// Name in the record.
    fn name(&self) -> &'static str;

    /// Everything a phase needs that is not measured, such as directories.
    fn prepare(&self, phase: &PhasePlan) -> Result<(), SetupError>;

    /// Opens file `index`.
    fn open(&self, index: u64, opening: Opening) -> Result<Self::File, Failure>;

    /// Writes all of `bytes` at `offset`.
    fn write_at(&self, file: &Self::File, bytes: &[u8], offset: u64) -> Result<(), Failure>;

    /// Fills all of `bytes` from `offset`.
    fn read_at(&self, file: &Self::File, bytes: &mut [u8], offset: u64) -> Result<(), Failure>;

    /// Makes what was written durable.
    fn sync(&self, file: &Self::File) -> Result<(), Failure>;

    /// Closes, and says so if that failed.
    fn close(&self, file: Self::File) -> Result<(), Failure>;

    /// Removes file `index`.
    fn delete(&self, index: u64) -> Result<(), Failure>;
}
