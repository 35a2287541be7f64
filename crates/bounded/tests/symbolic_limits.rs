//! A symbolic search that meets a limit says so, and what it knew before stays true.

use selvedge_base::Budget;
use selvedge_bounded::{Mode, Strategy, SymbolicOptions, SymbolicSearch};
use selvedge_front_bool::parse;
use selvedge_program::{Measure, Search, Target, Unknown};
use selvedge_testkit::models::bluetooth::{Version, bluetooth};

#[test]
fn states_of_a_search_that_met_its_limit_are_those_of_the_bound_before() {
    let text = bluetooth(Version::Correct, 1, 1);
    let program =
        parse(&text, &selvedge_front_bool::Options::default()).program.expect("a program");
    let mut stopped_late = 0;
    for (mode, strategy) in [
        (Mode::Lazy, Strategy::Tuples),
        (Mode::Eager, Strategy::Tuples),
        (Mode::Lazy, Strategy::Configurations),
    ] {
        for measure in [Measure::Rounds, Measure::Contexts] {
            for exponent in 8..16 {
                let options = SymbolicOptions { node_limit: 1 << exponent, strategy };
                let budget = Budget::new();
                let search = SymbolicSearch::new(
                    &program,
                    &Target::Assertion,
                    measure,
                    mode,
                    options,
                    &budget,
                );
                let Ok(mut search) = search else { continue };
                let mut before = search.states(usize::MAX);
                for bound in 1..=4 {
                    match search.advance() {
                        Ok(_) => before = search.states(usize::MAX),
                        Err(why) => {
                            assert!(matches!(why, Unknown::Stopped(_)), "{why}");
                            stopped_late += u32::from(bound > 1);
                            break;
                        }
                    }
                    assert_eq!(search.count_states(), before.len() as u128);
                }
                let after = search.states(usize::MAX);
                assert_eq!(search.count_states(), after.len() as u128);
                assert!(before.iter().all(|state| after.contains(state)));
            }
        }
    }
    assert!(stopped_late > 3, "{stopped_late}");
}
