//! # Idea
//! Random Boolean models that have everything that can go wrong in a small space: threads that run
//! from the beginning or are started with arguments, recursion, several results, choices,
//! constraints, atomic sections around calls, conditions that are enforced. Most recursion is bounded
//! by the data, as in a count down over the parameters, so that trying everything comes to an end. In
//! about half of the models the threads follow a protocol, in which one waits for the other, so that
//! its end needs several rounds.
//!
//! # Requires
//! The sizes of a [`BoolShape`] are such that trying all interleavings takes milliseconds.

use super::{BoolBlock, BoolModel, BoolProcedure, BoolStatement, BoolThread};
use crate::rng::Rng;
use selvedge_base::Id;
use selvedge_program::{Expr, GlobalId, LocalId, Operator, Variable};

/// How large the models are.
#[derive(Clone, Debug)]
pub struct BoolShape {
    /// How often there are one, two, and three threads, as weights.
    pub threads: [usize; 3],
    /// The greatest number of globals.
    pub globals: usize,
    /// The greatest number of locals of a procedure.
    pub locals: usize,
    /// The greatest number of procedures of a thread.
    pub procedures: usize,
    /// The greatest number of statements of a thread, before recursive calls are added.
    pub statements: usize,
    /// How deep blocks nest within a procedure.
    pub nesting: usize,
    /// Whether the model can be printed in Boppo's dialect: threads are started, globals have no
    /// first value.
    pub boppo: bool,
}

impl BoolShape {
    /// For trying all interleavings.
    pub const SMALL: Self = Self {
        threads: [10, 60, 30],
        globals: 4,
        locals: 3,
        procedures: 3,
        statements: 7,
        nesting: 2,
        boppo: false,
    };
    /// The same for models that are printed.
    pub const SMALL_BOPPO: Self = Self { boppo: true, ..Self::SMALL };
    /// For sequential analysis: one thread.
    pub const SEQUENTIAL: Self = Self { threads: [1, 0, 0], statements: 14, ..Self::SMALL };
}

/// A random model of this shape.
pub fn random_bool_model(rng: &mut Rng, shape: &BoolShape) -> BoolModel {
    let globals = match rng.below(20) {
        0 => 0,
        _ => rng.between(1, shape.globals),
    };
    let count = rng.weighted(&shape.threads) + 1;
    let mut model = BoolModel::default();
    for _ in 0..globals {
        let any = shape.boppo || rng.percent(12);
        model.globals.push(if any { None } else { Some(rng.percent(50)) });
    }
    for thread in 0..count {
        let waits = thread > 0 && (shape.boppo || rng.percent(25));
        let procedures = random_frames(rng, shape, waits, count);
        model.threads.push(BoolThread { waits, procedures });
    }
    let follow_protocol = count > 1 && globals > 0 && rng.percent(50);
    let mut labels = 0;
    for thread in 0..count {
        let frames = model.threads[thread].procedures.clone();
        // With more threads each has less to do.
        let most = (shape.statements * 2 / (count + 1)).max(3);
        let most = if follow_protocol { most / 2 } else { most };
        let mut budget = rng.between(most.div_ceil(2), most);
        for position in 0..frames.len() {
            let share = if position + 1 == frames.len() { budget } else { budget.div_ceil(2) };
            budget -= share;
            let scope = Scope { globals, locals: frames[position].locals };
            let may_call_main = thread > 0;
            let mut writer = Writer {
                rng,
                scope,
                frames: &frames,
                position,
                may_call_main,
                statements: share,
                nesting: shape.nesting,
                labels: &mut labels,
            };
            let mut body = writer.block(0, false);
            if position + 1 < frames.len() && writer.rng.percent(90) {
                let call = writer.call(position + 1);
                let call =
                    if writer.rng.percent(20) { BoolStatement::Atomic(vec![call]) } else { call };
                writer.insert(&mut body, call);
            }
            if position > 0 && writer.rng.percent(45) {
                let recursion = writer.recursion();
                writer.insert(&mut body, recursion);
            }
            let enforced = writer.rng.percent(10).then(|| writer.condition());
            let procedure = &mut model.threads[thread].procedures[position];
            procedure.body = body;
            procedure.enforced = enforced;
        }
    }
    if follow_protocol {
        protocol(rng, &mut model, &mut labels);
    }
    if !model.to_string().contains("assert(") {
        let thread = rng.below(count);
        let main = &mut model.threads[thread].procedures[0];
        let scope = Scope { globals, locals: main.locals };
        let at = rng.between(0, main.body.len());
        main.body.insert(at, BoolStatement::Assert(scope.condition(rng)));
    }
    start_threads(rng, shape, &mut model);
    model
}

