//! # Idea
//! The text as a tree, with the names as they are written.

use selvedge_base::Span;

/// A name as it is meant: without its quotes.
#[derive(Clone, Debug)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

/// A whole text.
#[derive(Debug, Default)]
pub struct File {
    pub name: Option<Name>,
    pub threads: Vec<Variable>,
    pub locations: Vec<Variable>,
    pub states: Vec<State>,
}

/// `a` or `a = T1`.
#[derive(Debug)]
pub struct Variable {
    pub name: Name,
    pub bound: Option<Name>,
}

/// `state q { .. }`.
#[derive(Debug)]
pub struct State {
    pub name: Name,
    pub items: Vec<Item>,
}

/// A loop or a transition.
#[derive(Debug)]
pub struct Item {
    pub events: Vec<Event>,
    pub except: Vec<Event>,
    /// `None` for a loop.
    pub target: Option<Name>,
    pub span: Span,
}

/// `a read x`; `None` is `any`.
#[derive(Debug)]
pub struct Event {
    pub who: Option<Name>,
    pub what: What,
}

/// What happens.
#[derive(Debug)]
pub enum What {
    Any,
    Begin,
    End,
    Read(Option<Name>),
    Write(Option<Name>),
}
