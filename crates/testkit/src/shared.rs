//! # Idea
//! Threads that share procedures: every thread of a program runs the code of the first one. A node
//! then does not tell which thread is there.

use selvedge_base::{Id, IdVec};
use selvedge_program::{Action, Edge, Expr, Passing, Procedure, Program, ThreadId};

/// The program in which all threads run the procedures of the first, which are shared. Starts pass
/// any values. `None` if there is no thread.
///
/// # Panics
/// If the program shares procedures already.
pub fn all_run_the_first(program: &Program) -> Option<Program> {
    let main = program.threads.iter().next()?.main;
    let first = Some(ThreadId::from_index(0));
    let own = program.procedures.iter().take_while(|procedure| procedure.owner == first);
    let procedures: Vec<Procedure> =
        own.map(|procedure| Procedure { owner: None, ..procedure.clone() }).collect();
    assert!(!procedures.is_empty(), "the first thread owns its procedures");
    let inside = |id: usize| id < procedures.len();
    let mut out = Program {
        nodes: program.nodes.iter().copied().filter(|owner| inside(owner.index())).collect(),
        edges: IdVec::new(),
        labels: program.labels.clone(),
        ..program.clone()
    };
    out.labels.retain(|label| inside(program.nodes[label.node].index()));
    let parameters = procedures[main.index()].frame.parameters;
    for edge in program.edges.iter().filter(|edge| inside(program.nodes[edge.source].index())) {
        let passing = match edge.action {
            Action::Start(_) => {
                let arguments = vec![Expr::Choice; parameters];
                Some(out.passings.push(Passing { arguments, results: Vec::new() }))
            }
            _ => edge.passing,
        };
        out.edges.push(Edge { passing, ..edge.clone() });
    }
    out.procedures = IdVec::from_vec(procedures);
    for thread in program.threads.ids() {
        out.threads[thread].main = main;
    }
    Some(out)
}
