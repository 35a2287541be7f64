//! Programs with data: what the statements become, step by step, and what can happen.

use selvedge_base::{Budget, Diagnostic};
use selvedge_front_eml::parse;
use selvedge_program::{
    Action, Bound, FailureKind, Measure, Move, Program, Successors, Target, text, validate,
};
use selvedge_replay::{BoundedLimits, State, bounded_states};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

fn program(text: &str) -> Program {
    let parsed = parse(text);
    let errors: Vec<&Diagnostic> = parsed.diagnostics.iter().filter(|one| one.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    parsed.program.expect("no errors")
}

/// The edges of the first `main`, without their places.
fn steps(declarations: &str, body: &str) -> Vec<String> {
    let program = program(&format!("{declarations} process P {{ main {{ {body} }} }}"));
    edges(&program)
}

fn edges(program: &Program) -> Vec<String> {
    let (again, problems) = text::parse(&text::print(program));
    assert!(problems.is_empty() && again.as_ref() == Some(program), "{problems:?}");
    assert_eq!(validate::validate(program), []);
    let printed = text::print(program);
    let lines = printed.lines().skip_while(|line| !line.contains("procedure main"));
    let inside = lines.skip(1).take_while(|line| line.trim() != "}");
    inside
        .map(|line| {
            let line = line.trim();
            line.rsplit_once(" @").map_or(line, |(line, _)| line).to_owned()
        })
        .collect()
}

const DATA: &str = "lock : l; mutex : m; enum Colour { Red, Green, Blue }; \
                    int 0..7 : x, y, a[3]; bool : b; Colour : c; ";

#[test]
fn every_access_is_a_step_and_local_work_belongs_to_it() {
    let with_local = |body: &str| steps(DATA, &format!("int 0..7 : t; {body}"));
    assert_eq!(with_local("t = x;"), ["0 -> 1 read x do t := x"]);
    assert_eq!(with_local("x = t + 1;"), ["0 -> 1 write x do x := t + 1"]);
    let increment = ["0 -> 2 read x do \"#1\" := x", "2 -> 1 write x do x := \"#1\" + 1"];
    assert_eq!(with_local("x = x + 1;"), increment);
    let sum = ["0 -> 2 read x do \"#1\" := x", "2 -> 1 read y do t := \"#1\" * 2 - y"];
    assert_eq!(with_local("t = x * 2 - y;"), sum);
    let equal = [
        "0 -> 3 read x do \"#1\" := x",
        "3 -> 2 read y when \"#1\" = y",
        "3 -> 1 read y when \"#1\" != y",
        "2 -> 1 skip",
    ];
    assert_eq!(with_local("if (x == y) skip;"), equal);
    assert_eq!(with_local("t = t + 1;"), ["0 -> 1 skip do t := t + 1"]);
    let free = ["0 -> 1 write x do x := $choose(0, 7)"];
    assert_eq!(with_local("x = *;"), free);
    assert_eq!(with_local("b = *;"), ["0 -> 1 write b do b := *"]);
    let greater = ["0 -> 2 read x do \"#1\" := x", "2 -> 1 read y do b := y < \"#1\""];
    assert_eq!(steps(&DATA.replace("bool : b;", ""), "bool : b; b = x > y;"), greater);
}

#[test]
fn operators_that_decide_early_skip_the_read() {
    let and = [
        "0 -> 3 read b when b",
        "0 -> 1 read b when !b",
        "3 -> 2 read x when x = 1",
        "3 -> 1 read x when x != 1",
        "2 -> 1 skip",
    ];
    assert_eq!(steps(DATA, "if (b && x == 1) skip;"), and);
    let local = [
        "0 -> 1 skip when t do r := T",
        "0 -> 1 read x when !t & x = 1 do r := T",
        "0 -> 1 read x when !t & x != 1 do r := F",
    ];
    assert_eq!(steps(DATA, "bool : t; bool : r; r = t || x == 1;"), local);
    let implies = [
        "0 -> 3 read b when b",
        "0 -> 2 read b when !b do \"#0\" := T",
        "3 -> 2 read x when x = 1 do \"#0\" := T",
        "3 -> 2 read x when x != 1 do \"#0\" := F",
        "2 -> 1 write b do b := \"#0\"",
    ];
    assert_eq!(steps(DATA, "b = b => x == 1;"), implies);
    // Where only the left operand reads, one step is enough.
    let left = ["0 -> 2 read x when x = 1 & t", "0 -> 1 read x when !(x = 1 & t)", "2 -> 1 skip"];
    assert_eq!(steps(DATA, "bool : t; if (x == 1 && t) skip;"), left);
}

/// What a constant decides takes no step of its own, and what it leaves open is the right operand.
#[test]
fn constant_operands_take_no_step() {
    for (decided, value) in [
        ("false && b", "F"),
        ("1 == 2 && b", "F"),
        ("!(1 == 1) && b", "F"),
        ("(1 == 1) || b", "T"),
        ("2 < 1 => b", "T"),
        ("(1 > 2 && b) && b", "F"),
    ] {
        let written = [format!("0 -> 1 write d do d := {value}")];
        assert_eq!(steps("bool : b, d;", &format!("d = ({decided});")), written, "{decided}");
    }
    for left in ["true && b", "1 == 1 && b", "1 == 2 || b", "1 == 1 => b"] {
        let read = ["0 -> 2 read b do \"#0\" := b", "2 -> 1 write d do d := \"#0\""];
        assert_eq!(steps("bool : b, d;", &format!("d = ({left});")), read, "{left}");
    }
    // Which copy it is is no constant.
    let copies = program("bool : b, d; process P[2] { main { d = (self == 0 && b); } }");
    assert_eq!(edges(&copies)[0], "0 -> 2 skip when 0 != 0 do \"#0\" := F");
}

#[test]
fn elements_are_chosen_in_the_step_that_accesses_them() {
    assert_eq!(steps(DATA, "a[2] = 1;"), ["0 -> 1 write \"a[2]\" do \"a[2]\" := 1"]);
    let inside = [
        "0 -> 1 read \"a[0]\" when i = 0 do t := a[i]",
        "0 -> 1 read \"a[1]\" when i = 1 do t := a[i]",
        "0 -> 1 read \"a[2]\" when i = 2 do t := a[i]",
    ];
    assert_eq!(steps(DATA, "int 0..2 : i; int 0..7 : t; t = a[i];"), inside);
    let outside = [
        "0 -> 2 read x do \"#0\" := x",
        "2 -> 2 skip when !(0 <= \"#0\" & \"#0\" < 3) do \"#1\" := a[\"#0\"]",
        "2 -> 1 write \"a[0]\" when \"#0\" = 0 do \"a[0]\" := 1",
        "2 -> 1 write \"a[1]\" when \"#0\" = 1 do \"a[1]\" := 1",
        "2 -> 1 write \"a[2]\" when \"#0\" = 2 do \"a[2]\" := 1",
    ];
    assert_eq!(steps(DATA, "a[x] = 1;"), outside);
}

#[test]
fn blocks_that_are_one_step() {
    let atomic = [
        "0 -> 2 begin atomic",
        "2 -> 4 write x do x := 0",
        "4 -> 3 write y do y := 1",
        "3 -> 1 end atomic",
    ];
    assert_eq!(steps(DATA, "atomic { x = 0; y = 1; }"), atomic);
    let assume = ["0 -> 2 begin atomic", "2 -> 3 read x when x = 2", "3 -> 1 end atomic"];
    assert_eq!(steps(DATA, "assume(x == 2);"), assume);
    assert_eq!(steps(DATA, "bool : t; assume(!t);"), ["0 -> 1 skip when !t"]);
    let assert = ["0 -> 1 assert a[x] = y => c != $enum(Colour, Red)"];
    assert_eq!(steps(DATA, "assert(a[x] == y => c != Red);"), assert);
}

#[test]
fn locks_by_hand_and_condition_variables() {
    let expected = [
        "0 -> 2 acquire m",
        "2 -> 4 wait m",
        "4 -> 3 resume m",
        "3 -> 5 notify m",
        "5 -> 6 notifyAll m",
        "6 -> 1 release m",
    ];
    let body = "acquire(m); wait(m); notify(m); notifyAll(m); release(m);";
    assert_eq!(steps(DATA, body), expected);
    let tried =
        ["0 -> 1 acquire m do t, \"#m.held\" := T, T", "0 -> 1 skip when \"#m.held\" do t := F"];
    assert_eq!(steps(DATA, "bool : t; t = tryacquire(m);"), tried);
    let program = program("lock : l; mutex : m; process P { main { acquire(l); acquire(m); } }");
    let reentrant: Vec<bool> = program.locks.iter().map(|lock| lock.reentrant).collect();
    assert_eq!(reentrant, [true, false]);
}

#[test]
fn calls_pass_values_and_results() {
    let text = "int 0..7 : x; lock : l; process P {
        f(int 0..7 : d) : int 0..7 { synchronized(l) { return x + d; } }
        main { int 0..7 : t; t = f(x); x = f(1); f(2); }
    }";
    let expected = [
        "0 -> 3 read x do \"#1\" := x",
        "3 -> 2 call f(\"#1\") into t",
        "2 -> 5 call f(1) into \"#1\"",
        "5 -> 4 write x do x := \"#1\"",
        "4 -> 1 call f(2) into _",
    ];
    assert_eq!(edges(&program(text)), expected);
    let printed = text::print(&program(text));
    assert!(printed.contains("return \"#1\" + d"), "{printed}");
}

