//! # Idea
//! The statements of one procedure. Its nodes are put in a row; where a statement leads to the next
//! one execution simply goes on, all other ways become jumps.

use super::expression::{both, expression, expressions, unchanged};
use super::names::{Taken, quiet};
use super::{Overview, Unprintable};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Id, IdVec, Place};
use selvedge_program::{
    Action, Edge, EdgeId, Expr, Label, NodeId, Passing, Procedure, ProcedureId, Program, Update,
    Variable,
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
        let mut taken = Taken::default();
        for global in globals {
            taken.reserve(global);
        }
        let locals = procedure.frame.locals.iter().map(|local| taken.fresh(&local.name)).collect();
        let mut writer = Writer {
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
        };
        writer.labelled = writer.own_labels().map(|label| label.node).collect();
        let enforced =
            procedure.frame.enforced.map(|id| writer.expression(&program.conditions[id]));
        let order = writer.order();
        let entry = procedure.entry;
        if order.first().is_some_and(|&first| first != entry) && entry != procedure.exit {
            writer.put(&mut None, Place::NONE, Line::Jump(vec![Goal::Node(entry)]));
        }
        for (at, &node) in order.iter().enumerate() {
            let next = order.get(at + 1).copied().unwrap_or(procedure.exit);
            writer.node(node, next)?;
        }
        let statements = writer.render(&order);
        Ok(Self { locals: writer.locals, enforced, statements })
    }
}

/// Where a jump goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Goal {
    Node(NodeId),
    /// A statement that is no node of the program.
    Extra(usize),
}

/// A line of the text to be.
struct Item {
    /// What begins here.
    at: Option<Goal>,
    place: Place,
    line: Line,
}

enum Line {
    Statement(String),
    Jump(Vec<Goal>),
    /// A step that does nothing and then a jump; with a label, the jump itself is this step.
    SkipAndJump(Goal),
    /// A jump under a condition.
    Branch(String, Goal),
}

