//! Sessions of shells that stand in for JVMs: order, failures, what is kept, and going on.

use std::{cell::RefCell, fs, path::Path, rc::Rc};

use super::*;
use crate::bench::{
    configuration::PLAIN,
    observer::Observer,
    program::{Agreement, Launch},
    results::{self, Observed},
};

const GOOD: &str = "echo READY; while read line; do echo DONE ns=5 valid=true turns=1; done";

struct Fake {
    name: &'static str,
    script: &'static str,
    missing: bool,
    methods: Result<Option<usize>, &'static str>,
}

impl Program for Fake {
    fn describe(&self) -> results::Program {
        results::Program { name: self.name.to_owned(), ..results::Program::default() }
    }

    fn prepare(&mut self) -> Result<(), Error> {
        let missing = || Error::Missing { what: "fake.jar".to_owned(), hint: "install it".to_owned() };
        if self.missing { Err(missing()) } else { Ok(()) }
    }

    fn methods(&self, _: Size, _: &Path, _: &Interruption) -> Result<Option<Vec<String>>, Error> {
        let named = |count: usize| (0..count).map(|number| format!("{}/A.m{number}:()V", self.name)).collect();
        self.methods.map(|count| count.map(named)).map_err(|what| Error::program(self.name, what))
    }

    fn launch(&self, _: Size) -> Result<Launch, Error> {
        let words = vec!["-c".into(), self.script.into()];
        Ok(Launch { java: Some("/bin/sh".into()), words, folder: None, agreement: Agreement::Lines })
    }
}

/// Writes down what is asked of it.
#[derive(Clone, Default)]
struct Notes(Rc<RefCell<Vec<&'static str>>>);

struct Watcher {
    notes: Notes,
    fails_at: &'static str,
}

impl Watcher {
    fn step(&self, what: &'static str) -> Result<(), Error> {
        self.notes.0.borrow_mut().push(what);
        if self.fails_at == what { Err(Error::program("watcher", format!("fails at {what}"))) } else { Ok(()) }
    }
}

impl Observer for Watcher {
    fn prepare(&mut self) -> Result<(String, String), Error> {
        self.step("prepare").map(|()| ("watcher".to_owned(), "1.0".to_owned()))
    }

    fn start(&mut self, pid: u32) -> Result<(), Error> {
        assert!(Path::new(&format!("/proc/{pid}")).exists());
        self.step("start")
    }

    fn stop(&mut self) -> Result<Observed, Error> {
        self.step("stop").map(|()| Observed { events: Some(3), ..Observed::default() })
    }
}

fn plain(name: &str) -> Configuration {
    Configuration { name: name.to_owned(), what: String::new(), flags: Vec::new(), observer: None, only: Vec::new() }
}

fn watched(notes: &Notes, fails_at: &'static str) -> Configuration {
    let watcher = Watcher { notes: notes.clone(), fails_at };
    Configuration { observer: Some(Box::new(watcher)), ..plain("watched") }
}

fn good(name: &'static str) -> Fake {
    Fake { name, script: GOOD, missing: false, methods: Ok(None) }
}

fn session(programs: Vec<Fake>, configurations: Vec<Configuration>) -> Session {
    let setting = Setting { size: Size::Small, java: "java".into(), flags: Vec::new(), limits: Limits::default() };
    let programs = programs.into_iter().map(|program| Box::new(program) as Box<dyn Program>).collect();
    Session { setting, programs, configurations }
}

fn method(runs: u32) -> Method {
    Method { runs, warm_up: 1, iterations: 1, settle_ms: 0, size: "small".to_owned(), seed: 11 }
}

/// A session in a file of its own, to its end.
fn run(session: &mut Session, runs: u32) -> Results {
    let directory = tempfile::tempdir().unwrap();
    let results = session.results(Environment::default(), method(runs), 1);
    let mut journal = Journal::create(&directory.path().join("r.json"), results).unwrap();
    session.run(&mut journal, &Interruption::default(), &mut |_| {}).unwrap();
    assert_eq!(&read(journal.path()).unwrap(), journal.results(), "all of it is in the file");
    journal.results().clone()
}

fn keys(results: &Results) -> Vec<(u32, String, String)> {
    results.runs.iter().map(|run| (run.round, run.program.clone(), run.configuration.clone())).collect()
}

#[test]
fn every_pair_is_run_in_every_round_and_what_it_says_is_kept() {
    let notes = Notes::default();
    let mut session = session(vec![good("a"), good("b")], vec![plain(PLAIN), watched(&notes, "")]);
    let results = run(&mut session, 2);
    let mut keys = keys(&results);
    assert!(keys.is_sorted_by_key(|(round, ..)| *round));
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 8);
    assert!(results.skipped.is_empty());
    assert!(results.runs.iter().all(|run| run.wall_ns == 5 && run.counts["turns"] == 1));
    assert!(results.runs.iter().all(|run| run.observed.is_some() == (run.configuration == "watched")));
    assert_eq!(results.environment.tools["watcher"], "1.0");
    assert_eq!(results.programs[0].command, ["/bin/sh", "-c", GOOD]);
    let expected: Vec<_> = std::iter::once("prepare").chain(["start", "stop"].repeat(4)).collect();
    assert_eq!(*notes.0.borrow(), expected, "prepared once, and stopped whenever started");
}

