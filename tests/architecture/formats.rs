//! A format lives in five places: a row of the table, a function, a resource, an event and a golden folder.

use std::fs;

use quarry_model::format::{FORMAT_TABLE, Family};
use quarry_tests::repository;

#[test]
fn the_five_places_of_a_format_agree() {
    let top = repository();
    let template = fs::read_to_string(top.join("template.yaml")).expect("template.yaml");
    let mut faults = Vec::new();
    for family in Family::ALL {
        let function = family.function();
        if !FORMAT_TABLE.iter().any(|row| row.family == Some(family)) {
            faults.push(format!("{function} has no row in the format table"));
        }
        if !top.join("functions").join(function).join("src/main.rs").is_file() {
            faults.push(format!("functions/{function} is missing"));
        }
        if !template.contains(&format!("functions/{function}")) && !template.contains(&format!("/{function}")) {
            faults.push(format!("template.yaml has no resource for {function}"));
        }
        let events = top.join("events").join(function);
        if !fs::read_dir(&events).is_ok_and(|mut entries| entries.next().is_some()) {
            faults.push(format!("events/{function} holds no event"));
        }
    }
    for row in FORMAT_TABLE.iter().filter(|row| row.family.is_some()) {
        let golden = top.join("tests/golden").join(row.name);
        if !fs::read_dir(&golden).is_ok_and(|mut entries| entries.next().is_some()) {
            faults.push(format!("tests/golden/{} holds no case", row.name));
        }
    }
    for entry in fs::read_dir(top.join("functions")).expect("functions").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("parse-") && !Family::ALL.iter().any(|family| family.function() == name) {
            faults.push(format!("functions/{name} has no family in the format table"));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