#[test]
fn declarations_in_loops_start_anew() {
    let expected =
        ["0 -> 2 skip", "2 -> 3 skip do k := 1", "3 -> 0 skip do k := k + 1", "0 -> 1 skip"];
    let body = "while (*) { int 0..3 : k = 1; k = k + 1; }";
    assert_eq!(steps(DATA, body), expected);
    // Outside of loops the local has the value from the beginning.
    let text = "process P { main { int 3..5 : t; bool : r = true; t = 4; r = false; } }";
    let program = program(text);
    let locals = &program.procedures.iter().next().expect("main").frame.locals;
    let initial: Vec<Option<i32>> = locals.iter().map(|local| local.initial).collect();
    assert_eq!(initial, [Some(3), Some(1)]);
    assert_eq!(program.edges.len(), 2);
}

#[test]
fn copies_know_who_they_are() {
    let text = "int 0..7 : a[2] guarded by m; mutex : m[2]; thread : last;
        process W[2] { int 0..7 : mine = self + 1;
            main { acquire(m[self]); a[self] = mine; last = W[1 - self]; last = me; } }
        process Any[*] { main { int 0..7 : t; t = self; } }";
    let program = program(text);
    let names: Vec<&str> = program.globals.iter().map(|global| global.name.as_str()).collect();
    assert_eq!(names, ["a[0]", "a[1]", "last", "W[0].mine", "W[1].mine"]);
    let initial: Vec<Option<i32>> = program.globals.iter().map(|one| one.initial).collect();
    assert_eq!(initial, [Some(0), Some(0), Some(0), Some(1), Some(2)]);
    assert!(program.globals.iter().skip(3).all(|one| one.location.is_none()));
    let printed = text::print(&program);
    for expected in [
        "global a[2] : 0..7 = 0 location \"a[0]\" guarded by each \"m[0]\"",
        "acquire \"m[1]\"",
        "write \"a[1]\" do \"a[1]\" := \"W[1].mine\"",
        "write last do last := $thread(\"W[0]\")",
        "write last do last := $me",
        "skip do t := $copy",
    ] {
        assert!(printed.contains(expected), "{expected}\n{printed}");
    }
    assert_eq!(program.procedures.len(), 3);
}

