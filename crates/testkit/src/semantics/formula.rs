//! # Idea
//! Temporal formulas about programs, as plain data: what the generator draws and the printer writes. Whether
//! some run satisfies one is found out in [`super::runs`].
//!
//! # Source
//! The book's page *temporal*, `Formulas`.

use super::machine::{Event, Machine};
use super::print::expression;
use super::syntax::{ChannelStatement, Expression, Operator, Place, Source, Statement, Type};
use crate::rng::Rng;
use std::fmt::Write as _;

/// Something about a moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Atom {
    /// `T@m1`.
    At(usize, usize),
    /// `in(T, f)`.
    In(usize, usize),
    /// `holds(T, l)`.
    Holds(usize, usize),
    /// `unit(T)`.
    Unit(usize),
    /// `next(T, …)`; to receive is to use the channel by `recv`.
    About(usize, Event),
    /// `ended(T)`.
    Ended(usize),
    /// `blocked(T)`.
    Blocked(usize),
    /// `end`.
    End,
    /// `deadlock`.
    DeadEnd,
    /// `{x == 1}`.
    Condition(Expression),
    /// The step that is taken is one of the thread, and does this: what `X[T: …]` says beside `X`.
    Takes(usize, Option<Event>),
}

/// A formula.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "each is the operator of its name")]
pub enum Formula {
    Atom(Atom),
    Not(Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    Implies(Box<Self>, Box<Self>),
    Next(Box<Self>),
    /// `X[T: …] f`; the atom is about the step.
    NextBy(Atom, Box<Self>),
    Finally(Box<Self>),
    Globally(Box<Self>),
    Until(Box<Self>, Box<Self>),
    Weak(Box<Self>, Box<Self>),
    Release(Box<Self>, Box<Self>),
}

/// A formula with what it is asked about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// Whether it is about every run.
    pub every: bool,
    /// The formula.
    pub formula: Formula,
    /// The threads to which runs are fair.
    pub fair: Vec<usize>,
}

impl Asked {
    /// What a run satisfies that decides the question.
    pub fn sought(&self) -> Formula {
        let formula = self.formula.clone();
        if self.every { Formula::Not(Box::new(formula)) } else { formula }
    }

    /// Whether everything that it speaks of is there.
    pub fn fits(&self, source: &Source, machine: &Machine<'_>) -> bool {
        let threads = machine.threads.len();
        let mut atoms = Vec::new();
        self.formula.atoms(&mut atoms);
        let event = |thread: usize, event: Event| match event {
            Event::Read(cell) | Event::Write(cell) => cell < machine.locations(),
            Event::Acquire(lock) | Event::Release(lock) => lock < machine.locks(),
            Event::Call(function) | Event::Return(function) => {
                function < source.processes[machine.threads[thread].0].functions.len()
            }
            Event::Start(other) | Event::Join(other) => other < threads,
            Event::Channel(_, channel) => channel < source.channels,
            Event::Begin | Event::End => true,
            Event::Received(_) => false,
        };
        let fits = |atom: &Atom| match *atom {
            Atom::At(thread, label) => {
                thread < threads && labels(source).contains(&(machine.threads[thread].0, label))
            }
            Atom::In(thread, function) => thread < threads && event(thread, Event::Call(function)),
            Atom::Holds(thread, lock) => thread < threads && lock < machine.locks(),
            Atom::Unit(thread) | Atom::Ended(thread) | Atom::Blocked(thread) => thread < threads,
            Atom::About(thread, one) => thread < threads && event(thread, one),
            Atom::Takes(thread, one) => {
                thread < threads && one.is_none_or(|one| event(thread, one))
            }
            Atom::Condition(ref condition) => source.has_variables_of(condition),
            Atom::End | Atom::DeadEnd => true,
        };
        atoms.into_iter().all(fits) && self.fair.iter().all(|&thread| thread < threads)
    }

