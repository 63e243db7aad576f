//! How numbers read in sentences: two to three significant digits with the unit that fits. Columns, which show
//! a digit more, have [`super::column`]; units are spelled the same.

/// `870 ns`, `3.2 ms`, `412 ms`, `3.2 s`, `2 m 05 s`, `1 h 03 m`.
pub fn duration(ns: u64) -> String {
    const MINUTE: u64 = 60_000_000_000;
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => scaled(ns, 1_000, "us"),
        1_000_000..1_000_000_000 => scaled(ns, 1_000_000, "ms"),
        1_000_000_000..120_000_000_000 => scaled(ns, 1_000_000_000, "s"),
        _ if ns < 120 * MINUTE => format!("{} m {:02} s", ns / MINUTE, ns % MINUTE / 1_000_000_000),
        _ => format!("{} h {:02} m", ns / (60 * MINUTE), ns / MINUTE % 60),
    }
}

/// `870 B`, `1.5 KiB`, `12 MiB`.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut amount = bytes as f64 / 1024.0;
    let mut unit = 0;
    // 1023.95 would read `1024.0`.
    while amount >= 1023.5 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    format!("{} {}", digits(amount), UNITS.get(unit).copied().unwrap_or("EiB"))
}

/// `31 %`, `3.4 %`, `0.12 %`.
pub fn percent(percent: f64) -> String {
    if percent > 0.0 && percent < 0.1 { format!("{percent:.2} %") } else { format!("{} %", digits(percent)) }
}

/// `1,234,567`.
pub fn count(count: u64) -> String {
    let plain = count.to_string();
    let mut out = String::with_capacity(plain.len() + plain.len() / 3);
    for (index, digit) in plain.chars().enumerate() {
        if index > 0 && (plain.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A rate of things: `0.25/s`, `12/s`, `1.5 k/s`, `3.2 M/s`.
pub fn rate(per_second: f64) -> String {
    match per_second {
        rate if rate >= 999_500.0 => format!("{} M/s", digits(rate / 1e6)),
        rate if rate >= 999.5 => format!("{} k/s", digits(rate / 1e3)),
        rate if rate > 0.0 && rate < 0.1 => format!("{rate:.2}/s"),
        rate => format!("{}/s", digits(rate)),
    }
}

/// A rate of bytes: `1.5 GiB/s`.
pub fn byte_rate(per_second: f64) -> String {
    format!("{}/s", bytes(whole(per_second)))
}

/// A word with its number: `1 thread`, `41 threads`.
pub fn plural(amount: u64, singular: &str, plural: &str) -> String {
    format!("{} {}", count(amount), if amount == 1 { singular } else { plural })
}

/// The nearest whole number that is not negative.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "float casts saturate, and -1 becomes 0")]
pub fn whole(value: f64) -> u64 {
    value.round() as u64
}

fn scaled(value: u64, unit: u64, name: &str) -> String {
    format!("{} {name}", digits(value as f64 / unit as f64))
}

/// One decimal below 10, none above; `10.0` is `10`.
fn digits(value: f64) -> String {
    if value.abs() < 9.95 && value != 0.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_the_unit_that_fits() {
        for (ns, expected) in [
            (0, "0 ns"),
            (870, "870 ns"),
            (3_200, "3.2 us"),
            (412_000_000, "412 ms"),
            (3_240_000_000, "3.2 s"),
            (9_960_000_000, "10 s"),
            (125_000_000_000, "2 m 05 s"),
            (7_380_000_000_000, "2 h 03 m"),
        ] {
            assert_eq!(duration(ns), expected);
        }
        assert!(duration(u64::MAX).ends_with(" m"));
    }

    #[test]
    fn amounts_rates_and_shares() {
        assert_eq!(
            [bytes(1023), bytes(1536), bytes(1 << 20), bytes(1_048_575)],
            ["1023 B", "1.5 KiB", "1.0 MiB", "1.0 MiB"]
        );
        assert_eq!([count(0), count(999), count(1_234_567)], ["0", "999", "1,234,567"]);
        assert_eq!([percent(31.2), percent(0.0), percent(3.44), percent(0.012)], ["31 %", "0 %", "3.4 %", "0.01 %"]);
        assert_eq!([rate(12.0), rate(1500.0), rate(3.2e6), rate(0.02)], ["12/s", "1.5 k/s", "3.2 M/s", "0.02/s"]);
        assert_eq!([plural(1, "thread", "threads"), plural(41, "thread", "threads")], ["1 thread", "41 threads"]);
        assert_eq!([whole(-1.0), whole(2.5), whole(f64::NAN)], [0, 3, 0]);
        assert!(bytes(u64::MAX).ends_with("EiB"));
    }
}
