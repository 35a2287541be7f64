//! # Idea
//! The transition relation of one step, over the pre-state and the post-state of the running
//! activation and of the shared bits: guard, assignments, constraint, the action, and the condition
//! that the procedure enforces. Only written variables occur in the post-state; the frame condition of
//! all others is left implicit, so that the image of a set quantifies and renames nothing but what is
//! written.
//!
//! # Source
//! [`selvedge_program::data`], semantics 1 to 6; the comments name them.

use super::control::Branch;
use super::layout::{Bit, Pair, VariableLayout};
use super::space::{Bdd, Diagrams, Renaming};
use super::values::{Values, becomes, values};
use selvedge_bdd::{BddManager, Exhausted, Var};
use selvedge_program::{
    Action, Edge, Expr, LocalId, ProcedureId, Program, Start, ThreadId, Update, Variable,
};
use std::collections::BTreeMap;

/// How the image of a set under a step is computed: `down(∃ cube. set ∧ relation)`.
#[derive(Clone, Debug)]
pub(super) struct Image {
    relation: Bdd,
    cube: Bdd,
    down: Renaming,
    /// The identity renaming.
    same: Renaming,
    /// The written variables: from the pre-state's to the post-state's.
    written: BTreeMap<Var, Var>,
    /// The variables that are quantified without being written.
    forgotten: Vec<Var>,
}

impl Image {
    /// The image of a set: the post-states of its elements.
    pub(super) fn of(&self, space: &Diagrams, set: &Bdd) -> Result<Bdd, Exhausted> {
        space.product(set, &self.relation, self.same, &self.cube, self.down)
    }

    /// An element of a set that is a pre-state of the known post-state.
    pub(super) fn before(
        &self,
        space: &Diagrams,
        set: &Bdd,
        after: &Assignment,
    ) -> Result<Option<Assignment>, Exhausted> {
        let kept = after.iter().filter(|(var, _)| !self.forgotten.contains(var));
        let place = |(&var, &value)| (self.written.get(&var).copied().unwrap_or(var), value);
        let fixed: Vec<(Var, bool)> = kept.map(place).collect();
        let pairs = space.and(set, &self.relation)?;
        let Some(mut before) = pick(space, &pairs, &fixed)? else { return Ok(None) };
        for next in self.written.values() {
            before.remove(next);
        }
        Ok(Some(before))
    }
}

/// Values of some variables; others may have any.
pub(super) type Assignment = BTreeMap<Var, bool>;

/// An element of a set with the fixed values.
pub(super) fn pick(
    space: &Diagrams,
    set: &Bdd,
    fixed: &[(Var, bool)],
) -> Result<Option<Assignment>, Exhausted> {
    let set = space.and(set, &space.manager.conjunction(fixed)?)?;
    Ok(space.manager.pick_cube(&set).map(|literals| literals.into_iter().collect()))
}

/// A step under construction.
pub(super) struct Draft<'s> {
    space: &'s Diagrams,
    pub(super) relation: Bdd,
    /// The written variables: from the pre-state's to the post-state's.
    pub(super) written: BTreeMap<Var, Var>,
    /// The variables that are quantified without being written.
    pub(super) forgotten: Vec<Var>,
}

/// The diagram variables of the program's variables, for the steps of one procedure.
pub(super) struct Scope<'s> {
    pub(super) space: &'s Diagrams,
    pub(super) layout: &'s VariableLayout,
    pub(super) program: &'s Program,
    pub(super) procedure: ProcedureId,
    /// By local of the procedure.
    pub(super) locals: &'s [Pair],
}

impl<'s> Scope<'s> {
    /// A variable of the program in the pre-state and in the post-state.
    pub(super) fn pair(&self, variable: Variable) -> Pair {
        use selvedge_base::Id;
        match variable {
            Variable::Global(global) => self.layout.global(global),
            Variable::Local(local) => self.locals[local.index()],
        }
    }

    /// The pre-states in which an expression can be true, and those in which it can be false.
    pub(super) fn values(&self, expr: &Expr) -> Result<Values, Exhausted> {
        values(self.space, expr, &|variable, _| self.pair(variable).now)
    }

    /// The condition that the procedure enforces, over the pre-state.
    pub(super) fn enforced(&self) -> Result<Bdd, Exhausted> {
        match self.program.procedures[self.procedure].frame.enforced {
            Some(condition) => Ok(self.values(&self.program.conditions[condition])?.yes),
            None => Ok(self.space.top()),
        }
    }

