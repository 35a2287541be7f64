//! # Idea
//! Gives the tree its meaning in a program: names become threads, locations, variables and states,
//! and transitions respect the order of the states.
//!
//! # Source
//! Paper 000 Defn. 3: a transition stays or goes to the next state.
//!
//! # Invariants
//! 1. If a [`Property`] is returned, it has at least one phase, and every phase a transition.

use crate::ast::{Event, File, Item, Name, State, Variable, What};
use crate::token::quote;
use selvedge_base::{Diagnostic, Severity};
use selvedge_program::{LocationId, Program, ThreadId};
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::nearest::nearest;
use std::collections::{BTreeMap, BTreeSet};

/// A property of a program, with variables.
pub struct Property {
    pub name: String,
    /// How many variables stand for threads.
    pub thread_variables: usize,
    /// How many variables stand for locations.
    pub location_variables: usize,
    /// The threads that are named, which no variable stands for.
    pub threads_named: BTreeSet<ThreadId>,
    /// The locations that are named.
    pub locations_named: BTreeSet<LocationId>,
    /// The states but the last.
    pub phases: Vec<PhaseSets>,
}

/// A state with its loops and its transitions to the next one.
pub struct PhaseSets {
    pub name: Name,
    pub loops: Vec<EventSet>,
    pub advances: Vec<EventSet>,
}

/// Some events without some others.
pub struct EventSet {
    pub events: Vec<MeantEvent>,
    pub except: Vec<MeantEvent>,
}

/// An event, with variables.
pub struct MeantEvent {
    pub who: Meant<ThreadId>,
    pub what: MeantWhat,
}

/// What a name means.
#[derive(Clone, Copy)]
pub enum Meant<I> {
    Any,
    Variable(usize),
    Fixed(I),
}

/// What happens, with variables.
pub enum MeantWhat {
    Any,
    Begin,
    End,
    Read(Meant<LocationId>),
    Write(Meant<LocationId>),
}

/// Checks a property; `None` if it has an error.
pub fn check(file: &File, program: &Program, complaints: &mut Complaints) -> Option<Property> {
    let threads = program.threads.iter_enumerated().map(|(id, one)| (one.name.as_str(), id));
    let locations = program.locations.iter_enumerated().map(|(id, one)| (one.name.as_str(), id));
    // A text that could not be read may lack what would be missed here.
    let complete = !complaints.has_errors();
    let mut checker = Checker {
        threads: Names::new("thread", "unknown-thread", complete, threads),
        locations: Names::new("location", "unknown-location", complete, locations),
        states: BTreeMap::new(),
        states_complete: complete,
        complaints,
    };
    checker.threads.declare(&file.threads, checker.complaints);
    checker.locations.declare(&file.locations, checker.complaints);
    checker.declare_states(&file.states);
    let mut phases: Vec<PhaseSets> = Vec::new();
    for (at, state) in file.states.iter().enumerate() {
        phases.push(checker.phase(at, state, file));
    }
    let last = phases.pop();
    if !checker.complaints.has_errors() {
        checker.missing_phases(&phases, last.is_some(), file);
    }
    if !checker.complaints.has_errors() {
        checker.threads.unused(&file.threads, checker.complaints);
        checker.locations.unused(&file.locations, checker.complaints);
    }
    if checker.complaints.has_errors() {
        return None;
    }
    Some(Property {
        name: file.name.as_ref().map_or_else(String::new, |name| name.text.clone()),
        thread_variables: checker.threads.free,
        location_variables: checker.locations.free,
        threads_named: checker.threads.named,
        locations_named: checker.locations.named,
        phases,
    })
}

/// The names of threads, or of locations.
struct Names<'p, I> {
    what: &'static str,
    code: &'static str,
    /// Whether all declarations could be read.
    complete: bool,
    of_program: Vec<(&'p str, I)>,
    ids: BTreeMap<&'p str, I>,
    /// What the variables stand for, and where in the declarations they are.
    variables: BTreeMap<String, (Meant<I>, usize)>,
    /// The variables that are used.
    used: BTreeSet<String>,
    /// How many variables are not bound.
    free: usize,
    named: BTreeSet<I>,
}

