//! The probe sites of real libjvm.so files, compared with what `readelf` prints about them.
//!
//! A JDK or a tool that is not there is skipped with a line that says so. `JTRACE_LIBJVMS` adds files (separated by `:`).

#![expect(clippy::print_stdout, reason = "a skipped test says why")]

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use tracer::jvm::{
    elf::{self, Elf},
    usdt,
};

/// Places where the JDKs of a development machine have their libjvm.so.
const LIBJVMS: [&str; 2] = [
    "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so",
    "/usr/lib/jvm/temurin-25-jdk-amd64/lib/server/libjvm.so",
];

fn libjvms() -> Vec<PathBuf> {
    let more = std::env::var_os("JTRACE_LIBJVMS").unwrap_or_default();
    let more: Vec<PathBuf> = std::env::split_paths(&more).filter(|path| !path.as_os_str().is_empty()).collect();
    let (found, missing): (Vec<_>, Vec<_>) =
        LIBJVMS.iter().map(PathBuf::from).chain(more).partition(|path| path.is_file());
    for path in missing {
        println!("skipped: {} does not exist", path.display());
    }
    found
}

/// Runs a tool of binutils; `None`, with a printed reason, where it is not installed.
fn run(tool: &str, flags: &[&str], files: &[&Path]) -> Option<String> {
    match Command::new(tool).env("LC_ALL", "C").args(flags).args(files).output() {
        Ok(output) => {
            assert!(output.status.success(), "{tool} {flags:?}: {}", String::from_utf8_lossy(&output.stderr));
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Err(error) => {
            println!("skipped: {tool}: {error}");
            None
        }
    }
}

/// One site in the words of both readers: provider, name, location, base, arguments.
type Row = (String, String, u64, u64, String);

fn rows_of_readelf(text: &str) -> Vec<Row> {
    let hex = |text: &str| u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).expect("a hex number");
    let mut rows: Vec<Row> = Vec::new();
    for line in text.lines() {
        if let Some((_, provider)) = line.split_once("Provider: ") {
            rows.push((provider.trim().to_owned(), String::new(), 0, 0, String::new()));
        }
        let Some(row) = rows.last_mut() else { continue };
        let line = line.trim();
        if let Some(name) = line.strip_prefix("Name: ") {
            name.clone_into(&mut row.1);
        } else if let Some(addresses) = line.strip_prefix("Location: ") {
            let mut addresses = addresses.split(", ");
            row.2 = hex(addresses.next().expect("location"));
            row.3 = hex(addresses.next().expect("base").trim_start_matches("Base: "));
        } else if let Some(arguments) = line.strip_prefix("Arguments:") {
            arguments.trim().clone_into(&mut row.4);
        }
    }
    rows
}

#[test]
fn sites_equal_those_of_readelf() {
    for path in libjvms() {
        let Some(text) = run("readelf", &["-nW"], &[&path]) else { return };
        let theirs = rows_of_readelf(&text);
        let data = elf::read_file(&path).expect("readable");
        let sites = usdt::read(&Elf::parse(&data).expect("an ELF file"));
        let ours: Vec<Row> = sites
            .sites
            .iter()
            .map(|s| (s.provider.clone(), s.name.clone(), s.pc, s.base, s.arguments.trim().to_owned()))
            .collect();
        assert_eq!(ours, theirs, "{}", path.display());
        assert!(ours.len() > 400, "{}: {} sites", path.display(), ours.len());
        assert_eq!(sites.errors, [], "{}", path.display());
        assert_eq!(sites.refused().count(), 0, "{}", path.display());
        let refused: Vec<_> = sites.refused_operands().map(|(site, why)| format!("{}: {why}", site.name)).collect();
        assert_eq!(refused, [""; 0], "{}", path.display());
        println!("{}: {} sites", path.display(), ours.len());
    }
}

#[test]
fn every_site_is_a_nop_in_the_file() {
    for path in libjvms() {
        let data = elf::read_file(&path).expect("readable");
        for site in usdt::read(&Elf::parse(&data).expect("an ELF file")).sites {
            let offset = usize::try_from(site.file_offset.expect("attachable")).expect("small");
            assert_eq!(data[offset], 0x90, "{}: {} at {offset:#x}", path.display(), site.name);
        }
    }
}

#[test]
fn printed_operands_are_those_of_the_file() {
    for path in libjvms() {
        let data = elf::read_file(&path).expect("readable");
        for site in usdt::read(&Elf::parse(&data).expect("an ELF file")).sites {
            for (operand, text) in site.operands.iter().zip(site.arguments.split_whitespace()) {
                // This one is brought to its width, everything else is printed as it was.
                let text = if text == "4@$-1" { "4@$4294967295" } else { text };
                assert_eq!(usdt::arg::format(operand.as_ref().expect("readable")), text, "{}", site.name);
            }
        }
    }
}
