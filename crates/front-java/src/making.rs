//! # Idea
//! Questions become models, one after the other, and go to whoever asks. Each question has its share of the
//! time that is left; what all of them share is found out once.
//!
//! # Invariants
//! 1. A question that has no model because a limit was met is among what is left, or a doubt.

use crate::deadlocks::{cycles, waited_by_two};
use crate::emit::{Sources, emit};
use crate::options::QuestionShare;
use crate::order::{never_meet, of_object, threads};
use crate::points_to::{Origin, ThreadKind};
use crate::questions::{DataQuestion, Understood, class_of, is_unguarded, located};
use crate::remarks::{KnownRemarks, StepRemarks};
use crate::stages::{JavaStage, StageHeard};
use crate::tokens::{JavaSubject, Mask, Model, ModelFacts, ModelThread, model};
use crate::values::ModelAgain;
use crate::words::{lock_name, object_name, subject_class, subject_name};
use crate::world::{MemberId, World};
use selvedge_base::{Budget, StopReason};
use selvedge_program::Program;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A question has this part of the time that is left.
const LONGEST_SHARE: usize = 8;

/// The program of one question.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a remark of its own")]
pub struct JavaModel {
    /// The number of its question, among those about data or about locks.
    pub number: usize,
    /// The program: two threads, one atomic set.
    pub program: Program,
    /// What it is about.
    pub subject: String,
    /// The class of that.
    pub class: String,
    /// Whether it is about static fields.
    pub is_static: bool,
    /// Whether that class has neither a lock nor a volatile field nor an atomic one.
    pub unguarded: bool,
    /// Whether the program begins with one of the threads.
    pub has_main: bool,
    /// Locks that are left out of it.
    pub ignored: Vec<String>,
    /// What is to be said of its steps.
    pub remarks: StepRemarks,
    /// Whether it is about deadlocks, and about nothing else.
    pub about_locks: bool,
    /// If locks are not nested in it: the same without them, for whoever cannot decide it.
    pub nested: Option<Box<JavaModel>>,
    /// If something looks like waiting for all threads of a kind and that is not assumed: what is left of the
    /// program if it is.
    pub if_joined: Option<Box<Program>>,
    /// What it cannot answer, in words.
    pub doubts: BTreeSet<String>,
}

/// The work for each question besides its model.
const STEPS_PER_QUESTION: u64 = 100;

/// Makes models and gives them away.
pub(crate) struct ModelMaker<'s, 'a, 'e> {
    pub(crate) shared: &'s ModelFacts<'a>,
    pub(crate) sources: &'s Sources,
    pub(crate) understood: Understood,
    /// What threads share that can meet.
    named: BTreeSet<String>,
    /// Which kinds of threads never meet, as far as it was asked.
    never: BTreeMap<[ThreadKind; 2], bool>,
    /// The threads of questions about two kinds, as far as it was asked.
    pairs: BTreeMap<[ThreadKind; 2], [ModelThread; 2]>,
    remarks: KnownRemarks,
    budget: &'s Budget,
    each: &'e mut dyn FnMut(JavaModel, ModelAgain<'_, '_>) -> Result<(), StopReason>,
}

impl<'s, 'a, 'e> ModelMaker<'s, 'a, 'e> {
    pub(crate) fn new(
        shared: &'s ModelFacts<'a>,
        sources: &'s Sources,
        understood: Understood,
        budget: &'s Budget,
        each: &'e mut dyn FnMut(JavaModel, ModelAgain<'_, '_>) -> Result<(), StopReason>,
    ) -> Self {
        Self {
            shared,
            sources,
            understood,
            named: BTreeSet::new(),
            never: BTreeMap::new(),
            pairs: BTreeMap::new(),
            remarks: KnownRemarks::default(),
            budget,
            each,
        }
    }

