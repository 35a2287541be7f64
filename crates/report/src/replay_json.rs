//! # Idea
//! A question and a witness for machines, beside those for people: what `selvedge replay` executes
//! again. Threads, locations, locks, edges, nodes and variables stand by their numbers in the program
//! that was read, so nothing depends on names. What is written here can be read back.
//!
//! | field | meaning |
//! |---|---|
//! | `threads` | the names of the threads, copies one by one |
//! | `question` | what was asked |
//! | `globals` | the globals at first, a digit each |
//! | `locals` | for every thread the locals of its main at first |
//! | `steps[]` | thread, edge (null for a return; with whoever takes part), number of the access or null, changed variables |
//! | `fails` | whether the last step fails |
//! | `failure` | how it fails; without it, the smallest kind in which the step can fail counts |
//! | `invariant` | of an invariant that is broken the position among those of the program, from 0; without it, any |
//! | `spurious_wakeups` | true if threads wake without a notification although the text does not say so |
//! | `starts_per_site` | how many threads a start site starts, where it could start more |
//! | `added_units` | which units of work were added to those of the text |
//! | `restrictions[]` | `thread`, `source` and `automaton` (its text) for each thread of which only some runs count |
//!
//! Changed variables are `g3=1` for a global and `l0=0` for a local of the activation on top.
//!
//! # Requires
//! What is read may be anything; whoever uses it compares it with its program, as the replayer does.

use selvedge_base::{Id, IdVec};
use selvedge_findings::wrap::with_units;
use selvedge_program::copies::instantiate;
use selvedge_program::{
    Action, AddedUnits, Deadlock, FailureKind, GlobalId, IndexedSymbol, Ipa, LocalId, LocationId,
    LockId, Move, NodeId, Observable, Pattern, PatternQuestion, Phase, Position, Program, Question,
    Race, Receiver, Resource, StatePattern, Target, Thread, ThreadId, Trace, TraceStep, Units,
    Valuation, Value, Variable, Wait, Witness, WitnessStep,
};
use serde::{Deserialize, Serialize};

/// A question with a witness.
#[derive(Clone, Serialize, Deserialize)]
pub struct Replay {
    threads: Vec<String>,
    question: Code,
    globals: String,
    locals: Vec<String>,
    steps: Vec<Step>,
    fails: bool,
    /// How the last step fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    invariant: Option<usize>,
    /// How many steps come before those that are repeated for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repeats: Option<usize>,
    /// Whether threads wake without a notification.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    spurious_wakeups: bool,
    /// How many threads a start site starts, where it could start more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    starts_per_site: Option<u32>,
    /// Which units of work were added to those of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    added_units: Option<String>,
    /// Which runs of some threads count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    restrictions: Vec<RestrictionText>,
}

/// An automaton that says which runs of a thread count, as its text.
#[derive(Clone, Serialize, Deserialize)]
pub struct RestrictionText {
    /// The name of the thread.
    pub thread: String,
    /// Where the automaton comes from.
    pub source: String,
    /// The automaton.
    pub automaton: String,
}

/// A question alone.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QuestionNumbers(Code);

impl QuestionNumbers {
    /// A question.
    pub fn new(question: &Question) -> Self {
        Self(encoded(question))
    }

    /// The question, unless its form is none, or it is about a formula.
    pub fn question(&self) -> Option<Question> {
        decoded(&self.0)
    }
}

/// Thread, edge or return, number of the access, changes.
#[derive(Clone, Serialize, Deserialize)]
struct Step(u32, Option<EdgeCode>, Option<u32>, String);

/// An edge, an edge with the thread that it takes along, or an edge with those who receive: thread and
/// edge each.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum EdgeCode {
    Alone(u32),
    With([u32; 2]),
    Received(u32, Vec<[u32; 2]>),
}

