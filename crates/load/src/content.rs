//! Seeded content: what every byte of every file is, from (seed, file, offset) alone.
//!
//! Each block of 4 KiB has a key of its own and is filled by eight interleaved xorshift128+
//! generators (Vigna, "Further scramblings of Marsaglia's xorshift generators", 2017) started from
//! that key: any block is found without the ones before it, no two are alike, no server can
//! compress or deduplicate them, and a core fills 20 to 40 GB/s.

/// Bytes that share one key.
pub const BLOCK_BYTES: u64 = 4096;
const BLOCK_LEN: usize = BLOCK_BYTES as usize;
/// Generators side by side: what a compiler turns into vector instructions.
const LANES: usize = 8;
const LANE_BYTES: usize = size_of::<u64>();

/// Mixes a word so that each input bit reaches every output bit (splitmix64's finalizer).
pub fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The content of all files under one seed.
#[derive(Debug, Clone, Copy)]
pub struct Content {
    seed: u64,
}

impl Content {
    /// Content for `seed`.
    pub fn new(seed: u64) -> Self {
        Self { seed: mix(seed) }
    }

    /// Writes the bytes of file `file` at `offset` into `bytes`.
    pub fn fill(&self, bytes: &mut [u8], file: u64, offset: u64) {
        let file_key = mix(self.seed.wrapping_add(file));
        let mut position = offset;
        let mut rest = bytes;
        while !rest.is_empty() {
            let in_block = (position % BLOCK_BYTES) as usize;
            let take = (BLOCK_LEN - in_block).min(rest.len());
            let (part, after) = rest.split_at_mut(take);
            let key = mix(file_key ^ (position / BLOCK_BYTES));
            match <&mut [u8; BLOCK_LEN]>::try_from(&mut *part) {
                Ok(block) => fill_block(block, key),
                Err(_) => {
                    let mut block = [0; BLOCK_LEN];
                    fill_block(&mut block, key);
                    part.copy_from_slice(&block[in_block..in_block + take]);
                }
            }
            position += take as u64;
            rest = after;
        }
    }

    /// True where `bytes` are those of file `file` at `offset`.
    pub fn matches(&self, bytes: &[u8], file: u64, offset: u64) -> bool {
        let mut expected = [0; BLOCK_LEN];
        let mut position = offset;
        bytes.chunks(BLOCK_LEN).all(|seen| {
            let expected = &mut expected[..seen.len()];
            self.fill(expected, file, position);
            position += seen.len() as u64;
            expected == seen
        })
    }
}

/// Fills `block` with the widest vectors this processor has; the bytes are the same with any.
fn fill_block(block: &mut [u8; BLOCK_LEN], key: u64) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { fill_block_avx2(block, key) };
    }
    fill_block_anywhere(block, key);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn fill_block_avx2(block: &mut [u8; BLOCK_LEN], key: u64) {
    fill_block_anywhere(block, key);
}

#[inline(always)] // to be compiled for each processor
fn fill_block_anywhere(block: &mut [u8; BLOCK_LEN], key: u64) {
    let mut older = [0; LANES];
    let mut newer = [0; LANES];
    for lane in 0..LANES {
        older[lane] = mix(key ^ (2 * lane as u64));
        newer[lane] = mix(key ^ (2 * lane as u64 + 1));
    }
    for row in block.chunks_exact_mut(LANES * LANE_BYTES) {
        for (lane, word) in row.chunks_exact_mut(LANE_BYTES).enumerate() {
            let (mut x, y): (u64, u64) = (older[lane], newer[lane]);
            word.copy_from_slice(&x.wrapping_add(y).to_le_bytes());
            x ^= x << 23;
            older[lane] = y;
            newer[lane] = x ^ y ^ (x >> 18) ^ (y >> 5);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn filled(seed: u64, file: u64, offset: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        Content::new(seed).fill(&mut bytes, file, offset);
        bytes
    }

    proptest! {
        #[test]
        fn a_part_equals_the_same_part_of_the_whole(
            seed: u64, file: u64, offset in 0u64..20_000, len in 0usize..9_000
        ) {
            let whole = filled(seed, file, 0, 30_000);
            let start = offset as usize;
            prop_assert_eq!(&filled(seed, file, offset, len)[..], &whole[start..start + len]);
        }

        #[test]
        fn a_flipped_bit_is_a_mismatch(
            seed: u64, file: u64, offset in 0u64..10_000, len in 1usize..9_000, bit: usize
        ) {
            let mut bytes = filled(seed, file, offset, len);
            prop_assert!(Content::new(seed).matches(&bytes, file, offset));
            let bit = bit % (len * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(!Content::new(seed).matches(&bytes, file, offset));
        }
    }

    #[test]
    fn content_differs_between_seeds_files_and_blocks() {
        let mut seen = BTreeSet::new();
        for seed in 0..4 {
            for file in 0..32 {
                for block in 0..32 {
                    assert!(seen.insert(filled(seed, file, block * BLOCK_BYTES, 64)));
                }
            }
        }
    }

    #[test]
    fn content_is_the_same_on_every_processor() {
        let mut anywhere = [0; BLOCK_LEN];
        let mut here = [0; BLOCK_LEN];
        fill_block_anywhere(&mut anywhere, 5);
        fill_block(&mut here, 5);
        assert_eq!(anywhere, here);
    }

    #[test]
    fn content_is_the_same_in_every_version() {
        assert_eq!(filled(1, 2, 4096 * 3, 8), [36, 91, 134, 84, 202, 144, 215, 184]);
    }

    #[test]
    fn content_has_no_structure_that_a_byte_count_shows() {
        let bytes = filled(1, 2, 0, 1 << 20);
        let mut counts = [0u64; 256];
        for &byte in &bytes {
            counts[usize::from(byte)] += 1;
        }
        let expected = (bytes.len() / 256) as f64;
        let chi_square: f64 =
            counts.iter().map(|&n| (n as f64 - expected).powi(2) / expected).sum();
        // 255 degrees of freedom: mean 255, standard deviation 22.6; five of them either way.
        assert!((142.0..368.0).contains(&chi_square), "chi square {chi_square}");
    }
}
