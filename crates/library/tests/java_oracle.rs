//! Random models printed as Java, compiled by `javac`, and read back.
//!
//! - What is said about the classes is what is said about the model: no more and no less where nothing has to be
//!   abstracted, and never `safe` where the model is not.
//! - The same programs run in a JVM, by the machinery of `--confirm` without a schedule: what is seen there is never
//!   called `safe`.
//!
//! Skipped with a message where there is no JDK. `SELVEDGE_PROGRAMS` sets the number of models.

#![expect(clippy::print_stdout, reason = "the large run shows its counts, and what was skipped")]

mod conducted;

use conducted::{Stage, has};
use selvedge_base::Budget;
use selvedge_findings::{Checked, FindingKind};
use selvedge_front_java::options::{JavaBeginning, JavaOptions};
use selvedge_front_java::world::MemberId;
use selvedge_library::CheckOptions;
use selvedge_library::file::Loaded;
use selvedge_library::java::{ClassBytes, JavaClasses, JavaProgram, JavaSettings};
use selvedge_library::load::Text;
use selvedge_testkit::Rng;
use selvedge_testkit::generate::{Emphasis, Shape, random_model};
use selvedge_testkit::source::{Block, Function, Model, Statement, function_name};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const SHAPE: Shape = Shape {
    processes: (2, 3),
    locks: 2,
    locations: 2,
    functions: 2,
    statements: 9,
    nesting: 3,
    emphasis: Emphasis::Units,
};

/// How a model is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    /// Static fields, monitors of objects in static fields.
    Statics,
    /// One object with fields, and locks in fields that are written once.
    Object,
    /// Many objects, each with its threads.
    Objects,
    /// Static fields, locks of the library.
    Explicit,
    /// As one object, with branches by chance, to be run.
    Run,
}

impl Style {
    const ASKED: [Self; 4] = [Self::Statics, Self::Object, Self::Objects, Self::Explicit];

    /// Whether nothing has to be abstracted: there is one object, and no call that may fail.
    fn is_exact(self) -> bool {
        matches!(self, Self::Statics | Self::Object)
    }

    fn is_static(self) -> bool {
        matches!(self, Self::Statics | Self::Explicit)
    }
}

/// The block without `return` in units, which would leave the method of the unit only.
fn without_returns(block: &Block, in_unit: bool) -> Block {
    let inner = |block: &Block| without_returns(block, in_unit);
    block
        .iter()
        .map(|statement| match statement {
            Statement::Return if in_unit => Statement::Skip,
            Statement::Unit(body) => Statement::Unit(without_returns(body, true)),
            Statement::Synchronized(lock, body) => Statement::Synchronized(*lock, inner(body)),
            Statement::If(one, two) => Statement::If(inner(one), inner(two)),
            Statement::While(body) => Statement::While(inner(body)),
            other => other.clone(),
        })
        .collect()
}

/// The block in which every region with a lock is a unit, as it is in Java.
fn with_regions(block: &Block) -> Block {
    block
        .iter()
        .map(|statement| match statement {
            Statement::Unit(body) => Statement::Unit(with_regions(body)),
            Statement::Synchronized(lock, body) => {
                Statement::Unit(vec![Statement::Synchronized(*lock, with_regions(body))])
            }
            Statement::If(one, two) => Statement::If(with_regions(one), with_regions(two)),
            Statement::While(body) => Statement::While(with_regions(body)),
            other => other.clone(),
        })
        .collect()
}

/// The block with a lock around each of its accesses.
fn with_locks(block: &Block, rng: &mut Rng, often: usize) -> Block {
    let mut all = Block::new();
    for statement in block {
        all.push(match statement {
            Statement::Read(_) | Statement::Write(_) if rng.percent(often) => {
                Statement::Synchronized(0, vec![statement.clone()])
            }
            Statement::Unit(body) => Statement::Unit(with_locks(body, rng, often)),
            Statement::Synchronized(lock, body) => {
                Statement::Synchronized(*lock, with_locks(body, rng, often))
            }
            Statement::If(one, two) => {
                Statement::If(with_locks(one, rng, often), with_locks(two, rng, often))
            }
            Statement::While(body) => Statement::While(with_locks(body, rng, often)),
            other => other.clone(),
        });
    }
    all
}

