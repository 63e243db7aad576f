//! Names of files, their formats, and that no link is followed.

use super::*;

#[test]
fn place_holders_are_filled_in() {
    assert_eq!(expand(Path::new("/x/%p-%%.json"), 42), PathBuf::from("/x/42-%.json"));
    let stamp = time_stamp();
    assert!(stamp.starts_with("20") && stamp.contains('T'), "{stamp}");
}

#[test]
fn extensions_pick_formats() {
    let of = |name: &str| content(Path::new(name)).ok();
    assert_eq!(of("a/x.json"), Some(Content::Report(Format::Json)));
    assert_eq!(of("x.speedscope.json"), Some(Content::Stacks(StackFormat::Speedscope)));
    assert_eq!(of("x.y.pb.gz"), Some(Content::Stacks(StackFormat::Pprof)));
    assert_eq!(of("x.folded"), Some(Content::Stacks(StackFormat::Folded)));
    assert_eq!(of("x.dot"), Some(Content::Stacks(StackFormat::Dot)));
    assert_eq!(of("x.callgrind.out"), Some(Content::Stacks(StackFormat::Callgrind)));
    assert_eq!(of("x.hgrm"), Some(Content::Distribution));
    assert_eq!(of("x.svg"), Some(Content::Stacks(StackFormat::Svg)));
    assert_eq!(of("x.jtrace"), Some(Content::Recording));
    for wrong in [".json", "x.gz", "x.pb", "json", "x", "..", ""] {
        assert_eq!(of(wrong), None, "{wrong}");
    }
}

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
    Files::open(&options, 42).expect("files").finish(&report).expect("written");
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

#[test]
fn a_link_in_a_shared_directory_is_not_followed() {
    let directory = tempfile::tempdir().expect("a directory");
    let shared = directory.path().join("shared");
    fs::create_dir(&shared).expect("a directory");
    fs::set_permissions(&shared, std::os::unix::fs::PermissionsExt::from_mode(0o1777)).expect("permissions");
    let victim = directory.path().join("victim");
    fs::write(&victim, "precious").expect("a file");
    std::os::unix::fs::symlink(&victim, shared.join("r.json")).expect("a link");
    assert!(create(&shared.join("r.json")).is_err());
    assert_eq!(fs::read_to_string(&victim).expect("still there"), "precious");
    assert!(create(&shared.join("new.json")).is_ok());
}

#[test]
fn a_file_is_replaced_as_a_whole_and_a_link_is_not_followed() {
    let directory = tempfile::tempdir().expect("a directory");
    let (victim, link) = (directory.path().join("victim"), directory.path().join("r.html"));
    fs::write(&victim, "precious").expect("a file");
    std::os::unix::fs::symlink(&victim, &link).expect("a link");
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
