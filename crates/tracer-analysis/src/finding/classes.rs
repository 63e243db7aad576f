//! Rules about classes.

use super::{Evidence, looks};
use crate::{
    lens::Lens::Classes,
    report::{Finding, Severity},
    text::format,
};

/// Seconds with very many loads, apart from a start-up.
pub(super) fn storm(evidence: &Evidence<'_>) -> Option<Finding> {
    let seconds = evidence.whole(Classes, "storm_seconds").filter(|seconds| *seconds > 0)?;
    let worst = evidence.whole(Classes, "worst_second_loads").unwrap_or(0);
    let loaded = evidence.whole(Classes, "loaded").unwrap_or(0);
    let top = evidence.rows(Classes, "packages").next();
    let from = top.map(|row| format!(", most from `{}`", row.text("package"))).unwrap_or_default();
    // Every JVM loads many classes when it starts.
    let starting = evidence.target.uptime_s < 30;
    Some(Finding {
        id: "class-storm",
        severity: if starting { Severity::Info } else { Severity::Warning },
        score: seconds as f64,
        title: format!(
            "{} with more than 500 class loads, {} in the worst{from}{}",
            format::plural(seconds, "second", "seconds"),
            format::count(worst),
            at(evidence)
        ),
        shown_in: "classes.packages",
        when: evidence.when(Classes, "classes", |step| step.per_second("loaded") > 500.0),
        evidence: [format!("{} loaded in all", format::plural(loaded, "class", "classes"))]
            .into_iter()
            .chain(place(evidence))
            .collect(),
        next_step:
            "Normal at start-up and deployment; else look for class loaders, scripts or proxies made per request."
                .to_owned(),
    })
}

/// The same for a title.
fn at(evidence: &Evidence<'_>) -> String {
    let row = evidence.rows(Classes, "loading").next().filter(|row| row.known("site").is_some());
    row.map(|row| format!(", at {}", looks::place(&row))).unwrap_or_default()
}

/// The place that loads most of them.
fn place(evidence: &Evidence<'_>) -> Option<String> {
    let row = evidence.rows(Classes, "loading").next()?;
    let via = row.known("via").map(|via| format!(", which calls {via}")).unwrap_or_default();
    Some(format!("{} at {}{via}", format::plural(row.whole("loaded"), "was loaded", "were loaded"), row.text("site")))
}

/// Classes that differ only in numbers are loaded and not unloaded.
pub(super) fn leak(evidence: &Evidence<'_>) -> Option<Finding> {
    let row = evidence
        .rows(Classes, "generated")
        .filter(|row| row.whole("loaded") >= 200 && row.whole("unloaded") * 5 <= row.whole("loaded"))
        .max_by_key(|row| row.whole("loaded"))?;
    let (loaded, unloaded) = (row.whole("loaded"), row.whole("unloaded"));
    Some(Finding {
        id: "class-leak",
        severity: Severity::Warning,
        score: loaded as f64 / 10.0,
        title: format!(
            "{} generated classes loaded, {} unloaded: names `{}`{}",
            format::count(loaded),
            format::count(unloaded),
            row.text("pattern"),
            at(evidence)
        ),
        shown_in: "classes.generated",
        when: Vec::new(),
        evidence: place(evidence).into_iter().collect(),
        next_step: "Cache what generates them (proxies, lambdas in scripts, serializers), and watch Metaspace in \
                    jcmd PID VM.metaspace."
            .to_owned(),
    })
}

/// Static initialisers fail.
pub(super) fn initialization_errors(evidence: &Evidence<'_>) -> Option<Finding> {
    let errors = evidence.whole(Classes, "initialization_errors").unwrap_or(0);
    let erroneous = evidence.whole(Classes, "erroneous_uses").unwrap_or(0);
    if errors + erroneous == 0 {
        return None;
    }
    let class = evidence.rows(Classes, "errors").next().map(|row| row.text("class"));
    let class = class.map(|class| format!(": `{class}`")).unwrap_or_default();
    Some(Finding {
        id: "class-init-errors",
        severity: Severity::Warning,
        score: (errors + erroneous) as f64,
        title: if errors > 0 {
            format!("{} of class initialisation{class}", format::plural(errors, "failure", "failures"))
        } else {
            format!("Classes in error were used {}{class}", format::plural(erroneous, "time", "times"))
        },
        shown_in: "classes.errors",
        when: Vec::new(),
        evidence: vec![format!("later uses of classes in error: {}", format::count(erroneous))],
        next_step: "Find the first ExceptionInInitializerError in the logs: later ones are only NoClassDefFoundError \
                    without the cause."
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    #[test]
    fn a_storm_is_a_warning_only_after_start_up() {
        let mut case = Case::default()
            .number("classes", "storm_seconds", 2.0)
            .number("classes", "worst_second_loads", 1200.0)
            .row("classes", "packages", &[("package", "com.gen".into())]);
        case.target.uptime_s = 5;
        assert_eq!(case.said(storm).0, Severity::Info);
        case.target.uptime_s = 500;
        assert_eq!(
            case.said(storm),
            (
                Severity::Warning,
                "2 seconds with more than 500 class loads, 1,200 in the worst, most from `com.gen`".to_owned()
            )
        );
        assert_eq!(Case::default().number("classes", "storm_seconds", 0.0).ask(storm), None);
    }

    #[test]
    fn generated_classes_that_stay_leak() {
        let generated = |loaded: u64, unloaded: u64| {
            let cells = [("pattern", "com.gen.P*".into()), ("loaded", loaded.into()), ("unloaded", unloaded.into())];
            Case::default().row("classes", "generated", &cells)
        };
        assert_eq!(generated(1000, 0).said(leak).1, "1,000 generated classes loaded, 0 unloaded: names `com.gen.P*`");
        assert_eq!(generated(1000, 1000).ask(leak), None);
        assert_eq!(generated(100, 0).ask(leak), None);
    }

    #[test]
    fn errors_of_initialisation_are_found() {
        let case = Case::default()
            .number("classes", "initialization_errors", 1.0)
            .number("classes", "erroneous_uses", 40.0)
            .row("classes", "errors", &[("class", "com.shop.Config".into())]);
        assert_eq!(case.said(initialization_errors).1, "1 failure of class initialisation: `com.shop.Config`");
        let case = Case::default().number("classes", "erroneous_uses", 40.0);
        assert_eq!(case.said(initialization_errors).1, "Classes in error were used 40 times");
        let case = Case::default().number("classes", "initialization_errors", 0.0);
        assert_eq!(case.ask(initialization_errors), None);
    }
}
