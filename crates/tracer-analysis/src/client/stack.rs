//! The open regions of a thread, the outermost first.
//!
//! Regions nest, so an exit belongs to the innermost open region of its place. Where that is not the innermost of all, the ends of
//! those within were not seen (their marker was switched off meanwhile), and they are closed with it.

/// Deepest stack whose regions are told apart. Recursion goes deeper than that only with large `-Xss`.
pub const MAX_DEPTH: usize = 1 << 16;

/// An open region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Number of its place.
    pub place: u32,
    /// Index of its marker.
    pub marker: u32,
    /// Number of the receiver; 0: none, or not asked for.
    pub object: u32,
    /// When it was entered, where that was asked for.
    pub entered_ns: Option<u64>,
    /// Clients that were told of its entry, as bits.
    pub(super) told: u64,
    /// Clients that are told when it has ended, if they want it then.
    pub(super) pending: u64,
    /// Whether clients think that it has ended: it was inside of a region that was given up, and is still open.
    pub(super) is_reopened: bool,
}

/// The open regions of a thread.
#[derive(Clone, Debug, Default)]
pub struct Stack {
    entries: Vec<Entry>,
    /// How many regions of each marker are open.
    open: Vec<u32>,
    /// Regions that are open beyond [`MAX_DEPTH`].
    beyond: u64,
    /// Places that were open when words were lost, and may still be: the outermost first.
    suspects: Vec<u32>,
}

/// What an exit closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closes {
    /// The innermost region.
    Innermost,
    /// So many regions within, whose ends were not seen, and then one.
    Within(usize),
    /// A region that was too deep to be kept.
    Beyond,
    /// None: the entry was not seen.
    Nothing,
}

impl Stack {
    /// How many regions are open.
    #[inline]
    pub const fn depth(&self) -> usize {
        self.entries.len()
    }

    /// The open regions, the outermost first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The innermost region.
    #[inline]
    pub fn innermost(&self) -> Option<&Entry> {
        self.entries.last()
    }

    /// How many regions of a marker are open.
    #[inline]
    pub fn open(&self, marker: usize) -> u32 {
        self.open.get(marker).copied().unwrap_or(0)
    }

    /// Whether a region of the marker is open.
    pub fn is_inside(&self, marker: usize) -> bool {
        self.open(marker) > 0
    }

    /// Whether what is outside of the outermost region here is known. After words were lost it is not, until the outermost region
    /// of before has been left.
    #[inline]
    pub const fn nesting_is_known(&self) -> bool {
        self.suspects.is_empty()
    }

    /// Enters a region; says whether it is kept.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry) -> bool {
        if self.entries.len() >= MAX_DEPTH {
            self.beyond += 1;
            return false;
        }
        let marker = entry.marker as usize;
        if self.open.len() <= marker {
            self.open.resize(marker + 1, 0);
        }
        if let Some(open) = self.open.get_mut(marker) {
            *open += 1;
        }
        self.entries.push(entry);
        true
    }

    /// Notes who was told of the innermost region's entry, and who waits for its end.
    pub(super) fn settle(&mut self, told: u64, pending: u64) {
        if let Some(entry) = self.entries.last_mut() {
            (entry.told, entry.pending) = (told, pending);
        }
    }

    /// What the exit of a place closes.
    #[inline]
    pub(super) fn closes(&self, place: u32) -> Closes {
        if self.beyond > 0 {
            return Closes::Beyond;
        }
        match self.entries.last() {
            Some(innermost) if innermost.place == place => Closes::Innermost,
            _ => self.closes_further(place),
        }
    }

    #[cold]
    fn closes_further(&self, place: u32) -> Closes {
        let within = self.entries.iter().rev().position(|entry| entry.place == place);
        within.map_or(Closes::Nothing, Closes::Within)
    }

    /// Leaves the innermost region.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Entry> {
        let entry = self.entries.pop()?;
        if let Some(open) = self.open.get_mut(entry.marker as usize) {
            *open = open.saturating_sub(1);
        }
        Some(entry)
    }

    /// Leaves a region that was too deep to be kept.
    pub(super) const fn pop_beyond(&mut self) {
        self.beyond = self.beyond.saturating_sub(1);
    }

    /// A region was left whose entry is not here: perhaps one of before a loss, and then those within it are not open either.
    pub(super) fn left_unknown(&mut self, place: u32) {
        if let Some(index) = self.suspects.iter().rposition(|suspect| *suspect == place) {
            self.suspects.truncate(index);
        }
    }

    /// Ends of regions at these places will not be told any more.
    pub(super) fn forget_suspects(&mut self, is_silent: impl Fn(u32) -> bool) {
        self.suspects.retain(|place| !is_silent(*place));
    }

    /// Words were lost: no region is known to be open any more. Says how many were.
    pub(super) fn give_up(&mut self) -> usize {
        let given_up = self.entries.len();
        self.suspects.extend(self.entries.drain(..).map(|entry| entry.place));
        self.suspects.truncate(MAX_DEPTH);
        self.open.fill(0);
        self.beyond = 0;
        given_up
    }

    /// Nothing is woven any more, or the thread is another one.
    pub(super) fn clear(&mut self) -> usize {
        let given_up = self.give_up();
        self.suspects.clear();
        given_up
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(place: u32, marker: u32) -> Entry {
        Entry { place, marker, object: 0, entered_ns: None, told: 0, pending: 0, is_reopened: false }
    }

    #[test]
    fn an_exit_closes_the_innermost_region_of_its_place() {
        let mut stack = Stack::default();
        for (place, marker) in [(1, 0), (2, 1), (1, 0), (3, 1)] {
            assert!(stack.push(entry(place, marker)));
        }
        assert_eq!((stack.open(0), stack.open(1), stack.is_inside(2)), (2, 2, false));
        assert_eq!(stack.closes(3), Closes::Innermost);
        assert_eq!(stack.closes(1), Closes::Within(1));
        assert_eq!(stack.closes(2), Closes::Within(2));
        assert_eq!(stack.closes(9), Closes::Nothing);
        for expected in [3, 1, 2, 1] {
            assert_eq!(stack.pop().map(|entry| entry.place), Some(expected));
        }
        assert_eq!((stack.depth(), stack.pop(), stack.open(0)), (0, None, 0));
    }

    #[test]
    fn after_a_loss_the_exit_of_the_outermost_region_makes_nesting_known_again() {
        let mut stack = Stack::default();
        for place in [1, 2, 3] {
            stack.push(entry(place, 0));
        }
        assert_eq!((stack.give_up(), stack.depth(), stack.open(0)), (3, 0, 0));
        assert!(!stack.nesting_is_known());
        stack.left_unknown(2);
        stack.left_unknown(7);
        assert!(!stack.nesting_is_known());
        stack.left_unknown(1);
        assert!(stack.nesting_is_known());
    }

    #[test]
    fn what_is_too_deep_is_counted_and_depth_returns() {
        let mut stack = Stack::default();
        for _ in 0..MAX_DEPTH {
            assert!(stack.push(entry(1, 0)));
        }
        assert!(!stack.push(entry(2, 0)));
        assert_eq!(stack.closes(2), Closes::Beyond);
        stack.pop_beyond();
        assert_eq!(stack.closes(1), Closes::Innermost);
    }
}
