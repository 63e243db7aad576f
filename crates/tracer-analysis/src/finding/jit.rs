//! Rules about compilation.

use super::{
    Evidence, Rate, Row,
    cpu::{Share, samples},
};
use crate::{
    lens::Lens::{Cpu, Jit},
    report::{Finding, Severity, descriptor::readable},
    text::format,
};

/// A method is compiled again and again.
pub(super) fn recompilation(evidence: &Evidence<'_>) -> Option<Finding> {
    let row =
        evidence.rows(Jit, "repeated").max_by_key(|row| row.whole("count")).filter(|row| row.whole("count") >= 10)?;
    Some(Finding {
        id: "jit-recompilation",
        severity: Severity::Warning,
        score: row.whole("count") as f64,
        title: format!("`{}` was compiled {} times", readable(&row.text("method")), format::count(row.whole("count"))),
        shown_in: "jit.repeated",
        when: Vec::new(),
        evidence: [format!("{} of compilation", format::duration(row.whole("total_ns")))]
            .into_iter()
            .chain(given_up(evidence, &row.text("method")))
            .collect(),
        next_step: "It is deoptimised over and over: look for exceptions, class loading or changing types on its hot \
                    path (-Xlog:deoptimization=debug)."
            .to_owned(),
    })
}

/// What tells that the method's code was given up in between.
fn given_up(evidence: &Evidence<'_>, method: &str) -> Option<String> {
    let row = evidence.rows(Jit, "loops").find(|row| row.text("method") == method)?;
    let code = format::plural(row.whole("unloaded"), "piece", "pieces");
    Some(match row.whole("deoptimised_samples") {
        0 => format!("{code} of its code were removed meanwhile"),
        samples => format!(
            "{} met it at a deoptimisation; {code} of its code were removed",
            format::plural(samples, "sample", "samples")
        ),
    })
}

/// Compilations fail.
pub(super) fn failures(evidence: &Evidence<'_>) -> Option<Finding> {
    // Where short compilations were left out, those that failed are no part of all.
    let failures = evidence.whole(Jit, "failures").filter(|_| !evidence.target.has_part_of(Jit));
    let failures = failures.filter(|failures| *failures >= 3)?;
    let all = evidence.whole(Jit, "compilations").unwrap_or(failures).max(1);
    let share = 100.0 * failures as f64 / all as f64;
    let top = evidence.rows(Jit, "failed").next();
    let method = top.map(|row| format!(", most often of `{}`", readable(&row.text("method")))).unwrap_or_default();
    Some(Finding {
        id: "jit-failures",
        severity: if share > 10.0 { Severity::Warning } else { Severity::Info },
        score: failures as f64,
        title: format!("{} of {} compilations failed{method}", format::count(failures), format::count(all)),
        shown_in: "jit.failed",
        when: Vec::new(),
        evidence: vec![format!("{} of all", format::percent(share))],
        next_step:
            "-XX:+PrintCompilation tells why (`COMPILE SKIPPED`); methods above 8,000 bytes of bytecode are never \
                    compiled."
                .to_owned(),
    })
}

/// Much code is thrown away, and as much is made again. While a program warms up, code of the first compiler goes as well, but more
/// comes than goes.
pub(super) fn code_unloading(evidence: &Evidence<'_>) -> Option<Finding> {
    const ENOUGH: u64 = 200;
    const PER_S: f64 = 10.0;
    /// From here on it is no warming up.
    const CHURN_PER_S: f64 = 400.0;
    let unloaded = evidence.whole(Jit, "code_unloaded").filter(|unloaded| *unloaded >= ENOUGH)?;
    let rate = evidence.per_second(Jit, "code_unloaded").filter(|rate| *rate >= PER_S)?;
    let loaded = evidence.whole(Jit, "code_loaded")?;
    let is_churn = 4 * unloaded >= 3 * loaded && 4 * loaded >= 3 * unloaded && rate >= CHURN_PER_S;
    Some(Finding {
        id: "jit-code-unloading",
        severity: if is_churn { Severity::Warning } else { Severity::Info },
        score: if is_churn { rate } else { rate.min(5.0) },
        title: format!(
            "Compiled code of {} was removed, {}",
            format::plural(unloaded, "method", "methods"),
            evidence.seen(Jit, rate).said(format::rate)
        ),
        shown_in: "jit.largest",
        when: Vec::new(),
        evidence: vec![
            format!("{} of code were installed meanwhile", format::plural(loaded, "piece", "pieces")),
            if is_churn {
                "as much comes as goes, at a pace at which nothing warms up: room for code is short".to_owned()
            } else {
                "normal while a program warms up: better code takes its place".to_owned()
            },
        ],
        next_step: "Check the code cache with `jcmd PID Compiler.codecache`; where it is nearly full raise \
                    -XX:ReservedCodeCacheSize."
            .to_owned(),
    })
}

