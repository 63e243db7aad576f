//! The conversation with the library in a JVM.
//!
//! jtrace loads it by the attach protocol and takes one end of a pair of sockets out of the JVM, by the number that stands in a
//! variable of the library: so it needs no name that both would have to see. When that end is closed, by jtrace or by the kernel
//! after jtrace's death, the library restores everything.
//!
//! Whoever runs the JVM can say anything in the library's place, or nothing. So every wait here has an end and is cut short by
//! signals, what is kept until the session takes it is bounded, and a connection with which anything is wrong is closed.

mod arrival;
mod error;
mod mapped;
mod walk;

use std::{
    collections::VecDeque,
    io,
    path::PathBuf,
    time::{Duration, Instant},
};

use tracer_weave::{
    Skipped,
    control::{Done, MAX_LOOPING, MAX_RUNNING, Matched, Order, Running, Told, VERSION},
};

use self::error::{shortened, silent, unexpected};
use super::{
    connection::Connection,
    sizes::{Size, Sizes},
    unnamed::Namer,
};
use crate::{
    ending::{Patience, Until},
    jvm::find::process::{Identity, Stat},
    mark::{CodeBefore, Inside, MAX_SKIPPED, Woven},
};

pub use arrival::Coming;
pub use error::Error;
pub use walk::Heard;

/// How long an order may take: weaving thousands of classes takes seconds.
const ORDER_LIMIT: Duration = Duration::from_mins(2);
/// How long the library may take to restore everything while jtrace looks on. It goes on without jtrace.
const RESTORE_LIMIT: Duration = Duration::from_secs(30);
/// How often it is looked whether a process that says nothing is stopped.
const LOOK: Duration = Duration::from_millis(200);
/// Most bytes that are taken in at one look, so that whoever talks without end does not keep a session from all else.
const MAX_LOOK_BYTES: usize = 4 << 20;
/// Most that is kept until the session takes it, in bytes: some 300,000 places.
const MAX_KEPT_BYTES: usize = 128 << 20;

/// The library in a JVM. It restores everything when this goes.
#[derive(Debug)]
pub struct Visit {
    /// Once something was wrong with it, what that was.
    connection: Result<Connection, String>,
    target: Identity,
    /// Path of the library's file for uprobes.
    pub path: PathBuf,
    told: VecDeque<Inside>,
    /// What that takes.
    kept_bytes: usize,
    /// Orders that were given without waiting, and when those were followed that were since that was asked.
    waiting: usize,
    followed: Vec<u64>,
    /// For what the library does not name.
    namer: Namer,
    /// For objects that are made at its places.
    sizes: Sizes,
    /// How long the library may take to leave, once it was asked to.
    leaving: Until,
}

/// What rules name in loaded classes.
#[derive(Debug)]
pub struct Found {
    /// Of each rule.
    pub rules: Vec<Matched>,
    /// Methods of all together, each once.
    pub methods: u64,
    /// Methods of these classes in which threads go round that began with them.
    pub looping: Vec<Running>,
}

impl Visit {
    fn over(connection: Connection, target: Identity, path: PathBuf) -> Self {
        let (told, followed) = (VecDeque::new(), Vec::new());
        let (namer, sizes) = (Namer::default(), Sizes::default());
        let (kept_bytes, waiting, leaving) = (0, 0, Until::within(RESTORE_LIMIT, Patience::Second));
        Self { connection: Ok(connection), target, path, told, kept_bytes, waiting, followed, namer, sizes, leaving }
    }

    /// What rules name in loaded classes.
    pub fn matched(&mut self, rules: &[tracer_weave::Rule]) -> Result<Found, Error> {
        match self.ask(&Order::Match(rules.to_vec()))? {
            Told::Matched { rules, methods, mut looping } => {
                looping.truncate(MAX_LOOPING);
                Ok(Found { rules, methods, looping })
            }
            other => Err(unexpected(&other)),
        }
    }

    /// Names of loaded classes.
    pub fn classes(&mut self) -> Result<Vec<String>, Error> {
        match self.ask(&Order::Classes)? {
            Told::Classes(classes) => Ok(classes),
            other => Err(unexpected(&other)),
        }
    }

