//! # Idea
//! The table of lines in `ARCHITECTURE.md` has columns about the past, which stay, and two about now,
//! which are counted: lines of Rust in `src` and in `tests` of each crate. A crate without a row gets
//! one before the sum.

use std::collections::BTreeMap;
use std::path::Path;

/// How the head of the table begins.
const HEAD: &str = "| crate | before |";

/// Lines in `src` and in `tests`.
type Lines = (usize, usize);

/// Counts, and writes the table anew.
pub fn write() -> Result<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let crates = std::fs::read_dir(root.join("crates")).map_err(|error| error.to_string())?;
    let mut counted = BTreeMap::new();
    for folder in crates.flatten().map(|entry| entry.path()).chain([root.join("xtask")]) {
        let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { continue };
        let lines = (lines(&folder.join("src"))?, lines(&folder.join("tests"))?);
        counted.insert(name.to_owned(), lines);
    }
    let file = root.join("ARCHITECTURE.md");
    let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
    let text = updated(&text, counted).ok_or("there is no table of lines")?;
    std::fs::write(&file, text).map_err(|error| error.to_string())?;
    Ok(String::new())
}

/// The lines of all Rust files below a folder, which need not exist.
fn lines(folder: &Path) -> Result<usize, String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(0) };
    let mut count = 0;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            count += lines(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path);
            count += text.map_err(|error| format!("{}: {error}", path.display()))?.lines().count();
        }
    }
    Ok(count)
}

/// The text with the table as it is now; `None` if there is none.
fn updated(text: &str, mut counted: BTreeMap<String, Lines>) -> Option<String> {
    let start = text.find(HEAD)?;
    let length = text[start..].find("\n\n").unwrap_or(text.len() - start);
    let sum = counted.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let mut rows = text[start..start + length].lines();
    let mut table: Vec<String> = rows.by_ref().take(2).map(str::to_owned).collect();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, before, house, _, tests_before, _] = cells[..] else { return None };
        let mut add = |name: &str, [before, house, tests]: [&str; 3], (source, own): Lines| {
            let (source, own) = (grouped(source), grouped(own));
            table.push(format!("| {name} | {before} | {house} | {source} | {tests} | {own} |"));
        };
        let past = [before, house, tests_before];
        if name == "all" {
            for (name, lines) in std::mem::take(&mut counted) {
                add(&format!("`{name}`"), ["", "", ""], lines);
            }
            add(name, past, sum);
        } else if let Some(lines) = counted.remove(name.trim_matches('`')) {
            add(name, past, lines);
        }
    }
    Some(format!("{}{}{}", &text[..start], table.join("\n"), &text[start + length..]))
}

/// A number with commas between its thousands.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_about_now_are_written_anew_and_new_crates_get_a_row() {
        let text = "a\n\n| crate | before | one house | now | its tests, before | now |\n\
                    |---|---|---|---|---|---|\n| `base` | 5 | 6 | 7 | 8 | 9 |\n\
                    | `gone` | 5 | 6 | 7 | 8 | 9 |\n| all | 1 | 2 | 3 | 4 | 5 |\n\nb\n";
        let counted =
            BTreeMap::from([("base".to_owned(), (1234, 0)), ("new".to_owned(), (999_766, 20))]);
        let table = "a\n\n| crate | before | one house | now | its tests, before | now |\n\
                     |---|---|---|---|---|---|\n| `base` | 5 | 6 | 1,234 | 8 | 0 |\n\
                     | `new` |  |  | 999,766 |  | 20 |\n| all | 1 | 2 | 1,001,000 | 4 | 20 |\n\nb\n";
        assert_eq!(updated(text, counted).as_deref(), Some(table));
        assert_eq!(updated("nothing", BTreeMap::new()), None);
    }
}
