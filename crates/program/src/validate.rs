//! # Idea
//! Checks the invariants of [`crate::model`] and names the place of every breach, so that engines
//! can rely on them without checking again.

mod data;
mod types;

use crate::files::mistake_in_file_name;
use crate::model::{Action, ChannelId, Copies, LockId, Program, ThreadId};
use crate::restriction::{RestrictionState, StepSymbol};
use crate::trace::StepKind;
use selvedge_base::{FileId, Id, Place};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A breach of an invariant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Breach {
    /// Where, as far as the model knows.
    pub place: Place,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// All breaches of the model's invariants; empty for a valid program.
pub fn validate(program: &Program) -> Vec<Breach> {
    let mut validator = Validator { program, breaches: Vec::new() };
    validator.files();
    validator.declarations();
    validator.procedures();
    validator.edges();
    validator.data();
    validator.types();
    validator.restrictions();
    validator.breaches
}

/// A name, or a name within a thread.
trait Name: Copy + Ord {
    fn text(&self) -> &str;
}

impl Name for &str {
    fn text(&self) -> &str {
        self
    }
}

impl Name for (Option<ThreadId>, &str) {
    fn text(&self) -> &str {
        self.1
    }
}

struct Validator<'a> {
    program: &'a Program,
    breaches: Vec<Breach>,
}

