//! Arming against a stand-in: this process and a byte of its own take the place of a JVM and its flag.

use std::{
    fs,
    process::{Command, Stdio},
    sync::atomic::AtomicU8,
};

use super::*;

const FLAG: &str = "DTraceMonitorProbes";

/// One process, this one, with one flag.
#[derive(Clone, Copy, Debug)]
struct StandIn<'a>(&'a AtomicU8);

impl Locations for StandIn<'_> {
    fn locate(&self, pid: u32, flags: &[&str]) -> Result<BTreeMap<String, u64>, Box<dyn StdError + Send + Sync>> {
        assert_eq!(pid, std::process::id());
        let address = self.0.as_ptr() as u64;
        Ok(flags.iter().filter(|flag| **flag == FLAG).map(|flag| ((*flag).to_owned(), address)).collect())
    }
}

fn place() -> (tempfile::TempDir, Journal) {
    let directory = tempfile::tempdir().unwrap();
    let journal = Journal::at(directory.path().join("jtrace"));
    (directory, journal)
}

fn this_process() -> Identity {
    Identity::of(std::process::id()).unwrap()
}

fn value(flag: &AtomicU8) -> u8 {
    flag.load(Ordering::SeqCst)
}

fn files(directory: &tempfile::TempDir) -> usize {
    fs::read_dir(directory.path().join("jtrace")).unwrap().count()
}

/// Turns the owner of the only entry into a jtrace that is dead, as `kill -9` would.
fn kill_owner(journal: &Journal) {
    let locked = journal.lock(this_process()).unwrap();
    let mut entry = locked.written().unwrap().unwrap();
    for owner in &mut entry.owners {
        owner.process.start_ticks += 1;
    }
    locked.save(&entry).unwrap();
}

#[test]
fn a_flag_is_armed_and_restored() {
    let (directory, journal) = place();
    let flag = AtomicU8::new(0);
    let armed = arm(&journal, StandIn(&flag), this_process(), &[FLAG]).unwrap();
    assert_eq!((value(&flag), files(&directory)), (1, 1));
    armed.disarm().unwrap();
    assert_eq!((value(&flag), files(&directory)), (0, 0));
}

#[test]
fn dropping_the_guard_restores_too() {
    let (directory, journal) = place();
    let flag = AtomicU8::new(0);
    drop(arm(&journal, StandIn(&flag), this_process(), &[FLAG]).unwrap());
    assert_eq!((value(&flag), files(&directory)), (0, 0));
}

#[test]
fn the_last_owner_restores() {
    let (directory, journal) = place();
    let flag = AtomicU8::new(0);
    let first = arm(&journal, StandIn(&flag), this_process(), &[FLAG]).unwrap();
    let second = arm(&journal, StandIn(&flag), this_process(), &[FLAG]).unwrap();
    first.disarm().unwrap();
    assert_eq!((value(&flag), files(&directory)), (1, 1));
    second.disarm().unwrap();
    assert_eq!((value(&flag), files(&directory)), (0, 0));
}

#[test]
fn a_flag_that_was_on_before_stays_on() {
    let (_directory, journal) = place();
    let flag = AtomicU8::new(1);
    let armed = arm(&journal, StandIn(&flag), this_process(), &[FLAG]).unwrap();
    assert_eq!(armed.already_on(), [FLAG]);
    armed.disarm().unwrap();
    assert_eq!(value(&flag), 1);
}

#[test]
fn what_a_killed_owner_left_is_recovered() {
    let (directory, journal) = place();
    let flag = AtomicU8::new(0);
    std::mem::forget(arm(&journal, StandIn(&flag), this_process(), &[FLAG]).unwrap());
    assert!(recover(&journal, &StandIn(&flag)).unwrap().is_empty(), "its owner lives");
    assert_eq!(value(&flag), 1);
    kill_owner(&journal);
    let outcomes = recover(&journal, &StandIn(&flag)).unwrap();
    assert!(matches!(&outcomes[..], [Recovered::Restored { flags, .. }] if flags == &[FLAG]));
    assert_eq!((value(&flag), files(&directory)), (0, 0));
}

