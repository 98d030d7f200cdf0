//! The tap on real interfaces, in a network namespace of its own (root or a user namespace).
//!
//! Each test runs itself again under `unshare`, as threads of a test cannot change namespace, and
//! says SKIPPED with the reason where namespaces or veth are forbidden.

#![allow(missing_docs)]

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

const TAP: &str = env!("CARGO_BIN_EXE_wavetank-tap");
const SET_UP: &str = "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6 &&
    ip link add tap-a type veth peer name tap-b &&
    ip link set tap-a up && ip link set tap-b up";
/// IEEE 802 local experimental: no kernel protocol answers it.
const ETHER_TYPE: u16 = 0x88b5;

/// Runs the test called `name` again, alone, in a fresh network namespace.
fn in_namespace(name: &str) {
    let test = std::env::current_exe().unwrap();
    let script = format!("{SET_UP} || exit 77; exec {} --exact --ignored {name}", test.display());
    let output = Command::new("unshare").args(["-rn", "sh", "-c", &script]).output();
    match output {
        Err(error) => eprintln!("SKIPPED: no unshare(1): {error}"),
        Ok(output) => {
            let stderr = String::from_utf8_lossy(&output.stderr);
            let stdout = String::from_utf8_lossy(&output.stdout);
            if output.status.code() == Some(77) || stderr.contains("unshare failed") {
                eprintln!("SKIPPED: no network namespace with veth here: {stderr}");
            } else {
                assert!(output.status.success(), "{stdout}\n{stderr}");
                assert!(stdout.contains("1 passed"), "{stdout}");
            }
        }
    }
}

struct Tap {
    child: Child,
    directory: tempfile::TempDir,
}

impl Tap {
    fn start(arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let child = Command::new(TAP)
            .args(["--interface", "tap-a", "--interface", "tap-b", "--block-timeout-ms", "100"])
            .args(["--output", "summary"])
            .args(arguments)
            .current_dir(directory.path())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(120);
        while !directory.path().join("summary.ready").exists() {
            assert!(Instant::now() < deadline, "the tap did not become ready");
            std::thread::sleep(Duration::from_millis(5));
        }
        Self { child, directory }
    }

    fn stop(mut self) -> (serde_json::Value, tempfile::TempDir) {
        // SAFETY: takes numbers only; the child has not been waited for, so its id is its own.
        unsafe { libc::kill(self.child.id() as libc::pid_t, libc::SIGTERM) };
        assert!(self.child.wait().unwrap().success());
        let text = fs::read(self.directory.path().join("summary")).unwrap();
        (serde_json::from_slice(&text).unwrap(), self.directory)
    }
}

/// Sends raw frames from one interface.
struct Sender {
    socket: OwnedFd,
    address: libc::sockaddr_ll,
}

impl Sender {
    fn new(interface: &std::ffi::CStr) -> Self {
        // SAFETY: takes numbers only, and the descriptor has no other owner.
        let socket =
            unsafe { OwnedFd::from_raw_fd(libc::socket(libc::AF_PACKET, libc::SOCK_RAW, 0)) };
        // SAFETY: sockaddr_ll is plain data for which all zeros is valid.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        // SAFETY: a NUL-terminated name.
        address.sll_ifindex = unsafe { libc::if_nametoindex(interface.as_ptr()) } as i32;
        assert_ne!(address.sll_ifindex, 0);
        Self { socket, address }
    }

    fn send(&self, frame: &[u8]) {
        // SAFETY: frame and address are readable for their sizes during the call.
        let sent = unsafe {
            libc::sendto(
                self.socket.as_raw_fd(),
                frame.as_ptr().cast(),
                frame.len(),
                0,
                (&raw const self.address).cast(),
                size_of::<libc::sockaddr_ll>() as libc::socklen_t,
            )
        };
        assert_eq!(sent, frame.len() as isize, "{}", std::io::Error::last_os_error());
    }
}

/// Frame `index`: broadcast, 60 to 1500 bytes, content by index.
fn frame(index: usize) -> Vec<u8> {
    let mut frame = vec![0xff; 12];
    frame.extend(ETHER_TYPE.to_be_bytes());
    frame.resize(60 + index * 37 % 1440, index as u8);
    frame
}

struct Captured {
    time_ns: u64,
    length: u32,
    bytes: Vec<u8>,
}

fn read_pcap(path: &Path) -> Vec<Captured> {
    let file = fs::read(path).unwrap();
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    assert_eq!((word(0), word(20)), (0xa1b2_3c4d, 1));
    let mut at = 24;
    let mut packets = Vec::new();
    while at < file.len() {
        let kept = word(at + 8) as usize;
        packets.push(Captured {
            time_ns: u64::from(word(at)) * 1_000_000_000 + u64::from(word(at + 4)),
            length: word(at + 12),
            bytes: file[at + 16..at + 16 + kept].to_vec(),
        });
        at += 16 + kept;
    }
    packets
}

