//! The three channels over the splits of one snapshot.

use quarry_language::Query;

use crate::error::IndexError;
use crate::exact::containing;
use crate::open::{CONTENT, PATH};
use crate::rank::{Corpus, Ranking, Scores, Weights, score};
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
const WHOLE_QUERY: f32 = 1_000.0;

/// Scores of every chunk. When some bytes were not here yet they are noted as missing, and the scores are worthless.
///
/// Asked `alone`, the path channel holds only chunks whose path matches. Asked beside others it ranks every chunk that
/// matches at all, path before content: fusion by ranks would otherwise lift each chance match in a heading over all
/// chunks without one.
pub(crate) fn scores(
    views: &[View],
    corpus: &Corpus,
    channel: Channel,
    alone: bool,
    query: &Query,
    ranking: &Ranking,
) -> Result<Vec<Scores>, IndexError> {
    let languages = stem_languages(corpus, query.lang);
    match channel {
        Channel::Path => {
            let weights = Weights { fields: by_field(ranking.path_content, 1.0), needs: alone.then_some(PATH) };
            score(views, corpus, &weights, &query.concepts, &languages, ranking)
        }
        Channel::Content => {
            let weights = Weights { fields: by_field(1.0, ranking.content_path), needs: Some(CONTENT) };
            score(views, corpus, &weights, &query.concepts, &languages, ranking)
        }
        Channel::Term => term(views, corpus, query, ranking),
    }
}

/// Whose stems to ask: the query's language when the corpus has it, else what the corpus mostly is.
pub(crate) fn stem_languages<'a>(corpus: &'a Corpus, lang: &'a str) -> Vec<&'a str> {
    if corpus.languages.iter().any(|known| known == lang) {
        return vec![lang];
    }
    corpus.languages.iter().take(6).map(String::as_str).collect()
}

fn by_field(content: f32, path: f32) -> [f32; 2] {
    let mut fields = [0.0; 2];
    fields[CONTENT] = content;
    fields[PATH] = path;
    fields
}

/// Every unit found counts with its rarity, more where it stands often in little text; a chunk that holds the whole
/// query comes before all others.
fn term(views: &[View], corpus: &Corpus, query: &Query, ranking: &Ranking) -> Result<Vec<Scores>, IndexError> {
    let mut scores: Vec<Scores> = views.iter().map(|view| vec![0.0; view.segment.chunks() as usize]).collect();
    let lengths = corpus.lengths(CONTENT, ranking.term_b);
    for unit in &query.units {
        let found: Vec<Vec<(u32, u32)>> = views.iter().map(|view| containing(view, unit)).collect::<Result<_, _>>()?;
        let live = found.iter().zip(views).map(|(found, view)| found.iter().filter(|(doc, _)| view.is_alive(*doc)).count()).sum::<usize>();
        let idf = corpus.idf(live as u64) * (ranking.k1 + 1.0);
        for ((found, view), scores) in found.into_iter().zip(views).zip(&mut scores) {
            let norms = &view.segment.words(CONTENT).norms;
            for (doc, times) in found {
                let tf = times as f32 / lengths[usize::from(norms.fieldnorm_id(doc))];
                scores[doc as usize] += idf * tf / (tf + ranking.k1);
            }
        }
    }
    for (view, scores) in views.iter().zip(&mut scores) {
        for (doc, _) in containing(view, &query.surface)? {
            scores[doc as usize] += WHOLE_QUERY;
        }
    }
    Ok(scores)
}

/// Scores closer than this are equal: sums of floating-point numbers differ by less.
const RESOLUTION: f32 = 1e4;

/// The best `limit` of the chunks that the masks let through.
pub(crate) fn best(views: &[View], scores: &[Scores], masks: &[Option<Vec<bool>>], limit: usize) -> Vec<Hit> {
    let mut hits: Vec<(i64, Hit)> = Vec::new();
    for ((view, scores), mask) in views.iter().zip(scores).zip(masks) {
        let taken = |doc: usize| mask.as_ref().is_none_or(|mask| mask[doc]);
        let mut found: Vec<(i64, u32)> = scores
            .iter()
            .enumerate()
            .filter(|(doc, score)| **score > 0.0 && taken(*doc))
            .map(|(doc, score)| (-rounded(*score), doc as u32))
            .collect();
        // Within a split the order of chunks is the order of (document, ordinal).
        if found.len() > limit {
            found.select_nth_unstable(limit - 1);
            found.truncate(limit);
        }
        hits.extend(found.into_iter().filter_map(|(key, doc)| Some((key, hit(view, doc, scores[doc as usize])?))));
    }
    hits.sort_by(|(a, x), (b, y)| a.cmp(b).then_with(|| x.document_id.cmp(&y.document_id)).then(x.ordinal.cmp(&y.ordinal)));
    hits.truncate(limit);
    hits.into_iter().map(|(_, hit)| hit).collect()
}

fn rounded(score: f32) -> i64 {
    (score * RESOLUTION).round() as i64
}

/// A chunk as a hit.
pub(crate) fn hit(view: &View, doc: u32, score: f32) -> Option<Hit> {
    let document = view.document(doc)?;
    Some(Hit { document_id: document.document_id.clone(), revision: document.revision.clone(), ordinal: view.segment.ordinal(doc), score })
}
