//! Markers at every kind of place, all in one session on each release: loops, blocks, lines, fields and calls are come to as often as
//! the source says, receivers and arguments are those that the program made, and contexts are its chains of calls.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context as _, Result, ensure};
use tests::{
    expected::Expected,
    jdk::{self, Jdk},
    report::{Report, cell},
};
use tracer_analysis::{
    client::{Client, ClientReport, Instance, Reporting},
    session::Session,
};
use tracer_model::item::Item;
use tracer_query::mark::{Argument, Marker};
use tracer_source::source::recording::Recording;

use super::{attach, start, text};

/// The program's source, for the numbers of its lines.
const SOURCE: &str = include_str!("../../workloads/methods/Places.java");

/// Chains of calls are for a client that must be named.
const CONTEXTS: &str = "[[marker]]\nname = \"chain\"\nclass = \"Places\"\nmethod = \"first\"\n\
                        also = [\"Places::second\", \"Places::third\"]\nsubscribers = [\"contexts\"]\n";

/// The line that ends with this comment.
fn line_of(comment: &str) -> Result<usize> {
    let end = format!("// {comment}");
    Ok(1 + SOURCE.lines().position(|line| line.ends_with(&end)).with_context(|| format!("no line `{end}`"))?)
}

/// A marker of each kind.
fn markers() -> Result<Vec<String>> {
    let (first, last, fails) = (line_of("first")?, line_of("last")?, line_of("fails")?);
    Ok(vec![
        "loop=Places::loops@loop".to_owned(),
        "iteration=Places::loops@loop+point".to_owned(),
        "leaves=Places::leaves@loop".to_owned(),
        format!("range=Places::lines@line:{first}-{last}"),
        format!("fails=Places::lines@line:{fails}"),
        "block=Places::blocks@block".to_owned(),
        "read=Places::fields@field:Places.total=r".to_owned(),
        "write=Places::fields@field:Places.total=w".to_owned(),
        "access=Places::fields@field:Places.total=rw".to_owned(),
        "risky=Places::calls@call:Places::risky".to_owned(),
        "plain=Places::calls@call:Places::plain".to_owned(),
        "shape=Places$*::area+receiver".to_owned(),
        "given=Places::given+arguments".to_owned(),
    ])
}

#[test]
fn every_kind_of_place_is_come_to_as_often_as_the_source_says() -> Result<()> {
    for (release, jdk) in jdk::all()?.iter().enumerate() {
        // Counted in the JVM where that is enough, and sent one by one, by turns.
        let each: &[&str] = if release % 2 == 0 { &[] } else { &["--each"] };
        one(jdk, each).with_context(|| format!("{each:?} on JDK {}", jdk.release))?;
    }
    Ok(())
}

fn one(jdk: &Jdk, each: &[&str]) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let (spec, recording) = (directory.path().join("contexts.toml"), directory.path().join("places.jtrace"));
    std::fs::write(&spec, CONTEXTS)?;
    let markers = markers()?;
    let mut options: Vec<&str> = markers.iter().flat_map(|marker| ["--marker", marker.as_str()]).collect();
    options.extend(["--spec", spec.to_str().context("a path")?, "-o", recording.to_str().context("a path")?]);
    options.extend(each);
    let mut jvm = start(jdk, "methods", "Places", &[], &[])?;
    let session = attach(&jvm, "markers", &options)?;
    jvm.work()?;
    let report = session.report()?;
    let expected = Expected::parse(&jvm.stdout().text())?;
    jvm.finish()?;
    report.nothing_lost()?;
    places(&report, &expected)?;
    table(&report, &expected, "receiver", "marker_receivers", "class")?;
    table(&report, &expected, "context", "marker_contexts", "chain")?;
    let told = arguments(&recording)?;
    let told: BTreeMap<&str, u64> = told.iter().map(|(index, sum)| (index.as_str(), *sum)).collect();
    let expected = expected.of("argument")?;
    ensure!(told == expected, "arguments {told:?}, not {expected:?}");
    Ok(())
}

