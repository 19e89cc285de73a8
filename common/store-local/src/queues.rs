//! Queues in SQLite: one row a message, visible from a moment on; dead letters are rows too.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use quarry_model::message::QueueName;
use quarry_ports::queue::{Chosen, MAX_MESSAGE_BYTES};
use quarry_ports::{Clock, DeadLetter, Outgoing, Queue, QueueError, Received};
use rusqlite::{Connection, OptionalExtension, params};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::LocalError;
use crate::database::Database;

/// How long a deduplication value is remembered, in milliseconds: SQS's five minutes.
const DEDUPLICATION_MILLIS: i64 = 5 * 60 * 1000;
/// How often a waiting receiver looks for what other processes have sent.
const POLL: Duration = Duration::from_millis(25);
/// How many dead letters are read at once.
const LETTERS: usize = 500;

/// The queue port.
pub(crate) struct SqliteQueues {
    pub(crate) database: Arc<Database>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) max_receives: u32,
    /// Rung when this process sends or releases.
    pub(crate) bell: Notify,
}

#[async_trait]
impl Queue for SqliteQueues {
    async fn send(&self, queue: QueueName, messages: Vec<Outgoing>) -> Result<(), QueueError> {
        if let Some(message) = messages.iter().find(|message| message.body.len() > MAX_MESSAGE_BYTES) {
            return Err(QueueError::TooLarge(message.body.len()));
        }
        if queue.is_fifo() && messages.iter().any(|message| message.group.is_none()) {
            return Err(LocalError::Misuse("a message of a FIFO queue names its group").into());
        }
        let now = self.now();
        self.database
            .write(move |connection| messages.iter().try_for_each(|message| send(connection, queue, message, now)))
            .await
            .map_err(|error: LocalError| QueueError::from(error))?;
        self.bell.notify_waiters();
        Ok(())
    }

    async fn receive(&self, queue: QueueName, max: usize, visibility: Duration, wait: Duration) -> Result<Vec<Received>, QueueError> {
        let deadline = Instant::now() + wait;
        loop {
            // Armed before looking, so that a send between the look and the sleep is heard.
            let rung = self.bell.notified();
            tokio::pin!(rung);
            rung.as_mut().enable();
            if self.has_visible(queue).await? {
                let received = self.take(queue, max, visibility).await?;
                if !received.is_empty() {
                    return Ok(received);
                }
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Vec::new());
            }
            // Either way the next look decides.
            let _ = tokio::time::timeout(left.min(POLL), rung).await;
        }
    }

    async fn acknowledge(&self, queue: QueueName, receipt: &str) -> Result<(), QueueError> {
        let receipt = receipt.to_owned();
        self.database
            .write(move |connection| {
                let sql = "DELETE FROM messages WHERE seq = ?1 AND queue = ?2 AND receipt = ?3 AND dead = 0";
                exactly_one(connection.prepare_cached(sql).map_err(LocalError::from)?.execute(params![
                    sequence(&receipt)?,
                    queue.name(),
                    receipt
                ]))
            })
            .await?;
        if queue.is_fifo() {
            self.bell.notify_waiters();
        }
        Ok(())
    }

    async fn change_visibility(&self, queue: QueueName, receipt: &str, delay: Duration) -> Result<(), QueueError> {
        let (receipt, visible) = (receipt.to_owned(), self.now().saturating_add(millis(delay)));
        self.database
            .write(move |connection| {
                let sql = "UPDATE messages SET visible = ?4 WHERE seq = ?1 AND queue = ?2 AND receipt = ?3 AND dead = 0";
                exactly_one(connection.prepare_cached(sql).map_err(LocalError::from)?.execute(params![
                    sequence(&receipt)?,
                    queue.name(),
                    receipt,
                    visible
                ]))
            })
            .await?;
        self.bell.notify_waiters();
        Ok(())
    }

    async fn dead_letters(&self, queue: QueueName, max: usize) -> Result<Vec<DeadLetter>, QueueError> {
        Ok(self.letters_after(queue, 0, max).await?.into_iter().map(|(_, letter)| letter).collect())
    }

    async fn redrive(&self, queue: QueueName, max: usize, chosen: Chosen<'_>) -> Result<usize, QueueError> {
        let (mut moved, mut after) = (0, 0);
        while moved < max {
            let page = self.letters_after(queue, after, LETTERS).await?;
            let Some((last, _)) = page.last() else {
                break;
            };
            after = *last;
            let sequences: Vec<i64> = page.iter().filter(|(_, letter)| chosen(letter)).map(|(seq, _)| *seq).take(max - moved).collect();
            moved += self.revive(sequences).await?;
        }
        self.bell.notify_waiters();
        Ok(moved)
    }
}

