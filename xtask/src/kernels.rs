//! `cargo xtask kernels [VERSION...]`: boots kernels of Debian under QEMU, without help of the processor, and runs live tests in
//! them: those that say of each lens whether its numbers are right. A kernel that boots and refuses a program fails. It says
//! nothing about speed, as everything is some fifty times slower there.

mod boot;
mod initrd;
mod package;

use std::{fmt::Write as _, process::ExitCode};

use anyhow::{Result, ensure};
use clap::Args;

use self::{boot::Outcome, package::Kernel};
use crate::{
    build, jdks,
    kept::{Kept, Rows},
    process,
    test::{live::Programs, output::Count},
    workloads,
};

/// Where the last run is kept.
const KEPT: Kept = Kept {
    file: "tests/kernels.txt",
    title: "What `cargo xtask kernels --keep` found under QEMU, with JDK 17. Written by that command; a kernel that was not run keeps its row.",
    documents: &["README.md"],
};

/// Kernels that are tried where none is named: one that refuses the programs, the oldest on which they load, those that
/// distributions ship, and newer ones.
const VERSIONS: [&str; 8] = ["5.10", "6.1", "6.12", "6.16", "6.18", "6.19", "7.0", "7.3"];

/// Kernels that must refuse, `doctor` and `attach` with the same sentence.
const REFUSING: [&str; 1] = ["5.10"];

/// Those of `--ring`: the oldest one, and the one of the current Debian.
const IN_RING: [&str; 2] = ["6.1", "6.12"];

/// CPUs of the machine, where nobody asks for others.
const CPUS: u32 = 2;

/// The JDK that runs there.
const JDK: &str = "17";

/// A part of jtrace and the live test that says whether it works.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    test: &'static str,
    /// Whether it is part of `--ring`.
    in_ring: bool,
}

const CHECKS: [Check; 10] = [
    Check { name: "stacks of programs", test: "private_stack::", in_ring: true },
    Check { name: "default", test: "counts::five_hundred_contended_enters_are_counted", in_ring: true },
    Check { name: "cpu", test: "clock::samples_of_a_busy_thread_add_up_to_the_time_that_it_ran", in_ring: false },
    Check {
        name: "offcpu",
        test: "clock::every_sleep_is_an_absence_with_its_length_and_its_system_call",
        in_ring: false,
    },
    Check { name: "methods", test: "methods::counts::products_of_loops_are_counted", in_ring: true },
    Check {
        name: "alloc --exact",
        test: "objects::objects_whose_constructor_is_never_called_are_counted",
        in_ring: false,
    },
    Check { name: "jni", test: "jni::a_section_that_is_left_open_is_told_with_who_opened_it", in_ring: false },
    Check { name: "markers", test: "inside::started::every_call_counts_from_the_first_one_on", in_ring: false },
    Check { name: "typestate", test: "inside::started::objects_are_followed_from_the_first_one_on", in_ring: false },
    Check { name: "run", test: "run::the_report_is_complete_when_the_jvm_has_ended", in_ring: false },
];

/// What is tried where `--only` names it.
const ON_DEMAND: [Check; 2] = [
    Check { name: "a CPU more", test: "memory::a_cpu_that_comes_later_has_its_ring_buffer", in_ring: false },
    Check {
        name: "attachments",
        test: "harmless::attaching_and_detaching_many_times_leaves_nothing_in_the_target",
        in_ring: false,
    },
];

/// What to run.
#[derive(Args, Default)]
pub(crate) struct Options {
    /// Versions, as Debian's packages begin: 6.1, 6.12, 7.3; without any, all that jtrace promises to work on
    versions: Vec<String>,

    /// Run only these parts, separated by commas
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,

    /// Only what is quick: two kernels, and the parts that most depend on a kernel
    #[arg(long)]
    ring: bool,

    /// CPUs of the machine
    #[arg(long, default_value_t = CPUS, value_parser = clap::value_parser!(u32).range(1..=64))]
    cpus: u32,

