//! `jtrace run`: starts a JVM and watches it from its first instruction on.
//!
//! The child waits until the sites are attached to the file that its `java` will load; the kernel puts them in place when
//! the library is mapped. What can only be read from the running JVM (the layout of its structures, the addresses of its
//! counters, its flags) follows as soon as it is there, some milliseconds later.

mod gate;

use std::{
    env,
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    process::{Child, ExitCode, ExitStatus},
    time::{Duration, Instant},
};

use tracer_common::site::TargetLayout;

use self::gate::start;
pub(super) use self::gate::{WaitOptions, wait_and_exec};
use super::{
    Failure, apart,
    arming::{ArmedJvm, Held},
    attach::{Show, ShowOptions, say, watch_live},
    inside::{self, Coming, Wanted},
    listen::{Limits, Waiter},
    options::{OutputOptions, WatchOptions},
    output::{self, Files},
    prepare::{self, CodeHeaps, Known, Watched},
};
use crate::{
    ebpf::{attach::Place, load::KernelOptions, memory::RingSize},
    ending::{self, Patience, Until},
    inside::visit::Visit,
    jvm::{
        find::{Jvm, process::Identity},
        java_threads::Layout,
    },
    lens::Lens,
    live::{
        Live, Prepared,
        thread_gate::{Questions, ThreadGate},
    },
    priority::Urgent,
    probe::{
        catalog::Flag,
        plan::{Facts, Libjvm, Plan, plan},
    },
};

/// How long a JVM may take to make its tables and counters.
const LEARN_AT_MOST: Duration = Duration::from_secs(5);

/// How long before that it may be seen to be on its way: it has tables and no code heaps yet. A busy machine takes seconds there.
const START_AT_MOST: Duration = Duration::from_mins(1);

/// How long to wait before looking for the JVM's tables again.
const LOOK_AGAIN: Duration = Duration::from_micros(200);

/// Options of `jtrace run`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    #[command(flatten)]
    watch: WatchOptions,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    show: ShowOptions,

    /// The command, `java` with its arguments
    #[arg(last = true, required = true, value_name = "JAVA")]
    command: Vec<OsString>,
}

pub(super) fn run(options: Options) -> Result<ExitCode, Failure> {
    let Options { watch, output, show, command } = options;
    let show = show_beside_the_program(&output, &show)?;
    let watch = watch.with_properties()?.with_lane()?;
    let watched = watch.watched(Instant::now())?;
    let mut waiter = Waiter::new()?;
    output::check(&output)?;
    let wanted = watch.inside.wanted(&watched.lenses, watch.demand.each, watch.demand.yes)?;
    let program = find_program(command.first().expect("the command line asks for at least one"))?;
    let path = libjvm_of(&program)?;
    let libjvm = prepare::read_libjvm(&path)?;
    let mut plan = plan(&libjvm, &watched.seen_from_outside(), Facts::default(), watched.exact);
    prepare::choose_jni(&mut plan, &watched);
    takes_flags(&plan)?;
    if wanted.is_none() {
        prepare::something_to_see(&plan)?;
    }
    let asked = wanted.as_ref().map(Wanted::asked);
    let wanted = wanted.filter(Wanted::is_woven);
    let questions = wanted.as_ref().and_then(Wanted::questions);
    if questions.is_some() {
        prepare::add_starts(&mut plan, &libjvm, Lens::Markers);
    }
    let (coming, lane) = wanted.map(|wanted| inside::coming(wanted, &mut plan, &watched.lenses)).transpose()?.unzip();
    let option = coming.as_ref().map(Coming::option);
    let waiting = start(&program, path, &with_flags(&command, &plan, option))?;
    // After it, so that nothing of this is the program's.
    let urgent = Urgent::begin();
    let pid = waiting.pid;
    let files = Files::open(&output, pid.get(), None)?;
    apart::nobody_holds_up(Some(&waiting.libjvm))?;
    let place = Place { path: waiting.libjvm.clone(), pid };
    let prepared = Prepared {
        place,
        plan: plan.clone(),
        layout: TargetLayout::default(),
        kernel: kernel(&plan, &watched),
        budget: watched.budget,
        unwinding: None,
        holders: None,
        reader: None,
        subjects: None,
        jni: prepare::jni(&plan, &watched, pid.get()),
        inside: None,
        asked: None,
    };
    // Until all is detached.
    let _watched = Identity::of(pid.get()).and_then(prepare::watched);
    let mut live = Live::attach(prepared.with_asked(asked, lane))?;
    let mut child = waiting.begin()?;
    // First, so that what is read of the JVM then has the library in it. The JVM waits.
    let visit = coming.map(|coming| arrive(coming, &mut child)).transpose()?;
    let Learned { jvm, mut missing, armed, gate, threads } =
        learn(&mut live, &mut child, &libjvm, &watched, questions.as_ref())?;
    if let Some(visit) = visit {
        live.inside_arrives(visit, gate, &mut missing);
    }
    let start = live.start(prepare::describe(&jvm, &watched, missing, threads));
    let same_program = prepare::same_program(pid, jvm.library.attach_path.clone());
    let limits = Limits { pid, duration: watch.duration, same_program };
    let held = Held { armed: armed.unwrap_or_default(), jvm, predicate: watched.predicate, included: watched.included };
    let ended = watch_live(live, start, limits, files, show, held, &mut waiter)?;
    drop(urgent);
    // The shell gets its terminal back only when the JVM has ended. Who asked jtrace to go wants it gone.
    if !matches!(ended, "terminated" | "hung up") {
        waiter.wait_for(pid)?;
    }
    say_how_it_ended(&mut child);
    Ok(ExitCode::SUCCESS)
}

