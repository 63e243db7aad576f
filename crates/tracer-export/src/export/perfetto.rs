//! A session as a trace of Perfetto (`-o x.perfetto-trace`): packets with the tracks of a [`TimeLine`].

mod message;
mod track;

use std::io::Write;

use self::track::Sequence;
use super::time_line::TimeLine;

/// Writes a session to a file.
pub type PerfettoTrace<W> = TimeLine<Sequence<W>>;

impl<W: Write> PerfettoTrace<W> {
    /// A trace of which nothing is written yet.
    pub fn new(out: W) -> Self {
        Self::of(Sequence::new(out))
    }
}

#[cfg(test)]
mod tests;
