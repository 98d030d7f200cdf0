//! Which packets reach the ring, decided in the kernel by a classic BPF program.

use std::os::fd::OwnedFd;

use crate::options::Direction;
use crate::{sys, Error};

// linux/bpf_common.h, filter.h, if_packet.h.
const LOAD_WORD: u16 = 0x20;
const JUMP_IF_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;
const AUXILIARY: u32 = libc::SKF_AD_OFF as u32;
const PACKET_TYPE: u32 = AUXILIARY.wrapping_add(libc::SKF_AD_PKTTYPE as u32);
const INTERFACE: u32 = AUXILIARY.wrapping_add(libc::SKF_AD_IFINDEX as u32);
const OUTGOING: u32 = libc::PACKET_OUTGOING as u32;

fn op(code: u16, k: u32, if_true: u8, if_false: u8) -> libc::sock_filter {
    libc::sock_filter { code, jt: if_true, jf: if_false, k }
}

/// A program that keeps `snap_bytes` of the packets of `interfaces` in `direction`.
pub fn program(
    interfaces: &[u32],
    direction: Direction,
    snap_bytes: u32,
) -> Vec<libc::sock_filter> {
    let (keep, drop) = (op(RETURN, snap_bytes, 0, 0), op(RETURN, 0, 0, 0));
    let mut program = Vec::new();
    match direction {
        Direction::Out => {
            program.extend([op(LOAD_WORD, PACKET_TYPE, 0, 0), op(JUMP_IF_EQUAL, OUTGOING, 1, 0)]);
            program.push(drop);
        }
        Direction::In => {
            program.extend([op(LOAD_WORD, PACKET_TYPE, 0, 0), op(JUMP_IF_EQUAL, OUTGOING, 0, 1)]);
            program.push(drop);
        }
        Direction::Both => {}
    }
    program.push(op(LOAD_WORD, INTERFACE, 0, 0));
    for &interface in interfaces {
        program.extend([op(JUMP_IF_EQUAL, interface, 0, 1), keep]);
    }
    program.push(drop);
    program
}

/// A program that keeps nothing.
pub fn nothing() -> Vec<libc::sock_filter> {
    vec![op(RETURN, 0, 0, 0)]
}

/// Makes `program` the filter of `socket`, in place of what was there.
pub fn attach(socket: &OwnedFd, program: &mut [libc::sock_filter]) -> Result<(), Error> {
    let header =
        libc::sock_fprog { len: program.len() as libc::c_ushort, filter: program.as_mut_ptr() };
    sys::set_option(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &header)
        .map_err(|error| Error::setup(format!("cannot attach the packet filter: {error}")))
}
