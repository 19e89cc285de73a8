//! Killed with SIGKILL at every named point of a publication and of a compaction: a reader finds the old or the new,
//! never a mix; a repair leaves the stored objects that the head names; a redelivery completes.
//!
//! This test runs itself again as a child that does the work on a folder, says each change before it makes it, and stops
//! at one of them, where the parent kills it. What is in the folder is then all there is.

#[path = "../../publisher/tests/support/mod.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use quarry_compactor::{Compactor, Patience};
use quarry_model::message::{PublishAction, PublishMessage};
use quarry_model::{JobState, ObjectPrefix, Outcome, RecordPrefix};
use quarry_ports::{ObjectStore, Records};
use quarry_publisher::Publisher;
use support::index::{Content, cache, content, named_splits, scatter, splitting, stored_splits};
use support::pausing::{PausingObjects, PausingRecords, Points};
use support::{World, draft, run};

const FOLDER: &str = "QUARRY_TEST_KILLED_FOLDER";
const WORK: &str = "QUARRY_TEST_KILLED_WORK";
const STOP: &str = "QUARRY_TEST_KILLED_AT";
const MESSAGES: &str = "messages.json";
const NONE: Patience = Patience { superseded_millis: 0, orphan_millis: 0 };

const PUBLICATION: &str = "publication";
const COMPACTION: &str = "compaction";

fn compactor(world: &World, objects: Arc<dyn ObjectStore>, records: Arc<dyn Records>) -> Compactor {
    Compactor::new(objects, records, Arc::clone(&world.clock), cache()).with_patience(NONE)
}

fn publisher(world: &World) -> Publisher {
    splitting(world)
}

fn messages(folder: &Path) -> Vec<PublishMessage> {
    serde_json::from_slice(&std::fs::read(folder.join(MESSAGES)).unwrap()).unwrap()
}

/// Not a test of its own: what the child runs. Without its folder it has nothing to do.
#[tokio::test]
async fn child_works_until_it_is_killed() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let points = Points::new(std::env::var(STOP).ok().map(|at| at.parse().unwrap()));
    let world = World::at(&Path::new(&folder).join("store"), 1);
    let objects: Arc<dyn ObjectStore> = Arc::new(PausingObjects(Arc::clone(&world.objects), points.clone()));
    let records: Arc<dyn Records> = Arc::new(PausingRecords(Arc::clone(&world.records), points.clone()));
    if std::env::var(WORK).unwrap() == PUBLICATION {
        let publisher = world.publisher_on(objects, records).with_rebuild_bytes(0);
        run(&publisher, messages(Path::new(&folder))).await;
    } else {
        compactor(&world, objects, records).run().await.unwrap();
    }
    points.pass("at the end");
}

/// Runs the child; with a point, until it stops there, and then kills it. Gives the points it has passed, in order.
fn child(folder: &Path, work: &str, stop: Option<usize>) -> Vec<String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["child_works_until_it_is_killed", "--exact", "--nocapture"]).env(FOLDER, folder).env(WORK, work);
    if let Some(stop) = stop {
        command.env(STOP, stop.to_string());
    }
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
    let mut passed = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        // The test harness speaks as well, and may not have ended its line.
        let Some((at, name)) = line.split_once("point ").and_then(|(_, rest)| rest.split_once(' ')) else { continue };
        assert_eq!(at.parse(), Ok(passed.len()));
        passed.push(name.to_owned());
        if stop == Some(passed.len() - 1) {
            child.kill().unwrap();
            break;
        }
    }
    let status = child.wait().unwrap();
    assert_eq!(status.success(), stop.is_none(), "the child ends by itself only when nobody kills it");
    passed
}

/// The first and the last time each named point is passed.
fn first_and_last(passed: &[String]) -> BTreeMap<usize, String> {
    let mut seen: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (at, name) in passed.iter().enumerate() {
        seen.entry(name).and_modify(|(_, last)| *last = at).or_insert((at, at));
    }
    seen.into_iter().flat_map(|(name, (first, last))| [(first, name.to_owned()), (last, name.to_owned())]).collect()
}

