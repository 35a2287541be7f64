//! # Idea
//! A Java program becomes many small models, one for each question about an object and two threads. Each is
//! asked about like any other program; the findings of all of them are those of one program that has the
//! threads of all models in which something was found.
//!
//! # Invariants
//! 1. Whatever was not understood is a reason why the verdict is open: a program is `safe` only if every
//!    model is, nothing was left out but what the claim names, and there was something to ask.

use crate::cache::{Key, Store, digest, get, put};
use crate::check::{CheckOptions, CheckWork, Fixes, check_goals};
use crate::fixes::deadlocks;
use crate::goals::Goals;
use crate::java::conflict::{conflict, note_accesses};
use crate::java::part::{JavaPart, together};
use crate::java::values::{REFUTED, refuted};
use crate::shard::Shard;
use selvedge_analysis::{InternalError, Prepared};
use selvedge_base::{Budget, Diagnostic, Id, IdVec, Place, Severity, StopReason};
use selvedge_findings::fix::LARGEST;
use selvedge_findings::{
    AccessTable, Change, Checked, Conflict, Finding, FindingKind, Tally, by_cause,
};
use selvedge_front_java::World;
use selvedge_front_java::class::At;
use selvedge_front_java::library::Table;
use selvedge_front_java::options::{JavaBeginning, JavaOptions, QuestionShare, UnknownCalls};
use selvedge_front_java::presets::FRAMEWORK;
use selvedge_front_java::questions::{JavaModel, Understood, questions};
use selvedge_front_java::remarks::StepRemark;
use selvedge_front_java::stages::JavaStage;
use selvedge_front_java::units::Declared;
use selvedge_front_java::values::ModelAgain;
use selvedge_front_java::words::short_method;
use selvedge_front_java::world::MemberId;
use selvedge_program::{
    Action, Deadlock, EdgeId, Feature, LocationId, LockId, Move, NodeId, PatternQuestion,
    ProcedureId, Program, Question, Race, Resource, StepKind, ThreadId, Trace, TraceStep,
    Valuation, Wait,
};
use selvedge_report::describe::{count, kind_name};
use selvedge_report::escape::visible;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::rc::Rc;

/// What is asked of a program in Java.
const KINDS: [FindingKind; 3] = [FindingKind::Deadlock, FindingKind::Atomicity, FindingKind::Race];

/// How many reasons of one kind are named.
const NAMED: usize = 5;

/// How many steps the search of a model takes at most in which locks are not nested.
const UNNESTED: u64 = 10_000_000;

/// A model has this part of the time that is left.
const LONGEST_SHARE: usize = 8;

/// A program in Java.
#[derive(Clone, Debug)]
pub struct JavaProgram {
    /// Its classes.
    pub world: World,
    /// Where it can begin.
    pub begins: Vec<JavaBeginning>,
    /// What is assumed, and what is asked.
    pub options: JavaOptions,
    /// What tells its class files from others.
    pub digest: String,
}

/// What was found in a program in Java.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JavaChecked {
    /// The findings, and what was asked.
    pub checked: Checked,
    /// The program that the findings are about.
    pub program: Program,
    /// What was asked and what is assumed, in words.
    pub claim: String,
    /// The instructions of the steps of that program.
    pub sites: JavaSites,
    /// How much there was to ask.
    pub figures: JavaFigures,
}

/// Which instruction does what a step does, in the program that findings are about.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JavaSites {
    /// By the edge.
    pub edges: BTreeMap<EdgeId, (MemberId, At)>,
    /// By the thread: which of the beginnings its model is about, and whether it is the first thread.
    pub threads: IdVec<ThreadId, (usize, bool)>,
}

/// How much there is to ask about a program in Java.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct JavaFigures {
    /// The methods that are reached.
    pub methods: usize,
    /// The kinds of threads.
    pub kinds: usize,
    /// The sets of fields, of an object or static, that two kinds share and one changes.
    pub shared: usize,
    /// The models.
    pub models: usize,
}

impl JavaProgram {
    /// That something was asked for by a name that nothing has.
    pub fn unknown_names(&self) -> Vec<Diagnostic> {
        let names = Declared::unknown_names(&self.world, &self.options.units);
        let warn = |name: String| {
            let warning = Diagnostic::global("no-such-member", Severity::Warning, visible(&name));
            warning
                .with_help("`selvedge show --classes` lists classes, methods and fields".to_owned())
        };
        names.into_iter().map(warn).collect()
    }

