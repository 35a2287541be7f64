//! Where paper 003 goes wrong, or stops, and what is answered instead (ERRATA).

use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::{Budget, Id, Place};
use selvedge_program::{
    Action, Edge, Formula, Frame, NodeId, Procedure, ProcedureId, Program, Proposition, Question,
    TemporalQuestion, Thread, ThreadId,
};
use std::collections::BTreeMap;

fn program(source: &str) -> Program {
    let read = selvedge_front_eml::parse(source);
    read.program.unwrap_or_else(|| panic!("{:?}", read.diagnostics))
}

fn decide(
    program: &Program,
    question: TemporalQuestion,
    engine: Option<EngineKind>,
) -> Option<bool> {
    let options = Options { call_depth: 8, ..Options::new(engine) };
    let budget = Budget::with_steps(20_000_000);
    let question = [Question::Temporal(question)];
    let report = answer(&Prepared::new(program), &question, &options, &budget, &mut |_| {});
    report.expect("every run replays").answers[0].is_good()
}

fn holds(program: &Program, text: &str, engine: Option<EngineKind>) -> Option<bool> {
    let (mut questions, complaints) = selvedge_logic::parse(text, program, &[]);
    assert_eq!(complaints, [], "{text}");
    decide(program, questions.remove(0), engine)
}

/// Definition 3 forgets what a thread holds throughout: P1 stays where it is and holds l, so P2 is neither
/// inside nor behind its block.
#[test]
fn what_is_held_throughout_is_not_taken() {
    let held = program(
        "lock : l; process P1 { main { synchronized(l) { label in: while (*) { skip; } } } }
         process P2 { main { label before: synchronized(l) { label in: skip; } label behind: skip; } }",
    );
    for engine in [Some(EngineKind::Tupling), Some(EngineKind::Exhaustive)] {
        assert_eq!(holds(&held, "E F (P1@in && F (P1@in && P2@in))", engine), Some(false));
        // From a moment on at which P1 is inside, it stays there.
        let stays = "E F (P1@in && P2@before && G (in(P1, main) && holds(P1, l)) && F P2@behind)";
        assert_eq!(holds(&held, stays, engine), Some(false));
        assert_eq!(holds(&held, "E F (P1@in && P2@behind)", engine), Some(true));
    }
}

/// Disjunctions do not distribute over pairs, and conjunctions are about one run.
#[test]
fn pairs_are_kept_together() {
    let choice = program(
        "lock : l; process P { main { if (*) { label a: skip; } else { label b: skip; } } }
         process Q { main { if (*) { label a: skip; } else { label b: skip; } } }",
    );
    for engine in [Some(EngineKind::Tupling), Some(EngineKind::Exhaustive)] {
        assert_eq!(holds(&choice, "E (F P@a && F P@b)", engine), Some(false));
        assert_eq!(holds(&choice, "E (F P@a && F Q@b)", engine), Some(true));
        let both = "E F (((P@a && Q@a) || (P@b && Q@b)) && !(P@a && Q@a) && !(P@b && Q@b))";
        assert_eq!(holds(&choice, both, engine), Some(false));
    }
}

/// The encoding R0 … R8 of Theorem 7 forgets that its conditions share a configuration: P2 is stuck while a
/// part of it that nobody reaches goes round.
#[test]
fn a_loop_that_is_not_reached_does_not_count() {
    let stuck = program(
        "lock : l; process P1 { main { while (*) { label p: skip; } } }
         process P2 {
             main { label q0: acquire(l); acquire(l); dead(); }
             dead { while (*) { label q1: skip; label g: skip; } }
         }
         process P3 { main { skip; } }",
    );
    // The lock is reentrant, so the loop is reached after all; with a mutex it is not.
    let never = program(
        "mutex : l; process P1 { main { while (*) { label p: skip; } } }
         process P2 {
             main { label q0: acquire(l); acquire(l); dead(); }
             dead { while (*) { label q1: skip; label g: skip; } }
         }
         process P3 { main { skip; } }",
    );
    assert_eq!(holds(&stuck, "E G F P2@g", Some(EngineKind::Exhaustive)), Some(true));
    for engine in [None, Some(EngineKind::Exhaustive)] {
        assert_eq!(holds(&never, "E G F P2@g", engine), Some(false));
        assert_eq!(holds(&never, "E (G F P1@p && F G !P2@g)", engine), Some(true));
    }
}

