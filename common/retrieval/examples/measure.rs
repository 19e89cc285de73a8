//! Answers the questions of evaluation sets in process, for `score.py`.
//!
//! `cargo run -p quarry-retrieval --example measure -- DATA OUT [--agentic] [set ...]`; DATA holds one folder per set with
//! `docs/` and `queries.jsonl`; OUT gets `<set>.jsonl` with the contents of the hits and the evidence at four budgets.
#![allow(clippy::print_stdout, missing_docs, reason = "a measurement prints")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use quarry_index::IndexedDocument;
use quarry_model::ChunkType;
use quarry_retrieval::Options;
use serde_json::{Value, json};
use support::{World, chunk, document_id, request, revision, scope};

fn read_document(n: u64, file: &Path) -> IndexedDocument {
    let text = std::fs::read_to_string(file).unwrap();
    let name = file.file_name().unwrap().to_str().unwrap().to_owned();
    let mut heading = String::new();
    let mut chunks: Vec<quarry_index::IndexedChunk> = Vec::new();
    let mut packed = String::new();
    let close = |packed: &mut String, heading: &str, chunks: &mut Vec<quarry_index::IndexedChunk>| {
        if !packed.trim().is_empty() {
            let headings: Vec<&str> = if heading.is_empty() { Vec::new() } else { vec![heading] };
            chunks.push(chunk(&name, &headings, chunks.len() as u32, ChunkType::Text, packed.trim()));
        }
        packed.clear();
    };
    for paragraph in text.split("\n\n") {
        let paragraph = paragraph.trim();
        if let Some(title) = paragraph.strip_prefix("# ") {
            close(&mut packed, &heading, &mut chunks);
            heading = title.lines().next().unwrap_or_default().to_owned();
            continue;
        }
        if !packed.is_empty() {
            packed.push_str("\n\n");
        }
        packed.push_str(paragraph);
        if quarry_language::tokens::count(&packed) >= 60 {
            close(&mut packed, &heading, &mut chunks);
        }
    }
    close(&mut packed, &heading, &mut chunks);
    IndexedDocument { document_id: document_id(n), revision: revision(n, 1), file_name: name, chunks }
}

/// Everything a ranking could use, for trying others outside.
async fn dump(world: &World, query: &Value) -> Value {
    use quarry_retrieval::{channels, query::Weighed, ranking::Matcher, references};
    let reader = world.retriever.pin(&scope()).await.unwrap().unwrap();
    let text = query["query"].as_str().unwrap();
    let filter = quarry_index::Filter::default();
    let weights = quarry_model::retrieval::ChannelWeights::default();
    let found = channels::search(reader.corpus(), text, &weights, &filter, 100).await.unwrap();
    let weighed = Weighed::new(text, reader.corpus()).await.unwrap();
    let mut matcher = Matcher::new(text, &weighed, &weights, reader.corpus().mean_length());
    let mut keys: Vec<_> = found.iter().flat_map(quarry_retrieval::channels::Found::keys).collect();
    keys.sort();
    keys.dedup();
    let passages = reader.passages(&keys).await.unwrap();
    let name = |p: &quarry_retrieval::passage::Passage| format!("{}#{}", p.stored.file_name, p.stored.indexed.chunk.ordinal);
    let mut scored: Vec<(f32, _)> = Vec::new();
    let mut out = serde_json::Map::new();
    for passage in &passages {
        matcher.learn(passage.lang());
        let [content, path, title] = matcher.components(passage);
        let of = |at: usize| found[at].hits.iter().find(|h| (h.document_id.clone(), h.ordinal) == passage.key()).map_or(0.0, |h| h.score);
        let features = json!({ "text": passage.stored.indexed.chunk.content, "file": passage.stored.file_name, "f": [of(0), of(1), of(2), content, path, title, matcher.closeness(passage), matcher.coverage(&passage.words, passage.lang())] });
        out.insert(name(passage), features);
        scored.push((content + 0.15 * path + 0.5 * title, passage.clone()));
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut links = Vec::new();
    for (_, from) in scored.iter().take(8) {
        for reference in references::named_by(from, &reader, &filter).await.unwrap() {
            let t = &reference.target;
            matcher.learn(t.lang());
            links.push(json!([
                name(from),
                name(t),
                reference.weight,
                matcher.components(t),
                t.stored.indexed.chunk.content,
                t.stored.file_name
            ]));
        }
    }
    json!({ "qid": query["qid"], "query": text, "total": weighed.total, "passages": out, "links": links })
}

#[tokio::main]
async fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let agentic = arguments.iter().any(|a| a == "--agentic");
    arguments.retain(|a| a != "--agentic");
    let (data, out) = (arguments[0].clone(), arguments[1].clone());
    let sets: Vec<String> = if arguments.len() > 2 {
        arguments.split_off(2)
    } else {
        ["hotpot100", "cranfield", "xquad-en", "xquad-es", "xquad-zh"].map(str::to_owned).to_vec()
    };
    std::fs::create_dir_all(&out).unwrap();
    for set in sets {
        let folder = Path::new(&data).join(&set);
        let world = World::with(Options { hit_boost: 0.0, ..Options::default() });
        let mut files: Vec<_> = std::fs::read_dir(folder.join("docs")).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let documents = files.iter().enumerate().map(|(n, file)| read_document(n as u64, file)).collect();
        world.publish(documents).await;
        let mut lines = std::fs::File::create(Path::new(&out).join(format!("{set}.raw"))).unwrap();
        let mut times = Vec::new();
        let queries = std::fs::read_to_string(folder.join("queries.jsonl")).unwrap();
        for line in queries.lines() {
            let query: Value = serde_json::from_str(line).unwrap();
            if std::env::var_os("DUMP").is_some() {
                writeln!(lines, "{}", dump(&world, &query).await).unwrap();
                continue;
            }
            let ask = |top_k: u32, budget: u32| {
                request(json!({ "query": query["query"], "top_k": top_k, "token_budget": budget, "use_agentic": agentic }))
            };
            let began = Instant::now();
            let answer = world.retriever.answer(&scope(), &ask(100, 4000)).await.unwrap();
            times.push(began.elapsed());
            let mut evidence = serde_json::Map::new();
            let mut trace = Value::Null;
            for budget in [500, 1000, 2000, 4000] {
                let began = Instant::now();
                let answer = world.retriever.answer(&scope(), &ask(20, budget)).await.unwrap();
                times.push(began.elapsed());
                evidence.insert(budget.to_string(), json!(answer.evidence_text));
                trace = json!(answer.decision_trace);
            }
            let hits: Vec<Value> = answer.results.iter().map(|r| json!([r.source.source_file_name, r.content])).collect();
            writeln!(lines, "{}", json!({ "qid": query["qid"], "hits": hits, "evidence": evidence, "trace": trace })).unwrap();
        }
        if times.is_empty() {
            continue;
        }
        times.sort();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
        println!("{set}: {} answers, p50 {:.1} ms, p99 {:.1} ms", times.len(), at(0.5), at(0.99));
    }
}
