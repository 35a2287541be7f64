//! # Idea
//! Expressions as text. In the text form `!` and the sign bind tightest, then `*`, `/` and `%`, then
//! `+` and `-`, then `<` and `<=`, then `=`, `&`, `^`, `|` and `=>`; equal operators group to the left
//! and `=>` to the right. The dialects of Boolean programs bind otherwise: what people or other
//! languages read has parentheses also where one of these needs them, and every reader of ours reads
//! it as the same tree.
//!
//! What the text form has no signs for is written `$me`, `$copy`, `$none`, `$thread(T)`,
//! `$enum(Colour, Red)`, `$choose(low, high)`, `$ite(condition, then, else)`.

use crate::data::{Array, Expr, Literal, Operator, Variable};
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

    /// The name of an array of a procedure, or of a global one.
    pub fn array_name(&self, owner: ProcedureId, array: Array) -> &str {
        let arrays = match array.first {
            Variable::Global(_) => &self.arrays,
            Variable::Local(_) => &self.procedures[owner].frame.arrays,
        };
        let named = arrays.iter().find(|one| one.array == array);
        named.map_or_else(|| self.variable_name(owner, array.first), |one| &one.name)
    }

    /// Writes what an expression of a procedure names, for people.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_atom(
        &self,
        owner: ProcedureId,
        atom: Atom,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        match atom {
            Atom::Variable(variable) => f.write_str(self.variable_name(owner, variable)),
            Atom::Array(array) => f.write_str(self.array_name(owner, array)),
            Atom::Literal(literal) => self.write_literal(literal, f),
        }
    }

    /// Writes a constant for people.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_literal(&self, literal: Literal, f: &mut impl fmt::Write) -> fmt::Result {
        match literal {
            Literal::Bool(value) => f.write_str(if value { "T" } else { "F" }),
            Literal::Int(value) => write!(f, "{value}"),
            Literal::Enumerator(id, at) => f.write_str(&self.enums[id].values[at as usize]),
            Literal::Thread(None) => f.write_str("none"),
            Literal::Thread(Some(thread)) => f.write_str(&self.threads[thread].name),
        }
    }
}

/// What has a name in an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Atom {
    /// A variable.
    Variable(Variable),
    /// An array.
    Array(Array),
    /// A constant.
    Literal(Literal),
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
    /// The reader of conditions in formulas.
    Formulas,
}

/// The text of an expression; `names` writes what has a name.
pub fn shown<'a, N>(expr: &'a Expr, readers: Readers, names: &'a N) -> Shown<'a, N>
where
    N: Fn(Atom, &mut fmt::Formatter<'_>) -> fmt::Result,
{
    Shown { expr, names, readers }
}

impl<N> fmt::Display for Shown<'_, N>
where
    N: Fn(Atom, &mut fmt::Formatter<'_>) -> fmt::Result,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(self.expr, Around::Nothing, f)
    }
}

/// How tightly an operator binds; larger is tighter.
pub fn strength(operator: Operator) -> u8 {
    match operator {
        Operator::Implies => 1,
        Operator::Or => 2,
        Operator::Xor => 3,
        Operator::And => 4,
        Operator::Equal => 5,
        Operator::Less | Operator::LessEqual => 6,
        Operator::Add | Operator::Subtract => 7,
        Operator::Multiply | Operator::Divide | Operator::Remainder => 8,
    }
}

/// How tightly an operator binds where comparisons and implications are one level, the loosest.
fn other_strength(operator: Operator) -> u8 {
    match operator {
        Operator::Implies | Operator::Equal => 1,
        Operator::Xor => 2,
        Operator::Or => 3,
        Operator::And => 4,
        other => strength(other),
    }
}

/// What stands around an expression.
#[derive(Clone, Copy)]
enum Around {
    Nothing,
    /// A sign before it.
    Not,
    /// It is the left operand of an operator.
    LeftOf(Operator),
    /// It is the right operand of an operator.
    RightOf(Operator),
}

impl Around {
    /// Whether an operand with this operator needs parentheses for one of the readers.
    fn asks(self, inner: Operator, readers: Readers) -> bool {
        let (outer, groups) = match self {
            Self::Nothing => return false,
            Self::Not => return true,
            Self::LeftOf(outer) => (outer, outer != Operator::Implies),
            Self::RightOf(outer) => {
                (outer, outer == Operator::Implies && readers == Readers::TextForm)
            }
        };
        if outer == inner {
            return !groups;
        }
        // Operators of one strength, such as `+` and `-`, group to the left.
        if strength(outer) == strength(inner) {
            return !groups;
        }
        let tighter = |strength: fn(Operator) -> u8| strength(inner) > strength(outer);
        !(tighter(strength) && (readers == Readers::TextForm || tighter(other_strength)))
    }
}

