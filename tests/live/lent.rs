//! Pools whose connections are all lent out: so many threads wait, for what, and who has what they wait for.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    jdk::{self, Jdk},
    jtrace,
    jvm::Launch,
    patience::until,
    report::Report,
};

/// What the libraries of the test are, in packages of Debian that `cargo xtask setup` installs.
const LIBRARIES: [&str; 4] = ["HikariCP", "h2", "slf4j-api", "slf4j-nop"];

/// For what threads wait in pools: how many of them, how many went on, and where those are.
type Waits = BTreeMap<String, (f64, f64, Option<String>)>;

/// What is seen of the program, and its first finding.
fn look(jdk: &Jdk, variant: &str) -> Result<(Waits, String)> {
    let libraries = LIBRARIES.map(|name| format!("/usr/share/java/{name}.jar"));
    let arguments = [&[variant.to_owned()][..], &libraries].concat();
    let mut jvm = Launch::new(jdk, "threads", "Lent").arguments(&arguments).start()?;
    let pid = jvm.pid().to_string();
    // Of one look nobody knows who has run since, and a few more are needed for a finding.
    let report = until("threads are looked at", || {
        let report = Report::parse(&jtrace::succeed(&["attach", &pid, "-l", "threads", "-d", "6s", "--json"])?.stdout)?;
        Ok(Some(report).filter(|report| report.summary("threads", "looks").is_ok_and(|looks| looks > 3)))
    })?;
    jvm.finish()?;
    let mut found = Waits::new();
    for row in report.table("threads", "waiting")? {
        let text = |key: &str| row.get(key).and_then(Value::as_str);
        let number = |key: &str| row.get(key).and_then(Value::as_f64).with_context(|| format!("{key} of {row:?}"));
        if text("kind") == Some("pool") {
            let past = text("past_site").and_then(|place| place.split(':').next()).map(str::to_owned);
            found.insert(text("what").unwrap_or_default().to_owned(), (number("average")?, number("past")?, past));
        }
    }
    let (id, title) = (report.findings()[0], report.titles()[0]);
    ensure!(id == "pool-exhausted", "{id}: {title}");
    Ok((found, title.to_owned()))
}

#[test]
fn connections_that_were_never_given_back_are_told_from_those_that_others_have() -> Result<()> {
    let connection = |waits: f64, past: f64, place: Option<&str>| {
        let own = ("what `Lent$Desks.borrow` gives".to_owned(), (2.0, 0.0, None));
        Waits::from([own, ("a connection of HikariCP".to_owned(), (waits, past, place.map(str::to_owned)))])
    };
    // The one on the builds by turns, the other on the rest: where threads stand is read the same way.
    for (number, jdk) in (0..).zip(jdk::builds()?) {
        let context = || format!("on {}", jdk.home.display());
        if number % 2 == 0 {
            let (held, title) = look(&jdk, "held").with_context(context)?;
            ensure!(held == connection(3.0, 2.0, Some("Lent.keep")), "{held:?} on {jdk:?}");
            let waits = "3.0 threads on average wait for a connection of HikariCP, at Lent.work:";
            ensure!(title.starts_with(waits), "{title} on {jdk:?}");
        } else {
            let (lost, title) = look(&jdk, "lost").with_context(context)?;
            ensure!(lost == connection(5.0, 0.0, None), "{lost:?} on {jdk:?}");
            ensure!(title.ends_with(", and none of them got it meanwhile"), "{title} on {jdk:?}");
        }
    }
    Ok(())
}
