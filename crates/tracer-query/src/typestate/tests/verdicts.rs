//! M-R10: what is not told changes no verdict.

use super::*;
use run::{Event, Telling, Verdict};

fn events(random: &mut Random, symbols: usize) -> Vec<Event> {
    let objects = 1 + random.below(12);
    let mut alive: Vec<u64> = Vec::new();
    let mut next = 0;
    let mut events = Vec::new();
    for _ in 0..random.below(400) {
        if alive.len() < objects {
            next += 1;
            alive.push(next);
        }
        let at = random.below(alive.len());
        if random.below(12) == 0 {
            events.push(Event::Death(alive.swap_remove(at)));
        } else {
            events.push(Event::Symbol(alive[at], u8::try_from(random.below(symbols)).unwrap()));
        }
    }
    events
}

#[test]
fn verdicts_of_random_programs_are_equal_with_and_without_suppression() {
    let machines: Vec<Machine> = [
        ("orwec", "(o(r|w|e)*c)*", ""),
        ("hn", "(h+ n)*", "final = 'any'"),
        ("hn", "(h+ [hn]*)?", "final = 'any'"),
        ("abc", "a* & b? & c{1,2}", ""),
        ("abc", ".* a b* c", ""),
        ("ab", "(a|b)*", ""),
    ]
    .into_iter()
    .map(|(letters, regex, more)| lettered(letters, regex, more).unwrap().machine)
    .collect();
    let mut random = Random(10);
    let (mut found, mut suppressed) = (0, 0);
    for round in 0..600 {
        let machine = &machines[round % machines.len()];
        let events = events(&mut random, machine.symbols.len());
        let all = machine.run(events.iter().copied(), Telling::All);
        let adaptive = machine.run(events, Telling::Adaptive);
        assert_eq!(all.verdicts, adaptive.verdicts);
        assert_eq!((all.objects, all.transitions), (adaptive.objects, adaptive.transitions));
        assert_eq!(all.events, adaptive.events + adaptive.suppressed);
        assert_eq!(all.suppressed, 0);
        found += all.verdicts.len();
        suppressed += adaptive.suppressed;
    }
    assert!(found > 1000 && suppressed > 1000, "{found} verdicts, {suppressed} suppressed");
}

#[test]
fn the_files_of_the_thesis_are_judged_as_there() {
    let entry = library::Entry::find("File").unwrap();
    let machine = Property::parse(entry.file, entry.text).unwrap().machine;
    let of = |name| u8::try_from(machine.symbols.iter().position(|symbol| symbol == name).unwrap()).unwrap();
    let [o, r, e, c] = ["o", "r", "e", "c"].map(of);
    let program = |symbols: &[u8]| symbols.iter().map(|symbol| Event::Symbol(1, *symbol)).collect::<Vec<_>>();
    let run = |symbols: &[u8]| machine.run(program(symbols), Telling::Adaptive);
    let conforming = run(&[o, r, e, r, e, c]);
    assert_eq!((conforming.verdicts, conforming.events, conforming.suppressed), (vec![], 1, 5));
    assert_eq!(conforming.transitions, 2);
    // `Found invalid transition ^ -> r`
    let no_open = run(&[r, e, c]);
    assert_eq!(no_open.verdicts, [Verdict::Illegal(1, 0, r)]);
    assert_eq!((machine.state(0), machine.symbol(r)), ("^", "r"));
    // `Dead object violation @ {r} state`
    let no_close = run(&[o, r, e]);
    assert_eq!(no_close.verdicts, [Verdict::Dead(1, 1)]);
    // Every symbol but open and close is off while a file is open, and all are once it was reported.
    assert_eq!(machine.names(machine.loops(1)), ["r", "w", "e"]);
    assert_eq!(machine.loops(machine.dead()), 0b11111);
}
