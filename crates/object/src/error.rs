//! How a request fails: what kind, whether the server may have done it all the same, and one
//! sentence for the user. No sentence ever holds a credential: what a server says is passed
//! through [`crate::secret::Redactor`] before it becomes part of one.

use std::fmt;
use std::time::Duration;

use crate::client::Timing;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorKind {
    /// The settings make no sense.
    Settings,
    /// Credentials are missing, unreadable, unknown or wrong.
    Credentials,
    /// The bucket or the signature belongs to another region.
    Region,
    /// This machine's clock and the server's differ too much.
    ClockSkew,
    /// No such bucket or container.
    NoContainer,
    /// A bucket or container of that name is someone else's.
    ContainerTaken,
    /// The bucket or container still holds objects.
    NotEmpty,
    /// No such object or upload.
    NotFound,
    /// The credentials are good but may not do this.
    Denied,
    /// The range lies outside the object.
    Range,
    /// 429, or 503 with a request to slow down.
    Busy,
    /// Another 5xx.
    Server,
    /// Another 4xx or 3xx.
    Refused,
    /// The answer makes no sense.
    Malformed,
    /// Nothing came in time.
    Deadline,
    /// No connection, or it broke.
    Connection,
    /// The server could not prove who it is, or TLS failed otherwise.
    Tls,
}

impl ErrorKind {
    /// The name that stands in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Settings => "SETTINGS",
            Self::Credentials => "CREDENTIALS",
            Self::Region => "REGION",
            Self::ClockSkew => "CLOCK_SKEW",
            Self::NoContainer => "NO_CONTAINER",
            Self::ContainerTaken => "CONTAINER_TAKEN",
            Self::NotEmpty => "NOT_EMPTY",
            Self::NotFound => "NOT_FOUND",
            Self::Denied => "DENIED",
            Self::Range => "RANGE",
            Self::Busy => "BUSY",
            Self::Server => "SERVER_ERROR",
            Self::Refused => "REFUSED",
            Self::Malformed => "MALFORMED",
            Self::Deadline => "TIMED_OUT",
            Self::Connection => "CONNECTION",
            Self::Tls => "TLS",
        }
    }

    /// True where the same request may succeed a little later.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::Busy | Self::Server | Self::Deadline | Self::Connection)
    }
}

/// Whether the server did what it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Performed {
    /// Certainly not: nothing was sent, or the server said that it refused.
    No,
    /// Perhaps: the request went out and its answer was lost, or was a 5xx.
    Perhaps,
}

/// A failed request.
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Whether it may have been done.
    pub performed: Performed,
    /// HTTP status, where there was an answer.
    pub status: Option<u16>,
    /// How long the server asked to be left alone.
    pub retry_after: Option<Duration>,
    /// How long it took to fail; zeros where nothing was answered.
    pub timing: Timing,
    /// Requests repeated before giving up.
    pub retries: u32,
    message: String,
}

impl Error {
    /// An error of `kind` for a request that was certainly not performed.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            performed: Performed::No,
            status: None,
            retry_after: None,
            timing: Timing::default(),
            retries: 0,
            message: one_line(&message.into()),
        }
    }

    /// The same, for a request that may have been performed.
    pub fn perhaps_performed(mut self) -> Self {
        self.performed = Performed::Perhaps;
        self
    }

    /// The same, for a request that never reached the store.
    pub fn not_performed(mut self) -> Self {
        self.performed = Performed::No;
        self
    }

    /// The same, after `retries` more repeats.
    pub fn after_retries(mut self, retries: u32) -> Self {
        self.retries += retries;
        self
    }

    /// The sentence.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The same error with `prefix: ` before its sentence.
    pub fn within(mut self, prefix: &str) -> Self {
        self.message = format!("{prefix}: {}", self.message);
        self
    }
}

/// Control characters, which a server may have sent, become spaces; endless text is cut.
fn one_line(text: &str) -> String {
    const LONGEST: usize = 600;
    text.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.retries {
            0 => Ok(()),
            1 => f.write_str(" (after 1 retry)"),
            n => write!(f, " (after {n} retries)"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({:?}): {self}", self.kind.name(), self.performed)
    }
}

impl std::error::Error for Error {}
