//! Records in SQLite: one row each, the body as JSON text.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use quarry_model::{RecordKey, RecordPrefix, Timestamp};
use quarry_ports::records::MAX_TRANSACTION;
use quarry_ports::{Clock, Condition, Item, Page, QueryOptions, RecordError, Records, TransactError, Write};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Map, Value};

use crate::LocalError;
use crate::database::Database;
use crate::error::Refused;

/// The largest body, in bytes of JSON: what the cloud's table allows.
const MAX_BODY: usize = 400 * 1024;
/// Records of a page when the caller names no limit, and the most of any page.
const PAGE: usize = 1_000;

/// The records port.
pub(crate) struct SqliteRecords {
    pub(crate) database: Arc<Database>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// A record ready to be written.
struct Row {
    key: RecordKey,
    body: String,
    expires: Option<i64>,
}

enum Step {
    Put(Row, Condition),
    Delete(RecordKey, Condition),
    Check(RecordKey, Condition),
}

impl Step {
    fn target(&self) -> (&RecordKey, &Condition) {
        match self {
            Self::Put(row, condition) => (&row.key, condition),
            Self::Delete(key, condition) | Self::Check(key, condition) => (key, condition),
        }
    }
}

#[async_trait]
impl Records for SqliteRecords {
    async fn get(&self, key: &RecordKey) -> Result<Option<Item>, RecordError> {
        let (key, now) = (key.clone(), self.now());
        self.database.read(move |connection| load(connection, key, now)).await
    }

    async fn get_many(&self, keys: &[RecordKey]) -> Result<Vec<Option<Item>>, RecordError> {
        let (keys, now) = (keys.to_vec(), self.now());
        self.database.read(move |connection| keys.into_iter().map(|key| load(connection, key, now)).collect()).await
    }

    async fn put(&self, item: Item, condition: Condition) -> Result<(), RecordError> {
        let (row, now) = (row(item)?, self.now());
        self.database
            .write(move |connection| {
                if !holds(connection, &row.key, &condition, now)? {
                    return Err(RecordError::Condition(row.key));
                }
                Ok(store(connection, &row)?)
            })
            .await
    }

    async fn delete(&self, key: &RecordKey, condition: Condition) -> Result<(), RecordError> {
        let (key, now) = (key.clone(), self.now());
        self.database
            .write(move |connection| {
                if !holds(connection, &key, &condition, now)? {
                    return Err(RecordError::Condition(key));
                }
                Ok(remove(connection, &key)?)
            })
            .await
    }

    async fn write_many(&self, puts: Vec<Item>, deletes: Vec<RecordKey>) -> Result<(), RecordError> {
        let rows = puts.into_iter().map(row).collect::<Result<Vec<_>, _>>()?;
        self.database
            .write(move |connection| {
                rows.iter().try_for_each(|row| store(connection, row))?;
                deletes.iter().try_for_each(|key| remove(connection, key))?;
                Ok(())
            })
            .await
    }

    async fn transact(&self, writes: Vec<Write>) -> Result<(), TransactError> {
        if writes.is_empty() {
            return Ok(());
        }
        if writes.len() > MAX_TRANSACTION {
            return Err(RecordError::from(LocalError::Misuse("a transaction has at most 100 writes")).into());
        }
        let steps = writes.into_iter().map(step).collect::<Result<Vec<_>, _>>()?;
        let mut seen = HashSet::new();
        if !steps.iter().all(|step| seen.insert(step.target().0)) {
            return Err(RecordError::from(LocalError::Misuse("a transaction names each record once")).into());
        }
        let now = self.now();
        let outcome = self.database.write(move |connection| transact(connection, &steps, now)).await;
        outcome.map_err(|Refused(error)| error)
    }

    async fn query(&self, prefix: &RecordPrefix, options: QueryOptions) -> Result<Page, RecordError> {
        let (prefix, now) = (prefix.clone(), self.now());
        self.database.read(move |connection| query(connection, &prefix, &options, now)).await
    }

