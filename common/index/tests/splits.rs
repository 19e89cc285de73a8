//! Promises of splits and snapshots.
#![allow(missing_docs, reason = "tests")]

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::*;
use quarry_index::{
    Channel, Filter, FilterMode, Hit, IndexError, IndexedDocument, MissingReason, SectionFilter, Snapshot, SplitCache, WHOLE_MAX_BYTES,
    build_split, read_documents,
};
use quarry_language::surface;
use quarry_model::record::{IndexManifest, SplitEntry};
use quarry_model::{ChunkType, DocumentId};
use support::{CountingObjects, chunk, document, document_id, revision, scope};

fn manifest(splits: Vec<SplitEntry>) -> IndexManifest {
    IndexManifest { schema_version: 1, splits, retired: Vec::new() }
}

fn publish(objects: &CountingObjects, documents: Vec<IndexedDocument>) -> SplitEntry {
    let built = build_split(&scope(), documents).unwrap();
    objects.set(&built.entry.key, built.bytes);
    built.entry
}

async fn open(objects: &Arc<CountingObjects>, splits: Vec<SplitEntry>) -> Snapshot {
    Snapshot::open(objects.clone(), Arc::new(SplitCache::new(1 << 30, None)), &manifest(splits)).await.unwrap()
}

async fn snapshot(documents: Vec<IndexedDocument>) -> Snapshot {
    let objects = Arc::new(CountingObjects::default());
    let entry = publish(&objects, documents);
    open(&objects, vec![entry]).await
}

fn keys(hits: &[Hit]) -> Vec<(DocumentId, u32)> {
    hits.iter().map(|hit| (hit.document_id.clone(), hit.ordinal)).collect()
}

/// Reproducible words: a small language of its own, plus part numbers.
fn corpus(documents: u64, chunks: usize) -> Vec<IndexedDocument> {
    let mut state = 1_u64;
    let mut next = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let syllables = ["ka", "lo", "mi", "ren", "tos", "vu", "shi", "bar", "el", "qui"];
    (0..documents)
        .map(|n| {
            let texts: Vec<String> = (0..chunks)
                .map(|_| {
                    let mut words: Vec<String> = (0..40)
                        .map(|_| {
                            // Few frequent and many rare words.
                            let rank = next(30) * next(30) / 4;
                            format!("{}{}", syllables[(rank % 10) as usize], syllables[(rank / 10 % 10) as usize])
                        })
                        .collect();
                    words.push(format!("PN-{}/{}", next(90), next(9)));
                    words.join(" ")
                })
                .collect();
            document(n, &format!("file{n}.md"), &texts.iter().map(String::as_str).collect::<Vec<_>>())
        })
        .collect()
}

const QUERIES: [&str; 5] = ["kalo renmi", "PN-7/3", "the tosvu of barel", "file3.md", "mika loka shibar vuvu"];
const CHANNELS: [Channel; 3] = [Channel::Path, Channel::Content, Channel::Term];

#[test]
fn the_same_documents_give_the_same_bytes() {
    let mut documents = corpus(7, 5);
    let first = build_split(&scope(), documents.clone()).unwrap();
    documents.reverse();
    let second = build_split(&scope(), documents).unwrap();
    assert_eq!(first.bytes, second.bytes);
    assert_eq!(first.entry, second.entry);
    assert_eq!(first.entry.hash, blake3::hash(&first.bytes).to_hex().as_str());
    assert_eq!(first.entry.chunks, 35);
}

#[tokio::test]
async fn documents_come_back_and_rebuild_the_same_split() {
    let objects = Arc::new(CountingObjects::default());
    let mut documents = corpus(4, 3);
    let entry = publish(&objects, documents.clone());
    let back = read_documents(objects.as_ref(), &SplitCache::new(1 << 20, None), &entry).await.unwrap();
    documents.iter_mut().flat_map(|document| &mut document.chunks).for_each(|indexed| indexed.chunk.metadata.tokens.clear());
    assert_eq!(back, documents);
    assert_eq!(build_split(&scope(), back).unwrap().entry.hash, entry.hash);
}

