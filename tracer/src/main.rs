//! `jtrace`: parses the command line, runs the command, prints an error with a hint, sets the exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    tracer::cli::main()
}
