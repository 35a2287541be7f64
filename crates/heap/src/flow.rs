//! # Idea
//! Sets of pointers and what flows between them. What is new in a set is passed on to where it goes, in
//! the order in which sets depend on each other; sets that pass everything to each other become one.
//! What a use of a set does with the pointers is for its owner: [`Flow::step`] says which are new.
//!
//! # Source
//! Andersen's analysis (1994); Hardekopf and Lin (2007) for cycles, which are looked for when the copies
//! have doubled.
//!
//! # Invariants
//! 1. Sets only grow, and every pointer of a set has been passed to each of its copies and uses, or the
//!    set is waiting.

use crate::objects::PointerId;
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::graph::components;
use selvedge_base::set::Bits;
use selvedge_base::{Id, IdSet, IdVec, define_id};
use selvedge_code::model::TypeId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;

define_id!(
    /// A set of pointers.
    SetId
);

/// How many copies are added before cycles are looked for.
const FIRST_ORDER: usize = 10_000;
/// How many chunks of sets count as one step of work.
const CHUNKS_PER_STEP: usize = 16;

/// A set of pointers.
pub type PointerSet = IdSet<PointerId>;

/// Which pointers are of a type, as far as they have come by, in words of bits.
#[derive(Default)]
struct TypeMask {
    fits: Vec<u64>,
    seen: Vec<u64>,
}

/// Sets and what flows between them; `U` is what they are used for.
pub struct Flow<U> {
    sets: IdVec<SetId, PointerSet>,
    parents: IdVec<SetId, SetId>,
    copies: IdVec<SetId, Vec<(SetId, Option<TypeId>)>>,
    uses: IdVec<SetId, Vec<U>>,
    fresh: IdVec<SetId, PointerSet>,
    waiting: BinaryHeap<Reverse<(u32, SetId)>>,
    ranks: IdVec<SetId, u32>,
    known_copies: FxHashSet<(SetId, SetId, Option<TypeId>)>,
    known_uses: FxHashSet<(SetId, U)>,
    /// How many copies there are, and how many there were when cycles were looked for.
    edges: usize,
    ordered: usize,
    masks: FxHashMap<TypeId, TypeMask>,
    /// Uses with pointers that they have not seen.
    pending: Vec<(U, PointerSet)>,
    work: usize,
}

impl<U> Default for Flow<U> {
    fn default() -> Self {
        Self {
            sets: IdVec::new(),
            parents: IdVec::new(),
            copies: IdVec::new(),
            uses: IdVec::new(),
            fresh: IdVec::new(),
            waiting: BinaryHeap::new(),
            ranks: IdVec::new(),
            known_copies: FxHashSet::default(),
            known_uses: FxHashSet::default(),
            edges: 0,
            ordered: 0,
            masks: FxHashMap::default(),
            pending: Vec::new(),
            work: 0,
        }
    }
}

/// Whether a pointer is of a type.
pub trait Fits {
    /// Whether it is.
    fn fits(&self, pointer: PointerId, ty: TypeId) -> bool;
}

impl<U: Copy + Eq + Hash> Flow<U> {
    /// A new empty set.
    pub fn push(&mut self) -> SetId {
        let node = self.sets.push(PointerSet::default());
        self.parents.push(node);
        self.copies.push(Vec::new());
        self.uses.push(Vec::new());
        self.fresh.push(PointerSet::default());
        self.ranks.push(u32::MAX);
        node
    }

    /// The steps of work since this was asked for.
    pub fn take_work(&mut self) -> u64 {
        (std::mem::take(&mut self.work) / CHUNKS_PER_STEP) as u64
    }

    /// The set that a set has become a part of, or itself.
    pub fn find(&self, mut node: SetId) -> SetId {
        while self.parents[node] != node {
            node = self.parents[node];
        }
        node
    }

    /// What is in a set.
    pub fn set(&self, node: SetId) -> &PointerSet {
        &self.sets[self.find(node)]
    }

    /// Adds a pointer to a set.
    pub fn give(&mut self, node: SetId, pointer: PointerId) {
        let node = self.find(node);
        if self.sets[node].insert(pointer) {
            self.wake(node);
            self.fresh[node].insert(pointer);
        }
    }

    /// Adds pointers to a set.
    pub fn give_all(&mut self, node: SetId, pointers: &PointerSet) {
        let node = self.find(node);
        self.pass(pointers, node, None);
    }

    /// Whatever comes into a set comes into another one; only what is of a type if one is named.
    pub fn copy(&mut self, from: SetId, into: SetId, filter: Option<TypeId>, fits: &impl Fits) {
        let (from, into) = (self.find(from), self.find(into));
        if from == into || !self.known_copies.insert((from, into, filter)) {
            return;
        }
        self.copies[from].push((into, filter));
        self.edges += 1;
        // Chunks are shared, so this is no copy of the pointers.
        let pointers = self.sets[from].clone();
        self.look_at(&pointers, filter, fits);
        self.pass(&pointers, into, filter);
    }

