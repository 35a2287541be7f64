//! The procedure for communicating pushdown systems against exhaustive interleaving and tupling on random
//! programs, in all its forms: what one of them finds replays and the others find it too, what one proves
//! none refutes, and a program without recursion is always decided.
//!
//! `SELVEDGE_PROGRAMS` sets the number of programs (default: a few seconds' worth), `SELVEDGE_SEED`
//! the first seed. `cargo xtask differential cpds` runs the large version.

#![expect(clippy::print_stdout, reason = "the large run shows its counts")]

use selvedge_analysis::{EngineKind, Options, Prepared, QuestionKind, answer};
use selvedge_base::{Budget, Place};
use selvedge_cpds::{Abstraction, CpdsOptions, Reentrant};
use selvedge_program::{
    Action, Channel, ChannelId, EdgeId, Feature, NodeId, Program, Question, Target, ThreadId,
    Unknown, Verdict,
};
use selvedge_testkit::generate::{Shape, random_model, with_starts};
use selvedge_testkit::queries::{all_races, describe, random_automaton, some_patterns};
use selvedge_testkit::shrink::shrink;
use selvedge_testkit::{Model, Rng};

const CALL_DEPTH: u32 = 3;

/// How often a form may look at its budget for one question about a program with recursion, and
/// without.
const STEPS: [u64; 2] = [4_000, 200_000];

/// How often exhaustive search may look at its budget for one question.
const SEARCHED: u64 = 20_000;

/// All forms of the procedure.
const FORMS: [CpdsOptions; 4] = [
    CpdsOptions { reentrant: Reentrant::Reduced, abstraction: Abstraction::Both, max_k: Some(8) },
    CpdsOptions { reentrant: Reentrant::Reduced, abstraction: Abstraction::Prefix, max_k: Some(6) },
    CpdsOptions { reentrant: Reentrant::Counted, abstraction: Abstraction::Both, max_k: Some(8) },
    CpdsOptions { reentrant: Reentrant::Counted, abstraction: Abstraction::Prefix, max_k: Some(6) },
];

#[derive(Default, Debug)]
struct Tally {
    programs: usize,
    recursive: usize,
    questions: usize,
    violations: usize,
    safe: usize,
    /// Answers of each form, and how many it left open.
    decided: [usize; 4],
    open: [usize; 4],
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|value| value.parse().ok())
}

fn verdicts(
    program: &Program,
    questions: &[Question],
    options: &Options,
) -> Result<Vec<Verdict<()>>, String> {
    let name = options.engine.map_or("no engine", EngineKind::name);
    let mut verdicts = Vec::new();
    for question in questions {
        let recursive = program.features().contains(Feature::Recursion);
        let budget = Budget::with_steps(STEPS[usize::from(!recursive)]);
        let budget = match options.engine {
            Some(EngineKind::Cpds) => budget,
            Some(EngineKind::Exhaustive) => Budget::with_steps(SEARCHED),
            _ => Budget::new(),
        };
        let one = std::slice::from_ref(question);
        let report = answer(&Prepared::new(program), one, options, &budget, &mut |_| {});
        let report = report.map_err(|error| {
            format!("{name} {:?}: {}: {error}", options.cpds, describe(program, question))
        })?;
        verdicts.extend(report.answers.into_iter().map(|answer| answer.verdict.map(|_| ())));
    }
    Ok(verdicts)
}

/// What is known for certain about each question: by tupling, or by exhaustive search.
fn known(program: &Program, questions: &[Question]) -> Result<Vec<Option<bool>>, String> {
    let mut known = vec![None; questions.len()];
    let locks = |question: &&Question| QuestionKind::of(question) != QuestionKind::Reach;
    let mut others = vec![EngineKind::Exhaustive];
    if program.features().contains(Feature::Channels) {
        // No lock histories tell who is ready.
    } else if questions.iter().all(|question| locks(&question)) {
        others.extend([EngineKind::Tupling, EngineKind::TuplingBdd, EngineKind::ContextBounded]);
    } else {
        others = vec![EngineKind::Explicit];
    }
    for engine in others {
        let options = Options { call_depth: CALL_DEPTH, ..Options::new(Some(engine)) };
        let options = if matches!(engine, EngineKind::Explicit | EngineKind::ContextBounded) {
            Options { limit: Some(2), ..options }
        } else {
            options
        };
        for (known, verdict) in known.iter_mut().zip(verdicts(program, questions, &options)?) {
            let violated = match verdict {
                Verdict::Violation(()) => true,
                Verdict::Safe => false,
                Verdict::Unknown(_) => continue,
            };
            if *known == Some(!violated) {
                return Err(format!("{} contradicts another engine", engine.name()));
            }
            *known = Some(violated);
        }
    }
    Ok(known)
}

