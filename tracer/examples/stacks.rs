//! Prints the stacks of a recording.
use std::collections::BTreeMap;
use tracer::{
    event::fields::fields,
    session::{Item, Session, Taken},
    source::recording::Recording,
};
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let mut session: Option<Session> = None;
    let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
    let mut events = Vec::new();
    Recording::open(path.as_ref())
        .unwrap()
        .replay(&mut |item| {
            if let Item::Start(start) = &item {
                session = Some(Session::new((**start).clone()));
                return;
            }
            let s = session.as_mut().unwrap();
            if let Taken::Event(e) = s.accept(&item) {
                events.push((fields(&e.payload).0.to_owned(), e.stack));
            }
        })
        .unwrap();
    let s = session.unwrap();
    for (name, id) in events {
        let text = match s.stacks().get(id) {
            Some(stack) => {
                let mut t: Vec<String> = s.stacks().frames_of(id).map(|f| format!("    {:?} {f}", f.kind)).collect();
                t.push(format!("    end root={} {}", stack.end.root, stack.end.reason));
                t.join("\n")
            }
            None => format!("    {}", tracer::stack::Stacks::absence(id)),
        };
        *counts.entry((name, text)).or_default() += 1;
    }
    let mut all: Vec<_> = counts.into_iter().collect();
    all.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    for ((name, text), n) in all.iter().take(std::env::args().nth(2).map_or(20, |n| n.parse().unwrap())) {
        println!("{n} {name}\n{text}");
    }
}
