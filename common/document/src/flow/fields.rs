//! Fields: instructions with a result. Only results are shown, and only when every field around them is at its result.

/// What an instruction asks for, as far as reading depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// A table of contents.
    Contents,
    /// A table of figures, tables, authorities; an index.
    Directory,
    /// The number of this page or of pages.
    Page,
    /// Anything else.
    Other,
}

#[derive(Debug, Default)]
struct Field {
    instruction: String,
    at_result: bool,
    kind: Option<FieldKind>,
}

/// The fields open at one place.
#[derive(Debug, Default)]
pub struct Fields {
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
    pub fn ignored() -> Self {
        Self { ignored: true, ..Self::default() }
    }

    /// A field begins with its instruction.
    pub fn begin(&mut self) {
        if !self.ignored {
            self.stack.push(Field::default());
            self.at_instruction = self.at_instruction.saturating_add(1);
        }
    }

    /// A field whose instruction is already known.
    pub fn begin_simple(&mut self, instruction: &str) {
        self.begin();
        self.instruction(instruction);
        self.separate();
    }

    /// More of the instruction.
    pub fn instruction(&mut self, text: &str) {
        if let Some(field) = self.stack.last_mut().filter(|field| !field.at_result) {
            field.instruction.push_str(text);
        }
    }

    /// The instruction ends, its result begins.
    pub fn separate(&mut self) {
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
    pub fn end(&mut self) -> Option<String> {
        let field = self.stack.pop()?;
        if !field.at_result {
            self.at_instruction = self.at_instruction.saturating_sub(1);
        }
        if let Some(count) = field.kind.and_then(|kind| self.count(kind)) {
            *count = count.saturating_sub(1);
        }
        Some(field.instruction)
    }

    fn count(&mut self, kind: FieldKind) -> Option<&mut usize> {
        match kind {
            FieldKind::Contents => Some(&mut self.contents),
            FieldKind::Directory => Some(&mut self.directories),
            FieldKind::Page => Some(&mut self.pages),
            FieldKind::Other => None,
        }
    }

    /// Whether what stands here is shown.
    pub fn shows(&self) -> bool {
        self.at_instruction == 0
    }

    /// Whether this is inside a table of contents.
    pub fn in_contents(&self) -> bool {
        self.contents > 0
    }

    /// Whether this is inside a table of figures or the like.
    pub fn in_directory(&self) -> bool {
        self.directories > 0
    }

    /// Whether this is the number of a page.
    pub fn in_page_number(&self) -> bool {
        self.pages > 0
    }
}

/// What an instruction asks for.
pub fn kind(instruction: &str) -> FieldKind {
    let mut words = instruction.split_whitespace();
    match words.next().unwrap_or_default().to_ascii_uppercase().as_str() {
        "TOC" if words.any(|word| matches!(word, "\\c" | "\\a" | "\\C" | "\\A")) => FieldKind::Directory,
        "TOC" => FieldKind::Contents,
        "TOA" => FieldKind::Directory,
        "PAGE" | "NUMPAGES" | "SECTIONPAGES" => FieldKind::Page,
        _ => FieldKind::Other,
    }
}

/// The bookmark that `PAGEREF _Toc1 \h` or `HYPERLINK \l "_Toc1"` leads to.
pub fn anchor(instruction: &str) -> Option<&str> {
    let mut words = instruction.split_whitespace();
    let target = match words.next()?.to_ascii_uppercase().as_str() {
        "PAGEREF" => words.next()?,
        "HYPERLINK" => words.skip_while(|word| !word.eq_ignore_ascii_case("\\l")).nth(1)?,
        _ => return None,
    };
    Some(target.trim_matches('"')).filter(|target| !target.is_empty())
}

/// The counter of a `SEQ` field: `Figure`, `Tabla`, `表`.
pub fn sequence(instruction: &str) -> Option<&str> {
    let mut words = instruction.split_whitespace();
    words.next()?.eq_ignore_ascii_case("seq").then(|| words.next()).flatten()
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
        assert_eq!(kind(" toc \\c \"Figure\" "), FieldKind::Directory);
        assert_eq!(kind(" NUMPAGES "), FieldKind::Page);
        assert_eq!(kind(""), FieldKind::Other);
        assert_eq!(anchor(" PAGEREF _Toc12 \\h "), Some("_Toc12"));
        assert_eq!(anchor(" HYPERLINK \\l \"_Toc12\" "), Some("_Toc12"));
        assert_eq!(anchor(" HYPERLINK \"http://x\" "), None);
        assert_eq!(sequence(" SEQ Figure \\* ARABIC "), Some("Figure"));
    }
}
