//! What a network loses is told beside what threads wait for: it is sent again, which the kernel counts.

use std::process::Command;

use anyhow::{Result, ensure};
use serde_json::Value;
use tests::{
    jdk, jtrace,
    jvm::Launch,
    patience::until,
    report::{Report, cell},
};

use crate::not_accepted::ALONE;

/// The server's address has no way to anywhere any more.
const LOSES: &str =
    "ip rule add pref 50 from 127.0.0.2 blackhole && ip rule add pref 100 lookup local && ip rule del pref 0";

#[test]
fn segments_that_are_lost_are_told_with_the_peer_and_none_before() -> Result<()> {
    let launch = Launch::new(&jdk::debian()?, "threads", "Unheard");
    let directory = tempfile::tempdir()?;
    let mut command = Command::new("unshare");
    command.args(["--net", "python3", "-c", ALONE]).args(launch.command(directory.path()));
    let mut jvm = launch.start_by(&mut command, directory)?;
    let pid = jvm.pid().to_string();
    let peer = format!("TCP 127.0.0.2:{} of this JVM", jvm.work()?.get("port")?);
    let rows = |report: &Report| -> Result<_> {
        let is_it = |row: &tests::report::Row| row.get("peer").and_then(Value::as_str) == Some(peer.as_str());
        Ok(report.table("threads", "peers")?.into_iter().find(is_it))
    };
    let report = || Report::parse(&jtrace::succeed(&["attach", &pid, "-l", "threads", "-d", "5s", "--json"])?.stdout);
    let before = until("the connection is looked at", || rows(&report()?))?;
    ensure!(cell(&before, "resent")? == 0 && cell(&before, "looks_unanswered")? == 0, "{before:?}");
    ensure!(cell(&before, "rtt_ns")? > 0, "{before:?}");
    // What the server sends has nowhere to go, so nothing is acknowledged.
    let loses = ["-t", &pid, "-n", "sh", "-c", LOSES];
    ensure!(Command::new("nsenter").args(loses).status()?.success(), "nothing is lost");
    jvm.work()?;
    until("segments are sent again", || {
        let report = report()?;
        let Some(row) = rows(&report)? else { return Ok(None) };
        let (resent, unanswered) = (cell(&row, "resent")?, cell(&row, "looks_unanswered")?);
        let is_told = report.titles().iter().any(|title| title.ends_with("; the network loses what is sent"));
        ensure!(is_told == (resent >= 3 || unanswered >= 3), "{row:?}: {:?}", report.titles());
        Ok(is_told.then_some(()))
    })?;
    jvm.finish().map(drop)
}
