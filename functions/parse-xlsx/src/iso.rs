//! Days and times written as ISO 8601, as Strict workbooks and `OpenDocument` write them.

/// The serial number of `2024-01-15`, `2024-01-15T10:30:00`, `T10:30:00` or `10:30`, counted from the last day of 1899;
/// `None` for anything else.
#[allow(clippy::arithmetic_side_effects, reason = "every part is checked to be small")]
pub(crate) fn serial(text: &str) -> Option<f64> {
    let text = text.trim().trim_end_matches('Z');
    let (day, time) = match text.split_once('T') {
        Some((day, time)) => (day, time),
        None if text.contains(':') => ("", text),
        None => (text, ""),
    };
    if day.is_empty() && time.is_empty() {
        return None;
    }
    let mut serial = 0.0;
    if !day.is_empty() {
        let mut parts = day.split('-').map(str::parse::<i64>);
        let (Some(Ok(year)), Some(Ok(month)), Some(Ok(date)), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
            return None;
        };
        if !(1900..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&date) {
            return None;
        }
        let days = days_from_civil(year, month, date) - days_from_civil(1899, 12, 30);
        // The 29th of February 1900 is counted although it never was.
        serial += (if days < 61 { days - 1 } else { days }) as f64;
    }
    if !time.is_empty() {
        let mut parts = time.split(':').map(str::parse::<f64>);
        let mut next = || parts.next().and_then(Result::ok).filter(|part| (0.0..86_400.0).contains(part));
        let (hours, minutes) = (next()?, next()?);
        serial += (hours * 3600.0 + minutes * 60.0 + next().unwrap_or(0.0)) / 86_400.0;
    }
    Some(serial)
}

/// Days since 1970-01-01 in the Gregorian calendar (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
#[allow(clippy::arithmetic_side_effects, reason = "called with years of at most four digits")]
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::serial;

    #[test]
    fn serials() {
        for (text, number) in [
            ("2024-01-15", 45_306.0),
            ("2024-01-15T18:00:00Z", 45_306.75),
            ("1900-01-01", 1.0),
            ("1900-03-01", 61.0),
            ("12:00", 0.5),
            ("T06:00:00", 0.25),
        ] {
            assert_eq!(serial(text), Some(number), "{text}");
        }
        for bad in ["", "soon", "2024-13-01", "1-2", "99999-01-01", "12", "::", "T"] {
            assert_eq!(serial(bad), None, "{bad}");
        }
    }
}
