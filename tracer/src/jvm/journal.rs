//! The undo journal: what was changed in a target, written down before it is changed.
