//! # Idea
//! Random modules in which every statement may come after every other one. Registers are few, so
//! values meet; every register that may be read too early is assigned in the first block.
//!
//! # Invariants
//! 1. A module is valid, and its registers, files and places are in the order of its text.
//! 2. Procedures call later ones only, so calls end.
//! 3. Every statement and end has an origin of its own.

use crate::rng::Rng;
use selvedge_base::{FilePosition, Id, Place};
use selvedge_code::model::{
    Block, BlockId, Element, FieldId, GlobalId, Handler, Kind, MethodId, Module, Procedure,
    ProcedureId, RegisterId, TypeId,
};
use selvedge_code::operands::each_target;
use selvedge_code::place::{InlinedPlace, PlaceId, PlaceInterner};
use selvedge_code::registers::renumber;
use selvedge_code::statement::{
    Acquisition, Call, Callee, End, Jump, LockKind, MemoryAccess, Operation, Provenance,
    Shape as NewObject, Statement, Value,
};
use selvedge_code::text::read;
use selvedge_code::validate::{Site, validate};
use selvedge_code::words::{LockMode, Operator, Ordering, Side, UpdateOperator, Word as _};

/// How large modules are, and what they contain.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// At most so many procedures.
    pub procedures: usize,
    /// At most so many blocks each.
    pub blocks: usize,
    /// At most so many statements each.
    pub statements: usize,
    /// So many registers each.
    pub registers: usize,
    /// The weights of groups of statements: moves and numbers; addresses; loads, stores and copies;
    /// atomic accesses; calls; locks; threads and conditions; new objects.
    pub weights: [usize; 8],
    /// Whether there are places and notes.
    pub places: bool,
}

impl Shape {
    /// Something of everything.
    pub const ALL: Self = Self {
        procedures: 4,
        blocks: 6,
        statements: 6,
        registers: 6,
        weights: [3, 3, 3, 1, 2, 2, 1, 2],
        places: true,
    };
    /// Many blocks and moves, for what flows.
    pub const FLOW: Self = Self {
        procedures: 1,
        blocks: 8,
        statements: 3,
        registers: 3,
        weights: [6, 1, 2, 0, 0, 0, 0, 0],
        places: false,
    };
    /// Local objects and flags that decide about locks.
    pub const LOCALS: Self = Self {
        procedures: 3,
        blocks: 5,
        statements: 6,
        registers: 7,
        weights: [3, 4, 6, 1, 2, 3, 1, 3],
        places: false,
    };
    /// Many constants, tests of them, and locks.
    pub const FLAGS: Self = Self {
        procedures: 3,
        blocks: 7,
        statements: 3,
        registers: 9,
        weights: [8, 0, 1, 0, 1, 5, 1, 1],
        places: false,
    };
}

/// What all modules declare.
const DECLARATIONS: &str = "\
type pair 16 { a: word 8 @0; b: ref @8 }
type outer 40: pair { x: word 8 @0; inner: pair @8; y: word 8 @24; z: ref pair @32 volatile }
type failure declared
type 'odd name' { value: ref failure final; 'other.field': word[2][3] atomic }
type option 8 { p: ref @0 } variants p { none = 0; 'some' = 1 }
global g: pair
global h: outer
global m: pair lock
global all_of_them: pair[4]
method pair.run pair = @p1
method pair.run outer = @p2
method outer.none
";

/// A random module.
pub fn random_module(rng: &mut Rng, shape: &Shape) -> Module {
    let text = format!("{DECLARATIONS}proc p0() outside\nproc p1(a) outside\nproc p2(a) outside\n");
    let mut module = read(&text).module.expect("the declarations are valid");
    let count = rng.between(1, shape.procedures).max(3);
    let mut signatures = vec![(rng.below(3), rng.below(2))];
    // The targets of the method take the object and give nothing.
    signatures.resize(3, (1, 0));
    signatures.resize_with(count.max(3), || (rng.below(3), rng.below(2)));
    let mut maker = Maker {
        rng,
        shape,
        module: Module::default(),
        interner: PlaceInterner::default(),
        signatures,
        origin: 0,
    };
    module.procedures = (0..maker.signatures.len()).map(|number| maker.header(number)).collect();
    maker.module = module;
    for number in 0..maker.signatures.len() {
        maker.procedure(number);
    }
    maker.module
}

