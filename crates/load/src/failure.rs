//! How operations fail, by name; and what stops the engine before it begins.
//!
//! A failed operation never stops a phase: it is counted under its name. A [`SetupError`] does.

use std::borrow::Cow;
use std::fmt;

/// Why one operation failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Failure {
    /// The system call's error number.
    Errno(i32),
    /// The content read is not the content written.
    Mismatch,
    /// The file ended before the unit did.
    ShortRead,
    /// The system took no more bytes and gave no reason.
    ShortWrite,
    /// An object store's kind of error.
    Object(&'static str),
}

impl Failure {
    /// The calling thread's `errno`.
    pub fn last() -> Self {
        Self::Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
    }

    /// The name that stands in the record.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Self::Errno(number) => errno_name(number),
            Self::Mismatch => "MISMATCH".into(),
            Self::ShortRead => "SHORT_READ".into(),
            Self::ShortWrite => "SHORT_WRITE".into(),
            Self::Object(name) => name.into(),
        }
    }
}

/// The phase could not be set up; the message says what, where and why.
#[derive(Debug)]
pub struct SetupError(pub String);

impl SetupError {
    /// `what` failed with the calling thread's `errno`.
    pub fn last(what: impl fmt::Display) -> Self {
        Self(format!("{what}: {}", std::io::Error::last_os_error()))
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SetupError {}

macro_rules! errno_names {
    ($number:expr; $($name:ident)*) => {
        match $number {
            $(libc::$name => Cow::Borrowed(stringify!($name)),)*
            other => Cow::Owned(format!("ERRNO_{other}")),
        }
    };
}

/// What file systems and block devices return (errno(3)); others are named by number.
fn errno_name(number: i32) -> Cow<'static, str> {
    errno_names!(number;
        EPERM ENOENT EINTR EIO ENXIO E2BIG EBADF EAGAIN ENOMEM EACCES EFAULT EBUSY EEXIST EXDEV
        ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC ESPIPE EROFS EMLINK
        EPIPE ERANGE EDEADLK ENAMETOOLONG ENOLCK ENOSYS ENOTEMPTY ELOOP ENODATA ETIME ENOLINK
        EPROTO EBADMSG EOVERFLOW EILSEQ ENETDOWN ENETUNREACH ENETRESET ECONNABORTED ECONNRESET
        ENOBUFS ENOTCONN ESHUTDOWN ETIMEDOUT ECONNREFUSED EHOSTDOWN EHOSTUNREACH EALREADY
        EINPROGRESS ESTALE EREMOTEIO EDQUOT ECANCELED EKEYEXPIRED EOPNOTSUPP
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_errors_have_their_errno_name_and_unknown_ones_their_number() {
        assert_eq!(Failure::Errno(libc::ENOSPC).name(), "ENOSPC");
        assert_eq!(Failure::Errno(9999).name(), "ERRNO_9999");
    }
}
