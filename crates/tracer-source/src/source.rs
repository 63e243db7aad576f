//! Where a session's items come from: a [`recording`], a file of a [`flight_recorder`], or for tests
//! a readable [`scenario`].

pub mod flight_recorder;
pub mod recorded;
pub mod recording;
pub mod scenario;

pub mod encode;
