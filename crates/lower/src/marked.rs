//! # Idea
//! A question about events becomes data of the program, so that a search which follows values and knows
//! nothing of patterns decides it: how many accesses are matched, how deep in units a thread is, what a
//! thread is about to access. Whoever makes what is asked for true goes to a node of its own, and the
//! question is whether a thread gets there.
//!
//! For a pattern or an automaton the access itself counts, in the same step. A race is two threads about
//! to access one location: the first of them sets a mark, in a step of its own before the access; the
//! second one sees it there.
//!
//! # Source
//! SEMANTICS, "The patterns"; paper 000 Defn. 3; [`selvedge_program::moment`].
//!
//! # Requires
//! A valid program and a question about it.
//!
//! # Invariants
//! 1. Without what was added, the runs are those of the given program: added edges change only added
//!    variables, and the others are copies of the given ones.
//! 2. Whether an access is matched is a free choice, as in the definition.
//! 3. A mark is set only where the access is about to be made. Later values may forbid it again; then
//!    the mark stays until the next step of the thread, and what is found need not be a race. That takes
//!    a condition over globals.

use crate::rewrite::{Point, Rewrite};
use selvedge_base::{IdVec, Place};
use selvedge_program::moment::access_conditions;
use selvedge_program::{
    Access, Action, Edge, EdgeId, Expr, Global, GlobalId, IndexedSymbol, Ipa, Literal, LocationId,
    Move, NodeId, Observable, Operator, PatternQuestion, ProcedureId, Program, Question, Race,
    Receiver, Sharing, Successors, ThreadId, Type, UnitRole, Update, Valuation, Variable, Witness,
    WitnessStep,
};
use std::collections::{BTreeMap, BTreeSet};

/// How many units of one thread may be open.
const MOST_UNITS: i32 = 1000;

/// A program with a question as data.
#[derive(Clone, Debug)]
pub struct Marked {
    /// The program.
    pub program: Program,
    /// The nodes that are reached if what is asked for happens; or if too many units are open.
    pub goals: Vec<NodeId>,
    /// Whether whatever reaches a goal shows what is asked for (invariant 3).
    pub exact: bool,
    origins: IdVec<EdgeId, Origin>,
    globals: usize,
}

/// What an edge stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// This edge, and the access of the question that it matches.
    Edge(EdgeId, Option<u32>),
    /// No step: a mark is set, or seen.
    Mark,
    /// Too many units are open.
    TooDeep,
}

/// What a run to a goal shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MarkedRun {
    /// What was asked for.
    Run(Witness),
    /// Too many units are open.
    TooDeep,
}

/// One phase of a pattern or an automaton.
struct MarkedPhase {
    advance: IndexedSymbol,
    in_unit: bool,
}

impl Marked {
    /// The program with a pattern, an automaton or a race; `None` for other questions.
    pub fn new(program: &Program, question: &Question) -> Option<Self> {
        match question {
            Question::Pattern(pattern) => Some(Marking::new(program).word(&Word::pattern(pattern))),
            Question::Automaton(ipa) => {
                Some(Marking::new(program).word(&Word::automaton(program, ipa)))
            }
            Question::Race(race) => Some(Marking::new(program).race(race)),
            _ => None,
        }
    }

