//! # Idea
//! The answer for programs: one JSON object with a stable shape.
//!
//! | field | meaning |
//! |---|---|
//! | `tool` | `name` and `version` |
//! | `file` | the file that was analysed, as named on the command line |
//! | `analysis` | `reach` |
//! | `verdict` | `violation`, `unknown` or `safe` |
//! | `reason` | why it is unknown |
//! | `question` | `kind` is `assertions`, `label`, `state` or `states`; `text` is the label or the state |
//! | `options` | `engine`, `chosen` (why, if it was not named), `starts_per_site` |
//! | `bound` | `{"rounds": K}` or `{"contexts": K}`: explored up to there, or where the violation shows up |
//! | `complete` | whether no larger bound reaches anything new |
//! | `proof` | why it is complete: `fixpoint` (no other global configuration) or `generators` (no other visible state, while stacks may grow for ever) |
//! | `contexts`, `rounds` | how many the witness has and needs; null without one |
//! | `states` | for each bound `rounds` or `contexts`, `count`, and for pushdown systems `visible` |
//! | `list` | with `--states=list`: the states, as objects from names to values, or as text (`q\|a,b`) |
//! | `initial` | the globals at the beginning of the witness |
//! | `witness` | the steps in order |
//! | `witness[].thread`, `.action`, `.object`, `.line`, `.column` | who does what where |
//! | `witness[].values` | the variables that have another value afterwards |
//! | `witness[].context`, `.round` | which context and round it belongs to, from 1 |
//! | `witness[].stack` | at the first step of a context: the open procedures, outermost first |
//! | `witness[].fails` | true on an assertion that fails |
//! | `projection` | with `--projection`: `rounds`, and `statements` with `thread`, `procedure`, `line`, `column` of every statement on a run to the target within them |
//! | `stats` | `seconds`, `peak_memory_bytes` and the counts of the engine |
//! | `warnings` | complaints about the input |
//!
//! # Invariants
//! 1. The same answer gives the same bytes, except for `seconds` and `peak_memory_bytes`.

use crate::json::{TOOL, Witnesses, as_map, json, warnings};
use crate::reach::words::{self, Value};
use crate::reach::{Projection, Reach, Sought, rows};
use crate::replay_json::Replay;
use selvedge_base::Place;
use selvedge_program::witness::rounds;
use selvedge_program::{
    Action, Move, Program, Sharing, Stacks, States, Statistics, Trace, Valuation, Verdict,
};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Writes the JSON object, one step per line, with a line break at the end.
///
/// # Errors
/// Those of `out`.
pub fn write(reach: &Reach<'_>, witnesses: Witnesses, out: &mut dyn Write) -> io::Result<()> {
    let answer = reach.answer;
    let run = match &answer.verdict {
        Verdict::Violation(run) => Some(run),
        Verdict::Safe | Verdict::Unknown(_) => None,
    };
    let measure = reach.bound().measure.word();
    write!(out, "{{")?;
    let mut field = |name: &str, value: String| writeln!(out, "\"{name}\":{value},");
    field("tool", json(&TOOL)?)?;
    field("file", json(reach.source.name)?)?;
    field("analysis", json("reach")?)?;
    field("verdict", json(answer.verdict.word())?)?;
    if let Verdict::Unknown(why) = &answer.verdict {
        field("reason", json(&why.to_string())?)?;
    }
    field("question", json(&Asked::new(&reach.question))?)?;
    field("options", json(&Options::new(reach))?)?;
    field("bound", format!("{{\"{measure}\":{}}}", reach.bound().limit))?;
    field("complete", json(&reach.is_complete())?)?;
    if let Some(proof) = reach.proof() {
        field("proof", json(proof.word())?)?;
    }
    field("contexts", json(&run.map(Trace::contexts))?)?;
    field("rounds", json(&run.map(Trace::rounds))?)?;
    let states: Vec<String> = reach
        .levels()
        .iter()
        .map(|level| {
            let visible =
                level.visible.map_or(String::new(), |visible| format!(",\"visible\":{visible}"));
            format!("{{\"{measure}\":{},\"count\":{}{visible}}}", level.limit, level.shared)
        })
        .collect();
    field("states", format!("[{}]", states.join(",")))?;
    if let Some(listed) = reach.listed() {
        field("list", list(reach.program, listed)?)?;
    }
    if let (Some(run), Witnesses::Included) = (run, witnesses) {
        field("initial", json(&Values(words::shared_state(reach.program, &[], &run.globals)))?)?;
        let steps: Result<Vec<String>, _> = steps(run, reach.program).iter().map(json).collect();
        field("witness", format!("[\n{}\n]", steps?.join(",\n")))?;
        field("replay", json(&Replay::new(&answer.question, run, reach.program))?)?;
    }
    if let Some(projection) = reach.projection {
        field("projection", json(&projected(reach.program, projection))?)?;
    }
    let stats = Stats {
        seconds: reach.elapsed.as_secs_f64(),
        peak_memory_bytes: reach.peak_memory,
        counts: reach.statistics,
    };
    field("stats", json(&stats)?)?;
    writeln!(out, "\"warnings\":{}}}", json(&warnings(&reach.warnings))?)
}

