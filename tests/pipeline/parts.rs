//! A long PDF, read whole and read in parts: the artifacts are the same to the last byte.

use std::collections::BTreeMap;

use quarry_model::message::ParseMessage;
use quarry_model::record::DocumentRecord;
use quarry_model::{Family, JobState, Limits, ObjectPrefix, RecordPrefix};
use quarry_pdf::testing::{Builder, Leaf};
use quarry_runtime::{Disposition, deliver};

use crate::bench::Bench;

const SENTENCES: [&str; 6] = [
    "The pump stands on a plate of cast iron and is bolted to the floor, so that it neither moves",
    "nor hums when the motor starts under load. The plate is levelled with shims of brass before",
    "the bolts are tightened, for a plate that is not level wears the bearing on one side. After a",
    "week the bolts are tightened again, since the shims settle under the weight of the motor and",
    "of the pipe that hangs from it. Oil is changed after the first hundred hours, and then once",
    "in every thousand hours of running or once a year, and it is kept in cans that are closed",
];

/// Everything that crosses the end of a page, on every page, wherever it is cut: a running title, page numbers, a
/// paragraph, a table with rules, and on every seventh page the heading of a chapter.
fn book(pages: usize) -> Vec<u8> {
    (1..=pages)
        .fold(Builder::new(), |pdf, page| {
            let mut leaf =
                Leaf::a4().text(72.0, 30.0, 8.0, "Northern Waterworks, internal").text(290.0, 815.0, 8.0, &format!("- {page} -"));
            let mut down = 80.0;
            if page % 7 == 1 {
                let chapter = page / 7 + 1;
                leaf = leaf.draw(&format!("BT /F2 16 Tf 72 742 Td ({chapter} Chapter of pump {chapter}) Tj ET"));
                down = 140.0;
            }
            for line in 0..40 {
                let text = SENTENCES[(line + page) % SENTENCES.len()];
                leaf = leaf.text(72.0, down + 12.0 * line as f32, 10.0, &format!("{text} {}", page * 100 + line));
            }
            // The last rows of a page and the first of the next are one table.
            if page % 5 != 0 {
                for row in 0..4 {
                    let y = 640.0 + 20.0 * row as f32;
                    leaf = leaf.text(80.0, y + 14.0, 10.0, &format!("Part {row}")).text(300.0, y + 14.0, 10.0, &format!("{}", page * row));
                    leaf = leaf.draw(&format!("72 {} 200 20 re S 272 {} 200 20 re S", 842.0 - y - 20.0, 842.0 - y - 20.0));
                }
            }
            pdf.page(leaf)
        })
        .save()
}

/// The files of the one document's revision by name, and what is left of its parts.
async fn files(bench: &Bench) -> (BTreeMap<String, Vec<u8>>, usize) {
    let records = bench.store.records().query_all(&RecordPrefix::documents(&Bench::scope())).await.expect("documents");
    let document: DocumentRecord = records.first().expect("a document").read().expect("document");
    let revision = document.active_revision.as_ref().expect("a revision");
    let prefix = ObjectPrefix::revision(&Bench::scope(), &document.document_id, revision);
    let (mut files, mut parts) = (BTreeMap::new(), 0);
    for object in bench.store.objects().list(&prefix, None, 1_000).await.expect("list").objects {
        let name = object.key.as_str().strip_prefix(prefix.as_str()).expect("its name").to_owned();
        // These hold the limits, by which the two runs differ.
        if name.starts_with("parts/") {
            parts += 1;
        } else if !["manifest.json", "result.zip", "diagnostics/profile.json", "diagnostics/anatomy.json"].contains(&name.as_str()) {
            files.insert(name, bench.store.objects().get(&object.key).await.expect("get").0.to_vec());
        }
    }
    (files, parts)
}

#[tokio::test]
async fn a_document_of_250_pages_is_the_same_in_parts_and_whole() {
    let content = book(250);
    let key = "inbox/default/pumps.pdf";

    let whole = Bench::with(Limits { pdf_shard_pages: 1_000, ..Limits::default() });
    let (size, etag) = whole.put(key, content.clone()).await;
    whole.notify(key, size, &etag, "01").await;
    let messages = whole.profiled(Family::Pdf).await;
    assert_eq!(messages.len(), 1, "below the limit it is read whole");
    assert_eq!(deliver(whole.parser(Family::Pdf), &whole.delivery, &messages).await, [Disposition::Acknowledge]);
    whole.drain().await;

    let parted = Bench::with(Limits { pdf_shard_pages: 30, ..Limits::default() });
    let (size, etag) = parted.put(key, content).await;
    parted.notify(key, size, &etag, "01").await;
    let mut messages = parted.profiled(Family::Pdf).await;
    assert!(messages.len() >= 9, "{} messages", messages.len());
    assert!(messages.iter().all(|message| message.body.len() < 64 << 10));
    // Each comes twice under another name, and the last pages come first.
    messages.reverse();
    let doubled = messages.iter().map(|message| quarry_ports::Received { id: format!("{}-again", message.id), ..message.clone() });
    let doubled: Vec<_> = messages.iter().cloned().zip(doubled).flat_map(|(one, two)| [one, two]).collect();
    for message in &doubled {
        let verdict = deliver(parted.parser(Family::Pdf), &parted.delivery, std::slice::from_ref(message)).await;
        assert_eq!(verdict, [Disposition::Acknowledge]);
    }
    parted.drain().await;

    let ((whole_files, _), (parted_files, left)) = (files(&whole).await, files(&parted).await);
    assert_eq!(left, 0, "parts are removed");
    assert_eq!(whole_files.keys().collect::<Vec<_>>(), parted_files.keys().collect::<Vec<_>>());
    for (name, bytes) in &whole_files {
        assert!(*bytes == parted_files[name], "{name} differs");
    }
    assert!(whole_files["chunks.json"].len() > 100_000);
    assert!(whole_files.keys().any(|name| name.starts_with("tables/")), "tables cross the cuts: {:?}", whole_files.keys());
}

/// A part that cannot be read takes the document with it, and the others do not wait for it for ever.
#[tokio::test]
async fn a_part_that_fails_fails_the_document() {
    let bench = Bench::with(Limits { pdf_shard_pages: 3, ..Limits::default() });
    let (size, etag) = bench.put("inbox/default/short.pdf", book(6)).await;
    bench.notify("inbox/default/short.pdf", size, &etag, "01").await;
    let messages = bench.profiled(Family::Pdf).await;
    assert_eq!(messages.len(), 2);
    // The bytes are gone when the second part is read.
    let verdict = deliver(bench.parser(Family::Pdf), &bench.delivery, &messages[..1]).await;
    assert_eq!(verdict, [Disposition::Acknowledge]);
    let message: ParseMessage = serde_json::from_str(&messages[1].body).expect("a parse message");
    bench.store.objects().delete(&message.source).await.expect("delete");
    assert_eq!(deliver(bench.parser(Family::Pdf), &bench.delivery, &messages[1..]).await, [Disposition::Acknowledge]);
    bench.drain().await;
    assert_eq!(bench.jobs.load(&message.job_id).await.expect("job").expect("a job").state, JobState::Failed);
}
