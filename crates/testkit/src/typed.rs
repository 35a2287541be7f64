//! # Idea
//! Random programs with numbers, arrays, locks, waits, starts, joins, calls, atomic sections and
//! assertions, as texts of the text form. Unconstrained ones do anything; disciplined ones give every
//! global a lock and hold it but for a few accesses, between none and one in seven.
//!
//! # Invariants
//! 1. A program is a function of the seed.
//! 2. Ranges are small and recursion is bounded by a parameter, so that all states can be visited.

use crate::procedure_text::ProcedureText;
use crate::rng::Rng;
use selvedge_program::{Program, text};
use std::fmt::Write as _;

/// What a random typed program looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TypedShape {
    /// How many threads there are.
    pub threads: usize,
    /// How many statements each has, about.
    pub statements: usize,
    /// Whether globals are accessed with their locks, mostly.
    pub disciplined: bool,
    /// Whether globals are annotated, sometimes wrongly.
    pub annotated: bool,
}

/// A random typed program.
pub fn random_typed(rng: &mut Rng, shape: TypedShape) -> Program {
    let text = random_typed_text(rng, shape);
    let (program, problems) = text::parse(&text);
    program.unwrap_or_else(|| panic!("{problems:?}\n{text}"))
}

/// The text of a random typed program.
pub fn random_typed_text(rng: &mut Rng, shape: TypedShape) -> String {
    let mut text = String::from("program\n");
    for lock in 0..2 {
        let mutex = if rng.percent(30) { " mutex" } else { "" };
        _ = writeln!(text, "lock m{lock}{mutex}");
    }
    text.push_str("condition c0 of m0\ncondition c1 of m1\n");
    for global in 0..3 {
        let ty = ["0..2", "mod 3", "0..1"][rng.below(3)];
        let guard = if shape.annotated && rng.percent(50) {
            format!(" guarded by m{}", global % 2)
        } else {
            String::new()
        };
        _ = writeln!(text, "global g{global} : {ty} = 0{guard}");
    }
    let guard = if shape.annotated && rng.percent(30) { " guarded by each m0" } else { "" };
    _ = writeln!(text, "global a[2] : mod 2 = 0{guard}");
    if shape.annotated && rng.percent(40) {
        _ = writeln!(text, "invariant g0 < 2 | g1 < {}", rng.between(1, 2));
    }
    let owned = shape.annotated && rng.percent(40);
    if owned {
        text.push_str("global owner : thread = $none\nglobal o : 0..1 = 0\n");
        text.push_str("exclusive o when owner = $me\n");
    }
    let calls = rng.percent(35);
    let wrong = [0, 5, 10, 15][rng.below(4)];
    if rng.percent(20) {
        text.push_str("spurious wakeups\n");
    }
    let waits = rng.percent(40);
    for thread in 0..shape.threads {
        let late = waits && thread + 1 == shape.threads;
        let mut body = Body {
            rng,
            shape,
            thread,
            last_waits: waits,
            owned,
            calls,
            wrong,
            text: ProcedureText::new(),
            held: Vec::new(),
        };
        let mut at = 0;
        for _ in 0..shape.statements {
            at = body.statement(at, 2);
        }
        let ProcedureText { lines, next } = body.text;
        let word = if late { " waits" } else { "" };
        _ = writeln!(text, "thread T{thread}{word} main main {{");
        _ = writeln!(
            text,
            "procedure main locals t : mod 3 = 0, u : mod 2 = 0 nodes {} entry 0 exit {next} {{",
            next + 1
        );
        text.push_str(&lines);
        _ = writeln!(text, "{at} -> {next} skip\n}}\n}}");
    }
    if calls {
        // One that does something, and one that calls itself.
        for recursive in [false, true] {
            // No thread has this number, and whoever calls may be any of them.
            let (thread, last_waits) = (usize::MAX, false);
            let mut body = Body {
                rng,
                shape,
                thread,
                last_waits,
                owned,
                calls: false,
                wrong,
                text: ProcedureText::new(),
                held: Vec::new(),
            };
            let (name, at) = if recursive {
                ("down", body.recursion(0))
            } else {
                let depth = usize::from(body.rng.percent(50));
                ("once", body.statement(0, depth))
            };
            let result = ["t", "g0", "n + 1", "a[u]"][body.rng.below(4)];
            let ProcedureText { lines, next } = body.text;
            _ = writeln!(
                text,
                "procedure {name} (n : 0..2) -> (mod 3) locals t : mod 3 = 0, u : mod 2 = 0 nodes {} \
                 entry 0 exit {next} {{\n{lines}{at} -> {next} return {result}\n}}",
                next + 1
            );
        }
    }
    text
}

