//! The Lambda side: the SQS batch loop and the HTTP adapter. A function's `main` loads the configuration, builds its
//! adapters and calls [`serve`], [`serve_schedule`] or [`serve_http`].

use std::sync::Arc;

use axum::Router;
use lambda_http::request::RequestContext;
use lambda_runtime::{LambdaEvent, service_fn};
use quarry_model::message::QueueName;
use quarry_ports::{Queue, Received, Stage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::delivery::{Delivery, Disposition, batches, deliver};
use crate::http::Claims;
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
    #[serde(rename = "AWSTraceHeader")]
    trace_header: Option<String>,
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
    lambda_http::run(adapted(router)).await
}

/// The router with what only the gateway's event says: the claims of a token that its authoriser has checked.
fn adapted(router: Router) -> Router {
    router.layer(axum::extract::Extension(Buffered)).layer(axum::middleware::map_request(with_claims))
}

async fn with_claims(mut request: axum::extract::Request) -> axum::extract::Request {
    let claims = match request.extensions().get::<RequestContext>() {
        Some(RequestContext::ApiGatewayV2(context)) => context.authorizer.as_ref().and_then(|authorizer| authorizer.jwt.as_ref()),
        _ => None,
    };
    if let Some(jwt) = claims {
        let claims = Claims(jwt.claims.iter().map(|(name, value)| (name.clone(), value.clone())).collect());
        request.extensions_mut().insert(claims);
    }
    request
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
        trace: record.attributes.trace_header.and_then(|header| header.parse().ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_read_as_sqs_sends_it() {
        let event: SqsEvent = serde_json::from_value(serde_json::json!({ "Records": [{
            "messageId": "m-1", "receiptHandle": "r", "body": "{}", "eventSource": "aws:sqs",
            "attributes": { "ApproximateReceiveCount": "3", "MessageGroupId": "g", "SentTimestamp": "1",
                "AWSTraceHeader": "Root=1-4bf92f35-77b34da6a3ce929d0e0e4736;Parent=00f067aa0ba902b7;Sampled=1" },
        }] }))
        .unwrap();
        let message = received(event.records.into_iter().next().unwrap());
        assert_eq!((message.receive_count, message.group.as_deref()), (3, Some("g")));
        assert_eq!(message.trace.map(|trace| trace.id()).as_deref(), Some("4bf92f3577b34da6a3ce929d0e0e4736"));
    }

    #[test]
    fn failures_have_the_names_lambda_reads() {
        let response = BatchResponse { batch_item_failures: vec![ItemFailure { item_identifier: "m-1".into() }] };
        let text = serde_json::to_string(&response).unwrap();
        assert_eq!(text, r#"{"batchItemFailures":[{"itemIdentifier":"m-1"}]}"#);
        assert_eq!(serde_json::to_string(&BatchResponse::default()).unwrap(), r#"{"batchItemFailures":[]}"#);
    }

    /// A call as the gateway hands it on, with what its authoriser says of the token.
    fn call(authorizer: &Value) -> axum::extract::Request {
        let event = serde_json::json!({
            "version": "2.0", "routeKey": "$default", "rawPath": "/v1/mine", "rawQueryString": "", "isBase64Encoded": false,
            "headers": { "host": "quarry.example.com", "authorization": "Bearer eyJ.e30.x" },
            "requestContext": {
                "accountId": "000000000000", "apiId": "example", "domainName": "quarry.example.com", "domainPrefix": "quarry",
                "http": { "method": "GET", "path": "/v1/mine", "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1", "userAgent": "curl/8" },
                "requestId": "EXAMPLE", "routeKey": "$default", "stage": "$default", "time": "30/Nov/2026:10:00:00 +0000",
                "timeEpoch": 1_796_032_800_000_i64, "authorizer": authorizer,
            },
        });
        let request = lambda_http::request::from_str(&event.to_string()).unwrap();
        request.map(|_| axum::body::Body::empty())
    }

    #[tokio::test]
    async fn the_gateways_claims_make_the_caller_and_no_header_does() {
        use crate::http::{Access, Authenticator, Caller, Options, app};
        use tower::ServiceExt as _;
        let bench = crate::test_support::Bench::new();
        let config = crate::Config::read(|name| (name == "QUARRY_JWT_OWNER_CLAIM").then(|| "sub".to_owned())).unwrap();
        let authenticator = std::sync::Arc::new(Authenticator::new(bench.store.records(), bench.clock.clone(), Access::Keys, &config));
        let handler = axum::routing::get(|caller: Caller| async move { format!("{} {:?}", caller.owner, caller.scopes) });
        let router = adapted(app(Router::new().route("/mine", handler), Router::new(), authenticator, Options::named("test")));
        let jwt =
            serde_json::json!({ "jwt": { "claims": { "sub": "ann", "exp": "1796036400", "scope": "quarry/query" }, "scopes": null } });
        let answer = router.clone().oneshot(call(&jwt)).await.unwrap();
        let body = axum::body::to_bytes(answer.into_body(), 1024).await.unwrap();
        assert_eq!(body, "ann [Query]");
        for none in [Value::Null, serde_json::json!({ "lambda": { "sub": "ann", "scope": "quarry/admin" } })] {
            assert_eq!(router.clone().oneshot(call(&none)).await.unwrap().status(), 401);
        }
    }
}
