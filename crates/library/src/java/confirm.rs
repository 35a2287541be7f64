//! # Idea
//! A finding as something to be run: copies of the classes that call the conductor where something happens in
//! its interleaving, and the schedule that tells the conductor who may go on when. The program itself takes and
//! frees its locks, so a schedule has accesses and the acquisitions before them, each with how many accesses
//! must have happened before.
//!
//! # Source
//! `front-java/src/conductor/Conductor.java` reads schedules: one line for each thread, step and end of a unit,
//! numbers for places, which comments explain.
//!
//! # Invariants
//! 1. Two threads race if both are before their accesses of one object at the same moment; a unit is broken if
//!    all accesses of the interleaving happened in its order, on the same objects and within the same units;
//!    threads wait for each other if the JVM says so.

use super::{ClassBytes, JavaProgram, JavaSites};
use selvedge_base::Id as _;
use selvedge_findings::{Finding, FindingKind};
use selvedge_front_java::class::{At, FieldAccess, JavaInstruction};
use selvedge_front_java::options::JavaBeginning;
use selvedge_front_java::rewrite::{ConductorCalls, ConductorPlace, with_calls};
use selvedge_front_java::world::{ClassId, MemberId, Resolution, World};
use selvedge_program::{Action, LocationId, Program, StepKind, ThreadId, TraceStep};
use selvedge_report::escape::visible;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// More places than this are not told apart.
const PLACES: usize = 30_000;

/// A place that threads of a run come to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunPlace {
    /// The class and the method.
    pub method: String,
    /// The byte of the instruction in the body.
    pub offset: u32,
    /// The line, if it is known.
    pub line: Option<u32>,
}

impl std::fmt::Display for RunPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => {
                write!(f, "{} (line {line}, byte {})", visible(&self.method), self.offset)
            }
            None => write!(f, "{} (byte {})", visible(&self.method), self.offset),
        }
    }
}

/// What a run needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rehearsal {
    /// The class that the program begins with.
    pub main: String,
    /// What the conductor reads.
    pub schedule: String,
    /// The copies of classes, by their names with slashes.
    pub classes: ClassBytes,
    /// The places, by their numbers in the schedule.
    pub places: Vec<RunPlace>,
    /// The numbers of the places that threads are to come to, in the order of the schedule.
    pub order: Vec<u16>,
}

/// What a finding needs to be run.
///
/// # Errors
/// Why it cannot be, in words.
pub fn rehearsal(
    java: &JavaProgram,
    classes: &ClassBytes,
    program: &Program,
    sites: &JavaSites,
    finding: &Finding,
) -> Result<Rehearsal, String> {
    let beginning = finding.threads.first().and_then(|&one| sites.threads.get(one));
    let main = match beginning.and_then(|&(number, _)| java.begins.get(number)) {
        Some(JavaBeginning::Main(main)) => *main,
        _ => return Err("it does not begin with a `main`, so there is nothing to run".to_owned()),
    };
    let mut writing = Writing {
        world: &java.world,
        program,
        sites,
        calls: Calls::default(),
        lines: Vec::new(),
        order: Vec::new(),
    };
    let kind = match finding.kind {
        FindingKind::Race => "race",
        FindingKind::Deadlock => "deadlock",
        FindingKind::Atomicity => "atomicity",
        _ => return Err("findings of this kind are not run".to_owned()),
    };
    let mut slots: Vec<ThreadId> = Vec::new();
    for step in finding.trace.steps.iter().chain(&finding.trace.next) {
        let acts = step.matched.is_some() || finding.trace.next.contains(step);
        if acts && !slots.contains(&step.thread) {
            slots.push(step.thread);
        }
    }
    for (number, &thread) in slots.iter().enumerate() {
        let is_first = sites.threads.get(thread).is_some_and(|one| one.1);
        let kind = if is_first { "main" } else { "started" };
        writing.lines.push(format!("thread {number} {kind}"));
    }
    if finding.kind == FindingKind::Atomicity {
        writing.in_order(&finding.trace.steps, &slots)?;
    } else {
        writing.at_once(&finding.trace.next, &slots)?;
    }
    let Writing { calls, lines, order, .. } = writing;
    let made = calls.rehearsal(&java.world, classes, main, kind, &lines)?;
    Ok(Rehearsal { order, ..made })
}

