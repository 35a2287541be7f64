//! # Idea
//! A part of a check as JSON: what was asked of what, and every answer. The texts of a file are written by
//! the one part that also counts what no engine decides, so that all parts together have each text once.
//!
//! # Requires
//! What is read may be anything.
//!
//! # Invariants
//! 1. A violation is kept as its question and its steps, and executed again when it is read.
//! 2. What is read has ids in the range of the program.

use super::Shard;
use crate::cache::digest;
use crate::cache::entry::StoredPlace;
use crate::check::{AllAnswers, CheckOptions, Fixes, KindAnswers, assertions};
use crate::file::Loaded;
use crate::goals::Goals;
use crate::java::JavaPart;
use crate::load::{Text, Texts};
use crate::restrict::ThreadRestriction;
use selvedge_base::{Budget, Diagnostic, Severity, Span};
use selvedge_findings::FindingKind;
use selvedge_program::{AddedUnits, Answer, Program, Question, Resource, Units, Unknown, Verdict};
use selvedge_replay::replay;
use selvedge_report::json::FORMAT;
use selvedge_report::replay_json::{QuestionNumbers, Replay};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

/// What the JSON of a part has beside that of a check.
#[derive(Clone, Serialize, Deserialize)]
pub struct StoredShard {
    /// Which part, from 1.
    pub index: u32,
    /// Of how many.
    pub count: u32,
    /// What was asked, and the limits.
    pub options: StoredOptions,
    /// The configuration file, if there is one.
    pub config: Option<StoredText>,
    /// The baseline, if there is one.
    pub baseline: Option<StoredText>,
    /// The automata that say which runs of a thread count.
    pub restrictions: Vec<StoredRestriction>,
    /// How many files of other kinds the folders have.
    pub other_files: usize,
    /// Whether a limit asks for fewer interleavings.
    pub few_interleavings: bool,
    /// The files, in the order of the run.
    pub files: Vec<StoredFile>,
}

/// The options of a check.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredOptions {
    rules: Vec<String>,
    /// Whether the user chose the rules.
    #[serde(default)]
    chosen: bool,
    patterns: Vec<u32>,
    units: String,
    add_units: Option<String>,
    fixes: bool,
    max_nodes: Option<usize>,
    /// How many steps the analysis of one file may take.
    pub max_work: Option<u64>,
    /// The time limit in seconds.
    pub timeout: Option<f64>,
    /// The memory limit in bytes.
    pub memory: Option<u64>,
}

/// A text under a name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StoredText {
    /// Its name.
    pub name: String,
    /// The text.
    pub text: String,
}

impl From<&Text> for StoredText {
    fn from(text: &Text) -> Self {
        Self { name: text.name.clone(), text: text.text.clone() }
    }
}

impl From<&StoredText> for Text {
    fn from(text: &StoredText) -> Self {
        Self::new(&text.name, &text.text)
    }
}

/// An automaton for a thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StoredRestriction {
    /// The name of the thread.
    pub thread: String,
    /// The text of the automaton.
    pub automaton: StoredText,
}

/// A file, or a folder that is none.
#[derive(Clone, Serialize, Deserialize)]
pub struct StoredFile {
    /// Its name.
    pub file: String,
    /// What decides which part has which of its questions.
    pub identity: String,
    /// The SHA-256 of what was read.
    pub sha256: String,
    /// What was read; only in one of the parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<StoredSource>,
    /// Why it was not read to its end, if a limit was met before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
    /// The answers, if something was understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<StoredAnswers>,
    /// The same of a program in Java.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub java: Option<JavaPart>,
    /// Whether a limit was met there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub java_stopped: bool,
    /// Whether a limit was met that depends on the machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_reproducible: bool,
    /// The bug that kept it from being analysed, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bug: Option<String>,
}

