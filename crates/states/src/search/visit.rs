//! # Idea
//! Everything that threads do from a stored state. Where every step is stored, instructions take the
//! steps; what comes out of several states is stored together, since memory is slow and answers many
//! questions at a time.
//!
//! # Invariants
//! 1. States are stored in the same order as if each were expanded and stored alone: what waits is stored
//!    before the step relation takes a step, before a dead end is looked for, and before the last state
//!    that waits to be expanded is missed.
//! 2. Where dead ends are sought under a reduction, a thread whose steps are its own is expanded alone: they
//!    are a persistent set, and a search by persistent sets meets every dead end. No condition about cycles
//!    is needed: where such a thread goes round for ever, no dead end is behind.

use super::part::Part;
use super::{Found, Goal, Reduction, SearchOrder, StateSearch};
use crate::executor::Executor;
use crate::shared::{ReachedBy, StateRecord};
use crate::state::State;
use crate::step::{Offer, Path};
use crate::store::{Parent, Stored};
use selvedge_base::{Id as _, StopReason};
use selvedge_program::{ThreadId, Unknown};

/// How many states that came out wait at most before they are stored.
const MOST_WAITING: usize = 64;

/// A state whose steps were taken, and are to be stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    number: Stored,
    /// Where one of several workers has it, and its hash.
    place: Option<(StateRecord, u64)>,
    /// Where its outcomes end among those that wait.
    end: usize,
}

impl StateSearch<'_, '_> {
    /// Everything that threads do from a stored state.
    pub(super) fn visit(
        &mut self,
        number: Stored,
        whole: Option<&[u64]>,
    ) -> Result<Option<Found>, Unknown> {
        match self.visit_soon(number, whole)? {
            None => self.store_batch(),
            found => Ok(found),
        }
    }

    /// The same; where it leads may be stored later, by [`StateSearch::store_batch`].
    pub(super) fn visit_soon(
        &mut self,
        number: Stored,
        whole: Option<&[u64]>,
    ) -> Result<Option<Found>, Unknown> {
        let mut executor = self.executor.take();
        let found = self.visit_with(executor.as_mut(), number, whole);
        self.executor = executor;
        found
    }

    /// Whether something waits to be stored.
    pub(super) fn has_batch(&self) -> bool {
        !self.batch.is_empty()
    }

    /// Stores what waits to be stored.
    pub(super) fn store_batch(&mut self) -> Result<Option<Found>, Unknown> {
        let Some(mut executor) = self.executor.take() else { return Ok(None) };
        let found = self.keep_batch(&mut executor);
        self.executor = Some(executor);
        found
    }

    fn visit_with(
        &mut self,
        executor: Option<&mut Executor>,
        number: Stored,
        whole: Option<&[u64]>,
    ) -> Result<Option<Found>, Unknown> {
        let threads = self.machine.code.program.threads.ids();
        let Some(executor) = executor else {
            return self.visit_rest(threads.collect(), false, number, whole);
        };
        let first = executor.outcomes().1.len();
        executor.load(whole.unwrap_or_else(|| self.store.packed(number)));
        let layout = self.packing.layout().filter(|_| !self.symmetry.is_trivial());
        let twins = layout.map_or_else(Vec::new, |layout| {
            let words = whole.unwrap_or_else(|| self.store.packed(number));
            self.symmetry.twins_of_words(layout, words, &mut self.cells)
        });
        let threads = threads.filter(|thread| !twins.contains(thread));
        let rest: Vec<ThreadId> =
            threads.filter(|&thread| executor.expand(thread).is_err()).collect();
        if let Some(layout) = layout {
            for words in executor.outcomes_from(first) {
                self.symmetry.arrange_words(layout, words, &mut self.cells);
            }
        }
        self.counts.nodes += (self.machine.code.program.threads.len() - rest.len()) as u64;
        let end = executor.outcomes().1.len();
        let moves = end > first;
        let place = self.part.as_ref().map(Part::expanding);
        self.batch.push(Source { number, place, end });
        let is_done = rest.is_empty() && (moves || self.goal != Goal::DeadEnd);
        // In depth, what is stored last is expanded first; and what is looked for ends the search.
        let waits = self.options.order == SearchOrder::Breadth
            && !matches!(self.goal, Goal::State(_))
            && end < MOST_WAITING;
        if is_done && waits {
            return Ok(None);
        }
        if let Some(found) = self.keep_batch(executor)? {
            return Ok(Some(found));
        }
        if is_done {
            return Ok(None);
        }
        self.visit_rest(rest, moves, number, whole)
    }

