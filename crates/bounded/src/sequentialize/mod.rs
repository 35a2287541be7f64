//! # Idea
//! A concurrent program and a number of rounds become a sequential program. There are as many copies
//! of the shared variables as rounds; each thread runs on its own, one after the other, through all
//! rounds, over values of the later copies that were guessed before. In the end the guesses are
//! checked: the values with which a round ends are those with which the next one was guessed to
//! begin.
//!
//! # Source
//! Paper 001 §2.1 and Fig. 1 for the reduction, §2.3 for more than two threads, §3.2 for Boolean
//! programs, with the corrections of ERRATA (001). Deviations: a thread may leave before the last
//! round, which then does nothing in the rounds that follow; a statement is one guarded edge per
//! round instead of a chain of tests; threads may wait for their start and for the end of others, and
//! enter atomic sections.
//!
//! # Requires
//! A valid program. What is no truth value becomes bits first ([`selvedge_lower::bits`]), locks with it;
//! a program of truth values has no locks.
//!
//! # Invariants
//! 1. The result has one thread, no atomic sections and no starts, and its only assertion is the
//!    last step.
//! 2. Whenever control is at [`Sequential::done`], the values of [`Sequential::shared`] are a shared
//!    state that the concurrent program reaches within that many rounds. All such states occur but
//!    those of a target that is a set of states.

mod depth;
mod procedure;
mod steps;
mod variables;

use crate::expr::{all, beyond_truth_values, current};
use crate::monitor::joins_to_data;
use crate::unsupported::Unsupported;
use depth::{Depths, depths};
use procedure::{Entered, Translation};
use selvedge_base::{Budget, Id, IdVec, Place};
use selvedge_lower::{Names, Scopes, TargetParts, channels_to_data, to_bits};
use selvedge_program::{
    Action, Copies, Edge, Expr, Feature, Frame, Global, GlobalId, NodeId, Operator, Passing,
    PassingId, Position, Procedure, ProcedureId, Program, Start, StatePattern, Successors, Target,
    Thread, ThreadId, Unshared, Update, Variable, unshare,
};
use steps::{Steps, owner};
use variables::Variables;

/// Programs whose translation would have more edges and variables than this are refused.
const SIZE_LIMIT: usize = 20_000_000;

/// A sequential program that stands for a concurrent one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sequential {
    /// The program, with one thread.
    pub program: Program,
    /// What to ask of it: whether its assertion can fail.
    pub target: Target,
    /// The node behind the checker and the assertion.
    pub done: NodeId,
    /// The last copy of each global of the concurrent program, or of the bits of each.
    pub shared: Vec<GlobalId>,
}

/// The sequential program for failing assertions within a number of rounds.
///
/// # Errors
/// If the program uses locks, nests atomic sections without bound, or is too large.
pub fn sequentialize(program: &Program, rounds: u32) -> Result<Sequential, Unsupported> {
    sequentialize_towards(program, &Target::Assertion, rounds)
}

