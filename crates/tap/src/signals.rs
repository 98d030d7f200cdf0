//! Being asked to stop: SIGTERM and SIGINT are blocked but while waiting, so none is missed.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Error;

static ASKED_TO_STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn note(_signal: libc::c_int) {
    ASKED_TO_STOP.store(true, Ordering::Relaxed);
}

/// Blocks the signals and installs their handler.
pub fn install() -> Result<(), Error> {
    // SAFETY: all-zero sigset_t and sigaction are valid starting points; the handler does nothing
    // but store to an atomic, which is async-signal-safe; all pointers outlive their calls.
    let codes = unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = note as extern "C" fn(libc::c_int) as usize;
        [libc::SIGTERM, libc::SIGINT]
            .map(|signal| {
                libc::sigaddset(&raw mut set, signal);
                libc::sigaction(signal, &raw const action, std::ptr::null_mut())
            })
            .into_iter()
            .sum::<libc::c_int>()
            + libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut())
    };
    if codes < 0 {
        return Err(Error::last("cannot handle signals"));
    }
    Ok(())
}

/// True once a signal asked to stop.
pub fn asked_to_stop() -> bool {
    ASKED_TO_STOP.load(Ordering::Relaxed)
}

/// Waits until `socket` is readable, a signal comes, or `timeout_ms` (if any) has passed.
pub fn wait(socket: &OwnedFd, timeout_ms: Option<u32>) {
    let mut poll = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let timeout = timeout_ms.map(|ms| libc::timespec {
        tv_sec: libc::time_t::from(ms / 1000),
        tv_nsec: libc::c_long::from(ms % 1000) * 1_000_000,
    });
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: all pointers outlive the call; an empty mask lets the blocked signals in. What ended
    // the wait (a block, a signal, time) is looked up by the caller.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::ppoll(&raw mut poll, 1, timeout, &raw const none);
    }
}
