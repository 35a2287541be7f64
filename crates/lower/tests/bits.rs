//! The program over truth values has the runs of the program with types: the same states at the same
//! bounds, the same failures, the same labels. Both are explored by the replayer, which knows nothing
//! of bits, and every run of the one is executed on the other.

use selvedge_base::Budget;
use selvedge_lower::{TargetParts, to_bits};
use selvedge_program::{Bound, Measure, Program, Target, Unknown, Valuation, text, validate};
use selvedge_replay::exhaustive::bounded::{BoundedLimits, BoundedSets, bounded_states};
use selvedge_testkit::Rng;
use selvedge_testkit::typed_data::{random_step_text, random_typed_data};
use std::collections::BTreeSet;

const LIMITS: BoundedLimits = BoundedLimits { call_depth: 5, states: 60_000 };

fn read(text: &str) -> Program {
    let (program, problems) = text::parse(text);
    program.unwrap_or_else(|| panic!("{problems:?}\n{text}"))
}

fn sets(program: &Program, targets: &[Target], most: u32) -> Option<BoundedSets> {
    let bound = Bound { measure: Measure::Rounds, limit: most };
    bounded_states(program, targets, bound, LIMITS, &Budget::new()).ok().filter(|sets| !sets.cut)
}

/// What there is to reach in a program: a failure, and every label.
fn targets(program: &Program) -> Vec<Target> {
    let labels = program.labels.iter().map(|label| Target::Label(vec![label.node]));
    std::iter::once(Target::Assertion).chain(labels).collect()
}

/// Compares the two programs within 1 to `most` rounds; says whether a step can fail, or nothing if
/// there are too many states.
fn compare(program: &Program, most: u32) -> Result<Option<bool>, Unknown> {
    assert_eq!(validate::validate(program), []);
    let bits = to_bits(program, &TargetParts::default(), &Budget::new())?;
    let shown = || format!("{}\n{}", text::print(program), text::print(&bits.program));
    assert_eq!(validate::validate(&bits.program), [], "{}", shown());
    let targets = targets(program);
    let others: Vec<Target> = targets.iter().map(|target| bits.target(target)).collect();
    let Some(expected) = sets(program, &targets, most) else { return Ok(None) };
    // A thread that begins needs an open call more.
    let Some(found) = sets(&bits.program, &others, most) else { return Ok(None) };
    for (expected, found) in expected.levels.iter().zip(&found.levels) {
        let states: BTreeSet<Valuation> =
            found.states.iter().filter_map(|state| Some(bits.state(state)?.0)).collect();
        assert_eq!(states, expected.states, "{}", shown());
        assert_eq!(found.reached, expected.reached, "{}", shown());
    }
    Ok(Some(expected.levels.last().is_some_and(|level| level.reached[0])))
}

#[test]
fn the_bits_of_an_expression_are_those_of_its_values() {
    let (mut fail, mut compared) = (0, 0);
    for seed in 1..=200 {
        let text = random_step_text(&mut Rng::new(seed), false);
        match compare(&read(&text), 1) {
            Ok(Some(fails)) => {
                compared += 1;
                fail += usize::from(fails);
            }
            Ok(None) => {}
            Err(why) => panic!("seed {seed}: {why}"),
        }
    }
    assert!(compared > 120 && fail > 30 && fail < compared - 30, "{fail} of {compared}");
}

#[test]
fn large_numbers_are_computed_digit_by_digit() {
    let (mut fail, mut compared) = (0, 0);
    for seed in 1..=200 {
        let text = random_step_text(&mut Rng::new(seed), true);
        if let Ok(Some(fails)) = compare(&read(&text), 1) {
            compared += 1;
            fail += usize::from(fails);
        }
    }
    assert!(compared > 120 && fail > 20 && fail < compared - 30, "{fail} of {compared}");
}

#[test]
fn random_programs_have_the_same_states() {
    let mut compared = 0;
    for seed in 1..=60 {
        let program = random_typed_data(&mut Rng::new(seed), seed % 2 == 0, seed % 3 == 0);
        if let Ok(Some(_)) = compare(&program, 2) {
            compared += 1;
        }
    }
    assert!(compared > 35, "{compared}");
}

