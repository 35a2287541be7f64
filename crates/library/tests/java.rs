//! Small programs in Java, each wrong in one way or right, with the verdict that they must have. Their sources
//! are in `front-java/tests/programs`; `front-java/tests/classes/programs.jar` has them compiled by javac 17.
//!
//! A class whose name ends with `Wrong` must have a finding at one of its lines with the comment `// wrong`; a
//! class whose name ends with `Right` must be proved safe.

use selvedge_base::Budget;
use selvedge_findings::FindingKind;
use selvedge_front_java::class::{JavaConstant, JavaInstruction};
use selvedge_library::CheckOptions;
use selvedge_library::file::Loaded;
use selvedge_library::java::{
    JavaBeginning, JavaChecked, JavaClasses, JavaOptions, JavaProgram, JavaSettings, UnknownCalls,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

const PROGRAMS: &[u8] = include_bytes!("../../front-java/tests/classes/programs.jar");

const NEWER: &[u8] = include_bytes!("../../front-java/tests/classes/newer.jar");

const ENGINE: &[u8] = include_bytes!("../../front-java/tests/classes/engine.jar");

/// Programs about which nothing is claimed, because they visibly break what is assumed or are not understood.
const OPEN: [&str; 11] = [
    "AwaitUnderMonitorWrong",
    "GivenCycleWrong",
    "HandleOfHiddenWrong",
    "HandlePassedWrong",
    "InjectedWrong",
    "KeptByHelperWrong",
    "LeftToPoolWrong",
    "LikeLockLeftWrong",
    "NumbersAsLocksWrong",
    "ReaderWritesWrong",
    "ReferenceGivenAwayWrong",
];

/// Each class that begins a program, with its file and its lines that are wrong.
fn programs() -> BTreeMap<String, (String, BTreeSet<u32>)> {
    programs_in("programs")
}

fn programs_in(folder: &str) -> BTreeMap<String, (String, BTreeSet<u32>)> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../front-java/tests");
    let folder = tests.join(folder);
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.extension().is_none_or(|extension| extension != "java") {
            continue;
        }
        let file = path.file_name().expect("it has a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("it is a text");
        let mut class = String::new();
        for (line, text) in (1..).zip(text.lines()) {
            if let Some(rest) = text.strip_prefix("class ") {
                rest.split_whitespace().next().unwrap_or_default().clone_into(&mut class);
                found.insert(class.clone(), (file.clone(), BTreeSet::new()));
            }
            if text.contains("// wrong") {
                found.get_mut(&class).expect("it is in a class").1.insert(line);
            }
        }
    }
    found
}

/// The classes of all programs, read once.
static ALL: LazyLock<JavaProgram> = LazyLock::new(|| {
    let mut classes = JavaClasses::default();
    classes.add("programs.jar", PROGRAMS, None, &Budget::new()).expect("no limit");
    assert!(classes.complaints.is_empty(), "{:?}", classes.complaints);
    let settings = JavaSettings::default();
    classes.program(&settings, &Budget::new()).expect("programs begin in it")
});

fn check(main: &str) -> JavaChecked {
    check_with(main, &JavaOptions::default())
}

fn check_with(main: &str, options: &JavaOptions) -> JavaChecked {
    let world = &ALL.world;
    let begins = |one: &&JavaBeginning| {
        matches!(one, JavaBeginning::Main(one)
            if world.names.text(world.classes[one.class].name) == main)
    };
    let begins = ALL.begins.iter().filter(begins).cloned().collect();
    ask(&JavaProgram {
        world: world.clone(),
        begins,
        options: options.clone(),
        digest: String::new(),
    })
}

fn ask(program: &JavaProgram) -> JavaChecked {
    let checked = program.check(&CheckOptions::default(), &Budget::new(), &mut |_, _, _| {});
    checked.expect("engines do not contradict the replayer")
}

/// What there is to say about any clients of a class.
fn check_class(class: &str) -> JavaChecked {
    let settings = JavaSettings { class: Some(class.to_owned()), ..JavaSettings::default() };
    ask(&settings.program(ALL.world.clone(), &Budget::new()).expect("the class is there"))
}

/// Whether something was found at one of these lines of a file.
fn is_found(answer: &JavaChecked, file: &str, lines: &BTreeSet<u32>) -> bool {
    assert!(answer.claim.contains("not asked: values"));
    let program = &answer.program;
    let causes = answer.checked.findings.iter().filter_map(|finding| finding.cause.as_ref());
    let pairs = causes.flat_map(|cause| &cause.pairs).flat_map(|pair| &pair.places);
    let own = answer.checked.findings.iter().flat_map(|finding| &finding.places);
    own.chain(pairs).any(|place| {
        use selvedge_base::Id as _;
        let name = place.file.index().checked_sub(1).map(|at| program.files[at].name.as_str());
        name == Some(file) && place.line().is_some_and(|line| lines.contains(&line))
    })
}

