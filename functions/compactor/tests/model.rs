//! A thousand publications by eight writers against a model in memory.
//!
//! Random documents, revisions and deletes; every message arrives about when it was sent, but shuffled, and one in four
//! arrives again. The model is a map: of each document the newest message counts. What is stored in the end must be what
//! one writer leaves who publishes only what the model holds.

#[path = "../../publisher/tests/support/mod.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};

use quarry_compactor::{Compactor, Patience};
use quarry_model::message::{PublishAction, PublishMessage};
use quarry_model::record::DocumentStatus;
use quarry_model::{ChunkId, DocumentId, ObjectPrefix, Outcome, RecordPrefix};
use support::index::{cache, content, named_splits, stored_splits};
use support::{Draft, World, draft, run};

const WRITERS: usize = 8;
const MESSAGES: usize = 1_000;
const DOCUMENTS: u64 = 40;
/// So many places a message may overtake others by.
const SHUFFLED: u64 = 40;

struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

#[derive(Debug, Clone)]
enum Sent {
    Revision(Draft),
    Delete(String, i64),
}

impl Sent {
    fn name(&self) -> &str {
        match self {
            Self::Revision(draft) => &draft.name,
            Self::Delete(name, _) => name,
        }
    }
}

/// What is sent, in order of creation. Contents return within a document, unless it was deleted between, and stand in
/// several documents.
fn script(chance: &mut Chance, count: usize) -> Vec<Sent> {
    let words = ["pump", "valve", "seal", "river", "pressure", "winter", "bridge", "copper", "signal", "engine"];
    let mut deleted: BTreeMap<String, u64> = BTreeMap::new();
    (1..=i64::try_from(count).unwrap())
        .map(|at| {
            let n = chance.below(DOCUMENTS);
            let name = format!("d{n:02}.md");
            let times = deleted.entry(name.clone()).or_default();
            if chance.below(10) == 0 {
                *times += 1;
                return Sent::Delete(name, at);
            }
            let first = chance.below(6) as usize;
            let subject: String = (first..first + 5).map(|word| format!("{0} {0} ", words[word % words.len()])).collect();
            let mut paragraphs = vec![subject, format!("Version {} of {n} since {times}.", chance.below(5))];
            for _ in 0..chance.below(3) {
                paragraphs.push(format!("Line {} that stands in many.", chance.below(12)));
            }
            Sent::Revision(Draft { name, paragraphs, at })
        })
        .collect()
}

/// The newest message of each document.
fn model(script: &[Sent]) -> BTreeMap<String, Sent> {
    script.iter().map(|sent| (sent.name().to_owned(), sent.clone())).collect()
}

/// The order of arrival: places in the script.
fn arrivals(chance: &mut Chance, count: usize) -> VecDeque<usize> {
    let mut places: Vec<(u64, usize)> = Vec::new();
    for n in 0..count {
        places.push((n as u64 + chance.below(SHUFFLED), n));
        if chance.below(4) == 0 {
            places.push((n as u64 + chance.below(SHUFFLED * 3), n));
        }
    }
    places.sort_unstable();
    places.into_iter().map(|(_, n)| n).collect()
}

/// What waits for the writers: places in the script, and the message of each that has been parsed.
struct Road {
    waiting: Mutex<VecDeque<usize>>,
    parsed: Vec<tokio::sync::OnceCell<PublishMessage>>,
    script: Vec<Sent>,
}

impl Road {
    async fn message(&self, world: &World, n: usize) -> PublishMessage {
        let parse = || async {
            match &self.script[n] {
                Sent::Revision(draft) => world.parsed(draft).await,
                Sent::Delete(name, at) => world.order_message(name, *at, PublishAction::Delete),
            }
        };
        self.parsed[n].get_or_init(parse).await.clone()
    }

    fn take(&self, most: usize) -> Vec<usize> {
        let mut waiting = self.waiting.lock().unwrap();
        let most = most.min(waiting.len());
        waiting.drain(..most).collect()
    }
}

async fn writer(world: Arc<World>, road: Arc<Road>, seed: u64) -> usize {
    let publisher = world.publisher();
    let mut chance = Chance(seed);
    let mut again = 0;
    loop {
        let places = road.take(1 + chance.below(6) as usize);
        if places.is_empty() {
            return again;
        }
        let mut messages = Vec::new();
        for &n in &places {
            messages.push(road.message(&world, n).await);
        }
        for (outcome, n) in run(&publisher, messages).await.into_iter().zip(places) {
            match outcome {
                Outcome::Done(()) | Outcome::Skipped(_) => {}
                Outcome::Retry { .. } => {
                    again += 1;
                    road.waiting.lock().unwrap().push_back(n);
                }
                Outcome::Rejected(failure) => panic!("{:?}: {failure:?}", road.script[n]),
            }
        }
    }
}

/// Where each of these contents stands, by the postings.
async fn postings(world: &World, contents: &BTreeSet<ChunkId>) -> BTreeSet<(ChunkId, String)> {
    let mut found = BTreeSet::new();
    for content in contents {
        for item in world.records.query_all(&RecordPrefix::content_hash(&world.scope, content)).await.unwrap() {
            found.insert((content.clone(), item.key.sk));
        }
    }
    found
}

