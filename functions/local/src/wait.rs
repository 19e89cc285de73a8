//! Running the road while something is waited for.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use quarry_model::{Job, JobId};

use crate::engine::Engine;
use crate::exit::{Exit, Failure};
use crate::progress::Progress;
use crate::road::Road;

/// How often the jobs are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Does `work` while the road runs. Ctrl-C finishes what has begun and leaves the rest to the next call.
pub(crate) async fn on_the_road<T>(engine: &Engine, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let interrupted = async {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Failure { exit: Exit::Interrupted, error: anyhow::anyhow!("interrupted; the next call goes on from here") },
            Err(error) => error.into(),
        }
    };
    let work = async {
        tokio::select! {
            result = work => result,
            failure = interrupted => Err(failure),
        }
    };
    keep_road(engine, work).await
}

/// Does `work` while the road runs in this process, or in the other one that has it; when that one goes away, this one
/// takes over.
pub(crate) async fn keep_road<T>(engine: &Engine, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let mut road = Road::start(engine).await?;
    let mut work = pin!(work);
    let result = loop {
        tokio::select! {
            result = &mut work => break result,
            () = tokio::time::sleep(Duration::from_secs(1)), if road.is_none() => road = Road::start(engine).await?,
        }
    };
    if let Some(road) = road {
        road.stop().await;
    }
    result
}

/// Waits until every job has ended.
pub(crate) async fn for_jobs(engine: &Engine, ids: &[JobId], progress: &Progress) -> Result<BTreeMap<JobId, Job>, Failure> {
    let limits = &engine.limits;
    let patience =
        Duration::from_secs(limits.parse_seconds.saturating_mul(2).saturating_mul(u64::from(limits.receives)).saturating_add(300));
    let mut waiting: BTreeSet<JobId> = ids.iter().cloned().collect();
    let mut versions: BTreeMap<JobId, u64> = BTreeMap::new();
    let mut ended: BTreeMap<JobId, Job> = BTreeMap::new();
    let mut moved = Instant::now();
    loop {
        let asked: Vec<JobId> = waiting.iter().cloned().collect();
        for job in engine.jobs.load_many(&asked).await? {
            if versions.insert(job.job_id.clone(), job.version) != Some(job.version) {
                moved = Instant::now();
            }
            if !job.state.is_active() {
                waiting.remove(&job.job_id);
                ended.insert(job.job_id.clone(), job);
            }
        }
        let failed = ended.values().filter(|job| job.error.is_some()).count();
        progress.at(ended.len(), if failed > 0 { format!("{failed} failed") } else { String::new() });
        if waiting.is_empty() {
            return Ok(ended);
        }
        if moved.elapsed() > patience {
            let message = format!("{} jobs do not move any more; `quarry doctor` says what is wrong", waiting.len());
            return Err(Failure { exit: Exit::Failure, error: anyhow::anyhow!(message) });
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
