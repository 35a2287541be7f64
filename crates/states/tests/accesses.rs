//! The accesses that a search sees compared with those of all interleavings, on random programs: every
//! access with its thread and the locks held, in all reductions, orders, stores and rules of
//! protection; and what fails, in those that the other comparison leaves out.
//! `SELVEDGE_PROGRAMS` and `SELVEDGE_SEED` set the number of programs and the first seed.

#![expect(clippy::print_stdout, reason = "the large version prints its counts")]

use selvedge_base::{Budget, Id};
use selvedge_program::{
    Action, Annotation, Expr, GlobalId, ProcedureId, Program, Successors, ThreadId, Type, Unknown,
    Variable, text,
};
use selvedge_replay::run::{State, Touched, View};
use selvedge_states::{
    Code, FailingSite, Goal, ProtectionRule, Reduction, SearchEnd, SearchOptions, SearchOrder,
    StateSearch, StoreKind,
};
use selvedge_testkit::Rng;
use selvedge_testkit::typed::{TypedShape, random_typed};
use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;

/// An access: the cell, the thread, whether it writes, the locks held.
type Class = (usize, usize, bool, u128);

/// What all interleavings show.
#[derive(Default)]
struct Oracle {
    classes: BTreeSet<Class>,
    failures: BTreeSet<FailingSite>,
}

/// How many states are visited at most.
const MOST: usize = 30_000;

fn oracle(program: &Program) -> Option<Oracle> {
    let successors = Successors::new(program);
    let mut oracle = Oracle::default();
    let mut seen: HashSet<State> = HashSet::new();
    let mut pending = Vec::new();
    let _ = State::for_each_initial(program, &mut |state| {
        if !state.fails_at_first(program).is_empty() {
            oracle.failures.insert(FailingSite::AtFirst);
        }
        seen.insert(state.clone());
        pending.push(state);
        ControlFlow::Continue(())
    });
    while let Some(state) = pending.pop() {
        if seen.len() > MOST {
            return None;
        }
        for thread in program.threads.ids() {
            // While a thread is inside an atomic section the others do not even look.
            if state.in_atomic().is_none_or(|inside| inside == thread) {
                accesses(program, &successors, &state, thread, &mut oracle.classes);
            }
            for step in state.moves(program, &successors, thread) {
                if state.can_fail(program, thread, step.clone()).is_ok() {
                    let exit =
                        || state.top(thread).map_or(FailingSite::AtFirst, FailingSite::Return);
                    let edge = step.step.edge();
                    oracle.failures.insert(edge.map_or_else(exit, FailingSite::Edge));
                }
            }
            let flow = state.successors(program, &successors, thread, &mut |_, next| {
                if seen.insert(next.clone()) {
                    pending.push(next);
                }
                ControlFlow::Continue(())
            });
            assert!(flow.is_ok());
        }
    }
    Some(oracle)
}

/// What a thread evaluates where it stands, whether or not it can go on.
fn accesses(
    program: &Program,
    successors: &Successors,
    state: &State,
    thread: ThreadId,
    classes: &mut BTreeSet<Class>,
) {
    let Some(node) = state.top(thread) else { return };
    let held = program.locks.ids().filter(|&lock| state.control.holds(thread, lock));
    let held = held.fold(0u128, |held, lock| held | 1 << lock.index());
    let Some((_, _, view)) = state.running(program, thread) else { return };
    for &id in successors.of(node) {
        let mut attempt = Attempt { program, state, thread, view, held, classes };
        // Where an evaluation blocks or fails, nothing behind it is evaluated.
        let _ = attempt.edge(id);
    }
}

struct Attempt<'a> {
    program: &'a Program,
    state: &'a State,
    thread: ThreadId,
    view: View<'a>,
    held: u128,
    classes: &'a mut BTreeSet<Class>,
}

