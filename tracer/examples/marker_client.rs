//! An analysis of marks in one file: which receivers are checked out most often, and from inside of what.
//!
//! Copy it to begin an analysis of your own. It reads a recording, so it needs neither root nor a JVM:
//!
//! ```text
//! sudo jtrace markers PID --marker 'checkout=com.shop.*::checkout+receiver' -d 30s -o x.jtrace
//! cargo run --example marker_client x.jtrace
//! ```

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context as _, Result, bail};
use tracer_analysis::{
    client::{Client, ClientReport, Exit, Instance, Reporting},
    session::Session,
};
use tracer_model::{
    item::Item,
    report::{Cell, Column, Report, Shape, Summary, Table, Unit},
};
use tracer_query::mark::Marker;
use tracer_source::source::recording::Recording;
use tracer_view::view::text;

/// What the analysis keeps.
#[derive(Default)]
struct Receivers {
    /// Entries by the receiver's class, and by the marker around.
    entries: BTreeMap<(String, String), u64>,
    thrown: u64,
}

impl Client for Receivers {
    /// Markers can name it: `subscribers = ["receivers"]`.
    fn name(&self) -> &'static str {
        "receivers"
    }

    /// Asked once for each marker, before the first mark.
    fn subscribe(&mut self, _marker: &Marker) -> bool {
        true
    }

    /// Everything that is known of a mark hangs on the instance.
    fn marker_enter(&mut self, mark: &Instance<'_>) {
        let class = mark.receiver().and_then(|receiver| receiver.class()).unwrap_or("no receiver");
        // The region itself is the innermost one; the one before is around it.
        let around = mark.stack().entries().iter().rev().nth(1);
        let around = around.and_then(|entry| mark.known.markers().get(entry.marker as usize));
        let around = around.map_or("", |marker| marker.name.as_str());
        *self.entries.entry((class.to_owned(), around.to_owned())).or_default() += 1;
    }

    fn marker_exit(&mut self, _mark: &Instance<'_>, exit: &Exit) {
        self.thrown += u64::from(exit.ending == tracer_analysis::client::Ending::Thrown);
    }

    /// Becomes a part of the section `markers`: every view can draw it.
    fn report(&self, _at: &Reporting<'_>) -> ClientReport {
        let row = |((class, around), count): (&(String, String), &u64)| {
            let cells: Vec<Cell> = vec![class.clone().into(), around.clone().into(), (*count).into()];
            cells
        };
        let table = Table {
            id: "receivers_inside",
            title: "Receivers, and what is around".to_owned(),
            columns: vec![
                Column { key: "class", title: "Class", unit: Unit::Text },
                Column { key: "around", title: "Around", unit: Unit::Text },
                Column { key: "entered", title: "Entered", unit: Unit::Count },
            ],
            rows: self.entries.iter().map(row).collect(),
        };
        let summary = Summary::new().int("receivers_thrown", self.thrown);
        ClientReport { summary, shapes: vec![Shape::Table(table)], ..ClientReport::default() }
    }
}

/// Plays a recording to the client.
fn analyse(recording: &Path) -> Result<Report> {
    let mut session: Option<Session> = None;
    let mut has_markers = true;
    Recording::open(recording)?.replay(&mut |item| match (item, &mut session) {
        (Item::Start(start), session) => {
            let mut begun = Session::new(*start);
            has_markers = begun.add_client(Box::new(Receivers::default())).is_none();
            *session = Some(begun);
        }
        (item, Some(session)) => {
            session.accept(&item);
        }
        (_, None) => {}
    })?;
    if !has_markers {
        bail!("{} has no marks: record with `jtrace markers`", recording.display());
    }
    Ok(session.context("the recording is empty")?.report())
}

fn main() -> Result<()> {
    let recording = std::env::args().nth(1).context("usage: marker_client RECORDING")?;
    let report = analyse(recording.as_ref())?;
    text::write(&report, &text::TextOptions::default(), &mut std::io::stdout())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use tracer_source::source::{recording::Recorder, scenario::Scenario};

    use super::*;

    /// A recording of one of the scenarios of jtrace's own tests.
    fn recorded(scenario: &str, file: &Path) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios");
        let text = std::fs::read_to_string(folder.join(scenario)).expect("a scenario");
        let mut recorder = Recorder::new(std::fs::File::create(file).expect("a file")).expect("room");
        // There some markers are for the built-in clients alone.
        let text = text.replace(" subscribers=\"counts,contexts\"", "");
        let scenario = Scenario::parse(&text).expect("a right one");
        scenario.play(&mut |item| recorder.write(&item).expect("room"));
        recorder.flush().expect("room");
    }

    #[test]
    fn receivers_are_counted_by_what_is_around() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("x.jtrace");
        recorded("markers.txt", &file);
        let report = analyse(&file).expect("a report");
        let table = report.sections[0].table("receivers_inside").expect("its table");
        let rows: Vec<(String, String, Cell)> = table
            .rows
            .iter()
            .filter_map(|row| match row.as_slice() {
                [Cell::Text(class), Cell::Text(around), count] => Some((class.clone(), around.clone(), count.clone())),
                _ => None,
            })
            .filter(|(class, ..)| class.starts_with("com.shop"))
            .collect();
        let expected = [("com.shop.Cart", "", 3), ("com.shop.Cart", "fib", 1), ("com.shop.GiftCart", "", 2)]
            .map(|(class, around, count)| (class.to_owned(), around.to_owned(), Cell::Int(count)));
        assert_eq!(rows, expected);
        assert_eq!(report.sections[0].number("receivers_thrown"), Some(2.0));
    }

    #[test]
    fn a_recording_without_marks_is_said_to_have_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("x.jtrace");
        recorded("quiet.txt", &file);
        let error = analyse(&file).expect_err("no marks");
        assert!(error.to_string().contains("has no marks"), "{error}");
    }
}
