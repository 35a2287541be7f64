//! # Idea
//! What an expression can be. Every occurrence of a choice is free of all others, so the values of a
//! compound follow from those of its parts.
//!
//! # Source
//! [`selvedge_program::data`], semantics 1.

use super::layout::Shared;
use crate::expr::not_boolean;
use selvedge_base::Id;
use selvedge_program::{Expr, Literal, Operator, Variable};

/// A set of truth values: bit 0 if it can be false, bit 1 if it can be true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Values(u8);

impl Values {
    const BOTH: Self = Self(3);

    pub fn can_be_false(self) -> bool {
        self.0 & 1 != 0
    }

    pub fn can_be_true(self) -> bool {
        self.0 & 2 != 0
    }

    fn only(value: bool) -> Self {
        Self(1 << u8::from(value))
    }

    fn negated(self) -> Self {
        Self(self.0 >> 1 | self.0 << 1 & 2)
    }

    fn and(self, other: Self) -> Self {
        Self((self.0 | other.0) & 1 | self.0 & other.0 & 2)
    }

    fn equal(self, other: Self) -> Self {
        let same = self.0 & other.0 != 0;
        let different = self.0 & other.negated().0 != 0;
        Self(u8::from(different) | u8::from(same) << 1)
    }
}

/// The variables that one activation sees.
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub shared: Shared,
    pub locals: u64,
}

impl View {
    pub fn get(self, variable: Variable) -> bool {
        match variable {
            Variable::Global(global) => self.shared.0 >> global.index() & 1 == 1,
            Variable::Local(local) => self.locals >> local.index() & 1 == 1,
        }
    }

    /// What an expression over current values can be.
    pub fn values(self, expr: &Expr) -> Values {
        values(expr, self, self)
    }
}

/// What an expression over the values before and after a step can be.
pub fn values(expr: &Expr, before: View, after: View) -> Values {
    match expr {
        Expr::Constant(Literal::Bool(value)) => Values::only(*value),
        Expr::Choice => Values::BOTH,
        Expr::Current(variable) => Values::only(before.get(*variable)),
        Expr::Next(variable) => Values::only(after.get(*variable)),
        Expr::Not(inner) => values(inner, before, after).negated(),
        Expr::Binary(operator, left, right) => {
            let left = values(left, before, after);
            // One side may decide alone.
            match operator {
                Operator::And if !left.can_be_true() => return left,
                Operator::Or if !left.can_be_false() => return left,
                Operator::Implies if !left.can_be_true() => return left.negated(),
                _ => {}
            }
            let right = values(right, before, after);
            match operator {
                Operator::And => left.and(right),
                Operator::Or => left.negated().and(right.negated()).negated(),
                Operator::Xor => left.equal(right).negated(),
                Operator::Equal => left.equal(right),
                Operator::Implies => left.and(right.negated()).negated(),
                _ => not_boolean(expr),
            }
        }
        _ => not_boolean(expr),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Meaning = fn(bool, bool) -> bool;

    #[test]
    fn compounds_follow_from_their_parts() {
        let view = View { shared: Shared(0), locals: 0 };
        let sets = [
            (Expr::FALSE, vec![false]),
            (Expr::TRUE, vec![true]),
            (Expr::Choice, vec![false, true]),
        ];
        let operators: [(Operator, Meaning); 5] = [
            (Operator::And, |a, b| a && b),
            (Operator::Or, |a, b| a || b),
            (Operator::Xor, |a, b| a != b),
            (Operator::Equal, |a, b| a == b),
            (Operator::Implies, |a, b| !a || b),
        ];
        for (operator, meaning) in operators {
            for (left, lefts) in &sets {
                for (right, rights) in &sets {
                    let expr = left.clone().join(operator, right.clone());
                    let found = view.values(&expr);
                    let all: Vec<bool> = lefts
                        .iter()
                        .flat_map(|&a| rights.iter().map(move |&b| meaning(a, b)))
                        .collect();
                    assert_eq!(found.can_be_true(), all.contains(&true), "{expr:?}");
                    assert_eq!(found.can_be_false(), all.contains(&false), "{expr:?}");
                    let negated = view.values(&expr.not());
                    assert_eq!(negated.can_be_true(), all.contains(&false));
                }
            }
        }
    }
}
