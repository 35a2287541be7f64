//! # Idea
//! From the text of a target or a label to what it means in a program. A target is
//! `shared|position,position,…`, one position per thread; the shared part is a number if the program
//! has exactly one numeral, or values such as `x=1,y=0`, or `*`.

use selvedge_base::{Diagnostic, IdVec, Severity};
use selvedge_program::{
    GlobalId, LockId, NodeId, Numeral, Position, Program, Sharing, StatePattern, Target, ThreadId,
    Type, Value, Variable, thread_value,
};
use selvedge_syntax::nearest::nearest;

/// The label `name` of any thread.
///
/// # Errors
/// If there is no such label.
pub fn label(program: &Program, name: &str) -> Result<Target, Box<Diagnostic>> {
    let nodes = labelled(program, name, None);
    if nodes.is_empty() {
        Err(no_label(program, name, None).into())
    } else {
        Ok(Target::Label(nodes))
    }
}

/// The globals that a name stands for: the first, and how many follow each other.
///
/// # Errors
/// If there is no such variable.
pub fn variable(program: &Program, name: &str) -> Result<(GlobalId, u32), Box<Diagnostic>> {
    let mut globals = program.globals.iter_enumerated();
    if let Some((id, _)) = globals.find(|(_, global)| global.name == name) {
        return Ok((id, 1));
    }
    let array = program.arrays.iter().find(|array| array.name == name);
    match array.map(|array| (array.array.first, array.array.length)) {
        Some((Variable::Global(first), length)) => Ok((first, length)),
        _ => Err(no_variable(program, name, &[]).into()),
    }
}

fn no_variable(program: &Program, name: &str, others: &[&str]) -> Diagnostic {
    let globals = program.globals.iter().map(|global| global.name.as_str());
    let names = globals.chain(others.iter().copied());
    let near = nearest(name, names).map(|near| format!("did you mean `{near}`?"));
    let message = format!("there is no global `{name}`");
    let complaint = Diagnostic::global("unknown-variable", Severity::Error, message);
    match near {
        Some(near) => complaint.with_help(near),
        None => complaint,
    }
}

/// The states that a text describes.
///
/// # Errors
/// If the text names something that does not exist, or does not fit the program.
pub fn state(program: &Program, text: &str) -> Result<Target, Box<Diagnostic>> {
    let (shared, positions) = match text.split_once('|') {
        Some((shared, positions)) => (shared, Some(positions)),
        None => (text, None),
    };
    let (globals, locks) = shared_part(program, shared.trim())?;
    let count = program.threads.len();
    let threads: IdVec<ThreadId, Position> = match positions {
        None => IdVec::filled(Position::Any, count),
        Some(positions) => {
            let positions: Vec<&str> = positions.split(',').map(str::trim).collect();
            if positions.len() != count {
                let message = format!(
                    "`{text}` has {} positions, but the program has {count} threads",
                    positions.len()
                );
                return Err(helped(message, shape(program)).into());
            }
            let positions = program.threads.ids().zip(positions);
            positions
                .map(|(thread, text)| position(program, thread, text))
                .collect::<Result<_, _>>()?
        }
    };
    Ok(Target::State(StatePattern { globals, locks, threads }))
}

/// Values of globals, and whether locks are held.
type Shared = (Vec<(GlobalId, Value)>, Vec<(LockId, bool)>);