#[tokio::test]
async fn results_do_not_depend_on_the_layout_of_splits() {
    let documents = corpus(40, 6);
    let whole = snapshot(documents.clone()).await;
    for splits in [2, 3, 8] {
        let objects = Arc::new(CountingObjects::default());
        let mut parts: Vec<Vec<IndexedDocument>> = vec![Vec::new(); splits];
        for (n, document) in documents.iter().rev().enumerate() {
            parts[n * 7 % splits].push(document.clone());
        }
        let entries = parts.into_iter().map(|part| publish(&objects, part)).collect();
        let divided = open(&objects, entries).await;
        for query in QUERIES {
            let expected = whole.search_channels(&CHANNELS, query, &Filter::default(), 20).await.unwrap();
            let found = divided.search_channels(&CHANNELS, query, &Filter::default(), 20).await.unwrap();
            for (expected, found) in expected.iter().zip(&found) {
                assert_eq!(keys(expected), keys(found), "{query} in {splits}");
                assert!(expected.iter().zip(found).all(|(a, b)| (a.score - b.score).abs() < 1e-4));
            }
        }
    }
}

#[tokio::test]
async fn dead_documents_are_gone_as_if_they_had_never_been() {
    let documents = corpus(12, 4);
    let objects = Arc::new(CountingObjects::default());
    let mut entry = publish(&objects, documents.clone());
    let dead: BTreeSet<DocumentId> = [1, 5, 11].into_iter().map(document_id).collect();
    entry.documents.iter_mut().filter(|document| dead.contains(&document.document_id)).for_each(|document| document.dead = true);
    let marked = open(&objects, vec![entry.clone()]).await;
    let without = snapshot(documents.into_iter().filter(|document| !dead.contains(&document.document_id)).collect()).await;
    assert_eq!(marked.count(&Filter::default()), 36);
    assert_eq!(marked.all(&Filter::default()), without.all(&Filter::default()));
    for query in QUERIES {
        let a = marked.search_channels(&CHANNELS, query, &Filter::default(), 50).await.unwrap();
        let b = without.search_channels(&CHANNELS, query, &Filter::default(), 50).await.unwrap();
        for (a, b) in a.iter().zip(&b) {
            assert_eq!(keys(a), keys(b), "{query}");
            assert!(a.iter().zip(b).all(|(a, b)| (a.score - b.score).abs() < 1e-4), "{query}");
        }
    }
    let back = read_documents(objects.as_ref(), &SplitCache::new(1 << 20, None), &entry).await.unwrap();
    assert_eq!(back.len(), 9);
}

#[tokio::test]
async fn reads_are_few_and_warm_reads_none() {
    let objects = Arc::new(CountingObjects::default());
    let entry = publish(&objects, corpus(10, 50));
    let cache = Arc::new(SplitCache::new(1 << 30, None));
    let cold = Snapshot::open(objects.clone(), cache.clone(), &manifest(vec![entry.clone()])).await.unwrap();
    let hits = cold.search(Channel::Content, QUERIES[0], &Filter::default(), 10).await.unwrap();
    assert_eq!(cold.fetch(&keys(&hits)).await.unwrap().len(), hits.len());
    let (reads, rounds, _) = objects.take();
    assert!(reads <= 3 && rounds == 1, "{reads} reads in {rounds} rounds");
    let warm = Snapshot::open(objects.clone(), cache, &manifest(vec![entry])).await.unwrap();
    warm.search_channels(&CHANNELS, QUERIES[0], &Filter::default(), 10).await.unwrap();
    assert_eq!(objects.take().0, 0);
}

#[tokio::test]
async fn large_splits_are_read_by_piece() {
    let objects = Arc::new(CountingObjects::default());
    // Text that does not compress, so that the split is large with few chunks.
    let mut documents = corpus(30, 40);
    let mut seed = 7_u64;
    for indexed in documents.iter_mut().flat_map(|document| &mut document.chunks) {
        let noise: String = (0..14_000)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
                char::from(b"abcdefghijklmnopqrstuvwxyz0123456789-=+/"[(seed >> 40) as usize % 40])
            })
            .collect();
        indexed.chunk.metadata.summary = noise;
    }
    let entry = publish(&objects, documents);
    assert!(entry.size > WHOLE_MAX_BYTES, "{}", entry.size);
    assert!(entry.footer.is_some());
    let folder = tempfile::tempdir().unwrap();
    let cache = || Arc::new(SplitCache::new(1 << 30, Some(folder.path().to_owned())));
    let memory = cache();
    let cold = Snapshot::open(objects.clone(), memory.clone(), &manifest(vec![entry.clone()])).await.unwrap();
    let found = cold.search_channels(&CHANNELS, "kalo renmi", &Filter::default(), 10).await.unwrap();
    let stored = cold.fetch(&keys(&found[1])).await.unwrap();
    assert_eq!(stored.len(), 10);
    let (reads, rounds, bytes) = objects.take();
    assert!(reads <= 24 && rounds <= 4, "{reads} reads in {rounds} rounds");
    assert!((bytes as u64) < entry.size / 2, "{bytes} of {}", entry.size);
    // The same process again: everything is here.
    let warm = Snapshot::open(objects.clone(), memory, &manifest(vec![entry.clone()])).await.unwrap();
    assert_eq!(warm.search_channels(&CHANNELS, "kalo renmi", &Filter::default(), 10).await.unwrap(), found);
    assert_eq!(objects.take().0, 0);
    // A new process with the folder: the tail is on disk.
    let next = Snapshot::open(objects.clone(), cache(), &manifest(vec![entry.clone()])).await.unwrap();
    assert_eq!(objects.take().0, 0);
    assert_eq!(next.search_channels(&CHANNELS, "kalo renmi", &Filter::default(), 10).await.unwrap(), found);
    let (reads, rounds, _) = objects.take();
    assert!(reads <= 15 && rounds <= 2, "{reads} reads in {rounds} rounds");
}

