//! The keys: one table from which both the behaviour and the help come.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::view) enum Action {
    Quit,
    NextTab,
    PreviousTab,
    /// The tab with the digit's number.
    Tab,
    Down,
    Up,
    PageDown,
    PageUp,
    First,
    Last,
    NextShape,
    PreviousShape,
    Detail,
    /// All of the selected finding.
    Finding,
    SortColumn,
    SortDirection,
    Filter,
    /// Calls or callers, in a tree of a profile.
    Invert,
    Freeze,
    /// The marker of the row, off or on.
    Switch,
    Help,
    Close,
}

/// A row of the table.
pub(in crate::view) struct Binding {
    keys: &'static [KeyCode],
    /// The keys, in the help.
    pub(in crate::view) label: &'static str,
    /// What they do, in the help.
    pub(in crate::view) description: &'static str,
    pub(in crate::view) action: Action,
}

const fn bind(keys: &'static [KeyCode], label: &'static str, description: &'static str, action: Action) -> Binding {
    Binding { keys, label, description, action }
}

const DIGITS: &[KeyCode] = &[
    KeyCode::Char('1'),
    KeyCode::Char('2'),
    KeyCode::Char('3'),
    KeyCode::Char('4'),
    KeyCode::Char('5'),
    KeyCode::Char('6'),
    KeyCode::Char('7'),
    KeyCode::Char('8'),
    KeyCode::Char('9'),
];

/// Every key, in the order of the help. Ctrl-C, which always quits, is not in it: it works while a filter is typed, too.
pub(in crate::view) const BINDINGS: &[Binding] = &[
    bind(&[KeyCode::Char('q')], "q, Ctrl-C", "quit and print the report", Action::Quit),
    bind(
        &[KeyCode::Right, KeyCode::Tab, KeyCode::Char('l')],
        "→, Tab",
        "next tab; in a profile → unfolds",
        Action::NextTab,
    ),
    bind(
        &[KeyCode::Left, KeyCode::BackTab, KeyCode::Char('h')],
        "←, Shift-Tab",
        "previous tab; in a profile ← folds",
        Action::PreviousTab,
    ),
    bind(DIGITS, "1-9", "this tab; again: its next section", Action::Tab),
    bind(&[KeyCode::Down, KeyCode::Char('j')], "↓, j", "next row", Action::Down),
    bind(&[KeyCode::Up, KeyCode::Char('k')], "↑, k", "previous row", Action::Up),
    bind(&[KeyCode::PageDown], "PgDn", "ten rows down", Action::PageDown),
    bind(&[KeyCode::PageUp], "PgUp", "ten rows up", Action::PageUp),
    bind(&[KeyCode::Home, KeyCode::Char('g')], "Home, g", "first row", Action::First),
    bind(&[KeyCode::End, KeyCode::Char('G')], "End, G", "last row", Action::Last),
    bind(&[KeyCode::Char('n'), KeyCode::Char(']')], "n, ]", "next table or chart of the tab", Action::NextShape),
    bind(&[KeyCode::Char('N'), KeyCode::Char('[')], "N, [", "previous table or chart", Action::PreviousShape),
    bind(&[KeyCode::Enter], "Enter", "the row uncut; a finding's place; un/fold", Action::Detail),
    bind(&[KeyCode::Char('d')], "d", "all of the finding, or of the row", Action::Finding),
    bind(&[KeyCode::Char('s')], "s", "sort by the next column", Action::SortColumn),
    bind(&[KeyCode::Char('S')], "S", "turn the sort direction", Action::SortDirection),
    bind(&[KeyCode::Char('/')], "/", "show only rows with a text", Action::Filter),
    bind(&[KeyCode::Char('i')], "i", "calls or callers of a profile", Action::Invert),
    bind(&[KeyCode::Char('f'), KeyCode::Char(' ')], "f, space", "freeze the screen, or go on", Action::Freeze),
    bind(&[KeyCode::Char('o')], "o", "the row's marker off, or on", Action::Switch),
    bind(&[KeyCode::Char('?')], "?", "this help", Action::Help),
    bind(&[KeyCode::Esc], "Esc", "close, or take the filter away", Action::Close),
];

/// Whether the key is Ctrl-C, which raw mode keeps from being a signal.
pub(in crate::view) fn is_interrupt(event: KeyEvent) -> bool {
    event.code == KeyCode::Char('c') && event.modifiers.contains(KeyModifiers::CONTROL)
}

/// What the key does, if anything.
pub(in crate::view) fn action(event: KeyEvent) -> Option<Action> {
    if is_interrupt(event) {
        return Some(Action::Quit);
    }
    if event.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
        return None;
    }
    BINDINGS.iter().find(|binding| binding.keys.contains(&event.code)).map(|binding| binding.action)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_bound_twice() {
        let keys: Vec<_> = BINDINGS.iter().flat_map(|binding| binding.keys).collect();
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key), "{key:?}");
        }
    }

    #[test]
    fn control_is_no_plain_letter() {
        assert_eq!(action(KeyEvent::new(KeyCode::Char('s'), KeyModifiers::CONTROL)), None);
        assert_eq!(action(KeyEvent::new(KeyCode::Char('S'), KeyModifiers::SHIFT)), Some(Action::SortDirection));
        assert_eq!(action(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)), Some(Action::Quit));
    }
}
