//! # Idea
//! Words to which one worker appends and that all read, in blocks that are made when they are needed.
//! A block has whole units, so a record that is one unit lies within one block.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

/// Blocks of an arena; each has at least 2^16 words.
const BLOCKS: usize = 1 << 14;

type Block = OnceLock<Box<[AtomicU64]>>;

#[derive(Debug)]
pub(super) struct Arena {
    /// How many words a unit has.
    unit: usize,
    /// A block has two to the power of this many units.
    bits: u32,
    /// One less than that many units.
    mask: usize,
    blocks: Box<[Block]>,
}

impl Arena {
    /// An arena in units of so many words.
    pub fn new(unit: usize) -> Self {
        let bits = 16u32.saturating_sub(unit.max(1).ilog2());
        Self {
            unit,
            bits,
            mask: (1 << bits) - 1,
            blocks: (0..BLOCKS).map(|_| OnceLock::new()).collect(),
        }
    }

    fn block_words(&self) -> usize {
        self.unit << self.bits
    }

    /// Whether there can be a unit of this number.
    pub fn has(&self, unit: usize) -> bool {
        unit >> self.bits < BLOCKS
    }

    /// The words of a unit.
    #[inline]
    pub fn unit(&self, unit: usize) -> &[AtomicU64] {
        let start = (unit & self.mask).wrapping_mul(self.unit);
        let block = &self.blocks[unit.wrapping_shr(self.bits)];
        let words = block.get().map_or_else(|| self.begin(block), AsRef::as_ref);
        &words[start..][..self.unit]
    }

    #[cold]
    fn begin<'a>(&self, block: &'a Block) -> &'a [AtomicU64] {
        block.get_or_init(|| (0..self.block_words()).map(|_| AtomicU64::new(0)).collect())
    }

    pub fn bytes(&self) -> usize {
        self.blocks.iter().filter(|one| one.get().is_some()).count() * self.block_words() * 8
    }
}
