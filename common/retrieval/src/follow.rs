//! What a dependent step does: it follows the names that its parents' evidence holds, and what those name in turn.
//!
//! A question that needs two documents usually names one of them; the other is named by the first, or names it. So for
//! each of the strongest passages three things are looked for:
//!
//! - passages whose *title* it spells out (see [`crate::references`]);
//! - passages that hold a *name* it holds and the query does not, its own title first, as far as they say what it leaves
//!   open of the query.
//!
//! What leads where is in the trace. Nothing found by following can push out what the query finds as it is: it is added
//! to the ranking with a share of the strength of what led to it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quarry_index::{Channel, Filter};
use serde_json::{Value, json};

use crate::corpus::ChunkKey;
use crate::discovery::Scored;
use crate::error::RetrievalError;
use crate::passage::{Passage, Title};
use crate::plan::names;
use crate::query::Weighed;
use crate::ranking::Matcher;
use crate::references::{self, FULL_WEIGHT};
use crate::snapshot::Reader;

/// Passages whose names are followed first.
const FROM: usize = 5;
/// Passages found by that, whose names are followed once more.
const ONWARD: usize = 3;
/// What is found counts this share of the strength of what led to it: as for the titles that hits name in classic mode.
const SHARE: f32 = 0.5;
/// Names of one passage that are looked at, and those followed: the rarest.
const NAMES_SEEN: usize = 24;
const NAMES: usize = 8;
/// Passages looked at for one name.
const HOLDERS: usize = 8;
/// Largest part of a passage that is searched for names, in bytes.
const TEXT_BYTES: usize = 4_000;

/// What following brought.
#[derive(Debug, Default)]
pub struct Followed {
    /// Passages with what they gain, in relation to the strengths given; best first.
    pub gains: Vec<(Arc<Passage>, f32)>,
    /// What led where.
    pub said: Vec<Value>,
}

/// Follows names for a query; `parents` are best first, their scores strengths from 0 to 1.
pub async fn follow(parents: &[Scored], query: &Weighed, reader: &Reader, filter: &Filter) -> Result<Followed, RetrievalError> {
    let mut search = Search { matcher: Matcher::new(query), query, reader, filter, gains: BTreeMap::new(), said: BTreeMap::new() };
    let first: Vec<Scored> = parents.iter().filter(|parent| parent.score > 0.0).take(FROM).cloned().collect();
    for from in &first {
        search.from(from).await?;
    }
    let known: BTreeSet<ChunkKey> = first.iter().map(|from| from.passage.key()).collect();
    let own = |key: &ChunkKey| parents.iter().find(|parent| parent.passage.key() == *key).map_or(0.0, |parent| parent.score);
    let mut onward: Vec<Scored> = search
        .gains
        .iter()
        .filter(|(key, _)| !known.contains(*key))
        .map(|(key, (passage, gain))| Scored { passage: passage.clone(), score: gain + own(key) })
        .collect();
    sort(&mut onward);
    for from in onward.iter().take(ONWARD) {
        search.from(from).await?;
    }
    let said = search.said.into_values().collect();
    let mut gains: Vec<(Arc<Passage>, f32)> = search.gains.into_values().collect();
    gains.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.key().cmp(&b.0.key())));
    Ok(Followed { gains, said })
}

fn sort(scored: &mut [Scored]) {
    scored.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.passage.key().cmp(&b.passage.key())));
}

struct Search<'a> {
    matcher: Matcher<'a>,
    query: &'a Weighed,
    reader: &'a Reader,
    filter: &'a Filter,
    gains: BTreeMap<ChunkKey, (Arc<Passage>, f32)>,
    said: BTreeMap<ChunkKey, Value>,
}

impl Search<'_> {
    async fn from(&mut self, from: &Scored) -> Result<(), RetrievalError> {
        self.matcher.learn(from.passage.lang());
        for reference in references::named_by(&from.passage, self.reader, self.filter).await? {
            let gain = SHARE * from.score * reference.weight;
            self.take(&reference.target, gain, "title", &reference.title, from);
        }
        for (name, title) in self.new_names(&from.passage).await? {
            self.holders(&name, &title, from).await?;
        }
        Ok(())
    }

    /// Names in a passage that the query does not hold, with how telling each is; its own title is one of them.
    async fn new_names(&self, passage: &Passage) -> Result<Vec<((String, f32), Title)>, RetrievalError> {
        let lang = passage.lang();
        let asked = self.query.roots(lang);
        let content = passage.stored.indexed.chunk.content.as_str();
        let content = &content[..content.floor_char_boundary(TEXT_BYTES)];
        let own = std::iter::once(passage.stored.indexed.section.title.as_str());
        let texts = own.chain(names(content, lang).into_iter().filter_map(|range| content.get(range)));
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for text in texts {
            let title = Title::new(text, lang);
            let new = title.words.iter().any(|word| !asked.contains_key(word));
            if new && seen.insert(title.words.clone()) && found.len() < NAMES_SEEN {
                found.push(title);
            }
        }
        let mut telling = Vec::with_capacity(found.len());
        for title in found {
            let weight = Weighed::new(&title.surface, self.reader.corpus()).await?.total;
            telling.push(((title.surface.clone(), (weight / FULL_WEIGHT).min(1.0)), title));
        }
        telling.sort_by(|a, b| b.0.1.total_cmp(&a.0.1).then_with(|| a.0.0.cmp(&b.0.0)));
        telling.truncate(NAMES);
        Ok(telling)
    }

    /// Passages that hold a name, as far as they say what `from` leaves open.
    async fn holders(&mut self, name: &(String, f32), title: &Title, from: &Scored) -> Result<(), RetrievalError> {
        let hits = self.reader.corpus().search(&[Channel::Content], &name.0, self.filter, HOLDERS).await?;
        for holder in self.reader.passages_of(&hits.into_iter().flatten().collect::<Vec<_>>()).await? {
            if holder.key() == from.passage.key() || !holder.mentions(title) {
                continue;
            }
            self.matcher.learn(holder.lang());
            let gain = SHARE * from.score * name.1 * self.matcher.carried_of_open(&holder, &from.passage);
            self.take(&holder, gain, "name", &name.0, from);
        }
        Ok(())
    }

    fn take(&mut self, passage: &Arc<Passage>, gain: f32, by: &str, name: &str, from: &Scored) {
        let key = passage.key();
        if gain <= 0.0 || self.gains.get(&key).is_some_and(|(_, other)| *other >= gain) {
            return;
        }
        let said = json!({
            by: name, "in": from.passage.stored.file_name, "to": passage.stored.file_name, "document_id": key.0, "ordinal": key.1,
            "gain": (f64::from(gain) * 1e3).round() / 1e3,
        });
        self.said.insert(key.clone(), said);
        self.gains.insert(key, (passage.clone(), gain));
    }
}
