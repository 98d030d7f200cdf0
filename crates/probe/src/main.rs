//! Measures the emulated path between two network namespaces, one way each, on one clock.
//!
//! One process holds a UDP socket in either namespace, so that a one-way delay is a difference
//! of two readings of the same clock: the sender's before the call, the receiver's kernel time
//! stamp. It measures; whether that is in tolerance is decided by the lab.

mod delay;
mod endpoint;
mod loss;
mod rate;

use std::process::ExitCode;

use endpoint::{Endpoint, Pair};
use serde::{Deserialize, Serialize};

/// What to measure. Times in ns; `rate_bit_per_s` is the declared rate, for pacing only.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    client_namespace: String,
    server_namespace: String,
    client_address: String,
    server_address: String,
    rate_bit_per_s: Option<u64>,
    settle_ns: u64,
    delay_probes: usize,
    delay_spacing_ns: u64,
    train_packets: usize,
    train_payload_bytes: usize,
    #[serde(default)]
    coalesce_ns: u64,
    loss_packets: usize,
    loss_burst_spacing_ns: u64,
}

/// What one direction was seen to do.
#[derive(Serialize, Default)]
pub struct Direction {
    rate_bit_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery_spacing_ns: Option<f64>,
    loss_probability: f64,
    lost_packets: u64,
    reorder_probability: f64,
    packets_sent: u64,
    delay_ns_mean: f64,
    delay_ns_stddev: f64,
}

#[derive(Serialize)]
struct Report {
    rtt_ns_median: f64,
    rtt_ns_min: f64,
    rtt_ns_stddev: f64,
    to_server: Direction,
    to_client: Direction,
}

fn measure(job: &Job) -> Result<Report, String> {
    let client = Endpoint::open(&job.client_namespace, &job.client_address)?;
    let server = Endpoint::open(&job.server_namespace, &job.server_address)?;
    client.connect(&job.server_address)?;
    server.connect(&job.client_address)?;
    let there = Pair { sender: &client, receiver: &server };
    let back = Pair { sender: &server, receiver: &client };

    let delays = delay::measure(&there, &back, job)?;
    let mut to_server = Direction::default();
    let mut to_client = Direction::default();
    for (pair, direction, one_way) in
        [(&there, &mut to_server, &delays.there), (&back, &mut to_client, &delays.back)]
    {
        direction.delay_ns_mean = delay::mean(one_way);
        direction.delay_ns_stddev = delay::stddev(one_way);
        let train = rate::measure(pair, job)?;
        direction.rate_bit_per_s = train.rate_bit_per_s;
        direction.delivery_spacing_ns = train.delivery_spacing_ns;
        loss::measure(pair, job, direction)?;
    }
    let mut rtts = delays.round_trips;
    rtts.sort_by(f64::total_cmp);
    if rtts.is_empty() {
        return Err("no probe made the round trip: the path carries nothing".into());
    }
    Ok(Report {
        rtt_ns_median: rtts[rtts.len() / 2],
        rtt_ns_min: rtts[0],
        rtt_ns_stddev: delay::stddev(&rtts),
        to_server,
        to_client,
    })
}

fn run() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let (Some(job), Some(output)) = (arguments.next(), arguments.next()) else {
        return Err("usage: wavetank-probe JOB.json OUTPUT.json".into());
    };
    let text = std::fs::read_to_string(&job).map_err(|error| format!("{job}: {error}"))?;
    let job: Job = serde_json::from_str(&text).map_err(|error| format!("{job}: {error}"))?;
    let report = serde_json::to_vec(&measure(&job)?).map_err(|error| error.to_string())?;
    std::fs::write(&output, report).map_err(|error| format!("{output}: {error}"))
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("wavetank-probe: {message}");
            ExitCode::from(3)
        }
    }
}