/// What was read of a file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSource {
    /// Whether it has a name, unlike standard input.
    named: bool,
    text: String,
    /// The texts beside it.
    beside: Vec<StoredText>,
    /// What is wrong with it, if it could not be read as a text.
    refused: Option<StoredComplaint>,
    /// Its name as seen from the folder of the configuration.
    pub name_for_config: Option<String>,
    /// Its name as seen from the folder of the baseline.
    pub name_for_baseline: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct StoredComplaint {
    code: String,
    message: String,
    /// The bytes that it is about, with a remark.
    place: Option<(u32, u32, String)>,
    help: Option<String>,
}

/// The codes of complaints about files that cannot be read as texts.
const UNREADABLE: [&str; 4] = ["unreadable-file", "not-utf8", "bad-folder", "unknown-format"];

/// The answers about a file.
#[derive(Clone, Serialize, Deserialize)]
pub struct StoredAnswers {
    kinds: Vec<StoredKind>,
    unreached: Vec<StoredPlace>,
    /// Whether a limit was met.
    pub stopped: bool,
}

#[derive(Clone, Serialize, Deserialize)]
struct StoredKind {
    rule: String,
    answers: Vec<StoredAnswer>,
    safe: u64,
    vacuous: u64,
    unknown: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unasked: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cut: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    not_asked: bool,
}

/// A question with its answer. That of a violation is in its replay.
#[derive(Clone, Serialize, Deserialize)]
struct StoredAnswer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    question: Option<QuestionNumbers>,
    verdict: String,
    engine: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replay: Option<Replay>,
    /// The transaction that each step belongs to, if the engine knows of transactions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    transactions: Vec<u32>,
}

/// The JSON of one part of a check, as far as it matters for the whole.
#[derive(Clone)]
pub struct PartReport {
    /// The name of its file.
    pub name: String,
    /// What it has beside the JSON of a check.
    pub shard: StoredShard,
    /// How long it took.
    pub elapsed: Duration,
    /// Its peak memory, if that is known.
    pub peak_memory: Option<u64>,
}

impl PartReport {
    /// Reads the JSON of a part.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let mut value: Value =
            serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
        let tool = &value["tool"];
        if tool["name"] != "selvedge" {
            return Err("it is no report of Selvedge".to_owned());
        }
        let ours = env!("CARGO_PKG_VERSION");
        match tool["version"].as_str() {
            Some(version) if version == ours => {}
            Some(version) => {
                return Err(format!("version {version} wrote it, and this is {ours}"));
            }
            None => return Err("it does not say which version wrote it".to_owned()),
        }
        if value["format"] != FORMAT {
            return Err(format!("it has the format {}, and this is {FORMAT}", value["format"]));
        }
        if value["analysis"] != "check" {
            return Err("it is no report of `selvedge check`".to_owned());
        }
        let stored = value["shard"].take();
        if stored.is_null() {
            return Err("it is the report of a whole run, and of no shard".to_owned());
        }
        let shard: StoredShard = serde_json::from_value(stored)
            .map_err(|error| format!("its shard has another form: {error}"))?;
        if Shard::new(shard.index, shard.count).is_none() {
            return Err(format!("there is no shard {}/{}", shard.index, shard.count));
        }
        let seconds = value["stats"]["seconds"].as_f64();
        let elapsed = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let elapsed = elapsed.ok_or("it does not say how long it took")?;
        let peak_memory = value["stats"]["peak_memory_bytes"].as_u64();
        Ok(Self { name: name.to_owned(), shard, elapsed, peak_memory })
    }
}