fn compare(program: &Program, questions: &[Question], tally: &mut Tally) -> Result<(), String> {
    let known = known(program, questions)?;
    let recursive = program.features().contains(Feature::Recursion);
    tally.programs += 1;
    tally.recursive += usize::from(recursive);
    tally.questions += questions.len();
    for known in &known {
        match known {
            Some(true) => tally.violations += 1,
            Some(false) => tally.safe += 1,
            None => {}
        }
    }
    for (at, cpds) in FORMS.into_iter().enumerate() {
        let options = Options { cpds, ..Options::new(Some(EngineKind::Cpds)) };
        let found = verdicts(program, questions, &options)?;
        for ((question, known), verdict) in questions.iter().zip(&known).zip(found) {
            let fail =
                |what: String| Err(format!("{cpds:?}: {}: {what}", describe(program, question)));
            let violated = match verdict {
                Verdict::Violation(()) => true,
                Verdict::Safe => false,
                Verdict::Unknown(Unknown::Actions { .. } | Unknown::Stopped(_)) => {
                    // What counts acquisitions approximates locks.
                    if !recursive && cpds.reentrant == Reentrant::Reduced {
                        return fail("without recursion, it is left open".to_owned());
                    }
                    tally.open[at] += 1;
                    continue;
                }
                Verdict::Unknown(why) => return fail(why.to_string()),
            };
            tally.decided[at] += 1;
            if known.is_some_and(|known| known != violated) {
                return fail(format!("it says {violated}, others {known:?}"));
            }
        }
    }
    Ok(())
}

fn run(
    shape: &Shape,
    programs: u64,
    starts: bool,
    mut questions: impl FnMut(&Program, &mut Rng) -> Vec<Question>,
) -> Tally {
    let programs = number("SELVEDGE_PROGRAMS").unwrap_or(programs);
    let first = number("SELVEDGE_SEED").unwrap_or(1);
    let mut tally = Tally::default();
    for seed in first..first + programs {
        let mut rng = Rng::new(seed);
        let mut model = random_model(&mut rng, shape);
        if starts {
            model = with_starts(&mut rng, model);
        }
        let program = model.to_program();
        let questions = questions(&program, &mut rng);
        if let Err(message) = compare(&program, &questions, &mut tally) {
            let smallest = shrink(model, |smaller| fails(smaller, &questions));
            panic!("seed {seed}: {message}\n{}", smallest.to_eml());
        }
    }
    println!("{tally:?}");
    assert!(tally.violations * 20 > tally.questions, "too few violations: {tally:?}");
    assert!(tally.safe * 20 > tally.questions, "too few safe questions: {tally:?}");
    assert!(tally.recursive * 5 > tally.programs, "too few recursive programs: {tally:?}");
    tally
}

fn fails(model: &Model, questions: &[Question]) -> bool {
    let program = model.to_program();
    let possible: Vec<Question> = questions
        .iter()
        .filter(|question| selvedge_replay::question_error(&program, question).is_none())
        .cloned()
        .collect();
    compare(&program, &possible, &mut Tally::default()).is_err()
}

/// A program some of whose steps send, post, broadcast or receive over one of two channels.
fn with_channels(rng: &mut Rng, program: &mut Program) {
    let count = rng.between(1, 2);
    let channels: Vec<ChannelId> = (0..count)
        .map(|at| program.channels.push(Channel { name: format!("a{at}"), place: Place::NONE }))
        .collect();
    let edges: Vec<EdgeId> = program.edges.ids().collect();
    for edge in edges {
        let edge = &mut program.edges[edge];
        let likely = match edge.action {
            Action::Skip => 60,
            Action::Read(_) | Action::Write(_) => 25,
            _ => 0,
        };
        if rng.percent(likely) {
            let channel = *rng.pick(&channels);
            edge.action = match rng.below(7) {
                0 | 1 => Action::Send(channel),
                2 => Action::Post(channel),
                3 => Action::Broadcast(channel),
                _ => Action::Recv(channel),
            };
        }
    }
}

