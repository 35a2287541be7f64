//! # Idea
//! A program is a fixed set of threads. Each thread starts at its main procedure and runs over
//! control-flow graphs whose edges carry [`Action`]s: accesses to shared locations, reentrant lock
//! operations, units of work, calls. Branching is nondeterministic: a node with several outgoing
//! edges may take any of them.
//!
//! # Source
//! EML after paper 004 Fig. 1 and the multi-PDS of paper 000 Defn. 2, with control-flow graphs in
//! place of pushdown rules. Acquire and release are edges of their own, not tied to calls, so that
//! languages without scoped locks fit as well; whether a program nests its locks is a property of
//! the program that an engine asks for, not a restriction of the model.
//!
//! # Invariants
//! Checked by [`crate::validate`]:
//! 1. Every id is in range.
//! 2. The procedures that threads own are grouped by thread in the order of the threads; shared ones
//!    stand before, between or behind these groups. Nodes and edges are grouped by procedure in the
//!    order of the procedures.
//! 3. An edge stays within one procedure; entry and exit are nodes of their procedure.
//! 4. No edge leaves an exit node: the only step there is the return.
//! 5. A call goes to a shared procedure, or to one of the same thread; so does a thread's main.
//! 6. Names are unique: locks among locks, wait sets among wait sets, channels among channels, atomic
//!    sets among atomic sets, locations among locations, globals among globals, threads among threads,
//!    procedures among those of their thread, shared procedures among shared ones, locals among those
//!    of their procedure.
//! 7. Expressions name globals of the program and locals of the procedure that they stand in;
//!    [`Expr::Next`] occurs in constraints only; the targets of an update are all different, and so
//!    are those of a call.
//! 8. The arguments and results of a call fit the callee; an edge that is neither call nor start
//!    passes nothing. Calls and starts of something without parameters and results may do so too.
//! 9. A return goes to the exit of its procedure and has as many values as the procedure results.
//! 10. A start names a thread that waits. A thread comes after one with a smaller id that waits. A
//!     join names a thread that stands for one.
//! 11. Only reads and writes are volatile.
//! 12. Places lie in the file that was read or in one that the program names. These have different
//!     names, without control characters, neither empty nor longer than
//!     [`LONGEST_FILE_NAME`](crate::files::LONGEST_FILE_NAME). Lines and columns count from 1.
//! 13. Ranges are not empty, and have at most 2^31 values; enumerations are not either, and their
//!     names are unique. Initial values are values of their types. The elements of an array follow
//!     each other, have one type and one initial value, are named after it, and are no parameters;
//!     arrays do not overlap.
//! 14. Expressions have a sort: conditions, guards and constraints are truth values, and what is
//!     assigned, passed or returned has the sort of the variable that it goes to.
//! 15. Invariants and the predicates of annotations speak of globals only; [`Expr::Me`] stands in
//!     predicates, but not in invariants.
//! 16. An edge that sends or receives computes nothing and passes nothing, and its procedure enforces
//!     nothing.
//! 17. Restrictions are what [`crate::restriction`] says of them.
//! 18. A wait set with the name of a lock is one of this lock.

use crate::data::{Enum, Expr, Frame, Global, Invariant, NamedArray, Numeral, Passing, Update};
use crate::files::SourceFile;
use crate::restriction::Restriction;
use selvedge_base::{IdVec, Place, define_id};

define_id!(
    /// A lock.
    LockId
);
define_id!(
    /// A wait set of a lock.
    WaitSetId
);
define_id!(
    /// A channel.
    ChannelId
);
define_id!(
    /// A shared location.
    LocationId
);
define_id!(
    /// An atomic set of shared locations.
    AtomicSetId
);
define_id!(
    /// A thread.
    ThreadId
);
define_id!(
    /// A procedure.
    ProcedureId
);
define_id!(
    /// A control-flow node. Nodes of all procedures share one numbering.
    NodeId
);
define_id!(
    /// A control-flow edge. Edges of all procedures share one numbering.
    EdgeId
);

define_id!(
    /// A shared variable.
    GlobalId
);
define_id!(
    /// A type with named values.
    EnumId
);
define_id!(
    /// A local variable, counted within its procedure.
    LocalId
);
define_id!(
    /// An update of data.
    UpdateId
);
define_id!(
    /// A condition over data: an assertion, or what a procedure enforces.
    ConditionId
);
define_id!(
    /// The values of a return.
    ReturnId
);
define_id!(
    /// The values that a call or a start passes.
    PassingId
);

