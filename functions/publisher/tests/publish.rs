//! What a publication leaves behind, in every order and number of deliveries.

mod support;

use quarry_model::message::PublishAction;
use quarry_model::record::{ChunkRecord, DocumentStatus, ManifestPlace};
use quarry_model::{ChunkId, DocumentCode, JobState, ObjectKey, ObjectPrefix, Outcome, RecordKey, RecordPrefix, SkipReason};
use quarry_ports::{Condition, PutOptions};
use quarry_runtime::jobs::Change;
use support::{Draft, World, draft, permutations, run};

const DONE: Outcome<()> = Outcome::Done(());
const DUPLICATE: Outcome<()> = Outcome::Skipped(SkipReason::Duplicate);
const OLDER: Outcome<()> = Outcome::Skipped(SkipReason::Older);
const GONE: Outcome<()> = Outcome::Skipped(SkipReason::Gone);

#[tokio::test]
async fn a_published_document_is_in_the_head_and_in_its_records() {
    let world = World::new();
    let message = world.parsed(&draft("pump.md", 10, &["The pump moves water.", "The valve closes."])).await;
    assert_eq!(run(&world.publisher(), vec![message.clone()]).await, [DONE]);

    world.check(std::slice::from_ref(&message)).await;
    assert_eq!(world.head().await.version, 1);
    let record = world.record("pump.md").await.unwrap();
    assert_eq!((record.source_file_name.as_str(), record.chunk_count), ("pump.md", 2));
    assert_eq!(record.summary, "The pump moves water.");
    assert_eq!(world.job_state(&message).await, JobState::Done);
    let (nodes, edges) = world.graph().await;
    assert_eq!((nodes.len(), edges.len()), (1, 0));
    let graph = world.objects.get(&ObjectKey::graph(&world.scope)).await.unwrap().0;
    assert!(std::str::from_utf8(&graph).unwrap().contains("pump.md"));
    assert!(world.records.get(&RecordKey::namespace(&world.scope)).await.unwrap().is_some());
    assert!(world.records.query_all(&RecordPrefix::publications(&world.scope)).await.unwrap().is_empty(), "nothing left to do");
}

#[tokio::test]
async fn five_deliveries_of_one_message_are_one_publication_and_four_skips() {
    let world = World::new();
    let message = world.parsed(&draft("a.md", 10, &["One text."])).await;
    let publisher = world.publisher();
    assert_eq!(run(&publisher, vec![message.clone(); 3]).await, [DONE, DUPLICATE, DUPLICATE]);
    assert_eq!(run(&publisher, vec![message.clone()]).await, [DUPLICATE]);
    assert_eq!(run(&publisher, vec![message.clone()]).await, [DUPLICATE]);
    assert_eq!(world.head().await.version, 1);
    world.check(&[message]).await;
}

#[tokio::test]
async fn two_revisions_end_with_the_newer_one_in_either_order() {
    for reversed in [false, true] {
        let world = World::new();
        let old = world.parsed(&draft("a.md", 10, &["Long text.", "Stale tail."])).await;
        let new = world.parsed(&draft("a.md", 20, &["Short text."])).await;
        let publisher = world.publisher();
        if reversed {
            assert_eq!(run(&publisher, vec![new.clone()]).await, [DONE]);
            assert_eq!(run(&publisher, vec![old.clone()]).await, [OLDER]);
        } else {
            assert_eq!(run(&publisher, vec![old.clone()]).await, [DONE]);
            assert_eq!(run(&publisher, vec![new.clone()]).await, [DONE]);
        }
        let live = world.live().await;
        let PublishAction::Publish { revision, .. } = &new.action else { unreachable!() };
        assert_eq!(live.get(&world.document("a.md")), Some(&(revision.clone(), 1)), "no stale chunk of the longer one");
        assert_eq!(world.job_state(&old).await, JobState::Done, "the job of an overtaken revision has done its work");
        world.check(&[old, new]).await;
        let stale = RecordPrefix::content_hash(&world.scope, &ChunkId::text("Stale tail."));
        assert!(world.records.query_all(&stale).await.unwrap().is_empty(), "no posting of what is not served");
    }
}

