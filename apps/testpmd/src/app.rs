//! The running program: ports, pools, the forwarding configuration and the workers.
//!
//! Made once by `main` from a [`Plan`], used by the console's commands ([`crate::commands`]) on the main thread alone, taken
//! apart by [`App::shut_down`]. What a command may do is a method here; how it is typed and answered is the command's.

mod all_ports;
mod attach;
mod config;
mod csum_settings;
mod dump;
mod events;
mod flush;
mod forward;
mod forwarding;
mod info;
mod last_words;
mod offload_settings;
mod output;
mod pools;
mod port_settings;
mod ports;
mod queue_info;
mod queue_settings;
mod rss_settings;
mod run;
mod settings;
mod slot;
mod stats;
mod verbose;
mod vlan_settings;
mod wishes;

use std::io::{self, Write};
use std::sync::Arc;

use mpps_cpu::Clock;
use mpps_engines::{EngineSettings, TxonlySettings, Watch};
use mpps_kernels::{Checksum, Copier, MacSwap};
use mpps_shm::{PageKind, PageSource};

use crate::app_args::{self, AppArgs};
use crate::plan::{Plan, PlannedDevice, PlannedLcore};
use crate::tell;

pub use all_ports::{FreeThreshold, Threshold};
pub use forward::StartRefusal;
pub use forwarding::Forwarding;
pub use info::HashPart;
pub use last_words::install as install_last_words;
pub use output::{Captured, Output};
pub use pools::PoolSet;
pub use ports::Which;
pub use rss_settings::RssChoice;
pub use run::run;
use slot::Surroundings;
pub use slot::{PortSlot, PortState};
pub use vlan_settings::VlanKind;
pub use wishes::{PortWishes, QueueWish};