#[test]
fn wrong_programs_are_found_where_they_are_wrong() {
    let mut missed = Vec::new();
    for (class, (file, lines)) in programs().iter().filter(|(class, _)| class.ends_with("Wrong")) {
        let answer = check(class);
        if OPEN.contains(&class.as_str()) {
            assert!(answer.checked.findings.is_empty() && !answer.checked.open.is_empty());
            continue;
        }
        if !is_found(&answer, file, lines) {
            missed.push(class.clone());
        }
    }
    assert_eq!(missed, Vec::<String>::new());
}

#[test]
fn any_clients_are_enough_to_find_what_a_class_does_wrong() {
    let mut wrong = Vec::new();
    for (class, (file, lines)) in programs() {
        if class.ends_with("Careless") {
            if !is_found(&check_class(&class), &file, &lines) {
                wrong.push((class, Vec::new()));
            }
        } else if class.ends_with("Careful") {
            let JavaChecked { checked, claim, .. } = check_class(&class);
            assert!(claim.contains("no subclass redefines a method"), "{claim}");
            if !checked.findings.is_empty() || !checked.open.is_empty() {
                wrong.push((class, checked.open));
            }
        }
    }
    assert_eq!(wrong, []);
}

#[test]
fn locks_that_are_left_to_clients_leave_deadlocks_open() {
    let JavaChecked { checked, .. } = check_class("LentLocks");
    let why = "a lock is left to code outside";
    assert!(checked.open.iter().any(|one| format!("{one:?}").contains(why)), "{:?}", checked.open);
}

#[test]
fn a_method_may_be_where_threads_begin() {
    let with = |entry: &str| {
        let settings = JavaSettings { entries: vec![entry.to_owned()], ..JavaSettings::default() };
        ask(&settings.program(ALL.world.clone(), &Budget::new()).expect("the method is there"))
    };
    let (file, lines) = &programs()["RequestsBare"];
    assert!(is_found(&with("RequestsBare.handle"), file, lines));
    let kept = with("RequestsKept.handle").checked;
    assert!(kept.findings.is_empty() && kept.open.is_empty(), "{kept:?}");
    let nothing = JavaSettings { entries: vec!["Nobody.run".into()], ..JavaSettings::default() };
    assert!(nothing.program(ALL.world.clone(), &Budget::new()).is_err());
}

#[test]
fn joins_are_assumed_and_named_or_not_assumed() {
    let bare = JavaOptions { assume_joins: false, ..JavaOptions::default() };
    for main in ["PoolEndsRight", "FutureRight", "FuturesRight", "JoinFieldRight", "InvokeAllRight"]
    {
        let answer = check(main);
        assert!(answer.checked.findings.is_empty(), "{main}");
        assert!(answer.claim.starts_with("if 1 join waits for every thread (A6), no "), "{main}");
        assert!(answer.claim.contains(&format!("A6: {main}.main, line")), "{}", answer.claim);
        let answer = check_with(main, &bare);
        assert!(!answer.checked.findings.is_empty() && !answer.claim.contains("A6"), "{main}");
    }
    // What is proved needs no assumption.
    let proved = check_with("JoinLoopRight", &bare);
    assert!(proved.checked.findings.is_empty() && proved.checked.open.is_empty());
    assert!(!check("JoinLoopRight").claim.contains("A6"));
}

#[test]
fn joins_that_could_be_assumed_are_tagged() {
    let bare = JavaOptions { assume_joins: false, ..JavaOptions::default() };
    let tags = |main: &str| {
        let found = check_with(main, &bare).checked.findings;
        let causes = found.iter().filter_map(|one| one.cause.as_ref());
        causes.flat_map(|one| one.tags.clone()).collect::<BTreeSet<String>>()
    };
    let tag = BTreeSet::from(["join-assumed".to_owned()]);
    assert_eq!((tags("PoolEndsRight"), tags("FutureRight")), (tag.clone(), tag));
    // These are wrong whatever is assumed.
    assert!(!tags("PoolEndsWrong").contains("join-assumed"));
}

#[test]
fn public_methods_that_nothing_reaches_are_named() {
    let claim = check("CountersRight").claim;
    assert!(claim.contains(" methods are reached, and of the public ones not "), "{claim}");
    assert!(claim.contains(" more (`--list unreached`)"), "{claim}");
}

#[test]
fn a_model_that_is_cut_off_is_no_verdict() {
    let checked = check("CrowdedAsked").checked;
    assert!(!checked.findings.is_empty() || !checked.open.is_empty(), "{checked:?}");
}

