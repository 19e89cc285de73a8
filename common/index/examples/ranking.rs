//! Ranking quality of the three channels and their fusion over folders of documents with questions and gold passages.
//!
//! `cargo run --release -p quarry-index --example ranking -- DATA [set ...]`; DATA holds one folder per set with
//! `docs/`, `corpus.jsonl`, `queries.jsonl`, `qrels.tsv` and, for evidence, `evidence.jsonl`.
#![allow(clippy::print_stdout, missing_docs, reason = "a measurement prints")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use quarry_index::{Channel, Filter, Hit, IndexedDocument, Ranking, Snapshot, SplitCache, build_split};
use quarry_model::ChunkType;
use quarry_model::record::IndexManifest;
use serde_json::Value;
use support::{CountingObjects, chunk, document_id, revision, scope};

const TOP_K: usize = 100;
const WEIGHTS: [(Channel, f64); 3] = [(Channel::Path, 1.0), (Channel::Content, 2.0), (Channel::Term, 1.5)];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let data = arguments.next().unwrap_or_else(|| "../shared/eval/retrieval".to_owned());
    let data = Path::new(&data);
    if !data.is_dir() {
        println!("skipped: {} is not here", data.display());
        return;
    }
    let mut sets: Vec<String> = arguments.collect();
    if sets.is_empty() {
        sets = std::fs::read_dir(data)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| data.join(name).join("docs").is_dir())
            .collect();
        sets.sort();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for set in sets {
        runtime.block_on(measure(&data.join(&set), &set));
    }
}

fn lines(path: &Path) -> Vec<Value> {
    std::fs::read_to_string(path).map(|text| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()).unwrap_or_default()
}

fn words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word = String::new();
    for c in quarry_language::surface(text).chars() {
        let cjk = matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}');
        if cjk || !c.is_alphanumeric() {
            if !word.is_empty() {
                out.push(std::mem::take(&mut word));
            }
            if cjk {
                out.push(c.to_string());
            }
        } else {
            word.push(c);
        }
    }
    if !word.is_empty() {
        out.push(word);
    }
    out
}

fn trigrams(text: &str) -> HashSet<String> {
    let words = words(text);
    if words.len() < 3 {
        return words.into_iter().collect();
    }
    words.windows(3).map(|window| window.join(" ")).collect()
}

/// Paragraphs of a Markdown file; the first heading becomes the section.
fn read_document(n: u64, path: &Path, pack: usize) -> IndexedDocument {
    let text = std::fs::read_to_string(path).unwrap();
    let file_name = path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut heading = String::new();
    let mut chunks = Vec::new();
    let mut packed = String::new();
    let mut flush = |packed: &mut String, heading: &str| {
        if !packed.trim().is_empty() {
            let headings: Vec<&str> = if heading.is_empty() { Vec::new() } else { vec![heading] };
            chunks.push(chunk(&file_name, &headings, chunks.len() as u32, ChunkType::Text, packed.trim()));
        }
        packed.clear();
    };
    for paragraph in text.split("\n\n") {
        let paragraph = paragraph.trim();
        if let Some(title) = paragraph.strip_prefix("# ") {
            flush(&mut packed, &heading);
            heading = title.lines().next().unwrap_or_default().to_owned();
            continue;
        }
        if pack == 0 || quarry_language::tokens::count(&packed) + quarry_language::tokens::count(paragraph) > pack as u32 {
            flush(&mut packed, &heading);
        }
        packed.push_str("\n\n");
        packed.push_str(paragraph);
    }
    flush(&mut packed, &heading);
    IndexedDocument { document_id: document_id(n), revision: revision(n), file_name, chunks }
}

fn fuse(lists: &[Vec<Hit>], weights: &[f64]) -> Vec<(String, u32)> {
    let mut scores: BTreeMap<(String, u32), f64> = BTreeMap::new();
    for (hits, weight) in lists.iter().zip(weights) {
        for (rank, hit) in hits.iter().enumerate() {
            *scores.entry((hit.document_id.to_string(), hit.ordinal)).or_default() += weight / (60.0 + rank as f64 + 1.0);
        }
    }
    let mut ranked: Vec<_> = scores.into_iter().collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    ranked.into_iter().take(TOP_K).map(|(key, _)| key).collect()
}

