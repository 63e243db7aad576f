//! `cargo xtask demo --pictures`: the pictures in `docs/pictures` are those of real sessions of the demo: the screen, the page, and
//! the page of a difference. Look at each before it is committed.

mod screen;

use std::{fs, path::Path};

use ::tests::{
    demo,
    jdk::Jdk,
    terminal::{Terminal, quoted},
};
use anyhow::{Context as _, Result, ensure};

use crate::{dist, process, workspace};

/// Size of the terminal.
const COLUMNS: u16 = 110;
const ROWS: u16 = 32;
/// Sizes of the pictures, in pixels.
const SCREEN: (u32, u32) = (912, 522);
const PAGE: (u32, u32) = (1180, 1300);
const DIFFERENCE: (u32, u32) = (1180, 1120);
/// A picture is not larger than this: the repository keeps every one that there ever was.
const MAX_BYTES: u64 = 240_000;
/// Heaps of the sessions that are compared: the second has room.
const HEAPS: [&str; 2] = ["-Xmx256m", "-Xmx1g"];
const SECONDS: &str = "20s";

/// Takes all pictures.
pub(super) fn take(jdk: &Jdk) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot make a folder for what is shown")?;
    let file = |name: &str| folder.path().join(name);
    let mut reports = Vec::new();
    for (heap, name) in HEAPS.into_iter().zip(["before", "after"]) {
        let jvm = demo::start_with(jdk, heap)?;
        if reports.is_empty() {
            fs::write(file("screen.html"), screen::page(&styled_screen(jvm.pid())?))?;
        }
        let (page, report) = (file(&format!("{name}.html")), file(&format!("{name}.json")));
        let attach = |lenses: &[&str], output: &Path| {
            let mut jtrace = process::as_root(dist::binary());
            jtrace.args(["attach", &jvm.pid().to_string(), "-d", SECONDS]).args(lenses).arg("-o").arg(output);
            process::run(&mut jtrace)
        };
        attach(&[], &page)?;
        // What is compared is one lens, so that the picture has its graph.
        attach(&["-l", "cpu"], &report)?;
        reports.push(report);
    }
    let difference = file("difference.html");
    process::run(process::command(dist::binary()).arg("diff").args(&reports).arg("-o").arg(&difference))?;
    let folder = workspace::root().join("docs/pictures");
    fs::create_dir_all(&folder)?;
    for (page, name, size) in [
        (file("screen.html"), "screen.png", SCREEN),
        (file("before.html"), "page.png", PAGE),
        (difference, "difference.png", DIFFERENCE),
    ] {
        shoot(&page, &folder.join(name), size)?;
    }
    Ok(())
}

/// The screen of a session after ten seconds, with its colours as a terminal gets them.
fn styled_screen(pid: u32) -> Result<String> {
    let sudo = if process::is_root() { "" } else { "sudo -E " };
    let command = format!("{sudo}{} attach {pid} --tui --duration 60s; cat", quoted(&dist::binary()));
    let terminal = Terminal::start(&command, COLUMNS, ROWS)?;
    terminal
        .wait_until("ten seconds should pass", |screen| super::readme::seconds(screen).is_some_and(|at| at >= 10.0))?;
    let screen = terminal.styled()?;
    terminal.press("q")?;
    terminal.wait_until("the terminal should be given back", |screen| !screen.contains("q quit"))?;
    Ok(screen)
}

/// A picture of a page, as a browser of this size shows it.
fn shoot(page: &Path, picture: &Path, (width, height): (u32, u32)) -> Result<()> {
    let mut chromium = process::command("chromium");
    chromium.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=4000"]);
    chromium.arg(format!("--window-size={width},{height}")).arg(format!("--screenshot={}", picture.display()));
    chromium.arg(format!("file://{}", page.display()));
    process::run(&mut chromium)?;
    let bytes = fs::metadata(picture).with_context(|| format!("chromium left no {}", picture.display()))?.len();
    ensure!(bytes <= MAX_BYTES, "{} has {bytes} bytes, and {MAX_BYTES} are allowed", picture.display());
    println!("demo: {} is new: look at it", picture.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_show_the_pictures_and_none_is_too_large() {
        let read = |path: &str| fs::read_to_string(workspace::root().join(path)).unwrap();
        let documents = [read("README.md"), read("docs/questions.md"), read("docs/output-formats.md")].concat();
        for name in ["screen.png", "page.png", "difference.png"] {
            assert!(documents.contains(&format!("pictures/{name}")), "{name}");
            let bytes = fs::metadata(workspace::root().join("docs/pictures").join(name)).unwrap().len();
            assert!((10_000..=MAX_BYTES).contains(&bytes), "{name}: {bytes}");
        }
    }
}
