//! Expressions as they are written, evaluated along runs.

use selvedge_base::Budget;
use selvedge_logic::parse_probe;
use selvedge_program::{Program, Trace};
use selvedge_replay::{Simulation, execute, probe, simulate};

const SOURCE: &str = "int 0..3 : g = 0;
    process A { main { int 0..9 : i; i = 1; f(); i = 4; } f { int 0..9 : i; int 0..9 : j; i = 2; g = 1; } }";

fn program() -> Program {
    selvedge_front_eml::parse(SOURCE).program.expect("a program")
}

fn run(program: &Program) -> Trace {
    let Simulation { witness, .. } = simulate(program, 0, 40, &Budget::new());
    execute(program, &witness).expect("it replays")
}

/// The values of an expression along the only run, each once in a row.
fn values(text: &str) -> Vec<Option<i64>> {
    let program = program();
    let (read, complaints) = parse_probe(text, &program);
    let read = read.unwrap_or_else(|| panic!("{text}: {complaints:?}"));
    let mut values = probe(&program, &run(&program), &[read], &Budget::new()).remove(0).values;
    values.dedup();
    values
}

/// A local is that of the innermost activation that has it; where none has it there is no value, and where
/// the evaluation fails there is none either.
#[test]
fn locals_come_and_go() {
    let some = |all: &[i64]| all.iter().copied().map(Some).collect::<Vec<_>>();
    assert_eq!(values("A.i"), [some(&[0, 1, 0, 2, 1, 4]), vec![None]].concat());
    assert_eq!(values("A.j"), [None, Some(0), None]);
    assert_eq!(values("6 / g"), [None, Some(6)]);
    assert_eq!(values("A.i + A.j * 2"), [None, Some(0), Some(2), None]);
}

/// Signs of Boolean programs are the others; 0 and 1 are truth values beside one, and numbers beside one.
#[test]
fn signs_of_boolean_programs() {
    assert_eq!(values("g = 1"), [Some(0), Some(1)]);
    assert_eq!(values("g == 1 & T"), [Some(0), Some(1)]);
    assert_eq!(values("(g == 0) = 1 | F"), [Some(1), Some(0)]);
    assert_eq!(values("1 = (g < 1)"), [Some(1), Some(0)]);
}

#[test]
fn mistakes_are_told() {
    for (text, code) in [
        ("h", "unknown-variable"),
        ("A.k", "unknown-variable"),
        ("B.i", "unknown-thread"),
        ("g + (g < 1)", "wrong-sort"),
        ("g = T", "wrong-sort"),
        ("g g", "missing-sign"),
        ("", "missing-name"),
        ("{g}", "missing-name"),
        ("A.", "missing-name"),
        ("A[0].i", "missing-sign"),
    ] {
        let (read, complaints) = parse_probe(text, &program());
        assert!(read.is_none(), "{text}");
        assert_eq!(complaints.first().map(|one| one.code), Some(code), "{text}: {complaints:?}");
    }
}

/// Two blocks may declare one name; which of them runs is not in a state.
#[test]
fn a_name_of_several_blocks_is_refused() {
    let text = "int 0..9 : g; process A { main { { int 0..9 : x = 1; g = x; } { int 0..9 : x = 4; g = x; } } }";
    let program = selvedge_front_eml::parse(text).program.expect("a program");
    let (read, complaints) = parse_probe("A.x + g", &program);
    assert!(read.is_none());
    assert!(complaints[0].message.contains("several blocks of A declare"), "{complaints:?}");
}