/// A question by numbers.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Code {
    Pattern {
        number: u32,
        exact: bool,
        threads: [u32; 2],
        locations: Vec<u32>,
    },
    Automaton {
        name: String,
        phases: Vec<PhaseCode>,
    },
    Race {
        location: u32,
        threads: [u32; 2],
    },
    Deadlock(Vec<[i64; 3]>),
    Assertion,
    Label(Vec<u32>),
    State {
        globals: Vec<(u32, i32)>,
        locks: Vec<(u32, bool)>,
        threads: Vec<PositionCode>,
    },
    Stuck,
    States,
    /// The formula with the definitions before it, and the threads that runs are fair to.
    Temporal {
        text: String,
        fair: Vec<u32>,
    },
}

#[derive(Clone, Serialize, Deserialize)]
struct PhaseCode {
    name: String,
    loops: Vec<SymbolCode>,
    advance: SymbolCode,
}

/// A thread, `R`, `W`, `[` or `]`, and a location.
#[derive(Clone, Serialize, Deserialize)]
struct SymbolCode(u32, char, u32);

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PositionCode {
    Any,
    At(Vec<u32>),
    Ended,
}

impl Replay {
    /// The question and the witness of a trace that answers it.
    pub fn new(question: &Question, trace: &Trace, program: &Program) -> Self {
        Self {
            threads: program.threads.iter().map(|thread| thread.name.clone()).collect(),
            question: encoded(question),
            globals: digits(&trace.globals),
            locals: trace.locals.iter().map(digits).collect(),
            steps: trace.steps.iter().map(step).collect(),
            fails: trace.fails.is_some(),
            failure: trace.fails.map(|kind| kind.word().to_owned()),
            invariant: trace.fails.and_then(FailureKind::invariant),
            repeats: trace.repeats,
            spurious_wakeups: program.spurious_wakeups,
            starts_per_site: program.starts_per_site,
            added_units: program.added_units.map(|units| units.word().to_owned()),
            restrictions: program
                .restrictions
                .iter()
                .map(|one| RestrictionText {
                    thread: program.threads[one.thread].name.clone(),
                    source: one.source.clone(),
                    automaton: one.text.clone(),
                })
                .collect(),
        }
    }

    /// How many threads a start site of the program that it was found in starts, where it could start
    /// more.
    pub fn starts_per_site(&self) -> Option<u32> {
        self.starts_per_site
    }

    /// The automata that say which runs of threads count.
    pub fn restrictions(&self) -> &[RestrictionText] {
        &self.restrictions
    }

    /// The program with everything that this was found with, restrictions apart: as many copies of each
    /// thread, wakeups, and units.
    ///
    /// # Errors
    /// If there is no such way to add units.
    pub fn instance(&self, program: &Program) -> Result<Program, String> {
        let copies = |thread: &Thread| {
            let own = |name: &&String| {
                name.strip_prefix(&thread.name).is_some_and(|rest| rest.starts_with('['))
            };
            self.threads.iter().filter(own).count() as u32
        };
        let mut instance = instantiate(program, &program.threads.iter().map(copies).collect());
        instance.spurious_wakeups |= self.spurious_wakeups;
        match &self.added_units {
            None => Ok(instance),
            Some(word) => AddedUnits::by_word(word)
                .map(|units| with_units(&instance, units))
                .ok_or_else(|| format!("{word:?} is no way to add units")),
        }
    }

    /// The text of the formula and the threads that runs are fair to, if it is about a formula.
    pub fn formula(&self) -> Option<(&str, Vec<ThreadId>)> {
        match &self.question {
            Code::Temporal { text, fair } => Some((text, ids(fair))),
            _ => None,
        }
    }

    /// The question, unless its form is none, or it is about a formula.
    pub fn question(&self) -> Option<Question> {
        decoded(&self.question)
    }

