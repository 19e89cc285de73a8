//! Queues in SQS.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::{
    Message, MessageSystemAttributeName, MessageSystemAttributeNameForSends, MessageSystemAttributeValue, SendMessageBatchRequestEntry,
};
use quarry_model::Trace;
use quarry_model::message::QueueName;
use quarry_ports::queue::{Chosen, MAX_MESSAGE_BYTES};
use quarry_ports::{DeadLetter, Outgoing, Queue, QueueError, Received};
use tokio::time::Instant;

use crate::backoff::{Backoff, random};
use crate::{AwsError, AwsNames};

/// Most messages of one request.
const BATCH: usize = 10;
/// Longest wait of one request, in seconds.
const LONGEST_WAIT: u64 = 20;
/// Longest visibility, in seconds: twelve hours.
const LONGEST_VISIBILITY: u64 = 43_200;
/// Longest delay, in seconds.
const LONGEST_DELAY: u64 = 900;
/// Tries of what a batch left over.
const TRIES: u32 = 8;
/// How long dead letters are hidden while they are looked at or moved, in seconds.
const LOOK: i32 = 120;
/// How long a look waits for dead letters, in seconds.
const LOOK_WAIT: i32 = 1;

/// The queue port.
pub(crate) struct Queues {
    pub(crate) client: Client,
    pub(crate) names: AwsNames,
}

#[async_trait]
impl Queue for Queues {
    async fn send(&self, queue: QueueName, messages: Vec<Outgoing>) -> Result<(), QueueError> {
        if let Some(message) = messages.iter().find(|message| message.body.len() > MAX_MESSAGE_BYTES) {
            return Err(QueueError::TooLarge(message.body.len()));
        }
        if queue.is_fifo() && messages.iter().any(|message| message.group.is_none()) {
            return Err(AwsError::Misuse("a message of a FIFO queue names its group").into());
        }
        let url = self.names.queue(queue)?;
        let mut batch = Vec::new();
        let mut bytes = 0;
        // One batch after the other, so that a FIFO queue gets them in order.
        for message in messages {
            if batch.len() == BATCH || bytes + message.body.len() > MAX_MESSAGE_BYTES {
                self.send_batch(url, std::mem::take(&mut batch)).await?;
                bytes = 0;
            }
            bytes += message.body.len();
            batch.push(entry(queue, batch.len(), message)?);
        }
        Ok(self.send_batch(url, batch).await?)
    }

    async fn receive(&self, queue: QueueName, max: usize, visibility: Duration, wait: Duration) -> Result<Vec<Received>, QueueError> {
        let url = self.names.queue(queue)?;
        let deadline = Instant::now() + wait;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let wait = seconds(left, LONGEST_WAIT);
            let received = self.take(url, max, seconds(visibility, LONGEST_VISIBILITY), wait).await?;
            if !received.is_empty() || left <= Duration::from_secs(LONGEST_WAIT) {
                return Ok(received.into_iter().map(read).collect::<Result<Vec<_>, AwsError>>()?);
            }
        }
    }

    async fn acknowledge(&self, queue: QueueName, receipt: &str) -> Result<(), QueueError> {
        let sent = self.client.delete_message().queue_url(self.names.queue(queue)?).receipt_handle(receipt).send().await;
        sent.map(|_| ()).map_err(AwsError::of("DeleteMessage")).map_err(receipt_error)
    }

    async fn change_visibility(&self, queue: QueueName, receipt: &str, delay: Duration) -> Result<(), QueueError> {
        let sent = self
            .client
            .change_message_visibility()
            .queue_url(self.names.queue(queue)?)
            .receipt_handle(receipt)
            .visibility_timeout(seconds(delay, LONGEST_VISIBILITY))
            .send()
            .await;
        sent.map(|_| ()).map_err(AwsError::of("ChangeMessageVisibility")).map_err(receipt_error)
    }

    /// Hides what it looks at while it looks, so that it sees each once, and shows it again. Of one FIFO group it sees what
    /// one request gives.
    async fn dead_letters(&self, queue: QueueName, max: usize) -> Result<Vec<DeadLetter>, QueueError> {
        let url = self.names.dead_letters(queue)?;
        let mut seen: BTreeMap<String, Message> = BTreeMap::new();
        while seen.len() < max {
            let batch = self.look(url, max - seen.len(), &seen).await?;
            if batch.is_empty() {
                break;
            }
            seen.extend(batch);
        }
        let letters = seen.iter().map(|(id, message)| letter(id, message)).collect();
        self.show(url, seen).await?;
        Ok(letters)
    }

    /// Sends first and removes then: what is cut short in between is there twice, never lost. The others are hidden while it
    /// looks and shown again.
    async fn redrive(&self, queue: QueueName, max: usize, chosen: Chosen<'_>) -> Result<usize, QueueError> {
        let (url, dead) = (self.names.queue(queue)?, self.names.dead_letters(queue)?);
        let mut left: BTreeMap<String, Message> = BTreeMap::new();
        let mut moved = 0;
        while moved < max {
            let batch = self.look(dead, BATCH, &left).await?;
            if batch.is_empty() {
                break;
            }
            let mut entries = Vec::with_capacity(batch.len());
            let mut receipts = Vec::with_capacity(batch.len());
            for (id, message) in batch {
                if moved + entries.len() == max || !chosen(&letter(&id, &message)) {
                    left.insert(id, message);
                    continue;
                }
                let (group, trace) = (group(&message), trace(&message));
                let outgoing = Outgoing { group, trace, body: message.body.unwrap_or_default(), ..Outgoing::default() };
                entries.push(entry(queue, entries.len(), outgoing)?);
                receipts.push(message.receipt_handle.unwrap_or_default());
            }
            self.send_batch(url, entries).await?;
            for receipt in receipts {
                let gone = self.client.delete_message().queue_url(dead).receipt_handle(receipt).send().await;
                gone.map_err(AwsError::of("DeleteMessage"))?;
                moved += 1;
            }
        }
        self.show(dead, left).await?;
        Ok(moved)
    }
}

