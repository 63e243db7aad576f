//! `jtrace top` on a terminal: draws, hears keys, and attaches where Enter asks for that.

use std::{
    io,
    process::Command,
    time::{Duration, Instant},
};

use tokio::sync::mpsc;

use super::{STEP, machine::Machine};
use crate::{
    ending,
    jvm::target_files,
    terminal::Screen,
    view::{
        text::Style,
        top::screen::{Asked, Shown},
        tui::input::{self, Input},
    },
};

/// How often it is drawn where nothing has changed.
const LONGEST: Duration = Duration::from_secs(1);

/// Shows the machine until the user quits.
pub(super) fn show(machine: &mut Machine) -> Result<(), super::Failure> {
    let mut shown = Shown::in_colours(Style::wanted());
    loop {
        let Some(pid) = until_asked(machine, &mut shown)? else { return Ok(()) };
        // The terminal is attach's for as long as that lasts.
        let status = Command::new(target_files::program()).args(["attach", &pid.to_string()]).status()?;
        log::debug!("attach ended with {status}");
    }
}

/// The JVM to attach to; none where the user quits.
fn until_asked(machine: &mut Machine, shown: &mut Shown) -> Result<Option<u32>, super::Failure> {
    let mut screen = Screen::open()?;
    let mut keys = input::spawn()?;
    let mut drawn: Option<Instant> = None;
    loop {
        if ending::count() > 0 {
            return Ok(None);
        }
        let mut changed = machine.step(STEP)?;
        if changed {
            shown.update(machine.rows());
        }
        loop {
            let asked = match keys.try_recv() {
                Ok(Input::Key(key)) => shown.key(key),
                Ok(Input::Mouse(event)) => shown.mouse(event),
                Ok(Input::Resize(..)) => Asked::Nothing,
                Err(mpsc::error::TryRecvError::Empty) => break,
                // There is no keyboard any more.
                Err(mpsc::error::TryRecvError::Disconnected) => return Ok(None),
            };
            match asked {
                Asked::Nothing => changed = true,
                Asked::Attach(pid) => return Ok(Some(pid)),
                Asked::Quit => return Ok(None),
            }
        }
        if changed || drawn.is_none_or(|drawn| drawn.elapsed() >= LONGEST) {
            let missing = machine.missing();
            screen.terminal().draw(|frame| shown.draw(frame, missing)).map_err(io::Error::other)?;
            drawn = Some(Instant::now());
        }
    }
}