struct Writer<'w> {
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

    fn put(&mut self, at: &mut Option<Goal>, place: Place, line: Line) {
        self.items.push(Item { at: at.take(), place, line });
    }

    /// The lines of a node that is followed by `next`.
    fn node(&mut self, node: NodeId, next: NodeId) -> Result<(), Unprintable> {
        let mut at = Some(Goal::Node(node));
        let edges = self.edges(node).to_vec();
        match edges.as_slice() {
            [] => {
                let end = Line::Statement("end_thread;".to_owned());
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

    fn conditional(&mut self, at: &mut Option<Goal>, first: EdgeId, second: EdgeId, next: NodeId) {
        // What is not jumped to comes next.
        let swap = self.edge(first).target == next && self.edge(second).target != next;
        let (jump, fall) = if swap { (second, first) } else { (first, second) };
        let condition = self.guard(jump).map_or_else(String::new, |guard| self.expression(guard));
        let (goal, place) = (self.edge(jump).target, self.edge(jump).place);
        self.put(at, place, Line::Branch(condition, Goal::Node(goal)));
        let target = self.edge(fall).target;
        if target != next {
            self.put(&mut None, place, Line::Jump(vec![Goal::Node(target)]));
        }
    }

    /// A jump to one of several statements.
    fn choice(
        &mut self,
        at: &mut Option<Goal>,
        edges: &[EdgeId],
        next: NodeId,
    ) -> Result<(), Unprintable> {
        let mut goals = Vec::new();
        let mut extras = Vec::new();
        for &edge in edges {
            let goal = if self.is_plain(edge) {
                Goal::Node(self.edge(edge).target)
            } else {
                self.extras += 1;
                extras.push((self.extras, edge));
                Goal::Extra(self.extras)
            };
            if !goals.contains(&goal) {
                goals.push(goal);
            }
        }
        if let [Goal::Node(_)] = goals.as_slice() {
            // The same jump several times is no choice.
            return self.statement(at, edges[0], next, true);
        }
        let place = self.edge(edges[0]).place;
        self.put(at, place, Line::Jump(goals));
        for (position, &(extra, edge)) in extras.iter().enumerate() {
            let last = position + 1 == extras.len();
            self.statement(&mut Some(Goal::Extra(extra)), edge, next, last)?;
        }
        Ok(())
    }

    /// The lines of an edge; `falls` says whether `next` follows them.
    fn statement(
        &mut self,
        at: &mut Option<Goal>,
        id: EdgeId,
        next: NodeId,
        falls: bool,
    ) -> Result<(), Unprintable> {
        let edge = self.edge(id).clone();
        if self.is_end(id) {
            self.put(at, edge.place, Line::Statement("end_thread;".to_owned()));
            return Ok(());
        }
        let jumps = !(falls && edge.target == next);
        let goal = Goal::Node(edge.target);
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
                let assert =
                    format!("assert({});", self.expression(&program.conditions[condition]));
                let Some(update) = update else { return Ok(vec![assert]) };
                if !update.assignments.is_empty() || update.constraint.is_some() {
                    return Self::refuse(edge, "an assertion changes variables");
                }
                let mut texts = self.assignment(&update, &[]);
                texts.push(assert);
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
                let targets: Vec<String> = passing
                    .results
                    .iter()
                    .map(|target| target.map_or("_".to_owned(), |target| self.variable(target)))
                    .collect();
                let function = &self.functions[callee];
                texts.push(if passing.results.iter().all(Option::is_none) {
                    format!("{function}({arguments});")
                } else {
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

    /// The statement that an update is, with more targets; nothing if it does nothing.
    fn assignment(&self, update: &Update, more: &[(String, &Expr)]) -> Vec<String> {
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
            return Ok((Vec::new(), self.expressions(arguments)));
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
            return (self.assignment(update, &[]), self.expressions(values));
        }
        let kept: Vec<(String, &Expr)> = values
            .iter()
            .map(|value| {
                let name = self.taken.fresh("kept");
                self.locals.push(name.clone());
                (name, value)
            })
            .collect();
        let names: Vec<&str> = kept.iter().map(|(name, _)| name.as_str()).collect();
        let names = names.join(", ");
        (self.assignment(update, &kept), names)
    }

    fn expressions(&self, values: &[Expr]) -> String {
        expressions(values, &|variable| self.variable(variable))
    }

    fn return_texts(
        &mut self,
        edge: &Edge,
        values: &[Expr],
        update: Option<Update>,
    ) -> Result<Vec<String>, Unprintable> {
        let (mut texts, values) = match update {
            None => (Vec::new(), self.expressions(values)),
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

    /// The text of all lines.
    fn render(&mut self, order: &[NodeId]) -> String {
        let exit = Goal::Node(self.procedure.exit);
        let mut goals: FxHashSet<Goal> = FxHashSet::default();
        for item in &self.items {
            match &item.line {
                Line::Statement(_) => {}
                Line::Jump(to) => goals.extend(to.iter().copied()),
                Line::SkipAndJump(goal) | Line::Branch(_, goal) => {
                    goals.insert(*goal);
                }
            }
        }
        let labels = self.labels(order, &goals);
        if labels.contains_key(&exit) {
            let line = Line::Statement("skip;".to_owned());
            self.put(&mut Some(exit), Place::NONE, line);
        }
        let name = |goal: &Goal| labels.get(goal).map_or("", |names| names[0].as_str());
        let mut text = String::new();
        let mut line = 0;
        for item in &self.items {
            if item.place.line != 0 && item.place.line != line {
                line = item.place.line;
                text.extend(["    // line ", &line.to_string(), "\n"]);
            }
            text.push_str("    ");
            let own = item.at.as_ref().and_then(|at| labels.get(at));
            for label in own.into_iter().flatten() {
                text.extend([label, ": "]);
            }
            let shown = match &item.line {
                Line::Statement(statement) => statement.clone(),
                Line::Jump(to) => {
                    let to: Vec<&str> = to.iter().map(name).collect();
                    format!("goto {};", to.join(", "))
                }
                Line::SkipAndJump(to) if own.is_some() => format!("goto {};", name(to)),
                Line::SkipAndJump(to) => format!("skip;\n    goto {};", name(to)),
                Line::Branch(condition, to) => {
                    format!("if {condition} then goto {}; fi;", name(to))
                }
            };
            text.push_str(&shown);
            text.push('\n');
        }
        text
    }

    /// The labels of nodes and statements.
    fn labels(&self, order: &[NodeId], goals: &FxHashSet<Goal>) -> FxHashMap<Goal, Vec<String>> {
        let mut taken = Taken::default();
        let mut labels: FxHashMap<Goal, Vec<String>> = FxHashMap::default();
        let mut seen: FxHashSet<(NodeId, &str)> = FxHashSet::default();
        for label in self.own_labels() {
            let node = label.node;
            if !seen.insert((node, &label.name)) {
                continue;
            }
            let calls = |&edge: &EdgeId| matches!(self.edge(edge).action, Action::Call(_));
            let wish = if self.edges(node).iter().any(calls) {
                quiet(&label.name)
            } else {
                label.name.clone()
            };
            labels.entry(Goal::Node(node)).or_default().push(taken.fresh(&wish));
        }
        let extras = (1..=self.extras).map(Goal::Extra);
        let nodes = order.iter().chain([&self.procedure.exit]).map(|&node| Goal::Node(node));
        for (number, goal) in (1..).zip(nodes.chain(extras).filter(|goal| goals.contains(goal))) {
            labels.entry(goal).or_insert_with(|| vec![taken.fresh(&format!("L{number}"))]);
        }
        labels
    }
}
