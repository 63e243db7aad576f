//! What a class file says of itself, without its code: for asking whether rules mean it before anything is woven.

use crate::class::{ClassBytes, STATIC, java_name};
use crate::weave::Error;

/// Access flag of an interface.
const INTERFACE: u16 = 0x0200;

/// A class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassOutline {
    /// Name, as Java writes it.
    pub name: String,
    /// Superclass; `None` for `java.lang.Object`.
    pub superclass: Option<String>,
    /// Interfaces that it names.
    pub interfaces: Vec<String>,
    /// Major version of the class file.
    pub version: u16,
    /// Access flags.
    pub access: u16,
    /// Methods, in their order.
    pub methods: Vec<MethodOutline>,
}

impl ClassOutline {
    /// Whether it is an interface.
    pub const fn is_interface(&self) -> bool {
        self.access & INTERFACE != 0
    }
}

/// A method of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodOutline {
    /// Name.
    pub name: String,
    /// Descriptor.
    pub descriptor: String,
    /// Access flags.
    pub access: u16,
    /// Whether it has code: it is neither abstract nor native.
    pub has_code: bool,
}

impl MethodOutline {
    /// Whether it is static.
    pub const fn is_static(&self) -> bool {
        self.access & STATIC != 0
    }
}

/// Reads what a class file says of itself.
pub fn outline(class_file: &[u8]) -> Result<ClassOutline, Error> {
    let class = ClassBytes::read(class_file)?;
    let methods = class.methods.into_iter().map(|method| MethodOutline {
        name: method.name,
        descriptor: method.descriptor,
        access: method.access,
        has_code: method.code.is_some(),
    });
    Ok(ClassOutline {
        name: java_name(&class.name),
        superclass: class.superclass.as_deref().map(java_name),
        interfaces: class.interfaces.iter().map(|name| java_name(name)).collect(),
        version: class.major,
        access: class.access,
        methods: methods.collect(),
    })
}
