//! Automata for formulas against the meaning of formulas, on all words up to 3+3 letters over two atoms, and
//! against the translations of `spin -f` and `lbt`, where these are installed.
//!
//! `SELVEDGE_PROGRAMS` sets the number of formulas; `cargo xtask differential ltl` runs the large version.

#![expect(clippy::print_stdout, reason = "the large run shows its counts, and what was skipped")]

mod words;

use selvedge_base::Budget;
use selvedge_logic::automaton;
use selvedge_program::{Formula, Proposition};
use selvedge_replay::temporal::evaluate::evaluate;
use selvedge_testkit::Rng;
use std::io::Write as _;
use std::process::{Command, Stdio};
use words::{Lasso, Machine, lassos, letters, number, random};

/// Automata of formulas have more states than this only seldom; those are left out and counted.
const MOST_STATES: usize = 128;

fn formulas(default: u64) -> u64 {
    let asked = std::env::var("SELVEDGE_PROGRAMS").ok();
    asked.and_then(|count| count.parse().ok()).unwrap_or(default)
}

fn meant(formula: &Formula, (word, repeats): &Lasso) -> bool {
    let truth = |at: usize, one: &Proposition| word[at] >> number(one) & 1 == 1;
    evaluate(formula, word.len(), *repeats, &truth)
}

#[test]
fn automata_accept_what_formulas_mean_on_all_short_words() {
    let all = lassos(3, 3);
    assert_eq!(all.len(), 7140);
    let (mut compared, mut left_out, mut accepted) = (0, 0, 0u64);
    for seed in 0..formulas(12) {
        let mut rng = Rng::new(seed);
        let size = rng.between(1, 7);
        let formula = random(&mut rng, size, true);
        let machine = Machine::of(&automaton(&formula, &Budget::new()).expect("small"));
        if machine.edges.len() > MOST_STATES {
            left_out += 1;
            continue;
        }
        compared += 1;
        for word in &all {
            let meant = meant(&formula, word);
            assert_eq!(machine.accepts(word), meant, "{formula:?} on {word:?}: {machine:?}");
            accepted += u64::from(meant);
        }
    }
    println!(
        "{compared} formulas on {} words each, {accepted} accepted, {left_out} left out",
        all.len()
    );
    assert!(compared > 20 * left_out, "{left_out} of {compared}");
}

/// Whether a tool is there; if not, that is said.
fn installed(tool: &str, arguments: &[&str]) -> bool {
    let run = Command::new(tool)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if run.is_err() {
        println!("skipped: `{tool}` is not installed");
    }
    run.is_ok()
}

/// Compares the automaton of a tool with the meaning of random formulas, and with ours.
fn compare(name: &str, count: u64, steps: bool, translate: impl Fn(&Formula) -> Machine) {
    let all = lassos(3, 3);
    let mut compared = 0;
    for seed in 0..count {
        let mut rng = Rng::new(1_000_000 + seed);
        let size = rng.between(1, 5);
        let formula = random(&mut rng, size, steps);
        let ours = Machine::of(&automaton(&formula, &Budget::new()).expect("small"));
        let theirs = translate(&formula);
        if ours.edges.len().max(theirs.edges.len()) > MOST_STATES {
            continue;
        }
        compared += 1;
        for word in &all {
            let (ours, theirs) = (ours.accepts(word), theirs.accepts(word));
            assert_eq!(ours, theirs, "{name}: {formula:?} on {word:?}");
        }
    }
    println!("{name}: {compared} formulas on {} words each", all.len());
    assert!(2 * compared >= count, "{name}: only {compared} of {count}");
}

/// A formula without `X` as `spin -f` reads it.
fn spin_text(formula: &Formula) -> String {
    let two = |f: &Formula, operator: &str, g: &Formula| {
        format!("({} {operator} {})", spin_text(f), spin_text(g))
    };
    match formula {
        Formula::Constant(value) => value.to_string(),
        Formula::Proposition(one) => format!("p{}", number(one)),
        Formula::Not(f) => format!("(! {})", spin_text(f)),
        Formula::Next(_) => panic!("this translation knows no X"),
        Formula::And(f, g) => two(f, "&&", g),
        Formula::Or(f, g) => two(f, "||", g),
        Formula::Until(f, g) => two(f, "U", g),
        Formula::Release(f, g) => two(f, "V", g),
    }
}

