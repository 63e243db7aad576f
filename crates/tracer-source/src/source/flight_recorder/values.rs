//! Values of events, and of what they refer to, as the description of their types says.
//!
//! What a key stands for is looked up where it is asked for, along a path that the caller knows. So a pool whose values
//! refer to each other in a circle leads nowhere.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use super::{
    chunk::{Header, events},
    input::{Damage, Input, Text},
    types::{Form, Type, Types, Unit},
};

/// The number of the events that hold pools.
const POOLS: i64 = 1;
/// Deepest nesting of values within each other.
const MAX_DEPTH: usize = 8;
/// How many steps lead from a field to its text: a class has a name, which is a type with one field, which is in a pool.
const MAX_HOPS: usize = 8;
/// Most keys of a chunk; recorders write some thousands.
const MAX_KEYS: usize = 4 << 20;
/// Most values of a list; no recorder walks deeper stacks.
const MAX_LIST: usize = 1 << 16;
/// The smallest number says that there is no time.
const NO_TIME: i64 = i64::MIN;

/// Texts by the number of their type and their key; nothing where a key leads to none.
type Texts = HashMap<(i64, i64), Option<Rc<str>>>;

/// A value of a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// A number, or a flag.
    Number(i64),
    /// Of fractions nothing is asked.
    Fraction,
    Text(Text<'a>),
    /// A key of a pool: the type's number, and the key.
    Key(i64, i64),
    /// The values of a type's fields, with its number.
    Fields(i64, Vec<Self>),
    List(Vec<Self>),
}

/// A chunk with all that its events refer to.
pub(super) struct Chunk<'a> {
    pub(super) header: Header,
    pub(super) input: Input<'a>,
    pub(super) types: Types,
    /// Where the value of each key stands.
    pools: HashMap<(i64, i64), usize>,
    /// What keys stand for that were asked for: many events refer to one name.
    names: RefCell<Texts>,
}

impl<'a> Chunk<'a> {
    /// Reads the types of a chunk, and where its pools' values are.
    pub(super) fn read(header: Header, bytes: &'a [u8]) -> Result<Self, Damage> {
        let input = Input::new(bytes, header.compressed);
        let types = Types::read(input.from(header.metadata))?;
        let mut chunk = Self { header, input, types, pools: HashMap::new(), names: RefCell::default() };
        let mut pools = HashMap::new();
        events(
            input,
            |number, mut event| {
                if number == POOLS { chunk.take_pools(&mut event, &mut pools) } else { Ok(()) }
            },
        )?;
        chunk.pools = pools;
        Ok(chunk)
    }

    fn take_pools(&self, event: &mut Input<'a>, pools: &mut HashMap<(i64, i64), usize>) -> Result<(), Damage> {
        for _ in 0..3 {
            event.long()?;
        }
        event.byte()?;
        for _ in 0..event.count()? {
            let of = event.long()?;
            for _ in 0..event.count()? {
                let key = event.long()?;
                if pools.len() >= MAX_KEYS {
                    return Err("a chunk refers to more than any recorder writes");
                }
                pools.insert((of, key), event.at());
                // Values have no size, so what follows one that cannot be read is lost.
                self.values(of, event)?;
            }
        }
        Ok(())
    }

    /// The fields of an event of a type.
    pub(super) fn event(&self, number: i64, mut input: Input<'a>) -> Result<Object<'_, 'a>, Damage> {
        let values = self.values(number, &mut input)?;
        self.object(values).ok_or("an event has no fields")
    }

