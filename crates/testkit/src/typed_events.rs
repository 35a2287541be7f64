//! # Idea
//! Random programs with values that are locations: accesses that compute and test, units, locks that nest
//! and locks that do not, waits (also in procedures whose callers hold the lock), atomic sections inside
//! and across locks, procedures that threads share, starts and joins. For questions about events whose
//! answers depend on values.
//!
//! # Invariants
//! 1. A program is a function of the seed.
//! 2. Ranges are small, and loops depend on them, so that all states can be visited.

use crate::procedure_text::ProcedureText;
use crate::rng::Rng;
use selvedge_program::{Program, text};
use std::fmt::Write as _;

/// A random program of two threads, or three.
pub fn random_typed_events(rng: &mut Rng) -> Program {
    let text = random_typed_events_text(rng);
    let (program, problems) = text::parse(&text);
    program.unwrap_or_else(|| panic!("{problems:?}\n{text}"))
}

/// Its text.
pub fn random_typed_events_text(rng: &mut Rng) -> String {
    let mut text = String::from("program\n");
    for lock in LOCKS {
        let mutex = if rng.percent(25) { " mutex" } else { "" };
        _ = writeln!(text, "lock {lock}{mutex}");
    }
    text.push_str("condition c of l\ncondition d of m\nset s { x, y }\n");
    for location in LOCATIONS {
        let ty = ["0..1", "mod 2", "0..2"][rng.below(3)];
        let first = if rng.percent(10) { "" } else { " = 0" };
        _ = writeln!(text, "global {location} : {ty}{first} location {location}");
    }
    _ = writeln!(text, "global k : mod 2 = {}", rng.below(2));
    if rng.percent(10) {
        text.push_str("invariant x < 2 | y < 2\n");
    }
    if rng.percent(15) {
        text.push_str("spurious wakeups\n");
    }
    let threads = if rng.percent(20) { 3 } else { 2 };
    let late = rng.percent(25);
    let shared = rng.percent(40);
    if shared {
        let body = Body::procedure(rng, false, threads, late, 2);
        _ = writeln!(text, "procedure f {body}");
    }
    for thread in 0..threads {
        let waits = if late && thread + 1 == threads { " waits" } else { "" };
        _ = writeln!(text, "thread T{thread}{waits} main main {{");
        let starts = thread + 1 < threads;
        let statements = if threads == 3 { 2 } else { rng.between(2, 3) };
        let body = Body::procedure(rng, starts, threads, late, statements);
        _ = writeln!(text, "procedure main {body}");
        if !shared {
            let body = Body::procedure(rng, false, threads, late, 1);
            _ = writeln!(text, "procedure f {body}");
        }
        text.push_str("}\n");
    }
    text
}

const LOCKS: [&str; 2] = ["l", "m"];
/// A condition of each of them.
const CONDITIONS: [&str; 2] = ["c", "d"];
const LOCATIONS: [&str; 2] = ["x", "y"];

/// The edges of a procedure.
struct Body<'r> {
    rng: &'r mut Rng,
    /// Whether it is a main that may start or join the last thread, if that waits, and call.
    is_main: bool,
    last: usize,
    late: bool,
    text: ProcedureText,
    held: Vec<usize>,
    in_section: bool,
}

impl<'r> Body<'r> {
    /// A procedure behind its name.
    fn procedure(
        rng: &'r mut Rng,
        is_main: bool,
        threads: usize,
        late: bool,
        statements: usize,
    ) -> String {
        let mut body = Self {
            rng,
            is_main,
            last: threads - 1,
            late,
            text: ProcedureText::new(),
            held: Vec::new(),
            in_section: false,
        };
        // Units are what the questions are about.
        let end = if body.rng.percent(70) {
            let at = body.text.step(0, "begin");
            let at = body.block(at, statements, 2);
            body.text.step(at, "end")
        } else {
            body.block(0, statements, 2)
        };
        let ProcedureText { lines, next } = body.text;
        let nodes = next + 1;
        format!(
            "locals t : mod 3 = 0, u : mod 2 = 0 nodes {nodes} entry 0 exit {next} {{\n{lines}\
             {end} -> {next} skip\n}}"
        )
    }

