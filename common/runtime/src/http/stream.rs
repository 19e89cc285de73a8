//! Server-sent events: progress while work goes on, a heartbeat when nothing moves, exactly one terminal event.
//!
//! What can fail before the work begins fails as a plain answer with its true status, before the stream. A client that
//! leaves drops the stream, and with it the work.

use std::convert::Infallible;
use std::pin::Pin;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, header};
use quarry_model::{ApiError, SCHEMA_VERSION};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior, interval_at};

use super::shell::RequestId;
use crate::random;

/// Silence after which a heartbeat is sent: below the idle limits of common proxies.
pub const HEARTBEAT: Duration = Duration::from_secs(15);

/// Put among a request's extensions where answers leave whole, as behind a gateway that buffers: no stream is begun.
#[derive(Debug, Clone, Copy)]
pub struct Buffered;

/// Whether the caller wants, and can have, events. Without them the same route answers plain JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantsEvents(pub bool);

impl<S: Send + Sync> FromRequestParts<S> for WantsEvents {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        if parts.extensions.get::<Buffered>().is_some() {
            return Ok(Self(false));
        }
        let accept = parts.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or("*/*").to_ascii_lowercase();
        Ok(Self(["text/event-stream", "text/*", "*/*"].iter().any(|kind| accept.contains(kind))))
    }
}

/// Tells the client how the work goes.
#[derive(Debug, Clone)]
pub struct Teller(mpsc::UnboundedSender<Map<String, Value>>);

impl Teller {
    /// Sends a `progress` event with these fields. After the client has left nobody hears it.
    pub fn tell(&self, fields: Map<String, Value>) {
        // Nobody listens any more: the work is about to be dropped.
        let _ = self.0.send(fields);
    }
}

/// How work ends: the fields of the terminal event.
pub type Terminal = Map<String, Value>;

/// A terminal event for work that failed: the same error as a plain answer would hold.
pub fn failed(error: &ApiError, request: &RequestId) -> Terminal {
    let mut fields = Map::new();
    fields.insert("status".into(), json!("failed"));
    fields.insert("error".into(), error.envelope(&request.0)["error"].clone());
    fields
}

/// Answers with a stream of what `work` tells, ended by what it returns. `prefix` begins the stream's id.
pub fn stream<W>(prefix: &str, heartbeat: Duration, work: impl FnOnce(Teller) -> W) -> Response
where
    W: Future<Output = Terminal> + Send + 'static,
{
    let (send, receive) = mpsc::unbounded_channel();
    let mut beat = interval_at(tokio::time::Instant::now() + heartbeat, heartbeat);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let id = random::token().map_or_else(|_| "unknown".to_owned(), |token| token.chars().take(12).collect());
    let state = State {
        frames: Frames { id: format!("{prefix}_{id}"), began: Instant::now(), sequence: 0 },
        work: Box::pin(work(Teller(send))),
        told: receive,
        beat,
        result: None,
        over: false,
    };
    let frames = futures::stream::unfold(state, |mut state| async move {
        let frame = state.next().await?;
        Some((Ok::<_, Infallible>(frame), state))
    });
    let mut response = Body::from_stream(frames).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

struct State {
    frames: Frames,
    work: Pin<Box<dyn Future<Output = Terminal> + Send>>,
    told: mpsc::UnboundedReceiver<Map<String, Value>>,
    beat: Interval,
    /// What the work returned, while there is still something told to be sent.
    result: Option<Terminal>,
    over: bool,
}

impl State {
    async fn next(&mut self) -> Option<Bytes> {
        if self.over {
            return None;
        }
        if self.result.is_none() {
            tokio::select! {
                biased;
                Some(fields) = self.told.recv() => return Some(self.progress(fields)),
                result = &mut self.work => self.result = Some(result),
                _ = self.beat.tick() => return Some(self.frames.frame("heartbeat", Map::new())),
            }
        }
        // What was told before the end is sent before the end.
        if let Ok(fields) = self.told.try_recv() {
            return Some(self.progress(fields));
        }
        self.over = true;
        let terminal = self.result.take().unwrap_or_default();
        Some(self.frames.frame("terminal", terminal))
    }

    fn progress(&mut self, fields: Map<String, Value>) -> Bytes {
        self.beat.reset();
        self.frames.frame("progress", fields)
    }
}

struct Frames {
    id: String,
    began: Instant,
    sequence: u64,
}

impl Frames {
    fn frame(&mut self, event: &str, fields: Map<String, Value>) -> Bytes {
        self.sequence += 1;
        let mut data = Map::new();
        data.insert("schema_version".into(), json!(SCHEMA_VERSION));
        data.insert("stream_id".into(), json!(self.id));
        data.insert("sequence".into(), json!(self.sequence));
        data.insert("elapsed_ms".into(), json!(self.began.elapsed().as_millis() as u64));
        data.extend(fields);
        Bytes::from(format!("id: {}\nevent: {event}\ndata: {}\n\n", self.sequence, Value::Object(data)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt as _;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn fields(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    async fn events(response: Response) -> Vec<(String, Value)> {
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let frame = |frame: &str| {
            let line = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)).unwrap().to_owned();
            (line("event: "), serde_json::from_str(&line("data: ")).unwrap())
        };
        text.split_terminator("\n\n").map(frame).collect()
    }

    #[tokio::test]
    async fn progress_then_one_terminal() {
        let response = stream("tst", HEARTBEAT, |teller| async move {
            teller.tell(fields(json!({ "phase": "started" })));
            tokio::task::yield_now().await;
            teller.tell(fields(json!({ "phase": "finalizing", "text": "line\nbreak" })));
            fields(json!({ "status": "completed" }))
        });
        assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
        let events = events(response).await;
        let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["progress", "progress", "terminal"]);
        assert_eq!(events[1].1["text"], "line\nbreak");
        assert!(events.iter().enumerate().all(|(at, (_, data))| data["sequence"] == at as u64 + 1 && data["schema_version"] == 1));
        assert!(events.iter().all(|(_, data)| data["stream_id"] == events[0].1["stream_id"]));
    }

    #[tokio::test]
    async fn silence_is_filled_with_heartbeats() {
        let response = stream("tst", Duration::from_millis(20), |_teller| async {
            tokio::time::sleep(Duration::from_millis(110)).await;
            fields(json!({ "status": "completed" }))
        });
        let events = events(response).await;
        let beats = events.iter().filter(|(name, _)| name == "heartbeat").count();
        assert!((2..=5).contains(&beats), "{events:?}");
        assert_eq!(events.iter().filter(|(name, _)| name == "terminal").count(), 1);
        assert_eq!(events.last().unwrap().0, "terminal");
    }

    #[tokio::test]
    async fn who_leaves_ends_the_work() {
        struct Flag(Arc<AtomicBool>);
        impl Drop for Flag {
            fn drop(&mut self) {
                self.0.store(true, Ordering::SeqCst);
            }
        }
        let dropped = Arc::new(AtomicBool::new(false));
        let flag = Flag(dropped.clone());
        let response = stream("tst", HEARTBEAT, |_teller| async move {
            let _flag = flag;
            std::future::pending::<Terminal>().await
        });
        drop(response);
        assert!(dropped.load(Ordering::SeqCst));
    }
}