    /// The witness, as far as its steps are ones of the program.
    ///
    /// # Errors
    /// If a step is not, or a value is none, with what is wrong.
    pub fn witness(&self, program: &Program) -> Result<Witness, String> {
        let names = program.threads.iter().map(|thread| &thread.name);
        if !names.eq(&self.threads) {
            return Err(format!("the program has not the threads {}", self.threads.join(", ")));
        }
        let mut globals = valuation(&self.globals)?;
        let locals: IdVec<ThreadId, Valuation> =
            self.locals.iter().map(|text| valuation(text)).collect::<Result<_, _>>()?;
        let first = (globals.clone(), locals.clone());
        let mut open: IdVec<ThreadId, Vec<Valuation>> = program
            .threads
            .ids()
            .map(|thread| vec![locals.get(thread).cloned().unwrap_or_default()])
            .collect();
        let mut steps = Vec::with_capacity(self.steps.len());
        for (at, Step(thread, edge, matched, changes)) in self.steps.iter().enumerate() {
            let wrong = |what: &str| format!("step {}: {what}", at + 1);
            let thread = ThreadId::from_index(*thread as usize);
            if open.get(thread).is_none() {
                return Err(wrong("there is no such thread"));
            }
            let stack = &mut open[thread];
            let mut receivers = Vec::new();
            let step = match edge {
                Some(EdgeCode::Alone(edge)) => Move::Edge(id(*edge)),
                Some(EdgeCode::With([edge, partner])) => Move::With(id(*edge), id(*partner)),
                Some(EdgeCode::Received(edge, with)) => {
                    let receiver = |&[thread, edge]: &[u32; 2]| Receiver {
                        thread: id(thread),
                        edge: id(edge),
                    };
                    receivers.extend(with.iter().map(receiver));
                    Move::Edge(id(*edge))
                }
                None => Move::Return,
            };
            if let Move::With(_, partner) = step
                && program.threads.get(partner).is_none()
            {
                return Err(wrong("there is no such thread"));
            }
            let edge = match step.edge() {
                Some(id) => {
                    Some(program.edges.get(id).ok_or_else(|| wrong("there is no such edge"))?)
                }
                None => None,
            };
            // A step that fails opens no activation and closes none.
            let fails = self.fails && at + 1 == self.steps.len();
            match edge.map(|edge| edge.action) {
                _ if fails => {}
                Some(Action::Call(callee)) => {
                    let count = program.procedures[callee].frame.locals.len();
                    stack.push(Valuation(vec![0; count]));
                }
                Some(Action::Return(_)) | None => _ = stack.pop(),
                Some(_) => {}
            }
            for change in changes.split_whitespace() {
                let parts = change.get(1..).and_then(|rest| rest.split_once('='));
                let parsed = parts.and_then(|(number, value)| {
                    Some((number.parse::<usize>().ok()?, value.parse::<Value>().ok()?))
                });
                let (number, value) =
                    parsed.ok_or_else(|| wrong("it has a change that is none"))?;
                let values = match (change.as_bytes()[0], stack.last_mut()) {
                    (b'g', _) => &mut globals,
                    (b'l', Some(top)) => top,
                    _ => return Err(wrong("it changes a variable that is none")),
                };
                *values.0.get_mut(number).ok_or_else(|| wrong("there is no such variable"))? =
                    value;
            }
            steps.push(WitnessStep {
                thread,
                step,
                receivers,
                matched: *matched,
                globals: globals.clone(),
                locals: stack.last().cloned().unwrap_or_default(),
            });
        }
        let failure = match (&self.failure, self.invariant) {
            (None, _) => None,
            (Some(word), number) => {
                let kind = FailureKind::by_word(word);
                let kind = kind.ok_or_else(|| format!("{word:?} is no kind of failure"))?;
                match (kind, number) {
                    (FailureKind::Invariant(_), None) => None,
                    (FailureKind::Invariant(_), Some(at)) => Some(FailureKind::of_invariant(at)),
                    _ => Some(kind),
                }
            }
        };
        Ok(Witness {
            globals: first.0,
            locals: first.1,
            steps,
            fails: self.fails,
            failure,
            repeats: self.repeats,
            ..Witness::default()
        })
    }
}

