//! # Idea
//! Rules, initial state and target in terms of a program, see the documentation of the crate.
//!
//! An initial stack of several symbols is built up by the thread itself: for each symbol but the top
//! there is a procedure whose first node, labelled with the *top* symbol, calls the next one. So the
//! top that can be seen is right from the beginning.
//!
//! The empty stack is a place where a thread can be, if the thread begins there or has rules there:
//! its main is then a node labelled `-`, which pushed symbols come back to. Other threads end when
//! their stack is empty.
//!
//! # Invariants
//! 1. Every node but exits has exactly one label; only a node that stands for the empty stack has the
//!    label `-`, and a thread with such a node never ends.
//! 2. Every edge has its own update and its own return, as in the text form of programs.
//! 3. Rules that no symbol on the stack can ever use are left out.

use crate::state::{Number, Stack, State};
use crate::system::{Rule, System, Thread, Word};
use selvedge_base::{Diagnostic, Id, Place, Severity};
use selvedge_program::{
    Action, Copies, Edge, Expr, Frame, Global, GlobalId, Label, NodeId, Numeral, Operator,
    Position, Procedure, ProcedureId, Program, Sharing, Start, StatePattern, Target, ThreadId,
    Update, UpdateId, Value, Variable,
};
use selvedge_syntax::complaints::Complaints;
use std::collections::BTreeMap;

/// How many nodes and edges a program may have.
pub const LARGEST: usize = 1 << 18;

/// The label of nodes that stand for the empty stack.
const EMPTY: &str = "-";

/// How many symbols an initial stack may have.
const DEEPEST: usize = 1000;

/// The shared state and the stacks at first, from bottom to top.
pub struct Initial {
    shared: u32,
    stacks: Vec<Vec<u32>>,
}

/// Checks that an initial state fits the rules.
pub fn check_initial(
    system: &System,
    state: &State,
    complaints: &mut Complaints,
) -> Option<Initial> {
    check_shared(system.states, state.shared, complaints)?;
    check_number(system.threads.len(), state, complaints)?;
    for (at, (stack, thread)) in state.stacks.iter().zip(&system.threads).enumerate() {
        if stack.symbols.len() > DEEPEST {
            let message = format!("an initial stack has at most {DEEPEST} symbols");
            complaints.push(Diagnostic::error("stack-too-deep", message, stack.span, "too deep"));
            return None;
        }
        for symbol in &stack.symbols {
            if !thread.knows(symbol.value) {
                complaints.push(unknown_symbol(at, *symbol).with_severity(Severity::Warning));
            }
        }
    }
    let values = |stack: &Stack| stack.symbols.iter().map(|symbol| symbol.value).collect();
    Some(Initial { shared: state.shared.value, stacks: state.stacks.iter().map(values).collect() })
}

fn check_shared(states: u32, shared: Number, complaints: &mut Complaints) -> Option<()> {
    if shared.value < states {
        return Some(());
    }
    let message = format!("there is no shared state {}", shared.value);
    complaints.push(
        Diagnostic::error("unknown-state", message, shared.span, "unknown")
            .with_help(format!("the shared states are 0 to {}", states - 1)),
    );
    None
}

fn check_number(threads: usize, state: &State, complaints: &mut Complaints) -> Option<()> {
    if state.stacks.len() == threads {
        return Some(());
    }
    let count = state.stacks.len();
    let message = format!("the number of stacks is {count}, and that of the threads {threads}");
    let remark = "one stack per thread, separated by `,`";
    complaints.push(Diagnostic::error("thread-count", message, state.span, remark));
    None
}

fn unknown_symbol(thread: usize, symbol: Number) -> Diagnostic {
    let message = format!("thread T{} has no stack symbol {}", thread + 1, symbol.value);
    Diagnostic::error("unknown-symbol", message, symbol.span, "unknown")
}

/// The target that a state describes. Symbols are checked against the rules, if they are given, or
/// else against the labels of the program.
pub fn target(
    program: &Program,
    system: Option<&System>,
    state: &State,
    complaints: &mut Complaints,
) -> Option<Target> {
    let Some(numeral) = program.numerals.first() else {
        let message = "the program does not come from a pushdown system";
        complaints.push(Diagnostic::global("no-shared-state", Severity::Error, message));
        return None;
    };
    let bits = numeral.bits.len() as u32;
    let states = system.map_or(1u32.checked_shl(bits).unwrap_or(u32::MAX), |system| system.states);
    check_shared(states, state.shared, complaints)?;
    check_number(program.threads.len(), state, complaints)?;
    let labelled = labelled(program);
    let mut threads: Vec<Position> = Vec::new();
    for (at, stack) in state.stacks.iter().enumerate() {
        let thread = ThreadId::from_index(at);
        threads.push(match stack.symbols[..] {
            [] => labelled
                .get(&(thread, EMPTY))
                .map_or(Position::Ended, |nodes| Position::At(nodes.clone())),
            [symbol] => {
                let name = symbol.value.to_string();
                let nodes = labelled.get(&(thread, name.as_str())).cloned().unwrap_or_default();
                match system {
                    None if nodes.is_empty() => complaints.push(unknown_symbol(at, symbol)),
                    Some(system) if !system.threads[at].knows(symbol.value) => {
                        complaints
                            .push(unknown_symbol(at, symbol).with_severity(Severity::Warning));
                    }
                    _ => {}
                }
                Position::At(nodes)
            }
            _ => {
                let message = "a target names no more than the top of a stack";
                complaints.push(
                    Diagnostic::error("target-too-deep", message, stack.span, "several symbols")
                        .with_help("name the last of these symbols only, which is the top"),
                );
                return None;
            }
        });
    }
    let value =
        |(at, &bit): (usize, &GlobalId)| (bit, Value::from(state.shared.value >> at & 1 == 1));
    let globals = numeral.bits.iter().enumerate().map(value).collect();
    let threads = threads.into_iter().collect();
    Some(Target::State(StatePattern { globals, locks: Vec::new(), threads }))
}

