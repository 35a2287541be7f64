//! Classes as modules of code: every body of the test programs gives a valid module that reads back,
//! and its uses have the definitions that the operands of the instructions have.

use selvedge_base::{Budget, Id};
use selvedge_code::flow::definitions::{Definition as CodeDefinition, Definitions};
use selvedge_code::flow::graph::BlockGraph;
use selvedge_code::flow::liveness::Liveness;
use selvedge_code::model::{BlockId, Module, Point, Procedure, RegisterId};
use selvedge_code::operands::{registers_read, registers_read_by_jump};
use selvedge_code::statement::{Operation, Value};
use selvedge_code::text::{print, read};
use selvedge_code::validate::validate;
use selvedge_front_java::class::{Arithmetic, JavaBody};
use selvedge_front_java::frames::{Definition, Frames};
use selvedge_front_java::translate::translate;
use selvedge_front_java::world::MemberId;
use selvedge_front_java::{JavaInstruction, JavaKind, JavaNames, World, read_archive, read_class};
use std::collections::{BTreeMap, BTreeSet};

const JARS: [&[u8]; 7] = [
    include_bytes!("classes/programs.jar"),
    include_bytes!("classes/causes.jar"),
    include_bytes!("classes/causes-without-lines.jar"),
    include_bytes!("classes/newer.jar"),
    include_bytes!("classes/units.jar"),
    include_bytes!("classes/engine.jar"),
    include_bytes!("classes/versions.jar"),
];

fn world(jar: &[u8]) -> World {
    let contents = read_archive(jar, None, &Budget::new()).expect("an archive");
    let mut names = JavaNames::default();
    let classes: Vec<_> =
        contents.classes.iter().map(|(_, bytes)| read_class(bytes, &mut names).unwrap()).collect();
    World::new(names, classes)
}

/// The archives of the tests, and those of `SELVEDGE_ARCHIVES`, with colons between them.
fn worlds() -> impl Iterator<Item = World> {
    let more = std::env::var("SELVEDGE_ARCHIVES").unwrap_or_default();
    let more: Vec<String> =
        more.split(':').filter(|one| !one.is_empty()).map(str::to_owned).collect();
    let more = more.into_iter().map(|path| std::fs::read(path).expect("an archive"));
    let own = JARS.iter().map(|jar| jar.to_vec());
    own.chain(more).map(|jar| world(&jar))
}

#[test]
fn modules_are_valid_and_read_back() {
    for world in worlds() {
        let made = translate(&world, &Budget::new()).expect("no limit");
        let breaches: Vec<String> =
            validate(&made.module).iter().map(ToString::to_string).collect();
        assert!(breaches.is_empty(), "{breaches:#?}");
        assert!(made.refused.is_empty(), "{:?}", made.refused);
        let text = print(&made.module);
        let again = read(&text);
        let module = again.module.unwrap_or_else(|| panic!("{:?}", again.diagnostics.first()));
        // The ids differ: those of the text are in the order of the text.
        assert!(print(&module) == text);
    }
}

/// Where the value of a use comes from, in terms of the class file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum From {
    Parameter(usize),
    Instruction(usize),
    Caught(usize),
}

/// What instructions read, by their numbers.
type Uses = BTreeMap<usize, BTreeSet<From>>;

/// From the operands of instructions. Constants have no definition, and a number that becomes wider is
/// what it was.
fn uses_of_frames(body: &JavaBody, frames: &Frames) -> Uses {
    let mut uses = Uses::new();
    for at in frames.next.ids().filter(|&at| frames.reached[at]) {
        if moves(&body.instructions[at.index()]) {
            continue;
        }
        let mut found = BTreeSet::new();
        let mut open: Vec<Definition> =
            frames.operands[at].iter().flat_map(|one| one.iter().copied()).collect();
        let mut seen: BTreeSet<Definition> = open.iter().copied().collect();
        while let Some(definition) = open.pop() {
            match definition {
                Definition::Parameter(number) => {
                    found.insert(From::Parameter(usize::from(number)));
                }
                Definition::Caught(target) => {
                    found.insert(From::Caught(target.index()));
                }
                Definition::Result(made) => match &body.instructions[made.index()] {
                    JavaInstruction::Constant(_) => {}
                    JavaInstruction::Convert(JavaKind::Int, JavaKind::Long) => {
                        let more = frames.operands[made].iter().flat_map(|one| one.iter().copied());
                        open.extend(more.filter(|&one| seen.insert(one)));
                    }
                    // How longs compare is asked by the branch itself.
                    JavaInstruction::Compute(Arithmetic::Compare, JavaKind::Long) => {
                        let more = frames.operands[made].iter().flat_map(|one| one.iter().copied());
                        open.extend(more.filter(|&one| seen.insert(one)));
                    }
                    _ => {
                        found.insert(From::Instruction(made.index()));
                    }
                },
            }
        }
        if !found.is_empty() {
            uses.insert(at.index(), found);
        }
    }
    uses
}

