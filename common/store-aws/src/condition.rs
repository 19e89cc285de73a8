//! Conditions as DynamoDB writes them.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use quarry_ports::Condition;

use crate::attribute::{Attributes, attribute, attribute_name};

/// That an item has not expired, given that it is there.
pub(crate) const ALIVE: &str = "(attribute_not_exists(ttl_ms) OR ttl_ms > :now)";
const GONE: &str = "(attribute_not_exists(pk) OR ttl_ms <= :now)";

/// An expression with what it names.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Expression {
    pub(crate) text: String,
    /// `None` rather than empty: the service refuses empty maps.
    pub(crate) names: Option<HashMap<String, String>>,
    pub(crate) values: Option<Attributes>,
}

impl Expression {
    /// The text, when there is something to check.
    pub(crate) fn text(&self) -> Option<String> {
        (!self.text.is_empty()).then(|| self.text.clone())
    }
}

/// The moment as an attribute.
pub(crate) fn millis(now: i64) -> AttributeValue {
    AttributeValue::N(now.to_string())
}

/// The expression of a condition; empty when there is nothing to check.
pub(crate) fn expression(condition: &Condition, now: i64) -> Expression {
    let mut values = HashMap::from([(":now".to_owned(), millis(now))]);
    let mut names = None;
    let mut name = |field: &str| names = Some(HashMap::from([("#field".to_owned(), attribute_name(field))]));
    let text = match condition {
        Condition::None => return Expression::default(),
        Condition::Absent => GONE.to_owned(),
        Condition::Exists => format!("attribute_exists(pk) AND {ALIVE}"),
        Condition::Equals(field, value) => {
            name(field);
            values.insert(":value".to_owned(), attribute(value));
            format!("#field = :value AND {ALIVE}")
        }
        Condition::AbsentOrBelow(field, bound) => {
            name(field);
            values.insert(":value".to_owned(), millis(*bound));
            format!("{GONE} OR #field < :value")
        }
    };
    Expression { text, names, values: Some(values) }
}
