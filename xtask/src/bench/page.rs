//! How long HTML reports take to open in headless Chromium: from the navigation to the drawn graph, by the browser's own
//! clock. One has 100,000 stacks, one is of 10 minutes of 5,000 events a second.

use std::{fs, path::Path};

use anyhow::{Context as _, Result, ensure};

use super::{budget::Figure, measure_binary, statistics::median};
use crate::{process, workspace};

const STACKS: u64 = 100_000;
const SECONDS: u64 = 600;
const PER_SECOND: u64 = 5000;

/// The policy of jtrace's pages lets scripts run that carry this word.
const NONCE: &str = "jtrace-report-1";

/// Says when the graph was drawn, where a document's text can be read.
const TELL: &str = "const drawn = performance.getEntriesByName('jtrace-drawn')[0];
const told = document.createElement('pre');
told.id = 'drawn-ms';
told.textContent = drawn ? String(drawn.startTime) : 'never';
document.body.append(told);";

pub(crate) fn measure(times: usize) -> Result<Vec<Figure>> {
    let numbers = [STACKS, SECONDS, PER_SECOND].map(|number| number.to_string());
    let [stacks, seconds, per_second] = &numbers;
    let pages: [(&'static str, &str, &[&String]); 2] = [
        ("html_100000_stacks_open_ms", "stacks", &[stacks]),
        ("html_3000000_events_open_ms", "session", &[seconds, per_second]),
    ];
    pages.into_iter().map(|(name, kind, numbers)| page(name, kind, numbers, times)).collect()
}

fn page(name: &'static str, kind: &str, numbers: &[&String], times: usize) -> Result<Figure> {
    if !process::on_path("chromium") {
        return Ok(Figure::absent(name, "Chromium is not installed: `cargo xtask setup` installs it"));
    }
    let folder = tempfile::tempdir_in(workspace::target())?;
    let recording = folder.path().join("made.jtrace");
    let mut make = process::command(measure_binary());
    process::run(make.arg(kind).arg(&recording).args(numbers))?;
    let page = folder.path().join("made.html");
    let mut report = process::command(workspace::jtrace());
    process::output(report.arg("report").arg(&recording).arg("--text").arg("-o").arg(&page))?;
    let text = fs::read_to_string(&page)?;
    let end = text.rfind("</body>").context("a page without an end")?;
    let watched = format!("{}<script nonce=\"{NONCE}\">{TELL}</script>{}", &text[..end], &text[end..]);
    fs::write(&page, &watched)?;
    let opened: Vec<f64> = (0..times).map(|_| open(&page, folder.path())).collect::<Result<_>>()?;
    let worst = opened.iter().copied().fold(0.0, f64::max);
    let note = format!("a page of {} KiB, median of {times}, worst {worst:.0} ms", text.len() / 1024);
    Ok(Figure::new(name, median(&opened), note))
}

/// Opens the page; milliseconds from the navigation to the drawn graph.
fn open(page: &Path, folder: &Path) -> Result<f64> {
    let mut chromium = process::command("timeout");
    chromium.args(["--kill-after=5", "120", "chromium", "--headless", "--no-sandbox", "--disable-gpu"]);
    chromium.args([
        "--no-first-run",
        "--disable-background-networking",
        "--disable-sync",
        "--disable-component-update",
    ]);
    chromium.args(["--disable-dev-shm-usage", "--window-size=1280,900", "--dump-dom"]);
    chromium.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    let output = chromium.arg(format!("file://{}", page.display())).output().context("cannot start `timeout`")?;
    let dom = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "Chromium: {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    let told = dom.rsplit_once("<pre id=\"drawn-ms\">").and_then(|(_, rest)| rest.split("</pre>").next());
    let told = told.context("the page's scripts did not run")?;
    told.parse().with_context(|| format!("the graph was drawn {told}"))
}
