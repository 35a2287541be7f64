//! Answers against an interpreter of EML that shares no code with Selvedge
//! (`selvedge_testkit::semantics`): whole sets of failures, labels, dead ends, formulas, races, deadlocks,
//! patterns, what `check` says in all its forms, and runs, on random programs in which all features meet.
//! What is `unknown` is no disagreement; a panic is one, and so is an engine that fails.
//!
//! `SELVEDGE_PROGRAMS` sets the number of programs (default: a few seconds' worth), `SELVEDGE_SEED`
//! the first seed.

#![expect(clippy::print_stdout, reason = "the large run shows its counts")]

use selvedge_analysis::{
    EngineKind, InternalError, Options, Prepared, QuestionKind, answer, answer_deadlocks, instance,
};
use selvedge_base::{Budget, FilePosition, Place};
use selvedge_findings::{CheckedFile, FindingKind, Tally};
use selvedge_library::file::Loaded;
use selvedge_library::load::Reading;
use selvedge_library::render::{Extent, Format, write_checks};
use selvedge_library::replay::{Replayed, execute, instance as instance_of};
use selvedge_library::{CheckOptions, Fixes, Text, load, target};
use selvedge_program::{
    Answer, AssertionVerdict, Deadlock, FailureKind, LocationId, PATTERNS, PatternQuestion,
    Program, Question, Race, Resource, Target, ThreadId, Trace, Units, Verdict, Wait,
};
use selvedge_replay::replay;
use selvedge_report::replay_json::Replay;
use selvedge_report::{Checks, RunSettings, Terminal};
use selvedge_testkit::Rng;
use selvedge_testkit::semantics::conflicts::{
    PatternAsked, Wanted, deadlocks, patterns, races, shows,
};
use selvedge_testkit::semantics::features::features;
use selvedge_testkit::semantics::formula::{Asked, random_formula};
use selvedge_testkit::semantics::generate::random_source;
use selvedge_testkit::semantics::machine::{Machine, State};
use selvedge_testkit::semantics::print::lines;
use selvedge_testkit::semantics::runs::some_run;
use selvedge_testkit::semantics::search::{Facts, explore_machine};
use selvedge_testkit::semantics::shrink::shrink;
use selvedge_testkit::semantics::syntax::{Block, Copies, LockStatement, Source, Statement};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// How many states the interpreter may store.
const STATES: usize = 4_000;

/// How much work an engine may do for a question.
const WORK: u64 = 2_000;

/// How many nodes of decision diagrams an engine may store.
const NODES: usize = 20_000;

/// How many formulas are asked of a program.
const FORMULAS: usize = 3;

/// How many patterns are drawn for a program with units; one that happens and one other are asked about.
const PATTERNS_DRAWN: usize = 24;

/// About how many races that happen a program is asked, and about how many others.
const ASKED: usize = 2;

/// How many edits are tried to make a program smaller.
const EDITS: usize = 1_500;

/// How many programs with a disagreement are made smaller and shown.
const SHOWN: usize = 12;

/// The features that are to meet each other; each occurs in a slice of 400 programs.
const MIXED: [&str; 20] = [
    "conditions",
    "reentrant locks",
    "mutexes",
    "arrays of locks",
    "locks by hand",
    "copies [N]",
    "copies [*]",
    "start",
    "join",
    "int a..b",
    "enum",
    "thread",
    "arrays",
    "wait",
    "atomic",
    "volatile",
    "guarded by",
    "exclusive when",
    "channels",
    "recursion",
];

thread_local! {
    /// Whether a panic is an answer of Selvedge, and is not to be printed.
    static ASKING: Cell<bool> = const { Cell::new(false) };
}

/// What a run counts.
#[derive(Default)]
struct Counts {
    programs: usize,
    skipped: BTreeMap<String, usize>,
    compared: BTreeMap<String, [usize; 3]>,
    disagreements: BTreeMap<String, usize>,
    states: usize,
    features: BTreeMap<&'static str, usize>,
}

/// What is wrong: of which kind, and in words.
type Disagreement = (String, String);

/// What was found out about a program.
#[derive(Default)]
struct Judged {
    skipped: Option<String>,
    /// By kind: violations, proofs, open questions.
    compared: BTreeMap<String, [usize; 3]>,
    disagreements: Vec<Disagreement>,
    states: usize,
}

impl Judged {
    fn count(&mut self, kind: &str, verdict: usize) {
        self.compared.entry(kind.to_owned()).or_default()[verdict] += 1;
    }

