//! The `search` function on Lambda.

use std::sync::Arc;

use quarry_index::SplitCache;
use quarry_ports::SystemClock;
use quarry_retrieval::tools::{Api, Tools};
use quarry_retrieval::{Options, Retriever};
use quarry_runtime::Config;
use quarry_runtime::http::{self, Access, Authenticator};
use quarry_runtime::lambda::{LambdaError, serve_http};
use quarry_search::api::OverHttp;
use quarry_search::{Search, mcp, routes};
use quarry_store_aws::{AwsNames, AwsStore};

/// Splits kept in memory; `/tmp` holds more.
const SPLIT_BYTES: u64 = 512 << 20;

#[tokio::main]
async fn main() -> Result<(), LambdaError> {
    quarry_retrieval::warm();
    let config = Config::from_env()?;
    quarry_runtime::logs::init(&config.log);
    let (store, clock) = (AwsStore::connect(AwsNames::from_env()?).await, Arc::new(SystemClock));
    let splits = Arc::new(SplitCache::new(SPLIT_BYTES, Some("/tmp/splits".into())));
    let options = Options { hit_boost: config.hit_boost as f32, journal_in_background: false, shared_cache: true, ..Options::default() };
    let retriever =
        Arc::new(Retriever::new(store.objects(), store.records(), clock.clone(), splits, options).with_model(&quarry_models::from_env()?));
    let authenticator = Arc::new(Authenticator::new(store.records(), clock, Access::Keys, &config));
    let limits = Arc::new(config.limits);
    let api = config.public_url.map(OverHttp::new).transpose()?.map(|api| Arc::new(api) as Arc<dyn Api>);
    let tools = Arc::new(Tools::new(retriever.clone(), store.records(), store.objects(), limits.clone(), api));
    let search = Arc::new(Search { retriever, tools: tools.clone(), limits });
    let options = http::Options { metrics: config.log.metrics, ..http::Options::named("search") };
    serve_http(http::app(routes(search), mcp::routes(tools), authenticator, options)).await
}
