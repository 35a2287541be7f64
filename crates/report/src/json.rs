//! # Idea
//! The answers for programs: one JSON object with a stable shape. The common fields:
//!
//! | field | meaning |
//! |---|---|
//! | `tool` | `name` and `version` |
//! | `format` | the version of this shape; it grows when a field goes away or means something else |
//! | `file` | the file that was analysed, as named on the command line |
//! | `analysis` | `atomicity`, `race`, `deadlock` or `reach` |
//! | `verdict` | `violation`, `unknown` or `safe`, of the whole run in this order of precedence |
//! | `options` | `engine`; with `atomicity` `patterns` and `units`; with `reach` `chosen` (why this engine, if it was not named) and `starts_per_site`; `left_out`, if something of the program was left out wherever the rest suffices for a proof: what; `restrictions`, if only some runs of threads count: `thread` and `automaton` of each; `not_covered`, if one may think that something is and it is not |
//! | `engines`, `disagreements` | if every engine was asked: what each says (module `portfolio`) |
//! | `not_listed` | how many questions are counted in `stats` only, if so |
//! | `stats` | `seconds`, `peak_memory_bytes` (or null) and `counts` of the engine, with `transactions` also `workers` and `levels`, and where it applies `processes` and `resumed_from_level`; before them, not with `reach`, `queries` (with `deadlock` the cycles that were asked about), `violations`, `safe`, `unknown` |
//! | `warnings` | `code`, `message`, `file`, `line`, `column` of complaints that did not stop the analysis |
//!
//! The answers themselves are in `queries` and `reach`.
//!
//! # Invariants
//! 1. The same answers give the same bytes, except for `seconds` and `peak_memory_bytes`.

mod locks;
mod portfolio;
mod queries;
mod reach;
pub(crate) mod temporal;

use crate::answers::{Answers, Asked, Patterns};
use crate::describe::{action, object};
use crate::diagnostic::Source;
use crate::places::PlaceFields;
use crate::probes::ProbeFields;
use crate::replay_json::Replay;
use selvedge_base::{Diagnostic, LineIndex, Place};
use selvedge_findings::reason::{constraint, guard};
use selvedge_program::{
    ChannelId, LockId, Obstacle, Program, Question, Refined, Statistics, ThreadId, Trace,
    TraceReceiver, TraceStep, Units,
};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::io::{self, Write};

/// Whether the interleavings are part of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Witnesses {
    /// They are.
    Included,
    /// Those of the first violations are, so many.
    First(usize),
    /// They are left out.
    Omitted,
}

impl Witnesses {
    /// Whether the one of a violation is, of so many violations before it.
    pub(crate) fn includes(self, before: usize) -> bool {
        match self {
            Self::Included => true,
            Self::First(count) => before < count,
            Self::Omitted => false,
        }
    }
}

/// Writes the JSON object, one question or step per line, with a line break at the end.
///
/// # Errors
/// Those of `out`.
pub fn write(answers: &Answers<'_>, witnesses: Witnesses, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{")?;
    field(out, "tool", json(&TOOL)?)?;
    field(out, "format", json(&FORMAT)?)?;
    field(out, "file", json(answers.source.name)?)?;
    field(out, "analysis", json(answers.asked.analysis())?)?;
    field(out, "verdict", json(answers.verdict())?)?;
    if answers.nothing_shared {
        field(out, "nothing_shared", true)?;
    }
    if let Asked::Reach(about) = &answers.asked {
        reach::write(answers, about, witnesses, out)?;
    } else if let Asked::Temporal(formulas) = &answers.asked {
        temporal::write(answers, formulas, witnesses, out)?;
    } else {
        field(out, "options", json(&Options::new(answers))?)?;
        queries::write(answers, witnesses, out)?;
    }
    if answers.total() > answers.answers.len() {
        field(out, "not_listed", answers.total() - answers.answers.len())?;
    }
    if let Some(portfolio) = answers.portfolio {
        portfolio::write(answers, portfolio, witnesses, out)?;
    }
    field(out, "stats", json(&Stats::new(answers))?)?;
    writeln!(out, "\"warnings\":{}}}", json(&warnings(&answers.warnings))?)
}

fn field(out: &mut dyn Write, name: &str, value: impl std::fmt::Display) -> io::Result<()> {
    writeln!(out, "\"{name}\":{value},")
}

pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> io::Result<String> {
    Ok(serde_json::to_string(value)?)
}

/// Writes a field with a list, one entry per line.
pub(crate) fn write_list<T: Serialize>(
    out: &mut dyn Write,
    name: &str,
    entries: impl Iterator<Item = T>,
) -> io::Result<()> {
    write!(out, "\"{name}\":[")?;
    let mut last = "";
    for (at, entry) in entries.enumerate() {
        write!(out, "{}\n{}", if at == 0 { "" } else { "," }, json(&entry)?)?;
        last = "\n";
    }
    writeln!(out, "{last}],")
}

