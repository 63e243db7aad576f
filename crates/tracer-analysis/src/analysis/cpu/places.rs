//! CPU time by the innermost method of the program, with all that it calls: the JDK's methods, stubs and the JVM below it are its
//! doing. What it is busy with is told by what it calls.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::{
    method::interval_percent,
    profile::Amounts,
    site,
    table::{REPORT_ROWS, column},
};
use crate::{
    event::StackId,
    report::{Cell, Shape, Table, Unit},
    stack::{Frame, Kind, Stacks},
};

/// What a place is busy with, where that says more than the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Work {
    Exceptions,
    RegularExpression,
    HashCollisions,
    StringCopies,
    Spinning,
    Selecting,
    ListSearch,
    NativeMemory,
    Finalizing,
    Other,
}

/// Methods of the JDK by the beginnings of their names, with what they are busy with.
const WORK: [(&str, Work); 23] = [
    ("java.lang.Throwable.fillInStackTrace", Work::Exceptions),
    ("java.lang.Throwable.<init>", Work::Exceptions),
    ("java.lang.StackTraceElement.", Work::Exceptions),
    ("java.util.regex.", Work::RegularExpression),
    // Buckets become trees when many keys share one.
    ("java.util.HashMap$TreeNode.", Work::HashCollisions),
    ("java.util.concurrent.ConcurrentHashMap$TreeNode.", Work::HashCollisions),
    ("java.util.concurrent.ConcurrentHashMap$TreeBin.", Work::HashCollisions),
    ("java.lang.AbstractStringBuilder.", Work::StringCopies),
    ("java.lang.StringConcatHelper.", Work::StringCopies),
    ("java.lang.String.concat", Work::StringCopies),
    ("java.lang.Thread.yield", Work::Spinning),
    ("java.lang.Thread.onSpinWait", Work::Spinning),
    ("java.util.concurrent.locks.ReentrantLock.tryLock", Work::Spinning),
    ("sun.nio.ch.EPoll.wait", Work::Selecting),
    ("java.util.ArrayList.indexOf", Work::ListSearch),
    ("java.util.ArrayList.contains", Work::ListSearch),
    ("java.util.LinkedList.", Work::ListSearch),
    ("java.nio.DirectByteBuffer.<init>", Work::NativeMemory),
    ("java.nio.Bits.", Work::NativeMemory),
    ("java.util.zip.Deflater.<init>", Work::NativeMemory),
    ("java.util.zip.Inflater.<init>", Work::NativeMemory),
    ("jdk.internal.misc.Unsafe.allocateMemory", Work::NativeMemory),
    ("jdk.internal.misc.Unsafe.setMemory", Work::NativeMemory),
];

/// Methods and constructors that make exceptions.
const THROWABLE: &str = "java.lang.Throwable.";

/// Ends of the names of constructors.
const CONSTRUCTOR: &str = ".<init>";

/// What calls `finalize`.
const FINALIZER: &str = "java.lang.ref.Finalizer.runFinalizer";

/// Functions of the JVM that throw and find who catches.
const THROWING: [&str; 4] = ["Exceptions::", "exception_handler", "handle_exception", "throw_and_post_jvmti_exception"];

impl Work {
    const fn key(self) -> &'static str {
        match self {
            Self::Exceptions => "exceptions",
            Self::RegularExpression => "regular expressions",
            Self::HashCollisions => "hash collisions",
            Self::StringCopies => "copies of strings",
            Self::Spinning => "spinning",
            Self::Selecting => "selecting",
            Self::ListSearch => "search in lists",
            Self::NativeMemory => "native memory",
            Self::Finalizing => "finalizers",
            Self::Other => "other",
        }
    }

    pub(super) fn of(frame: &Frame) -> Option<Self> {
        if frame.kind.is_java() {
            return WORK.iter().find(|(begin, _)| frame.name.starts_with(begin)).map(|(_, work)| *work);
        }
        let throws = frame.kind == Kind::Native && THROWING.iter().any(|part| frame.name.contains(part));
        throws.then_some(Self::Exceptions)
    }
}

