//! One request and its answer on a connection that is kept, or opened again where it ended.

use std::error::Error as _;
use std::time::{Duration, Instant};

use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use hyper::header::{HeaderMap, HeaderName, HeaderValue, CONTENT_LENGTH, HOST};
use hyper::{Method, Response};

use super::connection::{Connection, Driver, Stopped};
use super::endpoint::Endpoint;
use super::tls::Trust;
use crate::body::{Body, Pieces, Sink};
use crate::client::Timing;
use crate::error::{Error, ErrorKind};

/// Bytes kept of an answer that is an error: what follows is for nobody.
const ERROR_BODY_BYTES: u64 = 64 * 1024;

/// How long and how much at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Name, TCP and TLS.
    pub connect: Duration,
    /// No byte moved either way.
    pub silence: Duration,
    /// One attempt of one request, its connection included.
    pub request: Duration,
    /// Bytes of an answer.
    pub body_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            silence: Duration::from_secs(60),
            request: Duration::from_secs(300),
            body_bytes: 1 << 30,
        }
    }
}

/// What is asked. Header names are lower-case; `host` is added.
#[derive(Clone)]
pub struct Request {
    /// Method.
    pub method: Method,
    /// Path and query, escaped.
    pub target: String,
    /// All other headers.
    pub headers: Vec<(&'static str, String)>,
    /// Body, often empty.
    pub body: Body,
}

/// Status and headers. The body of a 2xx went into the caller's sink.
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Headers.
    pub headers: HeaderMap,
    /// How long it took.
    pub timing: Timing,
    /// The body of any other answer, or its beginning.
    pub refusal: Vec<u8>,
}

impl Reply {
    /// A header's value, where it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The ETag without quotes, weak or strong.
    pub fn etag(&self) -> String {
        let etag = self.header("etag").unwrap_or_default();
        etag.strip_prefix("W/").unwrap_or(etag).trim_matches('"').to_owned()
    }
}

/// One connection to one server, opened when first needed.
pub struct Wire {
    endpoint: Endpoint,
    trust: Option<Trust>,
    limits: Limits,
    connection: Option<Connection>,
}

impl Wire {
    /// Nothing is opened yet.
    pub fn new(endpoint: Endpoint, trust: Option<Trust>, limits: Limits) -> Self {
        Self { endpoint, trust, limits, connection: None }
    }

    /// The server.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Does one request. What a 2xx brings goes into `into`, which is restarted first.
    pub fn exchange(&mut self, request: &Request, into: &mut dyn Sink) -> Result<Reply, Error> {
        into.restart();
        let until = Instant::now() + self.limits.request;
        let outgoing = self.outgoing(request)?;
        let (mut connection, connect_ns) = self.connected(until)?;
        let sent = Instant::now();
        connection.driver.activity().restart();
        let limits = self.limits;
        let answer = answered(&mut connection, outgoing, until, limits);
        let mut response = answer.map_err(|error| self.explain(error))?;
        let status = response.status().as_u16();
        let mut refusal = Vec::new();
        let (into, limit) = match status {
            ..300 => (into, limits.body_bytes),
            _ => (&mut refusal as &mut dyn Sink, ERROR_BODY_BYTES),
        };
        let body = response.body_mut();
        let driver = &mut connection.driver;
        let whole = read_body(driver, body, into, limit, until, limits.silence)
            .map_err(|error| self.explain(error))?;
        let ended = Instant::now();
        let first = connection.driver.activity().first_read().unwrap_or(ended);
        let timing = Timing {
            connect_ns,
            first_byte_ns: first.saturating_duration_since(sent).as_nanos() as u64,
            last_byte_ns: ended.saturating_duration_since(sent).as_nanos() as u64,
        };
        if whole {
            self.connection = Some(connection);
        } else if status < 300 {
            let why = format!("the answer is longer than {limit} bytes");
            return Err(self.explain(Error::new(ErrorKind::Malformed, why).perhaps_performed()));
        }
        let (parts, _) = response.into_parts();
        Ok(Reply { status, headers: parts.headers, timing, refusal })
    }

    fn explain(&self, error: Error) -> Error {
        error.within(&self.endpoint.to_string())
    }

