//! # Idea
//! A machine as a concurrent Boolean program: every number becomes its bits, every transition one
//! parallel assignment with its guard as a constraint. A state with several transitions chooses one
//! first and waits for its guard afterwards; that reaches no other values than choosing among those
//! whose guards hold.

use super::bits::{self, Bit};
use super::machine::{Condition, Machine, Process, Relation, State, Term, Variable};
use std::fmt::Write;

/// How a program is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// Threads are started by `main`, jumps have several targets.
    Boppo,
    /// The first function runs first, every other one without a result is a thread; jumps have one
    /// target.
    Getafix,
}

/// The text of a machine.
pub fn print(machine: &Machine, dialect: Dialect) -> String {
    machine.check();
    let mut text = format!("// {}\n", machine.title);
    for variable in &machine.shared {
        let _ = writeln!(text, "decl {};", bits::list(&all_bits(variable)));
    }
    let first = match dialect {
        Dialect::Boppo => "main",
        Dialect::Getafix => "init",
    };
    let mut main = format!("\nvoid {first}() begin\n");
    for variable in &machine.shared {
        main.push_str(&initialise(variable));
    }
    if dialect == Dialect::Boppo {
        for process in &machine.processes {
            let _ = writeln!(main, "    start_thread {}();", process.name);
        }
    }
    main.push_str("end\n");
    text.push_str(&main);
    for process in &machine.processes {
        print_process(&mut text, machine, process, dialect);
    }
    text
}

fn print_process(text: &mut String, machine: &Machine, process: &Process, dialect: Dialect) {
    let _ = writeln!(text, "\nvoid {}() begin", process.name);
    for variable in &process.locals {
        let _ = writeln!(text, "    decl {};", bits::list(&all_bits(variable)));
    }
    for variable in &process.locals {
        text.push_str(&initialise(variable));
    }
    for (at, state) in process.states.iter().enumerate() {
        let next = process.states.get(at + 1).map(|state| state.name);
        let _ = writeln!(text, "{}:", state.name);
        if let Some(condition) = &state.asserted {
            let condition = condition_bit(machine, process, condition);
            let _ = writeln!(text, "    assert({condition});");
        }
        print_state(text, &Scope { machine, process }, state, next, dialect);
    }
    text.push_str("end\n");
}

struct Scope<'a> {
    machine: &'a Machine,
    process: &'a Process,
}

fn print_state(
    text: &mut String,
    scope: &Scope<'_>,
    state: &State,
    following: Option<&str>,
    dialect: Dialect,
) {
    let steps: Vec<String> =
        state.steps.iter().map(|step| statement(scope, &step.guard, &step.assignments)).collect();
    let branch = |at: usize| format!("{}_{}", state.name, at + 1);
    match (steps.as_slice(), dialect) {
        ([step], _) => {
            let _ = writeln!(text, "    {step}");
            if following != Some(state.steps[0].next) {
                let _ = writeln!(text, "    goto {};", state.steps[0].next);
            }
        }
        (_, Dialect::Boppo) => {
            let branches: Vec<String> = (0..steps.len()).map(branch).collect();
            let _ = writeln!(text, "    goto {};", branches.join(", "));
            for (at, step) in steps.iter().enumerate() {
                let _ = writeln!(text, "{}:", branches[at]);
                let _ = writeln!(text, "    {step}");
                let last = at + 1 == steps.len();
                if !(last && following == Some(state.steps[at].next)) {
                    let _ = writeln!(text, "    goto {};", state.steps[at].next);
                }
            }
        }
        (_, Dialect::Getafix) => {
            for (at, step) in steps.iter().enumerate() {
                let word = match at {
                    0 => "if (*) then",
                    _ if at + 1 == steps.len() => "else",
                    _ => "elsif (*) then",
                };
                let _ = writeln!(text, "    {word}\n        {step}");
                let _ = writeln!(text, "        goto {};", state.steps[at].next);
            }
            text.push_str("    fi\n");
        }
    }
}