/// Most of the time that Java runs it is interpreted, and no compiler is at work to change that.
pub(super) fn not_compiled(evidence: &Evidence<'_>) -> Option<Finding> {
    samples(evidence)?;
    let code = || evidence.rows(Cpu, "code").map(|row| (row.text("code"), row.whole("samples")));
    let all = code().fold(0_u64, |sum, (_, samples)| sum.saturating_add(samples));
    let interpreted = code().find(|(code, _)| code == "interpreted").map(|(_, samples)| samples)?;
    let share = Share::of(interpreted, all).filter(|share| share.is_above(50.0))?;
    let reason = Reason::of(evidence)?;
    let top = evidence.rows(Cpu, "methods").max_by_key(|row: &Row<'_>| row.whole("java_self"));
    let most = top.map(|row| format!(", most in `{}`", row.text("method"))).unwrap_or_default();
    Some(Finding {
        id: "not-compiled",
        severity: Severity::Warning,
        score: share.percent,
        title: format!("{} of the time in Java is interpreted{most}", format::percent(share.percent)),
        shown_in: "cpu.code",
        when: Vec::new(),
        evidence: vec![share.evidence(all), reason.evidence()],
        next_step: reason.next_step().to_owned(),
    })
}

/// Why code stays interpreted.
enum Reason {
    /// The JVM has no compiler.
    NoCompiler,
    /// Its compilers have nothing to do, or were stopped: so many compilations a second, where they are told.
    Idle(Option<Rate>),
}

impl Reason {
    /// Nothing while compilers are at work: the program warms up then.
    fn of(evidence: &Evidence<'_>) -> Option<Self> {
        const IDLE_PER_S: f64 = 1.0;
        // A JVM has a counter of its compilers' time from when it starts them on, which is in its first second.
        let is_up = evidence.target.uptime_s > 0;
        let counts = evidence.target.since_start.as_ref().filter(|counts| is_up && counts.collections.is_some());
        if counts.is_some_and(|counts| counts.compilation_ns.is_none()) || evidence.target.compiles_to_level == Some(0)
        {
            return Some(Self::NoCompiler);
        }
        let rate = evidence.rate_of(Jit, "compilations");
        let at_work = evidence.whole(Cpu, "jit_threads_samples").is_some_and(|samples| samples > 0);
        rate.map_or(!at_work, |rate| rate.high < IDLE_PER_S).then_some(Self::Idle(rate))
    }

    fn evidence(&self) -> String {
        match self {
            Self::NoCompiler => "the JVM was started without its compilers".to_owned(),
            Self::Idle(Some(rate)) => format!("compilations: {}", rate.said(format::rate)),
            Self::Idle(None) => "its compilers took no CPU time meanwhile".to_owned(),
        }
    }

    const fn next_step(&self) -> &'static str {
        match self {
            Self::NoCompiler => {
                "Look for -Xint or -XX:TieredStopAtLevel=0 in the command line, in JAVA_TOOL_OPTIONS and JDK_JAVA_OPTIONS."
            }
            Self::Idle(_) => {
                "Methods above 8,000 bytes of bytecode are never compiled, nor those that -XX:CompileCommand excludes; \
                 `jcmd PID Compiler.codecache` says whether the compilers were stopped."
            }
        }
    }
}

