//! # Idea
//! Automata that say which runs of a thread count. Their symbols are words; here these become steps of
//! one program's thread. Several automata for one thread must all be able to read its steps: they become
//! one, their product.
//!
//! # Source
//! Paper 004 §3.3; the words of steps are in the book's page about restrictions.
//!
//! # Invariants
//! 1. A symbol that no step of any thread can have is a mistake: it would silently be without effect.

use crate::load::{Model, Text};
use crate::select;
use selvedge_base::{Budget, Diagnostic, Id, IdVec, Severity};
use selvedge_front_nwa::{parse_nwa, print_nwa};
use selvedge_pds::nwa::{Letter, Nwa, NwaError, NwaLimits, NwaState};
use selvedge_program::{
    Action, ChannelId, Copies, LocationId, LockId, ProcedureId, Program, Restriction,
    RestrictionLetter, RestrictionState, Sharing, StepKind, StepSymbol, ThreadId,
};
use std::collections::{BTreeMap, BTreeSet};

/// An automaton that says which runs of a thread count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadRestriction {
    /// The name of the thread; that of a process stands for all its copies.
    pub thread: String,
    /// Where the automaton comes from.
    pub source: String,
    /// The automaton.
    pub nwa: Nwa,
}

/// `THREAD=FILE` as its two parts.
///
/// # Errors
/// Says what is missing.
pub fn parse_assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((thread, file)) if !thread.trim().is_empty() && !file.is_empty() => {
            Ok((thread.trim().to_owned(), file.to_owned()))
        }
        _ => Err("a restriction is `THREAD=FILE`".to_owned()),
    }
}

/// Reads the automaton for a thread, with what there is to say about its text; there is none if that is
/// an error.
pub fn read_restriction(thread: &str, text: &Text) -> (Option<ThreadRestriction>, Vec<Diagnostic>) {
    let (nwa, mut complaints) = parse_nwa(&text.text);
    let restriction = nwa.and_then(|nwa| {
        if nwa.initial.is_empty() {
            // Nothing at all could happen then, which nobody wants to know.
            complaints.clear();
            let message = "there is no initial state, so nothing could be read";
            let error = Diagnostic::global("no-initial-state", Severity::Error, message);
            complaints.push(error.with_help("`Q0: s` makes `s` an initial state"));
            return None;
        }
        Some(ThreadRestriction { thread: thread.to_owned(), source: text.name.clone(), nwa })
    });
    (restriction, complaints)
}

/// Restricts the threads of a valid program.
///
/// # Errors
/// If a thread or something that a symbol names does not exist in it, if a thread cannot be restricted,
/// or if the product of several automata is too large.
pub fn restrict(
    program: &mut Program,
    wanted: &[ThreadRestriction],
    budget: &Budget,
) -> Result<(), Vec<Diagnostic>> {
    let mut complaints = Vec::new();
    let mut automata: BTreeMap<ThreadId, (String, Nwa)> = BTreeMap::new();
    let sharing = Sharing::new(program);
    for one in wanted {
        let threads = match select::threads(program, Some(std::slice::from_ref(&one.thread))) {
            Ok(threads) => threads,
            Err(wrong) => {
                complaints.extend(wrong);
                continue;
            }
        };
        for &thread in &threads {
            if let Some(complaint) = starts_many(program, &sharing, thread) {
                complaints.push(complaint);
                continue;
            }
            let joined = match automata.remove(&thread) {
                None => Ok((one.source.clone(), one.nwa.clone())),
                Some((source, nwa)) => nwa
                    .intersect(&one.nwa, &NwaLimits::default(), budget)
                    .map(|nwa| (format!("{source}, {}", one.source), nwa)),
            };
            match joined {
                Ok(joined) => _ = automata.insert(thread, joined),
                Err(why) => complaints.push(too_large(program, thread, why)),
            }
        }
    }
    let mut restrictions = Vec::new();
    for (thread, (source, nwa)) in automata {
        // Whether a thread is ready for a channel is one question for all runs of its automaton, so that
        // an engine that follows one of them needs an automaton with one.
        let nwa = if program.channels.is_empty() { Ok(nwa) } else { with_one_run(nwa, budget) };
        let nwa = match nwa {
            Ok(nwa) => nwa,
            Err(why) => {
                complaints.push(too_large(program, thread, why));
                continue;
            }
        };
        let symbols = Symbols { program, sharing: &sharing, thread };
        match symbols.restriction(source, &nwa) {
            Ok(restriction) => restrictions.push(restriction),
            // All copies of a process have the same mistakes.
            Err(wrong) => {
                complaints.extend(
                    wrong.into_iter().filter(|one| !complaints.contains(one)).collect::<Vec<_>>(),
                );
            }
        }
    }
    if complaints.is_empty() {
        program.restrictions = restrictions;
        Ok(())
    } else {
        Err(complaints)
    }
}