/// The sequential program for a target within a number of rounds: its assertion can fail iff the
/// target can be reached.
///
/// # Errors
/// As [`sequentialize`].
pub fn sequentialize_towards(
    program: &Program,
    target: &Target,
    rounds: u32,
) -> Result<Sequential, Unsupported> {
    let features = program.features();
    let without = if features.contains(Feature::Channels) {
        let without = channels_to_data(program);
        Some(without.map_err(|why| Unsupported::new(None, why.to_string()))?)
    } else {
        None
    };
    let (program, target) = match &without {
        Some(without) => (&without.program, &without.target(target)),
        None => (program, target),
    };
    let bits = if beyond_truth_values(features) {
        let bits = to_bits(program, &TargetParts::by(target), &Budget::new());
        Some(bits.map_err(|why| Unsupported::new(None, why.to_string()))?)
    } else {
        None
    };
    let (program, target) = match &bits {
        Some(bits) => (&bits.program, &bits.target(target)),
        None => (program, target),
    };
    let globals = program.globals.len();
    let ended = joins_to_data(program);
    let (program, target) = match &ended {
        Some((without, origin)) => (without, &origin.target(target)),
        None => (program, target),
    };
    // Each translated procedure knows its thread.
    let unshared = unshare(program);
    let (program, target) = (&*unshared.program, &target_of(&unshared, target));
    let successors = Successors::new(program);
    check(program, &successors, rounds)?;
    let depths = depths(program, &successors)?;
    let mut out = Program { files: program.files.clone(), ..Program::default() };
    let variables = Variables::declare(program, rounds, depths.counted, &mut out);
    let there = positions(program, target, &mut out);
    let steps = Steps::new(program, target);
    let mut names = Names::avoiding(std::iter::once("main"));
    let mains = started_mains(program);
    let mut driver = Driver { program, variables: &variables, there: &there, out: &mut out };
    let done = driver.build(target, &depths, &mains);
    let mut translation = Translation {
        source: program,
        variables: &variables,
        depths: &depths,
        steps: &steps,
        there: &there,
        assertions: *target == Target::Assertion,
        rounds,
        out: &mut out,
    };
    let wish = |id: ProcedureId| {
        let procedure = &program.procedures[id];
        let thread = &program.threads[owner(program, id)].name;
        if *thread == procedure.name {
            thread.clone()
        } else {
            format!("{thread}_{}", procedure.name)
        }
    };
    for id in program.procedures.ids() {
        // A main with a twin for the beginning of its thread is entered by calls only.
        let thread = owner(program, id);
        let starts = program.threads[thread].main == id;
        let twin = mains[thread].index() > program.procedures.len();
        let entered = if starts && !twin { Entered::AtStart } else { Entered::ByCall };
        translation.procedure(id, entered, names.fresh(&wish(id)));
    }
    for (id, thread) in program.threads.iter_enumerated() {
        if mains[id].index() > program.procedures.len() {
            let name = names.fresh(&format!("{}_begin", wish(thread.main)));
            translation.procedure(thread.main, Entered::AtStart, name);
        }
    }
    let last = rounds as usize - 1;
    let shared = variables.shared.iter().take(globals);
    let shared = shared.map(|copies| copies.rounds[last]).collect();
    Ok(Sequential { program: out, target: Target::Assertion, done, shared })
}

/// The same target of the program without shared procedures.
fn target_of(unshared: &Unshared<'_>, target: &Target) -> Target {
    match target {
        Target::Assertion => Target::Assertion,
        Target::Label(nodes) => Target::Label(unshared.nodes(nodes)),
        Target::State(pattern) => {
            let position = |position: &Position| match position {
                Position::At(nodes) => Position::At(unshared.nodes(nodes)),
                other => other.clone(),
            };
            let threads = pattern.threads.iter().map(position).collect();
            Target::State(StatePattern { threads, ..pattern.clone() })
        }
    }
}

fn check(program: &Program, successors: &Successors, rounds: u32) -> Result<(), Unsupported> {
    if rounds == 0 {
        return Err(Unsupported::new(None, "there has to be at least one round"));
    }
    let size = program.edges.len() + program.nodes.len() + 2 * program.globals.len();
    if size.saturating_mul(rounds as usize) > SIZE_LIMIT {
        let message = format!("the sequential program for {rounds} rounds would be too large");
        return Err(Unsupported::new(None, message));
    }
    let locks = |edge: &&Edge| matches!(edge.action, Action::Acquire(_) | Action::Release(_));
    if let Some(edge) = program.edges.iter().find(locks) {
        return Err(Unsupported::new(
            program.located(edge.place),
            "locks have to become data first",
        ));
    }
    // Units without nesting could block, which nothing here would notice.
    match Scopes::new(program, successors) {
        Ok(_) => Ok(()),
        Err(not_nested) => Err(Unsupported::new(not_nested.at, not_nested.message)),
    }
}

