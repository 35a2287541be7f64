//! # Idea
//! A drawing of source lines with remarks fits the screen only if the remarks do: a line that goes
//! beyond the edge is broken by the terminal wherever it is, in the middle of a word. So what is too
//! long is broken here, at blanks: headlines and advice go on in the next line, and a remark that does
//! not fit behind its marks moves below them.
//!
//! # Requires
//! The text is a drawing of `annotate-snippets`, with or without colours. Source lines are trimmed by it
//! already, in the middle of words; what is left of such a word is removed.
//!
//! # Invariants
//! 1. A line that fits and was not trimmed stays as it is, byte for byte.
//! 2. No word is changed or broken: a word that is wider than the screen stays whole.

use unicode_width::UnicodeWidthChar;

/// `text` with every line that is wider than `width` broken at blanks; what goes on stands four columns
/// behind where its line begins. What fixed blanks keep together stays in one line, and so does the time
/// at the end of a line.
pub fn wrap_lines(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        if fits(line, width) {
            out.push_str(&line.replace(FIXED_BLANK, " "));
        } else {
            let (mut cells, trailing) = cells(line);
            keep_time_together(&mut cells);
            let lead = cells.iter().take_while(|cell| cell.character == ' ').count();
            let lines = wrapped(&cells, &trailing, lead + 4, width);
            out.push_str(&lines.join("\n").replace(FIXED_BLANK, " "));
        }
        out.push_str(end);
    }
    out
}

/// A blank at which no line is broken.
pub(crate) const FIXED_BLANK: char = '\u{a0}';

/// The blanks of ` in 0.123 s` at the end of a line become fixed ones, but for the first.
fn keep_time_together(cells: &mut [Cell]) {
    let text: String = cells.iter().map(|cell| cell.character).collect();
    let Some((_, time)) = text.rsplit_once(" in ").filter(|(_, time)| time.ends_with(" s")) else {
        return;
    };
    let blanks = [2, time.chars().count() + 1].map(|behind| cells.len().checked_sub(behind));
    for at in blanks.into_iter().flatten() {
        cells[at].character = FIXED_BLANK;
    }
}

/// A character with the escape sequences before it, and what they leave switched on.
#[derive(Clone)]
struct Cell {
    escapes: String,
    style: String,
    character: char,
}

/// By how much narrower a drawing is made if a source line of it does not fit.
const NARROWER: [usize; 4] = [0, 8, 16, 32];

/// The drawing that `draw` makes for a width, with every line broken that is wider than `width`, if it
/// has blanks to break it at.
pub(crate) fn fit(draw: impl Fn(usize) -> String, width: usize) -> String {
    let is_source = |line: &str| line.trim_start().starts_with(|c: char| c.is_ascii_digit());
    let fits = |drawing: &String| {
        let plain =
            |line: &str| cells(line).0.iter().map(|cell| cell.character).collect::<String>();
        drawing.split('\n').all(|line| fits(line, width) || !is_source(&plain(line)))
    };
    let mut drawings = NARROWER.iter().map(|less| draw(width.saturating_sub(*less)));
    let drawing = drawings.find(fits).unwrap_or_else(|| draw(width));
    broken(&drawing, width)
}

fn broken(drawing: &str, width: usize) -> String {
    let lines: Vec<&str> = drawing.split('\n').collect();
    let mut out: Vec<String> = Vec::new();
    for (number, &line) in lines.iter().enumerate() {
        let below = lines.get(number + 1).map_or("", |line| line);
        let whole = whole_words(line, below);
        let line = whole.as_str();
        if fits(line, width) {
            out.push(line.to_owned());
            continue;
        }
        let (cells, trailing) = cells(line);
        match part(&cells) {
            Part::Text { indent } => out.extend(wrapped(&cells, &trailing, indent, width)),
            Part::Remark { gutter, start } => {
                out.extend(moved(&cells, &trailing, gutter, start, below, width));
            }
            Part::Fixed => out.push(line.to_owned()),
        }
    }
    out.join("\n")
}

