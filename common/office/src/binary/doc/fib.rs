//! The file information block ([MS-DOC] 2.5): where everything is.

use quarry_model::{DocumentCode, DocumentFailure};

use crate::binary::numbers::{part, u16_at, u32_at};

/// Tables of the table stream, by their place in the block.
#[derive(Debug, Clone, Copy)]
pub(super) enum Table {
    Styles = 1,
    FootnoteReferences = 2,
    FootnoteText = 3,
    CommentReferences = 4,
    CommentText = 5,
    Headers = 11,
    CharacterPages = 12,
    ParagraphPages = 13,
    Pieces = 33,
    CommentAuthors = 36,
    Anchors = 40,
    EndnoteReferences = 46,
    EndnoteText = 47,
    Drawings = 50,
    TextBoxes = 56,
    Lists = 73,
    ListOverrides = 74,
}

/// Where the block keeps the first of its pairs of place and length.
const PAIRS: usize = 0x9a;
/// The first version of Word whose files are laid out like this: Word 97.
const WORD_97: u16 = 0x00c1;

/// The block.
pub(super) struct Fib<'a> {
    main: &'a [u8],
}

/// Lengths of the texts, in characters; they follow one another in this order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Lengths {
    pub body: u32,
    pub footnotes: u32,
    pub headers: u32,
    pub macros: u32,
    pub comments: u32,
    pub endnotes: u32,
    pub boxes: u32,
}

impl<'a> Fib<'a> {
    /// Reads the beginning of the main stream.
    ///
    /// Fails with `CORRUPT` when it is none, `ENCRYPTED`, and `CONVERTER_MISSING` for files of Word 6 and 95, which are
    /// laid out otherwise.
    pub(super) fn read(main: &'a [u8]) -> Result<Self, DocumentFailure> {
        let number = |at| u16_at(main, at).ok_or_else(|| DocumentFailure::new(DocumentCode::Corrupt, "the document's head is cut off"));
        let (mark, version, flags) = (number(0)?, number(2)?, number(0x0a)?);
        if !matches!(mark, 0xa5ec | 0xa5dc) {
            return Err(DocumentFailure::new(DocumentCode::Corrupt, "this is no Word document"));
        }
        if flags & 0x0100 != 0 {
            return Err(DocumentFailure::new(DocumentCode::Encrypted, "a Word document with a password"));
        }
        if version < WORD_97 || mark == 0xa5dc {
            return Err(DocumentFailure::new(DocumentCode::ConverterMissing, "a document of Word 95 or older"));
        }
        Ok(Self { main })
    }

    /// The name of the stream with the tables.
    pub(super) fn table_stream(&self) -> &'static str {
        if u16_at(self.main, 0x0a).unwrap_or_default() & 0x0200 != 0 { "1Table" } else { "0Table" }
    }

    /// The bytes of a table; empty when it is missing.
    pub(super) fn table<'t>(&self, tables: &'t [u8], table: Table) -> &'t [u8] {
        let (at, length) = self.place(table);
        part(tables, at, length)
    }

    /// The bytes of a table and all that follows it.
    pub(super) fn table_and_rest<'t>(&self, tables: &'t [u8], table: Table) -> &'t [u8] {
        let (at, length) = self.place(table);
        if length == 0 { &[] } else { part(tables, at, usize::MAX) }
    }

    fn place(&self, table: Table) -> (usize, usize) {
        let at = PAIRS.saturating_add((table as usize).saturating_mul(8));
        let number = |at| u32_at(self.main, at).unwrap_or_default() as usize;
        (number(at), number(at.saturating_add(4)))
    }

    pub(super) fn lengths(&self) -> Lengths {
        let number = |at| u32_at(self.main, at).unwrap_or_default();
        Lengths {
            body: number(0x4c),
            footnotes: number(0x50),
            headers: number(0x54),
            macros: number(0x58),
            comments: number(0x5c),
            endnotes: number(0x60),
            boxes: number(0x64),
        }
    }
}
