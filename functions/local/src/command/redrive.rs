//! `quarry redrive`: dead letters go back into the queues they came from, once what they died of is mended.
//!
//! Nothing is done twice by it: a stage finds finished work by document and revision, and skips the message of a job that has
//! ended.

use std::sync::{Arc, Mutex, PoisonError};

use quarry_model::message::QueueName;
use quarry_model::{Job, JobId};
use quarry_ports::{DeadLetter, Queue};
use quarry_runtime::Jobs;
use serde::Serialize;
use serde_json::json;

use crate::cli::Redrive;
use crate::engine::Engine;
use crate::exit::{Exit, Failure};
use crate::letter::About;
use crate::output;

/// What was found in one queue's dead letters.
#[derive(Debug, Serialize)]
struct Found {
    queue: &'static str,
    letters: Vec<Letter>,
}

/// One of them.
#[derive(Debug, Serialize)]
struct Letter {
    id: String,
    about: About,
}

/// On the data folder.
pub(crate) async fn run(engine: &Engine, args: Redrive, json: bool) -> Result<Exit, Failure> {
    redrive(&engine.queue, &engine.jobs, args, json).await
}

/// On a deployed installation.
#[cfg(feature = "aws")]
pub(crate) async fn deployed(stage: &str, args: Redrive, json: bool) -> Result<Exit, Failure> {
    let store = quarry_store_aws::AwsStore::operate(stage).await.map_err(Failure::from)?;
    let jobs = Jobs::new(store.records(), Arc::new(quarry_ports::SystemClock));
    redrive(&store.queues(), &jobs, args, json).await
}

/// Only a program built with the feature `aws` knows the services.
#[cfg(not(feature = "aws"))]
pub(crate) fn deployed(_: &str, _: Redrive, _: bool) -> std::future::Ready<Result<Exit, Failure>> {
    std::future::ready(Err(Failure::usage("this program reaches no deployed installation: build it with `--features aws`")))
}

async fn redrive(queue: &Arc<dyn Queue>, jobs: &Jobs, args: Redrive, json: bool) -> Result<Exit, Failure> {
    let queues = args.queues.iter().map(|name| named(name)).collect::<Result<Vec<_>, _>>()?;
    let queues = if queues.is_empty() { QueueName::all() } else { queues };
    let job = match &args.job {
        Some(id) => Some(job(jobs, id).await?),
        None => None,
    };
    let (mut found, mut left) = (Vec::new(), args.limit);
    for name in with_letters(queue, queues).await? {
        let letters = one_queue(queue, name, job.as_ref(), left, args.dry_run).await?;
        left = left.saturating_sub(letters.len());
        if !letters.is_empty() {
            found.push(Found { queue: name.name(), letters });
        }
    }
    report(&found, args.dry_run, left == 0, json)
}

async fn job(jobs: &Jobs, id: &str) -> Result<Job, Failure> {
    let id: JobId = id.parse().map_err(Failure::usage)?;
    jobs.load(&id).await?.ok_or_else(|| Failure::not_found(format!("no job {id}")))
}

fn named(name: &str) -> Result<QueueName, Failure> {
    let all = QueueName::all();
    let names = || all.iter().map(|queue| queue.name()).collect::<Vec<_>>().join(", ");
    all.iter().copied().find(|queue| queue.name() == name).ok_or_else(|| Failure::usage(format!("no queue {name}; there are {}", names())))
}

/// Those that have dead letters, asked all at once: on SQS a look that finds nothing takes a second.
async fn with_letters(queue: &Arc<dyn Queue>, queues: Vec<QueueName>) -> Result<Vec<QueueName>, Failure> {
    let looks = queues.iter().map(|name| queue.dead_letters(*name, 1));
    let found = futures::future::try_join_all(looks).await?;
    Ok(queues.into_iter().zip(found).filter(|(_, letters)| !letters.is_empty()).map(|(name, _)| name).collect())
}

/// The letters that were moved, or in a dry run would be: at most `most`.
async fn one_queue(queue: &Arc<dyn Queue>, name: QueueName, job: Option<&Job>, most: usize, dry: bool) -> Result<Vec<Letter>, Failure> {
    if most == 0 {
        return Ok(Vec::new());
    }
    let meant = |letter: &DeadLetter| {
        let about = About::of(name, &letter.body);
        job.is_none_or(|job| about.concerns(job)).then(|| Letter { id: letter.id.clone(), about })
    };
    if dry {
        // A filter may pass over many: as many are looked at as a queue ever holds in practice.
        let looked_at = if job.is_some() { usize::MAX } else { most };
        let letters = queue.dead_letters(name, looked_at).await?;
        return Ok(letters.iter().filter_map(meant).take(most).collect());
    }
    let moved = Mutex::new(Vec::new());
    let chosen = |letter: &DeadLetter| match meant(letter) {
        Some(letter) => {
            moved.lock().unwrap_or_else(PoisonError::into_inner).push(letter);
            true
        }
        None => false,
    };
    queue.redrive(name, most, &chosen).await?;
    Ok(moved.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn report(found: &[Found], dry: bool, full: bool, json: bool) -> Result<Exit, Failure> {
    let total: usize = found.iter().map(|queue| queue.letters.len()).sum();
    let moved = if dry { 0 } else { total };
    if json {
        output::json(&json!({ "found": total, "moved": moved, "limit_reached": full, "queues": found }))?;
        return Ok(Exit::Ok);
    }
    for Found { queue, letters } in found {
        for letter in letters {
            output::text(format!("{queue:<15} {}  {}", letter.id, output::line(&letter.about.to_string(), 100)))?;
        }
    }
    let (word, be) = (if total == 1 { "dead letter" } else { "dead letters" }, if dry { " would be" } else { "" });
    output::text(format!("{total} {word}{be} moved"))?;
    if full {
        output::note("no more than --limit are moved at once; there may be others");
    }
    Ok(Exit::Ok)
}
