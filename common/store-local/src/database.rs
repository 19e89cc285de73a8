//! One SQLite file in WAL mode, shared by several processes.
//!
//! Writes of this process go through one thread that takes everything waiting into one transaction (each piece of
//! work in a savepoint of its own) and answers after the commit, so that many small writes cost little more than one.
//! A commit is in the write-ahead log before it is answered: it survives the process being killed, not a power cut.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use quarry_ports::Clock;
use rusqlite::{Connection, TransactionBehavior, params};
use tokio::sync::oneshot;

use crate::LocalError;

/// Version of the tables below, kept in `user_version`.
const SCHEMA: i64 = 2;

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS records (
    pk TEXT NOT NULL,
    sk TEXT NOT NULL,
    body TEXT NOT NULL,
    expires INTEGER,
    UNIQUE (pk, sk)
);
CREATE INDEX IF NOT EXISTS records_expire ON records (expires) WHERE expires IS NOT NULL;
CREATE TABLE IF NOT EXISTS messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    queue TEXT NOT NULL,
    body TEXT NOT NULL,
    grp TEXT,
    visible INTEGER NOT NULL,
    receives INTEGER NOT NULL DEFAULT 0,
    receipt TEXT,
    dead INTEGER NOT NULL DEFAULT 0,
    trace TEXT
);
CREATE INDEX IF NOT EXISTS messages_visible ON messages (queue, dead, visible);
CREATE INDEX IF NOT EXISTS messages_group ON messages (queue, dead, grp, visible) WHERE grp IS NOT NULL;
CREATE TABLE IF NOT EXISTS deduplication (
    queue TEXT NOT NULL,
    value TEXT NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (queue, value)
) WITHOUT ROWID;
";

/// What a file of the first version lacks.
const SECOND: &str = "ALTER TABLE messages ADD COLUMN trace TEXT;";

/// Most pieces of work in one transaction.
const GROUP: usize = 256;
/// Readers kept open between calls.
const READERS: usize = 4;
/// How often expired rows are removed, while there are writes.
const SWEEP_EVERY: Duration = Duration::from_mins(10);

type Finish = Box<dyn FnOnce(Result<(), LocalError>) + Send>;
/// Takes the open transaction, or why there is none.
type Task = Box<dyn FnOnce(Result<&Connection, LocalError>) -> Finish + Send>;

/// The file, opened.
pub(crate) struct Database {
    path: PathBuf,
    writer: Sender<Task>,
    readers: Arc<Mutex<Vec<Connection>>>,
}

impl Database {
    /// Opens the file, making it when it is not there, and starts the writing thread.
    pub(crate) fn open(path: &Path, clock: Arc<dyn Clock>) -> Result<Self, LocalError> {
        let mut connection = connect(path)?;
        prepare(&mut connection)?;
        let (writer, tasks) = channel();
        std::thread::Builder::new()
            .name("quarry-store".to_owned())
            .spawn(move || write_loop(&mut connection, &tasks, clock.as_ref()))
            .map_err(LocalError::file("start the writing thread for", path))?;
        Ok(Self { path: path.to_owned(), writer, readers: Arc::default() })
    }

    /// Runs `work` in the writing thread, all or nothing, and answers once it is committed. A caller that goes away
    /// does not undo it.
    pub(crate) async fn write<T, E>(&self, work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<LocalError> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let task: Task = Box::new(move |connection| {
            let outcome = connection.map_err(E::from).and_then(|connection| in_savepoint(connection, work));
            Box::new(move |committed| {
                // Nobody listening any more is no reason to fail the others of the group.
                let _ = answer.send(outcome.and_then(|value| committed.map(|()| value).map_err(E::from)));
            })
        });
        self.writer.send(task).map_err(|_| LocalError::Closed)?;
        answered.await.map_err(|_| LocalError::Closed)?
    }

