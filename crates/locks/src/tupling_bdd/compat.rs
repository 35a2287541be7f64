//! # Idea
//! Each participant brings a set of tuples, one history per phase. All sets are put side by side
//! into one diagram, over as many vocabularies as there are participants and phases, and the
//! conditions of compatibility are conjoined to it one by one. What is left are the choices that can
//! be interleaved.
//!
//! A lock graph is acyclic exactly if it has no cycle that passes through each thread at most once.
//! The locks that one thread finally acquires are ordered by their acquisitions, and an earlier one
//! has edges to everything that a later one has edges to (`AH[j] ⊇ AH[j′]` if `j` was acquired before
//! `j′`). By condition 2 a lock has edges from one thread only. So if a cycle passes through two locks
//! of one thread, it can go on from the earlier one where it went on from the later one, and becomes
//! shorter. Likewise for releases, where the later one has all edges of the earlier one, by
//! condition 1. For two threads there remain cycles of two locks, as in Defn. 4.
//!
//! # Source
//! Paper 000 Defn. 4, Alg. 2 lines 4 and 5, §9 (cycles of 2 to N locks); ERRATA (000): two graphs,
//! never their union. Deviation: conditions are conjoined to the sets one by one instead of to each
//! other, because a diagram of the compatibility relation by itself is exponential in the number of
//! pairs of locks, while the sets fix most of the bits.
//!
//! # Invariants
//! 1. The histories of the `t`-th participant in the order of their sizes are at copy `t`.

use super::encoding::{Column, Encoding, Under};
use super::vocabulary::AFTER;
use super::weights::PhaseDomain;
use rustc_hash::FxHashSet;
use selvedge_bdd::{BddManager, Exhausted, Shape, Var};

/// The tuples of a participant, one history per phase.
#[derive(Clone, Debug)]
pub struct TupleSet<N> {
    /// Over the copies [`AFTER`] of all phases.
    node: N,
    /// For each phase and bit, whether some tuple needs it to be set.
    possible: Vec<Vec<bool>>,
}

/// One history per phase, as bits.
pub type HistoryBits = Vec<Vec<bool>>;

impl<N> TupleSet<N> {
    /// Prepares a set of tuples.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn new<M: BddManager<Node = N>>(
        domain: &PhaseDomain<M>,
        encoding: &Encoding,
        node: N,
    ) -> Result<Self, Exhausted> {
        let possible = possible_bits(domain, encoding, &node)?;
        Ok(Self { node, possible })
    }
}

/// One tuple of each participant such that the histories of every phase are compatible, or `None` if
/// there are none. Where the sets are closed, a tuple that is found may be in the closure only; then
/// a real one that constrains less is compatible too.
///
/// # Errors
/// If the manager is out of nodes or the budget was raised.
pub fn compatible_tuples<M: BddManager>(
    domain: &mut PhaseDomain<M>,
    encoding: &Encoding,
    participants: &[&TupleSet<M::Node>],
) -> Result<Option<Vec<HistoryBits>>, Exhausted> {
    let phases = domain.vocabulary().phases();
    let manager = domain.vocabulary().manager();
    // The smallest set first.
    let mut places: Vec<usize> = (0..participants.len()).collect();
    places.sort_by_key(|&place| manager.node_count(&participants[place].node));
    let participants: Vec<_> = places.iter().map(|&place| participants[place]).collect();
    let choices = manager.top();
    let mut join = Join { domain, encoding, participants: &participants, choices };
    for (newest, set) in participants.iter().enumerate() {
        let placed = join.domain.vocabulary().place(&set.node, newest);
        join.require(&placed?)?;
        // What the newest one rules out together with the others is dropped before the next one
        // comes in and multiplies what is left.
        for phase in 0..phases {
            join.disjoint(phase, newest)?;
            for kind in [Under::acquisition_bit, Under::release_bit] {
                join.acyclic(phase, newest, kind)?;
            }
        }
    }
    let choices = join.choices;
    let vocabulary = domain.vocabulary();
    let Some(picked) = vocabulary.manager().pick_cube(&choices) else { return Ok(None) };
    // What the diagram leaves open is left out.
    let mut tuples = vec![vec![vec![false; vocabulary.width()]; phases]; participants.len()];
    for (var, value) in picked {
        let (phase, participant, bit) = vocabulary.meaning(var);
        tuples[places[participant]][phase][bit] = value;
    }
    Ok(Some(tuples))
}

