//! Lenses `cpu` and `offcpu` on programs whose shares and pauses are known in closed form.

use std::path::Path;

use anyhow::{Result, ensure};
use tests::{
    jdk::{self, Collector, Jdk},
    jtrace::{self, Session},
    jvm::{Counts, Launch},
    patience::until,
    report::Report,
};
use tracer_event::event::{Event, Payload};

use crate::recorded::Recorded;

/// How many standard errors a share may lie off: by chance one in two million does.
const SIGMAS: f64 = 5.0;
/// The kernel's state of a thread that lost its CPU.
const READY: u64 = 0;

/// What came of a recording.
struct Watched {
    counts: Counts,
    recorded: Recorded,
    report: Report,
}

/// Records a piece of a workload's work with these further words on jtrace's command line.
fn watch(launch: &Launch, words: &[&str]) -> Result<Watched> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("x.jtrace").to_string_lossy().into_owned();
    let mut jvm = launch.start()?;
    let pid = jvm.pid().to_string();
    let mut command = vec!["record", pid.as_str(), "-o", &file];
    command.extend(words);
    let session = Session::start(&command)?;
    let counts = jvm.work()?;
    session.stop()?;
    jvm.finish()?;
    let recorded = Recorded::open(Path::new(&file))?;
    ensure!(recorded.lost == 0, "{} records were lost", recorded.lost);
    let report = Report::parse(&jtrace::succeed(&["report", &file, "--json"])?.stdout)?;
    Ok(Watched { counts, recorded, report })
}

fn cpu(jdk: &Jdk, arguments: &[&str]) -> Launch {
    // Each copy of inlined work would be compiled in its own way, and take its own time.
    let whole = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Cpu::work"];
    Launch::new(jdk, "cpu", "Cpu").flags(&whole).arguments(arguments)
}

impl Watched {
    /// The events whose stack holds a method.
    fn inside(&self, method: &str) -> Vec<Event> {
        let holds = |event: &&Event| self.recorded.stacks.frames_of(event.stack).any(|frame| frame.name == method);
        self.recorded.events.iter().filter(holds).copied().collect()
    }

    fn summary(&self, section: &str, key: &str) -> u64 {
        self.report.summary(section, key).unwrap()
    }
}

#[test]
fn samples_fall_on_methods_as_their_work_does() -> Result<()> {
    for jdk in jdk::all()? {
        let parts = [("Cpu.sixty", 0.6), ("Cpu.thirty", 0.3), ("Cpu.ten", 0.1)];
        let mut seconds = 2;
        // How much of a CPU the program gets is for the machine to say.
        let (watched, samples, all) = until("500 samples", || {
            let launch = cpu(&jdk, &["hot", &seconds.to_string()]);
            let watched = watch(&launch, &["-l", "cpu", "--sample-rate", "499"])?;
            seconds *= 2;
            let samples = parts.map(|(method, _)| watched.inside(method).len() as f64);
            let all: f64 = samples.iter().sum();
            Ok((all > 500.0).then_some((watched, samples, all)))
        })?;
        println!("JDK {}: {samples:?} of {}", jdk.release, watched.summary("cpu", "samples"));
        for ((method, share), samples) in parts.into_iter().zip(samples) {
            let error = (share * (1.0 - share) / all).sqrt();
            let off = (samples / all - share).abs() / error;
            assert!(off < SIGMAS, "{method} has {samples} of {all}: {off:.1} errors off on JDK {}", jdk.release);
        }
        let (java, to_root) = (watched.summary("cpu", "java_samples"), watched.summary("cpu", "unwound_to_root"));
        assert!(java as f64 >= all, "{java} samples in Java, and {all} in three of its methods");
        assert!(to_root * 1000 >= java * 995, "{to_root} of {java} reach the root on JDK {}", jdk.release);
        let (frames, unknown) = (watched.summary("cpu", "frames"), watched.summary("cpu", "unknown_frames"));
        assert!(unknown * 1000 <= frames * 5, "{unknown} of {frames} frames have no name on JDK {}", jdk.release);
    }
    Ok(())
}

#[test]
fn threads_of_collector_and_compilers_are_told_apart() -> Result<()> {
    for jdk in jdk::all()? {
        let of_release = jdk::with_collectors(0)?.into_iter().filter(|(of, _)| *of == jdk);
        for (_, collector) in of_release {
            // The serial collector has no threads of its own: the VM's thread does its work.
            let own_threads = collector != Collector::Serial;
            let mut seconds = 1;
            let what = format!("samples of Java and of {} on JDK {}", collector.name(), jdk.release);
            until(&what, || {
                let launch = cpu(&jdk, &["churn", &seconds.to_string()]).flags(collector.flags());
                let watched = watch(&launch, &["-l", "cpu", "--sample-rate", "499"])?;
                seconds *= 2;
                let [java, gc, jit] = ["java_threads_samples", "gc_threads_samples", "jit_threads_samples"]
                    .map(|key| watched.summary("cpu", key));
                println!("JDK {} {}: java {java}, gc {gc}, jit {jit}", jdk.release, collector.name());
                Ok((java > 0 && (gc > 0 || !own_threads)).then_some(()))
            })?;
        }
        until(&format!("a sample of a compiler on JDK {}", jdk.release), || {
            let watched = watch(&Launch::new(&jdk, "jit", "Jit"), &["-l", "cpu", "--sample-rate", "997"])?;
            Ok((watched.summary("cpu", "jit_threads_samples") > 0).then_some(()))
        })?;
    }
    Ok(())
}

#[test]
fn sleeps_are_absences_of_at_least_their_length() -> Result<()> {
    for jdk in jdk::all()? {
        let watched = watch(&cpu(&jdk, &["sleep", "200", "5"]), &["-l", "offcpu", "--max-overhead", "100000%"])?;
        let [asleep, switches, asked] = ["asleep", "switches", "asked_ns"].map(|key| watched.counts.get(key));
        let (asleep, switches, asked) = (asleep?, switches?, asked?);
        let (mut blocks, mut total) = (0, 0);
        for event in watched.inside("Cpu.nap") {
            if let Payload::OffCpu { blocked_ns, task_state, .. } = event.payload {
                blocks += u64::from(task_state != READY);
                total += blocked_ns;
            }
        }
        // Who loses its CPU on the way to sleep, to another thread or another machine, may find its time over: the kernel
        // tells which sleeps the thread left its CPU for.
        let on = format!("{asleep} sleeps with {switches} voluntary switches on JDK {}", jdk.release);
        // The kernel does not trace every switch, and jtrace says how many it misses.
        let untraced = watched.report.untraced_absences()?;
        println!("{blocks} blocks of {total} ns in {on}, {untraced} not traced, {asked} ns asked for");
        assert!(blocks > 0 && (asleep..=switches + untraced).contains(&(blocks + untraced)), "{blocks} blocks in {on}");
        let told = asked / asleep * asleep.saturating_sub(untraced);
        assert!(total * 10 >= told * 9, "blocked for {total} ns of {told} in {on}");
        assert!(watched.summary("offcpu", "blocks") >= blocks, "the lens counts fewer");
        assert!(watched.summary("offcpu", "blocked_total_ns") >= total, "the lens adds up less");
    }
    Ok(())
}
