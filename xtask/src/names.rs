//! # Idea
//! One word per concept. A public type has a name of its own among all crates, and a type that the
//! glossary names exists. A name may mean the same thing in several crates; then [`SHARED`] says
//! why.
//!
//! The names are read from the sources, which is enough for how they are written: a type is public
//! if its definition starts a line with `pub` and its module can be reached from outside, or is
//! exported from one that can.
//!
//! # Invariants
//! 1. An entry of [`SHARED`] that is not needed any more is an error, so the list does not grow old.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Names that several public types have, and why that is right.
const SHARED: &[(&str, &str)] = &[
    ("Block", "of the object program, and of what tests make up"),
    ("Breach", "what is wrong with a program, and with a module of code"),
    ("Configuration", "the glossary has both: of a program, and of a pushdown system"),
    (
        "Definition",
        "the flow of values, in Java's bytecode until it is ported to the object program",
    ),
    ("Definitions", "likewise"),
    ("Dialect", "the models that are printed for tests know other dialects than the reader"),
    ("Field", "of a type in code, and of a packed state"),
    ("Global", "of a program, and of the object program"),
    ("GlobalId", "likewise"),
    ("Kind", "what memory holds in code, what a search counts, and what a test declares"),
    ("Model", "what a user writes: read from texts, and made up by a test"),
    (
        "ObjectId",
        "an abstract object, on Java's bytecode until that is ported to the object program",
    ),
    ("Options", "always with its module, as `text::Options`: what this function can be told"),
    ("Parsed", "what a front end returns, the same in each of them"),
    ("PointsTo", "what values can be, likewise"),
    ("Procedure", "of a program, and of the object program"),
    ("ProcedureId", "likewise"),
    ("Process", "of the two languages that test programs are written in"),
    ("Program", "the pushdown library generates programs of its own, without knowing ours"),
    ("Relation", "relations: over diagrams, over pairs, and between numbers of a test model"),
    ("Relations", "weight domains of relations: over diagrams, and over pairs"),
    ("Shape", "of a diagram's node, and of what a generator makes"),
    ("Site", "a part of a module, and a place where Java makes objects"),
    ("State", "of a pushdown system, of a run, and of a machine in a test model"),
    ("Statement", "of the object program, and of what tests make up"),
    ("ThreadKind", "on code, and on Java's bytecode until that is ported"),
    ("Transition", "of an automaton, and of a machine in a test model"),
    ("Type", "of a program, and of the object program"),
    ("Value", "of a program, and of the object program"),
    ("Variable", "of a program, and of a machine in a test model"),
    ("Witnesses", "which interleavings a format shows; used with the module of the format"),
];

/// The interpreter that shares no code with Selvedge has words of its own, those of the book's pages about
/// EML: whoever compares it with an engine names its module.
const APART: (&str, &str) = ("testkit", "semantics");

/// A public type: its name, its crate, its module.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct PublicType {
    name: String,
    package: String,
    module: String,
}

fn is_apart(one: &PublicType) -> bool {
    let (package, module) = APART;
    let inside = one.module.strip_prefix(module);
    one.package == package && inside.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Compares the public names of all crates with each other and with the glossary.
pub fn check() -> Result<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut types = BTreeSet::new();
    let mut packages = 0;
    let folders = fs::read_dir(root.join("crates")).map_err(|error| error.to_string())?;
    for folder in folders {
        let folder = folder.map_err(|error| error.to_string())?;
        let source = folder.path().join("src");
        if source.join("lib.rs").exists() {
            let package = folder.file_name().to_string_lossy().into_owned();
            let own = public_types(&package, &source)?;
            types.extend(own.into_iter().filter(|one| !is_apart(one)));
            packages += 1;
        }
    }
    let glossary = read(&root.join("book/src/glossary.md"))?;
    let mut mistakes = twice(&types, SHARED);
    let named = glossary_types(&glossary);
    mistakes.extend(missing(&named, &types));
    if mistakes.is_empty() {
        let (all, named) = (types.len(), named.len());
        Ok(format!("names: {all} public types of {packages} crates, {named} in the glossary\n"))
    } else {
        Err(mistakes.join("\n"))
    }
}

