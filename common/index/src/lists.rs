//! Lists of concepts and exact pieces, made from the postings of every split with the statistics of all of them.

use std::sync::Arc;

use quarry_language::Concept;
use quarry_language::query::ConceptKind;

use crate::error::IndexError;
use crate::exact;
use crate::gather::{Gathered, Wanted, gather};
use crate::impact::Scores;
use crate::learned::{Learned, List, Lists, Thing};
use crate::open::{CONTENT, PATH};
use crate::rank::{Corpus, Ranking, forms};
use crate::view::View;

/// The splits of a snapshot with what ranks them.
pub(crate) struct Source<'a> {
    /// The splits.
    pub(crate) views: &'a [View],
    /// Their statistics.
    pub(crate) corpus: &'a Corpus,
    /// Weights.
    pub(crate) ranking: &'a Ranking,
    /// Where lists are kept, and under which number.
    pub(crate) learned: (&'a Learned, u64),
}

impl Source<'_> {
    /// The lists of a concept. `None` when bytes are not here yet; they are then noted as missing.
    pub(crate) fn concept(&self, concept: &Concept, languages: &[&str]) -> Result<Option<Arc<Lists>>, IndexError> {
        let thing = Thing::Concept(concept.clone(), languages.join(" "));
        self.kept_or(thing, || {
            let forms = [CONTENT, PATH].map(|field| forms(self.views, field, concept, languages, self.ranking));
            let gathered = self.gather_all(|view| {
                let mut words = Vec::new();
                for field in [CONTENT, PATH] {
                    let vocabulary = &view.segment.words(field).vocabulary;
                    let known = forms[field].iter().filter_map(|(form, &weight)| Some((vocabulary.find(form)?, weight)));
                    words.extend(known.map(|(ordinal, weight)| Wanted { field, ordinal, weight, slot: field }));
                }
                gather(&view.segment, &words, Vec::new())
            })?;
            let Some(gathered) = gathered else { return Ok(None) };
            let documents = self.live(&gathered);
            let weight = if concept.kind == ConceptKind::Pair { self.ranking.pair } else { 1.0 };
            let idf = self.corpus.idf(documents) * weight * (self.ranking.k1 + 1.0);
            let lists = self.views.iter().zip(gathered).map(|(view, gathered)| self.concept_list(view, gathered, idf)).collect();
            Ok(Some(Lists { documents, lists }))
        })
    }

    fn concept_list(&self, view: &View, gathered: Gathered, idf: f32) -> List {
        let Gathered { docs, sums } = gathered;
        let ranking = self.ranking;
        let lengths = [self.corpus.lengths(CONTENT, ranking.b), self.corpus.lengths(PATH, ranking.path_b)];
        let norms = [CONTENT, PATH].map(|field| &view.segment.words(field).norms);
        let scores = |weights: [f32; 2]| -> Scores {
            let values = docs.iter().zip(&sums).map(|(&doc, sums)| {
                let mut tf = 0.0;
                for field in [CONTENT, PATH] {
                    if sums[field] > 0.0 {
                        tf += weights[field] * sums[field] / lengths[field][usize::from(norms[field].fieldnorm_id(doc))];
                    }
                }
                idf * tf / (tf + ranking.k1)
            });
            Scores::new(&docs, values.collect(), view.segment.chunks())
        };
        let (content, path) = (scores(weights(1.0, ranking.content_path)), scores(weights(ranking.path_content, 1.0)));
        let within = [CONTENT, PATH].map(|field| sums.iter().map(|sums| sums[field] > 0.0).collect());
        List { docs, content, path, term: Scores::default(), within }
    }

    /// The lists of an exact piece without white space; as [`Self::concept`].
    pub(crate) fn piece(&self, piece: &str) -> Result<Option<Arc<Lists>>, IndexError> {
        self.kept_or(Thing::Piece(piece.to_owned()), || {
            let gathered = self.gather_all(|view| {
                let mut words = Vec::new();
                for field in [CONTENT, PATH] {
                    let ordinals = view.segment.words(field).vocabulary.containing(piece);
                    words.extend(ordinals.into_iter().map(|ordinal| Wanted { field, ordinal, weight: 1.0, slot: 0 }));
                }
                let pairs = exact::across_pairs(view, piece)?;
                let gathered = gather(&view.segment, &words, pairs.clone().unwrap_or_default())?;
                Ok(gathered.filter(|_| pairs.is_some()))
            })?;
            let Some(gathered) = gathered else { return Ok(None) };
            let documents = self.live(&gathered);
            let k1 = self.ranking.k1;
            let idf = self.corpus.idf(documents) * (k1 + 1.0);
            let lengths = self.corpus.lengths(CONTENT, self.ranking.term_b);
            let list = |(view, Gathered { docs, sums }): (&View, Gathered)| {
                let norms = &view.segment.words(CONTENT).norms;
                let values = docs.iter().zip(sums).map(|(&doc, [times, _])| {
                    let tf = times / lengths[usize::from(norms.fieldnorm_id(doc))];
                    idf * tf / (tf + k1)
                });
                let term = Scores::new(&docs, values.collect(), view.segment.chunks());
                List { docs, term, ..List::default() }
            };
            Ok(Some(Lists { documents, lists: self.views.iter().zip(gathered).map(list).collect() }))
        })
    }

    /// Every split asked, so that all that is missing is noted at once.
    fn gather_all(&self, ask: impl Fn(&View) -> Result<Option<Gathered>, IndexError>) -> Result<Option<Vec<Gathered>>, IndexError> {
        let gathered: Vec<Option<Gathered>> = self.views.iter().map(ask).collect::<Result<_, _>>()?;
        Ok(gathered.into_iter().collect())
    }

    fn kept_or(&self, thing: Thing, make: impl FnOnce() -> Result<Option<Lists>, IndexError>) -> Result<Option<Arc<Lists>>, IndexError> {
        let (learned, number) = self.learned;
        if let Some(lists) = learned.get(number, &thing) {
            return Ok(Some(lists));
        }
        let lists = make()?.map(Arc::new);
        if let Some(lists) = &lists {
            learned.put(number, thing, lists);
        }
        Ok(lists)
    }

    fn live(&self, gathered: &[Gathered]) -> u64 {
        let of_view = |(view, gathered): (&View, &Gathered)| {
            if view.all_alive() { gathered.docs.len() } else { gathered.docs.iter().filter(|&&doc| view.is_alive(doc)).count() }
        };
        self.views.iter().zip(gathered).map(of_view).sum::<usize>() as u64
    }
}

fn weights(content: f32, path: f32) -> [f32; 2] {
    let mut weights = [0.0; 2];
    weights[CONTENT] = content;
    weights[PATH] = path;
    weights
}