/// Against exhaustive search, on programs of 2 to 4 threads with locks and all that channels can do.
#[test]
fn channels() {
    let programs = number("SELVEDGE_PROGRAMS").unwrap_or(30);
    let first = number("SELVEDGE_SEED").unwrap_or(1);
    let mut tally = Tally::default();
    let mut kinds = [0; 4];
    for seed in first..first + programs {
        let mut rng = Rng::new(seed);
        let shape = Shape { statements: 7, ..Shape::TINY };
        let mut model = random_model(&mut rng, &shape);
        if rng.percent(30) {
            model = with_starts(&mut rng, model);
        }
        let mut program = model.to_program();
        with_channels(&mut rng, &mut program);
        assert!(selvedge_program::validate::validate(&program).is_empty(), "seed {seed}");
        for edge in &program.edges {
            match edge.action {
                Action::Send(_) => kinds[0] += 1,
                Action::Post(_) => kinds[1] += 1,
                Action::Broadcast(_) => kinds[2] += 1,
                Action::Recv(_) => kinds[3] += 1,
                _ => {}
            }
        }
        let mut questions = some_patterns(&program, &mut rng, 3);
        questions.extend(all_races(&program).into_iter().take(3));
        questions.extend(random_automaton(&program, &mut rng).map(Question::Automaton));
        if let Err(message) = compare(&program, &questions, &mut tally) {
            panic!("seed {seed}: {message}\n{}", selvedge_program::text::print(&program));
        }
    }
    println!("{tally:?} {kinds:?}");
    assert!(tally.violations * 20 > tally.questions, "too few violations: {tally:?}");
    assert!(tally.safe * 20 > tally.questions, "too few safe questions: {tally:?}");
    assert!(tally.recursive * 5 > tally.programs, "too few recursive programs: {tally:?}");
    assert!(kinds.iter().all(|&kind| kind > 25), "{kinds:?}");
}

#[test]
fn patterns() {
    run(&Shape::SMALL, 60, false, |program, rng| some_patterns(program, rng, 8));
}

#[test]
fn automata_of_up_to_four_threads() {
    run(&Shape::TINY, 60, false, |program, rng| {
        (0..4).filter_map(|_| random_automaton(program, rng)).map(Question::Automaton).collect()
    });
}

#[test]
fn races_and_patterns_of_threads_that_are_started_and_joined() {
    let shape = Shape { processes: (2, 4), statements: 7, ..Shape::TINY };
    run(&shape, 60, true, |program, rng| {
        let mut questions = some_patterns(program, rng, 4);
        let races = all_races(program);
        questions.extend(races.into_iter().take(4));
        questions
    });
}

/// The nodes that some thread can have on top of its stack, as labels.
#[test]
fn labels() {
    run(&Shape::TINY, 40, false, |program, rng| {
        (0..6)
            .map(|_| {
                let nodes = program.nodes.len();
                let node = program.nodes.ids().nth(rng.below(nodes)).expect("a node");
                Question::Reach(Target::Label(vec![node]))
            })
            .collect()
    });
}

/// The threads and nodes of questions keep their ids, so a label is one of the program.
#[test]
fn a_label_is_reached_with_the_locks_that_it_needs() {
    let source = "lock : l; var : x;
        process A { main { synchronized(l) { label both: read x; } } }
        process B { main { synchronized(l) { if (*) main(); label never: write x; } skip; } }";
    let program = selvedge_front_eml::parse(source).program.expect("a program");
    let label = |name: &str| -> Vec<NodeId> {
        program.labels.iter().filter(|one| one.name == name).map(|one| one.node).collect()
    };
    for form in FORMS {
        let options = Options { cpds: form, ..Options::new(Some(EngineKind::Cpds)) };
        for name in ["both", "never"] {
            let question = Question::Reach(Target::Label(label(name)));
            let found = verdicts(&program, &[question], &options).expect("no contradiction");
            assert_eq!(found, [Verdict::Violation(())], "{name}");
        }
    }
    assert_eq!(program.threads.ids().collect::<Vec<ThreadId>>().len(), 2);
}
