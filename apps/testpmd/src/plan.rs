//! The plan: everything that can be checked against the machine before anything runs.
//!
//! Made by `main` from a parsed command line ([`crate::command_line`]); consumed by [`crate::app::App::new`], which starts
//! to take memory and threads. What the plan accepts can still fail for want of memory, not for a wrong word.

mod devices;
mod machine;

use std::path::PathBuf;

use mpps_cpu::CpuSet;
use mpps_dev::{DevArgs, Driver};
use mpps_kernels::{Checksum, ChecksumKind, Copier, CopyKind, MacSwap, MacSwapKind};
use mpps_shm::MemoryConfig;

use crate::app_args::{self, AppArgs};
use crate::command_line::CommandLine;

pub use devices::DeviceError;
pub(crate) use devices::virtual_name;

/// A lcore that exists in this run.
#[derive(Clone, Debug)]
pub struct PlannedLcore {
    /// Its id.
    pub id: u32,
    /// Where it may run.
    pub cpus: CpuSet,
    /// The NUMA node of its first CPU.
    pub node: u32,
}

/// A device that becomes a port.
pub struct PlannedDevice {
    /// Its driver.
    pub driver: &'static dyn Driver,
    /// Its name and arguments.
    pub args: DevArgs,
}

/// What is going to run.
pub struct Plan {
    /// The application's half of the command line.
    pub args: AppArgs,
    /// The lcore of the console.
    pub main: PlannedLcore,
    /// The lcores that may forward, ascending.
    pub workers: Vec<PlannedLcore>,
    /// How memory is to be had.
    pub memory: MemoryConfig,
    /// The devices, in the order of their ports.
    pub devices: Vec<PlannedDevice>,
    /// The MAC swap kernel.
    pub macswap: MacSwap,
    /// The copy kernel.
    pub copier: Copier,
    /// The kernel that sums payloads.
    pub checksum: Checksum,
    /// Lines for the user, to be printed before anything else.
    pub notices: Vec<String>,
}

