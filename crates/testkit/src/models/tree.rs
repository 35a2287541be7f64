//! # Idea
//! A binary search tree on a small heap. Inserters add any key and then look for it; searchers look
//! for any key. Both descend by recursion, and every search asserts that the keys on its way are in
//! order. Searchers take no lock: a new cell is linked only when it is complete.
//!
//! # Source
//! The size of the model in paper 001 §7, Fig. 7; the program is our own.

use super::bits::{self, Bit};
use std::fmt::Write;

/// Which tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TreeVersion {
    /// Inserters exclude each other by a lock.
    Locked,
    /// They do not: one overwrites the link that another has just set, and the other's key is lost.
    Unlocked,
    /// They do, but a cell is linked before its key is written, and a searcher reads what was there
    /// before.
    Early,
}

impl TreeVersion {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Locked => "locked",
            Self::Unlocked => "unlocked",
            Self::Early => "early",
        }
    }
}

/// How large.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// Threads that insert a key, at least one.
    pub inserters: usize,
    /// Threads that search a key.
    pub searchers: usize,
    /// Bits of a pointer; zero is no cell, so that there is one cell less than pointers.
    pub pointer_bits: usize,
    /// Bits of a key.
    pub key_bits: usize,
}

/// The tree.
pub fn tree(version: TreeVersion, size: Size) -> String {
    let writer = Writer {
        version,
        cells: (1 << size.pointer_bits) - 1,
        pointer: size.pointer_bits,
        key: size.key_bits,
    };
    writer.program(size)
}

struct Writer {
    version: TreeVersion,
    cells: usize,
    pointer: usize,
    key: usize,
}

/// A field of every cell.
#[derive(Clone, Copy)]
enum Field {
    Key,
    Left,
    Right,
}

impl Field {
    const ALL: [Self; 3] = [Self::Key, Self::Left, Self::Right];

    fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Left => "left",
            Self::Right => "right",
        }
    }
}

impl Writer {
    fn bits(&self, field: Field) -> usize {
        match field {
            Field::Key => self.key,
            Field::Left | Field::Right => self.pointer,
        }
    }

    /// The bits of a field of one cell.
    fn cell(&self, field: Field, cell: usize) -> Vec<Bit> {
        let name = format!("{}{cell}_", field.name());
        (0..self.bits(field)).map(|bit| Bit::Name(format!("{name}{bit}"))).collect()
    }

    fn pointer(&self, name: &str) -> Vec<Bit> {
        bits::names(name, self.pointer)
    }

    fn p(&self, name: &str) -> String {
        bits::list(&self.pointer(name))
    }

    fn k(&self, name: &str) -> String {
        bits::list(&bits::names(name, self.key))
    }

    fn is_cell(&self, name: &str, cell: usize) -> Bit {
        bits::equal(&self.pointer(name), &bits::number(cell as u32, self.pointer))
    }

    fn nothing(&self, name: &str) -> Bit {
        self.is_cell(name, 0)
    }

    fn zero(bits: usize) -> String {
        bits::list(&bits::number(0, bits))
    }

    /// One branch per cell.
    fn for_each_cell(&self, pointer: &str, body: impl Fn(usize) -> String) -> String {
        let mut text = String::new();
        for cell in 1..=self.cells {
            let word = if cell == 1 { "if" } else { "elsif" };
            let _ = writeln!(text, "    {word} {} then", self.is_cell(pointer, cell));
            let _ = writeln!(text, "        {}", body(cell));
        }
        text.push_str("    fi\n");
        text
    }

    fn program(&self, size: Size) -> String {
        let Size { inserters, searchers, .. } = size;
        let mut text = format!(
            "// Binary search tree, {} version, {} cells, inserters: {inserters}, searchers: \
             {searchers}\n",
            self.version.name(),
            self.cells
        );
        let _ = writeln!(text, "decl {};          // the topmost cell, or nothing", self.p("root"));
        let _ = writeln!(text, "decl {};          // the next free cell", self.p("next"));
        text.push_str("decl lock;\n");
        for cell in 1..=self.cells {
            let fields: Vec<String> =
                Field::ALL.map(|field| bits::list(&self.cell(field, cell))).to_vec();
            let _ = writeln!(text, "decl {};", fields.join(", "));
        }
        text.push_str(&self.main(inserters, searchers));
        text.push_str(&self.threads(searchers));
        text.push_str(&self.insertion());
        text.push_str(&self.search());
        for field in Field::ALL {
            text.push_str(&self.getter(field));
        }
        for field in [Field::Left, Field::Right] {
            text.push_str(&self.setter(field));
        }
        text.push_str(&self.allocation());
        text
    }

    fn main(&self, inserters: usize, searchers: usize) -> String {
        let mut text = "\nvoid main() begin\n".to_owned();
        let one = bits::list(&bits::number(1, self.pointer));
        let nothing = Self::zero(self.pointer);
        let _ = writeln!(text, "    {} := {nothing};", self.p("root"));
        let _ = writeln!(text, "    {} := {one};", self.p("next"));
        text.push_str("    lock := F;\n");
        for cell in 1..=self.cells {
            for field in Field::ALL {
                let bits = self.cell(field, cell);
                let zero = Self::zero(bits.len());
                let _ = writeln!(text, "    {} := {zero};", bits::list(&bits));
            }
        }
        for _ in 0..inserters {
            text.push_str("    start_thread inserter();\n");
        }
        for _ in 0..searchers {
            text.push_str("    start_thread searcher();\n");
        }
        text.push_str("end\n");
        text
    }

