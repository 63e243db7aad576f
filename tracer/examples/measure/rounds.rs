//! Attaches to one JVM and detaches again, many times within this process, and says what that left in this process.

use std::{fs, num::NonZeroU32, path::Path, time::Instant};

use anyhow::{Context as _, Result};
use tracer_common::site::TargetLayout;
use tracer_event::lens::Lens;
use tracer_jvm::jvm::elf::{self, Elf};
use tracer_live::{
    ebpf::{attach::Place, load::KernelOptions},
    live::{Live, Prepared},
    probe::plan::{Facts, Libjvm, plan},
};
use tracer_model::item::Item;

/// Rounds after which memory and descriptors have reached their usual size.
const WARM_UP: u32 = 5;

/// Prints growth from after the first rounds to the end, and the median times of attaching and detaching.
pub(crate) fn run(libjvm: &Path, pid: NonZeroU32, count: u32) -> Result<()> {
    let bytes = elf::read_tables(libjvm)?;
    let libjvm_sites = Libjvm::read(&Elf::parse(&bytes)?);
    drop(bytes);
    let plan = plan(&libjvm_sites, Lens::ALL, Facts::default(), false);
    let place = Place { path: libjvm.to_path_buf(), pid };
    let mut attached = Vec::new();
    let mut detached = Vec::new();
    let mut before = None;
    for round in 0..WARM_UP + count {
        if round == WARM_UP {
            before = Some(State::read()?);
        }
        let prepared = Prepared {
            place: place.clone(),
            plan: plan.clone(),
            layout: TargetLayout::default(),
            kernel: KernelOptions::default(),
            budget: tracer_governor::guard::Budget::of(tracer_governor::guard::USUAL_BUDGET),
            unwinding: None,
            holders: None,
            reader: None,
            subjects: None,
            jni: None,
            inside: None,
            asked: None,
        };
        let start = Instant::now();
        let live = Live::attach(prepared)?;
        attached.push(start.elapsed());
        let start = Instant::now();
        live.finish("round", Vec::new(), &mut |_: Item<'_>| {})?;
        detached.push(start.elapsed());
    }
    let before = before.context("there was no round")?;
    let after = State::read()?;
    for (name, times) in [("attach_us", &mut attached), ("detach_us", &mut detached)] {
        times.sort();
        println!("{name} {}", times[times.len() / 2].as_micros());
    }
    println!("descriptors {} {}", before.descriptors, after.descriptors);
    println!("threads {} {}", before.threads, after.threads);
    println!("resident_kib {} {}", before.resident_kib, after.resident_kib);
    Ok(())
}

/// What rounds could leave in this process.
struct State {
    descriptors: usize,
    threads: usize,
    resident_kib: u64,
}

impl State {
    fn read() -> Result<Self> {
        let status = fs::read_to_string("/proc/self/status")?;
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        Ok(Self {
            descriptors: fs::read_dir("/proc/self/fd")?.count(),
            threads: fs::read_dir("/proc/self/task")?.count(),
            resident_kib: resident.trim().trim_end_matches(" kB").parse()?,
        })
    }
}