/// Whether a Java frame makes an exception, as what it called did or did not. The program's own exceptions are made in the program's own
/// constructors. One further out makes something else.
fn makes_exception(frame: &Frame, inner: bool) -> bool {
    frame.name.starts_with(THROWABLE) || (inner && frame.name.ends_with(CONSTRUCTOR))
}

/// A stack, as the program sees it.
struct Seen<'a> {
    place: &'a Frame,
    work: Work,
    /// Class of what is thrown, where that is known.
    thrown: Option<&'a str>,
    /// The Java frame that runs, or the innermost one.
    top: &'a Frame,
    /// How the program came there.
    callers: Option<String>,
}

impl<'a> Seen<'a> {
    /// Nothing for a stack without a method of the program.
    fn of(stacks: &'a Stacks, id: StackId) -> Option<Self> {
        let mut work = None;
        let mut thrown = None;
        let mut is_made = false;
        for (depth, frame) in stacks.frames_of(id).enumerate() {
            work = work.or_else(|| Work::of(frame));
            if frame.kind.is_java() {
                is_made = makes_exception(frame, is_made);
                if is_made {
                    thrown = frame.name.strip_suffix(CONSTRUCTOR).or(thrown);
                    continue;
                }
            }
            if site::is_app(frame) {
                let finalizes = stacks.frames_of(id).any(|frame| frame.name == FINALIZER);
                let work = if finalizes { Work::Finalizing } else { work.unwrap_or(Work::Other) };
                let (place, callers) =
                    if finalizes { (site::entry(stacks, id)?, None) } else { site::own(stacks, id, depth)? };
                return Some(Self { place, work, thrown, top: site::top(stacks, id)?, callers });
            }
        }
        None
    }
}

/// Which Java frames of a stack, innermost first, say what its place is busy with, and what is thrown.
pub(in super::super) fn telling(frames: &[&Frame]) -> Vec<usize> {
    // The innermost frame decides what it is busy with.
    let mut telling: Vec<usize> = frames.iter().position(|frame| Work::of(frame).is_some()).into_iter().collect();
    let mut is_made = false;
    for (depth, frame) in frames.iter().enumerate().filter(|(_, frame)| frame.kind.is_java()) {
        is_made = makes_exception(frame, is_made);
        if is_made || frame.name == FINALIZER {
            telling.push(depth);
        }
    }
    telling
}

/// Samples of a method of the program.
#[derive(Default)]
struct Place<'a> {
    samples: u64,
    lines: BTreeMap<Option<u32>, u64>,
    works: BTreeMap<Work, u64>,
    tops: HashMap<&'a str, u64>,
    callers: HashMap<&'a str, u64>,
}

/// Samples of one kind of work.
#[derive(Default)]
struct Busy<'a> {
    samples: u64,
    places: HashMap<String, u64>,
    thrown: HashMap<&'a str, u64>,
    callers: HashMap<&'a str, u64>,
}

/// What has most samples.
fn most<K: Ord>(counts: impl IntoIterator<Item = (K, u64)>) -> Option<(K, u64)> {
    counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)))
}

/// Both tables: by method of the program, and by kind of work.
pub(super) fn tables(stacks: &Stacks, amounts: &Amounts, all: u64) -> [Shape; 2] {
    let known: HashMap<StackId, Seen<'_>> = amounts
        .iter()
        .map(|(id, ..)| id)
        .collect::<HashSet<_>>()
        .into_iter()
        .filter_map(|id| Some((id, Seen::of(stacks, id)?)))
        .collect();
    let mut places: HashMap<&str, Place<'_>> = HashMap::new();
    let mut works: BTreeMap<Work, Busy<'_>> = BTreeMap::new();
    for (id, _, amount) in amounts.iter() {
        let Some(seen) = known.get(&id) else { continue };
        let place = places.entry(&seen.place.name).or_default();
        place.samples += amount.count;
        *place.lines.entry(seen.place.line).or_default() += amount.count;
        *place.works.entry(seen.work).or_default() += amount.count;
        // It stands for many, which would together come before the one that has most.
        if !seen.top.is_of_several() {
            *place.tops.entry(&seen.top.name).or_default() += amount.count;
        }
        let busy = works.entry(seen.work).or_default();
        busy.samples += amount.count;
        *busy.places.entry(seen.place.to_string()).or_default() += amount.count;
        if let Some(thrown) = seen.thrown {
            *busy.thrown.entry(thrown).or_default() += amount.count;
        }
        if let Some(callers) = &seen.callers {
            *place.callers.entry(callers).or_default() += amount.count;
            *busy.callers.entry(callers).or_default() += amount.count;
        }
    }
    [places_table(places, all), works_table(works, all)]
}

