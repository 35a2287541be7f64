//! # Idea
//! Programs with typed data, locks, condition variables and checks for engines that know truth values
//! alone. A variable becomes the bits of its code, an element of an array a multiplexer; locks and wait
//! sets become variables first (`locks`); what can fail becomes an assertion beside the step. A run of
//! the new program is one of the old one once the bits are read as values and the steps that only
//! compute are left out.
//!
//! # Source
//! Bit blasting as bounded model checkers do it; the order in which a step evaluates, fails, blocks and
//! is checked is that of [`selvedge_program::data`], semantics 8 and 9.
//!
//! # Requires
//! The program is valid, and no thread stands for any number of threads.
//!
//! # Invariants
//! 1. A step of the old program is a step of the new one, or several of which the others cannot be told
//!    apart: they are inside one atomic section, or they compute from locals alone. So bounds on rounds
//!    and contexts mean the same in both.
//! 2. A step can fail in a state of the old program iff one of its assertions can fail in that of the
//!    new one. What the old step would do afterwards is never seen: an assertion that fails has no
//!    successor.
//! 3. Every code that is read is one of a value: steps store codes of values only, and nothing begins
//!    before first values were looked at.
//! 4. What this does not cover is refused, with the reason.

mod build;
mod circuit;
mod encoding;
mod evaluate;
mod locks;
mod step;

use evaluate::Slot;
use selvedge_base::{Budget, Id, IdVec, Place};
use selvedge_program::{
    Action, EdgeId, LockId, Move, NodeId, Position, ProcedureId, Program, StatePattern, Target,
    ThreadId, Unknown, Valuation, Value, Variable, Witness, WitnessStep,
};
use std::collections::{BTreeMap, BTreeSet};

/// Why a program has no translation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refused {
    at: Option<String>,
    why: String,
}

impl Refused {
    fn new(why: impl Into<String>) -> Self {
        Self { at: None, why: why.into() }
    }

    fn at(program: &Program, place: Place, why: impl Into<String>) -> Self {
        Self { at: program.located(place), why: why.into() }
    }

    /// The same, said of a place unless it names one.
    fn or_at(self, program: &Program, place: Place) -> Self {
        Self { at: self.at.or_else(|| program.located(place)), ..self }
    }
}

impl From<Refused> for Unknown {
    fn from(refused: Refused) -> Self {
        let Refused { at, why } = refused;
        let at = at.map_or_else(String::new, |at| format!("{at}: "));
        Self::Unsupported(format!("{at}as truth values: {why}"))
    }
}

/// What an edge of the new program is in the old one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// A part of a step, or of the beginning of a thread.
    Part,
    /// The step.
    Takes(Move),
    /// The step, which fails.
    Fails(Move),
    /// An invariant is false at first.
    FailsAtFirst,
}

/// What a procedure of the new program is in the old one.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Role {
    /// Where a thread begins, with the bits of the parameters of its main.
    Begins(Vec<Slot>),
    /// It looks at the invariants before anything happens.
    Checks,
    /// A procedure, with the bits of its locals.
    Runs(Vec<Slot>),
}

/// A program over truth values that stands for one with types, locks, waits and checks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BitProgram {
    /// The program: truth values, and neither locks nor waits nor checks.
    pub program: Program,
    /// Whether first values were chosen freely from codes of which some are impossible. Then states that
    /// nobody has looked at yet are no states of the old program.
    pub loose: bool,
    edges: IdVec<EdgeId, Origin>,
    nodes: IdVec<NodeId, Option<NodeId>>,
    roles: IdVec<ProcedureId, Role>,
    /// The bits of the globals of the old program.
    globals: Vec<Slot>,
    /// Where it is seen whether a lock is held.
    owners: BTreeMap<LockId, Slot>,
    held: BTreeMap<LockId, Slot>,
}

