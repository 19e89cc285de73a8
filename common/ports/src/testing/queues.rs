//! The promises of [`Queue`]. The queues under test give a message up after [`MAX_RECEIVES`] receives.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quarry_model::Family;
use quarry_model::message::QueueName;

use crate::queue::MAX_MESSAGE_BYTES;
use crate::{DeadLetter, Outgoing, Queue, QueueError, Received};

pub use super::queues_fifo::*;

/// Makes a test of every promise of the queue port.
#[macro_export]
macro_rules! queues_conformance {
    ($fresh:expr) => {
        $crate::promises!(
            queues,
            $fresh,
            [
                a_message_is_received_as_it_was_sent,
                an_acknowledged_message_is_gone,
                a_message_in_work_is_hidden,
                what_is_not_acknowledged_comes_back,
                a_released_message_is_back_at_once,
                extended_work_stays_hidden,
                a_stale_receipt_takes_nothing_away,
                a_made_up_receipt_is_refused,
                a_poisoned_message_becomes_a_dead_letter,
                a_redriven_message_begins_anew,
                only_the_chosen_are_redriven,
                any_number_is_sent,
                of_a_batch_only_the_failed_come_back,
                a_delayed_message_waits,
                a_receiver_waits_for_a_message,
                consumers_never_share_a_message,
                queues_are_apart,
                a_body_too_large_is_refused,
                a_group_keeps_its_order,
                a_group_in_work_gives_nothing_more,
                groups_do_not_wait_for_each_other,
                a_released_message_keeps_its_place,
                a_dead_letter_frees_its_group,
                the_same_deduplication_is_sent_once,
                many_in_order_stay_in_order,
            ]
        );
    };
}

/// Makes a test of what queues promise about traces. Apart from [`queues_conformance`], for the emulator of SQS drops the system
/// attributes of a batch, which SQS itself keeps.
#[macro_export]
macro_rules! queue_traces_conformance {
    ($fresh:expr) => {
        $crate::promises!(queues, $fresh, [a_trace_travels_with_its_message]);
    };
}

/// After so many receives a message becomes a dead letter, in every queue under test.
pub const MAX_RECEIVES: u32 = 3;

pub(super) type Store = Arc<dyn Queue>;

/// A queue without order.
pub(super) const PLAIN: QueueName = QueueName::Profile;
/// Long enough to finish a test in.
pub(super) const LONG: Duration = Duration::from_mins(1);
/// Seconds are the grain of the cloud's queues.
pub(super) const SHORT: Duration = Duration::from_secs(1);
/// Longer than [`SHORT`] on a busy machine, still bounded.
pub(super) const PATIENCE: Duration = Duration::from_secs(6);
const AT_ONCE: Duration = Duration::ZERO;

pub(super) fn message(body: &str) -> Outgoing {
    Outgoing { body: body.to_owned(), ..Outgoing::default() }
}

pub(super) async fn send(store: &Store, queue: QueueName, messages: Vec<Outgoing>) {
    store.send(queue, messages).await.expect("sending works");
}

/// Receives until `count` messages are there or nothing more comes.
pub(super) async fn receive(store: &Store, queue: QueueName, count: usize, visibility: Duration) -> Vec<Received> {
    let mut received = Vec::new();
    while received.len() < count {
        let wanted = (count - received.len()).min(10);
        let batch = store.receive(queue, wanted, visibility, PATIENCE).await.expect("receiving works");
        assert!(batch.len() <= wanted);
        if batch.is_empty() {
            break;
        }
        received.extend(batch);
    }
    received
}

pub(super) async fn receive_one(store: &Store, queue: QueueName, visibility: Duration) -> Received {
    receive(store, queue, 1, visibility).await.pop().expect("a message is there")
}

pub(super) async fn nothing(store: &Store, queue: QueueName) -> bool {
    store.receive(queue, 10, LONG, AT_ONCE).await.expect("receiving works").is_empty()
}

pub(super) async fn acknowledge(store: &Store, queue: QueueName, receipt: &str) {
    store.acknowledge(queue, receipt).await.expect("acknowledging works");
}

pub(super) fn bodies(received: &[Received]) -> Vec<&str> {
    received.iter().map(|message| message.body.as_str()).collect()
}

