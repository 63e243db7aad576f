//! How many causes were named, and where; which healthy programs were accused.

use std::{collections::BTreeMap, fmt::Write as _};

use anyhow::Result;

use super::trial::{Outcome, Trial};
use crate::kept::Rows;

/// Of a hundred causes, how many must be among the first two findings.
const GOAL_PERCENT: usize = 95;

/// A program's line, by release.
type Cells = BTreeMap<u32, String>;

/// The sum of all trials.
#[derive(Default)]
pub(crate) struct Tally {
    cells: BTreeMap<String, Cells>,
    first: usize,
    second: usize,
    incidents: usize,
    healthy: usize,
    accused: usize,
    broken: usize,
    times: Vec<f64>,
    /// What each program was charged, and what jtrace took for itself, with the program's name.
    costs: [Vec<(f64, String)>; 2],
    recorded: [usize; 2],
}

impl Tally {
    /// Takes the outcome of a trial, and says it.
    pub(crate) fn add(&mut self, trial: &Trial<'_>, outcome: &Result<Outcome>) {
        let program = trial.program;
        let said = match outcome {
            Err(error) => {
                self.broken += 1;
                format!("broken: {error:#}")
            }
            Ok(outcome) => {
                for (costs, cost) in self.costs.iter_mut().zip([outcome.cost_percent, outcome.own_percent]) {
                    costs.extend(cost.map(|cost| (cost, program.name.clone())));
                }
                self.count(outcome, program.causes.is_empty())
            }
        };
        println!("{:>2} {}/{}: {said}", trial.jdk.release, program.class, program.name);
        let missed = said.starts_with("missed") || said.starts_with("accused") || said.starts_with("rank");
        if let Ok(outcome) = outcome
            && missed
        {
            for line in &outcome.said {
                println!("        {line}");
            }
        }
        let name = format!("{}/{}", program.class, program.name);
        self.cells.entry(name).or_default().insert(trial.jdk.release, said);
    }

    fn count(&mut self, outcome: &Outcome, is_healthy: bool) -> String {
        if let Some(shown) = outcome.recorded.filter(|_| !is_healthy) {
            self.recorded[0] += usize::from(shown);
            self.recorded[1] += 1;
        }
        if is_healthy {
            self.healthy += 1;
            self.accused += usize::from(!outcome.warnings.is_empty());
            return outcome.warnings.first().map_or("quiet".to_owned(), |warning| format!("accused: {warning}"));
        }
        self.incidents += 1;
        self.first += usize::from(outcome.rank == Some(1));
        self.second += usize::from(outcome.rank.is_some_and(|rank| rank <= 2));
        self.times.extend(outcome.first_s);
        let time = outcome.first_s.map(|time| format!(", first said after {time:.1} s")).unwrap_or_default();
        let recorder = match outcome.recorded {
            Some(true) => ", the recorder shows it",
            Some(false) => ", the recorder does not",
            None => "",
        };
        match outcome.rank {
            Some(rank @ 1..=2) => format!("named {rank}{time}{recorder}"),
            Some(rank) => format!("rank {rank}{time}{recorder}"),
            None => format!("missed{recorder}"),
        }
    }

    /// Whether it is as good as it must be.
    pub(crate) fn holds(&self) -> bool {
        self.broken == 0 && self.accused == 0 && 100 * self.second >= GOAL_PERCENT * self.incidents
    }

    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "{} of {} incidents named first, {} among the first two; {} of {} healthy programs accused; {} did not run\n",
            self.first, self.incidents, self.second, self.accused, self.healthy, self.broken
        );
        if let Some(time) = median(&self.times) {
            let _ = writeln!(text, "first right finding after {time:.1} s (median of {})", self.times.len());
        }
        for (what, costs) in ["cost to the programs", "CPU time of jtrace itself"].iter().zip(&self.costs) {
            let shares: Vec<f64> = costs.iter().map(|(share, _)| *share).collect();
            let most = costs.iter().max_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((middle, (most, of))) = median(&shares).zip(most) {
                let _ = writeln!(text, "{what}: {middle:.2} % of a core (median), {most:.2} % at most ({of})");
            }
        }
        let [shown, asked] = self.recorded;
        if asked > 0 {
            let _ = writeln!(text, "the JDK's flight recorder, default settings, has events of {shown} of {asked}");
        }
        text
    }

    /// The rows of what was run. What was known before of a program on other releases stays.
    pub(crate) fn rows(&self, before: &Rows) -> Rows {
        let row = |(name, new): (&String, &Cells)| {
            let mut all = before.get(name).map(|row| cells(row)).unwrap_or_default();
            all.extend(new.iter().map(|(release, said)| (*release, escaped(said))));
            let all: Vec<String> = all.iter().map(|(release, said)| format!("{release}: {said}")).collect();
            (name.clone(), format!("| {name} | {} |", all.join("; ")))
        };
        self.cells.iter().map(row).collect()
    }
}