    /// The edge of a step, if it is one.
    pub(super) fn edge(&self, branch: &Branch) -> Option<&'s Edge> {
        branch.edge().map(|edge| &self.program.edges[edge])
    }

    fn update(&self, branch: &Branch) -> Option<&'s Update> {
        self.edge(branch).and_then(|edge| edge.update).map(|id| &self.program.updates[id])
    }

    /// The pre-states in which an assertion can fail (1, 6).
    pub(super) fn failure(&self, branch: &Branch) -> Result<Option<Bdd>, Exhausted> {
        let Some(Edge { action: Action::Assert(condition), .. }) = self.edge(branch) else {
            return Ok(None);
        };
        let false_ = self.values(&self.program.conditions[*condition])?.no;
        let mut result = self.space.and(&self.before()?, &false_)?;
        if let Some(guard) = self.update(branch).and_then(|update| update.guard.as_ref()) {
            result = self.space.and(&result, &self.values(guard)?.yes)?;
        }
        Ok(Some(result))
    }

    /// The guard of every step: the procedure's condition holds and the context is active.
    fn before(&self) -> Result<Bdd, Exhausted> {
        let active = self.layout.shared.iter().find(|one| one.bit == Bit::Active);
        let active = match active {
            Some(active) => self.space.literal(active.value.now, true)?,
            None => self.space.top(),
        };
        self.space.and(&active, &self.enforced()?)
    }

    /// The identity step: every variable has its frame condition.
    pub(super) fn empty(&self) -> Draft<'s> {
        Draft::new(self.space)
    }

    /// The transition relation of a step without its effect on the stack.
    pub(super) fn draft(&self, branch: &Branch) -> Result<Draft<'s>, Exhausted> {
        let space = self.space;
        let mut draft = self.empty();
        draft.relation = self.before()?;
        if let Some(update) = self.update(branch) {
            if let Some(guard) = &update.guard {
                draft.restrict(&self.values(guard)?.yes)?;
            }
            for (target, expr) in &update.assignments {
                draft.write(self.pair(*target), &self.values(expr)?)?;
            }
            if let Some(constraint) = &update.constraint {
                let written = &draft.written;
                let place = |variable, next| {
                    let now = self.pair(variable).now;
                    if next { written.get(&now).copied().unwrap_or(now) } else { now }
                };
                let holds = values(space, constraint, &place)?.yes;
                draft.restrict(&holds)?;
            }
        }
        match self.edge(branch).map(|edge| edge.action) {
            Some(Action::Assert(condition)) => {
                draft.restrict(&self.values(&self.program.conditions[condition])?.yes)?;
            }
            Some(Action::BeginAtomic) => self.count_section(&mut draft, true)?,
            Some(Action::EndAtomic) => self.count_section(&mut draft, false)?,
            Some(Action::Start(thread)) => self.start(&mut draft, branch, thread)?,
            _ => {}
        }
        Ok(draft)
    }

    /// A section begins or ends (4).
    fn count_section(&self, draft: &mut Draft<'_>, begins: bool) -> Result<(), Exhausted> {
        let depth = self.layout.depth();
        let pairs: Vec<(Var, Var)> = depth
            .iter()
            .map(|bit| if begins { (bit.now, bit.next) } else { (bit.next, bit.now) })
            .collect();
        draft.restrict(&successor(self.space, &pairs)?)?;
        draft.written.extend(depth.iter().map(|bit| (bit.now, bit.next)));
        Ok(())
    }

    /// A thread is started (5).
    fn start(
        &self,
        draft: &mut Draft<'_>,
        branch: &Branch,
        thread: ThreadId,
    ) -> Result<(), Exhausted> {
        let space = self.space;
        let started = self.layout.find(Bit::Started(thread)).value;
        draft.restrict(&space.literal(started.now, false)?)?;
        if let Start::ByEdge { after: Some(before) } = self.program.threads[thread].start {
            let before = self.layout.find(Bit::Started(before)).value;
            draft.restrict(&space.literal(before.now, true)?)?;
        }
        draft.write(started, &Values { yes: space.top(), no: space.bottom() })?;
        for (at, argument) in self.arguments(branch).iter().enumerate() {
            let passed = self.layout.find(Bit::Passed(thread, at)).value;
            draft.write(passed, &self.values(argument)?)?;
        }
        Ok(())
    }

    /// The arguments that a step passes.
    pub(super) fn arguments(&self, branch: &Branch) -> &'s [Expr] {
        let passing = self.edge(branch).and_then(|edge| edge.passing);
        passing.map_or(&[], |id| &self.program.passings[id].arguments)
    }

    /// The variables that get the results.
    pub(super) fn results(&self, branch: &Branch) -> &'s [Option<Variable>] {
        let passing = self.edge(branch).and_then(|edge| edge.passing);
        passing.map_or(&[], |id| &self.program.passings[id].results)
    }

    /// What a step returns; empty if any values are returned.
    pub(super) fn returned(&self, branch: &Branch) -> &'s [Expr] {
        match self.edge(branch).map(|edge| edge.action) {
            Some(Action::Return(values)) => &self.program.returns[values],
            _ => &[],
        }
    }

    /// Conjoins the condition that the procedure enforces, over the post-state (6).
    pub(super) fn enforce_after(&self, draft: &mut Draft<'_>) -> Result<(), Exhausted> {
        let Some(condition) = self.program.procedures[self.procedure].frame.enforced else {
            return Ok(());
        };
        let written = &draft.written;
        let place = |variable, _| {
            let now = self.pair(variable).now;
            written.get(&now).copied().unwrap_or(now)
        };
        let holds = values(self.space, &self.program.conditions[condition], &place)?.yes;
        draft.restrict(&holds)
    }

    /// Quantifies the locals for which `keep` does not hold.
    pub(super) fn forget(
        &self,
        draft: &mut Draft<'_>,
        keep: impl Fn(LocalId) -> bool,
    ) -> Result<(), Exhausted> {
        let locals = self.program.procedures[self.procedure].frame.locals.ids();
        let dead: Vec<Pair> = locals
            .zip(self.locals)
            .filter(|&(local, _)| !keep(local))
            .map(|(_, &pair)| pair)
            .collect();
        draft.forget(&dead)
    }
}

