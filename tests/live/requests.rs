//! Requests under way: each is counted on the side that serves it and on the side that makes it, with the program's own place.

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk, jtrace,
    jvm::Launch,
    patience::until,
    report::{Report, Row, cell},
};

#[test]
fn requests_under_way_are_counted_on_both_sides() -> Result<()> {
    let expected = [
        ("made", "HTTP (HttpURLConnection)", "Requests.askAsBefore:", 3),
        ("made", "HTTP (java.net.http)", "Requests.ask:", 1),
        ("served", "HTTP (the JDK's HttpServer)", "Requests.answer", 4),
    ];
    // The wheel of 11 comes without the module of the server.
    for jdk in jdk::all()?.into_iter().filter(|jdk| jdk.release >= 17) {
        let mut jvm = Launch::new(&jdk, "requests", "Requests").start()?;
        let report = until("threads are looked at", || {
            let words = ["attach", &jvm.pid().to_string(), "-l", "threads", "-d", "1s", "--json"];
            let report = Report::parse(&jtrace::succeed(&words)?.stdout)?;
            Ok(Some(report).filter(|report| report.summary("threads", "looks").is_ok_and(|looks| looks > 0)))
        })?;
        jvm.finish()?;
        let rows = report.table("threads", "requests")?;
        let text = |row: &Row, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        for (side, who, site, threads) in expected {
            let row = rows.iter().find(|row| text(row, "side") == side && text(row, "who") == who);
            let row = row.with_context(|| format!("no {side} of {who} on JDK {}: {rows:?}", jdk.release))?;
            ensure!(text(row, "site").starts_with(site), "{row:?} on JDK {}", jdk.release);
            // Nobody of them goes on while it is looked.
            ensure!(cell(row, "most")? == threads, "{row:?} on JDK {}", jdk.release);
            let all = ["average", "waiting_average"].map(|key| row[key].as_f64());
            ensure!(all == [Some(threads as f64); 2], "{row:?} on JDK {}", jdk.release);
        }
        ensure!(rows.len() == expected.len(), "{rows:?} on JDK {}", jdk.release);
    }
    Ok(())
}