    fn wrong(&mut self, kind: &str, words: impl Into<String>) {
        self.disagreements.push((kind.to_owned(), words.into()));
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn program(text: &str) -> Result<Program, String> {
    let texts = Text::new("random.eml", text).into();
    let (model, complaints) = load(&texts, Reading::default());
    model.map(|model| model.program).ok_or_else(|| {
        let all = complaints.iter().flat_map(|(_, all)| all);
        all.filter(|one| one.is_error()).map(|one| one.code.to_owned()).next().unwrap_or_default()
    })
}

fn line(place: Place) -> u32 {
    match place.position {
        FilePosition::Line { line, .. } => line,
        _ => 0,
    }
}

fn has(block: &Block, what: &dyn Fn(&Statement) -> bool) -> bool {
    block.iter().any(|one| {
        what(one)
            || match one {
                Statement::Label(_, inner) => has(&vec![(**inner).clone()], what),
                Statement::Unit(body)
                | Statement::Atomic(body)
                | Statement::Synchronized(_, body)
                | Statement::While(_, body) => has(body, what),
                Statement::If(_, first, second) => has(first, what) || has(second, what),
                _ => false,
            }
    })
}

fn anywhere(source: &Source, what: &dyn Fn(&Statement) -> bool) -> bool {
    let functions = source.processes.iter().flat_map(|process| &process.functions);
    functions.into_iter().any(|function| has(&function.body, what))
}

/// Asks an engine within limits; a panic is an answer of its own.
fn within<T>(
    engine: Option<EngineKind>,
    ask: impl FnOnce(&Options, &Budget) -> Result<T, InternalError>,
) -> Result<T, String> {
    within_work(engine, WORK, ask)
}

fn within_work<T>(
    engine: Option<EngineKind>,
    work: u64,
    ask: impl FnOnce(&Options, &Budget) -> Result<T, InternalError>,
) -> Result<T, String> {
    let options = Options { assertions: true, max_nodes: Some(NODES), ..Options::new(engine) };
    // The two that make one pushdown system of all threads look at their budget seldom.
    let slow = matches!(engine, Some(EngineKind::Pds | EngineKind::Spds));
    let budget = Budget::with_steps(if slow { work / 20 } else { work });
    ASKING.set(true);
    let asked = catch_unwind(AssertUnwindSafe(|| ask(&options, &budget)));
    ASKING.set(false);
    match asked {
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(format!("panic: {}", text.unwrap_or_default()))
        }
        Ok(Err(error)) => Err(format!("internal error: {error}")),
        Ok(Ok(answer)) => Ok(answer),
    }
}

fn ask(
    program: &Program,
    question: &Question,
    engine: Option<EngineKind>,
) -> Result<Answer, String> {
    let report = within(engine, |options, budget| {
        let prepared = Prepared::new(program);
        answer(&prepared, std::slice::from_ref(question), options, budget, &mut |_| {})
    });
    let mut report = report?;
    // An engine that fails is an error, also where another one has answered.
    match report.faults.first() {
        Some(fault) => Err(format!("fault: {}", fault.message)),
        None => Ok(report.answers.remove(0)),
    }
}

fn name_of(engine: Option<EngineKind>) -> &'static str {
    engine.map_or("default", EngineKind::name)
}

/// A program as Selvedge has read it, and everything that can happen in it.
struct Case<'a> {
    /// As it was read.
    given: &'a Program,
    /// With copies and wakeups.
    program: &'a Program,
    facts: &'a Facts,
    /// What the kinds of answers are called, beside their engine.
    suffix: &'static str,
    turn: u64,
}

