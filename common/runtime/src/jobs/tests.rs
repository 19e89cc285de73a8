//! The ledger on the local store.

use quarry_model::record::Order;
use quarry_model::{DocumentCode, DocumentFailure, JobState, Limits, Namespace, ObjectKey, Progress, Revision};

use super::*;
use crate::test_support::{Bench, new_job, owner, scope};

fn drop_in(etag: &str, sequencer: Option<&str>, millis: i64) -> DropIn {
    DropIn {
        scope: scope("ann"),
        source: ObjectKey::from_event("inbox/a.md"),
        place: "inbox/a.md".into(),
        content_tag: etag.into(),
        file_name: "a.md".into(),
        order: Order { created_millis: millis, sequencer: sequencer.map(str::to_owned) },
    }
}

#[tokio::test]
async fn a_job_goes_its_way_and_every_step_is_an_event() {
    let bench = Bench::new();
    let job = bench.jobs.create(new_job("a.md")).await.unwrap().job();
    assert_eq!((job.state, job.version), (JobState::WaitingFile, 1));
    bench.jobs.advance(&job.job_id, JobState::Pending, "upload").await.unwrap();
    bench.jobs.advance(&job.job_id, JobState::Running, "parse-text").await.unwrap();
    bench.jobs.progress(&job.job_id, Progress { total_pages: 3, processed_pages: 1 }).await.unwrap();
    let now = bench.jobs.load(&job.job_id).await.unwrap().unwrap();
    let revision = Revision::of("a", "p", "{}");
    let writes = bench.jobs.done_writes(&now, &revision, Some("ff"), now.progress).unwrap();
    bench.store.records().transact(writes).await.unwrap();
    let done = bench.jobs.load(&job.job_id).await.unwrap().unwrap();
    assert_eq!((done.state, done.revision, done.ended_at.is_some()), (JobState::Done, Some(revision), true));
    let states: Vec<JobState> = bench.jobs.events(&job.job_id).await.unwrap().iter().map(|event| event.state).collect();
    assert_eq!(states, [JobState::WaitingFile, JobState::Pending, JobState::Running, JobState::Done]);
    let failure = DocumentFailure::new(DocumentCode::Corrupt, "");
    assert_eq!(bench.jobs.fail(&job.job_id, "x", &failure).await.unwrap().state, JobState::Done, "an ended job stays as it ended");
    assert!(matches!(bench.jobs.advance(&job.job_id, JobState::Running, "x").await, Err(Error::Transition { .. })));
}

#[tokio::test]
async fn changes_at_the_same_time_are_all_kept() {
    let bench = Bench::new();
    let job = bench.jobs.create(new_job("a.md")).await.unwrap().job();
    let changes = (0..6).map(|_| {
        let (jobs, id) = (bench.jobs.clone(), job.job_id.clone());
        tokio::spawn(async move {
            let add = |job: &mut Job| {
                job.attempts += 1;
                Ok(Change::Write)
            };
            // Whoever is refused too often tries again, as a stage would.
            while let Err(error) = jobs.change(&id, add).await {
                assert!(error.is_transient(), "{error}");
            }
        })
    });
    for change in changes.collect::<Vec<_>>() {
        change.await.unwrap();
    }
    let job = bench.jobs.load(&job.job_id).await.unwrap().unwrap();
    assert_eq!((job.attempts, job.version), (6, 7));
}

#[tokio::test]
async fn an_idempotency_key_stands_for_one_request() {
    let bench = Bench::new();
    let keyed = |file: &str| NewJob { idempotency_key: Some("k-1".into()), ..new_job(file) };
    let first = bench.jobs.create(keyed("a.md")).await.unwrap();
    assert!(first.is_new());
    let again = bench.jobs.create(keyed("a.md")).await.unwrap();
    assert!(!again.is_new());
    assert_eq!(again.job().job_id, first.clone().job().job_id);
    assert!(matches!(bench.jobs.create(keyed("b.md")).await, Err(Error::KeyReused(job)) if job == first.job().job_id));
    let other = NewJob { scope: scope("bob"), ..keyed("b.md") };
    assert!(bench.jobs.create(other).await.unwrap().is_new(), "keys belong to their owner");
    bench.clock.advance(25 * 60 * 60 * 1000);
    assert!(bench.jobs.create(keyed("b.md")).await.unwrap().is_new(), "a key is forgotten after a day");
}