    /// Asks everything about the program.
    ///
    /// # Errors
    /// If an engine contradicts itself.
    pub fn check(
        &self,
        options: &CheckOptions,
        budget: &Budget,
        progress: &mut dyn FnMut(CheckWork, usize, usize),
    ) -> Result<JavaChecked, InternalError> {
        self.check_cached(options, None, budget, progress)
    }

    /// Asks a part of the questions, and writes down what is needed to conclude from all parts.
    ///
    /// # Errors
    /// If an engine contradicts itself.
    pub fn check_part(
        &self,
        options: &CheckOptions,
        shard: Shard,
        budget: &Budget,
        progress: &mut dyn FnMut(CheckWork, usize, usize),
    ) -> Result<(JavaChecked, JavaPart), InternalError> {
        let own = CheckOptions { fixes: Fixes::Skip, ..options.clone() };
        let program = format!("{} {:?} {:?}", self.digest, self.begins, self.options);
        let mut part = JavaPart::new(digest(program.as_bytes()));
        let index = shard.index() as usize - 1;
        let share = QuestionShare { index, count: shard.count() as usize };
        let joined = self.ask(&own, share, None, Some(&mut part), budget, progress)?;
        part.finish(&joined);
        Ok((joined.conclude(&kinds_of(options)), part))
    }

    /// What all parts of the questions about a program show, or that they are no such parts.
    ///
    /// # Errors
    /// If an engine contradicts itself.
    pub fn conclude(
        parts: &[JavaPart],
        options: &CheckOptions,
        budget: &Budget,
    ) -> Result<Result<JavaChecked, String>, InternalError> {
        let mut joined = match together(parts, budget) {
            Ok(joined) => joined,
            Err(wrong) => return Ok(Err(wrong)),
        };
        if options.fixes == Fixes::Look {
            let kinds = kinds_of(options);
            let data = kinds.into_iter().filter(|kind| *kind != FindingKind::Deadlock).collect();
            let about_data = CheckOptions { fixes: Fixes::Skip, kinds: data, ..options.clone() };
            joined.look_for_fixes(&about_data, budget)?;
        }
        Ok(Ok(joined.conclude(&kinds_of(options))))
    }

    /// The same with answers about single models from a cache, which comes with what tells one build of the
    /// tool from another.
    ///
    /// # Errors
    /// If an engine contradicts itself.
    pub fn check_cached(
        &self,
        options: &CheckOptions,
        cache: Option<(&dyn Store, &str)>,
        budget: &Budget,
        progress: &mut dyn FnMut(CheckWork, usize, usize),
    ) -> Result<JavaChecked, InternalError> {
        let all = QuestionShare::default();
        let joined = self.ask(options, all, cache, None, budget, progress)?;
        Ok(joined.conclude(&kinds_of(options)))
    }

