//! # Idea
//! The meaning of a program with data once more, independent of the replayer: every choice of an
//! expression is a bit of a number, and all numbers are tried. A schedule is explored together with
//! its count of rounds or contexts, state by state, without any thought of what grows.
//!
//! # Source
//! [`selvedge_program::data`], sentence by sentence; the numbers in the comments are its numbers.
//!
//! # Requires
//! The program is valid, has no locks and no units, and few variables.

use selvedge_base::Id;
use selvedge_program::{
    Action, EdgeId, Expr, Measure, NodeId, Operator, Program, Start, Valuation, Variable,
};
use std::collections::{BTreeSet, VecDeque};

/// An activation: where it is, its variables, and the call that opened it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NaiveActivation {
    /// Where it goes on.
    pub node: usize,
    /// Its variables.
    pub locals: Vec<bool>,
    /// The edge of the call.
    pub call: Option<usize>,
}

/// A thread between two steps.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NaiveThread {
    /// Whether it waits to be started.
    pub waits: bool,
    /// How many atomic sections it is in.
    pub atomic: u32,
    /// Its activations, innermost last.
    pub stack: Vec<NaiveActivation>,
}

/// A program between two steps.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NaiveState {
    /// The globals.
    pub globals: Vec<bool>,
    /// The threads.
    pub threads: Vec<NaiveThread>,
}

/// What one thread can do next.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NaiveSteps {
    /// The states one step further.
    pub states: BTreeSet<NaiveState>,
    /// Whether an assertion can fail in one step.
    pub fails: bool,
}

/// What is reachable within one bound.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NaiveLevel {
    /// The globals while no thread is inside an atomic section.
    pub states: BTreeSet<Valuation>,
    /// Whether an assertion can fail.
    pub fails: bool,
    /// All states.
    pub configurations: BTreeSet<NaiveState>,
}

/// What is reachable within 1 to `limit` rounds or contexts; `None` if that are more than `most`
/// states with their counts, or if more than `call_depth` calls are open somewhere.
pub fn naive_levels(
    program: &Program,
    measure: Measure,
    limit: usize,
    call_depth: usize,
    most: usize,
) -> Option<Vec<NaiveLevel>> {
    let mut levels = vec![NaiveLevel::default(); limit];
    // A state, the thread that moved last, and the rounds or contexts so far.
    let mut seen: BTreeSet<(NaiveState, usize, usize)> = BTreeSet::new();
    let mut queue = VecDeque::new();
    for state in initial_states(program) {
        // Nothing has moved yet, so whoever moves first does so in the first round and context.
        for last in 0..program.threads.len() {
            queue.push_back((state.clone(), last, 1));
        }
    }
    while let Some((state, last, count)) = queue.pop_front() {
        if !seen.insert((state.clone(), last, count)) {
            continue;
        }
        if seen.len() > most || state.threads.iter().any(|one| one.stack.len() > call_depth + 1) {
            return None;
        }
        for level in &mut levels[count - 1..] {
            if state.threads.iter().all(|thread| thread.atomic == 0) {
                level.states.insert(Valuation::of_bits(state.globals.iter().copied()));
            }
            level.configurations.insert(state.clone());
        }
        for thread in 0..program.threads.len() {
            let more = match measure {
                Measure::Rounds => thread < last,
                Measure::Contexts => thread != last,
            };
            let count = count + usize::from(more);
            if count > limit {
                continue;
            }
            let steps = naive_steps(program, &state, thread);
            for level in &mut levels[count - 1..] {
                level.fails |= steps.fails;
            }
            for next in steps.states {
                queue.push_back((next, thread, count));
            }
        }
    }
    Some(levels)
}

/// All states that a run can begin with (7).
pub fn initial_states(program: &Program) -> Vec<NaiveState> {
    let mut states: Vec<NaiveState> = Vec::new();
    for globals in valuations(program.globals.len()) {
        let as_declared =
            program.globals.iter().zip(&globals).all(|(global, value)| {
                global.initial.is_none_or(|initial| (initial != 0) == *value)
            });
        if as_declared {
            states.push(NaiveState { globals, threads: Vec::new() });
        }
    }
    for thread in &program.threads {
        let main = &program.procedures[thread.main];
        let waits = thread.start != Start::AtFirst;
        let variables = if waits { 0 } else { main.frame.locals.len() };
        let mut longer = Vec::new();
        for state in &states {
            for locals in valuations(variables) {
                let node = main.entry.index();
                let stack = vec![NaiveActivation { node, locals, call: None }];
                let mut state = state.clone();
                state.threads.push(NaiveThread { waits, atomic: 0, stack });
                longer.push(state);
            }
        }
        states = longer;
    }
    states
}

