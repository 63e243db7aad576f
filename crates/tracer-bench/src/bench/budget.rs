//! What watching may cost: limits for figures of a measurement, and whether they hold.
//!
//! A budget is a text of lines, with `#` before remarks: program, configuration, figure, limit, noise.
//!
//! ```text
//! micro:idle  attach       time                             1.01  0.02
//! micro:park  every:locks  event-cost/peer:bpftrace-park    3.00  0.50
//! ```
//!
//! A limit is a ratio, never a time, so that it holds on any machine: `time` and `cpu` are what the JVM takes, to what it
//! takes plain; `event-cost/OTHER` is what comes on top of plain, to what comes on top in the configuration OTHER. The noise
//! is what was seen of it when nothing had changed. A limit is broken when the figure is above limit plus noise with
//! certainty: when the lower end of its interval is.

use std::{collections::BTreeSet, fmt, fs::File, io::Read as _, path::Path};

use super::{Error, comparison::Runs, configuration::PLAIN, results::Results, statistics::Estimate};

/// Largest budget that is read.
const MAX_BYTES: u64 = 1 << 20;

/// Limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// In the order of the file.
    pub limits: Vec<Limit>,
}

/// What is limited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Time of the iteration, to that of the plain one.
    Time,
    /// CPU time of the JVM, to that of the plain one.
    Cpu,
    /// Time that comes on top, to what comes on top in this configuration.
    EventCost(String),
}

/// A limit of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// Name of the program.
    pub program: String,
    /// Name of the configuration.
    pub configuration: String,
    /// What is limited.
    pub figure: Figure,
    /// The ratio that is allowed.
    pub limit: f64,
    /// What noise adds to it.
    pub noise: f64,
}

/// What became of a limit.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It is not broken with certainty.
    Holds(Estimate),
    /// It is.
    Broken(Estimate),
    /// There is no figure, and why: a limit that was not looked at guards nothing.
    Unmeasured(&'static str),
}

impl Outcome {
    /// Whether it holds.
    pub const fn holds(&self) -> bool {
        matches!(self, Self::Holds(_))
    }
}

impl Budget {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let failed = || Error::system(format!("read {}", path.display()));
        let mut text = String::new();
        let file = File::open(path).map_err(failed())?;
        file.take(MAX_BYTES).read_to_string(&mut text).map_err(failed())?;
        Self::parse(&text).map_err(|found| Error::Unexpected {
            path: path.to_owned(),
            expected: "a budget (lines of program, configuration, figure, limit, noise)",
            found,
        })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut limits: Vec<Limit> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let limit = Limit::parse(line).map_err(|why| format!("{why} in line {}: {line}", number + 1))?;
            let same = |other: &Limit| {
                (&other.program, &other.configuration, &other.figure)
                    == (&limit.program, &limit.configuration, &limit.figure)
            };
            if limits.iter().any(same) {
                return Err(format!("a second limit of the same figure in line {}", number + 1));
            }
            limits.push(limit);
        }
        if limits.is_empty() { Err("it has no line".to_owned()) } else { Ok(Self { limits }) }
    }

    /// The pairs of program and configuration that must be measured.
    pub fn pairs(&self) -> BTreeSet<(&str, &str)> {
        self.limits.iter().flat_map(Limit::pairs).collect()
    }

    /// What became of each limit, in their order.
    pub fn judge(&self, results: &Results) -> Vec<Outcome> {
        let runs = Runs::new(results);
        self.limits.iter().map(|limit| limit.judge(&runs)).collect()
    }
}

impl Limit {
    fn parse(line: &str) -> Result<Self, &'static str> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [program, configuration, figure, limit, noise] = words[..] else {
            return Err("not five words");
        };
        let figure = match figure.split_once('/') {
            None if figure == "time" => Figure::Time,
            None if figure == "cpu" => Figure::Cpu,
            Some(("event-cost", other)) if !other.is_empty() => Figure::EventCost(other.to_owned()),
            None | Some(_) => return Err("a figure that is not `time`, `cpu` or `event-cost/CONFIGURATION`"),
        };
        let number = |word: &str, least: f64| {
            let number = word.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= least);
            number.ok_or("a limit or noise that is no number of that kind")
        };
        Ok(Self {
            program: program.to_owned(),
            configuration: configuration.to_owned(),
            figure,
            // What does not cost more than nothing cannot be told from noise.
            limit: number(limit, f64::MIN_POSITIVE)?,
            noise: number(noise, 0.0)?,
        })
    }

    /// What must be measured for it.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let other = match &self.figure {
            Figure::Time | Figure::Cpu => None,
            Figure::EventCost(other) => Some(other.as_str()),
        };
        let configurations = [Some(PLAIN), Some(self.configuration.as_str()), other];
        configurations.into_iter().flatten().map(|configuration| (self.program.as_str(), configuration))
    }

    fn judge(&self, runs: &Runs<'_>) -> Outcome {
        let Self { program, configuration, figure, limit, noise } = self;
        let ratios = match figure {
            Figure::Time => runs.slowdown(program, configuration),
            Figure::Cpu => runs.cpu(program, configuration),
            Figure::EventCost(other) => runs.relative_cost(program, configuration, other),
        };
        let Some(estimate) = ratios.map(|ratios| ratios.estimate()) else {
            return Outcome::Unmeasured(
                "it was not run in all that is needed, or what it is compared with costs nothing that can be seen",
            );
        };
        match estimate.interval {
            None => Outcome::Unmeasured("there are too few runs"),
            Some(interval) if interval.low > limit + noise => Outcome::Broken(estimate),
            Some(_) => Outcome::Holds(estimate),
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time => f.pad("time"),
            Self::Cpu => f.pad("cpu"),
            Self::EventCost(other) => f.pad(&format!("event-cost/{other}")),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, estimate) = match self {
            Self::Holds(estimate) => ("holds", estimate),
            Self::Broken(estimate) => ("BROKEN", estimate),
            Self::Unmeasured(why) => return write!(f, "NOT MEASURED: {why}"),
        };
        write!(f, "{word}: {:.3}", estimate.value)?;
        match estimate.interval {
            None => Ok(()),
            Some(interval) => write!(f, " ({:.3} to {:.3})", interval.low, interval.high),
        }
    }
}

#[cfg(test)]
mod tests;
