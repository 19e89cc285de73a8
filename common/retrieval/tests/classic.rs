//! Classic retrieval on a store, from publication to answer.

mod support;

use std::sync::Arc;

use quarry_index::IndexedDocument;
use quarry_model::retrieval::{RouterUsed, StopReason};
use quarry_model::{ChunkType, Connection, Namespace, Owner, Position, RecordPrefix, Relation, Scope};
use quarry_retrieval::Options;
use serde_json::json;
use support::{World, chunk, document, document_id, request, scope};

fn pumps(version: u64) -> Vec<IndexedDocument> {
    let filler: Vec<IndexedDocument> = (10..40)
        .map(|n| document(n, 1, &format!("note-{n}.md"), &[("Note", &[&format!("Ordinary remark number {n} on gardening.")])]))
        .collect();
    let mut all = vec![
        document(
            1,
            version,
            "manual.md",
            &[("Introduction", &["The pump moves water uphill."]), ("Torque", &["Tighten the flange bolts to 4 Nm."])],
        ),
        document(
            2,
            version,
            "other/manual.md",
            &[("Introduction", &["Valves close the water line."]), ("Torque", &["Tighten the flange bolts to 9 Nm."])],
        ),
        document(3, version, "manual.md", &[("Introduction", &["The pump of the cellar. The pump is loud. The pump is old."])]),
    ];
    all.extend(filler);
    all
}

#[tokio::test]
async fn same_file_name_and_same_section_title_are_both_returned() {
    let world = World::new();
    world.publish(pumps(1)).await;
    let answer = world.ask(json!({ "query": "flange bolts torque", "top_k": 5 })).await;
    assert_eq!(answer.router_used, RouterUsed::ClassicTopk);
    let documents: Vec<&str> = answer.results.iter().take(2).map(|r| r.source.document_id.as_str()).collect();
    assert!(documents.contains(&document_id(1).as_str()) && documents.contains(&document_id(2).as_str()), "{documents:?}");
    assert!(answer.evidence_text.contains("4 Nm") && answer.evidence_text.contains("9 Nm"));
    let sections: Vec<&str> = answer.results.iter().take(2).map(|r| r.source.section_path.as_str()).collect();
    assert_eq!(sections, ["Torque", "Torque"]);
    assert!(
        answer.referenced_chunks.iter().any(|c| c.mark == "E1") && answer.referenced_chunks.iter().all(|c| !c.chunk_id.as_str().is_empty())
    );
}

#[tokio::test]
async fn one_and_two_hits_are_ranked_by_frequency() {
    let world = World::new();
    world.publish(pumps(1)).await;
    let answer = world.ask(json!({ "query": "pump", "top_k": 5 })).await;
    let found: Vec<_> = answer.results.iter().map(|r| r.source.document_id.clone()).collect();
    assert_eq!(found, [document_id(3), document_id(1)]);
    assert!(answer.results[0].score > answer.results[1].score && answer.results[1].score > 0.0);
    assert_eq!(answer.stop_reason, StopReason::Complete);
}

/// One of two splits is lost, or damaged: the answer says that it is partial, and the other one answers.
#[tokio::test]
async fn a_lost_part_of_the_index_is_said_to_be_missing_and_the_others_answer() {
    for damage in [None, Some("nonsense")] {
        let world = World::new();
        let one = document(1, 1, "heron.md", &[("Heron", &["The heron terminal takes 48 volts."])]);
        let other = document(2, 1, "osprey.md", &[("Osprey", &["The osprey terminal takes 12 volts."])]);
        let lost = world.publish_splits(vec![vec![one], vec![other]]).await.remove(1);
        let asked = json!({ "query": "terminal volts", "top_k": 5 });
        assert!(!world.ask(asked.clone()).await.partial);
        match damage {
            None => world.store.objects().delete(&lost).await.unwrap(),
            Some(text) => drop(world.store.objects().put(&lost, text.into(), quarry_ports::PutOptions::default()).await.unwrap()),
        }
        let (store, splits) = (&world.store, Arc::new(quarry_index::SplitCache::new(1 << 28, None)));
        let anew = quarry_retrieval::Retriever::new(
            store.objects(),
            store.records(),
            Arc::new(quarry_ports::SystemClock),
            splits,
            Options::default(),
        );
        let answer = anew.answer(&scope(), &request(asked)).await.unwrap();
        assert!(answer.partial, "{damage:?}");
        let files: Vec<&str> = answer.results.iter().map(|result| result.source.source_file_name.as_str()).collect();
        assert_eq!(files, ["heron.md"], "{damage:?}");
    }
}

