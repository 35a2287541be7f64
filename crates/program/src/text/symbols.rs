//! # Idea
//! What editors ask of the text form: where names stand and what they mean, where each edge stands, and how
//! a name is written.

use super::lexer::{Kind, tokens};
use super::parse::{noted_edges, noted_names};
use super::print::Word;
use selvedge_base::Span;
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::symbols::NameIndex;

/// What a text declares, and where the names stand.
pub fn symbols(text: &str) -> NameIndex {
    noted_names(text)
}

/// The bytes of the edges of a text, in their order. If the text has no mistakes, the program has as many
/// edges.
pub fn edge_spans(text: &str) -> Vec<Span> {
    noted_edges(text)
}

/// How a name is written that was written as `old` where it meant `name`, or an element or a copy of it,
/// and is to be `new`; `None` if `old` is a name of something else as well.
pub fn renamed(old: &str, name: &str, new: &str) -> Option<String> {
    let mut complaints = Complaints::new();
    let old = match &tokens(old, &mut complaints)[..] {
        [token, _] => match &token.kind {
            Kind::Quoted(name) => name.clone(),
            Kind::Word => old.to_owned(),
            _ => return None,
        },
        _ => return None,
    };
    let rest = old.strip_prefix(name)?;
    let is_part = rest.is_empty() || rest.starts_with('[') && rest.ends_with(']');
    is_part.then(|| written(&format!("{new}{rest}")))
}

/// Words that mean something where a name may stand; as names they are written in quotes.
const WORDS: [&str; 20] = [
    "T",
    "F",
    "_",
    "when",
    "do",
    "constrain",
    "into",
    "volatile",
    "atomic",
    "mutex",
    "waits",
    "after",
    "copies",
    "end",
    "each",
    "of",
    "location",
    "bool",
    "thread",
    "mod",
];

fn written(name: &str) -> String {
    if WORDS.contains(&name) { format!("\"{name}\"") } else { Word(name).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_syntax::symbols::NameKind;

    const TEXT: &str = "program
lock l
channel c
set s { x, y }
enum Colour { Red, Green }
global g = F
global a[2] : Colour = $enum(Colour, Red) location x guarded by l
numeral n { g }
thread P copies 2 main m {
  procedure m locals g, h[2] : 0..3 nodes 7 entry 0 exit 6 {
    0 -> 1 acquire l
    1 -> 2 read x
    2 -> 3 call f(g, .g) when h[0] = 1 do \"a[1]\" := $enum(Colour, Green)
    3 -> 4 release l
    4 -> 5 start Q
    5 -> 6 send c
  }
}
thread Q waits main .q
procedure f (u, v) nodes 2 entry 0 exit 1 {
  0 -> 1 skip when a[0] = $enum(Colour, Red) & u
}
procedure q nodes 3 entry 0 exit 2 {
  0 -> 1 recv c
  1 -> 2 skip when $thread(\"P[0]\") = $me
}
label here at q 0
";

    fn lines(text: &str, at: &str) -> Vec<usize> {
        let index = symbols(text);
        let at = text.find(at).expect("the text is there");
        let found = index.at(at as u32).expect("a name").symbol;
        let line = |span: Span| text[..span.start as usize].matches('\n').count() + 1;
        index.mentions(found).map(line).collect()
    }

    #[test]
    fn names_are_noted_where_they_stand() {
        let (program, diagnostics) = super::super::parse(TEXT);
        assert!(program.is_some(), "{diagnostics:?}");
        assert_eq!(lines(TEXT, "l\n"), [2, 7, 11, 14]);
        assert_eq!(lines(TEXT, "c\n"), [3, 16, 24]);
        assert_eq!(lines(TEXT, "x,"), [4, 7, 12]);
        assert_eq!(lines(TEXT, "Colour"), [5, 7, 7, 13, 21]);
        assert_eq!(lines(TEXT, "Red"), [5, 7, 21]);
        assert_eq!(lines(TEXT, "g ="), [6, 8, 13]);
        assert_eq!(lines(TEXT, "g, h"), [10, 13]);
        assert_eq!(lines(TEXT, "h["), [10, 13]);
        assert_eq!(lines(TEXT, "a[2]"), [7, 13, 21]);
        assert_eq!(lines(TEXT, "P copies"), [9, 25]);
        assert_eq!(lines(TEXT, "Q\n"), [15, 19]);
        assert_eq!(lines(TEXT, "f(g"), [13, 20]);
        assert_eq!(lines(TEXT, "q nodes"), [19, 23, 27]);
        assert_eq!(lines(TEXT, "u, v"), [20, 21]);
        let index = symbols(TEXT);
        let of = |name: &str, kind| {
            index.symbols.iter().find(|one| one.name == name && one.kind == kind).expect("declared")
        };
        let m = of("m", NameKind::Function);
        assert!(TEXT[m.extent.range()].ends_with("send c\n  }"));
        assert_eq!(m.within.map(|within| index.symbols[within].name.as_str()), Some("P"));
        assert!(TEXT[of("P", NameKind::Process).extent.range()].ends_with("  }\n}"));
        assert_eq!(of("here", NameKind::Label).within, None);
    }

    #[test]
    fn a_text_with_mistakes_keeps_the_names_that_could_be_read() {
        let text = TEXT.replace("read x", "read z").replace("copies 2", "copies 0");
        assert!(super::super::parse(&text).0.is_none());
        assert_eq!(lines(&text, "c\n"), [3, 24]);
        assert_eq!(lines(&text, "u, v"), [20, 21]);
        assert_eq!(symbols("").symbols.len(), 0);
    }

    #[test]
    fn edges_have_their_bytes() {
        let text = "program\nthread A main m {\n  procedure m nodes 3 entry 0 exit 2 {\n    0 -> 1 skip @1:1\n\
                    \n    1 -> 2 begin atomic // here\n  }\n}\n";
        let (program, _) = super::super::parse(text);
        let spans = edge_spans(text);
        assert_eq!(program.map(|program| program.edges.len()), Some(spans.len()));
        let shown: Vec<&str> = spans.iter().map(|span| &text[span.range()]).collect();
        assert_eq!(shown, ["0 -> 1 skip @1:1", "1 -> 2 begin atomic"]);
    }

    #[test]
    fn names_are_written_so_that_they_read_back() {
        let write = |old, new| renamed(old, "a", new);
        assert_eq!(write("a", "b").as_deref(), Some("b"));
        assert_eq!(write("\"a\"", "b").as_deref(), Some("b"));
        assert_eq!(write("\"a[3]\"", "b").as_deref(), Some("\"b[3]\""));
        assert_eq!(write("a", "my \"lock\"").as_deref(), Some("\"my \\\"lock\\\"\""));
        assert_eq!(write("a", "T").as_deref(), Some("\"T\""));
        assert_eq!((write("\"P.a\"", "b"), write("ab", "b"), write("3", "b")), (None, None, None));
    }
}
