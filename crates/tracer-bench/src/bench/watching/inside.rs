//! jtrace in the JVM as an observer: markers on a share of the program's methods, calls of all of them in their contexts, or a property of
//! iterators.
//!
//! Weaving is done and everything is switched on when jtrace says that it is attached, so no part of that is in the timed
//! iteration, and what is compiled anew because of it is compiled in iterations before; what the woven code costs is. The report is
//! made while the program runs: nothing is recorded to a file, which would grow with every mark.
//!
//! What stays when jtrace has left is measured by itself (`markers-gone:100`): classes were exchanged twice, and the JVM has compiled
//! anew what it knew of them.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use super::{
    UNGUARDED, answers,
    session::{self, Session},
    watched,
};
use crate::bench::{
    Error,
    configuration::Configuration,
    folder::Folder,
    observer::Observer,
    results::Observed,
    share::{self, Share},
};

/// The file of markers.
const SPEC: &str = "markers.toml";
/// The report.
const REPORT: &str = "report.json";
/// Largest report that is read.
const MAX_REPORT: u64 = 256 << 20;

/// Shares that are measured, in percent.
const SHARES: [u8; 5] = [10, 25, 50, 75, 100];
/// Properties that are measured.
const PROPERTIES: [&str; 2] = ["hasnext", "hasnextonce"];

/// What becomes of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marks {
    /// None is made: the markers are woven and off.
    Off,
    /// It is counted in the JVM.
    Counted,
    /// It is sent.
    Sent,
    /// None any more: they were woven, and jtrace left before the program goes on.
    Gone,
}

/// What is woven.
#[derive(Clone, Copy, Debug)]
enum Woven {
    Markers(Share, Marks),
    /// All methods of the program's own packages.
    Own(Counted),
    Property(&'static str, Adaptive),
}

/// What is counted of methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    /// Calls, by what is around them.
    Contexts,
    /// The same, and what is made in each context.
    ContextsWithObjects,
    /// What is made, by place.
    Objects,
    /// Exceptions, and where they go.
    Exceptions,
}

impl Counted {
    /// jtrace's command for a process, and what follows that.
    const fn words(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Contexts => ("calls", &["--lane", "inside", "--no-times"]),
            Self::ContextsWithObjects => ("calls", &["-l", "calls,alloc", "--exact", "--lane", "inside", "--no-times"]),
            Self::Objects => ("alloc", &["--lane", "inside"]),
            Self::Exceptions => ("exceptions", &["--lane", "inside"]),
        }
    }
}

/// Whether symbols that leave an object in its state are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Adaptive {
    Yes,
    No,
}

/// jtrace with its library in the JVM.
#[derive(Debug)]
struct Inside {
    jtrace: PathBuf,
    woven: Woven,
    /// The file of markers for the program that is next.
    spec: Option<String>,
    /// Patterns of its own methods.
    patterns: Vec<String>,
    watch: Option<Watch>,
}

/// A session of one run.
#[derive(Debug)]
enum Watch {
    Begun(Session),
    Over(Observed),
}

impl Inside {
    fn command(&self, pid: u32, folder: &Folder) -> Vec<String> {
        let path = |name| folder.file(name).to_string_lossy().into_owned();
        let pid = pid.to_string();
        let spec = path(SPEC);
        let words: Vec<&str> = match self.woven {
            Woven::Markers(_, marks) => {
                let how: &[&str] = match marks {
                    Marks::Off => &["--off"],
                    Marks::Counted | Marks::Gone => &[],
                    Marks::Sent => &["--each"],
                };
                ["markers", &pid, "--spec", &spec].iter().chain(how).copied().collect()
            }
            Woven::Own(counted) => {
                let (command, words) = counted.words();
                let chosen = self.patterns.iter().flat_map(|pattern| ["-I", pattern]);
                [command, &pid].into_iter().chain(words.iter().copied()).chain(chosen).collect()
            }
            Woven::Property(name, adaptive) => {
                let how: &[&str] = if adaptive == Adaptive::Yes { &[] } else { &["--no-adaptive"] };
                ["typestate", &pid, "-p", name].iter().chain(how).copied().collect()
            }
        };
        // A share can be more methods than anybody names by hand, and some of its classes may not be loaded any more.
        let further = ["--yes", "--later", "-o", &path(REPORT)].map(str::to_owned);
        words.into_iter().chain(UNGUARDED).map(str::to_owned).chain(further).collect()
    }
}

