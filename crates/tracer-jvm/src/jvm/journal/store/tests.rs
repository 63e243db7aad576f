//! The journal's files: what is written comes back, and what others have put there is refused.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
};

use super::{
    super::{Change, Owner},
    *,
};

const TARGET: Identity = Identity { pid: 42, start_ticks: 1000 };

fn journal() -> (tempfile::TempDir, Journal) {
    let directory = tempfile::tempdir().unwrap();
    let journal = Journal::at(directory.path().join("jtrace"));
    (directory, journal)
}

fn entry(locked: &Locked) -> Entry {
    let mut entry = locked.entry().unwrap();
    entry.changes.push(Change { flag: FLAGS[0].to_owned(), address: 0x1000, original: 0, armed: 1 });
    entry.owners.push(Owner { process: Identity { pid: 7, start_ticks: 8 }, ticket: 9 });
    entry
}

#[test]
fn what_is_saved_is_found_again_and_private() {
    let (_directory, journal) = journal();
    let locked = journal.lock(TARGET).unwrap();
    let written = entry(&locked);
    locked.save(&written).unwrap();
    drop(locked);
    assert_eq!(journal.targets().unwrap(), [TARGET]);
    let locked = journal.lock(TARGET).unwrap();
    assert_eq!(locked.entry().unwrap(), written);
    assert_eq!(locked.written().unwrap(), Some(written));
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&journal.path), mode(&journal.path.join("42-1000.json"))), (0o700, 0o600));
    locked.remove().unwrap();
    assert!(locked.entry().unwrap().changes.is_empty());
    drop(locked);
    assert_eq!(fs::read_dir(&journal.path).unwrap().count(), 0);
}

#[test]
fn a_target_that_is_worked_on_holds_up_nobody_who_wants_another() {
    let (_directory, journal) = journal();
    let held = journal.lock(TARGET).unwrap();
    assert!(journal.try_lock(TARGET).unwrap().is_none());
    let other = Identity { pid: 43, ..TARGET };
    let locked = journal.try_lock(other).unwrap().expect("nobody has it");
    locked.save(&Entry { target: other, ..entry(&locked) }).unwrap();
    drop((held, locked));
    assert!(journal.try_lock(TARGET).unwrap().is_some());
    assert_eq!(journal.targets().unwrap(), [other]);
}

#[test]
fn a_lock_whose_file_was_removed_is_none() {
    let (_directory, journal) = journal();
    let held = journal.lock(TARGET).unwrap();
    fs::remove_file(journal.path.join("42-1000.lock")).unwrap();
    let own = journal.try_lock(TARGET).unwrap().expect("another file has the name");
    drop(held);
    // It has taken away the file that was no longer its own, as it would have of its own.
    drop(own);
    assert_eq!(fs::read_dir(&journal.path).unwrap().count(), 0);
}

#[test]
fn a_directory_that_others_can_enter_is_refused() {
    let (_directory, journal) = journal();
    fs::create_dir(&journal.path).unwrap();
    fs::set_permissions(&journal.path, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(matches!(journal.lock(TARGET), Err(Error::Untrusted { mode: 0o755, .. })));
    assert!(matches!(journal.targets(), Err(Error::Untrusted { mode: 0o755, .. })));
    // Only root can give something away.
    if geteuid().is_root() {
        fs::set_permissions(&journal.path, fs::Permissions::from_mode(0o700)).unwrap();
        std::os::unix::fs::chown(&journal.path, Some(12_345), None).unwrap();
        assert!(matches!(journal.lock(TARGET), Err(Error::Untrusted { uid: 12_345, mode: 0o700, .. })));
    }
}

#[test]
fn links_are_not_followed() {
    let (directory, journal) = journal();
    fs::create_dir(directory.path().join("real")).unwrap();
    symlink(directory.path().join("real"), &journal.path).unwrap();
    assert!(matches!(journal.lock(TARGET), Err(Error::Io { action: "open", .. })));
    fs::remove_file(&journal.path).unwrap();

    let outside = directory.path().join("outside");
    fs::write(&outside, "untouched").unwrap();
    journal.open().unwrap();
    symlink(&outside, journal.path.join("42-1000.lock")).unwrap();
    assert!(matches!(journal.lock(TARGET), Err(Error::Io { action: "lock", .. })));
    fs::remove_file(journal.path.join("42-1000.lock")).unwrap();

    let locked = journal.lock(TARGET).unwrap();
    symlink(&outside, journal.path.join("42-1000.json")).unwrap();
    symlink(&outside, journal.path.join("42-1000.json.tmp")).unwrap();
    assert!(locked.entry().is_err());
    let (boot, pid_namespace) = locked.scope.clone();
    let (changes, recompiled, owners) = (Vec::new(), Vec::new(), Vec::new());
    let written = Entry { target: TARGET, boot, pid_namespace, changes, recompiled, owners };
    assert!(locked.save(&written).is_err());
    assert_eq!(fs::read_to_string(&outside).unwrap(), "untouched");
}

#[test]
fn a_damaged_file_is_an_error_of_its_own_and_what_is_unfinished_goes() {
    let (_directory, journal) = journal();
    journal.open().unwrap();
    fs::write(journal.path.join("43-1.json"), "{\"target\":").unwrap();
    fs::write(journal.path.join("44-1.json.tmp"), "").unwrap();
    let [damaged, unfinished] = journal.targets().unwrap().try_into().unwrap();
    let error = journal.lock(damaged).unwrap().written().unwrap_err();
    assert!(matches!(error, Error::Malformed { path, .. } if path.ends_with("43-1.json")));
    assert_eq!(journal.lock(unfinished).unwrap().written().unwrap(), None);
    assert!(!journal.path.join("44-1.json.tmp").exists());
}

#[test]
fn a_flag_that_jtrace_does_not_know_is_an_error() {
    let (_directory, journal) = journal();
    let locked = journal.lock(TARGET).unwrap();
    let mut written = entry(&locked);
    written.changes[0].flag = "UseG1GC".to_owned();
    locked.save(&written).unwrap();
    for error in [locked.entry().unwrap_err(), locked.written().unwrap_err()] {
        assert!(matches!(&error, Error::Unknown { flag, .. } if flag == "UseG1GC"), "{error}");
    }
}

#[test]
fn entries_of_another_boot_are_deleted_and_of_another_namespace_kept() {
    let (_directory, journal) = journal();
    let locked = journal.lock(TARGET).unwrap();
    locked.save(&Entry { boot: "before".to_owned(), ..entry(&locked) }).unwrap();
    assert_eq!(locked.written().unwrap(), None);
    assert!(!journal.path.join("42-1000.json").exists());
    locked.save(&Entry { pid_namespace: "pid:[1]".to_owned(), ..entry(&locked) }).unwrap();
    assert_eq!(locked.written().unwrap(), None);
    assert!(journal.path.join("42-1000.json").exists());
}

#[test]
fn fuzz_journal() {
    crate::fuzz::samples("journal", |text| {
        if let Ok(entry) = parse(PathBuf::from("7-99.json"), text) {
            assert!(entry.changes.iter().all(|change| FLAGS.contains(&&*change.flag)));
        }
        let _: Option<Identity> = target_of(&String::from_utf8_lossy(text));
    });
}
