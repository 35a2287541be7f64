//! # Idea
//! How tight the operators of each dialect bind: one table per dialect, which the reader follows and
//! from which the printer learns where the dialects agree.
//!
//! # Source
//! Boppo's grammar: `=>`, `=` and `!=` bind loosest, on one level, and associate to the right; then
//! `^`, `|` and `&`. GETAFIX's `bp.y`: from loose to tight `=>`, `|`, `^`, `&`, then `=` and `!=`;
//! all associate to the left. In both, `!` binds tighter than all of them.

use crate::dialect::Dialect;
use selvedge_program::Connective;

/// An operator between two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    Implies,
    Equal,
    Unequal,
    Xor,
    Or,
    And,
}

impl Operator {
    /// What it computes.
    pub fn connective(self) -> Connective {
        match self {
            Self::Implies => Connective::Implies,
            Self::Equal => Connective::Equal,
            Self::Unequal | Self::Xor => Connective::Xor,
            Self::Or => Connective::Or,
            Self::And => Connective::And,
        }
    }

    /// The operator that is printed for a connective.
    pub fn of(connective: Connective) -> Self {
        match connective {
            Connective::Implies => Self::Implies,
            Connective::Equal => Self::Equal,
            Connective::Xor => Self::Xor,
            Connective::Or => Self::Or,
            Connective::And => Self::And,
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
pub fn binding(dialect: Dialect, operator: Operator) -> Binding {
    use Operator::{And, Equal, Implies, Or, Unequal, Xor};
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
pub fn always_tighter(inner: Operator, outer: Operator) -> bool {
    Dialect::ALL
        .iter()
        .all(|&dialect| binding(dialect, inner).level > binding(dialect, outer).level)
}
