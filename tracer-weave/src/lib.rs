//! What both sides of the inside lane know of markers: where in which methods they are wanted ([`Rule`]), and how a class
//! file gets them ([`weave`]).
//!
//! The library in the JVM weaves with it; `jtrace markers check` looks with the same code at class files on disk. Nothing here
//! does I/O.

mod class;
pub mod content;
pub mod control;
pub mod handler;
pub mod outline;
pub mod pattern;
pub mod place;
pub mod trace;
pub mod walk;
pub mod weave;

pub use pattern::Pattern;
pub use place::{
    Access, ExceptionHandler, Kind, Made, Maker, Named, Place, PlaceDefinition, Raised, Raiser, Rule, Sides, Skipped,
};
