//! The command line's CPUs and memory, held against the machine's.

use mpps_cpu::{CpuSet, Topology};
use mpps_shm::MemoryConfig;

use super::{PlanError, PlannedLcore};
use crate::cores::{CoreArgs, Cpus, Lcore, Numbers, resolve};
use crate::eal_args::MemoryArgs;

/// The main lcore and the others.
pub(super) fn lcores(args: &CoreArgs) -> Result<(PlannedLcore, Vec<PlannedLcore>), PlanError> {
    let topology = Topology::read()?;
    let affinity = mpps_cpu::current_affinity()?;
    let cpus = Cpus {
        online: numbers(topology.online()),
        permitted: numbers(topology.allowed()),
        affinity: numbers(&affinity),
    };
    let lcores = resolve(args, &cpus)?;
    let plan = |lcore: &Lcore| planned(lcore, &topology);
    let workers = lcores.workers().map(plan).collect();
    // `resolve` checked that the main lcore is one of them.
    let main = lcores
        .all
        .iter()
        .find(|lcore| lcore.id == lcores.main)
        .or(lcores.all.first())
        .map(plan);
    let main = main.unwrap_or(PlannedLcore {
        id: lcores.main,
        cpus: CpuSet::default(),
        node: 0,
    });
    Ok((main, workers))
}

fn numbers(cpus: &CpuSet) -> Numbers {
    cpus.iter()
        .filter_map(|cpu| u32::try_from(cpu).ok())
        .collect()
}

fn planned(lcore: &Lcore, topology: &Topology) -> PlannedLcore {
    let mut cpus = CpuSet::default();
    for cpu in &lcore.cpus {
        cpus.insert(*cpu as usize);
    }
    let node = cpus
        .first()
        .and_then(|cpu| topology.node_of(cpu))
        .unwrap_or(0);
    PlannedLcore {
        id: lcore.id,
        cpus,
        node: node as u32,
    }
}

/// Amounts for the nodes there are. Where there is one node, what is asked of others is told and left out: the command
/// lines of larger machines run then. Where there are several, an amount for one that isn't there is a mistake, and the
/// page source says so.
fn of_one_node(option: &str, amounts: &[u64], nodes: usize, notices: &mut Vec<String>) -> Vec<u64> {
    if nodes == 1 && amounts.len() > 1 {
        let beyond: Vec<String> = (1..amounts.len()).map(|node| node.to_string()).collect();
        notices.push(format!(
            "{option}: this machine has NUMA node 0 alone; what is asked of node {} is left out",
            beyond.join(", ")
        ));
        return amounts[..1].to_vec();
    }
    amounts.to_vec()
}

/// The memory options in the words of the page source.
pub(super) fn memory(
    args: &MemoryArgs,
    notices: &mut Vec<String>,
) -> Result<MemoryConfig, PlanError> {
    let nodes = Topology::read()?.node_count();
    let mut amounts = |option, amounts: &[u64]| of_one_node(option, amounts, nodes, notices);
    Ok(MemoryConfig {
        total_mb: args.total_mb,
        per_node_mb: amounts("--socket-mem", &args.per_node_mb),
        limit_per_node_mb: amounts("--socket-limit", &args.limit_per_node_mb),
        no_huge: args.no_huge,
        huge_dir: args.huge_dir.clone(),
        in_memory: args.in_memory,
        single_file_segments: args.single_file_segments,
        file_prefix: args.file_prefix.clone(),
        huge_unlink: args.huge_unlink,
        legacy_mem: args.legacy_mem,
        match_allocations: args.match_allocations,
        base_virtaddr: args.base_virtaddr,
        iova_mode: args.iova_mode,
        pagesz_limits: args
            .page_limits
            .iter()
            .map(|limit| (limit.page_bytes, limit.limit_bytes))
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    //! Amounts by node.

    use super::of_one_node;

    #[test]
    fn nodes_beyond_the_only_one_are_told_and_left_out() {
        let mut notices = Vec::new();
        assert_eq!(
            of_one_node("--socket-mem", &[1024, 512, 0], 1, &mut notices),
            [1024]
        );
        assert_eq!(
            notices,
            [
                "--socket-mem: this machine has NUMA node 0 alone; what is asked of node 1, 2 is left out"
            ]
        );
        assert_eq!(
            of_one_node("--socket-mem", &[1024, 512], 2, &mut notices),
            [1024, 512]
        );
        assert_eq!(of_one_node("--socket-mem", &[64], 1, &mut notices), [64]);
        assert_eq!(notices.len(), 1);
    }
}
