//! What may be narrowed of markers.

use super::*;

#[test]
fn a_marker_that_is_counted_already_cannot_be_narrowed() {
    let asked = Asked { markers: vec![crate::mark::testing::marker("a")], ..Asked::default() };
    for (bits, can_count) in [(switch::ON, true), (switch::ON | switch::COUNT, false)] {
        let telling = Telling { switch: bits, counted: switch::COUNT, ..Telling::default() };
        let members = members(&asked, &[telling], 1);
        assert_eq!(members[0].kind, Kind::Marker { can_count });
        assert_eq!(members[0].is_counted, !can_count);
    }
}