/// Who writes all this.
pub(crate) const TOOL: Tool = Tool { name: "selvedge", version: env!("CARGO_PKG_VERSION") };

/// The version of the shape of all JSON outputs.
pub const FORMAT: u32 = 1;

#[derive(Serialize)]
pub(crate) struct Tool {
    pub name: &'static str,
    pub version: &'static str,
}

#[derive(Serialize)]
struct Options<'a> {
    engine: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    patterns: Option<PatternSet<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    units: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chosen: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    starts_per_site: Option<u32>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    left_out: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    restrictions: Vec<RestrictionEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_covered: Option<&'static str>,
}

/// A thread of which only those runs count that an automaton can read.
#[derive(Serialize)]
pub(crate) struct RestrictionEntry<'a> {
    thread: &'a str,
    automaton: &'a str,
}

/// The restrictions of a program.
pub(crate) fn restrictions(program: &Program) -> Vec<RestrictionEntry<'_>> {
    let mut entries = Vec::new();
    for restriction in &program.restrictions {
        let thread = program.threads[restriction.thread].name.as_str();
        entries.push(RestrictionEntry { thread, automaton: &restriction.source });
    }
    entries
}

#[derive(Serialize)]
#[serde(untagged)]
enum PatternSet<'a> {
    Word(&'static str),
    Numbers(&'a [u32]),
    /// Null: a property is no pattern.
    None,
}

impl<'a> Options<'a> {
    fn new(answers: &'a Answers<'_>) -> Self {
        let (patterns, units) = match &answers.asked {
            Asked::Patterns(patterns, units) => {
                let patterns = match patterns {
                    Patterns::All => PatternSet::Word("all"),
                    Patterns::Vaziri => PatternSet::Word("vaziri"),
                    Patterns::Numbers(numbers) => PatternSet::Numbers(numbers),
                };
                (Some(patterns), Some(*units))
            }
            Asked::Property(_) => (Some(PatternSet::None), Some(Units::Exact)),
            Asked::Race | Asked::Deadlock | Asked::Reach(_) | Asked::Temporal(_) => (None, None),
        };
        let (chosen, starts_per_site) = match &answers.asked {
            Asked::Reach(about) => (answers.chosen, about.starts_per_site),
            _ => (None, None),
        };
        Self {
            engine: answers.engine,
            patterns,
            units: units.map(|units| match units {
                Units::Exact => "exact",
                Units::Paper => "paper",
            }),
            chosen,
            starts_per_site,
            left_out: &answers.left_out,
            restrictions: restrictions(answers.program),
            not_covered: answers.not_covered(),
        }
    }
}

/// An interleaving with what the threads are about to do at its end, if that matters, and what
/// `selvedge replay` executes.
#[derive(Serialize)]
pub(crate) struct WitnessEntry<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    show: Option<ProbeFields<'a>>,
    witness: Vec<Step<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    next: Vec<Step<'a>>,
    replay: Replay,
}

impl<'a> WitnessEntry<'a> {
    pub fn new(question: &Question, trace: &Trace, program: &'a Program) -> Self {
        let next = trace.next.iter().map(|step| Step::new(step, program)).collect();
        let replay = Replay::new(question, trace, program);
        let show = ProbeFields::at_first(trace, program);
        Self { show, witness: Step::all(trace, program), next, replay }
    }
}

#[derive(Serialize)]
struct Step<'a> {
    thread: &'a str,
    action: &'static str,
    object: Option<&'a str>,
    #[serde(flatten)]
    place: PlaceFields<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    with: Vec<ReceiverEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waits_for: Option<ObstacleFields<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    show: Option<ProbeFields<'a>>,
}

/// What a thread waits for that cannot take a step.
#[derive(Serialize)]
struct ObstacleFields<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    holder: Option<&'a str>,
}