    /// What threads do by the step relation; whether others of them move is known.
    fn visit_rest(
        &mut self,
        mut rest: Vec<ThreadId>,
        moves: bool,
        number: Stored,
        whole: Option<&[u64]>,
    ) -> Result<Option<Found>, Unknown> {
        let stored = self.found_so_far();
        if let (Some(part), Some(words)) = (&mut self.part, whole) {
            part.words.clear();
            part.words.extend_from_slice(words);
        }
        let words = whole.unwrap_or_else(|| self.store.packed(number));
        let state = self.packing.unpack(words);
        let twins = self.symmetry.twins(&state);
        rest.retain(|thread| !twins.contains(thread));
        if self.goal == Goal::DeadEnd && self.options.reduction == Reduction::LeftMovers {
            for &thread in &rest {
                if self.is_alone(&state, thread)? {
                    rest = vec![thread];
                    break;
                }
            }
        }
        for thread in rest {
            if let Some(found) = self.expand(number, &state, thread)? {
                return Ok(Some(found));
            }
        }
        // Where a thread has led to a new state, one can move.
        if self.goal == Goal::DeadEnd
            && !moves
            && self.found_so_far() == stored
            && self.is_dead_end(&state)?
        {
            let thread = ThreadId::from_index(0);
            return Ok(Some(Found::behind(number, thread, Path::new())));
        }
        Ok(None)
    }

    /// Stores where steps that simply happen lead, from all states that wait for it.
    fn keep_batch(&mut self, executor: &mut Executor) -> Result<Option<Found>, Unknown> {
        let mut hashes = std::mem::take(&mut executor.hashes);
        let mut batch = std::mem::take(&mut self.batch);
        let (words, movers) = executor.outcomes();
        match &self.part {
            Some(part) => part.look_ahead(words, &mut hashes),
            None => self.store.look_ahead(words, &mut hashes),
        }
        self.counts.nodes += movers.len() as u64;
        self.counts.transitions += movers.len() as u64;
        let outcomes = words.chunks_exact(executor.stride());
        let mut outcomes = outcomes.zip(movers).zip(&hashes).map(|((a, &b), &c)| (a, b, c));
        let mut kept = Ok(None);
        let mut first = 0;
        for source in batch.drain(..) {
            kept = self.keep_of(source, outcomes.by_ref().take(source.end - first));
            first = source.end;
            if !matches!(kept, Ok(None)) {
                break;
            }
        }
        executor.clear();
        executor.hashes = hashes;
        self.batch = batch;
        kept
    }

    /// Stores where the steps from one state lead.
    fn keep_of<'w>(
        &mut self,
        source: Source,
        outcomes: impl Iterator<Item = (&'w [u64], ThreadId, u64)>,
    ) -> Result<Option<Found>, Unknown> {
        let Source { number, place, .. } = source;
        if let Some((from, hash)) = place {
            for (words, thread, own) in outcomes {
                let reached = ReachedBy { from, hash, thread: thread.index() };
                self.store_hashed(words, own, Some(reached))?;
            }
            return Ok(None);
        }
        let depth = self.depth_behind(number);
        for (words, thread, hash) in outcomes {
            if self.store.count() as u64 >= self.options.most_states {
                return Err(Unknown::Stopped(StopReason::Memory));
            }
            let parent = Parent { state: number, thread, depth };
            let (next, new) = self.store.insert_hashed(words, hash, parent);
            if !new {
                continue;
            }
            self.queue.push_back(next);
            self.counts.depth = self.counts.depth.max(u64::from(depth));
            if matches!(self.goal, Goal::State(_)) && self.is_goal(&self.packing.unpack(words)) {
                return Ok(Some(Found::behind(next, thread, Path::new())));
            }
        }
        Ok(None)
    }

    /// Whether whatever a thread can do from a state is of no concern to the others, and nothing that they do
    /// changes it: then a dead end behind the state lies behind one of these steps, taken first. What is
    /// accessed does not count, for who else accesses it is known only at the fixpoint.
    fn is_alone(&self, state: &State, thread: ThreadId) -> Result<bool, Unknown> {
        let own = state.thread(thread);
        if own.waits || own.stack.is_empty() || own.stopped {
            return Ok(false);
        }
        let offers = self.machine.offers(state, thread)?;
        let private = |offer: &Offer| {
            offer.accesses.is_empty()
                && offer.mover.left
                && !offer.outcomes.is_empty()
                && offer.failures.is_empty()
                && !offer.too_deep
        };
        Ok(!offers.is_empty() && offers.iter().all(private))
    }

    /// Whether no thread can move, and a started one has not ended.
    fn is_dead_end(&self, state: &State) -> Result<bool, Unknown> {
        let mut unfinished = false;
        for thread in self.machine.code.program.threads.ids() {
            let own = state.thread(thread);
            unfinished |= !own.waits && !own.stack.is_empty();
            if own.stopped {
                return Ok(false);
            }
            for offer in self.machine.offers(state, thread)? {
                if !offer.outcomes.is_empty() || !offer.failures.is_empty() || offer.too_deep {
                    return Ok(false);
                }
            }
        }
        Ok(unfinished)
    }
}
