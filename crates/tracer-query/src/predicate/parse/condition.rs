//! One condition: what stands behind a field, and the tests.

use super::{
    MAX_SAMPLE, Parser,
    complaint::{example, no_comparison, noun, wrong},
};
use crate::predicate::{
    field::{Field, Type},
    literal,
    token::{self, Token, Wrong},
    tree::{Comparison, Condition, Expr, Name, Span, TextTest, Tree},
};

/// What a number belongs to.
#[derive(Clone, Copy)]
pub(super) struct Valued {
    /// How it is called.
    pub(super) name: &'static str,
    /// In which units it is.
    pub(super) holds: Type,
}

impl From<Field> for Valued {
    fn from(field: Field) -> Self {
        Self { name: field.name(), holds: field.holds() }
    }
}

impl Parser<'_> {
    pub(super) fn text(&mut self, field: Field) -> Result<Condition, Wrong> {
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

    pub(super) fn flag(&mut self) -> Result<Condition, Wrong> {
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

    pub(super) fn number(&mut self, field: Field) -> Result<Condition, Wrong> {
        let (token, span) = self.take();
        match token {
            Token::Word("in") => {
                let values = self.list(|parser| parser.value(field.into()))?;
                Ok(Condition::OneOf { field, wanted: true, values })
            }
            Token::Sign("!") if *self.peek() == Token::Word("in") => {
                self.take();
                let values = self.list(|parser| parser.value(field.into()))?;
                Ok(Condition::OneOf { field, wanted: false, values })
            }
            Token::Sign(sign @ ("~" | "!~")) => {
                let hint = "compare it with ==, !=, <, <=, >, >= or in";
                Err(wrong(format!("{field} is a number and has no pattern: {sign} does not fit"), span, hint))
            }
            Token::Sign(sign) if let Some(comparison) = Comparison::ALL.into_iter().find(|c| c.symbol() == sign) => {
                Ok(Condition::Number { field, comparison, value: self.value(field.into())? })
            }
            token => Err(no_comparison(field, &token, span)),
        }
    }

    /// A number with the unit that the field needs.
    pub(super) fn value(&mut self, of: Valued) -> Result<u64, Wrong> {
        let Valued { name, holds } = of;
        let (token, span) = self.take();
        let digits = match token {
            Token::Number(digits) => digits,
            Token::Text(text) => {
                let hint = match text.trim() {
                    digits if digits.starts_with(|c: char| c.is_ascii_digit()) => {
                        format!("leave the quotes out: {digits}")
                    }
                    _ => example(holds).to_owned(),
                };
                return Err(wrong(format!("{name} is {}, not a text", noun(holds)), span, hint));
            }
            _ => return Err(wrong(format!("{name} is compared with {}", noun(holds)), span, example(holds))),
        };
        let (unit, whole) = self.unit(of, digits, span)?;
        literal::amount(digits, unit).map_err(|reason| match reason {
            literal::Wrong::TooLarge => ("the number is beyond 64 bits".to_owned(), whole, None),
            literal::Wrong::Malformed => ("this is no number".to_owned(), whole, Some(example(holds).to_owned())),
            literal::Wrong::Fraction => {
                let what = match holds {
                    Type::Bytes => "this is no whole number of bytes".to_owned(),
                    Type::Time => "this is no whole number of nanoseconds".to_owned(),
                    _ => format!("{name} is a whole number"),
                };
                (what, whole, None)
            }
        })
    }

    /// The size of the unit behind the digits, and where both stand.
    fn unit(&mut self, of: Valued, digits: &str, span: Span) -> Result<(u64, Span), Wrong> {
        let Valued { name, holds } = of;
        let units: &[(&str, u64)] = match holds {
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
                return Err(wrong(format!("{name} has no unit"), end, hint));
            }
            let names: Vec<&str> = units.iter().map(|&(unit, _)| unit).collect();
            let hint = token::nearest_unit(word, units)
                .map_or_else(|| format!("units are {}", names.join(", ")), |unit| format!("write {digits}{unit}"));
            return Err(wrong(format!("{word} is no unit of {name}"), end, hint));
        }
        if holds == Type::Time {
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
    pub(super) fn test(&mut self, word: &str, span: Span) -> Result<Expr, Wrong> {
        if self.kind.is_of_heap() {
            let what =
                format!("{word} chooses among events that come one after another, and objects are there at once");
            return Err(wrong(what, span, "`--rows` says how many are shown"));
        }
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
}
