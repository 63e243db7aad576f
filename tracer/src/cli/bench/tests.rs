//! Command lines: what they choose, and what they refuse.

use clap::Parser;

use super::*;
use crate::bench::results::{Environment, VERSION};

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    options: Options,
}

fn options(words: &[&str]) -> Options {
    Line::try_parse_from([&["bench"], words].concat()).unwrap().options
}

fn names(words: &[&str], earlier: Option<&Results>) -> Result<(Vec<String>, Vec<String>), String> {
    let mut options = options(&[words, &["--", "java", "-jar", "app.jar"]].concat());
    let chosen = choice::choose(&mut options, earlier, None).map_err(|failure| format!("{failure:?}"))?;
    let programs = chosen.programs.iter().map(|program| program.describe().name).collect();
    Ok((programs, chosen.configurations.into_iter().map(|configuration| configuration.name).collect()))
}

fn earlier() -> Results {
    Results {
        version: VERSION,
        started_s: 0,
        environment: Environment::default(),
        method: Method { runs: 3, warm_up: 0, iterations: 1, settle_ms: 0, size: "large".to_owned(), seed: 77 },
        programs: Vec::new(),
        configurations: vec!["plain".to_owned(), "lens:gc".to_owned()],
        configuration_flags: std::collections::BTreeMap::new(),
        runs: Vec::new(),
        skipped: Vec::new(),
    }
}

#[test]
fn configurations_are_chosen_by_name_and_by_kind_each_once() {
    assert_eq!(names(&[], None).unwrap(), (vec!["app.jar".to_owned()], vec!["plain".to_owned(), "attach".to_owned()]));
    let (_, chosen) = names(&["--configurations", "flags:method,plain,flags,markers:50,plain"], None).unwrap();
    assert_eq!(chosen, ["flags:method", "plain", "flags:alloc", "flags:monitor", "markers:50"]);
    let (_, lenses) = names(&["--configurations", "lens"], None).unwrap();
    assert_eq!(lenses.len(), crate::lens::Lens::ALL.iter().filter(|lens| !lens.is_inside()).count());
    let (_, exact) = names(&["--configurations", "typestate:hasnext,typestate:hasnextonce:adaptive"], None).unwrap();
    assert_eq!(exact, ["typestate:hasnext", "typestate:hasnextonce:adaptive"], "a whole name is no kind");
    let (_, markers) = names(&["--configurations", "markers"], None).unwrap();
    assert_eq!(markers, ["markers:0", "markers:10", "markers:25", "markers:50", "markers:75", "markers:100"]);
}

#[test]
fn what_there_is_not_is_refused_with_what_there_is() {
    let error = names(&["--configurations", "lens:nothing"], None).unwrap_err();
    assert!(error.contains("`lens:nothing`") && error.contains("lens:gc"), "{error}");
    let error = names(&["--programs", "other"], None).unwrap_err();
    assert!(error.contains("`other`") && error.contains("app.jar"), "{error}");
    let error = choice::choose(&mut options(&[]), None, None).err().map(|failure| format!("{failure:?}")).unwrap();
    assert!(error.contains("no program to measure"), "{error}");
    for words in [
        &["--runs", "0"][..],
        &["--report", "x", "--suite", "micro"],
        &["--java", "j", "--", "java"],
        &["--size", "huge"],
    ] {
        assert!(Line::try_parse_from([&["bench"], words].concat()).is_err(), "{words:?}");
    }
}

#[test]
fn an_archive_that_cannot_be_used_hinders_only_its_own_programs() {
    let beside = |words: &[&str]| names(&[&["--dacapo", "/nowhere/dacapo.jar"], words].concat(), None);
    assert_eq!(beside(&[]).unwrap().0, ["dacapo", "app.jar"]);
    assert_eq!(beside(&["--programs", "app.jar,dacapo:fop"]).unwrap().0, ["app.jar", "dacapo:fop"]);
    let error = beside(&["--programs", "app.jar"]).unwrap_err();
    assert!(error.contains("/nowhere/dacapo.jar is not there"), "nothing was asked of it: {error}");
    let alone = choice::choose(&mut options(&["--dacapo", "/nowhere/dacapo.jar"]), None, None);
    assert!(alone.err().is_some_and(|failure| format!("{failure:?}").contains("dacapobench.org")));
}

#[test]
fn a_command_begins_with_java_and_has_no_warm_up() {
    let refused = |words: &[&str]| {
        let failure = choice::choose(&mut options(words), None, None).err().unwrap();
        format!("{failure:?}")
    };
    assert!(refused(&["--", "./run.sh"]).contains("`java` at the beginning"));
    assert!(refused(&["--warm-up", "3", "--", "java", "Main"]).contains("--warm-up"));
    assert!(refused(&["--iterations", "3", "--", "java", "Main"]).contains("--runs"));
    assert!(choice::choose(&mut options(&["--warm-up", "0", "--", "java", "Main"]), None, None).is_ok());
}

