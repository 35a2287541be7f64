//! # Idea
//! Stacks of which only the upper frames are kept, so that a recursive program has finitely many states.
//! A frame that is dropped leaves behind which call opened the frame above it; when that one can return,
//! a caller is put back there: at the place behind the call, with any values, opened by any call that the
//! thread can make. Every run of the program is among the runs that result, and some others are.
//!
//! A lock that a dropped frame has taken stays held: of the holds below the kept frames one is counted,
//! which is enough to tell an outermost acquisition or release from the others. The caller that is put
//! back has the holds that its place in the procedure says; whether frames below it hold the same lock,
//! too, is open again. Units of work are counted alike.
//!
//! # Source
//! The abstraction of stacks to their upper part, as it is used for communicating pushdown systems in
//! paper 004; here with data, and for all properties of runs.
//!
//! # Requires
//! Every place of a procedure is reached with the same locks and units open, counted from its entry, and
//! none that the procedure has not opened is closed in it.
//!
//! # Invariants
//! 1. The lowest frame that is kept has a call if and only if frames below it were dropped.
//! 2. Where a thread can return, the frame below is kept, or there is none.

use crate::run::{ActivationData, State};
use rustc_hash::FxHashSet;
use selvedge_base::IdVec;
use selvedge_program::{
    Action, EdgeId, LockId, NodeId, ProcedureId, Program, Successors, ThreadId, Unknown, Valuation,
    Value,
};

/// How many callers are tried where one is put back.
const MOST_CALLERS: usize = 1 << 12;

/// What was opened in a procedure on the way to a place: how often each lock, and how many units.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Opened {
    locks: IdVec<LockId, u32>,
    units: u32,
}

/// Keeps so many frames of every stack.
pub(super) struct KnownStacks {
    kept: usize,
    opened: IdVec<NodeId, Option<Opened>>,
    /// Whether the node on top lets a thread return.
    returns: IdVec<NodeId, bool>,
    /// The calls of each procedure that a thread can make.
    callers: IdVec<ThreadId, IdVec<ProcedureId, Vec<EdgeId>>>,
}

impl KnownStacks {
    /// Keeps at least one frame.
    ///
    /// # Errors
    /// If a place is reached with different locks or units open, or something is closed that was not
    /// opened in the same procedure.
    pub fn new(program: &Program, successors: &Successors, kept: u32) -> Result<Self, Unknown> {
        let leaves = |node: NodeId| {
            let returns = |&edge: &EdgeId| matches!(program.edges[edge].action, Action::Return(_));
            program.procedures[program.nodes[node]].exit == node
                || successors.of(node).iter().any(returns)
        };
        Ok(Self {
            kept: kept.max(1) as usize,
            opened: opened(program, successors)?,
            returns: program.nodes.ids().map(leaves).collect(),
            callers: program.threads.ids().map(|one| callers(program, successors, one)).collect(),
        })
    }

    /// The states that stand for one to which a step has led.
    ///
    /// # Errors
    /// If there are too many.
    pub fn settle(&self, program: &Program, mut state: State) -> Result<Vec<State>, Unknown> {
        let mut open = Vec::new();
        for thread in program.threads.ids() {
            self.drop_frames(&mut state, thread);
            let stack = &state.control.threads[thread].stack;
            let lowest = &state.threads[thread].activations;
            if let ([top], [ActivationData { call: Some(call), .. }]) = (&stack[..], &lowest[..])
                && self.returns[*top]
            {
                open.push((thread, *call));
            }
        }
        let mut states = vec![state];
        for (thread, call) in open {
            let mut further = Vec::new();
            for state in states {
                self.put_back(program, &state, thread, call, &mut further)?;
            }
            states = further;
        }
        Ok(states)
    }

    /// How often the kept frames of a thread hold each lock, and how many units are open in them.
    fn in_kept(&self, state: &State, thread: ThreadId) -> Opened {
        let mut sum = Opened { locks: IdVec::filled(0, state.control.locks.len()), units: 0 };
        for &node in &state.control.threads[thread].stack {
            let Some(opened) = &self.opened[node] else { continue };
            sum.units += opened.units;
            for (lock, holds) in opened.locks.iter_enumerated() {
                sum.locks[lock] += holds;
            }
        }
        sum
    }

    /// Drops the lowest frames of a thread, and counts holds and units below the kept ones once.
    fn drop_frames(&self, state: &mut State, thread: ThreadId) {
        let stack = &mut state.control.threads[thread].stack;
        let surplus = stack.len().saturating_sub(self.kept);
        stack.drain(..surplus);
        let activations = &mut state.threads[thread].activations;
        activations.drain(..surplus);
        if activations.first().is_none_or(|lowest| lowest.call.is_none()) {
            return;
        }
        let kept = self.in_kept(state, thread);
        for (one, holds) in state.control.locks.iter_mut().zip(&kept.locks) {
            if let Some(one) = one.as_mut().filter(|one| one.owner == thread) {
                one.depth = one.depth.min(holds + 1);
            }
        }
        let units = &mut state.control.threads[thread].unit_depth;
        *units = (*units).min(kept.units + 1);
    }