/// Puts a sequence of steps into the mains of the threads: each waits until the globals are as the
/// step before has left them, and changes one. At the end an assertion fails or a label stands.
fn protocol(rng: &mut Rng, model: &mut BoolModel, labels: &mut usize) {
    let mut values: Vec<bool> =
        model.globals.iter().map(|initial| initial.unwrap_or_else(|| rng.percent(50))).collect();
    // Behind which statement of each thread the next step goes.
    let mut behind = vec![0; model.threads.len()];
    let mut thread = rng.below(model.threads.len());
    let steps = rng.between(2, 6);
    for step in 0..=steps {
        let literal = |at: usize, value: bool| {
            let current = Expr::Current(Variable::Global(GlobalId::from_index(at)));
            if value { current } else { current.not() }
        };
        let conjunction = values
            .iter()
            .enumerate()
            .map(|(at, &value)| literal(at, value))
            .reduce(|left, right| left.join(Operator::And, right))
            .expect("a protocol needs a global");
        let changed = rng.below(values.len());
        let mut statements = vec![BoolStatement::Assume(conjunction)];
        if step == steps {
            statements.push(if rng.percent(70) {
                BoolStatement::Assert(literal(changed, !values[changed]))
            } else {
                *labels += 1;
                BoolStatement::Label(*labels - 1)
            });
        } else {
            values[changed] = !values[changed];
            let target = Variable::Global(GlobalId::from_index(changed));
            let value = Expr::truth(values[changed]);
            statements.push(BoolStatement::Assign(vec![(target, value)], None));
        }
        let body = &mut model.threads[thread].procedures[0].body;
        let mut at = behind[thread];
        if rng.percent(15) {
            at = rng.between(at, body.len());
        }
        behind[thread] = at + statements.len();
        body.splice(at..at, statements);
        if rng.percent(85) {
            thread = (thread + rng.between(1, behind.len() - 1)) % behind.len();
        }
    }
}

/// The procedures of a thread, without bodies.
fn random_frames(
    rng: &mut Rng,
    shape: &BoolShape,
    waits: bool,
    threads: usize,
) -> Vec<BoolProcedure> {
    let procedures = rng.weighted(&[35, 45, 20][..shape.procedures.min(3)]) + 1;
    (0..procedures)
        .map(|position| {
            // Locals of a main that runs from the beginning multiply the states to begin with.
            let most = if position == 0 && !waits { 1.max(3 - threads) } else { shape.locals };
            let locals = rng.weighted(&[30, 40, 20, 10][..=most.min(3)]);
            let parameters = match (position, waits) {
                (0, false) => 0,
                _ => locals - rng.weighted(&[70, 30]).min(locals),
            };
            let results = if position == 0 { 0 } else { rng.weighted(&[35, 40, 25]) };
            BoolProcedure { locals, parameters, results, ..BoolProcedure::default() }
        })
        .collect()
}

/// Puts the start of every thread that waits into main, in their order, and first values of the
/// globals where the shape has none.
fn start_threads(rng: &mut Rng, shape: &BoolShape, model: &mut BoolModel) {
    let scope =
        Scope { globals: model.globals.len(), locals: model.threads[0].procedures[0].locals };
    let mut starts = Vec::new();
    for (thread, waiting) in model.threads.iter().enumerate() {
        if waiting.waits {
            let parameters = waiting.procedures[0].parameters;
            let arguments = (0..parameters).map(|_| scope.expression(rng, 1)).collect();
            starts.push(BoolStatement::Start { thread, arguments });
        }
    }
    let body = &mut model.threads[0].procedures[0].body;
    let mut from = 0;
    if shape.boppo && !model.globals.is_empty() && rng.percent(80) {
        let value = |at| (Variable::Global(GlobalId::from_index(at)), Expr::truth(rng.percent(50)));
        let values = (0..model.globals.len()).map(value).collect();
        body.insert(0, BoolStatement::Assign(values, None));
        from = 1;
    }
    for start in starts {
        // Mostly early, so that the threads meet.
        let at = if rng.percent(70) { from } else { rng.between(from, body.len()) };
        let start = match rng.below(10) {
            0 => BoolStatement::If(Expr::Choice, vec![start], vec![]),
            1 => BoolStatement::Atomic(vec![start]),
            _ => start,
        };
        body.insert(at, start);
        from = at + 1;
    }
}

/// What expressions may speak of.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    pub globals: usize,
    pub locals: usize,
}

impl Scope {
    /// A variable; a global more often than a local.
    fn variable(self, rng: &mut Rng) -> Option<Variable> {
        let weights = [3 * self.globals, 2 * self.locals];
        if weights == [0, 0] {
            return None;
        }
        Some(match rng.weighted(&weights) {
            0 => Variable::Global(GlobalId::from_index(rng.below(self.globals))),
            _ => Variable::Local(LocalId::from_index(rng.below(self.locals))),
        })
    }

