//! # Idea
//! Statements, values and states in the words of the program: an update as the assignment that it
//! is, globals that write a number as that number.
//!
//! # Invariants
//! 1. Names of the model are as in the source; whoever prints to a screen escapes them.

use selvedge_program::expression::{Atom, Readers, shown};
use selvedge_program::{
    Action, Array, Edge, Expr, GlobalId, Literal, Local, LocalId, Numeral, Operator, ProcedureId,
    Program, Sort, Type, Update, Valuation, Value, Variable, VisibleState,
};
use std::collections::BTreeMap;
use std::fmt;

/// What kind of statement an edge is, as one word.
pub fn action(program: &Program, edge: &Edge) -> &'static str {
    match edge.action {
        Action::Skip => match edge.update.map(|id| &program.updates[id]) {
            None => "skip",
            Some(update) if assigns(program, edge, update) => "assign",
            Some(update) if update.guard.is_none() && update.constraint.is_none() => "skip",
            Some(_) => "assume",
        },
        Action::Read(_) => "read",
        Action::Write(_) => "write",
        Action::Acquire(_) => "acquire",
        Action::Release(_) => "release",
        Action::Wait(_) => "wait",
        Action::Resume(_) => "resume",
        Action::Notify(_) => "notify",
        Action::NotifyAll(_) => "notify-all",
        Action::Send(_) => "send",
        Action::Post(_) => "post",
        Action::Broadcast(_) => "broadcast",
        Action::Recv(_) => "recv",
        Action::BeginUnit => "begin",
        Action::EndUnit => "end",
        Action::Call(_) => "call",
        Action::Assert(_) => "assert",
        Action::Return(_) => "return",
        Action::Start(_) => "start",
        Action::Join(_) => "join",
        Action::BeginAtomic => "begin-atomic",
        Action::EndAtomic => "end-atomic",
    }
}

/// Whether an edge gives a value to a variable of the text.
fn assigns(program: &Program, edge: &Edge, update: &Update) -> bool {
    let owner = program.nodes[edge.source];
    update.assignments.iter().any(|&(target, _)| !is_hidden(program.variable_name(owner, target)))
}

/// Whether a name is that of a variable which the text does not have: a front end has made it.
pub fn is_hidden(name: &str) -> bool {
    name.starts_with('#')
}

/// The name of a variable in the text: a number tells apart locals of blocks with the same name.
pub fn in_text(name: &str) -> &str {
    match name.split('#').next() {
        Some(name) if !name.is_empty() => name,
        _ => name.trim_start_matches('#'),
    }
}

/// What the hidden locals of an activation stand for, in the words of the text.
pub type Definitions = BTreeMap<LocalId, String>;

/// What the statement of an edge is about: a procedure, a thread, a lock, a condition, the assigned variables.
pub fn object(program: &Program, edge: &Edge) -> Option<String> {
    match edge.action {
        Action::Skip => {
            let update = &program.updates[edge.update?];
            if let Some(numeral) = program.constant_numeral(update) {
                return Some(numeral.0.name.clone());
            }
            let owner = program.nodes[edge.source];
            let names = update.assignments.iter();
            let names = names.map(|&(target, _)| program.variable_name(owner, target));
            let names: Vec<&str> = names.filter(|name| !is_hidden(name)).map(in_text).collect();
            (!names.is_empty()).then(|| names.join(", "))
        }
        Action::Read(location) | Action::Write(location) => {
            Some(program.locations[location].name.clone())
        }
        Action::Acquire(lock) | Action::Release(lock) => Some(program.locks[lock].name.clone()),
        Action::Wait(set) | Action::Resume(set) | Action::Notify(set) | Action::NotifyAll(set) => {
            Some(program.wait_sets[set].name.clone())
        }
        Action::Send(channel)
        | Action::Post(channel)
        | Action::Broadcast(channel)
        | Action::Recv(channel) => Some(program.channels[channel].name.clone()),
        Action::Call(callee) => Some(program.procedures[callee].name.clone()),
        Action::Start(thread) | Action::Join(thread) => Some(program.threads[thread].name.clone()),
        Action::Assert(condition) => {
            Some(expression(program, program.nodes[edge.source], &program.conditions[condition]))
        }
        Action::Return(_)
        | Action::BeginUnit
        | Action::EndUnit
        | Action::BeginAtomic
        | Action::EndAtomic => None,
    }
}