#[tokio::test]
async fn an_equal_data_id_returns_the_job_while_it_works_and_never_another_files() {
    let bench = Bench::new();
    let named = |file: &str| NewJob { data_id: Some("crm-42".into()), ..new_job(file) };
    let first = bench.jobs.create(named("a.md")).await.unwrap().job();
    assert_eq!(bench.jobs.create(named("a.md")).await.unwrap().job().job_id, first.job_id);
    assert_ne!(bench.jobs.create(named("b.md")).await.unwrap().job().job_id, first.job_id, "another file is another job");
    bench.jobs.fail(&first.job_id, "upload", &DocumentFailure::new(DocumentCode::Empty, "")).await.unwrap();
    let second = bench.jobs.create(named("a.md")).await.unwrap();
    assert!(second.is_new(), "a new upload under an old name is read");
    assert_eq!(bench.jobs.create(named("a.md")).await.unwrap().job().job_id, second.job().job_id);
}

#[tokio::test]
async fn equal_requests_at_the_same_time_make_one_job() {
    let bench = Bench::new();
    let requests: Vec<_> = (0..8)
        .map(|_| {
            let jobs = bench.jobs.clone();
            tokio::spawn(async move { jobs.create(NewJob { idempotency_key: Some("k".into()), ..new_job("a.md") }).await })
        })
        .collect();
    let mut ids = Vec::new();
    for request in requests {
        ids.push(request.await.unwrap().unwrap().job().job_id);
    }
    ids.dedup();
    assert_eq!(ids.len(), 1);
    assert_eq!(bench.jobs.list(&owner("ann"), &JobFilter::default(), 1, 10).await.unwrap().total, 1);
}

#[tokio::test]
async fn a_document_has_one_job_at_a_time() {
    let bench = Bench::new();
    let first = bench.jobs.create(new_job("a.md")).await.unwrap().job();
    let renew = || NewJob { document_id: Some(first.document_id.clone()), ..new_job("a.md") };
    assert!(matches!(bench.jobs.create(renew()).await, Err(Error::DocumentBusy { job, .. }) if job == first.job_id));
    bench.jobs.fail(&first.job_id, "upload", &DocumentFailure::new(DocumentCode::Empty, "")).await.unwrap();
    let second = bench.jobs.create(renew()).await.unwrap().job();
    assert_eq!(second.document_id, first.document_id);
    assert!(matches!(bench.jobs.create(renew()).await, Err(Error::DocumentBusy { job, .. }) if job == second.job_id));
}

#[tokio::test]
async fn dropped_files_are_named_by_place_and_content() {
    let bench = Bench::new();
    let first = bench.jobs.create_drop_in(drop_in("A", Some("01"), 1)).await.unwrap();
    assert!(first.is_new());
    assert!(!bench.jobs.create_drop_in(drop_in("A", Some("01"), 1)).await.unwrap().is_new(), "the same event again");
    let changed = bench.jobs.create_drop_in(drop_in("B", Some("02"), 2)).await.unwrap().job();
    let back = bench.jobs.create_drop_in(drop_in("A", Some("03"), 3)).await.unwrap();
    assert!(back.is_new(), "a file that returns to an earlier content is read again");
    let first = first.job();
    assert_eq!((&first.document_id, &changed.document_id), (&changed.document_id, &back.clone().job().document_id));
    assert_ne!(first.job_id, back.job().job_id);
}

