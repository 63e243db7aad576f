//! A session as a trace of Perfetto (`-o x.perfetto-trace`): packets with the tracks of a time line.

mod message;
mod track;

use std::io::Write;

use self::track::Sequence;
use super::time_line::TimeLine;

/// A trace of which nothing is written yet.
pub fn trace<'a>(out: impl Write + 'a) -> TimeLine<'a> {
    TimeLine::of(Sequence::new(out))
}

#[cfg(test)]
mod tests;
