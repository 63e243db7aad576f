//! Files that hold the events of a session: jtrace's own recordings, and those of a flight recorder. Their first bytes
//! tell them apart, whatever they are called.

use std::{
    io::{BufRead, Read},
    path::Path,
};

use super::{
    flight_recorder::{self, FlightRecording},
    recording::{self, Recording},
};
use crate::item::Item;

/// Why such a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// One of jtrace's own.
    #[error(transparent)]
    Own(#[from] recording::Error),
    /// One of a flight recorder.
    #[error(transparent)]
    FlightRecorder(#[from] flight_recorder::Error),
}

impl Error {
    /// What may help.
    pub fn hint(&self) -> String {
        match self {
            Self::Own(error) => error.hint(),
            Self::FlightRecorder(error) => error.hint().to_owned(),
        }
    }
}

/// A file with events.
pub enum Recorded<R: Read> {
    /// One of jtrace's own.
    Own(Recording<R>),
    /// One of a flight recorder.
    FlightRecorder(FlightRecording<R>),
}

impl<R: BufRead> Recorded<R> {
    /// Looks at how it begins; `path` is for messages.
    pub fn new(mut input: R, path: &Path) -> Result<Self, Error> {
        let begin = input.fill_buf().map_err(|source| recording::Error::Io { path: path.to_owned(), source })?;
        if begin.starts_with(&flight_recorder::MAGIC) {
            return Ok(Self::FlightRecorder(FlightRecording::new(input, path)));
        }
        Ok(Self::Own(Recording::new(input, path)?))
    }

    /// Passes every item on, in order.
    pub fn replay(self, sink: &mut dyn FnMut(Item<'_>)) -> Result<(), Error> {
        match self {
            Self::Own(recording) => recording.replay(sink)?,
            Self::FlightRecorder(recording) => recording.replay(sink)?,
        }
        Ok(())
    }
}
