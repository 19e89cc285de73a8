//! From hits to leaves: the sections they stand in, with all their chunks and embedded assets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quarry_model::ChunkType;

use crate::corpus::ChunkKey;
use crate::error::RetrievalError;
use crate::evidence::Leaf;
use crate::hydration;
use crate::passage::Passage;
use crate::snapshot::Reader;

/// Most chunks of one section that are looked at: those around its hits.
const LEAF_CHUNKS: usize = 200;

/// A hit and how well it matched, 0 to 1.
#[derive(Debug, Clone)]
pub struct Ranked {
    /// The chunk.
    pub passage: Arc<Passage>,
    /// Relative to the best.
    pub strength: f32,
}

/// The leaves of `hits`, in the order of their best hits.
pub async fn of(hits: &[Ranked], types: &BTreeSet<ChunkType>, reader: &Reader) -> Result<Vec<Leaf>, RetrievalError> {
    let mut order: Vec<(quarry_model::DocumentId, String)> = Vec::new();
    let mut found: BTreeMap<(quarry_model::DocumentId, String), BTreeMap<u32, f32>> = BTreeMap::new();
    for hit in hits {
        let stored = &hit.passage.stored;
        let place = (stored.document_id.clone(), stored.indexed.section.path.clone());
        if !found.contains_key(&place) {
            order.push(place.clone());
        }
        found.entry(place).or_default().insert(stored.indexed.chunk.ordinal, hit.strength);
    }
    let mut leaves = Vec::with_capacity(order.len());
    for place in order {
        let Some(found) = found.remove(&place) else { continue };
        let ordinals = near(reader.corpus().section(&place.0, &place.1), &found);
        let keys: Vec<ChunkKey> = ordinals.into_iter().map(|ordinal| (place.0.clone(), ordinal)).collect();
        let chunks = reader.passages(&keys).await?;
        leaves.push(leaf(chunks, found, types, reader).await?);
    }
    Ok(leaves)
}

async fn leaf(
    chunks: Vec<Arc<Passage>>,
    found: BTreeMap<u32, f32>,
    types: &BTreeSet<ChunkType>,
    reader: &Reader,
) -> Result<Leaf, RetrievalError> {
    let allowed = |passage: &Arc<Passage>| types.contains(&passage.stored.indexed.chunk.kind);
    let hosts: Vec<Arc<Passage>> =
        chunks.iter().filter(|chunk| chunk.stored.indexed.chunk.kind == ChunkType::Text && allowed(chunk)).cloned().collect();
    let embedded: Vec<ChunkKey> = hosts.iter().flat_map(|host| hydration::embedded(host)).collect();
    let assets = reader.passages(&embedded).await?.into_iter().filter(allowed).map(|asset| (asset.stored.indexed.chunk.ordinal, asset));
    let assets: BTreeMap<u32, Arc<Passage>> = assets.collect();
    let chunks = chunks.into_iter().filter(|chunk| allowed(chunk) && !assets.contains_key(&chunk.stored.indexed.chunk.ordinal)).collect();
    let score = found.values().copied().fold(0.0, f32::max);
    Ok(Leaf { chunks, assets, found, score })
}

/// The ordinals of a long section that stand nearest to what was found in it.
fn near(ordinals: Vec<u32>, found: &BTreeMap<u32, f32>) -> Vec<u32> {
    if ordinals.len() <= LEAF_CHUNKS {
        return ordinals;
    }
    let distance = |ordinal: u32| found.keys().map(|hit| hit.abs_diff(ordinal)).min().unwrap_or_default();
    let mut by_distance = ordinals;
    by_distance.sort_by_key(|&ordinal| (distance(ordinal), ordinal));
    by_distance.truncate(LEAF_CHUNKS);
    by_distance.sort_unstable();
    by_distance
}
