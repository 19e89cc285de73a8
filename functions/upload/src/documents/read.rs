//! Documents as they are listed and read.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use quarry_model::api::{DocumentBody, DocumentList, Pagination};
use quarry_model::record::{DocumentRecord, DocumentStatus, KeyScope};
use quarry_model::{RecordPrefix, Scope};
use quarry_runtime::http::{Caller, Failure, Params};
use serde::Deserialize;

use super::{Found, body, find};
use crate::Upload;
use crate::input::Violations;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListParams {
    namespace: Option<String>,
    page: Option<i64>,
    page_size: Option<i64>,
    status: Option<DocumentStatus>,
}

pub(crate) async fn list(
    State(upload): State<Arc<Upload>>,
    caller: Caller,
    Params(params): Params<ListParams>,
) -> Result<Json<DocumentList>, Failure> {
    caller.require(KeyScope::Query)?;
    let mut bad = Violations::default();
    let namespace = bad.namespace("query.namespace", params.namespace.as_deref()).unwrap_or_default();
    let page = bad.page(params.page);
    let page_size = bad.between("query.page_size", params.page_size, 50, 1, 200);
    let status = params.status.unwrap_or(DocumentStatus::Active);
    if status == DocumentStatus::Deleted {
        bad.add("query.status", "must be active or archived");
    }
    bad.check()?;
    let scope = Scope::new(caller.owner, namespace);
    let items = upload.jobs.records().query_all(&RecordPrefix::documents(&scope)).await?;
    let mut documents: Vec<DocumentRecord> = items.iter().map(quarry_ports::Item::read).collect::<Result<_, _>>()?;
    documents.retain(|document| document.status == status);
    documents.sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then_with(|| a.document_id.cmp(&b.document_id)));
    let pagination = Pagination::of(page, page_size, documents.len());
    let skip = (page - 1).saturating_mul(page_size);
    let documents = documents.into_iter().skip(skip).take(page_size).map(body).collect();
    Ok(Json(DocumentList { namespace: scope.namespace, documents, pagination }))
}

pub(crate) async fn read(State(upload): State<Arc<Upload>>, caller: Caller, Path(id): Path<String>) -> Result<Json<DocumentBody>, Failure> {
    caller.require(KeyScope::Query)?;
    let Found { record, .. } = find(&upload, &caller.owner, &id).await?;
    Ok(Json(body(record)))
}
