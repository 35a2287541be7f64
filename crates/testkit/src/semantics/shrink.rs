//! # Idea
//! A program on which a test fails is made smaller, edit by edit, as long as the test fails: processes,
//! functions, declarations, statements, expressions.
//!
//! # Invariants
//! 1. Every edit lowers the number of statements, operands or declarations, so shrinking ends. Programs
//!    that no longer have a meaning are refused by the test.

use super::syntax::{Block, Copies, Expression, Place, Right, Source, Statement};

/// A smallest program, with respect to single edits, on which `fails` holds; at most `most` are tried.
pub fn shrink(mut source: Source, most: usize, mut fails: impl FnMut(&Source) -> bool) -> Source {
    let mut tried = 0;
    'again: loop {
        for edited in edits(&source) {
            tried += 1;
            if tried > most {
                return source;
            }
            if fails(&edited) {
                source = edited;
                continue 'again;
            }
        }
        return source;
    }
}

/// All programs that are one edit smaller, those that lose most first.
pub fn edits(source: &Source) -> Vec<Source> {
    let mut edits = Vec::new();
    if source.processes.len() > 1 {
        for at in 0..source.processes.len() {
            edits.push(without_process(source, at));
        }
    }
    let mut push = |change: &dyn Fn(&mut Source)| {
        let mut edited = source.clone();
        change(&mut edited);
        edits.push(edited);
    };
    for (at, process) in source.processes.iter().enumerate() {
        if process.functions.len() > 1 {
            push(&|edited| {
                edited.processes[at].functions.pop();
            });
        }
        match process.copies {
            Copies::Many(number) if number > 1 => {
                push(&|edited| edited.processes[at].copies = Copies::Many(number - 1));
            }
            Copies::Many(_) => push(&|edited| edited.processes[at].copies = Copies::One),
            _ => {}
        }
        if process.waits {
            push(&|edited| edited.processes[at].waits = false);
        }
        if !process.variables.is_empty() {
            push(&|edited| {
                edited.processes[at].variables.pop();
            });
        }
        for (position, function) in process.functions.iter().enumerate() {
            for lock in 0..function.locks.len() {
                push(&|edited| {
                    edited.processes[at].functions[position].locks.remove(lock);
                });
            }
            for body in blocks(&function.body) {
                push(&|edited| edited.processes[at].functions[position].body.clone_from(&body));
            }
        }
    }
    for at in 0..source.invariants.len() {
        push(&|edited| {
            edited.invariants.remove(at);
        });
    }
    for at in 0..source.globals.len() {
        if source.globals[at].annotation.is_some() {
            push(&|edited| edited.globals[at].annotation = None);
        }
        if source.globals[at].volatile {
            push(&|edited| edited.globals[at].volatile = false);
        }
    }
    if !source.globals.is_empty() {
        push(&|edited| {
            edited.globals.pop();
        });
    }
    if !source.locks.is_empty() {
        push(&|edited| {
            edited.locks.pop();
        });
    }
    for at in (0..source.locks.len()).filter(|&at| source.locks[at].conditions > 0) {
        push(&|edited| edited.locks[at].conditions -= 1);
    }
    if !source.locations.is_empty() {
        push(&|edited| {
            edited.locations.pop();
        });
    }
    if source.channels > 0 {
        push(&|edited| edited.channels -= 1);
    }
    edits
}

/// Whoever starts or joins a process that is gone does not; the others keep their names.
fn without_process(source: &Source, gone: usize) -> Source {
    let mut edited = source.clone();
    edited.processes.remove(gone);
    for function in edited.processes.iter_mut().flat_map(|process| &mut process.functions) {
        function.body = renamed(&function.body, gone);
    }
    edited
}

fn renamed(block: &Block, gone: usize) -> Block {
    let number = |process: usize| process - usize::from(process > gone);
    block
        .iter()
        .map(|statement| match statement {
            Statement::Start(process, ..) | Statement::Join(process, _) if *process == gone => {
                Statement::Skip
            }
            Statement::Start(process, index, arguments) => {
                Statement::Start(number(*process), index.clone(), arguments.clone())
            }
            Statement::Join(process, index) => Statement::Join(number(*process), index.clone()),
            Statement::Label(label, inner) => {
                let inner = renamed(&vec![(**inner).clone()], gone).remove(0);
                Statement::Label(*label, Box::new(inner))
            }
            Statement::Unit(body) => Statement::Unit(renamed(body, gone)),
            Statement::Atomic(body) => Statement::Atomic(renamed(body, gone)),
            Statement::Synchronized(lock, body) => {
                Statement::Synchronized(lock.clone(), renamed(body, gone))
            }
            Statement::If(condition, first, second) => {
                Statement::If(condition.clone(), renamed(first, gone), renamed(second, gone))
            }
            Statement::While(condition, body) => {
                Statement::While(condition.clone(), renamed(body, gone))
            }
            other => other.clone(),
        })
        .collect()
}

