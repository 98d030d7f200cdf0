//! Objects on their way: a [`Body`] is what is sent, a [`Sink`] takes what comes. Neither has to
//! hold an object whole, so that 64 connections moving 1 GiB each need some MiB, and what is made
//! is still in the processor's cache when the kernel copies it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use hyper::body::{Frame, SizeHint};

/// Bytes made at once. hyper gathers some of them into one writev(2), and takes no more before
/// these are sent.
const PIECE_LEN: u64 = 128 * 1024;
/// Pieces whose memory a thread keeps: more than hyper gathers.
const KEPT: usize = 6;
/// Memory taken on the server's word alone; more only as more comes.
const RESERVED_BYTES: u64 = 64 << 20;

/// Writes the bytes at an offset. Must give the same bytes each time: a repeat sends them again.
type Fill = dyn Fn(u64, &mut [u8]) + Send + Sync;

/// What is sent: bytes in memory, or bytes that are made as they go.
#[derive(Clone)]
pub struct Body(Kind);

#[derive(Clone)]
enum Kind {
    Whole(Bytes),
    Made { length: u64, fill: Arc<Fill> },
}

impl Body {
    /// `length` bytes; `fill(offset, piece)` writes those at `offset`, the same each time.
    pub fn made(length: u64, fill: impl Fn(u64, &mut [u8]) + Send + Sync + 'static) -> Self {
        Self(Kind::Made { length, fill: Arc::new(fill) })
    }

    /// How many bytes.
    pub fn len(&self) -> u64 {
        match &self.0 {
            Kind::Whole(bytes) => bytes.len() as u64,
            Kind::Made { length, .. } => *length,
        }
    }

    /// True where there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes piece by piece, from the first.
    pub fn pieces(&self) -> Pieces {
        Pieces { body: self.clone(), sent: 0 }
    }
}

impl Default for Body {
    fn default() -> Self {
        Bytes::new().into()
    }
}

impl<T: Into<Bytes>> From<T> for Body {
    fn from(bytes: T) -> Self {
        Self(Kind::Whole(bytes.into()))
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Body({} bytes)", self.len())
    }
}

/// A body being sent.
pub struct Pieces {
    body: Body,
    sent: u64,
}

thread_local! {
    /// The last pieces made, the oldest first: fresh memory for each would be a page fault for
    /// every 4 KiB sent.
    static MADE: RefCell<VecDeque<Bytes>> = const { RefCell::new(VecDeque::new()) };
}

impl Pieces {
    fn left(&self) -> u64 {
        self.body.len() - self.sent
    }
}

/// Memory for a piece: of the oldest one, where nobody has it any more.
fn room(length: usize) -> BytesMut {
    let oldest = MADE.with_borrow_mut(VecDeque::pop_front);
    let mut room = match oldest.map(Bytes::try_into_mut) {
        Some(Ok(room)) => room,
        Some(Err(in_use)) => {
            MADE.with_borrow_mut(|made| made.push_front(in_use));
            BytesMut::new()
        }
        None => BytesMut::new(),
    };
    room.resize(length, 0);
    room
}

fn remember(piece: &Bytes) {
    MADE.with_borrow_mut(|made| {
        if made.len() == KEPT {
            made.pop_front();
        }
        made.push_back(piece.clone());
    });
}

impl Iterator for Pieces {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let left = self.left();
        if left == 0 {
            return None;
        }
        let piece = match self.body.0.clone() {
            Kind::Whole(bytes) => bytes,
            Kind::Made { fill, .. } => {
                let mut memory = room(left.min(PIECE_LEN) as usize);
                fill(self.sent, &mut memory);
                let piece = memory.freeze();
                remember(&piece);
                piece
            }
        };
        self.sent += piece.len() as u64;
        Some(piece)
    }
}

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.next().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left())
    }
}

/// Takes what comes. A `Vec<u8>` keeps it.
pub trait Sink {
    /// Forget what came: the object begins, perhaps again.
    fn restart(&mut self);

    /// So many bytes are to come, says the server.
    fn expect(&mut self, _length: u64) {}

    /// The next bytes.
    fn take(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    fn restart(&mut self) {
        self.clear();
    }

    fn expect(&mut self, length: u64) {
        self.reserve(length.min(RESERVED_BYTES) as usize);
    }

    fn take(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counting(length: u64) -> Body {
        Body::made(length, |offset, piece| {
            for (at, byte) in (offset..).zip(piece) {
                *byte = (at % 251) as u8;
            }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn what_is_made_comes_whole_in_order_and_again(
            length in 0..3 * PIECE_LEN, held in 0usize..4
        ) {
            let body = counting(length);
            for _ in 0..2 {
                let mut all = Vec::new();
                // Pieces that are still in use keep their bytes.
                let mut in_use = VecDeque::new();
                for piece in body.pieces() {
                    in_use.push_back(piece);
                    if in_use.len() > held {
                        all.extend(in_use.pop_front().unwrap());
                    }
                }
                all.extend(in_use.into_iter().flatten());
                let right = (0..length).map(|at| (at % 251) as u8).eq(all);
                prop_assert!(right);
            }
        }
    }
}