impl SqliteQueues {
    /// See [`crate::LocalStore::release_all`].
    pub(crate) async fn release_all(&self) -> Result<usize, QueueError> {
        let now = self.now();
        let work = move |connection: &Connection| {
            let sql = "UPDATE messages SET visible = ?1, receipt = NULL, receives = MAX(receives - 1, 0)
                WHERE receipt IS NOT NULL AND visible > ?1 AND dead = 0";
            Ok(connection.prepare_cached(sql)?.execute(params![now])?)
        };
        let released = self.database.write(work).await.map_err(|error: LocalError| QueueError::from(error))?;
        self.bell.notify_waiters();
        Ok(released)
    }

    /// The dead letters after a sequence number, in order.
    async fn letters_after(&self, queue: QueueName, after: i64, max: usize) -> Result<Vec<(i64, DeadLetter)>, QueueError> {
        let work = move |connection: &Connection| {
            let sql = "SELECT seq, body FROM messages WHERE queue = ?1 AND dead = 1 AND seq > ?2 ORDER BY seq LIMIT ?3";
            let mut statement = connection.prepare_cached(sql)?;
            let limit = i64::try_from(max).unwrap_or(i64::MAX);
            let rows = statement.query_map(params![queue.name(), after, limit], |row| {
                let seq = row.get(0)?;
                Ok((seq, DeadLetter { id: id(seq), body: row.get(1)? }))
            })?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?)
        };
        self.database.read(work).await.map_err(|error: LocalError| error.into())
    }

    /// Makes dead letters messages again, as if never received; how many still were letters.
    async fn revive(&self, sequences: Vec<i64>) -> Result<usize, QueueError> {
        let now = self.now();
        let work = move |connection: &Connection| {
            let sql = "UPDATE messages SET dead = 0, receives = 0, receipt = NULL, visible = ?2 WHERE seq = ?1 AND dead = 1";
            let mut statement = connection.prepare_cached(sql)?;
            let mut moved = 0;
            for seq in sequences {
                moved += statement.execute(params![seq, now])?;
            }
            Ok(moved)
        };
        self.database.write(work).await.map_err(|error: LocalError| error.into())
    }

    fn now(&self) -> i64 {
        self.clock.now().millis()
    }

    /// A cheap look without the write lock, so that idle receivers do not disturb the writers.
    async fn has_visible(&self, queue: QueueName) -> Result<bool, QueueError> {
        let now = self.now();
        let work = move |connection: &Connection| {
            let sql = "SELECT EXISTS (SELECT 1 FROM messages WHERE queue = ?1 AND dead = 0 AND visible <= ?2)";
            Ok(connection.prepare_cached(sql)?.query_row(params![queue.name(), now], |row| row.get(0))?)
        };
        self.database.read(work).await.map_err(|error: LocalError| error.into())
    }

    async fn take(&self, queue: QueueName, max: usize, visibility: Duration) -> Result<Vec<Received>, QueueError> {
        let (now, max_receives) = (self.now(), self.max_receives);
        let until = now.saturating_add(millis(visibility));
        let work = move |connection: &Connection| {
            bury(connection, queue, now, max_receives)?;
            let taken = candidates(connection, queue, now, max)?;
            taken.into_iter().map(|message| mark(connection, message, until)).collect::<Result<Vec<_>, LocalError>>()
        };
        self.database.write(work).await.map_err(QueueError::from)
    }
}

struct Candidate {
    seq: i64,
    body: String,
    group: Option<String>,
    receives: u32,
    trace: Option<String>,
}

