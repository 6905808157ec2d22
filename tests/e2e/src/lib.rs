//! End-to-end tests: the programs as a user runs them, beside what others wrote.
//!
//! The tests are in `tests/`, a file a theme; here is what they share. Nothing here uses a crate of the engine: captures
//! are read and packets are judged by code of their own, so that a mistake can't hide by being made twice.
//!
//! - [`program`]: where the programs are; builds them once where nobody did.
//! - [`session`]: a testpmd on pipes; whoever starts one ends it, and its last words are checked.
//! - [`report`]: the counters out of what it prints.
//! - [`guest`], [`back_end`]: Linux guests in QEMU, and the testpmd behind their network cards.
//! - [`peer`], [`paths`]: two testpmd joined by vhost-user, ours or DPDK's, and the ways through their rings.
//! - [`capture`], [`judge`]: capture files, read by a reader of our own and by tcpdump.
//! - [`passage`]: captures on their way through the program.
//! - [`frame`]: what each engine has to make of a frame.
//! - [`published`]: the corpus of published command lines.
//! - [`machine`]: CPUs, folders, skipped tests.
#![forbid(unsafe_code)]

pub mod back_end;
pub mod capture;
pub mod frame;
pub mod guest;
pub mod judge;
pub mod machine;
pub mod passage;
pub mod paths;
pub mod peer;
pub mod program;
pub mod published;
pub mod report;
pub mod session;
