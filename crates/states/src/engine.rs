//! # Idea
//! The search as an engine: questions about what can be reached in, verdicts with runs out.
//!
//! # Invariants
//! 1. `safe` is a proof for all executions: the search has ended, and nothing was cut off.
//! 2. A reduction is used only for questions that it preserves.

use crate::program::Code;
use crate::search::{Goal, Reduction, SearchEnd, SearchOptions, StateSearch};
use crate::witness::NoWitness;
use selvedge_base::Budget;
use selvedge_program::{
    Bound, Decision, Engine, Fault, NodeId, Position, Program, Question, Statistics, Target,
    Unknown, Verdict,
};
use std::collections::BTreeSet;

/// How many locks a program may have.
const MOST_LOCKS: usize = 128;

/// Explores the states of a program, transaction by transaction.
#[derive(Debug)]
pub struct Transactions<'p> {
    program: &'p Program,
    options: SearchOptions,
    /// The reduction that was asked for.
    reduction: Option<Reduction>,
    budget: Budget,
    statistics: Statistics,
}

impl<'p> Transactions<'p> {
    /// An engine for a valid program; without a reduction, the one that suits the question.
    pub fn new(
        program: &'p Program,
        options: SearchOptions,
        reduction: Option<Reduction>,
        budget: Budget,
    ) -> Self {
        Self { program, options, reduction, budget, statistics: Statistics::default() }
    }

    /// What is looked for, the nodes that it names, and the reduction that preserves it.
    fn goal(question: &Question) -> Option<(Goal, BTreeSet<NodeId>, Reduction)> {
        let target = match question {
            Question::Reach(target) => target,
            Question::Stuck => {
                return Some((Goal::Deadlock, BTreeSet::new(), Reduction::LeftMovers));
            }
            _ => return None,
        };
        Some(match target {
            Target::Assertion => (Goal::Failure, BTreeSet::new(), Reduction::Transactions),
            Target::Label(nodes) => {
                let nodes: BTreeSet<NodeId> = nodes.iter().copied().collect();
                (Goal::Label(nodes.clone()), nodes, Reduction::Transactions)
            }
            Target::State(pattern) => {
                let named = pattern.threads.iter().flat_map(|position| match position {
                    Position::At(nodes) => &nodes[..],
                    Position::Any | Position::Ended => &[],
                });
                let named = named.copied().collect();
                (Goal::State(pattern.clone()), named, Reduction::None)
            }
        })
    }
}

impl Engine for Transactions<'_> {
    fn decide(
        &mut self,
        question: &Question,
        _widened: &mut dyn FnMut(Bound),
    ) -> Result<Decision, Fault> {
        let unsupported =
            |what: &str| Ok(Verdict::Unknown(Unknown::Unsupported(what.into())).into());
        let Some((goal, named, reduction)) = Self::goal(question) else {
            return unsupported("transactions decides what can be reached");
        };
        if self.program.locks.len() > MOST_LOCKS {
            return unsupported("transactions takes at most 128 locks");
        }
        let code = Code::new(self.program, &named);
        if self.reduction.is_some_and(|asked| asked < reduction) {
            return unsupported("this reduction does not preserve what is asked");
        }
        let reduction = self.reduction.unwrap_or(reduction);
        let options = SearchOptions { reduction, ..self.options };
        let mut search = StateSearch::new(&code, goal, options, self.budget.clone());
        let end = search.run();
        let verdict = match end {
            SearchEnd::Complete => Verdict::Safe,
            SearchEnd::Open(why) => Verdict::Unknown(why),
            SearchEnd::Found(found) => match search.witness(&found) {
                Ok(witness) => Verdict::Violation(witness),
                Err(NoWitness::Unknown(why)) => Verdict::Unknown(why),
                Err(NoWitness::Fault(fault)) => return Err(fault),
            },
        };
        let counts = search.counts();
        self.statistics.add(&Statistics {
            counts: vec![
                ("states", counts.states),
                ("nodes", counts.nodes),
                ("transitions", counts.transitions),
                ("depth", counts.depth),
                ("sweeps", counts.sweeps),
                ("bytes_per_state", counts.bytes_per_state),
            ],
        });
        Ok(verdict.into())
    }

    fn statistics(&self) -> Statistics {
        self.statistics.clone()
    }
}
