//! Core selection: `-c`, `-l`, `--lcores`, `-R`, `--main-lcore`, service cores.
//!
//! An *lcore* is a thread of the program by number; `--lcores` says on which CPUs it runs, the other options give
//! lcore i the CPU i. [`CoreSelection`] is what the options say, without a look at the machine. [`resolve()`] holds it
//! against the CPUs there are and gives [`Lcores`], from which the plan makes threads. All of it is pure: the plan
//! reads sysfs and the affinity and passes them in.

mod error;
mod grammar;
mod resolve;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

pub use error::CoreError;
pub use grammar::{ranges, read_list, read_map, read_mask};
pub use resolve::resolve;

/// CPU or lcore numbers, ascending.
pub type Numbers = BTreeSet<u32>;

/// Lcore ids are below this, and masks have at most so many bits.
pub const MAX_LCORES: u32 = 1024;

/// CPU numbers in a list are at most this.
pub const MAX_CPU: u32 = 65_535;

/// Which lcores a command line asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CoreSelection {
    /// Nothing was said: every CPU of the affinity becomes an lcore.
    #[default]
    Affinity,
    /// `-c`, or `-l`/`--lcores` with a plain list: lcore i runs on CPU i.
    Same(Numbers),
    /// `--lcores` with `@` or `(`: lcore id to CPU set.
    Map(BTreeMap<u32, Numbers>),
}

/// All that the options say about cores.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CoreArgs {
    /// The lcores.
    pub selection: CoreSelection,
    /// How the selection was written (`-l 4-6`), for messages; empty when nothing was said.
    pub written: String,
    /// `-R`: number the lcores from this on.
    pub remap_from: Option<u32>,
    /// `--main-lcore`.
    pub main: Option<u32>,
    /// `-S`, `-s`: lcores set aside; no forwarding there.
    pub service: Numbers,
}

/// The CPUs of the machine, as numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cpus {
    /// CPUs that are there and online.
    pub online: Numbers,
    /// CPUs that the kernel lets this process choose (cgroup cpuset). Where that isn't known: the affinity.
    pub permitted: Numbers,
    /// The affinity of the calling thread; what runs where nothing was said.
    pub affinity: Numbers,
}

/// One thread: its lcore id and the CPUs that it may run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lcore {
    /// The lcore id.
    pub id: u32,
    /// Its CPUs; never empty.
    pub cpus: Numbers,
}

/// The lcores of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lcores {
    /// The id of the main lcore, which runs the console and never forwards.
    pub main: u32,
    /// Every lcore, main included, without those set aside for services; ascending ids.
    pub all: Vec<Lcore>,
    /// Lcores set aside for services.
    pub service: Numbers,
}

impl Lcores {
    /// The lcores that may forward: all but main.
    pub fn workers(&self) -> impl Iterator<Item = &Lcore> {
        self.all.iter().filter(|lcore| lcore.id != self.main)
    }
}