async fn compare(world: &World, reference: &World, script: &[Sent]) {
    let model = model(script);
    for (name, sent) in &model {
        let record = world.record(name).await.unwrap();
        match sent {
            Sent::Delete(_, at) => assert_eq!((record.status, record.order.created_millis), (DocumentStatus::Deleted, *at), "{name}"),
            Sent::Revision(draft) => {
                assert_eq!((record.status, record.order.created_millis), (DocumentStatus::Active, draft.at), "{name}");
                let expected = reference.record(name).await.unwrap();
                assert_eq!((&record.active_revision, &record.active_job), (&expected.active_revision, &expected.active_job), "{name}");
            }
        }
    }
    let found = content(world).await;
    let texts: BTreeMap<DocumentId, &Vec<String>> = model
        .values()
        .filter_map(|sent| match sent {
            Sent::Revision(draft) => Some((world.document(&draft.name), &draft.paragraphs)),
            Sent::Delete(..) => None,
        })
        .collect();
    assert_eq!(found.iter().map(|(document, (_, texts))| (document.clone(), texts)).collect::<BTreeMap<_, _>>(), texts);
    assert_eq!(found, content(reference).await);
    assert_eq!(world.split_hashes().await, reference.split_hashes().await);
    assert_eq!(world.graph().await, reference.graph().await);
    let contents: BTreeSet<ChunkId> = script
        .iter()
        .flat_map(|sent| match sent {
            Sent::Revision(draft) => draft.paragraphs.iter().map(|text| ChunkId::text(text)).collect(),
            Sent::Delete(..) => Vec::new(),
        })
        .collect();
    // A posting is a hint, and one of a revision that lost its race may stay; but none may be missing.
    let (found, expected) = (postings(world, &contents).await, postings(reference, &contents).await);
    let missing: Vec<_> = expected.difference(&found).collect();
    assert!(missing.is_empty(), "{} of {} postings: {missing:?}", missing.len(), expected.len());
}

/// Nothing is stored that is not named: after a compaction only the splits of the head and the folders of live revisions.
async fn is_closed(world: &World, script: &[Sent]) {
    let none = Patience { superseded_millis: 0, orphan_millis: 0 };
    let compactor = Compactor::new(Arc::clone(&world.objects), Arc::clone(&world.records), Arc::clone(&world.clock), cache());
    compactor.with_patience(none).compact(&world.scope).await.unwrap();
    assert_eq!(stored_splits(world).await, named_splits(world).await);
    let live = world.live().await;
    for (name, sent) in model(script) {
        let document = world.document(&name);
        let prefix = ObjectPrefix::document(&world.scope, &document);
        let page = world.objects.list(&prefix, None, 10_000).await.unwrap();
        let folders: BTreeSet<&str> =
            page.objects.iter().filter_map(|object| object.key.as_str().strip_prefix(prefix.as_str())?.split('/').next()).collect();
        let expected: BTreeSet<&str> = live.get(&document).map(|(revision, _)| revision.as_str()).into_iter().collect();
        match sent {
            // A revision that came after newer ones was never served and has nothing that names it: its folder is the
            // result of a job that ended well, and stays.
            Sent::Revision(_) => assert!(expected.is_subset(&folders), "{name}"),
            Sent::Delete(..) => assert!(folders.is_empty(), "{name}: {folders:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_writers_end_where_the_model_ends() {
    let mut chance = Chance(20_261_130);
    let script = script(&mut chance, MESSAGES);
    let waiting = arrivals(&mut chance, script.len());
    let deliveries = waiting.len();
    let road = Arc::new(Road {
        parsed: script.iter().map(|_| tokio::sync::OnceCell::new()).collect(),
        waiting: Mutex::new(waiting),
        script: script.clone(),
    });
    let world = Arc::new(World::new());
    // Jobs are made in the order of what is sent; a source is read when its message first arrives.
    for sent in &script {
        if let Sent::Revision(draft) = sent {
            world.job(draft).await;
        }
    }
    let writers: Vec<_> = (0..WRITERS).map(|n| tokio::spawn(writer(Arc::clone(&world), Arc::clone(&road), n as u64))).collect();
    let mut again = 0;
    for writer in writers {
        again += writer.await.unwrap();
    }
    let mut messages = Vec::new();
    for n in 0..script.len() {
        messages.push(road.message(&world, n).await);
    }
    world.check(&messages).await;

    let reference = World::new();
    for sent in model(&script).into_values() {
        if let Sent::Revision(Draft { name, paragraphs, at }) = sent {
            let paragraphs: Vec<&str> = paragraphs.iter().map(String::as_str).collect();
            let message = reference.parsed(&draft(&name, at, &paragraphs)).await;
            assert_eq!(run(&reference.publisher(), vec![message]).await, [Outcome::Done(())]);
        }
    }
    compare(&world, &reference, &script).await;
    is_closed(&world, &script).await;
    compare(&world, &reference, &script).await;
    let version = world.head().await.version;
    eprintln!("{} messages in {deliveries} deliveries by {WRITERS} writers: {version} versions, {again} given back", script.len());
}