/// A concurrent program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// The files that it comes from beside the one that was read, see [`crate::files`].
    pub files: Vec<SourceFile>,
    /// The locks.
    pub locks: IdVec<LockId, Lock>,
    /// The wait sets of the locks.
    pub wait_sets: IdVec<WaitSetId, WaitSet>,
    /// The channels.
    pub channels: IdVec<ChannelId, Channel>,
    /// The atomic sets.
    pub atomic_sets: IdVec<AtomicSetId, AtomicSet>,
    /// The shared locations.
    pub locations: IdVec<LocationId, Location>,
    /// The threads.
    pub threads: IdVec<ThreadId, Thread>,
    /// The procedures.
    pub procedures: IdVec<ProcedureId, Procedure>,
    /// The procedure of each node.
    pub nodes: IdVec<NodeId, ProcedureId>,
    /// The edges of all procedures.
    pub edges: IdVec<EdgeId, Edge>,
    /// The types with named values.
    pub enums: IdVec<EnumId, Enum>,
    /// The shared variables.
    pub globals: IdVec<GlobalId, Global>,
    /// Which of them are elements of arrays, in the order of the globals.
    pub arrays: Vec<NamedArray>,
    /// What is true of them at all times.
    pub invariants: Vec<Invariant>,
    /// The updates that edges name.
    pub updates: IdVec<UpdateId, Update>,
    /// The conditions that edges and procedures name.
    pub conditions: IdVec<ConditionId, Expr>,
    /// The returned values that edges name.
    pub returns: IdVec<ReturnId, Vec<Expr>>,
    /// The passed values that edges name.
    pub passings: IdVec<PassingId, Passing>,
    /// The labels, in the order of the source.
    pub labels: Vec<Label>,
    /// Globals that write numbers.
    pub numerals: Vec<Numeral>,
    /// Whether a thread that waits for a notification may also go on without one.
    pub spurious_wakeups: bool,
    /// Which runs of some threads count. The text form leaves them out: they have texts of their own.
    pub restrictions: Vec<Restriction>,
    /// Which units of work were added to those of the text that was read.
    pub added_units: Option<AddedUnits>,
    /// How many threads a start site of the text starts, where it could start more than that. The text
    /// form leaves it out.
    pub starts_per_site: Option<u32>,
}

/// Which parts of a program become units of work beside those that it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddedUnits {
    /// Each call from the procedure in which a thread starts.
    Functions,
    /// Each outermost region in which a lock is held.
    Locks,
    /// Of a program in Java, each pass of an outermost loop with which a thread begins, if it calls two methods
    /// of one object.
    Loops,
    /// Of a program in Java, methods of other classes than that of the object.
    Callers,
}

impl AddedUnits {
    /// All ways to add units.
    pub const ALL: [Self; 4] = [Self::Functions, Self::Locks, Self::Loops, Self::Callers];

    /// The word in options and files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Functions => "functions",
            Self::Locks => "locks",
            Self::Loops => "loops",
            Self::Callers => "callers",
        }
    }

    /// The way with this word.
    pub fn by_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.word() == word)
    }
}

impl Program {
    /// What the steps of a thread have to be like, if not all runs of it count.
    pub fn restriction(&self, thread: ThreadId) -> Option<&Restriction> {
        self.restrictions.iter().find(|one| one.thread == thread)
    }

    /// The lock that an action acquires, releases, or whose wait set it is about.
    pub fn lock_of(&self, action: Action) -> Option<LockId> {
        match action {
            Action::Acquire(lock) | Action::Release(lock) => Some(lock),
            action => action.wait_set().map(|set| self.wait_sets[set].lock),
        }
    }

    /// A wait set as reports name it: `notFull of l`, or `l` for the default set of a lock.
    pub fn wait_set_title(&self, set: WaitSetId) -> String {
        let WaitSet { name, lock, .. } = &self.wait_sets[set];
        let lock = &self.locks[*lock].name;
        if name == lock { name.clone() } else { format!("{name} of {lock}") }
    }
}

/// A name for a node. Several nodes may have the same name, and a node several names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The name.
    pub name: String,
    /// The node.
    pub node: NodeId,
    /// Where it stands; nowhere, if no text has it.
    pub place: Place,
}

/// A lock, free at first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lock {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub place: Place,
    /// Whether its owner can acquire it again; if not, it blocks for ever where it tries to.
    pub reentrant: bool,
}

impl Lock {
    /// A reentrant lock.
    pub fn reentrant(name: impl Into<String>, place: Place) -> Self {
        Self { name: name.into(), place, reentrant: true }
    }
}

/// A wait set of a lock, called a condition in most languages: the threads that wait for a notification
/// of it. A lock can have several.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitSet {
    /// Its name; that of its lock for the default set, which statements name by the lock.
    pub name: String,
    /// The lock that whoever waits or notifies holds.
    pub lock: LockId,
    /// Where it is declared.
    pub place: Place,
}

/// A channel, over which threads meet. It holds nothing: what is not received in the step that sends
/// is received never.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub place: Place,
}

/// A set of locations with a common consistency property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AtomicSet {
    /// Its name, for reports.
    pub name: String,
}

/// A shared location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub place: Place,
    /// The atomic set that it belongs to.
    pub atomic_set: AtomicSetId,
}

