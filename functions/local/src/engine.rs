//! The wiring: the local store behind the ports, and the functions' own stages on top of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use quarry_compactor::Compactor;
use quarry_index::SplitCache;
use quarry_model::{Limits, Namespace, Scope};
use quarry_notifier::Notifier;
use quarry_outbound::{Outbound, Rules, SystemResolver};
use quarry_ports::{Clock, Model, ObjectStore, Queue, Records, SystemClock};
use quarry_profiler::Profiler;
use quarry_publisher::Publisher;
use quarry_retrieval::{Options, Retriever};
use quarry_runtime::{Config, Jobs};
use quarry_store_local::{LocalOptions, LocalStore, PublicBase};

use crate::exit::Failure;
use crate::worker::ChildMeasurer;

/// Splits kept in memory, in bytes.
const SPLIT_CACHE_BYTES: u64 = 48 << 20;

/// Everything a command works with.
pub(crate) struct Engine {
    pub(crate) data: PathBuf,
    pub(crate) config: Config,
    pub(crate) limits: Arc<Limits>,
    pub(crate) store: LocalStore,
    pub(crate) objects: Arc<dyn ObjectStore>,
    pub(crate) queue: Arc<dyn Queue>,
    pub(crate) records: Arc<dyn Records>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) jobs: Jobs,
    pub(crate) splits: Arc<SplitCache>,
    /// Models of the tasks that the environment names one for.
    pub(crate) model: Arc<dyn Model>,
}

impl Engine {
    /// Opens the data folder, making it when it is not there.
    pub(crate) fn open(data: &Path, config: Config, base: PublicBase) -> Result<Self, Failure> {
        if data.is_file() {
            return Err(Failure::usage(format!("{} is a file; --data names a folder", data.display())));
        }
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let options = LocalOptions { base, max_receives: config.limits.receives, clock: Arc::clone(&clock) };
        let store = LocalStore::open_with(data, options).with_context(|| format!("cannot open the data folder {}", data.display()))?;
        let data = data.canonicalize().with_context(|| format!("cannot open the data folder {}", data.display()))?;
        let records = store.records();
        Ok(Self {
            data,
            limits: Arc::new(config.limits.clone()),
            config,
            objects: store.objects(),
            queue: store.queues(),
            jobs: Jobs::new(Arc::clone(&records), Arc::clone(&clock)),
            records,
            store,
            clock,
            splits: Arc::new(SplitCache::new(SPLIT_CACHE_BYTES, None)),
            model: quarry_models::from_env().map_err(Failure::usage)?,
        })
    }

    /// A namespace of the local owner.
    pub(crate) fn scope(&self, namespace: &str) -> Result<Scope, Failure> {
        let namespace = Namespace::new(namespace).map_err(Failure::usage)?;
        Ok(Scope::new(self.config.drop_in_owner.clone(), namespace))
    }

    /// The profiler's stage; PDF documents are measured in child processes.
    pub(crate) fn profiler(&self) -> Result<Profiler, Failure> {
        let (objects, queue) = (Arc::clone(&self.objects), Arc::clone(&self.queue));
        let workers = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        let profiler = Profiler::new(objects, queue, self.jobs.clone(), Arc::clone(&self.limits), self.config.drop_in_owner.clone());
        Ok(profiler.measured_by(Arc::new(ChildMeasurer::new(workers)?)))
    }

    /// Answers queries.
    pub(crate) fn retriever(&self) -> Retriever {
        let options = Options { hit_boost: self.config.hit_boost as f32, ..Options::default() };
        let (objects, records) = (Arc::clone(&self.objects), Arc::clone(&self.records));
        Retriever::new(objects, records, Arc::clone(&self.clock), Arc::clone(&self.splits), options).with_model(&self.model)
    }

    /// Reaches addresses out of requests.
    pub(crate) fn outbound(&self) -> Result<Outbound, Failure> {
        let rules = Rules { also: self.config.allowed_addresses.clone() };
        Ok(Outbound::new(Arc::new(SystemResolver), rules).context("no HTTP client")?)
    }

    /// Delivers webhooks, if there is a secret to sign them with.
    pub(crate) fn notifier(&self) -> Result<Option<Notifier>, Failure> {
        let Some(secret) = self.config.webhook_secret.clone() else { return Ok(None) };
        let (objects, clock) = (Arc::clone(&self.objects), Arc::clone(&self.clock));
        Ok(Some(Notifier::new(self.jobs.clone(), objects, clock, self.outbound()?, secret)))
    }

    /// Merges, sweeps, rebuilds.
    pub(crate) fn compactor(&self) -> Compactor {
        Compactor::new(Arc::clone(&self.objects), Arc::clone(&self.records), Arc::clone(&self.clock), Arc::clone(&self.splits))
    }

    /// The publisher's stage.
    pub(crate) fn publisher(&self) -> Publisher {
        Publisher::new(Arc::clone(&self.objects), Arc::clone(&self.records), Arc::clone(&self.clock), Arc::clone(&self.splits))
    }
}
