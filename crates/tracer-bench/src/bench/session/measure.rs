//! One run: a fresh JVM, warmed up, watched, timed, ended.

use std::ffi::OsString;

use super::{
    Setting,
    warmth::{Warmed, Warmth},
};
use crate::{
    bench::{
        Error,
        configuration::Configuration,
        interruption::Interruption,
        observer::Observer,
        program::{Agreement, Program},
        results::Observed,
        target::{Iteration, Target, command_line},
    },
    jvm::find::Jvm,
};

/// What a run came to.
#[derive(Debug)]
pub(super) struct Measured {
    /// What was timed.
    pub(super) iteration: Iteration,
    /// Whether compilers were idle before; absent where nobody waited for that.
    pub(super) settled: Option<bool>,
    /// What the observer says.
    pub(super) observed: Option<Observed>,
    /// The command, without the flags of the configuration.
    pub(super) command: Vec<OsString>,
}

/// Makes a run.
pub(super) fn measure(
    setting: &Setting,
    warmth: Warmth,
    timed: u32,
    program: &dyn Program,
    configuration: &mut Configuration,
    interruption: &Interruption,
) -> Result<Measured, Error> {
    let Setting { size, java, flags, limits } = setting;
    let launch = program.launch(*size)?;
    let mut all_flags = flags.clone();
    all_flags.extend(configuration.flags.iter().map(OsString::from));
    let name = program.describe().name;
    let command = command_line(&launch, java, flags);
    let agreement = launch.agreement;
    let target = Target::start(&name, launch, java, &all_flags, *limits, interruption)?;
    let observer = configuration.observer.as_deref_mut();
    let (iteration, settled, observed) = match agreement {
        Agreement::Lines => by_lines(target, warmth, timed, observer)?,
        Agreement::Exit => {
            let (iteration, observed) = by_end(target, setting, observer)?;
            (iteration, None, observed)
        }
    };
    Ok(Measured { iteration, settled, observed, command })
}

fn by_lines(
    mut target: Target,
    warmth: Warmth,
    timed: u32,
    observer: Option<&mut (dyn Observer + 'static)>,
) -> Result<(Iteration, Option<bool>, Option<Observed>), Error> {
    target.wait_until_ready()?;
    let pid = target.pid();
    let mut warm = || warmth.warm(pid, || target.iterate().map(drop));
    let mut warmed = warm()?;
    let changes_code = warmth.twice && observer.as_ref().is_some_and(|observer| observer.settles());
    if warmth.twice && !changes_code {
        warmed = warm()?;
    }
    let Some(observer) = observer else {
        let iteration = iterate(&mut target, timed)?;
        target.finish()?;
        return Ok((iteration, warmed.settled, None));
    };
    begin(observer, pid)?;
    let again = if changes_code { warm().map(Some) } else { Ok(None) };
    let iteration = again.and_then(|again| Ok((again, iterate(&mut target, timed)?)));
    // Also where the iteration failed: nothing may stay behind.
    let observed = observer.stop();
    let (again, iteration) = iteration?;
    let observed = each(observed?, again.map_or(0, |again| again.iterations) + timed);
    let Warmed { settled, .. } = again.unwrap_or(warmed);
    target.finish()?;
    Ok((iteration, settled, Some(observed)))
}

/// The iterations that are timed, as one.
fn iterate(target: &mut Target, timed: u32) -> Result<Iteration, Error> {
    let all = (0..timed).map(|_| target.iterate()).collect::<Result<Vec<_>, _>>()?;
    Ok(Iteration::together(&all))
}

/// What was seen in one iteration, where all make the same events.
fn each(observed: Observed, iterations: u32) -> Observed {
    if iterations == 1 {
        return observed;
    }
    let events = observed.events.map(|events| events / u64::from(iterations));
    Observed { events, iterations: Some(iterations), ..observed }
}

fn by_end(
    target: Target,
    setting: &Setting,
    observer: Option<&mut (dyn Observer + 'static)>,
) -> Result<(Iteration, Option<Observed>), Error> {
    let Some(observer) = observer else {
        return Ok((target.run_to_its_end()?, None));
    };
    if !target.waits_until(is_recognisable, setting.limits.start) {
        return Err(target.wrong("did not become a JVM that can be looked into, so it cannot be watched"));
    }
    begin(observer, target.pid())?;
    let iteration = target.run_to_its_end();
    let observed = observer.stop();
    Ok((iteration?, Some(observed?)))
}

fn begin(observer: &mut dyn Observer, pid: u32) -> Result<(), Error> {
    observer.start(pid).inspect_err(|_| {
        // Whatever of it did begin ends here; why it did not begin says more than how it ended.
        let _: Result<Observed, Error> = observer.stop();
    })
}

/// Whether a process is a JVM whose tables, flags and counters can be read.
fn is_recognisable(pid: u32) -> bool {
    Jvm::open(pid).is_ok_and(|jvm| jvm.flags.is_ok() && jvm.counters.is_ok())
}
