//! Who reads: the model that is configured for it, and the program on this machine where the model gives nothing.

use std::sync::{Arc, OnceLock};

use quarry_ports::model::Model;
use quarry_ports::{Ocr, OcrError, OcrPicture, Recognised};
use tokio::runtime::Handle;

use crate::{ModelOcr, Tesseract};

/// Whoever on this machine reads text in pictures; looked for once in the life of the process.
pub fn on_this_machine() -> Option<Arc<dyn Ocr>> {
    static FOUND: OnceLock<Option<Arc<Tesseract>>> = OnceLock::new();
    FOUND.get_or_init(|| Tesseract::find().map(Arc::new)).clone().map(|found| found as Arc<dyn Ocr>)
}

/// The model that is configured for recognition, else whoever is on this machine. Calls of the model run on `handle`.
pub fn configured(model: &Arc<dyn Model>, handle: &Handle) -> Option<Arc<dyn Ocr>> {
    match ModelOcr::new(Arc::clone(model), handle.clone()) {
        Some(model) => Some(preferred(Arc::new(model), on_this_machine())),
        None => on_this_machine(),
    }
}

fn preferred(first: Arc<dyn Ocr>, second: Option<Arc<dyn Ocr>>) -> Arc<dyn Ocr> {
    match second {
        Some(second) => Arc::new(Preferred { first, second }),
        None => first,
    }
}

/// Two who read: the second is asked what the first could not.
struct Preferred {
    first: Arc<dyn Ocr>,
    second: Arc<dyn Ocr>,
}

impl Ocr for Preferred {
    fn name(&self) -> &str {
        self.first.name()
    }

    fn recognise(&self, picture: &OcrPicture<'_>) -> Result<Recognised, OcrError> {
        self.first.recognise(picture).or_else(|error| {
            tracing::warn!(target: "quarry::ocr", reader = self.first.name(), %error, "the program on this machine is asked instead");
            self.second.recognise(picture)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    struct Reads(&'static str, Result<&'static str, OcrError>);

    impl Ocr for Reads {
        fn name(&self) -> &str {
            self.0
        }

        fn recognise(&self, _: &OcrPicture<'_>) -> Result<Recognised, OcrError> {
            self.1.clone().map(|text| Recognised::Text(text.to_owned()))
        }
    }

    fn read(ocr: &dyn Ocr) -> Result<Recognised, OcrError> {
        ocr.recognise(&OcrPicture { png: b"png", width: 1, height: 1, dpi: 200.0, language: None, patience: Duration::from_secs(1) })
    }

    #[test]
    fn the_second_is_asked_what_the_first_could_not() {
        let well = || Arc::new(Reads("model", Ok("by the model")));
        let ill = || Arc::new(Reads("model", Err(OcrError::TimedOut(Duration::from_secs(1)))));
        let program = || Some(Arc::new(Reads("program", Ok("by the program"))) as Arc<dyn Ocr>);
        assert_eq!(read(&*preferred(well(), program())), Ok(Recognised::Text("by the model".into())));
        let both = preferred(ill(), program());
        assert_eq!((both.name(), read(&*both)), ("model", Ok(Recognised::Text("by the program".into()))));
        assert_eq!(read(&*preferred(ill(), None)), Err(OcrError::TimedOut(Duration::from_secs(1))));
    }
}
