//! A record as DynamoDB holds it, and back, without losing a digit.
//!
//! Top-level text, whole numbers, booleans and null are attributes of their own type, so that conditions and counters
//! can name them. Everything else (lists, objects, numbers with a fraction) is one map `{ "json": "…" }` holding its JSON
//! text: DynamoDB's numbers have 38 digits and another range than JSON's, its nesting ends at 32, and a map has no order.
//!
//! Beside the body stand `pk`, `sk`, `ttl` (seconds, rounded up: when DynamoDB may remove the item) and `ttl_ms` (from
//! when on it counts as absent). A field whose name is one of these, is empty or begins with `_` gets a `_` in front.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use quarry_model::{RecordKey, Timestamp};
use quarry_ports::{Item, RecordError};
use serde_json::{Map, Value};

use crate::AwsError;

/// An item as the SDK has it.
pub(crate) type Attributes = HashMap<String, AttributeValue>;

pub(crate) const PK: &str = "pk";
pub(crate) const SK: &str = "sk";
pub(crate) const TTL: &str = "ttl";
pub(crate) const TTL_MS: &str = "ttl_ms";
const JSON: &str = "json";

/// The largest item, in bytes as DynamoDB counts them: 400 KiB.
const MAX_ITEM: usize = 400 * 1024;

/// The attribute that holds a field.
pub(crate) fn attribute_name(field: &str) -> String {
    if field.is_empty() || field.starts_with('_') || [PK, SK, TTL, TTL_MS].contains(&field) {
        return format!("_{field}");
    }
    field.to_owned()
}

/// A field's value.
pub(crate) fn attribute(value: &Value) -> AttributeValue {
    match value {
        Value::String(text) => AttributeValue::S(text.clone()),
        Value::Number(number) if number.is_i64() || number.is_u64() => AttributeValue::N(number.to_string()),
        Value::Bool(truth) => AttributeValue::Bool(*truth),
        Value::Null => AttributeValue::Null(true),
        other => AttributeValue::M(HashMap::from([(JSON.to_owned(), AttributeValue::S(other.to_string()))])),
    }
}

/// A record's key as attributes.
pub(crate) fn key_attributes(key: &RecordKey) -> Attributes {
    HashMap::from([(PK.to_owned(), AttributeValue::S(key.pk.clone())), (SK.to_owned(), AttributeValue::S(key.sk.clone()))])
}

