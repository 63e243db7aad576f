//! Patterns of names: what differs only in numbers is one pattern.

/// The name with every run of digits replaced by `*`, and with it hexadecimal addresses (`0x*`).
pub(super) fn pattern(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        if let Some(hex) = rest.strip_prefix("0x") {
            let digits = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
            if digits > 0 {
                out.push_str("0x*");
                rest = hex.get(digits..).unwrap_or_default();
                continue;
            }
        }
        if first.is_ascii_digit() {
            out.push('*');
            rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        } else {
            out.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        }
    }
    out
}

/// The name with its last run of digits replaced by `*`: what tells the threads of one pool apart, but not the pools.
pub(super) fn last_number(name: &str) -> String {
    let Some(last) = name.rfind(|c: char| c.is_ascii_digit()) else { return name.to_owned() };
    let (head, tail) = (name.get(..last).unwrap_or_default(), name.get(last + 1..).unwrap_or_default());
    format!("{}*{tail}", head.trim_end_matches(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_stars() {
        for (name, expected) in [
            ("pool-3-thread-17", "pool-*-thread-*"),
            ("main", "main"),
            ("", ""),
            ("é9", "é*"),
            ("a.B$$Lambda.0x00007f12ab", "a.B$$Lambda.0x*"),
            ("0x", "*x"),
            ("GC Thread#0", "GC Thread#*"),
        ] {
            assert_eq!(pattern(name), expected);
        }
    }

    #[test]
    fn the_last_number_becomes_a_star() {
        for (name, expected) in
            [("pool-3-thread-17", "pool-3-thread-*"), ("9", "*"), ("é9é", "é*é"), ("main", "main"), ("", "")]
        {
            assert_eq!(last_number(name), expected);
        }
    }
}
