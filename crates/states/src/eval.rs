//! # Idea
//! What an expression can be, what it reads on the way, and how it can fail.
//!
//! # Source
//! [`selvedge_program::data`], semantics 1 and 8. Written by itself: the replayer has its own.
//!
//! # Invariants
//! 1. Reads are those of globals, of some way to resolve the choices.
//! 2. At most [`MOST_VALUES`] values are listed; more are [`Evaluated::too_many`].

use selvedge_program::{
    Expr, FailureKind, FailureKinds, GlobalId, Operator, ThreadId, Value, Variable, thread_value,
};

/// How many values an expression may have.
pub const MOST_VALUES: usize = 1 << 16;

/// What an expression can be.
#[derive(Clone, Debug, Default)]
pub struct Evaluated {
    /// Its values, in ascending order.
    pub values: Vec<i64>,
    /// How it can fail.
    pub fails: FailureKinds,
    /// Whether it has more values than are listed.
    pub too_many: bool,
}

/// The variables that an activation sees.
#[derive(Clone, Copy)]
pub struct Variables<'s> {
    /// The globals.
    pub globals: &'s [Value],
    /// Its own.
    pub locals: &'s [Value],
    /// The thread that runs it.
    pub thread: ThreadId,
    /// Which of the copies of its process that is.
    pub copy: u32,
}

impl Variables<'_> {
    fn get(&self, variable: Variable, reads: &mut Vec<GlobalId>) -> i64 {
        match variable {
            Variable::Global(id) => {
                reads.push(id);
                self.globals[crate::program::index(id)].into()
            }
            Variable::Local(id) => self.locals[crate::program::index(id)].into(),
        }
    }

    /// What an expression over the values before a step can be.
    pub fn evaluate(&self, expr: &Expr, reads: &mut Vec<GlobalId>) -> Evaluated {
        self.between(expr, *self, reads)
    }

    /// What an expression over the values before and after a step can be.
    pub fn between(
        &self,
        expr: &Expr,
        after: Variables<'_>,
        reads: &mut Vec<GlobalId>,
    ) -> Evaluated {
        match self.single(expr, &after, reads) {
            Ok(value) => Evaluated { values: vec![value], ..Evaluated::default() },
            Err(Odd::Fails(kind)) => Evaluated::failing(kind),
            Err(Odd::Chooses) => {
                let mut all = self.all(expr, &after, reads);
                all.shorten();
                all
            }
        }
    }

    /// The value of an expression in which nothing is chosen.
    fn single(
        &self,
        expr: &Expr,
        after: &Variables<'_>,
        reads: &mut Vec<GlobalId>,
    ) -> Result<i64, Odd> {
        Ok(match expr {
            Expr::Constant(literal) => literal.value().into(),
            Expr::Choice | Expr::Choose(..) => return Err(Odd::Chooses),
            Expr::Current(variable) => self.get(*variable, reads),
            Expr::Next(variable) => after.get(*variable, &mut Vec::new()),
            Expr::Element(array, index) => {
                let index = self.single(index, after, reads)?;
                match u32::try_from(index) {
                    Ok(index) if index < array.length => self.get(array.element(index), reads),
                    _ => return Err(Odd::Fails(FailureKind::Index)),
                }
            }
            Expr::Me => thread_value(Some(self.thread)).into(),
            Expr::Copy => self.copy.into(),
            Expr::Not(inner) => i64::from(self.single(inner, after, reads)? == 0),
            Expr::Negate(inner) => {
                let value = self.single(inner, after, reads)?;
                value.checked_neg().ok_or(Odd::Fails(FailureKind::Range))?
            }
            Expr::Binary(operator, left, right) => {
                let left = self.single(left, after, reads)?;
                match decided(*operator, left) {
                    Some(value) => i64::from(value),
                    None => combine(*operator, left, self.single(right, after, reads)?)
                        .map_err(Odd::Fails)?,
                }
            }
            Expr::Ite(parts) => {
                let which = if self.single(&parts[0], after, reads)? == 0 { 2 } else { 1 };
                self.single(&parts[which], after, reads)?
            }
        })
    }

    /// All values of an expression.
    fn all(&self, expr: &Expr, after: &Variables<'_>, reads: &mut Vec<GlobalId>) -> Evaluated {
        match expr {
            Expr::Choice => Evaluated { values: vec![0, 1], ..Evaluated::default() },
            Expr::Choose(low, high) => {
                let low = self.all(low, after, reads);
                let high = self.all(high, after, reads);
                low.then(&mut |low| {
                    high.then(&mut |high| {
                        if i128::from(high) - i128::from(low) >= MOST_VALUES as i128 {
                            return Evaluated { too_many: true, ..Evaluated::default() };
                        }
                        Evaluated { values: (low..=high).collect(), ..Evaluated::default() }
                    })
                })
            }
            Expr::Element(array, index) => {
                self.all(index, after, reads).then(&mut |index| match u32::try_from(index) {
                    Ok(index) if index < array.length => {
                        Evaluated::one(self.get(array.element(index), reads))
                    }
                    _ => Evaluated::failing(FailureKind::Index),
                })
            }
            Expr::Not(inner) => {
                self.all(inner, after, reads).then(&mut |one| Evaluated::one((one == 0).into()))
            }
            Expr::Negate(inner) => self.all(inner, after, reads).then(&mut |one| {
                one.checked_neg().map_or(Evaluated::failing(FailureKind::Range), Evaluated::one)
            }),
            Expr::Binary(operator, left, right) => {
                let left = self.all(left, after, reads);
                let undecided = left.values.iter().any(|&one| decided(*operator, one).is_none());
                let right =
                    if undecided { self.all(right, after, reads) } else { Evaluated::default() };
                left.then(&mut |left| match decided(*operator, left) {
                    Some(value) => Evaluated::one(value.into()),
                    None => right.then(&mut |right| match combine(*operator, left, right) {
                        Ok(value) => Evaluated::one(value),
                        Err(kind) => Evaluated::failing(kind),
                    }),
                })
            }
            Expr::Ite(parts) => self.all(&parts[0], after, reads).then(&mut |condition| {
                self.all(&parts[if condition == 0 { 2 } else { 1 }], after, reads)
            }),
            plain => match self.single(plain, after, reads) {
                Ok(value) => Evaluated::one(value),
                Err(Odd::Fails(kind)) => Evaluated::failing(kind),
                Err(Odd::Chooses) => unreachable!("choices were dealt with"),
            },
        }
    }
}

