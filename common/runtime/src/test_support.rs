//! What this crate's own tests share: a clock that is set by hand, and a store in a temporary folder.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use quarry_model::{Namespace, Owner, Scope, Timestamp};
use quarry_ports::Clock;
use quarry_store_local::{LocalOptions, LocalStore};

use crate::jobs::{Jobs, NewJob};

pub(crate) struct HandClock(AtomicI64);

impl HandClock {
    pub(crate) fn advance(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

pub(crate) struct Bench {
    pub(crate) clock: Arc<HandClock>,
    pub(crate) store: LocalStore,
    pub(crate) jobs: Jobs,
    _folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(HandClock(AtomicI64::new(1_796_032_800_000)));
        let options = LocalOptions { clock: clock.clone(), ..LocalOptions::default() };
        let store = LocalStore::open_with(folder.path(), options).unwrap();
        let jobs = Jobs::new(store.records(), clock.clone());
        Self { clock, store, jobs, _folder: folder }
    }
}

pub(crate) fn owner(name: &str) -> Owner {
    Owner::new(name).unwrap()
}

pub(crate) fn scope(owner_name: &str) -> Scope {
    Scope::new(owner(owner_name), Namespace::default())
}

pub(crate) fn new_job(file_name: &str) -> NewJob {
    NewJob {
        scope: scope("ann"),
        document_id: None,
        source_type: quarry_model::job::SourceType::File,
        source_url: None,
        file_name: file_name.to_owned(),
        data_id: None,
        document_metadata: serde_json::Map::new(),
        parsing_params: serde_json::Map::new(),
        webhook: None,
        idempotency_key: None,
    }
}