impl Case<'_> {
    /// Puts a question to engines; `happens` is what the interpreter says.
    fn ask(&self, judged: &mut Judged, kind: &str, question: &Question, happens: bool) {
        for engine in engines(QuestionKind::of(question), self.turn) {
            let kind = &format!("{kind}{} {}", self.suffix, name_of(engine));
            let answer = match ask(self.program, question, engine) {
                Ok(answer) => answer,
                Err(why) => {
                    judged.wrong(kind, why);
                    continue;
                }
            };
            self.verdict(judged, kind, &answer, happens);
            if *question == Question::Reach(Target::Assertion)
                && let Some(searched) = answer.searched
                && let Some(list) = searched.assertions
            {
                self.list(judged, &format!("list of {kind}"), &list, searched.waiting == 0);
            }
        }
    }

    fn verdict(&self, judged: &mut Judged, kind: &str, answer: &Answer, happens: bool) {
        match &answer.verdict {
            Verdict::Unknown(_) => judged.count(kind, 2),
            Verdict::Violation(trace) => {
                // What the interpreter has not followed may be found.
                if !happens && !self.facts.cut {
                    judged.wrong(kind, "a violation that cannot happen");
                }
                judged.count(kind, 0);
                if answer.question == Question::Reach(Target::Assertion) {
                    self.failure(judged, kind, trace);
                }
                self.replay(judged, &answer.question, trace);
            }
            Verdict::Safe => {
                if happens {
                    judged.wrong(kind, "safe, although it happens");
                }
                judged.count(kind, 1);
            }
        }
    }

    fn thread(&self, machine: &Machine<'_>, thread: usize) -> ThreadId {
        let name = machine.name(thread);
        let mut all = self.program.threads.iter_enumerated();
        all.find(|(_, one)| one.name == name).expect("the same threads").0
    }

    fn location(&self, machine: &Machine<'_>, cell: usize) -> LocationId {
        let name = machine.location(cell);
        let mut all = self.program.locations.iter_enumerated();
        all.find(|(_, one)| one.name == name).expect("the same locations").0
    }

    /// Asks about races: about some that happen, and some others.
    fn races(&self, judged: &mut Judged, machine: &Machine<'_>) {
        let happen = races(machine, self.facts);
        let threads = machine.threads.len();
        let mut all = Vec::new();
        for cell in 0..machine.locations() {
            for first in 0..threads {
                all.extend((first + 1..threads).map(|second| (cell, first, second)));
            }
        }
        let (mut asked, mut others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|race| happen.contains(race));
        asked.truncate(ASKED);
        others.truncate(ASKED);
        asked.extend(others);
        for race in asked {
            let (cell, first, second) = race;
            let mut threads = [self.thread(machine, first), self.thread(machine, second)];
            threads.sort_unstable();
            let question = Question::Race(Race { location: self.location(machine, cell), threads });
            let before = judged.disagreements.len();
            self.ask(judged, "race", &question, happen.contains(&race));
            for (_, words) in &mut judged.disagreements[before..] {
                let (first, second) = (machine.name(first), machine.name(second));
                let _ = write!(words, ": {first} and {second} for {}", machine.location(cell));
            }
        }
    }

    /// Asks about all deadlocks.
    fn deadlocks(&self, judged: &mut Judged, machine: &Machine<'_>) {
        let resource = |wanted: Wanted| match wanted {
            Wanted::End(other) => Resource::End(self.thread(machine, other)),
            Wanted::Lock(lock) => {
                let name = machine.lock_name(lock);
                let mut all = self.program.locks.iter_enumerated();
                Resource::Lock(all.find(|(_, one)| one.name == name).expect("the same locks").0)
            }
        };
        let mut happen = BTreeSet::new();
        for cycle in deadlocks(machine, self.facts) {
            let mut waits: Vec<Wait> = Vec::new();
            for (at, &(thread, wanted)) in cycle.iter().enumerate() {
                let held = cycle[(at + cycle.len() - 1) % cycle.len()].1;
                let thread = self.thread(machine, thread);
                waits.push(Wait { thread, holds: resource(held), wants: resource(wanted) });
            }
            let first = (0..waits.len()).min_by_key(|&at| waits[at].thread).expect("a wait");
            waits.rotate_left(first);
            happen.insert(Deadlock { waits });
        }
        let threads: Vec<ThreadId> = self.program.threads.ids().collect();
        for engine in engines(QuestionKind::Deadlock, self.turn) {
            let kind = format!("deadlock{} {}", self.suffix, name_of(engine));
            let prepared = Prepared::new(self.program);
            let found = within(engine, |options, budget| {
                answer_deadlocks(&prepared, &threads, Vec::new(), options, budget, &mut |_| {})
            });
            let found = match found {
                Ok(found) => found,
                Err(why) => {
                    judged.wrong(&kind, why);
                    continue;
                }
            };
            let mut missing = happen.clone();
            for answer in &found.report.answers {
                let Question::Deadlock(deadlock) = &answer.question else { continue };
                let happens = missing.remove(deadlock);
                self.verdict(judged, &kind, answer, happens);
            }
            if found.unasked.is_some() {
                judged.count(&kind, 2);
            } else if let Some(deadlock) = missing.first() {
                judged.wrong(&kind, format!("is not asked about: {deadlock:?}"));
            }
        }
    }

    /// Asks about patterns.
    fn patterns(&self, judged: &mut Judged, machine: &Machine<'_>, all: &[PatternAsked]) {
        let fits = |one: &&PatternAsked| {
            one.threads.iter().all(|&thread| thread < machine.threads.len())
                && one.locations.iter().all(|&cell| cell < machine.locations())
        };
        let in_unit = |state: &State, thread: usize| machine.is_in_unit(state, thread);
        let (mut asked, mut others): (Vec<_>, Vec<_>) =
            all.iter().filter(fits).partition(|one| shows(self.facts, in_unit, one));
        asked.truncate(1);
        let happens = asked.len();
        others.truncate(1);
        asked.extend(others);
        for (at, one) in asked.into_iter().enumerate() {
            let mut pattern = PATTERNS.iter();
            let pattern = pattern.find(|pattern| pattern.number == one.number).expect("a pattern");
            let both = one.accesses.iter().any(|access| access.second);
            let cells = &one.locations[..if both { 2 } else { 1 }];
            let question = Question::Pattern(PatternQuestion {
                pattern,
                units: Units::Exact,
                unit_thread: self.thread(machine, one.threads[0]),
                other_thread: self.thread(machine, one.threads[1]),
                locations: cells.iter().map(|&cell| self.location(machine, cell)).collect(),
            });
            let before = judged.disagreements.len();
            self.ask(judged, "atomicity", &question, at < happens);
            for (_, words) in &mut judged.disagreements[before..] {
                let _ = write!(words, ": {one:?}");
            }
        }
    }

    /// Asks whether a run satisfies a formula.
    fn formula(&self, judged: &mut Judged, source: &Source, machine: &Machine<'_>, asked: &Asked) {
        let text = asked.text(source, machine);
        let Some(happens) = some_run(machine, self.facts, asked) else {
            judged.count("formulas that are too large", 2);
            return;
        };
        let fair: Vec<ThreadId> =
            asked.fair.iter().map(|&thread| self.thread(machine, thread)).collect();
        let (questions, complaints) = selvedge_logic::parse(&text, self.program, &fair);
        let [question] = &questions[..] else {
            // What stands in a function that nobody calls is in no thread.
            if complaints
                .iter()
                .all(|one| ["unknown-function", "unknown-label"].contains(&one.code))
            {
                judged.count("formulas about functions that are not called", 2);
            } else {
                judged.wrong("temporal", format!("is refused: {text}"));
            }
            return;
        };
        let before = judged.disagreements.len();
        self.ask(judged, "temporal", &Question::Temporal(question.clone()), happens);
        let fair: Vec<String> = asked.fair.iter().map(|&thread| machine.name(thread)).collect();
        for (_, words) in &mut judged.disagreements[before..] {
            let _ = write!(words, ": {text} --fair {}", fair.join(","));
        }
    }

    /// The failure in which a run ends is one that can happen.
    fn failure(&self, judged: &mut Judged, kind: &str, trace: &Trace) {
        let Some((last, word)) = trace.steps.last().zip(trace.fails) else { return };
        let at = line(last.place);
        if !self.facts.can_fail(word.word(), at) && !self.facts.cut {
            judged.wrong(kind, format!("{} in line {at} cannot happen", word.word()));
        }
    }

    /// A run is executed again from its JSON, as `selvedge replay` does, and from the trace, as a cache
    /// does.
    fn replay(&self, judged: &mut Judged, question: &Question, trace: &Trace) {
        let kind = &format!("replay{}", self.suffix);
        if let Err(error) = replay(self.program, question, &trace.witness(self.program)) {
            judged.wrong(kind, format!("not from the trace: {error}"));
        }
        let text = serde_json::to_string(&Replay::new(question, trace, self.program));
        let again = serde_json::from_str::<Replay>(&text.expect("runs are texts"));
        let again = match again {
            Ok(again) => again,
            Err(error) => return judged.wrong(kind, format!("cannot be read: {error}")),
        };
        let budget = Budget::new();
        let replayed = match instance_of(self.given, &again, &budget) {
            Ok(program) => execute(&program, &again, &budget),
            Err(why) => Replayed::Fails(why),
        };
        match replayed {
            Replayed::Holds(..) => judged.count(kind, 0),
            Replayed::Open(_) => judged.count(kind, 2),
            Replayed::Fails(why) => judged.wrong(kind, why),
        }
    }

    /// The list with a verdict of its own for every step that can fail, against all failures. If it is
    /// `whole`, nothing is missing in it.
    fn list(&self, judged: &mut Judged, kind: &str, list: &[AssertionVerdict<Trace>], whole: bool) {
        let mut open = !whole;
        let mut violated: BTreeSet<(&str, u32)> = BTreeSet::new();
        for one in list {
            let (word, at) = (one.kind.word(), line(one.place));
            match one.verdict {
                Verdict::Unknown(_) => open = true,
                Verdict::Safe if self.facts.can_fail(word, at) => {
                    judged.wrong(kind, format!("{word} in line {at} is listed as safe"));
                }
                Verdict::Violation(_) if !self.facts.can_fail(word, at) && !self.facts.cut => {
                    judged.wrong(kind, format!("{word} in line {at} cannot happen"));
                }
                Verdict::Violation(_) => _ = violated.insert((word, at)),
                Verdict::Safe => {}
            }
            judged.count(
                kind,
                match one.verdict {
                    Verdict::Violation(_) => 0,
                    Verdict::Safe => 1,
                    Verdict::Unknown(_) => 2,
                },
            );
        }
        if open {
            return;
        }
        let together = self.facts.together.iter().flatten();
        for &(word, at) in self.facts.failures.iter().chain(together) {
            if !violated.contains(&(word.word(), at)) {
                judged.wrong(kind, format!("{} in line {at} is missing", word.word()));
            }
        }
    }
}

