//! # Idea
//! `selvedge init`: a folder with a model to start from and its settings.
//!
//! # Invariants
//! 1. No file is overwritten, and if one is there already none is written.

use crate::exit::Exit;
use crate::output::Output;
use selvedge_library::starter::FILES;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

/// Runs the command.
pub fn run(folder: &Path, output: Output) -> Result<Exit, Exit> {
    let fail = |message: String| {
        output.complain(&message);
        Exit::BadInput
    };
    let paths = FILES.map(|(name, _)| folder.join(name));
    for path in &paths {
        // Also a link that leads nowhere is there.
        if path.symlink_metadata().is_ok() {
            return Err(fail(format!(
                "{} is there already, and nothing is overwritten; name another folder",
                path.display()
            )));
        }
    }
    std::fs::create_dir_all(folder)
        .map_err(|error| fail(format!("cannot make the folder {}: {error}", folder.display())))?;
    for (path, (_, text)) in paths.iter().zip(FILES) {
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        file.and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|error| fail(format!("cannot write {}: {error}", path.display())))?;
    }
    let [model, settings] = paths.map(|path| path.display().to_string());
    let folder = folder.display();
    output.print(&format!(
        "{model} is a model with one mistake, which its comments explain\n\
         {settings} has the settings of the folder\n\
         \n\
         Next:\n  \
         selvedge check {folder}\n  \
         selvedge show {model}\n  \
         selvedge explain atomicity-violation\n\
         \n\
         The page \"From your code to a model\" of the book translates Java and C++.\n"
    ))?;
    Ok(Exit::Success)
}
