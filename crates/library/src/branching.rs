//! # Idea
//! Formulas that branch, about one thread of a model or about all of it: from texts to a text.

use crate::load::{Model, Text};
use crate::select;
use crate::show::Shows;
use selvedge_analysis::{
    BranchingAnswer, Evidence, Instance, InternalError, NoEvidence, decide_branching,
    decide_branching_of, instance,
};
use selvedge_base::{Budget, Diagnostic};
use selvedge_logic::{BranchingFormula, parse_branching};
use selvedge_program::{Program, ThreadId, Unknown};
use selvedge_report::describe::count;
use selvedge_report::escape::visible;
use selvedge_report::text::{fill, render_run};
use selvedge_report::{BranchingEntry, BranchingRun, Detail, Terminal, branching_json, wrap_lines};
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
    /// The formulas, whether they hold, and what shows it.
    pub answers: Vec<(String, Result<BranchingAnswer, Unknown>)>,
    /// The thread that was taken alone.
    pub thread: Option<String>,
    program: Program,
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

    /// The program that is asked about.
    pub fn program(&self) -> &Program {
        &self.model.program
    }

    /// Decides the formulas.
    ///
    /// # Errors
    /// If a run that is to show an answer does not replay.
    pub fn decide(&self, budget: &Budget) -> Result<BranchingAnswers, InternalError> {
        let Self { model, thread, formulas, cut } = self;
        let program = &model.program;
        let decide = |formula: &BranchingFormula| {
            match (thread, cut) {
            (Some(thread), _) => {
                let holds = decide_branching_of(program, *thread, formula, budget);
                let alone = |holds| BranchingAnswer { holds, evidence: Err(NoEvidence::Alone) };
                Ok(holds.map(alone))
            }
            (None, true) => Ok(Err(Unknown::Unsupported(
                "the model has any number of threads, and what is so with some of them need not be so \
                 with more"
                    .to_owned(),
            ))),
            (None, false) => decide_branching(program, formula, budget),
        }
        };
        let mut answers = Vec::new();
        for (text, formula) in formulas {
            answers.push((text.clone(), decide(formula)?));
        }
        Ok(BranchingAnswers {
            answers,
            thread: thread.map(|thread| program.threads[thread].name.clone()),
            program: program.clone(),
            text: model.text.clone(),
            warnings: model.warnings.clone(),
        })
    }
}

impl BranchingAnswers {
    /// Evaluates expressions along the runs.
    pub fn show(&mut self, shows: &Shows, budget: &Budget) {
        for (_, answer) in &mut self.answers {
            if let Ok(BranchingAnswer { evidence: Ok(evidence), .. }) = answer {
                shows.evaluate(&self.program, &mut evidence.trace, budget);
            }
        }
    }

    /// The answers as JSON.
    pub fn json(&self, elapsed: Duration) -> String {
        let entries = self.answers.iter().map(|(formula, answer)| BranchingEntry {
            formula,
            verdict: word(answer),
            reason: answer.as_ref().err().map(ToString::to_string),
            run: match answer.as_ref().map(|answer| &answer.evidence) {
                Ok(Ok(evidence)) => Some(run(evidence)),
                _ => None,
            },
            no_run: match answer.as_ref().map(|answer| &answer.evidence) {
                Ok(Err(why)) => Some(self.no_run(why)),
                _ => None,
            },
        });
        let entries: Vec<BranchingEntry<'_>> = entries.collect();
        let (thread, warnings) = (self.thread.as_deref(), &self.warnings);
        let source = self.text.source();
        branching_json::render(source, &self.program, thread, &entries, elapsed, warnings)
    }

    /// Why there is no run to show.
    fn no_run(&self, why: &NoEvidence) -> String {
        match why {
            NoEvidence::Now => "the first state decides it".to_owned(),
            NoEvidence::Tree => "it is about more than one run".to_owned(),
            NoEvidence::States(number) => {
                format!(
                    "the model begins in any of {number} states, and each needs a run of its own"
                )
            }
            NoEvidence::Alone => {
                let thread = self.thread.as_deref().unwrap_or("the thread");
                format!("a run of {thread} alone need not be one of the model")
            }
            NoEvidence::Limit(why) => why.to_string(),
        }
    }

    /// What shows an answer.
    fn evidence(&self, answer: &BranchingAnswer, terminal: Terminal) -> String {
        let line = |text: String| fill(&visible(&text), terminal.width);
        let evidence = match &answer.evidence {
            Ok(evidence) => evidence,
            Err(why) => return line(format!("no run to show: {}", self.no_run(why))),
        };
        let mut out = render_run(&evidence.trace, &self.program, Detail::Events, terminal);
        let BranchingRun { last, aside, .. } = run(evidence);
        match last {
            Some((last, false)) => out.push_str(&line(format!("at the end: {last}"))),
            Some((last, true)) => {
                out.push_str(&line(format!("at the end: {last}, which no single run shows")));
            }
            None => {}
        }
        if !aside.is_empty() {
            let aside = aside.join(", ");
            out.push_str(&line(format!("along it: {aside}, which other runs show")));
        }
        out.push('\n');
        out
    }

    /// The answers for people.
    pub fn render(&self, elapsed: Duration, terminal: Terminal) -> String {
        let width = terminal.width;
        let mut out = String::new();
        let mut counts = [0; 3];
        for (text, answer) in &self.answers {
            let _ = writeln!(out, "{:<9}  {}", word(answer), visible(text));
            match answer {
                Ok(answer) => {
                    counts[usize::from(!answer.holds)] += 1;
                    out.push_str(&self.evidence(answer, terminal));
                }
                Err(why) => {
                    counts[2] += 1;
                    out.push_str(&fill(&visible(&why.to_string()), width));
                }
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
            return wrap_lines(&out, width);
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
        wrap_lines(&out, width)
    }
}

/// The word for an answer.
fn word(answer: &Result<BranchingAnswer, Unknown>) -> &'static str {
    match answer {
        Ok(answer) if answer.holds => "holds",
        Ok(_) => "fails",
        Err(_) => "unknown",
    }
}

/// A run as reports need it.
fn run(evidence: &Evidence) -> BranchingRun<'_> {
    let Evidence { question, trace, last, remains, aside } = evidence;
    BranchingRun { question, trace, last: last.as_deref().map(|last| (last, *remains)), aside }
}