#[tokio::test]
async fn many_splits_are_read_with_a_bounded_number_of_requests() {
    let objects = Arc::new(CountingObjects::default());
    let documents = corpus(120, 1);
    let splits = documents.chunks(1).map(|part| publish(&objects, part.to_vec())).collect();
    let cache = || Arc::new(SplitCache::new(1 << 30, None));
    let manifest = manifest(splits);
    let opened = (0..12).map(|_| Snapshot::open(objects.clone(), cache(), &manifest));
    let opened = futures::future::try_join_all(opened).await.unwrap();
    assert!(opened.iter().all(|snapshot| snapshot.documents().len() == 120 && snapshot.missing().is_empty()));
    let most = objects.most.load(std::sync::atomic::Ordering::SeqCst);
    assert_eq!(objects.take().0, 12 * 120);
    assert!((32..=64).contains(&most), "{most} requests at once");
}

#[tokio::test]
async fn a_split_that_cannot_be_read_is_reported_and_others_answer() {
    let objects = Arc::new(CountingObjects::default());
    let documents = corpus(6, 3);
    let entries: Vec<SplitEntry> = documents.chunks(2).map(|part| publish(&objects, part.to_vec())).collect();
    objects.remove(&entries[0].key);
    let mut damaged = build_split(&scope(), documents[2..4].to_vec()).unwrap().bytes.to_vec();
    damaged[100] ^= 1;
    objects.set(&entries[1].key, Bytes::from(damaged));
    let snapshot = open(&objects, entries.clone()).await;
    let reasons: Vec<MissingReason> = snapshot.missing().into_iter().map(|split| split.reason).collect();
    assert_eq!(reasons, [MissingReason::Gone, MissingReason::Corrupt]);
    assert_eq!(snapshot.documents().len(), 2);
    assert!(!snapshot.search(Channel::Term, "file4.md", &Filter::default(), 5).await.unwrap().is_empty());
    let mut other = entries[2].clone();
    other.analyzer_id = "another".into();
    let snapshot = open(&objects, vec![other]).await;
    assert_eq!(snapshot.missing()[0].reason, MissingReason::Analyzer);
}

#[test]
fn impossible_documents_are_refused() {
    let twice = vec![document(1, "a.md", &["x"]), document(1, "b.md", &["y"])];
    assert!(matches!(build_split(&scope(), twice), Err(IndexError::Document { .. })));
    let mut disordered = document(1, "a.md", &["x", "y"]);
    disordered.chunks.reverse();
    assert!(matches!(build_split(&scope(), vec![disordered]), Err(IndexError::Document { .. })));
    assert!(build_split(&scope(), Vec::new()).is_ok());
}

/// Two documents of three types in nested sections.
fn sectioned() -> Vec<IndexedDocument> {
    let make = |n: u64, name: &str| {
        let chunks = vec![
            chunk(name, &[], 0, ChunkType::Text, "pump overview"),
            chunk(name, &["Setup"], 1, ChunkType::Text, "pump setup"),
            chunk(name, &["Setup", "Wiring 100%"], 2, ChunkType::Table, "<table><tr><td>pump</td><td>4 Nm</td></tr></table>"),
            chunk(name, &["Setup", "Wiring 100%"], 3, ChunkType::Image, "pump picture"),
            chunk(name, &["Setup_B"], 4, ChunkType::Text, "pump appendix"),
        ];
        IndexedDocument { document_id: document_id(n), revision: revision(n), file_name: name.into(), chunks }
    };
    vec![make(1, "one.md"), make(2, "two.md")]
}

