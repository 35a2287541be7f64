//! # Idea
//! The answer for people: the run to the target context by context, or how far the proof goes; then
//! what exactly it covers.

use super::{Options, Witnesses, fill, locks};
use crate::answers::{Answers, Projection, Reach, Sought};
use crate::describe::count;
use crate::escape::visible;
use crate::interleaving::run;
use crate::places::{located, other_file};
use crate::statement;
use crate::terminal::{Terminal, Tone};
use selvedge_base::Place;
use selvedge_findings::{Ending, reason};
use selvedge_program::{Measure, Proof, States, Trace, Unknown, Verdict};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The engine that bounds nothing.
const TRANSACTIONS: &str = "transactions";
/// The engines without a bound on rounds or contexts.
const UNBOUNDED: [&str; 2] = [TRANSACTIONS, "cpds"];

/// Renders the answer.
pub(super) fn render(
    out: &mut String,
    answers: &Answers<'_>,
    about: &Reach<'_>,
    options: Options,
    terminal: Terminal,
) {
    let Some(answer) = answers.answers.first() else { return };
    if let Verdict::Violation(trace) = &answer.verdict {
        violation(out, answers, about.sought, trace, options, terminal);
    }
    if let Some(searched) = &answer.searched {
        if let Some(rows) = &searched.protection {
            locks::render(out, rows, answers.program, terminal);
        }
        if let Some(variable) = about.why {
            let why = searched.why.as_ref();
            locks::render_why(out, answers, variable, why, options.detail, terminal);
        }
    }
    if about.show_states {
        states(out, answers, answers.bound(about.measure).measure);
    }
    if let Some(projected) = about.projection {
        projection(out, answers, projected, terminal);
    }
    if let Some(why) = answers.chosen {
        let _ = writeln!(out, "engine {}: {why}", visible(answers.engine));
    }
    verdict(out, answers, about, &answer.verdict, terminal);
}

fn violation(
    out: &mut String,
    answers: &Answers<'_>,
    sought: Sought<'_>,
    trace: &Trace,
    options: Options,
    terminal: Terminal,
) {
    let word = terminal.paint(Tone::Bad, "violation");
    let what = match sought {
        Sought::Assertions => visible(&reason::failure(answers.program, trace)).into_owned(),
        Sought::Label(label) => format!("label {} is reached", visible(label)),
        Sought::State(state) => format!("state {} is reached", visible(state)),
        Sought::Deadlocks => "dead end: no thread can move".to_owned(),
        Sought::States => "a state is reached".to_owned(),
    };
    let waiting = trace.next.iter().find(|step| step.waits_for.is_some());
    let last = match waiting {
        Some(step) => step.place,
        None => Ending::new(answers.program, &answers.answers[0].question, trace).place,
    };
    let at = located(answers.source.name, last, answers.program);
    let bounds = format!(
        "{} in {}",
        Measure::Contexts.count(trace.contexts()),
        Measure::Rounds.count(trace.rounds())
    );
    let _ = writeln!(out, "{word}  {what}  {bounds}  {at}");
    if options.witnesses != Witnesses::Hidden {
        out.push_str(&run::render_from_first(trace, answers.program, options.detail, terminal));
    }
    out.push('\n');
}

fn states(out: &mut String, answers: &Answers<'_>, measure: Measure) {
    for level in answers.levels() {
        let within = measure.count(level.limit);
        if answers.engine == TRANSACTIONS {
            let _ = writeln!(out, "{}", number(level.shared, "shared state"));
            continue;
        }
        let _ = match level.visible {
            Some(visible) => writeln!(
                out,
                "within {within:>12}: {}, {}",
                number(u128::from(visible), "visible state"),
                number(level.shared, "shared state")
            ),
            None => {
                writeln!(out, "within {within:>12}: {}", number(level.shared, "shared state"))
            }
        };
    }
    match answers.listed() {
        None => {}
        Some(States::Shared { others, states: all }) => {
            for state in all {
                let text =
                    statement::joined(&statement::shared_state(answers.program, others, state));
                let _ = writeln!(out, "  {}", visible(&text));
            }
            omitted(out, all.len() as u128, answers.levels().last().map(|last| last.shared));
        }
        Some(States::Visible(all)) => {
            for state in all {
                let text = statement::visible_text(answers.program, state);
                let _ = writeln!(out, "  {}", visible(&text));
            }
            let of = answers.levels().last().and_then(|last| last.visible);
            omitted(out, all.len() as u128, of.map(u128::from));
        }
    }
    if !answers.levels().is_empty() || answers.listed().is_some() {
        out.push('\n');
    }
}

fn number(count: u128, singular: &str) -> String {
    if count == 1 { format!("1 {singular}") } else { format!("{count} {singular}s") }
}

fn omitted(out: &mut String, listed: u128, of: Option<u128>) {
    if let Some(of) = of.filter(|&of| of > listed) {
        let _ = writeln!(out, "  … and {} more", of - listed);
    }
}

/// The places on runs to the target, by thread and procedure.
fn projection(out: &mut String, answers: &Answers<'_>, projected: &Projection, terminal: Terminal) {
    let program = answers.program;
    let nodes = &projected.nodes;
    let heading = format!(
        "{} of {} lie on a run to the target within {}",
        nodes.len(),
        count(program.nodes.len(), "node"),
        Measure::Rounds.count(projected.rounds)
    );
    let _ = writeln!(out, "{}", terminal.paint(Tone::Heading, heading));
    for id in program.procedures.ids() {
        let own =
            |node: selvedge_program::NodeId| program.nodes[node] == id && nodes.contains(&node);
        let places = program.edges.iter().filter(|edge| own(edge.source)).map(|edge| edge.place);
        let places: BTreeSet<Place> = places.collect();
        let places: Vec<Place> = places.into_iter().collect();
        let qualified = program.qualified_name(id);
        let name = visible(&qualified);
        for same_file in places.chunk_by(|one, other| one.file == other.file) {
            let file = other_file(same_file[0], program);
            let file = file.map_or(String::new(), |file| format!(" in {}", visible(file)));
            for (what, numbers) in [
                ("lines", numbers(same_file, Place::line)),
                ("offsets", numbers(same_file, Place::offset)),
            ] {
                if !numbers.is_empty() {
                    let text = format!("{name}{file}: {what} {numbers}");
                    out.push_str(&fill(&text, terminal.width));
                }
            }
        }
    }
    out.push('\n');
}

