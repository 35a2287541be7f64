//! # Idea
//! The answer for people: the run to the target context by context, or how far the proof goes; then
//! what exactly it covers.

use crate::describe::count;
use crate::escape::visible;
use crate::interleaving::Detail;
use crate::reach::{Projection, Reach, Sought, rows, words};
use crate::terminal::{Terminal, Tone};
use crate::text::{fill, statistics};
use selvedge_base::Place;
use selvedge_program::{Measure, Proof, States, Trace, Unknown, Verdict};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What to show.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether to show the run.
    pub witness: bool,
    /// How much of it.
    pub detail: Detail,
    /// Whether to show what the work cost.
    pub statistics: bool,
}

/// Renders the answer.
pub fn render(reach: &Reach<'_>, options: Options, terminal: Terminal) -> String {
    let mut out = String::new();
    if let Verdict::Violation(run) = &reach.answer.verdict {
        violation(&mut out, reach, run, options, terminal);
    }
    if reach.show_states {
        states(&mut out, reach);
    }
    if let Some(projected) = reach.projection {
        projection(&mut out, reach, projected, terminal);
    }
    engine(&mut out, reach);
    verdict(&mut out, reach, terminal);
    if options.statistics {
        statistics(&mut out, reach.answer.engine, reach.statistics, reach.peak_memory);
    }
    out
}

fn violation(
    out: &mut String,
    reach: &Reach<'_>,
    run: &Trace,
    options: Options,
    terminal: Terminal,
) {
    let word = terminal.paint(Tone::Bad, "violation");
    let what = match &reach.question {
        Sought::Assertions => "an assertion fails".to_owned(),
        Sought::Label(label) => format!("label {} is reached", visible(label)),
        Sought::State(state) => format!("state {} is reached", visible(state)),
        Sought::States => "a state is reached".to_owned(),
    };
    let place = run.steps.last().map_or(Place::NONE, |step| step.place);
    let file = visible(reach.source.name);
    let at = if place == Place::NONE { file.into_owned() } else { format!("{file}:{place}") };
    let bounds = format!(
        "{} in {}",
        Measure::Contexts.count(run.contexts()),
        Measure::Rounds.count(run.rounds())
    );
    let _ = writeln!(out, "{word}  {what}  {bounds}  {at}");
    if options.witness {
        if !reach.program.globals.is_empty() {
            let first = words::shared_text(reach.program, &run.globals);
            out.push_str(&fill(&format!("at first  {}", visible(&first)), terminal.width));
        }
        out.push_str(&rows::render(run, reach.program, options.detail, terminal));
    }
    out.push('\n');
}

fn states(out: &mut String, reach: &Reach<'_>) {
    let measure = reach.measure;
    for level in reach.levels() {
        let within = measure.count(level.limit);
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
    match reach.listed() {
        None => {}
        Some(States::Shared { locks, states: all }) => {
            for state in all {
                let text = words::joined(&words::shared_state(reach.program, locks, state));
                let _ = writeln!(out, "  {}", visible(&text));
            }
            omitted(out, all.len() as u128, reach.levels().last().map(|last| last.shared));
        }
        Some(States::Visible(all)) => {
            for state in all {
                let text = words::visible_text(reach.program, state);
                let _ = writeln!(out, "  {}", visible(&text));
            }
            let of = reach.levels().last().and_then(|last| last.visible);
            omitted(out, all.len() as u128, of.map(u128::from));
        }
    }
    if !reach.levels().is_empty() || reach.listed().is_some() {
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
fn projection(out: &mut String, reach: &Reach<'_>, projected: &Projection, terminal: Terminal) {
    let program = reach.program;
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
        let lines: BTreeSet<u32> = program
            .edges
            .iter()
            .filter(|edge| own(edge.source) && edge.place != Place::NONE)
            .map(|edge| edge.place.line)
            .collect();
        if lines.is_empty() {
            continue;
        }
        let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
        let qualified = program.qualified_name(id);
        let name = visible(&qualified);
        out.push_str(&fill(&format!("{name}: lines {}", lines.join(" ")), terminal.width));
    }
    out.push('\n');
}

fn engine(out: &mut String, reach: &Reach<'_>) {
    if let Some(why) = reach.chosen {
        let _ = writeln!(out, "engine {}: {why}", visible(reach.answer.engine));
    }
}

fn verdict(out: &mut String, reach: &Reach<'_>, terminal: Terminal) {
    let seconds = reach.elapsed.as_secs_f64();
    let bound = reach.bound();
    let within = bound.measure.count(bound.limit);
    match &reach.answer.verdict {
        Verdict::Violation(_) => {
            let word = terminal.paint(Tone::Bad, "violation");
            let _ = writeln!(
                out,
                "{word}: found within {within}, and with no fewer, in {seconds:.3} s"
            );
        }
        Verdict::Unknown(why) => {
            let word = terminal.paint(Tone::Open, "unknown");
            let why = match (why, &reach.question) {
                (Unknown::Within(bound), Sought::States) => {
                    format!("these are the states within {}", bound.measure.count(bound.limit))
                }
                _ => visible(&why.to_string()).into_owned(),
            };
            let _ = writeln!(out, "{word}: {why}, in {seconds:.3} s");
            uncovered(out, reach, terminal);
        }
        Verdict::Safe => {
            let word = terminal.paint(Tone::Good, "safe");
            let what = match reach.question {
                Sought::Assertions => "no assertion fails",
                Sought::Label(_) => "the label is not reached",
                Sought::State(_) => "the state is not reached",
                Sought::States => "no other state is reached",
            };
            let _ =
                writeln!(out, "{word}: {what} in any execution of the model, in {seconds:.3} s");
            covered(out, reach, terminal);
        }
    }
}

fn covered(out: &mut String, reach: &Reach<'_>, terminal: Terminal) {
    let within = reach.measure.count(reach.bound().limit);
    let claim = match reach.proof() {
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

fn uncovered(out: &mut String, reach: &Reach<'_>, terminal: Terminal) {
    let Verdict::Unknown(why) = &reach.answer.verdict else { return };
    let claims: &[&str] = match (why, reach.measure) {
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
    let bound = reach.bound();
    if claims.is_empty() && bound.limit > 0 {
        let within = bound.measure.count(bound.limit);
        out.push_str(&fill(&format!("Covered: everything within {within}."), terminal.width));
    }
    if let (Some(starts), false) = (reach.starts_per_site, matches!(why, Unknown::Starts(_))) {
        let claim = format!("Not covered: more than {starts} starts at one site.");
        out.push_str(&fill(&claim, terminal.width));
    }
}