    /// Asks some of the questions, and writes them down if somebody wants that.
    fn ask(
        &self,
        options: &CheckOptions,
        share: QuestionShare,
        cache: Option<(&dyn Store, &str)>,
        mut part: Option<&mut JavaPart>,
        budget: &Budget,
        progress: &mut dyn FnMut(CheckWork, usize, usize),
    ) -> Result<Joined, InternalError> {
        let kinds = kinds_of(options);
        let own = CheckOptions { fixes: Fixes::Skip, ..options.clone() };
        let of = |about_locks: bool| {
            let all = kinds.iter().copied();
            let kinds =
                all.filter(|kind| (*kind == FindingKind::Deadlock) == about_locks).collect();
            CheckOptions { kinds, ..own.clone() }
        };
        let (about_locks, about_data) = (of(true), of(false));
        let mut settings = JavaOptions { part: share, ..self.options.clone() };
        if about_locks.kinds.is_empty() {
            settings.deadlock_locks = 0;
        }
        let table = Table::standard();
        let mut joined = Joined::default();
        for (number, beginning) in self.begins.iter().enumerate() {
            // What a program leaves of its share is for the others.
            let budget = &budget.share(self.begins.len() - number);
            joined.beginning = number;
            joined.first_thread = match beginning {
                JavaBeginning::Main(main) => Some(short_method(&self.world, *main)),
                _ => None,
            };
            if let JavaBeginning::Client(class) = beginning {
                joined.clients_of = Some(self.world.names.class(self.world.classes[*class].name));
            }
            if let JavaBeginning::Main(main) = beginning {
                let class = self.world.classes[main.class].name;
                joined.in_framework |= self.world.names.text(class) == FRAMEWORK;
            }
            let mut bug = None;
            let mut at = String::new();
            let mut heard = |stage: JavaStage, done: usize, total: usize| {
                progress(CheckWork::Java(stage), done, total);
                if budget.stopped().is_none() {
                    at = stage.words(done, total);
                }
            };
            let mut each = |model: JavaModel, again: ModelAgain<'_, '_>| {
                let own = if model.about_locks { &about_locks } else { &about_data };
                // No model takes the time of all others.
                let share = budget.share(LONGEST_SHARE);
                let asked = check_either(model, own, cache, &share).and_then(|(model, checked)| {
                    let joins = without_joins(&model, &checked, own, cache, &share)?;
                    Ok((model, checked, joins))
                });
                match asked {
                    Ok((model, checked, joins)) => {
                        // What was found counts, whether there is time to ask again or not.
                        let refuted = refuted(&model.program, again, &checked, own, &share);
                        let refuted = refuted.unwrap_or_default();
                        if let Some(part) = &mut part {
                            part.keep(number, &model, &checked, (&joins, &refuted));
                        }
                        joined.add(&model, checked, (&joins, &refuted), budget)?;
                    }
                    Err(wrong) => bug = Some(wrong),
                }
                budget.check()
            };
            let (world, settings) = (&self.world, &settings);
            let understood =
                questions(world, &table, beginning, settings, budget, &mut heard, &mut each);
            if let Some(bug) = bug {
                return Err(bug);
            }
            match understood {
                Ok(understood) => {
                    if let Some(part) = &mut part {
                        part.understand(&understood);
                    }
                    joined.understand(understood);
                }
                Err(reason) => {
                    joined.stopped = true;
                    joined.open.insert(format!("{reason} (at {at}); nothing was asked yet"));
                }
            }
        }
        joined.unreached_count = joined.unreached.as_ref().map_or(0, BTreeSet::len);
        let unreached = joined.unreached.iter().flatten().take(NAMED);
        joined.unreached_names =
            unreached.map(|&method| short_method(&self.world, method)).collect();
        joined.deadlock_locks = settings.deadlock_locks;
        joined.unknown_calls = settings.unknown;
        if options.fixes == Fixes::Look {
            joined.look_for_fixes(&about_data, budget)?;
        }
        Ok(joined)
    }
}

/// What is asked of a program in Java of what was wanted.
fn kinds_of(options: &CheckOptions) -> Vec<FindingKind> {
    KINDS.into_iter().filter(|kind| options.kinds.contains(kind)).collect()
}

/// Asks about a model; if locks are not nested in it and that is too much, about the one without them.
fn check_either(
    mut model: JavaModel,
    options: &CheckOptions,
    cache: Option<(&dyn Store, &str)>,
    budget: &Budget,
) -> Result<(JavaModel, Checked), InternalError> {
    let Some(nested) = model.nested.take() else {
        let checked = check_model(&model.program, options, cache, budget)?;
        return Ok((model, checked));
    };
    // With recursion the search of all interleavings has no end, if there is much to ask.
    let recurses = model.program.features().contains(Feature::Recursion);
    let part = budget.part_with_steps(if recurses { UNNESTED / 50 } else { UNNESTED });
    let checked = check_model(&model.program, options, cache, &part)?;
    let unknown = checked.tallies.iter().any(|(_, tally)| tally.unknown > 0);
    if !unknown && checked.open.is_empty() && part.stopped().is_none() {
        return Ok((model, checked));
    }
    let checked = if nested.program.threads.is_empty() {
        Checked::default()
    } else {
        check_model(&nested.program, options, cache, budget)?
    };
    Ok((*nested, checked))
}

/// The conflicts of a model that are none if what looks like waiting for all threads is that.
fn without_joins(
    model: &JavaModel,
    checked: &Checked,
    options: &CheckOptions,
    cache: Option<(&dyn Store, &str)>,
    budget: &Budget,
) -> Result<BTreeSet<ConflictKey>, InternalError> {
    let mut keys: BTreeSet<ConflictKey> = BTreeSet::new();
    let Some(program) = model.if_joined.as_ref().filter(|_| !checked.findings.is_empty()) else {
        return Ok(keys);
    };
    keys.extend(checked.findings.iter().map(key_of));
    if !program.threads.is_empty() {
        let left = check_model(program, options, cache, budget)?;
        let unknown = left.tallies.iter().any(|(_, tally)| tally.unknown > 0);
        if unknown || !left.open.is_empty() {
            keys.clear();
        }
        for finding in &left.findings {
            keys.remove(&key_of(finding));
        }
    }
    Ok(keys)
}

