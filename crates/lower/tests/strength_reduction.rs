//! Language strength reduction (paper 004 §2, §5) as the paper does it, against the direct transformation:
//! a process becomes an extended weighted pushdown system in which a block is an inlined call, a template
//! automaton per lock says where the lock is held, Construction 1 combines them, and two homomorphisms on
//! the weights first tell outermost lock operations from nested ones and then erase the nested ones. What
//! is left must be the language of the lowered thread.
//!
//! Units of work nest like locks, so they are one more lock here.

use selvedge_base::{Budget, Id, IdVec};
use selvedge_lower::{LockSet, lower};
use selvedge_pds::domains::{PrefixSet, PrefixSets, TooManyNodes};
use selvedge_pds::merging::value_of_run;
use selvedge_pds::nwa::restrict::{Combination, MergingAt, WeightedRelation, WeightedRelations};
use selvedge_pds::nwa::{Letter, Nwa, NwaLimits, NwaState};
use selvedge_pds::value::Query;
use selvedge_pds::{
    Configuration, NoReasons, PAutomaton, Pds, Rhs, RuleId, State, Symbol, WeightDomain,
    WeightedAutomaton, extended_post_star, weighted_post_star,
};
use selvedge_program::{
    Action, Event, LocationId, LockId, NodeId, Observable, Program, Sharing, ThreadId,
};
use selvedge_testkit::Rng;
use selvedge_testkit::generate::{Shape, random_model};
use std::collections::{BTreeMap, BTreeSet};

const BOUND: usize = 9;
const NODES: usize = 100_000;

/// What is opened and closed: a lock, or the unit of work behind the last lock.
type Scope = usize;

/// How operations are written: all alike (a), outermost and nested ones apart (b), outermost ones only (c).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Column {
    Alike,
    Apart,
    Outermost,
}

/// A letter of the words: an access, or an operation with its subscript.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sign {
    Access(LocationId, bool),
    Open(Scope, Subscript),
    Close(Scope, Subscript),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Subscript {
    None,
    Outermost,
    Nested,
}

impl Sign {
    fn number(self) -> u32 {
        let subscript = |subscript: Subscript| match subscript {
            Subscript::None => 0,
            Subscript::Outermost => 1,
            Subscript::Nested => 2,
        };
        let number = match self {
            Self::Access(location, writes) => 8 * location.index() + usize::from(writes),
            Self::Open(scope, own) => 8 * scope + 2 + subscript(own),
            Self::Close(scope, own) => 8 * scope + 5 + subscript(own),
        };
        number as u32
    }

    fn of(number: u32) -> Self {
        let (index, kind) = ((number / 8) as usize, number % 8);
        let subscript = |at: u32| match at {
            0 => Subscript::None,
            1 => Subscript::Outermost,
            _ => Subscript::Nested,
        };
        match kind {
            0 | 1 => Self::Access(LocationId::from_index(index), kind == 1),
            2..=4 => Self::Open(index, subscript(kind - 2)),
            _ => Self::Close(index, subscript(kind - 5)),
        }
    }
}

impl Column {
    /// How an operation is written where the lock is, or is not, held before.
    fn subscript(self, is_held: bool) -> Option<Subscript> {
        match (self, is_held) {
            (Self::Alike, _) => Some(Subscript::None),
            (_, false) => Some(Subscript::Outermost),
            (Self::Apart, true) => Some(Subscript::Nested),
            (Self::Outermost, true) => None,
        }
    }
}

/// A thread as a pushdown system in which blocks are calls: Fig. 3 and Fig. 4.
struct Process {
    pds: Pds,
    /// What each rule writes, and what its return writes.
    signs: IdVec<RuleId, Option<Sign>>,
    opens: IdVec<RuleId, Option<Scope>>,
    /// What the automata read: an operation on a scope, or nothing in particular.
    letters: IdVec<RuleId, String>,
    start: Configuration,
}

