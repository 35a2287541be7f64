//! # Idea
//! Each function becomes a control-flow graph. A statement is laid between two given nodes, so that
//! its last edge leads directly to where execution goes on, and no joining edges are needed.
//!
//! # Source
//! SEMANTICS, "EML": several `synchronized` prefixes acquire left to right; `return` and the end of
//! a function leave the enclosing units and synchronized blocks inside-out, each a step of its own.
//! "EML beyond the core", data: what is a step.
//!
//! # Invariants
//! 1. The node that a statement is laid from has no other outgoing edges.
//! 2. Statements that are never executed are left out. Without conditions that are constants, every
//!    node can be reached from the entry of its procedure and reaches the exit.
//! 3. Hidden locals are free again behind the statement that needed them.

mod locks;
mod store;

use super::value::{At, Sink, and};
use super::{Layout, hidden};
use crate::ast::ChannelOperation;
use crate::names::Names;
use crate::resolved::{self, Block, Function, Source, Statement, StatementKind};
use locks::Scope;
use selvedge_base::{Id, Place};
use selvedge_program::data::element_name;
use selvedge_program::{
    Action, Array, ChannelId, Edge, Expr, Frame, GlobalId, Label, Local, LocalId, NamedArray,
    NodeId, Passing, Procedure, ProcedureId, Program, ThreadId, Type, Update, Value, Variable,
};
use std::collections::BTreeMap;

pub(super) struct Lowering<'p, 'a> {
    program: &'p mut Program,
    pub names: &'p Names<'a>,
    pub layout: &'p Layout,
    /// The process and the copy, to look up functions and variables.
    process: usize,
    group: usize,
    /// The index of the copy, if that is known.
    pub copy: Option<u32>,
    procedure: ProcedureId,
    exit: NodeId,
    edge_limit: usize,
    frame: Frame,
    /// The first element, the length and the type of each declared local.
    locals: Vec<(Variable, Option<u32>, Type)>,
    /// Hidden locals by type: all of them, and how many are taken.
    temporaries: BTreeMap<String, (Vec<Variable>, usize)>,
    /// The types of those that are taken, in order.
    taken: Vec<String>,
    /// An array with one element, for locks that do not exist.
    row: Option<Array>,
    /// What encloses the current statement, outermost first.
    scopes: Vec<Scope>,
    /// The statement.
    pub place: Place,
}

impl<'p, 'a> Lowering<'p, 'a> {
    pub fn new(
        program: &'p mut Program,
        names: &'p Names<'a>,
        layout: &'p Layout,
        (process, group, copy): (usize, usize, Option<u32>),
        procedure: ProcedureId,
        edge_limit: usize,
    ) -> Self {
        Self {
            program,
            names,
            layout,
            process,
            group,
            copy,
            procedure,
            exit: NodeId::from_index(0),
            edge_limit,
            frame: Frame::default(),
            locals: Vec::new(),
            temporaries: BTreeMap::new(),
            taken: Vec::new(),
            row: None,
            scopes: Vec::new(),
            place: Place::NONE,
        }
    }

    pub fn node(&mut self) -> NodeId {
        self.program.nodes.push(self.procedure)
    }

    /// Whether there are so many edges that the program is refused.
    pub fn is_full(&self) -> bool {
        self.program.edges.len() > self.edge_limit
    }

    /// A hidden local of a type.
    pub fn temporary(&mut self, ty: Type) -> Variable {
        let key = format!("{ty:?}");
        let (all, taken) = self.temporaries.entry(key.clone()).or_default();
        self.taken.push(key);
        *taken += 1;
        if let Some(&free) = all.get(*taken - 1) {
            return free;
        }
        let name = format!("#{}", self.frame.locals.len());
        let local = hidden(name, ty, self.names.default_value(ty));
        let variable = Variable::Local(self.frame.locals.push(local));
        all.push(variable);
        variable
    }

    /// Gives the hidden locals back that were taken behind a mark.
    fn give_back(&mut self, mark: usize) {
        for key in self.taken.drain(mark..) {
            if let Some((_, taken)) = self.temporaries.get_mut(&key) {
                *taken -= 1;
            }
        }
    }

