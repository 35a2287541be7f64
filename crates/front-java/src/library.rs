//! # Idea
//! What is known of methods outside the classes of a program, from a table that people can read
//! (`models.txt`). What is not in the table is unknown code, of which everything has to be assumed.
//!
//! # Invariants
//! 1. A line for a method counts before one for all methods of its class.

use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// A side of a lock that an object of its own stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LockSide {
    /// Taking it to read.
    Reading,
    /// Taking it to write.
    Writing,
    /// Giving it up for a while.
    Condition,
}

/// What a call gives back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gives {
    /// Something new, or a value that nothing changes.
    Fresh,
    /// What the receiver holds.
    Held,
    /// The receiver, or a view of it.
    Receiver,
    /// What was passed.
    Passed,
    /// What the receiver holds, or what was passed.
    Either,
    /// Something new that holds what the receiver or what was passed holds.
    Copy,
    /// Something new that holds what was passed and what the receiver holds.
    Gathered,
    /// The same, which nothing changes.
    Fixed,
    /// Constants of enumerations, or something new that holds them.
    Constants,
    /// The thread that runs.
    Current,
    /// Something through which the receiver is looked at.
    View(LockSide),
}

/// What a call does to threads and locks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// Starts the receiver as a thread.
    Starts,
    /// Waits for its end.
    Joins,
    /// Runs what it holds, in this thread.
    Runs,
    /// Frees the monitor of the receiver for a while.
    Waits,
    /// Frees the lock that the receiver was made from for a while.
    Awaits,
    /// Takes the receiver.
    Locks,
    /// Takes it or not, and says so.
    Tries,
    /// Frees it.
    Unlocks,
    /// Runs what is passed in a thread of the receiver, once.
    Submits,
    /// Runs it any number of times.
    SubmitsOften,
    /// Runs what the things passed hold in threads of the receiver and waits for all of them.
    SubmitsAll,
    /// Lets the receiver run nothing more than it was given.
    Closes,
    /// Waits until the receiver has run what it was given.
    AwaitsEnd,
    /// Waits for the end of what the receiver stands for.
    Gets,
}

impl Control {
    /// Whether it lets other threads run what it is passed.
    pub fn submits(self) -> bool {
        matches!(self, Self::Submits | Self::SubmitsOften | Self::SubmitsAll)
    }
}

/// What a method does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a verb of the table")]
pub struct Effect {
    /// Reads what the receiver holds.
    pub reads: bool,
    /// Writes it.
    pub writes: bool,
    /// What is passed becomes what the receiver holds.
    pub stores: bool,
    /// What the things passed hold becomes what the receiver holds, and what they hold.
    pub adds: bool,
    /// What the receiver holds becomes what the things passed hold.
    pub moves: bool,
    /// Reads what the things passed hold.
    pub reads_passed: bool,
    /// Writes it.
    pub writes_passed: bool,
    /// Reads the fields of objects of the program among the receiver and what is passed.
    pub reads_fields: bool,
    /// Calls `toString` of what is passed and held, so reads what that holds.
    pub shows: bool,
    /// Calls `equals`, `hashCode`, `compareTo` of what is passed and held.
    pub compares: bool,
    /// Takes what is passed for a sequence or a collection, so calls what it has to be called as one.
    pub iterates: bool,
    /// It does so by one call, so nothing comes between its elements.
    pub at_once: bool,
    /// It relies on nothing that was read before, since it finds out by itself if that has changed.
    pub rechecks: bool,
    /// Moves an iterator on, of which the table says nothing but that it is a view.
    pub advances: bool,
    /// Does what it does bit by bit, even if other calls on the receiver exclude each other.
    pub bulk: bool,
    /// May take long.
    pub blocks: bool,
    /// May interrupt a thread.
    pub interrupts: bool,
    /// What is passed is kept as a function by what it gives back.
    pub keeps: bool,
    /// Calls the functions that the receiver keeps.
    pub asks: bool,
    /// Calls the functions that are passed with what the receiver holds, which then holds what they give.
    pub hands: bool,
    /// What it gives runs what it is passed one after the other, in one thread.
    pub serial: bool,
    /// What it gives shows the receiver or what is passed, and is another object.
    pub view: bool,
    /// It takes the monitor of the receiver while it works.
    pub monitor: bool,
    /// It does not, while other methods of the receiver do.
    pub bare: bool,
    /// What it does to threads and locks.
    pub control: Option<Control>,
    /// What it gives back.
    pub gives: Gives,
}

/// A method that does nothing that matters.
pub const PURE: Effect = Effect {
    reads: false,
    writes: false,
    stores: false,
    adds: false,
    moves: false,
    reads_passed: false,
    writes_passed: false,
    reads_fields: false,
    shows: false,
    compares: false,
    iterates: false,
    at_once: false,
    rechecks: false,
    advances: false,
    bulk: false,
    blocks: false,
    interrupts: false,
    keeps: false,
    asks: false,
    hands: false,
    serial: false,
    view: false,
    monitor: false,
    bare: false,
    control: None,
    gives: Gives::Fresh,
};