/// A block has several ends where it is left early, and goes on behind the one that was taken: the pop
/// remembers that in the control location.
fn process(program: &Program, thread: ThreadId) -> Process {
    let own: BTreeSet<_> = Sharing::new(program).procedures(thread).iter().copied().collect();
    let unit = program.locks.len();
    let nodes = program.nodes.len();
    let (plain, block) = (State::from_index(0), Symbol::from_index(nodes));
    let symbol = |node: NodeId| Symbol::from_index(node.index());
    // One control location for all of the process, and one for each end of a block.
    let behind = |node: NodeId| State::from_index(1 + node.index());
    let mut pds: Pds = Pds::new(1 + nodes, nodes + 1);
    let mut process = Process {
        start: Configuration {
            state: plain,
            stack: vec![symbol(program.procedures[program.threads[thread].main].entry)],
        },
        pds: Pds::new(0, 0),
        signs: IdVec::new(),
        opens: IdVec::new(),
        letters: IdVec::new(),
    };
    let mut note = |sign: Option<Sign>, opens: Option<Scope>, letter: String| {
        process.signs.push(sign);
        process.opens.push(opens);
        process.letters.push(letter);
    };
    for edge in program.edges.iter().filter(|edge| own.contains(&program.nodes[edge.source])) {
        let (from, to) = (symbol(edge.source), symbol(edge.target));
        let scope = match edge.action {
            Action::Acquire(lock) | Action::Release(lock) => lock.index(),
            _ => unit,
        };
        match edge.action {
            Action::Acquire(_) | Action::BeginUnit => {
                pds.rule(plain, from, plain, Rhs::Push(to, block), ());
                let sign = Sign::Open(scope, Subscript::None);
                note(Some(sign), Some(scope), format!("open {scope}"));
            }
            Action::Release(_) | Action::EndUnit => {
                pds.rule(plain, from, behind(edge.target), Rhs::Pop, ());
                note(None, None, format!("close {scope}"));
                pds.rule(behind(edge.target), block, plain, Rhs::Step(to), ());
                note(None, None, "step".to_owned());
            }
            Action::Call(callee) => {
                let entry = symbol(program.procedures[callee].entry);
                pds.rule(plain, from, plain, Rhs::Push(entry, to), ());
                note(None, None, "call".to_owned());
            }
            Action::Read(location) | Action::Write(location) => {
                pds.rule(plain, from, plain, Rhs::Step(to), ());
                let writes = matches!(edge.action, Action::Write(_));
                note(Some(Sign::Access(location, writes)), None, "access".to_owned());
            }
            _ => {
                pds.rule(plain, from, plain, Rhs::Step(to), ());
                note(None, None, "step".to_owned());
            }
        }
    }
    for &procedure in &own {
        pds.rule(plain, symbol(program.procedures[procedure].exit), plain, Rhs::Pop, ());
        note(None, None, "return".to_owned());
    }
    Process { pds, ..process }
}

/// The template of Table 1 for one lock, with ERRATA: opening it leads to the state in which it is held,
/// closing it to the state before, and whatever else is called comes back as it was.
fn template(scope: Scope) -> Nwa {
    let (open, close) = (format!("open {scope}"), format!("close {scope}"));
    let mut nwa = Nwa::new([open.as_str(), close.as_str()]);
    let (free, held) = (nwa.state(format!("free{scope};")), nwa.state(format!("held{scope};")));
    nwa.initial.insert(free);
    let (open, close) = (nwa.letter(&open), nwa.letter(&close));
    for state in [free, held] {
        for letter in nwa.all_letters() {
            nwa.internals.insert((state, letter, state));
            nwa.calls.insert((state, letter, if letter == open { held } else { state }));
            if letter == close {
                nwa.returns.insert((held, state, letter, state));
            } else {
                nwa.returns.insert((state, state, letter, state));
            }
        }
    }
    nwa
}

/// The product over all locks.
fn all_templates(scopes: usize) -> Nwa {
    let mut templates = (0..scopes).map(template);
    let first = templates.next().expect("there are units at least");
    templates.fold(first, |product, next| {
        product.intersect(&next, &NwaLimits::default(), &Budget::new()).expect("a small product")
    })
}

/// Whether a lock is held in a state of the product.
fn holds(nwa: &Nwa, state: NwaState, scope: Scope) -> bool {
    nwa.states[state].contains(&format!("held{scope};"))
}

