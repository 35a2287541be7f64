use super::{Breach, LIMIT, Site, validate};
use crate::model::{
    Block, BlockId, Element, FieldId, GlobalId, Handler, MethodId, Module, Procedure, ProcedureId,
    RegisterId, TypeId,
};
use crate::place::{InlinedPlace, PlaceId};
use crate::statement::{Call, Callee, End, Jump, MemoryAccess, Operation, Statement, Value};
use crate::text::read;
use selvedge_base::{FileId, Id, Place};

/// The only mistake of a text, with the bytes it is about.
fn mistake(text: &str) -> String {
    let found = read(text).diagnostics;
    let lines: Vec<String> = found
        .iter()
        .map(|one| {
            assert!(one.help.is_some(), "{one:?}");
            let at = one.primary.as_ref().map_or("", |label| &text[label.span.range()]);
            format!("{}: {} [{at}]", one.code, one.message)
        })
        .collect();
    lines.join("\n")
}

fn assert_mistakes(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(mistake(text), *expected, "{text}");
    }
}

#[test]
fn declarations() {
    assert_mistakes(&[
        ("type a: b\ntype b: a\n", "cyclic-type: `a` is its own supertype [a]"),
        ("type a { f: b[2] }\ntype b { g: a }\n", "cyclic-type: `a` contains itself [a]"),
        ("type a { f: ref a }\n", ""),
        (
            "type a { t: word } variants t { x = 1; x = 2 }\n",
            "duplicate-name: there are two variants `x` [a]",
        ),
        (
            "type a { t: word } variants t { x = 1; y = 1 }\n",
            "duplicate-tag: variant `y` has the tag 1 of another variant [a]",
        ),
        (
            "type a 8 { f: word 8 @9 }\n",
            "offset-beyond-size: `f` begins behind the 8 bytes of its type [f]",
        ),
        (
            "type a\nmethod a.m a = @f\nmethod a.m a = @f\nproc f(p) outside\n",
            "duplicate-target: `m` has two targets for `a` [a]",
        ),
        (
            "type a\ntype b\nmethod a.m a = @f\nmethod a.m b = @g\nproc f(p) outside\nproc g(p, q) outside\n",
            "target-mismatch: `g` has 2 parameters and 0 results, unlike other targets of `m` [a]",
        ),
        (
            "type a\nmethod a.m a = @f\nproc f() outside\n",
            "target-mismatch: `f` has 0 parameters and 0 results, unlike other targets of `m` [a]",
        ),
        (
            "proc f(p) locked 3\nb0:\n  stop\n",
            "locked-value: what is locked is no parameter and no global [f]",
        ),
        (
            "proc f(p) locked q\nb0:\n  q = 1\n  stop\n",
            "locked-value: what is locked is no parameter and no global [f]",
        ),
    ]);
}

#[test]
fn statements() {
    let head =
        "type a { n: word }\nproc one(p) returns 1 outside\nmethod a.m a = @one\nproc f(p)\nb0:\n";
    let cases = [
        (
            "store p 1\n  load p",
            "wrong-results: this gives 1 result, and 0 registers are assigned [load p]",
        ),
        (
            "x = cas p 1 2 seqcst",
            "wrong-results: this gives 2 results, and 1 registers are assigned [x = cas p 1 2 seqcst]",
        ),
        (
            "x = unlock p",
            "wrong-results: this gives 0 results, and 1 registers are assigned [x = unlock p]",
        ),
        (
            "x y = start @one(1)",
            "wrong-results: this gives 0 or 1 results, and 2 registers are assigned [x y = start @one(1)]",
        ),
        (
            "x y = call @one(1)",
            "wrong-results: this gives 1 result, and 2 registers are assigned [x y = call @one(1)]",
        ),
        (
            "x x = value p()",
            "duplicate-result: a register gets two results of one statement [x x = value p()]",
        ),
        ("call @one()", "wrong-arguments: 0 arguments for 1 parameters [call @one()]"),
        ("virtual a.m(p, p)", "wrong-arguments: 2 arguments for 1 parameters [virtual a.m(p, p)]"),
        ("virtual a.m()", "wrong-arguments: a virtual call has no object [virtual a.m()]"),
        ("value @one()", "wrong-arguments: 0 arguments for 1 parameters [value @one()]"),
        ("once p @one()", "wrong-arguments: 0 arguments for 1 parameters [once p @one()]"),
        (
            "x = closure @one(1, 2)",
            "wrong-arguments: 2 arguments for 1 parameters [x = closure @one(1, 2)]",
        ),
        ("x = narrow 3 a", "narrow-value: `narrow` of a value that is no address [x = narrow 3 a]"),
        ("x = load p release", "wrong-ordering: a load cannot be `release` [x = load p release]"),
        ("store p 1 acquire", "wrong-ordering: a store cannot be `acquire` [store p 1 acquire]"),
        ("store p 1 acqrel", "wrong-ordering: a store cannot be `acqrel` [store p 1 acqrel]"),
        ("x = rmw p add 1", "wrong-ordering: an atomic update has no ordering [x = rmw p add 1]"),
        ("lock p cond", "lock-side: a condition cannot be locked [lock p cond]"),
        ("unlock p cond", "lock-side: a condition cannot be locked [unlock p cond]"),
        (
            "kind p byobject",
            "lock-kind: `byobject` is no kind that an object can have [kind p byobject]",
        ),
        ("x = caught", "caught-outside-handler: `caught` does not begin a handler [x = caught]"),
        ("return 1", "wrong-results: 1 results of a procedure that returns 0 [return 1]"),
        (
            "if add p 1 goto b0 else b0",
            "no-comparison: `add` is no comparison [if add p 1 goto b0 else b0]",
        ),
        (
            "switch p 1 -> b0, 1 -> b0 else b0",
            "duplicate-case: two cases have one value [switch p 1 -> b0, 1 -> b0 else b0]",
        ),
    ];
    for (line, expected) in cases {
        let ends = ["return", "if", "switch"].iter().any(|end| line.starts_with(end));
        let rest = if ends { "b1:\n  return\n" } else { "  return\n" };
        let head = if line == "return 1" {
            head.replace("f(p)", "f(p) returns 0")
        } else {
            head.to_owned()
        };
        assert_eq!(mistake(&format!("{head}  {line}\n{rest}")), expected, "{line}");
    }
}

