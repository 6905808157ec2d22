//! The forwarding configuration as text: which lcore polls what, and how.

use mpps_engines::EngineSpec;

use super::App;
use crate::text::{FwdConfig, FwdMode, MpAlloc, RetryFigures, SocketId};

impl App {
    /// An engine as it is printed.
    pub fn mode(&self, engine: &EngineSpec) -> FwdMode<'static> {
        let status = (engine.name == "noisy").then_some(match self.engines.noisy.mode {
            mpps_engines::NoisyMode::Io => "io",
            mpps_engines::NoisyMode::Mac => "mac",
            mpps_engines::NoisyMode::MacSwap => "macswap",
            mpps_engines::NoisyMode::FiveTupleSwap => "5tswap",
        });
        FwdMode {
            name: engine.name,
            status,
            retry: self.forwarding.retry,
        }
    }

    /// Prints the streams (`show config fwd`).
    pub fn show_config_fwd(&mut self) {
        let nodes: Vec<(u32, u32)> = self
            .workers
            .iter()
            .map(|worker| (worker.id, worker.node))
            .collect();
        let core_socket = |id: u32| {
            nodes
                .iter()
                .find(|(have, _)| *have == id)
                .map_or(0, |(_, node)| *node)
        };
        let sockets: Vec<(u16, Option<u32>)> = self
            .ports
            .iter()
            .flatten()
            .map(|port| (port.id, port.dev.info().node))
            .collect();
        let port_socket = |id: u16| {
            SocketId(
                sockets
                    .iter()
                    .find(|(have, _)| *have == id)
                    .and_then(|(_, node)| *node),
            )
        };
        let figures = self.forwarding.retry_figures;
        let text = FwdConfig {
            mode: self.mode(self.forwarding.laid_out_for),
            layout: &self.forwarding.layout,
            numa: self.args.pools.numa,
            mp_alloc: mp_alloc(&self.args),
            retry: RetryFigures {
                retries: figures.times,
                delay_us: figures.delay_us,
            },
            core_socket: &core_socket,
            port_socket: &port_socket,
            peer: &|port| self.forwarding.peer(port),
        }
        .to_string();
        self.out.block(text);
    }
}

fn mp_alloc(args: &crate::app_args::AppArgs) -> MpAlloc {
    use crate::app_args::MempoolKind;
    match args.pools.kind {
        MempoolKind::Native => MpAlloc::Native,
        MempoolKind::Anon => MpAlloc::Anon,
        MempoolKind::Xmem => MpAlloc::Xmem,
        MempoolKind::XmemHuge => MpAlloc::XmemHuge,
        MempoolKind::Xbuf => MpAlloc::Xbuf,
    }
}
