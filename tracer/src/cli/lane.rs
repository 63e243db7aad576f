//! `--lane`: where chosen methods are counted. Outside, the kernel counts at sites that the JVM's code has or can be made to have;
//! inside, code that a library weaves into the methods does. The question is the same, and so are the tables.

use tracer_weave::{Named, Pattern};

use super::{Failure, options::WatchOptions, predicate::PredicateOptions};
use crate::{
    lens::Lens,
    mark::CALLS,
    marker::Wish,
    predicate::{Field, Kind, Predicate},
    setup::Lane,
};

/// Why `--explain` is refused.
const NOTHING_TO_EXPLAIN: &str = "--explain is about what the kernel decides, and inside it decides nothing";

impl WatchOptions {
    /// With what the lane inside needs, where it is chosen.
    pub(super) fn with_lane(mut self) -> Result<Self, Failure> {
        if self.demand.lane != Lane::Inside {
            return Ok(self);
        }
        let lenses = self.lenses();
        if lenses.contains(&Lens::Jni) {
            return Err(Failure::usage(
                format!("the lens {} is seen from outside only", Lens::Jni.id()),
                "leave out --lane inside, or use `jtrace methods`, `jtrace calls` or `jtrace alloc`".to_owned(),
            ));
        }
        let calls_asked = [Lens::Methods, Lens::Calls].iter().any(|lens| lenses.contains(lens));
        // Among the lenses that are on where none is named, it stays outside.
        let exceptions_asked = self.lens.contains(&Lens::Exceptions);
        if !calls_asked && !self.demand.exact && !exceptions_asked {
            return Err(Failure::usage(
                "--lane inside is about calls of methods, objects and exceptions, and none of them is asked for",
                "use `jtrace methods PID -I 'CLASS::METHOD' --lane inside`, `jtrace alloc` or `jtrace exceptions`"
                    .to_owned(),
            ));
        }
        if exceptions_asked {
            self.inside.exceptions = Some(exceptions(&self.demand.wanted)?);
        }
        if calls_asked {
            self.inside.callers = lenses.contains(&Lens::Calls);
            self.inside.calls = Some(calls(&self.demand.wanted, !self.demand.no_times, self.inside.callers)?);
        }
        if self.demand.exact {
            let mut wish = objects(&self.demand.wanted, self.demand.each)?;
            if self.inside.callers {
                // Contexts of calls are told what they make.
                wish.marker.subscribers.push(CALLS.to_owned());
            }
            self.inside.objects = Some(wish);
            // From outside samples are taken all the same: they are of what reaches the heap.
            self.demand.exact = false;
        }
        self.inside.inside = true;
        self.lens = lenses;
        self.lens.push(Lens::Markers);
        Ok(self)
    }
}

/// The marker of the chosen methods.
fn calls(wanted: &PredicateOptions, timed: bool, callers: bool) -> Result<Wish, Failure> {
    let PredicateOptions { predicate, include, exclude, explain } = wanted;
    // With its place in the text, as the other lane says it.
    wanted.predicate(Kind::MethodReturn)?;
    if *explain {
        return Err(Failure::usage(
            NOTHING_TO_EXPLAIN,
            "leave it out; `jtrace markers check` shows what would be woven into class files".to_owned(),
        ));
    }
    if let Some(text) = predicate {
        let asks_duration = Predicate::parse(text, Kind::Region)?.asks_for(&[Field::Duration]);
        if asks_duration && !timed {
            return Err(Failure::usage(
                "a duration is known only with times",
                "leave out --no-times, or the condition".to_owned(),
            ));
        }
        // A call that is decided when it is over comes after those within it, which would have no caller.
        if asks_duration && callers {
            return Err(Failure::usage(
                "who calls whom is not known in the lane inside where the duration of a call decides",
                "leave out the condition, or --lane inside".to_owned(),
            ));
        }
    }
    Wish::calls(all_named(include)?, all_named(exclude)?, predicate.clone(), timed)
        .ok_or_else(|| nothing_chosen("-I, as in `-I 'com.shop.*::*'`; --where can say more"))
}

