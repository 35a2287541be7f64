//! The laws of relations, as `crates/bdd` tests them, for the backends of others.

#[path = "../../../crates/bdd/tests/relations.rs"]
mod shared;

use selvedge_bdd_comparison::{BiodivineManager, OxiddManager};

macro_rules! with_the_others {
    ($($test:ident),* $(,)?) => {
        mod oxidd { $(#[test] fn $test() { super::shared::$test(super::OxiddManager::new); })* }
        mod biodivine {
            $(#[test] fn $test() { super::shared::$test(super::BiodivineManager::new); })*
        }
    };
}

with_the_others!(
    operations_agree_with_sets_of_tuples,
    composition_is_a_monoid_that_distributes_over_union,
    identity_has_three_nodes_per_bit,
    phase_transitions_keep_the_history,
    placed_relations_conjoin_on_a_shared_position,
    wide_elements_compose,
);
