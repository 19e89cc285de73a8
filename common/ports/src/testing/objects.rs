//! The promises of [`ObjectStore`].

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use quarry_model::{ObjectKey, ObjectPrefix};

use super::{fresh_scope, http};
use crate::{ObjectError, ObjectMeta, ObjectStore, PutCondition, PutOptions};

/// Makes a test of every promise of the object port.
#[macro_export]
macro_rules! objects_conformance {
    ($fresh:expr) => {
        $crate::promises!(
            objects,
            $fresh,
            [
                what_is_put_is_read_back,
                a_put_replaces_the_whole_object,
                an_absent_object_is_not_found,
                ranges_are_exact_or_refused,
                the_tag_follows_the_content,
                deleting_twice_is_no_error,
                only_if_absent_refuses_the_second,
                only_if_match_refuses_what_changed,
                one_of_many_creates,
                one_of_many_replaces,
                readers_never_see_half_an_object,
                a_large_object_is_whole,
                every_key_is_its_own,
                a_listing_is_complete_and_in_key_order,
                a_listing_pages_without_loss_or_repeat,
                a_listing_stays_under_its_prefix,
                a_presigned_read_needs_no_key,
                a_presigned_write_takes_one_upload,
            ]
        );
    };
}

type Store = Arc<dyn ObjectStore>;

/// A prefix of its own for one promise.
fn place() -> ObjectPrefix {
    ObjectPrefix::index(&fresh_scope())
}

fn key(place: &ObjectPrefix, name: &str) -> ObjectKey {
    ObjectKey::from_event(&format!("{}{name}", place.as_str()))
}

async fn put(store: &Store, key: &ObjectKey, body: &'static [u8]) -> ObjectMeta {
    store.put(key, Bytes::from_static(body), PutOptions::default()).await.expect("an unconditional put succeeds")
}

fn when(condition: PutCondition) -> PutOptions {
    PutOptions { condition, content_type: None }
}

/// Bytes that repeat late, so that a shifted range is noticed.
fn pattern(length: usize) -> Bytes {
    (0..length).map(|at| (at ^ (at >> 8) ^ (at >> 16)) as u8).collect()
}

/// Body, size, key and tag come back; an empty object is an object.
pub async fn what_is_put_is_read_back(store: Store) {
    let place = place();
    for (name, body) in [("empty", b"".as_slice()), ("one", b"x"), ("text", "größer 漢字".as_bytes())] {
        let key = key(&place, name);
        let written = put(&store, &key, body).await;
        let (read, meta) = store.get(&key).await.expect("there");
        assert_eq!(read, body);
        assert_eq!(meta, written);
        assert_eq!(meta, ObjectMeta { key: key.clone(), size: body.len() as u64, etag: written.etag.clone() });
        assert_eq!(store.head(&key).await.expect("there"), written);
        assert!(!written.etag.is_empty() && !written.etag.contains('"'));
    }
}

/// Nothing of a longer predecessor is left.
pub async fn a_put_replaces_the_whole_object(store: Store) {
    let key = key(&place(), "object");
    put(&store, &key, b"long content").await;
    put(&store, &key, b"short").await;
    let (read, meta) = store.get(&key).await.expect("there");
    assert_eq!((read.as_ref(), meta.size), (b"short".as_slice(), 5));
}

/// Reading, asking and ranging into nothing all say so.
pub async fn an_absent_object_is_not_found(store: Store) {
    let key = key(&place(), "absent");
    assert!(matches!(store.get(&key).await, Err(ObjectError::NotFound(named)) if named == key));
    assert!(matches!(store.head(&key).await, Err(ObjectError::NotFound(_))));
    assert!(matches!(store.get_range(&key, 0..1).await, Err(ObjectError::NotFound(_))));
    assert!(matches!(store.get_range(&key, 0..0).await, Err(ObjectError::NotFound(_))));
    let replaced = store.put(&key, Bytes::new(), when(PutCondition::IfMatch("0".repeat(32)))).await;
    assert!(matches!(replaced, Err(ObjectError::Precondition(_))), "{replaced:?}");
}