    /// The run of the given program that a run of this one to a goal stands for.
    pub fn shown(&self, witness: &Witness) -> MarkedRun {
        let values = |all: &Valuation| Valuation(all.0[..self.globals.min(all.0.len())].to_vec());
        let mut steps = Vec::with_capacity(witness.steps.len());
        let mut transactions = Vec::new();
        for (at, step) in witness.steps.iter().enumerate() {
            let (taken, matched) = match (step.step, step.step.edge().map(|one| self.origins[one]))
            {
                (Move::Return, _) | (_, None) => (Move::Return, None),
                (Move::Edge(_), Some(Origin::Edge(edge, matched))) => (Move::Edge(edge), matched),
                (Move::With(_, other), Some(Origin::Edge(edge, matched))) => {
                    (Move::With(edge, other), matched)
                }
                (_, Some(Origin::Mark)) => continue,
                (_, Some(Origin::TooDeep)) => return MarkedRun::TooDeep,
            };
            let receivers =
                step.receivers.iter().filter_map(|&Receiver { thread, edge }| {
                    match self.origins[edge] {
                        Origin::Edge(edge, _) => Some(Receiver { thread, edge }),
                        Origin::Mark | Origin::TooDeep => None,
                    }
                });
            steps.push(WitnessStep {
                thread: step.thread,
                step: taken,
                receivers: receivers.collect(),
                matched,
                globals: values(&step.globals),
                locals: step.locals.clone(),
            });
            transactions.extend(witness.transactions.get(at));
            // Whatever follows the step to a goal is of no interest.
            let to = step.step.edge().map(|edge| self.program.edges[edge].target);
            if to.is_some_and(|to| self.goals.contains(&to)) {
                break;
            }
        }
        MarkedRun::Run(Witness {
            globals: values(&witness.globals),
            locals: witness.locals.clone(),
            steps,
            transactions,
            ..Witness::default()
        })
    }
}

/// A pattern or an automaton, as far as its program with data is concerned.
struct Word {
    phases: Vec<MarkedPhase>,
    /// The threads whose units matter.
    units: Vec<ThreadId>,
    pass: Pass,
}

/// Which observable events may pass in a phase without being matched.
enum Pass {
    /// All but the end of a unit of one of these threads.
    ButEndOf(Vec<Vec<ThreadId>>),
    /// These.
    Only(Vec<BTreeSet<IndexedSymbol>>),
}

impl Word {
    fn pattern(question: &PatternQuestion) -> Self {
        let accesses = question.pattern.accesses;
        let mut units = vec![question.unit_thread];
        if question.needs_unit(UnitRole::Other) {
            units.push(question.other_thread);
        }
        let phases = accesses.iter().map(|&access| MarkedPhase {
            advance: IndexedSymbol {
                thread: question.thread_of(access),
                symbol: question.symbol_of(access),
            },
            in_unit: question.needs_unit(access.role),
        });
        // A unit with some of its accesses behind and some before must not end.
        let is_open = |at: usize, role: UnitRole| {
            let own = |access: &Access| access.role == role;
            question.needs_unit(role)
                && accesses[..at].iter().any(own)
                && accesses[at..].iter().any(own)
        };
        let open = |at: usize| {
            let roles = [UnitRole::Unit, UnitRole::Other];
            let open = roles.into_iter().filter(|&role| is_open(at, role));
            open.map(|role| match role {
                UnitRole::Unit => question.unit_thread,
                UnitRole::Other => question.other_thread,
            })
            .collect()
        };
        let pass = Pass::ButEndOf((0..accesses.len()).map(open).collect());
        Self { phases: phases.collect(), units, pass }
    }

    fn automaton(program: &Program, automaton: &Ipa) -> Self {
        let phases =
            automaton.phases.iter().map(|one| MarkedPhase { advance: one.advance, in_unit: false });
        let pass = automaton.phases.iter().map(|phase| phase.loops.clone()).collect();
        let units = program.threads.ids().collect();
        Self { phases: phases.collect(), units, pass: Pass::Only(pass) }
    }

    /// The phases in which an event may pass; `None` for all.
    fn passes(&self, event: IndexedSymbol) -> Option<Vec<usize>> {
        let phases = 0..self.phases.len();
        match &self.pass {
            Pass::ButEndOf(open) if event.symbol == Observable::EndUnit => {
                Some(phases.filter(|&at| !open[at].contains(&event.thread)).collect())
            }
            Pass::ButEndOf(_) => None,
            Pass::Only(loops) => Some(phases.filter(|&at| loops[at].contains(&event)).collect()),
        }
    }
}

/// A program to which data is added.
struct Marking<'p> {
    program: &'p Program,
    sharing: Sharing,
    out: Program,
    rewrite: Rewrite<'p, Origin>,
    goals: BTreeMap<(ProcedureId, Option<NodeId>), Point>,
}

