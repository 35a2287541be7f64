//! # Idea
//! Threads and procedures: their edges and the actions of these. Procedures and threads may be used
//! before they are declared; what names one is kept until all are known.

use super::super::lexer::Kind;
use super::Parser;
use super::words::{Mistake, Read, Reference, Table, declare, unknown};
use crate::copies::{MOST_COPIES, copy_name};
use crate::model::{
    Action, Copies, Edge, EdgeId, NodeId, Procedure, ProcedureId, Thread, ThreadId,
};
use selvedge_base::{Id, Place};
use selvedge_syntax::nearest::nearest;
use selvedge_syntax::symbols::NameKind;

/// The name of a procedure, as code of a thread or of a shared procedure writes it.
pub(super) struct ProcedureName {
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
pub(super) enum Mention {
    Main(ThreadId),
    Call(EdgeId),
}

/// The procedures of a thread, or the shared ones: their names, and for each its number, its first
/// node and how many it has.
#[derive(Default)]
pub(super) struct Procedures {
    pub(super) names: Table,
    pub(super) nodes: Vec<(ProcedureId, usize, u32)>,
    /// Whether one of them could not be read.
    pub(super) incomplete: bool,
}

impl Parser<'_> {
    pub(super) fn thread(&mut self) -> Read<()> {
        self.at += 1;
        let item = self.tokens[self.at - 1].span;
        let name = self.name("a thread")?;
        self.noted.declare(NameKind::Process, &name);
        self.noted.extend(name.span, item);
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
        self.noted.thread = Some(name.span);
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
        self.noted.extend(name.span, self.token().span);
        self.noted.thread = None;
        self.at += 1;
        self.procedures[thread] = own;
        Ok(())
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

    pub(super) fn shared_procedure(&mut self) -> Read<()> {
        let mut shared = std::mem::take(&mut self.shared);
        self.noted.thread = None;
        let read = self.procedure(&Owner::Nobody, &mut shared);
        shared.incomplete |= read.is_err();
        self.shared = shared;
        read
    }

    /// Fills in what names procedures: the mains of threads, and calls.
    pub(super) fn procedure_names(&mut self) {
        let procedures = std::mem::take(&mut self.procedures);
        let shared = std::mem::take(&mut self.shared);
        for (mention, thread, ProcedureName { name, shared: dotted }) in
            std::mem::take(&mut self.mentions)
        {
            let own = thread.filter(|_| !dotted).map(|thread| &procedures[thread]);
            let scopes = [own, Some(&shared)];
            let found = scopes.into_iter().flatten().find_map(|scope| {
                let &at = scope.names.numbers.get(&name.name)?;
                self.noted.mention_in(name.span, &scope.names, at);
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
        let item = self.tokens[self.at - 1].span;
        let mut name = self.name("a procedure")?;
        self.noted.declare(NameKind::Function, &name);
        self.noted.extend(name.span, item);
        self.noted.procedure = Some(name.span);
        let declaration = name.span;
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
        self.noted.extend(declaration, self.token().span);
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
        let span = self.tokens[at].span.to(self.tokens[self.at - 1].span);
        self.noted.edge(span);
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
            let meant = self.word().and_then(|word| nearest(word, ACTIONS));
            return self.unexpected_word("expected an action", meant);
        };
        self.at += 1;
        let action = match ACTIONS[at] {
            "read" => Action::Read(self.reference_to_location()?),
            "write" => Action::Write(self.reference_to_location()?),
            "acquire" => Action::Acquire(self.reference_to_lock()?),
            "release" => Action::Release(self.reference_to_lock()?),
            "wait" => Action::Wait(self.reference_to_wait_set()?),
            "resume" => Action::Resume(self.reference_to_wait_set()?),
            "notify" => Action::Notify(self.reference_to_wait_set()?),
            "notifyAll" => Action::NotifyAll(self.reference_to_wait_set()?),
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
}