#[tokio::test]
async fn a_content_that_comes_back_is_served_again() {
    let world = World::new();
    let publisher = world.publisher();
    let first = world.parsed(&draft("a.md", 10, &["First words."])).await;
    let second = world.parsed(&draft("a.md", 20, &["Second words."])).await;
    let again = world.parsed(&draft("a.md", 30, &["First words."])).await;
    for message in [&first, &second, &again] {
        assert_eq!(run(&publisher, vec![message.clone()]).await, [DONE]);
    }
    world.check(&[first, second, again]).await;
    let postings = RecordPrefix::content_hash(&world.scope, &ChunkId::text("First words."));
    assert_eq!(world.records.query_all(&postings).await.unwrap().len(), 1);
    let waiting = world.records.query_all(&RecordPrefix::superseded(&world.scope)).await.unwrap();
    assert_eq!(waiting.len(), 1, "only the second waits to be swept");
}

#[tokio::test]
async fn a_newer_source_with_equal_bytes_moves_the_order_on() {
    let world = World::new();
    let publisher = world.publisher();
    let first = world.parsed(&draft("a.md", 10, &["Same."])).await;
    let between = world.parsed(&draft("a.md", 20, &["Other."])).await;
    let again = world.parsed(&draft("a.md", 30, &["Same."])).await;
    assert_eq!(run(&publisher, vec![first]).await, [DONE]);
    assert_eq!(run(&publisher, vec![again.clone()]).await, [DUPLICATE]);
    assert_eq!(world.job_state(&again).await, JobState::Done);
    assert_eq!(run(&publisher, vec![between.clone()]).await, [OLDER], "it is older than the last source");
    assert_eq!(world.record("a.md").await.unwrap().order.created_millis, 30);
    assert_eq!(world.job_state(&between).await, JobState::Done);
}

#[tokio::test]
async fn archive_takes_out_of_search_and_keeps() {
    let world = World::new();
    let publisher = world.publisher();
    let message = world.parsed(&draft("a.md", 10, &["Text."])).await;
    run(&publisher, vec![message.clone()]).await;
    let archive = world.order_message("a.md", 20, PublishAction::Archive);
    assert_eq!(run(&publisher, vec![archive.clone(), archive.clone()]).await, [DONE, DUPLICATE]);
    assert!(world.live().await.is_empty());
    let record = world.record("a.md").await.unwrap();
    assert_eq!(record.status, DocumentStatus::Archived);
    let revision = record.active_revision.unwrap();
    assert_eq!(world.records.query_all(&RecordPrefix::chunks(&record.document_id, &revision)).await.unwrap().len(), 1, "kept");
    assert!(world.graph().await.0.is_empty());

    let later = world.parsed(&draft("a.md", 30, &["Text."])).await;
    assert_eq!(run(&publisher, vec![later.clone()]).await, [DONE], "a newer source brings it back");
    world.check(&[message, later]).await;
    assert_eq!(world.live().await.len(), 1);
}

#[tokio::test]
async fn what_was_read_after_a_delete_was_asked_for_survives_it() {
    let world = World::new();
    let publisher = world.publisher();
    let first = world.parsed(&draft("a.md", 10, &["First."])).await;
    run(&publisher, vec![first.clone()]).await;
    // The delete waits in its queue while a newer source is read.
    let delete = world.order_message("a.md", 20, PublishAction::Delete);
    let later = world.parsed(&draft("a.md", 30, &["Later."])).await;
    assert_eq!(run(&publisher, vec![delete]).await, [DONE]);
    assert_eq!(run(&publisher, vec![later.clone()]).await, [DONE]);
    world.check(std::slice::from_ref(&later)).await;
    assert_eq!(world.live().await.len(), 1);
}