impl StoredShard {
    /// As JSON.
    pub fn render(&self) -> String {
        // Strings, numbers and lists of them can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl StoredOptions {
    /// Options with the limits of a run.
    pub fn new(
        options: &CheckOptions,
        max_work: Option<u64>,
        timeout: Option<Duration>,
        memory: Option<u64>,
    ) -> Self {
        Self {
            rules: options.kinds.iter().map(|kind| kind.rule().to_owned()).collect(),
            chosen: options.chosen,
            patterns: options.patterns.clone(),
            units: match options.units {
                Units::Exact => "exact",
                Units::Paper => "paper",
            }
            .to_owned(),
            add_units: options.add_units.map(|added| added.word().to_owned()),
            fixes: options.fixes == Fixes::Look,
            max_nodes: options.analysis.max_nodes,
            max_work,
            timeout: timeout.map(|timeout| timeout.as_secs_f64()),
            memory,
        }
    }

    /// The options.
    ///
    /// # Errors
    /// If there are no such options.
    pub fn options(&self) -> Result<CheckOptions, String> {
        let kinds: Option<Vec<FindingKind>> = self.rules.iter().map(|rule| kind(rule)).collect();
        let units = match self.units.as_str() {
            "exact" => Some(Units::Exact),
            "paper" => Some(Units::Paper),
            _ => None,
        };
        let add_units = match &self.add_units {
            None => Some(None),
            Some(word) => AddedUnits::by_word(word).map(Some),
        };
        let (Some(kinds), Some(units), Some(add_units)) = (kinds, units, add_units) else {
            return Err("its options are none".to_owned());
        };
        let fixes = if self.fixes { Fixes::Look } else { Fixes::Skip };
        let all = CheckOptions::default();
        let analysis = selvedge_analysis::Options { max_nodes: self.max_nodes, ..all.analysis };
        Ok(CheckOptions {
            kinds,
            chosen: self.chosen,
            patterns: self.patterns.clone(),
            units,
            add_units,
            analysis,
            fixes,
        })
    }
}

fn kind(rule: &str) -> Option<FindingKind> {
    FindingKind::CHECKED.into_iter().find(|kind| kind.rule() == rule)
}

impl StoredSource {
    /// What was read of a file.
    pub fn new(loaded: &Loaded, named: bool) -> Self {
        // A text that was not read as a program in some language is kept with what is wrong with it.
        let refused = loaded.complaints.first().filter(|_| loaded.language.is_empty());
        Self {
            named,
            text: loaded.text.text.clone(),
            beside: loaded.beside.iter().map(|(text, _)| text.into()).collect(),
            refused: refused.map(StoredComplaint::new),
            name_for_config: None,
            name_for_baseline: None,
        }
    }

    /// The SHA-256 of what was read, whatever its names are.
    pub fn sha256(&self) -> String {
        let parts = (self.named, &self.text, &self.beside, &self.refused);
        digest(serde_json::to_string(&parts).unwrap_or_default().as_bytes())
    }

    /// The file once more.
    ///
    /// # Errors
    /// If the complaint about it is none.
    pub fn load(&self, name: &str, restrictions: &[ThreadRestriction]) -> Result<Loaded, String> {
        let program = Text::new(name, &self.text);
        if let Some(refused) = &self.refused {
            return Ok(Loaded::refused(program, refused.restore(self.text.len())?));
        }
        let beside = |extension: &str| {
            let own = |text: &&StoredText| text.name.ends_with(extension);
            self.beside.iter().find(own).map(Text::from)
        };
        let texts = Texts { program, init: beside(".init"), spec: beside(".spec") };
        Ok(Loaded::restricted(texts, self.named, restrictions, &Budget::new()))
    }
}

impl StoredComplaint {
    fn new(complaint: &Diagnostic) -> Self {
        let place = complaint.primary.as_ref();
        Self {
            code: complaint.code.to_owned(),
            message: complaint.message.clone(),
            place: place.map(|label| (label.span.start, label.span.end, label.text.clone())),
            help: complaint.help.clone(),
        }
    }

