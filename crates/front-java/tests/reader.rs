//! Class files that a compiler made (`tests/java`, by javac 17.0.15 with `--release 17 -g` and
//! `--release 8 -g:none`), and what becomes of damaged ones.

use selvedge_base::{Budget, Id};
use selvedge_front_java::class::{
    Arithmetic, At, BranchCondition, Comparison, FieldAccess, HandleKind, InvokeKind, JavaConstant,
    JavaMethod, StackOperation,
};
use selvedge_front_java::names::{kind_of_field, kinds_of_method};
use selvedge_front_java::{
    ArchiveDamage, JavaClass, JavaInstruction, JavaKind, JavaNames, read_archive, read_class,
};
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const TURNSTILE: &[u8] = include_bytes!("classes/17/Turnstile.class");
const TURNSTILE_8: &[u8] = include_bytes!("classes/8/Turnstile.class");

fn turnstile() -> (JavaClass, JavaNames) {
    let mut names = JavaNames::default();
    let class = read_class(TURNSTILE, &mut names).expect("a compiler made it");
    (class, names)
}

fn method<'a>(class: &'a JavaClass, names: &JavaNames, name: &str) -> &'a JavaMethod {
    class.methods.iter().find(|one| names.text(one.name) == name).expect("it has that method")
}

#[test]
fn classes_and_fields() {
    let (class, names) = turnstile();
    assert_eq!((names.text(class.name), class.version), ("Turnstile", 61));
    assert_eq!(class.superclass.map(|one| names.class(one)).as_deref(), Some("java.lang.Object"));
    assert_eq!(class.source.map(|one| names.text(one)), Some("Turnstile.java"));
    let interfaces: Vec<&str> = class.interfaces.iter().map(|&one| names.text(one)).collect();
    assert_eq!(interfaces, ["java/lang/Runnable"]);
    let field = |name: &str| {
        class.fields.iter().find(|one| names.text(one.name) == name).expect("it has that field")
    };
    assert!(field("open").access.is_volatile() && field("open").access.is_private());
    assert!(field("lock").access.is_final() && !field("lock").access.is_static());
    assert_eq!(names.text(field("labels").descriptor), "[[Ljava/lang/String;");
    assert_eq!(field("GATES").constant, Some(JavaConstant::Int(3)));
    assert_eq!(field("LARGE").constant, Some(JavaConstant::Long(1 << 40)));
    let Some(JavaConstant::Text(text)) = field("NAME").constant else { panic!("a text") };
    assert_eq!(names.text(text), "gate \u{1F600}\0");
    let pass = method(&class, &names, "pass");
    assert!(pass.access.is_synchronized() && !pass.access.is_public());
    let [guarded] = &pass.annotations[..] else { panic!("one annotation") };
    let texts: Vec<_> =
        guarded.texts.iter().map(|&(of, text)| (names.text(of), names.text(text))).collect();
    assert_eq!(texts, [("by", "lock"), ("by", "this")]);
}

