//! The description of all types that a chunk begins with: a table of texts, and a tree of elements that refers to it.

use std::collections::HashMap;

use super::{
    bytes::Bytes,
    schema::{ANNOTATIONS, EVENTS, EventType, Field, PLAIN, POOLED, STACK_FRAME, Type, Unit},
};

/// An element of the tree.
#[derive(Debug, Default)]
struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Self>,
}

impl Element {
    fn new(name: &'static str) -> Self {
        Self { name, ..Self::default() }
    }

    fn with(mut self, attribute: &'static str, value: &impl ToString) -> Self {
        self.attributes.push((attribute, value.to_string()));
        self
    }

    fn child(mut self, child: Self) -> Self {
        self.children.push(child);
        self
    }
}

/// What follows the event's number, times and id; it is the same in each chunk of each file.
pub(super) fn description() -> Bytes {
    let types = plain().chain(annotations()).chain(referred()).chain(EVENTS.iter().map(event));
    let metadata = Element { name: "metadata", attributes: Vec::new(), children: types.collect() };
    // Times are shown in UTC, as everywhere in jtrace.
    let region = Element::new("region").with("locale", &"en_US").with("gmtOffset", &0).with("dst", &0);
    let root = Element::new("root").child(metadata).child(region);
    let (mut texts, mut tree) = (Texts::default(), Bytes::default());
    texts.element(&root, &mut tree);
    let mut out = Bytes::default();
    out.number(texts.all.len() as u64);
    for text in &texts.all {
        out.text(text);
    }
    out.raw(tree.as_slice());
    out
}

fn plain() -> impl Iterator<Item = Element> {
    PLAIN.into_iter().map(|(of, name)| declared(of, name))
}

fn annotations() -> impl Iterator<Item = Element> {
    ANNOTATIONS.into_iter().map(|(of, name, has_value, is_array, is_content)| {
        let mut element = declared(of, name).with("superType", &"java.lang.annotation.Annotation");
        if has_value {
            let value = Field::new("value", "", Type::Text);
            element = element.child(field(&Field { is_array, ..value }));
        }
        if is_content { element.child(annotation(Type::Content, &[])) } else { element }
    })
}

fn referred() -> impl Iterator<Item = Element> {
    let pooled = POOLED.iter().map(|(of, name, label, is_simple, fields)| {
        let element = declared(*of, name);
        let element = if *is_simple { element.with("simpleType", &true) } else { element };
        with_fields(element.child(annotation(Type::Label, &[label])), fields)
    });
    let (of, name, fields) = STACK_FRAME;
    pooled.chain(std::iter::once(with_fields(declared(of, name), fields)))
}

fn event(event: &EventType) -> Element {
    let EventType { of, name, label, category, lasts, thread, stack, fields } = event;
    let mut element = declared(*of, name)
        .with("superType", &"jdk.jfr.Event")
        .child(annotation(Type::Label, &[label]))
        .child(annotation(Type::Category, category))
        .child(field(&Field { unit: Unit::Moment, ..Field::new("startTime", "Start Time", Type::Long) }));
    if *lasts {
        element = element.child(field(&Field { unit: Unit::Ticks, ..Field::new("duration", "Duration", Type::Long) }));
    }
    if *thread {
        element = element.child(field(&Field::new("eventThread", "Event Thread", Type::Thread)));
    }
    if stack.is_some() {
        element = element.child(field(&Field::new("stackTrace", "Stack Trace", Type::StackTrace)));
    }
    with_fields(element, fields)
}

fn declared(of: Type, name: &str) -> Element {
    Element::new("class").with("id", &of.id()).with("name", &name)
}

fn with_fields(mut element: Element, fields: &[Field]) -> Element {
    element.children.extend(fields.iter().map(field));
    element
}

fn field(field: &Field) -> Element {
    let mut element = Element::new("field").with("name", &field.name).with("class", &field.of.id());
    if field.is_pooled() {
        element = element.with("constantPool", &true);
    }
    if field.is_array {
        element = element.with("dimension", &1);
    }
    if !field.label.is_empty() {
        element = element.child(annotation(Type::Label, &[field.label]));
    }
    let (of, value): (_, &[&str]) = match field.unit {
        Unit::Plain => return element,
        Unit::Moment => (Type::Timestamp, &["TICKS"]),
        Unit::Ticks => (Type::Timespan, &["TICKS"]),
        Unit::Nanoseconds => (Type::Timespan, &["NANOSECONDS"]),
        Unit::Milliseconds => (Type::Timespan, &["MILLISECONDS"]),
        Unit::SinceEpoch => (Type::Timestamp, &["MILLISECONDS_SINCE_EPOCH"]),
        Unit::Bytes => (Type::DataAmount, &["BYTES"]),
        Unit::Address => (Type::MemoryAddress, &[]),
    };
    element.child(annotation(of, value))
}

/// An annotation with its text, or its texts, which count from 0.
fn annotation(of: Type, values: &[&str]) -> Element {
    let mut element = Element::new("annotation").with("class", &of.id());
    for (value, key) in values.iter().zip(["value-0", "value-1", "value-2"]) {
        element = element.with(if of == Type::Category { key } else { "value" }, value);
    }
    element
}

/// The table of texts.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    ids: HashMap<String, u64>,
}

impl Texts {
    fn id(&mut self, text: &str) -> u64 {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = self.all.len() as u64;
        self.all.push(text.to_owned());
        self.ids.insert(text.to_owned(), id);
        id
    }

    fn element(&mut self, element: &Element, out: &mut Bytes) {
        let Element { name, attributes, children } = element;
        out.number(self.id(name));
        out.number(attributes.len() as u64);
        for (attribute, value) in attributes {
            out.number(self.id(attribute));
            out.number(self.id(value));
        }
        out.number(children.len() as u64);
        for child in children {
            self.element(child, out);
        }
    }
}
