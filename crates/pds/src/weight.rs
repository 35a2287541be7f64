//! # Idea
//! A weight says what happens along a run: `extend` is "then", `combine` is "or". The domain is an
//! object of its own because a weight such as a decision diagram means nothing without its manager,
//! and its operations can fail because the manager can run out of memory or be interrupted.
//!
//! # Source
//! Kidd, Lammich, Touili, Reps, *A Decision Procedure for Detecting Atomicity Violations for
//! Communicating Processes with Locks*, Definition 5 (bounded idempotent semirings); Reps, Schwoon,
//! Jha, Melski (2005), Definition 2.4.
//!
//! # Requires
//! Every domain satisfies what [`check_laws`] checks, and has no infinite chain
//! `x₀, x₀ ⊕ x₁, x₀ ⊕ x₁ ⊕ x₂, …` of different values.

/// A bounded idempotent semiring `(D, ⊕, ⊗, 0̄, 1̄)`.
pub trait WeightDomain {
    /// An element of `D`. Equal weights compare equal.
    type Weight: Clone + Eq;
    /// What can go wrong in an operation; [`std::convert::Infallible`] for plain data.
    type Error;
    /// `0̄`: no run.
    fn zero(&self) -> Self::Weight;
    /// `1̄`: the empty run.
    fn one(&self) -> Self::Weight;
    /// `a ⊗ b`: first `a`, then `b`.
    ///
    /// # Errors
    /// When the domain cannot compute the value.
    fn extend(&mut self, a: &Self::Weight, b: &Self::Weight) -> Result<Self::Weight, Self::Error>;
    /// `a ⊕ b`: either run.
    ///
    /// # Errors
    /// When the domain cannot compute the value.
    fn combine(&mut self, a: &Self::Weight, b: &Self::Weight) -> Result<Self::Weight, Self::Error>;
}

/// A domain whose weights are sets of elements in a wide sense, so that one element of a value can
/// be followed back to one run.
///
/// For all weights `a`, `b` and elements `e`:
/// 1. if `a ⊕ b` contains `e`, then `a` or `b` contains `e`;
/// 2. if `a ⊗ b` contains `e`, then `split(e, a, b)` gives `(e₁, e₂)` with `e₁` in `a`, `e₂` in `b`,
///    and every weight `a′ ⊗ b′` with `e₁` in `a′` and `e₂` in `b′` contains `e`;
/// 3. `0̄` contains nothing.
pub trait WitnessDomain: WeightDomain {
    /// A part of a weight, for example one pair of a relation.
    type Element: Clone;

    /// Whether `element` is in `weight`.
    ///
    /// # Errors
    /// When the domain cannot decide it.
    fn contains(
        &mut self,
        weight: &Self::Weight,
        element: &Self::Element,
    ) -> Result<bool, Self::Error>;

    /// Splits an element of `a ⊗ b` into one of `a` and one of `b`; `None` if it is not in `a ⊗ b`.
    ///
    /// # Errors
    /// When the domain cannot compute it.
    #[allow(clippy::type_complexity)]
    fn split(
        &mut self,
        element: &Self::Element,
        a: &Self::Weight,
        b: &Self::Weight,
    ) -> Result<Option<(Self::Element, Self::Element)>, Self::Error>;
}

/// A law that a domain breaks, with the positions of the offending samples.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BrokenLaw {
    /// The law.
    pub law: &'static str,
    /// The samples, by position in the list `0̄, 1̄, samples…`.
    pub samples: Vec<usize>,
}

