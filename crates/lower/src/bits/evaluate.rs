//! # Idea
//! Expressions over typed variables as words of truth values, and what else their evaluation does: it
//! may fail, it may have to wait for a choice that fits, and large intermediate results are stored in
//! temporaries. What it does is a list of [`Operation`]s in their order; without temporaries it becomes
//! a guard.
//!
//! # Source
//! [`selvedge_program::data`], semantics 1, 8 and 9. A choice is stored before it is used, so that all
//! digits that depend on it see the same one.
//!
//! # Invariants
//! 1. What is evaluated only under a condition fails only under it.
//! 2. A word that is used more than once is small: whoever does so stores it first.

use super::Refused;
use super::circuit::{Bit, Word, digits_for};
use super::encoding::Encoding;
use selvedge_base::{Id, IdVec};
use selvedge_program::{
    Annotation, Array, ConditionId, Expr, GlobalId, LocalId, LockId, Operator, Program, Sort,
    ThreadId, Type, Variable, thread_value,
};
use std::collections::{BTreeMap, BTreeSet};

/// Operands of operators with more parts than this are stored first.
const LARGE: usize = 12;

/// What is used very often is stored first if it has more parts than this.
const LARGE_INDEX: usize = 4;

/// Factors with more digits than this are not multiplied, unless one is a constant.
const WIDEST_FACTOR: usize = 8;

/// Intermediate results have no more digits than this.
const WIDEST_WORD: usize = 40;

/// What an evaluation does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Goes on only if this can hold.
    Require(Bit),
    /// Fails if this holds, else goes on.
    Fail(Bit),
    /// Stores bits in temporaries, all at once.
    Store(Vec<(LocalId, Bit)>),
    /// Stores any bits in temporaries.
    Any(Vec<LocalId>),
}

/// The bits of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    /// The variables that hold its code, the lowest bit first.
    pub bits: Vec<Variable>,
    /// How they do.
    pub encoding: Encoding,
}

impl Slot {
    /// Its current code.
    pub fn code(&self) -> Vec<Bit> {
        self.bits.iter().map(|&bit| Bit::variable(bit)).collect()
    }
}

/// What an expression is about.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The thread that is meant by `me`.
    pub thread: ThreadId,
    /// Which copy of its process that is.
    pub copy: u32,
    /// The codes of the variables that the step writes, after it.
    pub next: &'a BTreeMap<Variable, Vec<Bit>>,
    /// Whether variables are meant after the step.
    pub after: bool,
    /// Whether what protects a variable is checked where it is read.
    pub checked: bool,
}

/// What the expressions of one procedure are evaluated with.
pub struct Context<'a> {
    /// The program with types.
    pub program: &'a Program,
    /// The bits of the globals.
    pub globals: &'a IdVec<GlobalId, Slot>,
    /// The bits of the locals.
    pub locals: &'a IdVec<LocalId, Slot>,
    /// The types of the locals.
    pub types: &'a IdVec<LocalId, Type>,
    /// Who holds each lock.
    pub owners: &'a BTreeMap<LockId, GlobalId>,
    /// The first temporary.
    pub first_temporary: usize,
}

/// The evaluation of what one step computes.
pub struct Evaluator<'a> {
    context: &'a Context<'a>,
    /// What was done so far.
    pub operations: Vec<Operation>,
    /// How many temporaries are in use.
    pub temporaries: usize,
}

/// What an expression yields.
enum Yield {
    Truth(Bit),
    Number(Word),
}

impl Yield {
    fn truth(self) -> Bit {
        match self {
            Self::Truth(bit) => bit,
            Self::Number(word) => word.equal(&Word::constant(0)).not(),
        }
    }

    fn number(self) -> Word {
        match self {
            Self::Truth(bit) => Word::truth(bit),
            Self::Number(word) => word,
        }
    }
}

fn too_wide() -> Refused {
    Refused::new(format!("an intermediate result has more than {WIDEST_WORD} bits"))
}

/// A result of arithmetic, if it is narrow enough.
fn narrow(word: Option<Word>) -> Result<Word, Refused> {
    word.filter(|word| word.digits.len() <= WIDEST_WORD).ok_or_else(too_wide)
}

