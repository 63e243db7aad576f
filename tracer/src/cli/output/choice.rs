//! Which of a report's profiles and distributions go into files that hold one.

use super::{
    super::{Failure, options::ProfileChoice},
    StackFormat,
};
use crate::{
    lens::Lens,
    report::{Histogram, Profile, Report, Section, Shape},
};

/// The stacks that were asked for, or those of the first usual lens that has any.
pub(super) fn profile<'r>(
    report: &'r Report,
    asked: Option<&ProfileChoice>,
    format: StackFormat,
) -> Result<(&'r Section, &'r Profile), Failure> {
    let of = |lens: Lens| profiles(report).filter(move |(section, _)| section.id == lens.id());
    let hint = || {
        let having: Vec<_> =
            profiles(report).map(|(section, profile)| format!("{}.{}", section.id, profile.id)).collect();
        match having.as_slice() {
            [] => "use a lens that takes stacks (`-l cpu`), and watch until it has seen some".to_owned(),
            _ => format!("these have some: {}; choose with --profile", having.join(", ")),
        }
    };
    match asked {
        Some(ProfileChoice { lens, id }) => of(*lens)
            .find(|(_, profile)| id.as_ref().is_none_or(|id| id == profile.id))
            .ok_or_else(|| Failure::new(format!("lens {} has no such stacks", lens.id()), hint())),
        None => format
            .usual()
            .iter()
            .find_map(|lens| of(*lens).next())
            .ok_or_else(|| Failure::new("none of the usual lenses has stacks to write", hint())),
    }
}

/// The stacks that a picture of two reports shows: those that one of the second report would, and the same of the first.
pub(in super::super) fn profiles_of_both<'r>(
    before: &'r Report,
    after: &'r Report,
    asked: Option<&ProfileChoice>,
) -> Result<(&'r Profile, &'r Profile), Failure> {
    let (section, later) = profile(after, asked, StackFormat::Svg)?;
    let earlier = before.section(section.id).and_then(|section| section.profile(later.id)).ok_or_else(|| {
        Failure::new(
            format!("the first session has no stacks {}.{} to compare", section.id, later.id),
            "watch both with the same lenses, or choose others with --profile".to_owned(),
        )
    })?;
    if [before, after].iter().any(|report| report.section(section.id).is_some_and(Section::is_of_windows)) {
        return Err(Failure::new(
            format!("stacks of {} were seen in windows, and cannot be compared", section.id),
            "watch again with a larger --max-overhead, or choose others with --profile".to_owned(),
        ));
    }
    Ok((earlier, later))
}

/// The distribution that was asked for, or the first of the lens that was, or of all.
pub(super) fn histogram<'r>(report: &'r Report, asked: Option<&ProfileChoice>) -> Result<&'r Histogram, Failure> {
    // What times calls comes first: that is what the format is for.
    let of = |section: &&Section| section.id != Lens::Methods.id();
    let mut sections: Vec<&Section> = report.sections.iter().collect();
    sections.sort_by_key(of);
    let histograms = || {
        sections.iter().flat_map(|section| {
            section.shapes.iter().filter_map(move |shape| match shape {
                Shape::Histogram(histogram) => Some((section.id, histogram)),
                Shape::Profile(_) | Shape::Table(_) | Shape::Tree(_) | Shape::Timeline(_) => None,
            })
        })
    };
    let is_asked = |(lens, histogram): &(&str, &Histogram)| {
        asked.is_none_or(|ProfileChoice { lens: of, id }| {
            *lens == of.id() && id.as_ref().is_none_or(|id| id == histogram.id)
        })
    };
    histograms().find(is_asked).map(|(_, histogram)| histogram).ok_or_else(|| {
        let having: Vec<_> = histograms().map(|(lens, histogram)| format!("{lens}.{}", histogram.id)).collect();
        let hint = match having.as_slice() {
            [] => "use a lens that has one (`-l methods`), and watch until it has seen some".to_owned(),
            _ => format!("there are {}; choose with --profile", having.join(", ")),
        };
        Failure::new("there is no such distribution to write", hint)
    })
}

/// Every profile that has an amount, with its section.
fn profiles(report: &Report) -> impl Iterator<Item = (&Section, &Profile)> {
    report.profiles().filter(|(_, profile)| profile.total() > 0)
}
