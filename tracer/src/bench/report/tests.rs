//! Reports of made-up results: what they say, and that nothing in them comes alive.

use super::*;
use crate::bench::sample;

#[test]
fn text_report() {
    insta::assert_snapshot!(text(&sample::results()));
}

#[test]
fn markdown_report() {
    insta::assert_snapshot!(markdown(&sample::results()));
}