    fn outgoing(&self, request: &Request) -> Result<hyper::Request<Pieces>, Error> {
        let wrong = |what: &str| {
            Error::new(ErrorKind::Settings, format!("{what} cannot be sent over HTTP"))
        };
        let mut outgoing = hyper::Request::builder()
            .method(request.method.clone())
            .uri(&request.target)
            .body(request.body.pieces())
            .map_err(|_| wrong("this path"))?;
        let headers = outgoing.headers_mut();
        let host = HeaderValue::from_str(&self.endpoint.host_header());
        headers.insert(HOST, host.map_err(|_| wrong("this host"))?);
        if matches!(request.method, Method::PUT | Method::POST) {
            // Said for an empty body too: Swift asks for it (411 else).
            headers.insert(CONTENT_LENGTH, HeaderValue::from(request.body.len()));
        }
        for (name, value) in &request.headers {
            // The value is never repeated in the error: it may be a token.
            let value = HeaderValue::from_str(value).map_err(|_| wrong(name))?;
            headers.insert(HeaderName::from_static(name), value);
        }
        Ok(outgoing)
    }

    /// The open connection, or a new one with the time it took.
    fn connected(&mut self, until: Instant) -> Result<(Connection, Option<u64>), Error> {
        if let Some(mut connection) = self.connection.take() {
            if connection.driver.is_open() && !connection.sender.is_closed() {
                return Ok((connection, None));
            }
        }
        let began = Instant::now();
        let deadline = until.min(began + self.limits.connect);
        let opened = Connection::open(&self.endpoint, self.trust.as_ref(), deadline)
            .map_err(|error| self.explain(error))?;
        Ok((opened, Some(began.elapsed().as_nanos() as u64)))
    }
}

fn answered(
    connection: &mut Connection,
    outgoing: hyper::Request<Pieces>,
    until: Instant,
    limits: Limits,
) -> Result<Response<Incoming>, Error> {
    let Connection { sender, driver } = connection;
    let ready = driver.run(sender.ready(), until, limits.silence);
    ready.map_err(|why| stopped(why, limits))?.map_err(|error| broken(&error))?;
    let response = sender.send_request(outgoing);
    driver
        .run(response, until, limits.silence)
        .map_err(|why| stopped(why, limits).perhaps_performed())?
        .map_err(|error| broken(&error))
}

/// True where the whole body was read; false where it is longer than `limit`.
fn read_body(
    driver: &mut Driver,
    body: &mut Incoming,
    into: &mut dyn Sink,
    limit: u64,
    until: Instant,
    silence: Duration,
) -> Result<bool, Error> {
    let limits = Limits { silence, ..Limits::default() };
    into.expect(body.size_hint().exact().unwrap_or(0).min(limit));
    let mut taken = 0;
    loop {
        let frame = driver
            .run(body.frame(), until, silence)
            .map_err(|why| stopped(why, limits).perhaps_performed())?;
        let Some(frame) = frame else { return Ok(true) };
        let frame = frame.map_err(|error| broken(&error))?;
        let Some(data) = frame.data_ref() else { continue };
        taken += data.len() as u64;
        if taken > limit {
            return Ok(false);
        }
        into.take(data);
    }
}

fn stopped(why: Stopped, limits: Limits) -> Error {
    match why {
        Stopped::Deadline => Error::new(ErrorKind::Deadline, "the request took too long"),
        Stopped::Silence => {
            let why =
                format!("nothing came for {:?}: the server hangs. Try: check it", limits.silence);
            Error::new(ErrorKind::Deadline, why)
        }
        Stopped::Closed => Error::new(ErrorKind::Connection, "the server closed the connection"),
    }
}

fn broken(error: &hyper::Error) -> Error {
    let mut cause = error.to_string();
    let mut source = error.source();
    while let Some(deeper) = source {
        cause = deeper.to_string();
        source = deeper.source();
    }
    let failed = if error.is_parse() {
        Error::new(ErrorKind::Malformed, format!("the answer is not HTTP ({cause})"))
    } else {
        Error::new(ErrorKind::Connection, format!("the connection broke ({cause})"))
    };
    if error.is_canceled() {
        failed
    } else {
        failed.perhaps_performed()
    }
}