/// A random model, some of them with locks that guard all accesses, or nearly all.
fn model(seed: u64) -> Model {
    let rng = &mut Rng::new(seed);
    let mut model = random_model(rng, &SHAPE);
    model.locks = model.locks.max(1);
    let (way, often) = (rng.below(4), if rng.percent(75) { 100 } else { 90 });
    for process in &mut model.processes {
        for function in &mut process.functions {
            if way == 1 {
                function.body = with_locks(&function.body, rng, often);
            }
        }
        if way >= 2 && rng.percent(often) {
            process.functions[0].locks.insert(0, 0);
        }
    }
    map(&model, |body| without_returns(body, false))
}

/// The same model with other bodies; locks of functions become blocks.
fn map(model: &Model, change: impl Fn(&Block) -> Block) -> Model {
    let mut model = model.clone();
    for function in model.processes.iter_mut().flat_map(|process| &mut process.functions) {
        let mut body = std::mem::take(&mut function.body);
        for &lock in function.locks.iter().rev() {
            body = vec![Statement::Synchronized(lock, body)];
        }
        *function = Function { locks: Vec::new(), body: change(&body) };
    }
    model
}

struct Writer {
    out: String,
    units: Vec<String>,
    style: Style,
    process: usize,
}

impl Writer {
    fn block(&mut self, block: &Block) -> String {
        let mut text = String::new();
        let runs = self.style == Style::Run;
        let any = if runs { "Any.toss()" } else { "Any.thing" };
        for statement in block {
            match statement {
                Statement::Skip | Statement::Start(_) | Statement::Join(_) => {}
                Statement::Read(at) => {
                    let _ = write!(text, "{{ int v = x{at}; }} ");
                }
                Statement::Write(at) => {
                    let _ = write!(text, "x{at} = 1; ");
                }
                Statement::Call(function) => {
                    if runs {
                        text.push_str("Any.call(); ");
                    }
                    let _ = write!(text, "t{}{}(); ", self.process, function_name(*function));
                    if runs {
                        text.push_str("Any.back(); ");
                    }
                }
                Statement::Return => text.push_str("if (true) return; "),
                Statement::Unit(body) => {
                    let body = self.block(body);
                    let number = self.units.len();
                    // A unit that is watched does not begin with a loop.
                    self.units.push(if runs { format!("int begun = 0; {body}") } else { body });
                    let _ = write!(text, "u{number}(); ");
                }
                Statement::Synchronized(lock, body) => {
                    let body = self.block(body);
                    let _ = match self.style {
                        Style::Explicit => write!(
                            text,
                            "l{lock}.lock(); try {{ {body} }} finally {{ l{lock}.unlock(); }} "
                        ),
                        _ => write!(text, "synchronized (l{lock}) {{ {body} }} "),
                    };
                }
                Statement::If(one, two) => {
                    let (one, two) = (self.block(one), self.block(two));
                    let _ = write!(text, "if ({any}) {{ {one} }} else {{ {two} }} ");
                }
                Statement::While(body) => {
                    let body = self.block(body);
                    let _ = write!(text, "while ({any}) {{ {body} }} ");
                }
            }
        }
        text
    }
}

/// A model as a class of this name.
fn java(model: &Model, name: &str, style: Style) -> String {
    let fixed = if style.is_static() { "static " } else { "" };
    let mut writer = Writer { out: String::new(), units: Vec::new(), style, process: 0 };
    let _ = writeln!(writer.out, "class {name} {{");
    let lock = match style {
        Style::Explicit => "java.util.concurrent.locks.ReentrantLock",
        _ => "Object",
    };
    for at in 0..model.locks {
        let _ = writeln!(writer.out, "  {fixed}final {lock} l{at} = new {lock}();");
    }
    for at in 0..model.locations {
        let _ = writeln!(writer.out, "  {fixed}int x{at};");
    }
    for (number, process) in model.processes.iter().enumerate() {
        writer.process = number;
        for (position, function) in process.functions.iter().enumerate() {
            let body = writer.block(&function.body);
            let own = format!("t{number}{}", function_name(position));
            let _ = writeln!(writer.out, "  private {fixed}void {own}() {{ {body} }}");
        }
    }
    for (number, body) in std::mem::take(&mut writer.units).iter().enumerate() {
        let _ = writeln!(writer.out, "  {fixed}void u{number}() {{ {body} }}");
    }
    let starts = |receiver: &str| {
        let all = (0..model.processes.len())
            .map(|number| format!("new Thread({receiver}::t{number}main).start(); "));
        all.collect::<String>()
    };
    let _ = match style {
        Style::Statics | Style::Explicit => {
            writeln!(writer.out, "  public static void main(String[] a) {{ {} }}", starts(name))
        }
        Style::Object => writeln!(
            writer.out,
            "  public static void main(String[] a) {{ {name} m = new {name}(); {} }}",
            starts("m")
        ),
        Style::Objects => writeln!(
            writer.out,
            "  public static void main(String[] a) {{ for (int i = 0; i < 2; i++) {{ {name} m = new {name}(); {} }} }}",
            starts("m")
        ),
        Style::Run => {
            let all: Vec<String> =
                (0..model.processes.len()).map(|number| format!("m::t{number}main")).collect();
            writeln!(
                writer.out,
                "  static void round() {{ {name} m = new {name}(); Any.run({}); }}",
                all.join(", ")
            )
        }
    };
    writer.out.push_str("}\n");
    writer.out
}

