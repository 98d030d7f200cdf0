//! HTTP/1.1 over one connection of ours: hyper speaks the protocol, this room holds the socket.
//!
//! No runtime: a request is driven on the calling thread, which sleeps in poll(2) while neither
//! side has anything to say. So a request costs two or three system calls, its first byte is timed
//! at the socket, and every wait has a deadline.

mod connection;
mod endpoint;
mod exchange;
mod resolve;
mod socket;
mod tls;

pub use endpoint::{Endpoint, Scheme};
pub use exchange::{Limits, Reply, Request, Wire};
pub use resolve::read_dns_answer;
pub use tls::Trust;
