//! Makes all runs of a measurement: every program in every configuration, round by round, in shuffled order.

mod journal;
mod measure;
mod order;
mod pace;
mod warmth;

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::PathBuf,
    time::{Duration, Instant},
};

pub use self::journal::{Journal, read};
use self::{
    measure::{Measured, measure},
    order::Step,
    pace::Pace,
    warmth::Warmth,
};
use super::{
    Error,
    configuration::Configuration,
    interruption::Interruption,
    program::{Program, Size},
    results::{Environment, Method, Results, Run, Skipped, VERSION},
    target::Limits,
};

/// How often a pair of program and configuration may fail before it is given up.
const MAX_FAILURES: u32 = 2;

/// What all JVMs of a session have in common.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Size of the inputs.
    pub size: Size,
    /// The `java` of programs that do not bring their own.
    pub java: PathBuf,
    /// Flags of every JVM.
    pub flags: Vec<OsString>,
    /// How long programs may take.
    pub limits: Limits,
}

/// What is run.
pub struct Session {
    /// What all have in common.
    pub setting: Setting,
    /// Programs, each with a name of its own.
    pub programs: Vec<Box<dyn Program>>,
    /// Configurations, each with a name of its own.
    pub configurations: Vec<Configuration>,
}

/// What happens during a session.
#[derive(Clone, Copy, Debug)]
pub enum News<'a> {
    /// The methods of a program are being counted, in a run that is not timed.
    Counts {
        /// The program.
        program: &'a str,
    },
    /// How many there are, or why nobody knows.
    Counted {
        /// The program.
        program: &'a str,
        /// The number.
        methods: Result<u64, &'a Error>,
    },
    /// A run begins.
    Begins {
        /// The program.
        program: &'a str,
        /// The configuration.
        configuration: &'a str,
        /// Which repetition, from 0.
        round: u32,
        /// Runs that are made or given up.
        done: usize,
        /// All runs.
        of: usize,
        /// How long this and all others take, as far as is known.
        left: Option<Duration>,
    },
    /// A run was made.
    Made(&'a Run),
    /// Something was skipped. Of a pair that fails again, this is not said again.
    Skipped(&'a Skipped),
}

/// Runs that are to be made, and what became of them so far.
struct Rounds {
    steps: Vec<Step>,
    of: usize,
    failures: BTreeMap<(usize, usize), u32>,
    pace: Pace,
}

impl Session {
    /// Results without a run.
    pub fn results(&self, environment: Environment, method: Method, started_s: u64) -> Results {
        Results {
            version: VERSION,
            started_s,
            environment,
            method,
            programs: self.programs.iter().map(|program| program.describe()).collect(),
            configurations: self.configurations.iter().map(|configuration| configuration.name.clone()).collect(),
            configuration_flags: self
                .configurations
                .iter()
                .filter(|configuration| !configuration.flags.is_empty())
                .map(|configuration| (configuration.name.clone(), configuration.flags.clone()))
                .collect(),
            runs: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// Makes every run that the journal does not have yet, and keeps each as soon as it is made. What cannot be run is
    /// skipped with its reason. Ends early where there is an interruption. The error is one of the journal.
    pub fn run(
        &mut self,
        journal: &mut Journal,
        interruption: &Interruption,
        tell: &mut dyn FnMut(News<'_>),
    ) -> Result<(), Error> {
        let unusable = self.prepare(journal, tell)?;
        let mut rounds = self.rounds(journal.results(), &unusable);
        let methods = self.find_methods(&rounds, journal, interruption, tell)?;
        let changes_code = self.configurations.iter().any(|one| one.observer.as_ref().is_some_and(|one| one.settles()));
        while let Some(step) = rounds.steps.pop() {
            if interruption.signal().is_some() {
                break;
            }
            self.tell_beginning(&step, &rounds, tell);
            let began = Instant::now();
            let Self { setting, programs, configurations } = self;
            let program = programs[step.program].as_ref();
            let configuration = &mut configurations[step.configuration];
            let Method { warm_up, iterations, settle_ms, seed, .. } = journal.results().method;
            let warmth = Warmth { least: warm_up, settle: Duration::from_millis(settle_ms), twice: changes_code };
            let measured = aim(configuration, methods.get(&step.program), seed)
                .and_then(|()| measure(setting, warmth, iterations.max(1), program, configuration, interruption));
            rounds.pace.took(&step, began.elapsed());
            match measured {
                Ok(measured) => self.keep(&step, measured, journal, tell)?,
                // It failed because it was ended.
                Err(_) if interruption.signal().is_some() => break,
                Err(error) => {
                    rounds.failed(&step);
                    let skipped = Skipped {
                        program: Some(program.describe().name),
                        configuration: Some(configuration.name.clone()),
                        why: error.to_string(),
                    };
                    skip(journal, skipped, tell)?;
                }
            }
        }
        Ok(())
    }

    /// Prepares programs and observers; gives the pairs that cannot be run.
    fn prepare(
        &mut self,
        journal: &mut Journal,
        tell: &mut dyn FnMut(News<'_>),
    ) -> Result<BTreeSet<(usize, usize)>, Error> {
        let Self { setting: _, programs, configurations } = self;
        let mut unusable = BTreeSet::new();
        for (index, program) in programs.iter_mut().enumerate() {
            if let Err(error) = program.prepare() {
                unusable.extend((0..configurations.len()).map(|other| (index, other)));
                let name = program.describe().name;
                skip(journal, Skipped { program: Some(name), configuration: None, why: error.to_string() }, tell)?;
            }
        }
        for (index, configuration) in configurations.iter_mut().enumerate() {
            let Configuration { name, observer, only, .. } = configuration;
            let foreign = |program: &dyn Program| !only.is_empty() && !only.contains(&program.describe().name);
            let others = (0..programs.len()).filter(|other| foreign(programs[*other].as_ref()));
            unusable.extend(others.map(|other| (other, index)));
            match observer.as_mut().map(|observer| observer.prepare()) {
                None => {}
                Some(Ok((tool, version))) => journal.tool(tool, version),
                Some(Err(error)) => {
                    unusable.extend((0..programs.len()).map(|other| (other, index)));
                    let configuration = Some(name.clone());
                    skip(journal, Skipped { program: None, configuration, why: error.to_string() }, tell)?;
                }
            }
        }
        Ok(unusable)
    }

    /// Finds the methods of the programs that will be run, where nobody counted them before or somebody needs their names. What
    /// cannot be found is only told: most runs do not need it.
    fn find_methods(
        &self,
        rounds: &Rounds,
        journal: &mut Journal,
        interruption: &Interruption,
        tell: &mut dyn FnMut(News<'_>),
    ) -> Result<BTreeMap<usize, Vec<String>>, Error> {
        let Setting { size, java, .. } = &self.setting;
        let needs = |step: &&Step| {
            let observer = &self.configurations[step.configuration].observer;
            observer.as_ref().is_some_and(|observer| observer.needs_methods())
        };
        let needed: BTreeSet<_> = rounds.steps.iter().filter(needs).map(|step| step.program).collect();
        let mut found = BTreeMap::new();
        let programs: BTreeSet<_> = rounds.steps.iter().map(|step| step.program).collect();
        for index in programs {
            let is_known = journal.results().programs.get(index).is_some_and(|it| it.application_methods.is_some());
            if is_known && !needed.contains(&index) || interruption.signal().is_some() {
                continue;
            }
            let program = self.programs[index].as_ref();
            let name = program.describe().name;
            tell(News::Counts { program: &name });
            let methods = program.methods(*size, java, interruption);
            let count = |methods: &Option<Vec<String>>| methods.as_ref().map(|methods| methods.len() as u64);
            let counted = methods.as_ref().map(count);
            if let Ok(Some(count)) = counted {
                journal.methods(index, count)?;
            }
            if let Some(methods) = counted.transpose().filter(|_| interruption.signal().is_none()) {
                tell(News::Counted { program: &name, methods });
            }
            if needed.contains(&index) {
                found.extend(methods.ok().flatten().map(|methods| (index, methods)));
            }
        }
        Ok(found)
    }

    /// What is left to do, the next one last.
    fn rounds(&self, results: &Results, unusable: &BTreeSet<(usize, usize)>) -> Rounds {
        let Method { runs, seed, .. } = results.method;
        let made: BTreeSet<_> =
            results.runs.iter().map(|run| (run.program.clone(), run.configuration.clone(), run.round)).collect();
        let usable: Vec<_> = order::steps(seed, runs, self.programs.len(), self.configurations.len())
            .into_iter()
            .filter(|step| !unusable.contains(&(step.program, step.configuration)))
            .collect();
        let of = usable.len();
        let is_made = |step: &Step| {
            let program = self.programs[step.program].describe().name;
            made.contains(&(program, self.configurations[step.configuration].name.clone(), step.round))
        };
        let steps = usable.into_iter().rev().filter(|step| !is_made(step)).collect();
        Rounds { steps, of, failures: BTreeMap::new(), pace: Pace::default() }
    }

    fn tell_beginning(&self, step: &Step, rounds: &Rounds, tell: &mut dyn FnMut(News<'_>)) {
        let left = rounds.steps.iter().copied().chain([*step]).collect::<Vec<_>>();
        tell(News::Begins {
            program: &self.programs[step.program].describe().name,
            configuration: &self.configurations[step.configuration].name,
            round: step.round,
            done: rounds.of - left.len(),
            of: rounds.of,
            left: rounds.pace.left(&left),
        });
    }

    fn keep(
        &self,
        step: &Step,
        measured: Measured,
        journal: &mut Journal,
        tell: &mut dyn FnMut(News<'_>),
    ) -> Result<(), Error> {
        let Measured { iteration, settled, observed, command } = measured;
        let run = Run {
            program: self.programs[step.program].describe().name,
            configuration: self.configurations[step.configuration].name.clone(),
            round: step.round,
            wall_ns: iteration.wall_ns,
            cpu_ns: iteration.cpu_ns,
            settled,
            memory: iteration.memory,
            observed,
            counts: iteration.counts,
        };
        tell(News::Made(&run));
        journal.command(step.program, &command);
        journal.add(run)
    }
}

impl Rounds {
    /// Takes note of a failure; a pair that failed too often has no more runs.
    fn failed(&mut self, step: &Step) {
        let pair = (step.program, step.configuration);
        let failures = self.failures.entry(pair).or_default();
        *failures += 1;
        if *failures >= MAX_FAILURES {
            self.steps.retain(|other| (other.program, other.configuration) != pair);
        }
    }
}

/// Tells an observer the methods of the program that comes next, if it needs them.
fn aim(configuration: &mut Configuration, methods: Option<&Vec<String>>, seed: u64) -> Result<(), Error> {
    let observer = configuration.observer.as_deref_mut().filter(|observer| observer.needs_methods());
    match (observer, methods) {
        (None, _) => Ok(()),
        (Some(observer), Some(methods)) => {
            observer.aim(methods, seed);
            Ok(())
        }
        (Some(_), None) => Err(Error::Missing {
            what: "a list of the methods that the program executes".to_owned(),
            hint: "programs of --suite packaged have one, where there is a JDK 11 or 17 to ask".to_owned(),
        }),
    }
}

fn skip(journal: &mut Journal, skipped: Skipped, tell: &mut dyn FnMut(News<'_>)) -> Result<(), Error> {
    let told = skipped.clone();
    if journal.skip(skipped)? {
        tell(News::Skipped(&told));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