/// A return closes what its call has opened.
struct Closes<'a> {
    nwa: &'a Nwa,
    opens: &'a IdVec<RuleId, Option<Scope>>,
    column: Column,
}

impl MergingAt<PrefixSets> for Closes<'_> {
    fn merge_at(
        &mut self,
        domain: &mut PrefixSets,
        rule: RuleId,
        (before, after): (NwaState, NwaState),
        caller: &PrefixSet,
        callee: &PrefixSet,
    ) -> Result<PrefixSet, TooManyNodes> {
        assert_eq!(before, after, "the template restores the state of the caller");
        let both = domain.extend(caller, callee)?;
        let Some(scope) = self.opens[rule] else { return Ok(both) };
        match self.column.subscript(holds(self.nwa, before, scope)) {
            None => Ok(both),
            Some(subscript) => {
                let sign = domain.word(&[Sign::Close(scope, subscript).number()])?;
                domain.extend(&both, &sign)
            }
        }
    }
}

/// `E_A` of a process.
struct Combined<'a> {
    process: &'a Process,
    nwa: &'a Nwa,
    restriction: Combination<'a, Closes<'a>>,
    weights: IdVec<RuleId, WeightedRelation<PrefixSet>>,
    domain: WeightedRelations<PrefixSets>,
}

/// `E_A` with the weights of the process itself: column (a).
fn combine<'a>(process: &'a Process, nwa: &'a Nwa, mut base: PrefixSets) -> Combined<'a> {
    let closes = Closes { nwa, opens: &process.opens, column: Column::Alike };
    let restriction = Combination::new(nwa, closes);
    let letters: IdVec<RuleId, Letter> =
        process.letters.iter().map(|letter| nwa.letter(letter)).collect();
    let written: IdVec<RuleId, PrefixSet> = process
        .signs
        .iter()
        .map(|sign| match sign {
            None => base.empty_word(),
            Some(sign) => base.word(&[sign.number()]).expect("one node"),
        })
        .collect();
    let weights = restriction.weights(&process.pds, &letters, &base, |rule, _, _| written[rule]);
    let domain = WeightedRelations::new(base, nwa);
    Combined { process, nwa, restriction, weights, domain }
}

impl Combined<'_> {
    /// A homomorphism on the weights: `q₁ –w→ q₂` becomes `q₁ –w′→ q₂`, where `w′` writes the operations of
    /// `w` as the column says for `q₁`. Merging functions write theirs for the state before the call.
    fn map(&mut self, column: Column) {
        self.restriction.merging.column = column;
        let (process, nwa, base) = (self.process, self.nwa, &mut self.domain.base);
        for (rule, relation) in self.weights.iter_mut().enumerate() {
            let rule = RuleId::from_index(rule);
            let Some(scope) = process.opens[rule] else { continue };
            for ((from, _), weight) in relation.iter_mut() {
                *weight = match column.subscript(holds(nwa, from.state, scope)) {
                    None => base.empty_word(),
                    Some(own) => base.word(&[Sign::Open(scope, own).number()]).expect("one node"),
                };
            }
        }
    }

    /// The words of all runs.
    fn language(&mut self, budget: &Budget) -> Option<PrefixSet> {
        let Self { process, restriction, weights, domain, .. } = self;
        let set = PAutomaton::singleton(process.pds.states, &process.start);
        let set = WeightedAutomaton::unit(set, domain);
        let reached =
            extended_post_star(&process.pds, weights, restriction, domain, &set, NoReasons, budget)
                .ok()?;
        let states: Vec<State> = (0..process.pds.states).map(State::from_index).collect();
        let value = reached.value(domain, Query::AnyStack(&states), budget).ok()?;
        restriction.project(&value, &mut domain.base).ok()
    }

    /// The word of one run.
    fn word(&mut self, rules: &[RuleId]) -> Vec<Sign> {
        let Self { process, restriction, weights, domain, .. } = self;
        let value = value_of_run(&process.pds, weights, restriction, domain, rules);
        let mut set =
            restriction.project(&value.expect("few nodes"), &mut domain.base).expect("few");
        let mut word = Vec::new();
        while let &[(letter, next)] = domain.base.edges(set) {
            word.push(Sign::of(letter));
            set = next;
        }
        assert_eq!(set, domain.base.empty_word(), "a run writes one word");
        word
    }
}

