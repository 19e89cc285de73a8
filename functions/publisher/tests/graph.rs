//! The document graph: the same whatever the order, and no more work than the neighbours.
#![allow(missing_docs, reason = "tests")]

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use quarry_model::record::{GraphNode, IndexManifest, ManifestPlace, NamespaceHead, SplitDocument, SplitEntry};
use quarry_model::{DocumentId, ObjectKey, RecordKey, Revision, SCHEMA_VERSION};
use quarry_ports::{Condition, Item, PutOptions, Stage as _};
use quarry_publication::postings;
use support::counting::CountingRecords;
use support::{Draft, World, draft};

struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Documents of six subjects, each with words of its own and of the subject.
fn drafts() -> Vec<Draft> {
    let mut chance = Chance(7);
    (0..18)
        .map(|n| {
            let subject = n % 6;
            let mut words: Vec<String> = (0..5).flat_map(|word| vec![format!("subject{subject}word{word}"); 6 + chance.below(4)]).collect();
            words.extend((0..chance.below(12)).map(|word| format!("own{n}word{word}")));
            words.push(format!("subject{}word1", chance.below(6)));
            draft(&format!("{n}.md"), 10 + i64::from(n), &[&words.join(" ")])
        })
        .collect()
}

#[tokio::test]
async fn twenty_orders_of_publication_give_the_same_edges() {
    let mut seen = None;
    for order in 0..20 {
        let mut chance = Chance(order);
        let world = World::new();
        let publisher = world.publisher();
        let mut messages = Vec::new();
        for draft in drafts() {
            messages.push(world.parsed(&draft).await);
        }
        for at in (1..messages.len()).rev() {
            messages.swap(at, chance.below(at + 1));
        }
        let size = 1 + chance.below(5);
        for group in messages.chunks(size) {
            publisher.run(group.to_vec()).await;
        }
        let graph = world.graph().await;
        assert_eq!(graph.0.len(), 18);
        assert!(graph.1.len() >= 12, "{} edges", graph.1.len());
        let seen = seen.get_or_insert_with(|| graph.clone());
        assert_eq!(seen, &graph, "order {order}");
    }
}

const DOCUMENTS: u64 = 10_000;
/// Documents that share their heaviest words.
const SUBJECT: u64 = 10;

fn id(n: u64) -> DocumentId {
    format!("doc_{n:012x}").parse().unwrap()
}

/// Six heavy words of the subject, and 24 light ones out of 3,000.
fn node(n: u64) -> GraphNode {
    let mut chance = Chance(n);
    let mut keywords: Vec<(String, f64)> = (0..6).map(|word| (format!("subject{}word{word}", n / SUBJECT), 10.0)).collect();
    let light: BTreeSet<usize> = (0..24).map(|_| chance.below(3_000)).collect();
    keywords.extend(light.into_iter().map(|word| (format!("light{word}"), 0.1)));
    let revision = Revision::of(&n.to_string(), "test 1", "{}");
    GraphNode { document_id: id(n), revision, file_name: format!("{n}.md"), keywords, chunk_count: 1, summary: String::new() }
}

/// A namespace of so many documents as the publisher leaves it, but for what the graph does not read.
async fn seed(world: &World) {
    let mut items = Vec::new();
    let mut documents = Vec::new();
    for n in 0..DOCUMENTS {
        let node = node(n);
        items.extend(postings::of_keywords(&world.scope, &node).unwrap());
        items.push(Item::of(RecordKey::revision_node(&node.document_id, &node.revision), &node).unwrap());
        let from = n as u32;
        documents.push(SplitDocument { document_id: node.document_id, revision: node.revision, from, to: from + 1, dead: false });
    }
    world.records.write_many(items, Vec::new()).await.unwrap();
    let hash = "0".repeat(64);
    let split = SplitEntry {
        key: ObjectKey::split(&world.scope, &hash),
        hash,
        analyzer_id: String::new(),
        size: 50 << 20,
        footer_offset: 0,
        footer: None,
        chunks: DOCUMENTS as u32,
        content_tokens: 0,
        path_tokens: 0,
        documents,
        level: 1,
    };
    let manifest = IndexManifest { schema_version: SCHEMA_VERSION, splits: vec![split], retired: Vec::new() };
    let key = ObjectKey::from_event("index/seeded.json");
    world.objects.put(&key, Bytes::from(serde_json::to_vec(&manifest).unwrap()), PutOptions::default()).await.unwrap();
    let head = NamespaceHead {
        schema_version: SCHEMA_VERSION,
        version: 1,
        manifest: ManifestPlace::Object(key),
        documents: DOCUMENTS,
        chunks: DOCUMENTS,
        updated_at: world.clock.now(),
    };
    world.records.put(Item::of(RecordKey::head(&world.scope), &head).unwrap(), Condition::None).await.unwrap();
}

#[tokio::test]
async fn a_publication_among_ten_thousand_touches_its_neighbours_only() {
    let world = World::new();
    seed(&world).await;
    let counting = Arc::new(CountingRecords::new(Arc::clone(&world.records)));
    let publisher = world.publisher_on(Arc::clone(&world.objects), counting.clone());
    let mut words: Vec<String> = (0..6).flat_map(|word| vec![format!("subject321word{word}"); 20]).collect();
    words.extend((0..24).map(|word| format!("light{word}")));
    let message = world.parsed(&draft("new.md", 10, &[&words.join(" ")])).await;
    let mine: BTreeSet<&str> = words.iter().map(String::as_str).collect();
    let sharing = (0..DOCUMENTS).filter(|&n| node(n).keywords.iter().any(|(word, _)| mine.contains(word.as_str()))).count();
    publisher.run(vec![message]).await;
    let counts = counting.counts();
    let count = |what: &str| counts.get(what).copied().unwrap_or_default();
    let (postings, nodes) = (count("seen KW DOC"), count("get REV NODE"));
    // Each word's postings are seen once; nodes are read of documents that share three words.
    assert!(postings > 500 && postings < 2 * sharing, "{postings} postings of {sharing} neighbours: {counts:?}");
    assert!(nodes < 50 && nodes < sharing, "{nodes} nodes read: {counts:?}");
    assert_eq!(world.edges().await.len(), SUBJECT as usize, "{counts:?}");
    assert!(count("put GRAPH EDGE") == SUBJECT as usize, "{counts:?}");
}
