//! The `compactor` function on Lambda.

use std::sync::Arc;

use quarry_compactor::{CompactError, Compactor};
use quarry_index::SplitCache;
use quarry_ports::SystemClock;
use quarry_runtime::Config;
use quarry_runtime::lambda::{LambdaError, serve_schedule};
use quarry_store_aws::{AwsNames, AwsStore};

/// Splits kept between invocations, in bytes: a merge reads each once.
const SPLIT_CACHE_BYTES: u64 = 16 << 20;

#[tokio::main]
async fn main() -> Result<(), LambdaError> {
    let config = Config::from_env()?;
    quarry_runtime::logs::init(&config.log);
    let store = AwsStore::connect(AwsNames::from_env()?).await;
    let cache = Arc::new(SplitCache::new(SPLIT_CACHE_BYTES, None));
    let compactor = Compactor::new(store.objects(), store.records(), Arc::new(SystemClock), cache);
    serve_schedule(|| async { Ok::<_, CompactError>(serde_json::json!(compactor.run().await?)) }).await
}
