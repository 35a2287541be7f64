//! Sets of ids, as bits in chunks that sets share as long as they agree there: many sets of an analysis
//! hold the same thousands of ids.
//!
//! # Invariants
//! 1. Chunks are in the order of their numbers, and none of them is empty.

use crate::id::Id;
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;

/// How many words a chunk has.
const WORDS: usize = 4;

type Chunk = [u64; WORDS];

/// A set of ids.
pub struct IdSet<I> {
    chunks: Vec<(u32, Rc<Chunk>)>,
    id: PhantomData<I>,
}

impl<I> IdSet<I> {
    fn of_chunks(chunks: Vec<(u32, Rc<Chunk>)>) -> Self {
        Self { chunks, id: PhantomData }
    }
}

impl<I> Default for IdSet<I> {
    fn default() -> Self {
        Self::of_chunks(Vec::new())
    }
}

impl<I> Clone for IdSet<I> {
    fn clone(&self) -> Self {
        Self::of_chunks(self.chunks.clone())
    }
}

impl<I> PartialEq for IdSet<I> {
    fn eq(&self, other: &Self) -> bool {
        self.chunks == other.chunks
    }
}

impl<I> Eq for IdSet<I> {}

impl<I: Id + fmt::Debug> fmt::Debug for IdSet<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// The number of the chunk, of the word in it, and of the bit in that.
fn place<I: Id>(id: I) -> (u32, usize, usize) {
    let (word, bit) = (id.index() / 64, id.index() % 64);
    (u32::try_from(word / WORDS).unwrap_or(u32::MAX), word % WORDS, bit)
}

/// The words of a mask that belong to a chunk.
fn masked(mask: &[u64], number: u32, chunk: &Chunk) -> Chunk {
    let first = number as usize * WORDS;
    std::array::from_fn(|word| chunk[word] & mask.get(first + word).copied().unwrap_or_default())
}

fn is_nothing(chunk: &Chunk) -> bool {
    chunk.iter().all(|&word| word == 0)
}

impl<I: Id> IdSet<I> {
    /// Adds an id; whether it is new.
    pub fn insert(&mut self, id: I) -> bool {
        let (number, word, bit) = place(id);
        match self.chunks.binary_search_by_key(&number, |one| one.0) {
            Ok(at) => {
                let is_new = self.chunks[at].1[word] >> bit & 1 == 0;
                if is_new {
                    Rc::make_mut(&mut self.chunks[at].1)[word] |= 1 << bit;
                }
                is_new
            }
            Err(at) => {
                let mut chunk = [0; WORDS];
                chunk[word] = 1 << bit;
                self.chunks.insert(at, (number, Rc::new(chunk)));
                true
            }
        }
    }

    /// Adds the ids of another set, of those in a mask if there is one; what is new.
    #[expect(clippy::return_self_not_must_use, reason = "the set itself is the result")]
    pub fn add(&mut self, other: &Self, mask: Option<&[u64]>) -> Self {
        let mut new: Vec<(u32, Rc<Chunk>)> = Vec::new();
        let mut absent = 0;
        let mut at = 0;
        for (number, chunk) in &other.chunks {
            while self.chunks.get(at).is_some_and(|own| own.0 < *number) {
                at += 1;
            }
            let own = self.chunks.get_mut(at).filter(|own| own.0 == *number);
            if own.as_ref().is_some_and(|own| Rc::ptr_eq(&own.1, chunk)) {
                continue;
            }
            let wanted = mask.map_or(**chunk, |mask| masked(mask, *number, chunk));
            if is_nothing(&wanted) {
                continue;
            }
            let whole = wanted == **chunk;
            if let Some((_, own)) = own {
                let fresh: Chunk = std::array::from_fn(|word| wanted[word] & !own[word]);
                if is_nothing(&fresh) {
                    continue;
                }
                let all: Chunk = std::array::from_fn(|word| wanted[word] | own[word]);
                *own = if whole && all == wanted { Rc::clone(chunk) } else { Rc::new(all) };
                new.push((*number, Rc::new(fresh)));
            } else {
                absent += 1;
                new.push((*number, if whole { Rc::clone(chunk) } else { Rc::new(wanted) }));
            }
        }
        if absent > 0 {
            self.merge(&new, absent);
        }
        Self::of_chunks(new)
    }

