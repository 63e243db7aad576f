//! Markers as users write them: what they mean, and what they are told where they mean nothing.

use tracer_weave::{Access, Kind, Pattern, Place, Sides};

use super::*;

const CLIENTS: [&str; 2] = ["counts", "contexts"];

fn short(text: &str) -> Result<Spec, Error> {
    Spec::read(None, &[text.to_owned()], &CLIENTS)
}

fn file(text: &str) -> Result<Spec, Error> {
    Spec::read(Some(("m.toml", text)), &[], &CLIENTS)
}

fn one(text: &str) -> Wish {
    let mut spec = short(text).unwrap_or_else(|error| panic!("{text}: {}", error.render()));
    assert_eq!(spec.wishes.len(), 1);
    spec.wishes.remove(0)
}

#[test]
fn short_forms_say_what_they_seem_to() {
    let wish = one("checkout=com.shop.*::checkout");
    assert_eq!((wish.marker.name.as_str(), wish.marker.token.as_str()), ("checkout", "checkout"));
    assert_eq!(
        (wish.class, wish.method, wish.descriptor),
        (Pattern::new("com.shop.*"), Pattern::new("checkout"), None)
    );
    assert_eq!((wish.place, wish.marker.sides, wish.marker.time), (Place::Method, Sides::Region, false));
    let wish = one("com/shop/Cart::add(int, *)@loop+time+receiver+point where depth > 1 && nth(3)");
    assert_eq!(wish.marker.name, "com/shop/Cart::add(int, *)@loop");
    assert_eq!(wish.class, Pattern::new("com.shop.Cart"));
    assert_eq!(
        (wish.place, wish.marker.sides, wish.marker.time, wish.receiver),
        (Place::Loop, Sides::Point, true, true)
    );
    assert_eq!(wish.marker.predicate.as_deref(), Some("depth > 1 && nth(3)"));
    assert_eq!(wish.descriptor, Some(Pattern::new("(I*)*")));
    let wish = one("a::b+args+subclasses+region");
    assert_eq!((wish.arguments, wish.subclasses, wish.marker.sides), (true, true, Sides::Region));
}

#[test]
fn places_say_what_they_seem_to() {
    for (text, place, sides) in [
        ("a::b@line:42-57", Place::Lines { first: 42, last: 57 }, Sides::Region),
        ("a::b@line:42", Place::Lines { first: 42, last: 42 }, Sides::Region),
        ("a::b@block", Place::Block, Sides::Point),
        (
            "a::b@call:java.util.Iterator::next",
            Place::Call { class: Pattern::new("java.util.Iterator"), method: Pattern::new("next") },
            Sides::Region,
        ),
        (
            "x=a::b@field:com.shop.Cart.total=w",
            Place::Field { class: Pattern::new("com.shop.Cart"), field: Pattern::new("total"), access: Access::Write },
            Sides::Point,
        ),
        (
            "a::b@field:com.shop.Cart::total",
            Place::Field { class: Pattern::new("com.shop.Cart"), field: Pattern::new("total"), access: Access::Any },
            Sides::Point,
        ),
    ] {
        let wish = one(text);
        assert_eq!((wish.place, wish.marker.sides), (place, sides), "{text}");
    }
}

const WHOLE: &str = r#"
[[marker]]
name = "checkout"
token = "request"
class = "com.shop.*"
method = "checkout(java.lang.String, *)"
time = true
receiver = true
arguments = true
subclasses = true
where = 'duration > 10ms && thread ~ "http-*"'
subscribers = ["counts", "contexts"]

[[marker]]
class = "com.shop.Cart"
method = "*"
descriptor = "(I)V"
place = "field:com.shop.Cart.total=w"
sides = "point"
inside = "checkout"
not_under = []
"#;

