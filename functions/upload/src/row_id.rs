//! Ids of chunk rows: document, revision and ordinal in one string, readable back.

use std::fmt;
use std::str::FromStr;

use quarry_model::{DocumentId, Revision};

/// `dchk_`, then 12 hex digits of the document, 32 of the revision, and the ordinal in hex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowId {
    /// The document.
    pub document: DocumentId,
    /// The revision the row belongs to.
    pub revision: Revision,
    /// The chunk's place.
    pub ordinal: u32,
}

/// Not the id of a chunk row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the id of a chunk row")]
pub struct NotARowId;

impl fmt::Display for RowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let document = self.document.as_str().trim_start_matches("doc_");
        write!(f, "dchk_{document}{}{:x}", self.revision, self.ordinal)
    }
}

impl FromStr for RowId {
    type Err = NotARowId;

    fn from_str(text: &str) -> Result<Self, NotARowId> {
        let rest = text.strip_prefix("dchk_").ok_or(NotARowId)?;
        let (document, rest) = rest.split_at_checked(12).ok_or(NotARowId)?;
        let (revision, ordinal) = rest.split_at_checked(32).ok_or(NotARowId)?;
        let canonical = ordinal.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) && (ordinal == "0" || !ordinal.starts_with('0'));
        Ok(Self {
            document: format!("doc_{document}").parse().map_err(|_| NotARowId)?,
            revision: revision.parse().map_err(|_| NotARowId)?,
            ordinal: u32::from_str_radix(ordinal, 16).ok().filter(|_| canonical).ok_or(NotARowId)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_id_reads_back() {
        for ordinal in [0, 7, 999_999, u32::MAX] {
            let id = RowId { document: DocumentId::from_random([7; 6]), revision: Revision::of("a", "b", "c"), ordinal };
            assert_eq!(id.to_string().parse(), Ok(id));
        }
    }

    #[test]
    fn nothing_else_is_one() {
        let good = RowId { document: DocumentId::from_random([7; 6]), revision: Revision::of("a", "b", "c"), ordinal: 10 }.to_string();
        for bad in ["", "dchk_", "dchk_é", &good[1..], &good[..good.len() - 1], &good.replace("dchk_07", "dchk_0G"), &format!("{good}/x")]
        {
            assert_eq!(bad.parse::<RowId>(), Err(NotARowId), "{bad}");
        }
        let zero = good[..good.len() - 1].to_owned() + "0a";
        assert_eq!(zero.parse::<RowId>(), Err(NotARowId));
    }
}
