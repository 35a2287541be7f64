//! # Idea
//! What a step of a thread does to lock histories, as relations over their bits. Which locks a
//! thread holds at a place of its program is known, so a step is only defined on histories that fit:
//! every lock held there is either in `HT` or in `A`, and no other lock is. Without that restriction
//! an acquisition would relate all of `A` to a column of `AH`, which takes exponentially many nodes.
//!
//! # Source
//! Paper 000 Fig. 3 (`post_η`), §7.1 (`ptrans`), §8 (the weights of 𝒲).
//! Deviation: the restriction to the locks held.
//!
//! # Requires
//! An acquired lock is not in the set of locks held before, a released lock is.
//!
//! # Invariants
//! 1. Constraints are conjoined from the last bit to the first, so that each adds nodes on top only.

use super::encoding::{Column, Encoding, Under};
use crate::lock_history::LockAction;
use selvedge_base::Id;
use selvedge_bdd::{BddManager, OutOfNodes, Position, Relation, Relations};
use selvedge_lower::LockSet;

/// `{⟨h, e⟩}` for all `h`, where `e` is the empty path of a thread that holds nothing: what comes
/// before does not matter.
///
/// # Errors
/// If the manager is out of nodes.
pub fn start<M: BddManager>(
    relations: &Relations<M>,
    encoding: &Encoding,
) -> Result<Relation<M::Node>, OutOfNodes> {
    let empty = vec![false; encoding.width()];
    Ok(relations.relation(2, relations.element(Position::from_index(1), &empty)?))
}

/// `{⟨h, post_η(h, action)⟩}` for the histories `h` of a thread that holds `held`.
///
/// # Errors
/// If the manager is out of nodes.
pub fn post<M: BddManager>(
    relations: &Relations<M>,
    encoding: &Encoding,
    action: LockAction,
    held: &LockSet,
) -> Result<Relation<M::Node>, OutOfNodes> {
    let step = Step { relations, encoding, held };
    let node = match action {
        LockAction::Acquire(lock) => {
            let taken = encoding.slot(lock);
            step.relate(|slot, column, kind| match kind {
                Kind::Acquired if slot == taken => step.constant(true),
                // Whatever is held since this phase was acquired before this lock.
                Kind::Acquisition(under) if slot == taken => {
                    step.old(encoding.columns()[under.outer].acquired)
                }
                _ => step.old(kind.bit(column)),
            })?
        }
        LockAction::Release(lock) => {
            let freed = encoding.slot(lock);
            let acquired = step.old(encoding.columns()[freed].acquired)?;
            let manager = relations.manager();
            let not_acquired = manager.not(&acquired)?;
            step.relate(|slot, column, kind| {
                let old = step.old(kind.bit(column))?;
                match kind {
                    Kind::Acquired | Kind::HeldThroughout if slot == freed => step.constant(false),
                    // The end of a use.
                    Kind::Used if slot == freed => manager.or(&old, &acquired),
                    Kind::Acquisition(under) if under.outer == freed => step.constant(false),
                    // An initial release, after everything used or released so far.
                    Kind::Released if slot == freed => manager.or(&old, &not_acquired),
                    Kind::Release(under) if under.outer == freed => {
                        let before =
                            manager.or(&step.old(column.used)?, &step.old(column.released)?)?;
                        manager.ite(&acquired, &old, &before)
                    }
                    _ => Ok(old),
                }
            })?
        }
    };
    let fitting = step.fitting()?;
    Ok(relations.relation(2, relations.manager().and(&node, &fitting)?))
}

/// `{⟨h, h, ptrans(h)⟩}` for the histories `h` of a thread that holds `held`.
///
/// # Errors
/// If the manager is out of nodes.
pub fn next_phase<M: BddManager>(
    relations: &Relations<M>,
    encoding: &Encoding,
    held: &LockSet,
) -> Result<Relation<M::Node>, OutOfNodes> {
    let step = Step { relations, encoding, held };
    let manager = relations.manager();
    let [first, second, third] = [0, 1, 2].map(Position::from_index);
    let mut next = vec![false; encoding.width()];
    for column in encoding.columns() {
        next[column.held_throughout] = held.contains(column.lock);
    }
    let same = manager.and(&relations.equal(first, second)?, &relations.element(third, &next)?)?;
    Ok(relations.relation(3, manager.and(&same, &step.fitting()?)?))
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

struct Step<'a, M: BddManager> {
    relations: &'a Relations<M>,
    encoding: &'a Encoding,
    held: &'a LockSet,
}

