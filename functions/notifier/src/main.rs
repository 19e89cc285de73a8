//! The `notifier` function on Lambda.

use std::sync::Arc;

use quarry_notifier::Notifier;
use quarry_outbound::{Outbound, Rules, SystemResolver};
use quarry_ports::SystemClock;
use quarry_runtime::lambda::{LambdaError, serve_schedule};
use quarry_runtime::{Config, Jobs};
use quarry_store_aws::{AwsNames, AwsStore};

#[tokio::main]
async fn main() -> Result<(), LambdaError> {
    let config = Config::from_env()?;
    quarry_runtime::logs::init(&config.log);
    let Some(secret) = config.webhook_secret else {
        return Err("QUARRY_WEBHOOK_SECRET is not set".into());
    };
    let (store, clock) = (AwsStore::connect(AwsNames::from_env()?).await, Arc::new(SystemClock));
    let outbound = Outbound::new(Arc::new(SystemResolver), Rules { also: config.allowed_addresses })?;
    let notifier = Notifier::new(Jobs::new(store.records(), clock.clone()), store.objects(), clock, outbound, secret);
    serve_schedule(|| async { Ok::<_, quarry_notifier::NotifyError>(serde_json::json!(notifier.run().await?)) }).await
}
