//! Reads a regular expression over symbols.
//!
//! ```text
//! expression = shuffle ("|" shuffle)*
//! shuffle    = sequence ("&" sequence)*            all of them, their events in any order
//! sequence   = repeated+
//! repeated   = one ("*" | "+" | "?" | "{n}" | "{n,}" | "{n,m}")*
//! one        = symbol | "<" symbol ">" | "." | "[" "^"? symbols "]" | "(" expression ")"
//! ```
//!
//! A run of letters is the symbol of that name, or one symbol a letter: `o(r|e|w)*c` and `open (read|write)* close` both say
//! what they seem to. Blanks separate and mean nothing else.

use std::ops::Range;

use super::error::Wrong;
use crate::predicate::error::nearest;

/// Longest expression.
const MAX_LENGTH: usize = 4096;

/// Deepest nesting of parentheses.
const MAX_NESTING: usize = 50;

/// Largest number in braces.
const MAX_REPEAT: u32 = 64;

/// A regular expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expression {
    /// One of these symbols, as bits.
    One(u32),
    /// One after the other.
    Sequence(Vec<Self>),
    /// One of them.
    Choice(Vec<Self>),
    /// All of them, their events in any order.
    Shuffle(Vec<Self>),
    /// So often at least, and at most.
    Repeat(Box<Self>, u32, Option<u32>),
}

impl Expression {
    /// Reads an expression over these symbols.
    pub(super) fn parse(text: &str, symbols: &[&str]) -> Result<Self, Wrong> {
        if text.len() > MAX_LENGTH {
            let what = format!("an expression of more than {MAX_LENGTH} bytes");
            return Err(Wrong::new(0..text.len(), what, "write states and their transitions instead: [[state]]"));
        }
        let mut parser = Parser { text, at: 0, symbols, nesting: 0, pending: Vec::new() };
        let expression = parser.choice()?;
        match parser.peek() {
            None => Ok(expression),
            Some(')') => {
                Err(parser.wrong("nothing was opened that this would close", "leave it out, or open it with ("))
            }
            Some(_) => Err(parser.expected()),
        }
    }

    /// The symbols in it.
    pub(super) fn symbols(&self) -> u32 {
        match self {
            Self::One(symbols) => *symbols,
            Self::Sequence(parts) | Self::Choice(parts) | Self::Shuffle(parts) => {
                parts.iter().fold(0, |all, part| all | part.symbols())
            }
            Self::Repeat(part, ..) => part.symbols(),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    symbols: &'a [&'a str],
    nesting: usize,
    /// What is left of a run of letters, each a symbol, backwards.
    pending: Vec<u32>,
}

impl Parser<'_> {
    fn choice(&mut self) -> Result<Expression, Wrong> {
        self.list('|', Self::shuffle, Expression::Choice)
    }

    fn shuffle(&mut self) -> Result<Expression, Wrong> {
        self.list('&', Self::sequence, Expression::Shuffle)
    }

    fn list(
        &mut self,
        sign: char,
        part: impl Fn(&mut Self) -> Result<Expression, Wrong>,
        whole: fn(Vec<Expression>) -> Expression,
    ) -> Result<Expression, Wrong> {
        let first = part(self)?;
        let mut parts = vec![first];
        while self.take(sign) {
            parts.push(part(self)?);
        }
        Ok(single(parts, whole))
    }

    fn sequence(&mut self) -> Result<Expression, Wrong> {
        let mut parts = vec![self.repeated()?];
        while !matches!(self.peek(), None | Some('|' | '&' | ')')) {
            parts.push(self.repeated()?);
        }
        Ok(single(parts, Expression::Sequence))
    }

    fn repeated(&mut self) -> Result<Expression, Wrong> {
        let mut one = self.one()?;
        while self.pending.is_empty() {
            let (least, most) = match self.peek() {
                Some('*') => (0, None),
                Some('+') => (1, None),
                Some('?') => (0, Some(1)),
                Some('{') => {
                    let (least, most) = self.braces()?;
                    one = Expression::Repeat(Box::new(one), least, most);
                    continue;
                }
                _ => break,
            };
            self.at += 1;
            one = Expression::Repeat(Box::new(one), least, most);
        }
        Ok(one)
    }

    fn one(&mut self) -> Result<Expression, Wrong> {
        if let Some(symbol) = self.pending.pop() {
            return Ok(Expression::One(symbol));
        }
        let all = u32::MAX >> (32 - self.symbols.len().clamp(1, 32));
        match self.peek() {
            Some('.') => {
                self.at += 1;
                Ok(Expression::One(all))
            }
            Some('(') => self.parentheses(),
            Some('[') => self.class(all),
            Some('<') => self.angle(),
            Some(c) if in_name(c) => {
                let mut letters = self.run()?;
                letters.reverse();
                self.pending = letters;
                self.one()
            }
            _ => Err(self.expected()),
        }
    }

