//! The content of one paragraph while it is collected.

use super::block::{Block, Paragraph, Picture};

/// A paragraph's content while it is collected.
#[derive(Debug, Default)]
pub struct ParagraphBuilder {
    text: String,
    /// Code points of `text`.
    length: usize,
    hidden: String,
    pictures: Vec<Picture>,
    /// What is anchored in it: text boxes, notes, charts.
    pub after: Vec<Block>,
    /// Bookmarks that begin in it.
    pub bookmarks: Vec<String>,
    /// Whether it stands in a table of contents.
    pub in_contents: bool,
    /// Whether it stands in a table of figures or the like.
    pub in_directory: bool,
    /// The bookmark a contents entry leads to.
    pub anchor: Option<String>,
    /// The counter of a caption.
    pub sequence: Option<String>,
    /// Whether it shows the number of the page or of pages.
    pub shows_page: bool,
    bold: usize,
    letters: usize,
}

impl ParagraphBuilder {
    /// Adds text as shown.
    pub fn text(&mut self, text: &str, bold: bool) {
        let letters = text.chars().filter(|c| !c.is_whitespace()).count();
        self.letters = self.letters.saturating_add(letters);
        if bold {
            self.bold = self.bold.saturating_add(letters);
        }
        self.push(text);
    }

    /// Adds text that the source hides.
    pub fn hidden(&mut self, text: &str) {
        self.hidden.push_str(text);
    }

    /// Code points of the text so far.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Takes back what was added after the text had `length` code points.
    pub fn truncate(&mut self, length: usize) {
        if let Some((at, _)) = self.text.char_indices().nth(length) {
            self.text.truncate(at);
            self.length = length;
        }
    }

    /// Adds text that says nothing of how the paragraph looks: marks of notes, formulas.
    pub fn push(&mut self, text: &str) {
        self.length = self.length.saturating_add(text.chars().count());
        self.text.push_str(text);
    }

    /// A picture at this place.
    pub fn picture_at(&mut self, asset: Option<usize>, alt: &str) {
        self.pictures.push(Picture { asset, alt: alt.to_owned(), at: self.length });
    }

    /// The text so far.
    pub fn peek(&self) -> &str {
        &self.text
    }

    /// Whether anything was collected.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.hidden.is_empty() && self.pictures.is_empty() && self.after.is_empty()
    }

    /// How much was collected; grows with everything that is.
    pub fn extent(&self) -> usize {
        [self.text.trim().len(), self.hidden.len(), self.pictures.len(), self.after.len()].into_iter().fold(0, usize::saturating_add)
    }

    /// The paragraph: white space at its ends and before line breaks cut, pictures moved along.
    pub fn finish(self) -> Paragraph {
        let (text, pictures) = trim(&self.text, self.pictures);
        Paragraph {
            text,
            hidden: self.hidden.trim().to_owned(),
            pictures,
            bookmarks: self.bookmarks,
            bold: self.letters > 0 && self.bold == self.letters,
            shows_page: self.shows_page,
            after: self.after,
            ..Paragraph::default()
        }
    }
}

/// Cuts white space around the text and at the ends of its lines; positions follow.
fn trim(text: &str, mut pictures: Vec<Picture>) -> (String, Vec<Picture>) {
    let (mut out, mut kept, mut pending) = (String::with_capacity(text.len()), 0_usize, String::new());
    let mut next = 0;
    for (index, c) in text.chars().enumerate() {
        while let Some(picture) = pictures.get_mut(next).filter(|picture| picture.at <= index) {
            picture.at = kept;
            next = next.saturating_add(1);
        }
        match c {
            '\n' => {
                pending.retain(|c| c == '\n');
                pending.push('\n');
            }
            c if c.is_whitespace() => pending.push(c),
            c => {
                if !out.is_empty() {
                    kept = kept.saturating_add(pending.chars().count());
                    out.push_str(&pending);
                }
                pending.clear();
                out.push(c);
                kept = kept.saturating_add(1);
            }
        }
    }
    for picture in pictures.iter_mut().skip(next) {
        picture.at = kept;
    }
    (out, pictures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trimming_moves_pictures_along() {
        let picture = |at| Picture { asset: None, alt: String::new(), at };
        let (text, pictures) = trim("  ab \n cd  ", vec![picture(0), picture(3), picture(8), picture(11)]);
        assert_eq!(text, "ab\n cd");
        assert_eq!(pictures.iter().map(|p| p.at).collect::<Vec<_>>(), [0, 1, 5, 6]);
        assert_eq!(trim("   ", vec![picture(2)]), (String::new(), vec![picture(0)]));
    }
}