impl<'a> Evaluator<'a> {
    /// An evaluation that has done nothing yet.
    pub fn new(context: &'a Context<'a>) -> Self {
        Self { context, operations: Vec::new(), temporaries: 0 }
    }

    /// A condition.
    pub fn truth(&mut self, expr: &Expr, scene: Scene<'_>) -> Result<Bit, Refused> {
        self.truth_under(expr, scene, &Bit::constant(true))
    }

    /// A condition over truth values alone, as it is written: what it chooses is chosen where it is
    /// used.
    pub fn plain(&self, expr: &Expr, scene: Scene<'_>) -> Option<Bit> {
        let mut plain = true;
        expr.any(&mut |part| {
            plain &= match part {
                Expr::Constant(literal) => literal.sort() == Sort::Bool,
                Expr::Current(variable) => {
                    self.type_of(*variable) == Type::Bool
                        && !(scene.checked && self.annotation(*variable).is_some())
                }
                Expr::Choice | Expr::Not(_) => true,
                Expr::Binary(operator, ..) => matches!(
                    operator,
                    Operator::And
                        | Operator::Or
                        | Operator::Xor
                        | Operator::Equal
                        | Operator::Implies
                ),
                _ => false,
            };
            !plain
        });
        plain.then(|| {
            let mut expr = expr.clone();
            expr.change(&mut |part| {
                if let Expr::Current(variable) = part {
                    *variable = self.slot(*variable).bits[0];
                }
            });
            Bit::of(expr)
        })
    }

    /// The code of an expression as a variable of a type holds it.
    pub fn stored(&mut self, expr: &Expr, ty: Type, scene: Scene<'_>) -> Result<Vec<Bit>, Refused> {
        let always = Bit::constant(true);
        if ty == Type::Bool {
            return Ok(vec![self.truth_under(expr, scene, &always)?]);
        }
        let word = self.number_under(expr, scene, &always)?;
        self.held(word, ty)
    }

    /// The code of a number as a variable of a type holds it (8).
    pub fn held(&mut self, word: Word, ty: Type) -> Result<Vec<Bit>, Refused> {
        let encoding = self.encoding(ty)?;
        let (low, high) = (encoding.low, encoding.high);
        let fits = |word: &Word| low <= word.low && word.high <= high;
        if fits(&word) {
            return Ok(encoding.encode(&word));
        }
        let word = self.small(word, LARGE);
        let word = if let Type::Mod(n) = ty {
            self.reduced(&word, i64::from(n))?
        } else {
            self.operations.push(Operation::Fail(word.outside(low, high)));
            word
        };
        let word = word.within(low, high);
        Ok(encoding.encode(&word))
    }

    /// A number modulo another one.
    fn reduced(&mut self, word: &Word, n: i64) -> Result<Word, Refused> {
        if n & (n - 1) == 0 {
            // The lowest digits, whatever the sign.
            let count = digits_for(0, n - 1) - 1;
            let mut digits: Vec<Bit> = (0..count).map(|at| word.digit(at).clone()).collect();
            digits.push(Bit::constant(false));
            return Ok(Word::new(digits, 0, n - 1));
        }
        let modulus = Word::constant(n);
        if -n <= word.low && word.high < 2 * n {
            let (below, above) = (word.less(&Word::constant(0)), word.outside(i64::MIN, n - 1));
            let added = narrow(word.add(&modulus))?;
            let taken = narrow(word.subtract(&modulus))?;
            let chosen = Word::choose(&below, &added, &Word::choose(&above, &taken, word));
            return Ok(Word::new(chosen.digits, 0, n - 1));
        }
        let (_, rest) = self.divided(word, &modulus)?;
        let rest = self.small(rest, LARGE);
        let added = narrow(rest.add(&modulus))?;
        let chosen = Word::choose(rest.sign(), &added, &rest);
        Ok(Word::new(chosen.digits, 0, n - 1))
    }

