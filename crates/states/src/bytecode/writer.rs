//! # Idea
//! The control flow of one thread as instructions: a decision tree for the edges that leave each node,
//! and atomic sections one node behind the other.
//!
//! # Invariants
//! 1. Only first conditions are taken out of alternatives, and only where all alternatives begin with
//!    them, so everything is evaluated in the order of the step relation.

use super::{Bytecode, MOST_OPS, Op, Pc, Places};
use crate::layout::{CellId, PackedLayout, behind};
use crate::program::{Code, index, is_exit};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::Id;
use selvedge_program::{
    Action, EdgeId, Expr, GlobalId, NodeId, Operator, ThreadId, Value, Variable,
};
use std::collections::BTreeSet;

/// An edge with what is left of its guard.
#[derive(Clone, PartialEq, Debug)]
struct Alternative<'e> {
    edge: EdgeId,
    conditions: Vec<(&'e Expr, bool)>,
}

/// Why something has no instructions.
pub(super) struct NotPlain;

pub(super) type Plain<T> = Result<T, NotPlain>;

/// A node inside an atomic section, and in how many it is.
pub(super) type Inside = (NodeId, u32);

/// Writes the instructions of one thread.
pub(super) struct Writer<'w, 'p> {
    pub(super) code: &'w Code<'p>,
    pub(super) layout: &'w PackedLayout,
    pub(super) labels: &'w BTreeSet<NodeId>,
    /// The globals whose accesses are checked.
    pub(super) special: &'w FxHashSet<GlobalId>,
    /// The globals whose writes are checked.
    pub(super) checked: &'w FxHashSet<GlobalId>,
    pub(super) thread: ThreadId,
    pub(super) bytecode: &'w mut Bytecode,
    /// Where the nodes inside begin.
    pub(super) starts: FxHashMap<Inside, Pc>,
    pub(super) pending: Vec<Inside>,
    /// Instructions and table entries that lead to nodes.
    pub(super) jumps: Vec<(Place, Inside)>,
    pub(super) entries: Vec<Pc>,
}

/// Something that leads to a node.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Op(usize),
    Entry(usize),
}

