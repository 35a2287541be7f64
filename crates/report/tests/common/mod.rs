//! A small program and interleavings of it, made by hand: the reports know no engine.

#![allow(dead_code, reason = "each test file uses a part of it")]

use selvedge_base::{Id, IdVec, Place};
use selvedge_program::{
    Action, AtomicSet, Copies, Edge, Frame, Location, LocationId, Lock, LockId, Move, Pattern,
    PatternQuestion, Procedure, ProcedureId, Program, Question, Start, StepKind, Thread, ThreadId,
    Trace, TraceStep, Units,
};

/// The stack of paper 000, Listing 1, with two threads that call `popwrap`. Each procedure is a
/// straight line of actions, each on a line of its own.
pub fn stack() -> Program {
    let mut program = Program::default();
    for name in ["stack", "wrap"] {
        program.locks.push(Lock::reentrant(name, Place::new(1, 8)));
    }
    let set = program.atomic_sets.push(AtomicSet { name: "S".to_owned() });
    for (name, column) in [("count", 7), ("data", 14)] {
        let place = Place::new(2, column);
        program.locations.push(Location { name: name.to_owned(), place, atomic_set: set });
    }
    let (count, data) = (LocationId::from_index(0), LocationId::from_index(1));
    let (stack, wrap) = (LockId::from_index(0), LockId::from_index(1));
    for thread in ["T1", "T2"] {
        let first = program.procedures.len();
        let callee = |offset: usize| Action::Call(ProcedureId::from_index(first + offset));
        let line = program.edges.len() as u32 + 4;
        let id = program.threads.push(Thread {
            name: thread.to_owned(),
            place: Place::new(line - 1, 9),
            main: ProcedureId::from_index(first + 3),
            start: Start::AtFirst,
            copies: Copies::One,
        });
        let mut procedure =
            |name: &str, actions: &[Action]| add_procedure(&mut program, id, name, actions);
        procedure("size", &[Action::Acquire(stack), Action::Read(count), Action::Release(stack)]);
        procedure(
            "pop",
            &[
                Action::Acquire(stack),
                Action::Read(count),
                Action::Read(data),
                Action::Write(data),
                Action::Write(count),
                Action::Release(stack),
            ],
        );
        procedure(
            "popwrap",
            &[
                Action::Acquire(wrap),
                Action::BeginUnit,
                callee(0),
                Action::Skip,
                callee(1),
                Action::EndUnit,
                Action::Release(wrap),
            ],
        );
        procedure("main", &[callee(2), callee(3)]);
        procedure("unused", &[Action::Skip]);
    }
    program
}

fn add_procedure(program: &mut Program, thread: ThreadId, name: &str, actions: &[Action]) {
    let line = program.edges.len() as u32 + 4;
    let id = program.procedures.next_id();
    let entry = program.nodes.push(id);
    let mut source = entry;
    for (offset, &action) in actions.iter().enumerate() {
        let target = program.nodes.push(id);
        let place = Place::new(line + offset as u32, 9);
        program.edges.push(Edge {
            source,
            target,
            action,
            update: None,
            passing: None,
            place,
            volatile: false,
        });
        source = target;
    }
    program.procedures.push(Procedure {
        name: name.to_owned(),
        owner: Some(thread),
        place: Place::new(line, 5),
        end: Place::new(line + actions.len() as u32, 5),
        entry,
        exit: source,
        frame: Frame::default(),
    });
}

/// Reads an interleaving: one step per line, as in `T1 read count 13 *1`. A line with a thread only
/// is a step without an event.
pub fn trace(program: &Program, text: &str) -> Trace {
    let steps = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let matched = words.pop_if(|word| word.starts_with('*')).map(|word| number(&word[1..]));
        let line = words.pop_if(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        let thread = find(&program.threads, words[0], |thread| &thread.name);
        let lock = |name| find(&program.locks, name, |lock| &lock.name);
        let location = |name| find(&program.locations, name, |location| &location.name);
        let procedure = |name| {
            let own =
                |procedure: &Procedure| procedure.owner == Some(thread) && procedure.name == name;
            let at = program.procedures.iter().position(own).expect("a procedure");
            ProcedureId::from_index(at)
        };
        let kind = match words[1..] {
            ["begin"] => StepKind::BeginUnit,
            ["end"] => StepKind::EndUnit,
            ["acquire", name] => StepKind::Acquire(lock(name)),
            ["release", name] => StepKind::Release(lock(name)),
            ["read", name] => StepKind::Read(location(name)),
            ["write", name] => StepKind::Write(location(name)),
            ["call", name] => StepKind::Call(procedure(name)),
            ["return", name] => StepKind::Return(procedure(name)),
            _ => StepKind::Step,
        };
        let place = line.map_or(Place::NONE, |line| Place::new(number(line), 9));
        TraceStep { matched, ..TraceStep::plain(thread, Move::Return, kind, place) }
    });
    Trace { steps: steps.collect(), ..Trace::default() }
}

/// The query of a pattern on T1 and T2.
pub fn query(number: u32, locations: &[usize]) -> Question {
    Question::Pattern(PatternQuestion {
        pattern: Pattern::by_number(number).expect("1 to 32"),
        units: Units::Exact,
        unit_thread: ThreadId::from_index(0),
        other_thread: ThreadId::from_index(1),
        locations: locations.iter().map(|&index| LocationId::from_index(index)).collect(),
    })
}

/// The interleaving of paper 000 Fig. 1, in the order of accesses of this model.
pub const FIGURE_1: &str = "
    T1 call popwrap 20
    T1 acquire wrap 13
    T1 begin 14
    T1 call size 15
    T1 acquire stack 4
    T1 read count 5 *1
    T1 release stack 6
    T1 return size 7
    T1 16
    T2 call main 41
    T2 41
    T2 call pop 36
    T2 acquire stack 26
    T2 read count 27
    T2 read data 28
    T2 write data 29 *2
    T2 write count 30 *3
    T2 release stack 31
    T2 return pop 32
    T1 call pop 17
    T1 acquire stack 7
    T1 read count 8
    T1 read data 9 *4
";

fn find<I: Id, T>(items: &IdVec<I, T>, wanted: &str, name: impl Fn(&T) -> &String) -> I {
    let found = items.iter_enumerated().find(|(_, item)| name(item) == wanted);
    found.unwrap_or_else(|| panic!("{wanted}")).0
}

fn number(digits: &str) -> u32 {
    digits.parse().expect("digits")
}
