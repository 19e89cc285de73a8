//! The `upload` function on Lambda.

use std::sync::Arc;

use quarry_outbound::{Outbound, Rules, SystemResolver};
use quarry_ports::SystemClock;
use quarry_runtime::http::{self, Access, Authenticator};
use quarry_runtime::lambda::{LambdaError, serve_http};
use quarry_runtime::{Config, Jobs};
use quarry_store_aws::{AwsNames, AwsStore};
use quarry_upload::{InProcess, Pages, Upload, root, routes};

#[tokio::main]
async fn main() -> Result<(), LambdaError> {
    let config = Config::from_env()?;
    quarry_runtime::logs::init(&config.log);
    let (store, clock) = (AwsStore::connect(AwsNames::from_env()?).await, Arc::new(SystemClock));
    let authenticator = Arc::new(Authenticator::new(store.records(), clock.clone(), Access::Keys, &config));
    let limits = Arc::new(config.limits);
    let upload = Arc::new(Upload {
        pages: Pages { objects: store.objects(), drawer: Arc::new(InProcess::new(Arc::clone(&limits))) },
        objects: store.objects(),
        queue: store.queues(),
        jobs: Jobs::new(store.records(), clock),
        authenticator: Arc::clone(&authenticator),
        outbound: Outbound::new(Arc::new(SystemResolver), Rules { also: config.allowed_addresses })?,
        webhooks: config.webhooks,
        limits,
        direct_upload_bytes: config.direct_upload_bytes,
        environment: config.environment,
    });
    let options = http::Options { metrics: config.log.metrics, ..http::Options::named("upload") };
    serve_http(http::app(routes(upload), root(), authenticator, options)).await
}