/// What the programs that are asked about need, and those that run.
const HELPERS: &str = r#"
class Any {
    static boolean thing;
    static final ThreadLocal<int[]> own = ThreadLocal.withInitial(() -> new int[2]);
    static boolean toss() {
        return ++own.get()[0] < 60 && java.util.concurrent.ThreadLocalRandom.current().nextInt(2) == 0;
    }
    static void call() { if (++own.get()[1] > 100) while (true) java.util.concurrent.locks.LockSupport.park(); }
    static void back() { own.get()[1]--; }
    static void run(Runnable... all) {
        Thread[] threads = new Thread[all.length];
        for (int i = 0; i < all.length; i++) {
            threads[i] = new Thread(null, all[i], "model", 1 << 21);
            threads[i].setDaemon(true);
        }
        for (Thread thread : threads) thread.start();
        try { for (Thread thread : threads) thread.join(20); } catch (InterruptedException e) { }
    }
}
"#;

/// How many models are run by one JVM.
const AT_ONCE: usize = 120;
/// How long it may take, in milliseconds.
const LIMIT: u32 = 600_000;
/// How often each model is run.
const ROUNDS: usize = 10;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("selvedge-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is room for files");
    folder
}

/// Compiles a text; the classes are in the folder then.
fn compile(folder: &Path, text: &str) {
    let file = folder.join("All.java");
    std::fs::write(&file, text).expect("it can be written");
    let mut compiler = Command::new("javac");
    compiler.args(["-Xlint:none", "-g", "-d"]).arg(folder).arg(&file);
    let output = compiler.output().expect("javac runs");
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
}

fn classes(folder: &Path) -> (JavaProgram, ClassBytes) {
    let mut classes = JavaClasses::keeping_bytes();
    for entry in std::fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("it can be read").path();
        if path.extension().is_some_and(|extension| extension == "class") {
            let bytes = std::fs::read(&path).expect("it can be read");
            let name = path.to_string_lossy().into_owned();
            classes.add(&name, &bytes, None, &Budget::new()).expect("no limit");
        }
    }
    assert!(classes.complaints.is_empty(), "{:?}", classes.complaints);
    let bytes = classes.take_bytes();
    let all = classes.program(&JavaSettings::default(), &Budget::new());
    (all.expect("programs begin in it"), bytes)
}

/// What is seen when models run, each some times: its number, and the word for it.
fn seen(models: &[Model]) -> BTreeSet<(usize, String)> {
    let mut all = BTreeSet::new();
    for (batch, models) in models.chunks(AT_ONCE).enumerate() {
        let mut text = HELPERS.to_owned();
        let mut rounds = String::new();
        for (number, model) in models.iter().enumerate() {
            text.push_str(&java(model, &format!("Run{number}"), Style::Run));
            let _ = writeln!(rounds, "      Run{number}.round();");
        }
        let _ = writeln!(
            text,
            "class Start {{ public static void main(String[] a) {{\n    for (int i = 0; i < {ROUNDS}; i++) \
             {{\n{rounds}    }}\n    System.exit(0); }} }}"
        );
        let folder = folder("java-run");
        compile(&folder, &text);
        let (program, bytes) = classes(&folder);
        std::fs::remove_dir_all(&folder).expect("it can be removed");
        let stage = Stage::new("java-stage", &program, &bytes, program.world.mains()[0], true);
        for meeting in stage.run("Start", LIMIT) {
            let method = meeting.places.first().map_or("", |place| place.method.as_str());
            let number = method.strip_prefix("Run").and_then(|rest| rest.split_once('.'));
            if let Some(number) = number.and_then(|(number, _)| number.parse::<usize>().ok()) {
                all.insert((batch * AT_ONCE + number, meeting.what));
            }
        }
    }
    all
}

