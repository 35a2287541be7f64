//! # Idea
//! What decides between lazy and eager: how much of all imaginable shared values is reachable, and
//! how hard the steps are on values that are not. Two threads apply a step to a number a few times.
//! The number starts at zero or anywhere, and the step either counts or tangles the bits.
//!
//! - From zero, few values are reachable; the lazy engine sees only those, the eager one all.
//! - From anywhere, both see the same, and the lazy one has its stages on top.
//! - Counting is a small relation on all values, tangling is not.

use selvedge_testkit::models::bits::{self, Bit};

/// Where the number starts.
#[derive(Clone, Copy, Debug)]
pub enum First {
    /// At zero.
    Zero,
    /// Anywhere.
    Any,
}

/// What a step does.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Adds one.
    Count,
    /// Mixes each bit with two others.
    Tangle,
}

/// All combinations with their names.
pub const ALL: [(&str, First, Step); 4] = [
    ("count-from-zero", First::Zero, Step::Count),
    ("count-from-any", First::Any, Step::Count),
    ("tangle-from-zero", First::Zero, Step::Tangle),
    ("tangle-from-any", First::Any, Step::Tangle),
];

/// How often each thread applies the step.
const STEPS: usize = 4;

/// The program.
pub fn program(first: First, step: Step, width: usize) -> String {
    let number = bits::names("n", width);
    let names = bits::list(&number);
    let initial = match first {
        First::Zero => bits::list(&bits::number(0, width)),
        First::Any => vec!["*"; width].join(", "),
    };
    let next = match step {
        Step::Count => bits::plus(&number, 1),
        Step::Tangle => (0..width).map(|at| tangled(&number, at)).collect(),
    };
    let steps = format!("    {names} := {};\n", bits::list(&next)).repeat(STEPS);
    format!(
        "decl {names};
void main() begin
    {names} := {initial};
    start_thread worker();
    start_thread worker();
end
void worker() begin
{steps}end
"
    )
}

fn tangled(number: &[Bit], at: usize) -> Bit {
    let bit = |at: usize| number[at % number.len()].clone();
    let mixed = bits::all([bit(at + 1), bit(3 * at + 2)]).xor(bit(5 * at + 3));
    if at == 0 { mixed.negate() } else { mixed }
}
