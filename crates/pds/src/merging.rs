//! # Idea
//! A call is more than a concatenation: the caller keeps its locals, a lock that the call took is
//! given back when it returns. A *merging function* of a push rule says what the run up to the call
//! and the run of the callee make together. Where a call has not returned, its parts are multiplied
//! as in a plain weighted system.
//!
//! # Source
//! Kidd, Lal, Reps, *Language Strength Reduction*, Definitions 3 and 4, and section 3.1 for the value of
//! a run; Lal, Reps, Balakrishnan, *Extended Weighted Pushdown Systems* (2005). With ERRATA: on a return
//! the value is `g(r_c)(z_c, f(r_c) ⊗ z ⊗ f(r))`, with the callee inside; and merging functions have
//! a third law, path extension, without which `pre*` is wrong.
//!
//! # Requires
//! Every merging function satisfies what [`check_merging`] checks.

use crate::system::{Pds, Rhs, RuleId};
use crate::weight::{BrokenLaw, WeightDomain, WitnessDomain};
use selvedge_base::IdVec;

/// A merging function for each push rule of a system.
pub trait Merging<D: WeightDomain> {
    /// Whether `merge` is `⊗` for every rule, so that a saturation need not look for it.
    const IS_EXTEND: bool = false;

    /// `g(rule)(caller, callee)`: the run up to the call did `caller`; the call itself, its callee and
    /// the return did `callee`.
    ///
    /// # Errors
    /// When the domain cannot compute the value.
    fn merge(
        &mut self,
        domain: &mut D,
        rule: RuleId,
        caller: &D::Weight,
        callee: &D::Weight,
    ) -> Result<D::Weight, D::Error>;
}

/// Merging functions through which one element of a value can be followed back to one run.
///
/// If `g(rule)(a, b)` contains `e`, then `split(rule, e, a, b)` gives `(e₁, e₂)` with `e₁` in `a`, `e₂` in
/// `b`, and every `g(rule)(a′, b′)` with `e₁` in `a′` and `e₂` in `b′` contains `e`.
pub trait WitnessMerging<D: WitnessDomain>: Merging<D> {
    /// Splits an element of `g(rule)(caller, callee)`; `None` if it is not in there.
    ///
    /// # Errors
    /// When the domain cannot compute it.
    #[allow(clippy::type_complexity)]
    fn split(
        &mut self,
        domain: &mut D,
        rule: RuleId,
        element: &D::Element,
        caller: &D::Weight,
        callee: &D::Weight,
    ) -> Result<Option<(D::Element, D::Element)>, D::Error>;
}

/// `m(a, b) = a ⊗ b`: a plain weighted system.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Extend;

impl<D: WeightDomain> Merging<D> for Extend {
    const IS_EXTEND: bool = true;

    fn merge(
        &mut self,
        domain: &mut D,
        _rule: RuleId,
        caller: &D::Weight,
        callee: &D::Weight,
    ) -> Result<D::Weight, D::Error> {
        domain.extend(caller, callee)
    }
}

impl<D: WitnessDomain> WitnessMerging<D> for Extend {
    fn split(
        &mut self,
        domain: &mut D,
        _rule: RuleId,
        element: &D::Element,
        caller: &D::Weight,
        callee: &D::Weight,
    ) -> Result<Option<(D::Element, D::Element)>, D::Error> {
        domain.split(element, caller, callee)
    }
}

/// A value with the calls that are open: `build` of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenValue<W> {
    /// What happened since the last open call.
    pub value: W,
    /// For each open call, outermost first, what happened before it, and its rule.
    pub calls: Vec<(W, RuleId)>,
}