/// The flags that say that a thread stopped where the target wants it.
fn positions(
    program: &Program,
    target: &Target,
    out: &mut Program,
) -> IdVec<ThreadId, Option<GlobalId>> {
    let mut names = Names::avoiding(out.globals.iter().map(|global| global.name.as_str()));
    let locals = program.procedures.iter().flat_map(|procedure| &procedure.frame.locals);
    locals.for_each(|local| drop(names.fresh(&local.name)));
    let mut flag = |thread: &Thread| {
        let name = names.fresh(&format!("{}_there", thread.name));
        out.globals.push(Global::flag(name, Place::NONE, Some(false)))
    };
    let asks = |id: ThreadId| match target {
        Target::State(pattern) => !matches!(pattern.threads.get(id), None | Some(Position::Any)),
        _ => false,
    };
    let threads = program.threads.iter_enumerated();
    threads.map(|(id, thread)| asks(id).then(|| flag(thread))).collect()
}

/// The translated main of each thread. One that enforces a condition and is called as well has a
/// twin behind all other procedures, because the beginning of a thread is no step.
fn started_mains(program: &Program) -> IdVec<ThreadId, ProcedureId> {
    let mut next = program.procedures.len() + 1;
    let main = |thread: &Thread| {
        let called = program.edges.iter().any(|edge| edge.action == Action::Call(thread.main));
        if called && program.procedures[thread.main].frame.enforced.is_some() {
            next += 1;
            ProcedureId::from_index(next - 1)
        } else {
            ProcedureId::from_index(thread.main.index() + 1)
        }
    };
    program.threads.iter().map(main).collect()
}

/// Builds `main`: the threads in their order, then the checker.
struct Driver<'a> {
    program: &'a Program,
    variables: &'a Variables,
    there: &'a IdVec<ThreadId, Option<GlobalId>>,
    out: &'a mut Program,
}

