//! The three channels over the splits of one snapshot.

use std::sync::Arc;

use quarry_language::Query;

use crate::error::IndexError;
use crate::exact;
use crate::impact::{Best, Part, Scores, add_up};
use crate::learned::Lists;
use crate::lists::Source;
use crate::open::{CONTENT, PATH};
use crate::rank::Corpus;
use crate::snapshot::Hit;
use crate::view::View;

/// What a query is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Channel {
    /// File name, section path, title.
    Path,
    /// Content and section summary.
    Content,
    /// Exact, case-folded pieces of content and path.
    Term,
}

/// More than any number of matching units adds up to.
pub(crate) const WHOLE_QUERY: f32 = 1_000.0;

/// Chunks of one split with the whole query, and what that is worth.
type Whole = (Vec<u32>, Scores);

/// What a query found in all splits, before anything is added up.
struct Found {
    concepts: Vec<Arc<Lists>>,
    units: Vec<Arc<Lists>>,
    /// By split.
    whole: Vec<Whole>,
}

/// The best `limit` chunks that the masks let through, for each channel. `None` when bytes are not here yet: they are then
/// noted as missing.
///
/// Asked alone, the path channel holds only chunks whose path matches. Asked beside others it ranks every chunk that
/// matches at all, path before content: fusion by ranks would otherwise lift each chance match in a heading over all
/// chunks without one.
pub(crate) fn search(
    source: &Source<'_>,
    channels: &[Channel],
    query: &Query,
    masks: &[Option<Vec<bool>>],
    limit: usize,
) -> Result<Option<Vec<Vec<Hit>>>, IndexError> {
    let Some(found) = find(source, channels, query)? else { return Ok(None) };
    let of_channel = |&channel: &Channel| {
        let mut hits: Vec<(i64, Hit)> = Vec::new();
        let mut floor = i64::MIN;
        for (at, (view, mask)) in source.views.iter().zip(masks).enumerate() {
            let mut best = Best::new(limit, floor);
            add_up(&found.parts(channel, channels.len() == 1, at), view.segment.chunks(), mask.as_deref(), &mut best);
            let (best, reached) = best.finish();
            floor = reached;
            hits.extend(best.into_iter().filter_map(|(key, doc, score)| Some((-key, hit(view, doc, score)?))));
        }
        hits.sort_by(|(a, x), (b, y)| a.cmp(b).then_with(|| x.document_id.cmp(&y.document_id)).then(x.ordinal.cmp(&y.ordinal)));
        hits.truncate(limit);
        hits.into_iter().map(|(_, hit)| hit).collect()
    };
    Ok(Some(channels.iter().map(of_channel).collect()))
}

/// Everything the channels need. What is missing is noted for all of it, so that it comes in few rounds.
fn find(source: &Source<'_>, channels: &[Channel], query: &Query) -> Result<Option<Found>, IndexError> {
    let mut found = Found { concepts: Vec::new(), units: Vec::new(), whole: Vec::new() };
    let mut complete = true;
    if channels.iter().any(|channel| *channel != Channel::Term) {
        let languages = stem_languages(source.corpus, query.lang);
        for concept in &query.concepts {
            match source.concept(concept, &languages)? {
                Some(lists) => found.concepts.push(lists),
                None => complete = false,
            }
        }
    }
    if channels.contains(&Channel::Term) {
        for unit in &query.units {
            match source.piece(unit)? {
                Some(lists) => found.units.push(lists),
                None => complete = false,
            }
        }
        let units = (found.units.len() == query.units.len()).then_some(found.units.as_slice());
        match whole(source, query, units)? {
            Some(whole) => found.whole = whole,
            None => complete = false,
        }
    }
    Ok(complete.then_some(found))
}

/// Chunks that hold the whole query, by split; `units` are the lists of its units when they are all here.
fn whole(source: &Source<'_>, query: &Query, units: Option<&[Arc<Lists>]>) -> Result<Option<Vec<Whole>>, IndexError> {
    let mut out = Vec::with_capacity(source.views.len());
    if !query.surface.contains(' ') {
        let Some(lists) = source.piece(&query.surface)? else { return Ok(None) };
        out.extend(lists.lists.iter().map(|list| list.docs.clone()));
    } else if let Some(units) = units {
        for (at, view) in source.views.iter().enumerate() {
            // What holds the whole holds every part of it.
            let parts = query.units.iter().zip(units).filter(|(unit, _)| query.surface.contains(unit.as_str()));
            let mut parts: Vec<&[u32]> = parts.map(|(_, lists)| lists.lists[at].docs.as_slice()).collect();
            parts.sort_by_key(|docs| docs.len());
            let Some(docs) = exact::sequences(view, &query.surface, &parts)? else { return Ok(None) };
            out.push(docs);
        }
    } else {
        return Ok(None);
    }
    let with_scores = |(docs, view): (Vec<u32>, &View)| {
        let scores = Scores::new(&docs, vec![WHOLE_QUERY; docs.len()], view.segment.chunks());
        (docs, scores)
    };
    Ok(Some(out.into_iter().zip(source.views).map(with_scores).collect()))
}

impl Found {
    /// What is added up in one split for one channel.
    fn parts(&self, channel: Channel, alone: bool, at: usize) -> Vec<Part<'_>> {
        let concepts = || self.concepts.iter().map(move |lists| &lists.lists[at]);
        match channel {
            Channel::Content => concepts()
                .map(|list| Part { docs: &list.docs, scores: &list.content, opens: Some(list.within[CONTENT].as_slice()) })
                .collect(),
            Channel::Path => concepts()
                .map(|list| Part { docs: &list.docs, scores: &list.path, opens: alone.then_some(list.within[PATH].as_slice()) })
                .collect(),
            Channel::Term => {
                let units = self.units.iter().map(|lists| &lists.lists[at]);
                let units = units.map(|list| Part { docs: &list.docs, scores: &list.term, opens: None });
                let whole = self.whole.get(at).map(|(docs, scores)| Part { docs, scores, opens: None });
                units.chain(whole).collect()
            }
        }
    }
}

/// Whose stems to ask: the query's language when the corpus has it, else what the corpus mostly is.
pub(crate) fn stem_languages<'a>(corpus: &'a Corpus, lang: &'a str) -> Vec<&'a str> {
    if corpus.languages.iter().any(|known| known == lang) {
        return vec![lang];
    }
    corpus.languages.iter().take(6).map(String::as_str).collect()
}

/// A chunk as a hit.
pub(crate) fn hit(view: &View, doc: u32, score: f32) -> Option<Hit> {
    let document = view.document(doc)?;
    Some(Hit { document_id: document.document_id.clone(), revision: document.revision.clone(), ordinal: view.segment.ordinal(doc), score })
}
