//! A seeded permutation of 0..n in constant memory: a Feistel network over the smallest even
//! number of bits that holds n, walked along its cycle until it lands inside (Black and Rogaway,
//! "Ciphers with Arbitrary Finite Domains", CT-RSA 2002). Fewer than four steps on average.

use crate::content::mix;

const ROUNDS: usize = 4;
/// 2^64 divided by the golden ratio, made odd: its multiples spread evenly (Knuth, TAOCP 6.4).
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A bijection of 0..n onto itself.
#[derive(Debug, Clone, Copy)]
pub struct Permutation {
    len: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The permutation of 0..`len` that `seed` names.
    pub fn new(len: u64, seed: u64) -> Self {
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        let mut keys = [0; ROUNDS];
        let mut key = seed;
        for slot in &mut keys {
            key = mix(key);
            *slot = key;
        }
        Self { len, half_bits: bits.div_ceil(2).max(1), keys }
    }

    /// Where `index` goes; `index` must be below the length.
    pub fn apply(&self, index: u64) -> u64 {
        debug_assert!(index < self.len);
        let mut value = self.encrypt(index);
        while value >= self.len {
            value = self.encrypt(value);
        }
        value
    }

    fn encrypt(&self, value: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys {
            // One multiplication per round scatters well enough for an order of accesses.
            let scattered = (right ^ key).wrapping_mul(ODD) >> u32::BITS;
            (left, right) = (right, left ^ (scattered & mask));
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_index_is_visited_once(len in 1u64..5_000, seed: u64) {
            let permutation = Permutation::new(len, seed);
            let mut seen = vec![false; len as usize];
            for index in 0..len {
                let target = permutation.apply(index) as usize;
                prop_assert!(!seen[target]);
                seen[target] = true;
            }
        }

        #[test]
        fn the_largest_domains_stay_inside(index: u64, seed: u64) {
            let permutation = Permutation::new(u64::MAX, seed);
            prop_assert!(permutation.apply(index % u64::MAX) < u64::MAX);
        }
    }

    #[test]
    fn another_seed_gives_another_order() {
        let order = |seed| (0..32_768).map(|i| Permutation::new(32_768, seed).apply(i)).collect();
        let (first, second): (Vec<u64>, Vec<u64>) = (order(1), order(2));
        assert_ne!(first, second);
    }

    #[test]
    fn neighbours_are_scattered() {
        let permutation = Permutation::new(32_768, 7);
        let near = (1..32_768)
            .filter(|&i| permutation.apply(i).abs_diff(permutation.apply(i - 1)) <= 8)
            .count();
        // A random permutation has about 16 of 32 768 steps within 8: allow up to 40.
        assert!(near <= 40, "{near} steps within 8");
    }
}
