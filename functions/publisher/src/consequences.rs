//! What follows a commit: the namespace's listing, its graph, the postings of what is no longer served, and everything
//! of deleted documents.
//!
//! The commit leaves a mark of the documents it changed; the mark is removed when all of this is done. Whoever publishes
//! next in the namespace finds the marks that a crash left and does the rest, so nothing depends on a redelivery.

use std::collections::{BTreeMap, BTreeSet};

use quarry_model::record::{DocumentRecord, DocumentStatus, GraphEdge, GraphNode, OpenPublication, SupersededRevision};
use quarry_model::{DocumentId, RecordKey, RecordPrefix, Revision, Scope};
use quarry_ports::{Item, Records};

use crate::error::PublishError;
use crate::relation::{self, SHARED_MIN};
use crate::{Publisher, listing};
use quarry_publication::Head;
use quarry_publication::{
    erase,
    postings::{self, Served},
};

/// Rounds at most; each more is one more publication by somebody else in the meantime.
const ROUNDS: usize = 32;

/// Does what follows every open publication of a namespace.
///
/// What is written depends on what is live, and others may publish meanwhile: if the head has moved on when all is
/// written, the same documents and pairs are looked at again under the new head, together with what has been opened
/// since. So whoever writes last has seen the newest head, and nothing written under an older one stays.
pub(crate) async fn settle(publisher: &Publisher, scope: &Scope) -> Result<(), PublishError> {
    let records = &*publisher.stores.records;
    let mut documents: BTreeSet<DocumentId> = BTreeSet::new();
    let mut pairs: BTreeSet<Pair> = BTreeSet::new();
    for _ in 0..ROUNDS {
        let head = Head::load(&*publisher.stores.objects, records, scope).await?;
        let open = records.query_all(&RecordPrefix::publications(scope)).await?;
        for item in &open {
            documents.extend(item.read::<OpenPublication>()?.documents);
        }
        if documents.is_empty() {
            return Ok(());
        }
        let round = Round { publisher, scope, live: head.live(), standing: standing(records, scope, &documents).await? };
        let nodes = round.nodes(&documents).await?;
        round.update_graph(&nodes, &mut pairs).await?;
        round.remove_postings(&nodes).await?;
        round.erase_deleted().await?;
        listing::write(publisher, scope, &head, &round.live).await?;
        if Head::load(&*publisher.stores.objects, records, scope).await?.version == head.version {
            return Ok(records.write_many(Vec::new(), open.into_iter().map(|item| item.key).collect()).await?);
        }
    }
    tracing::warn!(%scope, "the head moves faster than what follows it can be written");
    Ok(())
}

async fn standing(
    records: &dyn Records,
    scope: &Scope,
    documents: &BTreeSet<DocumentId>,
) -> Result<BTreeMap<DocumentId, DocumentRecord>, PublishError> {
    let keys: Vec<RecordKey> = documents.iter().map(|document| RecordKey::document(scope, document)).collect();
    let mut found = BTreeMap::new();
    for item in records.get_many(&keys).await?.iter().flatten() {
        let record: DocumentRecord = item.read()?;
        found.insert(record.document_id.clone(), record);
    }
    Ok(found)
}

/// The nodes of a document: of the revision served, and of those that no longer are.
#[derive(Debug, Default)]
struct Nodes {
    served: Option<GraphNode>,
    past: Vec<(Revision, Option<GraphNode>)>,
}

/// Two documents, the smaller id first.
type Pair = (DocumentId, DocumentId);

struct Round<'a> {
    publisher: &'a Publisher,
    scope: &'a Scope,
    live: BTreeMap<DocumentId, Revision>,
    standing: BTreeMap<DocumentId, DocumentRecord>,
}

