//! How many states the models of `bench/models` have: with transactions as many as critical sections
//! leave that were made atomic by hand; without a reduction, in small sizes of the models of BEEM, as
//! many as SPIN counts for the Promela text beside them (the large sizes are measured by `cargo xtask
//! bench transactions`).

use selvedge_base::Budget;
use selvedge_program::Program;
use selvedge_states::{Code, Goal, Reduction, SearchEnd, SearchOptions, StateCounts, StateSearch};
use std::collections::BTreeSet;

const COUNTER: &str = include_str!("../../../bench/models/counter.eml");
const BANK: &str = include_str!("../../../bench/models/bank.eml");
const PRODUCER_CONSUMER: &str = include_str!("../../../bench/models/producer-consumer.eml");
const READERS_WRITERS: &str = include_str!("../../../bench/models/readers-writers.eml");
const PETERSON: &str = include_str!("../../../bench/models/peterson-4.eml");
const BAKERY: &str = include_str!("../../../bench/models/bakery-6.eml");
const MSMIE: &str = include_str!("../../../bench/models/msmie-4.eml");
const ANDERSON: &str = include_str!("../../../bench/models/anderson-6.eml");

fn program(text: &str) -> Program {
    let parsed = selvedge_front_eml::parse(text);
    assert_eq!(parsed.diagnostics, []);
    parsed.program.expect("a program")
}

/// Searches everything; nothing fails.
fn counts(text: &str, reduction: Reduction, symmetry: bool) -> StateCounts {
    let program = program(text);
    let code = Code::new(&program, &BTreeSet::new());
    let options = SearchOptions { reduction, symmetry, ..SearchOptions::default() };
    let mut search = StateSearch::new(&code, Goal::Failure, options, Budget::new());
    let end = search.run();
    assert!(matches!(end, SearchEnd::Complete), "{end:?}");
    search.counts()
}

fn reduced(text: &str) -> u64 {
    counts(text, Reduction::Transactions, false).states
}

/// A model in another size.
fn sized(text: &str, changes: &[(&str, &str)]) -> String {
    changes.iter().fold(text.to_owned(), |text, (old, new)| {
        assert!(text.contains(old), "{old}");
        text.replace(old, new)
    })
}

#[test]
fn transactions_are_found_as_they_are_made_by_hand() {
    assert_eq!(reduced(COUNTER), 64);
    assert_eq!(reduced(BANK), 28);
    assert_eq!(reduced(READERS_WRITERS), 1464);
    assert_eq!(reduced(PRODUCER_CONSUMER), 9_724);
}

#[test]
fn copies_that_are_interchangeable_are_stored_once() {
    let orbits = |text: &str| counts(text, Reduction::Transactions, true).states;
    assert_eq!(orbits(READERS_WRITERS), 536);
    assert_eq!(orbits(PRODUCER_CONSUMER), 1_316);
    // Each of these asks which copy it is.
    assert_eq!(orbits(COUNTER), 64);
}

#[test]
fn every_step_is_counted_as_spin_counts_it() {
    let three = [("const N = 4;", "const N = 3;")];
    let less = [("const N = 4;", "const N = 3;"), ("const MOST = 5;", "const MOST = 3;")];
    let two = [("Slave[10]", "Slave[2]"), ("Master[10]", "Master[2]")];
    let four = [("const N = 6;", "const N = 4;")];
    for (text, changes, states, transitions) in [
        (PETERSON, &three[..], 12_498, 33_369),
        (BAKERY, &less[..], 29_293, 75_801),
        // Without the two states and three steps of SPIN's `init`.
        (MSMIE, &two[..], 5_689, 8_042),
        (ANDERSON, &four[..], 29_641, 97_516),
    ] {
        let counts = counts(&sized(text, changes), Reduction::None, false);
        assert_eq!((counts.states, counts.transitions), (states, transitions), "{changes:?}");
    }
}
