//! The probe sites of real libjvm.so files, compared with what `readelf` prints about them, and what is planned for
//! them, for copies without notes and for copies without symbols.
//!
//! A JDK or a tool that is not there is skipped with a line that says so. `JTRACE_LIBJVMS` adds files (separated by `:`).

#![expect(clippy::print_stdout, reason = "a skipped test says why")]

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

use tracer_common::record::EventKind;
use tracer_event::lens::Lens;
use tracer_jvm::jvm::{
    elf::{self, Elf},
    usdt,
};
use tracer_live::probe::{
    catalog::{Flag, LOOKS},
    clock::CLOCKS,
    plan::{Facts, Libjvm, Plan, plan},
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

/// A plan for all lenses, with all that is there on demand.
fn plan_of(path: &Path) -> Plan {
    let data = elf::read_file(path).expect("readable");
    let mut libjvm = Libjvm::read(&Elf::parse(&data).expect("an ELF file"));
    libjvm.find_outer(|offset, bytes| elf::read_at(path, offset, bytes)).expect("readable");
    plan(&libjvm, Lens::ALL, Facts::default(), true)
}

/// What the library in the JVM tells.
const INSIDE: [EventKind; 2] = [EventKind::IllegalTransition, EventKind::Marks];

fn kinds(plan: &Plan) -> BTreeSet<EventKind> {
    plan.sites.iter().map(|site| site.kind).collect()
}

#[test]
fn every_probe_of_every_lens_is_found_in_a_libjvm_with_notes_and_symbols() {
    for path in libjvms() {
        let plan = plan_of(&path);
        assert_eq!(plan.missing, [""; 0], "{}", path.display());
        // The kernel's clocks and looks at the JVM's structures have no sites in the file.
        let elsewhere = |kind: &EventKind| {
            LOOKS.contains(kind) || INSIDE.contains(kind) || CLOCKS.iter().any(|clock| clock.kind == *kind)
        };
        let expected = EventKind::ALL.iter().copied().filter(|kind| !elsewhere(kind)).collect();
        assert_eq!(kinds(&plan), expected, "{}", path.display());
        assert!(plan.flags == [Flag::Monitor, Flag::Alloc, Flag::Method] && plan.usdt && plan.symtab);
        assert_eq!(plan, plan_of(&path), "a plan is deterministic");
        println!("{}: {} sites planned", path.display(), plan.sites.len());
    }
}

/// An object is counted once: no function that is a site goes to another one. Read by `objdump`, which decodes every instruction.
#[test]
fn no_function_that_tells_of_an_object_leads_to_another_one() {
    for path in libjvms() {
        let plan = plan_of(&path);
        let sites: Vec<_> = plan.sites.iter().filter(|site| site.kind == EventKind::ObjectAlloc).collect();
        assert!(!sites.is_empty(), "{}", path.display());
        let elf = elf::read_file(&path).expect("readable");
        let elf = Elf::parse(&elf).expect("an ELF file");
        for site in &sites {
            let symbol = elf.symbols().find(|(_, symbol)| symbol.address == site.address).expect("a symbol").1;
            let range = [
                format!("--start-address={:#x}", symbol.address),
                format!("--stop-address={:#x}", symbol.address + symbol.size),
            ];
            let flags = ["-d", "--no-show-raw-insn", &range[0], &range[1]];
            let Some(code) = run("objdump", &flags, &[&path]) else { return };
            for other in sites.iter().filter(|other| other.address != site.address) {
                let goes = |line: &str| line.split_whitespace().any(|word| word == format!("{:x}", other.address));
                assert!(
                    !code.lines().any(goes),
                    "{}: {:#x} leads to {:#x}",
                    path.display(),
                    site.address,
                    other.address
                );
            }
        }
        println!("{}: {} functions tell of objects", path.display(), sites.len());
    }
}

/// Copies a libjvm.so with `objcopy` and plans the copy.
fn plan_of_copy(path: &Path, flags: &[&str]) -> Option<Plan> {
    let directory = tempfile::tempdir().expect("a directory");
    let copy = directory.path().join("libjvm.so");
    run("objcopy", flags, &[path, &copy])?;
    Some(plan_of(&copy))
}

#[test]
fn without_notes_the_plan_falls_back_on_functions_and_says_what_is_missing() {
    for path in libjvms() {
        let Some(plan) = plan_of_copy(&path, &["--remove-section", ".note.stapsdt"]) else { return };
        assert!(!plan.usdt && plan.symtab && plan.flags == [Flag::Alloc, Flag::Method]);
        let kinds = kinds(&plan);
        for kind in [
            EventKind::AllocInNewTlab,
            EventKind::AllocOutsideTlab,
            EventKind::SafepointBegin,
            EventKind::SafepointEnd,
            EventKind::ClassLoaded,
            EventKind::ClassUnloaded,
            EventKind::ThreadYield,
            EventKind::VmShutdown,
        ] {
            assert!(kinds.contains(&kind), "{}: {kind:?}", path.display());
        }
        assert_eq!(kinds.contains(&EventKind::GcBegin), kinds.contains(&EventKind::GcEnd));
        assert_eq!(kinds.contains(&EventKind::ThreadStart), kinds.contains(&EventKind::ThreadStop));
        assert!(!kinds.contains(&EventKind::MonitorContendedEnter) && !kinds.contains(&EventKind::ThreadParkBegin));
        for lens in ["locks", "jit"] {
            assert!(plan.missing.iter().any(|sentence| sentence.starts_with(&format!("{lens}: "))), "{lens}");
        }
        println!("{}: {} sites without notes", path.display(), plan.sites.len());
        plan.missing.iter().for_each(|sentence| println!("  {sentence}"));
    }
}

#[test]
fn without_symbols_the_notes_remain_and_what_comes_from_functions_is_missing() {
    for path in libjvms() {
        let whole = plan_of(&path);
        for flag in ["--strip-unneeded", "--strip-all"] {
            let Some(plan) = plan_of_copy(&path, &[flag]) else { return };
            assert!(!plan.symtab, "{flag}");
            let functions = [
                EventKind::AllocInNewTlab,
                EventKind::AllocOutsideTlab,
                EventKind::ThreadStarting,
                EventKind::ObjectAlloc,
                EventKind::MethodEntry,
                EventKind::MethodReturn,
                EventKind::FrameUnwound,
                EventKind::OutOfMemory,
            ];
            let functions: BTreeSet<_> = functions.into();
            assert!(plan.usdt, "strip keeps notes");
            assert_eq!(kinds(&plan), kinds(&whole).difference(&functions).copied().collect(), "{flag}");
            assert!(plan.missing.iter().any(|sentence| sentence.starts_with("libjvm.so has no `.symtab`")));
            println!("{} {flag}: usdt {}, {} sites", path.display(), plan.usdt, plan.sites.len());
        }
    }
}

#[test]
fn without_notes_and_symbols_only_exported_functions_are_left() {
    for path in libjvms() {
        let flags = ["--strip-all", "--remove-section", ".note.stapsdt"];
        let Some(plan) = plan_of_copy(&path, &flags) else { return };
        assert_eq!(kinds(&plan), [EventKind::ThreadYield, EventKind::ExceptionCreated].into(), "{}", path.display());
        assert!(!plan.usdt && !plan.symtab);
        let clocks = |lens: &Lens| CLOCKS.iter().any(|clock| clock.lenses.contains(lens));
        // What `calls` lacks, `methods` says already; the function of `exceptions` is exported.
        let is_whole = |lens: &Lens| matches!(lens, Lens::Calls | Lens::Exceptions);
        for lens in Lens::ALL.iter().filter(|lens| !clocks(lens) && !is_whole(lens) && !lens.is_inside()) {
            assert!(plan.missing.iter().any(|sentence| sentence.starts_with(lens.id())), "{lens:?}");
        }
    }
}
