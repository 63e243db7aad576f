//! Writes recordings with many distinct stacks: they branch as real ones do, much at the bottom in common, less and less
//! above. The same numbers give the same bytes.

use std::{fs::File, io::BufWriter, path::Path};

use anyhow::Result;
use tracer_common::{record::EventKind, stack::STACK_FIRST};
use tracer_event::{
    event::{SiteId, StackId, Tid},
    lens::Lens,
    stack::{self, Frame, FrameDefinition, Kind, StackDefinition},
};
use tracer_model::item::{Counters, End, Item, Site, Start, Target, ThreadName};
use tracer_source::source::{encode::encode_event_with_stack, recording::Recorder};

const METHODS: u32 = 12_000;
const THREADS: u32 = 200;
const START_NS: u64 = 1_000_000_000;
const PERIOD_NS: u64 = 10_101_010;

/// Stacks of a session of [`write_session`].
const SESSION_STACKS: u64 = 20_000;

/// Writes a recording with so many stacks, each sampled once.
pub(crate) fn write(file: &Path, stacks: u64) -> Result<()> {
    let mut recorder = begin(file, &[(Lens::Cpu, EventKind::CpuSample)])?;
    let mut random = Random(42);
    let mut time_ns = START_NS;
    for number in 0..stacks {
        let id = define(number, &mut random, &mut recorder)?;
        time_ns += PERIOD_NS;
        let tid = Tid(1000 + u32::try_from(random.below(THREADS.into()))?);
        let sample = encode_event_with_stack(EventKind::CpuSample, SiteId(0), tid, time_ns, id, &[PERIOD_NS]);
        recorder.write(&Item::Record(&sample))?;
    }
    end(&mut recorder, time_ns, &[stacks])
}

/// Writes a session of so many seconds with so many events in each: samples and absences in turn, on stacks of which few are
/// frequent and most are seldom.
pub(crate) fn write_session(file: &Path, seconds: u64, per_second: u64) -> Result<()> {
    let mut recorder = begin(file, &[(Lens::Cpu, EventKind::CpuSample), (Lens::Offcpu, EventKind::OffCpu)])?;
    let mut random = Random(42);
    for number in 0..SESSION_STACKS {
        define(number, &mut random, &mut recorder)?;
    }
    let events = seconds * per_second;
    let mut counts = [0, 0];
    for number in 1..=events {
        let time_ns = START_NS + number * 1_000_000_000 / per_second;
        let most = random.below(SESSION_STACKS) + 1;
        let id = StackId(STACK_FIRST + random.below(most));
        let tid = Tid(1000 + u32::try_from(random.below(THREADS.into()))?);
        let record = if number % 2 == 0 {
            encode_event_with_stack(EventKind::CpuSample, SiteId(0), tid, time_ns, id, &[PERIOD_NS])
        } else {
            let blocked_ns = 10_000_000 + random.below(200_000_000);
            encode_event_with_stack(EventKind::OffCpu, SiteId(1), tid, time_ns, id, &[blocked_ns, 0, 1, 202])
        };
        counts[usize::from(number % 2 == 1)] += 1;
        recorder.write(&Item::Record(&record))?;
    }
    end(&mut recorder, START_NS + seconds * 1_000_000_000, &counts)
}

type Writer = Recorder<BufWriter<File>>;

/// What comes before events: threads, and all frames.
fn begin(file: &Path, sites: &[(Lens, EventKind)]) -> Result<Writer> {
    let mut recorder = Recorder::new(BufWriter::new(File::create(file)?))?;
    recorder.write(&Item::Start(Box::new(start(sites))))?;
    for tid in 0..THREADS {
        recorder.write(&Item::Thread(ThreadName { tid: Tid(1000 + tid), name: format!("http-worker-{tid}") }))?;
    }
    for id in 0..METHODS {
        recorder.write(&Item::Frame(FrameDefinition { id, frame: method(id).into() }))?;
    }
    Ok(recorder)
}

fn define(number: u64, random: &mut Random, recorder: &mut Writer) -> Result<StackId> {
    let id = StackId(STACK_FIRST + number);
    let end = stack::End { root: true, reason: String::new() };
    recorder.write(&Item::Stack(StackDefinition { id, frames: frames(number, random)?, end }))?;
    Ok(id)
}

/// What comes after events: how many there were of each site.
fn end(recorder: &mut Writer, time_ns: u64, counts: &[u64]) -> Result<()> {
    let sites = counts.iter().map(|count| [*count, 0, *count, 0, 0, 0, 0]).collect();
    recorder.write(&Item::Counters(Counters { time_ns, sites, ..Counters::default() }))?;
    recorder.write(&Item::End(End { time_ns, reason: "end".to_owned(), counters_final: true }))?;
    Ok(recorder.flush()?)
}

fn start(sites: &[(Lens, EventKind)]) -> Start {
    let site = |(lens, kind): &(Lens, EventKind)| {
        let probe = if *lens == Lens::Cpu { "perf:cpu-clock" } else { "sched:sched_switch" };
        Site { probe: probe.to_owned(), lens: *lens, kind: *kind as u16, offset: 0 }
    };
    Start {
        target: Target { pid: 1, command: "synthetic".to_owned(), cpus: 8, ..Target::default() },
        lenses: vec![Lens::Cpu, Lens::Offcpu, Lens::Wall]
            .into_iter()
            .filter(|lens| sites.len() > 1 || *lens == Lens::Cpu)
            .collect(),
        sites: sites.iter().map(site).collect(),
        missing: Vec::new(),
        time_ns: START_NS,
        wall_ms: 0,
        trap_cost_ps: None,
        attach_ns: 0,
        attach_cpu_ns: 0,
        threads: Vec::new(),
    }
}

fn method(id: u32) -> Frame {
    let class = format!("com.example.shop.part{}.internal.Service{}", id % 40, id / 7);
    let kind = match id % 5 {
        0 | 3 => Kind::Compiled,
        1 | 2 => Kind::Inlined,
        _ => Kind::Interpreted,
    };
    Frame {
        file: Some(format!("Service{}.java", id / 7).into()),
        line: Some(id % 900 + 1),
        ..Frame::named(kind, format!("{class}.method{id}"))
    }
}

/// The frames of a stack, innermost first.
fn frames(number: u64, random: &mut Random) -> Result<Vec<u32>> {
    let methods = u64::from(METHODS);
    let mut at = random.below(4);
    let mut frames = Vec::new();
    for level in 0..16 + random.below(65) {
        // The method of the next level depends on this one's, and on a choice that is more seldom the first one above.
        let choice = if random.below(100) < 75 { 0 } else { random.below(2 + level / 4) };
        at = (at * 31 + choice * 7919 + level) % methods;
        frames.push(u32::try_from(at)?);
    }
    // What makes it distinct.
    frames.extend([u32::try_from(number % methods)?, u32::try_from(number / methods)?]);
    frames.reverse();
    Ok(frames)
}

/// Random numbers (a linear congruence); these need no better ones.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}
