//! # Idea
//! A program in which threads stand for any number of copies is analysed with as many as decide the
//! questions ([`selvedge_program::copies`]); where no number is known, with a few, and what is safe
//! then is safe with at most so many.

use selvedge_base::IdVec;
use selvedge_program::copies::{CopiesFor, Enough, enough, instantiate};
use selvedge_program::{Copies, Program, ThreadId};

/// How many copies there are if no number is known to decide a question and none is given.
pub const FEW_COPIES: u32 = 4;

/// A program without threads that stand for any number of copies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// The program.
    pub program: Program,
    /// With how many copies of a thread nothing beyond them is known; `None` if what holds for the
    /// program holds for any number.
    pub limit: Option<u32>,
}

/// The instance of a program that decides all these kinds of questions, or else the one with `most`
/// copies. Without kinds it is that one.
pub fn instance(program: Program, asked: &[CopiesFor], most: u32) -> Instance {
    if program.threads.iter().all(|thread| thread.copies != Copies::Any) {
        return Instance { program, limit: None };
    }
    let mut numbers: IdVec<ThreadId, u32> = IdVec::filled(1, program.threads.len());
    let mut known = !asked.is_empty();
    for &asked in asked {
        match enough(&program, asked) {
            Enough::Exactly(needed) => {
                for (thread, &count) in needed.iter_enumerated() {
                    numbers[thread] = numbers[thread].max(count);
                }
            }
            Enough::Unknown => known = false,
        }
    }
    if !known {
        numbers = IdVec::filled(most, program.threads.len());
    }
    let limit = (!known).then_some(most);
    Instance { program: instantiate(&program, &numbers), limit }
}
