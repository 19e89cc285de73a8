//! The body of a call.

use std::sync::atomic::{AtomicBool, Ordering};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use quarry_ports::{AnswerForm, Part, Prompt};
use serde_json::{Value, json};

/// What one server does not understand of what most understand; learnt from its refusals and kept as long as we run.
#[derive(Debug, Default)]
pub(crate) struct Dialect {
    /// It wants `max_completion_tokens` for `max_tokens`.
    completion_limit: AtomicBool,
    no_temperature: AtomicBool,
    no_usage: AtomicBool,
    no_json_mode: AtomicBool,
}

impl Dialect {
    /// Learns from a refusal (400, 422). True when the next try will be put otherwise than this one was.
    pub(crate) fn learn(&self, message: &str) -> bool {
        let habits = [
            ("max_tokens", &self.completion_limit),
            ("temperature", &self.no_temperature),
            ("stream_options", &self.no_usage),
            ("response_format", &self.no_json_mode),
        ];
        let named = habits.into_iter().filter(|(parameter, _)| message.contains(parameter));
        named.fold(false, |learnt, (_, habit)| !habit.swap(true, Ordering::Relaxed) || learnt)
    }
}

/// The body: streamed, so that an answer can be left when it has become too long.
pub(crate) fn body(model: &str, prompt: &Prompt, dialect: &Dialect) -> Value {
    let on = |habit: &AtomicBool| habit.load(Ordering::Relaxed);
    let mut body = json!({
        "model": model,
        "messages": [{ "role": "system", "content": prompt.system() }, { "role": "user", "content": content(prompt) }],
        "stream": true,
    });
    let Some(fields) = body.as_object_mut() else { return body };
    let limit = if on(&dialect.completion_limit) { "max_completion_tokens" } else { "max_tokens" };
    fields.insert(limit.to_owned(), json!(prompt.max_tokens));
    if !on(&dialect.no_temperature) {
        fields.insert("temperature".to_owned(), json!(0));
    }
    if !on(&dialect.no_usage) {
        fields.insert("stream_options".to_owned(), json!({ "include_usage": true }));
    }
    if prompt.form == AnswerForm::Json && !on(&dialect.no_json_mode) {
        fields.insert("response_format".to_owned(), json!({ "type": "json_object" }));
    }
    body
}

fn content(prompt: &Prompt) -> Value {
    let pictures = prompt.parts.iter().filter_map(|part| match part {
        Part::Image { media_type, bytes } => Some(format!("data:{media_type};base64,{}", STANDARD.encode(bytes))),
        Part::Text(_) | Part::Data { .. } => None,
    });
    let pictures: Vec<Value> = pictures.map(|url| json!({ "type": "image_url", "image_url": { "url": url } })).collect();
    let text = prompt.user();
    if pictures.is_empty() {
        return Value::String(text);
    }
    let text = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
    Value::Array(text.into_iter().chain(pictures).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use quarry_ports::Task;

    #[test]
    fn json_mode_and_the_word_json_come_together() {
        let dialect = Dialect::default();
        let prompt = Prompt::new(Task::Planner, "Plan.").say("How high?");
        assert_eq!(body("m", &prompt, &dialect).get("response_format"), None);
        let asked = body("m", &prompt.json(), &dialect);
        assert_eq!(asked["response_format"]["type"], "json_object");
        assert!(asked["messages"].to_string().contains("json"));
    }

    #[test]
    fn pictures_follow_the_text() {
        let prompt = Prompt::new(Task::Image, "Describe.").image("image/png", Bytes::from_static(b"png"));
        let asked = body("m", &prompt, &Dialect::default());
        assert_eq!(asked["messages"][1]["content"], json!([{ "type": "image_url", "image_url": { "url": "data:image/png;base64,cG5n" } }]));
    }

    #[test]
    fn a_server_is_understood_after_one_refusal() {
        let dialect = Dialect::default();
        let refusal = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'. 'temperature' must be 1.";
        assert!(dialect.learn(refusal));
        assert!(!dialect.learn(refusal), "the same refusal again teaches nothing");
        let asked = body("m", &Prompt::new(Task::Planner, "Plan."), &dialect);
        assert_eq!(asked["max_completion_tokens"], 512);
        assert!(asked.get("max_tokens").is_none() && asked.get("temperature").is_none());
    }
}