impl<'p, I: Copy + Ord> Names<'p, I> {
    fn new(
        what: &'static str,
        code: &'static str,
        complete: bool,
        of_program: impl Iterator<Item = (&'p str, I)>,
    ) -> Self {
        let of_program: Vec<(&str, I)> = of_program.collect();
        Self {
            what,
            code,
            complete,
            ids: of_program.iter().copied().collect(),
            of_program,
            variables: BTreeMap::new(),
            used: BTreeSet::new(),
            free: 0,
            named: BTreeSet::new(),
        }
    }

    fn declare(&mut self, variables: &[Variable], complaints: &mut Complaints) {
        let mut bound: BTreeMap<I, usize> = BTreeMap::new();
        for (at, variable) in variables.iter().enumerate() {
            let name = &variable.name;
            let what = self.what;
            if let Some(&(_, first)) = self.variables.get(&name.text) {
                let message = format!("the {what} {} is declared twice", quote(&name.text));
                complaints.push(
                    Diagnostic::error("duplicate-name", message, name.span, "declared again here")
                        .with_label(variables[first].name.span, "first declared here"),
                );
                continue;
            }
            if self.ids.contains_key(name.text.as_str()) {
                let message = format!("the program has a {what} {} already", quote(&name.text));
                complaints.push(
                    Diagnostic::error("name-clash", message, name.span, "a variable of that name")
                        .with_help("use the name without declaring it, or choose another one"),
                );
                continue;
            }
            let meaning = match &variable.bound {
                None => {
                    self.free += 1;
                    Meant::Variable(self.free - 1)
                }
                Some(value) => {
                    let Some(id) = self.of_program(value, complaints) else {
                        // The variable is known, though not what it stands for.
                        self.variables.insert(name.text.clone(), (Meant::Any, at));
                        continue;
                    };
                    if let Some(&first) = bound.get(&id) {
                        let message = format!("two names for the {what} {}", quote(&value.text));
                        complaints.push(
                            Diagnostic::error("duplicate-name", message, name.span, "second name")
                                .with_label(variables[first].name.span, "first name")
                                .with_help("different variables stand for different ones"),
                        );
                    }
                    bound.insert(id, at);
                    self.named.insert(id);
                    Meant::Fixed(id)
                }
            };
            self.variables.insert(name.text.clone(), (meaning, at));
        }
    }

    fn of_program(&self, name: &Name, complaints: &mut Complaints) -> Option<I> {
        let found = self.ids.get(name.text.as_str()).copied();
        if found.is_none() && self.complete {
            let what = self.what;
            let message = format!("the program has no {what} {}", quote(&name.text));
            let mut diagnostic = Diagnostic::error(self.code, message, name.span, "unknown");
            let names = self.of_program.iter().map(|(name, _)| *name);
            let variables = self.variables.keys().map(String::as_str);
            diagnostic.help = match nearest(&name.text, names.chain(variables)) {
                Some(meant) => Some(format!("did you mean {}?", quote(meant))),
                None => Some(format!(
                    "declare a variable with `{what} ..;`, or name one of the program"
                )),
            };
            complaints.push(diagnostic);
        }
        found
    }

    fn resolve(&mut self, name: Option<&Name>, complaints: &mut Complaints) -> Meant<I> {
        let Some(name) = name else { return Meant::Any };
        if let Some(&(meaning, _)) = self.variables.get(&name.text) {
            self.used.insert(name.text.clone());
            return meaning;
        }
        match self.of_program(name, complaints) {
            Some(id) => {
                self.named.insert(id);
                Meant::Fixed(id)
            }
            None => Meant::Any,
        }
    }

    fn unused(&self, variables: &[Variable], complaints: &mut Complaints) {
        for Variable { name, .. } in variables {
            if !self.used.contains(&name.text) {
                let message = format!("the {} {} is never used", self.what, quote(&name.text));
                complaints.push(
                    Diagnostic::error("unused-variable", message, name.span, "declared here")
                        .with_help("remove it, or use it in a transition"),
                );
            }
        }
    }
}

struct Checker<'p, 'f, 'c> {
    threads: Names<'p, ThreadId>,
    locations: Names<'p, LocationId>,
    states: BTreeMap<&'f str, usize>,
    /// Whether all states could be read and have different names.
    states_complete: bool,
    complaints: &'c mut Complaints,
}