impl<'s> Draft<'s> {
    /// The identity step.
    pub(super) fn new(space: &'s Diagrams) -> Self {
        Self { space, relation: space.top(), written: BTreeMap::new(), forgotten: Vec::new() }
    }

    /// Adds a condition.
    pub(super) fn restrict(&mut self, condition: &Bdd) -> Result<(), Exhausted> {
        self.relation = self.space.and(&self.relation, condition)?;
        Ok(())
    }

    /// Gives a variable one of the values. If it was written before, that value is lost.
    pub(super) fn write(&mut self, target: Pair, values: &Values) -> Result<(), Exhausted> {
        if self.written.insert(target.now, target.next).is_some() {
            let cube = self.space.cube(vec![target.next])?;
            self.relation = self.space.exists(&self.relation, &cube)?;
        }
        self.restrict(&becomes(self.space, target.next, values)?)
    }

    /// Quantifies variables.
    pub(super) fn forget(&mut self, dead: &[Pair]) -> Result<(), Exhausted> {
        let lost: Vec<Var> =
            dead.iter().filter_map(|pair| self.written.remove(&pair.now)).collect();
        self.relation = self.space.exists(&self.relation, &self.space.cube(lost)?)?;
        self.forgotten.extend(dead.iter().map(|pair| pair.now));
        Ok(())
    }

    /// The pre-states in which the step is enabled.
    pub(super) fn domain(&self) -> Result<Bdd, Exhausted> {
        let after = self.space.cube(self.written.values().copied().collect())?;
        self.space.exists(&self.relation, &after)
    }

    /// The finished image.
    pub(super) fn finish(self) -> Result<Image, Exhausted> {
        let mut cube = self.forgotten.clone();
        cube.extend(self.written.keys());
        let down = self.written.iter().map(|(&now, &next)| (next, now)).collect();
        Ok(Image {
            cube: self.space.cube(cube)?,
            down: self.space.renaming(down)?,
            same: self.space.renaming(Vec::new())?,
            relation: self.relation,
            written: self.written,
            forgotten: self.forgotten,
        })
    }
}

/// The constraint that the number written by the second variables is one more than that of the
/// first ones; the lowest bits come first.
pub(super) fn successor(space: &Diagrams, pairs: &[(Var, Var)]) -> Result<Bdd, Exhausted> {
    let mut carry = space.top();
    let mut result = space.top();
    for &(from, to) in pairs {
        let bit = space.literal(from, true)?;
        let sum = space.without(&space.or(&bit, &carry)?, &space.and(&bit, &carry)?)?;
        let values = Values { no: space.not(&sum)?, yes: sum };
        result = space.and(&result, &becomes(space, to, &values)?)?;
        carry = space.and(&bit, &carry)?;
    }
    space.without(&result, &carry)
}
