//! # Idea
//! A Boolean model becomes control-flow graphs directly, without a front end. Every statement is one
//! step, the choice of a branch too.
//!
//! # Requires
//! Everything is named by positions that exist.
//!
//! # Invariants
//! 1. The node at which a statement starts has no edges yet, so a loop may use it as its head.

use super::{BoolModel, BoolProcedure, BoolStatement, procedure_name, thread_name};
use selvedge_base::{Id, Place};
use selvedge_program::{
    Action, Copies, Edge, Expr, Frame, Global, Label, Local, NodeId, Passing, Procedure,
    ProcedureId, Program, Start, Thread, ThreadId, Type, Update,
};

impl BoolModel {
    /// The model as a program. Its places are all unknown.
    pub fn to_program(&self) -> Program {
        let mut program = Program::default();
        for (at, &initial) in self.globals.iter().enumerate() {
            program.globals.push(Global::flag(format!("g{at}"), Place::NONE, initial));
        }
        for (index, thread) in self.threads.iter().enumerate() {
            let main = program.procedures.next_id();
            let start = if thread.waits { Start::ByEdge { after: None } } else { Start::AtFirst };
            let name = thread_name(index);
            program.threads.push(Thread {
                name,
                place: Place::NONE,
                main,
                start,
                copies: Copies::One,
            });
            for (position, procedure) in thread.procedures.iter().enumerate() {
                let name = procedure_name(index, position);
                build(&mut program, ThreadId::from_index(index), main, name, procedure);
            }
        }
        program
    }
}

fn build(
    program: &mut Program,
    thread: ThreadId,
    main: ProcedureId,
    name: String,
    procedure: &BoolProcedure,
) {
    let id = program.procedures.next_id();
    let entry = program.nodes.push(id);
    let exit = program.nodes.push(id);
    let local = |at| Local::flag(format!("a{at}"), Place::NONE);
    let enforced = procedure.enforced.clone().map(|expr| program.conditions.push(expr));
    let frame = Frame {
        locals: (0..procedure.locals).map(local).collect(),
        parameters: procedure.parameters,
        results: vec![Type::Bool; procedure.results],
        arrays: Vec::new(),
        enforced,
    };
    let place = Place::NONE;
    program.procedures.push(Procedure {
        name,
        owner: Some(thread),
        place,
        end: place,
        entry,
        exit,
        frame,
    });
    let mut builder = Builder { program, procedure: id, main, exit };
    let end = builder.block(entry, &procedure.body);
    builder.edge(end, exit, Action::Skip, None, None);
}

struct Builder<'a> {
    program: &'a mut Program,
    procedure: ProcedureId,
    /// The first procedure of the thread.
    main: ProcedureId,
    exit: NodeId,
}

impl Builder<'_> {
    fn node(&mut self) -> NodeId {
        self.program.nodes.push(self.procedure)
    }

    fn edge(
        &mut self,
        source: NodeId,
        target: NodeId,
        action: Action,
        update: Option<Update>,
        passing: Option<Passing>,
    ) {
        let update = update.map(|update| self.program.updates.push(update));
        let passing = passing.map(|passing| self.program.passings.push(passing));
        let place = Place::NONE;
        self.program.edges.push(Edge {
            source,
            target,
            action,
            update,
            passing,
            place,
            volatile: false,
        });
    }

    /// An edge to a new node.
    fn step(&mut self, source: NodeId, action: Action, update: Option<Update>) -> NodeId {
        let target = self.node();
        self.edge(source, target, action, update, None);
        target
    }

    fn skip(&mut self, source: NodeId, target: NodeId) {
        self.edge(source, target, Action::Skip, None, None);
    }

    /// A step that is possible if the condition can be true.
    fn when(&mut self, source: NodeId, condition: Expr) -> NodeId {
        let update = Update { guard: Some(condition), ..Update::default() };
        self.step(source, Action::Skip, Some(update))
    }

    fn block(&mut self, mut at: NodeId, block: &[BoolStatement]) -> NodeId {
        for statement in block {
            at = self.statement(at, statement);
        }
        at
    }

    /// Builds a statement from `at` and returns where it ends.
    fn statement(&mut self, at: NodeId, statement: &BoolStatement) -> NodeId {
        match statement {
            BoolStatement::Skip => self.step(at, Action::Skip, None),
            BoolStatement::Assign(assignments, constraint) => {
                let update = Update {
                    guard: None,
                    assignments: assignments.clone(),
                    constraint: constraint.clone(),
                };
                self.step(at, Action::Skip, Some(update))
            }
            BoolStatement::Assume(condition) => self.when(at, condition.clone()),
            BoolStatement::Assert(condition) => {
                let condition = self.program.conditions.push(condition.clone());
                self.step(at, Action::Assert(condition), None)
            }
            BoolStatement::If(condition, first, second) => {
                let join = self.node();
                for (condition, block) in
                    [(condition.clone(), first), (condition.clone().not(), second)]
                {
                    let begin = self.when(at, condition);
                    let end = self.block(begin, block);
                    self.skip(end, join);
                }
                join
            }
            BoolStatement::While(condition, body) => {
                let begin = self.when(at, condition.clone());
                let end = self.block(begin, body);
                self.skip(end, at);
                self.when(at, condition.clone().not())
            }
            BoolStatement::Choose(branches) => {
                let join = self.node();
                for branch in branches {
                    let begin = self.step(at, Action::Skip, None);
                    let end = self.block(begin, branch);
                    self.skip(end, join);
                }
                join
            }
            BoolStatement::Call { procedure, arguments, results } => {
                let callee = ProcedureId::from_index(self.main.index() + procedure);
                let passing = Passing { arguments: arguments.clone(), results: results.clone() };
                let target = self.node();
                self.edge(at, target, Action::Call(callee), None, Some(passing));
                target
            }
            BoolStatement::Return(values) => {
                let values = self.program.returns.push(values.clone());
                self.edge(at, self.exit, Action::Return(values), None, None);
                // What follows in the block is dead code.
                self.node()
            }
            BoolStatement::Atomic(body) => {
                let begin = self.step(at, Action::BeginAtomic, None);
                let end = self.block(begin, body);
                self.step(end, Action::EndAtomic, None)
            }
            BoolStatement::Label(number) => {
                self.program.labels.push(Label {
                    name: format!("L{number}"),
                    node: at,
                    place: Place::NONE,
                });
                self.step(at, Action::Skip, None)
            }
            BoolStatement::Start { thread, arguments } => {
                let action = Action::Start(ThreadId::from_index(*thread));
                let passing = Passing { arguments: arguments.clone(), results: Vec::new() };
                let target = self.node();
                self.edge(at, target, action, None, Some(passing));
                target
            }
        }
    }
}
