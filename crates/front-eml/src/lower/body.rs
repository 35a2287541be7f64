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

use super::value::{At, Sink, and, outside};
use super::{Layout, Watch, hidden};
use crate::ast::{ChannelOperation, LockOperation};
use crate::names::Names;
use crate::resolved::{self, Block, Function, Indexed, Ref, Source, Statement, StatementKind};
use selvedge_base::{Id, Place};
use selvedge_program::data::element_name;
use selvedge_program::{
    Action, Array, ChannelId, Edge, Expr, Frame, GlobalId, Label, Literal, Local, LocalId,
    LocationId, LockId, NamedArray, NodeId, Operator, Passing, Procedure, ProcedureId, Program,
    ThreadId, Type, Update, Value, Variable,
};
use std::collections::BTreeMap;

/// Something that must be left on the way out.
#[derive(Clone)]
enum Scope {
    /// A lock, or one of several, each with what makes it the one.
    Lock(Vec<(Option<Expr>, LockId)>),
    Unit,
    Atomic,
}

/// What is assigned: the elements that may be meant.
struct Slot {
    alternatives: Vec<(Option<Expr>, Variable, Option<LocationId>)>,
    ty: Type,
    /// What fails if there is no such element: the array and the index.
    outside: Option<(Array, Expr)>,
}

