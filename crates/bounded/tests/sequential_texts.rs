//! Sequential programs as text: what is written is read back, and the sequential analysis of it gives
//! the verdict of the concurrent one.

use selvedge_base::Budget;
use selvedge_bounded::sequentialize;
use selvedge_bounded::{Mode, SymbolicOptions, SymbolicSearch};
use selvedge_front_bool::{Options, parse, print};
use selvedge_program::{Measure, Program, Search, Target};
use std::path::Path;

/// Whether an assertion can fail within a number of rounds.
fn fails(program: &Program, rounds: u32) -> bool {
    let mut search = SymbolicSearch::new(
        program,
        &Target::Assertion,
        Measure::Rounds,
        Mode::Lazy,
        SymbolicOptions::default(),
        &Budget::new(),
    )
    .expect("the program is supported");
    (0..rounds).any(|_| search.advance().expect("no limit is met").reached.is_some())
}

fn read(path: &Path) -> Program {
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let parsed = parse(&text, &Options::default());
    parsed.program.unwrap_or_else(|| panic!("{}: {:?}", path.display(), parsed.diagnostics))
}

#[test]
fn texts_of_sequential_programs_keep_the_verdict() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut verdicts = [0, 0];
    for name in ["handshakes", "overbooking", "overbooking-fixed", "overbooking-static"] {
        let program = read(&root.join(format!("examples/{name}.bp")));
        for rounds in 1..=2 {
            let sequential = sequentialize(&program, rounds).expect("it is supported");
            let text = print(&sequential.program).expect("it can be written");
            let parsed = parse(&text, &Options::default());
            let again = parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics));
            let expected = fails(&program, rounds);
            assert_eq!(fails(&sequential.program, 1), expected, "{name}, {rounds} rounds");
            assert_eq!(fails(&again, 1), expected, "{name}, {rounds} rounds, as text");
            verdicts[usize::from(expected)] += 1;
        }
    }
    assert!(verdicts.iter().all(|&count| count > 0), "{verdicts:?}");
}
