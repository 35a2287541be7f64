//! # Idea
//! From classes to models: what values can be, what is true of the program, which objects two threads share
//! that one of them changes, and for each of them and each two kinds of threads the program of that question.
//! The models go to whoever asks, one after the other, those first that promise most, and are not kept.
//!
//! # Source
//! Two threads are enough for races and for patterns of two units: whoever takes no part can be left out of an
//! execution, because locks only become freer.
//!
//! # Invariants
//! 1. Whatever was not understood is in [`Understood::doubts`] when all models have been given.

use crate::accesses::{Accesses, MethodAccesses, conflicting};
use crate::class::{At, JavaInstruction};
use crate::client::CLIENT;
use crate::emit::Sources;
use crate::facts::Facts;
use crate::library::{Effect, Gives, Table};
use crate::making::ModelMaker;
use crate::options::{JavaBeginning, JavaOptions};
use crate::points_to::{Doubt, Origin, PointsTo, Site, ThreadKind, points_to};
use crate::stages::{JavaStage, StageHeard};
use crate::tokens::{JavaSubject, ModelFacts};
use crate::units::Declared;
use crate::values::ModelAgain;
use crate::words::{kind_name, short_class, short_method};
use crate::world::{ClassId, MemberId, World};
use selvedge_base::{Budget, StopReason};
use std::collections::{BTreeMap, BTreeSet};

pub use crate::making::JavaModel;

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
    /// What was not asked because a limit was met, in words.
    pub left: BTreeSet<String>,
    /// Whether a part of the program was not looked at because a limit was met, so that nothing is proved.
    pub cut: bool,
    /// Whether two threads share an object or static fields that one of them changes, take one lock, or wait
    /// by one object.
    pub shares: bool,
    /// What two threads may wait by that no question about deadlocks is about, in words: latches, permits.
    pub other_waits: BTreeSet<String>,
    /// Whether more threads may wait for each other's locks than such a question has.
    pub longer_cycles: bool,
}

/// Finds the questions about a program that begins so and gives the model of each to `each`, those first that
/// promise most. What was understood before a limit is met counts.
///
/// # Errors
/// If the budget is used up before it is known what there is to ask.
pub fn questions(
    world: &World,
    table: &Table,
    beginning: &JavaBeginning,
    options: &JavaOptions,
    budget: &Budget,
    heard: &mut StageHeard<'_>,
    each: &mut dyn FnMut(JavaModel, ModelAgain<'_, '_>) -> Result<(), StopReason>,
) -> Result<Understood, StopReason> {
    heard(JavaStage::PointsTo, 0, 0);
    let found = points_to(world, table, beginning, options.unknown, budget, heard)?;
    heard(JavaStage::Facts, 0, 0);
    let facts = Facts::new(world, &found, budget)?;
    let declared = Declared::new(world, &options.units);
    let mut shared = ModelFacts::new(world, table, &found, &facts, declared, budget)?;
    shared.assume_joins = options.assume_joins;
    let sources = Sources::new(world);
    let mut understood = of_program(world, &found, &facts);
    heard(JavaStage::Sharing, 0, 0);
    let mut asked = asked(&shared, beginning, &mut understood, budget)?;
    asked.retain(|one| options.part.has(one.number));
    let mut maker = ModelMaker::new(&shared, &sources, understood, budget, each);
    // Data has half of the time that is left, then locks have their turn, then what is left over.
    let share = if options.deadlock_locks > 1 { budget.share(2) } else { budget.clone() };
    let mut next = 0;
    maker.about_data(&asked, &mut next, &share, heard);
    if options.deadlock_locks > 1 {
        maker.about_locks(options.deadlock_locks, options.part, heard);
        maker.about_data(&asked, &mut next, budget, heard);
    } else if !maker.understood.shares {
        maker.look_for_shared_locks();
    }
    maker.conclude(&asked[next..], asked.len());
    Ok(maker.understood)
}