#[test]
fn instructions_lines_and_handlers() {
    use JavaInstruction as I;
    use JavaKind::{Int, Reference};
    let (class, mut names) = turnstile();
    let pass = method(&class, &names, "pass").body.as_ref().expect("a body");
    let counts = selvedge_front_java::class::JavaMember {
        class: class.name,
        name: names.intern("counts"),
        descriptor: names.intern("[I"),
    };
    let get = I::Field(FieldAccess::Get, counts);
    let expected = [
        I::Load(Reference, 0),
        get.clone(),
        I::Load(Int, 1),
        I::Stack(StackOperation::Dup2),
        I::ArrayLoad(Int),
        I::Constant(JavaConstant::Int(1)),
        I::Compute(Arithmetic::Add, Int),
        I::ArrayStore(Int),
        I::Load(Reference, 0),
        get,
        I::Load(Int, 1),
        I::ArrayLoad(Int),
        I::Return(Some(Int)),
    ];
    assert_eq!(pass.instructions, expected);
    assert_eq!(pass.offsets[..5], [0, 1, 4, 5, 6]);
    let line = |text: &str| {
        let source = include_str!("java/Turnstile.java");
        source.lines().position(|line| line.contains(text)).map(|at| at as u32 + 1)
    };
    assert_eq!(pass.line(At::from_index(0)), line("counts[gate]++;"));
    assert_eq!(pass.line(At::from_index(8)), line("return counts[gate];"));
    let [this, gate] = &pass.locals[..] else { panic!("two local variables") };
    assert_eq!((names.text(this.name), names.text(gate.name)), ("this", "gate"));
    assert_eq!((gate.index, gate.start, gate.end.index()), (1, At::from_index(0), 13));

    let run = method(&class, &names, "run").body.as_ref().expect("a body");
    let caught: Vec<_> =
        run.handlers.iter().map(|one| one.catches.map(|what| names.text(what))).collect();
    assert!(caught.contains(&Some("java/lang/RuntimeException")) && caught.contains(&None));
    assert!(
        run.handlers
            .iter()
            .all(|one| one.start < one.end && one.target.index() < run.instructions.len())
    );
    let monitors = |wanted: &I| run.instructions.iter().filter(|&one| one == wanted).count();
    assert_eq!(monitors(&I::MonitorEnter), 1);
    assert!(monitors(&I::MonitorExit) >= 2, "one way out is that of exceptions");
    let is_loop = |one: &I| matches!(one, I::Branch(BranchCondition::Ints(Comparison::NotLess), to) if to.index() > 0);
    assert!(run.instructions.iter().any(is_loop));
}

#[test]
fn switches_calls_and_lambdas() {
    use JavaInstruction as I;
    let (class, names) = turnstile();
    let pick = method(&class, &names, "pick").body.as_ref().expect("a body");
    let cases: Vec<Vec<i32>> = pick
        .instructions
        .iter()
        .filter_map(|one| match one {
            I::Switch(_, cases) => Some(cases.iter().map(|&(value, _)| value).collect()),
            _ => None,
        })
        .collect();
    assert_eq!(cases, [vec![1, 2, 3, 100_000], vec![-5, 1 << 20]]);
    for (at, instruction) in pick.instructions.iter().enumerate() {
        for target in instruction.targets() {
            assert!(target.index() < pick.instructions.len() && target.index() != at);
        }
    }
    let main = method(&class, &names, "main").body.as_ref().expect("a body");
    let called: Vec<(InvokeKind, &str)> = main
        .instructions
        .iter()
        .filter_map(|one| match one {
            I::Invoke(kind, member) => Some((*kind, names.text(member.name))),
            _ => None,
        })
        .collect();
    assert!(called.contains(&(InvokeKind::Virtual, "start")), "{called:?}");
    assert!(called.contains(&(InvokeKind::Interface, "getAsInt")), "{called:?}");
    assert!(called.contains(&(InvokeKind::Special, "<init>")), "{called:?}");
    assert!(called.contains(&(InvokeKind::Static, "pick")), "{called:?}");
    assert_eq!(main.instructions.last(), Some(&I::Throw));

    let later = method(&class, &names, "later").body.as_ref().expect("a body");
    let dynamic = later.instructions.iter().find_map(|one| match one {
        I::InvokeDynamic(bootstrap, name, _) => Some((*bootstrap, names.text(*name))),
        _ => None,
    });
    let Some((bootstrap, "getAsInt")) = dynamic else { panic!("{dynamic:?}") };
    let lambda =
        class.bootstraps[usize::from(bootstrap)].arguments.iter().find_map(|one| match one {
            JavaConstant::Handle(handle) => Some((handle.kind, names.text(handle.member.name))),
            _ => None,
        });
    let (kind, name) = lambda.expect("the body of a lambda");
    assert!(
        matches!(kind, HandleKind::Invoke(InvokeKind::Virtual | InvokeKind::Special)),
        "{kind:?}"
    );
    assert_eq!(name, "lambda$later$0");
}

