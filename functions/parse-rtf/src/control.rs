//! Control words and symbols.

use crate::charset::SYMBOL;
use crate::context::Kind;
use crate::picture::{Blip, PictureData};
use crate::reader::Reader;
use crate::state::{Ends, ParagraphState, Target};
use crate::table::RowShape;

impl Reader<'_> {
    /// A control symbol.
    pub(crate) fn symbol(&mut self, symbol: u8) {
        match symbol {
            b'*' => self.optional = true,
            b'~' => self.text("\u{a0}"),
            b'_' => self.text("-"),
            b'\\' | b'{' | b'}' => self.text(char::from(symbol).encode_utf8(&mut [0; 4])),
            b'\n' | b'\r' => self.word("par", None),
            b'\t' => self.text("\t"),
            // An optional hyphen, an index subentry, a formula's character.
            _ => {}
        }
    }

    /// A control word.
    pub(crate) fn word(&mut self, name: &str, number: Option<i32>) {
        if self.character(name, number) || self.destination(name) {
            return;
        }
        match self.state.target {
            Target::Fonts => self.font_word(name, number),
            Target::Styles => self.style_word(name, number),
            Target::Picture => self.picture_word(name),
            Target::Skip => {}
            _ if self.optional => self.state.target = Target::Skip,
            _ => self.body_word(name, number),
        }
    }

    /// Words that stand for characters.
    fn character(&mut self, name: &str, number: Option<i32>) -> bool {
        let text = match name {
            "u" => {
                self.unicode(number.unwrap_or(0xfffd));
                return true;
            }
            "uc" => {
                self.state.fallback = number.unwrap_or(1).clamp(0, 64);
                return true;
            }
            "tab" => "\t",
            "line" | "lbr" => "\n",
            "emdash" => "—",
            "endash" => "–",
            "bullet" => "•",
            "lquote" => "‘",
            "rquote" => "’",
            "ldblquote" => "“",
            "rdblquote" => "”",
            "emspace" | "enspace" | "qmspace" => " ",
            "zwj" => "\u{200d}",
            "zwnj" => "\u{200c}",
            _ => return false,
        };
        self.text(text);
        true
    }

    /// Words that say where the text of their group goes.
    fn destination(&mut self, name: &str) -> bool {
        if self.state.target == Target::Skip {
            // The Unicode form of a destination stands inside its older form.
            if name == "ud" && self.state.outer != Target::Skip {
                self.state.target = self.state.outer;
                return true;
            }
            return false;
        }
        match name {
            "fonttbl" => self.state.target = Target::Fonts,
            "stylesheet" => {
                self.described = 0;
                self.state.target = Target::Styles;
            }
            "upr" => {
                self.state.outer = self.state.target;
                self.state.target = Target::Skip;
            }
            "info" => self.state.target = Target::Info,
            "title" if self.state.target == Target::Info => self.state.target = Target::Title,
            "colortbl" | "listtable" | "listoverridetable" | "rsidtbl" | "filetbl" | "revtbl" | "generator" | "themedata"
            | "colorschememapping" | "latentstyles" | "datastore" | "xmlnstbl" | "nonshppict" | "objdata" | "objclass" | "objname"
            | "objalias" | "objsect" | "template" | "private" | "nonesttables" | "bkmkend" | "pgptbl" | "pgdsctbl" | "docvar"
            | "userprops" | "atnid" | "atnref" | "atndate" | "atntime" | "atrfstart" | "atrfend" | "atnicn" | "atnparent" | "fchars"
            | "lchars" | "pnseclvl" | "mmathPict" | "mmathPr" | "ftnsep" | "ftnsepc" | "ftncn" | "aftnsep" | "aftnsepc" | "aftncn"
            | "tc" | "tcn" | "xe" | "rxe" | "txe" | "keycode" | "falt" | "panose" | "fontemb" | "datafield" | "shprslt" => {
                self.state.target = Target::Skip;
            }
            "footnote" => self.open_note(false),
            "annotation" => self.open_comment(),
            "atnauthor" => self.state.target = Target::CommentAuthor,
            "header" | "headerl" | "headerr" | "headerf" | "footer" | "footerl" | "footerr" | "footerf" => {
                self.open_context(Kind::Header);
            }
            "shptxt" => self.open_context(Kind::TextBox),
            "listtext" | "pntext" => {
                self.state.target = Target::Label;
                self.state.ends = Ends::Label;
            }
            // What older programs need to number by themselves.
            "pn" => self.state.target = Target::Skip,
            "field" => {
                self.fields.begin();
                self.state.ends = Ends::Field;
            }
            "fldinst" => self.state.target = Target::Instruction,
            "fldrslt" => self.fields.separate(),
            "bkmkstart" => {
                self.state.target = Target::Bookmark;
                self.state.ends = Ends::Bookmark;
            }
            "pict" => {
                self.picture = PictureData::default();
                self.state.target = Target::Picture;
                self.state.ends = Ends::Picture;
            }
            "shp" => self.state.ends = Ends::Shape,
            "sn" => {
                self.begin_property();
                self.state.target = Target::PropertyName;
            }
            "sv" => {
                self.state.target = Target::PropertyValue;
                self.state.ends = Ends::PropertyValue;
            }
            "sp" | "shpinst" | "picprop" => self.state.target = Target::PropertyName,
            "nesttableprops" => self.state.nested_row = true,
            // These only wrap what they hold.
            "shppict" | "shpgrp" | "result" | "object" | "moMath" | "moMathPara" | "mmath" | "ud" | "ffname" | "rtf" => {}
            _ => return false,
        }
        self.optional = false;
        true
    }

    fn font_word(&mut self, name: &str, number: Option<i32>) {
        match name {
            "f" => self.described = number.unwrap_or(0),
            "fcharset" => self.font().charset = number.unwrap_or(0),
            "ftech" if number == Some(SYMBOL) => self.font().charset = SYMBOL,
            _ if self.optional => self.state.target = Target::Skip,
            _ => {}
        }
    }

    fn style_word(&mut self, name: &str, number: Option<i32>) {
        match name {
            "s" => self.described = number.unwrap_or(0),
            // Character, section and table styles have numbers of their own.
            "cs" | "ds" | "ts" | "tsrowd" => self.described = number.unwrap_or(0).saturating_neg().saturating_sub(1),
            "sbasedon" => self.new_style.based_on = number.filter(|style| *style != 222),
            "outlinelevel" => self.new_style.outline = number,
            _ => {}
        }
    }

    fn picture_word(&mut self, name: &str) {
        match name {
            "dibitmap" => self.picture.blip = Blip::Bitmap,
            "wbitmap" => self.picture.blip = Blip::Device,
            _ if self.optional => self.state.target = Target::Skip,
            _ => {}
        }
    }

    fn body_word(&mut self, name: &str, number: Option<i32>) {
        let on = number != Some(0);
        let paragraph = &mut self.state.paragraph;
        match name {
            "par" | "sect" | "page" | "column" => self.end_paragraph(),
            "cell" => self.end_cell(1),
            "nestcell" => self.end_cell(self.state.paragraph.tables().max(2)),
            "row" => self.end_row(1),
            "nestrow" => self.end_row(self.state.paragraph.tables().max(2)),
            "pard" => *paragraph = ParagraphState::default(),
            "plain" => {
                self.state.bold = false;
                self.state.hidden = false;
                self.state.deleted = false;
                self.state.font = self.default_font;
            }
            "s" => paragraph.style = number.unwrap_or(0),
            "outlinelevel" => paragraph.outline = number,
            "intbl" => paragraph.in_table = on,
            "itap" => {
                paragraph.depth = number.unwrap_or(1).clamp(0, 64);
                paragraph.in_table = paragraph.depth > 0;
            }
            "ilvl" => paragraph.list_level = number.unwrap_or(0),
            "b" => self.state.bold = on,
            "v" | "webhidden" => self.state.hidden = on,
            "deleted" => self.state.deleted = on,
            "f" => self.state.font = number.unwrap_or(0),
            "deff" => {
                self.default_font = number.unwrap_or(0);
                self.state.font = self.default_font;
            }
            "ansicpg" => self.set_code_page(number.unwrap_or(0)),
            "mac" => self.set_code_page(10_000),
            "ftnalt" => self.endnote(),
            _ => self.row_word(name, number),
        }
    }

    fn row_word(&mut self, name: &str, number: Option<i32>) {
        let row = if self.state.nested_row { &mut self.nested_row } else { &mut self.row };
        match name {
            "trowd" => *row = RowShape::default(),
            "trleft" => row.left = number.unwrap_or(0),
            "trhdr" => row.header = true,
            "clmrg" => row.next.merged_left = true,
            "clvmgf" => row.next.down_begins = true,
            "clvmrg" => row.next.down_continues = true,
            "cellx" => row.edge(number.unwrap_or(0)),
            _ => {}
        }
    }
}
