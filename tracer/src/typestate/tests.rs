//! Properties and machines as a whole.

use super::*;
