//! `--lane`: where chosen methods are counted. Outside, the kernel counts at sites that the JVM's code has or can be made to have;
//! inside, code that a library weaves into the methods does. The question is the same, and so are the tables.

use tracer_weave::{Named, Pattern};

use super::{Failure, options::WatchOptions, predicate::PredicateOptions};
use crate::{
    lens::Lens,
    marker::Wish,
    predicate::{Field, Kind, Predicate},
};

/// Where calls are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Lane {
    /// Outside; where a part of the calls is not seen there, the first line names the command that sees it
    #[default]
    Auto,
    /// By traps of the kernel; nothing is loaded into the JVM
    Outside,
    /// By code that a library weaves into the methods, and takes out when jtrace ends
    Inside,
}

impl WatchOptions {
    /// With what the lane inside needs, where it is chosen.
    pub(super) fn with_lane(mut self) -> Result<Self, Failure> {
        if self.demand.lane != Lane::Inside {
            return Ok(self);
        }
        let lenses = self.lenses();
        let only_outside = lenses.contains(&Lens::Jni).then_some(Lens::Jni);
        let only_outside = only_outside.or_else(|| self.demand.exact.then_some(Lens::Alloc));
        if let Some(lens) = only_outside {
            return Err(Failure::usage(
                format!("the lens {} is seen from outside only", lens.id()),
                "leave out --lane inside, or use `jtrace methods` or `jtrace calls`".to_owned(),
            ));
        }
        if ![Lens::Methods, Lens::Calls].iter().any(|lens| lenses.contains(lens)) {
            return Err(Failure::usage(
                "--lane inside is about calls of methods, and neither lens methods nor lens calls is asked for",
                "use `jtrace methods PID -I 'CLASS::METHOD' --lane inside`".to_owned(),
            ));
        }
        self.inside.callers = lenses.contains(&Lens::Calls);
        self.inside.calls = Some(calls(&self.demand.wanted, !self.demand.no_times, self.inside.callers)?);
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
            "--explain is about what the kernel decides, and inside it decides nothing",
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
    let named = |patterns: &[String]| patterns.iter().map(|text| named(text)).collect::<Result<Vec<_>, _>>();
    Wish::calls(named(include)?, named(exclude)?, predicate.clone(), timed).ok_or_else(|| {
        Failure::usage(
            "--lane inside needs to know into which methods it is to weave",
            "choose them with -I, as in `-I 'com.shop.*::*'`; --where can say more".to_owned(),
        )
    })
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
        assert!(refused(&["-l", "alloc", "--exact", "-I", "a"]).contains("the lens alloc"));
        assert!(refused(&["-l", "gc"]).contains("neither lens methods nor lens calls"));
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