/// The never claim that `spin -f` prints. A state accepts if its label begins so; where the claim ends,
/// everything is accepted.
fn never_claim(text: &str) -> Machine {
    let mut names: Vec<String> = Vec::new();
    let mut machine = Machine { initial: Vec::new(), edges: Vec::new(), marks: 1 };
    let mut find = |name: &str, machine: &mut Machine| {
        names.iter().position(|own| own == name).unwrap_or_else(|| {
            names.push(name.to_owned());
            machine.edges.push(Vec::new());
            names.len() - 1
        })
    };
    let (mut here, mut fresh) = (Vec::new(), true);
    for line in text.lines().map(str::trim) {
        if line.starts_with("never") || line.is_empty() || line == "}" {
            continue;
        }
        if let Some(name) = line.strip_suffix(':') {
            // Several labels may stand before one state.
            if !fresh {
                here.clear();
            }
            fresh = true;
            here.push((find(name, &mut machine), name.starts_with("accept")));
            continue;
        }
        if fresh && machine.initial.is_empty() {
            machine.initial.push(here[0].0);
        }
        fresh = false;
        let marks = u64::from(here.iter().any(|one| one.1));
        let (guard, target) = if let Some(option) = line.strip_prefix(":: atomic {") {
            let guard = option.split(" -> assert").next().expect("a guard");
            (letters(guard), find("accept_all", &mut machine))
        } else if let Some(option) = line.strip_prefix("::") {
            let (guard, target) = option.split_once(" -> goto ").expect("a guard and a target");
            (letters(guard), find(target.trim(), &mut machine))
        } else if line == "skip" {
            (0b1111, here[0].0)
        } else {
            assert!(["do", "od;", "if", "fi;", "false;"].contains(&line), "{line}");
            continue;
        };
        for &(state, _) in &here {
            machine.edges[state].push((guard, target, marks));
        }
    }
    machine
}

#[test]
fn automata_agree_with_spin() {
    if !installed("spin", &["-V"]) {
        return;
    }
    compare("spin", formulas(10), false, |formula| {
        let output =
            Command::new("spin").args(["-f", &spin_text(formula)]).output().expect("it runs");
        assert!(
            output.status.success(),
            "{formula:?}: {}",
            String::from_utf8_lossy(&output.stdout)
        );
        never_claim(&String::from_utf8(output.stdout).expect("a text"))
    });
}

/// A formula as `lbt` reads it: operators first.
fn lbt_text(formula: &Formula) -> String {
    let two = |operator: &str, f: &Formula, g: &Formula| {
        format!("{operator} {} {}", lbt_text(f), lbt_text(g))
    };
    match formula {
        Formula::Constant(true) => "t".to_owned(),
        Formula::Constant(false) => "f".to_owned(),
        Formula::Proposition(one) => format!("p{}", number(one)),
        Formula::Not(f) => format!("! {}", lbt_text(f)),
        Formula::Next(f) => format!("X {}", lbt_text(f)),
        Formula::And(f, g) => two("&", f, g),
        Formula::Or(f, g) => two("|", f, g),
        Formula::Until(f, g) => two("U", f, g),
        Formula::Release(f, g) => two("V", f, g),
    }
}

/// The automaton that `lbt` prints: states with the sets of marks that they bear, and their edges.
fn lbt_automaton(text: &str) -> Machine {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    // A list of numbers ends with -1.
    let numbers = |line: &str| -> Vec<usize> {
        let words = line.split_whitespace().take_while(|&word| word != "-1");
        words.map(|word| word.parse().expect("a number")).collect()
    };
    let [states, sets] = numbers(lines.next().expect("a head"))[..] else { panic!("{text}") };
    let mut machine =
        Machine { initial: Vec::new(), edges: vec![Vec::new(); states], marks: (1 << sets) - 1 };
    while let Some(head) = lines.next() {
        let [state, initial, ref marks @ ..] = numbers(head)[..] else { panic!("{head}") };
        if initial == 1 {
            machine.initial.push(state);
        }
        let marks = marks.iter().fold(0, |all, &mark| all | 1 << mark);
        for line in lines.by_ref().take_while(|line| *line != "-1") {
            let (target, guard) = line.split_once(' ').expect("a target and a guard");
            let mut words = guard.split_whitespace();
            let read = prefix_letters(&mut words);
            machine.edges[state].push((read, target.parse().expect("a number"), marks));
        }
    }
    machine
}

fn prefix_letters<'a>(words: &mut impl Iterator<Item = &'a str>) -> u8 {
    match words.next().expect("a guard goes on") {
        "t" => 0b1111,
        "f" => 0,
        "p0" => 0b1010,
        "p1" => 0b1100,
        "!" => !prefix_letters(words) & 0b1111,
        "&" => prefix_letters(words) & prefix_letters(words),
        "|" => prefix_letters(words) | prefix_letters(words),
        other => panic!("not understood: {other}"),
    }
}

#[test]
fn automata_agree_with_lbt() {
    if !installed("lbt", &[]) {
        return;
    }
    compare("lbt", formulas(10), true, |formula| {
        let mut child = Command::new("lbt")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs");
        let text = lbt_text(formula);
        child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{text}");
        lbt_automaton(&String::from_utf8(output.stdout).expect("a text"))
    });
}
