//! # Idea
//! A driver counts the requests that are under way. Adders make requests and assert that the driver
//! has not been removed while they work; stoppers remove it once nothing is under way.
//!
//! # Source
//! The Bluetooth driver of KISS (Qadeer and Wu 2004), whose first repair fails too (Chaki et al.
//! 2006); paper 001 §7, Fig. 6.

use super::bits;
use std::fmt::Write;

/// The bits of the counter, at least.
const BITS: usize = 4;

/// Which driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BluetoothVersion {
    /// Looks at the flag before it counts: it may be removed in between.
    Original,
    /// Counts before it looks at the flag, but a request that is refused is taken back twice; with two
    /// adders, or two stoppers, the driver is removed too early.
    Repaired,
    /// A request that is refused is taken back once, and only the first stopper takes the driver's
    /// own count back.
    Correct,
}

impl BluetoothVersion {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Original, Self::Repaired, Self::Correct];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Original => "original",
            Self::Repaired => "repaired",
            Self::Correct => "correct",
        }
    }
}

/// The driver with so many adders and stoppers. Adders are started first.
pub fn bluetooth(version: BluetoothVersion, adders: usize, stoppers: usize) -> String {
    // Requests that are refused, and stoppers, may take the flawed versions below zero.
    let range = match version {
        BluetoothVersion::Original | BluetoothVersion::Repaired => 2 * adders + stoppers + 1,
        BluetoothVersion::Correct => adders + 2,
    };
    let width = BITS.max((usize::BITS - (range - 1).leading_zeros()) as usize);
    let count = bits::names("pending", width);
    let pending = bits::list(&count);
    let more = bits::list(&bits::plus(&count, 1));
    let less = bits::list(&bits::minus(&count, 1));
    let last = bits::equal(&count, &bits::number(1, width));
    let one = bits::list(&bits::number(1, width));
    let starts: String = std::iter::repeat_n("    start_thread adder();\n", adders)
        .chain(std::iter::repeat_n("    start_thread stopper();\n", stoppers))
        .collect();
    let increment = match version {
        BluetoothVersion::Original => format!(
            "    if stopping_flag then return F; fi
    {pending} := {more};
    return T;"
        ),
        BluetoothVersion::Repaired | BluetoothVersion::Correct => format!(
            "    {pending} := {more};
    if stopping_flag then decrement(); return F; fi
    return T;"
        ),
    };
    let work = match version {
        BluetoothVersion::Original | BluetoothVersion::Repaired => {
            "    if admitted then assert(!stopped); fi
    decrement();"
        }
        BluetoothVersion::Correct => {
            "    if admitted then
        assert(!stopped);
        decrement();
    fi"
        }
    };
    let announce = match version {
        BluetoothVersion::Original | BluetoothVersion::Repaired => "    stopping_flag := T;",
        BluetoothVersion::Correct => {
            "    second, stopping_flag := stopping_flag, T;
    if second then return; fi"
        }
    };
    let second = if version == BluetoothVersion::Correct { "    decl second;\n" } else { "" };
    let mut text = String::new();
    let _ = write!(
        text,
        "// Bluetooth driver, {} version, adders: {adders}, stoppers: {stoppers}
decl {pending};   // requests under way, and one for the driver itself
decl stopping_flag;                            // no more requests, please
decl stopping_event;                           // nothing is under way any more
decl stopped;                                  // the driver is gone

void main() begin
    {pending} := {one};
    stopping_flag, stopping_event, stopped := F, F, F;
{starts}end

void adder() begin
    decl admitted;
    admitted := increment();
{work}
end

void stopper() begin
{second}{announce}
    decrement();
    assume(stopping_event);
    stopped := T;
end

bool increment() begin
{increment}
end

void decrement() begin
    decl last;
    {pending}, last := {less}, {last};
    if last then stopping_event := T; fi
end
",
        version.name()
    );
    text
}
