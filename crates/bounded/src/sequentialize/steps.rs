//! # Idea
//! What the translation has to know about the steps of the program: which of them look at shared
//! data, so that the round may have to advance before them, and which change it, so that a thread
//! may want to leave after them. Elsewhere advancing can wait, and leaving could have been earlier:
//! nothing shared depends on the difference.
//!
//! # Invariants
//! 1. A step looks at shared data if its outcome, or what a procedure enforces before or after it,
//!    may depend on a global or on whether a thread was started. The start of an atomic section
//!    counts too, because the round cannot advance inside.

use crate::expr::mentions_globals;
use selvedge_base::IdVec;
use selvedge_program::{Action, Edge, NodeId, ProcedureId, Program, Target, ThreadId, Variable};
use selvedge_program::{Position, StatePattern};

/// Where the round may advance and where a thread may leave.
pub struct Steps {
    /// The round may advance here.
    pub advance: IdVec<NodeId, bool>,
    /// The thread may leave here.
    pub leave: IdVec<NodeId, bool>,
    /// The target is reached here.
    pub label: IdVec<NodeId, bool>,
    /// The thread of this node is where the target wants it.
    pub there: IdVec<NodeId, bool>,
}

impl Steps {
    /// Looks at all edges of a valid program.
    pub fn new(program: &Program, target: &Target) -> Self {
        let nodes = program.nodes.len();
        let mut steps = Self {
            advance: IdVec::filled(false, nodes),
            leave: IdVec::filled(false, nodes),
            label: IdVec::filled(false, nodes),
            there: IdVec::filled(false, nodes),
        };
        match target {
            Target::Assertion => {}
            Target::Label(labelled) => {
                for &node in labelled {
                    steps.label[node] = true;
                }
            }
            Target::State(pattern) => steps.positions(program, pattern),
        }
        for thread in &program.threads {
            steps.leave[program.procedures[thread.main].entry] = true;
        }
        let returns = looking_returns(program);
        let mut changing_returns = IdVec::filled(false, program.procedures.len());
        for edge in &program.edges {
            let procedure = program.nodes[edge.source];
            if enforces_shared(program, procedure) || looks(program, edge, &returns) {
                steps.advance[edge.source] = true;
            }
            if changes(program, edge) {
                steps.leave[edge.target] = true;
                match edge.action {
                    Action::Call(callee) => steps.leave[program.procedures[callee].entry] = true,
                    Action::Return(_) => changing_returns[procedure] = true,
                    _ => {}
                }
            }
        }
        for edge in &program.edges {
            if let Action::Call(callee) = edge.action {
                steps.leave[edge.target] |= changing_returns[callee];
            }
        }
        for (id, procedure) in program.procedures.iter_enumerated() {
            if returns[id] || enforces_shared(program, id) {
                steps.advance[procedure.exit] = true;
            }
        }
        steps
    }

    fn positions(&mut self, program: &Program, pattern: &StatePattern) {
        for (id, position) in pattern.threads.iter_enumerated() {
            let Position::At(nodes) = position else { continue };
            for &node in nodes {
                if thread_of(program, node) == id {
                    self.there[node] = true;
                    self.leave[node] = true;
                }
            }
        }
    }
}

/// The thread whose code a node belongs to.
pub fn thread_of(program: &Program, node: NodeId) -> ThreadId {
    owner(program, program.nodes[node])
}

/// The thread that runs a procedure of a program without shared ones.
pub fn owner(program: &Program, procedure: ProcedureId) -> ThreadId {
    program.procedures[procedure].owner.expect("there are no shared procedures any more")
}

fn enforces_shared(program: &Program, procedure: ProcedureId) -> bool {
    let enforced = program.procedures[procedure].frame.enforced;
    enforced.is_some_and(|id| mentions_globals(&program.conditions[id]))
}

/// For each procedure, whether the end of one of its activations looks at shared data in its
/// caller.
fn looking_returns(program: &Program) -> IdVec<ProcedureId, bool> {
    let mut looking = IdVec::filled(false, program.procedures.len());
    for edge in &program.edges {
        if let Action::Call(callee) = edge.action
            && (changes(program, edge) || enforces_shared(program, program.nodes[edge.source]))
        {
            looking[callee] = true;
        }
    }
    looking
}

fn looks(program: &Program, edge: &Edge, returns: &IdVec<ProcedureId, bool>) -> bool {
    let update = edge.update.is_some_and(|id| {
        let update = &program.updates[id];
        update.guard.iter().chain(&update.constraint).any(mentions_globals)
            || update.assignments.iter().any(|(target, value)| {
                matches!(target, Variable::Global(_)) || mentions_globals(value)
            })
    });
    let passes =
        edge.passing.is_some_and(|id| program.passings[id].arguments.iter().any(mentions_globals));
    let acts = match edge.action {
        Action::Assert(id) => mentions_globals(&program.conditions[id]),
        Action::Return(id) => {
            returns[program.nodes[edge.source]] || program.returns[id].iter().any(mentions_globals)
        }
        Action::Call(callee) => enforces_shared(program, callee),
        Action::Start(_) | Action::BeginAtomic => true,
        _ => false,
    };
    update || passes || acts
}

/// Whether shared data may be different once control has come to the target of the edge.
fn changes(program: &Program, edge: &Edge) -> bool {
    let is_global = |target: &Variable| matches!(target, Variable::Global(_));
    let update = edge.update.is_some_and(|id| {
        program.updates[id].assignments.iter().any(|(target, _)| is_global(target))
    });
    let results =
        edge.passing.is_some_and(|id| program.passings[id].results.iter().flatten().any(is_global));
    update || results || matches!(edge.action, Action::Start(_) | Action::EndAtomic)
}
