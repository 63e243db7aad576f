//! The unwinding tables of real files, row by row compared with what `readelf` makes of the same `.eh_frame`.
//!
//! A file or a tool that is not there is skipped with a line that says so. `JTRACE_LIBJVMS` adds files (separated by `:`).

#![expect(clippy::print_stdout, reason = "a skipped test says why, and a passed one how much it compared")]

mod readelf;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use object::ReadCache;
use readelf::{Function, Told, functions_of_readelf, hex, rule_of};
use tracer_common::unwind::{Row, Rule, RuleBase};
use tracer_jvm::{
    jvm::memory::Memory,
    symbol::native::NativeSymbols,
    unwind::{
        regions::{self, Tables},
        table,
    },
};

/// Files that most machines have.
const FILES: [&str; 7] = [
    "/lib/x86_64-linux-gnu/libc.so.6",
    "/lib/x86_64-linux-gnu/libm.so.6",
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/x86_64-linux-gnu/libstdc++.so.6",
    "/lib/x86_64-linux-gnu/libcrypto.so.3",
    "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so",
    "/usr/lib/jvm/temurin-25-jdk-amd64/lib/server/libjvm.so",
];
/// What the project's own JDKs have, below `target/jdks/RELEASE/lib`.
const LIBRARIES: [&str; 4] = ["server/libjvm.so", "libjava.so", "libsimdsort.so", "libjli.so"];

fn files() -> Vec<PathBuf> {
    let jdks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/jdks");
    let of_jdks =
        ["11", "17", "21", "25"].iter().flat_map(|jdk| LIBRARIES.map(|name| jdks.join(jdk).join("lib").join(name)));
    let more = std::env::var_os("JTRACE_LIBJVMS").unwrap_or_default();
    let more: Vec<PathBuf> = std::env::split_paths(&more).filter(|path| !path.as_os_str().is_empty()).collect();
    let (found, missing): (Vec<_>, Vec<_>) =
        FILES.iter().map(PathBuf::from).chain(of_jdks).chain(more).partition(|path| path.is_file());
    for path in missing {
        println!("skipped: {} does not exist", path.display());
    }
    assert!(!found.is_empty(), "no file to compare");
    found
}

/// The kernel side's way to find a rule.
fn rule_at(rows: &[Row], address: u64) -> Rule {
    let behind = rows.partition_point(|row| u64::from(row.address) <= address);
    behind.checked_sub(1).map_or(Rule::NONE, |place| rows[place].rule)
}

#[derive(Debug, Default)]
struct Compared {
    rows: usize,
    expressions: BTreeMap<u8, usize>,
    roots: usize,
    signals: usize,
    gaps: usize,
    mismatches: Vec<String>,
}

fn compare(rows: &[Row], functions: &[Function]) -> Compared {
    let mut compared = Compared::default();
    let covered: BTreeSet<(u64, u64)> = functions.iter().map(|function| (function.start, function.end)).collect();
    for function in functions.iter().filter(|function| function.start < function.end) {
        // A linkage table without entries has a row behind its end.
        let told: Vec<(u64, &Told)> =
            function.rows.range(..function.end).map(|(address, told)| (*address, told)).collect();
        let ends = told.iter().skip(1).map(|(address, _)| *address).chain([function.end]);
        for (&(start, told), end) in told.iter().zip(ends) {
            // Both ends of each stretch: a row that is missing or too long shows at one of them.
            for address in [start, end - 1] {
                let is = rule_at(rows, address);
                let should = if function.signal { Some(Rule::SIGNAL) } else { rule_of(told) };
                compared.rows += 1;
                match should {
                    Some(should) if should != is => {
                        compared.mismatches.push(format!("{address:x}: {told:?} gave {is:?}, not {should:?}"));
                    }
                    Some(Rule::ROOT) => compared.roots += 1,
                    Some(Rule::SIGNAL) => compared.signals += 1,
                    Some(_) => {}
                    None => *compared.expressions.entry(is.base()).or_default() += 1,
                }
            }
        }
        // The first function that begins at or behind the end must begin at it, or nothing is known there.
        let next = covered.range((function.end, 0)..).find(|(start, end)| start < end);
        if next.is_none_or(|(start, _)| *start != function.end) {
            compared.gaps += 1;
            if rule_at(rows, function.end) != Rule::NONE {
                compared.mismatches.push(format!("{:x}: a rule behind the end of a function", function.end));
            }
        }
    }
    compared
}