/// Copies the folder of a store that is open and idle. (One that is being closed moves its last writes between files.)
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else if !entry.file_name().to_string_lossy().ends_with("-shm") {
            // What processes share of the database's log is made again by the first that opens it.
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Everything a reader can tell two ends apart by, beside the texts.
async fn end(world: &World) -> String {
    let (nodes, edges) = world.graph().await;
    let file = world.objects.get(&quarry_model::ObjectKey::graph(&world.scope)).await.unwrap().0;
    let open = world.records.query_all(&RecordPrefix::publications(&world.scope)).await.unwrap();
    assert!(open.is_empty(), "something is left to do");
    format!("{nodes:?}\n{edges:?}\n{}", String::from_utf8_lossy(&file))
}

/// What `quarry doctor --repair` does with a namespace.
async fn repair(world: &World) {
    publisher(world).settle(&world.scope).await.unwrap();
    let compactor = compactor(world, Arc::clone(&world.objects), Arc::clone(&world.records));
    compactor.compact(&world.scope).await.unwrap();
}

/// The stored splits are those the head names, and no old revision has records or a folder.
async fn is_closed(world: &World, at: &str) {
    assert_eq!(stored_splits(world).await, named_splits(world).await, "{at}");
    for sweep in [RecordPrefix::superseded(&world.scope), RecordPrefix::orphans(&world.scope)] {
        assert!(world.records.query_all(&sweep).await.unwrap().is_empty(), "{at}");
    }
}

/// Revision folders stored for each document.
async fn folders(world: &World, name: &str) -> BTreeSet<String> {
    let prefix = ObjectPrefix::document(&world.scope, &world.document(name));
    let page = world.objects.list(&prefix, None, 1_000).await.unwrap();
    page.objects
        .iter()
        .filter_map(|object| Some(object.key.as_str().strip_prefix(prefix.as_str())?.split('/').next()?.to_owned()))
        .collect()
}

/// Four documents in splits of their own; then one is to be renewed, one archived, one deleted, one is new, one is to be
/// what it was.
async fn before_publication(world: &World, folder: &Path) {
    let words = "pump pump valve valve pressure pressure seal";
    for name in ["a.md", "b.md", "c.md", "e.md"] {
        let message = world.parsed(&draft(name, 10, &[words, name])).await;
        assert_eq!(run(&publisher(world), vec![message]).await, [Outcome::Done(())]);
    }
    let messages = [
        world.parsed(&draft("a.md", 20, &["Replaced text about rivers and mountains.", words])).await,
        world.order_message("b.md", 20, PublishAction::Delete),
        world.parsed(&draft("d.md", 20, &[words, "Fourth."])).await,
        world.order_message("e.md", 20, PublishAction::Archive),
        world.parsed(&draft("c.md", 20, &[words, "c.md"])).await,
    ];
    std::fs::write(folder.join(MESSAGES), serde_json::to_vec(&messages).unwrap()).unwrap();
}

async fn look_after_publication(folder: &Path, at: &str, old: &Content, new: &(Content, String)) {
    let world = World::at(&folder.join("store"), 2);
    let messages = messages(folder);
    let seen = content(&world).await;
    assert!(seen == *old || seen == new.0, "{at}: neither the old nor the new");
    // Not the last: what it is to publish is served already, by the job before.
    world.check(&messages[..4]).await;
    repair(&world).await;
    assert_eq!(content(&world).await, seen, "{at}: a repair publishes nothing and withdraws nothing");
    is_closed(&world, at).await;
    // The queue has not been told that the messages are done.
    let outcomes = run(&publisher(&world), messages.clone()).await;
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Outcome::Done(()) | Outcome::Skipped(_))), "{at}: {outcomes:?}");
    assert_eq!((content(&world).await, end(&world).await), *new, "{at}");
    world.check(&messages).await;
    for message in messages.iter().filter(|message| matches!(message.action, PublishAction::Publish { .. })) {
        assert_eq!(world.job_state(message).await, JobState::Done, "{at}");
    }
    repair(&world).await;
    is_closed(&world, at).await;
    for (name, count) in [("a.md", 1), ("b.md", 0), ("c.md", 1), ("d.md", 1), ("e.md", 1)] {
        assert_eq!(folders(&world, name).await.len(), count, "{at}: folders of {name}");
    }
}

async fn look_after_compaction(folder: &Path, at: &str, content_before: &Content) {
    let world = World::at(&folder.join("store"), 2);
    assert_eq!(content(&world).await, *content_before, "{at}");
    world.check(&[]).await;
    repair(&world).await;
    assert_eq!(content(&world).await, *content_before, "{at}");
    assert!(stored_splits(&world).await.len() < 8, "{at}: the next run has merged what this one did not");
    is_closed(&world, at).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_publication_killed_at_any_named_point_leaves_old_or_new() {
    if std::env::var(FOLDER).is_ok() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let template = home.path().join("template");
    std::fs::create_dir_all(&template).unwrap();
    let world = World::at(&template.join("store"), 0);
    before_publication(&world, &template).await;
    let old = content(&world).await;

    let whole = home.path().join("whole");
    copy(&template, &whole);
    let points = first_and_last(&child(&whole, PUBLICATION, None));
    let new = {
        let world = World::at(&whole.join("store"), 2);
        (content(&world).await, end(&world).await)
    };
    assert_ne!(old, new.0);
    let names: BTreeSet<&String> = points.values().collect();
    assert!(names.len() >= 12, "only {names:?}");
    for (stop, name) in &points {
        let folder = home.path().join(format!("{stop}"));
        copy(&template, &folder);
        assert_eq!(child(&folder, PUBLICATION, Some(*stop)).last(), Some(name));
        look_after_publication(&folder, &format!("killed {name} ({stop})"), &old, &new).await;
        std::fs::remove_dir_all(&folder).unwrap();
    }
    eprintln!("killed at {} points with {} names: {names:#?}", points.len(), names.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_compaction_killed_at_any_named_point_changes_no_answer() {
    if std::env::var(FOLDER).is_ok() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let template = home.path().join("template");
    std::fs::create_dir_all(&template).unwrap();
    let world = World::at(&template.join("store"), 0);
    scatter(&world, 10).await;
    let before = content(&world).await;
    // An orphan, which a compaction removes as well.
    let orphan = quarry_model::ObjectKey::split(&world.scope, &"0".repeat(64));
    world.objects.put(&orphan, "half a publication".into(), quarry_ports::PutOptions::default()).await.unwrap();

    let whole = home.path().join("whole");
    copy(&template, &whole);
    let points = first_and_last(&child(&whole, COMPACTION, None));
    let names: BTreeSet<&String> = points.values().collect();
    assert!(names.len() >= 8, "only {names:?}");
    for (stop, name) in &points {
        let folder = home.path().join(format!("{stop}"));
        copy(&template, &folder);
        assert_eq!(child(&folder, COMPACTION, Some(*stop)).last(), Some(name));
        look_after_compaction(&folder, &format!("killed {name} ({stop})"), &before).await;
        std::fs::remove_dir_all(&folder).unwrap();
    }
    eprintln!("killed at {} points with {} names: {names:#?}", points.len(), names.len());
}
