//! # Idea
//! Random programs whose steps compute: numbers with signs and offsets, numbers modulo others,
//! enumerators, threads, arrays with computed indices, products, quotients, choices, constraints, calls
//! with arguments and results, first values that may be anything. Beside them a lock, an invariant and
//! predicates, so that everything meets everything.
//!
//! # Invariants
//! 1. A program is a function of the seed.
//! 2. Types have few values, so that all states can be visited.

use crate::procedure_text::ProcedureText;
use crate::rng::Rng;
use selvedge_program::{Program, text};
use std::fmt::Write as _;

/// The numbers of these programs, by type.
const NUMBERS: [&str; 6] = ["0..2", "-2..1", "mod 3", "2..3", "mod 4", "-1..1"];

/// A random program that computes; with calls if `calls`, with what is checked if `checks`.
pub fn random_typed_data(rng: &mut Rng, calls: bool, checks: bool) -> Program {
    let text = random_typed_data_text(rng, calls, checks);
    let (program, problems) = text::parse(&text);
    program.unwrap_or_else(|| panic!("{problems:?}\n{text}"))
}

/// The text of such a program.
pub fn random_typed_data_text(rng: &mut Rng, calls: bool, checks: bool) -> String {
    let mut text = String::from("program\nlock m\nenum Colour { Red, Green, Blue }\n");
    if checks && rng.percent(60) {
        _ = writeln!(text, "lock n mutex");
    }
    for global in 0..2 {
        let ty = NUMBERS[rng.below(NUMBERS.len())];
        let first = match rng.below(4) {
            0 => String::new(),
            _ => format!(" = {}", first_of(ty)),
        };
        let guard = if checks && rng.percent(30) { " guarded by m" } else { "" };
        _ = writeln!(text, "global g{global} : {ty}{first}{guard}");
    }
    let elements = rng.between(1, 3);
    _ = writeln!(text, "global a[{elements}] : mod 2 = 0");
    _ = writeln!(text, "global b = F\nglobal c : Colour = $enum(Colour, Red)");
    _ = writeln!(text, "global w : thread = $none");
    if checks && rng.percent(40) {
        _ = writeln!(text, "exclusive b when w = $me");
    }
    if checks && rng.percent(40) {
        _ = writeln!(text, "invariant g0 + g1 < {}", rng.between(2, 4));
    }
    for thread in 0..2 {
        let ty = NUMBERS[rng.below(NUMBERS.len())];
        let result = NUMBERS[rng.below(NUMBERS.len())];
        let mut body = Body { rng, calls, text: ProcedureText::new(), held: false, elements };
        let mut at = 0;
        for _ in 0..body.rng.between(2, 4) {
            at = body.statement(at, 1);
        }
        let ProcedureText { lines, next } = body.text;
        _ = writeln!(text, "thread T{thread} main main {{");
        let first = if rng.percent(70) { format!(" = {}", first_of(ty)) } else { String::new() };
        _ = writeln!(
            text,
            "procedure main locals t : {ty}{first}, u : mod 2 = 0, k : 0..5 = 0 nodes {} entry 0 exit \
             {next} {{",
            next + 1
        );
        text.push_str(&lines);
        _ = writeln!(text, "{at} -> {next} skip\n}}");
        if calls {
            let mut body =
                Body { rng, calls: false, text: ProcedureText::new(), held: false, elements };
            let at = body.statement(0, 0);
            let ProcedureText { lines, next } = body.text;
            let ends = match rng.below(3) {
                0 => "skip".to_owned(),
                1 => "return t".to_owned(),
                _ => "return t * 2 - u".to_owned(),
            };
            _ = writeln!(
                text,
                "procedure f (t : {ty}) -> ({result}) locals u : mod 2 = 1, k : 0..5 nodes {} entry 0 \
                 exit {next} {{",
                next + 1
            );
            text.push_str(&lines);
            _ = writeln!(text, "{at} -> {next} {ends}\n}}");
        }
        text.push_str("}\n");
    }
    text
}