/// Making a text of what is passed.
pub const SHOWING: Effect = Effect { shows: true, ..PURE };

/// What a record does by itself: texts of its components, and comparisons.
pub const COMPONENTS: Effect = Effect { shows: true, compares: true, reads_fields: true, ..PURE };

/// The methods that all objects have, the same for all.
const OF_ALL_OBJECTS: [&str; 4] = ["wait", "notify", "notifyAll", "getClass"];

/// The table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    immutable: BTreeSet<String>,
    safe: BTreeSet<String>,
    open: BTreeSet<String>,
    still: BTreeSet<String>,
    monitors: BTreeSet<String>,
    types: FxHashMap<String, Vec<String>>,
    /// What methods do; nothing is known of those without an effect.
    methods: FxHashMap<(String, String), Option<Effect>>,
    listed: BTreeSet<String>,
}

/// A line of a table that says nothing that is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableMistake {
    /// The line, from 1.
    pub line: usize,
    /// The word.
    pub word: String,
}

impl Effect {
    /// Whether it may call methods of what it is given or holds.
    pub fn calls_back(self) -> bool {
        self.shows || self.compares || self.iterates || self.advances || self.asks || self.hands
    }

    /// Whether it reads what the things passed hold.
    pub fn reads_what_is_passed(self) -> bool {
        self.reads_passed || self.adds || self.shows || self.compares
    }
}

impl Table {
    /// The table that comes with this crate, read once per process.
    pub fn standard() -> &'static Self {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(|| Self::parse(include_str!("models.txt")).unwrap_or_default())
    }

    /// Reads a table.
    ///
    /// # Errors
    /// The first word that is not understood.
    pub fn parse(text: &str) -> Result<Self, TableMistake> {
        let mut table = Self::default();
        let mut groups: FxHashMap<String, Vec<String>> = FxHashMap::default();
        for (at, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            let slashed = |name: &&str| name.replace('.', "/");
            match words[..] {
                [] => {}
                ["immutable", ref rest @ ..] => table.immutable.extend(rest.iter().map(slashed)),
                ["safe", ref rest @ ..] => table.safe.extend(rest.iter().map(slashed)),
                ["monitor", ref rest @ ..] => table.monitors.extend(rest.iter().map(slashed)),
                ["open", ref rest @ ..] => table.open.extend(rest.iter().map(slashed)),
                ["still", name] => {
                    let own = vec![slashed(&name)];
                    table.still.extend(groups.get(name).unwrap_or(&own).iter().cloned());
                }
                ["type", class, ref rest @ ..] => {
                    let methods = rest.iter().map(|&one| one.to_owned()).collect();
                    table.types.insert(slashed(&class), methods);
                }
                ["group", name, ref rest @ ..] => {
                    let group = groups.entry(name.to_owned()).or_default();
                    group.extend(rest.iter().map(slashed));
                }
                [class, method, ref verbs @ ..] => {
                    let wrong = |word: &str| TableMistake { line: at + 1, word: word.to_owned() };
                    let effect = match verbs {
                        ["unknown"] => None,
                        verbs => Some(effect(verbs).map_err(wrong)?),
                    };
                    let one = vec![slashed(&class)];
                    for class in groups.get(class).unwrap_or(&one) {
                        table.methods.insert((class.clone(), method.to_owned()), effect);
                        table.listed.insert(class.clone());
                    }
                }
                [word] => {
                    return Err(TableMistake { line: at + 1, word: word.to_owned() });
                }
            }
        }
        Ok(table)
    }

    /// What a method of a class does, if the table says so. What no class can replace is what all objects
    /// have, whatever the class says of its other methods.
    pub fn effect(&self, class: &str, method: &str) -> Option<Effect> {
        let class = if OF_ALL_OBJECTS.contains(&method) { "java/lang/Object" } else { class };
        let of = |method: &str| self.methods.get(&(class.to_owned(), method.to_owned())).copied();
        of(method).or_else(|| of("*")).flatten()
    }

    /// Whether the table has a line about a class.
    pub fn is_listed(&self, class: &str) -> bool {
        self.listed.contains(class)
    }

    /// Whether a type whose objects are looked at as values is one of other objects, too.
    pub fn is_open(&self, class: &str) -> bool {
        self.open.contains(class)
    }

    /// The classes of which something is said.
    pub fn classes(&self) -> impl Iterator<Item = &str> {
        let sets = [&self.immutable, &self.safe, &self.still, &self.monitors, &self.listed];
        sets.into_iter().flatten().map(String::as_str)
    }

    /// Whether nothing changes objects of a class.
    pub fn is_immutable(&self, class: &str) -> bool {
        self.immutable.contains(class)
    }

    /// Whether nobody changes what objects of a class hold once they are made.
    pub fn is_still(&self, class: &str) -> bool {
        self.still.contains(class)
    }

    /// Whether calls on objects of a class do not race with each other.
    pub fn is_safe(&self, class: &str) -> bool {
        self.safe.contains(class)
    }

    /// Whether methods of a class take the monitor of their object, but for what goes over its elements.
    pub fn has_monitor(&self, class: &str) -> bool {
        self.monitors.contains(class)
    }

    /// Whether the table says what objects of a class are: values, safe, or what their constructors do.
    pub fn knows_objects(&self, class: &str) -> bool {
        self.is_immutable(class) || self.is_safe(class) || self.effect(class, "<init>").is_some()
    }

    /// What the library calls on objects of a type, if that is known.
    pub fn called(&self, class: &str) -> Option<&[String]> {
        self.types.get(class).map(Vec::as_slice)
    }
}

