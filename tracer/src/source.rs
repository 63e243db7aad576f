//! Where a session's items come from: a [`live`] target, a [`recording`], or for tests a readable [`scenario`].

pub mod live;
mod merge;
pub mod recording;
pub mod scenario;

pub mod encode;
