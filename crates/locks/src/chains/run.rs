//! # Idea
//! From the reasons of a tabulation back to one local run of the thread along its script: the rules that it
//! applies in order, and the link of each.
//!
//! # Requires
//! The end's length was checked against a limit: a run can be exponentially longer than the tabulation.

use super::tabulate::{ChainEndId, ChainFactId, ChainTable, EndReason, Reason};
use crate::lock_history::LockAction;
use crate::schedule::LocalStep;
use selvedge_base::{Budget, StopReason};
use selvedge_lower::LoweredThread;
use selvedge_pds::RuleId;
use selvedge_program::Event;

/// The local run of an end.
///
/// # Errors
/// If the budget is used up.
pub(super) fn local_run(
    table: &ChainTable,
    end: ChainEndId,
    thread: &LoweredThread,
    budget: &Budget,
) -> Result<Vec<LocalStep>, StopReason> {
    let mut work = vec![Task::End(end)];
    // The steps, last first.
    let mut steps = Vec::new();
    while let Some(task) = work.pop() {
        budget.check()?;
        match task {
            Task::End(end) => match table.ends[end].reason {
                EndReason::Here(fact) => work.push(Task::Fact(fact)),
                EndReason::Call { call, rule, end } => {
                    let link = table.facts[call].link();
                    work.extend([Task::Fact(call), Task::Rule(rule, link), Task::End(end)]);
                }
            },
            Task::Fact(id) => match table.facts[id].reason {
                Reason::Entry => {}
                Reason::Point(from) | Reason::Wake(from) => work.push(Task::Fact(from)),
                Reason::Step(from, rule) => {
                    let link = table.facts[from].link();
                    work.extend([Task::Fact(from), Task::Rule(rule, link)]);
                }
                Reason::Return { call, rule, exit, pop } => {
                    let (called, left) = (table.facts[call].link(), table.facts[exit].link());
                    work.extend([
                        Task::Fact(call),
                        Task::Rule(rule, called),
                        Task::Fact(exit),
                        Task::Rule(pop, left),
                    ]);
                }
            },
            Task::Rule(rule, phase) => {
                let label = thread.pds.rules[rule].label;
                let lock = match label.event {
                    Some(Event::Acquire(lock)) => Some(LockAction::Acquire(lock)),
                    Some(Event::Release(lock)) => Some(LockAction::Release(lock)),
                    _ => None,
                };
                let step = label.step;
                steps.push(LocalStep { step, lock, phase, matched: false, window: None });
            }
        }
    }
    steps.reverse();
    Ok(steps)
}

enum Task {
    /// Everything up to this end, from the entry.
    End(ChainEndId),
    /// Everything up to this fact, from the entry.
    Fact(ChainFactId),
    /// One rule in a link.
    Rule(RuleId, u32),
}
