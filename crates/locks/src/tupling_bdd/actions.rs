//! # Idea
//! What a step of a thread does to lock histories, as relations over their bits.
//!
//! A history that constrains less is as good as any that constrains more, so all relations are
//! *closed*: with `⟨h, h_1, …, h_m⟩` they contain every `⟨g, g_1, …, g_m⟩` with `g ≤ h` and `h_k ≤ g_k`,
//! where `≤` is equality of `HT` and `A` and inclusion of `U`, `R`, `RH` and `AH`. Closed relations
//! compose to closed relations, `≤` itself is the neutral element, and a bit that need not be set is
//! not mentioned: diagrams are as large as what the paths do, not as large as the encoding.
//!
//! Which locks a thread holds at a place of its program is known, so a step is only defined on
//! histories that fit: every lock held there is either in `HT` or in `A`, and no other lock is.
//! Without that an acquisition would relate all of `A` to a column of `AH`, which takes exponentially
//! many nodes.
//!
//! # Source
//! Paper 000 Fig. 3 (`post_η`), §7.1 (`ptrans`), §8 (the weights of 𝒲).
//! Deviations: the restriction to the locks held, and the closure, which is dominance (ERRATA, 000).
//! Dominance asks for equal `R`, but within tuples of equal `HT` and `A` that follows: what is held at
//! the start of a phase is what was held at the end of the one before.
//!
//! # Requires
//! An acquired lock is not in the set of locks held before, a released lock is.
//!
//! # Invariants
//! 1. Every step is monotone, hence the images of what the closure adds are in the closure of the
//!    images of real histories.
//! 2. Constraints are conjoined from the last bit to the first, so that each adds nodes on top only.

use super::encoding::{Column, Encoding, Under};
use super::vocabulary::{AFTER, BEFORE, Copy, Vocabulary};
use crate::lock_history::LockAction;
use selvedge_bdd::{BddManager, Exhausted};
use selvedge_lower::LockSet;

/// What happens in one phase.
pub struct Actions<'a, M: BddManager> {
    /// The variables.
    pub vocabulary: &'a Vocabulary<M>,
    /// What their bits mean.
    pub encoding: &'a Encoding,
    /// The phase.
    pub phase: usize,
}