/// What a row says of each release. Findings have semicolons, too: a part that does not begin with a release belongs to the one before.
fn cells(row: &str) -> Cells {
    let said = row.split_once("| ").and_then(|(_, row)| row.split_once(" | ")).map_or("", |(_, said)| said);
    let said = said.strip_suffix(" |").unwrap_or(said);
    let mut cells = Vec::<(u32, String)>::new();
    for part in said.split("; ") {
        let release = part.split_once(": ").and_then(|(release, said)| Some((release.parse().ok()?, said)));
        match (release, cells.last_mut()) {
            (Some((release, said)), _) => cells.push((release, said.to_owned())),
            (None, Some((_, said))) => *said = format!("{said}; {part}"),
            (None, None) => {}
        }
    }
    cells.into_iter().collect()
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// The table of all rows, and their sums.
pub(crate) fn table(rows: &Rows) -> String {
    let head = ["| program | JDK: what came of it |", "|---|---|"].map(str::to_owned);
    let table = head.iter().chain(rows.values()).fold(String::new(), |text, line| text + line + "\n");
    format!("{table}\n{}", sums(rows))
}

fn sums(rows: &Rows) -> String {
    let cells = || rows.values().flat_map(|row| row.split(['|', ';'])).filter_map(|cell| cell.split_once(": "));
    let count = |beginning: &str| cells().filter(|(_, said)| said.starts_with(beginning)).count();
    let (first, second) = (count("named 1"), count("named 2"));
    let incidents = first + second + count("rank") + count("missed");
    let (quiet, accused) = (count("quiet"), count("accused"));
    format!(
        "Of {incidents} incidents {first} were named first and {} among the first two; of {} healthy programs {accused} were accused.\n",
        first + second,
        quiet + accused
    )
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(rank: Option<usize>, warnings: &[&str]) -> Outcome {
        let warnings = warnings.iter().map(|text| (*text).to_owned()).collect();
        Outcome {
            rank,
            first_s: Some(2.0),
            warnings,
            said: Vec::new(),
            recorded: None,
            cost_percent: None,
            own_percent: None,
        }
    }

    #[test]
    fn a_cause_that_is_missed_and_a_healthy_program_that_is_accused_fail() {
        let mut tally = Tally::default();
        for _ in 0..19 {
            tally.count(&outcome(Some(1), &[]), false);
        }
        assert_eq!(tally.count(&outcome(Some(3), &[]), false), "rank 3, first said after 2.0 s");
        assert!(tally.holds(), "95 of 100");
        assert_eq!(tally.count(&outcome(None, &[]), false), "missed");
        assert!(!tally.holds());
        let mut tally = Tally::default();
        assert_eq!(tally.count(&outcome(None, &[]), true), "quiet");
        assert!(tally.holds());
        assert_eq!(tally.count(&outcome(None, &["warning [gc-share] x"]), true), "accused: warning [gc-share] x");
        assert!(!tally.holds());
    }

    #[test]
    fn what_was_said_of_another_release_stays() {
        let row = "| leaks/A | 17: accused: full; what stays is made at A.b; 25: missed |".to_owned();
        let mut tally = Tally::default();
        tally.cells.entry("leaks/A".to_owned()).or_default().insert(25, "named 1".to_owned());
        tally.cells.entry("leaks/B".to_owned()).or_default().insert(25, "named 2".to_owned());
        let rows = tally.rows(&Rows::from([("leaks/A".to_owned(), row)]));
        assert_eq!(rows["leaks/A"], "| leaks/A | 17: accused: full; what stays is made at A.b; 25: named 1 |");
        assert_eq!(rows["leaks/B"], "| leaks/B | 25: named 2 |");
    }

    #[test]
    fn sums_are_those_of_all_rows_that_are_kept() {
        let row = |name: &str, cells: &str| (name.to_owned(), format!("| {name} | {cells} |"));
        let rows = Rows::from([
            row("locks/A", "17: named 1, first said after 2.0 s; 25: named 2"),
            row("locks/B", "17: missed; 25: rank 3, first said after 1.0 s"),
            row("healthy/C", "17: quiet; 25: accused: warning [gc-share] x"),
        ]);
        assert_eq!(
            sums(&rows),
            "Of 4 incidents 1 were named first and 2 among the first two; of 2 healthy programs 1 were accused.\n"
        );
    }
}
