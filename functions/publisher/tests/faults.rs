//! Publication under faults: a process that dies at any step, and many publishers at once.

mod support;

use std::sync::Arc;

use quarry_model::message::{PublishAction, PublishMessage};
use quarry_model::record::DocumentStatus;
use quarry_model::{JobState, Outcome, RecordPrefix};
use support::failing::{FailingObjects, FailingRecords, Life};
use support::{World, draft, run};

/// Three documents are served; then one gets a new revision, one is deleted, one is new.
async fn before(world: &World) -> Vec<PublishMessage> {
    let words = "pump pump valve valve pressure pressure seal";
    let mut first = Vec::new();
    for name in ["a.md", "b.md", "c.md"] {
        first.push(world.parsed(&draft(name, 10, &[words, name])).await);
    }
    assert!(run(&world.publisher(), first).await.iter().all(|outcome| *outcome == Outcome::Done(())));
    vec![
        world.parsed(&draft("a.md", 20, &["Replaced text about rivers and mountains.", words])).await,
        world.order_message("b.md", 20, PublishAction::Delete),
        world.parsed(&draft("d.md", 20, &[words, "Fourth."])).await,
    ]
}

/// Everything that a reader can tell two ends apart by.
async fn end(world: &World) -> String {
    let (nodes, edges) = world.graph().await;
    let waiting = world.records.query_all(&RecordPrefix::superseded(&world.scope)).await.unwrap();
    let open = world.records.query_all(&RecordPrefix::publications(&world.scope)).await.unwrap();
    let mut statuses = Vec::new();
    for name in ["a.md", "b.md", "c.md", "d.md"] {
        statuses.push(world.record(name).await.map(|record| (record.status, record.active_revision)));
    }
    let waiting: Vec<_> = waiting.iter().map(|item| (&item.key, &item.body["postings_removed"])).collect();
    let graph_file = world.objects.get(&quarry_model::ObjectKey::graph(&world.scope)).await.unwrap().0;
    format!(
        "{:?}\n{:?}\n{nodes:?}\n{edges:?}\n{waiting:?}\n{}\n{statuses:?}\n{}",
        world.live().await,
        world.split_hashes().await,
        open.len(),
        String::from_utf8_lossy(&graph_file),
    )
}

#[tokio::test]
async fn a_death_at_any_step_leaves_old_or_new_and_a_retry_completes() {
    let expected = {
        let world = World::new();
        let messages = before(&world).await;
        run(&world.publisher(), messages).await;
        end(&world).await
    };
    let mut steps = 0;
    for answer_lost in [false, true] {
        for changes in 0.. {
            let world = World::new();
            let messages = before(&world).await;
            let old = world.live().await;
            let life = Life::of(changes, answer_lost);
            let dying = world.publisher_on(
                Arc::new(FailingObjects(Arc::clone(&world.objects), life.clone())),
                Arc::new(FailingRecords(Arc::clone(&world.records), life.clone())),
            );
            run(&dying, messages.clone()).await;

            let now = world.live().await;
            let new = world.record("d.md").await.is_some_and(|record| record.status == DocumentStatus::Active);
            if !new {
                assert_eq!(now, old, "step {changes}: nothing of it is visible");
            }
            world.check(&messages).await;

            let retried = run(&world.publisher(), messages.clone()).await;
            assert!(retried.iter().all(|outcome| matches!(outcome, Outcome::Done(()) | Outcome::Skipped(_))), "{retried:?}");
            world.check(&messages).await;
            assert_eq!(end(&world).await, expected, "step {changes}, answer lost: {answer_lost}");
            for message in [&messages[0], &messages[2]] {
                assert_eq!(world.job_state(message).await, JobState::Done);
            }
            steps += 1;
            if life.left() > 0 {
                break;
            }
        }
    }
    assert!(steps > 20, "only {steps} steps: the fault injection does not reach the publication");
}

#[tokio::test]
async fn what_a_crash_left_undone_is_done_by_the_next_publication_of_anything() {
    let expected = {
        let world = World::new();
        let messages = before(&world).await;
        run(&world.publisher(), messages).await;
        let other = world.parsed(&draft("z.md", 90, &["Unrelated."])).await;
        run(&world.publisher(), vec![other]).await;
        end(&world).await
    };
    let mut tried = 0;
    for changes in 0.. {
        let world = World::new();
        let messages = before(&world).await;
        let life = Life::of(changes, false);
        let dying = world.publisher_on(
            Arc::new(FailingObjects(Arc::clone(&world.objects), life.clone())),
            Arc::new(FailingRecords(Arc::clone(&world.records), life.clone())),
        );
        run(&dying, messages.clone()).await;
        let committed = world.record("d.md").await.is_some();
        if committed && life.left() < 0 {
            // The queue does not deliver again what belongs to jobs that are done.
            let other = world.parsed(&draft("z.md", 90, &["Unrelated."])).await;
            assert_eq!(run(&world.publisher(), vec![other]).await, [Outcome::Done(())]);
            assert_eq!(end(&world).await, expected, "step {changes}");
            tried += 1;
        }
        if life.left() >= 0 {
            break;
        }
    }
    assert!(tried > 5, "only {tried} steps after the commit");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_publishers_at_once_lose_nothing_and_do_nothing_twice() {
    let world = Arc::new(World::new());
    let mut messages = Vec::new();
    for n in 0..24 {
        let words = "pump pump valve valve pressure pressure seal";
        messages.push(world.parsed(&draft(&format!("{n:02}.md"), 10, &[words, &format!("Number {n}.")])).await);
    }
    // An old and a new revision of one more document, with different publishers.
    let old = world.parsed(&draft("twice.md", 10, &["Old."])).await;
    let new = world.parsed(&draft("twice.md", 20, &["New."])).await;
    let mut shares: Vec<Vec<PublishMessage>> = messages.chunks(3).map(<[_]>::to_vec).collect();
    assert_eq!(shares.len(), 8);
    shares[0].push(old.clone());
    shares[7].push(new.clone());
    // Every message once more, with somebody else.
    for at in 0..8 {
        let more = messages[at * 3].clone();
        shares[(at + 1) % 8].push(more);
    }
    let publishers = shares.into_iter().map(|share| {
        let world = Arc::clone(&world);
        tokio::spawn(async move { run(&world.publisher(), share).await })
    });
    let outcomes: Vec<Outcome<()>> = futures::future::join_all(publishers).await.into_iter().flat_map(Result::unwrap).collect();
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Outcome::Done(()) | Outcome::Skipped(_))), "{outcomes:?}");

    // The model: what one publisher would have left.
    let model = World::new();
    let mut all = Vec::new();
    for n in 0..24 {
        let words = "pump pump valve valve pressure pressure seal";
        all.push(model.parsed(&draft(&format!("{n:02}.md"), 10, &[words, &format!("Number {n}.")])).await);
    }
    all.push(model.parsed(&draft("twice.md", 20, &["New."])).await);
    run(&model.publisher(), all).await;

    messages.extend([old, new]);
    world.check(&messages).await;
    assert_eq!(world.live().await, model.live().await);
    assert_eq!(world.split_hashes().await, model.split_hashes().await);
    let (edges, expected) = (world.edges().await, model.edges().await);
    assert!(edges == expected, "{} edges, expected {}", edges.len(), expected.len());
    for message in &messages {
        assert_eq!(world.job_state(message).await, JobState::Done);
    }
}
