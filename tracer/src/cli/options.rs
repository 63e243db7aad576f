//! Options that several commands share, and how durations and sizes are written.

use std::time::{Duration, Instant};

use super::{Failure, demand::DemandOptions, inside::InsideOptions, values::words};
use crate::{
    ebpf::{
        clock::{ClockOptions, MAX_SAMPLE_HZ, USUAL_SAMPLE_HZ},
        load::{KernelOptions, Links},
        memory::RingSize,
    },
    guard::{Budget, ON_DEMAND_BUDGET, USUAL_BUDGET},
    lens::Lens,
    setup::{SessionConfig, Weaving},
    view::Lines,
};

/// What to look at, and for how long.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct WatchOptions {
    /// Stop after this time (`500ms`, `30s`, `2m`, `1h`); without it, Ctrl-C ends the session
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    pub(super) duration: Option<Duration>,

    /// Lenses to use, separated by commas; all but offcpu, wall and those of chosen methods and of JNI by default; with --inside those of what is named
    #[arg(short, long, value_name = "LENS", value_delimiter = ',', value_parser = words::<Lens>(), hide_possible_values = false)]
    pub(super) lens: Vec<Lens>,

    /// Size of each CPU's ring buffer (`4k`, `1m`; a power of two); fits the machine by default
    #[arg(long, value_name = "SIZE", value_parser = ring_bytes)]
    pub(super) ring_size: Option<u32>,

    /// Share of one core that the target may lose to traps before sites are taken away for a while
    /// (1%, and 5% where methods, all objects or JNI calls are looked at)
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(super) max_overhead: Option<f64>,

    /// For how long a budget that is not used is saved for bursts (`500ms`, `5s`); no 100 ms take more than a quarter of a core,
    /// or 15 times the budget
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = USUAL_BURST)]
    pub(super) burst: Duration,

    #[command(flatten)]
    pub(super) demand: DemandOptions,

    #[command(flatten)]
    pub(super) inside: InsideOptions,

    /// Take no stacks
    #[arg(long)]
    pub(super) no_stacks: bool,

    /// How sites are attached
    #[arg(long, value_parser = words::<Links>(), default_value = "auto", value_name = "HOW")]
    pub(super) links: Links,

    /// CPU samples per second (on each CPU), up to 10000
    #[arg(long, value_name = "HZ", default_value_t = USUAL_SAMPLE_HZ,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SAMPLE_HZ)))]
    pub(super) sample_rate: u32,

    /// Leave out absences from a CPU that are shorter than this (`1us`, `10ms`)
    #[arg(long, value_name = "TIME", value_parser = short_time)]
    pub(super) min_block: Option<Duration>,

    /// Put numbers in the place of the addresses of peers and the paths of files, and leave the program's arguments out
    #[arg(long)]
    pub(super) redact: bool,

    /// Let the kernel measure what the programs cost; it costs every eBPF program of the machine some 20 ns a run
    #[arg(long)]
    pub(super) bpf_stats: bool,
}

impl WatchOptions {
    /// The session that is asked for, but for what is woven: that is read later ([`Self::weaving`]).
    pub(super) fn session_config(&self, began: Instant) -> Result<SessionConfig, Failure> {
        Ok(SessionConfig {
            lenses: self.lenses(),
            kernel: self.kernel(),
            budget: self.budget(),
            began,
            stacks: !self.no_stacks,
            redacted: self.redact,
            exact: self.demand.exact,
            one_by_one: self.demand.each,
            timed: !self.demand.no_times,
            by_thread: self.demand.by_thread,
            lane: self.demand.lane,
            arm: self.demand.arm,
            predicate: self.demand.predicate(&self.lenses(), self.kernel())?,
            included: self.demand.wanted.include.clone(),
            weaving: None,
        })
    }

    /// The markers and properties that are asked for, where there are any.
    pub(super) fn weaving(&self) -> Result<Option<Weaving>, Failure> {
        self.inside.weaving(&self.lenses(), self.demand.each, self.demand.yes)
    }

    /// The lenses, in the order of the report, each once.
    pub(super) fn lenses(&self) -> Vec<Lens> {
        let inside = self.inside.lenses();
        let unnamed = if inside.is_empty() { Lens::USUAL } else { &inside };
        let asked = if self.lens.is_empty() { unnamed } else { &self.lens };
        Lens::ALL.iter().copied().filter(|lens| asked.contains(lens)).collect()
    }