    /// Fails where a variable may not be accessed by the running thread (9).
    pub fn allow(
        &mut self,
        variable: Variable,
        scene: Scene<'_>,
        condition: &Bit,
    ) -> Result<(), Refused> {
        match self.annotation(variable) {
            None => {}
            Some(Annotation::GuardedBy(lock)) => {
                let mine = self.holds(lock, scene.thread);
                self.operations.push(Operation::Fail(condition.and(&mine.not())));
            }
            Some(Annotation::ExclusiveWhen(predicate)) => {
                let holds = self.predicate(predicate, scene, condition)?;
                self.operations.push(Operation::Fail(condition.and(&holds.not())));
            }
        }
        Ok(())
    }

    /// A condition about globals, of a thread, which nobody checks.
    fn predicate(
        &mut self,
        id: ConditionId,
        scene: Scene<'_>,
        condition: &Bit,
    ) -> Result<Bit, Refused> {
        let scene = Scene { checked: false, ..scene };
        self.truth_under(&self.context.program.conditions[id], scene, condition)
    }

    /// Whether a thread holds a lock.
    fn holds(&self, lock: LockId, thread: ThreadId) -> Bit {
        let slot = &self.context.globals[self.context.owners[&lock]];
        let owner = slot.encoding.decode(slot.code());
        owner.equal(&Word::constant(i64::from(thread_value(Some(thread)))))
    }

    fn annotation(&self, variable: Variable) -> Option<Annotation> {
        match variable {
            Variable::Global(id) => self.context.program.globals[id].annotation,
            Variable::Local(_) => None,
        }
    }

