//! # Idea
//! Configurations up to permutation of interchangeable copies: those that were started stand in the
//! order of their parts. A part of a copy is its stack, what was passed to it, the locks that it owns,
//! and whether it is inside an atomic section; all of that goes along when it takes another place.
//!
//! # Invariants
//! 1. Two permutations of a configuration have the same arrangement: copies with equal parts can change
//!    places without any effect.
//! 2. A copy can do nothing that the first one with an equal part cannot do, up to permutation. So only
//!    the first one moves.

use super::stacks::{StackId, StackTable};
use crate::expand::{Activity, ExpandedSymbol, Expansion, Shared};
use rustc_hash::FxHashMap;
use selvedge_base::{Id, IdVec};
use selvedge_program::{Interchangeable, ThreadId};

/// Where each thread goes.
pub type Image = IdVec<ThreadId, ThreadId>;

/// What copies are compared by: the stack as it is for the first copy of the group, what was passed,
/// what is owned.
type Part = (StackId, u64, u64);

/// The interchangeable copies of a program, and their stacks.
pub struct Arrangement {
    groups: Vec<Interchangeable>,
    /// The group of each thread, and its place in it.
    places: IdVec<ThreadId, Option<(usize, usize)>>,
    /// By stack of a copy, what it is to the first one of the group, once that was asked for.
    first: Vec<Option<StackId>>,
    /// What a stack of the first copy is to another one.
    moved: FxHashMap<(StackId, ThreadId), StackId>,
    /// The copies of a group that were started, with their parts.
    parts: Vec<(ThreadId, Part)>,
}

/// The program and the stacks of a search.
pub struct Tables<'a, 'p> {
    pub expansion: &'a mut Expansion<'p>,
    pub stacks: &'a mut StackTable,
}

/// How a configuration was put in order.
pub struct Arranged {
    /// Where each thread has gone, if one has gone anywhere.
    pub image: Option<Image>,
    /// The first thread that is like the one that has moved.
    pub mover: usize,
}

impl Arrangement {
    /// For these copies.
    pub fn new(threads: usize, groups: Vec<Interchangeable>) -> Self {
        let mut places = IdVec::filled(None, threads);
        for (at, group) in groups.iter().enumerate() {
            for (place, &thread) in group.threads.iter().enumerate() {
                places[thread] = Some((at, place));
            }
        }
        let (first, moved) = (Vec::new(), FxHashMap::default());
        Self { groups, places, first, moved, parts: Vec::new() }
    }

    /// Whether no copies are interchangeable.
    pub fn is_trivial(&self) -> bool {
        self.groups.is_empty()
    }

    /// Puts a configuration in order, in which a thread has moved.
    pub fn arrange(
        &mut self,
        tables: &mut Tables<'_, '_>,
        shared: &mut Shared,
        stacks: &mut [StackId],
        mover: usize,
    ) -> Arranged {
        let mut image: Option<Image> = None;
        let mut place = mover;
        let mover = ThreadId::from_index(mover);
        for at in 0..self.groups.len() {
            self.find_parts(tables, *shared, stacks, at);
            let moves = self.places[mover].is_some_and(|(group, _)| group == at);
            let own = self.parts.iter().find(|one| moves && one.0 == mover).map(|one| one.1);
            if self.parts.windows(2).any(|pair| pair[0].1 > pair[1].1) {
                let mut sorted = self.parts.clone();
                sorted.sort_by_key(|one| one.1);
                let image = image.get_or_insert_with(|| self.places.ids().collect());
                for (to, from) in self.parts.iter_mut().zip(sorted) {
                    image[from.0] = to.0;
                    to.1 = from.1;
                }
            }
            if let Some(own) = own {
                let first = self.parts.iter().find(|one| one.1 == own);
                place = first.map_or(place, |one| one.0.index());
            }
        }
        if let Some(image) = &image {
            let before = stacks.to_vec();
            for (from, &to) in image.iter_enumerated() {
                if from != to {
                    let stack = self.first_like(tables, before[from.index()]);
                    stacks[to.index()] = self.like_first(tables, stack, to);
                }
            }
            *shared = tables.expansion.layout().renamed(*shared, image);
        }
        Arranged { image, mover: place }
    }

