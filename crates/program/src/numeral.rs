//! # Idea
//! Steps about globals that together write a number, as the translation of pushdown systems has them: what
//! tests or sets all bits is about the number.

use crate::data::{Expr, Literal, Numeral, Operator, Update, Variable};
use crate::model::{GlobalId, Program};

impl Program {
    /// The numeral that an update sets to a constant, and to which: its bits are assigned constants, or
    /// tested by the guard and kept, and nothing else happens.
    pub fn constant_numeral(&self, update: &Update) -> Option<(&Numeral, u64)> {
        if update.constraint.is_some() {
            return None;
        }
        let mut tested = Vec::new();
        if let Some(guard) = &update.guard {
            literals(guard, &mut tested)?;
        }
        let of = |global: GlobalId| self.numerals.iter().find(|one| one.bits.contains(&global));
        let numeral = of(tested.first()?.0)?;
        if numeral.bits.len() > 64
            || tested.iter().any(|(global, _)| !numeral.bits.contains(global))
        {
            return None;
        }
        let mut assigned = Vec::new();
        for (target, value) in &update.assignments {
            match (target, value) {
                (Variable::Global(global), Expr::Constant(Literal::Bool(value)))
                    if numeral.bits.contains(global) =>
                {
                    assigned.push((*global, *value));
                }
                _ => return None,
            }
        }
        let mut number = 0;
        for (at, bit) in numeral.bits.iter().enumerate() {
            let known = assigned.iter().chain(&tested).find(|(global, _)| global == bit);
            number |= u64::from(known?.1) << at;
        }
        Some((numeral, number))
    }
}

/// The globals and values that a conjunction asks for; `None` if it is no conjunction of such.
fn literals(expr: &Expr, found: &mut Vec<(GlobalId, bool)>) -> Option<()> {
    match expr {
        Expr::Current(Variable::Global(global)) => found.push((*global, true)),
        Expr::Not(inner) => match **inner {
            Expr::Current(Variable::Global(global)) => found.push((global, false)),
            _ => return None,
        },
        Expr::Binary(Operator::And, left, right) => {
            literals(left, found)?;
            literals(right, found)?;
        }
        _ => return None,
    }
    Some(())
}
