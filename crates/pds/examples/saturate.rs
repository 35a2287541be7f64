//! Measures saturation: `cargo run --release -p selvedge-pds --example saturate [FILE | PROCEDURES NODES VALUES [SEED]]`.
//!
//! With a file of rules, `post*` starts at `p0 n0_0` and `pre*` at `p1 n0_LAST`, as the generator of
//! the benchmark asks; without one, systems of growing size are generated.
//! The last two columns are weighted `post*` for the length of a shortest run, with its history.

#![allow(clippy::print_stdout)]

use selvedge_base::{Budget, IdVec};
use selvedge_pds::domains::MinPlus;
use selvedge_pds::generate::{ProgramShape, program};
use selvedge_pds::{
    Configuration, Increments, PAutomaton, Pds, Reasons, WeightedAutomaton, post_star, pre_star,
    text, weighted_post_star,
};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    println!(
        "{:>10} {:>8} {:>12} {:>8} {:>12} {:>11} {:>11}",
        "rules", "post* s", "transitions", "pre* s", "transitions", "weighted s", "increments"
    );
    match arguments.as_slice() {
        [] => {
            for (procedures, values) in [(250, 4), (500, 4), (1000, 4), (1000, 8), (1000, 16)] {
                generated(ProgramShape { procedures, nodes: 100, values }, 1);
            }
        }
        [file] => {
            let source = std::fs::read_to_string(file)?;
            let begin = Instant::now();
            let named = text::parse(&source).map_err(|errors| errors[0].message.clone())?;
            let parsing = begin.elapsed();
            let start = named.configuration("p0 n0_0").ok_or("no `p0 n0_0`")?;
            let last = named.symbols.iter().filter(|name| name.starts_with("n0_")).count() - 1;
            let target = named.configuration(&format!("p1 n0_{last}")).ok_or("no target")?;
            measure(&named.pds, &start, &target);
            println!("parsing took {:.3} s", parsing.as_secs_f64());
        }
        [procedures, nodes, values, rest @ ..] => {
            let seed = rest.first().map_or(Ok(1), |seed| seed.parse())?;
            let shape = ProgramShape {
                procedures: procedures.parse()?,
                nodes: nodes.parse()?,
                values: values.parse()?,
            };
            generated(shape, seed);
        }
        _ => return Err("FILE, or PROCEDURES NODES VALUES [SEED], or nothing".into()),
    }
    Ok(())
}

fn generated(shape: ProgramShape, seed: u64) {
    let program = program(shape, seed);
    measure(&program.pds, &program.start, &program.target);
}

/// Prints one line: the best of five runs (one, with weights), witness recording included.
fn measure(pds: &Pds, start: &Configuration, target: &Configuration) {
    let initial = PAutomaton::singleton(pds.states, start);
    let goal = PAutomaton::singleton(pds.states, target);
    let budget = Budget::new();
    let best = |times_run: usize, run: &dyn Fn() -> usize| {
        let mut times = Vec::new();
        let mut transitions = 0;
        for _ in 0..times_run {
            let begin = Instant::now();
            transitions = run();
            times.push(begin.elapsed().as_secs_f64());
        }
        (times.into_iter().fold(f64::INFINITY, f64::min), transitions)
    };
    let (post, post_size) = best(5, &|| {
        let reached = post_star(pds, &initial, Reasons::new(), &budget).expect("nobody interrupts");
        reached.automaton.transitions().len()
    });
    let (pre, pre_size) = best(5, &|| {
        let reaching = pre_star(pds, &goal, Reasons::new(), &budget).expect("nobody interrupts");
        reaching.automaton.transitions().len()
    });
    let lengths = IdVec::filled(Some(1), pds.rules.len());
    let unit = WeightedAutomaton::unit(initial.clone(), &MinPlus);
    let (weighted, increments) = best(1, &|| {
        let history = Increments::new();
        let reached = weighted_post_star(pds, &lengths, &mut MinPlus, &unit, history, &budget);
        reached.expect("nobody interrupts").history.len()
    });
    println!(
        "{:>10} {post:>8.3} {post_size:>12} {pre:>8.3} {pre_size:>12} {weighted:>11.3} {increments:>11}",
        pds.rules.len()
    );
}
