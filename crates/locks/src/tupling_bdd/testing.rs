//! # Idea
//! What the tests of this folder share.

use super::encoding::Encoding;
use super::vocabulary::Vocabulary;
use crate::lock_history::{LockAction, LockHistory};
use selvedge_base::Id;
use selvedge_bdd::NativeManager;
use selvedge_program::LockId;
use selvedge_testkit::Rng;
use selvedge_testkit::lock_words::{self, LockWord, random_word};

pub fn lock(index: usize) -> LockId {
    LockId::from_index(index)
}

/// An encoding in which every pair of locks has its bits.
pub fn all_pairs(locks: usize) -> Encoding {
    let all = (0..locks).map(lock).collect();
    Encoding::new(&(0..locks).map(|index| (lock(index), Clone::clone(&all))).collect::<Vec<_>>())
}

pub fn vocabulary(
    encoding: &Encoding,
    phases: usize,
    participants: usize,
) -> Vocabulary<NativeManager> {
    let width = encoding.width();
    let variables = Vocabulary::<NativeManager>::variables(width, phases, participants);
    let manager = NativeManager::new(variables, 1 << 20);
    Vocabulary::new(manager, width, phases, participants).expect("enough nodes")
}

/// The history of a lock word.
pub fn history_of(word: &LockWord) -> LockHistory {
    let held = word.initial.iter().copied().map(lock).collect();
    word.actions.iter().fold(LockHistory::empty(held), |history, &action| {
        history.post(match action {
            lock_words::WordAction::Acquire(index) => LockAction::Acquire(lock(index)),
            lock_words::WordAction::Release(index) => LockAction::Release(lock(index)),
        })
    })
}

/// A random history of a path that holds at first at most the locks of `may_hold`.
pub fn random_history(rng: &mut Rng, locks: usize, may_hold: &[usize]) -> LockHistory {
    history_of(&random_word(rng, locks, 8, may_hold))
}
