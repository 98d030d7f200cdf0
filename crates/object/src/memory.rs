//! The in-memory form: a bucket in this process, shared by all clients made from one store.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::body::{Body, Sink};
use crate::client::{
    Answer, ByteRange, Found, ListRequest, Listed, ObjectClient, Outcome, Page, Part, Stored,
    Timing, Upload,
};
use crate::encoding::hex;
use crate::error::{Error, ErrorKind};

/// The largest page, as with S3.
const PAGE_LIMIT: u32 = 1000;

#[derive(Default)]
struct Container {
    exists: bool,
    objects: BTreeMap<String, Bytes>,
    /// By their IDs: key and parts.
    uploads: BTreeMap<String, (String, BTreeMap<u32, Bytes>)>,
    uploads_begun: u64,
}

/// What the clients share.
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Mutex<Container>>);

impl MemoryStore {
    /// A client of this store.
    pub fn client(&self) -> Memory {
        Memory(self.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Container> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn existing(&self) -> Result<MutexGuard<'_, Container>, Error> {
        let container = self.lock();
        if container.exists {
            Ok(container)
        } else {
            Err(Error::new(ErrorKind::NoContainer, "there is no such container in memory"))
        }
    }
}

/// One client; takes no time.
#[derive(Clone)]
pub struct Memory(MemoryStore);

fn answer<T>(value: T) -> Outcome<T> {
    Ok(Answer::new(value, Timing::default()))
}

fn etag(body: &[u8]) -> String {
    hex(&Sha256::digest(body)[..16])
}

/// A copy: what the caller does to its memory afterwards does not reach the store.
fn whole(body: &Body) -> Bytes {
    body.pieces().flatten().collect::<Vec<u8>>().into()
}

fn not_found(key: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("there is no object {key:?} in memory"))
}

impl ObjectClient for Memory {
    fn put(&mut self, key: &str, body: &Body) -> Outcome<Stored> {
        let body = whole(body);
        let stored = Stored { etag: etag(&body) };
        self.0.existing()?.objects.insert(key.to_owned(), body);
        answer(stored)
    }

    fn get(&mut self, key: &str, range: Option<ByteRange>, into: &mut dyn Sink) -> Outcome<Found> {
        into.restart();
        let container = self.0.existing()?;
        let body = container.objects.get(key).ok_or_else(|| not_found(key))?;
        let size = body.len() as u64;
        let (start, end) = match range {
            None => (0, size),
            Some(range) if range.start < size => {
                (range.start, range.start.saturating_add(range.length).min(size))
            }
            Some(_) => return Err(Error::new(ErrorKind::Range, "the range is past the end")),
        };
        into.take(&body[start as usize..end as usize]);
        answer(Found { size_bytes: Some(size), etag: etag(body) })
    }

    fn head(&mut self, key: &str) -> Outcome<Found> {
        let container = self.0.existing()?;
        let body = container.objects.get(key).ok_or_else(|| not_found(key))?;
        answer(Found { size_bytes: Some(body.len() as u64), etag: etag(body) })
    }

    fn delete(&mut self, key: &str) -> Outcome<()> {
        self.0.existing()?.objects.remove(key);
        answer(())
    }

    fn delete_with_parts(&mut self, key: &str) -> Outcome<()> {
        self.delete(key)
    }

    fn list(&mut self, request: &ListRequest) -> Outcome<Page> {
        let container = self.0.existing()?;
        answer(page(&container.objects, request))
    }

    fn begin_parts(&mut self, key: &str) -> Outcome<Upload> {
        let mut container = self.0.existing()?;
        container.uploads_begun += 1;
        let id = container.uploads_begun.to_string();
        container.uploads.insert(id.clone(), (key.to_owned(), BTreeMap::new()));
        answer(Upload { key: key.to_owned(), id })
    }

    fn put_part(&mut self, upload: &Upload, number: u32, body: &Body) -> Outcome<Part> {
        let mut container = self.0.existing()?;
        let (_, parts) =
            container.uploads.get_mut(&upload.id).ok_or_else(|| not_found(&upload.key))?;
        let body = whole(body);
        let part = Part { number, etag: etag(&body), size_bytes: body.len() as u64 };
        parts.insert(number, body);
        answer(part)
    }

    fn finish_parts(&mut self, upload: &Upload, parts: &[Part]) -> Outcome<Stored> {
        let mut container = self.0.existing()?;
        let (_, written) =
            container.uploads.get(&upload.id).ok_or_else(|| not_found(&upload.key))?;
        let mut numbers: Vec<u32> = parts.iter().map(|part| part.number).collect();
        numbers.sort_unstable();
        let mut whole = Vec::new();
        for number in numbers {
            let part = written.get(&number).ok_or_else(|| {
                Error::new(ErrorKind::Refused, format!("part {number} was never written"))
            })?;
            whole.extend_from_slice(part);
        }
        container.uploads.remove(&upload.id);
        let stored = Stored { etag: etag(&whole) };
        container.objects.insert(upload.key.clone(), whole.into());
        answer(stored)
    }

    fn abandon_parts(&mut self, upload: &Upload) -> Outcome<()> {
        self.0.existing()?.uploads.remove(&upload.id);
        answer(())
    }

    fn list_uploads(&mut self, prefix: &str) -> Outcome<Vec<Upload>> {
        let container = self.0.existing()?;
        let under = container.uploads.iter().filter(|(_, (key, _))| key.starts_with(prefix));
        answer(under.map(|(id, (key, _))| Upload { key: key.clone(), id: id.clone() }).collect())
    }

    fn create_container(&mut self) -> Outcome<()> {
        self.0.lock().exists = true;
        answer(())
    }

    fn delete_container(&mut self) -> Outcome<()> {
        let mut container = self.0.existing()?;
        if !container.objects.is_empty() {
            let why = "the container in memory still holds objects";
            return Err(Error::new(ErrorKind::NotEmpty, why));
        }
        container.exists = false;
        answer(())
    }
}

fn page(objects: &BTreeMap<String, Bytes>, request: &ListRequest) -> Page {
    let limit = request.limit.unwrap_or(PAGE_LIMIT).min(PAGE_LIMIT) as usize;
    let mut page = Page::default();
    let mut last: Option<String> = None;
    for (key, body) in objects.iter().filter(|(key, _)| key.starts_with(&request.prefix)) {
        let tail = &key[request.prefix.len()..];
        let rolled = request.delimiter.and_then(|delimiter| {
            tail.find(delimiter)
                .map(|at| key[..request.prefix.len() + at + delimiter.len_utf8()].to_owned())
        });
        let entry = rolled.clone().unwrap_or_else(|| key.clone());
        let seen = request.from.as_ref().is_some_and(|from| entry <= *from);
        if seen || (rolled.is_some() && page.prefixes.last() == rolled.as_ref()) {
            continue;
        }
        if page.objects.len() + page.prefixes.len() == limit {
            page.next = last;
            return page;
        }
        match rolled {
            Some(prefix) => page.prefixes.push(prefix),
            None => page.objects.push(Listed {
                key: key.clone(),
                size_bytes: body.len() as u64,
                etag: etag(body),
            }),
        }
        last = Some(entry);
    }
    page
}
