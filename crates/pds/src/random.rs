//! # Idea
//! A small seeded generator of random numbers, so that a generated system is a function of its
//! seed on every machine and the crate needs no dependency for it.
//!
//! # Source
//! Steele, Lea, Flood, *Fast Splittable Pseudorandom Number Generators* (2014), `SplitMix64`.

/// A deterministic source of random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The source that belongs to `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // The upper half of a 128-bit product is as good as unbiased for small bounds.
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }

    /// `true` in `percent` of 100 cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}
