//! Temporal formulas: known answers, the other commands by formulas, and all short runs by hand.

use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::Budget;
use selvedge_logic::parse;
use selvedge_program::{
    Answer, Program, Proposition, Question, Successors, TemporalQuestion, ThreadId, Unknown,
    Verdict,
};
use selvedge_replay::State;
use selvedge_replay::temporal::atoms::{Moment, Taken};
use selvedge_replay::temporal::evaluate::evaluate;
use selvedge_testkit::Rng;
use selvedge_testkit::complaints::assert_no_fault;
use selvedge_testkit::formulas::random_formula;
use selvedge_testkit::generate::{Shape, random_model};
use std::ops::ControlFlow;

fn program(source: &str) -> Program {
    let read = selvedge_front_eml::parse(source);
    read.program.unwrap_or_else(|| panic!("{:?}", read.diagnostics))
}

fn questions(program: &Program, text: &str, fair: &[&str]) -> Vec<TemporalQuestion> {
    let named = |name: &&str| {
        let mut threads = program.threads.iter_enumerated();
        threads.find(|(_, thread)| thread.name == **name).expect("a thread").0
    };
    let fair: Vec<ThreadId> = fair.iter().map(named).collect();
    let (questions, complaints) = parse(text, program, &fair);
    assert!(complaints.is_empty(), "{text}: {complaints:?}");
    questions
}

fn decide(program: &Program, question: TemporalQuestion) -> Answer {
    decide_by(program, question, None)
}

fn decide_by(program: &Program, question: TemporalQuestion, engine: Option<EngineKind>) -> Answer {
    let prepared = Prepared::new(program);
    let options = Options::new(engine);
    let question = [Question::Temporal(question)];
    let report = answer(&prepared, &question, &options, &Budget::new(), &mut |_| {});
    let mut report = report.expect("every run replays");
    assert_no_fault(&report.faults);
    report.answers.remove(0)
}

/// Whether a formula holds; `None` if that is open.
fn holds(program: &Program, text: &str, fair: &[&str]) -> Option<bool> {
    decide(program, questions(program, text, fair).remove(0)).is_good()
}

const SPOOL: &str = include_str!("../../../examples/spool.eml");

#[test]
fn known_answers() {
    let spool = program(SPOOL);
    for (text, fair, expected) in [
        ("A G !(T1@put && T2@get)", &[][..], true),
        ("E F (T1@begun && T2@get)", &[], true),
        ("A G !deadlock", &[], true),
        ("A F end", &[], false),
        ("E F end", &[], true),
        ("A (G F T1@idle)", &[], false),
        ("A (G F T1@idle)", &["T1"], false),
        ("A (F ended(T1) || G F T1@idle)", &["T1"], true),
        ("A (F ended(T1) || G F T1@idle)", &["T2"], false),
        ("A G (T1@begun -> F T1@put)", &["T2"], false),
        ("A G (T1@begun -> F T1@put)", &["T1", "T2"], true),
        ("E G (T1@begun -> F T1@put)", &["T1", "T2"], true),
        ("A G (in(T1, push) -> holds(T1, spool))", &[], true),
        ("A G (holds(T1, spool) -> in(T1, push))", &[], false),
        ("A G (holds(T1, spool) -> !next(T2, read count))", &[], true),
        ("A G (blocked(T1) -> holds(T2, spool))", &[], true),
        ("E F (blocked(T1) && X[T2: release spool] !blocked(T1))", &[], true),
        ("E F X[T1: release spool] blocked(T1)", &[], false),
        ("A X true", &[], true),
        ("E X false", &[], false),
        ("A !(T1@idle) W (T1@idle || ended(T1))", &[], true),
        ("A G (T1@put -> X (T1@put || !T2@get))", &[], true),
        ("E (G F T1@put && G F T2@get)", &[], true),
        ("E (F G T1@put && G F T2@get)", &[], false),
    ] {
        assert_eq!(holds(&spool, text, fair), Some(expected), "{text}, fair to {fair:?}");
    }
}

