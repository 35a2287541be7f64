//! Programs in Java that are proved have no `synchronized` too many: without one of them something is found.
//! The classes are changed, not the sources: a method is synchronized no more, or the blocks of a method.

use selvedge_base::Budget;
use selvedge_front_java::class::{JavaInstruction, StackOperation};
use selvedge_library::CheckOptions;
use selvedge_library::java::{JavaBeginning, JavaClasses, JavaProgram, JavaSettings};
use std::collections::BTreeSet;

const PROGRAMS: &[u8] = include_bytes!("../../front-java/tests/classes/programs.jar");

/// Locks that are not needed: taken before threads are started, after they have ended, or under another lock.
const NOT_NEEDED: [&str; 3] =
    ["ClonedRight$C.copy", "JoinUnderOwnMonitorRight.main", "LeakedBySuperRight$Base.add"];

fn program() -> JavaProgram {
    let mut classes = JavaClasses::default();
    classes.add("programs.jar", PROGRAMS, None, &Budget::new()).expect("no limit");
    let settings = JavaSettings::default();
    classes.program(&settings, &Budget::new()).expect("programs begin in it")
}

fn findings(program: &JavaProgram) -> usize {
    let options = CheckOptions::default();
    let checked = program.check(&options, &Budget::new(), &mut |_, _, _| {});
    checked.expect("engines do not contradict the replayer").checked.findings.len()
}

#[test]
fn without_one_of_their_locks_right_programs_are_wrong() {
    let all = program();
    let name = |id| all.world.names.text(all.world.classes[id].name).to_owned();
    let mut quiet = BTreeSet::new();
    let mut changed = 0;
    for beginning in &all.begins {
        let JavaBeginning::Main(main) = *beginning else { continue };
        let own = name(main.class);
        if !own.ends_with("Right") {
            continue;
        }
        let ids: Vec<_> = all.world.classes.ids().collect();
        let nested = format!("{own}$");
        for class in ids.into_iter().filter(|&id| id == main.class || name(id).starts_with(&nested))
        {
            for number in 0..all.world.classes[class].methods.len() {
                let begins = vec![JavaBeginning::Main(main)];
                let mut one =
                    JavaProgram { world: all.world.clone(), begins, options: all.options.clone() };
                let method = &mut one.world.classes[class].methods[number];
                let is_synchronized = method.access.is_synchronized();
                method.access.0 &= !0x0020;
                let mut blocks = 0;
                for instruction in method.body.iter_mut().flat_map(|body| &mut body.instructions) {
                    if let JavaInstruction::MonitorEnter | JavaInstruction::MonitorExit =
                        instruction
                    {
                        blocks += 1;
                        *instruction = JavaInstruction::Stack(StackOperation::Pop);
                    }
                }
                if !is_synchronized && blocks == 0 {
                    continue;
                }
                changed += 1;
                if findings(&one) == 0 {
                    let method = &all.world.classes[class].methods[number];
                    quiet.insert(format!("{}.{}", name(class), all.world.names.text(method.name)));
                }
            }
        }
    }
    assert!(changed > 30, "{changed}");
    let expected: BTreeSet<String> = NOT_NEEDED.iter().map(|&one| one.to_owned()).collect();
    assert_eq!(quiet, expected);
}