impl<'p> Marking<'p> {
    fn new(program: &'p Program) -> Self {
        Self {
            program,
            sharing: Sharing::new(program),
            out: program.clone(),
            rewrite: Rewrite::new(program),
            goals: BTreeMap::new(),
        }
    }

    /// A hidden number from 0, at first 0.
    fn counter(&mut self, name: &str, high: i32) -> GlobalId {
        let mut name = format!("#{name}");
        while self.out.globals.iter().any(|global| global.name == name) {
            name.push('\'');
        }
        self.out.globals.push(Global {
            name,
            place: Place::NONE,
            ty: Type::Int { low: 0, high },
            initial: Some(0),
            location: None,
            annotation: None,
            owner: None,
        })
    }

    /// The node of a procedure that says that what is asked for has happened; one for each node that it
    /// happens at, where what is open there must stay nested.
    fn goal(&mut self, procedure: ProcedureId, from: Option<NodeId>) -> Point {
        let rewrite = &mut self.rewrite;
        *self.goals.entry((procedure, from)).or_insert_with(|| rewrite.node(procedure))
    }

    /// A copy of an edge with a further condition and further assignments.
    fn copy(
        &mut self,
        edge: &Edge,
        guard: Option<Expr>,
        assignments: Vec<(GlobalId, Expr)>,
    ) -> Edge {
        let given = edge.update.map(|update| &self.program.updates[update]);
        let mut update = given.cloned().unwrap_or_default();
        update.guard = both(guard, update.guard.take());
        let added =
            assignments.into_iter().map(|(global, value)| (Variable::Global(global), value));
        update.assignments.extend(added);
        let has_update = update != Update::default();
        let update = has_update.then(|| self.out.updates.push(update));
        Edge { update, ..edge.clone() }
    }

    /// The condition that this thread runs, where others may.
    fn running(&self, procedure: ProcedureId, thread: ThreadId) -> Option<Expr> {
        let alone = self.sharing.threads(procedure) == [thread];
        (!alone).then(|| is_me(thread))
    }

    /// Whether others than these threads run a procedure.
    fn has_others(&self, procedure: ProcedureId, threads: &[ThreadId]) -> bool {
        self.sharing.threads(procedure).iter().any(|thread| !threads.contains(thread))
    }

    /// The condition that none of these threads runs, which all run the procedure.
    fn none_of(threads: &[ThreadId]) -> Option<Expr> {
        threads.iter().fold(None, |guard, &thread| both(guard, Some(is_me(thread).not())))
    }

    fn finish(self, exact: bool) -> Marked {
        let points: Vec<Point> = self.goals.values().copied().collect();
        let globals = self.program.globals.len();
        let (program, origins, goals) = self.rewrite.finish(self.out, &points);
        Marked { program, goals, exact, origins, globals }
    }

    /// Adds a pattern or an automaton.
    fn word(mut self, word: &Word) -> Marked {
        let program = self.program;
        let phase = self.counter("phase", code(word.phases.len()));
        let mut depths: BTreeMap<ThreadId, GlobalId> = BTreeMap::new();
        for &thread in &word.units {
            depths.insert(thread, self.counter("units", MOST_UNITS));
        }
        for (id, edge) in program.edges.iter_enumerated() {
            let procedure = program.nodes[edge.source];
            let event = match edge.action {
                Action::Read(location) => Observable::Read(location),
                Action::Write(location) => Observable::Write(location),
                Action::BeginUnit => Observable::BeginUnit,
                Action::EndUnit => Observable::EndUnit,
                _ => {
                    let (from, to) = (Point::Old(edge.source), Point::Old(edge.target));
                    self.rewrite.edge(from, to, edge.clone(), Origin::Edge(id, None));
                    continue;
                }
            };
            let threads = self.sharing.threads(procedure).to_vec();
            let concerned: Vec<ThreadId> = threads
                .into_iter()
                .filter(|&thread| match (&word.pass, event) {
                    (Pass::Only(_), _) => true,
                    (_, Observable::BeginUnit | Observable::EndUnit) => {
                        depths.contains_key(&thread)
                    }
                    _ => word.phases.iter().any(|one| one.advance.thread == thread),
                })
                .collect();
            for &thread in &concerned {
                let symbol = IndexedSymbol { thread, symbol: event };
                let me = self.running(procedure, thread);
                let depth = depths.get(&thread).copied();
                self.event(word, phase, depth, (id, edge), symbol, me.as_ref());
            }
            if self.has_others(procedure, &concerned) {
                let copy = self.copy(edge, Self::none_of(&concerned), Vec::new());
                let (from, to) = (Point::Old(edge.source), Point::Old(edge.target));
                self.rewrite.edge(from, to, copy, Origin::Edge(id, None));
            }
        }
        self.finish(true)
    }