    fn budget(&self) -> Budget {
        let usual = if self.is_on_demand() { ON_DEMAND_BUDGET } else { USUAL_BUDGET };
        Budget { share: self.max_overhead.unwrap_or(usual), burst_s: self.burst.as_secs_f64() }
    }

    fn is_on_demand(&self) -> bool {
        let lenses = self.lenses();
        self.demand.is_wanted(&lenses) || lenses.iter().any(|lens| *lens == Lens::Jni || lens.is_inside())
    }

    /// What the kernel side shall be like.
    pub(super) fn kernel(&self) -> KernelOptions {
        KernelOptions {
            ring: self.ring_size.map_or_else(|| self.shared_rings(), RingSize::Each),
            sites: 0,
            as_if_cpus: None,
            links: self.links,
            rows: 0,
            clocks: ClockOptions { sample_hz: self.sample_rate, min_block_ns: self.min_block_ns() },
            remember_away: false,
            statistics: self.bpf_stats,
            tallying: false,
            jni: false,
            marks: false,
        }
    }

    /// Where events may come one by one, a ring buffer must hold what arrives until it is emptied.
    fn shared_rings(&self) -> RingSize {
        if self.lenses().iter().any(|lens| lens.is_inside()) {
            RingSize::Share { all: 128 << 20, most: 32 << 20 }
        } else if self.is_on_demand() {
            RingSize::Share { all: 64 << 20, most: 8 << 20 }
        } else {
            RingSize::default()
        }
    }

    fn min_block_ns(&self) -> u64 {
        self.min_block.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Where the results go.
#[derive(Clone, Debug, Default, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(super) struct OutputOptions {
    /// Write to a file; its extension picks the format (.json, .ndjson, .txt, .html, .jtrace, for the JDK's tools .jfr,
    /// and for the stacks of one lens .folded, .svg, .pb.gz, .speedscope.json, .dot, .callgrind, for a distribution .hgrm); can be repeated; %p is the pid, %t the time, %h the host
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Vec<std::path::PathBuf>,

    /// Print the report as JSON
    #[arg(long, group = "format")]
    pub(super) json: bool,

    /// Print the report as text, on one screen
    #[arg(long, group = "format")]
    pub(super) text: bool,

    /// Print all of the text: every table, instead of one screen
    #[arg(long, conflicts_with = "json")]
    pub(super) full: bool,

    /// Whose stacks go into .folded, .svg, .pb.gz, .speedscope.json, .dot and .callgrind; by default the first that has any of
    /// cpu, wall, offcpu, locks, alloc, calls, methods, jni (calls first for a graph). Whose distribution goes into .hgrm. Of a lens with several profiles the first, or `LENS.PROFILE` (`locks.park_stacks`)
    #[arg(long, value_name = "LENS", value_parser = profile)]
    pub(super) profile: Option<ProfileChoice>,

    /// Leave line numbers out of these files, so that a method is one frame
    #[arg(long)]
    pub(super) no_lines: bool,
}

/// How much of a report is printed as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// What a screen holds.
    Screen,
    /// Every table.
    Whole,
}

/// Which stacks to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProfileChoice {
    /// The lens.
    pub(super) lens: Lens,
    /// The profile's id; the first of the lens where it is not given.
    pub(super) id: Option<String>,
}

pub(super) fn profile(text: &str) -> Result<ProfileChoice, String> {
    let (lens, id) = text.split_once('.').map_or((text, None), |(lens, id)| (lens, Some(id.to_owned())));
    let found = Lens::ALL.iter().find(|known| known.id() == lens);
    let lens = *found.ok_or_else(|| {
        let known: Vec<_> = Lens::ALL.iter().map(|lens| lens.id()).collect();
        format!("there is no lens `{lens}`; there are {}", known.join(", "))
    })?;
    Ok(ProfileChoice { lens, id })
}

impl OutputOptions {
    /// How much of the text is asked for.
    pub(super) const fn extent(&self) -> Extent {
        if self.full { Extent::Whole } else { Extent::Screen }
    }

    /// Whether lines of a method are told apart.
    pub(super) const fn lines(&self) -> Lines {
        if self.no_lines { Lines::Merged } else { Lines::Shown }
    }
}