/// A set of words with other letters.
fn relabel(
    sets: &mut PrefixSets,
    set: PrefixSet,
    letter: &impl Fn(u32) -> u32,
    known: &mut BTreeMap<PrefixSet, PrefixSet>,
) -> PrefixSet {
    if set == sets.all() || set == sets.none() || set == sets.empty_word() {
        return set;
    }
    if let Some(&known) = known.get(&set) {
        return known;
    }
    let mut sum = if sets.has_empty(set) { sets.empty_word() } else { sets.none() };
    for (own, next) in sets.edges(set).to_vec() {
        let next = relabel(sets, next, letter, known);
        let first = sets.word(&[letter(own)]).expect("one node");
        let words = sets.extend(&first, &next).expect("few nodes");
        sum = sets.combine(&sum, &words).expect("few nodes");
    }
    known.insert(set, sum);
    sum
}

/// The words of a lowered thread.
fn direct(
    program: &Program,
    thread: ThreadId,
    sets: &mut PrefixSets,
    budget: &Budget,
) -> Option<PrefixSet> {
    let all: LockSet = program.locks.ids().collect();
    let lowered = &lower(program, &all, budget).expect("EML nests").threads[thread];
    let unit = program.locks.len();
    let scope = |lock: LockId| lock.index();
    let sign = |event: Event| match event {
        Event::Observable(Observable::Read(location)) => Sign::Access(location, false),
        Event::Observable(Observable::Write(location)) => Sign::Access(location, true),
        Event::Observable(Observable::BeginUnit) => Sign::Open(unit, Subscript::Outermost),
        Event::Observable(Observable::EndUnit) => Sign::Close(unit, Subscript::Outermost),
        Event::Acquire(lock) => Sign::Open(scope(lock), Subscript::Outermost),
        Event::Release(lock) => Sign::Close(scope(lock), Subscript::Outermost),
        other => panic!("{other:?} is not part of these programs"),
    };
    let weight = |event: Option<Event>, sets: &mut PrefixSets| match event {
        None => sets.empty_word(),
        Some(event) => sets.word(&[sign(event).number()]).expect("one node"),
    };
    let weights: IdVec<RuleId, PrefixSet> =
        lowered.pds.rules.iter().map(|rule| weight(rule.label.event, sets)).collect();
    let start = Configuration { state: State::from_index(0), stack: vec![lowered.entry] };
    let set = WeightedAutomaton::unit(PAutomaton::singleton(1, &start), sets);
    let reached = weighted_post_star(&lowered.pds, &weights, sets, &set, NoReasons, budget).ok()?;
    reached.value(sets, Query::AnyStack(&[State::from_index(0)]), budget).ok()
}

#[test]
fn the_reduced_language_is_that_of_the_lowered_thread() {
    let budget = Budget::new();
    let (mut compared, mut changed) = (0, 0);
    for seed in 0..100 {
        let program = random_model(&mut Rng::new(seed), &Shape::SMALL).to_program();
        let thread = program.threads.ids().next().expect("a thread");
        let nwa = all_templates(program.locks.len() + 1);
        assert!(nwa.states.len() <= 1 << (program.locks.len() + 1));
        let process = process(&program, thread);
        let mut sets = PrefixSets::new(BOUND, NODES);
        let Some(expected) = direct(&program, thread, &mut sets, &budget) else { continue };
        let mut combined = combine(&process, &nwa, sets);
        let Some(alike) = combined.language(&budget) else { continue };
        combined.map(Column::Apart);
        let Some(apart) = combined.language(&budget) else { continue };
        combined.map(Column::Outermost);
        let Some(outermost) = combined.language(&budget) else { continue };
        let sets = &mut combined.domain.base;
        assert_eq!(outermost, expected, "seed {seed}\n{}", selvedge_program::text::print(&program));
        // Without its subscripts (b) is (a).
        let plain = |number: u32| match Sign::of(number) {
            Sign::Open(scope, _) => Sign::Open(scope, Subscript::None).number(),
            Sign::Close(scope, _) => Sign::Close(scope, Subscript::None).number(),
            other @ Sign::Access(..) => other.number(),
        };
        assert_eq!(relabel(sets, apart, &plain, &mut BTreeMap::new()), alike, "seed {seed}");
        let forgotten = relabel(sets, outermost, &plain, &mut BTreeMap::new());
        changed += usize::from(forgotten != alike);
        compared += 1;
    }
    assert!(compared > 60 && changed > 12, "{compared} compared, {changed} with nested operations");
}

