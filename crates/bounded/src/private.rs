//! # Idea
//! A step is *private* if it neither reads nor writes anything shared. Whoever takes a private step can
//! as well take it at once after the step before it, in the same context: nobody can tell. So a search
//! need not stop before private steps.
//!
//! # Requires
//! The program is valid.

use selvedge_base::{Id, IdVec};
use selvedge_program::{Action, Edge, Expr, NodeId, ProcedureId, Program, Variable};

/// Calls `visit` for every expression that a step evaluates, other than what is enforced.
pub fn for_each_expr<'p>(program: &'p Program, edge: &Edge, visit: &mut dyn FnMut(&'p Expr)) {
    if let Some(update) = edge.update.map(|id| &program.updates[id]) {
        update.guard.iter().chain(&update.constraint).for_each(&mut *visit);
        update.assignments.iter().for_each(|(_, expr)| visit(expr));
    }
    if let Some(passing) = edge.passing.map(|id| &program.passings[id]) {
        passing.arguments.iter().for_each(&mut *visit);
    }
    match edge.action {
        Action::Assert(condition) => visit(&program.conditions[condition]),
        Action::Return(values) => program.returns[values].iter().for_each(visit),
        _ => {}
    }
}

/// Whether what a procedure enforces depends on something shared.
pub fn enforces_shared(program: &Program, procedure: ProcedureId) -> bool {
    let mut shared = false;
    if let Some(condition) = program.procedures[procedure].frame.enforced {
        let mut look = |variable, _| shared |= matches!(variable, Variable::Global(_));
        program.conditions[condition].variables(&mut look);
    }
    shared
}

/// Whether a step mentions a global, apart from what is enforced and from results that a return brings.
pub fn mentions_globals(program: &Program, edge: &Edge) -> bool {
    let mut shared = false;
    let mut look = |variable: Variable| shared |= matches!(variable, Variable::Global(_));
    for_each_expr(program, edge, &mut |expr| expr.variables(&mut |one, _| look(one)));
    for (target, _) in edge.update.iter().flat_map(|&id| &program.updates[id].assignments) {
        look(*target);
    }
    shared
}

/// The nodes from which all steps are private, and there is one.
pub fn private_nodes(program: &Program) -> IdVec<NodeId, bool> {
    let procedures = program.procedures.ids();
    let enforces: Vec<bool> = procedures.map(|id| enforces_shared(program, id)).collect();
    // Whether a return from a procedure may do something shared in a caller.
    let mut returns = enforces.clone();
    for edge in &program.edges {
        let Action::Call(callee) = edge.action else { continue };
        let results = edge.passing.map_or(&[][..], |id| &program.passings[id].results);
        let global = results.iter().any(|one| matches!(one, Some(Variable::Global(_))));
        returns[callee.index()] |= global || enforces[program.nodes[edge.source].index()];
    }
    let mut private: IdVec<NodeId, Option<bool>> = IdVec::filled(None, program.nodes.len());
    let mut note = |node: NodeId, is_private: bool| {
        let known = private[node].unwrap_or(true);
        private[node] = Some(known && is_private);
    };
    for (id, procedure) in program.procedures.iter_enumerated() {
        note(procedure.exit, !returns[id.index()]);
    }
    for edge in &program.edges {
        let own = program.nodes[edge.source].index();
        let shared = match edge.action {
            Action::Skip => enforces[own],
            Action::Call(callee) => enforces[own] || enforces[callee.index()],
            Action::Return(_) => returns[own],
            _ => true,
        };
        note(edge.source, !shared && !mentions_globals(program, edge));
    }
    private.iter().map(|one| *one == Some(true)).collect()
}