fn ndcg(hits: &[String], relevant: &HashMap<String, f64>) -> f64 {
    let mut seen = HashSet::new();
    let unique: Vec<&String> = hits.iter().filter(|hit| seen.insert(*hit)).take(10).collect();
    let gain = |at: usize, grade: f64| grade / (at as f64 + 2.0).log2();
    let dcg: f64 = unique.iter().enumerate().map(|(at, hit)| gain(at, relevant.get(*hit).copied().unwrap_or(0.0))).sum();
    let mut ideal: Vec<f64> = relevant.values().copied().collect();
    ideal.sort_by(|a, b| b.total_cmp(a));
    let ideal: f64 = ideal.iter().take(10).enumerate().map(|(at, grade)| gain(at, *grade)).sum();
    if ideal > 0.0 { dcg / ideal } else { 0.0 }
}

/// Share of the evidence units' trigrams in the first `budget` estimated tokens of the hits' text.
fn evidence(texts: &[&str], units: &[Value], budget: usize) -> f64 {
    let cut: String = texts.join("\n").chars().take(budget * 4).collect();
    let here = trigrams(&cut);
    let coverage = |unit: &str| {
        let wanted = trigrams(unit);
        wanted.iter().filter(|word| here.contains(*word)).count() as f64 / wanted.len().max(1) as f64
    };
    units.iter().map(|unit| coverage(unit.as_str().unwrap())).sum::<f64>() / units.len().max(1) as f64
}

fn ranking() -> Ranking {
    let mut ranking = Ranking::default();
    let value = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<f32>().ok());
    for (name, field) in [
        ("K1", &mut ranking.k1),
        ("B", &mut ranking.b),
        ("PATH_B", &mut ranking.path_b),
        ("FOLDED", &mut ranking.folded),
        ("STEMMED", &mut ranking.stemmed),
        ("JOINED", &mut ranking.joined),
        ("PAIR", &mut ranking.pair),
        ("CONTENT_PATH", &mut ranking.content_path),
        ("PATH_CONTENT", &mut ranking.path_content),
        ("TERM_B", &mut ranking.term_b),
    ] {
        if let Some(value) = value(name) {
            *field = value;
        }
    }
    ranking
}