struct Join<'a, M: BddManager> {
    domain: &'a mut PhaseDomain<M>,
    encoding: &'a Encoding,
    participants: &'a [&'a TupleSet<M::Node>],
    /// The choices that are left.
    choices: M::Node,
}

/// A lock, one that was taken after it (or released before it), and the bit that says so.
type Edge = (usize, usize, usize);

impl<M: BddManager> Join<'_, M> {
    fn require(&mut self, condition: &M::Node) -> Result<(), Exhausted> {
        self.domain.count()?;
        let manager = self.domain.vocabulary().manager();
        self.choices = manager.and(&self.choices, condition)?;
        Ok(())
    }

    /// A bit, as far as some tuple needs it.
    fn bit(&self, phase: usize, participant: usize, bit: usize) -> Result<M::Node, Exhausted> {
        if self.participants[participant].possible[phase][bit] {
            self.domain.vocabulary().bit(phase, participant, bit)
        } else {
            Ok(self.domain.vocabulary().manager().bottom())
        }
    }

    /// Conditions 1, 2 and 5 of Defn. 4, between the newest participant and each one before.
    fn disjoint(&mut self, phase: usize, newest: usize) -> Result<(), Exhausted> {
        let encoding = self.encoding;
        for column in encoding.columns() {
            for other in 0..newest {
                let condition = self.disjoint_lock(phase, column, newest, other)?;
                if condition != self.domain.vocabulary().manager().top() {
                    self.require(&condition)?;
                }
            }
        }
        Ok(())
    }

    fn disjoint_lock(
        &self,
        phase: usize,
        column: &Column,
        one: usize,
        other: usize,
    ) -> Result<M::Node, Exhausted> {
        let manager = self.domain.vocabulary().manager();
        let either = |participant: usize, a: usize, b: usize| {
            manager.or(&self.bit(phase, participant, a)?, &self.bit(phase, participant, b)?)
        };
        let both = |a: &M::Node, b: &M::Node| manager.and(a, b);
        let initially = |t: usize| either(t, column.released, column.held_throughout);
        let finally = |t: usize| either(t, column.acquired, column.held_throughout);
        let takes = |t: usize| either(t, column.acquired, column.used);
        let throughout = |t: usize| self.bit(phase, t, column.held_throughout);
        let conflicts = [
            both(&initially(one)?, &initially(other)?)?,
            both(&finally(one)?, &finally(other)?)?,
            both(&takes(one)?, &throughout(other)?)?,
            both(&throughout(one)?, &takes(other)?)?,
        ];
        let mut conflict = manager.bottom();
        for one in &conflicts {
            conflict = manager.or(&conflict, one)?;
        }
        manager.not(&conflict)
    }

    /// Conditions 3 and 4 of Defn. 4 for any number of threads: no cycle through the newest
    /// participant and different ones before.
    fn acyclic(
        &mut self,
        phase: usize,
        newest: usize,
        kind: fn(Under) -> usize,
    ) -> Result<(), Exhausted> {
        let edges: Vec<Vec<Edge>> = (0..=newest)
            .map(|participant| {
                let possible = &self.participants[participant].possible[phase];
                let columns = self.encoding.columns().iter().enumerate();
                columns
                    .flat_map(|(inner, column)| {
                        column.under.iter().map(move |&under| (under.outer, inner, kind(under)))
                    })
                    .filter(|&(.., bit)| possible[bit])
                    .collect()
            })
            .collect();
        for &edge in &edges[newest] {
            self.break_cycles(phase, &edges, &mut vec![(newest, edge)])?;
        }
        Ok(())
    }

    /// Rules out all cycles that begin with this path. The first thread of a cycle is its newest, so
    /// that each is met once.
    fn break_cycles(
        &mut self,
        phase: usize,
        edges: &[Vec<Edge>],
        path: &mut Vec<(usize, Edge)>,
    ) -> Result<(), Exhausted> {
        self.domain.poll()?;
        let (newest, (start, ..)) = path[0];
        let (_, (_, end, _)) = path[path.len() - 1];
        if start == end {
            let vocabulary = self.domain.vocabulary();
            let bits: Vec<(Var, bool)> = path
                .iter()
                .map(|&(participant, (.., bit))| (vocabulary.var(phase, participant, bit), true))
                .collect();
            let manager = self.domain.vocabulary().manager();
            let broken = manager.conjunction(&bits).and_then(|cycle| manager.not(&cycle));
            return self.require(&broken?);
        }
        for next in 0..newest {
            if path.iter().any(|&(participant, _)| participant == next) {
                continue;
            }
            for &edge in edges[next].iter().filter(|edge| edge.0 == end) {
                path.push((next, edge));
                self.break_cycles(phase, edges, path)?;
                path.pop();
            }
        }
        Ok(())
    }
}

