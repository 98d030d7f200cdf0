//! Objects between the engine and the wire: made as they are sent, compared as they come. They are
//! held whole only where the client's own storage takes part.

use wavetank_object::{Body, Bytes, Sink};

use crate::content::Content;

/// What is put.
pub enum Sending {
    /// The content of object `index`, made as it is sent.
    Made { content: Content, index: u64 },
    /// What a file of the client's held.
    Read(Bytes),
}

impl Sending {
    /// `length` bytes from `offset` on.
    pub fn body(&self, offset: u64, length: u64) -> Body {
        match self {
            Self::Made { content, index } => {
                let (content, index) = (*content, *index);
                Body::made(length, move |at, piece| content.fill(piece, index, offset + at))
            }
            Self::Read(bytes) => bytes.slice(offset as usize..(offset + length) as usize).into(),
        }
    }
}

/// An object that comes, or a part of it.
#[derive(Default)]
pub struct Receiving {
    /// What it is compared with, if it is.
    pub content: Option<Content>,
    /// The object.
    pub index: u64,
    /// Where in the object this part begins.
    pub offset: u64,
    /// Bytes that came.
    pub length: u64,
    /// True where one of them was wrong.
    pub differs: bool,
    /// Room for the bytes, where they are kept.
    pub kept: Option<Vec<u8>>,
}

impl Sink for Receiving {
    fn restart(&mut self) {
        (self.length, self.differs) = (0, false);
        self.kept.iter_mut().for_each(Vec::clear);
    }

    fn take(&mut self, bytes: &[u8]) {
        if let Some(content) = self.content.filter(|_| !self.differs) {
            self.differs = !content.matches(bytes, self.index, self.offset + self.length);
        }
        self.length += bytes.len() as u64;
        self.kept.iter_mut().for_each(|kept| kept.extend_from_slice(bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_comes_in_odd_pieces_is_compared_from_its_own_offset() {
        let content = Content::new(3);
        let sent = Sending::Made { content, index: 5 }.body(777, 300_000);
        let mut whole: Vec<u8> = sent.pieces().flatten().collect();
        let mut receiving =
            Receiving { content: Some(content), index: 5, offset: 777, ..Receiving::default() };
        for wrong in [false, true] {
            whole[299_999] ^= u8::from(wrong);
            receiving.restart();
            whole.chunks(8191).for_each(|piece| receiving.take(piece));
            assert_eq!((receiving.length, receiving.differs), (300_000, wrong));
        }
    }
}
