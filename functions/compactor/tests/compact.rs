//! Compaction on a real store: fewer splits with the same content, nothing removed too early, nothing left for ever.

#[path = "../../publisher/tests/support/mod.rs"]
mod support;

use std::sync::Arc;

use quarry_compactor::{Compactor, Patience, Summary};
use quarry_model::message::PublishAction;
use quarry_model::record::DocumentStatus;
use quarry_model::{ObjectKey, ObjectPrefix, RecordPrefix};
use quarry_ports::{ObjectStore, PutOptions, Records};
use support::failing::{FailingObjects, FailingRecords, Life};
use support::index::{cache, content, documents, manifest, named_splits, publish, scattered, splitting, stored_splits, withdraw};
use support::{World, draft, run};

/// No waiting: in these tests nobody reads meanwhile.
const NONE: Patience = Patience { superseded_millis: 0, orphan_millis: 0 };

fn compactor(world: &World) -> Compactor {
    compactor_on(world, Arc::clone(&world.objects), Arc::clone(&world.records))
}

fn compactor_on(world: &World, objects: Arc<dyn ObjectStore>, records: Arc<dyn Records>) -> Compactor {
    Compactor::new(objects, records, Arc::clone(&world.clock), cache())
}

#[tokio::test]
async fn many_splits_become_few_and_nothing_else_changes() {
    let world = scattered().await;
    let before = content(&world).await;
    assert_eq!((before.len(), manifest(&world).await.splits.len()), (18, 18));
    let summary = compactor(&world).compact(&world.scope).await.unwrap();
    assert!(summary.splits_merged >= 10 && summary.splits_removed == 0, "readers may have pinned them: {summary:?}");
    let after = manifest(&world).await;
    assert!(after.splits.len() < 10, "{} splits", after.splits.len());
    assert_eq!(content(&world).await, before);
    world.check(&[]).await;
    assert_eq!(compactor(&world).compact(&world.scope).await.unwrap().splits_merged, 0, "one run is enough");

    let swept = compactor(&world).with_patience(NONE).run().await.unwrap();
    assert!(swept.splits_removed >= 10 && swept.revisions_removed == 1, "{swept:?}");
    assert_eq!(stored_splits(&world).await, named_splits(&world).await);
    assert_eq!(content(&world).await, before);
    assert!(world.records.query_all(&RecordPrefix::compactions()).await.unwrap().is_empty(), "nothing is due any more");
    assert_eq!(compactor(&world).run().await.unwrap(), Summary::default());
}

#[tokio::test]
async fn a_split_with_much_that_is_dead_is_rewritten() {
    let world = World::new();
    let messages = [world.parsed(&draft("a.md", 1, &["One."])).await, world.parsed(&draft("b.md", 1, &["Two."])).await];
    run(&splitting(&world), messages.to_vec()).await;
    withdraw(&world, "a.md", PublishAction::Archive).await;
    assert_eq!(manifest(&world).await.splits[0].chunks, 2);
    assert_eq!(compactor(&world).compact(&world.scope).await.unwrap().splits_merged, 1);
    let splits = manifest(&world).await.splits;
    assert_eq!((splits.len(), splits[0].chunks, splits[0].documents.len()), (1, 1, 1));
    world.check(&[]).await;
}

#[tokio::test]
async fn what_an_archived_document_keeps_is_kept() {
    let world = scattered().await;
    compactor(&world).with_patience(NONE).compact(&world.scope).await.unwrap();
    let archived = world.record("d05.md").await.unwrap();
    assert_eq!(archived.status, DocumentStatus::Archived);
    let revision = archived.active_revision.unwrap();
    let chunks = world.records.query_all(&RecordPrefix::chunks(&archived.document_id, &revision)).await.unwrap();
    assert_eq!(chunks.len(), 2);
    let renewed = world.record("d03.md").await.unwrap();
    let folders = world.objects.list(&ObjectPrefix::document(&world.scope, &renewed.document_id), None, 1_000).await.unwrap();
    let prefix = ObjectPrefix::revision(&world.scope, &renewed.document_id, renewed.active_revision.as_ref().unwrap());
    assert!(!folders.objects.is_empty());
    assert!(folders.objects.iter().all(|object| object.key.as_str().starts_with(prefix.as_str())), "the old revision is gone");
}

