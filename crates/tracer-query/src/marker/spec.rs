//! Markers as users describe them: a TOML file with a table `[[marker]]` each, short forms, or both.

mod toml;

use std::{collections::HashMap, ops::Range};

use tracer_weave::{Kind, Named, Pattern, Place, Rule, Sides};

use super::{
    Error,
    error::Wrong,
    place::{no_region, usual_sides},
    short,
};
use crate::{
    mark::{Asked, CALLS, EXCEPTIONS, EXPLAINED, Marker, OBJECTS, WITHIN},
    predicate::{self, Field, Predicate, error::nearest, tree::Expr},
};

/// Largest file: room for as many methods as can be woven.
pub const MAX_FILE_BYTES: usize = 32 << 20;
/// Most markers.
pub const MAX_MARKERS: usize = 1000;
/// Most further methods of all markers together.
pub const MAX_FURTHER: usize = 100_000;

/// The option with short forms, as errors name it.
const OPTION: &str = "--marker";

/// Clients that take counts as well as single marks.
const COUNTING_CLIENTS: [&str; 3] = ["counts", CALLS, OBJECTS];

/// A marker, and where it is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// What clients know of it.
    pub marker: Marker,
    /// Its classes.
    pub class: Pattern,
    /// Whether classes below these are meant, too.
    pub subclasses: bool,
    /// Its methods.
    pub method: Pattern,
    /// Their descriptors.
    pub descriptor: Option<Pattern>,
    /// Further methods.
    pub also: Vec<Named>,
    /// Methods that are left out.
    pub except: Vec<Named>,
    /// Where in them.
    pub place: Place,
    /// Whether receivers are told.
    pub receiver: bool,
    /// Whether arguments are told.
    pub arguments: bool,
}

impl Wish {
    /// The marker of chosen methods: what is counted of their calls is for the lens `methods`. Nothing where none is included.
    pub fn calls(include: Vec<Named>, except: Vec<Named>, predicate: Option<String>, time: bool) -> Option<Self> {
        let wish = Self::of(CALLS, (Place::Method, Sides::Region), include, except)?;
        Some(Self { marker: Marker { time, predicate, ..wish.marker }, ..wish })
    }

    /// The marker of allocations in chosen methods, for the lens `alloc`.
    pub fn objects(include: Vec<Named>, except: Vec<Named>) -> Option<Self> {
        Self::of(OBJECTS, (Place::Allocation, Sides::Point), include, except)
    }

    /// The marker of exceptions that come to chosen methods, for the lens `exceptions`. Each is told with its class and its hash.
    pub fn exceptions(include: Vec<Named>, except: Vec<Named>) -> Option<Self> {
        let wish = Self::of(EXCEPTIONS, (Place::Exception, Sides::Point), include, except)?;
        Some(Self { receiver: true, arguments: true, ..wish })
    }

    /// A region whose costs are asked for; nothing where it is a point.
    pub fn explained(self) -> Option<Self> {
        let is_region = self.marker.sides == Sides::Region;
        let marker =
            Marker { token: EXPLAINED.to_owned(), time: true, subscribers: vec![EXPLAINED.to_owned()], ..self.marker };
        is_region.then_some(Self { marker, ..self })
    }

    /// The marker of what is told of within such a region. Nothing where no method is included.
    pub fn within(include: Vec<Named>, except: Vec<Named>) -> Option<Self> {
        let wish = Self::of(WITHIN, (Place::Method, Sides::Region), include, except)?;
        let subscribers = vec![EXPLAINED.to_owned()];
        Some(Self { marker: Marker { time: true, subscribers, ..wish.marker }, ..wish })
    }

