//! What the automata of a property accept.

use selvedge_base::{Diagnostic, Id};
use selvedge_front_property::{parse, threads_asked_about};
use selvedge_program::{IndexedSymbol, Ipa, LocationId, Observable, Program, ThreadId};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn example(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    fs::read_to_string(folder.join(name)).expect("an example")
}

fn stack() -> Program {
    selvedge_front_eml::parse(&example("stack.eml")).program.expect("no errors")
}

/// A program with these numbers of threads and locations, `T0`, `T1`, .. and `x0`, `x1`, ..
fn program(threads: usize, locations: usize) -> Program {
    let names: Vec<String> = (0..locations).map(|at| format!("x{at}")).collect();
    let threads: Vec<String> = (0..threads)
        .map(|at| format!("thread T{at} main m {{ procedure m nodes 1 entry 0 exit 0 {{ }} }}"))
        .collect();
    let text = format!("program set s {{ {} }} {}", names.join(", "), threads.join("\n"));
    selvedge_program::text::parse(&text).0.expect("a valid program")
}

fn automata(text: &str, program: &Program) -> Vec<Ipa> {
    let (automata, diagnostics) = parse(text, program);
    assert_eq!(diagnostics, [], "{text}");
    automata
}

/// Reads events such as `1 read 0` (thread 1, location 0) and `2 begin`, separated by commas.
fn word(text: &str) -> Vec<IndexedSymbol> {
    let symbol = |event: &str| {
        let parts: Vec<&str> = event.split_whitespace().collect();
        let number = |at: usize| parts[at].parse::<usize>().expect("a number");
        let symbol = match parts[1] {
            "read" => Observable::Read(LocationId::from_index(number(2))),
            "write" => Observable::Write(LocationId::from_index(number(2))),
            "begin" => Observable::BeginUnit,
            _ => Observable::EndUnit,
        };
        IndexedSymbol { thread: ThreadId::from_index(number(0)), symbol }
    };
    text.split(',').map(symbol).collect()
}

/// Whether some prefix of the word leads to the last state.
fn accepts(ipa: &Ipa, word: &[IndexedSymbol]) -> bool {
    let mut states: BTreeSet<usize> = BTreeSet::from([0]);
    for symbol in word {
        let mut next = BTreeSet::new();
        for &state in &states {
            let phase = &ipa.phases[state];
            if phase.loops.contains(symbol) {
                next.insert(state);
            }
            if phase.advance == *symbol {
                next.insert(state + 1);
            }
        }
        if next.contains(&ipa.phases.len()) {
            return true;
        }
        states = next;
    }
    false
}

/// Paper 000 Fig. 2, on the interleaving of Fig. 1 and on variations. Location 0 is count, 1 data.
#[test]
fn figure_2_of_paper_000() {
    let program = stack();
    assert_eq!(program.locations[LocationId::from_index(0)].name, "count");
    let both = automata(&example("fig2.ipa"), &program);
    assert_eq!(both.len(), 2, "either thread can be `a`");
    assert!(both.iter().all(|ipa| ipa.name == "fig2" && ipa.phases.len() == 5));
    let first = &both[0];
    assert_eq!(
        first.participants(),
        [ThreadId::from_index(0), ThreadId::from_index(1)],
        "the first variable changes slowest"
    );
    // Σ has read and write of two locations, begin and end for each of two threads.
    assert_eq!(first.phases[0].loops.len(), 12);
    assert!(first.phases[1..].iter().all(|phase| phase.loops.len() == 11));
    let names: Vec<&str> = first.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["q1", "q2", "q3", "q4", "q5"]);

    let violation = word(
        "0 begin, 0 read 0, 1 begin, 1 read 0, 1 read 0, 1 read 1, 1 write 1, 1 write 0, 1 end, \
         0 read 0, 0 read 1",
    );
    assert!(accepts(first, &violation) && !accepts(&both[1], &violation));
    let without_unit = word("0 read 0, 1 write 1, 1 write 0, 0 read 1");
    assert!(!accepts(first, &without_unit));
    let ended = word("0 begin, 0 read 0, 1 write 1, 0 end, 0 begin, 1 write 0, 0 read 1");
    assert!(!accepts(first, &ended), "the reads are in two units");
    let second_unit = word("0 begin, 0 end, 0 begin, 0 read 0, 1 write 1, 1 write 0, 0 read 1");
    assert!(accepts(first, &second_unit), "the automaton guesses which unit it is");
    let other_order = word("0 begin, 0 read 0, 1 write 0, 1 write 1, 0 read 1");
    assert!(!accepts(first, &other_order));
    // ERRATA, 000: serializable, yet accepted, because nothing is said about the units of `b`.
    let two_units =
        word("0 begin, 0 read 0, 1 begin, 1 write 1, 1 end, 1 begin, 1 write 0, 1 end, 0 read 1");
    assert!(accepts(first, &two_units));
}

