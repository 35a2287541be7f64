//! # Idea
//! A schedule is executed on the model, step by step, and turned into a trace. Then the marked steps
//! of the trace are compared with the query by the definition: the right accesses in the right
//! order, and those of one unit inside one unit. Nothing is searched for, so a schedule is accepted
//! only for what it says of itself.
//!
//! # Source
//! SEMANTICS, "The patterns"; paper 000 Defn. 3 and Problem 1. The final state of an automaton has no
//! loops of its own, because a run may stop there; whatever follows it is of no interest.
//!
//! # Requires
//! The program is valid. Query and schedule may be anything.
//!
//! # Invariants
//! 1. Time and memory are linear in the schedule, apart from the lookup of an automaton's loops.

use crate::query::query_error;
use crate::step::Configuration;
use selvedge_base::{Id, IdVec};
use selvedge_program::{
    IndexedSymbol, Ipa, Move, Observable, PatternQuery, Program, Query, Schedule, StepKind,
    ThreadId, Trace, TraceStep, UnitRole,
};
use std::fmt;

/// Why a schedule is no answer to its query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayError {
    /// The step that is wrong, counted from 1; `None` if the query is, or if steps are missing.
    pub step: Option<usize>,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            Some(step) => write!(f, "step {step}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for ReplayError {}

/// Executes a schedule and checks that its marked steps answer the query.
///
/// # Errors
/// If a step is impossible where it stands, or if the marked steps are not what the query asks for.
pub fn replay(program: &Program, query: &Query, schedule: &Schedule) -> Result<Trace, ReplayError> {
    if let Some(message) = query_error(program, query) {
        return Err(ReplayError { step: None, message });
    }
    let trace = execute(program, schedule)?;
    match query {
        Query::Pattern(query) => check_pattern(program, query, &trace)?,
        Query::Automaton(automaton) => check_automaton(program, automaton, &trace)?,
    }
    Ok(trace)
}

/// Executes a schedule from the initial configuration, whatever it is marked with.
///
/// # Errors
/// If a step is impossible where it stands.
pub fn execute(program: &Program, schedule: &Schedule) -> Result<Trace, ReplayError> {
    Ok(run(program, schedule)?.0)
}

/// Like [`execute`], with the configuration that the schedule ends in.
pub(crate) fn run(
    program: &Program,
    schedule: &Schedule,
) -> Result<(Trace, Configuration), ReplayError> {
    let mut configuration = Configuration::initial(program);
    let mut steps = Vec::with_capacity(schedule.steps.len());
    for (index, scheduled) in schedule.steps.iter().enumerate() {
        let thread = scheduled.thread;
        let kind = configuration.step(program, thread, scheduled.step).map_err(|error| {
            let reason = error.describe(program);
            let message = match scheduled.step {
                Move::Edge(edge) => match program.edges.get(edge) {
                    Some(edge) => format!(
                        "{} cannot do {:?} of {}: {reason}",
                        thread_name(program, thread),
                        edge.action,
                        edge.place
                    ),
                    None => format!(
                        "{} cannot take edge {}: {reason}",
                        thread_name(program, thread),
                        edge.index()
                    ),
                },
                Move::Return => {
                    format!("{} cannot return: {reason}", thread_name(program, thread))
                }
            };
            ReplayError { step: Some(index + 1), message }
        })?;
        let place = match (scheduled.step, kind) {
            (Move::Edge(edge), _) => program.edges[edge].place,
            (Move::Return, StepKind::Return(procedure)) => program.procedures[procedure].end,
            (Move::Return, kind) => unreachable!("a return was executed as {kind:?}"),
        };
        steps.push(TraceStep { thread, kind, place, matched: scheduled.matched });
    }
    Ok((Trace { steps, next: Vec::new() }, configuration))
}

fn check_pattern(
    program: &Program,
    query: &PatternQuery,
    trace: &Trace,
) -> Result<(), ReplayError> {
    let accesses = query.pattern.accesses;
    let mut marks = Marks::new(accesses.len());
    // Where the open outermost unit of each thread began.
    let mut open_unit: IdVec<ThreadId, Option<usize>> = IdVec::filled(None, program.threads.len());
    // The unit of the first access of `u` and of `u'`.
    let mut first_unit: [Option<usize>; 2] = [None, None];
    for (index, step) in trace.steps.iter().enumerate() {
        match step.kind {
            StepKind::BeginUnit => open_unit[step.thread] = Some(index),
            StepKind::EndUnit => open_unit[step.thread] = None,
            _ => {}
        }
        let Some(mark) = step.matched else { continue };
        let fail = |message: String| Err(ReplayError { step: Some(index + 1), message });
        let access = match marks.next(mark) {
            Ok(position) => accesses[position],
            Err(message) => return fail(message),
        };
        let expected =
            IndexedSymbol { thread: query.thread_of(access), symbol: query.symbol_of(access) };
        if observed(step) != Some(expected) {
            return fail(mismatch(program, mark, expected, step));
        }
        if !query.needs_unit(access.role) {
            continue;
        }
        let Some(unit) = open_unit[step.thread] else {
            return fail(format!("access {mark} is outside every unit of work"));
        };
        let first = match access.role {
            UnitRole::Unit => &mut first_unit[0],
            UnitRole::Other => &mut first_unit[1],
        };
        let first = *first.get_or_insert(unit);
        if first != unit {
            return fail(format!(
                "access {mark} is in the unit that began at step {}, but the first access of {} is \
                 in the one that began at step {}",
                unit + 1,
                thread_name(program, step.thread),
                first + 1
            ));
        }
    }
    marks.finish()
}

fn check_automaton(program: &Program, automaton: &Ipa, trace: &Trace) -> Result<(), ReplayError> {
    let mut marks = Marks::new(automaton.phases.len());
    for (index, step) in trace.steps.iter().enumerate() {
        let fail = |message: String| Err(ReplayError { step: Some(index + 1), message });
        if let Some(mark) = step.matched {
            let expected = match marks.next(mark) {
                Ok(position) => automaton.phases[position].advance,
                Err(message) => return fail(message),
            };
            if observed(step) != Some(expected) {
                return fail(mismatch(program, mark, expected, step));
            }
        } else if let (Some(phase), Some(event)) =
            (automaton.phases.get(marks.seen), observed(step))
            && !phase.loops.contains(&event)
        {
            return fail(format!(
                "{} is not marked, and is no loop of phase {}",
                symbol_text(program, event),
                phase.name
            ));
        }
    }
    marks.finish()
}

/// Counts the marks, which must be 1, 2, … in this order.
struct Marks {
    seen: usize,
    wanted: usize,
}

impl Marks {
    fn new(wanted: usize) -> Self {
        Self { seen: 0, wanted }
    }

    /// The position, from 0, of the access that a step marked with `mark` must be.
    fn next(&mut self, mark: u32) -> Result<usize, String> {
        if self.seen == self.wanted {
            return Err(format!("it is marked {mark}, but the query has {} accesses", self.wanted));
        }
        let position = self.seen;
        if mark as usize != position + 1 {
            return Err(format!("it is marked {mark}, but the next access is {}", position + 1));
        }
        self.seen += 1;
        Ok(position)
    }

    fn finish(self) -> Result<(), ReplayError> {
        if self.seen == self.wanted {
            return Ok(());
        }
        let message =
            format!("only {} of the {} accesses of the query occur", self.seen, self.wanted);
        Err(ReplayError { step: None, message })
    }
}

/// What an automaton sees of a step.
fn observed(step: &TraceStep) -> Option<IndexedSymbol> {
    let symbol = match step.kind {
        StepKind::Read(location) => Observable::Read(location),
        StepKind::Write(location) => Observable::Write(location),
        StepKind::BeginUnit => Observable::BeginUnit,
        StepKind::EndUnit => Observable::EndUnit,
        StepKind::Acquire(_)
        | StepKind::Release(_)
        | StepKind::Call(_)
        | StepKind::Return(_)
        | StepKind::Step => return None,
    };
    Some(IndexedSymbol { thread: step.thread, symbol })
}

fn mismatch(program: &Program, mark: u32, expected: IndexedSymbol, step: &TraceStep) -> String {
    let found = match observed(step) {
        Some(event) => symbol_text(program, event),
        None => {
            format!("a step of {} that is no such event", thread_name(program, step.thread))
        }
    };
    format!("access {mark} is {}, but this is {found}", symbol_text(program, expected))
}

fn symbol_text(program: &Program, event: IndexedSymbol) -> String {
    let thread = thread_name(program, event.thread);
    match event.symbol {
        Observable::Read(x) => format!("the read of {} by {thread}", program.locations[x].name),
        Observable::Write(x) => format!("the write of {} by {thread}", program.locations[x].name),
        Observable::BeginUnit => format!("the begin of a unit of {thread}"),
        Observable::EndUnit => format!("the end of a unit of {thread}"),
    }
}

pub(crate) fn thread_name(program: &Program, thread: ThreadId) -> String {
    match program.threads.get(thread) {
        Some(thread) => thread.name.clone(),
        None => format!("thread {}", thread.index()),
    }
}
