//! `dump mempool|memzone|physmem|socket_mem|devargs|lcores`: debugging text about pools, memory, devices and lcores.
//!
//! A person reads it; the layout is DPDK's, the figures are those of the memory and the pools there really are.

use std::collections::BTreeMap;

use mpps_mbuf::Pool;
use mpps_shm::{PageKind, PageReport};

use crate::plan::PlannedLcore;
use crate::text::{
    DevargsDump, LcoreRow, MempoolDump, MemzoneRow, PhysmemRow, ShowRefusal, SocketMemory,
};

use super::App;

/// Bytes of an mbuf's header, a cache line.
const HEADER: u32 = 64;

impl App {
    /// `dump mempool`, of the pool of this name or of all.
    pub fn dump_pools(&mut self, name: Option<&str>) {
        let reports = self.pages.report();
        let pools = self.pools.all();
        let chosen = pools
            .iter()
            .filter(|pool| name.is_none_or(|name| pool.config().name == name));
        let blocks: Vec<String> = chosen.map(|pool| pool_dump(pool, &reports)).collect();
        if blocks.is_empty() {
            self.out.complain(ShowRefusal::NoPool);
        }
        blocks.iter().for_each(|block| self.out.block(block));
    }

    /// `dump memzone`: what was reserved, each piece with the pages it got.
    pub fn dump_memzones(&mut self) {
        for (index, report) in self.pages.report().iter().enumerate() {
            let pieces = [(
                report.addr,
                report.addr as u64,
                bytes(report.committed),
                bytes(report.page_size),
            )];
            self.out.block(MemzoneRow {
                index,
                name: &report.name,
                length: bytes(report.len),
                address: report.addr,
                socket: node(report),
                flags: 0,
                pieces: &pieces,
            });
        }
    }

    /// `dump physmem`: what is resident.
    pub fn dump_physmem(&mut self) {
        for (at, report) in self
            .pages
            .report()
            .iter()
            .filter(|report| report.committed > 0)
            .enumerate()
        {
            self.out.block(PhysmemRow {
                segment: [0, at],
                iova: report.addr as u64,
                length: bytes(report.committed),
                address: report.addr,
                socket: node(report),
                page: report.page_size,
                channels: [0, 0],
                fd: -1,
            });
        }
    }

    /// `dump socket_mem`: reserved and committed bytes by node.
    pub fn dump_socket_memory(&mut self) {
        let mut nodes: BTreeMap<u32, SocketMemory> = BTreeMap::new();
        let nothing = |socket| SocketMemory {
            socket,
            total: 0,
            used: 0,
            pieces: [0, 0],
        };
        let mut sum = nothing(None);
        for report in &self.pages.report() {
            let socket = report.node.unwrap_or(0);
            for row in [
                nodes.entry(socket).or_insert(nothing(Some(socket))),
                &mut sum,
            ] {
                row.total += report.len;
                row.used += report.committed;
                row.pieces[usize::from(report.committed == 0)] += 1;
            }
        }
        nodes.values().for_each(|row| self.out.block(row));
        self.out.block(sum);
    }

    /// `dump devargs`.
    pub fn dump_devargs(&mut self) {
        let infos: Vec<_> = self
            .ports
            .iter()
            .flatten()
            .map(|slot| slot.dev.info())
            .collect();
        let rows: Vec<_> = infos
            .iter()
            .map(|info| ("vdev", info.name.as_str(), info.devargs.as_str()))
            .collect();
        let block = DevargsDump(&rows).to_string();
        self.out.block(block);
    }

    /// `dump lcores`, with where their time goes while cycles are recorded.
    pub fn dump_lcores(&mut self) {
        let mut lcores: Vec<&PlannedLcore> = self.workers.iter().chain([&self.main]).collect();
        lcores.sort_by_key(|lcore| lcore.id);
        let mut block = String::new();
        for lcore in lcores {
            let usage = self.forwarding.usage.iter().find(|(id, _)| *id == lcore.id);
            let cpuset = lcore.cpus.to_string();
            block += &LcoreRow {
                id: lcore.id,
                socket: lcore.node,
                role: "RTE",
                cpuset: &cpuset,
                cycles: usage.map(|(_, usage)| [usage.busy.get(), usage.total.get()]),
            }
            .to_string();
        }
        self.out.block(block);
    }
}

fn pool_dump(pool: &Pool, reports: &[PageReport]) -> String {
    let info = pool.info();
    let (name, size) = (info.config.name.as_str(), info.config.size);
    let of_pool = |kind: PageKind| {
        reports
            .iter()
            .find(|report| report.name == name && report.kind == kind)
    };
    let buffers = pool.buffers().as_ptr().addr().get();
    let stride = u32::try_from(info.stride).unwrap_or(u32::MAX);
    let data = u32::from(info.config.data_room);
    MempoolDump {
        name,
        address: of_pool(PageKind::Private).map_or(buffers, |report| report.addr),
        // A pool that is ready.
        flags: 0x10,
        socket: info
            .config
            .node
            .and_then(|node| i32::try_from(node).ok())
            .unwrap_or(-1),
        store: buffers,
        iova: buffers as u64,
        chunks: 1,
        size: [size, size],
        object: [HEADER, data, stride.saturating_sub(data)],
        private: 0,
        ops: (3, "ring_mp_mc"),
        bytes: u64::from(size) * u64::from(HEADER + stride),
        cache_size: u32::from(info.config.cache_size),
        caches: &[],
        cached: u32::try_from(info.cached).unwrap_or(u32::MAX),
        common: u32::try_from(info.shared_free).unwrap_or(u32::MAX),
    }
    .to_string()
}

fn bytes(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}

fn node(report: &PageReport) -> i32 {
    report
        .node
        .and_then(|node| i32::try_from(node).ok())
        .unwrap_or(-1)
}
