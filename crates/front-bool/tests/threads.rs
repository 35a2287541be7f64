//! Which threads a program has, by name, and what is refused.

mod common;

use selvedge_base::Diagnostic;
use selvedge_front_bool::{Dialect, Options, parse};
use selvedge_program::{Action, Program, Start};

/// The program and the limit on starts.
fn read(text: &str, starts_per_site: Option<u32>) -> (Option<Program>, Option<u32>) {
    let parsed = parse(text, &Options { dialect: None, starts_per_site });
    {
        let starts = parsed.program.as_ref().and_then(|program| program.starts_per_site);
        (parsed.program, starts)
    }
}

/// The names of the threads.
fn threads(text: &str) -> Vec<String> {
    let (program, limited) = read(text, None);
    assert_eq!(limited, None);
    let program = program.expect("no errors");
    program.threads.iter().map(|thread| thread.name.clone()).collect()
}

#[test]
fn one_thread_for_each_start_in_the_order_of_the_sites() {
    assert_eq!(threads("void main() begin skip; end"), ["main"]);
    let text = "void f() begin start_thread v(); end
        void main() begin start_thread u(); start_thread u(); f(); end
        void u() begin skip; end void v() begin start_thread u(); end";
    // The site in `f` stands first, then the two in `main`, then the one in `v`.
    assert_eq!(threads(text), ["main", "v", "u", "u#2", "u#3"]);
}

#[test]
fn sites_that_are_executed_twice_have_two_threads() {
    let text = |main: &str| {
        format!(
            "void t() begin skip; end void s() begin start_thread t(); end
             void r() begin s(); s(); end void main() begin {main} end"
        )
    };
    assert_eq!(threads(&text("s();")), ["main", "t"]);
    assert_eq!(threads(&text("s(); s();")), ["main", "t", "t#2"]);
    assert_eq!(threads(&text("r(); s();")), ["main", "t", "t#2", "t#3"]);
    // Only one of two branches is taken.
    assert_eq!(threads(&text("if * then s(); else s(); fi;")), ["main", "t"]);
    assert_eq!(threads(&text("if * then r(); else s(); fi; s();")), ["main", "t", "t#2", "t#3"]);
    assert_eq!(threads(&text("goto L; s(); L: skip;")), ["main"]);
    assert_eq!(threads(&text("while * do skip; od; s();")), ["main", "t"]);
    // The threads of a started thread count as often as it is started.
    assert_eq!(
        threads(&text("start_thread r(); start_thread s();")),
        ["main", "t", "t#2", "t#3", "r", "s"]
    );
    let (program, _) = read(&text("s(); s();"), None);
    let program = program.expect("no errors");
    let starts: Vec<Start> = program.threads.iter().map(|thread| thread.start).collect();
    let first = program.threads.ids().nth(1);
    let expected = [Start::AtFirst, Start::ByEdge { after: None }, Start::ByEdge { after: first }];
    assert_eq!(starts, expected);
    let edges = program.edges.iter().filter(|edge| matches!(edge.action, Action::Start(_)));
    assert_eq!(edges.count(), 2);
}

#[test]
fn starts_without_bound_need_a_number() {
    let texts = [
        "void t() begin skip; end void main() begin L: start_thread t(); goto L; end",
        "void t() begin skip; end void main() begin while * do ASYNC_1: t(); od; end",
        "void t() begin skip; end void f() begin start_thread t(); if * then f(); fi; end
         void main() begin f(); end",
        "void t() begin start_thread t(); end void main() begin start_thread t(); end",
        "void t() begin start_thread main(); end void main() begin start_thread t(); end",
        "void main() begin L: start_thread goto L; end",
        "void f() begin start_thread skip; end void main() begin while * do f(); od; end",
    ];
    for text in texts {
        assert_eq!(read(text, None).0, None, "{text}");
        for number in 1..4 {
            let (program, limited) = read(text, Some(number));
            let program = program.unwrap_or_else(|| panic!("{text}"));
            assert_eq!(limited, Some(number), "{text}");
            let least = 1 + number as usize;
            assert!(program.threads.len() >= least, "{text}");
        }
    }
    // What such a thread starts once is started as often as the thread.
    let text = "void u() begin skip; end void t() begin start_thread u(); end
        void main() begin while * do start_thread t(); od; end";
    assert_eq!(read(text, Some(3)).0.expect("no errors").threads.len(), 7);
    assert_eq!(read(text, Some(2000)).0, None);
}

