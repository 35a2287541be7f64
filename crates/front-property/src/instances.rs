//! # Idea
//! A property with variables stands for many automata: one for each way to choose different threads
//! and locations for the variables, and within each, one for each way to choose one transition per
//! state (paper 000 §3.2).
//!
//! # Invariants
//! 1. The automata come in the order of the choices: the first variable changes slowest.
//! 2. There are at most [`INSTANCE_LIMIT`] of them with [`SYMBOL_LIMIT`] loop symbols in all.

use crate::check::{EventSet, Meant, MeantEvent, MeantWhat, Property};
use crate::token::quote;
use selvedge_base::{Diagnostic, Severity};
use selvedge_program::ipa::{ChoicePhase, factor};
use selvedge_program::{IndexedSymbol, Ipa, LocationId, Observable, Program, ThreadId};
use selvedge_syntax::complaints::Complaints;
use std::collections::BTreeSet;

/// The most automata that one property may stand for.
pub const INSTANCE_LIMIT: usize = 10_000;

/// The most loop symbols that they may have together.
pub const SYMBOL_LIMIT: usize = 1 << 23;

/// The automata of a property; `None` if there are too many or a state cannot be reached.
pub fn instances(
    property: &Property,
    program: &Program,
    complaints: &mut Complaints,
) -> Option<Vec<Ipa>> {
    let threads: Vec<ThreadId> =
        program.threads.ids().filter(|id| !property.threads_named.contains(id)).collect();
    let locations: Vec<LocationId> =
        program.locations.ids().filter(|id| !property.locations_named.contains(id)).collect();
    for (what, there_are, needed) in [
        ("threads", threads.len(), property.thread_variables),
        ("locations", locations.len(), property.location_variables),
    ] {
        if there_are < needed {
            let message = format!(
                "there is nothing to check: {needed} different {what} are needed for the variables, \
                 and the program has {there_are} that are not named"
            );
            complaints.push(Diagnostic::global("no-instance", Severity::Warning, message));
            return Some(Vec::new());
        }
    }
    let choices = choices_of(threads.len(), property.thread_variables)
        .and_then(|count| {
            count.checked_mul(choices_of(locations.len(), property.location_variables)?)
        })
        .filter(|&count| count <= INSTANCE_LIMIT);
    if choices.is_none() {
        complaints.push(too_many());
        return None;
    }
    let mut automata: Vec<Ipa> = Vec::new();
    let mut symbols = 0usize;
    for threads in arrangements(&threads, property.thread_variables) {
        for locations in arrangements(&locations, property.location_variables) {
            let binding = Binding { program, threads: &threads, locations: &locations };
            let states = binding.states(property, &mut symbols);
            let Some(states) = states else {
                complaints.push(too_many());
                return None;
            };
            if let Some(at) = states.iter().position(|state| state.advances.is_empty()) {
                let name = &property.phases[at].name;
                let message = format!("the transitions of {} leave no event", quote(&name.text));
                complaints.push(
                    Diagnostic::error("unreachable-state", message, name.span, "a run ends here")
                        .with_help("the states behind it cannot be reached"),
                );
                return None;
            }
            let loops: usize = states.iter().map(|state| state.loops.len()).sum();
            let left = INSTANCE_LIMIT - automata.len();
            let Some(more) = factor(&property.name, &states, left) else {
                complaints.push(too_many());
                return None;
            };
            // The factors repeat the loops.
            symbols = symbols.saturating_add(loops.saturating_mul(more.len() - 1));
            if symbols > SYMBOL_LIMIT {
                complaints.push(too_many());
                return None;
            }
            automata.extend(more);
        }
    }
    Some(automata)
}

fn too_many() -> Diagnostic {
    let message = format!(
        "the property stands for more than {INSTANCE_LIMIT} automata, or for very large ones"
    );
    Diagnostic::global("too-many-instances", Severity::Error, message)
        .with_help("bind variables, as in `thread a = T1;`, or write fewer transitions per state")
}

/// How many ways there are to choose `count` different things of `from` in order.
fn choices_of(from: usize, count: usize) -> Option<usize> {
    (0..count).try_fold(1usize, |product, taken| product.checked_mul(from.checked_sub(taken)?))
}

/// All ways to choose `count` different things of `from` in order.
fn arrangements<I: Copy + Eq>(from: &[I], count: usize) -> Vec<Vec<I>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        all = all
            .iter()
            .flat_map(|chosen: &Vec<I>| {
                let rest = from.iter().filter(|one| !chosen.contains(one));
                rest.map(|&one| [chosen.as_slice(), &[one]].concat()).collect::<Vec<_>>()
            })
            .collect();
    }
    all
}

/// What the variables stand for.
struct Binding<'b> {
    program: &'b Program,
    threads: &'b [ThreadId],
    locations: &'b [LocationId],
}

impl Binding<'_> {
    /// The states with their symbols; `None` if there are too many. The symbols that are written,
    /// also repeatedly, are counted in `symbols`.
    fn states(&self, property: &Property, symbols: &mut usize) -> Option<Vec<ChoicePhase>> {
        let mut states = Vec::new();
        for phase in &property.phases {
            let mut state = ChoicePhase {
                name: phase.name.text.clone(),
                loops: BTreeSet::new(),
                advances: BTreeSet::new(),
            };
            for set in &phase.loops {
                state.loops.extend(self.set(set, symbols)?);
            }
            for set in &phase.advances {
                state.advances.extend(self.set(set, symbols)?);
            }
            states.push(state);
        }
        Some(states)
    }

    fn set(&self, set: &EventSet, symbols: &mut usize) -> Option<BTreeSet<IndexedSymbol>> {
        let mut all = BTreeSet::new();
        for event in &set.events {
            self.event(event, |symbol| {
                *symbols += 1;
                all.insert(symbol);
            });
            if *symbols > SYMBOL_LIMIT {
                return None;
            }
        }
        for event in &set.except {
            self.event(event, |symbol| {
                *symbols += 1;
                all.remove(&symbol);
            });
            if *symbols > SYMBOL_LIMIT {
                return None;
            }
        }
        Some(all)
    }

    fn event(&self, event: &MeantEvent, mut each: impl FnMut(IndexedSymbol)) {
        let threads: Vec<ThreadId> = match event.who {
            Meant::Any => self.program.threads.ids().collect(),
            Meant::Variable(at) => vec![self.threads[at]],
            Meant::Fixed(thread) => vec![thread],
        };
        let observables = self.observables(&event.what);
        for thread in threads {
            for &symbol in &observables {
                each(IndexedSymbol { thread, symbol });
            }
        }
    }

    fn observables(&self, what: &MeantWhat) -> Vec<Observable> {
        match what {
            MeantWhat::Any => {
                let mut all = self.accesses(Meant::Any, Observable::Read);
                all.extend(self.accesses(Meant::Any, Observable::Write));
                all.extend([Observable::BeginUnit, Observable::EndUnit]);
                all
            }
            MeantWhat::Begin => vec![Observable::BeginUnit],
            MeantWhat::End => vec![Observable::EndUnit],
            MeantWhat::Read(location) => self.accesses(*location, Observable::Read),
            MeantWhat::Write(location) => self.accesses(*location, Observable::Write),
        }
    }

    fn accesses(
        &self,
        location: Meant<LocationId>,
        access: fn(LocationId) -> Observable,
    ) -> Vec<Observable> {
        match location {
            Meant::Any => self.program.locations.ids().map(access).collect(),
            Meant::Variable(at) => vec![access(self.locations[at])],
            Meant::Fixed(location) => vec![access(location)],
        }
    }
}
