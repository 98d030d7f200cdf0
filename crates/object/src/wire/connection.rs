//! One connection: opened by a deadline, driven on the calling thread.

use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::pin::{pin, Pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use hyper::client::conn::http1::{self, SendRequest};
use rustls::pki_types::ServerName;
use rustls::ClientConnection;

use super::endpoint::{Endpoint, Scheme};
use super::resolve::resolve;
use super::socket::{Activity, Socket, Tls};
use super::tls::Trust;
use crate::body::Pieces;
use crate::error::{Error, ErrorKind};

/// Why driving ended without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// The whole request took too long.
    Deadline,
    /// Nothing moved for too long.
    Silence,
    /// The connection ended.
    Closed,
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

/// Moves bytes while somebody waits for something.
pub struct Driver {
    protocol: Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>>,
    tcp: Arc<TcpStream>,
    activity: Arc<Activity>,
    woken: Arc<Woken>,
    waker: Waker,
    closed: bool,
}

impl Driver {
    /// What is seen on the socket.
    pub fn activity(&self) -> &Activity {
        &self.activity
    }

    /// Lets the protocol do what can be done at once; false where the connection has ended.
    pub fn is_open(&mut self) -> bool {
        let waker = self.waker.clone();
        self.activity.look_again();
        self.poll_protocol(&mut Context::from_waker(&waker));
        !self.closed
    }

    fn poll_protocol(&mut self, cx: &mut Context<'_>) {
        if !self.closed && self.protocol.as_mut().poll(cx).is_ready() {
            self.closed = true;
            self.woken.0.store(true, Ordering::Release);
        }
    }

    /// Drives the connection until `future` is done.
    pub fn run<F: Future>(
        &mut self,
        future: F,
        until: Instant,
        silence: Duration,
    ) -> Result<F::Output, Stopped> {
        let mut future = pin!(future);
        let waker = self.waker.clone();
        let mut cx = Context::from_waker(&waker);
        loop {
            self.woken.0.store(false, Ordering::Release);
            self.poll_protocol(&mut cx);
            if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                return Ok(output);
            }
            if self.woken.0.load(Ordering::Acquire) {
                continue;
            }
            if self.closed {
                return Err(Stopped::Closed);
            }
            let quiet = self.activity.last_move() + silence;
            let events = self.activity.take_events();
            if !wait_for(&self.tcp, events, until.min(quiet)) {
                return Err(if until <= quiet { Stopped::Deadline } else { Stopped::Silence });
            }
            self.activity.look_again();
        }
    }
}

/// Sleeps until the socket is ready (true) or `until` (false). Interruptions count as ready.
fn wait_for(tcp: &TcpStream, events: libc::c_short, until: Instant) -> bool {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return false;
    }
    let timeout = libc::timespec {
        tv_sec: left.as_secs() as libc::time_t,
        tv_nsec: left.subsec_nanos().into(),
    };
    let mut descriptor = libc::pollfd { fd: tcp.as_raw_fd(), events, revents: 0 };
    // SAFETY: both records outlive the call, and no signal mask is given.
    let ready =
        unsafe { libc::ppoll(&raw mut descriptor, 1, &raw const timeout, std::ptr::null()) };
    ready != 0
}

/// A connection to one server.
pub struct Connection {
    /// Takes requests.
    pub sender: SendRequest<Pieces>,
    /// Moves their bytes.
    pub driver: Driver,
}

impl Connection {
    /// Finds, connects and, for https, verifies.
    pub fn open(endpoint: &Endpoint, trust: Option<&Trust>, until: Instant) -> Result<Self, Error> {
        let tcp = connect_any(endpoint, until)?;
        let failed = |error: &io::Error| {
            Error::new(ErrorKind::Connection, format!("cannot use the connection: {error}"))
        };
        tcp.set_nodelay(true).map_err(|error| failed(&error))?;
        tcp.set_nonblocking(true).map_err(|error| failed(&error))?;
        let tls = match (endpoint.scheme, trust) {
            (Scheme::Http, _) => None,
            (Scheme::Https, Some(trust)) => Some(shake_hands(endpoint, trust, &tcp, until)?),
            (Scheme::Https, None) => {
                return Err(Error::new(ErrorKind::Tls, "no certificate authorities were given"));
            }
        };
        let tcp = Arc::new(tcp);
        let tls = tls.map(|session| Tls::new(session, &tcp));
        let activity = Arc::new(Activity::new());
        let socket = Socket { tcp: Arc::clone(&tcp), tls, activity: Arc::clone(&activity) };
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        // hyper's handshake only hands the socket over: it is done at the first poll.
        let mut handshake = pin!(http1::Builder::new().writev(true).handshake(socket));
        let shaken = handshake.as_mut().poll(&mut Context::from_waker(&waker));
        let Poll::Ready(Ok((sender, protocol))) = shaken else {
            return Err(Error::new(ErrorKind::Connection, "HTTP did not begin"));
        };
        let protocol = Box::pin(protocol);
        let driver = Driver { protocol, tcp, activity, woken, waker, closed: false };
        Ok(Self { sender, driver })
    }
}

fn connect_any(endpoint: &Endpoint, until: Instant) -> Result<TcpStream, Error> {
    let mut last = None;
    for address in resolve(&endpoint.host, endpoint.port, until)? {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(tcp) => return Ok(tcp),
            Err(error) => last = Some((address, error)),
        }
    }
    Err(match last {
        Some((address, error)) if error.kind() != io::ErrorKind::TimedOut => {
            not_connected(address, &error)
        }
        _ => Error::new(
            ErrorKind::Deadline,
            "no connection in time: nothing answers there. Try: check the endpoint",
        ),
    })
}

fn not_connected(address: SocketAddr, error: &io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            ": nothing listens there. Try: check the port, start the server"
        }
        _ => "",
    };
    Error::new(ErrorKind::Connection, format!("cannot connect to {address} ({error}){hint}"))
}

/// What to try, by what rustls says.
fn remedy(error: &dyn std::fmt::Display) -> &'static str {
    let said = error.to_string();
    let knows = |word: &str| said.contains(word);
    if knows("not valid for name") || knows("NotValidForName") {
        ". Try: the name that its certificate has"
    } else if knows("xpired") || knows("NotValidYet") || knows("not valid yet") {
        ". Try: check this machine's clock; its certificate may have to be renewed"
    } else if knows("peer certificate") {
        ". Try: name the file of its authority (ca_file; wavetank bench: --ca-file)"
    } else if knows("InvalidContentType") {
        ". Try: http://, where the server speaks no TLS"
    } else {
        ""
    }
}

fn shake_hands(
    endpoint: &Endpoint,
    trust: &Trust,
    tcp: &TcpStream,
    until: Instant,
) -> Result<ClientConnection, Error> {
    let failed = |error: &dyn std::fmt::Display| {
        let host = &endpoint.host;
        Error::new(ErrorKind::Tls, format!("TLS with {host} failed: {error}{}", remedy(error)))
    };
    let name = ServerName::try_from(endpoint.host.clone()).map_err(|error| failed(&error))?;
    let mut tls = ClientConnection::new(trust.config(), name).map_err(|error| failed(&error))?;
    while tls.is_handshaking() {
        match tls.complete_io(&mut &*tcp) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let events = if tls.wants_write() { libc::POLLOUT } else { libc::POLLIN };
                if !wait_for(tcp, events, until) {
                    return Err(Error::new(
                        ErrorKind::Deadline,
                        "TLS began and did not end in time",
                    ));
                }
            }
            Err(error) => return Err(failed(&error)),
        }
    }
    Ok(tls)
}
