//! # Idea
//! Races and deadlocks for people, in the form of [`crate::text`]: each violation with its
//! interleaving up to the moment, then what stayed open and why, a line of numbers, and what exactly a
//! proof covers.
//!
//! # Invariants
//! 1. Every violation is printed; only interleavings are limited, and the text says how many are
//!    missing.

use crate::answers::Counts;
use crate::describe::{self, count};
use crate::escape::visible;
use crate::interleaving::{self, Ownership};
use crate::meetings::{Analysis, Meetings};
use crate::terminal::{Terminal, Tone};
use crate::text::{Options, Witnesses, fill, statistics};
use selvedge_base::Place;
use selvedge_program::{Program, Question, Trace, Verdict};
use std::fmt::Write as _;

/// How many open questions are listed per reason.
const OPEN_SHOWN: usize = 5;

/// Renders the answers.
pub fn render(meetings: &Meetings<'_>, options: Options, terminal: Terminal) -> String {
    let mut out = String::new();
    violations(&mut out, meetings, options, terminal);
    open_questions(&mut out, meetings, terminal);
    summary(&mut out, meetings, terminal);
    coverage(&mut out, meetings, terminal);
    if options.statistics {
        statistics(&mut out, meetings.engine, meetings.statistics, meetings.peak_memory);
    }
    out
}

fn violations(out: &mut String, meetings: &Meetings<'_>, options: Options, terminal: Terminal) {
    let found: Vec<(&Question, &Trace)> = meetings
        .answers
        .iter()
        .filter_map(|answer| match &answer.verdict {
            Verdict::Violation(trace) => Some((&answer.question, trace)),
            Verdict::Safe | Verdict::Unknown(_) => None,
        })
        .collect();
    let shown = match options.witnesses {
        Witnesses::Hidden => 0,
        Witnesses::First(limit) => limit.min(found.len()),
    };
    let word = terminal.paint(Tone::Bad, "violation");
    let header = |meeting: &Question, trace: &Trace| {
        let place = trace.next.first().map_or(Place::NONE, |step| step.place);
        let file = visible(meetings.source.name);
        let asked = asked(meeting, meetings.program);
        match place {
            Place::NONE => format!("{word}  {asked}  {file}"),
            place => format!("{word}  {asked}  {file}:{place}"),
        }
    };
    for &(meeting, trace) in &found[..shown] {
        let _ = writeln!(out, "{}", header(meeting, trace));
        out.push_str(&interleaving::render_with(
            trace,
            &meeting.threads(),
            meetings.program,
            options.detail,
            Ownership::Bars,
            terminal,
        ));
        out.push('\n');
    }
    let rest = &found[shown..];
    if shown > 0 && !rest.is_empty() {
        let more = count(rest.len(), "more violation");
        let all = found.len();
        let _ = writeln!(out, "{more} without interleavings (--max-witnesses {all} shows all):");
    }
    for &(meeting, trace) in rest {
        let _ = writeln!(out, "{}", header(meeting, trace));
    }
    if !rest.is_empty() {
        out.push('\n');
    }
}

/// What a question asks: `race on count  T1 vs T2`, `deadlock  T1 -> T2 over a, b`.
fn asked(meeting: &Question, program: &Program) -> String {
    format!("{}  {}", describe::asked(meeting, program), describe::parties(meeting, program))
}

/// Open questions, those with the same reason together.
fn open_questions(out: &mut String, meetings: &Meetings<'_>, terminal: Terminal) {
    let mut reasons: Vec<(String, Vec<&Question>)> = Vec::new();
    for answer in meetings.answers {
        let Verdict::Unknown(why) = &answer.verdict else { continue };
        let why = visible(&why.to_string()).into_owned();
        match reasons.iter_mut().find(|(other, _)| *other == why) {
            Some((_, open)) => open.push(&answer.question),
            None => reasons.push((why, vec![&answer.question])),
        }
    }
    let word = terminal.paint(Tone::Open, "unknown");
    for (why, open) in &reasons {
        let _ = writeln!(out, "{word}  {}: {why}", count(open.len(), "query"));
        for meeting in open.iter().take(OPEN_SHOWN) {
            let _ = writeln!(out, "  {}", asked(meeting, meetings.program));
        }
        if open.len() > OPEN_SHOWN {
            let rest = open.len() - OPEN_SHOWN;
            let _ = writeln!(out, "  … and {rest} more (--format json lists all)");
        }
    }
    if let Some(why) = meetings.unasked {
        let _ = writeln!(out, "{word}  {}", visible(&why.to_string()));
    }
    if !reasons.is_empty() || meetings.unasked.is_some() {
        out.push('\n');
    }
}

fn summary(out: &mut String, meetings: &Meetings<'_>, terminal: Terminal) {
    let Counts { violations, safe, unknown } = meetings.counts();
    let paint = |number: usize, tone: Tone, text: String| {
        if number == 0 { text } else { terminal.paint(tone, text) }
    };
    let asked = match meetings.analysis {
        Analysis::Race => count(meetings.answers.len(), "query"),
        Analysis::Deadlock => count(meetings.answers.len(), "possible cycle"),
    };
    let _ = writeln!(
        out,
        "{asked}: {}, {}, {} in {:.3} s",
        paint(violations, Tone::Bad, count(violations, "violation")),
        paint(safe, Tone::Good, format!("{safe} proved safe")),
        paint(unknown, Tone::Open, format!("{unknown} unknown")),
        meetings.elapsed.as_secs_f64()
    );
}

/// What a proof covers, said only where everything was proved.
fn coverage(out: &mut String, meetings: &Meetings<'_>, terminal: Terminal) {
    if meetings.verdict() != "safe" {
        return;
    }
    let safe = terminal.paint(Tone::Good, "safe");
    if meetings.answers.is_empty() && meetings.analysis == Analysis::Race {
        let _ = writeln!(out, "{safe}: there is no question to ask about this program");
        return;
    }
    let _ = writeln!(out, "{safe}: proved for all executions of the model");
    let mut claims = vec![
        "Covered: any number of context switches, any recursion depth.".to_owned(),
        match meetings.analysis {
            Analysis::Race => "Covered: two threads about to access one location, at least one of \
                               them writing."
                .to_owned(),
            Analysis::Deadlock => {
                "Covered: threads that wait in a cycle, each for a lock that the \
                                   next one holds."
                    .to_owned()
            }
        },
    ];
    if meetings.analysis == Analysis::Deadlock {
        claims.push(
            "Not covered: waiting for anything but locks and joins, and threads that never release a lock."
                .to_owned(),
        );
    }
    if let Some(restriction) = meetings.restriction() {
        claims.push(format!("Not covered: anything but {restriction}."));
    }
    for claim in claims {
        out.push_str(&fill(&claim, terminal.width));
    }
}