/// Names that several types have without a reason, and reasons that nothing needs.
fn twice(types: &BTreeSet<PublicType>, shared: &[(&str, &str)]) -> Vec<String> {
    let mut by_name: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for PublicType { name, package, module } in types {
        by_name.entry(name).or_default().push(format!("{package}::{module}"));
    }
    by_name.retain(|_, places| places.len() > 1);
    let allowed = |name: &str| shared.iter().any(|(known, _)| *known == name);
    let unknown = by_name.iter().filter(|(name, _)| !allowed(name)).map(|(name, places)| {
        format!("`{name}` is the name of several public types: {}", places.join(", "))
    });
    let old = shared.iter().filter(|(name, _)| !by_name.contains_key(name));
    let old = old.map(|(name, _)| format!("`{name}` is no longer the name of several types"));
    unknown.chain(old).collect()
}

/// The types that the glossary names: crate and name.
fn glossary_types(glossary: &str) -> Vec<(String, String)> {
    let quoted = glossary.split('`').skip(1).step_by(2);
    let paths = quoted.filter_map(|path| path.strip_prefix("selvedge_")?.split_once("::"));
    let named = paths.map(|(package, path)| {
        (package.replace('_', "-"), path.rsplit("::").next().unwrap_or(path).to_owned())
    });
    // What starts with a small letter is a function or a module.
    named.filter(|(_, name)| name.starts_with(|c: char| c.is_ascii_uppercase())).collect()
}

fn missing(named: &[(String, String)], types: &BTreeSet<PublicType>) -> Vec<String> {
    let known =
        |package: &str, name: &str| types.iter().any(|t| t.package == package && t.name == name);
    let gone = named.iter().filter(|(package, name)| !known(package, name));
    gone.map(|(package, name)| format!("the glossary names `{name}`, which `{package}` has not"))
        .collect()
}

/// What the text of one module says about names.
#[derive(Default, PartialEq, Eq, Debug)]
struct Module {
    types: Vec<String>,
    /// Modules in files of their own, and whether they are public.
    modules: Vec<(String, bool)>,
    /// What is exported: the last part of the module's path, and the name.
    exports: Vec<(String, String)>,
}

/// The public types of the crate with this folder of sources.
fn public_types(package: &str, source: &Path) -> Result<BTreeSet<PublicType>, String> {
    let mut found = BTreeSet::new();
    let (mut hidden, mut exports) = (Vec::new(), Vec::new());
    // File, folder of its modules, path, and whether it can be reached from outside.
    let mut open = vec![(source.join("lib.rs"), source.to_owned(), Vec::<String>::new(), true)];
    while let Some((file, folder, path, public)) = open.pop() {
        let module = module(&read(&file)?);
        for name in module.types {
            let module = path.join("::");
            let found_type = PublicType { name, package: package.to_owned(), module };
            if public {
                found.insert(found_type);
            } else {
                hidden.push((path.last().cloned().unwrap_or_default(), found_type));
            }
        }
        if public {
            exports.extend(module.exports);
        }
        for (name, is_public) in module.modules {
            let inside = folder.join(&name);
            let file = Some(folder.join(format!("{name}.rs"))).filter(|file| file.exists());
            let file = file.unwrap_or_else(|| inside.join("mod.rs"));
            let path = path.iter().cloned().chain([name]).collect();
            open.push((file, inside, path, public && is_public));
        }
    }
    let exported =
        |module: &String, name: &String| exports.iter().any(|(m, n)| m == module && n == name);
    found.extend(hidden.into_iter().filter(|(m, t)| exported(m, &t.name)).map(|(_, t)| t));
    Ok(found)
}