/// A program of two threads: declarations, then the edges of each.
fn two(declarations: &str, first: &str, second: &str) -> Program {
    let thread = |name: &str, edges: &str| {
        let last = edges.lines().filter(|line| line.contains("->")).count();
        format!(
            "thread {name} main main {{ procedure main locals t : mod 4 = 0 nodes {} entry 0 exit \
             {last} {{\n{edges}\n}} }}\n",
            last + 1
        )
    };
    read(&format!("program\n{declarations}\n{}{}", thread("A", first), thread("B", second)))
}

/// Whether it can fail; the two programs agree.
fn fails(program: &Program) -> bool {
    compare(program, 3).expect("it is covered").expect("it is small")
}

#[test]
fn locks_are_held_by_whoever_took_them() {
    let lock = "lock m mutex global x : 0..3 = 0";
    let update =
        "0 -> 1 acquire m\n1 -> 2 skip do t := x\n2 -> 3 skip do x := t + 1\n3 -> 4 release m";
    assert!(!fails(&two(lock, update, update)));
    let check = "0 -> 1 acquire m\n1 -> 2 assert x = 0\n2 -> 3 release m";
    assert!(fails(&two(lock, update, check)));
    // A release of what another thread holds, and of what nobody holds.
    assert!(fails(&two(lock, "0 -> 1 acquire m", "0 -> 1 release m")));
    assert!(fails(&two("lock m global x : 0..3 = 0", "0 -> 1 skip", "0 -> 1 release m")));
    // Who cannot acquire again blocks for ever.
    let again = "0 -> 1 acquire m\n1 -> 2 acquire m\n2 -> 3 assert F";
    assert!(!fails(&two(lock, again, "0 -> 1 skip")));
    assert!(fails(&two("lock m global x : 0..3 = 0", again, "0 -> 1 skip")));
}

#[test]
fn holds_are_counted_where_control_does_not_tell() {
    let lock = "lock m global x : 0..3 = 0";
    // Held once or twice behind the branch.
    let branch = "0 -> 1 acquire m\n1 -> 2 acquire m\n1 -> 2 skip\n2 -> 3 release m\n3 -> 4 skip do x := 1\n4 -> 5 skip do x := 0";
    let program = |second: &str| {
        read(&format!(
            "program {lock} thread A main main {{ procedure main nodes 6 entry 0 exit 5 {{ {branch} }} }}
             thread B main main {{ procedure main nodes 4 entry 0 exit 3 {{ {second} }} }}"
        ))
    };
    assert!(fails(&program("0 -> 1 acquire m\n1 -> 2 assert x = 0\n2 -> 3 release m")));
    let endless = read(&format!(
        "program {lock} thread A main main {{ procedure main nodes 3 entry 0 exit 2 {{
            0 -> 0 acquire m\n0 -> 1 skip\n1 -> 2 release m }} }}"
    ));
    let why = compare(&endless, 1).expect_err("no bound").to_string();
    assert!(why.contains("how often m is held at once has no bound"), "{why}");
}

#[test]
fn a_recursive_procedure_keeps_the_lock_that_it_found() {
    let program = |asserted: &str| {
        read(&format!(
            "program lock m global x : 0..3 = 0
            thread A main f {{ procedure f (n : 0..2) nodes 6 entry 0 exit 5 {{
                0 -> 1 acquire m
                1 -> 2 skip do x := n
                2 -> 3 call f(n - 1) when 0 < n
                2 -> 3 skip when n = 0
                3 -> 4 assert {asserted}
                4 -> 5 release m }} }}
            thread B main main {{ procedure main nodes 4 entry 0 exit 3 {{
                0 -> 1 acquire m  1 -> 2 skip do x := 3  2 -> 3 release m }} }}"
        ))
    };
    assert!(!fails(&program("x = 0")));
    assert!(fails(&program("x = n")));
}