impl Attempt<'_> {
    fn edge(&mut self, id: selvedge_program::EdgeId) -> Option<()> {
        let program = self.program;
        let edge = &program.edges[id];
        let update = edge.update.map(|id| &program.updates[id]);
        if let Some(guard) = update.and_then(|update| update.guard.as_ref()) {
            self.read(guard)?.iter().any(|&value| value != 0).then_some(())?;
        }
        let control = &self.state.control;
        let holds = |lock| control.holds(self.thread, lock);
        let acts = match edge.action {
            Action::Acquire(lock) => match &control.locks[lock] {
                None => true,
                Some(owned) => owned.owner == self.thread && program.locks[lock].reentrant,
            },
            Action::Release(lock) => holds(lock),
            Action::Wait(set) | Action::Notify(set) | Action::NotifyAll(set) => {
                holds(program.wait_sets[set].lock)
            }
            _ => true,
        };
        acts.then_some(())?;
        if let Action::Assert(condition) = edge.action {
            let value = self.read(&program.conditions[condition])?;
            value.iter().any(|&value| value != 0).then_some(())?;
        }
        let mut written = Vec::new();
        let owner = program.nodes[edge.source];
        for (target, value) in update.iter().flat_map(|update| &update.assignments) {
            self.write(*target, &mut written);
            let values = self.read(value)?;
            self.held(owner, *target, &values)?;
        }
        let passing = edge.passing.map(|id| &program.passings[id]);
        match edge.action {
            Action::Call(callee) => {
                let arguments = passing.iter().flat_map(|passing| &passing.arguments);
                let locals = &program.procedures[callee].frame.locals;
                for (argument, local) in arguments.zip(locals) {
                    let values = self.read(argument)?;
                    fit(program, local.ty, &values)?;
                }
            }
            Action::Return(id) => {
                let call = self.state.threads[self.thread].activations.last()?.call;
                let call = call.map(|call| &program.edges[call]);
                let targets = call.and_then(|call| call.passing);
                let targets = targets.map_or(&[][..], |id| &program.passings[id].results);
                let results = &program.procedures[owner].frame.results;
                for (at, value) in program.returns[id].iter().enumerate() {
                    let values = self.read(value)?;
                    let values = fit(program, results[at], &values)?;
                    if let (Some(&Some(target)), Some(call)) = (targets.get(at), call) {
                        self.write(target, &mut written);
                        self.held(program.nodes[call.source], target, &values)?;
                    }
                }
            }
            _ => {}
        }
        // Invariants and predicates that speak of what is written are read.
        let predicates = program.globals.iter().filter_map(|one| match one.annotation {
            Some(Annotation::ExclusiveWhen(id)) => Some(id),
            _ => None,
        });
        let invariants = program.invariants.iter().map(|one| one.condition);
        for condition in invariants.chain(predicates) {
            let mut cells = Vec::new();
            program.conditions[condition].variables(&mut |variable, _| {
                if let Variable::Global(cell) = variable {
                    cells.push(cell);
                }
            });
            if cells.iter().any(|cell| written.contains(cell)) {
                for cell in cells {
                    self.note(cell, false);
                }
            }
        }
        Some(())
    }

    /// Notes a write. A step can fail in several ways, so what it writes is looked at whether or not the
    /// write is allowed.
    fn write(&mut self, target: Variable, written: &mut Vec<GlobalId>) {
        if let Variable::Global(cell) = target {
            self.note(cell, true);
            written.push(cell);
        }
    }

    /// Whether a variable of a procedure can hold one of these values.
    fn held(&self, owner: ProcedureId, target: Variable, values: &[i64]) -> Option<()> {
        let ty = match target {
            Variable::Global(cell) => self.program.globals[cell].ty,
            Variable::Local(local) => self.program.procedures[owner].frame.locals[local].ty,
        };
        fit(self.program, ty, values).map(|_| ())
    }

    fn read(&mut self, expr: &Expr) -> Option<Vec<i64>> {
        let mut touched = Touched::default();
        let possible = self.view.touching(expr, &mut touched);
        let mut allowed = true;
        for variable in touched.0 {
            if let Variable::Global(cell) = variable {
                allowed &= self.access(cell, false).is_some();
            }
        }
        allowed.then_some(possible.values)
    }

    /// Notes an access; says whether what annotates the cell allows it.
    fn access(&mut self, cell: GlobalId, write: bool) -> Option<()> {
        self.note(cell, write);
        match self.program.globals[cell].annotation {
            Some(Annotation::GuardedBy(lock)) => {
                self.state.control.holds(self.thread, lock).then_some(())
            }
            Some(Annotation::ExclusiveWhen(id)) => {
                let value = self.view.values(&self.program.conditions[id]);
                (!value.can_be_false()).then_some(())
            }
            None => Some(()),
        }
    }

    fn note(&mut self, cell: GlobalId, write: bool) {
        self.classes.insert((cell.index(), self.thread.index(), write, self.held));
    }
}