struct Body<'r> {
    rng: &'r mut Rng,
    shape: TypedShape,
    thread: usize,
    /// Whether the last thread has to be started.
    last_waits: bool,
    /// Whether there is a global that its owner may access.
    owned: bool,
    /// Whether there are procedures to call.
    calls: bool,
    /// How many accesses of a hundred are made with another lock or with none.
    wrong: usize,
    text: ProcedureText,
    held: Vec<usize>,
}

impl Body<'_> {
    fn number(&mut self) -> String {
        match self.rng.below(7) {
            0 | 1 => self.rng.below(3).to_string(),
            2 | 3 => format!("g{}", self.rng.below(3)),
            4 => "t".to_owned(),
            5 => "a[u]".to_owned(),
            _ => format!("(t + {})", self.rng.below(3)),
        }
    }

    fn condition(&mut self) -> String {
        let (left, right) = (self.number(), self.number());
        let sign = ["=", "!=", "<", "<="][self.rng.below(4)];
        format!("{left} {sign} {right}")
    }

    fn assignment(&mut self) -> String {
        match self.rng.below(8) {
            0..=2 => format!("g{} := {}", self.rng.below(3), self.number()),
            3 | 4 => format!("t := g{}", self.rng.below(3)),
            5 => format!("u := {}", self.rng.below(2)),
            6 => "u := a[u]".to_owned(),
            _ => format!("\"a[{}]\" := u", self.rng.below(2)),
        }
    }

    /// An access to a global with its lock, mostly.
    fn protected(&mut self, from: usize) -> usize {
        let global = self.rng.below(3);
        let wrong = self.rng.below(100) < self.wrong;
        let another = wrong && self.rng.percent(60);
        let lock = if another { 1 - global % 2 } else { global % 2 };
        let takes = !self.held.contains(&lock) && (another || !wrong);
        let mut at = from;
        if takes {
            at = self.text.step(at, &format!("acquire m{lock}"));
        }
        for _ in 0..self.rng.between(1, 2) {
            at = if self.rng.percent(50) {
                self.text.step(at, &format!("skip do t := g{global}"))
            } else {
                let value = ["t", "t + 1", "1", "0"][self.rng.below(4)];
                self.text.step(at, &format!("skip do g{global} := {value}"))
            };
        }
        if takes {
            at = self.text.step(at, &format!("release m{lock}"));
        }
        at
    }

    /// Becomes the owner, accesses what that may access, and gives it up; sometimes without the first.
    fn as_owner(&mut self, from: usize) -> usize {
        let mut at = from;
        if !self.rng.percent(20) {
            at = self.text.step(at, "skip when owner = $none do owner := $me");
        }
        let access = ["skip do o := 1 - o", "skip do t := o"][self.rng.below(2)];
        at = self.text.step(at, access);
        if self.rng.percent(90) {
            at = self.text.step(at, "skip do owner := $none");
        }
        at
    }

    /// Calls a procedure; what it is passed, and where its result goes, may not fit.
    fn call(&mut self, from: usize) -> usize {
        let name = ["once", "down"][self.rng.below(2)];
        let argument = ["0", "1", "2", "u", "t", "g0", "t + u"][self.rng.below(7)];
        let target = ["t", "u", "g0", "g1", "\"a[0]\""][self.rng.below(5)];
        self.text.step(from, &format!("call {name}({argument}) into {target}"))
    }

    /// Counts its parameter down, with a step on the way in or on the way out.
    fn recursion(&mut self, from: usize) -> usize {
        let end = self.text.node();
        self.text.edge(from, end, "skip when n = 0");
        let mut at = self.text.step(from, "skip when 0 < n");
        let first = self.rng.percent(50);
        if first {
            at = self.statement(at, 0);
        }
        at = self.text.step(at, "call down(n - 1) into t");
        if !first {
            at = self.statement(at, 0);
        }
        self.text.edge(at, end, "skip");
        end
    }

    /// An atomic section with a choice, in which several steps can fail, some in several ways.
    fn failing_section(&mut self, from: usize) -> usize {
        let at = self.text.step(from, "begin atomic");
        let mut at = self.text.step(at, "skip do t := $choose(0, 2)");
        for _ in 0..self.rng.between(2, 3) {
            let (value, global) = (self.rng.below(3), self.rng.below(3));
            let what = match self.rng.below(6) {
                0..=2 => format!("assert t != {value}"),
                3 => format!("skip do g{global} := t + 1"),
                4 => format!("assert a[2 / $choose(0, 2)] != {value}"),
                _ => format!("skip do g{global} := 2 / t + a[t]"),
            };
            at = self.text.step(at, &what);
        }
        self.text.step(at, "end atomic")
    }

    fn block(&mut self, from: usize, statements: usize, depth: usize) -> usize {
        (0..statements).fold(from, |at, _| self.statement(at, depth))
    }

    fn statement(&mut self, from: usize, depth: usize) -> usize {
        if self.shape.disciplined && self.rng.percent(60) {
            return self.protected(from);
        }
        if self.owned && self.rng.percent(20) {
            return self.as_owner(from);
        }
        if self.calls && self.rng.percent(20) {
            return self.call(from);
        }
        let last = self.shape.threads - 1;
        match self.rng.below(if depth == 0 { 6 } else { 15 }) {
            0 if self.rng.percent(30) => {
                // An element with a computed index: one edge for each.
                let to = self.text.node();
                let value = self.number();
                for element in 0..2 {
                    let what = format!("skip when u = {element} do \"a[{element}]\" := {value}");
                    self.text.edge(from, to, &what);
                }
                to
            }
            0 | 1 => {
                let assignment = self.assignment();
                self.text.step(from, &format!("skip do {assignment}"))
            }
            2 => {
                let condition = self.condition();
                self.text.step(from, &format!("assert {condition}"))
            }
            3 => {
                let (condition, assignment) = (self.condition(), self.assignment());
                self.text.step(from, &format!("skip when {condition} do {assignment}"))
            }
            4 if self.last_waits && self.thread != last => {
                let what = if self.rng.percent(60) { "start" } else { "join" };
                self.text.step(from, &format!("{what} T{last}"))
            }
            4 | 5 => self.text.step(from, "skip"),
            6 | 7 => {
                let lock = self.rng.below(2);
                let at = self.text.step(from, &format!("acquire m{lock}"));
                self.held.push(lock);
                let statements = self.rng.between(1, 2);
                let at = self.block(at, statements, depth - 1);
                self.held.pop();
                if self.rng.percent(4) {
                    return at;
                }
                self.text.step(at, &format!("release m{lock}"))
            }
            8 => {
                // Alternatives that may both block.
                let to = self.text.node();
                for _ in 0..2 {
                    let condition = self.condition();
                    let first = self.text.step(from, &format!("skip when {condition}"));
                    let end = self.block(first, 1, depth - 1);
                    self.text.edge(end, to, "skip");
                }
                to
            }
            9 => {
                // A loop, sometimes without a way out.
                let condition = self.condition();
                let end = self.block(from, 1, depth - 1);
                self.text.edge(end, from, &format!("skip when {condition}"));
                let to = self.text.node();
                if self.rng.percent(80) {
                    self.text.edge(end, to, &format!("skip when !({condition})"));
                }
                to
            }
            10 if self.rng.percent(40) => self.failing_section(from),
            10 => {
                let at = self.text.step(from, "begin atomic");
                let statements = self.rng.between(1, 2);
                let at = self.block(at, statements, 0);
                self.text.step(at, "end atomic")
            }
            11 | 12 => match self.held.last().copied() {
                None => {
                    let (lock, waits) = (self.rng.below(2), self.rng.percent(50));
                    self.monitor(from, lock, waits)
                }
                Some(lock) => {
                    let set = self.wait_set(lock);
                    let at = self.text.step(from, &format!("wait {set}"));
                    self.text.step(at, &format!("resume {set}"))
                }
            },
            _ => {
                let Some(&lock) = self.held.last() else {
                    let lock = self.rng.below(2);
                    return self.text.step(from, &format!("release m{lock}"));
                };
                let what = if self.rng.percent(50) { "notify" } else { "notifyAll" };
                let set = self.wait_set(lock);
                self.text.step(from, &format!("{what} {set}"))
            }
        }
    }

    /// Takes a lock, and waits or notifies while it is held.
    fn monitor(&mut self, from: usize, lock: usize, waits: bool) -> usize {
        let set = self.wait_set(lock);
        let mut at = self.text.step(from, &format!("acquire m{lock}"));
        self.held.push(lock);
        if waits {
            at = self.text.step(at, &format!("wait {set}"));
            at = self.text.step(at, &format!("resume {set}"));
            at = self.statement(at, 0);
        } else {
            at = self.statement(at, 0);
            let what = if self.rng.percent(50) { "notify" } else { "notifyAll" };
            at = self.text.step(at, &format!("{what} {set}"));
        }
        self.held.pop();
        self.text.step(at, &format!("release m{lock}"))
    }

    /// The condition of a lock, or its default one.
    fn wait_set(&mut self, lock: usize) -> String {
        let name = if self.rng.percent(40) { 'c' } else { 'm' };
        format!("{name}{lock}")
    }
}
