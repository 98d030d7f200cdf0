//! The kernel's ring of packets (packet(7), TPACKET_V3): one socket and one ring for all
//! interfaces, so that packets come in the order in which the kernel saw them.
//!
//! The kernel fills blocks and hands each over when it is full or its timeout has passed: one
//! wake-up per block and not per packet. A block is ours until it is given back.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{sys, Error};

const BLOCK_BYTES: u32 = 1 << 20;
/// Only its alignment matters in version 3; the kernel wants a value.
const FRAME_BYTES: u32 = 2048;
/// Where the link-layer address stands after a packet's header (TPACKET_ALIGN of 16).
const ADDRESS_OFFSET: usize = size_of::<libc::tpacket3_hdr>().div_ceil(16) * 16;

/// One captured packet.
pub struct Packet<'a> {
    /// The kernel's number of the interface.
    pub interface_index: u32,
    /// When, in ns of the kernel's real-time clock.
    pub time_ns: u64,
    /// Its length on the link.
    pub length: u32,
    /// What was kept of it.
    pub bytes: &'a [u8],
}

/// Packets counted by the kernel since the last call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Put into the ring.
    pub delivered: u64,
    /// Lost because the ring was full.
    pub dropped: u64,
}

/// A bound socket with its ring.
pub struct Ring {
    socket: OwnedFd,
    start: *mut u8,
    blocks: u32,
    next_block: u32,
}

impl Ring {
    /// A ring of `ring_mib` MiB that nothing arrives in until [`Ring::bind`].
    pub fn new(ring_mib: u32, block_timeout_ms: u32) -> Result<Self, Error> {
        // SAFETY: takes numbers only.
        let fd = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
        if fd < 0 {
            return Err(Error::last("cannot open a packet socket (needs CAP_NET_RAW)"));
        }
        // SAFETY: `fd` was just opened and has no other owner.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        let blocks = ring_mib;
        let request = libc::tpacket_req3 {
            tp_block_size: BLOCK_BYTES,
            tp_block_nr: blocks,
            tp_frame_size: FRAME_BYTES,
            tp_frame_nr: blocks * (BLOCK_BYTES / FRAME_BYTES),
            tp_retire_blk_tov: block_timeout_ms,
            tp_sizeof_priv: 0,
            tp_feature_req_word: 0,
        };
        let version = libc::tpacket_versions::TPACKET_V3 as libc::c_int;
        sys::set_option(&socket, libc::SOL_PACKET, libc::PACKET_VERSION, &version)
            .and_then(|()| {
                sys::set_option(&socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)
            })
            .map_err(|error| Error::setup(format!("cannot make a {ring_mib} MiB ring: {error}")))?;
        let start = map(&socket, blocks)?;
        Ok(Self { socket, start, blocks, next_block: 0 })
    }

    /// The socket, for its filter and for waiting.
    pub fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Starts capturing on all interfaces of this network namespace, as the filter lets through.
    pub fn bind(&self) -> Result<(), Error> {
        // SAFETY: sockaddr_ll is plain data for which all zeros is valid.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        // SAFETY: `address` is readable for its size during the call.
        let code = unsafe {
            libc::bind(
                self.socket.as_raw_fd(),
                (&raw const address).cast(),
                size_of::<libc::sockaddr_ll>() as libc::socklen_t,
            )
        };
        if code < 0 {
            return Err(Error::last("cannot bind the packet socket"));
        }
        Ok(())
    }

    /// Hands all packets of the next block to `take`, in order, and gives the block back. False
    /// if the block is still the kernel's.
    pub fn take_block(&mut self, mut take: impl FnMut(&Packet<'_>)) -> bool {
        // SAFETY: block `next_block` lies within the mapping.
        let block = unsafe { self.start.add(self.next_block as usize * BLOCK_BYTES as usize) };
        let header = block.cast::<libc::tpacket_block_desc>();
        // SAFETY: the status is an aligned u32 that kernel and program share; all access to it
        // here is atomic.
        let status = unsafe { AtomicU32::from_ptr(&raw mut (*header).hdr.bh1.block_status) };
        if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return false;
        }
        // SAFETY: the status says that the block is ours: the kernel has finished writing it.
        let description = unsafe { (*header).hdr.bh1 };
        let mut at = description.offset_to_first_pkt as usize;
        for _ in 0..description.num_pkts {
            // SAFETY: the kernel wrote `num_pkts` packets, each telling where the next one is.
            let (packet, to_next) = unsafe { packet_at(block.add(at)) };
            take(&packet);
            at += to_next;
        }
        status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next_block = (self.next_block + 1) % self.blocks;
        true
    }

    /// Packets delivered and dropped since the last call.
    pub fn statistics(&self) -> Result<Statistics, Error> {
        let mut counts = libc::tpacket_stats_v3 { tp_packets: 0, tp_drops: 0, tp_freeze_q_cnt: 0 };
        let mut size = size_of::<libc::tpacket_stats_v3>() as libc::socklen_t;
        // SAFETY: `counts` is writable for `size` bytes during the call.
        let code = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut counts).cast(),
                &raw mut size,
            )
        };
        if code < 0 {
            return Err(Error::last("cannot read the packet counters"));
        }
        // The kernel's tp_packets holds the dropped ones too (net/packet/af_packet.c).
        let dropped = u64::from(counts.tp_drops);
        Ok(Statistics { delivered: u64::from(counts.tp_packets) - dropped, dropped })
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let bytes = self.blocks as usize * BLOCK_BYTES as usize;
        // SAFETY: exactly the mapping made by `map`; no packet outlives `take_block`.
        unsafe { libc::munmap(self.start.cast(), bytes) };
    }
}

fn map(socket: &OwnedFd, blocks: u32) -> Result<*mut u8, Error> {
    // SAFETY: a new shared mapping of the socket's ring aliases nothing of ours.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            blocks as usize * BLOCK_BYTES as usize,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            socket.as_raw_fd(),
            0,
        )
    };
    if start == libc::MAP_FAILED {
        return Err(Error::last("cannot map the packet ring"));
    }
    Ok(start.cast())
}

/// The packet whose header is at `at`, and the distance to the next one's.
///
/// # Safety
/// `at` must be a packet header that the kernel wrote, in a block that is ours for `'a`.
unsafe fn packet_at<'a>(at: *const u8) -> (Packet<'a>, usize) {
    // SAFETY: the kernel aligns headers to 16 bytes and puts the address after them; `tp_mac` and
    // `tp_snaplen` describe bytes within the block.
    unsafe {
        let header = &*at.cast::<libc::tpacket3_hdr>();
        let address = &*at.add(ADDRESS_OFFSET).cast::<libc::sockaddr_ll>();
        let data = at.add(usize::from(header.tp_mac));
        let packet = Packet {
            interface_index: address.sll_ifindex as u32,
            time_ns: u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec),
            length: header.tp_len,
            bytes: std::slice::from_raw_parts(data, header.tp_snaplen as usize),
        };
        (packet, header.tp_next_offset as usize)
    }
}