#[test]
fn copies_that_do_not_ask_share_their_functions() {
    let shared = program("int 0..7 : x; process W[3] { main { x = x + 1; } }");
    assert_eq!(shared.procedures.len(), 1);
}

#[test]
fn sets_invariants_and_predicates() {
    let text = "int 0..7 : x, y; var : z; thread : o; bool : d exclusive when (o == me);
        atomicset pair : y, z; invariant (x + y <= 9);
        process P { main { o = me; d = true; x = y; write z; } } process Q { main { read z; } }";
    let printed = text::print(&program(text));
    for expected in
        ["set shared { x ", "set pair { y ", "exclusive d when o = $me", "invariant x + y <= 9"]
    {
        assert!(printed.contains(expected), "{expected}\n{printed}");
    }
}

/// All values of the globals that can be reached with any number of contexts that matters here.
fn reachable(program: &Program) -> BTreeSet<Vec<i32>> {
    let bound = Bound { measure: Measure::Contexts, limit: 8 };
    let limits = BoundedLimits { call_depth: 8, states: 100_000 };
    let sets = bounded_states(program, &[Target::Assertion], bound, limits, &Budget::new());
    let sets = sets.expect("a small program");
    let last = sets.levels.last().expect("a level");
    last.states.iter().map(|values| values.0.clone()).collect()
}

