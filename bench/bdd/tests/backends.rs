//! The tests of `crates/bdd` for the backends of others, and all backends against each other.

#[path = "../../../crates/bdd/tests/backends.rs"]
mod shared;

use selvedge_bdd::{NativeManager, Var};
use selvedge_bdd_comparison::{BiodivineManager, OxiddManager};
use shared::generator::Generator;
use shared::{Backend, Table, random_step, var};

impl Backend for OxiddManager {
    fn make(variables: usize, node_limit: usize) -> Self {
        Self::new(variables, node_limit)
    }
    const SHARED_LIMIT: bool = true;
}

impl Backend for BiodivineManager {
    fn make(variables: usize, node_limit: usize) -> Self {
        Self::new(variables, node_limit)
    }
    const SHARED_LIMIT: bool = false;
}

macro_rules! with_the_others {
    ($($test:ident),* $(,)?) => {
        mod oxidd { $(#[test] fn $test() { super::shared::$test::<super::OxiddManager>(); })* }
        mod biodivine {
            $(#[test] fn $test() { super::shared::$test::<super::BiodivineManager>(); })*
        }
    };
}

with_the_others!(
    conjunctions_on_all_lists_of_four_literals,
    unary_operations_on_all_functions_of_three_variables,
    binary_operations_on_all_functions_of_three_variables,
    ite_on_all_functions_of_two_variables,
    quantifiers_on_all_functions_of_three_variables,
    renamings_on_all_functions_of_three_variables,
    readers_on_all_functions_of_three_variables,
    random_operations_on_eight_variables,
    the_node_limit_is_an_error_and_no_end,
    the_deepest_diagram_fits_the_stack,
);

/// The registers after some random operations, as far as they can be compared between backends.
type Summary = Vec<(usize, Vec<Var>, Option<Vec<bool>>, Option<Vec<(Var, bool)>>)>;

fn summary<M: Backend>(seed: u64) -> Summary {
    let manager = M::make(16, 1 << 14);
    let mut random = Generator::new(seed);
    let mut registers: Vec<(M::Node, Table)> = (0..8)
        .map(|k| (manager.var(var(2 * k)).unwrap(), Table::of(|row| row >> k & 1 == 1)))
        .collect();
    for _ in 0..60 {
        random_step(&manager, &mut random, &mut registers);
    }
    let vars: Vec<Var> = (0..16).map(var).collect();
    registers
        .iter()
        .map(|(f, _)| {
            let (picked, cube) = (manager.pick(f, &vars), manager.pick_cube(f));
            (manager.node_count(f), manager.support(f), picked, cube)
        })
        .collect()
}

#[test]
fn the_backends_agree_node_by_node() {
    let mut constants = 0;
    for seed in 100..130 {
        let native = summary::<NativeManager>(seed);
        constants += native.iter().filter(|(count, ..)| *count == 0).count();
        assert_eq!(native, summary::<OxiddManager>(seed), "seed {seed}");
        assert_eq!(native, summary::<BiodivineManager>(seed), "seed {seed}");
    }
    assert!(constants < 60, "{constants} of 240 results are constant, which tests little");
}
