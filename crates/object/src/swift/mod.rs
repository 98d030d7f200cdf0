//! Swift over REST, with tokens that a [`Session`] keeps. One attempt each; [`crate::Retrying`]
//! repeats. A refused token is the exception: it is renewed and the request sent once more, which
//! is safe because the server refused it unread.
//!
//! Large objects are segments in `<container>_segments` (or a container of the caller's choice)
//! under `key/id/NNNNNNNN`, joined by a static manifest (SLO: sizes and ETags are checked) or a
//! dynamic one (DLO: whatever lies under the prefix).

mod auth;
pub mod json;

use std::sync::Arc;

use hyper::Method;

pub use auth::{AuthSettings, Session, Token};

use crate::body::{Body, Sink};
use crate::client::{
    Answer, ByteRange, Found, ListRequest, ObjectClient, Outcome, Page, Part, Stored, Timing,
    Upload,
};
use crate::encoding::{escape, query_string, unescape};
use crate::error::{Error, ErrorKind};
use crate::s3::{absent_is_fine, check_range, found};
use crate::secret::{Redactor, Secret};
use crate::time::Clock;
use crate::wire::{Limits, Reply, Request, Trust, Wire};

/// Swift's own largest page (`/info`: container_listing_limit).
const PAGE_LIMIT: u32 = 10_000;

/// How segments are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Joining {
    /// A list of segments.
    #[default]
    Static,
    /// A prefix.
    Dynamic,
}

/// A container of an account.
#[derive(Debug, Clone)]
pub struct SwiftSettings {
    /// Container.
    pub container: String,
    /// Where segments go; none is `<container>_segments`.
    pub segment_container: Option<String>,
    /// How segments are joined.
    pub joining: Joining,
}

/// One client.
pub struct Swift {
    container: String,
    segments: String,
    joining: Joining,
    session: Arc<Session>,
    redactor: Redactor,
    trust: Option<Trust>,
    limits: Limits,
    clock: Arc<dyn Clock>,
    wire: Option<Wire>,
    answer: Vec<u8>,
    segments_made: bool,
    uploads: u64,
}

