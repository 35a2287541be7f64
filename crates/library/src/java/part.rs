//! # Idea
//! A part of the questions about a program in Java, written down: the models of these questions with their
//! answers, and what was understood. Whoever has all parts concludes from the models what one run concludes
//! from them; the classes are not needed for that.
//!
//! # Requires
//! What is read may be anything.
//!
//! # Invariants
//! 1. A model is read by the reader of the text form, and a violation is executed again.
//! 2. The numbers of edges, locations and procedures are in the range of the model.

use super::joined::{ConflictKey, Joined, key_of};
use crate::cache::{entry, revalidate};
use crate::goals::Goals;
use selvedge_base::{Budget, Id, IdVec};
use selvedge_findings::Checked;
use selvedge_front_java::options::UnknownCalls;
use selvedge_front_java::questions::{JavaModel, Understood};
use selvedge_front_java::remarks::{LockClaim, StepRemark, StepRemarks};
use selvedge_program::Program;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What an answer in a part is known by.
const KEY: &str = "part";

/// The remarks, by their numbers in a part.
const REMARKS: [StepRemark; 9] = [
    StepRemark::Waits,
    StepRemark::Unknown,
    StepRemark::Depends,
    StepRemark::Compared,
    StepRemark::Expected,
    StepRemark::Pass,
    StepRemark::Taken,
    StepRemark::Counts,
    StepRemark::Tried,
];

/// The number of a remark in a part.
fn remark_number(remark: StepRemark) -> u8 {
    match remark {
        StepRemark::Waits => 0,
        StepRemark::Unknown => 1,
        StepRemark::Depends => 2,
        StepRemark::Compared => 3,
        StepRemark::Expected => 4,
        StepRemark::Pass => 5,
        StepRemark::Taken => 6,
        StepRemark::Counts => 7,
        StepRemark::Tried => 8,
    }
}

/// A lock that is said to guard something, with the number of that.
type PartClaim = (u32, String, BTreeSet<String>);

fn part_claims<I: Id>(claims: &BTreeMap<I, LockClaim>) -> Vec<PartClaim> {
    let claims = claims.iter();
    claims.map(|(&one, claim)| (number(one), claim.text.clone(), claim.names.clone())).collect()
}

fn restored<I: Id + Ord, T>(
    claims: &[PartClaim],
    all: &IdVec<I, T>,
) -> Result<BTreeMap<I, LockClaim>, String> {
    let restore = |(one, text, names): &PartClaim| {
        Ok((id(*one, all)?, LockClaim { text: text.clone(), names: names.clone() }))
    };
    claims.iter().map(restore).collect()
}