#[test]
fn an_older_class_file_without_names_and_lines() {
    let mut names = JavaNames::default();
    let class = read_class(TURNSTILE_8, &mut names).expect("a compiler made it");
    assert_eq!((class.version, class.source), (52, None));
    let bodies = || class.methods.iter().filter_map(|one| one.body.as_ref());
    assert!(bodies().count() > 5);
    assert!(bodies().all(|body| body.lines.is_empty() && body.locals.is_empty()));
    assert!(bodies().all(|body| body.line(At::from_index(0)).is_none()));
}

#[test]
fn descriptors() {
    use JavaKind::{Double, Int, Long, Reference};
    let of = |text: &str| kinds_of_method(text);
    assert_eq!(
        of("(I[[JLjava/lang/String;D)J"),
        Some((vec![Int, Reference, Reference, Double], Some(Long)))
    );
    assert_eq!(of("()V"), Some((Vec::new(), None)));
    for wrong in ["", "()", "(", "(V)V", "()VV", "(L;)V", "([)V", "(Lx)V", "I", "()[V", "(é)V"] {
        assert_eq!(of(wrong), None, "{wrong}");
    }
    assert_eq!(kind_of_field("[I"), Some(Reference));
    assert_eq!((kind_of_field("II"), kind_of_field("V"), kind_of_field("")), (None, None, None));
    assert_eq!(kind_of_field(&format!("{}I", "[".repeat(255))), Some(Reference));
    assert_eq!(kind_of_field(&format!("{}I", "[".repeat(256))), None);
}

/// Every beginning of a class file is damaged, and so are most files with one other byte; whatever is read
/// all the same has targets that are there.
#[test]
fn damaged_files_are_refused_with_a_place() {
    let refused = |bytes: &[u8]| match read_class(bytes, &mut JavaNames::default()) {
        Err(damage) => {
            assert!(damage.offset <= bytes.len(), "{damage}");
            true
        }
        Ok(class) => {
            let bodies = class.methods.iter().filter_map(|one| one.body.as_ref());
            for body in bodies {
                let targets = body.instructions.iter().flat_map(JavaInstruction::targets);
                let handlers = body.handlers.iter().map(|one| one.target);
                let last = body.instructions.len();
                assert!(targets.chain(handlers).all(|target| target.index() < last));
            }
            false
        }
    };
    for file in [TURNSTILE, TURNSTILE_8] {
        assert!((0..file.len()).all(|length| refused(&file[..length])));
        assert!(refused(&[file, &[0]].concat()));
        let mut damaged = file.to_vec();
        let mut count = 0;
        for at in 0..file.len() {
            for change in [0x01, 0x80, 0xFF, 0x10] {
                damaged[at] = file[at] ^ change;
                count += usize::from(refused(&damaged));
            }
            damaged[at] = file[at];
        }
        assert!(count > file.len(), "only {count} were refused");
    }
}

