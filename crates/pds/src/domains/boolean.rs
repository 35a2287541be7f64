//! # Idea
//! `true` means that there is a run. Weighted saturation over this domain is plain saturation.

use crate::weight::{WeightDomain, WitnessDomain};
use std::convert::Infallible;

/// The domain `({false, true}, ∨, ∧, false, true)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Boolean;

impl WeightDomain for Boolean {
    type Weight = bool;
    type Error = Infallible;

    fn zero(&self) -> bool {
        false
    }

    fn one(&self) -> bool {
        true
    }

    fn extend(&mut self, a: &bool, b: &bool) -> Result<bool, Infallible> {
        Ok(*a && *b)
    }

    fn combine(&mut self, a: &bool, b: &bool) -> Result<bool, Infallible> {
        Ok(*a || *b)
    }
}

impl WitnessDomain for Boolean {
    type Element = ();

    fn contains(&mut self, weight: &bool, (): &()) -> Result<bool, Infallible> {
        Ok(*weight)
    }

    fn split(&mut self, (): &(), a: &bool, b: &bool) -> Result<Option<((), ())>, Infallible> {
        Ok((*a && *b).then_some(((), ())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weight::check_laws;

    #[test]
    fn laws() {
        assert_eq!(check_laws(&mut Boolean, &[]), Ok(Ok(())));
    }
}