/// [`crate::guard::USUAL_BURST_S`] as a user writes it.
const USUAL_BURST: &str = "5s";

/// Largest share of one core that a target may lose: all of 1,000 cores.
const MAX_PERCENT: f64 = 100_000.0;

/// A share from a percentage, with or without its sign.
fn percent(text: &str) -> Result<f64, String> {
    let number: f64 =
        text.strip_suffix('%').unwrap_or(text).trim().parse().map_err(|_| format!("`{text}` is not a percentage"))?;
    if number > 0.0 && number <= MAX_PERCENT {
        Ok(number / 100.0)
    } else {
        Err(format!("it must lie above 0 and up to {MAX_PERCENT}"))
    }
}

/// A number followed by a unit, without one in between.
fn split_unit(text: &str) -> Result<(f64, &str), String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number = number.parse().map_err(|_| format!("`{text}` does not begin with a number"))?;
    Ok((number, unit.trim()))
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split_unit(text)?;
    let seconds = match unit {
        "ms" => number / 1e3,
        "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        "" => return Err(format!("`{text}` has no unit: write {text}s or {text}ms")),
        _ => return Err(format!("`{unit}` is not one of ms, s, m, h")),
    };
    if seconds <= 0.0 {
        return Err("a duration of 0 would show nothing".to_owned());
    }
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// Like [`duration`], with the units of short times too; 0 means all.
fn short_time(text: &str) -> Result<Duration, String> {
    let (number, unit) = split_unit(text)?;
    match unit {
        "ns" => Duration::try_from_secs_f64(number / 1e9).map_err(|error| error.to_string()),
        "us" => Duration::try_from_secs_f64(number / 1e6).map_err(|error| error.to_string()),
        _ if number == 0.0 => Ok(Duration::ZERO),
        _ => duration(text).map_err(|error| error.replace("one of ms", "one of ns, us, ms")),
    }
}

fn ring_bytes(text: &str) -> Result<u32, String> {
    let (number, unit) = split_unit(text)?;
    let factor = match unit {
        "" => 1.0,
        "k" | "K" => 1024.0,
        "m" | "M" => 1024.0 * 1024.0,
        _ => return Err(format!("`{unit}` is not one of k, m")),
    };
    let exponent = (number * factor).log2();
    let smallest = f64::from(crate::ebpf::memory::MIN_RING_BYTES.ilog2());
    if !(smallest..=30.0).contains(&exponent) || exponent.fract() != 0.0 {
        return Err("a ring buffer is a power of two from 4k to 1024m".to_owned());
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be a whole number up to 30"
    )]
    let exponent = exponent as u32;
    Ok(1 << exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_and_are_not_zero() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert!(duration("30").is_err_and(|error| error.contains("30s")));
        for wrong in ["0s", "", "s", "-1s", "1x", "1e9999s", "99999999999999999999h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_usual_burst_is_the_guards() {
        assert_eq!(duration(USUAL_BURST).map(|time| time.as_secs_f64()), Ok(crate::guard::USUAL_BURST_S));
    }

    #[test]
    fn short_times_have_units_down_to_nanoseconds() {
        assert_eq!(short_time("1us"), Ok(Duration::from_micros(1)));
        assert_eq!(short_time("250ns"), Ok(Duration::from_nanos(250)));
        assert_eq!(short_time("10ms"), Ok(Duration::from_millis(10)));
        assert_eq!(short_time("0"), Ok(Duration::ZERO));
        for wrong in ["1", "-1us", "us", "1x", "1e99us"] {
            assert!(short_time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn shares_are_percentages_above_0() {
        assert_eq!(percent("5%"), Ok(0.05));
        assert_eq!(percent("0.5"), Ok(0.005));
        for wrong in ["0", "100001", "-1%", "x", "", "nan"] {
            assert!(percent(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn ring_buffers_are_powers_of_two_from_a_page_on() {
        assert_eq!(ring_bytes("4k"), Ok(4096));
        assert_eq!(ring_bytes("1m"), Ok(1 << 20));
        for wrong in ["3k", "1k", "5000", "0", "99999m"] {
            assert!(ring_bytes(wrong).is_err(), "{wrong}");
        }
    }
}