    /// The text of the question.
    pub fn text(&self, source: &Source, machine: &Machine<'_>) -> String {
        let quantifier = if self.every { "A" } else { "E" };
        format!("{quantifier} {}", Printer { source, machine }.formula(&self.formula))
    }
}

impl Formula {
    fn atoms<'f>(&'f self, found: &mut Vec<&'f Atom>) {
        match self {
            Self::Atom(atom) => found.push(atom),
            Self::Not(f) | Self::Next(f) | Self::Finally(f) | Self::Globally(f) => f.atoms(found),
            Self::NextBy(atom, f) => {
                found.push(atom);
                f.atoms(found);
            }
            Self::And(f, g)
            | Self::Or(f, g)
            | Self::Implies(f, g)
            | Self::Until(f, g)
            | Self::Weak(f, g)
            | Self::Release(f, g) => {
                f.atoms(found);
                g.atoms(found);
            }
        }
    }
}

struct Printer<'a> {
    source: &'a Source,
    machine: &'a Machine<'a>,
}

impl Printer<'_> {
    fn formula(&self, formula: &Formula) -> String {
        let one = |word: &str, f: &Formula| format!("{word} ({})", self.formula(f));
        let two = |word: &str, f: &Formula, g: &Formula| {
            format!("({}) {word} ({})", self.formula(f), self.formula(g))
        };
        match formula {
            Formula::Atom(atom) => self.atom(atom),
            Formula::Not(f) => one("!", f),
            Formula::And(f, g) => two("&&", f, g),
            Formula::Or(f, g) => two("||", f, g),
            Formula::Implies(f, g) => two("->", f, g),
            Formula::Next(f) => one("X", f),
            Formula::NextBy(atom, f) => one(&self.atom(atom), f),
            Formula::Finally(f) => one("F", f),
            Formula::Globally(f) => one("G", f),
            Formula::Until(f, g) => two("U", f, g),
            Formula::Weak(f, g) => two("W", f, g),
            Formula::Release(f, g) => two("R", f, g),
        }
    }

    fn atom(&self, atom: &Atom) -> String {
        let name = |thread: usize| self.machine.name(thread);
        match atom {
            Atom::At(thread, label) => format!("{}@m{label}", name(*thread)),
            Atom::In(thread, function) => {
                format!("in({}, {})", name(*thread), super::print::name(*function))
            }
            Atom::Holds(thread, lock) => {
                format!("holds({}, \"{}\")", name(*thread), self.machine.lock_name(*lock))
            }
            Atom::Unit(thread) => format!("unit({})", name(*thread)),
            Atom::About(thread, event) => {
                format!("next({}, {})", name(*thread), self.event(*event))
            }
            Atom::Ended(thread) => format!("ended({})", name(*thread)),
            Atom::Blocked(thread) => format!("blocked({})", name(*thread)),
            Atom::End => "end".to_owned(),
            Atom::DeadEnd => "deadlock".to_owned(),
            Atom::Condition(condition) => {
                format!("{{{}}}", expression(self.source, condition))
            }
            Atom::Takes(thread, None) => format!("X[{}]", name(*thread)),
            Atom::Takes(thread, Some(event)) => {
                format!("X[{}: {}]", name(*thread), self.event(*event))
            }
        }
    }

    fn event(&self, event: Event) -> String {
        let mut text = String::new();
        _ = match event {
            Event::Read(cell) => write!(text, "read \"{}\"", self.machine.location(cell)),
            Event::Write(cell) => write!(text, "write \"{}\"", self.machine.location(cell)),
            Event::Begin => write!(text, "begin"),
            Event::End => write!(text, "end"),
            Event::Acquire(lock) => write!(text, "acquire \"{}\"", self.machine.lock_name(lock)),
            Event::Release(lock) => write!(text, "release \"{}\"", self.machine.lock_name(lock)),
            Event::Call(function) => write!(text, "call {}", super::print::name(function)),
            Event::Return(function) => write!(text, "return {}", super::print::name(function)),
            Event::Start(thread) => write!(text, "start {}", self.machine.name(thread)),
            Event::Join(thread) => write!(text, "join {}", self.machine.name(thread)),
            Event::Channel(what, channel) => {
                write!(text, "{} c{channel}", super::print::word(what))
            }
            Event::Received(_) => unreachable!("no formula says so"),
        };
        text
    }
}

