//! # Idea
//! Which threads have the same text. They run the same procedures; or each runs procedures of its own
//! that come from the same places of the source, and differ in variables that are its own alone.
//!
//! # Invariants
//! 1. Replacing the variables of one thread by those of the other turns the text of the one into that of
//!    the other, and nobody else mentions these variables.

use super::{OwnText, thread_of};
use crate::{
    Action, Annotation, Array, ConditionId, Edge, EdgeId, Expr, Global, GlobalId, Literal, Local,
    NodeId, Passing, ProcedureId, Program, Sharing, Start, Thread, ThreadId, Type, Update, Value,
    Variable,
};
use selvedge_base::{Id, IdVec, Place};
use std::collections::{BTreeMap, BTreeSet};

/// What texts mention.
pub(super) struct Texts<'p> {
    program: &'p Program,
    sharing: Sharing,
    /// The threads whose own procedures mention each global; nothing where anybody else does.
    users: IdVec<GlobalId, Option<BTreeSet<ThreadId>>>,
    /// The threads that some text names: by a join, or as a value.
    pub named: BTreeSet<ThreadId>,
    edges: IdVec<ProcedureId, std::ops::Range<usize>>,
    nodes: IdVec<ProcedureId, std::ops::Range<usize>>,
}

impl<'p> Texts<'p> {
    /// The texts of a valid program.
    pub fn new(program: &'p Program) -> Self {
        let ranges = |owners: &mut dyn Iterator<Item = ProcedureId>| {
            let mut ranges = IdVec::filled(0..0, program.procedures.len());
            for (at, owner) in owners.enumerate() {
                let range: &mut std::ops::Range<usize> = &mut ranges[owner];
                *range = if range.start == range.end { at..at + 1 } else { range.start..at + 1 };
            }
            ranges
        };
        let mut texts = Self {
            program,
            sharing: Sharing::new(program),
            users: IdVec::filled(Some(BTreeSet::new()), program.globals.len()),
            named: BTreeSet::new(),
            nodes: ranges(&mut program.nodes.iter().copied()),
            edges: ranges(&mut program.edges.iter().map(|edge| program.nodes[edge.source])),
        };
        texts.survey();
        texts
    }

    fn survey(&mut self) {
        let program = self.program;
        for procedure in program.procedures.ids() {
            let owner = program.procedures[procedure].owner;
            let (mut globals, mut named) = (BTreeSet::new(), BTreeSet::new());
            self.for_each(procedure, &mut |expr| mentions(expr, &mut globals, &mut named));
            for edge in self.edges(procedure) {
                let update = edge.update.map(|id| &program.updates[id]);
                let targets = update.iter().flat_map(|one| &one.assignments).map(|one| one.0);
                let passing = edge.passing.map(|id| &program.passings[id]);
                let results = passing.iter().flat_map(|one| one.results.iter().copied().flatten());
                globals.extend(targets.chain(results).filter_map(global));
                if let Action::Join(joined) = edge.action {
                    named.insert(joined);
                }
            }
            for global in globals {
                self.note(global, owner);
            }
            self.named.extend(named);
        }
        let predicates = program.globals.iter().filter_map(|one| match one.annotation {
            Some(Annotation::ExclusiveWhen(id)) => Some(id),
            _ => None,
        });
        let conditions = program.invariants.iter().map(|one| one.condition).chain(predicates);
        for id in conditions {
            let mut globals = BTreeSet::new();
            mentions(&program.conditions[id], &mut globals, &mut self.named);
            for global in globals {
                self.note(global, None);
            }
        }
        let locals = program.procedures.iter().flat_map(|one| &one.frame.locals);
        let locals = locals.map(|local| (local.ty, local.initial));
        let globals = program.globals.iter().map(|global| (global.ty, global.initial));
        for (ty, initial) in locals.chain(globals) {
            self.named.extend(initial.and_then(|value| thread_of(ty, value)));
        }
    }

    fn note(&mut self, global: GlobalId, owner: Option<ThreadId>) {
        let users = &mut self.users[global];
        match owner {
            Some(owner) => _ = users.as_mut().map(|users| users.insert(owner)),
            None => *users = None,
        }
    }

