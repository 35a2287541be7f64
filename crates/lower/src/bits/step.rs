//! # Idea
//! The edges that stand for one edge. What a step evaluates is a list of operations; where nothing is
//! stored they become the guard of one edge, with an assertion beside it for every way to fail. Where
//! something is stored, the step is a chain of edges inside one atomic section.
//!
//! # Source
//! The order is that of a step of the model: the guard, what the action asks for, the asserted
//! condition, the values that are stored, passed or returned, the constraint, what must hold
//! afterwards.
//!
//! # Invariants
//! 1. A thread that is stuck inside a chain has changed nothing that others see, and nobody else moves.
//! 2. Temporaries are false outside of chains.
//! 3. A call or a return cannot be inside a section that ends behind it. So what it stores is computed
//!    from locals alone, where nobody can tell when.

use super::build::{Body, Build};
use super::circuit::Bit;
use super::evaluate::{Evaluator, Operation, Scene, speaks_of};
use super::locks::LockEffect;
use super::{Origin, Refused};
use selvedge_base::Place;
use selvedge_program::{
    Action, Edge, EdgeId, Expr, GlobalId, Literal, LocalId, Move, NodeId, Passing, PassingId,
    ProcedureId, ReturnId, Type, Update, Variable,
};
use std::collections::{BTreeMap, BTreeSet};

/// What becomes of a step once it was evaluated.
struct Compiled {
    operations: Vec<Operation>,
    /// From here on operations happen only if the action is possible.
    behind_action: usize,
    /// The bits that it assigns.
    assigned: Vec<(Variable, Bit)>,
    /// The bits that it passes or returns.
    passed: Vec<Bit>,
    /// The temporaries that it uses.
    temporaries: usize,
}

