//! Writes a recording as a busy server's session would be: many classes, threads and monitors, and every kind of event that
//! the lenses take, in plausible shares. The same number of events gives the same bytes.

use std::{fs::File, io::BufWriter, path::Path};

use anyhow::Result;
use tracer_common::record::EventKind;
use tracer_event::{
    event::{NameId, SiteId, Tid},
    lens::Lens,
};
use tracer_model::item::{Counters, End, Item, Site, Start, Target};
use tracer_source::source::{
    encode::{encode_definition, encode_event, name_id},
    recording::Recorder,
};

const CLASSES: u64 = 2000;
const METHODS: u64 = 500;
const THREADS: u64 = 200;
const MONITORS: u64 = 5000;
const START_NS: u64 = 1_000_000_000;

/// Writes a recording with at least this many events.
pub(crate) fn write(file: &Path, events: u64) -> Result<()> {
    let mut writer = Writer {
        recorder: Recorder::new(BufWriter::new(File::create(file)?))?,
        random: 0x9e37_79b9_7f4a_7c15,
        time_ns: START_NS,
        emitted: vec![0; EventKind::ALL.len()],
        count: 0,
    };
    let sites = EventKind::ALL.iter().map(|kind| site(*kind)).collect();
    let start = Start {
        target: Target { pid: 1, command: "synthetic".to_owned(), cpus: 8, ..Target::default() },
        lenses: Lens::ALL.to_vec(),
        sites,
        missing: Vec::new(),
        time_ns: START_NS,
        wall_ms: 0,
        trap_cost_ps: Some(600_000),
        attach_ns: 0,
        attach_cpu_ns: 0,
        threads: Vec::new(),
    };
    writer.recorder.write(&Item::Start(Box::new(start)))?;
    let names = Names::define(&mut writer)?;
    while writer.count < events {
        writer.episode(&names)?;
    }
    writer.end()?;
    println!("events {}", writer.count);
    Ok(())
}

fn site(kind: EventKind) -> Site {
    let lens = match kind as u16 {
        16..32 => Lens::Safepoint,
        32..64 => Lens::Locks,
        64..80 => Lens::Threads,
        80..96 => Lens::Classes,
        96..112 => Lens::Jit,
        112..128 => Lens::Alloc,
        208..224 => Lens::Exceptions,
        _ => Lens::Gc,
    };
    Site { probe: format!("synthetic:{kind:?}"), lens, kind: kind as u16, offset: u64::from(kind as u16) }
}

/// Ids of all texts that the events name.
struct Names {
    classes: Vec<u64>,
    methods: Vec<u64>,
    threads: Vec<u64>,
    operations: Vec<u64>,
    causes: Vec<u64>,
    pools: Vec<u64>,
    compilers: Vec<u64>,
    signature: u64,
}

impl Names {
    fn define(to: &mut Writer) -> Result<Self> {
        let mut define =
            |texts: Vec<String>| -> Result<Vec<u64>> { texts.iter().map(|text| to.define(text.as_bytes())).collect() };
        let listed = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Ok(Self {
            classes: define((0..CLASSES).map(|i| format!("com/shop/module{}/Type{i}", i % 40)).collect())?,
            methods: define((0..METHODS).map(|i| format!("method{i}")).collect())?,
            threads: define((0..THREADS).map(|i| format!("pool-{}-thread-{i}", i % 7)).collect())?,
            operations: define(listed(&["G1CollectForAllocation", "Cleanup", "ICBufferFull", "Deoptimize"]))?,
            causes: define(listed(&["G1 Evacuation Pause", "G1 Humongous Allocation", "No GC"]))?,
            pools: define(listed(&["G1 Eden Space", "G1 Survivor Space", "G1 Old Gen"]))?,
            compilers: define(listed(&["C1", "C2"]))?,
            signature: define(listed(&["(Ljava/lang/Object;)V"]))?[0],
        })
    }
}

struct Writer {
    recorder: Recorder<BufWriter<File>>,
    random: u64,
    time_ns: u64,
    emitted: Vec<u64>,
    count: u64,
}

impl Writer {
    fn define(&mut self, text: &[u8]) -> Result<u64> {
        let id: NameId = name_id(text);
        self.recorder.write(&Item::Record(&encode_definition(id, text)))?;
        Ok(id.0)
    }

    /// A number below `limit` (xorshift).
    fn below(&mut self, limit: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % limit
    }

    fn pick(&mut self, from: &[u64]) -> u64 {
        let index = self.below(from.len() as u64);
        from[usize::try_from(index).unwrap_or(0)]
    }

    fn event(&mut self, kind: EventKind, thread: u64, words: &[u64]) -> Result<()> {
        self.time_ns += 200 + self.below(2000);
        let site = EventKind::ALL.iter().position(|other| *other == kind).unwrap_or(0);
        self.emitted[site] += 1;
        self.count += 1;
        let tid = Tid(1000 + u32::try_from(thread)?);
        let record = encode_event(kind, SiteId(u16::try_from(site)?), tid, self.time_ns, words);
        Ok(self.recorder.write(&Item::Record(&record))?)
    }

    /// Something that a server does, with all of its events.
    fn episode(&mut self, names: &Names) -> Result<()> {
        let thread = self.below(THREADS);
        match self.below(1000) {
            0..350 => self.contention(thread, names),
            350..650 => self.park(thread),
            650..850 => self.allocation(thread, names),
            850..900 => self.initialization(thread, names),
            900..940 => self.compilation(names),
            940..970 => self.wait(thread, names),
            970..980 => self.life(thread, names),
            980..992 => self.operation(names),
            _ => self.collection(names),
        }
    }