/// Asks about a model, or gives the answer that is known already.
pub(super) fn check_model(
    program: &Program,
    options: &CheckOptions,
    cache: Option<(&dyn Store, &str)>,
    budget: &Budget,
) -> Result<Checked, InternalError> {
    let goals = Goals::default();
    let cache = cache.map(|(store, build)| {
        let text = selvedge_program::text::print(program);
        (store, Key::new(build, "java", &[&text], options))
    });
    if let Some((store, key)) = &cache
        && let Some(known) = get(*store, key, program, &goals, budget)
    {
        return Ok(known);
    }
    let checked = check_goals(program, &goals, options, budget, &mut |_, _, _| {})?;
    if let Some((store, key)) = &cache
        && budget.stopped().is_none()
    {
        put(*store, key, &checked, program);
    }
    Ok(checked)
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is true of the answer by itself")]
pub(super) struct Joined {
    program: Program,
    conflicts: BTreeMap<ConflictKey, Conflict>,
    /// The models of the conflicts.
    models_of: BTreeMap<ConflictKey, Rc<ConflictModel>>,
    sites: JavaSites,
    /// The number of what the program begins with that is asked about, and the name of its first thread.
    pub(super) beginning: usize,
    first_thread: Option<String>,
    accesses: AccessTable,
    tallies: BTreeMap<FindingKind, Tally>,
    pub(super) open: BTreeSet<String>,
    shared: usize,
    kinds: usize,
    can_meet: bool,
    /// Whether a limit was met before everything was known that there is to ask.
    pub(super) stopped: bool,
    /// Whether a part of the program was not looked at, so that nothing is proved.
    cut: bool,
    models: usize,
    cycles: usize,
    /// What unknown calls are assumed to do.
    pub(super) unknown_calls: UnknownCalls,
    /// The class whose clients were asked about.
    pub(super) clients_of: Option<String>,
    /// Whether a framework runs it.
    pub(super) in_framework: bool,
    /// How many locks a deadlock has that was asked about.
    pub(super) deadlock_locks: usize,
    unknown: BTreeMap<String, usize>,
    ignored: BTreeSet<String>,
    /// Where it is assumed that all threads are waited for.
    assumed: BTreeSet<String>,
    methods: (usize, usize),
    /// The public methods that nothing reaches, whatever the program begins with, and names of some.
    unreached: Option<BTreeSet<MemberId>>,
    /// How many these are, and the names of the first.
    pub(super) unreached_count: usize,
    pub(super) unreached_names: Vec<String>,
    /// The units of work.
    units: BTreeMap<UnitExtent, UnitPlaces>,
    /// Classes that are marked as not thread-safe.
    unasked: BTreeSet<String>,
}

/// What tells one conflict from another: its kind and its places.
pub(super) type ConflictKey = (FindingKind, Vec<Place>);

/// A model in which something was found, and its procedures that run for the object.
struct ConflictModel {
    program: Program,
    own: BTreeSet<ProcedureId>,
    /// Whether a lock is given up for a while, which frees it however often it is held.
    waits: bool,
}

/// What tells the conflict of a finding from others.
pub(super) fn key_of(finding: &Finding) -> ConflictKey {
    let mut places = finding.places.clone();
    places.sort_unstable();
    (finding.kind, places)
}

/// Units of work by the method and the place that they begin in.
type UnitPlaces = BTreeSet<(String, Place)>;

/// What a unit of work is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum UnitExtent {
    /// A method.
    Method,
    /// What is under a lock.
    Region,
    /// A pass of a loop.
    Pass,
}

/// The units of work of a model: the method, where they begin, and what they are.
pub(super) fn units(model: &JavaModel) -> impl Iterator<Item = (String, Place, UnitExtent)> + '_ {
    let JavaModel { program, remarks, .. } = model;
    let begins =
        program.edges.iter_enumerated().filter(|(_, edge)| edge.action == Action::BeginUnit);
    begins.map(|(id, edge)| {
        let procedure = &program.procedures[program.nodes[edge.source]];
        let method = selvedge_findings::cause::method_name(&procedure.name);
        let said = remarks.edges.get(&id);
        let extent = if said.is_some_and(|said| said.contains(&StepRemark::Pass)) {
            UnitExtent::Pass
        } else if edge.source == procedure.entry {
            UnitExtent::Method
        } else {
            UnitExtent::Region
        };
        (method, edge.place, extent)
    })
}