/// Refuses what such a JVM would refuse at its start: built without notes, it does not know the flags.
fn takes_flags(plan: &Plan) -> Result<(), Failure> {
    match plan.flags.iter().find(|flag| **flag != Flag::Monitor) {
        Some(flag) if !plan.usdt => Err(Failure::new(
            format!("libjvm.so has no USDT notes, and such a JVM does not start with -XX:+{}", flag.name()),
            "start it, and attach to it; or use `jtrace run --marker ...`, which needs no flag".to_owned(),
        )),
        _ => Ok(()),
    }
}

/// The command with the flags without which some of the sites are silent. So all of the JVM's code reports, from its first
/// instruction on.
fn with_flags(command: &[OsString], plan: &Plan, library: Option<OsString>) -> Vec<OsString> {
    // Monitors are armed as they are in a running JVM: that needs no flag at the start.
    let flags = plan.flags.iter().filter(|flag| **flag != Flag::Monitor);
    let flags = flags.map(|flag| OsString::from(format!("-XX:+{}", flag.name())));
    let (program, arguments) = command.split_at(command.len().min(1));
    program.iter().cloned().chain(flags).chain(library).chain(arguments.iter().cloned()).collect()
}

/// What the kernel side must be like before anything is known of the JVM.
fn kernel(plan: &Plan, watched: &Watched) -> KernelOptions {
    let tallying = plan.flags.iter().any(|flag| *flag != Flag::Monitor);
    // Until methods can be named, some ten ms after the start, every call comes as an event.
    let ring = match watched.kernel.ring {
        RingSize::Share { .. } if tallying => RINGS_OF_CALLS,
        RingSize::Share { all, .. } if all <= RINGS_OF_A_START_BYTES => RINGS_OF_A_START,
        ring => ring,
    };
    let jni = watched.lenses.contains(&Lens::Jni);
    KernelOptions { rows: ROWS_OF_A_JVM, tallying, jni, ring, ..watched.kernel }
}

/// They hold what a JVM calls until it can be looked into.
const RINGS_OF_CALLS: RingSize = RingSize::Share { all: 128 << 20, most: 16 << 20 };

/// What other lenses need: a JVM that starts loads thousands of classes within a moment, each with texts and a stack, on a machine
/// that may have no CPU left for the reader. Less for each CPU where there are many.
const RINGS_OF_A_START: RingSize = RingSize::Share { all: RINGS_OF_A_START_BYTES, most: 8 << 20 };
const RINGS_OF_A_START_BYTES: u32 = 64 << 20;

/// Room for the unwinding tables of a JVM that has not loaded its libraries yet; 21 and 25 need about half.
const ROWS_OF_A_JVM: usize = 1 << 20;

/// What could not be known before the JVM ran.
struct Learned {
    jvm: Jvm,
    missing: Vec<String>,
    armed: Option<ArmedJvm>,
    gate: Option<ThreadGate>,
    threads: Option<Layout>,
}

