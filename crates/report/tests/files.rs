//! Reports of programs whose statements come from many files: every format names the file, and says
//! no more of a place than is known.

mod checked;

use checked::{
    as_json, check_program, deadlocks_of, hostile_name, lines_of_sarif, races_of, with_checks,
};
use insta::{assert_snapshot, with_settings};
use selvedge_base::{Budget, FileId, Id as _, Place};
use selvedge_findings::CheckedFile;
use selvedge_program::SourceFile;
use selvedge_report::html::{self, Meta};
use selvedge_report::{
    Answers, Detail, Terminal, dot, findings_json, findings_text, json, junit, lock_order, model,
    model_json, sarif, text, witness_dot,
};
use selvedge_testkit::Rng;
use selvedge_testkit::files::spread_over_files;
use selvedge_testkit::generate::{Shape, random_model};

const FILE: &str = "examples/two-files.slv";

fn two_files() -> CheckedFile {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let text = std::fs::read_to_string(format!("{root}{FILE}")).expect("the example");
    let (program, diagnostics) = selvedge_program::text::parse(&text);
    assert_eq!(diagnostics, []);
    check_program(FILE, &text, program.expect("no errors"))
}

const ANSWERS: text::Options = text::Options {
    witnesses: text::Witnesses::First(usize::MAX),
    detail: Detail::Events,
    statistics: false,
};

fn json_of(answers: &Answers<'_>) -> String {
    as_json(|out| json::write(answers, json::Witnesses::Included, out))
}

/// Every form of a report about a file, by name.
fn every_form(file: &CheckedFile) -> Vec<(&'static str, String)> {
    let files = std::slice::from_ref(file);
    let plain = Terminal::plain(100);
    let options = findings_text::Options {
        witnesses: text::Witnesses::First(usize::MAX),
        detail: Detail::Events,
    };
    let order = selvedge_analysis::lock_order(&file.program, &Budget::new()).expect("nested");
    let graphs = file.findings.iter().map(|one| witness_dot::render(one, &file.program));
    let meta = Meta::new("selvedge", "0");
    vec![
        ("text", with_checks(files, |checks| findings_text::render(checks, options, plain))),
        (
            "json",
            with_checks(files, |checks| {
                as_json(|out| findings_json::write(checks, json::Witnesses::Included, out))
            }),
        ),
        ("sarif", with_checks(files, sarif::render)),
        ("junit", with_checks(files, junit::render)),
        ("lock_order", lock_order::render(&file.program, &order)),
        ("witness_dot", graphs.collect()),
        ("race_text", races_of(file, |races| text::render(races, ANSWERS, plain))),
        ("race_json", races_of(file, json_of)),
        ("deadlock_text", deadlocks_of(file, |cycles| text::render(cycles, ANSWERS, plain))),
        ("deadlock_json", deadlocks_of(file, json_of)),
        ("model", model::render(&file.file, &file.program, plain)),
        ("model_json", model_json::render(&file.file, &file.program)),
        ("model_dot", dot::render(&file.program)),
        ("html", html::render(files, &meta)),
    ]
}

#[test]
fn every_format_names_the_file_of_a_place() {
    for (form, shown) in every_form(&two_files()) {
        let shown = match form {
            "sarif" => lines_of_sarif(&shown),
            "html" => {
                let start = shown.find("<nav").expect("a list");
                let end = shown.find("<dialog").expect("a dialog");
                shown[start..end].to_owned()
            }
            _ => shown,
        };
        with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            assert_snapshot!(format!("two_files__{form}"), shown);
        });
    }
}