/// Values as text: digits if all are truth values, else numbers with spaces between them.
fn digits(values: &Valuation) -> String {
    if values.0.iter().all(|value| (0..=1).contains(value)) {
        return values.0.iter().map(|&value| if value == 0 { '0' } else { '1' }).collect();
    }
    let numbers: Vec<String> = values.0.iter().map(ToString::to_string).collect();
    // One number alone could be read as digits.
    format!("{} ", numbers.join(" "))
}

fn valuation(text: &str) -> Result<Valuation, String> {
    if text.contains(' ') {
        let number = |word: &str| word.parse().map_err(|_| format!("{word:?} is no value"));
        return text.split_whitespace().map(number).collect::<Result<_, _>>().map(Valuation);
    }
    let digit = |digit: char| match digit {
        '0' => Ok(0),
        '1' => Ok(1),
        other => Err(format!("{other:?} is no value")),
    };
    text.chars().map(digit).collect::<Result<_, _>>().map(Valuation)
}

fn step(step: &TraceStep) -> Step {
    let receivers = step.receivers.iter();
    let receivers = receivers.map(|one| [number(one.thread), number(one.edge)]);
    let edge = match step.step {
        Move::Edge(edge) if !step.receivers.is_empty() => {
            Some(EdgeCode::Received(number(edge), receivers.collect()))
        }
        Move::Edge(edge) => Some(EdgeCode::Alone(number(edge))),
        Move::With(edge, partner) => Some(EdgeCode::With([number(edge), number(partner)])),
        Move::Return => None,
    };
    let change = |&(variable, value): &(Variable, Value)| match variable {
        Variable::Global(id) => format!("g{}={value}", GlobalId::index(id)),
        Variable::Local(id) => format!("l{}={value}", LocalId::index(id)),
    };
    let changes: Vec<String> = step.changes.iter().map(change).collect();
    Step(number(step.thread), edge, step.matched, changes.join(" "))
}

fn number<I: Id>(id: I) -> u32 {
    id.index() as u32
}

fn numbers<I: Id>(ids: &[I]) -> Vec<u32> {
    ids.iter().map(|&id| number(id)).collect()
}

fn id<I: Id>(number: u32) -> I {
    I::from_index(number as usize)
}

fn ids<I: Id>(numbers: &[u32]) -> Vec<I> {
    numbers.iter().map(|&number| id(number)).collect()
}

fn encoded(question: &Question) -> Code {
    match question {
        Question::Pattern(pattern) => Code::Pattern {
            number: pattern.pattern.number,
            exact: pattern.units == Units::Exact,
            threads: [number(pattern.unit_thread), number(pattern.other_thread)],
            locations: numbers(&pattern.locations),
        },
        Question::Automaton(automaton) => Code::Automaton {
            name: automaton.name.clone(),
            phases: automaton.phases.iter().map(phase_code).collect(),
        },
        Question::Race(race) => {
            Code::Race { location: number(race.location), threads: race.threads.map(number) }
        }
        Question::Deadlock(deadlock) => {
            let wait = |wait: &Wait| {
                let thread = i64::from(number(wait.thread));
                [thread, resource_code(wait.holds), resource_code(wait.wants)]
            };
            Code::Deadlock(deadlock.waits.iter().map(wait).collect())
        }
        Question::Reach(Target::Assertion) => Code::Assertion,
        Question::Reach(Target::Label(nodes)) => Code::Label(numbers(nodes)),
        Question::Reach(Target::State(pattern)) => Code::State {
            globals: pattern.globals.iter().map(|&(one, value)| (number(one), value)).collect(),
            locks: pattern.locks.iter().map(|&(one, held)| (number(one), held)).collect(),
            threads: pattern
                .threads
                .iter()
                .map(|position| match position {
                    Position::Any => PositionCode::Any,
                    Position::At(nodes) => PositionCode::At(numbers(nodes)),
                    Position::Ended => PositionCode::Ended,
                })
                .collect(),
        },
        Question::Stuck => Code::Stuck,
        Question::States => Code::States,
        Question::Temporal(temporal) => Code::Temporal {
            text: format!("{}{}", temporal.definitions, temporal.text),
            fair: numbers(&temporal.fair),
        },
    }
}

