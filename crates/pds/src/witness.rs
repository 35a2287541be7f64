//! # Idea
//! A saturated automaton already contains runs. Read backwards, the reason of a transition says
//! which rule was taken last and which transitions were there before; expanding reasons until only
//! transitions of the input are left gives the rules of a run, in order.
//!
//! In `post*`, let `run(t)` be the rules that make transition `t` (relative to the entry, if `t`
//! leads into a middle node). A path `t₁ … tₙ` that reads a stack top first then stands for
//! `run(tₙ) … run(t₁)`: what lies deeper was finished earlier. In `pre*`, `run(t)` are the rules that
//! take the symbol of `t` off the stack, and the path stands for `run(t₁) … run(tₙ)`.
//!
//! # Source
//! Reps, Schwoon, Jha, Melski, *Weighted pushdown systems and their application to interprocedural
//! dataflow analysis* (2005), section 3.3. Deviation: a work stack instead of recursion, because a
//! run can be as long as memory allows.
//!
//! # Requires
//! The saturation kept its reasons.
//!
//! # Invariants
//! 1. Whatever is on the work stack is expanded into older transitions only, so the work ends.
//! 2. Rules that are emitted or on the work stack are never more than the limit.
//! 3. The budget is asked while a path is read and while it is expanded.

use crate::post_star::PostStar;
use crate::pre_star::PreStar;
use crate::reason::{PostReason, PreReason, Reasons};
use crate::system::{Configuration, Pds, Rhs, RuleId};
use selvedge_base::{Budget, Id, StopReason};

/// A run: where it starts and the rules it takes. [`Pds::replay`] executes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// The first configuration.
    pub start: Configuration,
    /// The rules in order.
    pub rules: Vec<RuleId>,
}

/// Why there is no run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoRun {
    /// The configuration is not in the saturated set.
    NotAccepted,
    /// The run is longer than the caller allows. Runs can be exponentially long in the size of the
    /// system.
    TooLong,
    /// The budget was used up before the run was known.
    Stopped(StopReason),
}

impl From<StopReason> for NoRun {
    fn from(reason: StopReason) -> Self {
        Self::Stopped(reason)
    }
}

/// A run from a configuration of the input of `post*` to `configuration`, with at most `max` rules.
///
/// ```
/// use selvedge_base::Budget;
/// use selvedge_pds::{PAutomaton, Reasons, post_star, run_from_post_star, text};
///
/// let named = text::parse("p a -> q b a\nq b -> p\n").unwrap();
/// let initial = PAutomaton::singleton(named.pds.states, &named.configuration("p a").unwrap());
/// let budget = Budget::new();
/// let reached = post_star(&named.pds, &initial, Reasons::new(), &budget).unwrap();
/// let goal = named.configuration("q b a").unwrap();
/// let run = run_from_post_star(&named.pds, &reached, &goal, 100, &budget).unwrap();
/// assert_eq!(named.pds.replay(&run.start, &run.rules), Ok(goal));
/// ```
///
/// # Errors
/// [`NoRun`] says why there is none.
pub fn run_from_post_star<L>(
    pds: &Pds<L>,
    saturated: &PostStar<Reasons<PostReason>>,
    configuration: &Configuration,
    max: usize,
    budget: &Budget,
) -> Result<Run, NoRun> {
    let path = saturated.automaton.accepting_path(configuration, budget)?;
    let path = path.ok_or(NoRun::NotAccepted)?;
    let mut work = Work::new(max);
    if path.is_empty() {
        // The empty stack: either an input configuration, or the last symbol was popped.
        if let Some(&Some((rule, popped))) = saturated.emptied.get(configuration.state.index()) {
            work.then([Task::Run(popped), Task::Take(rule)])?;
        }
    }
    for &transition in &path {
        // The top comes first and is pushed first, so it is expanded last.
        work.stack.push(Task::Run(transition));
    }
    let rules = work.finish(budget, |work, transition| match saturated.reasons.of(transition) {
        PostReason::Initial | PostReason::Entry => Ok(()),
        PostReason::Step(rule, before) | PostReason::Push(rule, before) => {
            work.then([Task::Run(before), Task::Take(rule)])
        }
        PostReason::Pop(rule, popped, below) => {
            work.then([Task::Run(below), Task::Run(popped), Task::Take(rule)])
        }
    })?;
    let start = undo(pds, configuration, &rules);
    Ok(Run { start, rules })
}