/// All valuations of so many variables.
fn valuations(count: usize) -> Vec<Vec<bool>> {
    (0..1u32 << count).map(|bits| (0..count).map(|at| bits >> at & 1 == 1).collect()).collect()
}

/// What a thread can do next.
pub fn naive_steps(program: &Program, state: &NaiveState, thread: usize) -> NaiveSteps {
    let mut steps = NaiveSteps::default();
    let own = &state.threads[thread];
    let others_atomic =
        state.threads.iter().enumerate().any(|(at, other)| at != thread && other.atomic > 0);
    // 4, 5
    if own.waits || others_atomic {
        return steps;
    }
    let Some(top) = own.stack.last() else { return steps };
    let procedure = program.nodes[NodeId::from_index(top.node)];
    // 6, before the step
    if !enforced_holds(program, state, thread) {
        return steps;
    }
    if program.procedures[procedure].exit.index() == top.node {
        // 3, the return from the exit node
        for values in valuations(program.procedures[procedure].frame.results.len()) {
            steps.states.extend(returned(program, state, thread, &values));
        }
    }
    for (id, edge) in program.edges.iter_enumerated() {
        if edge.source.index() == top.node {
            take_edge(program, state, thread, id, &mut steps);
        }
    }
    // 6, after the step
    steps.states.retain(|next| enforced_holds(program, next, thread));
    steps
}

fn enforced_holds(program: &Program, state: &NaiveState, thread: usize) -> bool {
    let Some(top) = state.threads[thread].stack.last() else { return true };
    let procedure = &program.procedures[program.nodes[NodeId::from_index(top.node)]];
    match procedure.frame.enforced {
        None => true,
        Some(id) => {
            let env = Env::now(&state.globals, &top.locals);
            env.possible(&program.conditions[id]).contains(&true)
        }
    }
}

/// The values before and after a step.
struct Env<'s> {
    globals: &'s [bool],
    locals: &'s [bool],
    next_globals: &'s [bool],
    next_locals: &'s [bool],
}

impl<'s> Env<'s> {
    fn now(globals: &'s [bool], locals: &'s [bool]) -> Self {
        Self { globals, locals, next_globals: globals, next_locals: locals }
    }

    /// All values that an expression can have (1).
    fn possible(&self, expr: &Expr) -> BTreeSet<bool> {
        let choices = choices(expr);
        (0..1u64 << choices).map(|mut bits| self.value(expr, &mut bits)).collect()
    }

    /// The value with the choices in the bits of a number, from left to right.
    fn value(&self, expr: &Expr, bits: &mut u64) -> bool {
        let read = |variable: &Variable, globals: &[bool], locals: &[bool]| match variable {
            Variable::Global(global) => globals[global.index()],
            Variable::Local(local) => locals[local.index()],
        };
        match expr {
            Expr::Constant(value) => value.value() != 0,
            Expr::Choice => {
                let chosen = *bits & 1 == 1;
                *bits >>= 1;
                chosen
            }
            Expr::Current(variable) => read(variable, self.globals, self.locals),
            Expr::Next(variable) => read(variable, self.next_globals, self.next_locals),
            Expr::Not(inner) => !self.value(inner, bits),
            Expr::Binary(operator, left, right) => {
                let left = self.value(left, bits);
                let right = self.value(right, bits);
                match operator {
                    Operator::And => left && right,
                    Operator::Or => left || right,
                    Operator::Xor => left ^ right,
                    Operator::Equal => left == right,
                    Operator::Implies => !left || right,
                    other => unreachable!("{other:?} in a program of truth values"),
                }
            }
            other => unreachable!("{other:?} in a program of truth values"),
        }
    }
}

fn choices(expr: &Expr) -> u32 {
    match expr {
        Expr::Choice => 1,
        other => other.parts().map(choices).sum(),
    }
}

/// All tuples of possible values of some expressions.
fn tuples(env: &Env<'_>, exprs: &[Expr]) -> Vec<Vec<bool>> {
    let mut tuples = vec![Vec::new()];
    for expr in exprs {
        let mut longer = Vec::new();
        for tuple in &tuples {
            for value in env.possible(expr) {
                longer.push([&tuple[..], &[value]].concat());
            }
        }
        tuples = longer;
    }
    tuples
}

