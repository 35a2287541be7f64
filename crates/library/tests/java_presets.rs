//! Programs in Java that frameworks run: what they call is found wrong where it is, and proved where it is right.
//! The sources are in `front-java/tests/frameworks`.

use selvedge_base::{Budget, Id};
use selvedge_front_java::read_archive;
use selvedge_library::CheckOptions;
use selvedge_library::java::{FrameworkPreset, JavaChecked, JavaClasses, JavaSettings};

const PROGRAMS: &[u8] = include_bytes!("../../front-java/tests/classes/frameworks.jar");

const ALL: [(FrameworkPreset, &str); 3] = [
    (FrameworkPreset::Servlet, "servlet"),
    (FrameworkPreset::Spring, "spring"),
    (FrameworkPreset::Junit, "junit"),
];

fn check(package: &str, preset: FrameworkPreset) -> JavaChecked {
    let mut classes = JavaClasses::default();
    let all = read_archive(PROGRAMS, None, &Budget::new()).expect("it is whole").classes;
    for (name, bytes) in all.iter().filter(|(name, _)| name.starts_with(package)) {
        classes.add(name, bytes, None, &Budget::new()).expect("no limit");
    }
    let settings = JavaSettings { presets: vec![preset], ..JavaSettings::default() };
    let program = classes.program(&settings, &Budget::new()).expect("it begins somewhere");
    let checked = program.check(&CheckOptions::default(), &Budget::new(), &mut |_, _, _| {});
    checked.expect("engines do not contradict the replayer")
}

#[test]
fn what_a_framework_calls_is_wrong_where_it_is() {
    let source = include_str!("../../front-java/tests/frameworks/wrong/Frameworks.java");
    for (preset, name) in ALL {
        let wrong = (1..)
            .zip(source.lines())
            .find(|(_, line)| line.ends_with(&format!("// wrong: {name}")))
            .map(|(line, _)| line);
        let JavaChecked { checked, claim, .. } = check("wrong/", preset);
        let places = || checked.findings.iter().flat_map(|one| &one.places);
        assert!(places().any(|place| place.line() == wrong), "{name}: {checked:?}");
        assert!(places().all(|place| place.file.index() > 0), "{name}");
        assert!(claim.contains("sets all of them up and then calls them (A8)"), "{claim}");
    }
}

/// What is marked above a class, in another one or in an interface, is called on its objects.
#[test]
fn what_is_inherited_is_called() {
    let source = include_str!("../../front-java/tests/frameworks/wrong/Frameworks.java");
    for (preset, name) in [
        (FrameworkPreset::Spring, "spring above"),
        (FrameworkPreset::Spring, "spring interface"),
        (FrameworkPreset::Junit, "junit above"),
    ] {
        let wrong = (1..)
            .zip(source.lines())
            .find(|(_, line)| line.ends_with(&format!("// wrong: {name}")))
            .map(|(line, _)| line);
        let JavaChecked { checked, .. } = check("wrong/", preset);
        let pairs = checked.findings.iter().filter_map(|one| one.cause.as_ref());
        let pairs = pairs.flat_map(|cause| &cause.pairs).flat_map(|pair| &pair.places);
        let mut places = checked.findings.iter().flat_map(|one| &one.places).chain(pairs);
        assert!(places.any(|place| place.line() == wrong), "{name}: {checked:?}");
    }
}

#[test]
fn what_a_framework_sets_up_before_is_no_race() {
    for (preset, name) in ALL {
        let JavaChecked { checked, .. } = check("right/", preset);
        assert!(checked.findings.is_empty() && checked.open.is_empty(), "{name}: {checked:?}");
    }
}

#[test]
fn a_framework_that_calls_nothing_is_a_mistake() {
    let mut classes = JavaClasses::default();
    let units = include_bytes!("../../front-java/tests/classes/units.jar");
    classes.add("units.jar", units, None, &Budget::new()).expect("no limit");
    let settings =
        JavaSettings { presets: vec![FrameworkPreset::Spring], ..JavaSettings::default() };
    assert!(classes.program(&settings, &Budget::new()).is_err());
}
