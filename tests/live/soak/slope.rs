//! By how much a series grows, and how certain that is.

use std::array;

/// Neighbours depend on each other, so a line is drawn through so many blocks, each of which is one value. Tables fill and are emptied
/// in rounds of 150 s, and a block has to be longer than a round: at least three minutes, of the half hour that an hour leaves.
const BLOCKS: usize = 10;
/// Student's t for 95 % and 8 degrees of freedom, which the line through 10 points leaves.
const T: f64 = 2.306;

/// The one value of a block.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of {
    /// For what a piece of work costs.
    Mean,
    /// For what is held. What is kept for good is in the least as well, and what is taken for a moment and given back is not: such
    /// bursts are larger than a bound, and come at random.
    Least,
}

/// Growth per unit of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slope {
    /// The values of the blocks, in the order of time.
    pub(super) blocks: [f64; BLOCKS],
    /// Where it lies with 95 % certainty.
    pub(super) low: f64,
    pub(super) high: f64,
}

/// What a slope comes to beside a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Less than the bound, for certain.
    Flat,
    /// The session was too short, or too noisy, to say.
    Open,
    /// More than the bound, for certain.
    Grows,
}

impl Slope {
    /// The line of least squares through the values of blocks; absent where there are too few points.
    pub(super) fn of(points: &[(f64, f64)], of: Of) -> Option<Self> {
        if points.len() < 2 * BLOCKS {
            return None;
        }
        let mean = |values: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| {
            values.iter().map(of).sum::<f64>() / values.len() as f64
        };
        let blocks: [(f64, f64); BLOCKS] = array::from_fn(|block| {
            let block = &points[points.len() * block / BLOCKS..points.len() * (block + 1) / BLOCKS];
            let value = match of {
                Of::Mean => mean(block, |point| point.1),
                Of::Least => block.iter().map(|point| point.1).fold(f64::INFINITY, f64::min),
            };
            (mean(block, |point| point.0), value)
        });
        let (x, y) = (mean(&blocks, |point| point.0), mean(&blocks, |point| point.1));
        let spread: f64 = blocks.iter().map(|point| (point.0 - x).powi(2)).sum();
        let slope = blocks.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>() / spread;
        let off: f64 = blocks.iter().map(|point| (point.1 - y - slope * (point.0 - x)).powi(2)).sum();
        let error = (off / (BLOCKS as f64 - 2.0) / spread).sqrt();
        Some(Self { blocks: blocks.map(|(_, value)| value), low: slope - T * error, high: slope + T * error })
    }

    /// The value that the blocks have on average.
    pub(super) fn level(self) -> f64 {
        self.blocks.iter().sum::<f64>() / BLOCKS as f64
    }

    pub(super) fn verdict(self, bound: f64) -> Verdict {
        if self.low > bound {
            Verdict::Grows
        } else if self.high <= bound {
            Verdict::Flat
        } else {
            Verdict::Open
        }
    }
}

/// Values that go up and down by turns, on a line.
fn line(slope: f64) -> Vec<(f64, f64)> {
    let noise = |index: u32| if index.is_multiple_of(2) { 1.0 } else { -1.0 };
    (0..200).map(|index| (f64::from(index) / 200.0, 50.0 + slope * f64::from(index) / 200.0 + noise(index))).collect()
}

#[test]
fn what_grows_is_told_from_what_is_flat() {
    for of in [Of::Mean, Of::Least] {
        let growing = Slope::of(&line(10.0), of).unwrap();
        assert!(growing.low <= 10.0 && growing.high >= 10.0, "{growing:?}");
        assert_eq!(growing.verdict(5.0), Verdict::Grows);
        assert_eq!(Slope::of(&line(0.0), of).unwrap().verdict(5.0), Verdict::Flat);
        assert!(Slope::of(&line(0.0)[..2 * BLOCKS - 1], of).is_none());
    }
}

/// Bursts that come by chance leave open what means say. The least says it, and sees what grows under the bursts.
#[test]
fn bursts_do_not_hide_whether_the_least_grows() {
    let with_bursts = |slope: f64| {
        let mut points = line(slope);
        for at in [12, 13, 47, 48, 49, 101, 188, 189, 190, 191, 192] {
            points[at].1 += 100.0;
        }
        points
    };
    assert_eq!(Slope::of(&with_bursts(0.0), Of::Mean).unwrap().verdict(5.0), Verdict::Open);
    assert_eq!(Slope::of(&with_bursts(0.0), Of::Least).unwrap().verdict(5.0), Verdict::Flat);
    assert_eq!(Slope::of(&with_bursts(10.0), Of::Least).unwrap().verdict(5.0), Verdict::Grows);
}