/// Why nothing is claimed of a program that is right, if its first instruction that can be changed is.
fn open_after(main: &str, change: &dyn Fn(&mut JavaInstruction) -> bool) -> Vec<String> {
    let world = &ALL.world;
    let begins = ALL.begins.iter().find(|one| {
        matches!(one, JavaBeginning::Main(one)
            if world.names.text(world.classes[one.class].name) == main)
    });
    let Some(&JavaBeginning::Main(begins)) = begins else { panic!("it is there") };
    let mut one = JavaProgram {
        world: world.clone(),
        begins: vec![JavaBeginning::Main(begins)],
        options: ALL.options.clone(),
        digest: String::new(),
    };
    assert!(ask(&one).checked.open.is_empty());
    let body = one.world.classes[begins.class].methods[begins.number].body.as_mut();
    let instructions = &mut body.expect("it has a body").instructions;
    assert!(instructions.iter_mut().any(change));
    ask(&one).checked.open
}

#[test]
fn subroutines_are_never_skipped() {
    let open = open_after("JoinLoopRight", &|one| match *one {
        JavaInstruction::Goto(target) => {
            *one = JavaInstruction::Subroutine(target);
            true
        }
        _ => false,
    });
    assert!(open.iter().any(|why| why.contains("were not understood")), "{open:?}");
}

#[test]
fn constants_that_code_makes_are_not_taken_for_values() {
    let descriptor = ALL.world.names.find("I").expect("there are numbers");
    let open = open_after("JoinLoopRight", &|one| match *one {
        JavaInstruction::Constant(JavaConstant::Int(_)) => {
            *one = JavaInstruction::Constant(JavaConstant::Dynamic(0, descriptor));
            true
        }
        _ => false,
    });
    assert!(open.iter().any(|why| why.contains("dynamic constants (I)")), "{open:?}");
}

#[test]
fn unknown_code_may_do_what_it_can_or_nothing() {
    let with =
        |unknown| check_with("GivenAwayAsked", &JavaOptions { unknown, ..JavaOptions::default() });
    let (file, lines) = &programs()["GivenAwayAsked"];
    assert!(is_found(&with(UnknownCalls::Args), file, lines));
    // Fields are left alone by default.
    let lent =
        |unknown| check_with("LentAsked", &JavaOptions { unknown, ..JavaOptions::default() });
    for unknown in [UnknownCalls::Args, UnknownCalls::Pure] {
        let answer = lent(unknown).checked;
        assert!(answer.findings.is_empty() && answer.open.is_empty(), "{unknown:?}: {answer:?}");
    }
    let (lent_file, lent_lines) = &programs()["LentAsked"];
    let havoc = lent(UnknownCalls::Havoc);
    assert!(is_found(&havoc, lent_file, lent_lines));
    assert!(havoc.claim.contains("with all its fields"), "{}", havoc.claim);
    let pure = with(UnknownCalls::Pure);
    assert!(pure.checked.findings.is_empty() && pure.checked.open.is_empty());
    assert!(pure.claim.contains("do nothing that matters"), "{}", pure.claim);
}

#[test]
fn deadlocks_of_three_locks_are_found_if_they_are_asked_about() {
    let with = |deadlock_locks| {
        let options = JavaOptions { deadlock_locks, ..JavaOptions::default() };
        check_with("ThreeCycleThird", &options)
    };
    assert!(with(2).checked.findings.is_empty());
    let (file, lines) = &programs()["ThreeCycleThird"];
    assert!(is_found(&with(3), file, lines));
}

#[test]
fn right_programs_are_proved() {
    let mut reported = Vec::new();
    for class in programs().keys().filter(|class| class.ends_with("Right")) {
        let checked = check(class).checked;
        if !checked.findings.is_empty() || !checked.open.is_empty() {
            reported.push((class.clone(), checked.findings.len(), checked.open));
        }
    }
    assert_eq!(reported, []);
}

#[test]
fn classes_of_newer_versions_of_java_are_understood() {
    let mut classes = JavaClasses::default();
    classes.add("newer.jar", NEWER, None, &Budget::new()).expect("no limit");
    assert!(classes.complaints.is_empty(), "{:?}", classes.complaints);
    let all = classes.program(&JavaSettings::default(), &Budget::new());
    let all = all.expect("programs begin in it");
    let mut asked = 0;
    for (class, (file, lines)) in programs_in("newer") {
        let settings = JavaSettings { main: Some(class.clone()), ..JavaSettings::default() };
        let answer =
            ask(&settings.program(all.world.clone(), &Budget::new()).expect("it begins there"));
        if class == "ScopedWrong" {
            // What unknown code does in that line does not hide what the program does there.
            let causes = answer.checked.findings.iter().filter_map(|one| one.cause.as_ref());
            let lines: Vec<&str> = causes.map(|cause| cause.line.as_str()).collect();
            assert!(lines.iter().any(|line| line.contains("`ScopedWrong.Cell`")), "{lines:?}");
        }
        if class.ends_with("Wrong") {
            assert!(is_found(&answer, &file, &lines), "{class}: {}", answer.claim);
        } else {
            let checked = &answer.checked;
            assert!(checked.findings.is_empty() && checked.open.is_empty(), "{class}: {checked:?}");
        }
        asked += 1;
    }
    assert!(asked >= 15, "{asked}");
}

