//! # Idea
//! What was understood of an input, for people: threads with their procedures, locks, channels and
//! locations with who uses them.

use crate::describe::{count, list};
use crate::escape::visible;
use crate::fit::wrap_lines;
use crate::outline::{ProcedureOutline, outline};
use crate::places::short;
use crate::statement::ShownValue;
use crate::terminal::{Terminal, Tone};
use crate::width::{columns, padded};
use selvedge_base::{IdVec, Place};
use selvedge_program::{Action, ProcedureId, Program, Sharing, Start, ThreadId, Type};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Renders the model of the file called `name`.
pub fn render(name: &str, program: &Program, terminal: Terminal) -> String {
    let outlines = outline(program);
    let sharing = Sharing::new(program);
    let mut out = String::new();
    let shared = match program.globals.len() {
        0 => String::new(),
        number => count(number, "global") + ", ",
    };
    let meeting = match program.channels.len() {
        0 => String::new(),
        number => count(number, "channel") + ", ",
    };
    let _ = writeln!(
        out,
        "{}: {}, {shared}{}, {meeting}{} in {}, {}, {}, {}",
        visible(name),
        count(program.threads.len(), "thread"),
        count(program.locks.len(), "lock"),
        count(program.locations.len(), "location"),
        count(program.atomic_sets.len(), "atomic set"),
        count(program.procedures.len(), "procedure"),
        count(program.nodes.len(), "node"),
        count(program.edges.len(), "edge"),
    );
    for thread in program.threads.ids() {
        out.push('\n');
        describe_thread(&mut out, thread, program, &sharing, &outlines, terminal);
    }
    files(&mut out, program, terminal);
    globals(&mut out, program, terminal);
    locks(&mut out, program, &outlines, terminal);
    conditions(&mut out, program, terminal);
    channels(&mut out, program, terminal);
    locations(&mut out, program, &outlines, terminal);
    wrap_lines(&out, terminal.width)
}

fn describe_thread(
    out: &mut String,
    thread: ThreadId,
    program: &Program,
    sharing: &Sharing,
    outlines: &IdVec<ProcedureId, ProcedureOutline>,
    terminal: Terminal,
) {
    let own = &program.threads[thread];
    let heading = format!("thread {}", visible(&own.name));
    let place = line_of(own.place, program);
    let _ = writeln!(out, "{}{}", terminal.paint(Tone::Heading, heading), place.trim_end());
    let procedures: Vec<ProcedureId> = sharing.procedures(thread).to_vec();
    let name = |id: ProcedureId| visible(&program.procedures[id].name);
    let widest = procedures.iter().map(|&id| columns(&name(id))).max().unwrap_or(0);
    for id in procedures {
        let facts = facts(id, thread, program, &outlines[id]);
        let place = line_of(program.procedures[id].place, program);
        let _ = writeln!(out, "  {}{place}{}", padded(&name(id), widest), facts.join("; "));
    }
}

fn facts(
    id: ProcedureId,
    thread: ThreadId,
    program: &Program,
    own: &ProcedureOutline,
) -> Vec<String> {
    let mut facts = vec![count(own.edges, "edge")];
    let thread = &program.threads[thread];
    let is_main = thread.main == id;
    if is_main && thread.start != Start::AtFirst {
        facts.push("the thread starts here when it is started".to_owned());
    } else if is_main {
        facts.push("the thread starts here".to_owned());
    } else if !own.called {
        facts.push("never called".to_owned());
    }
    let frame = &program.procedures[id].frame;
    for (number, what) in [
        (frame.parameters, "parameter"),
        (frame.locals.len() - frame.parameters, "local"),
        (frame.results.len(), "result"),
    ] {
        if number > 0 {
            facts.push(count(number, what));
        }
    }
    if own.units > 0 {
        facts.push(count(own.units, "unit"));
    }
    let location = |&id: &_| visible(&program.locations[id].name);
    let mut add = |what: &str, names: Vec<Cow<'_, str>>| {
        if !names.is_empty() {
            facts.push(format!("{what} {}", list(names)));
        }
    };
    add("locks", own.locks.iter().map(|&id| visible(&program.locks[id].name)).collect());
    add("channels", own.channels.iter().map(|&id| visible(&program.channels[id].name)).collect());
    add("reads", own.reads.iter().map(location).collect());
    add("writes", own.writes.iter().map(location).collect());
    add("calls", own.calls.iter().map(|&id| visible(&program.procedures[id].name)).collect());
    if own.recursive {
        facts.push("recursive".to_owned());
    }
    facts
}

/// The names in full; places have their last parts.
fn files(out: &mut String, program: &Program, terminal: Terminal) {
    if program.files.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", terminal.paint(Tone::Heading, "files"));
    for file in &program.files {
        let _ = writeln!(out, "  {}", visible(&file.name));
    }
}