/// Copies of all classes in which threads pause at random before and after accesses of fields that are not
/// volatile, and in which accesses that are about to happen at once are noted. With `units`, which suits programs
/// in which no method fails, so are units of work, methods that are not private and locked regions, that are
/// neither before nor after each other.
///
/// # Errors
/// Why it cannot be run, in words.
pub fn watched(
    world: &World,
    classes: &ClassBytes,
    main: MemberId,
    units: bool,
) -> Result<Rehearsal, String> {
    let (mut calls, mut lines) = (Calls::default(), Vec::new());
    for (class, of) in world.classes.iter_enumerated() {
        for (number, method) in of.methods.iter().enumerate() {
            let name = world.names.text(method.name);
            let Some(body) = method.body.as_ref().filter(|_| !name.starts_with('<')) else {
                continue;
            };
            let own = MemberId { class, number };
            let is_unit = units && !method.access.is_private() && !method.access.is_synthetic();
            for (at, instruction) in body.instructions.iter().enumerate() {
                let place = ConductorPlace::Instruction(At::from_index(at));
                let mut at_unit = |how: &str| -> Result<(), String> {
                    lines.push(format!("{how} {}", calls.point(world, own, place)?));
                    Ok(())
                };
                if is_unit && at == 0 {
                    at_unit("begin")?;
                }
                match instruction {
                    JavaInstruction::Return(_) if is_unit => at_unit("end")?,
                    JavaInstruction::MonitorEnter if units => at_unit("begin")?,
                    JavaInstruction::MonitorExit if units => at_unit("end")?,
                    JavaInstruction::Field(access, member) => {
                        let Resolution::Found(field) = world.field(*member) else { continue };
                        let of = &world.classes[field.class].fields[field.number];
                        if of.access.is_volatile() || of.access.is_final() {
                            continue;
                        }
                        let writes = matches!(access, FieldAccess::Put | FieldAccess::PutStatic);
                        let point = calls.point(world, own, place)?;
                        let how = if writes { "write" } else { "read" };
                        let name = format!("{}.{}", field.class.index(), field.number);
                        lines.push(format!("watch {point} {how} {name}"));
                    }
                    _ => {}
                }
            }
        }
    }
    calls.rehearsal(world, classes, main, "watch", &lines)
}

/// The calls of the conductor.
#[derive(Default)]
struct Calls {
    numbers: BTreeMap<(MemberId, ConductorPlace), u16>,
    places: Vec<RunPlace>,
}

impl Calls {
    /// The number of a place.
    fn point(
        &mut self,
        world: &World,
        method: MemberId,
        place: ConductorPlace,
    ) -> Result<u16, String> {
        if let Some(&known) = self.numbers.get(&(method, place)) {
            return Ok(known);
        }
        if self.places.len() >= PLACES {
            return Err("there are too many places".to_owned());
        }
        let number = self.places.len() as u16;
        let of = world.of(method);
        let at = match place {
            ConductorPlace::Entry => At::from_index(0),
            ConductorPlace::Instruction(at) => at,
        };
        let body = of.body.as_ref();
        let class = world.names.class(world.classes[method.class].name);
        self.places.push(RunPlace {
            method: format!("{class}.{}", world.names.text(of.name)),
            offset: body.and_then(|body| body.offsets.get(at.index()).copied()).unwrap_or(0),
            line: body.and_then(|body| body.line(at)),
        });
        self.numbers.insert((method, place), number);
        Ok(number)
    }

    fn rehearsal(
        self,
        world: &World,
        classes: &ClassBytes,
        main: MemberId,
        kind: &str,
        lines: &[String],
    ) -> Result<Rehearsal, String> {
        let mut of_classes: BTreeMap<ClassId, ConductorCalls> = BTreeMap::new();
        for (&(method, place), &number) in &self.numbers {
            of_classes.entry(method.class).or_default().insert((method.number, place), number);
        }
        let mut copies = ClassBytes::new();
        for (class, calls) in of_classes {
            let name = world.names.text(world.classes[class].name);
            let Some(bytes) = classes.get(name) else {
                return Err(format!("the bytes of {} were not kept", visible(name)));
            };
            let copy = with_calls(bytes, &calls)
                .map_err(|wrong| format!("{} cannot be changed: {wrong}", visible(name)))?;
            copies.insert(name.to_owned(), copy);
        }
        let mut schedule = format!("finding {kind}\n");
        for (number, place) in self.places.iter().enumerate() {
            let _ = writeln!(schedule, "# {number} is {place}");
        }
        for line in lines {
            let _ = writeln!(schedule, "{line}");
        }
        let main = world.names.class(world.classes[main.class].name);
        Ok(Rehearsal { main, schedule, classes: copies, places: self.places, order: Vec::new() })
    }
}

/// The schedule of a finding, as far as it is written.
struct Writing<'a> {
    world: &'a World,
    program: &'a Program,
    sites: &'a JavaSites,
    calls: Calls,
    lines: Vec<String>,
    order: Vec<u16>,
}