/// The engine that is chosen, the search of states, and one of the others in turn.
fn engines(kind: QuestionKind, turn: u64) -> Vec<Option<EngineKind>> {
    let mut able = EngineKind::deciding(&[kind]);
    if kind == QuestionKind::Temporal {
        return [None].into_iter().chain(able.into_iter().map(Some)).collect();
    }
    able.retain(|one| *one != EngineKind::Transactions);
    let turn = usize::try_from(turn % 1_000).unwrap_or(0);
    let other = able.get(turn % able.len().max(1)).copied();
    [None, Some(EngineKind::Transactions)].into_iter().chain(other.map(Some)).collect()
}

/// What is asked of a program beside what can always be asked.
struct Drawn {
    formulas: Vec<Asked>,
    patterns: Vec<PatternAsked>,
}

impl Drawn {
    fn new(source: &Source, seed: u64) -> Self {
        let machine = Machine::new(source, lines(source), 2, false);
        let rng = &mut Rng::new(seed ^ 0x5eed);
        let formulas = (0..FORMULAS).map(|_| random_formula(rng, source, &machine)).collect();
        let (threads, cells) = (machine.threads.len(), machine.locations());
        let has_units = anywhere(source, &|one| matches!(one, Statement::Unit(_)));
        let mut drawn = Vec::new();
        if threads > 1 && cells > 0 && has_units {
            let all = patterns();
            while drawn.len() < PATTERNS_DRAWN {
                let (number, accesses) = rng.pick(&all).clone();
                let first = rng.below(threads);
                let threads = [first, (first + rng.between(1, threads - 1)) % threads];
                let at = rng.below(cells);
                let locations = [at, (at + rng.below(cells)) % cells];
                let two = accesses.iter().any(|access| access.second);
                if two && (cells == 1 || locations[0] == locations[1]) {
                    continue;
                }
                drawn.push(PatternAsked { number, accesses, threads, locations });
            }
        }
        Self { formulas, patterns: drawn }
    }
}