    fn of(client: &str, (place, sides): (Place, Sides), include: Vec<Named>, except: Vec<Named>) -> Option<Self> {
        let pattern = |named: &Named| format!("{}::{}", named.class.as_str(), named.method.as_str());
        let patterns: Vec<String> = include.iter().map(pattern).collect();
        let mut include = include.into_iter();
        let Named { class, method, descriptor } = include.next()?;
        let marker = Marker {
            name: client.to_owned(),
            token: client.to_owned(),
            sides,
            pattern: patterns.join(", "),
            time: false,
            predicate: None,
            inside: Vec::new(),
            not_under: Vec::new(),
            subscribers: vec![client.to_owned()],
        };
        let also = include.collect();
        Some(Self {
            marker,
            class,
            subclasses: false,
            method,
            descriptor,
            also,
            except,
            place,
            receiver: false,
            arguments: false,
        })
    }
}

/// All markers of a session. The index of a wish is the number of its marker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spec {
    /// The markers.
    pub wishes: Vec<Wish>,
}

/// What stands behind a marker's pattern.
#[derive(Clone, Debug, Default)]
pub(super) struct Flags {
    pub(super) sides: Option<(Sides, Range<usize>)>,
    pub(super) time: Option<Range<usize>>,
    pub(super) receiver: bool,
    pub(super) arguments: Option<Range<usize>>,
    pub(super) subclasses: bool,
}

/// A marker as it was read, with the places in the text that later tests may complain about.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) name: (String, Range<usize>),
    pub(super) token: Option<String>,
    pub(super) pattern: String,
    pub(super) class: Pattern,
    pub(super) method: Pattern,
    pub(super) descriptor: Option<Pattern>,
    pub(super) also: Vec<Named>,
    pub(super) place: Place,
    pub(super) place_at: Range<usize>,
    pub(super) flags: Flags,
    /// The text, where it begins if it stands in the source as it is, and the place of the whole.
    pub(super) predicate: Option<(String, Option<usize>, Range<usize>)>,
    pub(super) inside: Vec<(String, Range<usize>)>,
    pub(super) not_under: Vec<(String, Range<usize>)>,
    pub(super) subscribers: Vec<(String, Range<usize>)>,
}

/// Where a marker was described.
#[derive(Clone, Copy)]
enum Source<'a> {
    File { name: &'a str, text: &'a str },
    Option(&'a str),
}

impl Source<'_> {
    fn error(self, wrong: Wrong) -> Error {
        match self {
            Self::File { name, text } => Error::in_file(name, text, wrong),
            Self::Option(text) => Error::in_option(OPTION, text, wrong),
        }
    }
}

impl Spec {
    /// Reads a file (its name and text) and short forms. `clients` are the names that markers can have as subscribers.
    pub fn read(file: Option<(&str, &str)>, short_forms: &[String], clients: &[&str]) -> Result<Self, Error> {
        let mut drafts = Vec::new();
        if let Some((name, text)) = file {
            let source = Source::File { name, text };
            if text.len() > MAX_FILE_BYTES {
                let what = format!("more than {MAX_FILE_BYTES} bytes");
                return Err(Error::of(name, what, "a pattern with * can stand for many methods"));
            }
            let read = toml::parse(text).map_err(|wrong| source.error(wrong))?;
            if read.is_empty() {
                return Err(Error::of(name, "there is no marker in it", "a marker begins with a line [[marker]]"));
            }
            drafts.extend(read.into_iter().map(|draft| (source, draft)));
        }
        for text in short_forms {
            let source = Source::Option(text);
            drafts.push((source, short::parse(text).map_err(|wrong| source.error(wrong))?));
        }
        if drafts.len() > MAX_MARKERS {
            let what = format!("{} markers, and there can be {MAX_MARKERS}", drafts.len());
            return Err(Error::of("markers", what, "a pattern with * can stand for many methods"));
        }
        let further: usize = drafts.iter().map(|(_, draft)| draft.also.len()).sum();
        if further > MAX_FURTHER {
            let what = format!("{further} further methods, and there can be {MAX_FURTHER}");
            return Err(Error::of("markers", what, "a pattern with * can stand for many methods"));
        }
        check_names(&drafts, clients)?;
        let wishes = drafts.into_iter().map(|(source, draft)| wish(draft).map_err(|wrong| source.error(wrong)));
        Ok(Self { wishes: wishes.collect::<Result<_, _>>()? })
    }

