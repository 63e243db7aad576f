//! Where a session's items come from: a live target or a recording.
