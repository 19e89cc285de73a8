//! Nothing is lost: every word of a source's own text nodes is in some chunk, or in the heading it stands under.
//!
//! Deliberate exceptions, each with its reason: what was deleted with changes tracked is no part of the text; contents
//! lists are evidence for headings and told by them; page numbers of running text are none of it; what an object draws
//! is told in another notation (a formula as LaTeX), and hidden names (authors of changes, dates) are no text.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use quarry_document::archive::Archive;
use quarry_document::xml::{self, Child, Element, Tree};
use quarry_model::Limits;

/// Elements whose text is a deliberate exception.
const LEFT_OUT: [&str; 13] = [
    "tracked-changes",
    "table-of-content",
    "page-number",
    "note-citation",
    "date",
    "creator",
    "math",
    "head",
    "script",
    "style",
    "nav",
    "ncx",
    "sequence-decls",
];

/// Words of letters and figures, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

fn text_of(element: Element<'_>, out: &mut String) {
    for child in element.children() {
        match child {
            Child::Text(text) => out.push_str(text),
            Child::Element(element) if LEFT_OUT.contains(&element.name()) => out.push(' '),
            Child::Element(element) => {
                // Runs within a word have no space between them.
                let inline = matches!(element.name(), "span" | "b" | "i" | "em" | "strong");
                out.push_str(if inline { "" } else { " " });
                text_of(element, out);
                out.push_str(if inline { "" } else { " " });
            }
        }
    }
}

/// Checks one container: the text of its parts of this kind against what was read.
fn check(input: &Path, is_text: fn(&str) -> bool) -> Result<()> {
    let bytes = Bytes::from(fs::read(input)?);
    let limits = Limits::default();
    let mut archive = Archive::open(&bytes, &limits)?;
    let names: Vec<String> = archive.names().filter(|name| is_text(name)).map(str::to_owned).collect();
    ensure!(!names.is_empty(), "{} has no text", input.display());
    let mut source = BTreeSet::new();
    for name in names {
        let part = archive.read(&name)?.context("a part")?;
        let mut text = String::new();
        text_of(Tree::parse(&xml::decode(part), &limits)?.root(), &mut text);
        source.extend(words(&text));
    }
    let folder = super::parse(input)?;
    let chunks = folder.files.iter().find(|file| file.name == "chunks.json").context("chunks")?;
    let chunks: serde_json::Value = serde_json::from_slice(&chunks.bytes)?;
    let mut found = BTreeSet::new();
    for chunk in chunks["chunks"].as_array().context("a list")? {
        found.extend(words(chunk["content"].as_str().unwrap_or_default()));
        found.extend(words(chunk["path"].as_str().unwrap_or_default()));
    }
    let lost: Vec<&String> = source.difference(&found).collect();
    ensure!(lost.is_empty(), "{}: lost {lost:?}", input.display());
    Ok(())
}

#[test]
fn no_word_of_a_container_is_lost() -> Result<()> {
    for (case, input) in super::cases()? {
        let format = case.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
        match format {
            "epub" => check(&input, |name| name.ends_with(".xhtml"))?,
            "odt" => check(&input, |name| name == "content.xml")?,
            _ => {}
        }
    }
    Ok(())
}