    /// Up to so many different variables.
    pub fn variables(self, rng: &mut Rng, count: usize) -> Vec<Variable> {
        let mut variables = Vec::new();
        for _ in 0..count {
            variables.extend(self.variable(rng).filter(|one| !variables.contains(one)));
        }
        variables
    }

    pub fn expression(self, rng: &mut Rng, depth: usize) -> Expr {
        let inner = usize::from(depth > 0);
        let Some(variable) = self.variable(rng) else {
            return if rng.percent(30) { Expr::Choice } else { Expr::truth(rng.percent(50)) };
        };
        match rng.weighted(&[16, 5, 45, 20 * inner, 25 * inner]) {
            0 => Expr::truth(rng.percent(50)),
            1 => Expr::Choice,
            2 => Expr::Current(variable),
            3 => self.expression(rng, depth - 1).not(),
            _ => {
                let left = self.expression(rng, depth - 1);
                left.join(operator(rng), self.expression(rng, depth - 1))
            }
        }
    }

    /// A condition that is neither always nor never true, if there is a variable.
    pub fn condition(self, rng: &mut Rng) -> Expr {
        if rng.percent(12) {
            return Expr::Choice;
        }
        let Some(variable) = self.variable(rng) else { return self.expression(rng, 1) };
        let plain = Expr::Current(variable);
        let literal = if rng.percent(45) { plain.not() } else { plain };
        if rng.percent(45) {
            return literal;
        }
        literal.join(operator(rng), self.expression(rng, 1))
    }

    /// Something between the values of targets after a step and other values; `None` without targets.
    pub fn constraint(self, rng: &mut Rng, assignments: &[(Variable, Expr)]) -> Option<Expr> {
        let &(first, _) = assignments.first()?;
        let &(last, _) = assignments.last()?;
        let other = if first == last { self.expression(rng, 1) } else { Expr::Next(last) };
        Some(Expr::Next(first).join(operator(rng), other))
    }
}

fn operator(rng: &mut Rng) -> Operator {
    let all = [Operator::And, Operator::Or, Operator::Xor, Operator::Equal, Operator::Implies];
    all[rng.weighted(&[30, 30, 12, 16, 12])]
}

struct Writer<'a> {
    rng: &'a mut Rng,
    scope: Scope,
    /// The procedures of the thread, without bodies.
    frames: &'a [BoolProcedure],
    /// The one that is written.
    position: usize,
    may_call_main: bool,
    /// How many statements it may still have.
    statements: usize,
    nesting: usize,
    /// The next number of a label.
    labels: &'a mut usize,
}

