//! # Idea
//! The answer to what can be reached, in these fields:
//!
//! | field | meaning |
//! |---|---|
//! | `reason` | why it is unknown |
//! | `question` | `kind` is `assertions`, `label`, `state`, `deadlocks` or `states`; `text` is the label or the state |
//! | `bound` | `{"rounds": K}` or `{"contexts": K}`: explored up to there, or where the violation shows up |
//! | `k` | with `cpds`: of each component that is approximated, how many of its actions are known |
//! | `failure` | how the run fails: `kind` is `assertion`, `invariant`, `range`, `index`, `division`, `release`, `monitor` or `annotation`; the condition of a broken `invariant`; and where |
//! | `reduction` | with `transactions`: how much was left out, as `--reduction` names it |
//! | `searched` | with `transactions` and `unknown`: how many `states` were stored, how many of them are still in the `queue`, and the `depth` in transactions |
//! | `assertions` | with `transactions` and the question `assertions`: every assertion, and every other failure that was found, with `line`, `column`, `kind` and `invariant` (as in `failure`), `verdict`, if that is unknown `reason`, and for a violation that is not the one of the report `initial`, `witness` and `replay` of a run to it |
//! | `protection` | with `--show-locks`: for each variable `variable` (`a[*]` for all elements of an array), `kind` (`lock`, `thread`, `read-only`, `pairwise`, `exclusive` for an annotation, `none`), `by` (the locks, or the thread), `proved`, `broken_by` (for every other lock the first access without it: `lock`, `thread`, `access`, `line`, `column`, `held`), and for `none` the two accesses of the `clash` |
//! | `why` | with `--why`: `variable`, the `access` that leaves it without protection (or null), `initial` and `witness` of the run at whose end its thread is about to make it |
//! | `complete` | whether no larger bound reaches anything new |
//! | `proof` | why it is complete: `fixpoint` (no other global configuration) or `generators` (no other visible state, while stacks may grow for ever) |
//! | `contexts`, `rounds` | how many the witness has and needs; null without one |
//! | `shared_states` | with `transactions` and `--states`: how many shared states there are |
//! | `states` | with the other engines: for each bound `rounds` or `contexts`, `count`, and for pushdown systems `visible` |
//! | `list` | with `--states=list`: the states, as objects from names to values, or as text (`q\|a,b`) |
//! | `initial` | the globals at the beginning of the witness |
//! | `show` | with `--show`: each expression with its value at the beginning of the witness, null if it has none; in a step, after that step |
//! | `witness` | the steps in order |
//! | `witness[].thread`, `.action`, `.object`, `.line`, `.column` | who does what where |
//! | `witness[].file`, `.offset` | the file if it is not the one that was analysed, and where in it if that has no lines |
//! | `witness[].values` | the variables that have another value afterwards |
//! | `witness[].context`, `.round` | which context and round it belongs to, from 1 |
//! | `witness[].stack` | at the first step of a context: the open procedures, outermost first |
//! | `witness[].transaction` | with `transactions`: which transaction it belongs to, from 1 |
//! | `witness[].fails` | true on a step that fails |
//! | `next` | of a run into a dead end: the steps that no thread can take, as with `selvedge deadlock` |
//! | `projection` | with `--projection`: `rounds`, and `statements` with `thread`, `procedure`, `line`, `column` (and `file`, `offset` as above) of every statement on a run to the target within them |

