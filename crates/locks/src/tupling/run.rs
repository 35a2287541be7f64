//! # Idea
//! From the reasons of a tabulation back to one local run of the thread: the rules it applies in
//! order, the phase of each, and which of them end a phase.
//!
//! # Requires
//! The end's length was checked against a limit: a run can be exponentially longer than the
//! tabulation.
//!
//! # Invariants
//! 1. The work stack holds what is still to be written, last first; reasons are unfolded towards
//!    older facts only, so unfolding ends.

use super::tabulate::Tabulation;
use crate::lock_history::LockAction;
use crate::role::Role;
use crate::schedule::LocalStep;
use crate::summaries::{EndId, PathEdgeId, PathEndReason, PathReason};
use selvedge_base::{Budget, StopReason};
use selvedge_lower::LoweredThread;
use selvedge_pds::{Rhs, RuleId, Symbol};
use selvedge_program::Event;

/// The local run of `end`. `thread` is the thread that the run is for; it may be another one than
/// was tabulated, as long as it behaves alike.
///
/// # Errors
/// If the budget is used up.
pub fn local_run(
    tabulation: &Tabulation,
    end: EndId,
    role: &Role,
    thread: &LoweredThread,
    budget: &Budget,
) -> Result<Vec<LocalStep>, StopReason> {
    let mut unfold =
        Unfold { tabulation, role, thread, work: vec![Task::End(end)], steps: Vec::new() };
    while let Some(task) = unfold.work.pop() {
        budget.check()?;
        unfold.run(task);
    }
    // Tasks were written last step first.
    unfold.steps.reverse();
    Ok(unfold.steps)
}

#[derive(Clone, Copy)]
enum Task {
    /// Everything up to this end, from the entry.
    End(EndId),
    /// Everything up to this fact, from the entry.
    Fact(PathEdgeId),
    /// The silent steps from this symbol, in this phase.
    Silent(Symbol, u32),
    /// One rule.
    Rule { rule: RuleId, phase: u32, matched: bool },
}

struct Unfold<'a> {
    tabulation: &'a Tabulation,
    role: &'a Role,
    thread: &'a LoweredThread,
    work: Vec<Task>,
    /// The steps, last first.
    steps: Vec<LocalStep>,
}

impl Unfold<'_> {
    fn run(&mut self, task: Task) {
        let tabulation = self.tabulation;
        match task {
            Task::End(end) => match tabulation.ends[end].reason {
                PathEndReason::Here(fact) => self.work.push(Task::Fact(fact)),
                PathEndReason::Last(fact, rule) => {
                    let phase = tabulation.facts[fact].at.phase;
                    self.work.push(Task::Fact(fact));
                    self.work.push(Task::Rule { rule, phase, matched: true });
                }
                PathEndReason::Call { call, rule, end } => {
                    let phase = tabulation.facts[call].at.phase;
                    self.work.push(Task::Fact(call));
                    self.work.push(Task::Rule { rule, phase, matched: false });
                    self.work.push(Task::End(end));
                }
            },
            Task::Fact(id) => {
                let fact = tabulation.facts[id];
                match fact.reason {
                    PathReason::Entry => {
                        let symbol = tabulation.entry_symbols[fact.entry];
                        self.work.push(Task::Silent(symbol, fact.at.phase));
                    }
                    PathReason::Step(from, rule) => {
                        let phase = tabulation.facts[from].at.phase;
                        let Rhs::Step(target) = self.thread.pds.rules[rule].rhs else {
                            unreachable!("steps come from step rules");
                        };
                        self.work.push(Task::Fact(from));
                        let matched = phase != fact.at.phase;
                        self.work.push(Task::Rule { rule, phase, matched });
                        self.work.push(Task::Silent(target, fact.at.phase));
                    }
                    PathReason::Stay(from) => self.work.push(Task::Fact(from)),
                    PathReason::Return { call, rule, exit, pop } => {
                        let phase = tabulation.facts[call].at.phase;
                        let Rhs::Push(_, target) = self.thread.pds.rules[rule].rhs else {
                            unreachable!("calls come from push rules");
                        };
                        self.work.push(Task::Fact(call));
                        self.work.push(Task::Rule { rule, phase, matched: false });
                        self.work.push(Task::Fact(exit));
                        self.work.push(Task::Rule {
                            rule: pop,
                            phase: fact.at.phase,
                            matched: false,
                        });
                        self.work.push(Task::Silent(target, fact.at.phase));
                    }
                }
            }
            Task::Silent(mut symbol, phase) => {
                let first = self.steps.len();
                while let Some(rule) = tabulation.reduced.route(symbol) {
                    self.write(rule, phase, false);
                    let Rhs::Step(target) = self.thread.pds.rules[rule].rhs else {
                        unreachable!("silent rules are steps");
                    };
                    symbol = target;
                }
                self.steps[first..].reverse();
            }
            Task::Rule { rule, phase, matched } => self.write(rule, phase, matched),
        }
    }

    fn write(&mut self, rule: RuleId, phase: u32, matched: bool) {
        self.steps.push(run_step(self.thread, self.role, rule, phase, matched));
    }
}

/// One rule as a step of a local run.
pub fn run_step(
    thread: &LoweredThread,
    role: &Role,
    rule: RuleId,
    phase: u32,
    matched: bool,
) -> LocalStep {
    let label = thread.pds.rules[rule].label;
    let mut lock = None;
    let mut window = None;
    match label.event {
        Some(Event::Acquire(acquired)) => lock = Some(LockAction::Acquire(acquired)),
        Some(Event::Release(released)) => lock = Some(LockAction::Release(released)),
        Some(event) if !matched => window = role.window(event, phase),
        Some(_) | None => {}
    }
    LocalStep { step: label.step, lock, phase, matched, window }
}
