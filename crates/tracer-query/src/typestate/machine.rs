//! The automaton of a property: minimal, complete, and numbered in one way only.

use serde::{Deserialize, Serialize};

use super::nfa::Table;

/// Most states, the dead one included: a set of states is one word.
pub const MAX_STATES: usize = 64;

/// Most symbols: a set of symbols is half a word.
pub const MAX_SYMBOLS: usize = 32;

/// A state's number.
pub type State = u8;

/// A symbol's number.
pub type Symbol = u8;

/// A minimal, complete automaton. States are numbered breadth first from the start, by the order of the symbols; the dead one,
/// from which nothing accepts, is always there and comes last. So equal languages over equal symbols give equal machines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Names of the symbols.
    pub symbols: Vec<String>,
    /// What people call each state: `^` for the start, else the symbols that lead into it; or the names that it was given.
    pub states: Vec<String>,
    /// The state that each symbol leads to, by state.
    pub next: Vec<Vec<State>>,
    /// Whether an object may die in a state.
    pub accepting: Vec<bool>,
    /// Where every object begins.
    pub start: State,
}

/// Why a table makes no machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// No word is accepted.
    Empty,
    /// So many states, with the dead one.
    TooMany(usize),
}

impl Machine {
    /// Minimises a table. `any`: every state from which an accepting one can be reached is accepting. `names`, where there are
    /// any, are those of the table's states.
    pub(super) fn new(table: &Table, symbols: Vec<String>, any: bool, names: &[String]) -> Result<Self, Refusal> {
        let live = live(table);
        if live.first() != Some(&true) {
            return Err(Refusal::Empty);
        }
        let accepting = if any { live.clone() } else { table.accepting.clone() };
        let class = classes(table, &accepting);
        let mut order = vec![0];
        let mut number = vec![None; table.next.len()];
        number[class[0]] = Some(0);
        let mut at = 0;
        while let Some(state) = order.get(at).copied() {
            for to in &table.next[state] {
                if live[*to] && number[class[*to]].is_none() {
                    number[class[*to]] = Some(order.len());
                    order.push(*to);
                }
            }
            at += 1;
        }
        let count = order.len() + 1;
        let Some(dead) = State::try_from(order.len()).ok().filter(|_| count <= MAX_STATES) else {
            return Err(Refusal::TooMany(count));
        };
        let numbered = |state: usize| {
            number[class[state]].filter(|_| live[state]).and_then(|number| State::try_from(number).ok()).unwrap_or(dead)
        };
        let mut next: Vec<Vec<State>> =
            order.iter().map(|state| table.next[*state].iter().map(|to| numbered(*to)).collect()).collect();
        next.push(vec![dead; symbols.len()]);
        let mut ends: Vec<bool> = order.iter().map(|state| accepting[*state]).collect();
        ends.push(false);
        let states = if names.is_empty() {
            led_to(&symbols, &next)
        } else {
            let of = |state: &usize| {
                let same = names.iter().enumerate().filter(|(other, _)| class[*other] == class[*state]);
                same.map(|(_, name)| name.as_str()).collect::<Vec<_>>().join("/")
            };
            order.iter().map(of).chain([DEAD.to_owned()]).collect()
        };
        Ok(Self { symbols, states, next, accepting: ends, start: 0 })
    }

    /// The state that nothing leads out of.
    pub fn dead(&self) -> State {
        State::try_from(self.next.len().saturating_sub(1)).unwrap_or(State::MAX)
    }

    /// Where a symbol leads to; the dead state for numbers that there are not.
    pub fn step(&self, state: State, symbol: Symbol) -> State {
        self.next
            .get(usize::from(state))
            .and_then(|row| row.get(usize::from(symbol)))
            .copied()
            .unwrap_or_else(|| self.dead())
    }

    /// Whether an object may die in this state. One that has been reported may: it is not reported twice.
    pub fn may_end(&self, state: State) -> bool {
        state >= self.dead() || self.accepting.get(usize::from(state)).copied().unwrap_or(true)
    }

    /// The symbols that leave an object in this state, as bits: what need not be told of it.
    pub fn loops(&self, state: State) -> u32 {
        let row = self.next.get(usize::from(state)).map_or(&[][..], Vec::as_slice);
        row.iter().enumerate().filter(|(_, to)| **to == state).fold(0, |set, (symbol, _)| set | 1 << symbol)
    }

    /// The symbols that are illegal in this state, as bits.
    pub fn illegal(&self, state: State) -> u32 {
        let row = self.next.get(usize::from(state)).map_or(&[][..], Vec::as_slice);
        let dead = self.dead();
        row.iter().enumerate().filter(|(_, to)| **to == dead).fold(0, |set, (symbol, _)| set | 1 << symbol)
    }

    /// What people call a state.
    pub fn state(&self, state: State) -> &str {
        self.states.get(usize::from(state)).map_or(DEAD, String::as_str)
    }

    /// What people call a symbol.
    pub fn symbol(&self, symbol: Symbol) -> &str {
        self.symbols.get(usize::from(symbol)).map_or("?", String::as_str)
    }

    /// The names of a set of symbols.
    pub fn names(&self, set: u32) -> Vec<&str> {
        let named = self.symbols.iter().enumerate().filter(|(symbol, _)| set >> symbol & 1 == 1);
        named.map(|(_, name)| name.as_str()).collect()
    }
}

/// Name of the dead state.
const DEAD: &str = "dead";

/// Whether an accepting state can be reached, by state.
fn live(table: &Table) -> Vec<bool> {
    let mut live = table.accepting.clone();
    let mut from = vec![Vec::new(); live.len()];
    for (state, row) in table.next.iter().enumerate() {
        for to in row {
            from[*to].push(state);
        }
    }
    let mut open: Vec<usize> = (0..live.len()).filter(|state| live[*state]).collect();
    while let Some(state) = open.pop() {
        for before in &from[state] {
            if !live[*before] {
                live[*before] = true;
                open.push(*before);
            }
        }
    }
    live
}

/// Moore's refinement: states of one class accept the same words. A class is named by one of its states.
fn classes(table: &Table, accepting: &[bool]) -> Vec<usize> {
    let representative = |of: bool| accepting.iter().position(|accepts| *accepts == of).unwrap_or(0);
    let (yes, no) = (representative(true), representative(false));
    let mut class: Vec<usize> = accepting.iter().map(|accepts| if *accepts { yes } else { no }).collect();
    let mut count = 0;
    loop {
        let mut known = std::collections::HashMap::new();
        let mut refined = Vec::with_capacity(class.len());
        for (state, row) in table.next.iter().enumerate() {
            let signature: Vec<usize> = std::iter::once(class[state]).chain(row.iter().map(|to| class[*to])).collect();
            refined.push(*known.entry(signature).or_insert(state));
        }
        class = refined;
        // A refinement that splits no class is the last.
        if known.len() == count {
            return class;
        }
        count = known.len();
    }
}

/// Names of states by the symbols that lead into them.
fn led_to(symbols: &[String], next: &[Vec<State>]) -> Vec<String> {
    let last = next.len().saturating_sub(1);
    let name = |state: usize| {
        let leads = |symbol: usize| next[..last].iter().any(|row| usize::from(row[symbol]) == state);
        let names: Vec<&str> =
            (0..symbols.len()).filter(|symbol| leads(*symbol)).map(|symbol| symbols[symbol].as_str()).collect();
        format!("{{{}}}", names.join(","))
    };
    (0..next.len())
        .map(|state| match state {
            0 => "^".to_owned(),
            state if state == last => DEAD.to_owned(),
            state => name(state),
        })
        .collect()
}
