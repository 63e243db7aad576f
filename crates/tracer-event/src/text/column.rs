//! How numbers read in columns, which are compared with each other: three significant digits. Sentences ([`super::format`]) are
//! read alone and show two; units are spelled the same.

pub use super::format::count;
use super::format::whole;

/// What stands for a number that is not known.
pub const MISSING: &str = "-";

/// About three significant digits below 1000, whole numbers with separators above.
pub fn significant(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude >= 999.5 {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", count(whole(magnitude)));
    }
    if value.fract() == 0.0 || magnitude >= 99.95 {
        format!("{value:.0}")
    } else if magnitude >= 9.995 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// A duration: `871 ns`, `12.3 us`, `412 ms`, `3.21 s`, `2 m 05 s`, `3 h 04 m`, `12 d 03 h`.
pub fn duration(ns: f64) -> String {
    if !ns.is_finite() {
        return MISSING.to_owned();
    }
    // The limits lie where rounding to three digits reaches the next unit.
    for (unit, size) in [("ns", 1.0), ("us", 1e3), ("ms", 1e6)] {
        if ns < 999.5 * size {
            return format!("{} {unit}", significant(ns / size));
        }
    }
    let seconds = ns / 1e9;
    if seconds < 99.95 {
        return format!("{seconds:.*} s", if seconds < 9.995 { 2 } else { 1 });
    }
    let seconds = whole(seconds);
    if seconds < 3600 {
        format!("{} m {:02} s", seconds / 60, seconds % 60)
    } else if seconds < 86_400 {
        format!("{} h {:02} m", seconds / 3600, seconds / 60 % 60)
    } else {
        format!("{} d {:02} h", seconds / 86_400, seconds / 3600 % 24)
    }
}

/// An amount of memory, in powers of 1024: `812 B`, `1.4 GiB`.
pub fn bytes(value: f64) -> String {
    if !value.is_finite() {
        return MISSING.to_owned();
    }
    let mut scaled = value;
    for unit in ["B", "KiB", "MiB", "GiB", "TiB"] {
        if scaled < 999.5 {
            let decimals = usize::from(unit != "B" && scaled < 99.95);
            return format!("{scaled:.decimals$} {unit}");
        }
        scaled /= 1024.0;
    }
    format!("{scaled:.1} PiB")
}

/// A share: `31.0 %`, `0.01 %`, `<0.01 %` where it is not quite nothing.
pub fn percent(value: f64) -> String {
    if !value.is_finite() {
        MISSING.to_owned()
    } else if value > 0.0 && value < 0.005 {
        "<0.01 %".to_owned()
    } else if value == 0.0 || value >= 99.95 {
        format!("{value:.0} %")
    } else if value < 1.0 {
        format!("{value:.2} %")
    } else {
        format!("{value:.1} %")
    }
}

/// A wall-clock time in UTC: `2026-03-01 12:30:05 UTC`.
pub fn wall_clock(ms: u64) -> String {
    let seconds = ms / 1000;
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// Year, month and day of the given day after 1970-01-01, in the Gregorian calendar.
fn date(mut days: u64) -> (u64, u64, u64) {
    // A period of 400 years repeats itself; whole ones are taken off at once so that the loops below stay short.
    const PERIOD: u64 = 146_097;
    let mut year = 1970 + days / PERIOD * 400;
    days %= PERIOD;
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}