impl<'p> Writer<'_, 'p> {
    fn here(&self) -> Pc {
        self.bytecode.ops.len() as Pc
    }

    pub(super) fn push(&mut self, op: Op) -> usize {
        self.bytecode.ops.push(op);
        self.bytecode.ops.len() - 1
    }

    /// Everything that begins where a thread can stand.
    pub(super) fn position(&mut self, node: NodeId) {
        let start = self.here();
        let tables = self.bytecode.table.len();
        self.entries.push(start);
        if self.bytecode.ops.len() > MOST_OPS {
            self.push(Op::General);
            return;
        }
        self.starts.clear();
        if is_exit(self.code.program, node) {
            let cells = &self.layout.threads[self.thread];
            let locals = self.code.program.procedures[cells.main].frame.locals.len();
            let first = cells.locals;
            let ended = cells.ended();
            self.reset(first, locals, |_| true);
            self.push(Op::Emit(ended));
            return;
        }
        self.node((node, 0));
        while let Some(inside) = self.pending.pop() {
            if self.starts.contains_key(&inside) {
                continue;
            }
            // What leads there and comes last may as well go on.
            if let Some(&(Place::Op(at), to)) = self.jumps.last()
                && to == inside
                && at + 1 == self.bytecode.ops.len()
                && matches!(self.bytecode.ops[at], Op::Jump(_))
            {
                self.jumps.pop();
                self.bytecode.ops.pop();
            }
            let start = self.here();
            self.starts.insert(inside, start);
            if self.labels.contains(&inside.0) || self.bytecode.ops.len() > MOST_OPS {
                self.push(Op::General);
            } else {
                self.node(inside);
            }
        }
        for (place, inside) in std::mem::take(&mut self.jumps) {
            let to = self.starts[&inside];
            match place {
                Place::Op(at) => self.patch(at, to),
                Place::Entry(at) => self.bytecode.table[at] = to,
            }
        }
        self.shorten(start as usize, tables);
    }

    /// What leads to a jump may as well lead to where that leads.
    fn shorten(&mut self, start: usize, first: usize) {
        let end = |ops: &[Op], mut pc: Pc| {
            for _ in 0..16 {
                let Op::Jump(next) = ops[pc as usize] else { break };
                pc = next;
            }
            pc
        };
        for at in start..self.bytecode.ops.len() {
            if let Op::Jump(pc) | Op::Fork(pc) | Op::If(_, _, pc) = self.bytecode.ops[at] {
                let to = end(&self.bytecode.ops, pc);
                self.patch(at, to);
            }
        }
        for at in first..self.bytecode.table.len() {
            self.bytecode.table[at] = end(&self.bytecode.ops, self.bytecode.table[at]);
        }
        let entry = self.entries.len() - 1;
        self.entries[entry] = end(&self.bytecode.ops, self.entries[entry]);
    }

    fn patch(&mut self, at: usize, to: Pc) {
        match &mut self.bytecode.ops[at] {
            Op::Jump(pc) | Op::Fork(pc) | Op::If(_, _, pc) => *pc = to,
            other => unreachable!("{other:?} leads nowhere"),
        }
    }

    pub(super) fn patch_here(&mut self, at: usize) {
        let here = self.here();
        self.patch(at, here);
    }

    /// Everything that leaves a node.
    fn node(&mut self, at: Inside) {
        let (node, depth) = at;
        if depth > 0 && is_exit(self.code.program, node) {
            self.push(Op::General);
            return;
        }
        let edges = self.alternatives(node);
        self.choose(&edges, depth);
    }

    fn alternatives(&self, node: NodeId) -> Vec<Alternative<'p>> {
        let program = self.code.program;
        let edges = self.code.successors.of(node).iter();
        edges
            .map(|&edge| {
                let guard =
                    program.edges[edge].update.and_then(|id| program.updates[id].guard.as_ref());
                let mut conditions = Vec::new();
                if let Some(guard) = guard {
                    split(guard, &mut conditions);
                }
                Alternative { edge, conditions }
            })
            .collect()
    }

    /// What alternatives do, given that what is no longer among their conditions holds.
    fn choose(&mut self, edges: &[Alternative<'p>], depth: u32) {
        match edges {
            [] => _ = self.push(Op::Block),
            [one] => self.alone(one, depth),
            several => {
                if !self.branch(several, depth) && !self.numbers(several, depth) {
                    self.fork(several, depth);
                }
            }
        }
    }

    fn fork(&mut self, edges: &[Alternative<'p>], depth: u32) {
        let (last, others) = edges.split_last().expect("there are several");
        for one in others {
            let fork = self.push(Op::Fork(0));
            self.alone(one, depth);
            self.patch_here(fork);
        }
        self.alone(last, depth);
    }

    /// A condition and its negation.
    fn branch(&mut self, edges: &[Alternative<'p>], depth: u32) -> bool {
        let Some(&(condition, _)) = edges[0].conditions.first() else { return false };
        let same = |one: &Alternative<'p>| {
            one.conditions.first().is_some_and(|&(other, _)| other == condition)
        };
        if !edges.iter().all(same) || is_choice(condition) {
            return false;
        }
        if self.chain(edges, depth) {
            return true;
        }
        let start = self.bytecode.ops.len();
        if self.value(condition, 0).is_err() {
            self.bytecode.ops.truncate(start);
            self.push(Op::General);
            return true;
        }
        let part = |truth: bool| -> Vec<Alternative<'p>> {
            let own = edges.iter().filter(|one| one.conditions[0].1 == truth);
            own.map(|one| one.without(1)).collect()
        };
        let (yes, no) = (part(true), part(false));
        match (yes.is_empty(), no.is_empty()) {
            (false, true) => {
                self.push(Op::Test(0));
                self.choose(&yes, depth);
            }
            (true, _) => {
                self.push(Op::Not(0));
                self.push(Op::Test(0));
                self.choose(&no, depth);
            }
            (false, false) => {
                let otherwise = self.push(Op::If(0, false, 0));
                self.choose(&yes, depth);
                self.patch_here(otherwise);
                self.choose(&no, depth);
            }
        }
        true
    }

    /// A chain of comparisons of one variable with constants.
    fn chain(&mut self, edges: &[Alternative<'p>], depth: u32) -> bool {
        if depth == 0 {
            return false;
        }
        let Some((subject, _)) = comparison(edges[0].conditions[0].0) else { return false };
        let Expr::Current(variable) = subject else { return false };
        let mut cases: Vec<(Value, Vec<Alternative<'p>>)> = Vec::new();
        let mut rest = edges.to_vec();
        let mut at = None;
        let mut seen = BTreeSet::new();
        while let Some(&(condition, _)) = rest.first().and_then(|one| one.conditions.first()) {
            let all = rest
                .iter()
                .all(|one| one.conditions.first().is_some_and(|&(other, _)| other == condition));
            let Some((own, value)) = comparison(condition) else { break };
            if !all || *own != Expr::Current(*variable) {
                break;
            }
            let (yes, no): (Vec<_>, Vec<_>) = rest.iter().partition(|one| one.conditions[0].1);
            let [otherwise] = &no[..] else { break };
            let edge = &self.code.program.edges[otherwise.edge];
            let bare = otherwise.conditions.len() == 1
                && edge.action == Action::Skip
                && edge.passing.is_none()
                && edge.update.is_none_or(|id| {
                    let update = &self.code.program.updates[id];
                    update.assignments.is_empty() && update.constraint.is_none()
                });
            if !bare || self.labels.contains(&edge.target) || !seen.insert(edge.target) {
                break;
            }
            if !cases.iter().any(|one| one.0 == value) {
                cases.push((value, yes.into_iter().map(|one| one.without(1)).collect()));
            }
            at = Some(edge.target);
            if is_exit(self.code.program, edge.target) {
                break;
            }
            rest = self.alternatives(edge.target);
        }
        let (Some(otherwise), true) = (at, cases.len() > 1) else { return false };
        let Some((low, length)) = span(cases.iter().map(|one| one.0)) else { return false };
        let Ok(first) = self.table(subject, low, length) else {
            self.push(Op::General);
            return true;
        };
        for entry in first..=first + length as usize {
            self.jumps.push((Place::Entry(entry), (otherwise, depth)));
        }
        self.pending.push((otherwise, depth));
        for (value, alternatives) in cases {
            let entry = first + value.abs_diff(low) as usize;
            self.jumps.retain(|(place, _)| !matches!(place, Place::Entry(at) if *at == entry));
            self.bytecode.table[entry] = self.here();
            self.choose(&alternatives, depth);
        }
        true
    }

    /// Goes to one of several places, as an expression says; where these are listed.
    fn table(&mut self, subject: &Expr, low: Value, length: u32) -> Plain<usize> {
        let first = self.bytecode.table.len();
        let places = self.bytecode.places.len() as u32;
        let op = if let Expr::Current(Variable::Global(id)) = subject {
            Op::TableGlobal(index(*id) as u32, self.site(*id, 1)?, places)
        } else {
            self.value(subject, 0)?;
            Op::Table(0, places)
        };
        self.push(op);
        self.bytecode.table.extend((0..=length).map(|_| 0));
        self.bytecode.places.push(Places { low, first: first as u32, length });
        Ok(first)
    }

    /// Alternatives that differ in what a number is, and perhaps one for all other numbers.
    fn numbers(&mut self, edges: &[Alternative<'p>], depth: u32) -> bool {
        let compared = |one: &Alternative<'p>| match one.conditions.first() {
            Some(&(condition, true)) => comparison(condition),
            _ => None,
        };
        let Some((subject, _)) = compared(&edges[0]).or_else(|| compared(&edges[1])) else {
            return false;
        };
        let mut cases: Vec<(Value, Vec<Alternative<'p>>)> = Vec::new();
        let mut others: Vec<Alternative<'p>> = Vec::new();
        for one in edges {
            match compared(one) {
                Some((own, value)) if own == subject => {
                    let rest = one.without(1);
                    match cases.iter_mut().find(|case| case.0 == value) {
                        Some(case) => case.1.push(rest),
                        None => cases.push((value, vec![rest])),
                    }
                }
                _ => others.push(one.clone()),
            }
        }
        let Some((low, length)) = span(cases.iter().map(|one| one.0)) else { return false };
        let full = cases.len() == length as usize && low == 0;
        let outside = |one: &Alternative<'p>| match one.conditions.first() {
            Some((Expr::Binary(Operator::And, left, right), false)) => {
                let zero = Expr::number(0).join(Operator::LessEqual, subject.clone());
                let last = subject.clone().join(Operator::Less, Expr::number(length.cast_signed()));
                **left == zero && **right == last
            }
            _ => false,
        };
        if !others.is_empty() && (!full || !others.iter().all(outside)) {
            return false;
        }
        let others: Vec<Alternative<'p>> = others.iter().map(|one| one.without(1)).collect();
        let start = self.bytecode.ops.len();
        let Ok(first) = self.table(subject, low, length) else {
            self.bytecode.ops.truncate(start);
            self.push(Op::General);
            return true;
        };
        let alike = cases.iter().all(|case| self.alike(&case.1, &cases[0].1));
        let default = self.here();
        for entry in first..=first + length as usize {
            self.bytecode.table[entry] = default;
        }
        self.choose(&others, depth);
        if alike {
            let here = self.here();
            for case in &cases {
                self.bytecode.table[first + case.0.abs_diff(low) as usize] = here;
            }
            self.choose(&cases[0].1, depth);
        } else {
            for (value, alternatives) in &cases {
                self.bytecode.table[first + value.abs_diff(low) as usize] = self.here();
                self.choose(alternatives, depth);
            }
        }
        true
    }

    /// Whether alternatives do the same, but for the location that an event names.
    fn alike(&self, left: &[Alternative<'p>], right: &[Alternative<'p>]) -> bool {
        let program = self.code.program;
        let events =
            |action: Action| matches!(action, Action::Skip | Action::Read(_) | Action::Write(_));
        left.len() == right.len()
            && left.iter().zip(right).all(|(left, right)| {
                let conditions = left.conditions == right.conditions;
                let (left, right) = (&program.edges[left.edge], &program.edges[right.edge]);
                let rest = |id: Option<selvedge_program::UpdateId>| {
                    id.map(|id| (&program.updates[id].assignments, &program.updates[id].constraint))
                };
                conditions
                    && left.target == right.target
                    && left.passing == right.passing
                    && (left.action == right.action || events(left.action) && events(right.action))
                    && match (rest(left.update), rest(right.update)) {
                        (Some(left), Some(right)) => left == right,
                        (None, None) => true,
                        (Some((assigned, constraint)), None)
                        | (None, Some((assigned, constraint))) => {
                            assigned.is_empty() && constraint.is_none()
                        }
                    }
            })
    }

    /// One alternative with all its conditions.
    fn alone(&mut self, one: &Alternative<'p>, depth: u32) {
        let start = self.bytecode.ops.len();
        let tables = self.bytecode.table.len();
        if self.whole(one, depth).is_err() {
            self.bytecode.ops.truncate(start);
            self.bytecode.table.truncate(tables);
            self.push(Op::General);
        }
    }

    fn whole(&mut self, one: &Alternative<'p>, depth: u32) -> Plain<()> {
        for &(condition, truth) in &one.conditions {
            self.test(condition, truth)?;
        }
        let program = self.code.program;
        let edge = &program.edges[one.edge];
        let update = edge.update.map(|id| &program.updates[id]);
        if edge.passing.is_some() || update.is_some_and(|update| update.constraint.is_some()) {
            return Err(NotPlain);
        }
        let mut inside = depth;
        match edge.action {
            Action::Skip | Action::Read(_) | Action::Write(_) => {}
            Action::BeginAtomic => inside += 1,
            Action::EndAtomic => inside = inside.checked_sub(1).ok_or(NotPlain)?,
            Action::Acquire(lock) => _ = self.push(Op::CanAcquire(lock)),
            Action::Release(lock) => _ = self.push(Op::Owns(lock)),
            Action::Wait(set) | Action::Notify(set) | Action::NotifyAll(set) => {
                self.push(Op::Owns(self.layout.lock_of(set)));
            }
            Action::Resume(set) => _ = self.push(Op::CanResume(set)),
            Action::Join(thread) => _ = self.push(Op::Ended(thread)),
            Action::BeginUnit => _ = self.push(Op::BeginUnit),
            Action::EndUnit => _ = self.push(Op::EndUnit),
            Action::Assert(id) => {
                self.value(&program.conditions[id], 0)?;
                self.push(Op::Assert(0));
            }
            Action::Call(_)
            | Action::Return(_)
            | Action::Start(_)
            | Action::Send(_)
            | Action::Post(_)
            | Action::Broadcast(_)
            | Action::Recv(_) => return Err(NotPlain),
        }
        let assignments = update.map_or(&[][..], |update| &update.assignments);
        self.assign(assignments)?;
        match edge.action {
            Action::Acquire(lock) => _ = self.push(Op::Acquire(lock)),
            Action::Release(lock) => _ = self.push(Op::Release(lock)),
            Action::Wait(set) => _ = self.push(Op::Wait(set)),
            Action::Resume(set) => _ = self.push(Op::Resume(set)),
            Action::NotifyAll(set) => _ = self.push(Op::WakeAll(set)),
            Action::Notify(set) => {
                self.push(Op::Waiting(set));
                self.push(Op::Choose(0));
                self.push(Op::Wake(set));
            }
            _ => {}
        }
        if inside > 0 {
            let at = (edge.target, inside);
            let jump = self.push(Op::Jump(0));
            self.jumps.push((Place::Op(jump), at));
            self.pending.push(at);
            return Ok(());
        }
        let node = behind(self.code, edge.target);
        let cells = &self.layout.threads[self.thread];
        let number = cells.number(node).ok_or(NotPlain)?;
        let locals = program.procedures[cells.main].frame.locals.len();
        let live = &self.code.live[node];
        let first = cells.locals;
        self.reset(first, locals, |at| !live.contains(&Id::from_index(at)));
        self.push(Op::Emit(number));
        Ok(())
    }

    fn reset(&mut self, first: CellId, length: usize, dead: impl Fn(usize) -> bool) {
        for cell in (0..length).filter(|&at| dead(at)).map(|at| first + at) {
            if self.layout.is_packed(cell) {
                self.push(Op::Set(cell as u32, self.layout.low(cell)));
            }
        }
    }
}

impl Alternative<'_> {
    /// Without its first conditions.
    fn without(&self, count: usize) -> Self {
        Self { edge: self.edge, conditions: self.conditions[count..].to_vec() }
    }
}

/// The parts of a conjunction, in order, each with whether it is to be true.
fn split<'e>(expr: &'e Expr, parts: &mut Vec<(&'e Expr, bool)>) {
    if let Expr::Binary(Operator::And, left, right) = expr {
        split(left, parts);
        split(right, parts);
        return;
    }
    let (mut core, mut truth) = (expr, true);
    while let Expr::Not(inner) = core {
        core = inner;
        truth = !truth;
    }
    parts.push((core, truth));
}

/// Whether an expression is a choice and nothing else.
pub(super) fn is_choice(expr: &Expr) -> bool {
    match expr {
        Expr::Choice => true,
        Expr::Choose(low, high) => {
            let fixed = |part: &Expr| matches!(part, Expr::Constant(_));
            fixed(low) && fixed(high)
        }
        _ => false,
    }
}

/// What is compared with which constant.
pub(super) fn comparison(expr: &Expr) -> Option<(&Expr, Value)> {
    match expr {
        Expr::Binary(Operator::Equal, left, right) => match &**right {
            Expr::Constant(literal) => Some((left, literal.value())),
            _ => None,
        },
        _ => None,
    }
}

/// The least of some numbers, and how many there are from it to the largest, unless that is too many.
fn span(numbers: impl Iterator<Item = Value> + Clone) -> Option<(Value, u32)> {
    let (low, high) = (numbers.clone().min()?, numbers.clone().max()?);
    let length = (i64::from(high) - i64::from(low) + 1).unsigned_abs();
    (length <= 1024 && length <= 4 * numbers.count() as u64 + 8).then_some((low, length as u32))
}
