//! # Idea
//! Interchangeable copies are counted: instead of where each of them is, a configuration says how many
//! of them are in each *slot*, a location where contexts can end with the values of the locals that
//! matter there. In a turn one of them is taken out of its slot, moves as a thread of its own, and is put
//! into the slot where its context ends.
//!
//! A copy that waits for its start is in the slot of all that have not moved. Starts name their copies,
//! and the bits that say who was started stay; one of the copies may move if more were started than have
//! moved.
//!
//! # Source
//! Emerson and Trefler, *From asymmetry to full symmetry* (1999), for counters instead of
//! representatives; the deviation is that one copy is outside of the counters while it moves.
//!
//! # Invariants
//! 1. In the sets between turns the counters of a group add up to its copies, and the variables of the
//!    copy that moves do not occur.
//! 2. A set between turns has the counts of exactly the configurations that are reachable within so many
//!    contexts, up to permutation of copies that were started ([`crate::symmetry`]).

use super::control::Point;
use super::draft::{Assignment, Draft, Image, successor};
use super::inline::Flat;
use super::layout::{Bit, Pair, VariableLayout};
use super::space::{Bdd, Diagrams};
use selvedge_base::Id;
use selvedge_bdd::{BddManager, Exhausted, Var};
use selvedge_program::ThreadId;
use std::collections::BTreeSet;
use std::ops::Range;

/// With more slots than this, copies are told apart.
const MOST_SLOTS: usize = 128;

/// A location where contexts can end, with values of the locals that matter there.
#[derive(Clone, Debug)]
struct Slot {
    location: usize,
    locals: Vec<(Var, bool)>,
    /// The bits of the number of copies in it, the lowest first.
    counter: Vec<Pair>,
    /// One copy less, and one more.
    less: Image,
    more: Image,
}

/// Copies that are counted.
#[derive(Clone, Debug)]
pub(super) struct Counters {
    pub(super) threads: Vec<ThreadId>,
    slots: Vec<Slot>,
    /// The slots of copies at first: one for all values of the locals that matter there.
    entries: Range<usize>,
    /// That a copy that was started has not moved.
    ready: Bdd,
}

/// How many variables the counters of so many copies need in so many slots; nothing if there are too
/// many slots.
pub(super) fn variables(copies: usize, slots: usize) -> Option<usize> {
    (slots <= MOST_SLOTS).then(|| 2 * slots * width(copies))
}

fn width(copies: usize) -> usize {
    (usize::BITS - copies.leading_zeros()) as usize
}

impl Counters {
    /// The counters of copies of a thread; their variables begin at `first`.
    pub(super) fn new(
        space: &Diagrams,
        layout: &VariableLayout,
        flat: &Flat,
        threads: &[ThreadId],
        first: usize,
    ) -> Result<Self, Exhausted> {
        let mut next = first;
        let mut slots = Vec::new();
        // What is shared often follows from how many copies are under way; so those that have not begun
        // and those that have ended, which add up to all with them, come last.
        let mut stops = flat.stops.clone();
        stops.sort_by_key(|&at| (at == flat.entry, flat.locations[at].point == Point::Ended));
        for location in stops {
            let kept = &flat.locations[location].kept;
            for values in 0..1usize << kept.len() {
                let value = |(at, &var)| (var, values >> at & 1 == 1);
                let locals = kept.iter().enumerate().map(value).collect();
                let mut counter = Vec::new();
                for _ in 0..width(threads.len()) {
                    counter
                        .push(Pair { now: Var::from_index(next), next: Var::from_index(next + 1) });
                    next += 2;
                }
                // The highest bit comes first in the order of the variables.
                counter.reverse();
                let less = counting(space, &counter, false)?;
                let more = counting(space, &counter, true)?;
                slots.push(Slot { location, locals, counter, less, more });
            }
        }
        let first = slots.iter().position(|slot| slot.location == flat.entry);
        let first = first.expect("contexts can end where a thread begins");
        let entries = first..first + (1 << flat.locations[flat.entry].kept.len());
        let waits = flat.locations[flat.entry].point == Point::Waiting;
        let ready =
            if waits { ready(space, layout, &slots[first].counter, threads)? } else { space.top() };
        Ok(Self { threads: threads.to_vec(), slots, entries, ready })
    }

    /// The values of the counters at first: every copy has any values.
    pub(super) fn at_first(&self, space: &Diagrams) -> Result<Bdd, Exhausted> {
        let nobody: Vec<(Var, bool)> = self.all().map(|var| (var, false)).collect();
        let mut counts = space.manager.conjunction(&nobody)?;
        for _ in &self.threads {
            let mut next = space.bottom();
            for slot in &self.slots[self.entries.clone()] {
                next = space.or(&next, &slot.more.of(space, &counts)?)?;
            }
            counts = next;
        }
        Ok(counts)
    }

    /// The variables of all counters.
    pub(super) fn all(&self) -> impl Iterator<Item = Var> {
        self.slots.iter().flat_map(|slot| &slot.counter).map(|pair| pair.now)
    }

    /// The configurations with one copy taken out, which is where its slot says.
    pub(super) fn taken_out(
        &self,
        space: &Diagrams,
        flat: &Flat,
        set: &Bdd,
    ) -> Result<Bdd, Exhausted> {
        let mut all = space.bottom();
        for (at, slot) in self.slots.iter().enumerate() {
            let enters = self.entries.contains(&at);
            let from = if enters { &space.and(set, &self.ready)? } else { set };
            let rest = slot.less.of(space, from)?;
            if space.is_bottom(&rest) {
                continue;
            }
            let here = space.manager.conjunction(&slot.literals(flat))?;
            all = space.or(&all, &space.and(&rest, &here)?)?;
        }
        Ok(all)
    }