#[tokio::test]
async fn filters_mean_what_a_scan_would_mean() {
    let documents = sectioned();
    let snapshot = snapshot(documents.clone()).await;
    let id = document_id(1);
    let with = |change: &dyn Fn(&mut Filter)| {
        let mut filter = Filter::default();
        change(&mut filter);
        filter
    };
    let filters = [
        Filter::default(),
        with(&|filter| filter.include_documents = Some([id.clone()].into())),
        with(&|filter| filter.include_documents = Some(BTreeSet::new())),
        with(&|filter| filter.exclude_documents = [id.clone()].into()),
        with(&|filter| filter.chunk_types = Some([ChunkType::Table, ChunkType::Image].into())),
        with(&|filter| filter.exclude_sections = vec![SectionFilter { document_id: id.clone(), section_path: "one.md/Setup".into() }]),
        with(&|filter| filter.signal_paths = vec!["WIRING".into(), "appendix".into()]),
        with(&|filter| {
            filter.signal_paths = vec!["100%".into()];
            filter.signal_mode = FilterMode::Keep;
        }),
        with(&|filter| {
            filter.signal_paths = vec!["s%p".into(), "p_B".into()];
            filter.signal_mode = FilterMode::Keep;
            filter.exclude_documents = [id.clone()].into();
        }),
    ];
    for filter in &filters {
        let mut expected = Vec::new();
        for document in &documents {
            for indexed in &document.chunks {
                let path = &indexed.section.path;
                let excluded = filter.exclude_sections.iter().any(|section| {
                    section.document_id == document.document_id
                        && (path == &section.section_path || path.starts_with(&format!("{}/", section.section_path)))
                });
                let signal = filter.signal_paths.iter().any(|signal| path.to_lowercase().contains(&signal.to_lowercase()));
                let taken = filter.include_documents.as_ref().is_none_or(|ids| ids.contains(&document.document_id))
                    && !filter.exclude_documents.contains(&document.document_id)
                    && filter.chunk_types.as_ref().is_none_or(|types| types.contains(&indexed.chunk.kind))
                    && !excluded
                    && (filter.signal_paths.is_empty() || signal == (filter.signal_mode == FilterMode::Keep));
                if taken {
                    expected.push((document.document_id.clone(), indexed.chunk.ordinal));
                }
            }
        }
        assert_eq!(keys(&snapshot.all(filter)), expected, "{filter:?}");
        assert_eq!(snapshot.count(filter), expected.len() as u64);
        for channel in [Channel::Content, Channel::Term] {
            let mut found = keys(&snapshot.search(channel, "pump", filter, 100).await.unwrap());
            found.sort();
            assert_eq!(found, expected, "{filter:?}");
        }
    }
}

