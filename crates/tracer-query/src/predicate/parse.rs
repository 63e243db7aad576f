//! From a text to a tree, with the types of all conditions checked.

mod assertion;
mod complaint;
mod condition;

use super::{
    Assertion,
    error::Error,
    field::{Field, Kind, Type},
    token::{self, Piece, Token, Wrong},
    tree::{Expr, Span, Tree},
};

/// Most bytes of a predicate's text.
pub const MAX_TEXT: usize = 4_096;
/// Most parentheses and `!` around a condition.
pub const MAX_NESTING: usize = 32;
/// Most conditions; each element of a list is one.
pub const MAX_CONDITIONS: usize = 256;
/// Largest `n` of `sample(1/n)`: the chance is one of the 2^32 numbers that the kernel draws, and stays true to 0.02 %.
pub const MAX_SAMPLE: u64 = 1_000_000;

/// The tests that are no comparison of a field.
const TESTS: [&str; 3] = ["sample", "nth", "first"];

/// Reads a predicate for events of a kind.
pub(super) fn parse(text: &str, kind: Kind) -> Result<Expr, Error> {
    read(text, kind, Parser::or).map_err(|wrong| refused("--where", text, wrong))
}

/// Reads an assertion over the objects of a heap.
pub(super) fn assertion(text: &str) -> Result<Assertion, Error> {
    read(text, Kind::HeapObject, Parser::assertion).map_err(|wrong| refused("--assert", text, wrong))
}

fn refused(option: &'static str, text: &str, (what, span, hint): Wrong) -> Error {
    Error { option, text: text.to_owned(), span, what, hint }
}

/// Reads all of a text.
fn read<'a, T>(text: &'a str, kind: Kind, whole: impl FnOnce(&mut Parser<'a>) -> Result<T, Wrong>) -> Result<T, Wrong> {
    if text.len() > MAX_TEXT {
        let span = Span { start: MAX_TEXT, end: MAX_TEXT };
        let hint = (!kind.is_of_heap()).then(|| "-I and -X take patterns of their own".to_owned());
        return Err((format!("a predicate has at most {MAX_TEXT} bytes"), span, hint));
    }
    let pieces = token::tokens(text)?;
    let mut parser = Parser { pieces, at: 0, kind, nesting: 0, conditions: 0, counters: 0 };
    let read = whole(&mut parser)?;
    match parser.take() {
        (Token::End, _) => Ok(read),
        (Token::Sign(")"), span) => Err(complaint::wrong("this parenthesis was not opened", span, "leave it out")),
        (token, span) => Err(complaint::no_operator(&token, span)),
    }
}

struct Parser<'a> {
    pieces: Vec<Piece<'a>>,
    at: usize,
    kind: Kind,
    nesting: usize,
    conditions: usize,
    counters: usize,
}

