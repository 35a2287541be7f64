//! What values are in runs of random modules is among what they can be, and what calls run is among what
//! they reach. The interpreter shares nothing with the analysis.

#![expect(clippy::print_stdout, reason = "the large run shows its counts")]

use selvedge_base::{Budget, Id};
use selvedge_code::address::PathStep;
use selvedge_code::model::{Module, Point, ProcedureId};
use selvedge_code::operands::{registers_read, registers_read_by_jump};
use selvedge_code::statement::Value;
use selvedge_code::text::print;
use selvedge_code::words::ProcedureFlag;
use selvedge_heap::objects::{Objects, PointerId, Site};
use selvedge_heap::points_to::{PointsTo, points_to};
use selvedge_testkit::Rng;
use selvedge_testkit::code::generate::{Shape, random_module};
use selvedge_testkit::code::interpret::{Datum, Object};
use selvedge_testkit::code::machine::CodeMachine;
use std::collections::BTreeMap;

/// How many steps a run has.
const STEPS: usize = 400;

/// The statements by their origins.
fn origins(module: &Module) -> BTreeMap<u32, (ProcedureId, Point)> {
    let mut found = BTreeMap::new();
    for (id, procedure) in module.procedures.iter_enumerated() {
        for (block, of) in procedure.blocks.iter_enumerated() {
            for (index, statement) in of.statements.iter().enumerate() {
                if let Some(origin) = statement.provenance.origin {
                    found.insert(origin, (id, Point::new(block, index)));
                }
            }
        }
    }
    found
}

/// Whether a pointer leads to this byte, elements of arrays apart.
fn covers(
    module: &Module,
    objects: &Objects,
    pointer: PointerId,
    (site, offset): (Site, i64),
) -> bool {
    let pointer = &objects.pointers[pointer];
    if objects.objects[pointer.object].site != site {
        return false;
    }
    let Some(rest) = pointer.rest else { return true };
    let mut sum = i64::try_from(rest).expect("small");
    for step in &pointer.steps {
        match step {
            PathStep::Field(field) => {
                let offset = module.fields[*field].offset.unwrap_or(0);
                sum += i64::try_from(offset).expect("small");
            }
            PathStep::Element(_) => return true,
        }
    }
    sum == offset
}

struct Checked<'a> {
    module: &'a Module,
    found: &'a PointsTo,
    origins: BTreeMap<u32, (ProcedureId, Point)>,
    /// How many addresses, procedures and calls were compared.
    counts: [usize; 3],
}

impl Checked<'_> {
    /// What is wrong with a value at a point.
    fn value(
        &mut self,
        procedure: ProcedureId,
        point: Point,
        register: Value,
        datum: &Datum,
    ) -> bool {
        let set = self.found.value(procedure, point, register);
        match datum {
            Datum::Address(object, offset, _) => {
                self.counts[0] += 1;
                let site = match *object {
                    Object::Global(global) => Site::Global(Id::from_index(global)),
                    Object::Made(_, origin, _) | Object::Local(_, origin, _) => {
                        let (procedure, point) = self.origins[&origin];
                        Site::Statement(procedure, point)
                    }
                };
                let objects = &self.found.objects;
                set.iter().any(|one| covers(self.module, objects, one, (site, *offset)))
            }
            Datum::Procedure(of, _) => {
                self.counts[1] += 1;
                set.iter().any(|one| {
                    let object = self.found.objects.pointers[one].object;
                    match self.found.objects.objects[object].site {
                        Site::Procedure(one) | Site::Closure(_, _, one) => one == *of,
                        _ => false,
                    }
                })
            }
            _ => true,
        }
    }

    /// Compares what a thread is about to read; what is wrong.
    fn before(&mut self, machine: &CodeMachine<'_>, thread: usize) -> Option<String> {
        let (procedure, point, registers) = machine.frame(thread)?;
        let block = &self.module.procedures[procedure].blocks[point.block];
        let read = match block.statements.get(point.index as usize) {
            Some(statement) => registers_read(&statement.operation),
            None => registers_read_by_jump(&block.end.jump),
        };
        for register in read {
            let Some(datum) = registers.get(&register) else { continue };
            if !self.value(procedure, point, Value::Register(register), datum) {
                let of = &self.module.procedures[procedure];
                let name = &of.registers[register];
                let block = &of.blocks[point.block].name;
                return Some(format!(
                    "{name} in {} {block}/{} is {datum:?}, which is not known",
                    of.name, point.index
                ));
            }
        }
        None
    }
}

fn check(seed: u64, shape: &Shape, counts: &mut [usize; 3]) {
    let mut rng = Rng::new(seed);
    let mut module = random_module(&mut rng, shape);
    let entries: Vec<ProcedureId> =
        module.procedures.ids().filter(|&id| !module.procedures[id].blocks.is_empty()).collect();
    if entries.is_empty() {
        return;
    }
    let entry = *rng.pick(&entries);
    module.procedures[entry].flags.insert(ProcedureFlag::Entry);
    let found = points_to(&module, &Budget::new()).expect("no limit");
    let origins = origins(&module);
    let mut checked = Checked { module: &module, found: &found, origins, counts: *counts };
    for run in 0..3 {
        let mut machine = CodeMachine::new(&module, seed * 3 + run);
        let count = module.procedures[entry].parameters.len();
        machine.spawn_before(entry, (0..).take(count).map(Datum::Number).collect());
        for _ in 0..STEPS {
            let ready: Vec<usize> =
                (0..machine.threads.len()).filter(|&thread| machine.can_step(thread)).collect();
            if ready.is_empty() {
                break;
            }
            let thread = *rng.pick(&ready);
            if let Some(wrong) = checked.before(&machine, thread) {
                panic!("seed {seed}: {wrong}\n{}", print(&module));
            }
            let (before, depth) =
                (machine.frame(thread).map(|one| (one.0, one.1)), machine.depth(thread));
            let threads = machine.threads.len();
            machine.step(thread);
            let Some(at) = before else { continue };
            // A new thread may be in a call already.
            let run = if machine.threads.len() > threads {
                machine.frame(threads).filter(|_| machine.depth(threads) == 1)
            } else if machine.depth(thread) > depth {
                machine.frame(thread)
            } else {
                None
            };
            if let Some((run, point, _)) = run
                && point == Point::new(Id::from_index(0), 0)
            {
                checked.counts[2] += 1;
                let reached = found.calls.get(&at).is_some_and(|one| one.procedures.contains(&run));
                let name = &module.procedures[run].name;
                assert!(reached, "seed {seed}: {at:?} does not reach {name}\n{}", print(&module));
            }
        }
    }
    *counts = checked.counts;
}

#[test]
fn values_in_runs_are_among_those_that_are_found() {
    let programs: u64 =
        std::env::var("SELVEDGE_PROGRAMS").map_or(1500, |text| text.parse().expect("a number"));
    let mut counts = [0; 3];
    for seed in 0..programs {
        let shape = [Shape::ALL, Shape::LOCALS, Shape::FLAGS][seed as usize % 3];
        check(seed, &shape, &mut counts);
    }
    println!("{programs} modules: {counts:?} addresses, procedures and calls");
    let least = usize::try_from(programs).expect("small");
    assert!(counts[0] > 10 * least && counts[1] > least / 50 && counts[2] > least, "{counts:?}");
}
