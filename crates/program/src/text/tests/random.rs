//! Random programs that satisfy the invariants of the model, with all that it has.

use crate::data::{Connective, Expr, Frame, Global, Local, Numeral, Passing, Update, Variable};
use crate::files::SourceFile;
use crate::model::{
    Action, AtomicSet, AtomicSetId, Copies, Edge, GlobalId, Label, LocalId, Location, LocationId,
    Lock, LockId, NodeId, Procedure, ProcedureId, Program, Start, Thread, ThreadId,
};
use selvedge_base::{FileId, Id, IdVec, Place};

/// A small generator of pseudo-random numbers (splitmix64), with the number of files that places may
/// lie in.
pub struct Random {
    state: u64,
    files: usize,
}

/// Names that mean something else in another place.
const WORDS: [&str; 18] = [
    "file",
    "volatile",
    "copies",
    "waits",
    "lock",
    "end",
    "main",
    "nodes",
    "call",
    "_",
    "T",
    "F",
    "when",
    "do",
    "constrain",
    "into",
    "atomic",
    "locals",
];

impl Random {
    pub fn new(seed: u64) -> Self {
        Self { state: seed, files: 0 }
    }

    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// A procedure that code of `owner` can name.
    fn visible(&mut self, plan: &Plan, owner: Option<ThreadId>) -> usize {
        let procedures = plan.procedures.iter().enumerate();
        let visible = procedures.filter(|(_, (one, _))| one.is_none() || *one == owner);
        let visible: Vec<usize> = visible.map(|(at, _)| at).collect();
        visible[self.below(visible.len())]
    }

    pub fn place(&mut self) -> Place {
        let line = self.below(100) as u32 + 1;
        let place = match self.below(7) {
            0 => Place::NONE,
            1 => Place::new(u32::MAX, 1),
            2 => Place::in_line(line),
            3 => Place::at_offset(line - 1),
            _ => Place::new(line, self.below(80) as u32 + 1),
        };
        place.in_file(FileId::from_index(self.below(self.files + 1)))
    }

    /// A name that no other index has.
    pub fn name(&mut self, index: usize) -> String {
        let odd =
            ["", " ", "\"", "\\", "\n", "\t", "\0", "é", "\u{202E}", "main", "}", "//", "7", "-"];
        match self.below(4) {
            0 => format!("{}{index}", odd[self.below(odd.len())]),
            1 => WORDS[self.below(WORDS.len())].repeat(index + 1),
            _ => format!("n{index}"),
        }
    }
}

/// What is decided before any edge is made, because edges speak of it.
struct Plan {
    /// The procedures with their owners: their variables and results, nothing enforced yet.
    procedures: Vec<(Option<ThreadId>, Frame)>,
    /// The main procedure of every thread.
    mains: Vec<usize>,
    /// When every thread starts.
    starts: Vec<Start>,
    /// Whether every thread stands for any number of copies.
    any: Vec<bool>,
}

pub fn random_program(random: &mut Random) -> Program {
    let mut program = Program::default();
    if random.below(3) == 0 {
        for at in 0..random.below(3) {
            let odd = ["A", "a b/", "\"", "b\\", "é\u{202E}", "a//", "7", "file"];
            let name = format!("{}{at}", odd[random.below(odd.len())]);
            program.files.push(SourceFile { name });
        }
        random.files = program.files.len();
    }
    for at in 0..random.below(4) {
        program.locks.push(Lock { name: random.name(at), place: random.place() });
    }
    for at in 0..random.below(4) {
        program.atomic_sets.push(AtomicSet { name: random.name(at) });
    }
    if !program.atomic_sets.is_empty() {
        for at in 0..random.below(7) {
            let atomic_set = AtomicSetId::from_index(random.below(program.atomic_sets.len()));
            let (name, place) = (random.name(at), random.place());
            program.locations.push(Location { name, place, atomic_set });
        }
    }
    for at in 0..random.below(4) {
        let (name, place) = (random.name(at), random.place());
        let initial = [None, Some(false), Some(true)][random.below(3)];
        program.globals.push(Global { name, place, initial });
    }
    if !program.globals.is_empty() {
        for at in 0..random.below(3) {
            let bit = |_| GlobalId::from_index(random.below(program.globals.len()));
            let bits = (0..=at).map(bit).collect();
            program.numerals.push(Numeral { name: random.name(at), bits });
        }
    }
    let plan = plan(random);
    for (at, &main) in plan.mains.iter().enumerate() {
        program.threads.push(Thread {
            name: random.name(at),
            place: random.place(),
            main: ProcedureId::from_index(main),
            start: plan.starts[at],
            copies: if plan.any[at] { Copies::Any } else { Copies::One },
        });
    }
    for at in 0..plan.procedures.len() {
        random_procedure(random, &mut program, &plan, at);
    }
    if !program.nodes.is_empty() {
        for _ in 0..random.below(4) {
            let node = NodeId::from_index(random.below(program.nodes.len()));
            let index = random.below(2);
            program.labels.push(Label { name: random.name(index), node });
        }
    }
    program
}