    fn restore(&self, length: usize) -> Result<Diagnostic, String> {
        let code = UNREADABLE.into_iter().find(|code| *code == self.code);
        let code = code.ok_or_else(|| format!("no file is refused as `{}`", self.code))?;
        let complaint = match &self.place {
            None => Diagnostic::global(code, Severity::Error, &self.message),
            Some((start, end, remark)) if start <= end && *end as usize <= length => {
                Diagnostic::error(code, &self.message, Span::new(*start, *end), remark)
            }
            Some(_) => return Err("a complaint is about a place outside of the text".to_owned()),
        };
        Ok(Diagnostic { help: self.help.clone(), ..complaint })
    }
}

impl StoredAnswers {
    /// Answers about a program; `stopped` says whether a limit was met.
    pub fn new(answers: &AllAnswers, stopped: bool, program: &Program) -> Self {
        let kinds = answers.kinds.iter();
        Self {
            kinds: kinds.map(|(kind, one)| StoredKind::new(*kind, one, program)).collect(),
            unreached: answers.unreached.iter().copied().map(StoredPlace::new).collect(),
            stopped,
        }
    }

    /// The answers about `program`, the violations among them executed again.
    ///
    /// # Errors
    /// If one of them is none.
    pub fn restore(&self, program: &Program, goals: &Goals) -> Result<AllAnswers, String> {
        let mut answers = AllAnswers::default();
        for stored in &self.kinds {
            let kind = kind(&stored.rule).filter(|&kind| goals.ask(kind));
            let kind = kind.ok_or_else(|| format!("`{}` cannot be asked about", stored.rule))?;
            let restored = stored.restore(kind, program, goals)?;
            if answers.kinds.insert(kind, restored).is_some() {
                return Err(format!("`{}` is answered twice", stored.rule));
            }
        }
        let assertions = assertions(program);
        let restore = |place: &StoredPlace| {
            place.restore(program).filter(|place| assertions.contains_key(place))
        };
        let places: Option<Vec<_>> = self.unreached.iter().map(restore).collect();
        answers.unreached = places.ok_or("an assertion is where there is none")?;
        Ok(answers)
    }
}

impl StoredKind {
    fn new(kind: FindingKind, kept: &KindAnswers, program: &Program) -> Self {
        let KindAnswers { answers, numbers, safe, vacuous, unknown, why, unasked, cut, not_asked } =
            kept;
        let numbers = numbers.iter().copied().map(Some).chain(std::iter::repeat(None));
        let text = |why: &Option<Unknown>| why.as_ref().map(ToString::to_string);
        Self {
            rule: kind.rule().to_owned(),
            answers: answers
                .iter()
                .zip(numbers)
                .map(|(answer, number)| StoredAnswer::new(answer, number, program))
                .collect(),
            safe: *safe,
            vacuous: *vacuous,
            unknown: *unknown,
            why: text(why),
            unasked: text(unasked),
            cut: text(cut),
            not_asked: *not_asked,
        }
    }

