//! # Idea
//! A lock history summarises a path of one thread within one phase: which of the locks held at its
//! start it released, which locks it used up and gave back, which it acquired and kept, which it
//! held throughout, and in which order releases and acquisitions constrain each other. Paths of
//! several threads can be interleaved exactly if their histories are [`compatible`].
//!
//! # Source
//! Paper 000 §6: Fig. 3 (`η`, `post_η`), §7.1 (`ptrans`), Defn. 4 and §9 (Compat). The composition
//! law, dominance and the two lock graphs for N threads are in ERRATA (000): the graphs of
//! acquisition histories and of release histories must *each* be acyclic, never their union.
//!
//! # Requires
//! Locks are non-reentrant and well nested (see `selvedge-lower`).
//!
//! # Invariants
//! 1. `release_histories` has one entry per lock of `released`, sorted; likewise
//!    `acquisition_histories` and `acquired` (paper 000 Remark 4). Both are empty in the history of a path on
//!    which the thread is alone ([`LockHistory::post_alone`]), and stay so when such paths are put together.
//! 2. `released ∪ held_throughout` is what was held at the start, `acquired ∪ held_throughout` what
//!    is held at the end; each union is disjoint.

use selvedge_lower::LockSet;
use selvedge_program::LockId;

/// A change of a lock's owner.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LockAction {
    /// `(`: takes a free lock.
    Acquire(LockId),
    /// `)`: frees a lock.
    Release(LockId),
}

/// A lock history `(R, RH, U, AH, A, HT)`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct LockHistory {
    /// `R`: locks held at the start and released on the path.
    pub released: LockSet,
    /// `RH`: for each lock of `R`, itself and the locks released before its initial release.
    pub release_histories: Vec<(LockId, LockSet)>,
    /// `U`: locks acquired and released on the path.
    pub used: LockSet,
    /// `AH`: for each lock of `A`, itself and the locks acquired after its final acquisition.
    pub acquisition_histories: Vec<(LockId, LockSet)>,
    /// `A`: locks acquired on the path and held at its end.
    pub acquired: LockSet,
    /// `HT`: locks held throughout.
    pub held_throughout: LockSet,
}

impl LockHistory {
    /// `η([], I)`: the empty path of a thread that holds `held`.
    pub fn empty(held: LockSet) -> Self {
        Self { held_throughout: held, ..Self::default() }
    }

    /// The locks held at the start of the path.
    pub fn initially_held(&self) -> LockSet {
        self.released.union(&self.held_throughout)
    }

    /// The locks held at the end of the path.
    pub fn finally_held(&self) -> LockSet {
        self.acquired.union(&self.held_throughout)
    }

    /// `ptrans`: the history of the next phase at its start.
    #[must_use]
    pub fn next_phase(&self) -> Self {
        Self::empty(self.finally_held())
    }

    /// `post_η`: the history of the path extended by one lock action.
    #[must_use]
    pub fn post(&self, action: LockAction) -> Self {
        let mut next = self.clone();
        match action {
            LockAction::Acquire(lock) => {
                debug_assert!(!self.finally_held().contains(lock), "locks are non-reentrant");
                for (_, later) in &mut next.acquisition_histories {
                    later.insert(lock);
                }
                let at = next.acquisition_histories.partition_point(|&(other, _)| other < lock);
                next.acquisition_histories.insert(at, (lock, LockSet::singleton(lock)));
                next.acquired.insert(lock);
            }
            LockAction::Release(lock) if self.acquired.contains(lock) => {
                next.acquisition_histories.retain(|&(other, _)| other != lock);
                next.acquired.remove(lock);
                next.used.insert(lock);
            }
            LockAction::Release(lock) => {
                debug_assert!(self.held_throughout.contains(lock), "only held locks are released");
                let mut earlier = self.used.union(&self.released);
                earlier.insert(lock);
                let at = next.release_histories.partition_point(|&(other, _)| other < lock);
                next.release_histories.insert(at, (lock, earlier));
                next.released.insert(lock);
                next.held_throughout.remove(lock);
            }
        }
        next
    }