fn plan(random: &mut Random) -> Plan {
    let mut plan = Plan { procedures: vec![], mains: vec![], starts: vec![], any: vec![] };
    let mut last_waiting = None;
    let shared = |random: &mut Random, plan: &mut Plan| {
        for _ in 0..random.below(3) {
            plan.procedures.push((None, random_frame(random)));
        }
    };
    let shares = random.below(2) == 0;
    for at in 0..random.below(4) {
        if shares {
            shared(random, &mut plan);
        }
        let owner = Some(ThreadId::from_index(at));
        let fewest = usize::from(plan.procedures.iter().all(|(owner, _)| owner.is_some()));
        for _ in 0..random.below(4) + fewest {
            plan.procedures.push((owner, random_frame(random)));
        }
        plan.mains.push(random.visible(&plan, owner));
        plan.any.push(random.below(5) == 0);
        plan.starts.push(match random.below(3) {
            0 => Start::ByEdge { after: None },
            1 => Start::ByEdge { after: last_waiting },
            _ => Start::AtFirst,
        });
        if plan.starts[at] != Start::AtFirst {
            last_waiting = Some(ThreadId::from_index(at));
        }
    }
    if shares {
        shared(random, &mut plan);
    }
    plan
}

fn random_frame(random: &mut Random) -> Frame {
    let count = random.below(4);
    let local = |at| Local { name: random.name(at), place: random.place() };
    let locals: Vec<Local> = (0..count).map(local).collect();
    let parameters = random.below(locals.len() + 1);
    Frame { locals: IdVec::from_vec(locals), parameters, results: random.below(3), enforced: None }
}

/// What expressions of a procedure may speak of.
struct Scope {
    globals: usize,
    locals: usize,
}

impl Random {
    fn variable(&mut self, scope: &Scope) -> Option<Variable> {
        let all = scope.globals + scope.locals;
        if all == 0 {
            return None;
        }
        let at = self.below(all);
        Some(if at < scope.globals {
            Variable::Global(GlobalId::from_index(at))
        } else {
            Variable::Local(LocalId::from_index(at - scope.globals))
        })
    }

    fn expression(&mut self, scope: &Scope, depth: usize, next: bool) -> Expr {
        let kind = self.below(if depth == 0 { 5 } else { 12 });
        let variable = self.variable(scope);
        match (kind, variable) {
            (0, _) => Expr::Constant(self.below(2) == 0),
            (1, _) => Expr::Choice,
            (2, Some(variable)) if next => Expr::Next(variable),
            (2..=4, Some(variable)) => Expr::Current(variable),
            (2..=4, None) => Expr::Constant(true),
            (5 | 6, _) => self.expression(scope, depth - 1, next).not(),
            _ => {
                let connective = [
                    Connective::And,
                    Connective::Or,
                    Connective::Xor,
                    Connective::Equal,
                    Connective::Implies,
                ][self.below(5)];
                let left = self.expression(scope, depth - 1, next);
                left.join(connective, self.expression(scope, depth - 1, next))
            }
        }
    }

    fn expressions(&mut self, scope: &Scope, count: usize) -> Vec<Expr> {
        (0..count).map(|_| self.expression(scope, 2, false)).collect()
    }

    /// So many different variables, or fewer if there are not so many.
    fn targets(&mut self, scope: &Scope, count: usize) -> Vec<Variable> {
        let mut targets = Vec::new();
        for _ in 0..count {
            targets.extend(self.variable(scope).filter(|one| !targets.contains(one)));
        }
        targets
    }

