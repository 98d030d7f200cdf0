//! From a host's name to its addresses, by a deadline and without libc: a static program cannot
//! load the system's resolver, and getaddrinfo(3) has no deadline.
//!
//! In this order: an address as it is; `localhost` and names under it (RFC 6761); /etc/hosts; the
//! servers of /etc/resolv.conf over UDP (RFC 1035), A before AAAA.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::error::{Error, ErrorKind};

const DNS_PORT: u16 = 53;
const ONE_QUESTION: Duration = Duration::from_secs(2);
const ANSWER_LEN: usize = 4096;
const TYPE_A: u16 = 1;
const TYPE_AAAA: u16 = 28;

/// The addresses of `host`, at least one.
pub fn resolve(host: &str, port: u16, until: Instant) -> Result<Vec<SocketAddr>, Error> {
    let addresses = known(host).map_or_else(|| ask_all(host, until), Ok)?;
    Ok(addresses.into_iter().map(|ip| SocketAddr::new(ip, port)).collect())
}

fn known(host: &str) -> Option<Vec<IpAddr>> {
    if let Ok(address) = host.parse() {
        return Some(vec![address]);
    }
    let listed = in_hosts(&std::fs::read_to_string("/etc/hosts").unwrap_or_default(), host);
    if !listed.is_empty() {
        return Some(listed);
    }
    let local = host.eq_ignore_ascii_case("localhost") || host.ends_with(".localhost");
    local.then(|| vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()])
}

fn in_hosts(hosts: &str, host: &str) -> Vec<IpAddr> {
    let matching = |line: &str| {
        let mut words = line.split('#').next()?.split_ascii_whitespace();
        let address = words.next()?.parse().ok()?;
        words.any(|name| name.eq_ignore_ascii_case(host)).then_some(address)
    };
    hosts.lines().filter_map(matching).collect()
}

fn ask_all(host: &str, until: Instant) -> Result<Vec<IpAddr>, Error> {
    let text = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let servers: Vec<IpAddr> = text
        .lines()
        .filter_map(|line| line.strip_prefix("nameserver")?.trim().parse().ok())
        .collect();
    let mut answered = false;
    for kind in [TYPE_A, TYPE_AAAA] {
        for server in &servers {
            if let Some(addresses) = ask(*server, host, kind, until) {
                answered = true;
                if !addresses.is_empty() {
                    return Ok(addresses);
                }
            }
        }
    }
    Err(if answered || servers.is_empty() {
        Error::new(
            ErrorKind::Connection,
            format!("there is no host named {host:?}. Try: check the endpoint"),
        )
    } else {
        let why = format!("no name server answered the question for {host:?} in time");
        Error::new(ErrorKind::Deadline, why)
    })
}

fn ask(server: IpAddr, host: &str, kind: u16, until: Instant) -> Option<Vec<IpAddr>> {
    let until = until.min(Instant::now() + ONE_QUESTION);
    let id = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().subsec_nanos() as u16;
    let local: IpAddr = match server {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((local, 0)).ok()?;
    socket.connect((server, DNS_PORT)).ok()?;
    socket.send(&question(id, host, kind)?).ok()?;
    let mut answer = [0; ANSWER_LEN];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        socket.set_read_timeout(Some(left)).ok()?;
        let len = socket.recv(&mut answer).ok()?;
        if let Some(addresses) = read_dns_answer(&answer[..len], id, kind) {
            return Some(addresses);
        }
    }
}

fn question(id: u16, host: &str, kind: u16) -> Option<Vec<u8>> {
    let mut packet = Vec::with_capacity(host.len() + 18);
    packet.extend(id.to_be_bytes());
    packet.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]); // recursion desired, one question
    for label in host.trim_end_matches('.').split('.') {
        let len = u8::try_from(label.len()).ok().filter(|len| (1..=63).contains(len))?;
        packet.push(len);
        packet.extend(label.bytes());
    }
    packet.push(0);
    packet.extend(kind.to_be_bytes());
    packet.extend([0, 1]);
    Some(packet)
}

/// The addresses of type `kind` in an answer to question `id`; none where it is no such answer.
pub fn read_dns_answer(packet: &[u8], id: u16, kind: u16) -> Option<Vec<IpAddr>> {
    let word = |at: usize| Some(u16::from_be_bytes(packet.get(at..at + 2)?.try_into().ok()?));
    if word(0)? != id || packet.get(2)? & 0x80 == 0 {
        return None;
    }
    let (questions, answers) = (word(4)?, word(6)?);
    let mut at = 12;
    for _ in 0..questions {
        at = after_name(packet, at)? + 4;
    }
    let mut addresses = Vec::new();
    for _ in 0..answers {
        at = after_name(packet, at)?;
        let (found, len) = (word(at)?, usize::from(word(at + 8)?));
        let data = packet.get(at + 10..at + 10 + len)?;
        if found == kind {
            if let Ok(v4) = <[u8; 4]>::try_from(data) {
                addresses.push(v4.into());
            } else if let Ok(v6) = <[u8; 16]>::try_from(data) {
                addresses.push(v6.into());
            }
        }
        at += 10 + len;
    }
    Some(addresses)
}

/// Where the name at `at` ends; a pointer (two bytes) ends it.
fn after_name(packet: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *packet.get(at)? {
            0 => return Some(at + 1),
            len if len >= 0xc0 => return Some(at + 2),
            len => at += usize::from(len) + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_answer_with_an_alias_gives_the_addresses_behind_it() {
        let mut packet = question(7, "s3.example.org", TYPE_A).unwrap();
        packet[2] |= 0x80;
        packet[7] = 2;
        packet.extend([0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 9, 0, 2, 0xc0, 12]);
        packet.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 192, 0, 2, 1]);
        let addresses = read_dns_answer(&packet, 7, TYPE_A).unwrap();
        assert_eq!(addresses, [IpAddr::from([192, 0, 2, 1])]);
        assert_eq!(read_dns_answer(&packet, 8, TYPE_A), None);
    }

    #[test]
    fn names_are_found_in_the_hosts_file() {
        let hosts = "127.0.0.1 localhost\n# x\n10.0.2.2\tserver Storage # note\n";
        assert_eq!(in_hosts(hosts, "storage"), [IpAddr::from([10, 0, 2, 2])]);
        assert!(in_hosts(hosts, "note").is_empty());
    }

    proptest! {
        #[test]
        fn reading_any_packet_as_an_answer_does_not_panic(
            packet in prop::collection::vec(any::<u8>(), 0..300)
        ) {
            let id = u16::from_be_bytes([
                packet.first().copied().unwrap_or(0), packet.get(1).copied().unwrap_or(0),
            ]);
            let _ = read_dns_answer(&packet, id, TYPE_A);
        }
    }
}