/// A run that ends repeats its last configuration: `X` there is what is there.
#[test]
fn runs_that_end_stutter() {
    let two =
        program("process A { main { skip; label last: skip; } } process B { main { skip; } }");
    for (text, expected) in [
        ("A F (end && X end)", true),
        ("A F (ended(A) && ended(B))", true),
        ("E G !A@last", false),
        ("A G !deadlock", true),
        ("E F (end && X[A] true)", false),
        ("A F G !next(A, return main)", true),
    ] {
        assert_eq!(holds(&two, text, &[]), Some(expected), "{text}");
    }
    // Two threads wait for each other: nobody can move, and that is a deadlock.
    let locks = "lock : a, b; process A { main { synchronized(a) { synchronized(b) { skip; } } } }
         process B { main { synchronized(b) { synchronized(a) { skip; } } } }";
    let locks = program(locks);
    for (text, expected) in [
        ("E F deadlock", true),
        ("A G (deadlock -> (blocked(A) && blocked(B) && holds(A, a) && holds(B, b)))", true),
        ("A F (ended(A) && ended(B))", false),
        ("A (F deadlock || F (ended(A) && ended(B)))", true),
    ] {
        assert_eq!(holds(&locks, text, &[]), Some(expected), "{text}");
    }
}

#[test]
fn data_atomic_sections_and_channels() {
    let data = "int 0..3 : x = 0; process A { main { while (x < 3) { x = x + 1; } } }
         process B { main { atomic { x = 0; x = 1; } } }";
    let data = program(data);
    for (text, expected) in [
        // Only A can move for ever, and its loop ends.
        ("A F ended(A)", true),
        ("E F {x == 3}", true),
        ("A G {x <= 3 && x >= 0}", true),
        // The section is one step, so nobody sees the 0 in it behind a 2.
        ("E F ({x == 2} && X[B] {x == 0})", false),
        ("E F ({x == 2} && X[B] {x == 1})", true),
    ] {
        assert_eq!(holds(&data, text, &[]), Some(expected), "{text}");
    }
    let channel = "chan : c; process A { main { send c; label sent: skip; } }
         process B { main { label before: recv c; label got: skip; } }";
    let channel = program(channel);
    for (text, expected) in [
        ("A G (A@sent -> !B@before)", true),
        ("E F X[B: recv c] B@got", true),
        ("A G !blocked(B)", true),
        ("E F (next(A, send c) && next(B, recv c) && X[A: send c] (A@sent && B@got))", true),
    ] {
        assert_eq!(holds(&channel, text, &[]), Some(expected), "{text}");
    }
}

/// A search looks at runs with few open calls only; what it leaves open the abstraction of stacks may
/// decide.
#[test]
fn recursion_leaves_what_is_not_found_to_the_abstraction() {
    let deep = program(
        "process A { f { if (*) f(); label out: skip; } main { f(); } } process B { main { skip; } }",
    );
    assert_eq!(holds(&deep, "E F A@out", &[]), Some(true));
    let searched = |text: &str| {
        let question = questions(&deep, text, &[]).remove(0);
        decide_by(&deep, question, Some(EngineKind::Exhaustive)).verdict
    };
    // A run that calls for ever comes back to no state.
    assert_eq!(searched("A F ended(A)"), Verdict::Unknown(Unknown::CallDepth(8)));
    assert_eq!(searched("E F deadlock"), Verdict::Unknown(Unknown::CallDepth(8)));
    assert_eq!(holds(&deep, "A F ended(A)", &[]), Some(false));
    // Lock histories need no such limit.
    assert_eq!(holds(&deep, "E F deadlock", &[]), Some(false));
    assert_eq!(holds(&deep, "E G F in(A, f)", &[]), Some(true));
    assert_eq!(holds(&deep, "E (G F in(A, f) && F A@out)", &[]), Some(false));
}

/// A step that can fail leaves open what is not found.
#[test]
fn failing_steps_leave_what_is_not_found_open() {
    let fails = program(
        "int 0..3 : x = 0; process A { main { x = x + 1; assert(x == 0); } }
         process B { main { while (*) { skip; } } }",
    );
    assert_eq!(holds(&fails, "E F {x == 1}", &[]), Some(true));
    assert_eq!(holds(&fails, "A G {x <= 2}", &[]), None);
}

