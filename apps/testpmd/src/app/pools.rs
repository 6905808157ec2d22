//! The mbuf pools: how many mbufs, of which sizes, on which nodes.

use std::collections::BTreeSet;

use mpps_mbuf::{Pool, PoolConfig, PoolError};
use mpps_shm::{MemoryError, PageSource};

use super::{Fatal, PortSlot};
use crate::app_args::AppArgs;
use crate::plan::PlannedLcore;
use crate::tell;
use crate::text::Notice;

/// Descriptors and bursts that DPDK's default number of mbufs is made from: 2,048 each way and 512 in hand, for each of 32
/// ports, whether they exist or not.
const PER_PORT: u32 = 2048 + 2048 + 512;
const PORTS: u32 = 32;

/// Mbufs of each pool that are made real at start: what a few lcores hold at a time. At the usual size they fill a huge
/// page, so that the page size got can be told before anything runs.
const PRIMED: usize = 900;

/// The node number that is printed where any node will do.
const ANY_NODE: u32 = u32::MAX;

/// All pools of a run: for each node, one of each size; with `--isolate-pools` one more for each port that lends its buffers.
pub struct PoolSet {
    by_node: Vec<(u32, Vec<Pool>)>,
    /// Pools of single ports, by the port's number. One stays when its port is closed, for the next port of that number.
    own: Vec<(u16, Pool)>,
}

impl PoolSet {
    pub(super) fn create(
        args: &AppArgs,
        workers: &[PlannedLcore],
        ports: &[Option<PortSlot>],
        pages: &PageSource,
    ) -> Result<Self, Fatal> {
        let count = mbufs(args, workers.len());
        let mut by_node = Vec::new();
        for node in nodes(args, workers, ports) {
            let mut pools = Vec::new();
            for (n, size) in args.pools.mbuf_sizes.iter().enumerate() {
                let name = if n == 0 {
                    format!("mb_pool_{node}")
                } else {
                    format!("mb_pool_{node}_{n}")
                };
                pools.push(create(args, name, node, count, *size, pages)?);
            }
            by_node.push((node, pools));
        }
        let mut set = Self {
            by_node,
            own: Vec::new(),
        };
        for slot in ports.iter().flatten() {
            set.isolate(args, workers.len(), slot, pages)?;
        }
        if args.own.isolate_pools && set.own.is_empty() {
            tell::note("--isolate-pools has no effect so far: no port here lends its buffers");
        }
        Ok(set)
    }

    /// Makes a pool for this port alone, where that is asked for and the port lends its buffers.
    pub(super) fn isolate(
        &mut self,
        args: &AppArgs,
        workers: usize,
        slot: &PortSlot,
        pages: &PageSource,
    ) -> Result<(), Fatal> {
        let info = slot.dev.info();
        if !args.own.isolate_pools || !info.lends_buffers || self.own_of(slot.id).is_some() {
            return Ok(());
        }
        let node = if args.pools.numa {
            info.node.unwrap_or(0)
        } else {
            args.pools.socket.map_or(ANY_NODE, u32::from)
        };
        let name = format!("mb_pool_{node}_port{}", slot.id);
        let Some(size) = args.pools.mbuf_sizes.first() else {
            unreachable!("the option parser lets no empty list of mbuf sizes through")
        };
        let pool = create(args, name, node, mbufs(args, workers), *size, pages)?;
        self.own.push((slot.id, pool));
        Ok(())
    }

    /// Every pool.
    pub fn all(&self) -> Vec<Pool> {
        let shared = self.by_node.iter().flat_map(|(_, pools)| pools);
        let own = self.own.iter().map(|(_, pool)| pool);
        shared.chain(own).cloned().collect()
    }

    /// The pool of a port's receive queues: its own, else the first of this node.
    pub(super) fn of_port(&self, id: u16, node: u32) -> &Pool {
        self.own_of(id).unwrap_or_else(|| self.first_on(node))
    }

    /// The pools whose buffers a port may lend to a peer: its own alone, else all that aren't another port's.
    pub(super) fn lendable(&self, id: u16) -> Vec<Pool> {
        match self.own_of(id) {
            Some(own) => vec![own.clone()],
            None => self
                .by_node
                .iter()
                .flat_map(|(_, pools)| pools.iter().cloned())
                .collect(),
        }
    }

    fn own_of(&self, id: u16) -> Option<&Pool> {
        self.own
            .iter()
            .find(|(port, _)| *port == id)
            .map(|(_, pool)| pool)
    }

    /// The pool of the first size on this node, or on the first node that has any.
    pub fn first_on(&self, node: u32) -> &Pool {
        let of_node = self
            .by_node
            .iter()
            .find(|(have, _)| *have == node)
            .or(self.by_node.first());
        match of_node.and_then(|(_, pools)| pools.first()) {
            Some(pool) => pool,
            None => unreachable!("the option parser lets no empty list of mbuf sizes through"),
        }
    }
}

fn create(
    args: &AppArgs,
    name: String,
    node: u32,
    count: u32,
    size: u16,
    pages: &PageSource,
) -> Result<Pool, Fatal> {
    tell::error(Notice::Pool {
        name: &name,
        count,
        size: u32::from(size),
        socket: node,
    });
    let config = PoolConfig {
        name,
        size: count,
        data_room: size,
        cache_size: args.pools.mbcache,
        node: (node != ANY_NODE).then_some(node),
    };
    let pool = Pool::create(config, pages).map_err(|error| advise(error, count))?;
    pool.prime(PRIMED);
    tell::error(Notice::PoolOps("ring_mp_mc"));
    Ok(pool)
}

/// Where memory options forbid a pool, says which number of mbufs they would allow.
fn advise(error: PoolError, count: u32) -> Fatal {
    let PoolError::Memory {
        source:
            MemoryError::Budget {
                need,
                allowed,
                used,
                ..
            },
        ..
    } = &error
    else {
        return error.into();
    };
    let left = u128::from(allowed.saturating_sub(*used));
    let most = u128::from(count) * left / u128::from(*need).max(1);
    Fatal::Other(format!("{error}; --total-num-mbufs={most} would fit"))
}

fn mbufs(args: &AppArgs, workers: usize) -> u32 {
    let cached = workers as u32 * u32::from(args.pools.mbcache);
    args.pools
        .total_num_mbufs
        .unwrap_or((PER_PORT + cached) * PORTS)
}

fn nodes(args: &AppArgs, workers: &[PlannedLcore], ports: &[Option<PortSlot>]) -> BTreeSet<u32> {
    if !args.pools.numa {
        return BTreeSet::from([args.pools.socket.map_or(ANY_NODE, u32::from)]);
    }
    let of_ports = ports
        .iter()
        .flatten()
        .filter_map(|port| port.dev.info().node);
    workers
        .iter()
        .map(|worker| worker.node)
        .chain(of_ports)
        .chain(
            args.pools
                .port_numa
                .iter()
                .map(|(_, node)| u32::from(*node)),
        )
        .collect()
}
