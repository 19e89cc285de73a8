//! Names of objects and records. A key can be built only from a [`Scope`] (or from an identity that a scope check
//! follows), so that no store method can be called without saying whose data is meant.

mod object;
mod record;

pub use object::{EventKey, ObjectKey, ObjectPrefix};
pub use record::{RecordKey, RecordPrefix};

/// Longest encoded segment; longer names are cut and closed with their hash. S3 keys hold 1,024 bytes in all.
const SEGMENT_MAX: usize = 160;

/// One segment of a key: unreserved ASCII stays, every other byte is `%XX`; long ones end in `~` and 32 hex digits.
pub fn segment(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let dotted = byte == b'.' && !text.contains(|c: char| c.is_ascii_alphanumeric());
        if (byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')) && !dotted {
            out.push(byte as char);
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    if out.len() > SEGMENT_MAX {
        let hash = blake3::hash(text.as_bytes()).to_hex();
        let mut cut = SEGMENT_MAX - 33;
        while out.as_bytes()[cut - 1] == b'%' || out.as_bytes()[cut - 2] == b'%' {
            cut -= 1;
        }
        out.truncate(cut);
        out.push('~');
        out.push_str(&hash.as_str()[..32]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{DocumentId, JobId};
    use crate::scope::{Namespace, Owner, Scope};

    #[test]
    fn segments_cannot_leave_their_place() {
        assert_eq!(segment("a b/ü"), "a%20b%2F%C3%BC");
        assert_eq!(segment(".."), "%2E%2E");
        assert_eq!(segment("v1.2"), "v1.2");
        let long = segment(&"漢".repeat(255));
        assert!(long.len() <= SEGMENT_MAX && long.contains('~'));
        assert_ne!(long, segment(&"漢".repeat(254)));
    }

    #[test]
    fn event_keys_are_read_once() {
        let job: JobId = "job_0a1b2c3d4e5f".parse().unwrap();
        let key = ObjectKey::upload(&Owner::new("a/b").unwrap(), &job);
        assert_eq!(EventKey::of(key.as_str()), EventKey::Upload { job });
        assert_eq!(
            EventKey::of("inbox/legal/2026/Müller + Söhne %41.docx"),
            EventKey::DropIn { namespace: Namespace::new("legal").unwrap(), file_name: "Müller + Söhne %41.docx".into() }
        );
        assert_eq!(EventKey::of("inbox/a.md"), EventKey::DropIn { namespace: Namespace::default(), file_name: "a.md".into() });
        for other in ["inbox/", "inbox/x/", "documents/a", "uploads/x", ""] {
            assert_eq!(EventKey::of(other), EventKey::Other, "{other}");
        }
    }

    #[test]
    fn an_edge_has_one_key() {
        let scope = Scope::new(Owner::local(), Namespace::default());
        let (a, b) = (DocumentId::from_random([0; 6]), DocumentId::from_random([1; 6]));
        assert_eq!(RecordKey::graph_edge(&scope, &a, &b), RecordKey::graph_edge(&scope, &b, &a));
    }
}
