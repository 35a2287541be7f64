//! The book and the README say what is true: their commands print what is shown, their programs are
//! accepted, their links lead somewhere, and their tables name everything there is.
//!
//! In a `console` block, a line `$ selvedge …` is run and the lines below it are compared with what
//! it prints, standard error first. A line `...` stands for any number of lines. `$ echo $?` prints
//! the exit code of the run before, and `> NAME` at the end of a command writes its standard output
//! to a file. A block in another language with `file=NAME` is first written to that file. All runs
//! of a page share one folder, which also has the folders `examples` and `corpus`. The pages that
//! `selvedge explain` shows are run for a screen on which they fit behind its indentation.
//!
//! `SELVEDGE_BLESS=1 cargo test -p selvedge --test book` writes the real output into blocks that
//! have no `...`, so that a page can be written as a list of commands.

mod common;

use common::{command, root, scratch};
use selvedge_library::{Reading, Text, Texts, load};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The pages: the book's and the README.
fn pages() -> Vec<PathBuf> {
    let mut pages = files(&root().join("book/src"), "md");
    assert!(pages.len() > 15, "the book is there");
    pages.push(root().join("README.md"));
    pages
}

/// All files below a folder with this extension, sorted.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the project") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|other| other == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn text_of(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A page as lines of prose and blocks of code.
enum Piece {
    Prose(String),
    Block { info: String, lines: Vec<String> },
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut open: Option<(String, Vec<String>)> = None;
    for line in text.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((info.to_owned(), Vec::new())),
            (None, None) => pieces.push(Piece::Prose(line.to_owned())),
            (Some(_), Some("")) => {
                let (info, lines) = open.take().expect("it is open");
                pieces.push(Piece::Block { info, lines });
            }
            (Some((_, lines)), _) => lines.push(line.to_owned()),
        }
    }
    assert!(open.is_none(), "a block is not closed");
    pieces
}

/// The folder in which the commands of a page run.
fn folder_of(page: &Path) -> PathBuf {
    let name = page.strip_prefix(root()).expect("a page of the project").display().to_string();
    let folder = scratch(&format!("book-{}", name.replace(['/', '\\'], "-")));
    let text = text_of(page);
    let sources = ["bad", "bad-bp", "bad-configuration", "bad-model"];
    let sources = sources.into_iter().chain(["bad-ltl", "bad-nwa", "bad-pds", "bad-property"]);
    let sources = sources.map(|folder| format!("corpus/{folder}"));
    let sources = sources.chain(["examples".to_owned()]);
    for source in sources.filter(|source| text.contains(&format!("{source}/"))) {
        let target = folder.join(&source);
        fs::create_dir_all(&target).expect("a folder");
        for entry in fs::read_dir(root().join(source)).expect("a folder of the project") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a file");
            fs::copy(&path, target.join(name)).expect("a copy");
        }
    }
    // Class files stand beside the reader of them.
    for given in ["crates/front-java/tests/classes", "crates/front-java/tests/causes"] {
        if text.contains(given) {
            copy_folder(&root().join(given), &folder.join(given));
        }
    }
    folder
}

/// Copies a folder and everything in it.
fn copy_folder(source: &Path, target: &Path) {
    fs::create_dir_all(target).expect("a folder");
    for entry in fs::read_dir(source).expect("a folder of the project") {
        let path = entry.expect("an entry").path();
        let target = target.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            fs::copy(&path, target).expect("a copy");
        }
    }
}

/// The words of a command line; what stands between single quotes is one word.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('\'') {
            Some(quoted) => quoted.split_once('\'').expect("a quote ends"),
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word);
        rest = after.trim_start();
    }
    words
}

/// The state of a page's session.
struct Session {
    folder: PathBuf,
    /// How wide the screen is, if it is not as wide as usual.
    columns: Option<&'static str>,
    code: i32,
}

/// The pages that `selvedge explain` shows.
const EXPLAINED: [&str; 3] = ["diagnostics.md", "patterns.md", "rules.md"];

impl Session {
    fn new(page: &Path) -> Self {
        let in_reference = page.parent().is_some_and(|folder| folder.ends_with("reference"));
        let is_explained = EXPLAINED.iter().any(|name| page.ends_with(name));
        let columns = (in_reference && is_explained).then_some("78");
        Self { folder: folder_of(page), columns, code: 0 }
    }
}