struct Call<'a> {
    method: Method,
    container: String,
    key: &'a str,
    query: Vec<(&'a str, String)>,
    headers: Vec<(&'static str, String)>,
    body: Body,
}

impl Swift {
    /// Nothing is sent yet. Clients of one process share `session`.
    pub fn new(
        settings: SwiftSettings,
        session: Arc<Session>,
        trust: Option<Trust>,
        limits: Limits,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        let container = settings.container;
        let segments =
            settings.segment_container.unwrap_or_else(|| format!("{container}_segments"));
        for name in [&container, &segments] {
            if name.is_empty() || name.len() > 256 || name.contains('/') {
                let why = format!("{name:?} is no container's name: 1 to 256 bytes without /");
                return Err(Error::new(ErrorKind::Settings, why));
            }
        }
        Ok(Self {
            container,
            segments,
            joining: settings.joining,
            redactor: session.redactor(),
            session,
            trust,
            limits,
            clock,
            wire: None,
            answer: Vec::new(),
            segments_made: false,
            uploads: 0,
        })
    }

    fn call<'a>(&self, method: Method, key: &'a str) -> Call<'a> {
        let container = self.container.clone();
        Call { method, container, key, query: vec![], headers: vec![], body: Body::default() }
    }

    fn in_segments<'a>(&self, method: Method, key: &'a str) -> Call<'a> {
        Call { container: self.segments.clone(), ..self.call(method, key) }
    }

    fn send(&mut self, call: &Call<'_>, into: &mut dyn Sink) -> Result<Reply, Error> {
        let what = format!("{} {}/{}", call.method, call.container, call.key);
        let token = self.session.token().map_err(|error| error.within(&what))?;
        let mut reply = self.send_with(&token, call, into).map_err(|error| error.within(&what))?;
        if reply.status == 401 {
            self.session.forget(&token.secret);
            let token = self.session.token().map_err(|error| error.within(&what))?;
            reply = self.send_with(&token, call, into).map_err(|error| error.within(&what))?;
        }
        if (200..300).contains(&reply.status) {
            return Ok(reply);
        }
        Err(self.explain(&what, call, &reply, &token.secret))
    }

    fn send_with(
        &mut self,
        token: &Token,
        call: &Call<'_>,
        into: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let base = &token.storage.path;
        let mut target = format!("{base}/{}", escape(&call.container, false));
        if !call.key.is_empty() {
            target = format!("{target}/{}", escape(call.key, true));
        }
        if !call.query.is_empty() {
            target = format!("{target}?{}", query_string(&call.query));
        }
        let mut headers = call.headers.clone();
        headers.push(("x-auth-token", token.secret.reveal().to_owned()));
        let request =
            Request { method: call.method.clone(), target, headers, body: call.body.clone() };
        if self.wire.as_ref().is_none_or(|wire| *wire.endpoint() != token.storage) {
            self.wire = Some(Wire::new(token.storage.clone(), self.trust.clone(), self.limits));
        }
        self.wire.as_mut().expect("it was just made").exchange(&request, into)
    }

    fn explain(&self, what: &str, call: &Call<'_>, reply: &Reply, token: &Secret) -> Error {
        let status = reply.status;
        let about_object = !call.key.is_empty();
        let (kind, why) = match status {
            401 => (ErrorKind::Credentials, "refused a fresh token".to_owned()),
            403 => (ErrorKind::Denied, "does not allow it with these credentials".to_owned()),
            404 if about_object && call.method != Method::PUT => {
                (ErrorKind::NotFound, "has no such object".to_owned())
            }
            404 => (
                ErrorKind::NoContainer,
                format!("has no container {:?}. Try: make it, or check its name", call.container),
            ),
            409 if call.method == Method::DELETE && !about_object => (
                ErrorKind::NotEmpty,
                format!("will not remove container {:?}: it is not empty", call.container),
            ),
            416 => (ErrorKind::Range, "has the object, but not this range of it".to_owned()),
            429 | 498 | 503 => (
                ErrorKind::Busy,
                "asks for fewer requests. Try: later, or with fewer connections".to_owned(),
            ),
            500.. => (ErrorKind::Server, "failed. Try: later; its log knows more".to_owned()),
            _ => {
                let mut redactor = self.redactor.clone();
                redactor.hide(token);
                let said = redactor.clean(&String::from_utf8_lossy(&reply.refusal));
                (ErrorKind::Refused, format!("refused: {}", said.trim()))
            }
        };
        let account = self.wire.as_ref().map(|wire| wire.endpoint().to_string());
        let account = account.unwrap_or_default();
        let message = format!("{what}: swift at {account} {why} (HTTP {status})");
        let mut error = Error::new(kind, message);
        if kind == ErrorKind::Server {
            error = error.perhaps_performed();
        }
        error.status = Some(status);
        error.timing = reply.timing;
        let seconds = reply.header("retry-after").and_then(|text| text.parse().ok());
        error.retry_after = seconds.map(std::time::Duration::from_secs);
        error
    }

    fn read<T>(
        &mut self,
        call: &Call<'_>,
        read: impl FnOnce(&Reply, &[u8]) -> Option<T>,
    ) -> Outcome<T> {
        let mut answer = std::mem::take(&mut self.answer);
        let result = self.send(call, &mut answer).and_then(|reply| {
            read(&reply, &answer).map(|value| Answer::new(value, reply.timing)).ok_or_else(|| {
                let why = format!(
                    "{} {}/{}: the answer makes no sense (not the JSON of Swift)",
                    call.method, call.container, call.key
                );
                Error::new(ErrorKind::Malformed, why).perhaps_performed()
            })
        });
        self.answer = answer;
        result
    }

    fn make_segment_container(&mut self) -> Result<(), Error> {
        if !self.segments_made {
            let call = self.in_segments(Method::PUT, "");
            self.read(&call, |_, _| Some(()))?;
            self.segments_made = true;
        }
        Ok(())
    }

    /// Removes all segments under `prefix` of `container`.
    fn remove_segments(&mut self, container: &str, prefix: &str) -> Result<Timing, Error> {
        let mut timing = Timing::default();
        let mut from = None;
        loop {
            let request = ListRequest { from, ..ListRequest::all(prefix) };
            let page = match self.list_in(container, &request) {
                Err(error) if error.kind == ErrorKind::NoContainer => return Ok(timing),
                page => page?,
            };
            for object in page.value.objects {
                timing = self.remove(container, &object.key)?;
            }
            from = page.value.next;
            if from.is_none() {
                return Ok(timing);
            }
        }
    }

    fn remove(&mut self, container: &str, key: &str) -> Result<Timing, Error> {
        let call = Call { container: container.to_owned(), ..self.call(Method::DELETE, key) };
        let result = self.read(&call, |_, _| Some(()));
        absent_is_fine(result).map(|answer| answer.timing)
    }

    fn list_in(&mut self, container: &str, request: &ListRequest) -> Outcome<Page> {
        let limit = request.limit.unwrap_or(PAGE_LIMIT).clamp(1, PAGE_LIMIT);
        let mut call = Call { container: container.to_owned(), ..self.call(Method::GET, "") };
        call.query = vec![
            ("format", "json".to_owned()),
            ("limit", limit.to_string()),
            ("prefix", request.prefix.clone()),
        ];
        call.query.extend(request.delimiter.map(|c| ("delimiter", c.to_string())));
        call.query.extend(request.from.clone().map(|from| ("marker", from)));
        self.read(&call, |reply, body| match (reply.status, body) {
            (204, []) => Some(Page::default()),
            (_, body) => json::read_page(body, limit.into()),
        })
    }

    /// The segments of the large object `key`, as (container, key).
    fn segments_of(&mut self, key: &str) -> Result<Vec<(String, String)>, Error> {
        let call = self.call(Method::HEAD, key);
        let kind = self.read(&call, |reply, _| {
            let text = |name| reply.header(name).map(str::to_owned);
            Some((text("x-static-large-object"), text("x-object-manifest")))
        });
        let (is_static, dynamic) = match kind {
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(Vec::new()),
            kind => kind?.value,
        };
        if is_static.is_some_and(|text| text.eq_ignore_ascii_case("true")) {
            let mut call = self.call(Method::GET, key);
            call.query = vec![("multipart-manifest", "get".to_owned())];
            let names = self.read(&call, |_, body| json::read_manifest(body))?.value;
            let split = |name: String| {
                let (container, key) = name.trim_start_matches('/').split_once('/')?;
                Some((container.to_owned(), key.to_owned()))
            };
            return Ok(names.into_iter().filter_map(split).collect());
        }
        let dynamic = dynamic.as_deref().and_then(unescape);
        let Some((container, prefix)) = dynamic.as_deref().and_then(|text| text.split_once('/'))
        else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        let mut request = ListRequest::all(prefix);
        loop {
            let page = self.list_in(container, &request)?.value;
            all.extend(page.objects.into_iter().map(|object| (container.to_owned(), object.key)));
            request.from = page.next;
            if request.from.is_none() {
                return Ok(all);
            }
        }
    }
}

