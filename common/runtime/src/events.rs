//! From what a bucket says to what the profiler takes.
//!
//! One queue carries bucket notifications (plain, wrapped by a topic, or from an event bus) and our own
//! [`ObjectArrived`]; [`decode`] reads them all. Keys are URL-decoded exactly once, with `+` as a space, except on the
//! event bus, which does not encode them. Test events and events other than creations mean nothing to do.

use quarry_model::message::ObjectArrived;
use quarry_model::record::Order;
use quarry_model::{ObjectKey, Timestamp};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A body that no stage can read. Its content is not repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Not JSON at all.
    #[error("not JSON (line {line}, column {column})")]
    Json {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
    },
    /// JSON, but not a message of this stage.
    #[error("not a message of this stage: {0}")]
    Message(String),
    /// A bucket notification without what it must have.
    #[error("object event without {0}")]
    Event(&'static str),
}

/// The inputs in a message's body: usually one; none for a test event.
pub fn decode<I: DeserializeOwned>(body: &str) -> Result<Vec<I>, DecodeError> {
    let value: Value = serde_json::from_str(body).map_err(|error| DecodeError::Json { line: error.line(), column: error.column() })?;
    let Some(arrived) = object_events(&value)? else {
        return Ok(vec![typed(value)?]);
    };
    arrived.into_iter().map(|event| typed(json!(event))).collect()
}

fn typed<I: DeserializeOwned>(value: Value) -> Result<I, DecodeError> {
    I::deserialize(value).map_err(|error| {
        // Serde's text may quote values; what stands before the first quote names the field and the kind of fault.
        let text = error.to_string();
        DecodeError::Message(text.split('"').next().unwrap_or_default().trim_end().chars().take(120).collect())
    })
}

/// The object events in a body; `None` when it is something else.
fn object_events(value: &Value) -> Result<Option<Vec<ObjectArrived>>, DecodeError> {
    if value.get("Event").and_then(Value::as_str) == Some("s3:TestEvent") {
        return Ok(Some(Vec::new()));
    }
    if value.get("Type").and_then(Value::as_str) == Some("Notification") {
        let inner = value.get("Message").and_then(Value::as_str).ok_or(DecodeError::Event("Message"))?;
        let inner: Value = serde_json::from_str(inner).map_err(|_| DecodeError::Event("JSON in its Message"))?;
        return object_events(&inner);
    }
    if value.get("source").and_then(Value::as_str) == Some("aws.s3") {
        return bus_event(value).map(Some);
    }
    let Some(records) = value.get("Records").and_then(Value::as_array) else {
        return Ok(None);
    };
    let created = records.iter().filter(|record| {
        let name = record.get("eventName").and_then(Value::as_str).unwrap_or_default();
        name.trim_start_matches("s3:").starts_with("ObjectCreated:")
    });
    created.map(notification).collect::<Result<_, _>>().map(Some)
}

fn notification(record: &Value) -> Result<ObjectArrived, DecodeError> {
    let object = record.pointer("/s3/object").ok_or(DecodeError::Event("s3.object"))?;
    let key = object.get("key").and_then(Value::as_str).ok_or(DecodeError::Event("s3.object.key"))?;
    let time = record.get("eventTime").and_then(Value::as_str).ok_or(DecodeError::Event("eventTime"))?;
    arrived(&decode_key(key), object, "eTag", time)
}

fn bus_event(value: &Value) -> Result<Vec<ObjectArrived>, DecodeError> {
    if value.get("detail-type").and_then(Value::as_str) != Some("Object Created") {
        return Ok(Vec::new());
    }
    let object = value.pointer("/detail/object").ok_or(DecodeError::Event("detail.object"))?;
    let key = object.get("key").and_then(Value::as_str).ok_or(DecodeError::Event("detail.object.key"))?;
    let time = value.get("time").and_then(Value::as_str).ok_or(DecodeError::Event("time"))?;
    Ok(vec![arrived(key, object, "etag", time)?])
}