#[tokio::test]
async fn neighbours_and_sections_are_read_in_order() {
    let snapshot = snapshot(sectioned()).await;
    let id = document_id(2);
    let ordinals = |hits: Vec<Hit>| hits.into_iter().map(|hit| hit.ordinal).collect::<Vec<_>>();
    assert_eq!(ordinals(snapshot.section(&id, "two.md/Setup", false)), [1]);
    assert_eq!(ordinals(snapshot.section(&id, "two.md/Setup", true)), [1, 2, 3]);
    let read = snapshot.read(&id, 1..3).await.unwrap();
    assert_eq!(read.iter().map(|stored| stored.indexed.chunk.ordinal).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(read[0].file_name, "two.md");
    assert_eq!(snapshot.fetch(&[(id.clone(), 4), (id.clone(), 99), (id, 0)]).await.unwrap().len(), 2);
}

#[tokio::test]
async fn every_word_of_every_language_is_found() {
    let texts = [
        ("en", "The quick brown foxes jumped over R&D budgets of 5% in C++"),
        ("es", "La bomba no debe arrancar antes de abrir las válvulas"),
        ("de", "Die Pumpe darf nicht vor dem Öffnen der Ventile gestartet werden"),
        ("fr", "Les vannes doivent être ouvertes avant la mise en marche"),
        ("ru", "Насос нельзя запускать, пока клапаны не открыты"),
        ("el", "Η αντλία δεν πρέπει να ξεκινήσει"),
        ("ar", "يجب عدم تشغيل المضخة قبل فتح الصمامات"),
        ("he", "אין להפעיל את המשאבה לפני פתיחת השסתומים"),
        ("hi", "वाल्व खुलने से पहले पंप को चालू नहीं किया जाना चाहिए"),
        ("th", "ห้ามสตาร์ทปั๊มก่อนเปิดวาล์ว"),
        ("zh", "阀门打开之前不得启动水泵"),
        ("ja", "弁を開ける前にポンプを始動しないでください"),
        ("ko", "밸브를 열기 전에 펌프를 시동하지 마십시오"),
        ("tr", "Vanalar açılmadan pompa çalıştırılmamalıdır"),
        ("pl", "Pompy nie wolno uruchamiać przed otwarciem zaworów"),
        ("vi", "Không được khởi động bơm trước khi mở van"),
        ("ka", "ტუმბო არ უნდა ჩაირთოს"),
        ("ta", "பம்ப் இயக்கப்படக் கூடாது"),
        ("am", "ፓምፑ መጀመር የለበትም"),
        ("km", "មិនត្រូវបើកស្នប់មុនពេលបើកវ៉ាន់"),
        ("my", "အဆို့ရှင်များမဖွင့်မီ"),
    ];
    let documents = texts.iter().enumerate().map(|(n, (lang, text))| document(n as u64, &format!("{lang}.txt"), &[text])).collect();
    let snapshot = snapshot(documents).await;
    for (n, (lang, text)) in texts.iter().enumerate() {
        let normal = surface(text);
        let mut asked: Vec<(Channel, String)> = Vec::new();
        for word in normal.split(' ') {
            asked.push((Channel::Term, word.to_owned()));
            asked.push((Channel::Content, word.to_owned()));
        }
        asked.extend(quarry_language::content_words(text, "und").into_iter().map(|word| (Channel::Content, word)));
        // A dictionary cuts Thai and its like by context: a word asked for alone may be cut otherwise, and then the exact
        // channel finds it.
        for (channel, word) in asked {
            let other = snapshot.search(Channel::Term, &word, &Filter::default(), 30).await.unwrap();
            if matches!(*lang, "th" | "km" | "my") && other.iter().any(|hit| hit.document_id == document_id(n as u64)) {
                continue;
            }
            let hits = snapshot.search(channel, &word, &Filter::default(), 30).await.unwrap();
            assert!(hits.iter().any(|hit| hit.document_id == document_id(n as u64)), "{lang}: {word} in {channel:?}");
        }
    }
    // Other forms of the word.
    for (n, query) in [(0, "fox jumping"), (1, "valvula"), (2, "offnen"), (3, "etre"), (8, "पंप"), (12, "펌프는"), (10, "水")] {
        let hits = snapshot.search(Channel::Content, query, &Filter::default(), 30).await.unwrap();
        assert!(hits.iter().any(|hit| hit.document_id == document_id(n)), "{query}");
    }
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    let piece = prop_oneof![
        "[ab]{1,3}",
        "[aB]{1,2}[-/.+][ab1]{1,2}",
        "(水|泵|a|,|1|カ){1,5}",
        Just("É".to_owned()),
        Just("(a".to_owned()),
        Just("b, ".to_owned()),
        Just("C++".to_owned()),
        Just("กขก".to_owned()),
        Just("ab".repeat(40)),
    ];
    prop::collection::vec(prop::collection::vec(piece, 1..8).prop_map(|pieces| pieces.join(" ")), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Promise 5 of the design: the exact channel equals a scan of the surface texts.
    #[test]
    fn the_exact_channel_equals_a_scan(texts in texts(), from in 0_usize..40, length in 1_usize..12) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let documents: Vec<IndexedDocument> = texts.iter().enumerate().map(|(n, text)| document(n as u64, "0.x", &[text])).collect();
        let all = texts.join(" ");
        let query: String = all.chars().cycle().skip(from).take(length).collect();
        let wanted = surface(&query);
        prop_assume!(wanted.chars().any(char::is_alphanumeric));
        let expected: Vec<u64> = (0..texts.len() as u64).filter(|n| surface(&texts[*n as usize]).contains(&wanted)).collect();
        let found = runtime.block_on(async {
            let snapshot = snapshot(documents).await;
            snapshot.search(Channel::Term, &query, &Filter::default(), 1_000).await.unwrap()
        });
        // The whole query found lifts a chunk above any number of its parts.
        let mut whole: Vec<u64> = found.iter().filter(|hit| hit.score >= 900.0).map(|hit| u64::from_str_radix(&hit.document_id.as_str()[4..], 16).unwrap()).collect();
        whole.sort_unstable();
        prop_assert_eq!(whole, expected, "{:?} in {:?}", wanted, texts);
    }
}
