//! Relations against explicit sets of tuples, and the laws of paper 000, Remark 5.

mod generator;

use std::collections::BTreeSet;

use generator::Generator;
use selvedge_base::Id;
use selvedge_bdd::{BddManager, Component, NativeManager, Relation, Relations};

const WIDTH: usize = 2;
const MAX_ARITY: usize = 4;

macro_rules! with_the_native_backend {
    ($($test:ident),* $(,)?) => {
        mod native { $(#[test] fn $test() { super::$test(super::NativeManager::new); })* }
    };
}

with_the_native_backend!(
    operations_agree_with_sets_of_tuples,
    composition_is_a_monoid_that_distributes_over_union,
    identity_has_three_nodes_per_bit,
    phase_transitions_keep_the_history,
    placed_relations_conjoin_on_a_shared_position,
    wide_elements_compose,
);

/// An element as a number; bit `b` of the number is bit `b` of the element.
type Set = BTreeSet<Vec<usize>>;

fn make<M: BddManager>(new: fn(usize, usize) -> M) -> Relations<M> {
    let variables = Relations::<M>::variables(WIDTH, MAX_ARITY);
    Relations::new(new(variables, 1 << 14), WIDTH, MAX_ARITY).unwrap()
}

fn position(index: usize) -> Component {
    Component::from_index(index)
}

fn bits(element: usize, width: usize) -> Vec<bool> {
    (0..width).map(|b| element >> b & 1 == 1).collect()
}

fn tuple_bits(tuple: &[usize]) -> Vec<Vec<bool>> {
    tuple.iter().map(|&element| bits(element, WIDTH)).collect()
}

/// All tuples of this length.
fn tuples(arity: usize) -> Vec<Vec<usize>> {
    let mut result = vec![Vec::new()];
    for _ in 0..arity {
        result = result
            .into_iter()
            .flat_map(|tuple: Vec<usize>| {
                (0..1 << WIDTH).map(move |x| tuple.iter().copied().chain([x]).collect())
            })
            .collect();
    }
    result
}

fn to_relation<M: BddManager>(r: &Relations<M>, arity: usize, set: &Set) -> Relation<M::Node> {
    set.iter().fold(r.empty(arity), |a, tuple| {
        r.union(&a, &r.tuple(&tuple_bits(tuple)).unwrap()).unwrap()
    })
}

fn to_set<M: BddManager>(r: &Relations<M>, a: &Relation<M::Node>) -> Set {
    tuples(a.arity).into_iter().filter(|tuple| r.contains(a, &tuple_bits(tuple))).collect()
}

fn random_set(random: &mut Generator, arity: usize) -> Set {
    let all = tuples(arity);
    let many = random.below(8);
    (0..many).map(|_| all[random.below(all.len())].clone()).collect()
}

/// Definition 7, word for word.
fn compose(a: &Set, b: &Set) -> Set {
    let mut result = Set::new();
    for left in a {
        for right in b {
            let (x, prefix) = left.split_last().expect("arity 1 or more");
            if *x == right[0] {
                result.insert(prefix.iter().chain(&right[1..]).copied().collect());
            }
        }
    }
    result
}

pub(crate) fn operations_agree_with_sets_of_tuples<M: BddManager>(new: fn(usize, usize) -> M) {
    let r = make(new);
    let (mut nonempty, mut compositions) = (0, 0);
    for seed in 0..150 {
        let mut random = Generator::new(seed);
        let (m, p) = (1 + random.below(MAX_ARITY), 1 + random.below(MAX_ARITY));
        let (set_a, set_b) = (random_set(&mut random, m), random_set(&mut random, p));
        let (a, b) = (to_relation(&r, m, &set_a), to_relation(&r, p, &set_b));
        assert_eq!(to_set(&r, &a), set_a, "seed {seed}");
        assert_eq!(r.is_empty(&a), set_a.is_empty());
        let count = f64::from(u32::try_from(set_a.len()).unwrap());
        assert!((r.count(&a) - count).abs() < 1e-9, "seed {seed}");
        match r.pick(&a) {
            None => assert!(set_a.is_empty()),
            Some(tuple) => {
                // By the order of the variables: bit 0 of all positions, then bit 1, and so on.
                let key = |tuple: &Vec<Vec<bool>>| {
                    (0..WIDTH)
                        .flat_map(|b| tuple.iter().map(move |element| element[b]))
                        .collect::<Vec<bool>>()
                };
                let least = set_a.iter().map(|tuple| tuple_bits(tuple)).min_by_key(key);
                assert_eq!(Some(tuple), least, "seed {seed}");
            }
        }
        if m + p - 2 <= MAX_ARITY {
            let composed = r.compose(&a, &b).unwrap();
            let expected = compose(&set_a, &set_b);
            assert_eq!(composed.arity, m + p - 2);
            assert_eq!(composed, to_relation(&r, m + p - 2, &expected), "seed {seed}");
            compositions += 1;
            nonempty += usize::from(!expected.is_empty());
        }
        if m == p {
            let union: Set = set_a.union(&set_b).cloned().collect();
            assert_eq!(to_set(&r, &r.union(&a, &b).unwrap()), union, "seed {seed}");
            let common: Set = set_a.intersection(&set_b).cloned().collect();
            assert_eq!(to_set(&r, &r.intersection(&a, &b).unwrap()), common, "seed {seed}");
        }
        let keep: Vec<usize> = (0..m).filter(|_| random.below(2) == 1).collect();
        let kept: Vec<Component> = keep.iter().map(|&k| position(k)).collect();
        let projected: Set =
            set_a.iter().map(|tuple| keep.iter().map(|&k| tuple[k]).collect()).collect();
        let projection = r.project(&a, &kept).unwrap();
        assert_eq!(projection, to_relation(&r, keep.len(), &projected), "seed {seed}");
    }
    assert!(compositions > 80 && nonempty > 30, "{nonempty} of {compositions} are not empty");
}

pub(crate) fn composition_is_a_monoid_that_distributes_over_union<M: BddManager>(
    new: fn(usize, usize) -> M,
) {
    let r = make(new);
    let id = r.identity().unwrap();
    for seed in 0..60 {
        let mut random = Generator::new(seed);
        let mut relation = |arity: usize| {
            let set = random_set(&mut random, arity);
            to_relation(&r, arity, &set)
        };
        // Arities 2, 3 and 3 give 4 in the end, the maximum.
        let (a, b, c) = (relation(2), relation(3), relation(3));
        let (b2, c2) = (relation(3), relation(3));
        let ab = r.compose(&a, &b).unwrap();
        let bc = r.compose(&b, &c).unwrap();
        assert_eq!(r.compose(&ab, &c).unwrap(), r.compose(&a, &bc).unwrap(), "associative");
        assert_eq!(r.compose(&b, &id).unwrap(), b, "neutral on the right");
        assert_eq!(r.compose(&id, &b).unwrap(), b, "neutral on the left");
        assert!(r.is_empty(&r.compose(&b, &r.empty(3)).unwrap()), "∅ annihilates");
        assert!(r.is_empty(&r.compose(&r.empty(3), &b).unwrap()), "∅ annihilates");
        let left = r.compose(&b, &r.union(&c, &c2).unwrap()).unwrap();
        let right = r.union(&bc, &r.compose(&b, &c2).unwrap()).unwrap();
        assert_eq!(left, right, "distributes on the right");
        let left = r.compose(&r.union(&b, &b2).unwrap(), &c).unwrap();
        let right = r.union(&bc, &r.compose(&b2, &c).unwrap()).unwrap();
        assert_eq!(left, right, "distributes on the left");
        assert_eq!(r.union(&b, &b).unwrap(), b, "idempotent");
        assert_eq!(r.union(&b, &r.empty(3)).unwrap(), b, "∅ is neutral for ∪");
    }
}

pub(crate) fn identity_has_three_nodes_per_bit<M: BddManager>(new: fn(usize, usize) -> M) {
    let r = Relations::new(new(Relations::<M>::variables(50, 3), 1 << 14), 50, 3).unwrap();
    assert_eq!(r.manager().node_count(&r.identity().unwrap().node), 3 * 50);
}

/// The weight `{⟨LH, LH, ptrans(LH)⟩}` of a phase transition, with "clear bit 0" for ptrans.
pub(crate) fn phase_transitions_keep_the_history<M: BddManager>(new: fn(usize, usize) -> M) {
    let r = make(new);
    let m = r.manager();
    let kept = r.equal_bits(position(1), position(2), 1..WIDTH).unwrap();
    let cleared = m.not(&r.bit(position(2), 0).unwrap()).unwrap();
    let node = m.and(&kept, &cleared).unwrap();
    let node = m.and(&node, &r.equal(position(0), position(1)).unwrap()).unwrap();
    let transition = r.relation(3, node);
    let expected: Set = (0..4).map(|s| vec![s, s, s & !1]).collect();
    assert_eq!(to_set(&r, &transition), expected);

    // Two phase transitions after a step from 0 to 3 that sets bit 0 again in between.
    let step = |from: usize, to: usize| r.tuple(&tuple_bits(&[from, to])).unwrap();
    let mut path = r.compose(&step(0, 3), &transition).unwrap();
    path = r.compose(&path, &step(2, 1)).unwrap();
    path = r.compose(&path, &transition).unwrap();
    assert_eq!(to_set(&r, &path), Set::from([vec![0, 3, 1, 0]]));
}

/// The end of Algorithm 2: two relations agree on position 0 and are otherwise compared.
pub(crate) fn placed_relations_conjoin_on_a_shared_position<M: BddManager>(
    new: fn(usize, usize) -> M,
) {
    let r = make(new);
    let m = r.manager();
    let set_a = Set::from([vec![0, 1], vec![2, 3], vec![1, 1]]);
    let set_b = Set::from([vec![0, 2], vec![2, 3], vec![3, 1]]);
    let first = r.placement(&[position(0), position(1)]).unwrap();
    let second = r.placement(&[position(0), position(2)]).unwrap();
    let a = m.rename(&to_relation(&r, 2, &set_a).node, &first).unwrap();
    let b = m.rename(&to_relation(&r, 2, &set_b).node, &second).unwrap();
    let both = m.and(&a, &b).unwrap();
    let pairs = r.relation(3, both.clone());
    assert_eq!(to_set(&r, &pairs), Set::from([vec![0, 1, 2], vec![2, 3, 3]]));
    let different = m.not(&r.equal(position(1), position(2)).unwrap()).unwrap();
    let conflicts = r.relation(3, m.and(&both, &different).unwrap());
    assert_eq!(r.pick(&conflicts), Some(tuple_bits(&[0, 1, 2])));
    let only = r.element(position(0), &bits(2, WIDTH)).unwrap();
    let rest = r.relation(3, m.and(&both, &only).unwrap());
    assert_eq!(to_set(&r, &rest), Set::from([vec![2, 3, 3]]));
}

/// Rotating the bits `width` times is the identity.
pub(crate) fn wide_elements_compose<M: BddManager>(new: fn(usize, usize) -> M) {
    let width = 9;
    let r = Relations::new(new(Relations::<M>::variables(width, 2), 1 << 18), width, 2).unwrap();
    let m = r.manager();
    let mut node = m.top();
    for bit in 0..width {
        let from = r.bit(position(0), bit).unwrap();
        let to = r.bit(position(1), (bit + 1) % width).unwrap();
        node = m.and(&node, &m.iff(&from, &to).unwrap()).unwrap();
    }
    let rotate = r.relation(2, node);
    let mut power = rotate.clone();
    for exponent in 2..=width {
        power = r.compose(&power, &rotate).unwrap();
        assert_eq!(power == r.identity().unwrap(), exponent == width, "exponent {exponent}");
    }
    let element: Vec<bool> = (0..width).map(|b| b % 3 == 0).collect();
    let image = r.compose(&r.tuple(std::slice::from_ref(&element)).unwrap(), &rotate).unwrap();
    let mut rotated = element;
    rotated.rotate_right(1);
    assert_eq!(r.pick(&image), Some(vec![rotated]));
    assert!((r.count(&image) - 1.0).abs() < 1e-9);
}