impl<'a> Parser<'a> {
    /// The token that comes.
    fn peek(&self) -> &Token<'a> {
        self.pieces.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    /// The token that comes, which is then passed; the end stays.
    fn take(&mut self) -> Piece<'a> {
        let last = self.pieces.len().saturating_sub(1);
        let piece = self.pieces.get(self.at.min(last)).cloned().unwrap_or((Token::End, Span::default()));
        self.at = (self.at + 1).min(last);
        piece
    }

    /// Passes the sign if it is what comes.
    fn passes(&mut self, sign: &str) -> bool {
        let comes = matches!(self.peek(), Token::Sign(next) if *next == sign);
        if comes {
            self.take();
        }
        comes
    }

    fn or(&mut self) -> Result<Expr, Wrong> {
        let mut parts = vec![self.and()?];
        while self.passes("||") {
            parts.push(self.and()?);
        }
        Ok(joined(parts, Tree::Or))
    }

    fn and(&mut self) -> Result<Expr, Wrong> {
        let mut parts = vec![self.unary()?];
        while self.passes("&&") {
            parts.push(self.unary()?);
        }
        Ok(joined(parts, Tree::And))
    }

    fn unary(&mut self) -> Result<Expr, Wrong> {
        let (token, span) = self.take();
        match token {
            Token::Sign("!") => {
                self.deeper(span)?;
                self.check_negated()?;
                let part = self.unary()?;
                self.nesting -= 1;
                let span = span.to(part.span);
                Ok(Expr { span, ..part.negated() })
            }
            Token::Sign("(") => self.enclosed(span),
            Token::Word(word) => self.condition(word, span),
            token => Err(complaint::no_condition(self.kind, &token, span, self.pieces.len() == 1)),
        }
    }

    /// What stands behind a parenthesis that was passed, up to its end.
    fn enclosed(&mut self, span: Span) -> Result<Expr, Wrong> {
        self.deeper(span)?;
        let part = self.or()?;
        self.nesting -= 1;
        match self.take() {
            (Token::Sign(")"), end) => Ok(Expr { span: span.to(end), ..part }),
            (Token::End, _) => {
                Err(complaint::wrong("this parenthesis is not closed", span, "put ) where its part ends"))
            }
            (token, span) => Err(complaint::no_operator(&token, span)),
        }
    }

    fn deeper(&mut self, span: Span) -> Result<(), Wrong> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err((format!("more than {MAX_NESTING} parentheses and ! around one condition"), span, None));
        }
        Ok(())
    }

    /// `!` before a comparison would read as if it belonged to the field.
    fn check_negated(&self) -> Result<(), Wrong> {
        let (Some((Token::Word(word), span)), Some((Token::Sign(sign), end))) =
            (self.pieces.get(self.at), self.pieces.get(self.at + 1))
        else {
            return Ok(());
        };
        let meant = match *sign {
            "==" => "!=",
            "!=" => "==",
            "~" => "!~",
            "!~" => "~",
            "<" => ">=",
            "<=" => ">",
            ">" => "<=",
            ">=" => "<",
            _ => return Ok(()),
        };
        let hint = format!("write {word} {meant}, or put the comparison into parentheses");
        let before = if self.kind.is_of_heap() { "a parenthesis" } else { "a parenthesis, a test or daemon" };
        Err(complaint::wrong(format!("! stands before {before}"), span.to(*end), hint))
    }

    fn condition(&mut self, word: &str, span: Span) -> Result<Expr, Wrong> {
        if TESTS.contains(&word) {
            return self.test(word, span);
        }
        let Some(field) = Field::named(word) else { return Err(complaint::unknown_field(self.kind, word, span)) };
        if !self.kind.has(field) {
            let hint = self.kind.instead_of(field).map(str::to_owned);
            return Err((format!("{} has no {field}", self.kind), span, hint));
        }
        let condition = match field.holds() {
            Type::Text => self.text(field)?,
            Type::Flag => self.flag()?,
            Type::Number | Type::Bytes | Type::Time => self.number(field)?,
        };
        self.count(span)?;
        Ok(Expr { tree: Tree::Test(condition), span: span.to(self.before()) })
    }

    /// Where the token stands that was passed last.
    fn before(&self) -> Span {
        self.at.checked_sub(1).and_then(|at| self.pieces.get(at)).map_or(Span::default(), |&(_, span)| span)
    }

    fn count(&mut self, span: Span) -> Result<(), Wrong> {
        self.conditions += 1;
        if self.conditions > MAX_CONDITIONS {
            let hint = "a pattern with * can stand for many names";
            return Err(complaint::wrong(format!("more than {MAX_CONDITIONS} conditions"), span, hint));
        }
        Ok(())
    }
}

/// Several parts as one, a single one as itself.
fn joined(mut parts: Vec<Expr>, join: fn(Vec<Expr>) -> Tree) -> Expr {
    if parts.len() == 1
        && let Some(part) = parts.pop()
    {
        return part;
    }
    let ends = (parts.first().map(|part| part.span), parts.last().map(|part| part.span));
    let span = if let (Some(start), Some(end)) = ends { start.to(end) } else { Span::default() };
    Expr { tree: join(parts), span }
}
