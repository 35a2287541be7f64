//! # Idea
//! A program in which threads stand for any number of copies is analysed with as many as decide the
//! questions ([`selvedge_program::copies`]); where no number is known, with a few, and what is safe
//! then is safe with at most so many.

use selvedge_base::IdVec;
use selvedge_logic::normal::{NormalForm, NormalPart};
use selvedge_program::copies::{CopiesFor, Enough, enough, instantiate};
use selvedge_program::{Copies, Feature, Features, Program, Proposition, Question, ThreadId};

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
    // With these a thread that stays where it begins is in nobody's way, and nobody needs it.
    let alone = [Feature::Recursion, Feature::AnyCopies, Feature::Volatile, Feature::Mutexes];
    temporal.fair.is_empty()
        && features.without(alone.into_iter().collect()).is_empty()
        && is_passing(&NormalForm::new(&temporal.sought()))
}

/// Whether a formula says only which moments come one after the other, in terms of single threads.
fn is_passing(form: &NormalForm) -> bool {
    form.parts.iter().all(|part| match *part {
        NormalPart::Constant(_) | NormalPart::And(..) | NormalPart::Or(..) => true,
        NormalPart::Literal(atom, _) => is_about_one(&form.atoms[atom as usize]),
        NormalPart::Until(f, _) => form.parts[f] == NormalPart::Constant(true),
        NormalPart::Next(_) | NormalPart::Release(..) => false,
    })
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
