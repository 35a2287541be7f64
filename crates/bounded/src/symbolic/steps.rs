//! # Idea
//! The steps of a thread as relational products over the layout of the tuples: within an activation,
//! into a called procedure (whose arguments get variables of their own), and out of it (likewise the
//! results).
//!
//! # Source
//! Paper 001 Fig. 3, rules R1, R2, R3, R7, with parameters, results and updates on every edge.

use super::control::{Body, Branch, Point, ThreadBodies, Way};
use super::draft::{Image, Scope};
use super::layout::{Bit, Pair, VariableLayout};
use super::space::{Bdd, Diagrams};
use super::values::Values;
use selvedge_base::Id;
use selvedge_bdd::{Exhausted, Var};
use selvedge_program::{Action, LocalId, Program, ThreadId};

/// How the image of a step changes the sets of states by point.
#[derive(Clone, Debug)]
pub(super) enum SetEffect {
    /// Leads to another point of the body.
    Go { target: usize, image: Image },
    /// Opens an activation.
    Call {
        callee: usize,
        /// To the caller's post-state of the call, with the arguments.
        image: Image,
        target: usize,
        /// From the exit state that a summary gives, with the results, to the caller's post-state.
        back: Image,
    },
    /// Closes the activation.
    Return {
        /// To the exit state, with the results.
        image: Image,
    },
}

/// A step, ready to be applied.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) effect: SetEffect,
    /// The pre-states in which an assertion fails.
    pub(super) failure: Option<Bdd>,
    /// The thread that it starts, and the pre-states in which it does.
    pub(super) start: Option<(ThreadId, Bdd)>,
}

/// A body with its steps.
#[derive(Clone, Debug)]
pub(super) struct Routine {
    pub(super) body: Body,
    /// By branch of the body.
    pub(super) steps: Vec<Step>,
    /// The constraint at the entry: for a called procedure, the frame condition between its parameters
    /// and their copies in the entry state, and the condition that it enforces.
    pub(super) begins: Bdd,
}

/// Prepares all bodies of a thread.
pub(super) fn routines(
    space: &Diagrams,
    layout: &VariableLayout,
    program: &Program,
    thread: ThreadId,
    control: &ThreadBodies,
) -> Result<Vec<Routine>, Exhausted> {
    let parameters: Vec<Vec<usize>> = control
        .bodies
        .iter()
        .map(|body| {
            let parameters = program.procedures[body.procedure].frame.parameters;
            (0..parameters).filter(|&at| body.live[body.entry][at]).collect()
        })
        .collect();
    let mut result = Vec::new();
    for (at, body) in control.bodies.iter().enumerate() {
        let locals: Vec<Pair> = layout.locals.iter().map(|local| local.value).collect();
        let frame = &program.procedures[body.procedure].frame;
        let scope = Scope {
            space,
            layout,
            program,
            procedure: body.procedure,
            locals: &locals[..frame.locals.len()],
        };
        let maker = Maker { scope, thread, body, parameters: &parameters };
        let mut steps = Vec::with_capacity(body.branches.len());
        for branch in &body.branches {
            steps.push(maker.step(branch)?);
        }
        let mut begins = space.top();
        if at > 0 {
            let live = parameters[at].iter().map(|&at| &layout.locals[at]);
            let equal: Vec<(Var, Var)> = live.map(|local| (local.entry, local.value.now)).collect();
            begins = space.and(&space.equal(&equal)?, &maker.scope.enforced()?)?;
            let dead = body.live[body.entry].iter().enumerate().filter(|&(_, &live)| !live);
            let dead = dead.map(|(at, _)| layout.locals[at].value.now).collect();
            begins = space.exists(&begins, &space.cube(dead)?)?;
        }
        result.push(Routine { body: body.clone(), steps, begins });
    }
    Ok(result)
}

