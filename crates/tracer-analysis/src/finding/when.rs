//! When a finding held: the steps of a timeline in which its number is beyond the rule's limit, or when looks saw its row.
//!
//! What a rule says of a whole session need not have been so all the time. A rule whose number is known step by step gives
//! the stretches; the others give none, and their findings are about the whole span.

use super::{Evidence, Row};
use crate::{
    lens::Lens,
    report::{Section, Series, Shape, Stretch, Timeline},
};

/// Most stretches of a finding. Of more, those that lie nearest to each other are one.
const MOST: usize = 32;

/// A step of a timeline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<'a> {
    series: &'a [Series],
    at: usize,
    seconds: f64,
}

impl Step<'_> {
    /// The amount of a series within the step; 0 where there is none.
    pub(super) fn amount(&self, key: &str) -> f64 {
        let series = self.series.iter().find(|series| series.key == key);
        series.map_or(0.0, |series| amount(series, self.at))
    }

    /// The same per second. Of times in ns it is how many ns a second has.
    pub(super) fn per_second(&self, key: &str) -> f64 {
        self.amount(key) / self.seconds
    }

    /// The same in percent of what all series have.
    pub(super) fn percent(&self, key: &str) -> f64 {
        let all: f64 = self.series.iter().map(|series| amount(series, self.at)).sum();
        if all > 0.0 { 100.0 * self.amount(key) / all } else { 0.0 }
    }
}

fn amount(series: &Series, at: usize) -> f64 {
    series.values.get(at).copied().filter(|value| value.is_finite()).unwrap_or(0.0)
}

impl Evidence<'_> {
    /// The steps of a timeline in which it is so; none where the lens saw parts of the time only.
    pub(super) fn when(&self, lens: Lens, timeline: &str, is_so: impl Fn(Step<'_>) -> bool) -> Vec<Stretch> {
        let section =
            self.sections.iter().find(|section| section.id == lens.id()).filter(|section| !section.is_of_windows());
        let Some(Timeline { step_ns, series, .. }) = section.and_then(|section| find(section, timeline)) else {
            return Vec::new();
        };
        let end_ns = self.span.duration_ns;
        let steps = (0_u64..).zip(0..series.first().map_or(0, |series| series.values.len()));
        let stretches = steps.filter_map(|(number, at)| {
            let from_ns = step_ns.saturating_mul(number);
            // The last step may be cut short by the end of the span.
            let to_ns = from_ns.saturating_add(*step_ns).min(end_ns);
            let seconds = to_ns.checked_sub(from_ns).filter(|ns| *ns > 0)? as f64 / 1e9;
            is_so(Step { series, at, seconds }).then_some(Stretch { from_ns, to_ns })
        });
        joined(stretches.collect())
    }

    /// The moment that a summary has beside a longest duration.
    pub(super) fn at(&self, lens: Lens, at: &str, longest: &str) -> Vec<Stretch> {
        let stretch = self.whole(lens, at).zip(self.whole(lens, longest));
        let within = |(from_ns, ns): (u64, u64)| Stretch { from_ns, to_ns: from_ns.saturating_add(ns) };
        stretch.map(within).into_iter().filter(|stretch| stretch.to_ns <= self.span.duration_ns).collect()
    }
}

/// When looks have seen a row: from the first to the last of them; all of the span where every look did.
pub(super) fn seen(evidence: &Evidence<'_>, row: &Row<'_>) -> Vec<Stretch> {
    let Some(from_ns) = row.number("first_ns").map(|_| row.whole("first_ns")) else { return Vec::new() };
    let in_all = evidence.whole(Lens::Threads, "looks") == Some(row.whole("looks"));
    let end_ns = evidence.span.duration_ns;
    // The first look follows the beginning as soon as it can, and none comes at the very end.
    let stretch =
        if in_all { Stretch { from_ns: 0, to_ns: end_ns } } else { Stretch { from_ns, to_ns: row.whole("last_ns") } };
    vec![stretch]
}