/// The locks that are held at each access of a word, by counting.
fn guarded(word: &[Sign], scopes: usize) -> Vec<(LocationId, bool, Vec<Scope>)> {
    let mut depth = vec![0usize; scopes];
    let mut accesses = Vec::new();
    for &sign in word {
        match sign {
            Sign::Open(scope, _) => depth[scope] += 1,
            Sign::Close(scope, _) => depth[scope] -= 1,
            Sign::Access(location, writes) => {
                let held = (0..scopes).filter(|&scope| depth[scope] > 0).collect();
                accesses.push((location, writes, held));
            }
        }
    }
    accesses
}

/// On single runs: (b) is (a) with subscripts, (c) is (b) without its nested operations, operations of (c)
/// alternate, and every access is under the same locks before and after (Observation 1).
#[test]
fn homomorphisms_on_runs_and_observation_1() {
    let (mut nested, mut accesses) = (0, 0);
    for seed in 0..150 {
        let mut rng = Rng::new(seed);
        let program = random_model(&mut rng, &Shape::SMALL).to_program();
        let thread = program.threads.ids().next().expect("a thread");
        let scopes = program.locks.len() + 1;
        let nwa = all_templates(scopes);
        let process = process(&program, thread);
        let mut columns: Vec<Combined<'_>> = [Column::Alike, Column::Apart, Column::Outermost]
            .into_iter()
            .map(|column| {
                let mut combined = combine(&process, &nwa, PrefixSets::new(200, NODES));
                combined.map(column);
                combined
            })
            .collect();
        for _ in 0..4 {
            let mut rules = Vec::new();
            let mut configuration = process.start.clone();
            for _ in 0..40 {
                let next: Vec<_> = process.pds.successors(&configuration).collect();
                let Some((rule, after)) = (!next.is_empty()).then(|| rng.pick(&next).clone())
                else {
                    break;
                };
                rules.push(rule);
                configuration = after;
            }
            let [a, b, c] = [0, 1, 2].map(|at| columns[at].word(&rules));
            let is_nested = |sign: &Sign| {
                matches!(sign, Sign::Open(_, Subscript::Nested) | Sign::Close(_, Subscript::Nested))
            };
            let erased: Vec<Sign> = b.iter().copied().filter(|sign| !is_nested(sign)).collect();
            assert_eq!(erased, c, "seed {seed}");
            let forget = |sign: &Sign| match *sign {
                Sign::Open(scope, _) => Sign::Open(scope, Subscript::None),
                Sign::Close(scope, _) => Sign::Close(scope, Subscript::None),
                other @ Sign::Access(..) => other,
            };
            assert_eq!(b.iter().map(forget).collect::<Vec<_>>(), a, "seed {seed}");
            assert_eq!(guarded(&a, scopes), guarded(&c, scopes), "seed {seed}");
            for scope in 0..scopes {
                let own = |sign: &&Sign| matches!(sign, Sign::Open(own, _) | Sign::Close(own, _) if *own == scope);
                for (at, sign) in c.iter().filter(own).enumerate() {
                    assert_eq!(matches!(sign, Sign::Open(..)), at % 2 == 0, "Fig. 2(c)");
                }
            }
            nested += b.len() - c.len();
            accesses += guarded(&a, scopes).len();
        }
    }
    assert!(nested > 150 && accesses > 500, "{nested} nested operations, {accesses} accesses");
}
