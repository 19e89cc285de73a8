//! The `parse-pdf` function on Lambda.

use std::sync::Arc;

use quarry_document::ParseStage;
use quarry_model::Family;
use quarry_model::message::QueueName;
use quarry_parse_pdf::PdfParser;
use quarry_ports::SystemClock;
use quarry_runtime::lambda::{LambdaError, Source, serve};
use quarry_runtime::{Config, Delivery, Jobs};
use quarry_store_aws::{AwsNames, AwsStore};
use tokio::runtime::Handle;

#[tokio::main]
async fn main() -> Result<(), LambdaError> {
    let config = Config::from_env()?;
    quarry_runtime::logs::init(&config.log);
    let (store, clock) = (AwsStore::connect(AwsNames::from_env()?).await, Arc::new(SystemClock));
    let model = quarry_models::from_env()?;
    let stage = ParseStage::new(
        PdfParser::with_ocr(quarry_ocr::configured(&model, &Handle::current())),
        store.objects(),
        store.queues(),
        clock.clone(),
        config.limits.clone(),
    )
    .with_model(model);
    let jobs = Jobs::new(store.records(), clock);
    let delivery = Delivery { metrics: config.log.metrics, ..Delivery::shared(jobs, Arc::new(config.limits), config.visibility)? };
    serve(stage, delivery, Source { queue: store.queues(), name: QueueName::Parse(Family::Pdf) }).await
}