    fn edges(&self, procedure: ProcedureId) -> impl Iterator<Item = &'p Edge> + use<'p> {
        let program = self.program;
        self.edges[procedure].clone().map(|at| &program.edges[EdgeId::from_index(at)])
    }

    /// Visits all expressions of a procedure.
    fn for_each(&self, procedure: ProcedureId, mut visit: &mut dyn FnMut(&Expr)) {
        let program = self.program;
        let enforced = program.procedures[procedure].frame.enforced;
        if let Some(id) = enforced {
            visit(&program.conditions[id]);
        }
        for edge in self.edges(procedure) {
            if let Some(update) = edge.update.map(|id| &program.updates[id]) {
                let values = update.assignments.iter().map(|one| &one.1);
                update.guard.iter().chain(values).chain(&update.constraint).for_each(&mut visit);
            }
            if let Some(passing) = edge.passing.map(|id| &program.passings[id]) {
                passing.arguments.iter().for_each(&mut visit);
            }
            match edge.action {
                Action::Assert(id) => visit(&program.conditions[id]),
                Action::Return(id) => program.returns[id].iter().for_each(&mut visit),
                _ => {}
            }
        }
    }

    /// The thread whose own a global is.
    pub fn user(&self, global: GlobalId) -> Option<ThreadId> {
        let users = self.users[global].as_ref()?;
        users.first().copied().filter(|_| users.len() == 1)
    }

    /// Whether a thread asks who it is, or keeps the names of threads.
    pub fn knows_threads(&self, thread: ThreadId) -> bool {
        self.sharing.procedures(thread).iter().any(|&procedure| {
            let mut asks = false;
            let who = &mut |part: &Expr| matches!(part, Expr::Me | Expr::Copy);
            self.for_each(procedure, &mut |expr| asks |= expr.any(who));
            let frame = &self.program.procedures[procedure].frame;
            asks || frame.locals.iter().any(|local| local.ty == Type::Thread)
        })
    }

    /// What two threads have of their own, if their texts are the same but for that.
    pub fn alike(&self, one: ThreadId, other: ThreadId) -> Option<(OwnText, OwnText)> {
        let program = self.program;
        let (first, second) = (&program.threads[one], &program.threads[other]);
        let at_first = |thread: &Thread| thread.start == Start::AtFirst;
        if first.copies != second.copies || at_first(first) != at_first(second) {
            return None;
        }
        if first.main == second.main {
            return Some((OwnText::default(), OwnText::default()));
        }
        // Other threads with the same text have other places in the source.
        let places = [first, second].map(|one| program.procedures[one.main].place);
        let one_text = places[0] == places[1] && places[0] != Place::NONE;
        let one_process =
            || process(&first.name).is_some_and(|one| Some(one) == process(&second.name));
        if !one_text && !one_process() {
            return None;
        }
        let own = |thread: ThreadId| -> Vec<ProcedureId> {
            let all = program.procedures.iter_enumerated();
            all.filter(|(_, one)| one.owner == Some(thread)).map(|(id, _)| id).collect()
        };
        let (left, right) = (own(one), own(other));
        if left.len() != right.len() || left.is_empty() {
            return None;
        }
        let mut comparison = Comparison {
            texts: self,
            threads: (one, other),
            firsts: (left[0].index(), right[0].index()),
            count: left.len(),
            globals: BTreeMap::new(),
        };
        let mains = (first.main, second.main);
        let same = comparison.procedure_of(mains.0) == Some(mains.1)
            && left.iter().zip(&right).all(|(&one, &other)| comparison.procedures(one, other));
        let images: BTreeSet<GlobalId> = comparison.globals.values().copied().collect();
        if !same || images.len() != comparison.globals.len() {
            return None;
        }
        let moved: Vec<(GlobalId, GlobalId)> =
            comparison.globals.into_iter().filter(|(from, to)| from != to).collect();
        let text = |procedures: &[ProcedureId], globals: Vec<GlobalId>| {
            let (first, last) = (procedures[0], procedures[procedures.len() - 1]);
            OwnText {
                nodes: self.nodes[first].start..self.nodes[last].end,
                edges: first_edge(&self.edges, procedures)..last_edge(&self.edges, procedures),
                globals,
            }
        };
        let (from, to) = moved.into_iter().unzip();
        Some((text(&left, from), text(&right, to)))
    }
}