/// First byte, last byte, all, none; anything past the end is an error and never a shorter answer.
pub async fn ranges_are_exact_or_refused(store: Store) {
    let place = place();
    let whole = key(&place, "object");
    let body = pattern(1_000);
    store.put(&whole, body.clone(), PutOptions::default()).await.expect("put");
    for range in [0..1, 999..1_000, 0..1_000, 10..20, 0..0, 1_000..1_000, 500..500] {
        let read = store.get_range(&whole, range.clone()).await.unwrap_or_else(|error| panic!("{range:?}: {error}"));
        assert_eq!(read, body.slice(range.start as usize..range.end as usize), "{range:?}");
    }
    #[allow(clippy::reversed_empty_ranges, reason = "a caller's mistake must be refused")]
    for range in [999..1_001, 1_000..1_001, 0..5_000, 2_000..3_000, 1_001..1_001, 20..10] {
        let read = store.get_range(&whole, range.clone()).await;
        assert!(matches!(read, Err(ObjectError::Range(_))), "{range:?}: {read:?}");
    }
    let empty = key(&place, "empty");
    put(&store, &empty, b"").await;
    assert_eq!(store.get_range(&empty, 0..0).await.expect("nothing of nothing"), Bytes::new());
    assert!(matches!(store.get_range(&empty, 0..1).await, Err(ObjectError::Range(_))));
}

/// Other content has another tag.
pub async fn the_tag_follows_the_content(store: Store) {
    let key = key(&place(), "object");
    let one = put(&store, &key, b"one").await;
    let two = put(&store, &key, b"two").await;
    assert_ne!(one.etag, two.etag);
    assert_eq!(store.head(&key).await.expect("there").etag, two.etag);
}

/// A delete repeated after a lost answer is no error, and what is gone is gone.
pub async fn deleting_twice_is_no_error(store: Store) {
    let key = key(&place(), "folder/object");
    put(&store, &key, b"x").await;
    for _ in 0..2 {
        store.delete(&key).await.expect("deleting is idempotent");
        assert!(matches!(store.head(&key).await, Err(ObjectError::NotFound(_))));
    }
    put(&store, &key, b"again").await;
    assert_eq!(store.get(&key).await.expect("back").0, b"again".as_slice());
}

/// The first content stays.
pub async fn only_if_absent_refuses_the_second(store: Store) {
    let key = key(&place(), "object");
    store.put(&key, Bytes::from_static(b"1"), when(PutCondition::IfAbsent)).await.expect("nothing is there");
    let second = store.put(&key, Bytes::from_static(b"2"), when(PutCondition::IfAbsent)).await;
    assert!(matches!(second, Err(ObjectError::Precondition(named)) if named == key));
    assert_eq!(store.get(&key).await.expect("there").0, b"1".as_slice());
    store.delete(&key).await.expect("delete");
    store.put(&key, Bytes::from_static(b"3"), when(PutCondition::IfAbsent)).await.expect("nothing is there again");
}

/// A tag that has been overtaken no longer opens.
pub async fn only_if_match_refuses_what_changed(store: Store) {
    let key = key(&place(), "object");
    let first = put(&store, &key, b"1").await;
    let matching = when(PutCondition::IfMatch(first.etag));
    let second = store.put(&key, Bytes::from_static(b"2"), matching.clone()).await.expect("the tag fits");
    let third = store.put(&key, Bytes::from_static(b"3"), matching).await;
    assert!(matches!(third, Err(ObjectError::Precondition(_))), "{third:?}");
    let (body, meta) = store.get(&key).await.expect("there");
    assert_eq!((body.as_ref(), meta), (b"2".as_slice(), second));
}

/// Contents differ between rounds as well: equal content has an equal tag, and would be no change.
async fn race(store: &Store, key: &ObjectKey, condition: &PutCondition, round: u8) {
    let mut racers = Vec::new();
    for number in 0..8_u8 {
        let (store, key, options) = (Arc::clone(store), key.clone(), when(condition.clone()));
        racers.push(tokio::spawn(async move { (number, store.put(&key, vec![round, number].into(), options).await) }));
    }
    let mut winners = Vec::new();
    for racer in racers {
        match racer.await.expect("no panic") {
            (number, Ok(meta)) => winners.push((number, meta)),
            (_, Err(ObjectError::Precondition(_))) => (),
            (_, Err(error)) => panic!("a loser is told so: {error}"),
        }
    }
    assert_eq!(winners.len(), 1, "{winners:?}");
    let (number, written) = &winners[0];
    let (body, meta) = store.get(key).await.expect("there");
    assert_eq!(body, vec![round, *number]);
    assert_eq!(meta, *written);
}

/// Of eight that create at once, one wins and the others are told.
pub async fn one_of_many_creates(store: Store) {
    let place = place();
    for round in 0..5 {
        race(&store, &key(&place, &format!("round-{round}")), &PutCondition::IfAbsent, round).await;
    }
}

