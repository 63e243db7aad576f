//! What the tests of sessions share: scenarios from their files, recordings of them, and how a recording reads back. Not a
//! test by itself.

use std::{fs, path::Path};

use tracer_analysis::session::Session;
use tracer_model::{
    item::Item,
    report::{Finding, Report},
};
use tracer_source::source::{
    recording::{Error, Recorder, Recording},
    scenario::Scenario,
};

/// Names and texts of all scenario files, in the order of the names.
pub(crate) fn scenarios() -> Vec<(String, Scenario)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios");
    let mut paths: Vec<_> =
        fs::read_dir(&folder).expect("scenarios").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let scenarios: Vec<_> = paths
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a scenario");
            let scenario = Scenario::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (path.file_stem().expect("a name").to_string_lossy().into_owned(), scenario)
        })
        .collect();
    assert!(scenarios.len() >= 4, "the scenarios are not where they are looked for");
    scenarios
}

/// The scenario of this name.
pub(crate) fn scenario(name: &str) -> Scenario {
    scenarios().into_iter().find(|(other, _)| other == name).unwrap_or_else(|| panic!("no scenario {name}")).1
}

/// A fold over items that keeps the session.
#[derive(Default)]
pub(crate) struct Fold(Option<Session>);

impl Fold {
    /// Takes an item.
    pub(crate) fn take(&mut self, item: Item<'_>) {
        match (item, &mut self.0) {
            (Item::Start(start), session @ None) => *session = Some(Session::new(*start)),
            (item, Some(session)) => {
                session.accept(&item);
            }
            (item, None) => panic!("{item:?} comes before the start"),
        }
    }

    /// The report, where there was a start.
    pub(crate) fn report(&self) -> Option<Report> {
        self.0.as_ref().map(Session::report)
    }

    /// The findings, without the rest of the report.
    pub(crate) fn findings(&self) -> Option<Vec<Finding>> {
        self.0.as_ref().map(Session::findings)
    }
}

/// The report of a scenario, without a recording in between.
pub(crate) fn live_report(scenario: &Scenario) -> Report {
    let mut fold = Fold::default();
    scenario.play(&mut |item| fold.take(item));
    fold.report().expect("a scenario begins with a start")
}

/// A recording of a scenario; it is flushed after every `flush_every` items.
pub(crate) fn recording(scenario: &Scenario, flush_every: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut recorder = Recorder::new(&mut bytes).expect("memory takes everything");
    let mut items = 0;
    scenario.play(&mut |item| {
        recorder.write(&item).expect("memory takes everything");
        items += 1;
        if items % flush_every == 0 {
            recorder.flush().expect("memory takes everything");
        }
    });
    recorder.flush().expect("memory takes everything");
    drop(recorder);
    bytes
}

/// Reads a recording from memory.
pub(crate) fn replay(bytes: &[u8], sink: &mut dyn FnMut(Item<'_>)) -> Result<(), Error> {
    Recording::new(bytes, Path::new("x.jtrace"))?.replay(sink)
}