impl Model {
    /// The model where only those runs of some threads count that automata can read.
    ///
    /// # Errors
    /// What [`restrict`] says, with the text that it is about.
    pub fn restricted(
        mut self,
        wanted: &[ThreadRestriction],
        budget: &Budget,
    ) -> Result<Self, (Text, Vec<Diagnostic>)> {
        match restrict(&mut self.program, wanted, budget) {
            Ok(()) => Ok(self),
            Err(wrong) => Err((self.text, wrong)),
        }
    }
}

/// An automaton that reads the same words and has one run over each of them.
fn with_one_run(mut nwa: Nwa, budget: &Budget) -> Result<Nwa, NwaError> {
    let once = |steps: &BTreeSet<(NwaState, Letter, NwaState)>| {
        let mut keys = BTreeSet::new();
        steps.iter().all(|&(from, letter, _)| keys.insert((from, letter)))
    };
    let mut keys = BTreeSet::new();
    let returns =
        nwa.returns.iter().all(|&(from, call, letter, _)| keys.insert((from, call, letter)));
    if nwa.initial.len() == 1 && once(&nwa.internals) && once(&nwa.calls) && returns {
        return Ok(nwa);
    }
    // Final are the sets of states that are not empty: what leads elsewhere cannot be read.
    nwa.finals = nwa.states.ids().collect();
    let mut nwa = nwa.determinize(&NwaLimits::default(), budget)?;
    let finals = std::mem::take(&mut nwa.finals);
    let reads = |states: &[NwaState]| states.iter().all(|state| finals.contains(state));
    nwa.internals.retain(|&(from, _, to)| reads(&[from, to]));
    nwa.calls.retain(|&(from, _, to)| reads(&[from, to]));
    nwa.returns.retain(|&(from, call, _, to)| reads(&[from, call, to]));
    Ok(nwa)
}

/// Says that a thread starts others without bound, if it does.
fn starts_many(program: &Program, sharing: &Sharing, thread: ThreadId) -> Option<Diagnostic> {
    let mut edges = program.edges.iter();
    let edge = edges.find(|edge| {
        let many = |started| program.threads[started].copies == Copies::Any;
        matches!(edge.action, Action::Start(started) if many(started))
            && sharing.threads_of(program, edge).contains(&thread)
    })?;
    let name = &program.threads[thread].name;
    let at = program.located(edge.place).map(|at| format!(" at {at}")).unwrap_or_default();
    let message = format!("{name} cannot be restricted: it starts any number of threads{at}");
    Some(Diagnostic::global("restricted-starter", Severity::Error, message))
}

fn too_large(program: &Program, thread: ThreadId, why: NwaError) -> Diagnostic {
    let name = &program.threads[thread].name;
    let message = format!("the automata for {name} cannot be joined: {why}");
    Diagnostic::global("large-restriction", Severity::Error, message)
}

/// The words for the steps of a thread.
struct Symbols<'a> {
    program: &'a Program,
    sharing: &'a Sharing,
    thread: ThreadId,
}

/// The words that stand alone, and those that come with a name.
const WORDS: &str = "`call f`, `return f`, `read x`, `write x`, `acquire l`, `release l`, `begin`, \
                     `end`, `start T`, `join T`, `send a`, `post a`, `broadcast a`, `recv a`, \
                     `step`";