#[tokio::test]
async fn delete_leaves_a_mark_and_nothing_else() {
    let world = World::new();
    let publisher = world.publisher();
    let message = world.parsed(&draft("a.md", 10, &["Secret text."])).await;
    let kept = world.parsed(&draft("b.md", 10, &["Other text."])).await;
    run(&publisher, vec![message.clone(), kept.clone()]).await;
    let PublishAction::Publish { revision, .. } = &message.action else { unreachable!() };
    let delete = world.order_message("a.md", 20, PublishAction::Delete);
    assert_eq!(run(&publisher, vec![delete]).await, [DONE]);

    let document = world.document("a.md");
    assert_eq!(world.live().await.keys().collect::<Vec<_>>(), [&world.document("b.md")]);
    let record = world.record("a.md").await.unwrap();
    assert_eq!((record.status, record.source_file_name.as_str()), (DocumentStatus::Deleted, ""));
    let left = world.objects.list(&ObjectPrefix::document(&world.scope, &document), None, 10).await.unwrap();
    assert!(left.objects.is_empty(), "{left:?}");
    assert!(world.objects.head(&ObjectKey::from_event("inbox/default/a.md")).await.is_err(), "the source is gone as well");
    assert!(world.records.query_all(&RecordPrefix::revision(&document, revision)).await.unwrap().is_empty());
    assert!(world.records.query_all(&RecordPrefix::content_hash(&world.scope, &ChunkId::text("Secret text."))).await.unwrap().is_empty());
    assert!(world.records.query_all(&RecordPrefix::superseded(&world.scope)).await.unwrap().is_empty());
    world.check(&[kept]).await;
}

#[tokio::test]
async fn a_delete_while_parsing_wins() {
    let world = World::new();
    let publisher = world.publisher();
    let message = world.parsed(&draft("a.md", 10, &["Late text."])).await;
    assert_eq!(run(&publisher, vec![world.order_message("a.md", 20, PublishAction::Delete)]).await, [DONE]);
    assert_eq!(run(&publisher, vec![message]).await, [GONE]);
    assert!(world.live().await.is_empty());
    let folder = ObjectPrefix::document(&world.scope, &world.document("a.md"));
    assert!(world.objects.list(&folder, None, 10).await.unwrap().objects.is_empty());

    let later = world.parsed(&draft("a.md", 30, &["New text."])).await;
    assert_eq!(run(&publisher, vec![later]).await, [DONE], "what is created afterwards is a new document");
}

#[tokio::test]
async fn a_cancelled_job_publishes_nothing() {
    let world = World::new();
    let message = world.parsed(&draft("a.md", 10, &["Text."])).await;
    let PublishAction::Publish { job_id, .. } = &message.action else { unreachable!() };
    let failed = |job: &mut quarry_model::Job| {
        job.state = JobState::Failed;
        Ok(Change::Write)
    };
    world.jobs.change(job_id, failed).await.unwrap();
    assert_eq!(run(&world.publisher(), vec![message]).await, [GONE]);
    assert!(world.live().await.is_empty() && world.record("a.md").await.is_none());
}

#[tokio::test]
async fn equal_content_in_two_documents_stays_in_both_and_knows_the_oldest() {
    let world = World::new();
    let publisher = world.publisher();
    let one = world.parsed(&draft("one.md", 10, &["Shared words.", "Only here."])).await;
    let two = world.parsed(&draft("two.md", 20, &["Own words.", "Shared words."])).await;
    assert_eq!(run(&publisher, vec![one.clone()]).await, [DONE]);
    assert_eq!(run(&publisher, vec![two.clone()]).await, [DONE]);
    world.check(&[one.clone(), two.clone()]).await;
    assert_eq!(world.live().await.values().map(|(_, chunks)| chunks).sum::<u32>(), 4);
    let chunk = |message: &quarry_model::message::PublishMessage, ordinal| {
        let PublishAction::Publish { revision, .. } = &message.action else { unreachable!() };
        RecordKey::chunk(&message.document_id, revision, ordinal)
    };
    let read = async |key| world.records.get(&key).await.unwrap().unwrap().read::<ChunkRecord>().unwrap();
    let duplicate = read(chunk(&two, 1)).await.duplicate_of.unwrap();
    assert_eq!((duplicate.document_id, duplicate.ordinal), (world.document("one.md"), 0));
    assert_eq!(read(chunk(&two, 0)).await.duplicate_of, None);
    assert_eq!(read(chunk(&one, 0)).await.duplicate_of, None);

    run(&publisher, vec![world.order_message("one.md", 30, PublishAction::Archive)]).await;
    let three = world.parsed(&draft("three.md", 40, &["Shared words."])).await;
    run(&publisher, vec![three.clone()]).await;
    assert_eq!(read(chunk(&three, 0)).await.duplicate_of.unwrap().document_id, world.document("two.md"), "the oldest that is live");
}