/// The statement of an edge.
pub fn statement(program: &Program, edge: &Edge) -> String {
    statement_with(program, edge, None)
}

/// The same where hidden locals are replaced by what they stand for, if that is known.
pub fn statement_with(program: &Program, edge: &Edge, definitions: Option<&Definitions>) -> String {
    let owner = program.nodes[edge.source];
    let expr = |expr: &Expr| expression_with(program, owner, expr, definitions);
    let exprs = |all: &[Expr]| all.iter().map(expr).collect::<Vec<_>>().join(", ");
    let passing = edge.passing.map(|id| &program.passings[id]);
    let arguments = passing.map_or(String::new(), |passing| exprs(&passing.arguments));
    let acts = match edge.action {
        Action::Skip => String::new(),
        Action::Call(callee) => {
            let targets: Vec<&str> = passing
                .iter()
                .flat_map(|passing| &passing.results)
                .map(|target| target.map_or("_", |target| program.variable_name(owner, target)))
                .map(|name| if definitions.is_some() && is_hidden(name) { "_" } else { name })
                .collect();
            let call = format!("{}({arguments})", program.procedures[callee].name);
            let unnamed = definitions.is_some() && targets.iter().all(|&name| name == "_");
            if unnamed || targets.is_empty() {
                call
            } else {
                format!("{} := {call}", targets.join(", "))
            }
        }
        Action::Start(thread) if arguments.is_empty() => {
            format!("start {}", program.threads[thread].name)
        }
        Action::Start(thread) => format!("start {}({arguments})", program.threads[thread].name),
        Action::Join(thread) => format!("join {}", program.threads[thread].name),
        Action::Assert(condition) => format!("assert {}", expr(&program.conditions[condition])),
        Action::Return(values) => format!("return {}", exprs(&program.returns[values])),
        Action::BeginUnit => "begin unit".to_owned(),
        Action::EndUnit => "end unit".to_owned(),
        Action::BeginAtomic => "begin atomic".to_owned(),
        Action::EndAtomic => "end atomic".to_owned(),
        Action::NotifyAll(set) => format!("notify all {}", program.wait_set_title(set)),
        Action::Wait(set) | Action::Resume(set) | Action::Notify(set) => {
            format!("{} {}", action(program, edge), program.wait_set_title(set))
        }
        Action::Read(_)
        | Action::Write(_)
        | Action::Acquire(_)
        | Action::Release(_)
        | Action::Send(_)
        | Action::Post(_)
        | Action::Broadcast(_)
        | Action::Recv(_) => {
            format!("{} {}", action(program, edge), object(program, edge).unwrap_or_default())
        }
    };
    let computes = edge.update.and_then(|id| match definitions {
        None => Some(update(program, owner, &program.updates[id], definitions)),
        Some(_) => in_words_of_text(program, edge, &program.updates[id], definitions),
    });
    match (acts.trim_end(), computes) {
        ("", None) => "skip".to_owned(),
        ("", Some(computes)) => computes,
        (acts, None) => acts.to_owned(),
        (acts, Some(computes)) => format!("{acts}; {computes}"),
    }
}