/// The kinds of questions of which some have a violation.
fn violated(checked: &Checked) -> BTreeSet<FindingKind> {
    let tallies = checked.tallies.iter().filter(|(_, tally)| tally.violated > 0);
    tallies.map(|(kind, _)| *kind).collect()
}

/// The kinds of violations of a program; `None` if it is not decided.
fn found_in(all: &JavaProgram, main: &str) -> Option<BTreeSet<FindingKind>> {
    let own = |one: &MemberId| all.world.names.text(all.world.classes[one.class].name) == main;
    let begins = all.world.mains().into_iter().filter(own).map(JavaBeginning::Main).collect();
    let options = JavaOptions { deadlock_locks: 0, ..JavaOptions::default() };
    let program = JavaProgram { world: all.world.clone(), begins, options, digest: String::new() };
    let checked = program.check(&CheckOptions::default(), &Budget::new(), &mut |_, _, _| {});
    let checked = checked.expect("engines do not contradict the replayer").checked;
    // That nothing is shared is a reason to say nothing, and right if the model has no conflict.
    let open = checked.open.iter().any(|why| !why.starts_with("nothing to check"));
    (!open).then(|| violated(&checked))
}

fn found_in_model(model: &Model) -> BTreeSet<FindingKind> {
    let loaded = Loaded::new(Text::new("model.eml", model.to_eml()), true);
    let kinds = vec![FindingKind::Atomicity, FindingKind::Race];
    let options = CheckOptions { kinds, ..CheckOptions::default() };
    let answer = loaded.check(&options, None, &Budget::new(), &mut |_, _, _| {});
    let checked = answer.expect("a program").expect("engines do not contradict the replayer");
    violated(&checked.checked)
}

fn count() -> usize {
    std::env::var("SELVEDGE_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(16)
}

#[test]
fn models_printed_as_java_have_the_verdicts_of_the_models() {
    if !has("javac") || !has("java") {
        return;
    }
    let count = count();
    let models: Vec<Model> = (1..=count as u64).map(model).collect();
    let mut text = HELPERS.to_owned();
    for (number, model) in models.iter().enumerate() {
        for style in Style::ASKED {
            text.push_str(&java(model, &format!("{style:?}{number}"), style));
        }
    }
    let folder = folder("java-oracle");
    compile(&folder, &text);
    let (all, _) = classes(&folder);
    std::fs::remove_dir_all(&folder).expect("it can be removed");
    let seen = seen(&models);
    let (mut wrong, mut violated, mut observed) = (0, 0, 0);
    for (number, model) in models.iter().enumerate() {
        let expected = found_in_model(&map(model, with_regions));
        violated += usize::from(!expected.is_empty());
        for style in Style::ASKED {
            let name = format!("{style:?}{number}");
            let Some(found) = found_in(&all, &name) else {
                assert!(!style.is_exact(), "{name} is not decided: {model}");
                continue;
            };
            let agrees =
                if style.is_exact() { found == expected } else { found.is_superset(&expected) };
            if !agrees {
                wrong += 1;
                println!("{name}: {found:?} and not {expected:?}\n{model}");
                println!("{}", java(model, &name, style));
            }
        }
        for (kind, word) in [(FindingKind::Race, "race"), (FindingKind::Atomicity, "atomicity")] {
            if seen.contains(&(number, word.to_owned())) {
                observed += 1;
                if !expected.contains(&kind) {
                    wrong += 1;
                    println!("model {number}: {word} was seen\n{model}");
                }
            }
        }
    }
    println!("{count} models, {violated} violated, {observed} kinds of violations seen in the JVM");
    assert!(observed > 0, "nothing was seen: {seen:?}");
    assert_eq!(wrong, 0);
}
