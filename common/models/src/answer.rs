//! From what a server sends to a whole answer: pieces of a stream, or one object.

use quarry_language::tokens;
use quarry_ports::{AnswerForm, Completion, Ended, ModelError, Prompt, Usage};
use serde::Deserialize;

/// The text is counted anew each time it has grown by this many bytes.
const COUNTED_EVERY: usize = 256;

/// One event of a stream, or the whole body: both have this shape, and either `delta` or `message`.
#[derive(Debug, Deserialize)]
struct Body {
    #[serde(default)]
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<ServerUsage>,
    #[serde(default)]
    error: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    #[serde(default, alias = "message")]
    delta: Option<Delta>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Delta {
    #[serde(default)]
    content: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ServerUsage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

/// What a piece did to the answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// There is more to come.
    More,
    /// The answer has all it may have: whatever else comes need not be read.
    Full,
    /// The server failed in the middle and says so.
    Failed(String),
}

/// An answer as it comes in.
#[derive(Debug)]
pub(crate) struct Answer<'p> {
    prompt: &'p Prompt,
    text: String,
    counted: usize,
    usage: Option<Usage>,
    reason: Option<String>,
    /// Cut by us.
    cut: bool,
    /// The stream's own end mark.
    done: bool,
}

impl<'p> Answer<'p> {
    pub(crate) fn new(prompt: &'p Prompt) -> Self {
        Self { prompt, text: String::new(), counted: 0, usage: None, reason: None, cut: false, done: false }
    }

    /// Takes the data of one event.
    pub(crate) fn event(&mut self, data: &str) -> Result<Progress, ModelError> {
        if data == "[DONE]" {
            self.done = true;
            return Ok(Progress::Full);
        }
        self.take(data.as_bytes())
    }

    /// Takes a body that was not streamed.
    pub(crate) fn whole(&mut self, body: &[u8]) -> Result<Progress, ModelError> {
        let progress = self.take(body)?;
        self.done = true;
        Ok(progress)
    }

    fn take(&mut self, json: &[u8]) -> Result<Progress, ModelError> {
        let body: Body = serde_json::from_slice(json).map_err(|_| ModelError::Unreadable("not of the protocol"))?;
        if let Some(error) = body.error.filter(|error| !error.is_null()) {
            return Ok(Progress::Failed(error.to_string()));
        }
        if let Some(usage) = body.usage {
            self.usage = Some(Usage { prompt: usage.prompt_tokens, completion: usage.completion_tokens });
        }
        if let Some(choice) = body.choices.into_iter().next() {
            self.text.push_str(choice.delta.and_then(|delta| delta.content).as_deref().unwrap_or_default());
            self.reason = choice.finish_reason.or(self.reason.take());
        }
        let grown = self.text.len().saturating_sub(self.counted);
        if grown >= COUNTED_EVERY && !self.fits() {
            self.cut = true;
            return Ok(Progress::Full);
        }
        Ok(Progress::More)
    }

    fn fits(&mut self) -> bool {
        self.counted = self.text.len();
        tokens::fits(&self.text, self.prompt.max_tokens)
    }

    /// Whether the server said that this is all.
    pub(crate) fn is_whole(&self) -> bool {
        self.done || self.cut || self.reason.is_some()
    }

    /// The answer, once it [`is_whole`](Self::is_whole).
    pub(crate) fn finish(mut self) -> Result<Completion, ModelError> {
        if !self.fits() {
            self.cut = true;
            let kept = tokens::truncate(&self.text, self.prompt.max_tokens).len();
            self.text.truncate(kept);
        }
        if self.text.trim().is_empty() {
            return Err(ModelError::Unreadable("nothing said"));
        }
        if self.reason.as_deref() == Some("content_filter") {
            return Err(ModelError::Unreadable("withheld by the server's filter"));
        }
        let ended = if self.cut || self.reason.as_deref() == Some("length") { Ended::Length } else { Ended::Complete };
        if ended == Ended::Length && self.prompt.form == AnswerForm::Json {
            return Err(ModelError::Unreadable("cut off at the limit"));
        }
        let usage = self.usage.filter(|usage| usage.prompt > 0).unwrap_or_else(|| Usage {
            prompt: u64::from(tokens::count(&self.prompt.text())).saturating_add(u64::from(Prompt::FRAME_TOKENS)),
            completion: u64::from(tokens::count(&self.text)),
        });
        Ok(Completion { text: self.text, ended, usage })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quarry_ports::Task;
    use serde_json::json;

    fn asked() -> Prompt {
        Prompt { max_tokens: 20, ..Prompt::new(Task::Summary, "Sum up.") }
    }

    fn piece(content: &str) -> String {
        json!({ "choices": [{ "delta": { "content": content } }] }).to_string()
    }

    #[test]
    fn pieces_without_content_add_nothing() {
        let prompt = asked();
        let mut answer = Answer::new(&prompt);
        for data in
            [r#"{"choices":[{"delta":{"role":"assistant"}}]}"#, &piece("a"), r#"{"choices":[{"delta":{"content":null}}]}"#, &piece("b")]
        {
            assert_eq!(answer.event(data).unwrap(), Progress::More);
        }
        assert!(!answer.is_whole());
        answer.event(r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":null}"#).unwrap();
        assert_eq!(answer.event(r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#).unwrap(), Progress::More);
        assert_eq!(answer.event("[DONE]").unwrap(), Progress::Full);
        let completion = answer.finish().unwrap();
        assert_eq!((completion.text.as_str(), completion.usage), ("ab", Usage { prompt: 3, completion: 2 }));
    }

    #[test]
    fn the_limit_holds_by_our_own_count() {
        let prompt = asked();
        let mut answer = Answer::new(&prompt);
        let pieces = (0..1000).take_while(|_| answer.event(&piece("word ")).unwrap() == Progress::More).count();
        assert!(pieces < 100, "{pieces}");
        let completion = answer.finish().unwrap();
        assert_eq!((tokens::count(&completion.text), completion.ended), (20, Ended::Length));
    }

    #[test]
    fn a_failure_in_the_stream_is_one() {
        let prompt = asked();
        let progress = Answer::new(&prompt).event(r#"{"error":{"message":"overloaded"}}"#).unwrap();
        assert!(matches!(progress, Progress::Failed(said) if said.contains("overloaded")));
        let mut answer = Answer::new(&prompt);
        answer.whole(br#"{"choices":[{"message":{"content":"half"},"finish_reason":"content_filter"}]}"#).unwrap();
        assert!(matches!(answer.finish(), Err(ModelError::Unreadable(_))));
    }
}
