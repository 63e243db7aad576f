//! The lines of a scenario that are about woven code.
//!
//! ```text
//! marker checkout token=request sides=region pattern="com.shop.*::checkout" time=true where="duration > 1ms" subscribers="counts"
//! place 1 checkout "com.shop.Cart" "checkout" "()V" line=42 bci=3
//! class 3 "com.shop.Cart"
//! skipped "com.shop.Huge" "run" "()V" "the method would have more than 65535 bytes"
//! woven classes=2 methods=3 took=12ms longest=4ms
//! +5ms tid 7 marks buffer=1 lost=0 words="born 9 class=3; enter 1 object=9 at=1ms; exit 1 at=4ms"
//! lacks "No identity in ..."
//! restored classes=2 took=3ms
//! ```
//! Batches of a buffer follow each other; `lost` words were lost before one. `words` are `point`, `enter`, `exit`, `thrown` PLACE, perhaps with `object=N` and `at=TIME` since the start; `born OBJECT class=N`;
//! `death OBJECT class=N`; `count PLACE of=enter times=N`; `thread ID`; `int VALUE index=N` (an argument); `raw N`. `10 x (...)` repeats
//! what stands in the parentheses.

use tracer_common::marks::{Argument, MAX_MARKS_WORDS, MAX_PLACES, Word, WordKind};
use tracer_weave::{PlaceDefinition, Sides, Skipped};

use super::{
    START_NS,
    line::number,
    tokens::{Token, Value, lossy},
};
use crate::mark::{Inside, Marker, Woven};

/// What a line about woven code says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Marker(Marker),
    /// A place, and the name of its marker.
    Place(PlaceDefinition, String),
    Skipped(Skipped),
    Inside(Inside),
}

/// Reads a line that begins with one of these words; nothing where it does not.
pub(super) fn parse(first: &str, rest: &[Token]) -> Result<Option<Said>, String> {
    Ok(Some(match (first, rest) {
        ("marker", [Token::Word(name), fields @ ..]) => Said::Marker(marker(name, fields)?),
        (
            "place",
            [
                Token::Word(id),
                Token::Word(marker),
                Token::Text(class),
                Token::Text(method),
                Token::Text(descriptor),
                fields @ ..,
            ],
        ) => {
            let (line, bci) = (small(fields, "line")?, small(fields, "bci")?);
            let place = PlaceDefinition {
                id: id32(id)?,
                marker: 0,
                class: lossy(class),
                method: lossy(method),
                descriptor: lossy(descriptor),
                bci: bci.unwrap_or(0),
                line,
                made: None,
                raised: None,
            };
            Said::Place(place, marker.clone())
        }
        ("class", [Token::Word(number), Token::Text(name)]) => {
            Said::Inside(Inside::Class { number: id32(number)?, name: lossy(name) })
        }
        ("skipped", [Token::Text(class), method @ .., Token::Text(reason)]) => {
            let method = match method {
                [] => None,
                [Token::Text(name), Token::Text(descriptor)] => Some((lossy(name), lossy(descriptor))),
                _ => return Err("a skipped method has a name and a descriptor, both in quotes".to_owned()),
            };
            Said::Skipped(Skipped { class: lossy(class), method, reason: lossy(reason) })
        }
        ("woven", fields) => Said::Inside(Inside::Woven(woven(fields)?)),
        ("unwoven", fields) => Said::Inside(Inside::Unwoven(woven(fields)?)),
        ("restored", fields) => Said::Inside(Inside::Restored(woven(fields)?)),
        ("lacks", [Token::Text(sentence)]) => Said::Inside(Inside::Lacks(lossy(sentence))),
        _ => return Ok(None),
    }))
}

fn marker(name: &str, fields: &[Token]) -> Result<Marker, String> {
    let mut marker = Marker {
        name: name.to_owned(),
        token: name.to_owned(),
        sides: Sides::Region,
        pattern: String::new(),
        time: false,
        predicate: None,
        inside: Vec::new(),
        not_under: Vec::new(),
        subscribers: Vec::new(),
    };
    for field in fields {
        let Token::Pair(key, value) = field else { return Err("fields of a marker are KEY=VALUE".to_owned()) };
        let text = match value {
            Value::Word(word) => word.clone(),
            Value::Text(text) => lossy(text),
        };
        let list = || text.split(',').map(str::to_owned).collect();
        match key.as_str() {
            "token" => marker.token = text,
            "sides" if text == "point" => marker.sides = Sides::Point,
            "sides" if text == "region" => marker.sides = Sides::Region,
            "pattern" => marker.pattern = text,
            "time" => marker.time = number(&text)? != 0,
            "where" => marker.predicate = Some(text),
            "inside" => marker.inside = list(),
            "not_under" => marker.not_under = list(),
            "subscribers" => marker.subscribers = list(),
            other => return Err(format!("a marker has no field `{other}` with this value")),
        }
    }
    Ok(marker)
}

