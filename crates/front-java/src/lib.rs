//! Class files and archives of Java, as plain data.
//!
//! - [`class`]: what a class file says. [`names`]: names as numbers, and what descriptors say.
//! - [`reader`]: bytes to classes; `pool` has their constants, `code` their instructions.
//! - [`archive`] reads jars.
//! - [`world`]: classes together: who extends whom, what a name means, what is not there.
//! - [`handles`]: calls of handles become accesses to fields.
//! - [`frames`], [`library`], [`points_to`], [`facts`] with [`constants`], [`order`] with `loops`: what instructions work on, what
//!   code outside does, what values can be, what is true of a whole program, who runs before whom.
//! - [`options`]: where a program begins. [`client`]: the world of a class and of all its clients;
//!   [`presets`]: that of a program that a framework runs.
//! - [`units`]: what is a unit of work beyond the rules. [`deadlocks`]: which locks can make a cycle.
//! - [`tokens`], [`emit`], [`questions`] with `accesses` and `making`: the model of a question, as a program, and which
//!   questions there are;
//!   [`words`] has the names that people read, [`remarks`] what findings are ranked by.
//! - [`stages`]: how far the work is.
//! - [`rewrite`]: copies of class files that say where threads are, for runs in a JVM.
//!
//! ```
//! let mut names = selvedge_front_java::JavaNames::default();
//! let damaged = selvedge_front_java::read_class(&[0xCA, 0xFE], &mut names);
//! assert_eq!(damaged.unwrap_err().to_string(), "4 bytes are expected here and 2 are left (byte 0)");
//! ```

mod accesses;
pub mod archive;
mod bytes;
pub mod class;
pub mod client;
mod code;
pub mod constants;
pub mod deadlocks;
pub mod emit;
pub mod facts;
pub mod frames;
mod handing;
pub mod handles;
pub mod library;
mod loops;
mod making;
pub mod names;
pub mod options;
pub mod order;
pub mod points_to;
mod pool;
pub mod presets;
pub mod questions;
pub mod reader;
pub mod remarks;
pub mod rewrite;
pub mod stages;
pub mod tokens;
pub mod translate;
pub mod units;
pub mod values;
pub mod words;
pub mod world;
pub mod wrappers;

pub use archive::{ArchiveDamage, Contents, read_archive};
pub use bytes::ClassDamage;
pub use class::{JavaClass, JavaInstruction, JavaKind, JavaMethod};
pub use names::{JavaName, JavaNames};
pub use reader::read_class;
pub use world::World;
