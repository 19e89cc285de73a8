//! The client over real HTTP, against a server that misbehaves on demand.

use std::sync::Arc;
use std::time::{Duration, Instant};

use quarry_models::{HttpModel, ModelsConfig};
use quarry_ports::testing::models::{Bench, ModelServer, Reply, Script};
use quarry_ports::{ModelError, Prompt, Task};

async fn bench(keys: &str, rpm: &str) -> (Bench, ModelServer) {
    let script = Arc::new(Script::default());
    let server = ModelServer::start(script.clone()).await;
    let get = |name: &str| {
        let (task, part) = name.strip_prefix("QUARRY_")?.split_once('_')?;
        let value = match part {
            "BASE_URL" => server.base_url.clone(),
            "MODEL" => task.to_ascii_lowercase(),
            "KEYS" => keys.to_owned(),
            _ => rpm.to_owned(),
        };
        (task != "CLASSIFY").then_some(value)
    };
    let model = HttpModel::new(ModelsConfig::read(get).expect("a configuration")).expect("a client");
    (Bench { model: Arc::new(model), script }, server)
}

async fn fresh() -> Option<(Bench, ModelServer)> {
    Some(bench("secret-key-one", "1000").await)
}

mod client_keeps {
    quarry_ports::models_conformance!(super::fresh());
}

fn question() -> Prompt {
    Prompt::new(Task::Summary, "Sum up.").say("What is it?").limits(64, Duration::from_secs(5))
}

fn keys(bench: &Bench) -> Vec<String> {
    bench.script.asked().into_iter().filter_map(|asked| asked.key).collect()
}

#[tokio::test]
async fn a_throttled_key_rests_and_the_next_one_answers_in_place() {
    for wait in [None, Some(Duration::from_secs(40))] {
        let (bench, _server) = bench("secret-key-one,secret-key-two", "1000").await;
        bench.script.in_turn([Reply::Throttles(wait), Reply::Says("Pumps.".into())]);
        assert_eq!(bench.model.complete(&question()).await.unwrap().text, "Pumps.");
        assert_eq!(bench.model.complete(&question()).await.unwrap().text, "Pumps.");
        assert_eq!(keys(&bench), ["secret-key-one", "secret-key-two", "secret-key-two"]);
    }
}

#[tokio::test]
async fn a_short_rest_is_waited_for() {
    let (bench, _server) = bench("secret-key-one", "1000").await;
    bench.script.in_turn([Reply::Throttles(Some(Duration::from_secs(1))), Reply::Says("Pumps.".into())]);
    let began = Instant::now();
    assert_eq!(bench.model.complete(&question()).await.unwrap().text, "Pumps.");
    assert!(began.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn a_server_that_stumbles_is_asked_again() {
    let (bench, _server) = bench("secret-key-one", "1000").await;
    bench.script.in_turn([Reply::Fails(503), Reply::CutOff("The".into()), Reply::Says("Pumps.".into())]);
    assert_eq!(bench.model.complete(&question()).await.unwrap().text, "Pumps.");
    assert_eq!(bench.script.asked().len(), 3);
}

#[tokio::test]
async fn windows_belong_to_keys_and_are_shared_by_tasks() {
    let (bench, _server) = bench("secret-key-one,secret-key-two", "1").await;
    bench.script.always(Reply::Says("Pumps.".into()));
    bench.model.complete(&question()).await.unwrap();
    bench.model.complete(&Prompt { task: Task::Planner, ..question() }).await.unwrap();
    let error = bench.model.complete(&question()).await.unwrap_err();
    assert!(matches!(error, ModelError::Throttled(wait) if wait > Duration::from_secs(50)), "{error}");
    assert_eq!(keys(&bench), ["secret-key-one", "secret-key-two"]);
}

#[tokio::test]
async fn a_key_that_is_not_taken_makes_room_for_one_that_is() {
    let (bench, _server) = bench("secret-key-one,secret-key-two", "1000").await;
    bench.script.with(|asked| match asked.key.as_deref() {
        Some("secret-key-two") => Reply::Says("Pumps.".into()),
        _ => Reply::Fails(401),
    });
    for _ in 0..2 {
        assert_eq!(bench.model.complete(&question()).await.unwrap().text, "Pumps.");
    }
    bench.script.always(Reply::Fails(403));
    let error = bench.model.complete(&question()).await.unwrap_err();
    assert!(matches!(error, ModelError::Refused { status: 403, .. }), "{error}");
}

/// The scripted server repeats the key in its message, as real ones do.
#[tokio::test]
async fn no_error_shows_a_key() {
    let (bench, _server) = bench("secret-key-one,secret-key-two", "1000").await;
    for status in [400, 401, 500] {
        bench.script.always(Reply::Fails(status));
        let error = bench.model.complete(&question()).await.unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(shown.contains("[key]") && !shown.contains("secret-key"), "{shown}");
    }
    assert!(!format!("{:?}", ModelsConfig::read(|_| None)).contains("secret"));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let (bench, server) = bench("secret-key-one", "1000").await;
    drop(server);
    tokio::time::sleep(Duration::from_millis(50)).await;
    let error = bench.model.complete(&question()).await.unwrap_err();
    assert!(matches!(error, ModelError::Unavailable(_)), "{error}");
}

#[tokio::test]
async fn leaving_ends_the_call() {
    let (bench, _server) = bench("secret-key-one", "1000").await;
    bench.script.always(Reply::Slow(Duration::from_secs(30), "late".into()));
    let prompt = question();
    let left = tokio::time::timeout(Duration::from_millis(200), bench.model.complete(&prompt)).await;
    assert!(left.is_err());
    bench.script.always(Reply::Says("Pumps.".into()));
    assert_eq!(bench.model.complete(&prompt).await.unwrap().text, "Pumps.", "the client is not stuck");
}
