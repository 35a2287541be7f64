//! # Idea
//! A *local* formula is one without `X` whose atoms are all about one thread: it is true of a run whenever
//! it is true of the steps of that thread alone, because the thread stands still while others move. So each
//! thread is followed together with a set of *claims*: the parts of its local formulas with `U` or `R` that
//! are said to be true from here on. What is claimed must be so: `f U g` needs g now, or f now and the same
//! claim after the next step of the thread; `f R g` needs g now, and f now or the same claim after the next
//! step. A claim can be made at any moment, and one that is not made says nothing: formulas are in positive
//! normal form, so more truth never hurts.
//!
//! A thread that goes round for ever must keep every promise in a round: `f U g` is not claimed somewhere in
//! it, or g is true there. One that stops must be right for ever where it is.
//!
//! # Source
//! Automata for linear temporal logic, with truth assignments as states; Kahlon and Gupta (LICS 2006) for
//! formulas about single threads.
//!
//! # Invariants
//! 1. A *place* is the top of a stack with a set of claims.

use super::class::{Top, atom_holds, thread_of};
use super::query::ChainQuery;
use selvedge_base::{Budget, Id, StopReason};
use selvedge_lower::LoweredThread;
use selvedge_pds::Symbol;
use selvedge_program::{Formula, Program, ThreadId, Unknown};

/// How many claims are followed at once.
const MOST_CLAIMS: usize = 6;

/// The parts of the local formulas of one thread that can be claimed, and what that means at each place.
pub(crate) struct Claims {
    /// With `U` or `R`.
    pub parts: Vec<Formula>,
    /// For each place the claims that must be made after the next step; `None` where what is claimed is
    /// not so.
    must: Vec<Option<u32>>,
    /// For each place the promises that are kept there.
    kept: Vec<u32>,
}

impl Claims {
    /// The claims that the local formulas of a thread in these conditions need.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn new(
        parts: Vec<Formula>,
        program: &Program,
        thread: &LoweredThread,
        budget: &Budget,
    ) -> Result<Self, StopReason> {
        let sets = 1usize << parts.len();
        let places = Top::count(thread) * sets;
        let mut claims =
            Self { parts, must: Vec::with_capacity(places), kept: Vec::with_capacity(places) };
        for place in 0..places {
            budget.check()?;
            let (top, made) = (Top::of(thread, place / sets), (place % sets) as u32);
            let holds = |formula: &Formula| claims.holds(formula, program, thread, top, made);
            let (mut must, mut kept, mut right) = (0, 0, true);
            for (bit, part) in claims.parts.iter().enumerate() {
                let claimed = made >> bit & 1 == 1;
                let (now, later) = match part {
                    Formula::Until(f, g) => {
                        let now = holds(g);
                        kept |= u32::from(!claimed || now) << bit;
                        (now || holds(f), !now)
                    }
                    Formula::Release(f, g) => {
                        kept |= 1 << bit;
                        (holds(g), !holds(f))
                    }
                    _ => (false, false),
                };
                right &= !claimed || now;
                must |= u32::from(claimed && later) << bit;
            }
            claims.must.push(right.then_some(must));
            claims.kept.push(kept);
        }
        Ok(claims)
    }

    /// How many sets of claims there are.
    pub fn sets(&self) -> usize {
        1 << self.parts.len()
    }

    /// Every promise.
    pub fn promises(&self) -> u32 {
        self.sets() as u32 - 1
    }

    /// The place of a symbol with a set of claims.
    pub fn place(&self, symbol: Symbol, made: u32) -> usize {
        symbol.index() * self.sets() + made as usize
    }

    /// Whether what is claimed at a place can be so.
    pub fn is_right(&self, place: usize) -> bool {
        self.must[place].is_some()
    }

    /// The sets of claims after a step from a place; those that are not right where they come to are to be
    /// left out.
    pub fn after(&self, place: usize) -> impl Iterator<Item = u32> {
        let must = self.must[place];
        let sets = 0..self.sets() as u32;
        sets.filter(move |made| must.is_some_and(|must| must & !made == 0))
    }

    /// The promises that are kept at a place.
    pub fn kept(&self, place: usize) -> u32 {
        self.kept[place]
    }

    /// Whether what is claimed at a place is so if the thread stays there for ever.
    pub fn may_stop(&self, place: usize) -> bool {
        let made = (place % self.sets()) as u32;
        self.kept[place] == self.promises()
            && self.must[place].is_some_and(|must| must & !made == 0)
    }

    /// Whether a formula about the thread is true with this top and these claims.
    pub fn holds(
        &self,
        formula: &Formula,
        program: &Program,
        thread: &LoweredThread,
        top: Top,
        made: u32,
    ) -> bool {
        let of = |formula: &Formula| self.holds(formula, program, thread, top, made);
        match formula {
            Formula::Constant(value) => *value,
            Formula::Proposition(atom) => atom_holds(atom, program, thread, top),
            Formula::Not(f) => !of(f),
            Formula::And(f, g) => of(f) && of(g),
            Formula::Or(f, g) => of(f) || of(g),
            Formula::Until(..) | Formula::Release(..) => {
                let bit = self.parts.iter().position(|part| part == formula);
                bit.is_some_and(|bit| made >> bit & 1 == 1)
            }
            Formula::Next(_) => false,
        }
    }
}

/// What each participant can claim of its own future.
///
/// # Errors
/// If a thread could claim too much, or if the budget is used up.
pub(super) fn claims(
    program: &Program,
    query: &ChainQuery,
    participants: &[ThreadId],
    threads: &[&LoweredThread],
    budget: &Budget,
) -> Result<Vec<Claims>, Unknown> {
    let mut parts = Vec::new();
    for condition in query.conditions() {
        claimed_parts(condition, &mut parts);
    }
    let mut found = Vec::with_capacity(threads.len());
    for (&id, thread) in participants.iter().zip(threads) {
        let own = parts.iter().filter(|part| thread_of(part) == Some(id));
        let own: Vec<Formula> = own.cloned().collect();
        if own.len() > MOST_CLAIMS {
            return Err(Unknown::Unsupported(format!(
                "the formula has more than {MOST_CLAIMS} parts that look ahead along one thread"
            )));
        }
        let claims = Claims::new(own, program, thread, budget);
        found.push(claims.map_err(Unknown::Stopped)?);
    }
    Ok(found)
}

/// The parts with `U` or `R` of a condition, in which these are about single threads.
fn claimed_parts(condition: &Formula, found: &mut Vec<Formula>) {
    match condition {
        Formula::Constant(_) | Formula::Proposition(_) => {}
        Formula::Not(f) | Formula::Next(f) => claimed_parts(f, found),
        Formula::And(f, g) | Formula::Or(f, g) => {
            claimed_parts(f, found);
            claimed_parts(g, found);
        }
        Formula::Until(f, g) | Formula::Release(f, g) => {
            claimed_parts(f, found);
            claimed_parts(g, found);
            if !found.contains(condition) {
                found.push(condition.clone());
            }
        }
    }
}