    fn parentheses(&mut self) -> Result<Expression, Wrong> {
        let start = self.at;
        self.at += 1;
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(self.wrong(&format!("more than {MAX_NESTING} parentheses in each other"), "leave some out"));
        }
        let expression = self.choice()?;
        self.nesting -= 1;
        if self.take(')') {
            return Ok(expression);
        }
        Err(Wrong::new(start..start + 1, "this is never closed", "close it with )"))
    }

    /// `[read write]`, `[rw]`, `[^close]`.
    fn class(&mut self, all: u32) -> Result<Expression, Wrong> {
        let start = self.at;
        self.at += 1;
        let but = self.take('^');
        let mut symbols = 0;
        loop {
            match self.peek() {
                Some(']') => break,
                Some(',') => self.at += 1,
                Some('<') => symbols |= self.angled()?,
                Some(c) if in_name(c) => symbols |= self.run()?.into_iter().fold(0, |all, symbol| all | symbol),
                Some('-') => return Err(self.wrong("symbols have no ranges", "name each: [read write]")),
                Some(_) => return Err(self.expected()),
                None => return Err(Wrong::new(start..start + 1, "this is never closed", "close it with ]")),
            }
        }
        self.at += 1;
        let symbols = if but { all & !symbols } else { symbols };
        if symbols == 0 {
            return Err(Wrong::new(start..self.at, "this stands for no symbol", "name at least one, or leave it out"));
        }
        Ok(Expression::One(symbols))
    }

    fn angle(&mut self) -> Result<Expression, Wrong> {
        self.angled().map(Expression::One)
    }

    fn angled(&mut self) -> Result<u32, Wrong> {
        let start = self.at;
        let Some(length) = self.text[start..].find('>') else {
            return Err(Wrong::new(start..start + 1, "this is never closed", "close it with >"));
        };
        self.at = start + length + 1;
        let name = self.text[start + 1..start + length].trim();
        match self.symbols.iter().position(|symbol| *symbol == name) {
            Some(symbol) => Ok(1 << symbol),
            None => Err(self.unknown(name, start..self.at)),
        }
    }

    /// A run of letters: the one symbol, or a symbol for each.
    fn run(&mut self) -> Result<Vec<u32>, Wrong> {
        let start = self.at;
        let length = self.text[start..].find(|c| !in_name(c)).unwrap_or(self.text.len() - start);
        self.at = start + length;
        let run = &self.text[start..self.at];
        let symbol = |name: &str| self.symbols.iter().position(|symbol| *symbol == name).map(|symbol| 1_u32 << symbol);
        let whole = symbol(run);
        let letters: Option<Vec<u32>> = run.char_indices().map(|(at, c)| symbol(&run[at..at + c.len_utf8()])).collect();
        match (whole, letters) {
            (Some(_), Some(_)) if run.chars().count() > 1 => {
                let apart: Vec<String> = run.chars().map(String::from).collect();
                let hint = format!("write <{run}> for the one, {} for the others", apart.join(" "));
                Err(Wrong::new(start..self.at, format!("`{run}` is a symbol, and so is each of its letters"), hint))
            }
            (Some(one), _) => Ok(vec![one]),
            (None, Some(letters)) => Ok(letters),
            (None, None) => Err(self.unknown_run(run, start)),
        }
    }

    fn unknown_run(&self, run: &str, start: usize) -> Wrong {
        let is_symbol = |c: char| self.symbols.iter().any(|symbol| symbol.chars().eq([c]));
        let letters = run.chars().filter(|c| is_symbol(*c)).count();
        let unlike = nearest(run, self.symbols.iter().copied().filter(|symbol| symbol.len() > 1)).is_none();
        // Where some letters are symbols, letters were meant: the first that is none is the mistake.
        match run.char_indices().find(|(_, c)| !is_symbol(*c)) {
            Some((at, c)) if letters > 0 && unlike => {
                let at = start + at;
                self.unknown(&c.to_string(), at..at + c.len_utf8())
            }
            _ => self.unknown(run, start..start + run.len()),
        }
    }

    fn unknown(&self, name: &str, span: Range<usize>) -> Wrong {
        let hint = nearest(name, self.symbols.iter().copied()).map_or_else(
            || format!("the symbols are {}; declare others in [symbols]", self.symbols.join(", ")),
            |nearest| format!("did you mean {nearest}?"),
        );
        Wrong::new(span, format!("`{name}` is no symbol of this property"), hint)
    }

    /// `{2}`, `{2,}`, `{2,4}`.
    fn braces(&mut self) -> Result<(u32, Option<u32>), Wrong> {
        let start = self.at;
        let rest = &self.text[start..];
        let end = rest.find('}').map_or(rest.len(), |end| end + 1);
        self.at = start + end;
        let inner = rest[..end].trim_start_matches('{').trim_end_matches('}');
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|number| *number <= MAX_REPEAT);
        let read = match inner.split_once(',') {
            None => number(inner).map(|exactly| (exactly, Some(exactly))),
            Some((least, most)) if most.trim().is_empty() => number(least).map(|least| (least, None)),
            Some((least, most)) => number(least).zip(number(most)).map(|(least, most)| (least, Some(most))),
        };
        read.filter(|(least, most)| rest[..end].ends_with('}') && most.is_none_or(|most| *least <= most)).ok_or_else(
            || {
                let hint = format!("write {{2}}, {{2,}} or {{2,4}}, with numbers up to {MAX_REPEAT}");
                Wrong::new(start..self.at, "this is no number of times", hint)
            },
        )
    }

    /// The next character that is no blank; it is not taken.
    fn peek(&mut self) -> Option<char> {
        if !self.pending.is_empty() {
            // Something that begins an expression, which is what is left of the run.
            return Some('<');
        }
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, sign: char) -> bool {
        let is = self.pending.is_empty() && self.peek() == Some(sign);
        if is {
            self.at += sign.len_utf8();
        }
        is
    }

    fn expected(&mut self) -> Wrong {
        let hint = match self.peek() {
            Some('*' | '+' | '?' | '{') => "it repeats what stands before it, and nothing does",
            Some('|' | '&' | ')') | None => "for `nothing at all` put ? behind the rest",
            _ => "there are symbols, . [ ] ( ) | & * + ? and {n,m}",
        };
        self.wrong("a symbol or ( is missing here", hint)
    }

    fn wrong(&self, what: &str, hint: &str) -> Wrong {
        let length = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        Wrong::new(self.at..self.at + length, what, hint)
    }
}

fn in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn single(mut parts: Vec<Expression>, whole: fn(Vec<Expression>) -> Expression) -> Expression {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            whole(parts)
        }
    }
}