/// What is understood of a program that begins so before anything is asked: no objects, locks or models.
///
/// # Errors
/// If the budget is used up.
pub fn understood(
    world: &World,
    table: &Table,
    beginning: &JavaBeginning,
    options: &JavaOptions,
    budget: &Budget,
) -> Result<Understood, StopReason> {
    let found = points_to(world, table, beginning, options.unknown, budget, &mut |_, _, _| {})?;
    let facts = Facts::new(world, &found, budget)?;
    Ok(of_program(world, &found, &facts))
}

/// What is understood before anything is asked.
fn of_program(world: &World, found: &PointsTo, facts: &Facts) -> Understood {
    let mut understood = Understood {
        kinds: found
            .kinds
            .iter()
            .map(|&kind| (kind_name(world, found, kind), facts.single_kinds.contains(&kind)))
            .collect(),
        methods: (found.methods.len(), world.classes.iter().map(|class| class.methods.len()).sum()),
        unknown: found.unknown.clone(),
        doubts: found.doubts.iter().map(|doubt| in_words(world, doubt)).collect(),
        unreached: unreached(world, found),
        cut: found.cut,
        ..Understood::default()
    };
    if found.cut {
        understood.left.insert(format!(
            "what values can be was not found to the end, with {} methods looked at, so nothing is proved: \
             it may take half of what the limits leave",
            found.methods.len()
        ));
    }
    understood
}

/// A question about data: two kinds of threads, and what they share.
pub(crate) struct DataQuestion {
    /// Its number among all.
    pub(crate) number: usize,
    pub(crate) kinds: [ThreadKind; 2],
    pub(crate) subject: JavaSubject,
}

/// What there is to ask about data, that first which promises most.
fn asked(
    shared: &ModelFacts<'_>,
    beginning: &JavaBeginning,
    understood: &mut Understood,
    budget: &Budget,
) -> Result<Vec<DataQuestion>, StopReason> {
    let &ModelFacts { world, table, found, facts, .. } = shared;
    let methods = MethodAccesses::new(shared, budget)?;
    let counts = methods.counts(budget)?;
    let mut accesses: BTreeMap<ThreadKind, Accesses> = BTreeMap::new();
    for (&kind, runs) in &facts.runs {
        accesses.insert(kind, methods.of(&mut runs.iter().copied(), budget)?);
    }
    let own = match beginning {
        JavaBeginning::Client(_) => {
            let is_client =
                |method: &MemberId| world.names.text(world.classes[method.class].name) == CLIENT;
            let mut own = found.methods.keys().filter(|one| !is_client(one)).copied();
            Some(methods.of(&mut own, budget)?)
        }
        JavaBeginning::Main(_) | JavaBeginning::Entries(_) => None,
    };
    let kinds: Vec<ThreadKind> = found.kinds.iter().copied().collect();
    let mut all: Vec<(Promise, DataQuestion)> = Vec::new();
    let mut unguarded: BTreeMap<Option<ClassId>, bool> = BTreeMap::new();
    let mut uneven: BTreeMap<JavaSubject, bool> = BTreeMap::new();
    for (at, &first) in kinds.iter().enumerate() {
        for &second in &kinds[at..] {
            if first == second && facts.single_kinds.contains(&first) {
                continue;
            }
            budget.charge(1 + accesses[&first].size() + accesses[&second].size())?;
            let mut subjects = conflicting(&accesses[&first], &accesses[&second], &methods);
            if let (JavaBeginning::Client(class), Some(own)) = (beginning, &own) {
                // What clients alone look at is theirs.
                let by_class = conflicting(own, &accesses[&second], &methods);
                subjects.retain(|subject, _| by_class.contains_key(subject));
                subjects.retain(|subject, _| is_of_class(found, *class, *subject));
            }
            subjects.retain(|&subject, _| has_state(world, table, found, subject));
            understood.shares |= !subjects.is_empty();
            for (subject, both_write) in subjects {
                let class = class_of(found, subject);
                if let Some(class) = class.filter(|class| shared.declared.unasked.contains(class)) {
                    understood.unasked.insert(short_class(world, class));
                    continue;
                }
                let is_unguarded = *unguarded
                    .entry(class)
                    .or_insert_with(|| class.is_some_and(|class| is_unguarded(world, class)));
                let is_uneven = *uneven.entry(subject).or_insert_with(|| shared.is_uneven(subject));
                let promise = Promise {
                    is_even: is_unguarded || !is_uneven,
                    size: counts.of(subject).max(1).ilog2() / FEW_METHODS.ilog2(),
                    has_no_class: class.is_none(),
                    has_main: [first, second].iter().any(|one| one.origin == Origin::Main),
                    is_unguarded,
                    one_only_reads: !both_write,
                };
                let number = all.len();
                all.push((promise, DataQuestion { number, kinds: [first, second], subject }));
            }
        }
    }
    Ok(by_promise(found, all))
}