    /// Weaves, after it was decided what becomes of compiled code; what came of it is in the flow, with what was left out before.
    pub fn weave(
        &mut self,
        order: &Order,
        code_before: Option<CodeBefore>,
        left_out: Vec<Skipped>,
    ) -> Result<(), Error> {
        match self.ask(order)? {
            Told::Woven(done) => {
                let mut woven = Woven { code_before, ..woven(done, &self.namer) };
                woven.skipped_count = woven.skipped_count.saturating_add(left_out.len() as u64);
                woven.skipped.splice(0..0, left_out);
                woven.skipped.truncate(MAX_SKIPPED);
                self.told.push_back(Inside::Woven(woven));
                Ok(())
            }
            other => Err(unexpected(&other)),
        }
    }

    /// Sets switches of markers.
    pub fn switch(&mut self, markers: Vec<(u32, u8)>) -> Result<(), Error> {
        match self.ask(&Order::Switch(markers))? {
            Told::Switched { .. } => Ok(()),
            other => Err(unexpected(&other)),
        }
    }

    /// Gives an order whose answer is [`Told::Switched`], and does not wait: a JVM that stands still must not hold up what arrives.
    pub fn order(&mut self, order: &Order) -> Result<(), Error> {
        self.with(|connection| connection.give(order))?;
        self.waiting += 1;
        Ok(())
    }

    /// When such orders were followed, of those that were since the last time, in their order.
    pub fn followed(&mut self) -> Vec<u64> {
        if self.waiting > 0 {
            self.listen();
        }
        std::mem::take(&mut self.followed)
    }

    /// Lets the library restore everything and go. What it has not done when this returns it does without jtrace.
    pub fn leave(&mut self) -> Result<Woven, Error> {
        self.begin_leaving();
        loop {
            if let Some(left) = self.has_left(RESTORE_LIMIT) {
                return left;
            }
        }
    }

    /// Asks for that, without waiting: what the library has to tell until then can be more than a ring buffer holds.
    pub fn begin_leaving(&mut self) {
        self.told.extend(self.sizes.look().into_iter().map(size));
        // Where it fails, it is known with the answer.
        let _: Result<(), Error> = self.with(|connection| connection.give(&Order::Leave));
        self.leaving = Until::within(RESTORE_LIMIT, Patience::Second);
    }

    /// What became of that, once it is known: waits so long for it.
    pub fn has_left(&mut self, within: Duration) -> Option<Result<Woven, Error>> {
        let look = Instant::now() + within;
        let left = loop {
            match self.next_until(self.leaving, look) {
                Ok(Some(Told::Left(done))) => break Ok(woven(done, &self.namer)),
                Ok(Some(Told::Refused(reason))) => break Err(Error::Refused(shortened(reason))),
                Ok(Some(other)) => {
                    if let Err(error) = self.keep(other) {
                        break Err(error);
                    }
                }
                Ok(None) => return None,
                Err(error) => break Err(error),
            }
        };
        if self.connection.is_ok() {
            self.connection = Err("the connection is closed".to_owned());
        }
        Some(left)
    }

    /// What the library has told besides answers.
    pub fn pump(&mut self, sink: &mut dyn FnMut(Inside)) {
        self.listen();
        self.told.drain(..).for_each(&mut *sink);
        self.kept_bytes = 0;
        self.sizes.due().into_iter().map(size).for_each(sink);
    }

    /// Takes in what is there, up to a bound: the rest is there the next time.
    fn listen(&mut self) {
        let mut bytes = 0;
        let _: Result<(), Error> = self.with(Connection::push);
        while bytes < MAX_LOOK_BYTES {
            let kept = match self.with(Connection::take) {
                Ok(Some((told, length))) => {
                    bytes += length + size_of::<Told>();
                    self.keep(told)
                }
                Ok(None) => return,
                Err(error) => Err(error),
            };
            // The target is gone, or the library is; the session notices the one, and the other at the end.
            if kept.is_err() {
                return;
            }
        }
    }

