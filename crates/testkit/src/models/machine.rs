//! # Idea
//! Processes that walk through named states by guarded simultaneous assignments to small numbers,
//! shared or their own. One transition is one atomic step.
//!
//! # Source
//! The form of the BEEM suite (Pelánek, SPIN 2007), of which paper 001 Fig. 8 takes its models.
//!
//! # Invariants
//! 1. A number stays within the bits of its variable, and an index within its array.
//! 2. In a transition no term reads what an earlier assignment of the same transition has set, so
//!    that simultaneous and sequential execution agree. [`Machine::check`] tests it, and that every
//!    name and every next state exists.

use std::collections::BTreeSet;

/// A concurrent program over small numbers.
#[derive(Clone, Debug)]
pub struct Machine {
    /// What it is, for the head of a text.
    pub title: String,
    /// The variables of all processes.
    pub shared: Vec<Variable>,
    /// The processes, in the order in which they are started.
    pub processes: Vec<Process>,
}

/// A number, or an array of numbers.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// How many bits a number has.
    pub bits: usize,
    /// The first values: one for a number, several for an array.
    pub initial: Vec<u32>,
    /// Whether it is an array.
    pub array: bool,
}

/// A process, in its first state at first.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its name.
    pub name: String,
    /// Its own numbers; no arrays.
    pub locals: Vec<Variable>,
    /// Its states.
    pub states: Vec<State>,
}

/// A place in a process.
#[derive(Clone, Debug)]
pub struct State {
    /// Its name.
    pub name: &'static str,
    /// What must hold here; checked before each of the steps, none of which has a guard then.
    pub asserted: Option<Condition>,
    /// What can happen.
    pub steps: Vec<Transition>,
}

/// A guarded simultaneous assignment.
#[derive(Clone, Debug)]
pub struct Transition {
    /// When it can happen.
    pub guard: Condition,
    /// Targets and values.
    pub assignments: Vec<(Term, Term)>,
    /// The state after it.
    pub next: &'static str,
}

/// A number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// A constant.
    Number(u32),
    /// A variable that is no array.
    Name(&'static str),
    /// An element of a shared array.
    Element(&'static str, Box<Term>),
    /// A number and a constant.
    Plus(Box<Term>, u32),
    /// A number without a constant that is not larger.
    Minus(Box<Term>, u32),
}

/// How two numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The same.
    Equal,
    /// Not the same.
    Different,
    /// The left one is smaller.
    Less,
    /// The left one is not larger.
    AtMost,
}

/// A condition on numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Two numbers compare so.
    Compare(Term, Relation, Term),
    /// All of these; true if there are none.
    All(Vec<Condition>),
    /// At least one of these.
    Any(Vec<Condition>),
}

/// The condition that always holds.
pub const ALWAYS: Condition = Condition::All(Vec::new());

/// A constant.
pub const fn number(value: u32) -> Term {
    Term::Number(value)
}

/// A variable.
pub const fn name(name: &'static str) -> Term {
    Term::Name(name)
}

/// An element of an array.
pub fn element(array: &'static str, index: Term) -> Term {
    Term::Element(array, Box::new(index))
}

impl Term {
    /// This and a constant.
    #[must_use]
    pub fn plus(self, constant: u32) -> Self {
        Self::Plus(Box::new(self), constant)
    }

    /// This without a constant.
    #[must_use]
    pub fn minus(self, constant: u32) -> Self {
        Self::Minus(Box::new(self), constant)
    }

    /// Whether both are the same.
    #[must_use]
    pub fn is(self, other: impl Into<Term>) -> Condition {
        Condition::Compare(self, Relation::Equal, other.into())
    }

    /// Whether they differ.
    #[must_use]
    pub fn is_not(self, other: impl Into<Term>) -> Condition {
        Condition::Compare(self, Relation::Different, other.into())
    }

    /// Whether this is smaller.
    #[must_use]
    pub fn below(self, other: impl Into<Term>) -> Condition {
        Condition::Compare(self, Relation::Less, other.into())
    }

    /// Whether this is not larger.
    #[must_use]
    pub fn at_most(self, other: impl Into<Term>) -> Condition {
        Condition::Compare(self, Relation::AtMost, other.into())
    }

    fn names(&self, visit: &mut impl FnMut(&'static str)) {
        match self {
            Self::Number(_) => {}
            Self::Name(name) => visit(name),
            Self::Element(array, index) => {
                visit(array);
                index.names(visit);
            }
            Self::Plus(term, _) | Self::Minus(term, _) => term.names(visit),
        }
    }

    /// The variable that an assignment to this sets.
    pub(crate) fn target(&self) -> &'static str {
        match self {
            Self::Name(name) | Self::Element(name, _) => name,
            Self::Number(_) | Self::Plus(..) | Self::Minus(..) => {
                panic!("{self:?} cannot be assigned to")
            }
        }
    }
}

impl From<u32> for Term {
    fn from(value: u32) -> Self {
        Self::Number(value)
    }
}

impl Condition {
    /// Both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::All(vec![self, other])
    }

    /// At least one.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self::Any(vec![self, other])
    }

    fn names(&self, visit: &mut impl FnMut(&'static str)) {
        match self {
            Self::Compare(left, _, right) => {
                left.names(visit);
                right.names(visit);
            }
            Self::All(parts) | Self::Any(parts) => {
                for part in parts {
                    part.names(visit);
                }
            }
        }
    }
}

/// A number with a first value.
pub fn scalar(name: &'static str, bits: usize, initial: u32) -> Variable {
    Variable { name, bits, initial: vec![initial], array: false }
}

/// An array with first values.
pub fn array(name: &'static str, bits: usize, initial: Vec<u32>) -> Variable {
    Variable { name, bits, initial, array: true }
}

/// A state with its steps.
pub fn state(name: &'static str, steps: Vec<Transition>) -> State {
    State { name, asserted: None, steps }
}

/// A step.
pub fn step(guard: Condition, assignments: Vec<(Term, Term)>, next: &'static str) -> Transition {
    Transition { guard, assignments, next }
}

impl Machine {
    /// The variable of this name, as a process sees it.
    pub(crate) fn variable<'a>(&'a self, process: &'a Process, name: &str) -> &'a Variable {
        process
            .locals
            .iter()
            .chain(&self.shared)
            .find(|variable| variable.name == name)
            .unwrap_or_else(|| panic!("{}: there is no variable {name}", self.title))
    }

    /// Checks the second invariant.
    ///
    /// # Panics
    /// If it does not hold.
    pub fn check(&self) {
        for process in &self.processes {
            let states: BTreeSet<&str> = process.states.iter().map(|state| state.name).collect();
            assert_eq!(states.len(), process.states.len(), "{}: a state twice", self.title);
            for state in &process.states {
                for step in &state.steps {
                    assert!(states.contains(step.next), "{}: no state {}", self.title, step.next);
                    assert!(state.asserted.is_none() || step.guard == ALWAYS, "{}", self.title);
                    step.guard.names(&mut |name| _ = self.variable(process, name));
                    let mut set = BTreeSet::new();
                    for (target, value) in &step.assignments {
                        target.names(&mut |name| _ = self.variable(process, name));
                        value.names(&mut |name| _ = self.variable(process, name));
                        value.names(&mut |name| {
                            assert!(!set.contains(name), "{}: {name} is read late", self.title);
                        });
                        assert!(set.insert(target.target()), "{}: set twice", self.title);
                    }
                }
            }
        }
    }
}
