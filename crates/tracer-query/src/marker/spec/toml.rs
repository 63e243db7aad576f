//! Reads `[[marker]]` tables.
//!
//! ```toml
//! [[marker]]
//! name = "checkout"                     # shown in reports
//! class = "com.shop.*"
//! method = "checkout(java.lang.String, *)"
//! place = "method"                      # loop, block, line:42-57, call:CLASS::METHOD, field:CLASS.FIELD=w
//! time = true
//! where = 'duration > 10ms && thread ~ "http-*"'
//! ```

use std::ops::Range;

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};
use tracer_weave::{Pattern, Place, Sides};

use super::{Draft, Flags, Named};
use crate::{
    marker::{error::Wrong, name, place},
    predicate::error::nearest,
};

/// The keys of a marker.
const KEYS: [&str; 16] = [
    "name",
    "token",
    "class",
    "method",
    "descriptor",
    "also",
    "place",
    "sides",
    "receiver",
    "arguments",
    "time",
    "subclasses",
    "where",
    "inside",
    "not_under",
    "subscribers",
];

type Value<'a> = Spanned<DeValue<'a>>;

/// Reads a file.
pub(super) fn parse(text: &str) -> Result<Vec<Draft>, Wrong> {
    let table = DeTable::parse(text).map_err(|error| Wrong {
        what: error.message().lines().next().unwrap_or("this is not TOML").to_owned(),
        span: error.span().unwrap_or(0..0),
        hint: Some("a marker is a table [[marker]] with lines KEY = VALUE; texts are in quotes".to_owned()),
    })?;
    let mut drafts = Vec::new();
    for (key, value) in table.get_ref() {
        if key.get_ref() != "marker" {
            let hint = nearest(key.get_ref(), ["marker"])
                .map_or("a file of markers has only tables [[marker]]", |_| "write [[marker]]");
            return Err(Wrong::new(key.span(), format!("there is no `{}` in a file of markers", key.get_ref()), hint));
        }
        let Some(list) = value.get_ref().as_array() else {
            return Err(Wrong::new(value.span(), "markers are a list", "write [[marker]], with two brackets"));
        };
        for marker in list {
            let Some(fields) = marker.get_ref().as_table() else {
                return Err(Wrong::new(marker.span(), "a marker is a table", "begin it with a line [[marker]]"));
            };
            drafts.push(draft(&Fields { text, at: marker.span(), table: fields })?);
        }
    }
    Ok(drafts)
}

/// The lines of one marker.
struct Fields<'a> {
    /// The whole file.
    text: &'a str,
    at: Range<usize>,
    table: &'a DeTable<'a>,
}

fn draft(fields: &Fields<'_>) -> Result<Draft, Wrong> {
    fields.check_keys()?;
    let class = fields.needed("class", "as in class = \"com.shop.*\"")?;
    let method = fields.needed("method", "as in method = \"checkout\", or method = \"*\" for all")?;
    let (method_name, parameters) = name::method(&method.content).map_err(|wrong| method.wrong(wrong))?;
    let descriptor = match fields.text("descriptor")? {
        Some(given) if parameters.is_some() => {
            let hint = "leave the parameters behind the method's name out, or this";
            return Err(Wrong::new(given.at, "the parameters are given twice", hint));
        }
        Some(given) => Some(descriptor(&given)?),
        None => parameters,
    };
    let place_text = fields.text("place")?;
    let place = match &place_text {
        Some(given) => place::parse(&given.content).map_err(|wrong| given.wrong(wrong))?,
        None => Place::Method,
    };
    let at = |text: &Option<Text>| text.as_ref().map_or(fields.at.clone(), |text| text.at.clone());
    let behind = place_text
        .as_ref()
        .filter(|_| place != Place::Method)
        .map_or(String::new(), |text| format!("@{}", text.content));
    let pattern = format!("{}::{}{behind}", class.content, method.content);
    let name = match fields.text("name")? {
        Some(given) if given.content.is_empty() || given.content.contains(char::is_control) => {
            return Err(Wrong::new(
                given.at,
                "a name has at least one character, and no control characters",
                "as in \"checkout\"",
            ));
        }
        Some(given) => (given.content, given.at),
        None => (pattern.clone(), class.at.clone()),
    };
    Ok(Draft {
        name,
        token: fields.text("token")?.map(|token| token.content),
        pattern,
        class: name::class_pattern(&class.content).map_err(|wrong| class.wrong(wrong))?,
        method: method_name,
        descriptor,
        also: fields.also()?,
        place,
        place_at: at(&place_text),
        flags: fields.flags()?,
        predicate: fields.text("where")?.map(|given| (given.content, given.from, given.at)),
        inside: fields.list("inside")?,
        not_under: fields.list("not_under")?,
        subscribers: fields.list("subscribers")?,
    })
}

fn descriptor(given: &Text) -> Result<Pattern, Wrong> {
    let legal = given.content.starts_with(['(', '*']) && !given.content.contains(char::is_whitespace);
    if legal {
        return Ok(Pattern::new(given.content.replace('.', "/")));
    }
    let what = "a descriptor is as class files have it";
    Err(Wrong::new(
        given.at.clone(),
        what,
        "as in \"(Ljava/lang/String;I)V\", or write method = \"checkout(java.lang.String, int)\"",
    ))
}

