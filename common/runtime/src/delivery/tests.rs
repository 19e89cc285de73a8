//! Delivery on the local store: what each way of ending does to message, attempt and job.

use std::collections::VecDeque;
use std::sync::Mutex;

use async_trait::async_trait;
use quarry_model::message::QueueName;
use quarry_model::{Job, JobState, RecordKey};
use quarry_ports::{Outgoing, Stage};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::*;
use crate::test_support::{Bench, new_job};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Work {
    job: Option<JobId>,
    name: String,
}

/// Ends as it is told; remembers what it was given.
#[derive(Default)]
struct Scripted {
    outcomes: Mutex<VecDeque<Outcome<()>>>,
    seen: Mutex<Vec<String>>,
}

impl Scripted {
    fn ending(outcomes: impl IntoIterator<Item = Outcome<()>>) -> Self {
        Self { outcomes: Mutex::new(outcomes.into_iter().collect()), seen: Mutex::default() }
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

#[async_trait]
impl Stage for Scripted {
    type Input = Work;

    fn name(&self) -> &'static str {
        "parse-text"
    }

    fn job(&self, input: &Work) -> Option<JobId> {
        input.job.clone()
    }

    async fn run(&self, inputs: Vec<Work>) -> Vec<Outcome<()>> {
        self.seen.lock().unwrap().extend(inputs.iter().map(|input| input.name.clone()));
        assert!(inputs.iter().all(|input| input.name != "panic"), "told to panic");
        let mut outcomes = self.outcomes.lock().unwrap();
        inputs.iter().map(|_| outcomes.pop_front().unwrap_or(Outcome::Done(()))).collect()
    }
}

async fn pending_job(bench: &Bench) -> Job {
    let job = bench.jobs.create(new_job("a.md")).await.unwrap().job();
    bench.jobs.advance(&job.job_id, JobState::Pending, "upload").await.unwrap()
}

fn delivery(bench: &Bench) -> Delivery {
    Delivery::shared(bench.jobs.clone(), Arc::new(Limits::default()), Duration::from_secs(100)).unwrap()
}

fn message(id: &str, job: &JobId, receive_count: u32) -> Received {
    let body = serde_json::to_string(&Work { job: Some(job.clone()), name: id.to_owned() }).unwrap();
    Received { id: id.to_owned(), body, group: None, receipt: id.to_owned(), receive_count, trace: None }
}

async fn attempt_exists(bench: &Bench, job: &JobId) -> bool {
    bench.store.records().get(&RecordKey::attempt(job, "parse-text", None)).await.unwrap().is_some()
}

async fn state(bench: &Bench, job: &JobId) -> (JobState, Option<DocumentCode>) {
    let job = bench.jobs.load(job).await.unwrap().unwrap();
    (job.state, job.error.map(|error| error.code))
}

async fn start(delivery: &Delivery, stage: &str, id: &JobId, part: Option<u32>, message: &Received) -> Result<Start, crate::Error> {
    attempt::start(delivery, stage, id, part, message).await.map(|started| started.start)
}

/// A start whose process dies: the attempt is written, the stage never comes back.
async fn die(delivery: &Delivery, message: &Received, job: &JobId) {
    assert!(matches!(start(delivery, "parse-text", job, None, message).await.unwrap(), Start::Begin(_)));
}

#[tokio::test]
async fn done_work_is_acknowledged_and_leaves_no_attempt() {
    let bench = Bench::new();
    let job = pending_job(&bench).await;
    let stage = Scripted::default();
    let verdicts = deliver(&stage, &delivery(&bench), &[message("m", &job.job_id, 1)]).await;
    assert_eq!(verdicts, [Disposition::Acknowledge]);
    assert!(!attempt_exists(&bench, &job.job_id).await);
    let now = bench.jobs.load(&job.job_id).await.unwrap().unwrap();
    assert_eq!((now.state, now.stage.as_str(), now.attempts), (JobState::Running, "parse-text", 1));
}

#[tokio::test]
async fn a_bad_document_fails_its_job_at_once() {
    let bench = Bench::new();
    let job = pending_job(&bench).await;
    let stage = Scripted::ending([Outcome::Rejected(DocumentFailure::new(DocumentCode::Encrypted, ""))]);
    assert_eq!(deliver(&stage, &delivery(&bench), &[message("m", &job.job_id, 1)]).await, [Disposition::Acknowledge]);
    assert_eq!(state(&bench, &job.job_id).await, (JobState::Failed, Some(DocumentCode::Encrypted)));
    assert!(!attempt_exists(&bench, &job.job_id).await);
}

#[tokio::test]
async fn a_store_out_of_order_is_tried_again_later_and_not_for_ever() {
    let bench = Bench::new();
    let job = pending_job(&bench).await;
    let again = || Outcome::Retry { cause: "throttled".into(), delay_seconds: 10 };
    let stage = Scripted::ending([again(), again(), again()]);
    let delivery = delivery(&bench);
    for receive in 1..=2 {
        let verdicts = deliver(&stage, &delivery, &[message("m", &job.job_id, receive)]).await;
        let Disposition::Release(delay) = verdicts[0] else { panic!("{verdicts:?}") };
        assert!((5..=15).contains(&delay.as_secs()), "{delay:?}");
        assert_eq!(state(&bench, &job.job_id).await.0, JobState::Running);
    }
    assert_eq!(deliver(&stage, &delivery, &[message("m", &job.job_id, 3)]).await, [Disposition::Acknowledge]);
    assert_eq!(state(&bench, &job.job_id).await, (JobState::Failed, Some(DocumentCode::Crashed)));
}

#[tokio::test]
async fn a_process_that_dies_each_time_fails_the_job_as_crashed() {
    let bench = Bench::new();
    let job = pending_job(&bench).await;
    let (stage, delivery) = (Scripted::default(), delivery(&bench));
    for receive in 1..=2 {
        die(&delivery, &message("m", &job.job_id, receive), &job.job_id).await;
        bench.clock.advance(101_000);
    }
    // The last delivery that the queue grants is the verdict, not a third death.
    assert_eq!(deliver(&stage, &delivery, &[message("m", &job.job_id, 3)]).await, [Disposition::Acknowledge]);
    assert_eq!(state(&bench, &job.job_id).await, (JobState::Failed, Some(DocumentCode::Crashed)));
    assert!(stage.seen().is_empty());
    // Started over by its owner, it has fresh attempts.
    bench.jobs.retry(&job.job_id).await.unwrap();
    assert_eq!(deliver(&stage, &delivery, &[message("n", &job.job_id, 1)]).await, [Disposition::Acknowledge]);
    assert_eq!((stage.seen(), state(&bench, &job.job_id).await.0), (vec!["n".to_owned()], JobState::Running));
}

#[tokio::test]
async fn one_death_is_forgiven() {
    let bench = Bench::new();
    let job = pending_job(&bench).await;
    let (stage, delivery) = (Scripted::default(), delivery(&bench));
    die(&delivery, &message("m", &job.job_id, 1), &job.job_id).await;
    bench.clock.advance(101_000);
    assert_eq!(deliver(&stage, &delivery, &[message("m", &job.job_id, 2)]).await, [Disposition::Acknowledge]);
    assert_eq!(stage.seen(), ["m"]);
    assert!(!attempt_exists(&bench, &job.job_id).await);
}

#[tokio::test]
async fn duplicates_of_running_work_are_left_to_its_holder() {
    let bench = Bench::new();
    let job = pending_job(&bench).await;
    let (stage, delivery) = (Scripted::default(), delivery(&bench));
    die(&delivery, &message("m", &job.job_id, 1), &job.job_id).await;
    // Another message for the same work, however often it came: nothing to do, and no verdict.
    assert_eq!(deliver(&stage, &delivery, &[message("other", &job.job_id, 3)]).await, [Disposition::Acknowledge]);
    // The same message while its holder may still be at work: it waits for the lease.
    let verdicts = deliver(&stage, &delivery, &[message("m", &job.job_id, 2)]).await;
    assert!(matches!(verdicts[0], Disposition::Release(delay) if delay > Duration::from_secs(90)), "{verdicts:?}");
    assert!(stage.seen().is_empty());
    assert_eq!(state(&bench, &job.job_id).await.0, JobState::Running);
}

#[tokio::test]
async fn alone_on_a_store_a_dead_process_holds_nothing() {
    let bench = Bench::new();
    let job = pending_job(&bench).await;
    let dead = delivery(&bench);
    die(&dead, &message("m", &job.job_id, 1), &job.job_id).await;
    let stage = Scripted::default();
    let alone = Delivery { sole: true, ..delivery(&bench) };
    assert_eq!(deliver(&stage, &alone, &[message("m", &job.job_id, 2)]).await, [Disposition::Acknowledge]);
    assert_eq!(stage.seen(), ["m"]);
}

#[tokio::test]
async fn whoever_lost_the_lease_cannot_fail_the_job() {
    let bench = Bench::new();
    let job = pending_job(&bench).await;
    let delivery = delivery(&bench);
    let Start::Begin(slow) = start(&delivery, "parse-text", &job.job_id, None, &message("m", &job.job_id, 1)).await.unwrap() else {
        panic!("must begin")
    };
    bench.clock.advance(101_000);
    die(&delivery, &message("m", &job.job_id, 2), &job.job_id).await;
    let failure = DocumentFailure::new(DocumentCode::TimedOut, "");
    attempt::reject(&delivery, "parse-text", Some(&job.job_id), Some(&slow), &failure).await.unwrap();
    attempt::close(&delivery, Some(&slow)).await.unwrap();
    assert_eq!(state(&bench, &job.job_id).await.0, JobState::Running);
    assert!(attempt_exists(&bench, &job.job_id).await, "the new holder's attempt stands");
}

#[tokio::test]
async fn messages_of_ended_jobs_are_acknowledged_unseen() {
    let bench = Bench::new();
    let job = pending_job(&bench).await;
    bench.jobs.fail(&job.job_id, "upload", &DocumentFailure::new(DocumentCode::Cancelled, "")).await.unwrap();
    let stage = Scripted::default();
    assert_eq!(deliver(&stage, &delivery(&bench), &[message("m", &job.job_id, 1)]).await, [Disposition::Acknowledge]);
    assert!(stage.seen().is_empty());
}

#[tokio::test]
async fn work_whose_document_is_gone_ends_its_job() {
    let bench = Bench::new();
    let job = pending_job(&bench).await;
    let stage = Scripted::ending([Outcome::Skipped(SkipReason::Gone)]);
    deliver(&stage, &delivery(&bench), &[message("m", &job.job_id, 1)]).await;
    assert_eq!(state(&bench, &job.job_id).await, (JobState::Failed, Some(DocumentCode::Cancelled)));
}

#[tokio::test]
async fn a_panic_is_one_failed_attempt() {
    let bench = Bench::new();
    let job = pending_job(&bench).await;
    let verdicts = deliver(&Scripted::default(), &delivery(&bench), &[message("panic", &job.job_id, 1)]).await;
    assert!(matches!(verdicts[..], [Disposition::Release(_)]));
    assert_eq!(state(&bench, &job.job_id).await.0, JobState::Running);
}

/// Row 45: nine of ten are acknowledged, the tenth alone comes again.
#[tokio::test]
async fn one_poison_message_harms_no_other() {
    let bench = Bench::new();
    let mut batch = Vec::new();
    for n in 0..10 {
        let job = pending_job(&bench).await;
        batch.push(message(&format!("m{n}"), &job.job_id, 1));
    }
    "{not json".clone_into(&mut batch[4].body);
    let verdicts = deliver(&Scripted::default(), &delivery(&bench), &batch).await;
    for (n, verdict) in verdicts.iter().enumerate() {
        assert_eq!(matches!(verdict, Disposition::Release(_)), n == 4, "{n}: {verdict:?}");
    }
}

/// Row 45 again, through a queue and the pump: the poison reaches the dead letters, the rest is done.
#[tokio::test]
async fn the_pump_empties_a_queue_around_its_poison() {
    let bench = Bench::new();
    let queue = bench.store.queues();
    let mut sent = vec![Outgoing { body: "{not json".into(), ..Outgoing::default() }];
    for n in 0..9 {
        let job = pending_job(&bench).await;
        sent.push(Outgoing { body: message(&format!("m{n}"), &job.job_id, 1).body, ..Outgoing::default() });
    }
    queue.send(QueueName::Profile, sent).await.unwrap();
    let stage = Arc::new(Scripted::default());
    let (stop, stopped) = watch::channel(false);
    let options = PumpOptions { wait: Duration::from_millis(20), ..PumpOptions::single(3) };
    let running = tokio::spawn(pump(Arc::clone(&stage), queue.clone(), QueueName::Profile, delivery(&bench), options, stopped));
    for _ in 0..400 {
        // The clock stands still unless it is moved; released messages come again when it has.
        bench.clock.advance(2_000);
        tokio::time::sleep(Duration::from_millis(10)).await;
        if stage.seen().len() == 9 && queue.dead_letters(QueueName::Profile, 5).await.unwrap().len() == 1 {
            break;
        }
    }
    stop.send(true).unwrap();
    running.await.unwrap();
    let mut seen = stage.seen();
    seen.sort();
    assert_eq!(seen, (0..9).map(|n| format!("m{n}")).collect::<Vec<_>>());
    assert_eq!(queue.dead_letters(QueueName::Profile, 5).await.unwrap().len(), 1);
}

/// Row 41: the same work delivered five times at once is done once.
#[tokio::test]
async fn five_deliveries_at_once_do_the_work_once() {
    let bench = Bench::new();
    let job = pending_job(&bench).await;
    let (stage, delivery) = (Scripted::default(), delivery(&bench));
    let batches: Vec<[Received; 1]> = (0..5).map(|n| [message(&format!("m{n}"), &job.job_id, 1)]).collect();
    // The stage ends only when all five have looked.
    let starts = join_all(batches.iter().map(|batch| start(&delivery, "parse-text", &job.job_id, None, &batch[0]))).await;
    let begun = starts.iter().filter(|start| matches!(start, Ok(Start::Begin(_)))).count();
    let left = starts.iter().filter(|start| matches!(start, Ok(Start::Skip(SkipReason::Running, Disposition::Acknowledge)))).count();
    assert_eq!((begun, left), (1, 4));
    assert!(stage.seen().is_empty());
}

/// Parts of one job's work run side by side, each under an attempt of its own; a doubled part is done once.
#[tokio::test]
async fn parts_of_a_job_run_side_by_side() {
    let bench = Bench::new();
    let job = pending_job(&bench).await;
    let delivery = delivery(&bench);
    let messages: Vec<Received> = (0..8).map(|n| message(&format!("m{n}"), &job.job_id, 1)).collect();
    // Seven parts, the last of them twice.
    let parts = [0, 1, 2, 3, 4, 5, 6, 6];
    let starts =
        join_all(parts.iter().zip(&messages).map(|(part, one)| start(&delivery, "parse-text", &job.job_id, Some(*part), one))).await;
    let begun = starts.iter().filter(|start| matches!(start, Ok(Start::Begin(_)))).count();
    let left = starts.iter().filter(|start| matches!(start, Ok(Start::Skip(SkipReason::Running, Disposition::Acknowledge)))).count();
    assert_eq!((begun, left), (7, 1), "a part that stands in another's way would have used up a delivery");
    assert_eq!(state(&bench, &job.job_id).await.0, JobState::Running);
    for start in starts.into_iter().flatten() {
        if let Start::Begin(attempt) = start {
            attempt::close(&delivery, Some(&attempt)).await.unwrap();
        }
    }
    assert!(bench.store.records().get(&RecordKey::attempt(&job.job_id, "parse-text", Some(6))).await.unwrap().is_none());
}