impl Driver<'_> {
    fn build(
        &mut self,
        target: &Target,
        depths: &Depths,
        mains: &IdVec<ThreadId, ProcedureId>,
    ) -> NodeId {
        let thread = ThreadId::from_index(0);
        let main = self.out.procedures.next_id();
        let place = Place::NONE;
        self.out.threads.push(Thread {
            name: "sequential".to_owned(),
            place,
            main,
            start: Start::AtFirst,
            copies: Copies::One,
        });
        let entry = self.node();
        let guesses = self.variables.copies().flat_map(|copies| {
            let later = copies.rounds.iter().skip(1);
            later.zip(&copies.guesses).map(|(&copy, &guess)| (copy, current(guess)))
        });
        let guesses: Vec<(GlobalId, Expr)> = guesses.collect();
        let mut at = if guesses.is_empty() { entry } else { self.step(entry, None, guesses) };
        for (id, &main) in mains.iter_enumerated() {
            at = self.thread(at, id, main, target, depths);
        }
        let done = self.checker(at, target);
        let exit = self.node();
        self.edge(done, exit, Action::Skip, None, None);
        let name = "main".to_owned();
        let frame = Frame::default();
        let main = Procedure { name, owner: Some(thread), place, end: place, entry, exit, frame };
        self.out.procedures.push(main);
        done
    }

    /// Runs a thread from `at`; gives the node behind it.
    fn thread(
        &mut self,
        at: NodeId,
        id: ThreadId,
        main: ProcedureId,
        target: &Target,
        depths: &Depths,
    ) -> NodeId {
        let variables = self.variables;
        let frame = &self.program.procedures[self.program.threads[id].main].frame;
        let wanted = match target {
            Target::State(pattern) => Some(&pattern.threads[id]),
            _ => None,
        };
        let next = self.node();
        let mut begin = at;
        let mut arguments = vec![Expr::Choice; frame.parameters];
        if let Some(started) = &variables.started[id] {
            // The thread waits: rounds pass, and perhaps it is never started.
            begin = self.node();
            if let Some(not_last) = variables.not_last() {
                self.update(at, at, Some(not_last), variables.increment());
            }
            for (round, &started) in started.rounds.iter().enumerate() {
                let here = variables.in_round(round as u32);
                self.update(at, begin, all(here.into_iter().chain([current(started)])), Vec::new());
            }
            let mut never = self.reset();
            // It may still be started after its last turn; the checker looks at that.
            if let (Some(there), Some(Position::At(nodes))) = (self.there[id], wanted)
                && nodes.contains(&self.program.procedures[self.program.threads[id].main].entry)
            {
                never.push((Variable::Global(there), Expr::TRUE));
            }
            self.update(at, next, None, never);
            arguments = variables.arguments[id].iter().map(|&value| current(value)).collect();
        }
        let returned = self.node();
        let passing = (!arguments.is_empty() || !frame.results.is_empty()).then(|| {
            let results = vec![None; frame.results.len()];
            self.out.passings.push(Passing { arguments, results })
        });
        self.edge(begin, returned, Action::Call(main), None, passing);
        // A thread that ends inside an atomic section stops all others: such a run ends there.
        let outside = (depths.counted > 0).then(|| {
            current(variables.atomic[0]).not().join(Operator::Or, current(variables.error))
        });
        let mut assignments = self.reset();
        if let (Some(there), Some(Position::Ended)) = (self.there[id], wanted) {
            assignments.push((Variable::Global(there), current(variables.leave).not()));
        }
        self.update(returned, next, outside, assignments);
        next
    }

    /// The first round again, and all flags down.
    fn reset(&self) -> Vec<(Variable, Expr)> {
        let variables = self.variables;
        let down = variables.round.iter().chain(&variables.atomic).chain([&variables.leave]);
        down.map(|&flag| (Variable::Global(flag), Expr::FALSE)).collect()
    }

    /// Checks the guesses, then asserts; gives the node behind both.
    fn checker(&mut self, mut at: NodeId, target: &Target) -> NodeId {
        let variables = self.variables;
        let rounds = variables.copies().map(|copies| copies.guesses.len()).max().unwrap_or(0);
        for round in 0..rounds {
            let same = variables.copies().map(|copies| {
                current(copies.rounds[round]).join(Operator::Equal, current(copies.guesses[round]))
            });
            let same = all(same);
            at = self.step(at, same, Vec::new());
        }
        if let Target::State(pattern) = target {
            let there = self.there.iter_enumerated().filter_map(|(id, there)| {
                let started = variables.started[id].as_ref();
                let started = started.and_then(|copies| copies.rounds.last().copied());
                all(there.map(current).into_iter().chain(started.map(current)))
                    .filter(|_| there.is_some())
            });
            let globals = pattern.globals.iter().map(|&(global, value)| {
                let copies = &variables.shared[global].rounds;
                let last = current(*copies.last().expect("there is a round"));
                if value != 0 { last } else { last.not() }
            });
            let reached = all(there.chain(globals)).unwrap_or(Expr::TRUE);
            at = self.step(at, None, vec![(variables.error, reached)]);
        }
        let done = self.node();
        let condition = self.out.conditions.push(current(variables.error).not());
        self.edge(at, done, Action::Assert(condition), None, None);
        done
    }

    fn node(&mut self) -> NodeId {
        self.out.nodes.push(ProcedureId::from_index(0))
    }

    /// A step to a new node.
    fn step(
        &mut self,
        source: NodeId,
        guard: Option<Expr>,
        assignments: Vec<(GlobalId, Expr)>,
    ) -> NodeId {
        let target = self.node();
        let assignments = assignments.into_iter();
        let assignments = assignments.map(|(global, value)| (Variable::Global(global), value));
        self.update(source, target, guard, assignments.collect());
        target
    }

    fn update(
        &mut self,
        source: NodeId,
        target: NodeId,
        guard: Option<Expr>,
        assignments: Vec<(Variable, Expr)>,
    ) {
        let update = Update { guard, assignments, constraint: None };
        self.edge(source, target, Action::Skip, Some(update), None);
    }

    fn edge(
        &mut self,
        source: NodeId,
        target: NodeId,
        action: Action,
        update: Option<Update>,
        passing: Option<PassingId>,
    ) {
        let update = update.map(|update| self.out.updates.push(update));
        let place = Place::NONE;
        self.out.edges.push(Edge {
            source,
            target,
            action,
            update,
            passing,
            place,
            volatile: false,
        });
    }
}