    /// Whatever comes into a set is used.
    pub fn add_use(&mut self, node: SetId, one: U) {
        let node = self.find(node);
        if self.known_uses.insert((node, one)) {
            self.uses[node].push(one);
            if !self.sets[node].is_empty() {
                self.pending.push((one, self.sets[node].clone()));
            }
        }
    }

    fn wake(&mut self, node: SetId) {
        if self.fresh[node].is_empty() {
            self.waiting.push(Reverse((self.ranks[node], node)));
        }
    }

    fn pass(&mut self, pointers: &PointerSet, into: SetId, filter: Option<TypeId>) {
        self.work += 1 + pointers.chunks();
        let mask = filter.and_then(|ty| self.masks.get(&ty)).map(|mask| &mask.fits[..]);
        let new = self.sets[into].add(pointers, mask);
        if !new.is_empty() {
            self.work += self.sets[into].chunks();
            self.wake(into);
            self.fresh[into].add(&new, None);
        }
    }

    /// Finds out which of some pointers are of a type; only what comes by is looked at.
    fn look_at(&mut self, pointers: &PointerSet, filter: Option<TypeId>, fits: &impl Fits) {
        let Some(ty) = filter else { return };
        let mask = self.masks.entry(ty).or_default();
        for (word, bits) in pointers.words() {
            if mask.seen.len() <= word {
                mask.seen.resize(word + 1, 0);
                mask.fits.resize(word + 1, 0);
            }
            let new = bits & !mask.seen[word];
            mask.seen[word] |= new;
            for bit in Bits(new) {
                self.work += 1;
                if fits.fits(PointerId::from_index(word * 64 + bit), ty) {
                    mask.fits[word] |= 1 << bit;
                }
            }
        }
    }

    /// Passes on what is new in one set: its uses with the pointers that they have not seen, or nothing
    /// if no set waits.
    pub fn step(&mut self, fits: &impl Fits) -> Option<Vec<(U, PointerSet)>> {
        if !self.pending.is_empty() {
            return Some(std::mem::take(&mut self.pending));
        }
        if self.edges > FIRST_ORDER.max(2 * self.ordered) {
            self.order();
        }
        let Reverse((_, node)) = self.waiting.pop()?;
        if self.find(node) != node {
            return Some(Vec::new());
        }
        let pointers = std::mem::take(&mut self.fresh[node]);
        for number in 0..self.copies[node].len() {
            let (into, filter) = self.copies[node][number];
            let into = self.find(into);
            if into != node {
                self.look_at(&pointers, filter, fits);
                self.pass(&pointers, into, filter);
            }
        }
        self.work += self.uses[node].len();
        Some(self.uses[node].iter().map(|&one| (one, pointers.clone())).collect())
    }

    /// Brings sets into the order in which they depend on each other, and makes one of those that pass
    /// everything to each other.
    fn order(&mut self) {
        self.ordered = self.edges;
        self.work += 8 * (self.edges + self.parents.len());
        let parents: Vec<SetId> = self.parents.ids().map(|one| self.find(one)).collect();
        self.parents = parents.into_iter().collect();
        let whole = |node: SetId| {
            let copies = self.copies[node].iter().filter(|one| one.1.is_none());
            copies.map(|one| self.parents[one.0])
        };
        let cycles = components(self.parents.len(), whole);
        for cycle in cycles.into_iter().filter(|one| one.len() > 1) {
            for pair in cycle.windows(2) {
                self.unite(pair[0], pair[1]);
            }
        }
        let all = components(self.parents.len(), |node: SetId| {
            self.copies[node].iter().map(|one| self.find(one.0))
        });
        let last = u32::try_from(all.len()).unwrap_or(u32::MAX);
        for (rank, component) in (0..last).zip(&all) {
            for &node in component {
                self.ranks[node] = last - rank;
            }
        }
        let waiting: Vec<SetId> = self.waiting.drain().map(|Reverse((_, node))| node).collect();
        for node in waiting {
            self.waiting.push(Reverse((self.ranks[node], node)));
        }
    }

    /// Makes two sets one: what is in one of them goes where the other one's goes.
    fn unite(&mut self, one: SetId, other: SetId) {
        let (one, other) = (self.find(one), self.find(other));
        if one == other {
            return;
        }
        let size = |node: SetId| self.copies[node].len() + self.uses[node].len();
        let (kept, gone) = if size(one) < size(other) { (other, one) } else { (one, other) };
        self.parents[gone] = kept;
        let theirs = std::mem::take(&mut self.sets[gone]);
        self.fresh[gone] = PointerSet::default();
        let copies = std::mem::take(&mut self.copies[gone]);
        let uses = std::mem::take(&mut self.uses[gone]);
        // What one of them has is new to whoever takes from the other.
        for (into, filter) in copies {
            if self.known_copies.insert((kept, into, filter)) {
                self.copies[kept].push((into, filter));
            }
        }
        for one in uses {
            if self.known_uses.insert((kept, one)) {
                self.uses[kept].push(one);
            }
        }
        self.sets[kept].add(&theirs, None);
        let both = self.sets[kept].clone();
        self.wake(kept);
        self.fresh[kept].add(&both, None);
    }
}
