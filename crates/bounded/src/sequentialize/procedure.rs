//! # Idea
//! The translation of one procedure. Every node stays; every edge becomes one edge per round, each
//! over the copy of that round, or a single one if it has nothing to do with shared data. Beside
//! them a node may have an edge to itself that advances the round, and one that leaves the thread.
//!
//! # Source
//! Paper 001 Fig. 1, second column, with the corrections of ERRATA (001): the edge of a node to
//! itself may be taken any number of times, also before the first statement; a thread that leaves
//! raises a flag, and every call that returns with the flag up returns at once; an assertion that
//! fails raises the flag `error` and leaves.
//!
//! # Invariants
//! 1. Between two nodes of the source, the round does not advance and the thread does not leave:
//!    what was one step stays within one round.
//! 2. Calls, returns and assertions carry no update of their own.

use super::depth::{Depths, Inside};
use super::steps::{Steps, thread_of};
use super::variables::Variables;
use crate::expr::{all, current, mentions_globals, negation};
use selvedge_base::{Id, IdVec, Place};
use selvedge_program::{
    Action, Edge, Expr, Frame, GlobalId, NodeId, Operator, Passing, PassingId, Procedure,
    ProcedureId, Program, Start, ThreadId, Update, Variable,
};

/// Where the activations of a translated procedure come from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Entered {
    /// From a call, which is a step of its thread.
    ByCall,
    /// From the beginning of the thread, which is no step.
    AtStart,
}

/// What the translation reads and writes.
pub struct Translation<'a> {
    /// The concurrent program.
    pub source: &'a Program,
    /// The globals.
    pub variables: &'a Variables,
    /// The atomic sections.
    pub depths: &'a Depths,
    /// Where the round advances and threads leave.
    pub steps: &'a Steps,
    /// Per thread, the flag that says that it stopped where the target wants it.
    pub there: &'a IdVec<ThreadId, Option<GlobalId>>,
    /// Whether a failing assertion is the target.
    pub assertions: bool,
    /// How many rounds there are.
    pub rounds: u32,
    /// The sequential program.
    pub out: &'a mut Program,
}

/// What a step asks for and changes. Expressions of the source get a copy per round.
#[derive(Clone, Default)]
pub struct Parts {
    /// Conditions of the source.
    pub guards: Vec<Expr>,
    /// Targets and expressions of the source.
    pub assignments: Vec<(Variable, Expr)>,
    /// A constraint of the source.
    pub constraint: Option<Expr>,
    /// Expressions of the source for globals of the sequential program.
    pub saved: Vec<(GlobalId, Expr)>,
    /// Globals of the sequential program for targets of the source.
    pub loaded: Vec<(Variable, GlobalId)>,
    /// The thread that is started.
    pub starts: Option<ThreadId>,
    /// Conditions of the sequential program.
    pub own_guards: Vec<Expr>,
    /// Assignments of the sequential program.
    pub own_assignments: Vec<(GlobalId, Expr)>,
}

impl Parts {
    /// A step that only asks for a condition of the source.
    fn asking(condition: &Expr) -> Self {
        Self { guards: vec![condition.clone()], ..Self::default() }
    }

    /// Whether the step has anything to do with what is shared.
    fn is_shared(&self) -> bool {
        let values = self.assignments.iter().map(|(_, value)| value);
        let saved = self.saved.iter().map(|(_, value)| value);
        let mut all = self.guards.iter().chain(&self.constraint).chain(values).chain(saved);
        let is_global = |target: &Variable| matches!(target, Variable::Global(_));
        self.starts.is_some()
            || all.any(mentions_globals)
            || self.assignments.iter().any(|(target, _)| is_global(target))
            || self.loaded.iter().any(|(target, _)| is_global(target))
    }
}

