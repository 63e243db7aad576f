//! Attaching and detaching many times on one JVM: what that leaves in the target, in the kernel, and in one process that
//! does it again and again.

use std::{fs, path::Path, thread, time::Duration};

use anyhow::{Context as _, Result};
use tests::{
    jdk::Jdk,
    jtrace::Session,
    jvm::{Jvm, Launch},
};

use super::{budget::Figure, measure_binary};
use crate::process;

/// Rounds after which everything has reached its usual size.
const WARM_UP: usize = 5;
/// The kernel frees objects some time after their last use, and other programs of the machine have objects too.
/// So the smallest number counts that is seen in a while: how long to pause, and how long to look at least and at most.
const SETTLE: [Duration; 3] = [Duration::from_millis(250), Duration::from_secs(3), Duration::from_secs(20)];
const FLAG: &str = "DTraceMonitorProbes";

pub(crate) fn measure(jdk: &Jdk, count: usize) -> Result<Vec<Figure>> {
    let mut jvm = Launch::new(jdk, "idle", "Idle").start()?;
    // The first jcmd starts a thread in the JVM.
    jvm.flag(FLAG)?;
    for _ in 0..WARM_UP {
        Session::attach(jvm.pid(), &[])?.stop()?;
    }
    let target = Target::read(&jvm)?;
    let kernel = settled(None)?;
    for _ in 0..count {
        Session::attach(jvm.pid(), &[])?.stop()?;
    }
    let note = format!("growth by {count} sessions");
    let mut figures = target.growth(&Target::read(&jvm)?, &note);
    figures.extend(left_behind(&jvm)?);
    let own = in_one_process(&jvm, jdk, count)?;
    figures.extend(kernel_growth(&kernel, &format!("growth by {} sessions", 2 * count))?);
    figures.extend(own);
    jvm.finish()?;
    Ok(figures)
}

/// What sessions could leave in the target.
struct Target {
    descriptors: usize,
    threads: usize,
    resident_kib: u64,
}

impl Target {
    fn read(jvm: &Jvm) -> Result<Self> {
        let folder = Path::new("/proc").join(jvm.pid().to_string());
        let status = fs::read_to_string(folder.join("status"))?;
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        Ok(Self {
            descriptors: fs::read_dir(folder.join("fd"))?.count(),
            threads: fs::read_dir(folder.join("task"))?.count(),
            resident_kib: resident.trim().trim_end_matches(" kB").parse()?,
        })
    }

    fn growth(&self, after: &Self, note: &str) -> Vec<Figure> {
        let grown = |name, before: f64, after: f64| {
            Figure::new(name, after - before, format!("{note}: {before} before, {after} after"))
        };
        vec![
            grown("rounds_target_descriptors", self.descriptors as f64, after.descriptors as f64),
            grown("rounds_target_threads", self.threads as f64, after.threads as f64),
            grown("rounds_target_resident_kib", self.resident_kib as f64, after.resident_kib as f64),
        ]
    }
}

/// Journals of this target, and its flag.
fn left_behind(jvm: &Jvm) -> Result<Vec<Figure>> {
    let journals = match fs::read_dir("/run/jtrace") {
        Ok(entries) => {
            let pid = jvm.pid().to_string();
            entries
                .flatten()
                .filter(|entry| entry.file_name().to_string_lossy().split(['-', '.']).any(|part| part == pid))
                .count()
        }
        Err(_) => 0,
    };
    let armed = jvm.flag(FLAG)? != "false";
    Ok(vec![
        Figure::new("rounds_journals", journals as f64, "undo journals of the target below /run/jtrace"),
        Figure::new("rounds_armed_flags", f64::from(u8::from(armed)), format!("{FLAG} of the target")),
    ])
}

/// Numbers of programs, maps and links in the kernel.
fn objects() -> Result<Vec<(String, f64)>> {
    let text = process::output(process::command(measure_binary()).arg("objects"))?;
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    pairs.map(|(name, count)| Ok((name.to_owned(), count.parse()?))).collect()
}

/// The smallest numbers that are seen for a while, or until they are no larger than `goal`.
fn settled(goal: Option<&[(String, f64)]>) -> Result<Vec<(String, f64)>> {
    let [pause, at_least, at_most] = SETTLE;
    let mut least = objects()?;
    let mut waited = Duration::ZERO;
    let reached = |least: &[(String, f64)], waited| match goal {
        Some(goal) => waited >= at_most || least.iter().zip(goal).all(|(least, goal)| least.1 <= goal.1),
        None => waited >= at_least,
    };
    while !reached(&least, waited) {
        thread::sleep(pause);
        waited += pause;
        least = least.into_iter().zip(objects()?).map(|(old, new)| if new.1 < old.1 { new } else { old }).collect();
    }
    Ok(least)
}

fn kernel_growth(before: &[(String, f64)], note: &str) -> Result<Vec<Figure>> {
    let after = settled(Some(before))?;
    let names = ["rounds_kernel_programs", "rounds_kernel_maps", "rounds_kernel_links"];
    let pairs = names.into_iter().zip(before.iter().zip(after));
    Ok(pairs
        .map(|(name, ((_, before), (_, after)))| {
            Figure::new(name, after - before, format!("{note}: {before} before, {after} after"))
        })
        .collect())
}

/// The same within one process, through the library.
fn in_one_process(jvm: &Jvm, jdk: &Jdk, count: usize) -> Result<Vec<Figure>> {
    let libjvm = jdk.libjvm().canonicalize()?;
    let mut command = process::command(measure_binary());
    let text = process::output(command.arg("rounds").arg(libjvm).args([jvm.pid().to_string(), count.to_string()]))?;
    let grown = |line: &str, name: &'static str| {
        let numbers = text.lines().find_map(|text| text.strip_prefix(line)?.trim().split_once(' '));
        let (before, after) = numbers.with_context(|| format!("no {line} in {text}"))?;
        let growth = after.parse::<f64>()? - before.parse::<f64>()?;
        let note = format!("growth by {count} sessions in one process: {before} before, {after} after");
        anyhow::Ok(Figure::new(name, growth, note))
    };
    Ok(vec![
        grown("descriptors", "rounds_own_descriptors")?,
        grown("threads", "rounds_own_threads")?,
        grown("resident_kib", "rounds_own_resident_kib")?,
    ])
}
