//! Random programs that satisfy the invariants of the model, with all that it has.

use crate::data::{
    Annotation, Array, Enum, Expr, Frame, Global, Invariant, Literal, Local, NamedArray, Numeral,
    Operator, Passing, Sort, Type, Update, Variable, element_name,
};
use crate::files::SourceFile;
use crate::model::{
    Action, AtomicSet, AtomicSetId, Channel, ChannelId, Copies, Edge, EnumId, GlobalId, Label,
    Location, LocationId, Lock, LockId, NodeId, Procedure, ProcedureId, Program, Start, Thread,
    ThreadId, WaitSet, WaitSetId,
};
use selvedge_base::{FileId, Id, IdVec, Place};

/// A small generator of pseudo-random numbers (splitmix64), with the number of files that places may
/// lie in.
pub struct Random {
    state: u64,
    files: usize,
}

/// Names that mean something else in another place.
const WORDS: [&str; 29] = [
    "condition",
    "mutex",
    "channel",
    "recv",
    "each",
    "guarded",
    "location",
    "bool",
    "mod",
    "thread",
    "exclusive",
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
        let (name, place, reentrant) = (random.name(at), random.place(), random.below(4) > 0);
        program.locks.push(Lock { name, place, reentrant });
    }
    for at in 0..random.below(4) {
        let (name, place) = (random.name(at), random.place());
        let of_lock = program.locks.iter().position(|lock| lock.name == name);
        if !program.locks.is_empty() {
            let lock = of_lock.unwrap_or_else(|| random.below(program.locks.len()));
            program.wait_sets.push(WaitSet { name, lock: LockId::from_index(lock), place });
        }
    }
    for at in 0..random.below(3) {
        let (name, place) = (random.name(at), random.place());
        program.channels.push(Channel { name, place });
    }
    for at in 0..random.below(3) {
        let values = (0..=random.below(3)).map(|at| random.name(at)).collect();
        program.enums.push(Enum { name: random.name(at), values });
    }
    program.spurious_wakeups = random.below(5) == 0;
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
    let plan = plan(random, &program.enums);
    for (at, &main) in plan.mains.iter().enumerate() {
        program.threads.push(Thread {
            name: random.name(at),
            place: random.place(),
            main: ProcedureId::from_index(main),
            start: plan.starts[at],
            copies: if plan.any[at] { Copies::Any } else { Copies::One },
        });
    }
    for at in 0..random.below(4) {
        random_global(random, &mut program, at);
    }
    if !program.globals.is_empty() {
        for at in 0..random.below(3) {
            let bit = |_| GlobalId::from_index(random.below(program.globals.len()));
            let bits = (0..=at).map(bit).collect();
            program.numerals.push(Numeral { name: random.name(at), bits });
        }
    }
    let about = Scope::new(&program, &Frame::default(), Speaks::Globals);
    for global in program.globals.ids() {
        if program.globals[global].annotation.is_none() && random.below(6) == 0 {
            let condition = random.expression(&about, Sort::Bool, 2);
            let condition = program.conditions.push(condition);
            program.globals[global].annotation = Some(Annotation::ExclusiveWhen(condition));
        }
    }
    for _ in 0..random.below(2) {
        let mut about = Scope::new(&program, &Frame::default(), Speaks::Globals);
        about.threads = 0;
        let mut condition = random.expression(&about, Sort::Bool, 2);
        condition.change(&mut |part| {
            if *part == Expr::Me {
                *part = Expr::Constant(Literal::Thread(None));
            }
        });
        let condition = program.conditions.push(condition);
        program.invariants.push(Invariant { condition, place: random.place() });
    }
    for at in 0..plan.procedures.len() {
        random_procedure(random, &mut program, &plan, at);
    }
    if !program.nodes.is_empty() {
        for _ in 0..random.below(4) {
            let node = NodeId::from_index(random.below(program.nodes.len()));
            let index = random.below(2);
            let (name, place) = (random.name(index), random.place());
            program.labels.push(Label { name, node, place });
        }
    }
    program
}

/// A type of a program with these enumerations.
fn random_type(random: &mut Random, enums: &IdVec<EnumId, Enum>) -> Type {
    match random.below(8) {
        0 => Type::Int { low: -3, high: [0, 1, 8][random.below(3)] },
        1 => Type::Int { low: i32::MIN, high: -1 },
        2 => Type::Mod([1, 2, 9][random.below(3)]),
        3 => Type::Thread,
        4 if !enums.is_empty() => Type::Enum(EnumId::from_index(random.below(enums.len()))),
        _ => Type::Bool,
    }
}