#[test]
fn every_row_says_what_readelf_says() {
    for path in files() {
        let started = Instant::now();
        let table = table::read(&ReadCache::new(File::open(&path).unwrap())).unwrap();
        let took = started.elapsed();
        let output = Command::new("readelf").env("LC_ALL", "C").arg("--debug-dump=frames-interp").arg(&path).output();
        let Ok(output) = output else {
            println!("skipped: readelf is not installed");
            return;
        };
        let functions = functions_of_readelf(&String::from_utf8_lossy(&output.stdout));
        let compared = compare(&table.rows, &functions);
        let Compared { rows, expressions, roots, signals, gaps, mismatches } = &compared;
        println!(
            "{}: {} rows in {took:?}, {} dropped, {} damaged; {} functions, {rows} addresses compared, expressions \
             {expressions:?}, {roots} roots, {signals} in signal frames, {gaps} gaps, {} mismatches",
            path.display(),
            table.rows.len(),
            table.dropped,
            table.damaged,
            functions.len(),
            mismatches.len(),
        );
        assert!(functions.len() > 1, "readelf was not understood");
        assert_eq!(mismatches.first(), None, "{} mismatches in {}", mismatches.len(), path.display());
        assert_eq!((table.dropped, table.damaged), (0, 0));
    }
}

/// Where a thread stands that waits in a call of the kernel: program counter and stack pointer. `None` while it runs.
fn waits_at(task: &Path) -> Option<(u64, u64)> {
    let text = std::fs::read_to_string(task.join("syscall")).ok()?;
    let mut words = text.split_whitespace().rev().map(|word| hex(word.strip_prefix("0x").unwrap_or("0")));
    let (pc, sp) = (words.next()?, words.next()?);
    (pc != 0).then_some((pc, sp))
}

/// Waits until a thread stands in a call of the kernel whose number and arguments begin like this.
fn wait_for(task: &Path, call: &str) -> (u64, u64) {
    for _ in 0..1_000_000 {
        let text = std::fs::read_to_string(task.join("syscall")).expect("a thread that is there");
        if text.starts_with(call)
            && let Some(registers) = waits_at(task)
        {
            return registers;
        }
        std::thread::yield_now();
    }
    unreachable!("{} never waits in call {call}", task.display());
}

/// What rbp must be in a function that uses it as a frame pointer: the kernel does not tell it, so the first pair of a higher
/// address of the stack and an address of code is taken for the frame's.
fn frame_pointer(memory: &Memory, tables: &Tables, sp: u64) -> Option<u64> {
    (sp..).step_by(8).take(1000).find(|at| {
        let (Ok(next), Ok(code)) = (memory.read_u64(*at), memory.read_u64(at + 8)) else { return false };
        let known = tables.regions.iter().any(|region| (region.start..region.end).contains(&code));
        known && next > *at && next - at < 1 << 16
    })
}

/// Goes from frame to frame as the kernel side does. The frames, and the base of the rule that could not be followed;
/// [`RuleBase::Root`] at the end of a complete walk.
fn walk(memory: &Memory, tables: &Tables, (mut pc, mut sp): (u64, u64)) -> (Vec<u64>, u8) {
    let mut frames = vec![pc];
    let mut fp = None;
    for depth in 0..1000 {
        let at = pc - u64::from(depth != 0);
        let Some(region) = tables.regions.iter().find(|region| (region.start..region.end).contains(&at)) else {
            return (frames, RuleBase::None as u8);
        };
        let rows = &tables.rows[region.first_row as usize..][..region.rows as usize];
        let rule = rule_at(rows, at - region.bias);
        let base = rule.base();
        let distance = u64::from(rule.cfa_words()) * 8;
        if base == RuleBase::Rbp as u8 && fp.is_none() {
            fp = frame_pointer(memory, tables, sp);
        }
        let cfa = match (base, fp) {
            (base, _) if base == RuleBase::Rsp as u8 => sp + distance,
            (base, Some(fp)) if base == RuleBase::Rbp as u8 => fp + distance,
            _ => return (frames, base),
        };
        assert!(cfa > sp, "the stack does not rise at {at:x}");
        if rule.rbp_words() != 0 {
            fp = Some(memory.read_u64(cfa - u64::from(rule.rbp_words()) * 8).expect("a word of the stack"));
        }
        pc = memory.read_u64(cfa - 8).expect("a word of the stack");
        sp = cfa;
        frames.push(pc);
    }
    unreachable!("more than 1000 frames: {frames:x?}");
}

/// The call that reads, and the same from the standard input; a program that is being loaded reads from others.
const READ: &str = "0 ";
const READ_INPUT: &str = "0 0x0 ";

