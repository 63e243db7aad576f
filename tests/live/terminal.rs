//! The TUI once for real: in tmux, with keys sent and the screen read.

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk, jtrace,
    jvm::Launch,
    patience::until,
    report::Report,
    terminal::{Terminal, quoted},
};

use crate::inside::restored::Visited;

/// Reads the screen until it shows the text.
fn shows(terminal: &Terminal, text: &str) -> Result<String> {
    terminal.wait_until(&format!("`{text}` should be on the screen"), |screen| screen.contains(text))
}

#[test]
fn the_screen_shows_the_target_its_tabs_and_help_and_is_given_back() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "100"]).start()?;
    let jtrace = jtrace::binary()?;
    // The shell stays after jtrace, so that one can see that the terminal was given back.
    let command = format!("{} attach {}; echo gave back: $?; cat", quoted(&jtrace), jvm.pid());
    let terminal = Terminal::start(&command, 120, 40)?;
    let screen = shows(&terminal, "Locks contended 100")?;
    assert!(screen.contains(&jvm.pid().to_string()), "no pid on the screen:\n{screen}");
    jvm.work()?;
    terminal.press("?")?;
    let help = "quit and print the report";
    shows(&terminal, help)?;
    shows(&terminal, "freeze")?;
    terminal.press("Escape")?;
    // A key that came in the same read would make one key with Alt of the two.
    terminal.wait_until("help should be gone", |screen| !screen.contains(help))?;
    // Past `time` to `waiting`.
    for _ in 0..2 {
        terminal.press("Tab")?;
    }
    shows(&terminal, "Locks$Cart")?;
    terminal.press("q")?;
    shows(&terminal, "gave back: 0")?;
    assert_eq!(jvm.flag("DTraceMonitorProbes")?, "false");
    jvm.finish()?;
    Ok(())
}

/// What the program does between two looks at the screen, so that what is told grows if it is on.
const PIECE: &str = "SPIN 20";
/// After so many pieces without a change a row stands still, once the screen has shown why.
const STILL: usize = 50;

/// Waits until the row of the marker has grown, or stays as it is for [`STILL`] pieces of work.
fn row(terminal: &Terminal, jvm: &mut Visited, grows: bool) -> Result<()> {
    let look = || -> Result<String> {
        let screen = shows(terminal, "cool")?;
        // Sentences name it within a line; a row begins with it.
        let is_row =
            |line: &&str| line.trim_start_matches(|letter: char| !letter.is_alphanumeric()).starts_with("cool ");
        screen.lines().find(is_row).map(str::to_owned).context("no row of the marker")
    };
    let mut last = look()?;
    let mut same = 0;
    let reached = until("the row", || {
        jvm.ask(PIECE)?;
        let now = look()?;
        same = if now == last { same + 1 } else { 0 };
        let reached = grows && now != last || !grows && same > STILL;
        last = now;
        Ok(reached.then_some(()))
    });
    reached.with_context(|| format!("the row should grow: {grows}; it is {last}"))
}

#[test]
fn a_key_switches_a_marker_off_and_on_again() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("r.json");
    let mut jvm = Visited::start(&jdk::any()?)?;
    jvm.ask(PIECE)?;
    let (jtrace, marker) = (jtrace::binary()?, "'cool=Spinning$*::cool'");
    let path = quoted(&file);
    let command =
        format!("{} markers {} --tui --marker {marker} -o {path}; echo ended: $?; cat", quoted(&jtrace), jvm.pid());
    let terminal = Terminal::start(&command, 120, 40)?;
    shows(&terminal, "2 chosen")?;
    terminal.press("2")?;
    row(&terminal, &mut jvm, true)?;
    terminal.press("o")?;
    row(&terminal, &mut jvm, false)?;
    terminal.press("o")?;
    row(&terminal, &mut jvm, true)?;
    terminal.press("q")?;
    shows(&terminal, "ended: 0")?;
    let report = Report::parse(&std::fs::read(&file)?)?;
    let decisions = report.0["completeness"]["decisions"].as_array().context("no decisions")?;
    let actions: Vec<&str> = decisions.iter().filter_map(|decision| decision["action"].as_str()).collect();
    ensure!(actions == ["held", "released"], "{actions:?}");
    ensure!(report.missing().iter().any(|text| text.contains("because that was asked for")), "{:?}", report.missing());
    jvm.finish()
}
