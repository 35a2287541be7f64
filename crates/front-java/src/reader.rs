//! # Idea
//! A class file, from its first byte to its last. What the rest of Selvedge has no use for (generic
//! signatures, frames for the verifier, annotations of types) is skipped by its length; what is used is
//! checked, because class files also come from tools that make mistakes and from people who mean harm.
//!
//! # Source
//! JVMS 4.1 to 4.7. It is a reader of our own: a library that panics on some damaged files, recurses as
//! deep as annotations are nested and does not say where a mistake is would have to be contained in as much
//! code.
//!
//! # Invariants
//! 1. Nothing is allocated for a count before the bytes that it counts were seen.

use crate::bytes::{Bytes, ClassDamage, damage};
use crate::class::{
    At, Bootstrap, JavaAccess, JavaAnnotation, JavaBody, JavaClass, JavaField, JavaHandler,
    JavaLocal, JavaMethod,
};
use crate::code::{Instructions, instructions};
use crate::names::{JavaName, JavaNames, kind_of_field, kinds_of_method};
use crate::pool::Pool;

/// What every class file begins with.
const MAGIC: u32 = 0xCAFE_BABE;
/// The versions that are known: Java 1.0.2 to 25.
const VERSIONS: std::ops::RangeInclusive<u16> = 45..=69;
/// Larger class files are refused.
pub const LARGEST_CLASS: usize = 64 << 20;
/// How deep the values of an annotation may be nested.
const DEEPEST: u32 = 32;

/// Reads a class file.
///
/// # Errors
/// What is wrong with it, and at which byte.
pub fn read_class(bytes: &[u8], names: &mut JavaNames) -> Result<JavaClass, ClassDamage> {
    if bytes.len() > LARGEST_CLASS {
        return damage(0, "the file is too large: class files have at most 64 MiB here");
    }
    let mut bytes = Bytes::new(bytes);
    if bytes.u4()? != MAGIC {
        return damage(0, "this is no class file: it does not begin with CAFEBABE");
    }
    let (_minor, version) = (bytes.u2()?, bytes.u2()?);
    if !VERSIONS.contains(&version) {
        let (first, last) = (VERSIONS.start(), VERSIONS.end());
        let message = format!(
            "version {version} of class files is not known, only {first} to {last} (Java 1.0.2 to 25); \
             compile with `javac --release 25` or less"
        );
        return damage(6, message);
    }
    let pool = Pool::read(&mut bytes)?;
    let mut reader = Reader { bytes, pool, names };
    let class = reader.class(version)?;
    if reader.bytes.is_done() {
        Ok(class)
    } else {
        damage(reader.bytes.at, "the class has ended, and the file goes on")
    }
}

struct Reader<'a, 'n> {
    bytes: Bytes<'a>,
    pool: Pool<'a>,
    names: &'n mut JavaNames,
}

/// The attributes that matter, of a class, a field or a method.
#[derive(Default)]
struct Attributes<'a> {
    source: Option<JavaName>,
    constant: Option<crate::class::JavaConstant>,
    code: Option<Bytes<'a>>,
    bootstraps: Vec<Bootstrap>,
    annotations: Vec<JavaAnnotation>,
}