    /// The bits of a variable.
    pub fn slot(&self, variable: Variable) -> &'a Slot {
        match variable {
            Variable::Global(id) => &self.context.globals[id],
            Variable::Local(id) => &self.context.locals[id],
        }
    }

    /// The type of a variable.
    pub fn type_of(&self, variable: Variable) -> Type {
        match variable {
            Variable::Global(id) => self.context.program.globals[id].ty,
            Variable::Local(id) => self.context.types[id],
        }
    }

    fn encoding(&self, ty: Type) -> Result<Encoding, Refused> {
        Encoding::new(self.context.program, ty).ok_or_else(too_wide)
    }

    /// A new temporary.
    fn temporary(&mut self) -> LocalId {
        self.temporaries += 1;
        LocalId::from_index(self.context.first_temporary + self.temporaries - 1)
    }

    /// The same bits, in temporaries if one of them has more parts than a limit.
    pub fn small_bits(&mut self, bits: Vec<Bit>, limit: usize) -> Vec<Bit> {
        if bits.iter().all(|bit| bit.size() <= limit) {
            return bits;
        }
        let mut stored = Vec::new();
        let named = bits.into_iter().map(|bit| {
            if bit.size() == 1 {
                return bit;
            }
            let temporary = self.temporary();
            stored.push((temporary, bit));
            Bit::variable(Variable::Local(temporary))
        });
        let named = named.collect();
        self.operations.push(Operation::Store(stored));
        named
    }

    fn small(&mut self, word: Word, limit: usize) -> Word {
        let (low, high) = (word.low, word.high);
        Word::new(self.small_bits(word.digits, limit), low, high)
    }

    fn small_bit(&mut self, bit: Bit, limit: usize) -> Bit {
        self.small_bits(vec![bit], limit).pop().expect("one bit")
    }

    fn number_under(
        &mut self,
        expr: &Expr,
        scene: Scene<'_>,
        condition: &Bit,
    ) -> Result<Word, Refused> {
        Ok(self.evaluate(expr, scene, condition)?.number())
    }

    fn truth_under(
        &mut self,
        expr: &Expr,
        scene: Scene<'_>,
        condition: &Bit,
    ) -> Result<Bit, Refused> {
        Ok(self.evaluate(expr, scene, condition)?.truth())
    }

    /// What an expression yields where a condition holds; elsewhere anything.
    fn evaluate(
        &mut self,
        expr: &Expr,
        scene: Scene<'_>,
        condition: &Bit,
    ) -> Result<Yield, Refused> {
        Ok(match expr {
            Expr::Constant(literal) => match literal.sort() {
                Sort::Bool => Yield::Truth(Bit::constant(literal.value() != 0)),
                _ => Yield::Number(Word::constant(i64::from(literal.value()))),
            },
            Expr::Me => Yield::Number(Word::constant(i64::from(thread_value(Some(scene.thread))))),
            Expr::Copy => Yield::Number(Word::constant(i64::from(scene.copy))),
            Expr::Current(variable) => {
                if scene.checked {
                    self.allow(*variable, scene, condition)?;
                }
                self.read(*variable, scene.after.then_some(scene.next))
            }
            Expr::Next(variable) => self.read(*variable, Some(scene.next)),
            Expr::Choice => {
                let temporary = self.temporary();
                self.operations.push(Operation::Any(vec![temporary]));
                Yield::Truth(Bit::variable(Variable::Local(temporary)))
            }
            Expr::Choose(low, high) => {
                let low = self.number_under(low, scene, condition)?;
                let high = self.number_under(high, scene, condition)?;
                Yield::Number(self.chosen(&low, &high, condition))
            }
            Expr::Element(array, index) => {
                let index = self.number_under(index, scene, condition)?;
                self.element(*array, index, scene, condition)?
            }
            Expr::Not(inner) => Yield::Truth(self.truth_under(inner, scene, condition)?.not()),
            Expr::Negate(inner) => {
                let word = self.number_under(inner, scene, condition)?;
                let word = self.small(word, LARGE);
                Yield::Number(narrow(word.negate())?)
            }
            Expr::Ite(parts) => {
                let [test, then, otherwise] = &**parts;
                let test = self.truth_under(test, scene, condition)?;
                let test = self.small_bit(test, LARGE);
                let then = self.evaluate(then, scene, &condition.and(&test))?;
                let otherwise = self.evaluate(otherwise, scene, &condition.and(&test.not()))?;
                match (then, otherwise) {
                    (Yield::Truth(then), Yield::Truth(otherwise)) => {
                        Yield::Truth(Bit::choose(&test, &then, &otherwise))
                    }
                    (then, otherwise) => {
                        Yield::Number(Word::choose(&test, &then.number(), &otherwise.number()))
                    }
                }
            }
            Expr::Binary(operator, left, right) => {
                self.binary(*operator, left, right, scene, condition)?
            }
        })
    }

    fn read(&self, variable: Variable, after: Option<&BTreeMap<Variable, Vec<Bit>>>) -> Yield {
        let slot = self.slot(variable);
        let next = after.and_then(|next| next.get(&variable).cloned());
        let mut code = next.unwrap_or_else(|| slot.code());
        if self.type_of(variable) == Type::Bool {
            return Yield::Truth(code.pop().expect("a truth value is one bit"));
        }
        Yield::Number(slot.encoding.decode(code))
    }

    /// Any number from one to another, where a condition holds.
    fn chosen(&mut self, low: &Word, high: &Word, condition: &Bit) -> Word {
        let (from, to) = (low.low, high.high.max(low.low));
        // A number that is not negative needs no sign.
        let signed = usize::from(from < 0);
        let count = digits_for(from, to) - 1;
        let fresh: Vec<LocalId> = (0..count + signed).map(|_| self.temporary()).collect();
        let mut digits: Vec<Bit> =
            fresh.iter().map(|&one| Bit::variable(Variable::Local(one))).collect();
        digits.resize(count + 1, Bit::constant(false));
        self.operations.push(Operation::Any(fresh));
        // As wide as its digits, so that nothing is concluded from its bounds before they are asked
        // for.
        let least = if signed == 1 { -1 << count } else { 0 };
        let any = Word { digits, low: least, high: (1 << count) - 1 };
        let fits = any.less(low).not().and(&high.less(&any).not());
        self.operations.push(Operation::Require(condition.not().or(&fits)));
        Word::new(any.digits, from, to)
    }

    fn element(
        &mut self,
        array: Array,
        index: Word,
        scene: Scene<'_>,
        condition: &Bit,
    ) -> Result<Yield, Refused> {
        let last = i64::from(array.length) - 1;
        let index = self.small(index, LARGE_INDEX);
        let outside = index.outside(0, last);
        if !outside.is(false) {
            self.operations.push(Operation::Fail(condition.and(&outside)));
        }
        let index = index.within(0, last);
        if scene.checked {
            self.allow_element(array, &index, scene, condition)?;
        }
        if let Some(at) = index.as_constant() {
            let at = u32::try_from(at).expect("an index of an array");
            return Ok(self.read(array.element(at), scene.after.then_some(scene.next)));
        }
        let mut codes = Vec::new();
        for element in array.elements() {
            let next = scene.next.get(&element).filter(|_| scene.after).cloned();
            codes.push(next.unwrap_or_else(|| self.slot(element).code()));
        }
        let mut code = select(&index, &codes);
        if self.type_of(array.first) == Type::Bool {
            return Ok(Yield::Truth(code.pop().expect("a truth value is one bit")));
        }
        Ok(Yield::Number(self.slot(array.first).encoding.decode(code)))
    }

    /// Fails where the element that is read may not be accessed (9).
    fn allow_element(
        &mut self,
        array: Array,
        index: &Word,
        scene: Scene<'_>,
        condition: &Bit,
    ) -> Result<(), Refused> {
        let kinds = array.elements().map(|one| self.annotation(one));
        let kinds: Vec<Option<Annotation>> = kinds.collect();
        if kinds.iter().all(|&one| one == kinds[0]) {
            return self.allow(array.first, scene, condition);
        }
        for (at, (element, kind)) in (0i64..).zip(array.elements().zip(&kinds)) {
            if kind.is_some() {
                let here = condition.and(&index.equal(&Word::constant(at)));
                self.allow(element, scene, &here)?;
            }
        }
        Ok(())
    }

    fn binary(
        &mut self,
        operator: Operator,
        left: &Expr,
        right: &Expr,
        scene: Scene<'_>,
        condition: &Bit,
    ) -> Result<Yield, Refused> {
        if let Operator::And | Operator::Or | Operator::Implies = operator {
            let mut left = self.truth_under(left, scene, condition)?;
            if left.size() > LARGE && right.any(&mut can_do_something) {
                left = self.small_bit(left, LARGE);
            }
            let open = if operator == Operator::Or { left.not() } else { left.clone() };
            let right = self.truth_under(right, scene, &condition.and(&open))?;
            return Ok(Yield::Truth(match operator {
                Operator::And => left.and(&right),
                Operator::Or => left.or(&right),
                _ => left.not().or(&right),
            }));
        }
        let left = self.evaluate(left, scene, condition)?;
        let right = self.evaluate(right, scene, condition)?;
        if let (Yield::Truth(left), Yield::Truth(right)) = (&left, &right) {
            return Ok(Yield::Truth(match operator {
                Operator::Xor => left.xor(right),
                _ => left.equal(right),
            }));
        }
        let (left, right) = (self.small(left.number(), LARGE), right.number());
        let right = self.small(right, LARGE);
        Ok(match operator {
            Operator::Equal => Yield::Truth(left.equal(&right)),
            Operator::Xor => Yield::Truth(left.equal(&right).not()),
            Operator::Less => Yield::Truth(left.less(&right)),
            Operator::LessEqual => Yield::Truth(right.less(&left).not()),
            Operator::Add => Yield::Number(narrow(left.add(&right))?),
            Operator::Subtract => Yield::Number(narrow(left.subtract(&right))?),
            Operator::Multiply => Yield::Number(self.product(&left, &right)?),
            _ => {
                let zero = right.equal(&Word::constant(0));
                if !zero.is(false) {
                    self.operations.push(Operation::Fail(condition.and(&zero)));
                }
                let (quotient, rest) = self.divided(&left, &right)?;
                Yield::Number(if operator == Operator::Divide { quotient } else { rest })
            }
        })
    }

    /// The product: for every digit of one factor the other one, shifted.
    fn product(&mut self, left: &Word, right: &Word) -> Result<Word, Refused> {
        let (left, right) =
            if left.as_constant().is_some() { (right, left) } else { (left, right) };
        if right.as_constant().is_none() {
            let wide = |word: &Word| {
                let unsigned = usize::from(word.low >= 0);
                word.digits.len() - unsigned > WIDEST_FACTOR
            };
            if wide(left) || wide(right) {
                return Err(Refused::new(format!(
                    "two variables with more than {WIDEST_FACTOR} bits are multiplied"
                )));
            }
        }
        let corners = [
            left.low.checked_mul(right.low),
            left.low.checked_mul(right.high),
            left.high.checked_mul(right.low),
            left.high.checked_mul(right.high),
        ];
        let corners: Option<Vec<i64>> = corners.into_iter().collect();
        let corners = corners.ok_or_else(too_wide)?;
        let low = *corners.iter().min().expect("four of them");
        let high = *corners.iter().max().expect("four of them");
        let count = right.digits.len();
        let mut sum = Word::constant(0);
        for (at, digit) in right.digits.iter().enumerate() {
            if digit.is(false) {
                continue;
            }
            let part = narrow(left.masked(digit).shifted(at))?;
            let part = self.small(part, LARGE);
            sum = self.small(sum, LARGE);
            // The sign weighs the other way.
            let next = if at + 1 == count { sum.subtract(&part) } else { sum.add(&part) };
            sum = narrow(next)?;
        }
        if digits_for(low, high) > WIDEST_WORD {
            return Err(too_wide());
        }
        Ok(Word::new(sum.digits, low, high))
    }

    /// The quotient without its fraction, and what is left; anything if the divisor is 0.
    fn divided(&mut self, left: &Word, right: &Word) -> Result<(Word, Word), Refused> {
        let most = left.low.unsigned_abs().max(left.high.unsigned_abs());
        let most = i64::try_from(most).map_err(|_| too_wide())?;
        if let Some(divisor) = right.as_constant().filter(|one| *one > 0 && one & (one - 1) == 0)
            && left.low >= 0
        {
            let shift = divisor.trailing_zeros() as usize;
            let digits = left.digits.iter().skip(shift).cloned().collect();
            let quotient = Word::new(digits, left.low / divisor, left.high / divisor);
            return Ok((quotient, self.reduced(left, divisor)?));
        }
        let dividend = narrow(left.magnitude())?;
        let dividend = self.small(dividend, LARGE);
        let divisor = narrow(right.magnitude())?;
        let divisor = self.small(divisor, LARGE);
        let mut rest = Word::constant(0);
        let mut digits = vec![Bit::constant(false); dividend.digits.len()];
        for at in (0..dividend.digits.len() - 1).rev() {
            let shifted = narrow(rest.shifted(1))?;
            let mut brought = shifted.digits;
            brought[0] = dividend.digit(at).clone();
            let brought = Word::new(brought, 0, shifted.high.saturating_add(1));
            let brought = self.small(brought, LARGE_INDEX);
            let goes = brought.less(&divisor).not();
            let goes = self.small_bit(goes, LARGE_INDEX);
            let taken = narrow(brought.subtract(&divisor))?;
            let next = Word::choose(&goes, &taken, &brought);
            // What is left is smaller than the divisor, and no larger than the dividend.
            let high = brought.high.min(divisor.high.max(1) - 1).max(0);
            rest = self.small(Word::new(next.digits, 0, high), LARGE);
            digits[at] = goes;
        }
        let quotient = Word::new(digits, 0, most);
        let negative = left.sign().xor(right.sign());
        let rest_high = rest.high;
        let quotient = self.signed(quotient, &negative)?;
        let rest = self.signed(rest, left.sign())?;
        let rest = Word::new(
            rest.digits,
            if left.low < 0 { -rest_high } else { 0 },
            if left.high > 0 { rest_high } else { 0 },
        );
        Ok((quotient, rest))
    }

    /// The number with the other sign where a bit holds.
    fn signed(&mut self, word: Word, negative: &Bit) -> Result<Word, Refused> {
        if negative.is(false) {
            return Ok(word);
        }
        let word = self.small(word, LARGE);
        let negated = narrow(word.negate())?;
        Ok(Word::choose(negative, &negated, &word))
    }

    /// Checks what must hold after a step that writes these globals (9).
    pub fn keep(
        &mut self,
        written: &BTreeSet<GlobalId>,
        scene: Scene<'_>,
        copies: &IdVec<ThreadId, u32>,
    ) -> Result<(), Refused> {
        let program = self.context.program;
        let after = Scene { after: true, checked: false, ..scene };
        for invariant in &program.invariants {
            if speaks_of(&program.conditions[invariant.condition], written) {
                let holds = self.truth(&program.conditions[invariant.condition], after)?;
                self.operations.push(Operation::Fail(holds.not()));
            }
        }
        let mut seen = BTreeSet::new();
        for global in &program.globals {
            let Some(Annotation::ExclusiveWhen(id)) = global.annotation else { continue };
            if !seen.insert(id) || !speaks_of(&program.conditions[id], written) {
                continue;
            }
            let always = Bit::constant(true);
            let mut exclusive = Bit::constant(false);
            for (thread, &copy) in copies.iter_enumerated() {
                let count = self.operations.len();
                let now = Scene { thread, copy, after: false, checked: false, ..scene };
                let then = Scene { after: true, ..now };
                let before = self.predicate(id, now, &always)?;
                let fails = self.operations[count..].iter();
                if fails.into_iter().any(|one| matches!(one, Operation::Fail(_))) {
                    return Err(Refused::new("a predicate of `exclusive when` can fail"));
                }
                let before = self.small_bit(before, LARGE);
                let holds = self.predicate(id, then, &always)?;
                let holds = self.small_bit(holds, LARGE);
                self.operations.push(Operation::Fail(exclusive.and(&holds)));
                exclusive = exclusive.or(&holds);
                if thread != scene.thread {
                    self.operations.push(Operation::Fail(before.xor(&holds)));
                }
            }
        }
        Ok(())
    }
}

