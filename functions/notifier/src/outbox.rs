//! The list of webhooks to be delivered.

use std::sync::Arc;
use std::time::Duration;

use quarry_model::job::{OutboxEntry, WebhookReport};
use quarry_model::{RecordKey, RecordPrefix, Timestamp};
use quarry_ports::{Condition, Item, QueryOptions, RecordError, Records, TransactError, Write};

/// How long one who has taken an entry has for it: longer than any delivery takes.
const LEASE: Duration = Duration::from_mins(1);
/// How long a report is kept: thirty days.
const REPORT_LIFE_MILLIS: i64 = 30 * 24 * 60 * 60 * 1000;

/// The entries that are due, the earliest first, at most `most`.
pub(crate) async fn due(records: &Arc<dyn Records>, now: Timestamp, most: usize) -> Result<Vec<OutboxEntry>, RecordError> {
    let page = records.query(&RecordPrefix::outbox(), QueryOptions { limit: most, ..QueryOptions::default() }).await?;
    let mut entries = Vec::with_capacity(page.items.len());
    for item in &page.items {
        let entry: OutboxEntry = item.read()?;
        if entry.due_millis > now.millis() {
            break;
        }
        entries.push(entry);
    }
    Ok(entries)
}

/// Takes an entry for the length of a lease and counts the attempt; `None` when somebody else was faster.
pub(crate) async fn take(records: &Arc<dyn Records>, entry: &OutboxEntry, now: Timestamp) -> Result<Option<OutboxEntry>, RecordError> {
    let taken = OutboxEntry { due_millis: after(now, LEASE), attempts: entry.attempts.saturating_add(1), ..entry.clone() };
    match records.transact(moved(entry, &taken)?).await {
        Ok(()) => Ok(Some(taken)),
        Err(TransactError::Conditions(_) | TransactError::Conflict) => Ok(None),
        Err(TransactError::Store(error)) => Err(error),
    }
}

/// Lets a taken entry be due again after a pause.
pub(crate) async fn postpone(records: &Arc<dyn Records>, taken: &OutboxEntry, now: Timestamp, pause: Duration) -> Result<(), RecordError> {
    let later = OutboxEntry { due_millis: after(now, pause), ..taken.clone() };
    settled(records.transact(moved(taken, &later)?).await)
}

/// Removes a taken entry and keeps how it ended.
pub(crate) async fn end(records: &Arc<dyn Records>, taken: &OutboxEntry, report: &WebhookReport) -> Result<(), RecordError> {
    let kept = Item::of(RecordKey::webhook(&taken.job_id), report)?.expiring(report.at.plus_millis(REPORT_LIFE_MILLIS));
    settled(records.transact(vec![Write::Delete(key(taken), Condition::Exists), Write::Put(kept, Condition::None)]).await)
}

/// Removes a taken entry whose job is gone.
pub(crate) async fn remove(records: &Arc<dyn Records>, taken: &OutboxEntry) -> Result<(), RecordError> {
    records.delete(&key(taken), Condition::None).await
}

fn moved(from: &OutboxEntry, to: &OutboxEntry) -> Result<Vec<Write>, RecordError> {
    Ok(vec![Write::Delete(key(from), Condition::Exists), Write::Put(Item::of(key(to), to)?, Condition::None)])
}

fn key(entry: &OutboxEntry) -> RecordKey {
    RecordKey::outbox(entry.due_millis, &entry.job_id)
}

fn after(now: Timestamp, pause: Duration) -> i64 {
    now.millis().saturating_add(i64::try_from(pause.as_millis()).unwrap_or(i64::MAX))
}

/// A lease that ran out meanwhile means that another notifier has the entry now, and answers for it.
fn settled(result: Result<(), TransactError>) -> Result<(), RecordError> {
    match result {
        Ok(()) | Err(TransactError::Conditions(_) | TransactError::Conflict) => Ok(()),
        Err(TransactError::Store(error)) => Err(error),
    }
}