    /// Adds the chunks that are not there.
    fn merge(&mut self, new: &[(u32, Rc<Chunk>)], absent: usize) {
        let own = std::mem::take(&mut self.chunks);
        self.chunks.reserve_exact(own.len() + absent);
        let mut own = own.into_iter().peekable();
        for (number, chunk) in new {
            while let Some(before) = own.next_if(|own| own.0 < *number) {
                self.chunks.push(before);
            }
            if own.peek().is_none_or(|own| own.0 != *number) {
                self.chunks.push((*number, Rc::clone(chunk)));
            }
        }
        self.chunks.extend(own);
    }

    /// The ids that are not in another set.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        let mut rest = Vec::new();
        let mut at = 0;
        for (number, chunk) in &self.chunks {
            while other.chunks.get(at).is_some_and(|one| one.0 < *number) {
                at += 1;
            }
            match other.chunks.get(at).filter(|one| one.0 == *number) {
                None => rest.push((*number, Rc::clone(chunk))),
                Some((_, theirs)) => {
                    let left: Chunk = std::array::from_fn(|word| chunk[word] & !theirs[word]);
                    if left == **chunk {
                        rest.push((*number, Rc::clone(chunk)));
                    } else if !is_nothing(&left) {
                        rest.push((*number, Rc::new(left)));
                    }
                }
            }
        }
        Self::of_chunks(rest)
    }

    /// Whether an id is in it.
    pub fn contains(&self, id: I) -> bool {
        let (number, word, bit) = place(id);
        let found = self.chunks.binary_search_by_key(&number, |one| one.0);
        found.is_ok_and(|at| self.chunks[at].1[word] >> bit & 1 == 1)
    }

    /// The ids in order.
    pub fn iter(&self) -> impl Iterator<Item = I> + '_ {
        self.words()
            .flat_map(|(word, bits)| Bits(bits).map(move |bit| I::from_index(word * 64 + bit)))
    }

    /// The words of bits that are not nothing, with their numbers, in order.
    pub fn words(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.chunks.iter().flat_map(|(number, chunk)| {
            let first = *number as usize * WORDS;
            let words = chunk.iter().enumerate().map(move |(at, &word)| (first + at, word));
            words.filter(|(_, word)| *word != 0)
        })
    }

    /// The number of the word that an id is in.
    pub fn word_of(id: I) -> usize {
        id.index() / 64
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// How many chunks it has, as a measure of the work on it.
    pub fn chunks(&self) -> usize {
        self.chunks.len()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        let words = self.chunks.iter().flat_map(|(_, chunk)| chunk.iter());
        words.map(|word| word.count_ones() as usize).sum()
    }

    /// Whether it has an id in common with another set.
    pub fn meets(&self, other: &Self) -> bool {
        let mut at = 0;
        self.chunks.iter().any(|(number, chunk)| {
            while other.chunks.get(at).is_some_and(|one| one.0 < *number) {
                at += 1;
            }
            let theirs = other.chunks.get(at).filter(|one| one.0 == *number);
            theirs.is_some_and(|(_, theirs)| {
                Rc::ptr_eq(chunk, theirs) || chunk.iter().zip(&**theirs).any(|(a, b)| a & b != 0)
            })
        })
    }

    /// The ids that another set has, too, in order.
    pub fn common<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = I> + 'a {
        self.chunks.iter().flat_map(move |(number, chunk)| {
            let first = *number as usize * WORDS;
            let theirs = other.chunk(*number);
            theirs.into_iter().flat_map(move |theirs| {
                (0..WORDS).flat_map(move |at| {
                    let both = Bits(chunk[at] & theirs[at]);
                    both.map(move |bit| I::from_index((first + at) * 64 + bit))
                })
            })
        })
    }

    /// Whether another set has all of its objects.
    pub fn is_within(&self, other: &Self) -> bool {
        self.chunks.iter().all(|(number, chunk)| {
            let theirs = other.chunk(*number);
            theirs.is_some_and(|theirs| chunk.iter().zip(theirs).all(|(a, b)| a & !b == 0))
        })
    }

    /// The chunk with a number.
    fn chunk(&self, number: u32) -> Option<&Chunk> {
        let found = self.chunks.binary_search_by_key(&number, |one| one.0);
        found.ok().map(|at| &*self.chunks[at].1)
    }

    /// The only id of it, if there is exactly one.
    pub fn only(&self) -> Option<I> {
        let mut ids = self.iter();
        let first = ids.next();
        first.filter(|_| ids.next().is_none())
    }
}