impl<N> Shown<'_, N>
where
    N: Fn(Atom, &mut fmt::Formatter<'_>) -> fmt::Result,
{
    fn write(&self, expr: &Expr, around: Around, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match expr {
            Expr::Constant(literal) => self.atom(Atom::Literal(*literal), f),
            Expr::Choice => f.write_str("*"),
            Expr::Choose(low, high) => self.built_in("choose", &[low, high], f),
            Expr::Current(variable) => self.atom(Atom::Variable(*variable), f),
            Expr::Next(variable) => {
                f.write_str("'")?;
                self.atom(Atom::Variable(*variable), f)
            }
            Expr::Element(array, index) => {
                self.atom(Atom::Array(*array), f)?;
                f.write_str("[")?;
                self.write(index, Around::Nothing, f)?;
                f.write_str("]")
            }
            Expr::Me => f.write_str(if self.readers == Readers::TextForm { "$me" } else { "me" }),
            Expr::Copy => {
                f.write_str(if self.readers == Readers::TextForm { "$copy" } else { "self" })
            }
            Expr::Ite(parts) => self.built_in("ite", &[&parts[0], &parts[1], &parts[2]], f),
            Expr::Negate(inner) => {
                // A sign directly before a number would belong to it.
                if matches!(**inner, Expr::Constant(_)) {
                    f.write_str("-(")?;
                    self.write(inner, Around::Nothing, f)?;
                    return f.write_str(")");
                }
                f.write_str("-")?;
                self.write(inner, Around::Not, f)
            }
            Expr::Not(inner) => match &**inner {
                Expr::Binary(Operator::Equal, left, right) => {
                    self.binary(left, (Operator::Equal, " != "), right, around, f)
                }
                inner => {
                    f.write_str("!")?;
                    self.write(inner, Around::Not, f)
                }
            },
            Expr::Binary(operator, left, right) => {
                let sign = match operator {
                    Operator::And if self.readers == Readers::Formulas => " && ",
                    Operator::Or if self.readers == Readers::Formulas => " || ",
                    Operator::Equal if self.readers == Readers::Formulas => " == ",
                    Operator::Implies if self.readers == Readers::Formulas => " -> ",
                    Operator::And => " & ",
                    Operator::Or => " | ",
                    Operator::Xor => " ^ ",
                    Operator::Equal => " = ",
                    Operator::Implies => " => ",
                    Operator::Less => " < ",
                    Operator::LessEqual => " <= ",
                    Operator::Add => " + ",
                    Operator::Subtract => " - ",
                    Operator::Multiply => " * ",
                    Operator::Divide => " / ",
                    Operator::Remainder => " % ",
                };
                self.binary(left, (*operator, sign), right, around, f)
            }
        }
    }

    fn atom(&self, atom: Atom, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.names)(atom, f)
    }

    /// What is written like a call.
    fn built_in(&self, name: &str, parts: &[&Expr], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.readers == Readers::TextForm { "$" } else { "" };
        write!(f, "{sign}{name}(")?;
        for (at, part) in parts.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { ", " })?;
            self.write(part, Around::Nothing, f)?;
        }
        f.write_str(")")
    }

    fn binary(
        &self,
        left: &Expr,
        (operator, sign): (Operator, &str),
        right: &Expr,
        around: Around,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let asks = around.asks(operator, self.readers);
        if asks {
            f.write_str("(")?;
        }
        self.write(left, Around::LeftOf(operator), f)?;
        f.write_str(sign)?;
        self.write(right, Around::RightOf(operator), f)?;
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
        let names = |atom: Atom, f: &mut fmt::Formatter<'_>| match atom {
            Atom::Variable(Variable::Global(id)) => write!(f, "g{}", id.index()),
            Atom::Literal(literal) => Program::default().write_literal(literal, f),
            other => write!(f, "{other:?}"),
        };
        shown(expr, readers, &names).to_string()
    }

    #[test]
    fn parentheses_stand_where_they_are_needed() {
        use Operator::{Add, And, Divide, Equal, Implies, Less, Multiply, Or, Subtract, Xor};
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
        let sum = g(0).join(Add, g(1));
        assert_eq!(show(&sum.clone().join(Multiply, g(2))), "(g0 + g1) * g2");
        assert_eq!(show(&sum.clone().join(Subtract, g(2))), "g0 + g1 - g2");
        assert_eq!(show(&g(2).join(Subtract, sum.clone())), "g2 - (g0 + g1)");
        assert_eq!(show(&g(2).join(Less, sum).join(And, g(3))), "g2 < g0 + g1 & g3");
        let quotient = g(0).join(Multiply, g(1).join(Divide, Expr::number(-7)));
        assert_eq!(show(&quotient), "g0 * (g1 / -7)");
        let next = Expr::Next(Variable::Global(GlobalId::from_index(3)));
        let mixed = Expr::Choice.join(Xor, next).join(Equal, Expr::TRUE);
        assert_eq!(show(&mixed), "(* ^ 'g3) = T");
    }

    #[test]
    fn more_of_them_stand_where_languages_differ() {
        use Operator::{And, Equal, Implies, Or, Xor};
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