#[test]
fn updates_get_lost_unless_a_lock_is_held() {
    let text = |body: &str| {
        format!(
            "lock : l; int 0..7 : x; int 0..2 : done;
            process W[2] {{ main {{ {body} atomic {{ done = done + 1; }} }} }}"
        )
    };
    let ends = |body: &str| -> Vec<i32> {
        let states = reachable(&program(&text(body)));
        states.into_iter().filter(|values| values[1] == 2).map(|values| values[0]).collect()
    };
    assert_eq!(ends("x = x + 1;"), [1, 2]);
    assert_eq!(ends("synchronized(l) { x = x + 1; }"), [2]);
    assert_eq!(ends("atomic { x = x + 1; }"), [2]);
    assert_eq!(ends("acquire(l); x = x + 1; release(l);"), [2]);
    assert_eq!(ends("bool : t; t = tryacquire(l); if (t) { x = x + 1; release(l); }"), [1, 2]);
}

/// How the program can fail.
fn failures(program: &Program) -> BTreeSet<FailureKind> {
    let successors = Successors::new(program);
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut work: Vec<State> = Vec::new();
    let mut found = BTreeSet::new();
    let _ = State::for_each_initial(program, &mut |state| {
        found.extend(state.fails_at_first(program).iter());
        work.push(state);
        ControlFlow::Continue(())
    });
    while let Some(state) = work.pop() {
        if !seen.insert(format!("{state:?}")) || seen.len() > 20_000 {
            continue;
        }
        for thread in program.threads.ids() {
            for (edge, one) in program.edges.iter_enumerated() {
                if state.top(thread) == Some(one.source) {
                    let kinds =
                        state.can_fail(program, thread, Move::Edge(edge)).unwrap_or_default();
                    found.extend(kinds.iter());
                }
            }
            let _ = state.successors(program, &successors, thread, &mut |_, next| {
                work.push(next);
                ControlFlow::Continue(())
            });
        }
    }
    found
}

#[test]
fn steps_fail_as_they_should() {
    let fails = |declarations: &str, body: &str| -> Vec<FailureKind> {
        let text = format!("{DATA} {declarations} process P {{ main {{ {body} }} }}");
        failures(&program(&text)).into_iter().collect()
    };
    assert_eq!(fails("", "x = 7; x = x + 1;"), [FailureKind::Range]);
    assert_eq!(fails("", "x = 3; a[x] = 1;"), [FailureKind::Index]);
    assert_eq!(fails("", "x = 3; x = a[x];"), [FailureKind::Index]);
    assert_eq!(fails("", "x = a[choose(2..3)];"), [FailureKind::Index]);
    assert_eq!(fails("", "x = a[choose(0..2)];"), []);
    assert_eq!(
        fails("lock : ls[2];", "int 0..7 : t; t = 2; acquire(ls[t]);"),
        [FailureKind::Index]
    );
    assert_eq!(fails("", "x = 1 / x;"), [FailureKind::Division]);
    assert_eq!(fails("", "assert(x == 0); x = 1; assert(x == 0);"), [FailureKind::Assertion]);
    assert_eq!(fails("", "release(l);"), [FailureKind::Release]);
    assert_eq!(fails("", "wait(l);"), [FailureKind::Monitor]);
    assert_eq!(fails("", "acquire(l); notify(l); release(l);"), []);
    assert_eq!(fails("invariant (x < 2);", "x = 1; x = 2;"), [FailureKind::Invariant(0)]);
    assert_eq!(fails("int 0..3 : g guarded by l;", "g = 1;"), [FailureKind::Annotation]);
    assert_eq!(fails("int 0..3 : g guarded by l;", "synchronized(l) { g = 1; }"), []);
    // The right operand is not evaluated where the left one decides.
    assert_eq!(fails("", "if (x != 0 && a[5 - x] == 1) skip;"), []);
}

