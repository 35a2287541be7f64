//! # Idea
//! The globals of the sequential program: `K` copies of each shared variable, the symbolic constants
//! that copies 2 to `K` start with, the number `k` of the current round in binary, and a few flags.
//!
//! # Source
//! Paper 001 §2.1 and §3.2 (i) and (iii). The values that a started thread receives are symbolic
//! constants as well: whoever starts it assumes that they were guessed right.
//!
//! # Invariants
//! 1. Rounds are counted from 0 here and from 1 in names.
//! 2. No name of a global is the name of a local of the program.

use crate::expr::{all, current, join_all, mentions_globals};
use selvedge_base::{IdVec, Place};
use selvedge_lower::Names;
use selvedge_program::{
    Action, Expr, Global, GlobalId, Operator, Program, Start, ThreadId, Variable,
};

/// A shared Boolean in all rounds.
pub struct Copies {
    /// One per round.
    pub rounds: Vec<GlobalId>,
    /// What the copies of the second and later rounds start with.
    pub guesses: Vec<GlobalId>,
}

/// The globals of the sequential program.
pub struct Variables {
    /// The copies of the program's globals.
    pub shared: IdVec<GlobalId, Copies>,
    /// For threads that wait: whether they were started.
    pub started: IdVec<ThreadId, Option<Copies>>,
    /// For threads that wait: the values that they are started with.
    pub arguments: IdVec<ThreadId, Vec<GlobalId>>,
    /// The bits of the round, the lowest first.
    pub round: Vec<GlobalId>,
    /// How deep the thread is inside atomic sections: bit `i` says "deeper than `i`".
    pub atomic: Vec<GlobalId>,
    /// The thread has left; open calls are unwound.
    pub leave: GlobalId,
    /// The target was reached, provided that the guesses were right.
    pub error: GlobalId,
    /// Values on their way into a callee.
    pub passed: Vec<GlobalId>,
    /// Results on their way into globals.
    pub results: Vec<GlobalId>,
    /// Values on their way out of a procedure.
    pub returned: Vec<GlobalId>,
    rounds: u32,
}

impl Variables {
    /// Declares the globals in `out`.
    pub fn declare(program: &Program, rounds: u32, counted: u32, out: &mut Program) -> Self {
        let locals = program.procedures.iter().flat_map(|procedure| &procedure.frame.locals);
        let mut declare = Declare { names: Names::avoiding(locals.map(|l| l.name.as_str())), out };
        let bits = (u32::BITS - (rounds - 1).leading_zeros()) as usize;
        let round = (0..bits).map(|bit| declare.global(&format!("k_{bit}"), Some(false))).collect();
        let shared = program
            .globals
            .iter()
            .map(|global| declare.copies(&global.name, global.initial.map(|one| one != 0), rounds))
            .collect();
        let mut started = IdVec::new();
        let mut arguments = IdVec::new();
        for thread in &program.threads {
            if thread.start == Start::AtFirst {
                started.push(None);
                arguments.push(Vec::new());
                continue;
            }
            let name = format!("{}_started", thread.name);
            started.push(Some(declare.copies(&name, Some(false), rounds)));
            let frame = &program.procedures[thread.main].frame;
            let parameters = frame.locals.iter().take(frame.parameters);
            let name = |local: &str| format!("{}_{local}", thread.name);
            arguments.push(parameters.map(|l| declare.global(&name(&l.name), None)).collect());
        }
        let atomic =
            (0..counted).map(|at| declare.global(&format!("atomic_{}", at + 1), Some(false)));
        let atomic = atomic.collect();
        let leave = declare.global("leave", Some(false));
        let error = declare.global("error", Some(false));
        let widths = Widths::of(program);
        let mut many = |name: &str, count: usize| {
            (1..=count).map(|at| declare.global(&format!("{name}_{at}"), Some(false))).collect()
        };
        let passed = many("pass", widths.passed);
        let results = many("result", widths.results);
        let returned = many("value", widths.returned);
        Self {
            shared,
            started,
            arguments,
            round,
            atomic,
            leave,
            error,
            passed,
            results,
            returned,
            rounds,
        }
    }

