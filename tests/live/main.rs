//! The live ring: jtrace against real JVMs on this kernel. Needs root, the JDKs, the workloads and a built jtrace, and fails
//! without them. `harness` says where they are looked for.

#![cfg(test)]

// What jtrace counts equals what the program did and what the JVM logs.
mod counts;
// What every build must give, with notes and without.
mod builds;
// A report accounts for every event, and a recording gives it again, byte for byte.
mod integrity;
// The target is left as it was found, whatever becomes of it or of jtrace.
mod harmless;
// While a session lasts, no more of it is changed than the document says.
mod changed;
// Nor is the kernel.
mod kernel_names;
mod limits;
mod memory;
mod private_stack;
// Every way to end jtrace.
mod ending;

// Death at any moment of every command.
mod deaths;

// What jtrace holds and costs stays as it is for hours.
mod soak;

// JVMs in containers, with deleted, stripped or unusual libraries.
mod place;
// Users who turn what jtrace does as root to their own ends do not succeed.
mod hostile;

// With fewer capabilities, for a group and as a service.
mod capabilities;
mod privileges;

// Wrong input is refused in two lines.
mod refusal;
// JVMs that jtrace starts.
mod run;
// Names from the target do no harm in any view.
mod names;
// Exceptions by class and place, with whatever collector and layout of objects.
mod exceptions;
mod executors;
mod lent;
// CPU samples and the scheduler's events agree with the kernel's accounts.
mod clock;
// The overhead laboratory: answers, and what is left where something of it ends early.
mod bench;
// The other commands, and the terminal.
mod command;
mod terminal;
mod top;
// The demo shows what it promises, and the README's examples run.
mod demo;
mod readme;
// A thread dump says what the JVM would say of itself.
mod thread_dump;
// What is left out on request is in no output.
mod redacted;
// A snapshot of the heap says what the program planted, and costs the JVM a moment.
mod heap;
// What grows in several snapshots is named with what holds it, and what has a bound is not.
mod leaks;
// Tools of others read what jtrace writes for them.
mod firefox;
mod flight_recorder;
mod perfetto;
mod pprof;
// Names for perf are the JVM's own.
mod perf_map;

// Stacks of virtual threads go on in the heap, and on the carrier.
mod virtual_threads;

// Who holds monitors, and who starts threads.
mod holders;

// Methods and objects are counted to the last one.
mod methods;
mod objects;
// The same on JVMs that were started without a flag and are warm, as those of users are.
mod plain;
// Sessions keep their budgets, and say how.
mod governor;
mod rate_guard;
// A machine that has no CPU left is looked into all the same.
mod crowd;
// JNI calls and critical sections, by caller.
mod jni;
// Woven markers, and states of objects.
mod inside;
// States of threads, monitors and classes, without anything in the JVM.
mod outside;
// Queues that threads have in fields are found and counted.
mod own_queues;
// Collections in fields are counted from outside.
mod collections;
// What a network loses is told.
mod network;
// File systems that are full are told.
mod disk_full;
// Errors that say that the heap is full are counted.
mod out_of_memory;
// What a container may use of memory, and whom the kernel kills for it.
mod memory_limit;
// Connections that nobody accepts are counted, in a container as well.
mod not_accepted;
// Requests are counted by who serves and who makes them.
mod requests;
// Threads are chosen by their whole names.
mod threads_by_name;
// The predicate says the same in the kernel.
mod predicate;
// Method probes are armed, covered and taken back as is said.
mod arming;

mod watch;