/// Of eight that replace the same content at once, one wins and the others are told.
pub async fn one_of_many_replaces(store: Store) {
    let key = key(&place(), "object");
    let mut tag = put(&store, &key, b"start").await.etag;
    for round in 0..5 {
        race(&store, &key, &PutCondition::IfMatch(tag), round).await;
        tag = store.head(&key).await.expect("there").etag;
    }
}

/// While one writes, another reads one content or the other.
pub async fn readers_never_see_half_an_object(store: Store) {
    let key = key(&place(), "object");
    let bodies = [Bytes::from(vec![b'a'; 200_000]), Bytes::from(vec![b'b'; 100_000])];
    store.put(&key, bodies[0].clone(), PutOptions::default()).await.expect("put");
    let (writing, name, written) = (Arc::clone(&store), key.clone(), bodies.clone());
    let writer = tokio::spawn(async move {
        for round in 0..20 {
            writing.put(&name, written[round % 2].clone(), PutOptions::default()).await.expect("put");
        }
    });
    while !writer.is_finished() {
        let (body, meta) = store.get(&key).await.expect("always there");
        assert!(bodies.contains(&body), "{} bytes, first {:?}", body.len(), body.first());
        assert_eq!(meta.size, body.len() as u64);
    }
    writer.await.expect("no panic");
}

/// Twelve megabytes, with ranges out of the middle.
pub async fn a_large_object_is_whole(store: Store) {
    let key = key(&place(), "large");
    let body = pattern(12 * 1024 * 1024 + 7);
    let written = store.put(&key, body.clone(), PutOptions::default()).await.expect("put");
    assert_eq!(written.size, body.len() as u64);
    let (read, meta) = store.get(&key).await.expect("there");
    assert!(read == body, "the content differs");
    assert_eq!(meta, written);
    let middle = 8 * 1024 * 1024 - 3..9 * 1024 * 1024 + 5;
    let part = store.get_range(&key, middle.clone()).await.expect("inside");
    assert!(part == body.slice(middle.start as usize..middle.end as usize), "the range differs");
}

fn odd_names(place: &ObjectPrefix) -> Vec<String> {
    let room = 1_000 - place.as_str().len();
    let mut names: Vec<String> = [
        "with space",
        "plus+plus",
        "percent%",
        "percent%20",
        "percent%2520",
        "a&b=c?d#e",
        "quote\"'",
        "semi;colon,comma",
        "back\\slash",
        "tilde~!*()@:$",
        "[brackets]{braces}|^`<>",
        "Übergröße",
        "U\u{308}",
        "漢字/かな/한글",
        "emoji 🦀",
        "case",
        "CASE",
        "x",
        "x/y",
        "x/y/z",
        ".hidden",
        "trailing.",
        "long-name",
    ]
    .map(str::to_owned)
    .to_vec();
    names.push("n".repeat(room));
    names.push(format!("deep/{}", "é".repeat((room - 5) / 2)));
    names
}

/// Spaces, signs, scripts, case, a key inside another, 1,000 bytes: each names its own object and is listed as it was given.
pub async fn every_key_is_its_own(store: Store) {
    let place = place();
    let mut keys: Vec<ObjectKey> = odd_names(&place).iter().map(|name| key(&place, name)).collect();
    for key in &keys {
        let body = Bytes::from(format!("body of {key}"));
        store.put(key, body, PutOptions::default()).await.unwrap_or_else(|error| panic!("{key}: {error}"));
    }
    for key in &keys {
        let (body, meta) = store.get(key).await.unwrap_or_else(|error| panic!("{key}: {error}"));
        assert_eq!(body, format!("body of {key}"));
        assert_eq!(meta.key, *key);
    }
    keys.sort();
    assert_eq!(listed(&store, &place, 1_000).await, keys);
    for gone in &keys {
        store.delete(gone).await.unwrap_or_else(|error| panic!("{gone}: {error}"));
    }
    assert_eq!(listed(&store, &place, 1_000).await, Vec::new());
}

/// All keys, page after page; checks the size of each page.
async fn listed(store: &Store, place: &ObjectPrefix, limit: usize) -> Vec<ObjectKey> {
    let mut keys = Vec::new();
    let mut cursor = None;
    loop {
        let page = store.list(place, cursor.as_deref(), limit).await.expect("listing works");
        assert!(page.objects.len() <= limit);
        keys.extend(page.objects.into_iter().map(|meta| meta.key));
        match page.cursor {
            Some(next) => cursor = Some(next),
            None => return keys,
        }
    }
}

