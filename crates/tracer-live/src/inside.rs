//! The inside lane: a library that jtrace loads into a JVM, and talks to until it has left again.
//!
//! It is loaded only where somebody asks for markers or typestate. [`library`] has its bytes and its probe sites, `place` puts
//! it where the JVM can read it, [`compiled`] decides what becomes of compiled code, [`visit`] is the conversation, `connection` its bytes.

pub mod compiled;
pub mod library;
pub mod visit;

mod connection;
pub mod place;
mod sizes;
mod unnamed;
