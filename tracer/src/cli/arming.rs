//! Arms what the sites of a session need, and says at the end what was covered.

use std::collections::BTreeSet;

use super::prepare::ArmedFlag;
use crate::{
    coverage::{Coverage, Silent},
    jvm::{
        arming::{
            self, ArmMode, Outcome, Wish,
            coverage::{Interpreter, Probes, Verdict},
            recompile,
            snapshot::{Compilation, Name, Snapshot},
        },
        find::Jvm,
        flags::{arm as flag, located::JvmTables},
        journal::Journal,
    },
    predicate::{Known, Outlook, Predicate, Subject},
    probe::{catalog::Flag, plan::Plan},
};

/// Flags and code that were changed; dropping it takes everything back.
#[derive(Default)]
pub(super) struct ArmedJvm {
    /// The flag of monitors.
    monitors: Option<ArmedFlag>,
    /// Methods, and objects.
    exact: Vec<(Probes, arming::Armed)>,
    /// Flags that the JVM was started with.
    started: Vec<Flag>,
}

impl ArmedJvm {
    /// A JVM that was started with the flags of methods or objects: all of its code reports.
    pub(super) fn started(plan: &Plan, jvm: &Jvm, missing: &mut Vec<String>) -> Self {
        let monitors = plan.flags.contains(&Flag::Monitor).then(|| arm_monitors(jvm, missing)).flatten();
        let started = plan.flags.iter().filter(|flag| **flag != Flag::Monitor).copied().collect();
        Self { monitors, exact: Vec::new(), started }
    }

    /// Arms what a plan needs. What cannot be armed is missing, and no reason to stop.
    pub(super) fn new(
        plan: &Plan,
        jvm: &Jvm,
        mode: ArmMode,
        predicate: &Predicate,
        missing: &mut Vec<String>,
    ) -> Result<Self, arming::Error> {
        let mut armed = Self::default();
        for flag in &plan.flags {
            let probes = match flag {
                Flag::Monitor => {
                    armed.monitors = arm_monitors(jvm, missing);
                    continue;
                }
                Flag::Method => Probes::Methods,
                Flag::Alloc => Probes::Allocations,
            };
            let journal = Journal::for_this_user()?;
            // A predicate on objects names their classes, and not the code that makes them.
            let may_recompile = matches!(mode, ArmMode::Auto | ArmMode::Recompile) && probes == Probes::Methods;
            let classes = if may_recompile { chosen_classes(jvm, predicate)? } else { Vec::new() };
            let mode = if probes == Probes::Allocations && mode == ArmMode::Auto { ArmMode::Flag } else { mode };
            // On a release that could recompile, it is for want of code that it does not.
            let too_early = mode == ArmMode::Auto && classes.is_empty() && jvm.target.jdk_release >= recompile::SINCE;
            let wish = Wish { mode: if too_early { ArmMode::Flag } else { mode }, probes, classes: &classes };
            match arming::arm(&journal, jvm, wish) {
                Ok(mut done) => {
                    if too_early {
                        done.outcome = Outcome::Flag(Some(NOTHING_TO_RECOMPILE.to_owned()));
                    }
                    armed.exact.push((probes, done));
                }
                // Who asks for nothing but this gets nothing but an error.
                Err(error) if mode == ArmMode::Recompile => return Err(error),
                Err(error) => missing.push(format!("{} could not be armed: {error}", flag.what())),
            }
        }
        Ok(armed)
    }

    /// What was covered until now.
    pub(super) fn coverage(&self, jvm: &Jvm, predicate: &Predicate) -> Vec<Coverage> {
        let found = |(probes, armed): &(Probes, arming::Armed)| {
            let coverage = armed.coverage(jvm).inspect_err(|error| log::warn!("coverage: {error}")).ok()?;
            let mut silent: Vec<Silent> = coverage
                .methods
                .iter()
                .filter(|(name, _)| *probes == Probes::Allocations || is_wanted(predicate, name))
                .filter_map(|(name, verdict)| match verdict {
                    Verdict::Covered => None,
                    Verdict::NotCovered(code) => Some(Silent {
                        class: name.class.clone(),
                        method: name.method.clone(),
                        signature: name.signature.clone(),
                        level: code.iter().map(|code| code.level).max().unwrap_or(0),
                        inlined: code.iter().all(|code| code.inlined),
                    }),
                })
                .collect();
            silent.truncate(MAX_SILENT);
            Some(Coverage {
                objects: *probes == Probes::Allocations,
                armed: sentence(&armed.outcome, probes.flag()),
                interpreter: coverage.interpreter != Interpreter::Never,
                silent,
            })
        };
        let started = |flag: &Flag| Coverage {
            objects: *flag == Flag::Alloc,
            armed: format!("the JVM was started with -XX:+{}", flag.name()),
            interpreter: true,
            silent: Vec::new(),
        };
        self.exact.iter().filter_map(found).chain(self.started.iter().map(started)).collect()
    }

