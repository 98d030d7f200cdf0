//! S3 over REST: signed requests on one connection. One attempt each; [`crate::Retrying`] repeats.
//!
//! Integrity rests on TLS or on the signed payload's hash; neither MD5 nor ETags are compared,
//! because no two servers agree on what an ETag is.

mod failure;
pub mod sign;
pub mod xml;

use std::sync::Arc;

use hyper::Method;

use crate::body::{Body, Sink};
use crate::client::{
    Answer, ByteRange, Found, ListRequest, ObjectClient, Outcome, Page, Part, Stored, Upload,
};
use crate::credentials::S3Credentials;
use crate::encoding::{escape, query_string};
use crate::error::{Error, ErrorKind};
use crate::secret::Redactor;
use crate::time::Clock;
use crate::wire::{Endpoint, Limits, Reply, Request, Trust, Wire};
use failure::{explain, Context};
use sign::{payload_hash, Signable, Signer, UNSIGNED};

/// Where the bucket's name stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// `http://host/bucket/key`.
    #[default]
    Path,
    /// `http://bucket.host/key`.
    VirtualHost,
}

/// A bucket on a server.
#[derive(Debug, Clone)]
pub struct S3Settings {
    /// Server, without the bucket.
    pub endpoint: Endpoint,
    /// Bucket.
    pub bucket: String,
    /// Region to sign for.
    pub region: String,
    /// Where the bucket's name stands.
    pub style: Style,
    /// Hash every payload into the signature; costs CPU on both sides.
    pub sign_payload: bool,
}

/// One client.
pub struct S3 {
    settings: S3Settings,
    signer: Signer,
    redactor: Redactor,
    clock: Arc<dyn Clock>,
    wire: Wire,
    /// Answers that are not objects.
    answer: Vec<u8>,
    base: String,
}

