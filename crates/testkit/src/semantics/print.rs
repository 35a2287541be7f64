//! # Idea
//! The text of a program, each statement on a line of its own, so that a line says which statement is
//! meant.
//!
//! # Invariants
//! 1. [`lines`] numbers the statements of all functions in the order in which the module `code` visits
//!    them: a statement before what is inside of it.

use super::syntax::{
    Annotation, Block, ChannelStatement, Copies, Expression, First, Function, LockReference,
    LockStatement, Operator, Place, Right, Source, Statement, Type,
};
use std::fmt::Write as _;

/// The text of a program, and the lines of what can fail in it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Printed {
    /// The text.
    pub text: String,
    /// The line of every statement, by process and function.
    pub statements: Vec<Vec<Vec<u32>>>,
    /// The line where each of them ends.
    pub closing: Vec<Vec<Vec<u32>>>,
    /// The lines where every function begins and ends.
    pub ends: Vec<Vec<(u32, u32)>>,
    /// The line of every invariant.
    pub invariants: Vec<u32>,
}

struct Printer<'s> {
    source: &'s Source,
    out: Printed,
    line: u32,
    process: usize,
    function: usize,
}

/// The text of a program, and the lines of what can fail in it.
pub fn lines(source: &Source) -> Printed {
    let mut printer = Printer { source, out: Printed::default(), line: 1, process: 0, function: 0 };
    printer.source();
    printer.out
}

/// The text of a program.
pub fn text(source: &Source) -> String {
    lines(source).text
}

