//! What is said about chunks once all of them are known: language, words, keywords, summaries.

use quarry_language::{content_words, detect};
use quarry_model::ChunkType;

use crate::chunks::Draft;
use crate::enrich::Enrichment;
use crate::heading::SectionTree;
use crate::keywords::Sections;
use crate::summary;

/// Language is looked for in at most this much of a document, spread over its chunks.
const SAMPLE_BYTES: usize = 32 << 10;

/// A document is not summed up by fewer content words than this: a menu, a date, a copyright line.
const TELLING_WORDS: usize = 6;

/// What the chunks say together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Overview {
    /// Summary of each section, in the tree's order.
    pub sections: Vec<String>,
    /// Summary of the document.
    pub document: String,
}

impl Overview {
    /// What a model said goes before what the text itself says first.
    fn take(&mut self, tree: &SectionTree, enrichment: &Enrichment) {
        for (heading, said) in &enrichment.sections {
            if let Some(summary) = self.sections.get_mut(tree.index_of(Some(*heading))) {
                summary.clone_from(said);
            }
        }
        if let Some(said) = &enrichment.document {
            self.document.clone_from(said);
        }
    }
}

/// Fills in every chunk's language, words, keywords and summaries.
pub(crate) fn annotate(drafts: &mut [Draft], tree: &SectionTree, title: Option<&str>, enrichment: &Enrichment) -> Overview {
    let main = main_language(drafts);
    let mut sections = Sections::default();
    for draft in drafts.iter_mut() {
        let lang = match detect(draft.words()) {
            "und" => main,
            own => own,
        };
        let tokens = content_words(draft.words(), lang);
        sections.count(draft.section, &tokens);
        draft.chunk.metadata.lang = lang.to_owned();
        draft.chunk.metadata.tokens = tokens;
    }
    let mut overview = overview(drafts, tree, title);
    overview.take(tree, enrichment);
    for draft in drafts {
        let keywords = sections.keywords(draft.words(), &draft.chunk.metadata.lang);
        let own = (draft.chunk.kind == ChunkType::Text).then(|| summary::of_text(draft.words()));
        let metadata = &mut draft.chunk.metadata;
        metadata.keywords = keywords;
        metadata.document_top_summary.clone_from(&overview.document);
        if let Some(own) = own {
            metadata.summary = own;
        }
    }
    overview
}

fn overview(drafts: &[Draft], tree: &SectionTree, title: Option<&str>) -> Overview {
    let mut first_text = vec![None; tree.sections().len()];
    for draft in drafts.iter().filter(|draft| draft.chunk.kind == ChunkType::Text) {
        if let Some(slot) = first_text.get_mut(draft.section)
            && slot.is_none()
        {
            *slot = Some(draft.words());
        }
    }
    let texts = || drafts.iter().filter(|draft| draft.chunk.kind == ChunkType::Text);
    let says_something = |draft: &&Draft| draft.chunk.metadata.tokens.len() >= TELLING_WORDS;
    let opening = texts().find(says_something).or_else(|| texts().next()).map(Draft::words);
    Overview { document: summary::of_document(tree, title, opening), sections: summary::of_sections(tree, &first_text) }
}

/// The language of the document as a whole, for chunks too short to have one of their own.
fn main_language(drafts: &[Draft]) -> &'static str {
    let share = SAMPLE_BYTES.checked_div(drafts.len()).unwrap_or(SAMPLE_BYTES).max(200);
    let mut sample = String::new();
    for draft in drafts {
        let words = draft.words();
        let end = words.floor_char_boundary(share.min(words.len()));
        sample.push_str(words.get(..end).unwrap_or_default());
        sample.push('\n');
        if sample.len() >= SAMPLE_BYTES {
            break;
        }
    }
    detect(&sample)
}
