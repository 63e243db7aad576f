//! Lens `markers`: how often marked points and regions of code are passed, entered and left, how long regions take, and which lies
//! inside which. What is shown is what clients report ([`crate::client`]): `counts` always, others where a marker names them.

mod contexts;
mod counts;

use self::{contexts::Contexts, counts::Counts};
use super::{Analysis, Context, EndedThreads, Lens, Scaled, table::column};
use crate::{
    client::{Client, Dispatch},
    event::Event,
    item::{GuardAction, Wish},
    mark::{Asked, Inside, MarkBatch, Marker, Switched, Woven},
    report::{Cell, Section, Shape, Summary, Table, Unit},
};

/// A client that markers can name.
fn built_in(name: &str) -> Option<Box<dyn Client>> {
    match name {
        "counts" => Some(Box::new(Counts::default())),
        "contexts" => Some(Box::new(Contexts::default())),
        _ => None,
    }
}

/// The analysis.
#[derive(Debug)]
pub struct Markers {
    dispatch: Dispatch,
    /// Names of the built-in clients that are there.
    clients: Vec<&'static str>,
    woven: Vec<Woven>,
    unwoven: Vec<Woven>,
    restored: Option<Woven>,
    lacks: Vec<String>,
    /// Markers that are on and off together, and whether any client wants one of them.
    switched: Vec<Switched>,
    wanted: Vec<bool>,
}

/// Most sentences of the library that are kept.
const MAX_LACKS: usize = 100;

impl Default for Markers {
    fn default() -> Self {
        let mut markers = Self {
            dispatch: Dispatch::default(),
            clients: Vec::new(),
            woven: Vec::new(),
            unwoven: Vec::new(),
            restored: None,
            lacks: Vec::new(),
            switched: Vec::new(),
            wanted: Vec::new(),
        };
        markers.need("counts");
        markers
    }
}

impl Markers {
    /// Adds a built-in client, unless it is there.
    fn need(&mut self, name: &'static str) {
        if !self.clients.contains(&name)
            && let Some(client) = built_in(name)
            && self.dispatch.add(client).is_ok()
        {
            self.clients.push(name);
        }
    }

    /// Contexts are shown only where a marker asks for them by name: they are of no use for others.
    fn need_those_named(&mut self, asked: &Asked) {
        for name in crate::marker::CLIENTS {
            if asked.markers.iter().any(|marker| marker.subscribers.iter().any(|subscriber| subscriber == name)) {
                self.need(name);
            }
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> =
            self.woven.iter().filter_map(|woven| woven.code_before.as_ref()?.sentence()).collect();
        if let Some(sentence) = said("Weaving", "was", &self.woven) {
            notes.push(sentence);
        }
        if let Some(sentence) = said("Taking markers out of", "was", &self.unwoven) {
            notes.push(sentence);
        }
        if let Some(sentence) =
            self.restored.as_ref().and_then(|woven| said("Restoring", "was", std::slice::from_ref(woven)))
        {
            notes.push(sentence);
        }
        let rounds = [("weaving", &self.woven), ("taking markers out", &self.unwoven)];
        notes.extend(
            rounds.iter().flat_map(|(what, rounds)| rounds.iter().filter_map(|woven| woven.still_running(what))),
        );
        notes.extend(self.restored.as_ref().and_then(|woven| woven.still_running("restoring")));
        notes.extend(self.lacks.iter().cloned());
        notes.extend(self.without_places());
        notes.extend(self.dispatch.notes());
        notes
    }

    /// Markers that stand nowhere.
    fn without_places(&self) -> Option<String> {
        let known = self.dispatch.known();
        let mut has_place = vec![self.woven.is_empty(); known.markers().len()];
        for place in known.places() {
            has_place[place.marker] = true;
        }
        let without = known.markers().iter().zip(has_place).filter(|(_, has_place)| !has_place);
        let names: Vec<&str> = without.map(|(marker, _)| marker.name.as_str()).collect();
        (!names.is_empty()).then(|| {
            format!(
                "Nothing was woven for {}: no method that was named has such a place, or all were left as they were.",
                names.join(", ")
            )
        })
    }

    /// What was left as it was.
    fn skipped(&self) -> Option<Shape> {
        let entries = self.woven.iter().chain(&self.unwoven).chain(&self.restored).flat_map(|woven| &woven.skipped);
        let row = |skipped: &tracer_weave::Skipped| {
            let method = skipped.method.as_ref().map(|(name, descriptor)| format!("{name}{descriptor}"));
            let cells: Vec<Cell> = vec![skipped.class.clone().into(), method.into(), skipped.reason.clone().into()];
            cells
        };
        let rows: Vec<Vec<Cell>> = entries.take(crate::mark::MAX_SKIPPED).map(row).collect();
        let columns = vec![
            column("class", "Class", Unit::Text),
            column("method", "Method", Unit::Text),
            column("reason", "Reason", Unit::Text),
        ];
        let title = "Left as it was".to_owned();
        (!rows.is_empty()).then_some(Shape::Table(Table { id: "marker_skipped", title, columns, rows }))
    }
}

/// How long something took that was done in several rounds.
fn said(what: &str, verb: &str, rounds: &[Woven]) -> Option<String> {
    if rounds.is_empty() {
        return None;
    }
    let sum = |field: fn(&Woven) -> u64| rounds.iter().fold(0, |sum: u64, woven| sum.saturating_add(field(woven)));
    let (classes, methods, took_ns) =
        (sum(|woven| woven.classes), sum(|woven| woven.methods), sum(|woven| woven.took_ns));
    let longest_ns = rounds.iter().map(|woven| woven.longest_step_ns).max().unwrap_or(0);
    Some(format!(
        "{what} {classes} classes ({methods} methods) took {:.1} ms; the longest step {verb} {:.1} ms.",
        took_ns as f64 / 1e6,
        longest_ns as f64 / 1e6
    ))
}

impl Analysis for Markers {
    fn lens(&self) -> Lens {
        Lens::Markers
    }

