//! # Idea
//! The statements of one procedure. Its nodes are put in a row; where a statement leads to the next
//! one execution simply goes on, all other ways become jumps.

mod getafix;
mod lines;

use super::expression::{both, expression, unchanged};
use super::names::Taken;
use super::{Overview, Unprintable};
use crate::dialect::Dialect;
use lines::{Item, JumpTarget, Line};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Id, IdVec, Place};
use selvedge_program::{
    Action, Edge, EdgeId, Expr, Label, LocalId, NodeId, Passing, Procedure, ProcedureId, Program,
    Update, Variable,
};

/// The text of a procedure, in parts.
pub struct Body {
    /// The parameters and the locals, those that were added last.
    pub locals: Vec<String>,
    pub enforced: Option<String>,
    pub statements: String,
}

impl Body {
    /// The text of a procedure.
    pub fn new(
        overview: &Overview,
        program: &Program,
        id: ProcedureId,
        globals: &[String],
        functions: &IdVec<ProcedureId, String>,
    ) -> Result<Self, Unprintable> {
        let procedure = &program.procedures[id];
        let mut taken = Taken::new(overview.dialect);
        for global in globals {
            taken.reserve(global);
        }
        let locals = procedure.frame.locals.iter().map(|local| taken.fresh(&local.name)).collect();
        let mut writer = Writer {
            dialect: overview.dialect,
            overview,
            program,
            id,
            procedure,
            globals,
            functions,
            taken,
            locals,
            labelled: FxHashSet::default(),
            items: Vec::new(),
            extras: 0,
            choices: Vec::new(),
            drawn: 0,
        };
        writer.labelled = writer.own_labels().map(|label| label.node).collect();
        let enforced =
            procedure.frame.enforced.map(|id| writer.expression(&program.conditions[id]));
        let order = writer.order();
        let entry = procedure.entry;
        if order.first().is_some_and(|&first| first != entry) && entry != procedure.exit {
            writer.put(&mut None, Place::NONE, Line::Jump(vec![JumpTarget::Node(entry)]));
        }
        for (at, &node) in order.iter().enumerate() {
            let next = order.get(at + 1).copied().unwrap_or(procedure.exit);
            writer.node(node, next)?;
        }
        if writer.items.is_empty() {
            writer.put(&mut None, Place::NONE, Line::Statement("skip;".to_owned()));
        }
        let statements = writer.render(&order);
        Ok(Self { locals: writer.locals, enforced, statements })
    }
}

struct Writer<'w> {
    dialect: Dialect,
    overview: &'w Overview,
    program: &'w Program,
    id: ProcedureId,
    procedure: &'w Procedure,
    globals: &'w [String],
    functions: &'w IdVec<ProcedureId, String>,
    taken: Taken,
    locals: Vec<String>,
    /// The nodes that have a label in the program.
    labelled: FxHashSet<NodeId>,
    items: Vec<Item>,
    extras: usize,
    /// The locals that stand for choices, and how many of them the statement uses so far.
    choices: Vec<LocalId>,
    drawn: usize,
}