    async fn add(
        &self,
        key: &RecordKey,
        counters: &[(&str, i64)],
        set: Map<String, Value>,
        expires_at: Option<Timestamp>,
    ) -> Result<Item, RecordError> {
        let counters: Vec<(String, i64)> = counters.iter().map(|(name, by)| ((*name).to_owned(), *by)).collect();
        let (key, now) = (key.clone(), self.now());
        self.database
            .write(move |connection| {
                let mut item = load(connection, key.clone(), now)?.unwrap_or_else(|| Item { key, body: Map::new(), expires_at: None });
                for (name, by) in counters {
                    let before = match item.body.get(&name) {
                        None => 0,
                        Some(value) => value.as_i64().ok_or(LocalError::Misuse("a counter is a whole number"))?,
                    };
                    let after = before.checked_add(by).ok_or(LocalError::Misuse("a counter has left the range of 64 bits"))?;
                    item.body.insert(name, after.into());
                }
                item.body.extend(set);
                item.expires_at = expires_at.or(item.expires_at);
                store(connection, &row(item.clone())?)?;
                Ok(item)
            })
            .await
    }
}

impl SqliteRecords {
    fn now(&self) -> i64 {
        self.clock.now().millis()
    }
}

fn row(item: Item) -> Result<Row, RecordError> {
    let body = serde_json::to_string(&item.body).map_err(|error| RecordError::Shape(item.key.clone(), error))?;
    if body.len() > MAX_BODY {
        return Err(RecordError::TooLarge(item.key));
    }
    Ok(Row { key: item.key, body, expires: item.expires_at.map(Timestamp::millis) })
}

fn step(write: Write) -> Result<Step, RecordError> {
    Ok(match write {
        Write::Put(item, condition) => Step::Put(row(item)?, condition),
        Write::Delete(key, condition) => Step::Delete(key, condition),
        Write::Check(key, condition) => Step::Check(key, condition),
    })
}

fn transact(connection: &Connection, steps: &[Step], now: i64) -> Result<(), Refused> {
    let mut at_fault = Vec::with_capacity(steps.len());
    for step in steps {
        let (key, condition) = step.target();
        at_fault.push(!holds(connection, key, condition, now).map_err(|error| Refused(error.into()))?);
    }
    if at_fault.contains(&true) {
        return Err(Refused(TransactError::Conditions(at_fault)));
    }
    for step in steps {
        match step {
            Step::Put(row, _) => store(connection, row)?,
            Step::Delete(key, _) => remove(connection, key)?,
            Step::Check(..) => (),
        }
    }
    Ok(())
}

fn load(connection: &Connection, key: RecordKey, now: i64) -> Result<Option<Item>, RecordError> {
    let mut statement = prepared(connection, "SELECT body, expires FROM records WHERE pk = ?1 AND sk = ?2")?;
    let found = statement
        .query_row(params![key.pk, key.sk], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Option<i64>>(1)?)))
        .optional()
        .map_err(LocalError::from)?;
    match found {
        Some((_, Some(expires))) if expires <= now => Ok(None),
        Some((body, expires)) => item(key, &body, expires).map(Some),
        None => Ok(None),
    }
}

fn item(key: RecordKey, body: &str, expires: Option<i64>) -> Result<Item, RecordError> {
    match serde_json::from_str(body) {
        Ok(body) => Ok(Item { key, body, expires_at: expires.map(Timestamp::from_millis) }),
        Err(error) => Err(RecordError::Shape(key, error)),
    }
}

fn holds(connection: &Connection, key: &RecordKey, condition: &Condition, now: i64) -> Result<bool, RecordError> {
    if *condition == Condition::None {
        return Ok(true);
    }
    let found = load(connection, key.clone(), now)?;
    Ok(match (condition, found) {
        (Condition::None, _) => true,
        (Condition::Absent, found) => found.is_none(),
        (Condition::Exists, found) => found.is_some(),
        (Condition::Equals(field, value), found) => found.is_some_and(|item| item.body.get(field) == Some(value)),
        (Condition::AbsentOrBelow(field, bound), found) => {
            found.is_none_or(|item| item.body.get(field).and_then(Value::as_i64).is_some_and(|number| number < *bound))
        }
    })
}

