//! # Idea
//! The marked steps of a trace are compared with a pattern or an automaton by the definition: the
//! right accesses in the right order, and those of one unit inside one unit. Nothing is searched
//! for, so a witness is accepted only for what it says of itself.
//!
//! # Source
//! SEMANTICS, "The patterns"; paper 000 Defn. 3 and Problem 1. The final state of an automaton has no
//! loops of its own, because a run may stop there; whatever follows it is of no interest.
//!
//! # Invariants
//! 1. Time and memory are linear in the trace, apart from the lookup of an automaton's loops.

use crate::execute::{ReplayError, thread_name};
use selvedge_base::IdVec;
use selvedge_program::{
    IndexedSymbol, Ipa, Observable, PatternQuestion, Program, StepKind, ThreadId, Trace, TraceStep,
    UnitRole,
};

/// Compares a trace with a pattern.
pub(crate) fn check_pattern(
    program: &Program,
    question: &PatternQuestion,
    trace: &Trace,
) -> Result<(), ReplayError> {
    let accesses = question.pattern.accesses;
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
        let fail = |message: String| Err(ReplayError::at(index, message));
        let access = match marks.next(mark) {
            Ok(position) => accesses[position],
            Err(message) => return fail(message),
        };
        let expected = IndexedSymbol {
            thread: question.thread_of(access),
            symbol: question.symbol_of(access),
        };
        if observed(step) != Some(expected) {
            return fail(mismatch(program, mark, expected, step));
        }
        if !question.needs_unit(access.role) {
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

/// Compares a trace with an automaton.
pub(crate) fn check_automaton(
    program: &Program,
    automaton: &Ipa,
    trace: &Trace,
) -> Result<(), ReplayError> {
    let mut marks = Marks::new(automaton.phases.len());
    for (index, step) in trace.steps.iter().enumerate() {
        let fail = |message: String| Err(ReplayError::at(index, message));
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
        Err(ReplayError::whole(message))
    }
}

/// What an automaton sees of a step.
fn observed(step: &TraceStep) -> Option<IndexedSymbol> {
    let symbol = step.kind.observable()?;
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