    fn contention(&mut self, thread: u64, names: &Names) -> Result<()> {
        let monitor = self.below(MONITORS);
        let words = [0x7f00_0000_0000 + 64 * monitor, names.classes[usize::try_from(monitor % 300)?]];
        self.event(EventKind::MonitorContendedEnter, thread, &words)?;
        self.event(EventKind::MonitorContendedEntered, thread, &words)?;
        self.event(EventKind::MonitorContendedExit, thread, &words)
    }

    fn park(&mut self, thread: u64) -> Result<()> {
        let parker = 0x7e00_0000_0000 + 128 * thread;
        self.event(EventKind::ThreadParkBegin, thread, &[parker, 0, 1_000_000])?;
        let waker = self.below(THREADS);
        self.event(EventKind::ThreadUnpark, waker, &[parker])?;
        self.event(EventKind::ThreadParkEnd, thread, &[parker])
    }

    fn allocation(&mut self, thread: u64, names: &Names) -> Result<()> {
        let class = self.pick(&names.classes);
        let bytes = 16 + 8 * self.below(500);
        match self.below(20) {
            0 => self.event(EventKind::AllocOutsideTlab, thread, &[class, 1000 * bytes]),
            _ => self.event(EventKind::AllocInNewTlab, thread, &[class, 1 << 19, bytes]),
        }
    }

    fn initialization(&mut self, thread: u64, names: &Names) -> Result<()> {
        let words = [self.pick(&names.classes), 0x7d00_0000_0000, 0];
        self.event(EventKind::ClassLoaded, thread, &words)?;
        self.event(EventKind::ClassInitRequired, thread, &words)?;
        self.event(EventKind::ClassInitClinit, thread, &words)?;
        self.event(EventKind::ClassInitEnd, thread, &words)?;
        if self.below(3) == 0 { self.event(EventKind::ClassUnloaded, thread, &words) } else { Ok(()) }
    }

    fn compilation(&mut self, names: &Names) -> Result<()> {
        let thread = THREADS + self.below(4);
        let compiler = self.pick(&names.compilers);
        let [class, method] = [self.pick(&names.classes), self.pick(&names.methods)];
        let success = u64::from(self.below(50) != 0);
        let code = 0x7c00_0000_0000 + 4096 * self.below(10_000);
        self.event(EventKind::CompileBegin, thread, &[compiler, class, method, names.signature])?;
        self.event(EventKind::CodeLoaded, thread, &[class, method, names.signature, code, 2000])?;
        self.event(EventKind::CompileEnd, thread, &[compiler, class, method, names.signature, success])?;
        self.event(EventKind::CodeUnloaded, thread, &[class, method, names.signature])
    }

    fn wait(&mut self, thread: u64, names: &Names) -> Result<()> {
        let monitor = [0x7f00_0000_0000 + 64 * self.below(MONITORS), self.pick(&names.classes), 100];
        self.event(EventKind::MonitorWait, thread, &monitor)?;
        let notifier = self.below(THREADS);
        self.event(EventKind::MonitorNotify, notifier, &monitor)?;
        self.event(EventKind::MonitorWaited, thread, &monitor)
    }

    fn life(&mut self, thread: u64, names: &Names) -> Result<()> {
        let words = [names.threads[usize::try_from(thread)?], 500 + thread, 1000 + thread, 1];
        self.event(EventKind::ThreadStart, thread, &words)?;
        self.event(EventKind::ThreadSleepBegin, thread, &[10])?;
        self.event(EventKind::ThreadSleepEnd, thread, &[0])?;
        self.event(EventKind::ThreadStop, thread, &words)
    }

    fn operation(&mut self, names: &Names) -> Result<()> {
        let words = [self.pick(&names.operations), 0];
        self.event(EventKind::VmOperationBegin, THREADS, &words)?;
        self.event(EventKind::SafepointBegin, THREADS, &[])?;
        self.event(EventKind::SafepointEnd, THREADS, &[])?;
        self.event(EventKind::VmOperationEnd, THREADS, &words)
    }

    fn collection(&mut self, names: &Names) -> Result<()> {
        let operation = [names.operations[0], 0];
        let cause = self.pick(&names.causes);
        self.event(EventKind::VmOperationBegin, THREADS, &operation)?;
        self.event(EventKind::SafepointBegin, THREADS, &[])?;
        self.event(EventKind::GcBegin, THREADS, &[0, cause, cause])?;
        for kind in [EventKind::MemPoolGcBegin, EventKind::MemPoolGcEnd] {
            for pool in &names.pools {
                let used = self.below(1 << 30);
                self.event(kind, THREADS, &[names.causes[0], *pool, 1 << 28, used, 1 << 30, 1 << 31])?;
            }
        }
        self.event(EventKind::GcEnd, THREADS, &[cause, cause])?;
        self.event(EventKind::SafepointEnd, THREADS, &[])?;
        self.event(EventKind::VmOperationEnd, THREADS, &operation)
    }

    fn end(&mut self) -> Result<()> {
        let Self { time_ns, emitted, .. } = self;
        let time_ns = *time_ns + 1;
        let sites = emitted.iter().map(|count| [*count, 0, *count, 0, 0, 0, 0]).collect();
        let counters = Counters { time_ns, sites, ..Counters::default() };
        self.recorder.write(&Item::Counters(counters))?;
        self.recorder.write(&Item::End(End { time_ns, reason: "end".to_owned(), counters_final: true }))?;
        Ok(self.recorder.flush()?)
    }
}
