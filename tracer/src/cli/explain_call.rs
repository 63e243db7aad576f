//! `jtrace explain-call`: what a call costs. Its regions are woven into the method; what other lenses tell of the thread meanwhile is added
//! up for each call.

use std::process::ExitCode;

use super::{Failure, attach, lane, options::WatchOptions};
use crate::{
    lens::Lens,
    marker::{Spec, Wish},
};

/// What tells what happens in a call.
const LENSES: [Lens; 9] = [
    Lens::Gc,
    Lens::Safepoint,
    Lens::Locks,
    Lens::Alloc,
    Lens::Exceptions,
    Lens::Cpu,
    Lens::Offcpu,
    Lens::Explain,
    Lens::Markers,
];

/// Options of `jtrace explain-call`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    #[command(flatten)]
    attach: attach::Options,

    /// The method, as in `com.shop.Cart::add` or `com.shop.*::checkout`; or any region as `--marker` takes it, as in
    /// `com.shop.Cart::add@loop`, `com.shop.Cart::add where duration > 10ms`
    ///
    /// With `-I 'com.shop.*::*'` the report tells as well which of these methods it calls, how often, and how long they take themselves.
    #[arg(value_name = "CALL")]
    call: String,
}

pub(super) fn run(options: Options) -> Result<ExitCode, Failure> {
    let Options { mut attach, call } = options;
    let watch = &mut attach.watch;
    let within = within(watch)?;
    watch.inside.explained.push(explained(&call)?);
    watch.inside.explained.extend(within);
    watch.inside.inside = true;
    if watch.lens.is_empty() {
        watch.lens = LENSES.to_vec();
    } else {
        // Without the scheduler nobody knows how long a call ran.
        watch.lens.extend([Lens::Offcpu, Lens::Explain, Lens::Markers]);
    }
    attach::run(attach)
}

/// The marker of the call.
fn explained(call: &str) -> Result<Wish, Failure> {
    let (place, predicate) = call.split_once(" where ").map_or((call, None), |(place, rest)| (place, Some(rest)));
    let time = if place.split('+').any(|word| word.trim() == "time") { "" } else { "+time" };
    let rest = predicate.map_or_else(String::new, |predicate| format!(" where {predicate}"));
    let spec = Spec::read(None, &[format!("{}{time}{rest}", place.trim_end())], &[])?;
    let wish = spec.wishes.into_iter().next().and_then(Wish::explained);
    wish.ok_or_else(|| {
        Failure::usage(
            format!("`{call}` is a point, and has no duration"),
            "name a method, a loop, lines or a call: what begins and ends".to_owned(),
        )
    })
}

/// The marker of what is told of within: the methods of `-I` and `-X`.
fn within(watch: &mut WatchOptions) -> Result<Option<Wish>, Failure> {
    let wanted = &mut watch.demand.wanted;
    if wanted.predicate.is_some() || wanted.explain {
        return Err(Failure::usage(
            "--where and --explain are about calls that are counted, and here a call is explained",
            "put a condition behind the method: 'com.shop.Cart::add where duration > 10ms'".to_owned(),
        ));
    }
    let [include, exclude] = [&mut wanted.include, &mut wanted.exclude].map(std::mem::take);
    if include.is_empty() && !exclude.is_empty() {
        return Err(Failure::usage(
            "-X leaves methods out of those of -I, and there are none",
            "choose with -I which methods are told of within the call: -I 'com.shop.*::*' -X 'com.shop.Log::*'"
                .to_owned(),
        ));
    }
    Ok(Wish::within(lane::all_named(&include)?, lane::all_named(&exclude)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_becomes_a_timed_region_for_the_lens_explain_alone() {
        let calls = ["com.shop.Cart::add", "com.shop.Cart::add+time", "com.shop.Cart::add where duration > 10ms"];
        for call in calls {
            let wish = explained(call).expect("it is right");
            assert!(wish.marker.is_of_explained() && wish.marker.time, "{call}");
            assert_eq!((wish.class.as_str(), wish.method.as_str()), ("com.shop.Cart", "add"));
        }
        assert_eq!(explained(calls[2]).expect("it is right").marker.predicate.as_deref(), Some("duration > 10ms"));
    }

    #[test]
    fn what_has_no_duration_is_refused_with_what_has() {
        for call in ["a.B::c@block", "a.B::c@field:a.B.d=w", "a.B::c+point"] {
            let lines = explained(call).expect_err("it is a point").lines().join("\n");
            assert!(lines.contains("is a point") && lines.contains("what begins and ends"), "{lines}");
        }
        assert!(explained("a.B").is_err());
    }
}