    /// All variables with copies.
    pub fn copies(&self) -> impl Iterator<Item = &Copies> {
        self.shared.iter().chain(self.started.iter().flatten())
    }

    /// `k = round`; nothing if there is only one round.
    pub fn in_round(&self, round: u32) -> Option<Expr> {
        all(self.round.iter().enumerate().map(|(bit, &global)| {
            let value = current(global);
            if round >> bit & 1 == 1 { value } else { value.not() }
        }))
    }

    /// `k < K`; nothing if that is never true.
    pub fn not_last(&self) -> Option<Expr> {
        self.in_round(self.rounds - 1).map(Expr::not)
    }

    /// `k := k + 1` as a circuit.
    pub fn increment(&self) -> Vec<(Variable, Expr)> {
        let flipped = self.round.iter().enumerate().map(|(bit, &global)| {
            let value = current(global);
            let flipped = match all(self.round[..bit].iter().map(|&lower| current(lower))) {
                None => value.not(),
                Some(carry) => value.join(Operator::Xor, carry),
            };
            (Variable::Global(global), flipped)
        });
        flipped.collect()
    }

    /// An expression over copy `round` of the globals.
    pub fn at(&self, expr: &Expr, round: u32) -> Expr {
        let mut expr = expr.clone();
        expr.change(&mut |part| {
            if let Expr::Current(variable) | Expr::Next(variable) = part {
                *variable = self.variable_at(*variable, round);
            }
        });
        expr
    }

    /// Copy `round` of a variable; locals have one copy only.
    pub fn variable_at(&self, variable: Variable, round: u32) -> Variable {
        match variable {
            Variable::Global(id) => Variable::Global(self.shared[id].rounds[round as usize]),
            Variable::Local(_) => variable,
        }
    }

    /// The expression over the copy of the current round: `(k = 1 & e_1) | (k = 2 & e_2) | …`.
    pub fn in_current_round(&self, expr: &Expr) -> Expr {
        if !mentions_globals(expr) {
            return expr.clone();
        }
        let cases = (0..self.rounds).map(|round| {
            let case = self.at(expr, round);
            match self.in_round(round) {
                None => case,
                Some(here) => here.join(Operator::And, case),
            }
        });
        join_all(Operator::Or, cases.collect()).expect("there is a round")
    }
}

/// How many temporary globals of each kind are needed.
#[derive(Default)]
struct Widths {
    passed: usize,
    results: usize,
    returned: usize,
}

impl Widths {
    fn of(program: &Program) -> Self {
        let mut widths = Self::default();
        for edge in &program.edges {
            let assigns = edge.update.is_some_and(|id| !program.updates[id].assignments.is_empty());
            match edge.action {
                Action::Call(_) => {
                    let Some(passing) = edge.passing.map(|id| &program.passings[id]) else {
                        continue;
                    };
                    if assigns {
                        widths.passed = widths.passed.max(passing.arguments.len());
                    }
                    let globals = passing.results.iter().flatten();
                    let globals =
                        globals.filter(|target| matches!(target, Variable::Global(_))).count();
                    widths.results = widths.results.max(globals);
                }
                Action::Return(id) if assigns => {
                    widths.returned = widths.returned.max(program.returns[id].len());
                }
                _ => {}
            }
        }
        widths
    }
}

struct Declare<'a> {
    names: Names,
    out: &'a mut Program,
}

impl Declare<'_> {
    fn global(&mut self, name: &str, initial: Option<bool>) -> GlobalId {
        let name = self.names.fresh(name);
        self.out.globals.push(Global::flag(name, Place::NONE, initial))
    }

    fn copies(&mut self, name: &str, initial: Option<bool>, rounds: u32) -> Copies {
        let copy = |declare: &mut Self, round: u32| {
            let initial = if round == 1 { initial } else { Some(false) };
            declare.global(&format!("{name}_{round}"), initial)
        };
        let copies = (1..=rounds).map(|round| copy(self, round)).collect();
        let guess =
            |declare: &mut Self, round: u32| declare.global(&format!("{name}_{round}_guess"), None);
        let guesses = (2..=rounds).map(|round| guess(self, round)).collect();
        Copies { rounds: copies, guesses }
    }
}