#[test]
fn what_fails_is_named_and_given_up_after_the_second_time_and_the_rest_goes_on() {
    let bad = Fake { name: "bad", script: "echo READY; read line; echo FAILED 3 rows, not 4", ..good("bad") };
    let gone = Fake { missing: true, ..good("gone") };
    let mut session = session(vec![bad, gone, good("good")], vec![plain(PLAIN)]);
    let mut begun = Vec::new();
    let mut told = 0;
    let directory = tempfile::tempdir().unwrap();
    let results = session.results(Environment::default(), method(5), 1);
    let mut journal = Journal::create(&directory.path().join("r.json"), results).unwrap();
    session
        .run(&mut journal, &Interruption::default(), &mut |news| match news {
            News::Begins { program, .. } => begun.push(program.to_owned()),
            News::Skipped(_) => told += 1,
            News::Counts { .. } | News::Counted { .. } | News::Made(_) => {}
        })
        .unwrap();
    let times = |name| begun.iter().filter(|program| *program == name).count();
    assert_eq!((times("bad"), times("gone"), times("good")), (2, 0, 5));
    let skipped = &journal.results().skipped;
    assert_eq!((skipped.len(), told), (2, 2));
    assert_eq!((skipped[0].program.as_deref(), skipped[0].configuration.as_deref()), (Some("gone"), None));
    assert!(skipped[0].why.contains("install it"));
    assert_eq!((skipped[1].program.as_deref(), skipped[1].configuration.as_deref()), (Some("bad"), Some(PLAIN)));
    assert!(skipped[1].why.contains("3 rows, not 4"), "{}", skipped[1].why);
    assert_eq!(journal.results().runs.len(), 5);
}

#[test]
fn methods_are_counted_once_and_a_count_that_fails_is_told_and_hinders_nothing() {
    let fakes = || {
        let counted = Fake { methods: Ok(Some(7)), ..good("counted") };
        let failing = Fake { methods: Err("has no JVM for it"), ..good("failing") };
        let gone = Fake { missing: true, methods: Ok(Some(8)), ..good("gone") };
        session(vec![counted, failing, gone, good("silent")], vec![plain(PLAIN)])
    };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.json");
    let asked = fakes().results(Environment::default(), method(1), 1);
    let mut told = Vec::new();
    let mut hear = |news: News<'_>| {
        if let News::Counted { program, methods } = news {
            told.push((program.to_owned(), methods.map_err(ToString::to_string)));
        }
    };
    let mut journal = Journal::create(&path, asked.clone()).unwrap();
    fakes().run(&mut journal, &Interruption::default(), &mut hear).unwrap();
    let results = read(&path).unwrap();
    let counts: Vec<_> = results.programs.iter().map(|program| program.application_methods).collect();
    assert_eq!(counts, [Some(7), None, None, None]);
    assert_eq!((results.runs.len(), results.skipped.len()), (3, 1), "only what is gone is skipped");
    drop(journal);
    let mut journal = Journal::resume(&path, &Results { method: method(1), ..asked }).unwrap();
    fakes().run(&mut journal, &Interruption::default(), &mut hear).unwrap();
    let why = "failing has no JVM for it".to_owned();
    assert_eq!(told, [("counted".to_owned(), Ok(7)), ("failing".to_owned(), Err(why))], "nothing is left to count for");
}