/// Whether the evaluation of such a part may do more than yield a value.
fn can_do_something(part: &Expr) -> bool {
    match part {
        Expr::Constant(_)
        | Expr::Current(_)
        | Expr::Next(_)
        | Expr::Me
        | Expr::Copy
        | Expr::Not(_)
        | Expr::Negate(_)
        | Expr::Ite(_) => false,
        Expr::Binary(operator, ..) => {
            matches!(operator, Operator::Divide | Operator::Remainder)
        }
        Expr::Choice | Expr::Choose(..) | Expr::Element(..) => true,
    }
}

/// Whether a condition speaks of one of these globals.
pub fn speaks_of(condition: &Expr, globals: &BTreeSet<GlobalId>) -> bool {
    let mut speaks = false;
    condition.variables(&mut |variable, _| {
        speaks |= matches!(variable, Variable::Global(id) if globals.contains(&id));
    });
    speaks
}

/// The code at an index that is a number from 0 on and has a code each.
fn select(index: &Word, codes: &[Vec<Bit>]) -> Vec<Bit> {
    fn at(index: &Word, digit: usize, codes: &[Vec<Bit>]) -> Vec<Bit> {
        let half = 1usize << digit;
        match codes {
            [] => Vec::new(),
            [one] if digit == 0 => one.clone(),
            _ if digit == 0 => {
                let pairs = codes[1].iter().zip(&codes[0]);
                pairs.map(|(one, zero)| Bit::choose(index.digit(0), one, zero)).collect()
            }
            // No index reaches beyond the last code.
            _ if codes.len() <= half => at(index, digit - 1, codes),
            _ => {
                let zero = at(index, digit - 1, &codes[..half]);
                let one = at(index, digit - 1, &codes[half..]);
                let pairs = one.iter().zip(&zero);
                pairs.map(|(one, zero)| Bit::choose(index.digit(digit), one, zero)).collect()
            }
        }
    }
    // An array that is not constant has at least two elements.
    let highest = (codes.len() - 1).ilog2() as usize;
    at(index, highest, codes)
}
