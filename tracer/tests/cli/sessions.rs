//! Recordings and reports: what becomes of them in every format, how two are compared, and what is no session.

use super::*;

#[test]
fn a_recording_becomes_a_report_in_every_format() {
    let recorded = Recorded::new("incident.txt");
    let input = recorded.name("x.jtrace");
    let [json, ndjson, txt, html, copy] =
        ["r.json", "%p.ndjson", "r.txt", "r.html", "copy.jtrace"].map(|name| recorded.name(name));
    let output = run(&["report", &input, "-o", &json, "-o", &ndjson, "-o", &txt, "-o", &html, "-o", &copy]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "", "what goes to files is not printed as well");
    let told = text(&output.stderr);
    assert!(told.lines().count() == 5 && told.lines().all(|line| line.starts_with("wrote ")), "{told}");

    let read = |name: &str| fs::read_to_string(recorded.path(name)).expect("it was written");
    let value: serde_json::Value = serde_json::from_str(&read("r.json")).expect("it is JSON");
    assert_eq!((&value["schema"], &value["target"]["pid"]), (&"jtrace-report/1".into(), &42.into()));
    assert!(read("42.ndjson").lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    assert!(read("r.html").starts_with("<!DOCTYPE html>"));
    assert!(read("r.txt").contains("GARBAGE COLLECTION"));
    assert_eq!(read("r.json"), succeed(&["report", &input, "--json"]));
    assert_eq!(read("r.txt"), succeed(&["report", &recorded.name("copy.jtrace"), "--full"]));
    // The last line of a screen names the file.
    let screen = |name: &str, form: &str| {
        let said = succeed(&["report", name, form]);
        said.lines().filter(|line| !line.starts_with("All tables: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(screen(&input, "--text"), screen(&recorded.name("copy.jtrace"), "--text"));
    assert!(screen(&input, "--text").len() <= 40, "a screen");
    let events = succeed(&["report", &input, "--events"]);
    assert!(events.lines().count() > 30 && events.lines().all(|line| line.starts_with("{\"time_ns\":")), "{events}");
}

#[test]
fn stacks_of_a_recording_go_into_files_for_other_tools() {
    let recorded = Recorded::new("profiles.txt");
    let [folded, svg, pprof, speedscope, page] =
        ["r.folded", "r.svg", "r.pb.gz", "r.speedscope.json", "r.html"].map(|name| recorded.name(name));
    let input = recorded.name("x.jtrace");
    succeed(&["report", &input, "-o", &folded, "-o", &svg, "-o", &pprof, "-o", &speedscope, "-o", &page]);
    let read = |name: &str| fs::read(name).expect("it was written");
    let java = "start_thread;java.lang.Thread.run:840;com.shop.Main.serve:31;com.shop.Cart.price";
    let lines = [
        "<cut: no stack taken> 1".to_owned(),
        "start_thread;G1ParEvacuateFollowersClosure::do_void() 1".to_owned(),
        format!("{java}:42 2"),
        format!("{java}:44 1"),
    ];
    assert_eq!(text(&read(&folded)).lines().collect::<Vec<_>>(), lines);
    assert!(text(&read(&svg)).contains("com.shop.Cart.price:42"));
    assert!(read(&pprof).starts_with(&[0x1f, 0x8b]));
    let value: serde_json::Value = serde_json::from_slice(&read(&speedscope)).expect("it is JSON");
    assert_eq!(value["profiles"][0]["name"], "http-worker-1 (21)");
    assert_eq!(text(&read(&page)).matches("<figure class=\"flame\"").count(), 2, "cpu, and parked in locks");

    succeed(&["report", &input, "-o", &folded, "--no-lines"]);
    assert!(text(&read(&folded)).contains("com.shop.Cart.price 3\n"));
    succeed(&["report", &input, "-o", &folded, "--profile", "locks.park_stacks"]);
    assert_eq!(
        text(&read(&folded)),
        "start_thread;java.lang.Thread.run:840;java.util.concurrent.locks.LockSupport.park:211;futex_wait_[k] 300000000\n"
    );
}

#[test]
fn a_report_that_was_written_as_json_becomes_what_its_recording_does() {
    for scenario in ["incident.txt", "profiles.txt"] {
        let recorded = Recorded::new(scenario);
        let [json, page, again] = ["r.json", "r.html", "again.html"].map(|name| recorded.name(name));
        let input = recorded.name("x.jtrace");
        succeed(&["report", &input, "-o", &json, "-o", &page]);
        succeed(&["report", &json, "-o", &again]);
        assert_eq!(succeed(&["report", &input, "--json"]), succeed(&["report", &json, "--json"]));
        assert_eq!(succeed(&["report", &input, "--full"]), succeed(&["report", &json, "--full"]));
        let read = |name: &str| fs::read_to_string(name).expect("it was written");
        let (page, again) = (read(&page), read(&again));
        // JSON has no times of stacks and rows; all else is the same.
        assert_eq!(page.contains("shape flamed follows"), scenario == "profiles.txt");
        assert!(!again.contains("shape flamed follows"), "{scenario}");
        assert!(without_times(&page) == without_times(&again), "another page of {scenario}");
    }
}

/// A page without what its graphs and tables say of when amounts came.
fn without_times(page: &str) -> String {
    let mut pieces = page.split("<script type=\"application/json\" class=\"table-steps\">");
    let first = pieces.next().unwrap_or_default().to_owned();
    let after = |piece: &str| piece.split_once("</script>\n").expect("the end of a table's steps").1.to_owned();
    let page = first + &pieces.map(after).collect::<String>();
    let mut rest = page.as_str();
    let mut out = String::new();
    while let Some((before, after)) = rest.split_once(",\"steps\":[") {
        let (before, _) = before.rsplit_once(",\"step\":").expect("the width of steps comes before them");
        let (_, after) = after.split_once(']').expect("the end of the steps");
        out.push_str(before);
        rest = after;
    }
    out.push_str(rest);
    out.replace("shape flamed follows", "shape flamed").replace("shape timed follows", "shape")
}

/// Of each kind of file that is no session: what the line says, whichever command reads it.
#[test]
fn files_that_are_no_session_are_one_line_for_report_and_for_both_sides_of_diff() {
    let recorded = Recorded::new("profiles.txt");
    let good = recorded.name("x.jtrace");
    let whole = fs::read(&good).expect("it was recorded");
    let json = recorded.name("good.json");
    succeed(&["report", &good, "-o", &json]);
    let report = fs::read(&json).expect("it was written");
    let newer = [&whole[..8], &[3, 0], &whole[10..]].concat();
    // A byte of the first section's text that no text has.
    let broken = [&whole[..40], &[0xff], &whole[41..]].concat();
    let bad: [(&str, &[u8], &str); 10] = [
        ("empty.jtrace", b"", "is an empty file"),
        ("head.jtrace", &whole[..5], "is not a jtrace recording"),
        ("newer.jtrace", &newer, "has recording version 3"),
        ("broken.jtrace", &broken, "is damaged at byte "),
        ("foreign.jtrace", b"\x7fELF\x02\x01\x01", "is not a jtrace recording"),
        ("torn.json", &report[..report.len() / 2], "is only the beginning of a report: it ends in line "),
        ("newer.json", b"{\"schema\":\"jtrace-report/2\"}", "its form is \"jtrace-report/2\""),
        ("difference.json", b"{\"schema\":\"jtrace-diff/1\"}", "its form is \"jtrace-diff/1\""),
        ("packed.gz", b"\x1f\x8b\x08\0garbage", "is packed by gzip"),
        ("torn.jfr", b"FLR\0\0\x02\0\x01", "torn.jfr"),
    ];
    for (name, bytes, says) in bad {
        let file = recorded.name(name);
        fs::write(&file, bytes).expect("it can be written");
        for arguments in [&["report", &file][..], &["diff", &good, &file], &["diff", &file, &good]] {
            let [error, _] = refused(arguments, 1);
            assert!(error.contains(name) && error.contains(says), "{arguments:?}: {error}");
        }
    }
    let [error, hint] = refused(&["report", ""], 2);
    assert!(error.contains("none was supplied") && hint == "hint: see `jtrace --help`", "{error} {hint}");
    // What is torn behind its beginning is read up to there, and says so.
    let torn = recorded.name("torn.jtrace");
    fs::write(&torn, &whole[..whole.len() - 1]).expect("it can be written");
    let cut = format!("end: recording cut at byte {}", whole.len() - 1);
    assert!(succeed(&["report", &torn, "--full"]).contains(&cut));
    succeed(&["diff", &torn, &good]);
}

#[test]
fn a_session_comes_from_standard_input() {
    let recorded = Recorded::new("profiles.txt");
    for name in ["x.jtrace", "x.json"] {
        let file = recorded.name(name);
        if name == "x.json" {
            succeed(&["report", &recorded.name("x.jtrace"), "-o", &file]);
        }
        let input = fs::File::open(&file).expect("it was written");
        let output = command(&["report", "-"]).stdin(input).output().expect("jtrace runs");
        assert!(output.status.success(), "{}", text(&output.stderr));
        let same = succeed(&["report", &file]);
        let without_the_name = |report: &str| report.replace(&file, "-");
        assert_eq!(without_the_name(text(&output.stdout)), without_the_name(&same));
    }
}

#[test]
fn sessions_that_have_nothing_to_compare_are_one_line() {
    let recorded = Recorded::new("profiles.txt");
    let good = recorded.name("good.json");
    succeed(&["report", &recorded.name("x.jtrace"), "-o", &good]);
    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(&good).expect("it was written")).expect("it is JSON");
    let with = |name: &str, change: &dyn Fn(&mut serde_json::Value)| {
        let mut changed = report.clone();
        change(&mut changed);
        fs::write(recorded.path(name), changed.to_string()).expect("it can be written");
        recorded.name(name)
    };
    let only = |lens: &'static str| {
        move |report: &mut serde_json::Value| {
            let sections = report["sections"].as_array_mut().expect("sections");
            sections.retain(|section| section["id"] == lens);
        }
    };
    let (cpu, locks) = (with("cpu.json", &only("cpu")), with("locks.json", &only("locks")));
    let none = with("none.json", &only("no lens has this name"));
    let short = with("short.json", &|report| report["span"]["duration_ns"] = 0.into());
    for (arguments, says) in [
        ([&cpu, &locks], "cannot be compared: cpu before, locks after"),
        ([&none, &good], "cannot be compared: no lens before, "),
        ([&short, &good], "short.json cannot be compared: its session lasted no time"),
        ([&good, &short], "short.json cannot be compared"),
    ] {
        let [error, _] = refused(&["diff", arguments[0], arguments[1]], 1);
        assert!(error.contains(says), "{arguments:?}: {error}");
    }
    succeed(&["diff", &cpu, &good]);
}

#[test]
fn two_sessions_are_compared_in_every_form() {
    let (quiet, busy) = (Recorded::new("quiet.txt"), Recorded::new("profiles.txt"));
    let [json, txt, svg, page] = ["d.json", "d.txt", "d.svg", "d.html"].map(|name| busy.name(name));
    let inputs = [quiet.name("x.jtrace"), busy.name("x.jtrace")];
    let said = succeed(&["diff", &inputs[0], &inputs[1]]);
    assert!(said.starts_with("before  ") && said.contains("\nFINDINGS\n"), "{said}");
    succeed(&["diff", &inputs[0], &inputs[1], "-o", &json, "-o", &txt]);
    let value: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&json).expect("it was written")).expect("it is JSON");
    assert_eq!(value["schema"], "jtrace-diff/1");
    assert_eq!(fs::read_to_string(&txt).expect("it was written"), said);
    // A session against itself.
    succeed(&["diff", &inputs[1], &inputs[1], "-o", &svg]);
    assert!(fs::read_to_string(&svg).expect("it was written").contains("com.shop.Cart.price"));
    let same = succeed(&["diff", &inputs[1], &inputs[1]]);
    assert!(same.contains("Nothing else differs"), "{same}");

    let [error, hint] = refused(&["diff", &inputs[0], &inputs[1], "-o", &svg], 1);
    assert!(error.contains("no stacks") && hint.contains("--profile"), "{error}\n{hint}");
    refused(&["diff", &inputs[0], &busy.name("absent.jtrace")], 1);
    refused(&["diff", &inputs[0], &inputs[1], "-o", &busy.name("d.pdf")], 2);
    succeed(&["diff", &inputs[0], &inputs[1], "-o", &page]);
    let page = fs::read_to_string(&page).expect("it was written");
    assert!(page.contains("<h1>What differs</h1>") && page.contains("Findings"), "{page:.2000}");
}

