//! # Idea
//! What `selvedge check` tells programs: one JSON object with a stable shape.
//!
//! | field | meaning |
//! |---|---|
//! | `tool` | `name` and `version` |
//! | `format` | the version of this shape; it grows when a field goes away or means something else |
//! | `analysis` | `check` |
//! | `verdict` | `violation`, `unknown` or `safe`, of the whole run in this order of precedence |
//! | `nothing_shared` | `true` if that is so of all files, and absent otherwise |
//! | `files` | the files that were analysed, in the order in which they were given |
//! | `files[].file` | its name, as given |
//! | `files[].findings` | what counts, the most important first |
//! | `files[].suppressed` | findings that the configuration suppresses, each with `suppression`, the reason given there |
//! | `files[].baseline` | findings that the baseline knows already |
//! | `findings[].rule` | `deadlock`, `atomicity-violation` or `data-race` |
//! | `findings[].fingerprint` | a stable identity that survives changes of unrelated lines |
//! | `findings[].tags` | the questions that found it, as in `pattern-12`, `write-write`, `cycle-2` |
//! | `findings[].threads` | who takes part; for atomicity the thread of the broken unit first |
//! | `findings[].locations`, `.locks` | what it is about; locks in the order of the cycle |
//! | `findings[].places` | `line` and `column` of the conflicting steps, the first is where to look; `file` if it is not this one, `offset` where there are no lines |
//! | `findings[].reason` | why it is a mistake, in one sentence |
//! | `findings[].cause` | with programs in Java: `line`, what is wrong in one line; `rank`, from 1 to 7; `tags`, what makes it less likely; `pairs`, the conflicts that it explains, each with `rule`, `tags`, `threads`, `methods`, `places`, `seen_by` |
//! | `findings[].stacks` | with programs in Java: for each `thread` the open calls where it conflicts, the innermost first, each with `method` and its place |
//! | `findings[].fix` | `text` and `places` of a change after which the finding is gone, or null |
//! | `findings[].confirmation` | with `--confirm` only: whether the program did it when it was run (`reproduced`), and in which run or why not (`text`) |
//! | `findings[].witness` | the interleaving, with the steps of `selvedge atomicity`; not with `--no-witness` |
//! | `findings[].next` | with a race, a deadlock or a dead end only: the steps that the threads are about to take at the end; `waits_for` says what keeps a thread from its step |
//! | `files[].tallies` | by rule: `questions`, `violated`, `safe`, `unknown` |
//! | `files[].open` | why questions were left open, each reason once |
//! | `files[].not_reproducible` | only if it is true: a limit on time or memory or an interrupt ended the analysis, so another run can give another answer |
//! | `files[].claims` | for programs in Java: what was asked and what is assumed, in words |
//! | `files[].left_out` | what was left out of the program wherever the rest suffices for a proof, if something was |
//! | `files[].not_asked` | of which kinds of findings nothing is claimed, and which command asks about them, if there are such |
//! | `files[].nothing_shared` | `true` if no question arises, because no two threads share anything and nothing was left out; absent otherwise |
//! | `files[].restrictions` | `thread` and `automaton` for each thread of which only those runs count that the automaton can read, if there are such |
//! | `complaints` | `severity`, `code`, `message`, `file`, `line`, `column` about input; a file with an `error` is not among the analysed ones |
//! | `stats` | `files`, `questions`, `findings`, `suppressed`, `baseline`, `safe`, `unknown`, `seconds`, `peak_memory_bytes` |
//! | `shard` | of a part of a check only: what `selvedge merge` needs |
//!
//! # Invariants
//! 1. The same findings give the same bytes, except for `seconds` and `peak_memory_bytes`.

use crate::checks::Checks;
use crate::describe::not_asked;
use crate::json::{
    FORMAT, TOOL, Warning, WitnessEntry, Witnesses, json, restrictions, warnings, write_list,
};
use crate::places::PlaceFields;
use selvedge_base::Place;
use selvedge_findings::{CausePair, CheckedFile, Finding, Tally, ThreadStack, stacks};
use selvedge_program::Program;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes the JSON object, one finding per line, with a line break at the end.
///
/// # Errors
/// Those of `out`.
pub fn write(checks: &Checks<'_>, witnesses: Witnesses, out: &mut dyn Write) -> io::Result<()> {
    write_part(checks, witnesses, None, out)
}

