//! What could not be told to clients, and how that is said.

/// Counts of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Books {
    /// Words that were lost before they came here.
    pub(super) lost_words: u64,
    /// How many times some were.
    pub(super) gaps: u64,
    /// Batches that went back.
    pub(super) out_of_order: u64,
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
    /// Whatever else there is to say.
    pub(super) sentences: Vec<String>,
}

impl Books {
    pub(super) fn notes(&self, threads_shared: bool) -> Vec<String> {
        let Self { lost_words, gaps, given_up, .. } = self;
        let mut notes = self.sentences.clone();
        let mut say = |count: u64, what: &str| {
            if count > 0 {
                notes.push(what.to_owned());
            }
        };
        say(
            *lost_words,
            &format!(
                "{lost_words} words of marks were lost, at {gaps} places in the flow; {given_up} regions that were open then are given \
                 up, and what followed is counted under `(after a loss)` until the outermost of them has been left."
            ),
        );
        let counted = [
            (self.out_of_order, "batches of marks came out of order"),
            (self.undecodable, "words of marks could not be read"),
            (self.unknown_places, "marks were of places that are not defined, and are not counted"),
            (self.too_deep, "regions lay below 65536 others on their thread, and are not counted"),
            (self.unseen_beginnings, "regions were left whose entry was not seen; they have no duration"),
            (self.unseen_ends, "regions ended with one around them, without an end of their own"),
        ];
        for (count, what) in counted {
            say(count, &format!("{count} {what}."));
        }
        say(u64::from(threads_shared), "Only the first 65536 threads have a stack of their own.");
        notes
    }
}