fn take_edge(
    program: &Program,
    state: &NaiveState,
    thread: usize,
    id: EdgeId,
    steps: &mut NaiveSteps,
) {
    let edge = &program.edges[id];
    let top = state.threads[thread].stack.last().expect("the caller has seen one");
    let env = Env::now(&state.globals, &top.locals);
    let update = edge.update.map(|id| program.updates[id].clone()).unwrap_or_default();
    // 2, the guard
    if update.guard.is_some_and(|guard| !env.possible(&guard).contains(&true)) {
        return;
    }
    // 1, assertions
    if let Action::Assert(condition) = edge.action {
        let possible = env.possible(&program.conditions[condition]);
        steps.fails |= possible.contains(&false);
        if !possible.contains(&true) {
            return;
        }
    }
    // 2, the assignment
    let (targets, values): (Vec<Variable>, Vec<Expr>) = update.assignments.into_iter().unzip();
    for values in tuples(&env, &values) {
        let mut next = state.clone();
        for (target, value) in targets.iter().zip(values) {
            next.set(thread, *target, value);
        }
        let next_top = next.threads[thread].stack.last().expect("nothing was popped");
        let after = Env {
            globals: &state.globals,
            locals: &top.locals,
            next_globals: &next.globals,
            next_locals: &next_top.locals,
        };
        // 2, the constraint
        if update.constraint.as_ref().is_none_or(|one| after.possible(one).contains(&true)) {
            act(program, &env, next, thread, id, steps);
        }
    }
}

/// The action of an edge, after its update.
fn act(
    program: &Program,
    env: &Env<'_>,
    mut next: NaiveState,
    thread: usize,
    id: EdgeId,
    steps: &mut NaiveSteps,
) {
    let edge = &program.edges[id];
    let passing = edge.passing.map(|id| program.passings[id].clone()).unwrap_or_default();
    if let Action::Return(values) = edge.action {
        // 3, the return
        for values in tuples(env, &program.returns[values]) {
            steps.states.extend(returned(program, &next, thread, &values));
        }
        return;
    }
    let own = &mut next.threads[thread];
    own.stack.last_mut().expect("nothing was popped").node = edge.target.index();
    match edge.action {
        Action::Call(callee) => {
            // 3, the call
            let callee = &program.procedures[callee];
            let others = callee.frame.locals.len() - callee.frame.parameters;
            for arguments in tuples(env, &passing.arguments) {
                for others in valuations(others) {
                    let locals = [&arguments[..], &others].concat();
                    let node = callee.entry.index();
                    let call = Some(id.index());
                    let mut next = next.clone();
                    next.threads[thread].stack.push(NaiveActivation { node, locals, call });
                    steps.states.insert(next);
                }
            }
        }
        Action::Start(started) => {
            // 5
            let may = match program.threads[started].start {
                Start::ByEdge { after: Some(before) } => !next.threads[before.index()].waits,
                Start::ByEdge { after: None } => true,
                Start::AtFirst => false,
            };
            if !may || !next.threads[started.index()].waits {
                return;
            }
            let main = &program.procedures[program.threads[started].main];
            let others = main.frame.locals.len() - main.frame.parameters;
            for arguments in tuples(env, &passing.arguments) {
                for others in valuations(others) {
                    let mut next = next.clone();
                    let started = &mut next.threads[started.index()];
                    started.waits = false;
                    started.stack[0].locals = [&arguments[..], &others].concat();
                    steps.states.insert(next);
                }
            }
        }
        Action::Join(joined) => {
            if next.threads[joined.index()].stack.is_empty() {
                steps.states.insert(next);
            }
        }
        Action::BeginAtomic => {
            own.atomic += 1;
            steps.states.insert(next);
        }
        Action::EndAtomic => {
            if own.atomic > 0 {
                own.atomic -= 1;
                steps.states.insert(next);
            }
        }
        Action::Skip | Action::Assert(_) | Action::Read(_) | Action::Write(_) => {
            steps.states.insert(next);
        }
        Action::Return(_) => unreachable!("it has been dealt with"),
        Action::Acquire(_)
        | Action::Release(_)
        | Action::Wait(_)
        | Action::Resume(_)
        | Action::Notify(_)
        | Action::NotifyAll(_)
        | Action::Send(_)
        | Action::Post(_)
        | Action::Broadcast(_)
        | Action::Recv(_)
        | Action::BeginUnit
        | Action::EndUnit => {
            unreachable!("the program has no locks, no channels and no units")
        }
    }
}

/// The states after the procedure on top has returned these values (3).
fn returned(
    program: &Program,
    state: &NaiveState,
    thread: usize,
    values: &[bool],
) -> Option<NaiveState> {
    let mut next = state.clone();
    let left = next.threads[thread].stack.pop()?;
    if let Some(call) = left.call {
        let passing = program.edges[EdgeId::from_index(call)].passing;
        let results = passing.map(|id| program.passings[id].results.clone()).unwrap_or_default();
        for (target, value) in results.iter().zip(values) {
            if let Some(target) = target {
                next.set(thread, *target, *value);
            }
        }
    }
    Some(next)
}

impl NaiveState {
    fn set(&mut self, thread: usize, target: Variable, value: bool) {
        match target {
            Variable::Global(global) => self.globals[global.index()] = value,
            Variable::Local(local) => {
                let top = self.threads[thread].stack.last_mut().expect("someone sees a local");
                top.locals[local.index()] = value;
            }
        }
    }
}