#[test]
fn a_report_gives_no_events_and_what_is_no_report_is_refused_in_two_lines() {
    let recorded = Recorded::new("incident.txt");
    let [json, copy, flight] = ["r.json", "copy.jtrace", "r.jfr"].map(|name| recorded.name(name));
    succeed(&["report", &recorded.name("x.jtrace"), "-o", &json]);
    for words in [&["--events"][..], &["-o", &copy], &["-o", &flight]] {
        let [error, hint] = refused(&[&["report", &json], words].concat(), 2);
        assert!(error.contains("needs single events") && hint.contains("jtrace record"), "{error}\n{hint}");
    }
    assert!(!recorded.path("copy.jtrace").exists() && !recorded.path("r.jfr").exists(), "an output of nothing is left");
    let [error, _] = refused(&["report", &json, "-o", &json], 2);
    assert!(error.contains("is to be read"), "{error}");
    let document = fs::read_to_string(&json).expect("it was written");
    let foreign = [
        ("torn", document[..document.len() / 2].to_owned(), "is only the beginning of a report", "write it again"),
        (
            "newer",
            document.replace("jtrace-report/1", "jtrace-report/2"),
            "no report that this jtrace can read",
            "newer",
        ),
        ("foreign", "{\"schema\": \"x\"}".to_owned(), "no report that this jtrace can read", "newer"),
    ];
    for (name, text, says, advises) in foreign {
        fs::write(recorded.path("bad.json"), text).expect("a folder of its own");
        let [error, hint] = refused(&["report", &recorded.name("bad.json")], 1);
        assert!(error.contains(says) && hint.contains(advises), "{name}: {error}\n{hint}");
    }
}

