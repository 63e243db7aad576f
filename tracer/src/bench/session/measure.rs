//! One run: a fresh JVM, warmed up, watched, timed, ended.

use std::ffi::OsString;

use super::Setting;
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
    /// The timed iteration.
    pub(super) iteration: Iteration,
    /// What the observer says.
    pub(super) observed: Option<Observed>,
    /// The command, without the flags of the configuration.
    pub(super) command: Vec<OsString>,
}

/// Iterations before the one that is timed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Warmth {
    /// Before anybody watches.
    pub(super) warm_up: u32,
    /// After that, where one of the session's configurations changes code. All configurations make them, so that the code of all is
    /// as warm; only those that change it do so before.
    pub(super) settling: u32,
}

/// Makes a run.
pub(super) fn measure(
    setting: &Setting,
    warmth: Warmth,
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
    let (iteration, observed) = match agreement {
        Agreement::Lines => by_lines(target, warmth, observer)?,
        Agreement::Exit => by_end(target, setting, observer)?,
    };
    Ok(Measured { iteration, observed, command })
}

fn by_lines(
    mut target: Target,
    warmth: Warmth,
    observer: Option<&mut (dyn Observer + 'static)>,
) -> Result<(Iteration, Option<Observed>), Error> {
    target.wait_until_ready()?;
    let Warmth { warm_up, settling } = warmth;
    let watched = if observer.as_ref().is_some_and(|observer| observer.settles()) { settling } else { 0 };
    for _ in 0..warm_up + settling - watched {
        target.iterate()?;
    }
    let measured = match observer {
        None => (target.iterate()?, None),
        Some(observer) => {
            begin(observer, target.pid())?;
            let settled = (0..watched).try_for_each(|_| target.iterate().map(drop));
            let iteration = settled.and_then(|()| target.iterate());
            // Also where the iteration failed: nothing may stay behind.
            let observed = observer.stop();
            (iteration?, Some(each(observed?, watched)))
        }
    };
    target.finish()?;
    Ok(measured)
}

/// What was seen in one iteration, where all make the same events.
fn each(observed: Observed, settling: u32) -> Observed {
    if settling == 0 {
        return observed;
    }
    let iterations = settling + 1;
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
