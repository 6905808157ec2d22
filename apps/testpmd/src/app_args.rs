//! testpmd's half of the command line, everything after the first `--`, from 18.11 to today.
//!
//! [`parse`] turns words into [`AppArgs`], plain data with every default filled in. Values are checked as far as
//! that needs no port and no core; what needs them (queue counts, `--nb-cores`, masks) stays a typed wish that the
//! plan checks. Options act left to right as in DPDK: `--rx-offloads` replaces what `--enable-...` collected before
//! it, `--portmask` and `--portlist` replace each other. The rows are const tables by theme; help and tests derive
//! from them.

mod checks;
mod data_types;
mod memory_table;
mod offload_table;
mod own_table;
mod past_table;
mod peers;
mod port_table;
mod queue_table;
mod run_table;
mod traffic_table;
mod types;

#[cfg(test)]
mod table_tests;
#[cfg(test)]
mod tests;

pub use data_types::{
    Burst, MempoolKind, NoisyArgs, NoisyMode, OffloadArgs, OwnArgs, PoolArgs, QueueArgs, RingNuma,
    TrafficArgs,
};
pub use offload_table::{rss, rx, tx};
pub use peers::{PeersError, parse_peers};
pub use types::{
    AppArgs, CommandFile, NamesArgs, PortArgs, PortSelection, RunArgs, Topology, events,
};

use crate::eal_args;
use crate::getopt::{ArgError, Conflict, Group, Notices, Part, Table, Target, read, specs};

/// The rows, by theme.
pub const GROUPS: &[Group<AppArgs>] = &[
    Group {
        title: "Run",
        opts: run_table::ROWS,
    },
    Group {
        title: "Ports, cores, topology",
        opts: port_table::ROWS,
    },
    Group {
        title: "Queues, rings, bursts",
        opts: queue_table::ROWS,
    },
    Group {
        title: "Memory and NUMA",
        opts: memory_table::ROWS,
    },
    Group {
        title: "Offloads, RSS, VLAN",
        opts: offload_table::ROWS,
    },
    Group {
        title: "Traffic and engines",
        opts: traffic_table::ROWS,
    },
    Group {
        title: "Of this testpmd alone",
        opts: own_table::ROWS,
    },
    Group {
        title: "Of earlier releases",
        opts: past_table::ROWS,
    },
];

/// Pairs that exclude each other.
const CONFLICTS: &[Conflict] = &[
    Conflict {
        one: "disable-rss",
        other: "enable-rss",
        why: "one is the opposite of the other",
    },
    Conflict {
        one: "tx-first",
        other: "interactive",
        why: "at the prompt the command is `start tx_first`; drop --tx-first",
    },
];

/// The tokenizer's table for this half.
#[must_use]
pub fn table() -> Table {
    Table::new(Part::App, specs(GROUPS), specs(eal_args::GROUPS))
}

/// Reads the words after the first `--`. After `--help` nothing more is read. `names` lists what other crates
/// offer, so that their tables aren't repeated here.
///
/// # Errors
/// The first word that is wrong, or the first wish that can't be met.
pub fn parse(words: &[String], names: NamesArgs<'_>) -> Result<AppArgs, ArgError> {
    let mut args = AppArgs::default();
    read(GROUPS, CONFLICTS, &table(), words, &mut args)?;
    if !args.help {
        checks::finish(&mut args, names)?;
    }
    Ok(args)
}

impl Target for AppArgs {
    fn notices(&mut self) -> &mut Notices {
        &mut self.notices
    }

    fn done(&self) -> bool {
        self.help
    }
}