impl Round<'_> {
    async fn nodes(&self, documents: &BTreeSet<DocumentId>) -> Result<BTreeMap<DocumentId, Nodes>, PublishError> {
        let records = &*self.publisher.stores.records;
        let mut nodes: BTreeMap<DocumentId, Nodes> = BTreeMap::new();
        let served = self.stored(documents).await?;
        for document in documents {
            let mut past: Vec<Revision> = Vec::new();
            for item in records.query_all(&RecordPrefix::superseded_of(self.scope, document)).await? {
                let mark: SupersededRevision = item.read()?;
                if !mark.postings_removed {
                    past.push(mark.revision);
                }
            }
            // An archived document keeps its revision, but nothing points at it any more.
            let archived = self.standing.get(document).filter(|record| record.status == DocumentStatus::Archived);
            past.extend(archived.and_then(|record| record.active_revision.clone()));
            past.retain(|revision| self.live.get(document) != Some(revision));
            let keys: Vec<RecordKey> = past.iter().map(|revision| RecordKey::revision_node(document, revision)).collect();
            let found = records.get_many(&keys).await?;
            let found = found.iter().map(|item| item.as_ref().map(Item::read).transpose()).collect::<Result<Vec<_>, _>>()?;
            let past = past.into_iter().zip(found).collect();
            nodes.insert(document.clone(), Nodes { served: served.get(document).cloned(), past });
        }
        Ok(nodes)
    }

    /// The nodes of live documents, as their served revisions have them.
    async fn stored(&self, documents: &BTreeSet<DocumentId>) -> Result<BTreeMap<DocumentId, GraphNode>, PublishError> {
        let keys: Vec<RecordKey> =
            documents.iter().filter_map(|document| Some(RecordKey::revision_node(document, self.live.get(document)?))).collect();
        let mut nodes = BTreeMap::new();
        for item in self.publisher.stores.records.get_many(&keys).await?.iter().flatten() {
            let node: GraphNode = item.read()?;
            nodes.insert(node.document_id.clone(), node);
        }
        Ok(nodes)
    }

    /// Writes the nodes of what is served with their edges, and removes those that no longer hold. An edge is a pure
    /// function of two served nodes, so it is the same whichever was published first. `pairs` are those looked at in
    /// earlier rounds; those of this round are added.
    async fn update_graph(&self, nodes: &BTreeMap<DocumentId, Nodes>, pairs: &mut BTreeSet<Pair>) -> Result<(), PublishError> {
        let records = &*self.publisher.stores.records;
        let all = || nodes.values().flat_map(|nodes| nodes.served.iter().chain(nodes.past.iter().filter_map(|(_, node)| node.as_ref())));
        let words: BTreeSet<String> = all().flat_map(|node| &node.keywords).map(|(word, _)| word.clone()).collect();
        let carriers = postings::carriers(records, self.scope, words).await?;
        for node in all() {
            for other in postings::sharing(&carriers, node, SHARED_MIN) {
                let one = node.document_id.clone();
                pairs.insert(if one <= other { (one, other) } else { (other, one) });
            }
        }
        let involved: BTreeSet<DocumentId> = pairs.iter().flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
        let served = self.stored(&involved).await?;
        let (mut puts, mut gone): (Vec<Item>, Vec<RecordKey>) = (Vec::new(), Vec::new());
        for (a, b) in pairs.iter() {
            let key = RecordKey::graph_edge(self.scope, a, b);
            let edge: Option<GraphEdge> = match (served.get(a), served.get(b)) {
                (Some(one), Some(other)) => relation::edge((a, &one.keywords), (b, &other.keywords)),
                _ => None,
            };
            match edge {
                Some(edge) => puts.push(Item::of(key, &edge)?),
                None => gone.push(key),
            }
        }
        for (document, nodes) in nodes {
            let key = RecordKey::graph_node(self.scope, document);
            match &nodes.served {
                Some(node) => puts.push(Item::of(key, node)?),
                None => gone.push(key),
            }
        }
        Ok(records.write_many(puts, gone).await?)
    }

    async fn remove_postings(&self, nodes: &BTreeMap<DocumentId, Nodes>) -> Result<(), PublishError> {
        let records = &*self.publisher.stores.records;
        let mut marks: Vec<Item> = Vec::new();
        for (document, nodes) in nodes {
            let since = self.standing.get(document).map(|record| record.created_at);
            let served = since.zip(nodes.served.as_ref()).map(|(since, node)| Served { since, node });
            for (revision, node) in &nodes.past {
                postings::remove(records, self.scope, document, revision, node.as_ref(), served).await?;
                let key = RecordKey::superseded(self.scope, document, revision);
                if let Some(item) = records.get(&key).await? {
                    let mark = SupersededRevision { postings_removed: true, ..item.read()? };
                    marks.push(Item::of(key, &mark)?);
                }
            }
        }
        Ok(records.write_many(marks, Vec::new()).await?)
    }

    async fn erase_deleted(&self) -> Result<(), PublishError> {
        for record in self.standing.values().filter(|record| record.status == DocumentStatus::Deleted) {
            erase::document(&self.publisher.stores, record).await?;
        }
        Ok(())
    }
}
