//! Buckets, queues and tables of a test, in the emulator.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType};
use aws_sdk_sqs::types::QueueAttributeName;
use quarry_model::message::QueueName;
use quarry_ports::testing::{queues::MAX_RECEIVES, unique};
use quarry_store_aws::{AwsNames, AwsStore};

/// A queue with its dead letters.
pub(crate) struct MadeQueue {
    name: QueueName,
    url: String,
    dead: String,
}

pub(crate) struct Emulator {
    shared: aws_config::SdkConfig,
}

/// `None`, said aloud, when there is no emulator.
pub(crate) async fn connect() -> Option<Emulator> {
    let Ok(endpoint) = std::env::var("QUARRY_TEST_AWS_ENDPOINT") else {
        eprintln!("skipped: QUARRY_TEST_AWS_ENDPOINT is not set");
        return None;
    };
    // `AwsStore::connect` reads the environment, as it does in a function; a test cannot set it safely for itself.
    let set = std::env::var("AWS_ENDPOINT_URL").unwrap_or_default();
    assert_eq!(set, endpoint, "AWS_ENDPOINT_URL must be the emulator's, or the tests would reach another account");
    let shared = aws_config::defaults(aws_config::BehaviorVersion::latest()).load().await;
    Some(Emulator { shared })
}

impl Emulator {
    pub(crate) async fn store(&self, bucket: String, table: String, queues: &[MadeQueue]) -> AwsStore {
        let queues_by_name = queues.iter().map(|queue| (queue.name, queue.url.clone())).collect();
        let dead_letters = queues.iter().map(|queue| (queue.name, queue.dead.clone())).collect();
        AwsStore::connect(AwsNames { bucket, table, queues: queues_by_name, dead_letters }).await
    }

    pub(crate) async fn bucket(&self) -> String {
        let name = format!("quarry-{}", unique());
        let config = aws_sdk_s3::config::Builder::from(&self.shared).force_path_style(true).build();
        aws_sdk_s3::Client::from_conf(config).create_bucket().bucket(&name).send().await.expect("a bucket");
        name
    }

    pub(crate) async fn queues(&self) -> Vec<MadeQueue> {
        let client = aws_sdk_sqs::Client::new(&self.shared);
        let run = unique();
        let mut made = Vec::new();
        for name in QueueName::all() {
            let ending = if name.is_fifo() { ".fifo" } else { "" };
            let dead = create(&client, &format!("{run}-{}-dead{ending}", name.name()), name.is_fifo(), None).await;
            let arn = arn(&client, &dead).await;
            let redrive = format!("{{\"deadLetterTargetArn\":\"{arn}\",\"maxReceiveCount\":{MAX_RECEIVES}}}");
            let url = create(&client, &format!("{run}-{}{ending}", name.name()), name.is_fifo(), Some(redrive)).await;
            made.push(MadeQueue { name, url, dead });
        }
        made
    }

    pub(crate) async fn table(&self) -> String {
        let name = format!("quarry-{}", unique());
        let key = |name: &str, kind| KeySchemaElement::builder().attribute_name(name).key_type(kind).build().expect("complete");
        let text = |name: &str| {
            let definition = AttributeDefinition::builder().attribute_name(name).attribute_type(ScalarAttributeType::S);
            definition.build().expect("complete")
        };
        aws_sdk_dynamodb::Client::new(&self.shared)
            .create_table()
            .table_name(&name)
            .billing_mode(BillingMode::PayPerRequest)
            .key_schema(key("pk", KeyType::Hash))
            .key_schema(key("sk", KeyType::Range))
            .attribute_definitions(text("pk"))
            .attribute_definitions(text("sk"))
            .send()
            .await
            .expect("a table");
        name
    }
}

async fn create(client: &aws_sdk_sqs::Client, name: &str, fifo: bool, redrive: Option<String>) -> String {
    let mut attributes = HashMap::new();
    if fifo {
        attributes.insert(QueueAttributeName::FifoQueue, "true".to_owned());
    }
    if let Some(redrive) = redrive {
        attributes.insert(QueueAttributeName::RedrivePolicy, redrive);
    }
    let made = client.create_queue().queue_name(name).set_attributes(Some(attributes)).send().await.expect("a queue");
    made.queue_url.expect("an address")
}

async fn arn(client: &aws_sdk_sqs::Client, url: &str) -> String {
    let asked =
        client.get_queue_attributes().queue_url(url).attribute_names(QueueAttributeName::QueueArn).send().await.expect("attributes");
    asked.attributes.expect("attributes")[&QueueAttributeName::QueueArn].clone()
}
