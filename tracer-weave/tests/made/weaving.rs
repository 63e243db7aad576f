//! Weaves such a class, and reads what became of it.

use ristretto_classfile::{
    ClassFile,
    attributes::{Attribute, Instruction},
};
use tracer_weave::{
    Kind, Pattern, Place, Rule,
    weave::{Woven, weave},
};

pub(crate) fn rule(place: Place, kind: Kind) -> Rule {
    Rule {
        marker: 1,
        class: Pattern::new("*"),
        subclasses: false,
        method: Pattern::new("*"),
        descriptor: None,
        except: Vec::new(),
        place,
        kind,
        receiver: false,
        arguments: false,
        counted: false,
    }
}

pub(crate) fn weave_with(class: &[u8], rules: &[Rule]) -> Woven {
    let mut last = 0;
    let rules: Vec<&Rule> = rules.iter().collect();
    weave(class, &rules, &mut || {
        last += 1;
        Some(last)
    })
    .unwrap()
}

pub(crate) fn reasons(woven: &Woven) -> Vec<&str> {
    woven.skipped.iter().map(|skipped| skipped.reason.as_str()).collect()
}

/// The code of a woven class's method: instructions (targets are numbers of instructions), and its attributes.
pub(crate) fn code_of(woven: &Woven, name: &str) -> (Vec<Instruction>, Vec<Attribute>) {
    let class = ClassFile::from_bytes(woven.class_file.as_ref().unwrap()).unwrap();
    let named = |index: u16| class.constant_pool.try_get_utf8(index).unwrap().to_rust_string();
    let method = class.methods.iter().find(|method| named(method.name_index) == name).unwrap();
    let code = method.attributes.iter().find_map(|attribute| match attribute {
        Attribute::Code { code, attributes, .. } => Some((code.clone(), attributes.clone())),
        _ => None,
    });
    code.unwrap()
}
