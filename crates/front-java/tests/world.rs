//! What names mean among classes. What the calls of `java/Harbour.java` reach is what the program prints:
//! `Anchored.tie Vessel.name Lighter.cargo`, `Vessel.secret Barge.secret Vessel.port`, `1 3 2`.

use selvedge_base::Id;
use selvedge_front_java::class::JavaMember;
use selvedge_front_java::words::short_class;
use selvedge_front_java::world::{ClassId, MemberId, Resolution};
use selvedge_front_java::{JavaClass, JavaNames, World, read_class};

const FILES: [&[u8]; 6] = [
    include_bytes!("classes/harbour/Moored.class"),
    include_bytes!("classes/harbour/Anchored.class"),
    include_bytes!("classes/harbour/Vessel.class"),
    include_bytes!("classes/harbour/Barge.class"),
    include_bytes!("classes/harbour/Lighter.class"),
    include_bytes!("classes/harbour/Harbour.class"),
];

/// A class with nothing but a name, which the tests make of another.
fn named(like: &JavaClass, names: &mut JavaNames, name: &str, above: Option<&str>) -> JavaClass {
    JavaClass {
        name: names.intern(name),
        superclass: above.map(|above| names.intern(above)),
        interfaces: Vec::new(),
        fields: Vec::new(),
        methods: Vec::new(),
        ..like.clone()
    }
}

/// The harbour without the files of these numbers, and with an empty `java.lang.Object`.
fn harbour(without: &[usize]) -> World {
    let mut names = JavaNames::default();
    let mut classes: Vec<JavaClass> = FILES
        .iter()
        .enumerate()
        .filter(|(at, _)| !without.contains(at))
        .map(|(_, bytes)| read_class(bytes, &mut names).expect("a compiler made it"))
        .collect();
    classes.push(named(&classes[0].clone(), &mut names, "java/lang/Object", None));
    World::new(names, classes)
}

fn class(world: &World, name: &str) -> ClassId {
    world.find(world.names.find(name).expect("a name")).expect("a class")
}

fn member(world: &World, class: &str, name: &str, descriptor: &str) -> JavaMember {
    let find = |text: &str| world.names.find(text).expect("a name that was read");
    JavaMember { class: find(class), name: find(name), descriptor: find(descriptor) }
}

fn written(world: &World, found: Resolution<MemberId>, fields: bool) -> String {
    match found {
        Resolution::Found(MemberId { class, number }) => {
            let of = &world.classes[class];
            let name = if fields { of.fields[number].name } else { of.methods[number].name };
            format!("{}.{}", world.names.text(of.name), world.names.text(name))
        }
        Resolution::Absent => "absent".to_owned(),
        Resolution::Missing(name) => format!("missing {}", world.names.text(name)),
    }
}

const TEXT: &str = "()Ljava/lang/String;";

#[test]
fn calls_reach_what_the_machine_reaches() {
    let world = harbour(&[]);
    let called = |object: &str, named: &str, name: &str| {
        let call = member(&world, named, name, TEXT);
        written(&world, world.select(class(&world, object), call), false)
    };
    let reached = |object: &str, name: &str| called(object, "Vessel", name);
    assert_eq!(reached("Lighter", "tie"), "Anchored.tie");
    assert_eq!(reached("Lighter", "name"), "Vessel.name");
    assert_eq!(reached("Lighter", "cargo"), "Lighter.cargo");
    assert_eq!(reached("Barge", "cargo"), "Barge.cargo");
    assert_eq!(reached("Lighter", "secret"), "Vessel.secret");
    assert_eq!(called("Lighter", "Lighter", "secret"), "Barge.secret");
    assert_eq!(reached("Lighter", "port"), "absent");
}

#[test]
fn names_mean_the_nearest() {
    let world = harbour(&[]);
    let method = |class: &str, name: &str| {
        written(&world, world.method(member(&world, class, name, TEXT)), false)
    };
    assert_eq!(method("Vessel", "secret"), "Vessel.secret");
    assert_eq!(method("Lighter", "port"), "Vessel.port");
    assert_eq!(method("Lighter", "tie"), "Anchored.tie");
    assert_eq!(method("Vessel", "tie"), "Moored.tie");
    assert_eq!(method("Moored", "cargo"), "absent");
    let field = |class: &str, name: &str| {
        written(&world, world.field(member(&world, class, name, "I")), true)
    };
    assert_eq!(field("Vessel", "length"), "Vessel.length");
    assert_eq!(field("Lighter", "length"), "Barge.length");
    assert_eq!(field("Lighter", "ROPES"), "Moored.ROPES");
}

#[test]
fn what_is_not_there_is_said() {
    // Without Anchored, tie could be anything; what a class says itself is known all the same.
    let world = harbour(&[1]);
    let reached = |name: &str| {
        let call = member(&world, "Vessel", name, TEXT);
        written(&world, world.select(class(&world, "Lighter"), call), false)
    };
    assert_eq!(
        (reached("tie"), reached("cargo")),
        ("missing Anchored".to_owned(), "Lighter.cargo".to_owned())
    );
    assert_eq!(world.extends(class(&world, "Lighter"), class(&world, "Moored")), Some(true));
    assert_eq!(world.extends(class(&world, "Lighter"), class(&world, "Harbour")), None);
    assert_eq!(world.extends(class(&world, "Vessel"), class(&world, "Barge")), Some(false));
    let missing: Vec<&str> = world.missing().keys().map(|&name| world.names.text(name)).collect();
    assert!(missing.contains(&"Anchored") && missing.contains(&"java/lang/System"), "{missing:?}");
    assert!(!missing.contains(&"java/lang/Object"), "{missing:?}");
    let [main] = world.mains()[..] else { panic!("one main") };
    assert_eq!(world.names.text(world.classes[main.class].name), "Harbour");
}

/// Hierarchies that go round come from hostile hands, and end.
#[test]
fn hierarchies_that_go_round() {
    let mut names = JavaNames::default();
    let like = read_class(FILES[0], &mut names).expect("a compiler made it");
    let mut one = named(&like, &mut names, "One", Some("Two"));
    let two = named(&like, &mut names, "Two", Some("One"));
    one.interfaces = vec![one.name, two.name];
    let second = JavaClass { version: 1, ..one.clone() };
    let world = World::new(names, [one, two, second]);
    assert_eq!(world.classes.len(), 2, "of two classes of one name the first counts");
    let id = ClassId::from_index(0);
    assert_eq!(world.line(id), (vec![id, ClassId::from_index(1)], None));
    assert_eq!(world.interfaces(id).0.len(), 2);
    let nothing = JavaMember {
        class: world.classes[id].name,
        name: world.classes[id].name,
        descriptor: world.classes[id].name,
    };
    assert_eq!(world.method(nothing), Resolution::Absent);
    assert_eq!(world.field(nothing), Resolution::Absent);
}

/// Findings are told apart by the names of classes.
#[test]
fn classes_of_one_name_are_called_by_their_packages() {
    let mut names = JavaNames::default();
    let like = read_class(FILES[0], &mut names).expect("a compiler made it");
    let all = ["one/Box$Lid", "two/Box$Lid", "one/Box", "two/Crate"];
    let classes = all.map(|name| named(&like, &mut names, name, None));
    let world = World::new(names, classes);
    let called = world.classes.ids().map(|class| short_class(&world, class));
    assert_eq!(called.collect::<Vec<_>>(), ["one.Box.Lid", "two.Box.Lid", "Box", "Crate"]);
}
