//! Rules about compilation.

use super::Evidence;
use crate::{
    lens::Lens::Jit,
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
            format::rate(rate)
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

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

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
