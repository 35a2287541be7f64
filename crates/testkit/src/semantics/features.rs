//! # Idea
//! Which features of EML a program has, for the counts of a comparison.
//!
//! # Source
//! The book's page on EML, *Grammar*.

use super::syntax::{
    Annotation, Copies, Expression, First, Function, LockStatement, Place, Process, Right, Source,
    Statement, Type,
};
use std::collections::BTreeSet;

/// The features of a program, each by its name.
pub fn features(source: &Source) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    let mut has = |feature: &'static str, is: bool| {
        if is {
            found.insert(feature);
        }
    };
    has("reentrant locks", source.locks.iter().any(|lock| !lock.mutex));
    has("mutexes", source.locks.iter().any(|lock| lock.mutex));
    has("arrays of locks", source.locks.iter().any(|lock| lock.length.is_some()));
    has("conditions", source.locks.iter().any(|lock| lock.conditions > 0));
    has("channels", source.channels > 0);
    has("locations without values", !source.locations.is_empty());
    has("invariants", !source.invariants.is_empty());
    let volatile = source.globals.iter().map(|global| global.volatile);
    has("volatile", volatile.chain(source.locations.iter().copied()).any(|volatile| volatile));
    for global in &source.globals {
        has("shared variables", true);
        has("arrays", global.length.is_some());
        has("any first value", global.first == First::Any);
        match &global.annotation {
            None => {}
            Some(Annotation::Exclusive(_)) => has("exclusive when", true),
            Some(_) => has("guarded by", true),
        }
        has(type_name(global.kind), true);
    }
    for process in &source.processes {
        has("copies [N]", matches!(process.copies, Copies::Many(_)));
        has("copies [*]", process.copies == Copies::Any);
        has("variables of a process", !process.variables.is_empty());
        has("recursion", is_recursive(process));
        for function in &process.functions {
            has("synchronized functions", !function.locks.is_empty());
            has("parameters", function.parameters > 0);
            has("results", function.result.is_some());
            visit(&function.body, &mut |statement| of_statement(statement, &mut has));
        }
    }
    found
}

fn type_name(kind: Type) -> &'static str {
    match kind {
        Type::Bool => "bool",
        Type::Range(..) => "int a..b",
        Type::Modulo(_) => "int mod n",
        Type::Enumeration => "enum",
        Type::Thread => "thread",
    }
}

fn of_statement(statement: &Statement, has: &mut dyn FnMut(&'static str, bool)) {
    has(
        match statement {
            Statement::Declare(..) => "locals",
            Statement::TryAcquire(..) => "tryacquire",
            Statement::Assert(_) => "assert",
            Statement::Assume(_) => "assume",
            Statement::Lock(LockStatement::Acquire | LockStatement::Release, _) => "locks by hand",
            Statement::Lock(LockStatement::Wait, _) => "wait",
            Statement::Lock(LockStatement::Notify | LockStatement::NotifyAll, _) => "notify",
            Statement::Call(..) => "calls",
            Statement::Return(_) => "return",
            Statement::Start(..) => "start",
            Statement::Join(..) => "join",
            Statement::Label(..) => "labels",
            Statement::Unit(_) => "units",
            Statement::Atomic(_) => "atomic",
            Statement::Synchronized(..) => "synchronized",
            Statement::If(..) => "if",
            Statement::While(..) => "while",
            Statement::Assign(_, Right::Any) => "free choice",
            Statement::Assign(Place::Global(_, Some(index)), _)
                if !matches!(**index, Expression::Number(_)) =>
            {
                "computed elements"
            }
            Statement::Skip
            | Statement::Access { .. }
            | Statement::Assign(..)
            | Statement::Channel(..) => return,
        },
        true,
    );
}

fn visit(block: &[Statement], see: &mut dyn FnMut(&Statement)) {
    for statement in block {
        see(statement);
        match statement {
            Statement::Label(_, inner) => visit(std::slice::from_ref(inner), see),
            Statement::Unit(body)
            | Statement::Atomic(body)
            | Statement::Synchronized(_, body)
            | Statement::While(_, body) => visit(body, see),
            Statement::If(_, first, second) => {
                visit(first, see);
                visit(second, see);
            }
            _ => {}
        }
    }
}

fn callees(function: &Function) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    visit(&function.body, &mut |statement| {
        if let Statement::Call(_, callee, _) = statement {
            found.insert(*callee);
        }
    });
    found
}

/// Whether a function that its main leads to leads to itself.
fn is_recursive(process: &Process) -> bool {
    let reached = |from: usize| {
        let mut known = BTreeSet::new();
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            open.extend(
                callees(&process.functions[at]).into_iter().filter(|&one| known.insert(one)),
            );
        }
        known
    };
    let called = reached(0);
    called.contains(&0) || called.into_iter().any(|function| reached(function).contains(&function))
}