    /// Gives the models of the questions about data away, from one on, until the budget is used up.
    pub(crate) fn about_data(
        &mut self,
        asked: &[DataQuestion],
        next: &mut usize,
        budget: &Budget,
        heard: &mut StageHeard<'_>,
    ) {
        while let Some(one) = asked.get(*next) {
            heard(JavaStage::Models, *next, asked.len());
            if budget.charge(STEPS_PER_QUESTION).is_err() {
                return;
            }
            // No question takes the time of all others.
            let own = self.budget.share(LONGEST_SHARE);
            let name = subject_name(self.shared.world, self.shared.found, one.subject);
            match self.about(one, &name, &own) {
                Ok(true) => _ = self.named.insert(name),
                Ok(false) => {}
                Err(_) if self.budget.poll().is_some() => return,
                Err(reason) => {
                    let why = format!("the model of {name} was not made: {reason}");
                    self.understood.doubts.insert(why);
                    self.named.insert(name);
                }
            }
            *next += 1;
        }
    }

    /// Everything was asked but these questions about data.
    pub(crate) fn conclude(&mut self, left: &[DataQuestion], total: usize) {
        let ModelFacts { world, found, .. } = self.shared;
        self.named.extend(left.iter().map(|one| subject_name(world, found, one.subject)));
        self.understood.shared = std::mem::take(&mut self.named).into_iter().collect();
        if !left.is_empty() {
            let why = self.budget.stopped().map_or_else(String::new, |why| format!(": {why}"));
            self.understood.left.insert(format!(
                "{} of {total} questions about objects and static fields were not asked{why}",
                left.len()
            ));
        }
    }

    /// Gives the model of a question away; whether the two threads can meet.
    fn about(
        &mut self,
        asked: &DataQuestion,
        name: &str,
        budget: &Budget,
    ) -> Result<bool, StopReason> {
        let Self { shared, sources, .. } = *self;
        let ModelFacts { world, .. } = shared;
        let DataQuestion { number, kinds, subject } = *asked;
        budget.check()?;
        let [first, second] = kinds;
        if self.never_meet(first, second, budget)? {
            return Ok(false);
        }
        let threads = of_object(shared, subject, self.threads(first, second, subject), budget)?;
        self.understood.assumed.extend(assumed(world, &threads));
        let mut asked = Posing { shared, sources, remarks: &mut self.remarks };
        match asked.model(subject, &threads, budget)? {
            Posed::TooLarge => {
                let why = format!("the model of {name} grew too large");
                self.understood.doubts.insert(why);
            }
            Posed::Nothing(ignored) => self.understood.ignored.extend(ignored),
            Posed::Model(model) => {
                self.understood.ignored.extend(model.ignored.iter().cloned());
                self.understood.models += 1;
                let again = ModelAgain { shared, subject, threads: &threads, sources };
                (self.each)(JavaModel { number, ..*model }, again)?;
            }
        }
        Ok(true)
    }

    /// The two threads of a question; their order is found out once for all questions.
    fn threads(
        &mut self,
        first: ThreadKind,
        second: ThreadKind,
        subject: JavaSubject,
    ) -> [ModelThread; 2] {
        if first == second {
            return threads(self.shared, first, second, subject);
        }
        let known = self.pairs.entry([first, second]);
        known.or_insert_with(|| threads(self.shared, first, second, subject)).clone()
    }

    /// Whether two threads never meet, which is found out once for all questions.
    fn never_meet(
        &mut self,
        first: ThreadKind,
        second: ThreadKind,
        budget: &Budget,
    ) -> Result<bool, StopReason> {
        if let Some(&known) = self.never.get(&[first, second]) {
            return Ok(known);
        }
        let known = never_meet(self.shared, first, second, budget)?;
        self.never.insert([first, second], known);
        Ok(known)
    }

    /// Finds out whether two threads take one lock, where deadlocks are not asked about.
    pub(crate) fn look_for_shared_locks(&mut self) {
        match waited_by_two(self.shared, self.budget) {
            Ok(waits) => self.understood.shares = waits,
            Err(reason) => {
                let why = format!("whether threads share a lock was not found: {reason}");
                self.understood.left.insert(why);
            }
        }
    }

