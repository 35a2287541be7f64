//! # Idea
//! Small closed sets of words: orderings, sides, flags. Each is an enum whose variants know how they
//! are written, so that the reader, the printer and the messages use one table.
//!
//! # Invariants
//! 1. Words of one set differ.

use std::fmt;
use std::marker::PhantomData;

/// A member of a closed set of words.
pub trait Word: Copy + Eq + fmt::Debug + 'static {
    /// All members, in their order.
    const ALL: &'static [Self];
    /// How it is written.
    fn word(self) -> &'static str;
    /// The member that is written like this.
    fn of_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|member| member.word() == word)
    }
}

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $($(#[$of])* $variant,)* }

        impl Word for $name {
            const ALL: &'static [Self] = &[$(Self::$variant,)*];
            fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

words!(
    /// How an atomic access is ordered with others; an access without one is plain.
    Ordering {
        /// Atomic, and nothing else.
        Relaxed = "relaxed",
        /// A load that sees what was stored before the store that it reads from.
        Acquire = "acquire",
        /// A store that shows what was stored before it.
        Release = "release",
        /// Both.
        AcquireRelease = "acqrel",
        /// In one order with all other accesses of this kind.
        SequentiallyConsistent = "seqcst",
    }
);

words!(
    /// A side of a lock.
    Side {
        /// The side that readers share.
        Read = "read",
        /// The side that excludes everybody else.
        Write = "write",
        /// The set of waiting threads that belongs to the lock.
        Condition = "cond",
    }
);

words!(
    /// What happens if the owner of a lock takes it again.
    LockMode {
        /// It blocks for ever.
        Plain = "plain",
        /// It holds the lock once more.
        Reentrant = "reentrant",
        /// It gets an error.
        Checked = "checked",
        /// What the statement `kind` said about the object; any of these where it said several.
        ByObject = "byobject",
    }
);

words!(
    /// A function of two numbers or addresses.
    Operator {
        /// Equal.
        Equal = "eq",
        /// Not equal.
        Unequal = "ne",
        /// Less.
        Less = "lt",
        /// Less or equal.
        LessEqual = "le",
        /// Greater.
        Greater = "gt",
        /// Greater or equal.
        GreaterEqual = "ge",
        /// Sum.
        Add = "add",
        /// Difference.
        Subtract = "sub",
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
    }
);

impl Operator {
    /// Whether the result says how two values compare.
    pub fn compares(self) -> bool {
        self <= Self::GreaterEqual
    }

    /// The result for two numbers; sums and differences wrap.
    pub fn apply(self, left: i64, right: i64) -> i64 {
        match self {
            Self::Equal => i64::from(left == right),
            Self::Unequal => i64::from(left != right),
            Self::Less => i64::from(left < right),
            Self::LessEqual => i64::from(left <= right),
            Self::Greater => i64::from(left > right),
            Self::GreaterEqual => i64::from(left >= right),
            Self::Add => left.wrapping_add(right),
            Self::Subtract => left.wrapping_sub(right),
            Self::And => left & right,
            Self::Or => left | right,
            Self::Xor => left ^ right,
        }
    }
}

words!(
    /// What an atomic update stores, given the old value and the operand.
    UpdateOperator {
        /// The operand.
        Swap = "swap",
        /// The sum.
        Add = "add",
        /// The difference.
        Subtract = "sub",
        /// The bitwise and.
        And = "and",
        /// The bitwise or.
        Or = "or",
        /// The bitwise exclusive or.
        Xor = "xor",
        /// Some function of both.
        Any = "any",
    }
);

words!(
    /// What is known about a field or a global.
    FieldFlag {
        /// Nothing is stored after the constructor.
        Final = "final",
        /// Marked volatile by the language.
        Volatile = "volatile",
        /// Accessed by atomic operations only.
        Atomic = "atomic",
        /// Each thread has one of its own.
        ThreadLocal = "threadlocal",
        /// A lock of the library.
        Lock = "lock",
        /// A condition variable of the library.
        Condition = "cond",
    }
);

words!(
    /// What is known about a procedure.
    ProcedureFlag {
        /// Clients may call it.
        Public = "public",
        /// Only its own type calls it.
        Private = "private",
        /// It has no receiver.
        Static = "static",
        /// The compiler made it.
        Synthetic = "synthetic",
        /// It initialises an object.
        Constructor = "constructor",
        /// A thread may begin here.
        Entry = "entry",
    }
);

words!(
    /// What is known about a type.
    TypeFlag {
        /// Raised by calls and `throw` only.
        Declared = "declared",
        /// Its fields, its methods and the types above it are not given.
        Outside = "outside",
    }
);

/// A set of flags of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Flags<F> {
    bits: u16,
    flag: PhantomData<F>,
}

impl<F: Word> Flags<F> {
    /// Adds a flag and says whether it is new.
    pub fn insert(&mut self, flag: F) -> bool {
        let old = self.bits;
        self.bits |= Self::bit(flag);
        self.bits != old
    }

    /// Whether the flag is set.
    pub fn contains(self, flag: F) -> bool {
        self.bits & Self::bit(flag) != 0
    }

    /// The flags that are set, in their order.
    pub fn iter(self) -> impl Iterator<Item = F> {
        F::ALL.iter().copied().filter(move |&flag| self.contains(flag))
    }

    fn bit(flag: F) -> u16 {
        let at = F::ALL.iter().position(|&other| other == flag);
        1 << at.expect("every flag is one of all flags")
    }
}

impl<F> Default for Flags<F> {
    fn default() -> Self {
        Self { bits: 0, flag: PhantomData }
    }
}

impl<F: Word> FromIterator<F> for Flags<F> {
    fn from_iter<I: IntoIterator<Item = F>>(flags: I) -> Self {
        let mut all = Self::default();
        for flag in flags {
            all.insert(flag);
        }
        all
    }
}

impl<F: Word> fmt::Debug for Flags<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_back_to_their_members() {
        assert_eq!(Operator::of_word("ge"), Some(Operator::GreaterEqual));
        assert_eq!(Operator::of_word("swap"), None);
        assert_eq!(UpdateOperator::of_word("swap").map(Word::word), Some("swap"));
        assert!(Operator::GreaterEqual.compares() && !Operator::Add.compares());
    }

    #[test]
    fn flags_are_a_set_in_order() {
        let mut flags: Flags<FieldFlag> = [FieldFlag::Lock, FieldFlag::Final].into_iter().collect();
        assert!(!flags.insert(FieldFlag::Lock));
        assert!(flags.insert(FieldFlag::Atomic));
        assert!(!flags.contains(FieldFlag::Volatile));
        let found: Vec<FieldFlag> = flags.iter().collect();
        assert_eq!(found, [FieldFlag::Final, FieldFlag::Atomic, FieldFlag::Lock]);
    }
}