impl Writer<'_> {
    fn block(&mut self, depth: usize, atomic: bool) -> BoolBlock {
        let mut block = Vec::new();
        // The outermost block uses up what is left; the others stop somewhere.
        while self.statements > 0 && (depth == 0 || block.is_empty() || self.rng.percent(60)) {
            let statement = self.statement(depth, atomic);
            let is_return = matches!(statement, BoolStatement::Return(_));
            block.push(statement);
            if is_return && self.rng.percent(80) {
                break; // Otherwise dead code follows.
            }
        }
        if depth == 0 && self.frames[self.position].results > 0 && self.rng.percent(85) {
            block.push(self.returns());
        }
        block
    }

    fn statement(&mut self, depth: usize, atomic: bool) -> BoolStatement {
        self.statements -= 1;
        let inner = usize::from(depth < self.nesting && self.statements > 0);
        let weights = [
            2,                                         // skip
            45,                                        // assign
            10,                                        // assign with constraint
            10,                                        // assume
            11,                                        // assert
            12 * inner,                                // if
            6 * inner,                                 // while
            6 * inner,                                 // choose
            8 * inner * usize::from(!atomic),          // atomic
            5,                                         // label
            if depth == 0 || atomic { 0 } else { 4 },  // return
            if self.frames.len() > 1 { 4 } else { 0 }, // call
        ];
        match self.rng.weighted(&weights) {
            0 => BoolStatement::Skip,
            1 => self.assignment(),
            2 => self.constrained(),
            3 => BoolStatement::Assume(self.condition()),
            4 => BoolStatement::Assert(self.condition()),
            5 => {
                let condition = self.condition();
                let first = self.block(depth + 1, atomic);
                let second =
                    if self.rng.percent(40) { self.block(depth + 1, atomic) } else { Vec::new() };
                BoolStatement::If(condition, first, second)
            }
            6 => {
                let condition = self.condition();
                BoolStatement::While(condition, self.block(depth + 1, atomic))
            }
            7 => {
                let branches = self.rng.between(2, 3);
                let branch = |_| self.block(depth + 1, atomic);
                BoolStatement::Choose((0..branches).map(branch).collect())
            }
            8 => BoolStatement::Atomic(self.block(depth + 1, true)),
            9 => {
                *self.labels += 1;
                BoolStatement::Label(*self.labels - 1)
            }
            10 => self.returns(),
            _ => {
                let callee = self.rng.between(1, self.frames.len() - 1);
                let call = self.call(callee);
                // A procedure that always calls itself never does anything else.
                let recursive = callee <= self.position;
                let condition = self.condition();
                if recursive { BoolStatement::If(condition, vec![call], vec![]) } else { call }
            }
        }
    }

    fn condition(&mut self) -> Expr {
        self.scope.condition(self.rng)
    }

    fn assignment(&mut self) -> BoolStatement {
        let count = self.rng.weighted(&[0, 75, 25]);
        let targets = self.scope.variables(self.rng, count);
        if targets.is_empty() {
            return BoolStatement::Skip;
        }
        let value = |target| (target, self.scope.expression(self.rng, 2));
        BoolStatement::Assign(targets.into_iter().map(value).collect(), None)
    }

    /// An assignment whose targets are chosen such that something holds.
    fn constrained(&mut self) -> BoolStatement {
        let count = self.rng.between(1, 2);
        let targets = self.scope.variables(self.rng, count);
        let value = |target| {
            let free = self.rng.percent(80);
            (target, if free { Expr::Choice } else { self.scope.expression(self.rng, 1) })
        };
        let assignments: Vec<(Variable, Expr)> = targets.into_iter().map(value).collect();
        match self.scope.constraint(self.rng, &assignments) {
            None => BoolStatement::Skip,
            constraint => BoolStatement::Assign(assignments, constraint),
        }
    }

    fn returns(&mut self) -> BoolStatement {
        let count = self.frames[self.position].results;
        BoolStatement::Return((0..count).map(|_| self.scope.expression(self.rng, 1)).collect())
    }

    fn call(&mut self, callee: usize) -> BoolStatement {
        let parameters = self.frames[callee].parameters;
        let arguments = (0..parameters).map(|_| self.scope.expression(self.rng, 1)).collect();
        self.call_with(callee, arguments)
    }

    fn call_with(&mut self, procedure: usize, arguments: Vec<Expr>) -> BoolStatement {
        let count = self.frames[procedure].results;
        let mut targets = self.scope.variables(self.rng, count).into_iter();
        let mut result = || if self.rng.percent(15) { None } else { targets.next() };
        let results = (0..count).map(|_| result()).collect();
        BoolStatement::Call { procedure, arguments, results }
    }

    /// A recursive call: bounded by the parameters, by a global, or not at all.
    fn recursion(&mut self) -> BoolStatement {
        let calls_main = self.may_call_main && self.rng.percent(15);
        let first = usize::from(!calls_main);
        let callee = if self.rng.percent(60) {
            self.position
        } else {
            self.rng.between(first, self.frames.len() - 1)
        };
        let own = self.frames[self.position].parameters;
        let parameter = |at| Expr::Current(Variable::Local(LocalId::from_index(at)));
        match self.rng.weighted(&[if own > 0 { 50 } else { 0 }, 25 * self.scope.globals.min(1), 15])
        {
            0 => {
                // The parameters are a number, which the call counts down.
                let (condition, mut arguments) = match own {
                    1 => (parameter(0), vec![Expr::FALSE]),
                    _ => (
                        parameter(0).join(Operator::Or, parameter(1)),
                        vec![parameter(0).not(), parameter(0).join(Operator::And, parameter(1))],
                    ),
                };
                arguments.resize(self.frames[callee].parameters, Expr::FALSE);
                let call = self.call_with(callee, arguments);
                BoolStatement::If(condition, vec![call], vec![])
            }
            1 => {
                let global = GlobalId::from_index(self.rng.below(self.scope.globals));
                let global = Variable::Global(global);
                let reset = BoolStatement::Assign(vec![(global, Expr::FALSE)], None);
                let call = self.call(callee);
                BoolStatement::If(Expr::Current(global), vec![reset, call], vec![])
            }
            _ => {
                let call = self.call(callee);
                BoolStatement::If(Expr::Choice, vec![call], vec![])
            }
        }
    }

    /// Puts a statement somewhere into a block, before a return at its end.
    fn insert(&mut self, block: &mut BoolBlock, statement: BoolStatement) {
        let returns = matches!(block.last(), Some(BoolStatement::Return(_)));
        let at = self.rng.between(0, block.len() - usize::from(returns));
        block.insert(at, statement);
    }
}
