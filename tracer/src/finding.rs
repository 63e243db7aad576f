//! Rules that turn numbers of a report's sections into ranked sentences about what is wrong.
