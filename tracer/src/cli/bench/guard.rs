//! Budgets: what a budget asks to be measured, a second look at what seems to break it, and what is said of it.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use super::{super::attach::say, Progress};
use crate::bench::{
    Error,
    budget::{Budget, Limit, Outcome},
    configuration::Configuration,
    interruption::Interruption,
    session::{Journal, Session},
};

/// How many runs there are, to those at first, before a limit is said to be broken.
const SECOND_LOOK: u32 = 2;

/// Names of what a budget needs: programs, then configurations, each once, in the order of its lines.
pub(super) fn names(budget: &Budget) -> (Vec<String>, Vec<String>) {
    let (mut programs, mut configurations) = (Vec::new(), Vec::new());
    for (program, configuration) in budget.limits.iter().flat_map(Limit::pairs) {
        for (names, name) in [(&mut programs, program), (&mut configurations, configuration)] {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    (programs, configurations)
}

/// Leaves of the configurations the pairs that are needed.
pub(super) fn keep_pairs(configurations: &mut Vec<Configuration>, pairs: &BTreeSet<(&str, &str)>) {
    configurations.retain_mut(|configuration| {
        let needed = |program: &str| pairs.contains(&(program, configuration.name.as_str()));
        let mut programs: Vec<String> =
            pairs.iter().map(|(program, _)| *program).filter(|program| needed(program)).map(str::to_owned).collect();
        programs.dedup();
        let only = std::mem::take(&mut configuration.only);
        programs.retain(|program| only.is_empty() || only.contains(program));
        configuration.only = programs;
        !configuration.only.is_empty()
    });
}

/// Judges what was measured. What seems to be broken is measured more often first: noise alone breaks no limit twice.
pub(super) fn judge(
    budget: &Budget,
    session: &mut Session,
    journal: &mut Journal,
    interruption: &Interruption,
    progress: &mut Progress,
) -> Result<Vec<Outcome>, Error> {
    let outcomes = budget.judge(journal.results());
    let broken = budget.limits.iter().zip(&outcomes).filter(|(_, outcome)| matches!(outcome, Outcome::Broken(_)));
    let suspects: Vec<&Limit> = broken.map(|(limit, _)| limit).collect();
    if suspects.is_empty() || interruption.signal().is_some() {
        return Ok(outcomes);
    }
    for Limit { program, configuration, figure, .. } in &suspects {
        say(&format!("{program} {configuration} {figure} seems to break its limit: measured more often"));
    }
    keep_pairs(&mut session.configurations, &suspects.iter().flat_map(|limit| limit.pairs()).collect());
    let runs = journal.results().method.runs.saturating_mul(SECOND_LOOK);
    journal.extend(runs);
    session.run(journal, interruption, &mut |news| progress.hear(news))?;
    Ok(budget.judge(journal.results()))
}

/// A line for each limit.
pub(super) fn write(budget: &Budget, outcomes: &[Outcome], out: &mut impl Write) -> io::Result<()> {
    for (Limit { program, configuration, figure, limit, noise }, outcome) in budget.limits.iter().zip(outcomes) {
        let allowed = format!("at most {limit:.3} + {noise:.3}");
        writeln!(out, "{program:<16} {configuration:<18} {figure:<28} {allowed}  {outcome}")?;
    }
    Ok(())
}
