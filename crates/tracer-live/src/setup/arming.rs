//! Arms what the sites of a session need, and says at the end what was covered.

use std::collections::BTreeSet;

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
        flags::{
            arm::{self as flag, Armed as ArmedFlag},
            located::JvmTables,
        },
        journal::Journal,
    },
    predicate::{Known, Outlook, Predicate, Subject},
    probe::{catalog::Flag, plan::Plan},
};

/// Probes of the JVM's code that were switched on, by flags and by recompiling. Dropping it takes everything back.
#[derive(Default)]
pub(super) struct ArmedProbes {
    /// The flag of monitors.
    monitors: Option<ArmedFlag<JvmTables>>,
    /// Methods, and objects.
    exact: Vec<(Probes, arming::Armed)>,
    /// Flags that the JVM was started with.
    started: Vec<Flag>,
}

impl ArmedProbes {
    /// A JVM that was started with the flags of methods or objects: all of its code reports.
    pub(super) fn started(plan: &Plan, jvm: &Jvm, missing: &mut Vec<String>) -> Self {
        let monitors = plan.flags.contains(&Flag::Monitor).then(|| arm_monitors(jvm, missing)).flatten();
        let started = plan.flags.iter().filter(|flag| **flag != Flag::Monitor).copied().collect();
        Self { monitors, exact: Vec::new(), started }
    }

    /// Arms what a plan needs. What cannot be armed is missing, and no reason to stop.
    pub(super) fn arm(
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
                    missing.extend(not_back(&done));
                    armed.exact.push((probes, done));
                }
                // Who asks for nothing but this gets nothing but an error.
                Err(error) if mode == ArmMode::Recompile => return Err(error),
                Err(error) => missing.push(format!("{} could not be armed: {error}", flag.what())),
            }
        }
        Ok(armed)
    }

    /// What was covered until now. Code that has not come back is not waited for any longer.
    pub(super) fn coverage(&mut self, jvm: &Jvm, predicate: &Predicate) -> Vec<Coverage> {
        let started = |flag: &Flag| Coverage {
            objects: *flag == Flag::Alloc,
            armed: format!("the JVM was started with -XX:+{}", flag.name()),
            interpreter: true,
            ..Coverage::default()
        };
        let started: Vec<Coverage> = self.started.iter().map(started).collect();
        let found = self.exact.iter_mut().filter_map(|(probes, armed)| {
            armed.end_waiting();
            let coverage = armed.coverage(jvm).inspect_err(|error| log::warn!("coverage: {error}")).ok()?;
            let mut found = summed(*probes, &coverage, sentence(&armed.outcome, probes.flag()), predicate);
            if *probes == Probes::Methods {
                found.silent.extend(untraced(jvm, &coverage, &found.silent, predicate));
            }
            found.silent.truncate(MAX_SILENT);
            Some(found)
        });
        found.chain(started).collect()
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

/// Why chosen classes were not recompiled.
const NOTHING_TO_RECOMPILE: &str =
    "none of the chosen classes had compiled code, or too many had: what is compiled from now on reports";

/// Most methods that a report names as not covered.
const MAX_SILENT: usize = 10_000;

fn arm_monitors(jvm: &Jvm, missing: &mut Vec<String>) -> Option<ArmedFlag<JvmTables>> {
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

/// What a report says of what was found.
fn summed(probes: Probes, coverage: &arming::coverage::Coverage, armed: String, predicate: &Predicate) -> Coverage {
    let objects = probes == Probes::Allocations;
    let interpreter = coverage.interpreter != Interpreter::Never;
    let wanted = |name: &Name| objects || is_wanted(predicate, name);
    let mut found = Coverage { objects, armed, interpreter, ..Coverage::default() };
    for (name, verdict) in coverage.methods.iter().filter(|(name, _)| wanted(name)) {
        match verdict {
            Verdict::Covered => found.seen += 1,
            Verdict::NotCovered(code) => {
                let level = code.iter().map(|code| code.level).max().unwrap_or(0);
                let inlined = code.iter().all(|code| code.inlined);
                found.silent.push(Silent { level, inlined, ..silent(name) });
            }
        }
    }
    if !interpreter {
        let without_code = coverage.without_code.iter().filter(|name| wanted(name));
        found.silent.extend(without_code.map(|name| Silent { dropped: true, ..silent(name) }));
    }
    found
}

/// Chosen methods that code which does not report may hold, although nothing shows that.
fn untraced(jvm: &Jvm, coverage: &arming::coverage::Coverage, known: &[Silent], predicate: &Predicate) -> Vec<Silent> {
    if known.iter().all(|silent| silent.dropped) {
        return Vec::new();
    }
    let chosen = coverage.methods.keys().filter(|name| is_wanted(predicate, name));
    let classes: BTreeSet<&str> = chosen.map(|name| &*name.class).collect();
    let found = arming::untraced(jvm, coverage, &classes).inspect_err(|error| log::warn!("coverage: {error}"));
    let wanted = found.unwrap_or_default().into_iter().filter(|name| is_wanted(predicate, name));
    wanted
        .filter(|name| !coverage.without_code.contains(name))
        .map(|name| Silent { untraced: true, ..silent(&name) })
        .collect()
}

fn silent(name: &Name) -> Silent {
    let Name { class, method, signature } = name.clone();
    Silent { class, method, signature, level: 0, inlined: false, dropped: false, untraced: false }
}

/// What is said at the beginning of code that is still waited for.
fn not_back(armed: &arming::Armed) -> Option<String> {
    let Outcome::Recompiled { missing, .. } = &armed.outcome else { return None };
    armed.is_waiting().then(|| {
        format!(
            "methods: {missing} of them had no compiled code when the session began, because they were not called: each counts \
             from its next compilation on. {} stays set until then, {} s at most",
            Flag::Method.name(),
            arming::FLAG_LIMIT.as_secs()
        )
    })
}

fn sentence(outcome: &Outcome, flag: &str) -> String {
    match outcome {
        Outcome::Nothing => "nothing was changed in the JVM: only code that reports already was seen".to_owned(),
        Outcome::Flag(None) => format!("{flag} was set for the session"),
        Outcome::Flag(Some(reason)) => format!("{flag} was set for the session, because {reason}"),
        Outcome::Recompiled { flag_up, missing, also } => format!(
            "the chosen classes were recompiled; {flag} was set for {:.2} s meanwhile{}, and {} other methods that were compiled in that time report as well",
            flag_up.as_secs_f64(),
            match missing {
                0 => String::new(),
                missing => format!("; code of {missing} methods had not come back by then"),
            },
            also.len()
        ),
    }
}
