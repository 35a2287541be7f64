//! # Idea
//! A copy of a class file that says where it is: before and after chosen instructions it calls the conductor,
//! a small class of our own (`conductor/Conductor.java`), with the object that the instruction accesses. What is
//! put in has no jumps, so the frames of the verifier stay as they are; only places move: those of jumps,
//! switches, handlers, lines and frames.
//!
//! A synchronized method has its monitor before its first instruction. Who is to be held before that gets a
//! method of the old name around it, which calls the conductor and then the method, which has a new name.
//!
//! # Source
//! JVMS 4.7.3, 4.7.4 (`StackMapTable`), 6.5.
//!
//! # Requires
//! A class file that [`crate::read_class`] reads.
//!
//! # Invariants
//! 1. A jump to an instruction leads to what is put before it; what is put behind it is reached from it alone.
//! 2. A class that would break a limit of class files is refused, not written.

use crate::bytes::{Bytes, ClassDamage, damage};
use crate::class::{At, JavaClass, JavaKind};
use crate::names::{JavaNames, kinds_of_method};
use crate::pool::Pool;
use crate::reader::read_class;
use std::collections::BTreeMap;

mod body;

use body::CodeCopy;

/// The conductor, as a jar that the class path of a run needs; made by `conductor/make.sh`.
pub const CONDUCTOR: &[u8] = include_bytes!("conductor/conductor.jar");

/// A place in a class where the conductor is called.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ConductorPlace {
    /// Before a synchronized method takes its monitor.
    Entry,
    /// Around an instruction.
    Instruction(At),
}

/// What the conductor is told, by the method (its number in the class) and the place in it: the number of the
/// point.
pub type ConductorCalls = BTreeMap<(usize, ConductorPlace), u16>;

/// What the name of a method gets that is called by another one of its old name.
const INNER: &str = "$selvedge";

/// The class with calls of the conductor.
///
/// # Errors
/// If the class is damaged, or would become too large.
pub fn with_calls(bytes: &[u8], calls: &ConductorCalls) -> Result<Vec<u8>, ClassDamage> {
    let mut names = JavaNames::default();
    let class = read_class(bytes, &mut names)?;
    let mut input = Bytes::new(bytes);
    input.take(8)?;
    let count = input.u2()?;
    input.at = 8;
    let pool = Pool::read(&mut input)?;
    let mut copy = Copy {
        constants: bytes[10..input.at].to_vec(),
        count,
        before: 0,
        after: 0,
        before_call: 0,
        before_element: 0,
        object: 0,
        names: &names,
        class: &class,
        bytes,
        pool,
    };
    copy.before = copy.method("before", "(Ljava/lang/Object;I)V")?;
    copy.after = copy.method("after", "(I)V")?;
    copy.before_call = copy.method("beforeCall", "([Ljava/lang/Object;I)V")?;
    copy.before_element = copy.method("beforeElement", "(Ljava/lang/Object;II)V")?;
    copy.object = copy.class("java/lang/Object")?;
    let rest = copy.members(&mut input, calls)?;
    let mut out = bytes[..8].to_vec();
    out.extend(copy.count.to_be_bytes());
    out.extend(&copy.constants);
    out.extend(rest);
    Ok(out)
}

struct Copy<'a> {
    constants: Vec<u8>,
    count: u16,
    /// The constants that name the methods of the conductor.
    before: u16,
    after: u16,
    before_call: u16,
    before_element: u16,
    /// The constant that names the class of all objects.
    object: u16,
    names: &'a JavaNames,
    class: &'a JavaClass,
    bytes: &'a [u8],
    pool: Pool<'a>,
}

/// What becomes of a method.
struct MethodCopy {
    bytes: Vec<u8>,
    around: Option<Vec<u8>>,
}