/// The marker of allocations in the chosen methods.
fn objects(wanted: &PredicateOptions, each: bool) -> Result<Wish, Failure> {
    let PredicateOptions { predicate, include, exclude, explain } = wanted;
    wanted.predicate(Kind::MethodReturn)?;
    let refused = [
        (*explain, NOTHING_TO_EXPLAIN),
        (each, "--each is about single objects, and inside they are counted"),
        (predicate.is_some(), "inside all objects of a place are counted, and --where would choose among them"),
    ];
    none_of(&refused, "leave it out; -I and -X choose the code that makes the objects")?;
    Wish::objects(all_named(include)?, all_named(exclude)?)
        .ok_or_else(|| nothing_chosen("-I, as in `-I 'com.shop.*::*'`: objects that these methods make are counted"))
}

/// The marker of exceptions that come to the chosen methods.
fn exceptions(wanted: &PredicateOptions) -> Result<Wish, Failure> {
    let PredicateOptions { predicate, include, exclude, explain } = wanted;
    wanted.predicate(Kind::MethodReturn)?;
    let refused = [
        (*explain, NOTHING_TO_EXPLAIN),
        (predicate.is_some(), "inside all exceptions of a method are counted, and --where would choose among them"),
    ];
    none_of(&refused, "leave it out; -I and -X choose the methods to which the exceptions come")?;
    Wish::exceptions(all_named(include)?, all_named(exclude)?).ok_or_else(|| {
        nothing_chosen("-I, as in `-I 'com.shop.*::*'`: exceptions that come to these methods are counted")
    })
}