/// A part of the answers about a program in Java.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct JavaPart {
    /// What the program is, and how it was asked about.
    pub program: String,
    deadlock_locks: usize,
    unknown_calls: u8,
    clients_of: Option<String>,
    in_framework: bool,
    /// How many public methods nothing reaches, and the names of the first.
    unreached: (usize, Vec<String>),
    /// What was understood, for each beginning.
    understood: Vec<PartUnderstood>,
    models: Vec<PartModel>,
    /// Why it is open, beside that.
    open: BTreeSet<String>,
    stopped: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct PartUnderstood {
    kinds: Vec<(String, bool)>,
    shared: BTreeSet<String>,
    models: usize,
    cycles: usize,
    methods: (usize, usize),
    unknown: BTreeMap<String, usize>,
    ignored: BTreeSet<String>,
    doubts: BTreeSet<String>,
    unasked: BTreeSet<String>,
    assumed: BTreeSet<String>,
    left: BTreeSet<String>,
    cut: bool,
    shares: bool,
    other_waits: BTreeSet<String>,
    longer_cycles: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct PartModel {
    /// Which of the beginnings it is about, whether it is about locks, and its number among those.
    place: (usize, bool, usize),
    text: String,
    subject: String,
    class: String,
    is_static: bool,
    unguarded: bool,
    has_main: bool,
    ignored: Vec<String>,
    /// The remarks about edges.
    said: Vec<(u32, Vec<u8>)>,
    arrays: Vec<u32>,
    own: Vec<u32>,
    set_up: BTreeSet<String>,
    claims: Vec<PartClaim>,
    called_with: Vec<PartClaim>,
    answer: String,
    /// Which of the findings are none if joins are assumed.
    joins: Vec<usize>,
    /// Which of them values rule out.
    refuted: Vec<usize>,
    open: Vec<String>,
}

fn number(id: impl Id) -> u32 {
    u32::try_from(id.index()).unwrap_or(u32::MAX)
}

fn id<I: Id, T>(number: u32, all: &IdVec<I, T>) -> Result<I, String> {
    let known = (number as usize) < all.len();
    known.then(|| I::from_index(number as usize)).ok_or_else(|| "a number is too large".to_owned())
}

impl JavaPart {
    pub(super) fn new(program: String) -> Self {
        Self { program, ..Self::default() }
    }

    /// Keeps a model with its answer.
    pub(super) fn keep(
        &mut self,
        beginning: usize,
        model: &JavaModel,
        checked: &Checked,
        (joins, refuted): (&BTreeSet<ConflictKey>, &BTreeSet<ConflictKey>),
    ) {
        let StepRemarks { edges, arrays, own, set_up, claims, called_with, sites: _ } =
            &model.remarks;
        let numbers =
            |said: &BTreeSet<StepRemark>| said.iter().copied().map(remark_number).collect();
        // Who puts the parts together asks nothing again, so what it took does not matter.
        let bytes = entry::write(checked, KEY, &model.program, 0);
        let among = |keys: &BTreeSet<ConflictKey>| {
            let findings = checked.findings.iter().enumerate();
            let known = findings.filter(|(_, finding)| keys.contains(&key_of(finding)));
            known.map(|(number, _)| number).collect()
        };
        let (joins, refuted) = (among(joins), among(refuted));
        // Without the locks nothing may be left.
        let text = match model.program.threads.len() {
            0 => String::new(),
            _ => selvedge_program::text::print(&model.program),
        };
        self.models.push(PartModel {
            place: (beginning, model.about_locks, model.number),
            text,
            subject: model.subject.clone(),
            class: model.class.clone(),
            is_static: model.is_static,
            unguarded: model.unguarded,
            has_main: model.has_main,
            ignored: model.ignored.clone(),
            said: edges.iter().map(|(&edge, said)| (number(edge), numbers(said))).collect(),
            arrays: arrays.iter().map(|&one| number(one)).collect(),
            own: own.iter().map(|&one| number(one)).collect(),
            set_up: set_up.clone(),
            claims: part_claims(claims),
            called_with: part_claims(called_with),
            answer: String::from_utf8_lossy(&bytes).into_owned(),
            joins,
            refuted,
            open: checked.open.clone(),
        });
    }

    /// Keeps what was understood of a program that begins somewhere.
    pub(super) fn understand(&mut self, understood: &Understood) {
        let one = understood.clone();
        self.understood.push(PartUnderstood {
            kinds: one.kinds,
            shared: one.shared.into_iter().collect(),
            models: one.models,
            cycles: one.cycles,
            methods: one.methods,
            unknown: one.unknown,
            ignored: one.ignored,
            doubts: one.doubts,
            unasked: one.unasked,
            assumed: one.assumed,
            left: one.left,
            cut: one.cut,
            shares: one.shares,
            other_waits: one.other_waits,
            longer_cycles: one.longer_cycles,
        });
    }

    /// Keeps the rest.
    pub(super) fn finish(&mut self, joined: &Joined) {
        self.deadlock_locks = joined.deadlock_locks;
        self.unknown_calls = match joined.unknown_calls {
            UnknownCalls::Args => 0,
            UnknownCalls::Pure => 1,
            UnknownCalls::Havoc => 2,
        };
        self.clients_of.clone_from(&joined.clients_of);
        self.in_framework = joined.in_framework;
        self.unreached = (joined.unreached_count, joined.unreached_names.clone());
        self.stopped = joined.stopped;
        if joined.stopped {
            self.open.clone_from(&joined.open);
        }
    }
}

/// All parts of a program together, as one run has them.
///
/// # Errors
/// If they are not parts of the same program, or what is written in them is damaged.
pub(super) fn together(parts: &[JavaPart], budget: &Budget) -> Result<Joined, String> {
    let Some(first) = parts.first() else { return Err("there are no parts".to_owned()) };
    let mut joined = Joined::default();
    joined.deadlock_locks = first.deadlock_locks;
    joined.unknown_calls = match first.unknown_calls {
        1 => UnknownCalls::Pure,
        2 => UnknownCalls::Havoc,
        _ => UnknownCalls::Args,
    };
    joined.clients_of.clone_from(&first.clients_of);
    joined.in_framework = first.in_framework;
    (joined.unreached_count, joined.unreached_names) = first.unreached.clone();
    for part in parts {
        if part.program != first.program {
            return Err("the classes or the options of the parts are different".to_owned());
        }
        joined.stopped |= part.stopped;
        joined.open.extend(part.open.iter().cloned());
    }
    let begins = parts.iter().map(|part| part.understood.len()).max().unwrap_or_default();
    for beginning in 0..begins {
        let all = parts.iter().map(|part| part.understood.get(beginning));
        let mut sum = PartUnderstood::default();
        for one in all {
            match one {
                Some(one) => sum.add(one),
                // A part that was stopped has said so.
                None => joined.stopped = true,
            }
        }
        joined.understand(sum.restore());
    }
    let mut models: Vec<&PartModel> = parts.iter().flat_map(|part| &part.models).collect();
    models.sort_by_key(|model| model.place);
    if models.windows(2).any(|pair| pair[0].place == pair[1].place) {
        return Err("a question is answered twice".to_owned());
    }
    for stored in models {
        let (model, checked) = stored.restore(budget)?;
        let among = |numbers: &[usize]| {
            let findings = numbers.iter().filter_map(|&one| checked.findings.get(one));
            findings.map(key_of).collect()
        };
        let (joins, refuted) = (among(&stored.joins), among(&stored.refuted));
        joined.beginning = stored.place.0;
        if joined.add(&model, checked, (&joins, &refuted), budget).is_err() {
            joined.stopped = true;
            break;
        }
    }
    if joined.stopped && joined.open.is_empty() {
        joined.open.insert("the parts were not read to their end".to_owned());
    }
    Ok(joined)
}

impl PartUnderstood {
    fn add(&mut self, other: &Self) {
        self.kinds.clone_from(&other.kinds);
        self.methods = other.methods;
        self.unknown.clone_from(&other.unknown);
        self.shared.extend(other.shared.iter().cloned());
        self.models += other.models;
        self.cycles += other.cycles;
        for (into, from) in [
            (&mut self.ignored, &other.ignored),
            (&mut self.doubts, &other.doubts),
            (&mut self.unasked, &other.unasked),
            (&mut self.assumed, &other.assumed),
            (&mut self.left, &other.left),
            (&mut self.other_waits, &other.other_waits),
        ] {
            into.extend(from.iter().cloned());
        }
        self.cut |= other.cut;
        self.shares |= other.shares;
        self.longer_cycles |= other.longer_cycles;
    }

    fn restore(self) -> Understood {
        Understood {
            kinds: self.kinds,
            shared: self.shared.into_iter().collect(),
            models: self.models,
            cycles: self.cycles,
            methods: self.methods,
            unknown: self.unknown,
            ignored: self.ignored,
            doubts: self.doubts,
            unasked: self.unasked,
            assumed: self.assumed,
            left: self.left,
            cut: self.cut,
            shares: self.shares,
            other_waits: self.other_waits,
            longer_cycles: self.longer_cycles,
            unreached: Vec::new(),
        }
    }
}

impl PartModel {
    fn restore(&self, budget: &Budget) -> Result<(JavaModel, Checked), String> {
        let program = match self.text.as_str() {
            "" => Some(Program::default()),
            text => selvedge_program::text::parse(text).0,
        };
        let program = program.ok_or_else(|| "the text of a model is damaged".to_owned())?;
        let mut remarks = StepRemarks { set_up: self.set_up.clone(), ..StepRemarks::default() };
        for (edge, said) in &self.said {
            let all = said.iter().filter_map(|&one| REMARKS.get(usize::from(one)).copied());
            remarks.edges.insert(id(*edge, &program.edges)?, all.collect());
        }
        for &one in &self.arrays {
            remarks.arrays.insert(id(one, &program.locations)?);
        }
        for &one in &self.own {
            remarks.own.insert(id(one, &program.procedures)?);
        }
        remarks.claims = restored(&self.claims, &program.locations)?;
        remarks.called_with = restored(&self.called_with, &program.procedures)?;
        let go_on = || budget.peek().is_none();
        let goals = Goals::default();
        let checked = entry::read(self.answer.as_bytes(), KEY, &program, &goals, &go_on);
        let believed = checked.map(|(checked, _)| checked).filter(|checked| {
            checked.findings.iter().all(|one| revalidate::holds(&program, &goals, one))
        });
        let mut checked =
            believed.ok_or_else(|| "the answer about a model is damaged".to_owned())?;
        checked.open.clone_from(&self.open);
        let model = JavaModel {
            number: self.place.2,
            program,
            subject: self.subject.clone(),
            class: self.class.clone(),
            is_static: self.is_static,
            unguarded: self.unguarded,
            has_main: self.has_main,
            ignored: self.ignored.clone(),
            remarks,
            about_locks: self.place.1,
            nested: None,
            if_joined: None,
            doubts: BTreeSet::new(),
        };
        Ok((model, checked))
    }
}
