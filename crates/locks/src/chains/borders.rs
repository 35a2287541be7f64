//! # Idea
//! Threads that are started and joined. The start of a thread and the end of one that others join happen at
//! most once each, and who waits for what depends on which of them have happened. So they are further points
//! of a chain, *borders*, each at the end of a link of one step: of whoever starts the thread, or of the
//! thread that ends. All borders lie before the rounds of an infinite run. In which order they come, and
//! between which points of the chain, is not known: every order is tried.
//!
//! # Source
//! [`crate::order`], with points. There what nobody needs is left out; here a point may ask who can move, so
//! every start and every end that somebody can wait for is a border.
//!
//! # Invariants
//! 1. Between two borders nobody is started, nobody ends who can be joined, and exactly those who have ended
//!    can be joined.

use super::query::{After, ChainQuery};
use crate::order::following;
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, IdVec};
use selvedge_lower::{LoweredProgram, LoweredThread};
use selvedge_pds::Rhs;
use selvedge_program::{ChainLink, Event, Program, Start, ThreadId, Unknown};
use std::collections::BTreeSet;

/// What happens once and lets others go on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Border {
    /// The start of a thread by another one.
    Start {
        /// Who is started.
        thread: ThreadId,
        /// By whom.
        by: ThreadId,
    },
    /// The end of a thread that can be joined.
    End(ThreadId),
}

impl Border {
    /// Whose step it is.
    pub fn mover(self) -> ThreadId {
        match self {
            Self::Start { by, .. } => by,
            Self::End(thread) => thread,
        }
    }
}

/// Who was started and who has ended.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Standing {
    /// Those that wait to be started, with the thread that has to be started before.
    pub waiting: Vec<(ThreadId, Option<ThreadId>)>,
    /// Those that can be joined and have ended.
    pub ended: BTreeSet<ThreadId>,
}

impl Standing {
    /// At the beginning of a program.
    pub fn at_first(program: &Program) -> Self {
        let threads = program.threads.iter_enumerated();
        let waiting = threads.filter_map(|(id, thread)| match thread.start {
            Start::AtFirst => None,
            Start::ByEdge { after } => Some((id, after)),
        });
        Self { waiting: waiting.collect(), ended: BTreeSet::new() }
    }

    /// Whether a thread waits to be started.
    pub fn waits(&self, thread: ThreadId) -> bool {
        self.waiting.iter().any(|&(id, _)| id == thread)
    }

    /// Whether a thread can be started.
    pub fn can_start(&self, thread: ThreadId) -> bool {
        let mut waiting = self.waiting.iter();
        waiting.any(|&(id, after)| id == thread && after.is_none_or(|before| !self.waits(before)))
    }

    /// Behind a border.
    fn pass(&mut self, border: Border) {
        match border {
            Border::Start { thread, .. } => self.waiting.retain(|&(id, _)| id != thread),
            Border::End(thread) => _ = self.ended.insert(thread),
        }
    }
}

/// A link of an order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Slot {
    /// Which link of the query ends here; none if no point does.
    pub link: Option<usize>,
    /// Whether it is one step.
    pub border: Option<Border>,
    /// Who was started and who has ended before it.
    pub before: Standing,
    /// Likewise behind it.
    pub behind: Standing,
}

/// An order of the links of a query and of borders.
pub(crate) type Slots = Vec<Slot>;

/// What starts and joins a program has.
pub(crate) struct Borders {
    started_by: IdVec<ThreadId, BTreeSet<ThreadId>>,
    joins: IdVec<ThreadId, BTreeSet<ThreadId>>,
    /// Those that somebody else can join.
    joined: BTreeSet<ThreadId>,
}

/// How many orders are tried.
const ORDERS: usize = 2_000;

/// How many beginnings of orders are looked at.
const BEGINNINGS: usize = 100_000;