/// The text of a program with one step that computes, from any values. A `wide` one computes from few
/// large numbers.
pub fn random_step_text(rng: &mut Rng, wide: bool) -> String {
    let mut text = String::from("program\nlock m\nenum Colour { Red, Green, Blue }\n");
    if wide {
        for (name, low, high) in [
            ("g0", -20_000, 20_000),
            ("g1", 0, 65_535),
            ("p", -128, 127),
            ("q", 0, 255),
            ("s", 1_000, 3_000),
        ] {
            let edge = [low, high, low + 1, high - 1];
            let value = match rng.below(3) {
                0 => edge[rng.below(4)],
                _ => rng.value(low, high),
            };
            _ = writeln!(text, "global {name} : {low}..{high} = {value}");
        }
        let result = ["-20000..20000", "mod 1000", "mod 1024", "5..40000"][rng.below(4)];
        _ = writeln!(text, "global r : {result} = {}", if result == "5..40000" { 5 } else { 0 });
        let value = wide_number(rng, 3);
        _ = writeln!(
            text,
            "thread T main main {{ procedure main nodes 2 entry 0 exit 1 {{\n0 -> 1 skip do r := \
             {value}\n}} }}"
        );
        return text;
    }
    // Some may begin with any value, so that a step is tried from many states.
    let first = |rng: &mut Rng, value: String| {
        if rng.percent(30) { String::new() } else { format!(" = {value}") }
    };
    for global in 0..2 {
        let ty = NUMBERS[rng.below(NUMBERS.len())];
        let value = first(rng, first_of(ty).to_string());
        _ = writeln!(text, "global g{global} : {ty}{value}");
    }
    let ty = NUMBERS[rng.below(NUMBERS.len())];
    let value = if rng.percent(30) { String::new() } else { format!(" = {}", first_of(ty)) };
    let elements = rng.between(1, 3);
    _ = writeln!(text, "global a[{elements}] : {ty}{value}");
    let truth = ["T", "F"][rng.below(2)];
    _ = writeln!(text, "global b{}", first(rng, truth.to_owned()));
    _ = writeln!(text, "global c : Colour{}", first(rng, "$enum(Colour, Green)".to_owned()));
    _ = writeln!(text, "global w : thread{}", first(rng, "$none".to_owned()));
    let (t, u, k) = (rng.value(-1, 2), rng.below(2), rng.below(6));
    _ = writeln!(text, "global t : -1..2{}", first(rng, t.to_string()));
    _ = writeln!(text, "global u : mod 2{}", first(rng, u.to_string()));
    _ = writeln!(text, "global k : 0..5{}", first(rng, k.to_string()));
    let mut body = Body { rng, calls: false, text: ProcedureText::new(), held: false, elements };
    let end = body.statement(0, 0);
    let (lines, nodes) = (body.text.lines, body.text.next);
    _ = writeln!(
        text,
        "thread T1 main main {{ procedure main nodes {nodes} entry 0 exit {end} {{\n{lines}}} }}"
    );
    text
}

/// A number computed from large ones; factors are narrow enough to be multiplied.
fn wide_number(rng: &mut Rng, depth: usize) -> String {
    if depth == 0 {
        return match rng.below(7) {
            0 => rng.below(300).to_string(),
            1 => "-7".to_owned(),
            at => ["g0", "g1", "p", "q", "s"][at - 2].to_owned(),
        };
    }
    let (left, right) = (wide_number(rng, depth - 1), wide_number(rng, depth - 1));
    match rng.below(9) {
        0 | 1 => format!("({left} + {right})"),
        2 | 3 => format!("({left} - {right})"),
        4 => format!("({left} / {right})"),
        5 => format!("({left} % {right})"),
        6 => format!("({} * {})", ["p", "q"][rng.below(2)], ["p", "q", "-3", "10"][rng.below(4)]),
        7 => format!("$ite({left} < {right}, {left}, -({right}))"),
        _ => left,
    }
}

/// A value of a type of numbers.
fn first_of(ty: &str) -> i32 {
    match ty {
        "2..3" => 2,
        "-2..1" => -1,
        _ => 0,
    }
}

struct Body<'r> {
    rng: &'r mut Rng,
    calls: bool,
    text: ProcedureText,
    held: bool,
    /// How many the array has.
    elements: usize,
}

