//! How long the HTML report of 100,000 stacks takes to open in headless Chromium: from the navigation to the drawn graph, by
//! the browser's own clock.

use std::{fs, path::Path};

use anyhow::{Context as _, Result, ensure};

use super::{budget::Figure, measure_binary, statistics::median};
use crate::{process, workspace};

const STACKS: u64 = 100_000;

/// The policy of jtrace's pages lets scripts run that carry this word.
const NONCE: &str = "jtrace-report-1";

/// Says when the graph was drawn, where a document's text can be read.
const TELL: &str = "const drawn = performance.getEntriesByName('jtrace-drawn')[0];
const told = document.createElement('pre');
told.id = 'drawn-ms';
told.textContent = drawn ? String(drawn.startTime) : 'never';
document.body.append(told);";

pub(crate) fn measure(times: usize) -> Result<Vec<Figure>> {
    const NAME: &str = "html_100000_stacks_open_ms";
    if !process::on_path("chromium") {
        return Ok(vec![Figure::absent(NAME, "Chromium is not installed: `cargo xtask setup` installs it")]);
    }
    let folder = tempfile::tempdir_in(workspace::target())?;
    let recording = folder.path().join("stacks.jtrace");
    let mut make = process::command(measure_binary());
    process::run(make.arg("stacks").arg(&recording).arg(STACKS.to_string()))?;
    let page = folder.path().join("stacks.html");
    let mut report = process::command(workspace::jtrace());
    process::output(report.arg("report").arg(&recording).arg("--text").arg("-o").arg(&page))?;
    let text = fs::read_to_string(&page)?;
    let end = text.rfind("</body>").context("a page without an end")?;
    let watched = format!("{}<script nonce=\"{NONCE}\">{TELL}</script>{}", &text[..end], &text[end..]);
    fs::write(&page, &watched)?;
    let opened: Vec<f64> = (0..times).map(|_| open(&page, folder.path())).collect::<Result<_>>()?;
    let worst = opened.iter().copied().fold(0.0, f64::max);
    let note = format!("a page of {} KiB, median of {times}, worst {worst:.0} ms", text.len() / 1024);
    Ok(vec![Figure::new(NAME, median(&opened), note)])
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