fn text(most: Option<(&str, u64)>) -> Cell {
    most.map_or(Cell::Missing, |(text, _)| text.into())
}

fn places_table(places: HashMap<&str, Place<'_>>, all: u64) -> Shape {
    let mut places: Vec<_> = places.into_iter().collect();
    places.sort_by(|a, b| b.1.samples.cmp(&a.1.samples).then_with(|| a.0.cmp(b.0)));
    places.truncate(REPORT_ROWS);
    let row = |(method, place): (&str, Place<'_>)| {
        let (line, _) = most(place.lines).unwrap_or((None, 0));
        let (work, busy) = most(place.works).unwrap_or((Work::Other, 0));
        let (top, in_top) = most(place.tops).unzip();
        vec![
            method.into(),
            line.map_or(Cell::Missing, |line| u64::from(line).into()),
            place.samples.into(),
            (100.0 * place.samples as f64 / all.max(1) as f64).into(),
            interval_percent(place.samples, all).into(),
            work.key().into(),
            busy.into(),
            top.into(),
            in_top.into(),
            text(most(place.callers)),
        ]
    };
    Shape::Table(Table {
        id: "places",
        title: "Samples by the program's innermost method, with all that it calls".to_owned(),
        columns: vec![
            column("place", "Method", Unit::Text),
            column("line", "Line", Unit::Count),
            column("samples", "Samples", Unit::Count),
            column("share_percent", "Share", Unit::Percent),
            column("interval_percent", "±", Unit::Percent),
            column("work", "Busy with", Unit::Text),
            column("work_samples", "Samples of that", Unit::Count),
            column("top", "Mostly in", Unit::Text),
            column("top_samples", "Samples there", Unit::Count),
            column("callers", "From", Unit::Text),
        ],
        rows: places.into_iter().map(row).collect(),
    })
}

fn works_table(works: BTreeMap<Work, Busy<'_>>, all: u64) -> Shape {
    let mut works: Vec<_> = works.into_iter().filter(|(work, _)| *work != Work::Other).collect();
    works.sort_by(|a, b| b.1.samples.cmp(&a.1.samples).then_with(|| a.0.cmp(&b.0)));
    let row = |(work, busy): (Work, Busy<'_>)| {
        let (place, there) = most(busy.places).unwrap_or_default();
        vec![
            work.key().into(),
            busy.samples.into(),
            (100.0 * busy.samples as f64 / all.max(1) as f64).into(),
            interval_percent(busy.samples, all).into(),
            place.into(),
            there.into(),
            text(most(busy.thrown)),
            text(most(busy.callers)),
        ]
    };
    Shape::Table(Table {
        id: "work",
        title: "Samples by what the program is busy with".to_owned(),
        columns: vec![
            column("work", "Busy with", Unit::Text),
            column("samples", "Samples", Unit::Count),
            column("share_percent", "Share", Unit::Percent),
            column("interval_percent", "±", Unit::Percent),
            column("place", "Most at", Unit::Text),
            column("place_samples", "Samples there", Unit::Count),
            column("thrown", "Class thrown", Unit::Text),
            column("callers", "From", Unit::Text),
        ],
        rows: works.into_iter().map(row).collect(),
    })
}

#[cfg(test)]
mod tests {
    use crate::{
        analysis::{
            cpu::Cpu,
            testing::{Play, cells},
        },
        event::Payload,
    };

