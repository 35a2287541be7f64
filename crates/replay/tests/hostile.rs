//! Wrong queries, wrong schedules, endless searches: an answer always comes, and it says why.

use selvedge_base::{Budget, Id, Place, StopReason};
use selvedge_program::{
    Action, Edge, EdgeId, IndexedSymbol, Ipa, LocationId, Move, NodeId, Observable, Pattern,
    PatternQuestion, Phase, Question, ThreadId, Units, Unknown, Verdict, Witness, WitnessStep,
    text,
};
use selvedge_replay::{Exhaustive, replay};
use selvedge_testkit::straight::{acquire, begin, end, read, release, straight_line, write};
use selvedge_testkit::{Function, Model, Process, Statement};
use std::collections::BTreeSet;

fn query(threads: [usize; 2], locations: &[usize]) -> Question {
    let pattern = Pattern::by_number(if locations.len() == 1 { 2 } else { 12 }).expect("a pattern");
    Question::Pattern(PatternQuestion {
        pattern,
        units: Units::Exact,
        unit_thread: ThreadId::from_index(threads[0]),
        other_thread: ThreadId::from_index(threads[1]),
        locations: locations.iter().map(|&index| LocationId::from_index(index)).collect(),
    })
}

/// Values decide: the second read is possible only behind the write, or only before.
#[test]
fn programs_with_data_are_searched_with_it() {
    let verdict = |value: u32| {
        let text = format!(
            "program set s {{ x }} global x : 0..1 = 0 location x
            thread A main main {{ procedure main nodes 5 entry 0 exit 4 {{
                0 -> 1 begin 1 -> 2 read x when x = 0 2 -> 3 read x when x = {value} 3 -> 4 end }} }}
            thread B main main {{ procedure main nodes 2 entry 0 exit 1 {{
                0 -> 1 write x do x := 1 }} }}"
        );
        let program = text::parse(&text).0.expect("a program");
        let question = query([0, 1], &[0]);
        let verdict = Exhaustive::new(&program, 3, Budget::new()).decide(&question);
        if let Verdict::Violation(witness) = &verdict {
            replay(&program, &question, witness).expect("it is a run");
        }
        verdict.word()
    };
    assert_eq!((verdict(0), verdict(1)), ("safe", "violation"));
}

#[test]
fn queries_that_say_nothing_are_refused() {
    let program = straight_line(&[&[read(0), write(1)], &[write(0)]]);
    let symbol = |thread: usize, symbol: Observable| IndexedSymbol {
        thread: ThreadId::from_index(thread),
        symbol,
    };
    let automaton = |advance: IndexedSymbol, loops: &[IndexedSymbol]| {
        let loops: BTreeSet<IndexedSymbol> = loops.iter().copied().collect();
        let phases = vec![Phase { name: "q1".to_owned(), loops, advance }];
        Question::Automaton(Ipa { name: "bad".to_owned(), phases })
    };
    let begin = symbol(0, Observable::BeginUnit);
    let nowhere = Observable::Read(LocationId::from_index(7));
    let empty = Question::Automaton(Ipa { name: "empty".to_owned(), phases: vec![] });
    let cases = [
        (query([0, 0], &[0]), "the two threads of the query are the same"),
        (query([0, 2], &[0]), "the query names thread 2, which does not exist"),
        (query([0, 1], &[5]), "the query names location 5, which does not exist"),
        (query([0, 1], &[1, 1]), "the two locations of the query are the same"),
        (query([0, 1], &[]), "pattern 12 has 2 locations, but 0 are given"),
        (empty, "the automaton has no phase transition"),
        (automaton(symbol(0, nowhere), &[]), "the query names location 7, which does not exist"),
        (
            automaton(begin, &[symbol(3, Observable::EndUnit)]),
            "the query names thread 3, which does not exist",
        ),
    ];
    for (query, expected) in cases {
        let error = replay(&program, &query, &Witness::default()).expect_err(expected);
        assert_eq!(error.to_string(), expected);
        let verdict = Exhaustive::new(&program, 3, Budget::new()).decide(&query);
        assert_eq!(verdict, Verdict::Unknown(Unknown::Unsupported(expected.to_owned())));
    }
}

/// Edges 0 to 6 are those of `T1`, 7 to 9 those of `T2`.
#[test]
fn errors_name_the_step_and_the_reason() {
    let program = straight_line(&[
        &[begin(), acquire(0), read(0), read(0), end(), begin(), read(0)],
        &[acquire(0), write(0), release(0)],
    ]);
    let query = query([0, 1], &[0]);
    let step = |thread: usize, edge: usize, mark: u32| {
        let edge = Move::Edge(EdgeId::from_index(edge));
        WitnessStep::plain(ThreadId::from_index(thread), edge, (mark > 0).then_some(mark))
    };
    let message = |steps: &[WitnessStep]| {
        let schedule = Witness::plain(steps.to_vec());
        replay(&program, &query, &schedule).expect_err("not a violation").to_string()
    };
    let t1 = |edge: usize, mark: u32| step(0, edge, mark);
    let t2 = |edge: usize, mark: u32| step(1, edge, mark);
    assert_eq!(message(&[]), "only 0 of the 3 accesses of the query occur");
    assert_eq!(
        message(&[t1(0, 0), t1(1, 0), t2(7, 0)]),
        "step 3: T2 cannot acquire l0 at 2:1: l0 is owned by T1"
    );
    assert_eq!(
        message(&[t1(1, 0)]),
        "step 1: T1 cannot acquire l0 at 1:2: the thread is not where the edge starts"
    );
    assert_eq!(message(&[t1(99, 0)]), "step 1: T1 cannot take edge 99: there is no such edge");
    assert_eq!(
        message(&[step(8, 0, 0)]),
        "step 1: thread 8 cannot begin a unit at 1:1: there is no such thread"
    );
    let early = WitnessStep { step: Move::Return, ..t1(0, 0) };
    assert_eq!(
        message(&[early]),
        "step 1: T1 cannot return: the thread is not at the exit of a procedure"
    );
    assert_eq!(message(&[t1(0, 2)]), "step 1: it is marked 2, but the next access is 1");
    assert_eq!(
        message(&[t1(0, 1)]),
        "step 1: access 1 is the read of x0 by T1, but this is the begin of a unit of T1"
    );
    assert_eq!(
        message(&[t2(7, 1)]),
        "step 1: access 1 is the read of x0 by T1, but this is a step of T2 that is no such event"
    );
    assert_eq!(
        message(&[t2(7, 0), t2(8, 0), t2(9, 0), t1(0, 0), t1(1, 0), t1(2, 1), t1(3, 2)]),
        "step 7: access 2 is the write of x0 by T2, but this is the read of x0 by T1"
    );
}