/// Two threads that race, deadlock, or do neither, by the commands and by formulas.
#[test]
fn the_other_questions_as_formulas() {
    let mut found = [0; 2];
    for seed in 0..12 {
        let source = random_model(&mut Rng::new(seed), &Shape::TINY).to_eml();
        let program = program(&source);
        let options = Options { call_depth: 3, ..Options::new(Some(EngineKind::Exhaustive)) };
        let threads: Vec<ThreadId> = program.threads.ids().collect();
        let locations: Vec<_> = program.locations.ids().collect();
        let races = selvedge_program::moment::races(&threads, &locations);
        for race in races.into_iter().take(4) {
            let [a, b] = race.threads.map(|id| &program.threads[id].name);
            let x = &program.locations[race.location].name;
            let about = |thread: &str, what: &str| format!("next({thread}, {what} {x})");
            let text = format!(
                "E F ({} && ({} || {}) || {} && {})",
                about(a, "write"),
                about(b, "read"),
                about(b, "write"),
                about(a, "read"),
                about(b, "write")
            );
            let formula = questions(&program, &text, &[]).remove(0);
            let asked = [Question::Race(race), Question::Temporal(formula)];
            let prepared = Prepared::new(&program);
            let report = answer(&prepared, &asked, &options, &Budget::new(), &mut |_| {});
            let answers = report.expect("every run replays").answers;
            match (&answers[0].verdict, &answers[1].verdict) {
                (Verdict::Violation(_), Verdict::Violation(_)) => found[0] += 1,
                (Verdict::Safe, Verdict::Safe) => found[1] += 1,
                (Verdict::Unknown(_), _) | (_, Verdict::Unknown(_)) => {}
                (race, formula) => panic!("{text}: {race:?} but {formula:?} of\n{source}"),
            }
        }
    }
    assert!(found.iter().all(|&count| count > 2), "{found:?}");
}

/// A state with the step that leads to the next one.
type Walk = Vec<(State, Option<Taken>)>;

/// Every run of at most so many steps that comes back to a state it was in, or ends.
fn short_runs(program: &Program, longest: usize, visit: &mut dyn FnMut(&Walk, usize)) {
    let successors = Successors::new(program);
    let mut initial = Vec::new();
    let _ = State::for_each_initial(program, &mut |state| {
        initial.push(state);
        ControlFlow::Continue(())
    });
    let mut open: Vec<Walk> = initial.into_iter().map(|state| vec![(state, None)]).collect();
    while let Some(walk) = open.pop() {
        let (last, _) = walk.last().expect("a walk has a state");
        let mut moved = false;
        for thread in program.threads.ids() {
            let _ = last.successors(program, &successors, thread, &mut |step, next| {
                moved = true;
                let budget = Budget::new();
                let moment =
                    Moment { program, successors: &successors, state: last, budget: &budget };
                let mut taken = Taken::by(thread);
                taken.deeds.extend(moment.deed(thread, step.step));
                let mut longer = walk.clone();
                longer.last_mut().expect("a state").1 = Some(taken);
                if let Some(at) = walk.iter().position(|(state, _)| *state == next) {
                    visit(&longer, at);
                }
                if walk.len() <= longest {
                    longer.push((next, None));
                    open.push(longer);
                }
                ControlFlow::Continue(())
            });
        }
        if !moved {
            visit(&walk, walk.len() - 1);
        }
    }
}

/// No short run satisfies a formula that no run is said to satisfy, on small programs with loops, locks
/// and accesses; what is said to be satisfied, the replayer has evaluated.
#[test]
fn formulas_against_all_short_runs() {
    let source = "lock : l; var : x;
        process A { main { while (*) { synchronized(l) { label a: write x; } } } }
        process B { main { while (*) { label b: synchronized(l) { read x; } } label c: skip; } }";
    let small = program(source);
    let text = "E A@a; E B@b; E B@c; E holds(A, l); E blocked(B); E ended(B); E X[A: write x] true;
        E X[B] true; E end; E next(B, read x)";
    let mut propositions: Vec<Proposition> = Vec::new();
    for question in questions(&small, text, &[]) {
        propositions.extend(question.formula.propositions().into_iter().cloned());
    }
    let successors = Successors::new(&small);
    // The truth of the propositions along each run, once for all formulas.
    let mut runs: Vec<(Vec<Vec<bool>>, usize)> = Vec::new();
    short_runs(&small, 7, &mut |walk, repeats| {
        let truth = |(state, taken): &(State, Option<Taken>)| {
            let budget = Budget::new();
            let moment =
                Moment { program: &small, successors: &successors, state, budget: &budget };
            let holds = |one| moment.holds(one, taken.as_ref()).expect("it is found out");
            propositions.iter().map(holds).collect()
        };
        runs.push((walk.iter().map(truth).collect(), repeats));
    });
    assert!(runs.len() > 50, "{}", runs.len());
    let mut found = [0; 2];
    for seed in 0..250 {
        let mut rng = Rng::new(seed);
        let formula = random_formula(&mut rng, 2 + (seed % 2) as u32, &propositions);
        let mut question = questions(&small, "E true", &[]).remove(0);
        question.formula = formula.clone();
        let satisfied = runs.iter().any(|(truth, repeats)| {
            let at = |one: &Proposition| propositions.iter().position(|known| known == one);
            evaluate(&formula, truth.len(), *repeats, &|moment, one| {
                truth[moment][at(one).expect("a known one")]
            })
        });
        match decide(&small, question).verdict {
            Verdict::Violation(_) => found[0] += 1,
            Verdict::Safe => {
                found[1] += 1;
                assert!(!satisfied, "a short run satisfies {formula:?}");
            }
            Verdict::Unknown(why) => panic!("{why}"),
        }
    }
    assert!(found.iter().all(|&count| count > 20), "{found:?}");
}