fn random_global(random: &mut Random, program: &mut Program, at: usize) {
    let (name, place) = (random.name(at), random.place());
    let ty = random_type(random, &program.enums);
    let (low, high) = program.range(ty);
    let initial = [None, Some(low), Some(high)][random.below(3)];
    let length = (random.below(3) == 0).then(|| random.below(3) as u32 + 1);
    let count = length.unwrap_or(1) as usize;
    let row = |random: &mut Random, from: usize| {
        (random.below(3) == 0 && from >= count).then(|| random.below(from - count + 1))
    };
    let location = row(random, program.locations.len());
    let (lock, each) = (row(random, program.locks.len()), usize::from(random.below(2) == 0));
    let first = program.globals.next_id();
    for index in 0..count {
        let name = length.map_or_else(|| name.clone(), |_| element_name(&name, index as u32));
        let location = location.map(|first| LocationId::from_index(first + index));
        let lock = lock.map(|first| LockId::from_index(first + each * index));
        let annotation = lock.map(Annotation::GuardedBy);
        let owner = None;
        program.globals.push(Global { name, place, ty, initial, location, annotation, owner });
    }
    if let Some(length) = length {
        let array = Array { first: Variable::Global(first), length };
        program.arrays.push(NamedArray { name, array });
    }
}

