//! The backend against truth tables. The tests are functions of the backend, and `bench/bdd` runs
//! them for the libraries that it compares.
//!
//! The oracle is a truth table: all functions of three variables for single operations, random
//! operation sequences over eight variables (256 bits) for their interplay.

pub(crate) mod generator;

use generator::Generator;
use selvedge_base::{Budget, Id, StopReason};
use selvedge_bdd::{BddManager, Exhausted, MAX_VARIABLES, NativeManager, Var};

/// How a backend is made.
pub(crate) trait Backend: BddManager + Sized {
    /// A manager with so many variables and this node limit.
    fn make(variables: usize, node_limit: usize) -> Self;
    /// Whether the node limit counts all nodes of the manager, rather than those of a diagram.
    const SHARED_LIMIT: bool;
}

impl Backend for NativeManager {
    fn make(variables: usize, node_limit: usize) -> Self {
        Self::new(variables, node_limit)
    }
    const SHARED_LIMIT: bool = true;
}

macro_rules! with_the_native_backend {
    ($($test:ident),* $(,)?) => {
        mod native { $(#[test] fn $test() { super::$test::<super::NativeManager>(); })* }
    };
}

with_the_native_backend!(
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

/// Literals in any order, repeated and contradictory ones among them.
pub(crate) fn conjunctions_on_all_lists_of_four_literals<M: Backend>() {
    let manager = M::make(5, 1 << 12);
    let functions = all_functions(&manager);
    // Entry 6 of a list is no literal at all, so that shorter lists are among them.
    for list in 0..7usize.pow(4) {
        let literals: Vec<(usize, bool)> = (0..4)
            .map(|place| list / 7usize.pow(place) % 7)
            .filter(|&entry| entry < 6)
            .map(|entry| (entry / 2, entry % 2 == 1))
            .collect();
        let table = (0..8usize)
            .filter(|row| literals.iter().all(|&(k, value)| (row >> k & 1 == 1) == value))
            .fold(0, |table, row| table | 1 << row);
        let named: Vec<(Var, bool)> =
            literals.iter().map(|&(k, value)| (var(X[k]), value)).collect();
        assert!(manager.conjunction(&named).unwrap() == functions[table], "{literals:?}");
    }
}

pub(crate) fn var(index: usize) -> Var {
    Var::from_index(index)
}

/// The three variables of the exhaustive tests, with gaps between them.
const X: [usize; 3] = [1, 3, 4];

/// All functions of [`X`]: bit `i` of the index is the value where `X[k]` is bit `k` of `i`.
fn all_functions<M: Backend>(manager: &M) -> Vec<M::Node> {
    (0..256usize)
        .map(|table| {
            let mut f = manager.bottom();
            for row in (0..8).filter(|row| table >> row & 1 == 1) {
                let literals: Vec<(Var, bool)> =
                    (0..3).map(|k| (var(X[k]), row >> k & 1 == 1)).collect();
                f = manager.or(&f, &manager.conjunction(&literals).unwrap()).unwrap();
            }
            f
        })
        .collect()
}

/// The table of `∃ x_k. f`.
fn exists_table(table: usize, k: usize) -> usize {
    (0..8).filter(|row| table >> row & 1 == 1).fold(0, |t, row| t | 1 << row | 1 << (row ^ 1 << k))
}

/// The table of `∃ X'. f` for the subset `X'` of [`X`] with these bits.
fn exists_subset_table(table: usize, subset: usize) -> usize {
    (0..3).filter(|k| subset >> k & 1 == 1).fold(table, exists_table)
}

fn cubes<M: Backend>(manager: &M) -> Vec<M::Node> {
    (0..8usize)
        .map(|subset| {
            let vars: Vec<Var> =
                (0..3).filter(|k| subset >> k & 1 == 1).map(|k| var(X[k])).collect();
            manager.cube(&vars).unwrap()
        })
        .collect()
}

pub(crate) fn unary_operations_on_all_functions_of_three_variables<M: Backend>() {
    let manager = M::make(6, 1 << 12);
    assert_eq!(manager.variables(), 6);
    let functions = all_functions(&manager);
    assert_eq!(functions[0], manager.bottom());
    assert_eq!(functions[255], manager.top());
    for (k, &x) in X.iter().enumerate() {
        let table = (0..8).filter(|row| row >> k & 1 == 1).fold(0, |t, row| t | 1usize << row);
        assert_eq!(manager.var(var(x)).unwrap(), functions[table]);
        assert_eq!(manager.literal(var(x), false).unwrap(), functions[255 - table]);
    }
    for (a, f) in functions.iter().enumerate() {
        assert_eq!(manager.not(f).unwrap(), functions[255 - a]);
        assert_eq!(manager.is_bottom(f), a == 0);
        for (b, g) in functions.iter().enumerate() {
            assert_eq!(f == g, a == b, "equal handles iff equal functions");
        }
    }
}

pub(crate) fn binary_operations_on_all_functions_of_three_variables<M: Backend>() {
    let manager = M::make(6, 1 << 12);
    let functions = all_functions(&manager);
    for (a, f) in functions.iter().enumerate() {
        for (b, g) in functions.iter().enumerate() {
            assert_eq!(manager.and(f, g).unwrap(), functions[a & b]);
            assert_eq!(manager.or(f, g).unwrap(), functions[a | b]);
            assert_eq!(manager.xor(f, g).unwrap(), functions[a ^ b]);
        }
        assert_eq!(manager.iff(f, &functions[0x5a]).unwrap(), functions[255 - (a ^ 0x5a)]);
    }
}

pub(crate) fn ite_on_all_functions_of_two_variables<M: Backend>() {
    let manager = M::make(6, 1 << 12);
    let functions = all_functions(&manager);
    // Tables whose upper half repeats the lower do not depend on the third variable.
    let twice = |table: usize| table << 4 | table;
    for a in (0..16).map(twice) {
        for b in (0..16).map(twice) {
            for c in (0..16).map(twice) {
                let ite = manager.ite(&functions[a], &functions[b], &functions[c]).unwrap();
                assert_eq!(ite, functions[a & b | (255 - a) & c]);
            }
        }
    }
    for (a, f) in functions.iter().enumerate() {
        let (b, c) = (a * 73 % 256, a * 151 % 256);
        let ite = manager.ite(f, &functions[b], &functions[c]).unwrap();
        assert_eq!(ite, functions[a & b | (255 - a) & c]);
    }
}

pub(crate) fn quantifiers_on_all_functions_of_three_variables<M: Backend>() {
    let manager = M::make(6, 1 << 12);
    let functions = all_functions(&manager);
    let cubes = cubes(&manager);
    for (a, f) in functions.iter().enumerate() {
        for (subset, cube) in cubes.iter().enumerate() {
            let expected = &functions[exists_subset_table(a, subset)];
            assert_eq!(manager.exists(f, cube).unwrap(), *expected);
        }
        for (b, g) in functions.iter().enumerate() {
            let subset = (a * 5 + b * 3) % 8;
            let expected = &functions[exists_subset_table(a & b, subset)];
            assert_eq!(manager.and_exists(f, g, &cubes[subset]).unwrap(), *expected);
        }
    }
}

pub(crate) fn renamings_on_all_functions_of_three_variables<M: Backend>() {
    let manager = M::make(6, 1 << 12);
    let functions = all_functions(&manager);
    // Each increasing choice of three targets among six variables.
    for targets in [[0, 1, 2], [1, 3, 4], [0, 2, 5], [3, 4, 5], [2, 3, 4], [0, 1, 4], [1, 4, 5]] {
        let pairs: Vec<(Var, Var)> = (0..3).map(|k| (var(X[k]), var(targets[k]))).collect();
        let back: Vec<(Var, Var)> = pairs.iter().map(|&(from, to)| (to, from)).collect();
        let (there, back) = (manager.renaming(&pairs).unwrap(), manager.renaming(&back).unwrap());
        for (a, f) in functions.iter().enumerate() {
            let moved = manager.rename(f, &there).unwrap();
            for row in 0..8usize {
                let value = manager.eval(&moved, &|v| {
                    let k = targets.iter().position(|&t| t == v.index()).expect("not a target");
                    row >> k & 1 == 1
                });
                assert_eq!(value, a >> row & 1 == 1);
            }
            assert_eq!(manager.rename(&moved, &back).unwrap(), *f);
        }
    }
    // Variables outside the pairs stay, and pairs outside the support do not matter.
    let shift = manager.renaming(&[(var(0), var(1)), (var(4), var(5))]).unwrap();
    let f = manager.conjunction(&[(var(3), true), (var(4), false)]).unwrap();
    let g = manager.conjunction(&[(var(3), true), (var(5), false)]).unwrap();
    assert_eq!(manager.rename(&f, &shift).unwrap(), g);
}

pub(crate) fn readers_on_all_functions_of_three_variables<M: Backend>() {
    let manager = M::make(6, 1 << 12);
    let functions = all_functions(&manager);
    let vars: Vec<Var> = (0..6).map(var).collect();
    for (a, f) in functions.iter().enumerate() {
        let support: Vec<Var> =
            (0..3).filter(|&k| exists_table(a, k) != a).map(|k| var(X[k])).collect();
        assert_eq!(manager.support(f), support);
        assert!((manager.sat_count(f) - f64::from(a.count_ones()) * 8.0).abs() < 1e-9);
        // A node for each distinct cofactor that depends on the variable it is made at.
        let halves = |t: usize, k: usize| {
            let pick = |value: usize| {
                (0..8)
                    .filter(|row| t >> (row & !(1 << k) | value << k) & 1 == 1)
                    .fold(0usize, |t, row| t | 1 << row)
            };
            [pick(0), pick(1)]
        };
        let mut level = vec![a];
        let mut count = 0;
        for k in 0..3 {
            level.sort_unstable();
            level.dedup();
            count += level.iter().filter(|&&t| exists_table(t, k) != t).count();
            level = level.iter().flat_map(|&t| halves(t, k)).collect();
        }
        assert_eq!(manager.node_count(f), count, "table {a:#x}");

        // The least row with the first variable as the most significant bit.
        let least = [0, 4, 2, 6, 1, 5, 3, 7].into_iter().find(|row| a >> row & 1 == 1);
        let picked = manager.pick(f, &vars);
        assert_eq!(
            picked,
            least.map(|row| (0..6)
                .map(|v| X.iter().position(|&x| x == v).is_some_and(|k| row >> k & 1 == 1))
                .collect::<Vec<bool>>())
        );
        match manager.pick_cube(f) {
            None => assert_eq!(a, 0),
            Some(literals) => {
                assert!(literals.is_sorted());
                let cube = manager.conjunction(&literals).unwrap();
                assert_eq!(manager.and(&cube, f).unwrap(), cube, "a cube of f implies f");
                let picked = picked.unwrap();
                assert!(literals.iter().all(|&(v, value)| picked[v.index()] == value));
            }
        }
    }
}

/// A function of eight variables as its 256 values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Table([u64; 4]);

impl Table {
    pub(crate) fn of(value: impl Fn(usize) -> bool) -> Self {
        let mut table = [0; 4];
        for row in (0..256).filter(|&row| value(row)) {
            table[row / 64] |= 1 << (row % 64);
        }
        Self(table)
    }
    fn at(&self, row: usize) -> bool {
        self.0[row / 64] >> (row % 64) & 1 == 1
    }
    fn exists(&self, mask: usize) -> Self {
        let mut result = *self;
        for k in (0..8).filter(|k| mask >> k & 1 == 1) {
            let old = result;
            result = Self::of(|row| old.at(row) || old.at(row ^ 1 << k));
        }
        result
    }
}

/// Applies one random operation to the registers; variable `k` of the tables is `offset + 2 k`.
pub(crate) fn random_step<M: Backend>(
    manager: &M,
    random: &mut Generator,
    registers: &mut [(M::Node, Table)],
) {
    let place = random.below(registers.len());
    let (f, tf) = registers[random.below(registers.len())].clone();
    let (g, tg) = registers[random.below(registers.len())].clone();
    let (h, th) = registers[random.below(registers.len())].clone();
    let mask = random.below(256) & random.below(256);
    let vars: Vec<Var> = (0..8).filter(|k| mask >> k & 1 == 1).map(|k| var(2 * k)).collect();
    let cube = manager.cube(&vars).unwrap();
    registers[place] = match random.below(10) {
        0 => (manager.not(&f).unwrap(), Table::of(|row| !tf.at(row))),
        1 => (manager.and(&f, &g).unwrap(), Table::of(|row| tf.at(row) && tg.at(row))),
        2 => (manager.or(&f, &g).unwrap(), Table::of(|row| tf.at(row) || tg.at(row))),
        3 => (manager.xor(&f, &g).unwrap(), Table::of(|row| tf.at(row) ^ tg.at(row))),
        4 => (
            manager.ite(&f, &g, &h).unwrap(),
            Table::of(|row| if tf.at(row) { tg.at(row) } else { th.at(row) }),
        ),
        5 => (manager.exists(&f, &cube).unwrap(), tf.exists(mask)),
        6 => (
            manager.and_exists(&f, &g, &cube).unwrap(),
            Table::of(|row| tf.at(row) && tg.at(row)).exists(mask),
        ),
        7 => {
            // There and back through the odd variables.
            let up: Vec<(Var, Var)> = (0..8).map(|k| (var(2 * k), var(2 * k + 1))).collect();
            let down: Vec<(Var, Var)> = up.iter().map(|&(from, to)| (to, from)).collect();
            let up = manager.rename(&f, &manager.renaming(&up).unwrap()).unwrap();
            (manager.rename(&up, &manager.renaming(&down).unwrap()).unwrap(), tf)
        }
        // Fresh literals keep the registers from becoming constant.
        _ => {
            let k = random.below(8);
            let literal = manager.var(var(2 * k)).unwrap();
            (manager.xor(&f, &literal).unwrap(), Table::of(|row| tf.at(row) ^ (row >> k & 1 == 1)))
        }
    };
    let (node, table) = &registers[place];
    for row in 0..256 {
        let value = manager.eval(node, &|v| row >> (v.index() / 2) & 1 == 1);
        assert_eq!(value, table.at(row), "row {row}");
    }
}

pub(crate) fn random_operations_on_eight_variables<M: Backend>() {
    for seed in 0..8 {
        let mut random = Generator::new(seed);
        // The limit is low, so that garbage must be collected again and again.
        let manager = M::make(16, 3000);
        let mut registers: Vec<(M::Node, Table)> = (0..8)
            .map(|k| (manager.var(var(2 * k)).unwrap(), Table::of(|row| row >> k & 1 == 1)))
            .collect();
        for _ in 0..400 {
            random_step(&manager, &mut random, &mut registers);
        }
        for (f, tf) in &registers {
            for (g, tg) in &registers {
                assert_eq!(f == g, tf == tg, "seed {seed}");
            }
        }
        manager.collect_garbage();
        for (f, table) in &registers {
            let count: u32 = table.0.iter().map(|word| word.count_ones()).sum();
            assert!((manager.sat_count(f) - f64::from(count) * 256.0).abs() < 1e-6);
        }
    }
}

/// `⋁ x_i ∧ x_{n+i}`, which has more than `2^n` nodes in this order.
fn exponential<M: Backend>(manager: &M, n: usize) -> Result<M::Node, Exhausted> {
    let mut f = manager.bottom();
    for i in 0..n {
        f = manager.or(&f, &manager.conjunction(&[(var(i), true), (var(n + i), true)])?)?;
    }
    Ok(f)
}

pub(crate) fn the_node_limit_is_an_error_and_no_end<M: Backend>() {
    let manager = M::make(40, 5000);
    let small = exponential(&manager, 5).unwrap();
    assert_eq!(exponential(&manager, 18), Err(Exhausted::Nodes(5000)));
    assert_eq!(exponential(&manager, 18), Err(Exhausted::Nodes(5000)), "and again");
    manager.collect_garbage();
    if M::SHARED_LIMIT {
        assert!(manager.stored_nodes() <= 5000);
    }
    assert_eq!(exponential(&manager, 5).unwrap(), small, "old handles are valid");
    let medium = exponential(&manager, 8).unwrap();
    assert_eq!(manager.node_count(&medium), (1 << 9) - 2);
    drop((small, medium));
    manager.collect_garbage();
    if M::SHARED_LIMIT {
        assert!(manager.stored_nodes() <= 40, "{} nodes left", manager.stored_nodes());
    }
}

pub(crate) fn the_deepest_diagram_fits_the_stack<M: Backend>() {
    // Test threads have the small stack of any other thread.
    let manager = M::make(MAX_VARIABLES, 1 << 16);
    let half = MAX_VARIABLES / 2;
    let vars: Vec<Var> = (0..half).map(var).collect();
    let all = manager.cube(&vars).unwrap();
    let none = manager.not(&all).unwrap();
    assert_eq!(manager.or(&all, &none).unwrap(), manager.top());
    assert_eq!(manager.node_count(&none), half);
    let pairs: Vec<(Var, Var)> = (0..half).map(|k| (var(k), var(half + k))).collect();
    let up = manager.rename(&none, &manager.renaming(&pairs).unwrap()).unwrap();
    let both = manager.and(&none, &up).unwrap();
    assert_eq!(manager.node_count(&both), MAX_VARIABLES);
    assert_eq!(manager.and_exists(&both, &up, &all).unwrap(), up);
}

#[test]
fn the_native_manager_collects_garbage_on_its_own() {
    let manager = NativeManager::new(28, usize::MAX);
    let kept = exponential(&manager, 10).unwrap();
    let count = manager.node_count(&kept);
    let (mut before, mut collections) = (0, 0);
    for n in (8..=14).chain(8..=14) {
        let f = exponential(&manager, n).unwrap();
        assert_eq!(manager.node_count(&f), (2 << n) - 2);
        let now = manager.stored_nodes();
        collections += usize::from(now < before);
        before = now;
    }
    assert!(collections > 0, "nothing was collected");
    assert_eq!(manager.node_count(&kept), count);
    assert_eq!(exponential(&manager, 10).unwrap(), kept, "still the same node");
    manager.collect_garbage();
    assert_eq!(manager.stored_nodes(), count);
    let _more = manager.var(var(27)).unwrap();
    assert_eq!(manager.stored_nodes(), count + 1, "a slot that is used again counts again");
}

#[test]
fn a_freed_cube_is_not_mistaken_for_another_one() {
    let manager = NativeManager::new(4, 1 << 10);
    let same = manager.renaming(&[]).unwrap();
    // The nodes of the cubes do not occur in `f`, so both cubes get the same slot in turn.
    let f = manager.cube(&[var(0), var(1), var(2)]).unwrap();
    let rest = [1, 0].map(|k| manager.cube(&[var(k), var(2)]).unwrap());
    manager.collect_garbage();
    for round in 0..3 {
        for (k, rest) in rest.iter().enumerate() {
            let cube = manager.cube(&[var(k)]).unwrap();
            let result = manager.relational_product(&f, &f, &same, &cube, &same).unwrap();
            assert_eq!(result, *rest, "round {round}, variable {k}");
            drop((cube, result));
            manager.collect_garbage();
        }
    }
}

/// A function with exponentially many nodes in this order of its variables.
fn large(
    manager: &NativeManager,
    pairs: u32,
) -> Result<<NativeManager as BddManager>::Node, Exhausted> {
    let mut sum = manager.bottom();
    for pair in 0..pairs {
        let left = manager.var(Var::from_index(pair as usize))?;
        let right = manager.var(Var::from_index((pair + pairs) as usize))?;
        sum = manager.or(&sum, &manager.and(&left, &right)?)?;
    }
    Ok(sum)
}

#[test]
fn an_interrupt_ends_an_operation_in_its_middle() {
    let budget = Budget::new();
    let manager = NativeManager::with_budget(32, usize::MAX, budget.clone());
    assert!(large(&manager, 12).is_ok());
    budget.raise(StopReason::Timeout);
    let stopped = Exhausted::Budget(StopReason::Timeout);
    assert_eq!(large(&manager, 16).err(), Some(stopped));
    assert_eq!(manager.and(&manager.top(), &manager.bottom()).err(), Some(stopped), "at once");
}
