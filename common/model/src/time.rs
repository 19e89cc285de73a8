//! Moments, in milliseconds since 1970-01-01T00:00:00Z, written as RFC 3339 in UTC. Nothing here reads a clock.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment with millisecond precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since the epoch, clamped to the years 1970 to 9999.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(0, 253_402_300_799_999))
    }

    /// Milliseconds since the epoch.
    pub fn millis(self) -> i64 {
        self.0
    }

    /// Whole seconds since the epoch.
    pub fn seconds(self) -> i64 {
        self.0 / 1000
    }

    /// The moment `millis` later (earlier when negative).
    #[must_use]
    pub fn plus_millis(self, millis: i64) -> Self {
        Self::from_millis(self.0.saturating_add(millis))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = jiff::Timestamp::from_millisecond(self.0).map_err(|_| fmt::Error)?;
        write!(f, "{moment:.3}")
    }
}

impl FromStr for Timestamp {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        text.parse::<jiff::Timestamp>()
            .map(|moment| Self::from_millis(moment.as_millisecond()))
            .map_err(|_| "not an RFC 3339 time".to_owned())
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_with_milliseconds_and_read_back() {
        let moment = Timestamp::from_millis(1_796_032_800_005);
        assert_eq!(moment.to_string(), "2026-11-30T10:00:00.005Z");
        assert_eq!("2026-11-30T10:00:00.005Z".parse(), Ok(moment));
    }

    #[test]
    fn years_outside_the_range_are_clamped() {
        assert_eq!("1601-01-01T00:00:00Z".parse(), Ok(Timestamp::from_millis(0)));
    }
}
