//! What could not be told to clients, and how that is said.

use crate::text::format::plural;

/// Counts of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Books {
    /// Words that were lost before they came here.
    pub(super) lost_words: u64,
    /// How many times some were.
    pub(super) gaps: u64,
    /// Batches that went back.
    pub(super) out_of_order: u64,
    /// Words that the kernel kept back.
    pub(super) kept_back: u64,
    /// Words that could not be read.
    pub(super) undecodable: u64,
    /// Marks of places that nobody defined.
    pub(super) unknown_places: u64,
    /// Regions of which the stack had no room.
    pub(super) too_deep: u64,
    /// Regions that were given up with the stack of their thread.
    pub(super) given_up: u64,
    /// Exits without their entry.
    pub(super) unseen_beginnings: u64,
    /// Entries without their exit, within a region that was left.
    pub(super) unseen_ends: u64,
    /// Regions that were open when their marker was switched.
    pub(super) switched: u64,
    /// Whatever else there is to say.
    pub(super) sentences: Vec<String>,
}

impl Books {
    pub(super) fn notes(&self, threads_shared: bool) -> Vec<String> {
        let Self { lost_words, gaps, given_up, .. } = self;
        let mut notes = self.sentences.clone();
        if *lost_words > 0 {
            notes.push(format!(
                "{} of marks were lost, in {}; {} that were open then are given up, and what followed is counted under `(after a \
                 loss)` until the outermost of them has been left.",
                plural(*lost_words, "word", "words"),
                plural(*gaps, "gap", "gaps"),
                plural(*given_up, "region", "regions"),
            ));
        }
        if self.kept_back > 0 {
            notes.push(format!(
                "{} of marks were turned down in the kernel: no marker wants those of their threads.",
                plural(self.kept_back, "word", "words"),
            ));
        }
        if self.switched > 0 {
            notes.push(format!(
                "{} open when the governor switched its marker off, or to counting: it ends there, without a duration.",
                plural(self.switched, "region was", "regions were"),
            ));
        }
        let counted = [
            (self.out_of_order, "batch", "batches", "of marks came out of order"),
            (self.undecodable, "word", "words", "of marks could not be read"),
            (self.unknown_places, "mark", "marks", "came from places that are not defined; not counted"),
            (self.too_deep, "region", "regions", "lay below 65536 others on their thread; not counted"),
            (
                self.unseen_beginnings,
                "region",
                "regions",
                "ended without an entry that was seen; without a duration, too",
            ),
            (self.unseen_ends, "region", "regions", "ended with one around them, without an end of their own"),
        ];
        let counted = counted.into_iter().filter(|(count, ..)| *count > 0);
        notes.extend(counted.map(|(count, one, many, what)| format!("{} {what}.", plural(count, one, many))));
        if threads_shared {
            notes.push("Only the first 65536 threads have a stack of their own.".to_owned());
        }
        notes
    }
}