async fn measure(folder: &Path, name: &str) {
    let pack = std::env::var("PACK").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut files: Vec<_> = std::fs::read_dir(folder.join("docs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let documents: Vec<IndexedDocument> = files.iter().enumerate().map(|(n, file)| read_document(n as u64, file, pack)).collect();
    let chunks: usize = documents.iter().map(|document| document.chunks.len()).sum();
    let source: usize = documents.iter().flat_map(|document| &document.chunks).map(|indexed| indexed.chunk.content.len()).sum();

    let corpus: Vec<(String, HashSet<String>)> = lines(&folder.join("corpus.jsonl"))
        .iter()
        .map(|line| (line["id"].as_str().unwrap().to_owned(), trigrams(line["text"].as_str().unwrap())))
        .collect();
    let mut where_is: HashMap<&str, Vec<usize>> = HashMap::new();
    let heads: Vec<HashSet<String>> =
        documents.iter().map(|document| document.chunks.iter().flat_map(|indexed| trigrams(&indexed.chunk.content)).collect()).collect();
    for (at, head) in heads.iter().enumerate() {
        head.iter().for_each(|gram| where_is.entry(gram).or_default().push(at));
    }
    let mut by_document: HashMap<usize, Vec<usize>> = HashMap::new();
    for (passage, (_, grams)) in corpus.iter().enumerate() {
        let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
        for gram in grams {
            where_is.get(gram.as_str()).into_iter().flatten().for_each(|at| *votes.entry(*at).or_default() += 1);
        }
        if let Some((at, _)) = votes.into_iter().max_by_key(|(at, n)| (*n, std::cmp::Reverse(*at))) {
            by_document.entry(at).or_default().push(passage);
        }
    }
    let mut passages: HashMap<(String, u32), Vec<String>> = HashMap::new();
    let mut contents: HashMap<(String, u32), String> = HashMap::new();
    for (at, document) in documents.iter().enumerate() {
        for indexed in &document.chunks {
            let grams = trigrams(&indexed.chunk.content);
            let mut found: Vec<(f64, &String)> = by_document
                .get(&at)
                .into_iter()
                .flatten()
                .map(|&passage| {
                    let (id, other) = &corpus[passage];
                    (grams.intersection(other).count() as f64 / grams.len().min(other.len()).max(1) as f64, id)
                })
                .filter(|(share, _)| *share >= 0.5)
                .collect();
            found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| b.1.cmp(a.1)));
            let key = (document.document_id.to_string(), indexed.chunk.ordinal);
            passages.insert(key.clone(), found.into_iter().map(|(_, id)| id.clone()).collect());
            contents.insert(key, indexed.chunk.content.clone());
        }
    }

    let start = Instant::now();
    let built = build_split(&scope(), documents).unwrap();
    let build = start.elapsed();
    if std::env::var("SIZES").is_ok() {
        let footer = &built.bytes[built.entry.footer_offset as usize..];
        let json = u32::from_le_bytes(footer[footer.len() - 8..footer.len() - 4].try_into().unwrap()) as usize;
        let footer: Value = serde_json::from_slice(&footer[..json]).unwrap();
        let size = |file: &Value| file["end"].as_u64().unwrap() - file["start"].as_u64().unwrap();
        println!("store pos idx term vocab fast fieldnorm: {:?}", footer["files"].as_array().unwrap().iter().map(size).collect::<Vec<_>>());
    }
    let objects = Arc::new(CountingObjects::default());
    objects.set(&built.entry.key, built.bytes.clone());
    let manifest = IndexManifest { schema_version: 1, splits: vec![built.entry], retired: vec![] };
    let start = Instant::now();
    let snapshot = Snapshot::open(objects, Arc::new(SplitCache::new(1 << 30, None)), &manifest).await.unwrap().with_ranking(ranking());
    println!(
        "{name}: {chunks} chunks, {source} bytes, split {} ({:.2}), build {:.0} chunks/s, open {:?}, languages {:?}",
        built.bytes.len(),
        built.bytes.len() as f64 / source as f64,
        chunks as f64 / build.as_secs_f64(),
        start.elapsed(),
        snapshot.languages()
    );

    let mut relevant: HashMap<String, HashMap<String, f64>> = HashMap::new();
    for line in std::fs::read_to_string(folder.join("qrels.tsv")).unwrap().lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        relevant.entry(fields[0].to_owned()).or_default().insert(fields[1].to_owned(), fields[2].parse().unwrap());
    }
    let units: HashMap<String, Value> = lines(&folder.join("evidence.jsonl"))
        .into_iter()
        .map(|line| (line["qid"].as_str().unwrap().to_owned(), line["units"].clone()))
        .collect();
    let channels = WEIGHTS.map(|(channel, _)| channel);
    let (mut sums, mut count, mut time) = ([0.0; 6], 0.0, 0.0);
    let show = std::env::var("SHOW").is_ok();
    for query in lines(&folder.join("queries.jsonl")) {
        let (id, text) = (query["qid"].as_str().unwrap(), query["query"].as_str().unwrap());
        let start = Instant::now();
        let lists = snapshot.search_channels(&channels, text, &Filter::default(), 4 * TOP_K).await.unwrap();
        time += start.elapsed().as_secs_f64();
        let relevant = &relevant[id];
        let to_passages = |keys: Vec<(String, u32)>| keys.iter().flat_map(|key| passages[key].clone()).collect::<Vec<_>>();
        let fused = fuse(&lists, &WEIGHTS.map(|(_, weight)| weight));
        let texts: Vec<&str> = fused.iter().take(20).map(|key| contents[key].as_str()).collect();
        if let Some(units) = units.get(id) {
            sums[4] += evidence(&texts, units.as_array().unwrap(), 500);
            sums[5] += evidence(&texts, units.as_array().unwrap(), 1000);
        }
        let score = ndcg(&to_passages(fused), relevant);
        if show && score < 0.9 {
            println!("  {score:.2} {text}");
        }
        sums[0] += score;
        for (at, list) in lists.iter().enumerate() {
            sums[at + 1] += ndcg(&to_passages(fuse(std::slice::from_ref(list), &[1.0])), relevant);
        }
        count += 1.0;
    }
    let [fused, path, content, term, ev500, ev1000] = sums.map(|sum| sum / count);
    println!(
        "  ndcg@10 {fused:.4}  path {path:.4} content {content:.4} term {term:.4}  ev@500 {ev500:.3} ev@1000 {ev1000:.3}  {:.3} ms/query",
        time / count * 1e3
    );
}
