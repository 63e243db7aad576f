//! The loop of a live session: waits for records, time, signals, keys and the target's end, and feeds the pipeline.

use std::{io, num::NonZeroU32, os::fd::OwnedFd, sync::Arc, time::Duration};

use tokio::{
    io::{Interest, unix::AsyncFd},
    runtime::Runtime,
    sync::mpsc,
    time::{Instant, MissedTickBehavior, interval, sleep_until},
};

use super::{Failure, announce::Announcer, logger, outlet::Outlet, output::Files};
use crate::{
    coverage::Coverage,
    ending,
    export::events::EventStream,
    item::{Item, Start, Taken, Wish},
    live::{Live, exit_descriptor},
    report::Report,
    reserve::{self, Kept},
    session::Session,
    terminal::Screen,
    view::{
        text::Style,
        tui::{Flow, Tui, input::Input},
    },
};

/// How often the ring buffers are emptied where nothing asks for it earlier: no event gets older than two ticks.
const TICK: Duration = Duration::from_millis(40);
/// How often the screen shows something new at most.
const FRAME: Duration = Duration::from_millis(250);
/// How often it does so at least.
const SLOWEST_FRAME: Duration = Duration::from_secs(2);
/// Of the time that a frame took, how much must pass until the next one: two per cent of a core go into it.
const FRAME_REST: u32 = 50;
/// How often the target is looked at, for an `exec`.
const LOOK: Duration = Duration::from_secs(1);
/// How often memory is given back that a burst of records has left.
const GIVE_BACK: Duration = Duration::from_mins(1);

/// Where the items of a session go.
pub(super) struct Pipeline {
    session: Session,
    files: Files,
    stream: Option<EventStream<Outlet>>,
    failed: Result<(), Failure>,
}

impl Pipeline {
    /// Begins with the session's first item.
    pub(super) fn new(start: Start, mut files: Files, stream: Option<EventStream<Outlet>>) -> Result<Self, Failure> {
        let item = Item::Start(Box::new(start.clone()));
        let session = Session::new(start);
        files.record(&item)?;
        files.follow(&session, &item, &Taken::Other)?;
        Ok(Self { session, files, stream, failed: Ok(()) })
    }

    fn take(&mut self, item: &Item<'_>) {
        let Self { session, files, stream, failed } = self;
        let taken = session.accept(item);
        if failed.is_ok() {
            let filed = files.record(item).and_then(|()| files.follow(session, item, &taken));
            *failed = filed.and_then(|()| match stream {
                Some(stream) => Ok(stream.write(session, &taken)?),
                None => Ok(()),
            });
        }
    }

    /// Hands on what has gathered, and says whether anybody could not be written to.
    fn flush(&mut self) -> Result<(), Failure> {
        std::mem::replace(&mut self.failed, Ok(()))?;
        self.files.flush()?;
        if let Some(stream) = &mut self.stream {
            stream.flush()?;
        }
        Ok(())
    }

    /// The report, the files that still want it, and whether all that goes out while a session lasts was taken.
    pub(super) fn finish(mut self) -> (Report, Files, Result<(), Failure>) {
        let mut passed = self.flush();
        if let Some(stream) = self.stream.take() {
            let told = stream.finish().and_then(Outlet::finish);
            passed = passed.and(told.map_err(Failure::from));
        }
        (self.files.report_of(&self.session), self.files, passed)
    }
}

/// What is shown while a session lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Showing {
    /// The live screen.
    Screen,
    /// What is found, each finding once.
    Findings,
    Nothing,
}

/// What ends a session, besides the user.
pub(super) struct Limits {
    pub(super) pid: NonZeroU32,
    pub(super) duration: Option<Duration>,
    /// Says whether the target still runs the program that it was attached to.
    pub(super) same_program: Box<dyn Fn() -> bool>,
}

/// What a session waits with. It takes over the signals that end a process ([`ending`]), so it is made before anything in the
/// target is changed.
pub(super) struct Waiter {
    runtime: Runtime,
}

impl Waiter {
    /// Takes over the signals.
    pub(super) fn new() -> Result<Self, Failure> {
        ending::heed()?;
        Ok(Self { runtime: tokio::runtime::Builder::new_current_thread().enable_all().build()? })
    }

    /// Runs until something ends the session; everything is detached when it returns. Gives what ended it.
    pub(super) fn listen(
        &mut self,
        mut live: Live,
        limits: Limits,
        pipeline: &mut Pipeline,
        showing: Showing,
        coverage: impl FnOnce() -> Vec<Coverage>,
    ) -> Result<&'static str, Failure> {
        let outcome = self.runtime.block_on(async {
            let console = if showing == Showing::Screen { Some(Console::open()?) } else { None };
            let announcer = (showing == Showing::Findings).then(Announcer::new);
            run(&mut live, limits, pipeline, console, announcer).await
        });
        let reason = match &outcome {
            Ok(reason) => reason,
            Err(_) => "failed",
        };
        live.finish(reason, coverage(), &mut |item| pipeline.take(&item))?;
        outcome
    }

    /// Waits until a process has ended, or one more signal asks to wait no longer.
    pub(super) fn wait_for(&mut self, pid: NonZeroU32) -> io::Result<()> {
        self.runtime.block_on(async {
            let exit = AsyncFd::with_interest(exit_descriptor(pid)?, Interest::READABLE)?;
            let Some(signal) = ending::next()? else { return Ok(()) };
            let signal = AsyncFd::with_interest(signal, Interest::READABLE)?;
            tokio::select! {
                ready = exit.readable() => ready.map(drop),
                ready = signal.readable() => ready.map(drop),
            }
        })
    }
}