/// What `check` says of a program, in all its forms.
struct CheckSays {
    checked: CheckedFile,
    /// The kinds of findings of which `JUnit` says that they are proved to be none.
    proved: Vec<String>,
}

impl CheckSays {
    fn new(judged: &mut Judged, text: &str) -> Option<Self> {
        let options = CheckOptions { fixes: Fixes::Skip, ..CheckOptions::default() };
        let mut loaded = Loaded::new(Text::new("random.eml", text), true);
        loaded.prepare(&options);
        let asked = within(None, |limits, _| {
            let options = CheckOptions { analysis: *limits, ..options.clone() };
            let budget = Budget::with_steps(WORK * 10);
            loaded.check(&options, None, &budget, &mut |_, _, _| {}).expect("a program")
        });
        let checked = match asked {
            Ok(asked) => asked.checked,
            Err(why) => {
                judged.wrong("check", why);
                return None;
            }
        };
        if let Some(fault) = checked.faults.first() {
            judged.wrong("check", format!("fault: {}", fault.message));
        }
        let files = [loaded.report(checked)];
        let checks = Checks {
            files: &files,
            complaints: Vec::new(),
            other_files: 0,
            settings: RunSettings::default(),
            elapsed: Duration::ZERO,
        };
        let written = |format: Format| {
            let terminal = Terminal { width: 100, color: false };
            let mut out = Vec::new();
            write_checks(&checks, format, Extent::ALL, terminal, &mut out).expect("it is written");
            String::from_utf8(out).expect("a text")
        };
        let mut proved = Vec::new();
        let mut name = None;
        for line in written(Format::Junit).lines() {
            if let Some((_, rest)) = line.split_once("<testcase name=\"no ") {
                name = rest.split_once('"').map(|one| one.0.to_owned());
            } else if line.contains("<system-out>proved ") {
                proved.extend(name.take());
            }
        }
        let sarif = serde_json::from_str::<serde_json::Value>(&written(Format::Sarif));
        let sarif = sarif.expect("JSON");
        let results =
            sarif.pointer("/runs/0/results").and_then(|one| one.as_array()).expect("a list");
        let told: Vec<(&str, u64)> = results
            .iter()
            .filter(|one| one["kind"] == "fail")
            .map(|one| {
                let line = &one["locations"][0]["physicalLocation"]["region"]["startLine"];
                (one["ruleId"].as_str().unwrap_or_default(), line.as_u64().unwrap_or_default())
            })
            .collect();
        let found: Vec<(&str, u64)> = files[0]
            .findings
            .iter()
            .map(|one| (one.kind.rule(), u64::from(one.places.first().map_or(0, |at| line(*at)))))
            .collect();
        if told != found {
            judged.wrong("check", format!("SARIF says {told:?} of {found:?}"));
        }
        let [checked] = files;
        Some(Self { checked, proved })
    }