fn segment_key(upload: &Upload, number: u32) -> String {
    format!("{}{number:08}", segment_prefix(upload))
}

fn segment_prefix(upload: &Upload) -> String {
    format!("{}/{}/", upload.key, upload.id)
}

fn stored(reply: &Reply, _: &[u8]) -> Option<Stored> {
    Some(Stored { etag: reply.etag() })
}

impl ObjectClient for Swift {
    fn put(&mut self, key: &str, body: &Body) -> Outcome<Stored> {
        let call = Call { body: body.clone(), ..self.call(Method::PUT, key) };
        self.read(&call, stored)
    }

    fn get(&mut self, key: &str, range: Option<ByteRange>, into: &mut dyn Sink) -> Outcome<Found> {
        let mut call = self.call(Method::GET, key);
        call.headers.extend(range.map(|range| ("range", range.header())));
        let reply = self.send(&call, into)?;
        check_range(&format!("GET {}/{key}", self.container), range, &reply)?;
        Ok(Answer::new(found(&reply), reply.timing))
    }

    fn head(&mut self, key: &str) -> Outcome<Found> {
        let call = self.call(Method::HEAD, key);
        self.read(&call, |reply, _| Some(found(reply)))
    }

    fn delete(&mut self, key: &str) -> Outcome<()> {
        let container = self.container.clone();
        self.remove(&container, key).map(|timing| Answer::new((), timing))
    }

