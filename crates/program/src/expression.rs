//! # Idea
//! Expressions as text. In the text form `!` binds tightest, then `=`, `&`, `^`, `|` and `=>`; equal
//! connectives group to the left and `=>` to the right. The dialects of Boolean programs bind
//! otherwise: what people or other languages read has parentheses also where one of these needs
//! them, and every reader of ours reads it as the same tree.

use crate::data::{Connective, Expr, Variable};
use crate::model::{ProcedureId, Program};
use std::fmt;

impl Program {
    /// The name of a variable of a procedure.
    pub fn variable_name(&self, owner: ProcedureId, variable: Variable) -> &str {
        match variable {
            Variable::Global(id) => &self.globals[id].name,
            Variable::Local(id) => &self.procedures[owner].frame.locals[id].name,
        }
    }
}

/// An expression with names for its variables.
pub struct Shown<'a, N> {
    expr: &'a Expr,
    names: &'a N,
    readers: Readers,
}

/// Who is to read a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Readers {
    /// The reader of the text form.
    TextForm,
    /// Everybody, whatever language they are used to.
    All,
}

/// The text of an expression; `names` writes a variable.
pub fn shown<'a, N>(expr: &'a Expr, readers: Readers, names: &'a N) -> Shown<'a, N>
where
    N: Fn(Variable, &mut fmt::Formatter<'_>) -> fmt::Result,
{
    Shown { expr, names, readers }
}

impl<N> fmt::Display for Shown<'_, N>
where
    N: Fn(Variable, &mut fmt::Formatter<'_>) -> fmt::Result,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(self.expr, Around::Nothing, f)
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

/// How tightly a connective binds where comparisons and implications are one level, the loosest.
fn other_strength(connective: Connective) -> u8 {
    match connective {
        Connective::Implies | Connective::Equal => 1,
        Connective::Xor => 2,
        Connective::Or => 3,
        Connective::And => 4,
    }
}

/// What stands around an expression.
#[derive(Clone, Copy)]
enum Around {
    Nothing,
    /// A sign before it.
    Not,
    /// It is the left operand of a connective.
    LeftOf(Connective),
    /// It is the right operand of a connective.
    RightOf(Connective),
}

impl Around {
    /// Whether an operand with this connective needs parentheses for one of the readers.
    fn asks(self, inner: Connective, readers: Readers) -> bool {
        let (outer, groups) = match self {
            Self::Nothing => return false,
            Self::Not => return true,
            Self::LeftOf(outer) => (outer, outer != Connective::Implies),
            Self::RightOf(outer) => {
                (outer, outer == Connective::Implies && readers == Readers::TextForm)
            }
        };
        if outer == inner {
            return !groups;
        }
        let tighter = |strength: fn(Connective) -> u8| strength(inner) > strength(outer);
        !(tighter(strength) && (readers == Readers::TextForm || tighter(other_strength)))
    }
}

impl<N> Shown<'_, N>
where
    N: Fn(Variable, &mut fmt::Formatter<'_>) -> fmt::Result,
{
    fn write(&self, expr: &Expr, around: Around, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match expr {
            Expr::Constant(value) => f.write_str(if *value { "T" } else { "F" }),
            Expr::Choice => f.write_str("*"),
            Expr::Current(variable) => (self.names)(*variable, f),
            Expr::Next(variable) => {
                f.write_str("'")?;
                (self.names)(*variable, f)
            }
            Expr::Not(inner) => match &**inner {
                Expr::Binary(Connective::Equal, left, right) => {
                    self.binary(left, (Connective::Equal, " != "), right, around, f)
                }
                inner => {
                    f.write_str("!")?;
                    self.write(inner, Around::Not, f)
                }
            },
            Expr::Binary(connective, left, right) => {
                let sign = match connective {
                    Connective::And => " & ",
                    Connective::Or => " | ",
                    Connective::Xor => " ^ ",
                    Connective::Equal => " = ",
                    Connective::Implies => " => ",
                };
                self.binary(left, (*connective, sign), right, around, f)
            }
        }
    }

    fn binary(
        &self,
        left: &Expr,
        (connective, sign): (Connective, &str),
        right: &Expr,
        around: Around,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let asks = around.asks(connective, self.readers);
        if asks {
            f.write_str("(")?;
        }
        self.write(left, Around::LeftOf(connective), f)?;
        f.write_str(sign)?;
        self.write(right, Around::RightOf(connective), f)?;
        if asks {
            f.write_str(")")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::GlobalId;
    use selvedge_base::Id;

    fn show(expr: &Expr) -> String {
        show_to(expr, Readers::TextForm)
    }

    fn show_to(expr: &Expr, readers: Readers) -> String {
        let names = |variable: Variable, f: &mut fmt::Formatter<'_>| match variable {
            Variable::Global(id) => write!(f, "g{}", id.index()),
            Variable::Local(id) => write!(f, "l{}", id.index()),
        };
        shown(expr, readers, &names).to_string()
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

    #[test]
    fn more_of_them_stand_where_languages_differ() {
        use Connective::{And, Equal, Implies, Or, Xor};
        let show = |expr: &Expr| show_to(expr, Readers::All);
        let g = |at| Expr::Current(Variable::Global(GlobalId::from_index(at)));
        let and = g(0).join(And, g(1));
        assert_eq!(show(&and.clone().join(Equal, g(2))), "(g0 & g1) = g2");
        assert_eq!(show(&g(2).join(And, g(0).join(Equal, g(1)))), "g2 & (g0 = g1)");
        assert_eq!(show(&g(2).join(Or, g(0).join(Xor, g(1)))), "g2 | (g0 ^ g1)");
        assert_eq!(show(&g(2).join(Xor, g(0).join(Or, g(1)))), "g2 ^ (g0 | g1)");
        assert_eq!(show(&g(2).join(Implies, g(0).join(Implies, g(1)))), "g2 => (g0 => g1)");
        assert_eq!(show(&g(2).join(Implies, and.clone())), "g2 => g0 & g1");
        assert_eq!(show(&and.clone().join(Or, and)), "g0 & g1 | g0 & g1");
        assert_eq!(show(&g(0).join(Equal, g(1)).join(Equal, g(2))), "g0 = g1 = g2");
    }
}