impl Symbols<'_> {
    fn restriction(&self, source: String, nwa: &Nwa) -> Result<Restriction, Vec<Diagnostic>> {
        let mut letters = BTreeMap::new();
        let mut complaints = Vec::new();
        for (letter, symbol) in nwa.letters.iter_enumerated() {
            match self.steps(symbol) {
                Ok(steps) => {
                    letters.extend(steps.into_iter().map(|step| (step, to_letter(letter))));
                }
                Err(help) => {
                    let message = format!("{source} names `{symbol}`, which no step is");
                    let error = Diagnostic::global("unknown-symbol", Severity::Error, message);
                    complaints.push(error.with_help(help));
                }
            }
        }
        if !complaints.is_empty() {
            return Err(complaints);
        }
        let mut restriction = Restriction {
            thread: self.thread,
            source,
            text: print_nwa(nwa),
            states: nwa.states.len(),
            initial: nwa.initial.iter().copied().map(to_state).collect(),
            letters,
            other: to_letter(nwa.other()),
            internals: BTreeMap::new(),
            calls: BTreeMap::new(),
            returns: BTreeMap::new(),
        };
        for &(from, letter, to) in &nwa.internals {
            let key = (to_state(from), to_letter(letter));
            restriction.internals.entry(key).or_default().push(to_state(to));
        }
        for &(from, letter, to) in &nwa.calls {
            let key = (to_state(from), to_letter(letter));
            restriction.calls.entry(key).or_default().push(to_state(to));
        }
        for &(from, call, letter, to) in &nwa.returns {
            let key = (to_state(from), to_letter(letter));
            restriction.returns.entry(key).or_default().push((to_state(call), to_state(to)));
        }
        Ok(restriction)
    }

    /// The steps that a symbol means, or what is wrong with it.
    fn steps(&self, symbol: &str) -> Result<Vec<StepSymbol>, String> {
        let words: Vec<&str> = symbol.split_whitespace().collect();
        let program = self.program;
        let locations = |name: &str, step: fn(LocationId) -> StepKind| {
            named(&program.locations, |one| &one.name, name, "location", |id| step(id).into())
        };
        let locks = |name: &str, step: fn(LockId) -> StepKind| {
            named(&program.locks, |one| &one.name, name, "lock", |id| step(id).into())
        };
        let threads = |name: &str, step: fn(ThreadId) -> StepKind| {
            named(&program.threads, |one| &one.name, name, "thread", |id| step(id).into())
        };
        let channels = |name: &str, step: &dyn Fn(ChannelId) -> StepSymbol| {
            named(&program.channels, |one| &one.name, name, "channel", step)
        };
        match words[..] {
            ["begin"] => Ok(vec![StepKind::BeginUnit.into()]),
            ["end"] => Ok(vec![StepKind::EndUnit.into()]),
            ["step"] => Ok(vec![StepKind::Step.into()]),
            ["call", name] => self.procedures(name, StepKind::Call),
            ["return", name] => self.procedures(name, StepKind::Return),
            ["read", name] => locations(name, StepKind::Read),
            ["write", name] => locations(name, StepKind::Write),
            ["acquire", name] => locks(name, StepKind::Acquire),
            ["release", name] => locks(name, StepKind::Release),
            ["start", name] => threads(name, StepKind::Start),
            ["join", name] => threads(name, StepKind::Join),
            ["send", name] => channels(name, &|id| StepKind::Send(id).into()),
            ["post", name] => channels(name, &|id| StepKind::Post(id).into()),
            ["broadcast", name] => channels(name, &|id| StepKind::Broadcast(id).into()),
            ["recv", name] => channels(name, &StepSymbol::Received),
            _ => Err(format!("the symbols of steps are {WORDS}")),
        }
    }

    /// The procedures of the thread with this name.
    fn procedures(
        &self,
        name: &str,
        step: fn(ProcedureId) -> StepKind,
    ) -> Result<Vec<StepSymbol>, String> {
        let own = self.sharing.procedures(self.thread);
        let name_of = |id: &ProcedureId| self.program.procedures[*id].name.as_str();
        let found: Vec<StepSymbol> =
            own.iter().filter(|id| name_of(id) == name).map(|&id| step(id).into()).collect();
        if found.is_empty() {
            let thread = &self.program.threads[self.thread].name;
            let what = format!("procedure of {thread}");
            return Err(select::no_such(name, own.iter().map(name_of), &what));
        }
        Ok(found)
    }
}

/// The steps that concern what has this name.
fn named<I: Id, T>(
    items: &IdVec<I, T>,
    name_of: impl Fn(&T) -> &String,
    name: &str,
    what: &str,
    step: impl Fn(I) -> StepSymbol,
) -> Result<Vec<StepSymbol>, String> {
    let means = |item: &T| {
        // The name of a process stands for all its copies.
        name_of(item)
            .strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
    };
    let found: Vec<StepSymbol> =
        items.iter_enumerated().filter(|(_, item)| means(item)).map(|(id, _)| step(id)).collect();
    if found.is_empty() {
        return Err(select::no_such(name, items.iter().map(|item| name_of(item).as_str()), what));
    }
    Ok(found)
}

fn to_state(state: NwaState) -> RestrictionState {
    RestrictionState::from_index(state.index())
}

fn to_letter(letter: Letter) -> RestrictionLetter {
    RestrictionLetter::from_index(letter.index())
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_pds::nwa::Nested;

    #[test]
    fn an_automaton_with_one_run_reads_the_same_words() {
        let text = "Q0: a, b  Delta_i: { (a, x, a), (a, x, b), (b, y, b), (a, *, a) }
            Delta_c: { (a, f, a), (a, f, b), (b, f, b) }  Delta_r: { (b, a, f, a), (b, b, f, b) }";
        let nwa = parse_nwa(text).0.expect("an automaton");
        let once = with_one_run(nwa.clone(), &Budget::new()).expect("a small one");
        assert_eq!(once.initial.len(), 1);
        let letters: Vec<Letter> = nwa.all_letters().collect();
        let mut words = vec![Vec::new()];
        let (mut read, mut refused) = (0, 0);
        for _ in 0..4 {
            let mut longer = Vec::new();
            for word in &words {
                for &letter in &letters {
                    for position in [Nested::Internal, Nested::Call, Nested::Return] {
                        let mut next: Vec<Nested> = word.clone();
                        next.push(position(letter));
                        assert_eq!(nwa.can_read(&next), once.can_read(&next), "{next:?}");
                        if nwa.can_read(&next) {
                            read += 1;
                        } else {
                            refused += 1;
                        }
                        longer.push(next);
                    }
                }
            }
            words = longer;
        }
        assert!(read > 500 && refused > 500, "{read} read, {refused} refused");
    }
}
