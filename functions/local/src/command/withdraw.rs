//! `quarry archive` and `quarry delete`: publications like any other.

use std::time::Duration;

use quarry_model::RecordKey;
use quarry_model::message::{PublishAction, PublishMessage, QueueName};
use quarry_model::record::{DocumentRecord, DocumentStatus, Order};
use quarry_ports::Outgoing;
use serde_json::json;

use crate::cli::OneDocument;
use crate::engine::Engine;
use crate::exit::{Exit, Failure};
use crate::{locate, output, wait};

pub(crate) async fn run(engine: &Engine, args: OneDocument, action: PublishAction, json: bool) -> Result<Exit, Failure> {
    let scope = engine.scope(&args.place.namespace)?;
    let document = locate::document(engine, &scope, &args.document).await?;
    let (status, word) = match action {
        PublishAction::Delete => (DocumentStatus::Deleted, "deleted"),
        _ => (DocumentStatus::Archived, "archived"),
    };
    if document.status != status {
        let order = Order { created_millis: engine.clock.now().millis(), sequencer: None }.after(&document.order);
        let message = PublishMessage { scope: scope.clone(), document_id: document.document_id.clone(), order, action };
        let outgoing =
            Outgoing { body: serde_json::to_string(&message)?, group: Some(PublishMessage::group(&scope)), ..Outgoing::default() };
        let work = async {
            engine.queue.send(QueueName::Publish, vec![outgoing]).await?;
            until(engine, &message, status).await
        };
        wait::on_the_road(engine, work).await?;
    }
    if json {
        output::json(&json!({ "document_id": document.document_id, "status": status }))?;
    } else {
        output::text(format!("{word} {}  {}", document.document_id, output::line(&document.source_file_name, 80)))?;
    }
    Ok(Exit::Ok)
}

/// Waits until the document has the status, or something newer has been published over it.
async fn until(engine: &Engine, message: &PublishMessage, status: DocumentStatus) -> Result<(), Failure> {
    let key = RecordKey::document(&message.scope, &message.document_id);
    loop {
        let record: Option<DocumentRecord> = engine.records.get(&key).await?.map(|item| item.read()).transpose()?;
        match record {
            Some(record) if record.status == status => return Ok(()),
            Some(record) if record.order.compare(&message.order).is_gt() => {
                return Err(Failure::from(anyhow::anyhow!("the document was published again in the meantime; try again")));
            }
            _ => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}
