//! Random programs with data, built as graphs, so that shapes occur which no source text has:
//! updates on calls, returns and starts, unstructured atomic sections, conditions enforced anywhere.

#![allow(dead_code, reason = "every test file uses its own part")]

use selvedge_base::{Budget, Id, IdVec, Place};
use selvedge_program::{
    Action, Bound, Copies, Edge, Expr, Frame, Global, GlobalId, Label, Local, LocalId, Measure,
    NodeId, Operator, Passing, Position, Procedure, ProcedureId, Program, Start, StatePattern,
    Target, Thread, ThreadId, Type, Update, Valuation, Value, Variable, validate,
};
use selvedge_replay::{BoundedLimits, BoundedSets, bounded_states};
use selvedge_testkit::rng::Rng;
use std::collections::BTreeSet;

/// What random programs may have, in percent where it is a chance.
#[derive(Clone, Copy)]
pub struct Shape {
    pub threads: usize,
    pub globals: usize,
    pub locals: usize,
    pub procedures: usize,
    pub nodes: usize,
    pub edges: usize,
    pub recursion: usize,
    pub enforced: usize,
    pub waiting: usize,
    pub atomic: usize,
}

impl Shape {
    /// Small programs that have a bit of everything.
    pub const SMALL: Self = Self {
        threads: 3,
        globals: 2,
        locals: 1,
        procedures: 2,
        nodes: 4,
        edges: 5,
        recursion: 10,
        enforced: 20,
        waiting: 30,
        atomic: 1,
    };
}

/// A random program that may have anything.
pub fn random_program(rng: &mut Rng, shape: &Shape) -> Program {
    let mut program = Program::default();
    for at in 0..rng.between(1, shape.globals) {
        let initial = [None, Some(false), Some(false), Some(true)][rng.below(4)];
        program.globals.push(Global::flag(format!("g{at}"), Place::NONE, initial));
    }
    let threads = rng.between(2, shape.threads);
    let counts: Vec<usize> = (0..threads).map(|_| rng.between(1, shape.procedures)).collect();
    let mut first = 0;
    let mut waits = None;
    for (at, &count) in counts.iter().enumerate() {
        let main = ProcedureId::from_index(first);
        let start = if at > 0 && rng.percent(shape.waiting) {
            let after = waits.filter(|_| rng.percent(50));
            waits = Some(ThreadId::from_index(at));
            Start::ByEdge { after }
        } else {
            Start::AtFirst
        };
        program.threads.push(Thread {
            name: format!("t{at}"),
            place: Place::NONE,
            main,
            start,
            copies: Copies::One,
        });
        first += count;
    }
    // Frames come first: calls have to fit them.
    let mut frames = Vec::new();
    for (thread, &count) in counts.iter().enumerate() {
        for at in 0..count {
            let locals = rng.below(shape.locals + 1);
            let locals: IdVec<LocalId, Local> =
                (0..locals).map(|at| Local::flag(format!("l{at}"), Place::NONE)).collect();
            let waits = program.threads[ThreadId::from_index(thread)].start != Start::AtFirst;
            let parameters = if at == 0 && !waits { 0 } else { rng.below(locals.len() + 1) };
            let results = vec![Type::Bool; if at == 0 { 0 } else { rng.below(3) }];
            let frame = Frame { locals, parameters, results, ..Frame::default() };
            frames.push((thread, at, frame));
        }
    }
    let mut build = Build { rng, shape, program, frames, counts };
    for at in 0..build.frames.len() {
        build.procedure(at);
    }
    let program = build.program;
    assert_eq!(validate::validate(&program), [], "the generator makes valid programs");
    program
}

struct Build<'a> {
    rng: &'a mut Rng,
    shape: &'a Shape,
    program: Program,
    frames: Vec<(usize, usize, Frame)>,
    counts: Vec<usize>,
}