/// A thread, at the entry of its main procedure at first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub place: Place,
    /// Where it starts.
    pub main: ProcedureId,
    /// When it starts.
    pub start: Start,
    /// How many threads it stands for.
    pub copies: Copies,
}

/// How many threads a [`Thread`] stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Copies {
    /// One.
    #[default]
    One,
    /// Any number: what holds of the program holds for every number of copies. An edge that starts
    /// it starts one more copy each time; nobody can join it. [`crate::copies`] makes a program with
    /// so many threads of it.
    Any,
}

/// When a thread starts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Start {
    /// It runs from the beginning.
    #[default]
    AtFirst,
    /// It waits for an edge that starts it.
    ByEdge {
        /// The thread that has to be started before.
        after: Option<ThreadId>,
    },
}

/// A procedure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Procedure {
    /// Its name, unique within the thread that owns it, or among the shared ones.
    pub name: String,
    /// The thread that alone runs it; `None` if it is shared, see [`Sharing`](crate::Sharing).
    pub owner: Option<ThreadId>,
    /// Where it is declared.
    pub place: Place,
    /// Where it ends in the source; the place of the return step.
    pub end: Place,
    /// Its first node.
    pub entry: NodeId,
    /// The node from which it returns.
    pub exit: NodeId,
    /// Its data.
    pub frame: Frame,
}

/// A control-flow edge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Where it starts.
    pub source: NodeId,
    /// Where it ends; for a call, where execution goes on after the return.
    pub target: NodeId,
    /// What happens on it.
    pub action: Action,
    /// What it computes, in the same step.
    pub update: Option<UpdateId>,
    /// What a call or a start passes.
    pub passing: Option<PassingId>,
    /// Whether it is a volatile access. Two accesses race unless both are volatile.
    pub volatile: bool,
    /// The statement that it comes from.
    pub place: Place,
}

/// What happens on an edge. Each action is one atomic step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// Nothing: a branch, a `skip`, a jump.
    Skip,
    /// Reads a shared location.
    Read(LocationId),
    /// Writes a shared location.
    Write(LocationId),
    /// Acquires a lock; blocks while another thread owns it.
    Acquire(LockId),
    /// Releases a lock once; fails if the thread does not own it.
    Release(LockId),
    /// Gives up all holds of the lock of a wait set and joins the set; fails if the thread does not
    /// own the lock.
    Wait(WaitSetId),
    /// Behind a [`Wait`](Action::Wait): once the thread is not in the wait set any more and its
    /// lock is free, takes the lock with all holds that it had. Blocks for ever where nothing is to be
    /// resumed.
    Resume(WaitSetId),
    /// Removes any one thread from a wait set, if there is one; fails if the thread does not own the
    /// lock.
    Notify(WaitSetId),
    /// Removes all threads from a wait set; fails if the thread does not own the lock.
    NotifyAll(WaitSetId),
    /// Enters a unit of work.
    BeginUnit,
    /// Leaves a unit of work.
    EndUnit,
    /// Calls a procedure.
    Call(ProcedureId),
    /// Fails if the condition can be false, goes on if it can be true.
    Assert(ConditionId),
    /// Returns these values from the procedure, in one step.
    Return(ReturnId),
    /// Starts a thread that waits.
    Start(ThreadId),
    /// Goes on once a thread has returned from its main.
    Join(ThreadId),
    /// Enters an atomic section.
    BeginAtomic,
    /// Leaves an atomic section.
    EndAtomic,
    /// One step together with the [`Recv`](Action::Recv) of one other thread that is ready; blocks
    /// while there is none. A thread is ready for a channel if it was started, an edge that receives
    /// leaves the node on top of its stack, and nobody else is inside an atomic section.
    Send(ChannelId),
    /// One step together with the [`Recv`](Action::Recv) of any one other thread that is ready, and
    /// alone if there is none.
    Post(ChannelId),
    /// One step together with the [`Recv`](Action::Recv) of all other threads that are ready.
    Broadcast(ChannelId),
    /// Happens in the step of a thread that sends, posts or broadcasts, and in no other way.
    Recv(ChannelId),
}

impl Action {
    /// The wait set that it joins, leaves or notifies.
    pub fn wait_set(self) -> Option<WaitSetId> {
        match self {
            Self::Wait(set) | Self::Resume(set) | Self::Notify(set) | Self::NotifyAll(set) => {
                Some(set)
            }
            _ => None,
        }
    }

    /// The channel that it sends or receives over.
    pub fn channel(self) -> Option<ChannelId> {
        match self {
            Self::Send(channel)
            | Self::Post(channel)
            | Self::Broadcast(channel)
            | Self::Recv(channel) => Some(channel),
            _ => None,
        }
    }

    /// Whether more than the stack of the thread, locks and units have a part in it.
    pub fn is_about_data(self) -> bool {
        matches!(
            self,
            Self::Assert(_)
                | Self::Return(_)
                | Self::Start(_)
                | Self::Join(_)
                | Self::BeginAtomic
                | Self::EndAtomic
        )
    }
}