#[tokio::test]
async fn stores_without_sequencers_get_one_only_for_a_content_seen_before() {
    let bench = Bench::new();
    let order = bench.jobs.drop_in_order(&scope("ann"), "inbox/a.md", "A").await.unwrap();
    assert_eq!(order.sequencer, None);
    let job = bench.jobs.create_drop_in(DropIn { order, ..drop_in("A", None, 0) }).await.unwrap().job();
    assert_eq!(bench.jobs.drop_in_order(&scope("ann"), "inbox/a.md", "A").await.unwrap().sequencer, None, "still at work");
    bench.jobs.fail(&job.job_id, "x", &DocumentFailure::new(DocumentCode::Empty, "")).await.unwrap();
    let order = bench.jobs.drop_in_order(&scope("ann"), "inbox/a.md", "A").await.unwrap();
    assert!(bench.jobs.create_drop_in(DropIn { order, ..drop_in("A", None, 0) }).await.unwrap().is_new());
}

#[tokio::test]
async fn lists_are_newest_first_filtered_and_paged() {
    let bench = Bench::new();
    let mut ids = Vec::new();
    for n in 0..5 {
        let mut new = new_job(&format!("{n}.md"));
        if n == 2 {
            new.scope.namespace = Namespace::new("legal").unwrap();
        }
        ids.push(bench.jobs.create(new).await.unwrap().job().job_id);
        bench.clock.advance(1000);
    }
    bench.jobs.create(NewJob { scope: scope("bob"), ..new_job("x.md") }).await.unwrap();
    bench.jobs.advance(&ids[4], JobState::Pending, "upload").await.unwrap();
    let list = async |filter: JobFilter, page, size| {
        let found = bench.jobs.list(&owner("ann"), &filter, page, size).await.unwrap();
        (found.jobs.into_iter().map(|job| job.job_id).collect::<Vec<_>>(), found.total)
    };
    let any = JobFilter::default;
    assert_eq!(list(any(), 1, 2).await, (vec![ids[4].clone(), ids[3].clone()], 5));
    assert_eq!(list(any(), 3, 2).await, (vec![ids[0].clone()], 5));
    assert_eq!(list(any(), 9, 2).await, (vec![], 5));
    assert_eq!(list(JobFilter { state: Some(JobState::WaitingFile), ..any() }, 1, 2).await, (vec![ids[3].clone(), ids[2].clone()], 4));
    let legal = Some(Namespace::new("legal").unwrap());
    assert_eq!(list(JobFilter { namespace: legal, ..any() }, 1, 9).await, (vec![ids[2].clone()], 1));
    let start = bench.jobs.load(&ids[1]).await.unwrap().unwrap().created_at;
    let window = JobFilter { from: Some(start), to: Some(start.plus_millis(2000)), ..any() };
    assert_eq!(list(window, 1, 9).await, (vec![ids[2].clone(), ids[1].clone()], 2));
}

#[tokio::test]
async fn nothing_waits_for_ever() {
    let bench = Bench::new();
    let limits = Limits::default();
    let waiting = bench.jobs.create(new_job("a.md")).await.unwrap().job();
    let running = bench.jobs.create(new_job("b.md")).await.unwrap().job();
    let running = bench.jobs.advance(&running.job_id, JobState::Running, "parse-text").await.unwrap();
    bench.clock.advance(2 * 60 * 60 * 1000);
    assert_eq!(bench.jobs.settle(waiting.clone(), &limits).await.unwrap().state, JobState::WaitingFile, "an upload may have begun in time");
    bench.clock.advance(11 * 60 * 1000);
    let expired = bench.jobs.settle(waiting, &limits).await.unwrap();
    assert_eq!(expired.error.unwrap().code, DocumentCode::UploadExpired);
    assert!(!bench.jobs.is_overdue(&running, &limits));
    bench.clock.advance(2 * 60 * 60 * 1000);
    assert_eq!(bench.jobs.settle(running, &limits).await.unwrap().error.unwrap().code, DocumentCode::Crashed);
}

