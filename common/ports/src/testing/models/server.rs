//! An OpenAI-compatible server on a local port: real HTTP, answers by script, misbehaves on demand. Written on bare
//! sockets, for a well-behaved HTTP library cannot break off in the middle of an answer.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::script::{Asked, Reply, Script};

/// Largest body of a question.
const BODY_BYTES: usize = 64 << 20;

/// The server; it ends when dropped.
#[derive(Debug)]
pub struct ModelServer {
    /// To be used as base address of every task: `http://127.0.0.1:<port>/v1`.
    pub base_url: String,
    accepting: JoinHandle<()>,
}

impl ModelServer {
    /// Starts a server that answers by `script`.
    pub async fn start(script: Arc<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base_url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let accepting = tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                let script = script.clone();
                // A client that leaves in the middle is what some tests are about.
                tokio::spawn(async move { drop(serve(connection, &script).await) });
            }
        });
        Self { base_url, accepting }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// One request per connection: `Connection: close` keeps the server simple.
async fn serve(connection: TcpStream, script: &Script) -> std::io::Result<()> {
    let mut connection = BufReader::new(connection);
    let mut line = String::new();
    connection.read_line(&mut line).await?;
    let right = line.starts_with("POST /v1/chat/completions ");
    let (mut length, mut key) = (0, None);
    loop {
        let mut header = String::new();
        connection.read_line(&mut header).await?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "authorization" => key = value.trim().strip_prefix("Bearer ").map(str::to_owned),
            _ => {}
        }
    }
    let mut body = vec![0; length.min(BODY_BYTES)];
    connection.read_exact(&mut body).await?;
    let connection = connection.get_mut();
    let Some(body) = serde_json::from_slice::<Value>(&body).ok().filter(|_| right) else {
        return status(connection, 404, &[], "no such address").await;
    };
    let streams = body["stream"].as_bool().unwrap_or(false);
    match script.reply(asked(&body, key.clone())) {
        Reply::Says(text) => say(connection, &text, streams).await,
        Reply::Slow(wait, text) => {
            tokio::time::sleep(wait).await;
            say(connection, &text, streams).await
        }
        Reply::Throttles(wait) => {
            let header = wait.map(|wait| ("Retry-After", wait.as_secs().to_string()));
            status(connection, 429, header.as_slice(), "too many requests").await
        }
        // Servers do repeat the key they were given.
        Reply::Fails(code) => {
            let message = format!("it fails, says the script; your key was {}", key.unwrap_or_default());
            status(connection, code, &[], &message).await
        }
        Reply::Null => whole(connection, &json!(null)).await,
        Reply::CutOff(text) => {
            head(connection, 200, "text/event-stream", &[]).await?;
            event(connection, &delta(&json!({ "content": text }), None)).await
        }
        Reply::Noise => {
            head(connection, 200, "application/json", &[]).await?;
            connection.write_all(b"<html>\xff\xfe Bad gateway {{{").await
        }
        Reply::Endless => {
            head(connection, 200, "text/event-stream", &[]).await?;
            loop {
                event(connection, &delta(&json!({ "content": "word " }), None)).await?;
                tokio::task::yield_now().await;
            }
        }
    }
}

fn asked(body: &Value, key: Option<String>) -> Asked {
    let message = |role: &str| body["messages"].as_array().into_iter().flatten().find(|message| message["role"] == role).cloned();
    let text = |message: &Value| match &message["content"] {
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        content => content.as_str().unwrap_or_default().to_owned(),
    };
    let user = message("user").unwrap_or_default();
    let pictures = user["content"].as_array().into_iter().flatten().filter(|part| part["type"] == "image_url");
    Asked {
        model: body["model"].as_str().unwrap_or_default().to_owned(),
        system: message("system").map(|message| text(&message)).unwrap_or_default(),
        user: text(&user),
        images: pictures.count(),
        json: body["response_format"]["type"] == "json_object",
        max_tokens: body["max_tokens"].as_u64().unwrap_or_default() as u32,
        key,
    }
}

async fn head(connection: &mut TcpStream, code: u16, media_type: &str, headers: &[(&str, String)]) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {code} Scripted\r\nConnection: close\r\nContent-Type: {media_type}\r\n");
    for (name, value) in headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    connection.write_all(head.as_bytes()).await
}

async fn status(connection: &mut TcpStream, code: u16, headers: &[(&str, String)], message: &str) -> std::io::Result<()> {
    head(connection, code, "application/json", headers).await?;
    let body = json!({ "error": { "message": message, "type": "scripted" } });
    connection.write_all(body.to_string().as_bytes()).await?;
    connection.shutdown().await
}

async fn whole(connection: &mut TcpStream, content: &Value) -> std::io::Result<()> {
    head(connection, 200, "application/json", &[]).await?;
    let body = json!({ "choices": [{ "index": 0, "message": { "role": "assistant", "content": content }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18 } });
    connection.write_all(body.to_string().as_bytes()).await?;
    connection.shutdown().await
}

/// Whole or in pieces, some of which, as with real servers, hold no content at all.
async fn say(connection: &mut TcpStream, text: &str, streams: bool) -> std::io::Result<()> {
    if !streams {
        return whole(connection, &json!(text)).await;
    }
    head(connection, 200, "text/event-stream", &[]).await?;
    connection.write_all(b": comment\n\n").await?;
    event(connection, &delta(&json!({ "role": "assistant" }), None)).await?;
    event(connection, &delta(&json!({ "content": null }), None)).await?;
    let characters: Vec<char> = text.chars().collect();
    for piece in characters.chunks(7) {
        event(connection, &delta(&json!({ "content": piece.iter().collect::<String>() }), None)).await?;
    }
    event(connection, &delta(&json!({}), Some("stop"))).await?;
    event(connection, &json!({ "choices": [], "usage": { "prompt_tokens": 11, "completion_tokens": 7 } })).await?;
    connection.write_all(b"data: [DONE]\n\n").await?;
    connection.shutdown().await
}

fn delta(delta: &Value, finish: Option<&str>) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] })
}

/// Written in two halves, so that events and characters are torn between packets.
async fn event(connection: &mut TcpStream, value: &Value) -> std::io::Result<()> {
    let line = format!("data: {value}\n\n");
    let (first, second) = line.as_bytes().split_at(line.len() / 2);
    connection.write_all(first).await?;
    connection.flush().await?;
    connection.write_all(second).await?;
    connection.flush().await
}
