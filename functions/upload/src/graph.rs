//! Related documents.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use quarry_model::api::{Neighbor, NeighborList};
use quarry_model::record::{DocumentRecord, GraphEdge, KeyScope};
use quarry_model::{DocumentId, RecordKey, RecordPrefix};
use quarry_runtime::http::{Caller, Failure};

use crate::Upload;
use crate::documents::{Found, find};

pub(crate) async fn neighbors(
    State(upload): State<Arc<Upload>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<NeighborList>, Failure> {
    caller.require(KeyScope::Query)?;
    let Found { scope, record } = find(&upload, &caller.owner, &id).await?;
    let records = upload.jobs.records();
    let mut edges = Vec::new();
    // Edges are kept once, under the smaller id; the graph's partition is read as a whole.
    for item in records.query_all(&RecordPrefix { sk: "EDGE#".to_owned(), ..RecordPrefix::graph(&scope) }).await? {
        let edge: GraphEdge = item.read()?;
        if edge.a == record.document_id || edge.b == record.document_id {
            edges.push(edge);
        }
    }
    let others: Vec<DocumentId> =
        edges.iter().map(|edge| if edge.a == record.document_id { edge.b.clone() } else { edge.a.clone() }).collect();
    let keys: Vec<RecordKey> = others.iter().map(|other| RecordKey::document(&scope, other)).collect();
    let mut neighbors = Vec::new();
    for (edge, item) in edges.into_iter().zip(records.get_many(&keys).await?) {
        let Some(item) = item else { continue };
        let other: DocumentRecord = item.read()?;
        if other.status != quarry_model::record::DocumentStatus::Active {
            continue;
        }
        neighbors.push(Neighbor {
            document_id: other.document_id,
            source_file_name: other.source_file_name,
            shared_keywords: edge.shared,
            score: edge.score,
            summary: other.summary,
        });
    }
    neighbors.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.document_id.cmp(&b.document_id)));
    Ok(Json(NeighborList { document_id: record.document_id, namespace: scope.namespace, neighbors }))
}
