//! # Idea
//! How the values of a type are written in truth values: as many as ⌈log2⌉ of their number. A number is
//! its digits where that takes no more of them, else its distance to the smallest one.
//!
//! # Invariants
//! 1. Different values have different codes. Codes of no value are *impossible*.

use super::circuit::{Bit, Word, digits_for};
use selvedge_program::{Program, Type, Value};

/// Types with more values than this many bits write are not taken.
pub const WIDEST: usize = 16;

/// How the values of a type are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Encoding {
    /// How many bits there are.
    pub width: usize,
    /// The smallest value.
    pub low: i64,
    /// The largest value.
    pub high: i64,
    digits: Digits,
}

/// What the bits are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Digits {
    /// The digits of the number, which is not negative.
    Plain,
    /// The digits with a sign.
    Signed,
    /// The digits of the distance to the smallest value.
    Offset,
}

impl Encoding {
    /// The encoding of a type; nothing if it is too wide.
    pub fn new(program: &Program, ty: Type) -> Option<Self> {
        let (low, high) = program.range(ty);
        let (low, high) = (i64::from(low), i64::from(high));
        let width = digits_for(0, high - low) - 1;
        if width > WIDEST {
            return None;
        }
        let digits = if low >= 0 && digits_for(0, high) - 1 == width {
            Digits::Plain
        } else if low < 0 && digits_for(low, high) == width {
            Digits::Signed
        } else {
            Digits::Offset
        };
        Some(Self { width, low, high, digits })
    }

    /// The code of a value, the lowest bit first.
    pub fn code(self, value: Value) -> Vec<bool> {
        let value = i64::from(value);
        let number = if self.digits == Digits::Offset { value - self.low } else { value };
        (0..self.width).map(|at| number >> at & 1 == 1).collect()
    }

    /// The value of a code; nothing if it is impossible.
    pub fn value(self, code: &[bool]) -> Option<Value> {
        let digit = |(at, &bit): (usize, &bool)| i64::from(bit) << at;
        let mut number: i64 = code.iter().enumerate().map(digit).sum();
        match self.digits {
            Digits::Signed if code.last() == Some(&true) => number -= 1 << self.width,
            Digits::Plain | Digits::Signed => {}
            Digits::Offset => number += self.low,
        }
        (self.low..=self.high).contains(&number).then_some(number as Value)
    }

    /// Whether some code is impossible.
    pub fn has_impossible_codes(self) -> bool {
        self.high - self.low + 1 != 1 << self.width
    }

    /// Whether the bits of a code that is no code of a value are seen as the number that they write.
    pub fn is_plain(self) -> bool {
        self.digits == Digits::Plain
    }

    /// The number that a code writes.
    pub fn decode(self, mut code: Vec<Bit>) -> Word {
        match self.digits {
            Digits::Plain => {
                code.push(Bit::constant(false));
                Word::new(code, self.low, self.high)
            }
            Digits::Signed => Word::new(code, self.low, self.high),
            Digits::Offset => {
                code.push(Bit::constant(false));
                let distance = Word::new(code, 0, self.high - self.low);
                let sum = distance.add(&Word::constant(self.low)).expect("values have 32 bits");
                Word::new(sum.digits, self.low, self.high)
            }
        }
    }

    /// The code of a number that is a value of the type.
    pub fn encode(self, word: &Word) -> Vec<Bit> {
        let number = match self.digits {
            Digits::Offset => {
                word.subtract(&Word::constant(self.low)).expect("values have 32 bits")
            }
            Digits::Plain | Digits::Signed => word.clone(),
        };
        (0..self.width).map(|at| number.digit(at).clone()).collect()
    }

    /// Whether a code is possible.
    pub fn is_possible(self, code: Vec<Bit>) -> Bit {
        if !self.has_impossible_codes() {
            return Bit::constant(true);
        }
        // A code is read as what its bits can write, which is more than the values.
        let (mut wide, mut number) = (self, code);
        match self.digits {
            Digits::Plain => (wide.low, wide.high) = (0, (1 << self.width) - 1),
            Digits::Signed => {
                (wide.low, wide.high) = (-1 << (self.width - 1), (1 << (self.width - 1)) - 1);
            }
            Digits::Offset => {
                number.push(Bit::constant(false));
                let distance = Word::new(number, 0, (1 << self.width) - 1);
                return distance.outside(0, self.high - self.low).not();
            }
        }
        wide.decode(number).outside(self.low, self.high).not()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_codes_of_their_own() {
        let program = Program::default();
        let types = [
            (Type::Bool, 1),
            (Type::Int { low: 0, high: 0 }, 0),
            (Type::Int { low: 0, high: 7 }, 3),
            (Type::Int { low: 5, high: 6 }, 1),
            (Type::Int { low: -1, high: 1 }, 2),
            (Type::Int { low: -8, high: 7 }, 4),
            (Type::Int { low: -9, high: 1 }, 4),
            (Type::Int { low: 1, high: 8 }, 3),
            (Type::Mod(3), 2),
            (Type::Mod(1), 0),
        ];
        for (ty, width) in types {
            let encoding = Encoding::new(&program, ty).expect("narrow");
            assert_eq!(encoding.width, width, "{ty:?}");
            let (low, high) = program.range(ty);
            let mut possible = 0i64;
            for code in 0..1u32 << width {
                let code: Vec<bool> = (0..width).map(|at| code >> at & 1 == 1).collect();
                let bits = code.iter().map(|&bit| Bit::constant(bit)).collect();
                assert_eq!(encoding.is_possible(bits).is(true), encoding.value(&code).is_some());
                possible += i64::from(encoding.value(&code).is_some());
            }
            assert_eq!(possible, i64::from(high) - i64::from(low) + 1, "{ty:?}");
            for value in low..=high {
                let code = encoding.code(value);
                assert_eq!(encoding.value(&code), Some(value), "{ty:?}");
                let bits = code.iter().map(|&bit| Bit::constant(bit)).collect();
                let word = encoding.decode(bits);
                assert!(word.digits.iter().all(|bit| bit.is(true) || bit.is(false)));
                let again = encoding.encode(&Word::constant(i64::from(value)));
                let again: Vec<bool> = again.iter().map(|bit| bit.is(true)).collect();
                assert_eq!(again, code);
            }
        }
        assert!(Encoding::new(&program, Type::Int { low: 0, high: 65535 }).is_some());
        assert!(Encoding::new(&program, Type::Int { low: 0, high: 65536 }).is_none());
    }
}