impl Writer<'_> {
    fn edges(&self, node: NodeId) -> &[EdgeId] {
        self.overview.successors.of(node)
    }

    fn edge(&self, id: EdgeId) -> &Edge {
        &self.program.edges[id]
    }

    fn own_labels(&self) -> impl Iterator<Item = &Label> {
        self.overview.labels[self.id].iter().map(|&at| &self.program.labels[at])
    }

    fn is_plain(&self, id: EdgeId) -> bool {
        let edge = self.edge(id);
        edge.action == Action::Skip && edge.update.is_none()
    }

    /// The guard of an edge that asks for it and does nothing else.
    fn guard(&self, id: EdgeId) -> Option<&Expr> {
        let edge = self.edge(id);
        let update = &self.program.updates[edge.update?];
        let only = update.assignments.is_empty() && update.constraint.is_none();
        update.guard.as_ref().filter(|_| only && edge.action == Action::Skip)
    }

    /// Two edges that exclude each other and leave no gap.
    fn branch(&self, node: NodeId) -> Option<(EdgeId, EdgeId)> {
        let &[one, two] = self.edges(node) else { return None };
        let (first, second) = (self.guard(one)?, self.guard(two)?);
        let opposite =
            |left: &Expr, right: &Expr| matches!(left, Expr::Not(inner) if **inner == *right);
        (opposite(first, second) || opposite(second, first)).then_some((one, two))
    }

    /// The nodes in the order of the source, which is that of the edges, the exit apart. Threads are
    /// numbered by the order of the starts in the text, so this order must be kept.
    fn order(&self) -> Vec<NodeId> {
        let own = &self.overview.nodes[self.id];
        // Where nodes stand that no edge leaves: behind the first edge that leads to them.
        let mut first: FxHashMap<NodeId, EdgeId> = FxHashMap::default();
        for &edge in own.iter().flat_map(|&node| self.edges(node)) {
            if !self.is_end(edge) {
                let least = first.entry(self.edge(edge).target).or_insert(edge);
                *least = edge.min(*least);
            }
        }
        // Labels that nothing leads to come first, where they do not separate anything.
        let mut order: Vec<(Option<EdgeId>, bool, NodeId)> = Vec::new();
        for &node in own.iter().filter(|&&node| node != self.procedure.exit) {
            let wanted = node == self.procedure.entry || self.labelled.contains(&node);
            match (self.edges(node).first(), first.get(&node)) {
                (Some(&edge), _) => order.push((Some(edge), false, node)),
                (None, Some(&edge)) => order.push((Some(edge), true, node)),
                (None, None) if wanted => order.push((None, true, node)),
                (None, None) => {}
            }
        }
        order.sort_unstable();
        order.into_iter().map(|(_, _, node)| node).collect()
    }

    /// Whether an edge is the only one of its node and leads nowhere: `end_thread`.
    fn is_end(&self, id: EdgeId) -> bool {
        let edge = self.edge(id);
        self.is_plain(id)
            && self.edges(edge.source).len() == 1
            && edge.target != self.procedure.exit
            && edge.target != self.procedure.entry
            && self.edges(edge.target).is_empty()
            && !self.labelled.contains(&edge.target)
    }

    fn put(&mut self, at: &mut Option<JumpTarget>, place: Place, line: Line) {
        self.items.push(Item { at: at.take(), place, line });
    }

    /// The lines of a node that is followed by `next`.
    fn node(&mut self, node: NodeId, next: NodeId) -> Result<(), Unprintable> {
        let mut at = Some(JumpTarget::Node(node));
        let edges = self.edges(node).to_vec();
        match edges.as_slice() {
            [] => {
                let end = Line::Statement(self.end_of_thread());
                self.put(&mut at, Place::NONE, end);
            }
            &[only] => self.statement(&mut at, only, next, true)?,
            _ => {
                if let Some((first, second)) = self.branch(node) {
                    self.conditional(&mut at, first, second, next);
                } else {
                    self.choice(&mut at, &edges, next)?;
                }
            }
        }
        Ok(())
    }

    /// A statement behind which nothing happens any more.
    fn end_of_thread(&self) -> String {
        match self.dialect {
            Dialect::Boppo => "end_thread;".to_owned(),
            Dialect::Getafix => "assume(F);".to_owned(),
        }
    }

    fn conditional(
        &mut self,
        at: &mut Option<JumpTarget>,
        first: EdgeId,
        second: EdgeId,
        next: NodeId,
    ) {
        // What is not jumped to comes next.
        let swap = self.edge(first).target == next && self.edge(second).target != next;
        let (jump, fall) = if swap { (second, first) } else { (first, second) };
        let guard = self.guard(jump).cloned().unwrap_or(Expr::Choice);
        let (goal, place) = (self.edge(jump).target, self.edge(jump).place);
        self.drawn = 0;
        let mut before = Vec::new();
        let condition = self.condition(&guard, &mut before);
        for text in before {
            self.put(at, place, Line::Statement(text));
        }
        self.put(at, place, Line::Branch(condition, JumpTarget::Node(goal)));
        let target = self.edge(fall).target;
        if target != next {
            self.put(&mut None, place, Line::Jump(vec![JumpTarget::Node(target)]));
        }
    }

    /// A jump to one of several statements.
    fn choice(
        &mut self,
        at: &mut Option<JumpTarget>,
        edges: &[EdgeId],
        next: NodeId,
    ) -> Result<(), Unprintable> {
        let mut goals = Vec::new();
        let mut extras = Vec::new();
        for &edge in edges {
            let goal = if self.is_plain(edge) {
                JumpTarget::Node(self.edge(edge).target)
            } else {
                self.extras += 1;
                extras.push((self.extras, edge));
                JumpTarget::Extra(self.extras)
            };
            if !goals.contains(&goal) {
                goals.push(goal);
            }
        }
        if let [JumpTarget::Node(_)] = goals.as_slice() {
            // The same jump several times is no choice.
            return self.statement(at, edges[0], next, true);
        }
        let place = self.edge(edges[0]).place;
        self.put(at, place, Line::Jump(goals));
        for (position, &(extra, edge)) in extras.iter().enumerate() {
            let last = position + 1 == extras.len();
            self.statement(&mut Some(JumpTarget::Extra(extra)), edge, next, last)?;
        }
        Ok(())
    }

    /// The lines of an edge; `falls` says whether `next` follows them.
    fn statement(
        &mut self,
        at: &mut Option<JumpTarget>,
        id: EdgeId,
        next: NodeId,
        falls: bool,
    ) -> Result<(), Unprintable> {
        let edge = self.edge(id).clone();
        if self.is_end(id) {
            let end = Line::Statement(self.end_of_thread());
            self.put(at, edge.place, end);
            return Ok(());
        }
        let jumps = !(falls && edge.target == next);
        let goal = JumpTarget::Node(edge.target);
        if self.is_plain(id) && jumps {
            self.put(at, edge.place, Line::SkipAndJump(goal));
            return Ok(());
        }
        for text in self.texts(&edge)? {
            self.put(at, edge.place, Line::Statement(text));
        }
        if jumps && !matches!(edge.action, Action::Return(_)) {
            self.put(&mut None, edge.place, Line::Jump(vec![goal]));
        }
        Ok(())
    }

    fn variable(&self, variable: Variable) -> String {
        match variable {
            Variable::Global(id) => self.globals[id.index()].clone(),
            Variable::Local(id) => self.locals[id.index()].clone(),
        }
    }

    fn expression(&self, expr: &Expr) -> String {
        expression(expr, &|variable| self.variable(variable))
    }

    fn refuse<T>(edge: &Edge, reason: &str) -> Result<T, Unprintable> {
        Err(Unprintable { place: edge.place, reason: reason.to_owned() })
    }

    /// The statements of an edge.
    fn texts(&mut self, edge: &Edge) -> Result<Vec<String>, Unprintable> {
        self.drawn = 0;
        let program = self.program;
        let update = edge.update.map(|id| program.updates[id].clone());
        let empty = Passing::default();
        let passing = edge.passing.map_or(&empty, |id| &program.passings[id]);
        let alone = self.overview.running.len() < 2;
        let own = |text: &str| vec![text.to_owned()];
        Ok(match edge.action {
            Action::Skip => match update {
                Some(update) => self.assignment(&update, &[]),
                None => own("skip;"),
            },
            Action::BeginAtomic | Action::EndAtomic => {
                let assignment = update.map(|update| self.assignment(&update, &[]));
                let mut texts = assignment.unwrap_or_default();
                if edge.action == Action::BeginAtomic {
                    texts.insert(0, "atomic_begin;".to_owned());
                } else {
                    texts.push("atomic_end;".to_owned());
                }
                texts
            }
            Action::Assert(condition) => {
                let mut texts = Vec::new();
                if let Some(update) = &update {
                    if !update.assignments.is_empty() || update.constraint.is_some() {
                        return Self::refuse(edge, "an assertion changes variables");
                    }
                    texts = self.assignment(update, &[]);
                }
                let condition = self.condition(&program.conditions[condition], &mut texts);
                texts.push(format!("assert({condition});"));
                if update.is_none() {
                    return Ok(texts);
                }
                if !alone {
                    texts.insert(0, "atomic_begin;".to_owned());
                    texts.push("atomic_end;".to_owned());
                }
                texts
            }
            Action::Return(values) => self.return_texts(edge, &program.returns[values], update)?,
            Action::Call(callee) => {
                let enforced = program.procedures[callee].frame.enforced.is_some();
                let (mut texts, arguments) =
                    self.prepared(edge, update, &passing.arguments, enforced)?;
                let function = &self.functions[callee];
                texts.push(if passing.results.iter().all(Option::is_none) {
                    format!("{function}({arguments});")
                } else {
                    let targets: Vec<String> =
                        passing.results.iter().map(|&target| self.result(target)).collect();
                    format!("{} := {function}({arguments});", targets.join(", "))
                });
                texts
            }
            Action::Start(thread) => {
                let main = program.threads[thread].main;
                let enforced = program.procedures[main].frame.enforced.is_some();
                let (mut texts, arguments) =
                    self.prepared(edge, update, &passing.arguments, enforced)?;
                texts.push(format!("start_thread {}({arguments});", self.functions[main]));
                texts
            }
            Action::Join(_) => {
                return Self::refuse(edge, "a join, and Boolean programs have none");
            }
            Action::Wait(_) | Action::Resume(_) | Action::Notify(_) | Action::NotifyAll(_) => {
                return Self::refuse(
                    edge,
                    "waits and notifications, and Boolean programs have none",
                );
            }
            Action::Send(_) | Action::Post(_) | Action::Broadcast(_) | Action::Recv(_) => {
                return Self::refuse(edge, "channels, and Boolean programs have none");
            }
            Action::Read(_) | Action::Write(_) => {
                return Self::refuse(
                    edge,
                    "accesses to locations have no form in Boolean programs",
                );
            }
            Action::Acquire(_) | Action::Release(_) => {
                return Self::refuse(edge, "locks have no form in Boolean programs");
            }
            Action::BeginUnit | Action::EndUnit => {
                return Self::refuse(edge, "units of work have no form in Boolean programs");
            }
        })
    }

    /// Where a result goes.
    fn result(&mut self, target: Option<Variable>) -> String {
        match (target, self.dialect) {
            (Some(target), _) => self.variable(target),
            (None, Dialect::Boppo) => "_".to_owned(),
            (None, Dialect::Getafix) => {
                let local = self.fresh_local("dropped");
                self.locals[local.index()].clone()
            }
        }
    }

    /// The statement that an update is, with more targets; nothing if it does nothing.
    fn assignment(&mut self, update: &Update, more: &[(String, &Expr)]) -> Vec<String> {
        if self.dialect == Dialect::Getafix {
            return self.stepwise(update, more);
        }
        let condition = both(update.guard.clone(), update.constraint.clone());
        if update.assignments.is_empty() && more.is_empty() {
            let condition = condition.map(|condition| self.expression(&unchanged(&condition)));
            return condition
                .into_iter()
                .map(|condition| format!("assume({condition});"))
                .collect();
        }
        let mut targets = Vec::new();
        let mut values = Vec::new();
        for (target, value) in &update.assignments {
            targets.push(self.variable(*target));
            values.push(self.expression(value));
        }
        for (target, value) in more {
            targets.push(target.clone());
            values.push(self.expression(value));
        }
        let mut text = format!("{} := {}", targets.join(", "), values.join(", "));
        if let Some(condition) = condition {
            text.extend([" constrain ", &self.expression(&condition)]);
        }
        text.push(';');
        vec![text]
    }

    /// What a call or a start computes besides, as statements before it, and its arguments.
    fn prepared(
        &mut self,
        edge: &Edge,
        update: Option<Update>,
        arguments: &[Expr],
        enforced: bool,
    ) -> Result<(Vec<String>, String), Unprintable> {
        let Some(update) = update else {
            let mut texts = Vec::new();
            let arguments = self.values(arguments, &mut texts);
            return Ok((texts, arguments));
        };
        if enforced || self.procedure.frame.enforced.is_some() {
            let reason = "a call or a start that computes something meets an enforced condition";
            return Self::refuse(edge, reason);
        }
        let shared = self.overview.running.len() > 1;
        Ok(self.split(&update, arguments, shared))
    }

    /// An update as a statement of its own, and values as they are to be written behind it.
    fn split(&mut self, update: &Update, values: &[Expr], shared: bool) -> (Vec<String>, String) {
        let assigned: FxHashSet<Variable> =
            update.assignments.iter().map(|&(target, _)| target).collect();
        let mut changes = false;
        for value in values {
            value.variables(&mut |variable, _| {
                changes |= assigned.contains(&variable)
                    || shared && matches!(variable, Variable::Global(_));
            });
        }
        if !changes {
            let mut texts = self.assignment(update, &[]);
            let values = self.values(values, &mut texts);
            return (texts, values);
        }
        let kept: Vec<(String, &Expr)> = values
            .iter()
            .map(|value| {
                let local = self.fresh_local("kept");
                (self.locals[local.index()].clone(), value)
            })
            .collect();
        let names: Vec<&str> = kept.iter().map(|(name, _)| name.as_str()).collect();
        let names = names.join(", ");
        (self.assignment(update, &kept), names)
    }

    /// Values with commas between them; statements that they need before are put into `before`.
    fn values(&mut self, values: &[Expr], before: &mut Vec<String>) -> String {
        let texts: Vec<String> = values.iter().map(|value| self.value(value, before)).collect();
        texts.join(", ")
    }

    fn return_texts(
        &mut self,
        edge: &Edge,
        values: &[Expr],
        update: Option<Update>,
    ) -> Result<Vec<String>, Unprintable> {
        let (mut texts, values) = match update {
            None => {
                let mut texts = Vec::new();
                let values = self.values(values, &mut texts);
                (texts, values)
            }
            Some(update) => {
                let changes_globals = update
                    .assignments
                    .iter()
                    .any(|(target, _)| matches!(target, Variable::Global(_)));
                let seen = changes_globals && self.overview.to_globals[self.id];
                let enforced = self.procedure.frame.enforced.is_some();
                if self.overview.running.len() > 1 || seen || enforced {
                    return Self::refuse(edge, "a return changes variables in the same step");
                }
                self.split(&update, values, false)
            }
        };
        let space = if values.is_empty() { "" } else { " " };
        texts.push(format!("return{space}{values};"));
        Ok(texts)
    }
}
