//! What a reader finds in the index, and namespaces whose index is worth compacting.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quarry_index::{SplitCache, read_documents};
use quarry_model::message::PublishAction;
use quarry_model::record::{IndexManifest, ManifestPlace};
use quarry_model::{DocumentId, ObjectKey, ObjectPrefix, Outcome, Revision};
use quarry_publisher::Publisher;

use super::{World, draft, run};

/// Of each live document its revision and its texts.
pub type Content = BTreeMap<DocumentId, (Revision, Vec<String>)>;

pub fn cache() -> Arc<SplitCache> {
    Arc::new(SplitCache::new(64 << 20, None))
}

/// Makes a split of every publication.
pub fn splitting(world: &World) -> Publisher {
    world.publisher().with_rebuild_bytes(0)
}

pub async fn publish(world: &World, name: &str, at: i64, text: &str) {
    let message = world.parsed(&draft(name, at, &[text, "pump pump valve"])).await;
    assert_eq!(run(&splitting(world), vec![message]).await, [Outcome::Done(())]);
}

pub async fn withdraw(world: &World, name: &str, action: PublishAction) {
    let outcomes = run(&splitting(world), vec![world.order_message(name, 1_000, action)]).await;
    assert_eq!(outcomes, [Outcome::Done(())]);
}

pub async fn manifest(world: &World) -> IndexManifest {
    match world.head().await.manifest {
        ManifestPlace::Inline(manifest) => manifest,
        ManifestPlace::Object(key) => serde_json::from_slice(&world.objects.get(&key).await.unwrap().0).unwrap(),
    }
}

/// Everything that can be found, read out of the splits.
pub async fn content(world: &World) -> Content {
    let mut found = BTreeMap::new();
    for split in manifest(world).await.splits {
        let live: BTreeSet<&DocumentId> = split.documents.iter().filter(|d| !d.dead).map(|d| &d.document_id).collect();
        for document in read_documents(&*world.objects, &cache(), &split).await.unwrap() {
            if live.contains(&document.document_id) {
                let texts = document.chunks.iter().map(|chunk| chunk.chunk.content.clone()).collect();
                assert!(found.insert(document.document_id, (document.revision, texts)).is_none(), "a document is live once");
            }
        }
    }
    found
}

pub async fn stored_splits(world: &World) -> BTreeSet<ObjectKey> {
    let page = world.objects.list(&ObjectPrefix::index(&world.scope), None, 1_000).await.unwrap();
    page.objects.into_iter().map(|object| object.key).filter(|key| key.as_str().ends_with(".split")).collect()
}

pub async fn named_splits(world: &World) -> BTreeSet<ObjectKey> {
    manifest(world).await.splits.into_iter().map(|split| split.key).collect()
}

/// Twenty documents in twenty splits; one renewed, one archived, one deleted.
pub async fn scattered() -> World {
    documents(20).await
}

pub async fn documents(count: usize) -> World {
    let world = World::new();
    scatter(&world, count).await;
    world
}

/// So many documents, each in a split of its own; one renewed, one archived, one deleted.
pub async fn scatter(world: &World, count: usize) {
    for n in 0..count {
        publish(world, &format!("d{n:02}.md"), 10, &format!("Document number {n}.")).await;
    }
    publish(world, "d03.md", 20, "Renewed.").await;
    withdraw(world, "d05.md", PublishAction::Archive).await;
    withdraw(world, "d07.md", PublishAction::Delete).await;
}