/// A random question about a program.
pub fn random_formula(rng: &mut Rng, source: &Source, machine: &Machine<'_>) -> Asked {
    let mut generator = Generator { rng, source, machine, labels: labels(source) };
    let every = generator.rng.percent(50);
    let formula = generator.shape();
    let is_fair = generator.rng.percent(25);
    let threads = 0..machine.threads.len();
    let fair = threads.filter(|_| is_fair && generator.rng.percent(70)).collect();
    Asked { every, formula, fair }
}

/// The labels, each with its process.
fn labels(source: &Source) -> Vec<(usize, usize)> {
    let mut labels = Vec::new();
    for (process, declared) in source.processes.iter().enumerate() {
        for statement in declared.functions.iter().flat_map(|function| &function.body) {
            gather(statement, process, &mut labels);
        }
    }
    labels
}

fn gather(statement: &Statement, process: usize, labels: &mut Vec<(usize, usize)>) {
    let mut all = |block: &[Statement]| block.iter().for_each(|one| gather(one, process, labels));
    match statement {
        Statement::Label(label, inner) => {
            labels.push((process, *label));
            gather(inner, process, labels);
        }
        Statement::Unit(body)
        | Statement::Atomic(body)
        | Statement::Synchronized(_, body)
        | Statement::While(_, body) => all(body),
        Statement::If(_, first, second) => {
            all(first);
            all(second);
        }
        _ => {}
    }
}

struct Generator<'a> {
    rng: &'a mut Rng,
    source: &'a Source,
    machine: &'a Machine<'a>,
    labels: Vec<(usize, usize)>,
}

