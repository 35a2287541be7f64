//! # Idea
//! The control flow of one thread in the form that the saturation walks over: the body of every
//! procedure that the thread can call, and one body more for the activation of its main that is
//! there at first. That one has two points that are no nodes: where the thread waits to be started,
//! and where it has ended.
//!
//! Two properties of control keep the diagrams small:
//! - A local is *dead* at a point if no step from there reads it before it is written. Its value is
//!   forgotten.
//! - A step is *private* if it neither reads nor writes anything shared. A switch after a private
//!   step can as well happen before it, so contexts end only behind steps that are not private.
//!
//! # Requires
//! The program is valid.
//!
//! # Invariants
//! 1. Body 0 is the first activation of main; nobody calls it.
//! 2. Moves are sorted by their source.
//! 3. Every fixpoint asks the budget.

use crate::private::{enforces_shared, for_each_expr, mentions_globals};
use selvedge_base::{Budget, Id, IdVec, StopReason};
use selvedge_program::{
    Action, EdgeId, Expr, Move, NodeId, ProcedureId, Program, Start, Successors, ThreadId, Variable,
};
use std::collections::{BTreeMap, BTreeSet};

/// A place of control within a body.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Point {
    /// A node on top of the stack.
    Node(NodeId),
    /// The thread has not been started, or has not moved since.
    Waiting,
    /// The stack is empty.
    Ended,
}

/// Where a step leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// To a point of the same body.
    Go(usize),
    /// Into another body; when it returns, to a point of this one.
    Call {
        /// The other body.
        callee: usize,
        /// The point to return to.
        target: usize,
    },
    /// Out of the body.
    Return,
}

/// A step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Branch {
    /// The point it leaves, by index.
    pub(super) source: usize,
    /// What it is in the program; `None` for the first moment of a thread that was started.
    pub(super) step: Option<Move>,
    pub(super) way: Way,
}

/// A procedure as the thread runs it.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) procedure: ProcedureId,
    /// The points, in an order in which successors tend to come later.
    pub(super) points: Vec<Point>,
    /// Where it begins.
    pub(super) entry: usize,
    /// Invariant 2.
    pub(super) branches: Vec<Branch>,
    /// By point and local: whether its value matters.
    pub(super) live: Vec<Vec<bool>>,
    /// By point: whether a context can end there.
    pub(super) switch: Vec<bool>,
}

/// The bodies of a thread.
#[derive(Clone, Debug)]
pub(super) struct ThreadBodies {
    pub(super) bodies: Vec<Body>,
    /// Whether a procedure can be active twice at once.
    pub(super) recursive: bool,
}

/// How many steps are looked at between two looks at the budget.
const POLL_EVERY: usize = 1024;

/// By node, the locals whose values matter there, as bits.
///
/// # Errors
/// The reason of a stopped budget.
pub fn live_locals(program: &Program, budget: &Budget) -> Result<IdVec<NodeId, u64>, StopReason> {
    let successors = Successors::new(program);
    let reductions = Reductions { liveness: true, switches: false };
    let mut live = IdVec::filled(0, program.nodes.len());
    for thread in program.threads.ids() {
        let control = ThreadBodies::new(program, &successors, thread, reductions, budget)?;
        for body in &control.bodies {
            for (point, locals) in body.points.iter().zip(&body.live) {
                let Point::Node(node) = *point else { continue };
                let bits = locals.iter().enumerate();
                live[node] |= bits.fold(0, |bits, (at, &live)| bits | u64::from(live) << at);
            }
        }
    }
    Ok(live)
}

/// Which of the two reductions to use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reductions {
    /// Forget dead locals.
    pub(super) liveness: bool,
    /// End contexts only behind steps that touch something shared.
    pub(super) switches: bool,
}

