//! # Idea
//! What was understood of a program in Java, so that somebody can see why something was found or was not: its
//! kinds of threads, what they share, the locks, the units of work, the unknown calls, the locks that are left
//! out; and the model of one object.

use super::JavaProgram;
use super::joined::{UnitExtent, units};
use selvedge_base::{Budget, Place, StopReason};
use selvedge_front_java::World;
use selvedge_front_java::library::Table;
use selvedge_front_java::options::JavaBeginning;
use selvedge_front_java::questions::{JavaModel, Understood, questions, understood};
use selvedge_front_java::values::ModelAgain;
use selvedge_front_java::words::short_method;
use selvedge_program::{Action, Program};
use selvedge_report::describe::count;
use selvedge_report::escape::visible;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// How many places are named for a lock.
const PLACES: usize = 6;

/// What is to be listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JavaList {
    /// The kinds of threads.
    Kinds,
    /// The objects, and classes with static fields, that threads share.
    Objects,
    /// The locks that are held, and where they are taken.
    Locks,
    /// The units of work.
    Units,
    /// The unknown calls.
    Unknown,
    /// The locks that are left out.
    IgnoredLocks,
    /// Public methods that nothing reaches.
    Unreached,
}

/// What the models of a program have.
#[derive(Default)]
struct Seen {
    /// By what they are about: the threads of each model.
    objects: BTreeMap<String, Vec<String>>,
    locks: BTreeMap<String, BTreeSet<String>>,
    units: BTreeSet<(String, String, UnitExtent)>,
}

impl Seen {
    fn add(&mut self, model: &JavaModel) {
        let program = &model.program;
        self.objects.entry(model.subject.clone()).or_default().push(threads(program));
        for edge in &program.edges {
            if let Action::Acquire(lock) = edge.action {
                let places = self.locks.entry(program.locks[lock].name.clone()).or_default();
                places.insert(located(program, edge.place));
            }
        }
        let own = units(model).map(|(method, at, extent)| (method, located(program, at), extent));
        self.units.extend(own);
    }
}

fn threads(program: &Program) -> String {
    let names: Vec<&str> = program.threads.iter().map(|one| one.name.as_str()).collect();
    names.join(" and ")
}

fn located(program: &Program, place: Place) -> String {
    program.located(place).unwrap_or_else(|| "somewhere".to_owned())
}

impl JavaProgram {
    /// What was understood of the program, one thing in a line.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn list(&self, what: JavaList, budget: &Budget) -> Result<String, StopReason> {
        let table = Table::standard();
        let mut out = String::new();
        for beginning in &self.begins {
            let mut seen = Seen::default();
            let understood = match what {
                // No model is needed to tell.
                JavaList::Kinds | JavaList::Unknown | JavaList::Unreached => {
                    let (world, options) = (&self.world, &self.options);
                    complete(understood(world, table, beginning, options, budget)?, budget)?
                }
                JavaList::Objects | JavaList::Locks | JavaList::Units | JavaList::IgnoredLocks => {
                    self.give_models(table, beginning, budget, &mut |model| {
                        if !model.about_locks {
                            seen.add(&model);
                        }
                    })?
                }
            };
            if let (true, JavaBeginning::Main(main)) = (self.begins.len() > 1, beginning) {
                let class = self.world.names.class(self.world.classes[main.class].name);
                let _ = writeln!(out, "{}.main:", visible(&class));
            }
            for line in lines(what, &self.world, &understood, &seen) {
                let _ = writeln!(out, "{}", visible(&line));
            }
        }
        Ok(out)
    }

    /// The models about an object, as `C@line` names it, or about the static fields of a class, and what else
    /// could have been named.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn models_of(
        &self,
        wanted: &str,
        budget: &Budget,
    ) -> Result<(Vec<Program>, BTreeSet<String>), StopReason> {
        let table = Table::standard();
        let (mut found, mut others) = (Vec::new(), BTreeSet::new());
        for beginning in &self.begins {
            self.give_models(table, beginning, budget, &mut |model| {
                let statics = model.is_static && model.class == wanted;
                if model.about_locks {
                    // It has no name of its own.
                } else if model.subject == wanted || statics {
                    found.push(model.program);
                } else {
                    others.insert(model.subject);
                }
            })?;
        }
        Ok((found, others))
    }

    /// Gives all models away; a part of them would be a list that is not complete.
    fn give_models(
        &self,
        table: &Table,
        beginning: &JavaBeginning,
        budget: &Budget,
        each: &mut dyn FnMut(JavaModel),
    ) -> Result<Understood, StopReason> {
        let mut taken = |model: JavaModel, _: ModelAgain<'_, '_>| {
            each(model);
            budget.check()
        };
        let (world, options) = (&self.world, &self.options);
        let heard = &mut |_, _, _| {};
        let all = questions(world, table, beginning, options, budget, heard, &mut taken)?;
        complete(all, budget)
    }
}

/// What was understood, if nothing is left out of it.
fn complete(all: Understood, budget: &Budget) -> Result<Understood, StopReason> {
    let left = (!all.left.is_empty()).then_some(StopReason::Timeout);
    budget.stopped().or(left).map_or(Ok(all), Err)
}

fn lines(what: JavaList, world: &World, understood: &Understood, seen: &Seen) -> Vec<String> {
    match what {
        JavaList::Kinds => {
            let line = |(name, single): &(String, bool)| {
                format!("{name}  {}", if *single { "one thread" } else { "any number of threads" })
            };
            understood.kinds.iter().map(line).collect()
        }
        JavaList::Objects => {
            let line = |name: &String| match seen.objects.get(name) {
                Some(models) => {
                    format!("{name}  {}: {}", count(models.len(), "model"), models.join("; "))
                }
                None => format!("{name}  nothing that could conflict"),
            };
            understood.shared.iter().map(line).collect()
        }
        JavaList::Locks => {
            let line = |(name, places): (&String, &BTreeSet<String>)| {
                let mut shown: Vec<&str> = places.iter().take(PLACES).map(String::as_str).collect();
                let more = format!("{} more", places.len().saturating_sub(PLACES));
                if places.len() > PLACES {
                    shown.push(&more);
                }
                format!("{name}  taken at {}", shown.join(", "))
            };
            seen.locks.iter().map(line).collect()
        }
        JavaList::Units => {
            let line = |(method, at, extent): &(String, String, UnitExtent)| {
                let what = match extent {
                    UnitExtent::Method => "the method",
                    UnitExtent::Region => "a region under a lock",
                    UnitExtent::Pass => "a pass of a loop",
                };
                format!("{method}  {what}, {at}")
            };
            seen.units.iter().map(line).collect()
        }
        JavaList::Unknown => {
            let mut calls: Vec<(&String, &usize)> = understood.unknown.iter().collect();
            calls.sort_by_key(|(name, times)| (std::cmp::Reverse(**times), *name));
            calls
                .iter()
                .map(|(name, times)| format!("{name}  {}", count(**times, "call")))
                .collect()
        }
        JavaList::IgnoredLocks => understood.ignored.iter().cloned().collect(),
        JavaList::Unreached => {
            let names = understood.unreached.iter().map(|&one| short_method(world, one));
            names.collect::<BTreeSet<String>>().into_iter().collect()
        }
    }
}