use super::{Options, ReceiverEntry, RefinedFields, Witnesses, field, json, locks, write_list};
use crate::answers::{Answers, Projection, Reach, Sought};
use crate::interleaving::run;
use crate::places::PlaceFields;
use crate::probes::ProbeFields;
use crate::replay_json::Replay;
use crate::statement::{self, ShownValue};
use selvedge_base::Place;
use selvedge_findings::{Ending, reason};
use selvedge_program::witness::rounds;
use selvedge_program::{
    Action, AssertionVerdict, FailureKind, Program, Question, Sharing, States, Trace, Verdict,
};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Writes the answer, one step per line.
pub(super) fn write(
    answers: &Answers<'_>,
    about: &Reach<'_>,
    witnesses: Witnesses,
    out: &mut dyn Write,
) -> io::Result<()> {
    let program = answers.program;
    let (trace, why) = match answers.answers.first().map(|answer| &answer.verdict) {
        Some(Verdict::Violation(trace)) => (Some(trace), None),
        Some(Verdict::Unknown(why)) => (None, Some(why)),
        Some(Verdict::Safe) | None => (None, None),
    };
    let bound = answers.bound(about.measure);
    let measure = bound.measure.word();
    if let Some(why) = why.or(answers.unasked) {
        field(out, "reason", json(&why.to_string())?)?;
    }
    field(out, "question", json(&Described::new(about.sought))?)?;
    field(out, "options", json(&Options::new(answers))?)?;
    if matches!(answers.engine, "transactions" | "cpds") {
        field(out, "bound", "null")?;
        field(out, "complete", why.is_none() && trace.is_none())?;
    } else {
        field(out, "bound", format!("{{\"{measure}\":{}}}", bound.limit))?;
        field(out, "complete", answers.is_complete())?;
    }
    if let Some(refined) = answers.answers.first().and_then(|answer| answer.refined.as_ref()) {
        field(out, "k", json(&RefinedFields(refined))?)?;
    }
    if let Some((trace, kind)) = trace.and_then(|trace| Some((trace, trace.fails?))) {
        let question = &answers.answers[0].question;
        field(out, "failure", json(&FailureFields::new(question, trace, kind, program))?)?;
    }
    if let Some(searched) = answers.answers.first().and_then(|answer| answer.searched.as_ref()) {
        field(out, "reduction", json(searched.reduction)?)?;
        if why.is_some() {
            let (stored, waiting, depth) = (searched.stored, searched.waiting, searched.depth);
            let text = format!(r#"{{"states":{stored},"queue":{waiting},"depth":{depth}}}"#);
            field(out, "searched", text)?;
        }
        if let Some(all) = &searched.assertions {
            // The run of the report itself is not written twice.
            let run = |one: &AssertionVerdict<Trace>| match &one.verdict {
                Verdict::Violation(own) if witnesses.includes(0) => {
                    let own = Some(own).filter(|&own| trace.map(AsRef::as_ref) != Some(own))?;
                    Some(RunFields::new(&answers.answers[0].question, own, program))
                }
                _ => None,
            };
            let rows = all.iter().map(|one| AssertionFields::new(one, run(one), program));
            write_list(out, "assertions", rows)?;
        }
        if let Some(rows) = &searched.protection {
            let rows = rows.iter().map(|row| locks::ProtectionFields::new(row, program));
            write_list(out, "protection", rows)?;
        }
        if let Some(variable) = about.why {
            let why = searched.why.as_ref();
            let access = why.map(|(site, _)| locks::AccessFields::new(site, program));
            let run = why.filter(|_| witnesses.includes(0)).map(|(_, trace)| {
                let initial = statement::shared_state(program, &[], &trace.globals);
                let show = ProbeFields::at_first(trace, program);
                (show, Values(initial), steps(trace, program))
            });
            field(out, "why", json(&WhyFields::new(variable, access, run))?)?;
        }
    }
    if let Some(proof) = answers.proof() {
        field(out, "proof", json(proof.word())?)?;
    }
    field(out, "contexts", json(&trace.map(|trace| trace.contexts()))?)?;
    field(out, "rounds", json(&trace.map(|trace| trace.rounds()))?)?;
    // The search of states bounds nothing, so there is one number of them, and no list of bounds.
    let transactions = answers.engine == "transactions";
    let levels = if transactions { &[] } else { answers.levels() };
    if let Some(level) = answers.levels().first().filter(|_| transactions) {
        field(out, "shared_states", level.shared)?;
    }
    let states: Vec<String> = levels
        .iter()
        .map(|level| {
            let visible =
                level.visible.map_or(String::new(), |visible| format!(",\"visible\":{visible}"));
            format!("{{\"{measure}\":{},\"count\":{}{visible}}}", level.limit, level.shared)
        })
        .collect();
    field(out, "states", format!("[{}]", states.join(",")))?;
    if let Some(listed) = answers.listed() {
        field(out, "list", list(program, listed)?)?;
    }
    if let Some(trace) = trace.filter(|_| witnesses.includes(0)) {
        let initial = statement::shared_state(program, &[], &trace.globals);
        field(out, "initial", json(&Values(initial))?)?;
        if let Some(show) = ProbeFields::at_first(trace, program) {
            field(out, "show", json(&show)?)?;
        }
        write_list(out, "witness", steps(trace, program).into_iter())?;
        if !trace.next.is_empty() {
            write_list(out, "next", trace.next.iter().map(|step| super::Step::new(step, program)))?;
        }
        let question = &answers.answers[0].question;
        field(out, "replay", json(&Replay::new(question, trace, program))?)?;
    }
    if let Some(projection) = about.projection {
        field(out, "projection", json(&projected(program, projection))?)?;
    }
    Ok(())
}

/// How a run fails, and where.
#[derive(Serialize)]
struct FailureFields<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    invariant: Option<String>,
    #[serde(flatten)]
    place: PlaceFields<'a>,
}

