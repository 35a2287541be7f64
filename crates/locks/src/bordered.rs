//! # Idea
//! What both engines stand on: a program whose threads were lowered, its starts and joins, and the way
//! from a question over the orders of its cuts to a verdict. An engine has to say only whether the
//! participants of one order can play their roles together.
//!
//! # Invariants
//! 1. `safe` is said only if no order of all has an interleaving.

use crate::NO_VALUES;
use crate::behaviour::Behaviours;
use crate::order::{Borders, Orders, orders, too_many_orders};
use crate::role::Role;
use crate::schedule::InterleavingEnd;
use selvedge_base::Budget;
use selvedge_program::{Fault, Program, Question, ThreadId, Unknown, Verdict, Witness};
use std::rc::Rc;

/// A program with its lowered threads and their borders, unless it could not be lowered.
pub(crate) struct BorderedProgram<'p> {
    program: &'p Program,
    behaviours: Result<Rc<Behaviours>, Unknown>,
    /// Starts and joins, if the program has some.
    borders: Option<Borders>,
}

impl<'p> BorderedProgram<'p> {
    /// A program whose threads were lowered.
    pub fn new(program: &'p Program, behaviours: Result<Rc<Behaviours>, Unknown>) -> Self {
        let borders = behaviours.as_ref().ok().and_then(|known| Borders::new(program, known));
        Self { program, behaviours, borders }
    }

    /// The lowered threads of a program for which [`Self::orders`] has found orders.
    pub fn behaviours(&self) -> &Behaviours {
        self.behaviours.as_ref().expect("a program with orders was lowered")
    }

    /// How much there is of them.
    pub fn counts(&self) -> Vec<(&'static str, u64)> {
        self.behaviours.as_ref().map_or_else(|_| Vec::new(), |known| known.counts())
    }

    /// The orders of a question.
    ///
    /// # Errors
    /// If the program could not be lowered, if the question is about values, or if the budget is used
    /// up.
    pub fn orders(
        &mut self,
        question: &Question,
        budget: &Budget,
    ) -> Result<OrdersToDecide, Unknown> {
        let behaviours = self.behaviours.clone()?;
        let orders = orders(self.program, &behaviours, self.borders.as_mut(), question, budget)?;
        let orders = orders.ok_or_else(|| Unknown::Unsupported(NO_VALUES.to_owned()))?;
        Ok(OrdersToDecide { behaviours, orders })
    }
}

/// The orders of a question, of which one with an interleaving is sought.
pub(crate) struct OrdersToDecide {
    behaviours: Rc<Behaviours>,
    orders: Orders,
}

impl OrdersToDecide {
    /// Decides the question: `engine` says whether these participants can play their roles together.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn decide(
        &self,
        question: &Question,
        mut engine: impl FnMut(&[(ThreadId, Role)], InterleavingEnd) -> Result<Verdict<Witness>, Fault>,
    ) -> Result<Verdict<Witness>, Fault> {
        for order in &self.orders.found {
            let mut participants = order.participants.iter();
            if !participants.all(|(thread, role)| self.behaviours.can_play(*thread, role)) {
                continue;
            }
            let end = InterleavingEnd::of(question, order.phases());
            match engine(&order.participants, end)? {
                Verdict::Safe => {}
                Verdict::Violation(mut witness) => {
                    order.mark(&mut witness);
                    return Ok(Verdict::Violation(witness));
                }
                Verdict::Unknown(why) => return Ok(Verdict::Unknown(why)),
            }
        }
        Ok(if self.orders.all { Verdict::Safe } else { Verdict::Unknown(too_many_orders()) })
    }
}