/// The number of a lock; that of a thread counts down from -1, for its end.
fn resource_code(resource: Resource) -> i64 {
    match resource {
        Resource::Lock(lock) => i64::from(number(lock)),
        Resource::End(thread) => -1 - i64::from(number(thread)),
    }
}

fn resource(code: i64) -> Option<Resource> {
    if code < 0 {
        let number = code.checked_neg()?.checked_sub(1)?;
        return Some(Resource::End(id(u32::try_from(number).ok()?)));
    }
    Some(Resource::Lock(id(u32::try_from(code).ok()?)))
}

fn phase_code(phase: &Phase) -> PhaseCode {
    let symbol = |one: &IndexedSymbol| {
        let (word, location) = match one.symbol {
            Observable::Read(location) => ('R', number(location)),
            Observable::Write(location) => ('W', number(location)),
            Observable::BeginUnit => ('[', 0),
            Observable::EndUnit => (']', 0),
        };
        SymbolCode(number(one.thread), word, location)
    };
    PhaseCode {
        name: phase.name.clone(),
        loops: phase.loops.iter().map(symbol).collect(),
        advance: symbol(&phase.advance),
    }
}

fn decoded(code: &Code) -> Option<Question> {
    Some(match code {
        Code::Pattern { number, exact, threads, locations } => Question::Pattern(PatternQuestion {
            pattern: Pattern::by_number(*number)?,
            units: if *exact { Units::Exact } else { Units::Paper },
            unit_thread: id(threads[0]),
            other_thread: id(threads[1]),
            locations: ids(locations),
        }),
        Code::Automaton { name, phases } => Question::Automaton(Ipa {
            name: name.clone(),
            phases: phases.iter().map(phase).collect::<Option<_>>()?,
        }),
        Code::Race { location, threads } => Question::Race(Race {
            location: id::<LocationId>(*location),
            threads: threads.map(id::<ThreadId>),
        }),
        Code::Deadlock(waits) => {
            let wait = |&[thread, holds, wants]: &[i64; 3]| {
                let (holds, wants) = (resource(holds)?, resource(wants)?);
                Some(Wait { thread: id(u32::try_from(thread).ok()?), holds, wants })
            };
            Question::Deadlock(Deadlock { waits: waits.iter().map(wait).collect::<Option<_>>()? })
        }
        Code::Assertion => Question::Reach(Target::Assertion),
        Code::Label(nodes) => Question::Reach(Target::Label(ids::<NodeId>(nodes))),
        Code::State { globals, locks, threads } => {
            let position = |position: &PositionCode| match position {
                PositionCode::Any => Position::Any,
                PositionCode::At(nodes) => Position::At(ids(nodes)),
                PositionCode::Ended => Position::Ended,
            };
            Question::Reach(Target::State(StatePattern {
                globals: globals.iter().map(|&(one, value)| (id(one), value)).collect(),
                locks: locks.iter().map(|&(one, held)| (id::<LockId>(one), held)).collect(),
                threads: threads.iter().map(position).collect(),
            }))
        }
        Code::Stuck => Question::Stuck,
        Code::States => Question::States,
        Code::Temporal { .. } => return None,
    })
}

fn phase(code: &PhaseCode) -> Option<Phase> {
    let symbol = |&SymbolCode(thread, word, location): &SymbolCode| {
        let symbol = match word {
            'R' => Observable::Read(id(location)),
            'W' => Observable::Write(id(location)),
            '[' => Observable::BeginUnit,
            ']' => Observable::EndUnit,
            _ => return None,
        };
        Some(IndexedSymbol { thread: id(thread), symbol })
    };
    Some(Phase {
        name: code.name.clone(),
        loops: code.loops.iter().map(symbol).collect::<Option<_>>()?,
        advance: symbol(&code.advance)?,
    })
}