impl<'a> FailureFields<'a> {
    fn new(question: &Question, trace: &Trace, kind: FailureKind, program: &'a Program) -> Self {
        let invariant = reason::invariant(program, kind).map(|(_, condition)| condition);
        let place = Ending::new(program, question, trace).place;
        Self { kind: kind.word(), invariant, place: PlaceFields::new(place, program) }
    }
}

/// An assertion with its own verdict.
#[derive(Serialize)]
struct AssertionFields<'a> {
    #[serde(flatten)]
    place: PlaceFields<'a>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    invariant: Option<String>,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(flatten)]
    run: Option<RunFields<'a>>,
}

/// A run to an assertion that fails.
#[derive(Serialize)]
struct RunFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    show: Option<ProbeFields<'a>>,
    initial: Values<'a>,
    witness: Vec<Step<'a>>,
    replay: Replay,
}

impl<'a> RunFields<'a> {
    fn new(question: &Question, trace: &Trace, program: &'a Program) -> Self {
        Self {
            show: ProbeFields::at_first(trace, program),
            initial: Values(statement::shared_state(program, &[], &trace.globals)),
            witness: steps(trace, program),
            replay: Replay::new(question, trace, program),
        }
    }
}

impl<'a> AssertionFields<'a> {
    fn new(
        one: &AssertionVerdict<Trace>,
        run: Option<RunFields<'a>>,
        program: &'a Program,
    ) -> Self {
        let reason = match &one.verdict {
            Verdict::Unknown(why) => Some(why.to_string()),
            Verdict::Safe | Verdict::Violation(_) => None,
        };
        Self {
            place: PlaceFields::new(one.place, program),
            kind: one.kind.word(),
            invariant: reason::invariant(program, one.kind).map(|(_, condition)| condition),
            verdict: one.verdict.word(),
            reason,
            run,
        }
    }
}

/// The access that leaves a variable without protection, and the run to it.
#[derive(Serialize)]
struct WhyFields<'a> {
    variable: &'a str,
    access: Option<locks::AccessFields<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    show: Option<ProbeFields<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    initial: Option<Values<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<Vec<Step<'a>>>,
}

