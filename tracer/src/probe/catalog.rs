//! Every probe that a lens uses: its kind of event and how its words are made from the site's arguments.
