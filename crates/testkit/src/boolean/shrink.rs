//! # Idea
//! A Boolean model on which a test fails is made smaller by one edit after the other, as long as the
//! test still fails: threads, procedures and variables first, then statements, then expressions.
//!
//! # Invariants
//! 1. Every edit makes the [`size`] smaller, so shrinking ends.
//! 2. The result fails, and none of its edits does.
//! 3. An edit of a model that Boppo's dialect can say is such a model too.

use super::{BoolBlock, BoolModel, BoolProcedure, BoolStatement};
use selvedge_base::Id;
use selvedge_program::{Expr, GlobalId, LocalId, Variable};

/// A smallest model, with respect to single edits, on which `fails` holds. `fails` holds for `model`.
pub fn shrink_bool(mut model: BoolModel, mut fails: impl FnMut(&BoolModel) -> bool) -> BoolModel {
    while let Some(smaller) = bool_edits(&model).into_iter().find(|edited| fails(edited)) {
        model = smaller;
    }
    model
}

/// All models that are one edit smaller, with those that lose most first.
pub fn bool_edits(model: &BoolModel) -> Vec<BoolModel> {
    let mut edits = Vec::new();
    for thread in 1..model.threads.len() {
        edits.push(without_thread(model, thread));
    }
    for thread in 0..model.threads.len() {
        for procedure in 1..model.threads[thread].procedures.len() {
            edits.push(without_procedure(model, thread, procedure));
        }
    }
    for global in 0..model.globals.len() {
        let lost = Variable::Global(GlobalId::from_index(global));
        let mut edited = model.clone();
        edited.globals.remove(global);
        for procedure in edited.threads.iter_mut().flat_map(|thread| &mut thread.procedures) {
            forget(procedure, lost);
        }
        edits.push(edited);
    }
    for (thread, own) in model.threads.iter().enumerate() {
        for (position, procedure) in own.procedures.iter().enumerate() {
            for local in 0..procedure.locals {
                edits.push(without_local(model, thread, position, local));
            }
            for result in 0..procedure.results {
                edits.push(without_result(model, thread, position, result));
            }
            for smaller in smaller_procedures(procedure) {
                let mut edited = model.clone();
                edited.threads[thread].procedures[position] = smaller;
                edits.push(edited);
            }
        }
    }
    edits
}

/// How much there is to remove.
pub fn size(model: &BoolModel) -> usize {
    let procedures = model.threads.iter().flat_map(|thread| &thread.procedures);
    let of_procedure = |procedure: &BoolProcedure| {
        let enforced = procedure.enforced.as_ref().map_or(0, |enforced| 1 + expr_size(enforced));
        1 + procedure.locals + procedure.results + enforced + block_size(&procedure.body)
    };
    model.globals.len() + model.threads.len() + procedures.map(of_procedure).sum::<usize>()
}

fn block_size(block: &[BoolStatement]) -> usize {
    let of_statement = |statement: &BoolStatement| {
        let mut statement = statement.clone();
        let inside: usize = statement.blocks().map(|block| 1 + block_size(block)).sum();
        let exprs: usize = exprs_of(&mut statement).iter().map(|expr| 1 + expr_size(expr)).sum();
        let results = match &statement {
            BoolStatement::Call { results, .. } => results.len() + results.iter().flatten().count(),
            _ => 0,
        };
        1 + inside + exprs + results
    };
    block.iter().map(of_statement).sum()
}

fn expr_size(expr: &Expr) -> usize {
    match expr {
        Expr::Constant(_) => 0,
        other => 1 + other.parts().map(expr_size).sum::<usize>(),
    }
}

/// The expressions of a statement, without those of its blocks.
fn exprs_of(statement: &mut BoolStatement) -> Vec<&mut Expr> {
    match statement {
        BoolStatement::Assign(assignments, constraint) => {
            assignments.iter_mut().map(|(_, value)| value).chain(constraint).collect()
        }
        BoolStatement::Assume(condition)
        | BoolStatement::Assert(condition)
        | BoolStatement::If(condition, ..)
        | BoolStatement::While(condition, _) => vec![condition],
        BoolStatement::Call { arguments: exprs, .. }
        | BoolStatement::Start { arguments: exprs, .. }
        | BoolStatement::Return(exprs) => exprs.iter_mut().collect(),
        BoolStatement::Skip
        | BoolStatement::Choose(_)
        | BoolStatement::Atomic(_)
        | BoolStatement::Label(_) => Vec::new(),
    }
}

/// The blocks of a statement.
fn blocks_of(statement: &mut BoolStatement) -> Vec<&mut BoolBlock> {
    match statement {
        BoolStatement::If(_, first, second) => vec![first, second],
        BoolStatement::While(_, body) | BoolStatement::Atomic(body) => vec![body],
        BoolStatement::Choose(branches) => branches.iter_mut().collect(),
        _ => Vec::new(),
    }
}

