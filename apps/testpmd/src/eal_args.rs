//! EAL's half of the command line, everything before the first `--`: the names of today's DPDK and those of
//! releases 18.11 to 20.11.
//!
//! [`parse`] turns words into [`EalArgs`], plain data that the plan checks against the machine. The tables say for
//! each option what becomes of it (`Treatment`); help and tests read the same rows. Options whose wish can't be met
//! here are refused, harmless ones are accepted with a notice, none is dropped in silence.

mod cores_table;
mod device_table;
mod log_table;
mod memory_table;
mod process_table;
mod types;

#[cfg(test)]
mod tests;

pub use mpps_shm::{HugeUnlink, IovaMode};
pub use types::{
    Autoprobe, DeviceArgs, EalArgs, LogArgs, LogLevel, LogRule, LogTarget, MemoryArgs, PageLimit,
    Telemetry,
};

use crate::app_args;
use crate::getopt::{ArgError, Conflict, Group, Notices, Part, Table, Target, read, specs};

/// The rows, by theme.
pub const GROUPS: &[Group<EalArgs>] = &[
    Group {
        title: "Cores",
        opts: cores_table::ROWS,
    },
    Group {
        title: "Devices",
        opts: device_table::ROWS,
    },
    Group {
        title: "Memory",
        opts: memory_table::ROWS,
    },
    Group {
        title: "Log and trace",
        opts: log_table::ROWS,
    },
    Group {
        title: "Process",
        opts: process_table::ROWS,
    },
];

const fn conflict(one: &'static str, other: &'static str, why: &'static str) -> Conflict {
    Conflict { one, other, why }
}

/// Pairs that exclude each other.
const CONFLICTS: &[Conflict] = &[
    conflict("coremask", "lcores", "both select cores; keep -l"),
    conflict(
        "service-coremask",
        "service-corelist",
        "both select service cores; keep -S",
    ),
    conflict(
        "allow",
        "block",
        "with -a only the named devices are taken anyway; keep -a",
    ),
    conflict(
        "block",
        "no-auto-probing",
        "with -A no device is taken unless -a names it; drop -b",
    ),
    conflict(
        "auto-probing",
        "no-auto-probing",
        "one is the opposite of the other",
    ),
    conflict(
        "memory-size",
        "numa-mem",
        "-m is the total, the other an amount for each node; keep one",
    ),
    conflict(
        "no-huge",
        "numa-mem",
        "without huge pages memory isn't divided by node; use -m",
    ),
    conflict(
        "no-huge",
        "pagesz-mem",
        "without huge pages there is one page size; use -m",
    ),
    conflict(
        "no-huge",
        "huge-unlink",
        "without huge pages there are no files to remove",
    ),
    conflict(
        "no-huge",
        "match-allocations",
        "without huge pages memory is one block",
    ),
    conflict(
        "no-huge",
        "huge-worker-stack",
        "stacks can't be on huge pages without them",
    ),
    conflict(
        "legacy-mem",
        "numa-limit",
        "legacy memory doesn't grow, so it needs no limit",
    ),
    conflict(
        "legacy-mem",
        "pagesz-mem",
        "legacy memory doesn't grow, so it needs no limit",
    ),
    conflict(
        "legacy-mem",
        "in-memory",
        "legacy memory lives in files; keep --in-memory",
    ),
    conflict(
        "legacy-mem",
        "match-allocations",
        "legacy memory is never given back",
    ),
    conflict(
        "in-memory",
        "huge-unlink",
        "with --in-memory there are no files to remove",
    ),
    conflict(
        "single-file-segments",
        "huge-unlink",
        "a single file can't be removed in parts",
    ),
    conflict(
        "telemetry",
        "no-telemetry",
        "one is the opposite of the other",
    ),
];

/// The tokenizer's table for this half.
#[must_use]
pub fn table() -> Table {
    Table::new(Part::Eal, specs(GROUPS), specs(app_args::GROUPS))
}

/// Reads the words before the first `--`, the program's name left out. After `--help` nothing more is read.
///
/// # Errors
/// The first word that is wrong, or the first wish that can't be met.
pub fn parse(words: &[String]) -> Result<EalArgs, ArgError> {
    let mut args = EalArgs::default();
    read(GROUPS, CONFLICTS, &table(), words, &mut args)?;
    if !args.help {
        memory_table::finish(&mut args);
        device_table::finish(&mut args);
    }
    Ok(args)
}

impl Target for EalArgs {
    fn notices(&mut self) -> &mut Notices {
        &mut self.notices
    }

    fn done(&self) -> bool {
        self.help
    }
}
