//! Where a method makes objects: its allocating instructions, and calls that copy an array.

use super::code::{INVOKEVIRTUAL, Instruction, NEW};
use super::mark::{Mark, OfStack};
use super::method::{Fail, Method};
use super::plan::{Order, Rank};
use super::wishes::Wishes;
use crate::class::java_name;
use crate::{Made, Maker, Rule};

const NEWARRAY: u8 = 188;
const ANEWARRAY: u8 = 189;
const CHECKCAST: u8 = 192;
const MULTIANEWARRAY: u8 = 197;

/// The recorder's methods for an array, and for several alike, by the size of their elements.
#[derive(Clone, Copy)]
struct Recorder {
    one: &'static str,
    many: &'static str,
}

/// Objects that an instruction makes: the outermost first.
enum Makes {
    /// One of this class.
    Object(String),
    /// An array of this descriptor.
    Array(String),
    /// Arrays: so many dimensions of this descriptor.
    Nested(String, u8),
    /// A copy of an array of this descriptor, once the next instruction has said what it is.
    Copy(String),
}

impl Wishes<'_> {
    /// A point behind each instruction that makes an object.
    pub(super) fn allocations(&mut self, number: usize, rule: &Rule) -> Result<(), Fail> {
        let method = self.method();
        let code = &method.code;
        let (mut handles, mut joins) = (vec![false; code.count() + 1], vec![false; code.count() + 1]);
        code.handlers.iter().for_each(|handler| handles[handler.target] = true);
        code.instructions.iter().flat_map(|one| one.flow.targets()).for_each(|target| joins[*target] = true);
        for (index, instruction) in code.instructions.iter().enumerate() {
            let Some(makes) = makes(method, index, instruction) else { continue };
            let is_copy = matches!(makes, Makes::Copy(_));
            let behind = if is_copy { index + 2 } else { index + 1 };
            // There an exception would be told of as an array, and what comes from elsewhere as a copy.
            if handles[index + 1] || is_copy && (joins[index + 1] || handles.get(behind) == Some(&true)) {
                self.leave_out("an object is made where something else goes on, too");
                continue;
            }
            let order = Order { rank: Rank::Allocation, size: std::cmp::Reverse(1), rule: number };
            let way = (behind - 1, behind);
            match makes {
                Makes::Object(class) => {
                    let id = self.place_of(rule, index, Made { class: java_name(&class), by: Maker::New })?;
                    self.on_way(order, way, mark("point", id, OfStack::Nothing));
                }
                Makes::Array(descriptor) => self.array(rule, index, (order, way), &descriptor, Maker::Array)?,
                Makes::Copy(descriptor) => self.array(rule, index, (order, way), &descriptor, Maker::Clone)?,
                Makes::Nested(descriptor, dimensions) => {
                    self.nested(rule, index, (order, way), &descriptor, dimensions)?;
                }
            }
        }
        Ok(())
    }

    fn array(
        &mut self,
        rule: &Rule,
        index: usize,
        (order, way): (Order, (usize, usize)),
        descriptor: &str,
        by: Maker,
    ) -> Result<(), Fail> {
        let (Some(class), Some(recorder)) = (array_name(descriptor), recorder(descriptor)) else { return Ok(()) };
        let id = self.place_of(rule, index, Made { class, by })?;
        self.on_way(order, way, mark(recorder.one, id, OfStack::Length));
        Ok(())
    }

    /// Each dimension is a place of its own. Of lengths that come to nothing there are no further arrays within.
    fn nested(
        &mut self,
        rule: &Rule,
        index: usize,
        (order, way): (Order, (usize, usize)),
        descriptor: &str,
        dimensions: u8,
    ) -> Result<(), Fail> {
        let mut of = Vec::new();
        let mut rest = descriptor;
        for dimension in 0..dimensions {
            let (Some(class), Some(recorder)) = (array_name(rest), recorder(rest)) else { return Ok(()) };
            let by = if dimension == 0 { Maker::Array } else { Maker::Inner };
            of.push((self.place_of(rule, index, Made { class, by })?, recorder.many));
            rest = rest.get(1..).unwrap_or_default();
        }
        let Some((first, _)) = of.first().copied() else { return Ok(()) };
        self.before(order, index, mark("", first, OfStack::Saved(dimensions)));
        self.on_way(order, way, mark("", first, OfStack::InnerLengths(of)));
        self.save(dimensions);
        Ok(())
    }
}