    fn location(&mut self) -> &'static str {
        LOCATIONS[self.rng.below(LOCATIONS.len())]
    }

    /// The condition of a lock, or its default one.
    fn wait_set(&mut self, lock: usize) -> &'static str {
        if self.rng.percent(40) { CONDITIONS[lock] } else { LOCKS[lock] }
    }

    fn lock(&mut self) -> &'static str {
        LOCKS[self.rng.below(LOCKS.len())]
    }

    fn block(&mut self, from: usize, statements: usize, depth: usize) -> usize {
        (0..statements).fold(from, |at, _| self.statement(at, depth))
    }

    /// An access with what it computes.
    fn access(&mut self, from: usize) -> usize {
        let x = self.location();
        let volatile = if self.rng.percent(10) { "volatile " } else { "" };
        match self.rng.below(7) {
            0 | 1 => self.text.step(from, &format!("read {volatile}{x} do t := {x}")),
            2 => self.text.step(from, &format!("write {volatile}{x} do {x} := 1")),
            3 => self.text.step(from, &format!("write {volatile}{x} do {x} := t")),
            4 => self.text.step(from, &format!("write {volatile}{x}")),
            5 => {
                let value = self.rng.below(2);
                self.text.step(from, &format!("read {volatile}{x} when {x} = {value}"))
            }
            _ => {
                // Which one it is depends on what was read before.
                let to = self.text.node();
                self.text.edge(from, to, "read x when t = 0 do u := 1");
                self.text.edge(from, to, "write y when t != 0 do y := 0");
                to
            }
        }
    }

    fn statement(&mut self, from: usize, depth: usize) -> usize {
        if depth == 0 || self.rng.percent(35) {
            return self.access(from);
        }
        match self.rng.below(16) {
            0 | 1 => {
                // A branch on what is read.
                let x = self.location();
                let to = self.text.node();
                for sign in ["=", "!="] {
                    let first = self.text.step(from, &format!("read {x} when {x} {sign} 0"));
                    let end = self.block(first, 1, depth - 1);
                    self.text.edge(end, to, "skip");
                }
                to
            }
            2 => {
                let condition = ["t = 0", "t = 1", "k = 1", "u = 0"][self.rng.below(4)];
                self.text.step(from, &format!("skip when {condition}"))
            }
            3 => {
                let change = ["k := 1 - k", "k := u", "u := 1 - u"][self.rng.below(3)];
                self.text.step(from, &format!("skip do {change}"))
            }
            4 => self.text.step(from, "assert t < 2"),
            5 | 6 => {
                let lock = self.rng.below(2);
                let at = self.text.step(from, &format!("acquire {}", LOCKS[lock]));
                self.held.push(lock);
                let statements = self.rng.between(1, 2);
                let at = self.block(at, statements, depth - 1);
                self.held.pop();
                if self.rng.percent(4) {
                    return at;
                }
                self.text.step(at, &format!("release {}", LOCKS[lock]))
            }
            7 => {
                // From hand to hand.
                let at = self.text.step(from, "acquire l");
                let at = self.access(at);
                let at = self.text.step(at, "acquire m");
                let at = self.text.step(at, "release l");
                let at = self.access(at);
                self.text.step(at, "release m")
            }
            8 if !self.in_section => {
                let at = self.text.step(from, "begin atomic");
                self.in_section = true;
                let statements = self.rng.between(1, 2);
                let at = self.block(at, statements, depth - 1);
                self.in_section = false;
                self.text.step(at, "end atomic")
            }
            9 if !self.in_section => {
                // A section that is not nested with a lock.
                let lock = self.lock();
                let at = self.text.step(from, "begin atomic");
                let at = self.text.step(at, &format!("acquire {lock}"));
                let at = self.access(at);
                let at = self.text.step(at, "end atomic");
                let at = self.access(at);
                self.text.step(at, &format!("release {lock}"))
            }
            10 | 11 if !self.in_section => {
                // Often of a lock that is held, sometimes below another one, sometimes by the caller.
                let lock = match self.held[..] {
                    [] => self.rng.below(2),
                    _ => *self.rng.pick(&self.held),
                };
                let set = self.wait_set(lock);
                let at = self.text.step(from, &format!("wait {set}"));
                self.text.step(at, &format!("resume {set}"))
            }
            12 => {
                let Some(&lock) = self.held.last() else { return self.access(from) };
                let what = if self.rng.percent(50) { "notify" } else { "notifyAll" };
                let set = self.wait_set(lock);
                self.text.step(from, &format!("{what} {set}"))
            }
            13 => {
                let at = self.text.step(from, "begin");
                let at = self.block(at, 1, depth - 1);
                self.text.step(at, "end")
            }
            14 if self.is_main && self.late => {
                let what = if self.rng.percent(70) { "start" } else { "join" };
                self.text.step(from, &format!("{what} T{}", self.last))
            }
            14 | 15 if self.is_main => self.text.step(from, "call f"),
            _ => {
                let to = self.text.node();
                for _ in 0..2 {
                    let first = self.text.step(from, "skip");
                    let end = self.block(first, 1, depth - 1);
                    self.text.edge(end, to, "skip");
                }
                to
            }
        }
    }
}