/// Why an expression has not one value.
enum Odd {
    Fails(FailureKind),
    Chooses,
}

impl Evaluated {
    fn one(value: i64) -> Self {
        Self { values: vec![value], ..Self::default() }
    }

    fn failing(kind: FailureKind) -> Self {
        Self { fails: kind.into(), ..Self::default() }
    }

    /// How a condition that must hold is broken.
    pub fn broken(&self, kind: FailureKind) -> FailureKinds {
        let mut kinds = self.fails;
        if self.can_be_false() {
            kinds.insert(kind);
        }
        kinds
    }

    /// Whether it can be true.
    pub fn can_hold(&self) -> bool {
        self.values.iter().any(|&one| one != 0)
    }

    /// Whether it can be false.
    pub fn can_be_false(&self) -> bool {
        self.values.contains(&0)
    }

    fn then(&self, next: &mut dyn FnMut(i64) -> Self) -> Self {
        let mut all = Self { values: Vec::new(), fails: self.fails, too_many: self.too_many };
        for &value in &self.values {
            let one = next(value);
            all.values.extend(one.values);
            all.fails = all.fails.union(one.fails);
            all.too_many |= one.too_many;
        }
        all.shorten();
        all
    }

    fn shorten(&mut self) {
        self.values.sort_unstable();
        self.values.dedup();
        if self.values.len() > MOST_VALUES {
            self.values.clear();
            self.too_many = true;
        }
    }
}

/// What an operator yields whatever its right operand is.
fn decided(operator: Operator, left: i64) -> Option<bool> {
    match (operator, left != 0) {
        (Operator::And, false) => Some(false),
        (Operator::Or, true) | (Operator::Implies, false) => Some(true),
        _ => None,
    }
}

pub(crate) fn combine(operator: Operator, left: i64, right: i64) -> Result<i64, FailureKind> {
    let exact = |value: Option<i64>| value.ok_or(FailureKind::Range);
    match operator {
        Operator::And | Operator::Or | Operator::Implies => Ok((right != 0).into()),
        Operator::Xor => Ok(((left != 0) != (right != 0)).into()),
        Operator::Equal => Ok((left == right).into()),
        Operator::Less => Ok((left < right).into()),
        Operator::LessEqual => Ok((left <= right).into()),
        Operator::Add => exact(left.checked_add(right)),
        Operator::Subtract => exact(left.checked_sub(right)),
        Operator::Multiply => exact(left.checked_mul(right)),
        Operator::Divide | Operator::Remainder if right == 0 => Err(FailureKind::Division),
        Operator::Divide => exact(left.checked_div(right)),
        Operator::Remainder => Ok(left.checked_rem(right).unwrap_or(0)),
    }
}
