//! From a text to a tree, with the types of all conditions checked.

use super::{
    error::{Error, nearest},
    field::{Field, Kind, Type},
    literal,
    token::{self, Piece, Token, Wrong},
    tree::{Comparison, Condition, Expr, Name, Span, TextTest, Tree},
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
    read(text, kind).map_err(|(what, span, hint)| Error { option: "--where", text: text.to_owned(), span, what, hint })
}

fn read(text: &str, kind: Kind) -> Result<Expr, Wrong> {
    if text.len() > MAX_TEXT {
        let span = Span { start: MAX_TEXT, end: MAX_TEXT };
        let hint = "-I and -X take patterns of their own".to_owned();
        return Err((format!("a predicate has at most {MAX_TEXT} bytes"), span, Some(hint)));
    }
    let pieces = token::tokens(text)?;
    let mut parser = Parser { pieces, at: 0, kind, nesting: 0, conditions: 0, counters: 0 };
    let expr = parser.or()?;
    match parser.take() {
        (Token::End, _) => Ok(expr),
        (Token::Sign(")"), span) => Err(wrong("this parenthesis was not opened", span, "leave it out")),
        (token, span) => Err(no_operator(&token, span)),
    }
}

fn wrong(what: impl Into<String>, span: Span, hint: impl Into<String>) -> Wrong {
    (what.into(), span, Some(hint.into()))
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
            Token::Sign("(") => {
                self.deeper(span)?;
                let part = self.or()?;
                self.nesting -= 1;
                match self.take() {
                    (Token::Sign(")"), end) => Ok(Expr { span: span.to(end), ..part }),
                    (Token::End, _) => Err(wrong("this parenthesis is not closed", span, "put ) where its part ends")),
                    (token, span) => Err(no_operator(&token, span)),
                }
            }
            Token::Word(word) => self.condition(word, span),
            token => Err(self.no_condition(&token, span)),
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
        Err(wrong("! stands before a parenthesis, a test or daemon", span.to(*end), hint))
    }

    fn condition(&mut self, word: &str, span: Span) -> Result<Expr, Wrong> {
        if TESTS.contains(&word) {
            return self.test(word, span);
        }
        let Some(field) = Field::named(word) else { return Err(self.unknown_field(word, span)) };
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
            return Err(wrong(format!("more than {MAX_CONDITIONS} conditions"), span, hint));
        }
        Ok(())
    }

    fn text(&mut self, field: Field) -> Result<Condition, Wrong> {
        let (token, span) = self.take();
        let test = |wanted, test| Ok(Condition::Text { field, wanted, test });
        match token {
            Token::Sign("==") => test(true, TextTest::Is(self.name(field, "==")?)),
            Token::Sign("!=") => test(false, TextTest::Is(self.name(field, "!=")?)),
            Token::Sign("~") => test(true, TextTest::Like(self.name(field, "~")?)),
            Token::Sign("!~") => test(false, TextTest::Like(self.name(field, "!~")?)),
            Token::Word("in") => test(true, TextTest::In(self.list(|parser| parser.name(field, "in"))?)),
            Token::Sign("!") if *self.peek() == Token::Word("in") => {
                self.take();
                test(false, TextTest::In(self.list(|parser| parser.name(field, "in"))?))
            }
            Token::Sign(sign @ ("<" | "<=" | ">" | ">=")) => {
                let hint = "compare it with ==, !=, ~, !~ or in";
                Err(wrong(format!("{field} is a text and has no order: {sign} does not fit"), span, hint))
            }
            token => Err(no_comparison(field, &token, span)),
        }
    }

    /// A name or pattern.
    fn name(&mut self, field: Field, operator: &str) -> Result<Name, Wrong> {
        let (token, span) = self.take();
        match token {
            Token::Text(text) => {
                if matches!(operator, "==" | "!=" | "in") && text.contains('*') {
                    let meant = if operator == "!=" { "!~" } else { "~" };
                    let hint = format!("write {field} {meant} {text:?}");
                    return Err(wrong(format!("{operator} takes names, not patterns"), span, hint));
                }
                Ok(Name::new(field, text))
            }
            Token::Word(word) => {
                Err(wrong(format!("{field} is a text"), span, format!("put it into quotes: \"{word}\"")))
            }
            Token::Number(number) => {
                Err(wrong(format!("{field} is a text"), span, format!("put it into quotes: \"{number}\"")))
            }
            Token::Sign("(") => Err(wrong("one text is compared", span, format!("write {field} in (...)"))),
            _ => Err(wrong(format!("{field} is compared with a text in quotes"), span, "as in \"com.shop.*\"")),
        }
    }

    fn flag(&mut self) -> Result<Condition, Wrong> {
        let equal = match self.peek() {
            Token::Sign("==") => true,
            Token::Sign("!=") => false,
            Token::Sign(sign @ ("~" | "!~" | "<" | "<=" | ">" | ">=")) => {
                let what = format!("daemon is yes or no: {sign} does not fit");
                let (_, span) = self.take();
                return Err(wrong(what, span, "write daemon or !daemon"));
            }
            _ => return Ok(Condition::Daemon { wanted: true }),
        };
        self.take();
        match self.take() {
            (Token::Word("true"), _) => Ok(Condition::Daemon { wanted: equal }),
            (Token::Word("false"), _) => Ok(Condition::Daemon { wanted: !equal }),
            (_, span) => Err(wrong("daemon is true or false", span, "write daemon or !daemon")),
        }
    }

    fn number(&mut self, field: Field) -> Result<Condition, Wrong> {
        let (token, span) = self.take();
        match token {
            Token::Word("in") => {
                let values = self.list(|parser| parser.value(field))?;
                Ok(Condition::OneOf { field, wanted: true, values })
            }
            Token::Sign("!") if *self.peek() == Token::Word("in") => {
                self.take();
                let values = self.list(|parser| parser.value(field))?;
                Ok(Condition::OneOf { field, wanted: false, values })
            }
            Token::Sign(sign @ ("~" | "!~")) => {
                let hint = "compare it with ==, !=, <, <=, >, >= or in";
                Err(wrong(format!("{field} is a number and has no pattern: {sign} does not fit"), span, hint))
            }
            Token::Sign(sign) if let Some(comparison) = Comparison::ALL.into_iter().find(|c| c.symbol() == sign) => {
                Ok(Condition::Number { field, comparison, value: self.value(field)? })
            }
            token => Err(no_comparison(field, &token, span)),
        }
    }

    /// A number with the unit that the field needs.
    fn value(&mut self, field: Field) -> Result<u64, Wrong> {
        let (token, span) = self.take();
        let digits = match token {
            Token::Number(digits) => digits,
            Token::Text(text) => {
                let hint = match text.trim() {
                    digits if digits.starts_with(|c: char| c.is_ascii_digit()) => {
                        format!("leave the quotes out: {digits}")
                    }
                    _ => example(field).to_owned(),
                };
                return Err(wrong(format!("{field} is {}, not a text", noun(field)), span, hint));
            }
            _ => return Err(wrong(format!("{field} is compared with {}", noun(field)), span, example(field))),
        };
        let (unit, whole) = self.unit(field, digits, span)?;
        literal::amount(digits, unit).map_err(|reason| match reason {
            literal::Wrong::TooLarge => ("the number is beyond 64 bits".to_owned(), whole, None),
            literal::Wrong::Malformed => ("this is no number".to_owned(), whole, Some(example(field).to_owned())),
            literal::Wrong::Fraction => {
                let what = match field.holds() {
                    Type::Bytes => "this is no whole number of bytes".to_owned(),
                    Type::Time => "this is no whole number of nanoseconds".to_owned(),
                    _ => format!("{field} is a whole number"),
                };
                (what, whole, None)
            }
        })
    }

    /// The size of the unit behind the digits, and where both stand.
    fn unit(&mut self, field: Field, digits: &str, span: Span) -> Result<(u64, Span), Wrong> {
        let units: &[(&str, u64)] = match field.holds() {
            Type::Bytes => &literal::BYTES,
            Type::Time => &literal::TIMES,
            _ => &[],
        };
        if let Some((Token::Word(word), end)) = self.pieces.get(self.at)
            && (end.start == span.end || token::foreign_word(word).is_none())
        {
            let (word, end) = (*word, *end);
            self.take();
            if let Some((_, size)) = units.iter().find(|(unit, _)| *unit == word) {
                return Ok((*size, span.to(end)));
            }
            if units.is_empty() {
                let hint = format!("write {digits}");
                return Err(wrong(format!("{field} has no unit"), end, hint));
            }
            let names: Vec<&str> = units.iter().map(|&(unit, _)| unit).collect();
            let hint = token::nearest_unit(word, units)
                .map_or_else(|| format!("units are {}", names.join(", ")), |unit| format!("write {digits}{unit}"));
            return Err(wrong(format!("{word} is no unit of {field}"), end, hint));
        }
        if field.holds() == Type::Time {
            let hint = format!("write {digits}ms, or one of ns, us, s, m");
            return Err(wrong("a duration needs a unit", span, hint));
        }
        Ok((1, span))
    }

    /// What stands in parentheses behind `in`.
    fn list<T>(&mut self, mut element: impl FnMut(&mut Self) -> Result<T, Wrong>) -> Result<Vec<T>, Wrong> {
        let (token, open) = self.take();
        if token != Token::Sign("(") {
            return Err(wrong("in takes a list in parentheses", open, "as in (\"a\", \"b\") or (1, 2)"));
        }
        if *self.peek() == Token::Sign(")") {
            return Err(wrong("the list is empty", open.to(self.take().1), "nothing is in it; name at least one"));
        }
        let mut elements = vec![element(self)?];
        loop {
            match self.take() {
                (Token::Sign(")"), _) => return Ok(elements),
                (Token::Sign(","), span) => {
                    self.count(span)?;
                    elements.push(element(self)?);
                }
                (Token::End, _) => return Err(wrong("this list is not closed", open, "put ) behind its last element")),
                (_, span) => {
                    return Err(wrong("elements of a list are separated by commas", span, "put a , before this"));
                }
            }
        }
    }

    /// `sample(1/n)`, `nth(k)`, `first(k)`.
    fn test(&mut self, word: &str, span: Span) -> Result<Expr, Wrong> {
        let form = if word == "sample" { "sample(1/10)".to_owned() } else { format!("{word}(10)") };
        let malformed = |span| wrong(format!("{word} is written {form}"), span, format!("write {form}"));
        let open = self.take();
        if open.0 != Token::Sign("(") {
            return Err(malformed(span));
        }
        if word == "sample" {
            let one = self.take();
            let slash = self.take();
            if one.0 != Token::Number("1") || slash.0 != Token::Sign("/") {
                return Err(malformed(span.to(one.1)));
            }
        }
        let (token, place) = self.take();
        let Token::Number(digits) = token else { return Err(malformed(span.to(place))) };
        let number = literal::amount(digits, 1)
            .map_err(|_reason| (format!("{word} takes a whole number"), place, Some(format!("write {form}"))))?;
        if number == 0 {
            return Err(wrong(format!("{word} takes a number from 1 on"), place, format!("write {form}")));
        }
        if word == "sample" && number > MAX_SAMPLE {
            let hint = format!("write sample(1/{MAX_SAMPLE}), or nth({number})");
            return Err(wrong(format!("sample draws at most one event in {MAX_SAMPLE}"), place, hint));
        }
        let (token, end) = self.take();
        if token != Token::Sign(")") {
            return Err(malformed(span.to(end)));
        }
        self.count(span)?;
        let counter = self.counters;
        self.counters += usize::from(word != "sample");
        let condition = match word {
            "sample" => Condition::Sample { one_in: number },
            "nth" => Condition::Nth { nth: number, counter },
            _ => Condition::First { count: number, counter },
        };
        Ok(Expr { tree: Tree::Test(condition), span: span.to(end) })
    }

    fn unknown_field(&self, word: &str, span: Span) -> Wrong {
        if let Some(sign) = token::foreign_word(word) {
            return wrong(format!("{word} is no operator"), span, format!("write {sign}"));
        }
        let kind = self.kind;
        let known: Vec<&str> = Field::ALL.into_iter().filter(|&field| kind.has(field)).map(Field::name).collect();
        let meant = match word {
            "name" => Some("method"),
            "bytes" => Some("size"),
            "time" | "latency" | "elapsed" => Some("duration"),
            "descriptor" => Some("signature"),
            _ => nearest(word, known.iter().copied().chain(TESTS)),
        };
        let hint = match meant.filter(|meant| known.contains(meant) || TESTS.contains(meant)) {
            Some(meant) => format!("did you mean {meant}?"),
            None => format!("{kind} has {}; tests are sample(1/n), nth(k), first(k)", known.join(", ")),
        };
        wrong(format!("there is no field {word}"), span, hint)
    }

    fn no_condition(&self, token: &Token<'_>, span: Span) -> Wrong {
        match token {
            Token::End if self.pieces.len() == 1 => {
                wrong("the predicate is empty", span, "as in method == \"checkout\"")
            }
            Token::End => wrong("a condition is missing at the end", span, "as in method == \"checkout\""),
            Token::Text(_) | Token::Number(_) => {
                wrong("a condition begins with a field", span, "write the field first, as in duration > 10ms")
            }
            _ => wrong("a condition is missing here", span, "as in method == \"checkout\""),
        }
    }
}

