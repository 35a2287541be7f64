//! Programs in Java that are proved have no `synchronized` too many: without one of them something is found.
//! The classes are changed, not the sources: a method is synchronized no more, or the blocks of a method.

use selvedge_base::Budget;
use selvedge_front_java::World;
use selvedge_front_java::class::{JavaInstruction, StackOperation};
use selvedge_front_java::read_archive;
use selvedge_library::CheckOptions;
use selvedge_library::java::{
    FrameworkPreset, JavaBeginning, JavaClasses, JavaOptions, JavaProgram, JavaSettings,
    UnitOptions,
};
use std::collections::BTreeSet;

const PROGRAMS: &[u8] = include_bytes!("../../front-java/tests/classes/programs.jar");
const UNITS: &[u8] = include_bytes!("../../front-java/tests/classes/units.jar");
const ENGINE: &[u8] = include_bytes!("../../front-java/tests/classes/engine.jar");
const FRAMEWORKS: &[u8] = include_bytes!("../../front-java/tests/classes/frameworks.jar");

/// Locks that are not needed: taken before threads are started, after they have ended, with another lock, or
/// by one thread for each object.
const NOT_NEEDED: [&str; 7] = [
    "ClonedRight$C.copy",
    "FirstInitialisedRight.<clinit>",
    "JoinUnderOwnMonitorRight.main",
    "LeakedBySuperRight$Base.add",
    "NumbersAsLocksRight.lambda$main$0",
    "NumbersAsLocksRight.lambda$main$1",
    "TwoClassesCycleRight$Till.empty",
];

/// The program of the classes of a jar whose names begin so.
fn program(jar: &[u8], begin: &str, settings: &JavaSettings) -> JavaProgram {
    let budget = Budget::new();
    let mut classes = JavaClasses::default();
    let all = read_archive(jar, None, &budget).expect("it is whole").classes;
    for (name, bytes) in all.iter().filter(|(name, _)| name.starts_with(begin)) {
        classes.add(name, bytes, None, &budget).expect("no limit");
    }
    classes.program(settings, &budget).expect("programs begin in it")
}

fn named(main: &str) -> JavaSettings {
    JavaSettings { main: Some(main.to_owned()), ..JavaSettings::default() }
}

/// Whether something is found, and whether something is open.
fn verdict(program: &JavaProgram) -> (bool, bool) {
    let options = CheckOptions::default();
    let checked = program.check(&options, &Budget::new(), &mut |_, _, _| {});
    let checked = checked.expect("engines do not contradict the replayer").checked;
    (!checked.findings.is_empty(), !checked.open.is_empty())
}

fn class_name(world: &World, class: selvedge_front_java::world::ClassId) -> &str {
    world.names.text(world.classes[class].name)
}

/// The methods of some classes, the locks of which are not missed, and how many were looked at.
fn not_missed(of: &JavaProgram, is_own: impl Fn(&str) -> bool) -> (usize, BTreeSet<String>) {
    let (mut changed, mut quiet) = (0, BTreeSet::new());
    for class in of.world.classes.ids().filter(|&id| is_own(class_name(&of.world, id))) {
        for number in 0..of.world.classes[class].methods.len() {
            let mut one = of.clone();
            let method = &mut one.world.classes[class].methods[number];
            let is_synchronized = method.access.is_synchronized();
            method.access.0 &= !0x0020;
            let mut blocks = 0;
            for instruction in method.body.iter_mut().flat_map(|body| &mut body.instructions) {
                if let JavaInstruction::MonitorEnter | JavaInstruction::MonitorExit = instruction {
                    blocks += 1;
                    *instruction = JavaInstruction::Stack(StackOperation::Pop);
                }
            }
            if !is_synchronized && blocks == 0 {
                continue;
            }
            changed += 1;
            if !verdict(&one).0 {
                let method = of.world.names.text(of.world.classes[class].methods[number].name);
                quiet.insert(format!("{}.{method}", class_name(&of.world, class)));
            }
        }
    }
    (changed, quiet)
}

/// Whether a class is this one or nested in it.
fn is_in(outer: &str) -> impl Fn(&str) -> bool + '_ {
    move |name| {
        name.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('$'))
    }
}

