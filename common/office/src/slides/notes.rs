//! Speaker notes and comments of a slide.

use std::collections::BTreeMap;

use quarry_document::Warnings;
use quarry_document::xml::{Element, Ns, Tree};
use quarry_model::DocumentFailure;

use super::template::{Mention, Purpose};
use super::text::{self, ListStyle, Paragraph};
use crate::drawing;
use crate::package::{Package, Relationships};

/// What the speaker is told.
pub(super) fn notes(tree: &Tree) -> Vec<Paragraph> {
    let mut out = Vec::new();
    let none: [&ListStyle; 0] = [];
    for shape in tree.root().descendants().filter(|shape| shape.is(Ns::P, "sp")) {
        let purpose = Mention::of(shape).map(|mention| mention.purpose());
        if matches!(purpose, Some(Purpose::Number | Purpose::Footer | Purpose::SlideImage)) {
            continue;
        }
        if let Some(body) = shape.child(Ns::P, "txBody") {
            out.extend(text::paragraphs(body, &none));
        }
    }
    out
}

/// Names of the people who comment, by id: of the part of old comments (numbers) and of threads (GUIDs).
#[derive(Debug, Default)]
pub(super) struct Authors(BTreeMap<String, String>);

impl Authors {
    pub(super) fn read(package: &mut Package<'_>, main: &Relationships, warnings: &mut Warnings) -> Result<Self, DocumentFailure> {
        let mut out = Self::default();
        for kind in ["commentAuthors", "authors"] {
            let Some(part) = main.part_of_kind(kind) else { continue };
            let Some(tree) = package.linked_tree(part, warnings)? else { continue };
            for author in tree.root().elements() {
                if let (Some(id), Some(name)) = (author.attribute(Ns::None, "id"), author.attribute(Ns::None, "name")) {
                    out.0.insert(id.to_owned(), name.trim().to_owned());
                }
            }
        }
        Ok(out)
    }
}

/// The comments of a part, each as one line with its author; answers stand behind what they answer.
pub(super) fn comments(tree: &Tree, authors: &Authors) -> Vec<String> {
    let mut out = Vec::new();
    for comment in tree.root().descendants() {
        if !matches!(comment.name(), "cm" | "reply") {
            continue;
        }
        let text = words(comment);
        if text.is_empty() {
            continue;
        }
        let author = comment.attribute(Ns::None, "authorId").and_then(|id| authors.0.get(id)).filter(|name| !name.is_empty());
        out.push(author.map_or_else(|| format!("Comment: {text}"), |author| format!("Comment ({author}): {text}")));
    }
    out
}

/// `p:text` of an old comment, the text body of one in a thread.
fn words(comment: Element<'_>) -> String {
    let mut lines = Vec::new();
    for child in comment.elements() {
        match child.name() {
            "text" => lines.push(child.text().trim().to_owned()),
            "txBody" => lines.extend(child.elements().filter(|paragraph| paragraph.is(Ns::A, "p")).map(drawing::text)),
            _ => {}
        }
    }
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}
