//! # Idea
//! Formulas for people, with the names of the program. A place is written by its label, or by its line.

use crate::normal::{NormalForm, NormalPart, PartId};
use selvedge_program::expression::{Atom, Readers, shown};
use selvedge_program::{
    Chain, ChainLink, Deed, Formula, NodeId, ProcedureId, Program, Proposition, StepCondition,
};
use std::fmt::{self, Write as _};

/// A formula in positive normal form, as text.
pub fn show(form: &NormalForm, program: &Program) -> String {
    part(form, form.whole, program, 0)
}

/// A chain, as text.
pub fn chain(chain: &Chain, program: &Program) -> String {
    let condition = |formula: &Formula| show(&NormalForm::new(formula), program);
    let step = |said: &StepCondition| {
        let whose = said.iter().map(|&(thread, deed)| {
            format!(" {}", proposition(&Proposition::Takes(thread, deed), program))
        });
        format!("one step{}", whose.collect::<Vec<_>>().join(" and"))
    };
    let mut text = String::from("at the beginning ");
    text.push_str(&condition(&chain.points[0]));
    for (link, point) in chain.links.iter().zip(&chain.points[1..]) {
        let way = match link {
            ChainLink::Any => "any steps".to_owned(),
            ChainLink::One(said) => step(said),
        };
        let _ = write!(text, ", then {way} to {}", condition(point));
    }
    for window in &chain.windows {
        let _ = write!(text, "; again and again {}", condition(&window.points[0]));
        for (said, point) in window.steps.iter().zip(&window.points[1..]) {
            let _ = write!(text, ", then {} to {}", step(said), condition(point));
        }
    }
    text
}

/// A part, in parentheses if it stands inside something that binds more strongly.
fn part(form: &NormalForm, id: PartId, program: &Program, around: u8) -> String {
    let constant = |id: PartId, value: bool| form.parts[id] == NormalPart::Constant(value);
    let two = |sign: &str, strength: u8, f: PartId, g: PartId| {
        let (f, g) = (part(form, f, program, strength), part(form, g, program, strength));
        let text = format!("{f} {sign} {g}");
        if around >= strength { format!("({text})") } else { text }
    };
    let one = |sign: &str, f: PartId| format!("{sign} {}", part(form, f, program, 4));
    match form.parts[id] {
        NormalPart::Constant(value) => value.to_string(),
        NormalPart::Literal(at, positive) => {
            let text = proposition(&form.atoms[at as usize], program);
            if positive { text } else { format!("!{text}") }
        }
        NormalPart::And(f, g) => two("&&", 2, f, g),
        NormalPart::Or(f, g) => two("||", 1, f, g),
        NormalPart::Next(f) => one("X", f),
        NormalPart::Until(f, g) if constant(f, true) => one("F", g),
        NormalPart::Release(f, g) if constant(f, false) => one("G", g),
        NormalPart::Until(f, g) => two("U", 3, f, g),
        NormalPart::Release(f, g) => two("R", 3, f, g),
    }
}

/// A proposition, as text.
pub fn proposition(proposition: &Proposition, program: &Program) -> String {
    let thread = |id| &program.threads[id].name;
    match proposition {
        Proposition::At(id, nodes) => format!("{}@{}", thread(*id), place(nodes, program)),
        Proposition::In(id, procedure) => {
            format!("in({}, {})", thread(*id), program.procedures[*procedure].name)
        }
        Proposition::Holds(id, lock) => {
            format!("holds({}, {})", thread(*id), program.locks[*lock].name)
        }
        Proposition::Unit(id) => format!("unit({})", thread(*id)),
        Proposition::About(id, one) => format!("next({}, {})", thread(*id), deed(*one, program)),
        Proposition::Ended(id) => format!("ended({})", thread(*id)),
        Proposition::Blocked(id) => format!("blocked({})", thread(*id)),
        Proposition::End => "end".to_owned(),
        Proposition::Deadlock => "deadlock".to_owned(),
        Proposition::Condition(condition) => {
            // It names globals only, so any procedure will do.
            let owner: ProcedureId = selvedge_base::Id::from_index(0);
            let names = |atom: Atom, f: &mut fmt::Formatter<'_>| program.write_atom(owner, atom, f);
            format!("{{{}}}", shown(condition, Readers::Formulas, &names))
        }
        Proposition::Takes(id, None) => format!("[{}]", thread(*id)),
        Proposition::Takes(id, Some(one)) => format!("[{}: {}]", thread(*id), deed(*one, program)),
    }
}

fn place(nodes: &[NodeId], program: &Program) -> String {
    let labelled = program.labels.iter().find(|label| nodes.contains(&label.node));
    if let Some(label) = labelled {
        return label.name.clone();
    }
    let mut edges = program.edges.iter().filter(|edge| nodes.contains(&edge.source));
    let line = edges.find_map(|edge| edge.place.line());
    line.map_or_else(|| "?".to_owned(), |line| line.to_string())
}

fn deed(deed: Deed, program: &Program) -> String {
    match deed {
        Deed::Read(id) => format!("read {}", program.locations[id].name),
        Deed::Write(id) => format!("write {}", program.locations[id].name),
        Deed::Acquire(id) => format!("acquire {}", program.locks[id].name),
        Deed::Release(id) => format!("release {}", program.locks[id].name),
        Deed::Begin => "begin".to_owned(),
        Deed::End => "end".to_owned(),
        Deed::Call(id) => format!("call {}", program.procedures[id].name),
        Deed::Return(id) => format!("return {}", program.procedures[id].name),
        Deed::Start(id) => format!("start {}", program.threads[id].name),
        Deed::Join(id) => format!("join {}", program.threads[id].name),
        Deed::Send(id) => format!("send {}", program.channels[id].name),
        Deed::Post(id) => format!("post {}", program.channels[id].name),
        Deed::Broadcast(id) => format!("broadcast {}", program.channels[id].name),
        Deed::Recv(id) => format!("recv {}", program.channels[id].name),
    }
}