impl Borders {
    /// The starts and joins of a program; `None` if it has none, and nobody waits.
    pub fn new(program: &Program, lowered: &LoweredProgram) -> Option<Self> {
        let none = || IdVec::filled(BTreeSet::new(), program.threads.len());
        let (mut started_by, mut joins) = (none(), none());
        let mut joined = BTreeSet::new();
        for (id, thread) in lowered.threads.iter_enumerated() {
            for rule in &thread.pds.rules {
                match rule.label.event {
                    Some(Event::Start(started)) => _ = started_by[started].insert(id),
                    Some(Event::Join(other)) => {
                        joins[id].insert(other);
                        if other != id {
                            joined.insert(other);
                        }
                    }
                    _ => {}
                }
            }
        }
        let some =
            |sets: &IdVec<ThreadId, BTreeSet<ThreadId>>| sets.iter().any(|set| !set.is_empty());
        let wait = program.threads.iter().any(|thread| thread.start != Start::AtFirst);
        (wait || some(&started_by) || some(&joins)).then_some(Self { started_by, joins, joined })
    }

    /// Whether the end of a thread is a border.
    pub fn is_joined(&self, thread: ThreadId) -> bool {
        self.joined.contains(&thread)
    }

    /// The participants with everybody who can start one of them or be joined by one of them, and so on.
    pub fn close(&self, program: &Program, participants: &mut Vec<ThreadId>) {
        let before = |thread: ThreadId| match program.threads[thread].start {
            Start::AtFirst => None,
            Start::ByEdge { after } => after,
        };
        let mut found = BTreeSet::new();
        let mut pending = std::mem::take(participants);
        while let Some(thread) = pending.pop() {
            if found.insert(thread) {
                pending.extend(&self.started_by[thread]);
                pending.extend(&self.joins[thread]);
                pending.extend(before(thread));
                // Whether it can start a thread may depend on whether another one was started.
                let starts = self.started_by.iter_enumerated();
                let starts = starts.filter(|(_, by)| by.contains(&thread));
                pending.extend(starts.filter_map(|(started, _)| before(started)));
            }
        }
        participants.extend(found);
    }

    /// The orders of a query, those with few borders first.
    ///
    /// # Errors
    /// If there are too many, or if the budget is used up.
    pub fn orders(
        &self,
        program: &Program,
        query: &ChainQuery,
        participants: &[ThreadId],
        threads: &[&LoweredThread],
        budget: &Budget,
    ) -> Result<Vec<Slots>, Unknown> {
        let mut search = Search {
            borders: self,
            query,
            participants,
            threads,
            budget,
            slots: Vec::new(),
            passed: Vec::new(),
            follows: FxHashMap::default(),
            beginnings: 0,
            found: Vec::new(),
        };
        search.extend(0, &Standing::at_first(program))?;
        let mut found = search.found;
        found.sort_by_key(Vec::len);
        Ok(found)
    }
}

/// The one order of a program without starts and joins.
pub(crate) fn only_order(query: &ChainQuery) -> Vec<Slots> {
    let (before, behind) = (Standing::default(), Standing::default());
    let slot = |link| Slot {
        link: Some(link),
        border: None,
        before: before.clone(),
        behind: behind.clone(),
    };
    vec![(0..query.links.len()).map(slot).collect()]
}

struct Search<'a> {
    borders: &'a Borders,
    query: &'a ChainQuery,
    participants: &'a [ThreadId],
    threads: &'a [&'a LoweredThread],
    budget: &'a Budget,
    slots: Slots,
    passed: Vec<Border>,
    /// What a participant can do behind one of its starts.
    follows: FxHashMap<(usize, Event), BTreeSet<Event>>,
    beginnings: usize,
    found: Vec<Slots>,
}