/// What an edge computes, without what serves hidden variables alone; nothing if that is all.
fn in_words_of_text(
    program: &Program,
    edge: &Edge,
    computed: &Update,
    definitions: Option<&Definitions>,
) -> Option<String> {
    let owner = program.nodes[edge.source];
    let is_own = |variable: Variable| is_hidden(program.variable_name(owner, variable));
    let (hidden, shown): (Vec<_>, Vec<_>) =
        computed.assignments.iter().cloned().partition(|&(target, _)| is_own(target));
    // Where a step can access one of several things, hidden variables say which one it is.
    let chooses = |guard: &Expr| {
        let mut all = true;
        guard.variables(&mut |variable, _| all &= is_own(variable));
        all
    };
    let silent = matches!(edge.action, Action::Skip);
    if silent
        && shown.is_empty()
        && let Some(outside) = outside_array(computed)
    {
        return Some(outside.text(program, owner, definitions));
    }
    let guard = computed.guard.clone().filter(|guard| silent || !chooses(guard));
    let constraint = computed.constraint.clone();
    if guard.is_some() || !shown.is_empty() || constraint.is_some() {
        let rest = Update { guard, assignments: shown, constraint };
        return Some(update(program, owner, &rest, definitions));
    }
    let values =
        hidden.iter().map(|(_, value)| expression_with(program, owner, value, definitions));
    let values: Vec<String> = values.collect();
    (silent && !values.is_empty()).then(|| values.join(", "))
}

/// An access with an index that names no element of its array.
struct OutsideArray<'a> {
    array: Array,
    index: &'a Expr,
    length: i32,
}

impl OutsideArray<'_> {
    fn text(
        &self,
        program: &Program,
        owner: ProcedureId,
        definitions: Option<&Definitions>,
    ) -> String {
        let index = expression_with(program, owner, self.index, definitions);
        let last = self.length - 1;
        let array = program.array_name(owner, self.array);
        // Lock arrays have no name in the data of the model.
        if is_hidden(array) {
            format!("index {index} not in 0..{last}")
        } else {
            format!("{}[{index}], index not in 0..{last}", in_text(array))
        }
    }
}

/// The access that an update stands for, if it reads an element under the guard that there is none.
fn outside_array(update: &Update) -> Option<OutsideArray<'_>> {
    let [(_, Expr::Element(array, index))] = update.assignments.as_slice() else { return None };
    let guard = match update.guard.as_ref()? {
        Expr::Binary(Operator::And, _, last) => last,
        whole => whole,
    };
    let Expr::Not(inside) = guard else { return None };
    let Expr::Binary(Operator::And, _, high) = &**inside else { return None };
    let Expr::Binary(Operator::Less, bounded, length) = &**high else { return None };
    match &**length {
        Expr::Constant(Literal::Int(length)) if bounded == index => {
            Some(OutsideArray { array: *array, index, length: *length })
        }
        _ => None,
    }
}

fn update(
    program: &Program,
    owner: ProcedureId,
    update: &Update,
    definitions: Option<&Definitions>,
) -> String {
    if let Some((numeral, value)) = program.constant_numeral(update) {
        let sets = !update.assignments.is_empty();
        let (word, sign) = if sets { ("", ":=") } else { ("assume ", "=") };
        return format!("{word}{} {sign} {value}", numeral.name);
    }
    let expr = |expr: &Expr| expression_with(program, owner, expr, definitions);
    let name = |target: Variable| {
        let name = program.variable_name(owner, target);
        if definitions.is_some() { in_text(name) } else { name }
    };
    let mut parts = Vec::new();
    parts.extend(update.guard.as_ref().map(|guard| format!("assume {}", expr(guard))));
    if !update.assignments.is_empty() {
        let targets: Vec<&str> =
            update.assignments.iter().map(|&(target, _)| name(target)).collect();
        let values: Vec<String> = update.assignments.iter().map(|(_, value)| expr(value)).collect();
        parts.push(format!("{} := {}", targets.join(", "), values.join(", ")));
    }
    let mut text = parts.join("; ");
    if let Some(constraint) = &update.constraint {
        text += " constrain ";
        text += &expr(constraint);
    }
    text
}

/// An expression of a procedure.
pub fn expression(program: &Program, owner: ProcedureId, expr: &Expr) -> String {
    expression_with(program, owner, expr, None)
}