    /// The copies of an edge with an event of a thread.
    fn event(
        &mut self,
        word: &Word,
        phase: GlobalId,
        depth: Option<GlobalId>,
        (id, edge): (EdgeId, &Edge),
        symbol: IndexedSymbol,
        me: Option<&Expr>,
    ) {
        let (from, to) = (Point::Old(edge.source), Point::Old(edge.target));
        let procedure = self.program.nodes[edge.source];
        // The change of the depth, and the condition that the event is one: an outermost unit.
        let (mut assignments, mut outermost) = (Vec::new(), None);
        match (symbol.symbol, depth) {
            (Observable::BeginUnit, Some(depth)) => {
                let deep = equals(depth, MOST_UNITS);
                let goal = self.goal(procedure, None);
                let marks = Edge { action: Action::Skip, volatile: false, ..edge.clone() };
                let marks = Edge { update: None, ..marks };
                let over = self.copy(&marks, both(me.cloned(), Some(deep.clone())), Vec::new());
                self.rewrite.edge(from, goal, over, Origin::TooDeep);
                assignments.push((depth, sum(depth, 1)));
                outermost = Some((equals(depth, 0), Some(deep.not())));
            }
            (Observable::EndUnit, Some(depth)) => {
                assignments.push((depth, sum(depth, -1)));
                outermost = Some((equals(depth, 1), Some(equals(depth, 0).not())));
            }
            _ => {}
        }
        let (is_event, possible) = match outermost {
            None => (None, None),
            Some((is_event, possible)) => (Some(is_event), possible),
        };
        let base = both(me.cloned(), possible);
        // An inner unit is a step like any other.
        if let Some(is_event) = &is_event {
            let guard = both(base.clone(), Some(is_event.clone().not()));
            let copy = self.copy(edge, guard, assignments.clone());
            self.rewrite.edge(from, to, copy, Origin::Edge(id, None));
        }
        let base = both(base, is_event);
        // It passes.
        let guard = match word.passes(symbol) {
            None => Some(base.clone()),
            Some(phases) => {
                let in_phase = phases.iter().map(|&at| equals(phase, code(at)));
                let any = in_phase.reduce(|left, right| left.join(Operator::Or, right));
                any.map(|any| both(base.clone(), Some(any)))
            }
        };
        if let Some(guard) = guard {
            let copy = self.copy(edge, guard, assignments.clone());
            self.rewrite.edge(from, to, copy, Origin::Edge(id, None));
        }
        // It is matched.
        for (at, one) in word.phases.iter().enumerate() {
            if one.advance != symbol {
                continue;
            }
            let mut guard = both(base.clone(), Some(equals(phase, code(at))));
            if let (true, Some(depth)) = (one.in_unit, depth) {
                guard = both(guard, Some(equals(depth, 0).not()));
            }
            let mut assignments = assignments.clone();
            assignments.push((phase, Expr::number(code(at + 1))));
            let copy = self.copy(edge, guard, assignments);
            let last = at + 1 == word.phases.len();
            let target = if last { self.goal(procedure, None) } else { to };
            self.rewrite.edge(from, target, copy, Origin::Edge(id, Some(at as u32 + 1)));
        }
    }

