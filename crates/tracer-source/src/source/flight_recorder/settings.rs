//! What the recorder was told to record: which events, from which duration on, how often.

use std::collections::BTreeMap;

use super::values::Object;

/// How one type of events was recorded. Where a file says several things over time, the most is said that holds for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Setting {
    /// Whether it was on at any time; absent where nothing says so.
    pub(super) enabled: Option<bool>,
    /// What is shorter was left out.
    pub(super) threshold_ns: u64,
    /// Time from one sample to the next.
    pub(super) period_ns: Option<u64>,
    /// Most events for a time, as the recorder writes it (`100/s`).
    pub(super) throttle: Option<String>,
}

/// Those of all types, by the names of the types.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings(BTreeMap<String, Setting>);

impl Settings {
    /// Takes an event that tells of one; `of` names the type that it is about.
    pub(super) fn take(&mut self, event: &Object<'_, '_>, of: &str) {
        let (Some(name), Some(value)) = (event.text("name"), event.text("value")) else { return };
        self.set(of, &name, &value);
    }

    pub(super) fn set(&mut self, of: &str, name: &str, value: &str) {
        let setting = self.0.entry(of.to_owned()).or_default();
        match name {
            "enabled" => setting.enabled = Some(setting.enabled == Some(true) || value == "true"),
            "threshold" => setting.threshold_ns = setting.threshold_ns.max(duration_ns(value).unwrap_or(0)),
            "period" | "interval" => setting.period_ns = setting.period_ns.max(duration_ns(value)),
            "throttle" if value != "off" => setting.throttle = Some(value.chars().take(40).collect()),
            _ => {}
        }
    }

    /// Of a type of events.
    pub(super) fn of(&self, name: &str) -> Setting {
        self.0.get(name).cloned().unwrap_or_default()
    }
}

/// `20 ms`, or a number of nanoseconds.
fn duration_ns(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "" | "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_the_recorder_writes_them() {
        for (text, expected) in [
            ("20 ms", Some(20_000_000)),
            ("0 ns", Some(0)),
            ("10000000", Some(10_000_000)),
            ("1 s", Some(1_000_000_000)),
            ("everyChunk", None),
            ("99999999999 d", None),
        ] {
            assert_eq!(duration_ns(text), expected, "{text}");
        }
    }

    #[test]
    fn of_settings_that_change_the_most_is_said_that_holds_for_all() {
        let mut settings = Settings::default();
        for (name, value) in [
            ("enabled", "true"),
            ("threshold", "20 ms"),
            ("enabled", "false"),
            ("threshold", "10 ms"),
            ("throttle", "off"),
        ] {
            settings.set("jdk.ThreadPark", name, value);
        }
        let park = settings.of("jdk.ThreadPark");
        assert_eq!((park.enabled, park.threshold_ns, park.throttle), (Some(true), 20_000_000, None));
        assert_eq!(settings.of("jdk.ThreadSleep"), Setting::default());
    }
}
