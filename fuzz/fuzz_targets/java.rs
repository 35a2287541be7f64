//! The readers of class files and archives on arbitrary bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use selvedge_base::{Budget, Id};
use selvedge_front_java::{JavaInstruction, JavaNames, read_archive, read_class};

fuzz_target!(|bytes: &[u8]| {
    match read_class(bytes, &mut JavaNames::default()) {
        Err(damage) => assert!(damage.offset <= bytes.len() && !damage.message.contains('\n')),
        Ok(class) => {
            for body in class.methods.iter().filter_map(|method| method.body.as_ref()) {
                let targets = body.instructions.iter().flat_map(JavaInstruction::targets);
                let handlers = body.handlers.iter().map(|one| one.target);
                assert!(targets.chain(handlers).all(|at| at.index() < body.instructions.len()));
            }
        }
    }
    let _ = read_archive(bytes, None, &Budget::with_steps(10_000));
});
