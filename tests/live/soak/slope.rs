//! By how much a series grows, and how certain that is.

/// Neighbours depend on each other, so means of so many blocks are what a line is drawn through.
const BLOCKS: usize = 20;
/// Student's t for 95 % and 18 degrees of freedom, which the line through 20 points leaves.
const T: f64 = 2.101;

/// Growth per unit of time: where it lies with 95 % certainty.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slope {
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
    /// The line of least squares through the means of blocks; absent where there are too few points.
    pub(super) fn of(points: &[(f64, f64)]) -> Option<Self> {
        if points.len() < 2 * BLOCKS {
            return None;
        }
        let mean = |values: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| {
            values.iter().map(of).sum::<f64>() / values.len() as f64
        };
        let blocks: Vec<(f64, f64)> = (0..BLOCKS)
            .map(|block| &points[points.len() * block / BLOCKS..points.len() * (block + 1) / BLOCKS])
            .map(|block| (mean(block, |point| point.0), mean(block, |point| point.1)))
            .collect();
        let (x, y) = (mean(&blocks, |point| point.0), mean(&blocks, |point| point.1));
        let spread: f64 = blocks.iter().map(|point| (point.0 - x).powi(2)).sum();
        let slope = blocks.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>() / spread;
        let off: f64 = blocks.iter().map(|point| (point.1 - y - slope * (point.0 - x)).powi(2)).sum();
        let error = (off / (BLOCKS as f64 - 2.0) / spread).sqrt();
        Some(Self { low: slope - T * error, high: slope + T * error })
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
    let growing = Slope::of(&line(10.0)).unwrap();
    assert!(growing.low <= 10.0 && growing.high >= 10.0, "{growing:?}");
    assert_eq!(growing.verdict(5.0), Verdict::Grows);
    assert_eq!(Slope::of(&line(0.0)).unwrap().verdict(5.0), Verdict::Flat);
    assert!(Slope::of(&line(0.0)[..30]).is_none());
}