fn alternate(frames: usize) {
    let senders = [Sender::new(c"tap-a"), Sender::new(c"tap-b")];
    for index in 0..frames {
        senders[index % 2].send(&frame(index));
    }
}

#[test]
#[ignore = "run in a namespace by the test below"]
fn digest_inside() {
    const FRAMES: usize = 5000;
    let tap = Tap::start(&["--digest", "--pcap", "packets"]);
    alternate(FRAMES);
    let (summary, directory) = tap.stop();
    let packets = read_pcap(&directory.path().join("packets"));

    let bytes: usize = (0..FRAMES).map(|index| frame(index).len()).sum();
    assert_eq!(summary["packets"], FRAMES);
    assert_eq!(summary["bytes"], bytes);
    assert_eq!((&summary["dropped"], &summary["complete"]), (&0.into(), &true.into()));
    assert_eq!(summary["by_interface"]["tap-a"]["packets"], FRAMES / 2);
    assert_eq!(summary["by_interface"]["tap-b"]["packets"], FRAMES / 2);

    let mut expected = Sha256::new();
    for (index, packet) in packets.iter().enumerate() {
        assert_eq!(packet.bytes, frame(index), "packet {index} is out of order or altered");
        expected.update(((index % 2) as u32).to_le_bytes());
        expected.update((packet.time_ns - packets[0].time_ns).to_le_bytes());
        expected.update(packet.length.to_le_bytes());
        expected.update((packet.bytes.len() as u32).to_le_bytes());
        expected.update(&packet.bytes);
    }
    let hex: String = expected.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(summary["sha256"], hex.as_str());
    count_with_tshark(&directory.path().join("packets"), FRAMES);
}

/// An independent reader's opinion, where there is one.
fn count_with_tshark(path: &Path, expected: usize) {
    match Command::new("tshark")
        .arg("-r")
        .arg(path)
        .args(["-T", "fields", "-e", "eth.type"])
        .output()
    {
        Ok(output) => {
            let mut types: BTreeMap<&str, usize> = BTreeMap::new();
            let text = String::from_utf8(output.stdout).unwrap();
            text.lines().for_each(|line| *types.entry(line).or_default() += 1);
            assert_eq!(types, BTreeMap::from([("0x88b5", expected)]));
        }
        Err(error) => eprintln!("without tshark: {error}"),
    }
}

#[test]
fn every_frame_sent_is_in_the_digest_and_the_packet_file_in_order() {
    in_namespace("digest_inside");
}

#[test]
#[ignore = "run in a namespace by the test below"]
fn direction_inside() {
    for (direction, on_a, on_b) in [("out", 10, 0), ("in", 0, 10), ("both", 10, 10)] {
        let tap = Tap::start(&["--direction", direction, "--snap", "64"]);
        let sender = Sender::new(c"tap-a");
        (0..10).for_each(|index| sender.send(&frame(index)));
        let (summary, _) = tap.stop();
        let counts = &summary["by_interface"];
        assert_eq!(counts["tap-a"]["packets"], on_a, "{direction}: {summary}");
        assert_eq!(counts["tap-b"]["packets"], on_b, "{direction}: {summary}");
        assert_eq!(summary["sha256"], serde_json::Value::Null);
    }
}

#[test]
fn only_the_direction_asked_for_is_captured() {
    in_namespace("direction_inside");
}

#[test]
#[ignore = "run in a namespace by the test below"]
fn drops_inside() {
    let tap = Tap::start(&["--digest", "--ring-mib", "2"]);
    // SAFETY: takes numbers only; the child is ours.
    unsafe { libc::kill(tap.child.id() as libc::pid_t, libc::SIGSTOP) };
    let sender = Sender::new(c"tap-a");
    let large = frame(38); // 1466 bytes
    (0..4000).for_each(|_| sender.send(&large));
    // SAFETY: as above.
    unsafe { libc::kill(tap.child.id() as libc::pid_t, libc::SIGCONT) };
    let (summary, _) = tap.stop();
    assert_eq!(summary["complete"], false, "{summary}");
    let taken = summary["packets"].as_u64().unwrap();
    let dropped = summary["dropped"].as_u64().unwrap();
    assert!(dropped > 0, "{summary}");
    assert_eq!(taken + dropped, 4000, "{summary}");
}

#[test]
fn a_drop_is_counted_and_makes_the_digest_void() {
    in_namespace("drops_inside");
}

#[test]
fn an_interface_that_is_not_there_is_exit_code_3() {
    let directory = tempfile::tempdir().unwrap();
    let output = Command::new(TAP)
        .args(["--interface", "no-such-if", "--output", "summary"])
        .current_dir(directory.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no interface no-such-if"));
    assert!(!directory.path().join("summary.ready").exists());
}