    /// Whether nothing is lost where the JVM counts the marks of one of the markers, and sends none: nobody asks for anything of single
    /// marks, or for what lies inside.
    pub fn is_countable(&self, wish: &Wish) -> bool {
        let Marker { time, predicate, inside, not_under, subscribers, .. } = &wish.marker;
        let asks_stacks = |other: &Wish| !other.marker.inside.is_empty() || !other.marker.not_under.is_empty();
        let asks = *time || predicate.is_some() || !inside.is_empty() || !not_under.is_empty();
        let is_for_others = subscribers.iter().any(|name| !COUNTING_CLIENTS.contains(&name.as_str()));
        !asks && !wish.receiver && !wish.arguments && !is_for_others && !self.wishes.iter().any(asks_stacks)
    }

    /// Whether that would be so of the calls of chosen methods if they had no times.
    pub fn is_countable_without_times(&self, wish: &Wish) -> bool {
        let untimed = Wish { marker: Marker { time: false, ..wish.marker.clone() }, ..wish.clone() };
        wish.marker.is_of_calls() && self.is_countable(&untimed)
    }

    /// What the session says of them.
    pub fn asked(&self) -> Asked {
        Asked { markers: self.wishes.iter().map(|wish| wish.marker.clone()).collect(), ..Asked::default() }
    }

    /// What the weaver is asked for; a marker's rules stand together.
    pub fn rules(&self) -> Vec<Rule> {
        let rules = |(marker, wish): (u32, &Wish)| {
            let first = Rule {
                marker,
                class: wish.class.clone(),
                subclasses: wish.subclasses,
                method: wish.method.clone(),
                descriptor: wish.descriptor.clone(),
                except: wish.except.clone(),
                place: wish.place.clone(),
                kind: Kind::Marker(wish.marker.sides),
                receiver: wish.receiver,
                arguments: wish.arguments,
                counted: false,
            };
            let further = wish.also.iter().cloned().map(|Named { class, method, descriptor }| Rule {
                class,
                method,
                descriptor,
                ..first.clone()
            });
            let mut rules: Vec<Rule> = further.collect();
            rules.insert(0, first);
            rules
        };
        (0..).zip(&self.wishes).flat_map(rules).collect()
    }
}

