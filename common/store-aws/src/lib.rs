//! The ports on S3, SQS and DynamoDB; the only room that sees the SDKs.
//!
//! What this room is for: the stores of a deployed Quarry. What enters: calls of the three ports, and names from the
//! environment. What leaves: the services' answers in the ports' words; what the services leave half-done (unprocessed
//! items, failed entries of a batch, bodies that break off) is finished here. What it must never do: let an SDK type out,
//! answer a write that a service has not confirmed, or retry without an end.

mod attribute;
mod backoff;
mod batches;
mod condition;
mod error;
#[cfg(test)]
mod faults;
mod names;
mod objects;
mod operate;
mod queues;
mod records;
mod transaction;

use std::sync::Arc;
use std::time::Duration;

use aws_config::SdkConfig;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_s3::config::RequestChecksumCalculation;
use quarry_ports::{ObjectStore, Queue, Records};

use crate::objects::Bucket;
use crate::queues::Queues;
use crate::records::Table;

pub use crate::error::AwsError;
pub use crate::names::AwsNames;

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(3);
/// Longest silence on an open connection; longer than the longest wait of a queue.
const READ: Duration = Duration::from_secs(30);

/// The three ports on one deployment. Cloning shares connections.
#[derive(Clone)]
pub struct AwsStore {
    objects: Arc<Bucket>,
    queues: Arc<Queues>,
    records: Arc<Table>,
}

impl AwsStore {
    /// Connects with credentials and region from the environment. With `AWS_ENDPOINT_URL` (an emulator) buckets are
    /// named in the path, for its host names do not resolve. Nothing is asked of the services yet.
    pub async fn connect(names: AwsNames) -> Self {
        Self::with(&shared_config().await, names)
    }

    fn with(shared: &SdkConfig, names: AwsNames) -> Self {
        let emulated = ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"].iter().any(|name| std::env::var_os(name).is_some());
        let objects = aws_sdk_s3::config::Builder::from(shared).force_path_style(emulated);
        let presigner = objects.clone().request_checksum_calculation(RequestChecksumCalculation::WhenRequired);
        Self {
            objects: Arc::new(Bucket {
                client: aws_sdk_s3::Client::from_conf(objects.build()),
                presigner: aws_sdk_s3::Client::from_conf(presigner.build()),
                name: names.bucket.clone(),
            }),
            records: Arc::new(Table { client: aws_sdk_dynamodb::Client::new(shared), table: names.table.clone() }),
            queues: Arc::new(Queues { client: aws_sdk_sqs::Client::new(shared), names }),
        }
    }

    /// The object port.
    pub fn objects(&self) -> Arc<dyn ObjectStore> {
        Arc::clone(&self.objects) as Arc<dyn ObjectStore>
    }

    /// The queue port.
    pub fn queues(&self) -> Arc<dyn Queue> {
        Arc::clone(&self.queues) as Arc<dyn Queue>
    }

    /// The records port.
    pub fn records(&self) -> Arc<dyn Records> {
        Arc::clone(&self.records) as Arc<dyn Records>
    }
}

async fn shared_config() -> SdkConfig {
    let timeouts = TimeoutConfig::builder().connect_timeout(CONNECT).read_timeout(READ).build();
    aws_config::defaults(aws_config::BehaviorVersion::latest()).timeout_config(timeouts).load().await
}