impl Session {
    /// Runs one command line; `None` if it is none that this can run.
    fn run(&mut self, line: &str) -> Option<String> {
        if line == "echo $?" {
            return Some(format!("{}\n", self.code));
        }
        let (line, target) = match line.split_once(" > ") {
            Some((line, target)) => (line, Some(target)),
            None => (line, None),
        };
        let arguments = line
            .strip_prefix("selvedge ")
            .or_else(|| line.strip_prefix("cargo run -p selvedge -- "))
            .or_else(|| line.strip_prefix("cargo run --profile quick -p selvedge -- "))?;
        let arguments = words(arguments);
        let mut command = command(&arguments);
        command.envs(self.columns.map(|columns| ("COLUMNS", columns)));
        let output = command.current_dir(&self.folder).output().expect("it runs");
        self.code = output.status.code().expect("no signal");
        let stdout = String::from_utf8(output.stdout).expect("UTF-8");
        let mut shown = String::from_utf8(output.stderr).expect("UTF-8");
        match target {
            Some(target) => fs::write(self.folder.join(target), stdout).expect("a file"),
            None => shown.push_str(&stdout),
        }
        Some(shown)
    }
}

/// A line without what differs from run to run.
fn timeless(line: &str) -> String {
    let line = line.trim_end();
    // What the engine `cpds` knew stands behind the time.
    let (line, behind) = match line.rfind("  (k = ") {
        Some(at) => line.split_at(at),
        None => (line, ""),
    };
    if let Some(at) = line.rfind(" in ").filter(|_| line.ends_with(" s")) {
        return format!("{} in 0 s{behind}", &line[..at]);
    }
    for differs in ["peak-memory-bytes", "states-per-second-and-worker"] {
        if line.trim_start().starts_with(differs) {
            return differs.to_owned();
        }
    }
    let mut line = format!("{line}{behind}");
    // What the engines count changes whenever they become better.
    let fields = [("\"seconds\":", &[',', '}'][..]), ("\"peak_memory_bytes\":", &[',', '}'])];
    for (field, ends) in fields.into_iter().chain([("\"counts\":", &['}'][..])]) {
        if let Some(start) = line.find(field).map(|at| at + field.len()) {
            let end = line[start..].find(ends).map_or(line.len(), |end| start + end);
            line.replace_range(start..end, "0");
        }
    }
    line
}

/// Whether `found` is what `shown` says, where `...` stands for any number of lines.
fn matches(shown: &[String], found: &[String]) -> bool {
    match shown.split_first() {
        None => found.is_empty(),
        Some((first, rest)) if first.trim() == "..." => {
            (0..=found.len()).any(|skipped| matches(rest, &found[skipped..]))
        }
        Some((first, rest)) => found.split_first().is_some_and(|(line, others)| {
            timeless(first) == timeless(line) && matches(rest, others)
        }),
    }
}

/// Checks a console block; gives the block with the real output.
fn console(session: &mut Session, lines: &[String], complaints: &mut Vec<String>) -> Vec<String> {
    let mut real = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some(line) = lines[at].strip_prefix("$ ") else {
            complaints.push(format!("output without a command: {}", lines[at]));
            return lines.to_vec();
        };
        let end = (at + 1..lines.len()).find(|&at| lines[at].starts_with("$ "));
        let shown = &lines[at + 1..end.unwrap_or(lines.len())];
        real.push(lines[at].clone());
        match session.run(line) {
            None => complaints.push(format!("cannot be run: {line}")),
            Some(output) => {
                let found: Vec<String> =
                    output.lines().map(|line| line.trim_end().to_owned()).collect();
                // Blank lines at the end of an output are not shown.
                let used = found.iter().rposition(|line| !line.is_empty()).map_or(0, |at| at + 1);
                if matches(shown, &found[..used]) {
                    real.extend_from_slice(shown);
                } else {
                    let (shown, found) = (shown.join("\n"), found.join("\n"));
                    complaints.push(format!("$ {line}\n--- shown\n{shown}\n--- printed\n{found}"));
                    real.extend(output.lines().map(|line| line.trim_end().to_owned()).take(used));
                }
            }
        }
        at = end.unwrap_or(lines.len());
    }
    real
}