fn shared_part(program: &Program, text: &str) -> Result<Shared, Box<Diagnostic>> {
    if text.is_empty() || text == "*" {
        return Ok(Shared::default());
    }
    if let (Ok(number), [numeral]) = (text.parse::<u64>(), program.numerals.as_slice()) {
        return Ok((bits(numeral, number)?, Vec::new()));
    }
    let (mut globals, mut locks) = Shared::default();
    for part in text.split(',') {
        let Some((name, value)) = part.split_once('=') else {
            let message =
                format!("`{}` is neither a number nor a value such as `x=1`", part.trim());
            return Err(helped(message, shape(program)).into());
        };
        let (name, value) = (name.trim(), value.trim());
        if let Some(numeral) = program.numerals.iter().find(|numeral| numeral.name == name) {
            let number = value
                .parse()
                .map_err(|_| wrong(format!("`{value}` is not a number, as `{name}` is")))?;
            globals.extend(bits(numeral, number)?);
            continue;
        }
        let global = program.globals.iter_enumerated().find(|(_, global)| global.name == name);
        let lock = program.locks.iter_enumerated().find(|(_, lock)| lock.name == name);
        if global.is_none() && lock.is_none() {
            let locks: Vec<&str> = program.locks.iter().map(|lock| lock.name.as_str()).collect();
            return Err(no_variable(program, name, &locks).into());
        }
        match (global, lock) {
            (Some((id, global)), _) => globals.push((id, typed_value(program, global.ty, value)?)),
            (None, Some((lock, _))) => locks.push((lock, truth(value)?)),
            (None, None) => {}
        }
    }
    Ok((globals, locks))
}

fn truth(text: &str) -> Result<bool, Box<Diagnostic>> {
    match text {
        "1" | "T" | "true" => Ok(true),
        "0" | "F" | "false" => Ok(false),
        _ => {
            let message = format!("`{text}` is not a Boolean value");
            Err(helped(message, "write 0 or 1".to_owned()).into())
        }
    }
}

/// A value of a type, as reports write it.
fn typed_value(program: &Program, ty: Type, text: &str) -> Result<Value, Box<Diagnostic>> {
    let found = match ty {
        Type::Bool => return truth(text).map(Value::from),
        Type::Int { .. } | Type::Mod(_) => text.parse().ok(),
        Type::Enum(id) => program.enums[id]
            .values
            .iter()
            .position(|name| name == text)
            .and_then(|at| Value::try_from(at).ok()),
        Type::Thread if text == "none" => Some(thread_value(None)),
        Type::Thread => {
            let mut threads = program.threads.iter_enumerated();
            threads.find(|(_, one)| one.name == text).map(|(id, _)| thread_value(Some(id)))
        }
    };
    match found.filter(|&value| program.has_value(ty, value)) {
        Some(value) => Ok(value),
        None => Err(wrong(format!("`{text}` is no value of this global")).into()),
    }
}

/// The values of the bits of a number.
fn bits(numeral: &Numeral, number: u64) -> Result<Vec<(GlobalId, Value)>, Box<Diagnostic>> {
    let width = numeral.bits.len();
    if width < 64 && number >> width != 0 {
        return Err(wrong(format!("{} is never as large as {number}", numeral.name)).into());
    }
    let bit = |at: usize| at < 64 && number >> at & 1 == 1;
    Ok(numeral
        .bits
        .iter()
        .enumerate()
        .map(|(at, &global)| (global, Value::from(bit(at))))
        .collect())
}

fn position(program: &Program, thread: ThreadId, text: &str) -> Result<Position, Box<Diagnostic>> {
    match text {
        "*" => Ok(Position::Any),
        // A stack that may be filled again is at a place of its own.
        "-" if labelled(program, "-", Some(thread)).is_empty() => Ok(Position::Ended),
        name => {
            let nodes = labelled(program, name, Some(thread));
            if nodes.is_empty() {
                Err(no_label(program, name, Some(thread)).into())
            } else {
                Ok(Position::At(nodes))
            }
        }
    }
}