impl<'a> Reader<'a, '_> {
    fn class(&mut self, version: u16) -> Result<JavaClass, ClassDamage> {
        let access = JavaAccess(self.bytes.u2()?);
        let at = self.bytes.at;
        let name = self.bytes.u2()?;
        let name = self.pool.class(name, at, self.names)?;
        let at = self.bytes.at;
        let superclass = self.bytes.u2()?;
        let superclass = self.pool.class_or_none(superclass, at, self.names)?;
        let is_root = access.is_module() || self.names.text(name) == "java/lang/Object";
        if superclass.is_none() && !is_root {
            return damage(at, "this class extends nothing, which only java.lang.Object does");
        }
        let mut interfaces = Vec::new();
        for _ in 0..self.bytes.u2()? {
            let at = self.bytes.at;
            let interface = self.bytes.u2()?;
            interfaces.push(self.pool.class(interface, at, self.names)?);
        }
        let mut fields = Vec::new();
        for _ in 0..self.bytes.u2()? {
            fields.push(self.field()?);
        }
        let mut methods = Vec::new();
        for _ in 0..self.bytes.u2()? {
            methods.push(self.method(version)?);
        }
        let found = self.attributes()?;
        let class = JavaClass {
            name,
            version,
            access,
            superclass,
            interfaces,
            fields,
            methods,
            source: found.source,
            bootstraps: found.bootstraps,
            annotations: found.annotations,
        };
        self.check_bootstraps(&class)?;
        Ok(class)
    }

    /// Whoever names a bootstrap method names one that is there.
    fn check_bootstraps(&self, class: &JavaClass) -> Result<(), ClassDamage> {
        use crate::class::{JavaConstant, JavaInstruction};
        let bodies = class.methods.iter().filter_map(|method| method.body.as_ref());
        let instructions = bodies.flat_map(|body| &body.instructions);
        let in_code = instructions.filter_map(|instruction| match instruction {
            JavaInstruction::InvokeDynamic(number, ..)
            | JavaInstruction::Constant(JavaConstant::Dynamic(number, _)) => Some(*number),
            _ => None,
        });
        let arguments = class.bootstraps.iter().flat_map(|one| &one.arguments);
        let in_arguments = arguments.filter_map(|argument| match argument {
            JavaConstant::Dynamic(number, _) => Some(*number),
            _ => None,
        });
        let count = class.bootstraps.len();
        match in_code.chain(in_arguments).find(|&number| usize::from(number) >= count) {
            None => Ok(()),
            Some(number) => damage(
                self.bytes.at,
                format!("bootstrap method {number} is named and there are {count}"),
            ),
        }
    }

    /// The bits, the name and the type of a member, and where the type is named.
    fn member(&mut self) -> Result<(JavaAccess, JavaName, JavaName, usize), ClassDamage> {
        let access = JavaAccess(self.bytes.u2()?);
        let at = self.bytes.at;
        let name = self.bytes.u2()?;
        let name = self.pool.name(name, at, self.names)?;
        let at = self.bytes.at;
        let descriptor = self.bytes.u2()?;
        let descriptor = self.pool.name(descriptor, at, self.names)?;
        Ok((access, name, descriptor, at))
    }

    fn field(&mut self) -> Result<JavaField, ClassDamage> {
        let (access, name, descriptor, at) = self.member()?;
        if kind_of_field(self.names.text(descriptor)).is_none() {
            return damage(at, format!("{:?} is no type of a field", self.names.text(descriptor)));
        }
        let found = self.attributes()?;
        let (constant, annotations) = (found.constant, found.annotations);
        Ok(JavaField { name, descriptor, access, constant, annotations })
    }

    fn method(&mut self, version: u16) -> Result<JavaMethod, ClassDamage> {
        let (access, name, descriptor, at) = self.member()?;
        if kinds_of_method(self.names.text(descriptor)).is_none() {
            return damage(at, format!("{:?} is no type of a method", self.names.text(descriptor)));
        }
        let found = self.attributes()?;
        let has_body = !access.is_native() && !access.is_abstract();
        if found.code.is_some() != has_body {
            let message = if has_body {
                "this method has no body, and is neither native nor abstract"
            } else {
                "this method has a body, and is native or abstract"
            };
            return damage(at, message);
        }
        let body = found.code.map(|bytes| self.body(bytes, version)).transpose()?;
        let annotations = found.annotations;
        Ok(JavaMethod { name, descriptor, access, body, annotations, by_handle: None })
    }

    /// The attributes of what was just read.
    fn attributes(&mut self) -> Result<Attributes<'a>, ClassDamage> {
        let mut found = Attributes::default();
        for _ in 0..self.bytes.u2()? {
            let (name, mut part) = self.attribute()?;
            match self.names.text(name) {
                "SourceFile" => {
                    let at = part.at;
                    found.source = Some(self.pool.name(part.u2()?, at, self.names)?);
                }
                "ConstantValue" => {
                    let at = part.at;
                    found.constant = Some(self.pool.constant(part.u2()?, at, self.names)?);
                }
                "Code" if found.code.is_some() => {
                    return damage(part.at, "this method has a second body");
                }
                "Code" => found.code = Some(part),
                "BootstrapMethods" => {
                    for _ in 0..part.u2()? {
                        found.bootstraps.push(self.bootstrap(&mut part)?);
                    }
                }
                "RuntimeVisibleAnnotations" | "RuntimeInvisibleAnnotations" => {
                    for _ in 0..part.u2()? {
                        found.annotations.push(self.annotation(&mut part, 0)?);
                    }
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// The name of an attribute, and its bytes.
    fn attribute(&mut self) -> Result<(JavaName, Bytes<'a>), ClassDamage> {
        let at = self.bytes.at;
        let name = self.bytes.u2()?;
        let name = self.pool.name(name, at, self.names)?;
        let length = self.bytes.u4()?;
        Ok((name, self.bytes.part(length as usize)?))
    }

    fn bootstrap(&mut self, part: &mut Bytes<'a>) -> Result<Bootstrap, ClassDamage> {
        let at = part.at;
        let method = self.pool.handle(part.u2()?, at, self.names)?;
        let mut arguments = Vec::new();
        for _ in 0..part.u2()? {
            let at = part.at;
            arguments.push(self.pool.constant(part.u2()?, at, self.names)?);
        }
        Ok(Bootstrap { method, arguments })
    }

    fn annotation(
        &mut self,
        part: &mut Bytes<'a>,
        depth: u32,
    ) -> Result<JavaAnnotation, ClassDamage> {
        let at = part.at;
        let descriptor = self.pool.name(part.u2()?, at, self.names)?;
        let mut texts = Vec::new();
        for _ in 0..part.u2()? {
            let at = part.at;
            let element = self.pool.name(part.u2()?, at, self.names)?;
            self.annotation_value(part, element, &mut texts, depth)?;
        }
        Ok(JavaAnnotation { descriptor, texts })
    }

    /// Reads the value of an element, and keeps its texts.
    fn annotation_value(
        &mut self,
        part: &mut Bytes<'a>,
        element: JavaName,
        texts: &mut Vec<(JavaName, JavaName)>,
        depth: u32,
    ) -> Result<(), ClassDamage> {
        let at = part.at;
        if depth > DEEPEST {
            return damage(at, format!("annotations are nested more than {DEEPEST} deep"));
        }
        match part.u1()? {
            b's' => {
                let at = part.at;
                texts.push((element, self.pool.name(part.u2()?, at, self.names)?));
            }
            b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' | b'c' => {
                part.u2()?;
            }
            b'e' => {
                part.u4()?;
            }
            b'@' => {
                self.annotation(part, depth + 1)?;
            }
            b'[' => {
                for _ in 0..part.u2()? {
                    self.annotation_value(part, element, texts, depth + 1)?;
                }
            }
            tag => return damage(at, format!("no value of an annotation has the tag {tag}")),
        }
        Ok(())
    }

    fn body(&mut self, mut part: Bytes<'a>, version: u16) -> Result<JavaBody, ClassDamage> {
        let (max_stack, max_locals) = (part.u2()?, part.u2()?);
        let at = part.at;
        let length = part.u4()?;
        if length > u32::from(u16::MAX) {
            return damage(at, format!("a body of {length} bytes is too long, 65535 are the most"));
        }
        let code = part.part(length as usize)?;
        let code_at = code.at;
        let code = instructions(code, length, &self.pool, self.names)?;
        check_locals(&code, max_locals, version, code_at)?;
        let mut handlers = Vec::new();
        for _ in 0..part.u2()? {
            let at = part.at;
            let (start, end, target) = (part.u2()?, part.u2()?, part.u2()?);
            let (start, end) = (code.at(start.into(), at)?, code.end(end.into(), at)?);
            if start >= end {
                return damage(at, "this handler guards nothing");
            }
            let target = code.at(target.into(), at)?;
            let at = part.at;
            let catches = self.pool.class_or_none(part.u2()?, at, self.names)?;
            handlers.push(JavaHandler { start, end, target, catches });
        }
        // The attributes of the body stand in its own bytes.
        let outside = std::mem::replace(&mut self.bytes, part);
        let (mut lines, mut locals) = (Vec::new(), Vec::new());
        for _ in 0..self.bytes.u2()? {
            let (name, mut table) = self.attribute()?;
            match self.names.text(name) {
                "LineNumberTable" => {
                    for _ in 0..table.u2()? {
                        let at = table.at;
                        let (from, line) = (table.u2()?, table.u2()?);
                        lines.push((code.at(from.into(), at)?, u32::from(line)));
                    }
                }
                "LocalVariableTable" => {
                    for _ in 0..table.u2()? {
                        locals.push(self.local(&mut table, &code)?);
                    }
                }
                _ => {}
            }
        }
        self.bytes = outside;
        lines.sort_by_key(|&(from, _): &(At, u32)| from);
        let Instructions { list, offsets, .. } = code;
        Ok(JavaBody { max_stack, max_locals, instructions: list, offsets, handlers, lines, locals })
    }

    fn local(
        &mut self,
        table: &mut Bytes<'a>,
        code: &Instructions,
    ) -> Result<JavaLocal, ClassDamage> {
        let at = table.at;
        let (from, length) = (table.u2()?, table.u2()?);
        let start = code.end(from.into(), at)?;
        let end = code.end(u32::from(from) + u32::from(length), at)?;
        let at = table.at;
        let name = self.pool.name(table.u2()?, at, self.names)?;
        let at = table.at;
        let descriptor = self.pool.name(table.u2()?, at, self.names)?;
        Ok(JavaLocal { start, end, index: table.u2()?, name, descriptor })
    }
}

/// Instructions name local variables that there are; subroutines stand in old class files only.
fn check_locals(
    code: &Instructions,
    max_locals: u16,
    version: u16,
    first: usize,
) -> Result<(), ClassDamage> {
    use crate::class::JavaInstruction as I;
    for (instruction, &offset) in code.list.iter().zip(&code.offsets) {
        let at = first + offset as usize;
        let last = match instruction {
            I::Load(kind, local) | I::Store(kind, local) => {
                u32::from(*local) + u32::from(kind.width()) - 1
            }
            I::Increment(local, _) | I::SubroutineReturn(local) => u32::from(*local),
            I::Subroutine(_) if version > 50 => {
                return damage(at, format!("subroutines do not exist in version {version}"));
            }
            _ => continue,
        };
        if last >= u32::from(max_locals) {
            let message = format!("local variable {last} is named here and there are {max_locals}");
            return damage(at, message);
        }
    }
    Ok(())
}