fn arrived(key: &str, object: &Value, etag: &str, time: &str) -> Result<ObjectArrived, DecodeError> {
    let time: Timestamp = time.parse().map_err(|_| DecodeError::Event("a readable time"))?;
    Ok(ObjectArrived {
        key: ObjectKey::from_event(key),
        size: object.get("size").and_then(Value::as_u64).ok_or(DecodeError::Event("size"))?,
        etag: object.get(etag).and_then(Value::as_str).unwrap_or_default().trim_matches('"').to_owned(),
        order: Order {
            created_millis: time.millis(),
            sequencer: object.get("sequencer").and_then(Value::as_str).filter(|s| !s.is_empty()).map(str::to_owned),
        },
    })
}

/// A key as notifications write it: form-encoded.
fn decode_key(key: &str) -> String {
    let spaced = key.replace('+', " ");
    percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(key: &str) -> Value {
        json!({ "Records": [{
            "eventSource": "aws:s3", "eventName": "ObjectCreated:Put", "eventTime": "2026-11-30T10:00:00.123Z",
            "s3": { "bucket": { "name": "b" }, "object": { "key": key, "size": 5, "eTag": "abc", "sequencer": "0055AED6DCD90281E5" } },
        }] })
    }

    fn keys(body: &Value) -> Vec<String> {
        decode::<ObjectArrived>(&body.to_string()).unwrap().into_iter().map(|event| event.key.as_str().to_owned()).collect()
    }

    #[test]
    fn keys_are_decoded_exactly_once() {
        assert_eq!(keys(&put("inbox/a+b%2Bc%2541+%C3%BC.md")), ["inbox/a b+c%41 ü.md"]);
        assert_eq!(keys(&put(&format!("inbox/x/{}", "é".repeat(500))))[0].len(), 1008);
    }

    #[test]
    fn sequencer_and_time_make_the_order() {
        let event = &decode::<ObjectArrived>(&put("inbox/a.md").to_string()).unwrap()[0];
        assert_eq!(event.order.sequencer.as_deref(), Some("0055AED6DCD90281E5"));
        assert_eq!(event.order.created_millis, 1_796_032_800_123);
        assert_eq!((event.size, event.etag.as_str()), (5, "abc"));
    }

    #[test]
    fn test_events_and_removals_mean_nothing_to_do() {
        assert!(keys(&json!({ "Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "b" })).is_empty());
        let mut removed = put("inbox/a.md");
        removed["Records"][0]["eventName"] = "ObjectRemoved:Delete".into();
        assert!(keys(&removed).is_empty());
    }

    #[test]
    fn topics_and_the_event_bus_are_unwrapped() {
        let topic = json!({ "Type": "Notification", "Message": put("inbox/a+b.md").to_string() });
        assert_eq!(keys(&topic), ["inbox/a b.md"]);
        let bus = json!({ "source": "aws.s3", "detail-type": "Object Created", "time": "2026-11-30T10:00:00Z",
            "detail": { "object": { "key": "inbox/a+b.md", "size": 1, "etag": "x", "sequencer": "01" } } });
        assert_eq!(keys(&bus), ["inbox/a+b.md"]);
    }

    #[test]
    fn our_own_message_passes_through() {
        let event = decode::<ObjectArrived>(&put("inbox/a.md").to_string()).unwrap().remove(0);
        assert_eq!(decode::<ObjectArrived>(&json!(event).to_string()).unwrap(), [event]);
    }

    #[test]
    fn poison_is_named_without_its_content() {
        assert_eq!(decode::<ObjectArrived>("{nope").unwrap_err(), DecodeError::Json { line: 1, column: 2 });
        let error = decode::<ObjectArrived>(r#"{"key": 7}"#).unwrap_err().to_string();
        assert!(error.starts_with("not a message of this stage"), "{error}");
        let mut broken = put("inbox/a.md");
        broken["Records"][0]["s3"]["object"].as_object_mut().unwrap().remove("size");
        assert_eq!(decode::<ObjectArrived>(&broken.to_string()).unwrap_err(), DecodeError::Event("size"));
    }
}
