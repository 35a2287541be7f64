//! # Idea
//! From the reasons of a tabulation back to one local run of the thread along its script: the rules that it
//! applies in order, and the link of each.
//!
//! # Requires
//! The end's length was checked against a limit: a run can be exponentially longer than the tabulation.

use super::tabulate::ChainTable;
use crate::lock_history::LockAction;
use crate::schedule::LocalStep;
use crate::summaries::{EndId, PathEdgeId, PathEndReason, PathReason};
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
    end: EndId,
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
                PathEndReason::Here(fact) => work.push(Task::Fact(fact)),
                PathEndReason::Last(fact, rule) => {
                    let link = table.facts[fact].at.link();
                    work.extend([Task::Fact(fact), Task::Rule(rule, link)]);
                }
                PathEndReason::Call { call, rule, end } => {
                    let link = table.facts[call].at.link();
                    work.extend([Task::Fact(call), Task::Rule(rule, link), Task::End(end)]);
                }
            },
            Task::Fact(id) => match table.facts[id].reason {
                PathReason::Entry => {}
                PathReason::Stay(from) => work.push(Task::Fact(from)),
                PathReason::Step(from, rule) => {
                    let link = table.facts[from].at.link();
                    work.extend([Task::Fact(from), Task::Rule(rule, link)]);
                }
                PathReason::Return { call, rule, exit, pop } => {
                    let (called, left) = (table.facts[call].at.link(), table.facts[exit].at.link());
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
    End(EndId),
    /// Everything up to this fact, from the entry.
    Fact(PathEdgeId),
    /// One rule in a link.
    Rule(RuleId, u32),
}
