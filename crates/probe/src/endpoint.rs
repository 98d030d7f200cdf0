//! A UDP socket in a named network namespace, sending in batches, receiving with kernel time.

use std::ffi::CString;
use std::mem::{size_of, zeroed};
use std::net::Ipv4Addr;

const PORT: u16 = 7;
const BUFFER_BYTES: libc::c_int = 256 << 20;
const BATCH: usize = 256;
const HEADER_BYTES: usize = 8;

pub struct Endpoint {
    socket: libc::c_int,
}

/// One direction: packets go from `sender` to `receiver`.
pub struct Pair<'a> {
    pub sender: &'a Endpoint,
    pub receiver: &'a Endpoint,
}

/// A packet as received: its sequence number and the kernel's time of arrival.
pub struct Arrival {
    pub sequence: u64,
    pub at_ns: u64,
}

fn failed(doing: &str) -> String {
    format!("{doing}: {}", std::io::Error::last_os_error())
}

fn address(text: &str) -> Result<libc::sockaddr_in, String> {
    let ip: Ipv4Addr = text.parse().map_err(|_| format!("{text} is not an IPv4 address"))?;
    Ok(libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: PORT.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(ip).to_be() },
        sin_zero: [0; 8],
    })
}

/// The clock the kernel's packet time stamps use.
pub fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec for the call to fill.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Endpoint {
    /// A socket bound to `ip` inside the namespace whose file is `namespace`.
    pub fn open(namespace: &str, ip: &str) -> Result<Self, String> {
        let path = CString::new(namespace).map_err(|error| error.to_string())?;
        let local = address(ip)?;
        // SAFETY: plain system calls on descriptors made here; `local` outlives the bind, `one`
        // and `size` the setsockopt calls that read them.
        unsafe {
            let file = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
            if file < 0 || libc::setns(file, libc::CLONE_NEWNET) < 0 {
                return Err(failed(&format!("entering the namespace {namespace}")));
            }
            libc::close(file);
            let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
            if socket < 0 {
                return Err(failed("making a socket"));
            }
            let one: libc::c_int = 1;
            let size = size_of::<libc::c_int>() as libc::socklen_t;
            for (option, value) in [
                (libc::SO_TIMESTAMPNS, &one),
                (libc::SO_RCVBUFFORCE, &BUFFER_BYTES),
                (libc::SO_SNDBUFFORCE, &BUFFER_BYTES),
            ] {
                let value = std::ptr::from_ref(value).cast();
                if libc::setsockopt(socket, libc::SOL_SOCKET, option, value, size) < 0 {
                    return Err(failed("setting up a socket"));
                }
            }
            let pointer = std::ptr::from_ref(&local).cast();
            if libc::bind(socket, pointer, size_of::<libc::sockaddr_in>() as libc::socklen_t) < 0 {
                return Err(failed(&format!("binding to {ip}")));
            }
            Ok(Self { socket })
        }
    }

    pub fn connect(&self, ip: &str) -> Result<(), String> {
        let peer = address(ip)?;
        // SAFETY: `peer` is a valid address and outlives the call.
        let result = unsafe {
            libc::connect(
                self.socket,
                std::ptr::from_ref(&peer).cast(),
                size_of::<libc::sockaddr_in>() as libc::socklen_t,
            )
        };
        if result < 0 {
            return Err(failed(&format!("connecting to {ip}")));
        }
        Ok(())
    }

    /// Sends packets `first..first + count` of `payload_bytes` each, in as few calls as possible.
    pub fn send(&self, first: u64, count: usize, payload_bytes: usize) -> Result<(), String> {
        let size = payload_bytes.max(HEADER_BYTES);
        let mut sent = 0;
        while sent < count {
            let batch = (count - sent).min(BATCH);
            let mut data = vec![0_u8; batch * size];
            for (index, packet) in data.chunks_exact_mut(size).enumerate() {
                let sequence = first + (sent + index) as u64;
                packet[..HEADER_BYTES].copy_from_slice(&sequence.to_le_bytes());
            }
            let mut parts: Vec<libc::iovec> = data
                .chunks_exact_mut(size)
                .map(|packet| libc::iovec { iov_base: packet.as_mut_ptr().cast(), iov_len: size })
                .collect();
            let mut messages: Vec<libc::mmsghdr> = parts
                .iter_mut()
                .map(|part| {
                    // SAFETY: all-zero is a valid mmsghdr (null name and control).
                    let mut message: libc::mmsghdr = unsafe { zeroed() };
                    message.msg_hdr.msg_iov = part;
                    message.msg_hdr.msg_iovlen = 1;
                    message
                })
                .collect();
            // SAFETY: `messages` point into `parts`, those into `data`; all outlive the call.
            let done =
                unsafe { libc::sendmmsg(self.socket, messages.as_mut_ptr(), batch as u32, 0) };
            if done <= 0 {
                return Err(failed("sending probes"));
            }
            sent += done as usize;
        }
        Ok(())
    }

    /// Everything that has arrived, in order of arrival, without waiting.
    pub fn drain(&self) -> Result<Vec<Arrival>, String> {
        const CONTROL_BYTES: usize = 64;
        let mut arrivals = Vec::new();
        let mut headers = vec![[0_u8; HEADER_BYTES]; BATCH];
        let mut controls = vec![[0_u64; CONTROL_BYTES / 8]; BATCH];
        loop {
            let mut parts: Vec<libc::iovec> = headers
                .iter_mut()
                .map(|header| libc::iovec {
                    iov_base: header.as_mut_ptr().cast(),
                    iov_len: HEADER_BYTES,
                })
                .collect();
            let mut messages: Vec<libc::mmsghdr> = parts
                .iter_mut()
                .zip(controls.iter_mut())
                .map(|(part, control)| {
                    // SAFETY: all-zero is a valid mmsghdr.
                    let mut message: libc::mmsghdr = unsafe { zeroed() };
                    message.msg_hdr.msg_iov = part;
                    message.msg_hdr.msg_iovlen = 1;
                    message.msg_hdr.msg_control = control.as_mut_ptr().cast();
                    message.msg_hdr.msg_controllen = CONTROL_BYTES;
                    message
                })
                .collect();
            // SAFETY: `messages` point into buffers that outlive the call; no timeout is passed.
            let count = unsafe {
                libc::recvmmsg(
                    self.socket,
                    messages.as_mut_ptr(),
                    BATCH as u32,
                    libc::MSG_DONTWAIT,
                    std::ptr::null_mut(),
                )
            };
            if count <= 0 {
                let error = std::io::Error::last_os_error();
                match error.raw_os_error() {
                    Some(libc::EAGAIN) => return Ok(arrivals),
                    // What the network refused earlier is reported once and is no arrival.
                    Some(libc::ECONNREFUSED | libc::EHOSTUNREACH) => continue,
                    _ => return Err(format!("receiving probes: {error}")),
                }
            }
            for (message, header) in messages.iter().zip(&headers).take(count as usize) {
                if let Some(at_ns) = kernel_time(&message.msg_hdr) {
                    arrivals.push(Arrival { sequence: u64::from_le_bytes(*header), at_ns });
                }
            }
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        // SAFETY: the socket is ours and is closed once.
        unsafe { libc::close(self.socket) };
    }
}

/// The SCM_TIMESTAMPNS of a received message.
fn kernel_time(message: &libc::msghdr) -> Option<u64> {
    // SAFETY: the kernel filled the control buffer `message` points to, which is still alive; the
    // CMSG walk stays inside msg_controllen.
    unsafe {
        let mut control = libc::CMSG_FIRSTHDR(message);
        while !control.is_null() {
            if (*control).cmsg_level == libc::SOL_SOCKET
                && (*control).cmsg_type == libc::SCM_TIMESTAMPNS
            {
                let time: libc::timespec =
                    std::ptr::read_unaligned(libc::CMSG_DATA(control).cast());
                return Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64);
            }
            control = libc::CMSG_NXTHDR(message, control);
        }
        None
    }
}
