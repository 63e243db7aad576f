//! The types that a chunk describes: which fields an event has, and how each is written.

use std::collections::HashMap;

use super::input::{Damage, Input, Text};

/// Deepest nesting of the description; recorders write five levels.
const MAX_DEPTH: usize = 16;
/// Longest description of types; that of the newest JDK has 110 KiB.
const MAX_BYTES: usize = 16 << 20;
/// The number of the event that describes types.
const METADATA: i64 = 0;

/// What the values of a type are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A byte, of which only one bit counts, or a small number.
    Byte,
    Short,
    Int,
    Long,
    Float,
    Double,
    Text,
    /// Its fields, one after the other.
    Fields,
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Plain,
    Ticks,
    Nanoseconds,
    Microseconds,
    Milliseconds,
    Seconds,
}

/// A type.
#[derive(Clone, Debug)]
pub(super) struct Type {
    pub(super) name: String,
    pub(super) form: Form,
    pub(super) fields: Vec<Field>,
}

/// A field of a type.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) of: i64,
    pub(super) unit: Unit,
    pub(super) is_pooled: bool,
    pub(super) is_array: bool,
}

/// All of them, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Types {
    by_number: HashMap<i64, Type>,
    /// The number of texts, whose pool texts can refer to.
    texts: Option<i64>,
}

impl Types {
    /// Reads the description, which is the event at this place.
    pub(super) fn read(input: Input<'_>) -> Result<Self, Damage> {
        let (mut event, _) = input.event()?;
        if event.left() > MAX_BYTES {
            return Err("the description of types is too long");
        }
        if event.long()? != METADATA {
            return Err("where types should be described is something else");
        }
        for _ in 0..3 {
            event.long()?;
        }
        let texts = (0..event.count()?).map(|_| text(&mut event)).collect::<Result<Vec<_>, _>>()?;
        let root = Element::read(&mut event, &texts, 0)?;
        let metadata = root.all("metadata").next().ok_or("types are not described")?;
        let mut types = Self::default();
        let numbers: HashMap<i64, &str> =
            metadata.all("class").filter_map(|class| Some((class.number("id")?, class.attribute("name")?))).collect();
        for class in metadata.all("class") {
            let (Some(number), Some(name)) = (class.number("id"), class.attribute("name")) else { continue };
            if name == "java.lang.String" {
                types.texts = Some(number);
            }
            types.by_number.insert(number, declared(class, name, &numbers));
        }
        Ok(types)
    }

    pub(super) fn get(&self, number: i64) -> Option<&Type> {
        self.by_number.get(&number)
    }

    /// The number of texts.
    pub(super) const fn texts(&self) -> Option<i64> {
        self.texts
    }
}

fn text(input: &mut Input<'_>) -> Result<String, Damage> {
    match input.text()? {
        Text::Here(text) => Ok(text.into_owned()),
        Text::Null => Ok(String::new()),
        Text::Pooled(_) => Err("a word of the description is not there"),
    }
}

fn declared(class: &Element<'_>, name: &str, numbers: &HashMap<i64, &str>) -> Type {
    let form = match name {
        "boolean" | "byte" => Form::Byte,
        "short" | "char" => Form::Short,
        "int" => Form::Int,
        "long" => Form::Long,
        "float" => Form::Float,
        "double" => Form::Double,
        "java.lang.String" => Form::Text,
        _ => Form::Fields,
    };
    let field = |field: &Element<'_>| {
        Some(Field {
            name: field.attribute("name")?.to_owned(),
            of: field.number("class")?,
            unit: unit(field, numbers),
            is_pooled: field.attribute("constantPool") == Some("true"),
            is_array: field.number("dimension").is_some_and(|dimension| dimension > 0),
        })
    };
    // A field without a type would shift all that follow; such a type gives no values at all.
    let fields: Option<Vec<Field>> = class.all("field").map(field).collect();
    Type { name: name.to_owned(), form, fields: fields.unwrap_or_default() }
}

fn unit(field: &Element<'_>, numbers: &HashMap<i64, &str>) -> Unit {
    let of = |annotation: &Element<'_>| annotation.number("class").and_then(|class| numbers.get(&class).copied());
    let is_time = |annotation: &&Element<'_>| of(annotation) == Some("jdk.jfr.Timespan");
    match field.all("annotation").find(is_time).and_then(|annotation| annotation.attribute("value")) {
        Some("TICKS") => Unit::Ticks,
        Some("NANOSECONDS") => Unit::Nanoseconds,
        Some("MICROSECONDS") => Unit::Microseconds,
        Some("MILLISECONDS") => Unit::Milliseconds,
        Some("SECONDS") => Unit::Seconds,
        Some(_) | None => Unit::Plain,
    }
}

/// An element of the description, which is a tree.
struct Element<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
    children: Vec<Self>,
}

impl<'a> Element<'a> {
    fn read(input: &mut Input<'_>, texts: &'a [String], depth: usize) -> Result<Self, Damage> {
        if depth > MAX_DEPTH {
            return Err("the description of types nests too deep");
        }
        let text = |input: &mut Input<'_>| {
            let index = usize::try_from(input.int()?).ok();
            index.and_then(|index| texts.get(index)).map(String::as_str).ok_or("a word of the description is not there")
        };
        let name = text(input)?;
        let attributes =
            (0..input.count()?).map(|_| Ok((text(input)?, text(input)?))).collect::<Result<_, Damage>>()?;
        let children =
            (0..input.count()?).map(|_| Self::read(input, texts, depth + 1)).collect::<Result<_, Damage>>()?;
        Ok(Self { name, attributes, children })
    }

    fn attribute(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    fn number(&self, attribute: &str) -> Option<i64> {
        self.attribute(attribute)?.parse().ok()
    }

    fn all(&self, name: &'static str) -> impl Iterator<Item = &Self> {
        self.children.iter().filter(move |child| child.name == name)
    }
}