fn labelled(program: &Program, name: &str, thread: Option<ThreadId>) -> Vec<NodeId> {
    let mut nodes: Vec<NodeId> =
        labels(program, thread).filter(|(label, _)| *label == name).map(|(_, node)| node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

fn labels(program: &Program, thread: Option<ThreadId>) -> impl Iterator<Item = (&str, NodeId)> {
    let sharing = Sharing::new(program);
    let runs =
        move |thread: &ThreadId, node: NodeId| sharing.threads_at(program, node).contains(thread);
    program
        .labels
        .iter()
        .filter(move |label| thread.is_none_or(|thread| runs(&thread, label.node)))
        .map(|label| (label.name.as_str(), label.node))
}

fn no_label(program: &Program, name: &str, thread: Option<ThreadId>) -> Diagnostic {
    let of = thread.map_or(String::new(), |id| format!(" in {}", program.threads[id].name));
    let complaint = Diagnostic::global(
        "unknown-label",
        Severity::Error,
        format!("there is no label `{name}`{of}"),
    );
    match nearest(name, labels(program, thread).map(|(label, _)| label)) {
        Some(near) => complaint.with_help(format!("did you mean `{near}`?")),
        None => complaint,
    }
}

fn wrong(message: String) -> Diagnostic {
    Diagnostic::global("bad-target", Severity::Error, message)
}

fn helped(message: String, help: String) -> Diagnostic {
    wrong(message).with_help(help)
}

/// What a target of this program looks like.
fn shape(program: &Program) -> String {
    let shared = match (program.numerals.as_slice(), program.globals.iter().next()) {
        ([numeral], _) => numeral.name.clone(),
        (_, Some(global)) => format!("{}=1", global.name),
        (_, None) => "*".to_owned(),
    };
    let names: Vec<&str> = program.threads.iter().map(|thread| thread.name.as_str()).collect();
    format!("write `{shared}|{}`, with a label, `-` or `*` for each thread", names.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::{Id, Place};
    use selvedge_program::text::parse;
    use selvedge_program::{Global, Label};

    fn sample() -> Program {
        let text = "program
            thread A main f { procedure f nodes 2 entry 0 exit 1 { 0 -> 1 skip } }
            thread B main g { procedure g nodes 2 entry 0 exit 1 { 0 -> 1 skip } }";
        let mut program = parse(text).0.expect("it is a program");
        let global = |name: &str| Global::flag(name.to_owned(), Place::NONE, None);
        let bits = ["q0", "q1", "x"].map(|name| program.globals.push(global(name)));
        program.numerals.push(Numeral { name: "q".to_owned(), bits: bits[..2].to_vec() });
        for (name, node) in [("START", 0), ("START", 2), ("END", 3)] {
            let label =
                Label { name: name.to_owned(), node: NodeId::from_index(node), place: Place::NONE };
            program.labels.push(label);
        }
        program
    }

    fn pattern(text: &str) -> StatePattern {
        match state(&sample(), text) {
            Ok(Target::State(pattern)) => pattern,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn numbers_values_and_positions() {
        let global = GlobalId::from_index;
        let two = pattern("2|START,-");
        assert_eq!(two.globals, [(global(0), 0), (global(1), 1)]);
        let at = Position::At(vec![NodeId::from_index(0)]);
        assert_eq!(two.threads.as_slice(), [at, Position::Ended]);
        assert_eq!(pattern("x=T , q=1").globals.len(), 3);
        let any = pattern("*|*, END");
        assert!(any.globals.is_empty());
        assert_eq!(any.threads.as_slice()[1], Position::At(vec![NodeId::from_index(3)]));
    }

    #[test]
    fn labels_of_all_threads() {
        let nodes = [0, 2].map(NodeId::from_index).to_vec();
        assert_eq!(label(&sample(), "START"), Ok(Target::Label(nodes)));
        let missing = label(&sample(), "STRAT").expect_err("there is none");
        assert_eq!(missing.help.as_deref(), Some("did you mean `START`?"));
    }

    #[test]
    fn mistakes_have_codes() {
        for (text, code) in [
            ("4", "bad-target"),
            ("y=1", "unknown-variable"),
            ("x=2", "bad-target"),
            ("q=x", "bad-target"),
            ("x", "bad-target"),
            ("0|*", "bad-target"),
            ("0|END,*", "unknown-label"),
        ] {
            assert_eq!(state(&sample(), text).expect_err(text).code, code, "{text}");
        }
    }
}