/// Checks the laws of Definition 5 on all triples of `0̄`, `1̄` and `samples`. (The absence of
/// infinite chains cannot be checked on samples.)
///
/// # Errors
/// The outer one is that of the domain; the inner one is the first law that fails.
pub fn check_laws<D: WeightDomain>(
    domain: &mut D,
    samples: &[D::Weight],
) -> Result<Result<(), BrokenLaw>, D::Error> {
    let zero = domain.zero();
    let one = domain.one();
    let all: Vec<D::Weight> =
        [zero.clone(), one.clone()].into_iter().chain(samples.iter().cloned()).collect();
    let mut laws = Laws { broken: None };
    for (i, x) in all.iter().enumerate() {
        laws.hold("x ⊕ 0̄ = x", &[i], domain.combine(x, &zero)? == *x);
        laws.hold("0̄ ⊕ x = x", &[i], domain.combine(&zero, x)? == *x);
        laws.hold("x ⊕ x = x", &[i], domain.combine(x, x)? == *x);
        laws.hold("x ⊗ 1̄ = x", &[i], domain.extend(x, &one)? == *x);
        laws.hold("1̄ ⊗ x = x", &[i], domain.extend(&one, x)? == *x);
        laws.hold("x ⊗ 0̄ = 0̄", &[i], domain.extend(x, &zero)? == zero);
        laws.hold("0̄ ⊗ x = 0̄", &[i], domain.extend(&zero, x)? == zero);
    }
    for (i, x) in all.iter().enumerate() {
        for (j, y) in all.iter().enumerate() {
            let xy_sum = domain.combine(x, y)?;
            let xy = domain.extend(x, y)?;
            laws.hold("x ⊕ y = y ⊕ x", &[i, j], domain.combine(y, x)? == xy_sum);
            for (k, z) in all.iter().enumerate() {
                let at = [i, j, k];
                let yz_sum = domain.combine(y, z)?;
                let yz = domain.extend(y, z)?;
                let xz = domain.extend(x, z)?;
                let left = domain.combine(&xy_sum, z)?;
                laws.hold("⊕ is associative", &at, domain.combine(x, &yz_sum)? == left);
                let left = domain.extend(&xy, z)?;
                laws.hold("⊗ is associative", &at, domain.extend(x, &yz)? == left);
                let spread = domain.combine(&xy, &xz)?;
                let law = "x ⊗ (y ⊕ z) = (x ⊗ y) ⊕ (x ⊗ z)";
                laws.hold(law, &at, domain.extend(x, &yz_sum)? == spread);
                let spread = domain.combine(&xz, &yz)?;
                let law = "(x ⊕ y) ⊗ z = (x ⊗ z) ⊕ (y ⊗ z)";
                laws.hold(law, &at, domain.extend(&xy_sum, z)? == spread);
            }
        }
    }
    Ok(laws.broken.map_or(Ok(()), Err))
}

/// The first law that failed.
struct Laws {
    broken: Option<BrokenLaw>,
}

impl Laws {
    fn hold(&mut self, law: &'static str, samples: &[usize], holds: bool) {
        if !holds && self.broken.is_none() {
            self.broken = Some(BrokenLaw { law, samples: samples.to_vec() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// The integers modulo 8 with operations given by functions.
    struct Broken {
        zero: u8,
        one: u8,
        extend: fn(u8, u8) -> u8,
        combine: fn(u8, u8) -> u8,
    }

    impl WeightDomain for Broken {
        type Weight = u8;
        type Error = Infallible;
        fn zero(&self) -> u8 {
            self.zero
        }
        fn one(&self) -> u8 {
            self.one
        }
        fn extend(&mut self, a: &u8, b: &u8) -> Result<u8, Infallible> {
            Ok((self.extend)(*a, *b))
        }
        fn combine(&mut self, a: &u8, b: &u8) -> Result<u8, Infallible> {
            Ok((self.combine)(*a, *b))
        }
    }

    fn law(mut domain: Broken) -> Option<&'static str> {
        let samples: Vec<u8> = (0..8).collect();
        check_laws(&mut domain, &samples).unwrap().err().map(|broken| broken.law)
    }

    #[test]
    fn each_kind_of_law_is_checked() {
        let good = || Broken { zero: 0, one: 7, extend: |a, b| a & b, combine: |a, b| a | b };
        assert_eq!(law(good()), None);
        assert_eq!(law(Broken { zero: 1, ..good() }), Some("x ⊕ 0̄ = x"));
        assert_eq!(law(Broken { one: 3, ..good() }), Some("x ⊗ 1̄ = x"));
        let xor = Broken { combine: |a, b| a ^ b, ..good() };
        assert_eq!(law(xor), Some("x ⊕ x = x"));
        let first = Broken { combine: |a, b| if a == 0 { b } else { a }, ..good() };
        assert_eq!(law(first), Some("x ⊕ y = y ⊕ x"));
        let keep = Broken { extend: |a, b| if a == 7 { b } else { a }, ..good() };
        assert_eq!(law(keep), Some("x ⊗ 0̄ = 0̄"));
        let or = Broken {
            extend: |a, b| {
                if a == 7 {
                    b
                } else if b == 7 {
                    a
                } else {
                    a | b
                }
            },
            ..good()
        };
        assert_eq!(law(or), Some("x ⊗ 0̄ = 0̄"));
        let minus = Broken { extend: |a, b| if b == 7 { a } else { a & !b & 7 }, ..good() };
        assert_eq!(law(minus), Some("1̄ ⊗ x = x"));
        let max = Broken { combine: u8::max, ..good() };
        assert_eq!(law(max), Some("x ⊗ (y ⊕ z) = (x ⊗ y) ⊕ (x ⊗ z)"));
    }
}
