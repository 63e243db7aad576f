//! Numbers of a report for people: one form per [`Unit`] ([`crate::text::column`] has the digits), and the layout of columns that
//! text and TUI share.
//!
//! Machine formats (JSON, NDJSON) do not pass through here: they carry plain numbers in the unit that their key names.

pub use crate::text::column::{MISSING, bytes, count, duration, percent, wall_clock};
use crate::{
    report::{Cell, Number, Unit},
    text::{column::significant, format::whole},
};

/// A number in its unit.
pub fn float(value: f64, unit: Unit) -> String {
    if !value.is_finite() {
        return MISSING.to_owned();
    }
    match unit {
        Unit::Text | Unit::Count => significant(value),
        Unit::Ns => duration(value),
        Unit::Bytes => bytes(value),
        Unit::Percent => percent(value),
        Unit::PerSecond => format!("{}/s", significant(value)),
        Unit::BytesPerSecond => format!("{}/s", bytes(value)),
        Unit::Address => format!("{:#x}", whole(value)),
    }
}

/// A whole number in its unit.
pub fn int(value: u64, unit: Unit) -> String {
    match unit {
        Unit::Text | Unit::Count => count(value),
        Unit::Address => format!("{value:#x}"),
        Unit::Ns | Unit::Bytes | Unit::Percent | Unit::PerSecond | Unit::BytesPerSecond => float(value as f64, unit),
    }
}

/// A cell in its column's unit. A text comes back as it is: the caller escapes it for its medium.
pub fn cell(cell: &Cell, unit: Unit) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Int(value) => int(*value, unit),
        Cell::Float(value) => float(*value, unit),
        Cell::Missing => MISSING.to_owned(),
    }
}

/// Whether a column of this unit is aligned to the right.
pub const fn is_numeric(unit: Unit) -> bool {
    !matches!(unit, Unit::Text)
}

/// The key figure behind a summary's key: what it is called and how it reads. The unit is the key's ending.
pub fn figure(key: &str, number: Number) -> (String, String) {
    const ENDINGS: &[(&str, Unit)] = &[
        ("_bytes_per_s", Unit::BytesPerSecond),
        ("_per_s", Unit::PerSecond),
        ("_bytes", Unit::Bytes),
        ("_percent", Unit::Percent),
        ("_ns", Unit::Ns),
    ];
    let ending = ENDINGS.iter().find_map(|(ending, unit)| key.strip_suffix(ending).map(|stem| (stem, *unit)));
    let (stem, unit) = ending.unwrap_or((key, Unit::Count));
    let value = match number {
        Number::Int(value) => int(value, unit),
        Number::Float(value) => float(value, unit),
    };
    (stem.replace('_', " "), value)
}

