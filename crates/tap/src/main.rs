//! `wavetank-tap`: captures on interfaces until SIGTERM, then says what it saw.
//!
//! Two runs put the same packets on the link, at the same times and in the same order, exactly
//! when their digests are equal: that is what this program is for. It sees packets in the order
//! in which the kernel sent them, across interfaces, as one ring serves all of them.
//!
//! Exit codes: 0 done (whatever was dropped is in the output), 2 bad usage, 3 the set-up failed.

mod capture;
mod digest;
mod filter;
mod options;
mod pcap;
mod ring;
mod signals;
mod sys;

use std::process::ExitCode;

use options::Command;

/// What stops the program: an exit code and a sentence.
#[derive(Debug)]
pub struct Error {
    code: u8,
    message: String,
}

impl Error {
    /// The set-up failed.
    fn setup(message: impl Into<String>) -> Self {
        Self { code: 3, message: message.into() }
    }

    /// `what` failed with the calling thread's `errno`.
    fn last(what: impl std::fmt::Display) -> Self {
        Self::setup(format!("{what}: {}", std::io::Error::last_os_error()))
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = options::parse(&arguments).and_then(|command| match command {
        Command::Capture(options) => capture::run(&options),
        Command::Print(text) => {
            println!("{text}");
            Ok(())
        }
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error { code, message }) => {
            eprintln!("wavetank-tap: {message}");
            ExitCode::from(code)
        }
    }
}