    /// The first element, the length and the type of a variable that only this thread sees.
    pub fn own(&self, variable: resolved::Variable) -> (Variable, Option<u32>, Type) {
        match variable {
            resolved::Variable::Local(at) => self.locals[at],
            resolved::Variable::Process(at) => {
                let first = self.layout.variables[self.process][self.group][at];
                let declared = &self.names.variables[self.process][at];
                (Variable::Global(GlobalId::from_index(first)), declared.length, declared.ty)
            }
            resolved::Variable::Shared(at) => self.global(at),
        }
    }

    fn edge(&mut self, source: NodeId, target: NodeId, action: Action, place: Place) {
        self.step(source, target, action, None, Vec::new(), place);
    }

    /// An edge with what it computes.
    pub fn step(
        &mut self,
        source: NodeId,
        target: NodeId,
        action: Action,
        guard: Option<Expr>,
        assignments: Vec<(Variable, Expr)>,
        place: Place,
    ) {
        self.pass(source, target, action, guard, assignments, None, place);
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of an edge")]
    fn pass(
        &mut self,
        source: NodeId,
        target: NodeId,
        action: Action,
        guard: Option<Expr>,
        mut assignments: Vec<(Variable, Expr)>,
        passing: Option<Passing>,
        place: Place,
    ) {
        let volatile = match action {
            Action::Read(location) | Action::Write(location) => {
                self.layout.volatile[location.index()]
            }
            _ => false,
        };
        let guard = guard.filter(|guard| *guard != Expr::TRUE);
        // One edge too many is enough to know.
        if self.is_full() || guard == Some(Expr::FALSE) {
            return;
        }
        assignments.extend(self.watching(action));
        let update = (guard.is_some() || !assignments.is_empty()).then(|| {
            let update = Update { guard, assignments, constraint: None };
            self.program.updates.push(update)
        });
        let passing = passing.map(|passing| self.program.passings.push(passing));
        self.program.edges.push(Edge { source, target, action, update, passing, place, volatile });
    }

    /// The edges that leave a place with the read that it waits for, or none.
    pub fn out(
        &mut self,
        at: &At,
        to: NodeId,
        guard: Option<Expr>,
        assignments: &[(Variable, Expr)],
        place: Place,
    ) {
        let Some(access) = &at.pending else {
            let guard = and(at.guard.clone(), guard);
            self.step(at.node, to, Action::Skip, guard, assignments.to_vec(), place);
            return;
        };
        for (own, location) in &access.alternatives {
            let guard = and(and(at.guard.clone(), own.clone()), guard.clone());
            let action = Action::Read(*location);
            self.step(at.node, to, action, guard, assignments.to_vec(), access.place);
        }
    }

    pub fn function(&mut self, function: &Function<'a>, owner: Option<ThreadId>, prefix: &str) {
        let entry = self.node();
        self.exit = self.node();
        self.program.procedures.push(Procedure {
            name: format!("{prefix}{}", function.name),
            owner,
            place: function.place,
            end: function.body.close,
            entry,
            exit: self.exit,
            frame: Frame::default(),
        });
        self.declare_locals(function);
        let mut at = entry;
        for (place, lock) in &function.prefixes {
            let next = self.node();
            let scope = self.enter(lock, at, next, *place);
            self.scopes.push(scope);
            at = next;
        }
        if self.scopes.is_empty() || !function.body.completes {
            self.block(&function.body, at, self.exit);
        } else {
            let end = self.node();
            self.block(&function.body, at, end);
            self.leave_all(end, self.exit, function.body.close);
        }
        self.frame.results = function.result.into_iter().collect();
        self.program.procedures[self.procedure].frame = std::mem::take(&mut self.frame);
    }

    fn declare_locals(&mut self, function: &Function<'a>) {
        let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, local) in function.locals.iter().enumerate() {
            // Blocks that do not contain each other may use a name again.
            let uses = uses.entry(local.name).or_default();
            *uses += 1;
            let name = match *uses {
                1 => local.name.to_owned(),
                uses => format!("{}#{uses}", local.name),
            };
            let is_parameter = at < function.parameters;
            let initial = (!is_parameter).then(|| self.names.default_value(local.ty));
            let first = Variable::Local(LocalId::from_index(self.frame.locals.len()));
            for offset in 0..local.length.unwrap_or(1) {
                let name = match local.length {
                    Some(_) => element_name(&name, offset),
                    None => name.clone(),
                };
                let (place, end, ty) = (local.place, local.end, local.ty);
                self.frame.locals.push(Local { name, place, end, ty, initial });
            }
            if let Some(length) = local.length {
                self.frame.arrays.push(NamedArray { name, array: Array { first, length } });
            }
            self.locals.push((first, local.length, local.ty));
        }
        self.frame.parameters = function.parameters;
    }

