//! The trace a piece of work belongs to: one id from the request or the object event that began it through every queue.
//!
//! It is written as W3C's `traceparent` (in records and in the local queues) and as X-Ray's header (on SQS, where it is
//! the system attribute `AWSTraceHeader`); both are read. No span of our own is made: what began the work stays the parent.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A trace context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Trace {
    id: u128,
    parent: u64,
    sampled: bool,
}

/// What is neither a `traceparent` nor an X-Ray header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a trace context")]
pub struct TraceError;

impl Trace {
    /// A new trace that begins at `millis` since the epoch: X-Ray's ids begin with the second.
    pub fn begun(millis: i64, random: [u8; 16]) -> Self {
        let seconds = u128::from(u32::try_from(millis.div_euclid(1000)).unwrap_or(u32::MAX));
        Self::rooted(seconds << 96 | (u128::from_be_bytes(random) >> 32))
    }

    /// The trace of work that nobody began by a request: equal names give equal traces, so that a doubled event does not
    /// look like two.
    pub fn named(name: &str) -> Self {
        let mut bytes = [0; 16];
        let hash = blake3::derive_key("quarry trace of a name", name.as_bytes());
        bytes.copy_from_slice(&hash[..16]);
        Self::rooted(u128::from_be_bytes(bytes))
    }

    /// A trace whose header names no parent: its own id gives one, since neither form allows none.
    fn rooted(id: u128) -> Self {
        // Zero is no id in either form.
        let id = id.max(1);
        Self { id, parent: ((id >> 64) as u64 ^ id as u64).max(1), sampled: true }
    }

    /// The id alone, in 32 hex digits: what log lines carry.
    pub fn id(&self) -> String {
        format!("{:032x}", self.id)
    }

    /// As X-Ray writes it.
    pub fn xray(&self) -> String {
        let id = self.id();
        let (seconds, rest) = id.split_at(8);
        format!("Root=1-{seconds}-{rest};Parent={:016x};Sampled={}", self.parent, u8::from(self.sampled))
    }
}

/// As W3C writes it.
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.id, self.parent, u8::from(self.sampled))
    }
}

impl FromStr for Trace {
    type Err = TraceError;

    /// Reads both forms.
    fn from_str(text: &str) -> Result<Self, TraceError> {
        if text.contains('=') { xray(text) } else { traceparent(text) }.filter(|trace| trace.id != 0 && trace.parent != 0).ok_or(TraceError)
    }
}

fn traceparent(text: &str) -> Option<Trace> {
    let mut parts = text.trim().splitn(5, '-');
    let (version, id, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    // A later version may say more after the flags; the first says nothing.
    let known = hex(version, 2)? != 0xff && (version != "00" || parts.next().is_none());
    let (id, parent) = (hex(id, 32)?, u64::try_from(hex(parent, 16)?).ok()?);
    known.then_some(Trace { id, parent, sampled: hex(flags, 2)? & 1 == 1 })
}

fn xray(text: &str) -> Option<Trace> {
    let field = |name: &str| text.split(';').find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='));
    let (seconds, rest) = field("Root")?.strip_prefix("1-")?.split_once('-')?;
    let rooted = Trace::rooted((hex(seconds, 8)? << 96) | hex(rest, 24)?);
    let parent = match field("Parent") {
        Some(parent) => u64::try_from(hex(parent, 16)?).ok()?,
        None => rooted.parent,
    };
    Some(Trace { parent, sampled: field("Sampled") != Some("0"), ..rooted })
}

/// A number of exactly so many lower-case hex digits.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let fits = text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    fits.then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

impl Serialize for Trace {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Trace {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn both_forms_are_one_trace() {
        let trace: Trace = PARENT.parse().unwrap();
        assert_eq!((trace.id().as_str(), trace.to_string().as_str()), ("4bf92f3577b34da6a3ce929d0e0e4736", PARENT));
        assert_eq!(trace.xray(), "Root=1-4bf92f35-77b34da6a3ce929d0e0e4736;Parent=00f067aa0ba902b7;Sampled=1");
        assert_eq!(trace.xray().parse(), Ok(trace));
        assert_eq!(serde_json::from_str::<Trace>(&serde_json::to_string(&trace).unwrap()).unwrap(), trace);
        let quiet: Trace = PARENT.replace("-01", "-00").parse().unwrap();
        assert!(quiet.xray().ends_with("Sampled=0") && quiet.xray().parse() == Ok(quiet));
    }

    #[test]
    fn a_header_without_a_parent_gets_one() {
        let bare: Trace = "Self=1-67891234-12456789abcdef012345678a;Root=1-67891233-abcdef012345678912345678".parse().unwrap();
        assert_eq!(bare.id(), "67891233abcdef012345678912345678");
        assert_eq!(bare.to_string().parse(), Ok(bare));
    }

    #[test]
    fn what_is_none_is_refused() {
        let zero = "00-00000000000000000000000000000000-00f067aa0ba902b7-01";
        let upper = PARENT.to_uppercase();
        let more = format!("{PARENT}-more");
        for text in ["", "-", "=", "Root=1-x-y", "Root=1-67891233", zero, &upper, &more, &PARENT.replacen("00", "ff", 1), "00-é-é-é"] {
            assert_eq!(text.parse::<Trace>(), Err(TraceError), "{text}");
        }
        assert!(PARENT.replacen("00", "01", 1).parse::<Trace>().is_ok(), "a later version is read as far as it is known");
    }

    #[test]
    fn new_ids_begin_with_the_second_and_named_ones_repeat() {
        assert!(Trace::begun(1_796_032_800_005, [7; 16]).xray().starts_with("Root=1-6b0d4920-"));
        assert_eq!(Trace::named("job_1"), Trace::named("job_1"));
        assert_ne!(Trace::named("job_1").id(), Trace::named("job_2").id());
    }
}