impl<'f> Checker<'_, 'f, '_> {
    fn declare_states(&mut self, states: &'f [State]) {
        for (at, State { name, .. }) in states.iter().enumerate() {
            if let Some(&first) = self.states.get(name.text.as_str()) {
                self.states_complete = false;
                let message = format!("the state {} is declared twice", quote(&name.text));
                self.complaints.push(
                    Diagnostic::error("duplicate-name", message, name.span, "declared again here")
                        .with_label(states[first].name.span, "first declared here"),
                );
            } else {
                self.states.insert(&name.text, at);
            }
        }
    }

    fn phase(&mut self, at: usize, state: &State, file: &File) -> PhaseSets {
        let mut phase =
            PhaseSets { name: state.name.clone(), loops: Vec::new(), advances: Vec::new() };
        for item in &state.items {
            let set =
                EventSet { events: self.events(&item.events), except: self.events(&item.except) };
            match &item.target {
                None => phase.loops.push(set),
                Some(target) => match self.target(at, item, target, file) {
                    Some(next) if next == at => phase.loops.push(set),
                    Some(_) => phase.advances.push(set),
                    None => {}
                },
            }
        }
        phase
    }

    /// The state that a transition goes to, if it may.
    fn target(&mut self, at: usize, item: &Item, target: &Name, file: &File) -> Option<usize> {
        let name = |at: usize| quote(&file.states[at].name.text);
        if !self.states_complete {
            return None;
        }
        let Some(&next) = self.states.get(target.text.as_str()) else {
            let message = format!("there is no state {}", quote(&target.text));
            let mut diagnostic =
                Diagnostic::error("unknown-state", message, target.span, "unknown");
            let names = file.states.iter().map(|state| state.name.text.as_str());
            if let Some(meant) = nearest(&target.text, names) {
                diagnostic = diagnostic.with_help(format!("did you mean {}?", quote(meant)));
            }
            self.complaints.push(diagnostic);
            return None;
        };
        if next == at || next == at + 1 {
            return Some(next);
        }
        let help = match file.states.get(at + 1) {
            Some(_) => format!("the next state is {}", name(at + 1)),
            None => format!("{} is the last state: a run that reaches it is accepted", name(at)),
        };
        let (code, message) = if next < at {
            (
                "transition-goes-back",
                format!("this transition goes back from {} to {}", name(at), name(next)),
            )
        } else {
            (
                "transition-skips",
                format!("this transition skips states from {} to {}", name(at), name(next)),
            )
        };
        self.complaints.push(
            Diagnostic::error(code, message, item.span, "stays or goes to the next state only")
                .with_label(file.states[next].name.span, "the target")
                .with_help(help),
        );
        None
    }

    fn events(&mut self, events: &[Event]) -> Vec<MeantEvent> {
        events.iter().map(|event| self.event(event)).collect()
    }

    fn event(&mut self, event: &Event) -> MeantEvent {
        let who = self.threads.resolve(event.who.as_ref(), self.complaints);
        let what = match &event.what {
            What::Any => MeantWhat::Any,
            What::Begin => MeantWhat::Begin,
            What::End => MeantWhat::End,
            What::Read(x) => MeantWhat::Read(self.locations.resolve(x.as_ref(), self.complaints)),
            What::Write(x) => MeantWhat::Write(self.locations.resolve(x.as_ref(), self.complaints)),
        };
        MeantEvent { who, what }
    }

    fn missing_phases(&mut self, phases: &[PhaseSets], has_states: bool, file: &File) {
        if phases.is_empty() {
            let message = if has_states {
                "the property has only one state, which every run reaches"
            } else {
                "the property has no states"
            };
            self.complaints.push(
                Diagnostic::global("no-phase-transition", Severity::Error, message).with_help(
                    "an automaton has at least two states and a transition between them",
                ),
            );
        }
        for (at, phase) in phases.iter().enumerate() {
            if phase.advances.is_empty() {
                let next = &file.states[at + 1].name;
                let message = format!(
                    "no transition leads from {} to the next state",
                    quote(&phase.name.text)
                );
                self.complaints.push(
                    Diagnostic::error(
                        "no-phase-transition",
                        message,
                        phase.name.span,
                        "a run ends here",
                    )
                    .with_label(next.span, "this state cannot be reached")
                    .with_help(format!(
                        "add a transition `.. -> {};`",
                        quote(&next.text).trim_matches('`')
                    )),
                );
            }
        }
    }
}