    fn block(&mut self, block: &Block<'a>, from: NodeId, to: NodeId) {
        let mut live = Vec::with_capacity(block.statements.len());
        for statement in &block.statements {
            if !self.is_silent(statement) {
                live.push(statement);
            }
        }
        let Some((last, others)) = live.split_last() else {
            self.edge(from, to, Action::Skip, block.open);
            return;
        };
        let mut at = from;
        for statement in others {
            let next = self.node();
            self.statement(statement, at, next);
            at = next;
        }
        self.statement(last, at, to);
    }

    /// Whether a statement is a declaration that is executed once, with a constant. The local has
    /// that value from the beginning then.
    fn is_silent(&mut self, statement: &Statement<'a>) -> bool {
        let StatementKind::Declare(local, source, false) = &statement.kind else { return false };
        let (first, length, ty) = self.locals[*local];
        let value = match source {
            Source::Any => return false,
            Source::Default => self.names.default_value(ty),
            Source::Expr(expr) => {
                let Ok(value) = expr.fold(self.copy) else { return false };
                let value = match ty {
                    Type::Mod(n) => value.rem_euclid(i64::from(n)),
                    _ => value,
                };
                let (low, high) = self.names.range(ty);
                if !(low..=high).contains(&value) {
                    return false;
                }
                value as Value
            }
        };
        let array = Array { first, length: length.unwrap_or(1) };
        for element in array.elements() {
            if let Variable::Local(id) = element {
                self.frame.locals[id].initial = Some(value);
            }
        }
        true
    }

    fn scoped(&mut self, scope: Scope, block: &Block<'a>, inside: NodeId, to: NodeId) {
        self.scopes.push(scope);
        if block.completes {
            let end = self.node();
            self.block(block, inside, end);
            if let Some(scope) = self.scopes.last().cloned() {
                self.leave_scope(&scope, end, to, block.close);
            }
        } else {
            self.block(block, inside, to);
        }
        self.scopes.pop();
    }

    /// Lays a statement between two nodes. The last one is not reached if the statement does not
    /// complete.
    fn statement(&mut self, statement: &Statement<'a>, from: NodeId, to: NodeId) {
        let mark = self.taken.len();
        self.place = statement.place;
        self.lay(statement, from, to);
        self.give_back(mark);
    }