impl Queues {
    async fn take(&self, url: &str, max: usize, visibility: i32, wait: i32) -> Result<Vec<Message>, AwsError> {
        let sent = self
            .client
            .receive_message()
            .queue_url(url)
            .max_number_of_messages(max.clamp(1, BATCH) as i32)
            .visibility_timeout(visibility)
            .wait_time_seconds(wait)
            .message_system_attribute_names(MessageSystemAttributeName::ApproximateReceiveCount)
            .message_system_attribute_names(MessageSystemAttributeName::MessageGroupId)
            .message_system_attribute_names(MessageSystemAttributeName::AwsTraceHeader)
            .send()
            .await;
        Ok(sent.map_err(AwsError::of("ReceiveMessage"))?.messages.unwrap_or_default())
    }

    /// Takes up to `max` messages to look at; none when nothing comes but what was `seen` before. It waits a moment, for only a
    /// request that waits asks all of the service's machines.
    async fn look(&self, url: &str, max: usize, seen: &BTreeMap<String, Message>) -> Result<Vec<(String, Message)>, AwsError> {
        let taken = self.take(url, max, LOOK, LOOK_WAIT).await?;
        let named = taken.into_iter().map(|message| (message.message_id.clone().unwrap_or_default(), message));
        Ok(named.filter(|(id, _)| !seen.contains_key(id)).collect())
    }