/// The values that a type can hold, if there are any.
fn fit(program: &Program, ty: Type, values: &[i64]) -> Option<Vec<i64>> {
    let (low, high) = program.range(ty);
    let held = values.iter().filter_map(|&value| match ty {
        Type::Mod(n) => Some(value.rem_euclid(n.into())),
        _ => (i64::from(low)..=i64::from(high)).contains(&value).then_some(value),
    });
    let held: Vec<i64> = held.collect();
    (!held.is_empty()).then_some(held)
}

/// The classes and failures that a search sees.
fn searched(program: &Program, options: SearchOptions) -> (BTreeSet<Class>, BTreeSet<FailingSite>) {
    let code = Code::new(program, &BTreeSet::new());
    let mut search = StateSearch::new(&code, Goal::Failure, options, Budget::new());
    search.collect = true;
    // It takes steps without noting what they access.
    search.executor = None;
    match (search.run(), options.store) {
        (SearchEnd::Complete, StoreKind::Exact)
        | (SearchEnd::Open(Unknown::Hashes(_)), StoreKind::Compact) => {}
        (end, _) => panic!("{end:?}"),
    }
    assert!(search.fault.is_none(), "{:?}", search.fault);
    let classes = program.globals.ids().flat_map(|cell| {
        let own = search.protection.classes(cell).iter();
        own.map(move |one| (cell.index(), one.thread.index(), one.write, one.held))
    });
    let failures = &search.failures;
    (classes.collect(), failures.iter().map(|(site, _)| *site).collect())
}

/// All ways to search.
fn configurations() -> Vec<SearchOptions> {
    let plain = SearchOptions::default();
    let paper = SearchOptions { protection: ProtectionRule::Paper, ..plain };
    let early_ends = false;
    vec![
        plain,
        SearchOptions { early_ends, ..plain },
        paper,
        SearchOptions { early_ends, ..paper },
        SearchOptions { reduction: Reduction::LeftMovers, ..plain },
        SearchOptions { reduction: Reduction::None, ..plain },
        SearchOptions { order: SearchOrder::Depth, ..plain },
        SearchOptions { store: StoreKind::Compact, ..plain },
        SearchOptions { store: StoreKind::Compact, order: SearchOrder::Depth, ..paper },
    ]
}

#[test]
fn tables_of_accesses_agree_with_all_interleavings() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let programs: u64 = number("SELVEDGE_PROGRAMS").unwrap_or(150);
    let first: u64 = number("SELVEDGE_SEED").unwrap_or(100_000);
    let (mut compared, mut large, mut classes) = (0, 0, 0);
    for seed in first..first + programs {
        let shape = TypedShape {
            threads: 2 + usize::from(seed % 3 == 0),
            statements: if seed % 3 == 0 { 2 } else { 4 },
            disciplined: seed % 2 == 0,
            annotated: seed % 5 == 0,
        };
        let program = random_typed(&mut Rng::new(seed), shape);
        let Some(oracle) = oracle(&program) else {
            large += 1;
            continue;
        };
        for options in configurations() {
            let (seen, failures) = searched(&program, options);
            let context = || format!("seed {seed} {options:?}\n{}", text::print(&program));
            assert_eq!(failures, oracle.failures, "{}", context());
            assert_eq!(seen, oracle.classes, "{}", context());
        }
        compared += 1;
        classes += oracle.classes.len();
    }
    println!("{compared} compared, {classes} classes of accesses, {large} too large");
    assert!(compared > large && classes > compared);
}
