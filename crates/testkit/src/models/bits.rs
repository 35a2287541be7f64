//! # Idea
//! Numbers as rows of bits, and Boolean expressions over named bits that are simplified while they
//! are built, so that the text of a model stays readable.
//!
//! ```
//! use selvedge_testkit::models::bits::{equal, names, number};
//! assert_eq!(equal(&names("n", 2), &number(2, 2)).to_string(), "!n0 & n1");
//! ```

use std::fmt;

/// A Boolean expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bit {
    /// A constant.
    Constant(bool),
    /// A variable.
    Name(String),
    /// The other value.
    Not(Box<Bit>),
    /// All of at least two.
    And(Vec<Bit>),
    /// One of at least two.
    Or(Vec<Bit>),
    /// Exactly one of two.
    Xor(Box<Bit>, Box<Bit>),
}

impl Bit {
    /// The other value.
    #[must_use]
    pub fn negate(self) -> Self {
        match self {
            Self::Constant(value) => Self::Constant(!value),
            Self::Not(inner) => *inner,
            other => Self::Not(Box::new(other)),
        }
    }

    /// Whether its text joins two others.
    fn is_joined(&self) -> bool {
        match self {
            Self::And(_) | Self::Or(_) | Self::Xor(..) => true,
            Self::Not(inner) => matches!(inner.as_ref(), Self::Xor(..)),
            Self::Constant(_) | Self::Name(_) => false,
        }
    }

    /// Exactly one of two.
    #[must_use]
    pub fn xor(self, other: Self) -> Self {
        match (self, other) {
            (Self::Constant(false), bit) | (bit, Self::Constant(false)) => bit,
            (Self::Constant(true), bit) | (bit, Self::Constant(true)) => bit.negate(),
            (Self::Not(left), right) | (right, Self::Not(left)) => left.xor(right).negate(),
            (left, right) if left == right => Self::Constant(false),
            (left, right) => Self::Xor(Box::new(left), Box::new(right)),
        }
    }
}

/// All of these.
pub fn all(bits: impl IntoIterator<Item = Bit>) -> Bit {
    join(bits, true)
}

/// At least one of these.
pub fn any(bits: impl IntoIterator<Item = Bit>) -> Bit {
    join(bits, false)
}

fn join(bits: impl IntoIterator<Item = Bit>, neutral: bool) -> Bit {
    let mut parts: Vec<Bit> = Vec::new();
    for bit in bits {
        let flat = match bit {
            Bit::And(inner) if neutral => inner,
            Bit::Or(inner) if !neutral => inner,
            other => vec![other],
        };
        for bit in flat {
            if bit == Bit::Constant(!neutral) || parts.contains(&bit.clone().negate()) {
                return Bit::Constant(!neutral);
            }
            if bit != Bit::Constant(neutral) && !parts.contains(&bit) {
                parts.push(bit);
            }
        }
    }
    match parts.len() {
        0 => Bit::Constant(neutral),
        1 => parts.swap_remove(0),
        _ if neutral => Bit::And(parts),
        _ => Bit::Or(parts),
    }
}

/// One of two, by a condition.
pub fn choose(condition: Bit, yes: Bit, no: Bit) -> Bit {
    if yes == no {
        return yes;
    }
    any([all([condition.clone(), yes]), all([condition.negate(), no])])
}

/// The bits of a variable, the lowest first: its name with a number, or its name alone if it has one
/// bit only.
pub fn names(name: &str, bits: usize) -> Vec<Bit> {
    match bits {
        1 => vec![Bit::Name(name.to_owned())],
        _ => (0..bits).map(|bit| Bit::Name(format!("{name}{bit}"))).collect(),
    }
}

/// The bits of a constant.
pub fn number(value: u32, bits: usize) -> Vec<Bit> {
    (0..bits).map(|bit| Bit::Constant(value >> bit & 1 == 1)).collect()
}

/// Whether two numbers are the same. The shorter one is padded.
pub fn equal(left: &[Bit], right: &[Bit]) -> Bit {
    all(pairs(left, right).into_iter().map(|(a, b)| a.xor(b).negate()))
}

/// Whether the left number is smaller.
pub fn less(left: &[Bit], right: &[Bit]) -> Bit {
    let pairs = pairs(left, right);
    any((0..pairs.len()).rev().map(|at| {
        let higher = pairs[at + 1..].iter().rev().map(|(a, b)| a.clone().xor(b.clone()).negate());
        let (a, b) = pairs[at].clone();
        all(higher.chain([a.negate(), b]))
    }))
}

fn pairs(left: &[Bit], right: &[Bit]) -> Vec<(Bit, Bit)> {
    let bit = |bits: &[Bit], at: usize| bits.get(at).cloned().unwrap_or(Bit::Constant(false));
    (0..left.len().max(right.len())).map(|at| (bit(left, at), bit(right, at))).collect()
}

