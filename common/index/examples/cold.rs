//! Cold questions over a network like that of object storage: requests, dependent rounds, bytes and time.
//!
//! `cargo run --release -p quarry-index --example cold -- DATA [CHUNKS ...]`; DATA as for `load`. Every request takes 15 to
//! 30 ms and a second for 90 MB, really waited for; requests under way together overlap. Beside it, in the same model: the
//! whole index downloaded first. Prints a table.
#![allow(clippy::print_stdout, missing_docs, reason = "a measurement prints")]

#[path = "../tests/support/mod.rs"]
mod support;
#[path = "load/text.rs"]
mod text;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{StreamExt as _, TryStreamExt as _};
use quarry_index::{Channel, Filter, Hit, Snapshot, SplitCache, build_split};
use quarry_model::record::{IndexManifest, SplitEntry};
use quarry_ports::ObjectStore as _;
use support::{CountingObjects, Network, scope};
use text::Text;

const SPLIT_CHUNKS: usize = 250_000;
const ASKED: usize = 20;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let data = arguments.first().map_or("../shared/eval/retrieval", String::as_str);
    if !Path::new(data).is_dir() {
        println!("skipped: {data} is not here");
        return;
    }
    let mut sizes: Vec<usize> = arguments.iter().skip(1).filter_map(|text| text.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![500, 10_000, 100_000];
    }
    let text = Text::read(Path::new(data));
    println!("| chunks | splits, MB | how | reads | rounds | MB | p50 ms | p99 ms |\n|---|---|---|---|---|---|---|---|");
    for chunks in sizes {
        measure(&text, chunks).await;
    }
}

fn build(text: &Text, chunks: usize, objects: &CountingObjects) -> Vec<SplitEntry> {
    let numbers: Vec<u64> = (0..chunks.div_ceil(text::CHUNKS) as u64).collect();
    let split = |numbers: &[u64]| {
        let built = build_split(&scope(), numbers.iter().map(|&n| text.document(n)).collect()).unwrap();
        objects.set(&built.entry.key, built.bytes);
        built.entry
    };
    numbers.chunks(SPLIT_CHUNKS / text::CHUNKS).map(split).collect()
}

/// A question as the product asks it, with the texts of the ten best.
async fn ask(objects: &Arc<CountingObjects>, cache: Arc<SplitCache>, manifest: &IndexManifest, query: &str) {
    let snapshot = Snapshot::open(objects.clone(), cache, manifest).await.unwrap();
    let channels = [Channel::Path, Channel::Content, Channel::Term];
    let found = snapshot.search_channels(&channels, query, &Filter::default(), 40).await.unwrap();
    let keys: Vec<_> = found[1].iter().take(10).map(|hit: &Hit| (hit.document_id.clone(), hit.ordinal)).collect();
    snapshot.fetch(&keys).await.unwrap();
}

async fn measure(text: &Text, chunks: usize) {
    let objects = Arc::new(CountingObjects::default());
    objects.network(Network::REGION);
    let splits = build(text, chunks, &objects);
    let size: u64 = splits.iter().map(|split| split.size).sum();
    let manifest = IndexManifest { schema_version: 1, splits, retired: Vec::new() };
    let queries = text.queries(ASKED, chunks.div_ceil(text::CHUNKS));
    let label = format!("| {chunks} | {}, {:.0} |", manifest.splits.len(), size as f64 / 1e6);
    let folder = tempfile::tempdir().unwrap();
    let cache = |folder: Option<PathBuf>| Arc::new(SplitCache::new(4 << 30, folder));
    // The folder gets what is kept on disk.
    ask(&objects, cache(Some(folder.path().to_owned())), &manifest, &queries[0]).await;
    let memory = cache(None);
    for how in ["nothing here", "tails on disk", "asked again"] {
        let (mut times, mut most, mut bytes) = (Vec::new(), (0, 0), 0);
        for query in &queries {
            let cache = match how {
                "nothing here" => cache(None),
                "tails on disk" => cache(Some(folder.path().to_owned())),
                _ => {
                    ask(&objects, memory.clone(), &manifest, query).await;
                    memory.clone()
                }
            };
            objects.take();
            let start = Instant::now();
            ask(&objects, cache, &manifest, query).await;
            times.push(start.elapsed());
            let (reads, rounds, read) = objects.take();
            most = (most.0.max(reads), most.1.max(rounds));
            bytes += read;
        }
        row(&label, how, most, bytes / queries.len(), times);
    }
    let start = Instant::now();
    objects.take();
    for split in &manifest.splits {
        let pieces = (0..split.size).step_by(8 << 20).map(|from| objects.get_range(&split.key, from..(from + (8 << 20)).min(split.size)));
        futures::stream::iter(pieces).buffered(16).try_collect::<Vec<_>>().await.unwrap();
    }
    let time = start.elapsed();
    let (reads, rounds, bytes) = objects.take();
    row(&label, "all downloaded, 16 streams", (reads, rounds), bytes, vec![time]);
}

fn row(label: &str, how: &str, (reads, rounds): (usize, usize), bytes: usize, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize].as_secs_f64() * 1e3;
    println!("{label} {how} | {reads} | {rounds} | {:.2} | {:.0} | {:.0} |", bytes as f64 / 1e6, at(0.5), at(0.99));
}
