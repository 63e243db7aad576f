//! M-R6: a machine accepts exactly the words of its expression. The other opinion is Brzozowski's: derivatives of a tree of
//! this file's own, which shares nothing with the machine but the text.

use std::rc::Rc;

use super::*;

#[derive(Clone, Debug, PartialEq)]
enum Tree {
    Never,
    Nothing,
    Letters(u32),
    Then(Rc<Self>, Rc<Self>),
    Or(Rc<Self>, Rc<Self>),
    Mixed(Rc<Self>, Rc<Self>),
    Star(Rc<Self>),
}

use Tree::{Letters, Mixed, Never, Nothing, Or, Star, Then};

impl Tree {
    fn then(self, other: Self) -> Self {
        match (self, other) {
            (Never, _) | (_, Never) => Never,
            (Nothing, tree) | (tree, Nothing) => tree,
            (one, other) => Then(one.into(), other.into()),
        }
    }

    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Never, tree) | (tree, Never) => tree,
            (one, other) if one == other => one,
            (one, other) => Or(one.into(), other.into()),
        }
    }

    fn mixed(self, other: Self) -> Self {
        match (self, other) {
            (Never, _) | (_, Never) => Never,
            (Nothing, tree) | (tree, Nothing) => tree,
            (one, other) => Mixed(one.into(), other.into()),
        }
    }

    fn may_be_nothing(&self) -> bool {
        match self {
            Never | Letters(_) => false,
            Nothing | Star(_) => true,
            Then(one, other) | Mixed(one, other) => one.may_be_nothing() && other.may_be_nothing(),
            Or(one, other) => one.may_be_nothing() || other.may_be_nothing(),
        }
    }

    /// What may follow a letter.
    fn after(&self, letter: usize) -> Self {
        let whole = |tree: &Rc<Self>| tree.as_ref().clone();
        match self {
            Never | Nothing => Never,
            Letters(set) => {
                if set >> letter & 1 == 1 {
                    Nothing
                } else {
                    Never
                }
            }
            Then(one, other) => {
                let first = one.after(letter).then(whole(other));
                if one.may_be_nothing() { first.or(other.after(letter)) } else { first }
            }
            Or(one, other) => one.after(letter).or(other.after(letter)),
            Mixed(one, other) => one.after(letter).mixed(whole(other)).or(whole(one).mixed(other.after(letter))),
            Star(tree) => tree.after(letter).then(self.clone()),
        }
    }

    fn is_never(&self) -> bool {
        match self {
            Never => true,
            Nothing | Letters(_) | Star(_) => false,
            Then(one, other) | Mixed(one, other) => one.is_never() || other.is_never(),
            Or(one, other) => one.is_never() && other.is_never(),
        }
    }
}

/// An expression, as text and as a tree.
fn random(random_number: &mut Random, letters: usize, depth: usize) -> (String, Tree) {
    let letter = |at: usize| char::from(b'a' + u8::try_from(at).unwrap());
    let choice = if depth == 0 { random_number.below(4) } else { random_number.below(12) };
    let mut part = |depth: usize| random(random_number, letters, depth);
    match choice {
        0..=2 => {
            let at = random_number.below(letters);
            (letter(at).to_string(), Letters(1 << at))
        }
        3 => match random_number.below(3) {
            0 => (".".to_owned(), Letters((1 << letters) - 1)),
            1 => {
                let at = random_number.below(letters);
                (format!("[^{}]", letter(at)), Letters(((1 << letters) - 1) & !(1 << at)))
            }
            _ => {
                let (one, other) = (random_number.below(letters), random_number.below(letters));
                (format!("[{} {}]", letter(one), letter(other)), Letters(1 << one | 1 << other))
            }
        },
        4 | 5 => {
            let ((one, a), (other, b)) = (part(depth - 1), part(depth - 1));
            (format!("({one})({other})"), a.then(b))
        }
        6 | 7 => {
            let ((one, a), (other, b)) = (part(depth - 1), part(depth - 1));
            (format!("({one} | {other})"), a.or(b))
        }
        8 => {
            let ((one, a), (other, b)) = (part(depth - 1), part(depth - 1));
            (format!("(({one})&({other}))"), a.mixed(b))
        }
        9 => {
            let (text, tree) = part(depth - 1);
            (format!("({text})*"), Star(tree.into()))
        }
        10 => {
            let (text, tree) = part(depth - 1);
            (format!("({text})+"), tree.clone().then(Star(tree.into())))
        }
        _ => {
            let (text, tree) = part(depth - 1);
            match random_number.below(3) {
                0 => (format!("({text})?"), tree.or(Nothing)),
                1 => (format!("({text}){{2}}"), tree.clone().then(tree)),
                _ => (format!("({text}){{1,3}}"), tree.clone().then(tree.clone().then(tree.or(Nothing)).or(Nothing))),
            }
        }
    }
}

