//! All JVMs at a glance, and what is wrong with them, without attaching to any.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    jdk, jtrace,
    jvm::Launch,
    patience::until,
    process::Finished,
    terminal::{Terminal, quoted},
};

/// What is said of these JVMs after some looks.
fn said_of<const N: usize>(pids: [u32; N]) -> Result<[Value; N]> {
    let json: Value = serde_json::from_slice(&jtrace::succeed(&["top", "--json", "-d", "6s"])?.stdout)?;
    let jvms = json["jvms"].as_array().context("a list")?;
    let of = |pid: u32| jvms.iter().find(|jvm| jvm["pid"] == pid).with_context(|| format!("{pid} is not listed"));
    let said: Vec<Value> = pids.into_iter().map(|pid| of(pid).cloned()).collect::<Result<_>>()?;
    said.try_into().ok().context("as many as there were")
}

/// Clicks the first place of a text on the screen.
fn click(terminal: &Terminal, text: &str) -> Result<()> {
    let screen = terminal.wait_until(&format!("{text} should be shown"), |screen| screen.contains(text))?;
    let place = screen.lines().enumerate().find_map(|(row, line)| {
        line.find(text).map(|at| (line.get(..at).map_or(0, |before| before.chars().count()), row))
    });
    let (column, row) = place.context("it is shown")?;
    terminal.click(column, row)
}

/// A deadlock is found on every release, an idle program has nothing wrong, and both are left as they were.
#[test]
fn the_worst_of_each_jvm_is_said_and_none_is_changed() -> Result<()> {
    for jdk in jdk::all()? {
        let idle = Launch::new(&jdk, "idle", "Idle").start()?;
        let mut dead = Launch::new(&jdk, "deadlock", "Deadlock").arguments(&["circle"]).start()?;
        dead.work()?;
        let [quiet, said] = until("a deadlock is seen", || {
            let both = said_of([idle.pid(), dead.pid()])?;
            let findings = both[1]["reading"]["findings"].as_array();
            Ok(findings.is_some_and(|all| all.iter().any(|of| of["id"] == "deadlock")).then_some(both))
        })
        .with_context(|| format!("on JDK {}", jdk.release))?;
        for figure in ["heap_max_bytes", "resident_bytes", "threads"] {
            ensure!(said["reading"][figure].as_u64().is_some_and(|number| number > 0), "{figure}: {said}");
        }
        ensure!(said["reading"]["cpu_percent"].as_f64().is_some(), "{said}");
        ensure!(quiet["reading"]["findings"] == Value::Array(Vec::new()), "{quiet}");
        for jvm in [&idle, &dead] {
            ensure!(jvm.flag("DTraceMonitorProbes")? == "false", "looking changes nothing");
            let maps = std::fs::read_to_string(format!("/proc/{}/maps", jvm.pid()))?;
            ensure!(!maps.contains("jtrace"), "{maps}");
        }
    }
    Ok(())
}

/// The table has a line for each JVM, the screen the same, and Enter attaches, as a second click does.
///
/// Other tests' JVMs come and go meanwhile, some with a worse finding: the filter leaves this one alone on the screen.
#[test]
fn the_screen_shows_the_jvms_and_enter_or_a_second_click_attaches() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "deadlock", "Deadlock").arguments(&["circle"]).start()?;
    jvm.work()?;
    let table: Finished = jtrace::succeed(&["top", "-d", "6s"])?;
    ensure!(table.text().contains("Deadlock") && table.text().contains("PAUSES"), "{}", table.text());
    let command = format!("{} top; echo gone; cat", quoted(&jtrace::binary()?));
    let terminal = Terminal::start(&command, 120, 40)?;
    terminal.wait_until("the JVMs should be shown", |screen| screen.contains("s sort  / filter"))?;
    terminal.press("?")?;
    terminal.wait_until("the keys should be shown", |screen| screen.contains("attach to the JVM"))?;
    terminal.press("?")?;
    terminal.wait_until("the keys should be gone", |screen| !screen.contains("attach to the JVM"))?;
    let pid = jvm.pid().to_string();
    terminal.press("/")?;
    for letter in pid.chars().chain(['x']) {
        terminal.press(&letter.to_string())?;
    }
    terminal.wait_until("no JVM should match", |screen| screen.contains("no JVM matches the filter"))?;
    terminal.press("BSpace")?;
    terminal.press("Enter")?;
    let kept = format!("filter: {pid}  (Esc clears)");
    terminal.wait_until("the deadlock should be named", |screen| {
        screen.contains(&kept) && screen.contains("!!") && screen.contains("Deadlock")
    })?;
    click(&terminal, "MAIN CLASS")?;
    terminal.wait_until("it should be sorted by names", |screen| screen.contains("MAIN CLASS OR JAR▲"))?;
    terminal.press("Enter")?;
    terminal.wait_until("it should be attached to", |screen| screen.contains("own CPU"))?;
    terminal.press("q")?;
    terminal.wait_until("the JVMs should be shown again", |screen| screen.contains(&kept))?;
    for _ in 0..2 {
        click(&terminal, "Deadlock")?;
    }
    terminal.wait_until("it should be attached to", |screen| screen.contains("own CPU"))?;
    terminal.press("q")?;
    terminal.wait_until("the JVMs should be shown again", |screen| screen.contains(&kept))?;
    terminal.press("Escape")?;
    terminal.wait_until("the filter should be gone", |screen| screen.contains("s sort  / filter"))?;
    terminal.press("q")?;
    terminal.wait_until("the terminal should be given back", |screen| screen.contains("gone"))?;
    ensure!(jvm.process().is_running(), "the program has ended");
    Ok(())
}