    fn tally(&self, kind: FindingKind) -> Tally {
        let mut tallies = self.checked.tallies.iter();
        tallies.find(|(own, _)| *own == kind).map(|(_, tally)| *tally).unwrap_or_default()
    }

    /// Whether the exit code and `JUnit` claim that there is none of a kind.
    fn judge_kind(&self, judged: &mut Judged, kind: FindingKind, happens: Option<bool>) {
        let tally = self.tally(kind);
        let name = format!("check: {}", kind.rule());
        let called = match kind {
            FindingKind::Stuck => "dead end".to_owned(),
            other => other.rule().replace('-', " "),
        };
        let proved = self.proved.contains(&called);
        let verdict = match (tally.violated, tally.unknown) {
            (0, 0) if tally.questions > 0 => 1,
            (0, _) => 2,
            _ => 0,
        };
        judged.count(&name, verdict);
        // Questions that nothing could violate prove nothing.
        if proved != (verdict == 1 && tally.proved() > 0) && tally.questions > 0 {
            judged.wrong(&name, format!("JUnit says proved: {proved}, of {tally:?}"));
        }
        match happens {
            Some(true) if verdict == 1 || proved => {
                judged.wrong(&name, "safe, although it happens");
            }
            Some(false) if verdict == 0 => judged.wrong(&name, "a violation that cannot happen"),
            _ => {}
        }
    }

    /// Against an instance; `whole` if the program is no other than this one.
    fn judge(&self, judged: &mut Judged, case: &Case<'_>, machine: &Machine<'_>, whole: bool) {
        let facts = case.facts;
        let certain = whole && !facts.cut;
        let of = |happens: bool| (happens || certain).then_some(happens);
        self.judge_kind(judged, FindingKind::Assertion, of(facts.fails()));
        for finding in self.checked.findings.iter().filter(|_| certain) {
            if finding.kind == FindingKind::Assertion {
                case.failure(judged, "check: assertion-failure", &finding.trace);
            }
        }
        if !self.checked.not_asked.contains(&FindingKind::Stuck) {
            let said = |(_, tally): &(FindingKind, Tally)| tally.unknown > 0;
            let waits = [FindingKind::Stuck, FindingKind::Deadlock];
            let found = waits.iter().any(|&kind| self.tally(kind).violated > 0);
            if facts.dead_end && !found && !self.checked.tallies.iter().any(said) {
                judged.wrong("check: stuck", "is silent about a dead end");
            }
            let other = self.tally(FindingKind::Deadlock).violated > 0;
            // A dead end with a deadlock in it is no finding of its own.
            let happens = facts.dead_end && !other;
            self.judge_kind(judged, FindingKind::Stuck, of(happens).filter(|_| !other));
        }
        let happen = deadlocks(machine, facts).len();
        if !self.checked.not_asked.contains(&FindingKind::Deadlock) {
            self.judge_number(judged, FindingKind::Deadlock, happen, None, certain);
        }
        let pairs = machine.threads.len() * machine.threads.len().saturating_sub(1) / 2;
        let all = pairs * machine.locations();
        let happen = races(machine, facts).len();
        self.judge_number(judged, FindingKind::Race, happen, Some(all), certain);
    }

