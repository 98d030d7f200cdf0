//! The one trait, and the records that cross it.
//!
//! A client is one connection with one request in flight, which is why every method takes
//! `&mut self`. Keys are any UTF-8 text; the client escapes them.

use crate::body::{Body, Sink};
use crate::error::Error;

/// What a request gives: an answer with its timing, or one sentence.
pub type Outcome<T> = Result<Answer<T>, Error>;

/// How long the parts of one request took, on the monotonic clock. Of a repeated request, the
/// last attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timing {
    /// Name, TCP and TLS; none where the connection was there already.
    pub connect_ns: Option<u64>,
    /// From handing the request to the connection to the first byte of the answer.
    pub first_byte_ns: u64,
    /// From handing the request to the connection to the last byte of the answer.
    pub last_byte_ns: u64,
}

/// A value, how long it took and how often it was asked for again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer<T> {
    /// What was asked for.
    pub value: T,
    /// How long it took.
    pub timing: Timing,
    /// Requests repeated before this one was answered.
    pub retries: u32,
}

impl<T> Answer<T> {
    /// An answer at the first try.
    pub fn new(value: T, timing: Timing) -> Self {
        Self { value, timing, retries: 0 }
    }

    /// The same answer with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Answer<U> {
        Answer { value: change(self.value), timing: self.timing, retries: self.retries }
    }
}

/// Bytes `start` to `start + length - 1`. `length` is at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteRange {
    /// The first byte.
    pub start: u64,
    /// How many.
    pub length: u64,
}

impl ByteRange {
    /// The header's value (RFC 9110, 14.2); the last byte is named inclusively.
    pub fn header(self) -> String {
        format!("bytes={}-{}", self.start, self.start.saturating_add(self.length.max(1) - 1))
    }
}

/// What a PUT left behind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stored {
    /// The server's ETag without quotes; empty where it gave none.
    pub etag: String,
}

/// What HEAD or GET found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// Size of the whole object, of a part as well; none where the server didn't say.
    pub size_bytes: Option<u64>,
    /// ETag without quotes.
    pub etag: String,
}

/// One page is asked for like this.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListRequest {
    /// Keys begin with this.
    pub prefix: String,
    /// Keys are rolled up behind this; none lists all.
    pub delimiter: Option<char>,
    /// Where the page before ended: its [`Page::next`].
    pub from: Option<String>,
    /// At most this many entries; none leaves it to the server.
    pub limit: Option<u32>,
}

impl ListRequest {
    /// All keys under `prefix`, from the first page.
    pub fn all(prefix: impl Into<String>) -> Self {
        Self { prefix: prefix.into(), ..Self::default() }
    }
}

/// An object in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its whole key.
    pub key: String,
    /// Its size.
    pub size_bytes: u64,
    /// ETag without quotes.
    pub etag: String,
}

/// One page of a listing, in the order of the keys' bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// Objects.
    pub objects: Vec<Listed>,
    /// Common prefixes, where a delimiter was given.
    pub prefixes: Vec<String>,
    /// What to ask the next page with; none on the last page.
    pub next: Option<String>,
}

/// A large object being written in parts (S3: multipart upload; Swift: segments).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Upload {
    /// The object's key.
    pub key: String,
    /// The store's name for this upload.
    pub id: String,
}

/// A part that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// From 1; parts are joined in this order.
    pub number: u32,
    /// ETag without quotes.
    pub etag: String,
    /// Its size.
    pub size_bytes: u64,
}

/// S3 or Swift over one connection, or something that behaves like them.
pub trait ObjectClient: Send {
    /// Writes a whole object, replacing what was there.
    fn put(&mut self, key: &str, body: &Body) -> Outcome<Stored>;

    /// Reads an object or a range of it into `into`, which is restarted first, and again where the
    /// request is repeated.
    fn get(&mut self, key: &str, range: Option<ByteRange>, into: &mut dyn Sink) -> Outcome<Found>;

    /// Asks for an object's size and ETag.
    fn head(&mut self, key: &str) -> Outcome<Found>;