#[tokio::test]
async fn an_archived_document_is_gone_from_the_very_next_query() {
    let world = World::new();
    world.publish(pumps(1)).await;
    assert!(world.ask(json!({ "query": "cellar" })).await.evidence_text.contains("cellar"));
    world.publish(pumps(1).into_iter().filter(|d| d.document_id != document_id(3)).collect()).await;
    let answer = world.ask(json!({ "query": "cellar" })).await;
    assert!(answer.results.is_empty() && answer.evidence_text.is_empty(), "{}", answer.evidence_text);
    assert_eq!((answer.stop_reason, answer.index_version), (StopReason::NoMatch, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_publication_during_queries_never_mixes_revisions() {
    let world = Arc::new(World::new());
    let set = |version: u64| -> Vec<IndexedDocument> {
        (1..=12).map(|n| document(n, version, &format!("d{n}.md"), &[("S", &[&format!("turbine part {n} of edition{version}")])])).collect()
    };
    world.publish(set(1)).await;
    let asking = {
        let world = world.clone();
        tokio::spawn(async move {
            for n in 0..60 {
                let answer = world.ask(json!({ "query": format!("turbine part {n}"), "top_k": 10 })).await;
                let editions: std::collections::BTreeSet<&str> =
                    answer.results.iter().map(|r| r.content.rsplit(' ').next().unwrap()).collect();
                assert_eq!(editions.len(), 1, "{editions:?}");
                assert!(editions.contains(format!("edition{}", answer.index_version).as_str()));
            }
        })
    };
    for version in 2..12 {
        world.publish(set(version)).await;
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    asking.await.unwrap();
}

#[tokio::test]
async fn a_small_corpus_is_ranked_and_complete() {
    let world = World::new();
    world.publish(vec![document(1, 1, "a.md", &[("One", &["Apples."]), ("Two", &["Pears and plums."]), ("Three", &["Cherries."])])]).await;
    let answer = world.ask(json!({ "query": "plums", "top_k": 10 })).await;
    assert_eq!(answer.router_used, RouterUsed::SmallCorpusAll);
    assert_eq!(answer.results.len(), 3);
    assert_eq!(answer.results[0].content, "Pears and plums.");
    assert!(answer.results[0].score > 0.0 && answer.results[1..].iter().all(|r| r.score == 0.0));
}

#[tokio::test]
async fn nothing_is_searched_without_a_query_or_without_a_publication() {
    let world = World::new();
    let answer = world.ask(json!({ "query": "   " })).await;
    assert_eq!((answer.router_used, answer.stop_reason), (RouterUsed::EmptyQueryFiltered, StopReason::EmptyQuery));
    let answer = world.ask(json!({ "query": "anything" })).await;
    assert_eq!((answer.stop_reason, answer.index_version, answer.results.len()), (StopReason::NoMatch, 0, 0));
}

#[tokio::test]
async fn filters_mean_the_same_in_every_route() {
    let world = World::new();
    world.publish(pumps(1)).await;
    // Top 5 is the classic route, top 100 the small corpus.
    for top_k in [5, 100] {
        let ask = |extra: serde_json::Value| {
            let mut body = json!({ "query": "tighten the flange bolts of the pump", "top_k": top_k });
            body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            world.ask(body)
        };
        let files = |answer: &quarry_model::RetrievalAnswer| -> Vec<String> {
            answer.results.iter().filter(|r| r.score > 0.0).map(|r| format!("{} {}", r.source.document_id, r.source.section_path)).collect()
        };
        let torque = |n| format!("{} Torque", document_id(n));
        let all = files(&ask(json!({})).await);
        assert!(all.contains(&torque(1)) && all.contains(&torque(2)), "{all:?}");
        let without = files(&ask(json!({ "exclude_document_ids": [document_id(1)] })).await);
        assert!(!without.iter().any(|f| f.starts_with(document_id(1).as_str())) && without.contains(&torque(2)));
        let only = ask(json!({ "include_document_ids": [document_id(2), document_id(1)], "exclude_document_ids": [document_id(1)] })).await;
        assert!(only.results.iter().all(|r| r.source.document_id == document_id(2)) && !only.results.is_empty());
        assert!(ask(json!({ "include_document_ids": [] })).await.results.is_empty());
        assert!(ask(json!({ "include_document_ids": ["doc_ffffffffffff", "no id"] })).await.results.is_empty());
        let shown = files(&ask(json!({ "exclude_sections": [{ "document_id": document_id(1), "section_path": "Torque" }] })).await);
        let exact =
            files(&ask(json!({ "exclude_sections": [{ "document_id": document_id(1), "section_path": "manual.md/Torque" }] })).await);
        assert!(!shown.contains(&torque(1)) && shown.contains(&torque(2)), "{shown:?}");
        assert_eq!(shown, exact);
        let kept = files(&ask(json!({ "signal_paths": ["torq"], "filter_mode": "keep" })).await);
        assert!(!kept.is_empty() && kept.iter().all(|f| f.ends_with("Torque")), "{kept:?}");
        let dropped = files(&ask(json!({ "signal_paths": ["TORQUE"] })).await);
        assert!(!dropped.is_empty() && dropped.iter().all(|f| !f.ends_with("Torque")), "{dropped:?}");
        assert!(ask(json!({ "signal_paths": ["%"], "filter_mode": "keep" })).await.results.is_empty());
        assert!(ask(json!({ "chunk_types": ["image"] })).await.results.is_empty());
    }
}

#[tokio::test]
async fn channels_weights_recall_threshold_and_rerank_are_honoured() {
    let world = World::new();
    let mut documents = pumps(1);
    documents.push(document(50, 1, "gasket.md", &[("Gasket", &["Nothing about it here."])]));
    documents.push(document(51, 1, "x.md", &[("Y", &["The gasket is rubber."])]));
    documents.push(document(52, 1, "z.md", &[("Z", &["Code 47-11B only."])]));
    world.publish(documents).await;
    let first = |answer: quarry_model::RetrievalAnswer| answer.results.first().map(|r| r.source.document_id.clone());
    assert_eq!(first(world.ask(json!({ "query": "gasket", "channels": ["path"] })).await), Some(document_id(50)));
    assert_eq!(first(world.ask(json!({ "query": "gasket", "channels": ["content"] })).await), Some(document_id(51)));
    assert_eq!(first(world.ask(json!({ "query": "7-11", "channels": ["term"] })).await), Some(document_id(52)));
    let one = world.ask(json!({ "query": "gasket", "channels": ["content"], "internal_recall_k": 1 })).await;
    assert_eq!(one.results.len(), 1);
    let all = world.ask(json!({ "query": "tighten flange bolts" })).await;
    let bar = f64::midpoint(all.results[0].score, all.results.last().unwrap().score);
    let some = world.ask(json!({ "query": "tighten flange bolts", "threshold": bar })).await;
    assert!(some.results.iter().all(|r| r.score >= bar));
    assert!(world.ask(json!({ "query": "tighten flange bolts", "threshold": 5.0 })).await.results.is_empty());
    let reranked = world.ask(json!({ "query": "tighten flange bolts", "rerank": true })).await;
    assert!(reranked.decision_trace.iter().any(|step| step.action == "rerank"));
}

#[tokio::test]
async fn equal_content_is_one_result_that_cites_all() {
    let world = World::new();
    let mut documents = pumps(1);
    documents.push(document(60, 1, "copy.md", &[("Torque again", &["Tighten the flange bolts to 4 Nm."])]));
    world.publish(documents).await;
    let answer = world.ask(json!({ "query": "flange bolts 4 Nm", "top_k": 5 })).await;
    let same: Vec<_> = answer.results.iter().filter(|r| r.content.contains("4 Nm")).collect();
    assert_eq!((same.len(), same[0].also_in.len()), (1, 1));
    assert!(answer.results.len() <= 5);
    // Each stays under its own document.
    let only = world.ask(json!({ "query": "flange bolts 4 Nm", "include_document_ids": [document_id(60)] })).await;
    assert_eq!(only.results[0].source.source_file_name, "copy.md");
}

#[tokio::test]
async fn embedded_assets_stand_in_their_text_with_an_address() {
    let world = World::new();
    let file = "report.md";
    let mut host = chunk(file, &["Sales"], 0, ChunkType::Text, "Sales rose.\n[tables/table-1.html]\nSee above.");
    let table = chunk(file, &["Sales"], 1, ChunkType::Table, "<table><tr><th>Year</th></tr><tr><td>2025</td></tr></table>");
    host.chunk.metadata.connect_to.push(Connection {
        target: table.chunk.chunk_id.clone(),
        target_ordinal: 1,
        relation: Relation::Embeds,
        reference: Some("[tables/table-1.html]".into()),
        position: Some(Position { start: 12, end: 33 }),
    });
    let mut documents = pumps(1);
    documents.push(IndexedDocument {
        document_id: document_id(70),
        revision: support::revision(70, 1),
        file_name: file.into(),
        chunks: vec![host, table],
    });
    world.publish(documents).await;
    let answer = world.ask(json!({ "query": "sales rose 2025", "top_k": 5 })).await;
    let text = answer.results.iter().find(|r| r.chunk_type == ChunkType::Text).unwrap();
    assert_eq!(text.content, "Sales rose.\n<table><tr><th>Year</th></tr><tr><td>2025</td></tr></table>\nSee above.");
    let table = answer.results.iter().find(|r| r.chunk_type == ChunkType::Table).unwrap();
    assert!(table.asset_url.as_ref().is_some_and(|url| url.contains("table-1.html")), "{:?}", table.asset_url);
    assert_eq!(answer.evidence_text.matches("<table>").count(), 1, "{}", answer.evidence_text);
    let only_text = world.ask(json!({ "query": "sales rose 2025", "top_k": 5, "data_type": 2 })).await;
    assert!(!only_text.evidence_text.contains("<table") && !only_text.results.iter().any(|r| r.content.contains("<table")));
}

#[tokio::test]
async fn runs_steps_hits_and_the_cache() {
    let world = World::new();
    world.publish(pumps(1)).await;
    let first = world.ask(json!({ "query": "flange bolts", "top_k": 5, "conversation_id": "c-1" })).await;
    let again = world.ask(json!({ "query": "flange bolts", "top_k": 5 })).await;
    assert_ne!(first.run_id, again.run_id);
    assert_eq!(first.results, again.results);
    world.retriever.flush().await;
    let (run, steps) = world.retriever.run(&Owner::local(), &first.run_id).await.unwrap().unwrap();
    assert_eq!((run.cache_hit, run.conversation_id.as_deref(), steps.len() as u32), (false, Some("c-1"), run.steps));
    assert_eq!(steps, first.decision_trace);
    let (run, steps) = world.retriever.run(&Owner::local(), &again.run_id).await.unwrap().unwrap();
    assert!(run.cache_hit && steps.is_empty());
    assert!(world.retriever.run(&Owner::new("somebody").unwrap(), &first.run_id).await.unwrap().is_none());

    // Another request for the same query within the hour is a repeat: nothing is counted twice.
    world.ask(json!({ "query": "flange bolts", "top_k": 4 })).await;
    world.retriever.flush().await;
    let hits = world.store.records().query_all(&RecordPrefix::hits(&scope())).await.unwrap();
    assert!(!hits.is_empty() && hits.iter().all(|item| item.body["hit_count"] == 1), "{hits:?}");
    // A publication makes the cached answer unreachable.
    world.publish(pumps(2)).await;
    assert_eq!(world.ask(json!({ "query": "flange bolts", "top_k": 5 })).await.index_version, 2);
}

#[tokio::test]
async fn popularity_lifts_among_equals_only() {
    let world = World::with(Options { hit_boost: 0.1, journal_in_background: false, ..Options::default() });
    let mut documents = pumps(1);
    documents.push(document(80, 1, "a.md", &[("A", &["Rotor blade one."])]));
    documents.push(document(81, 1, "b.md", &[("B", &["Rotor blade two."])]));
    world.publish(documents).await;
    assert_eq!(world.ask(json!({ "query": "rotor blade" })).await.results[0].source.document_id, document_id(80));
    for n in 0..12 {
        world.ask(json!({ "query": format!("rotor blade two {n}"), "include_document_ids": [document_id(81)] })).await;
    }
    world
        .publish_to(&scope(), {
            let mut d = pumps(1);
            d.push(document(80, 1, "a.md", &[("A", &["Rotor blade one."])]));
            d.push(document(81, 1, "b.md", &[("B", &["Rotor blade two."])]));
            d
        })
        .await;
    // Counts are read again after a minute; a retriever of its own has none in memory.
    let splits = Arc::new(quarry_index::SplitCache::new(1 << 26, None));
    let fresh = quarry_retrieval::Retriever::new(
        world.store.objects(),
        world.store.records(),
        Arc::new(quarry_ports::SystemClock),
        splits,
        Options::default(),
    );
    let answer = fresh.answer(&scope(), &request(json!({ "query": "rotor blade" }))).await.unwrap();
    assert_eq!(answer.results[0].source.document_id, document_id(81));
    assert!(answer.decision_trace.iter().any(|step| step.action == "hit_statistics"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn equal_requests_in_flight_run_once() {
    let world = Arc::new(World::new());
    world.publish(pumps(1)).await;
    let asks: Vec<_> = (0..16)
        .map(|_| {
            let world = world.clone();
            tokio::spawn(async move { world.ask(json!({ "query": "water line", "top_k": 5 })).await })
        })
        .collect();
    let mut runs = Vec::new();
    for ask in asks {
        runs.push(ask.await.unwrap().run_id);
    }
    world.retriever.flush().await;
    let mut worked = 0;
    for run in &runs {
        worked += usize::from(!world.retriever.run(&Owner::local(), run).await.unwrap().unwrap().0.cache_hit);
    }
    assert_eq!(worked, 1);
}

#[tokio::test]
async fn another_owner_and_another_namespace_see_nothing() {
    let world = World::new();
    world.publish(pumps(1)).await;
    for scope in [
        Scope::new(Owner::new("somebody").unwrap(), Namespace::default()),
        Scope::new(Owner::local(), Namespace::new("elsewhere").unwrap()),
    ] {
        let body = json!({ "query": "flange bolts", "include_document_ids": [document_id(1)] });
        let answer = world.retriever.answer(&scope, &request(body)).await.unwrap();
        assert!(answer.results.is_empty() && answer.index_version == 0);
    }
}

#[tokio::test]
async fn hostile_queries_take_bounded_time() {
    let world = World::new();
    world.publish(pumps(1)).await;
    let many: String = (0..2_000).map(|n| format!("w{n} ")).collect();
    for query in
        [many.as_str(), "(a+)+$ [[[ .* \\", "the of and to", "%", "_", "\u{0}\u{1}", "🙂🙂🙂", &"x".repeat(16_000), &"漢".repeat(5_000)]
    {
        let began = std::time::Instant::now();
        let answer = world.ask(json!({ "query": query, "top_k": 100, "token_budget": 200 })).await;
        assert!(began.elapsed().as_secs() < 10, "{query:.40} took {:?}", began.elapsed());
        assert!(answer.budget.used <= 200 && quarry_language::tokens::count(&answer.evidence_text) <= 200);
    }
}
