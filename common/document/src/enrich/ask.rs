//! Several questions at once, counted and bounded in time.

use futures::StreamExt as _;
use quarry_ports::{Completion, ModelError, Prompt, Task};

use super::{AT_ONCE, Work};

/// How a question ended: an answer, or the error's name.
pub(super) type Asked = Result<Completion, &'static str>;

impl Work<'_> {
    /// Asks, a few at a time; the answers in the order of the questions. What time does not suffice for is not asked.
    pub(super) async fn ask(&mut self, task: Task, prompts: Vec<Prompt>) -> Vec<Asked> {
        let (model, this) = (self.model, &*self);
        let calls: Vec<_> = prompts
            .into_iter()
            .map(|prompt| async move {
                let left = this.left();
                if left.is_zero() {
                    return Err("no_time");
                }
                let prompt = Prompt { time_limit: prompt.time_limit.min(left), ..prompt };
                model.complete(&prompt).await.map_err(|error: ModelError| error.name())
            })
            .collect();
        let answers: Vec<Asked> = futures::stream::iter(calls).buffered(AT_ONCE).collect().await;
        for answer in answers.iter().flatten() {
            self.spent(task, answer.usage);
        }
        answers
    }
}