    fn lay(&mut self, statement: &Statement<'a>, from: NodeId, to: NodeId) {
        let place = statement.place;
        let mut at = At::new(from);
        match &statement.kind {
            StatementKind::Access(writes, location) => {
                let length = self.names.shared[location.at].length;
                let index = self.row_index(location, length, &mut at, place);
                for (guard, location) in self.locations(location.at, index.as_ref()) {
                    let action =
                        if *writes { Action::Write(location) } else { Action::Read(location) };
                    self.step(at.node, to, action, guard, Vec::new(), place);
                }
            }
            StatementKind::Call(call) => self.call(call, at, to, place),
            StatementKind::Assign(target, source) => self.assign(target, source, at, to, place),
            StatementKind::Declare(local, source, _) => self.declare(*local, source, at, to, place),
            StatementKind::TryAcquire(lock, target) => {
                self.try_acquire(lock, target.as_ref(), at, to, place);
            }
            StatementKind::Skip => self.edge(from, to, Action::Skip, place),
            StatementKind::Return(None) if self.scopes.is_empty() => {
                self.edge(from, self.exit, Action::Skip, place);
            }
            StatementKind::Return(None) => self.leave_all(from, self.exit, place),
            StatementKind::Return(Some(value)) => {
                let value = self.value(value, &mut at, false);
                if !self.scopes.is_empty() {
                    let end = self.node();
                    self.leave_all(at.node, end, place);
                    at = At::new(end);
                }
                let id = self.program.returns.push(vec![value]);
                self.edge(at.node, self.exit, Action::Return(id), place);
            }
            StatementKind::Unit(block) => {
                let inside = self.node();
                self.edge(from, inside, Action::BeginUnit, place);
                self.scoped(Scope::Unit, block, inside, to);
            }
            StatementKind::Atomic(block) => {
                let inside = self.node();
                self.edge(from, inside, Action::BeginAtomic, place);
                self.scoped(Scope::Atomic, block, inside, to);
            }
            StatementKind::Synchronized(lock, block) => {
                let inside = self.node();
                let scope = self.enter(lock, from, inside, place);
                self.scoped(scope, block, inside, to);
            }
            StatementKind::If(branches, otherwise) => {
                self.conditional(branches, otherwise.as_deref(), from, to);
            }
            StatementKind::While(condition, body) => {
                let inside = self.node();
                match condition {
                    None => {
                        self.edge(from, inside, Action::Skip, place);
                        self.statement(body, inside, from);
                        self.edge(from, to, Action::Skip, place);
                    }
                    Some(condition) => {
                        let mark = self.taken.len();
                        self.branch(condition, at, &Sink::to(inside), &Sink::to(to));
                        self.give_back(mark);
                        self.statement(body, inside, from);
                    }
                }
            }
            StatementKind::Block(block) => self.block(block, from, to),
            StatementKind::Start(thread, arguments) => {
                self.start(thread, arguments, at, to, place);
            }
            StatementKind::Join(thread) => {
                for (guard, thread) in self.threads(thread, &mut at, place) {
                    self.step(at.node, to, Action::Join(thread), guard, Vec::new(), place);
                }
            }
            StatementKind::Label(name, inner) => {
                self.program.labels.push(Label { name: (*name).to_owned(), node: from, place });
                self.statement(inner, from, to);
            }
            StatementKind::Assert(condition) => {
                let condition = self.direct(condition);
                let id = self.program.conditions.push(condition);
                self.edge(from, to, Action::Assert(id), place);
            }
            StatementKind::Assume(condition) => self.assume(condition, at, to, place),
            StatementKind::Lock(operation, lock) => {
                self.lock_operation(*operation, lock, at, to, place);
            }
            StatementKind::Condition(operation, set) => {
                self.condition_operation(*operation, set, at, to, place);
            }
            StatementKind::Channel(operation, channel) => {
                let channel = ChannelId::from_index(*channel);
                let action = match operation {
                    ChannelOperation::Send => Action::Send(channel),
                    ChannelOperation::Post => Action::Post(channel),
                    ChannelOperation::Broadcast => Action::Broadcast(channel),
                    ChannelOperation::Recv => Action::Recv(channel),
                };
                self.edge(from, to, action, place);
            }
        }
    }

    fn conditional(
        &mut self,
        branches: &[resolved::Branch<'a>],
        otherwise: Option<&Statement<'a>>,
        mut from: NodeId,
        to: NodeId,
    ) {
        for (at, branch) in branches.iter().enumerate() {
            let inside = self.node();
            let last = at + 1 == branches.len() && otherwise.is_none();
            match &branch.condition {
                None => {
                    self.edge(from, inside, Action::Skip, branch.place);
                    self.statement(&branch.body, inside, to);
                    let next = if last { to } else { self.node() };
                    self.edge(from, next, Action::Skip, branch.place);
                    from = next;
                }
                Some(condition) => {
                    let next = if last { to } else { self.node() };
                    let mark = self.taken.len();
                    self.place = branch.place;
                    let (yes, no) = (Sink::to(inside), Sink::to(next));
                    self.branch(condition, At::new(from), &yes, &no);
                    self.give_back(mark);
                    self.statement(&branch.body, inside, to);
                    from = next;
                }
            }
        }
        if let Some(otherwise) = otherwise {
            self.statement(otherwise, from, to);
        }
    }

    /// An atomic block that is possible only if a condition holds.
    fn assume(&mut self, condition: &resolved::Expr, mut at: At, to: NodeId, place: Place) {
        if !condition.reads() {
            let guard = self.value(condition, &mut at, false);
            self.step(at.node, to, Action::Skip, Some(guard), Vec::new(), place);
            return;
        }
        let inside = self.node();
        self.edge(at.node, inside, Action::BeginAtomic, place);
        let mut at = At::new(inside);
        let guard = self.value(condition, &mut at, true);
        let end = self.node();
        self.out(&at, end, Some(guard), &[], place);
        self.edge(end, to, Action::EndAtomic, place);
    }
}