    /// Write the table into `tests/kernels.txt`
    #[arg(long)]
    keep: bool,
}

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let Options { versions, only, ring, cpus, keep } = options;
    let named = versions.iter().map(String::as_str);
    let unnamed = if *ring { IN_RING.to_vec() } else { VERSIONS.to_vec() };
    let versions: Vec<&str> = if versions.is_empty() { unnamed } else { named.collect() };
    let is_wanted = |check: &&Check| {
        let is_named = only.is_empty() || only.iter().any(|name| name == check.name);
        is_named && (check.in_ring || !*ring)
    };
    let on_demand = ON_DEMAND.iter().filter(|_| !only.is_empty());
    let checks: Vec<&Check> = CHECKS.iter().chain(on_demand).filter(is_wanted).collect();
    ensure!(!checks.is_empty(), "there is no such part: there are {}", CHECKS.map(|check| check.name).join(", "));
    ensure!(
        !keep || (checks.len() == CHECKS.len() && *cpus == CPUS),
        "what is kept has all parts, on 2 CPUs: leave `--only`, `--ring` and `--cpus` out"
    );
    jdks::run(&jdks::Options::default())?;
    workloads::run(&workloads::Options::default())?;
    build::run(&build::Options::default())?;
    let tried = try_out(fetched(&versions)?, &checks, *cpus)?;
    let rows = rows(&tried, &checks, &now()?);
    let notes = notes(&tried);
    print!("{}", table(&rows, &checks));
    for note in notes.values() {
        println!("\n{note}");
    }
    if *keep {
        KEPT.write(rows, notes, |rows| table(rows, &checks))?;
    }
    let held = tried.iter().all(|tried| tried.is_as_it_must_be(&checks));
    Ok(if held { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The ring of `cargo xtask test`, which has built what is needed. Each part on each kernel counts as a test, and so does `doctor`. Nothing where
/// a kernel could not be fetched: that says nothing of jtrace.
pub(crate) fn in_ring() -> Result<Option<Count>> {
    let checks: Vec<&Check> = CHECKS.iter().filter(|check| check.in_ring).collect();
    let kernels = match fetched(&IN_RING) {
        Ok(kernels) => kernels,
        Err(error) => {
            eprintln!("kernels: {error:#}");
            return Ok(None);
        }
    };
    let tried = try_out(kernels, &checks, CPUS)?;
    for note in notes(&tried).values() {
        println!("\n{note}");
    }
    let tests = tried.iter().flat_map(|Tried { release, outcome }| {
        let of_parts = checks.iter().map(|check| (check.name, outcome.of(check)));
        of_parts.chain([("doctor", outcome.doctor())]).map(move |(name, came)| (release, name, came))
    });
    let mut count = Count::default();
    for (release, name, came) in tests {
        println!("test {release} {name} ... {came}");
        *if came == "ok" { &mut count.passed } else { &mut count.failed } += 1;
    }
    Ok(Some(count))
}

/// A kernel and what came of it.
struct Tried {
    release: String,
    outcome: Outcome,
}

impl Tried {
    fn is_as_it_must_be(&self, checks: &[&Check]) -> bool {
        let is_of = |version: &&str| self.release.strip_prefix(*version).is_some_and(|rest| rest.starts_with('.'));
        if REFUSING.iter().any(is_of) { self.outcome.refuses() } else { self.outcome.holds(checks) }
    }
}

fn fetched(versions: &[&str]) -> Result<Vec<Kernel>> {
    versions.iter().map(|version| package::kernel(version)).collect()
}

fn try_out(kernels: Vec<Kernel>, checks: &[&Check], cpus: u32) -> Result<Vec<Tried>> {
    let programs = Programs::build()?;
    let initrd = initrd::make(programs.path("live")?, checks)?;
    let mut tried = Vec::new();
    for kernel in kernels {
        println!("== Linux {}", kernel.release);
        let outcome = boot::boot(&kernel.image, &initrd, cpus)?;
        tried.push(Tried { release: kernel.release, outcome });
    }
    Ok(tried)
}

/// When, and at which version, kernels are tried.
fn now() -> Result<String> {
    let date = process::output(process::command("date").args(["-u", "+%F"]))?;
    let commit = process::output(process::command("git").args(["rev-parse", "--short=10", "HEAD"]))?;
    Ok(format!("{} at {}", date.trim(), commit.trim()))
}

fn rows(tried: &[Tried], checks: &[&Check], now: &str) -> Rows {
    let row = |Tried { release, outcome }: &Tried| {
        let parts = checks.iter().fold(String::new(), |text, check| format!("{text} {} |", outcome.of(check)));
        (release.clone(), format!("| {release} | {now} | {} |{parts}", outcome.doctor()))
    };
    tried.iter().map(row).collect()
}

fn table(rows: &Rows, checks: &[&Check]) -> String {
    let mut text = "| kernel | run | doctor |".to_owned();
    for check in checks {
        _ = write!(text, " {} |", check.name);
    }
    _ = writeln!(text, "\n|---|---|---|{}", "---|".repeat(checks.len()));
    for row in rows.values() {
        _ = writeln!(text, "{row}");
    }
    text
}

/// Why kernels were refused, and how what failed ended.
fn notes(tried: &[Tried]) -> Rows {
    let note = |Tried { release, outcome }: &Tried| {
        let failures =
            outcome.failures().map(|(name, lines)| format!("`{name}` failed:\n    {}", lines.join("\n    ")));
        let sentences: Vec<String> = outcome.refusal().map(str::to_owned).into_iter().chain(failures).collect();
        (!sentences.is_empty()).then(|| (release.clone(), format!("{release}: {}", sentences.join("\n"))))
    };
    tried.iter().filter_map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_cell_for_each_part_and_says_why_a_kernel_was_refused() {
        let checks: Vec<&Check> = CHECKS.iter().filter(|check| check.in_ring).collect();
        let good = Outcome::of_lines(
            "@kernel 6.12\n@doctor 0\n@test stacks of programs ok 1\n@test default ok 12\n@test methods ok 20\n@end\n",
        );
        let bad = Outcome::of_lines("@kernel 6.1\n@doctor 1\n@refused Linux 6.1 refuses it\n@attach 1 agrees\n@end\n");
        assert!(good.holds(&checks) && !bad.holds(&checks));
        let tried = of([("6.12", good), ("6.1", bad)]);
        let new = rows(&tried, &checks, "today");
        let expected = "| kernel | run | doctor | stacks of programs | default | methods |\n|---|---|---|---|---|---|\n\
                        | 6.1 | today | no | - | - | - |\n| 6.12 | today | ok | ok | ok | ok |\n";
        assert_eq!(table(&new, &checks), expected);
        assert_eq!(notes(&tried), Rows::from([("6.1".to_owned(), "6.1: Linux 6.1 refuses it".to_owned())]));
    }

    #[test]
    fn a_kernel_that_must_refuse_is_good_where_attach_says_the_same() {
        let refuses = |said| Outcome::of_lines(&format!("@doctor 1\n@refused no\n@attach 1 {said}\n@end\n"));
        let tried = of([
            ("5.10.0-40-cloud-amd64", refuses("agrees")),
            ("5.10.0-40-cloud-amd64", refuses("disagrees")),
            ("6.1.0-56-cloud-amd64", refuses("agrees")),
        ]);
        assert_eq!(tried.map(|tried| tried.is_as_it_must_be(&[])), [true, false, false]);
    }

    #[test]
    fn the_last_lines_of_what_failed_are_kept() {
        let outcome =
            Outcome::of_lines("@doctor 0\nearlier\n@test cpu ok 1\nError: 3\n\n is not 4\n@test jni failed 2\n@end\n");
        let notes = notes(&of([("6.12", outcome)]));
        assert_eq!(notes["6.12"], "6.12: `jni` failed:\n    Error: 3\n     is not 4");
    }

    fn of<const N: usize>(outcomes: [(&str, Outcome); N]) -> [Tried; N] {
        outcomes.map(|(release, outcome)| Tried { release: release.to_owned(), outcome })
    }
}
