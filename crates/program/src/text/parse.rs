//! # Idea
//! Reads the text form. Declarations stand one per line, so after a mistake reading goes on at the
//! next line.
//!
//! # Invariants
//! 1. A program is returned iff no error is, and it satisfies the invariants of [`crate::model`].
//! 2. Only expressions are read by recursion, and not deeply. Memory is bounded by a multiple of the
//!    length of the text.

mod code;
mod data;
mod expression;
mod files;
mod noted;
mod words;

use super::lexer::{Kind, Token, tokens};
use crate::data::NamedArray;
use crate::model::{
    Action, AtomicSet, AtomicSetId, Channel, EdgeId, GlobalId, Location, Lock, Program, ThreadId,
    WaitSet,
};
use crate::validate::validate;
use code::{Mention, ProcedureName, Procedures};
use data::LabelAt;
use noted::Noted;
use selvedge_base::{Diagnostic, Id, IdVec, Severity, Span};
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::nearest::nearest;
use selvedge_syntax::symbols::{NameIndex, NameKind};
use std::collections::BTreeSet;
use words::{Mistake, Read, Reference, Table, declare, unknown};

/// Reads a program; `None` iff there is an error among the diagnostics.
pub fn parse(text: &str) -> (Option<Program>, Vec<Diagnostic>) {
    let Parser { program, mut complaints, .. } = read(text, Noted::default());
    if !complaints.has_errors() {
        for breach in validate(&program) {
            let message = breach.to_string();
            complaints.push(Diagnostic::global("invalid-program", Severity::Error, message));
        }
    }
    let program = (!complaints.has_errors()).then_some(program);
    (program, complaints.finish())
}

/// What a text declares, and where the names stand.
pub(super) fn noted_names(text: &str) -> NameIndex {
    read(text, Noted::wanted()).noted.index()
}

/// The bytes of the edges, in their order.
pub(super) fn noted_edges(text: &str) -> Vec<Span> {
    read(text, Noted::wanted()).noted.edges
}

/// Reads a text as far as it can be read.
fn read(text: &str, noted: Noted) -> Parser<'_> {
    let mut complaints = Complaints::new();
    let is_short = u32::try_from(text.len()).is_ok();
    if !is_short {
        let message = "the text is too large: at most 4 GiB can be read";
        complaints.push(Diagnostic::global("file-too-large", Severity::Error, message));
    }
    let tokens = tokens(if is_short { text } else { "" }, &mut complaints);
    let mut parser = Parser {
        text,
        tokens,
        at: 0,
        // An honest text mentions nearly every node; a hostile one names a number.
        nodes_left: 1_000_000 + text.len(),
        program: Program::default(),
        files: Table::default(),
        missing_files: BTreeSet::new(),
        every_file_is_known: true,
        locks: Table::default(),
        wait_sets: Table::default(),
        channels: Table::default(),
        sets: Table::default(),
        locations: Table::default(),
        globals: Table::default(),
        global_arrays: Table::default(),
        enums: Table::default(),
        enumerators: Vec::new(),
        threads: Table::default(),
        procedures: IdVec::new(),
        shared: Procedures::default(),
        mentions: Vec::new(),
        locals: Table::default(),
        local_arrays: Vec::new(),
        starts: Vec::new(),
        label_places: Vec::new(),
        late_threads: Vec::new(),
        owners: Vec::new(),
        allows_next: false,
        noted,
        complaints,
    };
    if is_short {
        parser.file();
        parser.procedure_names();
        parser.late_names();
        parser.late_thread_values();
    }
    parser
}

/// The words that begin a declaration.
const ITEMS: [&str; 14] = [
    "file",
    "lock",
    "condition",
    "channel",
    "set",
    "enum",
    "global",
    "numeral",
    "exclusive",
    "invariant",
    "spurious",
    "thread",
    "procedure",
    "label",
];

/// The first of the ids that stand for threads which may be declared later.
const LATE_THREADS: usize = 1 << 30;

/// What an edge does with a thread that may be declared later.
type ThreadAction = fn(ThreadId) -> Action;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    nodes_left: usize,
    program: Program,
    files: Table,
    /// Numbers of files that were named and not declared.
    missing_files: BTreeSet<u32>,
    /// Whether every declaration of a file could be read.
    every_file_is_known: bool,
    locks: Table,
    wait_sets: Table,
    channels: Table,
    sets: Table,
    locations: Table,
    globals: Table,
    global_arrays: Table,
    enums: Table,
    /// Where the enumerators of each enumeration are declared.
    enumerators: Vec<Vec<Span>>,
    threads: Table,
    procedures: IdVec<ThreadId, Procedures>,
    shared: Procedures,
    /// The names of procedures, each with the thread that its code belongs to.
    mentions: Vec<(Mention, Option<ThreadId>, ProcedureName)>,
    /// The locals of the procedure that is being read, and its arrays.
    locals: Table,
    local_arrays: Vec<NamedArray>,
    /// The edges that start or join threads, which may be declared later.
    starts: Vec<(EdgeId, ThreadAction, Reference)>,
    label_places: Vec<LabelAt>,
    /// The threads that expressions and initial values name, which may be declared later.
    late_threads: Vec<Reference>,
    /// Globals, from the first to the one behind the last, with the thread that owns them.
    owners: Vec<(GlobalId, usize, Reference)>,
    /// Whether the expression that is being read may speak of values after the step.
    allows_next: bool,
    /// Where names stand, if somebody asks.
    noted: Noted,
    complaints: Complaints,
}

