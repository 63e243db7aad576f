//! Prints how the stacks of a recording end.
use std::collections::BTreeMap;
use tracer::{
    event::fields::fields,
    session::{Item, Session, Taken},
    source::recording::Recording,
};
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let mut session: Option<Session> = None;
    let mut events = Vec::new();
    Recording::open(path.as_ref())
        .unwrap()
        .replay(&mut |item| {
            if let Item::Start(start) = &item {
                for m in &start.missing {
                    println!("missing {m}");
                }
                session = Some(Session::new((**start).clone()));
                return;
            }
            let s = session.as_mut().unwrap();
            if let Taken::Event(e) = s.accept(&item) {
                events.push((fields(&e.payload).0.to_owned(), e.stack, e.tid));
            }
        })
        .unwrap();
    let s = session.unwrap();
    let mut ends: BTreeMap<(String, String), u64> = BTreeMap::new();
    let mut unknown: BTreeMap<String, u64> = BTreeMap::new();
    let (mut java, mut root, mut nframes) = (0u64, 0u64, 0u64);
    for (name, id, tid) in &events {
        if id.0 == 0 {
            continue;
        }
        let end = match s.stacks().get(*id) {
            Some(stack) => {
                let j = s.stacks().frames_of(*id).any(|f| f.kind.is_java());
                let thread = s.names().thread(*tid);
                if j || !(thread.starts_with("C1")
                    || thread.starts_with("C2")
                    || thread.starts_with("G1")
                    || thread.starts_with("GC")
                    || thread.starts_with("VM"))
                {
                    java += 1;
                    root += u64::from(stack.end.root);
                }
                for f in s.stacks().frames_of(*id) {
                    nframes += 1;
                    if format!("{:?}", f.kind) == "Unknown" {
                        *unknown.entry(f.name.clone()).or_default() += 1;
                    }
                }
                if stack.end.root {
                    "root".to_owned()
                } else {
                    let top: Vec<String> = s.stacks().frames_of(*id).map(|f| f.to_string()).collect();
                    format!(
                        "{} last {} | top {} [{}] {}",
                        stack.end.reason,
                        top.last().cloned().unwrap_or_default(),
                        top.iter().take(3).cloned().collect::<Vec<_>>().join(" < "),
                        top.len(),
                        thread
                    )
                }
            }
            None => tracer::stack::Stacks::absence(*id).to_owned(),
        };
        *ends.entry((name.clone(), end)).or_default() += 1;
    }
    println!(
        "java {java} root {root} = {:.3}%  frames {nframes} unknown {:?}",
        root as f64 * 100.0 / java.max(1) as f64,
        unknown
    );
    let mut all: Vec<_> = ends.into_iter().collect();
    all.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    for ((name, end), n) in all.iter().take(25) {
        println!("{n:7} {name:22} {end}");
    }
}
