//! A session of all lenses, and what this process takes of the memory. Not a test by itself.

use tracer_analysis::session::Session;
use tracer_model::item::Item;
use tracer_source::source::scenario::Scenario;

/// What this process takes of the memory.
pub(crate) fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages: u64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("pages");
    pages * 4096
}

/// A session of all lenses.
pub(crate) fn started() -> Session {
    let mut session = None;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/scenarios/hostile.txt");
    let scenario = Scenario::parse(&std::fs::read_to_string(file).expect("a scenario")).expect("it is right");
    scenario.play(&mut |item| {
        if let (Item::Start(start), None) = (item, &session) {
            let lenses = tracer_event::lens::Lens::ALL.to_vec();
            session = Some(Session::new(tracer_model::item::Start { lenses, ..*start }));
        }
    });
    session.expect("a scenario begins with a start")
}
