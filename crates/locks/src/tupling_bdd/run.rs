//! # Idea
//! From a run of the weighted pushdown system back to a run of the thread: guesses are left out, and
//! the silent steps that the reduction skipped are put in again.
//!
//! # Invariants
//! 1. The stack holds, for each open call, the thread's own symbol to which it returns.

use super::product::{Made, Product};
use crate::role::Role;
use crate::schedule::LocalStep;
use crate::tupling::run::run_step;
use selvedge_base::{Budget, Id, StopReason};
use selvedge_lower::LoweredThread;
use selvedge_pds::{Rhs, RuleId, Symbol};

/// Why a run was not rebuilt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoLocalRun {
    /// It has at least this many steps.
    TooLong(u64),
    /// The budget is used up.
    Stopped(StopReason),
}

/// The steps of `thread` on a run of the product. `thread` may be another one than the product was made of, as long as it behaves
/// alike.
///
/// # Errors
/// If there are more than `max` steps, or if the budget is used up.
pub fn local_run(
    product: &Product,
    rules: &[RuleId],
    role: &Role,
    thread: &LoweredThread,
    max: u64,
    budget: &Budget,
) -> Result<Vec<LocalStep>, NoLocalRun> {
    let mut run = Rebuild { product, role, thread, max, budget, steps: Vec::new() };
    let mut returns: Vec<Symbol> = Vec::new();
    run.silent(thread.entry, role.begin)?;
    for &id in rules {
        let rule = &product.pds.rules[id];
        let origin = match rule.label {
            Made::Rule(origin) => origin,
            Made::Guess => continue,
            Made::End => {
                if let Some(last) = run.steps.last_mut() {
                    last.matched = true;
                }
                continue;
            }
        };
        let (phase, next) = (rule.state.index() as u32, rule.to.index() as u32);
        run.write(origin, phase, phase != next)?;
        let symbol = match thread.pds.rules[origin].rhs {
            Rhs::Step(target) => Some(target),
            Rhs::Push(callee, below) => {
                returns.push(below);
                Some(callee)
            }
            Rhs::Pop => returns.pop(),
        };
        // Nothing follows the last access.
        if let Some(symbol) = symbol
            && (next as usize) < role.phases.len()
        {
            run.silent(symbol, next)?;
        }
    }
    Ok(run.steps)
}

struct Rebuild<'a> {
    product: &'a Product,
    role: &'a Role,
    thread: &'a LoweredThread,
    max: u64,
    budget: &'a Budget,
    steps: Vec<LocalStep>,
}

impl Rebuild<'_> {
    /// The silent steps from a symbol.
    fn silent(&mut self, mut symbol: Symbol, phase: u32) -> Result<(), NoLocalRun> {
        while let Some(rule) = self.product.skeleton.reduced.route(symbol) {
            self.write(rule, phase, false)?;
            let Rhs::Step(target) = self.thread.pds.rules[rule].rhs else {
                unreachable!("silent rules are steps");
            };
            symbol = target;
        }
        Ok(())
    }

    fn write(&mut self, rule: RuleId, phase: u32, matched: bool) -> Result<(), NoLocalRun> {
        self.budget.check().map_err(NoLocalRun::Stopped)?;
        self.steps.push(run_step(self.thread, self.role, rule, phase, matched));
        let steps = self.steps.len() as u64;
        if steps > self.max { Err(NoLocalRun::TooLong(steps)) } else { Ok(()) }
    }
}
