//! What a passage refers to: other documents and sections whose titles it names.
//!
//! A question that needs two documents usually names one of them; the other is named by the first. A title that a
//! strong hit spells out is therefore a hint, the stronger the rarer its words. Measured on the open questions that
//! need two documents (hotpot100): both found in the first ten rises from 0.85 to 0.92, other sets stay as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quarry_index::{Channel, Filter};

use crate::corpus::ChunkKey;
use crate::error::RetrievalError;
use crate::passage::{Part, Passage};
use crate::query::Weighed;
use crate::snapshot::Reader;

/// Words of a text that one question to the path channel holds; the index cuts questions at 64.
const WINDOW_WORDS: usize = 48;
/// Most windows of one passage that are looked at.
const WINDOWS: usize = 6;
/// Titles looked at per window.
const TITLES: usize = 24;
/// A title whose words weigh this much counts in full: about one word that stands in 3 of 10,000 chunks.
pub(crate) const FULL_WEIGHT: f32 = 8.0;

/// A passage named by another.
#[derive(Debug, Clone)]
pub struct Reference {
    /// The passage named.
    pub target: Arc<Passage>,
    /// How telling its title is, 0 to 1.
    pub weight: f32,
    /// The title, in surface form.
    pub title: String,
}

/// The passages that `from` names by their titles, other sections only, best first; filters hold for them too.
pub async fn named_by(from: &Passage, reader: &Reader, filter: &Filter) -> Result<Vec<Reference>, RetrievalError> {
    let corpus = reader.corpus();
    let mut keys: BTreeSet<ChunkKey> = BTreeSet::new();
    for window in windows(from) {
        let hits = corpus.search(&[Channel::Path], &window, filter, TITLES).await?;
        keys.extend(hits.into_iter().flatten().map(|hit| (hit.document_id, hit.ordinal)));
    }
    let keys: Vec<ChunkKey> = keys.into_iter().collect();
    let mut named: BTreeMap<(quarry_model::DocumentId, String), Reference> = BTreeMap::new();
    for target in reader.passages(&keys).await? {
        let section = &target.stored.indexed.section.path;
        let same_document = target.stored.document_id == from.stored.document_id;
        if same_document && *section == from.stored.indexed.section.path {
            continue;
        }
        let place = (target.stored.document_id.clone(), section.clone());
        if named.contains_key(&place) {
            continue;
        }
        // Inside one document its own name says nothing.
        let titles = target.titles.iter().take(if same_document { 1 } else { 2 });
        let mut best: Option<(f32, String)> = None;
        for title in titles.filter(|title| from.mentions(title)) {
            let weight = (Weighed::new(&title.surface, corpus).await?.total / FULL_WEIGHT).min(1.0);
            if best.as_ref().is_none_or(|(other, _)| weight > *other) {
                best = Some((weight, title.surface.clone()));
            }
        }
        if let Some((weight, title)) = best {
            named.insert(place, Reference { target, weight, title });
        }
    }
    let mut named: Vec<Reference> = named.into_values().collect();
    named.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    Ok(named)
}

/// The passage's text in stretches of whole sentences, each short enough to be one question.
fn windows(passage: &Passage) -> Vec<String> {
    let content = passage.stored.indexed.chunk.content.as_str();
    let mut windows = Vec::new();
    let (mut window, mut words) = (String::new(), 0);
    for part in passage.parts() {
        let Part::Sentence(sentence) = part else { continue };
        if words > 0 && words + sentence.words.sequence.len() > WINDOW_WORDS {
            windows.push(std::mem::take(&mut window));
            words = 0;
        }
        window.push_str(content.get(sentence.bytes.clone()).unwrap_or_default());
        words += sentence.words.sequence.len();
    }
    windows.push(window);
    windows.truncate(WINDOWS);
    windows
}
