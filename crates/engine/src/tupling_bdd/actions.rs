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
use crate::lock_history::LockAction;
use selvedge_base::Id;
use selvedge_bdd::{BddManager, OutOfNodes, Position, Relation, Relations};
use selvedge_lower::LockSet;

/// `{⟨g, h⟩ | g ≤ h}`: the closure of the empty path.
///
/// # Errors
/// If the manager is out of nodes.
pub fn order<M: BddManager>(
    relations: &Relations<M>,
    encoding: &Encoding,
) -> Result<Relation<M::Node>, OutOfNodes> {
    let step = Step { relations, encoding };
    let node = step.relate(|_, column, kind| Ok(Some(step.old(kind.bit(column))?)))?;
    Ok(relations.relation(2, node))
}

/// `{⟨h, e⟩}` for all `h`, where `e` is the empty path of a thread that holds nothing, and its
/// closure: what comes before does not matter.
///
/// # Errors
/// If the manager is out of nodes.
pub fn start<M: BddManager>(
    relations: &Relations<M>,
    encoding: &Encoding,
) -> Result<Relation<M::Node>, OutOfNodes> {
    let step = Step { relations, encoding };
    let node = step.holding(Position::from_index(1), &LockSet::new())?;
    Ok(relations.relation(2, node))
}

/// `{⟨h, post_η(h, action)⟩}` for the histories `h` of a thread that holds `held`, and its closure.
///
/// # Errors
/// If the manager is out of nodes.
pub fn post<M: BddManager>(
    relations: &Relations<M>,
    encoding: &Encoding,
    action: LockAction,
    held: &LockSet,
) -> Result<Relation<M::Node>, OutOfNodes> {
    let step = Step { relations, encoding };
    let manager = relations.manager();
    let columns = encoding.columns();
    let is_held = |slot: usize| held.contains(columns[slot].lock);
    let node = match action {
        LockAction::Acquire(lock) => {
            let taken = encoding.slot(lock);
            step.relate(|slot, column, kind| {
                Ok(match kind {
                    Kind::Acquired if slot == taken => Some(manager.top()),
                    // Nothing was acquired after a lock that is not held.
                    Kind::Acquisition(under) if !is_held(under.outer) => None,
                    // Whatever is held since this phase was acquired before this lock.
                    Kind::Acquisition(under) if slot == taken => {
                        Some(step.old(columns[under.outer].acquired)?)
                    }
                    _ => Some(step.old(kind.bit(column))?),
                })
            })?
        }
        LockAction::Release(lock) => {
            let freed = encoding.slot(lock);
            // The end of a use, or an initial release.
            let acquired = step.old(columns[freed].acquired)?;
            let throughout = step.old(columns[freed].held_throughout)?;
            step.relate(|slot, column, kind| {
                let old = step.old(kind.bit(column))?;
                Ok(match kind {
                    Kind::Acquired | Kind::HeldThroughout if slot == freed => {
                        Some(manager.bottom())
                    }
                    Kind::Used if slot == freed => Some(manager.or(&old, &acquired)?),
                    Kind::Released if slot == freed => Some(manager.or(&old, &throughout)?),
                    Kind::Acquisition(under) if under.outer == freed || !is_held(under.outer) => {
                        None
                    }
                    // An initial release comes after everything used or released so far.
                    Kind::Release(under) if under.outer == freed => {
                        let before =
                            manager.or(&step.old(column.used)?, &step.old(column.released)?)?;
                        Some(manager.or(&old, &manager.and(&throughout, &before)?)?)
                    }
                    _ => Some(old),
                })
            })?
        }
    };
    let fitting = step.fitting(held)?;
    Ok(relations.relation(2, manager.and(&node, &fitting)?))
}

/// `{⟨h, h, ptrans(h)⟩}` for the histories `h` of a thread that holds `held`, and its closure.
///
/// # Errors
/// If the manager is out of nodes.
pub fn next_phase<M: BddManager>(
    relations: &Relations<M>,
    encoding: &Encoding,
    held: &LockSet,
) -> Result<Relation<M::Node>, OutOfNodes> {
    let step = Step { relations, encoding };
    let manager = relations.manager();
    let finished = step.relate(|_, column, kind| match kind {
        Kind::Acquisition(under) if !held.contains(encoding.columns()[under.outer].lock) => {
            Ok(None)
        }
        _ => Ok(Some(step.old(kind.bit(column))?)),
    })?;
    let next = step.holding(Position::from_index(2), held)?;
    let node = manager.and(&manager.and(&finished, &step.fitting(held)?)?, &next)?;
    Ok(relations.relation(3, node))
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
}

impl<M: BddManager> Step<'_, M> {
    /// A bit of the history before the step.
    fn old(&self, bit: usize) -> Result<M::Node, OutOfNodes> {
        self.relations.bit(Position::from_index(0), bit)
    }

    /// The closed relation in which each bit after the step is the given function of those before;
    /// none means `false`.
    fn relate(
        &self,
        new: impl Fn(usize, &Column, Kind) -> Result<Option<M::Node>, OutOfNodes>,
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
            let Some(value) = new(slot, &self.encoding.columns()[slot], kind)? else { continue };
            let after = self.relations.bit(Position::from_index(1), bit)?;
            let constraint = if self.encoding.is_exact(bit) {
                manager.iff(&after, &value)?
            } else {
                manager.or(&after, &manager.not(&value)?)?
            };
            result = manager.and(&constraint, &result)?;
        }
        Ok(result)
    }

    /// The histories, at position 0, of a thread that holds `held`.
    fn fitting(&self, held: &LockSet) -> Result<M::Node, OutOfNodes> {
        let manager = self.relations.manager();
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

    /// The closure of the empty path of a thread that holds `held`, at this position.
    fn holding(&self, position: Position, held: &LockSet) -> Result<M::Node, OutOfNodes> {
        let mut literals = Vec::with_capacity(2 * self.encoding.columns().len());
        for column in self.encoding.columns() {
            let throughout = self.relations.var(position, column.held_throughout);
            literals.push((throughout, held.contains(column.lock)));
            literals.push((self.relations.var(position, column.acquired), false));
        }
        self.relations.manager().conjunction(&literals)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all_pairs, lock, random_history, relations};
    use super::*;
    use crate::lock_history::LockHistory;
    use selvedge_bdd::NativeManager;
    use selvedge_testkit::Rng;

    /// The least histories to which `relation` takes `history`; all others are greater.
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
        let least = relations.pick(&images)?;
        // The closure of one tuple: every bit that may be set may also be left out of the least one.
        let closed = least[1..].iter().flatten().zip((0..encoding.width()).cycle());
        let free = closed.filter(|&(&set, bit)| !set && !encoding.is_exact(bit)).count();
        assert!((relations.count(&images) - 2f64.powi(free as i32)).abs() < 0.5, "one closure");
        for position in 1..relation.arity {
            for bit in (0..encoding.width()).filter(|&bit| !encoding.is_exact(bit)) {
                let mut greater = least.clone();
                greater[position][bit] = true;
                assert!(relations.contains(&images, &greater), "closed");
            }
        }
        Some(least[1..].iter().map(|bits| encoding.decode(bits)).collect())
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
            let mut path = order(&relations, &encoding).unwrap();
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
