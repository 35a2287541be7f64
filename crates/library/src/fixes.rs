//! # Idea
//! The engines behind the search for fixes: a changed program is one about which questions are asked
//! like about any other. It is prepared once for all of them, and what is known of the program itself
//! from the questions about it is not asked again.

use selvedge_analysis::{InternalError, Options, Prepared, answer, answer_deadlocks};
use selvedge_base::Budget;
use selvedge_findings::fix::{self, LARGEST};
use selvedge_findings::{Fix, Group};
use selvedge_program::{Answer, Deadlock, Program, Question, Unknown, Verdict};
use std::collections::BTreeSet;

/// The deadlocks that can happen; `None` if that is not known.
pub(crate) type Deadlocks = Option<BTreeSet<Deadlock>>;

/// Looks for fixes of one program's findings.
pub(crate) struct Fixer<'a> {
    program: &'a Program,
    options: &'a Options,
    budget: &'a Budget,
    /// Those that the program has already.
    before: Deadlocks,
}

impl<'a> Fixer<'a> {
    /// A fixer for the findings of `program`, of which the deadlocks may have been asked about.
    ///
    /// # Errors
    /// If an engine contradicts itself.
    pub fn new(
        prepared: &Prepared<'a>,
        before: Option<Deadlocks>,
        options: &'a Options,
        budget: &'a Budget,
    ) -> Result<Self, InternalError> {
        let program = prepared.program;
        let before = match before {
            _ if program.edges.len() > LARGEST => None,
            Some(before) => before,
            None => deadlocks(prepared, options, budget)?,
        };
        Ok(Self { program, options, budget, before })
    }

    /// A fix for the finding, if one of the usual ones works.
    ///
    /// # Errors
    /// If an engine contradicts itself.
    pub fn find(&self, group: &Group) -> Result<Option<Fix>, InternalError> {
        let Some(before) = &self.before else { return Ok(None) };
        let Self { options, budget, .. } = *self;
        // To make changed programs takes time, too.
        if budget.poll().is_some() {
            return Ok(None);
        }
        fix::find(self.program, group, |changed, questions| {
            let changed = Prepared::new(changed);
            let report = answer(&changed, questions, options, budget, &mut |_| {})?;
            let gone = report.answers.iter().all(|answer| answer.verdict == Verdict::Safe);
            let after = if gone { deadlocks(&changed, options, budget)? } else { None };
            Ok(after.is_some_and(|after| after.is_subset(before)))
        })
    }
}

/// The deadlocks of a program.
pub(crate) fn deadlocks(
    prepared: &Prepared<'_>,
    options: &Options,
    budget: &Budget,
) -> Result<Deadlocks, InternalError> {
    let threads: Vec<_> = prepared.program.threads.ids().collect();
    let known = Vec::new();
    let all = answer_deadlocks(prepared, &threads, known, options, budget, &mut |_| {})?;
    Ok(deadlocks_among(&all.report.answers, all.unasked.as_ref()))
}

/// The deadlocks that these answers to all questions about them show.
pub(crate) fn deadlocks_among(answers: &[Answer], unasked: Option<&Unknown>) -> Deadlocks {
    let mut found = BTreeSet::new();
    for answer in answers {
        match (&answer.question, &answer.verdict) {
            (Question::Deadlock(deadlock), Verdict::Violation(_)) => {
                found.insert(deadlock.clone());
            }
            (_, Verdict::Unknown(_)) => return None,
            _ => {}
        }
    }
    unasked.is_none().then_some(found)
}