fn send(connection: &Connection, queue: QueueName, message: &Outgoing, now: i64) -> Result<(), LocalError> {
    if queue.is_fifo()
        && let Some(value) = &message.deduplication
        && !first_within_window(connection, queue, value, now)?
    {
        return Ok(());
    }
    let visible = if queue.is_fifo() { now } else { now.saturating_add(millis(message.delay)) };
    let group = message.group.as_ref().filter(|_| queue.is_fifo());
    connection.prepare_cached("INSERT INTO messages (queue, body, grp, visible, trace) VALUES (?1, ?2, ?3, ?4, ?5)")?.execute(params![
        queue.name(),
        message.body,
        group,
        visible,
        message.trace.map(|trace| trace.to_string())
    ])?;
    Ok(())
}

fn first_within_window(connection: &Connection, queue: QueueName, value: &str, now: i64) -> Result<bool, LocalError> {
    let sql = "SELECT 1 FROM deduplication WHERE queue = ?1 AND value = ?2 AND until > ?3";
    let known = connection.prepare_cached(sql)?.query_row(params![queue.name(), value, now], |_| Ok(())).optional()?;
    if known.is_some() {
        return Ok(false);
    }
    connection.prepare_cached("INSERT OR REPLACE INTO deduplication (queue, value, until) VALUES (?1, ?2, ?3)")?.execute(params![
        queue.name(),
        value,
        now.saturating_add(DEDUPLICATION_MILLIS)
    ])?;
    Ok(true)
}

/// Messages whose receives are used up become dead letters.
fn bury(connection: &Connection, queue: QueueName, now: i64, max_receives: u32) -> Result<(), LocalError> {
    let sql = "UPDATE messages SET dead = 1, receipt = NULL WHERE queue = ?1 AND dead = 0 AND visible <= ?2 AND receives >= ?3";
    connection.prepare_cached(sql)?.execute(params![queue.name(), now, max_receives])?;
    Ok(())
}

/// What may be taken now: the longest visible first; in a FIFO queue the oldest first, without the groups in flight.
fn candidates(connection: &Connection, queue: QueueName, now: i64, max: usize) -> Result<Vec<Candidate>, LocalError> {
    let sql = if queue.is_fifo() {
        "SELECT seq, body, grp, receives, trace FROM messages AS m
         WHERE queue = ?1 AND dead = 0 AND NOT EXISTS (
             SELECT 1 FROM messages AS f WHERE f.queue = ?1 AND f.dead = 0 AND f.grp = m.grp AND f.visible > ?2)
         ORDER BY seq LIMIT ?3"
    } else {
        "SELECT seq, body, grp, receives, trace FROM messages WHERE queue = ?1 AND dead = 0 AND visible <= ?2 ORDER BY visible, seq LIMIT ?3"
    };
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![queue.name(), now, max as i64], |row| {
        Ok(Candidate { seq: row.get(0)?, body: row.get(1)?, group: row.get(2)?, receives: row.get(3)?, trace: row.get(4)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn mark(connection: &Connection, message: Candidate, until: i64) -> Result<Received, LocalError> {
    let mut nonce = [0; 8];
    getrandom::fill(&mut nonce).map_err(|_| LocalError::Misuse("the system gives no random numbers"))?;
    let receipt = format!("{}-{}", message.seq, hex::encode(nonce));
    let receive_count = message.receives.saturating_add(1);
    connection.prepare_cached("UPDATE messages SET visible = ?2, receives = ?3, receipt = ?4 WHERE seq = ?1")?.execute(params![
        message.seq,
        until,
        receive_count,
        receipt
    ])?;
    // What is no trace is none: it was only to be handed on.
    let trace = message.trace.and_then(|trace| trace.parse().ok());
    Ok(Received { id: id(message.seq), body: message.body, group: message.group, receipt, receive_count, trace })
}

fn exactly_one(changed: rusqlite::Result<usize>) -> Result<(), QueueError> {
    match changed.map_err(LocalError::from)? {
        0 => Err(QueueError::Receipt),
        _ => Ok(()),
    }
}

fn sequence(receipt: &str) -> Result<i64, QueueError> {
    receipt.split_once('-').and_then(|(seq, _)| seq.parse().ok()).ok_or(QueueError::Receipt)
}

fn id(seq: i64) -> String {
    format!("message-{seq}")
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