/// Which bits of each phase are set in some tuple that needs them. A bit that is not exact and that
/// no diagram tests can be left out.
fn possible_bits<M: BddManager>(
    domain: &PhaseDomain<M>,
    encoding: &Encoding,
    set: &M::Node,
) -> Result<Vec<Vec<bool>>, Exhausted> {
    let vocabulary = domain.vocabulary();
    let manager = vocabulary.manager();
    let mut possible = vec![vec![false; vocabulary.width()]; vocabulary.phases()];
    let end = vocabulary.width() * vocabulary.phases();
    let place = |var: Var| {
        let (phase, copy, bit) = vocabulary.meaning(var);
        debug_assert_eq!(copy, AFTER, "a set of tuples depends on nothing else");
        phase * vocabulary.width() + bit
    };
    let mut seen: FxHashSet<M::Node> = FxHashSet::default();
    // A function, with the first place that is not tested above it.
    let mut stack = vec![(set.clone(), 0)];
    while let Some((node, free)) = stack.pop() {
        domain.poll()?;
        let (at, children) = match manager.shape(&node) {
            Shape::Constant(false) => continue,
            Shape::Constant(true) => (end, None),
            Shape::Decision { var, low, high } => (place(var), Some((low, high))),
        };
        for untested in free..at {
            let (phase, bit) = (untested / vocabulary.width(), untested % vocabulary.width());
            possible[phase][bit] |= encoding.is_exact(bit);
        }
        if let Some((low, high)) = children
            && seen.insert(node)
        {
            let (phase, bit) = (at / vocabulary.width(), at % vocabulary.width());
            possible[phase][bit] |= !manager.is_bottom(&high);
            stack.push((low, at + 1));
            stack.push((high, at + 1));
        }
    }
    Ok(possible)
}

#[cfg(test)]
mod tests {
    use super::super::actions::Actions;
    use super::super::testing::{all_pairs, history_of, lock, vocabulary};
    use super::*;
    use crate::lock_history::{LockAction, LockHistory, compatible};
    use selvedge_base::Budget;
    use selvedge_bdd::NativeManager;
    use selvedge_testkit::Rng;
    use selvedge_testkit::lock_words::random_words;

    type Domain = PhaseDomain<NativeManager>;

    fn domain(encoding: &Encoding, phases: usize, participants: usize) -> Domain {
        let vocabulary = vocabulary(encoding, phases, participants);
        let order = |phase| Actions { vocabulary: &vocabulary, encoding, phase }.order().unwrap();
        let one = (0..phases).map(order).collect();
        PhaseDomain::new(vocabulary, one, Budget::new())
    }

    fn set(
        domain: &Domain,
        encoding: &Encoding,
        tuples: &[Vec<LockHistory>],
    ) -> TupleSet<<NativeManager as BddManager>::Node> {
        let vocabulary = domain.vocabulary();
        let manager = vocabulary.manager();
        let mut all = manager.bottom();
        for tuple in tuples {
            // The closure of a tuple: what it sets is set, and what is exact is equal.
            let mut literals = Vec::new();
            for (phase, history) in tuple.iter().enumerate() {
                let bits = encoding.encode(history).unwrap().into_iter().enumerate();
                let constrained = bits.filter(|&(bit, value)| value || encoding.is_exact(bit));
                let var = |bit| vocabulary.var(phase, AFTER, bit);
                literals.extend(constrained.map(|(bit, value)| (var(bit), value)));
            }
            all = manager.or(&all, &manager.conjunction(&literals).unwrap()).unwrap();
        }
        TupleSet::new(domain, encoding, all).unwrap()
    }