    /// Whether as many questions have an answer of each kind as there are cases.
    fn judge_number(
        &self,
        judged: &mut Judged,
        kind: FindingKind,
        happen: usize,
        all: Option<usize>,
        certain: bool,
    ) {
        self.judge_kind(judged, kind, (happen > 0 || certain).then_some(happen > 0));
        let tally = self.tally(kind);
        let too_many = tally.violated > happen || all.is_some_and(|all| tally.safe > all - happen);
        let too_few = tally.unknown == 0 && tally.violated != happen;
        if certain && tally.questions > 0 && (too_many || too_few) {
            let name = format!("check: {}", kind.rule());
            judged.wrong(&name, format!("{happen} of {all:?} happen: {tally:?}"));
        }
    }
}

fn judge(source: &Source, drawn: &Drawn, turn: u64) -> Judged {
    let mut judged = Judged::default();
    let printed = lines(source);
    let given = match program(&printed.text) {
        Ok(program) => program,
        Err(code) => {
            judged.skipped = Some(format!("refused: {code}"));
            return judged;
        }
    };
    let any = source.processes.iter().any(|process| process.copies == Copies::Any);
    let waits = anywhere(source, &|one| matches!(one, Statement::Lock(LockStatement::Wait, _)));
    let says = CheckSays::new(&mut judged, &printed.text);
    // Whoever starts copies without end is not at a dead end where a number of them is used up.
    let counted = source.processes.iter().any(|one| one.copies == Copies::Any && one.waits);
    for copies in if any { vec![1, 2] } else { vec![1] } {
        let number = u32::try_from(copies).expect("few");
        let mut program = instance(given.clone(), &[], number).program;
        for spurious in if waits { vec![false, true] } else { vec![false] } {
            let machine = Machine::new(source, printed.clone(), copies, spurious);
            let Some(facts) = explore_machine(&machine, STATES) else {
                judged.skipped = Some("too many states".to_owned());
                return judged;
            };
            program.spurious_wakeups = spurious;
            judged.states += facts.states.len();
            let suffix = if spurious { " --spurious-wakeups" } else { "" };
            let case = Case { given: &given, program: &program, facts: &facts, suffix, turn };
            for asked in drawn.formulas.iter().filter(|asked| asked.fits(source, &machine)) {
                case.formula(&mut judged, source, &machine, asked);
            }
            if let Some(says) = says.as_ref().filter(|_| !spurious) {
                says.judge(&mut judged, &case, &machine, !any);
            }
            case.races(&mut judged, &machine);
            case.deadlocks(&mut judged, &machine);
            case.patterns(&mut judged, &machine, &drawn.patterns);
            case.ask(&mut judged, "reach", &Question::Reach(Target::Assertion), facts.fails());
            for label in labels(source) {
                match target::label(&program, &format!("m{label}")) {
                    Ok(wanted) => {
                        let question = Question::Reach(wanted);
                        case.ask(&mut judged, "label", &question, facts.labels.contains(&label));
                    }
                    Err(_) => judged.wrong("label", "there is no such label"),
                }
            }
            if !counted {
                case.ask(&mut judged, "dead ends", &Question::Stuck, facts.dead_end);
            }
        }
    }
    judged
}

fn labels(source: &Source) -> BTreeSet<usize> {
    let found = RefCell::new(BTreeSet::new());
    anywhere(source, &|one| {
        if let Statement::Label(label, _) = one {
            found.borrow_mut().insert(*label);
        }
        false
    });
    found.into_inner()
}