impl<M: BddManager> Actions<'_, M> {
    /// `{⟨g, h⟩ | g ≤ h}`: the closure of the empty path.
    ///
    /// # Errors
    /// If the manager is out of nodes.
    pub fn order(&self) -> Result<M::Node, Exhausted> {
        self.relate(|_, column, kind| Ok(Some(self.old(kind.bit(column))?)))
    }

    /// `{⟨h, e⟩}` for all `h`, where `e` is the empty path of a thread that holds nothing, and its
    /// closure: what comes before does not matter.
    ///
    /// # Errors
    /// If the manager is out of nodes.
    pub fn start(&self) -> Result<M::Node, Exhausted> {
        self.holding(self.phase, AFTER, &LockSet::new())
    }

    /// `{⟨h, post_η(h, action)⟩}` for the histories `h` of a thread that holds `held`, and its closure.
    ///
    /// # Errors
    /// If the manager is out of nodes.
    pub fn post(&self, action: LockAction, held: &LockSet) -> Result<M::Node, Exhausted> {
        let manager = self.vocabulary.manager();
        let columns = self.encoding.columns();
        let is_held = |slot: usize| held.contains(columns[slot].lock);
        let node = match action {
            LockAction::Acquire(lock) => {
                let taken = self.encoding.slot(lock);
                self.relate(|slot, column, kind| {
                    Ok(match kind {
                        Kind::Acquired if slot == taken => Some(manager.top()),
                        // Nothing was acquired after a lock that is not held.
                        Kind::Acquisition(under) if !is_held(under.outer) => None,
                        // Whatever is held since this phase was acquired before this lock.
                        Kind::Acquisition(under) if slot == taken => {
                            Some(self.old(columns[under.outer].acquired)?)
                        }
                        _ => Some(self.old(kind.bit(column))?),
                    })
                })?
            }
            LockAction::Release(lock) => {
                let freed = self.encoding.slot(lock);
                // The end of a use, or an initial release.
                let acquired = self.old(columns[freed].acquired)?;
                let throughout = self.old(columns[freed].held_throughout)?;
                self.relate(|slot, column, kind| {
                    let old = self.old(kind.bit(column))?;
                    Ok(match kind {
                        Kind::Acquired | Kind::HeldThroughout if slot == freed => {
                            Some(manager.bottom())
                        }
                        Kind::Used if slot == freed => Some(manager.or(&old, &acquired)?),
                        Kind::Released if slot == freed => Some(manager.or(&old, &throughout)?),
                        Kind::Acquisition(under)
                            if under.outer == freed || !is_held(under.outer) =>
                        {
                            None
                        }
                        // An initial release comes after everything used or released so far.
                        Kind::Release(under) if under.outer == freed => {
                            let before =
                                manager.or(&self.old(column.used)?, &self.old(column.released)?)?;
                            Some(manager.or(&old, &manager.and(&throughout, &before)?)?)
                        }
                        _ => Some(old),
                    })
                })?
            }
        };
        manager.and(&node, &self.fitting(held)?)
    }

    /// `{⟨h, h, ptrans(h)⟩}` for the histories `h` of a thread that holds `held`, and its closure, from
    /// this phase to the next.
    ///
    /// # Errors
    /// If the manager is out of nodes.
    pub fn next_phase(&self, held: &LockSet) -> Result<M::Node, Exhausted> {
        let manager = self.vocabulary.manager();
        let columns = self.encoding.columns();
        let finished = self.relate(|_, column, kind| match kind {
            Kind::Acquisition(under) if !held.contains(columns[under.outer].lock) => Ok(None),
            _ => Ok(Some(self.old(kind.bit(column))?)),
        })?;
        let next = self.holding(self.phase + 1, AFTER, held)?;
        manager.and(&manager.and(&finished, &self.fitting(held)?)?, &next)
    }

    /// A bit of the history before the step.
    fn old(&self, bit: usize) -> Result<M::Node, Exhausted> {
        self.vocabulary.bit(self.phase, BEFORE, bit)
    }

    /// The closed relation in which each bit after the step is the given function of those before;
    /// none means `false`.
    fn relate(
        &self,
        new: impl Fn(usize, &Column, Kind) -> Result<Option<M::Node>, Exhausted>,
    ) -> Result<M::Node, Exhausted> {
        let manager = self.vocabulary.manager();
        let mut bits: Vec<(usize, usize, Kind)> = Vec::with_capacity(self.encoding.width());
        for (slot, column) in self.encoding.columns().iter().enumerate() {
            let kinds = [Kind::HeldThroughout, Kind::Acquired, Kind::Used, Kind::Released];
            let pairs = column
                .under
                .iter()
                .flat_map(|&under| [Kind::Acquisition(under), Kind::Release(under)]);
            bits.extend(kinds.into_iter().chain(pairs).map(|kind| (kind.bit(column), slot, kind)));
        }
        bits.sort_unstable_by_key(|&(bit, ..)| std::cmp::Reverse(bit));
        let mut result = manager.top();
        for (bit, slot, kind) in bits {
            let Some(value) = new(slot, &self.encoding.columns()[slot], kind)? else { continue };
            let after = self.vocabulary.bit(self.phase, AFTER, bit)?;
            let constraint = if self.encoding.is_exact(bit) {
                manager.iff(&after, &value)?
            } else {
                manager.or(&after, &manager.not(&value)?)?
            };
            result = manager.and(&constraint, &result)?;
        }
        Ok(result)
    }

    /// The histories, before the step, of a thread that holds `held`.
    fn fitting(&self, held: &LockSet) -> Result<M::Node, Exhausted> {
        let manager = self.vocabulary.manager();
        let mut result = manager.top();
        for column in self.encoding.columns().iter().rev() {
            let (throughout, acquired) =
                (self.old(column.held_throughout)?, self.old(column.acquired)?);
            let constraint = if held.contains(column.lock) {
                manager.xor(&throughout, &acquired)?
            } else {
                manager.not(&manager.or(&throughout, &acquired)?)?
            };
            result = manager.and(&constraint, &result)?;
        }
        Ok(result)
    }

    /// The closure of the empty path of a thread that holds `held`.
    fn holding(&self, phase: usize, copy: Copy, held: &LockSet) -> Result<M::Node, Exhausted> {
        let mut literals = Vec::with_capacity(2 * self.encoding.columns().len());
        for column in self.encoding.columns() {
            let throughout = self.vocabulary.var(phase, copy, column.held_throughout);
            literals.push((throughout, held.contains(column.lock)));
            literals.push((self.vocabulary.var(phase, copy, column.acquired), false));
        }
        self.vocabulary.manager().conjunction(&literals)
    }
}

/// What a bit means.
#[derive(Clone, Copy)]
enum Kind {
    HeldThroughout,
    Acquired,
    Used,
    Released,
    Acquisition(Under),
    Release(Under),
}

