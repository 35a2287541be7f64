//! # Idea
//! What an expression can be. Every occurrence of a choice is free of all others, so the values that
//! a compound can have follow from those that its parts can have; and so does how it can fail.
//!
//! # Source
//! [`selvedge_program::data`], semantics 1 and 8.
//!
//! # Invariants
//! 1. Values are listed in ascending order, at most [`MOST_VALUES`] of them.
//! 2. What an evaluation touches are the variables that some way to resolve its choices reads: of an
//!    array the elements that are looked at, of an operator the operands that are evaluated.

use selvedge_program::{
    Expr, FailureKind, FailureKinds, Literal, Operator, Program, ThreadId, Valuation, Value,
    Variable, thread_value,
};
use std::collections::BTreeSet;

/// How many values an expression may have.
pub const MOST_VALUES: u32 = 1 << 16;

/// What an expression can be.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Possible {
    /// Its values, in ascending order.
    pub values: Vec<i64>,
    /// How it can fail.
    pub fails: FailureKinds,
    /// Whether there are more values than can be listed.
    pub too_many: bool,
}

impl Possible {
    /// One value.
    fn only(value: i64) -> Self {
        Self { values: vec![value], ..Self::default() }
    }

    fn failure(kind: FailureKind) -> Self {
        Self { fails: kind.into(), ..Self::default() }
    }

    fn between(low: i64, high: i64) -> Self {
        let many = i128::from(high) - i128::from(low) >= i128::from(MOST_VALUES);
        if many {
            return Self { too_many: true, ..Self::default() };
        }
        Self { values: (low..=high).collect(), ..Self::default() }
    }

    /// Whether it can be true.
    pub fn can_hold(&self) -> bool {
        self.values.iter().any(|&value| value != 0)
    }

    /// Whether it can be false.
    pub fn can_be_false(&self) -> bool {
        self.values.contains(&0)
    }

    /// What a function makes of each value.
    fn then(&self, mut next: impl FnMut(i64) -> Self) -> Self {
        let mut all = Self { values: Vec::new(), fails: self.fails, too_many: self.too_many };
        for &value in &self.values {
            let one = next(value);
            all.values.extend(one.values);
            all.fails = all.fails.union(one.fails);
            all.too_many |= one.too_many;
            if all.values.len() > 4 * MOST_VALUES as usize {
                all.shorten();
            }
        }
        all.shorten();
        all
    }

    fn shorten(&mut self) {
        self.values.sort_unstable();
        self.values.dedup();
        if self.values.len() > MOST_VALUES as usize {
            self.values.clear();
            self.too_many = true;
        }
    }
}

/// The variables that evaluations read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Touched(pub BTreeSet<Variable>);

/// The variables as one activation sees them.
#[derive(Clone, Copy)]
pub struct View<'s> {
    /// The shared ones.
    pub globals: &'s Valuation,
    /// Its own.
    pub locals: &'s Valuation,
    /// The thread that it belongs to.
    pub thread: ThreadId,
    /// Which of the copies of its process that is.
    pub copy: u32,
}

impl View<'_> {
    /// The value of a variable.
    pub fn get(self, variable: Variable) -> Value {
        match variable {
            Variable::Global(global) => self.globals.get(global),
            Variable::Local(local) => self.locals.get(local),
        }
    }

    /// What an expression over the current values can be.
    pub fn values(self, expr: &Expr) -> Possible {
        values(expr, self, self, &mut Touched::default())
    }

    /// The same, and what its evaluation touches.
    pub fn touching(self, expr: &Expr, touched: &mut Touched) -> Possible {
        values(expr, self, self, touched)
    }

    /// Whether a condition over the current values holds: whether it can be true. No condition
    /// always does.
    pub fn holds(self, condition: Option<&Expr>) -> bool {
        condition.is_none_or(|condition| self.values(condition).can_hold())
    }
}

