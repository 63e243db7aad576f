//! `cargo xtask demo --readme`: the screen in README.md is that of a real session of the demo, at a fixed size.

use std::fs;

use ::tests::terminal::{Terminal, quoted};
use anyhow::{Context as _, Result, ensure};

use crate::{dist, process, workspace};

/// Size of the terminal: as wide as a page of text shows without scrolling.
const COLUMNS: u16 = 108;
const ROWS: u16 = 38;

/// The line of README.md before the block that holds the screen.
const BEFORE: &str = "What `jtrace attach` shows for the demo's JVM";

/// Shows the demo's JVM for ten seconds in a terminal and writes its screen into README.md.
pub(super) fn take(pid: u32) -> Result<()> {
    let sudo = if process::is_root() { "" } else { "sudo -E " };
    let jtrace = dist::binary();
    let command = format!("{sudo}{} attach {pid} --tui --duration 60s; cat", quoted(&jtrace));
    let terminal = Terminal::start(&command, COLUMNS, ROWS)?;
    let screen =
        terminal.wait_until("ten seconds should pass", |screen| seconds(screen).is_some_and(|at| at >= 10.0))?;
    terminal.press("q")?;
    terminal.wait_until("the terminal should be given back", |screen| !screen.contains("q quit"))?;
    let path = workspace::root().join("README.md");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let changed = with_screen(&text, &screen)?;
    fs::write(&path, changed).with_context(|| format!("cannot write {}", path.display()))?;
    println!("demo: the screen in {} is new", path.display());
    Ok(())
}

/// The length of the session, which stands at the end of the first line: `10.3 s`.
pub(super) fn seconds(screen: &str) -> Option<f64> {
    screen.lines().next()?.trim_end().strip_suffix(" s")?.rsplit(' ').next()?.parse().ok()
}

/// README.md with another screen.
fn with_screen(text: &str, screen: &str) -> Result<String> {
    const BEGIN: &str = "```text\n";
    const END: &str = "\n```";
    let before = text.find(BEFORE).with_context(|| format!("README.md has no line `{BEFORE}`"))?;
    let begin = before + text[before..].find(BEGIN).context("no block follows it")? + BEGIN.len();
    let end = begin + text[begin..].find(END).context("the block has no end")?;
    let lines: Vec<&str> = screen.lines().map(str::trim_end).collect();
    ensure!(!screen.contains("```"), "the screen cannot stand in a block of Markdown");
    Ok(format!("{}{}{}", &text[..begin], lines.join("\n").trim_end(), &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_behind_the_sentence_is_replaced() {
        let text = format!("# x\n```text\nother\n```\n{BEFORE} (`q`):\n\n```text\nold\n```\n\nmore\n");
        let expected = format!("# x\n```text\nother\n```\n{BEFORE} (`q`):\n\n```text\na\n b\n```\n\nmore\n");
        assert_eq!(with_screen(&text, "a   \n b\n\n\n").unwrap(), expected);
        assert!(with_screen("nothing", "a").is_err());
    }

    #[test]
    fn readme_has_such_a_block() {
        let text = fs::read_to_string(workspace::root().join("README.md")).unwrap();
        assert!(with_screen(&text, "a").unwrap().contains("```text\na\n```"));
    }

    #[test]
    fn the_length_of_a_session_is_read_from_its_first_line() {
        assert_eq!(seconds("16867 com.shop.Demo          9.77 s  \nx"), Some(9.77));
        assert_eq!(seconds("16867 com.shop.Demo"), None);
    }
}