impl Generator<'_> {
    fn shape(&mut self) -> Formula {
        use Formula::{And, Finally, Globally, Implies, Next, Or, Release, Until, Weak};
        let to = |f: Formula| Box::new(f);
        let (p, q) = (self.literal(), self.literal());
        match self.rng.weighted(&[12, 12, 10, 8, 8, 6, 6, 10, 6, 6, 6, 6, 8, 6]) {
            0 => Finally(to(p)),
            1 => Globally(to(p)),
            2 => Finally(to(And(to(p), to(q)))),
            3 => Finally(to(And(to(p), to(Finally(to(q)))))),
            4 => Globally(to(Implies(to(p), to(Finally(to(q)))))),
            5 => Globally(to(Finally(to(p)))),
            6 => Finally(to(Globally(to(p)))),
            7 => Until(to(p), to(q)),
            8 => Weak(to(p), to(q)),
            9 => Release(to(p), to(q)),
            10 => Next(to(Next(to(p)))),
            11 => Finally(to(And(to(p), to(Next(to(q)))))),
            12 => {
                let by = self.step();
                Finally(to(And(to(p), to(Formula::NextBy(by, to(q))))))
            }
            _ => Or(to(Globally(to(p))), to(Until(to(q.clone()), to(Next(to(q)))))),
        }
    }

    fn literal(&mut self) -> Formula {
        let atom = Formula::Atom(self.atom());
        if self.rng.percent(30) { Formula::Not(Box::new(atom)) } else { atom }
    }

    fn thread(&mut self) -> usize {
        self.rng.below(self.machine.threads.len())
    }

    fn step(&mut self) -> Atom {
        let thread = self.thread();
        let event = self.rng.percent(70).then(|| self.event(thread));
        Atom::Takes(thread, event)
    }

    fn event(&mut self, thread: usize) -> Event {
        let source = self.source;
        let process = &source.processes[self.machine.threads[thread].0];
        let locks = self.machine.locks();
        let when = |condition: bool, weight: usize| if condition { weight } else { 0 };
        let weights = [
            when(self.machine.locations() > 0, 20),
            when(self.machine.locations() > 0, 20),
            when(locks > 0, 25),
            when(locks > 0, 15),
            3,
            3,
            when(process.functions.len() > 1, 8),
            8,
            when(source.processes.iter().any(|one| one.waits), 10),
            when(self.machine.threads.len() > 1, 4),
            when(source.channels > 0, 25),
        ];
        match self.rng.weighted(&weights) {
            0 => Event::Read(self.rng.below(self.machine.locations())),
            1 => Event::Write(self.rng.below(self.machine.locations())),
            2 => Event::Acquire(self.rng.below(locks)),
            3 => Event::Release(self.rng.below(locks)),
            4 => Event::Begin,
            5 => Event::End,
            6 => Event::Call(self.rng.between(1, process.functions.len() - 1)),
            7 => Event::Return(self.rng.below(process.functions.len())),
            8 => Event::Start(self.thread()),
            9 => Event::Join(self.thread()),
            _ => {
                let what = *self.rng.pick(&[
                    ChannelStatement::Send,
                    ChannelStatement::Post,
                    ChannelStatement::Broadcast,
                    ChannelStatement::Receive,
                ]);
                Event::Channel(what, self.rng.below(source.channels))
            }
        }
    }

    fn atom(&mut self) -> Atom {
        let thread = self.thread();
        let process = self.machine.threads[thread].0;
        let own: Vec<usize> =
            self.labels.iter().filter(|label| label.0 == process).map(|label| label.1).collect();
        let locks = self.machine.locks();
        let when = |condition: bool, weight: usize| if condition { weight } else { 0 };
        let weights = [
            when(!own.is_empty(), 25),
            6,
            when(locks > 0, 15),
            4,
            30,
            10,
            10,
            4,
            6,
            when(self.source.globals.iter().any(|one| one.kind != Type::Thread), 20),
        ];
        match self.rng.weighted(&weights) {
            0 => Atom::At(thread, *self.rng.pick(&own)),
            1 => {
                let functions = self.source.processes[process].functions.len();
                Atom::In(thread, self.rng.below(functions))
            }
            2 => Atom::Holds(thread, self.rng.below(locks)),
            3 => Atom::Unit(thread),
            4 => Atom::About(thread, self.event(thread)),
            5 => Atom::Ended(thread),
            6 => Atom::Blocked(thread),
            7 => Atom::End,
            8 => Atom::DeadEnd,
            _ => Atom::Condition(self.condition()),
        }
    }

    fn condition(&mut self) -> Expression {
        let globals = self.source.globals.iter().enumerate();
        let able: Vec<_> = globals.filter(|(_, one)| one.kind != Type::Thread).collect();
        let (at, global) = *self.rng.pick(&able);
        let index = global.length.map(|length| {
            Box::new(Expression::Number(i64::try_from(self.rng.below(length)).expect("small")))
        });
        let left = Expression::Variable(Place::Global(at, index));
        let some = |values: &[i64], rng: &mut Rng| Expression::Number(*rng.pick(values));
        let (operator, right) = match global.kind {
            Type::Bool => return left,
            Type::Range(low, high) => {
                let operator = *self.rng.pick(&[Operator::Equal, Operator::Less]);
                (operator, some(&[low, high], self.rng))
            }
            Type::Modulo(modulus) => (Operator::Unequal, some(&[0, modulus - 1], self.rng)),
            Type::Enumeration => (Operator::Equal, Expression::Enumerator(1)),
            Type::Thread => unreachable!("conditions of formulas know no threads"),
        };
        Expression::Binary(operator, Box::new(left), Box::new(right))
    }
}
