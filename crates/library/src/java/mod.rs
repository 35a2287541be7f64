//! # Idea
//! Class files and archives: what is in them, from bytes to a text for people.
//!
//! # Invariants
//! 1. Every class file is listed or complained about; of two classes of one name the first counts, and
//!    that is said.

mod check;
mod confirm;
mod conflict;
mod joined;
mod list;
mod part;
mod settings;
mod values;

pub use check::{JavaChecked, JavaFigures, JavaProgram, JavaSites};
pub use confirm::{Rehearsal, RunPlace, rehearsal, watched};
pub use conflict::DEMOTIONS;
pub use list::JavaList;
pub use part::JavaPart;
pub use selvedge_front_java::options::{JavaBeginning, JavaOptions, QuestionShare, UnknownCalls};
pub use selvedge_front_java::presets::FrameworkPreset;
pub use selvedge_front_java::rewrite::CONDUCTOR;
pub use selvedge_front_java::units::{FieldSet, MethodPattern, UnitOptions};
pub use settings::JavaSettings;

use crate::cache::hex;
use selvedge_base::{Budget, Diagnostic, Severity, StopReason};
use selvedge_code::text::print;
use selvedge_front_java::class::JavaInstruction;
use selvedge_front_java::frames::FrameRefusal;
use selvedge_front_java::handles::follow_handles;
use selvedge_front_java::library::Table;
use selvedge_front_java::translate::translate;
use selvedge_front_java::wrappers::join_wrappers;
use selvedge_front_java::{
    ArchiveDamage, JavaClass, JavaName, JavaNames, World, read_archive, read_class,
};
use selvedge_report::describe::count;
use selvedge_report::escape::visible;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How many missing classes are listed.
const SHOWN: usize = 10;

/// The bytes of classes, by their names with slashes.
pub type ClassBytes = BTreeMap<String, Vec<u8>>;

/// Classes, and what there is to say about the files that they come from.
#[derive(Debug, Default)]
pub struct JavaClasses {
    /// The classes, by name, with the file of each.
    classes: BTreeMap<String, (JavaClass, String)>,
    names: JavaNames,
    /// What is wrong, with the file.
    pub complaints: Vec<(String, Diagnostic)>,
    keeps_bytes: bool,
    bytes: ClassBytes,
    others: usize,
    versioned: usize,
    /// The SHA-256 of all class files, one after the other.
    hash: Sha256,
}

/// Whether a file of this name is read as an archive.
pub fn is_archive(name: &str) -> bool {
    has_ending(name, &["jar", "jmod", "war", "zip"])
}

/// Whether a file of this name is read as a class file.
pub fn is_class_file(name: &str) -> bool {
    has_ending(name, &["class"])
}

fn has_ending(name: &str, endings: &[&str]) -> bool {
    let found = std::path::Path::new(name).extension();
    found.is_some_and(|found| endings.iter().any(|one| found.eq_ignore_ascii_case(one)))
}

impl JavaClasses {
    /// How many classes there are.
    pub fn count(&self) -> usize {
        self.classes.len()
    }

