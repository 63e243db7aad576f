//! Predicates on threads: whole names, of threads that were there before and of those that come; what nobody wants stays in the
//! kernel.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use tests::{
    expected::Expected,
    jdk::{self, Jdk},
    jvm::Jvm,
    patience::until,
    report::{Report, cell},
};

use super::{attach, start, text, watch_rounds};

/// Marks while the program works so often, and what it did meanwhile.
fn count(jdk: &Jdk, rounds: usize, options: &[&str]) -> Result<(Report, Expected)> {
    watch_rounds(start(jdk, "methods", "Named", &[], &[])?, rounds, "markers", options)
}

/// The sum of what threads with such names call.
fn by_thread(expected: &Expected, part: &str) -> u64 {
    expected.sum("thread_calls", |thread| thread.contains(part))
}

#[test]
fn whole_names_choose_the_threads_of_marks() -> Result<()> {
    let predicates = [
        ("thread == \"worker-of-the-shop-resident-a\"", "resident-a"),
        ("thread ~ \"*-shop-short-lived-*\"", "short-lived"),
        ("thread !~ \"*-resident-a\"", ""),
    ];
    for (release, jdk) in jdk::all()?.into_iter().enumerate() {
        let is_met = |number: usize| jdk::is_in_turn(release, number);
        for (_, (predicate, part)) in predicates.into_iter().enumerate().filter(|(number, _)| is_met(*number)) {
            let marker = format!("step=Named::step where {predicate}");
            let (report, expected) = count(&jdk, 2, &["--marker", &marker])?;
            let all = by_thread(&expected, part);
            let wanted = if part.is_empty() { all - by_thread(&expected, "resident-a") } else { all };
            let told = report.summary("markers", "events")?;
            // Each call is entered and left.
            ensure!(wanted > 0 && told == 2 * wanted, "JDK {}, {predicate}: {told} of {wanted} calls", jdk.release);
            ensure!(report.summary("markers", "lost_words")? == 0, "words are missing on JDK {}", jdk.release);
        }
    }
    Ok(())
}

/// The kernel keeps back what no marker wants. Of two markers one may want a thread that the other one does not.
#[test]
fn marks_of_threads_that_no_marker_wants_stay_in_the_kernel() -> Result<()> {
    const ROUNDS: usize = 100;
    let of_a = "a=Named::step where thread ~ \"*-resident-a\"";
    for jdk in jdk::all()? {
        let mut rounds = ROUNDS;
        // Until a thread is known, its marks come; how long that is, the machine decides.
        until("the kernel keeps back most marks of the other threads", || {
            let (report, expected) = count(&jdk, rounds, &["--marker", of_a])?;
            rounds *= 2;
            let wanted = by_thread(&expected, "resident-a");
            let told = report.summary("markers", "events")?;
            ensure!(told == 2 * wanted, "{told} of {wanted} calls on JDK {}", jdk.release);
            ensure!(report.summary("markers", "lost_words")? == 0, "words are missing on JDK {}", jdk.release);
            let others = 2 * (by_thread(&expected, "") - wanted);
            Ok((report.summary("markers", "kept_back_words")? > others / 2).then_some(()))
        })?;
    }
    let jdk = jdk::any()?;
    let (report, expected) = count(&jdk, ROUNDS, &["--marker", of_a, "--marker", "all=Named::step"])?;
    let kept_back = report.summary("markers", "kept_back_words")?;
    let (told, wanted) =
        (report.summary("markers", "events")?, by_thread(&expected, "resident-a") + by_thread(&expected, ""));
    ensure!(kept_back == 0 && told == 2 * wanted, "{kept_back} words, {told} of {wanted} calls");
    Ok(())
}

/// A thread has its buffer from its first mark on, and each visit must hear again whose it is: else its marks are those of a "buffer 4",
/// and of no thread that a predicate names. Few marks, so that no buffer is ever full.
#[test]
fn every_visit_knows_whose_marks_they_are() -> Result<()> {
    const ALL: &str = "buy=Residents::buy";
    const OF_THIRD: &str = "buy=Residents::buy where thread == \"customer-2\"";
    for jdk in jdk::all()? {
        let mut jvm = start(&jdk, "methods", "Residents", &["5", "platform"], &[])?;
        for options in
            [&["--marker", ALL][..], &["--marker", ALL], &["--marker", ALL, "--each"], &["--marker", OF_THIRD]]
        {
            let wanted = |thread: &str| !options.contains(&OF_THIRD) || thread == "customer-2";
            visit(&mut jvm, options, wanted).with_context(|| format!("{options:?} on JDK {}", jdk.release))?;
        }
        jvm.finish()?;
    }
    Ok(())
}

/// The one that wrote last into its carrier's buffer in one visit is the first in the next.
#[test]
fn every_visit_knows_virtual_threads() -> Result<()> {
    for jdk in jdk::all()?.iter().filter(|jdk| jdk.release >= 21) {
        let carriers = ["-Djdk.virtualThreadScheduler.parallelism=1"];
        let mut jvm = start(jdk, "methods", "Residents", &["1", "virtual"], &carriers)?;
        for number in 0..3 {
            visit(&mut jvm, &["--marker", "buy=Residents::buy", "--each"], |_| true)
                .with_context(|| format!("visit {number} on JDK {}", jdk.release))?;
        }
        jvm.finish()?;
    }
    Ok(())
}

/// One visit while the program works once: of each thread that is wanted its calls are told, by its name.
fn visit(jvm: &mut Jvm, options: &[&str], wanted: impl Fn(&str) -> bool) -> Result<()> {
    let session = attach(jvm, "markers", options)?;
    let before = jvm.stdout().text().len();
    jvm.work()?;
    let report = session.report()?;
    report.nothing_lost()?;
    ensure!(report.summary("markers", "lost_words")? == 0, "words are missing");
    let expected = Expected::parse(&jvm.stdout().text()[before..])?;
    let mut expected = expected.of("thread_calls")?;
    expected.retain(|thread, _| wanted(thread));
    let rows = report.table("markers", "marker_threads")?;
    let told: BTreeMap<&str, u64> =
        rows.iter().map(|row| Ok((text(row, "thread"), cell(row, "entered")?))).collect::<Result<_>>()?;
    ensure!(told == expected, "{told:?} and not {expected:?}");
    Ok(())
}