#[test]
fn an_observer_that_fails_is_stopped_and_spoils_only_its_own_runs() {
    for (fails_at, calls) in [
        ("prepare", vec!["prepare"]),
        ("start", vec!["prepare", "start", "stop", "start", "stop"]),
        ("stop", vec!["prepare", "start", "stop", "start", "stop"]),
    ] {
        let notes = Notes::default();
        let mut session = session(vec![good("a")], vec![plain(PLAIN), watched(&notes, fails_at)]);
        let results = run(&mut session, 3);
        assert!(results.runs.iter().all(|run| run.configuration == PLAIN), "{fails_at}");
        assert_eq!((results.runs.len(), results.skipped.len()), (3, 1), "{fails_at}");
        assert!(results.skipped[0].why.contains(&format!("fails at {fails_at}")));
        assert_eq!(*notes.0.borrow(), calls);
    }
}

/// Must know the methods.
struct Choosy(Rc<RefCell<Vec<(String, usize, u64)>>>);

impl Observer for Choosy {
    fn prepare(&mut self) -> Result<(String, String), Error> {
        Ok(("choosy".to_owned(), "1".to_owned()))
    }

    fn needs_methods(&self) -> bool {
        true
    }

    fn aim(&mut self, methods: &[String], seed: u64) {
        self.0.borrow_mut().push((methods[0].clone(), methods.len(), seed));
    }

    fn start(&mut self, _: u32) -> Result<(), Error> {
        Ok(())
    }

    fn stop(&mut self) -> Result<Observed, Error> {
        Ok(Observed::default())
    }
}

#[test]
fn an_observer_that_needs_methods_is_told_those_of_its_program_before_each_run_and_skips_what_has_none() {
    let aimed = Rc::new(RefCell::new(Vec::new()));
    let choosy = || Configuration { observer: Some(Box::new(Choosy(Rc::clone(&aimed)))), ..plain("choosy") };
    let fakes = || {
        let (a, b) = (Fake { methods: Ok(Some(3)), ..good("a") }, Fake { methods: Ok(Some(5)), ..good("b") });
        session(vec![a, b, good("none")], vec![plain(PLAIN), choosy()])
    };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.json");
    let asked = fakes().results(Environment::default(), method(2), 1);
    let mut journal = Journal::create(&path, asked.clone()).unwrap();
    let interruption = Interruption::default();
    let mut begun = 0;
    fakes()
        .run(&mut journal, &interruption, &mut |news| {
            begun += u32::from(matches!(news, News::Begins { .. }));
            if begun == 7 {
                interruption.raise(2);
            }
        })
        .unwrap();
    drop(journal);
    // The counts are known now, and the names are found again.
    let mut journal = Journal::resume(&path, &asked).unwrap();
    fakes().run(&mut journal, &Interruption::default(), &mut |_| {}).unwrap();
    let results = journal.results();
    let skipped: Vec<_> = results.skipped.iter().map(|skipped| skipped.program.as_deref()).collect();
    assert_eq!(skipped, [Some("none")], "{:?}", results.skipped);
    assert!(results.skipped[0].why.contains("a list of the methods"), "{}", results.skipped[0].why);
    let mut aimed = aimed.borrow().clone();
    aimed.sort();
    aimed.dedup();
    assert_eq!(aimed, [("a/A.m0:()V".to_owned(), 3, 11), ("b/A.m0:()V".to_owned(), 5, 11)]);
    assert_eq!(results.runs.iter().filter(|run| run.configuration == "choosy").count(), 4);
}

/// Changes code, as it says.
struct Settling(Notes);

impl Observer for Settling {
    fn prepare(&mut self) -> Result<(String, String), Error> {
        Ok(("settling".to_owned(), "1".to_owned()))
    }

    fn settles(&self) -> bool {
        true
    }

    fn start(&mut self, _: u32) -> Result<(), Error> {
        self.0.0.borrow_mut().push("start");
        Ok(())
    }

    fn stop(&mut self) -> Result<Observed, Error> {
        Ok(Observed { events: Some(9), lost: Some(4), ..Observed::default() })
    }
}

