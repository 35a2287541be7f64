//! # Idea
//! The answers for people: each violation with its interleaving, then what stayed open and why, a
//! line of numbers, and what exactly a proof covers.
//!
//! # Invariants
//! 1. Every violation is printed; only interleavings are limited, and the text says how many are
//!    missing.

use crate::answers::{Answers, Asked, Counts};
use crate::describe::{asked, count, list, parties};
use crate::escape::visible;
use crate::interleaving::{self, Detail};
use crate::terminal::{Terminal, Tone};
use crate::width::{columns, padded};
use selvedge_base::Place;
use selvedge_program::{Answer, Question, Statistics, Trace, Units, Verdict};
use std::fmt::Write as _;

/// What to print.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Which interleavings.
    pub witnesses: Witnesses,
    /// How much of each interleaving.
    pub detail: Detail,
    /// Whether to print the engine's counts.
    pub statistics: bool,
}

/// Which interleavings to print.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Witnesses {
    /// None, because they were not asked for.
    Hidden,
    /// Those of the first so many violations.
    First(usize),
}

/// Renders the answers.
pub fn render(answers: &Answers<'_>, options: Options, terminal: Terminal) -> String {
    let mut out = String::new();
    violations(&mut out, answers, options, terminal);
    open_questions(&mut out, answers, terminal);
    summary(&mut out, answers, terminal);
    coverage(&mut out, answers, terminal);
    if options.statistics {
        statistics(&mut out, answers.engine, answers.statistics, answers.peak_memory);
    }
    out
}

fn violations(out: &mut String, answers: &Answers<'_>, options: Options, terminal: Terminal) {
    let found: Vec<(&Question, &Trace)> = answers
        .answers
        .iter()
        .filter_map(|answer| match &answer.verdict {
            Verdict::Violation(trace) => Some((&answer.question, trace)),
            Verdict::Safe | Verdict::Unknown(_) => None,
        })
        .collect();
    let headers = headers(&found, answers, terminal);
    let shown = match options.witnesses {
        Witnesses::Hidden => 0,
        Witnesses::First(limit) => limit.min(found.len()),
    };
    for (header, &(query, trace)) in headers.iter().zip(&found).take(shown) {
        let columns = query.threads();
        let _ = writeln!(out, "{header}");
        let program = answers.program;
        out.push_str(&interleaving::render(trace, &columns, program, options.detail, terminal));
        out.push('\n');
    }
    let rest = &headers[shown..];
    if shown > 0 && !rest.is_empty() {
        let _ = writeln!(
            out,
            "{} without interleavings (--max-witnesses {} shows all):",
            count(rest.len(), "more violation"),
            found.len()
        );
    }
    for header in rest {
        let _ = writeln!(out, "{header}");
    }
    if !rest.is_empty() {
        out.push('\n');
    }
}

/// One line per violation, with its parts aligned over all of them.
fn headers(
    found: &[(&Question, &Trace)],
    answers: &Answers<'_>,
    terminal: Terminal,
) -> Vec<String> {
    let parts: Vec<[String; 3]> = found
        .iter()
        .map(|(query, _)| {
            [
                question_name(query, answers),
                asked(query, answers.program),
                parties(query, answers.program),
            ]
        })
        .collect();
    let width = |part: usize| {
        let widths = parts.iter().map(|parts| columns(&parts[part]));
        // One long line must not push the places of all others off the screen.
        widths.filter(|&width| width <= terminal.width / 2).max().unwrap_or(0)
    };
    let (first, second, third) = (width(0), width(1), width(2));
    let verdict = terminal.paint(Tone::Bad, "violation");
    parts
        .iter()
        .zip(found)
        .map(|([name, accesses, parties], (_, trace))| {
            let place = position(answers.source.name, first_match(trace));
            let name = padded(name, first);
            let accesses = padded(accesses, second);
            let parties = padded(parties, third);
            format!("{verdict}  {name}  {accesses}  {parties}  {place}")
        })
        .collect()
}

/// The pattern's number, or the property by its file: the name in it may be missing.
fn question_name(query: &Question, answers: &Answers<'_>) -> String {
    match (query, &answers.question) {
        (Question::Pattern(query), _) => format!("pattern {}", query.pattern.number),
        (Question::Automaton(_), Asked::Property(file)) => format!("property {}", visible(file)),
        (Question::Automaton(ipa), _) => format!("property {}", visible(&ipa.name)),
        _ => String::new(),
    }
}

/// Where the first access that the query asks for is.
fn first_match(trace: &Trace) -> Place {
    let first = trace.steps.iter().find(|step| step.matched.is_some());
    first.map_or(Place::NONE, |step| step.place)
}

fn position(file: &str, place: Place) -> String {
    let file = visible(file);
    if place == Place::NONE { file.into_owned() } else { format!("{file}:{place}") }
}