impl Observer for Inside {
    fn prepare(&mut self) -> Result<(String, String), Error> {
        session::prepare(&self.jtrace)
    }

    fn needs_methods(&self) -> bool {
        matches!(self.woven, Woven::Markers(..) | Woven::Own(_))
    }

    fn settles(&self) -> bool {
        true
    }

    fn aim(&mut self, methods: &[String], seed: u64) {
        match self.woven {
            Woven::Markers(share, _) => self.spec = share::spec(&share.of(methods, seed)),
            Woven::Own(_) => self.patterns = share::packages(methods),
            Woven::Property(..) => {}
        }
    }

    fn start(&mut self, pid: u32) -> Result<(), Error> {
        let folder = Folder::new()?;
        if matches!(self.woven, Woven::Markers(..)) {
            let text = self.spec.as_deref().ok_or_else(|| Error::program("jtrace", "was given no method to mark"))?;
            let path = folder.file(SPEC);
            std::fs::write(&path, text).map_err(Error::system(format!("write {}", path.display())))?;
        }
        let command = self.command(pid, &folder);
        let session = Session::begin(&self.jtrace, command, folder)?;
        self.watch = Some(match self.woven {
            Woven::Markers(_, Marks::Gone) => Watch::Over(end(session)?),
            _ => Watch::Begun(session),
        });
        Ok(())
    }

    fn stop(&mut self) -> Result<Observed, Error> {
        match self.watch.take().ok_or_else(session::not_started)? {
            Watch::Begun(session) => end(session),
            Watch::Over(observed) => Ok(observed),
        }
    }
}

