//! Files of a mounted file system: one system call per operation, by paths relative to the root,
//! which stays open. Calls that were interrupted or did a part only are continued.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{Backend, Opening};
use crate::failure::{Failure, SetupError};
use crate::fileset::FileSet;
use crate::job::{Access, Item};
use crate::plan::PhasePlan;

const FILE_MODE: libc::mode_t = 0o666;
const DIRECTORY_MODE: libc::mode_t = 0o777;
/// File descriptors left to everything but the set.
const SPARE_DESCRIPTORS: u64 = 64;

/// The set under one directory.
pub struct Posix {
    root: OwnedFd,
    set: FileSet,
}

impl Posix {
    /// Opens `root`, making it if `create` is asked.
    pub fn new(root: &Path, set: FileSet, create: bool) -> Result<Self, SetupError> {
        let failed = |what: &str, error: io::Error| {
            SetupError(format!("cannot {what} the root {}: {error}", root.display()))
        };
        if create {
            std::fs::create_dir_all(root).map_err(|error| failed("create", error))?;
        }
        let path = CString::new(root.as_os_str().as_bytes())
            .map_err(|error| failed("open", error.into()))?;
        // SAFETY: `path` is NUL-terminated and outlives the call.
        let fd = unsafe {
            libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC)
        };
        if fd < 0 {
            return Err(failed("open", io::Error::last_os_error()));
        }
        // SAFETY: `fd` was just opened and has no other owner.
        Ok(Self { root: unsafe { OwnedFd::from_raw_fd(fd) }, set })
    }

    fn make_directories(&self) -> Result<(), SetupError> {
        for directory in 0..self.set.directories() {
            let name = self.set.directory_name(directory);
            // SAFETY: the name is NUL-terminated and outlives the call; the root is open.
            let code = unsafe {
                libc::mkdirat(self.root.as_raw_fd(), name.as_c_str().as_ptr(), DIRECTORY_MODE)
            };
            if code < 0 && Failure::last() != Failure::Errno(libc::EEXIST) {
                return Err(SetupError::last(format_args!(
                    "cannot make directory {:?}",
                    name.as_c_str()
                )));
            }
        }
        Ok(())
    }
}

impl Backend for Posix {
    type File = OwnedFd;

    fn name(&self) -> &'static str {
        "posix"
    }

    fn prepare(&self, phase: &PhasePlan) -> Result<(), SetupError> {
        if phase.item == Item::Access {
            allow_open_files(self.set.files + SPARE_DESCRIPTORS)?;
        } else {
            allow_open_files(phase.threads as u64 + SPARE_DESCRIPTORS)?;
        }
        if phase.create {
            self.make_directories()?;
        }
        Ok(())
    }

    fn open(&self, index: u64, opening: Opening) -> Result<OwnedFd, Failure> {
        let name = self.set.file_name(index);
        let flags = open_flags(opening);
        loop {
            // SAFETY: the name is NUL-terminated and outlives the call; the root is open.
            let fd = unsafe {
                libc::openat(self.root.as_raw_fd(), name.as_c_str().as_ptr(), flags, FILE_MODE)
            };
            if fd >= 0 {
                // SAFETY: `fd` was just opened and has no other owner.
                return Ok(unsafe { OwnedFd::from_raw_fd(fd) });
            }
            retry_if_interrupted()?;
        }
    }

    fn write_at(&self, file: &OwnedFd, bytes: &[u8], offset: u64) -> Result<(), Failure> {
        let mut done = 0;
        while done < bytes.len() {
            let rest = &bytes[done..];
            let at = (offset + done as u64) as libc::off_t;
            // SAFETY: `rest` is readable for its length during the call.
            let code =
                unsafe { libc::pwrite(file.as_raw_fd(), rest.as_ptr().cast(), rest.len(), at) };
            match code {
                0 => return Err(Failure::ShortWrite),
                moved if moved > 0 => done += moved as usize,
                _ => retry_if_interrupted()?,
            }
        }
        Ok(())
    }

    fn read_at(&self, file: &OwnedFd, bytes: &mut [u8], offset: u64) -> Result<(), Failure> {
        let mut done = 0;
        while done < bytes.len() {
            let rest = &mut bytes[done..];
            let at = (offset + done as u64) as libc::off_t;
            // SAFETY: `rest` is writable for its length during the call and borrowed mutably.
            let code =
                unsafe { libc::pread(file.as_raw_fd(), rest.as_mut_ptr().cast(), rest.len(), at) };
            match code {
                0 => return Err(Failure::ShortRead),
                moved if moved > 0 => done += moved as usize,
                _ => retry_if_interrupted()?,
            }
        }
        Ok(())
    }

    fn sync(&self, file: &OwnedFd) -> Result<(), Failure> {
        loop {
            // SAFETY: the descriptor is open.
            if unsafe { libc::fsync(file.as_raw_fd()) } == 0 {
                return Ok(());
            }
            retry_if_interrupted()?;
        }
    }

    fn close(&self, file: OwnedFd) -> Result<(), Failure> {
        // SAFETY: ownership ends here. On Linux the descriptor is gone even after EINTR
        // (close(2)), so the call is never repeated.
        match unsafe { libc::close(file.into_raw_fd()) } {
            0 => Ok(()),
            _ => Err(Failure::last()),
        }
    }

    fn delete(&self, index: u64) -> Result<(), Failure> {
        let name = self.set.file_name(index);
        // SAFETY: the name is NUL-terminated and outlives the call; the root is open.
        match unsafe { libc::unlinkat(self.root.as_raw_fd(), name.as_c_str().as_ptr(), 0) } {
            0 => Ok(()),
            _ => Err(Failure::last()),
        }
    }
}

fn open_flags(opening: Opening) -> libc::c_int {
    let mode = match (opening.write, opening.create) {
        (true, true) => libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC,
        (true, false) => libc::O_WRONLY,
        (false, _) => libc::O_RDONLY,
    };
    let access = match opening.access {
        Access::Default => 0,
        Access::Direct => libc::O_DIRECT,
        Access::Sync => libc::O_SYNC,
    };
    mode | access | libc::O_CLOEXEC
}

fn retry_if_interrupted() -> Result<(), Failure> {
    match Failure::last() {
        Failure::Errno(libc::EINTR) => Ok(()),
        failure => Err(failure),
    }
}

/// Raises the soft limit on open files to `wanted`, or says which limit is in the way.
fn allow_open_files(wanted: u64) -> Result<(), SetupError> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` outlives the call.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    if limit.rlim_cur >= wanted {
        return Ok(());
    }
    let raised = libc::rlimit { rlim_cur: wanted, rlim_max: limit.rlim_max.max(wanted) };
    // SAFETY: `raised` outlives the call. Raising the hard limit needs CAP_SYS_RESOURCE.
    match unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) } {
        0 => Ok(()),
        _ => Err(SetupError(format!(
            "the phase needs {wanted} open files and the limit is {}: raise it (ulimit -n)",
            limit.rlim_max
        ))),
    }
}
