//! Finding the document that a caller names by its id, its path or its file name.

use std::path::Path;

use quarry_model::record::{DocumentRecord, DocumentStatus};
use quarry_model::{DocumentId, RecordKey, RecordPrefix, Scope};

use crate::engine::Engine;
use crate::exit::Failure;
use crate::files;

/// The document of a name; deleted ones count as absent.
pub(crate) async fn document(engine: &Engine, scope: &Scope, name: &str) -> Result<DocumentRecord, Failure> {
    if let Ok(id) = name.parse::<DocumentId>() {
        return by_id(engine, scope, &id).await?.ok_or_else(|| absent(scope, name));
    }
    if let Ok(path) = Path::new(name).canonicalize()
        && let Some(record) = by_id(engine, scope, &files::document(scope, &path)).await?
    {
        return Ok(record);
    }
    let mut named: Vec<DocumentRecord> = all(engine, scope).await?.into_iter().filter(|record| record.source_file_name == name).collect();
    match (named.pop(), named.len()) {
        (Some(record), 0) => Ok(record),
        (Some(last), _) => {
            named.push(last);
            let ids: Vec<&str> = named.iter().map(|record| record.document_id.as_str()).collect();
            Err(Failure::usage(format!("{} documents are called {name}: name one by its id: {}", ids.len(), ids.join(", "))))
        }
        (None, _) => Err(absent(scope, name)),
    }
}

/// Every document of a namespace that is not deleted, in order of file name and id.
pub(crate) async fn all(engine: &Engine, scope: &Scope) -> Result<Vec<DocumentRecord>, Failure> {
    let items = engine.records.query_all(&RecordPrefix::documents(scope)).await?;
    let mut records = items.iter().map(quarry_ports::Item::read).collect::<Result<Vec<DocumentRecord>, _>>()?;
    records.retain(|record| record.status != DocumentStatus::Deleted);
    records.sort_by(|a, b| (&a.source_file_name, &a.document_id).cmp(&(&b.source_file_name, &b.document_id)));
    Ok(records)
}

async fn by_id(engine: &Engine, scope: &Scope, id: &DocumentId) -> Result<Option<DocumentRecord>, Failure> {
    let item = engine.records.get(&RecordKey::document(scope, id)).await?;
    let record: Option<DocumentRecord> = item.map(|item| item.read()).transpose()?;
    Ok(record.filter(|record| record.status != DocumentStatus::Deleted))
}

fn absent(scope: &Scope, name: &str) -> Failure {
    Failure::not_found(format!("no document {name} in namespace {}; `quarry list` shows what there is", scope.namespace))
}
