//! What the stores are called in one deployment. A function is told only of the queues it may use.

use std::collections::BTreeMap;

use quarry_model::message::QueueName;

use crate::AwsError;

/// Names and addresses, each from its environment variable.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AwsNames {
    /// `QUARRY_BUCKET`.
    pub bucket: String,
    /// `QUARRY_TABLE`.
    pub table: String,
    /// `QUARRY_QUEUE_<NAME>_URL`, the name in upper case with `_` for `-`: `QUARRY_QUEUE_PARSE_DOCX_URL`.
    pub queues: BTreeMap<QueueName, String>,
    /// `QUARRY_DLQ_<NAME>_URL`, for those who look at dead letters.
    pub dead_letters: BTreeMap<QueueName, String>,
}

impl AwsNames {
    /// Reads the environment. Bucket and table must be there.
    pub fn from_env() -> Result<Self, AwsError> {
        Self::from_lookup(|name| std::env::var(name).ok())
    }

    /// Reads the variables from anywhere.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, AwsError> {
        let set = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let required = |name: &str| set(name).ok_or_else(|| AwsError::NotConfigured(name.to_owned()));
        let urls = |variable: fn(QueueName) -> String| {
            QueueName::all().into_iter().filter_map(|queue| Some((queue, set(&variable(queue))?))).collect()
        };
        Ok(Self {
            bucket: required("QUARRY_BUCKET")?,
            table: required("QUARRY_TABLE")?,
            queues: urls(queue_variable),
            dead_letters: urls(dead_letters_variable),
        })
    }

    pub(crate) fn queue(&self, queue: QueueName) -> Result<&str, AwsError> {
        self.queues.get(&queue).map(String::as_str).ok_or_else(|| AwsError::NotConfigured(queue_variable(queue)))
    }

    pub(crate) fn dead_letters(&self, queue: QueueName) -> Result<&str, AwsError> {
        self.dead_letters.get(&queue).map(String::as_str).ok_or_else(|| AwsError::NotConfigured(dead_letters_variable(queue)))
    }
}

fn upper(queue: QueueName) -> String {
    queue.name().to_ascii_uppercase().replace('-', "_")
}

fn queue_variable(queue: QueueName) -> String {
    format!("QUARRY_QUEUE_{}_URL", upper(queue))
}

fn dead_letters_variable(queue: QueueName) -> String {
    format!("QUARRY_DLQ_{}_URL", upper(queue))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quarry_model::Family;

    #[test]
    fn names_come_from_their_variables() {
        let set = BTreeMap::from([
            ("QUARRY_BUCKET", "b"),
            ("QUARRY_TABLE", "t"),
            ("QUARRY_QUEUE_PARSE_DOCX_URL", "https://q/docx"),
            ("QUARRY_QUEUE_PUBLISH_URL", ""),
            ("QUARRY_DLQ_PROFILE_URL", "https://q/profile-dead"),
        ]);
        let names = AwsNames::from_lookup(|name| set.get(name).map(|value| (*value).to_owned())).unwrap();
        assert_eq!((names.bucket.as_str(), names.table.as_str()), ("b", "t"));
        assert_eq!(names.queue(QueueName::Parse(Family::Docx)).unwrap(), "https://q/docx");
        assert_eq!(names.dead_letters(QueueName::Profile).unwrap(), "https://q/profile-dead");
        let missing = names.queue(QueueName::Publish).unwrap_err().to_string();
        assert!(missing.contains("QUARRY_QUEUE_PUBLISH_URL"), "{missing}");
        assert!(AwsNames::from_lookup(|_| None).is_err());
    }
}