    fn event(&mut self, _event: &Event) {}

    fn add_client(&mut self, client: Box<dyn Client>) -> Option<Box<dyn Client>> {
        // One that is too many is left out; sessions have few.
        _ = self.dispatch.add(client);
        None
    }

    fn inside(&mut self, inside: &Inside) {
        match inside {
            Inside::Asked(asked) => {
                self.need_those_named(asked);
                self.switched = asked.switched();
                self.wanted = vec![true; self.switched.len()];
            }
            Inside::Woven(woven) => self.woven.push(woven.clone()),
            // At most once for each marker.
            Inside::Unwoven(woven) => self.unwoven.push(woven.clone()),
            Inside::Restored(woven) => self.restored = Some(woven.clone()),
            Inside::Lacks(sentence) if self.lacks.len() < MAX_LACKS => self.lacks.push(sentence.clone()),
            Inside::Lacks(_) | Inside::Place(_) | Inside::Class { .. } | Inside::Size { .. } | Inside::Sampled(_) => {}
        }
        self.dispatch.inside(inside);
    }

    fn marks(&mut self, batch: &MarkBatch<'_>) {
        self.dispatch.marks(batch);
    }

    /// What was told before it was decided lies in the batches before; what comes later does not know what was open then.
    fn threads_ended(&mut self, ended: &EndedThreads) {
        self.dispatch.threads_ended(ended.iter());
    }

    fn guard(&mut self, action: &GuardAction) {
        if action.lens == Lens::Markers
            && let Some(of) = self.switched.iter().find(|of| of.name == action.group)
        {
            self.dispatch.switched(&of.markers);
        }
    }

    fn wishes(&mut self) -> Vec<Wish> {
        let by_marker = self.dispatch.wanted();
        let mut wishes = Vec::new();
        for (of, wanted) in self.switched.iter().zip(&mut self.wanted) {
            let on = of.markers.iter().any(|marker| by_marker.get(*marker).copied().unwrap_or(true));
            if on != *wanted {
                *wanted = on;
                wishes.push(Wish { group: of.name.clone(), on });
            }
        }
        wishes
    }

    fn scaled(&self, group: &str) -> Vec<Scaled> {
        let Some(of) = self.switched.iter().find(|of| of.name == group) else { return Vec::new() };
        // Calls of chosen methods, objects that are made there, and exceptions are numbers of other lenses.
        let markers = self.dispatch.known().markers();
        let is_of_lens = |marker: &Marker| marker.is_of_calls() || marker.is_of_objects() || marker.is_of_exceptions();
        if of.markers.iter().all(|marker| markers.get(*marker).is_some_and(is_of_lens)) {
            return Vec::new();
        }
        vec![Scaled::events(of.markers.iter().map(|marker| self.dispatch.events(*marker)).sum())]
    }

