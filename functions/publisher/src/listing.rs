//! What a namespace shows of itself: its place in the owner's list, and `graph.json`.

use std::collections::BTreeMap;

use bytes::Bytes;
use quarry_model::record::{GraphEdge, GraphNode};
use quarry_model::{DocumentId, ObjectKey, RecordKey, RecordPrefix, Revision, SCHEMA_VERSION, Scope};
use quarry_ports::{Item, PutOptions, RecordError};
use serde::Serialize;
use serde_json::json;

use crate::Publisher;
use crate::error::PublishError;
use quarry_publication::Head;

/// Above this many documents `graph.json` is not rewritten by every publication, which would cost a scan of the graph
/// each time; the graph's records stay exact.
const GRAPH_FILE_DOCUMENTS: usize = 5_000;

/// `graph.json`: nodes by document, edges by their two documents.
#[derive(Debug, Serialize)]
struct GraphFile {
    schema_version: u32,
    nodes: Vec<GraphNode>,
    edges: Vec<GraphEdge>,
}

/// Brings both up to date with a head.
pub(crate) async fn write(
    publisher: &Publisher,
    scope: &Scope,
    head: &Head,
    live: &BTreeMap<DocumentId, Revision>,
) -> Result<(), PublishError> {
    let entry = json!({
        "schema_version": SCHEMA_VERSION,
        "namespace": scope.namespace,
        "version": head.version,
        "documents": live.len(),
        "updated_at": publisher.clock.now(),
    });
    publisher.stores.records.put(Item::of(RecordKey::namespace(scope), &entry)?, quarry_ports::Condition::None).await?;
    if live.len() > GRAPH_FILE_DOCUMENTS {
        return Ok(());
    }
    let mut graph = GraphFile { schema_version: SCHEMA_VERSION, nodes: Vec::new(), edges: Vec::new() };
    for item in publisher.stores.records.query_all(&RecordPrefix::graph(scope)).await? {
        if item.key.sk.starts_with("NODE#") {
            let node: GraphNode = item.read()?;
            if live.get(&node.document_id) == Some(&node.revision) {
                graph.nodes.push(node);
            }
        } else {
            let edge: GraphEdge = item.read()?;
            if live.contains_key(&edge.a) && live.contains_key(&edge.b) {
                graph.edges.push(edge);
            }
        }
    }
    let key = ObjectKey::graph(scope);
    let shape = |error| RecordError::Shape(RecordKey::namespace(scope), error);
    let mut bytes = serde_json::to_vec_pretty(&graph).map_err(shape)?;
    bytes.push(b'\n');
    let options = PutOptions { content_type: Some("application/json".to_owned()), ..PutOptions::default() };
    publisher.stores.objects.put(&key, Bytes::from(bytes), options).await?;
    Ok(())
}
