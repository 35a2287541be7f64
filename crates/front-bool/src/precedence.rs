//! # Idea
//! How tight the operators of each dialect bind: one table per dialect, which the reader follows and
//! from which the printer learns where the dialects agree.
//!
//! # Source
//! Boppo's grammar: `=>`, `=` and `!=` bind loosest, on one level, and associate to the right; then
//! `^`, `|` and `&`. GETAFIX's `bp.y`: from loose to tight `=>`, `|`, `^`, `&`, then `=` and `!=`;
//! all associate to the left. In both, `!` binds tighter than all of them.

use crate::dialect::Dialect;
use selvedge_program::Operator;

/// The sign of an operator between two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sign {
    Implies,
    Equal,
    Unequal,
    Xor,
    Or,
    And,
}

impl Sign {
    /// What it computes.
    pub fn operator(self) -> Operator {
        match self {
            Self::Implies => Operator::Implies,
            Self::Equal => Operator::Equal,
            Self::Unequal | Self::Xor => Operator::Xor,
            Self::Or => Operator::Or,
            Self::And => Operator::And,
        }
    }

    /// The sign that is printed for an operator on truth values.
    pub fn of(operator: Operator) -> Self {
        match operator {
            Operator::Implies => Self::Implies,
            Operator::Equal => Self::Equal,
            Operator::Xor => Self::Xor,
            Operator::Or => Self::Or,
            Operator::And => Self::And,
            other => unreachable!("{other:?} in a program of truth values"),
        }
    }

    /// How it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Implies => "=>",
            Self::Equal => "=",
            Self::Unequal => "!=",
            Self::Xor => "^",
            Self::Or => "|",
            Self::And => "&",
        }
    }
}

/// How an operator binds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Binding {
    /// Larger is tighter.
    pub level: u8,
    /// Whether `a ∘ b ∘ c` is `a ∘ (b ∘ c)`.
    pub to_the_right: bool,
}

/// The table of a dialect.
pub fn binding(dialect: Dialect, operator: Sign) -> Binding {
    use Sign::{And, Equal, Implies, Or, Unequal, Xor};
    let left = |level: u8| Binding { level, to_the_right: false };
    match dialect {
        Dialect::Boppo => match operator {
            Implies | Equal | Unequal => Binding { level: 0, to_the_right: true },
            Xor => left(1),
            Or => left(2),
            And => left(3),
        },
        Dialect::Getafix => match operator {
            Implies => left(0),
            Or => left(1),
            Xor => left(2),
            And => left(3),
            Equal | Unequal => left(4),
        },
    }
}

/// Whether every dialect reads `a outer b inner c` and `a inner b outer c` with the `inner` operands
/// together, so that no parentheses are needed.
pub fn always_tighter(inner: Sign, outer: Sign) -> bool {
    Dialect::ALL
        .iter()
        .all(|&dialect| binding(dialect, inner).level > binding(dialect, outer).level)
}