#[test]
fn findings_are_grouped_by_the_file_that_they_lie_in() {
    let mut file = two_files();
    // The race comes between the two findings of the other file.
    file.findings.swap(1, 2);
    let forms = every_form(&file);
    let form = |wanted: &str| &forms.iter().find(|(name, _)| *name == wanted).expect("a form").1;
    let position =
        |text: &str, part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in\n{text}"));
    let shown = form("text");
    assert!(position(shown, "12:13  Seller") < position(shown, "\n shop.Log\n"), "{shown}");
    assert!(position(shown, "2 of 3: atomicity") < position(shown, "3 of 3: data race"));
    let page = form("html");
    let order = [
        "<li class=\"file\">src/shop/Seller.java</li>",
        "src/shop/Seller.java:19<",
        "src/shop/Seller.java:12<",
        "<li class=\"file\">shop.Log</li>",
        "shop.Log+37<",
    ];
    let places: Vec<usize> = order.iter().map(|part| position(page, part)).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert!(page.contains("<option value=\"1\">src/shop/Seller.java (2)</option>"), "{page}");
    assert!(page.contains("<option value=\"2\">shop.Log (1)</option>"), "{page}");
    // The page has no line of these files, so nothing links to one.
    assert!(!page.contains("<a class=\"at\"") && !page.contains("<a class=\"where line\""));
    // In JSON the most important one comes first.
    let object: serde_json::Value = serde_json::from_str(form("json")).expect("JSON");
    assert_eq!(object["files"][0]["findings"][1]["rule"], "data-race");
}

#[test]
fn files_that_programs_share_are_one_artifact() {
    let mut again = two_files();
    again.file = "again.slv".to_owned();
    let log = with_checks(&[two_files(), again], sarif::render);
    let log: serde_json::Value = serde_json::from_str(&log).expect("JSON");
    let run = &log["runs"][0];
    let artifacts = run["artifacts"].as_array().expect("artifacts");
    let uris: Vec<&str> =
        artifacts.iter().map(|one| one["location"]["uri"].as_str().expect("a URI")).collect();
    let expected = [FILE, "again.slv", "src/shop/Auditor.java", "src/shop/Seller.java", "shop.Log"];
    assert_eq!(uris, expected);
    for result in run["results"].as_array().expect("results") {
        let place = &result["locations"][0]["physicalLocation"];
        let location = &place["artifactLocation"];
        let index = location["index"].as_u64().expect("an index") as usize;
        assert_eq!(location["uri"], uris[index]);
        if uris[index] == "shop.Log" {
            assert!(place.get("region").is_none() && place["properties"]["offset"].is_u64());
        } else {
            assert!(place["region"]["startLine"].is_u64(), "{place}");
        }
    }
    let text = log.to_string();
    assert!(text.contains("\"region\":{\"startLine\":16}"), "no column is known: {text}");
}

#[test]
fn hostile_names_of_files_are_escaped() {
    let mut program = two_files().program;
    for source in &mut program.files {
        source.name = hostile_name(&source.name).replace(char::is_control, "");
    }
    // The texts of fixes name files as well.
    let mut file = check_program(FILE, "", program);
    for (form, shown) in every_form(&file) {
        assert!(form.ends_with("json") || !shown.contains('\u{202e}'), "{form}");
    }
    // No program has such a name, and no report trusts in that.
    for source in &mut file.program.files {
        source.name = hostile_name(&source.name);
    }
    for (form, shown) in every_form(&file) {
        if !form.ends_with("json") {
            checked::assert_harmless(&shown.replace('\t', " "));
        }
        match form {
            "junit" => checked::assert_xml(&shown),
            "html" => assert!(!shown.contains("<b>&"), "{form}"),
            "lock_order" => checked::assert_dot(&shown),
            _ => {}
        }
    }
}

#[test]
fn places_of_all_kinds_are_reported_by_every_format() {
    let mut findings = 0;
    for seed in 0..40 {
        let rng = &mut Rng::new(seed);
        let mut program = random_model(rng, &Shape::SMALL).to_program();
        spread_over_files(&mut program, rng);
        let text = selvedge_program::text::print(&program);
        let file = check_program("random.slv", &text, program);
        findings += file.findings.len();
        for (form, shown) in every_form(&file) {
            assert!(!shown.is_empty() || form == "witness_dot", "{form} of seed {seed}");
        }
    }
    assert!(findings > 20, "{findings} findings");
}

#[test]
fn a_file_that_does_not_exist_is_no_reason_to_panic() {
    let mut file = two_files();
    file.program.files = vec![SourceFile { name: "A".to_owned() }];
    for finding in &mut file.findings {
        finding.places.push(Place::new(1, 1).in_file(FileId::from_index(u32::MAX as usize)));
    }
    assert_eq!(every_form(&file).len(), 14);
}
