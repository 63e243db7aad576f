//! Writes the recording of a program's calls: a tree of contexts that is walked again and again, with some allocations, as
//! large as `cargo xtask` wants it, and takes the time from the file to the page.

use std::{
    fs::File,
    io::{self, BufWriter, Write as _},
    path::Path,
    time::Instant,
};

use anyhow::{Context as _, Result};
use tracer_analysis::session::Session;
use tracer_common::record::{EventKind, SubjectState};
use tracer_event::{
    event::{SiteId, SubjectId, Tid},
    lens::Lens,
    subject::{MethodPart, Subject, SubjectDefinition},
};
use tracer_model::{
    item::{Counters, End, Item, Site, Start, Target},
    report::Report,
};
use tracer_source::source::{
    encode::encode_event,
    recording::{Recorder, Recording},
};
use tracer_view::view::{json, text};

/// Methods and classes that there are.
const METHODS: u32 = 2000;
const CLASSES: u32 = 200;
/// Most calls that a method makes to different ones.
const CALLEES: u64 = 6;
const START_NS: u64 = 1_000_000_000;
const TOP: u64 = 0x7fff_0000_0000;
const FRAME: u64 = 96;
const KINDS: [EventKind; 3] = [EventKind::MethodEntry, EventKind::MethodReturn, EventKind::ObjectAlloc];

/// A context: a method that is called by the one around it.
struct Node {
    method: u32,
    children: Vec<usize>,
}

/// Writes a recording with so many calls in so many contexts, and so many allocations.
pub(crate) fn write(file: &Path, calls: u64, contexts: usize, allocations: u64) -> Result<()> {
    let mut writer = Writer {
        recorder: Recorder::new(BufWriter::new(File::create(file)?))?,
        time_ns: START_NS,
        emitted: [0; 3],
        every: (calls / allocations.max(1)).max(1),
        allocations,
        calls,
    };
    writer.begin()?;
    let nodes = tree(contexts.max(1));
    while writer.calls > 0 {
        writer.call(&nodes, 0, 0)?;
    }
    let [entries, returns, objects] = writer.emitted;
    writer.end()?;
    println!("calls {entries}\nreturns {returns}\ncontexts {}\nobjects {objects}", nodes.len());
    Ok(())
}

/// A tree of contexts, the same for the same number: each has up to [`CALLEES`] below it, and they are spread in width.
fn tree(contexts: usize) -> Vec<Node> {
    let mut nodes = vec![Node { method: 0, children: Vec::new() }];
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut parent = 0;
    while nodes.len() < contexts {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        for callee in 0..=random % CALLEES {
            if nodes.len() < contexts {
                // Siblings are different methods, so that each is a context of its own.
                let method = (u32::try_from(random >> 40).unwrap_or(0) + u32::try_from(callee).unwrap_or(0)) % METHODS;
                let child = nodes.len();
                nodes[parent].children.push(child);
                nodes.push(Node { method, children: Vec::new() });
            }
        }
        parent += 1;
    }
    nodes
}

struct Writer {
    recorder: Recorder<BufWriter<File>>,
    time_ns: u64,
    emitted: [u64; 3],
    /// Calls for each allocation.
    every: u64,
    allocations: u64,
    /// That are still to come.
    calls: u64,
}

impl Writer {
    fn begin(&mut self) -> Result<()> {
        let site = |kind: &EventKind| Site {
            probe: format!("synthetic:{kind:?}"),
            lens: if *kind == EventKind::ObjectAlloc { Lens::Alloc } else { Lens::Calls },
            kind: *kind as u16,
            offset: u64::from(*kind as u16),
        };
        let start = Start {
            target: Target { pid: 1, command: "synthetic".to_owned(), cpus: 2, ..Target::default() },
            lenses: vec![Lens::Methods, Lens::Calls, Lens::Alloc],
            sites: KINDS.iter().map(site).collect(),
            missing: Vec::new(),
            time_ns: START_NS,
            wall_ms: 0,
            trap_cost_ps: Some(600_000),
            attach_ns: 0,
            attach_cpu_ns: 0,
            threads: vec![(Tid(1000), "main".to_owned())],
        };
        self.recorder.write(&Item::Start(Box::new(start)))?;
        for id in 0..METHODS + CLASSES {
            let method = (id < METHODS).then(|| MethodPart {
                name: format!("method{id}"),
                signature: "(Ljava/lang/Object;)V".to_owned(),
                native: false,
            });
            let class = format!("com.shop.module{}.Type{}", id % 40, id / 10);
            let subject = SubjectDefinition { id: SubjectId(id), subject: Subject { class, method } };
            self.recorder.write(&Item::Subject(subject))?;
        }
        Ok(())
    }