#[test]
fn a_mutex_blocks_its_owner_and_a_lock_does_not() {
    let ends = |kind: &str| {
        let text = format!(
            "{kind} : k; bool : d; process P {{ main {{
            acquire(k); acquire(k); d = true; }} }}"
        );
        reachable(&program(&text)).contains(&vec![1])
    };
    assert!(ends("lock") && !ends("mutex"));
}

#[test]
fn statements_name_conditions_or_locks() {
    let text = "lock : l, k[2]; mutex : m;
        condition notFull, notEmpty : l; condition can[2] : m; condition each : k;
        int 0..1 : i;
        process P { main {
            wait(notFull); notify(notEmpty); notifyAll(l); wait(can[1]); notify(k[1]);
            notifyAll(each[0]); wait(l); notify(each[i]);
        } }";
    let program = program(text);
    let titles: Vec<String> =
        program.wait_sets.ids().map(|set| program.wait_set_title(set)).collect();
    let expected = [
        "notFull of l",
        "notEmpty of l",
        "can[0] of m",
        "can[1] of m",
        "each[0] of k[0]",
        "each[1] of k[1]",
        "l",
        "k[0]",
        "k[1]",
    ];
    assert_eq!(titles, expected);
    let steps = edges(&program);
    let sets: Vec<&str> = steps
        .iter()
        .filter_map(|step| ["wait", "resume", "notify"].iter().find_map(|word| step.find(word)))
        .zip(&steps)
        .map(|(at, step)| &step[at..])
        .collect();
    let expected = [
        "wait notFull",
        "resume notFull",
        "notify notEmpty",
        "notifyAll l",
        "wait \"can[1]\"",
        "resume \"can[1]\"",
        "notify \"k[1]\"",
        "notifyAll \"each[0]\"",
        "wait l",
        "resume l",
    ];
    assert_eq!(sets[..10], expected);
    let computed: Vec<&String> =
        steps.iter().filter(|step| step.contains("notify \"each")).collect();
    assert_eq!(computed.len(), 2, "{steps:?}");
}

#[test]
fn a_notification_wakes_those_that_wait_for_its_condition() {
    let text = |notify: &str| {
        format!(
            "lock : l; condition c, d : l; bool : x; bool : woken;
            process P {{ main {{ synchronized(l) {{ x = true; wait(c); woken = true; }} }} }}
            process Q {{ main {{ synchronized(l) {{ assume(x); {notify} }} }} }}"
        )
    };
    let wakes = |notify: &str| reachable(&program(&text(notify))).iter().any(|one| one[1] == 1);
    assert!(wakes("notify(c);") && wakes("notifyAll(c);"));
    assert!(!wakes("notify(d);") && !wakes("notifyAll(d);") && !wakes("notifyAll(l);"));
}