fn smaller_procedures(procedure: &BoolProcedure) -> Vec<BoolProcedure> {
    let mut smaller = Vec::new();
    if let Some(enforced) = &procedure.enforced {
        smaller.push(BoolProcedure { enforced: None, ..procedure.clone() });
        for enforced in smaller_exprs(enforced) {
            smaller.push(BoolProcedure { enforced: Some(enforced), ..procedure.clone() });
        }
    }
    let bodies = smaller_blocks(&procedure.body).into_iter();
    smaller.extend(bodies.map(|body| BoolProcedure { body, ..procedure.clone() }));
    smaller
}

/// The blocks in which one statement is gone, or replaced by a block of it, or smaller.
fn smaller_blocks(block: &[BoolStatement]) -> Vec<BoolBlock> {
    let mut smaller = Vec::new();
    for (position, statement) in block.iter().enumerate() {
        let mut replace = |with: &[BoolStatement]| {
            let mut edited = block.to_vec();
            edited.splice(position..=position, with.iter().cloned());
            smaller.push(edited);
        };
        replace(&[]);
        for inside in statement.blocks() {
            replace(inside);
        }
        for statement in smaller_statements(statement) {
            replace(&[statement]);
        }
    }
    smaller
}

fn smaller_statements(statement: &BoolStatement) -> Vec<BoolStatement> {
    let mut smaller = Vec::new();
    match statement {
        BoolStatement::Choose(branches) if branches.len() > 1 => {
            for at in 0..branches.len() {
                let mut branches = branches.clone();
                branches.remove(at);
                smaller.push(BoolStatement::Choose(branches));
            }
        }
        BoolStatement::Assign(assignments, constraint) => {
            if constraint.is_some() {
                smaller.push(BoolStatement::Assign(assignments.clone(), None));
            } else if assignments.len() > 1 {
                for at in 0..assignments.len() {
                    let mut assignments = assignments.clone();
                    assignments.remove(at);
                    smaller.push(BoolStatement::Assign(assignments, None));
                }
            }
        }
        BoolStatement::Call { procedure, arguments, results } => {
            for at in (0..results.len()).filter(|&at| results[at].is_some()) {
                let mut results = results.clone();
                results[at] = None;
                let (procedure, arguments) = (*procedure, arguments.clone());
                smaller.push(BoolStatement::Call { procedure, arguments, results });
            }
        }
        _ => {}
    }
    let mut copy = statement.clone();
    for at in 0..blocks_of(&mut copy).len() {
        for block in smaller_blocks(&blocks_of(&mut copy)[at].clone()) {
            let mut edited = statement.clone();
            *blocks_of(&mut edited)[at] = block;
            smaller.push(edited);
        }
    }
    for at in 0..exprs_of(&mut copy).len() {
        for expr in smaller_exprs(&exprs_of(&mut copy)[at].clone()) {
            let mut edited = statement.clone();
            *exprs_of(&mut edited)[at] = expr;
            smaller.push(edited);
        }
    }
    smaller
}

fn smaller_exprs(expr: &Expr) -> Vec<Expr> {
    let mut smaller = match expr {
        Expr::Constant(_) => return Vec::new(),
        _ => vec![Expr::FALSE, Expr::TRUE],
    };
    match expr {
        Expr::Not(inner) => {
            smaller.push((**inner).clone());
            smaller.extend(smaller_exprs(inner).into_iter().map(Expr::not));
        }
        Expr::Binary(operator, left, right) => {
            smaller.extend([(**left).clone(), (**right).clone()]);
            for left in smaller_exprs(left) {
                smaller.push(left.join(*operator, (**right).clone()));
            }
            for right in smaller_exprs(right) {
                smaller.push((**left).clone().join(*operator, right));
            }
        }
        _ => {}
    }
    smaller
}

fn without_thread(model: &BoolModel, lost: usize) -> BoolModel {
    let mut edited = model.clone();
    edited.threads.remove(lost);
    for procedure in edited.threads.iter_mut().flat_map(|thread| &mut thread.procedures) {
        rewrite(&mut procedure.body, &|statement| match statement {
            BoolStatement::Start { thread, .. } if *thread == lost => false,
            BoolStatement::Start { thread, .. } => {
                *thread -= usize::from(*thread > lost);
                true
            }
            _ => true,
        });
    }
    edited
}

fn without_procedure(model: &BoolModel, thread: usize, lost: usize) -> BoolModel {
    let mut edited = model.clone();
    let procedures = &mut edited.threads[thread].procedures;
    procedures.remove(lost);
    for other in procedures {
        rewrite(&mut other.body, &|statement| match statement {
            BoolStatement::Call { procedure, .. } if *procedure == lost => false,
            BoolStatement::Call { procedure, .. } => {
                *procedure -= usize::from(*procedure > lost);
                true
            }
            _ => true,
        });
    }
    edited
}