/// What a line of a drawing is.
enum Part {
    /// A headline or advice; what does not fit goes on behind so many blanks.
    Text { indent: usize },
    /// Marks, and from `start` on a remark; the gutter ends before `gutter`.
    Remark { gutter: usize, start: usize },
    /// A source line, or a place.
    Fixed,
}

fn part(cells: &[Cell]) -> Part {
    let text: String = cells.iter().map(|cell| cell.character).collect();
    let trimmed = text.trim_start();
    let blanks = text.len() - trimmed.len();
    if trimmed.starts_with("--> ") || trimmed.starts_with("::: ") {
        return Part::Fixed;
    }
    if let Some(advice) = trimmed.strip_prefix("= ") {
        // Behind `= help: `.
        let word = advice.find(": ").map_or(0, |at| at + 2);
        return Part::Text { indent: blanks + 2 + word };
    }
    let digits = trimmed.chars().take_while(char::is_ascii_digit).count();
    let bar = trimmed[digits..].trim_start().starts_with('|');
    if bar && digits > 0 {
        return Part::Fixed;
    }
    if bar {
        let gutter = blanks + 1;
        let marks = |cell: &Cell| !matches!(cell.character, ' ' | '^' | '-' | '|' | '_');
        return match cells[gutter..].iter().position(marks) {
            Some(at) => Part::Remark { gutter, start: gutter + at },
            None => Part::Fixed,
        };
    }
    // Advice of several lines stands below its first one; a headline begins at the edge.
    Part::Text { indent: if blanks > 0 { blanks } else { 4 } }
}

/// A source line that was trimmed in the middle of words, without the rest of these words; `below` has
/// the marks, which stay where they are.
fn whole_words(line: &str, below: &str) -> String {
    const DOTS: [char; 3] = ['.'; 3];
    if !line.contains("...") {
        return line.to_owned();
    }
    let (mut cells, trailing) = cells(line);
    let text: Vec<char> = cells.iter().map(|cell| cell.character).collect();
    let bar = text.iter().position(|&c| c != ' ' && !c.is_ascii_digit());
    let Some(bar) =
        bar.filter(|&bar| text[bar] == '|' && text[..bar].iter().any(char::is_ascii_digit))
    else {
        return line.to_owned();
    };
    let start = bar + 2;
    let marked = marks(below, bar);
    if text.get(start..).is_some_and(|source| source.starts_with(&DOTS)) {
        let word = text[start + 3..].iter().position(|&c| c == ' ').unwrap_or(0);
        if word > 0 && marked.is_some_and(|(first, _)| start + 3 + word <= first) {
            for at in 0..word + 3 {
                cells[start + at].character = if at < word { ' ' } else { '.' };
            }
        }
    }
    if text.get(start..).is_some_and(|source| source.len() > 3 && source.ends_with(&DOTS)) {
        let dots = text.len() - 3;
        let word = text[..dots].iter().rposition(|&c| c == ' ').map_or(0, |at| at + 1);
        if word > start && marked.is_some_and(|(_, last)| last < word) {
            cells.drain(word..dots);
        }
    }
    written(&cells, &trailing)
}

/// The columns of the first and the last mark of a line.
fn marks(line: &str, bar: usize) -> Option<(usize, usize)> {
    let (cells, _) = cells(line);
    let is_mark = |cell: &Cell| matches!(cell.character, '^' | '-');
    let first = bar + 1 + cells.get(bar + 1..)?.iter().position(is_mark)?;
    let rest = &cells[first..];
    let behind = rest.iter().position(|cell| !matches!(cell.character, '^' | '-' | ' '));
    let marks = &rest[..behind.unwrap_or(rest.len())];
    Some((first, first + marks.iter().rposition(is_mark)?))
}