#[test]
fn commands_print_what_is_shown() {
    let bless = std::env::var_os("SELVEDGE_BLESS").is_some();
    let mut commands = 0;
    let mut wrong = Vec::new();
    for page in pages() {
        let mut session = Session::new(&page);
        let (mut complaints, mut blessed): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for piece in pieces(&text_of(&page)) {
            let (info, lines) = match piece {
                Piece::Prose(line) => {
                    blessed.push(line);
                    continue;
                }
                Piece::Block { info, lines } => (info, lines),
            };
            let lines = if info == "console" {
                commands += lines.iter().filter(|line| line.starts_with("$ ")).count();
                let elided = lines.iter().any(|line| line.trim() == "...");
                let real = console(&mut session, &lines, &mut complaints);
                if elided { lines } else { real }
            } else {
                if let Some(name) = info.split_once("file=").map(|(_, name)| name) {
                    fs::write(session.folder.join(name), lines.join("\n") + "\n").expect("a file");
                }
                lines
            };
            blessed.push(format!("```{info}"));
            blessed.extend(lines);
            blessed.push("```".to_owned());
        }
        if bless {
            fs::write(&page, blessed.join("\n") + "\n").expect("the page can be written");
        }
        wrong.extend(complaints.iter().map(|what| format!("{}: {what}", page.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(commands > 40, "the book has commands");
}

/// The page that translates code shows the models that its commands check, but for what is expected of
/// them.
#[test]
fn the_translated_models_are_the_examples() {
    let page = text_of(&root().join("book/src/code.md"));
    let (mut shown, mut checked) = (Vec::new(), Vec::new());
    for piece in pieces(&page) {
        let Piece::Block { info, lines } = piece else { continue };
        if info == "eml" {
            shown.push(lines.join("\n"));
        }
        let commands = lines.iter().filter_map(|line| line.strip_prefix("$ selvedge check "));
        checked.extend(commands.filter_map(|rest| rest.split(' ').next().map(str::to_owned)));
    }
    assert_eq!((shown.len(), checked.len()), (22, 22), "eleven pairs");
    for (model, file) in shown.iter().zip(&checked) {
        let text = text_of(&root().join(file));
        let text: Vec<&str> = text.lines().filter(|line| !line.starts_with("//! ")).collect();
        assert_eq!(model, text.join("\n").trim(), "{file}");
    }
    let fixed = checked.iter().filter(|file| file.ends_with("-fixed.eml")).count();
    assert_eq!(fixed, 11);
    // The mistake is found, and the repair is proved.
    assert_eq!(page.matches("\nsafe: for all executions").count(), 11, "{checked:?}");
}

#[test]
fn programs_are_accepted() {
    let mut programs = 0;
    for page in pages() {
        for piece in pieces(&text_of(&page)) {
            let Piece::Block { info, lines } = piece else { continue };
            let language = info.split([',', ' ']).next().unwrap_or_default();
            if !["eml", "slv", "bp"].contains(&language) {
                continue;
            }
            let text = lines.join("\n");
            let texts = Texts::from(Text::new(format!("block.{language}"), &*text));
            let reading = Reading { dialect: None, starts_per_site: Some(1) };
            let (model, complaints) = load(&texts, reading);
            assert!(model.is_some(), "{}: {complaints:?}\n{text}", page.display());
            programs += 1;
        }
    }
    assert!(programs >= 5, "the book has programs");
}

/// The targets of the links `[…](target)` of a page, outside of code.
fn links(text: &str) -> Vec<String> {
    let mut targets = Vec::new();
    for piece in pieces(text) {
        let Piece::Prose(line) = piece else { continue };
        let mut rest = line.as_str();
        while let Some((_, after)) = rest.split_once("](") {
            let (target, after) = after.split_once(')').expect("a link ends");
            targets.push(target.to_owned());
            rest = after;
        }
    }
    targets
}

/// What a heading is called in a link.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let headings = pieces(text).into_iter().filter_map(|piece| match piece {
        Piece::Prose(line) if line.starts_with('#') => Some(anchor(line.trim_start_matches('#'))),
        _ => None,
    });
    headings.collect()
}

#[test]
fn links_lead_somewhere() {
    let mut checked = 0;
    let mut pages = pages();
    pages.extend(["ARCHITECTURE.md", "CHANGELOG.md"].map(|name| root().join(name)));
    for entry in fs::read_dir(root().join("crates")).expect("the crates") {
        pages.push(entry.expect("an entry").path().join("README.md"));
    }
    for page in pages {
        for target in links(&text_of(&page)) {
            if target.starts_with("https://") {
                continue;
            }
            let (path, heading) = target.split_once('#').unwrap_or((&target, ""));
            let file = if path.is_empty() {
                page.clone()
            } else {
                page.parent().expect("a folder").join(path)
            };
            assert!(file.exists(), "{}: {target}", page.display());
            if !heading.is_empty() {
                assert!(anchors(&text_of(&file)).contains(heading), "{}: {target}", page.display());
            }
            checked += 1;
        }
    }
    assert!(checked > 50, "the book has links");
}

#[test]
fn the_summary_lists_every_page() {
    let folder = root().join("book/src");
    let summary = links(&text_of(&folder.join("SUMMARY.md")));
    let listed: BTreeSet<PathBuf> = summary.iter().map(|target| folder.join(target)).collect();
    assert_eq!(listed.len(), summary.len(), "a page is listed twice");
    let mut pages: BTreeSet<PathBuf> = files(&folder, "md").into_iter().collect();
    pages.remove(&folder.join("SUMMARY.md"));
    assert_eq!(listed, pages);
}

/// The string literals in kebab case of a source, tests apart: the codes of diagnostics.
fn codes(source: &str) -> BTreeSet<String> {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let code_lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let is_code = |text: &&str| {
        let words = text.split('-').collect::<Vec<_>>();
        let plain = |word: &&str| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        };
        words.len() > 1 && words.iter().all(plain)
    };
    let literals = code_lines.flat_map(|line| line.split('"').skip(1).step_by(2));
    literals.filter(is_code).map(str::to_owned).collect()
}