    /// The configurations with the copy that has moved put into its slot.
    pub(super) fn put_back(
        &self,
        space: &Diagrams,
        flat: &Flat,
        set: &Bdd,
    ) -> Result<Bdd, Exhausted> {
        let own = space.cube(flat.variables().collect())?;
        let mut all = space.bottom();
        for slot in &self.slots {
            let here = space.manager.conjunction(&slot.literals(flat))?;
            let rest = space.and_exists(set, &here, &own)?;
            if !space.is_bottom(&rest) {
                all = space.or(&all, &slot.more.of(space, &rest)?)?;
            }
        }
        Ok(all)
    }

    /// The ways to take one copy out of a configuration: from which slot, and what is left.
    pub(super) fn ways_out<'a>(
        &'a self,
        flat: &'a Flat,
        state: &'a Assignment,
    ) -> impl Iterator<Item = (usize, Assignment)> + 'a {
        self.slots.iter().enumerate().filter_map(move |(at, slot)| {
            let count = slot.count(state).checked_sub(1)?;
            let mut rest = state.clone();
            rest.extend(slot.counted(count));
            rest.extend(slot.literals(flat));
            Some((at, rest))
        })
    }

    /// The slot of the copy that is outside, and the configuration with it inside.
    pub(super) fn way_in(&self, flat: &Flat, state: &Assignment) -> (usize, Assignment) {
        let holds = |slot: &Slot| {
            slot.literals(flat).iter().all(|(var, value)| state.get(var) == Some(value))
        };
        let at = self.slots.iter().position(holds).expect("a context ends in a slot");
        let slot = &self.slots[at];
        let mut state = state.clone();
        state.extend(flat.variables().map(|var| (var, false)));
        state.extend(slot.counted(slot.count(&state) + 1));
        (at, state)
    }

    /// Nobody has moved: who is in which slot.
    pub(super) fn roster(&self) -> Roster {
        Roster {
            unmoved: self.threads.iter().copied().collect(),
            slots: vec![BTreeSet::new(); self.slots.len()],
            entries: self.entries.clone(),
        }
    }
}

/// Who is in which slot.
pub(super) struct Roster {
    /// Those that have not moved, in one of the first slots each.
    unmoved: BTreeSet<ThreadId>,
    /// Those that have moved.
    slots: Vec<BTreeSet<ThreadId>>,
    entries: Range<usize>,
}

impl Roster {
    /// Takes a copy out of a slot: one that has moved there if there is one, else one that has not moved
    /// and was started.
    pub(super) fn take(
        &mut self,
        slot: usize,
        started: impl Fn(ThreadId) -> bool,
    ) -> Option<ThreadId> {
        if let Some(moved) = self.slots[slot].pop_first() {
            return Some(moved);
        }
        let mut unmoved = self.unmoved.iter().filter(|_| self.entries.contains(&slot));
        let taken = unmoved.find(|&&one| started(one)).copied()?;
        self.unmoved.remove(&taken);
        Some(taken)
    }

    /// Puts it into another one.
    pub(super) fn put(&mut self, slot: usize, thread: ThreadId) {
        self.slots[slot].insert(thread);
    }
}

impl Slot {
    fn literals(&self, flat: &Flat) -> Vec<(Var, bool)> {
        let mut literals = flat.numbered(self.location);
        literals.extend(&self.locals);
        literals
    }

    fn count(&self, state: &Assignment) -> usize {
        let bits = self.counter.iter().rev();
        let value = |pair: &Pair| usize::from(state.get(&pair.now).copied().unwrap_or(false));
        bits.fold(0, |count, pair| count << 1 | value(pair))
    }

    fn counted(&self, count: usize) -> impl Iterator<Item = (Var, bool)> {
        let bits = self.counter.iter().enumerate();
        bits.map(move |(bit, pair)| (pair.now, count >> bit & 1 == 1))
    }
}

/// One more, or one less.
fn counting(space: &Diagrams, counter: &[Pair], more: bool) -> Result<Image, Exhausted> {
    let pair = |bit: &Pair| if more { (bit.now, bit.next) } else { (bit.next, bit.now) };
    let pairs: Vec<(Var, Var)> = counter.iter().map(pair).collect();
    let mut draft = Draft::new(space);
    draft.restrict(&successor(space, &pairs)?)?;
    draft.written.extend(counter.iter().map(|bit| (bit.now, bit.next)));
    draft.finish()
}

/// More copies were started than have moved; the counter says how many have not moved.
fn ready(
    space: &Diagrams,
    layout: &VariableLayout,
    counter: &[Pair],
    threads: &[ThreadId],
) -> Result<Bdd, Exhausted> {
    // By number: so many of the copies that were looked at were started, or more.
    let mut at_least = vec![space.top()];
    at_least.resize(threads.len() + 1, space.bottom());
    for &thread in threads.iter().rev() {
        let started = layout.find(Bit::Started(thread)).value.now;
        let (yes, no) = (space.literal(started, true)?, space.literal(started, false)?);
        for most in (1..=threads.len()).rev() {
            let one_of_them = space.and(&yes, &at_least[most - 1])?;
            at_least[most] = space.or(&one_of_them, &space.and(&no, &at_least[most])?)?;
        }
    }
    let mut ready = space.bottom();
    for waiting in 1..=threads.len() {
        let bits = counter.iter().enumerate();
        let literals: Vec<(Var, bool)> =
            bits.map(|(bit, pair)| (pair.now, waiting >> bit & 1 == 1)).collect();
        let count = space.manager.conjunction(&literals)?;
        let enough = &at_least[threads.len() - waiting + 1];
        ready = space.or(&ready, &space.and(&count, enough)?)?;
    }
    Ok(ready)
}
