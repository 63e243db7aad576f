//! Names of the groups of sites that more than the catalogue knows: what is attached, governed and scaled together.

/// The group of sites that tell of code that comes and goes.
pub const CODE_GROUP: &str = "code";

/// The group of sites where methods begin and end.
pub const METHODS_GROUP: &str = "methods";
/// The group of sites where objects are made.
pub const OBJECTS_GROUP: &str = "objects";

/// The group of sites where exceptions get their stack traces. A program throws at any depth, so their stacks cost what no other group's do.
pub const EXCEPTIONS_GROUP: &str = "exceptions";

/// The group of sites in the library in the JVM.
pub const INSIDE_GROUP: &str = "inside";
