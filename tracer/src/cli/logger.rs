//! Where log messages go: to standard error, or into the log pane while the screen is on.

use std::sync::{
    LazyLock,
    atomic::{AtomicBool, Ordering},
};

use log::{Log, Metadata, Record};

use crate::{standard_error, text::escape};

pub(super) static LOGGER: Logger = Logger;

/// Whether the screen is on.
static SCREEN: AtomicBool = AtomicBool::new(false);
static PANE: LazyLock<tui_logger::Drain> = LazyLock::new(tui_logger::Drain::new);

pub(super) struct Logger;

/// Sends messages to the log pane from now on, or back to standard error. The pane gets them from `info` on.
pub(super) fn screen(on: bool) {
    SCREEN.store(on, Ordering::Relaxed);
    if on && log::max_level() < log::LevelFilter::Info {
        log::set_max_level(log::LevelFilter::Info);
    }
}

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        if SCREEN.load(Ordering::Relaxed) {
            PANE.log(record);
            return;
        }
        let message = record.args().to_string();
        let level = record.level().as_str().to_lowercase();
        standard_error::line(format_args!("{level}: {}", escape::terminal(&message)));
    }

    fn flush(&self) {}
}
