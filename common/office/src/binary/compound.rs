//! The container: named streams.

use std::io::{Cursor, Read};

use quarry_model::{DocumentCode, DocumentFailure, Limits};

/// An open compound file.
pub(super) struct Compound<'a> {
    file: cfb::CompoundFile<Cursor<&'a [u8]>>,
    limits: &'a Limits,
    /// Bytes read so far: streams may claim the same sectors, but together never more than the document may expand to.
    used: u64,
}

impl<'a> Compound<'a> {
    /// Opens a file.
    ///
    /// Fails with `CORRUPT` when its directory or its sectors do not hold together.
    pub(super) fn open(bytes: &'a [u8], limits: &'a Limits) -> Result<Self, DocumentFailure> {
        let file = cfb::CompoundFile::open(Cursor::new(bytes)).map_err(|error| corrupt(&error))?;
        Ok(Self { file, limits, used: 0 })
    }

    /// A stream by its name at the top; `None` when there is none.
    ///
    /// Fails with `CORRUPT` when its sectors cannot be read, `TOO_LARGE` when it is larger than a stream may be.
    pub(super) fn stream(&mut self, name: &str) -> Result<Option<Vec<u8>>, DocumentFailure> {
        if !self.file.is_stream(name) {
            return Ok(None);
        }
        let most = self.limits.stream_bytes.min(self.limits.expanded_bytes.saturating_sub(self.used));
        let mut out = Vec::new();
        let stream = self.file.open_stream(name).map_err(|error| corrupt(&error))?;
        stream.take(most.saturating_add(1)).read_to_end(&mut out).map_err(|error| corrupt(&error))?;
        if out.len() as u64 > most {
            return Err(DocumentFailure::new(DocumentCode::TooLarge, format!("stream {name} is larger than {most} bytes")));
        }
        self.used = self.used.saturating_add(out.len() as u64);
        Ok(Some(out))
    }

    /// A stream that the document cannot do without.
    pub(super) fn required(&mut self, name: &str) -> Result<Vec<u8>, DocumentFailure> {
        self.stream(name)?.ok_or_else(|| DocumentFailure::new(DocumentCode::Corrupt, format!("stream {name} is missing")))
    }
}

fn corrupt(error: &std::io::Error) -> DocumentFailure {
    DocumentFailure::new(DocumentCode::Corrupt, format!("compound file: {error}"))
}
