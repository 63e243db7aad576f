//! Files that jtrace itself writes, read back; and what is made of them when they are cut, damaged, or tell of a part.

use std::{fmt::Write as _, path::Path};

use super::{Error, FlightRecording, file::File};
use crate::{export::jfr, item::Item, report::Report, session::Session, source::scenario::Scenario};

/// Plays a scenario into a file; gives its report as well.
#[track_caller]
fn written(text: &str) -> (Vec<u8>, Report) {
    let scenario = Scenario::parse(text).unwrap_or_else(|error| panic!("{error}"));
    jfr::written(|sink| scenario.play(sink))
}

/// Something of everything that both forms have.
const ALL: &str = r#"
target pid=42 command="com.shop.Main" collector="G1" uptime_s=100
thread 5 "VM Thread"
thread 7 "main"
stack work "java.lang.Thread.run:840" "com.shop.Cart.add:12"
+1ms   tid 7  cpu_sample stack=work period=10000000
+2ms   tid 5  safepoint_begin
+2ms   tid 5  vm_operation_begin name="G1CollectForAllocation"
+3ms   tid 5  gc_begin full=false cause="G1 Evacuation Pause"
+9ms   tid 5  gc_end last_cause="G1 Evacuation Pause"
+9ms   tid 5  vm_operation_end name="G1CollectForAllocation"
+10ms  tid 5  safepoint_end
+11ms  tid 7  contended_enter monitor=0x10 class="com/shop/Cart" stack=work
+31ms  tid 7  contended_entered monitor=0x10 class="com/shop/Cart"
+31ms  tid 7  park_begin parker=0x20 stack=work
+33ms  tid 7  park_end parker=0x20
+34ms  tid 7  new_tlab class="[B" tlab=1000 object=24 stack=work
+35ms  tid 7  exception_created class="com/shop/Broken" stack=work
end +1s duration
"#;