#[test]
fn the_crate_documentation_shows_the_example() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    let source = fs::read_to_string(source).expect("the source");
    let states = example("fig2.ipa").lines().filter(|line| line.starts_with("state")).count();
    for line in example("fig2.ipa").lines().filter(|line| !line.starts_with("//")) {
        assert!(source.contains(&format!("//! {line}").trim_end().to_owned()), "{line}");
    }
    assert_eq!(states, 6);
}

#[test]
fn variables_stand_for_different_threads_and_locations() {
    let text = "thread a, b; location x, y; state p { a read x -> q; } state q { b write y -> r; } \
                state r;";
    let all = automata(text, &program(4, 3));
    assert_eq!(all.len(), 4 * 3 * 3 * 2);
    let distinct: BTreeSet<Vec<IndexedSymbol>> =
        all.iter().map(|ipa| ipa.phases.iter().map(|phase| phase.advance).collect()).collect();
    assert_eq!(distinct.len(), all.len());
    for ipa in &all {
        let (first, second) = (ipa.phases[0].advance, ipa.phases[1].advance);
        assert_ne!(first.thread, second.thread);
        let location = |symbol: Observable| match symbol {
            Observable::Read(x) | Observable::Write(x) => Some(x),
            _ => None,
        };
        assert_ne!(location(first.symbol), location(second.symbol));
    }
}

#[test]
fn a_variable_never_stands_for_a_thread_that_is_named() {
    let program = program(3, 1);
    let bound = "thread a = T1, b; state p { a begin -> q; } state q { b begin -> r; } state r;";
    let direct = "thread b; state p { T1 begin -> q; } state q { b begin -> r; } state r;";
    let quoted = "thread b; state p { \"T1\" begin -> q; } state q { b begin -> r; } state r;";
    assert_eq!(automata(bound, &program).len(), 2);
    assert_eq!(automata(bound, &program), automata(direct, &program));
    assert_eq!(automata(bound, &program), automata(quoted, &program));
}

#[test]
fn sets_are_what_they_say() {
    let program = program(2, 2);
    let loops = |set: &str| -> usize {
        let text = format!("state p {{ loop {set}; T0 begin -> q; }} state q;");
        automata(&text, &program)[0].phases[0].loops.len()
    };
    assert_eq!(loops("any"), 2 * 6);
    assert_eq!(loops("any any"), 2 * 6);
    assert_eq!(loops("T0 any"), 6);
    assert_eq!(loops("any begin"), 2);
    assert_eq!(loops("any read any"), 4);
    assert_eq!(loops("T0 write any, T1 write x0, T0 write x1"), 3);
    assert_eq!(loops("any except T0 end"), 11);
    assert_eq!(loops("any except T0 end, any write x0, T0 end"), 9);
    assert_eq!(loops("T0 begin except any"), 0);
    let none = automata("state p { T0 begin -> q; } state q { loop any; }", &program);
    assert_eq!(none[0].phases[0].loops.len(), 0);
    let twice = "state p { loop T0 begin; T1 begin -> p; loop T1 end; T0 end -> q; } state q;";
    assert_eq!(automata(twice, &program)[0].phases[0].loops.len(), 3);
}

