//! Definitions and liveness of random procedures agree with what a search through all runs finds, and
//! large procedures do not take long.

use selvedge_base::{Id as _, IdVec};
use selvedge_code::flow::definitions::{Definition, Definitions};
use selvedge_code::flow::graph::{BlockGraph, failures};
use selvedge_code::flow::liveness::Liveness;
use selvedge_code::model::{BlockId, Module, Point, Procedure, ProcedureId, RegisterId};
use selvedge_code::operands::{registers_read, registers_read_by_jump, targets};
use selvedge_code::statement::{Operation, Value};
use selvedge_code::text::{print, read};
use selvedge_testkit::Rng;
use selvedge_testkit::code::generate::{Shape, random_module};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;

type Known = Vec<Option<Definition>>;

/// The blocks that what fails in a block may go to, by the words of the definition.
fn handlers(procedure: &Procedure, block: BlockId) -> Vec<BlockId> {
    let mut found = Vec::new();
    for handler in &procedure.blocks[block].handlers {
        found.push(handler.target);
        if handler.catches.is_none() {
            break;
        }
    }
    found
}

fn read_at(procedure: &Procedure, point: Point) -> Vec<RegisterId> {
    let block = &procedure.blocks[point.block];
    match block.statements.get(point.index as usize) {
        Some(statement) => registers_read(&statement.operation),
        None => registers_read_by_jump(&block.end.jump),
    }
}

/// The points that come next, and whether the statement has had its effect.
fn next(procedure: &Procedure, point: Point) -> Vec<(Point, bool)> {
    let block = &procedure.blocks[point.block];
    let start = |block| Point::new(block, 0);
    let index = point.index as usize;
    let mut all = Vec::new();
    if failures(block).any(|failing| failing == index) {
        all.extend(handlers(procedure, point.block).into_iter().map(|to| (start(to), false)));
    }
    if index < block.statements.len() {
        all.push((Point::new(point.block, index + 1), true));
    } else {
        all.extend(targets(&block.end.jump).into_iter().map(|to| (start(to), true)));
    }
    all
}

/// The definitions that each use sees on some run; none if there are too many states.
fn by_runs(procedure: &Procedure) -> Option<BTreeMap<(Point, RegisterId), BTreeSet<Definition>>> {
    let mut known: Known = vec![None; procedure.registers.len()];
    for register in procedure.parameter_registers() {
        known[register.index()] = Some(Definition::Parameter(register));
    }
    let first = (Point::new(BlockId::from_index(0), 0), known);
    let mut seen: HashSet<(Point, Known)> = HashSet::from([first.clone()]);
    let mut open = vec![first];
    let mut found: BTreeMap<_, BTreeSet<Definition>> = BTreeMap::new();
    while let Some((point, known)) = open.pop() {
        if seen.len() > 30_000 {
            return None;
        }
        for register in read_at(procedure, point) {
            found.entry((point, register)).or_default().extend(known[register.index()]);
        }
        let block = &procedure.blocks[point.block];
        for (to, done) in next(procedure, point) {
            let mut known = known.clone();
            if let Some(statement) = block.statements.get(point.index as usize).filter(|_| done) {
                let copied = match statement.operation {
                    Operation::Move(Value::Register(copied)) => Some(known[copied.index()]),
                    _ => None,
                };
                for &result in &statement.results {
                    let own = Some(Definition::Statement(point, result));
                    known[result.index()] = copied.unwrap_or(own);
                }
            }
            if seen.insert((to, known.clone())) {
                open.push((to, known));
            }
        }
    }
    Some(found)
}

/// Whether some run reads a register from a point on before it assigns it.
fn is_read_later(procedure: &Procedure, from: Point, register: RegisterId) -> bool {
    let mut seen = HashSet::from([from]);
    let mut open = vec![from];
    while let Some(point) = open.pop() {
        if read_at(procedure, point).contains(&register) {
            return true;
        }
        let block = &procedure.blocks[point.block];
        for (to, done) in next(procedure, point) {
            let statement = block.statements.get(point.index as usize).filter(|_| done);
            let assigned = statement.is_some_and(|one| one.results.contains(&register));
            if !assigned && seen.insert(to) {
                open.push(to);
            }
        }
    }
    false
}

fn flow(procedure: &Procedure) -> (BlockGraph, Liveness, Definitions) {
    let graph = BlockGraph::new(procedure);
    let liveness = Liveness::new(procedure, &graph);
    let definitions = Definitions::new(procedure, &graph, &liveness);
    (graph, liveness, definitions)
}

#[test]
fn definitions_are_those_of_all_runs() {
    let (mut compared, mut joined, mut skipped) = (0, 0, 0);
    for seed in 0..4000 {
        let module = random_module(&mut Rng::new(seed), &Shape::FLOW);
        let procedure = &module.procedures[ProcedureId::from_index(0)];
        let (_, _, definitions) = flow(procedure);
        let Some(expected) = by_runs(procedure) else {
            skipped += 1;
            continue;
        };
        for (block, code) in procedure.blocks.iter_enumerated() {
            for index in 0..=code.statements.len() {
                let point = Point::new(block, index);
                for register in read_at(procedure, point) {
                    let found = definitions.at(point, register);
                    let expected = expected.get(&(point, register));
                    let expected: Vec<_> = expected.into_iter().flatten().copied().collect();
                    assert_eq!(found, expected, "seed {seed} {point:?}\n{}", print(&module));
                    compared += 1;
                    joined += usize::from(found.len() > 1);
                }
            }
        }
    }
    assert!(compared > 20_000 && joined > 1000 && skipped < 400, "{compared} {joined} {skipped}");
}