impl ThreadBodies {
    /// The control flow of a thread.
    ///
    /// # Errors
    /// The reason of a stopped budget.
    pub(super) fn new(
        program: &Program,
        successors: &Successors,
        thread: ThreadId,
        reductions: Reductions,
        budget: &Budget,
    ) -> Result<Self, StopReason> {
        let main = program.threads[thread].main;
        let mut numbers: BTreeMap<ProcedureId, usize> = BTreeMap::new();
        let mut procedures = vec![main];
        let mut bodies: Vec<Body> = Vec::new();
        while let Some(&procedure) = procedures.get(bodies.len()) {
            budget.check()?;
            let first = bodies.is_empty();
            let waits = first && program.threads[thread].start != Start::AtFirst;
            let mut number = |callee: ProcedureId| {
                *numbers.entry(callee).or_insert_with(|| {
                    procedures.push(callee);
                    procedures.len() - 1
                })
            };
            bodies.push(Body::new(program, successors, procedure, first, waits, &mut number));
        }
        let mut control = Self { recursive: is_recursive(&bodies), bodies };
        for body in &mut control.bodies {
            body.find_live(program, reductions.liveness, budget)?;
        }
        if reductions.switches {
            control.find_switches(program);
        }
        Ok(control)
    }

    /// Marks the points behind steps that touch something shared, and those where threads begin.
    fn find_switches(&mut self, program: &Program) {
        // Whether a return from a body touches something shared.
        let touches: Vec<bool> = self
            .bodies
            .iter()
            .map(|body| {
                body.branches
                    .iter()
                    .any(|one| one.way == Way::Return && one.is_shared(program, body))
            })
            .collect();
        let mut marks: Vec<Vec<bool>> =
            self.bodies.iter().map(|body| vec![false; body.points.len()]).collect();
        marks[0][self.bodies[0].entry] = true;
        for (at, body) in self.bodies.iter().enumerate() {
            for branch in &body.branches {
                let shared = branch.is_shared(program, body);
                match branch.way {
                    Way::Go(target) => marks[at][target] |= shared,
                    Way::Call { callee, target } => {
                        let entry = self.bodies[callee].entry;
                        let enforced = enforces_shared(program, self.bodies[callee].procedure);
                        marks[callee][entry] |= shared || enforced;
                        let results = branch.passed_results(program);
                        let global =
                            results.iter().any(|one| matches!(one, Some(Variable::Global(_))));
                        let enforced = enforces_shared(program, body.procedure);
                        marks[at][target] |= global || enforced || touches[callee];
                    }
                    Way::Return => {}
                }
            }
        }
        for (body, marks) in self.bodies.iter_mut().zip(marks) {
            body.switch = marks;
        }
    }
}

impl Branch {
    /// The edge in the program, if it is one.
    pub(super) fn edge(&self) -> Option<EdgeId> {
        match self.step {
            Some(Move::Edge(edge)) => Some(edge),
            _ => None,
        }
    }

    /// The variables that get the results of a call.
    pub(super) fn passed_results<'p>(&self, program: &'p Program) -> &'p [Option<Variable>] {
        let passing = self.edge().and_then(|edge| program.edges[edge].passing);
        passing.map_or(&[], |id| &program.passings[id].results)
    }

    /// Whether it reads or writes anything shared, apart from what it does in a caller.
    fn is_shared(&self, program: &Program, body: &Body) -> bool {
        if self.step.is_none() || enforces_shared(program, body.procedure) {
            return true;
        }
        let Some(edge) = self.edge().map(|edge| &program.edges[edge]) else { return false };
        if matches!(edge.action, Action::Start(_) | Action::BeginAtomic | Action::EndAtomic) {
            return true;
        }
        mentions_globals(program, edge)
    }
}

