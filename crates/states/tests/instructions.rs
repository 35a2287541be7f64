//! Steps that are executed as instructions lead where the step relation says: the same states by the
//! same number of steps, and the same failures. Every program here is for something that random ones
//! hardly ever have.

use selvedge_base::Budget;
use selvedge_program::FailureKind;
use selvedge_states::{Code, FailingSite, Goal, Reduction, SearchEnd, SearchOptions, StateSearch};
use std::collections::BTreeSet;

type Seen = (u64, u64, BTreeSet<(FailingSite, FailureKind)>);

/// What a search without reduction sees, and how many expansions were left to the step relation.
fn search(text: &str, instructions: bool) -> (Seen, Option<u64>) {
    let parsed = selvedge_front_eml::parse(text);
    let errors: Vec<_> = parsed.diagnostics.iter().filter(|one| one.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    let program = parsed.program.expect("a program");
    let code = Code::new(&program, &BTreeSet::new());
    let options = SearchOptions { reduction: Reduction::None, ..SearchOptions::default() };
    let mut search = StateSearch::new(&code, Goal::Failure, options, Budget::new());
    search.collect = true;
    if !instructions {
        search.executor = None;
    }
    let end = search.run();
    assert!(matches!(end, SearchEnd::Complete), "{end:?}");
    let counts = search.counts();
    let given_up = search.executor.as_ref().map(|executor| executor.given_up);
    ((counts.states, counts.transitions, search.failures.clone()), given_up)
}

/// Both agree, and so many expansions at most were left to the step relation.
fn agree(text: &str, most_given_up: u64) -> Seen {
    let (seen, given_up) = search(text, true);
    assert_eq!(seen, search(text, false).0, "{text}");
    let given_up = given_up.expect("there are instructions");
    assert!(given_up <= most_given_up, "{given_up} were left in {text}");
    seen
}

#[test]
fn notifications_wake_any_one_or_all() {
    let text = |notify: &str| {
        format!(
            "lock : m; int 0..3 : woken;
             process Sleeper[3] {{ main {{ synchronized(m) {{ wait(m); woken = woken + 1; }} }} }}
             process Waker {{ main {{ synchronized(m) {{ {notify}(m); }} }} }}"
        )
    };
    let (one, ..) = agree(&text("notify"), 30);
    let (all, ..) = agree(&text("notifyAll"), 30);
    assert!(one != all);
}

#[test]
fn conditions_of_a_lock_are_notified_one_by_one() {
    let text = |notify: &str| {
        format!(
            "lock : m; condition c, d : m; condition e[2] : m; int 0..3 : at_c, at_d, at_e, at_m;
             process C[2] {{ main {{ synchronized(m) {{ wait(c); at_c = at_c + 1; }} }} }}
             process D {{ main {{ synchronized(m) {{ wait(d); at_d = 1; }} }} }}
             process E {{ main {{ synchronized(m) {{ wait(e[1]); at_e = 1; }} }} }}
             process M {{ main {{ synchronized(m) {{ wait(m); at_m = 1; }} }} }}
             process Waker {{ main {{ synchronized(m) {{ {notify} assert(at_c + at_d == 0); }} }} }}"
        )
    };
    let woken: Vec<Seen> = ["c", "d", "e[0]", "e[1]", "m"]
        .iter()
        .map(|set| agree(&text(&format!("notify({set});")), 30))
        .collect();
    // Nobody waits for e[0]; who waits for c is one of two, and of the others there is one each.
    let states = |at: usize| woken[at].0;
    assert!(states(2) < states(1) && states(1) < states(0), "{woken:?}");
    assert_eq!((states(1), states(1)), (states(3), states(4)));
    let (all, ..) = agree(&text("notifyAll(c);"), 30);
    assert!(all != states(0));
}

#[test]
fn all_holds_are_given_up_and_taken_again() {
    let text = "lock : m; bool : go;
        process A { main {
            synchronized(m) { synchronized(m) { while (!go) wait(m); } assert(go); }
        } }
        process B { main { synchronized(m) { go = true; notify(m); } } }";
    agree(text, 30);
}

#[test]
fn reentrant_locks_count_and_mutexes_block() {
    let text = |kind: &str| {
        format!(
            "{kind} : m, n; int 0..1 : x;
             process P[2] {{ main {{
                 acquire(m); acquire(n); acquire(m); x = 1 - x; release(m); x = 1 - x;
                 release(n); release(m);
             }} }}"
        )
    };
    let (lock, ..) = agree(&text("lock"), 60);
    let (mutex, ..) = agree(&text("mutex"), 60);
    assert!(lock > mutex);
}

#[test]
fn choices_and_ranges() {
    let text = "int -3..3 : x = -1; int mod 5 : y; bool : b; int 0..2 : a[3];
        process P[2] { main {
            int -2..2 : i = *;
            b = *;
            if (i < 0) x = -i; else y = y - i;
            assume(b || i != 1);
            if (0 <= i && i < 3) a[i] = choose(0..2);
        } }";
    agree(text, 100);
}

#[test]
fn comparisons_with_constants_become_tables() {
    let text = "enum Place { A, B, C, D }; int 0..9 : x;
        process P[2] { Place : place; main { while (x < 9) {
            atomic {
                if (place == C) { x = 2; place = D; }
                else if (place == A) { if (*) place = C; else place = B; }
                else if (place == B) { assume(x != 2); x = 9; place = A; }
                else if (x == 2) x = 4;
                else if (x == 9) x = 0;
                else place = A;
            }
        } } }";
    agree(text, 60);
}

#[test]
fn loops_in_atomic_sections() {
    let text = "int 0..40 : sum; int 0..4 : a[4] = 2;
        process P[2] { main { atomic {
            int 0..4 : i = 0;
            while (i < 4) { sum = sum + a[i]; a[i] = (a[i] + 1) % 5; i = i + 1; }
        } } }";
    agree(text, 30);
}

#[test]
fn what_fails_is_left_to_the_step_relation() {
    let text = "int 0..3 : x; int 0..3 : a[2]; mutex : m;
        process P[2] { main {
            int 0..4 : what = *;
            if (what == 0) x = x + 4;
            else if (what == 1) a[x + 2] = 1;
            else if (what == 2) x = 3 / x;
            else if (what == 3) assert(a[1] > x);
            else release(m);
        } }";
    let (_, _, failures) = agree(text, 1000);
    let kinds: BTreeSet<FailureKind> = failures.iter().map(|one| one.1).collect();
    assert_eq!(kinds.len(), 5, "{kinds:?}");
}

#[test]
fn starts_joins_and_ends() {
    let text = "int 0..3 : x;
        process Main { main { start Child; x = 1; join Child; assert(x == 2); } }
        process Child waits { main { int 0..3 : y = x; x = 2; } }";
    agree(text, 30);
}

#[test]
fn holds_that_depend_on_the_way_have_no_layout() {
    let text = "mutex : m[7]; int 0..1 : x;
        process P { main {
            int 0..6 : i;
            while (i < 6) { if (*) acquire(m[i]); i = i + 1; }
            x = 1 - x;
        } }";
    let parsed = selvedge_front_eml::parse(text);
    let program = parsed.program.expect("a program");
    let code = Code::new(&program, &BTreeSet::new());
    let options = SearchOptions { reduction: Reduction::None, ..SearchOptions::default() };
    let search = StateSearch::new(&code, Goal::Failure, options, Budget::new());
    // Which locks are held where depends on the way there, so there is no fixed layout.
    assert!(search.executor.is_none());
}
