//! Configurations and command lines; that jtrace really attaches needs root, eBPF and a JVM.

use std::collections::BTreeSet;

use super::*;

#[test]
fn every_lens_has_its_configurations_and_names_are_unique() {
    let all = configurations(Path::new("jtrace"));
    let names: BTreeSet<_> = all.iter().map(|configuration| configuration.name.as_str()).collect();
    assert_eq!(names.len(), all.len());
    for lens in Lens::ALL {
        for kind in ["lens", "every"] {
            let is_there = names.contains(format!("{kind}:{}", lens.id()).as_str());
            assert_eq!(is_there, !lens.is_inside(), "{kind}:{}", lens.id());
        }
    }
    let method = all.iter().find(|configuration| configuration.name == "flags:method").unwrap();
    assert!(method.observer.is_none() && method.flags == ["-XX:+DTraceMethodProbes"]);
    assert!(all[0].name == PLAIN && all[0].flags.is_empty() && all[0].observer.is_none());
}

#[test]
fn the_command_names_the_process_the_lenses_and_the_file() {
    let watching = Watching::new(Path::new("jtrace"), &[Lens::Gc, Lens::Locks]);
    let words = watching.command(42, Path::new("/tmp/x.jtrace"));
    assert_eq!(words, ["record", "42", "-l", "gc,locks", "-o", "/tmp/x.jtrace"]);
    let every_method = Watching::new(Path::new("jtrace"), &[Lens::Methods]).command(1, Path::new("x"));
    assert!(every_method.contains(&"--yes".to_owned()), "what nothing narrows down is refused without");
    assert!(watching.unguarded().command(1, Path::new("x")).contains(&"--max-overhead".to_owned()));
}

#[test]
fn graphs_of_calls_begin_with_the_jvm() {
    let all = configurations(Path::new("jtrace"));
    for name in ["calls", "calls:each"] {
        let configuration = all.iter().find(|configuration| configuration.name == name).unwrap();
        assert!(configuration.observer.is_some() && configuration.flags == ["-XX:+DTraceMethodProbes"]);
    }
    let recorded = Watching::new(Path::new("jtrace"), &[Lens::Calls]).unguarded().one_by_one();
    let words = recorded.command(42, Path::new("x.jtrace"));
    let expected = "record 42 -l calls --yes --max-overhead 100000% --each -o x.jtrace";
    assert_eq!(words, expected.split(' ').collect::<Vec<_>>());
}

#[test]
fn a_jtrace_that_does_not_attach_says_why_and_its_folder_goes_away() {
    let mut watching = Watching::new(Path::new("/bin/false"), &[Lens::Gc]);
    let error = watching.start(1).unwrap_err().to_string();
    assert!(error.contains("does not attach"), "{error}");
    assert!(watching.stop().is_err(), "nothing runs");
}