/// The nodes with each label, by thread.
fn labelled(program: &Program) -> BTreeMap<(ThreadId, &str), Vec<NodeId>> {
    let mut labelled: BTreeMap<(ThreadId, &str), Vec<NodeId>> = BTreeMap::new();
    let sharing = Sharing::new(program);
    for label in &program.labels {
        for &thread in sharing.threads_at(program, label.node) {
            labelled.entry((thread, &label.name)).or_default().push(label.node);
        }
    }
    labelled
}

/// Makes the program.
pub fn build(system: &System, initial: &Initial, complaints: &mut Complaints) -> Option<Program> {
    let bits = (u32::BITS - (system.states - 1).leading_zeros()).max(1);
    let mut program = Program::default();
    for bit in 0..bits {
        let first = Some(initial.shared >> bit & 1 == 1);
        program.globals.push(Global::flag(format!("q{bit}"), Place::NONE, first));
    }
    let numeral = Numeral { name: "q".to_owned(), bits: program.globals.ids().collect() };
    program.numerals.push(numeral);
    let mut builder = Builder { program, bits };
    for (at, (thread, stack)) in system.threads.iter().zip(&initial.stacks).enumerate() {
        if builder.thread(at, thread, stack).is_none() {
            let message = format!("the program is too large: more than {LARGEST} nodes or edges");
            complaints.push(
                Diagnostic::global("program-too-large", Severity::Error, message)
                    .with_help("every symbol that is pushed on top is a procedure of its own"),
            );
            return None;
        }
    }
    Some(builder.program)
}

struct Builder {
    program: Program,
    bits: u32,
}

/// The procedures of a thread: where each symbol is entered.
struct Entries {
    first: usize,
    numbers: BTreeMap<u32, ProcedureId>,
    symbols: Vec<u32>,
}

impl Entries {
    fn procedure(&mut self, symbol: u32) -> ProcedureId {
        *self.numbers.entry(symbol).or_insert_with(|| {
            self.symbols.push(symbol);
            ProcedureId::from_index(self.first + self.symbols.len() - 1)
        })
    }
}

impl Builder {
    /// Adds a thread; `None` if the program gets too large.
    fn thread(&mut self, at: usize, thread: &Thread, stack: &[u32]) -> Option<()> {
        let id = ThreadId::from_index(at);
        let mut rules: BTreeMap<u32, Vec<&Rule>> = BTreeMap::new();
        let mut on_empty: Vec<&Rule> = Vec::new();
        for rule in &thread.rules {
            match rule.top {
                Some(top) => rules.entry(top).or_default().push(rule),
                None => on_empty.push(rule),
            }
        }
        let main = self.program.procedures.next_id();
        self.program.threads.push(selvedge_program::Thread {
            name: format!("T{}", at + 1),
            place: thread.place,
            main,
            start: Start::AtFirst,
            copies: Copies::One,
        });
        let top = stack.last().copied();
        let lower = &stack[..stack.len().saturating_sub(1)];
        let bottom = top.is_none() || !on_empty.is_empty();
        let first = main.index() + usize::from(bottom) + lower.len();
        let mut entries = Entries { first, numbers: BTreeMap::new(), symbols: Vec::new() };
        if let Some(top) = top {
            entries.procedure(top);
        }
        if bottom {
            let entry = top.map(|top| self.initial(top, thread.place));
            self.bottom(id, thread, &on_empty, &mut entries, entry)?;
        }
        for (at, &symbol) in lower.iter().enumerate() {
            let entry = self.initial(top.unwrap_or(symbol), thread.place);
            let name = format!("initial{at}");
            self.body(id, thread, &rules, &mut entries, (name, entry, symbol))?;
        }
        let mut done = 0;
        while done < entries.symbols.len() {
            let symbol = entries.symbols[done];
            let entry = self.program.nodes.next_id();
            let name = symbol.to_string();
            self.body(id, thread, &rules, &mut entries, (name, entry, symbol))?;
            done += 1;
        }
        Some(())
    }

