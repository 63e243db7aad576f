//! Events as they pass, for other programs: they are written while the session goes on, not drawn from its report. Views are drawn
//! from a report and know no event.

pub mod events;
pub mod jfr;
