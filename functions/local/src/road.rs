//! The road in one process: a pump for every queue, parsers in child processes.

use std::fs::{File, TryLockError};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use quarry_compactor::Compactor;
use quarry_model::Family;
use quarry_model::message::QueueName;
use quarry_notifier::Notifier;
use quarry_runtime::delivery::PumpOptions;
use quarry_runtime::{Delivery, pump};
use quarry_sweeper::Sweeper;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::engine::Engine;
use crate::exit::Failure;
use crate::worker::{ChildParser, Pool};

/// Publications taken together: as many documents as one commit holds, twice.
const PUBLISH_BATCH: usize = 80;
/// How long a publication may take before its messages come again.
const PUBLISH_VISIBILITY: Duration = Duration::from_mins(5);
/// How often the webhooks that are due are looked for.
const NOTIFY_EVERY: Duration = Duration::from_secs(1);
/// When namespaces are first compacted, and how often then.
const COMPACT_FIRST: Duration = Duration::from_secs(30);
const COMPACT_EVERY: Duration = Duration::from_mins(15);
/// How often jobs that nobody asks about are looked at.
const SWEEP_EVERY: Duration = Duration::from_mins(5);
const PROFILE_VISIBILITY: Duration = Duration::from_mins(1);

/// Running pumps. Of all processes on a data folder one has them.
pub(crate) struct Road {
    stop: watch::Sender<bool>,
    pumps: JoinSet<()>,
    /// Held while the pumps run; the system lets go of it when the process dies.
    _lock: File,
}

impl Road {
    /// Starts the pumps, unless another process on this data folder has them.
    pub(crate) async fn start(engine: &Engine) -> Result<Option<Self>, Failure> {
        let Some(lock) = lock(engine)? else {
            return Ok(None);
        };
        // Whoever had these messages is dead, for it had the lock.
        let left = engine.store.release_all().await?;
        if left > 0 {
            tracing::info!(messages = left, "taking up what an interrupted run has left");
        }
        let (stop, stopped) = watch::channel(false);
        let mut road = Self { stop, pumps: JoinSet::new(), _lock: lock };
        let workers = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        let limits = &engine.limits;

        let delivery = |visibility| Delivery::sole(engine.jobs.clone(), Arc::clone(limits), visibility);
        let profiler = Arc::new(engine.profiler()?);
        let options = PumpOptions { wait: Duration::from_millis(500), ..PumpOptions::single(4 * workers) };
        let queue = || Arc::clone(&engine.queue);
        road.pumps.spawn(pump(profiler, queue(), QueueName::Profile, delivery(PROFILE_VISIBILITY)?, options, stopped.clone()));

        let pool = Arc::new(Pool::new(&engine.data, workers, limits)?);
        for family in Family::ALL {
            let stage = Arc::new(ChildParser::new(family, Arc::clone(&pool)));
            let visibility = pool.patience().saturating_mul(2).saturating_add(Duration::from_mins(1));
            let options = PumpOptions { wait: Duration::from_millis(500), ..PumpOptions::single(2 * workers) };
            road.pumps.spawn(pump(stage, queue(), QueueName::Parse(family), delivery(visibility)?, options, stopped.clone()));
        }

        let publisher = Arc::new(engine.publisher());
        let options = PumpOptions { wait: Duration::from_millis(500), ..PumpOptions::grouped(PUBLISH_BATCH) };
        road.pumps.spawn(pump(publisher, queue(), QueueName::Publish, delivery(PUBLISH_VISIBILITY)?, options, stopped.clone()));

        road.pumps.spawn(compact(engine.compactor(), stopped.clone()));
        road.pumps.spawn(sweep(Sweeper::new(engine.jobs.clone(), Arc::clone(limits)), stopped.clone()));
        if let Some(notifier) = engine.notifier()? {
            road.pumps.spawn(notify(notifier, stopped));
        }
        Ok(Some(road))
    }

    /// Holds the road without running it; `None` when another process has it. Dropping the file lets go.
    pub(crate) fn hold(engine: &Engine) -> Result<Option<File>, Failure> {
        lock(engine)
    }

    /// Whether another process has the pumps at this moment.
    pub(crate) fn is_elsewhere(engine: &Engine) -> Result<bool, Failure> {
        Ok(lock(engine)?.is_none())
    }

    /// Finishes what has begun and stops.
    pub(crate) async fn stop(mut self) {
        // Nobody listening means that every pump has ended.
        let _ = self.stop.send(true);
        while let Some(ended) = self.pumps.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "a pump ended abnormally");
            }
        }
    }
}

/// Compacts what publications have marked, until the road stops. The first time soon: a program that is started for one
/// question at a time must not leave its old splits for ever.
async fn compact(compactor: Compactor, mut stopped: watch::Receiver<bool>) {
    let mut pause = COMPACT_FIRST;
    loop {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = stopped.changed() => return,
        }
        pause = COMPACT_EVERY;
        if let Err(error) = compactor.run().await {
            tracing::warn!(%error, "not compacted");
        }
    }
}

/// Ends jobs that would wait for ever, until the road stops.
async fn sweep(sweeper: Sweeper, mut stopped: watch::Receiver<bool>) {
    loop {
        if let Err(error) = sweeper.run().await {
            tracing::warn!(%error, "jobs are not looked at; they stay due");
        }
        tokio::select! {
            () = tokio::time::sleep(SWEEP_EVERY) => {}
            _ = stopped.changed() => return,
        }
    }
}

/// Delivers webhooks as they fall due, until the road stops.
async fn notify(notifier: Notifier, mut stopped: watch::Receiver<bool>) {
    loop {
        if let Err(error) = notifier.run().await {
            tracing::warn!(%error, "webhooks are not delivered; they stay due");
        }
        tokio::select! {
            () = tokio::time::sleep(NOTIFY_EVERY) => {}
            _ = stopped.changed() => return,
        }
    }
}

/// The lock of the data folder's road; `None` when another process has it.
fn lock(engine: &Engine) -> Result<Option<File>, Failure> {
    let path = engine.data.join("road.lock");
    let lock = File::create(&path).with_context(|| format!("cannot open {}", path.display()))?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}
