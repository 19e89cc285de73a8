//! Why the local store fails, before a port's own error says it by meaning.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use quarry_ports::{ObjectError, QueueError, RecordError, TransactError};

/// A failure of the local store.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LocalError {
    /// A file or folder could not be used.
    #[error("{what} {path}: {source}", path = path.display())]
    File {
        /// What was tried: `read`, `create`.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// The database refused.
    #[error("database: {0}")]
    Database(#[source] Arc<rusqlite::Error>),
    /// The data folder was written by a newer program.
    #[error("the data folder has schema {found}, this program knows up to {known}; use the newer program")]
    NewerSchema {
        /// In the folder.
        found: i64,
        /// Known here.
        known: i64,
    },
    /// The key cannot name an object: it is empty or over 1,024 bytes.
    #[error("a key has 1 to 1,024 bytes, this one has {0}")]
    Key(usize),
    /// The call itself is wrong.
    #[error("{0}")]
    Misuse(&'static str),
    /// Stored JSON cannot be read.
    #[error("stored JSON: {0}")]
    Json(#[source] Arc<serde_json::Error>),
    /// The store is shutting down.
    #[error("the store is closed")]
    Closed,
}

impl LocalError {
    /// For `map_err` on file operations.
    pub(crate) fn file(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { what, path, source: Arc::new(source) }
    }

    /// Whether trying again can help: another process held the database, or the system was short of something.
    fn is_transient(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
        match self {
            Self::Database(error) => matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked)),
            Self::File { source, .. } => {
                matches!(source.kind(), std::io::ErrorKind::Interrupted | std::io::ErrorKind::TimedOut | std::io::ErrorKind::WouldBlock)
            }
            _ => false,
        }
    }
}

impl From<rusqlite::Error> for LocalError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(Arc::new(error))
    }
}

macro_rules! into_port {
    ($port:ident) => {
        impl From<LocalError> for $port {
            fn from(error: LocalError) -> Self {
                if error.is_transient() { Self::Unavailable(Box::new(error)) } else { Self::Other(Box::new(error)) }
            }
        }
    };
}

into_port!(ObjectError);
into_port!(QueueError);
into_port!(RecordError);

impl From<LocalError> for Refused {
    fn from(error: LocalError) -> Self {
        Self(TransactError::Store(error.into()))
    }
}

/// A transaction's error, with a way in from the database's.
pub(crate) struct Refused(pub(crate) TransactError);
