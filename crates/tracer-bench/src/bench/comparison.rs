//! What results say: each program in each configuration against the same program plain. Worked out from the results alone.
//!
//! What was not measured, or cannot be said, is absent.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    configuration::PLAIN,
    results::{self, Memory, Observed, Results, Run},
    statistics::{self, Estimate, Quartiles, Ratios, Verdict},
};

/// Something that every run has a number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Time of the iteration.
    Wall,
    /// CPU time of the JVM.
    Cpu,
    /// Number of collections.
    Collections,
    /// Time in collections.
    CollectionTime,
    /// Largest use of the heap.
    PeakHeap,
    /// Bytes allocated.
    Allocated,
    /// Bytes that moved into the old generation.
    Promoted,
}

impl Quantity {
    /// What the JVM says of its memory: it should be the same whoever watches.
    pub const MEMORY: [Self; 5] =
        [Self::Collections, Self::CollectionTime, Self::PeakHeap, Self::Allocated, Self::Promoted];

    const ALL: [Self; 7] = [
        Self::Wall,
        Self::Cpu,
        Self::Collections,
        Self::CollectionTime,
        Self::PeakHeap,
        Self::Allocated,
        Self::Promoted,
    ];

    /// The word for it in a table.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Wall => "time",
            Self::Cpu => "CPU time",
            Self::Collections => "collections",
            Self::CollectionTime => "time in collections",
            Self::PeakHeap => "peak heap",
            Self::Allocated => "allocated",
            Self::Promoted => "promoted",
        }
    }

    /// The number of a run, if it was measured. An iteration that took no time was not.
    pub const fn of(self, run: &Run) -> Option<u64> {
        let Memory { collections, collection_ns, peak_heap_bytes, allocated_bytes, promoted_bytes } = run.memory;
        match self {
            Self::Wall if run.wall_ns == 0 => None,
            Self::Wall => Some(run.wall_ns),
            Self::Cpu => run.cpu_ns,
            Self::Collections => collections,
            Self::CollectionTime => collection_ns,
            Self::PeakHeap => peak_heap_bytes,
            Self::Allocated => allocated_bytes,
            Self::Promoted => promoted_bytes,
        }
    }
}

/// A program without an observer.
#[derive(Clone, Debug, PartialEq)]
pub struct Plain {
    /// Its name.
    pub program: String,
    /// How often it ran.
    pub runs: usize,
    /// Times of its iterations, in nanoseconds.
    pub wall_ns: Option<Quartiles>,
}

/// A program in a configuration, against the same program plain.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Name of the program.
    pub program: String,
    /// Name of the configuration.
    pub configuration: String,
    /// How often it ran in it.
    pub runs: usize,
    /// Time of the iteration, as a ratio.
    pub slowdown: Option<Estimate>,
    /// CPU time of the JVM, as a ratio.
    pub cpu: Option<Estimate>,
    /// CPU time of the observer's own process from its start to its end, the median.
    pub observer_cpu_ns: Option<f64>,
    /// Largest memory of the observer's own process in any run.
    pub observer_peak_rss_bytes: Option<u64>,
    /// Events that the observer saw, the median.
    pub events: Option<f64>,
    /// Most events that it lost in a run.
    pub lost: Option<u64>,
    /// Runs whose answers were right.
    pub right: usize,
    /// Runs whose answers were not, as the observer said itself.
    pub partial: usize,
    /// Runs whose answers were wrong without a word.
    pub wrong: usize,
    /// What an event costs the program, in nanoseconds, where it can be told from nothing.
    pub ns_per_event: Option<Estimate>,
}

/// What watching changes in the memory of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Perturbation {
    /// Name of the program.
    pub program: String,
    /// Name of the configuration.
    pub configuration: String,
    /// What was compared.
    pub quantity: Quantity,
    /// The median without an observer.
    pub plain: f64,
    /// The median with one.
    pub watched: f64,
    /// As a ratio; absent where it is nothing in a plain run.
    pub ratio: Option<Estimate>,
}

/// The geometric mean of a configuration over all programs that have a ratio.
#[derive(Clone, Debug, PartialEq)]
pub struct Mean {
    /// Name of the configuration.
    pub configuration: String,
    /// Of what.
    pub quantity: Quantity,
    /// Over how many programs.
    pub programs: usize,
    /// The mean of their ratios; its runs are those of the program that has the fewest.
    pub ratio: Estimate,
}