#[test]
fn threads_wait_and_are_notified() {
    let lock = "lock m mutex global x : 0..3 = 0";
    let wait =
        "0 -> 1 acquire m\n1 -> 2 wait m\n2 -> 3 resume m\n3 -> 4 assert x = 1\n4 -> 5 release m";
    for notify in ["notify", "notifyAll"] {
        let set =
            format!("0 -> 1 acquire m\n1 -> 2 skip do x := 1\n2 -> 3 {notify} m\n3 -> 4 release m");
        assert!(!fails(&two(lock, wait, &set)));
        let early = format!("0 -> 1 acquire m\n1 -> 2 {notify} m\n2 -> 3 release m");
        assert!(fails(&two(lock, wait, &early)));
    }
    let never = "0 -> 1 acquire m\n1 -> 2 skip do x := 2\n2 -> 3 release m";
    assert!(!fails(&two(lock, wait, never)));
    assert!(fails(&two(&format!("{lock} spurious wakeups"), wait, never)));
    for what in ["wait", "notify", "notifyAll"] {
        let second = if what == "wait" { "0 -> 1 wait m\n1 -> 2 resume m" } else { "0 -> 1 skip" };
        let second = second.replace("skip", &format!("{what} m"));
        assert!(fails(&two(lock, "0 -> 1 skip", &second)), "{what}");
    }
    let alone = two(lock, "0 -> 1 acquire m\n1 -> 2 wait m\n2 -> 3 skip\n3 -> 4 resume m", never);
    let why = compare(&alone, 1).expect_err("not a pair").to_string();
    assert!(why.contains("a wait has to be followed by its resume"), "{why}");
}

#[test]
fn a_notification_is_for_one_condition() {
    let conditions = "lock m mutex condition c of m condition d of m global x : 0..3 = 0";
    let waits =
        "0 -> 1 acquire m\n1 -> 2 wait c\n2 -> 3 resume c\n3 -> 4 assert x = 1\n4 -> 5 release m";
    let sets = |notify: &str| {
        format!("0 -> 1 acquire m\n1 -> 2 skip do x := 2\n2 -> 3 {notify}\n3 -> 4 release m")
    };
    for (notify, wakes) in [("c", true), ("d", false), ("m", false)] {
        for word in ["notify", "notifyAll"] {
            let program = two(conditions, waits, &sets(&format!("{word} {notify}")));
            assert_eq!(fails(&program), wakes, "{word} {notify}");
        }
    }
    let other = waits.replace("resume c", "resume d");
    let why = compare(&two(conditions, &other, "0 -> 1 skip"), 1).expect_err("another condition");
    assert!(why.to_string().contains("a wait has to be followed by its resume"), "{why}");
    // The lock of a condition is the one that is held.
    let else_held = "0 -> 1 acquire k\n1 -> 2 notify c\n2 -> 3 release k";
    assert!(fails(&two(&format!("{conditions} lock k"), "0 -> 1 skip", else_held)));
}

#[test]
fn all_holds_are_given_up_and_taken_back() {
    for inner in ["1 -> 2 acquire m", "1 -> 2 acquire m\n1 -> 2 skip"] {
        let program = read(&format!(
            "program lock m global x : 0..3 = 0
            thread A main main {{ procedure main nodes 8 entry 0 exit 7 {{
                0 -> 1 acquire m  {inner}  2 -> 3 wait m  3 -> 4 resume m
                4 -> 5 release m  5 -> 6 assert x = 1  6 -> 7 release m when x = 1 }} }}
            thread B main main {{ procedure main nodes 6 entry 0 exit 5 {{
                0 -> 1 acquire m  1 -> 2 notify m  2 -> 3 skip do x := 1  3 -> 4 skip do x := 2
                4 -> 5 release m }} }}"
        ));
        assert!(fails(&program));
    }
}

