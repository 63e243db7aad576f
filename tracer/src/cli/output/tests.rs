//! What goes into which file, whole or not at all, and that no link is followed.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::lens::Lens;

#[test]
fn stacks_of_the_first_usual_lens_are_written_and_a_lens_without_any_is_an_error() {
    let report = crate::view::sample::report();
    let (section, profile) = choose_profile(&report, None, StackFormat::Folded).expect("cpu");
    assert_eq!((section.id, profile.id), ("cpu", "cpu"));
    let choice = |lens, id: Option<&str>| ProfileChoice { lens, id: id.map(str::to_owned) };
    assert!(choose_profile(&report, Some(&choice(Lens::Cpu, None)), StackFormat::Folded).is_ok());
    assert!(choose_profile(&report, Some(&choice(Lens::Cpu, Some("cpu"))), StackFormat::Folded).is_ok());
    for wrong in [choice(Lens::Locks, None), choice(Lens::Cpu, Some("other"))] {
        let message = format!("{:?}", choose_profile(&report, Some(&wrong), StackFormat::Folded).unwrap_err());
        assert!(message.contains("these have some: cpu.cpu; choose"), "{message}");
    }
    let mut none = report;
    none.sections.pop();
    let message = format!("{:?}", choose_profile(&none, None, StackFormat::Dot).unwrap_err());
    assert!(message.contains("-l cpu"), "{message}");
}

#[test]
fn stacks_go_into_their_files_and_reports_into_theirs() {
    let directory = tempfile::tempdir().expect("a directory");
    let names = ["r.json", "s.folded", "s.svg", "s.pb.gz", "s.speedscope.json", "s.dot", "s.callgrind", "d.hgrm"];
    let output = names.map(|name| directory.path().join(name));
    let options = OutputOptions { output: output.to_vec(), no_lines: true, ..OutputOptions::default() };
    let report = crate::view::sample::report();
    Files::open(&options, 42, None).expect("files").finish(&report).expect("written");
    let [report, folded, svg, pprof, speedscope, dot, callgrind, hgrm] =
        output.map(|path| fs::read(path).expect("a file"));
    assert!(report.starts_with(b"{\n  \"schema\""));
    let folded = String::from_utf8(folded).expect("text");
    assert!(folded.contains(";com.shop.Cart.price 900000000\n"), "{folded}");
    assert!(svg.starts_with(b"<?xml"));
    assert!(pprof.starts_with(&[0x1f, 0x8b]));
    assert!(dot.starts_with(b"digraph jtrace {"));
    assert!(callgrind.starts_with(b"# callgrind format\n"));
    assert!(hgrm.starts_with(b"       Value     Percentile TotalCount 1/(1-Percentile)\n\n"));
    assert!(speedscope.starts_with(b"{\"$schema\""));
}

/// A directory of this mode, and of this user.
fn directory_of(mode: u32, uid: Option<u32>) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    if uid.is_some() {
        std::os::unix::fs::chown(directory.path(), uid, None).expect("root may");
    }
    fs::set_permissions(directory.path(), PermissionsExt::from_mode(mode)).expect("permissions");
    directory
}

fn put(path: &Path) -> Result<(), Failure> {
    replace(path, b"new")
}

/// Directories that all can write to, that a group can write to, and that belong to somebody else: `-o` followed links in
/// the last two.
#[test]
fn a_link_in_a_directory_of_others_is_not_followed_nor_replaced() {
    let is_root = rustix::process::geteuid().is_root();
    let kinds = [(0o1777, None), (0o777, None), (0o775, None), (0o755, Some(12_345))];
    for (mode, uid) in kinds.into_iter().filter(|(_, uid)| uid.is_none() || is_root) {
        let safe = tempfile::tempdir().expect("a directory");
        let victim = safe.path().join("victim.json");
        fs::write(&victim, "precious").expect("a file");
        let shared = directory_of(mode, uid);
        let [link, hard, new] = ["link.json", "hard.json", "new.json"].map(|name| shared.path().join(name));
        symlink(&victim, &link).expect("a link");
        fs::hard_link(&victim, &hard).expect("a link");
        assert!(put(&link).is_err() && put(&hard).is_err(), "mode {mode:o}");
        put(&new).expect("a new file does no harm");
        put(&new).expect("nor does one of ours");
        assert_eq!(fs::read_to_string(&victim).expect("still there"), "precious");
        // Nor a link on the way: whoever can change it could lead to any directory.
        symlink(safe.path(), shared.path().join("way")).expect("a link");
        let by_way = put(&shared.path().join("way/victim.json"));
        if mode == 0o1777 {
            by_way.expect("a link of our own in a sticky directory cannot be changed by others");
        } else {
            assert!(by_way.is_err(), "mode {mode:o}");
            assert_eq!(fs::read_to_string(&victim).expect("still there"), "precious");
        }
        assert_eq!(fs::read_dir(shared.path()).expect("a directory").count(), 4, "nothing lies beside them");
    }
}