impl<'a> WhyFields<'a> {
    fn new(
        variable: &'a str,
        access: Option<locks::AccessFields<'a>>,
        run: Option<(Option<ProbeFields<'a>>, Values<'a>, Vec<Step<'a>>)>,
    ) -> Self {
        let (show, initial, witness) = match run {
            Some((show, initial, witness)) => (show, Some(initial), Some(witness)),
            None => (None, None, None),
        };
        Self { variable, access, show, initial, witness }
    }
}

#[derive(Serialize)]
struct Described<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

impl<'a> Described<'a> {
    fn new(sought: Sought<'a>) -> Self {
        match sought {
            Sought::Assertions => Self { kind: "assertions", text: None },
            Sought::Label(label) => Self { kind: "label", text: Some(label) },
            Sought::State(state) => Self { kind: "state", text: Some(state) },
            Sought::Deadlocks => Self { kind: "deadlocks", text: None },
            Sought::States => Self { kind: "states", text: None },
        }
    }
}

/// Names with values as an object, in their own order.
struct Values<'a>(Vec<(&'a str, ShownValue<'a>)>);

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl Serialize for ShownValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bit(bit) => serializer.serialize_bool(*bit),
            Self::Number(number) => serializer.serialize_i128(*number),
            Self::Name(name) => serializer.serialize_str(name),
            Self::List(elements) => elements.serialize(serializer),
        }
    }
}

fn list(program: &Program, listed: &States) -> io::Result<String> {
    let entries: Result<Vec<String>, _> = match listed {
        States::Shared { others, states: all } => all
            .iter()
            .map(|state| json(&Values(statement::shared_state(program, others, state))))
            .collect(),
        States::Visible(all) => {
            all.iter().map(|state| json(&statement::visible_text(program, state))).collect()
        }
    };
    Ok(format!("[{}]", entries?.join(",")))
}

#[derive(Serialize)]
struct Step<'a> {
    thread: &'a str,
    action: &'static str,
    object: Option<String>,
    #[serde(flatten)]
    place: PlaceFields<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    with: Vec<ReceiverEntry<'a>>,
    values: Values<'a>,
    context: u32,
    round: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    stack: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction: Option<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    fails: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    show: Option<ProbeFields<'a>>,
}

fn steps<'a>(trace: &Trace, program: &'a Program) -> Vec<Step<'a>> {
    let mut values = run::Values::new(trace, program);
    let statements = run::statements(trace, program);
    let mut all = Vec::with_capacity(trace.steps.len());
    let mut last = None;
    let (mut context, mut round) = (0, 0);
    for (at, step) in trace.steps.iter().enumerate() {
        let new = last != Some(step.thread);
        if new {
            context += 1;
            round += match last {
                None => 1,
                Some(before) => rounds([before, step.thread].into_iter()) - 1,
            };
        }
        last = Some(step.thread);
        let (action, object) = match step.step.edge().map(|edge| &program.edges[edge]) {
            Some(edge) if matches!(edge.action, Action::Assert(_)) => {
                let asserted = statements[at].strip_prefix("assert ");
                (statement::action(program, edge), asserted.map(str::to_owned))
            }
            Some(edge) => (statement::action(program, edge), statement::object(program, edge)),
            None => ("return", None),
        };
        let open = values.stack(step.thread).iter();
        let stack = new.then(|| open.map(|&id| program.procedures[id].name.as_str()).collect());
        all.push(Step {
            thread: &program.threads[step.thread].name,
            action,
            object,
            place: PlaceFields::new(step.place, program),
            with: ReceiverEntry::all(step, program),
            values: Values(values.after(step)),
            context,
            round,
            stack,
            transaction: trace.transactions.get(at).copied(),
            fails: step.fails.is_some(),
            show: ProbeFields::after(trace, at, program),
        });
    }
    all
}

#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct Statement<'a> {
    thread: &'a str,
    procedure: &'a str,
    #[serde(flatten)]
    place: PlaceFields<'a>,
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
                place: PlaceFields::new(edge.place, program),
            })
        })
        .collect();
    Projected { rounds: projection.rounds, statements: places.into_iter().collect() }
}
