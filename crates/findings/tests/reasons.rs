//! Every sentence that explains a finding, for all patterns, races and deadlocks.

use insta::assert_snapshot;
use selvedge_base::{Id, Place};
use selvedge_findings::reason;
use selvedge_program::moment::races;
use selvedge_program::question::pattern_questions;
use selvedge_program::{
    AccessKind, Deadlock, EdgeId, LocationId, LockId, Move, Program, Question, StepKind, ThreadId,
    Trace, TraceStep, UnitRole, Units, Wait,
};
use std::fmt::Write as _;

fn program() -> Program {
    let text = "lock : a, b, c; var : count, data;
        process T1 { main { skip; } } process T2 { main { skip; } } process T3 { main { skip; } }";
    selvedge_front_eml::parse(text).program.expect("valid")
}

#[test]
fn patterns() {
    let program = program();
    let threads = [0, 1].map(ThreadId::from_index);
    let locations = [0, 1].map(LocationId::from_index);
    let mut shown = String::new();
    for number in 1..=32 {
        let queries = pattern_questions(&program, &[number], Units::Exact, &threads, &locations);
        let query = &queries[0];
        let accesses: Vec<String> = query
            .pattern
            .accesses
            .iter()
            .map(|&access| {
                let kind = if access.kind == AccessKind::Read { 'R' } else { 'W' };
                let prime = if access.role == UnitRole::Unit { "" } else { "'" };
                format!("{kind}{prime}({:?})", access.variable)
            })
            .collect();
        let sentence = reason::atomicity(&program, query);
        let _ = writeln!(shown, "{number:2}  {}\n    {sentence}", accesses.join(" "));
    }
    assert_snapshot!(shown);
}

/// A trace that ends with the threads about to do this.
fn about_to(steps: [(usize, StepKind); 2]) -> Trace {
    let step = |(thread, kind)| {
        let edge = Move::Edge(EdgeId::from_index(thread));
        TraceStep::plain(ThreadId::from_index(thread), edge, kind, Place::NONE)
    };
    Trace { next: steps.map(step).to_vec(), ..Trace::default() }
}

#[test]
fn races_and_deadlocks() {
    let program = program();
    let count = LocationId::from_index(0);
    let race = races(&[0, 1].map(ThreadId::from_index), &[count])[0];
    let (read, write) = (StepKind::Read(count), StepKind::Write(count));
    let mut shown = String::new();
    for steps in [[(0, write), (1, write)], [(0, read), (1, write)], [(0, write), (1, read)]] {
        let sentence = reason::moment(&program, &Question::Race(race), &about_to(steps));
        let _ = writeln!(shown, "{sentence}");
    }
    for length in 2..=3 {
        let waits = (0..length)
            .map(|at| Wait {
                thread: ThreadId::from_index(at),
                holds: LockId::from_index(at).into(),
                wants: LockId::from_index((at + 1) % length).into(),
            })
            .collect();
        let cycle = Question::Deadlock(Deadlock { waits });
        let sentence = reason::moment(&program, &cycle, &Trace::default());
        let _ = writeln!(shown, "{sentence}");
    }
    assert_snapshot!(shown);
}