#[test]
fn several_transitions_are_factored() {
    let text = "state p { T0 begin, T1 begin -> q; T0 end -> q; } state q { any write x0 -> r; } \
                state r;";
    let all = automata(text, &program(2, 1));
    assert_eq!(all.len(), 3 * 2);
    assert!(all.iter().all(|ipa| ipa.phases.len() == 2));
}

#[test]
fn large_texts_are_refused_in_time() {
    let program = program(64, 64);
    let refused = |text: &str| {
        let (automata, diagnostics) = parse(text, &program);
        assert!(automata.is_empty() && diagnostics.len() <= 51);
        assert!(diagnostics.iter().any(Diagnostic::is_error));
    };
    refused(&format!("state p {{ loop {} any; T0 end -> q; }} state q;", "any,".repeat(500_000)));
    refused(
        "thread a, b, c, d; state p { a end -> q; } state q { b end -> r; }
             state r { c end -> s; } state s { d end -> t; } state t;",
    );
    refused(&"state p { T0 begin -> q; ".repeat(100_000));
    refused(&"{".repeat(1_000_000));
    refused(&"\0 é \" ".repeat(200_000));
}

/// A small generator of pseudo-random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

#[test]
fn mutants_do_no_harm() {
    let program = stack();
    let original = example("fig2.ipa");
    let original: Vec<&str> = original.split_inclusive([' ', ';', ',', '\n']).collect();
    let words =
        ["any ", "a ", "q3 ", "-> ", "; ", "{ ", "} ", "state ", "\"", "read ", "é\0", ", ", "= "];
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..4000 {
        let random = &mut Random(seed);
        let mut mutant = original.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(mutant.len());
            match random.below(4) {
                0 => drop(mutant.remove(at)),
                1 => mutant.insert(at, words[random.below(words.len())]),
                2 => mutant[at] = words[random.below(words.len())],
                _ => {
                    let other = random.below(mutant.len());
                    mutant.swap(at, other);
                }
            }
        }
        let text = mutant.concat();
        let (automata, diagnostics) = parse(&text, &program);
        for diagnostic in &diagnostics {
            for label in diagnostic.primary.iter().chain(&diagnostic.secondary) {
                assert!(text.get(label.span.range()).is_some(), "{diagnostic:?}");
            }
        }
        if diagnostics.iter().any(Diagnostic::is_error) {
            assert!(automata.is_empty());
            refused += 1;
        } else {
            for ipa in &automata {
                assert!(!ipa.phases.is_empty());
            }
            accepted += 1;
        }
    }
    assert!(accepted > 300 && refused > 300, "{accepted} accepted, {refused} refused");
}

#[test]
fn how_many_threads_a_property_speaks_of() {
    for (text, threads) in [
        ("thread a, b; state p { loop any; a write x0 -> q; } state q;", 2),
        ("thread a = T1; state p { a write x0 -> q; } state q { T1 read x0 -> r; } state r;", 1),
        ("state p { T0 write x0, T1 write x0 -> q; } state q;", 2),
        // One more for every state in which any thread goes on.
        ("state p { loop any; any write x0 -> q; } state q { any read x0 -> r; } state r;", 2),
        ("thread a; state p { loop any; any write x0 -> q; } state q { a end -> r; } state r;", 2),
        // A loop is no transition, however it is written; who is left out is named.
        ("state p { any write x0 -> p; T0 read x0 -> q; } state q;", 1),
        ("state p { loop any except T1 any; T0 read x0 -> q; } state q;", 2),
        ("state p; state q", 0),
    ] {
        assert_eq!(threads_asked_about(text), threads, "{text}");
    }
    // No automaton speaks of more, and of so many where there are enough.
    let text =
        "thread a; state p { loop any; any write x0 -> q; } state q { a end -> r; } state r;";
    let most = automata(text, &program(5, 1)).iter().map(|ipa| ipa.participants().len()).max();
    assert_eq!(most, Some(2));
}
