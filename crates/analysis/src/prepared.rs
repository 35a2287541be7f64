//! # Idea
//! What all questions about one program share, computed when it is first needed and kept: its
//! features, the alphabets of its threads, the lowered threads by behaviour, the part of its data that a
//! question can depend on, the program of events that is left without its values.
//!
//! # Invariants
//! 1. A result that a limit cut short is not kept.

use selvedge_base::{Budget, Diagnostic, IdVec};
use selvedge_bounded::slice::Slices;
use selvedge_locks::behaviour::Behaviours;
use selvedge_lower::{Events, Scopes};
use selvedge_program::{Alphabet, Features, Program, Successors, ThreadId, Unknown, alphabets};
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// A valid program with what was found out about it.
pub struct Prepared<'p> {
    /// The program.
    pub program: &'p Program,
    /// What it uses.
    pub features: Features,
    behaviours: Lowered,
    alphabets: OnceCell<IdVec<ThreadId, Rc<Alphabet>>>,
    slices: Rc<Slices>,
    events: OnceCell<PreparedEvents>,
    faults: RefCell<Vec<Diagnostic>>,
}

/// A program without its values, with what was found out about it.
pub struct PreparedEvents {
    /// The program of events.
    pub events: Events,
    behaviours: Lowered,
}

/// The lowered threads of a program, if they are known.
type Lowered = OnceCell<Result<Rc<Behaviours>, Unknown>>;

impl<'p> Prepared<'p> {
    /// A program about which nothing was asked yet.
    pub fn new(program: &'p Program) -> Self {
        let (behaviours, alphabets) = (OnceCell::new(), OnceCell::new());
        let (features, slices) = (program.features(), Rc::default());
        let events = OnceCell::new();
        let faults = RefCell::default();
        Self { program, features, behaviours, alphabets, slices, events, faults }
    }

    /// Notes that an engine has ended with an internal error and another one was asked.
    pub(crate) fn note_fault(&self, fault: Diagnostic) {
        let mut faults = self.faults.borrow_mut();
        if !faults.contains(&fault) {
            faults.push(fault);
        }
    }

    /// A warning for each engine that has ended with an internal error where another one answered.
    pub fn faults(&self) -> Vec<Diagnostic> {
        self.faults.borrow().clone()
    }

    /// The program without its values.
    pub fn events(&self) -> &PreparedEvents {
        self.events.get_or_init(|| PreparedEvents {
            events: Events::new(self.program),
            behaviours: OnceCell::new(),
        })
    }

    /// Which accesses every thread has in its code.
    pub fn alphabets(&self) -> &IdVec<ThreadId, Rc<Alphabet>> {
        self.alphabets.get_or_init(|| alphabets(self.program))
    }

    /// The parts of the data that questions can depend on, each found when it is first needed.
    pub(crate) fn slices(&self) -> Rc<Slices> {
        Rc::clone(&self.slices)
    }

    /// The lowered threads by behaviour.
    ///
    /// # Errors
    /// If the program does not nest its locks, or if a limit was met.
    pub fn behaviours(&self, budget: &Budget) -> Result<Rc<Behaviours>, Unknown> {
        lowered(&self.behaviours, self.program, budget)
    }
}

impl PreparedEvents {
    /// The lowered threads by behaviour.
    ///
    /// # Errors
    /// If units are not nested, or if a limit was met.
    pub fn behaviours(&self, budget: &Budget) -> Result<Rc<Behaviours>, Unknown> {
        lowered(&self.behaviours, &self.events.program, budget)
    }
}

/// Whether every procedure of a valid program nests its locks and units.
pub fn nests(program: &Program) -> bool {
    Scopes::new(program, &Successors::new(program)).is_ok()
}

fn lowered(known: &Lowered, program: &Program, budget: &Budget) -> Result<Rc<Behaviours>, Unknown> {
    if let Some(known) = known.get() {
        return known.clone();
    }
    let result = Behaviours::new(program, budget).map(Rc::new);
    match &result {
        Err(Unknown::Stopped(_)) => result,
        _ => known.get_or_init(|| result).clone(),
    }
}