#[test]
fn failures_alone_come_to_caught() {
    let expected = "caught-without-failure: a handler with `caught` is entered without a failure";
    let text = "proc f()\nb0: catch * -> h\n  !call @f()\n  goto h\nh:\n  e = caught\n  return\n";
    assert_eq!(mistake(text), format!("{expected} [e = caught]"));
    let text = "proc f()\nh: catch * -> h\n  e = caught\n  return\n";
    assert_eq!(mistake(text), format!("{expected} [e = caught]"));
    let text =
        "proc f()\nb0: catch * -> h\n  !call @f()\n  return\nh:\n  x = 1\n  e = caught\n  return\n";
    let expected = "caught-outside-handler: `caught` does not begin a handler [e = caught]";
    assert_eq!(mistake(text), expected);
    let text = "proc f()\nb0: catch * -> h\n  !call @f()\n  return\nh:\n  e = caught\n  throw e\n";
    assert_eq!(mistake(text), "");
}

#[test]
fn every_use_has_a_definition_on_every_path() {
    let undefined = |line: &str| {
        format!("undefined-register: `x` may be read here before it is assigned [{line}]")
    };
    let one_branch = "proc f(p)\na:\n  if eq p 1 goto b else c\nb:\n  x = 1\n  goto c\nc:\n  store p x\n  return\n";
    assert_eq!(mistake(one_branch), undefined("store p x"));
    let both = one_branch.replace("else c", "else d") + "d:\n  x = 2\n  goto c\n";
    assert_eq!(mistake(&both), "");
    let end = "proc f(p)\na:\n  goto b\nb:\n  return x\n";
    assert_eq!(mistake(end), undefined("return x"));
    // The call may fail before its result is there, and what comes behind it may not.
    let handler =
        "proc f(p) returns 1\na: catch * -> h\n  !x = call @f(1)\n  return x\nh:\n  return x\n";
    assert_eq!(mistake(handler), undefined("return x"));
    let before = handler.replace("  !x", "  x = 0\n  !x");
    assert_eq!(mistake(&before), "");
    let later = handler.replace("!x = call @f(1)", "x = 0\n  !y = call @f(1)");
    assert_eq!(mistake(&later), "");
    let thrown = "proc f(p)\na: catch * -> h\n  x = 1\n  throw p\nh:\n  return x\n";
    assert_eq!(mistake(thrown), "");
    let behind_all =
        "proc f(p)\na: catch * -> g, * -> h\n  throw p\ng:\n  return\nh:\n  store p x\n  return\n";
    assert_eq!(mistake(behind_all), "");
    let unreached = "proc f(p)\na:\n  return\nb:\n  store p x\n  return\n";
    assert_eq!(mistake(unreached), "");
    let round = "proc f(p)\na:\n  if eq p 1 goto b else c\nb:\n  store p x\n  goto a\nc:\n  x = 1\n  goto b\n";
    assert_eq!(mistake(round), undefined("store p x"));
}

fn id<I: Id>(number: usize) -> I {
    I::from_index(number)
}

