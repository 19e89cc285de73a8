//! Three small decoders, byte by byte: enough to know how much a stream makes of its data.

use std::io::{BufReader, Bytes, Read};

/// The next byte; the end of the data and a failed layer below are both the end here, for both end what can be read.
fn next<R: Read>(bytes: &mut Bytes<BufReader<R>>) -> std::io::Result<Option<u8>> {
    bytes.next().transpose()
}

/// `RunLengthDecode`: a length up to 127 copies one more byte than it says, one from 129 repeats the next byte 257 minus
/// itself times, 128 ends.
pub(crate) struct RunLength<R> {
    input: Bytes<BufReader<R>>,
    repeat: Option<u8>,
    left: usize,
    ended: bool,
}

impl<R: Read> RunLength<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { input: BufReader::new(inner).bytes(), repeat: None, left: 0, ended: false }
    }

    fn byte(&mut self) -> std::io::Result<Option<u8>> {
        if self.left == 0 {
            match next(&mut self.input)?.filter(|_| !self.ended) {
                None | Some(128) => {
                    self.ended = true;
                    return Ok(None);
                }
                Some(length @ 0..=127) => (self.left, self.repeat) = (usize::from(length).saturating_add(1), None),
                Some(length) => {
                    let Some(value) = next(&mut self.input)? else { return Ok(None) };
                    (self.left, self.repeat) = (257usize.saturating_sub(usize::from(length)), Some(value));
                }
            }
        }
        self.left = self.left.saturating_sub(1);
        if self.repeat.is_some() { Ok(self.repeat) } else { next(&mut self.input) }
    }
}

/// `ASCIIHexDecode`: two digits a byte, white space ignored, `>` ends.
pub(crate) struct Hex<R> {
    input: Bytes<BufReader<R>>,
    ended: bool,
}

impl<R: Read> Hex<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { input: BufReader::new(inner).bytes(), ended: false }
    }

    fn digit(&mut self) -> std::io::Result<Option<u8>> {
        while !self.ended
            && let Some(byte) = next(&mut self.input)?
        {
            self.ended = byte == b'>';
            if let Some(digit) = char::from(byte).to_digit(16) {
                return Ok(Some(digit as u8));
            }
        }
        Ok(None)
    }

    fn byte(&mut self) -> std::io::Result<Option<u8>> {
        let Some(high) = self.digit()? else { return Ok(None) };
        let low = self.digit()?.unwrap_or(0);
        Ok(Some((high << 4) | low))
    }
}

/// `ASCII85Decode`: five digits from `!` to `u` are four bytes, `z` is four zeros, `~` ends.
pub(crate) struct SixtyFour<R> {
    input: Bytes<BufReader<R>>,
    ready: Vec<u8>,
    ended: bool,
}

impl<R: Read> SixtyFour<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { input: BufReader::new(inner).bytes(), ready: Vec::new(), ended: false }
    }

    fn byte(&mut self) -> std::io::Result<Option<u8>> {
        if let Some(byte) = self.ready.pop() {
            return Ok(Some(byte));
        }
        let (mut value, mut count) = (0u32, 0usize);
        while !self.ended
            && let Some(byte) = next(&mut self.input)?
        {
            match byte {
                b'z' if count == 0 => {
                    self.ready = vec![0; 3];
                    return Ok(Some(0));
                }
                b'!'..=b'u' => {
                    value = value.wrapping_mul(85).wrapping_add(u32::from(byte.saturating_sub(b'!')));
                    count = count.saturating_add(1);
                    if count == 5 {
                        break;
                    }
                }
                b'~' => self.ended = true,
                _ => {}
            }
        }
        if count < 2 {
            return Ok(None);
        }
        for _ in count..5 {
            value = value.wrapping_mul(85).wrapping_add(84);
        }
        // Four bytes of a whole group, one less for each digit that is missing; kept in reverse, to be taken from the end.
        self.ready = value.to_be_bytes().into_iter().take(count.saturating_sub(1)).rev().collect();
        Ok(self.ready.pop())
    }
}

macro_rules! reads {
    ($($decoder:ident),*) => {$(
        impl<R: Read> Read for $decoder<R> {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                let mut filled = 0usize;
                for slot in buffer.iter_mut() {
                    match self.byte() {
                        Ok(Some(byte)) => *slot = byte,
                        Ok(None) => break,
                        Err(error) if filled == 0 => return Err(error),
                        Err(_) => break,
                    }
                    filled = filled.saturating_add(1);
                }
                Ok(filled)
            }
        }
    )*};
}
reads!(RunLength, Hex, SixtyFour);

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut reader: impl Read) -> Vec<u8> {
        let mut out = Vec::new();
        reader.read_to_end(&mut out).unwrap();
        out
    }

    #[test]
    fn what_they_make_of_their_data() {
        assert_eq!(all(RunLength::new(&[2, b'a', b'b', b'c', 254, b'x', 128, 9][..])), b"abcxxx");
        assert_eq!(all(RunLength::new(&[5, b'a'][..])), b"a");
        assert_eq!(all(Hex::new(&b"48 65\n6C6c6F7>00"[..])), b"Hellop");
        assert_eq!(all(SixtyFour::new(&b"87cURD]i,\"Ebo80~>"[..])), b"Hello World!");
        assert_eq!(all(SixtyFour::new(&b"z!!~>"[..])), [0, 0, 0, 0, 0]);
    }
}