fn plan(random: &mut Random, enums: &IdVec<EnumId, Enum>) -> Plan {
    let mut plan = Plan { procedures: vec![], mains: vec![], starts: vec![], any: vec![] };
    let mut last_waiting = None;
    let shared = |random: &mut Random, plan: &mut Plan| {
        for _ in 0..random.below(3) {
            plan.procedures.push((None, random_frame(random, enums)));
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
            plan.procedures.push((owner, random_frame(random, enums)));
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

fn random_frame(random: &mut Random, enums: &IdVec<EnumId, Enum>) -> Frame {
    let mut frame = Frame::default();
    let count = random.below(4);
    frame.parameters = random.below(count + 1);
    for at in 0..count {
        let (name, place) = (random.name(at), random.place());
        let end = random.place();
        let ty = random_type(random, enums);
        let initial = match ty {
            Type::Bool | Type::Thread => [None, Some(0)][random.below(2)],
            Type::Enum(_) | Type::Mod(_) => None,
            Type::Int { low, .. } => Some(low),
        };
        let array = at >= frame.parameters && random.below(3) == 0;
        let length = array.then(|| random.below(3) as u32 + 1);
        let first = frame.locals.next_id();
        for index in 0..length.unwrap_or(1) {
            let name = length.map_or_else(|| name.clone(), |_| element_name(&name, index));
            frame.locals.push(Local { name, place, end, ty, initial });
        }
        if let Some(length) = length {
            let array = Array { first: Variable::Local(first), length };
            frame.arrays.push(NamedArray { name, array });
        }
    }
    frame.results = (0..random.below(3)).map(|_| random_type(random, enums)).collect();
    frame
}

/// What expressions may speak of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaks {
    /// Globals, and nothing that is chosen.
    Globals,
    /// Everything before the step.
    Before,
    /// Everything before and after the step.
    Both,
}

/// What expressions of a procedure may speak of.
#[derive(Clone)]
struct Scope {
    variables: Vec<(Variable, Type)>,
    arrays: Vec<(Array, Type)>,
    enums: Vec<usize>,
    threads: usize,
    speaks: Speaks,
}

impl Scope {
    fn new(program: &Program, frame: &Frame, speaks: Speaks) -> Self {
        let globals = program.globals.iter_enumerated();
        let globals = globals.map(|(id, one)| (Variable::Global(id), one.ty));
        let locals = frame.locals.iter_enumerated();
        let locals = locals.map(|(id, one)| (Variable::Local(id), one.ty));
        let variables: Vec<(Variable, Type)> = globals.chain(locals).collect();
        let ty = |array: Array| variables.iter().find(|one| one.0 == array.first).expect("one").1;
        let arrays = program.arrays.iter().chain(&frame.arrays);
        let arrays = arrays.map(|one| (one.array, ty(one.array))).collect();
        let enums = program.enums.iter().map(|one| one.values.len()).collect();
        let threads = program.threads.len();
        Self { variables, arrays, enums, threads, speaks }
    }

    fn speaking(&self, speaks: Speaks) -> Self {
        Self { speaks, ..self.clone() }
    }
}

impl Random {
    fn variable(&mut self, scope: &Scope, sort: Option<Sort>) -> Option<(Variable, Type)> {
        let fits = |one: &&(Variable, Type)| sort.is_none_or(|sort| one.1.sort() == sort);
        let all: Vec<_> = scope.variables.iter().filter(fits).collect();
        (!all.is_empty()).then(|| *all[self.below(all.len())])
    }

    fn constant(&mut self, scope: &Scope, sort: Sort) -> Expr {
        Expr::Constant(match sort {
            Sort::Bool => Literal::Bool(self.below(2) == 0),
            Sort::Int => Literal::Int([0, 1, -1, 7, i32::MAX, i32::MIN][self.below(6)]),
            Sort::Enum(id) => Literal::Enumerator(id, self.below(scope.enums[id.index()]) as u32),
            Sort::Thread => {
                let at = self.below(scope.threads + 1).checked_sub(1);
                Literal::Thread(at.map(ThreadId::from_index))
            }
        })
    }

    fn expression(&mut self, scope: &Scope, sort: Sort, depth: usize) -> Expr {
        use Operator::{
            Add, And, Divide, Equal, Implies, Less, LessEqual, Multiply, Or, Remainder, Subtract,
            Xor,
        };
        let free = scope.speaks != Speaks::Globals;
        let part = |random: &mut Self, sort: Sort| random.expression(scope, sort, depth - 1);
        match (self.below(if depth == 0 { 6 } else { 14 }), sort) {
            (1, Sort::Bool) if free => Expr::Choice,
            (1, Sort::Int) if free => Expr::Copy,
            (1, Sort::Thread) => Expr::Me,
            (2..=4, _) => match self.variable(scope, Some(sort)) {
                Some((one, _)) if scope.speaks == Speaks::Both && self.below(2) == 0 => {
                    Expr::Next(one)
                }
                Some((one, _)) => Expr::Current(one),
                None => self.constant(scope, sort),
            },
            (6, _) => {
                let parts = [part(self, Sort::Bool), part(self, sort), part(self, sort)];
                Expr::Ite(Box::new(parts))
            }
            (7, _) => {
                let fits: Vec<Array> = scope
                    .arrays
                    .iter()
                    .filter(|one| one.1.sort() == sort)
                    .map(|one| one.0)
                    .collect();
                if fits.is_empty() {
                    return self.constant(scope, sort);
                }
                let array = fits[self.below(fits.len())];
                Expr::Element(array, Box::new(part(self, Sort::Int)))
            }
            (8, Sort::Bool) => part(self, Sort::Bool).not(),
            (8, Sort::Int) => Expr::Negate(Box::new(part(self, Sort::Int))),
            (9, Sort::Int) if free => {
                let (low, high) = (part(self, Sort::Int), part(self, Sort::Int));
                Expr::Choose(Box::new(low), Box::new(high))
            }
            (10.., Sort::Int) => {
                let operator = [Add, Subtract, Multiply, Divide, Remainder][self.below(5)];
                part(self, Sort::Int).join(operator, part(self, Sort::Int))
            }
            (9..=11, Sort::Bool) => {
                let operator = [And, Or, Xor, Equal, Implies][self.below(5)];
                part(self, Sort::Bool).join(operator, part(self, Sort::Bool))
            }
            (12, Sort::Bool) => {
                let sort = if self.below(2) == 0 { Sort::Thread } else { Sort::Int };
                part(self, sort).join(Equal, part(self, sort))
            }
            (13.., Sort::Bool) => {
                let operator = [Less, LessEqual][self.below(2)];
                part(self, Sort::Int).join(operator, part(self, Sort::Int))
            }
            _ => self.constant(scope, sort),
        }
    }

    fn expressions(&mut self, scope: &Scope, types: impl Iterator<Item = Type>) -> Vec<Expr> {
        types.map(|ty| self.expression(scope, ty.sort(), 2)).collect()
    }

    /// So many different variables, or fewer if there are not so many.
    fn targets(&mut self, scope: &Scope, count: usize) -> Vec<(Variable, Type)> {
        let mut targets = Vec::new();
        for _ in 0..count {
            targets.extend(self.variable(scope, None).filter(|one| !targets.contains(one)));
        }
        targets
    }

    fn update(&mut self, scope: &Scope) -> Option<Update> {
        let some = |random: &mut Self| random.below(3) == 0;
        let guard = some(self).then(|| self.expression(scope, Sort::Bool, 3));
        let targets = if some(self) { self.targets(scope, 3) } else { Vec::new() };
        let assignments = targets
            .into_iter()
            .map(|(target, ty)| (target, self.expression(scope, ty.sort(), 2)))
            .collect();
        let both = scope.speaking(Speaks::Both);
        let constraint = some(self).then(|| self.expression(&both, Sort::Bool, 3));
        let update = Update { guard, assignments, constraint };
        (update != Update::default()).then_some(update)
    }

    /// What is passed to a procedure; nothing at all where that is allowed, sometimes.
    fn passing(&mut self, scope: &Scope, callee: &Frame, results: &[Type]) -> Option<Passing> {
        let parameters = callee.locals.iter().take(callee.parameters);
        let arguments = self.expressions(scope, parameters.map(|one| one.ty));
        let mut taken = Vec::new();
        let mut result = |random: &mut Self, ty: Type| {
            let target = random.variable(scope, Some(ty.sort()))?.0;
            let fresh = random.below(3) > 0 && !taken.contains(&target);
            fresh.then(|| {
                taken.push(target);
                target
            })
        };
        let results: Vec<Option<Variable>> = results.iter().map(|&ty| result(self, ty)).collect();
        let needless = arguments.is_empty() && results.is_empty() && self.below(2) == 0;
        (!needless).then_some(Passing { arguments, results })
    }
}

fn random_procedure(random: &mut Random, program: &mut Program, plan: &Plan, at: usize) {
    let (owner, mut frame) = plan.procedures[at].clone();
    let own = plan.procedures[..at].iter().filter(|(one, _)| *one == owner).count();
    let scope = Scope::new(program, &frame, Speaks::Before);
    if random.below(4) == 0 {
        let condition = random.expression(&scope, Sort::Bool, 3);
        frame.enforced = Some(program.conditions.push(condition));
    }
    let first_node = program.nodes.len();
    let nodes = random.below(6) + 1;
    let node = |random: &mut Random| NodeId::from_index(first_node + random.below(nodes));
    let (entry, exit) = (node(random), node(random));
    let (name, place, end) = (random.name(own), random.place(), random.place());
    let results = frame.results.clone();
    let enforces = frame.enforced.is_some();
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
        let action = match random.below(18) {
            1 => Action::BeginUnit,
            2 => Action::EndUnit,
            3 => {
                let callee = random.visible(plan, owner);
                let (_, frame) = &plan.procedures[callee];
                passing = random.passing(&scope, frame, &frame.results);
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
            10 => Action::Assert(program.conditions.push(random.expression(&scope, Sort::Bool, 3))),
            11 => {
                target = exit;
                Action::Return(
                    program.returns.push(random.expressions(&scope, results.iter().copied())),
                )
            }
            12 if !plan.starts.is_empty() => {
                let started = random.below(plan.starts.len());
                if plan.starts[started] == Start::AtFirst {
                    Action::Skip
                } else {
                    passing = random.passing(&scope, &plan.procedures[plan.mains[started]].1, &[]);
                    Action::Start(ThreadId::from_index(started))
                }
            }
            13 if plan.any.contains(&false) => {
                let joined = plan.any.iter().position(|any| !any).expect("one of them is no pool");
                Action::Join(ThreadId::from_index(joined))
            }
            14 | 15 if !program.locks.is_empty() => {
                let l = LockId::from_index(random.below(program.locks.len()));
                let set = match random.below(2) {
                    0 if !program.wait_sets.is_empty() => {
                        WaitSetId::from_index(random.below(program.wait_sets.len()))
                    }
                    _ => default_wait_set(program, l),
                };
                let actions: [fn(WaitSetId) -> Action; 4] =
                    [Action::Wait, Action::Resume, Action::Notify, Action::NotifyAll];
                actions[random.below(4)](set)
            }
            16 if !program.channels.is_empty() && !enforces => {
                let a = ChannelId::from_index(random.below(program.channels.len()));
                let actions: [fn(ChannelId) -> Action; 4] =
                    [Action::Send, Action::Post, Action::Broadcast, Action::Recv];
                actions[random.below(4)](a)
            }
            _ => Action::Skip,
        };
        let passing = passing.map(|passing| program.passings.push(passing));
        let update = random.update(&scope).filter(|_| action.channel().is_none());
        let update = update.map(|update| program.updates.push(update));
        let place = random.place();
        let access = matches!(action, Action::Read(_) | Action::Write(_));
        let volatile = access && random.below(3) == 0;
        program.edges.push(Edge { source, target, action, update, passing, volatile, place });
    }
}

/// The default wait set of a lock, which is added if there is none.
fn default_wait_set(program: &mut Program, lock: LockId) -> WaitSetId {
    let Lock { name, place, .. } = &program.locks[lock];
    let known = program.wait_sets.iter_enumerated().find(|(_, set)| set.name == *name);
    if let Some((known, _)) = known {
        return known;
    }
    program.wait_sets.push(WaitSet { name: name.clone(), lock, place: *place })
}