/// Order is that of the keys' bytes, not of folders or of letters; sizes and tags are those of the objects.
pub async fn a_listing_is_complete_and_in_key_order(store: Store) {
    let place = place();
    let mut written = Vec::new();
    for name in ["b", "a", "a/b", "a-b", "a0", "A", "é", "z", "a/b/c", "10", "9", "_"] {
        written.push(store.put(&key(&place, name), pattern(name.len()), PutOptions::default()).await.expect("put"));
    }
    written.sort_by(|one, other| one.key.cmp(&other.key));
    let page = store.list(&place, None, 1_000).await.expect("listing works");
    assert_eq!(page.objects, written);
    assert_eq!(page.cursor, None);
}

/// Pages of any size join to the whole; an exact last page does not repeat.
pub async fn a_listing_pages_without_loss_or_repeat(store: Store) {
    let place = place();
    let mut keys: Vec<ObjectKey> = (0..24).map(|n| key(&place, &format!("{}/k{n:02}", n % 5))).collect();
    for key in &keys {
        put(&store, key, b"").await;
    }
    keys.sort();
    for limit in [1, 5, 8, 24, 25] {
        assert_eq!(listed(&store, &place, limit).await, keys, "limit {limit}");
    }
}

/// `…/a/` does not see `…/ab`, nor another scope.
pub async fn a_listing_stays_under_its_prefix(store: Store) {
    let scope = fresh_scope();
    let document = quarry_model::DocumentId::from_random([1; 6]);
    let other = quarry_model::DocumentId::from_random([2; 6]);
    let mine = ObjectPrefix::document(&scope, &document);
    let inside = key(&mine, "revision/chunks.json");
    let beside = ObjectKey::from_event(&format!("{}-beside/chunks.json", mine.as_str().trim_end_matches('/')));
    for key in [&inside, &beside, &key(&ObjectPrefix::document(&scope, &other), "chunks.json"), &key(&place(), "x")] {
        put(&store, key, b"x").await;
    }
    assert_eq!(listed(&store, &mine, 1_000).await, vec![inside]);
    assert_eq!(listed(&store, &place(), 1_000).await, Vec::new());
}

const LIFE: Duration = Duration::from_mins(1);

/// The address gives the bytes and the name to save under; a changed address gives nothing.
pub async fn a_presigned_read_needs_no_key(store: Store) {
    let key = key(&place(), "with space+ü/object.txt");
    put(&store, &key, b"content").await;
    let url = store.presign_get(&key, LIFE, Some("Größe 1.txt")).await.expect("an address");
    let Some(answer) = http::request("GET", &url, &[], b"").await else {
        return;
    };
    assert_eq!((answer.status, answer.body.as_slice()), (200, b"content".as_slice()), "{url}");
    let disposition = answer.header("content-disposition").unwrap_or_default();
    assert!(disposition.starts_with("attachment") && disposition.contains("Gr%C3%B6%C3%9Fe%201.txt"), "{disposition}");
    let forged = http::request("GET", &url.replace("object.txt", "object.bin"), &[], b"").await.expect("http");
    assert_eq!(forged.status, 403);
    let short = store.presign_get(&key, Duration::from_secs(1), None).await.expect("an address");
    tokio::time::sleep(Duration::from_millis(2_200)).await;
    assert_eq!(http::request("GET", &short, &[], b"").await.expect("http").status, 403, "its life is over");
}

/// The address takes one upload of its content type. Afterwards it changes nothing any more.
pub async fn a_presigned_write_takes_one_upload(store: Store) {
    let key = key(&place(), "upload");
    let address = store.presign_put(&key, LIFE, "application/pdf").await.expect("an address");
    assert_eq!(address.expires_in, LIFE.as_secs());
    let other_type: Vec<_> = address
        .headers
        .iter()
        .map(|(name, value)| (name.clone(), if value == "application/pdf" { "text/html".to_owned() } else { value.clone() }))
        .collect();
    let Some(refused) = http::request("PUT", &address.url, &other_type, b"<p>").await else {
        return;
    };
    assert_eq!(refused.status, 403, "another content type");
    assert!(matches!(store.head(&key).await, Err(ObjectError::NotFound(_))));
    let taken = http::request("PUT", &address.url, &address.headers, b"%PDF").await.expect("http");
    assert_eq!(taken.status, 200, "{}", String::from_utf8_lossy(&taken.body));
    let read = http::request("GET", &address.url, &address.headers, b"").await.expect("http");
    assert_eq!(read.status, 403, "an address to write is none to read");
    let again = http::request("PUT", &address.url, &address.headers, b"other").await.expect("http");
    assert_eq!(again.status, 412, "good once");
    assert_eq!(store.get(&key).await.expect("there").0, b"%PDF".as_slice());
}
