//! Reads properties: indexed phase automata in a small text form.
//!
//! An indexed phase automaton watches the events of all threads. It goes through its states in
//! order; in each state it waits, over the events of the state's loop, for an event that leads to
//! the next one. A run that leads to the last state violates the property. An event for which the
//! current state has neither a loop nor a transition ends the match.
//!
//! This is the automaton of paper 000 Fig. 2: a unit of thread `a` reads `count` and then `data`,
//! and thread `b` writes both in between, in the order that makes the two values contradict.
//!
//! ```text
//! property fig2;
//!
//! thread a, b;                        // any two different threads
//! location c = count, d = data;       // other names, as short as in the paper
//!
//! state q1 { loop any;                a begin   -> q2; }
//! state q2 { loop any except a end;   a read c  -> q3; }
//! state q3 { loop any except a end;   b write d -> q4; }
//! state q4 { loop any except a end;   b write c -> q5; }
//! state q5 { loop any except a end;   a read d  -> q6; }
//! state q6;
//! ```
//!
//! # Grammar
//! ```text
//! file     = [ "property" NAME ";" ] { "thread" names ";" | "location" names ";" | state }
//! names    = NAME [ "=" NAME ] { "," NAME [ "=" NAME ] }
//! state    = "state" NAME ( ";" | "{" { "loop" set ";" | set "->" NAME ";" } "}" )
//! set      = events [ "except" events ]
//! events   = event { "," event }
//! event    = "any" | who what
//! who      = "any" | NAME
//! what     = "any" | "begin" | "end" | ( "read" | "write" ) ( "any" | NAME )
//! ```
//! Threads and locations of the program are named directly. `thread a;` makes `a` a variable that
//! stands for every thread in turn, `thread a = T1;` gives `T1` another name; the same with
//! `location`. Different variables never stand for the same thread, nor does a variable stand for a
//! thread that the property names. `begin` and `end` are the outermost unit of work, `any` is every
//! thread, every event, or every location, as its place tells. A state with several transitions
//! takes any of them; a transition to the state itself is a loop. The loops of the last state do not
//! matter. A NAME is a letter or `_` followed by letters, digits and `_`, or anything in double
//! quotes. `//` and `/* */` are comments.
//!
//! ```
//! let program = selvedge_program::text::parse(
//!     "program set s { x } thread T1 main m { procedure m nodes 1 entry 0 exit 0 { } }
//!      thread T2 main m { procedure m nodes 1 entry 0 exit 0 { } }",
//! );
//! let text = "thread a; thread b; state p { loop any; a write x -> q; }
//!             state q { loop any; b write x -> r; } state r;";
//! let (automata, diagnostics) =
//!     selvedge_front_property::parse(text, &program.0.expect("a program"));
//! assert!(diagnostics.is_empty());
//! assert_eq!(automata.len(), 2);
//! ```
//!
//! # Where to start reading
//! `token` splits the text, `parser` builds the tree of `ast`, `check` gives it its meaning in a
//! program, `instances` makes one automaton per choice of threads, locations and transitions.

mod ast;
mod check;
mod instances;
mod parser;
mod token;

use ast::{Item, Name};
use selvedge_base::{Diagnostic, Severity};
use selvedge_program::{Ipa, Program};
use selvedge_syntax::complaints::Complaints;
use std::collections::BTreeSet;

/// Reads a property of a program: one automaton per choice of threads and locations for the
/// variables and of one transition per state. There are none if there is an error among the
/// diagnostics. The automata have the name that the text declares, or an empty one.
pub fn parse(text: &str, program: &Program) -> (Vec<Ipa>, Vec<Diagnostic>) {
    let mut complaints = Complaints::new();
    let automata = read(text, program, &mut complaints).unwrap_or_default();
    let automata = if complaints.has_errors() { Vec::new() } else { automata };
    (automata, complaints.finish())
}

/// How many different threads one automaton of the property can speak of, however many threads the
/// program has: those that variables stand for, those that are named, and one more for every state
/// with a transition of any thread.
pub fn threads_asked_about(text: &str) -> u32 {
    let file = parser::parse(text, &mut Complaints::new());
    let mut named = BTreeSet::new();
    let mut of_any_thread = 0;
    for variable in &file.threads {
        // A variable that is bound is another name for a thread.
        named.insert(
            variable
                .bound
                .as_ref()
                .map_or((true, &variable.name.text), |thread| (false, &thread.text)),
        );
    }
    for state in &file.states {
        let leaves =
            |item: &&Item| item.target.as_ref().is_some_and(|to| to.text != state.name.text);
        let mut leaving = state.items.iter().filter(leaves).flat_map(|item| &item.events);
        of_any_thread += u32::from(leaving.any(|event| event.who.is_none()));
        for item in &state.items {
            let who = item.events.iter().chain(&item.except).filter_map(|event| event.who.as_ref());
            let declared = |name: &Name| file.threads.iter().any(|one| one.name.text == name.text);
            named.extend(who.filter(|name| !declared(name)).map(|name| (false, &name.text)));
        }
    }
    (named.len() as u32).saturating_add(of_any_thread)
}

fn read(text: &str, program: &Program, complaints: &mut Complaints) -> Option<Vec<Ipa>> {
    if u32::try_from(text.len()).is_err() {
        let message = "the file is too large: at most 4 GiB can be read";
        complaints.push(Diagnostic::global("file-too-large", Severity::Error, message));
        return None;
    }
    let file = parser::parse(text, complaints);
    let property = check::check(&file, program, complaints)?;
    instances::instances(&property, program, complaints)
}
