//! # Idea
//! The answers for people: each violation with its interleaving, then what stayed open and why, a
//! line of numbers, and what exactly a proof covers. What can be reached is one question, whose answer
//! has a form of its own in `reach`.
//!
//! # Invariants
//! 1. Every violation is printed; only interleavings are limited, and the text says how many are
//!    missing.

mod locks;
mod portfolio;
mod reach;
mod temporal;

pub use temporal::render_run;

use crate::answers::{Answers, Asked, Counts, Patterns};
use crate::describe::{self, count, list, parties, restrictions};
use crate::escape::visible;
use crate::fit::{FIXED_BLANK, wrap_lines};
use crate::interleaving::{self, Detail, OwnershipStyle};
use crate::places::located;
use crate::terminal::{Terminal, Tone};
use crate::width::{columns, padded};
use selvedge_base::Place;
use selvedge_program::{Answer, Question, Trace, Units, Verdict};
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
    if let Asked::Reach(about) = &answers.asked {
        reach::render(&mut out, answers, about, options, terminal);
    } else if let Asked::Temporal(formulas) = &answers.asked {
        temporal::render(&mut out, answers, formulas, options, terminal);
    } else {
        if answers.nothing_shared {
            let _ = writeln!(out, "{}", terminal.paint(Tone::Good, describe::NOTHING_SHARED));
        }
        violations(&mut out, answers, options, terminal);
        proofs(&mut out, answers, terminal);
        open_questions(&mut out, answers, terminal);
        summary(&mut out, answers, terminal);
        for restriction in restrictions(answers.program) {
            let _ = writeln!(out, "restricted: {restriction}");
        }
        coverage(&mut out, answers, terminal);
        not_covered(&mut out, answers, terminal);
        left_out(&mut out, answers, terminal);
    }
    if let Some(portfolio) = answers.portfolio {
        portfolio::render(&mut out, answers, portfolio, options, terminal);
    } else if options.statistics {
        statistics(&mut out, answers);
    }
    wrap_lines(&out, terminal.width)
}

