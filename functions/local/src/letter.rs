//! What a dead letter is about.

use std::fmt;

use quarry_model::message::{ObjectArrived, ParseMessage, PublishAction, PublishMessage, QueueName};
use quarry_model::{DocumentId, Job, JobId, ObjectKey};
use quarry_runtime::events::decode;
use serde::Serialize;

/// What a message names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum About {
    /// Objects that have arrived; none for a test event.
    Objects(Vec<ObjectKey>),
    /// A job.
    Job(JobId),
    /// A document that is archived or deleted.
    Document(DocumentId),
    /// No stage can read it.
    Unreadable,
}

impl About {
    /// Reads a message of this queue.
    pub(crate) fn of(queue: QueueName, body: &str) -> Self {
        let about = match queue {
            QueueName::Profile => {
                decode::<ObjectArrived>(body).ok().map(|events| Self::Objects(events.into_iter().map(|event| event.key).collect()))
            }
            QueueName::Parse(_) => one::<ParseMessage>(body).map(|message| Self::Job(message.job_id)),
            QueueName::Publish => one::<PublishMessage>(body).map(|message| match message.action {
                PublishAction::Publish { job_id, .. } => Self::Job(job_id),
                PublishAction::Archive | PublishAction::Delete => Self::Document(message.document_id),
            }),
        };
        about.unwrap_or(Self::Unreadable)
    }

    /// Whether the message is one of this job's.
    pub(crate) fn concerns(&self, job: &Job) -> bool {
        match self {
            Self::Objects(keys) => keys.contains(&job.source),
            Self::Job(id) => *id == job.job_id,
            Self::Document(_) | Self::Unreadable => false,
        }
    }
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Objects(keys) => f.write_str(&keys.iter().map(ObjectKey::as_str).collect::<Vec<_>>().join(" ")),
            Self::Job(id) => write!(f, "{id}"),
            Self::Document(id) => write!(f, "{id}"),
            Self::Unreadable => f.write_str("unreadable"),
        }
    }
}

fn one<M: serde::de::DeserializeOwned>(body: &str) -> Option<M> {
    serde_json::from_str(body).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_letter_says_what_it_is_about() {
        let put = json!({ "Records": [{ "eventName": "ObjectCreated:Put", "eventTime": "2026-11-30T10:00:00Z",
            "s3": { "object": { "key": "inbox/a+b.md", "size": 1, "eTag": "x" } } }] });
        assert_eq!(About::of(QueueName::Profile, &put.to_string()).to_string(), "inbox/a b.md");
        let publish = |action: serde_json::Value| {
            json!({ "scope": { "owner": "local", "namespace": "default" }, "document_id": "doc_0123456789ab",
                "order": { "created_millis": 1, "sequencer": null }, "action": action })
            .to_string()
        };
        let delete = About::of(QueueName::Publish, &publish(json!({ "kind": "delete" })));
        assert_eq!(delete.to_string(), "doc_0123456789ab");
        let done = json!({ "kind": "publish", "job_id": "job_0123456789ab", "revision": "0".repeat(32) });
        assert_eq!(About::of(QueueName::Publish, &publish(done)).to_string(), "job_0123456789ab");
        for queue in QueueName::all() {
            assert_eq!(About::of(queue, "{\"half\": "), About::Unreadable);
        }
    }
}