impl Printer<'_> {
    fn put(&mut self, depth: usize, line: &str) {
        let _ = writeln!(self.out.text, "{:1$}{line}", "", depth * 4);
        self.line += 1;
    }

    fn source(&mut self) {
        let source = self.source;
        for (at, lock) in source.locks.iter().enumerate() {
            let word = if lock.mutex { "mutex" } else { "lock" };
            let length = lock.length.map(|length| format!("[{length}]")).unwrap_or_default();
            self.put(0, &format!("{word} : l{at}{length};"));
            for condition in 0..lock.conditions {
                self.put(0, &format!("condition d{at}_{condition} : l{at};"));
            }
        }
        self.put(0, "enum E { A, B, C };");
        for at in 0..source.channels {
            self.put(0, &format!("chan : c{at};"));
        }
        for (at, &volatile) in source.locations.iter().enumerate() {
            let volatile = if volatile { "volatile " } else { "" };
            self.put(0, &format!("{volatile}var : v{at};"));
        }
        for (at, global) in source.globals.iter().enumerate() {
            let volatile = if global.volatile { "volatile " } else { "" };
            let length = global.length.map(|length| format!("[{length}]")).unwrap_or_default();
            let first = first(global.kind, global.first);
            let annotation = match &global.annotation {
                None => String::new(),
                Some(Annotation::Guarded(lock)) => format!(" guarded by l{lock}"),
                Some(Annotation::GuardedElement(lock, element)) => {
                    format!(" guarded by l{lock}[{element}]")
                }
                Some(Annotation::Exclusive(condition)) => {
                    format!(" exclusive when ({})", self.expression(condition))
                }
            };
            let kind = kind(global.kind);
            self.put(0, &format!("{volatile}{kind} : g{at}{length}{first}{annotation};"));
        }
        for invariant in &source.invariants {
            self.out.invariants.push(self.line);
            self.put(0, &format!("invariant ({});", self.expression(invariant)));
        }
        for (at, process) in source.processes.iter().enumerate() {
            self.process = at;
            self.out.statements.push(Vec::new());
            self.out.closing.push(Vec::new());
            self.out.ends.push(Vec::new());
            let copies = match process.copies {
                Copies::One => String::new(),
                Copies::Many(number) => format!("[{number}]"),
                Copies::Any => "[*]".to_owned(),
            };
            let waits = if process.waits { " waits" } else { "" };
            self.put(0, &format!("process P{at}{copies}{waits} {{"));
            for (at, variable) in process.variables.iter().enumerate() {
                let first = first(variable.kind, variable.first);
                self.put(1, &format!("{} : p{at}{first};", kind(variable.kind)));
            }
            for (at, function) in process.functions.iter().enumerate() {
                self.function = at;
                self.function(function);
            }
            self.put(0, "}");
        }
    }

    fn function(&mut self, function: &Function) {
        self.out.statements[self.process].push(Vec::new());
        self.out.closing[self.process].push(Vec::new());
        let head_line = self.line;
        let mut head = String::new();
        for lock in &function.locks {
            let _ = write!(head, "synchronized({}) ", self.lock(lock));
        }
        head.push_str(&name(self.function));
        if function.parameters > 0 || function.result.is_some() {
            let parameters = function.locals[..function.parameters].iter().enumerate();
            let parameters: Vec<String> =
                parameters.map(|(at, &one)| format!("{} : t{at}", kind(one))).collect();
            let _ = write!(head, "({})", parameters.join(", "));
        }
        if let Some(result) = function.result {
            let _ = write!(head, " : {}", kind(result));
        }
        self.put(1, &format!("{head} {{"));
        self.block(&function.body, &function.locals, 2);
        let line = self.line;
        self.out.ends[self.process].push((head_line, line));
        self.put(1, "}");
    }

    fn block(&mut self, block: &Block, locals: &[Type], depth: usize) {
        for statement in block {
            self.statement(statement, locals, depth, "");
        }
    }

    fn statement(&mut self, statement: &Statement, locals: &[Type], depth: usize, before: &str) {
        if let Statement::Label(label, inner) = statement {
            let line = self.line;
            _ = self.note(line);
            self.statement(inner, locals, depth, &format!("{before}label m{label}: "));
            return;
        }
        let line = self.line;
        let number = self.note(line);
        let text = match statement {
            Statement::Skip => "skip;".to_owned(),
            Statement::Access { location, write } => {
                format!("{} v{location};", if *write { "write" } else { "read" })
            }
            Statement::Declare(local, first) => {
                let first = first.as_ref().map(|first| format!(" = {}", self.right(first)));
                format!("{} : t{local}{};", kind(locals[*local]), first.unwrap_or_default())
            }
            Statement::Assign(place, right) => {
                format!("{} = {};", self.place(place), self.right(right))
            }
            Statement::TryAcquire(place, lock) => {
                format!("{} = tryacquire({});", self.place(place), self.lock(lock))
            }
            Statement::Assert(condition) => format!("assert({});", self.expression(condition)),
            Statement::Assume(condition) => format!("assume({});", self.expression(condition)),
            Statement::Lock(what, lock) => {
                let word = match what {
                    LockStatement::Acquire => "acquire",
                    LockStatement::Release => "release",
                    LockStatement::Wait => "wait",
                    LockStatement::Notify => "notify",
                    LockStatement::NotifyAll => "notifyAll",
                };
                format!("{word}({});", self.lock(lock))
            }
            Statement::Channel(what, channel) => {
                format!("{} c{channel};", word(*what))
            }
            Statement::Call(target, function, arguments) => {
                let target = target.as_ref().map(|place| format!("{} = ", self.place(place)));
                let target = target.unwrap_or_default();
                format!("{target}{}({});", name(*function), self.list(arguments))
            }
            Statement::Return(None) => "return;".to_owned(),
            Statement::Return(Some(value)) => format!("return {};", self.expression(value)),
            Statement::Start(process, index, arguments) => {
                let index = index.as_ref().map(|index| format!("[{}]", self.expression(index)));
                let index = index.unwrap_or_default();
                let arguments = match arguments.as_slice() {
                    [] => String::new(),
                    _ => format!("({})", self.list(arguments)),
                };
                format!("start P{process}{index}{arguments};")
            }
            Statement::Join(process, index) => {
                let index = index.as_ref().map(|index| format!("[{}]", self.expression(index)));
                format!("join P{process}{};", index.unwrap_or_default())
            }
            Statement::Unit(_) => "unit {".to_owned(),
            Statement::Atomic(_) => "atomic {".to_owned(),
            Statement::Synchronized(lock, _) => format!("synchronized({}) {{", self.lock(lock)),
            Statement::If(condition, ..) => format!("if ({}) {{", self.right(condition)),
            Statement::While(condition, _) => format!("while ({}) {{", self.right(condition)),
            Statement::Label(..) => unreachable!("labels are written with what follows them"),
        };
        self.put(depth, &format!("{before}{text}"));
        match statement {
            Statement::Unit(body)
            | Statement::Atomic(body)
            | Statement::Synchronized(_, body)
            | Statement::While(_, body) => {
                self.block(body, locals, depth + 1);
                let line = self.line;
                self.out.closing[self.process][self.function][number] = line;
                self.put(depth, "}");
            }
            Statement::If(_, first, second) => {
                self.block(first, locals, depth + 1);
                if !second.is_empty() {
                    self.put(depth, "} else {");
                    self.block(second, locals, depth + 1);
                }
                self.put(depth, "}");
            }
            _ => {}
        }
    }

    fn note(&mut self, line: u32) -> usize {
        self.out.statements[self.process][self.function].push(line);
        self.out.closing[self.process][self.function].push(line);
        self.out.statements[self.process][self.function].len() - 1
    }

    fn list(&self, arguments: &[Expression]) -> String {
        let arguments: Vec<String> = arguments.iter().map(|one| self.expression(one)).collect();
        arguments.join(", ")
    }

    fn lock(&self, lock: &LockReference) -> String {
        let index = lock.index.as_ref().map(|index| format!("[{}]", self.expression(index)));
        let name = match lock.condition {
            Some(condition) => format!("d{}_{condition}", lock.lock),
            None => format!("l{}", lock.lock),
        };
        name + &index.unwrap_or_default()
    }

    fn place(&self, place: &Place) -> String {
        match place {
            Place::Global(at, None) => format!("g{at}"),
            Place::Global(at, Some(index)) => format!("g{at}[{}]", self.expression(index)),
            Place::Own(at) => format!("p{at}"),
            Place::Local(at) => format!("t{at}"),
        }
    }

    fn right(&self, right: &Right) -> String {
        match right {
            Right::Any => "*".to_owned(),
            Right::Expression(expression) => self.expression(expression),
        }
    }

    fn expression(&self, expression: &Expression) -> String {
        match expression {
            Expression::Number(number) if *number < 0 => format!("({number})"),
            Expression::Number(number) => number.to_string(),
            Expression::Truth(truth) => truth.to_string(),
            Expression::Enumerator(which) => enumerator(*which).to_owned(),
            Expression::Nobody => "none".to_owned(),
            Expression::Me => "me".to_owned(),
            Expression::Index => "self".to_owned(),
            Expression::Variable(place) => self.place(place),
            Expression::Not(inner) => format!("!({})", self.expression(inner)),
            Expression::Negative(inner) => format!("(-({}))", self.expression(inner)),
            Expression::Binary(operator, left, right) => {
                let word = match operator {
                    Operator::Implies => "=>",
                    Operator::Or => "||",
                    Operator::And => "&&",
                    Operator::Xor => "^",
                    Operator::Equal => "==",
                    Operator::Unequal => "!=",
                    Operator::Less => "<",
                    Operator::AtMost => "<=",
                    Operator::Greater => ">",
                    Operator::AtLeast => ">=",
                    Operator::Plus => "+",
                    Operator::Minus => "-",
                    Operator::Times => "*",
                    Operator::Divide => "/",
                    Operator::Modulo => "%",
                };
                format!("({} {word} {})", self.expression(left), self.expression(right))
            }
            Expression::Choose(low, high) => format!("choose({low} .. {high})"),
        }
    }
}