/// What stands under each `## ` heading of a page.
fn sections(text: &str) -> BTreeMap<String, String> {
    let mut sections: BTreeMap<String, String> = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            heading.clone_into(&mut current);
        } else if line.starts_with("# ") {
            current.clear();
        }
        let section = sections.entry(current.clone()).or_default();
        section.push_str(line);
        section.push('\n');
    }
    sections
}

/// Complaints that only very large inputs, inputs that are no text, limits, mistakes of ours and of
/// compilers cause, so
/// that no example can show them.
const NO_EXAMPLE: &[&str] = &[
    "file-not-read",
    "file-too-large",
    "internal-error",
    "invalid-program",
    "large-restriction",
    "no-code",
    "no-javac",
    "no-shared-state",
    "no-target",
    "not-compiled",
    "not-utf8",
    "program-too-large",
    "stack-too-deep",
    "too-many-errors",
    "too-many-variables",
    "too-many-warnings",
];

#[test]
fn every_diagnostic_is_described_with_an_example() {
    let mut known = BTreeSet::new();
    let folders = ["front-bool/src", "front-eml/src", "front-nwa/src", "front-pds/src"];
    let others = ["front-property/src", "logic/src", "syntax/src", "program/src/text"];
    for folder in folders.into_iter().chain(others) {
        for file in files(&root().join("crates").join(folder), "rs") {
            // Fragments of temporal logic have names of the same form.
            if file.file_name().is_some_and(|name| name != "tests.rs" && name != "fragment.rs") {
                known.extend(codes(&text_of(&file)));
            }
        }
    }
    // The command line and the library have other words of this form; their codes follow a
    // constructor or a name.
    let doors = ["crates/cli/src", "crates/library/src"].map(|folder| root().join(folder));
    for file in doors.iter().flat_map(|folder| files(folder, "rs")) {
        if file.ends_with("tests.rs") {
            continue;
        }
        let text = text_of(&file);
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        let starts = ["Diagnostic::error(", "Diagnostic::global(", "CODE: &str = ", "let code = "];
        for start in starts.into_iter().chain([
            "self.complain(",
            "self.complain(name, ",
            "self.complain(file, ",
            "reader.complain(",
            "refused(",
        ]) {
            let after = text.split(start).skip(1);
            let literals = after.filter_map(|after| after.trim_start().strip_prefix('"'));
            known.extend(literals.filter_map(|text| Some(text.split_once('"')?.0.to_owned())));
        }
    }
    known.insert(selvedge_analysis::driver::INTERNAL_ERROR.to_owned());
    // Codes of one word do not look like codes, but the snapshots of bad files show them.
    let shown =
        ["bad", "bad-ltl", "bad-nwa"].map(|folder| root().join("crates/cli/tests").join(folder));
    for file in shown.iter().flat_map(|folder| files(folder, "snap")) {
        let text = text_of(&file);
        let heads = text.lines().filter_map(|line| {
            line.strip_prefix("error[").or_else(|| line.strip_prefix("warning["))
        });
        known.extend(heads.filter_map(|head| Some(head.split_once(']')?.0.to_owned())));
    }
    assert!(known.len() > 40, "the codes were found");
    let page = text_of(&root().join("book/src/reference/diagnostics.md"));
    let sections = sections(&page);
    let described: BTreeSet<String> =
        sections.keys().filter(|name| !name.is_empty()).cloned().collect();
    assert_eq!(described, known, "the sections of diagnostics.md (left) and the sources (right)");
    for code in known.iter().filter(|code| !NO_EXAMPLE.contains(&code.as_str())) {
        let section = &sections[code];
        assert!(section.contains(&format!("[{code}]")), "{code} has no example");
    }
}

