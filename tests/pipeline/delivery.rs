//! Doubled, shuffled and overtaken events.

use crate::bench::Bench;

/// Twenty documents in three formats; `version` makes their second revisions.
fn documents(version: u32) -> Vec<(String, String)> {
    (0..20)
        .map(|n| {
            let body = format!("The gate number {n} opens at {} o'clock. It is made of oak and closes by itself.", 5 + version);
            match n % 3 {
                0 => (format!("inbox/default/gate-{n}.md"), format!("# Gate {n}\n\n{body}\n")),
                1 => (
                    format!("inbox/default/gate-{n}.html"),
                    format!("<!DOCTYPE html><html><body><h1>Gate {n}</h1><p>{body}</p></body></html>"),
                ),
                _ => (format!("inbox/default/gate-{n}.txt"), format!("Gate {n}\n\n{body}\n")),
            }
        })
        .collect()
}

struct Event {
    key: String,
    size: u64,
    etag: String,
    sequencer: String,
}

/// A fixed sequence of numbers that looks like chance: xorshift64.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).expect("small")
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// Every event of this many copies, given by `order`; all objects hold their final content, as a bucket's do once the
/// events are late.
async fn run(copies: usize, order: impl Fn(&mut Vec<Event>)) -> std::collections::BTreeMap<String, String> {
    let bench = Bench::new();
    let mut events = Vec::new();
    for (key, content) in documents(1) {
        let (size, etag) = bench.put(&key, content).await;
        for _ in 0..copies {
            events.push(Event { key: key.clone(), size, etag: etag.clone(), sequencer: "0A".into() });
        }
    }
    order(&mut events);
    for event in &events {
        bench.notify(&event.key, event.size, &event.etag, &event.sequencer).await;
    }
    bench.drain().await;
    bench.state().await
}

#[tokio::test]
async fn five_deliveries_are_one() {
    let once = run(1, |_| {}).await;
    assert_eq!(once["counts"].split(' ').next(), Some("20"));
    assert_eq!(once, run(5, |_| {}).await);
}

#[tokio::test]
async fn a_hundred_events_doubled_and_shuffled() {
    let once = run(1, |_| {}).await;
    for seed in [1, 7, 42] {
        let shuffled = run(5, |events| {
            let mut chance = Chance(seed);
            chance.shuffle(events);
        })
        .await;
        assert_eq!(once, shuffled, "seed {seed}");
    }
}

#[tokio::test]
async fn a_late_old_event_changes_nothing() {
    let bench = Bench::new();
    let key = "inbox/default/gate.md";
    let (old_size, old_etag) = bench.put(key, "# Gate\n\nThe gate opens at five, and this first text is longer than the second.\n").await;
    bench.notify(key, old_size, &old_etag, "01").await;
    bench.drain().await;
    let (size, etag) = bench.put(key, "# Gate\n\nThe gate opens at six.\n").await;
    bench.notify(key, size, &etag, "02").await;
    bench.drain().await;
    let counts = bench.state().await["counts"].clone();
    let splits = bench.state().await["splits"].clone();
    bench.notify(key, old_size, &old_etag, "01").await;
    bench.drain().await;
    let after = bench.state().await;
    assert_eq!((&after["counts"], &after["splits"]), (&counts, &splits));
    assert!(after.values().any(|value| value.contains("opens at six")));
    assert!(!after.iter().any(|(key, value)| key.starts_with("REV#") && value.contains("opens at five")), "no stale chunk");
}
