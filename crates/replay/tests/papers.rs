//! The programs of the papers and of the list of their errors, with the answers that are known.

use selvedge_base::{Budget, Id};
use selvedge_program::{
    LocationId, Pattern, PatternQuestion, Program, Question, ThreadId, Units, Verdict,
};
use selvedge_replay::{Exhaustive, replay};
use selvedge_testkit::queries::{all_patterns, describe, figure_2};
use selvedge_testkit::straight::{acquire, begin, end, read, release, straight_line, write};
use selvedge_testkit::{Block, Function, Model, Process, Statement};

const COUNT: usize = 0;
const DATA: usize = 1;

fn pattern(number: u32, units: Units, threads: [usize; 2], locations: &[usize]) -> PatternQuestion {
    PatternQuestion {
        pattern: Pattern::by_number(number).expect("a pattern"),
        units,
        unit_thread: ThreadId::from_index(threads[0]),
        other_thread: ThreadId::from_index(threads[1]),
        locations: locations.iter().map(|&index| LocationId::from_index(index)).collect(),
    }
}

/// Whether the exhaustive engine finds a violation. Violations must replay, and the limit on calls
/// must not matter.
fn is_violated(program: &Program, query: &Question) -> bool {
    match Exhaustive::new(program, 5, Budget::new()).decide(query) {
        Verdict::Violation(schedule) => {
            let trace = replay(program, query, &schedule).expect("the schedule is a run");
            assert_eq!(trace.steps.last().and_then(|step| step.matched), Some(accesses(query)));
            true
        }
        Verdict::Safe => false,
        Verdict::Unknown(why) => panic!("{}: {why}", describe(program, query)),
    }
}

fn accesses(query: &Question) -> u32 {
    match query {
        Question::Pattern(query) => query.pattern.accesses.len() as u32,
        Question::Automaton(automaton) => automaton.phases.len() as u32,
        other => unreachable!("{other:?} has no accesses"),
    }
}

/// The violated pattern queries of the first thread against the second.
fn violated(program: &Program) -> Vec<(u32, Vec<usize>)> {
    let mut found = Vec::new();
    for query in all_patterns(program, Units::Exact) {
        let violated = is_violated(program, &query);
        if let Question::Pattern(query) = query
            && violated
            && query.unit_thread.index() == 0
        {
            let locations = query.locations.iter().map(|location| location.index()).collect();
            found.push((query.pattern.number, locations));
        }
    }
    found
}

/// Two threads that each call `popwrap` once. `wrap_locks` are the locks that the two of them hold
/// during `popwrap`; the stack itself is lock 0.
fn listing_1(pop: &[Statement], wrap_locks: [usize; 2]) -> Program {
    let process = |wrap_lock: usize| {
        let unit = |body: Block| vec![Statement::Unit(body)];
        let branch = Statement::If(vec![Statement::Call(3), Statement::Return], vec![]);
        let functions = vec![
            Function { locks: vec![], body: vec![Statement::Call(1)] },
            Function { locks: vec![wrap_lock], body: unit(vec![Statement::Call(2), branch]) },
            Function { locks: vec![0], body: unit(vec![Statement::Read(COUNT)]) },
            Function { locks: vec![0], body: unit(pop.to_vec()) },
        ];
        Process { functions }
    };
    let processes = wrap_locks.iter().map(|&lock| process(lock)).collect();
    Model { locks: 3, locations: 2, processes }.to_program()
}

/// Paper 000 Listing 1 and Fig. 1.
#[test]
fn listing_1_of_paper_000() {
    use Statement::{Read, Write};
    let program = listing_1(&[Read(COUNT), Read(DATA), Write(DATA), Write(COUNT)], [1, 2]);
    let found = violated(&program);
    for expected in [(1, vec![COUNT]), (2, vec![COUNT]), (12, vec![COUNT, DATA])] {
        assert!(found.contains(&expected), "{expected:?} is missing in {found:?}");
    }
    assert!(!found.contains(&(11, vec![COUNT, DATA])));
    // Java writes the two fields the other way round.
    let java = listing_1(&[Read(COUNT), Read(DATA), Write(COUNT), Write(DATA)], [1, 2]);
    let found = violated(&java);
    assert!(found.contains(&(11, vec![COUNT, DATA])));
    assert!(!found.contains(&(12, vec![COUNT, DATA])));
    // With the right lock there is nothing to find.
    let fixed = listing_1(&[Read(COUNT), Read(DATA), Write(DATA), Write(COUNT)], [0, 0]);
    assert_eq!(violated(&fixed), []);
}