    /// The same for a path on which no other thread moves, where orders do not matter.
    #[must_use]
    pub fn post_alone(&self, action: LockAction) -> Self {
        let (release_histories, acquisition_histories) = (Vec::new(), Vec::new());
        Self { release_histories, acquisition_histories, ..self.post(action) }
    }

    /// The history of this path followed by another one (ERRATA, 000).
    #[must_use]
    pub fn then(&self, second: &Self) -> Self {
        debug_assert_eq!(self.finally_held(), second.initially_held(), "the paths meet");
        let still_initial = second.released.intersection(&self.held_throughout);
        let still_acquired = self.acquired.intersection(&second.held_throughout);
        let mut release_histories = self.release_histories.clone();
        let before = self.used.union(&self.released);
        release_histories.extend(
            second
                .release_histories
                .iter()
                .filter(|&&(lock, _)| still_initial.contains(lock))
                .map(|(lock, earlier)| (*lock, earlier.union(&before))),
        );
        release_histories.sort_unstable_by_key(|&(lock, _)| lock);
        let mut acquisition_histories = second.acquisition_histories.clone();
        let after = second.acquired.union(&second.used);
        acquisition_histories.extend(
            self.acquisition_histories
                .iter()
                .filter(|&&(lock, _)| still_acquired.contains(lock))
                .map(|(lock, later)| (*lock, later.union(&after))),
        );
        acquisition_histories.sort_unstable_by_key(|&(lock, _)| lock);
        Self {
            released: self.released.union(&still_initial),
            release_histories,
            used: self
                .used
                .union(&second.used)
                .union(&self.acquired.intersection(&second.released)),
            acquisition_histories,
            acquired: still_acquired.union(&second.acquired),
            held_throughout: self.held_throughout.intersection(&second.held_throughout),
        }
    }

    /// Whether this history admits every schedule that `other` admits, because it constrains less:
    /// equal `R`, `A`, `HT` and smaller `U`, `RH`, `AH` (ERRATA, 000).
    pub fn dominates(&self, other: &Self) -> bool {
        let smaller = |mine: &[(LockId, LockSet)], theirs: &[(LockId, LockSet)]| {
            mine.iter().zip(theirs).all(|((_, a), (_, b))| a.is_subset(b))
        };
        self.released == other.released
            && self.acquired == other.acquired
            && self.held_throughout == other.held_throughout
            && self.used.is_subset(&other.used)
            && smaller(&self.release_histories, &other.release_histories)
            && smaller(&self.acquisition_histories, &other.acquisition_histories)
    }
}

/// `Compat(LH_1, …, LH_N)`: whether paths with these histories, one per thread, can be interleaved
/// from start to end.
pub fn compatible(histories: &[&LockHistory]) -> bool {
    for (at, one) in histories.iter().enumerate() {
        for other in &histories[at + 1..] {
            // Conditions 1, 2 and 5 of Defn. 4, pairwise.
            if !one.initially_held().is_disjoint(&other.initially_held())
                || !one.finally_held().is_disjoint(&other.finally_held())
                || !takes(one).is_disjoint(&other.held_throughout)
                || !takes(other).is_disjoint(&one.held_throughout)
            {
                return false;
            }
        }
    }
    // Conditions 3 and 4, generalised to cycles through any number of threads.
    acyclic(histories.iter().flat_map(|history| &history.acquisition_histories))
        && acyclic(histories.iter().flat_map(|history| &history.release_histories))
}

/// `A ∪ U`: the locks that the path takes.
fn takes(history: &LockHistory) -> LockSet {
    history.acquired.union(&history.used)
}

