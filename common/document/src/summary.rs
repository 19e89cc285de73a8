//! Summaries without a model: what the text itself says first.

use quarry_language::{sentences, tokens};

use crate::heading::SectionTree;

/// Longest summary, in tokens.
pub(crate) const SUMMARY_TOKENS: u32 = 60;
/// A text of at most this many tokens is its own summary.
const SHORT_TOKENS: u32 = 120;

/// The leading sentences of a text, white space folded, at most [`SUMMARY_TOKENS`]; the beginning of the first sentence
/// when that one is longer.
pub(crate) fn leading_sentences(text: &str) -> String {
    // Sentences are looked for where a summary can end, not in a whole document.
    let head = tokens::truncate(text.trim_start(), SUMMARY_TOKENS.saturating_mul(4));
    let mut out = String::new();
    for range in sentences(head) {
        let sentence = head.get(range).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        if sentence.is_empty() {
            continue;
        }
        let longer = match out.chars().last() {
            None => sentence,
            // A line that ends in no stop of its own: a title, a list item.
            Some(last) if last.is_alphanumeric() => format!("{out}; {sentence}"),
            Some(_) => format!("{out} {sentence}"),
        };
        if tokens::count(&longer) > SUMMARY_TOKENS {
            if out.is_empty() {
                out = cut_at_word(&longer);
            }
            break;
        }
        out = longer;
    }
    out
}

fn cut_at_word(text: &str) -> String {
    let head = tokens::truncate(text, SUMMARY_TOKENS.saturating_sub(1));
    let cut = head.rfind(' ').filter(|at| *at > head.len() / 2).unwrap_or(head.len());
    format!("{}…", head.get(..cut).unwrap_or(head))
}

/// The summary of a text chunk: none for a short one.
pub(crate) fn of_text(text: &str) -> String {
    if tokens::fits(text, SHORT_TOKENS) { String::new() } else { leading_sentences(text) }
}

/// The summaries of all sections: leading sentences of a section's own text (`first_text`, by section), or what its
/// subsections are called.
pub(crate) fn of_sections(tree: &SectionTree, first_text: &[Option<&str>]) -> Vec<String> {
    let (below, _) = tree.children();
    let summary = |index: usize| {
        let own = first_text.get(index).copied().flatten().map(leading_sentences).unwrap_or_default();
        if own.is_empty() { covers(tree, below.get(index).into_iter().flatten()) } else { own }
    };
    (0..tree.sections().len()).map(summary).collect()
}

/// The summary of a document: its own title, then its first words, or else what its top sections are called.
pub(crate) fn of_document(tree: &SectionTree, title: Option<&str>, first_text: Option<&str>) -> String {
    let title = title.map(str::trim).filter(|title| !title.is_empty());
    let opening = first_text.map(leading_sentences).unwrap_or_default();
    let (_, top) = tree.children();
    let body = if opening.is_empty() { covers(tree, top.iter()) } else { opening };
    match title {
        Some(title) if body.is_empty() => title.to_owned(),
        Some(title) if !body.contains(title) => format!("{}. {body}", title.trim_end_matches('.')),
        _ => body,
    }
}

fn covers<'i>(tree: &SectionTree, sections: impl Iterator<Item = &'i usize>) -> String {
    let mut out = String::new();
    for title in sections.filter_map(|index| tree.sections().get(*index)).map(|section| section.title.as_str()) {
        let longer = if out.is_empty() { format!("Covers: {title}") } else { format!("{out}; {title}") };
        if tokens::count(&longer) > SUMMARY_TOKENS {
            if out.is_empty() {
                return cut_at_word(&longer);
            }
            break;
        }
        out = longer;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_sentences_while_they_fit() {
        let first = "The pump starts by itself.";
        let text = format!("  {first}\n It stops\nwhen the valve closes. {}", "Many other words follow here. ".repeat(60));
        let summary = leading_sentences(&text);
        assert!(summary.starts_with("The pump starts by itself. It stops when the valve closes. Many"), "{summary}");
        assert!(summary.ends_with('.') && tokens::count(&summary) <= SUMMARY_TOKENS, "{summary}");
        assert_eq!(of_text(first), "");
    }

    #[test]
    fn a_sentence_that_is_too_long_is_cut_at_a_word() {
        let summary = leading_sentences(&"endless ".repeat(500));
        assert!(summary.ends_with("endless…") && tokens::count(&summary) <= SUMMARY_TOKENS, "{summary}");
        assert_eq!(leading_sentences(" \n "), "");
    }
}
