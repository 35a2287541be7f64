//! # Idea
//! Who takes part in a query and how: the threads that matter, lowered with the locks that matter, and the
//! steps by which a thread can do what is said of one step. Both procedures for chains begin here.
//!
//! # Invariants
//! 1. Whoever is left out can stay where it begins, whatever the others do.

use super::Step;
use super::borders::{Borders, Standing};
use super::claims::Claims;
use super::class::{Point, Top, asks_who_moves, deed, locks_of, named};
use super::query::{After, ChainQuery};
use super::tabulate::Begin;
use crate::behaviour::Behaviours;
use crate::tupling::tuples::Mark;
use rustc_hash::FxHashMap;
use selvedge_base::Budget;
use selvedge_lower::thread::LowerError;
use selvedge_lower::{LockSet, LoweredProgram, LoweredThread, lower, shared_locks};
use selvedge_program::{Deed, Program, Successors, ThreadId, Unknown};
use std::rc::Rc;

/// The threads of a program, by the locks that are tracked.
#[derive(Default)]
pub(crate) struct LoweredByLocks(FxHashMap<LockSet, Rc<LoweredProgram>>);

impl LoweredByLocks {
    /// With the threads as other questions see them.
    pub fn prepared(behaviours: &Behaviours) -> Self {
        let (tracked, lowered) = behaviours.lowered_program();
        Self(FxHashMap::from_iter([(tracked.clone(), Rc::clone(lowered))]))
    }

    /// The threads with the locks of a query in their histories, beside those that can block somebody.
    ///
    /// # Errors
    /// If locks or units are not nested, or if the budget is used up.
    pub fn of_query(
        &mut self,
        program: &Program,
        query: &ChainQuery,
        budget: &Budget,
    ) -> Result<Rc<LoweredProgram>, Unknown> {
        let successors = Successors::new(program);
        let mut tracked = shared_locks(program, &successors);
        let deeds = query.steps().flatten().filter_map(|&(_, deed)| match deed {
            Some(Deed::Acquire(lock) | Deed::Release(lock)) => Some(lock),
            _ => None,
        });
        for lock in query.conditions().flat_map(locks_of).chain(deeds) {
            tracked.insert(lock);
        }
        // A round that is to be repeated begins and ends with the same locks, whoever else uses them.
        if matches!(query.after, After::Rounds(_)) {
            for lock in program.locks.ids() {
                tracked.insert(lock);
            }
        }
        if let Some(known) = self.0.get(&tracked) {
            return Ok(Rc::clone(known));
        }
        let lowered = lower(program, &tracked, budget).map_err(|error| match error {
            LowerError::Stopped(reason) => Unknown::Stopped(reason),
            LowerError::NotNested(why) => Unknown::Unsupported(format!(
                "locks and units must be nested for this engine: {why}"
            )),
        })?;
        let lowered = Rc::new(lowered);
        self.0.insert(tracked, Rc::clone(&lowered));
        Ok(lowered)
    }
}

/// Whether lock histories can say something about a query.
///
/// # Errors
/// If they cannot.
pub(crate) fn is_about_tops(query: &ChainQuery) -> Result<(), Unknown> {
    if query.conditions().all(Point::is_about_tops) {
        return Ok(());
    }
    let why = "lock histories know no values, and a formula that asks for them is not decided";
    Err(Unknown::Unsupported(why.to_owned()))
}

/// The threads that matter. One that nobody names can stay where it begins, unless somebody's step is
/// asked for, or who can move, or how the run goes on for ever.
///
/// # Errors
/// If there are no threads at all.
pub(crate) fn participants(
    program: &Program,
    query: &ChainQuery,
) -> Result<Vec<ThreadId>, Unknown> {
    let all = matches!(query.after, After::Rounds(_))
        || query.steps().any(<[_]>::is_empty)
        || query.conditions().any(|one| one.propositions().into_iter().any(asks_who_moves));
    let mut found: Vec<ThreadId> = if all {
        program.threads.ids().collect()
    } else {
        let atoms = query.conditions().flat_map(|one| one.propositions());
        let movers = query.steps().flatten().map(|&(thread, _)| thread);
        atoms.filter_map(named).chain(movers).collect()
    };
    if found.is_empty() {
        found.extend(program.threads.ids().next());
    }
    found.sort_unstable();
    found.dedup();
    if found.is_empty() {
        let why = "a program without threads has no runs to speak of".to_owned();
        return Err(Unknown::Unsupported(why));
    }
    Ok(found)
}

/// The rules by which a thread can make a step of which this is said.
pub(crate) fn allowed(
    program: &Program,
    said: &Step,
    id: ThreadId,
    thread: &LoweredThread,
) -> Rc<[bool]> {
    let rules = thread.pds.rules.iter();
    let allowed = rules.map(|rule| {
        said.iter().all(|&(mover, wanted)| {
            mover == id && wanted.is_none_or(|wanted| deed(program, thread, rule) == Some(wanted))
        })
    });
    allowed.collect()
}

/// The threads that take part, and as they are analysed.
pub(crate) struct Cast<'a> {
    /// Who.
    pub participants: &'a [ThreadId],
    /// As what.
    pub threads: &'a [&'a LoweredThread],
    /// With which claims of their own futures.
    pub claims: &'a [Claims],
    /// Who waits to be started.
    pub at_first: Standing,
    /// Starts and joins, if the program has some.
    pub borders: Option<&'a Borders>,
}

impl Cast<'_> {
    /// Where a participant begins.
    pub(super) fn begin(&self, at: usize) -> Begin<'static> {
        Begin::Main { waits: self.at_first.waits(self.participants[at]) }
    }

    /// Whether the first point's condition is true where the run begins.
    pub fn holds_at_first(&self, program: &Program, query: &ChainQuery) -> bool {
        let mut point = Point::new(query.points[0].clone(), self.participants, &self.at_first);
        let begins = self.threads.iter().zip(self.claims).enumerate();
        let marks: Vec<Mark> = begins
            .map(|(at, (thread, claims))| {
                let waits = self.at_first.waits(self.participants[at]);
                let top = if waits { Top::Waits } else { Top::Symbol(thread.entry) };
                point.class(at, program, thread, claims, (top, 0))
            })
            .collect();
        let held = vec![LockSet::new(); self.threads.len()];
        point.holds(&marks, &held)
    }
}