/// Waits until the JVM's library is mapped, its tables can be read and its counters are there, and tells the programs.
///
/// There is no event for any of that; the looks come in quick succession, because every one that comes late costs names.
fn learn(
    live: &mut Live,
    child: &mut Child,
    libjvm: &Libjvm,
    watched: &Watched,
    questions: Option<&Questions>,
) -> Result<Learned, Failure> {
    let began = Instant::now();
    let mut waits_since = began;
    let mut armed = None;
    loop {
        let opened = Jvm::open(child.id());
        let heaps = opened.as_ref().ok().map(Known::code_heaps);
        if heaps == Some(CodeHeaps::Coming) && began.elapsed() < START_AT_MOST {
            waits_since = Instant::now();
        }
        let late = waits_since.elapsed() >= LEARN_AT_MOST;
        if let Ok(jvm) = opened {
            let mut known = Known::read(&jvm, libjvm, watched);
            if armed.is_none() && jvm.flags.is_ok() {
                armed = Some(ArmedJvm::started(&known.plan, &jvm, &mut known.missing));
            }
            if known.has_layout() {
                live.refine(known.layout, &known.plan, None, None, known.reader(&jvm, libjvm), None)?;
            }
            if (heaps == Some(CodeHeaps::There) && known.is_complete(&jvm, watched)) || late {
                let holders = known.holders(&jvm, &watched.lenses);
                let reader = known.reader(&jvm, libjvm);
                let subjects = known.subjects(&jvm, watched);
                live.refine(known.layout, &known.plan, watched.unwinding(&jvm), holders, reader, subjects)?;
                live.look_at_threads(Known::thread_reader(&jvm, watched));
                live.look_into_jni(&jvm, known.threads, &mut known.missing)?;
                let gate = questions.map(|questions| known.thread_gate(&jvm, questions));
                let mut missing = known.missing;
                missing.push(
                    "until the JVM's tables could be read, some ms after its start, monitors were not seen, and causes of \
                     collections and names of allocated classes are unknown"
                        .to_owned(),
                );
                return Ok(Learned { jvm, missing, armed, gate, threads: known.threads });
            }
        } else if late {
            return Err(Failure::new(
                format!("process {} has not started a JVM in {} s", child.id(), LEARN_AT_MOST.as_secs()),
                "it runs on; `jtrace doctor PID` says what can be seen of it".to_owned(),
            ));
        }
        if let Some(status) = child.try_wait()? {
            return Err(ended_early(status));
        }
        ending::pause(
            LOOK_AGAIN,
            Until { deadline: began + START_AT_MOST + LEARN_AT_MOST, patience: Patience::First },
        )?;
    }
}

/// Waits until the JVM is up, and weaves. A program of which that is refused does not begin.
fn arrive(coming: Coming, child: &mut Child) -> Result<Visit, Failure> {
    let began = Instant::now();
    let jvm = loop {
        match Jvm::open(child.id()) {
            Ok(jvm) => break jvm,
            Err(error) if began.elapsed() > LEARN_AT_MOST => return Err(Failure::new(error, None)),
            Err(_) => {}
        }
        if let Some(status) = child.try_wait()? {
            return Err(ended_early(status));
        }
        ending::pause(LOOK_AGAIN, Until::within(LEARN_AT_MOST, Patience::First))?;
    };
    let woven = coming.weave(&jvm);
    if woven.is_err() {
        if let Some(status) = child.try_wait()? {
            return Err(ended_early(status));
        }
        let _: io::Result<()> = child.kill();
        let _: io::Result<_> = child.wait();
    }
    woven
}

fn ended_early(status: ExitStatus) -> Failure {
    Failure::new(
        format!("the program ended before its JVM could be looked into ({status})"),
        "run it without jtrace to see what is wrong with it".to_owned(),
    )
}

/// How a session is shown that shares its terminal with the program: as text at the end, unless asked otherwise.
fn show_beside_the_program(output: &OutputOptions, show: &ShowOptions) -> Result<Show, Failure> {
    match Show::new(output, show) {
        Show::Tui(_) if show.wants_tui() => Err(Failure::usage(
            "the screen would share its terminal with the program",
            "start the program with its output in a file, and use `jtrace attach` for the screen".to_owned(),
        )),
        Show::Tui(extent) => Ok(Show::Text(extent)),
        other => Ok(other),
    }
}

fn find_program(program: &OsStr) -> Result<PathBuf, Failure> {
    let path = Path::new(program);
    let found = if path.components().count() > 1 {
        path.canonicalize().ok()
    } else {
        env::var_os("PATH").and_then(|list| {
            env::split_paths(&list).map(|directory| directory.join(path)).find_map(|path| path.canonicalize().ok())
        })
    };
    found.ok_or_else(|| {
        Failure::new(format!("there is no program {}", path.display()), "give the path of a JDK's bin/java".to_owned())
    })
}

/// The library that a JDK's or JRE's `bin/java` loads.
fn libjvm_of(java: &Path) -> Result<PathBuf, Failure> {
    let home = java.parent().and_then(Path::parent);
    let candidates = [
        "lib/server/libjvm.so",
        "lib/amd64/server/libjvm.so",
        "jre/lib/amd64/server/libjvm.so",
        "lib/client/libjvm.so",
    ];
    home.and_then(|home| candidates.iter().map(|library| home.join(library)).find(|library| library.is_file()))
        .ok_or_else(|| {
            Failure::new(
                format!(
                    "{} is not the `java` of a JDK: there is no lib/server/libjvm.so beside its bin",
                    java.display()
                ),
                "start `bin/java` itself, or start the program and use `jtrace attach`".to_owned(),
            )
        })
}

fn say_how_it_ended(child: &mut Child) {
    match child.try_wait() {
        Ok(Some(status)) if !status.success() => say(&format!("the JVM ended with {status}")),
        Ok(Some(_)) => {}
        Ok(None) => say(&format!("the JVM runs on as process {}", child.id())),
        Err(error) => log::warn!("cannot say how the JVM ended: {error}"),
    }
}