impl Counts {
    fn add(&mut self, source: &Source, judged: &Judged) {
        self.programs += 1;
        self.states += judged.states;
        if let Some(why) = &judged.skipped {
            *self.skipped.entry(why.clone()).or_default() += 1;
        }
        if judged.skipped.is_none() {
            for feature in features(source) {
                *self.features.entry(feature).or_default() += 1;
            }
        }
        for (kind, counts) in &judged.compared {
            let sums = self.compared.entry(kind.clone()).or_default();
            (0..3).for_each(|at| sums[at] += counts[at]);
        }
        for (kind, _) in &judged.disagreements {
            self.compared.entry(kind.clone()).or_default();
            *self.disagreements.entry(kind.clone()).or_default() += 1;
        }
    }

    fn table(&self) -> String {
        let mut table = format!("{} programs with {} states\n", self.programs, self.states);
        for (why, number) in &self.skipped {
            let _ = writeln!(table, "    {number} skipped, {why}");
        }
        let _ = writeln!(table, "programs with each feature, of those that are not skipped");
        for (feature, number) in &self.features {
            let _ = writeln!(table, "    {feature:<28} {number:>7}");
        }
        let head = ["kind", "happens", "never", "unknown", "wrong"];
        let _ = writeln!(
            table,
            "{:<52} {:>9} {:>9} {:>9} {:>9}",
            head[0], head[1], head[2], head[3], head[4]
        );
        for (kind, [happens, never, unknown]) in &self.compared {
            let wrong = self.disagreements.get(kind).copied().unwrap_or(0);
            let _ = writeln!(table, "{kind:<52} {happens:>9} {never:>9} {unknown:>9} {wrong:>9}");
        }
        table
    }
}

/// The smallest program with the same disagreement, and what is wrong with it.
fn smallest(source: Source, drawn: &Drawn, seed: u64, (kind, words): &Disagreement) -> String {
    // The formula may become another one.
    let shape = |words: &str| {
        let words =
            words.split_once(": A ").or(words.split_once(": E ")).map_or(words, |one| one.0);
        words.replace(|one: char| one.is_ascii_digit(), "")
    };
    let wanted = (kind, shape(words));
    let small = shrink(source, EDITS, |edited| {
        let all = judge(edited, drawn, seed).disagreements;
        all.iter().any(|(kind, words)| (kind, shape(words)) == wanted)
    });
    let mut shown = format!("---- seed {seed}, {kind}: {words}\n{}", lines(&small).text);
    for (kind, words) in judge(&small, drawn, seed).disagreements {
        let _ = writeln!(shown, "     {kind}: {words}");
    }
    shown
}

#[test]
fn answers_are_those_of_the_book() {
    let programs = number("SELVEDGE_PROGRAMS", 400);
    let first = number("SELVEDGE_SEED", 1);
    let mut tally = Counts::default();
    let mut shown = Vec::new();
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !ASKING.get() {
            usual(panic);
        }
    }));
    for seed in first..first + programs {
        let source = random_source(&mut Rng::new(seed));
        let drawn = Drawn::new(&source, seed);
        let judged = judge(&source, &drawn, seed);
        tally.add(&source, &judged);
        if let Some(wrong) = judged.disagreements.first()
            && shown.len() < SHOWN
        {
            shown.push(smallest(source, &drawn, seed, wrong));
        }
    }
    _ = std::panic::take_hook();
    println!("{}{}", tally.table(), shown.concat());
    assert!(tally.disagreements.is_empty(), "there are disagreements, see above");
    let all = tally.programs >= 400;
    for feature in MIXED.into_iter().filter(|_| all) {
        assert!(tally.features.contains_key(feature), "no program has {feature}");
    }
    assert!(tally.skipped.values().sum::<usize>() * 5 < tally.programs, "too many are skipped");
}

/// What a step that fails would have opened or closed is no part of its run.
#[test]
fn runs_that_end_in_a_call_or_a_return_that_fails_replay() {
    for (text, word) in [
        ("process P { main { f(2); } f(int 0..1 : t) { } }", "range"),
        ("process P { main { int 0..1 : t = f(); } f() : int 0..1 { return 2; } }", "range"),
    ] {
        let program = program(text).expect("a valid program");
        let question = Question::Reach(Target::Assertion);
        let answer = ask(&program, &question, None).expect("an answer");
        let Verdict::Violation(trace) = answer.verdict else { panic!("no violation: {text}") };
        assert_eq!(trace.fails.map(FailureKind::word), Some(word), "{text}");
        let mut judged = Judged::default();
        let facts = Facts::default();
        let case = Case { given: &program, program: &program, facts: &facts, suffix: "", turn: 0 };
        case.replay(&mut judged, &question, &trace);
        assert_eq!(judged.disagreements, Vec::new(), "{text}");
    }
}
