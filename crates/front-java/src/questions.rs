//! # Idea
//! From classes to models: what values can be, what is true of the program, which objects two threads share
//! that one of them changes, and for each of them and each two kinds of threads the program of that question.
//! The models go to whoever asks, one after the other, and are not kept.
//!
//! # Source
//! Two threads are enough for races and for patterns of two units: whoever takes no part can be left out of an
//! execution, because locks only become freer.
//!
//! # Invariants
//! 1. Whatever was not understood is in [`Understood::doubts`] when all models have been given.

use crate::class::{At, FieldAccess, InvokeKind, JavaInstruction};
use crate::client::CLIENT;
use crate::deadlocks::cycles;
use crate::emit::{Sources, emit};
use crate::facts::Facts;
use crate::library::Table;
use crate::options::{JavaBeginning, JavaOptions};
use crate::order::{never_meet, threads};
use crate::points_to::{
    Doubt, Holder, ObjectId, ObjectSet, Origin, PointsTo, Site, ThreadKind, points_to,
};
use crate::remarks::{KnownRemarks, StepRemarks};
use crate::tokens::{JavaSubject, Mask, Model, ModelFacts, ModelThread, model};
use crate::units::Declared;
use crate::values::ModelAgain;
use crate::words::{kind_name, lock_name, short_class, short_method, subject_class, subject_name};
use crate::world::{ClassId, MemberId, Resolution, World};
use selvedge_base::{Budget, Id, StopReason};
use selvedge_program::Program;
use std::collections::{BTreeMap, BTreeSet};

