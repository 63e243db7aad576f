//! What class files say of themselves.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::fs;
use std::path::Path;

use tracer_weave::outline::{ClassOutline, outline};

fn outlined(name: &str) -> ClassOutline {
    outline(&fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/classes").join(name)).unwrap()).unwrap()
}

#[test]
fn a_class_says_its_name_its_superclass_and_its_methods() {
    let class = outlined("Methods$Derived.class");
    assert_eq!((class.name.as_str(), class.superclass.as_deref()), ("Methods$Derived", Some("Methods$Base")));
    assert_eq!((class.version, class.is_interface(), class.interfaces.len()), (55, false, 0));
    let methods: Vec<_> =
        class.methods.iter().map(|method| (method.name.as_str(), method.descriptor.as_str())).collect();
    assert_eq!(methods, [("<init>", "(I)V"), ("<init>", "()V"), ("half", "(I)I"), ("locked", "(I)J")]);
    assert_eq!(
        class.methods.iter().map(tracer_weave::outline::MethodOutline::is_static).collect::<Vec<_>>(),
        [false, false, true, false]
    );
    assert!(class.methods.iter().all(|method| method.has_code));
}

#[test]
fn an_interface_has_methods_without_code() {
    let class = outlined("Methods$Greeting.class");
    assert!(class.is_interface());
    let codes: Vec<_> = class.methods.iter().map(|method| (method.name.as_str(), method.has_code)).collect();
    assert_eq!(codes, [("length", true), ("none", true), ("prefix", false)]);
}