/// Refuses the first of these that is asked for.
fn none_of(refused: &[(bool, &'static str)], instead: &str) -> Result<(), Failure> {
    match refused.iter().find(|(is_asked, _)| *is_asked) {
        Some((_, what)) => Err(Failure::usage(*what, instead.to_owned())),
        None => Ok(()),
    }
}

fn nothing_chosen(how: &str) -> Failure {
    Failure::usage("--lane inside needs to know into which methods it is to weave", format!("choose them with {how}"))
}

pub(super) fn all_named(patterns: &[String]) -> Result<Vec<Named>, Failure> {
    patterns.iter().map(|text| named(text)).collect()
}

/// A pattern that has been found to be one.
fn named(text: &str) -> Result<Named, Failure> {
    if text.contains('?') {
        return Err(Failure::usage(
            format!("`{text}` has a `?`, which --lane inside does not know"),
            "write * for any text".to_owned(),
        ));
    }
    let (class, rest) = text.split_once("::").unwrap_or((text, "*"));
    let (method, descriptor) = rest.find('(').map_or((rest, None), |at| (&rest[..at], Some(&rest[at..])));
    Ok(Named { class: Pattern::new(class), method: Pattern::new(method), descriptor: descriptor.map(Pattern::new) })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        watch: WatchOptions,
    }

    fn with(arguments: &[&str]) -> Result<WatchOptions, Failure> {
        Command::try_parse_from([&["jtrace"], arguments].concat()).expect("options").watch.with_lane()
    }

    #[test]
    fn what_is_chosen_becomes_one_marker() {
        let arguments = ["-l", "methods", "--lane", "inside", "-I", "a.*::b(I)V", "-I", "C::*", "-X", "a.D::*"];
        let watch = with(&arguments).expect("it is right");
        assert_eq!(watch.lenses(), [Lens::Methods, Lens::Markers]);
        let wish = watch.inside.calls.expect("a marker");
        assert!(wish.marker.is_of_calls() && wish.marker.time && wish.marker.predicate.is_none());
        assert_eq!((wish.class.as_str(), wish.method.as_str()), ("a.*", "b"));
        assert_eq!(wish.descriptor.as_ref().map(Pattern::as_str), Some("(I)V"));
        assert_eq!((wish.also.len(), wish.except.len()), (1, 1));
        assert!(wish.except[0].matches("a.D", "b", "(I)V") && !wish.except[0].matches("a.E", "b", "(I)V"));
    }

    #[test]
    fn objects_are_those_that_the_chosen_code_makes() {
        let arguments = ["-l", "alloc,gc", "--exact", "--lane", "inside", "-I", "a.*::b", "-X", "a.D::*"];
        let watch = with(&arguments).expect("it is right");
        assert_eq!(watch.lenses(), [Lens::Gc, Lens::Alloc, Lens::Markers]);
        assert!(watch.inside.calls.is_none() && !watch.demand.exact);
        let wish = watch.inside.objects.expect("a marker");
        assert!(wish.marker.is_of_objects() && wish.place == tracer_weave::Place::Allocation);
        assert_eq!((wish.class.as_str(), wish.method.as_str(), wish.except.len()), ("a.*", "b", 1));
        let both = with(&["-l", "methods,alloc", "--exact", "--lane", "inside", "-I", "a.*::b"]).expect("it is right");
        assert!(both.inside.calls.is_some() && both.inside.objects.is_some());
    }

    #[test]
    fn exceptions_are_those_that_come_to_the_chosen_methods() {
        let arguments = ["-l", "exceptions,calls", "--lane", "inside", "-I", "a.*::b", "-X", "a.D::*"];
        let watch = with(&arguments).expect("it is right");
        assert!(watch.inside.calls.is_some() && watch.inside.objects.is_none());
        let wish = watch.inside.exceptions.expect("a marker");
        assert!(wish.marker.is_of_exceptions() && wish.place == tracer_weave::Place::Exception);
        assert_eq!((wish.class.as_str(), wish.method.as_str(), wish.except.len()), ("a.*", "b", 1));
        // Among the lenses of a session that names none they are counted from outside.
        let usual = with(&["--exact", "--lane", "inside", "-I", "a.*::b"]).expect("it is right");
        assert!(usual.inside.exceptions.is_none() && usual.lenses().contains(&Lens::Exceptions));
    }

    #[test]
    fn without_the_lane_nothing_is_woven() {
        for lane in [&["--lane", "auto"][..], &["--lane", "outside"], &[]] {
            let watch = with(&[&["-l", "methods", "-I", "a.*::b"], lane].concat()).expect("it is right");
            assert!(watch.inside.calls.is_none() && !watch.inside.inside, "{lane:?}");
        }
    }

    #[test]
    fn what_the_lane_cannot_do_is_refused_with_what_can() {
        let refused = |arguments: &[&str]| {
            let failure = with(&[&["--lane", "inside"], arguments].concat()).expect_err("it is wrong");
            failure.lines().join("\n")
        };
        assert!(refused(&["-l", "jni", "-I", "a::b"]).contains("the lens jni is seen from outside only"));
        for lenses in [&["-l", "gc"][..], &["-l", "alloc", "-I", "a::b"], &["-I", "a::b"]] {
            assert!(refused(lenses).contains("and none of them is asked for"), "{lenses:?}");
        }
        let exceptions = ["-l", "exceptions", "-I", "a::b"];
        for more in [&["--where", "class == \"a\""][..], &["--explain"]] {
            assert!(refused(&[&exceptions[..], more].concat()).contains("leave it out"), "{more:?}");
        }
        assert!(refused(&exceptions[..2]).contains("exceptions that come to these methods"));
        let objects = ["-l", "alloc", "--exact"];
        assert!(refused(&[&objects[..], &["-I", "a"]].concat()).contains("a pattern of methods is CLASS::METHOD"));
        assert!(refused(&objects).contains("objects that these methods make"));
        for more in [&["--where", "class == \"a\""][..], &["--each"], &["--explain"]] {
            assert!(refused(&[&objects[..], &["-I", "a::b"], more].concat()).contains("leave it out"), "{more:?}");
        }
        assert!(refused(&["-l", "methods"]).contains("choose them with -I"));
        assert!(refused(&["-l", "methods", "-I", "a?::b"]).contains("write * for any text"));
        assert!(refused(&["-l", "methods", "-I", "a"]).contains("a pattern of methods is CLASS::METHOD"));
        let timed = ["-l", "methods", "-I", "a::b", "--where", "duration > 1ms"];
        assert!(with(&[&["--lane", "inside"], &timed[..]].concat()).is_ok());
        assert!(refused(&[&timed[..], &["--no-times"]].concat()).contains("known only with times"));
        assert!(refused(&[&timed[..], &["-l", "calls"]].concat()).contains("who calls whom is not known"));
        assert!(refused(&["-l", "methods", "-I", "a::b", "--where", "caller_method == \"c\""]).contains("caller"));
    }
}
