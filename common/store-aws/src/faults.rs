//! Tests of what the services leave half-done, against a server of the test that leaves it half-done on purpose.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_s3::config::{Credentials, SharedCredentialsProvider};
use quarry_model::message::QueueName;
use quarry_model::{ObjectKey, RecordKey};
use quarry_ports::{Condition, Item, ObjectError, ObjectStore, Outgoing, Queue, QueueError, RecordError, Records};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::AwsNames;
use crate::objects::Bucket;
use crate::queues::Queues;
use crate::records::Table;

/// A server that gives prepared answers, one a request, and remembers what it was asked.
struct Server {
    endpoint: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    async fn answering(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let remembered = Arc::clone(&asked);
        tokio::spawn(async move {
            for answer in answers {
                let (mut connection, _) = listener.accept().await.unwrap();
                let mut request = Vec::new();
                while !is_whole(&request) {
                    let mut part = vec![0; 65_536];
                    let read = connection.read(&mut part).await.unwrap();
                    assert!(read > 0, "the request broke off");
                    request.extend_from_slice(&part[..read]);
                }
                remembered.lock().unwrap().push(String::from_utf8(request).unwrap());
                connection.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        Self { endpoint, asked }
    }

    fn asked(&self, number: usize) -> String {
        self.asked.lock().unwrap()[number].clone()
    }

    fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    fn config(&self) -> SdkConfig {
        SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .endpoint_url(&self.endpoint)
            .credentials_provider(SharedCredentialsProvider::new(Credentials::new("test", "test", None, None, "test")))
            .retry_config(RetryConfig::disabled())
            .build()
    }

    fn bucket(&self) -> Bucket {
        let config = aws_sdk_s3::config::Builder::from(&self.config()).force_path_style(true).build();
        let client = aws_sdk_s3::Client::from_conf(config);
        Bucket { presigner: client.clone(), client, name: "bucket".to_owned() }
    }

    fn table(&self) -> Table {
        Table { client: aws_sdk_dynamodb::Client::new(&self.config()), table: "table".to_owned() }
    }

    fn queues(&self) -> Queues {
        let queues = BTreeMap::from([(QueueName::Profile, format!("{}/queue", self.endpoint))]);
        Queues { client: aws_sdk_sqs::Client::new(&self.config()), names: AwsNames { queues, ..AwsNames::default() } }
    }
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().filter_map(|line| line.split_once(": ")).find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    length.is_none_or(|(_, length)| body.len() >= length.parse().unwrap())
}

/// An answer that promises `length` bytes and may hold fewer.
fn answer(status: &str, headers: &str, length: usize, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}")
}

fn object(status: &str, tag: &str, length: usize, body: &str) -> String {
    answer(status, &format!("ETag: \"{tag}\"\r\n"), length, body)
}

fn reply(value: &Value) -> String {
    let body = value.to_string();
    answer("200 OK", "Content-Type: application/x-amz-json-1.0\r\n", body.len(), &body)
}

fn refusal(status: &str, code: &str) -> String {
    let body = json!({ "__type": format!("com.amazonaws#{code}"), "message": "no" }).to_string();
    answer(status, "Content-Type: application/x-amz-json-1.0\r\n", body.len(), &body)
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::from_event(name)
}

fn record(sk: &str) -> RecordKey {
    RecordKey { pk: "P".to_owned(), sk: sk.to_owned() }
}

#[tokio::test]
async fn a_read_that_breaks_off_goes_on_where_it_ended() {
    let server = Server::answering(vec![
        object("200 OK", "one", 10, "0123"),
        object("206 Partial Content", "one", 6, "45"),
        object("206 Partial Content", "one", 4, "6789"),
    ])
    .await;
    let (body, meta) = server.bucket().get(&key("a")).await.unwrap();
    assert_eq!((body.as_ref(), meta.size, meta.etag.as_str()), (b"0123456789".as_slice(), 10, "one"));
    for (request, range) in [(1, "bytes=4-9"), (2, "bytes=6-9")] {
        let asked = server.asked(request).to_ascii_lowercase();
        assert!(asked.contains(range) && asked.contains("if-match: \"one\""), "{asked}");
    }
}

#[tokio::test]
async fn a_range_that_breaks_off_goes_on_inside_the_range() {
    let server =
        Server::answering(vec![object("206 Partial Content", "one", 5, "56"), object("206 Partial Content", "one", 3, "789")]).await;
    assert_eq!(server.bucket().get_range(&key("a"), 5..10).await.unwrap(), b"56789".as_slice());
    assert!(server.asked(1).contains("bytes=7-9"), "{}", server.asked(1));
}

#[tokio::test]
async fn an_object_replaced_while_it_was_read_is_read_anew() {
    let server = Server::answering(vec![
        object("200 OK", "one", 10, "0123"),
        answer("412 Precondition Failed", "", 0, ""),
        object("200 OK", "two", 3, "new"),
    ])
    .await;
    let (body, meta) = server.bucket().get(&key("a")).await.unwrap();
    assert_eq!((body.as_ref(), meta.etag.as_str()), (b"new".as_slice(), "two"));
    assert!(!server.asked(2).to_ascii_lowercase().contains("range:"));
}

#[tokio::test]
async fn bytes_whose_checksum_does_not_fit_are_read_again() {
    let with = |crc: &str| answer("200 OK", &format!("ETag: \"one\"\r\nx-amz-checksum-crc32: {crc}\r\n"), 3, "abc");
    let server = Server::answering(vec![with("AAAAAA=="), with("NSRBwg==")]).await;
    assert_eq!(server.bucket().get(&key("a")).await.unwrap().0, b"abc".as_slice());
    assert_eq!(server.count(), 2);
}

#[tokio::test]
async fn a_service_out_of_order_is_unavailable_and_a_forbidden_one_is_not() {
    let server = Server::answering(vec![answer("503 Slow Down", "", 0, ""), answer("403 Forbidden", "", 0, "")]).await;
    assert!(matches!(server.bucket().head(&key("a")).await, Err(ObjectError::Unavailable(_))));
    assert!(matches!(server.bucket().head(&key("a")).await, Err(ObjectError::Other(_))));
    let nobody = Server { endpoint: "http://127.0.0.1:1".to_owned(), asked: Arc::default() };
    assert!(matches!(nobody.bucket().head(&key("a")).await, Err(ObjectError::Unavailable(_))));
}

#[tokio::test]
async fn a_write_that_meets_another_is_tried_again() {
    let conflict = "<Error><Code>ConditionalRequestConflict</Code><Message>no</Message></Error>";
    let server = Server::answering(vec![answer("409 Conflict", "", conflict.len(), conflict), object("200 OK", "one", 0, "")]).await;
    let options = quarry_ports::PutOptions { condition: quarry_ports::PutCondition::IfAbsent, content_type: None };
    assert_eq!(server.bucket().put(&key("a"), "x".into(), options).await.unwrap().etag, "one");
}

#[tokio::test]
async fn unprocessed_keys_are_asked_again() {
    let found = |sk: &str| json!({ "pk": { "S": "P" }, "sk": { "S": sk }, "n": { "N": "1" } });
    let left = json!({ "table": { "Keys": [{ "pk": { "S": "P" }, "sk": { "S": "B" } }], "ConsistentRead": true } });
    let server = Server::answering(vec![
        reply(&json!({ "Responses": { "table": [found("A")] }, "UnprocessedKeys": left })),
        reply(&json!({ "Responses": { "table": [found("B")] }, "UnprocessedKeys": {} })),
    ])
    .await;
    let items = server.table().get_many(&[record("A"), record("B"), record("C")]).await.unwrap();
    assert_eq!(items.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, false]);
    assert!(server.asked(1).contains("\"B\"") && !server.asked(1).contains("\"A\""), "{}", server.asked(1));
}

#[tokio::test]
async fn unprocessed_writes_are_sent_again() {
    let left = json!({ "table": [{ "DeleteRequest": { "Key": { "pk": { "S": "P" }, "sk": { "S": "B" } } } }] });
    let server = Server::answering(vec![reply(&json!({ "UnprocessedItems": left })), reply(&json!({ "UnprocessedItems": {} }))]).await;
    server.table().write_many(Vec::new(), vec![record("A"), record("B")]).await.unwrap();
    assert!(server.asked(1).contains("\"B\"") && !server.asked(1).contains("\"A\""), "{}", server.asked(1));
}

#[tokio::test]
async fn a_single_write_waits_for_a_transaction_to_end() {
    let server = Server::answering(vec![refusal("400 Bad Request", "TransactionConflictException"), reply(&json!({}))]).await;
    let item = Item { key: record("A"), body: Map::new(), expires_at: None };
    server.table().put(item, Condition::Absent).await.unwrap();
    assert_eq!(server.count(), 2);
}

#[tokio::test]
async fn a_throttled_table_is_unavailable() {
    let server = Server::answering(vec![
        refusal("400 Bad Request", "ProvisionedThroughputExceededException"),
        refusal("400 Bad Request", "ResourceNotFoundException"),
    ])
    .await;
    assert!(matches!(server.table().get(&record("A")).await, Err(RecordError::Unavailable(_))));
    assert!(matches!(server.table().get(&record("A")).await, Err(RecordError::Other(_))));
}

#[tokio::test]
async fn only_the_failed_part_of_a_batch_is_sent_again() {
    let sent = |id: &str| json!({ "Id": id, "MessageId": "m", "MD5OfMessageBody": "0" });
    let failed = json!({ "Id": "1", "SenderFault": false, "Code": "InternalError", "Message": "no" });
    let server = Server::answering(vec![
        reply(&json!({ "Successful": [sent("0")], "Failed": [failed] })),
        reply(&json!({ "Successful": [sent("1")] })),
    ])
    .await;
    let message = |body: &str| Outgoing { body: body.to_owned(), delay: Duration::ZERO, ..Outgoing::default() };
    server.queues().send(QueueName::Profile, vec![message("first"), message("second")]).await.unwrap();
    assert!(server.asked(1).contains("second") && !server.asked(1).contains("first"), "{}", server.asked(1));
}

#[tokio::test]
async fn a_batch_refused_for_its_content_is_not_sent_again() {
    let failed = json!({ "Id": "0", "SenderFault": true, "Code": "InvalidMessageContents", "Message": "no" });
    let server = Server::answering(vec![reply(&json!({ "Successful": [], "Failed": [failed] }))]).await;
    let outcome = server.queues().send(QueueName::Profile, vec![Outgoing { body: "x".to_owned(), ..Outgoing::default() }]).await;
    assert!(matches!(outcome, Err(QueueError::Other(_))), "{outcome:?}");
    assert_eq!(server.count(), 1);
}