    #[test]
    fn compatible_histories_are_those_of_the_definition() {
        let mut rng = Rng::new(21);
        let mut counts = [[0; 2]; 5];
        for case in 0..3000 {
            let (threads, locks) = (rng.between(2, 4), rng.between(1, 4));
            let encoding = all_pairs(locks);
            let mut domain = domain(&encoding, 1, threads);
            let words = random_words(&mut rng, threads, locks, 7);
            let histories: Vec<LockHistory> = words.iter().map(history_of).collect();
            let sets: Vec<_> =
                histories.iter().map(|h| set(&domain, &encoding, &[vec![h.clone()]])).collect();
            let found = compatible_tuples(&mut domain, &encoding, &sets.iter().collect::<Vec<_>>());
            let expected = compatible(&histories.iter().collect::<Vec<_>>());
            assert_eq!(found.unwrap().is_some(), expected, "case {case}: {histories:?}");
            counts[threads][usize::from(expected)] += 1;
        }
        assert!(counts[2..].iter().flatten().all(|&count| count > 50), "{counts:?}");
    }

    #[test]
    fn a_choice_is_found_among_many_tuples_of_two_phases() {
        let mut rng = Rng::new(22);
        let mut counts = [0; 2];
        for case in 0..300 {
            let (threads, locks) = (rng.between(2, 3), rng.between(2, 4));
            let encoding = all_pairs(locks);
            let mut domain = domain(&encoding, 2, threads);
            let mut choices: Vec<Vec<Vec<LockHistory>>> = vec![Vec::new(); threads];
            for _ in 0..4 {
                let phases = [(); 2].map(|()| random_words(&mut rng, threads, locks, 7));
                for (thread, tuples) in choices.iter_mut().enumerate() {
                    tuples.push(phases.iter().map(|words| history_of(&words[thread])).collect());
                }
            }
            let sets: Vec<_> =
                choices.iter().map(|tuples| set(&domain, &encoding, tuples)).collect();
            let fits = |tuples: &[&Vec<LockHistory>]| {
                (0..2).all(|phase| {
                    compatible(&tuples.iter().map(|tuple| &tuple[phase]).collect::<Vec<_>>())
                })
            };
            let expected = (0..4usize.pow(threads as u32)).any(|code| {
                let pick = |thread: usize| &choices[thread][code / 4usize.pow(thread as u32) % 4];
                fits(&(0..threads).map(pick).collect::<Vec<_>>())
            });
            let found = compatible_tuples(&mut domain, &encoding, &sets.iter().collect::<Vec<_>>());
            let found = found.unwrap();
            assert_eq!(found.is_some(), expected, "case {case}");
            counts[usize::from(expected)] += 1;
            if let Some(found) = found {
                let decoded: Vec<Vec<LockHistory>> = found
                    .iter()
                    .map(|tuple| tuple.iter().map(|bits| encoding.decode(bits)).collect())
                    .collect();
                // What is found need not be real, but it is no better than something real.
                let real: Vec<&Vec<LockHistory>> = decoded
                    .iter()
                    .zip(&choices)
                    .map(|(tuple, all)| {
                        let is_better = |real: &&Vec<LockHistory>| {
                            real.iter().zip(tuple).all(|(real, found)| real.dominates(found))
                        };
                        all.iter().find(is_better).expect("a real tuple")
                    })
                    .collect();
                assert!(fits(&real), "case {case}");
            }
        }
        assert!(counts.iter().all(|&count| count > 50), "{counts:?}");
    }

    /// A cycle through four threads that no three of them have.
    #[test]
    fn a_cycle_through_four_threads() {
        let encoding = all_pairs(4);
        let histories: Vec<LockHistory> = (0..4)
            .map(|index| {
                let (held, used) = (lock(index), lock((index + 1) % 4));
                LockHistory::empty(std::iter::empty().collect())
                    .post(LockAction::Acquire(held))
                    .post(LockAction::Acquire(used))
                    .post(LockAction::Release(used))
            })
            .collect();
        for left_out in 0..5 {
            let mut chosen = histories.clone();
            if left_out < 4 {
                chosen.remove(left_out);
            }
            let mut domain = domain(&encoding, 1, chosen.len());
            let sets: Vec<_> =
                chosen.iter().map(|h| set(&domain, &encoding, &[vec![h.clone()]])).collect();
            let found = compatible_tuples(&mut domain, &encoding, &sets.iter().collect::<Vec<_>>());
            assert_eq!(found.unwrap().is_some(), left_out < 4);
        }
    }
}