/// Whether the graph with an edge from `j` to every other lock of the set listed with `j` has no
/// cycle. A lock may be listed by several threads.
fn acyclic<'a>(edges: impl Iterator<Item = &'a (LockId, LockSet)>) -> bool {
    let mut remaining: Vec<(LockId, LockSet)> = Vec::new();
    for (lock, targets) in edges {
        let mut targets = targets.clone();
        targets.remove(*lock);
        match remaining.iter_mut().find(|(other, _)| other == lock) {
            Some((_, all)) => *all = all.union(&targets),
            None => remaining.push((*lock, targets)),
        }
    }
    // A lock that no edge leaves to a remaining lock cannot lie on a cycle.
    loop {
        let sources: LockSet = remaining.iter().map(|&(lock, _)| lock).collect();
        let before = remaining.len();
        remaining.retain(|(_, targets)| !targets.is_disjoint(&sources));
        if remaining.is_empty() {
            return true;
        }
        if remaining.len() == before {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::Id;

    fn lock(index: usize) -> LockId {
        LockId::from_index(index)
    }

    fn set(locks: &[usize]) -> LockSet {
        locks.iter().map(|&index| lock(index)).collect()
    }

    fn history(held: &[usize], word: &[LockAction]) -> LockHistory {
        word.iter().fold(LockHistory::empty(set(held)), |history, &action| history.post(action))
    }

    use LockAction::{Acquire, Release};

    /// Paper 000 Examples 2 and 3 and Fig. 4. The OCR of the word is damaged; this word has the
    /// paper's components.
    #[test]
    fn example_3_of_paper_000() {
        let word = [
            Release(lock(1)),
            Acquire(lock(2)),
            Release(lock(2)),
            Release(lock(3)),
            Acquire(lock(4)),
            Acquire(lock(5)),
            Release(lock(5)),
            Release(lock(4)),
            Acquire(lock(6)),
            Release(lock(6)),
            Release(lock(7)),
            Acquire(lock(6)),
            Release(lock(6)),
            Acquire(lock(4)),
            Acquire(lock(2)),
            Acquire(lock(7)),
            Release(lock(7)),
            Acquire(lock(8)),
        ];
        let history = history(&[1, 3, 7, 9], &word);
        assert_eq!(history.released, set(&[1, 3, 7]));
        assert_eq!(history.used, set(&[2, 4, 5, 6, 7]));
        assert_eq!(history.acquired, set(&[2, 4, 8]));
        assert_eq!(history.held_throughout, set(&[9]));
        assert_eq!(
            history.release_histories,
            [
                (lock(1), set(&[1])),
                (lock(3), set(&[1, 2, 3])),
                (lock(7), set(&[1, 2, 3, 4, 5, 6, 7]))
            ]
        );
        assert_eq!(
            history.acquisition_histories,
            [(lock(2), set(&[2, 7, 8])), (lock(4), set(&[2, 4, 7, 8])), (lock(8), set(&[8]))]
        );
        assert_eq!(history.initially_held(), set(&[1, 3, 7, 9]));
        assert_eq!(history.finally_held(), set(&[2, 4, 8, 9]));
        assert_eq!(history.next_phase(), LockHistory::empty(set(&[2, 4, 8, 9])));
    }

    /// ERRATA (000): the union of the two lock graphs is cyclic here, yet the paths interleave.
    #[test]
    fn the_two_lock_graphs_are_separate() {
        let (a, b) = (0, 1);
        let one = history(&[a], &[Acquire(lock(b)), Release(lock(b)), Release(lock(a))]);
        let two = history(&[], &[Acquire(lock(b)), Acquire(lock(a)), Release(lock(a))]);
        assert!(compatible(&[&one, &two]));
    }

    #[test]
    fn a_cycle_through_three_threads_is_incompatible() {
        let holds_then_uses = |held: usize, used: usize| {
            history(&[], &[Acquire(lock(held)), Acquire(lock(used)), Release(lock(used))])
        };
        let (one, two, three) =
            (holds_then_uses(0, 1), holds_then_uses(1, 2), holds_then_uses(2, 0));
        assert!(compatible(&[&one, &two]));
        assert!(compatible(&[&two, &three]));
        assert!(compatible(&[&one, &three]));
        assert!(!compatible(&[&one, &two, &three]));
    }
}