impl<'a> ObstacleFields<'a> {
    fn new(obstacle: Obstacle, program: &'a Program) -> Self {
        let thread = |id: ThreadId| program.threads[id].name.as_str();
        let lock = |id: LockId| program.locks[id].name.as_str();
        let channel = |id: ChannelId| program.channels[id].name.as_str();
        let (kind, name) = match obstacle {
            Obstacle::Lock(wanted, _) => ("lock", Some(lock(wanted).into())),
            Obstacle::Notification(on) => {
                ("notification", Some(program.wait_sets[on].name.as_str().into()))
            }
            Obstacle::Receiver(over) => ("receiver", Some(channel(over).into())),
            Obstacle::Sender(over) => ("sender", Some(channel(over).into())),
            Obstacle::End(other) => ("end", Some(thread(other).into())),
            Obstacle::Start(other) => ("start", Some(thread(other).into())),
            Obstacle::Unstarted(other) => ("unstarted", Some(thread(other).into())),
            Obstacle::Condition(edge) => {
                ("condition", guard(program, edge).map(|guard| guard.text().into()))
            }
            Obstacle::Constraint(edge) => ("constraint", constraint(program, edge).map(Cow::Owned)),
            Obstacle::Enforced(procedure) => {
                ("enforced", Some(program.procedures[procedure].name.as_str().into()))
            }
            Obstacle::Nothing => ("nothing", None),
        };
        let holder = match obstacle {
            Obstacle::Lock(_, holder) => Some(thread(holder)),
            _ => None,
        };
        Self { kind, name, holder }
    }
}

/// Who receives in the step of another thread, and where.
#[derive(Serialize)]
pub(crate) struct ReceiverEntry<'a> {
    thread: &'a str,
    #[serde(flatten)]
    place: PlaceFields<'a>,
}

impl<'a> ReceiverEntry<'a> {
    /// All who receive in a step.
    pub fn all(step: &TraceStep, program: &'a Program) -> Vec<Self> {
        let entry = |one: &TraceReceiver| Self {
            thread: &program.threads[one.thread].name,
            place: PlaceFields::new(one.place, program),
        };
        step.receivers.iter().map(entry).collect()
    }
}

impl<'a> Step<'a> {
    fn new(step: &TraceStep, program: &'a Program) -> Self {
        Self {
            thread: &program.threads[step.thread].name,
            action: action(step.kind),
            object: object(step.kind, program),
            place: PlaceFields::new(step.place, program),
            with: ReceiverEntry::all(step, program),
            matched: step.matched,
            waits_for: step.waits_for.map(|obstacle| ObstacleFields::new(obstacle, program)),
            show: None,
        }
    }

    /// The steps of a run, each with the values that are to be shown behind it.
    fn all(trace: &Trace, program: &'a Program) -> Vec<Self> {
        let step = |(at, step): (usize, &TraceStep)| Self {
            show: ProbeFields::after(trace, at, program),
            ..Self::new(step, program)
        };
        trace.steps.iter().enumerate().map(step).collect()
    }
}

#[derive(Serialize)]
struct Stats<'a> {
    #[serde(flatten)]
    answers: Option<AnswerCounts>,
    seconds: f64,
    peak_memory_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workers: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    levels: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    processes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resumed_from_level: Option<u64>,
    #[serde(serialize_with = "as_map")]
    counts: &'a Statistics,
}

#[derive(Serialize)]
struct AnswerCounts {
    queries: usize,
    violations: usize,
    safe: usize,
    unknown: usize,
}

impl<'a> Stats<'a> {
    fn new(answers: &Answers<'a>) -> Self {
        let counts = answers.counts();
        let one = matches!(answers.asked, Asked::Reach(_));
        Self {
            answers: (!one).then_some(AnswerCounts {
                queries: answers.total(),
                violations: counts.violations,
                safe: counts.safe,
                unknown: counts.unknown,
            }),
            seconds: answers.elapsed.as_secs_f64(),
            peak_memory_bytes: answers.peak_memory,
            workers: answers.statistics.get("workers").filter(|_| one),
            levels: answers.statistics.get("levels").filter(|_| one),
            processes: answers.statistics.get("processes").filter(|_| one),
            resumed_from_level: answers.statistics.get("resumed_from_level").filter(|_| one),
            counts: answers.statistics,
        }
    }
}

/// The counts as an object, in their own order.
fn as_map<S: Serializer>(statistics: &Statistics, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(statistics.counts.iter().copied())
}

/// How much is known of each component that is approximated, as an object.
pub(crate) struct RefinedFields<'a>(pub &'a Refined);

impl Serialize for RefinedFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.k.iter().map(|(name, k)| (name, k)))
    }
}

#[derive(Serialize)]
pub(crate) struct Warning<'a> {
    code: &'static str,
    message: &'a str,
    file: &'a str,
    #[serde(flatten)]
    place: PlaceFields<'a>,
}

pub(crate) fn warnings<'a>(complaints: &[(Source<'a>, &'a Diagnostic)]) -> Vec<Warning<'a>> {
    let warning = |&(source, warning): &(Source<'a>, &'a Diagnostic)| {
        let label = warning.primary.as_ref();
        let place = label.map(|label| LineIndex::new(source.text).place(label.span.start));
        Warning {
            code: warning.code,
            message: &warning.message,
            file: source.name,
            place: PlaceFields::within(place.unwrap_or(Place::NONE)),
        }
    };
    complaints.iter().map(warning).collect()
}