fn woven(fields: &[Token]) -> Result<Woven, String> {
    let mut woven = Woven::default();
    for field in fields {
        let Token::Pair(key, Value::Word(word)) = field else { return Err("fields are KEY=NUMBER".to_owned()) };
        *(match key.as_str() {
            "classes" => &mut woven.classes,
            "methods" => &mut woven.methods,
            "took" => &mut woven.took_ns,
            "longest" => &mut woven.longest_step_ns,
            other => return Err(format!("weaving has no field `{other}`")),
        }) = number(word)?;
    }
    Ok(woven)
}

fn id32(word: &str) -> Result<u32, String> {
    u32::try_from(number(word)?).map_err(|_| format!("`{word}` is too large"))
}

fn small(fields: &[Token], wanted: &str) -> Result<Option<u16>, String> {
    let found = fields.iter().find_map(|field| match field {
        Token::Pair(key, Value::Word(word)) if key == wanted => Some(word),
        _ => None,
    });
    found.map(|word| u16::try_from(number(word)?).map_err(|_| format!("`{word}` is too large"))).transpose()
}

/// The words of a batch.
pub(super) fn words(text: &str) -> Result<Vec<u64>, String> {
    let mut words = Vec::new();
    append(text, &mut words)?;
    if words.len() > MAX_MARKS_WORDS {
        return Err(format!("{} words, and a batch has at most {MAX_MARKS_WORDS}", words.len()));
    }
    Ok(words)
}

fn append(text: &str, words: &mut Vec<u64>) -> Result<(), String> {
    let mut rest = text.trim();
    while !rest.is_empty() {
        if let Some((times, after)) = rest.split_once(" x (").filter(|(times, _)| times.parse::<u64>().is_ok()) {
            let end = closing(after).ok_or("a parenthesis is not closed")?;
            for _ in 0..number(times)?.min(MAX_MARKS_WORDS as u64) {
                append(&after[..end], words)?;
            }
            rest = after[end + 1..].trim_start().trim_start_matches(';').trim_start();
            continue;
        }
        let (one, after) = rest.split_once(';').unwrap_or((rest, ""));
        mark(one, words)?;
        rest = after.trim_start();
    }
    Ok(())
}

/// Where the parenthesis ends that was opened before the text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1;
    text.char_indices().find_map(|(at, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        (depth == 0).then_some(at)
    })
}

/// A mark with its words.
fn mark(text: &str, words: &mut Vec<u64>) -> Result<(), String> {
    let mut parts = text.split_whitespace();
    let kind = parts.next().ok_or("a mark is missing")?;
    let value = number(parts.next().ok_or_else(|| format!("`{kind}` has no number"))?)?;
    let (mut object, mut at, mut class, mut of, mut times, mut index) = (0, None, 0, "enter", 1, 0);
    for part in parts {
        let (key, given) = part.split_once('=').ok_or_else(|| format!("`{part}` is no KEY=VALUE"))?;
        match key {
            "object" => object = id32(given)?,
            "at" => at = Some(number(given)?.saturating_add(START_NS)),
            "class" => class = number(given)?,
            "of" => of = given,
            "times" => times = number(given)?,
            "index" => index = u8::try_from(number(given)?).map_err(|_| format!("`{given}` is too large"))?,
            other => return Err(format!("a mark has no field `{other}`")),
        }
    }
    let small = || u32::try_from(value).map_err(|_| format!("{value} is too large"));
    let place = || small().map(|place| place & (MAX_PLACES - 1));
    match kind {
        "born" => words.extend([Word::new(WordKind::Born, 0, 0, small()?).0, class]),
        "death" => words.extend([Word::new(WordKind::Death, 0, 0, small()?).0, class]),
        "thread" => words.extend([Word::new(WordKind::Thread, 0, 0, 0).0, value]),
        "raw" => words.push(value),
        "count" => words.extend([Word::new(WordKind::Count, side(of)? as u8, place()?, 0).0, times]),
        "int" => words.extend([Word::new(WordKind::Argument, index, Argument::Integer as u32, 0).0, value]),
        other => words.push(Word::new(side(other)?, 0, place()?, object).0),
    }
    words.extend(at.into_iter().flat_map(|at| [Word::new(WordKind::Time, 0, 0, 0).0, at]));
    Ok(())
}

fn side(word: &str) -> Result<WordKind, String> {
    Ok(match word {
        "point" => WordKind::Point,
        "enter" => WordKind::Enter,
        "exit" => WordKind::Exit,
        "thrown" => WordKind::Thrown,
        other => return Err(format!("there is no mark `{other}`")),
    })
}
