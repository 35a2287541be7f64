//! # Idea
//! What a module does, as a sequence of events. One scheduler runs every thread as far as it goes; the
//! other one chooses who goes on before each event. All that the language leaves open (what fails, what
//! is unknown) is a function of the seed and of how often a statement was executed, so a module and what
//! a pass makes of it can be compared event by event.
//!
//! # Requires
//! A valid module whose statements have origins of their own, and whose types have offsets and sizes.
//!
//! # Invariants
//! 1. Events at local objects are no reason to choose another thread: a pass may remove them.
//! 2. A call of a procedure with a body fails exactly if the body does.

use super::machine::CodeMachine;
use crate::rng::Rng;
use selvedge_code::model::{Module, ProcedureId};
use selvedge_code::words::Side;

/// The name of an object: a global, or the thread and the origin of the statement that made it, and
/// how often the thread had executed it before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Object {
    /// A global.
    Global(usize),
    /// What `make` gave.
    Made(usize, u32, u32),
    /// What `local` gave.
    Local(usize, u32, u32),
}

/// What a register or a leaf holds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Datum {
    /// A number.
    Number(i64),
    /// No object.
    Null,
    /// Something else that is only compared.
    Opaque(u64),
    /// A byte of an object.
    Address(Object, i64, Option<Side>),
    /// A procedure with its first arguments.
    Procedure(ProcedureId, Vec<Datum>),
    /// A thread.
    Thread(usize),
}

/// What others may notice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObservedEvent {
    /// The thread.
    pub thread: usize,
    /// The local object that it is about, if it is one.
    pub local: Option<Object>,
    /// What happens.
    pub what: String,
}

/// How long a run may be.
const EVENTS: usize = 80;
const STEPS: usize = 6000;

/// A run from one procedure on.
#[derive(Clone, Debug)]
pub struct Execution {
    /// The events.
    pub events: Vec<ObservedEvent>,
    /// Whether it went on behind the last one.
    pub is_cut: bool,
}

/// Runs a procedure with numbers for arguments; `switches` says that threads take turns at random.
pub fn run(module: &Module, entry: ProcedureId, seed: u64, switches: bool) -> Execution {
    let mut machine = CodeMachine::new(module, seed);
    let count = module.procedures[entry].parameters.len();
    machine.spawn(entry, (0..).take(count).map(Datum::Number).collect());
    let mut rng = Rng::new(seed);
    let mut chosen = 0;
    while machine.events.len() < EVENTS && machine.steps < STEPS {
        let ready: Vec<usize> =
            (0..machine.threads.len()).filter(|&thread| machine.can_step(thread)).collect();
        if ready.is_empty() {
            return Execution { events: machine.events, is_cut: false };
        }
        if switches {
            chosen = *rng.pick(&ready);
        } else if !ready.contains(&chosen) {
            chosen = ready[0];
        }
        machine.step(chosen);
        machine.advance(chosen, STEPS);
    }
    Execution { events: machine.events, is_cut: true }
}
