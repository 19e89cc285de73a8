//! The call, and what is done when it fails: another key, another try, all within one time limit.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use quarry_ports::{Completion, Model, ModelError, Prompt, Task};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, redirect};

use crate::answer::{Answer, Progress};
use crate::config::{ConfigError, ModelsConfig, TaskConfig};
use crate::events::Events;
use crate::pool::{Pool, REST, Token};
use crate::request::{self, Dialect};
use crate::secret::{Secret, redacted};

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// Tries of one question at a server that fails.
const TRIES: u32 = 3;
/// Wait before the second try; doubled before each further one.
const BACK_OFF: Duration = Duration::from_millis(200);
/// Largest body that is not streamed, and largest message of a failure that is read.
const BODY_BYTES: usize = 8 << 20;
const FAILURE_BYTES: usize = 16 << 10;

/// Models behind servers that speak `/chat/completions`.
#[derive(Debug)]
pub struct HttpModel {
    client: Client,
    tasks: BTreeMap<Task, Line>,
}

/// What one task needs.
#[derive(Debug)]
struct Line {
    address: String,
    model: String,
    pool: Pool,
    dialect: Arc<Dialect>,
}

/// How one call failed.
enum Fault {
    /// The key was told to wait.
    Throttled(Option<Duration>),
    /// The key is not taken.
    Denied(ModelError),
    /// The server did not understand a parameter, and will be asked otherwise.
    Otherwise,
    /// The server failed; it may not the next time.
    Failing(String),
    /// It would fail again.
    Final(ModelError),
}

impl HttpModel {
    /// A client for the tasks of `config`. Nothing is called yet.
    pub fn new(config: ModelsConfig) -> Result<Self, ConfigError> {
        let client = Client::builder()
            .user_agent(concat!("quarry/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            // A redirect would carry the key and the document elsewhere.
            .redirect(redirect::Policy::none())
            .build()
            .map_err(ConfigError::Client)?;
        // A key has one window however many tasks use it; a server one dialect for each of its models.
        let mut tokens: BTreeMap<(String, Secret), Arc<Token>> = BTreeMap::new();
        let mut dialects: BTreeMap<(String, String), Arc<Dialect>> = BTreeMap::new();
        let mut tasks = BTreeMap::new();
        for (task, TaskConfig { base_url, model, keys, rpm }) in config.tasks {
            let dialect = dialects.entry((base_url.clone(), model.clone())).or_default().clone();
            let shared = keys.into_iter().map(|key| {
                let token = tokens.entry((base_url.clone(), key.clone()));
                token.or_insert_with(|| Arc::new(Token::new(key))).clone()
            });
            let pool = Pool::new(shared.collect(), rpm);
            tasks.insert(task, Line { address: format!("{base_url}/chat/completions"), model, pool, dialect });
        }
        Ok(Self { client, tasks })
    }

    /// Asks until there is an answer, a failure that stays, or no time.
    async fn ask(&self, line: &Line, prompt: &Prompt, until: Instant) -> Result<Completion, ModelError> {
        let mut denied: Vec<&Secret> = Vec::new();
        let mut denial = None;
        let mut failures = 0_u32;
        loop {
            let token = match line.pool.take(&denied, Instant::now()) {
                Ok(token) => token,
                // Every key was tried, and none is taken.
                Err(None) => return Err(denial.unwrap_or(ModelError::Throttled(REST))),
                Err(Some(wait)) if wait < until.saturating_duration_since(Instant::now()) => {
                    tokio::time::sleep(wait).await;
                    continue;
                }
                Err(Some(wait)) => return Err(ModelError::Throttled(wait)),
            };
            match self.call(line, token, prompt).await {
                Ok(completion) => return Ok(completion),
                Err(Fault::Throttled(wait)) => token.rest(wait, Instant::now()),
                Err(Fault::Denied(error)) => {
                    denied.push(&token.key);
                    denial = Some(error);
                }
                Err(Fault::Otherwise) => {}
                Err(Fault::Final(error)) => return Err(error),
                Err(Fault::Failing(cause)) => {
                    failures = failures.saturating_add(1);
                    let wait = BACK_OFF.saturating_mul(1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX));
                    if failures >= TRIES || wait >= until.saturating_duration_since(Instant::now()) {
                        return Err(ModelError::Unavailable(cause));
                    }
                    tokio::time::sleep(wait).await;
                }
            }
        }
    }

    async fn call(&self, line: &Line, token: &Token, prompt: &Prompt) -> Result<Completion, Fault> {
        let mut bearer = HeaderValue::try_from(format!("Bearer {}", token.key.expose()))
            .map_err(|_| Fault::Final(ModelError::Refused { status: 0, message: "the key is no header value".to_owned() }))?;
        bearer.set_sensitive(true);
        let request = self.client.post(&line.address).header(AUTHORIZATION, bearer).header(ACCEPT, "text/event-stream, application/json");
        let response =
            request.json(&request::body(&line.model, prompt, &line.dialect)).send().await.map_err(|error| line.broken(&error))?;
        if response.status().is_success() { line.read(response, prompt).await } else { Err(line.failure(response).await) }
    }
}

impl Line {
    async fn read(&self, mut response: Response, prompt: &Prompt) -> Result<Completion, Fault> {
        let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let streams = kind.starts_with("text/event-stream");
        let mut answer = Answer::new(prompt);
        let (mut events, mut body) = (Events::default(), Vec::new());
        'reading: while let Some(bytes) = response.chunk().await.map_err(|error| self.broken(&error))? {
            if !streams {
                body.extend_from_slice(&bytes);
                if body.len() > BODY_BYTES {
                    return Err(Fault::Final(ModelError::Unreadable("the body is too long")));
                }
                continue;
            }
            let lines = events.push(&bytes).map_err(|_| Fault::Final(ModelError::Unreadable("a line is too long")))?;
            for data in lines {
                if self.taken(answer.event(&data))? {
                    break 'reading;
                }
            }
        }
        if !streams {
            self.taken(answer.whole(&body))?;
        }
        // The connection ended before the answer did.
        if !answer.is_whole() {
            return Err(Fault::Failing("the answer broke off".to_owned()));
        }
        answer.finish().map_err(Fault::Final)
    }