/// The text of an expression.
pub(super) fn expression(source: &Source, expression: &Expression) -> String {
    let printer = Printer { source, out: Printed::default(), line: 1, process: 0, function: 0 };
    printer.expression(expression)
}

/// What a statement about a channel is called.
pub(super) fn word(what: ChannelStatement) -> &'static str {
    match what {
        ChannelStatement::Send => "send",
        ChannelStatement::Post => "post",
        ChannelStatement::Broadcast => "broadcast",
        ChannelStatement::Receive => "recv",
    }
}

/// What a function is called.
pub(super) fn name(function: usize) -> String {
    match function {
        0 => "main".to_owned(),
        _ => format!("f{function}"),
    }
}

fn kind(kind: Type) -> String {
    match kind {
        Type::Bool => "bool".to_owned(),
        Type::Range(low, high) => format!("int {low}..{high}"),
        Type::Modulo(modulus) => format!("int mod {modulus}"),
        Type::Enumeration => "E".to_owned(),
        Type::Thread => "thread".to_owned(),
    }
}

fn enumerator(which: i64) -> &'static str {
    ["A", "B", "C"][usize::try_from(which).unwrap_or(0)]
}

fn first(kind: Type, first: First) -> String {
    match (first, kind) {
        (First::Default, _) => String::new(),
        (First::Any, _) => " = *".to_owned(),
        (First::Own, _) => " = self".to_owned(),
        (First::Value(value), Type::Bool) => format!(" = {}", value != 0),
        (First::Value(value), Type::Enumeration) => format!(" = {}", enumerator(value)),
        (First::Value(_), Type::Thread) => " = none".to_owned(),
        (First::Value(value), _) => format!(" = {value}"),
    }
}