impl Body<'_> {
    fn leaf(&mut self) -> String {
        match self.rng.below(10) {
            0 | 1 => self.rng.below(4).to_string(),
            2 => "-1".to_owned(),
            3 | 4 => format!("g{}", self.rng.below(2)),
            5 | 6 => "t".to_owned(),
            7 => "k".to_owned(),
            8 => "u".to_owned(),
            _ => "a[u]".to_owned(),
        }
    }

    fn number(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.percent(30) {
            return self.leaf();
        }
        let left = self.number(depth - 1);
        let right = self.number(depth - 1);
        match self.rng.below(12) {
            0..=2 => format!("({left} + {right})"),
            3 | 4 => format!("({left} - {right})"),
            5 => format!("({left} * {right})"),
            6 => format!("({left} / {right})"),
            7 => format!("({left} % {right})"),
            8 => format!("-({left})"),
            9 => {
                let condition = self.condition(depth - 1);
                format!("$ite({condition}, {left}, {right})")
            }
            10 => format!("$choose({left}, {right})"),
            _ => format!("a[{left}]"),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        match self.rng.below(if depth == 0 { 6 } else { 9 }) {
            0 => "b".to_owned(),
            1 => format!("c = $enum(Colour, {})", ["Red", "Green", "Blue"][self.rng.below(3)]),
            2 => format!("w = {}", ["$none", "$me", "$thread(T1)"][self.rng.below(3)]),
            3 => "*".to_owned(),
            4 | 5 => {
                let (left, right) = (self.leaf(), self.number(depth));
                let sign = ["=", "!=", "<", "<="][self.rng.below(4)];
                format!("{left} {sign} {right}")
            }
            6 => format!("!({})", self.condition(depth - 1)),
            _ => {
                let (left, right) = (self.condition(depth - 1), self.condition(depth - 1));
                let sign = ["&", "|", "=>", "^"][self.rng.below(4)];
                format!("(({left}) {sign} ({right}))")
            }
        }
    }

    fn assignment(&mut self) -> String {
        match self.rng.below(11) {
            0..=2 => format!("g{} := {}", self.rng.below(2), self.number(2)),
            3 | 4 => format!("t := {}", self.number(2)),
            5 => format!("k := {}", self.number(2)),
            6 => format!("\"a[{}]\" := {}", self.rng.below(self.elements), self.number(1)),
            7 => format!("b := {}", self.condition(1)),
            8 => {
                let colour = ["Red", "Green", "Blue"][self.rng.below(3)];
                let condition = self.condition(0);
                format!("c := $ite({condition}, $enum(Colour, {colour}), c)")
            }
            9 => format!("w := {}", ["$me", "$none", "w"][self.rng.below(3)]),
            _ => format!("g0, g1 := g1, {}", self.number(1)),
        }
    }

    fn statement(&mut self, from: usize, depth: usize) -> usize {
        match self.rng.below(if depth == 0 { 7 } else { 11 }) {
            0..=2 => {
                let assignment = self.assignment();
                self.text.step(from, &format!("skip do {assignment}"))
            }
            3 | 4 => {
                let condition = self.condition(2);
                self.text.step(from, &format!("assert {condition}"))
            }
            5 => {
                let (condition, assignment) = (self.condition(1), self.assignment());
                self.text.step(from, &format!("skip when {condition} do {assignment}"))
            }
            6 => {
                let sign = ["=", "<", "!="][self.rng.below(3)];
                let value = self.leaf();
                let what = format!("skip do g0, u := {value}, 1 constrain 'g0 {sign} g1 + 'u");
                self.text.step(from, &what)
            }
            7 if self.calls => {
                let value = self.number(1);
                let result = ["t", "g0", "_", "k"][self.rng.below(4)];
                self.text.step(from, &format!("call f({value}) into {result}"))
            }
            7 => self.text.step(from, "skip"),
            8 => {
                let condition = self.condition(0);
                let end = self.statement(from, 0);
                self.text.edge(end, from, &format!("skip when {condition}"));
                self.text.step(end, &format!("skip when !({condition})"))
            }
            9 => {
                let at = self.text.step(from, "begin atomic");
                let at = self.statement(at, 0);
                self.text.step(at, "end atomic")
            }
            _ => {
                if self.held {
                    return self.text.step(from, "skip");
                }
                let at = self.text.step(from, "acquire m");
                self.held = true;
                let at = self.statement(at, 0);
                self.held = false;
                if self.rng.percent(5) { at } else { self.text.step(at, "release m") }
            }
        }
    }
}