    fn event(&mut self, index: usize, words: &[u64]) -> Result<()> {
        self.time_ns += 40;
        self.emitted[index] += 1;
        let record = encode_event(KINDS[index], SiteId(u16::try_from(index)?), Tid(1000), self.time_ns, words);
        Ok(self.recorder.write(&Item::Record(&record))?)
    }

    /// A call with everything below it, as long as calls are left.
    fn call(&mut self, nodes: &[Node], at: usize, depth: u64) -> Result<()> {
        if self.calls == 0 {
            return Ok(());
        }
        self.calls -= 1;
        let wanted = SubjectState::Wanted as u64;
        let words = [u64::from(nodes[at].method), TOP - FRAME * depth, wanted];
        self.event(0, &words)?;
        if self.calls.is_multiple_of(self.every) && self.emitted[2] < self.allocations {
            let class = METHODS + nodes[at].method % CLASSES;
            self.event(2, &[u64::from(class), 24 + 8 * (self.emitted[2] % 5), u64::MAX, wanted])?;
        }
        for child in &nodes[at].children {
            self.call(nodes, *child, depth + 1)?;
        }
        self.event(1, &words)
    }

    fn end(&mut self) -> Result<()> {
        let time_ns = self.time_ns + 1;
        let sites = self.emitted.iter().map(|count| [*count, 0, *count, 0, 0, 0, 0]).collect();
        self.recorder.write(&Item::Counters(Counters { time_ns, sites, ..Counters::default() }))?;
        self.recorder.write(&Item::End(End { time_ns, reason: "end".to_owned(), counters_final: true }))?;
        Ok(self.recorder.flush()?)
    }
}

/// Reads a recording, builds the report and writes it as text and as JSON; prints how long each took, in ms.
pub(crate) fn replay(file: &Path) -> Result<()> {
    let begin = Instant::now();
    let mut session: Option<Session> = None;
    Recording::open(file)?.replay(&mut |item| match (&mut session, item) {
        (None, Item::Start(start)) => session = Some(Session::new(*start)),
        (Some(session), item) => {
            session.accept(&item);
        }
        (None, _) => {}
    })?;
    let session = session.context("the recording has no start")?;
    let folded = Instant::now();
    let report = session.report();
    let built = Instant::now();
    let mut out = Discarded::default();
    text::write(&report, &text::TextOptions::for_file(), &mut out)?;
    let shown = Instant::now();
    json::write(&report, &mut out)?;
    let written = Instant::now();
    out.flush()?;
    for (name, from, to) in [
        ("fold_ms", begin, folded),
        ("report_ms", folded, built),
        ("text_ms", built, shown),
        ("json_ms", shown, written),
    ] {
        println!("{name} {:.1}", 1e3 * (to - from).as_secs_f64());
    }
    println!("shown_ms {:.1}\nbytes {}", 1e3 * (shown - begin).as_secs_f64(), out.bytes);
    summaries(&report);
    Ok(())
}

fn summaries(report: &Report) {
    for section in &report.sections {
        for (key, number) in section.summary.iter() {
            println!("{}.{key} {}", section.id, number.as_f64());
        }
    }
}

/// Counts what is written.
#[derive(Default)]
struct Discarded {
    bytes: usize,
}

impl io::Write for Discarded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