/// The different lines or offsets of places, in order.
fn numbers(places: &[Place], number: impl Fn(Place) -> Option<u32>) -> String {
    let numbers: BTreeSet<u32> = places.iter().filter_map(|&place| number(place)).collect();
    let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
    numbers.join(" ")
}

fn verdict(
    out: &mut String,
    answers: &Answers<'_>,
    about: &Reach<'_>,
    verdict: &Verdict<Box<Trace>>,
    terminal: Terminal,
) {
    let seconds = answers.elapsed.as_secs_f64();
    let bound = answers.bound(about.measure);
    let within = bound.measure.count(bound.limit);
    match verdict {
        Verdict::Violation(_) => {
            let word = terminal.paint(Tone::Bad, "violation");
            let _ = if UNBOUNDED.contains(&answers.engine) {
                let known = answers.answers.first().map_or(String::new(), super::known);
                writeln!(out, "{word}: found in {seconds:.3} s{known}")
            } else {
                writeln!(out, "{word}: found within {within}, and with no fewer, in {seconds:.3} s")
            };
        }
        Verdict::Unknown(why) => {
            let word = terminal.paint(Tone::Open, "unknown");
            let reason = match (why, about.sought) {
                (Unknown::Within(bound), Sought::States) => {
                    format!("these are the states within {}", bound.measure.count(bound.limit))
                }
                _ => visible(&why.to_string()).into_owned(),
            };
            let _ = writeln!(out, "{word}: {reason}, in {seconds:.3} s");
            uncovered(out, answers, about, why, terminal);
        }
        Verdict::Safe => {
            let word = terminal.paint(Tone::Good, "safe");
            let what = match about.sought {
                Sought::Assertions => "no assertion fails",
                Sought::Label(_) => "the label is not reached",
                Sought::State(_) => "the state is not reached",
                Sought::Deadlocks => "there is no dead end",
                Sought::States => "no other state is reached",
            };
            let known = answers.answers.first().map_or(String::new(), super::known);
            let _ = writeln!(
                out,
                "{word}: {what} in any execution of the model, in {seconds:.3} s{known}"
            );
            covered(out, answers, about, terminal);
        }
    }
}

fn covered(out: &mut String, answers: &Answers<'_>, about: &Reach<'_>, terminal: Terminal) {
    let bound = answers.bound(about.measure);
    let within = bound.measure.count(bound.limit);
    let claim = match answers.proof() {
        None if UNBOUNDED.contains(&answers.engine) => {
            "Covered: all executions, any number of contexts and rounds.".to_owned()
        }
        None => "Covered: the program has no assertion that could fail.".to_owned(),
        Some(Proof::Fixpoint) => format!(
            "Covered: any number of contexts and rounds; nothing new is reached after {within}."
        ),
        Some(Proof::Generators) => format!(
            "Covered: any number of contexts and rounds; no other shared state with tops of stacks \
             is reached after {within}, because no return can uncover one, however deep the stacks \
             grow."
        ),
    };
    out.push_str(&fill(&claim, terminal.width));
}

fn uncovered(
    out: &mut String,
    answers: &Answers<'_>,
    about: &Reach<'_>,
    why: &Unknown,
    terminal: Terminal,
) {
    let bound = answers.bound(about.measure);
    let claims: &[&str] = match (why, bound.measure) {
        (Unknown::Within(_), Measure::Rounds) => &[
            "Covered: all schedules in which every thread runs at most once per round, in the \
             order of the threads; any recursion depth.",
            "Not covered: schedules that need more rounds.",
        ],
        (Unknown::Within(_), Measure::Contexts) => &[
            "Covered: all schedules with so many contexts, in any order; any recursion depth.",
            "Not covered: schedules with more contexts.",
        ],
        (Unknown::Starts(_), _) => &[
            "Covered: all executions in which no start site starts more threads than that.",
            "Not covered: executions that start more.",
        ],
        _ => &[],
    };
    for claim in claims {
        out.push_str(&fill(claim, terminal.width));
    }
    // A limit was met: what was explored before it is covered.
    if claims.is_empty() && bound.limit > 0 {
        let within = bound.measure.count(bound.limit);
        out.push_str(&fill(&format!("Covered: everything within {within}."), terminal.width));
    }
    let searched = answers.answers.first().and_then(|answer| answer.searched.as_ref());
    let was_stopped = claims.is_empty() && !matches!(why, Unknown::Copies(_));
    if let Some(searched) = searched.filter(|_| was_stopped) {
        let claim = format!(
            "Covered: {} stored, {} of them not expanded yet, at most {} deep.",
            number(u128::from(searched.stored), "state"),
            searched.waiting,
            number(u128::from(searched.depth), "transaction"),
        );
        out.push_str(&fill(&claim, terminal.width));
    }
    if let (Some(starts), false) = (about.starts_per_site, matches!(why, Unknown::Starts(_))) {
        let claim =
            format!("Not covered: more than {} at one site.", number(starts.into(), "start"));
        out.push_str(&fill(&claim, terminal.width));
    }
}