/// What is wrong where a comparison should stand behind a field.
fn no_comparison(field: Field, token: &Token<'_>, span: Span) -> Wrong {
    let operators = if field.holds() == Type::Text { "==, !=, ~, !~, in" } else { "==, !=, <, <=, >, >=, in" };
    let hint = match token {
        Token::Word(word) => token::foreign_word(word).map(|sign| format!("write {field} {sign} ...")),
        _ => None,
    };
    wrong(
        format!("{field} is compared with nothing"),
        span,
        hint.unwrap_or_else(|| format!("operators are {operators}")),
    )
}

/// What stands where `&&`, `||` or the end should.
fn no_operator(token: &Token<'_>, span: Span) -> Wrong {
    let hint = match token {
        Token::Word(word) => token::foreign_word(word).map(|sign| format!("write {sign}")),
        Token::Sign("," | "==" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "!~") => {
            Some("a condition ends before this".to_owned())
        }
        _ => None,
    };
    let hint = hint.unwrap_or_else(|| "conditions are joined by && or ||".to_owned());
    wrong("the condition before this is complete", span, hint)
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

/// What a field is, as a noun.
const fn noun(field: Field) -> &'static str {
    match field.holds() {
        Type::Bytes => "a number of bytes",
        Type::Time => "a length of time",
        Type::Number | Type::Text | Type::Flag => "a number",
    }
}

/// How its values are written.
const fn example(field: Field) -> &'static str {
    match field.holds() {
        Type::Bytes => "as in 1MiB or 4096",
        Type::Time => "as in 10ms or 1.5s",
        Type::Number | Type::Text | Type::Flag => "as in 7",
    }
}