#[tokio::test]
async fn jobs_that_nobody_reads_end_as_well() {
    let bench = Bench::new();
    let limits = Limits::default();
    let minutes = |n: i64| n * 60 * 1000;
    let waiting = bench.jobs.create(new_job("a.md")).await.unwrap().job();
    let running = bench.jobs.create(new_job("b.md")).await.unwrap().job();
    let done = bench.jobs.create(new_job("c.md")).await.unwrap().job();
    let dropped = bench.jobs.create_drop_in(drop_in("e1", None, 5)).await.unwrap().job();
    bench.jobs.advance(&running.job_id, JobState::Running, "parse-text").await.unwrap();
    bench.jobs.fail(&done.job_id, "parse-text", &DocumentFailure::new(DocumentCode::TimedOut, "")).await.unwrap();
    let none = Watched::default();
    assert_eq!(bench.jobs.sweep(&limits, 1000).await.unwrap(), none, "nothing is due at once");

    bench.clock.advance(minutes(31));
    assert_eq!(bench.jobs.sweep(&limits, 1000).await.unwrap(), Watched { ended: 1, failed: 0, moved: 3 });
    assert_eq!(bench.jobs.sweep(&limits, 1000).await.unwrap(), none, "a look is not repeated");

    // The address lives for two hours, and ten minutes are given to an upload that has begun.
    bench.clock.advance(minutes(100));
    assert_eq!(bench.jobs.sweep(&limits, 1000).await.unwrap(), Watched { failed: 1, ..none });
    let expired = bench.jobs.load(&waiting.job_id).await.unwrap().unwrap();
    assert_eq!((expired.state, expired.error.unwrap().code), (JobState::Failed, DocumentCode::UploadExpired));

    // Started over, it is on the list again; the file still does not come, and its message is lost.
    bench.jobs.retry(&waiting.job_id).await.unwrap();
    bench.clock.advance(minutes(110));
    assert_eq!(bench.jobs.sweep(&limits, 1000).await.unwrap(), Watched { failed: 2, moved: 1, ended: 0 });
    bench.clock.advance(minutes(131));
    assert_eq!(bench.jobs.sweep(&limits, 1000).await.unwrap(), Watched { failed: 1, ..none });
    for job in [&waiting, &running, &dropped] {
        let ended = bench.jobs.load(&job.job_id).await.unwrap().unwrap();
        assert_eq!((ended.state, ended.error.unwrap().code), (JobState::Failed, DocumentCode::Crashed));
    }
    bench.clock.advance(minutes(6000));
    assert_eq!(bench.jobs.sweep(&limits, 1000).await.unwrap(), none, "and the list is empty");
}

#[tokio::test]
async fn more_jobs_than_a_page_are_looked_at_in_one_sweep_and_two_at_once_agree() {
    let bench = Bench::new();
    let limits = Limits::default();
    for n in 0..230 {
        bench.jobs.create(new_job(&format!("{n}.md"))).await.unwrap();
    }
    bench.clock.advance(3 * 60 * 60 * 1000);
    let (one, other) = tokio::join!(bench.jobs.sweep(&limits, 1000), bench.jobs.sweep(&limits, 1000));
    let (one, other) = (one.unwrap(), other.unwrap());
    assert!(one.failed + other.failed >= 230, "{one:?} {other:?}");
    assert_eq!(one.moved + other.moved, 0);
    let failed = JobFilter { state: Some(JobState::Failed), ..JobFilter::default() };
    assert_eq!(bench.jobs.list(&owner("ann"), &failed, 1, 10).await.unwrap().total, 230);
    assert_eq!(bench.jobs.sweep(&limits, 1000).await.unwrap(), Watched::default());
}

#[tokio::test]
async fn a_failed_job_starts_over_and_no_other_does() {
    let bench = Bench::new();
    let job = bench.jobs.create(new_job("a.md")).await.unwrap().job();
    assert!(matches!(bench.jobs.retry(&job.job_id).await, Err(Error::Transition { .. })));
    bench.jobs.fail(&job.job_id, "parse-text", &DocumentFailure::new(DocumentCode::TimedOut, "")).await.unwrap();
    let again = bench.jobs.retry(&job.job_id).await.unwrap();
    assert_eq!((again.state, again.error, again.ended_at), (JobState::Pending, None, None));
}

#[tokio::test]
async fn another_owners_job_is_absent() {
    let bench = Bench::new();
    let job = bench.jobs.create(new_job("a.md")).await.unwrap().job();
    assert!(bench.jobs.load_for(&owner("ann"), &job.job_id).await.unwrap().is_some());
    assert!(bench.jobs.load_for(&owner("bob"), &job.job_id).await.unwrap().is_none());
}
