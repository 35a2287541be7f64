//! # Idea
//! Random programs in which all features of EML can meet. Each program draws which features it has, so
//! that most have few and small state spaces, and every pair of features occurs.
//!
//! # Invariants
//! 1. A program is a function of the random numbers.
//! 2. Labels stand once; `return` stands in no atomic block, and neither do channels, waits, starts and
//!    joins, also by way of a call.

#![expect(clippy::cast_possible_wrap, reason = "all numbers of a program are small")]

use super::syntax::{
    Annotation, Block, ChannelStatement, Copies, Expression, First, Function, Global, Kind,
    LockDeclaration, LockReference, LockStatement, Operator, Place, Process, Right, Source,
    Statement, Type, Variable,
};
use crate::rng::Rng;

/// What a program may contain.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a feature of its own")]
struct Drawn {
    data: bool,
    locks: bool,
    by_hand: bool,
    monitors: bool,
    atomic: bool,
    channels: bool,
    starts: bool,
    calls: bool,
    recursion: bool,
    units: bool,
    loops: bool,
    free: bool,
}

struct Generator<'r> {
    rng: &'r mut Rng,
    source: Source,
    drawn: Drawn,
    process: usize,
    labels: usize,
    /// The types of the locals of the function that is made.
    locals: Vec<Type>,
    visible: Vec<usize>,
    left: usize,
    calm: Vec<bool>,
    quiet: bool,
}

/// A random program.
pub fn random_source(rng: &mut Rng) -> Source {
    let data = rng.percent(88);
    let locks = rng.percent(60);
    let drawn = Drawn {
        data,
        locks,
        by_hand: locks && rng.percent(35),
        monitors: locks && rng.percent(50),
        atomic: rng.percent(30),
        channels: rng.percent(18),
        starts: rng.percent(22),
        calls: rng.percent(40),
        recursion: rng.percent(15),
        units: rng.percent(20),
        loops: rng.percent(35),
        free: rng.percent(50),
    };
    let mut generator = Generator {
        rng,
        source: Source::default(),
        drawn,
        process: 0,
        labels: 0,
        locals: Vec::new(),
        visible: Vec::new(),
        left: 0,
        calm: Vec::new(),
        quiet: false,
    };
    generator.declarations();
    generator.processes();
    generator.source
}

