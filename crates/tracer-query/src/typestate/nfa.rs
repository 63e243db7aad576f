//! From an expression to a table of transitions: Thompson's construction, then sets of states. Any-order is the product of
//! its parts, in which either moves.

use std::collections::HashMap;

use super::expression::Expression;

/// Most states on the way; what needs more is no protocol that people can follow.
const MAX_STATES: usize = 2048;

/// Most sets of states before they are minimised.
const MAX_SETS: usize = 1024;

/// A complete deterministic table. State 0 is the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// By state and symbol.
    pub(super) next: Vec<Vec<usize>>,
    /// Whether a state accepts.
    pub(super) accepting: Vec<bool>,
}

/// The expression has too many states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

/// The table of an expression over so many symbols.
pub(super) fn table(expression: &Expression, symbols: usize) -> Result<Table, TooLarge> {
    subsets(&build(expression)?, symbols)
}

#[derive(Clone, Debug, Default)]
struct State {
    /// States that are reached by nothing.
    free: Vec<usize>,
    /// States that are reached by one of these symbols.
    moves: Vec<(u32, usize)>,
}

/// Begins at the first state and ends at the last.
struct Nfa(Vec<State>);

impl Nfa {
    fn with(states: usize) -> Result<Self, TooLarge> {
        if states > MAX_STATES { Err(TooLarge) } else { Ok(Self(vec![State::default(); states])) }
    }

    fn last(&self) -> usize {
        self.0.len() - 1
    }

    /// Puts another in from a state on, and gives where it ends.
    fn put(&mut self, other: &Self, at: usize) -> usize {
        for (state, from) in self.0[at..].iter_mut().zip(&other.0) {
            state.free.extend(from.free.iter().map(|to| to + at));
            state.moves.extend(from.moves.iter().map(|(symbols, to)| (*symbols, to + at)));
        }
        at + other.last()
    }
}

fn build(expression: &Expression) -> Result<Nfa, TooLarge> {
    match expression {
        Expression::One(symbols) => {
            let mut nfa = Nfa::with(2)?;
            nfa.0[0].moves.push((*symbols, 1));
            Ok(nfa)
        }
        Expression::Sequence(parts) => sequence(&parts.iter().map(build).collect::<Result<Vec<_>, _>>()?),
        Expression::Choice(parts) => {
            let parts = parts.iter().map(build).collect::<Result<Vec<_>, _>>()?;
            let mut nfa = Nfa::with(2 + parts.iter().map(|part| part.0.len()).sum::<usize>())?;
            let (last, mut at) = (nfa.last(), 1);
            for part in &parts {
                nfa.0[0].free.push(at);
                let end = nfa.put(part, at);
                nfa.0[end].free.push(last);
                at = end + 1;
            }
            Ok(nfa)
        }
        Expression::Shuffle(parts) => {
            let mut parts = parts.iter().map(build);
            let first = parts.next().unwrap_or_else(|| Nfa::with(1))?;
            parts.try_fold(first, |all, part| shuffled(&all, &part?))
        }
        Expression::Repeat(part, least, most) => {
            let part = build(part)?;
            let mut copies = Vec::new();
            for _ in 0..*least {
                copies.push(Nfa(part.0.clone()));
            }
            match most {
                None => copies.push(starred(&part)?),
                Some(most) => {
                    for _ in *least..*most {
                        copies.push(optional(&part)?);
                    }
                }
            }
            if copies.len().saturating_mul(part.0.len()) > MAX_STATES {
                return Err(TooLarge);
            }
            sequence(&copies)
        }
    }
}

fn sequence(parts: &[Nfa]) -> Result<Nfa, TooLarge> {
    let mut nfa = Nfa::with(1 + parts.iter().map(|part| part.0.len()).sum::<usize>())?;
    let mut end = 0;
    for part in parts {
        nfa.0[end].free.push(end + 1);
        end = nfa.put(part, end + 1);
    }
    Ok(nfa)
}

fn optional(part: &Nfa) -> Result<Nfa, TooLarge> {
    let mut nfa = sequence(&[Nfa(part.0.clone())])?;
    let last = nfa.last();
    nfa.0[0].free.push(last);
    Ok(nfa)
}

fn starred(part: &Nfa) -> Result<Nfa, TooLarge> {
    let mut nfa = Nfa::with(part.0.len() + 2)?;
    let last = nfa.last();
    let end = nfa.put(part, 1);
    nfa.0[0].free.extend([1, last]);
    nfa.0[end].free.extend([1, last]);
    Ok(nfa)
}

fn shuffled(one: &Nfa, other: &Nfa) -> Result<Nfa, TooLarge> {
    let width = other.0.len();
    let mut nfa = Nfa::with(one.0.len() * width)?;
    for (at, state) in nfa.0.iter_mut().enumerate() {
        let (row, column) = (at / width, at % width);
        let (down, right) = (&one.0[row], &other.0[column]);
        state.free.extend(down.free.iter().map(|to| to * width + column));
        state.free.extend(right.free.iter().map(|to| row * width + to));
        state.moves.extend(down.moves.iter().map(|(symbols, to)| (*symbols, to * width + column)));
        state.moves.extend(right.moves.iter().map(|(symbols, to)| (*symbols, row * width + to)));
    }
    Ok(nfa)
}

/// Every set of states that some word leads to.
fn subsets(nfa: &Nfa, symbols: usize) -> Result<Table, TooLarge> {
    let first = closed(nfa, [0]);
    let mut numbers = HashMap::from([(first.clone(), 0)]);
    let mut sets = vec![first];
    let mut table = Table::default();
    while let Some(set) = sets.get(table.next.len()).cloned() {
        table.accepting.push(set.last() == Some(&nfa.last()));
        let mut row = Vec::with_capacity(symbols);
        for symbol in 0..symbols {
            let moves = set.iter().flat_map(|state| &nfa.0[*state].moves);
            let reached = closed(nfa, moves.filter(|(symbols, _)| symbols >> symbol & 1 == 1).map(|(_, to)| *to));
            let number = *numbers.entry(reached).or_insert_with_key(|reached| {
                sets.push(reached.clone());
                sets.len() - 1
            });
            row.push(number);
        }
        if sets.len() > MAX_SETS {
            return Err(TooLarge);
        }
        table.next.push(row);
    }
    Ok(table)
}

/// These states and all that are reached from them by nothing, in order.
fn closed(nfa: &Nfa, states: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut is_in = vec![false; nfa.0.len()];
    let mut open: Vec<usize> = states.into_iter().collect();
    while let Some(state) = open.pop() {
        if !is_in[state] {
            is_in[state] = true;
            open.extend(&nfa.0[state].free);
        }
    }
    is_in.iter().enumerate().filter(|(_, is_in)| **is_in).map(|(state, _)| state).collect()
}