    /// All states with a caller below the only frame of a thread, which this call has opened.
    fn put_back(
        &self,
        program: &Program,
        state: &State,
        thread: ThreadId,
        call: EdgeId,
        states: &mut Vec<State>,
    ) -> Result<(), Unknown> {
        let place = program.edges[call].target;
        let procedure = program.nodes[place];
        let Some(opened) = &self.opened[place] else { return Ok(()) };
        let kept = self.in_kept(state, thread);
        // Which of the locks that the caller has taken are held below it as well, and units.
        let mut again: Vec<Option<LockId>> = Vec::new();
        let mut below = state.clone();
        let mut held_below = false;
        for lock in program.locks.ids() {
            let depth = state.control.locks[lock].filter(|one| one.owner == thread);
            let under = depth.map_or(0, |one| one.depth).saturating_sub(kept.locks[lock]);
            match (opened.locks[lock], under) {
                (0, 0) => {}
                (0, _) => held_below = true,
                (_, 0) => return Ok(()),
                (own, _) => {
                    again.push(Some(lock));
                    if let Some(one) = &mut below.control.locks[lock] {
                        one.depth = kept.locks[lock] + own;
                    }
                }
            }
        }
        let units = state.control.threads[thread].unit_depth.saturating_sub(kept.units);
        match (opened.units, units) {
            (0, 0) => {}
            (0, _) => held_below = true,
            (_, 0) => return Ok(()),
            (own, _) => {
                again.push(None);
                below.control.threads[thread].unit_depth = kept.units + own;
            }
        }
        below.control.threads[thread].stack.insert(0, place);
        let is_main = program.threads[thread].main == procedure;
        let bottom = is_main.then_some(None);
        let callers = self.callers[thread][procedure].iter().map(|&call| Some(call));
        let locals = program.procedures[procedure].frame.locals.iter();
        let ranges: Vec<(Value, Value)> = locals.map(|one| program.range(one.ty)).collect();
        for call in bottom.into_iter().chain(callers) {
            if call.is_none() && held_below {
                continue;
            }
            // At the bottom nothing is below.
            let choices = if call.is_none() { 1 } else { 1u64 << again.len().min(63) };
            for choice in 0..choices {
                let mut chosen = below.clone();
                for (_, what) in again.iter().enumerate().filter(|(at, _)| choice >> at & 1 == 1) {
                    match what.map(|lock| &mut chosen.control.locks[lock]) {
                        Some(Some(one)) => one.depth += 1,
                        Some(None) => {}
                        None => chosen.control.threads[thread].unit_depth += 1,
                    }
                }
                let mut values = Valuation(ranges.iter().map(|&(low, _)| low).collect());
                loop {
                    if states.len() == MOST_CALLERS {
                        let why = "a caller of a recursive procedure can have too many values";
                        return Err(Unknown::Unsupported(why.to_owned()));
                    }
                    let mut one = chosen.clone();
                    let caller = ActivationData { locals: values.clone(), call };
                    one.threads[thread].activations.insert(0, caller);
                    states.push(one);
                    // The next combination, as one counts.
                    let carried = values.0.iter_mut().zip(&ranges).all(|(digit, &(low, high))| {
                        let last = *digit == high;
                        *digit = if last { low } else { *digit + 1 };
                        last
                    });
                    if carried {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

/// What was opened on the way to each place that the entry of its procedure reaches.
fn opened(
    program: &Program,
    successors: &Successors,
) -> Result<IdVec<NodeId, Option<Opened>>, Unknown> {
    let mut found: IdVec<NodeId, Option<Opened>> = IdVec::filled(None, program.nodes.len());
    let unsupported = |edge: EdgeId, why: &str| {
        let at = program.located(program.edges[edge].place).map_or(String::new(), |at| at + ": ");
        Unknown::Unsupported(format!("{at}{why}"))
    };
    let nothing = Opened { locks: IdVec::filled(0, program.locks.len()), units: 0 };
    for procedure in &program.procedures {
        found[procedure.entry] = Some(nothing.clone());
        let mut pending = vec![procedure.entry];
        while let Some(node) = pending.pop() {
            for &id in successors.of(node) {
                let edge = &program.edges[id];
                let mut after = found[node].clone().unwrap_or_else(|| nothing.clone());
                let count = match edge.action {
                    Action::Acquire(lock) | Action::Release(lock) => Some(&mut after.locks[lock]),
                    Action::BeginUnit | Action::EndUnit => Some(&mut after.units),
                    _ => None,
                };
                if let Some(count) = count {
                    let opens = matches!(edge.action, Action::Acquire(_) | Action::BeginUnit);
                    let changed = if opens { count.checked_add(1) } else { count.checked_sub(1) };
                    *count = changed.ok_or_else(|| {
                        unsupported(
                            id,
                            "a lock or a unit is closed that this procedure has not opened",
                        )
                    })?;
                }
                match &found[edge.target] {
                    None => {
                        found[edge.target] = Some(after);
                        pending.push(edge.target);
                    }
                    Some(other) if *other == after => {}
                    Some(_) => {
                        let why =
                            "two ways through a procedure meet with different locks or units open";
                        return Err(unsupported(id, why));
                    }
                }
            }
        }
    }
    Ok(found)
}

/// The calls of each procedure in what a thread can reach.
fn callers(
    program: &Program,
    successors: &Successors,
    thread: ThreadId,
) -> IdVec<ProcedureId, Vec<EdgeId>> {
    let mut calls = IdVec::filled(Vec::new(), program.procedures.len());
    let mut seen: FxHashSet<NodeId> = FxHashSet::default();
    let mut pending = vec![program.procedures[program.threads[thread].main].entry];
    while let Some(node) = pending.pop() {
        if !seen.insert(node) {
            continue;
        }
        for &id in successors.of(node) {
            let edge = &program.edges[id];
            pending.push(edge.target);
            if let Action::Call(callee) = edge.action {
                calls[callee].push(id);
                pending.push(program.procedures[callee].entry);
            }
        }
    }
    calls
}
