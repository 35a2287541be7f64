//! # Idea
//! Each function becomes a control-flow graph. A statement is laid between two given nodes, so that
//! its last edge leads directly to where execution goes on, and no joining edges are needed.
//!
//! # Source
//! SEMANTICS, "EML": several `synchronized` prefixes acquire left to right; `return` and the end of
//! a function leave the enclosing units and synchronized blocks inside-out, each a step of its own.
//!
//! # Requires
//! A tree without errors: every name means something and every process has a `main`.
//!
//! # Invariants
//! 1. The node that a statement is laid from has no other outgoing edges.
//! 2. Statements that are never executed are left out; every node can be reached from the entry of
//!    its procedure and reaches the exit.

use crate::ast::{Block, File, Function, Number, Statement, StatementKind};
use crate::names::Names;
use selvedge_base::{Id, Place};
use selvedge_program::copies::copy_name;
use selvedge_program::{
    Action, AtomicSet, Copies, Edge, Frame, Label, Location, Lock, LockId, NodeId, Procedure,
    ProcedureId, Program, Start, Thread, ThreadId,
};

/// The most edges that a program may have. A `return` inside of many blocks leaves each of them, so
/// a text can be made whose graph is much larger than itself.
pub const EDGE_LIMIT: usize = 1 << 24;

/// The program of a tree; `None` if it would have more than `edge_limit` edges.
pub fn lower(file: &File<'_>, names: &Names<'_>, edge_limit: usize) -> Option<Program> {
    let mut program = Program::default();
    for lock in &file.locks {
        program.locks.push(Lock::reentrant(lock.text.to_owned(), lock.place));
    }
    if !file.locations.is_empty() {
        let set = program.atomic_sets.push(AtomicSet { name: "shared".to_owned() });
        for location in &file.locations {
            program.locations.push(Location {
                name: location.text.to_owned(),
                place: location.place,
                atomic_set: set,
            });
        }
    }
    let mut first = 0;
    for (at, process) in file.processes.iter().enumerate() {
        let main = names.functions[at]["main"];
        let (name, place) = process
            .name
            .map_or((String::new(), Place::NONE), |name| (name.text.to_owned(), name.place));
        let start = if process.waits { Start::ByEdge { after: None } } else { Start::AtFirst };
        let copies = if process.number == Number::Any { Copies::Any } else { Copies::One };
        // Several copies share their functions, which then need a name that no other process has.
        let (names_of_threads, owner, prefix) = match process.number {
            Number::Copies(number) => {
                ((0..number).map(|at| copy_name(&name, at)).collect(), None, format!("{name}."))
            }
            Number::One | Number::Any => (vec![name], Some(names.threads[at]), String::new()),
        };
        for name in names_of_threads {
            program.threads.push(Thread { name, place, main, start, copies });
        }
        for (offset, function) in process.functions.iter().enumerate() {
            let procedure = ProcedureId::from_index(first + offset);
            let mut lowering = Lowering {
                program: &mut program,
                names,
                functions: at,
                procedure,
                exit: NodeId::from_index(0),
                volatile: &file.volatile,
                scopes: Vec::new(),
                edge_limit,
            };
            lowering.function(function, owner, &prefix);
            if program.edges.len() > edge_limit {
                return None;
            }
        }
        first += process.functions.len();
    }
    Some(program)
}

/// Something that must be left on the way out.
#[derive(Clone, Copy)]
enum Scope {
    Lock(LockId),
    Unit,
}

impl Scope {
    fn enter(self) -> Action {
        match self {
            Self::Lock(lock) => Action::Acquire(lock),
            Self::Unit => Action::BeginUnit,
        }
    }

    fn leave(self) -> Action {
        match self {
            Self::Lock(lock) => Action::Release(lock),
            Self::Unit => Action::EndUnit,
        }
    }
}

struct Lowering<'p, 'a> {
    program: &'p mut Program,
    names: &'p Names<'a>,
    /// The process, to look up its functions.
    functions: usize,
    procedure: ProcedureId,
    exit: NodeId,
    /// Whether each location is volatile.
    volatile: &'p [bool],
    /// What encloses the current statement, outermost first.
    scopes: Vec<Scope>,
    edge_limit: usize,
}

