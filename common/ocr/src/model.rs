//! A vision model. It reads well and says nothing of places.

use std::sync::Arc;

use bytes::Bytes;
use quarry_ports::model::{Model, ModelError, Prompt, Task};
use quarry_ports::{Ocr, OcrError, OcrPicture, Recognised};
use tokio::runtime::Handle;

const INSTRUCTIONS: &str = "You read scanned pages. Write down all text in the picture in reading order, line by line as it stands, \
    in its own language and spelling. A table is written row by row with ` | ` between its cells. Add nothing, explain nothing, \
    translate nothing. If there is no text, answer with the single word NONE.";
/// Longest answer: a full page of small print.
const MOST_TOKENS: u32 = 4_000;

/// Asks the model that is configured for recognition.
pub struct ModelOcr {
    model: Arc<dyn Model>,
    handle: Handle,
    name: String,
}

impl ModelOcr {
    /// `None` when no model is configured for recognition. Calls run on `handle`, never on a thread of it.
    pub fn new(model: Arc<dyn Model>, handle: Handle) -> Option<Self> {
        let name = model.name(Task::Ocr)?.to_owned();
        Some(Self { model, handle, name })
    }
}

impl Ocr for ModelOcr {
    fn name(&self) -> &str {
        &self.name
    }

    fn recognise(&self, picture: &OcrPicture<'_>) -> Result<Recognised, OcrError> {
        let prompt = Prompt::new(Task::Ocr, INSTRUCTIONS)
            .image("image/png", Bytes::copy_from_slice(picture.png))
            .limits(MOST_TOKENS, picture.patience);
        match self.handle.block_on(self.model.complete(&prompt)) {
            Ok(completion) if completion.text.trim() == "NONE" => Ok(Recognised::Text(String::new())),
            Ok(completion) => Ok(Recognised::Text(completion.text)),
            Err(ModelError::TimedOut(after)) => Err(OcrError::TimedOut(after)),
            Err(
                error @ (ModelError::NotConfigured(_) | ModelError::Throttled(_) | ModelError::Unavailable(_) | ModelError::Refused { .. }),
            ) => Err(OcrError::Unavailable(error.to_string())),
            Err(error @ ModelError::Unreadable(_)) => Err(OcrError::Failed(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use async_trait::async_trait;
    use quarry_ports::model::{Completion, Ended, NoModel, Part, Usage};

    use super::*;

    struct Says(Result<&'static str, fn() -> ModelError>);

    #[async_trait]
    impl Model for Says {
        fn name(&self, task: Task) -> Option<&str> {
            (task == Task::Ocr).then_some("eyes-1")
        }

        async fn complete(&self, prompt: &Prompt) -> Result<Completion, ModelError> {
            assert!(matches!(&prompt.parts[..], [Part::Image { media_type, bytes }] if media_type == "image/png" && &bytes[..] == b"png"));
            match self.0 {
                Ok(text) => Ok(Completion { text: text.into(), ended: Ended::Complete, usage: Usage::default() }),
                Err(error) => Err(error()),
            }
        }
    }

    fn read(says: Says) -> Result<Recognised, OcrError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let ocr = ModelOcr::new(Arc::new(says), runtime.handle().clone()).unwrap();
        assert_eq!(ocr.name(), "eyes-1");
        ocr.recognise(&OcrPicture { png: b"png", width: 1, height: 1, dpi: 200.0, language: None, patience: Duration::from_secs(1) })
    }

    #[test]
    fn what_the_model_says_is_the_text() {
        assert_eq!(read(Says(Ok("The gate\nopens."))), Ok(Recognised::Text("The gate\nopens.".into())));
        assert_eq!(read(Says(Ok("NONE"))), Ok(Recognised::Text(String::new())));
        assert!(matches!(read(Says(Err(|| ModelError::Unavailable("x".into())))), Err(OcrError::Unavailable(_))));
        assert!(matches!(read(Says(Err(|| ModelError::Unreadable("cut")))), Err(OcrError::Failed(_))));
    }

    #[test]
    fn without_a_model_there_is_nobody() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert!(ModelOcr::new(Arc::new(NoModel), runtime.handle().clone()).is_none());
    }
}