/// A module with one procedure that has one block with one statement.
fn with(operation: Operation) -> Module {
    let mut module = Module::default();
    let mut procedure = Procedure { name: "f".to_owned(), ..Procedure::default() };
    let statements = vec![Statement::new(Vec::new(), operation)];
    let block =
        Block { name: "b".to_owned(), handlers: Vec::new(), statements, end: End::new(Jump::Stop) };
    procedure.blocks.push(block);
    module.procedures.push(procedure);
    module
}

fn out_of_range(module: &Module) {
    let codes: Vec<&str> = validate(module).iter().map(|breach: &Breach| breach.code).collect();
    assert_eq!(codes, ["id-out-of-range"], "{module:?}");
}

#[test]
fn ids_out_of_range_are_no_panic() {
    let values = [
        Value::Register(id::<RegisterId>(0)),
        Value::Global(id::<GlobalId>(0)),
        Value::Procedure(id::<ProcedureId>(1)),
    ];
    for value in values {
        out_of_range(&with(Operation::Join(value)));
        let mut module = with(Operation::Join(Value::Null));
        module.procedures[id(0)].blocks[id(0)].end = End::new(Jump::Throw(value));
        out_of_range(&module);
    }
    let call = |callee| Operation::Call(Call { callee, arguments: Vec::new() });
    let base = Value::Null;
    let operations = [
        Operation::Field { base, field: id::<FieldId>(0) },
        Operation::Narrow { value: base, ty: id::<TypeId>(0) },
        Operation::Closure { procedure: id(1), captures: Vec::new() },
        call(Callee::Procedure(id(1))),
        call(Callee::Virtual(id::<MethodId>(0))),
        Operation::Element {
            base,
            index: base,
            kind: crate::model::Kind::single(Element::Inline(id(0))),
        },
    ];
    for operation in operations {
        out_of_range(&with(operation));
    }
    let change = |edit: fn(&mut Block)| {
        let mut module = with(Operation::Join(Value::Null));
        edit(&mut module.procedures[id(0)].blocks[id(0)]);
        out_of_range(&module);
    };
    change(|block| block.statements[0].results.push(id(0)));
    change(|block| block.statements[0].provenance.place = Some(id::<PlaceId>(0)));
    change(|block| block.end.jump = Jump::Goto(id(1)));
    change(|block| block.handlers.push(Handler { catches: None, target: id(1) }));
    change(|block| block.handlers.push(Handler { catches: Some(id(0)), target: id(0) }));
    let mut module = with(Operation::Join(Value::Null));
    module.procedures[id(0)].parameters.push(None);
    out_of_range(&module);
}

#[test]
fn what_texts_cannot_say_is_checked_as_well() {
    let codes = |module: &Module| -> Vec<(&str, Site)> {
        validate(module).into_iter().map(|breach| (breach.code, breach.site)).collect()
    };
    let fine = read("type a { f: word }\nglobal g: a\nproc f(p)\nb0:\n  x = 1\n  return\n").module;
    let fine = fine.expect("no mistake");
    let broken = |edit: fn(&mut Module)| {
        let mut module = fine.clone();
        edit(&mut module);
        codes(&module)
    };
    let first = Site::Procedure(id(0));
    assert_eq!(
        broken(|module| {
            let again = module.types[id(0)].name.clone();
            module.types.push(crate::model::Type { name: again, ..Default::default() });
        }),
        [("duplicate-name", Site::Type(id(1)))]
    );
    assert_eq!(
        broken(|module| module.types[id(0)].fields.clear()),
        [("foreign-field", Site::Field(id(0)))]
    );
    assert_eq!(
        broken(|module| module.procedures[id(0)].registers[id(1)].replace_range(.., "p")),
        [("duplicate-name", first)]
    );
    assert_eq!(
        broken(|module| {
            let blocks = &mut module.procedures[id(0)].blocks;
            let again = blocks[id::<BlockId>(0)].clone();
            blocks.push(again);
        }),
        [("duplicate-name", first)]
    );
    assert_eq!(
        broken(|module| {
            module.places.push(InlinedPlace { place: Place::NONE, inlined_at: None });
        }),
        [("unknown-file", Site::Module)]
    );
    assert_eq!(
        broken(|module| {
            module.files.push("a".to_owned());
            let place = Place::in_line(1).in_file(FileId::from_index(1));
            module.places.push(InlinedPlace { place, inlined_at: Some(id(0)) });
        }),
        [("endless-place", Site::Module)]
    );
}

#[test]
fn the_number_of_breaches_is_limited() {
    let mut module = with(Operation::Load(MemoryAccess::plain(Value::Null)));
    let block = &mut module.procedures[id(0)].blocks[id(0)];
    block.statements = vec![block.statements[0].clone(); 10 * LIMIT];
    assert_eq!(validate(&module).len(), LIMIT);
}
