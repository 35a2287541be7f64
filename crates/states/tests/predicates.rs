//! Paper 002 §4.1: predicates that break what is assumed of them, one file each, in every reduction.

use selvedge_base::{Budget, Id};
use selvedge_program::{FailureKind, Program, Question, Target, text};
use selvedge_replay::replay;
use selvedge_states::{Code, Goal, Reduction, SearchEnd, SearchOptions, StateSearch};
use std::collections::BTreeSet;
use std::path::Path;

fn read(name: &str) -> Program {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name);
    let (program, problems) = text::parse(&std::fs::read_to_string(file).expect("a program"));
    program.unwrap_or_else(|| panic!("{name}: {problems:?}"))
}

/// The edges that fail, all of them because of an annotation; one run is executed.
fn failing(name: &str, reduction: Reduction) -> BTreeSet<Option<usize>> {
    let program = read(name);
    let options = SearchOptions { reduction, ..SearchOptions::default() };
    let code = Code::new(&program, &BTreeSet::new());
    let mut search = StateSearch::new(&code, Goal::Failure, options, Budget::new());
    if let SearchEnd::Found(found) = search.run() {
        let witness = search.witness(&found).expect("there is a run");
        replay(&program, &Question::Reach(Target::Assertion), &witness).expect("it is a run");
    }
    let mut search = StateSearch::new(&code, Goal::Failure, options, Budget::new());
    search.collect = true;
    assert!(matches!(search.run(), SearchEnd::Complete));
    let kinds = search.failures.iter().map(|(_, kind)| *kind);
    assert!(kinds.clone().all(|kind| kind == FailureKind::Annotation), "{:?}", search.failures);
    search.failures.iter().map(|(site, _)| site.edge().map(Id::index)).collect()
}

/// The edge that does this.
fn edge(name: &str, thread: usize, number: usize) -> Option<usize> {
    let program = read(name);
    let own = program.threads[selvedge_program::ThreadId::from_index(thread)].main;
    let mut edges = program.edges.iter_enumerated();
    let first = edges.find(|(_, edge)| program.nodes[edge.source] == own)?.0;
    Some(first.index() + number)
}

fn check(name: &str, expected: &[(usize, usize)]) {
    let expected: BTreeSet<_> = expected.iter().map(|&(a, b)| edge(name, a, b)).collect();
    for reduction in [Reduction::Transactions, Reduction::LeftMovers, Reduction::None] {
        assert_eq!(failing(name, reduction), expected, "{name} {reduction:?}");
    }
}

#[test]
fn no_two_threads_are_exclusive() {
    // The step that makes it true of both; nothing behind it happens.
    check("predicate-of-two.slv", &[(0, 0)]);
}

#[test]
fn nobody_changes_the_predicate_of_another_thread() {
    check("predicate-of-another.slv", &[(1, 0)]);
}

#[test]
fn an_access_needs_the_predicate_also_where_it_blocks() {
    check("predicate-of-nobody.slv", &[(1, 0)]);
}

#[test]
fn what_keeps_to_its_predicate_does_not_fail() {
    check("predicate-kept.slv", &[]);
}