impl Build<'_> {
    fn procedure(&mut self, at: usize) {
        let (thread, position, mut frame) = self.frames[at].clone();
        let id = self.program.procedures.next_id();
        let count = self.rng.between(2, self.shape.nodes);
        let nodes: Vec<NodeId> = (0..count).map(|_| self.program.nodes.push(id)).collect();
        let exit = nodes[count - 1];
        for (at, &node) in nodes.iter().enumerate() {
            if self.rng.percent(15) {
                self.program.labels.push(Label {
                    name: format!("L{at}"),
                    node,
                    place: Place::NONE,
                });
            }
        }
        let edges = self.rng.between(count - 1, self.shape.edges.max(count - 1));
        for at in 0..edges {
            // The first edges are a path, so that something is reached.
            let source = if at + 1 < count { at } else { self.rng.below(count - 1) };
            let target = if at + 1 < count { at + 1 } else { self.rng.below(count) };
            self.edge(thread, position, &frame, nodes[source], nodes[target], exit);
        }
        if self.rng.percent(self.shape.enforced) {
            let expr = self.expr(&frame, 2, false);
            frame.enforced = Some(self.program.conditions.push(expr));
        }
        self.program.procedures.push(Procedure {
            name: format!("p{position}"),
            owner: Some(ThreadId::from_index(thread)),
            place: Place::NONE,
            end: Place::NONE,
            entry: nodes[0],
            exit,
            frame,
        });
    }

    fn edge(
        &mut self,
        thread: usize,
        position: usize,
        frame: &Frame,
        source: NodeId,
        mut target: NodeId,
        exit: NodeId,
    ) {
        let mut passing = None;
        let waiting: Vec<ThreadId> = self
            .program
            .threads
            .iter_enumerated()
            .filter(|(_, one)| one.start != Start::AtFirst)
            .map(|(id, _)| id)
            .collect();
        let start = if waiting.is_empty() { 0 } else { 3 };
        let atomic = self.shape.atomic;
        let action = match self.rng.weighted(&[10, 3, 2, 1, start, atomic, atomic]) {
            1 => {
                let first: usize = self.counts[..thread].iter().sum();
                let low = if self.rng.percent(self.shape.recursion) { 0 } else { position + 1 };
                if low < self.counts[thread] {
                    let callee = self.rng.between(low, self.counts[thread] - 1) + first;
                    let inner = self.frames[callee].2.clone();
                    let arguments = (0..inner.parameters).map(|_| self.expr(frame, 1, false));
                    let arguments = arguments.collect();
                    let mut targets = self.targets(frame);
                    let results = (0..inner.results.len())
                        .map(|_| targets.pop().filter(|_| self.rng.percent(70)))
                        .collect();
                    passing = Some(self.program.passings.push(Passing { arguments, results }));
                    Action::Call(ProcedureId::from_index(callee))
                } else {
                    Action::Skip
                }
            }
            2 => {
                let condition = self.expr(frame, 2, false);
                Action::Assert(self.program.conditions.push(condition))
            }
            3 => {
                target = exit;
                let values = (0..frame.results.len()).map(|_| self.expr(frame, 1, false)).collect();
                Action::Return(self.program.returns.push(values))
            }
            4 => {
                let started = *self.rng.pick(&waiting);
                let main = self.program.threads[started].main;
                let inner = self.frames[main.index()].2.parameters;
                let arguments = (0..inner).map(|_| self.expr(frame, 1, false)).collect();
                let results = Vec::new();
                passing = Some(self.program.passings.push(Passing { arguments, results }));
                Action::Start(started)
            }
            5 => Action::BeginAtomic,
            6 => Action::EndAtomic,
            _ => Action::Skip,
        };
        let chance = if action == Action::Skip { 90 } else { 35 };
        let update = self.rng.percent(chance).then(|| {
            let guard = self.rng.percent(40).then(|| self.expr(frame, 2, false));
            let mut targets = self.targets(frame);
            targets.truncate(self.rng.below(3));
            let assignments =
                targets.into_iter().map(|target| (target, self.expr(frame, 2, false))).collect();
            let constraint = self.rng.percent(10).then(|| self.expr(frame, 2, true));
            self.program.updates.push(Update { guard, assignments, constraint })
        });
        self.program.edges.push(Edge {
            source,
            target,
            action,
            update,
            passing,
            place: Place::NONE,
            volatile: false,
        });
    }

    fn variables(&self, frame: &Frame) -> Vec<Variable> {
        let globals = self.program.globals.ids().map(Variable::Global);
        globals.chain(frame.locals.ids().map(Variable::Local)).collect()
    }

    /// All variables in a random order.
    fn targets(&mut self, frame: &Frame) -> Vec<Variable> {
        let mut variables = self.variables(frame);
        for at in (1..variables.len()).rev() {
            variables.swap(at, self.rng.below(at + 1));
        }
        variables
    }

    fn expr(&mut self, frame: &Frame, depth: usize, next: bool) -> Expr {
        let variables = self.variables(frame);
        match self.rng.weighted(&[1, 2, 10, 2 * depth, 3 * depth]) {
            0 => Expr::truth(self.rng.percent(50)),
            1 => Expr::Choice,
            2 => {
                let variable = *self.rng.pick(&variables);
                if next && self.rng.percent(50) {
                    Expr::Next(variable)
                } else {
                    Expr::Current(variable)
                }
            }
            3 => self.expr(frame, depth - 1, next).not(),
            _ => {
                let operators = [
                    Operator::And,
                    Operator::Or,
                    Operator::Or,
                    Operator::Xor,
                    Operator::Equal,
                    Operator::Implies,
                ];
                let operator = *self.rng.pick(&operators);
                let left = self.expr(frame, depth - 1, next);
                left.join(operator, self.expr(frame, depth - 1, next))
            }
        }
    }
}