/// Each place of each marker, in the order of the code.
fn places(report: &Report, expected: &Expected) -> Result<()> {
    let mut found: BTreeMap<String, Vec<(u64, [u64; 3])>> = BTreeMap::new();
    for row in report.table("markers", "marker_places")? {
        let numbers = [cell(&row, "entered")?, cell(&row, "left")?, cell(&row, "thrown")?];
        found.entry(text(&row, "marker").to_owned()).or_default().push((cell(&row, "bci")?, numbers));
    }
    let (mut entered, mut thrown) = (BTreeMap::new(), BTreeMap::new());
    for (marker, places) in &mut found {
        places.sort_unstable();
        let is_region = ["loop", "leaves", "range", "fails", "risky", "plain"].contains(&marker.as_str());
        for (index, (_, [enters, left, thrown_out])) in places.iter().enumerate() {
            let place = format!("{marker}#{index}");
            ensure!(!is_region || left + thrown_out == *enters, "{place}: {enters} in, {left} and {thrown_out} out");
            entered.insert(place.clone(), *enters);
            thrown.insert(place, *thrown_out);
        }
    }
    for (kind, found) in [("entered", entered), ("thrown", thrown)] {
        let of_method = |place: &str| ["shape", "given", "chain"].contains(&place.split('#').next().unwrap_or(place));
        let found: BTreeMap<&str, u64> = found
            .iter()
            .map(|(place, number)| (place.as_str(), *number))
            .filter(|(place, _)| !of_method(place))
            .collect();
        let expected = expected.of(kind)?;
        ensure!(found == expected, "{kind} {found:?}, not {expected:?}");
    }
    Ok(())
}

/// A table whose rows are entered as often as the program says.
fn table(report: &Report, expected: &Expected, kind: &str, id: &str, key: &str) -> Result<()> {
    let rows = report.table("markers", id)?;
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for row in &rows {
        *found.entry(text(row, key).to_owned()).or_default() += cell(row, "entered")?;
    }
    let found: BTreeMap<&str, u64> = found.iter().map(|(of, number)| (of.as_str(), *number)).collect();
    let expected = expected.of(kind)?;
    ensure!(found == expected, "{kind} {found:?}, not {expected:?}");
    Ok(())
}

/// Adds up arguments by their index: integers, halves of floating-point numbers, lengths of texts, and 1 for each other object.
struct Sums(Arc<Mutex<BTreeMap<u8, u64>>>);

impl Client for Sums {
    fn name(&self) -> &'static str {
        "sums"
    }

    fn subscribe(&mut self, marker: &Marker) -> bool {
        marker.name == "given"
    }

    fn marker_argument(&mut self, _mark: &Instance<'_>, index: u8, value: &Argument) {
        let amount = match value {
            Argument::Integer(number) => u64::try_from(*number).unwrap_or(0),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the program's are small halves"
            )]
            Argument::Float(number) => (number * 2.0) as u64,
            Argument::Text(text) => text.chars().count() as u64,
            Argument::Null => 0,
            Argument::Object(_) => 1,
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(index).or_default() += amount;
    }

    fn report(&self, _at: &Reporting<'_>) -> ClientReport {
        ClientReport::default()
    }
}

/// What a client is given of the arguments that a recording holds.
fn arguments(recording: &Path) -> Result<BTreeMap<String, u64>> {
    let sums = Arc::new(Mutex::new(BTreeMap::new()));
    let (mut session, mut taken): (Option<Session>, bool) = (None, false);
    Recording::open(recording)?.replay(&mut |item| match (item, &mut session) {
        (Item::Start(start), session) => {
            let mut begun = Session::new(*start);
            taken = begun.add_client(Box::new(Sums(Arc::clone(&sums)))).is_none();
            *session = Some(begun);
        }
        (item, Some(session)) => {
            session.accept(&item);
        }
        (_, None) => {}
    })?;
    ensure!(taken, "the session has no markers");
    let sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(sums.iter().map(|(index, sum)| (index.to_string(), *sum)).collect())
}
