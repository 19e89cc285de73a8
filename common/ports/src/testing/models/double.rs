//! A model without a network: answers by script, and keeps the port's promises.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::script::{Asked, Reply, Script};
use crate::model::{AnswerForm, Completion, Ended, Model, ModelError, Part, Prompt, Task, Usage};

/// Wait that a throttled call is told of when the script names none.
const COOL_DOWN: Duration = Duration::from_mins(1);

/// The double. Each task's model is named by the task.
#[derive(Debug)]
pub struct ScriptedModel {
    tasks: BTreeSet<Task>,
    script: Arc<Script>,
}

impl ScriptedModel {
    /// A model for these tasks, answering by `script`.
    pub fn new(tasks: impl IntoIterator<Item = Task>, script: Arc<Script>) -> Self {
        Self { tasks: tasks.into_iter().collect(), script }
    }
}

#[async_trait]
impl Model for ScriptedModel {
    fn name(&self, task: Task) -> Option<&str> {
        self.tasks.contains(&task).then(|| task.name())
    }

    async fn complete(&self, prompt: &Prompt) -> Result<Completion, ModelError> {
        if !self.tasks.contains(&prompt.task) {
            return Err(ModelError::NotConfigured(prompt.task));
        }
        let text = match self.script.reply(asked(prompt)) {
            Reply::Says(text) => text,
            Reply::Slow(wait, text) => {
                tokio::time::sleep(wait.min(prompt.time_limit)).await;
                if wait > prompt.time_limit {
                    return Err(ModelError::TimedOut(prompt.time_limit));
                }
                text
            }
            Reply::Throttles(wait) => return Err(ModelError::Throttled(wait.unwrap_or(COOL_DOWN))),
            Reply::Fails(status @ 400..=499) => return Err(ModelError::Refused { status, message: "scripted".to_owned() }),
            Reply::Fails(status) => return Err(ModelError::Unavailable(format!("status {status}"))),
            Reply::Null => String::new(),
            Reply::CutOff(_) => return Err(ModelError::Unreadable("cut off")),
            Reply::Noise => return Err(ModelError::Unreadable("not of the protocol")),
            Reply::Endless => "word ".repeat(prompt.max_tokens as usize + 1),
        };
        completion(prompt, &text)
    }
}

fn asked(prompt: &Prompt) -> Asked {
    Asked {
        model: prompt.task.name().to_owned(),
        system: prompt.system(),
        user: prompt.user(),
        images: prompt.parts.iter().filter(|part| matches!(part, Part::Image { .. })).count(),
        json: prompt.form == AnswerForm::Json,
        max_tokens: prompt.max_tokens,
        key: None,
    }
}

/// Counts words, not tokens: the double shall need no tokenizer.
fn completion(prompt: &Prompt, text: &str) -> Result<Completion, ModelError> {
    if text.trim().is_empty() {
        return Err(ModelError::Unreadable("nothing said"));
    }
    let max = prompt.max_tokens as usize;
    let words: Vec<&str> = text.split_inclusive(' ').collect();
    let ended = if words.len() > max { Ended::Length } else { Ended::Complete };
    if ended == Ended::Length && prompt.form == AnswerForm::Json {
        return Err(ModelError::Unreadable("cut off at the limit"));
    }
    let prompt_words = prompt.text().split_whitespace().count() as u64;
    let usage = Usage { prompt: prompt_words, completion: words.len().min(max) as u64 };
    Ok(Completion { text: words.into_iter().take(max).collect(), ended, usage })
}