/// Whether an instruction reads nothing by itself, or nothing that a statement reads.
fn moves(instruction: &JavaInstruction) -> bool {
    matches!(
        instruction,
        JavaInstruction::Load(..)
            | JavaInstruction::Store(..)
            | JavaInstruction::Stack(_)
            | JavaInstruction::NewArray(..)
            | JavaInstruction::Convert(JavaKind::Int, JavaKind::Long)
            | JavaInstruction::Compute(Arithmetic::Compare, JavaKind::Long)
    )
}

fn uses_of_code(procedure: &Procedure) -> Uses {
    let graph = BlockGraph::new(procedure);
    let liveness = Liveness::new(procedure, &graph);
    let definitions = Definitions::new(procedure, &graph, &liveness);
    let origin = |point: Point| {
        let block = &procedure.blocks[point.block];
        block.statements[point.index as usize].provenance.origin.map(|one| one as usize)
    };
    let mut uses = Uses::new();
    let mut note = |point: Point, at: Option<u32>, registers: Vec<RegisterId>| {
        let Some(at) = at.map(|at| at as usize) else { return };
        for register in registers {
            let value = definitions.value(point, register).expect("a definition");
            for definition in definitions.of(value) {
                let from = match definition {
                    CodeDefinition::Parameter(register) => From::Parameter(register.index()),
                    CodeDefinition::Statement(made, _) => {
                        let block = &procedure.blocks[made.block];
                        let Some(own) = origin(made) else { continue };
                        match block.statements[made.index as usize].operation {
                            Operation::Move(Value::Register(_)) => unreachable!("looked through"),
                            Operation::Move(_) => continue,
                            Operation::Caught => From::Caught(own),
                            // Several statements stand for one instruction.
                            _ if own == at && (made.block, made.index) == previous(point, made) => {
                                continue;
                            }
                            _ => From::Instruction(own),
                        }
                    }
                };
                uses.entry(at).or_default().insert(from);
            }
        }
    };
    for &id in &graph.order {
        let block = &procedure.blocks[id];
        for (index, statement) in block.statements.iter().enumerate() {
            if !matches!(statement.operation, Operation::Move(_)) {
                let registers = registers_read(&statement.operation);
                note(Point::new(id, index), statement.provenance.origin, registers);
            }
        }
        let end = Point::new(id, block.statements.len());
        note(end, block.end.provenance.origin, registers_read_by_jump(&block.end.jump));
    }
    uses
}

/// The place of a definition, if it stands before a use in the same block.
fn previous(use_at: Point, made: Point) -> (BlockId, u32) {
    let before = made.block == use_at.block && made.index < use_at.index;
    if before { (made.block, made.index) } else { (use_at.block, u32::MAX) }
}

fn compare(world: &World, module: &Module, name: &str, method: MemberId, procedure: &Procedure) {
    let of = world.of(method);
    let Some(body) = &of.body else { return };
    let Ok(frames) = Frames::new(of, body, &world.names) else { return };
    let (old, new) = (uses_of_frames(body, &frames), uses_of_code(procedure));
    for (at, expected) in &old {
        let found = new.get(at).cloned().unwrap_or_default();
        // What cannot fail reaches no handler, which frames do not know.
        let agrees =
            if body.handlers.is_empty() { found == *expected } else { found.is_subset(expected) };
        assert!(agrees, "{name} at {at}: {expected:?} and {found:?}\n{}", {
            let mut one = module.clone();
            one.procedures = std::iter::once(procedure.clone()).collect();
            print(&one)
        });
    }
}

#[test]
fn uses_have_the_definitions_of_operands() {
    let mut compared = 0;
    for world in worlds() {
        let made = translate(&world, &Budget::new()).expect("no limit");
        for (&method, &procedure) in &made.procedures {
            let procedure = &made.module.procedures[procedure];
            if procedure.blocks.is_empty() {
                continue;
            }
            compare(&world, &made.module, &procedure.name, method, procedure);
            compared += 1;
        }
    }
    assert!(compared > 3000, "{compared}");
}

#[test]
fn damaged_classes_give_valid_modules() {
    let contents = read_archive(JARS[1], None, &Budget::new()).expect("an archive");
    let (mut read_anyway, mut refused) = (0, 0);
    let mut state: u64 = 7;
    let mut random = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits") % below
    };
    for round in 0..1000 {
        let mut names = JavaNames::default();
        let mut classes = Vec::new();
        for (_, bytes) in &contents.classes {
            let mut bytes = bytes.clone();
            for _ in 0..=round % 4 {
                let at = random(bytes.len());
                bytes[at] = u8::try_from(random(256)).expect("a byte");
            }
            classes.extend(read_class(&bytes, &mut names).ok());
        }
        read_anyway += classes.len();
        let made = translate(&World::new(names, classes), &Budget::new()).expect("no limit");
        refused += made.refused.len();
        let breaches: Vec<String> =
            validate(&made.module).iter().map(ToString::to_string).collect();
        assert!(breaches.is_empty(), "round {round}: {breaches:#?}");
    }
    assert!(read_anyway > 3000 && refused > 150, "{read_anyway} classes, {refused} bodies refused");
}