/// The blocks in which one statement is gone, replaced by its body, or smaller.
fn blocks(block: &Block) -> Vec<Block> {
    let mut smaller = Vec::new();
    for (at, statement) in block.iter().enumerate() {
        let with = |statements: &[Statement]| {
            let mut edited = block.clone();
            edited.splice(at..=at, statements.iter().cloned());
            edited
        };
        smaller.push(with(&[]));
        match statement {
            Statement::Unit(body)
            | Statement::Atomic(body)
            | Statement::Synchronized(_, body)
            | Statement::While(_, body) => smaller.push(with(body)),
            Statement::If(_, first, second) => {
                smaller.push(with(first));
                smaller.push(with(second));
            }
            Statement::Label(_, inner) => smaller.push(with(&[(**inner).clone()])),
            _ => {}
        }
        smaller.extend(statements(statement).into_iter().map(|one| with(&[one])));
    }
    smaller
}

fn statements(statement: &Statement) -> Vec<Statement> {
    let mut found = Vec::new();
    match statement {
        Statement::Label(label, inner) => {
            for one in statements(inner) {
                found.push(Statement::Label(*label, Box::new(one)));
            }
        }
        Statement::Unit(body) => found.extend(blocks(body).into_iter().map(Statement::Unit)),
        Statement::Atomic(body) => found.extend(blocks(body).into_iter().map(Statement::Atomic)),
        Statement::Synchronized(lock, body) => {
            for one in blocks(body) {
                found.push(Statement::Synchronized(lock.clone(), one));
            }
        }
        Statement::While(condition, body) => {
            for one in blocks(body) {
                found.push(Statement::While(condition.clone(), one));
            }
            for one in rights(condition) {
                found.push(Statement::While(one, body.clone()));
            }
        }
        Statement::If(condition, first, second) => {
            for one in blocks(first) {
                found.push(Statement::If(condition.clone(), one, second.clone()));
            }
            for one in blocks(second) {
                found.push(Statement::If(condition.clone(), first.clone(), one));
            }
            for one in rights(condition) {
                found.push(Statement::If(one, first.clone(), second.clone()));
            }
        }
        Statement::Assign(place, right) => {
            if let Place::Global(at, Some(index)) = place {
                for one in expressions(index) {
                    let place = Place::Global(*at, Some(Box::new(one)));
                    found.push(Statement::Assign(place, right.clone()));
                }
            }
            for one in rights(right) {
                found.push(Statement::Assign(place.clone(), one));
            }
        }
        Statement::Declare(local, Some(right)) => {
            for one in rights(right) {
                found.push(Statement::Declare(*local, Some(one)));
            }
        }
        Statement::Assert(one) => found.extend(expressions(one).into_iter().map(Statement::Assert)),
        Statement::Assume(one) => found.extend(expressions(one).into_iter().map(Statement::Assume)),
        Statement::Return(Some(one)) => {
            found.extend(expressions(one).into_iter().map(|one| Statement::Return(Some(one))));
        }
        Statement::Call(target, function, arguments) => {
            if target.is_some() {
                found.push(Statement::Call(None, *function, arguments.clone()));
            }
            for (at, argument) in arguments.iter().enumerate() {
                for one in expressions(argument) {
                    let mut arguments = arguments.clone();
                    arguments[at] = one;
                    found.push(Statement::Call(target.clone(), *function, arguments));
                }
            }
        }
        _ => {}
    }
    found
}

fn rights(right: &Right) -> Vec<Right> {
    match right {
        Right::Any => Vec::new(),
        Right::Expression(one) => expressions(one).into_iter().map(Right::Expression).collect(),
    }
}

/// Smaller expressions; those of another kind are refused when they are read.
fn expressions(expression: &Expression) -> Vec<Expression> {
    let mut found = Vec::new();
    match expression {
        Expression::Not(inner) | Expression::Negative(inner) => {
            found.push((**inner).clone());
        }
        Expression::Binary(operator, left, right) => {
            found.push((**left).clone());
            found.push((**right).clone());
            for one in expressions(left) {
                found.push(Expression::Binary(*operator, Box::new(one), right.clone()));
            }
            for one in expressions(right) {
                found.push(Expression::Binary(*operator, left.clone(), Box::new(one)));
            }
        }
        Expression::Variable(Place::Global(at, Some(index))) => {
            for one in expressions(index) {
                found.push(Expression::Variable(Place::Global(*at, Some(Box::new(one)))));
            }
            found.push(Expression::Number(0));
        }
        Expression::Variable(_) | Expression::Choose(..) | Expression::Index => {
            found.push(Expression::Number(0));
            found.push(Expression::Truth(true));
        }
        _ => {}
    }
    found
}
