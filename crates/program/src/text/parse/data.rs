//! # Idea
//! Reads what belongs to data: globals, numerals, labels, the variables of procedures, passed and
//! returned values, updates.
//!
//! # Invariants
//! 1. Conditions, updates, returned and passed values are numbered in the order of the text.

use super::super::lexer::Kind;
use super::{LATE_THREADS, Parser, Read, Reference, Table, declare};
use crate::data::{
    Annotation, Array, Enum, Expr, Frame, Global, Invariant, Literal, Local, NamedArray, Numeral,
    Passing, Type, Update, Value, Variable, element_name, thread_value,
};
use crate::model::{
    ConditionId, EnumId, GlobalId, Label, LocationId, LockId, NodeId, PassingId, ReturnId, Start,
    ThreadId, UpdateId,
};
use selvedge_base::{Id, Place, Span};
use selvedge_syntax::symbols::NameKind;

/// How many results a procedure may have. Nothing in a text is as long as this number may be large.
const MOST_RESULTS: u32 = 1000;

/// How many elements an array may have.
const MOST_ELEMENTS: u32 = 1 << 16;

/// The names of the elements of an array, or that of a variable which is none.
fn elements(name: &Reference, length: Option<u32>) -> Vec<Reference> {
    let span = name.span;
    match length {
        None => vec![Reference { name: name.name.clone(), span }],
        Some(length) => (0..length)
            .map(|index| Reference { name: element_name(&name.name, index), span })
            .collect(),
    }
}

/// A label whose thread and procedure were not looked up yet.
pub(super) struct LabelAt {
    name: String,
    /// The thread that owns the procedure; `None` if that is shared.
    thread: Option<Reference>,
    procedure: Reference,
    node: u32,
    span: Span,
    place: Place,
}