/// How little a question promises to find something that matters: as causes are ranked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a reason of its own")]
struct Promise {
    /// Whether locks are used in one way, or not at all.
    is_even: bool,
    /// How large its model is going to be, roughly.
    size: u32,
    has_no_class: bool,
    has_main: bool,
    is_unguarded: bool,
    one_only_reads: bool,
}

/// Questions in an order in which those come first that promise most, and no class waits until all objects of
/// another one have been asked about.
fn by_promise(found: &PointsTo, all: Vec<(Promise, DataQuestion)>) -> Vec<DataQuestion> {
    let mut before: BTreeMap<(Promise, Option<ClassId>), usize> = BTreeMap::new();
    let mut keyed: Vec<((usize, Promise), DataQuestion)> = Vec::new();
    for (promise, asked) in all {
        let count = before.entry((promise, class_of(found, asked.subject))).or_default();
        *count += 1;
        // Of each class the first few, then twice as many.
        let round = (*count / FIRST_OF_CLASS + 1).ilog2() as usize;
        keyed.push(((round, promise), asked));
    }
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, asked)| asked).collect()
}

/// What so many methods access has a small model.
const FEW_METHODS: u32 = 32;

/// How many questions about a class come before those about others that promise less.
const FIRST_OF_CLASS: usize = 8;

/// The class of the world that a question is about.
pub(crate) fn class_of(found: &PointsTo, subject: JavaSubject) -> Option<ClassId> {
    match subject {
        JavaSubject::Statics(class) => Some(class),
        _ => subject.asked().and_then(|object| found.objects[object].class),
    }
}

/// Whether there is anything about a subject that can change: not in functions, classes and values, nor in
/// objects from outside that hold what they were made with.
fn has_state(world: &World, table: &Table, found: &PointsTo, subject: JavaSubject) -> bool {
    let JavaSubject::Object(object) = subject else { return true };
    let of = found.objects[object];
    let name = world.names.text(of.name);
    match of.site {
        Site::Lambda(..) | Site::Class(_) | Site::View(..) => false,
        Site::New(..) | Site::Made(..) => {
            of.class.is_some() || !(table.is_immutable(name) || table.is_still(name))
        }
        _ => !table.is_still(name),
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
pub(crate) fn is_unguarded(world: &World, class: ClassId) -> bool {
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

/// An instruction in words: its method and its line.
pub(crate) fn located(world: &World, method: MemberId, at: At) -> String {
    let line = world.of(method).body.as_ref().and_then(|body| body.line(at));
    let line = line.map_or_else(String::new, |line| format!(", line {line}"));
    format!("{}{line}", short_method(world, method))
}

/// Whether a question is about a class and not about what its clients make.
fn is_of_class(found: &PointsTo, class: ClassId, subject: JavaSubject) -> bool {
    let Some(object) = subject.isolated() else { return true };
    let of = found.objects[object];
    match of.site {
        Site::Client(of) => of == class,
        Site::Passed(..) | Site::Named(_) | Site::Caught(..) => false,
        // What is got out of things that clients have is theirs, too.
        Site::Given(method, at) => {
            let effects = found.invocations.get(&(method, at)).map(|one| &one.library);
            let made = |effect: Option<Effect>| effect.is_some_and(|one| one.gives == Gives::Fresh);
            effects.is_some_and(|effects| effects.values().any(made))
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