    /// Runs `work` on a reader: one consistent view, with everything committed before the call.
    pub(crate) async fn read<T, E>(&self, work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<LocalError> + Send + 'static,
    {
        let (readers, path) = (Arc::clone(&self.readers), self.path.clone());
        let blocking = tokio::task::spawn_blocking(move || {
            let kept = readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut connection = match kept {
                Some(connection) => connection,
                None => connect(&path)?,
            };
            let view = connection.transaction().map_err(LocalError::from)?;
            let outcome = work(&view);
            drop(view);
            let mut kept = readers.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() < READERS {
                kept.push(connection);
            }
            outcome
        });
        blocking.await.map_err(|_| LocalError::Closed)?
    }
}

fn connect(path: &Path) -> Result<Connection, LocalError> {
    let mut connection = Connection::open(path)?;
    connection.busy_handler(Some(wait_for_lock))?;
    connection.set_prepared_statement_cache_capacity(64);
    enter_wal(&connection)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "cache_size", -16_384)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "wal_autocheckpoint", 4_000)?;
    Ok(connection)
}

/// Turning a new file to WAL fails at once while another process does the same, without asking the busy handler.
fn enter_wal(connection: &Connection) -> Result<(), LocalError> {
    for _ in 0..200 {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {
                std::thread::sleep(Duration::from_millis(10));
            }
            other => return Ok(other?),
        }
    }
    Ok(connection.pragma_update(None, "journal_mode", "WAL")?)
}

/// Another process is writing: come back in a millisecond or a few, for about half a minute.
fn wait_for_lock(tries: i32) -> bool {
    std::thread::sleep(Duration::from_millis(if tries < 20 { 1 } else { 4 }));
    tries < 8_000
}

fn prepare(connection: &mut Connection) -> Result<(), LocalError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found > SCHEMA {
        return Err(LocalError::NewerSchema { found, known: SCHEMA });
    }
    if found == 1 {
        transaction.execute_batch(SECOND)?;
    }
    transaction.execute_batch(TABLES)?;
    transaction.pragma_update(None, "user_version", SCHEMA)?;
    transaction.commit()?;
    Ok(())
}

fn in_savepoint<T, E: From<LocalError>>(connection: &Connection, work: impl FnOnce(&Connection) -> Result<T, E>) -> Result<T, E> {
    run(connection, "SAVEPOINT work")?;
    let outcome = work(connection);
    // A full disk makes SQLite roll back everything by itself; then there is no savepoint left.
    if connection.is_autocommit() {
        return outcome.and(Err(rolled_back().into()));
    }
    if outcome.is_err() {
        run(connection, "ROLLBACK TO work")?;
    }
    run(connection, "RELEASE work")?;
    outcome
}

fn run(connection: &Connection, sql: &str) -> Result<(), LocalError> {
    connection.prepare_cached(sql)?.execute([])?;
    Ok(())
}

fn write_loop(connection: &mut Connection, tasks: &Receiver<Task>, clock: &dyn Clock) {
    let mut swept: Option<Instant> = None;
    while let Ok(first) = tasks.recv() {
        let group = std::iter::once(first).chain(tasks.try_iter().take(GROUP - 1));
        write_group(connection, group);
        if swept.is_none_or(|at| at.elapsed() > SWEEP_EVERY) {
            swept = Some(Instant::now());
            if let Err(error) = sweep(connection, clock.now().millis()) {
                tracing::warn!(%error, "expired rows were not removed");
            }
        }
    }
}

fn write_group(connection: &Connection, group: impl Iterator<Item = Task>) {
    let begun = run(connection, "BEGIN IMMEDIATE");
    let finishes: Vec<Finish> = group
        .map(|task| match &begun {
            Err(error) => task(Err(error.clone())),
            // The transaction is gone: what runs now would be committed on its own, so it must not run.
            Ok(()) if connection.is_autocommit() => task(Err(rolled_back())),
            Ok(()) => task(Ok(connection)),
        })
        .collect();
    let committed = match begun {
        Ok(()) if connection.is_autocommit() => Err(rolled_back()),
        Ok(()) => run(connection, "COMMIT"),
        Err(error) => Err(error),
    };
    if committed.is_err()
        && !connection.is_autocommit()
        && let Err(error) = run(connection, "ROLLBACK")
    {
        tracing::error!(%error, "a failed transaction could not be rolled back");
    }
    for finish in finishes {
        finish(committed.clone());
    }
}

fn rolled_back() -> LocalError {
    LocalError::Misuse("the transaction was rolled back")
}

fn sweep(connection: &Connection, now: i64) -> Result<(), LocalError> {
    connection.execute("DELETE FROM records WHERE expires <= ?1", params![now])?;
    connection.execute("DELETE FROM deduplication WHERE until <= ?1", params![now])?;
    Ok(())
}