/// Why the program ends before its time. `Display` is one line.
#[derive(Debug, thiserror::Error)]
pub enum Fatal {
    /// Memory options or the lack of memory.
    #[error(transparent)]
    Memory(#[from] mpps_shm::MemoryError),
    /// A pool.
    #[error(transparent)]
    Pool(#[from] mpps_mbuf::PoolError),
    /// A device.
    #[error(transparent)]
    Probe(#[from] mpps_dev::ProbeError),
    /// A port.
    #[error(transparent)]
    Port(#[from] mpps_dev::ConfigError),
    /// Anything else, in one line.
    #[error("{0}")]
    Other(String),
    /// Standard input or output.
    #[error("standard input or output: {0}")]
    Io(#[from] io::Error),
}

/// The running program. Ports go before the output that their threads speak through.
pub struct App {
    /// The application's options, as far as nothing below has taken them over.
    pub args: AppArgs,
    /// The console's lcore.
    pub main: PlannedLcore,
    /// The lcores that may forward.
    pub workers: Vec<PlannedLcore>,
    /// Where memory comes from.
    pub pages: Arc<PageSource>,
    /// The mbuf pools.
    pub pools: PoolSet,
    /// The ports by number; a closed one leaves its place empty.
    pub ports: Vec<Option<PortSlot>>,
    /// How packets are forwarded, and what is running.
    pub forwarding: Forwarding,
    /// Settings of the engines.
    pub engines: EngineSettings,
    /// Who prints packets as they pass (`set verbose`).
    pub watch: Arc<Watch>,
    /// The clock that cycles are counted by.
    pub clock: Clock,
    /// Standard output and what was written to it last.
    pub out: Output,
    /// What ports are told when they are made.
    surroundings: Surroundings,
    /// Which extended statistics are shown, and how.
    pub xstats: crate::text::XstatsOptions,
    /// The program is on its way out: streams are of no interest any more.
    ending: bool,
}

impl App {
    /// Takes memory, makes the ports and lays out the streams. Nothing forwards yet.
    ///
    /// # Errors
    /// What the plan could not foresee.
    pub fn new(plan: Plan) -> Result<Self, Fatal> {
        Self::with_output(plan, Output::standard())
    }

    /// The same, with text going elsewhere: tests read it there.
    ///
    /// # Errors
    /// As [`App::new`].
    pub fn with_output(plan: Plan, mut out: Output) -> Result<Self, Fatal> {
        let Plan {
            args,
            main,
            workers,
            memory,
            devices,
            macswap,
            copier,
            checksum,
            ..
        } = plan;
        let pages = Arc::new(PageSource::new(memory)?);
        for line in &args.echo {
            writeln!(out, "{line}")?;
        }
        args.warnings.iter().for_each(tell::error);
        let watch = Watch::new(verbose::show);
        let surroundings = Surroundings {
            copier,
            pages: pages.clone(),
            events: events::printed_to(&mut out, args.run.printed_events)?,
        };
        let ports = probe(devices, &args, &surroundings)?;
        ports::check_queues(&args, &ports)?;
        ports::check_nodes(&args, &ports)?;
        let forwarding = Forwarding::new(&args, &workers, &ports)?;
        // A closed standard output ends the console or the statistics, in good order.
        let _ = out.flush();
        let pools = PoolSet::create(&args, &workers, &ports, &pages)?;
        for notice in pages.take_notices() {
            tell::note(format_args!("{notice}"));
        }
        lock_memory(&args, &pages);
        tell_pages(&pages);
        tell_kernels(macswap, copier, checksum);
        let engines = engine_settings(&args, macswap, checksum);
        let mut app = Self {
            args,
            main,
            workers,
            pages,
            pools,
            ports,
            forwarding,
            engines,
            watch,
            clock: Clock::calibrated(),
            out,
            surroundings,
            xstats: Default::default(),
            ending: false,
        };
        app.check_txpkts()?;
        app.lay_out();
        Ok(app)
    }

    /// Length list of `--txpkts` against the size of the first pool's mbufs.
    fn check_txpkts(&mut self) -> Result<(), Fatal> {
        let lengths = std::mem::take(&mut self.engines.txonly.lengths);
        self.engines.txonly.lengths = vec![64];
        if lengths == [64] {
            return Ok(());
        }
        let lengths: Vec<u32> = lengths.into_iter().map(u32::from).collect();
        self.set_txpkts(&lengths)
            .map_err(|refusal| Fatal::Other(format!("--txpkts: {refusal}")))
    }
}

/// Makes ports of the devices, in their order.
fn probe(
    devices: Vec<PlannedDevice>,
    args: &AppArgs,
    surroundings: &Surroundings,
) -> Result<Vec<Option<PortSlot>>, Fatal> {
    let mut ports = Vec::new();
    for device in devices {
        let slot = PortSlot::probe(&device, ports.len(), args, surroundings)?;
        ports.push(Some(slot));
    }
    if ports.is_empty() {
        tell::error(crate::text::Notice::NoDevices);
        tell::note(
            "no ports: try --vdev net_null0 --vdev net_null1, or --vdev net_pcap0,rx_pcap=in.pcap,tx_pcap=out.pcap",
        );
    }
    Ok(ports)
}

/// Tells which kernels were chosen.
fn tell_kernels(macswap: MacSwap, copier: Copier, checksum: Checksum) {
    let (swap, copy, sum) = (macswap.name(), copier.name(), checksum.name());
    tell::note(format_args!(
        "kernels: macswap {swap}, copy {copy}, checksum {sum}"
    ));
}

/// Tells of the page size that was really got for memory that can be shared.
fn tell_pages(pages: &PageSource) {
    let shared = pages
        .report()
        .into_iter()
        .filter(|page| page.kind != PageKind::Private);
    shared.for_each(|page| tell::note(format_args!("memory: {page}")));
}

/// Pins all memory where that is allowed; one line where it isn't. After the pools' address space is reserved: the limit on
/// locked memory counts address space that is mapped later.
fn lock_memory(args: &AppArgs, pages: &PageSource) {
    if !args.run.mlockall {
        return;
    }
    let pinned: Vec<(usize, usize)> = pages
        .report()
        .iter()
        .filter(|page| page.kind == PageKind::Hugetlb)
        .map(|page| (page.addr, page.addr + page.len as usize))
        .collect();
    let locked = if pinned.is_empty() {
        mpps_os::lock_memory(true)
    } else {
        mpps_os::lock_memory_apart_from(&pinned)
    };
    if let Err(error) = locked {
        tell::error(format_args!(
            "testpmd: mlockall() failed with error \"{}\"",
            error.errno_text()
        ));
    }
}

fn engine_settings(args: &AppArgs, macswap: MacSwap, checksum: Checksum) -> EngineSettings {
    let (traffic, noisy) = (&args.traffic, &args.noisy);
    EngineSettings {
        txonly: TxonlySettings {
            lengths: traffic.txpkts.clone(),
            split: mpps_engines::TxSplit::Off,
            multi_flow: traffic.multi_flow,
            flows: u16::from(traffic.flows),
            ip: traffic.ip,
            udp: traffic.udp,
        },
        flowgen: mpps_engines::FlowgenSettings {
            flows: traffic.flowgen_flows,
            clones: u32::from(traffic.flowgen_clones),
        },
        noisy: mpps_engines::NoisySettings {
            mode: match noisy.mode {
                app_args::NoisyMode::Io => mpps_engines::NoisyMode::Io,
                app_args::NoisyMode::Mac => mpps_engines::NoisyMode::Mac,
                app_args::NoisyMode::Macswap => mpps_engines::NoisyMode::MacSwap,
                app_args::NoisyMode::FiveTupleSwap => mpps_engines::NoisyMode::FiveTupleSwap,
            },
            buffer: u32::from(noisy.buffer_size),
            flush_ms: u32::from(noisy.flush_ms),
            memory_mib: noisy.memory_mb,
            writes: noisy.writes,
            reads: noisy.reads,
            reads_writes: noisy.reads_writes,
        },
        macswap,
        checksum,
        tunnel_ports: (args.offloads.vxlan_gpe_port, args.offloads.geneve_port),
    }
}
