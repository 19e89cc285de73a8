//! The AWS stores keep every promise of the ports, against an emulator of the AWS API.
//!
//! `QUARRY_TEST_AWS_ENDPOINT` says where it is (`eval "$(localstack/start)"` sets it); without it the tests skip.

mod emulator;

use std::sync::Arc;

use quarry_ports::{ObjectStore, Queue, Records};

async fn fresh_objects() -> Option<(Arc<dyn ObjectStore>, ())> {
    let emulator = emulator::connect().await?;
    let bucket = emulator.bucket().await;
    Some((emulator.store(bucket, String::new(), &[]).await.objects(), ()))
}

async fn fresh_queues() -> Option<(Arc<dyn Queue>, ())> {
    let emulator = emulator::connect().await?;
    let queues = emulator.queues().await;
    Some((emulator.store(String::new(), String::new(), &queues).await.queues(), ()))
}

async fn fresh_records() -> Option<(Arc<dyn Records>, ())> {
    let emulator = emulator::connect().await?;
    let table = emulator.table().await;
    Some((emulator.store(String::new(), table, &[]).await.records(), ()))
}

mod objects {
    quarry_ports::objects_conformance!(super::fresh_objects());
}
mod queues {
    quarry_ports::queues_conformance!(super::fresh_queues());
}
mod records {
    quarry_ports::records_conformance!(super::fresh_records());
}
