//! # Idea
//! What an expression can be. Every occurrence of a choice is free of all others, so the values that
//! a compound can have follow from those that its parts can have.
//!
//! # Source
//! [`selvedge_program::data`], semantics 1.

use selvedge_program::{Connective, Expr, Valuation, Variable};

/// A set of truth values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Values {
    /// Whether it has false.
    pub no: bool,
    /// Whether it has true.
    pub yes: bool,
}

impl Values {
    /// Both values.
    pub const ANY: Self = Self { no: true, yes: true };

    /// One value.
    pub fn only(value: bool) -> Self {
        Self { no: !value, yes: value }
    }

    /// Whether a value is in the set.
    pub fn has(self, value: bool) -> bool {
        if value { self.yes } else { self.no }
    }

    /// The value, if there is exactly one.
    pub fn single(self) -> Option<bool> {
        (self.no != self.yes).then_some(self.yes)
    }

    /// What a connective makes of a value of each set.
    fn join(self, connective: Connective, other: Self) -> Self {
        let mut joined = Self { no: false, yes: false };
        for (left, right) in [(false, false), (false, true), (true, false), (true, true)] {
            if !self.has(left) || !other.has(right) {
                continue;
            }
            let value = match connective {
                Connective::And => left && right,
                Connective::Or => left || right,
                Connective::Xor => left != right,
                Connective::Equal => left == right,
                Connective::Implies => !left || right,
            };
            joined.no |= !value;
            joined.yes |= value;
        }
        joined
    }
}

/// The variables as one activation sees them.
#[derive(Clone, Copy)]
pub struct View<'s> {
    /// The shared ones.
    pub globals: &'s Valuation,
    /// Its own.
    pub locals: &'s Valuation,
}

impl View<'_> {
    /// The value of a variable.
    pub fn get(self, variable: Variable) -> bool {
        match variable {
            Variable::Global(global) => self.globals.get(global),
            Variable::Local(local) => self.locals.get(local),
        }
    }

    /// What an expression over the current values can be.
    pub fn values(self, expr: &Expr) -> Values {
        values(expr, self, self)
    }

    /// Whether a condition over the current values holds: whether it can be true. No condition
    /// always does.
    pub fn holds(self, condition: Option<&Expr>) -> bool {
        condition.is_none_or(|condition| self.values(condition).yes)
    }
}

/// What an expression over the values before and after a step can be.
pub fn values(expr: &Expr, before: View<'_>, after: View<'_>) -> Values {
    match expr {
        Expr::Constant(value) => Values::only(*value),
        Expr::Choice => Values::ANY,
        Expr::Current(variable) => Values::only(before.get(*variable)),
        Expr::Next(variable) => Values::only(after.get(*variable)),
        Expr::Not(inner) => {
            let inner = values(inner, before, after);
            Values { no: inner.yes, yes: inner.no }
        }
        Expr::Binary(connective, left, right) => {
            values(left, before, after).join(*connective, values(right, before, after))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::Id;
    use selvedge_program::GlobalId;

    /// All values of an expression over one global, by trying every choice.
    fn by_choices(expr: &Expr, current: bool, next: bool) -> Values {
        fn count(expr: &Expr) -> u32 {
            match expr {
                Expr::Choice => 1,
                Expr::Constant(_) | Expr::Current(_) | Expr::Next(_) => 0,
                Expr::Not(inner) => count(inner),
                Expr::Binary(_, left, right) => count(left) + count(right),
            }
        }
        fn value(expr: &Expr, current: bool, next: bool, choices: &mut u32) -> bool {
            match expr {
                Expr::Constant(value) => *value,
                Expr::Choice => {
                    let choice = *choices & 1 == 1;
                    *choices >>= 1;
                    choice
                }
                Expr::Current(_) => current,
                Expr::Next(_) => next,
                Expr::Not(inner) => !value(inner, current, next, choices),
                Expr::Binary(connective, left, right) => {
                    let left = value(left, current, next, choices);
                    let right = value(right, current, next, choices);
                    match connective {
                        Connective::And => left & right,
                        Connective::Or => left | right,
                        Connective::Xor => left ^ right,
                        Connective::Equal => left == right,
                        Connective::Implies => left <= right,
                    }
                }
            }
        }
        let mut found = Values { no: false, yes: false };
        for mut choices in 0..1u32 << count(expr) {
            let value = value(expr, current, next, &mut choices);
            found.no |= !value;
            found.yes |= value;
        }
        found
    }

    /// All expressions of a depth up to this one.
    fn expressions(depth: usize) -> Vec<Expr> {
        let x = Variable::Global(GlobalId::from_index(0));
        let mut all = vec![
            Expr::Constant(false),
            Expr::Constant(true),
            Expr::Choice,
            Expr::Current(x),
            Expr::Next(x),
        ];
        if depth == 0 {
            return all;
        }
        let inner = expressions(depth - 1);
        all.extend(inner.iter().map(|inner| inner.clone().not()));
        let connectives = [
            Connective::And,
            Connective::Or,
            Connective::Xor,
            Connective::Equal,
            Connective::Implies,
        ];
        for left in &inner {
            // Every expression of the depth on the left, the plain ones on the right.
            for right in &inner[..5] {
                all.extend(connectives.map(|join| left.clone().join(join, right.clone())));
            }
        }
        all
    }

    #[test]
    fn choices_are_free_of_each_other() {
        for expr in expressions(2) {
            for (current, next) in [(false, false), (false, true), (true, false), (true, true)] {
                let (before, after) = (Valuation(vec![current]), Valuation(vec![next]));
                let none = Valuation::default();
                let before = View { globals: &before, locals: &none };
                let after = View { globals: &after, locals: &none };
                let expected = by_choices(&expr, current, next);
                assert_eq!(values(&expr, before, after), expected, "{expr:?}");
            }
        }
    }
}
