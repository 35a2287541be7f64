//! Sequential Boolean programs, eager and lazy: rules R0 to R8 of paper 001 Fig. 3.

use selvedge_base::Budget;
use selvedge_bounded::{Mode, Strategy, SymbolicOptions, SymbolicSearch};
use selvedge_front_bool::parse;
use selvedge_program::{Measure, Search, Target};

/// Whether an assertion can fail, and how much work it was to find out.
fn fails(text: &str, mode: Mode) -> (bool, u64) {
    let program = parse(text, &selvedge_front_bool::Options::default()).program.expect("a program");
    let options = SymbolicOptions { strategy: Strategy::Tuples, ..SymbolicOptions::default() };
    let budget = Budget::new();
    let mut search =
        SymbolicSearch::new(&program, &Target::Assertion, Measure::Rounds, mode, options, &budget)
            .expect("it is small");
    let level = search.advance().expect("no limit is met");
    assert!(
        level.complete || level.reached.is_some(),
        "one thread has nothing to do in a second round"
    );
    let work = search.statistics().counts.iter().map(|(_, count)| count).sum();
    (level.reached.is_some(), work)
}

/// `f` is called with T only, so its assertion holds, although it has a summary for F as well.
const ONE_ENTRY: &str = "
    decl g;
    void main() begin
        g := T;
        f(T);
        assert(g);
    end
    void f(a) begin
        decl b;
        assert(a);
        if a then b := g; else b := !g; fi
        if b then g := b; else f(b); fi
    end
";

#[test]
fn what_no_call_brings_is_summarised_but_not_reached() {
    let (lazy, least) = fails(ONE_ENTRY, Mode::Lazy);
    let (eager, more) = fails(ONE_ENTRY, Mode::Eager);
    assert_eq!((lazy, eager), (false, false));
    assert!(more > least, "{more} against {least}");
}

#[test]
fn what_a_call_brings_is_reached_in_both_ways() {
    let text = ONE_ENTRY.replace("f(T);", "f(*);");
    assert!(fails(&text, Mode::Lazy).0 && fails(&text, Mode::Eager).0);
    let text = ONE_ENTRY.replace("g := b;", "g := !b;");
    assert!(fails(&text, Mode::Lazy).0 && fails(&text, Mode::Eager).0);
}