    #[test]
    fn the_programs_method_answers_for_all_that_it_calls() {
        let mut play = Play::default();
        let sample = Payload::CpuSample { period_ns: 1 };
        let matching = play.stack(&["a.Main.main:3", "a.Mail.check:12", "java.util.regex.Matcher.matches:700"]);
        let branch = play.stack(&["a.Main.main:3", "a.Mail.check:12", "java.util.regex.Pattern$Loop.match:4900"]);
        let other = play.stack(&["a.Main.main:5", "a.Mail.send:30"]);
        let jdk = play.stack(&["java.lang.Thread.run:840", "java.util.TimerThread.mainLoop:537"]);
        let events = [matching, branch, branch, other, jdk].map(|stack| (1, 7, stack, sample));
        let section = play.section_of_stacks(&mut Cpu::default(), 1000, &events);
        assert_eq!(
            cells(&section, "places", ["place", "line", "samples", "work", "top", "top_samples"]),
            [
                ["a.Mail.check", "12", "3", "regular expressions", "java.util.regex.Pattern$Loop.match", "2"],
                ["a.Mail.send", "30", "1", "other", "a.Mail.send", "1"]
            ]
        );
        assert_eq!(
            cells(&section, "work", ["work", "samples", "place", "thrown"]),
            [["regular expressions", "3", "a.Mail.check:12", "-"]]
        );
    }

    #[test]
    fn what_libraries_do_for_the_program_is_its_own_doing() {
        let mut play = Play::default();
        let sample = Payload::CpuSample { period_ns: 1 };
        let (main, render) = ("a.Main.main:3", "a.Api.render:33");
        let (write, parse) =
            ("com.fasterxml.jackson.databind.ObjectWriter.write:9", "org.apache.xerces.Parser.parse:7");
        let writes = play.stack(&[main, render, write, "com.fasterxml.jackson.core.Generator.put:1"]);
        let copies = play.stack(&[main, render, write, "java.lang.AbstractStringBuilder.append:1"]);
        let parses = play.stack(&[main, render, parse]);
        let alone = play.stack(&["org.apache.kafka.Broker.run:3", "org.apache.kafka.Log.write:9"]);
        let events = [writes, copies, parses, alone].map(|stack| (1, 7, stack, sample));
        let section = play.section_of_stacks(&mut Cpu::default(), 1000, &events);
        assert_eq!(
            cells(&section, "places", ["place", "line", "samples", "callers"]),
            [
                ["a.Api.render", "33", "3", "a.Main.main:3"],
                ["org.apache.kafka.Log.write", "9", "1", "org.apache.kafka.Broker.run:3"]
            ]
        );
        assert_eq!(cells(&section, "work", ["work", "place"]), [["copies of strings", "a.Api.render:33"]]);
    }

    #[test]
    fn what_is_made_around_an_exception_is_not_thrown() {
        let mut play = Play::default();
        let stack = play.stack(&[
            "a.Router.find:20",
            "javax.naming.InitialContext.<init>:208",
            "javax.naming.InitialContext.init:236",
            "a.NotFound.<init>:5",
            "java.lang.Throwable.<init>:255",
            "java.lang.Throwable.fillInStackTrace:798",
        ]);
        let section =
            play.section_of_stacks(&mut Cpu::default(), 1000, &[(1, 7, stack, Payload::CpuSample { period_ns: 1 })]);
        assert_eq!(
            cells(&section, "work", ["work", "place", "thrown"]),
            [["exceptions", "a.Router.find:20", "a.NotFound"]]
        );
    }

    #[test]
    fn an_exception_of_the_program_is_thrown_by_who_makes_it() {
        let mut play = Play::default();
        let stack = play.stack(&[
            "a.Main.main:3",
            "a.Parser.parse:20",
            "a.Refused.<init>:5",
            "java.lang.RuntimeException.<init>:52",
            "java.lang.Throwable.<init>:255",
            "java.lang.Throwable.fillInStackTrace:798",
            "libjvm.so JVM_FillInStackTrace",
        ]);
        let thrown = play.stack(&["a.Main.main:3", "a.Parser.next:31", "libjvm.so Exceptions::_throw"]);
        let sample = Payload::CpuSample { period_ns: 1 };
        let events = [(1, 7, stack, sample), (2, 7, stack, sample), (3, 7, thrown, sample)];
        let section = play.section_of_stacks(&mut Cpu::default(), 1000, &events);
        assert_eq!(
            cells(&section, "work", ["work", "samples", "place", "place_samples", "thrown"]),
            [["exceptions", "3", "a.Parser.parse:20", "2", "a.Refused"]]
        );
    }
}
