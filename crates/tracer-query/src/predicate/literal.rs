//! Amounts with units.

/// Units of bytes, and how many bytes each has.
pub(super) const BYTES: [(&str, u64); 9] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Units of time, and how many nanoseconds each has.
pub(super) const TIMES: [(&str, u64); 5] =
    [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000)];

/// Why an amount is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// It is beyond 64 bits.
    TooLarge,
    /// It is no whole number of the smallest unit.
    Fraction,
    /// It is no number.
    Malformed,
}

/// The value of `12` or `1.5` times a unit.
pub(super) fn amount(digits: &str, unit: u64) -> Result<u64, Wrong> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let number = |digits: &str| -> Result<u128, Wrong> {
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(Wrong::Malformed);
        }
        digits.parse().ok().filter(|_| digits.len() <= 20).ok_or(Wrong::TooLarge)
    };
    let fraction = fraction.trim_end_matches('0');
    let part = if fraction.is_empty() {
        0
    } else {
        let scale = 10_u128.pow(u32::try_from(fraction.len().min(20)).unwrap_or(20));
        let scaled =
            number(fraction).map_err(|wrong| if wrong == Wrong::TooLarge { Wrong::Fraction } else { wrong })?;
        let scaled = scaled * u128::from(unit);
        if scaled % scale != 0 {
            return Err(Wrong::Fraction);
        }
        scaled / scale
    };
    let value = number(whole)? * u128::from(unit) + part;
    u64::try_from(value).ok().ok_or(Wrong::TooLarge)
}

/// The amount in the largest unit that needs no fraction.
fn written(value: u64, units: &[(&str, u64)]) -> String {
    let fitting = units.iter().filter(|&&(_, size)| value >= size && value.is_multiple_of(size));
    match fitting.max_by_key(|&&(_, size)| size) {
        Some((unit, size)) => format!("{}{unit}", value / size),
        None => format!("{value}{}", units.first().map_or("", |&(unit, _)| unit)),
    }
}

/// Bytes as a predicate writes them.
pub(super) fn bytes(value: u64) -> String {
    written(value, &BYTES)
}

/// Nanoseconds as a predicate writes them.
pub(super) fn time(value: u64) -> String {
    written(value, &TIMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact_or_refused() {
        for (digits, unit, expected) in [
            ("10", 1_000_000, Ok(10_000_000)),
            ("1.5", 1_000_000, Ok(1_500_000)),
            ("1.50", 10, Ok(15)),
            ("0.001", 1_000, Ok(1)),
            ("0.5", 1, Err(Wrong::Fraction)),
            ("0.00000000000000000000001", 1_000_000_000, Err(Wrong::Fraction)),
            ("18446744073709551615", 1, Ok(u64::MAX)),
            ("18446744073709551616", 1, Err(Wrong::TooLarge)),
            ("99999999999999999999999", 1, Err(Wrong::TooLarge)),
            ("18446744073709551615", 2, Err(Wrong::TooLarge)),
            ("1.2.3", 1, Err(Wrong::Malformed)),
            ("1.", 1, Ok(1)),
        ] {
            assert_eq!(amount(digits, unit), expected, "{digits} {unit}");
        }
    }

    #[test]
    fn amounts_are_written_without_fractions() {
        assert_eq!(bytes(0), "0B");
        assert_eq!(bytes(1_048_576), "1MiB");
        assert_eq!(bytes(1_000_000), "1MB");
        assert_eq!(bytes(1_025), "1025B");
        assert_eq!(time(90_000_000_000), "90s");
        assert_eq!(time(120_000_000_000), "2m");
        assert_eq!(time(1_500), "1500ns");
    }
}
