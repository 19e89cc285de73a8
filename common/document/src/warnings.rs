//! What could not be read, each thing once, and never more than a page of it.

use quarry_model::{DocumentCode, Warning};

/// Most warnings of one document; what comes later is counted.
const MOST: usize = 50;

/// Collects warnings.
#[derive(Debug, Default)]
pub struct Warnings {
    list: Vec<Warning>,
    left_out: usize,
    /// Whether something of the source is missing from the rows.
    partial: bool,
}

impl Warnings {
    /// Something worth saying that cost no content.
    pub fn note(&mut self, code: DocumentCode, message: impl Into<String>) {
        let warning = Warning::new(code, message);
        if self.list.contains(&warning) {
            return;
        }
        if self.list.len() < MOST {
            self.list.push(warning);
        } else {
            self.left_out = self.left_out.saturating_add(1);
        }
    }

    /// Something of the source that is missing from the rows.
    pub fn partial(&mut self, code: DocumentCode, message: impl Into<String>) {
        self.partial = true;
        self.note(code, message);
    }

    /// All of them, and whether content is missing.
    pub fn finish(mut self) -> (Vec<Warning>, bool) {
        if let (true, Some(last)) = (self.left_out > 0, self.list.last()) {
            let more = Warning::new(last.code, format!("{} more warnings", self.left_out));
            self.list.push(more);
        }
        (self.list, self.partial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_said_once_and_the_rest_is_counted() {
        let mut warnings = Warnings::default();
        for n in 0..60 {
            warnings.note(DocumentCode::Corrupt, format!("part {n}"));
            warnings.note(DocumentCode::Corrupt, format!("part {n}"));
        }
        let (list, partial) = warnings.finish();
        assert_eq!((list.len(), partial), (51, false));
        assert_eq!(list[50].message, "20 more warnings", "twice ten that found no place");
    }
}