#[test]
fn where_code_is_changed_all_jvms_make_further_iterations_and_events_are_those_of_one() {
    const COUNTING: &str = "echo READY; n=0; while read line; do n=$((n+1)); echo DONE ns=$n valid=true; done";
    let fake = Fake { script: COUNTING, ..good("a") };
    let settling = Configuration { observer: Some(Box::new(Settling(Notes::default()))), ..plain("settling") };
    let notes = Notes::default();
    let mut session = session(vec![fake], vec![plain(PLAIN), settling, watched(&notes, "")]);
    let results = run(&mut session, 1);
    assert_eq!(results.runs.len(), 3);
    for run in &results.runs {
        assert_eq!(run.wall_ns, 3, "the third iteration of {}: one of warm-up, one to settle", run.configuration);
        let seen = run.observed.as_ref().map(|observed| (observed.events, observed.lost, observed.iterations));
        let expected = match run.configuration.as_str() {
            "settling" => Some((Some(4), Some(4), Some(2))),
            "watched" => Some((Some(3), None, None)),
            _ => None,
        };
        assert_eq!(seen, expected, "{}", run.configuration);
    }
}

#[test]
fn several_timed_iterations_are_one_on_average_and_their_counts_are_of_all() {
    const COUNTING: &str = "echo READY; n=0; while read line; do n=$((n+1)); echo DONE ns=$n valid=true turns=1 memory.collections=$n; done";
    let notes = Notes::default();
    let mut session = session(vec![Fake { script: COUNTING, ..good("a") }], vec![plain(PLAIN), watched(&notes, "")]);
    let directory = tempfile::tempdir().unwrap();
    let asked = session.results(Environment::default(), Method { iterations: 3, ..method(1) }, 1);
    let mut journal = Journal::create(&directory.path().join("r.json"), asked).unwrap();
    session.run(&mut journal, &Interruption::default(), &mut |_| {}).unwrap();
    for run in &journal.results().runs {
        // The second, the third and the fourth, after one of warm-up.
        assert_eq!((run.wall_ns, run.counts["turns"], run.memory.collections), (3, 3, Some(9)), "{run:?}");
        let seen = run.observed.as_ref().map(|observed| (observed.events, observed.iterations));
        assert_eq!(seen, (run.configuration == "watched").then_some((Some(1), Some(3))));
    }
}

#[test]
fn a_configuration_for_some_programs_is_run_with_these_only() {
    let only = Configuration { only: vec!["b".to_owned()], ..plain("special") };
    let mut session = session(vec![good("a"), good("b")], vec![plain(PLAIN), only]);
    let results = run(&mut session, 1);
    let of: Vec<_> = keys(&results).into_iter().filter(|(.., name)| name == "special").collect();
    assert_eq!((results.runs.len(), of), (3, vec![(0, "b".to_owned(), "special".to_owned())]));
    assert!(results.skipped.is_empty(), "that it does not make sense elsewhere is no failure");
}

#[test]
fn an_interrupted_session_keeps_what_it_has_and_goes_on_to_the_same_result() {
    let fakes = || session(vec![good("a"), good("b")], vec![plain(PLAIN), plain("other")]);
    let whole = keys(&run(&mut fakes(), 3));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.json");
    let asked = fakes().results(Environment::default(), method(3), 1);
    let mut journal = Journal::create(&path, asked.clone()).unwrap();
    let interruption = Interruption::default();
    let mut made = 0;
    fakes()
        .run(&mut journal, &interruption, &mut |news| {
            made += u32::from(matches!(news, News::Made(_)));
            // In the middle of the sixth run, whose JVM is ended.
            if matches!(news, News::Begins { done: 5, .. }) {
                interruption.raise(2);
            }
        })
        .unwrap();
    assert_eq!((made, read(&path).unwrap().runs.len()), (5, 5));
    assert!(journal.results().skipped.is_empty(), "it did not fail by itself");
    drop(journal);
    let mut journal = Journal::resume(&path, &asked).unwrap();
    fakes().run(&mut journal, &Interruption::default(), &mut |_| {}).unwrap();
    assert_eq!(keys(&read(&path).unwrap()), whole, "in the same order as without an interruption");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}