#[test]
fn only_its_user_can_read_what_is_written() {
    let directory = tempfile::tempdir().expect("a directory");
    let output = ["r.json", "x.jtrace"].map(|name| directory.path().join(name));
    fs::write(&output[0], "old").expect("a file");
    fs::set_permissions(&output[0], PermissionsExt::from_mode(0o644)).expect("permissions");
    let options = OutputOptions { output: output.to_vec(), ..OutputOptions::default() };
    Files::open(&options, 42, None).expect("files").finish(&crate::view::sample::report()).expect("written");
    for path in &output {
        assert_eq!(fs::metadata(path).expect("a file").permissions().mode() & 0o777, 0o600, "{}", path.display());
    }
}

/// What could not be written completely leaves what was there before, and nothing beside it.
#[test]
fn no_torn_report_takes_the_place_of_a_whole_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("r.json");
    fs::write(&path, "whole").expect("a file");
    let place = Place::open(&path).expect("a place");
    let torn = place.replace(|out| out.write_all(b"torn").and_then(|()| Err(io::ErrorKind::StorageFull.into())));
    assert!(torn.is_err());
    assert_eq!(fs::read_to_string(&path).expect("still there"), "whole");
    assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 1);
}

#[test]
fn what_is_no_file_is_not_written_to() {
    let directory = tempfile::tempdir().expect("a directory");
    let socket = directory.path().join("s.json");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    assert!(put(&socket).is_err() && put(directory.path()).is_err());
}

/// The names that stand for a pid and a host are filled in before it is compared.
#[test]
fn a_recording_is_not_replaced_by_its_own_replay() {
    let directory = tempfile::tempdir().expect("a directory");
    let [recording, link, other] = ["42.jtrace", "y.jtrace", "z.jtrace"].map(|name| directory.path().join(name));
    fs::write(&recording, "precious").expect("a file");
    fs::hard_link(&recording, &link).expect("a link");
    let open = |output: &Path| {
        let options = OutputOptions { output: vec![output.to_owned()], ..OutputOptions::default() };
        Files::open(&options, 42, Some(&recording)).map(drop)
    };
    for same in ["42.jtrace", "%p.jtrace", "y.jtrace"] {
        assert!(open(&directory.path().join(same)).is_err(), "{same}");
    }
    assert_eq!(fs::read_to_string(&recording).expect("still there"), "precious");
    open(&other).expect("another file");
}

#[test]
fn a_file_is_replaced_as_a_whole_and_a_link_is_not_followed() {
    let directory = tempfile::tempdir().expect("a directory");
    let (victim, link) = (directory.path().join("victim"), directory.path().join("r.html"));
    fs::write(&victim, "precious").expect("a file");
    symlink(&victim, &link).expect("a link");
    check_replaceable(&link).expect("a link can be replaced");
    for text in ["first, and long", "second"] {
        replace(&link, text.as_bytes()).expect("replaced");
        assert_eq!(fs::read_to_string(&link).expect("a file"), text);
    }
    assert_eq!(fs::read_to_string(&victim).expect("still there"), "precious");
    assert!(!link.is_symlink());
    let left = fs::read_dir(directory.path()).expect("a directory").count();
    assert_eq!(left, 2, "nothing lies beside them");
    assert!(check_replaceable(directory.path()).is_err());
    assert!(check_replaceable(&directory.path().join("no/r.html")).is_err());
    assert!(replace(&directory.path().join("no/r.html"), b"").is_err());
}
