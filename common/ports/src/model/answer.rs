//! Reading a JSON answer strictly: what is not an object is no answer.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Completion, ModelError};

/// Longest answer that is looked through, in bytes.
const MOST: usize = 1 << 20;

impl Completion {
    /// The answer as `T`: the text is a JSON object, or holds one in a fence, or holds one; see [`object`].
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ModelError> {
        let value = object(&self.text).ok_or(ModelError::Unreadable("not a JSON object"))?;
        serde_json::from_value(value).map_err(|_| ModelError::Unreadable("a JSON object of another shape"))
    }
}

/// The JSON object of an answer: the whole text, else the content of the first code fence that is one, else the first
/// balanced `{…}` that is one. `None` otherwise; text is never taken for an answer.
pub fn object(text: &str) -> Option<Value> {
    let text = text.trim();
    if text.len() > MOST {
        return None;
    }
    read(text).or_else(|| fences(text).find_map(read)).or_else(|| balanced(text).find_map(read))
}

fn read(text: &str) -> Option<Value> {
    serde_json::from_str::<Value>(text.trim()).ok().filter(Value::is_object)
}

/// The contents of code fences, without their language.
fn fences(text: &str) -> impl Iterator<Item = &str> {
    text.split("```").skip(1).step_by(2).map(|content| {
        let (first, rest) = content.split_once('\n').unwrap_or(("", content));
        if first.trim().chars().all(char::is_alphanumeric) { rest } else { content }
    })
}

/// Outermost `{…}` in order, braces inside strings not counted. One pass: what is inside a balanced piece that does not
/// read is not looked at again.
fn balanced(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text.get(at..)?.find('{')?;
        let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
        for (offset, byte) in text.bytes().enumerate().skip(start) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                b'{' if !quoted => depth += 1,
                b'}' if !quoted => {
                    depth -= 1;
                    if depth == 0 {
                        at = offset + 1;
                        return text.get(start..at);
                    }
                }
                _ => {}
            }
        }
        at = text.len();
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Ended, Usage};
    use serde_json::json;

    #[test]
    fn an_object_is_found_where_models_put_it() {
        let wanted = json!({ "a": [1, "}{"], "b": { "c": "\"" } });
        let plain = wanted.to_string();
        for text in [
            plain.clone(),
            format!("  {plain}\n"),
            format!("```json\n{plain}\n```"),
            format!("Here you are:\n```\n{plain}\n```\nAnything else?"),
            format!("I think {plain} is right. {{\"later\": 1}}"),
            format!("Set {{x}} first. Then {plain}"),
        ] {
            assert_eq!(object(&text), Some(wanted.clone()), "{text}");
        }
    }

    #[test]
    fn anything_else_is_no_answer() {
        for text in ["", "null", "[1]", "{", "{\"a\": }", "finish", "\"{}\" is what I would say{", "``` ```", "{\"a\": 1"] {
            let found = object(text);
            assert!(found.is_none() || found == Some(json!({})), "{text}: {found:?}");
        }
        assert_eq!(object(&"{".repeat(MOST)), None);
        assert_eq!(object(&"{}".repeat(MOST)), None, "too long");
    }

    #[test]
    fn the_shape_is_held_to() {
        #[derive(serde::Deserialize)]
        #[allow(dead_code, reason = "only its shape matters")]
        struct Ids {
            ids: Vec<String>,
        }
        let completion = |text: &str| Completion { text: text.into(), ended: Ended::Complete, usage: Usage::default() };
        assert_eq!(completion("{\"ids\": [\"C1\"]}").parse::<Ids>().unwrap().ids, ["C1"]);
        assert!(matches!(completion("{\"ids\": 3}").parse::<Ids>(), Err(ModelError::Unreadable(_))));
    }
}
