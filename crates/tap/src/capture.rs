//! From the first packet to the summary: bind, say so, take blocks until asked to stop, drain.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::digest::Totals;
use crate::options::Options;
use crate::pcap::PcapFile;
use crate::ring::{Ring, Statistics};
use crate::{filter, signals, sys, Error};

/// What the kernel may be late by, beyond its timeouts.
const SCHEDULING: Duration = Duration::from_secs(1);

/// Captures as `options` say until a signal asks to stop; then writes the summary.
pub fn run(options: &Options) -> Result<(), Error> {
    let ready = ready_path(&options.output);
    remove_stale(&[&options.output, &ready])?;
    let indices = interface_indices(options)?;
    let cannot = |what: &str, path: &Path, error| {
        Error::setup(format!("cannot {what} {}: {error}", path.display()))
    };
    let mut pcap = match &options.pcap {
        Some(path) => Some(
            PcapFile::create(path, options.snap_bytes)
                .map_err(|error| cannot("create", path, error))?,
        ),
        None => None,
    };
    let mut totals = Totals::new(&indices, options.digest);
    signals::install()?;
    let mut ring = Ring::new(options.ring_mib, options.block_timeout_ms)?;
    let mut program = filter::program(&indices, options.direction, options.snap_bytes);
    filter::attach(ring.socket(), &mut program)?;
    ring.bind()?;
    fs::write(&ready, b"").map_err(|error| cannot("write", &ready, error))?;

    let mut take_all = |ring: &mut Ring| {
        while ring.take_block(|packet| {
            totals.add(packet);
            pcap.iter_mut().for_each(|file| file.add(packet));
        }) {}
        totals.packets()
    };
    while !signals::asked_to_stop() {
        take_all(&mut ring);
        signals::wait(ring.socket(), None);
    }
    let (dropped, drained) = drain(&mut ring, options.block_timeout_ms, take_all)?;

    if let (Some(file), Some(path)) = (pcap, &options.pcap) {
        file.finish().map_err(|error| cannot("write", path, error))?;
    }
    let summary = totals.summary(&options.interfaces, dropped, drained);
    let mut text = serde_json::to_vec(&summary).expect("the summary is plain data");
    text.push(b'\n');
    fs::write(&options.output, text).map_err(|error| cannot("write", &options.output, error))
}

/// Stops the flow, then takes what the kernel has counted and not yet handed over: it hands over
/// its last block when the timeout has passed twice at most. Returns drops, and whether all came.
fn drain(
    ring: &mut Ring,
    block_timeout_ms: u32,
    mut take_all: impl FnMut(&mut Ring) -> u64,
) -> Result<(u64, bool), Error> {
    filter::attach(ring.socket(), &mut filter::nothing())?;
    let patience = Duration::from_millis(3 * u64::from(block_timeout_ms)) + SCHEDULING;
    let deadline = Instant::now() + patience;
    let mut counted = Statistics::default();
    loop {
        let more = ring.statistics()?;
        counted.delivered += more.delivered;
        counted.dropped += more.dropped;
        let drained = take_all(ring) == counted.delivered;
        if drained || Instant::now() >= deadline {
            return Ok((counted.dropped, drained));
        }
        signals::wait(ring.socket(), Some(block_timeout_ms));
    }
}

fn interface_indices(options: &Options) -> Result<Vec<u32>, Error> {
    options.interfaces.iter().map(|name| sys::interface_index(name)).collect()
}

fn ready_path(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".ready");
    name.into()
}

fn remove_stale(paths: &[&Path]) -> Result<(), Error> {
    for path in paths {
        match fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::setup(format!("cannot remove {}: {error}", path.display())));
            }
            _ => {}
        }
    }
    Ok(())
}