impl Joined {
    pub(super) fn add(
        &mut self,
        model: &JavaModel,
        checked: Checked,
        (joins, refuted): (&BTreeSet<ConflictKey>, &BTreeSet<ConflictKey>),
        budget: &Budget,
    ) -> Result<(), StopReason> {
        for (kind, tally) in checked.tallies {
            *self.tallies.entry(kind).or_default() += tally;
        }
        self.open.extend(checked.open);
        self.open.extend(model.doubts.iter().cloned());
        if !model.about_locks {
            self.ignored.extend(model.ignored.iter().cloned());
            note_accesses(&mut self.accesses, model, budget)?;
            for (method, at, extent) in units(model) {
                self.units.entry(extent).or_default().insert((method, at));
            }
        }
        let (mut shift, mut kept) = (None, None);
        for finding in checked.findings {
            let key = key_of(&finding);
            let steps = |one: &Finding| one.trace.steps.len();
            let known = self.conflicts.get(&key);
            let tags: BTreeSet<String> = known
                .iter()
                .flat_map(|known| &known.finding.tags)
                .chain(&finding.tags)
                .cloned()
                .collect();
            // Values have to rule it out in every model.
            let is_refuted =
                refuted.contains(&key) && known.is_none_or(|known| known.demoted.contains(REFUTED));
            let is_better = known.is_none_or(|known| steps(&finding) < steps(&known.finding));
            if is_better {
                let mut conflict = conflict(model, finding);
                if joins.contains(&key) {
                    conflict.demoted.insert("join-assumed".to_owned());
                }
                if is_refuted {
                    conflict.demoted.insert(REFUTED.to_owned());
                }
                let shift = *shift.get_or_insert_with(|| {
                    for thread in &model.program.threads {
                        let is_first = Some(&thread.name) == self.first_thread.as_ref();
                        self.sites.threads.push((self.beginning, is_first));
                    }
                    let shift = Shift::append(&mut self.program, &model.program);
                    let sites = model.remarks.sites.iter();
                    let moved = sites.map(|(&edge, &site)| (by(edge, shift.edges), site));
                    self.sites.edges.extend(moved);
                    shift
                });
                conflict.finding = shift.finding(conflict.finding);
                self.conflicts.insert(key.clone(), conflict);
                let kept = kept.get_or_insert_with(|| {
                    let (program, own) = (model.program.clone(), model.remarks.own.clone());
                    let mut said = model.remarks.edges.values().flatten();
                    let waits = said.any(|one| *one == StepRemark::Waits);
                    Rc::new(ConflictModel { program, own, waits })
                });
                self.models_of.insert(key.clone(), Rc::clone(kept));
            }
            if let Some(known) = self.conflicts.get_mut(&key) {
                if !is_refuted {
                    known.demoted.remove(REFUTED);
                }
                known.finding.tags = tags.into_iter().collect();
            }
        }
        Ok(())
    }