impl Parser<'_> {
    pub(super) fn global(&mut self) -> Read<()> {
        self.at += 1;
        let name = self.name("a global")?;
        self.noted.declare(NameKind::Global, &name);
        let length = self.length()?;
        let (ty, initial) = self.type_and_initial()?;
        let mut location = None;
        if self.word() == Some("location") {
            self.at += 1;
            location = Some(self.reference_to_location()?);
        }
        let (mut guard, mut each) = (None::<LockId>, false);
        if self.word() == Some("guarded") {
            self.at += 1;
            self.keyword("by")?;
            each = length.is_some() && self.word() == Some("each");
            self.at += usize::from(each);
            guard = Some(self.reference_to_lock()?);
        }
        let mut owner = None;
        if self.word() == Some("of") {
            self.at += 1;
            owner = Some(self.name("a thread")?);
        }
        let place = self.optional_place()?;
        let first = self.program.globals.next_id();
        for (at, element) in elements(&name, length).into_iter().enumerate() {
            declare(&mut self.globals, &element, "global", &mut self.complaints)?;
            let name = element.name;
            // The elements of an array have the locations, or the locks, that follow the first.
            let location = location.map(|first| LocationId::from_index(first.index() + at));
            let guard =
                guard.map(|lock| if each { Id::from_index(lock.index() + at) } else { lock });
            let annotation = guard.map(Annotation::GuardedBy);
            let owner = None;
            let global = Global { name, place, ty, initial, location, annotation, owner };
            self.program.globals.push(global);
        }
        if let Some(owner) = owner {
            self.owners.push((first, self.program.globals.len(), owner));
        }
        if let Some(length) = length {
            declare(&mut self.global_arrays, &name, "array", &mut self.complaints)?;
            let array = Array { first: Variable::Global(first), length };
            self.program.arrays.push(NamedArray { name: name.name, array });
        }
        Ok(())
    }

    /// The length of an array, in brackets, if one follows.
    fn length(&mut self) -> Read<Option<u32>> {
        if !self.is_sign('[') {
            return Ok(None);
        }
        self.at += 1;
        let length = self.number()?;
        if length == 0 || length > MOST_ELEMENTS {
            self.at -= 1;
            let message = format!("an array has at least one element and at most {MOST_ELEMENTS}");
            return self.unexpected(&message);
        }
        self.sign(']')?;
        Ok(Some(length))
    }

    /// The type of a variable, which is a truth value if nothing is said, and its first value.
    fn type_and_initial(&mut self) -> Read<(Type, Option<Value>)> {
        let mut ty = Type::Bool;
        if self.is_sign(':') {
            self.at += 1;
            ty = self.ty()?;
        }
        if !self.is_sign('=') {
            return Ok((ty, None));
        }
        self.at += 1;
        let start = self.at;
        let literal = self.literal()?;
        if literal.sort() != ty.sort() {
            self.at = start;
            return self.unexpected("the first value is not of the type of the variable");
        }
        Ok((ty, Some(literal.value())))
    }

    /// A type: `bool`, `0..7`, `mod 8`, `thread`, or the name of an enumeration.
    fn ty(&mut self) -> Read<Type> {
        match (&self.token().kind, self.word()) {
            (_, Some("bool")) => {
                self.at += 1;
                Ok(Type::Bool)
            }
            (_, Some("thread")) => {
                self.at += 1;
                Ok(Type::Thread)
            }
            (_, Some("mod")) => {
                self.at += 1;
                let n = self.signed_number()?;
                if n < 1 {
                    self.at -= 1;
                    return self.unexpected("a type modulo a number needs at least 1");
                }
                Ok(Type::Mod(n))
            }
            (Kind::Number(_) | Kind::Sign('-'), _) => {
                let low = self.signed_number()?;
                self.sign('.')?;
                self.sign('.')?;
                let start = self.at;
                let high = self.signed_number()?;
                if high < low || i64::from(high) - i64::from(low) >= 1 << 31 {
                    self.at = start;
                    return self.unexpected("a range has at least one value and at most 2^31");
                }
                Ok(Type::Int { low, high })
            }
            _ => Ok(Type::Enum(self.reference_to_enum()?)),
        }
    }

    pub(super) fn reference_to_enum(&mut self) -> Read<EnumId> {
        let name = self.name("an enumeration")?;
        let table = std::mem::take(&mut self.enums);
        let found = self.resolve(&table, &name, "unknown-type", "enumeration");
        self.enums = table;
        found.map(Id::from_index)
    }

    pub(super) fn enumeration(&mut self) -> Read<()> {
        self.at += 1;
        let name = self.name("an enumeration")?;
        self.sign('{')?;
        self.noted.declare(NameKind::Enumeration, &name);
        let mut spans = Vec::new();
        let mut values: Vec<String> = Vec::new();
        let mut table = Table::default();
        while !self.is_sign('}') {
            if !values.is_empty() {
                self.sign(',')?;
            }
            let value = self.name("an enumerator")?;
            self.noted.declare_within(NameKind::Enumerator, &value, Some(name.span));
            spans.push(value.span);
            declare(&mut table, &value, "enumerator", &mut self.complaints)?;
            values.push(value.name);
        }
        if values.is_empty() {
            return self.unexpected("an enumeration has at least one enumerator");
        }
        self.at += 1;
        declare(&mut self.enums, &name, "enumeration", &mut self.complaints)?;
        self.program.enums.push(Enum { name: name.name, values });
        self.enumerators.push(spans);
        Ok(())
    }

    /// `exclusive x when condition`: what is said to protect a global.
    pub(super) fn exclusive(&mut self) -> Read<()> {
        self.at += 1;
        let global = self.reference_to_global()?;
        self.keyword("when")?;
        self.locals = Table::default();
        let condition = self.condition()?;
        // Behind a name that is declared twice, names and globals are numbered differently.
        if self.program.globals.get(global).is_some() {
            self.program.globals[global].annotation = Some(Annotation::ExclusiveWhen(condition));
        }
        Ok(())
    }

    pub(super) fn invariant(&mut self) -> Read<()> {
        self.at += 1;
        self.locals = Table::default();
        let condition = self.condition()?;
        let place = self.optional_place()?;
        self.program.invariants.push(Invariant { condition, place });
        Ok(())
    }

    /// `spurious wakeups`.
    pub(super) fn spurious(&mut self) -> Read<()> {
        self.at += 1;
        self.keyword("wakeups")?;
        self.program.spurious_wakeups = true;
        Ok(())
    }

    pub(super) fn numeral(&mut self) -> Read<()> {
        self.at += 1;
        let name = self.name("a numeral")?;
        self.noted.declare(NameKind::Numeral, &name);
        let name = name.name;
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
        let name = self.name("a label")?;
        self.noted.declare(NameKind::Label, &name);
        let name = name.name;
        self.keyword("at")?;
        let mut procedure = self.name("a thread or a procedure")?;
        let mut thread = None;
        if !matches!(self.token().kind, Kind::Number(_)) {
            let owned = self.name("a procedure")?;
            thread = Some(std::mem::replace(&mut procedure, owned));
        }
        let span = self.token().span;
        let node = self.number()?;
        let place = self.optional_place()?;
        self.label_places.push(LabelAt { name, thread, procedure, node, span, place });
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
        self.local_arrays = Vec::new();
        let mut frame = Frame::default();
        if self.is_sign('(') {
            self.at += 1;
            self.local_names(&mut frame, NameKind::Parameter)?;
            self.sign(')')?;
        }
        frame.parameters = frame.locals.len();
        if self.token().kind == Kind::Arrow {
            self.at += 1;
            frame.results = self.results()?;
        }
        if self.word() == Some("locals") {
            self.at += 1;
            self.local_names(&mut frame, NameKind::Local)?;
        }
        if self.word() == Some("enforce") {
            self.at += 1;
            frame.enforced = Some(self.condition()?);
        }
        Ok(frame)
    }

    /// How many truth values a procedure returns, or the types of what it returns.
    fn results(&mut self) -> Read<Vec<Type>> {
        if !self.is_sign('(') {
            let results = self.number()?;
            if results > MOST_RESULTS {
                self.at -= 1;
                return self.unexpected("a procedure cannot have so many results");
            }
            return Ok(vec![Type::Bool; results as usize]);
        }
        self.at += 1;
        let mut types = vec![self.ty()?];
        while self.is_sign(',') {
            self.at += 1;
            types.push(self.ty()?);
        }
        self.sign(')')?;
        Ok(types)
    }

    fn local_names(&mut self, frame: &mut Frame, kind: NameKind) -> Read<()> {
        loop {
            let name = self.name("a local")?;
            self.noted.declare(kind, &name);
            let length = self.length()?;
            let (ty, initial) = self.type_and_initial()?;
            let place = self.optional_place()?;
            let mut end = Place::NONE;
            if self.word() == Some("until") {
                self.at += 1;
                end = self.optional_place()?;
            }
            let first = frame.locals.next_id();
            for element in elements(&name, length) {
                declare(&mut self.locals, &element, "local", &mut self.complaints)?;
                frame.locals.push(Local { name: element.name, place, end, ty, initial });
            }
            if let Some(length) = length {
                let array = Array { first: Variable::Local(first), length };
                let array = NamedArray { name: name.name, array };
                self.local_arrays.push(array.clone());
                frame.arrays.push(array);
            }
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
            Kind::Quoted(_) | Kind::Sign('!' | '(' | '*' | '\'' | '.' | '-' | '$') => true,
            // A number may also begin the next edge.
            Kind::Number(_) => self.tokens[self.at + 1].kind != Kind::Arrow,
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
        for (first, end, name) in std::mem::take(&mut self.owners) {
            if let Ok(thread) = self.thread_number(&name) {
                for global in (first.index()..end).map(GlobalId::from_index) {
                    self.program.globals[global].owner = Some(thread);
                }
            }
        }
        for label in std::mem::take(&mut self.label_places) {
            if let Ok(node) = self.label_node(&label) {
                self.program.labels.push(Label { name: label.name, node, place: label.place });
            }
        }
    }

    /// Fills in the threads that expressions and initial values name.
    pub(super) fn late_thread_values(&mut self) {
        let names = std::mem::take(&mut self.late_threads);
        if names.is_empty() {
            return;
        }
        let threads: Vec<Option<ThreadId>> =
            names.iter().map(|name| self.thread_number(name).ok()).collect();
        let known = |late: ThreadId| late.index().checked_sub(LATE_THREADS).map(|at| threads[at]);
        self.program.change_expressions(&mut |expr| {
            if let Expr::Constant(Literal::Thread(Some(late))) = expr
                && let Some(Some(thread)) = known(*late)
            {
                *late = thread;
            }
        });
        let program = &mut self.program;
        let locals = program.procedures.iter_mut().flat_map(|one| &mut one.frame.locals);
        let locals = locals.map(|local| (local.ty, &mut local.initial));
        let globals = program.globals.iter_mut().map(|global| (global.ty, &mut global.initial));
        for (ty, initial) in globals.chain(locals) {
            let Some(value) = initial else { continue };
            if let Literal::Thread(Some(late)) = Literal::of(ty, *value)
                && let Some(Some(thread)) = known(late)
            {
                *value = thread_value(Some(thread));
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