    /// Gives the models of the questions about deadlocks away.
    pub(crate) fn about_locks(
        &mut self,
        longest: usize,
        part: QuestionShare,
        heard: &mut StageHeard<'_>,
    ) {
        heard(JavaStage::LockOrders, 0, 0);
        // Finding out what to ask leaves time to ask it.
        let share = self.budget.share(2);
        let asked = match cycles(self.shared, longest, &share) {
            Ok(asked) => asked,
            Err(reason) => {
                let why = format!("deadlocks were not asked about: {reason}");
                self.understood.left.insert(why);
                return;
            }
        };
        self.understood.doubts.extend(asked.doubts);
        self.understood.shares |= asked.shared;
        self.understood.other_waits = asked.others;
        self.understood.longer_cycles = asked.longer;
        let shown = self
            .shared
            .shown
            .iter()
            .map(|one| object_name(self.shared.world, self.shared.found, one));
        self.understood.doubts.extend(shown.map(|name| undecided(&name)));
        let total = asked.questions.len();
        let share = self.budget.share(2);
        let mut remarks = KnownRemarks::default();
        let all = asked.questions.iter().enumerate();
        for (number, ((kinds, subject), taking)) in all.filter(|(number, _)| part.has(*number)) {
            heard(JavaStage::LockModels, number, total);
            let asked = share.check().and_then(|()| {
                let own = share.share(LONGEST_SHARE);
                self.about_cycle(number, (kinds, *subject, taking), &mut remarks, &own)
            });
            let Err(reason) = asked else { continue };
            if share.poll().is_some() {
                self.understood.left.insert(format!(
                    "{} of {total} questions about deadlocks were not asked: {reason}",
                    total - number
                ));
                return;
            }
            let why = format!("a model of the order of locks was not made: {reason}");
            self.understood.doubts.insert(why);
        }
    }

    fn about_cycle(
        &mut self,
        number: usize,
        (kinds, subject, taking): (&[ThreadKind], JavaSubject, &Rc<BTreeSet<MemberId>>),
        remarks: &mut KnownRemarks,
        budget: &Budget,
    ) -> Result<(), StopReason> {
        let Self { shared, sources, .. } = *self;
        let ModelFacts { world, .. } = shared;
        budget.check()?;
        let mut together: Vec<ModelThread> = if let [first, second] = kinds[..] {
            if self.never_meet(first, second, budget)? {
                return Ok(());
            }
            let both = self.threads(first, second, subject).to_vec();
            self.understood.assumed.extend(assumed(world, &both));
            both
        } else {
            kinds.iter().copied().map(ModelThread::any).collect()
        };
        for thread in &mut together {
            thread.taking = Some(Rc::clone(taking));
        }
        let mut asked = Posing { shared, sources, remarks };
        match asked.model(subject, &together, budget)? {
            Posed::TooLarge => {
                let why = "a model of the order of locks grew too large".to_owned();
                self.understood.doubts.insert(why);
            }
            Posed::Nothing(ignored) => {
                self.understood.doubts.extend(ignored.iter().map(|name| undecided(name)));
            }
            Posed::Model(mut model) => {
                self.understood.doubts.append(&mut model.doubts);
                self.understood.models += 1;
                self.understood.cycles += 1;
                let again = ModelAgain { shared, subject, threads: &together, sources };
                (self.each)(JavaModel { number, ..*model }, again)?;
            }
        }
        Ok(())
    }
}

/// That deadlocks over a lock are not decided.
fn undecided(lock: &str) -> String {
    format!("deadlocks over {lock} are not decided, because it is ignored")
}

/// What questions are asked with.
struct Posing<'s, 'a> {
    shared: &'s ModelFacts<'a>,
    sources: &'s Sources,
    remarks: &'s mut KnownRemarks,
}

/// A question, asked.
enum Posed {
    /// It has a model.
    Model(Box<JavaModel>),
    /// Nothing can happen; these locks are left out.
    Nothing(Vec<String>),
    /// The model would be too large.
    TooLarge,
}

