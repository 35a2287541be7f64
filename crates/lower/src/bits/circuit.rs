//! # Idea
//! Arithmetic as expressions over truth values. A number is a [`Word`]: its digits in two's complement,
//! with the interval that it lies in, which says how many digits there are and decides comparisons
//! early.
//!
//! # Source
//! The circuits of every textbook: the carry that ripples, comparison from the lowest digit, shift and
//! add. Deviation: expressions are trees, so what is used more than once is written more than once. A
//! carry is therefore used once by the next one, and whoever combines large words stores them first
//! ([`super::evaluate`]).
//!
//! # Invariants
//! 1. The value of a word lies in its interval, and the word has just the digits that the interval
//!    needs; the last one is the sign.
//! 2. A [`Bit`] that is a constant is written as one.

use selvedge_program::{Expr, Literal, Operator, Variable};

/// A truth value as an expression, with the number of its parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bit {
    expr: Expr,
    size: usize,
}

impl Bit {
    /// A constant.
    pub fn constant(value: bool) -> Self {
        Self { expr: Expr::truth(value), size: 1 }
    }

    /// The current value of a truth variable.
    pub fn variable(variable: Variable) -> Self {
        Self { expr: Expr::Current(variable), size: 1 }
    }

    /// An expression over truth values.
    pub fn of(expr: Expr) -> Self {
        fn count(expr: &Expr) -> usize {
            1 + expr.parts().map(count).sum::<usize>()
        }
        let size = count(&expr);
        Self { expr, size }
    }

    /// The expression.
    pub fn expr(&self) -> &Expr {
        &self.expr
    }

    /// How many parts it has.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether it is this constant.
    pub fn is(&self, value: bool) -> bool {
        self.expr == Expr::Constant(Literal::Bool(value))
    }

    fn join(&self, operator: Operator, other: &Self) -> Self {
        let size = self.size + other.size + 1;
        Self { expr: self.expr.clone().join(operator, other.expr.clone()), size }
    }

    /// The negation.
    #[must_use]
    pub fn not(&self) -> Self {
        match &self.expr {
            Expr::Constant(Literal::Bool(value)) => Self::constant(!value),
            Expr::Not(inner) => Self { expr: (**inner).clone(), size: self.size - 1 },
            _ => Self { expr: self.expr.clone().not(), size: self.size + 1 },
        }
    }

    /// Both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        if self.is(false) || other.is(true) || self.is_same_variable(other) {
            return self.clone();
        }
        if other.is(false) || self.is(true) {
            return other.clone();
        }
        self.join(Operator::And, other)
    }

    /// At least one.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        if self.is(true) || other.is(false) || self.is_same_variable(other) {
            return self.clone();
        }
        if other.is(true) || self.is(false) {
            return other.clone();
        }
        self.join(Operator::Or, other)
    }

    /// Exactly one.
    #[must_use]
    pub fn xor(&self, other: &Self) -> Self {
        if self.is(false) {
            return other.clone();
        }
        if other.is(false) {
            return self.clone();
        }
        if self.is(true) {
            return other.not();
        }
        if other.is(true) {
            return self.not();
        }
        if self.is_same_variable(other) {
            return Self::constant(false);
        }
        self.join(Operator::Xor, other)
    }

    /// Both or none.
    #[must_use]
    pub fn equal(&self, other: &Self) -> Self {
        match self.xor(other) {
            Self { expr: Expr::Binary(Operator::Xor, left, right), size } => {
                Self { expr: Expr::Binary(Operator::Equal, left, right), size }
            }
            other => other.not(),
        }
    }

    /// This one where the condition holds, else the other one.
    #[must_use]
    pub fn choose(condition: &Self, then: &Self, otherwise: &Self) -> Self {
        if condition.is(true) || then == otherwise {
            return then.clone();
        }
        if condition.is(false) {
            return otherwise.clone();
        }
        condition.and(then).or(&condition.not().and(otherwise))
    }

    /// Comparing trees is for leaves only.
    fn is_same_variable(&self, other: &Self) -> bool {
        self.size == 1 && matches!(self.expr, Expr::Current(_)) && self.expr == other.expr
    }
}

/// A number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    /// Its digits, the lowest first, the sign last.
    pub digits: Vec<Bit>,
    /// It is no smaller than this.
    pub low: i64,
    /// It is no larger than this.
    pub high: i64,
}

/// How many digits the numbers of an interval need, with the sign.
pub fn digits_for(low: i64, high: i64) -> usize {
    let one = |value: i64| {
        let magnitude = if value < 0 { !value } else { value };
        (i64::BITS - magnitude.leading_zeros()) as usize + 1
    };
    one(low).max(one(high))
}

impl Word {
    /// A constant.
    pub fn constant(value: i64) -> Self {
        let digits = (0..digits_for(value, value)).map(|at| Bit::constant(value >> at & 1 == 1));
        Self { digits: digits.collect(), low: value, high: value }
    }

