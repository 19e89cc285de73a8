//! What a snapshot has learnt from questions: lists for words that were asked for, ready to be added up.
//!
//! A list depends on the statistics of its snapshot, so it is kept under the snapshot's number, and goes with it.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use quarry_language::Concept;

use crate::impact::Scores;

/// More lists than are ever of use; the limit that counts is in bytes.
const LISTS_MAX: NonZeroUsize = NonZeroUsize::new(16_384).expect("not zero");

/// What a list is of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Thing {
    /// A word in all its forms in these languages.
    Concept(Concept, String),
    /// An exact piece without white space.
    Piece(String),
}

/// A thing in every split of a snapshot.
#[derive(Debug)]
pub(crate) struct Lists {
    /// Live chunks that hold it.
    pub(crate) documents: u64,
    /// One for each split.
    pub(crate) lists: Vec<List>,
}

/// A thing in one split. Which scores there are depends on the kind of thing.
#[derive(Debug, Default)]
pub(crate) struct List {
    /// Chunks that hold it, live or not, sorted.
    pub(crate) docs: Vec<u32>,
    /// What it adds in the content channel.
    pub(crate) content: Scores,
    /// What it adds in the path channel.
    pub(crate) path: Scores,
    /// What it adds in the exact channel.
    pub(crate) term: Scores,
    /// Which chunks hold it in each field.
    pub(crate) within: [Vec<bool>; 2],
}

impl Lists {
    fn weight(&self) -> usize {
        let of_list = |list: &List| {
            4 * list.docs.len()
                + [&list.content, &list.path, &list.term].map(Scores::weight).iter().sum::<usize>()
                + list.within.iter().map(Vec::len).sum::<usize>()
        };
        256 + self.lists.iter().map(of_list).sum::<usize>()
    }
}

/// By snapshot and thing.
type Kept = LruCache<(u64, Thing), Arc<Lists>>;

/// Lists of all snapshots; those used longest ago go first.
pub(crate) struct Learned {
    max_bytes: usize,
    /// The lists, and what they weigh together.
    kept: Mutex<(Kept, usize)>,
}

impl Learned {
    /// Keeps at most `max_bytes`.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, kept: Mutex::new((LruCache::new(LISTS_MAX), 0)) }
    }

    /// A number for a snapshot that no other has.
    pub(crate) fn number() -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    /// What was learnt.
    pub(crate) fn get(&self, snapshot: u64, thing: &Thing) -> Option<Arc<Lists>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).0.get(&(snapshot, thing.clone())).cloned()
    }

    /// Keeps lists.
    pub(crate) fn put(&self, snapshot: u64, thing: Thing, lists: &Arc<Lists>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (lru, held) = &mut *kept;
        *held += lists.weight();
        if let Some((_, replaced)) = lru.push((snapshot, thing), lists.clone()) {
            *held = held.saturating_sub(replaced.weight());
        }
        while *held > self.max_bytes
            && let Some((_, oldest)) = lru.pop_lru()
        {
            *held = held.saturating_sub(oldest.weight());
        }
    }

    /// Lets go of all a snapshot has learnt.
    pub(crate) fn forget(&self, snapshot: u64) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (lru, held) = &mut *kept;
        let gone: Vec<(u64, Thing)> = lru.iter().map(|(key, _)| key).filter(|(of, _)| *of == snapshot).cloned().collect();
        for key in gone {
            if let Some(lists) = lru.pop(&key) {
                *held = held.saturating_sub(lists.weight());
            }
        }
    }
}