#[test]
fn without_one_of_their_locks_right_programs_are_wrong() {
    let all = program(PROGRAMS, "", &JavaSettings::default());
    let mut quiet = BTreeSet::new();
    let mut changed = 0;
    for beginning in &all.begins {
        let JavaBeginning::Main(main) = *beginning else { continue };
        let own = class_name(&all.world, main.class).to_owned();
        if !own.ends_with("Right") {
            continue;
        }
        let begins = vec![JavaBeginning::Main(main)];
        let one = JavaProgram {
            world: all.world.clone(),
            begins,
            options: all.options.clone(),
            digest: String::new(),
        };
        let (count, missed) = not_missed(&one, is_in(&own));
        changed += count;
        quiet.extend(missed);
    }
    assert!(changed > 30, "{changed}");
    let expected: BTreeSet<String> = NOT_NEEDED.iter().map(|&one| one.to_owned()).collect();
    assert_eq!(quiet, expected);
}

#[test]
fn without_one_of_its_locks_a_careful_class_is_careless() {
    let all = program(PROGRAMS, "", &JavaSettings::default());
    let names = all.world.classes.ids().map(|id| class_name(&all.world, id).to_owned());
    let careful: Vec<String> =
        names.filter(|name| name.ends_with("Careful") && !name.contains('$')).collect();
    assert!(careful.len() > 4, "{careful:?}");
    for name in careful {
        let settings = JavaSettings { class: Some(name.clone()), ..JavaSettings::default() };
        let one = settings.program(all.world.clone(), &Budget::new()).expect("it is there");
        let (changed, mut quiet) = not_missed(&one, is_in(&name));
        // It only makes what does the rest.
        quiet.remove("WalkedCareful.walk");
        assert!(changed > 0 && quiet.is_empty(), "{name}: {quiet:?}");
    }
    let entries = vec!["RequestsKept.handle".to_owned()];
    let settings = JavaSettings { entries, ..JavaSettings::default() };
    let kept = settings.program(all.world.clone(), &Budget::new()).expect("it is there");
    let (changed, quiet) = not_missed(&kept, is_in("RequestsKept"));
    assert!(changed > 0 && quiet.is_empty(), "{quiet:?}");
}

#[test]
fn the_same_holds_for_units_that_are_asked_for_and_for_frameworks() {
    let loops = UnitOptions { loops: true, ..UnitOptions::default() };
    let plain = UnitOptions::default();
    for (jar, main, units) in [
        (UNITS, "ParkingHeld", &loops),
        (UNITS, "ParkingOne", &loops),
        (UNITS, "Parking", &plain),
        (UNITS, "Till", &plain),
        (UNITS, "Ledger", &plain),
        (UNITS, "MarkedDials", &plain),
        (ENGINE, "CopiesRight", &plain),
    ] {
        let options = JavaOptions { units: units.clone(), ..JavaOptions::default() };
        let one = program(jar, "", &JavaSettings { options, ..named(main) });
        assert_eq!(verdict(&one), (false, false), "{main}");
        let (changed, mut quiet) = not_missed(&one, is_in(main));
        if main == "ParkingHeld" {
            // Whoever calls them holds the lot.
            quiet.retain(|name| {
                !["ParkingHeld.hasFree", "ParkingHeld.park"].contains(&name.as_str())
            });
        }
        assert!(changed > 0 && quiet.is_empty(), "{main}: {changed} {quiet:?}");
    }
    let presets = [FrameworkPreset::Servlet, FrameworkPreset::Spring, FrameworkPreset::Junit];
    let mut missed: BTreeSet<String> = BTreeSet::new();
    let mut changed = 0;
    for (number, preset) in presets.into_iter().enumerate() {
        let settings = JavaSettings { presets: vec![preset], ..JavaSettings::default() };
        let one = program(FRAMEWORKS, "right/", &settings);
        let (count, quiet) = not_missed(&one, |name| name.starts_with("right/"));
        // A lock is needed by one of the frameworks.
        missed = if number == 0 { quiet } else { &missed & &quiet };
        changed += count;
    }
    assert!(changed > 0 && missed.is_empty(), "{changed} {missed:?}");
}
