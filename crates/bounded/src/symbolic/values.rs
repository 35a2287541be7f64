//! # Idea
//! What an expression can be, as two Boolean functions: where it can be true and where it can be
//! false. Both hold where choices leave it open. Choices are free of each other, so the functions of
//! a compound follow from those of its parts.
//!
//! # Source
//! [`selvedge_program::data`], semantics 1.

use super::space::{Bdd, Diagrams};
use crate::expr::not_boolean;
use selvedge_bdd::{Exhausted, Var};
use selvedge_program::{Expr, Literal, Operator, Variable};

/// The states in which an expression can have each value.
#[derive(Clone)]
pub(super) struct Values {
    /// The states in which it can be true.
    pub(super) yes: Bdd,
    /// The states in which it can be false.
    pub(super) no: Bdd,
}

impl Values {
    fn swapped(self) -> Self {
        Self { yes: self.no, no: self.yes }
    }
}

/// The values of an expression; `place` says where a variable (its next value, if the flag is set)
/// is found.
pub(super) fn values(
    space: &Diagrams,
    expr: &Expr,
    place: &dyn Fn(Variable, bool) -> Var,
) -> Result<Values, Exhausted> {
    Ok(match expr {
        Expr::Constant(Literal::Bool(true)) => Values { yes: space.top(), no: space.bottom() },
        Expr::Constant(Literal::Bool(false)) => Values { yes: space.bottom(), no: space.top() },
        Expr::Choice => Values { yes: space.top(), no: space.top() },
        Expr::Current(variable) => literal(space, place(*variable, false))?,
        Expr::Next(variable) => literal(space, place(*variable, true))?,
        Expr::Not(inner) => values(space, inner, place)?.swapped(),
        Expr::Binary(operator, left, right) => {
            let left = values(space, left, place)?;
            let right = values(space, right, place)?;
            match operator {
                Operator::And => both(space, &left, &right)?,
                Operator::Or => both(space, &left.swapped(), &right.swapped())?.swapped(),
                Operator::Implies => both(space, &left, &right.swapped())?.swapped(),
                Operator::Xor => differ(space, &left, &right)?,
                Operator::Equal => differ(space, &left, &right)?.swapped(),
                _ => not_boolean(expr),
            }
        }
        _ => not_boolean(expr),
    })
}

/// The constraint that `target` gets one of the values.
pub(super) fn becomes(space: &Diagrams, target: Var, values: &Values) -> Result<Bdd, Exhausted> {
    let yes = space.and(&space.literal(target, true)?, &values.yes)?;
    let no = space.and(&space.literal(target, false)?, &values.no)?;
    space.or(&yes, &no)
}

fn literal(space: &Diagrams, var: Var) -> Result<Values, Exhausted> {
    Ok(Values { yes: space.literal(var, true)?, no: space.literal(var, false)? })
}

fn both(space: &Diagrams, left: &Values, right: &Values) -> Result<Values, Exhausted> {
    Ok(Values { yes: space.and(&left.yes, &right.yes)?, no: space.or(&left.no, &right.no)? })
}

fn differ(space: &Diagrams, left: &Values, right: &Values) -> Result<Values, Exhausted> {
    let yes = space.or(&space.and(&left.yes, &right.no)?, &space.and(&left.no, &right.yes)?)?;
    let no = space.or(&space.and(&left.yes, &right.yes)?, &space.and(&left.no, &right.no)?)?;
    Ok(Values { yes, no })
}