fn module(text: &str) -> Module {
    let mut module = Module::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line == "#[cfg(test)]" {
            match lines.next() {
                // The tests are the end of a file.
                Some(tests) if tests.starts_with("mod") && tests.ends_with('{') => break,
                _ => continue,
            }
        }
        let is_id = ["define_id!(", "selvedge_base::define_id!("];
        if is_id.iter().any(|start| line.starts_with(start)) {
            let mut words = line.to_owned();
            while !words.ends_with(");") {
                let Some(line) = lines.next() else { break };
                words = format!("{words}\n{line}");
            }
            let words = words.trim_end_matches(");").trim_end();
            module.types.extend(words.split_whitespace().last().map(str::to_owned));
            continue;
        }
        let (public, rest) = match line.strip_prefix("pub ") {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        if let Some(name) = rest.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')) {
            module.modules.push((name.to_owned(), public));
        }
        if !public {
            continue;
        }
        let kinds = ["struct ", "enum ", "trait ", "type "];
        if let Some(rest) = kinds.iter().find_map(|kind| rest.strip_prefix(kind)) {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            module.types.push(rest[..end].to_owned());
        }
        if let Some(rest) = rest.strip_prefix("use ") {
            let mut whole = rest.to_owned();
            while !whole.ends_with(';') {
                let Some(line) = lines.next() else { break };
                whole.push_str(line.trim());
            }
            module.exports.extend(exports(whole.trim_end_matches(';')));
        }
    }
    module
}

/// The names in `a::b::{C, D}` or `a::b::C`, each with `b`.
fn exports(path: &str) -> Vec<(String, String)> {
    let (module, names) = match path.split_once("::{") {
        Some((module, names)) => (module, names.trim_end_matches('}')),
        None => path.rsplit_once("::").unwrap_or(("", path)),
    };
    let module = module.rsplit("::").next().unwrap_or(module);
    let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
    names.map(|name| (module.to_owned(), name.to_owned())).collect()
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public(name: &str, package: &str) -> PublicType {
        PublicType { name: name.to_owned(), package: package.to_owned(), module: "m".to_owned() }
    }

    #[test]
    fn a_module_says_what_it_defines_and_exports() {
        let text = "pub mod a;\nmod b;\n#[cfg(test)]\nmod tests;\npub use b::{C,\n    D};\n\
                    pub use a::e;\npub struct F<T> {\n    pub g: T,\n}\npub(crate) enum H {}\n\
                    struct I;\ndefine_id!(/// A lock.\n    LockId);\n#[cfg(test)]\nmod tests {\n\
                    pub struct J;\n}\n";
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let found = module(text);
        assert_eq!(found.types, ["F", "LockId"]);
        assert_eq!(found.modules, [("a".to_owned(), true), ("b".to_owned(), false)]);
        assert_eq!(found.exports, [pair("b", "C"), pair("b", "D"), pair("a", "e")]);
    }

    #[test]
    fn a_name_of_two_types_needs_a_reason() {
        let types = BTreeSet::from([public("A", "x"), public("A", "y"), public("B", "x")]);
        let mistake = "`A` is the name of several public types: x::m, y::m";
        assert_eq!(twice(&types, &[]), [mistake]);
        assert_eq!(twice(&types, &[("A", "reason")]), Vec::<String>::new());
        let old = "`B` is no longer the name of several types";
        assert_eq!(twice(&types, &[("A", "reason"), ("B", "reason")]), [old]);
    }

    #[test]
    fn the_glossary_names_types_that_exist() {
        let named = glossary_types("`selvedge_x_y::a::B`, `selvedge_x_y::c`, `D` `selvedge_z::E`");
        assert_eq!(named.len(), 2);
        let types = BTreeSet::from([public("B", "x-y")]);
        assert_eq!(missing(&named, &types), ["the glossary names `E`, which `z` has not"]);
    }
}