#[derive(Serialize)]
struct Asked<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

impl<'a> Asked<'a> {
    fn new(question: &Sought<'a>) -> Self {
        match *question {
            Sought::Assertions => Self { kind: "assertions", text: None },
            Sought::Label(label) => Self { kind: "label", text: Some(label) },
            Sought::State(state) => Self { kind: "state", text: Some(state) },
            Sought::States => Self { kind: "states", text: None },
        }
    }
}

#[derive(Serialize)]
struct Options<'a> {
    engine: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    chosen: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    starts_per_site: Option<u32>,
}

impl<'a> Options<'a> {
    fn new(reach: &Reach<'a>) -> Self {
        Self {
            engine: reach.answer.engine,
            chosen: reach.chosen,
            starts_per_site: reach.starts_per_site,
        }
    }
}

#[derive(Serialize)]
struct Stats<'a> {
    seconds: f64,
    peak_memory_bytes: Option<u64>,
    #[serde(serialize_with = "as_map")]
    counts: &'a Statistics,
}

/// Names with values as an object, in their own order.
struct Values<'a>(Vec<(&'a str, Value)>);

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            match value {
                Value::Bit(bit) => map.serialize_entry(name, bit)?,
                Value::Number(number) => map.serialize_entry(name, number)?,
            }
        }
        map.end()
    }
}

fn list(program: &Program, listed: &States) -> io::Result<String> {
    let entries: Result<Vec<String>, _> = match listed {
        States::Shared { locks, states: all } => all
            .iter()
            .map(|state| json(&Values(words::shared_state(program, locks, state))))
            .collect(),
        States::Visible(all) => {
            all.iter().map(|state| json(&words::visible_text(program, state))).collect()
        }
    };
    Ok(format!("[{}]", entries?.join(",")))
}

#[derive(Serialize)]
struct Step<'a> {
    thread: &'a str,
    action: &'static str,
    object: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
    values: Values<'a>,
    context: u32,
    round: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    stack: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    fails: bool,
}

fn steps<'a>(run: &Trace, program: &'a Program) -> Vec<Step<'a>> {
    let mut globals: Valuation = run.globals.clone();
    let mut all = Vec::with_capacity(run.steps.len());
    let mut last = None;
    let (mut context, mut round) = (0, 0);
    let mut stacks = Stacks::new(program);
    for step in &run.steps {
        let open = |stacks: &Stacks| -> Vec<&'a str> {
            let open = stacks.of(step.thread).iter();
            open.map(|&procedure| program.procedures[procedure].name.as_str()).collect()
        };
        rows::apply(&mut globals, step);
        let new = last != Some(step.thread);
        if new {
            context += 1;
            round += match last {
                None => 1,
                Some(before) => rounds([before, step.thread].into_iter()) - 1,
            };
        }
        last = Some(step.thread);
        let (action, object) = match step.step {
            Move::Edge(edge) => {
                let edge = &program.edges[edge];
                (words::action(program, edge), words::object(program, edge))
            }
            Move::Return => ("return", None),
        };
        let known = step.place != Place::NONE;
        let stack = new.then(|| open(&stacks));
        stacks.follow(step);
        all.push(Step {
            thread: &program.threads[step.thread].name,
            action,
            object,
            line: known.then_some(step.place.line),
            column: known.then_some(step.place.column),
            values: Values(words::values(
                program,
                stacks.of(step.thread).last().copied(),
                &globals,
                &step.changes,
            )),
            context,
            round,
            stack,
            fails: step.fails,
        });
    }
    all
}

#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct Statement<'a> {
    thread: &'a str,
    procedure: &'a str,
    line: u32,
    column: u32,
}

#[derive(Serialize)]
struct Projected<'a> {
    rounds: u32,
    statements: Vec<Statement<'a>>,
}

fn projected<'a>(program: &'a Program, projection: &Projection) -> Projected<'a> {
    let sharing = Sharing::new(program);
    let places: BTreeSet<Statement<'a>> = program
        .edges
        .iter()
        .filter(|edge| projection.nodes.contains(&edge.source) && edge.place != Place::NONE)
        .filter(|edge| !matches!(edge.action, Action::Skip) || edge.update.is_some())
        .flat_map(|edge| {
            let procedure = &program.procedures[program.nodes[edge.source]];
            let threads = sharing.threads_of(program, edge).iter();
            threads.map(|&thread| Statement {
                thread: &program.threads[thread].name,
                procedure: &procedure.name,
                line: edge.place.line,
                column: edge.place.column,
            })
        })
        .collect();
    Projected { rounds: projection.rounds, statements: places.into_iter().collect() }
}
