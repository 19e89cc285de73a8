//! The promises of [`crate::Queue`] for queues whose groups are first in, first out.

use std::time::Duration;

use quarry_model::message::QueueName;

use super::queues::{LONG, MAX_RECEIVES, SHORT, Store, acknowledge, bodies, nothing, receive, receive_one, send};
use super::unique;
use crate::Outgoing;

const FIFO: QueueName = QueueName::Publish;

fn ordered(group: &str, body: &str) -> Outgoing {
    Outgoing { body: body.to_owned(), group: Some(group.to_owned()), ..Outgoing::default() }
}

/// Also beyond one request, with the group named on each.
pub async fn a_group_keeps_its_order(store: Store) {
    let sent: Vec<String> = (0..12).map(|n| format!("{n:02}")).collect();
    send(&store, FIFO, sent.iter().map(|body| ordered("a", body)).collect()).await;
    let mut got = Vec::new();
    while got.len() < sent.len() {
        let batch = receive(&store, FIFO, 1, LONG).await;
        assert!(!batch.is_empty(), "after {got:?}");
        for message in batch {
            assert_eq!(message.group.as_deref(), Some("a"));
            acknowledge(&store, FIFO, &message.receipt).await;
            got.push(message.body);
        }
    }
    assert_eq!(got, sent);
}

/// Until what is in work is acknowledged.
pub async fn a_group_in_work_gives_nothing_more(store: Store) {
    send(&store, FIFO, vec![ordered("a", "1"), ordered("a", "2")]).await;
    let first = receive_one(&store, FIFO, LONG).await;
    assert_eq!(first.body, "1");
    assert!(nothing(&store, FIFO).await);
    send(&store, FIFO, vec![ordered("a", "3")]).await;
    assert!(nothing(&store, FIFO).await);
    acknowledge(&store, FIFO, &first.receipt).await;
    assert_eq!(receive_one(&store, FIFO, LONG).await.body, "2");
}

/// A group in work leaves the others free.
pub async fn groups_do_not_wait_for_each_other(store: Store) {
    send(&store, FIFO, vec![ordered("a", "a1")]).await;
    let first = receive_one(&store, FIFO, LONG).await;
    send(&store, FIFO, vec![ordered("a", "a2"), ordered("b", "b1"), ordered("c", "c1")]).await;
    let mut others = receive(&store, FIFO, 2, LONG).await;
    others.sort_by(|one, other| one.body.cmp(&other.body));
    assert_eq!(bodies(&others), ["b1", "c1"]);
    assert!(nothing(&store, FIFO).await);
    acknowledge(&store, FIFO, &first.receipt).await;
    assert_eq!(receive_one(&store, FIFO, LONG).await.body, "a2");
}

/// Before what was sent after it.
pub async fn a_released_message_keeps_its_place(store: Store) {
    send(&store, FIFO, vec![ordered("a", "1"), ordered("a", "2")]).await;
    let first = receive_one(&store, FIFO, LONG).await;
    store.change_visibility(FIFO, &first.receipt, Duration::ZERO).await.expect("releasing works");
    let again = receive_one(&store, FIFO, LONG).await;
    assert_eq!((again.body.as_str(), again.receive_count), ("1", 2));
}

/// A poisoned message does not hold up its group for ever.
pub async fn a_dead_letter_frees_its_group(store: Store) {
    send(&store, FIFO, vec![ordered("a", "poison")]).await;
    for _ in 0..MAX_RECEIVES {
        let received = receive_one(&store, FIFO, LONG).await;
        store.change_visibility(FIFO, &received.receipt, Duration::ZERO).await.expect("releasing works");
    }
    send(&store, FIFO, vec![ordered("a", "good")]).await;
    let next = receive_one(&store, FIFO, LONG).await;
    assert_eq!(next.body, "good");
    acknowledge(&store, FIFO, &next.receipt).await;
    let dead = store.dead_letters(FIFO, 10).await.expect("dead letters");
    assert_eq!(dead.iter().map(|letter| letter.body.as_str()).collect::<Vec<_>>(), ["poison"]);
    assert_eq!(store.redrive(FIFO, 10, &|_| true).await.expect("redrive"), 1);
    let back = receive_one(&store, FIFO, LONG).await;
    assert_eq!((back.body.as_str(), back.group.as_deref(), back.receive_count), ("poison", Some("a"), 1));
}

/// Within one sending, over two, and after it was acknowledged; another value is another message.
pub async fn the_same_deduplication_is_sent_once(store: Store) {
    let value = unique();
    let once = |body: &str| Outgoing { deduplication: Some(value.clone()), ..ordered("a", body) };
    send(&store, FIFO, vec![once("1"), once("1 again")]).await;
    send(&store, FIFO, vec![once("1 again")]).await;
    let first = receive_one(&store, FIFO, LONG).await;
    assert_eq!(first.body, "1");
    acknowledge(&store, FIFO, &first.receipt).await;
    send(&store, FIFO, vec![once("1 again")]).await;
    let other = Outgoing { deduplication: Some(unique()), ..ordered("a", "2") };
    send(&store, FIFO, vec![other, ordered("a", "without"), ordered("a", "without")]).await;
    let mut rest = Vec::new();
    for _ in 0..3 {
        let received = receive_one(&store, FIFO, LONG).await;
        acknowledge(&store, FIFO, &received.receipt).await;
        rest.push(received.body);
    }
    assert_eq!(rest, ["2", "without", "without"]);
    tokio::time::sleep(SHORT).await;
    assert!(nothing(&store, FIFO).await);
}

/// Taken in batches, of several groups sent mixed.
pub async fn many_in_order_stay_in_order(store: Store) {
    let groups = ["a", "b", "c"];
    let sent = (0..30).map(|n| ordered(groups[n % 3], &format!("{}{n:02}", groups[n % 3]))).collect();
    send(&store, FIFO, sent).await;
    let mut got: Vec<String> = Vec::new();
    while got.len() < 30 {
        let batch = store.receive(FIFO, 10, LONG, SHORT * 5).await.expect("receiving works");
        assert!(!batch.is_empty(), "after {got:?}");
        for message in batch {
            acknowledge(&store, FIFO, &message.receipt).await;
            got.push(message.body);
        }
    }
    for group in groups {
        let of_group: Vec<&String> = got.iter().filter(|body| body.starts_with(group)).collect();
        assert!(of_group.is_sorted() && of_group.len() == 10, "{got:?}");
    }
}