#[tokio::test]
async fn what_nothing_names_goes_only_when_its_time_is_over() {
    let world = scattered().await;
    let orphan = ObjectKey::split(&world.scope, &"0".repeat(64));
    world.objects.put(&orphan, "half a publication".into(), PutOptions::default()).await.unwrap();
    let summary = compactor(&world).compact(&world.scope).await.unwrap();
    assert_eq!(summary.orphans_removed, 0);
    assert_eq!(world.records.query_all(&RecordPrefix::orphans(&world.scope)).await.unwrap().len(), 1);
    let patient = Patience { orphan_millis: 1, ..Patience::default() };
    assert_eq!(compactor(&world).with_patience(patient).compact(&world.scope).await.unwrap().orphans_removed, 1);
    assert!(!stored_splits(&world).await.contains(&orphan));
    assert!(world.records.query_all(&RecordPrefix::orphans(&world.scope)).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_lost_index_is_built_again_from_the_folders() {
    let world = scattered().await;
    let before = content(&world).await;
    for (n, key) in named_splits(&world).await.iter().enumerate() {
        if n % 2 == 0 {
            world.objects.delete(key).await.unwrap();
        } else {
            world.objects.put(key, "damaged".into(), PutOptions::default()).await.unwrap();
        }
    }
    assert_eq!(compactor(&world).rebuild(&world.scope).await.unwrap(), 18);
    assert_eq!(content(&world).await, before);
    world.check(&[]).await;
    let once = world.split_hashes().await;
    compactor(&world).rebuild(&world.scope).await.unwrap();
    assert_eq!(world.split_hashes().await, once, "the same documents give the same splits");
}

#[tokio::test]
async fn a_death_at_any_step_changes_no_answer_and_the_next_run_completes() {
    let expected = {
        let world = documents(10).await;
        compactor(&world).with_patience(NONE).run().await.unwrap();
        (content(&world).await, named_splits(&world).await)
    };
    let mut steps = 0;
    for answer_lost in [false, true] {
        for changes in 0.. {
            let world = documents(10).await;
            let life = Life::of(changes, answer_lost);
            let objects: Arc<dyn ObjectStore> = Arc::new(FailingObjects(Arc::clone(&world.objects), life.clone()));
            let records: Arc<dyn Records> = Arc::new(FailingRecords(Arc::clone(&world.records), life.clone()));
            let dying = compactor_on(&world, objects, records).with_patience(NONE);
            let failed = dying.run().await.map_or(true, |summary| summary.failed > 0);
            let died = failed || life.left() <= 0;
            assert_eq!(content(&world).await, expected.0, "after {changes} changes");
            world.check(&[]).await;
            if !died {
                break;
            }
            steps += 1;
            // Twice: what a death left unnamed is seen by the first run.
            for _ in 0..2 {
                compactor(&world).with_patience(NONE).compact(&world.scope).await.unwrap();
            }
            assert_eq!(content(&world).await, expected.0);
            assert_eq!(stored_splits(&world).await, named_splits(&world).await, "after {changes} changes");
        }
    }
    assert!(steps >= 24, "{steps} steps");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn publications_meanwhile_are_carried_over() {
    let world = Arc::new(scattered().await);
    let compacting = async {
        for _ in 0..6 {
            // A lost race is no failure of the namespace: the next run goes on.
            let _ = compactor(&world)
                .with_patience(Patience { superseded_millis: 60_000_000, orphan_millis: 60_000_000 })
                .compact(&world.scope)
                .await;
        }
    };
    let publishing = async {
        for n in 10..20 {
            let name = format!("d{n:02}.md");
            match n % 3 {
                0 => withdraw(&world, &name, PublishAction::Archive).await,
                1 => withdraw(&world, &name, PublishAction::Delete).await,
                _ => publish(&world, &name, 2_000, "Renewed while splits were merged.").await,
            }
        }
    };
    tokio::join!(compacting, publishing);
    compactor(&world).compact(&world.scope).await.unwrap();
    world.check(&[]).await;
    let found = content(&world).await;
    for n in 10..20 {
        let texts = found.get(&world.document(&format!("d{n:02}.md"))).map(|(_, texts)| texts[0].as_str());
        let expected = (n % 3 == 2).then_some("Renewed while splits were merged.");
        assert_eq!(texts, expected, "d{n:02}.md");
    }
}