/// An infinite run has a step between its two visits: nobody moves for ever in a program that ends.
#[test]
fn empty_segments_are_no_run() {
    let ends =
        program("process P { main { label a: skip; } } process Q { main { label b: skip; } }");
    let stops = program(
        "lock : l; process P { main { synchronized(l) { label a: skip; } } }
         process Q { main { while (*) { label b: skip; } } }",
    );
    for engine in [Some(EngineKind::Tupling), Some(EngineKind::Exhaustive)] {
        assert_eq!(holds(&ends, "E G F P@a", engine), Some(false));
        assert_eq!(holds(&ends, "E G F Q@b", engine), Some(false));
        // A thread may stop in its critical section while the other one goes round.
        assert_eq!(holds(&stops, "E (G F P@a && G F Q@b)", engine), Some(true));
    }
}

/// §7: `f_AR` is meant to make rendezvous of steps of each thread; one step became four, so `X` means
/// something else. Here channels are steps of their own.
#[test]
fn a_rendezvous_is_one_step() {
    let pair = program(
        "chan : a;
         process P1 { main { label c11: if (*) { send a; label c12: skip; } else { label d1: skip; } } }
         process P2 { main { recv a; label c22: skip; } }",
    );
    // The first step is the choice, the second the rendezvous, in which both move.
    assert_eq!(holds(&pair, "E X P1@d1", None), Some(true));
    assert_eq!(holds(&pair, "E X X (P1@c12 && P2@c22)", None), Some(true));
    assert_eq!(holds(&pair, "E F (P1@c12 && !P2@c22)", None), Some(true));
    assert_eq!(holds(&pair, "E X X (P1@c12 && !P2@c22)", None), Some(false));
}

/// What a position of a coupled thread shows: a phase modulo 3 and a letter.
type Shown = (usize, char);

/// Threads of which every position shows a phase and a letter.
#[derive(Default)]
struct Coupled {
    program: Program,
    shown: BTreeMap<Shown, [Vec<NodeId>; 2]>,
}

/// A procedure as its positions, the first being the entry, its edges, and which position is the exit.
struct Text {
    name: String,
    positions: Vec<Shown>,
    edges: Vec<(usize, usize, Option<String>)>,
    exit: usize,
}

impl Coupled {
    /// Adds a thread; the first procedure is its main.
    fn thread(&mut self, texts: &[Text]) {
        let id = ThreadId::from_index(self.program.threads.len());
        let first = self.program.procedures.len();
        let named = |name: &str| {
            let at = texts.iter().position(|text| text.name == name).expect("a procedure");
            ProcedureId::from_index(first + at)
        };
        for text in texts {
            let procedure = named(&text.name);
            let nodes: Vec<NodeId> =
                text.positions.iter().map(|_| self.program.nodes.push(procedure)).collect();
            for (&node, &shown) in nodes.iter().zip(&text.positions) {
                self.shown.entry(shown).or_default()[id.index()].push(node);
            }
            for (from, to, call) in &text.edges {
                let action = call.as_ref().map_or(Action::Skip, |name| Action::Call(named(name)));
                self.program.edges.push(Edge {
                    source: nodes[*from],
                    target: nodes[*to],
                    action,
                    update: None,
                    passing: None,
                    volatile: false,
                    place: Place::NONE,
                });
            }
            self.program.procedures.push(Procedure {
                name: text.name.clone(),
                owner: Some(id),
                place: Place::NONE,
                end: Place::NONE,
                entry: nodes[0],
                exit: nodes[text.exit],
                frame: Frame::default(),
            });
        }
        let name = format!("T{}", id.index() + 1);
        self.program.threads.push(Thread {
            name,
            main: ProcedureId::from_index(first),
            ..thread()
        });
    }