impl Body {
    fn new(
        program: &Program,
        successors: &Successors,
        procedure: ProcedureId,
        first: bool,
        waits: bool,
        number: &mut dyn FnMut(ProcedureId) -> usize,
    ) -> Self {
        let entry = Point::Node(program.procedures[procedure].entry);
        let exit = program.procedures[procedure].exit;
        let mut points = Vec::new();
        points.extend(waits.then_some(Point::Waiting));
        points.extend(in_order(program, successors, procedure).into_iter().map(Point::Node));
        points.extend(first.then_some(Point::Ended));
        let index: BTreeMap<Point, usize> =
            points.iter().enumerate().map(|(at, &point)| (point, at)).collect();
        let mut branches = Vec::new();
        for (source, &point) in points.iter().enumerate() {
            let node = match point {
                Point::Node(node) => node,
                Point::Waiting => {
                    branches.push(Branch { source, step: None, way: Way::Go(index[&entry]) });
                    continue;
                }
                Point::Ended => continue,
            };
            let leave = if first { Way::Go(index[&Point::Ended]) } else { Way::Return };
            if node == exit {
                branches.push(Branch { source, step: Some(Move::Return), way: leave });
            }
            for &id in successors.of(node) {
                let edge = &program.edges[id];
                let way = match edge.action {
                    Action::Return(_) => leave,
                    Action::Call(callee) => {
                        let target = index[&Point::Node(edge.target)];
                        Way::Call { callee: number(callee), target }
                    }
                    _ => Way::Go(index[&Point::Node(edge.target)]),
                };
                branches.push(Branch { source, step: Some(Move::Edge(id)), way });
            }
        }
        let entry = if waits { 0 } else { index[&entry] };
        let switch = vec![true; points.len()];
        Self { procedure, points, entry, branches, live: Vec::new(), switch }
    }

    /// The steps from a point.
    pub(super) fn from(&self, point: usize) -> std::ops::Range<usize> {
        let start = self.branches.partition_point(|one| one.source < point);
        start..start + self.branches[start..].partition_point(|one| one.source == point)
    }

    /// Finds the locals that matter at each point; without `reduce`, all of them matter at every
    /// node.
    fn find_live(
        &mut self,
        program: &Program,
        reduce: bool,
        budget: &Budget,
    ) -> Result<(), StopReason> {
        let locals = program.procedures[self.procedure].frame.locals.len();
        if !reduce {
            let live = |point: &Point| vec![matches!(point, Point::Node(_)); locals];
            self.live = self.points.iter().map(live).collect();
            return Ok(());
        }
        self.live = vec![vec![false; locals]; self.points.len()];
        let mut always = vec![false; locals];
        if let Some(condition) = program.procedures[self.procedure].frame.enforced {
            mark_locals(&program.conditions[condition], &mut always);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for (looks, branch) in self.branches.iter().rev().enumerate() {
                if looks.is_multiple_of(POLL_EVERY) {
                    budget.charge(1 + looks.min(POLL_EVERY) as u64)?;
                }
                let mut before = match branch.way {
                    Way::Go(target) | Way::Call { target, .. } => self.live[target].clone(),
                    Way::Return => vec![false; locals],
                };
                let mut kill = |variable: Variable| {
                    if let Variable::Local(local) = variable {
                        before[local.index()] = false;
                    }
                };
                branch.passed_results(program).iter().flatten().for_each(|&one| kill(one));
                let update = branch.edge().and_then(|edge| program.edges[edge].update);
                for (target, _) in update.iter().flat_map(|&id| &program.updates[id].assignments) {
                    kill(*target);
                }
                if branch.step.is_some() {
                    if let Some(edge) = branch.edge().map(|edge| &program.edges[edge]) {
                        for_each_expr(program, edge, &mut |expr| mark_locals(expr, &mut before));
                    }
                    before.iter_mut().zip(&always).for_each(|(one, &always)| *one |= always);
                } else {
                    before.fill(false);
                }
                for (known, before) in self.live[branch.source].iter_mut().zip(before) {
                    changed |= before && !*known;
                    *known |= before;
                }
            }
        }
        Ok(())
    }
}

/// Marks the locals whose current value an expression reads. What a constraint says of the next
/// value of a local that is not written is said of the current one.
fn mark_locals(expr: &Expr, marks: &mut [bool]) {
    expr.variables(&mut |variable, _| {
        if let Variable::Local(local) = variable {
            marks[local.index()] = true;
        }
    });
}