/// The line, broken at blanks.
fn wrapped(cells: &[Cell], trailing: &str, indent: usize, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let lead = cells.iter().take_while(|cell| cell.character == ' ').count();
    let mut rest = cells;
    let mut prefix = String::new();
    let mut fixed = lead;
    loop {
        let room = width.saturating_sub(prefix.len());
        let end = break_at(rest, fixed, room);
        let last = end == rest.len();
        lines.push(format!("{prefix}{}", written(&rest[..end], if last { trailing } else { "" })));
        if last {
            return lines;
        }
        let skipped = rest[end..].iter().take_while(|cell| cell.character == ' ').count();
        rest = &rest[end + skipped..];
        prefix = " ".repeat(indent);
        fixed = 0;
    }
}

/// Up to which cell a line goes that begins with `cells` and takes at most `room` columns, unless its
/// first word takes more. The first `lead` cells are blanks that stay.
fn break_at(cells: &[Cell], lead: usize, room: usize) -> usize {
    let mut best = None;
    let mut used = 0;
    for (at, cell) in cells.iter().enumerate() {
        let ends_word = at > lead && cell.character == ' ' && cells[at - 1].character != ' ';
        if ends_word && used <= room {
            best = Some(at);
        } else if ends_word {
            return best.unwrap_or(at);
        }
        used += columns(cell);
    }
    if used <= room { cells.len() } else { best.unwrap_or(cells.len()) }
}

/// The marks, and below them the remark, as far to the left as it must be. `below` is the line that
/// follows: its bars, which lead to other remarks, go through.
fn moved(
    cells: &[Cell],
    trailing: &str,
    gutter: usize,
    start: usize,
    below: &str,
    width: usize,
) -> Vec<String> {
    let (marks, remark) = cells.split_at(start);
    let used = marks.iter().rposition(|cell| cell.character != ' ').map_or(0, |at| at + 1);
    let is_marked = used > gutter;
    let (below, _) = self::cells(below);
    let is_bar = |at: usize| {
        at >= gutter && at < start && below.get(at).is_some_and(|cell| cell.character == '|')
    };
    // Bars of other remarks, and the gutter itself, stay free.
    let least = (0..start).rev().find(|&at| is_bar(at)).map_or(gutter + 1, |at| at + 2);
    let room = width.saturating_sub(least);
    let pieces = wrapped(remark, trailing, 0, room);
    let widest = {
        let widths = pieces.iter().map(|piece| measure(&self::cells(piece).0));
        widths.max().unwrap_or(0)
    };
    // Below the first of its marks, if it fits there.
    let last = marks[..used].last().map_or(' ', |cell| cell.character);
    let run = marks[..used].iter().rev().take_while(|cell| cell.character == last).count();
    let begins = if is_marked { used - run } else { start };
    let column = begins.min(width.saturating_sub(widest)).max(least);
    let mut lines = Vec::new();
    if is_marked {
        lines.push(written(&marks[..used], ""));
    }
    for piece in pieces {
        let mut line = written(&marks[..gutter], "");
        for at in gutter..column {
            if is_bar(at) {
                line.push_str(&written(&below[at..=at], ""));
            } else {
                line.push(' ');
            }
        }
        line.push_str(&piece);
        lines.push(line);
    }
    lines
}

/// Whether a line takes at most so many columns.
fn fits(line: &str, width: usize) -> bool {
    // Most lines are short, and then there is nothing to measure.
    line.len() <= width || {
        let (mut used, mut escaped) = (0, false);
        for character in line.chars() {
            if escaped {
                escaped = !character.is_ascii_alphabetic();
            } else if character == '\u{1b}' {
                escaped = true;
            } else {
                used += character.width().unwrap_or(0);
            }
        }
        used <= width
    }
}

/// A line as cells, and the escape sequences behind its last character.
fn cells(line: &str) -> (Vec<Cell>, String) {
    let mut cells = Vec::new();
    let (mut escapes, mut style) = (String::new(), String::new());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character != '\u{1b}' {
            cells.push(Cell {
                escapes: std::mem::take(&mut escapes),
                style: style.clone(),
                character,
            });
            continue;
        }
        let mut sequence = String::from(character);
        for next in characters.by_ref() {
            sequence.push(next);
            if next.is_ascii_alphabetic() {
                break;
            }
        }
        if matches!(sequence.as_str(), "\u{1b}[0m" | "\u{1b}[m") {
            style.clear();
        } else {
            style.push_str(&sequence);
        }
        escapes.push_str(&sequence);
    }
    (cells, escapes)
}