fn statement(scope: &Scope<'_>, guard: &Condition, assignments: &[(Term, Term)]) -> String {
    let guard = condition_bit(scope.machine, scope.process, guard);
    let mut targets = Vec::new();
    let mut values = Vec::new();
    for (target, value) in assignments {
        let variable = scope.machine.variable(scope.process, target.target());
        let value = term_bits(scope.machine, scope.process, value, variable.bits);
        if let Term::Element(_, index) = target {
            let width = index_bits(variable);
            let index = term_bits(scope.machine, scope.process, index, width);
            for (at, old) in elements(variable).into_iter().enumerate() {
                let here = bits::equal(&index, &bits::number(at as u32, width));
                for (old, new) in old.into_iter().zip(&value) {
                    let result = bits::choose(here.clone(), new.clone(), old.clone());
                    if result != old {
                        targets.push(old);
                        values.push(result);
                    }
                }
            }
        } else {
            targets.extend(all_bits(variable));
            values.extend(value);
        }
    }
    match (targets.is_empty(), guard == Bit::Constant(true)) {
        (true, true) => "skip;".to_owned(),
        (true, false) => format!("assume({guard});"),
        (false, true) => format!("{} := {};", bits::list(&targets), bits::list(&values)),
        (false, false) => {
            format!("{} := {} constrain {guard};", bits::list(&targets), bits::list(&values))
        }
    }
}

fn initialise(variable: &Variable) -> String {
    let values: Vec<Bit> =
        variable.initial.iter().flat_map(|&value| bits::number(value, variable.bits)).collect();
    format!("    {} := {};\n", bits::list(&all_bits(variable)), bits::list(&values))
}

fn elements(variable: &Variable) -> Vec<Vec<Bit>> {
    (0..variable.initial.len())
        .map(|at| match variable.bits {
            1 => vec![Bit::Name(format!("{}{at}", variable.name))],
            bits => {
                (0..bits).map(|bit| Bit::Name(format!("{}{at}_{bit}", variable.name))).collect()
            }
        })
        .collect()
}

fn all_bits(variable: &Variable) -> Vec<Bit> {
    if variable.array {
        elements(variable).into_iter().flatten().collect()
    } else {
        bits::names(variable.name, variable.bits)
    }
}

fn index_bits(variable: &Variable) -> usize {
    width(variable.initial.len() as u32 - 1)
}

/// How many bits a number needs.
pub fn width(largest: u32) -> usize {
    (u32::BITS - largest.leading_zeros()).max(1) as usize
}

/// The bits of a term, at least or, if it is longer, cut to so many.
fn term_bits(machine: &Machine, process: &Process, term: &Term, bits: usize) -> Vec<Bit> {
    let mut result = natural_bits(machine, process, term, bits);
    result.resize(bits, Bit::Constant(false));
    result
}

fn natural_bits(machine: &Machine, process: &Process, term: &Term, wanted: usize) -> Vec<Bit> {
    match term {
        Term::Number(value) => bits::number(*value, wanted.max(width(*value))),
        Term::Name(name) => all_bits(machine.variable(process, name)),
        Term::Element(name, index) => {
            let variable = machine.variable(process, name);
            if let Term::Number(at) = index.as_ref() {
                return elements(variable).swap_remove(*at as usize);
            }
            let index = natural_bits(machine, process, index, index_bits(variable));
            bits::select(&elements(variable), &index)
        }
        Term::Plus(inner, constant) => {
            let mut bits = natural_bits(machine, process, inner, wanted);
            let enough = bits.len().max(width(*constant)) + 1;
            bits.resize(enough, Bit::Constant(false));
            bits::plus(&bits, *constant)
        }
        Term::Minus(inner, constant) => {
            bits::minus(&natural_bits(machine, process, inner, wanted), *constant)
        }
    }
}

fn condition_bit(machine: &Machine, process: &Process, condition: &Condition) -> Bit {
    let inner = |part| condition_bit(machine, process, part);
    match condition {
        Condition::All(parts) => bits::all(parts.iter().map(inner)),
        Condition::Any(parts) => bits::any(parts.iter().map(inner)),
        Condition::Compare(left, relation, right) => {
            let left = natural_bits(machine, process, left, 1);
            let right = natural_bits(machine, process, right, 1);
            match relation {
                Relation::Equal => bits::equal(&left, &right),
                Relation::Different => bits::equal(&left, &right).negate(),
                Relation::Less => bits::less(&left, &right),
                Relation::AtMost => bits::less(&right, &left).negate(),
            }
        }
    }
}
