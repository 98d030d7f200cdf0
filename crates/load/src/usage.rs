//! CPU time of this process (getrusage(2)), as a difference between two moments.

/// User and system time since the process began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// In user mode.
    pub user_ns: u64,
    /// In the kernel on this process's behalf.
    pub system_ns: u64,
}

impl CpuTime {
    /// All threads of this process, ended ones too.
    pub fn now() -> Self {
        // SAFETY: rusage is plain data for which all zeros is valid.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `usage` outlives the call.
        unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
        let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
        Self { user_ns: ns(usage.ru_utime), system_ns: ns(usage.ru_stime) }
    }

    /// What was used after `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
        }
    }
}
