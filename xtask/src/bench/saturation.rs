//! The pushdown library alone, on generated program-like systems: `post*` and `pre*` with witness
//! recording, parsing apart, beside a plain tabulation of the same reachability question as a
//! baseline. The tabulation is what one writes in an afternoon: reachable heads relative to procedure
//! entries, no automaton, no witness.

use super::{Case, Measurement};
use selvedge_base::{Budget, Id};
use selvedge_pds::generate::{Program, ProgramShape, program};
use selvedge_pds::{PAutomaton, Pds, Reasons, Rhs, post_star, pre_star};
use std::collections::HashMap;
use std::time::Instant;

/// The cases of this section. 1000 procedures of 100 nodes with 4 and 16 data values have about as
/// many rules as the yardsticks of 560,188 and 2,240,512 rules.
pub fn cases(quick: bool) -> Vec<Case> {
    let shapes: &[(usize, usize)] = if quick {
        &[(100, 4)]
    } else {
        &[(100, 4), (250, 4), (500, 4), (1000, 4), (1000, 8), (1000, 16)]
    };
    let variants: [(&'static str, Run); 3] =
        [("tabulation", tabulation), ("post*", post), ("pre*", pre)];
    let mut cases = Vec::new();
    for &(procedures, values) in shapes {
        for (variant, run) in variants {
            cases.push(Case {
                section: "pushdown saturation",
                name: format!("{procedures}x100x{values}"),
                variant,
                grows: false,
                run: Box::new(move || {
                    let shape = ProgramShape { procedures, nodes: 100, values };
                    Ok(measure(&program(shape, 1), run))
                }),
            });
        }
    }
    cases
}

/// Computes something about a system and returns how many facts or transitions it took.
type Run = fn(&Program) -> usize;

/// The best of three runs.
#[expect(clippy::cast_precision_loss, reason = "the number of rules is far below 2^52")]
fn measure(program: &Program, run: Run) -> Measurement {
    let mut seconds = f64::INFINITY;
    let mut size = 0;
    for _ in 0..3 {
        let start = Instant::now();
        size = run(program);
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    Measurement {
        size: format!("{} rules", program.pds.rules.len()),
        outcome: format!("{:.0} ns a rule", seconds * 1e9 / program.pds.rules.len() as f64),
        counts: format!("facts={size}"),
        seconds,
        peak_mib: None,
        stopped: false,
    }
}

fn post(program: &Program) -> usize {
    let initial = PAutomaton::singleton(program.pds.states, &program.start);
    let reached = post_star(&program.pds, &initial, Reasons::new(), &Budget::new());
    reached.expect("nobody interrupts").automaton.transitions().len()
}

fn pre(program: &Program) -> usize {
    let goal = PAutomaton::singleton(program.pds.states, &program.target);
    let reaching = pre_star(&program.pds, &goal, Reasons::new(), &Budget::new());
    reaching.expect("nobody interrupts").automaton.transitions().len()
}

/// Facts `(entry, head)`: from the entry head of a procedure, this head of it is reachable.
fn tabulation(program: &Program) -> usize {
    let pds: &Pds = &program.pds;
    let head = |state: usize, symbol: usize| (state * pds.symbols + symbol) as u32;
    let mut rules: Vec<Vec<u32>> = vec![Vec::new(); pds.states * pds.symbols];
    for (id, rule) in pds.rules.iter_enumerated() {
        rules[head(rule.state.index(), rule.symbol.index()) as usize].push(id.index() as u32);
    }
    let start = head(program.start.state.index(), program.start.stack[0].index());
    let mut seen: std::collections::HashSet<(u32, u32)> = [(start, start)].into();
    let mut pending = vec![(start, start)];
    let mut callers: HashMap<u32, Vec<(u32, usize)>> = HashMap::new();
    let mut exits: HashMap<u32, Vec<usize>> = HashMap::new();
    while let Some((entry, at)) = pending.pop() {
        let mut found: Vec<(u32, u32)> = Vec::new();
        for &rule in &rules[at as usize] {
            let rule = &pds.rules[selvedge_pds::RuleId::from_index(rule as usize)];
            let to = rule.to.index();
            match rule.rhs {
                Rhs::Step(symbol) => found.push((entry, head(to, symbol.index()))),
                Rhs::Push(top, below) => {
                    let callee = head(to, top.index());
                    found.push((callee, callee));
                    callers.entry(callee).or_default().push((entry, below.index()));
                    for &state in exits.get(&callee).into_iter().flatten() {
                        found.push((entry, head(state, below.index())));
                    }
                }
                Rhs::Pop => {
                    let known = exits.entry(entry).or_default();
                    if !known.contains(&to) {
                        known.push(to);
                        for &(caller, below) in callers.get(&entry).into_iter().flatten() {
                            found.push((caller, head(to, below)));
                        }
                    }
                }
            }
        }
        pending.extend(found.into_iter().filter(|&fact| seen.insert(fact)));
    }
    seen.len()
}