#[tokio::test]
async fn a_broken_folder_is_rejected_and_its_neighbours_are_published() {
    let world = World::new();
    let good = world.parsed(&draft("good.md", 10, &["Text."])).await;
    let bad = world.parsed(&draft("bad.md", 10, &["Text one."])).await;
    let PublishAction::Publish { revision, .. } = &bad.action else { unreachable!() };
    let key = ObjectKey::artifact(&world.scope, &bad.document_id, revision, "chunks.json");
    let (bytes, _) = world.objects.get(&key).await.unwrap();
    let broken = String::from_utf8(bytes.to_vec()).unwrap().replace("\"ordinal\": 0", "\"ordinal\": 7");
    world.objects.put(&key, broken.into(), PutOptions::default()).await.unwrap();
    let outcomes = run(&world.publisher(), vec![bad, good.clone()]).await;
    assert!(matches!(&outcomes[0], Outcome::Rejected(failure) if failure.code == DocumentCode::Crashed), "{outcomes:?}");
    assert_eq!(outcomes[1], DONE);
    assert_eq!(world.live().await.len(), 1);
    world.check(&[good]).await;
}

fn corpus() -> Vec<Draft> {
    let pumps = "pump pump pump valve valve pressure pressure seal";
    vec![
        draft("a.md", 10, &[pumps, "Alpha text about rivers."]),
        draft("b.md", 11, &[pumps]),
        draft("c.md", 12, &["Gamma text about mountains and snow.", "Shared line."]),
        draft("d.md", 13, &["Shared line.", pumps]),
    ]
}

#[tokio::test]
async fn any_order_of_publication_gives_the_same_split_and_the_same_graph() {
    let mut seen = None;
    for order in permutations(4).into_iter().step_by(5) {
        let world = World::new();
        let publisher = world.publisher();
        let mut messages = Vec::new();
        for draft in corpus() {
            messages.push(world.parsed(&draft).await);
        }
        // Some alone, some together.
        for group in order.chunks(1 + order[0] % 3) {
            let group = group.iter().map(|&at| messages[at].clone()).collect();
            assert!(run(&publisher, group).await.iter().all(|outcome| *outcome == DONE));
        }
        world.check(&messages).await;
        let end = (world.split_hashes().await, world.edges().await);
        assert_eq!(end.0.len(), 1, "a small namespace is one split");
        assert!(end.1.len() >= 2, "{:?}", end.1);
        match &seen {
            None => seen = Some(end),
            Some(first) => assert_eq!(first, &end, "{order:?}"),
        }
    }
}

#[tokio::test]
async fn what_is_gone_leaves_the_split_that_was_never_there() {
    let world = World::new();
    let publisher = world.publisher();
    let kept = world.parsed(&draft("kept.md", 10, &["Kept."])).await;
    run(&publisher, vec![kept]).await;
    let before = world.split_hashes().await;
    let passing = world.parsed(&draft("passing.md", 20, &["Passing."])).await;
    run(&publisher, vec![passing]).await;
    run(&publisher, vec![world.order_message("passing.md", 30, PublishAction::Archive)]).await;
    assert_eq!(world.split_hashes().await, before);
    let ManifestPlace::Inline(manifest) = world.head().await.manifest else { unreachable!() };
    assert_eq!(manifest.retired.len(), 1, "the one in between; what is live again is not retired");
    assert_eq!(world.head().await.version, 3);
}