    fn section(&self, context: Context<'_>) -> Section {
        let known = self.dispatch.known();
        let skipped = self.woven.iter().fold(0, |sum: u64, woven| sum.saturating_add(woven.skipped_count));
        let sum =
            |field: fn(&Woven) -> u64| self.woven.iter().fold(0, |sum: u64, woven| sum.saturating_add(field(woven)));
        let mut summary =
            Summary::new().int("markers", known.markers().len() as u64).int("places", known.places().len() as u64);
        let mut notes = self.notes();
        let mut shapes = Vec::new();
        for (_, report) in self.dispatch.reports(context.names, context.with_profiles) {
            summary = summary.followed_by(report.summary);
            notes.extend(report.notes);
            shapes.extend(report.shapes.into_iter().filter(|shape| !shape.is_empty()));
        }
        let summary = summary
            .int("skipped_methods", skipped)
            .int("lost_words", self.dispatch.lost_words())
            .int("kept_back_words", self.dispatch.kept_back_words())
            .int("woven_classes", sum(|woven| woven.classes))
            .int("weaving_ns", sum(|woven| woven.took_ns))
            .int("longest_step_ns", self.woven.iter().map(|woven| woven.longest_step_ns).max().unwrap_or(0))
            .int("restoring_ns", self.restored.as_ref().map_or(0, |woven| woven.took_ns));
        shapes.extend(self.skipped());
        Section { id: Lens::Markers.id(), title: "Markers".to_owned(), summary, notes, shapes }
    }
}

#[cfg(test)]
mod tests {
    use tracer_common::marks::WordKind;

    use super::{counts::Counts, *};
    use crate::{
        client::testing::{Play, Scribe},
        event::Tid,
        mark::Marker,
        mark::testing::{Words, marker},
        names::Names,
    };

    #[test]
    fn marks_of_threads_that_ended_are_those_of_one_and_none_is_missing() {
        let mut play = Play::new(vec![marker("a")], vec![Box::new(Counts::default())]);
        let mut words = Words::default();
        words.push(WordKind::Enter, 1, 0).push(WordKind::Exit, 1, 0);
        (0..5000).for_each(|buffer| play.batch(buffer, &words, false));
        for _ in 0..2 {
            play.dispatch.threads_ended((10..5000).map(|buffer| Tid(1000 + buffer)));
        }
        // A new thread has the index of one that ended, and nothing of its counts.
        play.batch(5000, &words, false);
        let (_, report) = play.dispatch.reports(&Names::default(), true).remove(0);
        let table = report.shapes.iter().find_map(|shape| match shape {
            Shape::Table(table) if table.id == "marker_threads" => Some(table),
            _ => None,
        });
        let rows = &table.expect("a table of threads").rows;
        let entered: Vec<_> = rows.iter().map(|row| row[2].clone()).collect();
        assert_eq!(entered[0], Cell::Int(4990), "of those that ended");
        assert_eq!(entered[1..], vec![Cell::Int(1); 11], "ten that live, and a new one");
    }

    /// Whoever asks for calls gets them in the lens `calls`: a 0 here would say that there were none.
    #[test]
    fn a_marker_that_is_for_others_has_no_counts_here() {
        let others = Marker { subscribers: vec!["mine".to_owned()], ..marker("b") };
        let mut play = Play::new(vec![marker("a"), others.clone()], vec![Box::new(Counts::default())]);
        let mut words = Words::default();
        play.batch(0, words.push(WordKind::Enter, 1, 0), false);
        let (_, report) = play.dispatch.reports(&Names::default(), true).remove(0);
        let Some(Shape::Table(table)) = report.shapes.first() else { panic!("a table of markers") };
        let entered: Vec<_> = table.rows.iter().map(|row| row[3].clone()).collect();
        assert_eq!(entered, [Cell::Int(1), Cell::Missing]);
        assert!(report.summary.get("events").is_some());
        let play = Play::new(vec![others], vec![Box::new(Counts::default())]);
        let (_, report) = play.dispatch.reports(&Names::default(), true).remove(0);
        assert!(report.summary.get("events").is_none());
    }

    /// What a client asks for is said once, and of markers that go together when none of them is wanted.
    #[test]
    fn wishes_are_about_what_is_switched_together() {
        let scribe = Scribe::new("mine");
        let mut markers = Markers::default();
        assert!(markers.add_client(Box::new(scribe.clone())).is_none());
        let mine = |name: &str, inside: &[&str]| Marker {
            subscribers: vec!["mine".to_owned()],
            inside: inside.iter().map(|name| (*name).to_owned()).collect(),
            ..marker(name)
        };
        let asked = vec![mine("a", &[]), mine("b", &["a"]), mine("c", &[]), marker("shared")];
        markers.inside(&Inside::Asked(Asked { markers: asked, ..Asked::default() }));
        let mut wishes = |switches: &[(usize, bool)]| {
            *scribe.switches.lock().expect("no panic") = switches.to_vec();
            let wishes = markers.wishes();
            wishes.into_iter().map(|wish| (wish.group, wish.on)).collect::<Vec<_>>()
        };
        let wish = |group: &str, on| (group.to_owned(), on);
        assert_eq!(wishes(&[(0, false), (2, false), (3, false)]), [wish("marker c", false)], "counts wants the last");
        assert_eq!(wishes(&[(1, false)]), [wish("markers a, b", false)]);
        assert!(wishes(&[]).is_empty());
        assert_eq!(wishes(&[(0, true)]), [wish("markers a, b", true)]);
    }
}