impl Translation<'_> {
    /// Adds the translation of a procedure.
    pub fn procedure(&mut self, id: ProcedureId, entered: Entered, name: String) {
        let source = self.source;
        let procedure = &source.procedures[id];
        let new = self.out.procedures.next_id();
        // The model: nodes and edges are grouped by procedure.
        let nodes = source.nodes.as_slice();
        let first = nodes.partition_point(|&owner| owner < id);
        let end = nodes.partition_point(|&owner| owner <= id);
        let edges = source.edges.as_slice();
        let edges = &edges[edges.partition_point(|edge| source.nodes[edge.source] < id)
            ..edges.partition_point(|edge| source.nodes[edge.source] <= id)];
        let base = self.out.nodes.len();
        for _ in first..end {
            self.out.nodes.push(new);
        }
        let gone = self.out.nodes.push(new);
        let exit = self.out.nodes.push(new);
        let enforced = procedure.frame.enforced.map(|id| &source.conditions[id]);
        let mut body =
            Body { all: self, new, first, base, gone, exit, enforced, place: procedure.place };
        // A call is a step of its thread, so what the callee enforces must hold after it.
        let mut entry = body.map(procedure.entry);
        if let (Some(condition), Entered::ByCall) = (enforced, entered) {
            let checked = std::mem::replace(&mut entry, body.node());
            body.in_rounds(entry, checked, &Parts::asking(condition));
        }
        for node in first..end {
            body.scheduling(NodeId::from_index(node));
        }
        for edge in edges {
            body.place = edge.place;
            body.edge(edge);
        }
        body.place = procedure.end;
        let ends = enforced.map_or_else(Parts::default, Parts::asking);
        let last = body.map(procedure.exit);
        body.in_rounds(last, exit, &ends);
        body.unwind(procedure.frame.results.len());
        self.out.procedures.push(Procedure {
            name,
            owner: Some(ThreadId::from_index(0)),
            place: procedure.place,
            end: procedure.end,
            entry,
            exit,
            frame: Frame { enforced: None, ..procedure.frame.clone() },
        });
    }
}

/// A procedure that is being translated.
struct Body<'t, 'a> {
    all: &'t mut Translation<'a>,
    new: ProcedureId,
    /// The first node in the source, and its translation.
    first: usize,
    base: usize,
    /// Where a thread that leaves goes.
    gone: NodeId,
    exit: NodeId,
    enforced: Option<&'a Expr>,
    place: Place,
}

impl Body<'_, '_> {
    fn map(&self, node: NodeId) -> NodeId {
        NodeId::from_index(self.base + node.index() - self.first)
    }

    fn node(&mut self) -> NodeId {
        self.all.out.nodes.push(self.new)
    }

    /// Advancing, leaving and reaching the target at a node of the source.
    fn scheduling(&mut self, node: NodeId) {
        let steps = self.all.steps;
        let variables = self.all.variables;
        let here = self.map(node);
        let outside = match self.all.depths.inside[node] {
            Inside::Never => Some(None),
            Inside::Depends => Some(Some(current(variables.atomic[0]).not())),
            Inside::Always => None,
        };
        if let Some(outside) = outside {
            if let Some(not_last) = variables.not_last().filter(|_| steps.advance[node]) {
                let guard = all(std::iter::once(not_last).chain(outside.clone()));
                self.update(here, here, guard, variables.increment(), None);
            }
            if steps.leave[node] {
                let mut raised = vec![raise(variables.leave)];
                if steps.there[node] {
                    let thread = thread_of(self.all.source, node);
                    raised.extend(self.all.there[thread].map(raise));
                }
                self.update(here, self.gone, outside, raised, None);
            }
        }
        if steps.label[node] {
            let raised = vec![raise(variables.error), raise(variables.leave)];
            self.update(here, self.gone, None, raised, None);
        }
    }

    /// From [`Body::gone`] out of the procedure.
    fn unwind(&mut self, results: usize) {
        let action = if results == 0 {
            Action::Skip
        } else {
            Action::Return(self.all.out.returns.push(vec![Expr::FALSE; results]))
        };
        self.action(self.gone, self.exit, action, None);
    }