/// What is asked about a program over truth values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TargetParts {
    /// The locks that a target names.
    pub locks: BTreeSet<LockId>,
    /// Whether a target is a label. A start that fails has started its thread where it is found out that it
    /// fails; a label in front of the first step of that thread is not reached there.
    pub labels: bool,
}

impl TargetParts {
    /// What a target asks about.
    pub fn by(target: &Target) -> Self {
        let locks = match target {
            Target::State(pattern) => pattern.locks.iter().map(|&(lock, _)| lock).collect(),
            _ => BTreeSet::new(),
        };
        Self { locks, labels: matches!(target, Target::Label(_)) }
    }
}

/// The program over truth values, for what is asked about it.
///
/// # Errors
/// If the program has something that is not covered, or if the budget was raised.
pub fn to_bits(
    program: &Program,
    asked: &TargetParts,
    budget: &Budget,
) -> Result<BitProgram, Unknown> {
    build::build(program, asked, budget)
}

impl BitProgram {
    /// What is to be reached in the new program instead of this in the old one.
    pub fn target(&self, target: &Target) -> Target {
        let standing_for = |wanted: &[NodeId]| -> Vec<NodeId> {
            let wanted: BTreeSet<NodeId> = wanted.iter().copied().collect();
            let stands = |(node, old): (NodeId, &Option<NodeId>)| {
                old.is_some_and(|old| wanted.contains(&old)).then_some(node)
            };
            self.nodes.iter_enumerated().filter_map(stands).collect()
        };
        match target {
            Target::Assertion => Target::Assertion,
            Target::Label(nodes) => Target::Label(standing_for(nodes)),
            Target::State(pattern) => {
                let mut globals = Vec::new();
                let mut ask = |slot: &Slot, value: Value| {
                    for (&bit, digit) in slot.bits.iter().zip(slot.encoding.code(value)) {
                        if let Variable::Global(bit) = bit {
                            globals.push((bit, Value::from(digit)));
                        }
                    }
                };
                for &(id, value) in &pattern.globals {
                    ask(&self.globals[id.index()], value);
                }
                for &(lock, held) in &pattern.locks {
                    ask(&self.held[&lock], Value::from(held));
                }
                let position = |position: &Position| match position {
                    Position::At(nodes) => Position::At(standing_for(nodes)),
                    other => other.clone(),
                };
                let threads = pattern.threads.iter().map(position).collect();
                Target::State(StatePattern { globals, locks: Vec::new(), threads })
            }
        }
    }

    /// The old node that a node stands for.
    pub fn node(&self, node: NodeId) -> Option<NodeId> {
        self.nodes.get(node).copied().flatten()
    }

    /// The locks that a state tells about, in the order of [`Self::state`].
    pub fn locks(&self) -> impl Iterator<Item = LockId> {
        self.owners.keys().copied()
    }

    /// The values of the globals in a state of the new program, and whether each lock is held; nothing
    /// if a code is impossible.
    pub fn state(&self, bits: &Valuation) -> Option<(Valuation, Vec<bool>)> {
        let globals: Option<Vec<Value>> =
            self.globals.iter().map(|slot| read(slot, bits, &Valuation::default())).collect();
        let held = |slot: &Slot| read(slot, bits, &Valuation::default()) != Some(0);
        Some((Valuation(globals?), self.owners.values().map(held).collect()))
    }