/// What the rules of a run build up from the first to the last.
///
/// # Errors
/// Those of the domain.
pub fn build<L, D: WeightDomain, M: Merging<D>>(
    pds: &Pds<L>,
    weights: &IdVec<RuleId, D::Weight>,
    merging: &mut M,
    domain: &mut D,
    rules: &[RuleId],
) -> Result<OpenValue<D::Weight>, D::Error> {
    let mut open = OpenValue { value: domain.one(), calls: Vec::new() };
    for &rule in rules {
        let weight = &weights[rule];
        match pds.rules[rule].rhs {
            Rhs::Step(_) => open.value = domain.extend(&open.value, weight)?,
            Rhs::Push(..) => {
                let before = std::mem::replace(&mut open.value, domain.one());
                open.calls.push((before, rule));
            }
            Rhs::Pop => {
                let inside = domain.extend(&open.value, weight)?;
                open.value = match open.calls.pop() {
                    None => inside,
                    Some((before, call)) => {
                        let callee = domain.extend(&weights[call], &inside)?;
                        merging.merge(domain, call, &before, &callee)?
                    }
                };
            }
        }
    }
    Ok(open)
}

/// The value of a run: calls that are open at its end are multiplied.
///
/// # Errors
/// Those of the domain.
pub fn value_of_run<L, D: WeightDomain, M: Merging<D>>(
    pds: &Pds<L>,
    weights: &IdVec<RuleId, D::Weight>,
    merging: &mut M,
    domain: &mut D,
    rules: &[RuleId],
) -> Result<D::Weight, D::Error> {
    let OpenValue { mut value, calls } = build(pds, weights, merging, domain, rules)?;
    for (before, call) in calls.iter().rev() {
        let called = domain.extend(before, &weights[*call])?;
        value = domain.extend(&called, &value)?;
    }
    Ok(value)
}

/// Checks the laws of the merging function of one rule on all triples of `0̄`, `1̄` and `samples`:
/// strictness, distributivity on both sides, path extension.
///
/// # Errors
/// The outer one is that of the domain; the inner one is the first law that fails.
pub fn check_merging<D: WeightDomain, M: Merging<D>>(
    merging: &mut M,
    domain: &mut D,
    rule: RuleId,
    samples: &[D::Weight],
) -> Result<Result<(), BrokenLaw>, D::Error> {
    let zero = domain.zero();
    let all: Vec<D::Weight> =
        [zero.clone(), domain.one()].into_iter().chain(samples.iter().cloned()).collect();
    let broken = |law: &'static str, samples: &[usize]| {
        Ok(Err(BrokenLaw { law, samples: samples.to_vec() }))
    };
    for (i, x) in all.iter().enumerate() {
        if merging.merge(domain, rule, x, &zero)? != zero {
            return broken("m(x, 0̄) = 0̄", &[i]);
        }
        if merging.merge(domain, rule, &zero, x)? != zero {
            return broken("m(0̄, x) = 0̄", &[i]);
        }
        for (j, y) in all.iter().enumerate() {
            let merged = merging.merge(domain, rule, x, y)?;
            for (k, z) in all.iter().enumerate() {
                let at = [i, j, k];
                let other = merging.merge(domain, rule, x, z)?;
                let sum = domain.combine(y, z)?;
                let apart = domain.combine(&merged, &other)?;
                if merging.merge(domain, rule, x, &sum)? != apart {
                    return broken("m(x, y ⊕ z) = m(x, y) ⊕ m(x, z)", &at);
                }
                let other = merging.merge(domain, rule, z, y)?;
                let sum = domain.combine(x, z)?;
                let apart = domain.combine(&merged, &other)?;
                if merging.merge(domain, rule, &sum, y)? != apart {
                    return broken("m(x ⊕ z, y) = m(x, y) ⊕ m(z, y)", &at);
                }
                let before = domain.extend(z, x)?;
                let outside = domain.extend(z, &merged)?;
                if merging.merge(domain, rule, &before, y)? != outside {
                    return broken("m(z ⊗ x, y) = z ⊗ m(x, y)", &at);
                }
            }
        }
    }
    Ok(Ok(()))
}