#[test]
fn a_file_says_all_that_there_is_to_say() {
    let spec = file(WHOLE).unwrap_or_else(|error| panic!("{}", error.render()));
    let [checkout, total] = spec.wishes.as_slice() else { panic!("{spec:?}") };
    assert_eq!((checkout.marker.name.as_str(), checkout.marker.token.as_str()), ("checkout", "request"));
    assert_eq!(checkout.marker.subscribers, CLIENTS);
    assert!(checkout.marker.time && checkout.receiver && checkout.arguments && checkout.subclasses);
    assert_eq!(total.marker.name, "com.shop.Cart::*@field:com.shop.Cart.total=w");
    assert_eq!((total.marker.inside.as_slice(), total.marker.sides), (&["checkout".to_owned()][..], Sides::Point));
    let rules = spec.rules();
    assert_eq!(rules.iter().map(|rule| rule.marker).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(rules[0].kind, Kind::Marker(Sides::Region));
    assert_eq!(rules[1].descriptor, Some(Pattern::new("(I)V")));
    assert_eq!(spec.asked().markers[1].token, total.marker.name);
}

#[test]
fn a_marker_can_have_further_methods_and_each_is_a_rule_of_it() {
    let also = "also = [\"b.C::d(int)\", \"b.*::<init>\"]\n";
    let spec = file(&format!(
        "[[marker]]\nclass = \"a.A\"\nmethod = \"m\"\nreceiver = true\n{also}[[marker]]\nclass = \"z\"\nmethod = \"z\"\n"
    ));
    let rules = spec.unwrap_or_else(|error| panic!("{}", error.render())).rules();
    let of = |rule: &tracer_weave::Rule| {
        let descriptor = rule.descriptor.as_ref().map(|pattern| pattern.as_str().to_owned());
        (rule.marker, rule.class.as_str().to_owned(), rule.method.as_str().to_owned(), descriptor, rule.receiver)
    };
    let row = |marker, class: &str, method: &str, descriptor: Option<&str>, receiver| {
        (marker, class.to_owned(), method.to_owned(), descriptor.map(str::to_owned), receiver)
    };
    let expected = [
        row(0, "a.A", "m", None, true),
        row(0, "b.C", "d", Some("(I)*"), true),
        row(0, "b.*", "<init>", None, true),
        row(1, "z", "z", None, false),
    ];
    assert_eq!(rules.iter().map(of).collect::<Vec<_>>(), expected);
    for (wrong, at) in [("\"b.C\"", "a method is CLASS::METHOD"), ("[\"b.C::d(Strin\"]", "the parameters do not end")] {
        let error = file(&format!("[[marker]]\nclass = \"a\"\nmethod = \"m\"\nalso = {wrong}\n")).unwrap_err();
        assert!(error.render().contains(at), "{}", error.render());
    }
}

#[test]
fn a_file_and_short_forms_are_one_session() {
    let spec = Spec::read(Some(("m.toml", WHOLE)), &["b=a::b".to_owned()], &CLIENTS).unwrap();
    assert_eq!(spec.wishes.len(), 3);
    let error = Spec::read(Some(("m.toml", WHOLE)), &["checkout=a::b".to_owned()], &CLIENTS).unwrap_err();
    assert_eq!(error.to_string(), "--marker: there are two markers `checkout`");
}

#[test]
fn what_is_wrong_with_a_short_form_is_shown() {
    let wrong = [
        "checkout",
        "com.shop.Cart.checkout@loop",
        "::b",
        "a::",
        "a::b@lop",
        "a::b@loop:3",
        "a::b@line:57-42",
        "a::b@line:0",
        "a::b@call:java.util.Iterator.next",
        "a::b@call:A::b(int)",
        "a::b@field:total",
        "a::b@field:A.total=x",
        "a::b@field:A.total=w+region",
        "a::b@block+region",
        "a::b@loop+arguments",
        "a::b+tiem",
        "a::b where duration > 1ms",
        "a::b+time where duration > 1",
        "a::b+time+point where duration > 1ms",
        "a::b where caller == \"x\"",
        "a::b where cpu == 1",
        "a::b where ",
        "",
    ];
    let shown: Vec<String> = wrong.iter().map(|text| short(text).unwrap_err().render()).collect();
    insta::assert_snapshot!(shown.join("\n\n"));
}

#[test]
fn what_is_wrong_with_a_file_is_shown() {
    let marker = "[[marker]]\nclass = \"a.B\"\nmethod = \"c\"\n";
    let wrong = [
        String::new(),
        "[marker]\nclass = \"a.B\"\n".to_owned(),
        "[[markers]]\nclass = \"a.B\"\n".to_owned(),
        "[[marker]]\nclass = a.B\n".to_owned(),
        "[[marker]]\nclass = \"a.B\"\n".to_owned(),
        format!("{marker}clas = \"x\"\n"),
        format!("{marker}time = \"yes\"\n"),
        format!("{marker}place = \"line:5-x\"\n"),
        format!("{marker}sides = \"both\"\n"),
        format!("{marker}place = \"field:A.b=r\"\nsides = \"region\"\n"),
        format!("{marker}descriptor = \"int\"\n"),
        "[[marker]]\nclass = \"a.B\"\nmethod = \"c(int)\"\ndescriptor = \"(I)V\"\n".to_owned(),
        "[[marker]]\nclass = \"\"\nmethod = \"c\"\n".to_owned(),
        format!("{marker}where = \"method == 'c' && size > 1\"\n"),
        format!("{marker}where = \"method == \\\"c\\\" && size > 1\"\n"),
        format!("{marker}inside = [\"b\"]\n"),
        format!("{marker}subscribers = [\"count\"]\n"),
        format!("{marker}name = \"x\"\n{marker}name = \"x\"\n"),
        format!("{marker}name = \"x\"\nsides = \"point\"\n{marker}not_under = \"x\"\n"),
        "[[marker]]\nclass = \"a.\u{202e}B\"\nmethod = \"c d\"\n".to_owned(),
    ];
    let shown: Vec<String> = wrong.iter().map(|text| file(text).unwrap_err().render()).collect();
    insta::assert_snapshot!(shown.join("\n\n"));
}

proptest::proptest! {
    #[test]
    fn no_text_is_too_strange(text in ".{0,80}", toml in "(\\[\\[marker\\]\\]\n)?(class|method|place|where|time|inside) = .{0,40}\n") {
        for result in [short(&text), file(&toml), file(&text)] {
            if let Err(error) = result {
                proptest::prop_assert!(!error.render().is_empty());
            }
        }
    }
}

#[test]
fn fuzz_marker_file() {
    crate::fuzz::texts("markers", |text| match Spec::read(Some(("m.toml", text)), &[], &CLIENTS) {
        Ok(spec) => drop(spec.rules()),
        Err(error) => assert!(!error.render().contains('\u{1b}')),
    });
}

#[test]
fn fuzz_marker_option() {
    crate::fuzz::texts("short", |text| match Spec::read(None, &[text.to_owned()], &CLIENTS) {
        Ok(spec) => drop(spec.rules()),
        Err(error) => assert!(!error.render().contains('\u{1b}')),
    });
}