async fn run(
    live: &mut Live,
    limits: Limits,
    pipeline: &mut Pipeline,
    mut screen: Option<Console>,
    mut announcer: Option<Announcer>,
) -> Result<&'static str, Failure> {
    let ends = Ends::new(&limits)?;
    let rings = AsyncFd::with_interest(live.descriptor().try_clone()?, Interest::READABLE)?;
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut look, mut give_back) = (Instant::now() + LOOK, Instant::now() + GIVE_BACK);
    loop {
        tokio::select! {
            biased;
            reason = ends.next() => return Ok(reason),
            flow = key(&mut screen) => match flow {
                Flow::Quit => return Ok("quit"),
                Flow::Switch(marker) => toggle(live, &pipeline.session, &marker),
                Flow::Continue => {}
            },
            ready = rings.readable() => ready?.clear_ready(),
            _ = ticks.tick() => {}
        }
        live.pump(&mut |item| pipeline.take(&item))?;
        for wish in pipeline.session.wishes() {
            live.switch(&wish);
        }
        pipeline.flush()?;
        if let Some(screen) = &mut screen {
            screen.draw(&pipeline.session)?;
        }
        if let Some(announcer) = &mut announcer {
            announcer.look(&pipeline.session);
        }
        if Instant::now() >= give_back {
            give_back += GIVE_BACK;
            if let Some(Kept { used, free }) = reserve::give_back() {
                let (used, free, stacks) = (used >> 10, free >> 10, pipeline.session.stacks());
                let (frames, stacks) = (stacks.frames().len(), stacks.len());
                log::debug!("memory: {used} KiB are used, {free} KiB kept for later; {frames} frames, {stacks} stacks");
            }
        }
        if Instant::now() >= look {
            look += LOOK;
            if !(limits.same_program)() {
                return Ok("target replaced its program");
            }
        }
    }
}

/// Switches a marker off, or on again where it is off because that was asked for.
fn toggle(live: &mut Live, session: &Session, marker: &str) {
    let Some(group) = live.group_of(marker).map(str::to_owned) else { return };
    let on = session.is_held(&group);
    if !live.switch(&Wish { group, on }) {
        log::warn!("`{marker}` cannot be switched: the governor has taken it out of the code");
    }
}

/// The next key's effect; never, where there is no terminal.
async fn key(screen: &mut Option<Console>) -> Flow {
    match screen {
        Some(screen) => screen.key().await,
        None => std::future::pending().await,
    }
}

/// Everything that ends a session from outside.
struct Ends {
    exit: AsyncFd<OwnedFd>,
    deadline: Option<Instant>,
    /// Readable once a signal has asked for the end, before the session or in it.
    signal: AsyncFd<OwnedFd>,
}

impl Ends {
    fn new(limits: &Limits) -> Result<Self, Failure> {
        let exit = exit_descriptor(limits.pid).map_err(|error| {
            Failure::new(format!("process {} has gone: {error}", limits.pid), "see `jtrace list`".to_owned())
        })?;
        Ok(Self {
            exit: AsyncFd::with_interest(exit, Interest::READABLE)?,
            deadline: limits.duration.map(|duration| Instant::now() + duration),
            signal: AsyncFd::with_interest(ending::first()?, Interest::READABLE)?,
        })
    }

    async fn next(&self) -> &'static str {
        let deadline = self.deadline;
        let over = async {
            match deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.exit.readable() => "target exited",
            _ = self.signal.readable() => ending::asked().map_or("interrupted", ending::reason),
            () = over => "duration",
        }
    }
}

/// The terminal that shows a session.
pub(super) struct Console {
    screen: Screen,
    tui: Tui,
    keys: mpsc::Receiver<Input>,
    /// When the session is asked again what to show.
    next: Instant,
    /// Whether the user did something since it was drawn, who waits for it.
    is_touched: bool,
}

impl Drop for Console {
    fn drop(&mut self) {
        logger::screen(false);
    }
}

impl Console {
    /// Takes the terminal over; it is given back when the console is dropped.
    pub(super) fn open() -> io::Result<Self> {
        logger::screen(true);
        let tui = Tui::new().in_style(Style::wanted());
        let keys = crate::view::tui::input::spawn()?;
        Ok(Self { screen: Screen::open()?, tui, keys, next: Instant::now(), is_touched: false })
    }

    async fn key(&mut self) -> Flow {
        let Some(input) = self.keys.recv().await else { return Flow::Quit };
        self.is_touched = true;
        match input {
            Input::Key(key) => {
                let flow = self.tui.key(key);
                if matches!(flow, Flow::Switch(_)) {
                    self.next = Instant::now();
                }
                flow
            }
            Input::Mouse(event) => {
                self.tui.mouse(event);
                Flow::Continue
            }
            Input::Resize(..) => Flow::Continue,
        }
    }

    fn draw(&mut self, session: &Session) -> io::Result<()> {
        let began = Instant::now();
        let (is_due, is_touched) = (began >= self.next, std::mem::take(&mut self.is_touched));
        if is_due {
            self.tui.update(Arc::new(session.report()));
        }
        if is_due || is_touched {
            self.tui.draw(self.screen.terminal())?;
        }
        if is_due {
            self.next = Instant::now() + rest(began.elapsed());
        }
        Ok(())
    }
}

/// How long a frame that took so long is shown.
fn rest(took: Duration) -> Duration {
    took.saturating_mul(FRAME_REST).clamp(FRAME, SLOWEST_FRAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_that_take_long_are_shown_longer() {
        let [quick, slow, slower] = [1, 10, 100].map(Duration::from_millis);
        assert_eq!([quick, slow, slower].map(rest), [FRAME, Duration::from_millis(500), SLOWEST_FRAME]);
    }
}