/// Everything that is worked out from results.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Names of all programs: those of the request in its order, then any others that ran.
    pub programs: Vec<String>,
    /// Names of all configurations but [`PLAIN`], in that order.
    pub configurations: Vec<String>,
    /// Programs that ran plain.
    pub plain: Vec<Plain>,
    /// What ran otherwise, by program, then by configuration.
    pub comparisons: Vec<Comparison>,
    /// What that changed in memory.
    pub perturbations: Vec<Perturbation>,
    /// Means over programs.
    pub means: Vec<Mean>,
}

impl Figures {
    /// Works them out.
    pub fn new(results: &Results) -> Self {
        let runs = Runs::new(results);
        let programs = names(
            results.programs.iter().map(|program| program.name.as_str()),
            results.runs.iter().map(|run| run.program.as_str()),
        );
        let configurations: Vec<String> = names(
            results.configurations.iter().map(String::as_str),
            results.runs.iter().map(|run| run.configuration.as_str()),
        )
        .into_iter()
        .filter(|name| name != PLAIN)
        .collect();
        let pairs: Vec<Pair<'_>> = programs
            .iter()
            .flat_map(|program| {
                configurations.iter().map(move |configuration| (program.as_str(), configuration.as_str()))
            })
            .filter_map(|names| Pair::new(names, &runs))
            .collect();
        Self {
            plain: programs.iter().filter_map(|program| plain(program, &runs)).collect(),
            comparisons: pairs.iter().map(Pair::comparison).collect(),
            perturbations: pairs.iter().flat_map(Pair::perturbations).collect(),
            means: configurations.iter().flat_map(|configuration| means(configuration, &pairs)).collect(),
            programs,
            configurations,
        }
    }

    /// A program in a configuration, if it ran in it.
    pub fn comparison(&self, program: &str, configuration: &str) -> Option<&Comparison> {
        self.comparisons.iter().find(|one| one.program == program && one.configuration == configuration)
    }

    /// The mean of a quantity over programs, if there is one.
    pub fn mean(&self, configuration: &str, quantity: Quantity) -> Option<&Mean> {
        self.means.iter().find(|mean| mean.configuration == configuration && mean.quantity == quantity)
    }
}

/// The runs of each program in each configuration.
#[derive(Debug)]
pub struct Runs<'a>(BTreeMap<(&'a str, &'a str), Vec<&'a Run>>);

impl<'a> Runs<'a> {
    /// Sorts them.
    pub fn new(results: &'a Results) -> Self {
        let mut runs: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for run in &results.runs {
            runs.entry((run.program.as_str(), run.configuration.as_str())).or_default().push(run);
        }
        Self(runs)
    }

    fn of<'b>(&'b self, program: &'b str, configuration: &'b str) -> Option<&'b [&'b Run]> {
        self.0.get(&(program, configuration)).map(Vec::as_slice)
    }

    /// Time of a program in a configuration, to its time plain.
    pub fn slowdown(&self, program: &str, configuration: &str) -> Option<Ratios> {
        Pair::new((program, configuration), self)?.ratios(Quantity::Wall)
    }

    /// CPU time of its JVM, to that of it plain.
    pub fn cpu(&self, program: &str, configuration: &str) -> Option<Ratios> {
        Pair::new((program, configuration), self)?.ratios(Quantity::Cpu)
    }

    /// Time that a configuration adds to a program, to what another one adds to it.
    pub fn relative_cost(&self, program: &str, configuration: &str, other: &str) -> Option<Ratios> {
        let [plain, watched, other] =
            [self.of(program, PLAIN)?, self.of(program, configuration)?, self.of(program, other)?]
                .map(|runs| values(runs, Quantity::Wall));
        Ratios::of_differences(&plain, &watched, &other)
    }
}

/// Names as they were asked for, then any others, each once.
fn names<'a>(asked: impl Iterator<Item = &'a str>, ran: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    asked.chain(ran).filter(|name| seen.insert(*name)).map(str::to_owned).collect()
}

fn plain(program: &str, runs: &Runs<'_>) -> Option<Plain> {
    let runs = runs.of(program, PLAIN)?;
    let times: Vec<f64> = values(runs, Quantity::Wall).into_iter().map(|(_, value)| value).collect();
    Some(Plain { program: program.to_owned(), runs: runs.len(), wall_ns: statistics::quartiles(&times) })
}

