//! # Idea
//! A machine as Promela, so that SPIN answers the same question. A transition is a `d_step`; the
//! processes are `active` and start in the order of the machine.

use super::machine::{Condition, Machine, Process, Relation, State, Term, Transition, Variable};
use std::fmt::Write;

/// The text of a machine.
pub fn print(machine: &Machine) -> String {
    machine.check();
    let mut text = format!("/* {} */\n", machine.title);
    for variable in &machine.shared {
        declare(&mut text, variable);
    }
    let arrays: Vec<&Variable> = machine.shared.iter().filter(|variable| variable.array).collect();
    let differ = |variable: &&&Variable| variable.initial.iter().any(|&value| value != 0);
    let starts_late = arrays.iter().any(|variable| differ(&variable));
    if starts_late {
        text.push_str("init {\n    atomic {\n");
        for variable in arrays {
            for (at, value) in variable.initial.iter().enumerate().filter(|(_, value)| **value != 0)
            {
                let _ = writeln!(text, "        {}[{at}] = {value};", variable.name);
            }
        }
        for process in &machine.processes {
            let _ = writeln!(text, "        run {}();", process.name);
        }
        text.push_str("    }\n}\n");
    }
    for process in &machine.processes {
        let word = if starts_late { "proctype" } else { "active proctype" };
        let _ = writeln!(text, "\n{word} {}() {{", process.name);
        for variable in &process.locals {
            text.push_str("    ");
            declare(&mut text, variable);
        }
        print_states(&mut text, process);
        text.push_str("}\n");
    }
    text
}

fn declare(text: &mut String, variable: &Variable) {
    let _ = if variable.array {
        writeln!(text, "byte {}[{}];", variable.name, variable.initial.len())
    } else {
        writeln!(text, "byte {} = {};", variable.name, variable.initial[0])
    };
}

fn print_states(text: &mut String, process: &Process) {
    for state in &process.states {
        let _ = writeln!(text, "{}: if", state.name);
        for step in &state.steps {
            let _ = writeln!(text, "    :: {} goto {}", transition(state, step), step.next);
        }
        text.push_str("    fi;\n");
    }
}

fn transition(state: &State, step: &Transition) -> String {
    let check = state.asserted.iter().map(|held| format!("assert({}); ", condition(held)));
    let assignments = step
        .assignments
        .iter()
        .map(|(target, value)| format!("{} = {}; ", term(target), term(value)));
    let guard = condition(&step.guard);
    format!("d_step {{ {guard}; {}}}", check.chain(assignments).collect::<String>())
}

fn term(value: &Term) -> String {
    match value {
        Term::Number(value) => value.to_string(),
        Term::Name(name) => (*name).to_owned(),
        Term::Element(array, index) => format!("{array}[{}]", term(index)),
        Term::Plus(inner, constant) => format!("({} + {constant})", term(inner)),
        Term::Minus(inner, constant) => format!("({} - {constant})", term(inner)),
    }
}

fn condition(held: &Condition) -> String {
    let joined = |parts: &[Condition], sign: &str, nothing: &str| match parts {
        [] => nothing.to_owned(),
        parts => format!("({})", parts.iter().map(condition).collect::<Vec<_>>().join(sign)),
    };
    match held {
        Condition::Compare(left, relation, right) => {
            let sign = match relation {
                Relation::Equal => "==",
                Relation::Different => "!=",
                Relation::Less => "<",
                Relation::AtMost => "<=",
            };
            format!("{} {sign} {}", term(left), term(right))
        }
        Condition::All(parts) => joined(parts, " && ", "true"),
        Condition::Any(parts) => joined(parts, " || ", "false"),
    }
}
