//! The Lambda side: the SQS batch loop and the HTTP adapter. A function's `main` loads the configuration, builds its
//! adapters and calls [`serve`], [`serve_schedule`] or [`serve_http`].

use std::sync::Arc;

use axum::Router;
use lambda_runtime::{LambdaEvent, service_fn};
use quarry_model::message::QueueName;
use quarry_ports::{Queue, Received, Stage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::delivery::{Delivery, Disposition, batches, deliver};
use crate::http::stream::Buffered;

/// What the Lambda runtime fails with.
pub type LambdaError = lambda_runtime::Error;

/// A batch as SQS hands it to a function; only what is read.
#[derive(Debug, Deserialize)]
struct SqsEvent {
    #[serde(rename = "Records")]
    records: Vec<SqsRecord>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SqsRecord {
    message_id: String,
    #[serde(default)]
    receipt_handle: String,
    #[serde(default)]
    body: String,
    #[serde(default)]
    attributes: SqsAttributes,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct SqsAttributes {
    approximate_receive_count: Option<String>,
    message_group_id: Option<String>,
}

/// A partial batch response: what is named here comes again, the rest is acknowledged.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct BatchResponse {
    batch_item_failures: Vec<ItemFailure>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ItemFailure {
    item_identifier: String,
}

/// The queue a function is fed from, for setting the delay of what comes again.
#[derive(Clone)]
pub struct Source {
    /// The adapter.
    pub queue: Arc<dyn Queue>,
    /// Which queue.
    pub name: QueueName,
}

/// Serves a stage until the environment ends. The event source mapping must report batch item failures.
pub async fn serve<S: Stage>(stage: S, delivery: Delivery, source: Source) -> Result<(), LambdaError> {
    let stage = &stage;
    let delivery = &delivery;
    let source = &source;
    lambda_runtime::run(service_fn(move |event: LambdaEvent<Value>| async move {
        let event = SqsEvent::deserialize(event.payload)?;
        Ok::<_, LambdaError>(handle(stage, delivery, source, event).await)
    }))
    .await
}

/// Serves work that a schedule asks for, until the environment ends; what the event says is not read. An error makes the
/// invocation fail, so that the service's own alarms see it.
pub async fn serve_schedule<F, E>(work: impl Fn() -> F) -> Result<(), LambdaError>
where
    F: Future<Output = Result<Value, E>>,
    E: std::error::Error + Send + Sync + 'static,
{
    let work = &work;
    lambda_runtime::run(service_fn(move |_: LambdaEvent<Value>| async move { work().await.map_err(LambdaError::from) })).await
}

/// Serves a router behind API Gateway (payload version 2) or a function address. Answers leave whole: where a client may
/// ask for events, it is answered plainly.
pub async fn serve_http(router: Router) -> Result<(), LambdaError> {
    lambda_http::run(router.layer(axum::extract::Extension(Buffered))).await
}

async fn handle<S: Stage>(stage: &S, delivery: &Delivery, source: &Source, event: SqsEvent) -> BatchResponse {
    let messages: Vec<Received> = event.records.into_iter().map(received).collect();
    let mut failures = Vec::new();
    for batch in batches(messages, !source.name.is_fifo()) {
        let verdicts = deliver(stage, delivery, &batch).await;
        for (message, verdict) in batch.iter().zip(verdicts) {
            let Disposition::Release(delay) = verdict else { continue };
            // Only a wish: without it the message comes again when its visibility ends.
            if let Err(error) = source.queue.change_visibility(source.name, &message.receipt, delay).await {
                tracing::warn!(target: "quarry::lambda", message = message.id, %error, "delay not set");
            }
            failures.push(ItemFailure { item_identifier: message.id.clone() });
        }
    }
    BatchResponse { batch_item_failures: failures }
}

fn received(record: SqsRecord) -> Received {
    let count = record.attributes.approximate_receive_count.and_then(|count| count.parse().ok());
    Received {
        id: record.message_id,
        body: record.body,
        group: record.attributes.message_group_id,
        receipt: record.receipt_handle,
        receive_count: count.unwrap_or(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_read_as_sqs_sends_it() {
        let event: SqsEvent = serde_json::from_value(serde_json::json!({ "Records": [{
            "messageId": "m-1", "receiptHandle": "r", "body": "{}", "eventSource": "aws:sqs",
            "attributes": { "ApproximateReceiveCount": "3", "MessageGroupId": "g", "SentTimestamp": "1" },
        }] }))
        .unwrap();
        let message = received(event.records.into_iter().next().unwrap());
        assert_eq!((message.receive_count, message.group.as_deref()), (3, Some("g")));
    }

    #[test]
    fn failures_have_the_names_lambda_reads() {
        let response = BatchResponse { batch_item_failures: vec![ItemFailure { item_identifier: "m-1".into() }] };
        let text = serde_json::to_string(&response).unwrap();
        assert_eq!(text, r#"{"batchItemFailures":[{"itemIdentifier":"m-1"}]}"#);
        assert_eq!(serde_json::to_string(&BatchResponse::default()).unwrap(), r#"{"batchItemFailures":[]}"#);
    }
}
