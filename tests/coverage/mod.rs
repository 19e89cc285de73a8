//! Nothing is lost: every word of a source's own text nodes is in some chunk, or in a heading.
//!
//! The words are taken from the source without the readers under test: from the text nodes of its XML or HTML, from
//! Markdown's own events, from decoded text. Exceptions are deliberate and stand, each with its reason, beside the format
//! they belong to ([`office`], [`sheets`], [`pages`]).
//!
//! ```text
//! QUARRY_COVERAGE=DIR cargo test -p quarry-tests --test golden coverage
//! ```
//!
//! checks the documents of a folder as well.

mod office;
mod pages;
mod sheets;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use quarry_model::Format;

/// A word of so many characters is not found by chance where others meet.
const LONG_WORD: usize = 5;

/// Words of letters and figures, in lower case; where words are not written apart, every character is one.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let dense = |c: char| matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
    text.split(|c: char| !c.is_alphanumeric())
        .flat_map(move |run| run.split_inclusive(dense))
        .flat_map(move |run| {
            let last = run.char_indices().next_back().filter(|(_, c)| dense(*c)).map_or(run.len(), |(at, _)| at);
            let (word, character) = run.split_at(last);
            [word, character]
        })
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// The text of a source, words apart; `None` for a format whose words are not checked.
fn text_of(format: Format, bytes: &[u8]) -> Option<Result<String>> {
    Some(match format {
        Format::Docx => office::word(bytes),
        Format::Pptx => office::slides(bytes),
        Format::Odt => office::open_document(bytes),
        Format::Epub => office::book(bytes),
        Format::Xlsx => sheets::text(bytes),
        Format::Html => Ok(pages::html(bytes)),
        Format::Markdown => Ok(pages::markdown(bytes)),
        Format::Text | Format::Csv | Format::Tsv => Ok(pages::plain(bytes)),
        Format::Xml => office::xml(bytes),
        _ => return None,
    })
}

/// Titles of headings, of those without any text under them too.
fn titles(headings: &serde_json::Value, out: &mut String) {
    for heading in headings.as_array().into_iter().flatten() {
        out.push_str(heading["title"].as_str().unwrap_or_default());
        out.push(' ');
        titles(&heading["children"], out);
    }
}

/// Every word that a reader finds in the chunks of a document, and in its headings; and all of it without spaces.
fn words_read(input: &Path) -> Result<(BTreeSet<String>, String)> {
    let folder = super::parse(input)?;
    let file = |name: &str| folder.files.iter().find(|file| file.name == name).with_context(|| name.to_owned());
    let chunks: serde_json::Value = serde_json::from_slice(&file("chunks.json")?.bytes)?;
    let mut text = String::new();
    for chunk in chunks["chunks"].as_array().context("a list")? {
        let content = chunk["content"].as_str().unwrap_or_default();
        // A table is HTML: what is escaped in it is text again.
        text.push_str(&if chunk["type"] == "table" { pages::html(content.as_bytes()) } else { content.to_owned() });
        text.push(' ');
        text.push_str(chunk["path"].as_str().unwrap_or_default());
        text.push(' ');
    }
    let hierarchy: serde_json::Value = serde_json::from_slice(&file("hierarchy.json")?.bytes)?;
    titles(&hierarchy["headings"], &mut text);
    let found: BTreeSet<String> = words(&text).collect();
    Ok((found, text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()))
}

fn check(input: &Path) -> Result<bool> {
    let Some(format) = input.file_name().and_then(|name| name.to_str()).and_then(Format::of_file_name) else { return Ok(false) };
    let bytes = fs::read(input)?;
    let Some(text) = text_of(format, &bytes) else { return Ok(false) };
    let source: BTreeSet<String> = words(&text.with_context(|| input.display().to_string())?).collect();
    ensure!(!source.is_empty(), "{} has no text", input.display());
    let (found, dense) = words_read(input).with_context(|| input.display().to_string())?;
    // Links and keys side by side are set apart by looks alone: what is one word in the source is several to a reader.
    let told = |word: &str| word.chars().count() >= LONG_WORD && dense.contains(word);
    let lost: Vec<&String> = source.difference(&found).filter(|word| !told(word)).collect();
    ensure!(lost.is_empty(), "{}: lost {lost:?}", input.display());
    Ok(true)
}

#[test]
fn no_word_of_a_source_is_lost() -> Result<()> {
    let mut inputs: Vec<PathBuf> = super::cases()?.into_iter().map(|(_, input)| input).collect();
    if let Some(folder) = std::env::var_os("QUARRY_COVERAGE") {
        inputs.extend(fs::read_dir(folder)?.filter_map(Result::ok).map(|entry| entry.path()));
    }
    inputs.sort();
    let mut checked = BTreeSet::new();
    let mut faults = Vec::new();
    for input in inputs {
        match check(&input) {
            Ok(true) => {
                checked.extend(input.extension().map(|extension| extension.to_string_lossy().into_owned()));
            }
            Ok(false) => {}
            Err(error) => faults.push(format!("{error:#}")),
        }
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    for extension in ["docx", "pptx", "xlsx", "html", "md", "txt", "odt", "epub", "xml", "csv", "tsv"] {
        ensure!(checked.contains(extension), "no golden {extension} document was checked");
    }
    Ok(())
}