fn globals(out: &mut String, program: &Program, terminal: Terminal) {
    if program.globals.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", terminal.paint(Tone::Heading, "globals"));
    let widest = widest(program.globals.iter().map(|global| global.name.as_str()));
    for global in &program.globals {
        let first = match (global.initial, global.ty) {
            (None, _) => "any value at first".to_owned(),
            (Some(0), Type::Bool) => "false at first".to_owned(),
            (Some(_), Type::Bool) => "true at first".to_owned(),
            (Some(value), ty) => {
                format!("{} at first", visible(&ShownValue::of(program, ty, value).to_string()))
            }
        };
        let (name, place) =
            (padded(&visible(&global.name), widest), line_of(global.place, program));
        let _ = writeln!(out, "  {name}{place}{first}");
    }
}

fn locks(
    out: &mut String,
    program: &Program,
    outlines: &IdVec<ProcedureId, ProcedureOutline>,
    terminal: Terminal,
) {
    if program.locks.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", terminal.paint(Tone::Heading, "locks"));
    let widest = widest(program.locks.iter().map(|lock| lock.name.as_str()));
    for (id, lock) in program.locks.iter_enumerated() {
        let takers = users(program, outlines, |own| own.locks.contains(&id));
        let place = line_of(lock.place, program);
        let name = padded(&visible(&lock.name), widest);
        let _ = writeln!(out, "  {name}{place}taken by {takers}");
    }
}

fn conditions(out: &mut String, program: &Program, terminal: Terminal) {
    if program.wait_sets.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", terminal.paint(Tone::Heading, "conditions"));
    let titles: Vec<String> =
        program.wait_sets.ids().map(|id| program.wait_set_title(id)).collect();
    let widest = widest(titles.iter().map(String::as_str));
    for ((id, set), title) in program.wait_sets.iter_enumerated().zip(&titles) {
        let waiting = procedures_with(program, |action| action == Action::Wait(id));
        let notifying = procedures_with(program, |action| {
            action == Action::Notify(id) || action == Action::NotifyAll(id)
        });
        let place = line_of(set.place, program);
        let name = padded(&visible(title), widest);
        let _ = writeln!(out, "  {name}{place}waited for by {waiting}; notified by {notifying}");
    }
}

/// The procedures with an edge that does this, as `thread.procedure`.
fn procedures_with(program: &Program, does: impl Fn(Action) -> bool) -> String {
    let own = program.edges.iter().filter(|edge| does(edge.action));
    let procedures: BTreeSet<ProcedureId> = own.map(|edge| program.nodes[edge.source]).collect();
    let names = procedures.into_iter().map(|id| program.qualified_name(id));
    let names: Vec<String> = names.map(|name| visible(&name).into_owned()).collect();
    if names.is_empty() { "nobody".to_owned() } else { names.join(", ") }
}

fn channels(out: &mut String, program: &Program, terminal: Terminal) {
    if program.channels.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", terminal.paint(Tone::Heading, "channels"));
    let widest = widest(program.channels.iter().map(|channel| channel.name.as_str()));
    for (id, channel) in program.channels.iter_enumerated() {
        let users = |receives: bool| {
            procedures_with(program, |action| {
                action.channel() == Some(id) && matches!(action, Action::Recv(_)) == receives
            })
        };
        let place = line_of(channel.place, program);
        let name = padded(&visible(&channel.name), widest);
        let (senders, receivers) = (users(false), users(true));
        let _ = writeln!(out, "  {name}{place}sent over by {senders}; received by {receivers}");
    }
}

fn locations(
    out: &mut String,
    program: &Program,
    outlines: &IdVec<ProcedureId, ProcedureOutline>,
    terminal: Terminal,
) {
    if program.locations.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", terminal.paint(Tone::Heading, "locations"));
    let widest = widest(program.locations.iter().map(|location| location.name.as_str()));
    for (id, location) in program.locations.iter_enumerated() {
        let readers = users(program, outlines, |own| own.reads.contains(&id));
        let writers = users(program, outlines, |own| own.writes.contains(&id));
        let set = visible(&program.atomic_sets[location.atomic_set].name);
        let place = line_of(location.place, program);
        let name = padded(&visible(&location.name), widest);
        let _ = writeln!(
            out,
            "  {name}{place}atomic set {set}; read by {readers}; written by {writers}"
        );
    }
}

/// The procedures that do something, as `thread.procedure`.
fn users(
    program: &Program,
    outlines: &IdVec<ProcedureId, ProcedureOutline>,
    uses: impl Fn(&ProcedureOutline) -> bool,
) -> String {
    let users = outlines
        .iter_enumerated()
        .filter(|(_, own)| uses(own))
        .map(|(id, _)| visible(&program.qualified_name(id)).into_owned());
    let users: Vec<String> = users.collect();
    if users.is_empty() { "nobody".to_owned() } else { users.join(", ") }
}

fn widest<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(|name| columns(&visible(name))).max().unwrap_or(0)
}

/// Room for a place of the file that was read.
const PLACE_WIDTH: usize = 8;

/// Where something is declared, as a column.
fn line_of(place: Place, program: &Program) -> String {
    let shown = padded(&format!("  {}", short(place, program)), PLACE_WIDTH);
    if columns(&shown) > PLACE_WIDTH { shown + "  " } else { shown }
}
