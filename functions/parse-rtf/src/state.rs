//! What a group inherits and gives back.

/// Where text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Target {
    /// Into the paragraph that is open.
    #[default]
    Body,
    /// Nowhere.
    Skip,
    /// Into the font table.
    Fonts,
    /// Into the style sheet.
    Styles,
    /// What is said of the document, of which only the title is kept.
    Info,
    /// The title of the document.
    Title,
    /// The author of the comment that follows.
    CommentAuthor,
    /// The label of the paragraph that follows.
    Label,
    /// The instruction of a field.
    Instruction,
    /// The name of a bookmark.
    Bookmark,
    /// A picture's data in hexadecimal.
    Picture,
    /// Name of a shape's property.
    PropertyName,
    /// Value of a shape's property.
    PropertyValue,
}

/// The state of a group.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct State {
    pub target: Target,
    /// Where text goes again inside the Unicode form of a destination.
    pub outer: Target,
    /// Whether this group is a destination that ends with it.
    pub ends: Ends,
    /// Bytes that stand for one `\u` in readers without Unicode.
    pub fallback: i32,
    pub font: i32,
    pub bold: bool,
    pub hidden: bool,
    pub deleted: bool,
    pub paragraph: ParagraphState,
    /// Inside `\*\nesttableprops`: rows described are those of the inner table.
    pub nested_row: bool,
}

/// What the end of a group ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Ends {
    #[default]
    Nothing,
    /// A footnote, comment, text box, header.
    Context,
    Field,
    Picture,
    /// A drawn shape.
    Shape,
    Label,
    PropertyValue,
    Bookmark,
}

/// What `\pard` resets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ParagraphState {
    pub style: i32,
    /// As written: from 0, 9 for body text.
    pub outline: Option<i32>,
    pub in_table: bool,
    /// Depth of the table it stands in, where the document says it.
    pub depth: i32,
    pub list_level: i32,
}

impl ParagraphState {
    /// How many tables it stands in.
    pub(crate) fn tables(self) -> usize {
        const MOST: i32 = 32;
        if self.in_table || self.depth > 0 { usize::try_from(self.depth.clamp(1, MOST)).unwrap_or(1) } else { 0 }
    }
}