#[test]
fn waiting_ends_with_a_notification() {
    let text = |notify: &str| {
        format!(
            "lock : l; bool : ready; bool : d;
            process P {{ main {{ synchronized(l) {{ while (!ready) wait(l); }} d = true; }} }}
            process Q {{ main {{ synchronized(l) {{ ready = true; {notify} }} }} }}"
        )
    };
    // Without the notification only those go on who have not waited.
    let with = program(&text("notify(l);"));
    let waits = |program: &Program| {
        let resumes = program.edges.iter().filter(|edge| matches!(edge.action, Action::Resume(_)));
        resumes.count()
    };
    assert_eq!(waits(&with), 1);
    assert!(reachable(&with).contains(&vec![1, 1]));
}

/// Numbers that depend on a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }

    fn one_of<'s>(&mut self, choices: &[&'s str]) -> &'s str {
        choices[self.below(choices.len() as u64) as usize]
    }

    fn number(&mut self, depth: u64) -> String {
        if depth == 0 {
            let atoms = ["0", "1", "7", "t", "x", "y", "self", "N", "mine", "a[1]"];
            return self.one_of(&atoms).to_owned();
        }
        let (left, right) = (self.number(depth - 1), self.number(depth - 1));
        match self.below(6) {
            0 => format!("a[{left}]"),
            1 => format!("choose({left} .. {right})"),
            2 => format!("-({left})"),
            _ => format!("({left} {} {right})", self.one_of(&["+", "-", "*", "/", "%"])),
        }
    }

    fn truth(&mut self, depth: u64) -> String {
        if depth == 0 {
            return self.one_of(&["true", "false", "b", "r", "c == Red", "o != me"]).to_owned();
        }
        match self.below(4) {
            0 => format!("!({})", self.truth(depth - 1)),
            1 => {
                let operator = self.one_of(&["<", "<=", ">", ">=", "==", "!="]);
                format!("{} {operator} {}", self.number(depth - 1), self.number(depth - 1))
            }
            _ => {
                let operator = self.one_of(&["&&", "||", "=>", "^"]);
                format!("({} {operator} {})", self.truth(depth - 1), self.truth(depth - 1))
            }
        }
    }

    fn statement(&mut self, depth: u64) -> String {
        let kinds = if depth == 0 { 12 } else { 18 };
        match self.below(kinds) {
            0 => format!("x = {};", self.number(2)),
            1 => format!("t = {};", self.number(2)),
            2 => format!("b = {};", self.truth(2)),
            3 => format!("r = {};", self.truth(2)),
            4 => format!("a[{}] = {};", self.number(1), self.number(1)),
            5 => format!("assert({});", self.truth(2)),
            6 => format!("assume({});", self.truth(1)),
            7 => self
                .one_of(&["x = *;", "c = *;", "o = *;", "b = *;", "o = me;", "c = Blue;"])
                .to_owned(),
            8 => format!("t = f({}, {});", self.number(1), self.truth(1)),
            9 => format!("a[{}] = f(1, r);", self.number(1)),
            10 => self
                .one_of(&["acquire(m[self]);", "release(l);", "notify(l);", "wait(l);"])
                .to_owned(),
            11 => format!("r = tryacquire(m[{}]);", self.number(1)),
            12 => format!(
                "if ({}) {{ {} }} else {}",
                self.truth(2),
                self.block(depth - 1),
                self.statement(depth - 1)
            ),
            13 => {
                format!(
                    "while ({}) {{ int 0..3 : k{depth}; {} }}",
                    self.truth(2),
                    self.block(depth - 1)
                )
            }
            14 => format!("atomic {{ x = {}; y = t; }}", self.number(1)),
            15 => format!("synchronized(m[{}]) {{ {} }}", self.number(1), self.block(depth - 1)),
            16 => format!(
                "unit {{ bool : q{depth}[2] = {}; {} }}",
                self.truth(1),
                self.block(depth - 1)
            ),
            _ => format!("{{ {} }}", self.block(depth - 1)),
        }
    }

    fn block(&mut self, depth: u64) -> String {
        let statements: Vec<String> = (0..self.below(4)).map(|_| self.statement(depth)).collect();
        statements.join(" ")
    }

    fn text(&mut self) -> String {
        let (f, main) = (self.block(2), self.block(3));
        format!(
            "const N = 2; enum Colour {{ Red, Green, Blue }}; lock : l; mutex : m[2];
            int 0..7 : x, y guarded by l, a[3] = 1; bool : b = *; Colour : c; thread : o;
            invariant (x + y < 20);
            process W[2] {{ int -3..9 : mine = self;
                f(int 0..7 : p, bool : r) : int mod 8 {{ int 0..7 : t; {f} return t + p; }}
                main {{ int 0..7 : t; bool : r; {main} }} }}
            process V {{ main {{ x = y; }} }}"
        )
    }
}

