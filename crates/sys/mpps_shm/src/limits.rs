//! From the memory options to limits: which amounts are a cap, which must be there at start.
//!
//! DPDK knows two kinds of memory. With `--no-huge` or `--legacy-mem`, `-m` and `--numa-mem` are all there will ever be:
//! a cap. Otherwise they are set aside at start and memory grows beyond them on demand up to `--numa-limit`: a floor. Scripts
//! rely on both, so both are kept. Stateless; called once when the page source is made.

use crate::books::{Account, Floor, Scope};
use crate::config::MemoryConfig;
use crate::error::MemoryError;
use crate::machine::Machine;

const MIB: u64 = 1 << 20;
pub(crate) const TOTAL: &str = "-m";
pub(crate) const PER_NODE: &str = "--numa-mem/--socket-mem";
const LIMIT: &str = "--numa-limit/--socket-limit";

/// What the options allow, and what must be there.
pub(crate) fn derive(
    config: &MemoryConfig,
    machine: &Machine,
) -> Result<(Vec<Account>, Vec<Floor>), MemoryError> {
    let per_node = amounts(PER_NODE, &config.per_node_mb, machine)?;
    let limits = amounts(LIMIT, &config.limit_per_node_mb, machine)?;
    let mut accounts = Vec::new();
    let mut floors = Vec::new();
    let fixed = config.no_huge || config.legacy_mem;
    if let Some(total) = config.total_mb {
        let bytes = total.saturating_mul(MIB);
        if fixed {
            accounts.push(account(TOTAL.to_owned(), Scope::All, bytes));
        } else {
            there_is(TOTAL, bytes, None, config, machine)?;
            floors.push(Floor {
                node: None,
                left: bytes,
            });
        }
    }
    // An amount for one node says of the others that they give nothing.
    for (node, bytes) in per_node {
        if fixed {
            accounts.push(account(
                format!("{PER_NODE} for node {node}"),
                Scope::Node(node),
                bytes,
            ));
        } else {
            there_is(PER_NODE, bytes, Some(node), config, machine)?;
            floors.push(Floor {
                node: Some(node),
                left: bytes,
            });
        }
    }
    for (node, bytes) in limits.into_iter().filter(|(_, bytes)| *bytes != 0) {
        accounts.push(account(
            format!("{LIMIT} for node {node}"),
            Scope::Node(node),
            bytes,
        ));
    }
    for (size, bytes) in &config.pagesz_limits {
        // Named twice, the later one counts.
        accounts.retain(|account| account.scope != Scope::PageSize(*size));
        let option = format!("--pagesz-mem for pages of {}", crate::error::Size(*size));
        accounts.push(account(option, Scope::PageSize(*size), *bytes));
    }
    Ok((accounts, floors))
}

fn account(option: String, scope: Scope, allowed: u64) -> Account {
    Account {
        option,
        scope,
        allowed,
        used: 0,
    }
}

/// An amount in bytes for each node of the machine; none when the option wasn't given.
fn amounts(option: &str, list: &[u64], machine: &Machine) -> Result<Vec<(u32, u64)>, MemoryError> {
    if list.is_empty() {
        return Ok(Vec::new());
    }
    for (node, amount) in (0_u32..).zip(list) {
        if *amount != 0 {
            known_node(option, node, machine)?;
        }
    }
    let amount = |node: u32| list.get(usize::try_from(node).ok()?).copied();
    let bytes = |node: u32| amount(node).unwrap_or(0).saturating_mul(MIB);
    Ok(machine
        .nodes()
        .iter()
        .map(|node| (*node, bytes(*node)))
        .collect())
}

/// Refuses a node that the machine doesn't have; `what` asked for it.
pub(crate) fn known_node(what: &str, node: u32, machine: &Machine) -> Result<(), MemoryError> {
    if machine.nodes().contains(&node) {
        return Ok(());
    }
    Err(MemoryError::NoNode {
        what: what.to_owned(),
        node,
        nodes: machine.nodes().to_vec(),
    })
}

/// Refuses an amount that the machine doesn't have free, in huge pages and ordinary ones together.
fn there_is(
    option: &str,
    need: u64,
    node: Option<u32>,
    config: &MemoryConfig,
    machine: &Machine,
) -> Result<(), MemoryError> {
    let sizes = machine.huge_sizes();
    let huge: Vec<(u64, u64)> = sizes
        .iter()
        .map(|size| (*size, machine.huge_free(*size, node)))
        .collect();
    let in_huge: u64 = huge
        .iter()
        .map(|(size, pages)| size.saturating_mul(*pages))
        .sum();
    // With a hugetlbfs mount named, only its pages will do, and each reservation checks them.
    let memory = if config.huge_dir.is_some() {
        0
    } else {
        machine.memory_free(node)
    };
    if in_huge.saturating_add(memory) >= need {
        return Ok(());
    }
    Err(MemoryError::Short {
        option: option.to_owned(),
        need,
        node,
        huge,
        memory,
        knob: machine.huge_knob(sizes.first().copied().unwrap_or(2 << 20), node),
    })
}

#[cfg(test)]
mod tests;
