//! # Idea
//! The weight of a run is the sum of the costs of its rules; of several runs the cheapest counts.
//! With cost 1 for each rule the value is the length of a shortest run.

use crate::weight::{WeightDomain, WitnessDomain};
use std::convert::Infallible;

/// A cost; `None` means that there is no run. Sums that do not fit stay at the largest number.
pub type Cost = Option<u64>;

/// The domain `(ℕ ∪ {∞}, min, +, ∞, 0)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MinPlus;

impl WeightDomain for MinPlus {
    type Weight = Cost;
    type Error = Infallible;

    fn zero(&self) -> Cost {
        None
    }

    fn one(&self) -> Cost {
        Some(0)
    }

    fn extend(&mut self, a: &Cost, b: &Cost) -> Result<Cost, Infallible> {
        Ok(a.zip(*b).map(|(a, b)| a.saturating_add(b)))
    }

    fn combine(&mut self, a: &Cost, b: &Cost) -> Result<Cost, Infallible> {
        // `None` is the smallest option but the largest cost.
        Ok(a.iter().chain(b).min().copied())
    }
}

/// The only element of a cost is the cost itself.
impl WitnessDomain for MinPlus {
    type Element = u64;

    fn contains(&mut self, weight: &Cost, element: &u64) -> Result<bool, Infallible> {
        Ok(*weight == Some(*element))
    }

    fn split(
        &mut self,
        element: &u64,
        a: &Cost,
        b: &Cost,
    ) -> Result<Option<(u64, u64)>, Infallible> {
        Ok(a.zip(*b).filter(|(a, b)| a.saturating_add(*b) == *element))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weight::check_laws;

    #[test]
    fn laws() {
        let samples = [Some(1), Some(2), Some(5), Some(u64::MAX - 1), Some(u64::MAX)];
        assert_eq!(check_laws(&mut MinPlus, &samples), Ok(Ok(())));
    }
}