/// Whether a crate defines a public type of this name.
fn defines(krate: &str, name: &str) -> bool {
    let folder = root().join("crates").join(krate.replace('_', "-")).join("src");
    let kinds = ["struct", "enum", "trait", "type", "macro_rules!"];
    files(&folder, "rs").iter().any(|file| {
        let text = text_of(file);
        let after = |start: &str| {
            text.match_indices(start).any(|(at, _)| {
                !text[at + start.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
            })
        };
        kinds.iter().any(|kind| after(&format!("pub {kind} {name}")))
            || (text.contains("define_id!") && after(&format!("    {name}")))
    })
}

#[test]
fn the_types_of_the_glossary_exist() {
    let mut checked = 0;
    for (at, line) in text_of(&root().join("book/src/glossary.md")).lines().enumerate() {
        for quoted in line.split('`').skip(1).step_by(2) {
            let Some(path) = quoted.strip_prefix("selvedge_") else { continue };
            let (krate, name) = path.split_once("::").expect("a crate and a name");
            let name = name.rsplit("::").next().expect("a name");
            assert!(defines(krate, name), "glossary line {}: {quoted}", at + 1);
            checked += 1;
        }
    }
    assert!(checked > 15, "the glossary names types");
}

/// Sources named in the book as `crates/…/file.rs`, or with `::name` for a function in one, exist.
#[test]
fn the_sources_that_the_book_names_exist() {
    let mut checked = 0;
    for page in pages() {
        let text = text_of(&page);
        let mut last: Option<PathBuf> = None;
        for quoted in text.split('`').skip(1).step_by(2) {
            let is_path = ["crates/", "xtask/", "fuzz/", "examples/", "bench/"]
                .iter()
                .any(|folder| quoted.starts_with(folder));
            if quoted.contains([' ', '*', '\n']) {
                continue;
            }
            if is_path {
                let (path, function) = quoted.split_once("::").unwrap_or((quoted, ""));
                let path = root().join(path);
                assert!(path.exists(), "{}: {quoted}", page.display());
                let known =
                    function.is_empty() || text_of(&path).contains(&format!("fn {function}("));
                assert!(known, "{}: {quoted}", page.display());
                last = Some(path);
                checked += 1;
            } else if let Some(function) = quoted.strip_prefix("::") {
                let path = last.as_ref().expect("a file before a function");
                assert!(
                    text_of(path).contains(&format!("fn {function}(")),
                    "{}: {quoted}",
                    page.display()
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 30, "the book names sources");
}

/// The rows of `ARCHITECTURE.md` and of the check are the same.
#[test]
fn the_table_of_layers_is_the_one_that_is_checked() {
    let quoted = |line: &str, quote: char| -> Vec<String> {
        line.split(quote).skip(1).step_by(2).map(str::to_owned).collect()
    };
    let source = text_of(&root().join("xtask/src/layers.rs"));
    let table = source.split("const ALLOWED").nth(1).expect("the table");
    let table = table.split("];").next().expect("its end");
    // A row may span several lines, but each begins with a parenthesis.
    let checked: BTreeMap<String, Vec<String>> = table
        .split("\n    (")
        .skip(1)
        .map(|row| {
            let mut names = quoted(row, '"').into_iter();
            let name = names.next().expect("a crate");
            (name.strip_prefix("selvedge-").unwrap_or(&name).to_owned(), names.collect())
        })
        .collect();
    let page = text_of(&root().join("ARCHITECTURE.md"));
    let rows = page.lines().skip_while(|line| *line != "| crate | may depend on |").skip(2);
    let described: BTreeMap<String, Vec<String>> = rows
        .take_while(|line| line.starts_with('|'))
        .map(|row| {
            let cells: Vec<&str> = row.split('|').collect();
            (quoted(cells[1], '`')[0].clone(), quoted(cells[2], '`'))
        })
        .collect();
    assert_eq!(described, checked);
    assert!(checked.len() > 10);
}

#[test]
fn the_version_of_rust_is_the_one_that_is_needed() {
    let manifest = text_of(&root().join("Cargo.toml"));
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \""));
    let version = version.expect("the workspace says it").trim_end_matches('"');
    for page in ["README.md", "book/src/install.md"] {
        let wanted = format!("Rust {version} or newer");
        assert!(text_of(&root().join(page)).contains(&wanted), "{page}: {wanted}");
    }
}
