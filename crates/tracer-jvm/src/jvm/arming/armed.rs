//! Arms, and takes back: the flag through the undo journal, recompiled classes through a journal of their own beside it.
//!
//! Recompiling: the classes are transformed, the flag goes up, they are transformed back and their code with the stubs is
//! waited for ([`returning`](super::returning), where that takes long), the flag goes down. What is written down first is what must be undone: a jtrace that dies leaves the flag
//! to [`flags::arm::recover`](super::super::flags::arm::recover) and the code that calls to [`recover`](super::recover).

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    super::{
        attach_protocol,
        find::{self, Jvm},
        flags::{
            arm::{self, Armed as ArmedFlags},
            located::JvmTables,
        },
        journal::{self, Journal},
    },
    ArmMode,
    coverage::{Coverage, Probes, coverage, residue},
    owed::Recompiled,
    recompile::{self, Classes, transform},
    returning::{Awaited, Lowered, Returning},
    snapshot::{self, Name, Snapshot},
};

/// Why a JVM was not armed, or not disarmed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The flags could not be set or restored.
    #[error(transparent)]
    Flags(#[from] arm::Error),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] journal::Error),
    /// The JVM's code could not be read.
    #[error(transparent)]
    Snapshot(#[from] snapshot::Error),
    /// The classes could not be recompiled.
    #[error(transparent)]
    Recompile(#[from] recompile::Error),
    /// The JVM takes no commands.
    #[error(transparent)]
    Attach(#[from] attach_protocol::Error),
    /// The JVM could not be looked into.
    #[error(transparent)]
    Find(#[from] find::Error),
    /// This process is not there.
    #[error("process {0} is gone")]
    Gone(u32),
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Attach(error) | Self::Recompile(recompile::Error::Attach(error)) => error.hint(),
            Self::Recompile(recompile::Error::Release(_)) => {
                Some("use --arm=flag, which misses code that is compiled already, or start the JVM by `jtrace run`")
            }
            Self::Recompile(recompile::Error::NoClass | recompile::Error::TooMany(_) | recompile::Error::Name(_)) => {
                Some("name the classes, or use --arm=flag")
            }
            Self::Recompile(recompile::Error::NotStarted(_)) => {
                Some("the JVM needs its module jdk.jfr for it; use --arm=flag")
            }
            Self::Flags(_) | Self::Journal(_) | Self::Snapshot(_) | Self::Find(_) | Self::Gone(_) => None,
        }
    }
}

/// What is to be armed.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a> {
    /// How far it may go.
    pub mode: ArmMode,
    /// What is wanted to be seen.
    pub probes: Probes,
    /// Classes as Java writes them; needed for recompiling only.
    pub classes: &'a [String],
}

/// How a JVM was armed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing was changed.
    Nothing,
    /// The flag is up until the end; where recompiling would have been better, why it was not done.
    Flag(Option<String>),
    /// The classes were recompiled, and the flag is down again.
    Recompiled {
        /// How long the flag was up: what else was compiled meanwhile calls as well.
        flag_up: Duration,
        /// Methods whose code was dropped and has not come back. While the flag is up for them, [`Armed::is_waiting`].
        missing: usize,
        /// Methods of other classes that were compiled while the flag was up, and call.
        also: Vec<Name>,
    },
}

/// An armed JVM. Dropping it takes everything back.
#[derive(Debug)]
#[must_use = "dropping it takes everything back"]
pub struct Armed {
    /// How it was armed.
    pub outcome: Outcome,
    probes: Probes,
    before: Arc<Snapshot>,
    flags: Option<ArmedFlags<JvmTables>>,
    /// Dropped before what was recompiled is, so that the flag is down by then.
    returning: Option<Returning>,
    recompiled: Option<Recompiled>,
}