struct Maker<'a> {
    rng: &'a mut Rng,
    shape: &'a Shape,
    module: Module,
    interner: PlaceInterner,
    /// The numbers of parameters and results.
    signatures: Vec<(usize, usize)>,
    origin: u32,
}

/// What a statement may name.
#[derive(Clone, Copy)]
struct Scope {
    procedure: usize,
    registers: usize,
    blocks: usize,
}

fn id<I: Id>(number: usize) -> I {
    I::from_index(number)
}

impl Maker<'_> {
    fn header(&mut self, number: usize) -> Procedure {
        let (parameters, returns) = self.signatures[number];
        let registers = parameters + self.shape.registers;
        Procedure {
            name: format!("p{number}"),
            parameters: vec![None; parameters],
            returns: vec![None; returns],
            registers: (0..registers).map(|register| format!("r{register}")).collect(),
            ..Procedure::default()
        }
    }

    fn procedure(&mut self, number: usize) {
        let at = id::<ProcedureId>(number);
        let scope = Scope {
            procedure: number,
            registers: self.module.procedures[at].registers.len(),
            blocks: self.rng.between(1, self.shape.blocks),
        };
        for block in 0..scope.blocks {
            let block = self.block(scope, block);
            self.module.procedures[at].blocks.push(block);
        }
        self.catch_some(scope, at);
        self.assign_early(at);
        renumber(&mut self.module.procedures[at]);
    }

    /// Begins some of the blocks that only failures come to with `caught`.
    fn catch_some(&mut self, scope: Scope, at: ProcedureId) {
        let blocks = &self.module.procedures[at].blocks;
        let mut only_failures = vec![false; scope.blocks];
        for block in blocks {
            block.handlers.iter().for_each(|handler| only_failures[handler.target.index()] = true);
        }
        for block in blocks {
            each_target(&block.end.jump, |target| only_failures[target.index()] = false);
        }
        for number in (1..scope.blocks).filter(|&number| only_failures[number]) {
            let result = self.register(scope);
            let statement = self.without_place(vec![result], Operation::Caught);
            let block = &mut self.module.procedures[at].blocks[id::<BlockId>(number)];
            block.statements.insert(0, statement);
        }
    }

    /// Assigns what may be read too early.
    fn assign_early(&mut self, at: ProcedureId) {
        let undefined = |module: &Module| {
            let breaches = validate(module).into_iter();
            let all: Vec<_> =
                breaches.filter(|breach| breach.code == "undefined-register").collect();
            let is_own = |site| matches!(site, Site::Point(of, _) if of == at);
            all.into_iter().filter(|breach| is_own(breach.site)).count()
        };
        let parameters = self.module.procedures[at].parameters.len();
        let registers = self.module.procedures[at].registers.len();
        for register in parameters..registers {
            let before = undefined(&self.module);
            if before == 0 {
                break;
            }
            let value = self.constant();
            let statement = self.without_place(vec![id(register)], Operation::Move(value));
            let entry = &mut self.module.procedures[at].blocks[id::<BlockId>(0)];
            entry.statements.insert(0, statement);
            if undefined(&self.module) == before {
                let entry = &mut self.module.procedures[at].blocks[id::<BlockId>(0)];
                entry.statements.remove(0);
            }
        }
    }

    fn block(&mut self, scope: Scope, number: usize) -> Block {
        let mut handlers = Vec::new();
        while self.rng.percent(30) {
            let catches = if self.rng.percent(50) { Some(id(2)) } else { None };
            handlers.push(Handler { catches, target: id(self.rng.below(scope.blocks)) });
        }
        let mut statements = Vec::new();
        for _ in 0..self.rng.below(self.shape.statements + 1) {
            let (results, operation, may_fail) = self.operation(scope);
            statements.push(self.statement(results, operation, may_fail));
        }
        let jump = self.jump(scope);
        let end = End { jump, provenance: self.provenance() };
        Block { name: format!("b{number}"), handlers, statements, end }
    }

    fn statement(
        &mut self,
        results: Vec<RegisterId>,
        operation: Operation,
        may_fail: bool,
    ) -> Statement {
        Statement { results, operation, may_fail, provenance: self.provenance() }
    }

    /// A statement that is put somewhere later on, so that its place would be out of order.
    fn without_place(&mut self, results: Vec<RegisterId>, operation: Operation) -> Statement {
        self.origin += 1;
        let provenance = Provenance { origin: Some(self.origin), ..Provenance::default() };
        Statement { results, operation, may_fail: false, provenance }
    }

    fn provenance(&mut self) -> Provenance {
        self.origin += 1;
        let mut provenance = Provenance { origin: Some(self.origin), ..Provenance::default() };
        if self.shape.places && self.rng.percent(30) {
            provenance.place = Some(self.place());
        }
        if self.shape.places && self.rng.percent(10) {
            provenance.note = Some((*self.rng.pick(&["lock", "a.b", "open"])).to_owned());
        }
        provenance
    }

    fn place(&mut self) -> PlaceId {
        let mut links = Vec::new();
        for _ in 0..self.rng.between(1, 3) {
            let name = *self.rng.pick(&["a.c", "b", "it's"]);
            let file = self.interner.file(&mut self.module.files, name);
            let line = self.rng.below(4) as u32 + 1;
            let position = match self.rng.below(4) {
                0 => FilePosition::Unknown,
                1 => FilePosition::Offset(line),
                2 => FilePosition::Line { line, column: None },
                _ => FilePosition::Line { line, column: Some(line) },
            };
            links.push(Place { file, position });
        }
        let mut end = None;
        for place in links.into_iter().rev() {
            let link = InlinedPlace { place, inlined_at: end };
            end = Some(self.interner.place(&mut self.module.places, link));
        }
        end.expect("there is a link")
    }

    fn constant(&mut self) -> Value {
        match self.rng.below(6) {
            0 => Value::Null,
            1 => Value::Global(id::<GlobalId>(self.rng.below(4))),
            _ => Value::Number(i64::from(self.rng.value(0, 2))),
        }
    }

    fn register(&mut self, scope: Scope) -> RegisterId {
        id(self.rng.below(scope.registers))
    }

    fn value(&mut self, scope: Scope) -> Value {
        if self.rng.percent(70) { Value::Register(self.register(scope)) } else { self.constant() }
    }

    /// Where something is accessed.
    fn address(&mut self, scope: Scope) -> Value {
        if self.rng.percent(75) {
            Value::Register(self.register(scope))
        } else {
            Value::Global(id::<GlobalId>(self.rng.below(4)))
        }
    }

    fn values(&mut self, scope: Scope, count: usize) -> Vec<Value> {
        (0..count).map(|_| self.value(scope)).collect()
    }

    fn kind(&mut self) -> Kind {
        Kind::single(match self.rng.below(4) {
            0 => Element::Word(8),
            1 => Element::Reference(None),
            2 => Element::Inline(id::<TypeId>(0)),
            _ => Element::Inline(id::<TypeId>(1)),
        })
    }

    fn operation(&mut self, scope: Scope) -> (Vec<RegisterId>, Operation, bool) {
        let may_fail = self.rng.percent(15);
        let result = vec![self.register(scope)];
        match self.rng.weighted(&self.shape.weights) {
            0 => (result, self.number(scope), may_fail),
            1 => (result, self.part(scope), may_fail),
            2 => self.plain_access(scope, result, may_fail),
            3 => self.atomic_access(scope, result, may_fail),
            4 => self.call(scope, may_fail),
            5 => self.lock(scope, result, may_fail),
            6 => self.thread(scope, result, may_fail),
            _ => {
                let element = self.kind().element;
                let counts = if self.rng.percent(20) { vec![Value::Number(2)] } else { Vec::new() };
                let shape = NewObject { element, counts };
                let local = self.rng.percent(70);
                let made = if local { Operation::Local(shape) } else { Operation::Make(shape) };
                (result, made, may_fail)
            }
        }
    }

    fn number(&mut self, scope: Scope) -> Operation {
        match self.rng.below(8) {
            0..3 => Operation::Move(self.constant()),
            3..6 => Operation::Move(self.value(scope)),
            6 => {
                let operator = *self.rng.pick(Operator::ALL);
                Operation::Compute { operator, left: self.value(scope), right: self.value(scope) }
            }
            _ => {
                let count = self.rng.below(3);
                Operation::Any(self.values(scope, count))
            }
        }
    }

    fn part(&mut self, scope: Scope) -> Operation {
        let base = self.address(scope);
        match self.rng.below(8) {
            0..4 => Operation::Field { base, field: id::<FieldId>(self.rng.below(6)) },
            4 => Operation::Element { base, index: self.value(scope), kind: self.kind() },
            5 => {
                let bytes = Value::Number(*self.rng.pick(&[-8, 0, 8, 16]));
                Operation::Shift { base, bytes }
            }
            6 => Operation::Side { base, side: *self.rng.pick(Side::ALL) },
            _ => Operation::Narrow { value: base, ty: id(self.rng.below(2)) },
        }
    }

    fn plain_access(
        &mut self,
        scope: Scope,
        result: Vec<RegisterId>,
        may_fail: bool,
    ) -> (Vec<RegisterId>, Operation, bool) {
        let bytes = if self.rng.percent(20) { 8 } else { 0 };
        let access = MemoryAccess { address: self.address(scope), bytes, ordering: None };
        // An access to a local object that may fail keeps the object in memory.
        let may_fail = may_fail && self.rng.percent(30);
        match self.rng.below(5) {
            0 | 1 => (result, Operation::Load(access), may_fail),
            2 | 3 => {
                let value = self.value(scope);
                (Vec::new(), Operation::Store { access, value }, may_fail)
            }
            _ => {
                let from = self.address(scope);
                let kind = self.kind();
                (Vec::new(), Operation::Copy { to: access.address, from, kind }, may_fail)
            }
        }
    }

    fn atomic_access(
        &mut self,
        scope: Scope,
        mut result: Vec<RegisterId>,
        may_fail: bool,
    ) -> (Vec<RegisterId>, Operation, bool) {
        let ordering = Some(*self.rng.pick(Ordering::ALL));
        let access = MemoryAccess { address: self.address(scope), bytes: 0, ordering };
        let value = self.value(scope);
        if self.rng.percent(50) {
            let operator = *self.rng.pick(UpdateOperator::ALL);
            return (result, Operation::Update { access, operator, value }, may_fail);
        }
        let other = id::<RegisterId>((result[0].index() + 1) % scope.registers);
        if other == result[0] {
            return (result, Operation::Move(value), may_fail);
        }
        result.push(other);
        let new = self.value(scope);
        (result, Operation::Exchange { access, expected: value, new }, may_fail)
    }

    /// A call of a later procedure, or of something outside.
    fn call(&mut self, scope: Scope, may_fail: bool) -> (Vec<RegisterId>, Operation, bool) {
        let result = vec![self.register(scope)];
        let later = self.signatures.len() - scope.procedure - 1;
        if later == 0 || self.rng.percent(25) {
            let count = self.rng.below(3);
            let callee = Callee::Outside((*self.rng.pick(&["print", "a.b"])).to_owned());
            let call = Call { callee, arguments: self.values(scope, count) };
            return (result, Operation::Call(call), may_fail);
        }
        let target = scope.procedure + 1 + self.rng.below(later);
        let (parameters, returns) = self.signatures[target];
        let results = if returns == 1 { result } else { Vec::new() };
        let procedure = id::<ProcedureId>(target);
        if scope.procedure == 0 && self.rng.percent(15) {
            let arguments = self.values(scope, 1);
            let call = Call { callee: Callee::Virtual(id::<MethodId>(0)), arguments };
            return (Vec::new(), Operation::Call(call), may_fail);
        }
        let arguments = self.values(scope, parameters);
        let callee = if self.rng.percent(85) {
            Callee::Procedure(procedure)
        } else {
            Callee::Value(Value::Procedure(procedure))
        };
        (results, Operation::Call(Call { callee, arguments }), may_fail)
    }

    fn lock(
        &mut self,
        scope: Scope,
        result: Vec<RegisterId>,
        may_fail: bool,
    ) -> (Vec<RegisterId>, Operation, bool) {
        let address = if self.rng.percent(60) {
            Value::Global(id::<GlobalId>(2))
        } else {
            self.address(scope)
        };
        let side = *self.rng.pick(&[None, None, None, Some(Side::Read), Some(Side::Write)]);
        let kind = LockKind {
            mode: *self.rng.pick(LockMode::ALL),
            structured: self.rng.percent(20),
            fair: self.rng.percent(20),
        };
        let taken = Acquisition { address, side, kind };
        match self.rng.below(8) {
            0..3 => (Vec::new(), Operation::Lock(taken), may_fail),
            3 => (result, Operation::TryLock(taken), may_fail),
            4 => (result, Operation::TimedLock(taken), may_fail),
            5 if kind.mode != LockMode::ByObject => {
                (Vec::new(), Operation::SetKind { address, kind }, may_fail)
            }
            _ => (Vec::new(), Operation::Unlock { address, side }, may_fail),
        }
    }

    fn thread(
        &mut self,
        scope: Scope,
        result: Vec<RegisterId>,
        may_fail: bool,
    ) -> (Vec<RegisterId>, Operation, bool) {
        let condition = self.address(scope);
        let none = Vec::new();
        let later = self.signatures.len() - scope.procedure - 1;
        let target = (later > 0).then(|| scope.procedure + 1 + self.rng.below(later.max(1)));
        match (self.rng.below(8), target) {
            (0, _) => {
                let lock = Value::Global(id::<GlobalId>(2));
                let timed = self.rng.percent(50);
                (none, Operation::Wait { condition, lock, timed }, may_fail)
            }
            (1, _) => (none, Operation::Notify { condition, all: self.rng.percent(50) }, may_fail),
            (2..4, Some(target)) => {
                let arguments = self.values(scope, self.signatures[target].0);
                let callee = Callee::Procedure(id(target));
                (result, Operation::Start(Call { callee, arguments }), may_fail)
            }
            (4, Some(target)) => {
                let arguments = self.values(scope, self.signatures[target].0);
                let once = Operation::Once { guard: condition, procedure: id(target), arguments };
                (none, once, may_fail)
            }
            (5, Some(target)) => {
                let count = self.rng.below(self.signatures[target].0 + 1);
                let captures = self.values(scope, count);
                (result, Operation::Closure { procedure: id(target), captures }, may_fail)
            }
            (6, _) => (none, Operation::Detach(condition), may_fail),
            _ => (none, Operation::Join(Value::Register(self.register(scope))), may_fail),
        }
    }

    fn jump(&mut self, scope: Scope) -> Jump {
        let block = |maker: &mut Self| id::<BlockId>(maker.rng.below(scope.blocks));
        match self.rng.below(10) {
            0..3 => Jump::Goto(block(self)),
            3..6 => {
                let operator =
                    *self.rng.pick(&[Operator::Equal, Operator::Unequal, Operator::Less]);
                let left = Value::Register(self.register(scope));
                let right = self.constant();
                Jump::If { operator, left, right, then: block(self), otherwise: block(self) }
            }
            6 => {
                let value = self.value(scope);
                let count = self.rng.below(3);
                let cases = (0..).take(count).map(|case| (case, block(self))).collect();
                Jump::Switch { value, cases, otherwise: block(self) }
            }
            7 => Jump::Throw(self.value(scope)),
            8 if self.rng.percent(20) => Jump::Stop,
            _ => {
                let count = self.signatures[scope.procedure].1;
                Jump::Return(self.values(scope, count))
            }
        }
    }
}