/// The name of the process of which a thread is a copy.
fn process(thread: &str) -> Option<&str> {
    thread.strip_suffix(']').and_then(|name| name.rsplit_once('[')).map(|(process, _)| process)
}

fn first_edge(
    edges: &IdVec<ProcedureId, std::ops::Range<usize>>,
    procedures: &[ProcedureId],
) -> usize {
    let with_edges = procedures.iter().map(|&id| &edges[id]).find(|range| !range.is_empty());
    with_edges.map_or(0, |range| range.start)
}

fn last_edge(
    edges: &IdVec<ProcedureId, std::ops::Range<usize>>,
    procedures: &[ProcedureId],
) -> usize {
    procedures.iter().map(|&id| edges[id].end).max().unwrap_or(0)
}

/// A comparison of what two threads own.
struct Comparison<'t, 'p> {
    texts: &'t Texts<'p>,
    threads: (ThreadId, ThreadId),
    /// The first procedures that they own, which follow each other.
    firsts: (usize, usize),
    count: usize,
    /// The global of the second thread for each global that the first one mentions.
    globals: BTreeMap<GlobalId, GlobalId>,
}

impl Comparison<'_, '_> {
    /// The procedure of the second thread for one of the first.
    fn procedure_of(&self, procedure: ProcedureId) -> Option<ProcedureId> {
        match procedure.index().checked_sub(self.firsts.0).filter(|&at| at < self.count) {
            Some(at) => Some(ProcedureId::from_index(self.firsts.1 + at)),
            None => self.texts.program.procedures[procedure].owner.is_none().then_some(procedure),
        }
    }

    fn procedures(&mut self, one: ProcedureId, other: ProcedureId) -> bool {
        let texts = self.texts;
        let program = texts.program;
        let (left, right) = (&program.procedures[one], &program.procedures[other]);
        let (nodes, others) = (texts.nodes[one].clone(), texts.nodes[other].clone());
        let moved = |node: NodeId| node.index() + others.start - nodes.start;
        let types = |locals: &IdVec<_, Local>| -> Vec<(Type, Option<Value>)> {
            locals.iter().map(|local| (local.ty, local.initial)).collect()
        };
        let frames = left.frame.parameters == right.frame.parameters
            && left.frame.results == right.frame.results
            && types(&left.frame.locals) == types(&right.frame.locals);
        let same = frames
            && nodes.len() == others.len()
            && moved(left.entry) == right.entry.index()
            && moved(left.exit) == right.exit.index()
            && texts.edges[one].len() == texts.edges[other].len()
            && self.conditions(left.frame.enforced, right.frame.enforced);
        same && texts.edges(one).zip(texts.edges(other)).all(|(left, right)| {
            moved(left.source) == right.source.index()
                && moved(left.target) == right.target.index()
                && (left.volatile, left.place) == (right.volatile, right.place)
                && self.actions(left.action, right.action)
                && self.updates(
                    left.update.map(|id| &program.updates[id]),
                    right.update.map(|id| &program.updates[id]),
                )
                && self.passings(
                    left.passing.map(|id| &program.passings[id]),
                    right.passing.map(|id| &program.passings[id]),
                )
        })
    }

    fn actions(&mut self, left: Action, right: Action) -> bool {
        let program = self.texts.program;
        match (left, right) {
            (Action::Call(left), Action::Call(right)) => self.procedure_of(left) == Some(right),
            (Action::Assert(left), Action::Assert(right)) => {
                self.conditions(Some(left), Some(right))
            }
            (Action::Return(left), Action::Return(right)) => {
                self.lists(&program.returns[left], &program.returns[right])
            }
            (left, right) => left == right,
        }
    }

    fn conditions(&mut self, left: Option<ConditionId>, right: Option<ConditionId>) -> bool {
        let program = self.texts.program;
        let left = left.map(|id| &program.conditions[id]);
        self.optional(left, right.map(|id| &program.conditions[id]))
    }

