//! The command line, parsed once and checked.

use std::path::PathBuf;

use crate::Error;

/// Longest packet the ring keeps whole.
pub const WHOLE_PACKET_BYTES: u32 = 262_144;

const USAGE: &str = "usage: wavetank-tap --interface NAME [--interface NAME ...] --output FILE
  --direction out|in|both  which packets (default: out)
  --digest                 SHA-256 over every packet's interface, time, length and bytes
  --pcap FILE              write the packets too (pcap, nanoseconds, Ethernet)
  --snap BYTES             keep at most so many bytes of each packet (default: all)
  --ring-mib N             memory for packets not yet taken (default: 16)
  --block-timeout-ms N     how long the kernel may hold packets back (default: 1000)
FILE.ready appears when capturing has begun; SIGTERM ends it and writes FILE.";

/// Which packets of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Those it sends.
    Out,
    /// Those it receives.
    In,
    /// All.
    Both,
}

/// What to capture and where to put it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Interfaces by name; their order is their number in the digest.
    pub interfaces: Vec<String>,
    /// Which packets.
    pub direction: Direction,
    /// Digest them.
    pub digest: bool,
    /// Summary file.
    pub output: PathBuf,
    /// Packet file.
    pub pcap: Option<PathBuf>,
    /// Bytes kept of each packet.
    pub snap_bytes: u32,
    /// Ring size.
    pub ring_mib: u32,
    /// Longest wait for a block that is not full.
    pub block_timeout_ms: u32,
}

/// What to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    /// Capture.
    Capture(Options),
    /// Print this and end.
    Print(String),
}

/// Reads `arguments`, without the program's name.
pub fn parse(arguments: &[String]) -> Result<Command, Error> {
    let mut options = Options {
        interfaces: Vec::new(),
        direction: Direction::Out,
        digest: false,
        output: PathBuf::new(),
        pcap: None,
        snap_bytes: WHOLE_PACKET_BYTES,
        ring_mib: 16,
        block_timeout_ms: 1000,
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| usage(&format!("{word} needs a value")));
        match word.as_str() {
            "--version" => {
                let version = concat!("wavetank-tap ", env!("CARGO_PKG_VERSION"));
                return Ok(Command::Print(version.into()));
            }
            "--help" | "-h" => return Ok(Command::Print(USAGE.into())),
            "--interface" => options.interfaces.push(value()?.clone()),
            "--direction" => options.direction = direction(value()?)?,
            "--digest" => options.digest = true,
            "--output" => options.output = value()?.into(),
            "--pcap" => options.pcap = Some(value()?.into()),
            "--snap" => options.snap_bytes = number(word, value()?, 1, WHOLE_PACKET_BYTES)?,
            "--ring-mib" => options.ring_mib = number(word, value()?, 2, 1024)?,
            "--block-timeout-ms" => {
                options.block_timeout_ms = number(word, value()?, 1, 60_000)?;
            }
            _ => return Err(usage(&format!("unknown argument {word}"))),
        }
    }
    if options.interfaces.is_empty() || options.output.as_os_str().is_empty() {
        return Err(usage("--interface and --output are needed"));
    }
    let mut names: Vec<&String> = options.interfaces.iter().collect();
    names.sort();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(usage("an interface is named twice"));
    }
    Ok(Command::Capture(options))
}

fn usage(what: &str) -> Error {
    Error { code: 2, message: format!("{what}\n{USAGE}") }
}

fn direction(word: &str) -> Result<Direction, Error> {
    match word {
        "out" => Ok(Direction::Out),
        "in" => Ok(Direction::In),
        "both" => Ok(Direction::Both),
        _ => Err(usage(&format!("--direction is out, in or both, not {word}"))),
    }
}

fn number(name: &str, word: &str, least: u32, most: u32) -> Result<u32, Error> {
    match word.parse() {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        _ => Err(usage(&format!("{name} is a number from {least} to {most}, not {word}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, Error> {
        parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn interfaces_keep_their_order() {
        let Ok(Command::Capture(options)) =
            parsed("--interface r-s --interface r-c --output f --digest --snap 96")
        else {
            panic!("not parsed")
        };
        assert_eq!(options.interfaces, ["r-s", "r-c"]);
        assert_eq!((options.direction, options.snap_bytes), (Direction::Out, 96));
    }

    #[test]
    fn what_makes_no_sense_is_a_usage_error() {
        for line in [
            "",
            "--interface a",
            "--output f",
            "--interface a --output f --direction up",
            "--interface a --interface b --interface a --output f",
            "--interface a --output f --snap 0",
            "--interface a --output f --ring-mib 1",
            "--interface a --output",
            "--what",
        ] {
            assert_eq!(parsed(line).expect_err(line).code, 2, "{line}");
        }
    }
}
