//! Times the backends on the steps of a weighted saturation: 100,000 times compose two relations
//! over 20 bits, unite the result with a third and ask whether anything changed. Beside it, one
//! large diagram: the placements of nine queens.
//!
//! `cargo run --release --manifest-path bench/bdd/Cargo.toml --example relations [steps] [backend]`
//!
//! The last columns must be equal for all backends.
#![expect(clippy::print_stdout, reason = "the output is the purpose of this program")]

use std::time::Instant;

use selvedge_base::Id;
use selvedge_bdd::{BddManager, Component, Exhausted, NativeManager, Relation, Relations, Var};
use selvedge_bdd_comparison::{BiodivineManager, OxiddManager};

const WIDTH: usize = 20;
const WEIGHTS: usize = 64;

fn main() -> Result<(), Exhausted> {
    let steps = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100_000);
    println!(
        "{:<12} {:<10} {:>9} {:>9} {:>9} {:>12}",
        "backend", "workload", "seconds", "cpu", "changes", "nodes"
    );
    for workload in [Workload::Summaries, Workload::Phases, Workload::Queries, Workload::Queens] {
        run("native", workload, steps, |variables| NativeManager::new(variables, 1 << 22))?;
        run("oxidd", workload, steps, |variables| OxiddManager::new(variables, 1 << 22))?;
        run("biodivine", workload, steps, |variables| BiodivineManager::new(variables, 1 << 22))?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Workload {
    /// Binary relations that grow until they are stable, as procedure summaries do.
    Summaries,
    /// Relations of arity 2 to 5, as tuples of phases do.
    Phases,
    /// A new manager for every hundred steps.
    Queries,
    /// One large diagram; "changes" are the solutions, of which there are 352.
    Queens,
}

fn run<M: BddManager>(
    name: &str,
    workload: Workload,
    steps: usize,
    make: impl Fn(usize) -> M,
) -> Result<(), Exhausted> {
    if std::env::args().nth(2).is_some_and(|only| only != name) {
        return Ok(());
    }
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let (label, (changes, nodes)) = match workload {
        Workload::Summaries => {
            let r = Relations::new(make(Relations::<M>::variables(WIDTH, 2)), WIDTH, 2)?;
            ("summaries", summaries(&r, steps, 1)?)
        }
        Workload::Phases => {
            let r = Relations::new(make(Relations::<M>::variables(WIDTH, 5)), WIDTH, 5)?;
            ("phases", phases(&r, steps)?)
        }
        Workload::Queries => {
            let mut sum = (0, 0);
            for query in 0..steps / 100 {
                let r = Relations::new(make(Relations::<M>::variables(WIDTH, 2)), WIDTH, 2)?;
                let (changes, nodes) = summaries(&r, 100, query as u64)?;
                sum = (sum.0 + changes, sum.1 + nodes);
            }
            ("queries", sum)
        }
        Workload::Queens => ("queens", queens(&make(QUEENS * QUEENS))?),
    };
    let seconds = start.elapsed().as_secs_f64();
    let cpu = cpu_seconds() - cpu;
    println!("{name:<12} {label:<10} {seconds:>9.2} {cpu:>9.2} {changes:>9} {nodes:>12}");
    Ok(())
}

/// Steps among [`WEIGHTS`] binary weights; a weight that grew large starts again.
fn summaries<M: BddManager>(
    r: &Relations<M>,
    steps: usize,
    seed: u64,
) -> Result<(usize, usize), Exhausted> {
    let mut random = Generator(seed);
    let rules: Vec<Relation<M::Node>> =
        (0..WEIGHTS).map(|_| rule(r, &mut random)).collect::<Result<_, _>>()?;
    let mut weights = rules.clone();
    let (mut changes, mut nodes) = (0, 0);
    for _ in 0..steps {
        let (from, by, to) = (random.below(WEIGHTS), random.below(WEIGHTS), random.below(WEIGHTS));
        let extended = r.compose(&weights[from], &rules[by])?;
        let combined = r.union(&weights[to], &extended)?;
        if combined != weights[to] {
            changes += 1;
            weights[to] = combined;
            if random.below(2) == 0 {
                weights[to] = rules[to].clone();
            }
        }
    }
    for weight in &weights {
        nodes += r.manager().node_count(&weight.node);
    }
    Ok((changes, nodes))
}

/// The same with a phase transition now and then, up to three of them.
fn phases<M: BddManager>(r: &Relations<M>, steps: usize) -> Result<(usize, usize), Exhausted> {
    let mut random = Generator(2);
    let rules: Vec<Relation<M::Node>> =
        (0..WEIGHTS).map(|_| rule(r, &mut random)).collect::<Result<_, _>>()?;
    let [zero, one, two] = [0, 1, 2].map(Component::from_index);
    // A phase transition forgets the upper half of the bits.
    let history = r.equal(zero, one)?;
    let kept = r.equal_bits(one, two, 0..WIDTH / 2)?;
    let mut node = r.manager().and(&history, &kept)?;
    for bit in WIDTH / 2..WIDTH {
        node = r.manager().and(&node, &r.manager().not(&r.bit(two, bit)?)?)?;
    }
    let transition = r.relation(3, node);
    let mut weights: Vec<[Relation<M::Node>; 4]> = Vec::new();
    for rule in &rules {
        weights.push([rule.clone(), r.empty(3), r.empty(4), r.empty(5)]);
    }
    let (mut changes, mut nodes) = (0, 0);
    for _ in 0..steps {
        let (from, by, to) = (random.below(WEIGHTS), random.below(WEIGHTS), random.below(WEIGHTS));
        let phase = random.below(4);
        let (extended, target) = if phase < 3 && random.below(4) == 0 {
            (r.compose(&weights[from][phase], &transition)?, phase + 1)
        } else {
            (r.compose(&weights[from][phase], &rules[by])?, phase)
        };
        let combined = r.union(&weights[to][target], &extended)?;
        if combined != weights[to][target] {
            changes += 1;
            weights[to][target] = combined;
            if random.below(2) == 0 {
                weights[to] = [rules[to].clone(), r.empty(3), r.empty(4), r.empty(5)];
            }
        }
    }
    for weight in weights.iter().flatten() {
        nodes += r.manager().node_count(&weight.node);
    }
    Ok((changes, nodes))
}

const QUEENS: usize = 9;

/// Conjoins, square by square, "a queen here attacks no other", and then "each row has a queen".
fn queens<M: BddManager>(m: &M) -> Result<(usize, usize), Exhausted> {
    let square = |row: usize, column: usize| Var::from_index(row * QUEENS + column);
    let squares = || (0..QUEENS).flat_map(|row| (0..QUEENS).map(move |column| (row, column)));
    let mut all = m.top();
    for (row, column) in squares() {
        let attacked: Vec<(Var, bool)> = squares()
            .filter(|&(r, c)| {
                (r, c) != (row, column)
                    && (r == row || c == column || r.abs_diff(row) == c.abs_diff(column))
            })
            .map(|(r, c)| (square(r, c), false))
            .collect();
        let here = m.var(square(row, column))?;
        all = m.and(&all, &m.ite(&here, &m.conjunction(&attacked)?, &m.top())?)?;
    }
    for row in 0..QUEENS {
        let mut some = m.bottom();
        for column in 0..QUEENS {
            some = m.or(&some, &m.var(square(row, column))?)?;
        }
        all = m.and(&all, &some)?;
    }
    #[expect(clippy::cast_sign_loss, reason = "a count is not negative")]
    Ok((m.sat_count(&all).round() as usize, m.node_count(&all)))
}

/// What one statement does: under a condition on a few bits, a few bits get new values (constants
/// or other bits), and the rest stay.
fn rule<M: BddManager>(
    r: &Relations<M>,
    random: &mut Generator,
) -> Result<Relation<M::Node>, Exhausted> {
    let m = r.manager();
    let [pre, post] = [0, 1].map(Component::from_index);
    let start = random.below(WIDTH);
    let assigned: Vec<usize> = (0..=random.below(3)).map(|k| (start + k) % WIDTH).collect();
    let mut node = r.equal_bits(pre, post, (0..WIDTH).filter(|bit| !assigned.contains(bit)))?;
    for &bit in &assigned {
        let value = if random.below(2) == 0 {
            r.bit(pre, (start + 3 + random.below(3)) % WIDTH)?
        } else {
            m.top()
        };
        node = m.and(&node, &m.iff(&r.bit(post, bit)?, &value)?)?;
    }
    let guard = m.literal(r.var(pre, (start + random.below(5)) % WIDTH), random.below(2) == 0)?;
    Ok(r.relation(2, m.and(&node, &guard)?))
}

/// The processor time of this thread where the system tells it (Linux), which other processes
/// disturb less than the seconds on the wall; else 0.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = stat.split(' ').next().and_then(|field| field.parse::<f64>().ok());
    nanoseconds.unwrap_or(0.0) / 1e9
}

/// Random numbers from a seed (splitmix64).
struct Generator(u64);

impl Generator {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ z >> 31) % bound as u64).expect("below a usize")
    }
}