/// The sum with a constant, with as many bits.
pub fn plus(bits: &[Bit], constant: u32) -> Vec<Bit> {
    let mut carry = Bit::Constant(false);
    let mut sum = Vec::new();
    for (at, bit) in bits.iter().enumerate() {
        let one = constant >> at & 1 == 1;
        sum.push(bit.clone().xor(carry.clone()).xor(Bit::Constant(one)));
        carry = if one { any([bit.clone(), carry]) } else { all([bit.clone(), carry]) };
    }
    sum
}

/// The difference to a constant, with as many bits.
pub fn minus(bits: &[Bit], constant: u32) -> Vec<Bit> {
    let flipped: Vec<Bit> = bits.iter().cloned().map(Bit::negate).collect();
    plus(&flipped, constant).into_iter().map(Bit::negate).collect()
}

/// The element of an array at an index, zero if there is none.
pub fn select(elements: &[Vec<Bit>], index: &[Bit]) -> Vec<Bit> {
    let width = elements.first().map_or(0, Vec::len);
    let here = |at: usize| equal(index, &number(at as u32, index.len()));
    (0..width)
        .map(|bit| any((0..elements.len()).map(|at| all([here(at), elements[at][bit].clone()]))))
        .collect()
}

/// Expressions with commas between them.
pub fn list(bits: &[Bit]) -> String {
    bits.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Bit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |f: &mut fmt::Formatter<'_>, parts: &[Bit], sign: &str| {
            for (at, part) in parts.iter().enumerate() {
                let before = if at == 0 { "" } else { sign };
                if part.is_joined() {
                    write!(f, "{before}({part})")?;
                } else {
                    write!(f, "{before}{part}")?;
                }
            }
            Ok(())
        };
        match self {
            Self::Constant(true) => f.write_str("T"),
            Self::Constant(false) => f.write_str("F"),
            Self::Name(name) => f.write_str(name),
            Self::Not(inner) => match inner.as_ref() {
                Self::Xor(left, right) => {
                    joined(f, &[left.as_ref().clone(), right.as_ref().clone()], " = ")
                }
                Self::Name(_) | Self::Constant(_) | Self::Not(_) => write!(f, "!{inner}"),
                Self::And(_) | Self::Or(_) => write!(f, "!({inner})"),
            },
            Self::And(parts) => joined(f, parts, " & "),
            Self::Or(parts) => joined(f, parts, " | "),
            Self::Xor(left, right) => {
                joined(f, &[left.as_ref().clone(), right.as_ref().clone()], " != ")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(bit: &Bit, inputs: &dyn Fn(&str) -> bool) -> bool {
        match bit {
            Bit::Constant(constant) => *constant,
            Bit::Name(name) => inputs(name),
            Bit::Not(inner) => !value(inner, inputs),
            Bit::And(parts) => parts.iter().all(|part| value(part, inputs)),
            Bit::Or(parts) => parts.iter().any(|part| value(part, inputs)),
            Bit::Xor(left, right) => value(left, inputs) != value(right, inputs),
        }
    }

    #[test]
    fn arithmetic_is_that_of_numbers() {
        let (a, b) = (names("a", 3), names("b", 3));
        for x in 0..8u32 {
            for y in 0..8u32 {
                let inputs = |name: &str| {
                    let number = if name.starts_with('a') { x } else { y };
                    number >> name[1..].parse::<u32>().expect("a bit") & 1 == 1
                };
                let read = |bits: &[Bit]| -> u32 {
                    bits.iter()
                        .enumerate()
                        .map(|(at, bit)| u32::from(value(bit, &inputs)) << at)
                        .sum()
                };
                assert_eq!(value(&equal(&a, &b), &inputs), x == y);
                assert_eq!(value(&less(&a, &b), &inputs), x < y);
                assert_eq!(value(&less(&a, &number(y, 3)), &inputs), x < y);
                assert_eq!(read(&plus(&a, y)), (x + y) % 8);
                assert_eq!(read(&minus(&a, y)), (x + 8 - y) % 8);
                let elements: Vec<_> = (0..6).map(|at| number(at * 5 % 8, 3)).collect();
                assert_eq!(read(&select(&elements, &a)), if x < 6 { x * 5 % 8 } else { 0 });
                let chosen = choose(equal(&a, &b), a[0].clone(), b[1].clone());
                assert_eq!(
                    value(&chosen, &inputs),
                    if x == y { x % 2 == 1 } else { y >> 1 & 1 == 1 }
                );
            }
        }
    }

    #[test]
    fn expressions_are_printed_with_the_parentheses_that_they_need() {
        let a = names("a", 2);
        assert_eq!(less(&a, &number(2, 2)).to_string(), "!a1");
        assert_eq!(equal(&a, &names("b", 2)).to_string(), "(a0 = b0) & (a1 = b1)");
        assert_eq!(list(&plus(&a, 1)), "!a0, a1 != a0");
    }
}