#[test]
fn a_kill_before_the_byte_was_written_leaves_nothing_to_undo() {
    let (directory, journal) = place();
    let flag = AtomicU8::new(0);
    std::mem::forget(arm(&journal, StandIn(&flag), this_process(), &[FLAG]).unwrap());
    flag.store(0, Ordering::SeqCst);
    kill_owner(&journal);
    let outcomes = recover(&journal, &StandIn(&flag)).unwrap();
    assert!(matches!(&outcomes[..], [Recovered::Restored { flags, .. }] if flags.is_empty()));
    assert_eq!((value(&flag), files(&directory)), (0, 0));
}

#[test]
fn a_new_owner_inherits_what_a_killed_one_changed() {
    let (directory, journal) = place();
    let flag = AtomicU8::new(0);
    std::mem::forget(arm(&journal, StandIn(&flag), this_process(), &[FLAG]).unwrap());
    kill_owner(&journal);
    let armed = arm(&journal, StandIn(&flag), this_process(), &[FLAG]).unwrap();
    assert!(armed.already_on().is_empty());
    armed.disarm().unwrap();
    assert_eq!((value(&flag), files(&directory)), (0, 0));
}

#[test]
fn an_entry_goes_with_its_target() {
    let (directory, journal) = place();
    let flag = AtomicU8::new(0);
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let target = Identity::of(child.id()).unwrap();
    let locked = journal.lock(target).unwrap();
    let mut entry = locked.entry().unwrap();
    entry.changes.push(Change { flag: FLAG.to_owned(), address: 0x1000, original: 0, armed: 1 });
    locked.save(&entry).unwrap();
    drop(locked);
    drop(child.stdin.take());
    child.wait().unwrap();
    let outcomes = recover(&journal, &StandIn(&flag)).unwrap();
    assert!(matches!(&outcomes[..], [Recovered::TargetGone(gone)] if *gone == target));
    assert_eq!(files(&directory), 0);
}

#[test]
fn a_byte_that_is_no_truth_value_is_never_written() {
    let (directory, journal) = place();
    let flag = AtomicU8::new(7);
    let error = arm(&journal, StandIn(&flag), this_process(), &[FLAG]).unwrap_err();
    assert!(matches!(error, Error::NotBoolean { value: 7, .. }));
    assert_eq!((value(&flag), files(&directory)), (7, 0));
}

#[test]
fn an_unknown_flag_changes_nothing() {
    let (directory, journal) = place();
    let flag = AtomicU8::new(0);
    let error = arm(&journal, StandIn(&flag), this_process(), &[FLAG, "DTraceAllocProbes"]).unwrap_err();
    assert!(matches!(error, Error::NoFlag(name) if name == "DTraceAllocProbes"));
    assert_eq!((value(&flag), files(&directory)), (0, 0));
    // One that jtrace never changes is not even looked for.
    assert!(matches!(arm(&journal, StandIn(&flag), this_process(), &["UseG1GC"]), Err(Error::NoFlag(_))));
}

#[test]
fn a_journal_that_lies_about_an_address_writes_nowhere() {
    let (_directory, journal) = place();
    let (flag, other) = (AtomicU8::new(0), AtomicU8::new(1));
    let locked = journal.lock(this_process()).unwrap();
    let mut entry = locked.entry().unwrap();
    let address = other.as_ptr() as u64;
    entry.changes.push(Change { flag: FLAG.to_owned(), address, original: 0, armed: 1 });
    locked.save(&entry).unwrap();
    drop(locked);
    assert!(matches!(arm(&journal, StandIn(&flag), this_process(), &[FLAG]), Err(Error::Moved { .. })));
    recover(&journal, &StandIn(&flag)).unwrap();
    assert_eq!((value(&flag), value(&other)), (0, 1));
}