    /// The first thread is in the same phase as the second and shows the same letter, or is one ahead. A
    /// letter `!` is shown by nobody who is right.
    fn coupling(&self) -> Formula {
        let at = |thread: usize, shown: &Shown| {
            let nodes = self.shown[shown][thread].clone();
            Formula::Proposition(Proposition::At(ThreadId::from_index(thread), nodes))
        };
        let mut allowed = Vec::new();
        for first in self.shown.keys().filter(|one| one.1 != '!') {
            for second in self.shown.keys().filter(|one| one.1 != '!') {
                let ahead = (first.0 + 3 - second.0) % 3;
                if ahead == 1 || ahead == 0 && first.1 == second.1 {
                    allowed.push(Formula::and(at(0, first), at(1, second)));
                }
            }
        }
        allowed.into_iter().reduce(Formula::or).expect("something is allowed")
    }

    fn decide(&self, formula: Formula, engine: Option<EngineKind>) -> Option<bool> {
        assert_eq!(selvedge_program::validate::validate(&self.program), []);
        let question = TemporalQuestion::some(formula);
        decide(&self.program, question, engine)
    }
}

fn thread() -> Thread {
    let one = program("process A { main { skip; } }");
    one.threads.iter().next().expect("a thread").clone()
}

/// What a machine does with a configuration, which is a number of letters.
#[derive(Clone, Copy, PartialEq)]
enum Machine {
    /// It goes from `a` to `b` and from `b` to `a`.
    Alternates,
    /// It writes one more.
    Counts,
    /// After its first step there is no other.
    Halts,
}

/// The thread that checks every other step of a machine: it reads a configuration of letters `reads` onto
/// its stack, a sign, and from its stack the next configuration of letters `writes`. The second thread shows
/// the first configuration before. A thread that has no step to check goes where nobody who is right is.
fn checker(machine: Machine, second: bool) -> Vec<Text> {
    let (reads, writes) = match (machine, second) {
        (Machine::Alternates | Machine::Halts, false) => ('a', 'b'),
        (Machine::Alternates | Machine::Halts, true) => ('b', 'a'),
        (Machine::Counts, _) => ('a', 'a'),
    };
    let next = |phase: usize| (phase + 1) % 3;
    // Main: the sign before a configuration in each phase, one more letter in each phase, the first
    // configuration, and the end of a thread, which is never reached.
    let mut positions: Vec<Shown> = Vec::new();
    let mut edges = Vec::new();
    let start = 0;
    positions.push((0, '#'));
    let sign = |phase: usize| 1 + phase;
    positions.extend((0..3).map(|phase| (phase, '#')));
    let more = |phase: usize| 4 + phase;
    positions.extend((0..3).map(|phase| (phase, writes)));
    let first = 7;
    positions.push((1, 'a'));
    let end = 8;
    positions.push((0, '!'));
    if second {
        edges.extend([(start, first, None), (first, sign(2), None)]);
    }
    for phase in 0..3 {
        edges.push((more(phase), sign(next(phase)), None));
        for last in 0..3 {
            // What is called shows its last letter in the phase `last`.
            let target =
                if machine == Machine::Counts { more(next(last)) } else { sign(next(last)) };
            let callee = Some(format!("read{}{last}", next(phase)));
            edges.push((sign(phase), target, callee.clone()));
            if !second && phase == 0 {
                edges.push((start, target, callee));
            }
        }
    }
    let mut texts = vec![Text { name: "main".to_owned(), positions, edges, exit: end }];
    for phase in 0..3 {
        for last in 0..3 {
            // The letter when it is read, and when it is taken from the stack again.
            let mut edges = vec![(0, 1, Some(format!("read{}{}", next(phase), (last + 2) % 3)))];
            if next(next(phase)) == last {
                edges.push((0, 1, Some(format!("turn{}", next(phase)))));
            }
            let positions = vec![(phase, reads), (last, writes)];
            texts.push(Text { name: format!("read{phase}{last}"), positions, edges, exit: 1 });
        }
    }
    for phase in 0..3 {
        let name = format!("turn{phase}");
        let halts = machine == Machine::Halts && second;
        texts.push(if halts {
            // The sink can be entered, and can always be left for itself.
            let positions = vec![(phase, '#'), (phase, '!'), (phase, '!')];
            let edges = vec![(0, 1, None), (1, 1, None)];
            Text { name, positions, edges, exit: 2 }
        } else {
            Text { name, positions: vec![(phase, '#')], edges: Vec::new(), exit: 0 }
        });
    }
    texts
}

