//! The parameters of a method, out of its descriptor.

use ristretto_classfile::attributes::VerificationType;

use super::pool::{Additions, Full};

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// The local variable that it comes in.
    pub(crate) slot: u16,
    /// Its type.
    pub(crate) kind: Kind,
}

/// The type of a parameter, as far as the JVM's stack knows types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Int,
    Long,
    Float,
    Double,
    /// A reference to this class or array.
    Object(String),
}

impl Kind {
    /// How many local variables it takes.
    pub(crate) const fn slots(&self) -> u16 {
        match self {
            Self::Long | Self::Double => 2,
            Self::Int | Self::Float | Self::Object(_) => 1,
        }
    }

    /// It, as stack maps name it; a reference as if it were `null`.
    pub(crate) const fn plain_type(&self) -> VerificationType {
        match self {
            Self::Int => VerificationType::Integer,
            Self::Long => VerificationType::Long,
            Self::Float => VerificationType::Float,
            Self::Double => VerificationType::Double,
            Self::Object(_) => VerificationType::Null,
        }
    }

    /// It, as stack maps name it.
    pub(crate) fn verification_type(&self, pool: &mut Additions) -> Result<VerificationType, Full> {
        Ok(match self {
            Self::Int => VerificationType::Integer,
            Self::Long => VerificationType::Long,
            Self::Float => VerificationType::Float,
            Self::Double => VerificationType::Double,
            Self::Object(class) => VerificationType::Object { cpool_index: pool.class(class)? },
        })
    }
}

/// The parameters of a method; `None` where the descriptor is none.
pub(crate) fn parameters(descriptor: &str, is_static: bool) -> Option<Vec<Parameter>> {
    let mut rest = descriptor.strip_prefix('(')?;
    let mut parameters = Vec::new();
    let mut slot = u16::from(!is_static);
    while !rest.starts_with(')') {
        let length = type_length(rest)?;
        let (text, behind) = rest.split_at_checked(length)?;
        let kind = match text.as_bytes().first()? {
            b'J' => Kind::Long,
            b'F' => Kind::Float,
            b'D' => Kind::Double,
            b'L' => Kind::Object(text.get(1..text.len() - 1)?.to_owned()),
            b'[' => Kind::Object(text.to_owned()),
            _ => Kind::Int,
        };
        let slots = kind.slots();
        parameters.push(Parameter { slot, kind });
        slot = slot.checked_add(slots)?;
        rest = behind;
    }
    Some(parameters)
}

/// How many bytes of a descriptor its first type has.
fn type_length(text: &str) -> Option<usize> {
    let dimensions = text.bytes().take_while(|byte| *byte == b'[').count();
    match text.as_bytes().get(dimensions)? {
        b'L' => Some(text.find(';')? + 1),
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' => Some(dimensions + 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_take_their_slots() {
        let found = parameters("(IJ[[Ljava/lang/String;DZLa/B;[I)V", false).unwrap();
        let found: Vec<_> = found.into_iter().map(|parameter| (parameter.slot, parameter.kind)).collect();
        let object = |name: &str| Kind::Object(name.to_owned());
        assert_eq!(
            found,
            [
                (1, Kind::Int),
                (2, Kind::Long),
                (4, object("[[Ljava/lang/String;")),
                (5, Kind::Double),
                (7, Kind::Int),
                (8, object("a/B")),
                (9, object("[I")),
            ]
        );
    }

    #[test]
    fn what_is_no_descriptor_has_no_parameters() {
        for descriptor in ["", "(", "(I", "(L)V", "(X)V", "([)V", "I"] {
            assert_eq!(parameters(descriptor, true), None, "{descriptor}");
        }
    }
}
