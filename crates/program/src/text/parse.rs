//! # Idea
//! Reads the text form. Declarations stand one per line, so after a mistake reading goes on at the
//! next line.
//!
//! # Invariants
//! 1. A program is returned iff no error is, and it satisfies the invariants of [`crate::model`].
//! 2. Only expressions are read by recursion, and not deeply. Memory is bounded by a multiple of the
//!    length of the text.

mod data;
mod expression;
mod files;

use super::lexer::{Kind, Token, tokens};
use crate::copies::{MOST_COPIES, copy_name};
use crate::data::NamedArray;
use crate::model::{
    Action, AtomicSet, AtomicSetId, Channel, ChannelId, Copies, Edge, EdgeId, GlobalId, Location,
    LocationId, Lock, LockId, NodeId, Procedure, ProcedureId, Program, Thread, ThreadId,
};
use crate::validate::validate;
use data::LabelAt;
use selvedge_base::{Diagnostic, Id, IdVec, Place, Severity, Span};
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::nearest::nearest;
use std::collections::{BTreeSet, HashMap};

/// Reads a program; `None` iff there is an error among the diagnostics.
pub fn parse(text: &str) -> (Option<Program>, Vec<Diagnostic>) {
    let mut complaints = Complaints::new();
    if u32::try_from(text.len()).is_err() {
        let message = "the text is too large: at most 4 GiB can be read";
        complaints.push(Diagnostic::global("file-too-large", Severity::Error, message));
        return (None, complaints.finish());
    }
    let tokens = tokens(text, &mut complaints);
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
        channels: Table::default(),
        sets: Table::default(),
        locations: Table::default(),
        globals: Table::default(),
        global_arrays: Table::default(),
        enums: Table::default(),
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
        complaints,
    };
    parser.file();
    parser.procedure_names();
    parser.late_names();
    parser.late_thread_values();
    let Parser { program, mut complaints, .. } = parser;
    if !complaints.has_errors() {
        for breach in validate(&program) {
            let message = breach.to_string();
            complaints.push(Diagnostic::global("invalid-program", Severity::Error, message));
        }
    }
    let program = (!complaints.has_errors()).then_some(program);
    (program, complaints.finish())
}

/// Names of one kind with their numbers and where they were declared.
#[derive(Default)]
struct Table {
    numbers: HashMap<String, usize>,
    declared: Vec<(String, Span)>,
}

/// A name that is used before what it names must be known.
struct Reference {
    name: String,
    span: Span,
}

/// The name of a procedure, as code of a thread or of a shared procedure writes it.
struct ProcedureName {
    name: Reference,
    /// Whether a dot says that a shared one is meant.
    shared: bool,
}

/// What a call, a start or a join names.
enum Named {
    Procedure(ProcedureName),
    Thread(Reference),
    Joined(Reference),
}

/// How many copies a thread is said to have.
#[derive(Clone, Copy)]
enum CopiesRead {
    One,
    Number(u32),
    Any,
}

/// What a procedure is declared in.
enum Owner {
    /// Nothing: it is shared.
    Nobody,
    /// A thread.
    Thread(ThreadId),
    /// A thread with several copies, of which this is the first; they share it.
    Copies(ThreadId, String),
}

impl Owner {
    /// The thread that alone runs the procedure.
    fn thread(&self) -> Option<ThreadId> {
        match self {
            Self::Thread(thread) => Some(*thread),
            Self::Nobody | Self::Copies(..) => None,
        }
    }

    /// The thread whose procedures its code can name beside the shared ones.
    fn scope(&self) -> Option<ThreadId> {
        match self {
            Self::Thread(thread) | Self::Copies(thread, _) => Some(*thread),
            Self::Nobody => None,
        }
    }
}

/// Where the name of a procedure stands that is looked up when all are known.
enum Mention {
    Main(ThreadId),
    Call(EdgeId),
}