    fn optional(&mut self, left: Option<&Expr>, right: Option<&Expr>) -> bool {
        match (left, right) {
            (Some(left), Some(right)) => self.expressions(left, right),
            (left, right) => left.is_none() && right.is_none(),
        }
    }

    fn lists(&mut self, left: &[Expr], right: &[Expr]) -> bool {
        left.len() == right.len()
            && left.iter().zip(right).all(|(left, right)| self.expressions(left, right))
    }

    fn updates(&mut self, left: Option<&Update>, right: Option<&Update>) -> bool {
        let (Some(left), Some(right)) = (left, right) else {
            return left.is_none() && right.is_none();
        };
        let pairs = left.assignments.iter().zip(&right.assignments);
        left.assignments.len() == right.assignments.len()
            && self.optional(left.guard.as_ref(), right.guard.as_ref())
            && self.optional(left.constraint.as_ref(), right.constraint.as_ref())
            && pairs.into_iter().all(|(left, right)| {
                self.variables(left.0, right.0) && self.expressions(&left.1, &right.1)
            })
    }

    fn passings(&mut self, left: Option<&Passing>, right: Option<&Passing>) -> bool {
        let (Some(left), Some(right)) = (left, right) else {
            return left.is_none() && right.is_none();
        };
        let results = left.results.iter().zip(&right.results);
        left.results.len() == right.results.len()
            && self.lists(&left.arguments, &right.arguments)
            && results.into_iter().all(|pair| match pair {
                (Some(left), Some(right)) => self.variables(*left, *right),
                (left, right) => left.is_none() && right.is_none(),
            })
    }

    fn variables(&mut self, left: Variable, right: Variable) -> bool {
        let (Variable::Global(left), Variable::Global(right)) = (left, right) else {
            return left == right;
        };
        if let Some(&known) = self.globals.get(&left) {
            return known == right;
        }
        let globals = &self.texts.program.globals;
        let kind = |one: &Global| (one.ty, one.initial, one.location, one.annotation, one.owner);
        let own = |global: GlobalId, thread: ThreadId| {
            let users = self.texts.users[global].as_ref();
            users.is_some_and(|users| users.iter().eq([&thread]))
        };
        let fits = left == right
            || kind(&globals[left]) == kind(&globals[right])
                && globals[left].ty != Type::Thread
                && own(left, self.threads.0)
                && own(right, self.threads.1);
        self.globals.insert(left, right);
        fits
    }

    fn arrays(&mut self, left: Array, right: Array) -> bool {
        left.length == right.length
            && left
                .elements()
                .zip(right.elements())
                .all(|(left, right)| self.variables(left, right))
    }

    fn expressions(&mut self, left: &Expr, right: &Expr) -> bool {
        let same = match (left, right) {
            (Expr::Constant(left), Expr::Constant(right)) => left == right,
            (Expr::Choice, Expr::Choice)
            | (Expr::Choose(..), Expr::Choose(..))
            | (Expr::Not(_), Expr::Not(_))
            | (Expr::Negate(_), Expr::Negate(_))
            | (Expr::Ite(_), Expr::Ite(_)) => true,
            (Expr::Current(left), Expr::Current(right)) | (Expr::Next(left), Expr::Next(right)) => {
                self.variables(*left, *right)
            }
            (Expr::Element(left, _), Expr::Element(right, _)) => self.arrays(*left, *right),
            (Expr::Binary(left, ..), Expr::Binary(right, ..)) => left == right,
            _ => false,
        };
        same && left.parts().zip(right.parts()).all(|(left, right)| self.expressions(left, right))
    }
}

fn global(variable: Variable) -> Option<GlobalId> {
    match variable {
        Variable::Global(global) => Some(global),
        Variable::Local(_) => None,
    }
}

/// Notes the globals and the threads that an expression names.
fn mentions(expr: &Expr, globals: &mut BTreeSet<GlobalId>, named: &mut BTreeSet<ThreadId>) {
    expr.variables(&mut |variable, _| globals.extend(global(variable)));
    expr.any(&mut |part| {
        if let Expr::Constant(Literal::Thread(Some(thread))) = part {
            named.insert(*thread);
        }
        false
    });
}