impl Writing<'_> {
    fn site(&self, step: &TraceStep) -> Option<(MemberId, At)> {
        self.sites.edges.get(&step.step.edge()?).copied()
    }

    /// The number of the place where a step is about to happen.
    fn place(&mut self, step: &TraceStep) -> Result<u16, String> {
        let Some((method, at)) = self.site(step) else {
            return Err("a step of the interleaving has no instruction".to_owned());
        };
        if self.world.of(method).by_handle.is_some() {
            return Err("nobody can be held at an access by a handle".to_owned());
        }
        let acquires = matches!(step.kind, StepKind::Acquire(_))
            || step
                .step
                .edge()
                .is_some_and(|edge| matches!(self.program.edges[edge].action, Action::Acquire(_)));
        let at_entry = at.index() == 0 && self.world.of(method).access.is_synchronized();
        let place = if acquires && at_entry {
            ConductorPlace::Entry
        } else {
            ConductorPlace::Instruction(at)
        };
        let point = self.calls.point(self.world, method, place)?;
        self.order.push(point);
        Ok(point)
    }

    fn at_once(&mut self, next: &[TraceStep], slots: &[ThreadId]) -> Result<(), String> {
        for step in next {
            let point = self.place(step)?;
            let slot = slots.iter().position(|one| *one == step.thread).unwrap_or(0);
            let owner = self.owned(step, "object");
            self.lines.push(format!("step {slot} {point} 0 access 0 {owner}"));
        }
        Ok(())
    }

    fn in_order(&mut self, steps: &[TraceStep], slots: &[ThreadId]) -> Result<(), String> {
        let mut done = 0;
        let mut units: Vec<(usize, bool)> = vec![(0, false); slots.len()];
        let mut owners: Vec<String> = Vec::new();
        let mut seen: BTreeSet<(usize, usize, u16)> = BTreeSet::new();
        for step in steps {
            let Some(slot) = slots.iter().position(|one| *one == step.thread) else { continue };
            match step.kind {
                StepKind::BeginUnit => {
                    units[slot] = (units[slot].0 + 1, true);
                    self.unit(step)?;
                }
                StepKind::EndUnit => units[slot].1 = false,
                StepKind::Acquire(_) if !self.is_again(step) => {
                    let point = self.place(step)?;
                    self.lines.push(format!("step {slot} {point} {done} acquire 0 -"));
                }
                StepKind::Read(location) | StepKind::Write(location) if step.matched.is_some() => {
                    let point = self.place(step)?;
                    let unit = if units[slot].1 { units[slot].0 } else { 0 };
                    if !seen.insert((slot, units[slot].0, point)) && self.is_call(step) {
                        let text = "both accesses of a unit lie in one call of code outside";
                        return Err(text.to_owned());
                    }
                    let owner = self.owner(location);
                    let number = owners.iter().position(|one| *one == owner).unwrap_or_else(|| {
                        owners.push(owner);
                        owners.len() - 1
                    });
                    let owner = self.owned(step, &number.to_string());
                    self.lines.push(format!("step {slot} {point} {done} access {unit} {owner}"));
                    done += 1;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What is said of what an access is of: a static field has no object.
    fn owned(&self, step: &TraceStep, name: &str) -> String {
        let is_static = self.site(step).is_some_and(|(method, at)| {
            let body = self.world.of(method).body.as_ref();
            let instruction = body.and_then(|body| body.instructions.get(at.index()));
            matches!(
                instruction,
                Some(JavaInstruction::Field(FieldAccess::GetStatic | FieldAccess::PutStatic, _))
            )
        });
        format!("{}{name}", if is_static { "static-" } else { "" })
    }

    /// Whether a lock is taken again that was given up for a while, which nobody can be held before.
    fn is_again(&self, step: &TraceStep) -> bool {
        let Some(site) = self.site(step) else { return true };
        let edges = self.program.edges.iter_enumerated();
        let mut same = edges.filter(|(edge, _)| self.sites.edges.get(edge) == Some(&site));
        same.any(|(_, edge)| matches!(edge.action, Action::Release(_)))
    }

    fn is_call(&self, step: &TraceStep) -> bool {
        let Some((method, at)) = self.site(step) else { return false };
        let body = self.world.of(method).body.as_ref();
        let instruction = body.and_then(|body| body.instructions.get(at.index()));
        matches!(
            instruction,
            Some(JavaInstruction::Invoke(..) | JavaInstruction::InvokeDynamic(..))
        )
    }

    /// Notes where a unit begins and where it can end.
    fn unit(&mut self, begins: &TraceStep) -> Result<(), String> {
        let Some(edge) = begins.step.edge() else { return Ok(()) };
        let procedure = self.program.nodes[self.program.edges[edge].source];
        let mut places: BTreeSet<(MemberId, At)> = self.site(begins).into_iter().collect();
        for (id, edge) in self.program.edges.iter_enumerated() {
            if edge.action == Action::EndUnit && self.program.nodes[edge.source] == procedure {
                places.extend(self.sites.edges.get(&id));
            }
        }
        for (method, at) in places {
            let point = self.calls.point(self.world, method, ConductorPlace::Instruction(at))?;
            let line = format!("unit {point}");
            if !self.lines.contains(&line) {
                self.lines.push(line);
            }
        }
        Ok(())
    }

    /// What an access of a location names: the object with the field, or the array or container itself.
    fn owner(&self, location: LocationId) -> String {
        let name = &self.program.locations[location].name;
        match name.strip_suffix("[]") {
            Some(array) => array.to_owned(),
            None => name.rsplit_once('.').map_or("", |(owner, _)| owner).to_owned(),
        }
    }
}