    /// Makes the change that would make accesses usual in the model of each conflict, and asks again.
    fn look_for_fixes(
        &mut self,
        options: &CheckOptions,
        budget: &Budget,
    ) -> Result<(), InternalError> {
        let mut left: BTreeMap<(*const ConflictModel, Change), BTreeSet<ConflictKey>> =
            BTreeMap::new();
        for (key, conflict) in &mut self.conflicts {
            let Some(model) = self.models_of.get(key) else { continue };
            let Some(change) = Change::of(conflict, &self.accesses) else { continue };
            if budget.poll().is_some() {
                break;
            }
            if model.waits || model.program.edges.len() > LARGEST {
                continue;
            }
            let known = left.entry((Rc::as_ptr(model), change.clone()));
            let still = match known {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let changed = change.made(&model.program, &model.own);
                    let checked = check_model(&changed, options, None, budget)?;
                    let mut still: BTreeSet<ConflictKey> =
                        checked.findings.iter().map(key_of).collect();
                    let before =
                        deadlocks(&Prepared::new(&model.program), &options.analysis, budget)?;
                    let after = deadlocks(&Prepared::new(&changed), &options.analysis, budget)?;
                    let new_ones = match (before, after) {
                        (Some(before), Some(after)) => !after.is_subset(&before),
                        _ => true,
                    };
                    let open = checked.tallies.iter().any(|(_, tally)| tally.unknown > 0);
                    if new_ones || open || !checked.open.is_empty() {
                        // Whatever it cures, it is no fix.
                        still.insert(key.clone());
                        still.extend(self.models_of.keys().cloned());
                    }
                    new.insert(still)
                }
            };
            conflict.cured = !still.contains(key);
        }
        Ok(())
    }

    pub(super) fn understand(&mut self, understood: Understood) {
        let Understood { kinds, shared, models, cycles, methods, unknown, ignored, doubts, .. } =
            understood;
        self.unasked.extend(understood.unasked);
        let unreached: BTreeSet<MemberId> = understood.unreached.into_iter().collect();
        self.unreached = Some(match self.unreached.take() {
            Some(known) => &known & &unreached,
            None => unreached,
        });
        self.assumed.extend(understood.assumed);
        self.cycles += cycles;
        self.can_meet |= kinds.len() > 1 || kinds.iter().any(|(_, single)| !single);
        self.kinds = self.kinds.max(kinds.len());
        self.shared += shared.len();
        self.models += models;
        self.methods = (self.methods.0.max(methods.0), methods.1);
        for (name, count) in unknown {
            *self.unknown.entry(name).or_default() += count;
        }
        self.ignored.extend(ignored);
        self.open.extend(understood.left);
        self.cut |= understood.cut;
        let more = doubts.len().saturating_sub(NAMED);
        self.open.extend(doubts.into_iter().take(NAMED));
        if more > 0 {
            self.open.insert(format!("{} like these", count(more, "more reason")));
        }
    }

    fn conclude(mut self, kinds: &[FindingKind]) -> JavaChecked {
        if self.stopped || self.cut {
            // What there is to ask is not known.
        } else if !self.can_meet {
            self.open.insert("nothing to check: one thread was found".to_owned());
        } else if self.shared == 0 && self.cycles == 0 {
            self.open.insert(
                "nothing to check: no object was found that two threads share and one changes"
                    .to_owned(),
            );
        }
        if !self.open.is_empty() {
            // What was not understood may hide something of every kind.
            for kind in kinds {
                let tally = self.tallies.entry(*kind).or_default();
                tally.questions += 1;
                tally.unknown += 1;
            }
        }
        if self.cut {
            for tally in self.tallies.values_mut() {
                tally.unknown += tally.safe;
                (tally.safe, tally.vacuous) = (0, 0);
            }
        }
        let claim = self.claim(kinds);
        let figures = JavaFigures {
            methods: self.methods.0,
            kinds: self.kinds,
            shared: self.shared,
            models: self.models,
        };
        let threads = self.program.threads.len();
        let mut findings = by_cause(self.conflicts.into_values().collect(), &self.accesses);
        for finding in &mut findings {
            finding.trace.locals = IdVec::filled(Valuation::default(), threads);
        }
        let tallies = kinds
            .iter()
            .map(|kind| (*kind, self.tallies.get(kind).copied().unwrap_or_default()))
            .collect();
        let open = self.open.into_iter().collect();
        let checked = Checked { findings, tallies, open, unreached: Vec::new() };
        JavaChecked { checked, program: self.program, claim, sites: self.sites, figures }
    }

    /// What was asked, of what, and what is assumed: the sentence that `safe` is.
    fn claim(&self, kinds: &[FindingKind]) -> String {
        let data = kinds.iter().filter(|kind| **kind != FindingKind::Deadlock);
        let asked: Vec<&str> = data.map(|kind| kind_name(*kind)).collect();
        let on = format!(
            "{} of fields (of an object, or static) that threads of {} share, one at a time, under any \
             scheduling and for any number of threads of each kind",
            count(self.shared, "set"),
            count(self.kinds, "kind"),
        );
        let nothing = self.conflicts.is_empty() && self.open.is_empty();
        let mut text = if asked.is_empty() {
            "asked about deadlocks only".to_owned()
        } else if nothing && !self.assumed.is_empty() {
            let joins = count(self.assumed.len(), "join");
            let wait = if self.assumed.len() == 1 { "waits" } else { "wait" };
            let no = asked.join(" and no ");
            format!("if {joins} {wait} for every thread (A6), no {no} on the {on}")
        } else if nothing {
            format!("no {} on the {on}", asked.join(" and no "))
        } else {
            format!("asked: {} on the {on}", asked.join(" and "))
        };
        if self.deadlock_locks > 1 {
            let _ = write!(
                text,
                "; {}deadlocks of up to {} locks of any objects ({})",
                if nothing { "no " } else { "" },
                self.deadlock_locks,
                count(self.cycles, "question")
            );
        }
        let units = |extent| self.units.get(&extent).map_or(0, BTreeSet::len);
        let passes = match units(UnitExtent::Pass) {
            0 => String::new(),
            loops => format!(" and passes of {}", count(loops, "loop")),
        };
        let _ = write!(
            text,
            "; {}; units of work: {} and {}{passes}; {} of {} are reached",
            count(self.models, "model"),
            count(units(UnitExtent::Method), "method"),
            count(units(UnitExtent::Region), "locked region"),
            self.methods.0,
            count(self.methods.1, "method"),
        );
        let unreached = self.unreached_count;
        if unreached > 0 {
            let more = unreached - self.unreached_names.len();
            let _ = write!(
                text,
                ", and of the public ones not {}{}",
                self.unreached_names.join(", "),
                match more {
                    0 => String::new(),
                    more => format!(" and {more} more (`--list unreached`)"),
                }
            );
        }
        text.push_str(
            "; assumed: the classes given are all there are (A1), no reflection, native code or Unsafe \
             touches what is shared (A2), memory is sequentially consistent (A3), constructors publish \
             `this` only as seen (A5), nothing stops a thread from outside (A7)",
        );
        if !self.assumed.is_empty() {
            let places: Vec<&str> = self.assumed.iter().take(10).map(String::as_str).collect();
            let _ = write!(
                text,
                ", every thread is waited for at {} that look like it (A6: {})",
                count(self.assumed.len(), "place"),
                places.join("; ")
            );
        }
        if let Some(class) = &self.clients_of {
            let _ = write!(
                text,
                ", clients use objects of {class} by their public methods only, wait for none of them \
                 nor for locks while they are called back, and leave alone what they pass, and no \
                 subclass redefines a method (A8)"
            );
        }
        if self.in_framework {
            text.push_str(
                ", a framework makes one object of each of its classes, sets all of them up and then calls \
                 them (A8)",
            );
        }
        if !self.unknown.is_empty() {
            let calls: usize = self.unknown.values().sum();
            let mut most: Vec<(&String, &usize)> = self.unknown.iter().collect();
            most.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), (*name).clone()));
            let names: Vec<&str> = most.iter().take(10).map(|(name, _)| name.as_str()).collect();
            let _ = write!(
                text,
                ", {} {} (A4, `--list unknown`: {})",
                count(calls, "unknown call"),
                match self.unknown_calls {
                    UnknownCalls::Args =>
                        "touch only what they are given, arrays and containers among it",
                    UnknownCalls::Havoc =>
                        "touch only what they are given and what that leads to, with all its fields",
                    UnknownCalls::Pure => "do nothing that matters, as --unknown says",
                },
                names.join(", ")
            );
        }
        if !self.ignored.is_empty() {
            let names: Vec<&str> = self.ignored.iter().take(10).map(String::as_str).collect();
            let _ = write!(
                text,
                "; {} ignored where no name or no nesting is known: {}",
                count(self.ignored.len(), "lock"),
                names.join(", ")
            );
        }
        let of_fields = (self.accesses.claims(), "field");
        let of_calls = (self.accesses.claims_of_calls(), "method");
        for ((claims, broken), what) in [of_fields, of_calls] {
            if claims > 0 {
                let held = claims - broken.len();
                let _ = write!(text, "; `@GuardedBy` holds for {held} of {}", count(claims, what));
            }
            if !broken.is_empty() {
                let _ = write!(text, " ({})", broken.join("; "));
            }
        }
        if !self.unasked.is_empty() {
            let names: Vec<&str> = self.unasked.iter().map(String::as_str).collect();
            let _ = write!(
                text,
                "; not asked because of `@NotThreadSafe`: objects of {}",
                names.join(", ")
            );
        }
        let _ = write!(
            text,
            "; not asked: values, missed notifications, deadlocks{}, invariants across objects, cycles \
             through three units, so this does not say that the program is correct",
            match self.deadlock_locks {
                0 | 1 => String::new(),
                locks => format!(
                    " of more than {locks} locks, over a `join`, over values as locks or inside the library"
                ),
            }
        );
        text
    }
}