/// The nodes of a procedure, each after its predecessors as far as loops allow; those that the entry
/// does not reach are left out, but for the exit.
fn in_order(program: &Program, successors: &Successors, procedure: ProcedureId) -> Vec<NodeId> {
    let entry = program.procedures[procedure].entry;
    let mut seen = BTreeSet::from([entry]);
    let mut stack = vec![(entry, 0)];
    let mut order = Vec::new();
    while let Some((node, next)) = stack.last_mut() {
        if let Some(&edge) = successors.of(*node).get(*next) {
            *next += 1;
            let target = program.edges[edge].target;
            if seen.insert(target) {
                stack.push((target, 0));
            }
        } else {
            order.push(*node);
            stack.pop();
        }
    }
    order.reverse();
    order
}

fn is_recursive(bodies: &[Body]) -> bool {
    // A body is done when all that it calls are; what remains is on a cycle or calls one.
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); bodies.len()];
    let mut open: Vec<usize> = vec![0; bodies.len()];
    for (at, body) in bodies.iter().enumerate() {
        for branch in &body.branches {
            if let Way::Call { callee, .. } = branch.way {
                callers[callee].push(at);
                open[at] += 1;
            }
        }
    }
    let mut ready: Vec<usize> = (0..bodies.len()).filter(|&at| open[at] == 0).collect();
    let mut done = 0;
    while let Some(at) = ready.pop() {
        done += 1;
        for &caller in &callers[at] {
            open[caller] -= 1;
            if open[caller] == 0 {
                ready.push(caller);
            }
        }
    }
    done < bodies.len()
}

/// The greatest number of atomic sections that a thread can be in at once, or `None` if it is more
/// than `limit`.
///
/// # Errors
/// The reason of a stopped budget.
pub(super) fn atomic_depth(
    program: &Program,
    controls: &[ThreadBodies],
    limit: u32,
    budget: &Budget,
) -> Result<Option<u32>, StopReason> {
    let mut most = 0;
    let mut looks = 0usize;
    for control in controls {
        // By body and depth at its entry: the depths at its points.
        let mut reached: BTreeSet<(usize, u32, usize, u32)> = BTreeSet::new();
        let mut returned: BTreeSet<(usize, u32, u32)> = BTreeSet::new();
        let mut called: BTreeSet<(usize, u32, usize, u32, usize)> = BTreeSet::new();
        let mut work = vec![(0, 0, control.bodies[0].entry, 0)];
        while let Some(fact) = work.pop() {
            if looks.is_multiple_of(POLL_EVERY) {
                budget.charge(1 + looks.min(POLL_EVERY) as u64)?;
            }
            looks += 1;
            if !reached.insert(fact) {
                continue;
            }
            let (body, entered, point, depth) = fact;
            if depth > limit {
                return Ok(None);
            }
            most = most.max(depth);
            for branch in control.bodies[body].from(point) {
                let branch = &control.bodies[body].branches[branch];
                let action = branch.edge().map(|edge| program.edges[edge].action);
                let depth = match action {
                    Some(Action::BeginAtomic) => depth + 1,
                    Some(Action::EndAtomic) if depth == 0 => continue,
                    Some(Action::EndAtomic) => depth - 1,
                    _ => depth,
                };
                match branch.way {
                    Way::Go(target) => work.push((body, entered, target, depth)),
                    Way::Call { callee, target } => {
                        work.push((callee, depth, control.bodies[callee].entry, depth));
                        called.insert((callee, depth, body, entered, target));
                        let known = returned.range((callee, depth, 0)..=(callee, depth, u32::MAX));
                        work.extend(known.map(|&(_, _, depth)| (body, entered, target, depth)));
                    }
                    Way::Return => {
                        if returned.insert((body, entered, depth)) {
                            let sites = called
                                .range((body, entered, 0, 0, 0)..)
                                .take_while(|site| (site.0, site.1) == (body, entered));
                            work.extend(sites.map(|&(_, _, caller, entered, target)| {
                                (caller, entered, target, depth)
                            }));
                        }
                    }
                }
            }
        }
    }
    Ok(Some(most))
}
