//! # Idea
//! Programs without branches and calls, written as one list of actions per thread. They may do what
//! no structured source can, such as release a lock out of order, or one that is not held.
//!
//! ```
//! use selvedge_testkit::straight::{acquire, read, release, straight_line};
//! let program = straight_line(&[&[acquire(0), read(1), release(0)], &[]]);
//! assert_eq!(program.locations.len(), 2);
//! assert!(selvedge_program::validate::validate(&program).is_empty());
//! ```

use selvedge_base::{Id, IdVec, Place};
use selvedge_program::{
    Action, AtomicSet, AtomicSetId, Copies, Edge, Frame, Location, LocationId, Lock, LockId,
    Procedure, ProcedureId, Program, Start, Thread, ThreadId,
};

/// Reads the location with this index.
pub fn read(location: usize) -> Action {
    Action::Read(LocationId::from_index(location))
}

/// Writes the location with this index.
pub fn write(location: usize) -> Action {
    Action::Write(LocationId::from_index(location))
}

/// Acquires the lock with this index.
pub fn acquire(lock: usize) -> Action {
    Action::Acquire(LockId::from_index(lock))
}

/// Releases the lock with this index.
pub fn release(lock: usize) -> Action {
    Action::Release(LockId::from_index(lock))
}

/// Enters a unit of work.
pub fn begin() -> Action {
    Action::BeginUnit
}

/// Leaves a unit of work.
pub fn end() -> Action {
    Action::EndUnit
}

/// The program in which each thread does its actions in order and then finishes. The place of an
/// action is the number of its thread and its number in the thread, from 1.
///
/// # Panics
/// If an action is a call or works on data.
pub fn straight_line(threads: &[&[Action]]) -> Program {
    let mut program = Program::default();
    let (mut locks, mut locations) = (0, 0);
    for action in threads.iter().copied().flatten() {
        match action {
            Action::Read(location) | Action::Write(location) => {
                locations = locations.max(location.index() + 1);
            }
            Action::Acquire(lock) | Action::Release(lock) => locks = locks.max(lock.index() + 1),
            Action::Skip | Action::BeginUnit | Action::EndUnit => {}
            other => panic!("a straight-line program has no {other:?}"),
        }
    }
    declare(&mut program, locks, locations);
    for (index, actions) in threads.iter().enumerate() {
        let thread = ThreadId::from_index(index);
        let main = ProcedureId::from_index(index);
        let line = index as u32 + 1;
        let entry = program.nodes.push(main);
        let mut exit = entry;
        for (position, &action) in actions.iter().enumerate() {
            let target = program.nodes.push(main);
            let place = Place::new(line, position as u32 + 1);
            program.edges.push(Edge {
                source: exit,
                target,
                action,
                update: None,
                passing: None,
                place,
                volatile: false,
            });
            exit = target;
        }
        let place = Place::new(line, 1);
        let end = Place::new(line, actions.len() as u32 + 1);
        program.procedures.push(Procedure {
            name: "main".to_owned(),
            owner: Some(thread),
            place,
            end,
            entry,
            exit,
            frame: Frame::default(),
        });
        program.threads.push(Thread {
            name: format!("T{line}"),
            place,
            main,
            start: Start::AtFirst,
            copies: Copies::One,
        });
    }
    program
}

/// Declares locks `l0`, `l1`, … and locations `x0`, `x1`, … of one atomic set.
pub(crate) fn declare(program: &mut Program, locks: usize, locations: usize) {
    let place = Place::NONE;
    program.locks = (0..locks).map(|index| Lock::reentrant(format!("l{index}"), place)).collect();
    program.atomic_sets = IdVec::from_vec(vec![AtomicSet { name: "all".to_owned() }]);
    let atomic_set = AtomicSetId::from_index(0);
    program.locations = (0..locations)
        .map(|index| Location { name: format!("x{index}"), place, atomic_set })
        .collect();
}
