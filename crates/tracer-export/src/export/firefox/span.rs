//! The one type of the profile's markers: a name, and what is said of it.

use fxprof_processed_profile::{
    CategoryHandle, MarkerFieldFlags, MarkerFieldFormat, Profile, StaticSchemaMarker, StaticSchemaMarkerField,
    StringHandle,
};

/// A marker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) name: StringHandle,
    pub(super) text: StringHandle,
    pub(super) category: CategoryHandle,
}

impl StaticSchemaMarker for Span {
    const UNIQUE_MARKER_TYPE_NAME: &'static str = "jtrace";
    const CHART_LABEL: Option<&'static str> = Some("{marker.data.text}");
    const TABLE_LABEL: Option<&'static str> = Some("{marker.name}: {marker.data.text}");
    const FIELDS: &'static [StaticSchemaMarkerField] = &[StaticSchemaMarkerField {
        key: "text",
        label: "What",
        format: MarkerFieldFormat::String,
        flags: MarkerFieldFlags::SEARCHABLE,
    }];

    fn name(&self, _profile: &mut Profile) -> StringHandle {
        self.name
    }

    fn category(&self, _profile: &mut Profile) -> CategoryHandle {
        self.category
    }

    fn string_field_value(&self, _field_index: u32) -> StringHandle {
        self.text
    }

    fn number_field_value(&self, _field_index: u32) -> f64 {
        // The schema has no number.
        0.0
    }
}
