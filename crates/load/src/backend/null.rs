//! The backend that does nothing: what is measured with it is the engine itself.

use super::{Backend, Opening};
use crate::failure::{Failure, SetupError};
use crate::plan::PhasePlan;

/// Every operation succeeds at once.
#[derive(Debug, Clone, Copy, Default)]
pub struct Null;

impl Backend for Null {
    type File = ();

    fn name(&self) -> &'static str {
        "null"
    }

    fn prepare(&self, _phase: &PhasePlan) -> Result<(), SetupError> {
        Ok(())
    }

    fn open(&self, _index: u64, _opening: Opening) -> Result<(), Failure> {
        Ok(())
    }

    fn write_at(&self, (): &(), bytes: &[u8], _offset: u64) -> Result<(), Failure> {
        std::hint::black_box(bytes);
        Ok(())
    }

    fn read_at(&self, (): &(), bytes: &mut [u8], _offset: u64) -> Result<(), Failure> {
        std::hint::black_box(bytes);
        Ok(())
    }

    fn sync(&self, (): &()) -> Result<(), Failure> {
        Ok(())
    }

    fn close(&self, (): ()) -> Result<(), Failure> {
        Ok(())
    }

    fn delete(&self, _index: u64) -> Result<(), Failure> {
        Ok(())
    }
}