/// Paper 000 Fig. 2: the automaton of pattern 12 on Listing 1.
#[test]
fn figure_2_of_paper_000() {
    use Statement::{Read, Write};
    let query = pattern(12, Units::Paper, [0, 1], &[COUNT, DATA]);
    for (locks, expected) in [([1, 2], true), ([0, 0], false)] {
        let program = listing_1(&[Read(COUNT), Read(DATA), Write(DATA), Write(COUNT)], locks);
        let automaton = figure_2(&program, &query);
        assert_eq!(automaton.phases.len(), 5);
        assert_eq!(is_violated(&program, &Question::Automaton(automaton)), expected);
        assert_eq!(is_violated(&program, &Question::Pattern(query.clone())), expected);
    }
}

/// Paper 003 Fig. 2: 4a and 4b can be reached together, 4a and 7b cannot, although the locks held
/// there are disjoint.
#[test]
fn figure_2_of_paper_003() {
    let (p, q, r) = (0, 1, 2);
    let first = [
        acquire(p),
        acquire(q),
        release(q),
        begin(),
        read(0),
        read(0),
        end(),
        acquire(r),
        release(r),
        release(p),
    ];
    let at_4b = [acquire(q), acquire(r), release(r), write(0), acquire(p), release(p), release(q)];
    let at_7b = [acquire(q), acquire(r), release(r), acquire(p), release(p), write(0), release(q)];
    let query = Question::Pattern(pattern(2, Units::Exact, [0, 1], &[0]));
    assert!(is_violated(&straight_line(&[&first, &at_4b]), &query));
    assert!(!is_violated(&straight_line(&[&first, &at_7b]), &query));
}

/// Paper 004 Fig. 1, twice: `testAndSet` holds the lock around `get` and `set`.
#[test]
fn figure_1_of_paper_004() {
    let function = |body: Block| Function { locks: vec![0], body };
    let branch = Statement::If(vec![Statement::Call(3)], vec![]);
    let functions = vec![
        Function { locks: vec![], body: vec![Statement::Unit(vec![Statement::Call(1)])] },
        function(vec![Statement::Call(2), branch]),
        function(vec![Statement::Read(0)]),
        function(vec![Statement::Write(0)]),
    ];
    let process = Process { functions };
    let model = Model { locks: 1, locations: 1, processes: vec![process.clone(), process] };
    assert_eq!(violated(&model.to_program()), []);
}

/// ERRATA, 000: `R1(c) [2 W2(d) ]2 [2 W2(c) ]2 R1(d)` is serializable, yet Fig. 2 accepts it.
#[test]
fn two_units_of_the_other_thread_are_not_one() {
    let unit_under_test = [begin(), read(COUNT), read(DATA), end()];
    let two_units = [begin(), write(DATA), end(), begin(), write(COUNT), end()];
    let no_unit = [write(DATA), write(COUNT)];
    let one_unit = [begin(), write(DATA), write(COUNT), end()];
    for (other, exact) in [(&two_units[..], false), (&no_unit, false), (&one_unit, true)] {
        let program = straight_line(&[&unit_under_test, other]);
        let query = |units: Units| Question::Pattern(pattern(12, units, [0, 1], &[COUNT, DATA]));
        assert_eq!(is_violated(&program, &query(Units::Exact)), exact);
        assert!(is_violated(&program, &query(Units::Paper)));
    }
    // A single access outside every unit is a unit of its own.
    let program = straight_line(&[&unit_under_test[..], &[write(COUNT), write(COUNT)]]);
    let twice = straight_line(&[&[begin(), read(COUNT), read(COUNT), end()], &[write(COUNT)]]);
    let query = Question::Pattern(pattern(2, Units::Exact, [0, 1], &[COUNT]));
    assert!(!is_violated(&program, &query));
    assert!(is_violated(&twice, &query));
}

/// The two accesses of `u` must lie in one outermost unit; an inner one that ends does not matter.
#[test]
fn units_are_outermost_and_extend_through_calls() {
    let query = Question::Pattern(pattern(2, Units::Exact, [0, 1], &[0]));
    let other: &[_] = &[write(0)];
    let split = [begin(), read(0), end(), begin(), read(0), end()];
    assert!(!is_violated(&straight_line(&[&split, other]), &query));
    let nested = [begin(), begin(), read(0), end(), begin(), read(0), end(), end()];
    assert!(is_violated(&straight_line(&[&nested, other]), &query));
    let outside = [read(0), begin(), read(0), end()];
    assert!(!is_violated(&straight_line(&[&outside, other]), &query));
    let callee = Function { locks: vec![], body: vec![Statement::Read(0)] };
    let main = Function {
        locks: vec![],
        body: vec![Statement::Unit(vec![Statement::Call(1), Statement::Call(1)])],
    };
    let writer = Function { locks: vec![], body: vec![Statement::Write(0)] };
    let processes =
        vec![Process { functions: vec![main, callee] }, Process { functions: vec![writer] }];
    let model = Model { locks: 0, locations: 1, processes };
    assert!(is_violated(&model.to_program(), &query));
}