impl<'a> Lowering<'_, 'a> {
    fn node(&mut self) -> NodeId {
        self.program.nodes.push(self.procedure)
    }

    fn edge(&mut self, source: NodeId, target: NodeId, action: Action, place: Place) {
        let volatile = match action {
            Action::Read(location) | Action::Write(location) => self.volatile[location.index()],
            _ => false,
        };
        // One edge too many is enough to know.
        if self.program.edges.len() <= self.edge_limit {
            self.program.edges.push(Edge {
                source,
                target,
                action,
                update: None,
                passing: None,
                place,
                volatile,
            });
        }
    }

    fn function(&mut self, function: &Function<'a>, owner: Option<ThreadId>, prefix: &str) {
        let entry = self.node();
        self.exit = self.node();
        self.program.procedures.push(Procedure {
            name: format!("{prefix}{}", function.name.text),
            owner,
            place: function.name.place,
            end: function.body.close,
            entry,
            exit: self.exit,
            frame: Frame::default(),
        });
        let mut at = entry;
        for prefix in &function.prefixes {
            let scope = Scope::Lock(self.names.locks[prefix.lock.text]);
            let next = self.node();
            self.edge(at, next, scope.enter(), prefix.place);
            self.scopes.push(scope);
            at = next;
        }
        if self.scopes.is_empty() || !function.body.completes() {
            self.block(&function.body, at, self.exit);
        } else {
            let end = self.node();
            self.block(&function.body, at, end);
            self.leave_all(end, function.body.close);
        }
    }

    /// Leaves all scopes, inside-out, and the function.
    fn leave_all(&mut self, mut at: NodeId, place: Place) {
        for depth in (0..self.scopes.len()).rev() {
            let next = if depth == 0 { self.exit } else { self.node() };
            self.edge(at, next, self.scopes[depth].leave(), place);
            at = next;
        }
    }

    fn block(&mut self, block: &Block<'a>, from: NodeId, to: NodeId) {
        let (live, _) = block.split_live();
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

    fn scoped(&mut self, scope: Scope, block: &Block<'a>, from: NodeId, to: NodeId, place: Place) {
        let inside = self.node();
        self.edge(from, inside, scope.enter(), place);
        self.scopes.push(scope);
        if block.completes() {
            let end = self.node();
            self.block(block, inside, end);
            self.edge(end, to, scope.leave(), block.close);
        } else {
            self.block(block, inside, to);
        }
        self.scopes.pop();
    }

    /// Lays a statement between two nodes. The last one is not reached if the statement does not
    /// complete.
    fn statement(&mut self, statement: &Statement<'a>, from: NodeId, to: NodeId) {
        let place = statement.place;
        match &statement.kind {
            StatementKind::Read(name) => {
                self.edge(from, to, Action::Read(self.names.locations[name.text]), place);
            }
            StatementKind::Write(name) => {
                self.edge(from, to, Action::Write(self.names.locations[name.text]), place);
            }
            StatementKind::Call(name) => {
                let callee = self.names.functions[self.functions][name.text];
                self.edge(from, to, Action::Call(callee), place);
            }
            StatementKind::Skip => self.edge(from, to, Action::Skip, place),
            StatementKind::Return if self.scopes.is_empty() => {
                self.edge(from, self.exit, Action::Skip, place);
            }
            StatementKind::Return => self.leave_all(from, place),
            StatementKind::Unit(block) => self.scoped(Scope::Unit, block, from, to, place),
            StatementKind::Synchronized(lock, block) => {
                let scope = Scope::Lock(self.names.locks[lock.text]);
                self.scoped(scope, block, from, to, place);
            }
            StatementKind::If(branches, otherwise) => {
                let mut from = from;
                for (at, branch) in branches.iter().enumerate() {
                    let inside = self.node();
                    self.edge(from, inside, Action::Skip, branch.place);
                    self.statement(&branch.body, inside, to);
                    let last = at + 1 == branches.len();
                    let next = if last && otherwise.is_none() { to } else { self.node() };
                    self.edge(from, next, Action::Skip, branch.place);
                    from = next;
                }
                if let Some(otherwise) = otherwise {
                    self.statement(otherwise, from, to);
                }
            }
            StatementKind::While(body) => {
                let inside = self.node();
                self.edge(from, inside, Action::Skip, place);
                self.statement(body, inside, from);
                self.edge(from, to, Action::Skip, place);
            }
            StatementKind::Block(block) => self.block(block, from, to),
            StatementKind::Start(thread) => {
                self.edge(from, to, Action::Start(self.names.thread(thread)), place);
            }
            StatementKind::Join(thread) => {
                self.edge(from, to, Action::Join(self.names.thread(thread)), place);
            }
            StatementKind::Label(name, inner) => {
                self.program.labels.push(Label { name: name.text.to_owned(), node: from });
                self.statement(inner, from, to);
            }
        }
    }
}