/// What is said of some mistakes.
#[test]
fn mistakes_are_named() {
    let said = |bytes: &[u8]| match read_class(bytes, &mut JavaNames::default()) {
        Err(damage) => damage.to_string(),
        Ok(_) => "read".to_owned(),
    };
    assert_eq!(
        said(b"PK\x03\x04"),
        "this is no class file: it does not begin with CAFEBABE (byte 0)"
    );
    let mut newer = TURNSTILE.to_vec();
    newer[7] = 99;
    assert!(said(&newer).contains("version 99 of class files is not known"), "{}", said(&newer));
    // An entry that names itself as its text, which is of the wrong kind.
    let mut pool = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61, 0, 2, 7, 0, 1];
    pool.extend([0, 0x21, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(said(&pool), "constant 1, which is named here, is no text (byte 10)");
}

/// Annotations that are nested as deep as there are bytes do not take the stack with them.
#[test]
fn deep_annotations() {
    let text = |text: &str| [&[1, 0, text.len() as u8], text.as_bytes()].concat();
    let mut file = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61, 0, 7];
    for one in ["Deep", "java/lang/Object", "RuntimeVisibleAnnotations", "LDeep;"] {
        file.extend(text(one));
    }
    file.extend([7, 0, 1, 7, 0, 2]);
    file.extend([0, 0x21, 0, 5, 0, 6, 0, 0, 0, 0, 0, 0, 0, 1, 0, 3]);
    let mut value = vec![0, 1, 0, 4, 0, 1, 0, 4];
    for _ in 0..1_000_000 {
        value.extend([b'[', 0, 1]);
    }
    file.extend((value.len() as u32).to_be_bytes());
    file.extend(value);
    let damage = read_class(&file, &mut JavaNames::default()).unwrap_err();
    assert_eq!(damage.message, "annotations are nested more than 32 deep");
}

fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        writer.start_file(*name, options).expect("a new entry");
        writer.write_all(bytes).expect("memory");
    }
    writer.finish().expect("an archive").into_inner()
}

#[test]
fn archives_and_versions() {
    let jar = archive(&[
        ("META-INF/MANIFEST.MF", b"Multi-Release: true\n"),
        ("a/A.class", b"base"),
        ("a/B.class", b"only"),
        ("META-INF/versions/11/a/A.class", b"eleven"),
        ("META-INF/versions/17/a/A.class", b"seventeen"),
        ("META-INF/versions/old/a/C.class", b"no version"),
        ("BOOT-INF/lib/other.jar", b"PK"),
    ]);
    let read = |release| {
        let contents = read_archive(&jar, release, &Budget::new()).expect("an archive");
        let text = |(path, bytes): (String, Vec<u8>)| (path, String::from_utf8(bytes).unwrap());
        let classes: Vec<(String, String)> = contents.classes.into_iter().map(text).collect();
        (classes[1].1.clone(), classes.len(), contents.versioned, contents.for_others)
    };
    assert_eq!(read(None), ("seventeen".to_owned(), 3, 1, 2));
    assert_eq!(read(Some(11)), ("eleven".to_owned(), 3, 1, 2));
    assert_eq!(read(Some(8)), ("base".to_owned(), 3, 0, 2));
    let contents = read_archive(&jar, None, &Budget::new()).expect("an archive");
    assert_eq!((contents.nested, contents.others), (vec!["BOOT-INF/lib/other.jar".to_owned()], 1));
}

#[test]
fn archives_that_do_harm() {
    let budget = Budget::new();
    assert!(matches!(read_archive(b"no archive", None, &budget), Err(ArchiveDamage::Archive(_))));
    let zeros = vec![0; 40 << 20];
    let bomb = archive(&[("A.class", &zeros)]);
    let Err(ArchiveDamage::Entry(name, why)) = read_archive(&bomb, None, &budget) else {
        panic!("it unpacks to far more than it has")
    };
    assert!(name == "A.class" && why.contains("unpacks to more than"), "{why}");
    let jar = archive(&[("A.class", TURNSTILE)]);
    for length in (0..jar.len()).step_by(7) {
        assert!(read_archive(&jar[..length], None, &budget).is_err());
    }
    for at in 0..jar.len() {
        let mut damaged = jar.clone();
        damaged[at] ^= 0x55;
        // It must come back, with whatever answer.
        let _ = read_archive(&damaged, None, &budget);
    }
    let many: Vec<(String, &[u8])> =
        (0..2_000).map(|at| (format!("C{at}.class"), &b"x"[..])).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|(name, bytes)| (&**name, *bytes)).collect();
    let short = Budget::with_steps(1_000);
    let stopped = read_archive(&archive(&many), None, &short);
    assert!(matches!(stopped, Err(ArchiveDamage::Stopped(_))), "{stopped:?}");
}