struct Maker<'s> {
    scope: Scope<'s>,
    thread: ThreadId,
    body: &'s Body,
    /// By body: the parameters that matter.
    parameters: &'s [Vec<usize>],
}

impl Maker<'_> {
    fn step(&self, branch: &Branch) -> Result<Step, Exhausted> {
        let Scope { layout, space, .. } = self.scope;
        if branch.step.is_none() {
            return self.first_moment(branch);
        }
        let mut draft = self.scope.draft(branch)?;
        let mut start = None;
        if let Some(Action::Start(thread)) = self.scope.edge(branch).map(|edge| edge.action) {
            start = Some((thread, draft.domain()?));
        }
        let effect = match branch.way {
            Way::Go(target) => {
                if self.body.points[target] != Point::Ended {
                    self.scope.enforce_after(&mut draft)?;
                }
                self.scope.forget(&mut draft, |local| self.lives(target, local))?;
                SetEffect::Go { target, image: draft.finish()? }
            }
            Way::Return => {
                for (at, value) in self.scope.returned(branch).iter().enumerate() {
                    let value = self.scope.values(value)?;
                    draft.restrict(&super::values::becomes(
                        space,
                        layout.locals[at].result,
                        &value,
                    )?)?;
                }
                self.scope.forget(&mut draft, |_| false)?;
                SetEffect::Return { image: draft.finish()? }
            }
            Way::Call { callee, target } => {
                for &at in &self.parameters[callee] {
                    let value = self.scope.values(&self.scope.arguments(branch)[at])?;
                    let argument = layout.locals[at].argument;
                    draft.restrict(&super::values::becomes(space, argument, &value)?)?;
                }
                let results = self.scope.results(branch);
                let assigned =
                    |local| results.contains(&Some(selvedge_program::Variable::Local(local)));
                let keep = |local| self.lives(target, local) && !assigned(local);
                self.scope.forget(&mut draft, keep)?;
                let image = draft.finish()?;
                SetEffect::Call { callee, image, target, back: self.back(branch, target)? }
            }
        };
        Ok(Step { effect, failure: self.scope.failure(branch)?, start })
    }

    /// Results are assigned, last of all.
    fn back(&self, branch: &Branch, target: usize) -> Result<Image, Exhausted> {
        let Scope { layout, space, .. } = self.scope;
        let mut draft = self.scope.empty();
        for (at, variable) in self.scope.results(branch).iter().enumerate() {
            let result = layout.locals[at].result;
            draft.forgotten.push(result);
            if let Some(variable) = variable {
                let (yes, no) = (space.literal(result, true)?, space.literal(result, false)?);
                draft.write(self.scope.pair(*variable), &Values { yes, no })?;
            }
        }
        self.scope.enforce_after(&mut draft)?;
        self.scope.forget(&mut draft, |local| self.lives(target, local))?;
        draft.finish()
    }

    /// A thread that was started takes its arguments and is at its entry.
    fn first_moment(&self, branch: &Branch) -> Result<Step, Exhausted> {
        let Scope { layout, space, .. } = self.scope;
        let Way::Go(target) = branch.way else { unreachable!("the first moment is in main") };
        let mut draft = self.scope.empty();
        let started = layout.find(Bit::Started(self.thread)).value.now;
        draft.restrict(&space.literal(started, true)?)?;
        let parameters = self.scope.program.procedures[self.body.procedure].frame.parameters;
        let live = (0..parameters).filter(|&at| self.body.live[target][at]);
        let pairs: Vec<(Var, Var)> = live
            .map(|at| {
                let passed = layout.find(Bit::Passed(self.thread, at)).value.now;
                (passed, self.scope.locals[at].now)
            })
            .collect();
        draft.restrict(&space.equal(&pairs)?)?;
        Ok(Step {
            effect: SetEffect::Go { target, image: draft.finish()? },
            failure: None,
            start: None,
        })
    }

    fn lives(&self, point: usize, local: LocalId) -> bool {
        self.body.live[point][local.index()]
    }
}
