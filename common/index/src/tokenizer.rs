//! `quarry_language::analyze` as a tokenizer of the segment library.

use quarry_language::segment;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::text::BREAK;

/// Empty slots between stretches that are not neighbours.
const BREAK_SLOTS: u32 = 2;

/// Tokens of a text whose stretches are divided by [`BREAK`].
#[derive(Clone, Default)]
pub(crate) struct Words {
    tokens: Vec<(u32, u32, u32)>,
    text: String,
}

/// One pass over the tokens of [`Words`].
pub(crate) struct WordStream<'a> {
    words: &'a Words,
    next: usize,
    token: Token,
}

impl Words {
    fn fill(&mut self, text: &str) {
        self.tokens.clear();
        self.text.clear();
        let mut slot = 0;
        for stretch in text.split(BREAK) {
            let slots = segment::analyze(stretch, |token| {
                let start = self.text.len() as u32;
                self.text.push_str(token.text);
                self.tokens.push((start, self.text.len() as u32, slot * 2 + token.position));
            });
            if slots > 0 {
                slot += slots + BREAK_SLOTS;
            }
        }
    }
}

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.fill(text);
        WordStream { words: self, next: 0, token: Token::default() }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(&(start, end, position)) = self.words.tokens.get(self.next) else {
            return false;
        };
        self.next += 1;
        self.token.text.clear();
        self.token.text.push_str(&self.words.text[start as usize..end as usize]);
        self.token.position = position as usize;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
