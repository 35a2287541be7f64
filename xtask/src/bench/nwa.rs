//! Nested-word automata and what they cost: merging functions beside plain weights, products of automata
//! with ten thousand transitions, a family of automata whose deterministic forms need all sets of pairs of
//! states, and how many operations on weights language strength reduction takes for a number of locks.

use super::{Case, Measurement};
use selvedge_base::{Budget, Id, IdVec};
use selvedge_bdd::{Exhausted, NativeManager};
use selvedge_cpds::{DiagramCombination, DiagramRelations};
use selvedge_pds::domains::{Boolean, MinPlus};
use selvedge_pds::generate::{Program, ProgramShape, program};
use selvedge_pds::nwa::restrict::{Anywhere, Combination, WeightedRelations};
use selvedge_pds::nwa::{Letter, Nwa, NwaError, NwaLimits, NwaState};
use selvedge_pds::random::Random;
use selvedge_pds::text::NamedPds;
use selvedge_pds::{
    Configuration, Extend, Merging, NoReasons, PAutomaton, RuleId, WeightDomain, WeightedAutomaton,
    extended_post_star, extended_pre_star, text, weighted_post_star, weighted_pre_star,
};
use std::fmt::Write as _;
use std::time::Instant;

/// The cases of this suite.
pub fn cases(quick: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |section, name: String, variant, run: Run| {
        cases.push(Case { section, name, variant, grows: section == DETERMINISTIC, run });
    };
    let shapes: &[(usize, usize)] =
        if quick { &[(50, 4)] } else { &[(100, 4), (250, 4), (500, 4)] };
    for &(procedures, values) in shapes {
        let shape = ProgramShape { procedures, nodes: 100, values };
        for (variant, forwards, merging) in [
            ("post*", true, false),
            ("post* with merging", true, true),
            ("pre*", false, false),
            ("pre* with merging", false, true),
        ] {
            let run = move || Ok(saturate(&program(shape, 1), forwards, merging));
            add("merging functions", format!("{procedures}x100x{values}"), variant, Box::new(run));
        }
    }
    for transitions in if quick { vec![1_000] } else { vec![1_000, 10_000] } {
        let run = move || Ok(intersect(transitions));
        add("products", format!("{transitions}"), "intersect", Box::new(run));
    }
    for states in 2..=if quick { 3 } else { 5 } {
        let run = move || Ok(determinize(states));
        add(DETERMINISTIC, format!("{states}"), "determinize", Box::new(run));
    }
    for locks in 1..=if quick { 3 } else { 6 } {
        let run = move || Ok(Locks::new(locks).by_maps());
        add("weights of locks", format!("{locks}"), "sparse maps", Box::new(run));
        let run = move || Locks::new(locks).by_diagrams().map_err(|why| why.to_string());
        add("weights of locks", format!("{locks}"), "diagrams", Box::new(run));
    }
    cases
}

type Run = Box<dyn Fn() -> Result<Measurement, String>>;

const DETERMINISTIC: &str = "sets of pairs";

fn measurement(size: String, outcome: String, counts: String, seconds: f64) -> Measurement {
    Measurement { size, outcome, counts, seconds, peak_mib: None, stopped: false }
}

/// `m(a, b) = a ⊗ b`, as a saturation that does not know it sees it.
struct Multiply;

impl<D: WeightDomain> Merging<D> for Multiply {
    fn merge(
        &mut self,
        domain: &mut D,
        _rule: RuleId,
        caller: &D::Weight,
        callee: &D::Weight,
    ) -> Result<D::Weight, D::Error> {
        domain.extend(caller, callee)
    }
}

/// The shortest runs of a system, the best of nine times.
#[expect(clippy::cast_precision_loss, reason = "the number of rules is far below 2^52")]
fn saturate(program: &Program, forwards: bool, merging: bool) -> Measurement {
    let Program { pds, start, target } = program;
    let weights = IdVec::filled(Some(1), pds.rules.len());
    let from = if forwards { start } else { target };
    let set = WeightedAutomaton::unit(PAutomaton::singleton(pds.states, from), &MinPlus);
    let budget = Budget::new();
    let (mut best, mut facts) = (f64::INFINITY, 0);
    for _ in 0..9 {
        let time = Instant::now();
        let domain = &mut MinPlus;
        let saturation = match (forwards, merging) {
            (true, false) => weighted_post_star(pds, &weights, domain, &set, NoReasons, &budget),
            (true, true) => {
                extended_post_star(pds, &weights, &mut Multiply, domain, &set, NoReasons, &budget)
            }
            (false, false) => weighted_pre_star(pds, &weights, domain, &set, NoReasons, &budget),
            (false, true) => {
                extended_pre_star(pds, &weights, &mut Multiply, domain, &set, NoReasons, &budget)
            }
        };
        let saturation = saturation.expect("nobody interrupts");
        best = best.min(time.elapsed().as_secs_f64());
        facts = saturation.automaton.automaton.transitions().len();
    }
    let rules = pds.rules.len();
    let outcome = format!("{:.0} ns a rule", best * 1e9 / rules as f64);
    measurement(format!("{rules} rules"), outcome, format!("facts={facts}"), best)
}

