//! `jtrace`: parses the command line, runs the command, prints an error with a hint, sets the exit code.

use std::process::ExitCode;

use tracer_process::reserve::Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() -> ExitCode {
    Allocator::begin();
    tracer::cli::main()
}
