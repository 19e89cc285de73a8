//! The ranking as it is defined, chunk by chunk and list by list: what the fast one is compared with.

use proptest::prelude::*;
use quarry_language::query::ConceptKind;
use quarry_language::{Concept, Query};
use tantivy::postings::Postings as _;
use tantivy::{DocSet as _, TERMINATED};

use crate::channel::{Channel, WHOLE_QUERY, hit, stem_languages};
use crate::error::IndexError;
use crate::exact;
use crate::filter::Filter;
use crate::open::{CONTENT, PATH};
use crate::rank::{Corpus, Forms, Ranking, forms};
use crate::snapshot::{Hit, Snapshot};
use crate::view::View;

/// Scores of one split's chunks; 0 where nothing matched.
type Scores = Vec<f32>;

/// How much a channel makes of each field, and the field that has to match at all.
struct Weights {
    /// By field.
    fields: [f32; 2],
    /// Chunks without a word in this field are left out.
    needs: Option<usize>,
}

/// Scores of every chunk.
fn scores(
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

fn by_field(content: f32, path: f32) -> [f32; 2] {
    let mut fields = [0.0; 2];
    fields[CONTENT] = content;
    fields[PATH] = path;
    fields
}

fn score(
    views: &[View],
    corpus: &Corpus,
    weights: &Weights,
    concepts: &[Concept],
    languages: &[&str],
    ranking: &Ranking,
) -> Result<Vec<Scores>, IndexError> {
    let mut scores: Vec<Scores> = views.iter().map(|view| vec![0.0; view.segment.chunks() as usize]).collect();
    let mut matched: Vec<Vec<bool>> = match weights.needs {
        Some(_) => views.iter().map(|view| vec![false; view.segment.chunks() as usize]).collect(),
        None => Vec::new(),
    };
    let lengths = [corpus.lengths(CONTENT, ranking.b), corpus.lengths(PATH, ranking.path_b)];
    for concept in concepts {
        let mut found: Vec<Vec<(u32, f32)>> = vec![Vec::new(); views.len()];
        for field in [CONTENT, PATH].into_iter().filter(|&field| weights.fields[field] > 0.0) {
            let forms = forms(views, field, concept, languages, ranking);
            for (at, view) in views.iter().enumerate() {
                let norms = &view.segment.words(field).norms;
                let in_field = frequencies(view, field, &forms)?;
                if weights.needs == Some(field) {
                    in_field.iter().for_each(|(doc, _)| matched[at][*doc as usize] = true);
                }
                let normal = |(doc, tf)| (doc, weights.fields[field] * tf / lengths[field][usize::from(norms.fieldnorm_id(doc))]);
                found[at] = merge(&found[at], in_field.into_iter().map(normal));
            }
        }
        let documents: usize = found.iter().zip(views).map(|(found, view)| live(found, view)).sum();
        let weight = if concept.kind == ConceptKind::Pair { ranking.pair } else { 1.0 };
        let idf = corpus.idf(documents as u64) * weight * (ranking.k1 + 1.0);
        for (found, scores) in found.iter().zip(&mut scores) {
            for &(doc, tf) in found {
                scores[doc as usize] += idf * tf / (tf + ranking.k1);
            }
        }
    }
    for (scores, matched) in scores.iter_mut().zip(matched) {
        scores.iter_mut().zip(matched).filter(|(_, matched)| !matched).for_each(|(score, _)| *score = 0.0);
    }
    Ok(scores)
}

/// Adds the values of equal chunks of two lists sorted by chunk.
fn merge(left: &[(u32, f32)], right: impl Iterator<Item = (u32, f32)>) -> Vec<(u32, f32)> {
    if left.is_empty() {
        return right.collect();
    }
    let mut out = Vec::with_capacity(left.len());
    let mut rest = left.iter().copied().peekable();
    for (doc, value) in right {
        while let Some(before) = rest.next_if(|(other, _)| *other < doc) {
            out.push(before);
        }
        let same = rest.next_if(|(other, _)| *other == doc).map_or(0.0, |(_, value)| value);
        out.push((doc, same + value));
    }
    out.extend(rest);
    out
}

fn live(found: &[(u32, f32)], view: &View) -> usize {
    if view.all_alive() { found.len() } else { found.iter().filter(|(doc, _)| view.is_alive(*doc)).count() }
}

/// Chunks of a split that hold a form, with the weighted frequencies added up; by chunk.
fn frequencies(view: &View, field: usize, forms: &Forms) -> Result<Vec<(u32, f32)>, IndexError> {
    let vocabulary = &view.segment.words(field).vocabulary;
    let mut out: Vec<(u32, f32)> = Vec::new();
    let mut lists = 0;
    for (form, weight) in forms {
        let Some(ordinal) = vocabulary.find(form) else {
            continue;
        };
        let Some(mut postings) = view.segment.postings(field, ordinal)? else {
            continue;
        };
        lists += 1;
        let mut doc = postings.doc();
        while doc != TERMINATED {
            out.push((doc, weight * postings.term_freq() as f32));
            doc = postings.advance();
        }
    }
    if lists > 1 {
        // Stable, and forms come in one order: the sums are the same for every layout of splits.
        out.sort_by_key(|(doc, _)| *doc);
        out.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 += later.1;
            }
            same
        });
    }
    Ok(out)
}

