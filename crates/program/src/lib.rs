//! The waist of Selvedge: one model of concurrent programs with recursion and locks.
//!
//! Front ends produce a [`Program`], engines analyse it, the replayer executes it, reports speak in
//! its terms. It is plain data with public fields.
//!
//! Where to start reading: [`model`] (threads, procedures, control-flow edges), [`data`] (Boolean
//! variables), [`event`] (what is observable of a run), then [`question`] (what can
//! be asked) and [`witness`], [`trace`] and [`verdict`] (what is answered).

pub mod alphabet;
pub mod answer;
pub mod chain;
pub mod copies;
pub mod data;
pub mod engine;
pub mod event;
pub mod expression;
pub mod features;
pub mod files;
pub mod formula;
pub mod interchangeable;
pub mod ipa;
pub mod lock_order;
pub mod model;
pub mod moment;
mod numeral;
mod own;
pub mod pattern;
pub mod probe;
pub mod question;
pub mod reach;
pub mod relation;
pub mod restriction;
pub mod searched;
pub mod sharing;
pub mod successors;
pub mod text;
pub mod trace;
pub mod validate;
pub mod verdict;
pub mod witness;

pub use alphabet::{Alphabet, alphabets};
pub use answer::{Answer, Statistics};
pub use chain::{Chain, ChainLink, ChainWindow, StepCondition};
pub use data::{
    Annotation, Array, Enum, Expr, FailureKind, FailureKinds, Frame, Global, Invariant, Literal,
    Local, MOST_INVARIANTS, NamedArray, Numeral, Operator, Passing, Sort, Type, Update, Valuation,
    Value, Variable, thread_value,
};
pub use engine::{Decision, Engine, Explored, Refined, States};
pub use event::{Event, Observable};
pub use features::{Feature, Features};
pub use files::SourceFile;
pub use formula::{
    Deed, Formula, OmegaAutomaton, OmegaEdge, PathQuantifier, Proposition, TemporalQuestion,
};
pub use interchangeable::{Interchangeable, OwnText, SymmetryScope};
pub use ipa::{IndexedSymbol, Ipa, Phase};
pub use lock_order::LockOrderEdge;
pub use model::{
    Action, AddedUnits, AtomicSet, AtomicSetId, Channel, ChannelId, ConditionId, Copies, Edge,
    EdgeId, EnumId, GlobalId, Label, LocalId, Location, LocationId, Lock, LockId, NodeId,
    PassingId, Procedure, ProcedureId, Program, ReturnId, Start, Thread, ThreadId, UpdateId,
    WaitSet, WaitSetId,
};
pub use moment::{Deadlock, Race, Resource, Wait};
pub use pattern::{Access, AccessKind, PATTERNS, Pattern, UnitRole};
pub use probe::{Probe, ProbeExpr, ProbeLocal};
pub use question::{PatternQuestion, Question, Units};
pub use reach::{
    Bound, Level, LevelCount, Measure, Position, Proof, Search, StatePattern, Target, VisibleState,
};
pub use relation::{QuestionRelation, RelationKey};
pub use restriction::{Restriction, RestrictionLetter, RestrictionState, StepSymbol};
pub use searched::{
    AccessSite, AssertionVerdict, ProtectionKind, Searched, StepMover, VariableProtection,
};
pub use sharing::{Sharing, Unshared, unshare};
pub use successors::Successors;
pub use trace::{Obstacle, Stacks, StepKind, Trace, TraceReceiver, TraceStep};
pub use verdict::{Failure, Fault, Unknown, Verdict};
pub use witness::{Move, Receiver, Witness, WitnessStep};