#[test]
fn random_programs_are_valid_and_their_text_form_reads_back() {
    let (mut edges, mut programs) = (0, 0);
    for seed in 0..400 {
        let text = Random(seed).text();
        let parsed = parse(&text);
        let Some(program) = parsed.program else {
            // An index may be a constant that is none of the elements.
            let errors = parsed.diagnostics.iter().filter(|one| one.is_error());
            assert!(errors.clone().all(|one| one.code == "no-such-element"), "{text}");
            continue;
        };
        programs += 1;
        assert_eq!(validate::validate(&program), [], "seed {seed}\n{text}");
        let printed = text::print(&program);
        let (again, problems) = text::parse(&printed);
        assert!(problems.is_empty(), "seed {seed}: {problems:?}\n{text}");
        assert!(again.as_ref() == Some(&program), "seed {seed}\n{text}\n{printed}");
        edges += program.edges.len();
    }
    assert!(edges > 10_000 && programs > 100, "{edges} edges of {programs} programs");
}

#[test]
fn mutants_of_programs_with_data_do_no_harm() {
    let words = [
        "int", "..", "[", "]", "(", ")", "=", "==", "x", "a", "self", ":", ";", "{", "}", "wait",
        "choose", "*", "&&", "atomic", "const", "mod", "?",
    ];
    for seed in 0..400 {
        let mut random = Random(seed);
        let text = random.text();
        let mut tokens: Vec<&str> = text.split(' ').collect();
        for _ in 0..=random.below(3) {
            let at = random.below(tokens.len() as u64) as usize;
            match random.below(3) {
                0 => _ = tokens.remove(at),
                1 => tokens.insert(at, random.one_of(&words)),
                _ => tokens[at] = random.one_of(&words),
            }
        }
        let mutant = tokens.join(" ");
        let parsed = parse(&mutant);
        let refused = parsed.diagnostics.iter().any(Diagnostic::is_error);
        assert_eq!(parsed.program.is_none(), refused, "seed {seed}\n{mutant}");
        if let Some(program) = parsed.program {
            assert_eq!(validate::validate(&program), [], "seed {seed}\n{mutant}");
        }
    }
}

#[test]
fn a_result_needs_no_parentheses() {
    let text = "enum C { A, B }; process P { C : v; f : bool { return true; } g : C { return B; }
        main { bool : t; t = f(); v = g(); } }";
    let program = program(text);
    assert_eq!(program.globals.len(), 1);
    assert_eq!(program.procedures.len(), 3);
}

#[test]
fn words_of_annotations_are_names_elsewhere() {
    let text = "int mod 4 : mod, guarded, by; lock : when; bool : exclusive guarded by when;
        process P { main { mod = guarded + by; synchronized(when) { exclusive = true; } } }";
    assert_eq!(program(text).globals.len(), 4);
}

#[test]
fn a_choice_among_no_constants_is_a_warning_with_a_repair() {
    for (choice, warned) in [("3..0", true), ("N..0", true), ("0..3", false), ("x..0", false)] {
        let text =
            format!("const N = 2; int 0..3 : x; process P {{ main {{ x = choose({choice}); }} }}");
        let parsed = parse(&text);
        assert!(parsed.program.is_some(), "{choice}");
        let found = parsed.diagnostics.iter().find(|one| one.code == "empty-range");
        assert_eq!(found.is_some(), warned, "{choice}");
        if let Some(found) = found {
            assert!(!found.is_error() && found.replacement.is_some(), "{found:?}");
        }
    }
}