#[test]
fn a_waiting_thread_unwinds_to_where_it_was_started() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        sender.send(std::fs::read_link("/proc/thread-self").unwrap()).unwrap();
        std::io::Read::read(&mut reader, &mut [0]).unwrap()
    });
    let task = Path::new("/proc").join(receiver.recv().unwrap());
    let registers = wait_for(&task, READ);
    let memory = Memory::open(std::process::id()).unwrap();
    let tables = regions::tables(&memory).unwrap();
    let (frames, end) = walk(&memory, &tables, registers);
    let mut symbols = NativeSymbols::new(&memory);
    let names: Vec<String> =
        frames.iter().enumerate().map(|(depth, pc)| symbols.frame(*pc, depth != 0).to_string()).collect();
    drop(writer);
    assert_eq!(thread.join().unwrap(), 0);
    assert_eq!(end, RuleBase::Root as u8, "{names:#?}");
    assert_eq!(names[0], "libc.so.6!read");
    let me = "unwind_tables::a_waiting_thread_unwinds_to_where_it_was_started::{closure#0}";
    let old = "unwind_tables::a_waiting_thread_unwinds_to_where_it_was_started::{{closure}}";
    assert!(names.iter().any(|name| name.ends_with(me) || name.ends_with(old)), "{names:#?}");
}

#[test]
fn every_program_begins_at_a_root() {
    let jdks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/jdks");
    let launchers = ["11", "17", "21", "25"].map(|jdk| jdks.join(jdk).join("bin/java"));
    let others = ["/proc/self/exe", "/bin/cat", "/usr/lib/jvm/java-17-openjdk-amd64/bin/java"].map(PathBuf::from);
    for path in launchers.into_iter().chain(others).filter(|path| path.is_file()) {
        let data = std::fs::read(&path).unwrap();
        let entry = u64::from_le_bytes(data[24..32].try_into().unwrap());
        let rows = table::read(&*data).unwrap().rows;
        // The first instruction, and the call of `main`'s caller some thirty bytes later.
        assert_eq!([entry, entry + 32].map(|at| rule_at(&rows, at)), [Rule::ROOT; 2], "{}", path.display());
    }
}

#[test]
fn the_main_thread_of_another_program_unwinds_to_its_start() {
    let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let task = PathBuf::from(format!("/proc/{}", child.id()));
    let registers = wait_for(&task, READ_INPUT);
    let memory = Memory::open(child.id()).unwrap();
    let tables = regions::tables(&memory).unwrap();
    let (frames, end) = walk(&memory, &tables, registers);
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(end, RuleBase::Root as u8, "{frames:x?}");
    assert!(frames.len() > 3, "{frames:x?}");
}

#[test]
fn the_own_process_has_tables_for_all_of_its_files() {
    let memory = Memory::open(std::process::id()).unwrap();
    let mut tables = regions::tables(&memory).unwrap();
    let here = the_own_process_has_tables_for_all_of_its_files as fn() as usize as u64;
    assert_eq!(tables.notes, Vec::<String>::new());
    assert!(tables.regions.len() >= 4 && tables.regions.iter().all(|region| region.rows > 0), "{:?}", tables.regions);
    assert!(tables.regions.windows(2).all(|pair| pair[0].end <= pair[1].start));
    let region = tables.regions.iter().find(|region| (region.start..region.end).contains(&here)).unwrap();
    let rows = &tables.rows[region.first_row as usize..][..region.rows as usize];
    assert_eq!(Some(rule_at(rows, here - region.bias)), Rule::new(RuleBase::Rsp, 1, 0));
    let before = (tables.regions.clone(), tables.rows.len());
    assert!(!tables.update(&memory).unwrap());
    assert_eq!((tables.regions, tables.rows.len()), before);
}

#[test]
fn a_program_that_starts_later_is_added_even_if_its_file_was_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("later");
    std::fs::copy("/bin/cat", &program).unwrap();
    let script = format!("read line; exec {}", program.display());
    let mut child =
        Command::new("sh").args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let task = PathBuf::from(format!("/proc/{}", child.id()));
    wait_for(&task, READ_INPUT);
    let memory = Memory::open(child.id()).unwrap();
    let mut tables = regions::tables(&memory).unwrap();
    let before = tables.rows.clone();
    let mut input = child.stdin.take().unwrap();
    // The first line is the shell's, the second comes back from the program.
    std::io::Write::write_all(&mut input, b"go\n").unwrap();
    std::io::Write::write_all(&mut input, b"x").unwrap();
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut [0]).unwrap();
    std::fs::remove_file(&program).unwrap();
    let registers = wait_for(&task, READ_INPUT);
    let changed = tables.update(&memory).unwrap();
    let (frames, end) = walk(&Memory::open(child.id()).unwrap(), &tables, registers);
    let maps = std::fs::read_to_string(task.join("maps")).unwrap();
    drop(input);
    child.wait().unwrap();
    assert!(maps.contains("later (deleted)"), "{maps}");
    assert_eq!((changed, tables.notes.as_slice()), (true, &[][..]));
    assert_eq!(end, RuleBase::Root as u8, "{frames:x?}");
    // Rows only grow, and those of libc, which both programs have, came once.
    let new = table::read(&ReadCache::new(File::open("/bin/cat").unwrap())).unwrap().rows;
    assert!(tables.rows.starts_with(&before));
    assert_eq!(tables.rows[before.len()..], new);
}