    /// Adds a race.
    fn race(mut self, race: &Race) -> Marked {
        let program = self.program;
        let marks = race.threads.map(|_| self.counter("about", 4));
        for (id, edge) in program.edges.iter_enumerated() {
            let (from, to) = (Point::Old(edge.source), Point::Old(edge.target));
            self.rewrite.edge(from, to, edge.clone(), Origin::Edge(id, None));
        }
        let successors = Successors::new(program);
        let mut exact = true;
        for (node, &procedure) in program.nodes.iter_enumerated() {
            let edges = successors.of(node);
            let accesses = edges.iter().map(|&edge| &program.edges[edge]);
            let accesses: Vec<(&Edge, i32)> = accesses
                .filter_map(|edge| Some((edge, access_code(edge, race.location)?)))
                .collect();
            if accesses.is_empty() {
                continue;
            }
            for (at, &thread) in race.threads.iter().enumerate() {
                if !self.sharing.threads(procedure).contains(&thread) {
                    continue;
                }
                let me = self.running(procedure, thread);
                let marked = self.rewrite.node(procedure);
                for &(edge, code) in &accesses {
                    let conditions = access_conditions(program, edge, race.location);
                    for condition in &conditions {
                        condition.variables(&mut |variable, _| {
                            exact &= !matches!(variable, Variable::Global(_));
                        });
                    }
                    let ready = conditions
                        .into_iter()
                        .cloned()
                        .fold(me.clone(), |all, one| both(all, Some(one)));
                    let bare = Edge {
                        action: Action::Skip,
                        update: None,
                        passing: None,
                        volatile: false,
                        ..edge.clone()
                    };
                    let mark = vec![(marks[at], Expr::number(code))];
                    let mark = self.copy(&bare, ready.clone(), mark);
                    self.rewrite.edge(Point::Old(node), marked, mark, Origin::Mark);
                    let seen = (1..=4).filter(|&other| is_conflict(code, other));
                    let seen = seen.map(|other| equals(marks[1 - at], other));
                    let seen = seen.reduce(|left, right| left.join(Operator::Or, right));
                    let meets = self.copy(&bare, both(ready, seen), Vec::new());
                    let goal = self.goal(procedure, Some(node));
                    self.rewrite.edge(Point::Old(node), goal, meets, Origin::Mark);
                }
                // The thread goes on as it could have without a mark.
                for &id in edges {
                    let edge = &program.edges[id];
                    let clear = vec![(marks[at], Expr::number(0))];
                    let copy = self.copy(edge, None, clear);
                    self.rewrite.edge(
                        marked,
                        Point::Old(edge.target),
                        copy,
                        Origin::Edge(id, None),
                    );
                }
            }
        }
        self.finish(exact)
    }
}

/// An access to a location as a mark: 1 reads, 2 writes, 3 and 4 the same if it is volatile.
fn access_code(edge: &Edge, location: LocationId) -> Option<i32> {
    let plain = match edge.action {
        Action::Read(own) if own == location => 1,
        Action::Write(own) if own == location => 2,
        _ => return None,
    };
    Some(if edge.volatile { plain + 2 } else { plain })
}

/// Whether two accesses race: one of them writes, and one of them is not volatile.
fn is_conflict(left: i32, right: i32) -> bool {
    (left % 2 == 0 || right % 2 == 0) && (left <= 2 || right <= 2)
}

fn both(left: Option<Expr>, right: Option<Expr>) -> Option<Expr> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.join(Operator::And, right)),
        (left, right) => left.or(right),
    }
}

fn is_me(thread: ThreadId) -> Expr {
    Expr::Me.join(Operator::Equal, Expr::Constant(Literal::Thread(Some(thread))))
}

fn equals(global: GlobalId, value: i32) -> Expr {
    Expr::Current(Variable::Global(global)).join(Operator::Equal, Expr::number(value))
}

fn sum(global: GlobalId, value: i32) -> Expr {
    Expr::Current(Variable::Global(global)).join(Operator::Add, Expr::number(value))
}

/// A small number as a value.
fn code(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
