//! The rate guard: takes sites away whose traps would cost the target too much.