/// Chunks whose content or path contains `piece`, each with the number of places.
fn containing(view: &View, piece: &str) -> Result<Vec<(u32, u32)>, IndexError> {
    if piece.contains(' ') {
        return Ok(exact::sequences(view, piece, &[])?.unwrap().into_iter().map(|doc| (doc, 1)).collect());
    }
    let mut found: Vec<(u32, u32)> =
        exact::across_pairs(view, piece)?.unwrap().into_iter().map(|(doc, times)| (doc, times as u32)).collect();
    for field in [CONTENT, PATH] {
        let vocabulary = &view.segment.words(field).vocabulary;
        for ordinal in (0..vocabulary.len()).filter(|&ordinal| std::str::from_utf8(vocabulary.word(ordinal)).unwrap().contains(piece)) {
            let mut postings = view.segment.postings(field, ordinal)?.unwrap();
            while postings.doc() != TERMINATED {
                found.push((postings.doc(), postings.term_freq()));
                postings.advance();
            }
        }
    }
    found.sort_unstable();
    found.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 += later.1;
        }
        same
    });
    Ok(found)
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
fn best(views: &[View], scores: &[Scores], masks: &[Option<Vec<bool>>], limit: usize) -> Vec<Hit> {
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

/// What [`Snapshot::search_channels`] has to answer.
fn search(snapshot: &Snapshot, channels: &[Channel], query: &str, filter: &Filter, limit: usize) -> Vec<Vec<Hit>> {
    let (views, corpus, ranking) = snapshot.parts();
    let languages: Vec<&str> = corpus.languages.iter().map(String::as_str).collect();
    let query = Query::new(query, &languages);
    let masks: Vec<Option<Vec<bool>>> = views.iter().map(|view| view.mask(filter)).collect();
    let alone = channels.len() == 1;
    let of_channel = |&channel: &Channel| best(views, &scores(views, corpus, channel, alone, &query, ranking).unwrap(), &masks, limit);
    channels.iter().map(of_channel).collect()
}

mod tests {
    use std::sync::Arc;

    use quarry_model::record::IndexManifest;
    use quarry_model::{ChunkType, DocumentId};

    use super::*;
    use crate::support::{CountingObjects, chunk_in, document_id, revision, scope};
    use crate::{IndexedDocument, SplitCache, build_split};

    const WORDS: [&str; 16] = [
        "valve", "valves", "pump", "pumping", "seal", "sealed", "wi-fi", "wifi", "Café", "cafe", "水泵", "P-12/b", "signal", "ring", "5%",
        "torque",
    ];

    /// Some documents, their chunks words by number, in some splits; some withdrawn.
    #[derive(Debug, Clone)]
    struct Case {
        documents: Vec<(usize, Vec<Vec<usize>>)>,
        splits: usize,
        dead: Vec<usize>,
        queries: Vec<Vec<usize>>,
        limit: usize,
        without: Option<usize>,
    }

    /// A word by a number: low numbers come often.
    fn word() -> impl Strategy<Value = usize> {
        (0..WORDS.len(), 0..WORDS.len()).prop_map(|(a, b)| a.min(b))
    }

    fn cases() -> impl Strategy<Value = Case> {
        let chunks = prop::collection::vec(prop::collection::vec(word(), 1..12), 1..60);
        let documents = prop::collection::vec((word(), chunks), 1..14);
        let queries = prop::collection::vec(prop::collection::vec(word(), 1..4), 1..6);
        let rest = (1_usize..4, prop::collection::vec(0_usize..14, 0..3), queries, 1_usize..30, prop::option::of(0_usize..14));
        (documents, rest).prop_map(|(documents, (splits, dead, queries, limit, without))| Case {
            documents,
            splits,
            dead,
            queries,
            limit,
            without,
        })
    }

    fn text(words: &[usize]) -> String {
        words.iter().map(|&word| WORDS[word]).collect::<Vec<_>>().join(" ")
    }

    async fn open(case: &Case) -> Snapshot {
        let objects = Arc::new(CountingObjects::default());
        let mut parts: Vec<Vec<IndexedDocument>> = vec![Vec::new(); case.splits];
        for (n, (title, chunks)) in case.documents.iter().enumerate() {
            let file_name = format!("{n}.md");
            let make =
                |(at, words): (usize, &Vec<usize>)| chunk_in("en", &file_name, &[WORDS[*title]], at as u32, ChunkType::Text, &text(words));
            let chunks = chunks.iter().enumerate().map(make).collect();
            let document =
                IndexedDocument { document_id: document_id(n as u64), revision: revision(n as u64), file_name: file_name.clone(), chunks };
            parts[n * 7 % case.splits].push(document);
        }
        let dead: Vec<DocumentId> = case.dead.iter().map(|&n| document_id(n as u64)).collect();
        let mut splits = Vec::new();
        for part in parts {
            let mut built = build_split(&scope(), part).unwrap();
            built.entry.documents.iter_mut().for_each(|document| document.dead = dead.contains(&document.document_id));
            objects.set(&built.entry.key, built.bytes);
            splits.push(built.entry);
        }
        let manifest = IndexManifest { schema_version: 1, splits, retired: Vec::new() };
        Snapshot::open(objects, Arc::new(SplitCache::new(1 << 26, None)), &manifest).await.unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        /// The fast ranking is the defined one: the same chunks, the same order, the same scores.
        #[test]
        fn ranking_is_as_defined(case in cases()) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let snapshot = runtime.block_on(open(&case));
            let mut filter = Filter::default();
            filter.exclude_documents.extend(case.without.map(|n| document_id(n as u64)));
            for query in &case.queries {
                let query = text(query);
                for channels in [&[Channel::Path, Channel::Content, Channel::Term][..], &[Channel::Path], &[Channel::Content]] {
                    // Asked twice: what was learnt the first time changes nothing.
                    for _ in 0..2 {
                        let found = runtime.block_on(snapshot.search_channels(channels, &query, &filter, case.limit)).unwrap();
                        prop_assert_eq!(found, search(&snapshot, channels, &query, &filter, case.limit), "{}", query);
                    }
                }
            }
        }
    }
}
