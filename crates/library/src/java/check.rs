//! # Idea
//! A Java program becomes many small models, one for each question about an object and two threads. Each is
//! asked about like any other program; the findings of all of them are those of one program that has the
//! threads of all models in which something was found.
//!
//! # Invariants
//! 1. Whatever was not understood is a reason why the verdict is open: a program is `safe` only if every
//!    model is, nothing was left out but what the claim names, and there are two threads. Without a question
//!    nothing may be left out at all.

use super::joined::{ConflictKey, Joined, key_of};
use crate::cache::{Key, Store, digest, get, put};
use crate::check::{CheckOptions, CheckWork, Fixes, check_goals};
use crate::goals::Goals;
use crate::java::part::{JavaPart, together};
use crate::java::values::refuted;
use crate::shard::Shard;
use selvedge_analysis::InternalError;
use selvedge_base::{Budget, Diagnostic, IdVec, Severity};
use selvedge_findings::{Checked, FindingKind};
use selvedge_front_java::World;
use selvedge_front_java::class::At;
use selvedge_front_java::library::Table;
use selvedge_front_java::options::{JavaBeginning, JavaOptions, QuestionShare};
use selvedge_front_java::presets::FRAMEWORK;
use selvedge_front_java::questions::{JavaModel, questions};
use selvedge_front_java::stages::JavaStage;
use selvedge_front_java::units::Declared;
use selvedge_front_java::values::ModelAgain;
use selvedge_front_java::words::short_method;
use selvedge_front_java::world::MemberId;
use selvedge_program::{EdgeId, Feature, Program, ThreadId};
use selvedge_report::escape::visible;
use std::collections::{BTreeMap, BTreeSet};

/// What is asked of a program in Java.
const KINDS: [FindingKind; 3] = [FindingKind::Deadlock, FindingKind::Atomicity, FindingKind::Race];

/// How many reasons of one kind are named.
pub(super) const NAMED: usize = 5;

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
                questions(world, table, beginning, settings, budget, &mut heard, &mut each);
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

/// Asks about a model, or gives the answer that is known already. That is charged with the work that it took,
/// and is none if there is not so much left: what is in the cache decides nothing about other models.
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
        && let Some((known, work)) = get(*store, key, program, &goals, budget)
        && budget.steps_left().is_none_or(|left| work < left)
    {
        // Whether something stops it is for the next question.
        let _ = budget.charge(work);
        return Ok(known);
    }
    let metered = budget.metered_part();
    let checked = check_goals(program, &goals, options, &metered, &mut |_, _, _| {})?;
    if let Some((store, key)) = &cache
        && budget.stopped().is_none()
        && checked.faults.is_empty()
    {
        put(*store, key, &checked, program, metered.polls());
    }
    Ok(checked)
}