/// A text of the file.
struct Text {
    content: String,
    /// Where it begins, if it stands there as it is.
    from: Option<usize>,
    /// Where it stands with its quotes.
    at: Range<usize>,
}

impl Text {
    fn wrong(&self, wrong: Wrong) -> Wrong {
        match self.from {
            Some(from) if !wrong.span.is_empty() => wrong.from(from),
            _ => Wrong { span: self.at.clone(), ..wrong },
        }
    }
}

impl Fields<'_> {
    fn check_keys(&self) -> Result<(), Wrong> {
        for (key, _) in self.table {
            let word: &str = key.get_ref();
            if KEYS.contains(&word) {
                continue;
            }
            let meant = match word {
                "predicate" | "when" | "filter" => Some("where"),
                "args" => Some("arguments"),
                "clients" => Some("subscribers"),
                "signature" => Some("descriptor"),
                _ => nearest(word, KEYS),
            };
            let hint =
                meant.map_or_else(|| format!("keys are {}", KEYS.join(", ")), |meant| format!("did you mean {meant}?"));
            return Err(Wrong::new(key.span(), format!("a marker has no `{word}`"), hint));
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<&Value<'_>> {
        self.table.get(key)
    }

    fn text(&self, key: &str) -> Result<Option<Text>, Wrong> {
        self.get(key).map(|value| self.read(key, value)).transpose()
    }

    fn read(&self, key: &str, value: &Value<'_>) -> Result<Text, Wrong> {
        let Some(text) = value.get_ref().as_str() else {
            return Err(Wrong::new(
                value.span(),
                format!("`{key}` is a text"),
                format!("put it in quotes: {key} = \"...\""),
            ));
        };
        let at = value.span();
        let raw = self.text.get(at.clone()).unwrap_or_default();
        let from = raw.find(text).map(|offset| at.start + offset);
        Ok(Text { content: text.to_owned(), from, at })
    }

    fn needed(&self, key: &str, hint: &str) -> Result<Text, Wrong> {
        // The table begins with its line in brackets, whose end is its own.
        let at = self.at.start..self.at.end.max(self.at.start + 1);
        let text = self.text(key)?.ok_or_else(|| Wrong::new(at, format!("this marker has no `{key}`"), hint))?;
        if text.content.is_empty() {
            return Err(Wrong::new(text.at, format!("`{key}` is empty"), "write * for all"));
        }
        Ok(text)
    }

    /// Where a flag is set, if it is.
    fn flag(&self, key: &str) -> Result<Option<Range<usize>>, Wrong> {
        let Some(value) = self.get(key) else { return Ok(None) };
        if let Some(is) = value.get_ref().as_bool() {
            return Ok(is.then(|| value.span()));
        }
        let what = format!("`{key}` is true or false");
        Err(Wrong::new(value.span(), what, format!("write {key} = true, without quotes")))
    }

    fn flags(&self) -> Result<Flags, Wrong> {
        let sides = match self.text("sides")? {
            None => None,
            Some(Text { content, at, .. }) => match content.as_str() {
                "region" => Some((Sides::Region, at)),
                "point" => Some((Sides::Point, at)),
                other => {
                    let what = format!("there are no sides `{other}`");
                    return Err(Wrong::new(at, what, "sides are \"region\" (entry and exit) or \"point\" (one-way)"));
                }
            },
        };
        Ok(Flags {
            sides,
            time: self.flag("time")?,
            receiver: self.flag("receiver")?.is_some(),
            arguments: self.flag("arguments")?,
            subclasses: self.flag("subclasses")?.is_some(),
        })
    }

    /// Further methods, each `CLASS::METHOD`.
    fn also(&self) -> Result<Vec<Named>, Wrong> {
        let Some(value) = self.get("also") else { return Ok(Vec::new()) };
        let one = |value: &Value<'_>| {
            let text = self.read("also", value)?;
            let Some((class, method)) = text.content.split_once("::") else {
                return Err(Wrong::new(text.at, "a method is CLASS::METHOD", "as in \"com.shop.Cart::checkout\""));
            };
            let class = name::class_pattern(class).map_err(|wrong| text.wrong(wrong))?;
            let behind = text.content.len() - method.len();
            let (method, descriptor) = name::method(method).map_err(|wrong| text.wrong(wrong.from(behind)))?;
            Ok(Named { class, method, descriptor })
        };
        match value.get_ref().as_array() {
            Some(list) => list.iter().map(one).collect(),
            None => Ok(vec![one(value)?]),
        }
    }

    /// A list of names; a single one can stand without brackets.
    fn list(&self, key: &str) -> Result<Vec<(String, Range<usize>)>, Wrong> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let one = |value: &Value<'_>| self.read(key, value).map(|text| (text.content, text.at));
        match value.get_ref().as_array() {
            Some(list) => list.iter().map(one).collect(),
            None => Ok(vec![one(value)?]),
        }
    }
}