/// Open queries, those with the same reason together.
fn open_questions(out: &mut String, answers: &Answers<'_>, terminal: Terminal) {
    let mut reasons: Vec<(String, Vec<&Answer>)> = Vec::new();
    for answer in answers.answers {
        let Verdict::Unknown(why) = &answer.verdict else { continue };
        let why = visible(&why.to_string()).into_owned();
        match reasons.iter_mut().find(|(other, _)| *other == why) {
            Some((_, open)) => open.push(answer),
            None => reasons.push((why, vec![answer])),
        }
    }
    for (why, open) in &reasons {
        let verdict = terminal.paint(Tone::Open, "unknown");
        let _ = writeln!(out, "{verdict}  {}: {why}", count(open.len(), "query"));
        for answer in open.iter().take(OPEN_SHOWN) {
            let name = question_name(&answer.question, answers);
            let accesses = asked(&answer.question, answers.program);
            let parties = parties(&answer.question, answers.program);
            let _ = writeln!(out, "  {name}  {accesses}  {parties}");
        }
        if open.len() > OPEN_SHOWN {
            let rest = open.len() - OPEN_SHOWN;
            let _ = writeln!(out, "  … and {rest} more (--format json lists all)");
        }
    }
    if !reasons.is_empty() {
        out.push('\n');
    }
}

/// How many open queries are listed per reason.
const OPEN_SHOWN: usize = 5;

fn summary(out: &mut String, answers: &Answers<'_>, terminal: Terminal) {
    let Counts { violations, safe, unknown } = answers.counts();
    let paint = |number: usize, tone: Tone, text: String| {
        if number == 0 { text } else { terminal.paint(tone, text) }
    };
    let _ = writeln!(
        out,
        "{}: {}, {}, {} in {:.3} s",
        count(answers.total(), "query"),
        paint(violations, Tone::Bad, count(violations, "violation")),
        paint(safe, Tone::Good, format!("{safe} proved safe")),
        paint(unknown, Tone::Open, format!("{unknown} unknown")),
        answers.elapsed.as_secs_f64()
    );
}

/// What a proof covers, said only where everything was proved.
fn coverage(out: &mut String, answers: &Answers<'_>, terminal: Terminal) {
    if answers.verdict() != "safe" {
        return;
    }
    let safe = terminal.paint(Tone::Good, "safe");
    if answers.total() == 0 {
        let _ = writeln!(out, "{safe}: there is no question to ask about this program");
        return;
    }
    let _ = writeln!(out, "{safe}: proved for all executions of the model");
    let mut claims = vec![
        "Covered: any number of context switches, any recursion depth.".to_owned(),
        match &answers.question {
            Asked::AllPatterns => "Covered: every conflict cycle of two units of two threads \
                                      over at most two locations of one atomic set."
                .to_owned(),
            Asked::Vaziri => "Covered: the 14 patterns of Vaziri et al. only. They find every \
                                 conflict cycle of two units if every unit that writes one \
                                 location of an atomic set writes all of them; the 32 patterns \
                                 of --patterns all need no such condition."
                .to_owned(),
            Asked::Patterns(numbers) => {
                let which = if numbers.len() == 1 { "pattern" } else { "patterns" };
                format!(
                    "Covered: {which} {} only; `selvedge patterns` lists all 32.",
                    list(numbers.iter())
                )
            }
            Asked::Property(name) => {
                format!("Covered: no execution drives {} to its last state.", visible(name))
            }
        },
    ];
    if answers.units == Units::Paper {
        claims.push(
            "Covered: also accesses of the other thread that do not lie in one unit \
             (--units paper)."
                .to_owned(),
        );
    }
    if let Asked::AllPatterns | Asked::Vaziri = answers.question {
        claims.push("Not covered: cycles through three or more units.".to_owned());
    }
    if let Some(restriction) = answers.restriction() {
        claims.push(format!("Not covered: anything but {restriction}."));
    }
    for claim in claims {
        out.push_str(&fill(&claim, terminal.width));
    }
}

/// `text` as indented lines of at most `width` columns, broken at blanks.
pub(crate) fn fill(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split(' ') {
        let length = columns(word);
        if column == 0 {
            out.push_str("  ");
            column = 2 + length;
        } else if column + 1 + length > width {
            out.push_str("\n    ");
            column = 4 + length;
        } else {
            out.push(' ');
            column += 1 + length;
        }
        out.push_str(word);
    }
    out.push('\n');
    out
}

/// What the work cost, in counts.
pub(crate) fn statistics(
    out: &mut String,
    engine: &str,
    statistics: &Statistics,
    peak_memory: Option<u64>,
) {
    let memory = peak_memory.map(|bytes| ("peak-memory-bytes", bytes));
    let all = statistics.counts.iter().copied().chain(memory);
    let width = all.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
    let _ = writeln!(out, "\nengine {}", visible(engine));
    for (name, value) in all {
        let _ = writeln!(out, "  {name:width$}  {value:>12}");
    }
}
