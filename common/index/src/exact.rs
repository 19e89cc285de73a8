//! The exact ("term") channel: pieces of the surface text of content and path.
//!
//! A piece without white space lies inside one run, so inside one word of the vocabulary: scanning the vocabulary
//! finds the words, their postings the chunks. Runs stored as pairs are matched by pairs in consecutive slots. A piece
//! with spaces is a sequence of runs: the first may begin before it, the last may end after it, those between are
//! whole, and all stand in consecutive slots. Nothing has to be verified on the text: the result equals a scan.

use quarry_language::script::is_unspaced;
use quarry_language::segment::{PAIR_MARK, is_paired, pair};
use tantivy::postings::{Postings as _, SegmentPostings};
use tantivy::{DocSet as _, TERMINATED};

use crate::error::IndexError;
use crate::open::{CONTENT, PATH};
use crate::view::View;

/// One place of a run: chunk, first slot, the slot after it.
type Place = (u32, u32, u32);

/// Chunks of a split (live or not, sorted) whose content or path contains `piece`, a surface text that is not empty,
/// each with the number of places.
pub(crate) fn containing(view: &View, piece: &str) -> Result<Vec<(u32, u32)>, IndexError> {
    let mut found = Vec::new();
    for field in [CONTENT, PATH] {
        if piece.contains(' ') {
            found.extend(sequence(view, field, piece)?.into_iter().map(|doc| (doc, 1)));
        } else {
            inside(view, field, piece, &mut found)?;
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

/// Chunks with `piece` inside one run.
fn inside(view: &View, field: usize, piece: &str, found: &mut Vec<(u32, u32)>) -> Result<(), IndexError> {
    for ordinal in view.segment.words(field).vocabulary.containing(piece) {
        let Some(mut postings) = view.segment.postings(field, ordinal, false)? else {
            continue;
        };
        let mut doc = postings.doc();
        while doc != TERMINATED {
            found.push((doc, postings.term_freq()));
            doc = postings.advance();
        }
    }
    // Two characters are one pair, found above; more are pairs in a row.
    if piece.chars().nth(2).is_some() {
        found.extend(pairs(view, field, piece, false, None)?.into_iter().map(|(doc, _, _)| (doc, 1)));
    }
    Ok(())
}

/// Chunks with the runs of `piece` one after the other.
fn sequence(view: &View, field: usize, piece: &str) -> Result<Vec<u32>, IndexError> {
    let runs: Vec<&str> = piece.split(' ').collect();
    let last = runs.len() - 1;
    let vocabulary = &view.segment.words(field).vocabulary;
    // Whole runs first, the rarest first: most queries are nowhere, and this is where it shows.
    let frequency = |run: &str| vocabulary.find(run).map_or(0, |ordinal| vocabulary.info(ordinal).doc_freq);
    let mut order: Vec<usize> = (1..last).collect();
    order.sort_by_key(|&at| if is_paired(runs[at]) { u32::MAX } else { frequency(runs[at]) });
    order.extend([last, 0]);
    announce(view, field, &runs)?;
    let mut places: Vec<Vec<Place>> = vec![Vec::new(); runs.len()];
    let mut within: Option<Vec<u32>> = None;
    for at in order {
        let found = run_places(view, field, runs[at], at == 0, at == last, within.as_deref())?;
        let mut docs: Vec<u32> = found.iter().map(|place| place.0).collect();
        docs.dedup();
        places[at] = found;
        if docs.is_empty() {
            return Ok(docs);
        }
        within = Some(docs);
    }
    // Each run has to begin where the one before it ends.
    let mut ends: Vec<(u32, u32)> = places[0].iter().map(|&(doc, _, end)| (doc, end)).collect();
    for next in &places[1..] {
        ends.sort_unstable();
        ends.dedup();
        ends = next.iter().filter(|(doc, start, _)| ends.binary_search(&(*doc, *start)).is_ok()).map(|&(doc, _, end)| (doc, end)).collect();
    }
    let mut docs: Vec<u32> = ends.into_iter().map(|(doc, _)| doc).collect();
    docs.sort_unstable();
    docs.dedup();
    Ok(docs)
}

/// Notes the postings of all runs as wanted, so that they come in one round instead of one after the other. Words that
/// stand nearly everywhere are left: the others mostly decide without them.
fn announce(view: &View, field: usize, runs: &[&str]) -> Result<(), IndexError> {
    if view.segment.is_whole() {
        return Ok(());
    }
    let vocabulary = &view.segment.words(field).vocabulary;
    let most = (view.segment.chunks() / 16).max(1_000);
    let last = runs.len() - 1;
    for (at, run) in runs.iter().enumerate() {
        let words = plain_words(view, field, run, at == 0, at == last);
        if words.iter().map(|&ordinal| vocabulary.info(ordinal).doc_freq).sum::<u32>() <= most {
            for ordinal in words {
                view.segment.postings(field, ordinal, true)?;
            }
        }
    }
    Ok(())
}

/// Words of the vocabulary that can be this run where runs are not stored as pairs.
fn plain_words(view: &View, field: usize, run: &str, open_start: bool, open_end: bool) -> Vec<u32> {
    if run.chars().any(is_unspaced) || (is_paired(run) && !open_start && !open_end) {
        return Vec::new();
    }
    let vocabulary = &view.segment.words(field).vocabulary;
    let mut words: Vec<u32> = match (open_start, open_end) {
        (true, _) => vocabulary.with_suffix(run),
        (_, true) => vocabulary.with_prefix(run).collect(),
        _ => vocabulary.find(run).into_iter().collect(),
    };
    words.retain(|&ordinal| {
        let word = std::str::from_utf8(vocabulary.word(ordinal));
        word.is_ok_and(|word| !word.starts_with(PAIR_MARK) && !is_paired(word))
    });
    words
}

/// Places of a run, sorted by chunk. With `open_start` it may begin, with `open_end` it may end inside a longer run.
fn run_places(
    view: &View,
    field: usize,
    run: &str,
    open_start: bool,
    open_end: bool,
    within: Option<&[u32]>,
) -> Result<Vec<Place>, IndexError> {
    let mut places = Vec::new();
    for ordinal in plain_words(view, field, run, open_start, open_end) {
        for (doc, slot) in slots(view, field, ordinal, within)? {
            places.push((doc, slot, slot + 1));
        }
    }
    if open_start || open_end || is_paired(run) {
        places.extend(pairs(view, field, run, !open_end, within)?);
    }
    places.sort_unstable();
    Ok(places)
}

/// Places of a run among runs stored as pairs. With `closed` the run has to end there.
fn pairs(view: &View, field: usize, run: &str, closed: bool, within: Option<&[u32]>) -> Result<Vec<Place>, IndexError> {
    let vocabulary = &view.segment.words(field).vocabulary;
    let chars: Vec<char> = run.chars().collect();
    let mut wanted: Vec<Vec<u32>> = Vec::new();
    for (at, &first) in chars.iter().enumerate() {
        let second = chars.get(at + 1).copied();
        if second.is_none() && !closed && at > 0 {
            break;
        }
        if second.is_none() && !closed {
            // A single character, with anything after it.
            let prefixes = [first.to_string(), format!("{PAIR_MARK}{first}")];
            let of_two = |ordinal: &u32| {
                let word = std::str::from_utf8(vocabulary.word(*ordinal)).unwrap_or_default();
                let bare = word.strip_prefix(PAIR_MARK).unwrap_or(word);
                bare.chars().count() == 2 && (word.len() > bare.len() || is_paired(word))
            };
            wanted.push(prefixes.iter().flat_map(|prefix| vocabulary.with_prefix(prefix)).filter(of_two).collect());
            continue;
        }
        match vocabulary.find(&pair(first, second)) {
            Some(ordinal) => wanted.push(vec![ordinal]),
            None => return Ok(Vec::new()),
        }
    }
    // Rarest first, so that later lists are looked at in few chunks only.
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|&at| wanted[at].iter().map(|&ordinal| u64::from(vocabulary.info(ordinal).doc_freq)).sum::<u64>());
    let mut starts: Option<Vec<(u32, u32)>> = None;
    for at in order {
        let mut docs: Option<Vec<u32>> = starts.as_ref().map(|starts| starts.iter().map(|place| place.0).collect());
        if let Some(docs) = &mut docs {
            docs.dedup();
        }
        let mut found: Vec<(u32, u32)> = Vec::new();
        for &ordinal in &wanted[at] {
            let places = slots(view, field, ordinal, docs.as_deref().or(within))?;
            found.extend(places.into_iter().filter_map(|(doc, slot)| Some((doc, slot.checked_sub(at as u32)?))));
        }
        found.sort_unstable();
        found.dedup();
        if let Some(starts) = &starts {
            found.retain(|place| starts.binary_search(place).is_ok());
        }
        if found.is_empty() {
            return Ok(Vec::new());
        }
        starts = Some(found);
    }
    let length = chars.len() as u32;
    Ok(starts.unwrap_or_default().into_iter().map(|(doc, start)| (doc, start, start + length)).collect())
}

/// Where a word stands as a whole: chunk and slot, for all chunks or those of `within` (sorted).
fn slots(view: &View, field: usize, ordinal: u32, within: Option<&[u32]>) -> Result<Vec<(u32, u32)>, IndexError> {
    let Some(mut postings) = view.segment.postings(field, ordinal, true)? else {
        return Ok(Vec::new());
    };
    let mut out = Vec::new();
    let mut positions = Vec::new();
    let mut take = |postings: &mut SegmentPostings| {
        let doc = postings.doc();
        postings.positions(&mut positions);
        out.extend(positions.iter().filter(|position| *position % 2 == 0).map(|position| (doc, position / 2)));
    };
    match within {
        None => {
            while postings.doc() != TERMINATED {
                take(&mut postings);
                postings.advance();
            }
        }
        Some(docs) => {
            for &doc in docs {
                if postings.doc() > doc {
                    continue;
                }
                match postings.seek(doc) {
                    TERMINATED => break,
                    found if found == doc => take(&mut postings),
                    _ => {}
                }
            }
        }
    }
    Ok(out)
}