/// What an expression over the values before and after a step can be.
pub fn values(expr: &Expr, before: View<'_>, after: View<'_>, touched: &mut Touched) -> Possible {
    let truth = |value: bool| Possible::only(i64::from(value));
    match expr {
        Expr::Constant(literal) => Possible::only(i64::from(Literal::value(*literal))),
        Expr::Choice => Possible { values: vec![0, 1], ..Possible::default() },
        Expr::Choose(low, high) => {
            let low = values(low, before, after, touched);
            let high = values(high, before, after, touched);
            low.then(|low| high.then(|high| Possible::between(low, high)))
        }
        Expr::Current(variable) => {
            touched.0.insert(*variable);
            Possible::only(i64::from(before.get(*variable)))
        }
        Expr::Next(variable) => Possible::only(i64::from(after.get(*variable))),
        Expr::Element(array, index) => {
            values(index, before, after, touched).then(|index| match u32::try_from(index) {
                Ok(index) if index < array.length => {
                    let element = array.element(index);
                    touched.0.insert(element);
                    Possible::only(i64::from(before.get(element)))
                }
                _ => Possible::failure(FailureKind::Index),
            })
        }
        Expr::Me => Possible::only(i64::from(thread_value(Some(before.thread)))),
        Expr::Copy => Possible::only(i64::from(before.copy)),
        Expr::Not(inner) => values(inner, before, after, touched).then(|value| truth(value == 0)),
        Expr::Negate(inner) => {
            values(inner, before, after, touched).then(|value| exact(value.checked_neg()))
        }
        Expr::Binary(operator, left, right) => {
            let left = values(left, before, after, touched);
            // The right operand is evaluated only where the left one does not decide.
            let decided = |value: i64| match operator {
                Operator::And => (value == 0).then_some(false),
                Operator::Or => (value != 0).then_some(true),
                Operator::Implies => (value == 0).then_some(true),
                _ => None,
            };
            let needed = left.values.iter().any(|&value| decided(value).is_none());
            let right =
                if needed { values(right, before, after, touched) } else { Possible::default() };
            left.then(|left| match decided(left) {
                Some(value) => truth(value),
                None => right.then(|right| operate(*operator, left, right)),
            })
        }
        Expr::Ite(parts) => {
            let condition = values(&parts[0], before, after, touched);
            condition.then(|value| {
                values(&parts[if value == 0 { 2 } else { 1 }], before, after, touched)
            })
        }
    }
}

/// A number, or a failure if it has left 64 bits.
fn exact(value: Option<i64>) -> Possible {
    value.map_or(Possible::failure(FailureKind::Range), Possible::only)
}

fn operate(operator: Operator, left: i64, right: i64) -> Possible {
    let truth = |value: bool| Possible::only(i64::from(value));
    match operator {
        // Where the left operand does not decide, the right one does.
        Operator::And | Operator::Or | Operator::Implies => truth(right != 0),
        Operator::Xor => truth((left != 0) != (right != 0)),
        Operator::Equal => truth(left == right),
        Operator::Less => truth(left < right),
        Operator::LessEqual => truth(left <= right),
        Operator::Add => exact(left.checked_add(right)),
        Operator::Subtract => exact(left.checked_sub(right)),
        Operator::Multiply => exact(left.checked_mul(right)),
        Operator::Divide | Operator::Remainder if right == 0 => {
            Possible::failure(FailureKind::Division)
        }
        Operator::Divide => exact(left.checked_div(right)),
        // The one remainder that does not fit in a processor's registers is 0.
        Operator::Remainder => Possible::only(left.checked_rem(right).unwrap_or(0)),
    }
}

