//! Views: draw a report in a medium. A view knows shapes and no analysis by name.
