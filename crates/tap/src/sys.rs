//! The few system calls that need a wrapper: interface numbers, socket options.

use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::Error;

/// The kernel's number of the interface called `name`, in this network namespace.
pub fn interface_index(name: &str) -> Result<u32, Error> {
    let c_name = CString::new(name).map_err(|_| Error::setup("an interface name holds a NUL"))?;
    // SAFETY: `c_name` is NUL-terminated and outlives the call.
    match unsafe { libc::if_nametoindex(c_name.as_ptr()) } {
        0 => Err(Error::last(format_args!("no interface {name} in this network namespace"))),
        index => Ok(index),
    }
}

/// Sets socket option `name` of `level` to `value`.
pub fn set_option<T>(
    socket: &OwnedFd,
    level: libc::c_int,
    name: libc::c_int,
    value: &T,
) -> std::io::Result<()> {
    // SAFETY: `value` is readable for its size during the call.
    let code = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if code < 0 {
        return Err(std::io::Error::last_os_error());
    }
    Ok(())
}