/// What one request needs beside the key.
struct Call<'a> {
    method: Method,
    key: &'a str,
    query: Vec<(&'a str, String)>,
    headers: Vec<(&'static str, String)>,
    body: Body,
}

impl<'a> Call<'a> {
    fn new(method: Method, key: &'a str) -> Self {
        Self { method, key, query: Vec::new(), headers: Vec::new(), body: Body::default() }
    }
}

impl S3 {
    /// Nothing is sent yet.
    pub fn new(
        settings: S3Settings,
        credentials: S3Credentials,
        trust: Option<Trust>,
        limits: Limits,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        check_bucket(&settings.bucket)?;
        let mut redactor = Redactor::default();
        redactor.hide(&credentials.secret_key);
        redactor.hide(&credentials.access_key);
        credentials.session_token.iter().for_each(|token| redactor.hide(token));
        let bucket = escape(&settings.bucket, false);
        let (endpoint, base) = match settings.style {
            Style::Path => {
                (settings.endpoint.clone(), format!("{}/{bucket}", settings.endpoint.path))
            }
            Style::VirtualHost => {
                (settings.endpoint.under(&settings.bucket), settings.endpoint.path.clone())
            }
        };
        let signer = Signer::new(credentials, settings.region.clone());
        let wire = Wire::new(endpoint, trust, limits);
        Ok(Self { settings, signer, redactor, clock, wire, answer: Vec::new(), base })
    }

    fn send(&mut self, call: &Call<'_>, into: &mut dyn Sink) -> Result<Reply, Error> {
        let path = match call.key {
            "" if !self.base.is_empty() => self.base.clone(),
            key => format!("{}/{}", self.base, escape(key, true)),
        };
        let query = query_string(&call.query);
        let hash = if self.settings.sign_payload || call.body.is_empty() {
            payload_hash(&call.body)
        } else {
            UNSIGNED.to_owned()
        };
        let signable = Signable {
            method: call.method.as_str(),
            path: &path,
            query: &query,
            host: &self.wire.endpoint().host_header(),
            headers: &call.headers,
            payload: &hash,
        };
        let mut headers = self.signer.headers(&signable, self.clock.unix_s());
        headers.extend(call.headers.iter().cloned());
        let target = if query.is_empty() { path } else { format!("{path}?{query}") };
        let body = call.body.clone();
        let request = Request { method: call.method.clone(), target, headers, body };
        let what = self.what(call);
        let reply = self.wire.exchange(&request, into).map_err(|error| error.within(&what))?;
        if (200..300).contains(&reply.status) {
            Ok(reply)
        } else {
            Err(self.explain(call, &reply, &reply.refusal))
        }
    }

    fn what(&self, call: &Call<'_>) -> String {
        format!("{} {}/{}", call.method, self.settings.bucket, call.key)
    }

    fn explain(&self, call: &Call<'_>, reply: &Reply, body: &[u8]) -> Error {
        let context = Context {
            what: &self.what(call),
            endpoint: &self.wire.endpoint().to_string(),
            bucket: &self.settings.bucket,
            region: self.signer.region(),
            redactor: &self.redactor,
            clock: &*self.clock,
        };
        let mut error = explain(&context, reply, body);
        // HEAD has no body to say so.
        if error.kind == ErrorKind::NotFound && call.key.is_empty() && call.query.is_empty() {
            error.kind = ErrorKind::NoContainer;
        }
        error
    }

    /// Sends and reads the answer with `read`; what that can't read is an error.
    fn read<T>(
        &mut self,
        call: &Call<'_>,
        read: impl FnOnce(&Reply, &[u8]) -> Option<T>,
    ) -> Outcome<T> {
        let mut answer = std::mem::take(&mut self.answer);
        let result = self.send(call, &mut answer).and_then(|reply| {
            if let Some(value) = read(&reply, &answer) {
                return Ok(Answer::new(value, reply.timing));
            }
            if xml::read_error(&answer).is_some() {
                return Err(self.explain(call, &reply, &answer));
            }
            let why = format!("{}: the answer makes no sense (not the XML of S3)", self.what(call));
            Err(Error::new(ErrorKind::Malformed, why).perhaps_performed())
        });
        self.answer = answer;
        result
    }

    fn nothing(&mut self, call: &Call<'_>) -> Outcome<()> {
        self.read(call, |_, _| Some(()))
    }
}

fn check_bucket(bucket: &str) -> Result<(), Error> {
    let fine = |b: u8| b.is_ascii_alphanumeric() || b"-._".contains(&b);
    if (1..=255).contains(&bucket.len()) && bucket.bytes().all(fine) {
        return Ok(());
    }
    let why = format!("{bucket:?} is no bucket's name: letters, digits, dots and hyphens only");
    Err(Error::new(ErrorKind::Settings, why))
}

fn stored(reply: &Reply, _: &[u8]) -> Option<Stored> {
    Some(Stored { etag: reply.etag() })
}

/// The whole object's size: of a part, from `Content-Range`.
pub(crate) fn found(reply: &Reply) -> Found {
    let whole = reply.header("content-range").and_then(|range| range.rsplit_once('/')).map(|r| r.1);
    let size = whole.or_else(|| reply.header("content-length"));
    Found { size_bytes: size.and_then(|text| text.parse().ok()), etag: reply.etag() }
}

/// First and last byte of `bytes 0-99/1000`.
fn content_range(reply: &Reply) -> Option<(u64, u64)> {
    let (range, _) = reply.header("content-range")?.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// A server that ignores `Range` answers 200 with everything: that is seldom what was asked. rclone
/// answers 200 with the range, and says so.
pub(crate) fn check_range(
    what: &str,
    range: Option<ByteRange>,
    reply: &Reply,
) -> Result<(), Error> {
    let Some(range) = range else { return Ok(()) };
    match content_range(reply) {
        Some((first, last))
            if first == range.start && last >= first && last - first < range.length =>
        {
            return Ok(());
        }
        Some((first, last)) => {
            let asked = range.header();
            let why = format!("{what}: asked for {asked}, the server sent {first}-{last}");
            return Err(Error::new(ErrorKind::Malformed, why));
        }
        None if reply.status == 206 => return Ok(()),
        None => {}
    }
    let size = found(reply).size_bytes;
    if range.start == 0 && size.is_some_and(|size| size <= range.length) {
        return Ok(()); // the whole object is what the range names
    }
    let why = format!("{what}: the server ignored the range and sent the whole object");
    Err(Error::new(ErrorKind::Malformed, why))
}

impl ObjectClient for S3 {
    fn put(&mut self, key: &str, body: &Body) -> Outcome<Stored> {
        self.read(&Call { body: body.clone(), ..Call::new(Method::PUT, key) }, stored)
    }

    fn get(&mut self, key: &str, range: Option<ByteRange>, into: &mut dyn Sink) -> Outcome<Found> {
        let mut call = Call::new(Method::GET, key);
        call.headers.extend(range.map(|range| ("range", range.header())));
        let reply = self.send(&call, into)?;
        check_range(&self.what(&call), range, &reply)?;
        Ok(Answer::new(found(&reply), reply.timing))
    }

    fn head(&mut self, key: &str) -> Outcome<Found> {
        self.read(&Call::new(Method::HEAD, key), |reply, _| Some(found(reply)))
    }

    fn delete(&mut self, key: &str) -> Outcome<()> {
        let call = Call::new(Method::DELETE, key);
        let result = self.nothing(&call);
        absent_is_fine(result)
    }

    fn delete_with_parts(&mut self, key: &str) -> Outcome<()> {
        self.delete(key)
    }

    fn list(&mut self, request: &ListRequest) -> Outcome<Page> {
        let mut call = Call::new(Method::GET, "");
        call.query = vec![
            ("list-type", "2".to_owned()),
            ("encoding-type", "url".to_owned()),
            ("prefix", request.prefix.clone()),
        ];
        call.query.extend(request.delimiter.map(|c| ("delimiter", c.to_string())));
        call.query.extend(request.from.clone().map(|from| ("continuation-token", from)));
        call.query.extend(request.limit.map(|limit| ("max-keys", limit.to_string())));
        self.read(&call, |_, body| xml::read_page(body))
    }

    fn begin_parts(&mut self, key: &str) -> Outcome<Upload> {
        let mut call = Call::new(Method::POST, key);
        call.query = vec![("uploads", String::new())];
        let upload = self.read(&call, |_, body| xml::read_upload_id(body))?;
        Ok(upload.map(|id| Upload { key: key.to_owned(), id }))
    }

    fn put_part(&mut self, upload: &Upload, number: u32, body: &Body) -> Outcome<Part> {
        let mut call = Call::new(Method::PUT, &upload.key);
        call.query = vec![("partNumber", number.to_string()), ("uploadId", upload.id.clone())];
        call.body = body.clone();
        let size_bytes = body.len();
        self.read(&call, |reply, _| Some(Part { number, etag: reply.etag(), size_bytes }))
    }

    fn finish_parts(&mut self, upload: &Upload, parts: &[Part]) -> Outcome<Stored> {
        let mut parts: Vec<&Part> = parts.iter().collect();
        parts.sort_by_key(|part| part.number);
        let mut body = String::from("<CompleteMultipartUpload>");
        for part in parts {
            let etag = xml::escaped(&part.etag);
            let number = part.number;
            body += &format!(
                "<Part><PartNumber>{number}</PartNumber><ETag>&quot;{etag}&quot;</ETag></Part>"
            );
        }
        body += "</CompleteMultipartUpload>";
        let mut call = Call::new(Method::POST, &upload.key);
        call.query = vec![("uploadId", upload.id.clone())];
        call.body = body.into();
        self.read(&call, |_, body| xml::read_completed(body).map(|etag| Stored { etag }))
    }

    fn abandon_parts(&mut self, upload: &Upload) -> Outcome<()> {
        let mut call = Call::new(Method::DELETE, &upload.key);
        call.query = vec![("uploadId", upload.id.clone())];
        let result = self.nothing(&call);
        absent_is_fine(result)
    }

    fn list_uploads(&mut self, prefix: &str) -> Outcome<Vec<Upload>> {
        let mut all = Vec::new();
        let mut from: Option<Upload> = None;
        loop {
            let mut call = Call::new(Method::GET, "");
            call.query = vec![("uploads", String::new()), ("prefix", prefix.to_owned())];
            call.query.push(("encoding-type", "url".to_owned()));
            if let Some(Upload { key, id }) = &from {
                call.query.push(("key-marker", key.clone()));
                call.query.push(("upload-id-marker", id.clone()));
            }
            let answer = self.read(&call, |_, body| xml::read_uploads(body))?;
            let (uploads, next) = answer.value;
            all.extend(uploads);
            if next.is_none() || next == from {
                return Ok(Answer { value: all, timing: answer.timing, retries: answer.retries });
            }
            from = next;
        }
    }

    fn create_container(&mut self) -> Outcome<()> {
        let mut call = Call::new(Method::PUT, "");
        if self.settings.region != "us-east-1" {
            call.body = format!(
                "<CreateBucketConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
                 <LocationConstraint>{}</LocationConstraint></CreateBucketConfiguration>",
                escape(&self.settings.region, false)
            )
            .into();
        }
        match self.nothing(&call) {
            // Some servers say this of one's own: ours is what we may list.
            Err(error) if error.kind == ErrorKind::ContainerTaken => {
                let ours = self.check().is_ok();
                ours.then(|| Answer::new((), error.timing)).ok_or(error)
            }
            result => result,
        }
    }

    fn delete_container(&mut self) -> Outcome<()> {
        self.nothing(&Call::new(Method::DELETE, ""))
    }
}

/// Removing what is not there is done; a repeated removal finds it so.
pub(crate) fn absent_is_fine(result: Outcome<()>) -> Outcome<()> {
    match result {
        Err(error) if error.kind == ErrorKind::NotFound => {
            Ok(Answer { value: (), timing: error.timing, retries: error.retries })
        }
        result => result,
    }
}