impl Validator<'_> {
    fn breach(&mut self, place: Place, message: String) {
        self.breaches.push(Breach { place, message });
    }

    fn files(&mut self) {
        let program = self.program;
        let nowhere = Place::NONE;
        self.unique("file", program.files.iter().map(|file| (file.name.as_str(), nowhere)));
        for mistake in program.files.iter().filter_map(|file| mistake_in_file_name(&file.name)) {
            self.breach(nowhere, mistake);
        }
        let frames = program.procedures.iter().flat_map(|one| &one.frame.locals);
        let places = program.locks.iter().map(|one| one.place);
        let places = places.chain(program.wait_sets.iter().map(|one| one.place));
        let places = places.chain(program.channels.iter().map(|one| one.place));
        let places = places.chain(program.locations.iter().map(|one| one.place));
        let places = places.chain(program.globals.iter().map(|one| one.place));
        let places = places.chain(program.threads.iter().map(|one| one.place));
        let places = places.chain(program.procedures.iter().flat_map(|one| [one.place, one.end]));
        let places = places.chain(frames.map(|one| one.place));
        let places = places.chain(program.edges.iter().map(|one| one.place));
        for place in places {
            if place.file != FileId::READ && program.file(place.file).is_none() {
                self.breach(place, "a place lies in a file that does not exist".to_owned());
            }
            if place.line() == Some(0) || place.column() == Some(0) {
                self.breach(place, "lines and columns count from 1".to_owned());
            }
        }
    }

    fn declarations(&mut self) {
        let program = self.program;
        self.unique("lock", program.locks.iter().map(|lock| (lock.name.as_str(), lock.place)));
        self.wait_sets();
        let channels = program.channels.iter();
        self.unique("channel", channels.map(|one| (one.name.as_str(), one.place)));
        self.unique(
            "atomic set",
            program.atomic_sets.iter().map(|set| (set.name.as_str(), Place::NONE)),
        );
        self.unique(
            "location",
            program.locations.iter().map(|location| (location.name.as_str(), location.place)),
        );
        self.unique(
            "thread",
            program.threads.iter().map(|thread| (thread.name.as_str(), thread.place)),
        );
        for location in &program.locations {
            if program.atomic_sets.get(location.atomic_set).is_none() {
                self.breach(
                    location.place,
                    format!("location {} is in no atomic set", location.name),
                );
            }
        }
        for (id, thread) in program.threads.iter_enumerated() {
            match program.procedures.get(thread.main) {
                Some(main) if main.owner.is_none_or(|owner| owner == id) => {}
                _ => self.breach(
                    thread.place,
                    format!("main of {} is not a procedure of it", thread.name),
                ),
            }
        }
        for many in program.threads.iter().filter(|thread| thread.copies == Copies::Any) {
            let prefix = format!("{}[", many.name);
            for other in program.threads.iter().filter(|one| one.name.starts_with(&prefix)) {
                let message = format!("{} is the name of a copy of {}", other.name, many.name);
                self.breach(other.place, message);
            }
        }
        let own = program.procedures.iter();
        self.unique("procedure", own.map(|own| ((own.owner, own.name.as_str()), own.place)));
    }

    fn wait_sets(&mut self) {
        let program = self.program;
        let sets = program.wait_sets.iter();
        self.unique("condition", sets.map(|set| (set.name.as_str(), set.place)));
        let locks = program.locks.iter_enumerated().map(|(id, lock)| (lock.name.as_str(), id));
        let locks: BTreeMap<&str, LockId> = locks.collect();
        for set in &program.wait_sets {
            if program.locks.get(set.lock).is_none() {
                self.breach(set.place, format!("condition {} has no lock", set.name));
            }
            if locks.get(set.name.as_str()).is_some_and(|&lock| lock != set.lock) {
                let message = format!("condition {} has the name of another lock", set.name);
                self.breach(set.place, message);
            }
        }
    }

    fn restrictions(&mut self) {
        let program = self.program;
        let mut seen = BTreeSet::new();
        for restriction in &program.restrictions {
            let Some(thread) = program.threads.get(restriction.thread) else {
                self.breach(Place::NONE, "a thread that does not exist is restricted".to_owned());
                continue;
            };
            if !seen.insert(restriction.thread) {
                self.breach(thread.place, format!("{} is restricted twice", thread.name));
            }
            let known = |state: &RestrictionState| state.index() < restriction.states;
            let states = restriction.initial.iter().chain(restriction.internals.values().flatten());
            let states = states.chain(restriction.calls.values().flatten());
            let pairs = restriction.returns.values().flatten().flat_map(|(one, two)| [one, two]);
            let steps = restriction.internals.keys().chain(restriction.calls.keys());
            let from = steps.chain(restriction.returns.keys()).map(|(state, _)| state);
            if restriction.initial.is_empty() || !states.chain(pairs).chain(from).all(known) {
                let message = format!("the restriction of {} lacks a state", thread.name);
                self.breach(thread.place, message);
            }
            let channel = |id: ChannelId| program.channels.get(id).is_some();
            let did = |step: StepKind| match step {
                StepKind::Call(id) | StepKind::Return(id) => program.procedures.get(id).is_some(),
                StepKind::Read(id) | StepKind::Write(id) => program.locations.get(id).is_some(),
                StepKind::Acquire(id) | StepKind::Release(id) => program.locks.get(id).is_some(),
                StepKind::Start(id) | StepKind::Join(id) => program.threads.get(id).is_some(),
                StepKind::Send(id) | StepKind::Post(id) | StepKind::Broadcast(id) => channel(id),
                other => StepSymbol::from(other) == StepSymbol::Did(other),
            };
            let named = |&symbol: &StepSymbol| match symbol {
                StepSymbol::Did(step) => did(step),
                StepSymbol::Received(id) => channel(id),
            };
            if !restriction.letters.keys().all(named) {
                let message = format!("the restriction of {} names nothing here", thread.name);
                self.breach(thread.place, message);
            }
        }
    }

    fn unique<N: Name>(&mut self, what: &str, names: impl Iterator<Item = (N, Place)>) {
        let mut seen = BTreeSet::new();
        for (name, place) in names {
            if !seen.insert(name) {
                self.breach(place, format!("{what} {} is declared twice", name.text()));
            }
        }
    }

    fn procedures(&mut self) {
        let program = self.program;
        let mut last_thread = 0;
        let mut last_owner = None;
        let mut closed = BTreeSet::new();
        for (id, procedure) in program.procedures.iter_enumerated() {
            if let Some(owner) = procedure.owner {
                if program.threads.get(owner).is_none() {
                    let message = format!("{} belongs to no thread", procedure.name);
                    self.breach(procedure.place, message);
                } else if owner.index() < last_thread || closed.contains(&owner) {
                    let message = format!("{} is not grouped with its thread", procedure.name);
                    self.breach(procedure.place, message);
                }
                last_thread = last_thread.max(owner.index());
            }
            // A shared procedure ends the group of the thread before it.
            if last_owner.is_some() && last_owner != procedure.owner {
                closed.extend(last_owner);
            }
            last_owner = procedure.owner;
            for (node, what) in [(procedure.entry, "entry"), (procedure.exit, "exit")] {
                if program.nodes.get(node) != Some(&id) {
                    self.breach(
                        procedure.place,
                        format!("the {what} of {} is not a node of it", procedure.name),
                    );
                }
            }
        }
        let mut last_owner = 0;
        for &owner in &program.nodes {
            if program.procedures.get(owner).is_none() || owner.index() < last_owner {
                self.breach(
                    Place::NONE,
                    "nodes are not grouped by procedure, or belong to none".to_owned(),
                );
                break;
            }
            last_owner = owner.index();
        }
    }

    fn edges(&mut self) {
        let program = self.program;
        let mut last_owner = 0;
        for edge in &program.edges {
            let (Some(&owner), Some(&target)) =
                (program.nodes.get(edge.source), program.nodes.get(edge.target))
            else {
                self.breach(edge.place, "an edge has no source or no target".to_owned());
                continue;
            };
            let Some(procedure) = program.procedures.get(owner) else {
                continue; // Reported with the nodes.
            };
            if owner != target {
                self.breach(edge.place, format!("an edge leaves {}", procedure.name));
            }
            if procedure.exit == edge.source {
                self.breach(edge.place, format!("an edge leaves the exit of {}", procedure.name));
            }
            if owner.index() < last_owner {
                let message = format!("an edge of {} is not grouped with it", procedure.name);
                self.breach(edge.place, message);
            }
            last_owner = last_owner.max(owner.index());
            let in_range = match edge.action {
                Action::Read(location) | Action::Write(location) => {
                    program.locations.get(location).is_some()
                }
                Action::Acquire(lock) | Action::Release(lock) => program.locks.get(lock).is_some(),
                Action::Wait(set)
                | Action::Resume(set)
                | Action::Notify(set)
                | Action::NotifyAll(set) => program.wait_sets.get(set).is_some(),
                Action::Call(callee) => match program.procedures.get(callee) {
                    Some(callee) if callee.owner.is_none() || callee.owner == procedure.owner => {
                        true
                    }
                    Some(callee) => {
                        let message =
                            format!("call of {}, a procedure of another thread", callee.name);
                        self.breach(edge.place, message);
                        true
                    }
                    None => false,
                },
                Action::Assert(condition) => program.conditions.get(condition).is_some(),
                Action::Return(values) => program.returns.get(values).is_some(),
                Action::Start(thread) | Action::Join(thread) => {
                    program.threads.get(thread).is_some()
                }
                Action::Send(channel)
                | Action::Post(channel)
                | Action::Broadcast(channel)
                | Action::Recv(channel) => program.channels.get(channel).is_some(),
                Action::Skip
                | Action::BeginUnit
                | Action::EndUnit
                | Action::BeginAtomic
                | Action::EndAtomic => true,
            };
            self.edge_data(procedure, edge);
            if edge.volatile && !matches!(edge.action, Action::Read(_) | Action::Write(_)) {
                self.breach(edge.place, "a step that is no access is volatile".to_owned());
            }
            let computes = edge.update.is_some() || edge.passing.is_some();
            if edge.action.channel().is_some() && (computes || procedure.frame.enforced.is_some()) {
                let message = "a step that sends or receives computes and enforces nothing";
                self.breach(edge.place, message.to_owned());
            }
            if let Action::Join(thread) = edge.action
                && let Some(joined) = program.threads.get(thread)
                && joined.copies == Copies::Any
            {
                let message = format!("join of {}, of which there are many", joined.name);
                self.breach(edge.place, message);
            }
            if !in_range {
                let message = format!("{:?} names something that does not exist", edge.action);
                self.breach(edge.place, message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Expr, Update};
    use crate::model::{AtomicSetId, Channel, EdgeId, LocationId, NodeId, ProcedureId};
    use crate::model::{WaitSet, WaitSetId};
    use crate::text::parse;

    /// Two threads; the first has two procedures.
    fn sample() -> Program {
        let text = "program lock l @1:1 lock m @1:2 set s { x @2:1, y @2:2 } set t { z @2:3 }
            thread A @3:1 main main {
                procedure main @3:2 nodes 3 entry 0 exit 2 {
                    0 -> 1 call f @4:1
                    1 -> 2 read x @4:2
                }
                procedure f @3:3 nodes 2 entry 0 exit 1 { 0 -> 1 acquire l @4:3 }
            }
            thread B @3:4 main main {
                procedure main @3:5 nodes 2 entry 0 exit 1 { 0 -> 1 skip @4:4 }
            }";
        parse(text).0.expect("a valid program")
    }

    /// Spoils the sample and returns the breaches.
    fn spoilt(spoil: impl FnOnce(&mut Program)) -> Vec<String> {
        let mut program = sample();
        spoil(&mut program);
        validate(&program).iter().map(ToString::to_string).collect()
    }

    fn id<I: Id>(index: usize) -> I {
        I::from_index(index)
    }

    #[test]
    fn a_valid_program_has_no_breach() {
        assert_eq!(spoilt(|_| {}), [""; 0]);
    }

    #[test]
    fn names_are_unique_among_their_kind() {
        assert_eq!(
            spoilt(|program| program.locks[id::<LockId>(1)].name = "l".to_owned()),
            ["1:2: lock l is declared twice"]
        );
        assert_eq!(
            spoilt(|program| program.atomic_sets[id::<AtomicSetId>(1)].name = "s".to_owned()),
            ["0:0: atomic set s is declared twice"]
        );
        assert_eq!(
            spoilt(|program| program.locations[id::<LocationId>(2)].name = "x".to_owned()),
            ["2:3: location x is declared twice"]
        );
        assert_eq!(
            spoilt(|program| program.threads[id::<ThreadId>(1)].name = "A".to_owned()),
            ["3:4: thread A is declared twice"]
        );
        assert_eq!(
            spoilt(|program| program.procedures[id::<ProcedureId>(1)].name = "main".to_owned()),
            ["3:3: procedure main is declared twice"]
        );
    }

    #[test]
    fn declarations_refer_to_what_exists() {
        assert_eq!(
            spoilt(|program| program.locks[id::<LockId>(0)].place = Place::new(7, 7).in_file(id(1))),
            ["1:7:7: a place lies in a file that does not exist"]
        );
        assert_eq!(
            spoilt(|program| program.threads[id::<ThreadId>(0)].place = Place::new(7, 0)),
            ["7:0: lines and columns count from 1"]
        );
        let file = |name: &str| crate::files::SourceFile { name: name.to_owned() };
        assert_eq!(spoilt(|program| program.files = vec![file("A"), file("B")]), [""; 0]);
        assert_eq!(
            spoilt(|program| program.files = vec![file("A"), file("A"), file("")]),
            ["0:0: file A is declared twice", "0:0: the name of a file is empty"]
        );
        assert_eq!(
            spoilt(|program| program.locations[id::<LocationId>(0)].atomic_set = id(9)),
            ["2:1: location x is in no atomic set"]
        );
        assert_eq!(
            spoilt(|program| program.threads[id::<ThreadId>(0)].main = id(9)),
            ["3:1: main of A is not a procedure of it"]
        );
        assert_eq!(
            spoilt(|program| program.threads[id::<ThreadId>(0)].main = id(2)),
            ["3:1: main of A is not a procedure of it"]
        );
    }

    #[test]
    fn wait_sets_have_a_lock_and_a_name_of_their_own() {
        let sets = |sets: &[(&str, usize)], set: usize| {
            spoilt(|program| {
                program.wait_sets = sets
                    .iter()
                    .map(|&(name, lock)| WaitSet {
                        name: name.to_owned(),
                        lock: id(lock),
                        place: Place::new(1, 9),
                    })
                    .collect();
                program.edges[id::<EdgeId>(1)].action = Action::Wait(WaitSetId::from_index(set));
            })
        };
        assert_eq!(sets(&[("c", 0), ("d", 0), ("l", 0)], 1), [""; 0]);
        assert_eq!(sets(&[("c", 0), ("c", 1)], 1), ["1:9: condition c is declared twice"]);
        assert_eq!(sets(&[("c", 2)], 0), ["1:9: condition c has no lock"]);
        assert_eq!(sets(&[("m", 0)], 0), ["1:9: condition m has the name of another lock"]);
        assert_eq!(
            sets(&[("c", 0)], 1),
            ["4:2: Wait(WaitSetId(1)) names something that does not exist"]
        );
    }

    #[test]
    fn channels_exist_and_their_steps_compute_nothing() {
        let channel = |name: &str| Channel { name: name.to_owned(), place: Place::new(5, 1) };
        let sends = |channels: &[&str], more: fn(&mut Program)| {
            spoilt(|program| {
                program.channels = channels.iter().map(|name| channel(name)).collect();
                program.edges[id::<EdgeId>(1)].action = Action::Send(id(0));
                more(program);
            })
        };
        assert_eq!(sends(&["a", "b"], |_| {}), [""; 0]);
        assert_eq!(sends(&["a", "a"], |_| {}), ["5:1: channel a is declared twice"]);
        let missing = "4:2: Send(ChannelId(0)) names something that does not exist";
        assert_eq!(sends(&[], |_| {}), [missing]);
        let computes = "4:2: a step that sends or receives computes and enforces nothing";
        let update = |program: &mut Program| {
            let update =
                program.updates.push(Update { guard: Some(Expr::TRUE), ..Update::default() });
            program.edges[id::<EdgeId>(1)].update = Some(update);
        };
        assert_eq!(sends(&["a"], update), [computes]);
        let enforce = |program: &mut Program| {
            let condition = program.conditions.push(Expr::TRUE);
            program.procedures[id::<ProcedureId>(0)].frame.enforced = Some(condition);
        };
        assert_eq!(sends(&["a"], enforce), [computes]);
    }

    #[test]
    fn procedures_and_nodes_are_grouped() {
        let ungrouped = spoilt(|program| {
            program.procedures[id::<ProcedureId>(0)].owner = Some(id(1));
            program.procedures[id::<ProcedureId>(2)].owner = Some(id(0));
        });
        assert!(ungrouped.contains(&"3:3: f is not grouped with its thread".to_owned()));
        let homeless =
            spoilt(|program| program.procedures[id::<ProcedureId>(1)].owner = Some(id(7)));
        assert!(homeless.contains(&"3:3: f belongs to no thread".to_owned()), "{homeless:?}");
        let message = "0:0: nodes are not grouped by procedure, or belong to none".to_owned();
        for owner in [0, 9] {
            let breaches = spoilt(|program| program.nodes[id::<NodeId>(4)] = id(owner));
            assert!(breaches.contains(&message), "{breaches:?}");
        }
    }

    #[test]
    fn shared_procedures_stand_anywhere_but_inside_a_group() {
        let share = |at: usize| spoilt(move |program| program.procedures[id(at)].owner = None);
        assert_eq!(share(2), [""; 0]);
        assert_eq!(share(1), [""; 0]);
        // A shared procedure does not call one of a thread.
        assert_eq!(share(0), ["4:1: call of f, a procedure of another thread"]);
        let split = spoilt(|program| {
            let own = program.procedures[id::<ProcedureId>(0)].clone();
            program.procedures.push(renamed(own));
        });
        assert!(split.contains(&"3:2: late is not grouped with its thread".to_owned()));
    }

    /// A procedure with another name.
    fn renamed(mut procedure: crate::model::Procedure) -> crate::model::Procedure {
        procedure.name = "late".to_owned();
        procedure
    }

    #[test]
    fn entry_and_exit_are_nodes_of_their_procedure() {
        assert_eq!(
            spoilt(|program| program.procedures[id::<ProcedureId>(1)].entry = id(0)),
            ["3:3: the entry of f is not a node of it"]
        );
        assert_eq!(
            spoilt(|program| program.procedures[id::<ProcedureId>(1)].exit = id(99)),
            ["3:3: the exit of f is not a node of it"]
        );
    }

    #[test]
    fn edges_stay_in_their_procedure_and_do_not_leave_its_exit() {
        let edge = |program: &mut Program, at: usize, source: usize, target: usize| {
            program.edges[id(at)].source = id(source);
            program.edges[id(at)].target = id(target);
        };
        assert_eq!(
            spoilt(|program| edge(program, 1, 1, 99)),
            ["4:2: an edge has no source or no target"]
        );
        assert_eq!(spoilt(|program| edge(program, 1, 1, 3)), ["4:2: an edge leaves main"]);
        assert_eq!(
            spoilt(|program| edge(program, 1, 2, 1)),
            ["4:2: an edge leaves the exit of main"]
        );
        assert_eq!(
            spoilt(|program| edge(program, 3, 0, 1)),
            ["4:4: an edge of main is not grouped with it"]
        );
    }

    #[test]
    fn actions_name_what_exists() {
        let act = |at: usize, action: Action| {
            spoilt(move |program| program.edges[id(at)].action = action)
        };
        for action in [
            Action::Read(id(3)),
            Action::Write(id(3)),
            Action::Acquire(id(2)),
            Action::Release(id(2)),
            Action::Call(id(3)),
        ] {
            assert_eq!(
                act(1, action),
                [format!("4:2: {action:?} names something that does not exist")]
            );
        }
        assert_eq!(
            act(1, Action::Call(id(2))),
            ["4:2: call of main, a procedure of another thread"]
        );
        assert_eq!(act(1, Action::EndUnit), [""; 0]);
        assert_eq!(act(1, Action::Join(id(1))), [""; 0]);
        assert_eq!(
            act(1, Action::Join(id(2))),
            ["4:2: Join(ThreadId(2)) names something that does not exist"]
        );
        let volatile = spoilt(|program| program.edges[id::<EdgeId>(0)].volatile = true);
        assert_eq!(volatile, ["4:1: a step that is no access is volatile"]);
        let many = spoilt(|program| {
            program.threads[id::<ThreadId>(1)].copies = Copies::Any;
            program.edges[id::<EdgeId>(1)].action = Action::Join(id(1));
        });
        assert_eq!(many, ["4:2: join of B, of which there are many"]);
    }
}
