//! # Idea
//! A structured model as a tree, small enough to generate, to shrink and to print. Names follow from
//! positions: locks `l0`, `l1`, …, locations `x0`, `x1`, …, processes `T1`, `T2`, …, functions `main`,
//! `f1`, `f2`, ….
//!
//! # Source
//! SEMANTICS, "EML".

use std::fmt::{self, Write};

/// Statements in order.
pub type Block = Vec<Statement>;

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Statement {
    /// `skip;`
    Skip,
    /// `read x;`
    Read(usize),
    /// `write x;`
    Write(usize),
    /// `f();`, by the position of the function in its process.
    Call(usize),
    /// `return;`
    Return,
    /// `unit {..}`
    Unit(Block),
    /// `synchronized(l) {..}`
    Synchronized(usize, Block),
    /// `if (*) {..} else {..}`; an empty second block is left out.
    If(Block, Block),
    /// `while (*) {..}`
    While(Block),
    /// `start T;`, by the position of the process, which waits for that.
    Start(usize),
    /// `join T;`, by the position of the process.
    Join(usize),
}

/// A function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Function {
    /// The locks of its `synchronized(..)` prefixes, from left to right.
    pub locks: Vec<usize>,
    /// What it does.
    pub body: Block,
}

/// A process. Its first function is `main`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Process {
    /// Its functions.
    pub functions: Vec<Function>,
}

/// A model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Model {
    /// How many locks there are.
    pub locks: usize,
    /// How many shared locations there are.
    pub locations: usize,
    /// The processes.
    pub processes: Vec<Process>,
}

impl Model {
    /// The model as EML.
    pub fn to_eml(&self) -> String {
        self.to_string()
    }

    /// Whether a process waits to be started: if some statement starts it.
    pub fn waits(&self, process: usize) -> bool {
        let mut functions = self.processes.iter().flat_map(|process| &process.functions);
        functions.any(|function| starts(&function.body, process))
    }

    /// How many statements it has, blocks included.
    pub fn statements(&self) -> usize {
        let functions = self.processes.iter().flat_map(|process| &process.functions);
        functions.map(|function| count(&function.body)).sum()
    }
}

fn starts(block: &[Statement], process: usize) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Start(started) => *started == process,
        Statement::Unit(body) | Statement::Synchronized(_, body) | Statement::While(body) => {
            starts(body, process)
        }
        Statement::If(first, second) => starts(first, process) || starts(second, process),
        _ => false,
    })
}

fn count(block: &[Statement]) -> usize {
    block
        .iter()
        .map(|statement| {
            1 + match statement {
                Statement::Unit(body)
                | Statement::Synchronized(_, body)
                | Statement::While(body) => count(body),
                Statement::If(first, second) => count(first) + count(second),
                Statement::Skip
                | Statement::Read(_)
                | Statement::Write(_)
                | Statement::Call(_)
                | Statement::Return
                | Statement::Start(_)
                | Statement::Join(_) => 0,
            }
        })
        .sum()
}

/// The name of the function at this position.
pub fn function_name(position: usize) -> String {
    if position == 0 { "main".to_owned() } else { format!("f{position}") }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |prefix: char, count: usize| {
            (0..count).map(|index| format!("{prefix}{index}")).collect::<Vec<_>>().join(", ")
        };
        if self.locks > 0 {
            writeln!(f, "lock : {};", names('l', self.locks))?;
        }
        if self.locations > 0 {
            writeln!(f, "var : {};", names('x', self.locations))?;
        }
        for (index, process) in self.processes.iter().enumerate() {
            let waits = if self.waits(index) { " waits" } else { "" };
            writeln!(f, "process T{}{waits} {{", index + 1)?;
            for (position, function) in process.functions.iter().enumerate() {
                f.write_str("    ")?;
                for lock in &function.locks {
                    write!(f, "synchronized(l{lock}) ")?;
                }
                write!(f, "{} ", function_name(position))?;
                print_block(f, &function.body, 1)?;
                f.write_char('\n')?;
            }
            writeln!(f, "}}")?;
        }
        Ok(())
    }
}

fn print_block(f: &mut fmt::Formatter<'_>, block: &[Statement], indent: usize) -> fmt::Result {
    f.write_str("{\n")?;
    for statement in block {
        write!(f, "{:1$}", "", 4 * (indent + 1))?;
        match statement {
            Statement::Skip => f.write_str("skip;")?,
            Statement::Read(location) => write!(f, "read x{location};")?,
            Statement::Write(location) => write!(f, "write x{location};")?,
            Statement::Call(function) => write!(f, "{}();", function_name(*function))?,
            Statement::Return => f.write_str("return;")?,
            Statement::Start(process) => write!(f, "start T{};", process + 1)?,
            Statement::Join(process) => write!(f, "join T{};", process + 1)?,
            Statement::Unit(body) => {
                f.write_str("unit ")?;
                print_block(f, body, indent + 1)?;
            }
            Statement::Synchronized(lock, body) => {
                write!(f, "synchronized(l{lock}) ")?;
                print_block(f, body, indent + 1)?;
            }
            Statement::If(first, second) => {
                f.write_str("if (*) ")?;
                print_block(f, first, indent + 1)?;
                if !second.is_empty() {
                    f.write_str(" else ")?;
                    print_block(f, second, indent + 1)?;
                }
            }
            Statement::While(body) => {
                f.write_str("while (*) ")?;
                print_block(f, body, indent + 1)?;
            }
        }
        f.write_char('\n')?;
    }
    write!(f, "{:1$}}}", "", 4 * indent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_prints_as_eml() {
        let body = vec![
            Statement::Synchronized(0, vec![Statement::Read(0), Statement::Return]),
            Statement::If(vec![Statement::Write(1)], vec![Statement::Skip]),
            Statement::While(vec![Statement::Unit(vec![Statement::Call(1)])]),
            Statement::Start(1),
            Statement::Join(0),
        ];
        let functions =
            vec![Function { locks: vec![1, 0], body }, Function { locks: vec![], body: vec![] }];
        let waiting = Process { functions: vec![Function::default()] };
        let processes = vec![Process { functions }, waiting];
        let model = Model { locks: 2, locations: 2, processes };
        let expected = "\
lock : l0, l1;
var : x0, x1;
process T1 {
    synchronized(l1) synchronized(l0) main {
        synchronized(l0) {
            read x0;
            return;
        }
        if (*) {
            write x1;
        } else {
            skip;
        }
        while (*) {
            unit {
                f1();
            }
        }
        start T2;
        join T1;
    }
    f1 {
    }
}
process T2 waits {
    main {
    }
}
";
        assert_eq!(model.to_eml(), expected);
        assert_eq!(model.statements(), 11);
    }
}
