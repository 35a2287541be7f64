//! # Idea
//! Formulas that branch, about one thread of a model or about all of it: from texts to a text.

use crate::load::{Model, Text};
use crate::select;
use selvedge_analysis::{Instance, decide_branching, decide_branching_of, instance};
use selvedge_base::{Budget, Diagnostic};
use selvedge_logic::{BranchingFormula, parse_branching};
use selvedge_program::{ThreadId, Unknown};
use selvedge_report::BranchingEntry;
use selvedge_report::branching_json;
use selvedge_report::describe::count;
use selvedge_report::escape::visible;
use selvedge_report::text::fill;
use std::fmt::Write as _;
use std::time::Duration;

/// Formulas that branch about a model.
#[derive(Clone, Debug)]
pub struct Branching {
    model: Model,
    thread: Option<ThreadId>,
    formulas: Vec<(String, BranchingFormula)>,
    /// Whether the program has fewer threads than the model: a process stands for any number of them, or
    /// starts were cut off.
    cut: bool,
}

/// What came of them.
#[derive(Clone, Debug)]
pub struct BranchingAnswers {
    /// The formulas, and whether they hold.
    pub answers: Vec<(String, Result<bool, Unknown>)>,
    /// The thread that was taken alone.
    pub thread: Option<String>,
    text: Text,
    warnings: Vec<Diagnostic>,
}

impl Branching {
    /// Asks about a model, or about the thread of this name alone.
    ///
    /// # Errors
    /// If a text has mistakes, or there is no such thread: the text, and what is wrong with it.
    pub fn new(
        given: Model,
        texts: Vec<Text>,
        thread: Option<&str>,
    ) -> Result<Self, Vec<(Text, Vec<Diagnostic>)>> {
        // A thread that is taken alone may be a copy.
        let Instance { program, limit } = instance(given.program, &[], 1);
        let cut = limit.is_some() || given.starts_per_site.is_some();
        let model = Model { program, ..given };
        let named = thread.map(|name| vec![name.to_owned()]);
        let thread = match select::threads(&model.program, named.as_deref()) {
            Err(wrong) => return Err(vec![(model.text, wrong)]),
            Ok(found) => named.and(found.first().copied()),
        };
        let mut formulas = Vec::new();
        let mut wrong = Vec::new();
        for text in texts {
            let (formula, complaints) = parse_branching(&text.text, &model.program);
            formulas.extend(formula.map(|formula| (text.text.clone(), formula)));
            if !complaints.is_empty() {
                wrong.push((text, complaints));
            }
        }
        if wrong.is_empty() { Ok(Self { model, thread, formulas, cut }) } else { Err(wrong) }
    }

    /// Decides the formulas.
    pub fn decide(&self, budget: &Budget) -> BranchingAnswers {
        let Self { model, thread, formulas, cut } = self;
        let program = &model.program;
        let decide = |formula: &BranchingFormula| {
            match (thread, cut) {
            (Some(thread), _) => decide_branching_of(program, *thread, formula, budget),
            (None, true) => Err(Unknown::Unsupported(
                "the model has any number of threads, and what is so with some of them need not be so \
                 with more"
                    .to_owned(),
            )),
            (None, false) => decide_branching(program, formula, budget),
        }
        };
        let answers = formulas.iter().map(|(text, formula)| (text.clone(), decide(formula)));
        BranchingAnswers {
            answers: answers.collect(),
            thread: thread.map(|thread| program.threads[thread].name.clone()),
            text: model.text.clone(),
            warnings: model.warnings.clone(),
        }
    }
}

impl BranchingAnswers {
    /// The answers as JSON.
    pub fn json(&self, elapsed: Duration) -> String {
        let entries = self.answers.iter().map(|(formula, answer)| BranchingEntry {
            formula,
            verdict: match answer {
                Ok(true) => "holds",
                Ok(false) => "fails",
                Err(_) => "unknown",
            },
            reason: answer.as_ref().err().map(ToString::to_string),
        });
        let entries: Vec<BranchingEntry<'_>> = entries.collect();
        let thread = self.thread.as_deref();
        branching_json::render(self.text.source(), thread, &entries, elapsed, &self.warnings)
    }

    /// The answers for people, on a screen of this width.
    pub fn render(&self, elapsed: Duration, width: usize) -> String {
        let mut out = String::new();
        let mut counts = [0; 3];
        for (text, answer) in &self.answers {
            let text = visible(text);
            let line = match answer {
                Ok(true) => {
                    counts[0] += 1;
                    format!("holds      {text}")
                }
                Ok(false) => {
                    counts[1] += 1;
                    format!("fails      {text}")
                }
                Err(_) => {
                    counts[2] += 1;
                    format!("unknown    {text}")
                }
            };
            let _ = writeln!(out, "{line}");
            if let Err(why) = answer {
                out.push_str(&fill(&visible(&why.to_string()), width));
            }
        }
        let [good, bad, open] = counts;
        let seconds = elapsed.as_secs_f64();
        let _ = writeln!(
            out,
            "{}: {good} hold, {bad} fail, {open} open, in {seconds:.3} s",
            count(self.answers.len(), "formula")
        );
        if good + bad == 0 {
            return out;
        }
        let covered = match &self.thread {
            Some(thread) => format!(
                "Covered: {} alone, stacks of any depth; every lock is granted to it, whomever it joins has \
                 ended. Nothing is said of the model with its other threads.",
                visible(thread)
            ),
            None => "Covered: all states of the model; a run that ends stays in its last state."
                .to_owned(),
        };
        out.push_str(&fill(&covered, width));
        out
    }
}
