//! A non-blocking socket, plain or TLS, as hyper wants it; and what it was seen doing.
//!
//! Whoever drives the connection asks [`Activity`] what to wait for, when the first byte of an
//! answer came and when anything last moved.

use std::io::{self, BufReader, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Read, ReadBufCursor, Write};
use rustls::ClientConnection;

/// Bytes read from TLS at once: the largest record (RFC 8446, 5.1).
const RECORD_LEN: usize = 16 * 1024;
/// Bytes read for TLS with one system call.
const READ_LEN: usize = 128 * 1024;

/// What happened on a socket. Times are ns after `began`; 0 is never.
pub struct Activity {
    began: Instant,
    first_read_ns: AtomicU64,
    last_move_ns: AtomicU64,
    wants_read: AtomicBool,
    wants_write: AtomicBool,
    /// Nothing was there at the last look, and nothing has come since as far as poll(2) told.
    drained: AtomicBool,
}

impl Activity {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            began: Instant::now(),
            first_read_ns: AtomicU64::new(0),
            last_move_ns: AtomicU64::new(0),
            wants_read: AtomicBool::new(false),
            wants_write: AtomicBool::new(false),
            drained: AtomicBool::new(false),
        }
    }

    fn now_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    /// A request begins: what was read before doesn't count.
    pub fn restart(&self) {
        self.first_read_ns.store(0, Ordering::Relaxed);
        self.last_move_ns.store(self.now_ns(), Ordering::Relaxed);
    }

    /// When the first byte after the restart was read.
    pub fn first_read(&self) -> Option<Instant> {
        let ns = self.first_read_ns.load(Ordering::Relaxed);
        (ns > 0).then(|| self.began + Duration::from_nanos(ns))
    }

    /// When anything last moved.
    pub fn last_move(&self) -> Instant {
        self.began + Duration::from_nanos(self.last_move_ns.load(Ordering::Relaxed))
    }

    /// There may be something to read: hyper looks at every turn, and each look that finds nothing
    /// would be a system call.
    pub fn look_again(&self) {
        self.drained.store(false, Ordering::Relaxed);
    }

    /// The poll(2) events the socket waits for; asking clears them.
    pub fn take_events(&self) -> libc::c_short {
        let mut events = 0;
        if self.wants_read.swap(false, Ordering::Relaxed) {
            events |= libc::POLLIN;
        }
        if self.wants_write.swap(false, Ordering::Relaxed) {
            events |= libc::POLLOUT;
        }
        events
    }

    fn read(&self) {
        let now_ns = self.now_ns().max(1);
        self.last_move_ns.store(now_ns, Ordering::Relaxed);
        if self.first_read_ns.load(Ordering::Relaxed) == 0 {
            self.first_read_ns.store(now_ns, Ordering::Relaxed);
        }
    }

    fn wrote(&self) {
        self.last_move_ns.store(self.now_ns(), Ordering::Relaxed);
    }
}

/// A TLS session, and what was read for it and not yet taken: rustls takes 4 KiB at a time.
pub struct Tls {
    session: ClientConnection,
    incoming: BufReader<Incoming>,
}

impl Tls {
    /// TLS over `tcp`, its handshake done.
    pub fn new(session: ClientConnection, tcp: &Arc<TcpStream>) -> Box<Self> {
        let incoming = BufReader::with_capacity(READ_LEN, Incoming(Arc::clone(tcp)));
        Box::new(Self { session, incoming })
    }
}

struct Incoming(Arc<TcpStream>);

