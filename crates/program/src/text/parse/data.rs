//! # Idea
//! Reads what belongs to data: globals, numerals, labels, the variables of procedures, passed and
//! returned values, updates.
//!
//! # Invariants
//! 1. Conditions, updates, returned and passed values are numbered in the order of the text.

use super::super::lexer::Kind;
use super::{Parser, Read, Reference, Table, declare};
use crate::data::{Frame, Global, Local, Numeral, Passing, Update, Variable};
use crate::model::{
    ConditionId, GlobalId, Label, NodeId, PassingId, ReturnId, Start, ThreadId, UpdateId,
};
use selvedge_base::{Id, Span};

/// How many results a procedure may have. Nothing in a text is as long as this number may be large.
const MOST_RESULTS: u32 = 1000;

/// A label whose thread and procedure were not looked up yet.
pub(super) struct LabelAt {
    name: String,
    /// The thread that owns the procedure; `None` if that is shared.
    thread: Option<Reference>,
    procedure: Reference,
    node: u32,
    span: Span,
}

impl Parser<'_> {
    pub(super) fn global(&mut self) -> Read<()> {
        self.at += 1;
        let name = self.name("a global")?;
        let mut initial = None;
        if self.is_sign('=') {
            self.at += 1;
            initial = match self.word() {
                Some("T") => Some(true),
                Some("F") => Some(false),
                _ => return self.unexpected("expected `T` or `F`"),
            };
            self.at += 1;
        }
        let place = self.optional_place()?;
        declare(&mut self.globals, &name, "global", &mut self.complaints)?;
        self.program.globals.push(Global { name: name.name, place, initial });
        Ok(())
    }

    pub(super) fn numeral(&mut self) -> Read<()> {
        self.at += 1;
        let name = self.name("a numeral")?.name;
        self.sign('{')?;
        let mut bits = Vec::new();
        while !self.is_sign('}') {
            if !bits.is_empty() {
                self.sign(',')?;
            }
            bits.push(self.reference_to_global()?);
        }
        self.at += 1;
        self.program.numerals.push(Numeral { name, bits });
        Ok(())
    }

    fn reference_to_global(&mut self) -> Read<GlobalId> {
        let name = self.name("a global")?;
        let table = std::mem::take(&mut self.globals);
        let found = self.resolve(&table, &name, "unknown-variable", "global");
        self.globals = table;
        found.map(Id::from_index)
    }

    /// A label. Its thread may come later.
    pub(super) fn label(&mut self) -> Read<()> {
        self.at += 1;
        let name = self.name("a label")?.name;
        self.keyword("at")?;
        let mut procedure = self.name("a thread or a procedure")?;
        let mut thread = None;
        if !matches!(self.token().kind, Kind::Number(_)) {
            let owned = self.name("a procedure")?;
            thread = Some(std::mem::replace(&mut procedure, owned));
        }
        let span = self.token().span;
        let node = self.number()?;
        self.label_places.push(LabelAt { name, thread, procedure, node, span });
        Ok(())
    }

    /// When a thread starts.
    pub(super) fn start(&mut self) -> Read<Start> {
        if self.word() != Some("waits") {
            return Ok(Start::AtFirst);
        }
        self.at += 1;
        if self.word() != Some("after") {
            return Ok(Start::ByEdge { after: None });
        }
        self.at += 1;
        let name = self.name("a thread")?;
        let after = self.thread_number(&name)?;
        Ok(Start::ByEdge { after: Some(after) })
    }

    fn thread_number(&mut self, name: &Reference) -> Read<ThreadId> {
        let table = std::mem::take(&mut self.threads);
        let found = self.resolve(&table, name, "unknown-thread", "thread");
        self.threads = table;
        found.map(Id::from_index)
    }

    /// Parameters, results, further locals and what is enforced. The locals are known from here on.
    pub(super) fn frame(&mut self) -> Read<Frame> {
        self.locals = Table::default();
        let mut frame = Frame::default();
        if self.is_sign('(') {
            self.at += 1;
            self.local_names(&mut frame)?;
            self.sign(')')?;
        }
        frame.parameters = frame.locals.len();
        if self.token().kind == Kind::Arrow {
            self.at += 1;
            let results = self.number()?;
            if results > MOST_RESULTS {
                self.at -= 1;
                return self.unexpected("a procedure cannot have so many results");
            }
            frame.results = results as usize;
        }
        if self.word() == Some("locals") {
            self.at += 1;
            self.local_names(&mut frame)?;
        }
        if self.word() == Some("enforce") {
            self.at += 1;
            frame.enforced = Some(self.condition()?);
        }
        Ok(frame)
    }

    fn local_names(&mut self, frame: &mut Frame) -> Read<()> {
        loop {
            let name = self.name("a local")?;
            let place = self.optional_place()?;
            declare(&mut self.locals, &name, "local", &mut self.complaints)?;
            frame.locals.push(Local { name: name.name, place });
            if !self.is_sign(',') {
                return Ok(());
            }
            self.at += 1;
        }
    }

    pub(super) fn condition(&mut self) -> Read<ConditionId> {
        let condition = self.expression()?;
        Ok(self.program.conditions.push(condition))
    }

    /// The values of a return; none if no expression follows.
    pub(super) fn returned(&mut self) -> Read<ReturnId> {
        let mut values = Vec::new();
        let follows = match self.token().kind {
            Kind::Word => !matches!(self.word(), Some("when" | "do" | "constrain")),
            Kind::Quoted(_) | Kind::Sign('!' | '(' | '*' | '\'' | '.') => true,
            _ => false,
        };
        if follows {
            loop {
                values.push(self.expression()?);
                if !self.is_sign(',') {
                    break;
                }
                self.at += 1;
            }
        }
        Ok(self.program.returns.push(values))
    }

    /// What a call or a start passes, if anything is said about it.
    pub(super) fn passing(&mut self) -> Read<Option<PassingId>> {
        if !self.is_sign('(') {
            return Ok(None);
        }
        self.at += 1;
        let mut passing = Passing::default();
        while !self.is_sign(')') {
            if !passing.arguments.is_empty() {
                self.sign(',')?;
            }
            passing.arguments.push(self.expression()?);
        }
        self.at += 1;
        if self.word() == Some("into") {
            self.at += 1;
            loop {
                if self.word() == Some("_") {
                    self.at += 1;
                    passing.results.push(None);
                } else {
                    passing.results.push(Some(self.variable()?));
                }
                if !self.is_sign(',') {
                    break;
                }
                self.at += 1;
            }
        }
        Ok(Some(self.program.passings.push(passing)))
    }

    /// What an edge computes.
    pub(super) fn update(&mut self) -> Read<Option<UpdateId>> {
        let mut update = Update::default();
        if self.word() == Some("when") {
            self.at += 1;
            update.guard = Some(self.expression()?);
        }
        if self.word() == Some("do") {
            self.at += 1;
            self.assignments(&mut update)?;
        }
        if self.word() == Some("constrain") {
            self.at += 1;
            update.constraint = Some(self.constraint()?);
        }
        Ok((update != Update::default()).then(|| self.program.updates.push(update)))
    }

    fn assignments(&mut self, update: &mut Update) -> Read<()> {
        let mut targets: Vec<Variable> = Vec::new();
        loop {
            targets.push(self.variable()?);
            if !self.is_sign(',') {
                break;
            }
            self.at += 1;
        }
        if self.token().kind != Kind::Becomes {
            return self.unexpected("expected `,` or `:=`");
        }
        self.at += 1;
        for (at, target) in targets.into_iter().enumerate() {
            if at > 0 && !self.is_sign(',') {
                return self.unexpected("expected `,` and one more value: every target gets one");
            }
            self.at += usize::from(at > 0);
            update.assignments.push((target, self.expression()?));
        }
        Ok(())
    }

    /// Fills in what names threads that may come later in the text: starts, joins and labels.
    pub(super) fn late_names(&mut self) {
        for (edge, action, name) in std::mem::take(&mut self.starts) {
            if let Ok(thread) = self.thread_number(&name) {
                self.program.edges[edge].action = action(thread);
            }
        }
        for label in std::mem::take(&mut self.label_places) {
            if let Ok(node) = self.label_node(&label) {
                self.program.labels.push(Label { name: label.name, node });
            }
        }
    }

    fn label_node(&mut self, label: &LabelAt) -> Read<NodeId> {
        let thread = label.thread.as_ref().map(|name| self.thread_number(name)).transpose()?;
        let (table, what) = match thread {
            Some(id) => (std::mem::take(&mut self.procedures[id]), "procedure of this thread"),
            None => (std::mem::take(&mut self.shared), "shared procedure"),
        };
        let found = self.resolve(&table.names, &label.procedure, "unknown-procedure", what);
        let place = found.map(|own| table.nodes[own]);
        match thread {
            Some(id) => self.procedures[id] = table,
            None => self.shared = table,
        }
        let (_, first, nodes) = place?;
        if label.node >= nodes {
            let message = format!("the nodes of this procedure are below {nodes}");
            self.unexpected_at(label.span, &message, None)?;
        }
        Ok(NodeId::from_index(first + label.node as usize))
    }
}