impl Posing<'_, '_> {
    /// The model of a question, with locks that are not nested in it if there are such, and then without them,
    /// too.
    fn model(
        &mut self,
        subject: JavaSubject,
        threads: &[ModelThread],
        budget: &Budget,
    ) -> Result<Posed, StopReason> {
        let mut posed = self.nested_or_not(subject, threads, budget)?;
        let could_trust = |mask: &Mask| {
            let looks_like_it = !mask.assumed.is_empty() || !mask.assumed_exits.is_empty();
            !mask.trusts && looks_like_it
        };
        if let Posed::Model(own) = &mut posed
            && threads.iter().any(|one| one.mask.as_ref().is_some_and(could_trust))
        {
            let trusting = |one: &ModelThread| {
                let mask = one.mask.clone().map(|mask| Mask { trusts: true, ..mask });
                ModelThread { mask, ..one.clone() }
            };
            let trusting: Vec<ModelThread> = threads.iter().map(trusting).collect();
            let built = model(self.shared, subject, &trusting, true, budget)?;
            own.if_joined = match self.posed(subject, &trusting, &built) {
                Posed::Model(model) => Some(Box::new(model.program)),
                Posed::Nothing(_) => Some(Box::default()),
                Posed::TooLarge => None,
            };
        }
        Ok(posed)
    }

    fn nested_or_not(
        &mut self,
        subject: JavaSubject,
        threads: &[ModelThread],
        budget: &Budget,
    ) -> Result<Posed, StopReason> {
        let built = model(self.shared, subject, threads, false, budget)?;
        // What is too large may be so because of locks in any order.
        let is_larger = built.cut && !self.shared.explicit.is_empty();
        if !built.unnested && !is_larger {
            return Ok(self.posed(subject, threads, &built));
        }
        let nested = model(self.shared, subject, threads, true, budget)?;
        let nested = self.posed(subject, threads, &nested);
        Ok(match (self.posed(subject, threads, &built), nested) {
            (Posed::Model(model), Posed::Model(nested)) => {
                Posed::Model(Box::new(JavaModel { nested: Some(nested), ..*model }))
            }
            (Posed::Model(model), Posed::Nothing(ignored)) => {
                // Without the locks nothing is left to be asked.
                let doubts = ignored.iter().map(|name| undecided(name)).collect();
                let rest = JavaModel {
                    program: Program::default(),
                    remarks: StepRemarks::default(),
                    ignored,
                    doubts,
                    ..(*model).clone()
                };
                Posed::Model(Box::new(JavaModel { nested: Some(Box::new(rest)), ..*model }))
            }
            (_, nested) => nested,
        })
    }

    fn posed(&mut self, subject: JavaSubject, threads: &[ModelThread], built: &Model) -> Posed {
        if built.cut {
            return Posed::TooLarge;
        }
        let ModelFacts { world, found, .. } = self.shared;
        let ignored: Vec<String> =
            built.dropped.iter().map(|key| lock_name(self.shared, subject, key)).collect();
        let said = emit(self.shared, subject, built, threads, self.sources, self.remarks);
        let Some((program, remarks)) = said else { return Posed::Nothing(ignored) };
        let about_locks = matches!(subject, JavaSubject::Locks(_));
        let doubts = ignored.iter().filter(|_| about_locks).map(|name| undecided(name)).collect();
        Posed::Model(Box::new(JavaModel {
            number: 0,
            program,
            subject: subject_name(world, found, subject),
            class: subject_class(world, found, subject),
            is_static: matches!(subject, JavaSubject::Statics(_)),
            unguarded: class_of(found, subject).is_some_and(|class| is_unguarded(world, class)),
            has_main: threads.iter().any(|one| one.kind.origin == Origin::Main),
            ignored,
            remarks,
            about_locks,
            nested: None,
            if_joined: None,
            doubts,
        }))
    }
}

/// Where it is assumed that all threads of a kind are waited for.
fn assumed(world: &World, threads: &[ModelThread]) -> BTreeSet<String> {
    let masks = threads.iter().filter_map(|one| one.mask.as_ref()).filter(|mask| mask.trusts);
    let places = masks.flat_map(|mask| {
        let exits = mask.assumed_exits.iter().map(|&(method, at, _)| (method, at));
        mask.assumed.iter().copied().chain(exits)
    });
    places.map(|(method, at)| located(world, method, at)).collect()
}