    fn restore(
        &self,
        kind: FindingKind,
        program: &Program,
        goals: &Goals,
    ) -> Result<KindAnswers, String> {
        // The reasons are words here, and that is all that they are needed for.
        let why = |text: &Option<String>| text.clone().map(Unknown::Unsupported);
        let mut kept = KindAnswers {
            safe: self.safe,
            vacuous: self.vacuous,
            unknown: self.unknown,
            why: why(&self.why),
            unasked: why(&self.unasked),
            cut: why(&self.cut),
            not_asked: self.not_asked,
            ..KindAnswers::default()
        };
        let goal = goals.question(kind);
        let fits = |question: &Question| match (question, &goal) {
            (question, Some(goal)) => question == goal,
            (Question::Pattern(_), None) => kind == FindingKind::Atomicity,
            (Question::Race(_), None) => kind == FindingKind::Race,
            (Question::Deadlock(_), None) => kind == FindingKind::Deadlock,
            _ => false,
        };
        for stored in &self.answers {
            let question = match stored.number {
                Some(number) if kind == FindingKind::Temporal => {
                    goals.formulas.get(number).cloned().map(Question::Temporal)
                }
                _ => stored.question(program).filter(fits),
            };
            let question =
                question.ok_or_else(|| format!("an answer is not about `{}`", self.rule))?;
            let answer = stored.restore(question, program)?;
            if matches!(kind, FindingKind::Deadlock | FindingKind::Temporal) {
                let number = stored.number;
                let number =
                    number.ok_or_else(|| format!("an answer about `{}` has no number", self.rule));
                kept.numbers.push(number?);
            }
            kept.answers.push(answer);
        }
        Ok(kept)
    }
}

impl StoredAnswer {
    fn new(answer: &Answer, number: Option<usize>, program: &Program) -> Self {
        let Answer { question, verdict, engine, .. } = answer;
        let (replay, transactions) = match verdict {
            Verdict::Violation(trace) => {
                (Some(Replay::new(question, trace, program)), trace.transactions.clone())
            }
            _ => (None, Vec::new()),
        };
        let reason = match verdict {
            Verdict::Unknown(why) => Some(why.to_string()),
            _ => None,
        };
        Self {
            number,
            question: replay.is_none().then(|| QuestionNumbers::new(question)),
            verdict: verdict.word().to_owned(),
            engine: (*engine).to_owned(),
            reason,
            replay,
            transactions,
        }
    }

    /// The question, if it can be asked about a program.
    fn question(&self, program: &Program) -> Option<Question> {
        let numbers = self.question.as_ref().and_then(QuestionNumbers::question);
        let question = numbers.or_else(|| self.replay.as_ref()?.question())?;
        in_range(program, &question).then_some(question)
    }

    fn restore(&self, question: Question, program: &Program) -> Result<Answer, String> {
        let verdict = match (self.verdict.as_str(), &self.replay, &self.reason) {
            ("safe", None, None) => Verdict::Safe,
            ("unknown", None, Some(why)) => Verdict::Unknown(Unknown::Unsupported(why.clone())),
            ("violation", Some(one), None) => {
                let wrong = |what| format!("an interleaving cannot be executed: {what}");
                let mut witness = one.witness(program).map_err(wrong)?;
                let transactions = self.transactions.clone();
                if !transactions.is_empty() && transactions.len() != witness.steps.len() {
                    return Err(wrong("its steps have other transactions".to_owned()));
                }
                witness.transactions = transactions;
                let trace = replay(program, &question, &witness);
                Verdict::Violation(Box::new(trace.map_err(|error| wrong(error.to_string()))?))
            }
            _ => return Err(format!("`{}` is no verdict here", self.verdict)),
        };
        let (engine, explored, searched, refined) = ("", None, None, None);
        Ok(Answer { question, verdict, engine, explored, searched, refined })
    }
}

/// Whether a question names distinct threads, and locations and locks that the program has.
fn in_range(program: &Program, question: &Question) -> bool {
    let threads = question.threads();
    let known = threads.iter().all(|&thread| program.threads.get(thread).is_some());
    let distinct = threads.iter().collect::<BTreeSet<_>>().len() == threads.len();
    distinct
        && known
        && match question {
            Question::Pattern(one) => {
                one.locations.len() == one.pattern.locations()
                    && one.locations.iter().all(|&id| program.locations.get(id).is_some())
            }
            Question::Race(race) => {
                race.threads.is_sorted() && program.locations.get(race.location).is_some()
            }
            Question::Deadlock(deadlock) => {
                let has = |resource| match resource {
                    Resource::Lock(lock) => program.locks.get(lock).is_some(),
                    Resource::End(thread) => program.threads.get(thread).is_some(),
                };
                let next = deadlock.waits.iter().cycle().skip(1);
                let mut pairs = deadlock.waits.iter().zip(next);
                !deadlock.waits.is_empty()
                    && pairs.all(|(wait, next)| wait.wants == next.holds && has(wait.holds))
            }
            // What a goal may be is known; nothing else is asked.
            _ => true,
        }
}