#[test]
fn live_registers_are_those_that_some_run_reads() {
    let mut live = 0;
    for seed in 0..1500 {
        let module = random_module(&mut Rng::new(seed), &Shape::FLOW);
        let procedure = &module.procedures[ProcedureId::from_index(0)];
        let (graph, liveness, _) = flow(procedure);
        for &block in &graph.order {
            for index in 0..=procedure.blocks[block].statements.len() {
                let point = Point::new(block, index);
                let expected: Vec<RegisterId> = procedure
                    .registers
                    .ids()
                    .filter(|&register| is_read_later(procedure, point, register))
                    .collect();
                let found = liveness.at(procedure, &graph, point);
                assert_eq!(found, expected, "seed {seed} {point:?}\n{}", print(&module));
                if index == 0 {
                    assert_eq!(liveness.at_start(block), expected, "seed {seed}");
                    let at = |register| liveness.is_live_at_start(block, register);
                    let one_by_one: Vec<_> =
                        procedure.registers.ids().filter(|&register| at(register)).collect();
                    assert_eq!(one_by_one, expected, "seed {seed}");
                }
                live += found.len();
            }
        }
    }
    assert!(live > 10_000, "{live}");
}

fn module(text: &str) -> Module {
    let reading = read(text);
    assert_eq!(reading.diagnostics, []);
    reading.module.expect("no mistake")
}

/// The number of values and operands of joins.
fn size(definitions: &Definitions) -> usize {
    use selvedge_code::flow::definitions::ValueNode;
    let operands = |node: &ValueNode| match node {
        ValueNode::Definition(_) => 1,
        ValueNode::Join { operands, .. } => 1 + operands.len(),
    };
    definitions.nodes.iter().map(operands).sum()
}

#[test]
fn ten_thousand_blocks_make_a_sparse_graph() {
    const BLOCKS: usize = 10_000;
    // Every block may assign `x`, and every block reads it.
    let mut branches = String::from("proc f(x, y)\na0:\n  goto b0\n");
    for n in 0..BLOCKS {
        write!(
            branches,
            "b{n}:\n  store y x\n  if eq y {n} goto c{n} else b{next}\nc{n}:\n  x = {n}\n  goto b{next}\n",
            next = n + 1
        )
        .expect("a string takes it");
    }
    write!(branches, "b{BLOCKS}:\n  store y x\n  return\n").expect("a string takes it");
    let branches = module(&branches);
    let procedure = &branches.procedures[ProcedureId::from_index(0)];
    let (_, _, definitions) = flow(procedure);
    let last = Point::new(BlockId::from_index(procedure.blocks.len() - 1), 0);
    let x = RegisterId::from_index(0);
    assert_eq!(definitions.at(last, x).len(), BLOCKS + 1);
    assert!(size(&definitions) < 6 * BLOCKS, "{}", size(&definitions));

    // One handler for all blocks, with a hundred registers that are live in it and one that changes.
    let mut guarded = String::from("proc f(p)\na0:\n");
    for n in 0..100 {
        writeln!(guarded, "  r{n} = 0\n  r{n} = 1").expect("a string takes it");
    }
    guarded.push_str("  goto b0\n");
    for n in 0..BLOCKS {
        write!(guarded, "b{n}: catch * -> h\n  !r0 = load p\n  goto b{}\n", n + 1)
            .expect("a string takes it");
    }
    write!(guarded, "b{BLOCKS}:\n  return\nh:\n").expect("a string takes it");
    for n in 0..100 {
        writeln!(guarded, "  store p r{n}").expect("a string takes it");
    }
    guarded.push_str("  return\n");
    let guarded = module(&guarded);
    let procedure = &guarded.procedures[ProcedureId::from_index(0)];
    let (graph, liveness, definitions) = flow(procedure);
    let handler = BlockId::from_index(procedure.blocks.len() - 1);
    assert_eq!(definitions.at(Point::new(handler, 0), RegisterId::from_index(1)).len(), BLOCKS);
    assert_eq!(definitions.at(Point::new(handler, 9), RegisterId::from_index(10)).len(), 1);
    assert!(size(&definitions) < 4 * BLOCKS, "{}", size(&definitions));
    assert_eq!(liveness.at(procedure, &graph, Point::new(handler, 0)).len(), 101);
}

#[test]
fn registers_that_live_through_many_blocks_are_validated_quickly() {
    const COUNT: usize = 5_000;
    let mut text = String::from("proc f(p)\na0:\n");
    for n in 0..COUNT {
        writeln!(text, "  r{n} = {n}").expect("a string takes it");
    }
    text.push_str("  goto b0\n");
    for n in 0..COUNT {
        write!(text, "b{n}:\n  if eq p {n} goto b0 else b{}\n", n + 1).expect("a string takes it");
    }
    writeln!(text, "b{COUNT}:").expect("a string takes it");
    for n in 0..COUNT {
        writeln!(text, "  store p r{n}").expect("a string takes it");
    }
    text.push_str("  return\n");
    let module = module(&text);
    let procedure = &module.procedures[ProcedureId::from_index(0)];
    let (_, liveness, definitions) = flow(procedure);
    let blocks: IdVec<BlockId, usize> =
        procedure.blocks.ids().map(|block| liveness.at_start(block).len()).collect();
    assert_eq!(blocks[BlockId::from_index(COUNT / 2)], COUNT + 1);
    assert!(size(&definitions) <= COUNT + 1);
}