/// Each name once, and only names that are there.
fn check_names(drafts: &[(Source<'_>, Draft)], clients: &[&str]) -> Result<(), Error> {
    let mut known: HashMap<&str, bool> = HashMap::new();
    for (source, draft) in drafts {
        let (name, at) = &draft.name;
        let is_region = sides(draft) == Sides::Region;
        if known.insert(name, is_region).is_some() {
            let hint = "give each marker a name of its own; markers that belong together can have the same token";
            return Err(source.error(Wrong::new(at.clone(), format!("there are two markers `{name}`"), hint)));
        }
    }
    for (source, draft) in drafts {
        for (name, at) in draft.inside.iter().chain(&draft.not_under) {
            let wrong = match known.get(name.as_str()) {
                Some(true) => continue,
                Some(false) => Wrong::new(at.clone(), format!("`{name}` is a point"), "only regions have an inside"),
                None => {
                    let names = known.keys().copied();
                    let hint = nearest(name, names).map_or_else(
                        || "name a marker of this session".to_owned(),
                        |meant| format!("did you mean {meant}?"),
                    );
                    Wrong::new(at.clone(), format!("there is no marker `{name}`"), hint)
                }
            };
            return Err(source.error(wrong));
        }
        for (name, at) in &draft.subscribers {
            if !clients.contains(&name.as_str()) {
                let hint = nearest(name, clients.iter().copied()).map_or_else(
                    || format!("clients are {}", clients.join(", ")),
                    |meant| format!("did you mean {meant}?"),
                );
                return Err(source.error(Wrong::new(at.clone(), format!("there is no client `{name}`"), hint)));
            }
        }
    }
    Ok(())
}

fn sides(draft: &Draft) -> Sides {
    draft.flags.sides.as_ref().map_or_else(|| usual_sides(&draft.place), |(sides, _)| *sides)
}

/// A draft whose parts fit each other.
fn wish(draft: Draft) -> Result<Wish, Wrong> {
    let sides = sides(&draft);
    let Draft { name, token, pattern, class, method, descriptor, also, place, place_at, flags, .. } = draft;
    if sides == Sides::Region
        && let Some(why) = no_region(&place)
    {
        let at = flags.sides.map_or(place_at, |(_, at)| at);
        return Err(Wrong::new(at, why, "leave the sides out, or ask for a point"));
    }
    if let Some(at) = flags.arguments.clone()
        && place != Place::Method
    {
        let what = "arguments are known where a method begins, and not inside of it";
        return Err(Wrong::new(at, what, "leave them out, or mark the method"));
    }
    if let Some((text, start, at)) = &draft.predicate {
        check_predicate(text, sides, flags.time.is_some()).map_err(|wrong| match start {
            Some(start) => wrong.from(*start),
            None => Wrong { span: at.clone(), ..wrong },
        })?;
    }
    let texts = |list: Vec<(String, Range<usize>)>| list.into_iter().map(|(text, _)| text).collect();
    let marker = Marker {
        token: token.unwrap_or_else(|| name.0.clone()),
        name: name.0,
        sides,
        pattern,
        time: flags.time.is_some(),
        predicate: draft.predicate.map(|(text, ..)| text),
        inside: texts(draft.inside),
        not_under: texts(draft.not_under),
        subscribers: texts(draft.subscribers),
    };
    let Flags { receiver, arguments, subclasses, .. } = flags;
    let arguments = arguments.is_some();
    let except = Vec::new();
    Ok(Wish { marker, class, subclasses, method, descriptor, also, except, place, receiver, arguments })
}

/// The kind of event that a marker's predicate is about.
const fn predicate_kind(sides: Sides) -> predicate::Kind {
    match sides {
        Sides::Point => predicate::Kind::Point,
        Sides::Region => predicate::Kind::Region,
    }
}

/// The predicate of a marker, or why it cannot be read; nothing where it has none.
pub fn parsed(marker: &Marker) -> Option<Result<Predicate, predicate::Error>> {
    marker.predicate.as_deref().map(|text| Predicate::parse(text, predicate_kind(marker.sides)))
}

/// The predicate of a marker; nothing where it has none that can be read.
pub fn predicate_of(marker: &Marker) -> Option<Predicate> {
    parsed(marker)?.ok()
}

fn check_predicate(text: &str, sides: Sides, timed: bool) -> Result<(), Wrong> {
    let predicate = Predicate::parse(text, predicate_kind(sides)).map_err(|error| Wrong {
        what: error.what,
        span: error.span.start..error.span.end,
        hint: error.hint,
    })?;
    if !timed && let Some(span) = predicate.expr.as_ref().and_then(asks_duration) {
        let what = "a region's duration is known only with times";
        return Err(Wrong::new(span, what, "add time = true, or +time: it costs some 33 ns a mark"));
    }
    Ok(())
}

/// Where a predicate asks for the duration.
fn asks_duration(expr: &Expr) -> Option<Range<usize>> {
    use predicate::tree::Tree;
    match &expr.tree {
        Tree::And(parts) | Tree::Or(parts) => parts.iter().find_map(asks_duration),
        Tree::Not(part) => asks_duration(part),
        Tree::Test(condition) => (condition.field() == Some(Field::Duration)).then_some(expr.span.start..expr.span.end),
    }
}