/// The program of one question.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a remark of its own")]
pub struct JavaModel {
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

/// What was understood of a program.
#[derive(Clone, Debug, Default)]
pub struct Understood {
    /// The kinds of threads, and whether each is one.
    pub kinds: Vec<(String, bool)>,
    /// The objects, and the classes with static fields, that two kinds share and one changes.
    pub shared: Vec<String>,
    /// How many models there are.
    pub models: usize,
    /// How many of them are about cycles of locks.
    pub cycles: usize,
    /// How many methods are reached, of how many.
    pub methods: (usize, usize),
    /// Methods outside that nothing is known of, with how many calls there are.
    pub unknown: BTreeMap<String, usize>,
    /// Locks that some model leaves out.
    pub ignored: BTreeSet<String>,
    /// What was not understood, in words.
    pub doubts: BTreeSet<String>,
    /// Public methods that nothing reaches.
    pub unreached: Vec<MemberId>,
    /// Classes of shared objects about which nothing is asked, because they are marked as not thread-safe.
    pub unasked: BTreeSet<String>,
    /// Where it is assumed that all threads are waited for.
    pub assumed: BTreeSet<String>,
}

/// Finds the questions about a program that begins so and gives the model of each to `each`.
///
/// # Errors
/// If the budget is used up.
pub fn questions(
    world: &World,
    table: &Table,
    beginning: &JavaBeginning,
    options: &JavaOptions,
    budget: &Budget,
    each: &mut dyn FnMut(JavaModel, ModelAgain<'_, '_>) -> Result<(), StopReason>,
) -> Result<Understood, StopReason> {
    let found = points_to(world, table, beginning, options.unknown, budget)?;
    let facts = Facts::new(world, &found, budget)?;
    let declared = Declared::new(world, &options.units);
    let mut shared = ModelFacts::new(world, table, &found, &facts, declared, budget)?;
    shared.assume_joins = options.assume_joins;
    let sources = Sources::new(world);
    let mut remarks = KnownRemarks::default();
    let mut understood = Understood {
        kinds: found
            .kinds
            .iter()
            .map(|&kind| (kind_name(world, &found, kind), facts.single_kinds.contains(&kind)))
            .collect(),
        methods: (found.methods.len(), world.classes.iter().map(|class| class.methods.len()).sum()),
        unknown: found.unknown.clone(),
        doubts: found.doubts.iter().map(|doubt| in_words(world, doubt)).collect(),
        unreached: unreached(world, &found),
        ..Understood::default()
    };
    let owners = owners(&found, &facts);
    let mut accesses: BTreeMap<ThreadKind, Accesses> = BTreeMap::new();
    for (&kind, runs) in &facts.runs {
        budget.check()?;
        accesses.insert(kind, self::accesses(world, &found, &owners, runs, budget)?);
    }
    let own = match beginning {
        JavaBeginning::Client(_) => {
            let is_client =
                |method: &MemberId| world.names.text(world.classes[method.class].name) == CLIENT;
            let methods = found.methods.keys().filter(|one| !is_client(one)).copied().collect();
            Some(self::accesses(world, &found, &owners, &methods, budget)?)
        }
        JavaBeginning::Main(_) | JavaBeginning::Entries(_) => None,
    };
    let kinds: Vec<ThreadKind> = found.kinds.iter().copied().collect();
    let mut named = BTreeSet::new();
    for (at, &first) in kinds.iter().enumerate() {
        for &second in &kinds[at..] {
            if first == second && facts.single_kinds.contains(&first) {
                continue;
            }
            let mut subjects = conflicting(&accesses[&first], &accesses[&second], &facts, &found);
            if let (JavaBeginning::Client(class), Some(own)) = (beginning, &own) {
                // What clients alone look at is theirs.
                let by_class = conflicting(own, &accesses[&second], &facts, &found);
                subjects.retain(|subject| by_class.contains(subject));
                subjects.retain(|subject| is_of_class(&found, *class, *subject));
            }
            subjects.retain(|&subject| {
                let class = class_of(&found, subject);
                let marked = class.filter(|class| shared.declared.unasked.contains(class));
                understood.unasked.extend(marked.map(|class| short_class(world, class)));
                marked.is_none()
            });
            if !subjects.is_empty() && never_meet(&shared, first, second, budget)? {
                continue;
            }
            for subject in subjects {
                budget.check()?;
                let threads = threads(&shared, first, second, subject);
                understood.assumed.extend(assumed(world, &threads));
                let name = subject_name(world, &found, subject);
                named.insert(name.clone());
                let mut asked = Asked { shared: &shared, sources: &sources, remarks: &mut remarks };
                match asked.model(subject, &threads, budget)? {
                    Posed::TooLarge => {
                        let why = format!("the model of {name} grew too large");
                        understood.doubts.insert(why);
                    }
                    Posed::Nothing(ignored) => understood.ignored.extend(ignored),
                    Posed::Model(model) => {
                        understood.ignored.extend(model.ignored.iter().cloned());
                        understood.models += 1;
                        let again = ModelAgain {
                            shared: &shared,
                            subject,
                            threads: &threads,
                            sources: &sources,
                        };
                        each(*model, again)?;
                    }
                }
            }
        }
    }
    understood.shared = named.into_iter().collect();
    if options.deadlock_locks > 1 {
        deadlocks(&shared, options.deadlock_locks, &sources, &mut understood, budget, each)?;
    }
    Ok(understood)
}

/// The class of the world that a question is about.
fn class_of(found: &PointsTo, subject: JavaSubject) -> Option<ClassId> {
    match subject {
        JavaSubject::Statics(class) => Some(class),
        JavaSubject::Object(object) => found.objects[object].class,
        JavaSubject::Locks(_) => None,
    }
}

/// The public methods with a body that nothing reaches.
fn unreached(world: &World, found: &PointsTo) -> Vec<MemberId> {
    let all = world.classes.iter_enumerated().flat_map(|(class, of)| {
        let methods = of.methods.iter().enumerate();
        let public = methods.filter(|(_, one)| {
            one.body.is_some() && one.access.is_public() && !one.access.is_synthetic()
        });
        public.map(move |(number, _)| MemberId { class, number })
    });
    all.filter(|one| !found.methods.contains_key(one)).collect()
}

/// Whether a class of the world has no lock, no volatile field and nothing of `java.util.concurrent`.
fn is_unguarded(world: &World, found: &PointsTo, subject: JavaSubject) -> bool {
    let Some(class) = class_of(found, subject) else { return false };
    let (line, _) = world.line(class);
    line.into_iter().all(|class| {
        let of = &world.classes[class];
        let guards =
            |descriptor| world.names.text(descriptor).starts_with("Ljava/util/concurrent/");
        let fields = of.fields.iter().any(|one| one.access.is_volatile() || guards(one.descriptor));
        let methods = of.methods.iter().any(|one| {
            let body = one.body.iter().flat_map(|body| &body.instructions);
            one.access.is_synchronized()
                || body.into_iter().any(|one| *one == JavaInstruction::MonitorEnter)
        });
        !fields && !methods
    })
}

/// Gives the models of the questions about deadlocks to `each`.
fn deadlocks(
    shared: &ModelFacts<'_>,
    longest: usize,
    sources: &Sources,
    understood: &mut Understood,
    budget: &Budget,
    each: &mut dyn FnMut(JavaModel, ModelAgain<'_, '_>) -> Result<(), StopReason>,
) -> Result<(), StopReason> {
    let ModelFacts { world, .. } = shared;
    let mut remarks = KnownRemarks::default();
    let asked = cycles(shared, longest, budget)?;
    understood.doubts.extend(asked.doubts);
    for (kinds, subject) in asked.questions {
        budget.check()?;
        let together: Vec<ModelThread> = if let [first, second] = kinds[..] {
            if never_meet(shared, first, second, budget)? {
                continue;
            }
            let both = threads(shared, first, second, subject).to_vec();
            understood.assumed.extend(assumed(world, &both));
            both
        } else {
            let plain = |&kind| ModelThread { kind, mask: None, is_another: false };
            kinds.iter().map(plain).collect()
        };
        let mut asked = Asked { shared, sources, remarks: &mut remarks };
        match asked.model(subject, &together, budget)? {
            Posed::TooLarge => {
                understood.doubts.insert("a model of the order of locks grew too large".to_owned());
            }
            Posed::Nothing(ignored) => {
                understood.doubts.extend(ignored.iter().map(|name| undecided(name)));
            }
            Posed::Model(mut model) => {
                understood.doubts.append(&mut model.doubts);
                understood.models += 1;
                understood.cycles += 1;
                each(*model, ModelAgain { shared, subject, threads: &together, sources })?;
            }
        }
    }
    Ok(())
}

/// That deadlocks over a lock are not decided.
fn undecided(lock: &str) -> String {
    format!("deadlocks over {lock} are not decided, because it is ignored")
}

/// What questions are asked with.
struct Asked<'s, 'a> {
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

impl Asked<'_, '_> {
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
            program,
            subject: subject_name(world, found, subject),
            class: subject_class(world, found, subject),
            is_static: matches!(subject, JavaSubject::Statics(_)),
            unguarded: is_unguarded(world, found, subject),
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

/// An instruction in words: its method and its line.
fn located(world: &World, method: MemberId, at: At) -> String {
    let line = world.of(method).body.as_ref().and_then(|body| body.line(at));
    let line = line.map_or_else(String::new, |line| format!(", line {line}"));
    format!("{}{line}", short_method(world, method))
}

/// Whether a question is about a class and not about what its clients make.
fn is_of_class(found: &PointsTo, class: ClassId, subject: JavaSubject) -> bool {
    let JavaSubject::Object(object) = subject else { return true };
    let of = found.objects[object];
    match of.site {
        Site::Client(of) => of == class,
        Site::Passed(..) | Site::Named(_) | Site::Caught(..) => false,
        Site::Given(method, at) => {
            let effects = found.invocations.get(&(method, at)).map(|one| &one.library);
            effects.is_some_and(|effects| effects.values().any(|one| one.is_some()))
        }
        _ => true,
    }
}

/// Something that was not understood, in words.
fn in_words(world: &World, doubt: &Doubt) -> String {
    let place = |method: MemberId, at: At| located(world, method, at);
    match doubt {
        Doubt::Body(method) => {
            format!("the instructions of {} were not understood", short_method(world, *method))
        }
        Doubt::Orphan(method, at) => {
            format!("no object is known for what {} works on", place(*method, *at))
        }
        Doubt::Lambda(method, at) => {
            format!("what the function of {} does is not known", place(*method, *at))
        }
        Doubt::Model(what) => what.clone(),
        Doubt::Assumption(what, name) => format!("the program uses {what} ({name})"),
    }
}

/// What a kind of threads reads and writes, by subject and field; elements have no field.
#[derive(Default)]
struct Accesses {
    reads: BTreeSet<(JavaSubject, Option<MemberId>)>,
    writes: BTreeSet<(JavaSubject, Option<MemberId>)>,
}

fn accesses(
    world: &World,
    found: &PointsTo,
    owners: &BTreeMap<ObjectId, BTreeSet<ObjectId>>,
    runs: &BTreeSet<MemberId>,
    budget: &Budget,
) -> Result<Accesses, StopReason> {
    let mut all = Accesses::default();
    let mut note = |objects: &ObjectSet, field: Option<MemberId>, reads: bool, writes: bool| {
        for object in objects.iter() {
            // What is owned is a location of its owner.
            let owned = owners.get(&object);
            let itself = owned.is_none().then_some(object);
            for subject in owned.into_iter().flatten().copied().chain(itself) {
                let field = if subject == object { field } else { None };
                if reads {
                    all.reads.insert((JavaSubject::Object(subject), field));
                }
                if writes {
                    all.writes.insert((JavaSubject::Object(subject), field));
                }
            }
        }
    };
    let (mut statics, mut havocs) = (Vec::new(), false);
    for &method in runs {
        budget.check()?;
        let (Some(frames), Some(body)) = (found.methods.get(&method), &world.of(method).body)
        else {
            continue;
        };
        for at in frames.next.ids().filter(|&at| frames.reached[at]) {
            match &body.instructions[at.index()] {
                JavaInstruction::Field(access, member) => {
                    let field = match world.field(*member) {
                        Resolution::Found(field) => Some(field),
                        _ => None,
                    };
                    let writes = matches!(access, FieldAccess::Put | FieldAccess::PutStatic);
                    match (access, field) {
                        (FieldAccess::GetStatic | FieldAccess::PutStatic, Some(field)) => {
                            statics.push((field, writes));
                        }
                        (FieldAccess::Get | FieldAccess::Put, field) => {
                            note(&found.operand(method, at, 0), field, !writes, writes);
                        }
                        _ => {}
                    }
                }
                JavaInstruction::ArrayLoad(_) => {
                    note(&found.operand(method, at, 0), None, true, false);
                }
                JavaInstruction::ArrayStore(_) => {
                    note(&found.operand(method, at, 0), None, false, true);
                }
                JavaInstruction::Invoke(..) | JavaInstruction::InvokeDynamic(..) => {
                    let Some(invocation) = found.invocations.get(&(method, at)) else { continue };
                    let has_receiver = matches!(
                        &body.instructions[at.index()],
                        JavaInstruction::Invoke(how, _) if *how != InvokeKind::Static
                    );
                    for effect in invocation.library.values() {
                        let first = usize::from(has_receiver);
                        if let Some(effect) = effect {
                            let all = found.looked_at(world, (method, at), effect, has_receiver);
                            note(&all, None, true, false);
                        } else {
                            note(&found.wrapped(method, at), None, true, true);
                            havocs = true;
                        }
                        for number in 0..frames.operands[at].len() {
                            let objects = found.operand(method, at, number);
                            let (reads, writes) = match effect {
                                None => (true, true),
                                Some(effect) if number < first => (effect.reads, effect.writes),
                                Some(effect) => {
                                    (effect.reads_what_is_passed(), effect.writes_passed)
                                }
                            };
                            note(&objects, None, reads, writes);
                            if effect.is_some_and(|effect| effect.reads_fields) {
                                for field in fields_of(world, found, &objects) {
                                    note(&objects, Some(field), true, false);
                                }
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }
    if havocs && found.havoc {
        for object in found.of(Holder::Pool).iter() {
            budget.check()?;
            let mut one = ObjectSet::default();
            one.insert(object);
            for (field, written) in found.havocked(world, object) {
                note(&one, Some(field), true, written);
            }
        }
    }
    for (field, writes) in statics {
        let subject = JavaSubject::Statics(field.class);
        if writes {
            all.writes.insert((subject, Some(field)));
        } else {
            all.reads.insert((subject, Some(field)));
        }
    }
    Ok(all)
}

/// The fields of some objects.
fn fields_of(world: &World, found: &PointsTo, objects: &ObjectSet) -> BTreeSet<MemberId> {
    let classes = objects.iter().filter_map(|object| found.objects[object].class);
    let all = classes.flat_map(|class| world.line(class).0);
    all.flat_map(|class| {
        let fields = world.classes[class].fields.iter().enumerate();
        fields.map(move |(number, _)| MemberId { class, number })
    })
    .collect()
}

/// For what is owned within a few fields, the objects that own it.
fn owners(found: &PointsTo, facts: &Facts) -> BTreeMap<ObjectId, BTreeSet<ObjectId>> {
    const DEPTH: usize = 3;
    let mut above: BTreeMap<ObjectId, BTreeSet<ObjectId>> = BTreeMap::new();
    for (holder, set) in found.holders() {
        if let Holder::Field(owner, field) = holder
            && facts.owning.contains(&field)
        {
            for object in set.iter() {
                above.entry(object).or_default().insert(owner);
            }
        }
    }
    let mut owners = BTreeMap::new();
    for &object in above.keys() {
        let mut layer = BTreeSet::from([object]);
        let mut roots = BTreeSet::new();
        for _ in 0..DEPTH {
            let mut next = BTreeSet::new();
            for one in &layer {
                match above.get(one) {
                    Some(more) => next.extend(more.iter().copied()),
                    None => {
                        roots.insert(*one);
                    }
                }
            }
            layer = next;
        }
        // What is left is owned through too many fields: it stands for itself, too.
        for one in &layer {
            roots.insert(if above.contains_key(one) { object } else { *one });
        }
        owners.insert(object, roots);
    }
    owners
}

/// What two kinds access, one of them by writing, and can both reach.
fn conflicting(
    first: &Accesses,
    second: &Accesses,
    facts: &Facts,
    found: &PointsTo,
) -> BTreeSet<JavaSubject> {
    let mut subjects = BTreeSet::new();
    for (one, other) in [(first, second), (second, first)] {
        for key in &one.writes {
            if other.writes.contains(key) || other.reads.contains(key) {
                subjects.insert(key.0);
            }
        }
    }
    subjects.retain(|subject| match subject {
        JavaSubject::Statics(_) | JavaSubject::Locks(_) => true,
        JavaSubject::Object(object) => {
            facts.escaping.contains(object) && found.objects.len() > object.index()
        }
    });
    subjects
}