/// An automaton with so many transitions, most of them internal.
fn random(transitions: usize, seed: u64) -> Nwa {
    let mut random = Random::new(seed);
    let names: Vec<String> = (0..20).map(|letter| format!("a{letter:02}")).collect();
    let mut nwa = Nwa::new(names.iter().map(String::as_str));
    let states: Vec<NwaState> =
        (0..transitions / 20).map(|state| nwa.state(format!("q{state}"))).collect();
    nwa.initial.insert(states[0]);
    nwa.finals.extend(states.iter().step_by(7));
    while nwa.transitions() < transitions {
        let mut any = || states[random.below(states.len())];
        let (p, c, q) = (any(), any(), any());
        let letter = Letter::from_index(random.below(names.len()));
        match random.below(4) {
            0 => _ = nwa.calls.insert((p, letter, q)),
            1 => _ = nwa.returns.insert((p, c, letter, q)),
            _ => _ = nwa.internals.insert((p, letter, q)),
        }
    }
    nwa
}

fn intersect(transitions: usize) -> Measurement {
    let (first, second) = (random(transitions, 1), random(transitions, 2));
    let time = Instant::now();
    let product = first.intersect(&second, &NwaLimits::default(), &Budget::new());
    let seconds = time.elapsed().as_secs_f64();
    let (outcome, counts) = match product {
        Ok(product) => {
            let counts = format!("transitions={}", product.transitions());
            (format!("{} states", product.states.len()), counts)
        }
        Err(why) => (why.to_string(), String::new()),
    };
    let size = format!("2 x {} states, {transitions} transitions", first.states.len());
    measurement(size, outcome, counts, seconds)
}

/// Letters that swap two states, turn all of them round, add a state to another and drop one: together
/// they make nearly every relation on the states of the identity.
fn generators(states: usize) -> Nwa {
    let mut nwa = Nwa::new(["add", "drop", "swap", "turn"]);
    let all: Vec<NwaState> = (0..states).map(|state| nwa.state(format!("q{state}"))).collect();
    nwa.initial.extend(all.iter().copied());
    nwa.finals.extend(all.iter().copied());
    let [add, drop, swap, turn] = ["add", "drop", "swap", "turn"].map(|name| nwa.letter(name));
    for (at, &state) in all.iter().enumerate() {
        nwa.internals.insert((state, add, state));
        if at > 0 {
            nwa.internals.insert((state, drop, state));
        }
        let swapped = if at < 2 { all[1 - at] } else { state };
        nwa.internals.insert((state, swap, swapped));
        nwa.internals.insert((state, turn, all[(at + 1) % states]));
    }
    nwa.internals.insert((all[0], add, all[1]));
    nwa
}

fn determinize(states: usize) -> Measurement {
    let nwa = generators(states);
    let time = Instant::now();
    let made = nwa.determinize(&NwaLimits { states: 100_000, word: 1 }, &Budget::new());
    let seconds = time.elapsed().as_secs_f64();
    let stopped = matches!(made, Err(NwaError::States(_)));
    let outcome = match made {
        Ok(made) => format!("{} states", made.states.len()),
        Err(why) => why.to_string(),
    };
    let counts = format!("sets-of-pairs={}", 1u64 << (states * states));
    let measured = measurement(format!("{states} states"), outcome, counts, seconds);
    Measurement { stopped, ..measured }
}

/// A domain that counts its operations.
struct Counted {
    base: Boolean,
    extends: u64,
    combines: u64,
}

impl WeightDomain for Counted {
    type Weight = bool;
    type Error = std::convert::Infallible;

    fn zero(&self) -> bool {
        self.base.zero()
    }

    fn one(&self) -> bool {
        self.base.one()
    }

    fn extend(&mut self, a: &bool, b: &bool) -> Result<bool, Self::Error> {
        self.extends += 1;
        self.base.extend(a, b)
    }

    fn combine(&mut self, a: &bool, b: &bool) -> Result<bool, Self::Error> {
        self.combines += 1;
        self.base.combine(a, b)
    }
}

/// A process that takes so many locks in turn, each by a procedure that calls itself, or the next one; and
/// the automaton whose states are the sets of held locks.
struct Locks {
    named: NamedPds,
    nwa: Nwa,
    letters: IdVec<RuleId, Letter>,
    start: Configuration,
}

