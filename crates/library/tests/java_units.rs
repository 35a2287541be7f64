//! Units of work and sets of fields in Java that somebody asks for or declares: each changes the verdict of a
//! program of `front-java/tests/units`, and of that one only.

use selvedge_base::Budget;
use selvedge_findings::FindingKind;
use selvedge_library::CheckOptions;
use selvedge_library::file::Loaded;
use selvedge_library::java::{
    FieldSet, JavaChecked, JavaClasses, JavaOptions, JavaSettings, MethodPattern, UnitOptions,
};

const PROGRAMS: &[u8] = include_bytes!("../../front-java/tests/classes/units.jar");

fn loaded(main: &str, units: UnitOptions) -> Loaded {
    let mut classes = JavaClasses::default();
    classes.add("units.jar", PROGRAMS, None, &Budget::new()).expect("no limit");
    let options = JavaOptions { units, ..JavaOptions::default() };
    let settings = JavaSettings { main: Some(main.to_owned()), options, ..JavaSettings::default() };
    Loaded::java("units.jar".to_owned(), classes, &settings, &Budget::new())
}

fn check(main: &str, units: UnitOptions) -> JavaChecked {
    let program = loaded(main, units).java.expect("it begins there");
    let checked = program.check(&CheckOptions::default(), &Budget::new(), &mut |_, _, _| {});
    let checked = checked.expect("engines do not contradict the replayer");
    assert!(checked.checked.open.is_empty(), "{:?}", checked.checked.open);
    checked
}

/// The kinds of what is found.
fn found(main: &str, units: UnitOptions) -> Vec<FindingKind> {
    check(main, units).checked.findings.iter().map(|one| one.kind).collect()
}

fn plain() -> UnitOptions {
    UnitOptions::default()
}

fn unit(name: &str) -> Vec<MethodPattern> {
    vec![MethodPattern::new(name).expect("a name")]
}

#[test]
fn passes_of_loops_are_units_if_they_call_two_methods_of_an_object() {
    let loops = || UnitOptions { loops: true, ..plain() };
    assert_eq!(found("Parking", plain()), []);
    assert_eq!(found("Parking", loops()), [FindingKind::Atomicity]);
    assert_eq!((found("ParkingHeld", loops()), found("ParkingOne", loops())), (vec![], vec![]));
    let claim = check("Parking", loops()).claim;
    assert!(claim.contains("0 locked regions and passes of 1 loop;"), "{claim}");
    assert!(!check("ParkingOne", loops()).claim.contains("passes of"));
}

#[test]
fn methods_of_other_classes_are_units_on_demand() {
    assert_eq!(found("Till", plain()), []);
    let callers = UnitOptions { callers: true, ..plain() };
    assert_eq!(found("Till", callers), [FindingKind::Atomicity]);
}

#[test]
fn methods_are_units_or_not_by_name_and_by_annotation() {
    assert_eq!(found("Ledger", plain()), []);
    for name in ["Ledger.enter", "Led*.en*"] {
        let units = UnitOptions { units: unit(name), ..plain() };
        assert_eq!(found("Ledger", units), [FindingKind::Atomicity], "{name}");
    }
    assert_eq!(found("MarkedLedger", plain()), [FindingKind::Atomicity]);
    let not = UnitOptions { not_units: unit("MarkedLedger.enter"), ..plain() };
    assert_eq!(found("MarkedLedger", not), []);
}

#[test]
fn fields_belong_together_or_not() {
    assert_eq!(found("Dials", plain()), [FindingKind::Atomicity]);
    let set = |text: &str| FieldSet::new(text).expect("a set");
    let apart = |sets| UnitOptions { sets, ..plain() };
    assert_eq!(found("Dials", apart(vec![set("Dials=left")])), []);
    assert_eq!(found("Dials", apart(vec![set("Dials=left, right")])), [FindingKind::Atomicity]);
    assert_eq!(found("MarkedDials", plain()), []);
}

#[test]
fn what_is_not_thread_safe_is_not_asked_about_and_that_is_said() {
    let JavaChecked { checked, claim, .. } = check("Sketches", plain());
    assert!(checked.findings.is_empty());
    let said = "not asked because of `@NotThreadSafe`: objects of Sketches.Sketch";
    assert!(claim.contains(said), "{claim}");
}