/// Body intact, counted once.
pub async fn a_message_is_received_as_it_was_sent(store: Store) {
    let body = "{\"name\":\"Größe 漢字 🦀\",\"quote\":\"<&>\\\"\",\"lines\":\"a\\nb\"}";
    send(&store, PLAIN, vec![message(body)]).await;
    let received = receive_one(&store, PLAIN, LONG).await;
    assert_eq!((received.body.as_str(), received.receive_count, received.group), (body, 1, None));
    assert!(!received.id.is_empty() && !received.receipt.is_empty());
}

/// And acknowledging it again harms nothing.
pub async fn an_acknowledged_message_is_gone(store: Store) {
    send(&store, PLAIN, vec![message("1")]).await;
    let received = receive_one(&store, PLAIN, SHORT).await;
    acknowledge(&store, PLAIN, &received.receipt).await;
    let again = store.acknowledge(PLAIN, &received.receipt).await;
    assert!(matches!(again, Ok(()) | Err(QueueError::Receipt)), "{again:?}");
    tokio::time::sleep(SHORT * 2).await;
    assert!(nothing(&store, PLAIN).await);
    assert!(store.dead_letters(PLAIN, 10).await.expect("dead letters").is_empty());
}

/// For the whole of its visibility.
pub async fn a_message_in_work_is_hidden(store: Store) {
    send(&store, PLAIN, vec![message("1")]).await;
    receive_one(&store, PLAIN, LONG).await;
    let begun = Instant::now();
    while begun.elapsed() < SHORT * 2 {
        assert!(nothing(&store, PLAIN).await);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// With its count, under its id, with another receipt.
pub async fn what_is_not_acknowledged_comes_back(store: Store) {
    send(&store, PLAIN, vec![message("1")]).await;
    let first = receive_one(&store, PLAIN, SHORT).await;
    let second = receive_one(&store, PLAIN, LONG).await;
    assert_eq!((second.id, second.receive_count, second.body.as_str()), (first.id, 2, "1"));
    assert_ne!(second.receipt, first.receipt);
    acknowledge(&store, PLAIN, &second.receipt).await;
}

/// Long before its visibility would have ended.
pub async fn a_released_message_is_back_at_once(store: Store) {
    send(&store, PLAIN, vec![message("1")]).await;
    let first = receive_one(&store, PLAIN, LONG).await;
    store.change_visibility(PLAIN, &first.receipt, AT_ONCE).await.expect("releasing works");
    let second = receive_one(&store, PLAIN, LONG).await;
    assert_eq!((second.id, second.receive_count), (first.id, 2));
}

/// Past the visibility it was received with.
pub async fn extended_work_stays_hidden(store: Store) {
    send(&store, PLAIN, vec![message("1")]).await;
    let first = receive_one(&store, PLAIN, SHORT * 2).await;
    store.change_visibility(PLAIN, &first.receipt, LONG).await.expect("extending works");
    tokio::time::sleep(SHORT * 3).await;
    assert!(nothing(&store, PLAIN).await);
    acknowledge(&store, PLAIN, &first.receipt).await;
}

/// Whoever lost a message to another cannot acknowledge it in the other's place.
pub async fn a_stale_receipt_takes_nothing_away(store: Store) {
    send(&store, PLAIN, vec![message("1")]).await;
    let lost = receive_one(&store, PLAIN, SHORT).await;
    let held = receive_one(&store, PLAIN, SHORT * 2).await;
    let stale = store.acknowledge(PLAIN, &lost.receipt).await;
    assert!(matches!(stale, Ok(()) | Err(QueueError::Receipt)), "{stale:?}");
    let back = receive_one(&store, PLAIN, LONG).await;
    assert_eq!((back.id, back.receive_count), (held.id, 3));
}

/// As no longer valid, not as a fault of the store.
pub async fn a_made_up_receipt_is_refused(store: Store) {
    assert!(matches!(store.acknowledge(PLAIN, "made up").await, Err(QueueError::Receipt)));
    assert!(matches!(store.change_visibility(PLAIN, "made up", LONG).await, Err(QueueError::Receipt)));
}

async fn poison(store: &Store, queue: QueueName, body: &str) {
    for count in 1..=MAX_RECEIVES {
        let received = receive_one(store, queue, LONG).await;
        assert_eq!((received.body.as_str(), received.receive_count), (body, count));
        store.change_visibility(queue, &received.receipt, AT_ONCE).await.expect("releasing works");
    }
}

/// Received as often as allowed and given up; looking at it leaves it there.
pub async fn a_poisoned_message_becomes_a_dead_letter(store: Store) {
    send(&store, PLAIN, vec![message("poison")]).await;
    poison(&store, PLAIN, "poison").await;
    assert!(nothing(&store, PLAIN).await);
    for _ in 0..2 {
        let dead = store.dead_letters(PLAIN, 10).await.expect("dead letters");
        assert_eq!(dead.iter().map(|letter| letter.body.as_str()).collect::<Vec<_>>(), ["poison"]);
    }
}

/// Counted from one again, and no longer dead.
pub async fn a_redriven_message_begins_anew(store: Store) {
    send(&store, PLAIN, vec![message("1"), message("2")]).await;
    for _ in 0..MAX_RECEIVES {
        for received in receive(&store, PLAIN, 2, LONG).await {
            store.change_visibility(PLAIN, &received.receipt, AT_ONCE).await.expect("releasing works");
        }
    }
    assert!(nothing(&store, PLAIN).await);
    assert_eq!(store.redrive(PLAIN, 1, &|_| true).await.expect("redrive"), 1);
    let back = receive_one(&store, PLAIN, LONG).await;
    assert_eq!(back.receive_count, 1);
    acknowledge(&store, PLAIN, &back.receipt).await;
    assert_eq!(store.dead_letters(PLAIN, 10).await.expect("dead letters").len(), 1);
    assert_eq!(store.redrive(PLAIN, 10, &|_| true).await.expect("redrive"), 1);
    assert_eq!(store.redrive(PLAIN, 10, &|_| true).await.expect("redrive"), 0);
}

/// However many others lie before and between them, which stay and can be looked at at once.
pub async fn only_the_chosen_are_redriven(store: Store) {
    send(&store, PLAIN, (0..24).map(|n| message(&n.to_string())).collect()).await;
    for _ in 0..MAX_RECEIVES {
        for received in receive(&store, PLAIN, 24, LONG).await {
            store.change_visibility(PLAIN, &received.receipt, AT_ONCE).await.expect("releasing works");
        }
    }
    assert!(nothing(&store, PLAIN).await);
    let eighth = |letter: &DeadLetter| letter.body.parse::<u32>().is_ok_and(|n| n % 8 == 7);
    assert_eq!(store.redrive(PLAIN, 2, &eighth).await.expect("redrive"), 2, "no more than asked for");
    assert_eq!(store.redrive(PLAIN, 10, &eighth).await.expect("redrive"), 1);
    assert_eq!(store.redrive(PLAIN, 10, &eighth).await.expect("redrive"), 0);
    let back: BTreeSet<String> = receive(&store, PLAIN, 3, LONG).await.into_iter().map(|message| message.body).collect();
    assert_eq!(back, BTreeSet::from(["7", "15", "23"].map(str::to_owned)));
    let left = store.dead_letters(PLAIN, 100).await.expect("dead letters");
    assert!(left.len() == 21 && !left.iter().any(eighth), "{left:?}");
}

/// More than a request may carry, and none at all.
pub async fn any_number_is_sent(store: Store) {
    send(&store, PLAIN, Vec::new()).await;
    send(&store, PLAIN, (0..25).map(|n| message(&n.to_string())).collect()).await;
    let received = receive(&store, PLAIN, 25, LONG).await;
    let distinct: BTreeSet<&str> = bodies(&received).into_iter().collect();
    assert_eq!((received.len(), distinct.len()), (25, 25));
    assert!(nothing(&store, PLAIN).await);
}

/// Also through the dead letters; a message without one has none.
pub async fn a_trace_travels_with_its_message(store: Store) {
    let trace = quarry_model::Trace::named("a test");
    send(&store, PLAIN, vec![Outgoing { trace: Some(trace), ..message("traced") }]).await;
    for _ in 0..MAX_RECEIVES {
        let received = receive_one(&store, PLAIN, LONG).await;
        assert_eq!(received.trace, Some(trace));
        store.change_visibility(PLAIN, &received.receipt, AT_ONCE).await.expect("releasing works");
    }
    assert!(nothing(&store, PLAIN).await);
    assert_eq!(store.redrive(PLAIN, 10, &|_| true).await.expect("redriving works"), 1);
    let received = receive_one(&store, PLAIN, LONG).await;
    assert_eq!(received.trace, Some(trace));
    acknowledge(&store, PLAIN, &received.receipt).await;
    send(&store, PLAIN, vec![message("plain")]).await;
    assert_eq!(receive_one(&store, PLAIN, LONG).await.trace, None);
}

/// Nine of ten succeed; the tenth is back, alone.
pub async fn of_a_batch_only_the_failed_come_back(store: Store) {
    send(&store, PLAIN, (0..10).map(|n| message(&n.to_string())).collect()).await;
    let received = receive(&store, PLAIN, 10, SHORT * 3).await;
    assert_eq!(received.len(), 10);
    for message in received.iter().filter(|message| message.body != "7") {
        acknowledge(&store, PLAIN, &message.receipt).await;
    }
    let back = receive(&store, PLAIN, 10, LONG).await;
    assert_eq!((bodies(&back), back[0].receive_count), (vec!["7"], 2));
}

/// And comes when its time is over.
pub async fn a_delayed_message_waits(store: Store) {
    let begun = Instant::now();
    send(&store, PLAIN, vec![Outgoing { delay: SHORT * 2, ..message("later") }]).await;
    assert!(nothing(&store, PLAIN).await);
    let received = receive_one(&store, PLAIN, LONG).await;
    assert_eq!(received.body, "later");
    assert!(begun.elapsed() >= SHORT * 3 / 2, "{:?}", begun.elapsed());
}

/// It is woken when one is sent, and returns with nothing when none is.
pub async fn a_receiver_waits_for_a_message(store: Store) {
    let sender = Arc::clone(&store);
    let begun = Instant::now();
    let sending = tokio::spawn(async move {
        tokio::time::sleep(SHORT / 2).await;
        send(&sender, PLAIN, vec![message("1")]).await;
    });
    let received = store.receive(PLAIN, 10, LONG, SHORT * 10).await.expect("receiving works");
    assert_eq!(bodies(&received), ["1"]);
    assert!(begun.elapsed() < SHORT * 5, "woken after {:?}", begun.elapsed());
    sending.await.expect("no panic");
    let begun = Instant::now();
    assert!(store.receive(PLAIN, 10, LONG, SHORT).await.expect("receiving works").is_empty());
    assert!(begun.elapsed() >= SHORT * 9 / 10, "{:?}", begun.elapsed());
}

/// Four of them, sixty messages: each goes to one.
pub async fn consumers_never_share_a_message(store: Store) {
    send(&store, PLAIN, (0..60).map(|n| message(&n.to_string())).collect()).await;
    let mut consumers = Vec::new();
    for _ in 0..4 {
        let store = Arc::clone(&store);
        consumers.push(tokio::spawn(async move {
            let mut taken = Vec::new();
            loop {
                let batch = store.receive(PLAIN, 7, LONG, SHORT).await.expect("receiving works");
                if batch.is_empty() {
                    return taken;
                }
                taken.extend(batch.into_iter().map(|message| message.body));
            }
        }));
    }
    let mut all = Vec::new();
    for consumer in consumers {
        all.extend(consumer.await.expect("no panic"));
    }
    let distinct: BTreeSet<&String> = all.iter().collect();
    assert_eq!((all.len(), distinct.len()), (60, 60));
}

/// Each has its own messages and dead letters.
pub async fn queues_are_apart(store: Store) {
    let parse = QueueName::Parse(Family::Docx);
    send(&store, PLAIN, vec![message("profile")]).await;
    send(&store, parse, vec![message("parse")]).await;
    assert_eq!(bodies(&receive(&store, parse, 1, LONG).await), ["parse"]);
    assert!(nothing(&store, parse).await);
    let other = receive_one(&store, PLAIN, LONG).await;
    assert_eq!(other.body, "profile");
    let wrong = store.acknowledge(parse, &other.receipt).await;
    assert!(matches!(wrong, Ok(()) | Err(QueueError::Receipt)), "{wrong:?}");
}

/// At once and by its size; what just fits is sent.
pub async fn a_body_too_large_is_refused(store: Store) {
    let refused = store.send(PLAIN, vec![message(&"x".repeat(MAX_MESSAGE_BYTES + 1))]).await;
    assert!(matches!(refused, Err(QueueError::TooLarge(size)) if size == MAX_MESSAGE_BYTES + 1));
    let large = "é".repeat(MAX_MESSAGE_BYTES / 2);
    send(&store, PLAIN, vec![message(&large), message(&large)]).await;
    let received = receive(&store, PLAIN, 2, LONG).await;
    assert!(received.len() == 2 && received.iter().all(|message| message.body == large));
}