    /// Removes an object; that it is not there is no error.
    fn delete(&mut self, key: &str) -> Outcome<()>;

    /// Removes an object and, where the store keeps them apart, its parts.
    fn delete_with_parts(&mut self, key: &str) -> Outcome<()>;

    /// One page of a listing.
    fn list(&mut self, request: &ListRequest) -> Outcome<Page>;

    /// Begins a large object.
    fn begin_parts(&mut self, key: &str) -> Outcome<Upload>;

    /// Writes part `number`, from 1. Any client of the same store may write any part.
    fn put_part(&mut self, upload: &Upload, number: u32, body: &Body) -> Outcome<Part>;

    /// Joins `parts` in the order of their numbers: only now the object is there.
    fn finish_parts(&mut self, upload: &Upload, parts: &[Part]) -> Outcome<Stored>;

    /// Throws away what was written of a large object.
    fn abandon_parts(&mut self, upload: &Upload) -> Outcome<()>;

    /// Large objects under `prefix` that were begun and neither finished nor abandoned. Swift can't
    /// tell them from finished ones: remove those first, with their parts.
    fn list_uploads(&mut self, prefix: &str) -> Outcome<Vec<Upload>>;

    /// Makes the bucket or container; that it is ours already is no error.
    fn create_container(&mut self) -> Outcome<()>;

    /// Removes the bucket or container, which must be empty.
    fn delete_container(&mut self) -> Outcome<()>;

    /// Is everything right (credentials, region, clock, container)? Says what is not.
    fn check(&mut self) -> Outcome<()> {
        let request = ListRequest { limit: Some(1), ..ListRequest::default() };
        self.list(&request).map(|answer| answer.map(|_| ()))
    }

    /// All keys under `prefix`, page by page.
    fn list_all(&mut self, prefix: &str) -> Outcome<Vec<Listed>> {
        let mut request = ListRequest::all(prefix);
        let mut objects = Vec::new();
        let mut retries = 0;
        loop {
            let answer = self.list(&request)?;
            retries += answer.retries;
            objects.extend(answer.value.objects);
            if answer.value.next.is_none() || answer.value.next == request.from {
                return Ok(Answer { value: objects, timing: answer.timing, retries });
            }
            request.from = answer.value.next;
        }
    }
}

macro_rules! forwarded {
    () => {
        fn put(&mut self, key: &str, body: &Body) -> Outcome<Stored> {
            (**self).put(key, body)
        }
        fn get(
            &mut self,
            key: &str,
            range: Option<ByteRange>,
            into: &mut dyn Sink,
        ) -> Outcome<Found> {
            (**self).get(key, range, into)
        }
        fn head(&mut self, key: &str) -> Outcome<Found> {
            (**self).head(key)
        }
        fn delete(&mut self, key: &str) -> Outcome<()> {
            (**self).delete(key)
        }
        fn delete_with_parts(&mut self, key: &str) -> Outcome<()> {
            (**self).delete_with_parts(key)
        }
        fn list(&mut self, request: &ListRequest) -> Outcome<Page> {
            (**self).list(request)
        }
        fn begin_parts(&mut self, key: &str) -> Outcome<Upload> {
            (**self).begin_parts(key)
        }
        fn put_part(&mut self, upload: &Upload, number: u32, body: &Body) -> Outcome<Part> {
            (**self).put_part(upload, number, body)
        }
        fn finish_parts(&mut self, upload: &Upload, parts: &[Part]) -> Outcome<Stored> {
            (**self).finish_parts(upload, parts)
        }
        fn abandon_parts(&mut self, upload: &Upload) -> Outcome<()> {
            (**self).abandon_parts(upload)
        }
        fn list_uploads(&mut self, prefix: &str) -> Outcome<Vec<Upload>> {
            (**self).list_uploads(prefix)
        }
        fn create_container(&mut self) -> Outcome<()> {
            (**self).create_container()
        }
        fn delete_container(&mut self) -> Outcome<()> {
            (**self).delete_container()
        }
    };
}

impl<C: ObjectClient + ?Sized> ObjectClient for Box<C> {
    forwarded!();
}
