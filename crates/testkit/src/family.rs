//! # Idea
//! Families of models that grow with the number of locks. Before and after each access a process
//! passes *choices*: at each it takes one of two locks. The sets of locks taken are pairwise
//! incomparable, so there are exponentially many histories of which none is superfluous, while the
//! choices are independent of each other.
//!
//! ```
//! use selvedge_testkit::family::{crossed_locks, nested_locks};
//! assert_eq!(crossed_locks(12).locks, 12);
//! assert!(nested_locks(12).to_eml().contains("synchronized(l11)"));
//! ```

use crate::source::{Block, Function, Model, Process, Statement};

/// Two processes that read under one lock and write under another, the locks being exchanged between
/// the two, and pass choices between all other locks before and after each access, one process in
/// increasing and one in decreasing order. Some questions are violated.
///
/// # Panics
/// If there is no lock.
pub fn crossed_locks(locks: usize) -> Model {
    assert!(locks > 0, "the processes need a lock");
    let guards = [0, usize::from(locks > 1)];
    let free: Vec<usize> = (2..locks).collect();
    let process = |guards: [usize; 2], free: &[usize]| {
        let access = |guard: usize, statement: Statement| {
            let mut body = choices(free);
            body.push(statement);
            body.extend(choices(free));
            Statement::Synchronized(guard, body)
        };
        let mut unit = choices(free);
        unit.extend([
            access(guards[0], Statement::Read(0)),
            access(guards[1], Statement::Write(0)),
        ]);
        repeat(unit)
    };
    let reversed: Vec<usize> = free.iter().rev().copied().collect();
    let processes = vec![process(guards, &free), process([guards[1], guards[0]], &reversed)];
    Model { locks, locations: 1, processes }
}

/// Two processes that take a third of the locks inside one another, one process from the first to
/// the last and the other from the last to the first, pass a choice between two other locks at each
/// level, and make their accesses inside. All accesses are under all of the nested locks, so every
/// question is safe.
///
/// # Panics
/// If there is no lock.
pub fn nested_locks(locks: usize) -> Model {
    assert!(locks > 0, "the processes need a lock");
    let nested: Vec<usize> = (0..locks).step_by(3).collect();
    let levels: Vec<(usize, Block)> = nested
        .iter()
        .map(|&lock| (lock, choices(&(lock + 1..locks.min(lock + 3)).collect::<Vec<_>>())))
        .collect();
    let process = |levels: &[(usize, Block)]| {
        let access = |statement: Statement| {
            levels.iter().rev().fold(vec![statement], |inner, (lock, choices)| {
                let mut body = choices.clone();
                body.extend(inner);
                body.extend(choices.iter().cloned());
                vec![Statement::Synchronized(*lock, body)]
            })
        };
        // The first level stays open, so that the unit is not interrupted.
        let (first, _) = levels[0];
        let mut unit = access(Statement::Read(0));
        unit.extend(access(Statement::Write(0)));
        repeat(vec![Statement::Synchronized(first, unit)])
    };
    let reversed: Vec<(usize, Block)> = levels.iter().rev().cloned().collect();
    Model { locks, locations: 1, processes: vec![process(&levels), process(&reversed)] }
}

/// A choice between the first two locks, one between the next two, and so on.
fn choices(locks: &[usize]) -> Block {
    let take = |lock: usize| vec![Statement::Synchronized(lock, vec![Statement::Skip])];
    locks
        .chunks(2)
        .map(|pair| match *pair {
            [one, other] => Statement::If(take(one), take(other)),
            _ => Statement::Synchronized(pair[0], vec![Statement::Skip]),
        })
        .collect()
}

/// A process that does a unit of work over and over.
fn repeat(unit: Block) -> Process {
    let body = vec![Statement::While(vec![Statement::Unit(unit)])];
    Process { functions: vec![Function { locks: Vec::new(), body }] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_program::validate::validate;

    #[test]
    fn the_models_are_valid_and_use_every_lock() {
        for locks in 1..=13 {
            for model in [crossed_locks(locks), nested_locks(locks)] {
                assert!(validate(&model.to_program()).is_empty());
                for process in &model.processes {
                    let text = format!("{process:?}");
                    let used = |lock: &usize| text.contains(&format!("Synchronized({lock},"));
                    assert!((0..locks).all(|lock| used(&lock)), "{locks} locks: {text}");
                }
            }
        }
    }
}