/// Arms a JVM, no further than is wished.
pub fn arm(journal: &Journal, jvm: &Jvm, wish: Wish<'_>) -> Result<Armed, Error> {
    let before = Arc::new(Snapshot::take(jvm)?);
    let (outcome, probes) = (Outcome::Nothing, wish.probes);
    let mut armed = Armed { outcome, probes, before, flags: None, returning: None, recompiled: None };
    let reason = match wish.mode {
        ArmMode::Off => return Ok(armed),
        ArmMode::Flag => None,
        ArmMode::Recompile => {
            armed.recompile(journal, jvm, wish)?;
            return Ok(armed);
        }
        ArmMode::Auto => match armed.recompile(journal, jvm, wish) {
            Ok(()) => return Ok(armed),
            Err(error) => Some(error.to_string()),
        },
    };
    armed.flags = Some(raise(journal, jvm, wish.probes)?);
    armed.outcome = Outcome::Flag(reason);
    Ok(armed)
}

fn raise(journal: &Journal, jvm: &Jvm, probes: Probes) -> Result<ArmedFlags<JvmTables>, arm::Error> {
    arm::arm(journal, JvmTables, jvm.identity(), &[probes.flag()])
}

impl Armed {
    /// What is covered from arming until now.
    pub fn coverage(&self, jvm: &Jvm) -> Result<Coverage, Error> {
        let now = Snapshot::take(jvm)?;
        let found = coverage(self.probes, &self.before, &now);
        // What was thrown away to be compiled anew was gone before the first site.
        let has_dropped = self.recompiled.is_some();
        Ok(if has_dropped { found } else { found.with_replaced(self.probes, &self.before, &now) })
    }

    /// The code before arming.
    pub fn before(&self) -> &Snapshot {
        &self.before
    }

    /// Takes everything back, unless another living jtrace needs it. Gives the methods whose code calls the stub all the
    /// same: it was compiled while the flag was up, and the JVM keeps it.
    pub fn disarm(mut self, jvm: &Jvm) -> Result<Vec<Name>, Error> {
        self.end_waiting();
        let flags = self.flags.take().map_or(Ok(()), ArmedFlags::disarm);
        let recompiled = self.recompiled.take().map_or(Ok(()), Recompiled::undo);
        flags?;
        recompiled?;
        match Snapshot::take(jvm) {
            Ok(now) => Ok(self.left(&now)),
            Err(_) if !jvm.identity().is_alive() => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    /// Methods whose code calls since arming.
    fn left(&self, now: &Snapshot) -> Vec<Name> {
        let left = residue(self.probes, &self.before, now).map(|code| code.name.clone());
        left.collect::<BTreeSet<Name>>().into_iter().collect()
    }

    fn recompile(&mut self, journal: &Journal, jvm: &Jvm, wish: Wish<'_>) -> Result<(), Error> {
        let classes = Classes::new(jvm.target.jdk_release, wish.classes.iter().map(String::as_str))?;
        let recompiled = Recompiled::begin(journal, jvm, &classes, &self.before)?;
        let attachment = Arc::clone(&recompiled.attachment);
        let transformed = match transform(&attachment, &classes) {
            Ok(transformed) => transformed,
            Err(error) => {
                recompiled.abandon()?;
                return Err(error.into());
            }
        };
        let flags = raise(journal, jvm, wish.probes)?;
        let began = Instant::now();
        transformed.back()?;
        self.recompiled = Some(recompiled);
        let awaited = Awaited::new(wish.probes, Arc::clone(&self.before), classes);
        let missing = awaited.settle(jvm)?;
        if missing == 0 {
            self.lowered(awaited.lower(jvm, flags, began)?);
        } else {
            self.outcome = Outcome::Recompiled { flag_up: began.elapsed(), missing, also: Vec::new() };
            self.returning = Some(Returning::spawn(jvm.target.pid, awaited, flags, began)?);
        }
        Ok(())
    }

    fn lowered(&mut self, lowered: Lowered) {
        let Lowered { flag_up, missing, also } = lowered;
        self.outcome = Outcome::Recompiled { flag_up, missing, also };
    }

    /// Whether a flag is up for code that was dropped and has not been compiled anew.
    pub fn is_waiting(&self) -> bool {
        self.returning.as_ref().is_some_and(|returning| !returning.is_over())
    }

    /// Waits no longer for code that was dropped: the flag is down when this returns.
    pub fn end_waiting(&mut self) {
        if let Some(lowered) = self.returning.take().and_then(Returning::end) {
            self.lowered(lowered);
        }
    }
}
