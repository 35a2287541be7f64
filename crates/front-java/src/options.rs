//! Where a program begins, and what is assumed of code that is not there.

use crate::units::UnitOptions;
use crate::world::{ClassId, MemberId};

/// Where a program begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JavaBeginning {
    /// With a `main`, once.
    Main(MemberId),
    /// With methods that something else calls, in any number of threads.
    Entries(Vec<MemberId>),
    /// With any client of a class, in a world that [`crate::client::client_world`] made.
    Client(ClassId),
}

/// What is assumed, and what is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JavaOptions {
    /// How many locks a deadlock may have that is asked about; none are if there are fewer than two.
    pub deadlock_locks: usize,
    /// What unknown code does.
    pub unknown: UnknownCalls,
    /// What else is a unit of work, and which fields belong together.
    pub units: UnitOptions,
    /// Whether it is assumed that all threads are waited for where it looks like it.
    pub assume_joins: bool,
    /// Which of the questions are asked.
    pub part: QuestionShare,
}

/// One of so many parts of the questions about a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuestionShare {
    /// Which, from 0.
    pub index: usize,
    /// Of how many.
    pub count: usize,
}

impl QuestionShare {
    /// Whether a question belongs to it.
    pub fn has(self, number: usize) -> bool {
        number % self.count.max(1) == self.index
    }
}

impl Default for QuestionShare {
    fn default() -> Self {
        Self { index: 0, count: 1 }
    }
}

/// What methods outside may do of which the table says nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UnknownCalls {
    /// Whatever they can with what they were ever given.
    #[default]
    Args,
    /// Nothing that matters.
    Pure,
    /// What they can, and read and write all fields of what they were ever given, and of what that leads to.
    Havoc,
}

impl Default for JavaOptions {
    fn default() -> Self {
        let (unknown, units) = (UnknownCalls::default(), UnitOptions::default());
        Self {
            deadlock_locks: 2,
            unknown,
            units,
            assume_joins: true,
            part: QuestionShare::default(),
        }
    }
}