    fn edge(&mut self, edge: &Edge) {
        let source = self.map(edge.source);
        let target = self.map(edge.target);
        let mut parts = Parts::default();
        if let Some(id) = edge.update {
            let update = &self.all.source.updates[id];
            parts.guards.extend(update.guard.clone());
            parts.assignments.clone_from(&update.assignments);
            parts.constraint.clone_from(&update.constraint);
        }
        match edge.action {
            Action::Call(callee) => return self.call(edge, callee, parts),
            Action::Return(id) => {
                let values = &self.all.source.returns[id];
                let (at, values) = self.before(source, parts, values, &self.all.variables.returned);
                let action = Action::Return(self.all.out.returns.push(values));
                return self.action(at, self.exit, action, None);
            }
            Action::Assert(id) => {
                let condition = &self.all.source.conditions[id];
                self.fail(source, &parts, condition);
                parts.guards.push(condition.clone());
            }
            Action::Start(thread) => {
                let known = &self.all.variables.arguments[thread];
                let passing = edge.passing.map(|id| &self.all.source.passings[id]);
                for (&known, value) in known.iter().zip(passing.iter().flat_map(|p| &p.arguments)) {
                    // The source expression gets a copy per round on the way through `saved`.
                    parts.saved.push((known, value.clone()));
                }
                parts.starts = Some(thread);
                self.start_reaches(source, thread, &parts);
            }
            Action::Join(_) => unreachable!("joins have become data"),
            Action::Wait(_) | Action::Resume(_) | Action::Notify(_) | Action::NotifyAll(_) => {
                unreachable!("waits were refused")
            }
            Action::Send(_) | Action::Post(_) | Action::Broadcast(_) | Action::Recv(_) => {
                unreachable!("channels were refused")
            }
            Action::BeginAtomic => parts.own_assignments = self.deeper(),
            Action::EndAtomic => {
                if self.all.depths.inside[edge.source] == Inside::Never {
                    return;
                }
                parts.own_guards.extend(self.all.variables.atomic.first().map(|&one| current(one)));
                parts.own_assignments = self.shallower();
            }
            Action::Skip
            | Action::Read(_)
            | Action::Write(_)
            | Action::BeginUnit
            | Action::EndUnit
            | Action::Acquire(_)
            | Action::Release(_) => {}
        }
        match self.enforced {
            None => self.in_rounds(source, target, &parts),
            Some(condition) => {
                parts.guards.push(condition.clone());
                let done = self.node();
                self.in_rounds(source, done, &parts);
                self.in_rounds(done, target, &Parts::asking(condition));
            }
        }
    }

    fn call(&mut self, edge: &Edge, callee: ProcedureId, parts: Parts) {
        let nothing = Passing::default();
        let passing = edge.passing.map_or(&nothing, |id| &self.all.source.passings[id]);
        let variables = self.all.variables;
        let source = self.map(edge.source);
        let (at, arguments) = self.before(source, parts, &passing.arguments, &variables.passed);
        // Results for globals wait in temporaries: only the return knows the round, and whether
        // they are results or the thread has left.
        let mut after =
            Parts { own_guards: vec![current(variables.leave).not()], ..Parts::default() };
        let mut results = Vec::with_capacity(passing.results.len());
        for &result in &passing.results {
            results.push(match result {
                Some(global @ Variable::Global(_)) => {
                    let waiting = variables.results[after.loaded.len()];
                    after.loaded.push((global, waiting));
                    after.own_assignments.push((waiting, Expr::FALSE));
                    Some(Variable::Global(waiting))
                }
                other => other,
            });
        }
        let returned = self.node();
        let passing = (!arguments.is_empty() || !results.is_empty())
            .then(|| self.all.out.passings.push(Passing { arguments, results }));
        let callee = ProcedureId::from_index(callee.index() + 1);
        self.action(at, returned, Action::Call(callee), passing);
        self.update(returned, self.gone, Some(current(variables.leave)), Vec::new(), None);
        let target = self.map(edge.target);
        match self.enforced {
            None => self.in_rounds(returned, target, &after),
            Some(condition) => {
                let done = self.node();
                self.in_rounds(returned, done, &after);
                self.in_rounds(done, target, &Parts::asking(condition));
            }
        }
    }

    /// What has to happen before a call or a return, whose values are evaluated first; gives the
    /// node of the call or return itself, and the values there.
    fn before(
        &mut self,
        source: NodeId,
        mut parts: Parts,
        values: &[Expr],
        temporaries: &[GlobalId],
    ) -> (NodeId, Vec<Expr>) {
        let saves = !parts.assignments.is_empty();
        if saves {
            parts.saved.extend(temporaries.iter().copied().zip(values.iter().cloned()));
        }
        parts.guards.extend(self.enforced.cloned());
        let silent = parts.guards.is_empty() && !saves && parts.constraint.is_none();
        let at = if silent { source } else { self.node() };
        if !silent {
            self.in_rounds(source, at, &parts);
        }
        let values = if saves {
            temporaries[..values.len()].iter().map(|&one| current(one)).collect()
        } else {
            values.iter().map(|value| self.all.variables.in_current_round(value)).collect()
        };
        (at, values)
    }

    /// An assertion that fails.
    fn fail(&mut self, source: NodeId, parts: &Parts, condition: &Expr) {
        if !self.all.assertions {
            return;
        }
        let mut failing = Parts { guards: parts.guards.clone(), ..Parts::default() };
        failing.guards.extend(self.enforced.cloned());
        failing.guards.push(negation(condition));
        let flags = [self.all.variables.error, self.all.variables.leave];
        failing.own_assignments.extend(flags.map(|flag| (flag, Expr::TRUE)));
        self.in_rounds(source, self.gone, &failing);
    }