/// By how much the numbers of a model change where it is put behind others.
#[derive(Clone, Copy)]
struct Shift {
    threads: usize,
    locations: usize,
    locks: usize,
    procedures: usize,
    edges: usize,
}

fn by<I: Id>(id: I, shift: usize) -> I {
    I::from_index(id.index() + shift)
}

impl Shift {
    /// Puts a model behind a program.
    fn append(program: &mut Program, model: &Program) -> Self {
        let shift = Self {
            threads: program.threads.len(),
            locations: program.locations.len(),
            locks: program.locks.len(),
            procedures: program.procedures.len(),
            edges: program.edges.len(),
        };
        let nodes = program.nodes.len();
        let sets = program.atomic_sets.len();
        program.files.clone_from(&model.files);
        for set in &model.atomic_sets {
            program.atomic_sets.push(set.clone());
        }
        for lock in &model.locks {
            program.locks.push(lock.clone());
        }
        for location in &model.locations {
            let mut location = location.clone();
            location.atomic_set = by(location.atomic_set, sets);
            program.locations.push(location);
        }
        for procedure in &model.procedures {
            let mut procedure = procedure.clone();
            procedure.entry = by::<NodeId>(procedure.entry, nodes);
            procedure.exit = by(procedure.exit, nodes);
            program.procedures.push(procedure);
        }
        for &procedure in &model.nodes {
            program.nodes.push(by::<ProcedureId>(procedure, shift.procedures));
        }
        for edge in &model.edges {
            let mut edge = edge.clone();
            edge.source = by(edge.source, nodes);
            edge.target = by(edge.target, nodes);
            edge.action = shift.action(edge.action);
            program.edges.push(edge);
        }
        for thread in &model.threads {
            let mut thread = thread.clone();
            thread.main = by(thread.main, shift.procedures);
            program.threads.push(thread);
        }
        shift
    }