impl Locks {
    fn new(locks: usize) -> Self {
        let mut lines = String::from("p main -> p e0 end\n");
        for lock in 0..locks {
            let next = (lock + 1) % locks;
            let _ = writeln!(lines, "p e{lock} -> p m{lock}\np m{lock} -> p e{lock} x{lock}");
            let _ = writeln!(lines, "p m{lock} -> p e{next} x{lock}\np m{lock} -> p x{lock}");
            let _ = writeln!(lines, "p x{lock} -> p");
        }
        let named = text::parse(&lines).expect("a system");
        let entries: Vec<String> = (0..locks).map(|lock| format!("e{lock}")).collect();
        let mut nwa = Nwa::new(entries.iter().map(String::as_str));
        for state in 0..1usize << locks {
            nwa.state(format!("{state:b}"));
        }
        let state = NwaState::from_index;
        nwa.initial.insert(state(0));
        for held in 0..1usize << locks {
            for letter in nwa.all_letters() {
                let taken = held | (1 << letter.index()) & ((1 << locks) - 1);
                nwa.internals.insert((state(held), letter, state(held)));
                nwa.calls.insert((state(held), letter, state(taken)));
                // A return restores what the caller held.
                for before in (0..1usize << locks).filter(|before| before & held == *before) {
                    nwa.returns.insert((state(held), state(before), letter, state(before)));
                }
            }
        }
        // A call is read as the procedure that it enters, which tells the lock.
        let letters = named
            .pds
            .rules
            .iter()
            .map(|rule| {
                let entered = rule.rhs.top().map(|top| named.symbols[top].as_str());
                nwa.letter(entered.filter(|_| rule.rhs.symbols().count() == 2).unwrap_or(""))
            })
            .collect();
        let start = named.configuration("p main").expect("a configuration");
        Self { named, nwa, letters, start }
    }

    fn size(&self) -> String {
        format!("{} states, {} rules", self.nwa.states.len(), self.named.pds.rules.len())
    }

    /// The operations of `post*` on weights that are relations between the sets of held locks, beside how
    /// long a chain of such weights can be (004 §4.2 with ERRATA: `H·|Q|²·(1 + exits)`, here with `H = 1`).
    fn by_maps(&self) -> Measurement {
        let mut combination = Combination::new(&self.nwa, Anywhere(Extend));
        let base = Counted { base: Boolean, extends: 0, combines: 0 };
        let weights = combination.weights(&self.named.pds, &self.letters, &base, |_, _, _| true);
        let mut domain = WeightedRelations::new(base, &self.nwa);
        let time = Instant::now();
        let transitions = self.transitions(&weights, &mut combination, &mut domain);
        let seconds = time.elapsed().as_secs_f64();
        let states = self.nwa.states.len();
        let (extends, combines) = (domain.base.extends, domain.base.combines);
        measurement(
            self.size(),
            format!("{} operations", extends + combines),
            format!(
                "extends={extends} combines={combines} transitions={transitions} paper={} corrected={}",
                states * states,
                states * states * (1 + self.nwa.letters.len())
            ),
            seconds,
        )
    }

    /// The same with decision diagrams, in which a set of held locks is a bit for each.
    fn by_diagrams(&self) -> Result<Measurement, Exhausted> {
        let time = Instant::now();
        let variables = DiagramRelations::<NativeManager>::variables(&self.nwa, 0);
        let manager = NativeManager::new(variables, 1 << 22);
        let mut domain = DiagramRelations::new(manager, &self.nwa, 0)?;
        let mut combination = DiagramCombination::new(&self.nwa, &domain, &[])?;
        let unchanged = |_| [(0, 0)];
        let weights =
            combination.weights(&self.named.pds, &self.letters, &mut domain, unchanged)?;
        let largest = weights.iter().map(|weight| domain.nodes(weight)).max().unwrap_or(0);
        let made = time.elapsed().as_secs_f64();
        let time = Instant::now();
        let transitions = self.transitions(&weights, &mut combination, &mut domain);
        let seconds = time.elapsed().as_secs_f64();
        Ok(measurement(
            self.size(),
            format!("rules as diagrams in {made:.3} s"),
            format!("transitions={transitions} largest-rule={largest}"),
            seconds,
        ))
    }

    /// How many transitions `post*` has.
    fn transitions<D: WeightDomain, M: Merging<D>>(
        &self,
        weights: &IdVec<RuleId, D::Weight>,
        merging: &mut M,
        domain: &mut D,
    ) -> usize {
        let set = WeightedAutomaton::unit(PAutomaton::singleton(1, &self.start), domain);
        let budget = Budget::new();
        let reached =
            extended_post_star(&self.named.pds, weights, merging, domain, &set, NoReasons, &budget);
        reached.map_or(0, |reached| reached.automaton.automaton.transitions().len())
    }
}