/// The same for a part of a check, with the JSON of what is needed to put it together with the others.
///
/// # Errors
/// Those of `out`.
pub fn write_part(
    checks: &Checks<'_>,
    witnesses: Witnesses,
    shard: Option<&str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{{\"tool\":{},", json(&TOOL)?)?;
    writeln!(out, "\"format\":{FORMAT},")?;
    writeln!(out, "\"analysis\":\"check\",")?;
    writeln!(out, "\"verdict\":{},", json(checks.verdict())?)?;
    if checks.share_nothing() {
        writeln!(out, "\"nothing_shared\":true,")?;
    }
    write!(out, "\"files\":[")?;
    for (at, file) in checks.files.iter().enumerate() {
        writeln!(out, "{}", if at == 0 { "" } else { "," })?;
        write_file(file, witnesses, out)?;
    }
    writeln!(out, "\n],")?;
    writeln!(out, "\"complaints\":{},", json(&complaints(checks))?)?;
    if let Some(shard) = shard {
        writeln!(out, "\"shard\":{shard},")?;
    }
    writeln!(out, "\"stats\":{}}}", json(&Stats::new(checks))?)
}

fn write_file(file: &CheckedFile, witnesses: Witnesses, out: &mut dyn Write) -> io::Result<()> {
    let entry = |finding| Entry::new(finding, &file.program, witnesses);
    writeln!(out, "{{\"file\":{},", json(&file.file)?)?;
    let suppressed = file.suppressed.iter().map(|(finding, why)| {
        let mut entry = entry(finding);
        entry.suppression = Some(why);
        entry
    });
    write_list(out, "findings", file.findings.iter().map(entry))?;
    write_list(out, "suppressed", suppressed)?;
    write_list(out, "baseline", file.known.iter().map(entry))?;
    let tallies: BTreeMap<&str, TallyEntry> =
        file.tallies.iter().map(|(kind, tally)| (kind.rule(), TallyEntry::from(*tally))).collect();
    writeln!(out, "\"tallies\":{},", json(&tallies)?)?;
    if !file.program.restrictions.is_empty() {
        writeln!(out, "\"restrictions\":{},", json(&restrictions(&file.program))?)?;
    }
    if !file.claims.is_empty() {
        writeln!(out, "\"claims\":{},", json(&file.claims)?)?;
    }
    if !file.left_out.is_empty() {
        writeln!(out, "\"left_out\":{},", json(&file.left_out)?)?;
    }
    if !file.not_asked.is_empty() {
        let kinds: Vec<&str> = file.not_asked.iter().map(|&kind| not_asked(kind)).collect();
        writeln!(out, "\"not_asked\":{},", json(&kinds)?)?;
    }
    if file.nothing_shared {
        writeln!(out, "\"nothing_shared\":true,")?;
    }
    if file.not_reproducible {
        writeln!(out, "\"not_reproducible\":true,")?;
    }
    write!(out, "\"open\":{}}}", json(&file.open)?)
}

#[derive(Serialize)]
struct Entry<'a> {
    rule: &'static str,
    fingerprint: &'a str,
    tags: &'a [String],
    threads: Vec<&'a str>,
    locations: Vec<&'a str>,
    locks: Vec<&'a str>,
    places: Vec<PlaceFields<'a>>,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<CauseEntry<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stacks: Vec<StackEntry<'a>>,
    fix: Option<FixEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmation: Option<ConfirmationEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suppression: Option<&'a str>,
    #[serde(flatten)]
    witness: Option<WitnessEntry<'a>>,
}

impl<'a> Entry<'a> {
    fn new(finding: &'a Finding, program: &'a Program, witnesses: Witnesses) -> Self {
        let thread = |&id: &_| program.threads[id].name.as_str();
        let location = |&id: &_| program.locations[id].name.as_str();
        let lock = |&id: &_| program.locks[id].name.as_str();
        let places = |places: &[Place]| {
            places.iter().map(|&place| PlaceFields::new(place, program)).collect()
        };
        Self {
            rule: finding.kind.rule(),
            fingerprint: &finding.fingerprint,
            tags: &finding.tags,
            threads: finding.threads.iter().map(thread).collect(),
            locations: finding.locations.iter().map(location).collect(),
            locks: finding.locks.iter().map(lock).collect(),
            places: places(&finding.places),
            reason: &finding.reason,
            cause: finding.cause.as_ref().map(|cause| CauseEntry {
                line: &cause.line,
                rank: cause.rank,
                tags: &cause.tags,
                pairs: cause.pairs.iter().map(|pair| PairEntry::new(pair, &places)).collect(),
            }),
            stacks: finding
                .cause
                .iter()
                .flat_map(|_| stacks(program, finding))
                .map(|stack| StackEntry::new(&stack, program))
                .collect(),
            fix: finding
                .fix
                .as_ref()
                .map(|fix| FixEntry { text: &fix.text, places: places(&fix.places) }),
            confirmation: finding
                .confirmation
                .as_ref()
                .map(|one| ConfirmationEntry { reproduced: one.reproduced, text: &one.text }),
            suppression: None,
            witness: (witnesses.includes(0) && !finding.is_without_interleaving())
                .then(|| WitnessEntry::new(&finding.question, &finding.trace, program)),
        }
    }
}

