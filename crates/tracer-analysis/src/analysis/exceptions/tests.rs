//! Events by hand become the section of the lens.

use super::{
    super::testing::{Play, cells, is_close, numbers, profile_rows},
    *,
};

/// What lies on top of a stack on which an exception of these classes is made, the superclass first.
fn making(below: &[&'static str], classes: &[&'static str]) -> Vec<&'static str> {
    let mut frames = below.to_vec();
    frames.extend(classes.iter().rev());
    frames.extend([
        "java.lang.Throwable.<init>:250",
        "java.lang.Throwable.fillInStackTrace:798",
        "java.lang.Throwable.fillInStackTrace",
        "libjava.so Java_java_lang_Throwable_fillInStackTrace",
        "libjvm.so JVM_FillInStackTrace",
    ]);
    frames
}

#[test]
fn exceptions_are_told_by_class_and_by_who_throws_them() {
    let mut play = Play::default();
    let (refused, number) = (play.name("com/shop/Refused"), play.name("java/lang/NumberFormatException"));
    let check = ["java.lang.Thread.run:840", "com.shop.Mail.send:9", "com.shop.Mail.check:12"];
    let check = play.stack(&making(&check, &["java.lang.Exception.<init>:54", "com.shop.Refused.<init>:3"]));
    let parse = ["com.shop.Main.main:3", "com.shop.Cart.<init>:7", "java.lang.Integer.parseInt:652"];
    let init = "java.lang.NumberFormatException.<init>:67";
    let parse = play.stack(&making(&parse, &["java.lang.RuntimeException.<init>:52", init]));
    let mut events = vec![(1, 7, check, Payload::ExceptionCreated { class: refused }); 3];
    events.push((2, 8, parse, Payload::ExceptionCreated { class: number }));
    let section = play.section_of_stacks(&mut Exceptions::default(), 500, &events);
    assert_eq!(numbers(&section, ["created"]), [4]);
    assert!(is_close(&section, "created_per_s", 8.0));
    assert_eq!(
        cells(&section, "classes", ["class", "created", "share_percent"]),
        [["com.shop.Refused", "3", "75.0"], ["java.lang.NumberFormatException", "1", "25.0"]]
    );
    assert_eq!(
        cells(&section, "sites", ["class", "site", "created", "mean_frames"]),
        [
            ["com.shop.Refused", "com.shop.Mail.check:12", "3", "3"],
            ["java.lang.NumberFormatException", "com.shop.Cart.<init>:7", "1", "3"]
        ]
    );
    let rows: Vec<_> = profile_rows(&section, "exception_stacks").into_iter().map(|row| (row.1, row.2)).collect();
    assert_eq!(rows, [("tid 7".to_owned(), 3), ("tid 8".to_owned(), 1)]);
}

/// A constructor of the program that throws is the place, and not a part of how the exception is made.
#[test]
fn a_constructor_that_throws_is_the_place() {
    let mut play = Play::default();
    let class = play.name("a/Refused");
    let init = ["java.lang.Exception.<init>:54", "a.Refused.<init>:3", "a.Refused.<init>:9"];
    let stack = play.stack(&making(&["a.Main.main:3", "a.Cart.<init>:7"], &init));
    let section =
        play.section_of_stacks(&mut Exceptions::default(), 500, &[(1, 7, stack, Payload::ExceptionCreated { class })]);
    assert_eq!(cells(&section, "sites", ["site", "callers"]), [["a.Cart.<init>:7", "a.Main.main:3"]]);
}

/// Of the exceptions that go without a stack, nothing is in the table by place; those with one stand for all.
#[test]
fn a_stack_stands_for_the_exceptions_that_went_without() {
    let mut play = Play::default();
    let class = play.name("a/Refused");
    let stack = play.stack(&making(&["a.Main.main:3"], &["a.Refused.<init>:3"]));
    let mut exceptions = Exceptions::default();
    exceptions.guard(&GuardAction {
        time_ns: 0,
        group: GROUP.to_owned(),
        sites: vec![0],
        lens: Lens::Exceptions,
        action: crate::item::GuardDecision::Narrow {
            what: crate::item::Narrowing::FewerStacks { one_in: 4 },
            rate_per_s: 1,
        },
        reason: None,
        pause_ns: None,
    });
    let created = Payload::ExceptionCreated { class };
    let without = StackId::default();
    let events = [(1, 7, stack, created), (2, 7, without, created), (3, 7, without, created), (4, 7, without, created)];
    let section = play.section_of_stacks(&mut exceptions, 1000, &events);
    assert_eq!(numbers(&section, ["created"]), [4]);
    assert_eq!(cells(&section, "sites", ["site", "created", "share_percent"]), [["a.Main.main:3", "4", "100.0"]]);
}
