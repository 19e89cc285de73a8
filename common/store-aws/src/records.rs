//! Records in DynamoDB: one table, keys `pk` and `sk`. Every read is strongly consistent.

use std::collections::{BTreeMap, HashMap, HashSet};

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValue};
use quarry_model::{RecordKey, RecordPrefix, Timestamp};
use quarry_ports::{Clock, Condition, Item, Page, QueryOptions, RecordError, Records, SystemClock, TransactError, Write};
use serde_json::{Map, Value};

use crate::AwsError;
use crate::attribute::{self, Attributes, attribute, attribute_name, from_attributes, key_attributes, to_attributes};
use crate::backoff::Backoff;
use crate::condition::{ALIVE, expression, millis};

/// Tries of a single write that meets a transaction, and of counting on a record that expires meanwhile.
const TRIES: u32 = 8;

/// The records port.
pub(crate) struct Table {
    pub(crate) client: Client,
    pub(crate) table: String,
}

#[async_trait]
impl Records for Table {
    async fn get(&self, key: &RecordKey) -> Result<Option<Item>, RecordError> {
        let sent = self.client.get_item().table_name(&self.table).set_key(Some(key_attributes(key))).consistent_read(true).send().await;
        match sent.map_err(AwsError::of("GetItem"))?.item {
            Some(found) => Ok(alive(from_attributes(found)?, now())),
            None => Ok(None),
        }
    }

    async fn get_many(&self, keys: &[RecordKey]) -> Result<Vec<Option<Item>>, RecordError> {
        // The service refuses a key named twice.
        let distinct: HashSet<&RecordKey> = keys.iter().collect();
        let found = self.get_batches(distinct.into_iter().map(key_attributes).collect()).await?;
        let now = now();
        let mut items: HashMap<RecordKey, Item> = HashMap::with_capacity(found.len());
        for attributes in found {
            if let Some(item) = alive(from_attributes(attributes)?, now) {
                items.insert(item.key.clone(), item);
            }
        }
        Ok(keys.iter().map(|key| items.get(key).cloned()).collect())
    }

    async fn put(&self, item: Item, condition: Condition) -> Result<(), RecordError> {
        let attributes = to_attributes(&item)?;
        let mut backoff = Backoff::new("PutItem", TRIES);
        loop {
            let checked = expression(&condition, now());
            let sent = self
                .client
                .put_item()
                .table_name(&self.table)
                .set_item(Some(attributes.clone()))
                .set_condition_expression(checked.text())
                .set_expression_attribute_names(checked.names)
                .set_expression_attribute_values(checked.values)
                .send()
                .await;
            match sent.map_err(AwsError::of("PutItem")) {
                Ok(_) => return Ok(()),
                Err(error) => self.refused(&item.key, error, &mut backoff).await?,
            }
        }
    }

    async fn delete(&self, key: &RecordKey, condition: Condition) -> Result<(), RecordError> {
        let mut backoff = Backoff::new("DeleteItem", TRIES);
        loop {
            let checked = expression(&condition, now());
            let sent = self
                .client
                .delete_item()
                .table_name(&self.table)
                .set_key(Some(key_attributes(key)))
                .set_condition_expression(checked.text())
                .set_expression_attribute_names(checked.names)
                .set_expression_attribute_values(checked.values)
                .send()
                .await;
            match sent.map_err(AwsError::of("DeleteItem")) {
                Ok(_) => return Ok(()),
                Err(error) => self.refused(key, error, &mut backoff).await?,
            }
        }
    }

    async fn write_many(&self, puts: Vec<Item>, deletes: Vec<RecordKey>) -> Result<(), RecordError> {
        // The service refuses a record named twice: the last put stays, a delete goes over it.
        let mut last: BTreeMap<RecordKey, Option<Attributes>> = BTreeMap::new();
        for item in puts {
            let attributes = to_attributes(&item)?;
            last.insert(item.key, Some(attributes));
        }
        last.extend(deletes.into_iter().map(|key| (key, None)));
        Ok(self.write_batches(last).await?)
    }

    async fn transact(&self, writes: Vec<Write>) -> Result<(), TransactError> {
        self.write_together(writes, now()).await
    }

    async fn query(&self, prefix: &RecordPrefix, options: QueryOptions) -> Result<Page, RecordError> {
        let start = match start(prefix, &options) {
            Start::At(start) => start,
            Start::PastTheEnd => return Ok(Page::default()),
        };
        let mut values = HashMap::from([(":pk".to_owned(), AttributeValue::S(prefix.pk.clone())), (":now".to_owned(), millis(now()))]);
        let mut condition = "pk = :pk".to_owned();
        if !prefix.sk.is_empty() {
            condition.push_str(" AND begins_with(sk, :sk)");
            values.insert(":sk".to_owned(), AttributeValue::S(prefix.sk.clone()));
        }
        let limit = (options.limit > 0).then(|| i32::try_from(options.limit).unwrap_or(i32::MAX));
        let sent = self
            .client
            .query()
            .table_name(&self.table)
            .key_condition_expression(condition)
            .filter_expression(ALIVE)
            .set_expression_attribute_values(Some(values))
            .set_exclusive_start_key(start)
            .set_limit(limit)
            .scan_index_forward(!options.descending)
            .consistent_read(true)
            .send()
            .await;
        let found = sent.map_err(AwsError::of("Query"))?;
        let cursor = match found.last_evaluated_key.as_ref().and_then(|last| last.get(attribute::SK)) {
            Some(AttributeValue::S(sk)) => Some(sk.clone()),
            _ => None,
        };
        let items = found.items.unwrap_or_default().into_iter().map(from_attributes).collect::<Result<Vec<_>, _>>()?;
        Ok(Page { items, cursor })
    }

