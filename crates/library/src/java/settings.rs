//! Where a program in Java begins and what is assumed of it, as texts, and as what they name.

use super::JavaProgram;
use selvedge_base::{Budget, Diagnostic, Severity};
use selvedge_front_java::World;
use selvedge_front_java::client::client_world;
use selvedge_front_java::library::Table;
use selvedge_front_java::options::{JavaBeginning, JavaOptions};
use selvedge_front_java::presets::{FrameworkPreset, framework_world};
use selvedge_front_java::units::thread_safe;
use selvedge_front_java::world::{ClassId, MemberId};
use selvedge_report::escape::visible;

/// How to read a program in Java.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JavaSettings {
    /// The class whose `main` it begins with; each `main` is a program if there is none.
    pub main: Option<String>,
    /// The class whose clients it is; the one marked with `@ThreadSafe` if nothing else begins.
    pub class: Option<String>,
    /// The methods that it begins with, each as `class.method`, in any number of threads.
    pub entries: Vec<String>,
    /// The frameworks that run it.
    pub presets: Vec<FrameworkPreset>,
    /// What is assumed, and what is asked.
    pub options: JavaOptions,
}

fn wrong(message: String, help: &str) -> Diagnostic {
    Diagnostic::global("no-java-main", Severity::Error, message).with_help(help.to_owned())
}

impl JavaSettings {
    /// The program of a world that begins as these settings say.
    ///
    /// # Errors
    /// If nothing begins there, or the budget is used up.
    pub fn program(&self, world: World, budget: &Budget) -> Result<JavaProgram, Box<Diagnostic>> {
        let (options, digest) = (self.options.clone(), String::new());
        if let Some(class) = self.class_of_clients(&world)? {
            let stopped = |reason: selvedge_base::StopReason| {
                let message = format!("the classes were not looked through: {reason}");
                Box::new(Diagnostic::global("file-not-read", Severity::Warning, message))
            };
            let made = client_world(&world, class, Table::standard(), budget);
            let (world, class) = made.map_err(stopped)?;
            return Ok(JavaProgram {
                world,
                begins: vec![JavaBeginning::Client(class)],
                options,
                digest,
            });
        }
        if !self.presets.is_empty() {
            let (world, mains) = framework_world(&world, &self.presets);
            if mains.is_empty() {
                let message = "there is no method that the frameworks of --entry-preset call";
                let help = "they are known by names and annotations; --entry names methods";
                return Err(Box::new(wrong(message.to_owned(), help)));
            }
            let begins = mains.into_iter().map(JavaBeginning::Main).collect();
            return Ok(JavaProgram { world, begins, options, digest });
        }
        if !self.entries.is_empty() {
            let mut entries = Vec::new();
            for entry in &self.entries {
                entries.extend(methods(&world, entry)?);
            }
            return Ok(JavaProgram {
                world,
                begins: vec![JavaBeginning::Entries(entries)],
                options,
                digest,
            });
        }
        let mut mains = world.mains();
        if let Some(main) = &self.main {
            let wanted = main.replace('.', "/");
            mains.retain(|one| world.names.text(world.classes[one.class].name) == wanted);
            if mains.is_empty() {
                let message =
                    format!("{} has no method main that a program can begin with", visible(main));
                let help = "`selvedge show --classes` lists where a program can begin";
                return Err(Box::new(wrong(message, help)));
            }
        }
        if mains.is_empty() {
            let message = "no class has a method main that a program can begin with".to_owned();
            let help = "name the classes of a program, with the one that begins, or a class whose \
                        clients are asked about with --class";
            return Err(Box::new(wrong(message, help)));
        }
        let begins = mains.into_iter().map(JavaBeginning::Main).collect();
        Ok(JavaProgram { world, begins, options, digest })
    }
}

impl JavaSettings {
    /// The class whose clients are asked about: the one that is named, or the only one that is marked with
    /// `@ThreadSafe` where nothing else begins.
    fn class_of_clients(&self, world: &World) -> Result<Option<ClassId>, Box<Diagnostic>> {
        if let Some(class) = &self.class {
            return find(world, class).map(Some);
        }
        let begins = self.main.is_some() || !self.entries.is_empty() || !self.presets.is_empty();
        if begins || !world.mains().is_empty() {
            return Ok(None);
        }
        match thread_safe(world)[..] {
            [] => Ok(None),
            [only] => Ok(Some(only)),
            [first, second, ..] => {
                let name = |class: ClassId| world.names.class(world.classes[class].name);
                let message = format!(
                    "several classes are marked with `@ThreadSafe`: {}, {}, …",
                    visible(&name(first)),
                    visible(&name(second))
                );
                Err(Box::new(wrong(message, "name the one to be asked about with --class")))
            }
        }
    }
}

/// The methods of a name, behind that of their class.
fn methods(world: &World, entry: &str) -> Result<Vec<MemberId>, Box<Diagnostic>> {
    let (class, name) = entry.rsplit_once('.').unwrap_or(("", entry));
    let class = find(world, class)?;
    let all = world.classes[class].methods.iter().enumerate();
    let named = all.filter(|(_, one)| world.names.text(one.name) == name && one.body.is_some());
    let found: Vec<MemberId> = named.map(|(number, _)| MemberId { class, number }).collect();
    if found.is_empty() {
        let message = format!("there is no method {} with a body", visible(entry));
        let help = "write it as package.Class.method";
        return Err(Box::new(wrong(message, help)));
    }
    Ok(found)
}

/// The class of a name.
fn find(world: &World, name: &str) -> Result<ClassId, Box<Diagnostic>> {
    let wanted = name.replace('.', "/");
    let found = world.names.find(&wanted).and_then(|name| world.find(name));
    found.ok_or_else(|| {
        let message = format!("there is no class {}", visible(name));
        Box::new(wrong(
            message,
            "`selvedge show --classes` lists the classes; write nested ones as Outer$Inner",
        ))
    })
}