impl<M: BddManager> Step<'_, M> {
    /// A bit of the history before the step.
    fn old(&self, bit: usize) -> Result<M::Node, OutOfNodes> {
        self.relations.bit(Position::from_index(0), bit)
    }

    #[allow(clippy::unnecessary_wraps)]
    fn constant(&self, value: bool) -> Result<M::Node, OutOfNodes> {
        let manager = self.relations.manager();
        Ok(if value { manager.top() } else { manager.bottom() })
    }

    /// The relation in which each bit after the step is the given function of those before.
    fn relate(
        &self,
        new: impl Fn(usize, &Column, Kind) -> Result<M::Node, OutOfNodes>,
    ) -> Result<M::Node, OutOfNodes> {
        let manager = self.relations.manager();
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
            let value = new(slot, &self.encoding.columns()[slot], kind)?;
            let after = self.relations.bit(Position::from_index(1), bit)?;
            result = manager.and(&manager.iff(&after, &value)?, &result)?;
        }
        Ok(result)
    }

    /// The histories, at position 0, of a thread that holds `held`.
    fn fitting(&self) -> Result<M::Node, OutOfNodes> {
        let manager = self.relations.manager();
        let columns = self.encoding.columns();
        let mut result = manager.top();
        for column in columns.iter().rev() {
            for under in column.under.iter().rev() {
                let outer = &columns[under.outer];
                let not_in = manager.not(&self.old(under.acquisition)?)?;
                let constraint = if self.held.contains(outer.lock) {
                    manager.or(&self.old(outer.acquired)?, &not_in)?
                } else {
                    not_in
                };
                result = manager.and(&constraint, &result)?;
            }
        }
        for column in columns.iter().rev() {
            let (throughout, acquired) =
                (self.old(column.held_throughout)?, self.old(column.acquired)?);
            let constraint = if self.held.contains(column.lock) {
                manager.xor(&throughout, &acquired)?
            } else {
                manager.not(&manager.or(&throughout, &acquired)?)?
            };
            result = manager.and(&constraint, &result)?;
        }
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all_pairs, lock, random_history, relations};
    use super::*;
    use crate::lock_history::LockHistory;
    use selvedge_bdd::NativeManager;
    use selvedge_testkit::Rng;

    /// The only tuple of `relation` whose first element is `history`.
    fn image(
        relations: &Relations<NativeManager>,
        encoding: &Encoding,
        relation: &Relation<<NativeManager as BddManager>::Node>,
        history: &LockHistory,
    ) -> Option<Vec<LockHistory>> {
        let first = encoding.encode(history).expect("all pairs have bits");
        let first = relations.element(Position::from_index(0), &first).unwrap();
        let node = relations.manager().and(&relation.node, &first).unwrap();
        let images = relations.relation(relation.arity, node);
        assert!(relations.count(&images) <= 1.0, "a function");
        let tuple = relations.pick(&images)?;
        Some(tuple[1..].iter().map(|bits| encoding.decode(bits)).collect())
    }

    #[test]
    fn post_is_that_of_lock_histories() {
        let mut rng = Rng::new(5);
        let mut kinds = [0; 3];
        for case in 0..1500 {
            let locks = rng.between(1, 4);
            let encoding = all_pairs(locks);
            let relations = relations(&encoding, 3);
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
            let relation = post(&relations, &encoding, action, &held).unwrap();
            let expected = Some(vec![history.post(action)]);
            let actual = image(&relations, &encoding, &relation, &history);
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
            let relation = post(&relations, &encoding, elsewhere, &other).unwrap();
            assert_eq!(image(&relations, &encoding, &relation, &history), None, "case {case}");
        }
        assert!(kinds.iter().all(|&count| count > 100), "{kinds:?}");
    }

    #[test]
    fn composition_is_one_action_after_another() {
        let mut rng = Rng::new(6);
        for case in 0..300 {
            let locks = rng.between(1, 4);
            let encoding = all_pairs(locks);
            let relations = relations(&encoding, 3);
            let first = random_history(&mut rng, locks, &(0..locks).collect::<Vec<_>>());
            let mut history = first.clone();
            let mut path = relations.identity().unwrap();
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
                let held = history.finally_held();
                let step = post(&relations, &encoding, action, &held).unwrap();
                path = relations.compose(&path, &step).unwrap();
                history = history.post(action);
            }
            let expected = Some(vec![history]);
            assert_eq!(image(&relations, &encoding, &path, &first), expected, "case {case}");
        }
    }

    #[test]
    fn ptrans_keeps_the_finished_phase() {
        let mut rng = Rng::new(7);
        for case in 0..300 {
            let locks = rng.between(1, 4);
            let encoding = all_pairs(locks);
            let relations = relations(&encoding, 3);
            let history = random_history(&mut rng, locks, &(0..locks).collect::<Vec<_>>());
            let relation = next_phase(&relations, &encoding, &history.finally_held()).unwrap();
            let expected = Some(vec![history.clone(), history.next_phase()]);
            assert_eq!(image(&relations, &encoding, &relation, &history), expected, "case {case}");
        }
    }
}