/// Theorem 10 fails: that an infinite run keeps two threads in lock step is undecidable, since they can check
/// the steps of a machine, one the even ones and the other the odd ones.
#[test]
fn a_machine_in_lock_step() {
    for (machine, expected) in
        [(Machine::Halts, Some(false)), (Machine::Alternates, Some(true)), (Machine::Counts, None)]
    {
        let mut coupled = Coupled::default();
        coupled.thread(&checker(machine, false));
        coupled.thread(&checker(machine, true));
        let found = coupled.decide(Formula::globally(coupled.coupling()), None);
        assert_eq!(found, expected, "{}", machine as u32);
    }
}

/// A thread that shows one of some words, each with a sign behind it for ever.
fn speaker(words: &[&str]) -> Vec<Text> {
    let mut positions: Vec<Shown> = vec![(0, '>'), (0, '!')];
    let mut edges = Vec::new();
    for word in words {
        let mut at = 0;
        for (phase, letter) in (1..).zip(word.chars().chain(['#', '#', '#'])) {
            positions.push((phase % 3, letter));
            edges.push((at, positions.len() - 1, None));
            at = positions.len() - 1;
        }
        edges.push((at, at - 2, None));
    }
    vec![Text { name: "main".to_owned(), positions, edges, exit: 1 }]
}

/// Theorems 12 and 13: the formulas that couple two threads find the words that both can show.
#[test]
fn coupled_threads_show_equal_words() {
    for (one, other, common) in [
        (&["ab", "ba"][..], &["ba", "bb"][..], true),
        (&["ab", "ba"], &["aa", "bb"], false),
        (&["aab"], &["aab"], true),
        (&["aab", "b"], &["aa", "ab"], false),
        (&["a", "abab"], &["b", "abab", "ba"], true),
    ] {
        let mut coupled = Coupled::default();
        coupled.thread(&speaker(one));
        coupled.thread(&speaker(other));
        let done = |thread: usize| {
            let signs = coupled.shown.iter().filter(|(shown, _)| shown.1 == '#');
            let nodes = signs.flat_map(|(_, nodes)| nodes[thread].clone()).collect();
            Formula::Proposition(Proposition::At(ThreadId::from_index(thread), nodes))
        };
        let both = || Formula::and(done(0), done(1));
        let coupling = coupled.coupling();
        // L(G, F) and L(U).
        let always = Formula::and(Formula::globally(coupling.clone()), Formula::finally(both()));
        let until = Formula::until(coupling.clone(), Formula::and(coupling, both()));
        for formula in [always, until] {
            assert_eq!(coupled.decide(formula, None), Some(common), "{one:?} {other:?}");
        }
    }
}

/// Single-index formulas with `X` force the threads to alternate, which no formula without it does.
#[test]
fn single_formulas_with_next_couple_threads() {
    let bits = program(
        "process P { main { while (*) { label zero: skip; label one: skip; } } }
         process Q { main { while (*) { label zero: skip; label one: skip; } } }",
    );
    // Each is about one thread only; together they say who moves.
    let moves = "E X (G ((P@zero -> X P@one) && (P@one -> X !P@one)))";
    assert_eq!(holds(&bits, moves, None), Some(true));
    let both = "E X (G ((P@zero -> X P@one) && (P@one -> X !P@one)) && G ((Q@zero -> X Q@one) && \
                (Q@one -> X !Q@one)) && F (P@zero && Q@zero))";
    assert_eq!(holds(&bits, both, None), Some(false));
    let without = "E (F (P@zero && Q@zero))";
    assert_eq!(holds(&bits, without, None), Some(true));
}

#[test]
fn positive_normal_form() {
    let any =
        program("process P { main { while (*) { label p: skip; } } } process Q { main { skip; } }");
    // Not F p is G not p.
    for text in ["A (!F P@p -> G !P@p)", "A (G !P@p -> !F P@p)"] {
        assert_eq!(holds(&any, text, Some(EngineKind::Exhaustive)), Some(true), "{text}");
    }
}