#[test]
fn a_recording_becomes_a_flight_recording() {
    let recorded = Recorded::new("stacks.txt");
    let flight = recorded.name("r.jfr");
    assert_eq!(
        succeed(&["report", &recorded.name("x.jtrace"), "-o", &flight]),
        "",
        "the file is all that was asked for"
    );
    let bytes = fs::read(&flight).expect("it was written");
    assert_eq!(&bytes[..8], b"FLR\0\0\x02\0\x01");
    let size = u64::from_be_bytes(bytes[8..16].try_into().expect("eight bytes"));
    assert_eq!(size, bytes.len() as u64, "one chunk");
}

#[test]
fn stacks_that_nobody_took_are_an_error_after_everything_else_was_written() {
    let recorded = Recorded::new("incident.txt");
    let [json, folded] = ["r.json", "r.folded"].map(|name| recorded.name(name));
    let output = run(&["report", &recorded.name("x.jtrace"), "-o", &folded, "-o", &json]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let [wrote, error, hint] = said.lines().collect::<Vec<_>>()[..] else { panic!("not three lines: {said}") };
    assert!(wrote.starts_with("wrote ") && wrote.ends_with("r.json"), "{wrote}");
    assert!(error.contains("none of the usual lenses has stacks"), "{error}");
    assert!(hint.contains("-l cpu"), "{hint}");
    assert!(fs::read_to_string(&json).is_ok_and(|text| text.ends_with("}\n")));
    let [error, _] = refused(&["report", &recorded.name("x.jtrace"), "-o", &folded, "--profile", "gc"], 1);
    assert!(error.contains("lens gc has no such stacks"), "{error}");
}