#[derive(Serialize)]
struct ConfirmationEntry<'a> {
    reproduced: bool,
    text: &'a str,
}

#[derive(Serialize)]
struct FixEntry<'a> {
    text: &'a str,
    places: Vec<PlaceFields<'a>>,
}

#[derive(Serialize)]
struct CauseEntry<'a> {
    line: &'a str,
    rank: u8,
    tags: &'a [String],
    pairs: Vec<PairEntry<'a>>,
}

#[derive(Serialize)]
struct PairEntry<'a> {
    rule: &'static str,
    tags: &'a [String],
    threads: &'a [String],
    methods: &'a [String],
    places: Vec<PlaceFields<'a>>,
    seen_by: bool,
}

impl<'a> PairEntry<'a> {
    fn new(pair: &'a CausePair, places: &dyn Fn(&[Place]) -> Vec<PlaceFields<'a>>) -> Self {
        Self {
            rule: pair.kind.rule(),
            tags: &pair.tags,
            threads: &pair.threads,
            methods: &pair.methods,
            places: places(&pair.places),
            seen_by: pair.seen_by,
        }
    }
}

#[derive(Serialize)]
struct StackEntry<'a> {
    thread: &'a str,
    frames: Vec<FrameEntry<'a>>,
}

#[derive(Serialize)]
struct FrameEntry<'a> {
    method: &'a str,
    place: PlaceFields<'a>,
}

impl<'a> StackEntry<'a> {
    fn new(stack: &ThreadStack, program: &'a Program) -> Self {
        let frame = |&(procedure, place): &_| FrameEntry {
            method: &program.procedures[procedure].name,
            place: PlaceFields::new(place, program),
        };
        Self {
            thread: &program.threads[stack.thread].name,
            frames: stack.frames.iter().map(frame).collect(),
        }
    }
}

#[derive(Serialize)]
struct TallyEntry {
    questions: usize,
    violated: usize,
    safe: usize,
    vacuous: usize,
    unknown: usize,
}

impl From<Tally> for TallyEntry {
    fn from(Tally { questions, violated, safe, vacuous, unknown }: Tally) -> Self {
        Self { questions, violated, safe, vacuous, unknown }
    }
}

#[derive(Serialize)]
struct Complaint<'a> {
    severity: &'static str,
    #[serde(flatten)]
    warning: Warning<'a>,
}

fn complaints<'a>(checks: &Checks<'a>) -> Vec<Complaint<'a>> {
    let severity = checks.complaints.iter().map(|(_, complaint)| complaint.is_error());
    warnings(&checks.complaints)
        .into_iter()
        .zip(severity)
        .map(|(warning, is_error)| Complaint {
            severity: if is_error { "error" } else { "warning" },
            warning,
        })
        .collect()
}

#[derive(Serialize)]
struct Stats {
    files: usize,
    questions: usize,
    findings: usize,
    suppressed: usize,
    baseline: usize,
    safe: usize,
    vacuous: usize,
    unknown: usize,
    other_files: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    work_for_data: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds_for_data: Option<u64>,
    seconds: f64,
    peak_memory_bytes: Option<u64>,
}

impl Stats {
    fn new(checks: &Checks<'_>) -> Self {
        let totals = checks.totals();
        let limits = checks.settings.limits_for_data;
        Self {
            files: checks.files.len(),
            questions: totals.tally.questions,
            findings: totals.findings,
            suppressed: totals.suppressed,
            baseline: totals.known,
            safe: totals.tally.safe,
            vacuous: totals.tally.vacuous,
            unknown: totals.tally.unknown,
            other_files: checks.other_files,
            work_for_data: limits.map(|limits| limits.work),
            seconds_for_data: limits.map(|limits| limits.seconds),
            seconds: checks.elapsed.as_secs_f64(),
            peak_memory_bytes: checks.settings.peak_memory,
        }
    }
}