fn without_local(model: &BoolModel, thread: usize, position: usize, local: usize) -> BoolModel {
    let mut edited = model.clone();
    let procedure = &mut edited.threads[thread].procedures[position];
    procedure.locals -= 1;
    forget(procedure, Variable::Local(LocalId::from_index(local)));
    if local >= procedure.parameters {
        return edited;
    }
    procedure.parameters -= 1;
    for (at, own) in edited.threads.iter_mut().enumerate() {
        for procedure in &mut own.procedures {
            rewrite(&mut procedure.body, &|statement| {
                match statement {
                    BoolStatement::Call { procedure, arguments, .. }
                        if at == thread && *procedure == position =>
                    {
                        arguments.remove(local);
                    }
                    BoolStatement::Start { thread: started, arguments }
                        if *started == thread && position == 0 =>
                    {
                        arguments.remove(local);
                    }
                    _ => {}
                }
                true
            });
        }
    }
    edited
}

fn without_result(model: &BoolModel, thread: usize, position: usize, lost: usize) -> BoolModel {
    let mut edited = model.clone();
    for (at, procedure) in edited.threads[thread].procedures.iter_mut().enumerate() {
        procedure.results -= usize::from(at == position);
        rewrite(&mut procedure.body, &|statement| {
            match statement {
                BoolStatement::Call { procedure, results, .. } if *procedure == position => {
                    results.remove(lost);
                }
                BoolStatement::Return(values) if at == position => {
                    values.remove(lost);
                }
                _ => {}
            }
            true
        });
    }
    edited
}

/// Replaces a variable by a constant, drops what is assigned to it, and closes the gap in the
/// numbers.
fn forget(procedure: &mut BoolProcedure, lost: Variable) {
    if let Some(enforced) = &mut procedure.enforced {
        forget_in(enforced, lost);
    }
    rewrite(&mut procedure.body, &|statement| {
        for expr in exprs_of(statement) {
            forget_in(expr, lost);
        }
        match statement {
            BoolStatement::Assign(assignments, _) => {
                assignments.retain(|&(target, _)| target != lost);
                for (target, _) in assignments.iter_mut() {
                    close_gap(target, lost);
                }
                !assignments.is_empty()
            }
            BoolStatement::Call { results, .. } => {
                for result in results {
                    *result = result.filter(|&target| target != lost);
                    if let Some(target) = result {
                        close_gap(target, lost);
                    }
                }
                true
            }
            _ => true,
        }
    });
}

fn forget_in(expr: &mut Expr, lost: Variable) {
    expr.change(&mut |part| match part {
        Expr::Current(variable) | Expr::Next(variable) if *variable == lost => *part = Expr::FALSE,
        Expr::Current(variable) | Expr::Next(variable) => close_gap(variable, lost),
        _ => {}
    });
}

fn close_gap(variable: &mut Variable, lost: Variable) {
    match (variable, lost) {
        (Variable::Global(at), Variable::Global(lost)) if *at > lost => {
            *at = GlobalId::from_index(at.index() - 1);
        }
        (Variable::Local(at), Variable::Local(lost)) if *at > lost => {
            *at = LocalId::from_index(at.index() - 1);
        }
        _ => {}
    }
}

/// Changes every statement, innermost first, and drops those for which `keep` is false.
fn rewrite(block: &mut BoolBlock, keep: &dyn Fn(&mut BoolStatement) -> bool) {
    for statement in block.iter_mut() {
        for inside in blocks_of(statement) {
            rewrite(inside, keep);
        }
    }
    block.retain_mut(|statement| keep(statement));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boolean::generate::{BoolShape, random_bool_model};
    use crate::rng::Rng;
    use selvedge_program::validate::validate;

    #[test]
    fn edits_are_valid_and_smaller() {
        for seed in 0..60 {
            let shape = if seed % 2 == 0 { BoolShape::SMALL } else { BoolShape::SMALL_BOPPO };
            let model = random_bool_model(&mut Rng::new(seed), &shape);
            for edited in bool_edits(&model) {
                assert!(size(&edited) < size(&model), "seed {seed}:\n{model}\n{edited}");
                assert_eq!(validate(&edited.to_program()), [], "seed {seed}:\n{edited}");
                assert!(edited.is_boppo() || !model.is_boppo());
            }
        }
    }

    #[test]
    fn shrinking_finds_the_core() {
        let fails = |model: &BoolModel| {
            let text = model.to_string();
            text.contains("assert(") && text.contains("atomic_begin")
        };
        let mut shrunk = 0;
        for seed in 0..100 {
            let model = random_bool_model(&mut Rng::new(seed), &BoolShape::SMALL);
            if fails(&model) {
                let small = shrink_bool(model, fails);
                assert_eq!((small.statements(), small.globals.len()), (2, 0), "{small}");
                shrunk += 1;
            }
        }
        assert!(shrunk > 15, "{shrunk}");
    }
}