/// A quantity by round, of the runs that have it.
fn values(runs: &[&Run], quantity: Quantity) -> Vec<(u32, f64)> {
    runs.iter().filter_map(|run| Some((run.round, quantity.of(run)? as f64))).collect()
}

/// The numbers alone.
fn numbers(runs: &[&Run], quantity: Quantity) -> Vec<f64> {
    values(runs, quantity).into_iter().map(|(_, value)| value).collect()
}

/// A program in a configuration: the runs in it, and those without it.
struct Pair<'a> {
    program: &'a str,
    configuration: &'a str,
    plain: &'a [&'a Run],
    watched: &'a [&'a Run],
}

impl<'a> Pair<'a> {
    fn new((program, configuration): (&'a str, &'a str), runs: &'a Runs<'_>) -> Option<Self> {
        let watched = runs.of(program, configuration)?;
        let plain = runs.of(program, PLAIN).unwrap_or_default();
        Some(Self { program, configuration, plain, watched })
    }

    fn ratios(&self, quantity: Quantity) -> Option<Ratios> {
        Ratios::new(&values(self.plain, quantity), &values(self.watched, quantity))
    }

    fn comparison(&self) -> Comparison {
        let Self { program, configuration, plain: _, watched } = self;
        let observed = |number: fn(&Observed) -> Option<u64>| -> Vec<u64> {
            watched.iter().filter_map(|run| number(run.observed.as_ref()?)).collect()
        };
        let middle =
            |values: Vec<u64>| statistics::median(&values.into_iter().map(|value| value as f64).collect::<Vec<_>>());
        let events = middle(observed(|observed| observed.events));
        let answered = |verdict| watched.iter().filter(|run| run.verdict() == Some(verdict)).count();
        let slowdown = self.ratios(Quantity::Wall).map(|ratios| ratios.estimate());
        Comparison {
            program: (*program).to_owned(),
            configuration: (*configuration).to_owned(),
            runs: watched.len(),
            slowdown,
            cpu: self.ratios(Quantity::Cpu).map(|ratios| ratios.estimate()),
            observer_cpu_ns: middle(observed(|observed| observed.cpu_ns)),
            observer_peak_rss_bytes: observed(|observed| observed.peak_rss_bytes).into_iter().max(),
            events,
            lost: observed(|observed| observed.lost).into_iter().max(),
            right: answered(results::Verdict::Right),
            partial: answered(results::Verdict::Partial),
            wrong: answered(results::Verdict::Wrong),
            ns_per_event: slowdown.and_then(|slowdown| self.ns_per_event(slowdown, events?)),
        }
    }

    /// The difference of the medians over the events. Where the noise hides whether there is one, or where the program is
    /// faster with an observer, an event has no cost that could be named.
    fn ns_per_event(&self, slowdown: Estimate, events: f64) -> Option<Estimate> {
        if events <= 0.0 || !matches!(slowdown.verdict(), Verdict::Slower { .. }) {
            return None;
        }
        let (plain, watched) = (numbers(self.plain, Quantity::Wall), numbers(self.watched, Quantity::Wall));
        statistics::difference(&plain, &watched, events)
    }

    fn perturbations(&self) -> impl Iterator<Item = Perturbation> {
        Quantity::MEMORY.into_iter().filter_map(|quantity| {
            Some(Perturbation {
                program: self.program.to_owned(),
                configuration: self.configuration.to_owned(),
                quantity,
                plain: statistics::median(&numbers(self.plain, quantity))?,
                watched: statistics::median(&numbers(self.watched, quantity))?,
                ratio: self.ratios(quantity).map(|ratios| ratios.estimate()),
            })
        })
    }
}

/// The means of a configuration, of each quantity that any program has a ratio of.
fn means(configuration: &str, pairs: &[Pair<'_>]) -> Vec<Mean> {
    let of = |quantity| {
        let pairs = pairs.iter().filter(|pair| pair.configuration == configuration);
        let ratios: Vec<Ratios> = pairs.filter_map(|pair| pair.ratios(quantity)).collect();
        let ratio = statistics::geometric_mean(&ratios)?;
        Some(Mean { configuration: configuration.to_owned(), quantity, programs: ratios.len(), ratio })
    };
    Quantity::ALL.into_iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests;
