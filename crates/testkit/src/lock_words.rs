//! # Idea
//! A lock word is what one thread does with locks on a path that begins and ends anywhere: it may
//! hold some locks at first, releases some of them, uses others, and may keep some in the end. Whether
//! the words of several threads can be interleaved is found by trying; what lock histories say about
//! it can be compared with that.
//!
//! # Source
//! Paper 000 §6, the language *suffixPrefix*, over non-reentrant locks.
//!
//! # Invariants
//! 1. Words are well nested: a release frees the lock that was taken last of those held.
//! 2. A thread never acquires a lock that it holds.

use crate::rng::Rng;
use std::collections::BTreeSet;

/// An action on the lock with this number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WordAction {
    /// `(`: takes it.
    Acquire(usize),
    /// `)`: frees it.
    Release(usize),
}

/// What one thread does with locks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockWord {
    /// The locks held at first, the one taken last at the end.
    pub initial: Vec<usize>,
    /// What happens then.
    pub actions: Vec<WordAction>,
}

impl LockWord {
    /// The locks held after the first `length` actions, the one taken last at the end.
    pub fn held_after(&self, length: usize) -> Vec<usize> {
        let mut held = self.initial.clone();
        for &action in &self.actions[..length] {
            match action {
                WordAction::Acquire(lock) => held.push(lock),
                WordAction::Release(lock) => held.retain(|&other| other != lock),
            }
        }
        held
    }
}

/// A random word of at most `length` actions on `locks` locks, of a thread that holds at first at
/// most the locks of `may_hold`.
pub fn random_word(rng: &mut Rng, locks: usize, length: usize, may_hold: &[usize]) -> LockWord {
    let mut initial: Vec<usize> = may_hold.iter().copied().filter(|_| rng.percent(50)).collect();
    for position in (1..initial.len()).rev() {
        initial.swap(position, rng.below(position + 1));
    }
    let mut held = initial.clone();
    let mut actions = Vec::new();
    for _ in 0..rng.between(0, length) {
        let free: Vec<usize> = (0..locks).filter(|lock| !held.contains(lock)).collect();
        let acquire = held.is_empty() || (!free.is_empty() && rng.percent(50));
        if acquire && !free.is_empty() {
            let lock = *rng.pick(&free);
            held.push(lock);
            actions.push(WordAction::Acquire(lock));
        } else if let Some(lock) = held.pop() {
            actions.push(WordAction::Release(lock));
        }
    }
    LockWord { initial, actions }
}

/// Random words of several threads on `locks` locks. In one of ten cases two threads may hold the
/// same lock at first, which no interleaving allows.
pub fn random_words(rng: &mut Rng, threads: usize, locks: usize, length: usize) -> Vec<LockWord> {
    let disjoint = rng.percent(90);
    let owner: Vec<usize> = (0..locks).map(|_| rng.below(threads)).collect();
    (0..threads)
        .map(|thread| {
            let may_hold: Vec<usize> =
                (0..locks).filter(|&lock| !disjoint || owner[lock] == thread).collect();
            random_word(rng, locks, length, &may_hold)
        })
        .collect()
}

/// An order in which the threads can do all their actions, as the positions of the threads that
/// move, or `None` if there is none.
pub fn interleave(words: &[LockWord]) -> Option<Vec<usize>> {
    let is_consistent = |at: &[usize]| {
        let mut owned = BTreeSet::new();
        words
            .iter()
            .zip(at)
            .all(|(word, &length)| word.held_after(length).iter().all(|&lock| owned.insert(lock)))
    };
    let start = vec![0; words.len()];
    if !is_consistent(&start) {
        return None;
    }
    let mut seen = BTreeSet::from([start.clone()]);
    let mut stack = vec![(start, Vec::new())];
    while let Some((at, order)) = stack.pop() {
        if words.iter().zip(&at).all(|(word, &length)| word.actions.len() == length) {
            return Some(order);
        }
        for thread in 0..words.len() {
            if at[thread] == words[thread].actions.len() {
                continue;
            }
            let mut next = at.clone();
            next[thread] += 1;
            if is_consistent(&next) && seen.insert(next.clone()) {
                let mut longer = order.clone();
                longer.push(thread);
                stack.push((next, longer));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use WordAction::{Acquire, Release};

    fn word(initial: &[usize], actions: &[WordAction]) -> LockWord {
        LockWord { initial: initial.to_vec(), actions: actions.to_vec() }
    }

    #[test]
    fn small_cases() {
        // Both take a then b, or in crossed order: the second pair can never both end inside.
        let ab = word(&[], &[Acquire(0), Acquire(1)]);
        let ba = word(&[], &[Acquire(1), Acquire(0)]);
        assert!(interleave(&[ab.clone(), ba.clone()]).is_none());
        // Crossed final acquisitions without a common lock in the end.
        let keeps_a = word(&[], &[Acquire(0), Acquire(1), Release(1)]);
        let keeps_b = word(&[], &[Acquire(1), Acquire(0), Release(0)]);
        assert!(interleave(&[keeps_a.clone(), keeps_b]).is_none());
        let uses_b = word(&[], &[Acquire(1), Release(1)]);
        assert!(interleave(&[keeps_a, uses_b]).is_some());
        // Held throughout by one, used by the other.
        assert!(interleave(&[word(&[0], &[]), word(&[], &[Acquire(0), Release(0)])]).is_none());
        // The same lock twice at first.
        assert!(interleave(&[word(&[0], &[]), word(&[0], &[Release(0)])]).is_none());
    }

    /// ERRATA, 000: the union of the two lock graphs would be cyclic here.
    #[test]
    fn release_and_acquisition_orders_do_not_mix() {
        let first = word(&[0], &[Acquire(1), Release(1), Release(0)]);
        let second = word(&[], &[Acquire(1), Acquire(0), Release(0)]);
        let order = interleave(&[first, second]).expect("the first thread may go first");
        // The second thread takes b only after the first has done with it.
        assert_eq!(order[..2], [0, 0]);
    }

    #[test]
    fn random_words_keep_the_invariants_and_both_answers_occur() {
        let mut rng = Rng::new(1);
        let mut feasible = 0;
        for case in 0..2000 {
            let (threads, locks) = (rng.between(2, 4), rng.between(1, 4));
            let words = random_words(&mut rng, threads, locks, 6);
            for word in &words {
                let mut held = word.initial.clone();
                for &action in &word.actions {
                    match action {
                        Acquire(lock) => {
                            assert!(!held.contains(&lock), "case {case}, invariant 2");
                            held.push(lock);
                        }
                        Release(lock) => {
                            assert_eq!(held.pop(), Some(lock), "case {case}, invariant 1");
                        }
                    }
                }
            }
            if let Some(order) = interleave(&words) {
                feasible += 1;
                assert_eq!(order.len(), words.iter().map(|word| word.actions.len()).sum::<usize>());
            }
        }
        assert!((500..1600).contains(&feasible), "{feasible} of 2000");
    }
}