    /// Whether there is nothing more to be read.
    fn taken(&self, progress: Result<Progress, ModelError>) -> Result<bool, Fault> {
        match progress.map_err(Fault::Final)? {
            Progress::More => Ok(false),
            Progress::Full => Ok(true),
            Progress::Failed(said) => Err(Fault::Failing(redacted(&said, self.pool.keys()))),
        }
    }

    async fn failure(&self, mut response: Response) -> Fault {
        let status = response.status();
        let wait = retry_after(&response);
        let mut body = Vec::new();
        while let Ok(Some(bytes)) = response.chunk().await {
            body.extend_from_slice(&bytes);
            if body.len() > FAILURE_BYTES {
                body.truncate(FAILURE_BYTES);
                break;
            }
        }
        let said = message(&body);
        let short = redacted(&said, self.pool.keys());
        let refused = ModelError::Refused { status: status.as_u16(), message: short.clone() };
        match status {
            StatusCode::TOO_MANY_REQUESTS => Fault::Throttled(wait),
            // 408 and 409 are a gateway's, 425 a connection's: none is about the question.
            StatusCode::REQUEST_TIMEOUT | StatusCode::CONFLICT | StatusCode::TOO_EARLY => Fault::Failing(format!("{status}: {short}")),
            StatusCode::UNAUTHORIZED | StatusCode::PAYMENT_REQUIRED | StatusCode::FORBIDDEN => Fault::Denied(refused),
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY if self.dialect.learn(&said) => Fault::Otherwise,
            _ if status.is_server_error() => Fault::Failing(format!("{status}: {short}")),
            _ => Fault::Final(refused),
        }
    }

    /// The cause in one line; addresses are the operator's own, and hold no key.
    fn broken(&self, error: &reqwest::Error) -> Fault {
        let mut cause = error.to_string();
        let mut source = std::error::Error::source(error);
        while let Some(deeper) = source {
            cause = format!("{cause}: {deeper}");
            source = deeper.source();
        }
        Fault::Failing(redacted(&cause, self.pool.keys()))
    }
}

/// Seconds, or a date.
fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
    let wait = at.as_millisecond().saturating_sub(jiff::Timestamp::now().as_millisecond());
    Some(Duration::from_millis(u64::try_from(wait).unwrap_or(0)))
}

/// `error.message`, or the body itself.
fn message(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let parsed: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    let said = parsed.as_ref().and_then(|body| body.pointer("/error/message")).and_then(|message| message.as_str());
    said.map_or_else(|| text.trim().to_owned(), str::to_owned)
}

#[async_trait]
impl Model for HttpModel {
    fn name(&self, task: Task) -> Option<&str> {
        self.tasks.get(&task).map(|line| line.model.as_str())
    }

    async fn complete(&self, prompt: &Prompt) -> Result<Completion, ModelError> {
        let line = self.tasks.get(&prompt.task).ok_or(ModelError::NotConfigured(prompt.task))?;
        let began = Instant::now();
        let Some(until) = began.checked_add(prompt.time_limit) else { return Err(ModelError::TimedOut(prompt.time_limit)) };
        let answer = tokio::time::timeout(prompt.time_limit, self.ask(line, prompt, until)).await;
        let answer = answer.unwrap_or(Err(ModelError::TimedOut(prompt.time_limit)));
        let (task, milliseconds) = (prompt.task.name(), began.elapsed().as_millis() as u64);
        match &answer {
            Ok(Completion { usage, .. }) => {
                tracing::debug!(target: "quarry::models", task, model = line.model, milliseconds, prompt_tokens = usage.prompt, completion_tokens = usage.completion, "answered");
            }
            // The name alone: what a server says may repeat what it was asked.
            Err(error) => {
                tracing::warn!(target: "quarry::models", task, model = line.model, milliseconds, error = error.name(), "no answer");
            }
        }
        answer
    }
}