/// A run that says it repeats from elsewhere does not come back to where that is, and is refused.
#[test]
fn a_part_that_does_not_repeat_is_refused() {
    let spool = program(SPOOL);
    let question = questions(&spool, "E true", &[]).remove(0);
    let text = "E (G F T1@put && G F T2@get)";
    let both = questions(&spool, text, &[]).remove(0);
    let found = decide_by(&spool, both, Some(EngineKind::Exhaustive)).verdict;
    let Verdict::Violation(trace) = found else { panic!("there is a run") };
    let witness = trace.witness(&spool);
    let repeats = witness.repeats.expect("it repeats");
    let check = |repeats: Option<usize>, question: &TemporalQuestion| {
        let witness = selvedge_program::Witness { repeats, ..witness.clone() };
        selvedge_replay::replay(&spool, &Question::Temporal(question.clone()), &witness)
    };
    assert!(check(Some(repeats), &question).is_ok());
    let end = witness.steps.len();
    for other in (0..=end).filter(|&at| at != repeats).map(Some).chain([Some(end + 1)]) {
        assert!(check(other, &question).is_err(), "{other:?} of {end}, not {repeats}");
    }
    // A run that does not say how it goes on shows only what is true whatever comes then.
    assert!(check(None, &question).is_ok());
    assert!(check(None, &questions(&spool, text, &[]).remove(0)).is_err());
    assert!(check(None, &questions(&spool, "E F T1@put", &[]).remove(0)).is_ok());
    assert!(check(None, &questions(&spool, "E G !T1@put", &[]).remove(0)).is_err());
    assert!(check(None, &questions(&spool, "E F T1@put", &["T1"]).remove(0)).is_err());
    // Nor is it fair to a thread that does not move in it.
    let alone = questions(&spool, "E G !T1@put", &["T1"]).remove(0);
    let stays = decide(&spool, questions(&spool, "E (G !T1@put && G F T2@get)", &[]).remove(0));
    let Verdict::Violation(stays) = stays.verdict else { panic!("there is a run") };
    let round = &stays.steps[stays.repeats.expect("it repeats")..];
    assert!(round.iter().all(|step| step.thread != alone.fair[0]), "T1 stands still");
    let stays = stays.witness(&spool);
    let fair = selvedge_replay::replay(&spool, &Question::Temporal(alone), &stays);
    assert!(fair.is_err());
}

/// Returns can follow each other three times, and not for ever.
#[test]
fn a_stack_that_shrinks_does_not_repeat() {
    let deep =
        program("process A { f { if (*) f(); } main { f(); } } process B { main { skip; } }");
    let call = "F X[A: call f] ";
    let text = format!("E {}F ended(A)", call.repeat(6));
    let Verdict::Violation(trace) = decide(&deep, questions(&deep, &text, &[]).remove(0)).verdict
    else {
        panic!("there is a run");
    };
    let mut witness = trace.witness(&deep);
    let returns = |step: &selvedge_program::WitnessStep| step.step.edge().is_none();
    let first = witness.steps.iter().position(returns).expect("a return");
    assert!(witness.steps[first..first + 3].iter().all(returns), "returns follow each other");
    witness.steps.truncate(first + 1);
    witness.repeats = Some(first);
    let question = Question::Temporal(questions(&deep, "E true", &[]).remove(0));
    assert!(selvedge_replay::replay(&deep, &question, &witness).is_err());
}