impl Copy<'_> {
    fn constant(&mut self, bytes: &[u8]) -> Result<u16, ClassDamage> {
        let number = self.count;
        let Some(next) = self.count.checked_add(1) else {
            return damage(8, "there is no room for more constants");
        };
        self.count = next;
        self.constants.extend(bytes);
        Ok(number)
    }

    fn text(&mut self, text: &str) -> Result<u16, ClassDamage> {
        let Ok(length) = u16::try_from(text.len()) else { return damage(8, "a name is too long") };
        let mut bytes = vec![1];
        bytes.extend(length.to_be_bytes());
        bytes.extend(text.as_bytes());
        self.constant(&bytes)
    }

    fn pair(&mut self, tag: u8, one: u16, two: u16) -> Result<u16, ClassDamage> {
        let [a, b] = one.to_be_bytes();
        let [c, d] = two.to_be_bytes();
        self.constant(&[tag, a, b, c, d])
    }

    fn class(&mut self, name: &str) -> Result<u16, ClassDamage> {
        let [high, low] = self.text(name)?.to_be_bytes();
        self.constant(&[7, high, low])
    }

    /// A method of the conductor.
    fn method(&mut self, name: &str, descriptor: &str) -> Result<u16, ClassDamage> {
        let class = self.class("selvedge/Conductor")?;
        let (name, descriptor) = (self.text(name)?, self.text(descriptor)?);
        let named = self.pair(12, name, descriptor)?;
        self.pair(10, class, named)
    }

    /// Everything behind the constants.
    fn members(
        &mut self,
        input: &mut Bytes<'_>,
        calls: &ConductorCalls,
    ) -> Result<Vec<u8>, ClassDamage> {
        let first = input.at;
        input.take(6)?;
        let interfaces = input.u2()?;
        input.take(usize::from(interfaces) * 2)?;
        for _ in 0..input.u2()? {
            input.take(6)?;
            skip_attributes(input)?;
        }
        let mut out = self.bytes[first..input.at].to_vec();
        let this = u16::from_be_bytes([self.bytes[first + 2], self.bytes[first + 3]]);
        let count = input.u2()?;
        let (mut methods, mut arounds) = (Vec::new(), Vec::new());
        for number in 0..count {
            let own: BTreeMap<ConductorPlace, u16> = calls
                .range((usize::from(number), ConductorPlace::Entry)..)
                .take_while(|((method, _), _)| *method == usize::from(number))
                .map(|((_, place), point)| (*place, *point))
                .collect();
            let from = input.at;
            if own.is_empty() {
                input.take(6)?;
                skip_attributes(input)?;
                methods.extend(&self.bytes[from..input.at]);
            } else {
                let copy = self.copy_method(input, usize::from(number), &own, this)?;
                methods.extend(copy.bytes);
                arounds.extend(copy.around);
            }
        }
        let Some(total) =
            u16::try_from(arounds.len()).ok().and_then(|more| count.checked_add(more))
        else {
            return damage(first, "there is no room for more methods");
        };
        out.extend(total.to_be_bytes());
        out.extend(methods);
        out.extend(arounds.into_iter().flatten());
        out.extend(&self.bytes[input.at..]);
        Ok(out)
    }

    fn copy_method(
        &mut self,
        input: &mut Bytes<'_>,
        number: usize,
        own: &BTreeMap<ConductorPlace, u16>,
        this: u16,
    ) -> Result<MethodCopy, ClassDamage> {
        let of = &self.class.methods[number];
        let (access, name, descriptor) = (input.u2()?, input.u2()?, input.u2()?);
        let mut out = Vec::new();
        let mut around = None;
        if let Some(&point) =
            own.get(&ConductorPlace::Entry).filter(|_| of.access.is_synchronized())
        {
            // Private, so that no subclass can be meant.
            let inner = self.text(&format!("{}{INNER}", self.names.text(of.name)))?;
            out.extend(((access & !0x0015) | 0x0002).to_be_bytes());
            out.extend(inner.to_be_bytes());
            let named = self.pair(12, inner, descriptor)?;
            let callee = self.pair(10, this, named)?;
            let body = self.around(number, point, callee)?;
            let code = self.text("Code")?;
            let mut bytes = (access & !0x0020).to_be_bytes().to_vec();
            bytes.extend(name.to_be_bytes());
            bytes.extend(descriptor.to_be_bytes());
            bytes.extend(1_u16.to_be_bytes());
            bytes.extend(code.to_be_bytes());
            bytes.extend(length(&body)?);
            bytes.extend(body);
            around = Some(bytes);
        } else {
            out.extend(access.to_be_bytes());
            out.extend(name.to_be_bytes());
        }
        out.extend(descriptor.to_be_bytes());
        let count = input.u2()?;
        out.extend(count.to_be_bytes());
        for _ in 0..count {
            let name = input.u2()?;
            let size = input.u4()?;
            let part = input.part(size as usize)?;
            out.extend(name.to_be_bytes());
            let whole = &self.bytes[part.at..part.at + size as usize];
            let copied = match &of.body {
                Some(body) if self.is_text(name, "Code") => {
                    CodeCopy { copy: self, body, method: number }.code(part, own)?
                }
                _ => whole.to_vec(),
            };
            out.extend(length(&copied)?);
            out.extend(copied);
        }
        Ok(MethodCopy { bytes: out, around })
    }

    /// Whether a constant is this text.
    fn is_text(&self, number: u16, text: &str) -> bool {
        let mut names = JavaNames::default();
        let name = self.pool.name(number, 0, &mut names);
        name.is_ok_and(|name| names.text(name) == text)
    }

    /// The body of a method that calls the conductor and then another one with the same parameters.
    fn around(&self, number: usize, point: u16, callee: u16) -> Result<Vec<u8>, ClassDamage> {
        let of = &self.class.methods[number];
        let (parameters, result) =
            kinds_of_method(self.names.text(of.descriptor)).unwrap_or_default();
        let is_static = of.access.is_static();
        let mut code = vec![1];
        code.extend(Self::call(self.before, point));
        let mut local = 0;
        if !is_static {
            code.push(42);
            local = 1;
        }
        for &kind in &parameters {
            code.extend(on_local(21, kind, local));
            local += kind.width();
        }
        code.push(if is_static { 184 } else { 183 });
        code.extend(callee.to_be_bytes());
        code.push(result.map_or(177, |kind| 172 + number_of(kind)));
        let mut body = (local + 4).to_be_bytes().to_vec();
        body.extend(local.to_be_bytes());
        body.extend(length(&code)?);
        body.extend(code);
        body.extend([0; 4]);
        Ok(body)
    }

    /// Pushes a number and calls a method of the conductor.
    fn call(method: u16, point: u16) -> Vec<u8> {
        let mut code = vec![17];
        code.extend(point.to_be_bytes());
        code.push(184);
        code.extend(method.to_be_bytes());
        code
    }
}

/// The length of what follows.
fn length(bytes: &[u8]) -> Result<[u8; 4], ClassDamage> {
    match u32::try_from(bytes.len()) {
        Ok(length) => Ok(length.to_be_bytes()),
        Err(_) => damage(0, "the class becomes too large"),
    }
}

fn skip_attributes(input: &mut Bytes<'_>) -> Result<(), ClassDamage> {
    for _ in 0..input.u2()? {
        input.take(2)?;
        let length = input.u4()?;
        input.take(length as usize)?;
    }
    Ok(())
}

/// The number of a kind in the codes of instructions.
fn number_of(kind: JavaKind) -> u8 {
    match kind {
        JavaKind::Int => 0,
        JavaKind::Long => 1,
        JavaKind::Float => 2,
        JavaKind::Double => 3,
        JavaKind::Reference => 4,
    }
}

/// An instruction about a local variable, whose code is `first` for numbers of 32 bits.
fn on_local(first: u8, kind: JavaKind, local: u16) -> Vec<u8> {
    let [high, low] = local.to_be_bytes();
    vec![196, first + number_of(kind), high, low]
}
