//! # Idea
//! A program in which threads stand for any number of copies is analysed with as many as decide the
//! questions ([`selvedge_program::copies`]); where no number is known, with a few, and what is safe
//! then is safe with at most so many.

use selvedge_base::IdVec;
use selvedge_program::copies::{CopiesFor, Enough, enough, instantiate};
use selvedge_program::{
    Copies, Feature, Features, Formula, PathQuantifier, Program, Proposition, Question, ThreadId,
};

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

/// Whether what is not found with the copies that a question names is found with no number of them: some run
/// is sought that only passes moments at which threads with names are somewhere, and every other thread can
/// stay where it begins.
pub(crate) fn named_suffice(question: &Question, features: Features) -> bool {
    let Question::Temporal(temporal) = question else { return false };
    let others = [Feature::Values, Feature::Channels, Feature::Starts, Feature::Joins];
    temporal.quantifier == PathQuantifier::Some
        && temporal.fair.is_empty()
        && !others.into_iter().any(|one| features.contains(one))
        && is_passing(&temporal.formula)
}

/// Whether a formula says only which moments come one after the other, in terms of single threads.
fn is_passing(formula: &Formula) -> bool {
    match formula {
        Formula::Constant(_) => true,
        Formula::Proposition(atom) => is_about_one(atom),
        Formula::Not(f) => matches!(&**f, Formula::Proposition(atom) if is_about_one(atom)),
        Formula::And(f, g) | Formula::Or(f, g) => is_passing(f) && is_passing(g),
        Formula::Until(f, g) => **f == Formula::Constant(true) && is_passing(g),
        Formula::Next(_) | Formula::Release(..) => false,
    }
}

fn is_about_one(atom: &Proposition) -> bool {
    matches!(
        atom,
        Proposition::At(..)
            | Proposition::In(..)
            | Proposition::Holds(..)
            | Proposition::Unit(_)
            | Proposition::About(..)
            | Proposition::Ended(_)
    )
}
