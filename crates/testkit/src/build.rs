//! # Idea
//! A model becomes control-flow graphs directly, without a front end, so that a test of the engines
//! does not test the parser, and a test of the parser has something to compare with.
//!
//! # Source
//! SEMANTICS, "EML": `return` and the end of a function leave every enclosing unit and synchronized
//! block inside-out, each a step of its own.
//!
//! # Requires
//! Locks, locations and functions are named by positions that exist.
//!
//! # Invariants
//! 1. The node at which a statement starts has no edges yet, so a loop may use it as its head.

use crate::source::{Function, Model, Statement, function_name};
use crate::straight::declare;
use selvedge_base::{Id, Place};
use selvedge_program::{
    Action, Copies, Edge, Frame, LocationId, LockId, NodeId, Procedure, ProcedureId, Program,
    Start, Thread, ThreadId,
};

impl Model {
    /// The model as a program. Its places are all unknown.
    pub fn to_program(&self) -> Program {
        let mut program = Program::default();
        declare(&mut program, self.locks, self.locations);
        for (index, process) in self.processes.iter().enumerate() {
            let thread = ThreadId::from_index(index);
            let main = program.procedures.next_id();
            let name = format!("T{}", index + 1);
            let start =
                if self.waits(index) { Start::ByEdge { after: None } } else { Start::AtFirst };
            program.threads.push(Thread {
                name,
                place: Place::NONE,
                main,
                start,
                copies: Copies::One,
            });
            for (position, function) in process.functions.iter().enumerate() {
                let id = program.procedures.next_id();
                let (entry, exit) = build_function(&mut program, id, main, function);
                program.procedures.push(Procedure {
                    name: function_name(position),
                    owner: Some(thread),
                    place: Place::NONE,
                    end: Place::NONE,
                    entry,
                    exit,
                    frame: Frame::default(),
                });
            }
        }
        program
    }
}

fn build_function(
    program: &mut Program,
    procedure: ProcedureId,
    main: ProcedureId,
    function: &Function,
) -> (NodeId, NodeId) {
    let entry = program.nodes.push(procedure);
    let exit = program.nodes.push(procedure);
    let mut builder = Builder { program, procedure, main, exit, scopes: Vec::new() };
    let mut at = entry;
    for &lock in &function.locks {
        let lock = LockId::from_index(lock);
        at = builder.step(at, Action::Acquire(lock));
        builder.scopes.push(Action::Release(lock));
    }
    let end = builder.block(at, &function.body);
    builder.leave(end);
    (entry, exit)
}

struct Builder<'a> {
    program: &'a mut Program,
    procedure: ProcedureId,
    /// The first function of the process.
    main: ProcedureId,
    exit: NodeId,
    /// What closes the enclosing units and synchronized blocks, outermost first.
    scopes: Vec<Action>,
}

impl Builder<'_> {
    fn node(&mut self) -> NodeId {
        self.program.nodes.push(self.procedure)
    }

    fn edge(&mut self, source: NodeId, target: NodeId, action: Action) {
        self.program.edges.push(Edge {
            source,
            target,
            action,
            update: None,
            passing: None,
            place: Place::NONE,
            volatile: false,
        });
    }

    /// An edge to a new node.
    fn step(&mut self, source: NodeId, action: Action) -> NodeId {
        let target = self.node();
        self.edge(source, target, action);
        target
    }

    fn block(&mut self, mut at: NodeId, block: &[Statement]) -> NodeId {
        for statement in block {
            at = self.statement(at, statement);
        }
        at
    }

    /// Builds a statement from `at` and returns where it ends.
    fn statement(&mut self, at: NodeId, statement: &Statement) -> NodeId {
        match statement {
            Statement::Skip => self.step(at, Action::Skip),
            Statement::Read(location) => {
                self.step(at, Action::Read(LocationId::from_index(*location)))
            }
            Statement::Write(location) => {
                self.step(at, Action::Write(LocationId::from_index(*location)))
            }
            Statement::Call(function) => {
                let callee = ProcedureId::from_index(self.main.index() + function);
                self.step(at, Action::Call(callee))
            }
            Statement::Start(process) => {
                self.step(at, Action::Start(ThreadId::from_index(*process)))
            }
            Statement::Join(process) => self.step(at, Action::Join(ThreadId::from_index(*process))),
            Statement::Return => {
                self.leave(at);
                // What follows in the block is dead code.
                self.node()
            }
            Statement::Unit(body) => self.scope(at, body, Action::BeginUnit, Action::EndUnit),
            Statement::Synchronized(lock, body) => {
                let lock = LockId::from_index(*lock);
                self.scope(at, body, Action::Acquire(lock), Action::Release(lock))
            }
            Statement::If(first, second) => {
                let join = self.node();
                for branch in [first, second] {
                    let start = self.step(at, Action::Skip);
                    let end = self.block(start, branch);
                    self.edge(end, join, Action::Skip);
                }
                join
            }
            Statement::While(body) => {
                let start = self.step(at, Action::Skip);
                let end = self.block(start, body);
                self.edge(end, at, Action::Skip);
                self.step(at, Action::Skip)
            }
        }
    }

    fn scope(&mut self, at: NodeId, body: &[Statement], open: Action, close: Action) -> NodeId {
        let start = self.step(at, open);
        self.scopes.push(close);
        let end = self.block(start, body);
        self.scopes.pop();
        self.step(end, close)
    }

    /// Closes all scopes, inside-out, and goes to the exit.
    fn leave(&mut self, mut at: NodeId) {
        for position in (0..self.scopes.len()).rev() {
            at = self.step(at, self.scopes[position]);
        }
        self.edge(at, self.exit, Action::Skip);
    }
}