/// Where some run is sought that passes places of single threads, the copies that a formula names are enough;
/// anywhere else nothing beyond the given number is known.
#[test]
fn any_number_of_copies() {
    let source =
        "lock : l; process W[*] { main { synchronized(l) { label a: skip; } label b: skip; } }";
    let program = selvedge_front_eml::parse(source).program.expect("a program");
    let made = selvedge_analysis::instance(program, &[], 3);
    for (text, expected) in [
        ("E F (\"W[0]\"@a && \"W[1]\"@b)", Some(true)),
        ("E F (\"W[0]\"@a && \"W[1]\"@a)", Some(false)),
        ("E F (\"W[0]\"@b && F (\"W[0]\"@a || !holds(\"W[1]\", l) && \"W[1]\"@a))", Some(false)),
        ("E F deadlock", None),
        ("E X X X X X X X X X X X X X X X X !end", None),
        ("A G !(\"W[0]\"@a && \"W[1]\"@a)", Some(true)),
        ("A (G !(\"W[0]\"@a && \"W[1]\"@a) || G !\"W[0]\"@b)", Some(true)),
        ("A F ended(\"W[0]\")", None),
        ("A G !(\"W[0]\"@a && \"W[1]\"@b)", Some(false)),
    ] {
        let (questions, complaints) = parse(text, &made.program, &[]);
        assert!(complaints.is_empty(), "{text}: {complaints:?}");
        let questions: Vec<Question> = questions.into_iter().map(Question::Temporal).collect();
        let options = Options { copies: made.limit, ..Options::new(None) };
        let prepared = Prepared::new(&made.program);
        let report = answer(&prepared, &questions, &options, &Budget::new(), &mut |_| {});
        let mut report = report.expect("every run replays");
        assert_no_fault(&report.faults);
        let found = report.answers.remove(0);
        assert_eq!(found.is_good(), expected, "{text}");
    }
}

/// What stands behind an operator is written once, but for `W`.
#[test]
fn deeply_nested_formulas_are_read() {
    let source = "process P { main { while (*) { label a: skip; } } } process Q { main { skip; } }";
    let program = selvedge_front_eml::parse(source).program.expect("a program");
    for (operator, most) in
        [("U", 60), ("R", 60), ("&& X", 60), ("|| F", 60), ("->", 60), ("W", 12)]
    {
        let nested = |times: usize| {
            format!("E {}P@a{}", format!("(P@a {operator} ").repeat(times), ")".repeat(times))
        };
        let (_, complaints) = parse(&nested(most), &program, &[]);
        assert!(complaints.is_empty(), "{operator}: {complaints:?}");
        let (_, complaints) = parse(&nested(300), &program, &[]);
        assert!(!complaints.is_empty(), "{operator}");
    }
}

/// A copy that the formula does not name may have to wake another one up, so naming is not enough.
#[test]
fn copies_that_somebody_needs() {
    let source = "lock : l;
        process W[*] { main { synchronized(l) { notify(l); } } }
        process M { main { synchronized(l) { wait(l); wait(l); label woken: skip; } } }";
    let read = selvedge_front_eml::parse(source);
    let program = read.program.unwrap_or_else(|| panic!("{:?}", read.diagnostics));
    for (copies, expected) in [(1, None), (2, Some(true))] {
        let made = selvedge_analysis::instance(program.clone(), &[], copies);
        let (questions, complaints) = parse("E F M@woken", &made.program, &[]);
        assert!(complaints.is_empty(), "{complaints:?}");
        let questions: Vec<Question> = questions.into_iter().map(Question::Temporal).collect();
        let options = Options { copies: made.limit, ..Options::new(None) };
        let prepared = Prepared::new(&made.program);
        let report = answer(&prepared, &questions, &options, &Budget::new(), &mut |_| {});
        let mut report = report.expect("every run replays");
        assert_no_fault(&report.faults);
        let found = report.answers.remove(0);
        assert_eq!(found.is_good(), expected, "with {copies} copies");
    }
}
