//! The machine the tests run on: its CPUs, folders of a test's own, and what a test says that can't run here.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// CPUs this process may run on, as the kernel writes the list: `0-1`, `0,2-3`.
///
/// # Panics
/// Without /proc.
pub fn cpu_list() -> String {
    let status = fs::read_to_string("/proc/self/status").expect("/proc is mounted");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.expect("every kernel with cpusets says so")
        .trim()
        .to_owned()
}

/// The same as numbers.
pub fn cpus() -> Vec<u32> {
    let part = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?)
    };
    cpu_list().split(',').filter_map(part).flatten().collect()
}

/// A `--lcores` value that lets lcores with these ids float over all CPUs there are.
pub fn lcores(ids: impl IntoIterator<Item = u32>) -> String {
    let cpus = cpu_list();
    let ids: Vec<String> = ids.into_iter().map(|id| format!("{id}@({cpus})")).collect();
    ids.join(",")
}

/// Whether the tests run as root, and so can become somebody else.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A folder of a test's own, removed with all that is in it.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes one.
    ///
    /// # Panics
    /// When the temporary folder can't be written.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Only a number is wanted, and nothing is published by it: no partner.
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("mpps-e2e-{}-{n}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A file in it, as text for a command line.
    pub fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A file that stays behind harms nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a test lacks.
#[derive(Clone, Copy, Debug)]
pub enum Lacks {
    /// A program that a package brings.
    Package,
    /// Something of the kernel or the machine.
    Kernel,
    /// Files handed in from outside.
    Data,
}

/// Says that a test doesn't run here and why: on standard output, and in the file that `MPPS_SKIP_LOG` names.
pub fn skip(test: &str, reason: &str, lacks: Lacks) {
    let kind = match lacks {
        Lacks::Package => "package",
        Lacks::Kernel => "kernel",
        Lacks::Data => "data",
    };
    println!("SKIPPED {test}: {reason} [{kind}]");
    if let Some(path) = std::env::var_os("MPPS_SKIP_LOG") {
        let log = File::options().append(true).create(true).open(path);
        let told = log.and_then(|mut log| writeln!(log, "{test}\t{reason}\t{kind}"));
        assert!(told.is_ok(), "the skip log can't be written");
    }
}
