//! How complete a report is, site by site, and what the governor did.

use serde::{Deserialize, Serialize};

use super::{Word, read};

/// How complete the report is: `emitted = delivered + lost` holds for every site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Completeness {
    /// Events that the kernel side tried to deliver.
    pub emitted: u64,
    /// Events that arrived.
    pub delivered: u64,
    /// Events that did not fit into a ring buffer.
    pub lost: u64,
    /// Hits that became no events, because too many came before jtrace had looked again; absent where none were.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refused: u64,
    /// Events that arrived and could not be decoded.
    pub undecodable: u64,
    /// Operands and texts that could not be read.
    pub unreadable: u64,
    /// Definitions that did not fit; they are sent again at the next use.
    pub definitions_lost: u64,
    /// Per site.
    pub sites: Vec<SiteCompleteness>,
    /// Sentences about what is missing and why (sites the JDK does not have, sites that were detached, ...).
    pub missing: Vec<String>,
    /// What the governor did so that the session keeps its budget, in its order; the first of them where there are many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What the governor did with a group of sites.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// When, since the start of the span.
    pub at_ns: u64,
    /// Name of the group.
    pub group: String,
    /// Lens whose numbers are affected.
    #[serde(deserialize_with = "read::word")]
    pub lens: Word,
    /// `fewer_stacks`, `without_stacks`, `without_times`, `detached`, `attached` or `stopped`; in the inside lane `counted`, `fewer_objects`,
    /// `switched_off`, `switched_on` or `stopped`, and `held` and `released` where somebody asked for it.
    #[serde(deserialize_with = "read::word")]
    pub action: Word,
    /// Of how many new objects one is tracked from then on, 0: none; or of how many events one has a stack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_in: Option<u64>,
    /// Hits per second before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hits_per_s: Option<u64>,
    /// What they took of one core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_percent: Option<f64>,
    /// What they may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_percent: Option<f64>,
    /// Whether that is about jtrace's own CPU time, and not the target's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// What woven code would take of one core while it is off, where that is why it was taken out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off_percent: Option<f64>,
    /// The time from when the budget was last seen to be enough until the decision was carried out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within_ns: Option<u64>,
}

/// Completeness of one site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteCompleteness {
    /// Index of the site.
    pub site: u16,
    /// Probe name, `provider:name` or a symbol.
    pub probe: String,
    /// Lens that the site belongs to.
    pub lens: String,
    /// Offset in the file.
    pub offset: u64,
    /// Times the probe ran.
    pub hits: u64,
    /// Hits turned down by a filter or by sampling.
    pub filtered: u64,
    /// Hits that became no events, because too many came before jtrace had looked again; absent where none were.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refused: u64,
    /// Events that the kernel side tried to deliver.
    pub emitted: u64,
    /// Events that arrived.
    pub delivered: u64,
    /// Events that did not fit.
    pub lost: u64,
    /// Operands and texts that could not be read, or absences whose ends were not traced; absent where there were none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unreadable: u64,
    /// `attached`, `detached by the rate guard`, or why it was not attached.
    pub state: String,
}