#[tokio::test]
async fn edges_follow_their_documents() {
    let world = World::new();
    let publisher = world.publisher();
    let mut messages = Vec::new();
    for draft in corpus() {
        messages.push(world.parsed(&draft).await);
    }
    run(&publisher, messages).await;
    let all = world.edges().await.len();
    let changed = world.parsed(&draft("b.md", 50, &["Nothing of before, only clouds, birds and trees."])).await;
    run(&publisher, vec![changed]).await;
    let fewer = world.edges().await;
    assert!(fewer.len() < all && fewer.iter().all(|edge| edge.a != world.document("b.md") && edge.b != world.document("b.md")));
    run(&publisher, vec![world.order_message("a.md", 60, PublishAction::Delete)]).await;
    assert!(world.edges().await.iter().all(|edge| edge.a != world.document("a.md") && edge.b != world.document("a.md")));
}

#[tokio::test]
async fn a_head_too_large_for_a_record_keeps_its_manifest_beside() {
    let world = World::new();
    let publisher = world.publisher();
    let one = world.parsed(&draft("a.md", 10, &["Text."])).await;
    run(&publisher, vec![one.clone()]).await;
    // Thousands of retired splits make the manifest large without thousands of publications.
    let mut head = world.head().await;
    let ManifestPlace::Inline(manifest) = &mut head.manifest else { unreachable!() };
    let now = world.clock.now();
    manifest.retired = (0..2_000)
        .map(|n| quarry_model::record::RetiredSplit { key: ObjectKey::split(&world.scope, &format!("{n:064x}")), at: now })
        .collect();
    let item = quarry_ports::Item::of(RecordKey::head(&world.scope), &head).unwrap();
    world.records.put(item, Condition::None).await.unwrap();
    let two = world.parsed(&draft("b.md", 20, &["More text."])).await;
    assert_eq!(run(&publisher, vec![two.clone()]).await, [DONE]);
    assert!(matches!(world.head().await.manifest, ManifestPlace::Object(_)));
    let three = world.parsed(&draft("c.md", 30, &["Even more."])).await;
    assert_eq!(run(&publisher, vec![three.clone()]).await, [DONE]);
    world.check(&[one, two, three]).await;
    assert_eq!(world.live().await.len(), 3);
}

#[tokio::test]
async fn a_lost_split_is_built_again_from_the_folders() {
    let world = World::new();
    let one = world.parsed(&draft("a.md", 10, &["Text."])).await;
    run(&world.publisher(), vec![one.clone()]).await;
    let ManifestPlace::Inline(manifest) = world.head().await.manifest else { unreachable!() };
    world.objects.delete(&manifest.splits[0].key).await.unwrap();
    let two = world.parsed(&draft("b.md", 20, &["More."])).await;
    assert_eq!(run(&world.publisher(), vec![two.clone()]).await, [DONE]);
    world.check(&[one, two]).await;
    assert_eq!(world.live().await.len(), 2);
}

#[tokio::test]
async fn what_cannot_be_rebuilt_does_not_hold_up_what_arrives() {
    let world = World::new();
    let one = world.parsed(&draft("a.md", 10, &["Text."])).await;
    run(&world.publisher(), vec![one.clone()]).await;
    let ManifestPlace::Inline(manifest) = world.head().await.manifest else { unreachable!() };
    world.objects.delete(&manifest.splits[0].key).await.unwrap();
    let PublishAction::Publish { revision, .. } = &one.action else { unreachable!() };
    world.objects.delete(&ObjectKey::artifact(&world.scope, &one.document_id, revision, "manifest.json")).await.unwrap();
    let two = world.parsed(&draft("b.md", 20, &["More."])).await;
    assert_eq!(run(&world.publisher(), vec![two.clone()]).await, [DONE]);
    assert_eq!(world.split_hashes().await.len(), 2, "the lost one is still named, so that readers can report it");
    let again = world.parsed(&draft("a.md", 30, &["Text anew."])).await;
    assert_eq!(run(&world.publisher(), vec![again]).await, [DONE], "reading the document again heals it");
    assert_eq!(world.split_hashes().await.len(), 1);
}
