//! Where a session's items come from: a [`live`] target or a [`recording`].

pub mod live;
mod merge;
pub mod recording;
