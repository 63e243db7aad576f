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
        metadata.level() <= log::max_level() && is_told(metadata)
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

/// Libraries tell thousands of details while programs are loaded, which find no room on standard error, nor do lines of jtrace then.
fn is_told(metadata: &Metadata<'_>) -> bool {
    metadata.level() <= log::Level::Info || metadata.target().starts_with("tracer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_of_libraries_are_not_told() {
        let told = |level, target: &str| is_told(&Metadata::builder().level(level).target(target).build());
        assert!(told(log::Level::Debug, module_path!()) && told(log::Level::Debug, "tracer_live::live"));
        assert!(told(log::Level::Info, "aya_obj::relocation") && !told(log::Level::Debug, "aya_obj::relocation"));
    }
}
