//! The three channels over one publication.

use quarry_index::{Channel as IndexChannel, Filter, Hit, IndexError};
use quarry_model::retrieval::{Channel, ChannelWeights};

use crate::corpus::{ChunkKey, Corpus};

/// What one channel found, best first.
#[derive(Debug, Clone)]
pub struct Found {
    /// Which channel.
    pub channel: Channel,
    /// Its hits.
    pub hits: Vec<Hit>,
}

impl Found {
    /// The keys of the hits, in their order.
    pub fn keys(&self) -> Vec<ChunkKey> {
        self.hits.iter().map(|hit| (hit.document_id.clone(), hit.ordinal)).collect()
    }
}

fn of_index(channel: Channel) -> IndexChannel {
    match channel {
        Channel::Path => IndexChannel::Path,
        Channel::Content => IndexChannel::Content,
        Channel::Term => IndexChannel::Term,
    }
}

/// Asks every channel that weighs something for its best `recall` chunks.
pub async fn search(
    corpus: &dyn Corpus,
    query: &str,
    weights: &ChannelWeights,
    filter: &Filter,
    recall: usize,
) -> Result<Vec<Found>, IndexError> {
    let asked: Vec<Channel> = Channel::ALL.into_iter().filter(|channel| weights.of(*channel) > 0.0).collect();
    let of_index: Vec<IndexChannel> = asked.iter().map(|channel| of_index(*channel)).collect();
    let lists = corpus.search(&of_index, query, filter, recall).await?;
    Ok(asked.into_iter().zip(lists).map(|(channel, hits)| Found { channel, hits }).collect())
}