#[test]
fn there_are_programs_of_both_kinds() {
    let programs = programs();
    let count = |ending: &str| programs.keys().filter(|class| class.ends_with(ending)).count();
    assert!(count("Wrong") >= 40 && count("Right") >= 15);
}

#[test]
fn a_program_with_one_thread_is_not_called_safe() {
    let checked = check("LonelyOne").checked;
    assert_eq!(checked.open, ["nothing to check: one thread was found"]);
}

#[test]
fn a_class_that_begins_nothing_is_a_mistake() {
    let mut classes = JavaClasses::default();
    classes.add("programs.jar", PROGRAMS, None, &Budget::new()).expect("no limit");
    let settings = JavaSettings { main: Some("Nobody".to_owned()), ..JavaSettings::default() };
    let loaded = Loaded::java("programs.jar".to_owned(), classes, &settings, &Budget::new());
    assert_eq!(loaded.complaints[0].code, "no-java-main");
    assert!(loaded.program.is_none());
}

#[test]
fn classes_of_several_versions_and_classes_that_are_there_twice_are_named() {
    let read = |release: Option<u16>| {
        let mut classes = JavaClasses::default();
        let gate: &[u8] = include_bytes!("../../front-java/tests/classes/twice/one/Gate.class");
        classes.add("one.class", gate, release, &Budget::new()).expect("no limit");
        classes.add("two.class", gate, release, &Budget::new()).expect("no limit");
        let jar: &[u8] = include_bytes!("../../front-java/tests/classes/versions.jar");
        classes.add("versions.jar", jar, release, &Budget::new()).expect("no limit");
        classes.complaints.iter().map(|(_, one)| one.code).collect::<Vec<_>>()
    };
    assert_eq!(read(None), ["duplicate-class", "versioned-classes"]);
    assert_eq!(read(Some(8)), ["duplicate-class"]);
}

#[test]
fn copies_of_copies_come_to_an_end() {
    for (main, is_safe) in [("CopiesWrong", false), ("CopiesRight", true)] {
        let mut classes = JavaClasses::default();
        classes.add("engine.jar", ENGINE, None, &Budget::new()).expect("no limit");
        let settings = JavaSettings { main: Some(main.to_owned()), ..JavaSettings::default() };
        let program = classes.program(&settings, &Budget::new()).expect("it begins there");
        // Without an end this would be a limit that is met, and no verdict.
        let budget = Budget::with_steps(2_000_000);
        let checked = program.check(&CheckOptions::default(), &budget, &mut |_, _, _| {});
        let checked = checked.expect("engines do not contradict themselves").checked;
        assert_eq!(checked.open, Vec::<String>::new(), "{main}");
        assert_eq!(checked.findings.is_empty(), is_safe, "{main}");
    }
}

#[test]
fn classes_that_grow_and_call_back_are_decided_for_any_clients() {
    // Lines of `tests/engine` of which each must be among the findings; nothing may be found without one.
    let expected: [(&str, &str, &[u32]); 5] = [
        ("RowWrong", "Rows.java", &[71]),
        ("RowRight", "Rows.java", &[]),
        ("RopeWrong", "Ropes.java", &[16, 20, 51]),
        ("RopeRight", "Ropes.java", &[]),
        ("SizedWrong", "Ropes.java", &[105, 109]),
    ];
    for (class, file, lines) in expected {
        let mut classes = JavaClasses::default();
        classes.add("engine.jar", ENGINE, None, &Budget::new()).expect("no limit");
        let settings = JavaSettings { class: Some(class.to_owned()), ..JavaSettings::default() };
        let program = classes.program(&settings, &Budget::new()).expect("the class is there");
        // Two rows can wait for each other in what they call back.
        let kinds = vec![FindingKind::Race, FindingKind::Atomicity];
        let options = CheckOptions { kinds, ..CheckOptions::default() };
        let answer = program.check(&options, &Budget::new(), &mut |_, _, _| {});
        let answer = answer.expect("engines do not contradict the replayer");
        assert_eq!(answer.checked.open, Vec::<String>::new(), "{class}");
        assert_eq!(answer.checked.findings.is_empty(), lines.is_empty(), "{class}");
        for &line in lines {
            assert!(is_found(&answer, file, &BTreeSet::from([line])), "{class}: {line}");
        }
    }
}
