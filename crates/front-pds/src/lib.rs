//! Concurrent pushdown systems in the format of CUBA: texts to programs and targets.
//!
//! # Grammar
//! A `.pds` text has one item per line; `#` begins a comment.
//! ```text
//! file   = NUMBER { thread }                     the number of shared states
//! thread = "PDA" NUMBER NUMBER { rule }          its first and its last stack symbol
//! rule   = NUMBER NUMBER "->" NUMBER word        shared state and top, shared state and word
//!        | NUMBER "-" "->" NUMBER bottom         the same on the empty stack
//! word   = "-" | NUMBER | NUMBER NUMBER          pop, step, push (the first one is the new top)
//! bottom = "-" | NUMBER                          it stays empty, or gets a symbol
//! ```
//! An `.init` text and a `.spec` text have one state: the shared state and the stacks, `.` between
//! stack symbols from bottom to top, `-` for the empty stack. A target names no more than the top of
//! each stack.
//! ```text
//! state = NUMBER "|" stack { "," stack }
//! stack = "-" | NUMBER { "." NUMBER }
//! ```
//! Symbols outside of the range of their thread occur in published files; they get a warning.
//!
//! # The program
//! The shared state becomes globals, the bits of the numeral `q`. A procedure is an entry symbol with
//! everything that step rules and return points lead to from there; its nodes carry their stack
//! symbols as labels. Every rule is one edge with the guard `q = s` and the assignment `q := s'`: a
//! step is a [`Skip`](selvedge_program::Action::Skip), a push `a b` calls the procedure with the entry
//! `a` and goes on at `b`, a pop is a [`Return`](selvedge_program::Action::Return). Threads are
//! called `T1`, `T2`, .. A thread that does something on the empty stack, or begins with it, has a
//! main procedure of its own that never ends: its node is labelled `-`, and what is pushed there is
//! called and comes back to it.
//!
//! ```
//! let parsed = selvedge_front_pds::parse("2\nPDA 1 2\n0 1 -> 1 2\n", Some("0|1"), Some("1|2"));
//! let parsed = parsed.expect("no errors");
//! assert_eq!(parsed.program.edges.len(), 1);
//! assert!(parsed.target.is_some() && parsed.warnings.is_empty());
//! ```
//!
//! # Where to start reading
//! `token` splits a text, `system` reads the rules, `state` the initial state and targets, `program`
//! makes a program of them.

mod program;
mod state;
mod system;
mod token;

use selvedge_base::{Diagnostic, Severity};
use selvedge_program::{Program, Target};
use selvedge_syntax::complaints::Complaints;

/// Which text a complaint is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Input {
    /// The rules.
    Pds,
    /// The initial state.
    Init,
    /// The target.
    Spec,
}

/// A diagnostic with the text that its spans lie in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Complaint {
    /// The text.
    pub input: Input,
    /// What is wrong with it.
    pub diagnostic: Diagnostic,
}

/// What was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed {
    /// The program.
    pub program: Program,
    /// The target, if one was given.
    pub target: Option<Target>,
    /// What is odd, but no error.
    pub warnings: Vec<Complaint>,
}

/// Reads a concurrent pushdown system with its initial state and its target.
///
/// # Errors
/// All complaints, if one of them is an error. A missing initial state is one.
pub fn parse(pds: &str, init: Option<&str>, spec: Option<&str>) -> Result<Parsed, Vec<Complaint>> {
    let mut all = Vec::new();
    let result = read(pds, init, spec, &mut all);
    match result {
        Some((program, target)) => Ok(Parsed { program, target, warnings: all }),
        None => Err(all),
    }
}

/// Reads a target such as `20|23,-` for a program that [`parse`] has made.
///
/// # Errors
/// What is wrong with it.
pub fn parse_target(program: &Program, text: &str) -> Result<Target, Box<Diagnostic>> {
    let mut complaints = Complaints::new();
    let target = within_limits(text, &mut complaints)
        .and_then(|()| state::parse(text, &mut complaints))
        .and_then(|state| program::target(program, None, &state, &mut complaints));
    match (target, complaints.finish().into_iter().find(Diagnostic::is_error)) {
        (Some(target), None) => Ok(target),
        (_, Some(diagnostic)) => Err(diagnostic.into()),
        (None, None) => {
            let message = "no target is given";
            Err(Diagnostic::global("no-target", Severity::Error, message).into())
        }
    }
}

fn read(
    pds: &str,
    init: Option<&str>,
    spec: Option<&str>,
    all: &mut Vec<Complaint>,
) -> Option<(Program, Option<Target>)> {
    let system = collect(Input::Pds, all, |complaints| {
        within_limits(pds, complaints)?;
        let system = system::parse(pds, complaints);
        if init.is_none() {
            complaints.push(
                Diagnostic::global("missing-init", Severity::Error, "the initial state is missing")
                    .with_help(
                        "put it beside the rules as a file `.init`, such as `0|1,2`, or name it \
                         with `--init`",
                    ),
            );
        }
        system
    });
    let initial = init.and_then(|text| read_state(text, Input::Init, all));
    let goal = spec.map(|text| read_state(text, Input::Spec, all));
    let (system, initial) = (system?, initial?);
    let program = collect(Input::Init, all, |complaints| {
        program::check_initial(&system, &initial, complaints)
    })
    .and_then(|initial| {
        collect(Input::Pds, all, |complaints| program::build(&system, &initial, complaints))
    })?;
    let Some(goal) = goal else { return Some((program, None)) };
    let goal = goal?;
    let target = collect(Input::Spec, all, |complaints| {
        program::target(&program, Some(&system), &goal, complaints)
    })?;
    Some((program, Some(target)))
}

fn read_state(text: &str, input: Input, all: &mut Vec<Complaint>) -> Option<state::State> {
    collect(input, all, |complaints| {
        within_limits(text, complaints)?;
        state::parse(text, complaints)
    })
}

/// Runs a reader and files its complaints; `None` if there is an error among them.
fn collect<T>(
    input: Input,
    all: &mut Vec<Complaint>,
    reader: impl FnOnce(&mut Complaints) -> Option<T>,
) -> Option<T> {
    let mut complaints = Complaints::new();
    let result = reader(&mut complaints);
    let result = if complaints.has_errors() { None } else { result };
    all.extend(complaints.finish().into_iter().map(|diagnostic| Complaint { input, diagnostic }));
    result
}

fn within_limits(text: &str, complaints: &mut Complaints) -> Option<()> {
    if u32::try_from(text.len()).is_ok() {
        return Some(());
    }
    let message = "the file is too large: at most 4 GiB can be read";
    complaints.push(Diagnostic::global("file-too-large", Severity::Error, message));
    None
}
