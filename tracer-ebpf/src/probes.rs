//! The programs, one file per family of sites.

mod site;