    fn threads(&self, searchers: usize) -> String {
        let (k, root, r) = (self.k("k"), self.p("root"), self.p("r"));
        let any = vec!["*"; self.key].join(", ");
        let zero = Self::zero(self.key);
        let (acquire, release) = match self.version {
            TreeVersion::Locked | TreeVersion::Early => ("    acquire();\n", "    release();\n"),
            TreeVersion::Unlocked => ("", ""),
        };
        let locks = match self.version {
            TreeVersion::Locked | TreeVersion::Early => {
                "
void acquire() begin
    lock := T constrain !lock;
end

void release() begin
    lock := F;
end
"
            }
            TreeVersion::Unlocked => "",
        };
        // Where the bounds do not hold yet, their values do not matter.
        let inserter = format!(
            "
void inserter() begin
    decl {k};
    decl {r};
    decl found;
    {k} := {any};
{acquire}    add({k});
{release}    {r} := {root};
    found := search({r}, {k}, F, {zero}, F, {zero});
    assert(found);
end
{locks}"
        );
        let searcher = format!(
            "
void searcher() begin
    decl {k};
    decl {r};
    decl found;
    {k} := {any};
    {r} := {root};
    found := search({r}, {k}, F, {zero}, F, {zero});
end
"
        );
        if searchers > 0 { inserter + &searcher } else { inserter }
    }

    /// `add` a key to the tree, `insert` it below a cell.
    fn insertion(&self) -> String {
        let (k, h, n, m) = (self.k("k"), self.k("h"), self.p("n"), self.p("m"));
        let (kb, hb) = (bits::names("k", self.key), bits::names("h", self.key));
        let (found, smaller) = (bits::equal(&kb, &hb), bits::less(&kb, &hb));
        let (root, empty, leaf) = (self.p("root"), self.nothing("n"), self.nothing("m"));
        // A new cell for the key, and the statement that links it.
        let link = |indent: &str, statement: &str| match self.version {
            TreeVersion::Locked | TreeVersion::Unlocked => {
                format!("{indent}{m} := allocate();\n{indent}fill({m}, {k});\n{indent}{statement}")
            }
            TreeVersion::Early => {
                format!("{indent}{m} := allocate();\n{indent}{statement}\n{indent}fill({m}, {k});")
            }
        };
        let top = link("        ", &format!("{root} := {m};"));
        let left = link("            ", &format!("set_left({n}, {m});"));
        let right = link("            ", &format!("set_right({n}, {m});"));
        format!(
            "
void add({k}) begin
    decl {n};
    decl {m};
    {n} := {root};
    if {empty} then
{top}
    else
        insert({n}, {k});
    fi
end

void insert({n}, {k}) begin
    decl {h};
    decl {m};
    {h} := get_key({n});
    if {found} then
        return;
    elsif {smaller} then
        {m} := get_left({n});
        if {leaf} then
{left}
        else
            insert({m}, {k});
        fi
    else
        {m} := get_right({n});
        if {leaf} then
{right}
        else
            insert({m}, {k});
        fi
    fi
end
"
        )
    }

    fn search(&self) -> String {
        let (k, h, n, m) = (self.k("k"), self.k("h"), self.p("n"), self.p("m"));
        let (low, high) = (self.k("low"), self.k("high"));
        let names = |name| bits::names(name, self.key);
        let (found, smaller) =
            (bits::equal(&names("k"), &names("h")), bits::less(&names("k"), &names("h")));
        let (above, below) =
            (bits::less(&names("low"), &names("h")), bits::less(&names("h"), &names("high")));
        let nothing = self.nothing("n");
        format!(
            "
// Looks for k in the tree below n, where all keys lie between low and high.
bool search({n}, {k}, has_low, {low}, has_high, {high}) begin
    decl {h};
    decl {m};
    decl found;
    if {nothing} then return F; fi
    {h} := get_key({n});
    assert((has_low => ({above})) & (has_high => ({below})));
    if {found} then return T; fi
    if {smaller} then
        {m} := get_left({n});
        found := search({m}, {k}, has_low, {low}, T, {h});
    else
        {m} := get_right({n});
        found := search({m}, {k}, T, {h}, has_high, {high});
    fi
    return found;
end
"
        )
    }

    fn getter(&self, field: Field) -> String {
        let body = self
            .for_each_cell("n", |cell| format!("return {};", bits::list(&self.cell(field, cell))));
        // There is always a cell; the last return is never reached.
        format!(
            "\nbool<{}> get_{}({}) begin\n{body}    assume(F);\nend\n",
            self.bits(field),
            field.name(),
            self.p("n")
        )
    }

    fn setter(&self, field: Field) -> String {
        let body = self.for_each_cell("n", |cell| {
            format!("{} := {};", bits::list(&self.cell(field, cell)), self.p("m"))
        });
        format!("\nvoid set_{}({}, {}) begin\n{body}end\n", field.name(), self.p("n"), self.p("m"))
    }

    fn allocation(&self) -> String {
        let (n, next, k) = (self.p("n"), self.p("next"), self.k("k"));
        let more = bits::list(&bits::plus(&self.pointer("next"), 1));
        let full = self.nothing("next");
        let body = self.for_each_cell("n", |cell| {
            let fields: Vec<Bit> =
                Field::ALL.iter().flat_map(|&field| self.cell(field, cell)).collect();
            let nothing = Self::zero(2 * self.pointer);
            format!("{} := {k}, {nothing};", bits::list(&fields))
        });
        format!(
            "
// The next free cell; waits for ever if there is none.
bool<{}> allocate() begin
    decl {n};
    {n}, {next} := {next}, {more} constrain !({full});
    return {n};
end

// Writes a key without descendants into a cell.
void fill({n}, {k}) begin
{body}end
",
            self.pointer
        )
    }
}
