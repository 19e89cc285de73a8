//! Splits under load: how fast they are built, how large they are, how fast three channels answer.
//!
//! `cargo run --release -p quarry-index --example load -- DATA CHUNKS [TEXT QUERIES]`; DATA holds folders with `docs/` of
//! Markdown files whose words are used (see `text`). With TEXT and QUERIES the same text and questions are written there,
//! for others to index. Prints one JSON object. `tests/load/index.py` runs it beside other tools.
#![allow(clippy::print_stdout, missing_docs, reason = "a measurement prints")]

#[path = "../../tests/support/mod.rs"]
mod support;
mod text;

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quarry_index::{Channel, Filter, IndexedDocument, Snapshot, SplitCache, build_split};
use quarry_model::record::{IndexManifest, SplitEntry};
use serde_json::{Value, json};
use support::{CountingObjects, Network, scope};
use text::Text;

/// As many as the compactor puts into one split.
const SPLIT_BYTES_MAX: usize = 200 << 20;
const CHANNELS: [Channel; 3] = [Channel::Path, Channel::Content, Channel::Term];
const WARM_UP: usize = 1_500;
const ASKED: usize = 500;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let data = arguments.first().map_or("../shared/eval/retrieval", String::as_str);
    let chunks: usize = arguments.get(1).and_then(|text| text.parse().ok()).unwrap_or(10_000);
    if !Path::new(data).is_dir() {
        println!("skipped: {data} is not here");
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let out = runtime.block_on(measure(Text::read(Path::new(data)), chunks, arguments.get(2), arguments.get(3)));
    println!("{out}");
}

struct Built {
    objects: Arc<CountingObjects>,
    splits: Vec<SplitEntry>,
    source: usize,
    size: usize,
    time: Duration,
}

fn build(text: &Text, chunks: usize, out: Option<&String>) -> Built {
    let mut built = Built { objects: Arc::default(), splits: Vec::new(), source: 0, size: 0, time: Duration::ZERO };
    built.objects.network(Network::NONE);
    let mut lines = out.map(|path| BufWriter::new(File::create(path).unwrap()));
    let mut documents: Vec<IndexedDocument> = Vec::new();
    let mut pending = 0;
    let count = chunks.div_ceil(text::CHUNKS);
    for n in 0..count {
        let document = text.document(n as u64);
        for indexed in &document.chunks {
            pending += indexed.chunk.content.len() + indexed.section.path.len();
            if let Some(lines) = &mut lines {
                writeln!(lines, "{}\t{}", indexed.section.path, indexed.chunk.content).unwrap();
            }
        }
        documents.push(document);
        if pending > SPLIT_BYTES_MAX || n + 1 == count {
            let start = cpu_time();
            let split = build_split(&scope(), std::mem::take(&mut documents)).unwrap();
            built.time += cpu_time().saturating_sub(start);
            built.source += std::mem::take(&mut pending);
            built.size += split.bytes.len();
            built.objects.set(&split.entry.key, split.bytes);
            built.splits.push(split.entry);
        }
    }
    built
}

/// What this thread has had of a core: others may be at work on the machine.
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

async fn ask(snapshot: &Snapshot, queries: &[String], limit: usize) -> Vec<f64> {
    let mut times = Vec::with_capacity(queries.len());
    for query in queries {
        let start = Instant::now();
        let found = snapshot.search_channels(&CHANNELS, query, &Filter::default(), limit).await.unwrap();
        times.push(start.elapsed().as_secs_f64() * 1e3);
        assert_eq!(found.len(), CHANNELS.len());
    }
    times.sort_by(f64::total_cmp);
    times
}

fn quantiles(times: &[f64]) -> Value {
    let at = |share: f64| (times[((times.len() - 1) as f64 * share) as usize] * 1e3).round() / 1e3;
    json!({ "p50": at(0.5), "p90": at(0.9), "p99": at(0.99) })
}

async fn measure(text: Text, chunks: usize, lines: Option<&String>, asked: Option<&String>) -> Value {
    let built = build(&text, chunks, lines);
    let queries = text.queries(WARM_UP + ASKED, chunks.div_ceil(text::CHUNKS));
    let (known, new) = queries.split_at(WARM_UP);
    if let Some(path) = asked {
        std::fs::write(path, new.join("\n")).unwrap();
    }
    let manifest = IndexManifest { schema_version: 1, splits: built.splits, retired: Vec::new() };
    let cache = Arc::new(SplitCache::new(4 << 30, None));
    let start = Instant::now();
    let other = Snapshot::open(built.objects.clone(), cache.clone(), &manifest).await.unwrap();
    let open = start.elapsed();
    // The bytes of every question are here before it is timed; what a snapshot learns from questions is not, but for
    // those of `known`.
    ask(&other, new, 10).await;
    drop(other);
    let snapshot = Snapshot::open(built.objects, cache.clone(), &manifest).await.unwrap();
    let first = ask(&snapshot, &known[..200], 10).await;
    ask(&snapshot, known, 10).await;
    let fresh = ask(&snapshot, new, 10).await;
    let again = ask(&snapshot, new, 10).await;
    let before = cpu_time();
    ask(&snapshot, new, 10).await;
    let mean = cpu_time().saturating_sub(before) / ASKED as u32;
    let recall = ask(&snapshot, new, 40).await;
    json!({
        "chunks": chunks,
        "splits": manifest.splits.len(),
        "source_mb": built.source as f64 / 1e6,
        "size_to_source": built.size as f64 / built.source as f64,
        "build_chunks_per_cpu_s": (chunks as f64 / built.time.as_secs_f64()).round(),
        "open_ms": open.as_secs_f64() * 1e3,
        "held_mb": cache.held() as f64 / 1e6,
        "first_200_ms": quantiles(&first),
        "warm_new_ms": quantiles(&fresh),
        "warm_again_ms": quantiles(&again),
        "warm_again_cpu_mean_ms": mean.as_secs_f64() * 1e3,
        "warm_top40_ms": quantiles(&recall),
    })
}
