//! Connections that wait to be accepted are counted as the program made them, wherever the JVM runs.

use std::{collections::BTreeMap, process::Command};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tests::{
    jdk, jtrace,
    jvm::{Jvm, Launch},
    patience::until,
    report::{Report, cell},
};

/// Switches the interface to itself on that every network namespace has, and becomes another program.
pub(crate) const ALONE: &str = "import fcntl, os, socket, struct, sys\n\
                     fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh22x', b'lo', 1))\n\
                     os.execvp(sys.argv[1], sys.argv[1:])";

/// Numbers of a socket: how many wait, and may, and in how many looks of all no more could.
type Numbers = (u64, u64, bool);

/// A report with three looks in which nobody accepted, which the finding needs.
fn report(jvm: &Jvm) -> Result<Report> {
    let pid = jvm.pid().to_string();
    until("threads are looked at three times", || {
        let words = ["attach", &pid, "-l", "threads", "-d", "5s", "--json"];
        let report = Report::parse(&jtrace::succeed(&words)?.stdout)?;
        Ok(Some(report).filter(|report| report.summary("threads", "looks").is_ok_and(|looks| looks >= 3)))
    })
}

fn waits_as_it_should(jvm: &mut Jvm) -> Result<()> {
    let ports = jvm.work()?;
    let (named, full) = (ports.get("named")?, ports.get("full")?);
    let report = report(jvm)?;
    let socket = |port: u64| format!("TCP 127.0.0.1:{port}, listening");
    let mut found = BTreeMap::<String, Numbers>::new();
    for row in report.table("threads", "crowded")? {
        let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (looks, full) = (cell(&row, "in_a_row")?, cell(&row, "full")?);
        ensure!(full == 0 || full == looks, "{row:?}");
        found.insert(text("socket"), (cell(&row, "waiting_most")?, cell(&row, "limit")?, full > 0));
        if text("socket") == socket(named) {
            ensure!(text("acceptor").ends_with("-Acceptor") && text("site").starts_with("Doors.busy:"), "{row:?}");
        }
    }
    let expected = BTreeMap::from([(socket(named), (3, 5, false)), (socket(full), (3, 2, true))]);
    ensure!(found == expected, "{found:?}, and nobody waits at {}", ports.get("open")?);
    ensure!(report.findings().contains(&"not-accepted"), "{:?}", report.findings());
    Ok(())
}

#[test]
fn connections_that_nobody_accepts_are_counted_on_every_build() -> Result<()> {
    for jdk in jdk::builds()? {
        let mut jvm = Launch::new(&jdk, "threads", "Doors").start()?;
        waits_as_it_should(&mut jvm).with_context(|| format!("on {}", jdk.home.display()))?;
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn connections_to_a_jvm_in_a_network_namespace_of_its_own_are_counted_as_well() -> Result<()> {
    let launch = Launch::new(&jdk::any()?, "threads", "Doors");
    let directory = tempfile::tempdir()?;
    let mut command = Command::new("unshare");
    command.args(["--net", "python3", "-c", ALONE]).args(launch.command(directory.path()));
    let mut jvm = launch.start_by(&mut command, directory)?;
    waits_as_it_should(&mut jvm)?;
    jvm.finish().map(drop)
}