fn expression_with(
    program: &Program,
    owner: ProcedureId,
    expr: &Expr,
    definitions: Option<&Definitions>,
) -> String {
    let names = |atom: Atom, f: &mut fmt::Formatter<'_>| {
        let Some(definitions) = definitions else { return program.write_atom(owner, atom, f) };
        match atom {
            Atom::Variable(variable) => {
                let name = program.variable_name(owner, variable);
                match variable {
                    Variable::Local(id) if is_hidden(name) => {
                        f.write_str(definitions.get(&id).map_or("_", String::as_str))
                    }
                    _ => f.write_str(in_text(name)),
                }
            }
            Atom::Array(array) => f.write_str(in_text(program.array_name(owner, array))),
            other @ Atom::Literal(_) => program.write_atom(owner, other, f),
        }
    };
    shown(expr, Readers::All, &names).to_string()
}

/// Notes what hidden locals stand for behind an edge.
pub fn define(program: &Program, edge: &Edge, definitions: &mut Definitions) {
    let owner = program.nodes[edge.source];
    let hidden = |target: Variable| match target {
        Variable::Local(id) if is_hidden(program.variable_name(owner, target)) => Some(id),
        _ => None,
    };
    let mut new: Vec<(LocalId, String)> = Vec::new();
    for (target, value) in edge.update.iter().flat_map(|&id| &program.updates[id].assignments) {
        let Some(id) = hidden(*target) else { continue };
        let text = expression_with(program, owner, value, Some(definitions));
        let simple = matches!(value, Expr::Constant(_) | Expr::Current(_) | Expr::Element(..));
        new.push((id, if simple { text } else { format!("({text})") }));
    }
    if let (Action::Call(_), Some(passing)) = (edge.action, edge.passing) {
        let targets = program.passings[passing].results.iter().copied().flatten();
        let call = || statement_with(program, edge, Some(definitions));
        new.extend(targets.filter_map(hidden).map(|id| (id, call())));
    }
    definitions.extend(new);
}

/// What a name stands for at some moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ShownValue<'p> {
    /// A truth value.
    Bit(bool),
    /// A number, of a variable or written by globals together.
    Number(i128),
    /// An enumerator, or a thread.
    Name(&'p str),
    /// The elements of an array.
    List(Vec<Self>),
}

impl<'p> ShownValue<'p> {
    /// A value of an expression of this sort.
    pub fn of_sort(program: &'p Program, sort: Sort, value: i64) -> Self {
        let ty = match sort {
            Sort::Int => return Self::Number(value.into()),
            Sort::Bool => Type::Bool,
            Sort::Enum(id) => Type::Enum(id),
            Sort::Thread => Type::Thread,
        };
        Self::of(program, ty, Value::try_from(value).unwrap_or_default())
    }

    /// A value of a type.
    pub fn of(program: &'p Program, ty: Type, value: Value) -> Self {
        match Literal::of(ty, value) {
            Literal::Bool(value) => Self::Bit(value),
            Literal::Int(value) => Self::Number(value.into()),
            Literal::Enumerator(id, at) => Self::Name(&program.enums[id].values[at as usize]),
            Literal::Thread(None) => Self::Name("none"),
            Literal::Thread(Some(thread)) => Self::Name(&program.threads[thread].name),
        }
    }
}

impl fmt::Display for ShownValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bit(true) => f.write_str("T"),
            Self::Bit(false) => f.write_str("F"),
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => f.write_str(name),
            Self::List(elements) => {
                for (at, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if at == 0 { "[" } else { ", " })?;
                }
                f.write_str("]")
            }
        }
    }
}

