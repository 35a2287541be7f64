//! # Idea
//! The sentence that an answer about a program in Java is: what was asked, of what, and what is assumed.

use super::{Joined, UnitExtent};
use selvedge_findings::FindingKind;
use selvedge_front_java::options::UnknownCalls;
use selvedge_report::describe::{NOTHING_SHARED, count, kind_name};
use std::collections::BTreeSet;
use std::fmt::Write as _;

impl Joined {
    /// What was asked, of what, and what is assumed: the sentence that `safe` is.
    pub(super) fn claim(&self, kinds: &[FindingKind]) -> String {
        let mut text = self.asked(kinds);
        let units = |extent| self.units.get(&extent).map_or(0, BTreeSet::len);
        let passes = match units(UnitExtent::Pass) {
            0 => String::new(),
            loops => format!(" and passes of {}", count(loops, "loop")),
        };
        let _ = write!(
            text,
            "; {}; units of work: {} and {}{passes}; {} of {} are reached",
            count(self.models, "model"),
            count(units(UnitExtent::Method), "method"),
            count(units(UnitExtent::Region), "locked region"),
            self.methods.0,
            count(self.methods.1, "method"),
        );
        let unreached = self.unreached_count;
        if unreached > 0 {
            let more = unreached - self.unreached_names.len();
            let _ = write!(
                text,
                ", and of the public ones not {}{}",
                self.unreached_names.join(", "),
                match more {
                    0 => String::new(),
                    more => format!(" and {more} more (`--list unreached`)"),
                }
            );
        }
        text.push_str(
            "; assumed: the classes given are all there are (A1), no reflection, native code or Unsafe \
             touches what is shared (A2), memory is sequentially consistent (A3), constructors publish \
             `this` only as seen (A5), nothing stops a thread from outside (A7)",
        );
        if !self.assumed.is_empty() {
            let places: Vec<&str> = self.assumed.iter().take(10).map(String::as_str).collect();
            let _ = write!(
                text,
                ", every thread is waited for at {} that look like it (A6: {})",
                count(self.assumed.len(), "place"),
                places.join("; ")
            );
        }
        if let Some(class) = &self.clients_of {
            let _ = write!(
                text,
                ", clients use objects of {class} by their public methods only, wait for none of them \
                 nor for locks while they are called back, and leave alone what they pass, and no \
                 subclass redefines a method (A8)"
            );
        }
        if self.in_framework {
            text.push_str(
                ", a framework makes one object of each of its classes, sets all of them up and then calls \
                 them (A8)",
            );
        }
        if !self.unknown.is_empty() {
            let calls: usize = self.unknown.values().sum();
            let mut most: Vec<(&String, &usize)> = self.unknown.iter().collect();
            most.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), (*name).clone()));
            let names: Vec<&str> = most.iter().take(10).map(|(name, _)| name.as_str()).collect();
            let _ = write!(
                text,
                ", {} {} (A4, `--list unknown`: {})",
                count(calls, "unknown call"),
                match self.unknown_calls {
                    UnknownCalls::Args =>
                        "touch only what they are given, arrays and containers among it",
                    UnknownCalls::Havoc =>
                        "touch only what they are given and what that leads to, with all its fields",
                    UnknownCalls::Pure => "do nothing that matters, as --unknown says",
                },
                names.join(", ")
            );
        }
        if !self.ignored.is_empty() {
            let names: Vec<&str> = self.ignored.iter().take(10).map(String::as_str).collect();
            let _ = write!(
                text,
                "; {} ignored where no name or no nesting is known: {}",
                count(self.ignored.len(), "lock"),
                names.join(", ")
            );
        }
        let of_fields = (self.accesses.claims(), "field");
        let of_calls = (self.accesses.claims_of_calls(), "method");
        for ((claims, broken), what) in [of_fields, of_calls] {
            if claims > 0 {
                let held = claims - broken.len();
                let _ = write!(text, "; `@GuardedBy` holds for {held} of {}", count(claims, what));
            }
            if !broken.is_empty() {
                let _ = write!(text, " ({})", broken.join("; "));
            }
        }
        if !self.unasked.is_empty() {
            let names: Vec<&str> = self.unasked.iter().map(String::as_str).collect();
            let _ = write!(
                text,
                "; not asked because of `@NotThreadSafe`: objects of {}",
                names.join(", ")
            );
        }
        let _ = write!(
            text,
            "; not asked: values, missed notifications, deadlocks{}, invariants across objects, cycles \
             through three units, so this does not say that the program is correct",
            match self.deadlock_locks {
                0 | 1 => String::new(),
                locks => format!(
                    " of more than {locks} locks, over what is waited for besides (`join`, `get`, permits), \
                     over `StampedLock`, over values as locks or inside the library"
                ),
            }
        );
        text
    }

    /// What was asked, and of what. It says of no kind without a question that there is nothing to find.
    fn asked(&self, kinds: &[FindingKind]) -> String {
        let has_questions = |kind: &FindingKind| self.questions(*kind) > 0;
        let data = kinds.iter().copied().filter(|kind| *kind != FindingKind::Deadlock);
        let (asked, without): (Vec<FindingKind>, Vec<FindingKind>) = data.partition(has_questions);
        let [asked, without] =
            [asked, without].map(|kinds| kinds.into_iter().map(kind_name).collect::<Vec<&str>>());
        let on = format!(
            "{} of fields (of an object, or static) that threads of {} share, one at a time, under any \
             scheduling and for any number of threads of each kind",
            count(self.shared, "set"),
            count(self.kinds, "kind"),
        );
        let nothing = self.conflicts.is_empty() && self.open.is_empty();
        let mut text = if self.nothing_shared {
            let kinds = count(self.kinds, "kind");
            format!("{NOTHING_SHARED} of {kinds}, so no question arises")
        } else if asked.is_empty() && without.is_empty() {
            "asked about deadlocks only".to_owned()
        } else if asked.is_empty() {
            let kinds = count(self.kinds, "kind");
            format!("no question was asked about {} of threads of {kinds}", without.join(" or "))
        } else if nothing && !self.assumed.is_empty() {
            let joins = count(self.assumed.len(), "join");
            let wait = if self.assumed.len() == 1 { "waits" } else { "wait" };
            let no = asked.join(" and no ");
            format!("if {joins} {wait} for every thread (A6), no {no} on the {on}")
        } else if nothing {
            format!("no {} on the {on}", asked.join(" and no "))
        } else {
            format!("asked: {} on the {on}", asked.join(" and "))
        };
        if !asked.is_empty() && !without.is_empty() {
            let _ = write!(text, "; no question was asked about {}", without.join(" or "));
        }
        if self.nothing_shared || self.deadlock_locks < 2 {
            // No more is to be said.
        } else if !has_questions(&FindingKind::Deadlock) {
            let locks = self.deadlock_locks;
            let _ = write!(text, "; no question was asked about deadlocks of up to {locks} locks");
        } else {
            let _ = write!(
                text,
                "; {}deadlocks of up to {} locks of any objects ({})",
                if nothing { "no " } else { "" },
                self.deadlock_locks,
                count(self.cycles, "question")
            );
        }
        text
    }
}