fn find<'a>(section: &'a Section, id: &str) -> Option<&'a Timeline> {
    section.shapes.iter().find_map(|shape| match shape {
        Shape::Timeline(timeline) if timeline.id == id => Some(timeline),
        Shape::Table(_) | Shape::Tree(_) | Shape::Histogram(_) | Shape::Timeline(_) | Shape::Profile(_) => None,
    })
}

/// Stretches that touch are one, and where there are many, those with the shortest gaps between them.
pub(super) fn joined(mut stretches: Vec<Stretch>) -> Vec<Stretch> {
    stretches.sort_by_key(|stretch| (stretch.from_ns, stretch.to_ns));
    let mut gap_ns = 0;
    loop {
        let mut joined: Vec<Stretch> = Vec::new();
        for stretch in &stretches {
            match joined.last_mut().filter(|last| stretch.from_ns <= last.to_ns.saturating_add(gap_ns)) {
                Some(last) => last.to_ns = last.to_ns.max(stretch.to_ns),
                None => joined.push(*stretch),
            }
        }
        if joined.len() <= MOST {
            return joined;
        }
        let gaps = joined.windows(2).map(|pair| pair[1].from_ns.saturating_sub(pair[0].to_ns));
        gap_ns = gaps.min().unwrap_or(u64::MAX);
        stretches = joined;
    }
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};
    use crate::report::Unit;

    const S: u64 = 1_000_000_000;

    fn stretch(from_s: u64, to_s: u64) -> Stretch {
        Stretch { from_ns: from_s * S, to_ns: to_s * S }
    }

    fn case(values: &[f64]) -> Case {
        let series = vec![Series { key: "pause_ns", title: String::new(), values: values.to_vec() }];
        let timeline =
            Timeline { id: "pause", title: String::new(), unit: Unit::Ns, step_ns: S, levels: false, series };
        Case::seconds(5).shape("gc", Shape::Timeline(timeline))
    }

    fn when(case: &Case) -> Vec<Stretch> {
        let evidence = Evidence { span: &case.span, target: &case.target, sections: &case.sections };
        evidence.when(Lens::Gc, "pause", |step| step.per_second("pause_ns") > 0.1e9)
    }

    #[test]
    fn steps_that_follow_each_other_are_one_stretch() {
        assert_eq!(when(&case(&[0.2e9, 0.3e9, 0.1e9, f64::NAN, 0.9e9])), [stretch(0, 2), stretch(4, 5)]);
        assert_eq!(when(&case(&[])), []);
        assert_eq!(when(&Case::seconds(5)), []);
    }

    #[test]
    fn a_last_step_that_is_cut_short_counts_by_its_length() {
        let mut case = case(&[0.0, 0.0, 0.0, 0.0, 0.06e9]);
        assert_eq!(when(&case), []);
        case.span.duration_ns = 4 * S + S / 2;
        assert_eq!(when(&case), [Stretch { from_ns: 4 * S, to_ns: 4 * S + S / 2 }]);
    }

    #[test]
    fn what_was_seen_in_windows_has_no_stretches() {
        let case = case(&[0.2e9]).number("gc", "attached_percent", 20.0);
        assert_eq!(when(&case), []);
    }

    #[test]
    fn many_stretches_are_joined_where_their_gaps_are_shortest() {
        let mut many: Vec<Stretch> = (0..MOST as u64).map(|at| stretch(at * 10, at * 10 + 1)).collect();
        assert_eq!(joined(many.clone()), many);
        many.push(stretch(3, 4));
        let joined = joined(many);
        assert_eq!((joined.len(), joined[0]), (MOST, stretch(0, 4)));
    }

    #[test]
    fn shares_are_of_all_series() {
        let of = |key, value| Series { key, title: String::new(), values: vec![value] };
        let series = [of("gc", 30.0), of("java", 70.0)];
        let step = Step { series: &series, at: 0, seconds: 2.0 };
        assert_eq!((step.percent("gc"), step.per_second("java"), step.amount("none")), (30.0, 35.0, 0.0));
        assert!(Step { at: 1, ..step }.percent("gc") < 1e-9, "a step without any");
    }
}