    /// Whether another copy stands before a thread with the same part, in a configuration that is in
    /// order.
    pub fn is_twin(
        &mut self,
        tables: &mut Tables<'_, '_>,
        shared: Shared,
        stacks: &[StackId],
        thread: ThreadId,
    ) -> bool {
        let Some((group, place)) = self.places[thread] else { return false };
        let layout = tables.expansion.layout();
        let mut before = self.groups[group].threads[..place].iter().rev();
        let Some(&before) = before.find(|&&one| !layout.waits(shared, one)) else {
            return false;
        };
        !layout.waits(shared, thread)
            && self.part(tables, shared, stacks, before)
                == self.part(tables, shared, stacks, thread)
    }

    fn find_parts(
        &mut self,
        tables: &mut Tables<'_, '_>,
        shared: Shared,
        stacks: &[StackId],
        group: usize,
    ) {
        let mut parts = std::mem::take(&mut self.parts);
        parts.clear();
        for at in 0..self.groups[group].threads.len() {
            let thread = self.groups[group].threads[at];
            if !tables.expansion.layout().waits(shared, thread) {
                parts.push((thread, self.part(tables, shared, stacks, thread)));
            }
        }
        self.parts = parts;
    }

    fn part(
        &mut self,
        tables: &mut Tables<'_, '_>,
        shared: Shared,
        stacks: &[StackId],
        thread: ThreadId,
    ) -> Part {
        let stack = self.first_like(tables, stacks[thread.index()]);
        let (passed, owned) = tables.expansion.layout().own(shared, thread);
        (stack, passed, owned)
    }

    /// The stack that is to the first copy of a group what a stack is to another one.
    fn first_like(&mut self, tables: &mut Tables<'_, '_>, stack: StackId) -> StackId {
        if let Some(&Some(known)) = self.first.get(stack.index()) {
            return known;
        }
        let Some((top, below)) = tables.stacks.pop(stack) else { return stack };
        let symbol = tables.expansion.get(top);
        let group = self.places[symbol.thread].map(|(group, _)| self.groups[group].threads[0]);
        let mut first = stack;
        if let Some(to) = group.filter(|&to| to != symbol.thread) {
            let below = self.first_like(tables, below);
            let top = tables.expansion.symbol(self.moved_symbol(symbol, symbol.thread, to));
            first = tables.stacks.push(top, below);
        }
        let asked = self.first.len().max(stack.index() + 1);
        self.first.resize(asked, None);
        self.first[stack.index()] = Some(first);
        first
    }

    /// The stack that is to a copy what a stack is to the first one of its group.
    fn like_first(&mut self, tables: &mut Tables<'_, '_>, stack: StackId, to: ThreadId) -> StackId {
        let Some((top, below)) = tables.stacks.pop(stack) else { return stack };
        let symbol = tables.expansion.get(top);
        if symbol.thread == to {
            return stack;
        }
        if let Some(&known) = self.moved.get(&(stack, to)) {
            return known;
        }
        let below = self.like_first(tables, below, to);
        let top = tables.expansion.symbol(self.moved_symbol(symbol, symbol.thread, to));
        let moved = tables.stacks.push(top, below);
        self.moved.insert((stack, to), moved);
        moved
    }

    fn moved_symbol(&self, symbol: ExpandedSymbol, from: ThreadId, to: ThreadId) -> ExpandedSymbol {
        let (Some((group, own)), Some((_, other))) = (self.places[from], self.places[to]) else {
            return symbol;
        };
        let texts = &self.groups[group].own;
        let (own, other) = (&texts[own], &texts[other]);
        let activity = match symbol.activity {
            Activity::First => Activity::First,
            Activity::At(node) => Activity::At(own.moved_node(other, node)),
            Activity::Open(call) => Activity::Open(own.moved_edge(other, call)),
        };
        ExpandedSymbol { thread: to, activity, ..symbol }
    }
}
