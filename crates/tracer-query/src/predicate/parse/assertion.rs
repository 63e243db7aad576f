//! Assertions: `count(PREDICATE) <= 1`, `every CLASS through CLASS`.

use super::{
    Parser,
    complaint::{self, wrong},
    condition::Valued,
};
use crate::predicate::{
    assertion::{Assertion, Measure},
    error::nearest,
    field::Field,
    token::{self, Token, Wrong},
    tree::{Comparison, Condition, Expr, Name, Span, TextTest, Tree},
};

/// The words that an assertion begins with.
const BEGINNINGS: [&str; 4] = ["count", "size", "retained", "every"];

impl Parser<'_> {
    pub(super) fn assertion(&mut self) -> Result<Assertion, Wrong> {
        let assertion = self.one_assertion()?;
        match self.take() {
            (Token::End, _) => Ok(assertion),
            (_, span) => Err(wrong("the assertion ends before this", span, "give --assert once for each assertion")),
        }
    }

    fn one_assertion(&mut self) -> Result<Assertion, Wrong> {
        let (token, span) = self.take();
        let Token::Word(word) = token else { return Err(no_assertion(&token, span)) };
        if word == "every" {
            let every = self.objects("every")?;
            let (token, span) = self.take();
            if token != Token::Word("through") {
                return Err(no_through(&token, span));
            }
            return Ok(Assertion::Through { every, through: self.objects("through")? });
        }
        match Measure::ALL.into_iter().find(|measure| measure.name() == word) {
            Some(measure) => self.bound(measure, span),
            None => Err(no_assertion(&Token::Word(word), span)),
        }
    }

    /// What stands behind `count`, `size` or `retained`.
    fn bound(&mut self, measure: Measure, span: Span) -> Result<Assertion, Wrong> {
        let name = measure.name();
        let (token, open) = self.take();
        if token != Token::Sign("(") {
            let hint = format!("as in {name}(class == \"com.shop.Order\") < 100");
            return Err(wrong(format!("{name} takes a predicate in parentheses"), span.to(open), hint));
        }
        let of = self.enclosed(open)?;
        let (token, span) = self.take();
        let comparison = match &token {
            Token::Sign(sign) => Comparison::ALL.into_iter().find(|comparison| comparison.symbol() == *sign),
            _ => None,
        };
        let Some(comparison) = comparison else { return Err(complaint::no_number_compared(name, &token, span)) };
        let value = self.value(Valued { name, holds: measure.holds() })?;
        Ok(Assertion::Bound { measure, of, comparison, value })
    }

    /// Objects of a class, or those of which a predicate in parentheses holds.
    fn objects(&mut self, behind: &str) -> Result<Expr, Wrong> {
        let (token, span) = self.take();
        let name = match token {
            Token::Sign("(") => return self.enclosed(span),
            Token::Word("through") => return Err(no_class(behind, span)),
            Token::Word(word) => word.to_owned(),
            Token::Text(text) => text,
            _ => return Err(no_class(behind, span)),
        };
        if matches!(self.peek(), Token::Sign(_)) {
            let what = format!("{behind} takes a class, or a predicate in parentheses");
            return Err(wrong(what, span, format!("as in {behind} (class == \"com.shop.Order\" && size > 1KiB)")));
        }
        self.count(span)?;
        let is_pattern = name.contains(['*', '?']);
        let name = Name::new(Field::Class, name);
        let test = if is_pattern { TextTest::Like(name) } else { TextTest::Is(name) };
        Ok(Expr { tree: Tree::Test(Condition::Text { field: Field::Class, wanted: true, test }), span })
    }
}

fn no_class(behind: &str, span: Span) -> Wrong {
    wrong(format!("a class is missing behind {behind}"), span, "as in every com.shop.Order through com.shop.Book")
}

fn no_through(token: &Token<'_>, span: Span) -> Wrong {
    let what = match token {
        Token::End => "it is missing what every such object is reached through",
        _ => "through stands between the two classes",
    };
    wrong(what, span, "as in every com.shop.Order through com.shop.Book")
}

/// What stands where an assertion should begin.
fn no_assertion(token: &Token<'_>, span: Span) -> Wrong {
    let forms = "assertions are count(...) <= 1, size(...) < 1MiB, retained(...) < 1MiB, every CLASS through CLASS";
    let Token::Word(word) = token else { return wrong("an assertion is missing", span, forms) };
    let meant = match *word {
        "all" | "each" | "forall" => Some("every"),
        "number" | "objects" => Some("count"),
        "bytes" | "own" | "shallow" => Some("size"),
        word if Field::named(word).is_some() || token::foreign_word(word).is_some() => None,
        word => nearest(word, BEGINNINGS),
    };
    let hint = match (meant, Field::named(word)) {
        (Some(meant), _) => format!("did you mean {meant}?"),
        (None, Some(_)) => "write count(...) == 0 around a predicate that must hold of no object".to_owned(),
        (None, None) => forms.to_owned(),
    };
    wrong(format!("no assertion begins with {word}"), span, hint)
}