/// The procedures of a thread, or the shared ones: their names, and for each its number, its first
/// node and how many it has.
#[derive(Default)]
struct Procedures {
    names: Table,
    nodes: Vec<(ProcedureId, usize, u32)>,
    /// Whether one of them could not be read.
    incomplete: bool,
}

/// A mistake that was reported: reading goes on at the next line.
struct Mistake;
type Read<T> = Result<T, Mistake>;

/// The words that begin a declaration.
const ITEMS: [&str; 13] = [
    "file",
    "lock",
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
    channels: Table,
    sets: Table,
    locations: Table,
    globals: Table,
    global_arrays: Table,
    enums: Table,
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
                    let help = self.word().and_then(|word| nearest(word, ITEMS));
                    let help = help.map(|word| format!("did you mean `{word}`?"));
                    self.unexpected_with_help("expected a declaration", help)
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
        let reentrant = self.word() != Some("mutex");
        self.at += usize::from(!reentrant);
        let place = self.optional_place()?;
        declare(&mut self.locks, &name, "lock", &mut self.complaints)?;
        self.program.locks.push(Lock { name: name.name, place, reentrant });
        Ok(())
    }

    fn channel(&mut self) -> Read<()> {
        self.at += 1;
        let name = self.name("a channel")?;
        let place = self.optional_place()?;
        declare(&mut self.channels, &name, "channel", &mut self.complaints)?;
        self.program.channels.push(Channel { name: name.name, place });
        Ok(())
    }

    fn set(&mut self) -> Read<()> {
        self.at += 1;
        let name = self.name("an atomic set")?;
        let set = if let Some(&at) = self.sets.numbers.get(&name.name) {
            AtomicSetId::from_index(at)
        } else {
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

    fn thread(&mut self) -> Read<()> {
        self.at += 1;
        let name = self.name("a thread")?;
        let place = self.optional_place()?;
        let copies = self.copies()?;
        let start = self.start()?;
        self.keyword("main")?;
        let main = self.procedure_name("the main procedure")?;
        // A thread all of whose procedures are shared needs no braces.
        let has_body = !self.is_at_end() && !self.is_at_item();
        if has_body {
            self.sign('{')?;
        }
        let names = match copies {
            CopiesRead::Number(copies) => (0..copies).map(|at| copy_name(&name.name, at)).collect(),
            CopiesRead::One | CopiesRead::Any => vec![name.name.clone()],
        };
        let thread = ThreadId::from_index(self.program.threads.len());
        let owner = match copies {
            CopiesRead::Number(_) => Owner::Copies(thread, name.name.clone()),
            CopiesRead::One | CopiesRead::Any => Owner::Thread(thread),
        };
        for one in names {
            // A thread that is declared twice is read all the same, for the mistakes inside.
            let one = Reference { name: one, span: name.span };
            let _ = declare(&mut self.threads, &one, "thread", &mut self.complaints);
            let any = matches!(copies, CopiesRead::Any);
            let copy = self.program.threads.push(Thread {
                name: one.name,
                place,
                main: self.program.procedures.next_id(),
                start,
                copies: if any { Copies::Any } else { Copies::One },
            });
            self.procedures.push(Procedures::default());
            let main = ProcedureName {
                name: Reference { name: main.name.name.clone(), span: main.name.span },
                shared: main.shared,
            };
            self.mentions.push((Mention::Main(copy), Some(thread), main));
        }
        if !has_body {
            return Ok(());
        }
        let mut own = Procedures::default();
        while !self.is_sign('}') {
            let start = self.at;
            let procedure = match self.word() {
                Some("procedure") => self.procedure(&owner, &mut own),
                _ if self.is_at_end() => {
                    self.procedures[thread] = Procedures { incomplete: true, ..own };
                    return self.unexpected("expected `procedure` or `}`");
                }
                _ => self.unexpected("expected `procedure` or `}`"),
            };
            if procedure.is_err() {
                own.incomplete = true;
                self.skip_line(start);
                // What is left of a procedure that could not be read: its edges and its brace.
                while matches!(self.token().kind, Kind::Number(_)) {
                    self.skip_line(self.at);
                }
                let closes_procedure = self.is_sign('}')
                    && (self.word_at(1) == Some("procedure") || self.is_sign_at(1, '}'));
                self.at += usize::from(closes_procedure);
            }
            if self.complaints.is_full() {
                return Err(Mistake);
            }
        }
        self.at += 1;
        self.procedures[thread] = own;
        Ok(())
    }

    fn shared_procedure(&mut self) -> Read<()> {
        let mut shared = std::mem::take(&mut self.shared);
        let read = self.procedure(&Owner::Nobody, &mut shared);
        shared.incomplete |= read.is_err();
        self.shared = shared;
        read
    }

    /// Fills in what names procedures: the mains of threads, and calls.
    fn procedure_names(&mut self) {
        let procedures = std::mem::take(&mut self.procedures);
        let shared = std::mem::take(&mut self.shared);
        for (mention, thread, ProcedureName { name, shared: dotted }) in
            std::mem::take(&mut self.mentions)
        {
            let own = thread.filter(|_| !dotted).map(|thread| &procedures[thread]);
            let scopes = [own, Some(&shared)];
            let found = scopes.into_iter().flatten().find_map(|scope| {
                let &at = scope.names.numbers.get(&name.name)?;
                Some(scope.nodes[at].0)
            });
            if let Some(found) = found {
                match mention {
                    Mention::Main(thread) => self.program.threads[thread].main = found,
                    Mention::Call(edge) => self.program.edges[edge].action = Action::Call(found),
                }
            } else if !scopes.into_iter().flatten().any(|scope| scope.incomplete) {
                let what =
                    if own.is_some() { "procedure of this thread" } else { "shared procedure" };
                let names = scopes.into_iter().flatten().flat_map(|scope| &scope.names.declared);
                let names = names.map(|(name, _)| name.as_str());
                self.complaints.push(unknown(&name, "unknown-procedure", what, names));
            }
        }
        (self.procedures, self.shared) = (procedures, shared);
    }

    fn procedure_name(&mut self, what: &str) -> Read<ProcedureName> {
        let shared = self.is_sign('.');
        self.at += usize::from(shared);
        Ok(ProcedureName { name: self.name(what)?, shared })
    }

    fn procedure(&mut self, owner: &Owner, own: &mut Procedures) -> Read<()> {
        self.at += 1;
        let mut name = self.name("a procedure")?;
        let place = self.optional_place()?;
        let frame = self.frame()?;
        let mut end = Place::NONE;
        if self.word() == Some("end") {
            self.at += 1;
            end = self.optional_place()?;
        }
        self.keyword("nodes")?;
        let nodes = self.number()?;
        if nodes as usize > self.nodes_left {
            self.at -= 1;
            return self.unexpected("a program cannot have so many nodes");
        }
        self.nodes_left -= nodes as usize;
        let first = self.program.nodes.len();
        self.keyword("entry")?;
        let entry = self.node(first, nodes)?;
        self.keyword("exit")?;
        let exit = self.node(first, nodes)?;
        self.sign('{')?;
        let _ = declare(&mut own.names, &name, "procedure", &mut self.complaints);
        let id = self.program.procedures.next_id();
        own.nodes.push((id, first, nodes));
        if let Owner::Copies(_, process) = owner {
            // The copies share it, under a name that no other thread's procedure has.
            let qualified = format!("{process}.{}", name.name);
            let qualified = Reference { name: qualified, span: name.span };
            let _ = declare(&mut self.shared.names, &qualified, "procedure", &mut self.complaints);
            self.shared.nodes.push((id, first, nodes));
            name = qualified;
        }
        self.program.procedures.push(Procedure {
            name: name.name,
            owner: owner.thread(),
            place,
            end,
            entry,
            exit,
            frame,
        });
        for _ in 0..nodes {
            self.program.nodes.push(id);
        }
        while !self.is_sign('}') {
            if !matches!(self.token().kind, Kind::Number(_)) {
                return self.unexpected("expected an edge or `}`");
            }
            let start = self.at;
            if self.edge(owner.scope(), first, nodes, exit).is_err() {
                self.skip_line(start);
            }
            if self.complaints.is_full() {
                return Err(Mistake);
            }
        }
        self.at += 1;
        Ok(())
    }

    fn edge(
        &mut self,
        owner: Option<ThreadId>,
        first: usize,
        nodes: u32,
        exit: NodeId,
    ) -> Read<()> {
        let at = self.at;
        let source = self.node(first, nodes)?;
        if source == exit {
            self.at = at;
            return self.unexpected("no edge leaves the exit of a procedure");
        }
        if self.token().kind != Kind::Arrow {
            return self.unexpected("expected `->`");
        }
        self.at += 1;
        let target = self.node(first, nodes)?;
        let accesses = matches!(self.word(), Some("read" | "write"));
        let volatile = accesses
            && self.word_at(1) == Some("volatile")
            && matches!(self.tokens[self.at + 2].kind, Kind::Word | Kind::Quoted(_));
        // The word stands between the action and the location.
        let (action, named) = if volatile { self.volatile_access()? } else { self.action()? };
        let passing = match named {
            Some(Named::Procedure(_) | Named::Thread(_)) => self.passing()?,
            Some(Named::Joined(_)) | None => None,
        };
        let update = self.update()?;
        let place = self.optional_place()?;
        let edge = self.program.edges.push(Edge {
            source,
            target,
            action,
            update,
            passing,
            volatile,
            place,
        });
        match named {
            None => {}
            Some(Named::Procedure(callee)) => {
                self.mentions.push((Mention::Call(edge), owner, callee));
            }
            Some(Named::Thread(thread)) => self.starts.push((edge, Action::Start, thread)),
            Some(Named::Joined(thread)) => self.starts.push((edge, Action::Join, thread)),
        }
        Ok(())
    }

    /// `read volatile x` or `write volatile x`.
    fn volatile_access(&mut self) -> Read<(Action, Option<Named>)> {
        let reads = self.word() == Some("read");
        self.at += 2;
        let location = self.reference_to_location()?;
        Ok((if reads { Action::Read(location) } else { Action::Write(location) }, None))
    }

    /// `copies 3` or `copies *`.
    fn copies(&mut self) -> Read<CopiesRead> {
        if self.word() != Some("copies") {
            return Ok(CopiesRead::One);
        }
        self.at += 1;
        if self.is_sign('*') {
            self.at += 1;
            return Ok(CopiesRead::Any);
        }
        let number = self.number()?;
        if number == 0 || number > MOST_COPIES {
            self.at -= 1;
            let message = format!("a thread has at least one copy and at most {MOST_COPIES}");
            return self.unexpected(&message);
        }
        Ok(CopiesRead::Number(number))
    }

    /// An action; a call, a start or a join is a `skip` until what it names is known.
    fn action(&mut self) -> Read<(Action, Option<Named>)> {
        const ACTIONS: [&str; 20] = [
            "skip",
            "read",
            "write",
            "acquire",
            "release",
            "wait",
            "resume",
            "notify",
            "notifyAll",
            "send",
            "post",
            "broadcast",
            "recv",
            "begin",
            "end",
            "call",
            "start",
            "join",
            "assert",
            "return",
        ];
        let Some(at) = self.word().and_then(|word| ACTIONS.iter().position(|one| *one == word))
        else {
            let help = self.word().and_then(|word| nearest(word, ACTIONS));
            let help = help.map(|word| format!("did you mean `{word}`?"));
            return self.unexpected_with_help("expected an action", help);
        };
        self.at += 1;
        let action = match ACTIONS[at] {
            "read" => Action::Read(self.reference_to_location()?),
            "write" => Action::Write(self.reference_to_location()?),
            "acquire" => Action::Acquire(self.reference_to_lock()?),
            "release" => Action::Release(self.reference_to_lock()?),
            "wait" => Action::Wait(self.reference_to_lock()?),
            "resume" => Action::Resume(self.reference_to_lock()?),
            "notify" => Action::Notify(self.reference_to_lock()?),
            "notifyAll" => Action::NotifyAll(self.reference_to_lock()?),
            "send" => Action::Send(self.reference_to_channel()?),
            "post" => Action::Post(self.reference_to_channel()?),
            "broadcast" => Action::Broadcast(self.reference_to_channel()?),
            "recv" => Action::Recv(self.reference_to_channel()?),
            "begin" if self.is_atomic() => Action::BeginAtomic,
            "end" if self.is_atomic() => Action::EndAtomic,
            "begin" => Action::BeginUnit,
            "end" => Action::EndUnit,
            "assert" => Action::Assert(self.condition()?),
            "return" => Action::Return(self.returned()?),
            "call" => {
                let callee = self.procedure_name("a procedure")?;
                return Ok((Action::Skip, Some(Named::Procedure(callee))));
            }
            "start" => {
                let thread = self.name("a thread")?;
                return Ok((Action::Skip, Some(Named::Thread(thread))));
            }
            "join" => {
                let thread = self.name("a thread")?;
                return Ok((Action::Skip, Some(Named::Joined(thread))));
            }
            _ => Action::Skip,
        };
        Ok((action, None))
    }

    /// Reads the word `atomic` if it comes next.
    fn is_atomic(&mut self) -> bool {
        let is_atomic = self.word() == Some("atomic");
        self.at += usize::from(is_atomic);
        is_atomic
    }

    fn reference_to_location(&mut self) -> Read<LocationId> {
        let name = self.name("a location")?;
        let table = std::mem::take(&mut self.locations);
        let found = self.resolve(&table, &name, "unknown-location", "location");
        self.locations = table;
        found.map(Id::from_index)
    }

    fn reference_to_lock(&mut self) -> Read<LockId> {
        let name = self.name("a lock")?;
        let table = std::mem::take(&mut self.locks);
        let found = self.resolve(&table, &name, "unknown-lock", "lock");
        self.locks = table;
        found.map(Id::from_index)
    }

    fn reference_to_channel(&mut self) -> Read<ChannelId> {
        let name = self.name("a channel")?;
        let table = std::mem::take(&mut self.channels);
        let found = self.resolve(&table, &name, "unknown-channel", "channel");
        self.channels = table;
        found.map(Id::from_index)
    }

    fn resolve(
        &mut self,
        table: &Table,
        name: &Reference,
        code: &'static str,
        what: &str,
    ) -> Read<usize> {
        if let Some(&at) = table.numbers.get(&name.name) {
            return Ok(at);
        }
        let names = table.declared.iter().map(|(name, _)| name.as_str());
        self.complaints.push(unknown(name, code, what, names));
        Err(Mistake)
    }

    fn token(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn is_at_end(&self) -> bool {
        self.token().kind == Kind::End
    }

    fn word(&self) -> Option<&str> {
        self.word_at(0)
    }

    fn word_at(&self, ahead: usize) -> Option<&str> {
        let token = self.tokens.get(self.at + ahead)?;
        (token.kind == Kind::Word).then(|| &self.text[token.span.range()])
    }

    fn is_sign(&self, sign: char) -> bool {
        self.is_sign_at(0, sign)
    }

    fn is_sign_at(&self, ahead: usize, sign: char) -> bool {
        self.tokens.get(self.at + ahead).is_some_and(|token| token.kind == Kind::Sign(sign))
    }

    fn keyword(&mut self, word: &str) -> Read<()> {
        if self.word() == Some(word) {
            self.at += 1;
            return Ok(());
        }
        self.unexpected(&format!("expected `{word}`"))
    }

    fn sign(&mut self, sign: char) -> Read<()> {
        if self.is_sign(sign) {
            self.at += 1;
            return Ok(());
        }
        self.unexpected(&format!("expected `{sign}`"))
    }

    fn number(&mut self) -> Read<u32> {
        match self.token().kind {
            Kind::Number(Some(value)) => {
                self.at += 1;
                Ok(value)
            }
            // Reported when the tokens were read.
            Kind::Number(None) => Err(Mistake),
            _ => self.unexpected("expected a number"),
        }
    }

    /// A node of the procedure that has `nodes` of them from `first` on.
    fn node(&mut self, first: usize, nodes: u32) -> Read<NodeId> {
        let node = self.number()?;
        if node >= nodes {
            self.at -= 1;
            return self.unexpected(&format!("the nodes of this procedure are below {nodes}"));
        }
        Ok(NodeId::from_index(first + node as usize))
    }

    fn name(&mut self, what: &str) -> Read<Reference> {
        let token = self.token();
        let span = token.span;
        let name = match &token.kind {
            Kind::Word => self.text[span.range()].to_owned(),
            Kind::Quoted(name) => name.clone(),
            _ => return self.unexpected(&format!("expected the name of {what}")),
        };
        self.at += 1;
        Ok(Reference { name, span })
    }

    /// Goes to the first line that starts behind the token `start`, from where the mistake is.
    fn skip_line(&mut self, start: usize) {
        self.at = self.at.max(start + 1).min(self.tokens.len() - 1);
        while !self.token().first_on_line {
            self.at += 1;
        }
    }

    fn unexpected<T>(&mut self, message: &str) -> Read<T> {
        self.unexpected_with_help(message, None)
    }

    fn unexpected_with_help<T>(&mut self, message: &str, help: Option<String>) -> Read<T> {
        self.unexpected_at(self.token().span, message, help)
    }

    fn unexpected_at<T>(&mut self, span: Span, message: &str, help: Option<String>) -> Read<T> {
        let is_end = self.tokens.last().is_some_and(|end| end.span == span);
        let remark = if is_end { "the text ends here" } else { "here" };
        let mut diagnostic = Diagnostic::error("unexpected-text", message, span, remark);
        diagnostic.help = help;
        self.complaints.push(diagnostic);
        Err(Mistake)
    }
}

fn declare(
    table: &mut Table,
    name: &Reference,
    what: &str,
    complaints: &mut Complaints,
) -> Read<()> {
    let first = table.numbers.get(&name.name).copied();
    // Procedures are numbered with their duplicates, so the number is taken in any case.
    let at = table.declared.len();
    table.declared.push((name.name.clone(), name.span));
    if let Some(first) = first {
        let message = format!("the {what} {:?} is declared twice", shorten(&name.name));
        complaints.push(
            Diagnostic::error("duplicate-name", message, name.span, "declared again here")
                .with_label(table.declared[first].1, "first declared here"),
        );
        return Err(Mistake);
    }
    table.numbers.insert(name.name.clone(), at);
    Ok(())
}

/// A complaint about a name that is not declared, with the one that was probably meant.
fn unknown<'n>(
    name: &Reference,
    code: &'static str,
    what: &str,
    declared: impl Iterator<Item = &'n str>,
) -> Diagnostic {
    let message = format!("there is no {what} {:?}", shorten(&name.name));
    let diagnostic = Diagnostic::error(code, message, name.span, "not declared");
    match nearest(&name.name, declared) {
        Some(meant) => diagnostic.with_help(format!("did you mean {meant:?}?")),
        None => diagnostic,
    }
}

/// A name short enough for a message.
fn shorten(name: &str) -> String {
    name.chars().take(40).collect()
}