fn end(session: Session) -> Result<Observed, Error> {
    session.end(|folder| {
        let report = read(&folder.file(REPORT)).map_err(Error::system("read jtrace's report"))?;
        answers::read_inside(&report).map_err(|what| Error::program("jtrace", what))
    })
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_REPORT).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Configurations with jtrace's library in the JVM.
pub(super) fn configurations(jtrace: &Path) -> Vec<Configuration> {
    let inside = |name: &str, what: &str, woven| {
        let (jtrace, patterns) = (jtrace.to_owned(), Vec::new());
        watched(name, what, Inside { jtrace, woven, spec: None, patterns, watch: None })
    };
    let off = "markers woven into all methods of its own that the program executes, and off";
    let gone = "markers were woven into all methods of its own that the program executes, and jtrace has left";
    let mut all = vec![
        inside("markers:0", off, Woven::Markers(Share::ALL, Marks::Off)),
        inside("markers-gone:100", gone, Woven::Markers(Share::ALL, Marks::Gone)),
    ];
    for (kind, marks, what) in
        [("markers", Marks::Counted, "counted in the JVM"), ("markers-sent", Marks::Sent, "each sent to jtrace")]
    {
        all.extend(SHARES.map(|percent| {
            let what =
                format!("markers on {percent} % of the program's own methods that it executes; marks are {what}");
            inside(&format!("{kind}:{percent}"), &what, Woven::Markers(Share::percent(percent), marks))
        }));
    }
    for (name, what, counted) in [
        ("contexts", "the complete tree of calling contexts", Counted::Contexts),
        (
            "contexts:alloc",
            "the complete tree of calling contexts, with what is made in each",
            Counted::ContextsWithObjects,
        ),
        ("alloc:inside", "every object by the instruction that makes it", Counted::Objects),
        ("exceptions:inside", "every exception from where it is thrown to where it is caught", Counted::Exceptions),
    ] {
        let what = format!("{what}, of the program's own packages, through code in the JVM");
        all.push(inside(name, &what, Woven::Own(counted)));
    }
    for property in PROPERTIES {
        let what = format!("the property {property} of iterators");
        let told = format!("{what}, every symbol told");
        all.push(inside(&format!("typestate:{property}"), &told, Woven::Property(property, Adaptive::No)));
        let what = format!("{what}, as jtrace does it: symbols that leave an object in its state are not told");
        all.push(inside(&format!("typestate:{property}:adaptive"), &what, Woven::Property(property, Adaptive::Yes)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Box<dyn Observer> {
        let found = configurations(Path::new("jtrace")).into_iter().find(|configuration| configuration.name == name);
        found.unwrap().observer.unwrap()
    }

    fn inside(woven: Woven) -> Inside {
        Inside { jtrace: "jtrace".into(), woven, spec: None, patterns: vec!["a.*::*".to_owned()], watch: None }
    }

    #[test]
    fn every_published_column_of_markers_and_typestate_has_its_configuration() {
        let all = configurations(Path::new("jtrace"));
        let names: Vec<_> = all.iter().map(|configuration| configuration.name.as_str()).collect();
        for name in [
            "markers:0",
            "markers:10",
            "markers:25",
            "markers:50",
            "markers:75",
            "markers:100",
            "markers-gone:100",
            "typestate:hasnext",
            "typestate:hasnext:adaptive",
            "typestate:hasnextonce",
            "typestate:hasnextonce:adaptive",
        ] {
            assert!(names.contains(&name), "{name}");
        }
        assert!(named("markers:0").needs_methods() && named("markers-sent:10").needs_methods());
        assert!(!named("typestate:hasnext").needs_methods());
    }

    #[test]
    fn the_command_says_what_is_woven_and_how_it_is_told() {
        let folder = Folder::new().unwrap();
        let at = |name| folder.file(name).to_string_lossy().into_owned();
        let command = |woven| inside(woven).command(7, &folder).join(" ");
        let tail = format!("--max-overhead 100000% --yes --later -o {}", at(REPORT));
        let markers = format!("markers 7 --spec {}", at(SPEC));
        let of_all = |marks| command(Woven::Markers(Share::ALL, marks));
        assert_eq!(of_all(Marks::Off), format!("{markers} --off {tail}"));
        for marks in [Marks::Counted, Marks::Gone] {
            assert_eq!(of_all(marks), format!("{markers} {tail}"));
        }
        assert_eq!(of_all(Marks::Sent), format!("{markers} --each {tail}"));
        let of_own = |counted| command(Woven::Own(counted));
        let (contexts, chosen) = ("--lane inside --no-times", "-I a.*::*");
        assert_eq!(of_own(Counted::Contexts), format!("calls 7 {contexts} {chosen} {tail}"));
        let with_objects = of_own(Counted::ContextsWithObjects);
        assert_eq!(with_objects, format!("calls 7 -l calls,alloc --exact {contexts} {chosen} {tail}"));
        assert_eq!(of_own(Counted::Objects), format!("alloc 7 --lane inside {chosen} {tail}"));
        assert_eq!(of_own(Counted::Exceptions), format!("exceptions 7 --lane inside {chosen} {tail}"));
        let of_hasnext = |adaptive| command(Woven::Property("hasnext", adaptive));
        assert_eq!(of_hasnext(Adaptive::Yes), format!("typestate 7 -p hasnext {tail}"));
        assert_eq!(of_hasnext(Adaptive::No), format!("typestate 7 -p hasnext --no-adaptive {tail}"));
    }

    #[test]
    fn without_a_method_nothing_is_started() {
        let mut inside = inside(Woven::Markers(Share::percent(10), Marks::Counted));
        inside.aim(&[], 1);
        let error = inside.start(1).unwrap_err().to_string();
        assert!(error.contains("no method to mark"), "{error}");
        assert!(inside.stop().is_err(), "nothing runs");
    }
}