    /// Adds a class file or an archive; of a class for several versions of Java, that for `release` counts,
    /// or else the newest.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn add(
        &mut self,
        name: &str,
        bytes: &[u8],
        release: Option<u16>,
        budget: &Budget,
    ) -> Result<(), StopReason> {
        if !is_archive(name) {
            self.add_class(name, bytes);
            return Ok(());
        }
        match read_archive(bytes, release, budget) {
            Ok(contents) => {
                self.others += contents.others;
                self.versioned += contents.versioned;
                if contents.versioned > 0 && release.is_none() {
                    let classes = count(contents.versioned, "class file");
                    let message =
                        format!("{classes} for newer versions of Java, of which the newest count");
                    let warning =
                        Diagnostic::global("versioned-classes", Severity::Warning, message);
                    let help = "--release N takes those that Java N would";
                    self.complaints.push((name.to_owned(), warning.with_help(help)));
                }
                for (path, bytes) in contents.classes {
                    budget.check()?;
                    self.add_class(&format!("{name}!{path}"), &bytes);
                }
                for nested in contents.nested {
                    let message =
                        format!("the archive {} inside is not looked into", visible(&nested));
                    let warning = Diagnostic::global("nested-archive", Severity::Warning, message);
                    let help = "unpack the outer archive and name the inner ones";
                    self.complaints.push((name.to_owned(), warning.with_help(help)));
                }
            }
            Err(ArchiveDamage::Stopped(reason)) => return Err(reason),
            Err(damage) => self.complain(name, "damaged-archive", damage.to_string()),
        }
        Ok(())
    }

    fn add_class(&mut self, file: &str, bytes: &[u8]) {
        self.hash.update((bytes.len() as u64).to_le_bytes());
        self.hash.update(bytes);
        match read_class(bytes, &mut self.names) {
            Ok(class) => {
                let name = self.names.class(class.name);
                if let Some((_, first)) = self.classes.get(&name) {
                    let message = format!(
                        "{} is there twice; the one in {} counts",
                        visible(&name),
                        visible(first)
                    );
                    let code = "duplicate-class";
                    let warning = Diagnostic::global(code, Severity::Warning, message);
                    self.complaints.push((file.to_owned(), warning));
                } else {
                    if self.keeps_bytes {
                        let name = self.names.text(class.name).to_owned();
                        self.bytes.insert(name, bytes.to_vec());
                    }
                    self.classes.insert(name, (class, file.to_owned()));
                }
            }
            Err(damage) => self.complain(file, "damaged-class", damage.to_string()),
        }
    }

    fn complain(&mut self, file: &str, code: &'static str, message: String) {
        let error = Diagnostic::global(code, Severity::Error, message);
        self.complaints.push((file.to_owned(), error));
    }

    /// Nothing yet, and a promise to keep the bytes of classes, for copies that are run.
    pub fn keeping_bytes() -> Self {
        Self { keeps_bytes: true, ..Self::default() }
    }

    /// The bytes that were kept.
    pub fn take_bytes(&mut self) -> ClassBytes {
        std::mem::take(&mut self.bytes)
    }

    /// The program of these classes that begins where the settings say.
    ///
    /// # Errors
    /// If nothing begins there, or the budget is used up.
    pub fn program(
        self,
        settings: &JavaSettings,
        budget: &Budget,
    ) -> Result<JavaProgram, Box<Diagnostic>> {
        let classes = self.classes.into_values().map(|(class, _)| class);
        let mut world = World::new(self.names, classes);
        // What code outside gives may be of classes that the program does not name.
        for class in Table::standard().classes() {
            world.names.intern(class);
        }
        follow_handles(&mut world);
        join_wrappers(&mut world);
        let program = settings.program(world, budget)?;
        Ok(JavaProgram { digest: hex(&self.hash.finalize()), ..program })
    }

    /// The classes as a module of code, in text form, with complaints about bodies that are left out.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn code(&self, budget: &Budget) -> Result<(String, Vec<Diagnostic>), StopReason> {
        let classes = self.classes.values().map(|(class, _)| class.clone());
        let world = World::new(self.names.clone(), classes);
        let made = translate(&world, budget)?;
        let complaints = made.refused.iter().map(|&(method, why)| {
            let name = &made.module.procedures[made.procedures[&method]].name;
            let why = match why {
                FrameRefusal::Subroutines => "it has subroutines",
                FrameRefusal::Damaged => "it is damaged",
            };
            let message = format!("the body of {} is left out: {why}", visible(name));
            Diagnostic::global("no-code", Severity::Warning, message)
        });
        Ok((print(&made.module), complaints.collect()))
    }

    /// The classes as a list for people, with where a program can begin and what is named and not there.
    pub fn list(&self) -> String {
        let mut out = self.described();
        let classes = self.classes.values().map(|(class, _)| class.clone());
        let world = World::new(self.names.clone(), classes);
        let name = |class: JavaName| visible(&world.names.class(class)).into_owned();
        for main in world.mains() {
            let class = name(world.classes[main.class].name);
            let _ = writeln!(out, "\n{class}.main is where a program can begin");
        }
        let missing = world.missing();
        let from_java = |class: &JavaName| world.names.text(*class).starts_with("java/");
        let (library, others): (Vec<JavaName>, Vec<JavaName>) =
            missing.keys().copied().partition(from_java);
        if !missing.is_empty() {
            let mut parts: Vec<String> = others.iter().map(|&one| name(one)).collect();
            parts.sort_unstable();
            parts.truncate(SHOWN);
            if others.len() > SHOWN {
                parts.push(format!("{} more", others.len() - SHOWN));
            }
            if !library.is_empty() {
                parts.push(format!("{} of java", library.len()));
            }
            let _ = writeln!(out, "\nnamed and not there: {}", parts.join(", "));
        }
        out
    }

    fn described(&self) -> String {
        let classes = || self.classes.values().map(|(class, _)| class);
        let bodies =
            || classes().flat_map(|class| &class.methods).filter_map(|one| one.body.as_ref());
        let mut out = format!(
            "{}, {}, {}",
            count(self.classes.len(), "class file"),
            count(classes().map(|class| class.methods.len()).sum(), "method"),
            count(bodies().map(|body| body.instructions.len()).sum(), "instruction"),
        );
        if self.versioned > 0 {
            let _ = write!(out, "; {} for a newer version of Java", self.versioned);
        }
        if self.others > 0 {
            let _ = write!(out, "; {} of other kinds", count(self.others, "file"));
        }
        out.push('\n');
        for (name, (class, _)) in &self.classes {
            let _ = writeln!(out, "\n{} {}{}", kind(class), visible(name), self.relatives(class));
            if let Some(source) = class.source {
                let _ = writeln!(out, "  from {}", visible(self.names.text(source)));
            }
            let fields: Vec<String> = class
                .fields
                .iter()
                .map(|field| {
                    let name = visible(self.names.text(field.name)).into_owned();
                    if field.access.is_volatile() { format!("volatile {name}") } else { name }
                })
                .collect();
            if !fields.is_empty() {
                let _ = writeln!(out, "  fields {}", fields.join(", "));
            }
            for method in &class.methods {
                let _ = writeln!(out, "  {}", self.method(method));
            }
        }
        out
    }

    fn relatives(&self, class: &JavaClass) -> String {
        let name = |name: &JavaName| visible(&self.names.class(*name)).into_owned();
        let mut out = String::new();
        let above = class.superclass.as_ref().map(name);
        if let Some(above) = above.filter(|above| above != "java.lang.Object") {
            let _ = write!(out, " extends {above}");
        }
        if !class.interfaces.is_empty() {
            let interfaces: Vec<String> = class.interfaces.iter().map(name).collect();
            let _ = write!(out, " implements {}", interfaces.join(", "));
        }
        out
    }

    /// A method with what matters to other threads.
    fn method(&self, method: &selvedge_front_java::JavaMethod) -> String {
        let name = self.names.text(method.name);
        let mut out = format!("{}{}", visible(name), visible(self.names.text(method.descriptor)));
        if method.access.is_static() {
            out.push_str("  static");
        }
        if method.access.is_synchronized() {
            out.push_str("  synchronized");
        }
        match &method.body {
            None if method.access.is_native() => out.push_str("  native"),
            None => out.push_str("  abstract"),
            Some(body) => {
                if let Some(&(_, line)) = body.lines.iter().min_by_key(|&&(_, line)| line) {
                    let _ = write!(out, "  :{line}");
                }
                let blocks = body.instructions.iter();
                let blocks = blocks.filter(|one| **one == JavaInstruction::MonitorEnter).count();
                if blocks > 0 {
                    let _ = write!(out, "  {}", count(blocks, "synchronized block"));
                }
            }
        }
        out
    }
}

fn kind(class: &JavaClass) -> &'static str {
    if class.access.is_module() {
        "module"
    } else if class.access.is_interface() {
        "interface"
    } else {
        "class"
    }
}