impl Search<'_> {
    /// All orders that go on with this link of the query. Behind the last one, an infinite run may have
    /// borders before its rounds.
    fn extend(&mut self, link: usize, standing: &Standing) -> Result<(), Unknown> {
        self.budget.check().map_err(Unknown::Stopped)?;
        self.beginnings += 1;
        if self.found.len() > ORDERS || self.beginnings > BEGINNINGS {
            return Err(Unknown::Unsupported(format!(
                "starts and ends of threads can come in more than {ORDERS} orders with what is asked \
                 about"
            )));
        }
        let rounds = matches!(self.query.after, After::Rounds(_));
        let kind = self.query.links.get(link);
        let single = matches!(kind, Some(ChainLink::One(_)));
        if kind.is_none() {
            self.found.push(self.slots.clone());
            if !rounds {
                return Ok(());
            }
        } else {
            let (before, behind) = (standing.clone(), standing.clone());
            self.slots.push(Slot { link: Some(link), border: None, before, behind });
            self.extend(link + 1, standing)?;
            self.slots.pop();
        }
        for border in self.next(standing) {
            let mut behind = standing.clone();
            behind.pass(border);
            self.passed.push(border);
            if single {
                let (link, before) = (Some(link), standing.clone());
                self.slots.push(Slot {
                    link,
                    border: Some(border),
                    before,
                    behind: behind.clone(),
                });
            } else {
                let (before, then) = (standing.clone(), standing.clone());
                self.slots.push(Slot { link: None, border: None, before, behind: then });
                let (before, then) = (standing.clone(), behind.clone());
                self.slots.push(Slot { link: None, border: Some(border), before, behind: then });
            }
            self.extend(link + usize::from(single), &behind)?;
            self.slots.pop();
            if !single {
                self.slots.pop();
            }
            self.passed.pop();
        }
        Ok(())
    }

    /// The borders that can come next.
    fn next(&mut self, standing: &Standing) -> Vec<Border> {
        let mut found = Vec::new();
        for at in 0..self.participants.len() {
            let by = self.participants[at];
            if standing.waits(by) || standing.ended.contains(&by) {
                continue;
            }
            for &(thread, _) in &standing.waiting {
                let starts = self.borders.started_by[thread].contains(&by);
                if starts && standing.can_start(thread) && self.may_come(at, Event::Start(thread)) {
                    found.push(Border::Start { thread, by });
                }
            }
            if self.borders.is_joined(by) {
                found.push(Border::End(by));
            }
        }
        found
    }

    /// Whether a participant can do this behind its last border.
    fn may_come(&mut self, at: usize, event: Event) -> bool {
        let id = self.participants[at];
        let last = self.passed.iter().rev().find_map(|&border| match border {
            Border::Start { thread, by } if by == id => Some(Event::Start(thread)),
            _ => None,
        });
        let Some(last) = last else { return true };
        let threads = self.threads;
        let follows =
            self.follows.entry((at, last)).or_insert_with(|| following(threads[at], last));
        follows.contains(&event)
    }
}

/// The rules that a participant may apply between two borders; `None` if these are all.
pub(crate) fn between(thread: &LoweredThread, standing: &Standing) -> Option<Vec<bool>> {
    let bound = |event: Option<Event>| matches!(event, Some(Event::Start(_) | Event::Join(_)));
    let mut rules = thread.pds.rules.iter();
    rules.any(|rule| bound(rule.label.event)).then(|| {
        let rules = thread.pds.rules.iter();
        let may = rules.map(|rule| match rule.label.event {
            Some(Event::Start(_)) => false,
            Some(Event::Join(joined)) => standing.ended.contains(&joined),
            _ => true,
        });
        may.collect()
    })
}

/// The rules by which the mover of a border can make it.
pub(crate) fn making(thread: &LoweredThread, border: Border) -> Vec<bool> {
    let rules = thread.pds.rules.iter();
    let makes = rules.map(|rule| match border {
        Border::Start { thread, .. } => rule.label.event == Some(Event::Start(thread)),
        Border::End(_) => rule.rhs == Rhs::Pop,
    });
    makes.collect()
}