#[test]
fn threads_have_copies_of_their_procedures_only() {
    let text = "decl a; void f() begin L: a := T; end void t() begin f(); end
        void unused() begin M: f(); end
        void main() begin f(); start_thread t(); start_thread a := F; end";
    let parsed = parse(text, &Options::default());
    assert_eq!(parsed.unused_labels, ["M"]);
    let codes: Vec<&str> = parsed.diagnostics.iter().map(|one| one.code).collect();
    assert_eq!(codes, ["unused-function"]);
    let program = parsed.program.expect("no errors");
    let names: Vec<(usize, &str)> = program
        .procedures
        .iter()
        .map(|one| (selvedge_base::Id::index(one.owner.expect("not shared")), one.name.as_str()))
        .collect();
    assert_eq!(names, [(0, "f"), (0, "main"), (1, "f"), (1, "t"), (2, "main@3:63")]);
    let labels: Vec<&str> = program.labels.iter().map(|label| label.name.as_str()).collect();
    assert_eq!(labels, ["L", "L"]);
}

#[test]
fn who_reads_the_wrong_dialect_learns_of_the_option() {
    let help = |text: &str, dialect| {
        let parsed = parse(text, &Options { dialect, starts_per_site: None });
        let errors = parsed.diagnostics.into_iter().filter(Diagnostic::is_error);
        errors.filter_map(|one| one.help).collect::<Vec<String>>().join("\n")
    };
    let nobody = "void f() begin skip; end";
    assert!(help(nobody, None).contains("`--dialect getafix`"), "{}", help(nobody, None));
    assert!(!help(nobody, Some(Dialect::Boppo)).contains("--dialect"));
    let started = "void init() begin skip; end void f() begin start_thread init(); end";
    let found = help(started, None);
    assert!(found.contains("because start_thread stands at 1:44"), "{found}");
    assert!(found.contains("`--dialect getafix`"), "{found}");
    let called = "void init() begin skip; end void main() begin init(); end";
    assert!(help(called, None).contains("`--dialect boppo`"), "{}", help(called, None));
    assert_eq!(help(called, Some(Dialect::Boppo)), "");
}

#[test]
fn dialects_are_told_apart() {
    let detected = |text: &str| {
        let parsed = parse(text, &Options::default());
        (parsed.dialect, parsed.why)
    };
    let first = |text: &str| detected(text).0;
    let init = "void init() begin skip; end";
    assert_eq!(detected(init), (Dialect::Getafix, "the first function is init".to_owned()));
    assert_eq!(first(&format!("{init} void main() begin skip; end")), Dialect::Getafix);
    assert_eq!(first(&format!("void main() begin skip; end {init}")), Dialect::Boppo);
    let started = format!("{init} void main() begin start_thread init(); end");
    assert_eq!(detected(&started), (Dialect::Boppo, "start_thread stands at 1:47".to_owned()));
    assert_eq!(first(&format!("{init} void f() begin ASYNC_1: init(); end")), Dialect::Boppo);
    let ended = "void f() begin end_thread; end";
    assert_eq!(first(&format!("{init} {ended}")), Dialect::Getafix);
    assert_eq!(first(&format!("{ended} void g() begin constrain(T); end")), Dialect::Boppo);
    assert_eq!(first("void f() begin constrain(T); end"), Dialect::Getafix);
    for boppo in ["enforce T;", "abortif(T);", "dead x;", "x := schoose[T,T];", "goto L, M;"] {
        assert_eq!(first(&format!("void f() begin {boppo} constrain(T); end")), Dialect::Boppo);
    }
    let asked = Options { dialect: Some(Dialect::Boppo), starts_per_site: None };
    let parsed = parse(init, &asked);
    assert_eq!((parsed.dialect, parsed.why.as_str()), (Dialect::Boppo, "it was asked for"));
    assert_eq!(parsed.diagnostics[0].code, "missing-main");
    assert_eq!(
        (Dialect::Boppo.word(), Dialect::Getafix.to_string().as_str()),
        ("boppo", "getafix")
    );
}

#[test]
fn getafix_threads_wait_for_init() {
    let text = "decl a; void init() begin if (*) then return; fi; a := T; end
        bool help(x) begin return x; end void one() begin skip; end void two(x) begin a := x; end";
    assert_eq!(threads(text), ["init", "one", "two"]);
    let program = common::program(text);
    let init = &program.procedures.iter().next().expect("init");
    let ends: Vec<Action> = program
        .edges
        .iter()
        .filter(|edge| edge.target == init.exit)
        .map(|edge| edge.action)
        .collect();
    // Every way to the end goes through the starts.
    assert!(matches!(ends.as_slice(), [Action::Start(_)]), "{ends:?}");
}
