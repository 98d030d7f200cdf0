//! The set of files: sizes, units and names by index. Pure arithmetic; nothing here does I/O.

use crate::job::Set;

/// Room for `dDDDDD/fFFFFFF` with both numbers at their longest, and a NUL.
pub const NAME_CAPACITY: usize = 48;

/// A file's name relative to the root, NUL-terminated, on the stack.
#[derive(Clone, Copy)]
pub struct RelativeName {
    bytes: [u8; NAME_CAPACITY],
    len: usize,
}

impl RelativeName {
    fn new() -> Self {
        Self { bytes: [0; NAME_CAPACITY], len: 0 }
    }

    fn push(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    fn push_number(&mut self, number: u64, width: usize) {
        let mut digits = [b'0'; 20];
        let mut rest = number;
        let mut used = 0;
        while rest > 0 || used < width {
            used += 1;
            digits[20 - used] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        for &digit in &digits[20 - used..] {
            self.push(digit);
        }
    }

    /// The name with its terminating NUL.
    pub fn as_c_str(&self) -> &std::ffi::CStr {
        std::ffi::CStr::from_bytes_with_nul(&self.bytes[..=self.len])
            .expect("names hold digits, d, f and / only")
    }
}

/// The set's geometry. `files_per_directory` is at least 1 (`plan` checks).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSet {
    /// Number of files.
    pub files: u64,
    /// Size of each in bytes.
    pub file_size_bytes: u64,
    /// Files per directory.
    pub files_per_directory: u64,
}

impl From<Set> for FileSet {
    fn from(set: Set) -> Self {
        Self {
            files: set.files,
            file_size_bytes: set.file_size_bytes,
            files_per_directory: set.files_per_directory,
        }
    }
}

impl FileSet {
    /// Number of directories that hold the set.
    pub fn directories(&self) -> u64 {
        self.files.div_ceil(self.files_per_directory)
    }

    /// Units of one file; the last may be short.
    pub fn units_per_file(&self, unit_bytes: u64) -> u64 {
        self.file_size_bytes.div_ceil(unit_bytes)
    }

    /// Length of the unit at `offset`.
    pub fn unit_length(&self, unit_bytes: u64, offset: u64) -> u64 {
        unit_bytes.min(self.file_size_bytes - offset)
    }

    /// `dDDDDD` of directory `directory`.
    pub fn directory_name(&self, directory: u64) -> RelativeName {
        let mut name = RelativeName::new();
        name.push(b'd');
        name.push_number(directory, 5);
        name
    }

    /// `dDDDDD/fFFFFFF` of file `index`.
    pub fn file_name(&self, index: u64) -> RelativeName {
        let mut name = self.directory_name(index / self.files_per_directory);
        name.push(b'/');
        name.push(b'f');
        name.push_number(index, 6);
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SET: FileSet =
        FileSet { files: 524_288, file_size_bytes: 10_000, files_per_directory: 4096 };

    #[test]
    fn file_names_carry_directory_and_index_padded_with_zeros() {
        assert_eq!(SET.file_name(0).as_c_str(), c"d00000/f000000");
        assert_eq!(SET.file_name(4095).as_c_str(), c"d00000/f004095");
        assert_eq!(SET.file_name(4096).as_c_str(), c"d00001/f004096");
    }

    #[test]
    fn the_longest_name_fits() {
        let set = FileSet { files_per_directory: 1, ..SET };
        assert_eq!(
            set.file_name(u64::MAX).as_c_str(),
            c"d18446744073709551615/f18446744073709551615"
        );
    }

    #[test]
    fn two_gib_of_4_kib_files_need_128_directories() {
        assert_eq!(SET.directories(), 128);
    }

    #[test]
    fn the_last_unit_is_short_when_the_file_is_no_multiple() {
        assert_eq!(SET.units_per_file(4096), 3);
        assert_eq!(SET.unit_length(4096, 4096), 4096);
        assert_eq!(SET.unit_length(4096, 8192), 10_000 - 8192);
    }
}