/// Cells as a text that switches on what they need and leaves nothing switched on.
fn written(cells: &[Cell], trailing: &str) -> String {
    let mut out = String::new();
    for (at, cell) in cells.iter().enumerate() {
        out.push_str(if at == 0 { &cell.style } else { &cell.escapes });
        out.push(cell.character);
    }
    let open = cells.last().is_some_and(|cell| !cell.style.is_empty());
    out.push_str(if trailing.is_empty() && open { "\u{1b}[0m" } else { trailing });
    out
}

fn measure(cells: &[Cell]) -> usize {
    cells.iter().map(columns).sum()
}

fn columns(cell: &Cell) -> usize {
    cell.character.width().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stays() {
        let drawing = "error: a b\n --> f:1:1\n  |\n1 | x\n  | ^ here\n  |\n  = help: do";
        assert_eq!(broken(drawing, 12), drawing);
    }

    #[test]
    fn lines_of_any_text_are_broken_at_blanks() {
        assert_eq!(wrap_lines("one two\n  three four\n", 9), "one two\n  three\n      four\n");
        assert_eq!(wrap_lines("safe: all, in 0.123 s", 20), "safe: all,\n    in 0.123 s");
        assert_eq!(
            wrap_lines("a\u{1b}[1m b c\u{1b}[0m", 3),
            "a\u{1b}[1m b\u{1b}[0m\n    \u{1b}[1mc\u{1b}[0m"
        );
        assert_eq!(wrap_lines("größe größe", 11), "größe größe");
    }

    #[test]
    fn headlines_and_advice_are_broken_at_blanks() {
        assert_eq!(broken("error[code]: one two three", 16), "error[code]: one\n    two three");
        assert_eq!(
            broken("  = help: one two three\n          four five six", 18),
            "  = help: one two\n          three\n          four\n          five six"
        );
        // A word that is wider than the screen stays whole.
        assert_eq!(broken("error: abcdefghijkl m", 8), "error:\n    abcdefghijkl\n    m");
        assert_eq!(
            broken(" --> a very long/name of a file:1:1", 8),
            " --> a very long/name of a file:1:1"
        );
    }

    #[test]
    fn remarks_move_below_their_marks() {
        assert_eq!(
            broken("  |          ^^^ some remark", 20),
            "  |          ^^^\n  |      some remark"
        );
        assert_eq!(
            broken("  |          ^^^ a remark of many words", 14),
            "  |          ^^^\n  |   a remark\n  |   of many\n  |   words"
        );
        // What stood below its marks already moves to the left, and bars go through.
        assert_eq!(broken("  |          a remark", 16), "  |     a remark");
        assert_eq!(
            broken("  |   ^^ --- some remark\n  |   |\n  |   other", 19),
            "  |   ^^ ---\n  |   | some remark\n  |   |\n  |   other"
        );
    }

    #[test]
    fn trimmed_lines_end_and_begin_with_whole_words() {
        assert_eq!(
            broken("12 | ...ite y; read x; wri...\n   |           ^^^^ here", 40),
            "12 |    ... y; read x; ...\n   |           ^^^^ here"
        );
        // What is marked stays, and so does a line that was not trimmed.
        for same in ["1 | ...((((((...\n  |    ^", "1 | read x;\n  | ^^^^", "1 | a ...\n  | ^"] {
            assert_eq!(broken(same, 40), same);
        }
    }

    #[test]
    fn colours_go_with_what_they_colour() {
        let drawing = "  |   \u{1b}[1m^^^ some remark\u{1b}[0m";
        assert_eq!(
            broken(drawing, 16),
            "  |   \u{1b}[1m^^^\u{1b}[0m\n  |  \u{1b}[1msome remark\u{1b}[0m"
        );
        assert_eq!(broken(drawing, 40), drawing);
    }
}