fn effect<'a>(verbs: &[&'a str]) -> Result<Effect, &'a str> {
    let mut effect = PURE;
    let mut verbs = verbs.iter();
    while let Some(&verb) = verbs.next() {
        match verb {
            "pure" => {}
            "reads" => effect.reads = true,
            "writes" => effect.writes = true,
            "stores" => effect.stores = true,
            "adds" => effect.adds = true,
            "moves" => effect.moves = true,
            "reads-passed" => effect.reads_passed = true,
            "writes-passed" => effect.writes_passed = true,
            "reads-fields" => effect.reads_fields = true,
            "shows" => effect.shows = true,
            "compares" => effect.compares = true,
            "iterates" => effect.iterates = true,
            "at-once" => effect.at_once = true,
            "rechecks" => effect.rechecks = true,
            "advances" => effect.advances = true,
            "bulk" => effect.bulk = true,
            "blocks" => effect.blocks = true,
            "interrupts" => effect.interrupts = true,
            "keeps" => effect.keeps = true,
            "asks" => effect.asks = true,
            "hands" => effect.hands = true,
            "serial" => effect.serial = true,
            "view" => effect.view = true,
            "starts" => effect.control = Some(Control::Starts),
            "joins" => effect.control = Some(Control::Joins),
            "runs" => effect.control = Some(Control::Runs),
            "waits" => effect.control = Some(Control::Waits),
            "awaits" => effect.control = Some(Control::Awaits),
            "locks" => effect.control = Some(Control::Locks),
            "tries" => effect.control = Some(Control::Tries),
            "unlocks" => effect.control = Some(Control::Unlocks),
            "submits" => effect.control = Some(Control::Submits),
            "submits-often" => effect.control = Some(Control::SubmitsOften),
            "submits-all" => effect.control = Some(Control::SubmitsAll),
            "closes" => effect.control = Some(Control::Closes),
            "awaits-end" => effect.control = Some(Control::AwaitsEnd),
            "gets" => effect.control = Some(Control::Gets),
            "gives" => {
                effect.gives = match verbs.next() {
                    Some(&"fresh") => Gives::Fresh,
                    Some(&"held") => Gives::Held,
                    Some(&"receiver") => Gives::Receiver,
                    Some(&"passed") => Gives::Passed,
                    Some(&"either") => Gives::Either,
                    Some(&"copy") => Gives::Copy,
                    Some(&"gathered") => Gives::Gathered,
                    Some(&"fixed") => Gives::Fixed,
                    Some(&"constants") => Gives::Constants,
                    Some(&"current") => Gives::Current,
                    Some(&"reading") => Gives::View(LockSide::Reading),
                    Some(&"writing") => Gives::View(LockSide::Writing),
                    Some(&"condition") => Gives::View(LockSide::Condition),
                    other => return Err(other.copied().unwrap_or(verb)),
                };
            }
            other => return Err(other),
        }
    }
    Ok(effect)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_that_comes_along_is_understood() {
        let table = Table::parse(include_str!("models.txt")).expect("every word is known");
        let start = table.effect("java/lang/Thread", "start").expect("it is there");
        assert_eq!(start.control, Some(Control::Starts));
        let add = table.effect("java/util/ArrayList", "add").expect("it is there");
        assert!(add.writes && add.stores && !add.reads_passed);
        assert_eq!(table.effect("java/util/ArrayList", "spliterator"), None);
        assert!(table.is_immutable("java/lang/String") && !table.is_safe("java/util/ArrayList"));
        assert_eq!(table.called("java/lang/Runnable"), Some(&["run".to_owned()][..]));
    }

    #[test]
    fn words_that_are_not_known_are_mistakes() {
        let wrong = Table::parse("java.A m reads\njava.A n gives nothing").unwrap_err();
        assert_eq!(wrong, TableMistake { line: 2, word: "nothing".to_owned() });
        assert!(Table::parse("java.A").is_err() && Table::parse("java.A m reeds").is_err());
    }

    #[test]
    fn a_line_for_a_method_counts_before_one_for_all() {
        let table = Table::parse("a.B * reads\na.B m writes").expect("it is right");
        assert!(table.effect("a/B", "m").is_some_and(|one| one.writes && !one.reads));
        assert!(table.effect("a/B", "other").is_some_and(|one| one.reads));
    }
}
