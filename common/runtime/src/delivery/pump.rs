//! The local loop: takes messages from a queue and delivers them, several at a time, until told to stop.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use quarry_model::message::QueueName;
use quarry_ports::{Queue, Received, Stage};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::{Delivery, Disposition, deliver};

/// How a pump runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PumpOptions {
    /// Deliveries at the same time.
    pub concurrency: usize,
    /// Most messages of one group given to the stage together; 1 for stages that work alone.
    pub batch: usize,
    /// How long one receive waits for a first message.
    pub wait: Duration,
}

impl PumpOptions {
    /// For a stage that takes one message at a time.
    pub fn single(concurrency: usize) -> Self {
        Self { concurrency, batch: 1, wait: Duration::from_secs(1) }
    }

    /// For the publisher: one delivery at a time of up to `batch` messages.
    pub fn grouped(batch: usize) -> Self {
        Self { concurrency: 1, batch, wait: Duration::from_secs(1) }
    }
}

/// Runs a stage on a queue until `shutdown` turns true; work that has begun is finished first.
///
/// A store that fails is asked again after a pause; nothing a message does ends the pump.
pub async fn pump<S: Stage>(
    stage: Arc<S>,
    queue: Arc<dyn Queue>,
    name: QueueName,
    delivery: Delivery,
    options: PumpOptions,
    mut shutdown: watch::Receiver<bool>,
) {
    let slots = Arc::new(Semaphore::new(options.concurrency.max(1)));
    let mut running = JoinSet::new();
    while !*shutdown.borrow() {
        while running.try_join_next().is_some() {}
        let free = tokio::select! {
            slot = Arc::clone(&slots).acquire_owned() => slot,
            _ = shutdown.changed() => continue,
        };
        // The semaphore is never closed.
        let Ok(slot) = free else { break };
        // One slot is ours; whatever else is free may be filled in the same call.
        let single = options.batch <= 1;
        let max = if single { slots.available_permits() + 1 } else { options.batch };
        let received = tokio::select! {
            received = queue.receive(name, max, delivery.visibility, options.wait) => received,
            _ = shutdown.changed() => continue,
        };
        let messages = match received {
            Ok(messages) => messages,
            Err(error) => {
                tracing::warn!(target: "quarry::pump", queue = name.name(), %error, "receive failed");
                pause(&mut shutdown, Duration::from_secs(1)).await;
                continue;
            }
        };
        let mut slot = Some(slot);
        for batch in batches(messages, single) {
            let slot = match slot.take() {
                Some(slot) => slot,
                None => match Arc::clone(&slots).acquire_owned().await {
                    Ok(slot) => slot,
                    Err(_) => break,
                },
            };
            let (stage, queue, delivery) = (Arc::clone(&stage), Arc::clone(&queue), delivery.clone());
            running.spawn(async move {
                let _slot = slot;
                let verdicts = deliver(&*stage, &delivery, &batch).await;
                settle(&*queue, name, &batch, &verdicts).await;
            });
        }
    }
    while running.join_next().await.is_some() {}
}

async fn pause(shutdown: &mut watch::Receiver<bool>, time: Duration) {
    tokio::select! {
        () = tokio::time::sleep(time) => {}
        _ = shutdown.changed() => {}
    }
}

/// Messages as the stage takes them: each alone, or those of one group together.
pub(crate) fn batches(messages: Vec<Received>, single: bool) -> Vec<Vec<Received>> {
    if single {
        return messages.into_iter().map(|message| vec![message]).collect();
    }
    let mut groups: BTreeMap<String, Vec<Received>> = BTreeMap::new();
    for message in messages {
        groups.entry(message.group.clone().unwrap_or_default()).or_default().push(message);
    }
    groups.into_values().collect()
}

/// Tells the queue what became of its messages. A receipt that is no longer good is somebody else's message by now.
async fn settle(queue: &dyn Queue, name: QueueName, messages: &[Received], verdicts: &[Disposition]) {
    for (message, verdict) in messages.iter().zip(verdicts) {
        let result = match verdict {
            Disposition::Acknowledge => queue.acknowledge(name, &message.receipt).await,
            Disposition::Release(delay) => queue.change_visibility(name, &message.receipt, *delay).await,
        };
        if let Err(error) = result {
            tracing::warn!(target: "quarry::pump", queue = name.name(), message = message.id, %error, "message not settled");
        }
    }
}
