//! Bytes → tokens.

/// Longest name of a control word; the specification allows 32.
const NAME_BYTES: usize = 32;

/// A token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// `{`
    Open,
    /// `}`
    Close,
    /// `\name` with its number.
    Word(&'a str, Option<i32>),
    /// `\` and one character that is no letter.
    Symbol(u8),
    /// `\'hh`
    Hex(u8),
    /// One byte of text.
    Byte(u8),
    /// The data of `\bin`.
    Binary(&'a [u8]),
}

/// Reads tokens.
pub(crate) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at = self.at.saturating_add(1);
        Some(byte)
    }

    fn control(&mut self) -> Option<Token<'a>> {
        let first = self.peek()?;
        if first == b'\'' {
            self.at = self.at.saturating_add(1);
            let digits = self.bytes.get(self.at..self.at.saturating_add(2)).and_then(|digits| std::str::from_utf8(digits).ok());
            let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            if value.is_some() {
                self.at = self.at.saturating_add(2);
            }
            return Some(Token::Hex(value.unwrap_or(b'?')));
        }
        if !first.is_ascii_alphabetic() {
            self.at = self.at.saturating_add(1);
            return Some(Token::Symbol(first));
        }
        let rest = self.bytes.get(self.at..)?;
        let length = rest.iter().take(NAME_BYTES).take_while(|byte| byte.is_ascii_alphabetic()).count();
        let name = rest.get(..length).and_then(|name| std::str::from_utf8(name).ok()).unwrap_or_default();
        self.at = self.at.saturating_add(length);
        let negative = self.peek() == Some(b'-') && self.bytes.get(self.at.saturating_add(1)).is_some_and(u8::is_ascii_digit);
        if negative {
            self.at = self.at.saturating_add(1);
        }
        let mut number: Option<i32> = None;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            number = Some(number.unwrap_or(0).saturating_mul(10).saturating_add(i32::from(digit.saturating_sub(b'0'))));
            self.at = self.at.saturating_add(1);
        }
        if self.peek() == Some(b' ') {
            self.at = self.at.saturating_add(1);
        }
        let number = number.map(|number| if negative { number.saturating_neg() } else { number });
        if name == "bin" {
            // The length is a claim: no more than there is.
            let length = usize::try_from(number.unwrap_or(0)).unwrap_or(0);
            let end = self.at.saturating_add(length).min(self.bytes.len());
            let data = self.bytes.get(self.at..end).unwrap_or_default();
            self.at = end;
            return Some(Token::Binary(data));
        }
        Some(Token::Word(name, number))
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            return match self.take()? {
                b'{' => Some(Token::Open),
                b'}' => Some(Token::Close),
                b'\\' => self.control(),
                b'\r' | b'\n' | 0 => continue,
                byte => Some(Token::Byte(byte)),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Token, Tokens};

    #[test]
    fn tokens_are_told_apart() {
        let tokens: Vec<Token<'_>> = Tokens::new(b"{\\b0 a\\u-10179?\\'e9\\*\\bin3 {}\\}\\x99999999999\\'zz}").collect();
        assert_eq!(
            tokens,
            [
                Token::Open,
                Token::Word("b", Some(0)),
                Token::Byte(b'a'),
                Token::Word("u", Some(-10179)),
                Token::Byte(b'?'),
                Token::Hex(0xe9),
                Token::Symbol(b'*'),
                Token::Binary(b"{}\\"),
                Token::Close,
                Token::Word("x", Some(i32::MAX)),
                Token::Hex(b'?'),
                Token::Byte(b'z'),
                Token::Byte(b'z'),
                Token::Close,
            ]
        );
        assert_eq!(Tokens::new(b"\\bin999999999 ab").collect::<Vec<_>>(), [Token::Binary(b"ab")]);
    }
}