fn violations(out: &mut String, answers: &Answers<'_>, options: Options, terminal: Terminal) {
    let found: Vec<(&Answer, &Trace)> = answers
        .answers
        .iter()
        .filter_map(|answer| match &answer.verdict {
            Verdict::Violation(trace) => Some((answer, &**trace)),
            Verdict::Safe | Verdict::Unknown(_) => None,
        })
        .collect();
    let headers = headers(&found, answers, terminal);
    let shown = match options.witnesses {
        Witnesses::Hidden => 0,
        Witnesses::First(limit) => limit.min(found.len()),
    };
    let ownership = match answers.asked {
        Asked::Race | Asked::Deadlock => OwnershipStyle::Bars,
        _ => OwnershipStyle::Remarks,
    };
    for (header, &(answer, trace)) in headers.iter().zip(&found).take(shown) {
        let _ = writeln!(out, "{header}");
        out.push_str(&interleaving::render_with(
            trace,
            &answer.question.threads(),
            answers.program,
            options.detail,
            ownership,
            terminal,
        ));
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

/// One line per violation. Those of patterns come in numbers, so their parts are aligned.
fn headers(found: &[(&Answer, &Trace)], answers: &Answers<'_>, terminal: Terminal) -> Vec<String> {
    let all: Vec<Vec<String>> =
        found.iter().map(|(one, _)| parts(&one.question, answers)).collect();
    let aligned = matches!(answers.asked, Asked::Patterns(..) | Asked::Property(_));
    let width = |part: usize| {
        let widths = all.iter().map(|parts| columns(&parts[part]));
        // One long line must not push the places of all others off the screen.
        widths.filter(|&width| aligned && width <= terminal.width / 2).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..all.first().map_or(0, Vec::len)).map(width).collect();
    let verdict = terminal.paint(Tone::Bad, "violation");
    let header = |(parts, (answer, trace)): (&Vec<String>, &(&Answer, &Trace))| {
        let mut line = verdict.clone();
        for (part, &width) in parts.iter().zip(&widths) {
            let part = padded(part, width);
            // Who takes part stays in one line.
            let is_short = columns(&part) <= terminal.width / 2;
            let part = if is_short { part.replace(' ', &FIXED_BLANK.to_string()) } else { part };
            let _ = write!(line, "  {part}");
        }
        let place = located(answers.source.name, first_place(trace), answers.program);
        format!("{line}  {place}{}", known(answer))
    };
    all.iter().zip(found).map(header).collect()
}

/// How many actions and calls of the components had to be known, if some are approximated.
fn known(answer: &Answer) -> String {
    let Some(refined) = &answer.refined else { return String::new() };
    match (refined.most(), refined.refinements) {
        (None, _) => String::new(),
        (Some(k), 0) => format!("  (k = {k})"),
        (Some(k), refinements) => {
            format!("  (k = {k}, {})", count(refinements as usize, "refinement"))
        }
    }
}

/// What was proved by approximation, with how much of it had to be known.
fn proofs(out: &mut String, answers: &Answers<'_>, terminal: Terminal) {
    let is_one = |answer: &&Answer| answer.verdict == Verdict::Safe && !known(answer).is_empty();
    let proved: Vec<&Answer> = answers.answers.iter().filter(is_one).collect();
    let word = terminal.paint(Tone::Good, "safe");
    for answer in proved.iter().take(PROOFS_SHOWN) {
        let parts = parts(&answer.question, answers).join("  ");
        let _ = writeln!(out, "{word}       {parts}{}", known(answer));
    }
    if proved.len() > PROOFS_SHOWN {
        let rest = proved.len() - PROOFS_SHOWN;
        let _ = writeln!(out, "… and {rest} more (--format json lists all)");
    }
    if !proved.is_empty() {
        out.push('\n');
    }
}

/// How many proofs by approximation are listed.
const PROOFS_SHOWN: usize = 20;

/// A question by its parts: `pattern 12`, its accesses and its threads; what it is about and its
/// threads otherwise. A property has the name of its file: the name in it may be missing.
fn parts(question: &Question, answers: &Answers<'_>) -> Vec<String> {
    let name = match (question, &answers.asked) {
        (Question::Pattern(question), _) => Some(format!("pattern {}", question.pattern.number)),
        (Question::Automaton(_), Asked::Property(file)) => {
            Some(format!("property {}", visible(file)))
        }
        (Question::Automaton(ipa), _) => Some(format!("property {}", visible(&ipa.name))),
        _ => None,
    };
    let asked = describe::asked(question, answers.program);
    name.into_iter().chain([asked, parties(question, answers.program)]).collect()
}

/// Where the first step is that the question asks for.
fn first_place(trace: &Trace) -> Place {
    let matched = || trace.steps.iter().find(|step| step.matched.is_some());
    trace.next.first().or_else(matched).map_or(Place::NONE, |step| step.place)
}

/// Open questions, those with the same reason together.
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
    let word = terminal.paint(Tone::Open, "unknown");
    for (why, open) in &reasons {
        let _ = writeln!(out, "{word}  {}: {why}", count(open.len(), "query"));
        for answer in open.iter().take(OPEN_SHOWN) {
            let _ = writeln!(out, "  {}", parts(&answer.question, answers).join("  "));
        }
        if open.len() > OPEN_SHOWN {
            let rest = open.len() - OPEN_SHOWN;
            let _ = writeln!(out, "  … and {rest} more (--format json lists all)");
        }
    }
    if let Some(why) = answers.unasked {
        let _ = writeln!(out, "{word}  {}", visible(&why.to_string()));
    }
    if !reasons.is_empty() || answers.unasked.is_some() {
        out.push('\n');
    }
}

/// How many open questions are listed per reason.
const OPEN_SHOWN: usize = 5;

fn summary(out: &mut String, answers: &Answers<'_>, terminal: Terminal) {
    let Counts { violations, safe, unknown } = answers.counts();
    let paint = |number: usize, tone: Tone, text: String| {
        if number == 0 { text } else { terminal.paint(tone, text) }
    };
    let what = if answers.asked == Asked::Deadlock { "possible cycle" } else { "query" };
    let _ = writeln!(
        out,
        "{}: {}, {}, {} in {:.3} s",
        count(answers.total(), what),
        paint(violations, Tone::Bad, count(violations, "violation")),
        paint(safe, Tone::Good, format!("{safe} proved safe")),
        paint(unknown, Tone::Open, format!("{unknown} unknown")),
        answers.elapsed.as_secs_f64()
    );
}

/// What a reader may think is covered, and is not, whatever the verdict.
fn not_covered(out: &mut String, answers: &Answers<'_>, terminal: Terminal) {
    if let Some(what) = answers.not_covered() {
        out.push_str(&fill(&format!("Not covered: {what}."), terminal.width));
    }
}

/// What a proof covers, said only where everything was proved.
fn coverage(out: &mut String, answers: &Answers<'_>, terminal: Terminal) {
    if answers.verdict() != "safe" {
        return;
    }
    let safe = terminal.paint(Tone::Good, "safe");
    let waits = "Not covered: waiting for anything but locks and joins, and threads that never release a \
                 lock.";
    if answers.total() == 0 {
        let _ = writeln!(out, "{safe}: there is no question to ask about this program");
        if answers.asked == Asked::Deadlock {
            out.push_str(&fill("Its code suggests no cycle of waits.", terminal.width));
            out.push_str(&fill(waits, terminal.width));
        }
        out.push_str(&restricted(answers, terminal));
        return;
    }
    let counting = if answers.program.restrictions.is_empty() { "" } else { " that count" };
    let _ = writeln!(out, "{safe}: proved for all executions of the model{counting}");
    let mut claims =
        vec!["Covered: any number of context switches, any recursion depth.".to_owned()];
    claims.extend(claim(&answers.asked));
    if let Asked::Patterns(patterns, units) = &answers.asked {
        if *units == Units::Paper {
            claims.push(
                "Covered: also accesses of the other thread that do not lie in one unit \
                 (--units paper)."
                    .to_owned(),
            );
        }
        if let Patterns::All | Patterns::Vaziri = patterns {
            claims.push("Not covered: cycles through three or more units.".to_owned());
        }
    }
    if answers.asked == Asked::Deadlock {
        claims.push(waits.to_owned());
    }
    for claim in claims {
        out.push_str(&fill(&claim, terminal.width));
    }
    out.push_str(&restricted(answers, terminal));
}

/// That only some threads or locations take part, if so.
fn restricted(answers: &Answers<'_>, terminal: Terminal) -> String {
    let restriction = answers.restriction();
    let said = restriction.map(|what| format!("Not covered: anything but {what}."));
    said.map_or_else(String::new, |said| fill(&said, terminal.width))
}

/// What was left out of the program wherever the rest suffices.
fn left_out(out: &mut String, answers: &Answers<'_>, terminal: Terminal) {
    if answers.left_out.is_empty() || answers.total() == 0 {
        return;
    }
    let _ = writeln!(out, "left out where that suffices");
    for what in &answers.left_out {
        out.push_str(&fill(&visible(what), terminal.width));
    }
}

/// What is covered of what was asked.
fn claim(asked: &Asked<'_>) -> Option<String> {
    Some(match asked {
        Asked::Patterns(Patterns::All, _) => "Covered: every conflict cycle of two units of two \
             threads over at most two locations of one atomic set."
            .to_owned(),
        Asked::Patterns(Patterns::Vaziri, _) => "Covered: the 14 patterns of Vaziri et al. only. \
             They find every conflict cycle of two units if every unit that writes one location \
             of an atomic set writes all of them; the 32 patterns of --patterns all need no such \
             condition."
            .to_owned(),
        Asked::Patterns(Patterns::Numbers(numbers), _) => {
            let which = if numbers.len() == 1 { "pattern" } else { "patterns" };
            let numbers = list(numbers.iter());
            format!("Covered: {which} {numbers} only; `selvedge patterns` lists all 32.")
        }
        Asked::Property(name) => {
            format!("Covered: no execution drives {} to its last state.", visible(name))
        }
        Asked::Race => {
            "Covered: two threads about to access one location, at least one of them writing."
                .to_owned()
        }
        Asked::Deadlock => {
            "Covered: threads that wait in a cycle, each for a lock that the next one holds."
                .to_owned()
        }
        Asked::Reach(_) | Asked::Temporal(_) => return None,
    })
}

/// `text` as indented lines of at most `width` columns, broken at blanks.
pub fn fill(text: &str, width: usize) -> String {
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
fn statistics(out: &mut String, answers: &Answers<'_>) {
    let memory = answers.peak_memory.map(|bytes| ("peak-memory-bytes", bytes));
    // How many states each worker has stored in a second.
    let speed = answers.statistics.get("states").zip(answers.statistics.get("workers"));
    let speed = speed.map(|(states, workers)| {
        let micros = (answers.elapsed.as_micros() * u128::from(workers)).max(1);
        let speed = u128::from(states) * 1_000_000 / micros;
        ("states-per-second-and-worker", u64::try_from(speed).unwrap_or(u64::MAX))
    });
    let all = answers.statistics.counts.iter().copied().chain(speed).chain(memory);
    let width = all.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
    let _ = writeln!(out, "\nengine {}", visible(answers.engine));
    for (name, value) in all {
        let _ = writeln!(out, "  {name:width$}  {value:>12}");
    }
}