/// Columns of a row, fitted into a width: texts give way first, the widest of them down to a readable minimum, then columns at the
/// right are left out (`None`). What those leave is for the texts that stay.
pub fn columns(natural: &[usize], units: &[Unit], width: usize, gap: usize) -> Vec<Option<usize>> {
    const READABLE: usize = 12;
    // The first column names the row.
    const READABLE_FIRST: usize = 24;
    let is_text = |at: usize| units.get(at).is_some_and(|unit| !is_numeric(*unit));
    let least = |at: usize| match at {
        _ if !is_text(at) => natural[at],
        0 => natural[at].min(READABLE_FIRST.min(width / 3).max(READABLE)),
        _ => natural[at].min(READABLE),
    };
    let gaps = |count: usize| gap * count.saturating_sub(1);
    let has_room = |count: &usize| (0..*count).map(least).sum::<usize>() + gaps(*count) <= width;
    let count = (1..=natural.len()).rev().find(has_room).unwrap_or(0);
    let mut widths: Vec<usize> = natural[..count].to_vec();
    while widths.iter().sum::<usize>() + gaps(count) > width {
        let texts = widths.iter().enumerate().filter(|(at, width)| is_text(*at) && **width > least(*at));
        let Some((widest, _)) = texts.max_by_key(|(_, width)| **width) else { break };
        widths[widest] -= 1;
    }
    // The first column names the row; it is cut rather than left out.
    let first = (count == 0 && !natural.is_empty()).then_some(width);
    let shown = widths.into_iter().chain(first).map(Some);
    shown.chain(std::iter::repeat(None)).take(natural.len()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_separators() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(float(1_234.6, Unit::Count), "1,235");
        assert_eq!(float(12.34, Unit::PerSecond), "12.3/s");
    }

    #[test]
    fn durations_take_the_unit_that_fits() {
        let cases = [
            (0.0, "0 ns"),
            (871.0, "871 ns"),
            (999.6, "1.00 us"),
            (12_340.0, "12.3 us"),
            (412e6, "412 ms"),
            (3.214e9, "3.21 s"),
            (9.999e9, "10.0 s"),
            (59.96e9, "60.0 s"),
            (125e9, "2 m 05 s"),
            (11_040e9, "3 h 04 m"),
            (97_200e9, "1 d 03 h"),
        ];
        for (ns, text) in cases {
            assert_eq!(duration(ns), text, "{ns}");
        }
    }

    #[test]
    fn bytes_count_in_1024() {
        assert_eq!(bytes(812.0), "812 B");
        assert_eq!(bytes(1024.0), "1.0 KiB");
        assert_eq!(bytes(1.4 * 1024.0 * 1024.0 * 1024.0), "1.4 GiB");
        assert_eq!(float(512.0 * 1024.0 * 1024.0, Unit::BytesPerSecond), "512 MiB/s");
    }

    #[test]
    fn small_shares_are_not_nothing() {
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.001), "<0.01 %");
        assert_eq!(percent(0.012), "0.01 %");
        assert_eq!(percent(31.04), "31.0 %");
        assert_eq!(percent(100.0), "100 %");
    }

    #[test]
    fn numbers_that_are_none_show_as_missing() {
        for unit in [Unit::Count, Unit::Ns, Unit::Bytes, Unit::Percent, Unit::PerSecond, Unit::Address] {
            assert_eq!(float(f64::NAN, unit), MISSING);
            assert_eq!(float(f64::INFINITY, unit), MISSING);
        }
        assert_eq!(cell(&Cell::Missing, Unit::Ns), MISSING);
    }

    #[test]
    fn key_endings_are_units() {
        assert_eq!(figure("pause_max_ns", Number::Int(412_000_000)), ("pause max".into(), "412 ms".into()));
        let rate = figure("estimated_bytes_per_s", Number::Float(2048.0));
        assert_eq!(rate, ("estimated".into(), "2.0 KiB/s".into()));
        assert_eq!(figure("collections", Number::Int(1234)), ("collections".into(), "1,234".into()));
    }

    #[test]
    fn addresses_are_hexadecimal() {
        assert_eq!(int(0x7f00_1234, Unit::Address), "0x7f001234");
    }

    #[test]
    fn wall_clock_knows_leap_years() {
        assert_eq!(wall_clock(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(wall_clock(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(wall_clock(1_772_368_205_000), "2026-03-01 12:30:05 UTC");
        assert_eq!(wall_clock(4_107_542_400_000), "2100-03-01 00:00:00 UTC");
    }

    #[test]
    fn texts_give_way_before_numbers_and_numbers_before_the_first_column() {
        let units = [Unit::Text, Unit::Count, Unit::Ns];
        assert_eq!(columns(&[20, 5, 5], &units, 40, 2), [Some(20), Some(5), Some(5)]);
        assert_eq!(columns(&[60, 5, 5], &units, 40, 2), [Some(26), Some(5), Some(5)]);
        assert_eq!(columns(&[60, 5, 5], &units, 20, 2), [Some(13), Some(5), None]);
        assert_eq!(columns(&[60, 5, 5], &units, 6, 2), [Some(6), None, None]);
    }

    #[test]
    fn texts_share_what_there_is_and_what_columns_leave_that_have_no_room() {
        let units = [Unit::Text, Unit::Text, Unit::Count, Unit::Count];
        assert_eq!(columns(&[40, 40, 5, 5], &units, 50, 2), [Some(17), Some(17), Some(5), Some(5)]);
        assert_eq!(columns(&[19, 30, 7, 30], &units, 72, 2), [Some(19), Some(30), Some(7), None]);
    }
}