/// When the item may be removed, and from when on it is absent.
pub(crate) fn end_of_life(at: Timestamp) -> [(&'static str, AttributeValue); 2] {
    let seconds = (at.millis() + 999) / 1000;
    [(TTL, AttributeValue::N(seconds.to_string())), (TTL_MS, AttributeValue::N(at.millis().to_string()))]
}

/// A record as an item; refused when it is larger than an item may be.
pub(crate) fn to_attributes(item: &Item) -> Result<Attributes, RecordError> {
    let mut attributes = key_attributes(&item.key);
    attributes.extend(item.body.iter().map(|(field, value)| (attribute_name(field), attribute(value))));
    if let Some(at) = item.expires_at {
        attributes.extend(end_of_life(at).map(|(name, value)| (name.to_owned(), value)));
    }
    if size(&attributes) > MAX_ITEM {
        return Err(RecordError::TooLarge(item.key.clone()));
    }
    Ok(attributes)
}

/// An item as a record.
pub(crate) fn from_attributes(mut attributes: Attributes) -> Result<Item, RecordError> {
    let key = RecordKey { pk: text(attributes.remove(PK))?, sk: text(attributes.remove(SK))? };
    attributes.remove(TTL);
    let expires_at = match attributes.remove(TTL_MS) {
        Some(AttributeValue::N(millis)) => Some(Timestamp::from_millis(millis.parse().map_err(|_| foreign())?)),
        Some(_) => return Err(foreign().into()),
        None => None,
    };
    let mut body = Map::new();
    for (name, attribute) in attributes {
        let field = name.strip_prefix('_').map_or(name.as_str(), |field| field).to_owned();
        body.insert(field, value(attribute).map_err(|error| error.named(&key))?);
    }
    // The SDK's map has no order; a fixed one makes equal records print alike.
    body.sort_keys();
    Ok(Item { key, body, expires_at })
}

enum Unreadable {
    Json(serde_json::Error),
    Foreign,
}

impl Unreadable {
    fn named(self, key: &RecordKey) -> RecordError {
        match self {
            Self::Json(error) => RecordError::Shape(key.clone(), error),
            Self::Foreign => foreign().into(),
        }
    }
}

fn value(attribute: AttributeValue) -> Result<Value, Unreadable> {
    match attribute {
        AttributeValue::S(text) => Ok(Value::String(text)),
        AttributeValue::Bool(truth) => Ok(Value::Bool(truth)),
        AttributeValue::Null(_) => Ok(Value::Null),
        AttributeValue::N(digits) => {
            digits.parse::<i64>().map(Value::from).or_else(|_| digits.parse::<u64>().map(Value::from)).map_err(|_| Unreadable::Foreign)
        }
        AttributeValue::M(map) => match map.get(JSON) {
            Some(AttributeValue::S(text)) => serde_json::from_str(text).map_err(Unreadable::Json),
            _ => Err(Unreadable::Foreign),
        },
        _ => Err(Unreadable::Foreign),
    }
}

fn text(attribute: Option<AttributeValue>) -> Result<String, AwsError> {
    match attribute {
        Some(AttributeValue::S(text)) => Ok(text),
        _ => Err(foreign()),
    }
}

fn foreign() -> AwsError {
    AwsError::Answer("the table holds an item that Quarry did not write")
}

/// Bytes as DynamoDB counts them: names and text in UTF-8, two digits a byte and one more for a number, one for truth and
/// null, three for a map and one for each of its entries.
fn size(attributes: &Attributes) -> usize {
    attributes.iter().map(|(name, value)| name.len() + value_size(value)).sum()
}

fn value_size(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::N(digits) => digits.len().div_ceil(2) + 1,
        AttributeValue::M(map) => 3 + map.iter().map(|(name, value)| 1 + name.len() + value_size(value)).sum::<usize>(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn round(body: Value) -> Value {
        let Value::Object(body) = body else { panic!("an object") };
        let item = Item { key: RecordKey { pk: "P".into(), sk: "S".into() }, body, expires_at: Some(Timestamp::from_millis(1_001)) };
        let attributes = to_attributes(&item).unwrap();
        assert_eq!(attributes[TTL], AttributeValue::N("2".into()));
        let back = from_attributes(attributes).unwrap();
        assert_eq!((&back.key, back.expires_at), (&item.key, item.expires_at));
        Value::Object(back.body)
    }

    #[test]
    fn bodies_come_back() {
        let body = json!({ "pk": 1, "_pk": 2, "__pk": 3, "": 4, "_": 5, "ttl": 6, "json": { "json": "x" }, "f": 0.1, "g": 1.0, "h": 1e300,
            "u": u64::MAX, "i": i64::MIN, "l": [1, [2.5]], "n": null, "b": false, "s": "" });
        assert_eq!(round(body.clone()), body);
    }

    #[test]
    fn only_what_conditions_can_name_has_its_own_type() {
        assert_eq!(attribute(&json!(7)), AttributeValue::N("7".into()));
        assert_eq!(attribute(&json!("7")), AttributeValue::S("7".into()));
        let list = HashMap::from([(JSON.to_owned(), AttributeValue::S("[7.0]".into()))]);
        assert_eq!(attribute(&json!([7.0])), AttributeValue::M(list));
    }

    #[test]
    fn what_we_did_not_write_is_an_error() {
        let mut attributes = key_attributes(&RecordKey { pk: "P".into(), sk: "S".into() });
        for foreign in [AttributeValue::Ss(vec!["a".into()]), AttributeValue::N("1.5".into()), AttributeValue::M(HashMap::new())] {
            attributes.insert("x".into(), foreign);
            assert!(matches!(from_attributes(attributes.clone()), Err(RecordError::Other(_))));
        }
        let damaged = HashMap::from([(JSON.to_owned(), AttributeValue::S("[".into()))]);
        attributes.insert("x".into(), AttributeValue::M(damaged));
        assert!(matches!(from_attributes(attributes), Err(RecordError::Shape(..))));
    }
}
