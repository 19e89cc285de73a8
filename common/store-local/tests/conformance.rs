//! The local store keeps every promise of the ports.

mod server;

use std::sync::Arc;

use quarry_ports::{ObjectStore, Queue, Records};
use quarry_store_local::{LocalStore, PublicBase};
use tempfile::TempDir;

fn fresh() -> (LocalStore, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::open(folder.path(), PublicBase::default()).unwrap();
    (store, folder)
}

#[allow(clippy::unused_async, reason = "the suites await what makes a store")]
async fn fresh_queues() -> Option<(Arc<dyn Queue>, TempDir)> {
    let (store, folder) = fresh();
    Some((store.queues(), folder))
}

#[allow(clippy::unused_async, reason = "the suites await what makes a store")]
async fn fresh_records() -> Option<(Arc<dyn Records>, TempDir)> {
    let (store, folder) = fresh();
    Some((store.records(), folder))
}

async fn fresh_objects() -> Option<(Arc<dyn ObjectStore>, TempDir)> {
    let folder = tempfile::tempdir().unwrap();
    let store = server::serve(folder.path()).await;
    Some((store.objects(), folder))
}

mod objects {
    quarry_ports::objects_conformance!(super::fresh_objects());
}
mod queues {
    quarry_ports::queues_conformance!(super::fresh_queues());
    quarry_ports::queue_traces_conformance!(super::fresh_queues());
}
mod records {
    quarry_ports::records_conformance!(super::fresh_records());
}
