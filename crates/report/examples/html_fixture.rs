//! Writes the pages that the browser test opens into a folder.
//!
//! ```console
//! $ cargo run -p selvedge-report --example html_fixture -- target/pages
//! ```

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/html_cases/mod.rs"]
mod html_cases;

use selvedge_findings::CheckedFile;
use selvedge_report::html::render;
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder =
        PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "target/pages".to_owned()));
    std::fs::create_dir_all(&folder)?;
    let mut hostile = html_cases::hostile();
    hostile.findings = std::iter::repeat_n(hostile.findings, 30).flatten().collect();
    let pages: Vec<(&str, Vec<CheckedFile>)> = vec![
        (
            "report",
            vec![
                html_cases::stack(),
                html_cases::bank(),
                html_cases::safe(),
                html_cases::long(300),
            ],
        ),
        ("hostile", vec![hostile]),
        ("safe", vec![html_cases::safe()]),
        ("nothing", Vec::new()),
        ("long", vec![html_cases::long(300)]),
        ("huge", vec![html_cases::long(10_000)]),
        ("wide", vec![html_cases::philosophers(6)]),
        ("many", vec![html_cases::many(200), html_cases::stack()]),
        ("threads-2", vec![html_cases::stack()]),
        ("threads-8", vec![html_cases::philosophers(8)]),
        ("threads-20", vec![html_cases::philosophers(20)]),
        ("steps-500", vec![html_cases::calls(500), html_cases::long(500)]),
        (
            "findings-1200",
            (0..100).map(|at| html_cases::many_in(&format!("models/m{at}.eml"), 12)).collect(),
        ),
        ("values", vec![html_cases::visits()]),
        ("lasso", vec![html_cases::lasso()]),
    ];
    for (name, files) in pages {
        let page = render(&files, &html_cases::meta());
        std::fs::write(folder.join(name).with_extension("html"), page)?;
    }
    Ok(())
}
