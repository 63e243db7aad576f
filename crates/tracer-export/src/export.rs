//! Events as they pass, for other programs: they are written while the session goes on, not drawn from its report. Views are drawn
//! from a report and know no event.

pub mod events;
pub mod firefox;
pub mod jfr;
pub mod perfetto;
#[cfg(test)]
mod played;
mod time_line;

use std::io;

use crate::{
    item::{Item, Taken},
    report::Report,
    session::Session,
};

/// A file for other programs that is written while the session goes on.
pub trait Export {
    /// Takes an item, after the session has taken it.
    ///
    /// # Errors
    /// Where the file cannot be written to.
    fn write(&mut self, session: &Session, item: &Item<'_>, taken: &Taken) -> io::Result<()>;

    /// Writes what is left, with what the report says of all of it.
    ///
    /// # Errors
    /// Where the file cannot be written to.
    fn finish(self: Box<Self>, report: &Report) -> io::Result<()>;
}