    /// Makes messages visible again that were taken to look at. A receipt that has run out means that they are already.
    async fn show(&self, url: &str, messages: BTreeMap<String, Message>) -> Result<(), QueueError> {
        for message in messages.into_values() {
            let receipt = message.receipt_handle.unwrap_or_default();
            let shown = self.client.change_message_visibility().queue_url(url).receipt_handle(receipt).visibility_timeout(0);
            match shown.send().await.map_err(AwsError::of("ChangeMessageVisibility")).map_err(receipt_error) {
                Ok(_) | Err(QueueError::Receipt) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Sends one batch; what the service did not take is sent again.
    async fn send_batch(&self, url: &str, mut entries: Vec<SendMessageBatchRequestEntry>) -> Result<(), AwsError> {
        let mut backoff = Backoff::new("SendMessageBatch", TRIES);
        while !entries.is_empty() {
            let sent = self.client.send_message_batch().queue_url(url).set_entries(Some(entries.clone())).send().await;
            let failed = sent.map_err(AwsError::of("SendMessageBatch"))?.failed;
            let Some(first) = failed.first() else {
                break;
            };
            let reason = format!("{}: {}", first.code(), first.message().unwrap_or_default());
            if let Some(fault) = failed.iter().find(|failure| failure.sender_fault()) {
                return Err(AwsError::Service {
                    operation: "SendMessageBatch",
                    code: fault.code().to_owned(),
                    message: fault.message().unwrap_or_default().to_owned(),
                    status: None,
                    source: reason.into(),
                });
            }
            entries.retain(|entry| failed.iter().any(|failure| failure.id() == entry.id()));
            backoff.wait(reason).await?;
        }
        Ok(())
    }
}

fn entry(queue: QueueName, number: usize, message: Outgoing) -> Result<SendMessageBatchRequestEntry, AwsError> {
    let entry = SendMessageBatchRequestEntry::builder().id(number.to_string()).message_body(message.body);
    let entry = match message.trace {
        Some(trace) => entry.message_system_attributes(MessageSystemAttributeNameForSends::AwsTraceHeader, text(&trace.xray())?),
        None => entry,
    };
    let entry = if queue.is_fifo() {
        // A message without a value of its own gets one here, so that the SDK's own retries do not double it.
        let value = message.deduplication.unwrap_or_else(|| format!("{:016x}{:016x}", random(), random()));
        entry.set_message_group_id(message.group).message_deduplication_id(value)
    } else {
        entry.delay_seconds(seconds(message.delay, LONGEST_DELAY))
    };
    entry.build().map_err(|_| AwsError::Misuse("a message without a body"))
}

fn read(message: Message) -> Result<Received, AwsError> {
    let attributes = message.attributes.as_ref();
    let count = attributes.and_then(|known| known.get(&MessageSystemAttributeName::ApproximateReceiveCount));
    Ok(Received {
        receive_count: count.and_then(|count| count.parse().ok()).ok_or(AwsError::Answer("a message without a receive count"))?,
        group: group(&message),
        trace: trace(&message),
        id: message.message_id.ok_or(AwsError::Answer("a message without an id"))?,
        body: message.body.unwrap_or_default(),
        receipt: message.receipt_handle.ok_or(AwsError::Answer("a message without a receipt"))?,
    })
}

fn group(message: &Message) -> Option<String> {
    message.attributes.as_ref().and_then(|known| known.get(&MessageSystemAttributeName::MessageGroupId)).cloned()
}

/// What is no trace is none: it was only to be handed on.
fn trace(message: &Message) -> Option<Trace> {
    message.attributes.as_ref()?.get(&MessageSystemAttributeName::AwsTraceHeader)?.parse().ok()
}

fn text(value: &str) -> Result<MessageSystemAttributeValue, AwsError> {
    let value = MessageSystemAttributeValue::builder().data_type("String").string_value(value).build();
    value.map_err(|_| AwsError::Misuse("an attribute without a type"))
}

fn letter(id: &str, message: &Message) -> DeadLetter {
    DeadLetter { id: id.to_owned(), body: message.body.clone().unwrap_or_default() }
}

fn receipt_error(error: AwsError) -> QueueError {
    let code = error.code().rsplit('.').next().unwrap_or_default();
    let expired = code == "InvalidParameterValue" && error.message().to_ascii_lowercase().contains("receipt");
    if expired || matches!(code, "ReceiptHandleIsInvalid" | "MessageNotInflight" | "InvalidIdFormat") {
        return QueueError::Receipt;
    }
    error.into()
}

/// Whole seconds, rounded up, so that nothing ends sooner than asked.
fn seconds(duration: Duration, most: u64) -> i32 {
    let whole = duration.as_secs().saturating_add(u64::from(duration.subsec_nanos() > 0));
    whole.min(most) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As X-Ray's header, in the one system attribute that a sender may set; what is none is none.
    #[test]
    fn a_trace_is_sent_and_read_as_a_system_attribute() {
        let trace = Trace::named("a test");
        let sent = entry(QueueName::Profile, 0, Outgoing { trace: Some(trace), ..Outgoing::default() }).unwrap();
        let attributes = sent.message_system_attributes.unwrap();
        let header = attributes[&MessageSystemAttributeNameForSends::AwsTraceHeader].string_value().unwrap().to_owned();
        assert!(header.starts_with("Root=1-"), "{header}");
        let read_with = |header: String| {
            let message =
                Message::builder().message_id("m").receipt_handle("r").attributes(MessageSystemAttributeName::AwsTraceHeader, header);
            read(message.attributes(MessageSystemAttributeName::ApproximateReceiveCount, "1").build()).unwrap().trace
        };
        assert_eq!((read_with(header), read_with("Root=none".into())), (Some(trace), None));
        assert!(entry(QueueName::Profile, 0, Outgoing::default()).unwrap().message_system_attributes.is_none());
    }

    #[test]
    fn seconds_are_rounded_up_and_bounded() {
        assert_eq!(seconds(Duration::ZERO, 20), 0);
        assert_eq!(seconds(Duration::from_millis(1), 20), 1);
        assert_eq!(seconds(Duration::from_secs(20), 20), 20);
        assert_eq!(seconds(Duration::MAX, 20), 20);
    }
}