    /// Takes everything back, and says what goes on calling all the same.
    pub(super) fn disarm(self, jvm: &Jvm) {
        drop(self.monitors);
        for (_, armed) in self.exact {
            match armed.disarm(jvm) {
                Ok(left) if !left.is_empty() => log::info!(
                    "{} methods that were compiled meanwhile go on calling HotSpot's stub, some 10 ns a call, until the \
                     JVM compiles them anew",
                    left.len()
                ),
                Ok(_) => {}
                Err(error) => log::warn!("{error}"),
            }
        }
    }
}

/// What is to be given back at the end.
pub(super) struct Held {
    pub(super) armed: ArmedJvm,
    pub(super) jvm: Jvm,
    pub(super) predicate: Predicate,
}

impl Held {
    /// What could not be seen until now.
    pub(super) fn coverage(&self) -> Vec<Coverage> {
        self.armed.coverage(&self.jvm, &self.predicate)
    }

    /// Leaves the JVM as it was found.
    pub(super) fn release(self) {
        self.armed.disarm(&self.jvm);
    }
}

/// Why chosen classes were not recompiled.
const NOTHING_TO_RECOMPILE: &str =
    "none of the chosen classes had compiled code, or too many had: what is compiled from now on reports";

/// Most methods that a report names as not covered.
const MAX_SILENT: usize = 10_000;

fn arm_monitors(jvm: &Jvm, missing: &mut Vec<String>) -> Option<ArmedFlag> {
    let name = Flag::Monitor.name();
    Journal::for_this_user()
        .map_err(flag::Error::from)
        .and_then(|journal| flag::arm(&journal, JvmTables, jvm.identity(), &[name]))
        .map_err(|error| missing.push(format!("{name} could not be armed, so monitors are not seen: {error}")))
        .ok()
}

/// Whether the predicate can want calls of a method.
fn is_wanted(predicate: &Predicate, name: &Name) -> bool {
    let subject = Subject::method(&name.class, &name.method, &name.signature);
    predicate.outlook(Known::Subject(&subject)) != Outlook::Never
}

/// Classes of compiled methods that the predicate can want; none where that is more than can be recompiled.
fn chosen_classes(jvm: &Jvm, predicate: &Predicate) -> Result<Vec<String>, arming::Error> {
    if jvm.target.jdk_release < recompile::SINCE || predicate.expr.is_none() {
        return Ok(Vec::new());
    }
    let snapshot = Snapshot::take(jvm)?;
    let wanted = snapshot.in_use().flat_map(Compilation::names).filter(|name| is_wanted(predicate, name));
    let classes: BTreeSet<&String> = wanted.map(|name| &name.class).collect();
    let few = classes.len() <= recompile::MAX_CLASSES;
    Ok(classes.into_iter().filter(|_| few).cloned().collect())
}

fn sentence(outcome: &Outcome, flag: &str) -> String {
    match outcome {
        Outcome::Nothing => "nothing was changed in the JVM: only code that reports already was seen".to_owned(),
        Outcome::Flag(None) => format!("{flag} was set for the session"),
        Outcome::Flag(Some(reason)) => format!("{flag} was set for the session, because {reason}"),
        Outcome::Recompiled { flag_up, settled, also } => format!(
            "the chosen classes were recompiled; {flag} was set for {:.2} s meanwhile{}, and {} other methods that were compiled in that time report as well",
            flag_up.as_secs_f64(),
            if *settled { "" } else { "; not all of their code had come back" },
            also.len()
        ),
    }
}