impl Parser<'_> {
    fn file(&mut self) {
        if self.word() == Some("program") {
            self.at += 1;
        } else {
            let _: Read<()> = self.unexpected("a program starts with the word `program`");
            if !self.is_at_item() {
                return;
            }
        }
        while !self.is_at_end() && !self.complaints.is_full() {
            let start = self.at;
            let item = match self.word() {
                Some("file") => self.source_file(),
                Some("lock") => self.lock(),
                Some("condition") => self.wait_set(),
                Some("channel") => self.channel(),
                Some("set") => self.set(),
                Some("global") => self.global(),
                Some("enum") => self.enumeration(),
                Some("numeral") => self.numeral(),
                Some("exclusive") => self.exclusive(),
                Some("invariant") => self.invariant(),
                Some("spurious") => self.spurious(),
                Some("thread") => self.thread(),
                Some("procedure") => self.shared_procedure(),
                Some("label") => self.label(),
                _ => {
                    let meant = self.word().and_then(|word| nearest(word, ITEMS));
                    self.unexpected_word("expected a declaration", meant)
                }
            };
            if item.is_err() {
                // What belongs to a declaration that could not be read is skipped with it.
                self.skip_line(start);
                while !self.is_at_end() && (!self.is_at_item() || self.word() == Some("procedure"))
                {
                    self.shared.incomplete |= self.word() == Some("procedure");
                    self.skip_line(self.at);
                }
            }
        }
    }

    fn is_at_item(&self) -> bool {
        self.word().is_some_and(|word| ITEMS.contains(&word))
    }

    fn lock(&mut self) -> Read<()> {
        self.at += 1;
        let name = self.name("a lock")?;
        self.noted.declare(NameKind::Lock, &name);
        let reentrant = self.word() != Some("mutex");
        self.at += usize::from(!reentrant);
        let place = self.optional_place()?;
        declare(&mut self.locks, &name, "lock", &mut self.complaints)?;
        self.program.locks.push(Lock { name: name.name, place, reentrant });
        Ok(())
    }

    fn wait_set(&mut self) -> Read<()> {
        self.at += 1;
        let name = self.name("a condition")?;
        self.noted.declare(NameKind::Condition, &name);
        self.keyword("of")?;
        let lock = self.reference_to_lock()?;
        let place = self.optional_place()?;
        let of_name = self.locks.numbers.get(&name.name).copied();
        if let Some(other) = of_name.filter(|&other| other != lock.index()) {
            let message = "a condition with the name of a lock is one of this lock";
            let remark = "the name of another lock";
            let diagnostic = Diagnostic::error("duplicate-name", message, name.span, remark);
            let first = self.locks.declared[other].1;
            self.complaints.push(diagnostic.with_label(first, "declared here"));
            return Err(Mistake);
        }
        declare(&mut self.wait_sets, &name, "condition", &mut self.complaints)?;
        self.program.wait_sets.push(WaitSet { name: name.name, lock, place });
        Ok(())
    }

    fn channel(&mut self) -> Read<()> {
        self.at += 1;
        let name = self.name("a channel")?;
        self.noted.declare(NameKind::Channel, &name);
        let place = self.optional_place()?;
        declare(&mut self.channels, &name, "channel", &mut self.complaints)?;
        self.program.channels.push(Channel { name: name.name, place });
        Ok(())
    }

    fn set(&mut self) -> Read<()> {
        self.at += 1;
        let name = self.name("an atomic set")?;
        let set = if let Some(&at) = self.sets.numbers.get(&name.name) {
            self.noted.mention_in(name.span, &self.sets, at);
            AtomicSetId::from_index(at)
        } else {
            self.noted.declare(NameKind::AtomicSet, &name);
            declare(&mut self.sets, &name, "atomic set", &mut self.complaints)?;
            self.program.atomic_sets.push(AtomicSet { name: name.name })
        };
        self.sign('{')?;
        let mut separated = true;
        while !self.is_sign('}') {
            if !separated {
                return self.unexpected("expected `,` or `}`");
            }
            let name = self.name("a location")?;
            self.noted.declare(NameKind::Location, &name);
            let place = self.optional_place()?;
            if declare(&mut self.locations, &name, "location", &mut self.complaints).is_ok() {
                let location = Location { name: name.name, place, atomic_set: set };
                self.program.locations.push(location);
            }
            separated = self.is_sign(',');
            self.at += usize::from(separated);
        }
        self.at += 1;
        Ok(())
    }
}