    /// The first node of a procedure that builds up an initial stack: the top is seen, the next
    /// procedure is called, and what is below the top follows as the next node.
    fn initial(&mut self, top: u32, place: Place) -> NodeId {
        let entry = self.node();
        self.label(entry, top.to_string());
        let next = ProcedureId::from_index(self.program.procedures.len() + 1);
        self.program.edges.push(Edge {
            source: entry,
            target: self.program.nodes.next_id(),
            action: Action::Call(next),
            update: None,
            passing: None,
            place,
            volatile: false,
        });
        entry
    }

    /// Adds the procedure below all others: its node is the empty stack.
    fn bottom(
        &mut self,
        id: ThreadId,
        thread: &Thread,
        rules: &[&Rule],
        entries: &mut Entries,
        entry: Option<NodeId>,
    ) -> Option<()> {
        let empty = self.node();
        self.label(empty, EMPTY.to_owned());
        let exit = self.node();
        for rule in rules {
            let action = match rule.word {
                Word::Pop => Action::Skip,
                Word::Step(symbol) | Word::Push(symbol, _) => {
                    Action::Call(entries.procedure(symbol))
                }
            };
            let update = Some(self.update(rule.from, rule.to));
            let (source, target, place) = (empty, empty, rule.place);
            let (passing, volatile) = (None, false);
            let edge = Edge { source, target, action, update, passing, place, volatile };
            self.program.edges.push(edge);
        }
        let name = "empty".to_owned();
        self.procedure(name, id, thread.place, entry.unwrap_or(empty), exit);
        let size = self.program.nodes.len().max(self.program.edges.len());
        (size <= LARGEST).then_some(())
    }

    /// Adds the nodes and edges of what can be reached from a symbol within its procedure.
    fn body(
        &mut self,
        id: ThreadId,
        thread: &Thread,
        rules: &BTreeMap<u32, Vec<&Rule>>,
        entries: &mut Entries,
        (name, entry, symbol): (String, NodeId, u32),
    ) -> Option<()> {
        let first = self.program.nodes.next_id();
        let procedure = self.program.procedures.next_id();
        let mut symbols = vec![symbol];
        let mut places: BTreeMap<u32, usize> = BTreeMap::from([(symbol, 0)]);
        let mut at = 0;
        while at < symbols.len() {
            for rule in rules.get(&symbols[at]).into_iter().flatten() {
                if let Word::Step(next) | Word::Push(_, next) = rule.word {
                    places.entry(next).or_insert_with(|| {
                        symbols.push(next);
                        symbols.len() - 1
                    });
                }
            }
            at += 1;
        }
        if self.program.nodes.len() + symbols.len() > LARGEST {
            return None;
        }
        for &symbol in &symbols {
            let node = self.program.nodes.push(procedure);
            self.label(node, symbol.to_string());
        }
        let exit = self.program.nodes.push(procedure);
        let node = |symbol: u32| NodeId::from_index(first.index() + places[&symbol]);
        for &symbol in &symbols {
            for rule in rules.get(&symbol).into_iter().flatten() {
                let (target, action) = match rule.word {
                    Word::Pop => (exit, Action::Return(self.program.returns.push(Vec::new()))),
                    Word::Step(next) => (node(next), Action::Skip),
                    Word::Push(top, next) => (node(next), Action::Call(entries.procedure(top))),
                };
                let update = Some(self.update(rule.from, rule.to));
                let (source, place) = (node(symbol), rule.place);
                let edge =
                    Edge { source, target, action, update, passing: None, place, volatile: false };
                self.program.edges.push(edge);
            }
            if self.program.edges.len() > LARGEST {
                return None;
            }
        }
        self.procedure(name, id, thread.place, entry, exit);
        Some(())
    }

    /// A node of the procedure that is added next.
    fn node(&mut self) -> NodeId {
        let procedure = self.program.procedures.next_id();
        self.program.nodes.push(procedure)
    }

    fn label(&mut self, node: NodeId, name: String) {
        self.program.labels.push(Label { name, node, place: Place::NONE });
    }

    fn procedure(
        &mut self,
        name: String,
        thread: ThreadId,
        place: Place,
        entry: NodeId,
        exit: NodeId,
    ) {
        let frame = Frame::default();
        let procedure =
            Procedure { name, owner: Some(thread), place, end: place, entry, exit, frame };
        self.program.procedures.push(procedure);
    }

    /// The update with the guard `q = from` and the assignment `q := to`.
    fn update(&mut self, from: u32, to: u32) -> UpdateId {
        let variable = |bit: u32| Variable::Global(GlobalId::from_index(bit as usize));
        let literals = (0..self.bits).map(|bit| {
            let value = Expr::Current(variable(bit));
            if from >> bit & 1 == 1 { value } else { value.not() }
        });
        let guard = literals.reduce(|left, right| left.join(Operator::And, right));
        let changed = (0..self.bits).filter(|bit| (from ^ to) >> bit & 1 == 1);
        let assignments =
            changed.map(|bit| (variable(bit), Expr::truth(to >> bit & 1 == 1))).collect();
        self.program.updates.push(Update { guard, assignments, constraint: None })
    }
}