impl<I: Id> FromIterator<I> for IdSet<I> {
    fn from_iter<T: IntoIterator<Item = I>>(ids: T) -> Self {
        let mut all = Self::default();
        all.extend(ids);
        all
    }
}

impl<I: Id> Extend<I> for IdSet<I> {
    fn extend<T: IntoIterator<Item = I>>(&mut self, ids: T) {
        for id in ids {
            self.insert(id);
        }
    }
}

/// The bits of a word that are set.
pub struct Bits(pub u64);

impl Iterator for Bits {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let bit = self.0.trailing_zeros() as usize;
        (self.0 != 0).then(|| {
            self.0 &= self.0 - 1;
            bit
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::define_id;
    use std::collections::BTreeSet;

    define_id!(
        /// An element.
        Object
    );

    /// Numbers that look random.
    fn numbers(seed: u64, count: usize, below: usize) -> Vec<usize> {
        let mut state = seed;
        let next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(state >> 33).unwrap_or_default() % below
        };
        std::iter::repeat_with(next).take(count).collect()
    }

    fn of(numbers: &[usize]) -> IdSet<Object> {
        numbers.iter().map(|&one| Object::from_index(one)).collect()
    }

    fn plain(set: &IdSet<Object>) -> BTreeSet<usize> {
        set.iter().map(Id::index).collect()
    }

    #[test]
    fn sets_do_what_plain_sets_do() {
        for seed in 0..200 {
            let count = [1, 5, 40, 300][seed as usize % 4];
            let (one, two) = (numbers(seed, count, 2000), numbers(seed + 1000, 60, 2000));
            let (mut set, other) = (of(&one), of(&two));
            let before = plain(&set);
            let rest = plain(&set.without(&other));
            assert_eq!(rest, before.difference(&plain(&other)).copied().collect());
            assert_eq!(before, one.iter().copied().collect());
            assert_eq!(set.len(), before.len());
            assert_eq!(set.meets(&other), two.iter().any(|one| before.contains(one)));
            let both: BTreeSet<usize> = set.common(&other).map(Id::index).collect();
            assert_eq!(both, plain(&other).intersection(&before).copied().collect());
            assert_eq!(set.is_within(&other), before.is_subset(&plain(&other)));
            assert!(of(&one[..1]).is_within(&set));
            let mask: Vec<u64> =
                numbers(seed + 7, 25, 1 << 30).iter().map(|&one| one as u64 * 0x1_0001).collect();
            let in_mask =
                |one: usize| mask.get(one / 64).is_some_and(|word| word >> (one % 64) & 1 == 1);
            let masked = seed % 2 == 0;
            let kept: BTreeSet<usize> =
                two.iter().copied().filter(|&one| !masked || in_mask(one)).collect();
            let new = set.add(&other, masked.then_some(&mask[..]));
            assert_eq!(plain(&new), kept.difference(&before).copied().collect());
            assert_eq!(plain(&set), kept.union(&before).copied().collect());
            assert_eq!(plain(&other), two.iter().copied().collect(), "others are left alone");
            assert!(set.add(&other, masked.then_some(&mask[..])).is_empty());
        }
    }

    #[test]
    fn chunks_are_shared_and_changed_alone() {
        let big = of(&(0..4096).collect::<Vec<_>>());
        let mut copy = IdSet::default();
        assert_eq!(copy.add(&big, None).len(), 4096);
        assert!(copy.chunks.iter().zip(&big.chunks).all(|(one, two)| Rc::ptr_eq(&one.1, &two.1)));
        let mut part = of(&[1, 70, 5000]);
        part.add(&big, None);
        assert_eq!(part.len(), 4097);
        copy.insert(Object::from_index(4097));
        assert!(!big.contains(Object::from_index(4097)));
        assert_eq!(copy.only(), None);
        assert_eq!(of(&[77]).only(), Some(Object::from_index(77)));
    }
}
