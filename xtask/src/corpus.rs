//! Writes the generated files of `corpus/bp` anew, and with a folder the same models for SPIN there.

use selvedge_testkit::models::{corpus, promela};
use std::path::Path;

/// Writes the files.
pub fn write(promela_folder: Option<&str>) -> Result<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/bp");
    let store = |path: &Path, text: &str| {
        std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
    };
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let files = corpus::files();
    for file in &files {
        store(&folder.join(&file.name), &file.text)?;
        if let (Some(folder), Some(machine)) = (promela_folder, &file.machine) {
            let path = Path::new(folder).join(&file.name).with_extension("pml");
            store(&path, &promela::print(machine))?;
        }
    }
    Ok(format!("corpus: {} files\n", files.len()))
}