    /// The constant that it is.
    pub fn as_constant(&self) -> Option<i64> {
        (self.low == self.high).then_some(self.low)
    }

    /// Digits in two's complement as a number that lies in an interval; what the interval does not need
    /// is cut off.
    pub fn new(mut digits: Vec<Bit>, low: i64, high: i64) -> Self {
        if low == high {
            return Self::constant(low);
        }
        let needed = digits_for(low, high);
        let sign = digits.last().cloned().unwrap_or(Bit::constant(false));
        digits.resize(needed, sign);
        if low >= 0 {
            digits[needed - 1] = Bit::constant(false);
        }
        Self { digits, low, high }
    }

    /// A truth value as a number.
    pub fn truth(bit: Bit) -> Self {
        Self::new(vec![bit, Bit::constant(false)], 0, 1)
    }

    /// A digit; the sign goes on for ever.
    pub fn digit(&self, at: usize) -> &Bit {
        self.digits.get(at).unwrap_or_else(|| self.sign())
    }

    /// The number where it lies in an interval, and some number of the interval where it does not.
    pub fn within(self, low: i64, high: i64) -> Self {
        Self::new(self.digits, self.low.clamp(low, high), self.high.clamp(low, high))
    }

    /// Whether it is negative.
    pub fn sign(&self) -> &Bit {
        self.digits.last().expect("a word has a sign")
    }

    /// The sum with a carry: `self + other + carry`, cut off to what the interval needs.
    fn sum(&self, other: &[Bit], carry: bool, low: i64, high: i64) -> Self {
        let mut carry = Bit::constant(carry);
        let mut digits = Vec::new();
        for at in 0..digits_for(low, high) {
            let left = self.digit(at);
            let right = other.get(at).unwrap_or_else(|| other.last().expect("a word has a sign"));
            digits.push(left.xor(right).xor(&carry));
            carry = left.and(right).or(&carry.and(&left.or(right)));
        }
        Self::new(digits, low, high)
    }

    /// The sum; nothing if it may leave 64 bits.
    pub fn add(&self, other: &Self) -> Option<Self> {
        let (low, high) = (self.low.checked_add(other.low)?, self.high.checked_add(other.high)?);
        Some(self.sum(&other.digits, false, low, high))
    }

    /// The difference; nothing if it may leave 64 bits.
    pub fn subtract(&self, other: &Self) -> Option<Self> {
        let (low, high) = (self.low.checked_sub(other.high)?, self.high.checked_sub(other.low)?);
        let digits: Vec<Bit> = other.digits.iter().map(Bit::not).collect();
        Some(self.sum(&digits, true, low, high))
    }

    /// The number with the other sign; nothing if it may leave 64 bits.
    pub fn negate(&self) -> Option<Self> {
        Self::constant(0).subtract(self)
    }

    /// The number without its sign; nothing if it may leave 64 bits.
    pub fn magnitude(&self) -> Option<Self> {
        if self.low >= 0 {
            return Some(self.clone());
        }
        let negated = self.negate()?;
        let high = self.high.checked_abs()?.max(self.low.checked_abs()?);
        let mut chosen = Self::choose(self.sign(), &negated, self);
        chosen = Self::new(chosen.digits, 0, high);
        Some(chosen)
    }

    /// The number times a power of two; nothing if it may leave 64 bits.
    pub fn shifted(&self, by: usize) -> Option<Self> {
        let factor = 1i64.checked_shl(u32::try_from(by).ok()?).filter(|&factor| factor > 0)?;
        let (low, high) = (self.low.checked_mul(factor)?, self.high.checked_mul(factor)?);
        let mut digits = vec![Bit::constant(false); by];
        digits.extend(self.digits.iter().cloned());
        Some(Self::new(digits, low, high))
    }

    /// The number where a bit holds, else zero.
    #[must_use]
    pub fn masked(&self, bit: &Bit) -> Self {
        let digits = self.digits.iter().map(|digit| digit.and(bit)).collect();
        Self::new(digits, self.low.min(0), self.high.max(0))
    }

    /// This number where the condition holds, else the other one.
    #[must_use]
    pub fn choose(condition: &Bit, then: &Self, otherwise: &Self) -> Self {
        if condition.is(true) {
            return then.clone();
        }
        if condition.is(false) {
            return otherwise.clone();
        }
        let (low, high) = (then.low.min(otherwise.low), then.high.max(otherwise.high));
        let digit = |at: usize| Bit::choose(condition, then.digit(at), otherwise.digit(at));
        Self::new((0..digits_for(low, high)).map(digit).collect(), low, high)
    }