#[test]
fn annotations_and_invariants_are_checked() {
    let guarded = "lock m global x : 0..3 = 0 guarded by m global y = F";
    assert!(fails(&two(guarded, "0 -> 1 skip do t := x", "0 -> 1 skip")));
    assert!(fails(&two(guarded, "0 -> 1 skip do x := 1", "0 -> 1 skip")));
    assert!(fails(&two(guarded, "0 -> 1 skip when x = 3", "0 -> 1 skip")));
    assert!(!fails(&two(guarded, "0 -> 1 skip when y & x = 3", "0 -> 1 skip")));
    let inside = "0 -> 1 acquire m\n1 -> 2 skip do x := 1\n2 -> 3 release m";
    assert!(!fails(&two(guarded, inside, inside)));
    let invariant = "global x : 0..3 = 0 global y : 0..3 = 0 invariant x <= y";
    assert!(fails(&two(invariant, "0 -> 1 skip do x := 1", "0 -> 1 skip")));
    assert!(!fails(&two(invariant, "0 -> 1 skip do y := 1\n1 -> 2 skip do x := 1", "0 -> 1 skip")));
    let at_first = "global x : 0..3 = 1 global y : 0..3 = 0 invariant x + y + x < 2 + y * x";
    assert!(fails(&two(at_first, "0 -> 1 skip", "0 -> 1 skip")));
    let exclusive = "global x : 0..3 = 0 global w : thread = $none exclusive x when w = $me";
    assert!(fails(&two(exclusive, "0 -> 1 skip do x := 1", "0 -> 1 skip")));
    let own =
        "0 -> 1 skip when w = $none do w := $me\n1 -> 2 skip do x := 1\n2 -> 3 skip do w := $none";
    assert!(!fails(&two(exclusive, own, own)));
    // It takes the variable away from another thread.
    assert!(fails(&two(exclusive, own, "0 -> 1 skip do w := $me")));
}

#[test]
fn what_a_step_computes_fails_only_where_it_is_possible() {
    let start = |edges: &str| {
        read(&format!(
            "program global x : 0..3 = 3
            thread A main main {{ procedure main nodes 3 entry 0 exit 2 {{ {edges} }} }}
            thread B waits main main {{ procedure main (n : 0..2) nodes 2 entry 0 exit 1 {{
                0 -> 1 skip do x := n }} }}"
        ))
    };
    assert!(fails(&start("0 -> 1 start B(x)\n1 -> 2 skip")));
    assert!(!fails(&start("0 -> 1 start B(x - 1)\n1 -> 2 start B(x)")));
    assert!(!fails(&start("0 -> 1 join B do x := x + 1\n1 -> 2 skip")));
    assert!(fails(&start("0 -> 1 start B(1)\n1 -> 2 join B do x := 4 / (x - 1)")));
}

#[test]
fn a_return_from_the_exit_gives_any_value_of_the_result() {
    let program = |asserted: &str| {
        read(&format!(
            "program global x : -3..3 = 0
            thread A main main {{
                procedure main nodes 3 entry 0 exit 2 {{ 0 -> 1 call f(T) into x  1 -> 2 assert {asserted} }}
                procedure f (n) -> (-1..1) nodes 2 entry 0 exit 1 {{ 0 -> 1 skip }}
            }}"
        ))
    };
    assert!(!fails(&program("-1 <= x & x <= 1")));
    for value in -1..=1 {
        assert!(fails(&program(&format!("x != {value}"))), "{value}");
    }
}

#[test]
fn what_is_too_wide_is_refused_with_the_reason() {
    let refused = |declarations: &str, edge: &str| {
        let program = two(declarations, edge, "0 -> 1 skip");
        let bits = to_bits(&program, &TargetParts::default(), &Budget::new());
        bits.expect_err("it is not covered").to_string()
    };
    let wide = refused("global x : 0..65536 = 0", "0 -> 1 skip");
    assert!(wide.contains("x has more than 16 bits"), "{wide}");
    let factors = "global x : 0..256 = 0 global y : 0..255 = 0";
    let product = refused(factors, "0 -> 1 assert x * y < 9");
    assert!(product.contains("more than 8 bits are multiplied"), "{product}");
    let narrow = "global x : 0..255 = 0 global y : -128..127 = 0";
    assert!(!fails(&two(narrow, "0 -> 1 assert x * y < 9", "0 -> 1 skip")));
    assert!(!fails(&two(factors, "0 -> 1 assert x * 300 < 9", "0 -> 1 skip")));
    let large = refused("global x : 0..65535 = 0", "0 -> 1 assert x * 2147483647 * 65536 < 9");
    assert!(large.contains("more than 40 bits"), "{large}");
    let chosen =
        refused("lock m global x : 0..3 = 0 guarded by m", "0 -> 1 assert $choose(0, 1) = x");
    assert!(chosen.contains("said to be protected"), "{chosen}");
}
