//! # Idea
//! A model on which a test fails is made smaller by one edit after the other, as long as the test
//! still fails: whole processes, functions, locks and locations first, then single statements.
//!
//! # Invariants
//! 1. Every edit makes the model smaller, so shrinking ends.
//! 2. The result fails, and none of its edits does.

use crate::source::{Block, Function, Model, Statement};

/// A smallest model, with respect to single edits, on which `fails` holds. `fails` holds for `model`.
pub fn shrink(mut model: Model, mut fails: impl FnMut(&Model) -> bool) -> Model {
    while let Some(smaller) = edits(&model).into_iter().find(|edited| fails(edited)) {
        model = smaller;
    }
    model
}

/// All models that are one edit smaller, with those that lose most first.
pub fn edits(model: &Model) -> Vec<Model> {
    let mut edits = Vec::new();
    if model.processes.len() > 1 {
        for index in 0..model.processes.len() {
            edits.push(without_process(model, index));
        }
    }
    for index in 0..model.processes.len() {
        for position in 1..model.processes[index].functions.len() {
            edits.push(without_function(model, index, position));
        }
    }
    for lock in 0..model.locks {
        edits.push(without_lock(model, lock));
    }
    for location in 0..model.locations {
        edits.push(without_location(model, location));
    }
    for (index, process) in model.processes.iter().enumerate() {
        for (position, function) in process.functions.iter().enumerate() {
            for smaller in smaller_functions(function) {
                let mut edited = model.clone();
                edited.processes[index].functions[position] = smaller;
                edits.push(edited);
            }
        }
    }
    edits
}

fn smaller_functions(function: &Function) -> Vec<Function> {
    let mut smaller = Vec::new();
    for position in 0..function.locks.len() {
        let mut edited = function.clone();
        edited.locks.remove(position);
        smaller.push(edited);
    }
    smaller.extend(
        smaller_blocks(&function.body)
            .into_iter()
            .map(|body| Function { locks: function.locks.clone(), body }),
    );
    smaller
}

/// The blocks in which one statement is gone, or replaced by its body, or smaller.
fn smaller_blocks(block: &[Statement]) -> Vec<Block> {
    let mut smaller = Vec::new();
    let replace = |position: usize, with: &[Statement]| {
        let mut edited = block.to_vec();
        edited.splice(position..=position, with.iter().cloned());
        edited
    };
    for (position, statement) in block.iter().enumerate() {
        smaller.push(replace(position, &[]));
        let mut inside = |body: &Block, wrap: &dyn Fn(Block) -> Statement| {
            smaller.push(replace(position, body));
            smaller.extend(
                smaller_blocks(body).into_iter().map(|body| replace(position, &[wrap(body)])),
            );
        };
        match statement {
            Statement::Unit(body) => inside(body, &Statement::Unit),
            Statement::Synchronized(lock, body) => {
                inside(body, &|body| Statement::Synchronized(*lock, body));
            }
            Statement::While(body) => inside(body, &Statement::While),
            Statement::If(first, second) => {
                inside(first, &|first| Statement::If(first, second.clone()));
                if !second.is_empty() {
                    inside(second, &|second| Statement::If(first.clone(), second));
                }
            }
            Statement::Skip
            | Statement::Read(_)
            | Statement::Write(_)
            | Statement::Call(_)
            | Statement::Return
            | Statement::Start(_)
            | Statement::Join(_) => {}
        }
    }
    smaller
}

fn without_process(model: &Model, process: usize) -> Model {
    let mut edited = model.clone();
    edited.processes.remove(process);
    for function in edited.processes.iter_mut().flat_map(|process| &mut process.functions) {
        function.body = rewrite(&function.body, &|statement| match statement {
            Statement::Start(other) | Statement::Join(other) if other == process => Vec::new(),
            Statement::Start(other) if other > process => vec![Statement::Start(other - 1)],
            Statement::Join(other) if other > process => vec![Statement::Join(other - 1)],
            other => vec![other],
        });
    }
    edited
}