    /// Whether it is smaller.
    pub fn less(&self, other: &Self) -> Bit {
        if self.high < other.low {
            return Bit::constant(true);
        }
        if self.low >= other.high {
            return Bit::constant(false);
        }
        let count = self.digits.len().max(other.digits.len());
        let mut less = Bit::constant(false);
        for at in 0..count {
            // The sign weighs the other way.
            let (left, right) = if at + 1 == count {
                (other.digit(at), self.digit(at))
            } else {
                (self.digit(at), other.digit(at))
            };
            let smaller = left.not().and(right);
            let not_larger = left.not().or(right);
            less = smaller.or(&not_larger.and(&less));
        }
        less
    }

    /// Whether both are the same.
    pub fn equal(&self, other: &Self) -> Bit {
        if self.high < other.low || other.high < self.low {
            return Bit::constant(false);
        }
        let count = self.digits.len().max(other.digits.len());
        (0..count)
            .fold(Bit::constant(true), |all, at| all.and(&self.digit(at).equal(other.digit(at))))
    }

    /// Whether it lies outside of an interval.
    pub fn outside(&self, low: i64, high: i64) -> Bit {
        let below = self.less(&Self::constant(low));
        below.or(&Self::constant(high).less(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::Id;
    use selvedge_program::GlobalId;

    /// A word of free variables, from the variable `first` on.
    fn free(first: usize, low: i64, high: i64) -> Word {
        let variable = |at| Bit::variable(Variable::Global(GlobalId::from_index(first + at)));
        Word::new((0..digits_for(low, high)).map(variable).collect(), low, high)
    }

    fn truth(bit: &Bit, values: u64) -> bool {
        fn value(expr: &Expr, values: u64) -> bool {
            match expr {
                Expr::Constant(literal) => literal.value() != 0,
                Expr::Current(Variable::Global(id)) => values >> id.index() & 1 == 1,
                Expr::Not(inner) => !value(inner, values),
                Expr::Binary(operator, left, right) => {
                    let (left, right) = (value(left, values), value(right, values));
                    match operator {
                        Operator::And => left & right,
                        Operator::Or => left | right,
                        Operator::Xor => left ^ right,
                        Operator::Equal => left == right,
                        other => panic!("{other:?} is not written"),
                    }
                }
                other => panic!("{other:?} is not written"),
            }
        }
        value(bit.expr(), values)
    }

    fn number(word: &Word, values: u64) -> i64 {
        let last = word.digits.len() - 1;
        let digit = |(at, bit): (usize, &Bit)| {
            let weight = if at == last { -(1i64 << at) } else { 1i64 << at };
            if truth(bit, values) { weight } else { 0 }
        };
        word.digits.iter().enumerate().map(digit).sum()
    }

    const INTERVALS: [(i64, i64); 9] =
        [(0, 0), (0, 1), (0, 6), (-1, 0), (-3, 4), (-8, -5), (3, 7), (5, 5), (-4, 3)];

    /// All pairs of numbers of all pairs of intervals.
    fn for_all(mut check: impl FnMut(&Word, &Word, u64, i64, i64)) {
        for (low, high) in INTERVALS {
            for (other_low, other_high) in INTERVALS {
                let (left, right) = (free(0, low, high), free(8, other_low, other_high));
                for a in low..=high {
                    for b in other_low..=other_high {
                        let values = (a & 0xff | (b & 0xff) << 8).cast_unsigned();
                        assert_eq!((number(&left, values), number(&right, values)), (a, b));
                        check(&left, &right, values, a, b);
                    }
                }
            }
        }
    }

    #[test]
    fn sums_differences_and_comparisons_are_exact() {
        for_all(|left, right, values, a, b| {
            let sum = left.add(right).expect("small");
            assert!((sum.low..=sum.high).contains(&(a + b)));
            assert_eq!(number(&sum, values), a + b, "{a} + {b}");
            assert_eq!(number(&left.subtract(right).expect("small"), values), a - b, "{a} - {b}");
            assert_eq!(truth(&left.less(right), values), a < b, "{a} < {b}");
            assert_eq!(truth(&left.equal(right), values), a == b, "{a} == {b}");
        });
    }

    #[test]
    fn signs_shifts_masks_and_choices_are_exact() {
        for_all(|left, right, values, a, b| {
            assert_eq!(number(&left.negate().expect("small"), values), -a);
            assert_eq!(number(&left.magnitude().expect("small"), values), a.abs());
            assert_eq!(number(&left.shifted(2).expect("small"), values), 4 * a);
            let condition = right.digit(0);
            let odd = b & 1 == 1;
            assert_eq!(number(&left.masked(condition), values), if odd { a } else { 0 });
            let chosen = Word::choose(condition, left, right);
            assert_eq!(number(&chosen, values), if odd { a } else { b });
            assert_eq!(truth(&left.outside(-2, 3), values), !(-2..=3).contains(&a));
        });
    }

    #[test]
    fn a_carry_is_written_once() {
        let sum = free(0, 0, 0xffff).add(&free(16, 0, 0xffff)).expect("small");
        let size = sum.digits.iter().map(Bit::size).max();
        assert!(size < Some(200), "{size:?}");
    }
}