/// A random question about a program.
pub fn random_target(rng: &mut Rng, program: &Program) -> Target {
    let node = |rng: &mut Rng| NodeId::from_index(rng.below(program.nodes.len()));
    match rng.below(4) {
        0 => Target::Label((0..rng.between(1, 2)).map(|_| node(rng)).collect()),
        1 => Target::State(StatePattern {
            globals: program
                .globals
                .ids()
                .map(|global| (global, Value::from(rng.percent(50))))
                .collect(),
            locks: Vec::new(),
            threads: program
                .threads
                .iter()
                .map(|_| match rng.below(4) {
                    0 => Position::At(vec![node(rng), node(rng)]),
                    1 => Position::Ended,
                    _ => Position::Any,
                })
                .collect(),
        }),
        _ => Target::Assertion,
    }
}

/// What the oracle finds within a bound; `None` if it gave up.
pub fn oracle(
    program: &Program,
    targets: &[Target],
    bound: Bound,
    call_depth: u32,
) -> Option<BoundedSets> {
    let limits = BoundedLimits { call_depth, states: 20_000 };
    bounded_states(program, targets, bound, limits, &Budget::new()).ok().filter(|sets| !sets.cut)
}

/// A number of rounds.
pub fn rounds(limit: u32) -> Bound {
    Bound { measure: Measure::Rounds, limit }
}

/// The values of some globals whenever the only thread of a program is at a node.
pub fn values_at(
    program: &Program,
    node: NodeId,
    globals: &[GlobalId],
    call_depth: u32,
) -> Option<(BTreeSet<Valuation>, bool)> {
    let mut labelled = program.clone();
    let name = |at: NodeId| if at == node { "here" } else { "elsewhere" };
    let label = |at: NodeId| Label { name: name(at).to_owned(), node: at, place: Place::NONE };
    labelled.labels = labelled.nodes.ids().map(label).collect();
    let sets = oracle(&labelled, &[Target::Assertion], rounds(1), call_depth)?;
    let level = &sets.levels[0];
    let here = [Some("here".to_owned())];
    let values =
        level.visible.iter().filter(|state| state.tops == here).map(|state| {
            Valuation(globals.iter().map(|&global| state.globals.get(global)).collect())
        });
    Some((values.collect(), level.reached[0]))
}

/// A statement of a [`sketch`].
#[derive(Clone, Copy)]
pub enum Do {
    /// Goes on only if the global is true.
    Assume(usize),
    /// Makes the global true.
    Raise(usize),
    /// Makes the global false.
    Lower(usize),
    /// Calls a procedure of the thread.
    Call(usize),
    /// Fails.
    Fail,
    /// Never goes on.
    Block,
    /// Enters an atomic section.
    Begin,
    /// Leaves an atomic section.
    End,
}

/// Threads with procedures of statements in a row, the first of each the main; globals are false at
/// first.
pub fn sketch(globals: usize, threads: &[&[&[Do]]]) -> Program {
    let mut program = Program::default();
    for at in 0..globals {
        let initial = Some(false);
        program.globals.push(Global::flag(format!("g{at}"), Place::NONE, initial));
    }
    for (at, procedures) in threads.iter().enumerate() {
        let main = program.procedures.next_id();
        let name = format!("t{at}");
        program.threads.push(Thread {
            name,
            place: Place::NONE,
            main,
            start: Start::AtFirst,
            copies: Copies::One,
        });
        for (position, statements) in procedures.iter().enumerate() {
            let id = program.procedures.next_id();
            let entry = program.nodes.push(id);
            let mut exit = entry;
            for &statement in *statements {
                let source = exit;
                exit = program.nodes.push(id);
                sketched(&mut program, source, exit, main, statement);
            }
            program.procedures.push(Procedure {
                name: format!("p{position}"),
                owner: Some(ThreadId::from_index(at)),
                place: Place::NONE,
                end: Place::NONE,
                entry,
                exit,
                frame: Frame::default(),
            });
        }
    }
    assert_eq!(validate::validate(&program), []);
    program
}

fn sketched(
    program: &mut Program,
    source: NodeId,
    target: NodeId,
    main: ProcedureId,
    statement: Do,
) {
    let global = |at: usize| Variable::Global(GlobalId::from_index(at));
    let mut update = Update::default();
    let action = match statement {
        Do::Assume(at) => {
            update.guard = Some(Expr::Current(global(at)));
            Action::Skip
        }
        Do::Raise(at) => {
            update.assignments.push((global(at), Expr::TRUE));
            Action::Skip
        }
        Do::Lower(at) => {
            update.assignments.push((global(at), Expr::FALSE));
            Action::Skip
        }
        Do::Call(at) => Action::Call(ProcedureId::from_index(main.index() + at)),
        Do::Fail => Action::Assert(program.conditions.push(Expr::FALSE)),
        Do::Block => {
            update.guard = Some(Expr::FALSE);
            Action::Skip
        }
        Do::Begin => Action::BeginAtomic,
        Do::End => Action::EndAtomic,
    };
    let update = (update != Update::default()).then(|| program.updates.push(update));
    let place = Place::NONE;
    program.edges.push(Edge {
        source,
        target,
        action,
        update,
        passing: None,
        place,
        volatile: false,
    });
}