#[test]
fn a_lock_that_is_said_to_guard_a_field_is_the_usual_one() {
    let JavaChecked { checked, claim, .. } = check("Vault", plain());
    let causes = checked.findings.iter().filter_map(|one| one.cause.as_ref());
    let mut lines: Vec<&str> = causes.map(|one| one.line.as_str()).collect();
    lines.sort_unstable();
    let begin = "`Vault.gold`: 1 of 3 accesses holds `this.key`, as `@GuardedBy` says; ";
    assert_eq!(
        lines,
        [
            format!("{begin}line 260 in `Vault.spend` does not"),
            format!("{begin}line 264 in `Vault.lose` does not"),
        ]
    );
    let said = "`@GuardedBy` holds for 1 of 2 fields (`Vault.gold` without `key`: line 264 in \
                `Vault.lose` and line 260 in `Vault.spend`)";
    assert!(claim.contains(said), "{claim}");
}

#[test]
fn a_lock_that_is_said_to_be_held_where_a_method_is_called_is_looked_for() {
    let JavaChecked { checked, claim, .. } = check("Chest", plain());
    assert!(!checked.findings.is_empty());
    let said = "`@GuardedBy` holds for 1 of 2 methods (`Chest.open` without `this`)";
    assert!(claim.contains(said), "{claim}");
    let JavaChecked { checked, claim, .. } = check("ChestHeld", plain());
    assert!(checked.findings.is_empty());
    assert!(claim.contains("`@GuardedBy` holds for 1 of 1 method;"), "{claim}");
}

#[test]
fn a_class_that_is_marked_as_thread_safe_is_asked_about_for_any_clients() {
    const SAFE: &[u8] = include_bytes!("../../front-java/tests/classes/marked/SafeTally.class");
    const UNSAFE: &[u8] = include_bytes!("../../front-java/tests/classes/marked/UnsafeTally.class");
    let program = |files: &[&[u8]]| {
        let mut classes = JavaClasses::default();
        for (number, bytes) in files.iter().enumerate() {
            let name = format!("{number}.class");
            classes.add(&name, bytes, None, &Budget::new()).expect("no limit");
        }
        classes.program(&JavaSettings::default(), &Budget::new())
    };
    let found = |bytes: &[u8]| {
        let program = program(&[bytes]).expect("it is marked");
        let checked = program.check(&CheckOptions::default(), &Budget::new(), &mut |_, _, _| {});
        let JavaChecked { checked, claim, .. } = checked.expect("no contradiction");
        assert!(claim.contains("no subclass redefines a method (A8)"), "{claim}");
        assert!(checked.open.is_empty(), "{:?}", checked.open);
        checked.findings.len()
    };
    assert_eq!((found(SAFE), found(UNSAFE)), (0, 1));
    let both = program(&[SAFE, UNSAFE]).expect_err("which one is not said");
    assert!(both.message.contains("SafeTally, UnsafeTally"), "{}", both.message);
}

#[test]
fn names_that_nothing_has_are_said() {
    let units = UnitOptions { units: unit("Nobody.at"), ..plain() };
    let said = loaded("Ledger", units).complaints;
    assert_eq!((said.len(), said[0].code), (1, "no-such-member"));
    for wrong in ["method", ".method", "Class."] {
        assert!(MethodPattern::new(wrong).is_err(), "{wrong}");
    }
    for wrong in ["Class", "=field", "Class=", "Class=a,,b"] {
        assert!(FieldSet::new(wrong).is_err(), "{wrong}");
    }
}

/// Numbers that threads were made with decide which branches they take, if nobody sees another value.
#[test]
fn constants_of_objects_decide_branches() {
    assert_eq!(found("ChoiceApart", plain()), []);
    for wrong in ["ChoiceSame", "ChoiceLate", "ChoiceChanged"] {
        assert!(found(wrong, plain()).contains(&FindingKind::Race), "{wrong}");
    }
}

#[test]
fn what_a_framework_sets_up_comes_later() {
    let rank = |main: &str| {
        let found = check(main, plain()).checked.findings;
        found.iter().filter_map(|one| one.cause.as_ref()).map(|one| one.rank).min()
    };
    assert_eq!((rank("Configured"), rank("Unconfigured")), (Some(6), Some(4)));
}

/// What truth values and null tests rule out stays a finding, with a tag.
#[test]
fn values_demote_what_they_rule_out() {
    let tags = |main: &str| -> Vec<Vec<String>> {
        let found = check(main, plain()).checked.findings;
        let causes = found.into_iter().filter_map(|one| one.cause);
        causes.map(|cause| cause.tags.into_iter().collect()).collect()
    };
    let refuted = |main: &str| {
        let tags = tags(main);
        assert!(!tags.is_empty(), "{main}");
        tags.iter().all(|tags| tags.contains(&"data-refuted".to_owned()))
    };
    assert!(refuted("SlotApart") && refuted("ParcelApart"));
    for main in ["SlotEarly", "SlotDisturbed", "SlotLeaked", "ParcelsTogether"] {
        assert!(!refuted(main), "{main}");
    }
}