/// The changed variables with their new values; a numeral of which a bit changed stands for its bits.
/// Locals are those of `owner`; `globals` are the values after the change.
pub fn values<'p>(
    program: &'p Program,
    owner: Option<ProcedureId>,
    globals: &Valuation,
    changes: &[(Variable, Value)],
) -> Vec<(&'p str, ShownValue<'p>)> {
    let mut values = Vec::new();
    let changed = |bit: GlobalId| changes.iter().any(|&(v, _)| v == Variable::Global(bit));
    for numeral in &program.numerals {
        if numeral.bits.iter().any(|&bit| changed(bit)) {
            let value = ShownValue::Number(number(numeral, globals).into());
            values.push((numeral.name.as_str(), value));
        }
    }
    let mut arrays = program.arrays.iter().peekable();
    for &(variable, value) in changes {
        match variable {
            Variable::Global(id) if in_a_numeral(program, id) => {}
            Variable::Global(id) => {
                let inside = |array: &Array| array.elements().any(|one| one == variable);
                // An array of which an element changed is shown whole, once.
                while arrays.next_if(|one| is_behind(&one.array, id)).is_some() {}
                if let Some(named) = arrays.next_if(|one| inside(&one.array)) {
                    let elements = named.array.elements().map(|one| match one {
                        Variable::Global(id) => {
                            ShownValue::of(program, program.globals[id].ty, globals.get(id))
                        }
                        Variable::Local(_) => unreachable!("a global array has no locals"),
                    });
                    values.push((named.name.as_str(), ShownValue::List(elements.collect())));
                } else if !program.arrays.iter().any(|one| inside(&one.array)) {
                    let global = &program.globals[id];
                    if is_hidden(&global.name) {
                        continue;
                    }
                    values.push((&global.name, ShownValue::of(program, global.ty, value)));
                }
            }
            Variable::Local(id) => {
                let local = owner.map(|owner| &program.procedures[owner].frame.locals[id]);
                let local = local.filter(|local| !is_hidden(&local.name));
                let value = |local: &'p Local| ShownValue::of(program, local.ty, value);
                values.extend(local.map(|local| (in_text(&local.name), value(local))));
            }
        }
    }
    values
}

/// Whether a global stands behind all elements of an array.
fn is_behind(array: &Array, global: GlobalId) -> bool {
    let last = array.element(array.length - 1);
    matches!(last, Variable::Global(last) if last < global)
}

/// All globals with their values, numerals first, then what follows the globals.
pub fn shared_state<'p>(
    program: &'p Program,
    others: &'p [String],
    globals: &Valuation,
) -> Vec<(&'p str, ShownValue<'p>)> {
    let all: Vec<(Variable, Value)> =
        program.globals.ids().map(|id| (Variable::Global(id), globals.get(id))).collect();
    let mut state = values(program, None, globals, &all);
    let rest = globals.0.iter().skip(program.globals.len());
    let rest = rest.map(|&value| ShownValue::Bit(value != 0));
    state.extend(others.iter().zip(rest).map(|(name, value)| (name.as_str(), value)));
    state
}

/// A shared state as text: `q=3`, `x=T y=F`, or `-` without globals.
pub fn shared_text(program: &Program, globals: &Valuation) -> String {
    joined(&shared_state(program, &[], globals))
}

/// A visible state as CUBA writes it: `q|a,b`.
pub fn visible_text(program: &Program, state: &VisibleState) -> String {
    let shared = match shared_state(program, &[], &state.globals).as_slice() {
        [(_, number @ ShownValue::Number(_))] => number.to_string(),
        several => joined(several),
    };
    let tops: Vec<&str> = state.tops.iter().map(|top| top.as_deref().unwrap_or("-")).collect();
    format!("{shared}|{}", tops.join(","))
}

/// `x=T y=F`, or `-` for nothing.
pub fn joined(values: &[(&str, ShownValue<'_>)]) -> String {
    if values.is_empty() {
        return "-".to_owned();
    }
    let parts: Vec<String> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
    parts.join(" ")
}

fn in_a_numeral(program: &Program, global: GlobalId) -> bool {
    program.numerals.iter().any(|numeral| numeral.bits.contains(&global))
}

fn number(numeral: &Numeral, globals: &Valuation) -> u64 {
    let bits = numeral.bits.iter().take(64).enumerate();
    bits.map(|(at, &bit)| u64::from(globals.is_true(bit)) << at).sum()
}