    fn ask(&mut self, order: &Order) -> Result<Told, Error> {
        self.with(|connection| connection.give(order))?;
        let until = Until::within(ORDER_LIMIT, Patience::First);
        loop {
            match self.next(until)? {
                Told::Refused(reason) => return Err(Error::Refused(shortened(reason))),
                switched @ Told::Switched { .. } if self.waiting > 0 => self.keep(switched)?,
                answer @ (Told::Matched { .. }
                | Told::Classes(_)
                | Told::Woven(_)
                | Told::Switched { .. }
                | Told::Channel(_)) => return Ok(answer),
                Told::Ready { version } if version != VERSION => {
                    return Err(Error::Refused(format!("it speaks version {version}, and this jtrace {VERSION}")));
                }
                other => self.keep(other)?,
            }
        }
    }

    /// Keeps a message until the session takes it.
    fn keep(&mut self, told: Told) -> Result<(), Error> {
        if let Told::Switched { time_ns } = told
            && self.waiting > 0
        {
            self.waiting -= 1;
            self.followed.push(time_ns);
        }
        let kept = match told {
            Told::Sampled(sampled) => Inside::Sampled(sampled),
            Told::Place(place) => {
                self.namer.woven(&place.class);
                self.sizes.woven(&place);
                Inside::Place(place)
            }
            Told::Class { number, name } => Inside::Class { number, name },
            Told::Unwoven(done) => Inside::Unwoven(woven(done, &self.namer)),
            Told::Lacks(what) => Inside::Lacks(shortened(what)),
            _ => return Ok(()),
        };
        self.kept_bytes = self.kept_bytes.saturating_add(kept.bytes());
        if self.kept_bytes > MAX_KEPT_BYTES {
            return self.with(|_| Err(io::Error::other("it tells more than jtrace keeps")));
        }
        self.told.push_back(kept);
        Ok(())
    }

    /// The next message. A process that is stopped is not waited for: it goes on some day, or never.
    fn next(&mut self, until: Until) -> Result<Told, Error> {
        loop {
            if let Some(told) = self.next_until(until, until.deadline)? {
                return Ok(told);
            }
        }
    }

    /// The same, or nothing where there is none by then.
    fn next_until(&mut self, until: Until, then: Instant) -> Result<Option<Told>, Error> {
        loop {
            // Also where messages come without end.
            if let Some(cut) = until.is_over() {
                return self.with(|_| Err(cut.into()));
            }
            if let Some((told, _)) = self.with(Connection::take)? {
                return Ok(Some(told));
            }
            let now = Instant::now();
            if now >= then {
                return Ok(None);
            }
            let look = Until { deadline: until.deadline.min(then).min(now + LOOK), ..until };
            let waited = self.with(|connection| match connection.wait(look) {
                Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(false),
                other => other.map(|()| true),
            })?;
            if !waited && Stat::read(self.target.pid).is_ok_and(Stat::is_stopped) {
                return self.with(|_| Err(io::Error::other(STOPPED)));
            }
        }
    }

    /// Does something with the connection, and closes it where that fails: the library then restores everything by itself.
    fn with<T>(&mut self, act: impl FnOnce(&mut Connection) -> io::Result<T>) -> Result<T, Error> {
        let connection = self.connection.as_mut().map_err(|reason| Error::Silent(reason.clone()))?;
        act(connection).map_err(|error| {
            let reason = shortened(error.to_string());
            self.connection = Err(reason.clone());
            Error::Silent(reason)
        })
    }
}

/// What is said of a process that cannot answer.
const STOPPED: &str =
    "the process is stopped (SIGSTOP, or a debugger); the library restores everything when it runs on";

fn size((class, bytes): Size) -> Inside {
    Inside::Size { class, bytes }
}

fn woven(mut done: Done, namer: &Namer) -> Woven {
    namer.name(&mut done);
    let Done {
        classes, methods, took_ns, longest_step_ns, mut skipped, skipped_count, mut running, running_count, ..
    } = done;
    running.truncate(MAX_RUNNING);
    skipped.truncate(MAX_SKIPPED);
    let code_before = None;
    Woven { classes, methods, took_ns, longest_step_ns, skipped, skipped_count, running, running_count, code_before }
}

#[cfg(test)]
mod tests;
