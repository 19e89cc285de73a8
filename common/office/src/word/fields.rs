//! Fields: instructions with a result. Only results are shown, and only when every field around them is at its result.

use quarry_document::xml::Element;

use crate::word::properties::{attribute, value, w};

/// What an instruction asks for, as far as reading depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A table of contents.
    Contents,
    /// A table of figures, tables, authorities; an index.
    Directory,
    /// The number of this page or of pages.
    Page,
    Other,
}

#[derive(Debug, Default)]
struct Field {
    instruction: String,
    at_result: bool,
    kind: Option<Kind>,
}

/// The fields open at one place.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    stack: Vec<Field>,
    at_instruction: usize,
    contents: usize,
    directories: usize,
    pages: usize,
    /// Fields are not told apart from text: the fallback for a part whose fields never end.
    ignored: bool,
}

impl Fields {
    /// Fields that hide nothing.
    pub(crate) fn ignored() -> Self {
        Self { ignored: true, ..Self::default() }
    }

    pub(crate) fn begin(&mut self) {
        if !self.ignored {
            self.stack.push(Field::default());
            self.at_instruction = self.at_instruction.saturating_add(1);
        }
    }

    /// A field whose instruction is already known.
    pub(crate) fn begin_simple(&mut self, instruction: &str) {
        self.begin();
        self.instruction(instruction);
        self.separate();
    }

    pub(crate) fn instruction(&mut self, text: &str) {
        if let Some(field) = self.stack.last_mut().filter(|field| !field.at_result) {
            field.instruction.push_str(text);
        }
    }

    pub(crate) fn separate(&mut self) {
        let Some(field) = self.stack.last_mut().filter(|field| !field.at_result) else { return };
        field.at_result = true;
        let kind = kind(&field.instruction);
        field.kind = Some(kind);
        self.at_instruction = self.at_instruction.saturating_sub(1);
        if let Some(count) = self.count(kind) {
            *count = count.saturating_add(1);
        }
    }

    /// Ends the innermost field and gives its instruction.
    pub(crate) fn end(&mut self) -> Option<String> {
        let field = self.stack.pop()?;
        if !field.at_result {
            self.at_instruction = self.at_instruction.saturating_sub(1);
        }
        if let Some(count) = field.kind.and_then(|kind| self.count(kind)) {
            *count = count.saturating_sub(1);
        }
        Some(field.instruction)
    }

    fn count(&mut self, kind: Kind) -> Option<&mut usize> {
        match kind {
            Kind::Contents => Some(&mut self.contents),
            Kind::Directory => Some(&mut self.directories),
            Kind::Page => Some(&mut self.pages),
            Kind::Other => None,
        }
    }

    /// Whether what stands here is shown.
    pub(crate) fn shows(&self) -> bool {
        self.at_instruction == 0
    }

    pub(crate) fn in_contents(&self) -> bool {
        self.contents > 0
    }

    pub(crate) fn in_directory(&self) -> bool {
        self.directories > 0
    }

    pub(crate) fn in_page_number(&self) -> bool {
        self.pages > 0
    }
}

fn kind(instruction: &str) -> Kind {
    let mut words = instruction.split_whitespace();
    match words.next().unwrap_or_default().to_ascii_uppercase().as_str() {
        "TOC" if words.any(|word| matches!(word, "\\c" | "\\a" | "\\C" | "\\A")) => Kind::Directory,
        "TOC" => Kind::Contents,
        "TOA" => Kind::Directory,
        "PAGE" | "NUMPAGES" | "SECTIONPAGES" => Kind::Page,
        _ => Kind::Other,
    }
}

/// The bookmark that `PAGEREF _Toc1 \h` or `HYPERLINK \l "_Toc1"` leads to.
pub(crate) fn anchor(instruction: &str) -> Option<&str> {
    let mut words = instruction.split_whitespace();
    let target = match words.next()?.to_ascii_uppercase().as_str() {
        "PAGEREF" => words.next()?,
        "HYPERLINK" => words.skip_while(|word| !word.eq_ignore_ascii_case("\\l")).nth(1)?,
        _ => return None,
    };
    Some(target.trim_matches('"')).filter(|target| !target.is_empty())
}

/// The counter of a `SEQ` field: `Figure`, `Tabla`, `表`.
pub(crate) fn sequence(instruction: &str) -> Option<&str> {
    let mut words = instruction.split_whitespace();
    words.next()?.eq_ignore_ascii_case("seq").then(|| words.next()).flatten()
}

/// What a form field of the old kind shows by itself: a check box, or the chosen entry of a list.
pub(crate) fn form_value(field_char: Element<'_>) -> Option<String> {
    let data = w(field_char, "ffData")?;
    if let Some(check) = w(data, "checkBox") {
        let on = |name| w(check, name).map(|state| !matches!(attribute(state, "val"), Some("0" | "false" | "off")));
        return Some(if on("checked").or_else(|| on("default")).unwrap_or_default() { "☒" } else { "☐" }.to_owned());
    }
    let list = w(data, "ddList")?;
    let chosen = value(list, "result").or_else(|| value(list, "default")).and_then(|index| index.parse::<usize>().ok()).unwrap_or_default();
    let entry = list.elements().filter(|entry| entry.name() == "listEntry").nth(chosen)?;
    attribute(entry, "val").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_results_are_shown_and_nesting_counts() {
        let mut fields = Fields::default();
        fields.begin();
        assert!(!fields.shows());
        fields.begin();
        fields.instruction("PAGE");
        fields.separate();
        assert!(!fields.shows(), "the result of a field inside an instruction");
        assert!(fields.in_page_number());
        fields.end();
        fields.instruction(" TOC \\o \"1-3\" ");
        fields.separate();
        assert!(fields.shows() && fields.in_contents() && !fields.in_page_number());
        assert_eq!(fields.end().as_deref(), Some(" TOC \\o \"1-3\" "));
        assert!(fields.shows() && !fields.in_contents());
        assert_eq!(fields.end(), None);
    }

    #[test]
    fn instructions_are_told_apart() {
        assert_eq!(kind(" toc \\c \"Figure\" "), Kind::Directory);
        assert_eq!(kind(" NUMPAGES "), Kind::Page);
        assert_eq!(kind(""), Kind::Other);
        assert_eq!(anchor(" PAGEREF _Toc12 \\h "), Some("_Toc12"));
        assert_eq!(anchor(" HYPERLINK \\l \"_Toc12\" "), Some("_Toc12"));
        assert_eq!(anchor(" HYPERLINK \"http://x\" "), None);
        assert_eq!(sequence(" SEQ Figure \\* ARABIC "), Some("Figure"));
    }
}
