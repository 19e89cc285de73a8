//! The `sweeper` function on Lambda.

use std::sync::Arc;

use quarry_ports::SystemClock;
use quarry_runtime::lambda::{LambdaError, serve_schedule};
use quarry_runtime::{Config, Error, Jobs};
use quarry_store_aws::{AwsNames, AwsStore};
use quarry_sweeper::Sweeper;

#[tokio::main]
async fn main() -> Result<(), LambdaError> {
    let config = Config::from_env()?;
    quarry_runtime::logs::init(&config.log);
    let store = AwsStore::connect(AwsNames::from_env()?).await;
    let sweeper = Sweeper::new(Jobs::new(store.records(), Arc::new(SystemClock)), Arc::new(config.limits));
    serve_schedule(|| async { Ok::<_, Error>(serde_json::json!(sweeper.run().await?)) }).await
}