/// The JVM was told not to use its second compiler, as for a quick start, and most of the time runs what the first one made.
pub(super) fn first_compiler_only(evidence: &Evidence<'_>) -> Option<Finding> {
    let level = evidence.target.compiles_to_level.filter(|level| (1..=3).contains(level))?;
    let all = samples(evidence)?;
    let is_compiled = |row: &Row<'_>| matches!(&*row.text("code"), "compiled" | "inlined");
    let compiled = evidence.rows(Cpu, "code").filter(is_compiled).map(|row| row.whole("samples")).sum();
    let share = Share::of(compiled, all).filter(|share| share.is_above(50.0))?;
    Some(Finding {
        id: "first-compiler-only",
        severity: Severity::Warning,
        score: share.percent,
        title: format!("The JVM compiles without its second compiler, C2: its flag TieredStopAtLevel is {level}"),
        shown_in: "cpu.code",
        when: Vec::new(),
        evidence: vec![
            format!("code that the first one made takes {} of CPU time", format::percent(share.percent)),
            share.evidence(all),
        ],
        next_step:
            "Start it without -XX:TieredStopAtLevel: IDEs and build plugins set it for a quick start. Look into \
                    JAVA_TOOL_OPTIONS and JDK_JAVA_OPTIONS, too."
                .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};
    use crate::item::SinceStart;

    /// Ten seconds of one busy core, with so many of 900 samples in the interpreter.
    fn ran_interpreted(samples: u64) -> Case {
        let case = Case::seconds(10).number("cpu", "samples", 990.0).number("cpu", "sampled_ns", 1e10);
        let case = case.row("cpu", "code", &[("code", "interpreted".into()), ("samples", samples.into())]);
        let case = case.row("cpu", "code", &[("code", "compiled".into()), ("samples", (900 - samples).into())]);
        case.row("cpu", "methods", &[("method", "com.shop.Page.render".into()), ("java_self", samples.into())])
    }

    #[test]
    fn what_stays_interpreted_is_found_where_no_compiler_is_at_work() {
        let compiled = |samples, compilations| ran_interpreted(samples).number("jit", "compilations", compilations);
        let title = "80 % of the time in Java is interpreted, most in `com.shop.Page.render`";
        assert_eq!(compiled(720, 2.0).said(not_compiled), (Severity::Warning, title.to_owned()));
        assert_eq!(compiled(720, 30.0).ask(not_compiled), None, "it warms up");
        let in_windows = compiled(720, 2.0).number("jit", "attached_percent", 10.0);
        assert_eq!(in_windows.ask(not_compiled), None, "there can be ten times as many");
        assert_eq!(compiled(450, 2.0).ask(not_compiled), None, "half is not surely more than half");
        assert_eq!(ran_interpreted(720).number("cpu", "jit_threads_samples", 5.0).ask(not_compiled), None);
        let without = ran_interpreted(720).ask(not_compiled).expect("no compiler took time");
        assert!(without.evidence[1].contains("no CPU time") && without.next_step.contains("8,000 bytes"));
    }

    #[test]
    fn a_jvm_that_stops_at_its_first_compiler_is_named_by_its_flag() {
        let stops_at = |level, interpreted| {
            let mut case = ran_interpreted(interpreted);
            case.target.compiles_to_level = level;
            case
        };
        let title = "The JVM compiles without its second compiler, C2: its flag TieredStopAtLevel is 1";
        assert_eq!(stops_at(Some(1), 20).said(first_compiler_only), (Severity::Warning, title.to_owned()));
        assert_eq!(stops_at(Some(1), 500).ask(first_compiler_only), None, "it does little of it");
        assert_eq!(stops_at(Some(4), 20).ask(first_compiler_only), None);
        assert_eq!(stops_at(None, 20).ask(first_compiler_only), None);
        let none = stops_at(Some(0), 900).number("jit", "compilations", 50.0).ask(not_compiled);
        assert!(none.is_some_and(|found| found.next_step.contains("TieredStopAtLevel")));
    }

    #[test]
    fn a_jvm_without_compilers_is_told_from_one_without_counters() {
        let started = |uptime_s, collections, compilation_ns| {
            let mut case = ran_interpreted(900).number("jit", "compilations", 50.0);
            case.target.uptime_s = uptime_s;
            case.target.since_start = Some(SinceStart { collections, compilation_ns, ..SinceStart::default() });
            case.ask(not_compiled)
        };
        assert!(started(3, Some(0), None).is_some_and(|found| found.next_step.contains("-Xint")));
        assert_eq!(started(3, Some(0), Some(5)), None);
        assert_eq!(started(3, None, None), None, "it has no counters at all");
        assert_eq!(started(0, Some(0), None), None, "it has not started its compilers yet");
    }

    #[test]
    fn a_recompilation_loop_is_ten_times_the_same_method() {
        let compiled = |count: u64| {
            let cells =
                [("method", "com.shop.Cart.add(I)V".into()), ("count", count.into()), ("total_ns", 1_u64.into())];
            Case::default().row("jit", "repeated", &cells)
        };
        assert_eq!(compiled(12).said(recompilation).1, "`com.shop.Cart.add(int)` was compiled 12 times");
        assert_eq!(compiled(9).ask(recompilation), None);
        let evidence = |case: Case| case.ask(recompilation).expect("a loop").evidence;
        assert_eq!(evidence(compiled(12)).len(), 1);
        let gone = [
            ("method", "com.shop.Cart.add(I)V".into()),
            ("unloaded", 9_u64.into()),
            ("deoptimised_samples", 2_u64.into()),
        ];
        assert_eq!(
            evidence(compiled(12).row("jit", "loops", &gone))[1],
            "2 samples met it at a deoptimisation; 9 pieces of its code were removed"
        );
    }

    #[test]
    fn failures_are_warned_of_by_their_share() {
        let failed = |failures: f64, all: f64| {
            Case::default().number("jit", "failures", failures).number("jit", "compilations", all)
        };
        assert_eq!(failed(5.0, 20.0).said(failures), (Severity::Warning, "5 of 20 compilations failed".to_owned()));
        assert_eq!(failed(5.0, 2000.0).said(failures).0, Severity::Info);
        assert_eq!(failed(2.0, 3.0).ask(failures), None);
    }

    #[test]
    fn much_removed_code_is_found() {
        let code = |loaded: f64, removed: f64| {
            Case::seconds(10).number("jit", "code_loaded", loaded).number("jit", "code_unloaded", removed)
        };
        let short = (Severity::Warning, "Compiled code of 7,000 methods was removed, 700/s".to_owned());
        assert_eq!(code(6_500.0, 7_000.0).said(code_unloading), short);
        let warm = (Severity::Info, "Compiled code of 900 methods was removed, 90/s".to_owned());
        assert_eq!(code(2_100.0, 900.0).said(code_unloading), warm);
        assert_eq!(code(900.0, 900.0).said(code_unloading).0, Severity::Info, "at the end of that");
        assert_eq!(code(9_000.0, 3_000.0).said(code_unloading).0, Severity::Info, "more comes than goes");
        assert_eq!(code(300.0, 150.0).ask(code_unloading), None);
    }
}
