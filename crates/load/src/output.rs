//! Where records go: appended to a file and made durable line by line, or to standard output.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::record::PhaseRecord;

/// The place records are appended to.
pub enum Output {
    /// A file.
    File(File),
    /// Standard output.
    Standard,
}

impl Output {
    /// Opens `path` for appending; `-` is standard output.
    pub fn open(path: &Path) -> io::Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self::Standard);
        }
        OpenOptions::new().append(true).create(true).open(path).map(Self::File)
    }

    /// Writes one line in one call and returns when it is safe.
    pub fn append(&mut self, record: &PhaseRecord) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        match self {
            Self::File(file) => {
                file.write_all(&line)?;
                file.sync_all()
            }
            Self::Standard => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(&line)?;
                stdout.flush()
            }
        }
    }
}