    /// A witness of the new program as one of the old one.
    pub fn original(&self, witness: &Witness, source: &Program) -> Witness {
        let no_locals = Valuation::default();
        let globals = |bits: &Valuation| -> Valuation {
            let value = |(slot, global): (&Slot, &selvedge_program::Global)| {
                let any = || source.range(global.ty).0;
                read(slot, bits, &no_locals).unwrap_or_else(any)
            };
            Valuation(self.globals.iter().zip(&source.globals).map(value).collect())
        };
        // The procedures of the new program on each stack, and the first locals of each main.
        let mut stacks: IdVec<ThreadId, Vec<ProcedureId>> =
            self.program.threads.iter().map(|thread| vec![thread.main]).collect();
        let mut first: IdVec<ThreadId, Option<Valuation>> =
            IdVec::filled(None, source.threads.len());
        let mut steps = Vec::new();
        let mut fails = false;
        for step in &witness.steps {
            let stack = &mut stacks[step.thread];
            let running = stack.last().copied();
            let edge = step.step.edge();
            match edge.map(|edge| self.program.edges[edge].action) {
                Some(Action::Call(callee)) => stack.push(callee),
                None | Some(Action::Return(_)) => _ = stack.pop(),
                _ => {}
            }
            let top = stack.last().copied();
            let origin = match edge {
                Some(edge) => self.edges[edge],
                None => match running.map(|id| &self.roles[id]) {
                    Some(Role::Runs(_)) => Origin::Takes(Move::Return),
                    _ => Origin::Part,
                },
            };
            let runs = top.filter(|&id| matches!(self.roles[id], Role::Runs(_)));
            let locals = runs.map(|id| self.values_of(id, step, source)).unwrap_or_default();
            // The call with which a thread begins.
            if origin == Origin::Part && runs.is_some() && first[step.thread].is_none() {
                first[step.thread] = Some(locals.clone());
            }
            let taken = match origin {
                Origin::Part => continue,
                Origin::FailsAtFirst => {
                    steps.clear();
                    fails = true;
                    break;
                }
                Origin::Takes(taken) | Origin::Fails(taken) => taken,
            };
            steps.push(WitnessStep {
                thread: step.thread,
                step: taken,
                receivers: Vec::new(),
                matched: None,
                globals: globals(&step.globals),
                locals,
            });
            if matches!(origin, Origin::Fails(_)) {
                fails = true;
                break;
            }
        }
        let begin = |(id, thread): (ThreadId, &selvedge_program::Thread)| {
            if let Some(known) = &first[id] {
                return known.clone();
            }
            // It has not moved: its parameters were passed or are any, the others are as they begin.
            let passed = witness.locals.get(id).cloned().unwrap_or_default();
            let frame = &source.procedures[thread.main].frame;
            let Role::Begins(slots) = &self.roles[self.program.threads[id].main] else {
                return Valuation::default();
            };
            let value = |(at, local): (usize, &selvedge_program::Local)| {
                let known = slots.get(at).and_then(|slot| read(slot, &no_locals, &passed));
                known.or(local.initial).unwrap_or_else(|| source.range(local.ty).0)
            };
            Valuation(frame.locals.iter().enumerate().map(value).collect())
        };
        Witness {
            globals: globals(&witness.globals),
            locals: source.threads.iter_enumerated().map(begin).collect(),
            steps,
            fails,
            ..Witness::default()
        }
    }

    /// The values of the locals of a procedure after a step.
    fn values_of(&self, id: ProcedureId, step: &WitnessStep, source: &Program) -> Valuation {
        let Role::Runs(slots) = &self.roles[id] else { return Valuation::default() };
        let node = self.program.procedures[id].entry;
        let old = self.nodes[node].map(|node| &source.procedures[source.nodes[node]].frame);
        let locals = old.map_or(&[][..], |frame| frame.locals.as_slice());
        let value = |(slot, local): (&Slot, &selvedge_program::Local)| {
            let any = || source.range(local.ty).0;
            read(slot, &step.globals, &step.locals).unwrap_or_else(any)
        };
        Valuation(slots.iter().zip(locals).map(value).collect())
    }
}

/// The value that a slot holds; nothing if the code is impossible or if there is none.
fn read(slot: &Slot, globals: &Valuation, locals: &Valuation) -> Option<Value> {
    let bit = |&bit: &Variable| match bit {
        Variable::Global(id) => globals.0.get(id.index()).map(|&value| value != 0),
        Variable::Local(id) => locals.0.get(id.index()).map(|&value| value != 0),
    };
    let code: Option<Vec<bool>> = slot.bits.iter().map(bit).collect();
    slot.encoding.value(&code?)
}
