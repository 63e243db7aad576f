//! What is written and what reaches the heap: C2 leaves out objects that nobody else can see.

use anyhow::{Result, ensure};
use tests::{jdk, jtrace::Session, jvm::Launch};

use super::{COVERED, EXACT, Expected, classes};

const CAPTURED: &str = "Allocations$Captured";

/// Flags, and whether objects that nobody else sees are made: in the code of C2 they are not, unless it is told not to look for
/// them, or has to report constructors and so to call them.
const WAYS: [(&[&str], bool); 5] = [
    (&["-Xint"], true),
    (&["-XX:TieredStopAtLevel=1", "-Xbatch"], true),
    (&["-XX:-TieredCompilation", "-Xbatch"], false),
    (&["-XX:-TieredCompilation", "-Xbatch", "-XX:-DoEscapeAnalysis"], true),
    (&["-XX:-TieredCompilation", "-Xbatch", "-XX:+DTraceMethodProbes"], true),
];

#[test]
fn objects_that_c2_leaves_out_are_written_but_do_not_reach_the_heap_and_are_no_loss() -> Result<()> {
    for (release, jdk) in jdk::all()?.iter().enumerate() {
        // The one that leaves out on every release, and two of the others.
        let is_chosen = |way: usize, made: bool| jdk::is_full() || !made || way % 2 == release % 2;
        for (_, (flags, made)) in WAYS.iter().enumerate().filter(|(way, (_, made))| is_chosen(*way, *made)) {
            let place = || format!("JDK {} with {flags:?}", jdk.release);
            let mut jvm = Launch::new(jdk, "methods", "Allocations").flags(&[COVERED]).flags(flags).start()?;
            // By then everything is compiled.
            for _ in 0..12 {
                jvm.work()?;
            }
            let printed = jvm.stdout().text().len();
            let session = Session::attach(jvm.pid(), &EXACT)?;
            jvm.work()?;
            let report = session.report()?;
            let expected = Expected::parse(&jvm.stdout().text()[printed..])?;
            jvm.finish()?;
            let number = |kind, of| expected.one(kind, of);
            let counted = classes(&report)?;
            let objects = |class: &str| counted.get(class).map_or(0, |sums| sums[0]);
            let written = number("objects_as_written", CAPTURED)?;
            let reached = if *made { written } else { 0 };
            ensure!(
                objects(CAPTURED) == reached,
                "{} of {written} {CAPTURED}, not {reached}, {}",
                objects(CAPTURED),
                place()
            );
            // What others see is made in any case.
            let blobs = number("objects", "Allocations$Blob")?;
            ensure!(objects("Allocations$Blob") == blobs, "not {blobs} that escape: {}", place());
            ensure!(report.completeness("lost")? == 0 && report.missing().is_empty(), "{:?}", report.missing());
            let notes = report.section("alloc")?["notes"].to_string();
            ensure!(notes.contains("reached the heap") && notes.contains("leaves out objects"), "{notes}");
        }
    }
    Ok(())
}