    fn update(&mut self, scope: &Scope) -> Option<Update> {
        let some = |random: &mut Self| random.below(3) == 0;
        let guard = some(self).then(|| self.expression(scope, 3, false));
        let targets = if some(self) { self.targets(scope, 3) } else { Vec::new() };
        let assignments =
            targets.into_iter().map(|target| (target, self.expression(scope, 2, false))).collect();
        let constraint = some(self).then(|| self.expression(scope, 3, true));
        let update = Update { guard, assignments, constraint };
        (update != Update::default()).then_some(update)
    }

    /// What is passed to a procedure; nothing at all where that is allowed, sometimes.
    fn passing(&mut self, scope: &Scope, callee: &Frame, results: usize) -> Option<Passing> {
        let arguments = self.expressions(scope, callee.parameters);
        let mut targets = self.targets(scope, results).into_iter();
        let mut result =
            |random: &mut Self| if random.below(3) == 0 { None } else { targets.next() };
        let results: Vec<Option<Variable>> = (0..results).map(|_| result(self)).collect();
        let needless = arguments.is_empty() && results.is_empty() && self.below(2) == 0;
        (!needless).then_some(Passing { arguments, results })
    }
}

fn random_procedure(random: &mut Random, program: &mut Program, plan: &Plan, at: usize) {
    let (owner, mut frame) = plan.procedures[at].clone();
    let own = plan.procedures[..at].iter().filter(|(one, _)| *one == owner).count();
    let scope = Scope { globals: program.globals.len(), locals: frame.locals.len() };
    if random.below(4) == 0 {
        let condition = random.expression(&scope, 3, false);
        frame.enforced = Some(program.conditions.push(condition));
    }
    let first_node = program.nodes.len();
    let nodes = random.below(6) + 1;
    let node = |random: &mut Random| NodeId::from_index(first_node + random.below(nodes));
    let (entry, exit) = (node(random), node(random));
    let (name, place, end) = (random.name(own), random.place(), random.place());
    let results = frame.results;
    let procedure = Procedure { name, owner, place, end, entry, exit, frame };
    let id = program.procedures.push(procedure);
    for _ in 0..nodes {
        program.nodes.push(id);
    }
    for _ in 0..random.below(8) {
        let (source, mut target) = (node(random), node(random));
        if source == exit {
            continue;
        }
        let mut passing = None;
        let action = match random.below(15) {
            1 => Action::BeginUnit,
            2 => Action::EndUnit,
            3 => {
                let callee = random.visible(plan, owner);
                let (_, frame) = &plan.procedures[callee];
                passing = random.passing(&scope, frame, frame.results);
                Action::Call(ProcedureId::from_index(callee))
            }
            kind @ 4..6 if !program.locations.is_empty() => {
                let x = LocationId::from_index(random.below(program.locations.len()));
                if kind == 4 { Action::Read(x) } else { Action::Write(x) }
            }
            kind @ 6..8 if !program.locks.is_empty() => {
                let l = LockId::from_index(random.below(program.locks.len()));
                if kind == 6 { Action::Acquire(l) } else { Action::Release(l) }
            }
            8 => Action::BeginAtomic,
            9 => Action::EndAtomic,
            10 => Action::Assert(program.conditions.push(random.expression(&scope, 3, false))),
            11 => {
                target = exit;
                Action::Return(program.returns.push(random.expressions(&scope, results)))
            }
            12 if !plan.starts.is_empty() => {
                let started = random.below(plan.starts.len());
                if plan.starts[started] == Start::AtFirst {
                    Action::Skip
                } else {
                    passing = random.passing(&scope, &plan.procedures[plan.mains[started]].1, 0);
                    Action::Start(ThreadId::from_index(started))
                }
            }
            13 if plan.any.contains(&false) => {
                let joined = plan.any.iter().position(|any| !any).expect("one of them is no pool");
                Action::Join(ThreadId::from_index(joined))
            }
            _ => Action::Skip,
        };
        let passing = passing.map(|passing| program.passings.push(passing));
        let update = random.update(&scope).map(|update| program.updates.push(update));
        let place = random.place();
        let access = matches!(action, Action::Read(_) | Action::Write(_));
        let volatile = access && random.below(3) == 0;
        program.edges.push(Edge { source, target, action, update, passing, volatile, place });
    }
}