impl Kind {
    fn bit(self, column: &Column) -> usize {
        match self {
            Self::HeldThroughout => column.held_throughout,
            Self::Acquired => column.acquired,
            Self::Used => column.used,
            Self::Released => column.released,
            Self::Acquisition(under) => under.acquisition,
            Self::Release(under) => under.release,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all_pairs, lock, random_history, vocabulary};
    use super::*;
    use crate::lock_history::LockHistory;
    use selvedge_bdd::{NativeManager, Var};
    use selvedge_testkit::Rng;

    type Node = <NativeManager as BddManager>::Node;

    /// The least histories to which `relation` takes `history`; all others are greater.
    fn image(
        actions: &Actions<'_, NativeManager>,
        relation: &Node,
        phases: usize,
        history: &LockHistory,
    ) -> Option<Vec<LockHistory>> {
        let Actions { vocabulary, encoding, phase } = *actions;
        let manager = vocabulary.manager();
        let before: Vec<(Var, bool)> = vocabulary
            .vars(phase, BEFORE)
            .into_iter()
            .zip(encoding.encode(history).expect("all pairs have bits"))
            .collect();
        let cube = manager.cube(&vocabulary.vars(phase, BEFORE)).unwrap();
        let before = manager.conjunction(&before).unwrap();
        let images = manager.and_exists(relation, &before, &cube).unwrap();
        let vars: Vec<Var> =
            (phase..phase + phases).flat_map(|phase| vocabulary.vars(phase, AFTER)).collect();
        let least = manager.pick(&images, &vars)?;
        // The closure of the least one: what it sets is set, and what is exact is equal.
        let constrained: Vec<(Var, bool)> = vars
            .iter()
            .zip(&least)
            .filter(|&(&var, &value)| value || encoding.is_exact(vocabulary.meaning(var).2))
            .map(|(&var, &value)| (var, value))
            .collect();
        assert_eq!(images, manager.conjunction(&constrained).unwrap(), "one closure");
        Some(least.chunks(encoding.width()).map(|bits| encoding.decode(bits)).collect())
    }

    #[test]
    fn post_is_that_of_lock_histories() {
        let mut rng = Rng::new(5);
        let mut kinds = [0; 3];
        for case in 0..1500 {
            let locks = rng.between(1, 4);
            let encoding = all_pairs(locks);
            let vocabulary = vocabulary(&encoding, 2, 2);
            let actions = Actions { vocabulary: &vocabulary, encoding: &encoding, phase: case % 2 };
            let history = random_history(&mut rng, locks, &(0..locks).collect::<Vec<_>>());
            let held = history.finally_held();
            let lock = lock(rng.below(locks));
            let (action, kind) = if !held.contains(lock) {
                (LockAction::Acquire(lock), 0)
            } else if history.acquired.contains(lock) {
                (LockAction::Release(lock), 1)
            } else {
                (LockAction::Release(lock), 2)
            };
            kinds[kind] += 1;
            let relation = actions.post(action, &held).unwrap();
            let expected = Some(vec![history.post(action)]);
            let actual = image(&actions, &relation, 1, &history);
            assert_eq!(actual, expected, "case {case}: {action:?} after {history:?}");
            // A thread that holds something else has no such history.
            let other = if held.contains(lock) {
                held.difference(&LockSet::singleton(lock))
            } else {
                held.union(&LockSet::singleton(lock))
            };
            let elsewhere = match action {
                LockAction::Acquire(lock) => LockAction::Release(lock),
                LockAction::Release(lock) => LockAction::Acquire(lock),
            };
            let relation = actions.post(elsewhere, &other).unwrap();
            assert_eq!(image(&actions, &relation, 1, &history), None, "case {case}");
        }
        assert!(kinds.iter().all(|&count| count > 100), "{kinds:?}");
    }

    #[test]
    fn composition_is_one_action_after_another() {
        let mut rng = Rng::new(6);
        for case in 0..300 {
            let locks = rng.between(1, 4);
            let encoding = all_pairs(locks);
            let vocabulary = vocabulary(&encoding, 2, 2);
            let actions = Actions { vocabulary: &vocabulary, encoding: &encoding, phase: 1 };
            let first = random_history(&mut rng, locks, &(0..locks).collect::<Vec<_>>());
            let mut history = first.clone();
            let mut path = actions.order().unwrap();
            let mut stack: Vec<_> = history.finally_held().iter().collect();
            for _ in 0..rng.between(1, 5) {
                let free: Vec<_> =
                    (0..locks).map(lock).filter(|lock| !stack.contains(lock)).collect();
                let action = if stack.is_empty() || !free.is_empty() && rng.percent(50) {
                    let lock = *rng.pick(&free);
                    stack.push(lock);
                    LockAction::Acquire(lock)
                } else {
                    LockAction::Release(stack.pop().expect("not empty"))
                };
                let step = actions.post(action, &history.finally_held()).unwrap();
                path = vocabulary.compose(&path, &step, 1).unwrap();
                history = history.post(action);
            }
            let expected = Some(vec![history]);
            assert_eq!(image(&actions, &path, 1, &first), expected, "case {case}");
        }
    }

    #[test]
    fn ptrans_keeps_the_finished_phase() {
        let mut rng = Rng::new(7);
        for case in 0..300 {
            let locks = rng.between(1, 4);
            let encoding = all_pairs(locks);
            let vocabulary = vocabulary(&encoding, 2, 2);
            let actions = Actions { vocabulary: &vocabulary, encoding: &encoding, phase: 0 };
            let history = random_history(&mut rng, locks, &(0..locks).collect::<Vec<_>>());
            let relation = actions.next_phase(&history.finally_held()).unwrap();
            let expected = Some(vec![history.clone(), history.next_phase()]);
            assert_eq!(image(&actions, &relation, 2, &history), expected, "case {case}");
        }
    }
}
