//! Micro-programs: each makes one kind of event as fast as it can, as often as it is told, and says how often that was.
//!
//! With them a price of one event is a division: what an iteration takes longer while it is watched, by the events of it
//! ([`super::comparison`]). And whether an observer missed anything is a comparison, because the number is known in advance. All
//! are one class of Java, [`SOURCE`], that is compiled when the first of them is prepared.

use std::{cell::OnceCell, ffi::OsString, rc::Rc};

use super::{
    Error,
    java::{Classes, Source},
    program::{Agreement, Launch, Program, Size},
    results,
};

/// The program in Java.
pub const SOURCE: &str = include_str!("../../bench/Micro.java");
/// The class that [`Micro::launch`] starts.
pub const CLASS: &str = "jtrace.bench.Micro";
/// What all names begin with.
pub const PREFIX: &str = "micro:";

/// A kind of event.
#[derive(Debug, PartialEq, Eq)]
struct Kind {
    name: &'static str,
    what: &'static str,
    /// The count that says how many events an iteration has; none where it has none.
    count: Option<&'static str>,
    /// Events of an iteration at default size: some seconds while a tool watches that takes a microsecond an event.
    number: u64,
    /// Flags without which the number would not be known.
    flags: &'static [&'static str],
}

/// All kinds. Where an event takes a fraction of a microsecond, an iteration is shorter than a second while nobody watches.
const KINDS: [Kind; 10] = [
    Kind { name: "idle", what: "computes and makes no events", count: None, number: 1_500_000, flags: &[] },
    Kind {
        name: "park",
        what: "LockSupport.unpark of the own thread, then park, which returns at once",
        count: Some("parks"),
        number: 4_000_000,
        flags: &[],
    },
    Kind { name: "sleep", what: "Thread.sleep(0)", count: Some("sleeps"), number: 4_000_000, flags: &[] },
    Kind {
        name: "enter",
        what: "contended enters of a monitor, with two threads",
        count: Some("contended_enters"),
        number: 20_000,
        flags: &[],
    },
    Kind { name: "load", what: "defines empty classes", count: Some("loads"), number: 20_000, flags: &[] },
    Kind {
        name: "thread",
        what: "starts threads that end at once, one after the other",
        count: Some("threads"),
        number: 10_000,
        flags: &[],
    },
    Kind {
        name: "gc",
        what: "System.gc() with an almost empty heap",
        count: Some("collections"),
        number: 500,
        flags: &[],
    },
    Kind {
        name: "alloc",
        what: "allocates small objects that escape",
        count: Some("objects"),
        number: 4_000_000,
        flags: &[],
    },
    Kind {
        name: "call",
        what: "calls a small method that is not inlined",
        count: Some("calls"),
        number: 4_000_000,
        flags: &["-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,jtrace.bench.Micro::small"],
    },
    Kind {
        name: "safepoint",
        what: "looks for deadlocks, for which all threads are stopped",
        count: Some("safepoints"),
        number: 30_000,
        // The JVM's own safepoints, once a second at most, would come on top up to JDK 23.
        flags: &["-XX:+UnlockDiagnosticVMOptions", "-XX:GuaranteedSafepointInterval=0"],
    },
];

/// A micro-program.
#[derive(Debug)]
pub struct Micro {
    kind: &'static Kind,
    classes: Rc<OnceCell<Classes>>,
}

/// All micro-programs. They share one folder of classes, which is removed with the last of them.
pub fn all() -> Vec<Micro> {
    let classes = Rc::default();
    KINDS.iter().map(|kind| Micro { kind, classes: Rc::clone(&classes) }).collect()
}

impl Micro {
    /// Its name: `micro:park`.
    pub fn name(&self) -> String {
        format!("{PREFIX}{}", self.kind.name)
    }

    /// How many events an iteration has.
    pub fn number(&self, size: Size) -> u64 {
        match size {
            Size::Small => self.kind.number / 10,
            Size::Default => self.kind.number,
            Size::Large => self.kind.number * 4,
        }
    }
}

impl Program for Micro {
    fn describe(&self) -> results::Program {
        results::Program {
            name: self.name(),
            what: self.kind.what.to_owned(),
            source: "jtrace, Micro.java".to_owned(),
            ..results::Program::default()
        }
    }

    fn prepare(&mut self) -> Result<(), Error> {
        if self.classes.get().is_none() {
            let source: Source = ("Micro.java", SOURCE);
            let compiled = Classes::compile("the micro-programs", &[source], &[])?;
            self.classes.get_or_init(|| compiled);
        }
        Ok(())
    }

    fn launch(&self, size: Size) -> Result<Launch, Error> {
        let classes = self.classes.get().ok_or_else(|| Error::program(self.name(), "is not prepared"))?;
        let mut words: Vec<OsString> = self.kind.flags.iter().map(OsString::from).collect();
        words.extend(["-cp".into(), classes.with(&[])?, CLASS.into(), self.kind.name.into()]);
        words.push(self.number(size).to_string().into());
        Ok(Launch { java: None, words, folder: None, agreement: Agreement::Lines })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_in_the_source_and_says_its_count_there() {
        for Kind { name, count, .. } in &KINDS {
            assert!(SOURCE.contains(&format!("case \"{name}\": return new ")), "{name}");
            if let Some(count) = count {
                assert!(SOURCE.contains(&format!("case \"{name}\": return \" {count}=")), "{name}: {count}");
            }
        }
    }

    #[test]
    fn every_number_fits_an_int_of_java_at_every_size() {
        for micro in all() {
            for size in [Size::Small, Size::Default, Size::Large] {
                assert!((1..=u64::from(i32::MAX.unsigned_abs())).contains(&micro.number(size)), "{micro:?}");
            }
        }
    }
}