/// Compares on all words that go on by so many letters, and gives how many those are.
fn compare(machine: &Machine, state: State, tree: &Tree, left: usize, any: bool, word: &mut String) -> usize {
    let legal = if any { !tree.is_never() } else { tree.may_be_nothing() };
    let accepted = state != machine.dead() && machine.may_end(state);
    assert_eq!(accepted, legal, "the word `{word}`");
    // Dead is what no word can follow.
    assert_eq!(state == machine.dead(), tree.is_never(), "the beginning `{word}`");
    if left == 0 {
        return 1;
    }
    if tree.is_never() {
        // Neither accepts anything that begins so.
        return (0..=u32::try_from(left).unwrap()).map(|length| machine.symbols.len().pow(length)).sum();
    }
    let mut count = 1;
    for (letter, name) in machine.symbols.iter().enumerate() {
        word.push_str(name);
        let next = machine.step(state, u8::try_from(letter).unwrap());
        count += compare(machine, next, &tree.after(letter), left - 1, any, word);
        word.pop();
    }
    count
}

/// An automaton is minimal if no two states are equal: found by marking pairs, not by refining classes.
fn assert_minimal(machine: &Machine) {
    let count = machine.next.len();
    let accepts = |state: usize| machine.accepting[state];
    let mut apart = vec![vec![false; count]; count];
    loop {
        let mut changed = false;
        for one in 0..count {
            for other in 0..count {
                let steps = machine.next[one].iter().zip(&machine.next[other]);
                let differ = accepts(one) != accepts(other)
                    || steps.clone().any(|(one, other)| apart[usize::from(*one)][usize::from(*other)]);
                if differ && !apart[one][other] {
                    apart[one][other] = true;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    for (one, row) in apart.iter().enumerate() {
        for (other, apart) in row[..one].iter().enumerate() {
            assert!(apart, "states {one} and {other} are equal");
        }
    }
}

#[test]
fn a_thousand_random_expressions_accept_exactly_their_words_up_to_length_8() {
    let mut numbers = Random(6);
    let (mut kept, mut words, mut refused) = (0, 0, 0);
    while kept < 1000 {
        let letters = if kept % 8 == 7 { 3 } else { 2 };
        let (text, tree) = random(&mut numbers, letters, 3);
        let any = kept % 5 == 4;
        let names = &"abc"[..letters];
        // Symbols that an expression does not use are refused, so every letter is put in where it cannot be.
        let (text, tree) = (format!("{text} | {names}{{9}}"), tree);
        let text = text.replace(&format!("{names}{{9}}"), &format!("({names}){{9}}"));
        let longer = (0..9).fold(Nothing, |all, _| (0..letters).fold(all, |all, at| all.then(Letters(1 << at))));
        let tree = tree.or(longer);
        match lettered(names, &text, if any { "final = \"any\"" } else { "" }) {
            Ok(property) => {
                let machine = &property.machine;
                words += compare(machine, machine.start, &tree, 8, any, &mut String::new());
                assert_minimal(machine);
                kept += 1;
            }
            Err(error) => {
                assert!(error.what.contains("states"), "{text}: {error}");
                refused += 1;
            }
        }
    }
    assert_eq!(words, 875 * 511 + 125 * 9841);
    assert!(refused < 100, "{refused} expressions were too large");
}

#[test]
fn equal_languages_give_equal_machines() {
    for (letters, one, other) in [
        ("ab", "(a|b)*", "(a*b*)*"),
        ("ab", "[ab]+", "..*"),
        ("ab", "a & b", "ab | ba"),
        ("ab", "(ab)*a", "a(ba)*"),
        ("abc", "a & b & c", "c & b & a"),
        ("abc", "(o)".replace('o', "a(b|c)*").as_str(), "a|a[bc]+"),
        ("ab", "a{2,4}b", "aa(a|aa)?b"),
        ("ab", "a{2,}b", "aaa*b"),
        ("ab", "ab?", "a|ab"),
    ] {
        let machine = |regex| lettered(letters, regex, "").unwrap().machine;
        assert_eq!(machine(one), machine(other), "{one} {other}");
    }
}

#[test]
fn a_machine_that_need_not_end_accepts_the_beginnings_of_its_words() {
    let property = lettered("hn", "(h+n)*", "final = \"any\"").unwrap();
    assert_eq!(property.machine.accepting, [true, true, false]);
    // A state that differed only by accepting is gone.
    let property = lettered("ab", "a(bb)*", "final = \"any\"").unwrap();
    assert_eq!(property.machine.next, [[1, 2], [2, 1], [2, 2]]);
}

#[test]
fn states_and_an_expression_that_mean_the_same_are_the_same() {
    let head = "name = \"F\"\nmessage = \"m\"\nclasses = \"F\"\n";
    let symbols = "[symbols]\no = \"open()\"\nr = \"read()\"\nc = \"close()\"\n";
    let states = "[[state]]\nname = \"closed\"\naccepting = true\non = { o = \"open\" }\n\
                  [[state]]\nname = \"open\"\non = { r = \"reading\", c = \"closed\" }\n\
                  [[state]]\nname = \"reading\"\non = { r = \"open\", c = \"closed\" }\n";
    let written = Property::parse("a", &format!("{head}{symbols}{states}")).unwrap().machine;
    let meant = Property::parse("b", &format!("{head}regex = '(o r* c)*'\n{symbols}")).unwrap().machine;
    assert_eq!((&written.next, &written.accepting), (&meant.next, &meant.accepting));
    assert_eq!(written.states, ["closed", "open/reading", "dead"]);
    assert_eq!(meant.states, ["^", "{o,r}", "dead"]);
}