const fn mark(method: &'static str, id: u32, of_stack: OfStack) -> Mark {
    Mark { method, id, receiver: false, arguments: false, kept_in: None, of_stack }
}

/// What an instruction makes.
fn makes(method: &Method<'_>, index: usize, instruction: &Instruction) -> Option<Makes> {
    let (class, code) = (method.class, &method.code);
    let named = |instruction: &Instruction| class.class_name(code.constant(instruction));
    match instruction.opcode {
        // Behind it there is an instruction: control does not fall off the end.
        NEW => named(instruction).map(Makes::Object),
        NEWARRAY => Some(Makes::Array(format!("[{}", primitive(*code.bytes.get(instruction.bci + 1)?)?))),
        ANEWARRAY => {
            let element = named(instruction)?;
            Some(Makes::Array(if element.starts_with('[') { format!("[{element}") } else { format!("[L{element};") }))
        }
        MULTIANEWARRAY => {
            let dimensions = *code.bytes.get(instruction.bci + 3)?;
            let name = named(instruction)?;
            let depth = name.bytes().take_while(|byte| *byte == b'[').count();
            (dimensions > 0 && usize::from(dimensions) <= depth).then_some(Makes::Nested(name, dimensions))
        }
        INVOKEVIRTUAL => {
            let (holder, name) = class.member(code.constant(instruction))?;
            // What `clone` gives is an object for the verifier, until it is said to be an array.
            let cast = code.instructions.get(index + 1).filter(|next| next.opcode == CHECKCAST)?;
            let is_copy = holder.starts_with('[') && name == "clone" && named(cast)? == holder;
            is_copy.then(|| Makes::Copy(holder.to_owned()))
        }
        _ => None,
    }
}

/// The descriptor of an element, by the operand of `newarray`.
const fn primitive(operand: u8) -> Option<char> {
    Some(match operand {
        4 => 'Z',
        5 => 'C',
        6 => 'F',
        7 => 'D',
        8 => 'B',
        9 => 'S',
        10 => 'I',
        11 => 'J',
        _ => return None,
    })
}

/// Who takes the lengths of arrays with this descriptor.
fn recorder(descriptor: &str) -> Option<Recorder> {
    let (one, many) = match descriptor.strip_prefix('[')?.bytes().next()? {
        b'Z' | b'B' => ("bytes", "manyBytes"),
        b'C' | b'S' => ("shorts", "manyShorts"),
        b'I' | b'F' => ("ints", "manyInts"),
        b'J' | b'D' => ("longs", "manyLongs"),
        b'L' | b'[' => ("references", "manyReferences"),
        _ => return None,
    };
    Some(Recorder { one, many })
}

/// `[[I` as Java writes it.
fn array_name(descriptor: &str) -> Option<String> {
    let element = descriptor.trim_start_matches('[');
    let depth = descriptor.len() - element.len();
    let name = match element.bytes().next()? {
        b'Z' => "boolean",
        b'B' => "byte",
        b'C' => "char",
        b'S' => "short",
        b'I' => "int",
        b'F' => "float",
        b'J' => "long",
        b'D' => "double",
        b'L' => element.strip_prefix('L')?.strip_suffix(';')?,
        _ => return None,
    };
    (1..=255).contains(&depth).then(|| java_name(name) + &"[]".repeat(depth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_named_as_java_writes_them() {
        assert_eq!(array_name("[[I").as_deref(), Some("int[][]"));
        assert_eq!(array_name("[Lcom/shop/Cart;").as_deref(), Some("com.shop.Cart[]"));
        assert_eq!((array_name("I"), array_name("["), array_name("[Lcut")), (None, None, None));
    }

    #[test]
    fn elements_are_as_large_as_their_types() {
        let one = |descriptor| recorder(descriptor).map(|recorder| recorder.one);
        assert_eq!(
            [one("[Z"), one("[S"), one("[F"), one("[D")],
            [Some("bytes"), Some("shorts"), Some("ints"), Some("longs")]
        );
        assert_eq!(
            [one("[[Z"), one("[Ljava/lang/Long;"), one("["), one("[V")],
            [Some("references"), Some("references"), None, None]
        );
    }
}
