//! The `publisher` function on Lambda.

use std::sync::Arc;

use quarry_index::SplitCache;
use quarry_model::message::QueueName;
use quarry_ports::SystemClock;
use quarry_publisher::Publisher;
use quarry_runtime::lambda::{LambdaError, Source, serve};
use quarry_runtime::{Config, Delivery, Jobs};
use quarry_store_aws::{AwsNames, AwsStore};

/// Splits kept between invocations, in bytes: the one that the next publication of a busy namespace starts from.
const SPLIT_CACHE_BYTES: u64 = 64 << 20;

#[tokio::main]
async fn main() -> Result<(), LambdaError> {
    let config = Config::from_env()?;
    quarry_runtime::logs::init(&config.log);
    let (store, clock) = (AwsStore::connect(AwsNames::from_env()?).await, Arc::new(SystemClock));
    let jobs = Jobs::new(store.records(), clock.clone());
    let cache = Arc::new(SplitCache::new(SPLIT_CACHE_BYTES, None));
    let publisher = Publisher::new(store.objects(), store.records(), clock, cache);
    let delivery = Delivery { metrics: config.log.metrics, ..Delivery::shared(jobs, Arc::new(config.limits), config.visibility)? };
    serve(publisher, delivery, Source { queue: store.queues(), name: QueueName::Publish }).await
}
