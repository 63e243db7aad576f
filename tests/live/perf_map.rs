//! `jtrace perf-map` against what the JVM itself tells of its code.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt as _, symlink},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk::{self, Jdk},
    jtrace,
    jvm::{Jvm, Launch},
};

/// Code by its first address: its size and the name of its method.
type Map = BTreeMap<u64, (u64, String)>;

/// A file in `/tmp` that is gone at the end.
struct Remove(PathBuf);

impl Drop for Remove {
    fn drop(&mut self) {
        // It may never have been made.
        let _: std::io::Result<()> = fs::remove_file(&self.0);
    }
}

/// A JVM that has compiled what it will compile.
fn warm(jdk: &Jdk) -> Result<Jvm> {
    let mut jvm = Launch::new(jdk, "jit", "Jit").flags(&["-Xbatch"]).start()?;
    jvm.work()?;
    Ok(jvm)
}

fn parse(text: &str) -> Result<Map> {
    let line = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let mut word = || words.next().with_context(|| format!("not a line of a map: {line}"));
        let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16);
        let (start, size) = (number(word()?)?, number(word()?)?);
        Ok((start, (size, word()?.to_owned())))
    };
    text.lines().map(line).collect()
}

fn own(jvm: &Jvm) -> Result<Map> {
    let pid = jvm.pid().to_string();
    parse(&jtrace::succeed(&["perf-map", "--stdout", &pid])?.text())
}

/// What the JVM says: its own map, or on 11, which has none, its list of compiled code.
fn told(jdk: &Jdk, jvm: &Jvm) -> Result<Map> {
    if jdk.release < 17 {
        return jvm.jcmd(&["Compiler.codelist"])?.lines().map(listed).collect();
    }
    let map = Remove(PathBuf::from(format!("/tmp/perf-{}.map", jvm.pid())));
    jvm.jcmd(&["Compiler.perfmap"])?;
    let map = parse(&fs::read_to_string(&map.0)?)?;
    Ok(map.into_iter().map(|(start, (size, name))| (start, (size, method(&name)))).collect())
}

/// `2 4 0 java.lang.Object.<init>()V [header, begin - end]`.
fn listed(line: &str) -> Result<(u64, (u64, String))> {
    let parts = line.rsplit_once(" [").and_then(|(method, addresses)| {
        let (begin, end) = addresses.trim_end_matches(']').split_once(", ")?.1.split_once(" - ")?;
        let name = method.splitn(4, ' ').nth(3)?.split('(').next()?;
        let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
        Some((number(begin)?, number(end)?, without_addresses(name)))
    });
    let (begin, end, name) = parts.with_context(|| format!("not a line of the list: {line}"))?;
    Ok((begin, (end - begin, name)))
}

/// `long Jit.sum(Jit$Shape, int)` is `Jit.sum`; names of stubs stay as they are (`StubRoutines (1)`).
fn method(external: &str) -> String {
    let typed = external.split_once('(').and_then(|(before, _)| before.rsplit_once(' '));
    without_addresses(typed.map_or(external, |(_, name)| if name.is_empty() { external } else { name }))
}

/// A hidden class without its address: `A$$Lambda/0x00007f0011001000.run`.
fn without_addresses(name: &str) -> String {
    match name.split_once("/0x") {
        Some((class, rest)) => format!("{class}{}", rest.trim_start_matches(|digit: char| digit.is_ascii_hexdigit())),
        None => name.to_owned(),
    }
}

#[test]
fn the_map_is_the_jvms_own_entry_for_entry() -> Result<()> {
    for jdk in jdk::all()? {
        let mut jvm = warm(&jdk)?;
        // Asking makes the JVM run, and compile, a little itself: what stood there before and after must have been told.
        jvm.jcmd(&["VM.version"])?;
        let (before, told, after) = (own(&jvm)?, told(&jdk, &jvm)?, own(&jvm)?);
        for (start, entry) in &told {
            let known = before.get(start) == Some(entry) || after.get(start) == Some(entry);
            assert!(known, "JDK {}: {start:#x} {entry:?} is {:?}", jdk.release, after.get(start));
        }
        let methods_only = jdk.release < 17;
        for (start, entry) in before.iter().filter(|(start, entry)| after.get(start) == Some(entry)) {
            let known = told.contains_key(start) || methods_only;
            assert!(known, "JDK {}: the JVM does not know {start:#x} {entry:?}", jdk.release);
        }
        assert!(told.len() > 100, "JDK {}: only {} entries", jdk.release, told.len());
        assert!(told.values().any(|(_, name)| name == "Jit.sum"), "JDK {}", jdk.release);
        jvm.finish()?;
    }
    Ok(())
}

#[test]
fn the_map_lies_where_perf_looks_and_in_a_container_in_its_own_tmp() -> Result<()> {
    for jdk in jdk::all()? {
        let launch = Launch::new(&jdk, "jit", "Jit").flags(&["-Xbatch"]);
        for container in [false, true] {
            let mut jvm = if container { launch.start_in_container(&jdk)? } else { launch.start()? };
            jvm.work()?;
            let list = jtrace::succeed(&["list", "--json"])?.text();
            let list: serde_json::Value = serde_json::from_str(&list)?;
            let rows = list["jvms"].as_array().context("no list")?;
            let row = rows.iter().find(|row| row["pid"] == jvm.pid()).context("not listed")?;
            let name = format!("perf-{}.map", row["namespace_pid"]);
            let map = Remove(Path::new(&format!("/proc/{}/root/tmp", jvm.pid())).join(&name));
            let said = jtrace::succeed(&["perf-map", &jvm.pid().to_string()])?.text();
            let text = fs::read_to_string(&map.0)?;
            assert!(text.lines().any(|line| line.ends_with(" Jit.sum")), "JDK {}", jdk.release);
            assert!(said.starts_with(&format!("wrote {} entries to /tmp/{name}", text.lines().count())), "{said}");
            let of_process = fs::metadata(format!("/proc/{}", jvm.pid()))?;
            let of_map = fs::metadata(&map.0)?;
            assert_eq!((of_map.uid(), of_map.mode() & 0o777), (of_process.uid(), 0o644));
            drop(map);
            jvm.finish()?;
        }
    }
    Ok(())
}

#[test]
fn a_link_in_the_place_of_the_map_is_not_followed() -> Result<()> {
    let jdk = jdk::all()?.into_iter().next().context("no JDK")?;
    let mut jvm = warm(&jdk)?;
    let directory = tempfile::tempdir()?;
    let victim = directory.path().join("victim");
    fs::write(&victim, "precious")?;
    let map = Remove(PathBuf::from(format!("/tmp/perf-{}.map", jvm.pid())));
    // A process that had this number before may have left one.
    let _: Result<(), std::io::Error> = fs::remove_file(&map.0);
    symlink(&victim, &map.0)?;
    let said = jtrace::refuse(&["perf-map", &jvm.pid().to_string()], 1)?;
    ensure!(said.contains("no file"), "{said}");
    assert_eq!(fs::read_to_string(&victim)?, "precious");
    jvm.finish()?;
    Ok(())
}