impl Build<'_> {
    /// The edges that stand for an edge of a procedure.
    pub(super) fn edge(&mut self, body: &mut Body<'_>, id: EdgeId) -> Result<(), Refused> {
        let typed = self.typed;
        let edge = &typed.edges[id];
        for effect in self.locks.effects(typed, edge, body.thread) {
            let step = match effect.partner {
                Some(partner) => Move::With(id, partner),
                None => Move::Edge(id),
            };
            let compiled = self.compile(body, edge, &effect);
            let compiled = compiled.map_err(|refused| refused.or_at(typed, edge.place))?;
            self.emit(body, edge, step, compiled)
                .map_err(|refused| refused.or_at(typed, edge.place))?;
        }
        Ok(())
    }

    fn compile(
        &self,
        body: &Body<'_>,
        edge: &Edge,
        effect: &LockEffect,
    ) -> Result<Compiled, Refused> {
        let typed = self.typed;
        let context = self.context(body);
        let mut evaluator = Evaluator::new(&context);
        let none = BTreeMap::new();
        let copy = self.copies[body.thread];
        let scene = Scene { thread: body.thread, copy, next: &none, after: false, checked: true };
        let unchecked = Scene { checked: false, ..scene };
        let update = edge.update.map(|id| &typed.updates[id]);
        if let Some(guard) = update.and_then(|update| update.guard.as_ref()) {
            let guard = self.condition(&mut evaluator, guard, scene)?;
            evaluator.operations.push(Operation::Require(guard));
        }
        if let Some(fails) = &effect.fails {
            let fails = evaluator.truth(fails, unchecked)?;
            evaluator.operations.push(Operation::Fail(fails));
        }
        if let Some(guard) = &effect.guard {
            let guard = evaluator.truth(guard, unchecked)?;
            evaluator.operations.push(Operation::Require(guard));
        }
        let behind_action = evaluator.operations.len();
        if let Action::Assert(id) = edge.action {
            let condition = self.condition(&mut evaluator, &typed.conditions[id], scene)?;
            evaluator.operations.push(Operation::Fail(condition.not()));
            evaluator.operations.push(Operation::Require(condition));
        }
        // What is written is looked at again only by a constraint and by what must hold afterwards.
        let assignments = update.map_or(&[][..], |update| &update.assignments);
        let written: BTreeSet<GlobalId> = assignments
            .iter()
            .filter_map(|(target, _)| match target {
                Variable::Global(id) => Some(*id),
                Variable::Local(_) => None,
            })
            .collect();
        let constraint = update.and_then(|update| update.constraint.as_ref());
        let looked_at = constraint.is_some() || self.is_checked(&written);
        let mut next = BTreeMap::new();
        let mut assigned = Vec::new();
        for (target, value) in assignments {
            evaluator.allow(*target, scene, &Bit::constant(true))?;
            let ty = evaluator.type_of(*target);
            let mut code = self.stored(&mut evaluator, value, ty, scene, !looked_at)?;
            if looked_at {
                code = evaluator.small_bits(code, 4);
                next.insert(*target, code.clone());
            }
            assigned.extend(evaluator.slot(*target).bits.iter().copied().zip(code));
        }
        let mut passed = Vec::new();
        match edge.action {
            Action::Call(callee) => {
                passed = self.arguments(&mut evaluator, edge, callee, true, scene)?;
            }
            Action::Start(thread) => {
                let main = typed.threads[thread].main;
                passed = self.arguments(&mut evaluator, edge, main, false, scene)?;
            }
            Action::Return(id) => {
                let values = &typed.returns[id];
                let results = &typed.procedures[body.procedure].frame.results;
                let mut codes = Vec::new();
                for (value, &ty) in values.iter().zip(results) {
                    codes.push(self.stored(&mut evaluator, value, ty, scene, false)?);
                }
                passed = self.results(&mut evaluator, body.procedure, &codes)?;
            }
            _ => {}
        }
        for (target, value) in &effect.assignments {
            let ty = evaluator.type_of(*target);
            let code = evaluator.stored(value, ty, unchecked)?;
            assigned.extend(evaluator.slot(*target).bits.iter().copied().zip(code));
        }
        let after = Scene { next: &next, ..scene };
        if let Some(constraint) = constraint {
            self.refuse_chosen_access(constraint)?;
            let holds = evaluator.truth(constraint, after)?;
            evaluator.operations.push(Operation::Require(holds));
        }
        if self.is_checked(&written) {
            evaluator.keep(&written, after, &self.copies)?;
        }
        let Evaluator { operations, temporaries, .. } = evaluator;
        Ok(Compiled { operations, behind_action, assigned, passed, temporaries })
    }

    /// Whether something must hold after a step that writes these globals.
    fn is_checked(&self, written: &BTreeSet<GlobalId>) -> bool {
        self.checks.iter().any(|&id| speaks_of(&self.typed.conditions[id], written))
    }

    /// A condition that is used once.
    fn condition(
        &self,
        evaluator: &mut Evaluator<'_>,
        expr: &Expr,
        scene: Scene<'_>,
    ) -> Result<Bit, Refused> {
        if let Some(plain) = evaluator.plain(expr, scene) {
            return Ok(plain);
        }
        self.refuse_chosen_access(expr)?;
        evaluator.truth(expr, scene)
    }

    /// The code of an expression as a variable of a type holds it; `once` if it is used once.
    fn stored(
        &self,
        evaluator: &mut Evaluator<'_>,
        expr: &Expr,
        ty: Type,
        scene: Scene<'_>,
        once: bool,
    ) -> Result<Vec<Bit>, Refused> {
        if once {
            if let (Type::Bool, Some(plain)) = (ty, evaluator.plain(expr, scene)) {
                return Ok(vec![plain]);
            }
            if let Some(any) = self.any_code(expr, ty) {
                return Ok(any);
            }
        }
        self.refuse_chosen_access(expr)?;
        evaluator.stored(expr, ty, scene)
    }

    /// The code of a choice among the numbers that so many free bits write.
    fn any_code(&self, expr: &Expr, ty: Type) -> Option<Vec<Bit>> {
        let Expr::Choose(low, high) = expr else { return None };
        let (Expr::Constant(Literal::Int(low)), Expr::Constant(Literal::Int(high))) =
            (&**low, &**high)
        else {
            return None;
        };
        let encoding = super::encoding::Encoding::new(self.typed, ty)?;
        let (first, last) = (i64::from(*low), i64::from(*high));
        let whole = first == encoding.low && last == encoding.high;
        let free = whole && !encoding.has_impossible_codes();
        free.then(|| vec![Bit::of(Expr::Choice); encoding.width])
    }

    /// Whether a checked variable is accessed may not depend on a choice: then some choices would fail
    /// and others go on, whereas the step as a whole fails.
    fn refuse_chosen_access(&self, expr: &Expr) -> Result<(), Refused> {
        if !expr.any(&mut |part| matches!(part, Expr::Choice | Expr::Choose(..))) {
            return Ok(());
        }
        let mut checked = false;
        expr.variables(&mut |variable, _| {
            if let Variable::Global(id) = variable {
                checked |= self.typed.globals[id].annotation.is_some();
            }
        });
        if checked {
            return Err(Refused::new(
                "a choice is evaluated together with a variable that is said to be protected",
            ));
        }
        Ok(())
    }

    /// The locals with which a procedure opens: the arguments, and, if they are passed too, the first
    /// values of the others.
    fn arguments(
        &self,
        evaluator: &mut Evaluator<'_>,
        edge: &Edge,
        callee: ProcedureId,
        others: bool,
        scene: Scene<'_>,
    ) -> Result<Vec<Bit>, Refused> {
        let frame = &self.typed.procedures[callee].frame;
        let given = edge.passing.map(|id| &self.typed.passings[id]);
        let given = given.map_or(&[][..], |passing| &passing.arguments);
        let mut bits = Vec::new();
        for (local, argument) in frame.locals.iter().take(frame.parameters).zip(given) {
            bits.extend(self.stored(evaluator, argument, local.ty, scene, true)?);
        }
        if others {
            bits.extend(self.first_values(callee, given.len()));
        }
        Ok(bits)
    }

    /// The copies of the results of a procedure, one for every type of a variable that gets one.
    pub(super) fn results(
        &self,
        evaluator: &mut Evaluator<'_>,
        procedure: ProcedureId,
        codes: &[Vec<Bit>],
    ) -> Result<Vec<Bit>, Refused> {
        let types = &self.typed.procedures[procedure].frame.results;
        let mut bits = Vec::new();
        for &(at, ty) in &self.returned[procedure] {
            if types[at] == ty {
                bits.extend(codes[at].iter().cloned());
                continue;
            }
            let encoding = self.encoding(types[at], "a result")?;
            let code = evaluator.small_bits(codes[at].clone(), 4);
            bits.extend(evaluator.held(encoding.decode(code), ty)?);
        }
        Ok(bits)
    }

    /// Writes the edges.
    fn emit(
        &mut self,
        body: &mut Body<'_>,
        edge: &Edge,
        step: Move,
        compiled: Compiled,
    ) -> Result<(), Refused> {
        let Compiled { operations, behind_action, assigned, passed, temporaries } = compiled;
        body.temporaries = body.temporaries.max(temporaries);
        let leaves = matches!(edge.action, Action::Call(_) | Action::Return(_));
        let mut chain = Chain::new(body.node(edge.source), edge.place, edge.action);
        chain.atomic = !leaves;
        chain.stands_for = leaves.then_some(edge.source);
        let stores =
            operations.iter().any(|one| matches!(one, Operation::Store(_) | Operation::Any(_)));
        if stores && leaves && !about_locals(&operations) {
            return Err(Refused::new(
                "what a call passes or a return gives back is computed from shared variables in \
                 more than one step",
            ));
        }
        for (at, operation) in operations.into_iter().enumerate() {
            let behind = at >= behind_action;
            self.operation(body, &mut chain, operation, behind, Origin::Fails(step))?;
        }
        let target = body.node(edge.target);
        self.last(body, chain, edge, target, assigned, &passed, step);
        Ok(())
    }

    /// One operation of a chain.
    pub(super) fn operation(
        &mut self,
        body: &mut Body<'_>,
        chain: &mut Chain,
        operation: Operation,
        behind_action: bool,
        fails: Origin,
    ) -> Result<(), Refused> {
        match operation {
            Operation::Require(bit) => chain.asked.push(bit),
            Operation::Fail(bit) => {
                if bit.is(false) {
                    return Ok(());
                }
                self.failure(body, chain, &bit, behind_action, fails)?;
                chain.asked.push(bit.not());
            }
            Operation::Store(stored) => {
                let bits = stored.into_iter();
                let bits = bits.map(|(local, bit)| (Variable::Local(local), bit)).collect();
                self.store(body, chain, bits);
            }
            Operation::Any(temporaries) => {
                let choice = Bit::of(Expr::Choice);
                let bits = temporaries.into_iter();
                let bits = bits.map(|local| (Variable::Local(local), choice.clone())).collect();
                self.store(body, chain, bits);
            }
        }
        Ok(())
    }

    fn store(&mut self, body: &mut Body<'_>, chain: &mut Chain, bits: Vec<(Variable, Bit)>) {
        for (variable, _) in &bits {
            if let Variable::Local(local) = variable {
                chain.stored.insert(*local);
            }
        }
        let begins = chain.atomic && !chain.inside;
        let action = if begins { Action::BeginAtomic } else { Action::Skip };
        let next = self.new_node(body, chain.stands_for);
        let update = chain.update(bits);
        self.push(chain, next, action, update, None, Origin::Part);
        chain.inside |= begins;
        chain.at = next;
    }

    /// An assertion that fails where a bit holds.
    fn failure(
        &mut self,
        body: &mut Body<'_>,
        chain: &mut Chain,
        bit: &Bit,
        behind_action: bool,
        fails: Origin,
    ) -> Result<(), Refused> {
        let asked = chain.asked.clone();
        chain.asked.push(bit.clone());
        let update = chain.update(Vec::new());
        chain.asked = asked;
        let dead = self.dead(body);
        let never = self.never();
        match chain.action {
            Action::EndAtomic if behind_action => {
                return Err(Refused::new(
                    "a step that leaves an atomic section computes something that can fail",
                ));
            }
            Action::Start(_) if behind_action && self.labels_asked => {}
            // It fails only if the action is possible, which is found out by taking it.
            Action::Start(_) | Action::Join(_) if behind_action => {
                let mut aside = chain.clone();
                let mut update = update;
                if !chain.inside {
                    let next = self.new_node(body, None);
                    let begin = Action::BeginAtomic;
                    self.push(&aside, next, begin, update.take(), None, Origin::Part);
                    aside.at = next;
                }
                let next = self.new_node(body, None);
                let passing = self.nothing(chain.action);
                self.push(&aside, next, chain.action, update, passing, Origin::Part);
                aside.at = next;
                self.push(&aside, dead, never, None, None, fails);
            }
            _ => self.push(chain, dead, never, update, None, fails),
        }
        Ok(())
    }

    /// The end of a chain: the action itself.
    #[expect(clippy::too_many_arguments, reason = "the parts of one edge")]
    fn last(
        &mut self,
        body: &mut Body<'_>,
        mut chain: Chain,
        edge: &Edge,
        target: NodeId,
        assigned: Vec<(Variable, Bit)>,
        passed: &[Bit],
        step: Move,
    ) {
        let takes = Origin::Takes(step);
        let reset: Vec<(Variable, Bit)> = chain
            .stored
            .iter()
            .map(|&local| (Variable::Local(local), Bit::constant(false)))
            .collect();
        let both = || assigned.iter().cloned().chain(reset.iter().cloned()).collect();
        match edge.action {
            Action::Call(callee) => {
                let passing = Some(self.call(body, edge, callee, passed));
                let update = chain.update(both());
                let callee = Action::Call(self.number[&(body.thread, callee)]);
                self.push(&chain, target, callee, update, passing, takes);
            }
            Action::Return(_) => {
                let values = passed.iter().map(|bit| bit.expr().clone()).collect();
                let values: ReturnId = self.out.returns.push(values);
                let update = chain.update(assigned);
                self.push(&chain, body.exit, Action::Return(values), update, None, takes);
            }
            Action::Start(_) | Action::Join(_) => {
                let passing = (!passed.is_empty()).then(|| {
                    let arguments = passed.iter().map(|bit| bit.expr().clone()).collect();
                    self.out.passings.push(Passing { arguments, results: Vec::new() })
                });
                let update = chain.update(assigned);
                if chain.inside {
                    let next = self.new_node(body, None);
                    self.push(&chain, next, edge.action, update, passing, takes);
                    chain.at = next;
                    let update = chain.update(reset);
                    self.push(&chain, target, Action::EndAtomic, update, None, Origin::Part);
                } else {
                    self.push(&chain, target, edge.action, update, passing, takes);
                }
            }
            Action::EndAtomic if chain.inside => {
                // The section of the program ends first, if there is one.
                let next = self.new_node(body, None);
                let update = chain.update(Vec::new());
                self.push(&chain, next, Action::EndAtomic, update, None, Origin::Part);
                chain.at = next;
                let update = chain.update(both());
                self.push(&chain, target, Action::EndAtomic, update, None, takes);
            }
            Action::BeginAtomic if chain.inside => {
                // The section of the chain goes on as the one of the program.
                let update = chain.update(both());
                self.push(&chain, target, Action::Skip, update, None, takes);
            }
            Action::BeginAtomic | Action::EndAtomic => {
                let update = chain.update(assigned);
                self.push(&chain, target, edge.action, update, None, takes);
            }
            _ => {
                let action = if chain.inside { Action::EndAtomic } else { Action::Skip };
                let update = chain.update(both());
                self.push(&chain, target, action, update, None, takes);
            }
        }
    }

    /// What a call passes, and which variables get the results.
    fn call(
        &mut self,
        body: &Body<'_>,
        edge: &Edge,
        callee: ProcedureId,
        passed: &[Bit],
    ) -> PassingId {
        let given = edge.passing.map(|id| &self.typed.passings[id]);
        let targets = given.map_or(&[][..], |passing| &passing.results);
        let mut results = Vec::new();
        for &(at, ty) in &self.returned[callee] {
            let width = self.width(ty);
            match targets.get(at).copied().flatten().map(|target| (target, self.slot(body, target)))
            {
                Some((target, slot)) if self.type_of(body, target) == ty => {
                    results.extend(slot.bits.iter().copied().map(Some));
                }
                _ => results.extend(std::iter::repeat_n(None, width)),
            }
        }
        let arguments = passed.iter().map(|bit| bit.expr().clone()).collect();
        let id = self.out.passings.push(Passing { arguments, results });
        self.calls.push((id, self.number[&(body.thread, callee)]));
        id
    }

    /// What a start passes where it does not matter.
    fn nothing(&mut self, action: Action) -> Option<PassingId> {
        let Action::Start(thread) = action else { return None };
        let frame = &self.typed.procedures[self.typed.threads[thread].main].frame;
        let parameters = frame.locals.iter().take(frame.parameters);
        let width: usize = parameters.map(|local| self.width(local.ty)).sum();
        (width > 0).then(|| {
            let arguments = vec![Expr::FALSE; width];
            self.out.passings.push(Passing { arguments, results: Vec::new() })
        })
    }

    /// Adds an edge from where a chain is.
    pub(super) fn push(
        &mut self,
        chain: &Chain,
        target: NodeId,
        action: Action,
        update: Option<Update>,
        passing: Option<PassingId>,
        origin: Origin,
    ) {
        let update = update.map(|update| self.out.updates.push(update));
        self.out.edges.push(Edge {
            source: chain.at,
            target,
            action,
            update,
            passing,
            volatile: false,
            place: chain.place,
        });
        self.origins.push(origin);
    }
}