fn without_function(model: &Model, process: usize, function: usize) -> Model {
    let mut edited = model.clone();
    let functions = &mut edited.processes[process].functions;
    functions.remove(function);
    for other in functions {
        other.body = rewrite(&other.body, &|statement| match statement {
            Statement::Call(callee) if callee == function => Vec::new(),
            Statement::Call(callee) if callee > function => vec![Statement::Call(callee - 1)],
            other => vec![other],
        });
    }
    edited
}

fn without_lock(model: &Model, lock: usize) -> Model {
    let mut edited = model.clone();
    edited.locks -= 1;
    for function in edited.processes.iter_mut().flat_map(|process| &mut process.functions) {
        function.locks.retain(|&other| other != lock);
        for other in &mut function.locks {
            *other -= usize::from(*other > lock);
        }
        function.body = rewrite(&function.body, &|statement| match statement {
            Statement::Synchronized(other, body) if other == lock => body,
            Statement::Synchronized(other, body) if other > lock => {
                vec![Statement::Synchronized(other - 1, body)]
            }
            other => vec![other],
        });
    }
    edited
}

fn without_location(model: &Model, location: usize) -> Model {
    let mut edited = model.clone();
    edited.locations -= 1;
    for function in edited.processes.iter_mut().flat_map(|process| &mut process.functions) {
        function.body = rewrite(&function.body, &|statement| match statement {
            Statement::Read(other) | Statement::Write(other) if other == location => Vec::new(),
            Statement::Read(other) if other > location => vec![Statement::Read(other - 1)],
            Statement::Write(other) if other > location => vec![Statement::Write(other - 1)],
            other => vec![other],
        });
    }
    edited
}

/// Replaces every statement, innermost first.
fn rewrite(block: &[Statement], by: &dyn Fn(Statement) -> Block) -> Block {
    let rewritten = |statement: &Statement| match statement {
        Statement::Unit(body) => Statement::Unit(rewrite(body, by)),
        Statement::Synchronized(lock, body) => Statement::Synchronized(*lock, rewrite(body, by)),
        Statement::While(body) => Statement::While(rewrite(body, by)),
        Statement::If(first, second) => Statement::If(rewrite(first, by), rewrite(second, by)),
        simple => simple.clone(),
    };
    block.iter().flat_map(|statement| by(rewritten(statement))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Shape, random_model, with_starts};
    use crate::rng::Rng;
    use selvedge_program::validate::validate;

    /// How much there is to remove; every edit must lower it.
    fn size(model: &Model) -> usize {
        let functions = model.processes.iter().flat_map(|process| &process.functions);
        model.locks
            + model.locations
            + model.processes.len()
            + model.statements()
            + functions.map(|function| 1 + function.locks.len()).sum::<usize>()
    }

    #[test]
    fn edits_are_valid_and_smaller() {
        for seed in 0..30 {
            let rng = &mut Rng::new(seed);
            let model = random_model(rng, &Shape::SMALL);
            let model = with_starts(rng, model);
            for edited in edits(&model) {
                assert!(size(&edited) < size(&model), "seed {seed}:\n{edited}");
                assert!(validate(&edited.to_program()).is_empty(), "seed {seed}:\n{edited}");
            }
        }
    }

    #[test]
    fn shrinking_finds_the_core() {
        let has_unit_with_write = |model: &Model| {
            let text = model.to_eml();
            text.contains("unit") && text.contains("write")
        };
        let mut shrunk = 0;
        for seed in 0..40 {
            let model = random_model(&mut Rng::new(seed), &Shape::SMALL);
            if has_unit_with_write(&model) {
                let small = shrink(model, has_unit_with_write);
                assert_eq!(small.statements(), 2, "seed {seed}:\n{small}");
                assert_eq!((small.locks, small.locations, small.processes.len()), (0, 1, 1));
                shrunk += 1;
            }
        }
        assert!(shrunk > 20);
    }
}
