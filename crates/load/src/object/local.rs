//! The client's own storage: uploads are read from files of it, downloads written to such.
//!
//! File i of `directory` is `i` in eight digits, as the objects' keys are. A file is read or
//! written whole, through the page cache and without fsync: what C16 III describes, and what `cp`
//! does. Downloads take `files` names in turn and begin again with the first.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::failure::Failure;

/// Where the client keeps its files.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Local {
    /// An existing directory.
    pub directory: PathBuf,
    /// How many names downloads take in turn.
    pub files: u64,
}

impl Local {
    /// Fills `buffer` from file `index`, which is as long as the buffer.
    pub fn read(&self, index: u64, buffer: &mut [u8]) -> Result<(), Failure> {
        File::open(self.path(index)).and_then(|mut file| file.read_exact(buffer)).map_err(failure)
    }

    /// Writes `parts`, one after another, as the file of item `item`. Nothing is truncated: what is
    /// dirty there stays so until it is written back.
    pub fn write<'a>(
        &self,
        item: u64,
        parts: impl Iterator<Item = &'a [u8]>,
    ) -> Result<(), Failure> {
        let open = || {
            let path = self.path(item % self.files);
            OpenOptions::new().write(true).create(true).truncate(false).open(path)
        };
        let write = |mut file: File| {
            for part in parts {
                file.write_all(part)?;
            }
            Ok(())
        };
        open().and_then(write).map_err(failure)
    }

    /// Whether the directory is there.
    pub fn is_there(&self) -> bool {
        Path::is_dir(&self.directory)
    }

    fn path(&self, index: u64) -> PathBuf {
        self.directory.join(format!("{index:08}"))
    }
}

fn failure(error: io::Error) -> Failure {
    match (error.raw_os_error(), error.kind()) {
        (Some(number), _) => Failure::Errno(number),
        (None, ErrorKind::UnexpectedEof) => Failure::ShortRead,
        (None, _) => Failure::ShortWrite,
    }
}
