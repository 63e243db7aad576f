//! Lets the types of the kernel contract travel through maps.
#![expect(unsafe_code, reason = "aya asks for an unsafe promise about the bytes of a type")]

use tracer_common::{
    clock::Away,
    filter::{Answer, Filter},
    jni::{Caller, Count, CountKey, JniDemand, Thread},
    site::{SiteSpec, TargetLayout},
    stats::SiteStats,
    tally::{Cell, Context, Demand, Subject},
    unwind::{CodeLayout, Region, RowChunk},
};

/// [`SiteSpec`] as the value of a map.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct SpecValue(pub(super) SiteSpec);

/// [`TargetLayout`] as the value of a map.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct LayoutValue(pub(super) TargetLayout);

/// [`CodeLayout`] as the value of a map.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct CodeValue(pub(super) CodeLayout);

/// [`Region`] as the value of a map.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct RegionValue(pub(super) Region);

/// [`RowChunk`] as the value of a map.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct RowsValue(pub(super) RowChunk);

/// [`SiteStats`] as the value of a map.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct StatsValue(pub(super) SiteStats);

/// [`Away`] as the value of a map.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct AwayValue(pub(super) Away);

/// [`Demand`] as the value of a map.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct DemandValue(pub(super) Demand);

/// [`Filter`] as the value of a map.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct FilterValue(pub(super) Filter);

/// [`Answer`] as the value of a map.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct AnswerValue(pub(super) Answer);

/// [`Subject`] as the value of a map.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct SubjectValue(pub(super) Subject);

/// [`Cell`] as the value of a map.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct CellValue(pub(super) Cell);

/// [`Context`] as the value of a map.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct ContextValue(pub(super) Context);

/// [`JniDemand`] as the value of a map.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct JniDemandValue(pub(super) JniDemand);

/// [`Caller`] as the value of a map.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct CallerValue(pub(super) Caller);

/// [`CountKey`] as the key of a map.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct CountKeyValue(pub(super) CountKey);

/// [`Count`] as the value of a map.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct CountValue(pub(super) Count);

/// [`Thread`] as the value of a map.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct JniThreadValue(pub(super) Thread);

// SAFETY: `repr(C)` structs of integers without implicit padding, as the size assertions beside their definitions show;
// any bytes are a valid value.
unsafe impl aya::Pod for SpecValue {}
// SAFETY: as above.
unsafe impl aya::Pod for LayoutValue {}
// SAFETY: as above.
unsafe impl aya::Pod for StatsValue {}
// SAFETY: as above.
unsafe impl aya::Pod for CodeValue {}
// SAFETY: as above.
unsafe impl aya::Pod for RegionValue {}
// SAFETY: as above; a row is two numbers of 32 bits.
unsafe impl aya::Pod for RowsValue {}
// SAFETY: as above.
unsafe impl aya::Pod for AwayValue {}
// SAFETY: as above.
unsafe impl aya::Pod for DemandValue {}
// SAFETY: as above.
unsafe impl aya::Pod for FilterValue {}
// SAFETY: as above.
unsafe impl aya::Pod for AnswerValue {}
// SAFETY: as above.
unsafe impl aya::Pod for SubjectValue {}
// SAFETY: as above.
unsafe impl aya::Pod for CellValue {}
// SAFETY: as above.
unsafe impl aya::Pod for ContextValue {}
// SAFETY: as above.
unsafe impl aya::Pod for JniDemandValue {}
// SAFETY: as above.
unsafe impl aya::Pod for CallerValue {}
// SAFETY: as above.
unsafe impl aya::Pod for CountKeyValue {}
// SAFETY: as above.
unsafe impl aya::Pod for CountValue {}
// SAFETY: as above.
unsafe impl aya::Pod for JniThreadValue {}