impl Generator<'_> {
    fn a_type(&mut self) -> Type {
        match self.rng.weighted(&[30, 40, 12, 8, 10]) {
            0 => Type::Bool,
            1 => {
                let low = [0, 1, -1][self.rng.weighted(&[80, 10, 10])];
                Type::Range(low, low + self.rng.between(1, 3) as i64)
            }
            2 => Type::Modulo(self.rng.between(2, 4) as i64),
            3 => Type::Enumeration,
            _ => Type::Thread,
        }
    }

    fn a_first(&mut self, kind: Type, constant: bool) -> First {
        match (self.rng.weighted(&[70, 20, 10]), kind) {
            (1, Type::Range(_, high)) => First::Value(high),
            (1, Type::Modulo(modulus)) => First::Value(modulus - 1),
            (1, Type::Bool | Type::Enumeration) => First::Value(1),
            (2, kind) if self.drawn.free && !constant && kind != Type::Thread => First::Any,
            _ => First::Default,
        }
    }

    fn declarations(&mut self) {
        if self.drawn.locks {
            for _ in 0..self.rng.between(1, 2) {
                let mutex = self.rng.percent(30);
                let length = self.rng.percent(25).then_some(2);
                let conditions = if self.drawn.monitors { self.rng.below(3) } else { 0 };
                self.source.locks.push(LockDeclaration { mutex, length, conditions });
            }
        }
        if self.drawn.channels {
            self.source.channels = self.rng.between(1, 2);
        }
        if !self.drawn.data || self.rng.percent(15) {
            for _ in 0..self.rng.between(1, 2) {
                let volatile = self.rng.percent(15);
                self.source.locations.push(volatile);
            }
        }
        if self.drawn.data {
            for _ in 0..self.rng.between(1, 3) {
                let kind = self.a_type();
                let length = self.rng.percent(15).then_some(2);
                let first = self.a_first(kind, false);
                let volatile = self.rng.percent(8);
                let annotation = self.annotation(length);
                self.source.globals.push(Global { kind, length, first, volatile, annotation });
            }
            if self.rng.percent(10) {
                self.locals.clear();
                let invariant = self.shared_condition();
                self.source.invariants.push(invariant);
            }
        }
    }

    fn annotation(&mut self, length: Option<usize>) -> Option<Annotation> {
        let owner = self.source.globals.iter().position(|global| {
            global.kind == Type::Thread && global.length.is_none() && global.annotation.is_none()
        });
        if let Some(owner) = owner
            && self.rng.percent(15)
        {
            let owner = Expression::Variable(Place::Global(owner, None));
            return Some(Annotation::Exclusive(binary(Operator::Equal, owner, Expression::Me)));
        }
        if self.source.locks.is_empty() || !self.rng.percent(12) {
            return None;
        }
        let lock = self.rng.below(self.source.locks.len());
        match (self.source.locks[lock].length, length) {
            (Some(_), Some(_)) | (None, _) => Some(Annotation::Guarded(lock)),
            (Some(_), None) => Some(Annotation::GuardedElement(lock, self.rng.below(2))),
        }
    }

    /// A condition over shared variables without what can fail.
    fn shared_condition(&mut self) -> Expression {
        let at = self.rng.below(self.source.globals.len());
        let global = self.source.globals[at].clone();
        let index =
            global.length.map(|length| Box::new(Expression::Number(self.rng.below(length) as i64)));
        let variable = Expression::Variable(Place::Global(at, index));
        match global.kind {
            Type::Bool => variable,
            Type::Range(_, high) => binary(Operator::Less, variable, Expression::Number(high)),
            Type::Modulo(modulus) => {
                binary(Operator::Unequal, variable, Expression::Number(modulus - 1))
            }
            Type::Enumeration => binary(Operator::Unequal, variable, Expression::Enumerator(2)),
            Type::Thread => binary(Operator::Equal, variable, Expression::Nobody),
        }
    }

    fn processes(&mut self) {
        let number = self.rng.weighted(&[5, 65, 30]) + 1;
        let mut threads = 0;
        for at in 0..number {
            let copies = match self.rng.weighted(&[75, 18, 7]) {
                1 if threads < 3 => Copies::Many(2),
                2 if threads < 2 => Copies::Any,
                _ => Copies::One,
            };
            threads += match copies {
                Copies::One => 1,
                _ => 2,
            };
            let waits = at > 0 && self.drawn.starts && self.rng.percent(60);
            let mut variables = Vec::new();
            if self.drawn.data && self.rng.percent(20) {
                let kind = self.a_type();
                let first = match kind {
                    Type::Range(0, _) | Type::Modulo(_)
                        if copies == Copies::Many(2) && self.rng.percent(40) =>
                    {
                        First::Own
                    }
                    _ => self.a_first(kind, false),
                };
                variables.push(Variable { kind, first });
            }
            let mut functions = vec![empty()];
            if self.drawn.calls {
                for _ in 0..self.rng.between(1, 2) {
                    let mut function = empty();
                    if self.drawn.data && self.rng.percent(40) {
                        function.locals.push(self.a_type());
                        function.parameters = 1;
                    }
                    if self.drawn.data && self.rng.percent(35) {
                        function.result = Some(self.a_type());
                    }
                    functions.push(function);
                }
            }
            if waits && self.drawn.data && self.rng.percent(25) {
                functions[0].locals.push(self.a_type());
                functions[0].parameters = 1;
            }
            self.source.processes.push(Process { copies, waits, variables, functions });
        }
        for at in 0..number {
            self.process = at;
            let functions = self.source.processes[at].functions.len();
            self.calm =
                (0..functions).map(|function| function > 0 && self.rng.percent(60)).collect();
            for position in 0..functions {
                self.function(position);
            }
        }
    }

    fn function(&mut self, position: usize) {
        let function = &self.source.processes[self.process].functions[position];
        self.locals.clone_from(&function.locals);
        self.visible = (0..function.parameters).collect();
        let result = function.result;
        self.quiet = self.calm[position];
        self.left = self.rng.between(2, if position == 0 { 6 } else { 4 });
        let mut locks = Vec::new();
        if self.drawn.locks && self.rng.percent(if position == 0 { 5 } else { 25 }) {
            // Locks in front of a name see no locals.
            let visible = std::mem::take(&mut self.visible);
            locks.push(self.lock());
            self.visible = visible;
        }
        let mut body = self.block(0, false, position);
        if let Some(result) = result {
            let value = self.expression(result.kind(), 1);
            body.push(Statement::Return(Some(value)));
        }
        let locals = std::mem::take(&mut self.locals);
        let function = &mut self.source.processes[self.process].functions[position];
        function.body = body;
        function.locals = locals;
        function.locks = locks;
    }

    fn block(&mut self, depth: usize, atomic: bool, function: usize) -> Block {
        let visible = self.visible.len();
        let number = self.rng.between(1, if depth == 0 { 5 } else { 2 });
        let mut block = Vec::new();
        for _ in 0..number {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            self.statement(&mut block, depth, atomic, function);
        }
        if block.is_empty() {
            block.push(Statement::Skip);
        }
        self.visible.truncate(visible);
        block
    }

    #[expect(clippy::too_many_lines, reason = "a table of statements")]
    fn statement(&mut self, block: &mut Block, depth: usize, atomic: bool, function: usize) {
        let Drawn { data, locks, by_hand, monitors, channels, starts, calls, .. } = self.drawn;
        let loud = !atomic && !self.quiet;
        let when = |condition: bool, weight: usize| if condition { weight } else { 0 };
        let nests = depth < 3;
        let weights = [
            3,                                           // skip
            when(!self.source.locations.is_empty(), 20), // access
            when(data, 8),                               // declare
            when(data, 34),                              // assign
            when(by_hand && data, 4),                    // try to acquire
            when(data, 14),                              // assert
            when(data, 6),                               // assume
            when(by_hand, 14),                           // acquire and release
            when(monitors && loud, 44),                  // wait and notify
            when(channels && loud, 18),                  // channel
            when(calls, 14),                             // call
            when(loud && starts, 12),                    // start and join
            when(self.drawn.units && nests, 6),          // unit
            when(self.drawn.atomic && nests, 12),        // atomic
            when(locks && nests, 18),                    // synchronized
            when(nests, 14),                             // if
            when(self.drawn.loops && nests, 8),          // while
            when(!atomic && function > 0, 4),            // return
            when(by_hand, 2),                            // a lone acquire or release
        ];
        let label = self.rng.percent(10);
        let before = block.len();
        match self.rng.weighted(&weights) {
            0 => block.push(Statement::Skip),
            1 => {
                let location = self.rng.below(self.source.locations.len());
                let write = self.rng.percent(50);
                block.push(Statement::Access { location, write });
            }
            2 => {
                let kind = self.a_type();
                let first = match self.rng.weighted(&[20, 60, 20]) {
                    1 => Some(Right::Expression(self.expression(kind.kind(), 1))),
                    2 if self.drawn.free => Some(Right::Any),
                    _ => None,
                };
                self.locals.push(kind);
                self.visible.push(self.locals.len() - 1);
                block.push(Statement::Declare(self.locals.len() - 1, first));
                // A label in front of what may take no step is no moment of its own.
                return;
            }
            3 => {
                let Some((place, kind)) = self.place(None, true) else { return };
                let right = if self.drawn.free && self.rng.percent(12) {
                    Right::Any
                } else {
                    Right::Expression(self.expression(kind.kind(), 2))
                };
                block.push(Statement::Assign(place, right));
            }
            4 => {
                let Some((place, _)) = self.place(Some(Kind::Truth), false) else { return };
                let lock = self.lock();
                block.push(Statement::TryAcquire(place.clone(), lock.clone()));
                if self.rng.percent(70) {
                    let release = Statement::Lock(LockStatement::Release, lock);
                    let held = Right::Expression(Expression::Variable(place));
                    block.push(Statement::If(held, vec![release], Vec::new()));
                }
            }
            5 => block.push(Statement::Assert(self.expression(Kind::Truth, 2))),
            6 => block.push(Statement::Assume(self.expression(Kind::Truth, 2))),
            7 => {
                let lock = self.lock();
                block.push(Statement::Lock(LockStatement::Acquire, lock.clone()));
                let inner = self.block(depth + 1, atomic, function);
                block.extend(inner);
                block.push(Statement::Lock(LockStatement::Release, lock));
            }
            8 => {
                let lock = self.lock();
                let what = match self.rng.weighted(&[45, 30, 25]) {
                    0 => LockStatement::Wait,
                    1 => LockStatement::Notify,
                    _ => LockStatement::NotifyAll,
                };
                let conditions = self.source.locks[lock.lock].conditions;
                let condition = Some(self.rng.below(conditions + 1)).filter(|&at| at < conditions);
                let inner = Statement::Lock(what, LockReference { condition, ..lock.clone() });
                if self.rng.percent(12) {
                    block.push(inner);
                } else {
                    let inner = if what == LockStatement::Wait && data && self.rng.percent(60) {
                        let condition = self.expression(Kind::Truth, 1);
                        Statement::While(Right::Expression(condition), vec![inner])
                    } else {
                        inner
                    };
                    let mut body = vec![inner];
                    if what == LockStatement::Wait {
                        // Whether somebody wakes up is asked.
                        body.push(Statement::Label(self.labels, Box::new(Statement::Skip)));
                        self.labels += 1;
                    }
                    if self.rng.percent(40) {
                        let more = self.block(depth + 1, atomic, function);
                        body.splice(0..0, more);
                    }
                    block.push(Statement::Synchronized(lock, body));
                }
            }
            9 => {
                let what = match self.rng.weighted(&[30, 15, 12, 43]) {
                    0 => ChannelStatement::Send,
                    1 => ChannelStatement::Post,
                    2 => ChannelStatement::Broadcast,
                    _ => ChannelStatement::Receive,
                };
                block.push(Statement::Channel(what, self.rng.below(self.source.channels)));
            }
            10 => {
                let Some(call) = self.call(atomic, function) else { return };
                block.push(call);
            }
            11 => {
                let Some(one) = self.start_or_join() else { return };
                block.push(one);
            }
            12 => {
                let body = self.block(depth + 1, atomic, function);
                block.push(Statement::Unit(body));
            }
            13 => {
                let body = self.block(depth + 1, true, function);
                block.push(Statement::Atomic(body));
            }
            14 => {
                let lock = self.lock();
                let body = self.block(depth + 1, atomic, function);
                block.push(Statement::Synchronized(lock, body));
            }
            15 => {
                let condition = self.condition();
                let first = self.block(depth + 1, atomic, function);
                let second = if self.rng.percent(40) {
                    self.block(depth + 1, atomic, function)
                } else {
                    Vec::new()
                };
                block.push(Statement::If(condition, first, second));
            }
            16 => {
                let condition = self.condition();
                let body = self.block(depth + 1, atomic, function);
                block.push(Statement::While(condition, body));
            }
            17 => {
                let result = self.source.processes[self.process].functions[function].result;
                let value = result.map(|result| self.expression(result.kind(), 1));
                let condition = self.condition();
                block.push(Statement::If(condition, vec![Statement::Return(value)], Vec::new()));
            }
            _ => {
                let lock = self.lock();
                let what = if self.rng.percent(50) {
                    LockStatement::Acquire
                } else {
                    LockStatement::Release
                };
                block.push(Statement::Lock(what, lock));
            }
        }
        if label && block.len() > before {
            let first = block[before].clone();
            block[before] = Statement::Label(self.labels, Box::new(first));
            self.labels += 1;
        }
    }

    fn condition(&mut self) -> Right {
        if !self.drawn.data || self.drawn.free && self.rng.percent(25) {
            return Right::Any;
        }
        Right::Expression(self.expression(Kind::Truth, 2))
    }

    fn lock(&mut self) -> LockReference {
        let lock = self.rng.below(self.source.locks.len());
        let index = self.source.locks[lock].length.map(|length| self.index(length));
        LockReference { lock, index, condition: None }
    }

    /// An index. A constant that is none is refused where it is read.
    fn index(&mut self, length: usize) -> Expression {
        let copies = self.source.processes[self.process..].first().map(|process| process.copies);
        match self.rng.weighted(&[60, 20, 20]) {
            1 if copies == Some(Copies::Many(2)) => Expression::Index,
            2 if self.drawn.data => self.expression(Kind::Number, 0),
            _ => Expression::Number(self.rng.below(length) as i64),
        }
    }

    fn call(&mut self, atomic: bool, function: usize) -> Option<Statement> {
        let functions = self.source.processes[self.process].functions.len();
        let quiet = atomic || self.quiet;
        let callable: Vec<usize> = (1..functions)
            .filter(|&other| !quiet || self.calm[other])
            .filter(|&other| other > function || self.drawn.recursion)
            .collect();
        if callable.is_empty() {
            return None;
        }
        let callee = *self.rng.pick(&callable);
        let Function { parameters, result, locals, .. } =
            self.source.processes[self.process].functions[callee].clone();
        let arguments =
            locals[..parameters].iter().map(|kind| self.expression(kind.kind(), 1)).collect();
        let target = match result {
            Some(result) if self.rng.percent(80) => {
                self.place(Some(result.kind()), false).map(|(place, _)| place)
            }
            _ => None,
        };
        Some(Statement::Call(target, callee, arguments))
    }

    fn start_or_join(&mut self) -> Option<Statement> {
        let other = self.rng.below(self.source.processes.len());
        let Process { copies, waits, functions, .. } = self.source.processes[other].clone();
        let start = waits && self.rng.percent(65);
        if other == self.process && !self.rng.percent(5) || copies == Copies::Any && !start {
            return None;
        }
        let index = match copies {
            Copies::Many(number) => Some(Expression::Number(self.rng.below(number) as i64)),
            _ => None,
        };
        if !start {
            return Some(Statement::Join(other, index));
        }
        let Function { parameters, locals, .. } = &functions[0];
        let arguments =
            locals[..*parameters].iter().map(|kind| self.expression(kind.kind(), 1)).collect();
        Some(Statement::Start(other, index, arguments))
    }

    /// A variable, of this kind if one is wanted. Only the targets of assignments have indices that
    /// are evaluated.
    fn place(&mut self, kind: Option<Kind>, computed: bool) -> Option<(Place, Type)> {
        let fits = |own: Type| kind.is_none_or(|kind| kind == own.kind());
        let mut found = Vec::new();
        for (at, global) in self.source.globals.iter().enumerate() {
            if fits(global.kind) {
                found.push((Place::Global(at, None), global.kind));
                found.push((Place::Global(at, None), global.kind));
            }
        }
        if let Some(process) = self.source.processes.get(self.process) {
            for (at, variable) in process.variables.iter().enumerate() {
                if fits(variable.kind) {
                    found.push((Place::Own(at), variable.kind));
                }
            }
        }
        for &at in &self.visible {
            if fits(self.locals[at]) {
                found.push((Place::Local(at), self.locals[at]));
            }
        }
        if found.is_empty() {
            return None;
        }
        let (mut place, kind) = self.rng.pick(&found).clone();
        if let Place::Global(at, index) = &mut place
            && let Some(length) = self.source.globals[*at].length
        {
            let element = if computed {
                self.index(length)
            } else {
                Expression::Number(self.rng.below(length) as i64)
            };
            *index = Some(Box::new(element));
        }
        Some((place, kind))
    }

    fn expression(&mut self, kind: Kind, depth: usize) -> Expression {
        if depth == 0 || self.rng.percent(45) {
            return self.leaf(kind, depth);
        }
        match kind {
            Kind::Truth => match self.rng.weighted(&[60, 12, 28]) {
                0 => {
                    let of = match self.rng.weighted(&[60, 12, 12, 16]) {
                        0 => Kind::Number,
                        1 => Kind::Enumerator,
                        2 => Kind::Thread,
                        _ => Kind::Truth,
                    };
                    let operator = match of {
                        Kind::Number => *self.rng.pick(&[
                            Operator::Equal,
                            Operator::Equal,
                            Operator::Unequal,
                            Operator::Less,
                            Operator::AtMost,
                            Operator::Greater,
                            Operator::AtLeast,
                        ]),
                        _ => *self.rng.pick(&[Operator::Equal, Operator::Unequal]),
                    };
                    // One side is a variable, so that something is compared.
                    let left = self.variable(of).unwrap_or_else(|| constant(of));
                    let right = self.leaf(of, depth - 1);
                    binary(operator, left, right)
                }
                1 => Expression::Not(Box::new(self.expression(kind, depth - 1))),
                _ => {
                    let operator = *self.rng.pick(&[
                        Operator::And,
                        Operator::Or,
                        Operator::Implies,
                        Operator::Xor,
                    ]);
                    let left = self.expression(kind, depth - 1);
                    binary(operator, left, self.expression(kind, depth - 1))
                }
            },
            Kind::Number => {
                let operator = match self.rng.weighted(&[50, 30, 8, 6, 6]) {
                    0 => Operator::Plus,
                    1 => Operator::Minus,
                    2 => Operator::Times,
                    3 => Operator::Divide,
                    _ => Operator::Modulo,
                };
                let left = self.expression(kind, depth - 1);
                let right = match operator {
                    Operator::Plus | Operator::Minus if self.rng.percent(60) => {
                        Expression::Number(1)
                    }
                    _ => self.expression(kind, depth - 1),
                };
                // What divides by a constant that is 0 is refused where it is read.
                let right = match (operator, right) {
                    (Operator::Divide | Operator::Modulo, Expression::Number(0)) => {
                        Expression::Number(2)
                    }
                    (_, right) => right,
                };
                binary(operator, left, right)
            }
            Kind::Enumerator | Kind::Thread => self.leaf(kind, depth),
        }
    }

    fn variable(&mut self, kind: Kind) -> Option<Expression> {
        let computed = self.rng.percent(40);
        let (place, _) = self.place(Some(kind), computed)?;
        Some(Expression::Variable(place))
    }

    fn leaf(&mut self, kind: Kind, _depth: usize) -> Expression {
        if self.rng.percent(60)
            && let Some(variable) = self.variable(kind)
        {
            return variable;
        }
        let copies = self.source.processes.get(self.process).map(|process| process.copies);
        match kind {
            Kind::Truth => Expression::Truth(self.rng.percent(50)),
            Kind::Number if self.drawn.free && self.rng.percent(8) => {
                Expression::Choose(0, self.rng.below(3) as i64)
            }
            Kind::Number if copies == Some(Copies::Many(2)) && self.rng.percent(20) => {
                Expression::Index
            }
            Kind::Number => Expression::Number(self.rng.below(3) as i64),
            Kind::Enumerator => Expression::Enumerator(self.rng.below(3) as i64),
            Kind::Thread if self.rng.percent(60) => Expression::Me,
            Kind::Thread => Expression::Nobody,
        }
    }
}

fn binary(operator: Operator, left: Expression, right: Expression) -> Expression {
    Expression::Binary(operator, Box::new(left), Box::new(right))
}

fn constant(kind: Kind) -> Expression {
    match kind {
        Kind::Truth => Expression::Truth(true),
        Kind::Number => Expression::Number(1),
        Kind::Enumerator => Expression::Enumerator(1),
        Kind::Thread => Expression::Me,
    }
}

fn empty() -> Function {
    Function {
        locks: Vec::new(),
        parameters: 0,
        result: None,
        locals: Vec::new(),
        body: Vec::new(),
    }
}
