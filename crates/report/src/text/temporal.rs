//! # Idea
//! Formulas for people: each with its verdict and how it was found, the run that shows it, and what a
//! proof covers.

use super::{Options, Witnesses, fill};
use crate::answers::{Answers, AskedFormula};
use crate::describe::{count, list};
use crate::escape::visible;
use crate::interleaving::{self, Detail, OwnershipStyle};
use crate::terminal::{Terminal, Tone};
use crate::width::{columns, padded};
use selvedge_program::{
    Answer, PathQuantifier, Program, Question, TemporalQuestion, ThreadId, Trace, Verdict,
};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A run with at most so many steps is shown in full.
const ALL_STEPS: usize = 40;

/// Renders the answers.
pub(super) fn render(
    out: &mut String,
    answers: &Answers<'_>,
    formulas: &[AskedFormula],
    options: Options,
    terminal: Terminal,
) {
    let texts = answers.answers.iter().map(|answer| columns(&shown(answer)));
    let width = texts.filter(|&width| width <= terminal.width / 2).max().unwrap_or(0);
    let mut left = match options.witnesses {
        Witnesses::Hidden => 0,
        Witnesses::First(limit) => limit,
    };
    for (answer, formula) in answers.answers.iter().zip(formulas) {
        let Question::Temporal(temporal) = &answer.question else { continue };
        let word = match answer.is_good() {
            Some(true) => terminal.paint(Tone::Good, padded("holds", 9)),
            Some(false) => terminal.paint(Tone::Bad, padded("fails", 9)),
            None => terminal.paint(Tone::Open, padded("unknown", 9)),
        };
        let how = how(temporal, answer, formula);
        let _ = writeln!(out, "{word}  {}  {how}", padded(&shown(answer), width));
        for line in &formula.explanation {
            out.push_str(&fill(&format!("  {}", visible(line)), terminal.width));
        }
        if let Verdict::Violation(trace) = &answer.verdict
            && left > 0
        {
            left -= 1;
            out.push_str(&render_run(trace, answers.program, options.detail, terminal));
            out.push('\n');
        }
    }
    summary(out, answers, terminal);
}

/// A formula, with its name if it has one.
fn shown(answer: &Answer) -> String {
    match &answer.question {
        Question::Temporal(TemporalQuestion { name: Some(name), text, .. }) => {
            format!("{}: {}", visible(name), visible(text))
        }
        Question::Temporal(temporal) => visible(&temporal.text).into_owned(),
        _ => String::new(),
    }
}

/// How the verdict was found.
fn how(temporal: &TemporalQuestion, answer: &Answer, formula: &AskedFormula) -> String {
    let says = |what: String| match answer.engine {
        "tupling" => format!("decided: {}, {what}", formula.fragment),
        engine => format!("{engine}: {what}"),
    };
    match (&answer.verdict, temporal.quantifier) {
        (Verdict::Violation(trace), PathQuantifier::Some) => {
            says(format!("a run of {}", length(trace)))
        }
        (Verdict::Violation(trace), PathQuantifier::Every) => {
            says(format!("a run on which it is false: {}", length(trace)))
        }
        (Verdict::Safe, PathQuantifier::Some) => says("no run, proved for all runs".to_owned()),
        (Verdict::Safe, PathQuantifier::Every) => says("proved for all runs".to_owned()),
        (Verdict::Unknown(why), _) => {
            format!("{} over several threads: {}", formula.fragment, visible(&why.about_runs()))
        }
    }
}

/// `9 steps, then a loop of 14 steps; T2's stack grows by 1 in each round`.
fn length(trace: &Trace) -> String {
    let Some(repeats) = trace.repeats else {
        return format!("{}, and then anything", count(trace.steps.len(), "step"));
    };
    let before = count(repeats, "step");
    match trace.steps.len() - repeats {
        0 => format!("{before}, then nobody can move"),
        round => format!("{before}, then a loop of {}", count(round, "step")),
    }
}

/// A run that shows what becomes of a formula, with the part that repeats; nothing if there is none.
pub fn render_run(trace: &Trace, program: &Program, detail: Detail, terminal: Terminal) -> String {
    let mut out = String::new();
    if *trace == Trace::default() {
        return out;
    }
    let growth = trace.growth(program).into_iter().map(|(thread, frames)| {
        let name = visible(&program.threads[thread].name).into_owned();
        format!("{name}'s stack grows by {frames} in each round")
    });
    for line in growth {
        let _ = writeln!(out, "  {line}");
    }
    if trace.steps.is_empty() {
        let what = if trace.repeats.is_some() { "nobody can move" } else { "it can be seen" };
        let _ = writeln!(out, "  {what} at first");
        return out;
    }
    // Where threads are matters here, so a run that is not too long is shown with all of its steps.
    let detail = if trace.steps.len() <= ALL_STEPS { Detail::Everything } else { detail };
    let movers: BTreeSet<ThreadId> = trace.steps.iter().map(|step| step.thread).collect();
    out.push_str(&interleaving::render_with(
        trace,
        &movers.into_iter().collect::<Vec<_>>(),
        program,
        detail,
        OwnershipStyle::Bars,
        terminal,
    ));
    if trace.repeats == Some(trace.steps.len()) {
        let _ = writeln!(out, "  then nobody can move");
    }
    out
}

fn summary(out: &mut String, answers: &Answers<'_>, terminal: Terminal) {
    let counts = answers.counts();
    let fair = answers.answers.iter().find_map(|answer| match &answer.question {
        Question::Temporal(temporal) if !temporal.fair.is_empty() => Some(&temporal.fair),
        _ => None,
    });
    let _ = writeln!(
        out,
        "{}: {} hold, {} fail, {} open, in {:.3} s",
        count(answers.answers.len(), "formula"),
        counts.safe,
        counts.violations,
        counts.unknown,
        answers.elapsed.as_secs_f64()
    );
    let runs = match fair {
        None => {
            "Covered: all runs of the model; a thread may stop anywhere, unless that is the end of \
             all."
                .to_owned()
        }
        Some(fair) => {
            let names = list(fair.iter().map(|&id| visible(&answers.program.threads[id].name)));
            let (who, waits) = match fair[..] {
                [_] => (names.clone(), names),
                _ => (format!("each of {names}"), "one of them".to_owned()),
            };
            format!(
                "Covered: runs in which {who} moves infinitely often or ends, and runs that end where \
                 nobody can move. A run in which {waits} waits for ever is not among them."
            )
        }
    };
    if counts.unknown < answers.answers.len() {
        out.push_str(&fill(&runs, terminal.width));
    }
}
