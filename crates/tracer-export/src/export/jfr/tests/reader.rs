//! A little reader of the format that shares no code with the writer: it knows the header, numbers, and the three
//! kinds of events, and takes everything else from the description in the file.

use std::collections::BTreeMap;

/// A value of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Number(i64),
    Flag(bool),
    Text(String),
    Object(BTreeMap<String, Self>),
    List(Vec<Self>),
    /// A key of a pool, before it is looked up.
    Key(u64, u64),
}

impl Value {
    /// A field of an object, or of one in it: `stackTrace.frames`.
    #[track_caller]
    pub(super) fn get(&self, path: &str) -> &Self {
        path.split('.').fold(self, |value, key| match value {
            Self::Object(fields) => fields.get(key).unwrap_or_else(|| panic!("no {key} in {fields:?}")),
            other => panic!("no {key} in {other:?}"),
        })
    }

    #[track_caller]
    pub(super) fn number(&self, path: &str) -> i64 {
        let Self::Number(number) = self.get(path) else { panic!("{path} is no number: {self:?}") };
        *number
    }

    #[track_caller]
    pub(super) fn text(&self, path: &str) -> &str {
        let Self::Text(text) = self.get(path) else { panic!("{path} is no text: {self:?}") };
        text
    }

    /// The frames of its stack: how each runs, its class and method, its line.
    #[track_caller]
    pub(super) fn frames(&self) -> Vec<String> {
        let Self::List(frames) = self.get("stackTrace.frames") else { panic!("no frames: {self:?}") };
        let frame = |frame: &Self| {
            let [kind, class, name] = ["type", "method.type.name", "method.name"].map(|path| frame.text(path));
            format!("{kind} {class}.{name}:{}", frame.number("lineNumber"))
        };
        frames.iter().map(frame).collect()
    }
}

/// A chunk that was read.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) wall_ns: u64,
    pub(super) duration_ns: u64,
    pub(super) start_ns: u64,
    /// Names of types with labels of their categories.
    pub(super) categories: BTreeMap<String, Vec<String>>,
    /// How frames run, by number.
    pub(super) frame_types: BTreeMap<u64, String>,
    /// In the order of the file, with the names of their types.
    pub(super) events: Vec<(String, Value)>,
}

impl Chunk {
    /// The events of a type.
    pub(super) fn of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Value> {
        self.events.iter().filter(move |(of, _)| of == name).map(|(_, event)| event)
    }
}

/// Reads all chunks; fails at anything that is not as it should be.
#[track_caller]
pub(super) fn read(mut file: &[u8]) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    while !file.is_empty() {
        assert_eq!(&file[..8], b"FLR\0\0\x02\0\x01");
        let word = |index: usize| {
            let at = 8 + 8 * index;
            u64::from_be_bytes(file[at..at + 8].try_into().unwrap())
        };
        let [size, pools, metadata, wall_ns, duration_ns, start_ns, ticks] = [0, 1, 2, 3, 4, 5, 6].map(word);
        assert_eq!((ticks, &file[64..68]), (1_000_000_000, &[0, 0, 0, 1][..]));
        let (chunk, rest) = file.split_at(usize::try_from(size).unwrap());
        file = rest;
        let types = Types::read(event(chunk, metadata));
        let pools = types.pools(event(chunk, pools));
        let categories = types.0.values().map(|of| (of.name.clone(), of.categories.clone())).collect();
        let of_frames = pools.iter().filter(|((of, _), _)| types.0[of].name == "jdk.types.FrameType");
        let frame_types = of_frames.filter_map(|((_, id), name)| match name {
            Value::Text(name) => Some((*id, name.clone())),
            _ => None,
        });
        let frame_types = frame_types.collect();
        let mut events = Vec::new();
        let mut at = 68;
        while at < chunk.len() {
            let (mut body, whole) = framed(&chunk[at..]);
            at += whole;
            let of = body.number();
            if of < 2 {
                continue;
            }
            let value = types.fields(of, &mut body);
            assert!(body.0.is_empty(), "{} bytes of {} are left", body.0.len(), types.0[&of].name);
            events.push((types.0[&of].name.clone(), resolve(&value, &pools)));
        }
        chunks.push(Chunk { wall_ns, duration_ns, start_ns, categories, frame_types, events });
    }
    chunks
}

/// The event at a place, without its size.
fn event(chunk: &[u8], at: u64) -> Input<'_> {
    framed(&chunk[usize::try_from(at).unwrap()..]).0
}

/// The bytes of the first event, and how many it takes with its size.
fn framed(bytes: &[u8]) -> (Input<'_>, usize) {
    let mut input = Input(bytes);
    let size = usize::try_from(input.number()).unwrap();
    let read = bytes.len() - input.0.len();
    (Input(&bytes[read..size]), size)
}

struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().expect("it ends early");
        self.0 = rest;
        *first
    }

    fn number(&mut self) -> u64 {
        let mut value = 0;
        for shift in (0..56).step_by(7) {
            let byte = self.byte();
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value;
            }
        }
        value | u64::from(self.byte()) << 56
    }

    fn text(&mut self) -> Option<String> {
        match self.byte() {
            0 => None,
            1 => Some(String::new()),
            3 => {
                let length = usize::try_from(self.number()).unwrap();
                let (text, rest) = self.0.split_at(length);
                self.0 = rest;
                Some(String::from_utf8(text.to_vec()).expect("UTF-8"))
            }
            other => panic!("a text of kind {other}"),
        }
    }
}

