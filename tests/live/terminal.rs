//! The TUI once for real: in tmux, with keys sent and the screen read.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk, jtrace,
    jvm::Launch,
    patience::until,
    report::Report,
    terminal::{Terminal, quoted},
};

use crate::inside::restored::Visited;

/// What turns the direction of text around.
const BIDI: &str = "\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";

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

/// Where a text stands, in columns and rows.
fn place(screen: &str, text: &str) -> Result<(usize, usize)> {
    let found = screen.lines().enumerate().find_map(|(row, line)| Some((line.split_once(text)?.0, row)));
    let (before, row) = found.with_context(|| format!("no {text:?} in\n{screen}"))?;
    // The frames are of characters of one column each.
    Ok((before.chars().count(), row))
}

/// Tabs and their keys.
const TABS: [(&str, &str); 4] = [(" time ", "2"), (" waiting ", "3"), (" memory ", "4"), (" code ", "5")];
/// What only the first tab has.
const OVERVIEW: &str = "Where its time goes";
/// What it ends with before the first events are told.
const NOTHING_YET: &str = "complete: 0 emitted";
/// Which of the tables and charts of a tab is chosen, and how many it has, as its title says: `[1/12, n: next]`.
fn chosen_of(screen: &str) -> Option<[usize; 2]> {
    let (position, _) = screen.split_once(", n: next]")?;
    let (_, position) = position.rsplit_once('[')?;
    let (chosen, all) = position.split_once('/')?;
    Some([chosen.parse().ok()?, all.parse().ok()?])
}

/// The smallest screen that is promised, and one of a desk; names that would steer a terminal are in all of it.
#[test]
fn small_and_large_screens_are_drawn_whole_by_mouse_and_by_keys_whatever_names_there_are() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "names", "Names").start()?;
    for (columns, rows) in [(80, 24), (200, 60)] {
        let command = format!("{} attach {}; echo gave back: $?; cat", quoted(&jtrace::binary()?), jvm.pid());
        let terminal = Terminal::start(&command, columns, rows)?;
        shows(&terminal, "1 overview")?;
        jvm.work()?;
        // Then every tab has something, and none comes in between. A busy machine draws what came only every 2 s.
        let is_whole = |screen: &str| {
            let is_drawn = screen.contains(OVERVIEW) && TABS.iter().all(|(tab, _)| screen.contains(tab));
            is_drawn && screen.contains(" emitted = ") && !screen.contains(NOTHING_YET)
        };
        let first = terminal.wait_until("the overview of what the program did, and its tabs", is_whole)?;
        let mut seen = vec![first.clone()];
        let tables =
            |screen: &str| screen.lines().nth(3).unwrap_or_default().trim().chars().take(12).collect::<String>();
        let mut names = BTreeSet::new();
        for (tab, key) in TABS {
            let (column, row) = place(&first, tab)?;
            let (mut by_mouse, mut by_key) = (String::new(), String::new());
            // A table can come between both; there are few.
            for _ in 0..5 {
                terminal.click(column + 1, row)?;
                by_mouse = terminal.wait_until(tab, |screen| !screen.contains(OVERVIEW))?;
                terminal.press("1")?;
                shows(&terminal, OVERVIEW)?;
                terminal.press(key)?;
                by_key = terminal.wait_until(key, |screen| !screen.contains(OVERVIEW))?;
                if tables(&by_mouse) == tables(&by_key) {
                    break;
                }
                terminal.press("1")?;
                shows(&terminal, OVERVIEW)?;
            }
            assert_eq!(tables(&by_mouse), tables(&by_key), "{tab} is {key}:\n{by_mouse}\n{by_key}");
            ensure!(names.insert(tables(&by_mouse)), "another tab has the same tables:\n{by_mouse}");
            seen.push(by_mouse);
            // Here, too, one can come between.
            let mut at = chosen_of(&by_key);
            while let Some([chosen, all]) = at.filter(|[chosen, all]| chosen < all) {
                terminal.press("n")?;
                let is_next = |screen: &str| chosen_of(screen).is_some_and(|[next, _]| next > chosen);
                let next = terminal.wait_until(&format!("what follows table {chosen} of {all}"), is_next)?;
                at = chosen_of(&next);
                seen.push(next);
            }
            terminal.press("1")?;
            shows(&terminal, OVERVIEW)?;
        }
        for screen in &seen {
            let lines: Vec<&str> = screen.lines().collect();
            ensure!(lines.len() <= usize::from(rows), "{} lines of {rows}:\n{screen}", lines.len());
            let end = lines.last().context("an empty screen")?;
            ensure!(end.contains("q quit") || end.contains("emitted"), "the last line is not there:\n{screen}");
            ensure!(!screen.contains(|c: char| (c.is_control() && c != '\n') || BIDI.contains(c)), "{screen:?}");
        }
        ensure!(seen.iter().any(|screen| screen.contains("evil")), "no name that means harm in\n{}", seen.join("\n"));
        terminal.press("q")?;
        shows(&terminal, "gave back: 0")?;
    }
    jvm.finish()?;
    Ok(())
}

/// How the screen chooses a colour of the 256, of which it uses the first 16.
const COLOUR: &str = "\x1b[38;5;";

/// `NO_COLOR` is kept to on the screen as in text; what is chosen still stands out.
#[test]
fn a_screen_has_colours_unless_none_are_wanted() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "100"]).start()?;
    for (wanted, variable) in [(true, "-u NO_COLOR"), (false, "NO_COLOR=1")] {
        let command = format!("env {variable} {} attach {}; cat", quoted(&jtrace::binary()?), jvm.pid());
        let terminal = Terminal::start(&command, 80, 24)?;
        shows(&terminal, OVERVIEW)?;
        let styled = terminal.styled()?;
        ensure!(styled.contains(COLOUR) == wanted, "{variable}: {styled:?}");
        ensure!(styled.contains("\x1b[1;7m"), "the tab does not stand out: {styled:?}");
        terminal.press("q")?;
        terminal.wait_until("the terminal should be given back", |screen| !screen.contains("q quit"))?;
    }
    jvm.work()?;
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