/// Why a command line can't be carried out here. `Display` is one line.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The topology can't be read.
    #[error("can't read the machine's CPUs: {0}")]
    Machine(#[from] std::io::Error),
    /// CPUs or lcores.
    #[error(transparent)]
    Cores(#[from] crate::cores::CoreError),
    /// Only one lcore.
    #[error(
        "no lcore is left to forward packets: lcore {main} is the console's; give one more, e.g. --lcores {main}@{cpu},{next}@{cpu}"
    )]
    NoWorker {
        /// The main lcore.
        main: u32,
        /// A CPU that it may use.
        cpu: usize,
        /// An id for one more lcore.
        next: u32,
    },
    /// More forwarding cores than there are.
    #[error("--nb-cores {asked} is out of range, must be 1 to {have}: the lcores but the main one")]
    TooManyCores {
        /// What was asked for.
        asked: u32,
        /// What there is.
        have: usize,
    },
    /// A coremask or corelist that names something else than workers.
    #[error(
        "--coremask names lcore {lcore}, which {why}; the lcores that can forward are {workers}"
    )]
    NotAWorker {
        /// The lcore.
        lcore: u32,
        /// Why it can't forward.
        why: &'static str,
        /// Those that can.
        workers: String,
    },
    /// A device.
    #[error("--vdev: {0}")]
    Device(#[from] DeviceError),
    /// A kernel that the CPU can't run.
    #[error("{0}: {1}")]
    Kernel(&'static str, mpps_kernels::Unavailable),
    /// A file of peers.
    #[error("--eth-peers-configfile {}: {reason}", path.display())]
    Peers {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The limit on vectors.
    #[error("--force-max-simd-bitwidth: {0}")]
    Simd(String),
}

impl Plan {
    /// Checks a command line against this machine.
    ///
    /// # Errors
    /// The first wish that can't be met.
    pub fn new(line: &CommandLine) -> Result<Self, PlanError> {
        let mut notices: Vec<String> = line.notices().map(ToString::to_string).collect();
        let bits = u32::from(line.eal.max_simd_bits.unwrap_or(0));
        mpps_cpu::isa::set_max_simd_bits(bits)
            .map_err(|error| PlanError::Simd(error.to_string()))?;
        let (main, workers) = machine::lcores(&line.eal.cores)?;
        check_cores(&line.app, &main, &workers)?;
        let devices = devices::plan(&line.eal.devices, &mut notices)?;
        let (own, mut args) = (&line.app.own, line.app.clone());
        peers(&mut args)?;
        without_effect(line, &mut notices);
        // The option parser lets no other names through.
        let macswap = own
            .macswap
            .as_deref()
            .and_then(MacSwapKind::from_name)
            .unwrap_or(MacSwapKind::Auto);
        let copy = own
            .copy
            .as_deref()
            .and_then(CopyKind::from_name)
            .unwrap_or(CopyKind::Auto);
        Ok(Self {
            macswap: MacSwap::choose(macswap)
                .map_err(|error| PlanError::Kernel("--macswap", error))?,
            copier: Copier::choose(copy).map_err(|error| PlanError::Kernel("--copy", error))?,
            checksum: Checksum::choose(ChecksumKind::Auto)
                .map_err(|error| PlanError::Kernel("checksum", error))?,
            memory: machine::memory(&line.eal.memory, &mut notices)?,
            args,
            main,
            workers,
            devices,
            notices,
        })
    }
}

/// Addresses from `--eth-peers-configfile`, in front of those given one by one, which hold.
fn peers(args: &mut AppArgs) -> Result<(), PlanError> {
    let Some(path) = args.ports.peers_file.clone() else {
        return Ok(());
    };
    let refuse = |reason: String| PlanError::Peers {
        path: path.clone(),
        reason,
    };
    let text = std::fs::read_to_string(&path).map_err(|error| refuse(error.to_string()))?;
    let listed = app_args::parse_peers(&text).map_err(|error| refuse(error.to_string()))?;
    let listed = (0..).zip(listed);
    args.ports.peers = listed
        .chain(std::mem::take(&mut args.ports.peers))
        .collect();
    Ok(())
}

/// Wishes that software ports can't fulfil and that change nothing by being left out; each is told.
fn without_effect(line: &CommandLine, notices: &mut Vec<String>) {
    if let Some(speed) = line.app.traffic.link_speed {
        notices.push(format!(
            "--eth-link-speed {speed} has no effect here: a software port has no speed to set"
        ));
    }
    if !line.app.pools.ring_numa.is_empty() {
        notices.push(
            "--ring-numa-config has no effect here: software ports have no rings on a node"
                .to_owned(),
        );
    }
    if !line.eal.log.rules.is_empty() {
        notices.push(
            "--log-level has no effect here: errors and notices always go to standard error"
                .to_owned(),
        );
    }
}

fn check_cores(
    args: &AppArgs,
    main: &PlannedLcore,
    workers: &[PlannedLcore],
) -> Result<(), PlanError> {
    if workers.is_empty() {
        let cpu = main.cpus.first().unwrap_or(0);
        return Err(PlanError::NoWorker {
            main: main.id,
            cpu,
            next: main.id + 1,
        });
    }
    if let Some(asked) = args.ports.nb_cores
        && asked as usize > workers.len()
    {
        return Err(PlanError::TooManyCores {
            asked,
            have: workers.len(),
        });
    }
    let not_a_worker = |lcore: &u32| {
        let why = if *lcore == main.id {
            "is the main lcore"
        } else {
            "isn't enabled"
        };
        let ids: Vec<String> = workers.iter().map(|worker| worker.id.to_string()).collect();
        PlanError::NotAWorker {
            lcore: *lcore,
            why,
            workers: ids.join(","),
        }
    };
    let mask = args.ports.coremask.iter().flatten();
    match mask
        .into_iter()
        .find(|lcore| !workers.iter().any(|worker| worker.id == **lcore))
    {
        Some(lcore) => Err(not_a_worker(lcore)),
        None => Ok(()),
    }
}
