//! The engine's only source of time: a monotonic clock, of which only differences are used.

/// Reads and waits. Tests bring a clock of their own.
pub trait Clock: Sync {
    /// Nanoseconds since some fixed moment.
    fn now_ns(&self) -> u64;
    /// Returns at `at_ns` or later.
    fn sleep_until_ns(&self, at_ns: u64);
}

/// `CLOCK_MONOTONIC`: no system call where the kernel maps its vDSO, one inside the guest.
#[derive(Debug, Clone, Copy, Default)]
pub struct Monotonic;

impl Clock for Monotonic {
    fn now_ns(&self) -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` outlives the call; CLOCK_MONOTONIC exists on every Linux.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }

    fn sleep_until_ns(&self, at_ns: u64) {
        let until = libc::timespec {
            tv_sec: (at_ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (at_ns % 1_000_000_000) as libc::c_long,
        };
        loop {
            // SAFETY: `until` outlives the call; with TIMER_ABSTIME the remainder is not written.
            let code = unsafe {
                libc::clock_nanosleep(
                    libc::CLOCK_MONOTONIC,
                    libc::TIMER_ABSTIME,
                    &raw const until,
                    std::ptr::null_mut(),
                )
            };
            if code != libc::EINTR {
                return;
            }
        }
    }
}

/// Lets the calling thread's sleeps end on time: the default slack of 50 µs would count as latency.
pub fn forbid_timer_slack() {
    // SAFETY: PR_SET_TIMERSLACK takes a number and touches no memory of ours.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
}