    fn delete_with_parts(&mut self, key: &str) -> Outcome<()> {
        // The manifest goes last: until then a repeat finds the segments again.
        for (container, segment) in self.segments_of(key)? {
            self.remove(&container, &segment)?;
        }
        self.delete(key)
    }

    fn list(&mut self, request: &ListRequest) -> Outcome<Page> {
        let container = self.container.clone();
        self.list_in(&container, request)
    }

    fn begin_parts(&mut self, key: &str) -> Outcome<Upload> {
        self.make_segment_container()?;
        self.uploads += 1;
        let since = self.clock.monotonic().as_nanos();
        let (now, process) = (self.clock.unix_s(), std::process::id());
        // Different for each upload of each client of each process.
        let own = std::ptr::from_ref(self) as usize;
        let id = format!("{now:x}-{process:x}-{own:x}-{since:x}-{}", self.uploads);
        Ok(Answer::new(Upload { key: key.to_owned(), id }, Timing::default()))
    }

    fn put_part(&mut self, upload: &Upload, number: u32, body: &Body) -> Outcome<Part> {
        let key = segment_key(upload, number);
        let call = Call { body: body.clone(), ..self.in_segments(Method::PUT, &key) };
        let size_bytes = body.len();
        self.read(&call, |reply, _| Some(Part { number, etag: reply.etag(), size_bytes }))
    }

    fn finish_parts(&mut self, upload: &Upload, parts: &[Part]) -> Outcome<Stored> {
        let mut call = self.call(Method::PUT, &upload.key);
        match self.joining {
            Joining::Static => {
                let mut parts: Vec<&Part> = parts.iter().collect();
                parts.sort_by_key(|part| part.number);
                let segments = parts.iter().map(|part| json::Segment {
                    path: format!("/{}/{}", self.segments, segment_key(upload, part.number)),
                    etag: part.etag.clone(),
                    size_bytes: part.size_bytes,
                });
                call.body = json::manifest(&segments.collect::<Vec<_>>()).into();
                call.query = vec![("multipart-manifest", "put".to_owned())];
            }
            Joining::Dynamic => {
                let prefix = escape(&segment_prefix(upload), true);
                let manifest = format!("{}/{prefix}", escape(&self.segments, false));
                call.headers.push(("x-object-manifest", manifest));
            }
        }
        self.read(&call, stored)
    }

    fn abandon_parts(&mut self, upload: &Upload) -> Outcome<()> {
        let container = self.segments.clone();
        let timing = self.remove_segments(&container, &segment_prefix(upload))?;
        Ok(Answer::new((), timing))
    }

    fn list_uploads(&mut self, prefix: &str) -> Outcome<Vec<Upload>> {
        let container = self.segments.clone();
        let mut uploads: Vec<Upload> = Vec::new();
        let mut request = ListRequest::all(prefix);
        loop {
            let page = match self.list_in(&container, &request) {
                // Nothing large was ever begun.
                Err(error) if error.kind == ErrorKind::NoContainer => {
                    return Ok(Answer::new(uploads, error.timing));
                }
                page => page?,
            };
            for object in page.value.objects {
                let upload = object.key.rsplit_once('/').and_then(|(of, _)| of.rsplit_once('/'));
                let Some((key, id)) = upload else { continue };
                let upload = Upload { key: key.to_owned(), id: id.to_owned() };
                // Segments of one upload stand one after another.
                if uploads.last() != Some(&upload) {
                    uploads.push(upload);
                }
            }
            request.from = page.value.next;
            if request.from.is_none() {
                return Ok(Answer::new(uploads, page.timing));
            }
        }
    }

    fn create_container(&mut self) -> Outcome<()> {
        let call = self.call(Method::PUT, "");
        self.read(&call, |_, _| Some(()))
    }

    fn delete_container(&mut self) -> Outcome<()> {
        let call = self.call(Method::DELETE, "");
        self.read(&call, |_, _| Some(()))
    }
}
