//! What the JVM does without a call is not counted, and the report says so: intrinsics, by what runs the code.

use anyhow::{Context as _, Result, ensure};
use tests::jdk;

use super::{Mode, Run, methods};

const MAX: &str = "java.lang.Math.max";
const SQRT: &str = "java.lang.Math.sqrt";
const LENGTH: &str = "java.lang.String.length";
const COPY: &str = "java.lang.System.arraycopy";
const BITS: &str = "java.lang.Integer.bitCount";
const HASH: &str = "java.lang.System.identityHashCode";
const CLASS: &str = "java.lang.Object.getClass";
const CHECKSUM: &str = "java.util.zip.CRC32.update";

/// What runs the code, and what it has code of its own for: measured, the same on 11, 17, 21 and 25 with the flag up from the
/// start. C2 has none then but what the interpreter has, and identityHashCode on some releases, which is left out here.
const WAYS: [(Mode, &[&str], &[&str]); 3] = [
    (("the interpreter", &["-Xint"]), &[SQRT], &[MAX, LENGTH, COPY, BITS, HASH, CLASS, CHECKSUM]),
    (("C1", &["-XX:TieredStopAtLevel=1", "-Xbatch"]), &[SQRT, COPY, HASH, CLASS], &[MAX, LENGTH, BITS, CHECKSUM]),
    (("C2", &["-XX:-TieredCompilation", "-Xbatch"]), &[SQRT], &[MAX, LENGTH, COPY, BITS, CLASS, CHECKSUM]),
];

/// Calls that this program makes; the JDK makes a few of its own meanwhile.
const OTHERS: u64 = 100;

#[test]
fn intrinsics_are_not_counted_where_they_stand_in_the_place_of_calls_and_the_report_says_so() -> Result<()> {
    let names = [MAX, SQRT, LENGTH, COPY, BITS, HASH, CLASS, CHECKSUM];
    let patterns =
        names.map(|name| name.rsplit_once('.').map_or(String::new(), |(class, method)| format!("{class}::{method}")));
    let mut options = vec!["-l", "methods", "--arm", "off", "-I", "Intrinsics::calls"];
    options.extend(patterns.iter().flat_map(|pattern| ["-I", pattern.as_str()]));
    for (release, jdk) in jdk::all()?.iter().enumerate() {
        // Two of the three ways on each release.
        for ((mode, flags), hidden, seen) in
            WAYS.iter().enumerate().filter(|(way, _)| jdk::is_full() || way % 3 != release % 3).map(|(_, way)| way)
        {
            let place = || format!("on JDK {} by {mode}", jdk.release);
            // By then the compilers have done what they will do.
            let run = Run::new(jdk, "Intrinsics", &options).flags(flags).times(12, 1);
            let (report, expected) = run.report().with_context(place)?;
            let counted = methods(&report)?;
            let calls = |name: &str| counted.get(name).map_or(0, |[calls, _]| *calls);
            let number = expected.one("calls", "Intrinsics.calls")?;
            ensure!(calls("Intrinsics.calls") == number, "{} {}", calls("Intrinsics.calls"), place());
            for name in *hidden {
                let calls = calls(name);
                ensure!(calls < OTHERS, "{calls} calls of {name} {}, which has code of its own for it", place());
            }
            for name in *seen {
                let (calls, number) = (calls(name), expected.one("written", name)?);
                ensure!(
                    (number..number + OTHERS).contains(&calls),
                    "{calls} calls of {name}, not {number}, {}",
                    place()
                );
            }
            let notes = report.section("methods")?["notes"].to_string();
            ensure!(notes.contains("intrinsics"), "the report does not say what is not counted: {notes}");
        }
    }
    Ok(())
}
