//! The stores of an installation by its name alone, for those who operate it: `template.yaml` names every resource after the
//! stage.

use quarry_model::message::QueueName;

use crate::{AwsError, AwsNames, AwsStore, shared_config};

impl AwsStore {
    /// Connects to the installation called `stage` with the caller's own credentials and region. One request finds out whose
    /// account it is, and that there is such an installation.
    pub async fn operate(stage: &str) -> Result<Self, AwsError> {
        let shared = shared_config().await;
        let region = shared.region().map(ToString::to_string).ok_or_else(|| AwsError::NotConfigured("AWS_REGION".to_owned()))?;
        let first = aws_sdk_sqs::Client::new(&shared).get_queue_url().queue_name(AwsNames::queue_name(stage, QueueName::Profile, false));
        let url = first.send().await.map_err(AwsError::of("GetQueueUrl"))?.queue_url.unwrap_or_default();
        let names = AwsNames::of_stage(stage, &region, &url).ok_or(AwsError::Answer("a queue's address without an account"))?;
        Ok(Self::with(&shared, names))
    }
}

impl AwsNames {
    /// The names of the installation called `stage`, given the address of its profile queue: all its queues lie beside that.
    fn of_stage(stage: &str, region: &str, profile_url: &str) -> Option<Self> {
        let (beside, _) = profile_url.rsplit_once('/')?;
        let (_, account) = beside.rsplit_once('/')?;
        let urls = |dead| {
            let url = |queue| (queue, format!("{beside}/{}", Self::queue_name(stage, queue, dead)));
            QueueName::all().into_iter().map(url).collect()
        };
        Some(Self {
            bucket: format!("quarry-{stage}-{account}-{region}"),
            table: format!("quarry-{stage}"),
            queues: urls(false),
            dead_letters: urls(true),
        })
    }

    fn queue_name(stage: &str, queue: QueueName, dead: bool) -> String {
        let (dead, fifo) = (if dead { "-dead" } else { "" }, if queue.is_fifo() { ".fifo" } else { "" });
        format!("quarry-{stage}-{}{dead}{fifo}", queue.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quarry_model::Family;

    const TEMPLATE: &str = include_str!("../../../template.yaml");

    #[test]
    fn the_template_names_its_resources_so() {
        let names = AwsNames::of_stage("${Stage}", "${AWS::Region}", "https://sqs/${AWS::AccountId}/quarry-x-profile").unwrap();
        let urls = names.queues.values().chain(names.dead_letters.values()).map(|url| url.rsplit('/').next().unwrap());
        for name in urls.chain([names.bucket.as_str(), names.table.as_str()]) {
            assert!(TEMPLATE.contains(&format!("Name: !Sub {name}\n")), "{name}");
        }
        assert_eq!(names.dead_letters.len(), QueueName::all().len());
        let docx = names.dead_letters(QueueName::Parse(Family::Docx)).unwrap();
        assert_eq!(docx, "https://sqs/${AWS::AccountId}/quarry-${Stage}-parse-docx-dead");
    }
}