/// The edges that stand for a step, as far as they were written.
#[derive(Clone)]
pub(super) struct Chain {
    /// Where they have led.
    pub(super) at: NodeId,
    place: Place,
    action: Action,
    /// What has to hold for the next one.
    asked: Vec<Bit>,
    /// Whether the chain is an atomic section if it has more than one edge.
    pub(super) atomic: bool,
    /// Whether that section has begun.
    inside: bool,
    /// What the nodes of the chain stand for.
    pub(super) stands_for: Option<NodeId>,
    /// The temporaries that were stored.
    stored: BTreeSet<LocalId>,
}

impl Chain {
    /// A chain of no edges yet, for this action.
    pub(super) fn new(at: NodeId, place: Place, action: Action) -> Self {
        Self {
            at,
            place,
            action,
            asked: Vec::new(),
            atomic: true,
            inside: false,
            stands_for: None,
            stored: BTreeSet::new(),
        }
    }

    /// Asks for something before the next edge.
    pub(super) fn ask(&mut self, bit: Bit) {
        self.asked.push(bit);
    }

    /// The update that asks for what has to hold, and assigns bits.
    pub(super) fn update(&mut self, bits: Vec<(Variable, Bit)>) -> Option<Update> {
        let asked = std::mem::take(&mut self.asked);
        let guard = asked.iter().fold(Bit::constant(true), |all, bit| all.and(bit));
        let guard = (!guard.is(true)).then(|| guard.expr().clone());
        if guard.is_none() && bits.is_empty() {
            return None;
        }
        let assignments =
            bits.into_iter().map(|(variable, bit)| (variable, bit.expr().clone())).collect();
        Some(Update { guard, assignments, constraint: None })
    }
}

/// Whether operations are about locals alone.
fn about_locals(operations: &[Operation]) -> bool {
    let shared = |bit: &Bit| {
        let mut shared = false;
        bit.expr().variables(&mut |variable, _| {
            shared |= matches!(variable, Variable::Global(_));
        });
        shared
    };
    operations.iter().all(|operation| match operation {
        Operation::Require(bit) | Operation::Fail(bit) => !shared(bit),
        Operation::Store(stored) => stored.iter().all(|(_, bit)| !shared(bit)),
        Operation::Any(_) => true,
    })
}