#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    children: Vec<Self>,
}

impl Element {
    fn read(input: &mut Input<'_>, texts: &[String]) -> Self {
        let text = |input: &mut Input<'_>| texts[usize::try_from(input.number()).unwrap()].clone();
        let name = text(input);
        let attributes = (0..input.number()).map(|_| (text(input), text(input))).collect();
        let children = (0..input.number()).map(|_| Self::read(input, texts)).collect();
        Self { name, attributes, children }
    }

    fn id(&self, attribute: &str) -> u64 {
        self.attributes[attribute].parse().expect("a number")
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }
}

#[derive(Debug)]
struct Field {
    name: String,
    of: u64,
    is_pooled: bool,
    is_array: bool,
}

#[derive(Debug)]
struct Type {
    name: String,
    is_simple: bool,
    fields: Vec<Field>,
    categories: Vec<String>,
}

struct Types(BTreeMap<u64, Type>);

type Pools = BTreeMap<(u64, u64), Value>;

impl Types {
    fn read(mut input: Input<'_>) -> Self {
        assert_eq!(input.number(), 0);
        let _: [u64; 3] = [(); 3].map(|()| input.number());
        let texts: Vec<String> = (0..input.number()).map(|_| input.text().expect("a text")).collect();
        let root = Element::read(&mut input, &texts);
        assert!(input.0.is_empty() && root.name == "root" && root.all("region").count() == 1);
        let metadata = root.all("metadata").next().expect("metadata");
        let types: BTreeMap<u64, Type> = metadata.all("class").map(|class| (class.id("id"), declared(class))).collect();
        assert_eq!(types.len(), metadata.children.len(), "each type has a number of its own");
        for field in types.values().flat_map(|of| &of.fields) {
            assert!(types.contains_key(&field.of), "{field:?}");
        }
        Self(types)
    }

    fn pools(&self, mut input: Input<'_>) -> Pools {
        assert_eq!(input.number(), 1);
        let _: [u64; 3] = [(); 3].map(|()| input.number());
        assert_eq!(input.byte(), 0);
        let mut pools = Pools::new();
        for _ in 0..input.number() {
            let of = input.number();
            let count = input.number();
            assert!(count > 0, "an empty pool is damage");
            for _ in 0..count {
                let key = input.number();
                let value = self.fields(of, &mut input);
                // Interpreted frames have it in the JDK's files, too.
                assert!(key > 0 || self.0[&of].name == "jdk.types.FrameType", "{of} has a 0");
                assert!(pools.insert((of, key), value).is_none(), "{key} of {of} is there twice");
            }
        }
        assert!(input.0.is_empty());
        pools
    }

    fn fields(&self, of: u64, input: &mut Input<'_>) -> Value {
        let Type { is_simple, fields, .. } = &self.0[&of];
        let mut values = fields.iter().map(|field| {
            let value = if field.is_array {
                Value::List((0..input.number()).map(|_| self.value(field, input)).collect())
            } else {
                self.value(field, input)
            };
            (field.name.clone(), value)
        });
        if *is_simple { values.next().expect("a field").1 } else { Value::Object(values.collect()) }
    }

    fn value(&self, field: &Field, input: &mut Input<'_>) -> Value {
        match self.0[&field.of].name.as_str() {
            _ if field.is_pooled => Value::Key(field.of, input.number()),
            "boolean" => Value::Flag(input.byte() == 1),
            "int" => Value::Number(i64::from(u32::try_from(input.number()).expect("an int").cast_signed())),
            "long" => Value::Number(input.number().cast_signed()),
            "java.lang.String" => input.text().map_or(Value::Null, Value::Text),
            _ => self.fields(field.of, input),
        }
    }
}

fn declared(class: &Element) -> Type {
    let field = |field: &Element| Field {
        name: field.attributes["name"].clone(),
        of: field.id("class"),
        is_pooled: field.attributes.contains_key("constantPool"),
        is_array: field.attributes.contains_key("dimension"),
    };
    let values = |annotation: &Element| {
        annotation
            .attributes
            .iter()
            .filter(|(key, _)| key.starts_with("value-"))
            .map(|(_, value)| value.clone())
            .collect::<Vec<_>>()
    };
    Type {
        name: class.attributes["name"].clone(),
        is_simple: class.attributes.contains_key("simpleType"),
        fields: class.all("field").map(field).collect(),
        categories: class.all("annotation").flat_map(values).collect(),
    }
}

/// The value with everything that its keys stand for.
fn resolve(value: &Value, pools: &Pools) -> Value {
    match value {
        Value::Key(of, 0) if !pools.contains_key(&(*of, 0)) => Value::Null,
        Value::Key(of, key) => resolve(pools.get(&(*of, *key)).unwrap_or_else(|| panic!("no {key} of {of}")), pools),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), resolve(value, pools))).collect())
        }
        Value::List(values) => Value::List(values.iter().map(|value| resolve(value, pools)).collect()),
        other => other.clone(),
    }
}