    async fn add(
        &self,
        key: &RecordKey,
        counters: &[(&str, i64)],
        set: Map<String, Value>,
        expires_at: Option<Timestamp>,
    ) -> Result<Item, RecordError> {
        let mut backoff = Backoff::new("UpdateItem", TRIES);
        loop {
            let now = now();
            let (update, names, values) = update(counters, &set, expires_at, now);
            let sent = self
                .client
                .update_item()
                .table_name(&self.table)
                .set_key(Some(key_attributes(key)))
                .set_update_expression((!update.is_empty()).then_some(update))
                .condition_expression(ALIVE)
                .set_expression_attribute_names(Some(names).filter(|names| !names.is_empty()))
                .set_expression_attribute_values(Some(values))
                .return_values(ReturnValue::AllNew)
                .send()
                .await;
            let error = match sent.map_err(AwsError::of("UpdateItem")) {
                Ok(updated) => {
                    let attributes = updated.attributes.ok_or(AwsError::Answer("an update answered nothing"))?;
                    return from_attributes(attributes);
                }
                Err(error) => error,
            };
            match self.refused(key, error, &mut backoff).await {
                // What is there has expired and counts as absent: remove it, unless somebody has renewed it, and try again.
                Err(RecordError::Condition(_)) => {
                    backoff.wait("the record expired").await.map_err(RecordError::from)?;
                    self.remove_expired(key, now).await?;
                }
                other => other?,
            }
        }
    }
}

impl Table {
    /// What a refused single write means; returns to try again.
    async fn refused(&self, key: &RecordKey, error: AwsError, backoff: &mut Backoff) -> Result<(), RecordError> {
        match error.code() {
            "ConditionalCheckFailedException" => Err(RecordError::Condition(key.clone())),
            "TransactionConflictException" => Ok(backoff.wait(error).await?),
            "ValidationException" if is_size(error.message()) => Err(RecordError::TooLarge(key.clone())),
            _ => Err(error.into()),
        }
    }

    async fn remove_expired(&self, key: &RecordKey, now: i64) -> Result<(), RecordError> {
        let sent = self
            .client
            .delete_item()
            .table_name(&self.table)
            .set_key(Some(key_attributes(key)))
            .condition_expression("ttl_ms <= :now")
            .expression_attribute_values(":now", millis(now))
            .send()
            .await;
        match sent.map_err(AwsError::of("DeleteItem")) {
            Err(error) if error.code() != "ConditionalCheckFailedException" && !error.is_transient() => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// Whether the service's words are about the size of an item.
pub(crate) fn is_size(message: &str) -> bool {
    message.to_ascii_lowercase().contains("size")
}

fn now() -> i64 {
    SystemClock.now().millis()
}

fn alive(item: Item, now: i64) -> Option<Item> {
    item.expires_at.is_none_or(|at| at.millis() > now).then_some(item)
}

enum Start {
    At(Option<Attributes>),
    PastTheEnd,
}

/// The service refuses to begin outside the prefix, so a cursor outside it is answered here.
fn start(prefix: &RecordPrefix, options: &QueryOptions) -> Start {
    match &options.cursor {
        None => Start::At(None),
        Some(cursor) if cursor.starts_with(&prefix.sk) => {
            Start::At(Some(key_attributes(&RecordKey { pk: prefix.pk.clone(), sk: cursor.clone() })))
        }
        Some(cursor) if (cursor < &prefix.sk) != options.descending => Start::At(None),
        Some(_) => Start::PastTheEnd,
    }
}

type Update = (String, HashMap<String, String>, Attributes);

fn update(counters: &[(&str, i64)], set: &Map<String, Value>, expires_at: Option<Timestamp>, now: i64) -> Update {
    let mut names = HashMap::new();
    let mut values = HashMap::from([(":now".to_owned(), millis(now))]);
    let mut adds = Vec::new();
    // A field both counted and set is set.
    for (at, (field, by)) in counters.iter().filter(|(field, _)| !set.contains_key(*field)).enumerate() {
        adds.push(format!("#c{at} :c{at}"));
        names.insert(format!("#c{at}"), attribute_name(field));
        values.insert(format!(":c{at}"), AttributeValue::N(by.to_string()));
    }
    let fields = set.iter().map(|(field, value)| (attribute_name(field), attribute(value)));
    let end = expires_at.into_iter().flat_map(attribute::end_of_life).map(|(name, value)| (name.to_owned(), value));
    let mut sets = Vec::new();
    for (at, (name, value)) in fields.chain(end).enumerate() {
        sets.push(format!("#s{at} = :s{at}"));
        names.insert(format!("#s{at}"), name);
        values.insert(format!(":s{at}"), value);
    }
    let mut text = String::new();
    for (word, parts) in [("ADD", adds), ("SET", sets)] {
        if !parts.is_empty() {
            text.extend([word, " ", parts.join(", ").as_str(), " "]);
        }
    }
    (text.trim_end().to_owned(), names, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_outside_the_prefix_begins_anew_or_ends() {
        let prefix = RecordPrefix { pk: "P".into(), sk: "B#".into() };
        let at = |cursor: &str, descending| start(&prefix, &QueryOptions { limit: 0, cursor: Some(cursor.into()), descending });
        assert!(matches!(at("A", false), Start::At(None)));
        assert!(matches!(at("A", true), Start::PastTheEnd));
        assert!(matches!(at("C", false), Start::PastTheEnd));
        assert!(matches!(at("C", true), Start::At(None)));
        assert!(matches!(at("B#1", false), Start::At(Some(_))));
    }
}