    /// A start brings the started thread to a node of the target, whoever moves next.
    fn start_reaches(&mut self, source: NodeId, thread: ThreadId, parts: &Parts) {
        let main = self.all.source.threads[thread].main;
        if !self.all.steps.label[self.all.source.procedures[main].entry] {
            return;
        }
        let mut reaching = parts.clone();
        reaching.guards.extend(self.enforced.cloned());
        let flags = [self.all.variables.error, self.all.variables.leave];
        reaching.own_assignments.extend(flags.map(|flag| (flag, Expr::TRUE)));
        let done = match self.enforced {
            None => self.gone,
            Some(condition) => {
                let done = self.node();
                self.in_rounds(done, self.gone, &Parts::asking(condition));
                done
            }
        };
        self.in_rounds(source, done, &reaching);
    }

    /// One level deeper inside atomic sections.
    fn deeper(&self) -> Vec<(GlobalId, Expr)> {
        let atomic = &self.all.variables.atomic;
        let before = std::iter::once(Expr::TRUE).chain(atomic.iter().map(|&g| current(g)));
        atomic.iter().copied().zip(before).collect()
    }

    /// One level less deep inside atomic sections.
    fn shallower(&self) -> Vec<(GlobalId, Expr)> {
        let atomic = &self.all.variables.atomic;
        let after = atomic.iter().skip(1).map(|&global| current(global));
        let after = after.chain(std::iter::once(Expr::FALSE));
        atomic.iter().copied().zip(after).collect()
    }

    /// The step in every round, over the copy of that round; a single edge if nothing is shared.
    fn in_rounds(&mut self, source: NodeId, target: NodeId, parts: &Parts) {
        let variables = self.all.variables;
        let rounds = if parts.is_shared() { self.all.rounds } else { 1 };
        for round in 0..rounds {
            let mut guards: Vec<Expr> = parts.own_guards.clone();
            if rounds > 1 {
                guards.extend(variables.in_round(round));
            }
            guards.extend(parts.guards.iter().map(|guard| variables.at(guard, round)));
            let mut assignments: Vec<(Variable, Expr)> = Vec::new();
            for (target, value) in &parts.assignments {
                let target = variables.variable_at(*target, round);
                assignments.push((target, variables.at(value, round)));
            }
            for &(target, value) in &parts.loaded {
                assignments.push((variables.variable_at(target, round), current(value)));
            }
            if let Some(thread) = parts.starts {
                for (known, value) in &parts.saved {
                    let same = current(*known).join(Operator::Equal, variables.at(value, round));
                    guards.push(same);
                }
                let copy = |thread: ThreadId| {
                    let copies = variables.started[thread].as_ref();
                    copies.expect("the model: a started thread waits").rounds[round as usize]
                };
                guards.push(current(copy(thread)).not());
                if let Start::ByEdge { after: Some(after) } = self.all.source.threads[thread].start
                {
                    guards.push(current(copy(after)));
                }
                assignments.push((Variable::Global(copy(thread)), Expr::TRUE));
            } else {
                for (target, value) in &parts.saved {
                    assignments.push((Variable::Global(*target), variables.at(value, round)));
                }
            }
            let own = parts.own_assignments.iter().cloned();
            assignments.extend(own.map(|(target, value)| (Variable::Global(target), value)));
            let constraint = parts.constraint.as_ref().map(|one| variables.at(one, round));
            self.update(source, target, all(guards), assignments, constraint);
        }
    }

    fn update(
        &mut self,
        source: NodeId,
        target: NodeId,
        guard: Option<Expr>,
        assignments: Vec<(Variable, Expr)>,
        constraint: Option<Expr>,
    ) {
        let update = Update { guard, assignments, constraint };
        let update = (update != Update::default()).then(|| self.all.out.updates.push(update));
        let place = self.place;
        let action = Action::Skip;
        self.all.out.edges.push(Edge {
            source,
            target,
            action,
            update,
            passing: None,
            place,
            volatile: false,
        });
    }

    fn action(
        &mut self,
        source: NodeId,
        target: NodeId,
        action: Action,
        passing: Option<PassingId>,
    ) {
        let place = self.place;
        self.all.out.edges.push(Edge {
            source,
            target,
            action,
            update: None,
            passing,
            place,
            volatile: false,
        });
    }
}

fn raise(flag: GlobalId) -> (Variable, Expr) {
    (Variable::Global(flag), Expr::TRUE)
}