#[test]
fn what_is_not_said_is_as_it_was_and_else_as_usual() {
    let usual = method(&options(&["--seed", "5", "--suite", "micro"]), None);
    assert_eq!((usual.runs, usual.warm_up, usual.size.as_str(), usual.seed), (10, 2, "default", 5));
    assert_eq!(method(&options(&["--", "java", "Main"]), None).warm_up, 0, "it is measured by its end");
    let earlier = earlier();
    assert_eq!(method(&options(&[]), Some(&earlier)), earlier.method);
    assert_eq!(choice::size(&earlier.method), Size::Large);
    let asked = method(&options(&["--runs", "4", "--size", "small"]), Some(&earlier));
    assert_eq!((asked.runs, asked.size.as_str(), asked.seed), (4, "small", 77));
    let (_, configurations) = {
        let mut options = options(&["--", "java", "Main"]);
        let mut earlier = earlier;
        earlier.programs = vec![crate::bench::results::Program { name: "Main".to_owned(), ..Default::default() }];
        let chosen = choice::choose(&mut options, Some(&earlier), None).ok().unwrap();
        (chosen.java, chosen.configurations)
    };
    assert_eq!(configurations.iter().map(|chosen| chosen.name.as_str()).collect::<Vec<_>>(), ["plain", "lens:gc"]);
}

#[test]
fn results_go_into_one_file() {
    let of = |words: &[&str]| outputs(&options(words)).map_err(|failure| format!("{failure:?}"));
    assert_eq!(of(&["-o", "r.json"]).unwrap().0, PathBuf::from("r.json"));
    assert_eq!(of(&["--resume", "r.json"]).unwrap().0, PathBuf::from("r.json"));
    let usual = of(&[]).unwrap().0.display().to_string();
    assert!(usual.starts_with("jtrace-bench-20"), "{usual}");
    assert!(of(&["-o", "a.json", "-o", "b.json"]).unwrap_err().contains("one file"));
    assert!(of(&["--resume", "r.json", "-o", "b.json"]).unwrap_err().contains("resumed"));
    assert!(of(&["-o", "r.exe"]).unwrap_err().contains("r.exe"));
}

#[test]
fn reports_are_checked_before_the_measurement() {
    let of = |path: &str| outputs(&options(&["-o", path])).map_err(|failure| format!("{failure:?}"));
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    for (name, expected) in [("r.csv", Form::Csv), ("r.md", Form::Markdown), ("r.html", Form::Html)] {
        assert_eq!(of(&path(name)).unwrap().1, [(expected, directory.path().join(name))]);
    }
    assert!(of(&path("no/r.html")).unwrap_err().contains("cannot write"));
    assert!(of(&path("html")).unwrap_err().contains(".csv, .md or .html"));
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
}

#[test]
fn reports_are_made_of_a_file_of_results() {
    let directory = tempfile::tempdir().unwrap();
    let results = directory.path().join("r.json");
    std::fs::write(&results, serde_json::to_vec(&crate::bench::sample::results()).unwrap()).unwrap();
    let paths = ["r.csv", "r.md", "r.html"].map(|name| directory.path().join(name));
    report_of(&results, &paths).unwrap();
    let [csv, markdown, html] = paths.map(|path| std::fs::read_to_string(path).unwrap());
    assert!(csv.starts_with("program,") && markdown.starts_with("# ") && html.starts_with("<!DOCTYPE html>"));
    let wrong = report_of(&results, &[directory.path().join("other.json")]).map(drop).unwrap_err();
    assert!(format!("{wrong:?}").contains("other.json"));
    assert!(report_of(&directory.path().join("none.json"), &[]).is_err());
}

#[test]
fn the_exit_code_says_whether_all_was_made() {
    let path = Path::new("r.json");
    let mut results = earlier();
    let code = |results: &Results, signal| format!("{:?}", end(results, path, signal).unwrap());
    let expected = |code: u8| format!("{:?}", ExitCode::from(code));
    assert_eq!(code(&results, None), expected(0));
    assert_eq!(code(&results, Some(2)), expected(130));
    results.skipped.push(crate::bench::results::Skipped::default());
    assert_eq!(code(&results, None), expected(1));
}

#[test]
fn a_budget_chooses_what_it_limits_and_no_other_pair() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("budget.txt");
    std::fs::write(&file, "micro:idle attach time 1.1 0\nmicro:park every:locks event-cost/lens:locks 9 0\n").unwrap();
    let budget = Budget::read(&file).unwrap();
    let mut chosen = choice::choose(&mut options(&[]), None, Some(&budget)).ok().unwrap();
    let programs: Vec<_> = chosen.programs.iter().map(|program| program.describe().name).collect();
    assert_eq!(programs, ["micro:idle", "micro:park"]);
    guard::keep_pairs(&mut chosen.configurations, &budget.pairs());
    let pairs: Vec<_> = chosen.configurations.iter().map(|one| (one.name.as_str(), one.only.as_slice())).collect();
    let [idle, park] = ["micro:idle", "micro:park"].map(str::to_owned);
    let expected: [(&str, &[String]); 4] = [
        ("plain", &[idle.clone(), park.clone()]),
        ("attach", &[idle]),
        ("every:locks", std::slice::from_ref(&park)),
        ("lens:locks", std::slice::from_ref(&park)),
    ];
    assert_eq!(pairs, expected);
}