#[test]
fn errors_about_units_name_both_units() {
    let program =
        straight_line(&[&[read(0), begin(), read(0), end(), begin(), read(0), end()], &[write(0)]]);
    let query = query([0, 1], &[0]);
    let steps = |marks: [u32; 7]| {
        let step = |thread: usize, edge: usize, mark: u32| {
            let edge = Move::Edge(EdgeId::from_index(edge));
            WitnessStep::plain(ThreadId::from_index(thread), edge, (mark > 0).then_some(mark))
        };
        let mut steps = Vec::new();
        for (edge, mark) in marks.into_iter().enumerate() {
            if mark == 3 {
                steps.push(step(1, 7, 2));
            }
            steps.push(step(0, edge, mark));
        }
        Witness::plain(steps)
    };
    let message = |marks: [u32; 7]| {
        replay(&program, &query, &steps(marks)).expect_err("not one unit").to_string()
    };
    assert_eq!(message([1, 0, 3, 0, 0, 0, 0]), "step 1: access 1 is outside every unit of work");
    assert_eq!(
        message([0, 0, 1, 0, 0, 3, 0]),
        "step 7: access 3 is in the unit that began at step 5, but the first access of T1 is in the \
         one that began at step 2"
    );
}

#[test]
fn a_raised_interrupt_stops_the_search() {
    let program = straight_line(&[&[begin(), read(0), read(0), end()], &[write(0)]]);
    let budget = Budget::new();
    let mut engine = Exhaustive::new(&program, 3, budget.clone());
    assert!(matches!(engine.decide(&query([0, 1], &[0])), Verdict::Violation(_)));
    assert!(engine.states() > 0);
    budget.raise(StopReason::Memory);
    let stopped = Verdict::Unknown(Unknown::Stopped(StopReason::Memory));
    assert_eq!(engine.decide(&query([0, 1], &[0])), stopped);
}

/// A loop that opens one unit after the other has endlessly many configurations.
#[test]
fn an_endless_search_ends_when_interrupted() {
    let mut program = straight_line(&[&[begin(), read(0), write(0)], &[write(0)]]);
    let back = Edge {
        source: NodeId::from_index(1),
        target: NodeId::from_index(0),
        action: Action::Skip,
        update: None,
        passing: None,
        place: Place::NONE,
        volatile: false,
    };
    let mut edges: Vec<Edge> = program.edges.iter().cloned().collect();
    edges.insert(3, back);
    program.edges = edges.into_iter().collect();
    let budget = Budget::new();
    let watch = budget.clone();
    let watcher = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(20));
        watch.raise(StopReason::Timeout);
    });
    // Pattern 5 needs two writes of one unit, and there is only one.
    let mut query = query([0, 1], &[0]);
    if let Question::Pattern(query) = &mut query {
        query.pattern = Pattern::by_number(5).expect("a pattern");
    }
    let verdict = Exhaustive::new(&program, 3, budget).decide(&query);
    assert_eq!(verdict, Verdict::Unknown(Unknown::Stopped(StopReason::Timeout)));
    watcher.join().expect("the watcher only sleeps");
}

/// Whether a call was left out decides between `safe` and `unknown`; a branch that a finished unit
/// has made hopeless does not count.
#[test]
fn the_limit_on_calls_is_reported() {
    let recursive = |body: Vec<Statement>| {
        let functions = vec![
            Function { locks: vec![], body },
            Function {
                locks: vec![],
                body: vec![Statement::If(vec![Statement::Call(1)], vec![]), Statement::Read(0)],
            },
        ];
        let writer = Function { locks: vec![], body: vec![Statement::Write(0)] };
        let processes = vec![Process { functions }, Process { functions: vec![writer] }];
        Model { locks: 0, locations: 1, processes }.to_program()
    };
    let decide = |program: &_, call_depth: u32| {
        Exhaustive::new(program, call_depth, Budget::new()).decide(&query([0, 1], &[0]))
    };
    // There are two reads only if f1 calls itself.
    let program = recursive(vec![Statement::Unit(vec![Statement::Call(1)])]);
    assert_eq!(decide(&program, 0), Verdict::Unknown(Unknown::CallDepth(0)));
    assert_eq!(decide(&program, 1), Verdict::Unknown(Unknown::CallDepth(1)));
    assert!(matches!(decide(&program, 2), Verdict::Violation(_)));
    // No unit, so no limit is met: the query is ruled out.
    let program = recursive(vec![Statement::Call(1)]);
    assert_eq!(decide(&program, 1), Verdict::Safe);
    // The recursion before the unit is met, whatever comes later.
    let program = recursive(vec![Statement::Call(1), Statement::Unit(vec![Statement::Skip])]);
    assert_eq!(decide(&program, 4), Verdict::Unknown(Unknown::CallDepth(4)));
}
