//! The `profiler` function on Lambda.

use std::sync::Arc;

use quarry_model::message::QueueName;
use quarry_ports::SystemClock;
use quarry_profiler::Profiler;
use quarry_runtime::lambda::{LambdaError, Source, serve};
use quarry_runtime::{Config, Delivery, Jobs};
use quarry_store_aws::{AwsNames, AwsStore};

#[tokio::main]
async fn main() -> Result<(), LambdaError> {
    let config = Config::from_env()?;
    quarry_runtime::logs::init(&config.log);
    let store = AwsStore::connect(AwsNames::from_env()?).await;
    let (jobs, limits) = (Jobs::new(store.records(), Arc::new(SystemClock)), Arc::new(config.limits));
    let profiler = Profiler::new(store.objects(), store.queues(), jobs.clone(), Arc::clone(&limits), config.drop_in_owner);
    let delivery = Delivery { metrics: config.log.metrics, ..Delivery::shared(jobs, limits, config.visibility)? };
    serve(profiler, delivery, Source { queue: store.queues(), name: QueueName::Profile }).await
}
