//! A symbolic search that meets a limit says so, and what it knew before stays true.

use selvedge_base::Budget;
use selvedge_bounded::{Mode, Strategy, SymbolicOptions, SymbolicSearch};
use selvedge_front_bool::parse;
use selvedge_program::{Failure, Measure, Search, Target, Unknown};
use selvedge_testkit::models::bluetooth::{BluetoothVersion, bluetooth};

#[test]
fn states_of_a_search_that_met_its_limit_are_refused_or_contain_those_before() {
    let text = bluetooth(BluetoothVersion::Correct, 1, 1);
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
                let options =
                    SymbolicOptions { node_limit: 1 << exponent, strategy, symmetry: false };
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
                let out_of_nodes = Failure::from(Unknown::Nodes { limit: 1 << exponent });
                let Ok(mut before) = search.states(usize::MAX) else { continue };
                for bound in 1..=4 {
                    if let Err(why) = search.advance() {
                        assert_eq!(why, out_of_nodes);
                        stopped_late += u32::from(bound > 1);
                        break;
                    }
                    match search.states(usize::MAX) {
                        Ok(states) => before = states,
                        Err(why) => assert_eq!(why, out_of_nodes),
                    }
                }
                // There is no way between all of them and a refusal.
                match search.states(usize::MAX) {
                    Ok(after) => {
                        assert_eq!(search.count_states(), Ok(after.len() as u128));
                        assert!(before.iter().all(|state| after.contains(state)));
                    }
                    Err(why) => assert_eq!(why, out_of_nodes),
                }
            }
        }
    }
    assert!(stopped_late > 3, "{stopped_late}");
}
