//! # Idea
//! Expressions as text, with as few parentheses as the precedence of Boolean programs needs: `!`
//! binds tightest, then `=`, `&`, `^`, `|` and `=>`. Every reader of ours reads this text back as the
//! same tree, because equal connectives group to the left and `=>` to the right.

use crate::data::{Connective, Expr, Variable};
use std::fmt;

/// An expression with names for its variables.
pub struct Shown<'a, N> {
    expr: &'a Expr,
    names: &'a N,
}

/// The text of an expression; `names` writes a variable.
pub fn shown<'a, N>(expr: &'a Expr, names: &'a N) -> Shown<'a, N>
where
    N: Fn(Variable, &mut fmt::Formatter<'_>) -> fmt::Result,
{
    Shown { expr, names }
}

impl<N> fmt::Display for Shown<'_, N>
where
    N: Fn(Variable, &mut fmt::Formatter<'_>) -> fmt::Result,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(self.expr, self.names, 0, f)
    }
}

/// How tightly a connective binds; larger is tighter.
pub fn strength(connective: Connective) -> u8 {
    match connective {
        Connective::Implies => 1,
        Connective::Or => 2,
        Connective::Xor => 3,
        Connective::And => 4,
        Connective::Equal => 5,
    }
}

/// Stronger than every connective.
const OPERAND: u8 = 6;

fn write<N>(expr: &Expr, names: &N, around: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result
where
    N: Fn(Variable, &mut fmt::Formatter<'_>) -> fmt::Result,
{
    match expr {
        Expr::Constant(value) => f.write_str(if *value { "T" } else { "F" }),
        Expr::Choice => f.write_str("*"),
        Expr::Current(variable) => names(*variable, f),
        Expr::Next(variable) => {
            f.write_str("'")?;
            names(*variable, f)
        }
        Expr::Not(inner) => match &**inner {
            Expr::Binary(Connective::Equal, left, right) => {
                let own = strength(Connective::Equal);
                let sign = " != ";
                binary(left, sign, right, (own, own, own + 1), names, around, f)
            }
            inner => {
                f.write_str("!")?;
                write(inner, names, OPERAND, f)
            }
        },
        Expr::Binary(connective, left, right) => {
            let own = strength(*connective);
            let (sign, left_needs, right_needs) = match connective {
                Connective::And => (" & ", own, own + 1),
                Connective::Or => (" | ", own, own + 1),
                Connective::Xor => (" ^ ", own, own + 1),
                Connective::Equal => (" = ", own, own + 1),
                Connective::Implies => (" => ", own + 1, own),
            };
            binary(left, sign, right, (own, left_needs, right_needs), names, around, f)
        }
    }
}

fn binary<N>(
    left: &Expr,
    sign: &str,
    right: &Expr,
    (own, left_needs, right_needs): (u8, u8, u8),
    names: &N,
    around: u8,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result
where
    N: Fn(Variable, &mut fmt::Formatter<'_>) -> fmt::Result,
{
    if own < around {
        f.write_str("(")?;
    }
    write(left, names, left_needs, f)?;
    f.write_str(sign)?;
    write(right, names, right_needs, f)?;
    if own < around {
        f.write_str(")")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::GlobalId;
    use selvedge_base::Id;

    fn show(expr: &Expr) -> String {
        let names = |variable: Variable, f: &mut fmt::Formatter<'_>| match variable {
            Variable::Global(id) => write!(f, "g{}", id.index()),
            Variable::Local(id) => write!(f, "l{}", id.index()),
        };
        shown(expr, &names).to_string()
    }

    #[test]
    fn parentheses_stand_where_they_are_needed() {
        use Connective::{And, Equal, Implies, Or, Xor};
        let g = |at| Expr::Current(Variable::Global(GlobalId::from_index(at)));
        let and = g(0).join(And, g(1));
        assert_eq!(show(&and.clone().join(Or, g(2))), "g0 & g1 | g2");
        assert_eq!(show(&g(2).join(And, g(0).join(Or, g(1)))), "g2 & (g0 | g1)");
        assert_eq!(show(&g(2).join(And, and.clone())), "g2 & (g0 & g1)");
        assert_eq!(show(&and.clone().join(And, g(2))), "g0 & g1 & g2");
        assert_eq!(show(&and.clone().not()), "!(g0 & g1)");
        assert_eq!(show(&g(0).not().not()), "!!g0");
        assert_eq!(show(&g(0).join(Equal, g(1)).not()), "g0 != g1");
        assert_eq!(show(&g(0).join(Equal, g(1)).not().not()), "!(g0 != g1)");
        assert_eq!(show(&g(0).join(Equal, g(1)).join(Equal, g(2))), "g0 = g1 = g2");
        let implies = g(0).join(Implies, g(1));
        assert_eq!(show(&g(2).join(Implies, implies.clone())), "g2 => g0 => g1");
        assert_eq!(show(&implies.join(Implies, g(2))), "(g0 => g1) => g2");
        let next = Expr::Next(Variable::Global(GlobalId::from_index(3)));
        let mixed = Expr::Choice.join(Xor, next).join(Equal, Expr::Constant(true));
        assert_eq!(show(&mixed), "(* ^ 'g3) = T");
    }
}
