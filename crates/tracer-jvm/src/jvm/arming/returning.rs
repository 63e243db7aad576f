//! Code that was dropped and has not been compiled anew: it is waited for beside the session, with the flag up.
//!
//! A method that nobody calls is not compiled, so no time limit before the session begins would do. The flag goes down as soon
//! as all of that code is back, when the session ends, or after [`FLAG_LIMIT`].

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use super::{
    super::{
        find::Jvm,
        flags::{arm::Armed as ArmedFlags, located::JvmTables},
    },
    armed::Error,
    coverage::{Probes, residue},
    recompile::Classes,
    snapshot::{Code, Compilation, Name, Snapshot},
};
use crate::{
    ending::{self, Patience, Until},
    privilege,
};

/// How long recompiled code is waited for before the session. Hot methods come back within some 100 ms.
const SETTLE_LIMIT: Duration = Duration::from_secs(3);
/// How often it is looked for then.
const SETTLE_POLL: Duration = Duration::from_millis(50);
/// How long the flag stays up for code that is not called: all else that is compiled meanwhile reports as well.
pub const FLAG_LIMIT: Duration = Duration::from_mins(1);
/// How often code is looked for beside the session.
const POLL: Duration = Duration::from_millis(200);
/// Reading all code may take one part in so many of the time.
const SHARE: u32 = 20;

/// What is waited for.
#[derive(Debug)]
pub(super) struct Awaited {
    probes: Probes,
    before: Arc<Snapshot>,
    classes: Classes,
    /// Methods that had compiled code, and its level.
    methods: BTreeMap<Name, u8>,
}

impl Awaited {
    /// All code of the classes, and code that they are inlined into.
    pub(super) fn new(probes: Probes, before: Arc<Snapshot>, classes: Classes) -> Self {
        let concerned = |code: &&Compilation| {
            !code.native && code.osr_bci.is_none() && code.names().any(|name| classes.contains(&name.class))
        };
        let methods = before.in_use().filter(concerned).map(|code| (code.name.clone(), code.level)).collect();
        Self { probes, before, classes, methods }
    }

    /// The methods that have not been compiled again, no less well than before, and with the stub.
    fn missing(&self, now: &Snapshot) -> usize {
        let is_new = |code: &Code| !self.before.code.contains_key(code);
        let mut back: BTreeMap<&Name, u8> = BTreeMap::new();
        for code in now.in_use().filter(|code| is_new(&code.code)) {
            // Code that allocates nothing calls no stub for it: that it is new has to do there.
            if code.calls.is_none_or(|calls| self.probes == Probes::Allocations || calls.entry) {
                let level = back.entry(&code.name).or_default();
                *level = code.level.max(*level);
            }
        }
        self.methods.iter().filter(|(name, level)| back.get(name).is_none_or(|now| now < level)).count()
    }

    /// Methods of other classes whose code calls since arming.
    fn others(&self, now: &Snapshot) -> Vec<Name> {
        let others = residue(self.probes, &self.before, now)
            .filter(|code| !code.names().any(|name| self.classes.contains(&name.class)))
            .map(|code| code.name.clone());
        others.collect::<BTreeSet<Name>>().into_iter().collect()
    }

    /// Waits for a short time; gives the number of methods that are missing at its end.
    pub(super) fn settle(&self, jvm: &Jvm) -> Result<usize, Error> {
        let until = Until::within(SETTLE_LIMIT, Patience::First);
        loop {
            let missing = self.missing(&Snapshot::take(jvm)?);
            if missing == 0 || ending::pause(SETTLE_POLL, until).is_err() {
                return Ok(missing);
            }
        }
    }

    /// Lowers the flag.
    pub(super) fn lower(&self, jvm: &Jvm, flags: ArmedFlags<JvmTables>, began: Instant) -> Result<Lowered, Error> {
        flags.disarm()?;
        let flag_up = began.elapsed();
        let now = Snapshot::take(jvm)?;
        Ok(Lowered { flag_up, missing: self.missing(&now), also: self.others(&now) })
    }
}

/// The flag is down again.
#[derive(Debug)]
pub(super) struct Lowered {
    /// How long it was up.
    pub(super) flag_up: Duration,
    /// Methods whose code has not come back.
    pub(super) missing: usize,
    /// Methods of other classes that were compiled meanwhile, and call.
    pub(super) also: Vec<Name>,
}

/// A thread that waits. Dropping it lowers the flag.
#[derive(Debug)]
pub(super) struct Returning {
    /// Dropped to end the waiting.
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<Result<Lowered, Error>>>,
}

impl Returning {
    /// Waits in a thread; the flag is lowered by that.
    pub(super) fn spawn(
        pid: u32,
        awaited: Awaited,
        flags: ArmedFlags<JvmTables>,
        began: Instant,
    ) -> Result<Self, Error> {
        // It looks on its own, while others use what is open already.
        let jvm = Jvm::open(pid)?;
        let (stop, stopped) = mpsc::channel();
        let thread = thread::Builder::new().spawn(move || {
            if let Err(error) = privilege::keep_only(privilege::SESSION) {
                log::warn!("a thread of jtrace keeps all its capabilities: {error}");
            }
            let mut pause = POLL;
            while began.elapsed() < FLAG_LIMIT && stopped.recv_timeout(pause) == Err(mpsc::RecvTimeoutError::Timeout) {
                let look = Instant::now();
                if awaited.missing(&Snapshot::take(&jvm)?) == 0 {
                    break;
                }
                pause = POLL.max(look.elapsed() * SHARE);
            }
            awaited.lower(&jvm, flags, began)
        });
        // Where there is no room for a thread, the flag has gone down with what it was given.
        Ok(Self {
            stop: Some(stop),
            thread: thread.inspect_err(|error| log::warn!("code is not waited for: {error}")).ok(),
        })
    }

    /// Whether the flag is down.
    pub(super) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Ends the waiting. Absent where its thread failed, of which it then has logged.
    pub(super) fn end(mut self) -> Option<Lowered> {
        self.stop_and_join()
    }

    fn stop_and_join(&mut self) -> Option<Lowered> {
        self.stop = None;
        match self.thread.take()?.join() {
            Ok(Ok(lowered)) => Some(lowered),
            Ok(Err(error)) => {
                log::warn!("code that was dropped is waited for no more: {error}");
                None
            }
            Err(_) => None,
        }
    }
}

impl Drop for Returning {
    fn drop(&mut self) {
        self.stop_and_join();
    }
}