impl Slot {
    /// The only variable that may be meant, if assigning it is no event.
    fn local(&self) -> Option<Variable> {
        match &self.alternatives[..] {
            [(None, variable, None)] if self.outside.is_none() => Some(*variable),
            _ => None,
        }
    }
}

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

    /// What an action on a lock that is watched changes.
    fn watching(&self, action: Action) -> Vec<(Variable, Expr)> {
        let watched = |lock: LockId| self.layout.watched[lock.index()];
        let number = |number| Expr::number(number);
        let none = Expr::Constant(Literal::Thread(None));
        let current = |global: GlobalId| Expr::Current(Variable::Global(global));
        match action {
            Action::Acquire(lock) => match watched(lock) {
                None => Vec::new(),
                Some(Watch::Mutex(held)) => vec![(Variable::Global(held), Expr::TRUE)],
                Some(Watch::Reentrant(owner, holds)) => vec![
                    (Variable::Global(owner), Expr::Me),
                    (Variable::Global(holds), current(holds).join(Operator::Add, number(1))),
                ],
            },
            Action::Release(lock) => match watched(lock) {
                None => Vec::new(),
                Some(Watch::Mutex(held)) => vec![(Variable::Global(held), Expr::FALSE)],
                Some(Watch::Reentrant(owner, holds)) => {
                    let last = current(holds).join(Operator::Equal, number(1));
                    vec![
                        (Variable::Global(owner), Expr::Ite(Box::new([last, none, Expr::Me]))),
                        (
                            Variable::Global(holds),
                            current(holds).join(Operator::Subtract, number(1)),
                        ),
                    ]
                }
            },
            _ => Vec::new(),
        }
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
                self.frame.locals.push(Local { name, place: local.place, ty: local.ty, initial });
            }
            if let Some(length) = local.length {
                self.frame.arrays.push(NamedArray { name, array: Array { first, length } });
            }
            self.locals.push((first, local.length, local.ty));
        }
        self.frame.parameters = function.parameters;
    }

    /// Leaves all scopes, inside-out; the last edge leads to the given node.
    fn leave_all(&mut self, mut at: NodeId, to: NodeId, place: Place) {
        for depth in (0..self.scopes.len()).rev() {
            let next = if depth == 0 { to } else { self.node() };
            let scope = self.scopes[depth].clone();
            self.leave_scope(&scope, at, next, place);
            at = next;
        }
    }

    fn leave_scope(&mut self, scope: &Scope, from: NodeId, to: NodeId, place: Place) {
        match scope {
            Scope::Unit => self.edge(from, to, Action::EndUnit, place),
            Scope::Atomic => self.edge(from, to, Action::EndAtomic, place),
            Scope::Lock(locks) => {
                for (guard, lock) in locks {
                    let action = Action::Release(*lock);
                    self.step(from, to, action, guard.clone(), Vec::new(), place);
                }
            }
        }
    }

    /// Acquires the lock of a scope. Which one that is, if that is computed, is kept for the release.
    fn enter(&mut self, lock: &Indexed, from: NodeId, to: NodeId, place: Place) -> Scope {
        let mut at = At::new(from);
        let (locks, index) = self.locks(lock, &mut at, place);
        let mut kept = Vec::new();
        let mut assignments = Vec::new();
        if let (Some(index), Some(length)) = (&index, self.names.locks[lock.at]) {
            let keep = self.temporary(Type::Int { low: 0, high: length.cast_signed() - 1 });
            assignments.push((keep, index.clone()));
            let index = Expr::Current(keep);
            for (offset, (_, lock)) in locks.iter().enumerate() {
                kept.push((Some(super::value::equals(&index, offset as u32)), *lock));
            }
        } else {
            kept.clone_from(&locks);
        }
        for (guard, lock) in &locks {
            let action = Action::Acquire(*lock);
            self.step(at.node, to, action, guard.clone(), assignments.clone(), place);
        }
        Scope::Lock(kept)
    }

    /// The locks that may be meant, each with what makes it the one, and the index if it is no
    /// constant.
    fn locks(
        &mut self,
        lock: &Indexed,
        at: &mut At,
        place: Place,
    ) -> (Vec<(Option<Expr>, LockId)>, Option<Expr>) {
        let index = self.row_index(lock, self.names.locks[lock.at], at, place);
        let first = self.layout.locks[lock.at];
        let locks = self.alternatives(self.names.locks[lock.at], index.as_ref());
        let locks = locks
            .into_iter()
            .map(|(guard, at)| (guard, LockId::from_index(first + at as usize)))
            .collect();
        (locks, index.filter(|index| super::value::constant(index).is_none()))
    }

    /// The index of something that is no variable; an edge fails where there is no such element.
    fn row_index(
        &mut self,
        reference: &Indexed,
        length: Option<u32>,
        at: &mut At,
        place: Place,
    ) -> Option<Expr> {
        let (Some(written), Some(length)) = (&reference.index, length) else { return None };
        let index = self.value(written, at, false);
        let index = self.settled(index, at, place);
        if !self.is_inside(written, length) {
            let array = self.row();
            let value = Expr::Element(array, Box::new(index.clone()));
            let guard = and(at.guard.clone(), Some(outside(&index, length)));
            let assignments = vec![(array.element(0), value)];
            self.step(at.node, at.node, Action::Skip, guard, assignments, place);
        }
        Some(index)
    }

    /// An array with one element: an index that is none of a row is none of it either.
    fn row(&mut self) -> Array {
        if let Some(row) = self.row {
            return row;
        }
        let name = "#row".to_owned();
        let local = hidden(element_name(&name, 0), Type::Bool, 0);
        let first = Variable::Local(self.frame.locals.push(local));
        let array = Array { first, length: 1 };
        self.frame.arrays.push(NamedArray { name, array });
        self.row = Some(array);
        array
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
                self.program.labels.push(Label { name: (*name).to_owned(), node: from });
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

    /// Any value of a type.
    fn any_value(&self, ty: Type) -> Expr {
        let (low, high) = self.names.range(ty);
        match ty {
            Type::Bool => Expr::Choice,
            Type::Int { .. } | Type::Mod(_) => Expr::Choose(
                Box::new(Expr::number(low as i32)),
                Box::new(Expr::number(high as i32)),
            ),
            Type::Enum(_) | Type::Thread => one_of(ty, low as Value, high as Value),
        }
    }

    fn source(&mut self, source: &Source, ty: Type, at: &mut At, last: bool) -> Expr {
        match source {
            Source::Any => self.any_value(ty),
            Source::Default => Expr::Constant(Literal::of(ty, self.names.default_value(ty))),
            Source::Expr(expr) => self.value(expr, at, last),
        }
    }

    fn declare(&mut self, local: usize, source: &Source, mut at: At, to: NodeId, place: Place) {
        let (first, length, ty) = self.locals[local];
        let Some(length) = length else {
            let target = Ref { variable: resolved::Variable::Local(local), index: None, place };
            return self.assign(&target, source, at, to, place);
        };
        let value = self.source(source, ty, &mut at, true);
        let elements = Array { first, length }.elements();
        let assignments: Vec<_> = elements.map(|element| (element, value.clone())).collect();
        self.out(&at, to, None, &assignments, place);
    }

    /// What a target means, after the reads that its index needs.
    fn slot(&mut self, target: &Ref, at: &mut At) -> Slot {
        let index = target.index.as_ref().map(|index| self.value(index, at, false));
        let index = index.map(|index| self.settled(index, at, target.place));
        let (first, length, ty) = self.own(target.variable);
        let locations = match target.variable {
            resolved::Variable::Shared(shared) => Some(self.layout.locations[shared]),
            _ => None,
        };
        let array = Array { first, length: length.unwrap_or(1) };
        let alternatives = self
            .alternatives(length, index.as_ref())
            .into_iter()
            .map(|(guard, at)| {
                let location = locations.map(|first| LocationId::from_index(first + at as usize));
                (guard, array.element(at), location)
            })
            .collect();
        let inside = match (&target.index, length) {
            (Some(index), Some(length)) => self.is_inside(index, length),
            _ => true,
        };
        let outside = index.filter(|_| !inside).map(|index| (array, index));
        Slot { alternatives, ty, outside }
    }

    /// Stores a value, and goes on.
    fn store(&mut self, slot: &Slot, at: &At, value: &Expr, to: NodeId, place: Place) {
        if let Some((array, index)) = &slot.outside {
            let guard = and(at.guard.clone(), Some(outside(index, array.length)));
            let scratch = self.temporary(slot.ty);
            let element = Expr::Element(*array, Box::new(index.clone()));
            self.step(at.node, at.node, Action::Skip, guard, vec![(scratch, element)], place);
        }
        for (guard, variable, location) in &slot.alternatives {
            let assignment = (*variable, value.clone());
            match location {
                None => self.out(at, to, guard.clone(), &[assignment], place),
                Some(location) => {
                    let guard = and(at.guard.clone(), guard.clone());
                    let action = Action::Write(*location);
                    self.step(at.node, to, action, guard, vec![assignment], place);
                }
            }
        }
    }

    fn assign(&mut self, target: &Ref, source: &Source, mut at: At, to: NodeId, place: Place) {
        let slot = self.slot(target, &mut at);
        let is_event = matches!(target.variable, resolved::Variable::Shared(_));
        if let (Some(variable), Source::Expr(expr)) = (slot.local(), source)
            && branches(expr)
        {
            let sink = |value| Sink { to, assignments: vec![(variable, Expr::truth(value))] };
            self.branch(expr, at, &sink(true), &sink(false));
            return;
        }
        let value = self.source(source, slot.ty, &mut at, !is_event);
        self.store(&slot, &at, &value, to, place);
    }

    fn call(&mut self, call: &resolved::Call, mut at: At, to: NodeId, place: Place) {
        let slot = call.target.as_ref().map(|target| {
            let mut slot = self.slot(target, &mut at);
            // The callee may change what the index is made of.
            let is_computed = slot.alternatives.len() != 1 || slot.outside.is_some();
            if is_computed && let Some(index) = &target.index {
                let index = self.value(index, &mut at, false);
                let keep = self.temporary(Type::Int { low: -(1 << 30), high: (1 << 30) - 1 });
                let next = self.node();
                self.out(&at, next, None, &[(keep, index)], place);
                at = At::new(next);
                let index = Expr::Current(keep);
                for (at, (guard, ..)) in slot.alternatives.iter_mut().enumerate() {
                    *guard = Some(super::value::equals(&index, at as u32));
                }
                slot.outside = slot.outside.map(|(array, _)| (array, index));
            }
            slot
        });
        let arguments: Vec<Expr> =
            call.arguments.iter().map(|argument| self.value(argument, &mut at, false)).collect();
        let action = Action::Call(ProcedureId::from_index(
            self.layout.procedures[self.process][self.group] + call.callee,
        ));
        let direct = slot.as_ref().and_then(Slot::local);
        let keep = match (&slot, direct, call.result) {
            (Some(_), None, Some(ty)) => Some(self.temporary(ty)),
            _ => None,
        };
        let results: Vec<Option<Variable>> = call.result.iter().map(|_| direct.or(keep)).collect();
        let passing = (!arguments.is_empty() || !results.is_empty())
            .then_some(Passing { arguments, results });
        let Some((slot, keep)) = slot.zip(keep) else {
            return self.pass(at.node, to, action, None, Vec::new(), passing, place);
        };
        let next = self.node();
        self.pass(at.node, next, action, None, Vec::new(), passing, place);
        self.store(&slot, &At::new(next), &Expr::Current(keep), to, place);
    }

    /// The threads that may be meant, each with what makes it the one.
    fn threads(
        &mut self,
        thread: &Indexed,
        at: &mut At,
        place: Place,
    ) -> Vec<(Option<Expr>, ThreadId)> {
        let first = self.names.threads[thread.at];
        let length = match self.names.numbers[thread.at] {
            crate::names::Number::Copies(copies) => Some(copies),
            _ => None,
        };
        let index = self.row_index(thread, length, at, place);
        let threads = self.alternatives(length, index.as_ref()).into_iter();
        threads.map(|(guard, at)| (guard, ThreadId::from_index(first + at as usize))).collect()
    }

    fn start(
        &mut self,
        thread: &Indexed,
        arguments: &[resolved::Expr],
        mut at: At,
        to: NodeId,
        place: Place,
    ) {
        let threads = self.threads(thread, &mut at, place);
        let arguments: Vec<Expr> =
            arguments.iter().map(|argument| self.value(argument, &mut at, false)).collect();
        for (guard, thread) in threads {
            let passing = (!arguments.is_empty())
                .then(|| Passing { arguments: arguments.clone(), results: Vec::new() });
            let action = Action::Start(thread);
            self.pass(at.node, to, action, guard, Vec::new(), passing, place);
        }
    }

    fn lock_operation(
        &mut self,
        operation: LockOperation,
        lock: &Indexed,
        mut at: At,
        to: NodeId,
        place: Place,
    ) {
        let (locks, _) = self.locks(lock, &mut at, place);
        if operation == LockOperation::Wait {
            return self.wait(&locks, at.node, to, place);
        }
        for (guard, lock) in locks {
            let action = match operation {
                LockOperation::Acquire => Action::Acquire(lock),
                LockOperation::Release => Action::Release(lock),
                LockOperation::Notify => Action::Notify(lock),
                LockOperation::NotifyAll | LockOperation::Wait => Action::NotifyAll(lock),
            };
            self.step(at.node, to, action, guard, Vec::new(), place);
        }
    }

    /// `wait(l);`: two steps.
    fn wait(&mut self, locks: &[(Option<Expr>, LockId)], from: NodeId, to: NodeId, place: Place) {
        let middle = self.node();
        let mut resumed = Vec::new();
        for (guard, lock) in locks {
            let none = Expr::Constant(Literal::Thread(None));
            let (before, after) = match self.layout.watched[lock.index()] {
                None => (Vec::new(), Vec::new()),
                Some(Watch::Mutex(held)) => {
                    let held = Variable::Global(held);
                    (vec![(held, Expr::FALSE)], vec![(held, Expr::TRUE)])
                }
                Some(Watch::Reentrant(owner, holds)) => {
                    let (owner, holds) = (Variable::Global(owner), Variable::Global(holds));
                    let keep = self.temporary(super::MOST_HOLDS);
                    let before =
                        vec![(keep, Expr::Current(holds)), (holds, Expr::number(0)), (owner, none)];
                    (before, vec![(holds, Expr::Current(keep)), (owner, Expr::Me)])
                }
            };
            self.step(from, middle, Action::Wait(*lock), guard.clone(), before, place);
            resumed.push((guard.clone(), *lock, after));
        }
        for (guard, lock, after) in resumed {
            self.step(middle, to, Action::Resume(lock), guard, after, place);
        }
    }

    /// Takes a lock if that is possible, and says whether it was.
    fn try_acquire(
        &mut self,
        lock: &Indexed,
        target: Option<&Ref>,
        mut at: At,
        to: NodeId,
        place: Place,
    ) {
        let slot = target.map(|target| self.slot(target, &mut at));
        let (locks, _) = self.locks(lock, &mut at, place);
        let direct = slot.as_ref().and_then(Slot::local);
        let result = direct.unwrap_or_else(|| self.temporary(Type::Bool));
        let next = if direct.is_some() || slot.is_none() { to } else { self.node() };
        for (guard, lock) in locks {
            let yes = vec![(result, Expr::TRUE)];
            self.step(at.node, next, Action::Acquire(lock), guard.clone(), yes, place);
            let taken = self.layout.watched[lock.index()].map(|watch| match watch {
                Watch::Mutex(held) => Expr::Current(Variable::Global(held)),
                Watch::Reentrant(owner, _) => {
                    let owner = Expr::Current(Variable::Global(owner));
                    let none = Expr::Constant(Literal::Thread(None));
                    let free = owner.clone().join(Operator::Equal, none).not();
                    free.join(Operator::And, owner.join(Operator::Equal, Expr::Me).not())
                }
            });
            let no = vec![(result, Expr::FALSE)];
            self.step(at.node, next, Action::Skip, and(guard, taken), no, place);
        }
        if let (Some(slot), None) = (slot, direct) {
            self.store(&slot, &At::new(next), &Expr::Current(result), to, place);
        }
    }
}

/// Whether the evaluation of a condition branches.
fn branches(expr: &resolved::Expr) -> bool {
    match expr {
        resolved::Expr::Not(inner) => branches(inner),
        resolved::Expr::Binary(crate::ast::Binary::Model(operator), _, right) => {
            matches!(operator, Operator::And | Operator::Or | Operator::Implies) && right.reads()
        }
        _ => false,
    }
}

/// Any constant of a type between two values.
fn one_of(ty: Type, low: Value, high: Value) -> Expr {
    if low >= high {
        return Expr::Constant(Literal::of(ty, low));
    }
    let middle = low + (high - low) / 2;
    let halves = [one_of(ty, low, middle), one_of(ty, middle + 1, high)];
    let [first, second] = halves;
    Expr::Ite(Box::new([Expr::Choice, first, second]))
}