fn store(connection: &Connection, row: &Row) -> Result<(), LocalError> {
    let sql = "INSERT INTO records (pk, sk, body, expires) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (pk, sk) DO UPDATE SET body = excluded.body, expires = excluded.expires";
    prepared(connection, sql)?.execute(params![row.key.pk, row.key.sk, row.body, row.expires])?;
    Ok(())
}

fn remove(connection: &Connection, key: &RecordKey) -> Result<(), LocalError> {
    prepared(connection, "DELETE FROM records WHERE pk = ?1 AND sk = ?2")?.execute(params![key.pk, key.sk])?;
    Ok(())
}

fn query(connection: &Connection, prefix: &RecordPrefix, options: &QueryOptions, now: i64) -> Result<Page, RecordError> {
    let limit = if options.limit == 0 { PAGE } else { options.limit.min(PAGE) };
    // The cursor replaces the bound it lies within, so that each page is one range of the index. No upper bound is
    // written as an empty blob: every text sorts before it.
    let mut from = (">=", prefix.sk.clone());
    let mut to = after_prefix(&prefix.sk);
    if let Some(cursor) = &options.cursor {
        if !options.descending && *cursor >= from.1 {
            from = (">", cursor.clone());
        }
        if options.descending && to.as_ref().is_none_or(|to| cursor < to) {
            to = Some(cursor.clone());
        }
    }
    let sql = format!(
        "SELECT sk, body, expires FROM records
         WHERE pk = ?1 AND sk {} ?2 AND sk < ifnull(?3, x'') AND (expires IS NULL OR expires > ?4)
         ORDER BY sk {} LIMIT ?5",
        from.0,
        if options.descending { "DESC" } else { "ASC" }
    );
    let mut statement = prepared(connection, &sql)?;
    let mut rows = statement.query(params![prefix.pk, from.1, to, now, limit as i64]).map_err(LocalError::from)?;
    let mut page = Page::default();
    while let Some(row) = rows.next().map_err(LocalError::from)? {
        let sk: String = row.get(0).map_err(LocalError::from)?;
        let body: String = row.get(1).map_err(LocalError::from)?;
        let expires: Option<i64> = row.get(2).map_err(LocalError::from)?;
        page.items.push(item(RecordKey { pk: prefix.pk.clone(), sk }, &body, expires)?);
    }
    if page.items.len() == limit {
        page.cursor = page.items.last().map(|item| item.key.sk.clone());
    }
    Ok(page)
}

/// The smallest text after every text that begins with `prefix`; `None` when there is none. Bytes of UTF-8 sort as
/// code points do, so the last code point that has a successor takes it.
fn after_prefix(prefix: &str) -> Option<String> {
    let mut kept = prefix.to_owned();
    while let Some(last) = kept.pop() {
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            kept.push(next);
            return Some(kept);
        }
    }
    None
}

fn prepared<'c>(connection: &'c Connection, sql: &str) -> Result<rusqlite::CachedStatement<'c>, LocalError> {
    Ok(connection.prepare_cached(sql)?)
}

#[cfg(test)]
mod tests {
    use super::after_prefix;

    #[test]
    fn the_bound_of_a_prefix_is_tight() {
        assert_eq!(after_prefix("DOC#").as_deref(), Some("DOC$"));
        assert_eq!(after_prefix("a\u{10FFFF}").as_deref(), Some("b"));
        assert_eq!(after_prefix("\u{D7FF}").as_deref(), Some("\u{E000}"));
        assert_eq!(after_prefix(""), None);
        assert_eq!(after_prefix("\u{10FFFF}"), None);
    }
}
