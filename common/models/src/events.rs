//! Server-sent events: bytes in any pieces to the data of one event after another. Only what this protocol uses.

/// Longest line, in bytes: a server that sends a longer one is not of the protocol.
const LINE: usize = 1 << 20;

/// Cuts a stream into `data` lines.
#[derive(Debug, Default)]
pub(crate) struct Events {
    rest: Vec<u8>,
}

/// A line longer than any of the protocol.
#[derive(Debug)]
pub(crate) struct TooLong;

impl Events {
    /// Takes bytes; returns the data lines that are now whole. What is not UTF-8 is replaced, and will not read as JSON.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, TooLong> {
        let mut found = Vec::new();
        let mut pieces = bytes.split(|byte| *byte == b'\n');
        // All but the last piece end in a line break.
        let last = pieces.next_back().unwrap_or_default();
        for piece in pieces {
            self.rest.extend_from_slice(piece);
            let line = std::mem::take(&mut self.rest);
            let line = line.strip_suffix(b"\r").unwrap_or(&line);
            if let Some(data) = line.strip_prefix(b"data:") {
                found.push(String::from_utf8_lossy(data.trim_ascii()).into_owned());
            }
        }
        self.rest.extend_from_slice(last);
        if self.rest.len() > LINE { Err(TooLong) } else { Ok(found) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_however_they_are_torn() {
        let stream = ": hello\r\n\r\nevent: x\ndata: {\"a\":\"水\"}\n\ndata:[DONE]\r\n\r\n".as_bytes();
        for size in 1..stream.len() {
            let mut events = Events::default();
            let found: Vec<String> = stream.chunks(size).flat_map(|piece| events.push(piece).unwrap()).collect();
            assert_eq!(found, ["{\"a\":\"水\"}", "[DONE]"], "in pieces of {size}");
        }
    }

    #[test]
    fn a_line_without_an_end_is_left() {
        let mut events = Events::default();
        let piece = vec![b'x'; 4096];
        assert!((0..1000).any(|_| events.push(&piece).is_err()));
    }
}
