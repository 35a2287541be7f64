//! # Idea
//! Passes leave registers that nobody names any more. Here the others get numbers in the order in
//! which the text form names them, so that a module and what is read from its text are equal.
//!
//! # Invariants
//! 1. Parameters stay the first registers.

use crate::model::{Procedure, RegisterId};
use crate::operands::{each_value, each_value_mut, each_value_of_jump, each_value_of_jump_mut};
use crate::statement::Value;
use selvedge_base::IdVec;
use std::collections::{HashMap, HashSet};

/// Removes registers that are not named, and numbers the others in the order of the text.
pub fn renumber(procedure: &mut Procedure) {
    let mut numbers: IdVec<RegisterId, Option<RegisterId>> =
        IdVec::filled(None, procedure.registers.len());
    let mut names: IdVec<RegisterId, String> = IdVec::new();
    let mut mention = |register: RegisterId| {
        if numbers[register].is_none() {
            numbers[register] = Some(names.push(procedure.registers[register].clone()));
        }
    };
    procedure.parameter_registers().for_each(&mut mention);
    for block in &procedure.blocks {
        for statement in &block.statements {
            statement.results.iter().copied().for_each(&mut mention);
            each_value(&statement.operation, |value| {
                value.register().into_iter().for_each(&mut mention);
            });
        }
        each_value_of_jump(&block.end.jump, |value| {
            value.register().into_iter().for_each(&mut mention);
        });
    }
    let renamed = |value: &mut Value| {
        if let Value::Register(register) = value {
            *register = numbers[*register].unwrap_or(*register);
        }
    };
    procedure.locked.iter_mut().for_each(renamed);
    for block in &mut procedure.blocks {
        for statement in &mut block.statements {
            for result in &mut statement.results {
                *result = numbers[*result].unwrap_or(*result);
            }
            each_value_mut(&mut statement.operation, renamed);
        }
        each_value_of_jump_mut(&mut block.end.jump, renamed);
    }
    procedure.registers = names;
}

/// Gives out names of registers that a procedure does not have yet.
#[derive(Clone, Debug)]
pub struct FreshNames {
    taken: HashSet<String>,
    /// The last number behind a name.
    numbers: HashMap<String, usize>,
}

impl FreshNames {
    /// Names that differ from these.
    pub fn beside<'a>(names: impl IntoIterator<Item = &'a String>) -> Self {
        Self { taken: names.into_iter().cloned().collect(), numbers: HashMap::new() }
    }

    /// The name itself, or with a number behind it that makes it new.
    pub fn name(&mut self, wanted: &str) -> String {
        if self.taken.insert(wanted.to_owned()) {
            return wanted.to_owned();
        }
        let number = self.numbers.entry(wanted.to_owned()).or_insert(1);
        loop {
            *number += 1;
            let name = format!("{wanted}_{number}");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }

    /// A new register of a procedure.
    pub fn register(&mut self, procedure: &mut Procedure, wanted: &str) -> RegisterId {
        let name = self.name(wanted);
        procedure.registers.push(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ProcedureId;
    use crate::text::{print, read};
    use selvedge_base::Id as _;

    #[test]
    fn registers_get_numbers_in_the_order_of_the_text() {
        let text = "proc f(p) locked p\nb0:\n  b = any a\n  return\n".replace("any a", "any p");
        let mut module = read(&text).module.expect("no mistake");
        let procedure = &mut module.procedures[ProcedureId::from_index(0)];
        let unused = procedure.registers.push("unused".to_owned());
        let late = procedure.registers.push("late".to_owned());
        let block = &mut procedure.blocks[crate::model::BlockId::from_index(0)];
        block.statements[0].results = vec![late];
        assert!(unused < late);
        renumber(procedure);
        assert_eq!(procedure.registers.as_slice(), ["p", "late"]);
        assert_eq!(read(&print(&module)).module, Some(module));
    }

    #[test]
    fn fresh_names_are_new() {
        let taken = ["a".to_owned(), "a_2".to_owned()];
        let mut fresh = FreshNames::beside(&taken);
        assert_eq!(fresh.name("b"), "b");
        assert_eq!(fresh.name("a"), "a_3");
        assert_eq!(fresh.name("a"), "a_4");
    }
}