/// A run from `configuration` to a configuration of the input of `pre*`, with at most `max` rules.
///
/// # Errors
/// [`NoRun`] says why there is none.
pub fn run_from_pre_star(
    saturated: &PreStar<Reasons<PreReason>>,
    configuration: &Configuration,
    max: usize,
    budget: &Budget,
) -> Result<Run, NoRun> {
    let path = saturated.automaton.accepting_path(configuration, budget)?;
    let path = path.ok_or(NoRun::NotAccepted)?;
    let mut work = Work::new(max);
    for &transition in path.iter().rev() {
        work.stack.push(Task::Run(transition));
    }
    let rules = work.finish(budget, |work, transition| match saturated.reasons.of(transition) {
        PreReason::Initial => Ok(()),
        PreReason::Pop(rule) => work.then([Task::Take(rule)]),
        PreReason::Step(rule, after) => work.then([Task::Take(rule), Task::Run(after)]),
        PreReason::Push(rule, first, second) => {
            work.then([Task::Take(rule), Task::Run(first), Task::Run(second)])
        }
    })?;
    Ok(Run { start: configuration.clone(), rules })
}

/// How many tasks are done between two looks at the budget.
const POLL_EVERY: u32 = 1024;

/// Something that is still to be done, in the order of the run.
pub(crate) enum Task<T> {
    /// Emit a rule.
    Take(RuleId),
    /// Emit the rules that `T` stands for.
    Run(T),
}

/// The part of the run that is known, and what follows it.
pub(crate) struct Work<T> {
    max: usize,
    /// Rules that are emitted or on the stack.
    taken: usize,
    rules: Vec<RuleId>,
    pub(crate) stack: Vec<Task<T>>,
}

impl<T> Work<T> {
    pub(crate) fn new(max: usize) -> Self {
        Self { max, taken: 0, rules: Vec::new(), stack: Vec::new() }
    }

    /// Does these tasks next, the first one first.
    pub(crate) fn then(
        &mut self,
        tasks: impl IntoIterator<Item = Task<T>, IntoIter: DoubleEndedIterator>,
    ) -> Result<(), NoRun> {
        for task in tasks.into_iter().rev() {
            self.taken += usize::from(matches!(task, Task::Take(_)));
            self.stack.push(task);
        }
        if self.taken > self.max { Err(NoRun::TooLong) } else { Ok(()) }
    }

    /// Expands until nothing is left and returns the rules in the order of the run.
    pub(crate) fn finish<E: From<NoRun>>(
        mut self,
        budget: &Budget,
        mut expand: impl FnMut(&mut Self, T) -> Result<(), E>,
    ) -> Result<Vec<RuleId>, E> {
        let mut done = 0u32;
        while let Some(task) = self.stack.pop() {
            if done.is_multiple_of(POLL_EVERY)
                && let Err(reason) = budget.charge(1 + u64::from(done.min(POLL_EVERY)))
            {
                return Err(NoRun::Stopped(reason).into());
            }
            done = done.wrapping_add(1);
            match task {
                Task::Take(rule) => self.rules.push(rule),
                Task::Run(part) => expand(&mut self, part)?,
            }
        }
        Ok(self.rules)
    }
}

/// The configuration from which `rules` lead to `end`.
pub(crate) fn undo<L>(pds: &Pds<L>, end: &Configuration, rules: &[RuleId]) -> Configuration {
    let mut state = end.state;
    let mut stack: Vec<_> = end.stack.iter().rev().copied().collect();
    for &id in rules.iter().rev() {
        let rule = &pds.rules[id];
        let len = match rule.rhs {
            Rhs::Pop => 0,
            Rhs::Step(_) => 1,
            Rhs::Push(..) => 2,
        };
        debug_assert!(state == rule.to && stack.len() >= len, "the rules are those of a run");
        stack.truncate(stack.len().saturating_sub(len));
        stack.push(rule.symbol);
        state = rule.state;
    }
    stack.reverse();
    Configuration { state, stack }
}
