//! # Idea
//! What was understood of an input, for programs: one JSON object with the facts of
//! [`crate::model`]. The complete model with its control flow has a text form of its own.

use crate::json::FORMAT;
use crate::outline::{ProcedureOutline, outline};
use crate::places::PlaceFields;
use selvedge_base::Place;
use selvedge_program::{ProcedureId, Program, Sharing};
use serde::Serialize;

/// Renders the model of the file called `name`.
pub fn render(name: &str, program: &Program) -> String {
    let outlines = outline(program);
    let sharing = Sharing::new(program);
    let document = Document {
        format: FORMAT,
        file: name,
        files: program.files.iter().map(|file| file.name.as_str()).collect(),
        globals: program
            .globals
            .iter()
            .map(|one| Named::new(&one.name, one.place, program))
            .collect(),
        locks: program
            .locks
            .iter()
            .map(|lock| Named::new(&lock.name, lock.place, program))
            .collect(),
        conditions: program
            .wait_sets
            .iter()
            .map(|set| ConditionEntry {
                name: Named::new(&set.name, set.place, program),
                lock: &program.locks[set.lock].name,
            })
            .collect(),
        channels: program
            .channels
            .iter()
            .map(|channel| Named::new(&channel.name, channel.place, program))
            .collect(),
        locations: program
            .locations
            .iter()
            .map(|location| LocationEntry {
                name: Named::new(&location.name, location.place, program),
                atomic_set: &program.atomic_sets[location.atomic_set].name,
            })
            .collect(),
        threads: program
            .threads
            .iter_enumerated()
            .map(|(id, thread)| ThreadEntry {
                name: Named::new(&thread.name, thread.place, program),
                main: &program.procedures[thread.main].name,
                procedures: sharing
                    .procedures(id)
                    .iter()
                    .map(|&id| ProcedureEntry::new(id, program, &outlines[id]))
                    .collect(),
            })
            .collect(),
    };
    let text = serde_json::to_string_pretty(&document);
    text.expect("strings and numbers always have a JSON form") + "\n"
}

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    file: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<&'a str>,
    threads: Vec<ThreadEntry<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    globals: Vec<Named<'a>>,
    locks: Vec<Named<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<ConditionEntry<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    channels: Vec<Named<'a>>,
    locations: Vec<LocationEntry<'a>>,
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    #[serde(flatten)]
    place: PlaceFields<'a>,
}

impl<'a> Named<'a> {
    fn new(name: &'a str, place: Place, program: &'a Program) -> Self {
        Self { name, place: PlaceFields::new(place, program) }
    }
}

#[derive(Serialize)]
struct ConditionEntry<'a> {
    #[serde(flatten)]
    name: Named<'a>,
    lock: &'a str,
}

#[derive(Serialize)]
struct LocationEntry<'a> {
    #[serde(flatten)]
    name: Named<'a>,
    atomic_set: &'a str,
}

#[derive(Serialize)]
struct ThreadEntry<'a> {
    #[serde(flatten)]
    name: Named<'a>,
    main: &'a str,
    procedures: Vec<ProcedureEntry<'a>>,
}

#[derive(Serialize)]
struct ProcedureEntry<'a> {
    #[serde(flatten)]
    name: Named<'a>,
    nodes: usize,
    edges: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locals: Vec<&'a str>,
    units: usize,
    locks: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    channels: Vec<&'a str>,
    reads: Vec<&'a str>,
    writes: Vec<&'a str>,
    calls: Vec<&'a str>,
    recursive: bool,
    called: bool,
}

impl<'a> ProcedureEntry<'a> {
    fn new(id: ProcedureId, program: &'a Program, own: &ProcedureOutline) -> Self {
        let location = |&id: &_| program.locations[id].name.as_str();
        let procedure = &program.procedures[id];
        let frame = &procedure.frame;
        let names: Vec<&str> = frame.locals.iter().map(|local| local.name.as_str()).collect();
        let (parameters, locals) = names.split_at(frame.parameters);
        Self {
            name: Named::new(&procedure.name, procedure.place, program),
            nodes: own.nodes,
            edges: own.edges,
            parameters: parameters.to_vec(),
            locals: locals.to_vec(),
            units: own.units,
            locks: own.locks.iter().map(|&id| program.locks[id].name.as_str()).collect(),
            channels: own.channels.iter().map(|&id| program.channels[id].name.as_str()).collect(),
            reads: own.reads.iter().map(location).collect(),
            writes: own.writes.iter().map(location).collect(),
            calls: own.calls.iter().map(|&id| program.procedures[id].name.as_str()).collect(),
            recursive: own.recursive,
            called: own.called,
        }
    }
}
