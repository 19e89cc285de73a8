//! What stands beside a sheet's cells: named tables and comments.

use std::collections::{BTreeMap, BTreeSet};

use quarry_document::Warnings;
use quarry_document::xml::{Element, Ns, Tree};
use quarry_model::DocumentFailure;
use quarry_office::package::{Package, Target};

use super::part::Pointers;
use crate::cells::{Area, place};
use crate::sheet::{Float, Floating, NamedTable, Sheet};
use crate::xlsx::texts::unescape;

/// How Excel begins the plain copy of a threaded comment, in every language.
const COPY: &str = "[Threaded comment]";

pub(super) fn read(
    package: &mut Package<'_>,
    part: &str,
    pointers: &Pointers,
    sheet: &mut Sheet,
    warnings: &mut Warnings,
) -> Result<(), DocumentFailure> {
    let relationships = package.relationships(part, warnings)?;
    for id in &pointers.tables {
        if let Some(Target::Part(part)) = relationships.get(id).map(|relationship| &relationship.target) {
            sheet.tables.extend(package.optional_tree(part, warnings)?.and_then(|tree| named_table(tree.root())));
        }
    }
    let mut threaded = Vec::new();
    for (_, part) in relationships.parts_of_kind("threadedComment") {
        if let Some(tree) = package.optional_tree(part, warnings)? {
            let people = people(package, warnings)?;
            threaded.extend(threads(tree.root(), &people));
        }
    }
    let told: BTreeSet<(u32, u32)> = threaded.iter().map(|note| (note.row, note.column)).collect();
    for (_, part) in relationships.parts_of_kind("comments") {
        if let Some(tree) = package.optional_tree(part, warnings)? {
            let plain = comments(tree.root());
            let is_copy = |note: &Float| told.contains(&(note.row, note.column));
            sheet.floats.extend(plain.into_iter().filter(|note| !is_copy(note) || !starts_as_copy(note)));
        }
    }
    sheet.floats.extend(threaded);
    Ok(())
}

fn starts_as_copy(note: &Float) -> bool {
    matches!(&note.what, Floating::Note { text, .. } if text.starts_with(COPY) || text.starts_with('['))
}

fn named_table(root: Element<'_>) -> Option<NamedTable> {
    let area = root.attribute(Ns::None, "ref").and_then(Area::parse)?;
    let header_rows = root.attribute(Ns::None, "headerRowCount").and_then(|count| count.parse().ok()).unwrap_or(1_u32).min(1);
    Some(NamedTable { area, header_rows })
}

fn comments(root: Element<'_>) -> Vec<Float> {
    let list = |name| root.child(Ns::S, name).into_iter().flat_map(Element::elements);
    let authors: Vec<String> = list("authors").map(|author| author.text().trim().to_owned()).collect();
    let mut out = Vec::new();
    for comment in list("commentList").filter(|element| element.is(Ns::S, "comment")) {
        let Some((row, column)) = comment.attribute(Ns::None, "ref").and_then(place) else { continue };
        let author = comment.attribute(Ns::None, "authorId").and_then(|id| id.parse::<usize>().ok()).and_then(|id| authors.get(id));
        let author = author.cloned().unwrap_or_default();
        let runs = comment.child(Ns::S, "text").into_iter().flat_map(Element::descendants);
        let text: String = runs.filter(|run| run.is(Ns::S, "t")).map(Element::text).collect();
        // Excel repeats the author as the comment's first line.
        let text = unescape(&text).trim().to_owned();
        let text = text.strip_prefix(&format!("{author}:")).filter(|_| !author.is_empty()).unwrap_or(&text).trim().to_owned();
        push(&mut out, row, column, author, text);
    }
    out
}

fn threads(root: Element<'_>, people: &BTreeMap<String, String>) -> Vec<Float> {
    let mut out = Vec::new();
    for comment in root.elements().filter(|element| element.name() == "threadedComment") {
        let Some((row, column)) = comment.attribute(Ns::None, "ref").and_then(place) else { continue };
        let author = comment.attribute(Ns::None, "personId").and_then(|id| people.get(id)).cloned().unwrap_or_default();
        let text = comment.elements().find(|element| element.name() == "text").map(Element::text).unwrap_or_default();
        push(&mut out, row, column, author, text.trim().to_owned());
    }
    out
}

fn push(out: &mut Vec<Float>, row: u32, column: u32, author: String, text: String) {
    if !text.is_empty() {
        out.push(Float { row, column, what: Floating::Note { author, text } });
    }
}

/// Who wrote threaded comments, by id.
fn people(package: &mut Package<'_>, warnings: &mut Warnings) -> Result<BTreeMap<String, String>, DocumentFailure> {
    let main = package.main_part(super::USUAL, warnings)?;
    let relationships = package.relationships(&main, warnings)?;
    let mut out = BTreeMap::new();
    for (_, part) in relationships.parts_of_kind("person") {
        let tree: Option<Tree> = package.optional_tree(part, warnings)?;
        for person in tree.iter().flat_map(|tree| tree.root().elements()) {
            let attribute = |name| person.attribute(Ns::None, name).unwrap_or_default().to_owned();
            out.insert(attribute("id"), attribute("displayName"));
        }
    }
    Ok(out)
}