fn fold(give: impl FnOnce(&mut dyn FnMut(Item<'_>))) -> Option<Report> {
    let mut session: Option<Session> = None;
    give(&mut |item| match (&item, &mut session) {
        (Item::Start(start), _) => session = Some(Session::new((**start).clone())),
        (_, Some(session)) => drop(session.accept(&item)),
        (_, None) => panic!("it begins with a start"),
    });
    session.map(|session| session.report())
}

fn read(bytes: &[u8]) -> Result<Report, Error> {
    let mut result = Ok(());
    let report = fold(|sink| result = FlightRecording::new(bytes, Path::new("x.jfr")).replay(sink));
    result.map(|()| report.expect("a start"))
}

#[test]
fn what_jtrace_writes_counts_the_same_when_it_is_read() {
    let (file, before) = written(ALL);
    let after = read(&file).unwrap();
    for (section, keys) in [
        ("gc", &["collections", "full_collections", "pauses", "pause_total_ns"][..]),
        ("safepoint", &["safepoints", "safepoint_total_ns", "vm_operations", "to_stop_total_ns"]),
        ("locks", &["contended_enters", "blocked_total_ns", "parks", "park_total_ns"]),
        ("alloc", &["samples", "estimated_bytes"]),
        ("exceptions", &["created"]),
        ("cpu", &["samples", "java_samples", "unwound_to_root", "frames"]),
    ] {
        let section = |report: &Report| report.sections.iter().find(|known| known.id == section).unwrap().clone();
        for key in keys {
            let of = |report: &Report| section(report).summary.get(key).unwrap().as_f64();
            assert!(of(&before).total_cmp(&of(&after)).is_eq(), "{key}: {} and {}", of(&before), of(&after));
            assert!(of(&after) > 0.0 || *key == "full_collections" || *key == "to_stop_total_ns", "{key}");
        }
    }
    assert_eq!(after.target.command, "com.shop.Main");
    assert_eq!((after.target.pid, after.target.uptime_s), (42, 100));
    assert_eq!(after.completeness.emitted, after.completeness.delivered);
    assert_eq!(after.completeness.undecodable, 0);
}

#[test]
fn a_cut_file_gives_its_whole_chunks_or_one_line() {
    let (chunk, _) = written(ALL);
    let two = [chunk.clone(), chunk.clone()].concat();
    let edges = [0, 1, 4, 67, 68, 69].into_iter().flat_map(|at| [at, chunk.len() - 1 - at, chunk.len() + at]);
    let lengths: std::collections::BTreeSet<usize> = (0..two.len()).step_by(211).chain(edges).collect();
    for length in lengths {
        match read(&two[..length]) {
            Ok(report) => {
                let cut = format!("recording cut at byte {}", chunk.len());
                let is_whole = length == chunk.len();
                assert!(length >= chunk.len(), "{length}");
                assert_eq!(report.span.end, if is_whole { "end of the file".to_owned() } else { cut });
            }
            Err(error) => {
                assert!(length < chunk.len(), "{length}: {error}");
                assert!(matches!(error, Error::Empty { .. }), "{error}");
                assert!(!error.to_string().contains('\n') && !error.hint().contains('\n'));
            }
        }
    }
    let counts = |bytes: &[u8]| read(bytes).unwrap().completeness.delivered;
    assert_eq!(counts(&two), 2 * counts(&chunk));
}

#[test]
fn other_versions_and_damage_are_said_in_a_line() {
    let (mut file, _) = written(ALL);
    file[5] = 3;
    assert!(matches!(read(&file), Err(Error::Version { version: 3, .. })));
    file[5] = 2;
    // The place of the description of types.
    file[24..32].copy_from_slice(&u64::MAX.to_be_bytes());
    let error = read(&file).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
}

/// A session out of a file with these settings.
fn with_settings(settings: &[(&str, &str, &str)], counts: &[(&str, u64)]) -> Report {
    let mut file = File::default();
    for (of, name, value) in settings {
        file.settings.set(of, name, value);
    }
    for (name, all) in counts {
        file.counts.entry((*name).to_owned()).or_default().all = *all;
    }
    fold(|sink| file.give(sink)).expect("a start")
}

#[test]
fn thresholds_and_what_is_not_shown_are_said() {
    let report = with_settings(
        &[
            ("jdk.JavaMonitorEnter", "enabled", "true"),
            ("jdk.JavaMonitorEnter", "threshold", "20 ms"),
            ("jdk.ThreadPark", "enabled", "false"),
            ("jdk.JavaExceptionThrow", "enabled", "true"),
            ("jdk.JavaExceptionThrow", "throttle", "100/s"),
        ],
        &[("jdk.GCPhaseParallel", 8_863), ("jdk.BooleanFlag", 534)],
    );
    let missing = report.completeness.missing.join("\n");
    for sentence in [
        "locks: recorded from 20 ms on: `jdk.JavaMonitorEnter`;",
        "locks: not recorded: `jdk.ThreadPark`",
        "exceptions: of `jdk.JavaExceptionThrow` at most 100/s were recorded",
        "9,397 events of 2 other types in the file are not shown",
        "jdk.GCPhaseParallel 8,863, jdk.BooleanFlag 534",
    ] {
        assert!(missing.contains(sentence), "{sentence} in {missing}");
    }
    let locks = report.sections.iter().find(|section| section.id == "locks").unwrap();
    let is_known = |key| locks.summary.get(key).is_some();
    assert!(
        is_known("contended_enters") && !is_known("parks") && !is_known("unparks") && !is_known("deadlocked_threads")
    );
    let recorder = report.target.recorder.unwrap();
    assert_eq!(recorder.name, "flight recorder");
    assert_eq!(recorder.partial.iter().map(|lens| lens.id()).collect::<Vec<_>>(), ["locks", "exceptions"]);
}

#[test]
fn half_of_a_pair_is_not_taken() {
    let on = |name| (name, "enabled", "true");
    let report = with_settings(&[on("jdk.ClassLoad"), on("jdk.ThreadStart"), on("jdk.ThreadEnd")], &[]);
    let sections: Vec<_> = report.sections.iter().map(|section| section.id).collect();
    assert_eq!(sections, ["threads"], "classes that are never unloaded would look like a leak");
    assert!(report.completeness.missing[0].starts_with("`jdk.ClassLoad` was recorded and `jdk.ClassUnload` was not"));
}

/// Compilations that failed at once are not in a file that has only long ones: of those few, many failed.
#[test]
fn a_part_of_all_compilations_says_nothing_of_those_that_fail() {
    let failed = |from: u32| {
        let mut lines = String::new();
        for at in from..from + 5 {
            let method = format!("compiler=\"C2\" class=\"a/B\" method=\"m{at}\" signature=\"()V\"");
            writeln!(lines, "+{at}ms tid 9 compile_begin {method}").unwrap();
            writeln!(lines, "+{at}ms tid 9 compile_end {method} success=false").unwrap();
        }
        written(&format!("{lines}end +1s duration\n")).0
    };
    let finds = |file: &File| file.about.by_jtrace;
    let bytes = failed(1);
    let mut file = FlightRecording::new(&bytes[..], Path::new("x.jfr")).read().unwrap();
    assert!(finds(&file));
    let ids = |report: &Report| report.findings.iter().map(|finding| finding.id).collect::<Vec<_>>();
    assert_eq!(ids(&read(&bytes).unwrap()), ["jit-failures"]);
    file.settings.set("jdk.Compilation", "threshold", "100 ms");
    assert_eq!(ids(&fold(|sink| file.give(sink)).unwrap()), [""; 0]);
}

/// Files of the JDK and of jtrace with faults: reading ends, and what is given is a session in its order.
#[test]
fn fuzz_flight_recorder() {
    const NAME: &str = "flight_recorder";
    let corpus = crate::fuzz::corpus(NAME);
    for sample in &corpus {
        assert!(read(sample).is_ok_and(|report| report.completeness.delivered > 0), "a sample says something");
    }
    // Those of the JDK are mostly descriptions of types, and take ten times as long as a short one: most faults are in that.
    let short = written(ALL).0;
    let mut outcomes = [0_u32; 3];
    crate::fuzz::each(NAME, 64 << 20, |dice| {
        let mut bytes = if dice.once_in(64) { corpus[dice.below(corpus.len())].clone() } else { short.clone() };
        for _ in 0..=dice.below(6) {
            let at = dice.below(bytes.len());
            match dice.below(6) {
                0 => bytes[at] ^= 1 << dice.below(8),
                1 => bytes[at] = dice.pick(&[0, 1, 2, 0x7f, 0x80, 0xff]),
                2 => drop(bytes.drain(at..(at + 1 + dice.below(9)).min(bytes.len()))),
                3 => drop(bytes.splice(at..at, dice.bytes(9))),
                // Where the description of types is, and what the header says.
                4 => bytes[dice.below(68)] = dice.byte(),
                _ => bytes[at] = dice.byte(),
            }
            bytes.resize(bytes.len().max(80), 0);
        }
        if dice.once_in(2) {
            let size = (bytes.len() as u64).to_be_bytes();
            bytes[8..16].copy_from_slice(&size);
        }
        match FlightRecording::new(&bytes[..], Path::new("x.jfr")).read() {
            Ok(file) => {
                outcomes[0] += 1;
                let mut has_ended = false;
                file.give(&mut |item| has_ended = matches!(item, Item::End(_)));
                assert!(has_ended, "the end is the last item");
            }
            Err(Error::Io { source, .. }) => panic!("memory can be read: {source}"),
            Err(Error::Damaged { .. }) => outcomes[1] += 1,
            Err(Error::Version { .. } | Error::Empty { .. }) => outcomes[2] += 1,
        }
    });
    assert!(outcomes.iter().all(|count| *count > 20), "faults that reach nothing test nothing: {outcomes:?}");
}