    /// One value of a type, as it stands in a pool or in an event.
    fn values(&self, of: i64, input: &mut Input<'a>) -> Result<Value<'a>, Damage> {
        self.value(of, input, 0)
    }

    fn value(&self, of: i64, input: &mut Input<'a>, depth: usize) -> Result<Value<'a>, Damage> {
        if depth > MAX_DEPTH {
            return Err("values nest too deep");
        }
        let Type { form, fields, .. } = self.types.get(of).ok_or("a value of a type that is not described")?;
        Ok(match form {
            Form::Byte => Value::Number(input.byte()?.cast_signed().into()),
            Form::Short => Value::Number(input.short()?.into()),
            Form::Int => Value::Number(input.int()?.into()),
            Form::Long => Value::Number(input.long()?),
            Form::Float => input.take(4).map(|_| Value::Fraction)?,
            Form::Double => input.take(8).map(|_| Value::Fraction)?,
            Form::Text => Value::Text(input.text()?),
            // A value takes a byte at least, so that as many can be claimed as there are bytes.
            Form::Fields if fields.is_empty() => return Err("a value of a type without fields"),
            Form::Fields => {
                let mut values = Vec::with_capacity(fields.len().min(input.left()));
                for field in fields {
                    let one = |input: &mut Input<'a>| {
                        if field.is_pooled {
                            return Ok(Value::Key(field.of, input.long()?));
                        }
                        self.value(field.of, input, depth + 1)
                    };
                    values.push(if field.is_array {
                        let count = input.count()?;
                        if count > MAX_LIST {
                            return Err("a list is too long");
                        }
                        Value::List((0..count).map(|_| one(input)).collect::<Result<_, _>>()?)
                    } else {
                        one(input)?
                    });
                }
                Value::Fields(of, values)
            }
        })
    }

    /// What a key stands for, or the value itself.
    fn resolved(&self, value: &Value<'a>) -> Option<Value<'a>> {
        let Value::Key(of, key) = value else { return Some(value.clone()) };
        let at = *self.pools.get(&(*of, *key))?;
        self.values(*of, &mut self.input.from(at)).ok()
    }

    fn object(&self, value: Value<'a>) -> Option<Object<'_, 'a>> {
        let Value::Fields(of, values) = value else { return None };
        Some(Object { chunk: self, of: self.types.get(of)?, values })
    }

    fn text(&self, value: &Value<'a>, hops: usize) -> Option<Rc<str>> {
        let hops = hops.checked_sub(1)?;
        match value {
            Value::Text(Text::Here(text)) => Some(Rc::from(text.as_ref())),
            Value::Text(Text::Pooled(key)) => self.name(self.types.texts()?, *key, hops),
            Value::Key(of, key) => self.name(*of, *key, hops),
            // A name is a type with one field; a class has a name beside others.
            Value::Fields(of, values) => {
                let fields = &self.types.get(*of)?.fields;
                let at = fields.iter().position(|field| field.name == "name").unwrap_or(0);
                self.text(values.get(at)?, hops)
            }
            Value::Text(Text::Null) | Value::Number(_) | Value::Fraction | Value::List(_) => None,
        }
    }

    fn name(&self, of: i64, key: i64, hops: usize) -> Option<Rc<str>> {
        if let Some(known) = self.names.borrow().get(&(of, key)) {
            return known.clone();
        }
        let value = self.resolved(&Value::Key(of, key));
        let name = value.and_then(|value| self.text(&value, hops));
        self.names.borrow_mut().insert((of, key), name.clone());
        name
    }
}

/// An event, or something that it refers to.
pub(super) struct Object<'c, 'a> {
    chunk: &'c Chunk<'a>,
    of: &'c Type,
    values: Vec<Value<'a>>,
}

impl<'c, 'a> Object<'c, 'a> {
    fn field(&self, name: &str) -> Option<(&Value<'a>, Unit)> {
        let at = self.of.fields.iter().position(|field| field.name == name)?;
        Some((self.values.get(at)?, self.of.fields[at].unit))
    }

    /// A number.
    pub(super) fn number(&self, name: &str) -> Option<i64> {
        let (Value::Number(number), _) = self.field(name)? else { return None };
        Some(*number)
    }

    /// A number that cannot be negative.
    pub(super) fn amount(&self, name: &str) -> u64 {
        self.number(name).and_then(|number| u64::try_from(number).ok()).unwrap_or(0)
    }

    /// An address: all its bits count.
    pub(super) fn address(&self, name: &str) -> u64 {
        self.number(name).map_or(0, i64::cast_unsigned)
    }

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.number(name).map(|number| number != 0)
    }

    /// A time, in whatever unit it is.
    pub(super) fn span_ns(&self, name: &str) -> Option<u64> {
        let (Value::Number(number), unit) = self.field(name)? else { return None };
        let amount = u64::try_from(*number).unwrap_or(0);
        Some(match unit {
            _ if *number == NO_TIME => return None,
            Unit::Ticks => self.chunk.header.span_ns(*number),
            Unit::Plain | Unit::Nanoseconds => amount,
            Unit::Microseconds => amount.saturating_mul(1_000),
            Unit::Milliseconds => amount.saturating_mul(1_000_000),
            Unit::Seconds => amount.saturating_mul(1_000_000_000),
        })
    }

    /// When it began, and when it was over.
    pub(super) fn stretch(&self) -> (u64, u64) {
        let start_ns = self.chunk.header.moment_ns(self.number("startTime").unwrap_or(0));
        (start_ns, start_ns.saturating_add(self.span_ns("duration").unwrap_or(0)))
    }

    /// A text, or the name that a key stands for.
    pub(super) fn text(&self, name: &str) -> Option<Rc<str>> {
        self.chunk.text(self.field(name)?.0, MAX_HOPS)
    }

    /// What it refers to; nothing where that is nothing.
    pub(super) fn object(&self, name: &str) -> Option<Self> {
        self.chunk.object(self.chunk.resolved(self.field(name)?.0)?)
    }

    /// The key by which it refers to something.
    pub(super) fn key(&self, name: &str) -> Option<i64> {
        let (Value::Key(_, key), _) = self.field(name)? else { return None };
        Some(*key)
    }

    /// Several that stand in it.
    pub(super) fn list(&self, name: &str) -> impl Iterator<Item = Object<'c, 'a>> + use<'_, 'c, 'a> {
        let values: &[Value<'a>] = match self.field(name) {
            Some((Value::List(values), _)) => values,
            _ => &[],
        };
        values.iter().filter_map(|value| self.chunk.object(self.chunk.resolved(value)?))
    }
}
