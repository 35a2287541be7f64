//! # Idea
//! A program whose statements come from many files: every place becomes one in a random file, with
//! a line and a column, a line alone, an offset, or nothing but the file.

use crate::rng::Rng;
use selvedge_base::{FileId, Id as _, Place};
use selvedge_program::{Program, SourceFile};

/// Gives a program up to three files beside the one that was read, and every place one of them.
pub fn spread_over_files(program: &mut Program, rng: &mut Rng) {
    let names = ["src/A.java", "src/b/A.java", "C"];
    program.files.clear();
    for &name in &names[..rng.below(names.len() + 1)] {
        program.files.push(SourceFile { name: name.to_owned() });
    }
    let files = program.files.len();
    let mut place = || {
        let line = rng.below(40) as u32 + 1;
        let place = match rng.below(6) {
            0 => Place::NONE,
            1 => Place::in_line(line),
            2 => Place::at_offset(line - 1),
            _ => Place::new(line, rng.below(60) as u32 + 1),
        };
        place.in_file(FileId::from_index(rng.below(files + 1)))
    };
    for id in program.locks.ids() {
        program.locks[id].place = place();
    }
    for id in program.locations.ids() {
        program.locations[id].place = place();
    }
    for id in program.globals.ids() {
        program.globals[id].place = place();
    }
    for id in program.threads.ids() {
        program.threads[id].place = place();
    }
    for id in program.procedures.ids() {
        program.procedures[id].place = place();
        program.procedures[id].end = place();
    }
    for id in program.edges.ids() {
        program.edges[id].place = place();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Shape, random_model};
    use selvedge_program::text::{parse, print};
    use selvedge_program::validate::validate;

    #[test]
    fn places_survive_the_text_form() {
        let mut elsewhere = 0;
        for seed in 0..300 {
            let rng = &mut Rng::new(seed);
            let mut program = random_model(rng, &Shape::SMALL).to_program();
            spread_over_files(&mut program, rng);
            assert_eq!(validate(&program), [], "seed {seed}");
            elsewhere += program.edges.iter().filter(|one| one.place.file != FileId::READ).count();
            let text = print(&program);
            assert_eq!(parse(&text), (Some(program), vec![]), "seed {seed}\n{text}");
        }
        assert!(elsewhere > 1000, "{elsewhere} statements in other files");
    }
}
