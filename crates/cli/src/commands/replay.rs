//! # Idea
//! `selvedge replay`: the interleavings of a JSON report are executed again on the model, by the
//! replayer alone, each for its own question. `selvedge simulate`: one random run.

use crate::args::replay::{ReplayArgs, SimulateArgs};
use crate::exit::Exit;
use crate::input::{self, Reading, Text};
use crate::output::Output;
use crate::shows;
use crate::watchdog::{Limits, Watch};
use selvedge_findings::reason;
use selvedge_library::replay::{self, Replayed, replays, starts_per_site};
use selvedge_program::copies::idle_starts;
use selvedge_program::{Action, Move, Program, Question, Target, Witness};
use selvedge_replay::{Simulation, SimulationEnd, execute, replay as replayed, simulate};
use selvedge_report::escape::visible;
use selvedge_report::interleaving::run;
use selvedge_report::{Detail, describe, wrap_lines};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Instant;

/// How many threads a site starts at most in a random run that could start any number.
const SIMULATED_STARTS: u32 = 3;

/// Runs `replay`.
pub fn replay(args: &ReplayArgs, output: Output) -> Result<Exit, Exit> {
    let start = Instant::now();
    let watch = Watch::new(Limits::new(args.limits, start), start);
    let budget = watch.budget();
    let read = |report: &Text| serde_json::from_str(&report.text);
    let (report, document) = input::read_within(&args.witness, output, budget, read)?;
    let document: Value = document.map_err(|error| {
        output.complain(&format!("{} is no JSON: {error}", report.name));
        Exit::BadInput
    })?;
    let found = replays(&document).map_err(|error| {
        output.complain(&format!("{}: {error}", report.name));
        Exit::BadInput
    })?;
    let starts_per_site = Some(starts_per_site(&document, &found));
    let reading = Reading { dialect: args.input.dialect(), starts_per_site };
    let model = input::data_model(&args.input.files, reading, output, budget)?;
    if found.is_empty() {
        let name = &report.name;
        output.complain(&format!(
            "{name} has no interleaving: it is no report with violations that `--format json` wrote"
        ));
        return Err(Exit::BadInput);
    }
    let first = found.first().map(|one| replay::instance(&model.program, one, budget));
    let first = first.and_then(Result::ok);
    let shows = shows::of(&args.show.show, first.as_ref().unwrap_or(&model.program), output)?;
    let mut text = String::new();
    let (mut wrong, mut open) = (0, 0);
    for (at, one) in found.iter().enumerate() {
        // Each interleaving says with how many copies and which options it was found.
        let instance = replay::instance(&model.program, one, budget);
        let program = instance.as_ref().unwrap_or(&model.program);
        let replayed = match &instance {
            Ok(program) => replay::execute(program, one, budget),
            Err(why) => Replayed::Fails(why.clone()),
        };
        let number = at + 1;
        let _ = match replayed {
            Replayed::Holds(question, mut trace) => {
                let asked = match (&question, trace.fails) {
                    (Question::Reach(Target::Assertion), Some(_)) => {
                        reason::failure(program, &trace)
                    }
                    _ => describe::asked(&question, program),
                };
                let steps = describe::count(trace.steps.len(), "step");
                let line = writeln!(text, "holds   {number}  {asked}  {steps}");
                if !shows.is_empty() {
                    shows.evaluate(program, &mut trace, budget);
                    text.push_str(&run::render(&trace, program, Detail::Events, output.stdout()));
                }
                line
            }
            Replayed::Open(why) => {
                open += 1;
                writeln!(text, "open    {number}  {why}")
            }
            Replayed::Fails(why) => {
                wrong += 1;
                writeln!(text, "fails   {number}  {why}")
            }
        };
    }
    let (all, held) = (found.len(), found.len() - wrong - open);
    let all = describe::count(all, "interleaving");
    let _ = writeln!(text, "\n{held} of {all} {}", if held == 1 { "holds" } else { "hold" });
    output.print(&text)?;
    Ok(match (wrong, open) {
        (0, 0) => Exit::Success,
        (0, _) => Exit::Unknown,
        _ => Exit::Violation,
    })
}

/// Runs `simulate`.
pub fn run_simulation(args: &SimulateArgs, output: Output) -> Result<Exit, Exit> {
    let start = Instant::now();
    let watch = Watch::new(Limits::new(args.limits, start), start);
    let reading =
        Reading { dialect: args.input.dialect(), starts_per_site: Some(SIMULATED_STARTS) };
    let model = input::data_model(&args.input.files, reading, output, watch.budget())?;
    let program = &selvedge_analysis::instance(model.program, &[], args.copies.copies).program;
    let Simulation { witness, end } = simulate(program, args.seed, args.steps, watch.budget());
    let shows = shows::of(&args.show.show, program, output)?;
    let idle = idle_starts(program);
    let is_idle = |step: &Move| matches!(step, Move::Edge(edge) if idle.contains(edge));
    let has_idle = witness.steps.iter().any(|one| is_idle(&one.step));
    // The replay of a dead end says what its threads wait for. A run that the replayer does not execute
    // is a bug of ours.
    let executed = match end {
        SimulationEnd::Stuck if !has_idle => replayed(program, &Question::Stuck, &witness),
        _ => execute(program, &witness),
    };
    let mut trace = executed.map_err(|error| {
        output.complain(&format!("internal error: a random run does not replay: {error}"));
        Exit::Internal
    })?;
    shows.evaluate(program, &mut trace, watch.budget());
    let detail = if args.verbose { Detail::Everything } else { Detail::Events };
    let mut text = run::render(&trace, program, detail, output.stdout());
    let how = match &end {
        SimulationEnd::Ended | SimulationEnd::Stuck if has_idle => {
            let copies = args.copies.copies;
            format!(
                "no thread can move; more copies of {} were started than the {copies} of --copies, \
                 and those are not followed",
                idle_processes(program, &witness).join(", ")
            )
        }
        SimulationEnd::Ended => "every thread that was started has ended".to_owned(),
        SimulationEnd::Stuck => "a dead end: no thread can move".to_owned(),
        SimulationEnd::Failed => reason::failure(program, &trace),
        SimulationEnd::Steps => "more steps are possible with --steps".to_owned(),
        SimulationEnd::Open(why) => why.to_string(),
    };
    let summary = format!(
        "\n{} in {} with seed {}: {how}\n",
        describe::count(trace.steps.len(), "step"),
        describe::count(trace.contexts() as usize, "context"),
        args.seed
    );
    text.push_str(&wrap_lines(&summary, output.stdout().width));
    output.print(&text)?;
    Ok(if matches!(end, SimulationEnd::Open(_)) { Exit::Unknown } else { Exit::Success })
}

/// The processes of which a run starts copies that never move.
fn idle_processes(program: &Program, witness: &Witness) -> Vec<String> {
    let idle = idle_starts(program);
    let taken = witness.steps.iter().filter_map(|step| step.step.edge());
    let mut names = BTreeSet::new();
    for edge in taken.filter(|edge| idle.contains(edge)).map(|edge| &program.edges[edge]) {
        let same = program.edges.iter().filter(|one| {
            (one.source, one.target, one.place) == (edge.source, edge.target, edge.place)
        });
        names.extend(same.filter_map(|one| {
            match one.action {
                Action::Start(thread) => program.threads[thread]
                    .name
                    .split('[')
                    .next()
                    .map(|name| visible(name).into_owned()),
                _ => None,
            }
        }));
    }
    names.into_iter().collect()
}