impl io::Read for Incoming {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

/// The socket; hyper owns it.
pub struct Socket {
    /// Shared with the driver, which waits on it: so its number is never another file's.
    pub tcp: Arc<TcpStream>,
    /// TLS, its handshake done.
    pub tls: Option<Box<Tls>>,
    /// What happens on it.
    pub activity: Arc<Activity>,
}

fn would_block(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

impl Socket {
    /// Reads what is there; how many bytes, 0 at the end.
    fn receive(&mut self, buffer: &mut ReadBufCursor<'_>) -> io::Result<usize> {
        let drained = &self.activity.drained;
        let Some(Tls { session: tls, incoming }) = self.tls.as_deref_mut() else {
            if drained.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let asked = buffer.remaining();
            let count = receive_plain(&self.tcp, buffer)?;
            drained.store(count < asked, Ordering::Relaxed);
            return Ok(count);
        };
        let mut record = [0; RECORD_LEN];
        let len = buffer.remaining().min(RECORD_LEN);
        loop {
            match tls.reader().read(&mut record[..len]) {
                Ok(count) => {
                    buffer.put_slice(&record[..count]);
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            // Its end shows in the reader, as an orderly close or not.
            if incoming.buffer().is_empty() && drained.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let _ = tls.read_tls(incoming)?;
            tls.process_new_packets()
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        }
    }

    fn send(&mut self, parts: &[io::IoSlice<'_>]) -> io::Result<usize> {
        let Some(Tls { session: tls, .. }) = self.tls.as_deref_mut() else {
            return (&*self.tcp).write_vectored(parts);
        };
        let taken = tls.writer().write_vectored(parts)?;
        while tls.wants_write() {
            match tls.write_tls(&mut &*self.tcp) {
                Err(error) if would_block(&error) && taken == 0 => return Err(error),
                Err(error) if would_block(&error) => break,
                Err(error) => return Err(error),
                Ok(_) if taken == 0 => return Err(io::ErrorKind::Interrupted.into()),
                Ok(_) => {}
            }
        }
        Ok(taken)
    }

    fn poll_send(
        &mut self,
        cx: &Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.send(parts) {
            Ok(count) => {
                self.activity.wrote();
                Poll::Ready(Ok(count))
            }
            Err(error) => self.wait_to_write(cx, error),
        }
    }

    /// An interrupted call is repeated at once, by waking the driver.
    fn wait_to_write<T>(&self, cx: &Context<'_>, error: io::Error) -> Poll<io::Result<T>> {
        if !would_block(&error) {
            return Poll::Ready(Err(error));
        }
        if error.kind() == io::ErrorKind::Interrupted {
            cx.waker().wake_by_ref();
        }
        self.activity.wants_write.store(true, Ordering::Relaxed);
        Poll::Pending
    }
}

fn receive_plain(tcp: &TcpStream, buffer: &mut ReadBufCursor<'_>) -> io::Result<usize> {
    // SAFETY: only recv(2) writes to the memory, and it never takes initialised bytes back.
    let room: &mut [MaybeUninit<u8>] = unsafe { buffer.as_mut() };
    // SAFETY: `room` is writable for its length and borrowed during the call.
    let code = unsafe { libc::recv(tcp.as_raw_fd(), room.as_mut_ptr().cast(), room.len(), 0) };
    let count = usize::try_from(code).map_err(|_| io::Error::last_os_error())?;
    // SAFETY: recv(2) filled the first `count` bytes.
    unsafe { buffer.advance(count) };
    Ok(count)
}

impl Read for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        match self.receive(&mut buffer) {
            Ok(0) => Poll::Ready(Ok(())),
            Ok(_) => {
                self.activity.read();
                Poll::Ready(Ok(()))
            }
            Err(error) if would_block(&error) => {
                if error.kind() == io::ErrorKind::Interrupted {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                self.activity.drained.store(true, Ordering::Relaxed);
                self.activity.wants_read.store(true, Ordering::Relaxed);
                Poll::Pending
            }
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl Write for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_send(cx, &[io::IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_send(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while let Some(tls) =
            this.tls.as_mut().map(|tls| &mut tls.session).filter(|tls| tls.wants_write())
        {
            match tls.write_tls(&mut &*this.tcp) {
                Ok(_) => this.activity.wrote(),
                Err(error) => return this.wait_to_write(cx, error),
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if let Some(Tls { session: tls, .. }) = this.tls.as_deref_mut() {
            tls.send_close_notify();
            let _ = tls.write_tls(&mut &*this.tcp);
        }
        Poll::Ready(this.tcp.shutdown(std::net::Shutdown::Write))
    }
}