    fn action(self, action: Action) -> Action {
        match action {
            Action::Read(one) => Action::Read(by(one, self.locations)),
            Action::Write(one) => Action::Write(by(one, self.locations)),
            Action::Acquire(one) => Action::Acquire(by(one, self.locks)),
            Action::Release(one) => Action::Release(by(one, self.locks)),
            Action::Call(one) => Action::Call(by(one, self.procedures)),
            // The models have no other actions with numbers.
            other => other,
        }
    }

    fn thread(self, id: ThreadId) -> ThreadId {
        by(id, self.threads)
    }

    fn location(self, id: LocationId) -> LocationId {
        by(id, self.locations)
    }

    fn lock(self, id: LockId) -> LockId {
        by(id, self.locks)
    }

    fn resource(self, one: Resource) -> Resource {
        match one {
            Resource::Lock(lock) => Resource::Lock(self.lock(lock)),
            Resource::End(thread) => Resource::End(self.thread(thread)),
        }
    }

    fn finding(self, mut finding: Finding) -> Finding {
        finding.threads.iter_mut().for_each(|one| *one = self.thread(*one));
        finding.locations.iter_mut().for_each(|one| *one = self.location(*one));
        finding.locks.iter_mut().for_each(|one| *one = self.lock(*one));
        finding.question = match finding.question {
            Question::Pattern(one) => Question::Pattern(PatternQuestion {
                unit_thread: self.thread(one.unit_thread),
                other_thread: self.thread(one.other_thread),
                locations: one.locations.iter().map(|&one| self.location(one)).collect(),
                ..one
            }),
            Question::Race(one) => Question::Race(Race {
                location: self.location(one.location),
                threads: one.threads.map(|one| self.thread(one)),
            }),
            Question::Deadlock(one) => Question::Deadlock(Deadlock {
                waits: one
                    .waits
                    .into_iter()
                    .map(|wait| Wait {
                        thread: self.thread(wait.thread),
                        holds: self.resource(wait.holds),
                        wants: self.resource(wait.wants),
                    })
                    .collect(),
            }),
            other => other,
        };
        finding.trace = self.trace(finding.trace);
        finding
    }

    fn trace(self, mut trace: Trace) -> Trace {
        for step in trace.steps.iter_mut().chain(&mut trace.next) {
            self.step(step);
        }
        trace
    }

    fn step(self, step: &mut TraceStep) {
        step.thread = self.thread(step.thread);
        let edge = |id: EdgeId| by(id, self.edges);
        step.step = match step.step {
            Move::Edge(id) => Move::Edge(edge(id)),
            Move::With(id, thread) => Move::With(edge(id), self.thread(thread)),
            Move::Return => Move::Return,
        };
        step.kind = match step.kind {
            StepKind::Acquire(id) => StepKind::Acquire(self.lock(id)),
            StepKind::Release(id) => StepKind::Release(self.lock(id)),
            StepKind::Read(id) => StepKind::Read(self.location(id)),
            StepKind::Write(id) => StepKind::Write(self.location(id)),
            StepKind::Call(id) => StepKind::Call(by(id, self.procedures)),
            StepKind::Return(id) => StepKind::Return(by(id, self.procedures)),
            other => other,
        };
    }
}