/// What becomes of a number that goes to a variable of a type; `None` if that cannot hold it.
pub fn stored(program: &Program, ty: selvedge_program::Type, value: i64) -> Option<Value> {
    let value = match ty {
        selvedge_program::Type::Mod(n) => value.rem_euclid(i64::from(n)),
        _ => value,
    };
    let (low, high) = program.range(ty);
    (i64::from(low)..=i64::from(high)).contains(&value).then_some(value as Value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::Id;
    use selvedge_program::GlobalId;

    /// All values of an expression over one global, by trying every choice.
    fn by_choices(expr: &Expr, current: bool, next: bool) -> Vec<i64> {
        fn count(expr: &Expr) -> u32 {
            match expr {
                Expr::Choice => 1,
                other => other.parts().map(count).sum(),
            }
        }
        fn value(expr: &Expr, current: bool, next: bool, choices: &mut u32) -> bool {
            match expr {
                Expr::Constant(value) => value.value() != 0,
                Expr::Choice => {
                    let choice = *choices & 1 == 1;
                    *choices >>= 1;
                    choice
                }
                Expr::Current(_) => current,
                Expr::Next(_) => next,
                Expr::Not(inner) => !value(inner, current, next, choices),
                Expr::Binary(operator, left, right) => {
                    let left = value(left, current, next, choices);
                    let right = value(right, current, next, choices);
                    match operator {
                        Operator::And => left & right,
                        Operator::Or => left | right,
                        Operator::Xor => left ^ right,
                        Operator::Equal => left == right,
                        Operator::Implies => left <= right,
                        _ => unreachable!("no numbers here"),
                    }
                }
                _ => unreachable!("no numbers here"),
            }
        }
        let mut found = BTreeSet::new();
        for mut choices in 0..1u32 << count(expr) {
            let value = value(expr, current, next, &mut choices);
            found.insert(i64::from(value));
        }
        found.into_iter().collect()
    }

    /// All expressions of a depth up to this one.
    fn expressions(depth: usize) -> Vec<Expr> {
        let x = Variable::Global(GlobalId::from_index(0));
        let mut all = vec![Expr::FALSE, Expr::TRUE, Expr::Choice, Expr::Current(x), Expr::Next(x)];
        if depth == 0 {
            return all;
        }
        let inner = expressions(depth - 1);
        all.extend(inner.iter().map(|inner| inner.clone().not()));
        let operators =
            [Operator::And, Operator::Or, Operator::Xor, Operator::Equal, Operator::Implies];
        for left in &inner {
            // Every expression of the depth on the left, the plain ones on the right.
            for right in &inner[..5] {
                all.extend(operators.map(|join| left.clone().join(join, right.clone())));
            }
        }
        all
    }

    #[test]
    fn choices_are_free_of_each_other() {
        for expr in expressions(2) {
            for (current, next) in [(false, false), (false, true), (true, false), (true, true)] {
                let before = Valuation::of_bits([current]);
                let after = Valuation::of_bits([next]);
                let none = Valuation::default();
                let view =
                    |globals| View { globals, locals: &none, thread: Id::from_index(0), copy: 0 };
                let (before, after) = (view(&before), view(&after));
                let expected = by_choices(&expr, current, next);
                let possible = values(&expr, before, after, &mut Touched::default());
                assert_eq!(
                    possible,
                    Possible { values: expected, ..Possible::default() },
                    "{expr:?}"
                );
            }
        }
    }

    fn numbers(text: &str) -> Possible {
        let text = format!(
            "program global x : 0..9 = 7 global a[3] : -5..5 = 2 global b = F
            thread T main main {{ procedure main nodes 2 entry 0 exit 1 {{ 0 -> 1 assert {text} = 0 }} }}"
        );
        let (program, problems) = selvedge_program::text::parse(&text);
        let program = program.unwrap_or_else(|| panic!("{problems:?}"));
        let Expr::Binary(_, expr, _) = program.conditions.iter().next().expect("one") else {
            panic!("an equation")
        };
        let globals =
            Valuation(program.globals.iter().map(|one| one.initial.unwrap_or(0)).collect());
        let none = Valuation::default();
        let thread = Id::from_index(0);
        View { globals: &globals, locals: &none, thread, copy: 3 }.values(expr)
    }

    #[test]
    fn arithmetic_is_exact_and_fails_where_it_must() {
        let values = |list: &[i64]| Possible { values: list.to_vec(), ..Possible::default() };
        assert_eq!(numbers("x - 10 / 3"), values(&[4]));
        assert_eq!(numbers("(x - 14) / 2"), values(&[-3]));
        assert_eq!(numbers("(x - 14) % 2"), values(&[-1]));
        assert_eq!(numbers("-x * $copy"), values(&[-21]));
        assert_eq!(numbers("a[x - 5] + 1"), values(&[3]));
        assert_eq!(numbers("$choose(1, 3) * 2"), values(&[2, 4, 6]));
        assert_eq!(numbers("$choose(3, 1)"), values(&[]));
        assert_eq!(numbers("$ite(x < 7, 1, 2)"), values(&[2]));
        assert_eq!(numbers("$ite(b & 1 / 0 = 1, 1, 2)"), values(&[2]));
        let fails = |kind: FailureKind| Possible { fails: kind.into(), ..Possible::default() };
        assert_eq!(numbers("1 / (x - 7)"), fails(FailureKind::Division));
        assert_eq!(numbers("1 % (x - 7)"), fails(FailureKind::Division));
        assert_eq!(numbers("a[x]"), fails(FailureKind::Index));
        assert_eq!(numbers("a[-1]"), fails(FailureKind::Index));
        let large = "2147483647 * 2147483647 * 3";
        assert_eq!(numbers(large), fails(FailureKind::Range));
        let both = numbers("12 / $choose(0, 3)");
        assert_eq!((both.values, both.fails), (vec![4, 6, 12], FailureKind::Division.into()));
        let two = numbers("a[12 / $choose(0, 3)]").fails;
        assert!(two.iter().eq([FailureKind::Index, FailureKind::Division]));
        assert!(numbers("$choose(0, 70000)").too_many);
    }
}
