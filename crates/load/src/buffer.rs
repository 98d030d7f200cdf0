//! A worker's memory for one unit: page-aligned as `O_DIRECT` wants it, faulted in before the
//! clock starts, never grown.

use crate::failure::SetupError;

/// Anonymous pages, zeroed at first; unmapped when dropped.
pub struct AlignedBuffer {
    start: *mut u8,
    mapped_bytes: usize,
    len: usize,
}

// SAFETY: the mapping belongs to this value alone, like a Box's memory.
unsafe impl Send for AlignedBuffer {}

impl AlignedBuffer {
    /// A buffer of `len` bytes.
    pub fn new(len: u64) -> Result<Self, SetupError> {
        let failed = || SetupError::last(format_args!("cannot allocate a buffer of {len} bytes"));
        let len = usize::try_from(len).map_err(|_| failed())?;
        let mapped_bytes = len.max(1);
        // SAFETY: a new private anonymous mapping aliases nothing.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(failed());
        }
        Ok(Self { start: start.cast(), mapped_bytes, len })
    }

    /// The first `len` bytes.
    pub fn first(&mut self, len: u64) -> &mut [u8] {
        assert!(len <= self.len as u64);
        // SAFETY: the mapping holds at least `self.len` initialised bytes and lives as long as
        // `self`, which is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start, len as usize) }
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`; no slice of it outlives `self`.
        unsafe { libc::munmap(self.start.cast(), self.mapped_bytes) };
    }
}
